/* From round trips to overheads and gaps at each size.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/network/net_points.h"

#include <math.h>
#include <stdlib.h>

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

const iw_estimate *iwi_net_whole(const iw_net_point *point)
{
    return point->exchange.value > 0 ? &point->exchange : &point->half_round_trip;
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

static int by_bytes(const void *a, const void *b)
{
    const iw_net_point *x = a, *y = b;

    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

iw_status iwi_net_points(const iw_log *log, const iw_net_level_samples *samples, iw_net_level *level)
{
    level->points = iwi_new_array(log, samples->series_count, sizeof *level->points);
    if (level->points == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < samples->series_count; i++) {
        const iw_net_series *series = &samples->series[i];

        if (series->quantity == IW_NET_ROUND_TRIP && series->count > 0 &&
            series->count <= IWI_NET_ROUNDS_MAX) {
            fill(samples, series, &level->points[level->point_count++]);
        }
    }
    if (level->point_count == 0 || level->point_count > IWI_NET_POINTS_MAX) {
        return iwi_fail(log, IW_ERR_RANGE, "level '%s' was measured at %zu sizes; 1 to %d can be evaluated",
                        samples->name, level->point_count, IWI_NET_POINTS_MAX);
    }
    qsort(level->points, level->point_count, sizeof *level->points, by_bytes);
    return IW_OK;
}
