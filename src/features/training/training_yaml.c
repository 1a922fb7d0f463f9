/* Reads training programs from YAML: settings by their keys, and a list of sources of jitter.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/training/training_yaml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "features/training/training_simai.h"
#include "kit/files/io/input.h"
#include "kit/files/io/yaml_doc.h"

#define FORMAT "idlewave.training/1"

enum { MOST_KEYS = 80, LIST_BYTES = 1 << 16 };

enum {
    SOURCE_SOURCE,
    SOURCE_NAME,
    SOURCE_WHERE,
    SOURCE_SCOPE,
    SOURCE_SKEW,
    SOURCE_FACTOR,
    SOURCE_FROM,
    SOURCE_KEYS
};

static const struct iwi_yaml_key source_keys[SOURCE_KEYS] = {
    [SOURCE_SOURCE] = {"source", NULL}, [SOURCE_NAME] = {"name", NULL}, [SOURCE_WHERE] = {"where", NULL},
    [SOURCE_SCOPE] = {"scope", NULL},   [SOURCE_SKEW] = {"skew", NULL}, [SOURCE_FACTOR] = {"factor", NULL},
    [SOURCE_FROM] = {"from", NULL},
};

/* ---- noise ---- */

static iw_status read_source(struct iwi_yaml *yaml, const yaml_node_t *node, iw_training *spec)
{
    struct iwi_yaml_entry entries[SOURCE_KEYS];
    const char *texts[SOURCE_KEYS] = {NULL};
    struct iwi_log_keeper keeper;
    iw_status status;

    if (node->type == YAML_MAPPING_NODE) {
        IW_TRY(iwi_yaml_mapping(yaml, node, source_keys, SOURCE_KEYS, entries));
        for (size_t i = 0; i < SOURCE_KEYS; i++) {
            if (entries[i].value != NULL) {
                IW_TRY(iwi_yaml_text(yaml, entries[i].value, source_keys[i].name, &texts[i]));
            }
        }
    } else {
        IW_TRY(iwi_yaml_text(yaml, node, "noise", &texts[SOURCE_SOURCE]));
    }
    if (texts[SOURCE_SOURCE] == NULL) {
        return iwi_yaml_fail(yaml, iwi_yaml_line(node), IW_ERR_FORMAT,
                             "an item of 'noise' needs the key 'source': python-gc, or periodic:10Hz,30ms");
    }
    iwi_log_keeper_init(&keeper, yaml->log);
    status = iw_training_add_source(&keeper.log, spec,
                                    &(iw_training_source_text){.source = texts[SOURCE_SOURCE],
                                                               .name = texts[SOURCE_NAME],
                                                               .where = texts[SOURCE_WHERE],
                                                               .scope = texts[SOURCE_SCOPE],
                                                               .skew = texts[SOURCE_SKEW],
                                                               .factor = texts[SOURCE_FACTOR],
                                                               .from = texts[SOURCE_FROM]});
    return status == IW_OK ? IW_OK : iwi_yaml_fail(yaml, iwi_yaml_line(node), status, "%s", keeper.text);
}

static iw_status read_noise(struct iwi_yaml *yaml, const yaml_node_t *node, iw_training *spec)
{
    for (size_t i = 0; i < iwi_yaml_item_count(node); i++) {
        IW_TRY(read_source(yaml, iwi_yaml_item(yaml, node, i), spec));
    }
    return IW_OK;
}

/* ---- settings ---- */

/* The items of a list, with commas between them. */
static iw_status join_items(struct iwi_yaml *yaml, const yaml_node_t *node, const char *key,
                            char text[LIST_BYTES])
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < iwi_yaml_item_count(node); i++) {
        const char *item;

        IW_TRY(iwi_yaml_text(yaml, iwi_yaml_item(yaml, node, i), key, &item));
        if (used + strlen(item) + 2 > LIST_BYTES) {
            return iwi_yaml_fail(yaml, iwi_yaml_line(node), IW_ERR_RANGE, "key '%s' has too long a list",
                                 key);
        }
        used += (size_t)snprintf(text + used, LIST_BYTES - used, "%s%s", i > 0 ? "," : "", item);
    }
    return IW_OK;
}

static iw_status read_setting(struct iwi_yaml *yaml, const char *key, const yaml_node_t *node,
                              iw_training *spec, char text[LIST_BYTES])
{
    struct iwi_log_keeper keeper;
    iw_status status;

    IW_TRY(join_items(yaml, node, key, text));
    iwi_log_keeper_init(&keeper, yaml->log);
    status = iw_training_set(&keeper.log, spec, key, text);
    return status == IW_OK ? IW_OK : iwi_yaml_fail(yaml, iwi_yaml_line(node), status, "%s", keeper.text);
}

static iw_status check_format(struct iwi_yaml *yaml, const struct iwi_yaml_entry *entry)
{
    const char *text;

    if (entry->value == NULL) {
        return IW_OK;
    }
    IW_TRY(iwi_yaml_text(yaml, entry->value, "format", &text));
    return strcmp(text, FORMAT) == 0
               ? IW_OK
               : iwi_yaml_fail(yaml, entry->line, IW_ERR_FORMAT, "format '%.60s' is not '" FORMAT "'", text);
}

static iw_status read_document(struct iwi_yaml *yaml, iw_training *spec, char text[LIST_BYTES])
{
    struct iwi_yaml_key keys[MOST_KEYS] = {{"format", NULL}, {"noise", NULL}};
    struct iwi_yaml_entry entries[MOST_KEYS];
    size_t count = 2;

    for (size_t i = 0; iw_training_key(i) != NULL && count < MOST_KEYS; i++) {
        keys[count++] = (struct iwi_yaml_key){iw_training_key(i), NULL};
    }
    IW_TRY(iwi_yaml_mapping(yaml, iwi_yaml_root(yaml), keys, count, entries));
    IW_TRY(check_format(yaml, &entries[0]));
    for (size_t i = 2; i < count; i++) { /* the model comes first, so that others change it */
        if (entries[i].value != NULL) {
            IW_TRY(read_setting(yaml, keys[i].name, entries[i].value, spec, text));
        }
    }
    return entries[1].value != NULL ? read_noise(yaml, entries[1].value, spec) : IW_OK;
}

iw_status iwi_training_read_memory(const iw_log *log, const char *file, const char *data, size_t size,
                                   iw_training *spec)
{
    struct iwi_yaml yaml;
    char *text;
    iw_status status;

    if (iwi_is_simai(data, size)) {
        return iwi_simai_read_memory(log, file, data, size, spec);
    }
    text = iwi_new_array(log, LIST_BYTES, 1);
    status = text != NULL ? IW_OK : IW_ERR_NOMEM;
    if (status == IW_OK) {
        status = iwi_yaml_open(log, file, data, size, "model: llama3-8b", &yaml);
    }
    if (status == IW_OK) {
        status = read_document(&yaml, spec, text);
        iwi_yaml_close(&yaml);
    }
    free(text);
    return status;
}

iw_status iw_training_load(const iw_log *log, const char *path, iw_training *spec)
{
    struct iwi_input input;
    iw_status status;

    IW_TRY(iwi_input_open(log, path, &input));
    status = iwi_training_read_memory(log, path, input.data, input.size, spec);
    iwi_input_close(&input);
    return status;
}
