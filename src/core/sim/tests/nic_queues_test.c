/* NICs with queues: the examples of rule 12 (docs/explanation/semantics.md), an independent computation of
 * who waits for whom, and what must hold for any program.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/order.h"
#include "core/net/net.h"
#include "core/sim/monotone.h"
#include "random_program.h"
#include "support/support.h"

/* The example network around nodes of 8 ranks, each with one NIC of 1 ns per byte. */
static iw_net machine(void)
{
    iw_net net = iwt_example_net();

    net.inner_count = 1;
    net.inner[0] = (iw_net_inner){.name = "node", .ranks = 8, .costs = net.costs};
    net.nics = (iw_net_nics){.count = 1, .G = 1000000, .sharing = IW_NIC_QUEUES};
    return net;
}

static void assert_ends(const struct iwt_builder *b, const iw_net *net, iw_rendezvous rendezvous,
                        const iw_time *expected_ns)
{
    iw_program *program = iwt_program(b);
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    iw_sim_result *result;

    opts.rendezvous = rendezvous;
    result = iwt_run(program, net, NULL, &opts);
    for (uint32_t rank = 0; rank < result->ranks; rank++) {
        assert_int_equal(result->end_ps[rank], expected_ns[rank] * IW_PS_PER_NS);
    }
    iw_sim_result_free(result);
    iw_program_free(program);
}

/* ---- examples ---- */

/* 8 ranks of one node to 8 of another: receiver i ends at 24 + 10 i. With two rails each carries four. */
static void ranks_of_a_node_take_turns(void **state)
{
    iw_net net = machine();
    iw_time ends[16];
    struct iwt_builder b;

    (void)state;
    iwt_builder_init(&b, 16);
    for (uint32_t rank = 0; rank < 8; rank++) {
        iwt_send(&b, rank, rank + 8, 11, 0);
        iwt_recv(&b, rank + 8, rank, 11, 0);
        ends[rank] = 2;
        ends[rank + 8] = 24 + 10 * rank;
    }
    assert_ends(&b, &net, IW_RENDEZVOUS_IDEAL, ends);
    net.nics.count = 2;
    net.nics.has_rails = true;
    for (uint32_t rank = 0; rank < 8; rank++) {
        ends[rank + 8] = 24 + 10 * (rank / 2);
    }
    assert_ends(&b, &net, IW_RENDEZVOUS_IDEAL, ends);
    net.nics.has_rails = false; /* spread over both: half the time at the NICs, but G stays 1 */
    for (uint32_t rank = 0; rank < 8; rank++) {
        ends[rank + 8] = 24 + 5 * rank;
    }
    assert_ends(&b, &net, IW_RENDEZVOUS_IDEAL, ends);
    iwt_builder_release(&b);
}

/* Ranks 8, 16 and 24 to ranks 0, 1 and 2: nothing to wait for on the way out, but on the way in. */
static void senders_of_several_nodes_meet_at_the_nic_of_the_receiver(void **state)
{
    const iw_net net = machine();
    iw_time ends[32] = {24, 34, 44};
    struct iwt_builder b;

    (void)state;
    iwt_builder_init(&b, 32);
    for (uint32_t i = 0; i < 3; i++) {
        iwt_send(&b, 8 * (i + 1), i, 11, 0);
        iwt_recv(&b, i, 8 * (i + 1), 11, 0);
        ends[8 * (i + 1)] = 2;
    }
    assert_ends(&b, &net, IW_RENDEZVOUS_IDEAL, ends);
    iwt_builder_release(&b);
}

/* Ranks 0 and 1 send 201 bytes to ranks 8 and 9; rank 9 posts its receive at 50, when the NIC is busy until
 * 202: its message arrives at 202 + 10 + 200. The sends end at 2 and at 50. */
static void transfers_of_a_rendezvous_wait_too(void **state)
{
    const iw_net net = machine();
    const iw_time ends[16] = {[0] = 2, [1] = 50, [8] = 214, [9] = 414};
    struct iwt_builder b;

    (void)state;
    iwt_builder_init(&b, 16);
    iwt_send(&b, 0, 8, 201, 0);
    iwt_send(&b, 1, 9, 201, 0);
    iwt_recv(&b, 8, 0, 201, 0);
    iwt_calc(&b, 9, 50 * IW_PS_PER_NS);
    iwt_recv(&b, 9, 1, 201, 0);
    assert_ends(&b, &net, IW_RENDEZVOUS_IDEAL, ends);
    iwt_builder_release(&b);
}

/* Rank 8 takes whatever comes. The 91 bytes of rank 0 wait behind 91 bytes of rank 1 (to rank 9) and arrive
 * at 192; the request for its 201 bytes, sent until 98, is not seen before them: x = 194. */
static void a_rank_with_wildcards_sees_messages_of_a_source_in_their_order(void **state)
{
    const iw_net net = machine();
    const iw_time ends[16] = {[0] = 194, [1] = 2, [8] = 406, [9] = 104};
    struct iwt_builder b;

    (void)state;
    iwt_builder_init(&b, 16);
    iwt_calc(&b, 0, IW_PS_PER_NS);
    iwt_send(&b, 0, 8, 91, 0);
    iwt_send(&b, 0, 8, 201, 0);
    iwt_send(&b, 1, 9, 91, 0);
    iwt_recv(&b, 9, 1, 91, 0);
    iwt_recv(&b, 8, IWI_ANY, 91, 0);
    iwt_recv(&b, 8, IWI_ANY, 201, 0);
    assert_ends(&b, &net, IW_RENDEZVOUS_IDEAL, ends);
    iwt_builder_release(&b);
}

/* Rank 1's byte waits for the 91 bytes of rank 0, and 1000 of work wait for it. Delayed by 10, rank 0 comes
 * second. */
static void more_noise_can_end_earlier(void **state)
{
    const iw_net net = machine();
    bool is_monotone = true;

    (void)state;
    for (int is_delayed = 0; is_delayed < 2; is_delayed++) {
        iw_time ends[16] = {[0] = 2, [1] = 3, [8] = 104, [9] = 1104};
        struct iwt_builder b;
        iw_program *program;

        iwt_builder_init(&b, 16);
        iwt_calc(&b, 0, is_delayed ? 10 * IW_PS_PER_NS : 0);
        iwt_send(&b, 0, 8, 91, 0);
        iwt_recv(&b, 8, 0, 91, 0);
        iwt_calc(&b, 1, IW_PS_PER_NS);
        iwt_send(&b, 1, 9, 1, 0);
        iwt_recv(&b, 9, 1, 1, 0);
        iwt_calc(&b, 9, 1000 * IW_PS_PER_NS);
        if (is_delayed) {
            ends[0] = 12;
            ends[8] = 114;
            ends[9] = 1015;
        }
        assert_ends(&b, &net, IW_RENDEZVOUS_IDEAL, ends);
        program = iwt_program(&b);
        assert_ok(iwi_is_monotone(NULL, program, &net, IW_RULES_IDLEWAVE, IW_SYNC_NONE, &is_monotone));
        assert_false(is_monotone);
        iw_program_free(program);
        iwt_builder_release(&b);
    }
}

/* ---- an independent computation ---- */

enum { SIDE = 24 }; /* ranks that send, on three nodes, and as many that receive, on three others */

struct flight {
    iw_time ready, first_byte, arrival; /* ps */
    uint32_t sender, receiver;
    uint64_t bytes;
};

static int compare(iw_time a, iw_time b, uint32_t rank_a, uint32_t rank_b)
{
    return a != b ? (a > b) - (a < b) : (rank_a > rank_b) - (rank_a < rank_b);
}

static int by_ready(const void *left, const void *right)
{
    const struct flight *a = left, *b = right;

    return compare(a->ready, b->ready, a->sender, b->sender);
}

static int by_first_byte(const void *left, const void *right)
{
    const struct flight *a = left, *b = right;

    return compare(a->first_byte, b->first_byte, a->sender, b->sender);
}

static iw_time take_turn(iw_time *nic, iw_time time, uint64_t bytes)
{
    const iw_time start = time > *nic ? time : *nic;

    *nic = start + (iw_time)(bytes - 1) * 1000;
    return start;
}

/* Two sorted lists, no events. A NIC takes 1000 ps per byte, a message G_ps. */
static void compute_arrivals(struct flight *flights, size_t count, iw_time G_ps)
{
    iw_time out[3] = {0}, in[3] = {0};

    iwi_sort(flights, count, by_ready);
    for (size_t i = 0; i < count; i++) {
        flights[i].first_byte =
            10000 + take_turn(&out[flights[i].sender / 8], flights[i].ready, flights[i].bytes);
    }
    iwi_sort(flights, count, by_first_byte);
    for (size_t i = 0; i < count; i++) {
        struct flight *f = &flights[i];

        f->arrival = take_turn(&in[(f->receiver - SIDE) / 8], f->first_byte, f->bytes) +
                     (iw_time)(f->bytes - 1) * G_ps;
    }
}

static void shuffle(struct iwt_random *random, uint32_t *ranks, uint32_t first)
{
    for (uint32_t i = 0; i < SIDE; i++) {
        const uint32_t j = (uint32_t)iwt_below(random, i + 1);

        ranks[i] = ranks[j];
        ranks[j] = first + i;
    }
}

/* All senders to receivers of their own, or (an incast) eight to those of one node. */
static size_t draw_flights(struct iwt_random *random, bool is_incast, struct flight *flights,
                           struct iwt_builder *b)
{
    const size_t count = is_incast ? 8 : SIDE;
    uint32_t senders[SIDE], receivers[SIDE];

    shuffle(random, senders, 0);
    shuffle(random, receivers, SIDE);
    for (uint32_t i = 0; i < count; i++) {
        const iw_time at = (iw_time)iwt_below(random, is_incast ? 3 : 300) * 1000;
        struct flight *f = &flights[i];

        *f = (struct flight){.ready = at + 2000,
                             .sender = senders[i],
                             .receiver = is_incast ? SIDE + i : receivers[i],
                             .bytes = 1 + iwt_below(random, 100)};
        iwt_calc(b, f->sender, at);
        iwt_send(b, f->sender, f->receiver, f->bytes, 0);
        iwt_recv(b, f->receiver, f->sender, f->bytes, 0);
    }
    return count;
}

static void queues_are_those_of_an_independent_computation(void **state)
{
    struct iwt_random random = {5, 0};

    (void)state;
    for (int n = 0; n < 400 / IWT_FEWER; n++) {
        const iw_time G_ps = 1000 * (1 + (iw_time)iwt_below(&random, 3));
        const iw_sim_opts opts = IW_SIM_OPTS_INIT;
        struct flight flights[SIDE];
        iw_net net = machine();
        iw_program *program;
        iw_sim_result *result;
        struct iwt_builder b;
        size_t count;

        net.G = 1000 * G_ps;
        iwt_builder_init(&b, 2 * SIDE);
        count = draw_flights(&random, n % 2 == 1, flights, &b);
        compute_arrivals(flights, count, G_ps);
        program = iwt_program(&b);
        result = iwt_run(program, &net, NULL, &opts);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(result->end_ps[flights[i].receiver], flights[i].arrival + 2000);
        }
        iw_sim_result_free(result);
        iw_program_free(program);
        iwt_builder_release(&b);
    }
}

/* ---- what holds for any program ---- */

static iw_net random_queues(struct iwt_random *random, iw_fs_per_byte most)
{
    iw_net net = iwt_random_segmented_net(random);

    if (net.inner_count == 0) {
        net.inner_count = 1;
        net.inner[0] = (iw_net_inner){.name = "node", .ranks = 2, .costs = net.costs};
    }
    for (uint32_t i = 0; i < net.inner_count; i++) {
        net.inner[i].taper = 0.0;
    }
    net.nics = (iw_net_nics){.count = 1 + (uint32_t)iwt_below(random, 3),
                             .node_level = (uint32_t)iwt_below(random, net.inner_count),
                             .has_rails = iwt_below(random, 2) != 0,
                             .sharing = IW_NIC_QUEUES,
                             .G = (iw_fs_per_byte)iwt_below(random, (uint64_t)most + 1)};
    iwt_make_series(random, 90000, &net);
    net.S_bytes = iw_net_is_noisy(&net) ? iwt_below(random, 300) : net.S_bytes;
    return net;
}

/* Runs a random program on one network and on another, or with one thread and with three. */
static void assert_same(struct iwt_random *random, const iw_net *one, const iw_net *other, uint32_t threads)
{
    iw_noise *noise = iwt_random_noise(random);
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    iw_sim_result *a, *b;
    iw_program *program;
    struct iwt_builder builder;

    iwt_random_program(random, IWT_MIXED_SIZES, &builder);
    program = iwt_program(&builder);
    opts.engine = IW_ENGINE_EVENT;
    opts.trials = 3;
    opts.threads = 1;
    opts.rendezvous = iwt_below(random, 2) ? IW_RENDEZVOUS_IDEAL : IW_RENDEZVOUS_RTS_CTS;
    a = iwt_run(program, one, noise, &opts);
    opts.threads = threads;
    b = iwt_run(program, other, noise, &opts);
    assert_memory_equal(a->end_ps, b->end_ps, a->trials * a->ranks * sizeof *a->end_ps);
    iw_sim_result_free(a);
    iw_sim_result_free(b);
    iw_program_free(program);
    iwt_builder_release(&builder);
    iw_noise_free(noise);
}

static void nics_that_take_no_time_change_nothing(void **state)
{
    struct iwt_random random = {6, 0};

    (void)state;
    for (int n = 0; n < 300 / IWT_FEWER; n++) {
        iw_net queues = random_queues(&random, 0), without;

        if (queues.placement == IW_PLACEMENT_ROUND_ROBIN ||
            iw_net_is_noisy(&queues)) { /* nodes without NICs */
            queues.nics.node_level = queues.inner_count - 1;
        }
        without = queues;
        without.nics.count = 0;
        assert_same(&random, &queues, &without, 1);
        iwi_net_release(&queues);
    }
}

static void threads_change_nothing(void **state)
{
    struct iwt_random random = {7, 0};

    (void)state;
    for (int n = 0; n < 50 / IWT_FEWER; n++) {
        iw_net queues = random_queues(&random, 1000000);

        assert_same(&random, &queues, &queues, 3);
        iwi_net_release(&queues);
    }
}

/* To the picosecond, who waits for a NIC having come by way of who held it. */
static void paths_add_up(void **state)
{
    struct iwt_random random = {8, 0};

    (void)state;
    for (int n = 0; n < 200 / IWT_FEWER; n++) {
        iw_net net = random_queues(&random, 2000000);
        iw_noise *noise = iwt_random_noise(&random);
        iw_sim_opts opts = IW_SIM_OPTS_INIT;
        struct iwt_builder builder;
        iw_sim_result *result;
        iw_program *program;

        iwt_random_program(&random, IWT_MIXED_SIZES, &builder);
        program = iwt_program(&builder);
        opts.want_explain = true;
        opts.trials = opts.explain_trials = 2;
        opts.rendezvous = n % 2 ? IW_RENDEZVOUS_IDEAL : IW_RENDEZVOUS_RTS_CTS;
        result = iwt_run(program, &net, noise, &opts);
        for (uint64_t i = 0; i < result->explain->path_count; i++) {
            const iw_path *path = &result->explain->paths[i];
            iw_time sum = 0;

            for (int part = 0; part < IW_PARTS; part++) {
                assert_true(path->split.part_ps[part] >= 0);
                sum += path->split.part_ps[part];
            }
            assert_int_equal(sum, path->makespan_ps);
        }
        iw_sim_result_free(result);
        iw_program_free(program);
        iwt_builder_release(&builder);
        iw_noise_free(noise);
        iwi_net_release(&net);
    }
}

/* ---- engines ---- */

static void only_the_event_engine_has_queues(void **state)
{
    const iw_net net = machine();
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    iw_sim_result *result = NULL;
    struct iwt_builder b;
    iw_program *program;
    struct iwt_log l;

    (void)state;
    iwt_builder_init(&b, 16);
    iwt_send(&b, 0, 8, 11, 0);
    iwt_recv(&b, 8, 0, 11, 0);
    program = iwt_program(&b);
    result = iwt_run(program, &net, NULL, &opts);
    assert_int_equal(result->engine, IW_ENGINE_EVENT);
    assert_string_equal(result->engine_note, "messages wait for NICs in time order");
    iw_sim_result_free(result);
    opts.engine = IW_ENGINE_FLOW;
    iwt_log_init(&l);
    assert_status(iw_simulate(&l.log, program, &net, NULL, &opts, &result), IW_ERR_UNSUPPORTED);
    iwt_assert_logged(&l, "messages wait for NICs in time order; use the event engine");
    iw_program_free(program);
    iwt_builder_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_of_a_node_take_turns),
        cmocka_unit_test(senders_of_several_nodes_meet_at_the_nic_of_the_receiver),
        cmocka_unit_test(transfers_of_a_rendezvous_wait_too),
        cmocka_unit_test(a_rank_with_wildcards_sees_messages_of_a_source_in_their_order),
        cmocka_unit_test(more_noise_can_end_earlier),
        cmocka_unit_test(queues_are_those_of_an_independent_computation),
        cmocka_unit_test(nics_that_take_no_time_change_nothing),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(paths_add_up),
        cmocka_unit_test(only_the_event_engine_has_queues),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
