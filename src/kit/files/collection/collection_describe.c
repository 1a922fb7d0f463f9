/* What can be told of a file that somebody contributes.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>

#include <idlewave/files.h>
#include <idlewave/net.h>
#include <idlewave/recording.h>

#include "core/net/net.h"
#include "kit/files/collection/collection.h"
#include "kit/files/io/input.h"
#include "kit/files/io/paths.h"
#include "kit/files/io/yaml_doc.h"
#include "kit/files/net/net_yaml.h"

#define FILL_IN "FILL IN"

/* ---- where it came from: "host: node17; kernel: 6.1.0" ---- */

static void append_fact(FILE *out, const char *name, const char *value)
{
    (void)fprintf(out, "%s%s: %s", ftell(out) > 0 ? "; " : "", name, value);
}

static iw_status write_recording_origin(const iw_log *log, const char *path, FILE *out)
{
    iw_recording *recording;

    IW_TRY(iw_recording_load(log, path, &recording));
    for (size_t i = 0; i < recording->attribute_count; i++) {
        append_fact(out, recording->attributes[i].name, recording->attributes[i].value);
    }
    iw_recording_free(recording);
    return IW_OK;
}

/* The value of `origin`, a mapping of texts; whatever else is left out. */
static void write_mapping(struct iwi_yaml *yaml, const yaml_node_t *node, FILE *out)
{
    for (const yaml_node_pair_t *pair = node->data.mapping.pairs.start; pair < node->data.mapping.pairs.top;
         pair++) {
        const yaml_node_t *key = yaml_document_get_node(&yaml->document, pair->key);
        const yaml_node_t *value = yaml_document_get_node(&yaml->document, pair->value);

        if (key->type == YAML_SCALAR_NODE && value->type == YAML_SCALAR_NODE) {
            append_fact(out, (const char *)key->data.scalar.value, (const char *)value->data.scalar.value);
        }
    }
}

static void write_origin_of(struct iwi_yaml *yaml, FILE *out)
{
    const yaml_node_t *root = iwi_yaml_root(yaml);

    for (const yaml_node_pair_t *pair = root->data.mapping.pairs.start; pair < root->data.mapping.pairs.top;
         pair++) {
        const yaml_node_t *key = yaml_document_get_node(&yaml->document, pair->key);
        const yaml_node_t *value = yaml_document_get_node(&yaml->document, pair->value);

        if (key->type == YAML_SCALAR_NODE && value->type == YAML_MAPPING_NODE &&
            strcmp((const char *)key->data.scalar.value, "origin") == 0) {
            write_mapping(yaml, value, out);
        }
    }
}

static iw_status write_net_origin(const iw_log *log, const char *path, FILE *out)
{
    struct iwi_input input;
    struct iwi_yaml yaml;
    iw_status status;

    IW_TRY(iwi_input_open(log, path, &input));
    status = iwi_yaml_open(log, path, input.data, input.size, "L: 5us", &yaml);
    if (status == IW_OK) {
        write_origin_of(&yaml, out);
        iwi_yaml_close(&yaml);
    }
    iwi_input_close(&input);
    return status;
}

/* ---- the entry ---- */

static iw_collected_kind kind_of(const char *path)
{
    return iwi_path_ends_in(path, ".yaml") || iwi_path_ends_in(path, ".yml") ? IW_COLLECTED_NET
                                                                             : IW_COLLECTED_NOISE;
}

/* Whatever readers of such files refuse is refused. */
static iw_status write_origin(const iw_log *log, const char *path, iw_collected_kind kind, FILE *out)
{
    iw_noise *noise;
    iw_status status;

    if (kind == IW_COLLECTED_NET) {
        iw_net net;

        IW_TRY(iwi_net_load(log, path, NULL, &net));
        iwi_net_release(&net);
        return write_net_origin(log, path, out);
    }
    if (iw_noise_form_of(path) == IW_NOISE_RECORDING) {
        return write_recording_origin(log, path, out);
    }
    IW_TRY(iw_noise_new(log, &noise));
    status = iw_noise_open(log, noise, path);
    iw_noise_free(noise);
    return status;
}

static iw_status origin_of(const iw_log *log, const char *path, iw_collected_kind kind, char **origin_p)
{
    size_t size;
    FILE *out = open_memstream(origin_p, &size);
    iw_status status;

    if (out == NULL) {
        return iwi_fail(log, IW_ERR_NOMEM, "out of memory for an origin");
    }
    status = write_origin(log, path, kind, out);
    if (status == IW_OK && ftell(out) == 0) {
        (void)fputs(FILL_IN ": who measured or published it, where and when", out);
    }
    return fclose(out) == 0 ? status : IW_ERR_NOMEM;
}

iw_status iw_collection_describe(const iw_log *log, const char *path, FILE *out)
{
    const char *slash = strrchr(path, '/');
    char *origin = NULL, *sha256 = NULL;
    iw_collected entry = {.kind = kind_of(path),
                          .name = FILL_IN,
                          .file = slash != NULL ? slash + 1 : path,
                          .about = FILL_IN ": one sentence",
                          .licence = FILL_IN ": an SPDX identifier, CC0-1.0 for measured numbers",
                          .made = FILL_IN ": the commands"};
    iw_status status = origin_of(log, path, entry.kind, &origin);

    if (status == IW_OK) {
        status = iwi_sha256_of_file(log, path, &sha256, &entry.bytes);
    }
    if (status == IW_OK) {
        entry.origin = origin;
        entry.sha256 = sha256;
        iwi_collected_write(out, &entry);
    }
    free(origin);
    free(sha256);
    return status;
}
