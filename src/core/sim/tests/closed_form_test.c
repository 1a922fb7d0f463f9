/* Closed forms: the message times of paper 1, section III, and noiseless collectives.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * With N = o_s + L + (k-1)G + o_r, a send started at T_s and a receive posted at T_r
 * (docs/explanation/semantics.md, "In the terms of the paper"): eager:      the receive ends at max(T_s + N,
 * T_r + o_r) rendezvous: the send ends at max(T_s + o_s, T_r), the receive o_r + L + (k-1)G after that
 *   nonblocking: the wait at T_w ends when the above says, with o_r paid not before T_w
 * and a detour before the send (receive) adds to T_s (T_r).
 */
#include "core/noise/stream.h"
#include "random_program.h"
#include "support/support.h"

static iw_time later(iw_time a, iw_time b)
{
    return a > b ? a : b;
}

struct terms {
    iw_time send_at, recv_at, o_s, o_r, wire;
    uint64_t bytes;
    bool is_rendezvous;
};

static struct terms random_terms(struct iwt_random *random, const iw_net *net)
{
    const uint64_t bytes = 1 + iwt_below(random, 300);
    const iw_time overhead = iwi_bytes_cost(net->O, bytes - 1);

    return (struct terms){.send_at = (iw_time)iwt_below(random, 400000),
                          .recv_at = (iw_time)iwt_below(random, 400000),
                          .o_s = net->o_send_ps + overhead,
                          .o_r = net->o_recv_ps + overhead,
                          .wire = net->L_ps + iwi_bytes_cost(net->G, bytes - 1),
                          .bytes = bytes,
                          .is_rendezvous = bytes > net->S_bytes};
}

/* End of the send (its CPU part or its waiting) and arrival, with T_s and T_r given. */
static iw_time send_end(const struct terms *t, iw_time send_at, iw_time recv_at)
{
    return t->is_rendezvous ? later(send_at + t->o_s, recv_at) : send_at + t->o_s;
}

static void expect_ends(const struct iwt_builder *b, const iw_net *net, const iw_noise *noise,
                        iw_time send_ends, iw_time recv_ends)
{
    static const iw_engine engines[] = {IW_ENGINE_EVENT, IW_ENGINE_FLOW};
    iw_program *program = iwt_program(b);

    for (size_t e = 0; e < 2; e++) {
        iw_sim_opts opts = IW_SIM_OPTS_INIT;
        iw_sim_result *result;

        opts.engine = engines[e];
        result = iwt_run(program, net, noise, &opts);
        assert_int_equal(result->end_ps[0], send_ends);
        assert_int_equal(result->end_ps[1], recv_ends);
        iw_sim_result_free(result);
    }
    iw_program_free(program);
}

static void blocking_messages_have_the_closed_form(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 500; seed++) {
        struct iwt_random random = {seed, 0};
        const iw_net net = iwt_random_flat_net(&random);
        const struct terms t = random_terms(&random, &net);
        const iw_time left = send_end(&t, t.send_at, t.recv_at);
        struct iwt_builder b;

        iwt_builder_init(&b, 2);
        iwt_calc(&b, 0, t.send_at);
        iwt_send(&b, 0, 1, t.bytes, 0);
        iwt_calc(&b, 1, t.recv_at);
        iwt_recv(&b, 1, 0, t.bytes, 0);
        expect_ends(&b, &net, NULL, left, later(t.recv_at, left + t.wire) + t.o_r);
        iwt_builder_release(&b);
    }
}

/* Posted at T_s and T_r, waited for at T_ws and T_wr. */
static void nonblocking_messages_have_the_closed_form(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 500; seed++) {
        struct iwt_random random = {seed, 0};
        const iw_net net = iwt_random_flat_net(&random);
        const struct terms t = random_terms(&random, &net);
        const iw_time send_work = (iw_time)iwt_below(&random, 400000);
        const iw_time recv_work = (iw_time)iwt_below(&random, 400000);
        const iw_time left = send_end(&t, t.send_at, t.recv_at);
        struct iwt_builder b;

        iwt_builder_init(&b, 2);
        iwt_calc(&b, 0, t.send_at);
        iwt_isend(&b, 0, 1, t.bytes, 0);
        iwt_calc(&b, 0, send_work);
        iwt_wait(&b, 0);
        iwt_calc(&b, 1, t.recv_at);
        iwt_irecv(&b, 1, 0, t.bytes, 0);
        iwt_calc(&b, 1, recv_work);
        iwt_wait(&b, 1);
        expect_ends(&b, &net, NULL, later(t.send_at + t.o_s + send_work, left),
                    later(t.recv_at + recv_work, left + t.wire) + t.o_r);
        iwt_builder_release(&b);
    }
}

/* One detour of sigma in the work before the send and the receive: it adds to T_s and T_r, and what of it
 * reaches the other side is what the closed form says. */
static void noise_before_the_message_shifts_the_closed_form(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 300; seed++) {
        struct iwt_random random = {seed, 0};
        const iw_net net = iwt_random_flat_net(&random);
        const struct terms t = random_terms(&random, &net);
        const iw_time sigma = 1 + (iw_time)iwt_below(&random, 100000);
        const iw_time at = (iw_time)iwt_below(&random, t.send_at < t.recv_at ? 1 + (uint64_t)t.send_at
                                                                             : 1 + (uint64_t)t.recv_at);
        const iw_time length = IWT_NS(1000000000);
        struct iwi_stream_id id = {1, 0, 0};
        iw_time send_at, recv_at, left, start;
        struct iwt_builder b;
        iw_noise *noise = NULL;

        if (t.send_at <= at || t.recv_at <= at) {
            continue;
        }
        send_at = t.send_at + sigma;
        recv_at = t.recv_at + sigma;
        left = send_end(&t, send_at, recv_at);
        assert_ok(iw_noise_new(NULL, &noise));
        start = 0;
        assert_ok(iw_noise_add_trace(NULL, noise, "probe", &start, &sigma, 1, length));
        iw_noise_align(noise, IW_SYNC_START, 0, 1);
        start = (at + iwi_noise_trace_offset(noise, id)) % length;
        iw_noise_free(noise);
        assert_ok(iw_noise_new(NULL, &noise));
        assert_ok(iw_noise_add_trace(NULL, noise, "one", &start, &sigma, 1, length));
        iw_noise_align(noise, IW_SYNC_START, 0, 1);
        iwt_builder_init(&b, 2);
        iwt_calc(&b, 0, t.send_at);
        iwt_send(&b, 0, 1, t.bytes, 0);
        iwt_calc(&b, 1, t.recv_at);
        iwt_recv(&b, 1, 0, t.bytes, 0);
        expect_ends(&b, &net, noise, left, later(recv_at, left + t.wire) + t.o_r);
        iwt_builder_release(&b);
        iw_noise_free(noise);
    }
}

/* ---- collectives without noise ---- */

static iw_time noiseless(const char *operation, uint32_t ranks, uint64_t bytes, iw_fs_per_byte reduce,
                         const iw_net *net)
{
    iw_pattern pattern = IW_PATTERN_INIT;
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    iw_program *program = NULL;
    iw_sim_result *result;
    iw_time makespan;

    pattern.ranks = ranks;
    pattern.bytes = bytes;
    pattern.reduce = reduce;
    assert_ok(iw_program_from_pattern(NULL, operation, &pattern, &program));
    result = iwt_run(program, net, NULL, &opts);
    makespan = result->makespan_ps[0];
    iw_sim_result_free(result);
    iw_program_free(program);
    return makespan;
}

static iw_time log2_up(uint32_t n)
{
    iw_time log = 0;

    while ((UINT32_C(1) << log) < n) {
        log++;
    }
    return log;
}

/* A round of o_s + L + (k-1)G + o_r hides the gap g + (k-1)G on all five machines. */
static iw_time round_time(const iw_net *net, uint64_t bytes)
{
    return net->o_send_ps + net->L_ps + iwi_bytes_cost(net->G, bytes - 1) + net->o_recv_ps;
}

static void noiseless_collectives_have_their_closed_forms(void **state)
{
    static const uint32_t ranks[] = {2, 8, 64, 1024, 16384};
    const char *name;

    (void)state;
    for (size_t n = 0; (name = iw_net_builtin_name(n)) != NULL; n++) {
        const iw_net *net = iw_net_builtin(name);

        for (size_t k = 0; net->inner_count == 0 && k < sizeof ranks / sizeof ranks[0]; k++) {
            const iw_time rounds = log2_up(ranks[k]);
            const iw_fs_per_byte gamma = 250000; /* 250 ps a byte */

            assert_int_equal(noiseless("barrier:dissemination", ranks[k], 1, 0, net),
                             rounds * round_time(net, 1));
            assert_int_equal(noiseless("allreduce:dissemination", ranks[k], 64, gamma, net),
                             rounds * (round_time(net, 64) + iwi_bytes_cost(gamma, 64)));
            assert_int_equal(noiseless("allreduce:recursive-doubling", ranks[k], 4096, gamma, net),
                             rounds * (round_time(net, 4096) + iwi_bytes_cost(gamma, 4096)));
            assert_int_equal(noiseless("bcast:binomial", ranks[k], 8, 0, net), rounds * round_time(net, 8));
        }
    }
}

static void noiseless_dissemination_rounds_up_for_other_sizes(void **state)
{
    const iw_net *net = iw_net_builtin("chic");

    (void)state;
    for (uint32_t ranks = 2; ranks < 300; ranks++) {
        assert_int_equal(noiseless("barrier:dissemination", ranks, 1, 0, net),
                         log2_up(ranks) * round_time(net, 1));
    }
}

/* 2(P-1) rounds of bytes/P. */
static void a_noiseless_ring_allreduce_has_its_closed_form(void **state)
{
    static const uint32_t ranks[] = {2, 3, 8, 100, 512};
    const iw_net *net = iw_net_builtin("altix");

    (void)state;
    for (size_t k = 0; k < sizeof ranks / sizeof ranks[0]; k++) {
        const iw_time half = ranks[k] - 1;

        assert_int_equal(noiseless("allreduce:ring", ranks[k], UINT64_C(1024) * ranks[k], 100000, net),
                         2 * half * round_time(net, 1024) + half * iwi_bytes_cost(100000, 1024));
    }
}

/* The root of a linear broadcast is limited by max(o, g): the last message leaves after P - 2 of them. */
static void a_noiseless_linear_broadcast_is_gap_limited(void **state)
{
    const iw_net *net = iw_net_builtin("xt4");

    (void)state;
    for (uint32_t ranks = 2; ranks < 50; ranks += 7) {
        assert_int_equal(noiseless("bcast:linear", ranks, 1, 0, net),
                         (iw_time)(ranks - 2) * net->g_ps + round_time(net, 1));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocking_messages_have_the_closed_form),
        cmocka_unit_test(nonblocking_messages_have_the_closed_form),
        cmocka_unit_test(noise_before_the_message_shifts_the_closed_form),
        cmocka_unit_test(noiseless_collectives_have_their_closed_forms),
        cmocka_unit_test(noiseless_dissemination_rounds_up_for_other_sizes),
        cmocka_unit_test(a_noiseless_ring_allreduce_has_its_closed_form),
        cmocka_unit_test(a_noiseless_linear_broadcast_is_gap_limited),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
