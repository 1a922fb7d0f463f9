/* By how much the network delays a message (docs/explanation/semantics.md, rule 16).
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_NET_NOISE_H
#define IWI_NET_NOISE_H

#include <idlewave/net.h>

#include "core/base/rng.h"

/* What travels: a message, and what a rendezvous sends before it. Each has draws of its own. */
enum iwi_carried { IWI_CARRIED_DATA, IWI_CARRIED_REQUEST, IWI_CARRIED_ANSWER };

/* When which way something leaves. */
struct iwi_leaving {
    iw_time time;
    uint64_t number; /* of sends that its rank has before it in program order */
    uint32_t from, to;
    enum iwi_carried what;
};

/* The noise of a network, ready for many draws. */
struct iwi_delay_table {
    const iw_delay_series *series; /* NULL: quantiles, which follow */

    double share[IW_NET_NOISE_POINTS_MAX + 1]; /* of its points, rising; then more than any share */
    double delay_ps[IW_NET_NOISE_POINTS_MAX], slope_ps[IW_NET_NOISE_POINTS_MAX]; /* up to the next point */
    uint8_t first[256]; /* for bits that begin with this byte: the last point at or below all of them */
};

/* Of a noise that iwi_net_noise_check() has seen, with points. */
void iwi_delay_table_init(const iw_net_noise *noise, struct iwi_delay_table *table);

/* Random bits for what the send has carried that has `number` others of its rank before it in program order:
 * those of `trial` and of its neighbours. */
static inline struct iwi_draw_block iwi_net_noise_bits(uint64_t seed, uint64_t trial, uint32_t sender,
                                                       uint64_t number, enum iwi_carried what)
{
    return iwi_draw_block((struct iwi_draw_id){seed, trial, IWI_DRAW_MESSAGE, (uint32_t)what, sender},
                          number);
}

/* The delay that random bits stand for: that which a share u of all messages does not exceed, 0 < u < 1. */
static inline iw_time iwi_delay_of(const struct iwi_delay_table *table, uint64_t bits)
{
    const double u = iwi_unit_of(bits);
    uint32_t point = table->first[bits >> 56];

    while (table->share[point + 1] <= u) {
        point++;
    }
    return (iw_time)(table->delay_ps[point] + (u - table->share[point]) * table->slope_ps[point] + 0.5);
}

/* Where in the series a pair of nodes is at time 0. */
iw_time iwi_series_offset(const iw_delay_series *series, uint64_t seed, uint64_t trial, uint32_t node,
                          uint32_t other);

/* The delay of what leaves at `time`, with that offset. */
static inline iw_time iwi_series_delay(const iw_delay_series *series, iw_time offset, iw_time time)
{
    return series->delays_ps[(uint64_t)(offset + time) / (uint64_t)series->every_ps % series->count];
}

/* Messages at this level and further out are delayed: those that leave a node. */
uint32_t iwi_net_noise_level(const iw_net *net);

/* Points in order, from a share of 0 to one of 1. IW_ERR_RANGE (logged). */
IW_NODISCARD iw_status iwi_net_noise_check(const iw_log *log, const iw_net *net);

#endif
