/* Reads the index of a collection (docs/reference/formats/collection.md).
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/files/collection/collection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <idlewave/net.h>
#include <idlewave/time.h>

#include "core/base/utf8.h"
#include "kit/files/io/input.h"
#include "kit/files/io/paths.h"
#include "kit/files/io/yaml_doc.h"

#define FORMAT "idlewave.collection/1"

enum { KEY_FORMAT, KEY_ENTRIES, INDEX_KEYS };
static const struct iwi_yaml_key index_keys[INDEX_KEYS] = {{"format", NULL}, {"entries", NULL}};

enum {
    KEY_NAME,
    KEY_KIND,
    KEY_FILE,
    KEY_BYTES,
    KEY_SHA256,
    KEY_SPEC,
    KEY_ABOUT,
    KEY_LICENCE,
    KEY_ORIGIN,
    KEY_MADE,
    ENTRY_KEYS
};
static const struct iwi_yaml_key entry_keys[ENTRY_KEYS] = {
    {"name", NULL}, {"kind", NULL},  {"file", NULL},         {"bytes", NULL},  {"sha256", NULL},
    {"spec", NULL}, {"about", NULL}, {"licence", "license"}, {"origin", NULL}, {"made", NULL},
};

static const char *const kinds[] = {"net", "noise"};

const char *iw_collected_kind_name(iw_collected_kind kind)
{
    return kinds[kind];
}

/* ---- names and paths ---- */

static bool consists_of(const char *text, const char *characters)
{
    return text[0] != '\0' && text[strspn(text, characters)] == '\0';
}

bool iwi_collected_name_is_good(const char *name)
{
    return consists_of(name, "abcdefghijklmnopqrstuvwxyz0123456789-") && name[0] != '-' &&
           strlen(name) <= IWI_COLLECTED_NAME_BYTES;
}

bool iwi_collected_name_is_taken(const char *name)
{
    return strcmp(name, "none") == 0 || iw_net_builtin(name) != NULL;
}

/* It stays below the folder of the collection, and needs no quoting in a URL. */
static bool is_good_path(const char *path)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./";

    return consists_of(path, plain) && path[0] != '/' && path[0] != '.' && strstr(path, "/.") == NULL &&
           strstr(path, "//") == NULL && path[strlen(path) - 1] != '/' && strlen(path) <= 200;
}

/* ---- entries ---- */

struct reader {
    struct iwi_yaml yaml;
    iw_collection *collection;
    struct iwi_yaml_entry found[ENTRY_KEYS];
    size_t line; /* of the entry */
};

static iw_status copy_value(struct reader *r, int key, const char **copy_p)
{
    const char *text;
    char *copy;

    if (r->found[key].value == NULL) {
        return iwi_yaml_fail(&r->yaml, r->line, IW_ERR_FORMAT, "the entry has no '%s'", entry_keys[key].name);
    }
    IW_TRY(iwi_yaml_text(&r->yaml, r->found[key].value, entry_keys[key].name, &text));
    if (text[0] == '\0') {
        return iwi_yaml_fail(&r->yaml, r->found[key].line, IW_ERR_FORMAT, "key '%s' has no value",
                             entry_keys[key].name);
    }
    copy = strdup(text);
    if (copy == NULL) {
        return iwi_fail(r->yaml.log, IW_ERR_NOMEM, "out of memory for an index");
    }
    iwi_utf8_clean(copy); /* it comes from a server, and is printed */
    *copy_p = copy;
    return IW_OK;
}

static iw_status read_name(struct reader *r, iw_collected *entry)
{
    const iw_collection *all = r->collection;

    IW_TRY(copy_value(r, KEY_NAME, &entry->name));
    if (!iwi_collected_name_is_good(entry->name)) {
        return iwi_yaml_fail(&r->yaml, r->found[KEY_NAME].line, IW_ERR_FORMAT,
                             "name '%.80s': a name has small letters, digits and hyphens, at most %d",
                             entry->name, IWI_COLLECTED_NAME_BYTES);
    }
    if (iwi_collected_name_is_taken(entry->name)) {
        return iwi_yaml_fail(&r->yaml, r->found[KEY_NAME].line, IW_ERR_FORMAT,
                             "name '%s' is that of a built-in network; choose another one", entry->name);
    }
    for (size_t i = 0; i + 1 < all->count; i++) {
        if (strcmp(all->entries[i].name, entry->name) == 0) {
            return iwi_yaml_fail(&r->yaml, r->found[KEY_NAME].line, IW_ERR_FORMAT,
                                 "name '%s' is there already; choose another one", entry->name);
        }
    }
    return IW_OK;
}

static iw_status read_kind(struct reader *r, iw_collected *entry)
{
    const char *text = NULL;
    iw_status status = copy_value(r, KEY_KIND, &text);

    if (status == IW_OK && strcmp(text, kinds[IW_COLLECTED_NET]) != 0 &&
        strcmp(text, kinds[IW_COLLECTED_NOISE]) != 0) {
        status = iwi_yaml_fail(&r->yaml, r->found[KEY_KIND].line, IW_ERR_FORMAT,
                               "kind '%.40s' is neither 'net' nor 'noise'", text);
    }
    if (status == IW_OK) {
        entry->kind = strcmp(text, kinds[IW_COLLECTED_NOISE]) == 0 ? IW_COLLECTED_NOISE : IW_COLLECTED_NET;
    }
    free((char *)text);
    return status;
}

static iw_status read_bytes(struct reader *r, iw_collected *entry)
{
    struct iwi_log_keeper keeper;
    const char *text = NULL;
    iw_status status = copy_value(r, KEY_BYTES, &text);

    if (status == IW_OK) {
        iwi_log_keeper_init(&keeper, r->yaml.log);
        status = iw_parse_count(&keeper.log, text, &entry->bytes);
        if (status != IW_OK) {
            iwi_error(r->yaml.log, "'%s:%zu': key 'bytes': %s", r->yaml.file, r->found[KEY_BYTES].line,
                      keeper.text);
        }
    }
    free((char *)text);
    return status;
}

static iw_status read_file(struct reader *r, iw_collected *entry)
{
    IW_TRY(copy_value(r, KEY_FILE, &entry->file));
    if (!is_good_path(entry->file)) {
        return iwi_yaml_fail(&r->yaml, r->found[KEY_FILE].line, IW_ERR_FORMAT,
                             "file '%.80s': a path below the folder of the index, of letters, digits and "
                             "'-_./', without '..' and hidden names",
                             entry->file);
    }
    IW_TRY(read_bytes(r, entry));
    IW_TRY(copy_value(r, KEY_SHA256, &entry->sha256));
    if (strlen(entry->sha256) != 64 || !consists_of(entry->sha256, "0123456789abcdef")) {
        return iwi_yaml_fail(&r->yaml, r->found[KEY_SHA256].line, IW_ERR_FORMAT,
                             "key 'sha256': 64 hexadecimal digits, as 'sha256sum' prints them");
    }
    return IW_OK;
}

/* A file, or a SPEC of noise. */
static iw_status read_content(struct reader *r, iw_collected *entry)
{
    if (r->found[KEY_SPEC].value == NULL) {
        return read_file(r, entry);
    }
    if (r->found[KEY_FILE].value != NULL || r->found[KEY_BYTES].value != NULL ||
        r->found[KEY_SHA256].value != NULL || entry->kind != IW_COLLECTED_NOISE) {
        return iwi_yaml_fail(&r->yaml, r->found[KEY_SPEC].line, IW_ERR_FORMAT,
                             "key 'spec' stands for noise, in place of 'file', 'bytes' and 'sha256'");
    }
    return copy_value(r, KEY_SPEC, &entry->spec);
}

static iw_status read_entry(struct reader *r, const yaml_node_t *node)
{
    iw_collected *entry = &r->collection->entries[r->collection->count];

    r->line = iwi_yaml_line(node);
    if (node->type != YAML_MAPPING_NODE) {
        return iwi_yaml_fail(&r->yaml, r->line, IW_ERR_FORMAT,
                             "an entry is a mapping with 'name' and 'kind'");
    }
    IW_TRY(iwi_yaml_mapping(&r->yaml, node, entry_keys, ENTRY_KEYS, r->found));
    r->collection->count++; /* from here on it is released with the others */
    IW_TRY(read_name(r, entry));
    IW_TRY(read_kind(r, entry));
    IW_TRY(read_content(r, entry));
    IW_TRY(copy_value(r, KEY_ABOUT, &entry->about));
    IW_TRY(copy_value(r, KEY_LICENCE, &entry->licence));
    IW_TRY(copy_value(r, KEY_ORIGIN, &entry->origin));
    return copy_value(r, KEY_MADE, &entry->made);
}

/* ---- the index ---- */

static iw_status read_format(struct reader *r, const struct iwi_yaml_entry *entry)
{
    const char *text = "";

    if (entry->value != NULL) {
        IW_TRY(iwi_yaml_text(&r->yaml, entry->value, "format", &text));
    }
    return strcmp(text, FORMAT) == 0
               ? IW_OK
               : iwi_yaml_fail(&r->yaml, entry->value != NULL ? entry->line : 1, IW_ERR_FORMAT,
                               "format '%.40s' is not '" FORMAT "': this is no index of a collection, or one "
                               "of another version of idlewave",
                               text);
}

static iw_status read_index(struct reader *r)
{
    struct iwi_yaml_entry found[INDEX_KEYS];
    const yaml_node_t *entries;
    size_t count;

    IW_TRY(iwi_yaml_mapping(&r->yaml, iwi_yaml_root(&r->yaml), index_keys, INDEX_KEYS, found));
    IW_TRY(read_format(r, &found[KEY_FORMAT]));
    entries = found[KEY_ENTRIES].value;
    if (entries == NULL || entries->type != YAML_SEQUENCE_NODE) {
        return iwi_yaml_fail(&r->yaml, entries != NULL ? found[KEY_ENTRIES].line : 1, IW_ERR_FORMAT,
                             "the index has no list 'entries'");
    }
    count = iwi_yaml_item_count(entries);
    if (count > IWI_COLLECTED_MOST) {
        return iwi_yaml_fail(&r->yaml, found[KEY_ENTRIES].line, IW_ERR_RANGE, "%zu entries; at most %d",
                             count, IWI_COLLECTED_MOST);
    }
    r->collection->entries = iwi_new_array(r->yaml.log, count, sizeof *r->collection->entries);
    if (r->collection->entries == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        IW_TRY(read_entry(r, iwi_yaml_item(&r->yaml, entries, i)));
    }
    return IW_OK;
}

iw_status iwi_collection_read_memory(const iw_log *log, const char *file, const char *data, size_t size,
                                     iw_collection **collection_p)
{
    struct reader r;
    iw_status status;

    IW_TRY(iwi_yaml_open(log, file, data, size, "format: " FORMAT, &r.yaml));
    r.collection = iwi_new_array(log, 1, sizeof *r.collection);
    status = r.collection != NULL ? read_index(&r) : IW_ERR_NOMEM;
    iwi_yaml_close(&r.yaml);
    if (status != IW_OK) {
        iw_collection_free(r.collection);
        return status;
    }
    *collection_p = r.collection;
    return IW_OK;
}

iw_status iw_collection_load(const iw_log *log, const char *folder, iw_collection **collection_p)
{
    char *path = iwi_path_join(log, folder, IW_COLLECTION_INDEX);
    struct iwi_input input;
    iw_status status = path != NULL ? iwi_input_open(log, path, &input) : IW_ERR_NOMEM;

    if (status == IW_OK) {
        status = iwi_collection_read_memory(log, path, input.data, input.size, collection_p);
        iwi_input_close(&input);
    }
    free(path);
    return status;
}

void iw_collection_free(iw_collection *collection)
{
    for (size_t i = 0; collection != NULL && i < collection->count; i++) {
        const iw_collected *entry = &collection->entries[i];

        free((char *)entry->name);
        free((char *)entry->file);
        free((char *)entry->sha256);
        free((char *)entry->spec);
        free((char *)entry->about);
        free((char *)entry->licence);
        free((char *)entry->origin);
        free((char *)entry->made);
    }
    if (collection != NULL) {
        free(collection->entries);
    }
    free(collection);
}

const iw_collected *iw_collection_get(const iw_collection *collection, const char *name)
{
    for (size_t i = 0; i < collection->count; i++) {
        if (strcmp(collection->entries[i].name, name) == 0) {
            return &collection->entries[i];
        }
    }
    return NULL;
}
