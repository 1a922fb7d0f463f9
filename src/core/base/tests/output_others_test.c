/* Files in folders that others can write to: their links and their files.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Only root can act as another user; others are told what was not tried.
 */
#include <grp.h>

#include "output_testing.h"

enum { NOBODY = 65534, SOMEBODY = 4242 };

/* True: told what was not tried. */
static bool lacks_root(const char *what)
{
    if (geteuid() != 0) {
        print_message("not tried: %s (only root can act as another user)\n", what);
        return true;
    }
    return false;
}

/* The attack: a link with a name that root will write, to a file that only root may write. */
static void a_link_of_another_user_is_refused(void **state)
{
    static const mode_t modes[] = {01777, 0777, 0755};
    const struct folder *folder = *state;

    if (lacks_root("links of other users")) {
        skip();
    }
    put(folder->file, "secret", 0600);
    assert_int_equal(symlink(folder->file, folder->link), 0);
    assert_int_equal(lchown(folder->link, NOBODY, NOBODY), 0);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(chmod(folder->path, modes[i]), 0);
        assert_refused(folder->link, "the symbolic link 'link' on the way, made by user");
        assert_true(holds(folder->file, "secret"));
        assert_int_equal(mode_of(folder->file), 0600);
        assert_int_equal(count_entries(folder->path), 2);
    }
}

static void root_follows_no_folders_of_others_either(void **state)
{
    const struct folder *folder = *state;
    char path[PATH_SIZE];

    if (lacks_root("links of other users to folders")) {
        skip();
    }
    assert_int_equal(symlink(folder->path, folder->link), 0);
    assert_int_equal(lchown(folder->link, NOBODY, NOBODY), 0);
    snprintf(path, sizeof path, "%s/file", folder->link);
    assert_refused(path, "name its target");
    assert_int_equal(count_entries(folder->path), 1);
}

static int as_nobody(const struct folder *folder)
{
    char path[PATH_SIZE];
    struct iwt_log l;

    REQUIRE(setresgid(NOBODY, NOBODY, NOBODY) == 0 && setresuid(NOBODY, NOBODY, NOBODY) == 0);
    iwt_log_init(&l);
    snprintf(path, sizeof path, "%s/link/new", folder->path);
    REQUIRE(replace(NULL, path, "new") == IW_OK); /* somebody's link to a folder, in a folder of its owner */
    snprintf(path, sizeof path, "%s/shared/link/newer", folder->path);
    REQUIRE(replace(&l.log, path, "new") == IW_ERR_IO); /* where everyone may put links */
    REQUIRE(strstr(l.text, "is not trusted") != NULL);
    snprintf(path, sizeof path, "%s/shared/by_root", folder->path);
    REQUIRE(replace(NULL, path, "new") == IW_OK);
    snprintf(path, sizeof path, "%s/shared/readable", folder->path);
    REQUIRE(replace(&l.log, path, "new") == IW_ERR_IO && strstr(l.text, "Permission denied") != NULL);
    return 0;
}

static void others_follow_links_as_on_shared_file_systems(void **state)
{
    const struct folder *folder = *state;
    char path[PATH_SIZE], shared[PATH_SIZE / 2];

    if (lacks_root("links of a third user")) {
        skip();
    }
    snprintf(shared, sizeof shared, "%s/shared", folder->path);
    assert_int_equal(chmod(folder->path, 0755), 0);
    assert_int_equal(mkdir(shared, 0700), 0);
    assert_int_equal(chmod(shared, 0777), 0);
    assert_int_equal(symlink("shared", folder->link), 0);
    assert_int_equal(lchown(folder->link, SOMEBODY, SOMEBODY), 0);
    snprintf(path, sizeof path, "%s/link", shared);
    assert_int_equal(symlink(".", path), 0);
    assert_int_equal(lchown(path, SOMEBODY, SOMEBODY), 0);
    snprintf(path, sizeof path, "%s/by_root", shared);
    assert_int_equal(symlink("of_root", path), 0);
    snprintf(path, sizeof path, "%s/readable", shared);
    put(path, "old", 0644);
    assert_int_equal(in_child(as_nobody, folder), 0);
    assert_true(holds(path, "old"));
    snprintf(path, sizeof path, "%s/of_root", shared);
    assert_true(holds(path, "new"));
}

/* ---- files of others ---- */

static void a_file_that_was_put_there_before_is_refused(void **state)
{
    const struct folder *folder = *state;

    if (lacks_root("files of other users in folders such as /tmp")) {
        skip();
    }
    put(folder->file, "planted", 0666);
    assert_int_equal(chown(folder->file, NOBODY, NOBODY), 0);
    assert_int_equal(chmod(folder->path, 01777), 0);
    assert_refused(folder->file, "it belongs to user 65534, in a folder where everyone may write");
    assert_true(holds(folder->file, "planted"));
}

static void root_leaves_a_file_to_its_owner(void **state)
{
    const struct folder *folder = *state;
    struct stat info;

    if (lacks_root("files of other users")) {
        skip();
    }
    put(folder->file, "old", 0640);
    assert_int_equal(chown(folder->file, SOMEBODY, NOBODY), 0);
    assert_ok(replace(NULL, folder->file, "new"));
    assert_int_equal(stat(folder->file, &info), 0);
    assert_int_equal(info.st_uid, SOMEBODY);
    assert_int_equal(info.st_gid, NOBODY);
    assert_int_equal(info.st_mode & 07777, 0640);
}

static int replace_as_nobody(const struct folder *folder)
{
    REQUIRE(setgroups(0, NULL) == 0);
    REQUIRE(setresgid(NOBODY, NOBODY, NOBODY) == 0 && setresuid(NOBODY, NOBODY, NOBODY) == 0);
    REQUIRE(replace(NULL, folder->file, "new") == IW_OK);
    return 0;
}

static void a_group_that_cannot_be_kept_gains_nothing_for_another(void **state)
{
    const struct folder *folder = *state;
    struct stat info;

    if (lacks_root("files of foreign groups")) {
        skip();
    }
    assert_int_equal(chmod(folder->path, 0777), 0);
    put(folder->file, "old", 0664);
    assert_int_equal(chown(folder->file, NOBODY, SOMEBODY), 0);
    assert_int_equal(in_child(replace_as_nobody, folder), 0);
    assert_int_equal(stat(folder->file, &info), 0);
    assert_int_equal(info.st_gid, NOBODY);
    assert_int_equal(info.st_mode & 07777, 0644);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_link_of_another_user_is_refused),
        TEST(root_follows_no_folders_of_others_either),
        TEST(others_follow_links_as_on_shared_file_systems),
        TEST(a_file_that_was_put_there_before_is_refused),
        TEST(root_leaves_a_file_to_its_owner),
        TEST(a_group_that_cannot_be_kept_gains_nothing_for_another),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
