/* A traced run of training as a program: it takes as long as the run did, and on more ranks as long but for
 * the collectives that grow.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/explain/arrivals/visits_reader.h"

#include <idlewave/files.h>
#include <idlewave/sim.h>

#include <math.h>
#include <stdlib.h>

#include "run_model.h"
#include "support/support.h"

#define HOP_PS (60 * IW_PS_PER_US) /* of the model's transfers: an all-reduce of two ranks takes one */

static iw_time simulate(const struct iw_trace *trace, uint32_t ranks, const char *grow)
{
    const iw_net net = {.name = "test", .costs = {.L_ps = HOP_PS}, .S_bytes = UINT64_C(1) << 40};
    iw_trace_opts opts = IW_TRACE_OPTS_INIT;
    iw_sim_opts sim_opts = IW_SIM_OPTS_INIT;
    iw_program *program;
    iw_sim_result *result;
    iw_time makespan_ps;

    opts.ranks = ranks;
    opts.grow = grow;
    opts.replica_compute = IW_REPLICA_COPY;
    assert_ok(iw_program_from_trace(NULL, trace, &opts, &program));
    assert_ok(iw_simulate(NULL, program, &net, NULL, &sim_opts, &result));
    makespan_ps = result->makespan_ps[0];
    iw_sim_result_free(result);
    iw_program_free(program);
    return makespan_ps;
}

static void assert_takes(iw_time found_ps, iw_time expected_ps, double most_share)
{
    if (fabs((double)(found_ps - expected_ps)) > most_share * (double)expected_ps) {
        fail_msg("%lld ps, not %lld", (long long)found_ps, (long long)expected_ps);
    }
}

/* On a network that takes as long for a collective as the traced one did. */
static void a_program_takes_as_long_as_the_run(void **state)
{
    struct iwt_model model = {.ranks = 2, .steps = 6, .kernels = 40, .slow_rank = UINT32_MAX};

    (void)state;
    for (int form = 0; form < 4; form++) {
        struct iwi_visits visits;
        struct iw_trace *trace;
        iw_time steps_ps[6], run_ps = 0;

        model.seed = 5;
        model.is_merged = (form & 1) != 0;
        model.has_launches = (form & 2) != 0;
        iwt_model_run(&model, 0, &visits, steps_ps);
        for (int k = 0; k < 6; k++) {
            run_ps += steps_ps[k];
        }
        assert_ok(iwi_visits_finish(&visits));
        assert_ok(iwi_trace_of_visits(NULL, &visits, &trace));
        assert_takes(simulate(trace, 0, NULL), run_ps, 0.002);
        iw_trace_free(trace);
        iwi_visits_release(&visits);
    }
}

/* Rank 1 computes a fifth longer. Rank 0 waits for it in collectives, at the end of a step with its host too;
 * it computes no more than it did: 40 kernels of 200 to 204 us a step, and launches of about 5 us. */
static void waiting_of_the_host_is_waiting_too(void **state)
{
    const struct iwt_model model = {
        .seed = 5, .ranks = 2, .steps = 6, .kernels = 40, .slow_rank = 1, .has_launches = true};
    struct iwi_visits visits;
    struct iw_trace *trace;
    iw_time steps_ps[6], compute_ps = 0;

    (void)state;
    iwt_model_run(&model, 0, &visits, steps_ps);
    assert_ok(iwi_visits_finish(&visits));
    assert_ok(iwi_trace_of_visits(NULL, &visits, &trace));
    for (uint64_t i = 0; i < trace->ranks[0].call_count; i++) {
        compute_ps += trace->ranks[0].calls[i].compute_wall_ps;
    }
    assert_takes(compute_ps, 6 * INT64_C(40) * 203 * IW_PS_PER_US, 0.01);
    iw_trace_free(trace);
    iwi_visits_release(&visits);
}

/* ---- more ranks ---- */

enum { RANKS = 4, STEPS = 3 };

struct world {
    struct iwi_visits visits;
    uint32_t tensor[RANKS], data[RANKS]; /* groups of each rank: {0, 1}, {2, 3} and {0, 2}, {1, 3} */
};

static void visit(struct world *world, uint32_t rank, uint32_t group, uint64_t step, iw_time enter_ps,
                  uint8_t op, uint64_t bytes)
{
    const struct iwi_visit made = {.rank = rank,
                                   .group = group,
                                   .op = op,
                                   .stream = 1,
                                   .step = (uint32_t)step,
                                   .sequence = step,
                                   .bytes = bytes,
                                   .enter_ps = enter_ps,
                                   .leave_ps = enter_ps + HOP_PS};

    assert_ok(iwi_visits_add(&world->visits, &made));
}

static void compute(struct world *world, uint32_t rank, iw_time begin_ps)
{
    const struct iwi_stretch made = {.rank = rank, .begin_ps = begin_ps, .end_ps = begin_ps + IW_PS_PER_MS};

    assert_ok(iwi_visits_add_stretch(&world->visits, &made));
}

/* Each of the ranks (4, or the first alone) computes 1 ms, meets in its tensor group, computes 1 ms, meets in
 * its data group. */
static void make_world(struct world *world, uint32_t ranks, uint8_t data_op, uint64_t data_bytes)
{
    const char *const data_name = "mesh_dp";

    iwi_visits_init(&world->visits, NULL, "test");
    for (uint32_t r = 0; r < ranks; r++) {
        uint32_t index;

        assert_ok(iwi_visits_rank(&world->visits, r, "", &index));
    }
    for (uint32_t r = 0; r < ranks; r++) {
        const uint32_t tensor[2] = {r & ~1U, r | 1U}, data[2] = {r & 1U, r | 2U};

        assert_ok(iwi_visits_group(&world->visits, "tp", tensor, ranks > 1 ? 2 : 1, 2, &world->tensor[r]));
        assert_ok(iwi_visits_group(&world->visits, data_name, ranks > 1 ? data : &r, ranks > 1 ? 2 : 1, 2,
                                   &world->data[r]));
    }
    for (uint64_t step = 0; step < STEPS; step++) {
        const iw_time at_ps = (iw_time)step * 2 * (IW_PS_PER_MS + HOP_PS);

        for (uint32_t r = 0; r < ranks; r++) {
            compute(world, r, at_ps);
            visit(world, r, world->tensor[r], step, at_ps + IW_PS_PER_MS, IWI_VISIT_ALLREDUCE, 8);
            compute(world, r, at_ps + IW_PS_PER_MS + HOP_PS);
            visit(world, r, world->data[r], step, at_ps + 2 * IW_PS_PER_MS + HOP_PS, data_op, data_bytes);
        }
    }
    assert_ok(iwi_visits_finish(&world->visits));
}

/* Eight members exchange in 3 rounds instead of 1. */
static void groups_of_data_parallelism_grow_and_others_are_copied(void **state)
{
    struct world world;
    struct iw_trace *trace;

    (void)state;
    make_world(&world, RANKS, IWI_VISIT_ALLREDUCE, 8);
    assert_ok(iwi_trace_of_visits(NULL, &world.visits, &trace));
    assert_int_equal(simulate(trace, 0, NULL), STEPS * 2 * (IW_PS_PER_MS + HOP_PS));
    assert_int_equal(simulate(trace, 16, NULL), STEPS * (2 * IW_PS_PER_MS + (1 + 3) * HOP_PS));
    assert_int_equal(simulate(trace, 16, "tp"), STEPS * (2 * IW_PS_PER_MS + (3 + 1) * HOP_PS));
    iw_trace_free(trace);
    iwi_visits_release(&world.visits);
}

static void a_group_that_is_not_there_cannot_grow(void **state)
{
    iw_trace_opts opts = IW_TRACE_OPTS_INIT;
    struct world world;
    struct iw_trace *trace;
    iw_program *program;
    struct iwt_log l;

    (void)state;
    make_world(&world, RANKS, IWI_VISIT_ALLREDUCE, 8);
    assert_ok(iwi_trace_of_visits(NULL, &world.visits, &trace));
    iwt_log_init(&l);
    opts.ranks = 8;
    opts.grow = "expert";
    assert_status(iw_program_from_trace(&l.log, trace, &opts, &program), IW_ERR_USAGE);
    iwt_assert_logged(&l, "'expert' in its name");
    iw_trace_free(trace);
    iwi_visits_release(&world.visits);
}

/* One rank of four was traced: its tensor group takes the time that it took, its data group grows. */
static void one_traced_rank_is_replicated(void **state)
{
    struct world world;
    struct iw_trace *trace;

    (void)state;
    make_world(&world, 1, IWI_VISIT_ALLREDUCE, 8);
    assert_ok(iwi_trace_of_visits(NULL, &world.visits, &trace));
    assert_int_equal(simulate(trace, 2, NULL), STEPS * 2 * (IW_PS_PER_MS + HOP_PS));
    assert_int_equal(simulate(trace, 8, NULL), STEPS * (2 * IW_PS_PER_MS + (1 + 3) * HOP_PS));
    iw_trace_free(trace);
    iwi_visits_release(&world.visits);
}

/* Late by 5 ms, rank 0 makes the others wait; the program has its 5 ms, and not those of the others again. */
static void waiting_is_not_counted_twice(void **state)
{
    const uint32_t members[2] = {0, 1};
    struct iwi_visits visits;
    struct iw_trace *trace;
    uint32_t group;

    (void)state;
    iwi_visits_init(&visits, NULL, "test");
    for (uint32_t r = 0; r < 2; r++) {
        uint32_t index;

        assert_ok(iwi_visits_rank(&visits, r, "", &index));
    }
    assert_ok(iwi_visits_group(&visits, "all", members, 2, 2, &group));
    for (uint32_t r = 0; r < 2; r++) {
        const iw_time end_ps = (r == 0 ? 6 : 1) * IW_PS_PER_MS;
        const struct iwi_stretch stretch = {.rank = r, .end_ps = end_ps};
        const struct iwi_visit made = {.rank = r,
                                       .group = group,
                                       .stream = 1,
                                       .bytes = 8,
                                       .enter_ps = end_ps,
                                       .leave_ps = 6 * IW_PS_PER_MS + HOP_PS};

        assert_ok(iwi_visits_add_stretch(&visits, &stretch));
        assert_ok(iwi_visits_add(&visits, &made));
    }
    assert_ok(iwi_visits_finish(&visits));
    assert_ok(iwi_trace_of_visits(NULL, &visits, &trace));
    assert_int_equal(trace->ranks[1].calls[0].compute_wall_ps, IW_PS_PER_MS);
    assert_int_equal(trace->ranks[1].calls[0].kind, IWI_CALL_COLLECTIVE);
    assert_int_equal(simulate(trace, 0, NULL), 6 * IW_PS_PER_MS + HOP_PS);
    iw_trace_free(trace);
    iwi_visits_release(&visits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_takes_as_long_as_the_run),
        cmocka_unit_test(waiting_of_the_host_is_waiting_too),
        cmocka_unit_test(groups_of_data_parallelism_grow_and_others_are_copied),
        cmocka_unit_test(a_group_that_is_not_there_cannot_grow),
        cmocka_unit_test(one_traced_rank_is_replicated),
        cmocka_unit_test(waiting_is_not_counted_twice),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
