/* What may be done with any network: checked, scaled.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <idlewave/net.h>

#include "core/base/base.h"
#include "core/net/cost.h"
#include "core/net/level.h"
#include "core/net/memory.h"
#include "core/net/net.h"
#include "core/net/net_noise.h"

/* NICs that the ranks of a node share, and links that are narrower than what is below them: what they leave
 * to each rank (docs/explanation/semantics.md, rule 12).
 */

enum { MOST_NICS = 1024 };
static const double MOST_TAPER = 1000.0;

/* ---- checks ---- */

static void net_keep_rising(iw_net_costs *costs);

static iw_status check_nics(const iw_log *log, const iw_net *net)
{
    const iw_net_nics *nics = &net->nics;
    const iw_net_inner *node = nics->node_level < net->inner_count ? &net->inner[nics->node_level] : NULL;

    if (node == NULL) {
        return iwi_fail(log, IW_ERR_RANGE, "network '%s' has NICs, but no level for the node: add levels",
                        net->name);
    }
    if (nics->count > MOST_NICS) {
        return iwi_fail(log, IW_ERR_RANGE, "network '%s': %u NICs in a node are more than %d", net->name,
                        nics->count, MOST_NICS);
    }
    if (nics->active > node->ranks) {
        return iwi_fail(log, IW_ERR_RANGE, "network '%s': %u ranks of a %s of %u cannot be active", net->name,
                        nics->active, node->name, node->ranks);
    }
    if (node->taper > 0.0) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "network '%s': traffic leaving a %s uses its NICs: remove its taper", net->name,
                        node->name);
    }
    return IW_OK;
}

/* Refuses NICs without nodes, more active ranks than there are, tapers that are none. */
static iw_status net_check_sharing(const iw_log *log, const iw_net *net)
{
    for (uint32_t i = 0; i < net->inner_count; i++) {
        const double taper = net->inner[i].taper;

        if (taper != 0.0 && !(taper >= 1.0 && taper <= MOST_TAPER)) {
            return iwi_fail(log, IW_ERR_RANGE, "network '%s': the taper of level '%s' is not in 1 ... %g",
                            net->name, net->inner[i].name, MOST_TAPER);
        }
    }
    return net->nics.count == 0 ? IW_OK : check_nics(log, net);
}

/* ---- shares ---- */

/* What a rank has of the links on the way of its messages. */
struct share {
    double factor;        /* G is so many times larger inside nodes, or where there are no NICs */
    double G_fs_per_byte; /* and at least this, because of NICs and what is beyond them */
};

/* Of the levels from `first` to `end` - 1, whose groups a message leaves. */
static double product_of_tapers(const iw_net *net, uint32_t first, uint32_t end)
{
    double product = 1.0;

    for (uint32_t i = first; i < end; i++) {
        product *= fmax(1.0, net->inner[i].taper);
    }
    return product;
}

/* Of one rank, where all active ones send. */
static double part_of_nics(const iw_net *net, uint32_t active)
{
    return (double)active * (double)net->nics.G / net->nics.count;
}

static double part_of_rail(const iw_net *net, uint32_t active)
{
    return ceil((double)active / net->nics.count) * (double)net->nics.G;
}

/* Of messages of a level. */
static struct share share_at(const iw_net *net, uint32_t level)
{
    const iw_net_nics *nics = &net->nics;
    const uint32_t node = nics->count > 0 ? nics->node_level : net->inner_count;
    struct share share = {product_of_tapers(net, 0, level < node ? level : node), 0.0};

    if (level > node) {
        const uint32_t active = nics->active > 0 ? nics->active : net->inner[node].ranks;
        const uint32_t at_once = nics->sharing == IW_NIC_QUEUES ? 1 : active; /* others wait */
        const double beyond = product_of_tapers(net, node + 1, level);

        share.G_fs_per_byte = nics->has_rails ? part_of_rail(net, at_once) : part_of_nics(net, at_once);
        if (beyond > 1.0) {
            share.G_fs_per_byte = fmax(share.G_fs_per_byte, beyond * part_of_nics(net, active));
        }
    }
    return share;
}

static iw_status apply(const iw_log *log, const iw_net *net, struct share share, iw_fs_per_byte *G)
{
    const double shared = fmax((double)*G * share.factor, share.G_fs_per_byte);

    if (shared > (double)IWI_NET_MOST_FS_PER_BYTE) {
        return iwi_fail(
            log, IW_ERR_RANGE,
            "network '%s': with its NICs and tapers shared by all active ranks, a byte takes more "
            "than 1 us",
            net->name);
    }
    *G = llround(shared);
    return IW_OK;
}

static iw_status apply_to_costs(const iw_log *log, const iw_net *net, uint32_t level, iw_net_costs *costs)
{
    const struct share share = share_at(net, level);

    IW_TRY(apply(log, net, share, &costs->G));
    for (uint32_t i = 0; i < costs->segment_count; i++) {
        IW_TRY(apply(log, net, share, &costs->segments[i].G));
    }
    net_keep_rising(costs);
    return IW_OK;
}

static bool has_shares(const iw_net *net)
{
    return net->nics.count > 0 || product_of_tapers(net, 0, net->inner_count) > 1.0;
}

iw_status iwi_net_effective(const iw_log *log, const iw_net *net, iw_net *effective_p)
{
    iw_net effective = *net;

    IW_TRY(iw_net_check(log, net));
    if (has_shares(net)) {
        for (uint32_t level = 0; level < net->inner_count; level++) {
            IW_TRY(apply_to_costs(log, net, level, &effective.inner[level].costs));
            effective.inner[level].taper = 0.0;
        }
        IW_TRY(apply_to_costs(log, net, net->inner_count, &effective.costs));
        if (net->nics.sharing == IW_NIC_MAX_RATE) {
            effective.nics = (iw_net_nics){.node_level = net->nics.node_level,
                                           .is_part_of_G = net->nics.count > 0 || net->nics.is_part_of_G};
        }
    }
    *effective_p = effective;
    return IW_OK;
}

/* Beyond these a value is a slip of the unit, and sums of it could leave iw_time. */
#define MOST_TIME_PS (INT64_C(3600) * IW_PS_PER_S)
#define MOST_FROM_BYTES (UINT64_C(1) << 40)

iw_nodes iw_net_nodes(const iw_net *net)
{
    if (net->inner_count == 0) {
        return (iw_nodes){.ranks = 0};
    }
    return (iw_nodes){net->inner[iwi_node_level(net)].ranks, net->placement, net->list};
}

const char *iw_net_level_name(const iw_net *net, uint32_t level)
{
    if (level < net->inner_count) {
        return net->inner[level].name;
    }
    return net->outer_name[0] != '\0' ? net->outer_name : "network";
}

iw_status iw_net_new(const iw_log *log, iw_net **net_p)
{
    iw_net *net = iwi_new_array(log, 1, sizeof *net);

    if (net == NULL) {
        return IW_ERR_NOMEM;
    }
    (void)snprintf(net->name, sizeof net->name, "network");
    net->S_bytes = IWI_NET_DEFAULT_S_BYTES;
    *net_p = net;
    return IW_OK;
}

static void *copy_array(const iw_log *log, const void *array, size_t count, size_t element_size)
{
    void *copy = count > 0 ? iwi_new_array(log, count, element_size) : NULL;

    if (copy != NULL) {
        memcpy(copy, array, count * element_size);
    }
    return copy;
}

iw_status iw_net_copy(const iw_log *log, const iw_net *net, iw_net **copy_p)
{
    const iw_node_list *list = &net->list;
    const iw_delay_series *series = &net->noise.series;
    iw_net *copy;

    IW_TRY(iw_net_new(log, &copy));
    *copy = *net;
    copy->list.nodes = copy_array(log, list->nodes, list->count, sizeof *list->nodes);
    copy->noise.series.delays_ps =
        copy_array(log, series->delays_ps, series->count, sizeof *series->delays_ps);
    if ((list->count > 0 && copy->list.nodes == NULL) ||
        (series->count > 0 && copy->noise.series.delays_ps == NULL)) {
        iw_net_free(copy);
        return IW_ERR_NOMEM;
    }
    *copy_p = copy;
    return IW_OK;
}

void iw_net_free(iw_net *net)
{
    if (net != NULL) {
        iwi_net_release(net);
        free(net);
    }
}

void iwi_net_release(iw_net *net)
{
    free(net->list.nodes);
    net->list = (iw_node_list){.count = 0};
    free(net->noise.series.delays_ps);
    net->noise.series = (iw_delay_series){.count = 0};
}

static iw_status check_value(const iw_log *log, const iw_net *net, const char *what, int64_t value,
                             int64_t max, const char *max_text)
{
    if (value >= 0 && value <= max) {
        return IW_OK;
    }
    return iwi_fail(log, IW_ERR_RANGE, "network '%s': %s is %s", net->name, what,
                    value < 0 ? "negative" : max_text);
}

static iw_status check_parameters(const iw_log *log, const iw_net *net, const iw_net_segment *segment)
{
    static const char long_time[] = "more than 1 h", long_byte[] = "more than 1 us per byte";

    IW_TRY(check_value(log, net, "L", segment->L_ps, MOST_TIME_PS, long_time));
    IW_TRY(check_value(log, net, "o_s", segment->o_send_ps, MOST_TIME_PS, long_time));
    IW_TRY(check_value(log, net, "o_r", segment->o_recv_ps, MOST_TIME_PS, long_time));
    IW_TRY(check_value(log, net, "g", segment->g_ps, MOST_TIME_PS, long_time));
    IW_TRY(check_value(log, net, "G", segment->G, IWI_NET_MOST_FS_PER_BYTE, long_byte));
    return check_value(log, net, "O", segment->O, IWI_NET_MOST_FS_PER_BYTE, long_byte);
}

/* From sending to having received, with nothing in the way. */
static iw_time whole(const iw_net_costs *costs, uint64_t bytes)
{
    const struct iwi_cost cost = iwi_cost_by(costs, bytes);

    return cost.send_cpu + cost.wire + cost.recv_cpu;
}

static iw_status check_segment(const iw_log *log, const iw_net *net, const iw_net_costs *costs,
                               uint32_t index)
{
    const uint64_t from = costs->segments[index].from_bytes;

    if (from < 2 || from > MOST_FROM_BYTES || (index > 0 && from <= costs->segments[index - 1].from_bytes)) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "network '%s': segments must begin at ascending sizes of at least 2 bytes, but "
                        "number %u begins at %" PRIu64,
                        net->name, index + 1, from);
    }
    return check_parameters(log, net, &costs->segments[index]);
}

/* Of segments that are in order and sane. */
static iw_status check_rising(const iw_log *log, const iw_net *net, const iw_net_costs *costs, uint32_t index)
{
    const uint64_t from = costs->segments[index].from_bytes;

    if (whole(costs, from) < whole(costs, from - 1) ||
        iwi_cost_by(costs, from).gap < iwi_cost_by(costs, from - 1).gap) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "network '%s': a message of %" PRIu64
                        " bytes, where segment %u begins, must not take less time (o_s + L + o_r, or g) than "
                        "a message one byte smaller",
                        net->name, from, index + 1);
    }
    return IW_OK;
}

static iw_net_segment head(const iw_net_costs *costs)
{
    return (iw_net_segment){.from_bytes = 1,
                            .L_ps = costs->L_ps,
                            .o_send_ps = costs->o_send_ps,
                            .o_recv_ps = costs->o_recv_ps,
                            .g_ps = costs->g_ps,
                            .G = costs->G,
                            .O = costs->O};
}

static iw_status check_costs(const iw_log *log, const iw_net *net, const iw_net_costs *costs)
{
    const iw_net_segment first = head(costs);

    IW_TRY(check_parameters(log, net, &first));
    if (costs->segment_count > IW_NET_SEGMENTS_MAX) {
        return iwi_fail(log, IW_ERR_RANGE, "network '%s': %u segments are more than %d", net->name,
                        costs->segment_count, IW_NET_SEGMENTS_MAX);
    }
    for (uint32_t i = 0; i < costs->segment_count; i++) {
        IW_TRY(check_segment(log, net, costs, i));
    }
    for (uint32_t i = 0; i < costs->segment_count; i++) {
        IW_TRY(check_rising(log, net, costs, i));
    }
    return IW_OK;
}

/* Groups must be made of whole groups of the level inside. */
static iw_status check_inner(const iw_log *log, const iw_net *net, uint32_t index)
{
    const uint32_t ranks = net->inner[index].ranks, inside = index > 0 ? net->inner[index - 1].ranks : 0;

    if (ranks <= inside || (inside > 0 && ranks % inside != 0)) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "network '%s': level '%s' has groups of %u ranks: use a larger multiple of %u",
                        net->name, net->inner[index].name, ranks, inside > 0 ? inside : 1);
    }
    return check_costs(log, net, &net->inner[index].costs);
}

iw_status iw_net_check(const iw_log *log, const iw_net *net)
{
    IW_TRY(check_costs(log, net, &net->costs));
    if (net->inner_count > IW_NET_INNER_MAX) {
        return iwi_fail(log, IW_ERR_RANGE, "network '%s': %u levels are more than %d", net->name,
                        net->inner_count + 1, IW_NET_INNER_MAX + 1);
    }
    for (uint32_t i = 0; i < net->inner_count; i++) {
        IW_TRY(check_inner(log, net, i));
    }
    if (net->inner_count > 0 && net->placement == IW_PLACEMENT_LIST) {
        IW_TRY(iwi_places_check(log, net));
    }
    IW_TRY(check_value(log, net, "G of its NICs", net->nics.G, IWI_NET_MOST_FS_PER_BYTE,
                       "more than 1 us per byte"));
    if (net->memory.ranks > 0) {
        IW_TRY(iwi_memory_check(log, &net->memory));
    }
    IW_TRY(iwi_net_noise_check(log, net));
    return net_check_sharing(log, net);
}

/* Values above every limit stay so, without leaving int64_t. */
static int64_t divided(int64_t value, double factor)
{
    return llround(fmin((double)value / factor, 1e18));
}

/* Raises L and g of segments as far as it takes that no message takes less time than a smaller one. */
static void net_keep_rising(iw_net_costs *costs)
{
    for (uint32_t i = 0; i < costs->segment_count; i++) {
        iw_net_segment *segment = &costs->segments[i];
        const uint64_t from = segment->from_bytes;
        const iw_time time_short = whole(costs, from - 1) - whole(costs, from);
        const iw_time gap_short = iwi_cost_by(costs, from - 1).gap - iwi_cost_by(costs, from).gap;

        segment->L_ps += time_short > 0 ? time_short : 0;
        segment->g_ps += gap_short > 0 ? gap_short : 0;
    }
}

static iw_status scale_costs(const iw_log *log, const iw_net *net, iw_net_costs *costs, double factor)
{
    costs->L_ps = divided(costs->L_ps, factor);
    costs->g_ps = divided(costs->g_ps, factor);
    costs->G = divided(costs->G, factor);
    for (uint32_t i = 0; i < costs->segment_count; i++) {
        costs->segments[i].L_ps = divided(costs->segments[i].L_ps, factor);
        costs->segments[i].g_ps = divided(costs->segments[i].g_ps, factor);
        costs->segments[i].G = divided(costs->segments[i].G, factor);
    }
    for (uint32_t i = 0; i < costs->segment_count; i++) {
        IW_TRY(check_parameters(log, net, &costs->segments[i])); /* before sums are made of them */
    }
    net_keep_rising(costs); /* what was larger by L alone may be smaller when L shrinks and o does not */
    return IW_OK;
}

iw_status iw_net_scale(const iw_log *log, iw_net *net, double factor)
{
    iw_net scaled = *net;

    if (!(factor > 0) || !isfinite(factor)) {
        return iwi_fail(log, IW_ERR_RANGE, "a network cannot be %g times faster: the factor must be above 0",
                        factor);
    }
    IW_TRY(iw_net_check(log, net));
    IW_TRY(scale_costs(log, net, &scaled.costs, factor));
    for (uint32_t i = 0; i < net->inner_count; i++) {
        IW_TRY(scale_costs(log, net, &scaled.inner[i].costs, factor));
    }
    scaled.nics.G = divided(net->nics.G, factor);
    IW_TRY(iw_net_check(log, &scaled));
    *net = scaled;
    return IW_OK;
}

/* ---- another number of ranks on a node ---- */

/* Groups keep their share of a node, but have a rank at least. */
static iw_status resize(const iw_log *log, const iw_net *net, const char *what, uint32_t *ranks_p,
                        uint32_t from, uint32_t to)
{
    const uint64_t ranks = (uint64_t)*ranks_p * to;

    if (ranks > from && (ranks % from != 0 || ranks / from > UINT32_MAX)) {
        return iwi_fail(
            log, IW_ERR_RANGE,
            "network '%s' cannot have %u ranks per node: a %s has %u of its %u, and would have %s", net->name,
            to, what, *ranks_p, from, ranks % from != 0 ? "a fraction of a rank" : "too many");
    }
    *ranks_p = ranks > from ? (uint32_t)(ranks / from) : 1;
    return IW_OK;
}

static void drop_level(iw_net *net, uint32_t index)
{
    memmove(&net->inner[index], &net->inner[index + 1],
            (net->inner_count - index - 1) * sizeof net->inner[0]);
    net->inner_count--;
    net->nics.node_level -= net->nics.node_level > index;
    net->list.level -= net->list.level > index;
}

iw_status iw_net_resize_nodes(const iw_log *log, iw_net *net, uint32_t ranks)
{
    iw_net other = *net;
    uint32_t node, from;

    if (net->inner_count == 0) {
        return IW_OK;
    }
    if (ranks < 1) {
        return iwi_fail(log, IW_ERR_RANGE, "a node needs at least 1 rank");
    }
    node = iwi_node_level(net);
    from = net->inner[node].ranks;
    for (uint32_t i = 0; i < net->inner_count; i++) {
        if (i < node && (uint64_t)net->inner[i].ranks * ranks % from != 0) {
            other.inner[i].ranks = 1; /* sockets that differ: ranks meet in the node */
        } else {
            IW_TRY(resize(log, net, net->inner[i].name, &other.inner[i].ranks, from, ranks));
        }
    }
    if (net->memory.ranks > 0) {
        IW_TRY(resize(log, net, "memory domain", &other.memory.ranks, from, ranks));
    }
    if (other.nics.active > ranks) {
        other.nics.active = ranks;
    }
    for (; node > 0 && other.inner[0].ranks == 1; node--) { /* parts of nodes that have one rank are none */
        drop_level(&other, 0);
    }
    IW_TRY(iw_net_check(log, &other));
    *net = other;
    return IW_OK;
}
