/* Placement of ranks by a list, in YAML: `placement: [0, 0, 1*128, ...]` (docs/reference/formats/net.md).
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/net/level.h"
#include "kit/files/net/net_yaml_keys.h"

#define MOST_RANKS (UINT64_C(1) << 26)

/* "7": a rank on node 7; "7*128": 128 of them. */
static iw_status parse_item(const iw_log *log, const char *text, uint64_t *node_p, uint64_t *times_p)
{
    const char *star = strchr(text, '*');
    char node[32];

    *times_p = 1;
    snprintf(node, sizeof node, "%.*s", star == NULL ? 31 : (int)iwi_min(star - text, 31), text);
    if (star != NULL) {
        IW_TRY(iw_parse_count(log, star + 1, times_p));
    }
    IW_TRY(iw_parse_count(log, node, node_p));
    if (*node_p >= IW_NODES_MAX) {
        return iwi_fail(log, IW_ERR_RANGE, "nodes have numbers from 0 to %u", IW_NODES_MAX - 1);
    }
    return IW_OK;
}

static iw_status read_item(struct iwi_yaml *yaml, const yaml_node_t *item, size_t *capacity,
                           iw_node_list *list)
{
    struct iwi_log_keeper keeper;
    void *nodes = list->nodes;
    uint64_t node, times;
    const char *text;
    iw_status status;

    IW_TRY(iwi_yaml_text(yaml, item, "placement", &text));
    iwi_log_keeper_init(&keeper, yaml->log);
    status = parse_item(&keeper.log, text, &node, &times);
    if (status != IW_OK) {
        return iwi_yaml_fail(yaml, iwi_yaml_line(item), status,
                             "key 'placement': '%.40s' is no number of a node, for instance 7, or 7*128 for "
                             "128 ranks on it: %s",
                             text, keeper.text);
    }
    if (list->count + times > MOST_RANKS) {
        return iwi_yaml_fail(yaml, iwi_yaml_line(item), IW_ERR_RANGE,
                             "key 'placement': there may be up to 2^26 ranks");
    }
    IW_TRY(iwi_grow(yaml->log, &nodes, capacity, list->count + times, sizeof *list->nodes));
    list->nodes = nodes;
    for (; times > 0; times--) {
        list->nodes[list->count++] = (uint32_t)node;
    }
    return IW_OK;
}

/* All ranks fit. */
static iw_status check_list(const struct iwi_yaml *yaml, size_t line, const iw_net *net)
{
    struct iwi_log_keeper keeper;
    struct iwi_levels levels;
    iw_status status;

    iwi_log_keeper_init(&keeper, yaml->log);
    status = iwi_levels_init(&keeper.log, net, net->list.count, &levels);
    if (status != IW_OK) {
        return iwi_yaml_fail(yaml, line, status, "%s", keeper.text);
    }
    iwi_levels_release(&levels);
    return IW_OK;
}

iw_status iwi_net_read_list(struct iwi_yaml *yaml, const yaml_node_t *node, iw_net *net)
{
    const size_t items = iwi_yaml_item_count(node), line = iwi_yaml_line(node);
    iw_net placed = *net;
    size_t capacity = 0;
    iw_status status = IW_OK;

    if (net->inner_count == 0) {
        return iwi_yaml_fail(yaml, line, IW_ERR_FORMAT,
                             "a list of nodes needs a level that is the node: give 'ranks' to all levels but "
                             "the last");
    }
    if (items == 0) {
        return iwi_yaml_fail(
            yaml, line, IW_ERR_FORMAT,
            "key 'placement': the list is empty; it has the node of each rank, from rank 0 on");
    }
    placed.list = (iw_node_list){.level = iwi_node_level(net)};
    placed.placement = IW_PLACEMENT_LIST;
    for (size_t i = 0; i < items && status == IW_OK; i++) {
        status = read_item(yaml, iwi_yaml_item(yaml, node, i), &capacity, &placed.list);
    }
    if (status == IW_OK) {
        status = check_list(yaml, line, &placed);
    }
    if (status != IW_OK) {
        free(placed.list.nodes);
        return status;
    }
    *net = placed;
    return IW_OK;
}
