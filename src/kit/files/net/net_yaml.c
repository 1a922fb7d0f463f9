/* Reads a network from YAML: parameters, their segments, and levels of measured files
 * (docs/reference/formats/net.md).
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/files/net/net_yaml_keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <idlewave/files.h>

#include "core/base/base.h"
#include "kit/files/io/input.h"
#include "kit/files/net/net_reader.h"

#define FORMAT "idlewave.net/2"
#define OLD_FORMAT "idlewave.net/1" /* levels without sizes: a simulation takes one */
#define UNKNOWN "unknown"           /* in place of a value */

enum {
    SEGMENT_KEYS = IWI_NET_KEY_S + 1,
    KEY_FROM = IWI_NET_KEY_S /* in its place in segments */
};

const struct iwi_yaml_key iwi_net_keys[IWI_NET_KEYS] = {
    [IWI_NET_KEY_L] = {"L", NULL},
    [IWI_NET_KEY_O_BOTH] = {"o", NULL},
    [IWI_NET_KEY_O_SEND] = {"o_s", "o_send"},
    [IWI_NET_KEY_O_RECV] = {"o_r", "o_recv"},
    [IWI_NET_KEY_G] = {"g", NULL},
    [IWI_NET_KEY_GG] = {"G", NULL},
    [IWI_NET_KEY_OO] = {"O", NULL},
    [IWI_NET_KEY_S] = {"S", NULL},
    [IWI_NET_KEY_NAME] = {"name", NULL},
    [IWI_NET_KEY_FORMAT] = {"format", NULL},
    [IWI_NET_KEY_S_AT_LEAST] = {"S_at_least", NULL},
    [IWI_NET_KEY_PROGRESS] = {"progress", NULL},
    [IWI_NET_KEY_ORIGIN] = {"origin", NULL},
    [IWI_NET_KEY_SEGMENTS] = {"segments", NULL},
    [IWI_NET_KEY_MEMORY] = {"memory", NULL},
    [IWI_NET_KEY_NOISE] = {"noise", NULL},
    [IWI_NET_KEY_LEVELS] = {"levels", NULL},
    [IWI_NET_KEY_PLACEMENT] = {"placement", NULL},
    [IWI_NET_KEY_NICS] = {"nics", NULL},
    [IWI_NET_KEY_RANKS] = {"ranks", NULL},
    [IWI_NET_KEY_TAPER] = {"taper", NULL},
    [IWI_NET_KEY_HALF] = {"L_half_round_trip", NULL},
    [IWI_NET_KEY_S_INSIDE] = {"S_receiver_in_mpi", NULL},
    [IWI_NET_KEY_S_INSIDE_AT_LEAST] = {"S_receiver_in_mpi_at_least", NULL},
    [IWI_NET_KEY_MEASURED] = {"measured", NULL},
};

static const struct iwi_yaml_key segment_keys[SEGMENT_KEYS] = {
    [IWI_NET_KEY_L] = {"L", NULL},
    [IWI_NET_KEY_O_BOTH] = {"o", NULL},
    [IWI_NET_KEY_O_SEND] = {"o_s", "o_send"},
    [IWI_NET_KEY_O_RECV] = {"o_r", "o_recv"},
    [IWI_NET_KEY_G] = {"g", NULL},
    [IWI_NET_KEY_GG] = {"G", NULL},
    [IWI_NET_KEY_OO] = {"O", NULL},
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
    if (strcmp(text, FORMAT) != 0 && strcmp(text, OLD_FORMAT) != 0) {
        return iwi_yaml_fail(yaml, line, IW_ERR_FORMAT, "format '%.60s' is not '" FORMAT "'", text);
    }
    return IW_OK;
}

/* Who moves messages. */
static iw_status parse_progress(const iw_log *log, const char *text, iw_net *net)
{
    net->is_device_progress = strcmp(text, "device") == 0;
    return net->is_device_progress || strcmp(text, "cpu") == 0
               ? IW_OK
               : iwi_fail(log, IW_ERR_FORMAT, "'%.60s' is neither cpu nor device", text);
}

static iw_status parse_value(const iw_log *log, enum iwi_net_key key, const char *text, iw_net *net)
{
    switch (key) {
    case IWI_NET_KEY_L: return iw_parse_time(log, text, &net->L_ps);
    case IWI_NET_KEY_G: return iw_parse_time(log, text, &net->g_ps);
    case IWI_NET_KEY_O_SEND: return iw_parse_time(log, text, &net->o_send_ps);
    case IWI_NET_KEY_O_RECV: return iw_parse_time(log, text, &net->o_recv_ps);
    case IWI_NET_KEY_GG: return iw_parse_per_byte(log, text, &net->G);
    case IWI_NET_KEY_OO: return iw_parse_per_byte(log, text, &net->O);
    case IWI_NET_KEY_S:
    case IWI_NET_KEY_S_AT_LEAST: return iw_parse_count(log, text, &net->S_bytes);
    case IWI_NET_KEY_PROGRESS: return parse_progress(log, text, net);
    default: break;
    }
    IW_TRY(iw_parse_time(log, text, &net->o_send_ps)); /* IWI_NET_KEY_O_BOTH */
    net->o_recv_ps = net->o_send_ps;
    return IW_OK;
}

/* Where messages in a row, or a part of o_s + L + o_r, could not be told from nothing, it counts as nothing:
 * the sum was measured. An S that was not found leaves the default, or S_at_least. */
static iw_status take_unknown(const struct iwi_yaml *yaml, size_t line, enum iwi_net_key key)
{
    if (key == IWI_NET_KEY_PROGRESS) {
        return iwi_yaml_fail(yaml, line, IW_ERR_FORMAT, "key 'progress': write cpu or device");
    }
    if (key == IWI_NET_KEY_GG) {
        return iwi_yaml_fail(yaml, line, IW_ERR_FORMAT,
                             "G is unknown: a network of one size says nothing about others; write what a "
                             "byte takes");
    }
    return IW_OK;
}

iw_status iwi_net_read_value(const struct iwi_yaml *yaml, enum iwi_net_key key, const char *key_name,
                             const yaml_node_t *node, iw_net *net)
{
    const size_t line = iwi_yaml_line(node);
    struct iwi_log_keeper keeper;
    const char *text;
    iw_status status;

    IW_TRY(iwi_yaml_text(yaml, node, key_name, &text));
    if (key == IWI_NET_KEY_NAME) {
        return read_name(yaml, text, line, net);
    }
    if (key == IWI_NET_KEY_FORMAT) {
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
    const bool has_both = entries[IWI_NET_KEY_O_BOTH].value != NULL;
    const bool has_send = entries[IWI_NET_KEY_O_SEND].value != NULL,
               has_recv = entries[IWI_NET_KEY_O_RECV].value != NULL;
    const char *missing = entries[IWI_NET_KEY_L].value == NULL    ? "L"
                          : entries[IWI_NET_KEY_G].value == NULL  ? "g"
                          : entries[IWI_NET_KEY_GG].value == NULL ? "G"
                          : has_both || (has_send && has_recv)
                              ? NULL
                              : (has_send ? "o_r" : (has_recv ? "o_s" : "o"));

    if (has_both && (has_send || has_recv)) {
        return iwi_yaml_fail(yaml, entries[IWI_NET_KEY_O_BOTH].line, IW_ERR_FORMAT,
                             "key 'o' excludes 'o_s' and 'o_r'");
    }
    if (missing != NULL) {
        return iwi_yaml_fail(yaml, line, IW_ERR_FORMAT,
                             "key '%s' is missing; needed are L, o (or o_s and o_r), g, G", missing);
    }
    return IW_OK;
}

iw_status iwi_net_check_at(const struct iwi_yaml *yaml, size_t line, const iw_net *net)
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
            IW_TRY(iwi_net_read_value(yaml, (enum iwi_net_key)key, segment_keys[key].name, entries[key].value,
                                      &net));
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

    if (entries[IWI_NET_KEY_S].value != NULL) {
        IW_TRY(iwi_yaml_text(yaml, entries[IWI_NET_KEY_S].value, iwi_net_keys[IWI_NET_KEY_S].name, &text));
    }
    return entries[IWI_NET_KEY_S_AT_LEAST].value == NULL || strcmp(text, UNKNOWN) == 0
               ? IW_OK
               : iwi_yaml_fail(yaml, entries[IWI_NET_KEY_S_AT_LEAST].line, IW_ERR_FORMAT,
                               "key 'S_at_least' stands only where S is unknown");
}

/* Of all messages, not of some sizes alone. */
static iw_status warn_of_unknown_overhead(const struct iwi_yaml *yaml, const struct iwi_yaml_entry *entries)
{
    for (size_t key = IWI_NET_KEY_O_BOTH; key <= IWI_NET_KEY_O_RECV; key++) {
        const char *text = "";

        if (entries[key].value != NULL) {
            IW_TRY(iwi_yaml_text(yaml, entries[key].value, iwi_net_keys[key].name, &text));
        }
        if (strcmp(text, UNKNOWN) == 0) {
            iwi_warn(yaml->log,
                     "'%s:%zu': %s is unknown and counts as 0; if it is more, noise costs more than is said",
                     yaml->file, entries[key].line, iwi_net_keys[key].name);
        }
    }
    return IW_OK;
}

iw_status iwi_net_read_entries(struct iwi_yaml *yaml, const yaml_node_t *node,
                               const struct iwi_yaml_entry *entries, iw_net *net)
{
    for (size_t key = 0; key < IWI_NET_KEY_ORIGIN; key++) {
        if (entries[key].value != NULL) {
            IW_TRY(iwi_net_read_value(yaml, (enum iwi_net_key)key, iwi_net_keys[key].name, entries[key].value,
                                      net));
        }
    }
    IW_TRY(check_at_least(yaml, entries));
    IW_TRY(warn_of_unknown_overhead(yaml, entries));
    if (entries[IWI_NET_KEY_SEGMENTS].value != NULL) {
        IW_TRY(read_segments(yaml, entries[IWI_NET_KEY_SEGMENTS].value, net));
    }
    IW_TRY(check_keys(yaml, iwi_yaml_line(node), entries));
    return iwi_net_check_at(yaml, iwi_yaml_line(node), net);
}

/* ---- files ---- */

static iw_status check_no_levels(const struct iwi_yaml *yaml, const struct iwi_yaml_entry *entries)
{
    for (size_t key = IWI_NET_KEY_PLACEMENT; key <= IWI_NET_KEY_TAPER; key++) {
        if (entries[key].value != NULL) {
            return iwi_yaml_fail(yaml, entries[key].line, IW_ERR_FORMAT,
                                 "key '%s' belongs to a network with levels", iwi_net_keys[key].name);
        }
    }
    return IW_OK;
}

/* The same notation as on the command line. */
static iw_status read_memory(const struct iwi_yaml *yaml, const struct iwi_yaml_entry *entry, iw_net *net)
{
    struct iwi_log_keeper keeper;
    const char *text;
    iw_status status;

    IW_TRY(iwi_yaml_text(yaml, entry->value, "memory", &text));
    iwi_log_keeper_init(&keeper, yaml->log);
    status = iw_memory_parse(&keeper.log, text, &net->memory);
    return status == IW_OK ? IW_OK
                           : iwi_yaml_fail(yaml, entry->line, status, "key 'memory': %s", keeper.text);
}

/* What it says of the measurement; everything else in it is for people. */
static void read_origin(struct iwi_yaml *yaml, const yaml_node_t *node, iw_net_origin *origin)
{
    if (node == NULL || node->type != YAML_MAPPING_NODE) {
        return;
    }
    for (const yaml_node_pair_t *pair = node->data.mapping.pairs.start; pair < node->data.mapping.pairs.top;
         pair++) {
        const yaml_node_t *key = yaml_document_get_node(&yaml->document, pair->key),
                          *value = yaml_document_get_node(&yaml->document, pair->value);
        const char *name, *text;

        if (key->type != YAML_SCALAR_NODE || value->type != YAML_SCALAR_NODE) {
            continue;
        }
        name = (const char *)key->data.scalar.value;
        text = (const char *)value->data.scalar.value;
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
}

static bool is_list(const struct iwi_yaml_entry *entry)
{
    return entry->value != NULL && entry->value->type == YAML_SEQUENCE_NODE;
}

/* A network without levels. */
static iw_status read_flat(struct iwi_yaml *yaml, const yaml_node_t *node,
                           const struct iwi_yaml_entry *entries, const char *level, iw_net *net)
{
    const yaml_node_t *noise = entries[IWI_NET_KEY_NOISE].value;

    IW_TRY(check_no_levels(yaml, entries));
    IW_TRY(iwi_net_read_entries(yaml, node, entries, net));
    if (level != NULL) {
        return iwi_yaml_fail(yaml, iwi_yaml_line(node), IW_ERR_USAGE,
                             "there is no level '%.60s': this network has no levels", level);
    }
    return noise == NULL ? IW_OK : iwi_net_read_noise(yaml, noise, net);
}

static iw_status read_all(struct iwi_yaml *yaml, const yaml_node_t *node,
                          const struct iwi_yaml_entry *entries, const char *level, iw_net *net)
{
    IW_TRY(entries[IWI_NET_KEY_LEVELS].value != NULL ? iwi_net_read_levels(yaml, entries, level, net)
                                                     : read_flat(yaml, node, entries, level, net));
    read_origin(yaml, entries[IWI_NET_KEY_ORIGIN].value, &net->origin);
    if (level != NULL && strcmp(level, "node") == 0 &&
        net->origin.hosts > 1) { /* its ranks are on one host */
        net->origin.ranks /= net->origin.hosts;
        net->origin.hosts = 1;
    }
    if (entries[IWI_NET_KEY_MEMORY].value != NULL) {
        IW_TRY(read_memory(yaml, &entries[IWI_NET_KEY_MEMORY], net));
    }
    return level == NULL && is_list(&entries[IWI_NET_KEY_PLACEMENT])
               ? iwi_net_read_list(yaml, entries[IWI_NET_KEY_PLACEMENT].value, net)
               : IW_OK;
}

static iw_status read_net(struct iwi_yaml *yaml, const yaml_node_t *node, const char *name, const char *level,
                          iw_net *net_p)
{
    iw_net net = {.S_bytes = IWI_NET_DEFAULT_S_BYTES};
    struct iwi_yaml_entry entries[IWI_NET_KEYS];
    iw_status status;

    snprintf(net.name, sizeof net.name, "%s", name);
    IW_TRY(iwi_yaml_mapping(yaml, node, iwi_net_keys, IWI_NET_KEYS, entries));
    status = read_all(yaml, node, entries, level, &net);
    if (status != IW_OK) {
        iw_net_release(&net);
        return status;
    }
    *net_p = net;
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
        return iwi_fail(log, IW_ERR_USAGE, "there is no level '%.60s' in '%s': %s has no levels", level, path,
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
