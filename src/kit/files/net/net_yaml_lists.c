/* Long lists of networks in YAML (docs/reference/formats/net.md): their noise, quantiles or a series of
 * delays, and the node of each rank.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <idlewave/time.h>

#include "core/base/base.h"
#include "core/net/level.h"
#include "kit/files/net/net_yaml.h"

#define MOST_RANKS (UINT64_C(1) << 26)

/* "7*128": 7, 128 times; "7": once. */
struct repeated {
    char text[48];
    uint64_t times;
    char subject[192]; /* for messages of the item's parser */
};

static iw_status split_item(const struct iwi_yaml_value *item, const char *what, struct repeated *it)
{
    const char *text, *star;

    IW_TRY(iwi_yaml_string(item, &text));
    star = strchr(text, '*');
    it->times = 1;
    snprintf(it->subject, sizeof it->subject, "key '%s': '%.40s' is not a %s: ", item->row->key, text, what);
    snprintf(it->text, sizeof it->text, "%.*s", star == NULL ? 47 : (int)iwi_min(star - text, 47), text);
    return star == NULL
               ? IW_OK
               : iw_parse_count(iwi_yaml_log(item->yaml, item->line, it->subject), star + 1, &it->times);
}

/* ---- noise: quantiles ---- */

/* "[0.99, 3us]": 99 % of all messages are delayed by at most 3 us. */
static iw_status read_point(const struct iwi_yaml_value *pair, iw_net_noise_point *point)
{
    struct iwi_yaml_value share, delay;

    if (iwi_yaml_items(pair) != 2) {
        return iwi_yaml_refuse(pair, IW_ERR_FORMAT,
                               "write pairs of a share of messages and their largest delay, for instance "
                               "[0.99, 3us], or {series: [0*20, 1.5us], every: 4us}");
    }
    share = iwi_yaml_nth(pair, 0);
    delay = iwi_yaml_nth(pair, 1);
    IW_TRY(iwi_yaml_share(&share, &point->share));
    return iwi_yaml_time(&delay, &point->delay_ps);
}

static iw_status read_quantiles(const struct iwi_yaml_value *value, iw_net *net)
{
    const size_t count = iwi_yaml_items(value);

    if (count > IW_NET_NOISE_POINTS_MAX) {
        return iwi_yaml_refuse(value, IW_ERR_RANGE, "%zu quantiles are more than %d", count,
                               IW_NET_NOISE_POINTS_MAX);
    }
    for (size_t i = 0; i < count; i++) {
        const struct iwi_yaml_value pair = iwi_yaml_nth(value, i);

        IW_TRY(read_point(&pair, &net->noise.points[i]));
    }
    net->noise.point_count = (uint32_t)count;
    return iw_net_check(iwi_yaml_log(value->yaml, value->line, ""), net);
}

/* ---- noise: a series ---- */

struct delays {
    iw_time *ps;
    size_t count, capacity;
    iw_time every_ps;
};

/* "1.5us"; "1.5us*20": 20 times in a row. */
static iw_status read_delay(const struct iwi_yaml_value *item, struct delays *delays)
{
    struct repeated it;
    iw_time delay;

    IW_TRY(split_item(item, "delay, for instance 1.5us, or 1.5us*20 for 20 of them", &it));
    IW_TRY(iw_parse_time(iwi_yaml_log(item->yaml, item->line, it.subject), it.text, &delay));
    if (it.times > IW_NET_SERIES_MAX - delays->count) {
        return iwi_yaml_refuse(item, IW_ERR_RANGE, "at most 2^20 delays");
    }
    IW_TRY(iwi_grow(item->yaml->log, (void **)&delays->ps, &delays->capacity,
                    delays->count + (size_t)it.times, sizeof *delays->ps));
    for (; it.times > 0; it.times--) {
        delays->ps[delays->count++] = delay;
    }
    return IW_OK;
}

static iw_status read_delays(const struct iwi_yaml_value *value, void *at)
{
    for (size_t i = 0; i < iwi_yaml_items(value); i++) {
        const struct iwi_yaml_value item = iwi_yaml_nth(value, i);

        IW_TRY(read_delay(&item, at));
    }
    return IW_OK;
}

static iw_status read_series(const struct iwi_yaml_value *value, iw_net *net)
{
    static const struct iwi_yaml_row rows[] = {
        {.key = "series", .read = read_delays},
        IWI_YAML_ROW(struct delays, "every", every_ps, iwi_yaml_time),
    };
    struct delays delays = {.count = 0};
    struct iwi_yaml_map map;
    iw_status status;

    IW_TRY(iwi_yaml_find(value->yaml, value->node, IWI_YAML_ROWS(rows), &map));
    if (iwi_yaml_get(&map, "series") == NULL || iwi_yaml_get(&map, "every") == NULL) {
        return iwi_yaml_refuse(value, IW_ERR_FORMAT,
                               "a series needs its delays and the duration of each, for instance {series: "
                               "[0*20, 1.5us], every: 4us}");
    }
    status = iwi_yaml_read(&map, &delays);
    if (status == IW_OK) {
        status = iw_net_set_series(iwi_yaml_log(value->yaml, value->line, ""), net, delays.ps,
                                   (uint32_t)delays.count, delays.every_ps);
    }
    free(delays.ps);
    return status;
}

iw_status iwi_net_read_noise(const struct iwi_yaml_value *value, iw_net *net)
{
    return value->node->type == YAML_MAPPING_NODE ? read_series(value, net) : read_quantiles(value, net);
}

/* ---- placement ---- */

/* "7": a rank on node 7; "7*128": 128 of them. */
static iw_status read_node(const struct iwi_yaml_value *item, size_t *capacity, iw_node_list *list)
{
    struct repeated it;
    uint64_t node;

    IW_TRY(split_item(item, "number of a node, for instance 7, or 7*128 for 128 ranks on it", &it));
    IW_TRY(iw_parse_count(iwi_yaml_log(item->yaml, item->line, it.subject), it.text, &node));
    if (node >= IW_NODES_MAX) {
        return iwi_yaml_refuse(item, IW_ERR_RANGE, "nodes have numbers from 0 to %u", IW_NODES_MAX - 1);
    }
    if (it.times > MOST_RANKS - list->count) {
        return iwi_yaml_refuse(item, IW_ERR_RANGE, "at most 2^26 ranks");
    }
    IW_TRY(iwi_grow(item->yaml->log, (void **)&list->nodes, capacity, list->count + it.times,
                    sizeof *list->nodes));
    for (; it.times > 0; it.times--) {
        list->nodes[list->count++] = (uint32_t)node;
    }
    return IW_OK;
}

/* All ranks fit. */
static iw_status check_list(const struct iwi_yaml_value *value, const iw_net *net)
{
    struct iwi_levels levels;

    IW_TRY(iwi_levels_init(iwi_yaml_log(value->yaml, value->line, ""), net, net->list.count, &levels));
    iwi_levels_release(&levels);
    return IW_OK;
}

iw_status iwi_net_read_list(const struct iwi_yaml_value *value, iw_net *net)
{
    const size_t items = iwi_yaml_items(value);
    iw_net placed = *net;
    size_t capacity = 0;
    iw_status status = IW_OK;

    if (net->inner_count == 0) {
        return iwi_yaml_fail(
            value->yaml, value->line, IW_ERR_FORMAT,
            "a list of nodes needs a level for the node: add 'ranks' to all levels but the last");
    }
    if (items == 0) {
        return iwi_yaml_refuse(value, IW_ERR_FORMAT,
                               "the list is empty: give the node of each rank, from rank 0");
    }
    placed.list = (iw_node_list){.level = iwi_node_level(net)};
    placed.placement = IW_PLACEMENT_LIST;
    for (size_t i = 0; i < items && status == IW_OK; i++) {
        const struct iwi_yaml_value item = iwi_yaml_nth(value, i);

        status = read_node(&item, &capacity, &placed.list);
    }
    if (status == IW_OK) {
        status = check_list(value, &placed);
    }
    if (status != IW_OK) {
        free(placed.list.nodes);
        return status;
    }
    *net = placed;
    return IW_OK;
}
