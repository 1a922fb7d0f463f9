/* Studies in parts: dealt evenly, and joined again.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "features/study/cells.h"
#include "features/study/pool.h"
#include "made_study.h"
#include "support/support.h"

enum { SHARDS = 3 };

static void run_shard(const iw_study *study, const char *dir, uint32_t shard, uint32_t shards)
{
    iw_study_opts opts = IW_STUDY_OPTS_INIT;
    iw_study_outcome outcome;
    struct iwt_log l;

    iwt_log_init(&l);
    opts.threads = 2;
    opts.shard = shard;
    opts.shards = shards;
    if (iw_study_run(&l.log, study, dir, &opts, &outcome) != IW_OK) {
        fail_msg("%s", l.text);
    }
}

/* ---- dealing ---- */

/* Which shard each cell belongs to, by the cell's number; and what each shard weighs. */
static void deal(const iw_study *study, uint32_t shards, uint32_t *owner, double *weight)
{
    struct iwi_inputs inputs;
    struct iwi_tasks tasks;

    assert_ok(iwi_inputs_init(NULL, study, &inputs));
    for (size_t i = 0; i < study->cell_count; i++) {
        owner[i] = UINT32_MAX;
    }
    for (uint32_t s = 0; s < shards; s++) {
        weight[s] = 0.0;
        assert_ok(iwi_tasks_init(NULL, &inputs, s, shards, &tasks));
        for (size_t i = 0; i < tasks.count; i++) {
            const size_t cell = tasks.items[i].cell;

            assert_int_equal(owner[cell], UINT32_MAX);
            owner[cell] = s;
            weight[s] += (double)tasks.items[i].messages * (double)study->cells[cell].trials;
        }
        iwi_tasks_release(&tasks);
    }
    iwi_inputs_release(&inputs);
    for (size_t i = 0; i < study->cell_count; i++) {
        assert_true(owner[i] < shards);
    }
}

static void each_cell_has_one_shard_and_shards_weigh_the_same(void **state)
{
    const iw_study *study = iwt_made_study(14, 100);
    uint32_t owner[2 * 3 * 3 * 14];
    double weight[8];

    (void)state;
    deal(study, 8, owner, weight);
    for (size_t s = 1; s < 8; s++) {
        if (weight[s] > 1.1 * weight[0] || weight[0] > 1.1 * weight[s]) {
            fail_msg("shard %zu weighs %g, the first %g", s + 1, weight[s], weight[0]);
        }
    }
}

static void dealing_does_not_depend_on_the_order_of_cells(void **state)
{
    iw_study *study = iwt_made_study(6, 10);
    const size_t count = study->cell_count;
    uint32_t owner[2 * 3 * 3 * 6], turned[2 * 3 * 3 * 6];
    double weight[4];

    (void)state;
    deal(study, 4, owner, weight);
    for (size_t i = 0; i < count / 2; i++) {
        const iw_cell cell = study->cells[i];

        study->cells[i] = study->cells[count - 1 - i];
        study->cells[count - 1 - i] = cell;
    }
    deal(study, 4, turned, weight);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(turned[count - 1 - i], owner[i]);
    }
}

static void more_shards_than_cells_leave_some_empty(void **state)
{
    const iw_study *study = iwt_made_study(1, 2);
    const iw_study part = iwt_part_of_study(study, 0, 2);
    uint32_t owner[2];
    double weight[5];

    (void)state;
    deal(&part, 5, owner, weight);
    assert_int_not_equal(owner[0], owner[1]);
}

static void only_a_task_that_outlasts_the_others_gets_more_threads(void **state)
{
    (void)state;
    assert_int_equal(iwi_pool_threads(1.0, 100.0, 8), 1);
    assert_int_equal(iwi_pool_threads(50.0, 100.0, 8), 4);
    assert_int_equal(iwi_pool_threads(100.0, 100.0, 8), 8);
    assert_int_equal(iwi_pool_threads(100.0, 100.0, 1), 1);
    assert_int_equal(iwi_pool_threads(0.0, 0.0, 8), 1);
}

/* No two fit side by side, and none fits alone: one at a time, to the end. */
static void too_little_memory_slows_down_but_does_not_stop(void **state)
{
    const iw_study *study = iwt_made_study(3, 4);
    const iw_study_opts opts = IW_STUDY_OPTS_INIT;
    struct iwi_pool_job job = {.opts = &opts, .threads = 3, .budget_bytes = 1, .timings_fd = -1};
    iw_study_outcome outcome = {.is_stopped = true};
    struct iwi_results_file file;
    struct iwi_claims claims;
    struct iwi_peer_results others;
    struct iwi_inputs inputs;
    struct iwi_tasks tasks;
    char dir[64];

    (void)state;
    iwt_folder_make(dir);
    assert_ok(iwi_inputs_init(NULL, study, &inputs));
    assert_ok(iwi_tasks_init(NULL, &inputs, 0, 1, &tasks));
    assert_ok(iwi_tasks_price(NULL, &inputs, false, &tasks));
    assert_ok(iwi_results_file_open(NULL, dir, "results.jsonl", &file));
    job.inputs = &inputs;
    job.tasks = &tasks;
    job.results = &file;
    assert_ok(iwi_claims_open(NULL, dir, &claims));
    assert_ok(iwi_peer_results_init(NULL, dir, file.path, &others));
    job.claims = &claims;
    job.others = &others;
    assert_ok(iwi_pool_run(NULL, &job, &outcome));
    assert_int_equal(outcome.run, 54);
    assert_int_equal(outcome.others + outcome.elsewhere, 0);
    assert_false(outcome.is_stopped);
    iwi_peer_results_release(&others);
    iwi_claims_close(&claims);
    iwi_results_file_close(&file);
    iwi_tasks_release(&tasks);
    iwi_inputs_release(&inputs);
    iwt_folder_remove(dir);
}

/* ---- joining ---- */

struct parts {
    char whole[64], part[SHARDS][64], target[64];
    const char *dirs[SHARDS];
    char *expected;
};

/* A whole study in one folder, and its shards in three. */
static int make_parts(void **state)
{
    static struct parts parts;
    const iw_study *study = iwt_made_study(3, 4);

    iwt_folder_make(parts.whole);
    run_shard(study, parts.whole, 0, 1);
    parts.expected = iwt_sorted_results(parts.whole);
    for (uint32_t s = 0; s < SHARDS; s++) {
        iwt_folder_make(parts.part[s]);
        run_shard(study, parts.part[s], s, SHARDS);
        parts.dirs[s] = parts.part[s];
    }
    iwt_folder_make(parts.target);
    *state = &parts;
    return 0;
}

static int remove_parts(void **state)
{
    struct parts *parts = *state;

    for (size_t s = 0; s < SHARDS; s++) {
        iwt_folder_remove(parts->part[s]);
    }
    iwt_folder_remove(parts->whole);
    iwt_folder_remove(parts->target);
    free(parts->expected);
    return 0;
}

static void shards_in_one_folder_have_the_lines_of_the_whole(void **state)
{
    struct parts *parts = *state;
    const iw_study *study = iwt_made_study(3, 4);
    char *lines, *second;

    for (uint32_t s = 0; s < SHARDS; s++) {
        run_shard(study, parts->target, s, SHARDS);
    }
    lines = iwt_sorted_results(parts->target);
    assert_string_equal(lines, parts->expected);
    second = iwt_read_file(parts->target, "results-2-of-3.jsonl");
    assert_non_null(second);
    free(second);
    free(lines);
}

static void merged_parts_have_the_lines_of_the_whole_in_any_order(void **state)
{
    struct parts *parts = *state;
    const char *turned[SHARDS] = {parts->dirs[2], parts->dirs[0], parts->dirs[1]};
    char into[100], *first, *second, *sorted, *text;

    assert_ok(iw_study_merge(NULL, parts->dirs, SHARDS, parts->target));
    snprintf(into, sizeof into, "%s/new", parts->target);
    assert_ok(iw_study_merge(NULL, turned, SHARDS, into));
    first = iwt_read_file(parts->target, "results.jsonl");
    second = iwt_read_file(into, "results.jsonl");
    assert_string_equal(first, second);
    sorted = iwt_sorted_results(parts->target);
    assert_string_equal(sorted, parts->expected);
    text = iwt_read_file(into, "study.yaml");
    assert_string_equal(text, iwt_made_study(3, 4)->text);
    free(first);
    free(second);
    free(sorted);
    free(text);
}

static void a_folder_may_be_merged_into_itself(void **state)
{
    struct parts *parts = *state;
    char *lines, *left;

    assert_ok(iw_study_merge(NULL, parts->dirs, SHARDS, parts->part[1]));
    lines = iwt_read_file(parts->part[1], "results.jsonl");
    left = iwt_read_file(parts->part[1], "results-2-of-3.jsonl");
    assert_null(left); /* its lines are in the one file now */
    free(lines);
    lines = iwt_sorted_results(parts->part[1]);
    assert_string_equal(lines, parts->expected);
    free(lines);
}

static void what_the_target_held_is_kept(void **state)
{
    struct parts *parts = *state;
    char *lines;

    assert_ok(iw_study_merge(NULL, parts->dirs, 2, parts->part[2]));
    lines = iwt_sorted_results(parts->part[2]);
    assert_string_equal(lines, parts->expected);
    free(lines);
}

static void a_merged_folder_can_be_gone_on_with(void **state)
{
    struct parts *parts = *state;
    char *lines;

    assert_ok(iw_study_merge(NULL, parts->dirs, 2, parts->target));
    run_shard(iwt_made_study(3, 4), parts->target, 0, 1);
    lines = iwt_sorted_results(parts->target);
    assert_string_equal(lines, parts->expected);
    free(lines);
}

static void assert_refused(const struct parts *parts, size_t count, const char *first, const char *second)
{
    struct iwt_log l;
    char *lines;

    iwt_log_init(&l);
    assert_true(iw_study_merge(&l.log, parts->dirs, count, parts->target) != IW_OK);
    assert_int_equal(l.errors, 1);
    iwt_assert_logged(&l, first);
    iwt_assert_logged(&l, second);
    lines = iwt_sorted_results(parts->target);
    assert_string_equal(lines, "");
    free(lines);
}

static void different_results_of_one_cell_are_refused_with_both_files(void **state)
{
    struct parts *parts = *state;
    char *lines = iwt_read_file(parts->part[0], "results-1-of-3.jsonl"), *digit, name[100];

    *(strchr(lines, '\n') + 1) = '\0';
    digit = strstr(lines, "\"noiseless_ns\":") + strlen("\"noiseless_ns\":");
    *digit = *digit == '1' ? '2' : '1';
    memcpy(strstr(lines, ",\"digest\":"), "}\n", sizeof "}\n"); /* as versions without digests wrote it */
    iwt_write_file(parts->part[1], "results.jsonl", lines);
    free(lines);
    snprintf(name, sizeof name, "%s/results-1-of-3.jsonl", parts->part[0]);
    assert_refused(parts, SHARDS, name, "/results.jsonl': remove one of the files");
}

static void different_studies_are_refused(void **state)
{
    struct parts *parts = *state;

    iwt_write_file(parts->part[2], "study.yaml", "# another one\n");
    assert_refused(parts, SHARDS, "are different studies", parts->part[2]);
}

static void a_folder_without_results_is_refused(void **state)
{
    struct parts *parts = *state;

    parts->dirs[1] = "/nonexistent";
    assert_refused(parts, SHARDS, "'/nonexistent' has no results of a study", "");
}

static void damaged_lines_are_refused_with_their_place(void **state)
{
    struct parts *parts = *state;

    iwt_write_file(parts->part[1], "results.jsonl", "{\"schema\":\"idlewave.cell/2\"}\n");
    assert_refused(parts, SHARDS, "results.jsonl:1", parts->part[1]);
}

#define MERGE_TEST(name) cmocka_unit_test_setup_teardown(name, make_parts, remove_parts)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_cell_has_one_shard_and_shards_weigh_the_same),
        cmocka_unit_test(dealing_does_not_depend_on_the_order_of_cells),
        cmocka_unit_test(more_shards_than_cells_leave_some_empty),
        cmocka_unit_test(only_a_task_that_outlasts_the_others_gets_more_threads),
        cmocka_unit_test(too_little_memory_slows_down_but_does_not_stop),
        MERGE_TEST(shards_in_one_folder_have_the_lines_of_the_whole),
        MERGE_TEST(merged_parts_have_the_lines_of_the_whole_in_any_order),
        MERGE_TEST(a_folder_may_be_merged_into_itself),
        MERGE_TEST(what_the_target_held_is_kept),
        MERGE_TEST(a_merged_folder_can_be_gone_on_with),
        MERGE_TEST(different_results_of_one_cell_are_refused_with_both_files),
        MERGE_TEST(different_studies_are_refused),
        MERGE_TEST(a_folder_without_results_is_refused),
        MERGE_TEST(damaged_lines_are_refused_with_their_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
