/* Levels of networks in YAML: one of them, or all as one network.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <string.h>

#include "core/base/base.h"
#include "kit/files/net/net_yaml_keys.h"

enum { LEVELS_MAX = IW_NET_INNER_MAX + 1 };

struct levels {
    size_t count;
    iw_net nets[LEVELS_MAX]; /* from inside out */
    uint32_t ranks[LEVELS_MAX];
    double tapers[LEVELS_MAX]; /* 0: none */
};

static iw_status read_ranks(const struct iwi_yaml *yaml, const struct iwi_yaml_entry *entry,
                            uint32_t *ranks_p)
{
    struct iwi_log_keeper keeper;
    const char *text;
    uint64_t ranks;
    iw_status status;

    IW_TRY(iwi_yaml_text(yaml, entry->value, "ranks", &text));
    iwi_log_keeper_init(&keeper, yaml->log);
    status = iw_parse_count(&keeper.log, text, &ranks);
    if (status != IW_OK || ranks < 2 || ranks > UINT32_MAX) {
        return iwi_yaml_fail(yaml, entry->line, status == IW_OK ? IW_ERR_RANGE : status, "key 'ranks': %s",
                             status == IW_OK ? "a group has 2 to 4294967295 ranks" : keeper.text);
    }
    *ranks_p = (uint32_t)ranks;
    return IW_OK;
}

static iw_status read_level(struct iwi_yaml *yaml, const yaml_node_t *node, struct levels *levels)
{
    struct iwi_yaml_entry entries[IWI_NET_KEYS];
    iw_net *net = &levels->nets[levels->count];

    *net = (iw_net){.S_bytes = IWI_NET_DEFAULT_S_BYTES};
    IW_TRY(iwi_yaml_mapping(yaml, node, iwi_net_keys, IWI_NET_KEYS, entries));
    if (entries[IWI_NET_KEY_NAME].value == NULL || entries[IWI_NET_KEY_LEVELS].value != NULL) {
        return iwi_yaml_fail(yaml, iwi_yaml_line(node), IW_ERR_FORMAT,
                             "a level needs the key 'name' and has no levels of its own");
    }
    if (entries[IWI_NET_KEY_NICS].value != NULL) {
        return iwi_yaml_fail(yaml, entries[IWI_NET_KEY_NICS].line, IW_ERR_FORMAT,
                             "key 'nics' belongs beside the levels: its key 'node' names one");
    }
    for (size_t key = IWI_NET_KEY_MEMORY; key <= IWI_NET_KEY_NOISE; key++) {
        if (entries[key].value != NULL) {
            return iwi_yaml_fail(yaml, entries[key].line, IW_ERR_FORMAT,
                                 "key '%s' stands beside the levels, not in one", iwi_net_keys[key].name);
        }
    }
    IW_TRY(iwi_net_read_entries(yaml, node, entries, net));
    for (size_t i = 0; i < levels->count; i++) {
        if (strcmp(levels->nets[i].name, net->name) == 0) {
            return iwi_yaml_fail(yaml, iwi_yaml_line(node), IW_ERR_FORMAT, "level '%s' is given again",
                                 net->name);
        }
    }
    if (entries[IWI_NET_KEY_RANKS].value != NULL) {
        IW_TRY(read_ranks(yaml, &entries[IWI_NET_KEY_RANKS], &levels->ranks[levels->count]));
    }
    if (entries[IWI_NET_KEY_TAPER].value != NULL) {
        IW_TRY(iwi_net_read_taper(yaml, entries[IWI_NET_KEY_TAPER].value, &levels->tapers[levels->count]));
    }
    levels->count++;
    return IW_OK;
}

static iw_status unknown_level(const struct iwi_yaml *yaml, size_t line, const struct levels *levels,
                               const char *wanted)
{
    char known[256] = "";
    size_t used = 0;

    for (size_t i = 0; i < levels->count && used < sizeof known; i++) {
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "",
                                 levels->nets[i].name);
    }
    return iwi_yaml_fail(yaml, line, IW_ERR_USAGE, "there is no level '%.60s' in this network; it has %s",
                         wanted, known);
}

/* One level as a network of its own. */
static void take_level(const iw_net *level, iw_net *net)
{
    char name[sizeof net->name];

    snprintf(name, sizeof name, "%.40s/%.20s", net->name, level->name);
    *net = *level;
    memcpy(net->name, name, sizeof name);
    snprintf(net->outer_name, sizeof net->outer_name, "%.15s", level->name);
}

/* The last level and, where their sizes are known, those inside it: files of format 1 have no sizes, and mean
 * the last level alone. */
static iw_status join_levels(const struct iwi_yaml *yaml, size_t line, const struct levels *levels,
                             iw_net *net)
{
    const size_t last = levels->count - 1;
    const iw_net whole = *net; /* name and placement */
    size_t sized = 0;

    if (levels->tapers[last] > 0.0) {
        return iwi_yaml_fail(yaml, line, IW_ERR_FORMAT,
                             "level '%s' is the last, which nothing leads out of: leave its taper out",
                             levels->nets[last].name);
    }
    while (sized < last && levels->ranks[sized] > 0) {
        sized++;
    }
    take_level(&levels->nets[last], net);
    if (sized == 0) {
        return IW_OK;
    }
    if (sized < last || levels->ranks[last] > 0) {
        return iwi_yaml_fail(
            yaml, line, IW_ERR_FORMAT,
            "all levels but the last need the key 'ranks', the size of their groups: '%s' %s",
            levels->nets[sized].name, sized < last ? "has none" : "is the last");
    }
    memcpy(net->name, whole.name, sizeof whole.name);
    snprintf(net->outer_name, sizeof net->outer_name, "%.15s", levels->nets[last].name);
    net->placement = whole.placement;
    net->inner_count = (uint32_t)last;
    for (size_t i = 0; i < last; i++) {
        net->inner[i] = (iw_net_inner){
            .ranks = levels->ranks[i], .costs = levels->nets[i].costs, .taper = levels->tapers[i]};
        snprintf(net->inner[i].name, sizeof net->inner[i].name, "%.15s", levels->nets[i].name);
    }
    return iwi_net_check_at(yaml, line, net);
}

/* One level alone has no NICs, which are between levels; noise has the last one only. */
static iw_status choose_level(struct iwi_yaml *yaml, size_t line, const struct levels *levels,
                              const struct iwi_yaml_entry *entries, const char *wanted, iw_net *net)
{
    const yaml_node_t *nics = entries[IWI_NET_KEY_NICS].value, *noise = entries[IWI_NET_KEY_NOISE].value;
    size_t level = levels->count - 1;

    if (wanted == NULL) {
        IW_TRY(join_levels(yaml, line, levels, net));
        if (nics != NULL) {
            IW_TRY(iwi_net_read_nics(yaml, nics, net));
        }
    } else {
        for (level = 0; level < levels->count && strcmp(levels->nets[level].name, wanted) != 0;) {
            level++;
        }
        if (level == levels->count) {
            return unknown_level(yaml, line, levels, wanted);
        }
        take_level(&levels->nets[level], net);
    }
    return noise == NULL || level + 1 < levels->count ? IW_OK : iwi_net_read_noise(yaml, noise, net);
}

/* A file has levels, or parameters of its own. */
static iw_status check_no_parameters(const struct iwi_yaml *yaml, const struct iwi_yaml_entry *entries)
{
    for (size_t key = 0; key < IWI_NET_KEYS; key++) {
        if (entries[key].value != NULL && key != IWI_NET_KEY_NAME && key != IWI_NET_KEY_FORMAT &&
            key != IWI_NET_KEY_ORIGIN && key != IWI_NET_KEY_LEVELS && key != IWI_NET_KEY_PLACEMENT &&
            key != IWI_NET_KEY_NICS && key != IWI_NET_KEY_MEMORY && key != IWI_NET_KEY_NOISE) {
            return iwi_yaml_fail(yaml, entries[key].line, IW_ERR_FORMAT,
                                 "key '%s' belongs into one of the levels", iwi_net_keys[key].name);
        }
    }
    return IW_OK;
}

/* A list is read behind all else. */
static iw_status read_placement(const struct iwi_yaml *yaml, const struct iwi_yaml_entry *entry,
                                iw_placement *placement_p)
{
    const char *text = "block";

    if (entry->value != NULL && entry->value->type != YAML_SEQUENCE_NODE) {
        IW_TRY(iwi_yaml_text(yaml, entry->value, "placement", &text));
    }
    if (strcmp(text, "block") != 0 && strcmp(text, "round-robin") != 0) {
        return iwi_yaml_fail(
            yaml, entry->line, IW_ERR_FORMAT,
            "placement '%.60s' is neither 'block' nor 'round-robin' nor a list of nodes, for "
            "instance [0, 0, 1, 1]",
            text);
    }
    *placement_p = text[0] == 'b' ? IW_PLACEMENT_BLOCK : IW_PLACEMENT_ROUND_ROBIN;
    return IW_OK;
}

iw_status iwi_net_read_levels(struct iwi_yaml *yaml, const struct iwi_yaml_entry *entries, const char *level,
                              iw_net *net)
{
    const yaml_node_t *list = entries[IWI_NET_KEY_LEVELS].value;
    const size_t count = iwi_yaml_item_count(list), line = iwi_yaml_line(list);
    struct levels levels = {.count = 0};

    IW_TRY(check_no_parameters(yaml, entries));
    for (size_t key = IWI_NET_KEY_NAME; key <= IWI_NET_KEY_FORMAT; key++) {
        if (entries[key].value != NULL) {
            IW_TRY(iwi_net_read_value(yaml, (enum iwi_net_key)key, iwi_net_keys[key].name, entries[key].value,
                                      net));
        }
    }
    IW_TRY(read_placement(yaml, &entries[IWI_NET_KEY_PLACEMENT], &net->placement));
    if (count == 0 || count > LEVELS_MAX) {
        return iwi_yaml_fail(yaml, line, IW_ERR_RANGE, "there are %zu levels; 1 to %d are read", count,
                             LEVELS_MAX);
    }
    for (size_t i = 0; i < count; i++) {
        IW_TRY(read_level(yaml, iwi_yaml_item(yaml, list, i), &levels));
    }
    return choose_level(yaml, line, &levels, entries, level, net);
}
