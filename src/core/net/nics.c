/* NICs that the ranks of a node share, and links that are narrower than what is below them: what they leave
 * to each rank (docs/explanation/semantics.md, rule 12).
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/net/net.h"

#include <math.h>

#include "core/base/base.h"

enum { MAX_NICS = 1024 };
static const double MAX_TAPER = 1000.0;

/* ---- checks ---- */

static iw_status check_nics(const iw_log *log, const iw_net *net)
{
    const iw_net_nics *nics = &net->nics;
    const iw_net_inner *node = nics->node_level < net->inner_count ? &net->inner[nics->node_level] : NULL;

    if (node == NULL) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "network '%s' has NICs, but no level that is their node: give it levels", net->name);
    }
    if (nics->count > MAX_NICS) {
        return iwi_fail(log, IW_ERR_RANGE, "network '%s': %u NICs in a node are more than %d", net->name,
                        nics->count, MAX_NICS);
    }
    if (nics->active > node->ranks) {
        return iwi_fail(log, IW_ERR_RANGE, "network '%s': %u ranks of a %s of %u cannot be active", net->name,
                        nics->active, node->name, node->ranks);
    }
    if (node->taper > 0.0) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "network '%s': what leads out of a %s are its NICs: leave its taper out", net->name,
                        node->name);
    }
    return IW_OK;
}

iw_status iwi_net_check_sharing(const iw_log *log, const iw_net *net)
{
    for (uint32_t i = 0; i < net->inner_count; i++) {
        const double taper = net->inner[i].taper;

        if (taper != 0.0 && !(taper >= 1.0 && taper <= MAX_TAPER)) {
            return iwi_fail(log, IW_ERR_RANGE, "network '%s': the taper of level '%s' is not in 1 ... %g",
                            net->name, net->inner[i].name, MAX_TAPER);
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

    if (shared > (double)IWI_NET_MAX_FS_PER_BYTE) {
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
    iwi_net_keep_rising(costs);
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
