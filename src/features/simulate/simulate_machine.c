/* One simulation: the machine that it ran on. Its network, memory, nodes and cores.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/base/base.h"
#include "core/net/net.h"
#include "features/simulate/simulate_report.h"

static const char *costs_words(struct iwi_document *doc, const iw_net_costs *costs)
{
    const double fs_per_ns = 1e6;
    const char *overhead = iwi_ps(doc, costs->o_send_ps);

    if (costs->o_recv_ps != costs->o_send_ps) {
        overhead = iwi_say(doc, "%s and %s", overhead, iwi_ps(doc, costs->o_recv_ps));
    }
    return iwi_say(doc, "L %s, o %s, g %s, G %.4g ns/B%s%s", iwi_ps(doc, costs->L_ps), overhead,
                   iwi_ps(doc, costs->g_ps), (double)costs->G / fs_per_ns,
                   costs->O > 0 ? iwi_say(doc, ", O %.4g ns/B", (double)costs->O / fs_per_ns) : "",
                   costs->is_device_progress ? ", moved by a device" : "");
}

bool iwi_is_moved_by_device(const iw_net *net)
{
    bool is_device = net->costs.is_device_progress;

    for (uint32_t i = 0; i < net->inner_count; i++) {
        is_device &= net->inner[i].costs.is_device_progress;
    }
    return is_device;
}

/* "4 NICs of 0.04 ns/B in a node, shared by 32 ranks: a byte that leaves it takes 1.28 ns" */
static void say_nics(struct iwi_document *doc, const iw_net *net)
{
    const iw_net_nics *nics = &net->nics;
    const double fs_per_ns = 1e6;
    const iw_net_inner *node = &net->inner[nics->node_level];
    const char *those = iwi_say(doc, "%" PRIu32 " NIC%s of %.4g ns/B in a %s", nics->count,
                                iwi_s(nics->count), (double)nics->G / fs_per_ns, node->name);
    iw_net effective;

    if (nics->sharing == IW_NIC_QUEUES) {
        iwi_row(doc, "",
                iwi_say(doc, "%s; messages wait for %s in the order of time", those,
                        nics->count == 1 ? "it" : "them"));
    } else if (iwi_net_effective(NULL, net, &effective) == IW_OK) {
        const iw_net_costs *outside = nics->node_level + 1 < net->inner_count
                                          ? &effective.inner[nics->node_level + 1].costs
                                          : &effective.costs;

        iwi_row(doc, "",
                iwi_say(doc, "%s, shared by %" PRIu32 " ranks: a byte that leaves it takes %.4g ns", those,
                        nics->active > 0 ? nics->active : node->ranks, (double)outside->G / fs_per_ns));
    }
}

/* "noise delays messages between nodes by 1.20 us on average, 40.0 us at most (recorded series of 2.10 s)" */
static void say_net_noise(struct iwi_document *doc, const iw_net *net)
{
    const iw_net_noise *noise = &net->noise;
    const double ps_per_ns = (double)IW_PS_PER_NS;

    if (iw_net_is_noisy(net)) {
        const char *kind = noise->series.count == 0
                               ? ""
                               : iwi_say(doc, " (recorded series of %s)",
                                         iwi_ns(doc, (double)noise->series.count *
                                                         (double)noise->series.every_ps / ps_per_ns));

        iwi_row(doc, "",
                iwi_say(doc, "noise delays messages%s by %s on average, %s at most%s",
                        net->inner_count > 0 ? " between nodes" : "",
                        iwi_ns(doc, iw_net_noise_mean_ps(noise) / ps_per_ns),
                        iwi_ns(doc, (double)iw_net_noise_longest_ps(noise) / ps_per_ns), kind));
    }
}

/* Its levels from outside in: the costs of the network itself are those of its outermost level. */
static void say_net(struct iwi_document *doc, const iw_simulation *s)
{
    const iw_net *net = s->net;

    iwi_row(doc, "network", iwi_say(doc, "%s: %s", net->name, costs_words(doc, &net->costs)));
    if (s->net_segment_count > 0) {
        iwi_row(doc, "",
                iwi_say(doc, "from %" PRIu64 " bytes on other costs, in %zu segment%s",
                        s->net_segments[0].from_bytes, s->net_segment_count, iwi_s(s->net_segment_count)));
    }
    for (uint32_t i = net->inner_count; i > 0; i--) {
        const iw_net_inner *inner = &net->inner[i - 1];

        iwi_row(doc, "",
                iwi_say(doc, "inside a %s of %" PRIu32 " ranks: %s", inner->name, inner->ranks,
                        costs_words(doc, &inner->costs)));
    }
    if (net->nics.count > 0) {
        say_nics(doc, net);
    }
    say_net_noise(doc, net);
}

/* "30 MB": a unit as rates have it. */
static const char *decimal_size(struct iwi_document *doc, uint64_t bytes)
{
    return bytes >= 1000000000 ? iwi_say(doc, "%.4g GB", (double)bytes / 1e9)
           : bytes >= 1000000  ? iwi_say(doc, "%.4g MB", (double)bytes / 1e6)
           : bytes >= 1000     ? iwi_say(doc, "%.4g kB", (double)bytes / 1e3)
                               : iwi_say(doc, "%" PRIu64 " B", bytes);
}

/* "domains of 10 ranks with 40 GB/s, 6.5 GB/s a core; phases move 30 MB" */
static void say_memory(struct iwi_document *doc, const iw_simulation *s)
{
    const iw_memory *memory = &s->net->memory;

    if (memory->ranks > 0 && s->compute_bytes > 0) {
        iwi_row(doc, "memory",
                iwi_say(doc, "domains of %" PRIu32 " rank%s with %.4g GB/s, %.4g GB/s a core; phases move %s",
                        memory->ranks, iwi_s(memory->ranks), (double)memory->domain_bytes_per_s / 1e9,
                        (double)memory->core_bytes_per_s / 1e9, decimal_size(doc, s->compute_bytes)));
    }
}

static void say_nodes(struct iwi_document *doc, const iw_simulation *s)
{
    if (s->cores_per_rank > 1) {
        iwi_row(doc, "cores", iwi_say(doc, "%u a rank, %s loops", s->cores_per_rank, iw_loop_name(s->loop)));
    }
    if (s->spare_cores > 0) {
        iwi_row(doc, s->cores_per_rank > 1 ? "" : "cores",
                iwi_say(doc, "%u of each node left to the operating system", s->spare_cores));
    }
    if (s->run.slowest_node > 0.0) {
        iwi_row(doc, "nodes",
                iwi_say(doc, "%s%sthe slowest computes %.4g times as long",
                        s->node_speed != NULL ? s->node_speed : "", s->node_speed != NULL ? ": " : "",
                        s->run.slowest_node));
    }
}

void iwi_say_machine(struct iwi_document *doc, const iw_simulation *s)
{
    say_nodes(doc, s);
    say_net(doc, s);
    say_memory(doc, s);
}
