/* Evaluates what was measured of a network.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/order.h"
#include "features/network/net_fit.h"
#include "features/network/net_points.h"

static iw_status fill_points(const iw_log *log, const iw_net_level_samples *samples, iw_net_level *level);

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

IWI_COMPARE(slowest_first, iw_net_slow_link,
            IWI_ORDER(fmax(right->small_factor, right->large_factor),
                      fmax(left->small_factor, left->large_factor)))

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
    iwi_sort(measured->slow, measured->slow_count, slowest_first);
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
        IW_TRY(fill_points(log, of, level));
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

/* From round trips to overheads and gaps at each size. */

static iw_estimate times(iw_estimate value, double factor)
{
    return (iw_estimate){value.value * factor, value.low * factor, value.high * factor};
}

/* Intervals of independent values: the distances add as the sides of a right angle do. Times are not
 * negative. */
static iw_estimate minus(iw_estimate a, iw_estimate b)
{
    const double down = hypot(a.value - a.low, b.high - b.value);
    const double up = hypot(a.high - a.value, b.value - b.low);
    const double median = a.value - b.value;

    return (iw_estimate){fmax(median, 0), fmax(median - down, 0), fmax(median + up, 0)};
}

static iw_estimate value_of(const iw_net_series *series)
{
    return iwi_net_median(series->values_ns, series->count);
}

/* PRTT(n,0,s) = PRTT(1,0,s) + (n-1) gap */
static iw_estimate gap_of(const iw_net_series *train, iw_estimate round_trip)
{
    return times(minus(value_of(train), round_trip), 1.0 / (train->n - 1));
}

/* PRTT(n,d,s) - (n-1) d = PRTT(1,0,s) + (n-1) o_s */
static iw_estimate o_send_of(const iw_net_series *send, iw_estimate round_trip)
{
    return send->n == 0 ? value_of(send) : times(minus(value_of(send), round_trip), 1.0 / (send->n - 1));
}

/* n round trips whose receives find their messages there, without the time spun: n (o_s + o_r) */
static iw_estimate o_recv_of(const iw_net_series *recv, iw_estimate o_send)
{
    return recv->n == 0 ? value_of(recv) : minus(times(value_of(recv), 1.0 / recv->n), o_send);
}

static void fill(const iw_net_level_samples *samples, const iw_net_series *round_trip, iw_net_point *point)
{
    const iw_net_series *train = iwi_net_find(samples, IW_NET_TRAIN, round_trip->bytes);
    const iw_net_series *send = iwi_net_find(samples, IW_NET_SEND, round_trip->bytes);
    const iw_net_series *recv = iwi_net_find(samples, IW_NET_RECV, round_trip->bytes);
    const iw_net_series *exchange = iwi_net_find(samples, IW_NET_EXCHANGE, round_trip->bytes);
    const iw_estimate whole = value_of(round_trip);

    *point = (iw_net_point){.bytes = round_trip->bytes, .samples = round_trip->samples};
    point->half_round_trip = times(whole, 0.5);
    if (train != NULL && train->n > 1) {
        point->gap = gap_of(train, whole);
        point->samples += train->samples;
    }
    if (send != NULL && send->n != 1) {
        point->o_send = o_send_of(send, whole);
        point->samples += send->samples;
    }
    if (recv != NULL) {
        point->o_recv = o_recv_of(recv, point->o_send);
        point->samples += recv->samples;
    }
    if (exchange != NULL && exchange->count > 0 && exchange->n > 0) {
        point->exchange = times(value_of(exchange), 1.0 / exchange->n);
        point->samples += exchange->samples;
    }
}

IWI_COMPARE(by_bytes, iw_net_point, IWI_RISING(bytes))

/* Fills level->points from the samples, by size. IW_ERR_RANGE if there are none, IW_ERR_NOMEM. */
static iw_status fill_points(const iw_log *log, const iw_net_level_samples *samples, iw_net_level *level)
{
    level->points = iwi_new_array(log, samples->series_count, sizeof *level->points);
    if (level->points == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < samples->series_count; i++) {
        const iw_net_series *series = &samples->series[i];

        if (series->quantity == IW_NET_ROUND_TRIP && series->count > 0 &&
            series->count <= IWI_MOST_NET_ROUNDS) {
            fill(samples, series, &level->points[level->point_count++]);
        }
    }
    if (level->point_count == 0 || level->point_count > IWI_MOST_NET_POINTS) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "level '%s' was measured at %zu sizes, but 1 to %d can be evaluated", samples->name,
                        level->point_count, IWI_MOST_NET_POINTS);
    }
    iwi_sort(level->points, level->point_count, by_bytes);
    return IW_OK;
}
