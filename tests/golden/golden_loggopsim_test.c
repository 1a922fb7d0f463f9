/* Under LogGOPSim's rules every golden run must end, rank by rank, when LogGOPSim says it does.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "support/support.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/sim/engine.h"
#include "golden/golden_data.h"

/* Says what differs, if anything. */
static bool is_equal(const struct golden_case *c, const struct golden_run *run, iw_status status,
                     const iw_time *end_ps)
{
    if ((status == IW_ERR_DEADLOCK) != run->is_deadlock || (status != IW_OK && status != IW_ERR_DEADLOCK)) {
        print_error("%03u %s, %s: status %s, LogGOPSim %s\n", c->id, c->name, run->name,
                    iw_status_name(status), run->is_deadlock ? "stops in a deadlock" : "finishes");
        return false;
    }
    for (uint32_t rank = 0; rank < c->ranks && !run->is_deadlock; rank++) {
        if (end_ps[rank] != run->end_ps[rank]) {
            print_error("%03u %s, %s: rank %" PRIu32 " ends at %" PRId64 " ps, LogGOPSim %" PRId64 " ps\n",
                        c->id, c->name, run->name, rank, end_ps[rank], run->end_ps[rank]);
            return false;
        }
    }
    return true;
}

static unsigned count_equal_runs(const struct golden_case *c)
{
    iw_time *end_ps = calloc(c->ranks, sizeof *end_ps);
    unsigned equal = 0;

    assert_non_null(end_ps);
    for (size_t i = 0; i < GOLDEN_RUNS_OF_CASE; i++) {
        const struct golden_run *run = &c->runs[i];
        const iw_program *program = golden_program(c, run);
        const struct iwi_job job = {.program = program,
                                    .schedule = golden_graph(c, run),
                                    .net = &run->net,
                                    .lanes = 1,
                                    .end_ps = end_ps};

        equal += is_equal(c, run, iwi_loggopsim_run(NULL, &job), end_ps);
    }
    free(end_ps);
    return equal;
}

static void every_rank_of_every_golden_run_ends_as_in_loggopsim(void **state)
{
    unsigned equal = 0;
    struct iwt_log l;

    (void)state;
    iwt_log_init(&l);
    for (unsigned id = 1; id <= GOLDEN_CASES; id++) {
        struct golden_case c;

        golden_load(&c, &l.log, IWT_GOLDEN_DIR, id);
        equal += count_equal_runs(&c);
        golden_free(&c);
    }
    print_message("%u of %d runs equal\n", equal, GOLDEN_RUNS);
    assert_int_equal(equal, GOLDEN_RUNS);
}

/* The way users take, with LogGOPSim's default parameters. */
static void iw_simulate_gives_the_same_times(void **state)
{
    iw_sim_opts opts = IW_SIM_OPTS_INIT;

    (void)state;
    opts.rules = IW_RULES_LOGGOPSIM;
    opts.want_end_times = true;
    for (unsigned id = 1; id <= GOLDEN_CASES; id++) {
        struct golden_case c;
        iw_sim_result *result = NULL;
        iw_status status;

        golden_load(&c, NULL, IWT_GOLDEN_DIR, id);
        status = iw_simulate(NULL, golden_program(&c, &c.runs[0]), &c.runs[0].net, NULL, &opts, &result);
        assert_true(is_equal(&c, &c.runs[0], status, result == NULL ? NULL : result->end_ps));
        iw_sim_result_free(result);
        golden_free(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rank_of_every_golden_run_ends_as_in_loggopsim),
        cmocka_unit_test(iw_simulate_gives_the_same_times),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
