/* Reads a network from YAML: parameters, their segments, and levels of measured files
 * (docs/reference/formats/net.md).
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "format/net/net_yaml.h"

#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "format/io/input.h"

#define FORMAT "idlewave.net/1"
#define DEFAULT_S_BYTES (UINT64_C(65) * 1024) /* as in the paper's Table III */
#define LEVELS_MAX 8
#define UNKNOWN "unknown" /* in place of a value */

enum key {
    KEY_L,
    KEY_O_BOTH,
    KEY_O_SEND,
    KEY_O_RECV,
    KEY_G,
    KEY_GG,
    KEY_OO,
    KEY_S,
    KEY_NAME,
    KEY_FORMAT,
    KEY_S_AT_LEAST, /* counts where S is unknown */
    KEY_ORIGIN,
    KEY_SEGMENTS,
    KEY_LEVELS,
    KEY_HALF, /* what follows is for people */
    KEY_S_INSIDE,
    KEY_S_INSIDE_AT_LEAST,
    KEY_MEASURED,
    KEYS,
    SEGMENT_KEYS = KEY_S + 1,
    KEY_FROM = KEY_S /* in its place in segments */
};

static const struct iwi_yaml_key keys[KEYS] = {
    [KEY_L] = {"L", NULL},
    [KEY_O_BOTH] = {"o", NULL},
    [KEY_O_SEND] = {"o_s", "o_send"},
    [KEY_O_RECV] = {"o_r", "o_recv"},
    [KEY_G] = {"g", NULL},
    [KEY_GG] = {"G", NULL},
    [KEY_OO] = {"O", NULL},
    [KEY_S] = {"S", NULL},
    [KEY_NAME] = {"name", NULL},
    [KEY_FORMAT] = {"format", NULL},
    [KEY_S_AT_LEAST] = {"S_at_least", NULL},
    [KEY_ORIGIN] = {"origin", NULL},
    [KEY_SEGMENTS] = {"segments", NULL},
    [KEY_LEVELS] = {"levels", NULL},
    [KEY_HALF] = {"L_half_round_trip", NULL},
    [KEY_S_INSIDE] = {"S_receiver_in_mpi", NULL},
    [KEY_S_INSIDE_AT_LEAST] = {"S_receiver_in_mpi_at_least", NULL},
    [KEY_MEASURED] = {"measured", NULL},
};

static const struct iwi_yaml_key segment_keys[SEGMENT_KEYS] = {
    [KEY_L] = {"L", NULL},
    [KEY_O_BOTH] = {"o", NULL},
    [KEY_O_SEND] = {"o_s", "o_send"},
    [KEY_O_RECV] = {"o_r", "o_recv"},
    [KEY_G] = {"g", NULL},
    [KEY_GG] = {"G", NULL},
    [KEY_OO] = {"O", NULL},
    [KEY_FROM] = {"from", NULL},
};

static iw_status read_name(const struct iwi_yaml *yaml, const char *text, size_t line, iw_net *net)
{
    if (strlen(text) >= sizeof net->name || text[0] == '\0') {
        return iwi_yaml_fail(yaml, line, IW_ERR_RANGE, "the name must have 1 to %zu bytes",
                             sizeof net->name - 1);
    }
    snprintf(net->name, sizeof net->name, "%s", text);
    return IW_OK;
}

static iw_status check_format(const struct iwi_yaml *yaml, const char *text, size_t line)
{
    if (strcmp(text, FORMAT) != 0) {
        return iwi_yaml_fail(yaml, line, IW_ERR_FORMAT, "format '%.60s' is not '" FORMAT "'", text);
    }
    return IW_OK;
}

static iw_status parse_value(const iw_log *log, enum key key, const char *text, iw_net *net)
{
    switch (key) {
    case KEY_L: return iw_parse_time(log, text, &net->L_ps);
    case KEY_G: return iw_parse_time(log, text, &net->g_ps);
    case KEY_O_SEND: return iw_parse_time(log, text, &net->o_send_ps);
    case KEY_O_RECV: return iw_parse_time(log, text, &net->o_recv_ps);
    case KEY_GG: return iw_parse_per_byte(log, text, &net->G);
    case KEY_OO: return iw_parse_per_byte(log, text, &net->O);
    case KEY_S:
    case KEY_S_AT_LEAST: return iw_parse_count(log, text, &net->S_bytes);
    default: break;
    }
    IW_TRY(iw_parse_time(log, text, &net->o_send_ps)); /* KEY_O_BOTH */
    net->o_recv_ps = net->o_send_ps;
    return IW_OK;
}

/* Where messages in a row, or a part of o_s + L + o_r, could not be told from nothing, it counts as nothing:
 * the sum was measured. An S that was not found leaves the default, or S_at_least. */
static iw_status take_unknown(const struct iwi_yaml *yaml, size_t line, enum key key)
{
    if (key == KEY_GG) {
        return iwi_yaml_fail(yaml, line, IW_ERR_FORMAT,
                             "G is unknown: a network of one size says nothing about others; write what a "
                             "byte takes");
    }
    return IW_OK;
}

static iw_status read_value(const struct iwi_yaml *yaml, enum key key, const char *key_name,
                            const yaml_node_t *node, iw_net *net)
{
    const size_t line = iwi_yaml_line(node);
    struct iwi_log_keeper keeper;
    const char *text;
    iw_status status;

    IW_TRY(iwi_yaml_text(yaml, node, key_name, &text));
    if (key == KEY_NAME) {
        return read_name(yaml, text, line, net);
    }
    if (key == KEY_FORMAT) {
        return check_format(yaml, text, line);
    }
    if (strcmp(text, UNKNOWN) == 0) {
        return take_unknown(yaml, line, key);
    }
    iwi_log_keeper_init(&keeper, yaml->log);
    status = parse_value(&keeper.log, key, text, net);
    if (status != IW_OK) {
        return iwi_yaml_fail(yaml, line, status, "key '%s': %s", key_name, keeper.text);
    }
    return IW_OK;
}

static iw_status check_keys(const struct iwi_yaml *yaml, size_t line, const struct iwi_yaml_entry *entries)
{
    const bool has_both = entries[KEY_O_BOTH].value != NULL;
    const bool has_send = entries[KEY_O_SEND].value != NULL, has_recv = entries[KEY_O_RECV].value != NULL;
    const char *missing = entries[KEY_L].value == NULL    ? "L"
                          : entries[KEY_G].value == NULL  ? "g"
                          : entries[KEY_GG].value == NULL ? "G"
                          : has_both || (has_send && has_recv)
                              ? NULL
                              : (has_send ? "o_r" : (has_recv ? "o_s" : "o"));

    if (has_both && (has_send || has_recv)) {
        return iwi_yaml_fail(yaml, entries[KEY_O_BOTH].line, IW_ERR_FORMAT,
                             "key 'o' excludes 'o_s' and 'o_r'");
    }
    if (missing != NULL) {
        return iwi_yaml_fail(yaml, line, IW_ERR_FORMAT,
                             "key '%s' is missing; needed are L, o (or o_s and o_r), g, G", missing);
    }
    return IW_OK;
}

/* The limits of iw_net_check(), told with the place. */
static iw_status check_net(const struct iwi_yaml *yaml, size_t line, const iw_net *net)
{
    struct iwi_log_keeper keeper;
    iw_status status;

    iwi_log_keeper_init(&keeper, yaml->log);
    status = iw_net_check(&keeper.log, net);
    return status == IW_OK ? IW_OK : iwi_yaml_fail(yaml, line, status, "%s", keeper.text);
}

/* ---- segments ---- */

static iw_status read_segment(struct iwi_yaml *yaml, const yaml_node_t *node, iw_net_segment *segment)
{
    struct iwi_yaml_entry entries[SEGMENT_KEYS];
    iw_net net = {.O = 0};

    IW_TRY(iwi_yaml_mapping(yaml, node, segment_keys, SEGMENT_KEYS, entries));
    for (size_t key = 0; key < SEGMENT_KEYS; key++) {
        if (entries[key].value != NULL) {
            IW_TRY(read_value(yaml, (enum key)key, segment_keys[key].name, entries[key].value, &net));
        }
    }
    if (entries[KEY_FROM].value == NULL) {
        return iwi_yaml_fail(yaml, iwi_yaml_line(node), IW_ERR_FORMAT, "a segment needs the key 'from'");
    }
    IW_TRY(check_keys(yaml, iwi_yaml_line(node), entries));
    *segment = (iw_net_segment){.from_bytes = net.S_bytes,
                                .L_ps = net.L_ps,
                                .o_send_ps = net.o_send_ps,
                                .o_recv_ps = net.o_recv_ps,
                                .g_ps = net.g_ps,
                                .G = net.G,
                                .O = net.O};
    return IW_OK;
}

static iw_status read_segments(struct iwi_yaml *yaml, const yaml_node_t *node, iw_net *net)
{
    const size_t count = iwi_yaml_item_count(node);

    if (count > IW_NET_SEGMENTS_MAX) {
        return iwi_yaml_fail(yaml, iwi_yaml_line(node), IW_ERR_RANGE, "%zu segments are more than %d", count,
                             IW_NET_SEGMENTS_MAX);
    }
    for (size_t i = 0; i < count; i++) {
        IW_TRY(read_segment(yaml, iwi_yaml_item(yaml, node, i), &net->segments[i]));
    }
    net->segment_count = (uint32_t)count;
    return IW_OK;
}

/* ---- a mapping of parameters ---- */

static iw_status check_at_least(const struct iwi_yaml *yaml, const struct iwi_yaml_entry *entries)
{
    const char *text = UNKNOWN;

    if (entries[KEY_S].value != NULL) {
        IW_TRY(iwi_yaml_text(yaml, entries[KEY_S].value, keys[KEY_S].name, &text));
    }
    return entries[KEY_S_AT_LEAST].value == NULL || strcmp(text, UNKNOWN) == 0
               ? IW_OK
               : iwi_yaml_fail(yaml, entries[KEY_S_AT_LEAST].line, IW_ERR_FORMAT,
                               "key 'S_at_least' stands only where S is unknown");
}

static iw_status read_entries(struct iwi_yaml *yaml, const yaml_node_t *node,
                              const struct iwi_yaml_entry *entries, iw_net *net)
{
    for (size_t key = 0; key < KEY_ORIGIN; key++) {
        if (entries[key].value != NULL) {
            IW_TRY(read_value(yaml, (enum key)key, keys[key].name, entries[key].value, net));
        }
    }
    IW_TRY(check_at_least(yaml, entries));
    if (entries[KEY_SEGMENTS].value != NULL) {
        IW_TRY(read_segments(yaml, entries[KEY_SEGMENTS].value, net));
    }
    IW_TRY(check_keys(yaml, iwi_yaml_line(node), entries));
    return check_net(yaml, iwi_yaml_line(node), net);
}

/* ---- levels ---- */

struct levels {
    const char *wanted; /* NULL: the last */
    const char *file_name;
    iw_net net; /* the wanted one */
    bool is_found;
    char names[LEVELS_MAX][sizeof((iw_net *)NULL)->name];
};

static iw_status read_level(struct iwi_yaml *yaml, const yaml_node_t *node, size_t index,
                            struct levels *levels)
{
    struct iwi_yaml_entry entries[KEYS];
    iw_net net = {.S_bytes = DEFAULT_S_BYTES};
    char *name = levels->names[index];

    IW_TRY(iwi_yaml_mapping(yaml, node, keys, KEYS, entries));
    if (entries[KEY_NAME].value == NULL || entries[KEY_LEVELS].value != NULL) {
        return iwi_yaml_fail(yaml, iwi_yaml_line(node), IW_ERR_FORMAT,
                             "a level needs the key 'name' and has no levels of its own");
    }
    IW_TRY(read_entries(yaml, node, entries, &net));
    memcpy(name, net.name, sizeof net.name);
    for (size_t i = 0; i < index; i++) {
        if (strcmp(levels->names[i], name) == 0) {
            return iwi_yaml_fail(yaml, iwi_yaml_line(node), IW_ERR_FORMAT, "level '%s' is given again", name);
        }
    }
    if (levels->wanted == NULL || strcmp(levels->wanted, name) == 0) {
        snprintf(net.name, sizeof net.name, "%.40s/%.20s", levels->file_name, name);
        levels->net = net;
        levels->is_found = true;
    }
    return IW_OK;
}

static iw_status unknown_level(const struct iwi_yaml *yaml, size_t line, const struct levels *levels,
                               size_t count)
{
    char known[256] = "";
    size_t used = 0;

    for (size_t i = 0; i < count && used < sizeof known; i++) {
        used +=
            (size_t)snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "", levels->names[i]);
    }
    return iwi_yaml_fail(yaml, line, IW_ERR_USAGE, "there is no level '%.60s' in this network; it has %s",
                         levels->wanted, known);
}

static iw_status read_levels(struct iwi_yaml *yaml, const yaml_node_t *node, const char *level, iw_net *net)
{
    struct levels levels = {.wanted = level, .file_name = net->name};
    const size_t count = iwi_yaml_item_count(node), line = iwi_yaml_line(node);

    if (count == 0 || count > LEVELS_MAX) {
        return iwi_yaml_fail(yaml, line, IW_ERR_RANGE, "there are %zu levels; 1 to %d are read", count,
                             LEVELS_MAX);
    }
    for (size_t i = 0; i < count; i++) {
        IW_TRY(read_level(yaml, iwi_yaml_item(yaml, node, i), i, &levels));
    }
    if (!levels.is_found) {
        return unknown_level(yaml, line, &levels, count);
    }
    *net = levels.net;
    return IW_OK;
}

/* A file has levels, or parameters of its own. */
static iw_status check_no_parameters(const struct iwi_yaml *yaml, const struct iwi_yaml_entry *entries)
{
    for (size_t key = 0; key < KEYS; key++) {
        if (entries[key].value != NULL && key != KEY_NAME && key != KEY_FORMAT && key != KEY_ORIGIN &&
            key != KEY_LEVELS) {
            return iwi_yaml_fail(yaml, entries[key].line, IW_ERR_FORMAT,
                                 "key '%s' belongs into one of the levels", keys[key].name);
        }
    }
    return IW_OK;
}

/* ---- files ---- */

static iw_status read_net(struct iwi_yaml *yaml, const yaml_node_t *node, const char *name, const char *level,
                          iw_net *net_p)
{
    iw_net net = {.S_bytes = DEFAULT_S_BYTES};
    struct iwi_yaml_entry entries[KEYS];

    snprintf(net.name, sizeof net.name, "%s", name);
    IW_TRY(iwi_yaml_mapping(yaml, node, keys, KEYS, entries));
    if (entries[KEY_LEVELS].value != NULL) {
        IW_TRY(check_no_parameters(yaml, entries));
        for (size_t key = KEY_NAME; key <= KEY_FORMAT; key++) {
            if (entries[key].value != NULL) {
                IW_TRY(read_value(yaml, (enum key)key, keys[key].name, entries[key].value, &net));
            }
        }
        IW_TRY(read_levels(yaml, entries[KEY_LEVELS].value, level, &net));
    } else {
        IW_TRY(read_entries(yaml, node, entries, &net));
        if (level != NULL) {
            return iwi_yaml_fail(yaml, iwi_yaml_line(node), IW_ERR_USAGE,
                                 "there is no level '%.60s': this network has no levels", level);
        }
    }
    *net_p = net;
    return IW_OK;
}

iw_status iwi_net_read_node(struct iwi_yaml *yaml, const yaml_node_t *node, const char *name, iw_net *net_p)
{
    return read_net(yaml, node, name, NULL, net_p);
}

iw_status iwi_net_read_memory(const iw_log *log, const char *name, const char *data, size_t size,
                              const char *level, iw_net *net_p)
{
    char net_name[sizeof net_p->name];
    struct iwi_yaml yaml;
    iw_status status;

    iwi_name_of_path(name, net_name, sizeof net_name);
    IW_TRY(iwi_yaml_open(log, name, data, size, "L: 5us", &yaml));
    status = read_net(&yaml, iwi_yaml_root(&yaml), net_name, level, net_p);
    iwi_yaml_close(&yaml);
    return status;
}

iw_status iw_net_load_level(const iw_log *log, const char *path, const char *level, iw_net *net_p)
{
    struct iwi_input input;
    iw_status status;

    IW_TRY(iwi_input_open(log, path, &input));
    status = iwi_net_read_memory(log, path, input.data, input.size, level, net_p);
    iwi_input_close(&input);
    return status;
}

iw_status iw_net_load(const iw_log *log, const char *path, iw_net *net_p)
{
    return iw_net_load_level(log, path, NULL, net_p);
}
