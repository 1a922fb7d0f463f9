/* Nonblocking collectives that go on in the wait, in all calls, or by a thread (semantics.md, 4): times
 * computed by hand, and all engines under random noise.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>

#include "core/program/trace_program.h"
#include "random_program.h"
#include "support/made_trace.h"
#include "support/support.h"

static iw_program *program_of(const struct iwt_made_trace *t, uint32_t ranks, iw_async async)
{
    iw_trace_opts opts = IW_TRACE_OPTS_INIT;
    iw_program *program = NULL;

    opts.ranks = ranks;
    opts.async = async;
    assert_ok(iwi_program_from_rules(NULL, &t->trace, &opts, &iwi_rules_paper, &program));
    return program;
}

static iw_sim_result *run(const iw_program *program, iw_engine engine, const iw_noise *noise)
{
    const iw_net net = iwt_example_net();
    iw_sim_opts opts = IW_SIM_OPTS_INIT;

    opts.engine = engine;
    return iwt_run(program, &net, noise, &opts);
}

/* The end of every rank, in the unit of the examples, by all engines that can run it. */
static void assert_all_end(const struct iwt_made_trace *t, iw_async async, iw_time end_ns)
{
    static const iw_engine engines[] = {IW_ENGINE_AUTO, IW_ENGINE_WINDOW, IW_ENGINE_EVENT};
    iw_program *program = program_of(t, 0, async);

    for (size_t e = async == IW_ASYNC_WAIT ? 2 : 0; e < 3; e++) {
        iw_sim_result *result = run(program, engines[e], NULL);

        for (uint32_t rank = 0; rank < t->trace.rank_count; rank++) {
            assert_int_equal(result->end_ps[rank], end_ns * IW_PS_PER_NS);
        }
        iw_sim_result_free(result);
    }
    iw_program_free(program);
}

/* Every rank starts a barrier, computes 30, and waits. */
static void make_overlap(struct iwt_made_trace *t, uint32_t ranks)
{
    iwt_made_trace_init(t, ranks);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        const uint32_t request =
            iwt_trace_collective(t, rank, IWI_CALL_ICOLLECTIVE, IWI_TRACE_BARRIER, 0, 0, 0);

        iwt_trace_compute(t, rank, 30 * IW_PS_PER_NS, -1);
        iwt_trace_wait(t, rank, &request, 1);
    }
}

/* One round. In the wait: computes until 30, sends until 32; the message is there at 42; 44. In calls: sends
 * from 0 to 2, computes until 32, and the message has been there since 12: 34. A thread receives it from 12
 * to 14: nothing but the computation is left, 30. */
static void one_round_is_hidden_by_a_thread_and_half_by_calls(void **state)
{
    struct iwt_made_trace t;

    (void)state;
    make_overlap(&t, 2);
    assert_all_end(&t, IW_ASYNC_WAIT, 44);
    assert_all_end(&t, IW_ASYNC_CALLS, 34);
    assert_all_end(&t, IW_ASYNC_THREAD, 30);
    iwt_made_trace_release(&t);
}

/* Two rounds. In the wait: 30 + 14 + 14. In calls the second round begins in the wait: received until 34,
 * sent until 36, there at 46, 48. The thread: received until 14, sent until 16, there at 26, done at 28. */
static void rounds_behind_the_first_need_a_call(void **state)
{
    struct iwt_made_trace t;

    (void)state;
    make_overlap(&t, 4);
    assert_all_end(&t, IW_ASYNC_WAIT, 58);
    assert_all_end(&t, IW_ASYNC_CALLS, 48);
    assert_all_end(&t, IW_ASYNC_THREAD, 30);
    iwt_made_trace_release(&t);
}

/* Rank 0 is delayed by 100. Rank 1 sends to it from 0 to 2, and computes. That message is there at 12: rank 0
 * receives it from 100 to 102 (rule 8: it has been ready for longest) and sends from 102 to 104, which rank 1
 * receives from 114 to 116. Rank 0 computes from 100 to 130 beside its thread, or from 104 to 134. */
static void a_late_rank_is_waited_for(void **state)
{
    const iw_delay late = {.rank = 0, .step = 1, .time_ps = 100 * IW_PS_PER_NS};
    struct iwt_made_trace t;

    (void)state;
    iwt_made_trace_init(&t, 2);
    for (uint32_t rank = 0; rank < 2; rank++) {
        uint32_t request;

        iwt_trace_compute(&t, rank, 1, -1);
        request = iwt_trace_collective(&t, rank, IWI_CALL_ICOLLECTIVE, IWI_TRACE_BARRIER, 0, 0, 0);
        iwt_trace_compute(&t, rank, 30 * IW_PS_PER_NS, -1);
        iwt_trace_wait(&t, rank, &request, 1);
    }
    for (int async = IW_ASYNC_CALLS; async <= IW_ASYNC_THREAD; async++) {
        iw_program *program = program_of(&t, 0, (iw_async)async);
        iw_sim_result *result;

        assert_ok(iw_program_set_delays(NULL, program, &late, 1));
        result = run(program, IW_ENGINE_AUTO, NULL);
        assert_int_equal(result->end_ps[0], (async == IW_ASYNC_CALLS ? 134 : 130) * IW_PS_PER_NS + 1);
        assert_int_equal(result->end_ps[1], 116 * IW_PS_PER_NS + 1);
        iw_sim_result_free(result);
        iw_program_free(program);
    }
    iwt_made_trace_release(&t);
}

/* Waiting in different orders is a deadlock where collectives run in their waits (trace_flow_test.c). */
static void two_communicators_may_be_waited_for_in_any_order(void **state)
{
    struct iwt_made_trace t;
    uint32_t copy;

    (void)state;
    iwt_made_trace_init(&t, 2);
    copy = iwt_trace_comm(&t, NULL, 0);
    for (uint32_t rank = 0; rank < 2; rank++) {
        uint32_t requests[2];

        requests[0] = iwt_trace_collective(&t, rank, IWI_CALL_ICOLLECTIVE, IWI_TRACE_BARRIER, 0, 0, 0);
        requests[1] = iwt_trace_collective(&t, rank, IWI_CALL_ICOLLECTIVE, IWI_TRACE_BARRIER, copy, 0, 0);
        iwt_trace_wait(&t, rank, &requests[rank], 1);
        iwt_trace_wait(&t, rank, &requests[1 - rank], 1);
    }
    /* sends 0 to 2 and, by the gap of 5, 5 to 7; there at 12 and 17: received until 14 and 19 */
    assert_all_end(&t, IW_ASYNC_CALLS, 19);
    assert_all_end(&t, IW_ASYNC_THREAD, 19);
    iwt_made_trace_release(&t);
}

/* Also one that nobody waits for, and one of a single rank. */
static void a_lone_rank_has_nothing_to_wait_for(void **state)
{
    struct iwt_made_trace t;

    (void)state;
    make_overlap(&t, 1);
    (void)iwt_trace_collective(&t, 0, IWI_CALL_ICOLLECTIVE, IWI_TRACE_BARRIER, 0, 0, 0);
    for (int async = IW_ASYNC_WAIT; async <= IW_ASYNC_THREAD; async++) {
        assert_all_end(&t, (iw_async)async, 30);
    }
    iwt_made_trace_release(&t);
}

static void without_nonblocking_collectives_the_trace_is_not_stored(void **state)
{
    struct iwt_made_trace t;
    iw_program *program;

    (void)state;
    iwt_made_trace_init(&t, 2);
    iwt_trace_collective_all(&t, IWI_TRACE_BARRIER, 0, 0, 0);
    program = program_of(&t, 2000, IW_ASYNC_THREAD);
    assert_non_null(program->trace);
    assert_null(program->schedule);
    iw_program_free(program);
    iwt_made_trace_release(&t);
}

/* Iterations of computation that hide an allreduce, with a message to the next rank between two of them. */
static void make_random(struct iwt_made_trace *t, struct iwt_random *random)
{
    const uint32_t ranks = 2 + (uint32_t)iwt_below(random, 6);
    uint32_t before[8] = {0};

    iwt_made_trace_init(t, ranks);
    for (int i = 0; i < 12; i++) {
        const bool has_message = iwt_below(random, 2) == 0;

        for (uint32_t rank = 0; rank < ranks; rank++) {
            const uint32_t request =
                iwt_trace_collective(t, rank, IWI_CALL_ICOLLECTIVE, IWI_TRACE_ALLREDUCE, 0, 0, 8);

            iwt_trace_compute(t, rank, (iw_time)iwt_below(random, 60) * IW_PS_PER_NS, -1);
            if (has_message) {
                (void)iwt_trace_message(t, rank, IWI_CALL_SEND, (rank + 1) % ranks, 0, 7, 8);
                (void)iwt_trace_message(t, rank, IWI_CALL_RECV, (rank + ranks - 1) % ranks, 0, 7, 8);
            }
            if (i > 0) {
                iwt_trace_wait(t, rank, &before[rank], 1);
            }
            before[rank] = request;
        }
    }
}

static void engines_agree_under_noise(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct iwt_random random = {.seed = seed};
        struct iwt_made_trace t;
        iw_noise *noise = NULL;

        make_random(&t, &random);
        assert_ok(iw_noise_new(NULL, &noise));
        assert_ok(iw_noise_add(NULL, noise, "poisson:5MHz,exp:20ns"));
        for (int async = IW_ASYNC_CALLS; async <= IW_ASYNC_THREAD; async++) {
            iw_program *program = program_of(&t, 2 * t.trace.rank_count, (iw_async)async);
            iw_sim_result *event = run(program, IW_ENGINE_EVENT, noise);
            iw_sim_result *chosen = run(program, IW_ENGINE_AUTO, noise);

            assert_memory_equal(event->end_ps, chosen->end_ps,
                                2 * t.trace.rank_count * sizeof *event->end_ps);
            iw_sim_result_free(event);
            iw_sim_result_free(chosen);
            iw_program_free(program);
        }
        iw_noise_free(noise);
        iwt_made_trace_release(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_round_is_hidden_by_a_thread_and_half_by_calls),
        cmocka_unit_test(rounds_behind_the_first_need_a_call),
        cmocka_unit_test(a_late_rank_is_waited_for),
        cmocka_unit_test(two_communicators_may_be_waited_for_in_any_order),
        cmocka_unit_test(a_lone_rank_has_nothing_to_wait_for),
        cmocka_unit_test(without_nonblocking_collectives_the_trace_is_not_stored),
        cmocka_unit_test(engines_agree_under_noise),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
