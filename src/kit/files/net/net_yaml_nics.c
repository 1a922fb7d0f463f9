/* NICs and tapers of networks in YAML (docs/reference/formats/net.md).
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <string.h>

#include "core/base/base.h"
#include "kit/files/net/net_yaml_keys.h"

enum nics_key { KEY_COUNT, KEY_G, KEY_BANDWIDTH, KEY_NODE, KEY_ACTIVE, KEY_RAILS, KEY_SHARING, NICS_KEYS };

static const struct iwi_yaml_key nics_keys[NICS_KEYS] = {
    [KEY_COUNT] = {"count", NULL},     [KEY_G] = {"G", NULL},           [KEY_BANDWIDTH] = {"bandwidth", NULL},
    [KEY_NODE] = {"node", NULL},       [KEY_ACTIVE] = {"active", NULL}, [KEY_RAILS] = {"rails", NULL},
    [KEY_SHARING] = {"sharing", NULL},
};

/* One of two words; the second gives true. */
static iw_status read_choice(const struct iwi_yaml *yaml, const char *text, size_t line, const char *key,
                             const char *no, const char *yes, bool *is_yes_p)
{
    if (strcmp(text, no) != 0 && strcmp(text, yes) != 0) {
        return iwi_yaml_fail(yaml, line, IW_ERR_FORMAT, "key '%s': '%.60s' is neither '%s' nor '%s'", key,
                             text, no, yes);
    }
    *is_yes_p = strcmp(text, yes) == 0;
    return IW_OK;
}

static iw_status read_node(const struct iwi_yaml *yaml, const char *text, size_t line, iw_net *net)
{
    for (uint32_t i = 0; i < net->inner_count; i++) {
        if (strcmp(net->inner[i].name, text) == 0) {
            net->nics.node_level = i;
            return IW_OK;
        }
    }
    return iwi_yaml_fail(yaml, line, IW_ERR_FORMAT,
                         "key 'node': there is no level '%.60s' with 'ranks' whose groups could have NICs",
                         text);
}

static iw_status parse_number(const iw_log *log, enum nics_key key, const char *text, iw_net_nics *nics)
{
    uint64_t count = 0;

    if (key == KEY_G) {
        return iw_parse_per_byte(log, text, &nics->G);
    }
    if (key == KEY_BANDWIDTH) {
        return iw_parse_bandwidth(log, text, &nics->G);
    }
    IW_TRY(iw_parse_count(log, text, &count));
    if (count < 1 || count > UINT32_MAX) {
        return iwi_fail(log, IW_ERR_RANGE, "at least 1 is needed");
    }
    *(key == KEY_COUNT ? &nics->count : &nics->active) = (uint32_t)count;
    return IW_OK;
}

static iw_status read_number(const struct iwi_yaml *yaml, enum nics_key key, const char *text, size_t line,
                             iw_net_nics *nics)
{
    struct iwi_log_keeper keeper;
    iw_status status;

    iwi_log_keeper_init(&keeper, yaml->log);
    status = parse_number(&keeper.log, key, text, nics);
    return status == IW_OK
               ? IW_OK
               : iwi_yaml_fail(yaml, line, status, "key '%s': %s", nics_keys[key].name, keeper.text);
}

static iw_status read_entry(const struct iwi_yaml *yaml, enum nics_key key,
                            const struct iwi_yaml_entry *entry, iw_net *net)
{
    bool has_queues = false;
    const char *text;

    IW_TRY(iwi_yaml_text(yaml, entry->value, nics_keys[key].name, &text));
    switch (key) {
    case KEY_NODE: return read_node(yaml, text, entry->line, net);
    case KEY_RAILS:
        return read_choice(yaml, text, entry->line, "rails", "false", "true", &net->nics.has_rails);
    case KEY_SHARING:
        IW_TRY(read_choice(yaml, text, entry->line, "sharing", "max-rate", "queues", &has_queues));
        net->nics.sharing = has_queues ? IW_NIC_QUEUES : IW_NIC_MAX_RATE;
        return IW_OK;
    default: return read_number(yaml, key, text, entry->line, &net->nics);
    }
}

iw_status iwi_net_read_nics(struct iwi_yaml *yaml, const yaml_node_t *node, iw_net *net)
{
    const size_t line = iwi_yaml_line(node);
    struct iwi_yaml_entry entries[NICS_KEYS];

    if (net->inner_count == 0) {
        return iwi_yaml_fail(yaml, line, IW_ERR_FORMAT,
                             "NICs need a level that is their node: give 'ranks' to all levels but the last");
    }
    IW_TRY(iwi_yaml_mapping(yaml, node, nics_keys, NICS_KEYS, entries));
    if (entries[KEY_COUNT].value == NULL ||
        (entries[KEY_G].value == NULL) == (entries[KEY_BANDWIDTH].value == NULL)) {
        return iwi_yaml_fail(yaml, line, IW_ERR_FORMAT,
                             "NICs need the key 'count', and either 'bandwidth' or 'G' of one of them");
    }
    net->nics.node_level = net->inner_count - 1;
    for (size_t key = 0; key < NICS_KEYS; key++) {
        if (entries[key].value != NULL) {
            IW_TRY(read_entry(yaml, (enum nics_key)key, &entries[key], net));
        }
    }
    return iwi_net_check_at(yaml, line, net);
}

iw_status iwi_net_read_taper(const struct iwi_yaml *yaml, const yaml_node_t *node, double *taper_p)
{
    struct iwi_log_keeper keeper;
    const char *text;
    iw_status status;

    IW_TRY(iwi_yaml_text(yaml, node, "taper", &text));
    iwi_log_keeper_init(&keeper, yaml->log);
    status = iw_parse_share(&keeper.log, text, taper_p);
    if (status != IW_OK || *taper_p < 1.0) {
        return iwi_yaml_fail(yaml, iwi_yaml_line(node), status == IW_OK ? IW_ERR_RANGE : status,
                             "key 'taper': '%.60s' is not a number of at least 1, for instance 2", text);
    }
    return IW_OK;
}
