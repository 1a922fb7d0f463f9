/* By how much the network delays a message (docs/explanation/semantics.md, rule 16).
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_NET_NOISE_H
#define IWI_NET_NOISE_H

#include <idlewave/net.h>

#include "core/base/rng.h"

/* What travels: a message, and what a rendezvous sends before it. Each has draws of its own. */
enum iwi_carried { IWI_CARRIED_DATA, IWI_CARRIED_REQUEST, IWI_CARRIED_ANSWER };

/* Of a noise with points: the delay that a share u of all messages does not exceed, 0 < u < 1. */
static inline iw_time iwi_net_noise_quantile(const iw_net_noise *noise, double u)
{
    uint32_t below = 0, above = noise->point_count - 1;

    while (above - below > 1) {
        const uint32_t middle = (below + above) / 2;

        if (noise->points[middle].share <= u) {
            below = middle;
        } else {
            above = middle;
        }
    }
    const iw_net_noise_point *from = &noise->points[below], *to = &noise->points[above];
    const double part = (u - from->share) / (to->share - from->share);

    return from->delay_ps + (iw_time)(part * (double)(to->delay_ps - from->delay_ps) + 0.5);
}

/* Random bits for what the send has carried that has `number` others of its rank before it in program order:
 * those of `trial` and of its neighbours. */
static inline struct iwi_draw_block iwi_net_noise_bits(uint64_t seed, uint64_t trial, uint32_t sender,
                                                       uint64_t number, enum iwi_carried what)
{
    return iwi_draw_block((struct iwi_draw_id){seed, trial, IWI_DRAW_MESSAGE, (uint32_t)what, sender},
                          number);
}

/* The delay that random bits stand for. */
static inline iw_time iwi_net_noise_of(const iw_net_noise *noise, uint64_t bits)
{
    return iwi_net_noise_quantile(noise, iwi_unit_of(bits));
}

/* Messages at this level and further out are delayed: those that leave a node. */
uint32_t iwi_net_noise_level(const iw_net *net);

/* Points in order, from a share of 0 to one of 1. IW_ERR_RANGE (logged). */
IW_NODISCARD iw_status iwi_net_noise_check(const iw_log *log, const iw_net *net);

#endif
