/* Reads a network from YAML: one flat mapping (docs/formats/net.md).
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "format/net_yaml.h"

#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "format/input.h"

#define FORMAT "idlewave.net/1"
#define DEFAULT_S_BYTES (UINT64_C(65) * 1024) /* as in the paper's Table III */

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
    KEY_ORIGIN,
    KEYS
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
    [KEY_ORIGIN] = {"origin", NULL},
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
    case KEY_S: return iw_parse_count(log, text, &net->S_bytes);
    default: break;
    }
    IW_TRY(iw_parse_time(log, text, &net->o_send_ps)); /* KEY_O_BOTH */
    net->o_recv_ps = net->o_send_ps;
    return IW_OK;
}

static iw_status read_value(const struct iwi_yaml *yaml, enum key key, const yaml_node_t *node, iw_net *net)
{
    const size_t line = iwi_yaml_line(node);
    struct iwi_log_keeper keeper;
    const char *text;
    iw_status status;

    IW_TRY(iwi_yaml_text(yaml, node, keys[key].name, &text));
    if (key == KEY_NAME) {
        return read_name(yaml, text, line, net);
    }
    if (key == KEY_FORMAT) {
        return check_format(yaml, text, line);
    }
    iwi_log_keeper_init(&keeper, yaml->log);
    status = parse_value(&keeper.log, key, text, net);
    if (status != IW_OK) {
        return iwi_yaml_fail(yaml, line, status, "key '%s': %s", keys[key].name, keeper.text);
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

iw_status iwi_net_read_node(struct iwi_yaml *yaml, const yaml_node_t *node, const char *name, iw_net *net_p)
{
    iw_net net = {.S_bytes = DEFAULT_S_BYTES};
    struct iwi_yaml_entry entries[KEYS];

    snprintf(net.name, sizeof net.name, "%s", name);
    IW_TRY(iwi_yaml_mapping(yaml, node, keys, KEYS, entries));
    for (size_t key = 0; key < KEYS; key++) {
        if (entries[key].value != NULL && key != KEY_ORIGIN) {
            IW_TRY(read_value(yaml, (enum key)key, entries[key].value, &net));
        }
    }
    IW_TRY(check_keys(yaml, iwi_yaml_line(node), entries));
    IW_TRY(check_net(yaml, iwi_yaml_line(node), &net));
    *net_p = net;
    return IW_OK;
}

iw_status iwi_net_read_memory(const iw_log *log, const char *name, const char *data, size_t size,
                              iw_net *net_p)
{
    char net_name[sizeof net_p->name];
    struct iwi_yaml yaml;
    iw_status status;

    iwi_name_of_path(name, net_name, sizeof net_name);
    IW_TRY(iwi_yaml_open(log, name, data, size, "L: 5us", &yaml));
    status = iwi_net_read_node(&yaml, iwi_yaml_root(&yaml), net_name, net_p);
    iwi_yaml_close(&yaml);
    return status;
}

iw_status iw_net_load(const iw_log *log, const char *path, iw_net *net_p)
{
    struct iwi_input input;
    iw_status status;

    IW_TRY(iwi_input_open(log, path, &input));
    status = iwi_net_read_memory(log, path, input.data, input.size, net_p);
    iwi_input_close(&input);
    return status;
}
