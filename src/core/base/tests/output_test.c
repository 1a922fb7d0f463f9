/* Files that are written whole or not at all, and what is no regular file.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include "output_testing.h"

/* ---- modes ---- */

static void a_new_file_has_the_mode_of_the_umask(void **state)
{
    const struct folder *folder = *state;
    const mode_t before = umask(027);

    assert_ok(iw_output_check(NULL, folder->file, true));
    assert_int_equal(count_entries(folder->path), 0);
    assert_ok(replace(NULL, folder->file, "new"));
    (void)umask(before);
    assert_int_equal(mode_of(folder->file), 0640);
    assert_true(holds(folder->file, "new"));
    assert_int_equal(count_entries(folder->path), 1);
}

static void the_mode_of_the_old_file_is_kept(void **state)
{
    static const mode_t modes[] = {0600, 0644, 0666, 0640, 0755, 0200};
    const struct folder *folder = *state;

    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        put(folder->file, "old", modes[i]);
        assert_ok(replace(NULL, folder->file, "new"));
        assert_int_equal(mode_of(folder->file), modes[i]);
        assert_int_equal(unlink(folder->file), 0);
    }
    put(folder->file, "old", 04711);
    assert_ok(replace(NULL, folder->file, "new"));
    assert_int_equal(mode_of(folder->file), 0711);
}

static void names_may_be_as_long_as_the_system_takes_them(void **state)
{
    const struct folder *folder = *state;
    char path[PATH_SIZE] = "";

    snprintf(path, sizeof path, "%s/%0255d", folder->path, 1);
    assert_ok(replace(NULL, path, "new"));
    assert_true(holds(path, "new"));
    snprintf(path, sizeof path, "%s/%0256d", folder->path, 1);
    assert_refused(path, "File name too long");
}

/* ---- what fails changes nothing ---- */

static iw_status write_and_fail(const iw_log *log, void *arg, FILE *out)
{
    (void)arg;
    (void)fputs("half", out);
    (void)fflush(out);
    return iwi_fail(log, IW_ERR_RANGE, "there is nothing more");
}

static iw_status write_much(const iw_log *log, void *arg, FILE *out)
{
    const size_t lines = *(size_t *)arg;

    (void)log;
    for (size_t i = 0; i < lines; i++) {
        (void)fprintf(out, "%99zu\n", i);
    }
    return IW_OK;
}

static void who_fails_half_way_leaves_the_old_file(void **state)
{
    const struct folder *folder = *state;
    struct iwt_log l;

    iwt_log_init(&l);
    assert_status(iw_write_file(&l.log, folder->file, write_and_fail, NULL), IW_ERR_RANGE);
    assert_int_equal(count_entries(folder->path), 0);
    put(folder->file, "old", 0600);
    assert_status(iw_write_file(&l.log, folder->file, write_and_fail, NULL), IW_ERR_RANGE);
    assert_true(holds(folder->file, "old"));
    assert_int_equal(count_entries(folder->path), 1);
    assert_int_equal(l.errors, 2);
}

/* Neither half a file nor an empty one, and the old one stays; one message with the cause. */
static int is_all_or_nothing(const struct folder *folder, size_t lines, const char *cause)
{
    struct iwt_log l;

    iwt_log_init(&l);
    REQUIRE(iw_write_file(&l.log, folder->file, write_much, &lines) == IW_ERR_IO);
    REQUIRE(count_entries(folder->path) == 0);
    REQUIRE(l.errors == 1 && strstr(l.text, cause) != NULL && strstr(l.text, folder->file) != NULL);
    REQUIRE(replace(NULL, folder->file, "old") == IW_OK);
    REQUIRE(iw_write_file(&l.log, folder->file, write_much, &lines) == IW_ERR_IO);
    REQUIRE(holds(folder->file, "old"));
    REQUIRE(count_entries(folder->path) == 1);
    return 0;
}

static int with_limited_files(const struct folder *folder)
{
    const struct rlimit limit = {9000, 9000};

    (void)signal(SIGXFSZ, SIG_DFL);
    REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    return is_all_or_nothing(folder, 1000, "File too large");
}

static void beyond_a_limit_of_file_sizes_the_old_file_stays(void **state)
{
    assert_int_equal(in_child(with_limited_files, *state), 0);
}

static int on_a_full_disk(const struct folder *folder)
{
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", folder->path, "tmpfs", 0, "size=64k") != 0) {
        return SKIPPED;
    }
    return is_all_or_nothing(folder, 2000, "No space left on device");
}

static void on_a_full_disk_the_old_file_stays(void **state)
{
    const int code = in_child(on_a_full_disk, *state);

    if (code == SKIPPED) {
        print_message("not tried: a full disk (only root may mount a small one)\n");
        skip();
    }
    assert_int_equal(code, 0);
}

/* ---- what is no regular file ---- */

static void devices_stay_devices(void **state)
{
    struct iwt_log l;
    struct stat info;

    (void)state;
    assert_ok(replace(NULL, "/dev/null", "new"));
    assert_int_equal(stat("/dev/null", &info), 0);
    assert_true(S_ISCHR(info.st_mode));
    iwt_log_init(&l);
    if (access("/dev/full", W_OK) == 0) {
        assert_status(replace(&l.log, "/dev/full", "new"), IW_ERR_IO);
        iwt_assert_logged(&l, "cannot write '/dev/full': No space left on device");
    }
    assert_status(iw_output_check(&l.log, "/dev/null", true), IW_ERR_IO);
    iwt_assert_logged(&l, "it is not a regular file");
}

static void a_pipe_is_written_straight(void **state)
{
    const struct folder *folder = *state;
    char read_back[8] = "";
    int reader;

    assert_int_equal(mkfifo(folder->file, 0600), 0);
    reader = open(folder->file, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    assert_true(reader >= 0);
    assert_ok(replace(NULL, folder->file, "new"));
    assert_int_equal(read(reader, read_back, sizeof read_back), 3);
    assert_string_equal(read_back, "new");
    assert_int_equal(close(reader), 0);
    assert_int_equal(count_entries(folder->path), 1);
}

static int to_standard_output(const struct folder *folder)
{
    const int fd = open(folder->file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    REQUIRE(fd >= 0 && dup2(fd, STDOUT_FILENO) == STDOUT_FILENO);
    REQUIRE(write(STDOUT_FILENO, "a", 1) == 1);
    REQUIRE(replace(NULL, "/dev/stdout", "b") == IW_OK);
    REQUIRE(replace(NULL, "/dev/fd/1", "c") == IW_OK);
    REQUIRE(write(STDOUT_FILENO, "d", 1) == 1);
    REQUIRE(iw_output_check(NULL, "/dev/stdout", true) == IW_ERR_IO);
    REQUIRE(holds(folder->file, "abcd"));
    return 0;
}

static void standard_output_goes_on_where_it_stands(void **state)
{
    assert_int_equal(in_child(to_standard_output, *state), 0);
}

static void what_cannot_be_a_file_is_told(void **state)
{
    const struct folder *folder = *state;
    char path[PATH_SIZE];

    assert_refused("", "No such file or directory");
    assert_refused(folder->path, "Is a directory");
    snprintf(path, sizeof path, "%s/", folder->path);
    assert_refused(path, "Is a directory");
    snprintf(path, sizeof path, "%s/.", folder->path);
    assert_refused(path, "Is a directory");
    snprintf(path, sizeof path, "%s/none/file", folder->path);
    assert_refused(path, "No such file or directory");
    put(folder->file, "old", 0600);
    snprintf(path, sizeof path, "%s/file", folder->file);
    assert_refused(path, "Not a directory");
}

/* ---- links ---- */

static void ones_own_links_are_followed_and_stay(void **state)
{
    const struct folder *folder = *state;
    char inner[PATH_SIZE], path[PATH_SIZE];
    struct stat info;

    snprintf(inner, sizeof inner, "%s/inner", folder->path);
    assert_int_equal(mkdir(inner, 0700), 0);
    assert_int_equal(symlink("./inner//../file", folder->link), 0);
    assert_ok(replace(NULL, folder->link, "new")); /* to nothing yet */
    assert_true(holds(folder->file, "new"));
    assert_ok(replace(NULL, folder->link, "newer"));
    assert_true(holds(folder->file, "newer"));
    assert_int_equal(lstat(folder->link, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    snprintf(path, sizeof path, "%s/", folder->link);
    assert_refused(path, "Not a directory");
    snprintf(path, sizeof path, "%s/to_inner", folder->path);
    assert_int_equal(symlink(inner, path), 0);
    snprintf(path, sizeof path, "%s/to_inner/file", folder->path);
    assert_ok(replace(NULL, path, "inside"));
    snprintf(path, sizeof path, "%s/inner/file", folder->path);
    assert_true(holds(path, "inside"));
}

static void links_in_a_circle_end(void **state)
{
    const struct folder *folder = *state;

    assert_int_equal(symlink("link", folder->link), 0);
    assert_refused(folder->link, "Too many levels of symbolic links");
}

/* ---- files that grow ---- */

static void a_file_that_grows_is_no_link(void **state)
{
    const struct folder *folder = *state;
    struct iwt_log l;
    int fd = -1;

    assert_ok(iwi_open_growing(NULL, folder->file, O_WRONLY | O_APPEND, &fd));
    assert_int_equal(close(fd), 0);
    assert_int_equal(symlink("file", folder->link), 0);
    iwt_log_init(&l);
    assert_status(iwi_open_growing(&l.log, folder->link, O_WRONLY | O_APPEND, &fd), IW_ERR_IO);
    iwt_assert_logged(&l, "link': it is not a regular file but a symbolic link");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_new_file_has_the_mode_of_the_umask),
        TEST(the_mode_of_the_old_file_is_kept),
        TEST(names_may_be_as_long_as_the_system_takes_them),
        TEST(who_fails_half_way_leaves_the_old_file),
        TEST(beyond_a_limit_of_file_sizes_the_old_file_stays),
        TEST(on_a_full_disk_the_old_file_stays),
        TEST(devices_stay_devices),
        TEST(a_pipe_is_written_straight),
        TEST(standard_output_goes_on_where_it_stands),
        TEST(what_cannot_be_a_file_is_told),
        TEST(ones_own_links_are_followed_and_stay),
        TEST(links_in_a_circle_end),
        TEST(a_file_that_grows_is_no_link),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
