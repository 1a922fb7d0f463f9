/* Studies that are killed, run out of disk, or may not write: nothing is lost, and they go on.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/base/rng.h"
#include "made_study.h"
#include "support/support.h"

enum { KILLS = 20, SKIPPED = 77 };

static iw_status run(const iw_log *log, const iw_study *study, const char *dir, iw_study_outcome *outcome)
{
    iw_study_opts opts = IW_STUDY_OPTS_INIT;

    opts.threads = 2;
    return iw_study_run(log, study, dir, &opts, outcome);
}

/* The lines of an undisturbed run, and how long it took. */
static char *expected_lines(const iw_study *study, double *seconds_p)
{
    iw_study_outcome outcome;
    char dir[64], *lines;

    iwt_folder_make(dir);
    assert_ok(run(NULL, study, dir, &outcome));
    *seconds_p = outcome.seconds;
    lines = iwt_sorted_results(dir);
    iwt_folder_remove(dir);
    return lines;
}

static void sleep_for(double seconds)
{
    const struct timespec time = {.tv_sec = (time_t)seconds,
                                  .tv_nsec = (long)(1e9 * (seconds - (double)(time_t)seconds))};

    (void)nanosleep(&time, NULL);
}

/* Whether the child was killed before it had ended. */
static bool run_and_kill(const iw_study *study, const char *dir, double after_s)
{
    const pid_t child = fork();
    int status = 0;

    assert_true(child >= 0);
    if (child == 0) {
        iw_study_outcome outcome;

        _exit(run(NULL, study, dir, &outcome) == IW_OK ? 0 : 1);
    }
    sleep_for(after_s);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status)) {
        assert_int_equal(WEXITSTATUS(status), 0);
        return false;
    }
    return true;
}

static void killed_at_random_moments_it_ends_with_the_same_lines(void **state)
{
    const struct iwi_draw_id id = {.seed = (uint64_t)time(NULL), .purpose = IWI_DRAW_TEST};
    const iw_study *study = iwt_made_study(10, 2);
    double undisturbed_s = 0.0;
    char *expected = expected_lines(study, &undisturbed_s), *lines;
    iw_study_outcome outcome;
    char dir[64];
    uint64_t draw = 0;

    (void)state;
    print_message("seed %llu, %zu cells, %.2f s\n", (unsigned long long)id.seed, study->cell_count,
                  undisturbed_s);
    iwt_folder_make(dir);
    for (int kills = 0; kills < KILLS;) {
        /* within a third of what is needed: some begin, some go on, a few are in time */
        if (run_and_kill(study, dir, 0.3 * undisturbed_s * iwi_draw_unit(id, draw++))) {
            kills++;
            continue;
        }
        lines = iwt_sorted_results(dir); /* done too early: once more from the start */
        assert_string_equal(lines, expected);
        free(lines);
        iwt_folder_remove(dir);
        iwt_folder_make(dir);
    }
    assert_ok(run(NULL, study, dir, &outcome));
    print_message("%zu of %zu cells were done by the killed\n", outcome.found, outcome.cells);
    lines = iwt_sorted_results(dir);
    assert_string_equal(lines, expected);
    free(lines);
    free(expected);
    iwt_folder_remove(dir);
}

/* ---- full disks: in a child of its own, since limits and mounts stay with the process ---- */

static int in_child(int (*body)(const char *dir, const char *expected), const char *dir, const char *expected)
{
    const pid_t child = fork();
    int status = 0;

    assert_true(child >= 0);
    if (child == 0) {
        _exit(body(dir, expected));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* 0: it failed as it should, with one sentence, and then went on to the end. */
static int fail_and_go_on(const char *dir, const char *expected, const char *sentence,
                          int (*make_room)(const char *))
{
    const iw_study *study = iwt_made_study(4, 3);
    iw_study_outcome outcome;
    struct iwt_log l;
    char *lines;
    int code;

    iwt_log_init(&l);
    if (run(&l.log, study, dir, &outcome) != IW_ERR_IO || l.errors != 1 || strstr(l.text, sentence) == NULL) {
        (void)fprintf(stderr, "log: %s\n", l.text);
        return 1;
    }
    if (make_room(dir) != 0) {
        return 2;
    }
    if (run(&l.log, study, dir, &outcome) != IW_OK || outcome.found == 0) {
        (void)fprintf(stderr, "log: %s, %zu found\n", l.text, outcome.found);
        return 3;
    }
    lines = iwt_sorted_results(dir);
    code = strcmp(lines, expected) == 0 ? 0 : 4;
    free(lines);
    return code;
}

static int lift_limit(const char *dir)
{
    struct rlimit limit;

    (void)dir;
    (void)getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = limit.rlim_max;
    return setrlimit(RLIMIT_FSIZE, &limit);
}

static int with_limited_files(const char *dir, const char *expected)
{
    struct rlimit limit;

    (void)getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = 9000;
    (void)setrlimit(RLIMIT_FSIZE, &limit);
    return fail_and_go_on(dir, expected, "File too large; finished cells are kept", lift_limit);
}

static int enlarge(const char *dir)
{
    return mount("none", dir, "tmpfs", MS_REMOUNT, "size=8m");
}

static int on_a_full_disk(const char *dir, const char *expected)
{
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", dir, "tmpfs", 0, "size=20k") != 0) {
        return SKIPPED;
    }
    return fail_and_go_on(dir, expected, "No space left on device; finished cells are kept", enlarge);
}

static void a_limit_of_file_sizes_loses_nothing(void **state)
{
    double seconds;
    char *expected = expected_lines(iwt_made_study(4, 3), &seconds), dir[64];

    (void)state;
    iwt_folder_make(dir);
    assert_int_equal(in_child(with_limited_files, dir, expected), 0);
    free(expected);
    iwt_folder_remove(dir);
}

static void a_full_disk_loses_nothing(void **state)
{
    double seconds;
    char *expected = expected_lines(iwt_made_study(4, 3), &seconds), dir[64];
    int code;

    (void)state;
    iwt_folder_make(dir);
    code = in_child(on_a_full_disk, dir, expected);
    free(expected);
    iwt_folder_remove(dir);
    if (code == SKIPPED) {
        skip(); /* only root may mount */
    }
    assert_int_equal(code, 0);
}

/* Root may write everywhere, so somebody else tries. */
static int as_nobody(const char *dir, const char *expected)
{
    const iw_study *study = iwt_made_study(1, 3);
    iw_study_outcome outcome;
    struct iwt_log l;

    (void)expected;
    iwt_log_init(&l);
    if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0) {
        return SKIPPED;
    }
    if (run(&l.log, study, dir, &outcome) != IW_ERR_IO || l.errors != 1 ||
        strstr(l.text, "Permission denied") == NULL) {
        (void)fprintf(stderr, "log: %s\n", l.text);
        return 1;
    }
    return 0;
}

static void a_folder_that_may_not_be_written_is_told_in_a_sentence(void **state)
{
    char dir[64];

    (void)state;
    iwt_folder_make(dir);
    assert_int_equal(chmod(dir, 0555), 0);
    assert_int_equal(in_child(as_nobody, dir, NULL), 0);
    iwt_folder_remove(dir);
}

static void a_folder_below_a_file_cannot_be_made(void **state)
{
    const iw_study *study = iwt_made_study(1, 3);
    iw_study_outcome outcome;
    struct iwt_log l;
    char dir[64], below[100];

    (void)state;
    iwt_log_init(&l);
    iwt_folder_make(dir);
    iwt_write_file(dir, "file", "");
    snprintf(below, sizeof below, "%s/file/results", dir);
    assert_status(run(&l.log, study, below, &outcome), IW_ERR_IO);
    iwt_assert_logged(&l, "cannot use the folder");
    assert_int_equal(l.errors, 1);
    snprintf(below, sizeof below, "%s/file", dir);
    assert_status(run(&l.log, study, below, &outcome), IW_ERR_IO);
    iwt_assert_logged(&l, "/file': Not a directory");
    iwt_folder_remove(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(killed_at_random_moments_it_ends_with_the_same_lines),
        cmocka_unit_test(a_limit_of_file_sizes_loses_nothing),
        cmocka_unit_test(a_full_disk_loses_nothing),
        cmocka_unit_test(a_folder_that_may_not_be_written_is_told_in_a_sentence),
        cmocka_unit_test(a_folder_below_a_file_cannot_be_made),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
