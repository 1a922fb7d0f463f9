/* Running studies: the same lines however they are run.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "features/study/files/study_line.h"
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

static size_t count_lines(const char *text)
{
    size_t count = 0;

    for (; *text != '\0'; text++) {
        count += *text == '\n';
    }
    return count;
}

static void each_cell_becomes_one_line(void **state)
{
    const iw_study *study = iwt_made_study(4, 5);
    iw_cell_result *results = NULL;
    size_t count = 0;
    char dir[64];
    iw_study_outcome outcome;

    (void)state;
    iwt_folder_make(dir);
    outcome = run(study, dir, 2);
    assert_int_equal(outcome.cells, 72); /* 2 systems x 3 works x 3 sizes x 4 rank counts */
    assert_int_equal(outcome.found, 0);
    assert_int_equal(outcome.run, 72);
    assert_false(outcome.is_stopped);
    assert_ok(iwi_cell_results_load(NULL, dir, &results, &count));
    assert_int_equal(count, 72);
    iwi_cell_results_free(results, count);
    iwt_folder_remove(dir);
}

static const iw_cell_result *find(const iw_cell_result *results, size_t count, const char *id)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(results[i].id, id) == 0) {
            return &results[i];
        }
    }
    fail_msg("there is no result of cell %s", id);
    return NULL;
}

/* bcast:binomial, 2 ranks, 8 bytes on chic without a detour in the way: o + L + 7 G + o
 * = 770 + 5330 + 7 x 1.25 + 770 ns = 6878.75 ns */
static void a_line_tells_names_numbers_and_times(void **state)
{
    iw_study *study = iwt_made_study(1, 5);
    iw_study part;
    iw_cell_result *results = NULL;
    const iw_cell_result *result;
    size_t count = 0;
    char dir[64];

    (void)state;
    iwt_folder_make(dir);
    part = iwt_part_of_study(study, 3, 1); /* alpha, bcast, 8 bytes, 2 ranks */
    (void)run(&part, dir, 1);
    assert_ok(iwi_cell_results_load(NULL, dir, &results, &count));
    result = find(results, count, part.cells[0].id);
    assert_string_equal(result->system, "alpha");
    assert_string_equal(result->work, "bcast:binomial");
    assert_string_equal(result->net, "chic: L 5.330 us, o 770.0 ns, g 1.560 us, G 1.25 ns/B");
    assert_string_equal(result->noise, "periodic:1kHz,50us");
    assert_int_equal(result->ranks, 2);
    assert_int_equal(result->bytes, 8);
    assert_int_equal(result->trials, 5);
    assert_int_equal(result->messages, 1);
    assert_true(result->noiseless_ns > 6878.74 && result->noiseless_ns < 6878.76);
    assert_true(result->noise_share > 0.0499 && result->noise_share < 0.0501); /* 1 kHz x 50 us */
    assert_int_equal(result->makespan_ns.count, 5);
    assert_true(result->makespan_ns.min >= result->noiseless_ns);
    assert_true(result->p5_ns >= result->makespan_ns.min && result->p95_ns <= result->makespan_ns.max);
    iwi_cell_results_free(results, count);
    iwt_folder_remove(dir);
}

static void noise_files_are_named_without_their_folder(void **state)
{
    iw_study *study = iwt_made_study(1, 2);
    iw_study part = iwt_part_of_study(study, 0, 1);
    char dir[64], spec[100], *noise[2], *lines;

    (void)state;
    iwt_folder_make(dir);
    iwt_write_file(dir, "node.txt", "# detours\n0 1000\n500000 2000\n");
    snprintf(spec, sizeof spec, "%s/node.txt", dir);
    noise[0] = spec;
    noise[1] = study->systems[0].noise[0];
    study->systems[0].noise = noise;
    study->systems[0].noise_count = 2;
    (void)run(&part, dir, 1);
    lines = iwt_sorted_results(dir);
    assert_non_null(strstr(lines, "\"node.txt + periodic:1kHz,50us\""));
    assert_null(strstr(lines, dir));
    free(lines);
    iwt_folder_remove(dir);
}

static void the_number_of_threads_changes_no_line(void **state)
{
    const iw_study *study = iwt_made_study(4, 9);
    char one[64], three[64], *lines_one, *lines_three;

    (void)state;
    iwt_folder_make(one);
    iwt_folder_make(three);
    (void)run(study, one, 1);
    (void)run(study, three, 3);
    lines_one = iwt_sorted_results(one);
    lines_three = iwt_sorted_results(three);
    assert_int_equal(count_lines(lines_one), 72);
    assert_string_equal(lines_one, lines_three);
    free(lines_one);
    free(lines_three);
    iwt_folder_remove(one);
    iwt_folder_remove(three);
}

static void what_is_there_is_not_run_again(void **state)
{
    const iw_study *study = iwt_made_study(3, 5);
    const iw_study half = iwt_part_of_study(study, 10, 20);
    iw_study_outcome outcome;
    char dir[64];

    (void)state;
    iwt_folder_make(dir);
    assert_int_equal(run(&half, dir, 2).run, 20);
    outcome = run(study, dir, 2);
    assert_int_equal(outcome.cells, 54);
    assert_int_equal(outcome.found, 20);
    assert_int_equal(outcome.run, 34);
    outcome = run(study, dir, 2);
    assert_int_equal(outcome.found, 54);
    assert_int_equal(outcome.run, 0);
    iwt_folder_remove(dir);
}

static void a_cut_off_last_line_is_run_again(void **state)
{
    const iw_study *study = iwt_made_study(2, 5);
    char dir[64], path[100], *before, *after;
    struct stat info;

    (void)state;
    iwt_folder_make(dir);
    (void)run(study, dir, 2);
    before = iwt_sorted_results(dir);
    snprintf(path, sizeof path, "%s/results.jsonl", dir);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(truncate(path, info.st_size - 7), 0);
    assert_int_equal(run(study, dir, 2).run, 1);
    after = iwt_sorted_results(dir);
    assert_string_equal(before, after);
    free(before);
    free(after);
    iwt_folder_remove(dir);
}

/* ---- stopping, failing ---- */

struct seen {
    size_t calls, stop_after;
    iw_progress_now first, last;
    bool is_falling;
};

static bool note(void *arg, const iw_progress_now *now)
{
    struct seen *seen = arg;

    seen->is_falling |=
        seen->calls > 0 && (now->done < seen->last.done || now->share < seen->last.share * 0.999);
    if (seen->calls++ == 0) {
        seen->first = *now;
    }
    seen->last = *now;
    return seen->calls < seen->stop_after;
}

static void progress_rises_to_the_end(void **state)
{
    const iw_study *study = iwt_made_study(4, 10);
    const iw_study half = iwt_part_of_study(study, 0, 36);
    struct seen seen = {.stop_after = SIZE_MAX};
    iw_study_opts opts = IW_STUDY_OPTS_INIT;
    iw_study_outcome outcome;
    char dir[64];

    (void)state;
    iwt_folder_make(dir);
    (void)run(&half, dir, 2);
    opts.progress = (iw_progress){note, &seen};
    assert_ok(iw_study_run(NULL, study, dir, &opts, &outcome));
    assert_in_range(seen.first.done, 36, 72);
    assert_int_equal(seen.last.done, 72);
    assert_int_equal(seen.last.total, 72);
    assert_true(seen.last.share > 0.999);
    assert_false(seen.is_falling);
    iwt_folder_remove(dir);
}

static void a_stop_leaves_whole_cells_and_the_next_run_goes_on(void **state)
{
    const iw_study *study = iwt_made_study(7, 20);
    struct seen seen = {.stop_after = 3};
    iw_study_opts opts = IW_STUDY_OPTS_INIT;
    iw_study_outcome outcome, rest;
    char dir[64];

    (void)state;
    iwt_folder_make(dir);
    opts.threads = 2;
    opts.progress = (iw_progress){note, &seen};
    assert_ok(iw_study_run(NULL, study, dir, &opts, &outcome));
    assert_true(outcome.is_stopped);
    assert_true(outcome.run < outcome.cells);
    rest = run(study, dir, 2);
    assert_int_equal(rest.found, outcome.run);
    assert_int_equal(rest.found + rest.run, 126);
    iwt_folder_remove(dir);
}

/* The schedule has no messages, so its cell is the cheapest and comes last. */
static void a_cell_that_fails_is_named_and_what_is_done_stays(void **state)
{
    iw_study *study = iwt_made_study(2, 5);
    iw_study_opts opts = IW_STUDY_OPTS_INIT;
    iw_study_work works[4] = {study->works[0], study->works[1], study->works[2]};
    iw_study_outcome outcome;
    char dir[64], stuck[] = "stuck", path[100], *lines;
    struct iwt_log l;

    (void)state;
    iwt_log_init(&l);
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
    opts.threads = 1;
    assert_status(iw_study_run(&l.log, study, dir, &opts, &outcome), IW_ERR_DEADLOCK);
    iwt_assert_logged(&l,
                      "error: cell 17: system alpha, stuck, 2 ranks: 2 ranks cannot continue: rank 0 op 0");
    assert_int_equal(l.errors, 1);
    lines = iwt_sorted_results(dir);
    assert_int_equal(count_lines(lines), 35);
    free(lines);
    iwt_folder_remove(dir);
}

/* Every cell warns of the same: per-phase noise, and no work. */
static void a_warning_of_many_cells_is_told_once(void **state)
{
    iw_study *study = iwt_made_study(3, 2);
    const iw_study part = iwt_part_of_study(study, 0, 9); /* alpha, allreduce */
    const iw_study_opts opts = IW_STUDY_OPTS_INIT;
    char spec[] = "phase-exp:1%", *noise[] = {spec}, dir[64];
    iw_study_outcome outcome;
    struct iwt_log l;

    (void)state;
    iwt_log_init(&l);
    iwt_folder_make(dir);
    study->systems[0].noise = noise;
    assert_ok(iw_study_run(&l.log, &part, dir, &opts, &outcome));
    assert_int_equal(l.warnings, 1);
    iwt_assert_logged(&l, "need compute phases:");
    iwt_folder_remove(dir);
}

static void there_is_no_ninth_of_eight_shards(void **state)
{
    const iw_study *study = iwt_made_study(1, 2);
    iw_study_opts opts = IW_STUDY_OPTS_INIT;
    iw_study_outcome outcome;
    struct iwt_log l;

    (void)state;
    iwt_log_init(&l);
    opts.shard = opts.shards = 8;
    assert_status(iw_study_run(&l.log, study, "/tmp/never-made", &opts, &outcome), IW_ERR_USAGE);
    iwt_assert_logged(&l, "no shard 9 of 8");
    assert_int_equal(access("/tmp/never-made", F_OK), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_cell_becomes_one_line),
        cmocka_unit_test(a_line_tells_names_numbers_and_times),
        cmocka_unit_test(noise_files_are_named_without_their_folder),
        cmocka_unit_test(the_number_of_threads_changes_no_line),
        cmocka_unit_test(what_is_there_is_not_run_again),
        cmocka_unit_test(a_cut_off_last_line_is_run_again),
        cmocka_unit_test(progress_rises_to_the_end),
        cmocka_unit_test(a_stop_leaves_whole_cells_and_the_next_run_goes_on),
        cmocka_unit_test(a_cell_that_fails_is_named_and_what_is_done_stays),
        cmocka_unit_test(a_warning_of_many_cells_is_told_once),
        cmocka_unit_test(there_is_no_ninth_of_eight_shards),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
