/* Reads a network from YAML: one flat mapping (docs/formats/net.md).
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "format/net_yaml.h"

#include <stdio.h>
#include <string.h>

#include <yaml.h>

#include "base/base.h"
#include "format/input.h"

#define FORMAT "idlewave.net/1"
#define DEFAULT_S_BYTES (UINT64_C(65) * 1024) /* as in the paper's Table III */

enum key {
    KEY_FORMAT,
    KEY_NAME,
    KEY_ORIGIN,
    KEY_L,
    KEY_O_BOTH,
    KEY_O_SEND,
    KEY_O_RECV,
    KEY_G,
    KEY_GG,
    KEY_OO,
    KEY_S,
    KEYS
};

static const struct {
    const char *name, *alias;
} keys[KEYS] = {
    [KEY_FORMAT] = {"format", NULL},
    [KEY_NAME] = {"name", NULL},
    [KEY_ORIGIN] = {"origin", NULL},
    [KEY_L] = {"L", NULL},
    [KEY_O_BOTH] = {"o", NULL},
    [KEY_O_SEND] = {"o_s", "o_send"},
    [KEY_O_RECV] = {"o_r", "o_recv"},
    [KEY_G] = {"g", NULL},
    [KEY_GG] = {"G", NULL},
    [KEY_OO] = {"O", NULL},
    [KEY_S] = {"S", NULL},
};

struct reader {
    const iw_log *log;
    const char *file;
    iw_net net;
    size_t line[KEYS]; /* where each key was seen; 0: not yet */
};

/* Keeps the one message of a parser of base, to be logged again with its place. */
struct kept {
    char text[256];
};

static void keep_message(void *arg, iw_log_level level, const char *text)
{
    struct kept *kept = arg;

    (void)level;
    snprintf(kept->text, sizeof kept->text, "%s", text);
}

static size_t line_of(const yaml_node_t *node)
{
    return node->start_mark.line + 1;
}

static iw_status find_key(const struct reader *reader, const yaml_node_t *node, enum key *key_p)
{
    const char *text;

    if (node->type != YAML_SCALAR_NODE) {
        return iwi_fail(reader->log, IW_ERR_FORMAT, "'%s:%zu': expected a key", reader->file, line_of(node));
    }
    text = (const char *)node->data.scalar.value;
    for (size_t i = 0; i < KEYS; i++) {
        if (strcmp(text, keys[i].name) == 0 || (keys[i].alias != NULL && strcmp(text, keys[i].alias) == 0)) {
            *key_p = (enum key)i;
            return IW_OK;
        }
    }
    return iwi_fail(
        reader->log, IW_ERR_FORMAT,
        "'%s:%zu': unknown key '%.60s'; known are L, o, o_s, o_r, g, G, O, S, name, format, origin",
        reader->file, line_of(node), text);
}

static iw_status read_name(struct reader *reader, const char *text, size_t line)
{
    if (strlen(text) >= sizeof reader->net.name || text[0] == '\0') {
        return iwi_fail(reader->log, IW_ERR_RANGE, "'%s:%zu': the name must have 1 to %zu bytes",
                        reader->file, line, sizeof reader->net.name - 1);
    }
    snprintf(reader->net.name, sizeof reader->net.name, "%s", text);
    return IW_OK;
}

static iw_status read_format(const struct reader *reader, const char *text, size_t line)
{
    if (strcmp(text, FORMAT) != 0) {
        return iwi_fail(reader->log, IW_ERR_FORMAT, "'%s:%zu': format '%.60s' is not '" FORMAT "'",
                        reader->file, line, text);
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

static iw_status read_value(struct reader *reader, enum key key, const yaml_node_t *node)
{
    struct kept kept = {""};
    const iw_log keeper = {keep_message, &kept};
    const char *text = (const char *)node->data.scalar.value;
    iw_status status;

    if (node->type != YAML_SCALAR_NODE || strlen(text) != node->data.scalar.length) {
        return iwi_fail(reader->log, IW_ERR_FORMAT, "'%s:%zu': key '%s' needs a single value", reader->file,
                        line_of(node), keys[key].name);
    }
    if (key == KEY_NAME) {
        return read_name(reader, text, line_of(node));
    }
    if (key == KEY_FORMAT) {
        return read_format(reader, text, line_of(node));
    }
    status = parse_value(&keeper, key, text, &reader->net);
    if (status != IW_OK) {
        return iwi_fail(reader->log, status, "'%s:%zu': key '%s': %s", reader->file, line_of(node),
                        keys[key].name, kept.text);
    }
    return IW_OK;
}

static iw_status read_pair(struct reader *reader, yaml_document_t *document, const yaml_node_pair_t *pair)
{
    const yaml_node_t *key_node = yaml_document_get_node(document, pair->key);
    const yaml_node_t *value_node = yaml_document_get_node(document, pair->value);
    enum key key;

    IW_TRY(find_key(reader, key_node, &key));
    if (reader->line[key] != 0) {
        return iwi_fail(reader->log, IW_ERR_FORMAT, "'%s:%zu': key '%s' is given again, first in line %zu",
                        reader->file, line_of(key_node), keys[key].name, reader->line[key]);
    }
    reader->line[key] = line_of(key_node);
    return key == KEY_ORIGIN ? IW_OK : read_value(reader, key, value_node);
}

static iw_status check_keys(const struct reader *reader)
{
    const bool has_both = reader->line[KEY_O_BOTH] != 0;
    const bool has_send = reader->line[KEY_O_SEND] != 0, has_recv = reader->line[KEY_O_RECV] != 0;
    const char *missing = reader->line[KEY_L] == 0    ? "L"
                          : reader->line[KEY_G] == 0  ? "g"
                          : reader->line[KEY_GG] == 0 ? "G"
                          : has_both || (has_send && has_recv)
                              ? NULL
                              : (has_send ? "o_r" : (has_recv ? "o_s" : "o"));

    if (has_both && (has_send || has_recv)) {
        return iwi_fail(reader->log, IW_ERR_FORMAT, "'%s:%zu': key 'o' excludes 'o_s' and 'o_r'",
                        reader->file, reader->line[KEY_O_BOTH]);
    }
    if (missing != NULL) {
        return iwi_fail(reader->log, IW_ERR_FORMAT,
                        "'%s:1': key '%s' is missing; needed are L, o (or o_s and o_r), g, G", reader->file,
                        missing);
    }
    return IW_OK;
}

static iw_status read_document(struct reader *reader, yaml_document_t *document)
{
    const yaml_node_t *root = yaml_document_get_root_node(document);

    if (root == NULL) {
        return iwi_fail(reader->log, IW_ERR_TRUNCATED, "'%s:1': the file is empty", reader->file);
    }
    if (root->type != YAML_MAPPING_NODE) {
        return iwi_fail(reader->log, IW_ERR_FORMAT, "'%s:%zu': expected a mapping such as 'L: 5us'",
                        reader->file, line_of(root));
    }
    for (const yaml_node_pair_t *pair = root->data.mapping.pairs.start; pair < root->data.mapping.pairs.top;
         pair++) {
        IW_TRY(read_pair(reader, document, pair));
    }
    return check_keys(reader);
}

static iw_status fail_yaml(const struct reader *reader, const yaml_parser_t *parser)
{
    const iw_status status = parser->error == YAML_MEMORY_ERROR ? IW_ERR_NOMEM : IW_ERR_FORMAT;
    const char *problem = parser->problem != NULL ? parser->problem : iw_status_text(status);

    return iwi_fail(reader->log, status, "'%s:%zu': %s", reader->file, parser->problem_mark.line + 1,
                    problem);
}

static iw_status read_stream(struct reader *reader, yaml_parser_t *parser)
{
    yaml_document_t document;
    iw_status status;
    size_t line;
    bool is_last;

    if (!yaml_parser_load(parser, &document)) {
        return fail_yaml(reader, parser);
    }
    status = read_document(reader, &document);
    yaml_document_delete(&document);
    IW_TRY(status);
    if (!yaml_parser_load(parser, &document)) {
        return fail_yaml(reader, parser);
    }
    is_last = yaml_document_get_root_node(&document) == NULL;
    line = document.start_mark.line + 1;
    yaml_document_delete(&document);
    if (!is_last) {
        return iwi_fail(reader->log, IW_ERR_FORMAT, "'%s:%zu': more than one YAML document", reader->file,
                        line);
    }
    return IW_OK;
}

/* "dir/my.yaml" gives "my". */
static void name_after_file(iw_net *net, const char *file)
{
    const char *slash = strrchr(file, '/');
    const char *base = slash != NULL ? slash + 1 : file;
    const char *dot = strrchr(base, '.');
    const size_t length = dot != NULL && dot > base ? (size_t)(dot - base) : strlen(base);

    snprintf(net->name, sizeof net->name, "%.*s",
             (int)(length < sizeof net->name ? length : sizeof net->name - 1), base);
}

/* The limits of iw_net_check(), told with the file's name. */
static iw_status check_net(const struct reader *reader)
{
    struct kept kept = {""};
    const iw_log keeper = {keep_message, &kept};
    const iw_status status = iw_net_check(&keeper, &reader->net);

    if (status != IW_OK) {
        return iwi_fail(reader->log, status, "'%s:1': %s", reader->file, kept.text);
    }
    return IW_OK;
}

iw_status iwi_net_read_memory(const iw_log *log, const char *name, const char *data, size_t size,
                              iw_net *net_p)
{
    struct reader reader = {.log = log, .file = name, .net = {.S_bytes = DEFAULT_S_BYTES}};
    yaml_parser_t parser;
    iw_status status;

    name_after_file(&reader.net, name);
    if (!yaml_parser_initialize(&parser)) {
        return iwi_fail(log, IW_ERR_NOMEM, "out of memory for reading '%s'", name);
    }
    yaml_parser_set_input_string(&parser, (const unsigned char *)data, size);
    status = read_stream(&reader, &parser);
    yaml_parser_delete(&parser);
    IW_TRY(status);
    IW_TRY(check_net(&reader));
    *net_p = reader.net;
    return IW_OK;
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
