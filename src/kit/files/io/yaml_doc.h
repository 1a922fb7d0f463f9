/* What all readers of YAML share: one document whose root is a mapping, tables of keys over structs, errors
 * with file and line.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *     static const struct iwi_yaml_row rows[] = {
 *         IWI_YAML_ROW(iw_net, "L", L_ps, iwi_yaml_time),
 *         IWI_YAML_ROW(iw_net_nics, "count", count, iwi_yaml_count, .least = 1),
 *         {.key = "levels"}, whoever reads the mapping takes it by iwi_yaml_get()
 *     };
 *
 *     IW_TRY(iwi_yaml_find(yaml, node, IWI_YAML_ROWS(rows), &map));
 *     IW_TRY(iwi_yaml_read(&map, &net));
 */
#ifndef IWI_YAML_DOC_H
#define IWI_YAML_DOC_H

#include <yaml.h>

#include "core/base/base.h"

struct iwi_yaml {
    const iw_log *log;
    const char *file; /* borrowed; for messages */
    void *reader;     /* of whoever opened it, for the functions that its rows name */
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

/* The same of a value, with its key. */
#define iwi_yaml_refuse(value, status, format, ...) \
    iwi_yaml_fail((value)->yaml, (value)->line, status, "key '%s': " format, (value)->row->key, ##__VA_ARGS__)

/* ---- tables ---- */

/* What was given to a key. */
struct iwi_yaml_value {
    struct iwi_yaml *yaml;
    const struct iwi_yaml_row *row;
    const yaml_node_t *node; /* NULL: the key is not there */
    size_t line, key_line;
};

/* A key, and how its value is read. */
struct iwi_yaml_row {
    const char *key, *alias;                                         /* alias: or NULL */
    iw_status (*read)(const struct iwi_yaml_value *value, void *at); /* NULL: iwi_yaml_read() leaves it out */
    size_t offset, size;                                             /* of the member that `at` points to */
    uint64_t least, most; /* of counts (most 0: as much as fits); bytes of a line */
    const char *const
        *names; /* of choices, in the order of their enum, up to NULL; of formats, the newest first */
    bool is_required;
    bool is_short;       /* "VALUE" stands for "{KEY: VALUE}" */
    bool may_be_unknown; /* what "unknown" is left as it is */
    unsigned where;      /* for whoever reads the mapping: where it may have the key */
};

#define IWI_YAML_ROW(T, k, m, how, ...)                                                                 \
    {                                                                                                   \
        .key = (k), .read = (how), .offset = offsetof(T, m), .size = sizeof(((T *)0)->m), ##__VA_ARGS__ \
    }
#define IWI_YAML_ROWS(table) (table), sizeof(table) / sizeof *(table)
#define IWI_YAML_UNKNOWN "unknown"

enum { IWI_MOST_YAML_KEYS = 80 };

/* A mapping as it was found. */
struct iwi_yaml_map {
    struct iwi_yaml *yaml;
    size_t line;
    const struct iwi_yaml_row *rows;
    size_t count;
    struct iwi_yaml_value found[IWI_MOST_YAML_KEYS]; /* of each row */
};

/* Finds the keys of a mapping. Unknown keys and keys given twice are errors. */
IW_NODISCARD iw_status iwi_yaml_find(struct iwi_yaml *yaml, const yaml_node_t *node,
                                     const struct iwi_yaml_row *rows, size_t count, struct iwi_yaml_map *map);

/* NULL: it does not have that key. */
const struct iwi_yaml_value *iwi_yaml_get(const struct iwi_yaml_map *map, const char *key);

/* Fills the members of a struct, in the order of the table. Required keys that are missing are errors. */
IW_NODISCARD iw_status iwi_yaml_read(const struct iwi_yaml_map *map, void *object);

/* ---- values ---- */

/* Items of a sequence; whatever else is one item. */
size_t iwi_yaml_items(const struct iwi_yaml_value *value);
struct iwi_yaml_value iwi_yaml_nth(const struct iwi_yaml_value *value, size_t index);

bool iwi_yaml_is(const struct iwi_yaml_value *value, const char *text);

/* Readers for rows; also called directly. Errors name the key. */
IW_NODISCARD iw_status iwi_yaml_string(const struct iwi_yaml_value *value,
                                       void *at); /* const char *, the document's */
IW_NODISCARD iw_status iwi_yaml_time(const struct iwi_yaml_value *value, void *at);
IW_NODISCARD iw_status iwi_yaml_per_byte(const struct iwi_yaml_value *value, void *at);
IW_NODISCARD iw_status iwi_yaml_share(const struct iwi_yaml_value *value, void *at);  /* double */
IW_NODISCARD iw_status iwi_yaml_count(const struct iwi_yaml_value *value, void *at);  /* uint32_t, uint64_t */
IW_NODISCARD iw_status iwi_yaml_choice(const struct iwi_yaml_value *value, void *at); /* an enum or a bool */
IW_NODISCARD iw_status iwi_yaml_switch(const struct iwi_yaml_value *value, void *at); /* bool: true, false */
IW_NODISCARD iw_status iwi_yaml_format(const struct iwi_yaml_value *value, void *at); /* nothing is stored */
IW_NODISCARD iw_status iwi_yaml_chars(const struct iwi_yaml_value *value,
                                      void *at); /* char[size]: any text */
/* char *, to be freed: a line. What it held is freed. */
IW_NODISCARD iw_status iwi_yaml_line_copy(const struct iwi_yaml_value *value, void *at);

/* One of the words up to NULL. */
IW_NODISCARD iw_status iwi_yaml_index(const struct iwi_yaml_value *value, const char *const *names,
                                      size_t *index_p);

/* ---- messages of others ---- */

/* A log for parsers that know no place: puts file, line and subject in front of errors. The macros make one
 * that lives until the end of the block. */
struct iwi_yaml_log {
    iw_log log;
    const struct iwi_yaml *yaml;
    size_t line;
    const char *key, *subject; /* key: or NULL */
};

const iw_log *iwi_yaml_log_init(struct iwi_yaml_log *at);

#define iwi_yaml_log(of, at_line, what) \
    iwi_yaml_log_init(&(struct iwi_yaml_log){.yaml = (of), .line = (at_line), .subject = (what)})
#define iwi_yaml_value_log(value) \
    iwi_yaml_log_init(            \
        &(struct iwi_yaml_log){.yaml = (value)->yaml, .line = (value)->line, .key = (value)->row->key})

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
