/* SPDX-License-Identifier: BSD-3-Clause */
#include "random_program.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/rng.h"
#include "core/net/cost.h"
#include "core/net/net.h"
#include "core/sim/check.h"
#include "support/support.h"

uint64_t iwt_below(struct iwt_random *random, uint64_t n)
{
    return iwi_draw_below((struct iwi_draw_id){.seed = random->seed, .purpose = IWI_DRAW_TEST},
                          random->index++, n);
}

static void random_message(struct iwt_random *random, uint64_t bytes, struct iwt_builder *b)
{
    const uint32_t from = (uint32_t)iwt_below(random, b->ranks);
    const uint32_t to = (from + 1 + (uint32_t)iwt_below(random, b->ranks - 1)) % b->ranks;
    const uint32_t tag = (uint32_t)iwt_below(random, 3);

    (iwt_below(random, 2) ? iwt_send : iwt_isend)(b, from, to, bytes, tag);
    (iwt_below(random, 2) ? iwt_recv : iwt_irecv)(b, to, from, bytes, tag);
}

void iwt_random_program(struct iwt_random *random, enum iwt_sizes sizes, struct iwt_builder *b)
{
    const uint64_t steps = 5 + iwt_below(random, 100);
    const uint64_t one_size = iwt_below(random, 300);

    iwt_builder_init(b, 2 + (uint32_t)iwt_below(random, 7));
    for (uint64_t step = 0; step < steps; step++) {
        const uint32_t rank = (uint32_t)iwt_below(random, b->ranks);

        switch (iwt_below(random, 6)) {
        case 0: iwt_calc(b, rank, (iw_time)iwt_below(random, 60000)); break;
        case 1: iwt_wait(b, rank); break;
        default: random_message(random, sizes == IWT_ONE_SIZE ? one_size : iwt_below(random, 300), b); break;
        }
    }
    for (uint32_t rank = 0; rank < b->ranks; rank++) {
        iwt_wait(b, rank);
    }
}

void iwt_rename(const struct iwt_builder *b, const uint32_t *name, struct iwt_builder *renamed)
{
    iwt_builder_init(renamed, b->ranks);
    for (uint32_t rank = 0; rank < b->ranks; rank++) {
        for (size_t n = 0; n < b->node_count[rank]; n++) {
            const struct iwi_node *node = &b->nodes[rank][n];
            const bool is_nonblocking = (node->flags & IWI_NODE_NONBLOCKING) != 0;

            switch (node->kind) {
            case IWI_CALC: iwt_calc(renamed, name[rank], (iw_time)node->amount); break;
            case IWI_WAIT: iwt_wait(renamed, name[rank]); break;
            case IWI_SEND:
                (is_nonblocking ? iwt_isend : iwt_send)(renamed, name[rank], name[node->peer], node->amount,
                                                        node->tag);
                break;
            default:
                (is_nonblocking ? iwt_irecv : iwt_recv)(renamed, name[rank], name[node->peer], node->amount,
                                                        node->tag);
                break;
            }
        }
    }
}

static void add_trace(struct iwt_random *random, iw_noise *noise)
{
    iw_time start[20];
    iw_time duration[20];
    const size_t count = 1 + (size_t)iwt_below(random, 20);

    for (size_t k = 0; k < count; k++) {
        start[k] = (iw_time)iwt_below(random, 500000);
        duration[k] = (iw_time)iwt_below(random, 20000);
    }
    assert_ok(iw_noise_add_trace(NULL, noise, "trace", start, duration, count, 600000));
}

/* One to three of these, or recorded ones; aligned in one of the first so many ways. */
static iw_noise *random_sources(struct iwt_random *random, const char *const *specs, uint64_t spec_count,
                                uint64_t sync_count)
{
    static const iw_sync syncs[] = {IW_SYNC_NONE, IW_SYNC_NONE, IW_SYNC_START, IW_SYNC_PHASE};
    const uint64_t sources = 1 + iwt_below(random, 3);
    iw_noise *noise = NULL;

    assert_ok(iw_noise_new(NULL, &noise));
    for (uint64_t k = 0; k < sources; k++) {
        const uint64_t which = iwt_below(random, spec_count + 1);

        if (which == spec_count) {
            add_trace(random, noise);
        } else {
            assert_ok(iw_noise_add(NULL, noise, specs[which]));
        }
    }
    iw_noise_align(noise, syncs[iwt_below(random, sync_count)], (iw_time)iwt_below(random, 2) * 30000,
                   1 + (uint32_t)iwt_below(random, 3));
    if (iwt_below(random, 2)) {
        iw_noise_share_phases(noise, 1 + (uint32_t)iwt_below(random, 5),
                              (iw_loop_schedule)iwt_below(random, 2));
    }
    return noise;
}

iw_noise *iwt_random_noise(struct iwt_random *random)
{
    static const char *const specs[] = {"periodic:10000kHz,20ns",   "poisson:5000kHz,fixed:30ns",
                                        "poisson:8000kHz,exp:15ns", "phase-exp:20%",
                                        "bernoulli:0.3,25ns",       "poisson:2000kHz,pareto:1.5,10ns",
                                        "phase-pareto:20%,1.5"};

    return random_sources(random, specs, sizeof specs / sizeof specs[0], 4);
}

iw_noise *iwt_random_clock_noise(struct iwt_random *random)
{
    static const char *const specs[] = {"periodic:10000kHz,20ns", "poisson:5000kHz,fixed:30ns",
                                        "poisson:8000kHz,exp:15ns", "poisson:2000kHz,pareto:1.5,10ns"};

    return random_sources(random, specs, sizeof specs / sizeof specs[0], 3);
}

static iw_net_costs random_costs(struct iwt_random *random)
{
    const bool has_send = iwt_below(random, 4) > 0, has_recv = iwt_below(random, 4) > 0;

    return (iw_net_costs){.L_ps = (iw_time)iwt_below(random, 20000),
                          .o_send_ps = has_send ? (iw_time)iwt_below(random, 5000) : 0,
                          .o_recv_ps = has_recv ? (iw_time)iwt_below(random, 5000) : 0,
                          .g_ps = (iw_time)iwt_below(random, 10000),
                          .G = (iw_fs_per_byte)iwt_below(random, 1000000),
                          .O = (iw_fs_per_byte)(iwt_below(random, 2) * iwt_below(random, 50000)),
                          .is_device_progress = iwt_below(random, 8) == 0};
}

iw_net iwt_random_flat_net(struct iwt_random *random)
{
    return (iw_net){.name = "random", .costs = random_costs(random), .S_bytes = iwt_below(random, 300)};
}

/* Up to three levels inside, of groups that often do not fit into the number of ranks. */
static void add_levels(struct iwt_random *random, iw_net *net)
{
    uint32_t ranks = 1;

    net->inner_count = (uint32_t)iwt_below(random, 4);
    net->placement = iwt_below(random, 2) ? IW_PLACEMENT_BLOCK : IW_PLACEMENT_ROUND_ROBIN;
    for (uint32_t i = 0; i < net->inner_count; i++) {
        ranks *= 2 + (uint32_t)iwt_below(random, iwt_below(random, 2) ? 3 : 16);
        net->inner[i] = (iw_net_inner){.name = "inner", .ranks = ranks, .costs = random_costs(random)};
    }
}

/* NICs of one of the levels, and tapers of others. */
static void add_sharing(struct iwt_random *random, iw_net *net)
{
    const uint32_t node = (uint32_t)iwt_below(random, net->inner_count);

    for (uint32_t i = 0; i < net->inner_count; i++) {
        net->inner[i].taper = iwt_below(random, 3) ? 0.0 : 1.0 + (double)iwt_below(random, 8) / 4;
    }
    if (iwt_below(random, 3)) {
        net->inner[node].taper = 0.0;
        net->nics = (iw_net_nics){.count = 1 + (uint32_t)iwt_below(random, 4),
                                  .node_level = node,
                                  .active = (uint32_t)iwt_below(random, 1 + net->inner[node].ranks),
                                  .has_rails = iwt_below(random, 2) != 0,
                                  .G = (iw_fs_per_byte)iwt_below(random, 1000000)};
    }
}

void iwt_add_net_noise(struct iwt_random *random, uint64_t most_ps, iw_net *net)
{
    const uint32_t count = 2 + (uint32_t)iwt_below(random, 4);
    iw_time delay_ps = iwt_below(random, 2) ? 0 : (iw_time)iwt_below(random, most_ps);

    for (uint32_t k = 0; k < count; k++) {
        net->noise.points[k] = (iw_net_noise_point){(double)k / (count - 1), delay_ps};
        delay_ps += iwt_below(random, 3) ? (iw_time)iwt_below(random, most_ps) : 0;
    }
    net->noise.point_count = count;
}

void iwt_make_series(struct iwt_random *random, uint64_t most_ps, iw_net *net)
{
    enum { MOST = 40 };
    iw_time delays_ps[MOST], every_ps;
    uint32_t count;
    bool is_grained;

    if (net->noise.point_count == 0 || iwt_below(random, 2)) {
        return;
    }
    count = 1 + (uint32_t)iwt_below(random, MOST);
    every_ps = 1 + (iw_time)iwt_below(random, iwt_below(random, 2) ? most_ps : 20 * most_ps);
    is_grained = most_ps % 1000 == 0 && iwt_below(random, 2);
    for (uint32_t i = 0; i < count; i++) {
        const iw_time delay_ps = iwt_below(random, 2) ? 0 : (iw_time)iwt_below(random, 2 * most_ps);

        delays_ps[i] = is_grained ? delay_ps / 1000 * 1000 : delay_ps;
    }
    assert_ok(iw_net_set_series(NULL, net, delays_ps, count, every_ps));
}

void iwt_quiet_unless_eager(const iw_program *program, iw_net *net)
{
    if (iwi_may_rendezvous(program, net)) {
        net->noise.point_count = 0;
        net->noise.series.count = 0;
    }
}

iw_net iwt_random_net(struct iwt_random *random)
{
    iw_net net = iwt_random_flat_net(random);

    if (iwt_below(random, 2)) {
        add_levels(random, &net);
    }
    if (net.inner_count > 0 && iwt_below(random, 2)) {
        add_sharing(random, &net);
    }
    if (iwt_below(random, 4) == 0) {
        iwt_add_net_noise(random, 90000, &net);
        net.S_bytes = UINT64_MAX; /* with rendezvous only the event engine runs it */
    }
    return net;
}

/* Stretches of ranks on a node, and single ones; between nodes there are gaps. */
void iwt_place_randomly(struct iwt_random *random, uint32_t ranks, iw_net *net)
{
    const uint32_t level = (uint32_t)iwt_below(random, net->inner_count);
    const uint32_t of_node = net->inner[level].ranks, nodes = 3 + 2 * ranks / of_node;
    uint32_t *taken = calloc(nodes, sizeof *taken);
    uint32_t node = 0;

    net->placement = IW_PLACEMENT_LIST;
    net->list = (iw_node_list){ranks, level, calloc(ranks, sizeof *net->list.nodes)};
    assert_non_null(taken);
    assert_non_null(net->list.nodes);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        while (iwt_below(random, 3) == 0 || taken[node] == of_node) {
            node = (uint32_t)iwt_below(random, nodes);
        }
        taken[node]++;
        net->list.nodes[rank] = 3 * node + node % 2;
    }
    free(taken);
}

iw_net iwt_random_segmented_net(struct iwt_random *random)
{
    iw_net net = iwt_random_net(random);
    const uint32_t count = (uint32_t)iwt_below(random, 4);
    uint64_t from = 1;

    for (uint32_t i = 0; i < count; i++) {
        const struct iwi_cost before = iwi_cost_of(&net, from += 1 + iwt_below(random, 150));

        net.segments[i] =
            (iw_net_segment){.from_bytes = from,
                             .o_send_ps = (iw_time)iwt_below(random, 5000),
                             .o_recv_ps = (iw_time)iwt_below(random, 5000),
                             .G = (iw_fs_per_byte)iwt_below(random, 1000000),
                             .O = (iw_fs_per_byte)(iwt_below(random, 2) * iwt_below(random, 50000))};
        net.segments[i].L_ps = before.send_cpu + before.wire + before.recv_cpu +
                               (iw_time)iwt_below(random, 9000); /* rises surely */
        net.segments[i].g_ps = before.gap + (iw_time)iwt_below(random, 9000);
        net.segment_count = i + 1;
    }
    return net;
}

iw_program *iwt_random_pattern(struct iwt_random *random, uint32_t ranks)
{
    static const char *const operations[] = {"allreduce:dissemination", "halo2d+allreduce", "sweep2d",
                                             "bcast:binomial+reduce:binary"};
    iw_pattern pattern = IW_PATTERN_INIT;
    iw_program *program = NULL;

    pattern.ranks = ranks;
    pattern.bytes = iwt_below(random, 600);
    pattern.repeat = 3;
    pattern.compute_ps = (iw_time)iwt_below(random, 2000000);
    assert_ok(iw_program_from_pattern(NULL, operations[iwt_below(random, 4)], &pattern, &program));
    return program;
}

iw_program *iwt_pattern_program(const char *operations, const iw_pattern *pattern)
{
    iw_program *program = NULL;
    struct iwt_log l;

    iwt_log_init(&l);
    if (iw_program_from_pattern(&l.log, operations, pattern, &program) != IW_OK) {
        fail_msg("'%s' for %u ranks: %s", operations, pattern->ranks, l.text);
    }
    return program;
}

void iwt_compare_engines(const char *operations, const iw_pattern *pattern, struct iwt_random *random)
{
    iw_program *program = iwt_pattern_program(operations, pattern);
    iw_net net = iwt_random_segmented_net(random);
    iw_noise *noise = iwt_random_noise(random);
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    iw_sim_result *event, *flow;

    iwt_make_series(random, 90000, &net);
    opts.trials = 3;
    opts.threads = 1;
    opts.rendezvous = iwt_below(random, 2) ? IW_RENDEZVOUS_IDEAL : IW_RENDEZVOUS_RTS_CTS;
    opts.engine = IW_ENGINE_EVENT;
    event = iwt_run(program, &net, noise, &opts);
    opts.engine = IW_ENGINE_FLOW;
    opts.lanes = 1U << iwt_below(random, 4);
    flow = iwt_run(program, &net, noise, &opts);
    for (uint64_t i = 0; i < event->trials * event->ranks; i++) {
        if (event->end_ps[i] != flow->end_ps[i]) {
            fail_msg("'%s' on %u ranks, %llu bytes, lanes %u, trial %llu rank %llu: event %lld, flow %lld ps",
                     operations, event->ranks, (unsigned long long)pattern->bytes, opts.lanes,
                     (unsigned long long)(i / event->ranks), (unsigned long long)(i % event->ranks),
                     (long long)event->end_ps[i], (long long)flow->end_ps[i]);
        }
    }
    if (event->noiseless_ps != flow->noiseless_ps) {
        fail_msg("'%s' on %u ranks without noise: event %lld, flow %lld ps", operations, event->ranks,
                 (long long)event->noiseless_ps, (long long)flow->noiseless_ps);
    }
    iw_sim_result_free(event);
    iw_sim_result_free(flow);
    iw_noise_free(noise);
    iwi_net_release(&net);
    iw_program_free(program);
}
