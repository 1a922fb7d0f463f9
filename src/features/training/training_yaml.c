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

/* ---- noise ---- */

static iw_status read_noise(const struct iwi_yaml_value *value, void *at)
{
#define TEXT(m) IWI_YAML_ROW(iw_training_source_text, #m, m, iwi_yaml_string)
    static const struct iwi_yaml_row rows[] = {
        IWI_YAML_ROW(iw_training_source_text, "source", source, iwi_yaml_string, .is_short = true),
        TEXT(name),
        TEXT(where),
        TEXT(scope),
        TEXT(skew),
        TEXT(factor),
        TEXT(from),
    };
#undef TEXT

    for (size_t i = 0; i < iwi_yaml_items(value); i++) {
        iw_training_source_text text = {.source = NULL};
        struct iwi_yaml_map map;

        IW_TRY(iwi_yaml_find(value->yaml, iwi_yaml_nth(value, i).node, IWI_YAML_ROWS(rows), &map));
        IW_TRY(iwi_yaml_read(&map, &text));
        if (text.source == NULL) {
            return iwi_yaml_fail(value->yaml, map.line, IW_ERR_FORMAT,
                                 "an item of 'noise' needs the key 'source': python-gc, or "
                                 "periodic:10Hz,30ms");
        }
        IW_TRY(iw_training_add_source(iwi_yaml_log(value->yaml, map.line, ""), at, &text));
    }
    return IW_OK;
}

/* ---- settings ---- */

/* A list is told with commas between its items. */
static iw_status read_setting(const struct iwi_yaml_value *value, void *at)
{
    const iw_log *log = value->yaml->log;
    size_t used = 0, capacity = 0;
    char *text = NULL;
    iw_status status = iwi_grow(log, (void **)&text, &capacity, 1, 1);

    for (size_t i = 0; i < iwi_yaml_items(value) && status == IW_OK; i++) {
        const struct iwi_yaml_value value_of = iwi_yaml_nth(value, i);
        const char *item = "";

        status = iwi_yaml_string(&value_of, &item);
        if (status == IW_OK) {
            status = iwi_grow(log, (void **)&text, &capacity, used + strlen(item) + 2, 1);
        }
        if (status == IW_OK) {
            used += (size_t)snprintf(text + used, capacity - used, "%s%s", i > 0 ? "," : "", item);
        }
    }
    if (status == IW_OK) {
        text[used] = '\0';
        status = iw_training_set(iwi_yaml_log(value->yaml, value->line, ""), at, value->row->key, text);
    }
    free(text);
    return status;
}

static iw_status read_document(struct iwi_yaml *yaml, iw_training *spec)
{
    static const char *const formats[] = {"idlewave.training/1", NULL};
    struct iwi_yaml_row rows[IWI_YAML_KEYS_MAX] = {
        {.key = "format", .read = iwi_yaml_format, .names = formats}};
    struct iwi_yaml_map map;
    size_t count = 1;

    /* the model comes first, so that others change it */
    for (size_t i = 0; iw_training_key(i) != NULL && count < IWI_YAML_KEYS_MAX - 1; i++) {
        rows[count++] = (struct iwi_yaml_row){.key = iw_training_key(i), .read = read_setting};
    }
    rows[count++] = (struct iwi_yaml_row){.key = "noise", .read = read_noise};
    IW_TRY(iwi_yaml_find(yaml, iwi_yaml_root(yaml), rows, count, &map));
    return iwi_yaml_read(&map, spec);
}

iw_status iwi_training_read_memory(const iw_log *log, const char *file, const char *data, size_t size,
                                   iw_training *spec)
{
    struct iwi_yaml yaml;
    iw_status status;

    if (iwi_is_simai(data, size)) {
        return iwi_simai_read_memory(log, file, data, size, spec);
    }
    IW_TRY(iwi_yaml_open(log, file, data, size, "model: llama3-8b", &yaml));
    status = read_document(&yaml, spec);
    iwi_yaml_close(&yaml);
    return status;
}

enum { HEAD_BYTES = 256 /* with the first word of a workload */ };

bool iw_training_is_file(const char *path)
{
    const char *dot = strrchr(path, '.');
    char head[HEAD_BYTES];
    FILE *file;
    size_t size;

    if (dot != NULL && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0)) {
        return true;
    }
    file = fopen(path, "re");
    if (file == NULL) {
        return false;
    }
    size = fread(head, 1, sizeof head, file);
    (void)fclose(file);
    return iwi_is_simai(head, size);
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
