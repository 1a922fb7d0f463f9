/* Reads a network from YAML: parameters, their segments, levels and NICs (docs/reference/formats/net.md).
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/files/net/net_yaml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <idlewave/files.h>

#include "core/base/base.h"
#include "core/net/net.h"
#include "kit/files/io/input.h"

enum { MOST_LEVELS = IW_NET_INNER_MAX + 1 };

/* A level, or a network without levels. */
struct part {
    iw_net net; /* first: rows of networks are rows of parts */
    uint32_t ranks;
    double taper; /* 0: none */
};

/* Where a key may stand: in a network without levels, beside levels, in one of them. */
enum { FLAT = 1, BESIDE = 2, LEVEL = 4, PARAMETERS = FLAT | LEVEL, ANYWHERE = FLAT | BESIDE | LEVEL };

/* The limits of iw_net_check(), with the place. */
static iw_status check_at(const struct iwi_yaml *yaml, size_t line, const iw_net *net)
{
    return iw_net_check(iwi_yaml_log(yaml, line, ""), net);
}

/* ---- parameters ---- */

/* Of sends and of receives, which follows. */
static iw_status read_overhead(const struct iwi_yaml_value *value, void *at)
{
    iw_time *overhead = at;

    _Static_assert(offsetof(iw_net, o_recv_ps) == offsetof(iw_net, o_send_ps) + sizeof(iw_time) &&
                       offsetof(iw_net_segment, o_recv_ps) ==
                           offsetof(iw_net_segment, o_send_ps) + sizeof(iw_time),
                   "receives are behind sends");
    IW_TRY(iwi_yaml_time(value, overhead));
    overhead[1] = overhead[0];
    return IW_OK;
}

static iw_status read_gap_per_byte(const struct iwi_yaml_value *value, void *at)
{
    return iwi_yaml_is(value, IWI_YAML_UNKNOWN)
               ? iwi_yaml_fail(
                     value->yaml, value->line, IW_ERR_FORMAT,
                     "G is unknown: a network measured at one size does not give it; add the time per byte")
               : iwi_yaml_per_byte(value, at);
}

/* The same notation as on the command line. */
static iw_status read_memory(const struct iwi_yaml_value *value, void *at)
{
    const char *text;

    IW_TRY(iwi_yaml_string(value, &text));
    return iw_memory_parse(iwi_yaml_value_log(value), text, at);
}

static iw_status read_taper(const struct iwi_yaml_value *value, void *at)
{
    double *taper = at;
    const char *text;
    iw_status status;

    IW_TRY(iwi_yaml_string(value, &text));
    status = iw_parse_share(NULL, text, taper);
    return status == IW_OK && *taper >= 1.0
               ? IW_OK
               : iwi_yaml_refuse(value, status == IW_OK ? IW_ERR_RANGE : status,
                                 "'%.60s' is not a number of at least 1, for instance 2", text);
}

/* Where messages in a row, or a part of o_s + L + o_r, could not be told from nothing, it counts as nothing:
 * the sum was measured. An S that was not found leaves the default, or S_at_least. */
#define COSTS(T, ...)                                                                               \
    IWI_YAML_ROW(T, "L", L_ps, iwi_yaml_time, .may_be_unknown = true, ##__VA_ARGS__),               \
        IWI_YAML_ROW(T, "o", o_send_ps, read_overhead, .may_be_unknown = true, ##__VA_ARGS__),      \
        IWI_YAML_ROW(T, "o_s", o_send_ps, iwi_yaml_time, .alias = "o_send", .may_be_unknown = true, \
                     ##__VA_ARGS__),                                                                \
        IWI_YAML_ROW(T, "o_r", o_recv_ps, iwi_yaml_time, .alias = "o_recv", .may_be_unknown = true, \
                     ##__VA_ARGS__),                                                                \
        IWI_YAML_ROW(T, "g", g_ps, iwi_yaml_time, .may_be_unknown = true, ##__VA_ARGS__),           \
        IWI_YAML_ROW(T, "G", G, read_gap_per_byte, ##__VA_ARGS__),                                  \
        IWI_YAML_ROW(T, "O", O, iwi_yaml_per_byte, .may_be_unknown = true, ##__VA_ARGS__)

static iw_status check_costs(const struct iwi_yaml_map *map)
{
    const struct iwi_yaml_value *both = iwi_yaml_get(map, "o");
    const bool has_send = iwi_yaml_get(map, "o_s") != NULL, has_recv = iwi_yaml_get(map, "o_r") != NULL;
    const char *missing = iwi_yaml_get(map, "L") == NULL           ? "L"
                          : iwi_yaml_get(map, "g") == NULL         ? "g"
                          : iwi_yaml_get(map, "G") == NULL         ? "G"
                          : both != NULL || (has_send && has_recv) ? NULL
                          : has_send                               ? "o_r"
                          : has_recv                               ? "o_s"
                                                                   : "o";

    if (both != NULL && (has_send || has_recv)) {
        return iwi_yaml_fail(map->yaml, both->key_line, IW_ERR_FORMAT, "key 'o' excludes 'o_s' and 'o_r'");
    }
    return missing == NULL
               ? IW_OK
               : iwi_yaml_fail(map->yaml, map->line, IW_ERR_FORMAT,
                               "key '%s' is missing; needed are L, o (or o_s and o_r), g, G", missing);
}

static iw_status read_segments(const struct iwi_yaml_value *value, void *at)
{
    static const struct iwi_yaml_row rows[] = {
        COSTS(iw_net_segment),
        IWI_YAML_ROW(iw_net_segment, "from", from_bytes, iwi_yaml_count, .may_be_unknown = true),
    };
    const size_t count = iwi_yaml_items(value);
    iw_net *net = at;
    struct iwi_yaml_map map;

    if (count > IW_NET_SEGMENTS_MAX) {
        return iwi_yaml_fail(value->yaml, value->line, IW_ERR_RANGE, "%zu segments are more than %d", count,
                             IW_NET_SEGMENTS_MAX);
    }
    for (size_t i = 0; i < count; i++) {
        IW_TRY(iwi_yaml_find(value->yaml, iwi_yaml_nth(value, i).node, IWI_YAML_ROWS(rows), &map));
        IW_TRY(iwi_yaml_read(&map, &net->segments[i]));
        if (iwi_yaml_get(&map, "from") == NULL) {
            return iwi_yaml_fail(value->yaml, map.line, IW_ERR_FORMAT, "a segment needs the key 'from'");
        }
        IW_TRY(check_costs(&map));
    }
    net->segment_count = (uint32_t)count;
    return IW_OK;
}

/* ---- a mapping of parameters ---- */

static const char *const formats[] = {"idlewave.net/2", "idlewave.net/1", NULL}; /* 1: levels without sizes */
static const char *const movers[] = {"cpu", "device", NULL};                     /* who moves messages */

static const struct iwi_yaml_row rows[] = {
    COSTS(iw_net, .where = PARAMETERS),
    IWI_YAML_ROW(iw_net, "S", S_bytes, iwi_yaml_count, .may_be_unknown = true, .where = PARAMETERS),
    IWI_YAML_ROW(iw_net, "name", name, iwi_yaml_chars, .where = ANYWHERE),
    {.key = "format", .read = iwi_yaml_format, .names = formats, .where = ANYWHERE},
    IWI_YAML_ROW(iw_net, "S_at_least", S_bytes, iwi_yaml_count, .may_be_unknown = true, .where = PARAMETERS),
    IWI_YAML_ROW(iw_net, "progress", is_device_progress, iwi_yaml_choice, .names = movers,
                 .where = PARAMETERS),
    {.key = "origin", .where = ANYWHERE},
    {.key = "segments", .read = read_segments, .where = PARAMETERS},
    IWI_YAML_ROW(iw_net, "memory", memory, read_memory, .where = FLAT | BESIDE),
    {.key = "noise", .where = FLAT | BESIDE},
    {.key = "levels", .where = BESIDE},
    {.key = "placement", .where = BESIDE},
    {.key = "nics", .where = BESIDE},
    IWI_YAML_ROW(struct part, "ranks", ranks, iwi_yaml_count, .least = 2, .where = LEVEL),
    IWI_YAML_ROW(struct part, "taper", taper, read_taper, .where = LEVEL),
    {.key = "L_half_round_trip", .where = PARAMETERS}, /* these are for people */
    {.key = "S_receiver_in_mpi", .where = PARAMETERS},
    {.key = "S_receiver_in_mpi_at_least", .where = PARAMETERS},
    {.key = "measured", .where = PARAMETERS},
};

static iw_status check_places(const struct iwi_yaml_map *map, unsigned place)
{
    for (size_t i = 0; i < map->count; i++) {
        if (map->found[i].node != NULL && (map->rows[i].where & place) == 0) {
            return iwi_yaml_fail(map->yaml, map->found[i].key_line, IW_ERR_FORMAT, "key '%s' belongs %s",
                                 map->rows[i].key,
                                 place == FLAT     ? "to a network with levels"
                                 : place == BESIDE ? "into one of the levels"
                                                   : "beside the levels, not into one");
        }
    }
    return IW_OK;
}

static iw_status check_at_least(const struct iwi_yaml_map *map)
{
    const struct iwi_yaml_value *S = iwi_yaml_get(map, "S"), *at_least = iwi_yaml_get(map, "S_at_least");

    return at_least == NULL || S == NULL || iwi_yaml_is(S, IWI_YAML_UNKNOWN)
               ? IW_OK
               : iwi_yaml_fail(map->yaml, at_least->key_line, IW_ERR_FORMAT,
                               "key 'S_at_least' stands only where S is unknown");
}

/* Of all messages, not of some sizes alone. */
static void warn_of_unknown_overhead(const struct iwi_yaml_map *map)
{
    static const char *const keys[] = {"o", "o_s", "o_r"};

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const struct iwi_yaml_value *value = iwi_yaml_get(map, keys[i]);

        if (value != NULL && iwi_yaml_is(value, IWI_YAML_UNKNOWN)) {
            iwi_warn(
                map->yaml->log,
                "'%s:%zu': %s is unknown and counts as 0; if it is larger, noise costs more than predicted",
                map->yaml->file, value->key_line, keys[i]);
        }
    }
}

/* Parameters that were found; they are checked. */
static iw_status read_parameters(const struct iwi_yaml_map *map, struct part *part)
{
    IW_TRY(iwi_yaml_read(map, part));
    IW_TRY(check_at_least(map));
    warn_of_unknown_overhead(map);
    IW_TRY(check_costs(map));
    return check_at(map->yaml, map->line, &part->net);
}

/* ---- NICs ---- */

static iw_status read_nics_node(const struct iwi_yaml_value *value, void *at)
{
    iw_net *net = at;
    const char *text;

    IW_TRY(iwi_yaml_string(value, &text));
    for (uint32_t i = 0; i < net->inner_count; i++) {
        if (strcmp(net->inner[i].name, text) == 0) {
            net->nics.node_level = i;
            return IW_OK;
        }
    }
    return iwi_yaml_refuse(value, IW_ERR_FORMAT, "no level '%.60s' with 'ranks' for NICs", text);
}

static iw_status read_bandwidth(const struct iwi_yaml_value *value, void *at)
{
    const char *text;

    IW_TRY(iwi_yaml_string(value, &text));
    return iw_parse_bandwidth(iwi_yaml_value_log(value), text, at);
}

/* Of a network whose levels have been read. It is checked with the network. */
static iw_status read_nics(const struct iwi_yaml_value *value, iw_net *net)
{
    static const char *const sharings[] = {"max-rate", "queues", NULL}; /* in the order of iw_nic_sharing */
    static const struct iwi_yaml_row nics_rows[] = {
        IWI_YAML_ROW(iw_net, "count", nics.count, iwi_yaml_count, .least = 1),
        IWI_YAML_ROW(iw_net, "G", nics.G, iwi_yaml_per_byte),
        IWI_YAML_ROW(iw_net, "bandwidth", nics.G, read_bandwidth),
        {.key = "node", .read = read_nics_node},
        IWI_YAML_ROW(iw_net, "active", nics.active, iwi_yaml_count, .least = 1),
        IWI_YAML_ROW(iw_net, "rails", nics.has_rails, iwi_yaml_switch),
        IWI_YAML_ROW(iw_net, "sharing", nics.sharing, iwi_yaml_choice, .names = sharings),
    };
    struct iwi_yaml_map map;

    if (net->inner_count == 0) {
        return iwi_yaml_fail(value->yaml, value->line, IW_ERR_FORMAT,
                             "NICs need a level for the node: add 'ranks' to all levels but the last");
    }
    IW_TRY(iwi_yaml_find(value->yaml, value->node, IWI_YAML_ROWS(nics_rows), &map));
    if (iwi_yaml_get(&map, "count") == NULL ||
        (iwi_yaml_get(&map, "G") == NULL) == (iwi_yaml_get(&map, "bandwidth") == NULL)) {
        return iwi_yaml_fail(value->yaml, value->line, IW_ERR_FORMAT,
                             "NICs need the key 'count', and either 'bandwidth' or 'G' of a single one");
    }
    net->nics.node_level = net->inner_count - 1;
    IW_TRY(iwi_yaml_read(&map, net));
    return check_at(value->yaml, value->line, net);
}

/* ---- levels ---- */

struct levels {
    size_t count;
    struct part parts[MOST_LEVELS]; /* from inside out */
};

static iw_status read_level(struct iwi_yaml *yaml, const yaml_node_t *node, struct levels *levels)
{
    struct part *part = &levels->parts[levels->count];
    struct iwi_yaml_map map;

    part->net.S_bytes = IWI_NET_DEFAULT_S_BYTES;
    IW_TRY(iwi_yaml_find(yaml, node, IWI_YAML_ROWS(rows), &map));
    if (iwi_yaml_get(&map, "name") == NULL || iwi_yaml_get(&map, "levels") != NULL) {
        return iwi_yaml_fail(yaml, map.line, IW_ERR_FORMAT,
                             "a level needs the key 'name' and cannot contain levels");
    }
    IW_TRY(check_places(&map, LEVEL));
    IW_TRY(read_parameters(&map, part));
    for (size_t i = 0; i < levels->count; i++) {
        if (strcmp(levels->parts[i].net.name, part->net.name) == 0) {
            return iwi_yaml_fail(yaml, map.line, IW_ERR_FORMAT, "level '%s' is defined twice",
                                 part->net.name);
        }
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
                                 levels->parts[i].net.name);
    }
    return iwi_yaml_fail(yaml, line, IW_ERR_USAGE, "unknown level '%.60s': this network has %s", wanted,
                         known);
}

/* One level as a network of its own. */
static void take_level(const iw_net *level, iw_net *net)
{
    const iw_memory memory = net->memory;
    char name[sizeof net->name];

    snprintf(name, sizeof name, "%.40s/%.20s", net->name, level->name);
    *net = *level;
    memcpy(net->name, name, sizeof name);
    net->memory = memory;
    snprintf(net->outer_name, sizeof net->outer_name, "%.15s", level->name);
}

/* The last level and, where their sizes are known, those inside it: files of format 1 have no sizes, and mean
 * the last level alone. */
static iw_status join_levels(const struct iwi_yaml *yaml, size_t line, const struct levels *levels,
                             iw_net *net)
{
    const size_t last = levels->count - 1;
    const struct part *parts = levels->parts;
    char name[sizeof net->name];
    size_t sized = 0;

    if (parts[last].taper > 0.0) {
        return iwi_yaml_fail(yaml, line, IW_ERR_FORMAT,
                             "level '%s' is the outermost, so no traffic leaves it: remove its taper",
                             parts[last].net.name);
    }
    while (sized < last && parts[sized].ranks > 0) {
        sized++;
    }
    memcpy(name, net->name, sizeof name);
    take_level(&parts[last].net, net);
    if (sized == 0) {
        return IW_OK;
    }
    if (sized < last || parts[last].ranks > 0) {
        return iwi_yaml_fail(
            yaml, line, IW_ERR_FORMAT,
            "all levels but the last need the key 'ranks', the size of their groups: '%s' %s",
            parts[sized].net.name, sized < last ? "has none" : "is the last");
    }
    memcpy(net->name, name, sizeof name);
    net->inner_count = (uint32_t)last;
    for (size_t i = 0; i < last; i++) {
        net->inner[i] =
            (iw_net_inner){.ranks = parts[i].ranks, .costs = parts[i].net.costs, .taper = parts[i].taper};
        snprintf(net->inner[i].name, sizeof net->inner[i].name, "%.15s", parts[i].net.name);
    }
    return IW_OK;
}

/* How ranks are placed; a list is read behind all else. */
static iw_status read_placement(const struct iwi_yaml_value *value, iw_placement *placement_p)
{
    const bool is_list = value != NULL && value->node->type == YAML_SEQUENCE_NODE;
    const char *text = "block";

    if (value != NULL && !is_list) {
        IW_TRY(iwi_yaml_string(value, &text));
    }
    if (strcmp(text, "block") != 0 && strcmp(text, "round-robin") != 0) {
        return iwi_yaml_fail(
            value->yaml, value->line, IW_ERR_FORMAT,
            "placement '%.60s' is neither 'block' nor 'round-robin' nor a list of nodes, for "
            "instance [0, 0, 1, 1]",
            text);
    }
    *placement_p = text[0] == 'b' ? IW_PLACEMENT_BLOCK : IW_PLACEMENT_ROUND_ROBIN;
    return IW_OK;
}

/* All levels as one network. */
static iw_status read_whole(const struct iwi_yaml_map *map, const struct levels *levels,
                            iw_placement placement, iw_net *net)
{
    const struct iwi_yaml_value *nics = iwi_yaml_get(map, "nics");
    const size_t line = iwi_yaml_get(map, "levels")->line;

    IW_TRY(join_levels(map->yaml, line, levels, net));
    net->placement = net->inner_count > 0 ? placement : IW_PLACEMENT_BLOCK;
    IW_TRY(check_at(map->yaml, line, net));
    return nics != NULL ? read_nics(nics, net) : IW_OK;
}

/* The wanted level, NULL: all of them. One level alone has no NICs, which are between levels; noise has the
 * last one only. */
static iw_status read_levels(const struct iwi_yaml_map *map, const char *wanted, iw_net *net)
{
    const struct iwi_yaml_value *list = iwi_yaml_get(map, "levels"), *noise = iwi_yaml_get(map, "noise");
    const size_t count = iwi_yaml_items(list);
    struct levels levels = {.count = 0};
    iw_placement placement;
    size_t level = 0;

    IW_TRY(read_placement(iwi_yaml_get(map, "placement"), &placement));
    if (count == 0 || count > MOST_LEVELS) {
        return iwi_yaml_fail(map->yaml, list->line, IW_ERR_RANGE, "%zu levels: use 1 to %d", count,
                             MOST_LEVELS);
    }
    for (size_t i = 0; i < count; i++) {
        IW_TRY(read_level(map->yaml, iwi_yaml_nth(list, i).node, &levels));
    }
    while (level + 1 < count && (wanted == NULL || strcmp(levels.parts[level].net.name, wanted) != 0)) {
        level++;
    }
    if (wanted == NULL) {
        IW_TRY(read_whole(map, &levels, placement, net));
    } else if (strcmp(levels.parts[level].net.name, wanted) == 0) {
        take_level(&levels.parts[level].net, net);
    } else {
        return unknown_level(map->yaml, list->line, &levels, wanted);
    }
    return noise == NULL || level + 1 < count ? IW_OK : iwi_net_read_noise(noise, net);
}

/* ---- files ---- */

static iw_status read_flat(const struct iwi_yaml_map *map, const char *level, struct part *part)
{
    const struct iwi_yaml_value *noise = iwi_yaml_get(map, "noise");

    IW_TRY(read_parameters(map, part));
    if (level != NULL) {
        return iwi_yaml_fail(map->yaml, map->line, IW_ERR_USAGE,
                             "no level '%.60s': this network has no levels", level);
    }
    return noise == NULL ? IW_OK : iwi_net_read_noise(noise, &part->net);
}

/* What it says of the measurement; everything else in it is for people. */
static void read_origin(const struct iwi_yaml_value *value, const char *level, iw_net_origin *origin)
{
    const yaml_node_pair_t *pair = NULL, *end = NULL;

    if (value != NULL && value->node->type == YAML_MAPPING_NODE) {
        pair = value->node->data.mapping.pairs.start;
        end = value->node->data.mapping.pairs.top;
    }
    for (; pair < end; pair++) {
        const yaml_node_t *key = yaml_document_get_node(&value->yaml->document, pair->key),
                          *of = yaml_document_get_node(&value->yaml->document, pair->value);
        const char *name, *text;

        if (key->type != YAML_SCALAR_NODE || of->type != YAML_SCALAR_NODE) {
            continue;
        }
        name = (const char *)key->data.scalar.value;
        text = (const char *)of->data.scalar.value;
        if (strcmp(name, "samples") == 0) {
            origin->is_measured = true;
        } else if (strcmp(name, "hosts") == 0) {
            origin->hosts = (uint32_t)strtoul(text, NULL, 10);
        } else if (strcmp(name, "ranks") == 0) {
            origin->ranks = (uint32_t)strtoul(text, NULL, 10);
        } else if (strcmp(name, "not_valid") == 0) {
            (void)snprintf(origin->not_valid, sizeof origin->not_valid, "%s", text);
        }
    }
    if (level != NULL && strcmp(level, "node") == 0 && origin->hosts > 1) { /* its ranks are on one host */
        origin->ranks /= origin->hosts;
        origin->hosts = 1;
    }
}

static iw_status read_all(const struct iwi_yaml_map *map, const char *level, struct part *part)
{
    const struct iwi_yaml_value *placement = iwi_yaml_get(map, "placement");

    if (iwi_yaml_get(map, "levels") == NULL) {
        IW_TRY(check_places(map, FLAT));
        IW_TRY(read_flat(map, level, part));
    } else {
        IW_TRY(check_places(map, BESIDE));
        IW_TRY(iwi_yaml_read(map, part));
        IW_TRY(read_levels(map, level, &part->net));
    }
    read_origin(iwi_yaml_get(map, "origin"), level, &part->net.origin);
    return level == NULL && placement != NULL && placement->node->type == YAML_SEQUENCE_NODE
               ? iwi_net_read_list(placement, &part->net)
               : IW_OK;
}

static iw_status read_net(struct iwi_yaml *yaml, const yaml_node_t *node, const char *name, const char *level,
                          iw_net *net_p)
{
    struct part part = {.net = {.S_bytes = IWI_NET_DEFAULT_S_BYTES}};
    struct iwi_yaml_map map;
    iw_status status;

    snprintf(part.net.name, sizeof part.net.name, "%s", name);
    IW_TRY(iwi_yaml_find(yaml, node, IWI_YAML_ROWS(rows), &map));
    status = read_all(&map, level, &part);
    if (status != IW_OK) {
        iwi_net_release(&part.net);
        return status;
    }
    *net_p = part.net;
    return IW_OK;
}

iw_status iwi_net_read_node(struct iwi_yaml *yaml, const yaml_node_t *node, const char *name, iw_net *net_p)
{
    return read_net(yaml, node, name, NULL, net_p);
}

/* ---- files of other tools ---- */

static const struct iwi_net_reader *find_reader(const char *data, size_t size)
{
    size_t i = 0;

    while (iwi_net_readers[i] != NULL && !iwi_net_readers[i]->matches(data, size)) {
        i++;
    }
    return iwi_net_readers[i];
}

static iw_status read_foreign(const iw_log *log, const struct iwi_net_reader *reader, const char *path,
                              const char *data, size_t size, const char *level, iw_net *net_p)
{
    iw_net net;

    if (level != NULL) {
        return iwi_fail(log, IW_ERR_USAGE, "no level '%.60s' in '%s': %s has no levels", level, path,
                        reader->what);
    }
    IW_TRY(reader->read(log, path, data, size, &net));
    iwi_name_of_path(path, net.name, sizeof net.name);
    net.S_bytes = IWI_NET_DEFAULT_S_BYTES;
    IW_TRY(iw_net_check(log, &net));
    *net_p = net;
    return IW_OK;
}

/* ---- from memory, from a path ---- */

iw_status iwi_net_read_memory(const iw_log *log, const char *name, const char *data, size_t size,
                              const char *level, iw_net *net_p)
{
    char net_name[sizeof net_p->name];
    const struct iwi_net_reader *reader = find_reader(data, size);
    struct iwi_yaml yaml;
    iw_status status;

    iwi_name_of_path(name, net_name, sizeof net_name);
    if (reader != NULL) {
        return read_foreign(log, reader, name, data, size, level, net_p);
    }
    IW_TRY(iwi_yaml_open(log, name, data, size, "L: 5us", &yaml));
    status = read_net(&yaml, iwi_yaml_root(&yaml), net_name, level, net_p);
    iwi_yaml_close(&yaml);
    return status;
}

iw_status iwi_net_load(const iw_log *log, const char *path, const char *level, iw_net *net_p)
{
    struct iwi_input input;
    iw_status status;

    IW_TRY(iwi_input_open(log, path, &input));
    status = iwi_net_read_memory(log, path, input.data, input.size, level, net_p);
    iwi_input_close(&input);
    return status;
}
