/* One YAML document, its mappings and scalars, with the line of each error.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/files/io/yaml_doc.h"

#include <stdio.h>
#include <string.h>

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

static iw_status unknown_key(const struct iwi_yaml *yaml, size_t line, const char *text,
                             const struct iwi_yaml_key *keys, size_t count)
{
    char known[512] = "", hint[IWI_HINT_SIZE];
    struct iwi_nearest nearest;
    bool fits = true;

    iwi_nearest_begin(&nearest, text);
    for (size_t i = 0; i < count; i++) {
        const size_t used = strlen(known);
        const size_t wanted =
            (size_t)snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "", keys[i].name);

        fits = fits && wanted < sizeof known - used;
        iwi_nearest_offer(&nearest, keys[i].name);
    }
    if (!fits) { /* too many to be read */
        return iwi_yaml_fail(yaml, line, IW_ERR_FORMAT, "unknown key '%.60s'%s", text,
                             iwi_nearest_hint(&nearest, hint));
    }
    return iwi_yaml_fail(yaml, line, IW_ERR_FORMAT, "unknown key '%.60s'%s%s known are %s", text,
                         iwi_nearest_hint(&nearest, hint), nearest.best != NULL ? "" : ";", known);
}

/* "{noise: periodic:10Hz,100us}" has a key '100us' without a value: a comma ends values there. */
static bool is_cut_value(struct iwi_yaml *yaml, const yaml_node_t *mapping, const yaml_node_pair_t *pair)
{
    const yaml_node_t *value = yaml_document_get_node(&yaml->document, pair->value);

    return mapping->data.mapping.style == YAML_FLOW_MAPPING_STYLE && value->type == YAML_SCALAR_NODE &&
           value->data.scalar.length == 0 && value->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
}

static iw_status find_key(const struct iwi_yaml *yaml, const yaml_node_t *node,
                          const struct iwi_yaml_key *keys, size_t count, bool is_cut, size_t *index_p)
{
    const char *text;

    if (node->type != YAML_SCALAR_NODE) {
        return iwi_yaml_fail(yaml, iwi_yaml_line(node), IW_ERR_FORMAT, "expected a key");
    }
    text = (const char *)node->data.scalar.value;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(text, keys[i].name) == 0 || (keys[i].alias != NULL && strcmp(text, keys[i].alias) == 0)) {
            *index_p = i;
            return IW_OK;
        }
    }
    if (is_cut) {
        return iwi_yaml_fail(yaml, iwi_yaml_line(node), IW_ERR_FORMAT,
                             "'%.60s' has no key; a comma within {} ends a value: put it in quotes, such as "
                             "{noise: 'periodic:10Hz,100us'}",
                             text);
    }
    return unknown_key(yaml, iwi_yaml_line(node), text, keys, count);
}

iw_status iwi_yaml_mapping(struct iwi_yaml *yaml, const yaml_node_t *node, const struct iwi_yaml_key *keys,
                           size_t count, struct iwi_yaml_entry *entries)
{
    memset(entries, 0, count * sizeof *entries);
    for (const yaml_node_pair_t *pair = node->data.mapping.pairs.start; pair < node->data.mapping.pairs.top;
         pair++) {
        const yaml_node_t *key = yaml_document_get_node(&yaml->document, pair->key);
        size_t i = 0;

        IW_TRY(find_key(yaml, key, keys, count, is_cut_value(yaml, node, pair), &i));
        if (entries[i].value != NULL) {
            return iwi_yaml_fail(yaml, iwi_yaml_line(key), IW_ERR_FORMAT,
                                 "key '%s' is given again, first in line %zu", keys[i].name, entries[i].line);
        }
        entries[i].value = yaml_document_get_node(&yaml->document, pair->value);
        entries[i].line = iwi_yaml_line(key);
    }
    return IW_OK;
}

/* ---- values ---- */

iw_status iwi_yaml_text(const struct iwi_yaml *yaml, const yaml_node_t *node, const char *key,
                        const char **text_p)
{
    const char *text = (const char *)node->data.scalar.value;

    if (node->type != YAML_SCALAR_NODE || strlen(text) != node->data.scalar.length) {
        return iwi_yaml_fail(yaml, iwi_yaml_line(node), IW_ERR_FORMAT, "key '%s' needs a single value", key);
    }
    *text_p = text;
    return IW_OK;
}

size_t iwi_yaml_item_count(const yaml_node_t *node)
{
    return node->type != YAML_SEQUENCE_NODE
               ? 1
               : (size_t)(node->data.sequence.items.top - node->data.sequence.items.start);
}

const yaml_node_t *iwi_yaml_item(struct iwi_yaml *yaml, const yaml_node_t *node, size_t index)
{
    return node->type != YAML_SEQUENCE_NODE
               ? node
               : yaml_document_get_node(&yaml->document, node->data.sequence.items.start[index]);
}

/* ---- messages of others ---- */

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
