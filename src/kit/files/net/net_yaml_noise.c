/* The noise of networks in YAML (docs/reference/formats/net.md).
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/time.h>

#include "core/base/base.h"
#include "kit/files/net/net_yaml_keys.h"

/* "[0.99, 3us]": 99 % of all messages are delayed by at most 3 us. */
static iw_status read_point(struct iwi_yaml *yaml, const yaml_node_t *node, iw_net_noise_point *point)
{
    const size_t line = iwi_yaml_line(node);
    struct iwi_log_keeper keeper;
    const char *share, *delay;
    iw_status status;

    if (iwi_yaml_item_count(node) != 2) {
        return iwi_yaml_fail(
            yaml, line, IW_ERR_FORMAT,
            "key 'noise': write pairs of a share of messages and what they are delayed by at most, "
            "for instance [0.99, 3us]");
    }
    IW_TRY(iwi_yaml_text(yaml, iwi_yaml_item(yaml, node, 0), "noise", &share));
    IW_TRY(iwi_yaml_text(yaml, iwi_yaml_item(yaml, node, 1), "noise", &delay));
    iwi_log_keeper_init(&keeper, yaml->log);
    status = iw_parse_share(&keeper.log, share, &point->share);
    if (status == IW_OK) {
        status = iw_parse_time(&keeper.log, delay, &point->delay_ps);
    }
    return status == IW_OK ? IW_OK : iwi_yaml_fail(yaml, line, status, "key 'noise': %s", keeper.text);
}

iw_status iwi_net_read_noise(struct iwi_yaml *yaml, const yaml_node_t *node, iw_net *net)
{
    const size_t count = iwi_yaml_item_count(node);

    if (count > IW_NET_NOISE_POINTS_MAX) {
        return iwi_yaml_fail(yaml, iwi_yaml_line(node), IW_ERR_RANGE,
                             "key 'noise': %zu quantiles are more than %d", count, IW_NET_NOISE_POINTS_MAX);
    }
    for (size_t i = 0; i < count; i++) {
        IW_TRY(read_point(yaml, iwi_yaml_item(yaml, node, i), &net->noise.points[i]));
    }
    net->noise.point_count = (uint32_t)count;
    return iwi_net_check_at(yaml, iwi_yaml_line(node), net);
}
