/* One YAML document, its mappings by tables, and its values, with the line of each error.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/files/io/yaml_doc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <idlewave/time.h>

#include "core/base/nearest.h"

size_t iwi_yaml_line(const yaml_node_t *node)
{
    return node->start_mark.line + 1;
}

const yaml_node_t *iwi_yaml_root(struct iwi_yaml *yaml)
{
    return yaml_document_get_root_node(&yaml->document);
}

/* ---- opening ---- */

static iw_status fail_parser(const struct iwi_yaml *yaml, const yaml_parser_t *parser)
{
    const iw_status status = parser->error == YAML_MEMORY_ERROR ? IW_ERR_NOMEM : IW_ERR_FORMAT;
    const char *problem = parser->problem != NULL ? parser->problem : iw_status_text(status);

    return iwi_yaml_fail(yaml, parser->problem_mark.line + 1, status, "%s", problem);
}

static iw_status check_root(struct iwi_yaml *yaml, const char *example)
{
    const yaml_node_t *root = iwi_yaml_root(yaml);

    if (root == NULL) {
        return iwi_yaml_fail(yaml, 1, IW_ERR_TRUNCATED, "the file is empty");
    }
    if (root->type != YAML_MAPPING_NODE) {
        return iwi_yaml_fail(yaml, iwi_yaml_line(root), IW_ERR_FORMAT, "expected a mapping such as '%s'",
                             example);
    }
    return IW_OK;
}

static iw_status check_end(const struct iwi_yaml *yaml, yaml_parser_t *parser)
{
    yaml_document_t next;
    size_t line;
    bool is_last;

    if (!yaml_parser_load(parser, &next)) {
        return fail_parser(yaml, parser);
    }
    is_last = yaml_document_get_root_node(&next) == NULL;
    line = next.start_mark.line + 1;
    yaml_document_delete(&next);
    return is_last ? IW_OK : iwi_yaml_fail(yaml, line, IW_ERR_FORMAT, "more than one YAML document");
}

static iw_status load(struct iwi_yaml *yaml, yaml_parser_t *parser, const char *example)
{
    iw_status status;

    if (!yaml_parser_load(parser, &yaml->document)) {
        return fail_parser(yaml, parser);
    }
    status = check_root(yaml, example);
    if (status == IW_OK) {
        status = check_end(yaml, parser);
    }
    if (status != IW_OK) {
        iwi_yaml_close(yaml);
    }
    return status;
}

iw_status iwi_yaml_open(const iw_log *log, const char *file, const char *data, size_t size,
                        const char *example, struct iwi_yaml *yaml)
{
    yaml_parser_t parser;
    iw_status status;

    yaml->log = log;
    yaml->file = file;
    if (!yaml_parser_initialize(&parser)) {
        return iwi_fail(log, IW_ERR_NOMEM, "out of memory for reading '%s'", file);
    }
    yaml_parser_set_input_string(&parser, (const unsigned char *)data, size);
    status = load(yaml, &parser, example);
    yaml_parser_delete(&parser);
    return status;
}

void iwi_yaml_close(struct iwi_yaml *yaml)
{
    yaml_document_delete(&yaml->document);
}

/* ---- mappings ---- */

static iw_status unknown_key(const struct iwi_yaml_map *map, size_t line, const char *text)
{
    char known[512] = "", hint[IWI_HINT_SIZE];
    struct iwi_nearest nearest;
    bool fits = true;

    iwi_nearest_begin(&nearest, text);
    for (size_t i = 0; i < map->count; i++) {
        const size_t used = strlen(known);
        const size_t wanted =
            (size_t)snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "", map->rows[i].key);

        fits = fits && wanted < sizeof known - used;
        iwi_nearest_offer(&nearest, map->rows[i].key);
    }
    if (!fits) { /* too many to be read */
        return iwi_yaml_fail(map->yaml, line, IW_ERR_FORMAT, "unknown key '%.60s'%s", text,
                             iwi_nearest_hint(&nearest, hint));
    }
    return iwi_yaml_fail(map->yaml, line, IW_ERR_FORMAT, "unknown key '%.60s'%s%s keys are %s", text,
                         iwi_nearest_hint(&nearest, hint), nearest.best != NULL ? "" : ";", known);
}

/* "{noise: periodic:10Hz,100us}" has a key '100us' without a value: a comma ends values there. */
static bool is_cut_value(const yaml_node_t *mapping, const yaml_node_t *value)
{
    return mapping->data.mapping.style == YAML_FLOW_MAPPING_STYLE && value->type == YAML_SCALAR_NODE &&
           value->data.scalar.length == 0 && value->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
}

static bool is_key_of(const struct iwi_yaml_row *row, const char *text)
{
    return strcmp(text, row->key) == 0 || (row->alias != NULL && strcmp(text, row->alias) == 0);
}

static iw_status take_pair(struct iwi_yaml_map *map, const yaml_node_t *node, const yaml_node_t *key,
                           const yaml_node_t *value)
{
    const size_t line = iwi_yaml_line(key);
    const char *text = (const char *)key->data.scalar.value;
    size_t i = 0;

    if (key->type != YAML_SCALAR_NODE) {
        return iwi_yaml_fail(map->yaml, line, IW_ERR_FORMAT, "expected a key");
    }
    while (i < map->count && !is_key_of(&map->rows[i], text)) {
        i++;
    }
    if (i == map->count && is_cut_value(node, value)) {
        return iwi_yaml_fail(map->yaml, line, IW_ERR_FORMAT,
                             "'%.60s' has no key; a comma within {} ends a value: put it in quotes, such as "
                             "{noise: 'periodic:10Hz,100us'}",
                             text);
    }
    if (i == map->count) {
        return unknown_key(map, line, text);
    }
    if (map->found[i].node != NULL) {
        return iwi_yaml_fail(map->yaml, line, IW_ERR_FORMAT, "key '%s' is already in line %zu",
                             map->rows[i].key, map->found[i].key_line);
    }
    map->found[i] = (struct iwi_yaml_value){map->yaml, &map->rows[i], value, iwi_yaml_line(value), line};
    return IW_OK;
}

/* What is no mapping may be short for one. */
static iw_status take_short(struct iwi_yaml_map *map, const yaml_node_t *node)
{
    const size_t line = iwi_yaml_line(node);

    for (size_t i = 0; i < map->count; i++) {
        if (map->rows[i].is_short) {
            map->found[i] = (struct iwi_yaml_value){map->yaml, &map->rows[i], node, line, line};
            return IW_OK;
        }
    }
    return iwi_yaml_fail(map->yaml, line, IW_ERR_FORMAT, "expected a mapping such as '{%s: ...}'",
                         map->rows[0].key);
}

iw_status iwi_yaml_find(struct iwi_yaml *yaml, const yaml_node_t *node, const struct iwi_yaml_row *rows,
                        size_t count, struct iwi_yaml_map *map)
{
    *map = (struct iwi_yaml_map){.yaml = yaml, .line = iwi_yaml_line(node), .rows = rows, .count = count};
    if (node->type != YAML_MAPPING_NODE) {
        return take_short(map, node);
    }
    for (const yaml_node_pair_t *pair = node->data.mapping.pairs.start; pair < node->data.mapping.pairs.top;
         pair++) {
        IW_TRY(take_pair(map, node, yaml_document_get_node(&yaml->document, pair->key),
                         yaml_document_get_node(&yaml->document, pair->value)));
    }
    return IW_OK;
}

const struct iwi_yaml_value *iwi_yaml_get(const struct iwi_yaml_map *map, const char *key)
{
    for (size_t i = 0; i < map->count; i++) {
        if (map->found[i].node != NULL && strcmp(map->rows[i].key, key) == 0) {
            return &map->found[i];
        }
    }
    return NULL;
}

iw_status iwi_yaml_read(const struct iwi_yaml_map *map, void *object)
{
    for (size_t i = 0; i < map->count; i++) {
        const struct iwi_yaml_row *row = &map->rows[i];
        const struct iwi_yaml_value *value = &map->found[i];

        if (value->node == NULL && row->is_required) {
            return iwi_yaml_fail(map->yaml, map->line, IW_ERR_FORMAT, "key '%s' is missing", row->key);
        }
        if (value->node != NULL && row->read != NULL &&
            !(row->may_be_unknown && iwi_yaml_is(value, IWI_YAML_UNKNOWN))) {
            IW_TRY(row->read(value, (char *)object + row->offset));
        }
    }
    return IW_OK;
}

/* ---- values ---- */

bool iwi_yaml_is(const struct iwi_yaml_value *value, const char *text)
{
    return value->node->type == YAML_SCALAR_NODE &&
           strcmp((const char *)value->node->data.scalar.value, text) == 0;
}

size_t iwi_yaml_items(const struct iwi_yaml_value *value)
{
    return value->node->type != YAML_SEQUENCE_NODE
               ? 1
               : (size_t)(value->node->data.sequence.items.top - value->node->data.sequence.items.start);
}

struct iwi_yaml_value iwi_yaml_nth(const struct iwi_yaml_value *value, size_t index)
{
    struct iwi_yaml_value item = *value;

    if (value->node->type == YAML_SEQUENCE_NODE) {
        item.node =
            yaml_document_get_node(&value->yaml->document, value->node->data.sequence.items.start[index]);
        item.line = item.key_line = iwi_yaml_line(item.node);
    }
    return item;
}

/* As wide as the member. */
static void put(const struct iwi_yaml_value *value, void *at, uint64_t number)
{
    switch (value->row->size) {
    case sizeof(bool): *(bool *)at = number != 0; break;
    case sizeof(uint32_t): *(uint32_t *)at = (uint32_t)number; break;
    default: *(uint64_t *)at = number; break;
    }
}

iw_status iwi_yaml_string(const struct iwi_yaml_value *value, void *at)
{
    const char *text = (const char *)value->node->data.scalar.value;

    if (value->node->type != YAML_SCALAR_NODE || strlen(text) != value->node->data.scalar.length) {
        return iwi_yaml_fail(value->yaml, value->line, IW_ERR_FORMAT, "key '%s' needs a single value",
                             value->row->key);
    }
    *(const char **)at = text;
    return IW_OK;
}

iw_status iwi_yaml_time(const struct iwi_yaml_value *value, void *at)
{
    const char *text;

    IW_TRY(iwi_yaml_string(value, &text));
    return iw_parse_time(iwi_yaml_value_log(value), text, at);
}

iw_status iwi_yaml_per_byte(const struct iwi_yaml_value *value, void *at)
{
    const char *text;

    IW_TRY(iwi_yaml_string(value, &text));
    return iw_parse_per_byte(iwi_yaml_value_log(value), text, at);
}

iw_status iwi_yaml_share(const struct iwi_yaml_value *value, void *at)
{
    const char *text;

    IW_TRY(iwi_yaml_string(value, &text));
    return iw_parse_share(iwi_yaml_value_log(value), text, at);
}

iw_status iwi_yaml_count(const struct iwi_yaml_value *value, void *at)
{
    const struct iwi_yaml_row *row = value->row;
    const uint64_t fits = row->size == sizeof(uint32_t) ? UINT32_MAX : INT64_MAX;
    const uint64_t most = row->most != 0 ? row->most : fits;
    const char *text;
    uint64_t count;

    IW_TRY(iwi_yaml_string(value, &text));
    IW_TRY(iw_parse_count(iwi_yaml_value_log(value), text, &count));
    if (count < row->least || count > most) {
        return iwi_yaml_refuse(value, IW_ERR_RANGE, "'%s' is not between %" PRIu64 " and %" PRIu64, text,
                               row->least, most);
    }
    put(value, at, count);
    return IW_OK;
}

iw_status iwi_yaml_index(const struct iwi_yaml_value *value, const char *const *names, size_t *index_p)
{
    char known[128] = "", hint[IWI_HINT_SIZE];
    struct iwi_nearest nearest;
    const char *text;

    IW_TRY(iwi_yaml_string(value, &text));
    iwi_nearest_begin(&nearest, text);
    for (size_t i = 0; names[i] != NULL; i++) {
        const size_t used = strlen(known);

        if (strcmp(text, names[i]) == 0) {
            *index_p = i;
            return IW_OK;
        }
        snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "", names[i]);
        iwi_nearest_offer(&nearest, names[i]);
    }
    return iwi_yaml_refuse(value, IW_ERR_FORMAT, "unknown value '%.60s': use %s%s", text, known,
                           iwi_nearest_hint(&nearest, hint));
}

iw_status iwi_yaml_choice(const struct iwi_yaml_value *value, void *at)
{
    size_t index;

    IW_TRY(iwi_yaml_index(value, value->row->names, &index));
    put(value, at, index);
    return IW_OK;
}

iw_status iwi_yaml_switch(const struct iwi_yaml_value *value, void *at)
{
    static const char *const names[] = {"false", "true", NULL};
    size_t index;

    IW_TRY(iwi_yaml_index(value, names, &index));
    *(bool *)at = index != 0;
    return IW_OK;
}

iw_status iwi_yaml_format(const struct iwi_yaml_value *value, void *at)
{
    const char *const *names = value->row->names;
    const char *text;

    (void)at;
    IW_TRY(iwi_yaml_string(value, &text));
    for (size_t i = 0; names[i] != NULL; i++) {
        if (strcmp(text, names[i]) == 0) {
            return IW_OK;
        }
    }
    return iwi_yaml_fail(value->yaml, value->line, IW_ERR_FORMAT, "format '%.60s' is not '%s'", text,
                         names[0]);
}

/* Control characters would break tables and pages. */
static bool is_one_line(const char *text)
{
    while ((unsigned char)*text >= ' ' && *text != 0x7f) {
        text++;
    }
    return *text == '\0';
}

iw_status iwi_yaml_chars(const struct iwi_yaml_value *value, void *at)
{
    const size_t most_bytes = value->row->size - 1;
    const char *text;

    IW_TRY(iwi_yaml_string(value, &text));
    if (text[0] == '\0' || strlen(text) > most_bytes) {
        return iwi_yaml_fail(value->yaml, value->line, IW_ERR_RANGE, "key '%s' needs 1 to %zu bytes",
                             value->row->key, most_bytes);
    }
    memcpy(at, text, strlen(text) + 1);
    return IW_OK;
}

iw_status iwi_yaml_line_copy(const struct iwi_yaml_value *value, void *at)
{
    const char *text;
    char *copy;

    IW_TRY(iwi_yaml_string(value, &text));
    if (text[0] == '\0' || strlen(text) > value->row->most || !is_one_line(text)) {
        return iwi_yaml_fail(value->yaml, value->line, IW_ERR_RANGE,
                             "key '%s' needs one line of 1 to %zu bytes", value->row->key,
                             (size_t)value->row->most);
    }
    copy = strdup(text);
    if (copy == NULL) {
        return iwi_fail(value->yaml->log, IW_ERR_NOMEM, "out of memory for '%s'", value->yaml->file);
    }
    free(*(char **)at);
    *(char **)at = copy;
    return IW_OK;
}

/* ---- messages of others ---- */

static void write_placed(void *arg, iw_log_level level, const char *text)
{
    const struct iwi_yaml_log *at = arg;
    const iw_log *outer = at->yaml->log;

    if (level != IW_LOG_ERROR) {
        if (outer != NULL && outer->write != NULL) {
            outer->write(outer->arg, level, text);
        }
    } else if (at->key != NULL) {
        iwi_error(outer, "'%s:%zu': key '%s': %s", at->yaml->file, at->line, at->key, text);
    } else {
        iwi_error(outer, "'%s:%zu': %s%s", at->yaml->file, at->line, at->subject, text);
    }
}

const iw_log *iwi_yaml_log_init(struct iwi_yaml_log *at)
{
    at->log = (iw_log){write_placed, at};
    return &at->log;
}

static void keep(void *arg, iw_log_level level, const char *text)
{
    struct iwi_log_keeper *keeper = arg;

    if (level == IW_LOG_ERROR) {
        snprintf(keeper->text, sizeof keeper->text, "%s", text);
    } else if (keeper->outer != NULL) {
        keeper->outer->write(keeper->outer->arg, level, text);
    }
}

void iwi_log_keeper_init(struct iwi_log_keeper *keeper, const iw_log *outer)
{
    *keeper = (struct iwi_log_keeper){.log = {keep, keeper}, .outer = outer};
}

void iwi_name_of_path(const char *path, char *buf, size_t size)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash != NULL ? slash + 1 : path;
    const char *dot = strrchr(base, '.');
    const size_t length = dot != NULL && dot > base ? (size_t)(dot - base) : strlen(base);

    snprintf(buf, size, "%.*s", (int)(length < size ? length : size - 1), base);
}
