/* The noise of a network: what may stand in it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/net/net_noise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/net/level.h"

#define MOST_DELAY_PS (INT64_C(3600) * IW_PS_PER_S)

uint32_t iwi_net_noise_level(const iw_net *net)
{
    return net->inner_count == 0 ? 0 : iwi_node_level(net) + 1;
}

void iwi_delay_table_init(const iw_net_noise *noise, struct iwi_delay_table *table)
{
    const uint32_t last = noise->point_count - 1;
    uint32_t point = 0;

    table->series = noise->series.count > 0 ? &noise->series : NULL;
    if (table->series != NULL) {
        return;
    }
    for (uint32_t i = 0; i < last; i++) {
        const iw_net_noise_point *from = &noise->points[i], *to = from + 1;

        table->share[i] = from->share;
        table->delay_ps[i] = (double)from->delay_ps;
        table->slope_ps[i] = (double)(to->delay_ps - from->delay_ps) / (to->share - from->share);
    }
    table->share[last] = 2.0;
    for (uint32_t byte = 0; byte < 256; byte++) {
        while (table->share[point + 1] <= byte / 256.0) {
            point++;
        }
        table->first[byte] = (uint8_t)point;
    }
}

iw_time iwi_series_offset(const iw_delay_series *series, uint64_t seed, uint64_t trial, uint32_t node,
                          uint32_t other)
{
    const uint32_t lower = node < other ? node : other, higher = node < other ? other : node;

    return (iw_time)iwi_draw_below((struct iwi_draw_id){seed, trial, IWI_DRAW_PAIR, 0, lower}, higher,
                                   (uint64_t)series->every_ps * series->count);
}

static iw_status check_series(const iw_log *log, const iw_net *net, const iw_delay_series *series)
{
    if (net->noise.point_count > 0) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "network '%s': its noise is either quantiles or a series, not both", net->name);
    }
    if (series->count > IW_NET_SERIES_MAX) {
        return iwi_fail(log, IW_ERR_RANGE, "network '%s': the series of its noise has more than 2^20 delays",
                        net->name);
    }
    if (series->every_ps < 1 || series->every_ps > IW_TIME_INPUT_MAX / series->count) {
        return iwi_fail(
            log, IW_ERR_RANGE,
            "network '%s': the series of its noise must last from 1 ps per delay to 10 days in all",
            net->name);
    }
    for (uint32_t i = 0; i < series->count; i++) {
        if (series->delays_ps[i] < 0 || series->delays_ps[i] > MOST_DELAY_PS) {
            return iwi_fail(log, IW_ERR_RANGE,
                            "network '%s': delay %u in the series of its noise must be from 0 to 1 h",
                            net->name, i + 1);
        }
    }
    return IW_OK;
}

static iw_status check_points(const iw_log *log, const iw_net *net)
{
    const iw_net_noise *noise = &net->noise;
    const iw_net_noise_point *points = noise->points;
    const uint32_t count = noise->point_count;

    if (count < 2 || count > IW_NET_NOISE_POINTS_MAX || points[0].share != 0.0 ||
        points[count - 1].share != 1.0) {
        return iwi_fail(
            log, IW_ERR_RANGE,
            "network '%s': its noise needs 2 to %d quantiles, the first for a share of 0 and the last for "
            "a share of 1",
            net->name, IW_NET_NOISE_POINTS_MAX);
    }
    for (uint32_t i = 0; i < count; i++) {
        const bool is_rising =
            i == 0 || (points[i].share > points[i - 1].share && points[i].delay_ps >= points[i - 1].delay_ps);

        if (!is_rising || points[i].delay_ps < 0 || points[i].delay_ps > MOST_DELAY_PS) {
            return iwi_fail(log, IW_ERR_RANGE,
                            "network '%s': quantile %u of its noise must have a larger share than the "
                            "previous one, and a delay not below it and at most 1 h",
                            net->name, i + 1);
        }
    }
    return IW_OK;
}

iw_status iwi_net_noise_check(const iw_log *log, const iw_net *net)
{
    if (net->noise.series.count > 0) {
        return check_series(log, net, &net->noise.series);
    }
    return net->noise.point_count > 0 ? check_points(log, net) : IW_OK;
}

iw_status iw_net_set_series(const iw_log *log, iw_net *net, const iw_time *delays_ps, uint32_t count,
                            iw_time every_ps)
{
    iw_delay_series series = {.count = count, .every_ps = every_ps};
    iw_net noisy = *net;
    double sum = 0.0;
    iw_status status;

    if (count == 0) {
        return iwi_fail(log, IW_ERR_RANGE, "network '%s': the series of its noise is empty", net->name);
    }
    series.delays_ps = iwi_new_array(log, count, sizeof *series.delays_ps);
    if (series.delays_ps == NULL) {
        return IW_ERR_NOMEM;
    }
    memcpy(series.delays_ps, delays_ps, count * sizeof *delays_ps);
    noisy.noise = (iw_net_noise){.series = series};
    status = check_series(log, &noisy, &series);
    if (status != IW_OK) {
        free(series.delays_ps);
        return status;
    }
    for (uint32_t i = 0; i < count; i++) {
        sum += (double)delays_ps[i];
        series.longest_ps = iwi_max(series.longest_ps, delays_ps[i]);
    }
    series.mean_ps = llround(sum / count);
    free(net->noise.series.delays_ps);
    net->noise = (iw_net_noise){.series = series};
    return IW_OK;
}

bool iw_net_is_noisy(const iw_net *net)
{
    return net->noise.point_count > 0 || net->noise.series.count > 0;
}

iw_time iw_net_noise_longest_ps(const iw_net_noise *noise)
{
    if (noise->series.count > 0) {
        return noise->series.longest_ps;
    }
    return noise->point_count > 0 ? noise->points[noise->point_count - 1].delay_ps : 0;
}

double iw_net_noise_mean_ps(const iw_net_noise *noise)
{
    double sum = (double)noise->series.mean_ps;

    for (uint32_t i = 1; i < noise->point_count; i++) {
        const iw_net_noise_point *from = &noise->points[i - 1], *to = &noise->points[i];

        sum += (to->share - from->share) * (double)(from->delay_ps + to->delay_ps) / 2.0;
    }
    return sum;
}
