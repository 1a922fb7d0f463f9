/* Folders that are written into: made, refused, cleared; files that grow in them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/internal/folder.h>

#include "output_testing.h"

enum { NOBODY = 65534 };

static void assert_no_folder(const char *path, enum iwi_folder_use use, const char *sentence)
{
    struct iwt_log l;

    iwt_log_init(&l);
    assert_status(iwi_folder_ensure(&l.log, path, use), IW_ERR_IO);
    iwt_assert_logged(&l, sentence);
    assert_int_equal(l.errors, 1);
}

static void folders_are_made_as_far_as_asked(void **state)
{
    const struct folder *folder = *state;
    char path[PATH_SIZE];

    snprintf(path, sizeof path, "%s/a/b", folder->path);
    assert_no_folder(path, IWI_FOLDER_MADE, "/a/b': No such file or directory");
    assert_no_folder(path, IWI_FOLDER_NEW, "No such file or directory");
    assert_int_equal(count_entries(folder->path), 0);
    assert_ok(iwi_folder_ensure(NULL, path, IWI_FOLDER_MADE_WITH_PARENTS));
    assert_ok(iwi_folder_ensure(NULL, path, IWI_FOLDER_MADE));
    assert_no_folder(path, IWI_FOLDER_NEW, "File exists");
    snprintf(path, sizeof path, "%s/a/c//", folder->path);
    assert_ok(iwi_folder_ensure(NULL, path, IWI_FOLDER_NEW));
    snprintf(path, sizeof path, "%s/a", folder->path);
    assert_int_equal(count_entries(path), 2);
    assert_ok(iwi_folder_ensure(NULL, "/", IWI_FOLDER_THERE));
    assert_ok(iwi_folder_ensure(NULL, ".", IWI_FOLDER_THERE));
    assert_no_folder("", IWI_FOLDER_MADE, "No such file or directory");
    put(folder->file, "text", 0600);
    assert_no_folder(folder->file, IWI_FOLDER_MADE, "Not a directory");
}

static void links_of_others_lead_nowhere(void **state)
{
    const struct folder *folder = *state;
    char target[PATH_SIZE], path[PATH_SIZE];
    int fd;

    if (geteuid() != 0) {
        print_message("not tried: links of other users (only root can act as another user)\n");
        skip();
    }
    snprintf(target, sizeof target, "%s/target", folder->path);
    assert_int_equal(mkdir(target, 0700), 0);
    assert_int_equal(symlink("target", folder->link), 0);
    assert_ok(iwi_folder_ensure(NULL, folder->link, IWI_FOLDER_MADE)); /* our own */
    assert_int_equal(lchown(folder->link, NOBODY, NOBODY), 0);
    assert_no_folder(folder->link, IWI_FOLDER_MADE, "'link' on the way, made by user");
    snprintf(path, sizeof path, "%s/new", folder->link);
    assert_no_folder(path, IWI_FOLDER_MADE_WITH_PARENTS,
                     "'link' on the way, made by user 65534, is not trusted");
    assert_status(iwi_open_growing(NULL, path, O_WRONLY, &fd), IW_ERR_IO);
    assert_int_equal(count_entries(target), 0);
}

static void what_others_put_into_a_shared_folder_is_refused(void **state)
{
    const struct folder *folder = *state;
    struct iwt_log l;
    int fd = -1;

    if (geteuid() != 0) {
        print_message("not tried: folders of other users (only root can act as another user)\n");
        skip();
    }
    assert_int_equal(chmod(folder->path, 01777), 0);
    assert_int_equal(mkdir(folder->link, 0777), 0);
    assert_int_equal(chown(folder->link, NOBODY, NOBODY), 0);
    assert_no_folder(folder->link, IWI_FOLDER_MADE, "it belongs to user 65534");
    put(folder->file, "planted", 0666);
    assert_int_equal(chown(folder->file, NOBODY, NOBODY), 0);
    iwt_log_init(&l);
    assert_status(iwi_open_growing(&l.log, folder->file, O_WRONLY, &fd), IW_ERR_IO);
    iwt_assert_logged(&l, "it belongs to another user");
    assert_int_equal(chmod(folder->path, 0755), 0); /* where its owner may give us folders */
    assert_ok(iwi_folder_ensure(NULL, folder->link, IWI_FOLDER_MADE));
}

static void a_file_that_grows_is_no_pipe(void **state)
{
    const struct folder *folder = *state;
    static const int flags[] = {O_WRONLY | O_APPEND, O_RDWR};

    assert_int_equal(mkfifo(folder->file, 0600), 0);
    for (size_t i = 0; i < 2; i++) {
        struct iwt_log l;
        int fd = -1;

        iwt_log_init(&l);
        assert_status(iwi_open_growing(&l.log, folder->file, flags[i], &fd), IW_ERR_IO);
        iwt_assert_logged(&l, "it is not a regular file");
    }
}

/* ---- clearing ---- */

static bool is_one(const char *name)
{
    return strcmp(name, "one") == 0;
}

static void assert_not_cleared(const char *path, const char *sentence)
{
    static const iw_own_files parts[] = {{NULL, is_one}, {"sub", is_one}};
    struct iwt_log l;

    iwt_log_init(&l);
    assert_status(iw_folder_clear(&l.log, path, parts, 2), IW_ERR_IO);
    iwt_assert_logged(&l, sentence);
}

static void only_what_is_known_is_removed(void **state)
{
    static const iw_own_files parts[] = {{NULL, is_one}, {"sub", is_one}};
    const struct folder *folder = *state;
    char sub[PATH_SIZE], one[PATH_SIZE], in_sub[PATH_SIZE + 8], other[PATH_SIZE + 8];

    snprintf(sub, sizeof sub, "%s/sub", folder->path);
    snprintf(one, sizeof one, "%s/one", folder->path);
    snprintf(in_sub, sizeof in_sub, "%s/one", sub);
    snprintf(other, sizeof other, "%s/other", sub);
    assert_ok(iw_folder_clear(NULL, folder->path, parts, 2)); /* there is nothing */
    assert_int_equal(mkdir(sub, 0700), 0);
    put(one, "", 0600);
    put(in_sub, "", 0600);
    put(folder->file, "stays", 0600);
    put(other, "stays", 0600);
    assert_not_cleared(folder->path, "'sub/other' in it was not written by idlewave; nothing was removed");
    assert_int_equal(count_entries(folder->path), 3);
    assert_int_equal(count_entries(sub), 2);
    assert_int_equal(unlink(other), 0);
    assert_ok(iw_folder_clear(NULL, folder->path, parts, 2));
    assert_int_equal(count_entries(folder->path), 1);
    assert_true(holds(folder->file, "stays"));
}

static void nothing_is_removed_through_links(void **state)
{
    const struct folder *folder = *state;
    char sub[PATH_SIZE], target[PATH_SIZE], one[PATH_SIZE + 8];

    snprintf(sub, sizeof sub, "%s/sub", folder->path);
    snprintf(target, sizeof target, "%s/target", folder->path);
    snprintf(one, sizeof one, "%s/one", target);
    assert_int_equal(mkdir(target, 0700), 0);
    put(one, "stays", 0600);
    assert_int_equal(symlink("target", sub), 0);
    assert_not_cleared(folder->path, "'sub' in it was not written by idlewave");
    assert_true(holds(one, "stays"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(folders_are_made_as_far_as_asked),
        TEST(links_of_others_lead_nowhere),
        TEST(what_others_put_into_a_shared_folder_is_refused),
        TEST(a_file_that_grows_is_no_pipe),
        TEST(only_what_is_known_is_removed),
        TEST(nothing_is_removed_through_links),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
