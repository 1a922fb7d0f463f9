/* Evaluates what was measured of a network.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "features/network/net_points.h"

void iw_net_samples_free(iw_net_samples *samples)
{
    iwi_net_samples_drop(samples);
}

void iw_net_measured_free(iw_net_measured *measured)
{
    if (measured == NULL) {
        return;
    }
    for (size_t i = 0; measured->levels != NULL && i < measured->level_count; i++) {
        free(measured->levels[i].points);
    }
    free(measured->levels);
    free(measured->slow);
    free(measured->host_names);
    free(measured);
}

/* A message passes sender, wire and receiver in half a round trip; none of the three takes longer alone. */
static iw_estimate at_most(iw_estimate value, const iw_estimate *most)
{
    return value.value > most->value ? *most : value;
}

/* L = half round trip (or exchange) - o_s - o_r; what is uncertain about the overheads is uncertain about L.
 */
void iwi_net_smallest(iw_net_level *level)
{
    const iw_net_point *point = &level->points[0];
    const iw_estimate *whole = iwi_net_whole(point), *send = &point->o_send, *recv = &point->o_recv;
    const double down =
        hypot(whole->value - whole->low, hypot(send->high - send->value, recv->high - recv->value));
    const double up =
        hypot(whole->high - whole->value, hypot(send->value - send->low, recv->value - recv->low));
    const double L = whole->value - send->value - recv->value;

    level->half_round_trip = point->half_round_trip;
    level->exchange = point->exchange;
    level->o_send = *send;
    level->o_recv = *recv;
    level->gap = at_most(point->gap, whole);
    level->L = (iw_estimate){fmax(L, 0), fmax(L - down, 0), fmax(L + up, 0)};
}

static int slowest_first(const void *a, const void *b)
{
    const iw_net_slow_link *x = a, *y = b;
    const double slow_x = fmax(x->small_factor, x->large_factor),
                 slow_y = fmax(y->small_factor, y->large_factor);

    return (slow_x < slow_y) - (slow_x > slow_y);
}

/* Only what stayed slow while all others were silent counts. */
static iw_status find_slow_links(const iw_log *log, const iw_net_samples *samples, iw_net_measured *measured)
{
    double *scratch = iwi_new_array(log, samples->link_count, sizeof *scratch);
    double small[2], large[2];

    measured->slow = iwi_new_array(log, samples->link_count, sizeof *measured->slow);
    if (scratch == NULL || measured->slow == NULL) {
        free(scratch);
        return IW_ERR_NOMEM;
    }
    for (int inside = 0; inside < 2; inside++) {
        iwi_net_link_medians(samples->links, samples->link_count, inside == 1, scratch, &small[inside],
                             &large[inside]);
    }
    for (size_t i = 0; i < samples->link_count; i++) {
        const iw_net_link *link = &samples->links[i];
        const double median_small = small[link->is_inside], median_large = large[link->is_inside];

        if (iwi_net_is_slow(link->alone_small_ns, median_small) ||
            iwi_net_is_slow(link->alone_large_ns, median_large)) {
            measured->slow[measured->slow_count++] =
                (iw_net_slow_link){.ranks = {link->ranks[0], link->ranks[1]},
                                   .small_round_trip_ns = link->alone_small_ns,
                                   .large_round_trip_ns = link->alone_large_ns,
                                   .small_factor = link->alone_small_ns / median_small,
                                   .large_factor = link->alone_large_ns / median_large};
        }
    }
    qsort(measured->slow, measured->slow_count, sizeof *measured->slow, slowest_first);
    free(scratch);
    return IW_OK;
}

static iw_status evaluate_levels(const iw_log *log, const iw_net_samples *samples, iw_net_measured *measured)
{
    measured->levels = iwi_new_array(log, samples->level_count, sizeof *measured->levels);
    if (measured->levels == NULL) {
        return IW_ERR_NOMEM;
    }
    measured->level_count = samples->level_count;
    for (size_t i = 0; i < samples->level_count; i++) {
        const iw_net_level_samples *of = &samples->levels[i];
        iw_net_level *level = &measured->levels[i];

        *level = (iw_net_level){.ranks = {of->ranks[0], of->ranks[1]},
                                .eager_computing = of->eager_computing,
                                .eager_inside = of->eager_inside};
        memcpy(level->name, of->name, sizeof level->name);
        IW_TRY(iwi_net_points(log, of, level));
        iwi_net_smallest(level);
        iwi_net_segments(level, &iwi_net_own_fineness);
    }
    return IW_OK;
}

static iw_status copy_facts(const iw_log *log, const iw_net_samples *samples, iw_net_measured *measured)
{
    measured->launches = 1;
    measured->host_names = iwi_new_array(log, samples->ranks, sizeof *measured->host_names);
    if (measured->host_names == NULL) {
        return IW_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < samples->ranks; i++) {
        memcpy(measured->host_names[i], samples->host_names[i], sizeof measured->host_names[i]);
    }
    measured->ranks = samples->ranks;
    measured->hosts = samples->hosts;
    memcpy(measured->mpi_version, samples->mpi_version, sizeof measured->mpi_version);
    measured->calls = samples->calls;
    memcpy(measured->clock, samples->clock, sizeof measured->clock);
    memcpy(measured->warning, samples->warning, sizeof measured->warning);
    measured->large_bytes = samples->large_bytes;
    measured->pair_count = samples->pair_count;
    measured->link_count = samples->link_count;
    measured->seconds = samples->seconds;
    return IW_OK;
}

iw_status iw_net_evaluate(const iw_log *log, const iw_net_samples *samples, iw_net_measured **measured_p)
{
    iw_net_measured *measured = iwi_new_array(log, 1, sizeof *measured);
    iw_status status;

    if (measured == NULL) {
        return IW_ERR_NOMEM;
    }
    status = copy_facts(log, samples, measured);
    if (status == IW_OK) {
        status = evaluate_levels(log, samples, measured);
    }
    if (status == IW_OK) {
        status = find_slow_links(log, samples, measured);
    }
    if (status != IW_OK) {
        iw_net_measured_free(measured);
        return status;
    }
    *measured_p = measured;
    return IW_OK;
}
