/* Schedules in order whose messages meet in the order of sends between two ranks: partners are found once,
 * and ranks take turns.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>

#include "core/net/net.h"
#include "core/sim/flow/flow_state.h"
#include "random_program.h"
#include "support/support.h"

static void assert_partners(const iw_program *program, const iw_net *net, bool has_them)
{
    struct iwi_turn_plan *turns;

    assert_ok(iwi_turn_plan_new(NULL, program->schedule, net, &turns));
    assert_int_equal(turns != NULL, has_them);
    iwi_turn_plan_free(turns);
}

static iw_sim_result *run(const iw_program *program, const iw_net *net, const iw_noise *noise,
                          iw_engine engine, uint32_t lanes)
{
    iw_sim_opts opts = IW_SIM_OPTS_INIT;

    opts.engine = engine;
    opts.trials = 3;
    opts.lanes = engine == IW_ENGINE_FLOW ? lanes : 1;
    return iwt_run(program, net, noise, &opts);
}

static void assert_engines_agree(const iw_program *program, const iw_net *net, const iw_noise *noise,
                                 uint32_t lanes)
{
    iw_sim_result *event = run(program, net, noise, IW_ENGINE_EVENT, 1);
    iw_sim_result *flow = run(program, net, noise, IW_ENGINE_FLOW, lanes);

    for (uint64_t i = 0; i < event->trials * event->ranks; i++) {
        assert_int_equal(event->end_ps[i], flow->end_ps[i]);
    }
    assert_int_equal(event->noiseless_ps, flow->noiseless_ps);
    iw_sim_result_free(event);
    iw_sim_result_free(flow);
}

static void turns_are_as_exact_as_events(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 2000; seed++) {
        struct iwt_random random = {seed, 0};
        iw_net net = iwt_random_net(&random);
        iw_noise *noise = iwt_random_noise(&random);
        struct iwt_builder b;
        iw_program *program;

        net.S_bytes = 1000;
        iwt_random_program(&random, IWT_MIXED_SIZES, &b);
        program = iwt_program(&b);
        assert_partners(program, &net, true);
        assert_engines_agree(program, &net, noise, 1U << iwt_below(&random, 4));
        iw_program_free(program);
        iw_noise_free(noise);
        iwi_net_release(&net);
        iwt_builder_release(&b);
    }
}

/* Two messages from rank 0 to rank 1; `tags` and `bytes` are of the receives, in their order. */
static void expect_two(const uint32_t tags[2], const uint64_t bytes[2], uint64_t sent_bytes,
                       bool has_partners)
{
    const iw_net net = iwt_example_net();
    struct iwt_builder b;
    iw_program *program;

    iwt_builder_init(&b, 3);
    iwt_isend(&b, 0, 1, sent_bytes, 5);
    iwt_isend(&b, 0, 1, sent_bytes, 6);
    for (int k = 0; k < 2; k++) {
        iwt_irecv(&b, 1, 0, bytes[k], tags[k]);
        iwt_calc(&b, 1, IWT_NS(40));
    }
    iwt_wait(&b, 0);
    iwt_wait(&b, 1);
    program = iwt_program(&b);
    assert_partners(program, &net, has_partners);
    assert_engines_agree(program, &net, NULL, 2);
    iw_program_free(program);
    iwt_builder_release(&b);
}

static void messages_between_two_ranks_meet_in_their_order(void **state)
{
    (void)state;
    expect_two((const uint32_t[]){5, 6}, (const uint64_t[]){8, 8}, 8, true);
}

static void other_messages_are_left_to_channels(void **state)
{
    (void)state;
    expect_two((const uint32_t[]){6, 5}, (const uint64_t[]){8, 8}, 8, false);       /* they overtake */
    expect_two((const uint32_t[]){5, 6}, (const uint64_t[]){8, 9}, 8, false);       /* of other sizes */
    expect_two((const uint32_t[]){5, 6}, (const uint64_t[]){200, 200}, 200, false); /* by rendezvous */
}

/* An earlier rank finds its receives in other places: a guess may be a later receive of the same pair. */
static void guesses_are_checked(void **state)
{
    const iw_net net = iwt_example_net();
    struct iwt_builder b;
    iw_program *program;

    (void)state;
    iwt_builder_init(&b, 4);
    for (uint32_t rank = 0; rank < 2; rank++) {
        iwt_isend(&b, rank, 2 + rank, 8, 0);
        iwt_isend(&b, rank, 2 + rank, 8, 0);
        iwt_calc(&b, 2 + rank, IWT_NS(50));
        for (uint32_t k = 0; k < 2 - rank; k++) { /* rank 0's are one place further on */
            iwt_calc(&b, 2 + rank, IWT_NS(10));
        }
        iwt_recv(&b, 2 + rank, rank, 8, 0);
        iwt_recv(&b, 2 + rank, rank, 8, 0);
        iwt_wait(&b, rank);
    }
    program = iwt_program(&b);
    assert_partners(program, &net, true);
    assert_engines_agree(program, &net, NULL, 1);
    iw_program_free(program);
    iwt_builder_release(&b);
}

static void what_is_left_over_has_no_partner(void **state)
{
    const iw_net net = iwt_example_net();
    struct iwt_builder b;
    iw_program *program;

    (void)state;
    for (int is_receive = 0; is_receive < 2; is_receive++) {
        iwt_builder_init(&b, 2);
        iwt_send(&b, 0, 1, 8, 0);
        iwt_recv(&b, 1, 0, 8, 0);
        (is_receive ? iwt_irecv : iwt_isend)(&b, 1, 0, 8, 0);
        program = iwt_program(&b);
        assert_partners(program, &net, false);
        iw_program_free(program);
        iwt_builder_release(&b);
    }
}

/* Of which the picoseconds need more than a word. */
static void long_work_is_kept(void **state)
{
    static const iw_time lengths_ps[] = {1, (1 << 29) - 1, 1 << 29, INT64_C(5) << 32 | 3};
    const iw_net net = iwt_example_net();
    struct iwt_builder b;
    iw_program *program;

    (void)state;
    for (int is_phase = 0; is_phase < 2; is_phase++) {
        iwt_builder_init(&b, 2);
        for (size_t k = 0; k < sizeof lengths_ps / sizeof lengths_ps[0]; k++) {
            iwt_calc(&b, 0, lengths_ps[k]);
            b.nodes[0][2 * k].flags = is_phase ? IWI_NODE_PHASE : 0;
            iwt_send(&b, 0, 1, 8, 0);
            iwt_recv(&b, 1, 0, 8, 0);
        }
        program = iwt_program(&b);
        assert_partners(program, &net, true);
        assert_engines_agree(program, &net, NULL, 1);
        iw_program_free(program);
        iwt_builder_release(&b);
    }
}

static void ranks_that_wait_for_each_other_are_told(void **state)
{
    const iw_net net = iwt_example_net();
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    iw_sim_result *result = NULL;
    struct iwt_builder b;
    struct iwt_log l;
    iw_program *program;

    (void)state;
    iwt_builder_init(&b, 2);
    for (uint32_t rank = 0; rank < 2; rank++) {
        iwt_recv(&b, rank, 1 - rank, 8, 0);
        iwt_send(&b, rank, 1 - rank, 8, 0);
    }
    program = iwt_program(&b);
    assert_partners(program, &net, true);
    iwt_log_init(&l);
    opts.engine = IW_ENGINE_FLOW;
    assert_status(iw_simulate(&l.log, program, &net, NULL, &opts, &result), IW_ERR_DEADLOCK);
    iwt_assert_logged(&l, "2 ranks cannot continue: rank 0 op 0 (recv 8 B from rank 1, tag 0), rank 1 op 0 "
                          "(recv 8 B from rank 0, tag 0)");
    iw_program_free(program);
    iwt_builder_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turns_are_as_exact_as_events),
        cmocka_unit_test(messages_between_two_ranks_meet_in_their_order),
        cmocka_unit_test(other_messages_are_left_to_channels),
        cmocka_unit_test(guesses_are_checked),
        cmocka_unit_test(what_is_left_over_has_no_partner),
        cmocka_unit_test(long_work_is_kept),
        cmocka_unit_test(ranks_that_wait_for_each_other_are_told),
    };

    return cmocka_run_group_tests_name("turns", tests, NULL, NULL);
}
