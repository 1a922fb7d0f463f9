/* The noise of a network: what may stand in it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/net/net_noise.h"

#include "core/base/base.h"
#include "core/net/level.h"

#define MAX_DELAY_PS (INT64_C(3600) * IW_PS_PER_S)

uint32_t iwi_net_noise_level(const iw_net *net)
{
    return net->inner_count == 0 ? 0 : iwi_node_level(net) + 1;
}

void iwi_delay_table_init(const iw_net_noise *noise, struct iwi_delay_table *table)
{
    const uint32_t last = noise->point_count - 1;
    uint32_t point = 0;

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

iw_status iwi_net_noise_check(const iw_log *log, const iw_net *net)
{
    const iw_net_noise *noise = &net->noise;
    const iw_net_noise_point *points = noise->points;
    const uint32_t count = noise->point_count;

    if (count == 0) {
        return IW_OK;
    }
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

        if (!is_rising || points[i].delay_ps < 0 || points[i].delay_ps > MAX_DELAY_PS) {
            return iwi_fail(
                log, IW_ERR_RANGE,
                "network '%s': quantile %u of its noise must have a larger share than the one before it, "
                "and a delay that is no smaller, and at most 1 h",
                net->name, i + 1);
        }
    }
    return IW_OK;
}

double iw_net_noise_mean_ps(const iw_net_noise *noise)
{
    double sum = 0.0;

    for (uint32_t i = 1; i < noise->point_count; i++) {
        const iw_net_noise_point *from = &noise->points[i - 1], *to = &noise->points[i];

        sum += (to->share - from->share) * (double)(from->delay_ps + to->delay_ps) / 2.0;
    }
    return sum;
}
