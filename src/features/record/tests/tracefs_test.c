/* Finding tracefs, and the words in which its absence is told.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/record/kernel/tracefs.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sys/wait.h>

#include "support/fake_root.h"

static void expect_file(int folder, const char *path, const char *expected)
{
    char text[64];

    assert_true(iwi_tracefs_read(folder, path, text, sizeof text));
    assert_string_equal(text, expected);
}

static void the_mounted_one_is_opened_wherever_it_is(void **state)
{
    char root[FAKE_ROOT_SIZE];
    struct iwi_method method = {.root = root};
    int fd;

    (void)state;
    fake_root_make(root);
    fake_root_file(root, "/proc/self/mounts",
                   "proc /proc proc rw 0 0\nnone /some\\040where tracefs rw,nosuid 0 0\n");
    fake_root_file(root, "/some where/tracing_on", "1\n");
    fd = iwi_tracefs_open(&method);
    assert_true(fd >= 0);
    expect_file(fd, "tracing_on", "1\n");
    assert_int_equal(close(fd), 0);
    fake_root_remove(root);
}

/* Runs in a child, which gives up its rights; exits with 0 when refused with `part` in the reason. */
static void expect_nobody_is_refused(const char *root, const char *part)
{
    int state;
    const pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0) {
        struct iwi_method method = {.root = root};

        if (setgroups(0, NULL) != 0 || setgid(65534) != 0 || setuid(65534) != 0) {
            _exit(2);
        }
        _exit(iwi_tracefs_open(&method) < 0 && strstr(method.reason, part) != NULL ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &state, 0), pid);
    assert_true(WIFEXITED(state));
    assert_int_equal(WEXITSTATUS(state), 0);
}

static void others_than_root_are_told_so(void **state)
{
    char root[FAKE_ROOT_SIZE], path[FAKE_PATH_SIZE];

    (void)state;
    if (geteuid() != 0) {
        skip();
    }
    (void)umask(022); /* the files that are made are for all */
    fake_root_make(root);
    assert_int_equal(chmod(root, 0755), 0);
    fake_root_file(root, "/proc/self/mounts", "proc /proc proc rw 0 0\n");
    snprintf(path, sizeof path, "%s/proc", root);
    assert_int_equal(chmod(path, 0755), 0);
    snprintf(path, sizeof path, "%s/proc/self", root);
    assert_int_equal(chmod(path, 0755), 0);
    expect_nobody_is_refused(root, "tracefs needs root");
    fake_root_file(root, "/proc/self/mounts", "tracefs /tracing tracefs rw 0 0\n");
    fake_root_file(root, "/tracing/tracing_on", "1\n"); /* its folder has mode 0700 */
    expect_nobody_is_refused(root, "tracefs at /tracing is not open to this user");
    fake_root_remove(root);
}

static void process_numbers_of_a_container_are_refused(void **state)
{
    char root[FAKE_ROOT_SIZE], path[FAKE_PATH_SIZE];
    struct iwi_method method = {.root = root};

    (void)state;
    fake_root_make(root);
    fake_root_file(root, "/proc/self/ns/here", "");
    snprintf(path, sizeof path, "%s/proc/self/ns/pid", root);
    assert_int_equal(symlink("pid:[4026532999]", path), 0);
    assert_int_equal(iwi_tracefs_open(&method), -1);
    assert_non_null(strstr(method.reason, "this container does not know its own"));
    assert_true(strlen(method.reason) < IWI_REASON_SIZE - 1); /* not cut */
    fake_root_remove(root);
}

static void without_a_mount_root_gets_one_that_nobody_sees(void **state)
{
    char root[FAKE_ROOT_SIZE], format[4096];
    struct iwi_method method = {.root = root};
    int fd;

    (void)state;
    fake_root_make(root);
    fake_root_file(root, "/proc/self/mounts", "proc /proc proc rw 0 0\n");
    fd = iwi_tracefs_open(&method);
    fake_root_remove(root);
    if (fd < 0) {
        print_message("no tracefs: %s\n", method.reason);
        assert_true(method.reason[0] != '\0');
        skip();
    }
    assert_true(iwi_tracefs_read(fd, "events/header_page", format, sizeof format));
    assert_non_null(strstr(format, "commit"));
    assert_int_equal(close(fd), 0);
}

static void small_files_are_read_whole_or_not_at_all(void **state)
{
    char root[FAKE_ROOT_SIZE], text[8];
    int fd;

    (void)state;
    fake_root_make(root);
    fake_root_file(root, "/seven", "1234567");
    fake_root_file(root, "/eight", "12345678");
    fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(fd >= 0);
    expect_file(fd, "seven", "1234567");
    assert_true(iwi_tracefs_read(fd, "seven", text, sizeof text));
    assert_false(iwi_tracefs_read(fd, "eight", text, sizeof text));
    assert_string_equal(text, "");
    assert_false(iwi_tracefs_read(fd, "none", text, sizeof text));
    assert_int_equal(close(fd), 0);
    fake_root_remove(root);
}

static void writing_replaces_and_makes_no_files(void **state)
{
    char root[FAKE_ROOT_SIZE];
    int fd;

    (void)state;
    fake_root_make(root);
    fake_root_file(root, "/clock", "[local] global\n");
    fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_true(iwi_tracefs_write(fd, "clock", "mono"));
    expect_file(fd, "clock", "mono");
    assert_false(iwi_tracefs_write(fd, "none", "1"));
    assert_int_equal(errno, ENOENT);
    assert_int_not_equal(faccessat(fd, "none", F_OK, 0), 0);
    assert_int_equal(close(fd), 0);
    fake_root_remove(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_mounted_one_is_opened_wherever_it_is),
        cmocka_unit_test(others_than_root_are_told_so),
        cmocka_unit_test(process_numbers_of_a_container_are_refused),
        cmocka_unit_test(without_a_mount_root_gets_one_that_nobody_sees),
        cmocka_unit_test(small_files_are_read_whole_or_not_at_all),
        cmocka_unit_test(writing_replaces_and_makes_no_files),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
