/* Finds collections, and reads their index.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/net.h>
#include <idlewave/time.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/utf8.h"
#include "kit/files/collection/collection.h"
#include "kit/files/io/input.h"
#include "kit/files/io/paths.h"
#include "kit/files/io/yaml_doc.h"

/* ---- the index (docs/reference/formats/collection.md) ---- */

static const char *const kinds[] = {"net", "noise", NULL}; /* in the order of iw_collected_kind */

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

/* Names that stand for something without any collection: built-in networks and none. */
static bool collected_name_is_taken(const char *name)
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

static iw_status copy_text(const struct iwi_yaml_value *value, void *at)
{
    const char *text;
    char *copy;

    IW_TRY(iwi_yaml_string(value, &text));
    if (text[0] == '\0') {
        return iwi_yaml_fail(value->yaml, value->line, IW_ERR_FORMAT, "key '%s' has no value",
                             value->row->key);
    }
    copy = strdup(text);
    if (copy == NULL) {
        return iwi_fail(value->yaml->log, IW_ERR_NOMEM, "out of memory for an index");
    }
    iwi_utf8_clean(copy); /* it comes from a server, and is printed */
    *(char **)at = copy;
    return IW_OK;
}

static iw_status read_name(const struct iwi_yaml_value *value, void *at)
{
    const iw_collection *all = value->yaml->reader;
    const char **name_p = at, *name;

    IW_TRY(copy_text(value, name_p));
    name = *name_p;
    if (!iwi_collected_name_is_good(name)) {
        return iwi_yaml_fail(value->yaml, value->line, IW_ERR_FORMAT,
                             "name '%.80s': a name has small letters, digits and hyphens, at most %d", name,
                             IWI_COLLECTED_NAME_BYTES);
    }
    if (collected_name_is_taken(name)) {
        return iwi_yaml_fail(value->yaml, value->line, IW_ERR_FORMAT,
                             "name '%s' is that of a built-in network; choose another one", name);
    }
    for (size_t i = 0; i + 1 < all->count; i++) {
        if (strcmp(all->entries[i].name, name) == 0) {
            return iwi_yaml_fail(value->yaml, value->line, IW_ERR_FORMAT,
                                 "name '%s' is there already; choose another one", name);
        }
    }
    return IW_OK;
}

static iw_status read_path(const struct iwi_yaml_value *value, void *at)
{
    const char **file_p = at;

    IW_TRY(copy_text(value, file_p));
    return is_good_path(*file_p)
               ? IW_OK
               : iwi_yaml_fail(value->yaml, value->line, IW_ERR_FORMAT,
                               "file '%.80s': a path below the folder of the index, of letters, digits and "
                               "'-_./', without '..' and hidden names",
                               *file_p);
}

static iw_status read_checksum(const struct iwi_yaml_value *value, void *at)
{
    const char **sha256_p = at;

    IW_TRY(copy_text(value, sha256_p));
    return strlen(*sha256_p) == 64 && consists_of(*sha256_p, "0123456789abcdef")
               ? IW_OK
               : iwi_yaml_refuse(value, IW_ERR_FORMAT,
                                 "write 64 hexadecimal digits, as 'sha256sum' prints them");
}

/* A file, or a SPEC of noise. */
static iw_status check_content(const struct iwi_yaml_map *map, const iw_collected *entry)
{
    static const char *const of_files[] = {"file", "bytes", "sha256"};
    const bool is_spec = entry->spec != NULL;

    for (size_t i = 0; i < sizeof of_files / sizeof of_files[0]; i++) {
        const bool is_there = iwi_yaml_get(map, of_files[i]) != NULL;

        if (is_spec && (is_there || entry->kind != IW_COLLECTED_NOISE)) {
            return iwi_yaml_fail(map->yaml, iwi_yaml_get(map, "spec")->line, IW_ERR_FORMAT,
                                 "key 'spec' stands for noise, in place of 'file', 'bytes' and 'sha256'");
        }
        if (!is_spec && !is_there) {
            return iwi_yaml_fail(map->yaml, map->line, IW_ERR_FORMAT, "key '%s' is missing", of_files[i]);
        }
    }
    return IW_OK;
}

static iw_status read_entry(struct iwi_yaml *yaml, const yaml_node_t *node)
{
#define TEXT(m, ...) IWI_YAML_ROW(iw_collected, #m, m, copy_text, ##__VA_ARGS__)
    static const struct iwi_yaml_row rows[] = {
        IWI_YAML_ROW(iw_collected, "name", name, read_name, .is_required = true),
        IWI_YAML_ROW(iw_collected, "kind", kind, iwi_yaml_choice, .names = kinds, .is_required = true),
        IWI_YAML_ROW(iw_collected, "file", file, read_path),
        IWI_YAML_ROW(iw_collected, "bytes", bytes, iwi_yaml_count),
        IWI_YAML_ROW(iw_collected, "sha256", sha256, read_checksum),
        TEXT(spec),
        TEXT(about, .is_required = true),
        TEXT(licence, .alias = "license", .is_required = true),
        TEXT(origin, .is_required = true),
        TEXT(made, .is_required = true),
    };
#undef TEXT
    iw_collection *all = yaml->reader;
    iw_collected *entry = &all->entries[all->count];
    struct iwi_yaml_map map;

    IW_TRY(iwi_yaml_find(yaml, node, IWI_YAML_ROWS(rows), &map));
    all->count++; /* from here on it is released with the others */
    IW_TRY(iwi_yaml_read(&map, entry));
    return check_content(&map, entry);
}

/* ---- the index ---- */

static iw_status read_entries(const struct iwi_yaml_value *value, void *at)
{
    const size_t count = iwi_yaml_items(value);
    iw_collection *all = at;

    if (value->node->type != YAML_SEQUENCE_NODE) {
        return iwi_yaml_refuse(value, IW_ERR_FORMAT, "expected a list");
    }
    if (count > IWI_COLLECTED_MOST) {
        return iwi_yaml_fail(value->yaml, value->line, IW_ERR_RANGE, "%zu entries; at most %d", count,
                             IWI_COLLECTED_MOST);
    }
    all->entries = iwi_new_array(value->yaml->log, count, sizeof *all->entries);
    if (all->entries == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        IW_TRY(read_entry(value->yaml, iwi_yaml_nth(value, i).node));
    }
    return IW_OK;
}

static iw_status read_index(struct iwi_yaml *yaml, iw_collection *all)
{
    static const char *const formats[] = {"idlewave.collection/1", NULL};
    static const struct iwi_yaml_row rows[] = {
        {.key = "format", .read = iwi_yaml_format, .names = formats, .is_required = true},
        {.key = "entries", .read = read_entries, .is_required = true},
    };
    struct iwi_yaml_map map;

    yaml->reader = all;
    IW_TRY(iwi_yaml_find(yaml, iwi_yaml_root(yaml), IWI_YAML_ROWS(rows), &map));
    return iwi_yaml_read(&map, all);
}

iw_status iwi_collection_read_memory(const iw_log *log, const char *file, const char *data, size_t size,
                                     iw_collection **collection_p)
{
    struct iwi_yaml yaml;
    iw_collection *all;
    iw_status status;

    IW_TRY(iwi_yaml_open(log, file, data, size, "format: idlewave.collection/1", &yaml));
    all = iwi_new_array(log, 1, sizeof *all);
    status = all != NULL ? read_index(&yaml, all) : IW_ERR_NOMEM;
    iwi_yaml_close(&yaml);
    if (status != IW_OK) {
        iw_collection_free(all);
        return status;
    }
    *collection_p = all;
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

/* ---- places ---- */

static bool fits(int length, size_t size)
{
    return length > 0 && (size_t)length < size;
}

/* As the XDG base directory specification has it. */
static bool user_place(char *folder, size_t size)
{
    const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");

    if (data != NULL && data[0] == '/') {
        return fits(snprintf(folder, size, "%s/idlewave", data), size);
    }
    return home != NULL && home[0] == '/' &&
           fits(snprintf(folder, size, "%s/.local/share/idlewave", home), size);
}

/* Beside the running command, wherever that has been moved to. */
static bool beside_command(char *folder, size_t size)
{
    char command[PATH_MAX], place[PATH_MAX + 32], *real, *slash;
    const ssize_t length = readlink("/proc/self/exe", command, sizeof command - 1);
    bool is_good = false;

    command[length > 0 ? length : 0] = '\0';
    slash = strrchr(command, '/');
    if (slash == NULL) {
        return false;
    }
    *slash = '\0';
    snprintf(place, sizeof place, "%s/../share/idlewave", command);
    real = realpath(place, NULL);
    if (real != NULL) {
        is_good = fits(snprintf(folder, size, "%s", real), size);
    }
    free(real);
    return is_good;
}

/* The installed one: of the command, else of a program that uses the library. */
static bool installed_place(char *folder, size_t size)
{
    return beside_command(folder, size) || fits(snprintf(folder, size, "%s", IW_COLLECTION_DIR), size);
}

bool iw_collection_place(size_t index, char *folder, size_t size)
{
    return index == 0 ? user_place(folder, size) : index == 1 && installed_place(folder, size);
}

/* ---- names ---- */

static iw_status text_of(const iw_log *log, const char *folder, const iw_collected *entry, char **found_p)
{
    if (entry->spec == NULL) {
        *found_p = iwi_path_join(log, folder, entry->file);
        return *found_p != NULL ? IW_OK : IW_ERR_NOMEM;
    }
    *found_p = strdup(entry->spec);
    return *found_p != NULL ? IW_OK : iwi_fail(log, IW_ERR_NOMEM, "out of memory for a spec");
}

static iw_status find_in(const iw_log *log, const char *folder, iw_collected_kind kind, const char *name,
                         char **found_p)
{
    iw_collection *collection;
    const iw_collected *entry;
    char *index = iwi_path_join(log, folder, IW_COLLECTION_INDEX);
    const bool is_there = index != NULL && access(index, F_OK) == 0;
    iw_status status = index != NULL ? IW_OK : IW_ERR_NOMEM;

    free(index);
    if (!is_there) {
        return status;
    }
    IW_TRY(iw_collection_load(log, folder, &collection));
    entry = iw_collection_get(collection, name);
    if (entry != NULL && entry->kind == kind) {
        status = text_of(log, folder, entry, found_p);
    }
    iw_collection_free(collection);
    return status;
}

iw_status iw_collection_find(const iw_log *log, iw_collected_kind kind, const char *name, char **found_p)
{
    char folder[PATH_MAX], *found = NULL;

    if (iwi_collected_name_is_good(name)) {
        for (size_t i = 0; i < 2 && found == NULL; i++) {
            if (iw_collection_place(i, folder, sizeof folder)) {
                IW_TRY(find_in(log, folder, kind, name, &found));
            }
        }
    }
    *found_p = found;
    return IW_OK;
}
