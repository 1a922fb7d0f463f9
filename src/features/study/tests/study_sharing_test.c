/* Processes that share a study: those that wait, leave, fail, or have no locks.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "features/study/folder.h"
#include "made_study.h"
#include "processes.h"

/* ---- a file system without locks ---- */

static bool has_no_locks;

/* In the place of the C library's, for all of this program. */
int fcntl(int fd, int command, ...)
{
    va_list arguments;
    void *argument;

    va_start(arguments, command);
    argument = va_arg(arguments, void *);
    va_end(arguments);
    if (has_no_locks && command == F_OFD_SETLK) {
        errno = ENOLCK;
        return -1;
    }
    return (int)syscall(SYS_fcntl, fd, command, argument);
}

int flock(int fd, int operation)
{
    if (has_no_locks) {
        errno = ENOLCK;
        return -1;
    }
    return (int)syscall(SYS_flock, fd, operation);
}

/* ---- claims of others ---- */

static void hold(const char *dir, const iw_cell *cell, struct iwi_claims *claims)
{
    bool is_taken = false;

    assert_ok(iwi_claims_open(NULL, dir, claims));
    assert_ok(iwi_claims_take(NULL, claims, iwi_claim_of_cell(cell), &is_taken));
    assert_true(is_taken);
}

static void a_process_that_leaves_does_not_wait_for_cells_of_others(void **state)
{
    const iw_study *study = iwt_made_study(2, 3);
    iw_study_opts opts = iwt_opts_of(0, 1);
    iw_study_outcome outcome;
    struct iwi_claims claims;
    char dir[64];

    (void)state;
    iwt_folder_make(dir);
    hold(dir, &study->cells[7], &claims);
    opts.leaves = true;
    assert_ok(iw_study_run(NULL, study, dir, &opts, &outcome));
    assert_int_equal(outcome.run, study->cell_count - 1);
    assert_int_equal(outcome.elsewhere, 1);
    iwi_claims_close(&claims);
    assert_ok(iw_study_run(NULL, study, dir, &opts, &outcome));
    assert_int_equal(outcome.run, 1);
    assert_int_equal(outcome.elsewhere, 0);
    iwt_folder_remove(dir);
}

static bool has_seen_one_of_others(iw_status status, const iw_study_outcome *outcome, const struct iwt_log *l)
{
    return iwt_is_done(status, outcome, l) && outcome->others == 1;
}

/* The line with the id of a cell, with its newline; to be freed. */
static char *line_of(const char *lines, const iw_cell *cell)
{
    const char *begin = strstr(lines, cell->id);
    char *line;

    assert_non_null(begin);
    while (begin > lines && begin[-1] != '\n') {
        begin--;
    }
    line = strndup(begin, (size_t)(strchr(begin, '\n') - begin) + 1);
    assert_non_null(line);
    return line;
}

/* It ends only when the line is there, though all else is done long before. */
static void the_others_are_waited_for_and_their_lines_seen(void **state)
{
    const struct timespec a_while = {.tv_nsec = 400000000};
    const iw_study *study = iwt_made_study(2, 3);
    const iw_study_opts opts = iwt_opts_of(0, 1);
    struct iwi_claims claims;
    double seconds;
    char *expected = iwt_expected_lines(study, &seconds), *line = line_of(expected, &study->cells[7]),
         dir[64];
    pid_t child;

    (void)state;
    iwt_folder_make(dir);
    hold(dir, &study->cells[7], &claims);
    child = iwt_start(study, dir, &opts, has_seen_one_of_others);
    (void)nanosleep(&a_while, NULL);
    assert_int_equal(waitpid(child, NULL, WNOHANG), 0);
    iwt_write_file(dir, "results-p9.jsonl", line);
    iwi_claims_close(&claims);
    iwt_assert_ends_well(child);
    iwt_assert_lines(dir, expected);
    free(line);
    free(expected);
    iwt_folder_remove(dir);
}

static bool progress_to_the_end(iw_status status, const iw_study_outcome *outcome, const struct iwt_log *l)
{
    return iwt_is_done(status, outcome, l) && outcome->others > 0;
}

static bool note_last(void *arg, const iw_progress_now *now)
{
    *(iw_progress_now *)arg = *now;
    return true;
}

/* Until somebody has run a cell. */
static void wait_for_a_line(const char *dir)
{
    const struct timespec a_moment = {.tv_nsec = 1000000};
    bool has_one = false;

    while (!has_one) {
        char *lines = iwt_sorted_results(dir);

        has_one = lines[0] != '\0';
        free(lines);
        (void)nanosleep(&a_moment, NULL);
    }
}

/* Cells that others run count as done in the progress. Each process meets one of another, however busy the
 * machine: the child has run one before we begin, and of the cell that we hold it finds a line. */
static void progress_counts_the_cells_of_others(void **state)
{
    const iw_study *study = iwt_made_study(3, 150);
    iw_progress_now last = {.done = 0};
    iw_study_opts opts = iwt_opts_of(0, 2);
    const iw_study_opts other = iwt_opts_of(1, 2);
    iw_study_outcome outcome;
    struct iwi_claims claims;
    double seconds;
    char *expected = iwt_expected_lines(study, &seconds), *line = line_of(expected, &study->cells[7]),
         dir[64];
    pid_t child;

    (void)state;
    iwt_folder_make(dir);
    hold(dir, &study->cells[7], &claims);
    child = iwt_start(study, dir, &other, progress_to_the_end);
    wait_for_a_line(dir);
    iwt_write_file(dir, "results-p9.jsonl", line);
    iwi_claims_close(&claims);
    opts.progress = (iw_progress){note_last, &last};
    assert_ok(iw_study_run(NULL, study, dir, &opts, &outcome));
    iwt_assert_ends_well(child);
    assert_true(outcome.run < study->cell_count);
    assert_int_equal(last.done, study->cell_count);
    assert_true(last.share > 0.999);
    free(line);
    free(expected);
    iwt_folder_remove(dir);
}

/* ---- failures ---- */

static bool has_named_the_cell(iw_status status, const iw_study_outcome *outcome, const struct iwt_log *l)
{
    (void)outcome;
    return status == IW_ERR_DEADLOCK && l->errors == 1 &&
           strstr(l->text, "cell 17: system alpha, stuck") != NULL;
}

/* Heavy, so that it comes first: each process meets it in the end, none before all else is done. */
static void a_cell_that_fails_does_not_keep_the_others_from_being_run(void **state)
{
    iw_study *study = iwt_made_study(5, 5);
    iw_study_work works[4] = {study->works[0], study->works[1], study->works[2]};
    char dir[64], stuck[] = "stuck", path[100], *lines;
    pid_t children[3];
    size_t count = 0;

    (void)state;
    iwt_folder_make(dir);
    iwt_write_file(dir, "stuck.goal",
                   "num_ranks 2\nrank 0 {\nl1: recv 8b from 1 tag 7\n}\n"
                   "rank 1 {\nl1: recv 8b from 0 tag 7\n}\n");
    snprintf(path, sizeof path, "%s/stuck.goal", dir);
    works[3] = (iw_study_work){.name = stuck, .goal_path = path, .goal_unit_ps = IW_PS_PER_NS};
    study->works = works;
    study->work_count = 4;
    study->cells[16].work = 3;
    study->cells[16].ranks = 2;
    study->cells[16].trials = 100000;
    for (uint32_t p = 0; p < 3; p++) {
        const iw_study_opts opts = iwt_opts_of(p, 3);

        children[p] = iwt_start(study, dir, &opts, has_named_the_cell);
    }
    for (uint32_t p = 0; p < 3; p++) {
        iwt_assert_ends_well(children[p]);
    }
    lines = iwt_sorted_results(dir);
    for (const char *c = lines; *c != '\0'; c++) {
        count += *c == '\n';
    }
    assert_int_equal(count, study->cell_count - 1);
    free(lines);
    iwt_folder_remove(dir);
}

/* ---- without locks ---- */

static bool has_warned_and_done_its_part(iw_status status, const iw_study_outcome *outcome,
                                         const struct iwt_log *l)
{
    return iwt_is_done(status, outcome, l) && l->warnings == 1 && outcome->others == 0 &&
           strstr(l->text, "has no locks (No locks available): cells are assigned to processes in advance");
}

static void without_locks_cells_are_dealt_beforehand(void **state)
{
    const iw_study *study = iwt_made_study(4, 4);
    double seconds;
    char *expected = iwt_expected_lines(study, &seconds), dir[64];
    pid_t children[3];

    (void)state;
    iwt_folder_make(dir);
    has_no_locks = true;
    for (uint32_t p = 0; p < 3; p++) {
        const iw_study_opts opts = iwt_opts_of(p, 3);

        children[p] = iwt_start(study, dir, &opts, has_warned_and_done_its_part);
    }
    has_no_locks = false;
    for (uint32_t p = 0; p < 3; p++) {
        iwt_assert_ends_well(children[p]);
    }
    iwt_assert_lines(dir, expected);
    free(expected);
    iwt_folder_remove(dir);
}

static void without_locks_and_numbers_nothing_is_run(void **state)
{
    const iw_study *study = iwt_made_study(1, 2);
    iw_study_opts opts = iwt_opts_of(5, 1);
    iw_study_outcome outcome;
    struct iwt_log l;
    char dir[64];

    (void)state;
    iwt_log_init(&l);
    iwt_folder_make(dir);
    has_no_locks = true;
    assert_status(iw_study_run(&l.log, study, dir, &opts, &outcome), IW_ERR_UNSUPPORTED);
    iwt_assert_logged(&l, "give each process its part (`shard`)");
    iwt_log_init(&l);
    opts.process = 0;
    assert_ok(iw_study_run(&l.log, study, dir, &opts, &outcome));
    iwt_assert_logged(&l, "warning: the file system of ");
    iwt_assert_logged(&l, "make sure that no other process writes there");
    assert_int_equal(l.warnings, 1);
    has_no_locks = false;
    iwt_folder_remove(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_that_leaves_does_not_wait_for_cells_of_others),
        cmocka_unit_test(the_others_are_waited_for_and_their_lines_seen),
        cmocka_unit_test(progress_counts_the_cells_of_others),
        cmocka_unit_test(a_cell_that_fails_does_not_keep_the_others_from_being_run),
        cmocka_unit_test(without_locks_cells_are_dealt_beforehand),
        cmocka_unit_test(without_locks_and_numbers_nothing_is_run),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
