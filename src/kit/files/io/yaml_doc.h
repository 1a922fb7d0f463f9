/* What all readers of YAML share: one document whose root is a mapping, known keys, errors with file and
 * line.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_YAML_DOC_H
#define IWI_YAML_DOC_H

#include <yaml.h>

#include "core/base/base.h"

struct iwi_yaml {
    const iw_log *log;
    const char *file; /* borrowed; for messages */
    yaml_document_t document;
};

/* Reads a text that holds one document, a mapping. `example` is a line of such a mapping, for the message.
 * To be closed if IW_OK. IW_ERR_FORMAT, IW_ERR_TRUNCATED (empty), IW_ERR_NOMEM. */
IW_NODISCARD iw_status iwi_yaml_open(const iw_log *log, const char *file, const char *data, size_t size,
                                     const char *example, struct iwi_yaml *yaml);
void iwi_yaml_close(struct iwi_yaml *yaml);

const yaml_node_t *iwi_yaml_root(struct iwi_yaml *yaml);

/* Counted from 1. */
size_t iwi_yaml_line(const yaml_node_t *node);

/* iwi_yaml_fail(yaml, line, IW_ERR_RANGE, "key '%s': ...", name) logs "'file:line': key ...". */
#define iwi_yaml_fail(yaml, line, status, format, ...) \
    iwi_fail((yaml)->log, status, "'%s:%zu': " format, (yaml)->file, (size_t)(line), ##__VA_ARGS__)

/* ---- mappings ---- */

struct iwi_yaml_key {
    const char *name, *alias; /* alias: or NULL */
};

/* One key as it was found. */
struct iwi_yaml_entry {
    const yaml_node_t *value; /* NULL: the key is not there */
    size_t line;              /* of the key */
};

/* Finds `count` keys in a mapping. Unknown keys and keys given twice are errors. */
IW_NODISCARD iw_status iwi_yaml_mapping(struct iwi_yaml *yaml, const yaml_node_t *node,
                                        const struct iwi_yaml_key *keys, size_t count,
                                        struct iwi_yaml_entry *entries);

/* ---- values ---- */

/* A scalar without NUL bytes, or an error that names the key. The text belongs to the document. */
IW_NODISCARD iw_status iwi_yaml_text(const struct iwi_yaml *yaml, const yaml_node_t *node, const char *key,
                                     const char **text_p);

/* Items of a sequence; whatever else is one item. */
size_t iwi_yaml_item_count(const yaml_node_t *node);
const yaml_node_t *iwi_yaml_item(struct iwi_yaml *yaml, const yaml_node_t *node, size_t index);

/* ---- messages of others ---- */

/* A log that keeps the last error of a parser that knows no place, and passes everything else on. */
struct iwi_log_keeper {
    iw_log log; /* pass &keeper.log */
    const iw_log *outer;
    char text[512];
};

void iwi_log_keeper_init(struct iwi_log_keeper *keeper, const iw_log *outer);

/* "dir/my.yaml" gives "my", cut to `size` - 1 bytes. */
void iwi_name_of_path(const char *path, char *buf, size_t size);

#endif
