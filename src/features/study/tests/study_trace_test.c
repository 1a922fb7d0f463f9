/* Studies of traces: run, resumed, and run again when the trace has changed.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <string.h>

#include <idlewave/files.h>
#include <idlewave/sim.h>

#include "features/study/files/study_line.h"
#include "made_study.h"
#include "support/support.h"

/* Two ranks exchange a message and reduce, after `work_us` on rank 0. */
static void write_trace(const char *dir, unsigned work_us)
{
    char text[512];

    snprintf(text, sizeof text,
             "MPI_Init:-:1:2:1000\nMPI_Send:%u:64:3:10,8,8:1:5:7000,0,2:%u\n"
             "MPI_Allreduce:3000:64:65:1:10,8,8:1:7000,0,2:3010\nMPI_Finalize:9000:-\n",
             1000 + work_us, 1002 + work_us);
    iwt_write_file(dir, "run-0.txt", text);
    iwt_write_file(dir, "run-1.txt",
                   "MPI_Init:-:1:2:50\nMPI_Recv:60:64:30:10,8,8:0:5:7000,1,2:99:64\n"
                   "MPI_Allreduce:2500:64:65:1:10,8,8:1:7000,1,2:3010\nMPI_Finalize:9000:-\n");
}

static iw_study *load(const char *dir)
{
    char path[128];
    iw_study *study = NULL;
    struct iwt_log l;

    iwt_log_init(&l);
    iwt_write_file(
        dir, "app.yaml",
        "trials: 3\nranks: [2, 8]\n"
        "systems:\n  - {name: chic, net: chic, noise: 'periodic:10Hz,100us'}\n"
        "  - {name: xt4, net: xt4, noise: 'periodic:10Hz,100us'}\n"
        "patterns:\n  - {name: all, trace: run-0.txt}\n  - {name: alone, trace: run-0.txt, no-p2p: true,"
        " no-collectives: true}\n  - {name: no p2p, trace: run-0.txt, no-p2p: true}\n");
    snprintf(path, sizeof path, "%s/app.yaml", dir);
    if (iw_study_load(&l.log, path, &study) != IW_OK) {
        fail_msg("%s", l.text);
    }
    return study;
}

static iw_study_outcome run(const char *dir)
{
    iw_study_opts opts = IW_STUDY_OPTS_INIT;
    iw_study *study = load(dir);
    iw_study_outcome outcome;
    char results[128];
    struct iwt_log l;

    iwt_log_init(&l);
    opts.threads = 2;
    snprintf(results, sizeof results, "%s/results", dir);
    if (iw_study_run(&l.log, study, results, &opts, &outcome) != IW_OK) {
        fail_msg("%s", l.text);
    }
    iw_study_free(study);
    return outcome;
}

static iw_study_results *results_of(const char *dir)
{
    iw_study_results *results = NULL;
    char path[128];

    snprintf(path, sizeof path, "%s/results", dir);
    assert_ok(iw_study_results_load(NULL, path, &results));
    return results;
}

static const iw_cell_result *find(const iw_study_results *results, const char *system, const char *work,
                                  uint32_t ranks)
{
    for (size_t i = 0; i < results->count; i++) {
        const iw_cell_result *cell = &results->cells[i];

        if (strcmp(cell->system, system) == 0 && strcmp(cell->work, work) == 0 && cell->ranks == ranks) {
            return cell;
        }
    }
    fail_msg("no cell of %s on %s with %u ranks", work, system, ranks);
    return NULL;
}

static void a_cell_is_what_the_program_of_the_trace_gives(void **state)
{
    iw_study_results *results;
    iw_study *study;
    char dir[64];

    (void)state;
    iwt_folder_make(dir);
    write_trace(dir, 10);
    assert_int_equal(run(dir).run, 12);
    results = results_of(dir);
    study = load(dir);
    assert_int_equal(results->count, 12);
    /* 4 replicas: a message each, and an allreduce over 8 ranks in 3 rounds (dissemination) */
    assert_int_equal(find(results, "chic", "all", 8)->messages, 4 + 8 * 3);
    assert_int_equal(find(results, "chic", "no p2p", 8)->messages, 8 * 3);
    assert_int_equal(find(results, "xt4", "alone", 8)->messages, 0);
    {
        iw_trace_opts opts = IW_TRACE_OPTS_INIT;
        iw_sim_opts sim_opts = IW_SIM_OPTS_INIT;
        iw_sim_result *simulated = NULL;
        iw_program *program = NULL;

        opts.ranks = 8;
        assert_ok(iw_program_from_trace(NULL, study->works[0].trace, &opts, &program));
        assert_ok(iw_simulate(NULL, program, iw_net_builtin("xt4"), NULL, &sim_opts, &simulated));
        assert_true(find(results, "xt4", "all", 8)->noiseless_ns ==
                    (double)simulated->noiseless_ps / (double)IW_PS_PER_NS);
        iw_sim_result_free(simulated);
        iw_program_free(program);
    }
    iw_study_free(study);
    iw_study_results_free(results);
    iwt_folder_remove(dir);
}

static void what_is_done_is_found_until_the_trace_changes(void **state)
{
    iw_study_outcome outcome;
    char dir[64];

    (void)state;
    iwt_folder_make(dir);
    write_trace(dir, 10);
    assert_int_equal(run(dir).run, 12);
    outcome = run(dir);
    assert_int_equal(outcome.found, 12);
    assert_int_equal(outcome.run, 0);
    write_trace(dir, 500);
    outcome = run(dir);
    assert_int_equal(outcome.found, 0);
    assert_int_equal(outcome.run, 12);
    iwt_folder_remove(dir);
}

static void reports_need_no_trace_and_take_the_newest_results(void **state)
{
    iw_study_results *results;
    char dir[64], path[128];
    double before_ns;

    (void)state;
    iwt_folder_make(dir);
    write_trace(dir, 10);
    (void)run(dir);
    results = results_of(dir);
    before_ns = find(results, "chic", "alone", 8)->noiseless_ns;
    iw_study_results_free(results);
    write_trace(dir, 510);
    (void)run(dir);
    snprintf(path, sizeof path, "%s/run-0.txt", dir);
    assert_int_equal(remove(path), 0);
    results = results_of(dir);
    assert_int_equal(results->count, 12);
    /* rank 0 works from 1 ms to its send, then until its allreduce at 3 ms: in all the same, since calls take
     * no time without messages */
    assert_true(find(results, "chic", "alone", 8)->noiseless_ns == before_ns);
    assert_true(find(results, "chic", "all", 8)->noiseless_ns > before_ns);
    iw_study_results_free(results);
    iwt_folder_remove(dir);
}

static void what_a_trace_will_cost_is_estimated(void **state)
{
    iw_study_opts opts = IW_STUDY_OPTS_INIT;
    iw_study_estimate *estimate = NULL;
    iw_study *study;
    char dir[64];

    (void)state;
    iwt_folder_make(dir);
    write_trace(dir, 10);
    study = load(dir);
    assert_ok(iw_study_estimate_new(NULL, study, NULL, &opts, &estimate));
    assert_int_equal(estimate->cells, 12);
    for (size_t i = 0; i < 12; i++) {
        assert_true(estimate->cell_seconds[i] > 0);
        assert_true(estimate->cell_bytes[i] > 0);
    }
    iw_study_estimate_free(estimate);
    iw_study_free(study);
    iwt_folder_remove(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cell_is_what_the_program_of_the_trace_gives),
        cmocka_unit_test(what_is_done_is_found_until_the_trace_changes),
        cmocka_unit_test(reports_need_no_trace_and_take_the_newest_results),
        cmocka_unit_test(what_a_trace_will_cost_is_estimated),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
