/* The noise of networks in YAML (docs/reference/formats/net.md).
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
            "for instance [0.99, 3us], or {series: [0*20, 1.5us], every: 4us}");
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

static iw_status read_quantiles(struct iwi_yaml *yaml, const yaml_node_t *node, iw_net *net)
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

/* ---- series ---- */

struct delays {
    iw_time *ps;
    size_t count, capacity;
};

/* "1.5us"; "1.5us*20": 20 times in a row. */
static iw_status parse_item(const iw_log *log, const char *text, iw_time *delay_p, uint64_t *times_p)
{
    const char *star = strchr(text, '*');
    char delay[48];

    *times_p = 1;
    (void)snprintf(delay, sizeof delay, "%.*s", star == NULL ? 47 : (int)iwi_min(star - text, 47), text);
    if (star != NULL) {
        IW_TRY(iw_parse_count(log, star + 1, times_p));
    }
    return iw_parse_time(log, delay, delay_p);
}

static iw_status read_item(struct iwi_yaml *yaml, const yaml_node_t *item, struct delays *delays)
{
    struct iwi_log_keeper keeper;
    const char *text;
    iw_time delay;
    uint64_t times;
    iw_status status;

    IW_TRY(iwi_yaml_text(yaml, item, "series", &text));
    iwi_log_keeper_init(&keeper, yaml->log);
    status = parse_item(&keeper.log, text, &delay, &times);
    if (status != IW_OK) {
        return iwi_yaml_fail(yaml, iwi_yaml_line(item), status,
                             "key 'series': '%.40s' is no delay, for instance 1.5us, or 1.5us*20 for 20 of "
                             "them: %s",
                             text, keeper.text);
    }
    if (times > IW_NET_SERIES_MAX - delays->count) {
        return iwi_yaml_fail(yaml, iwi_yaml_line(item), IW_ERR_RANGE,
                             "key 'series': there may be up to 2^20 delays");
    }
    IW_TRY(iwi_grow(yaml->log, (void **)&delays->ps, &delays->capacity, delays->count + (size_t)times,
                    sizeof *delays->ps));
    for (; times > 0; times--) {
        delays->ps[delays->count++] = delay;
    }
    return IW_OK;
}

/* The limits of a network, with the place. */
static iw_status set_series(struct iwi_yaml *yaml, size_t line, const struct delays *delays, iw_time every_ps,
                            iw_net *net)
{
    struct iwi_log_keeper keeper;
    iw_status status;

    iwi_log_keeper_init(&keeper, yaml->log);
    status = iw_net_set_series(&keeper.log, net, delays->ps, (uint32_t)delays->count, every_ps);
    return status == IW_OK ? IW_OK : iwi_yaml_fail(yaml, line, status, "%s", keeper.text);
}

static iw_status read_series(struct iwi_yaml *yaml, const yaml_node_t *node, iw_net *net)
{
    enum { KEY_SERIES, KEY_EVERY, KEYS };
    static const struct iwi_yaml_key keys[KEYS] = {
        [KEY_SERIES] = {"series", NULL}, [KEY_EVERY] = {"every", NULL}};
    const size_t line = iwi_yaml_line(node);
    struct iwi_yaml_entry entries[KEYS];
    struct delays delays = {.count = 0};
    struct iwi_log_keeper keeper;
    const char *every;
    iw_time every_ps;
    iw_status status;

    IW_TRY(iwi_yaml_mapping(yaml, node, keys, KEYS, entries));
    if (entries[KEY_SERIES].value == NULL || entries[KEY_EVERY].value == NULL) {
        return iwi_yaml_fail(yaml, line, IW_ERR_FORMAT,
                             "key 'noise': a series needs its delays and how long each of them holds, for "
                             "instance {series: [0*20, 1.5us], every: 4us}");
    }
    IW_TRY(iwi_yaml_text(yaml, entries[KEY_EVERY].value, "every", &every));
    iwi_log_keeper_init(&keeper, yaml->log);
    status = iw_parse_time(&keeper.log, every, &every_ps);
    if (status != IW_OK) {
        return iwi_yaml_fail(yaml, entries[KEY_EVERY].line, status, "key 'every': %s", keeper.text);
    }
    for (size_t i = 0; i < iwi_yaml_item_count(entries[KEY_SERIES].value) && status == IW_OK; i++) {
        status = read_item(yaml, iwi_yaml_item(yaml, entries[KEY_SERIES].value, i), &delays);
    }
    status = status == IW_OK ? set_series(yaml, line, &delays, every_ps, net) : status;
    free(delays.ps);
    return status;
}

iw_status iwi_net_read_noise(struct iwi_yaml *yaml, const yaml_node_t *node, iw_net *net)
{
    return node->type == YAML_MAPPING_NODE ? read_series(yaml, node, net) : read_quantiles(yaml, node, net);
}
