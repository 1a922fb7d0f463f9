/* The folder of a study: what is in it, and whose it is.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "made_study.h"
#include "support/support.h"

static iw_study_outcome run(const iw_study *study, const char *dir, uint32_t threads)
{
    iw_study_opts opts = IW_STUDY_OPTS_INIT;
    iw_study_outcome outcome;
    struct iwt_log l;

    iwt_log_init(&l);
    opts.threads = threads;
    opts.command = "idlewave study made.yaml";
    if (iw_study_run(&l.log, study, dir, &opts, &outcome) != IW_OK) {
        fail_msg("%s", l.text);
    }
    return outcome;
}

static void the_folder_holds_the_study_and_its_origin(void **state)
{
    const iw_study *study = iwt_made_study(1, 2);
    char dir[64], deep[100], *text, *origin, *again;

    (void)state;
    iwt_folder_make(dir);
    snprintf(deep, sizeof deep, "%s/a/b/c", dir);
    (void)run(study, deep, 1);
    text = iwt_read_file(deep, "study.yaml");
    assert_string_equal(text, study->text);
    origin = iwt_read_file(deep, "origin.json");
    assert_non_null(strstr(origin, "\"command\": \"idlewave study made.yaml\""));
    assert_non_null(strstr(origin, "\"version\": "));
    assert_non_null(strstr(origin, "\"date\": "));
    assert_non_null(strstr(origin, "\"host\": "));
    (void)run(study, deep, 1);
    again = iwt_read_file(deep, "origin.json");
    assert_string_equal(origin, again);
    free(text);
    free(origin);
    free(again);
    iwt_folder_remove(dir);
}

static void another_version_of_the_study_keeps_the_cells_that_are_the_same(void **state)
{
    const iw_study *study = iwt_made_study(2, 5);
    const iw_study_opts opts = IW_STUDY_OPTS_INIT;
    iw_study other = iwt_part_of_study(study, 6, 12);
    char dir[64], other_text[] = "# another version\n", *text;
    iw_study_outcome outcome;
    struct iwt_log l;

    (void)state;
    iwt_log_init(&l);
    iwt_folder_make(dir);
    (void)run(study, dir, 2);
    other.text = other_text;
    assert_ok(iw_study_run(&l.log, &other, dir, &opts, &outcome));
    iwt_assert_logged(&l, "has another version of the study: 12 of 12 cells are unchanged and kept");
    assert_int_equal(l.errors + l.warnings, 0);
    text = iwt_read_file(dir, "study.yaml");
    assert_string_equal(text, other_text);
    free(text);
    iwt_folder_remove(dir);
}

static void a_study_of_somebody_else_is_not_overwritten(void **state)
{
    const iw_study *study = iwt_made_study(1, 2);
    const iw_study_opts opts = IW_STUDY_OPTS_INIT;
    iw_study_outcome outcome;
    char dir[64], *text, *lines;
    struct iwt_log l;

    (void)state;
    iwt_log_init(&l);
    iwt_folder_make(dir);
    iwt_write_file(dir, "study.yaml", "mine\n");
    assert_status(iw_study_run(&l.log, study, dir, &opts, &outcome), IW_ERR_IO);
    iwt_assert_logged(&l, "belongs to another study, and its folder has no results");
    text = iwt_read_file(dir, "study.yaml");
    assert_string_equal(text, "mine\n");
    lines = iwt_sorted_results(dir);
    assert_string_equal(lines, "");
    assert_null(iwt_read_file(dir, "origin.json"));
    free(text);
    free(lines);
    iwt_folder_remove(dir);
}

static void a_file_that_another_process_writes_is_left_to_it(void **state)
{
    const iw_study *study = iwt_made_study(1, 2);
    char dir[64], path[100], *lines;
    const char *dirs[] = {dir};
    struct iwt_log l;
    int fd;

    (void)state;
    iwt_log_init(&l);
    iwt_folder_make(dir);
    snprintf(path, sizeof path, "%s/results.jsonl", dir);
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    assert_true(fd >= 0);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    (void)run(study, dir, 1);
    assert_status(iw_study_merge(&l.log, dirs, 1, dir), IW_ERR_IO);
    iwt_assert_logged(&l, "/results.jsonl': wait for it");
    assert_int_equal(l.errors, 1);
    assert_int_equal(close(fd), 0);
    lines = iwt_read_file(dir, "results.jsonl");
    assert_string_equal(lines, "");
    free(lines);
    lines = iwt_read_file(dir, "results-p2.jsonl");
    assert_non_null(strstr(lines, study->cells[0].id));
    free(lines);
    assert_ok(iw_study_merge(NULL, dirs, 1, dir));
    assert_null(iwt_read_file(dir, "results-p2.jsonl"));
    iwt_folder_remove(dir);
}

static void what_is_no_regular_file_is_not_written(void **state)
{
    const iw_study *study = iwt_made_study(1, 2);
    const iw_study_opts opts = IW_STUDY_OPTS_INIT;
    iw_study_outcome outcome;
    char dir[64], path[100];
    struct iwt_log l;

    (void)state;
    iwt_log_init(&l);
    iwt_folder_make(dir);
    snprintf(path, sizeof path, "%s/results.jsonl", dir);
    assert_int_equal(symlink("/dev/null", path), 0);
    assert_status(iw_study_run(&l.log, study, dir, &opts, &outcome), IW_ERR_IO);
    iwt_assert_logged(&l, "it is not a regular file");
    iwt_folder_remove(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_folder_holds_the_study_and_its_origin),
        cmocka_unit_test(another_version_of_the_study_keeps_the_cells_that_are_the_same),
        cmocka_unit_test(a_study_of_somebody_else_is_not_overwritten),
        cmocka_unit_test(a_file_that_another_process_writes_is_left_to_it),
        cmocka_unit_test(what_is_no_regular_file_is_not_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
