/* Finds collections, reads their index, and writes them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/files.h>
#include <idlewave/net.h>
#include <idlewave/recording.h>
#include <idlewave/time.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "core/base/output.h"
#include "core/base/sha256.h"
#include "core/base/utf8.h"
#include "core/net/net.h"
#include "kit/files/collection/collection.h"
#include "kit/files/io/input.h"
#include "kit/files/io/paths.h"
#include "kit/files/io/yaml_doc.h"
#include "kit/files/io/yaml_text.h"
#include "kit/files/net/net_yaml.h"
#include "kit/files/recording/noise_file.h"

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
                             "name '%.80s': use at most %d lower-case letters, digits and hyphens", name,
                             IWI_COLLECTED_NAME_BYTES);
    }
    if (collected_name_is_taken(name)) {
        return iwi_yaml_fail(value->yaml, value->line, IW_ERR_FORMAT,
                             "name '%s' belongs to a built-in network; choose another", name);
    }
    for (size_t i = 0; i + 1 < all->count; i++) {
        if (strcmp(all->entries[i].name, name) == 0) {
            return iwi_yaml_fail(value->yaml, value->line, IW_ERR_FORMAT,
                                 "name '%s' is taken; choose another", name);
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
                               "file '%.80s': use a path below the folder of the index, with letters, digits "
                               "and '-_./', without '..' and hidden names",
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
                                 "key 'spec' is for noise, and excludes 'file', 'bytes' and 'sha256'");
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
    if (count > IWI_MOST_COLLECTED) {
        return iwi_yaml_fail(value->yaml, value->line, IW_ERR_RANGE, "%zu entries; at most %d", count,
                             IWI_MOST_COLLECTED);
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

/* Puts entries into a collection, and checks what is in it. */

/* ---- whether entries are what the index says ---- */

iw_status iwi_sha256_of_file(const iw_log *log, const char *path, char **text_p, uint64_t *bytes_p)
{
    struct iwi_sha256 sha;
    struct iwi_input input;
    char *text;

    IW_TRY(iwi_input_open(log, path, &input));
    iwi_sha256_init(&sha);
    iwi_sha256_add(&sha, input.data, input.size);
    *bytes_p = input.size;
    iwi_input_close(&input);
    text = iwi_new_array(log, IWI_SHA256_TEXT_SIZE, 1);
    if (text == NULL) {
        return IW_ERR_NOMEM;
    }
    iwi_sha256_text(&sha, text);
    *text_p = text;
    return IW_OK;
}

static iw_status check_bytes(const iw_log *log, const char *path, const iw_collected *entry)
{
    char *sha256;
    uint64_t bytes;
    iw_status status = IW_OK;

    IW_TRY(iwi_sha256_of_file(log, path, &sha256, &bytes));
    if (bytes != entry->bytes) {
        status = iwi_fail(log, IW_ERR_FORMAT,
                          "'%s' has %" PRIu64 " bytes, but the index says %" PRIu64
                          ": it is damaged or another file",
                          path, bytes, entry->bytes);
    } else if (strcmp(sha256, entry->sha256) != 0) {
        status = iwi_fail(
            log, IW_ERR_FORMAT,
            "'%s' has the checksum %.12s..., but the index says %.12s...: it is damaged or another file",
            path, sha256, entry->sha256);
    }
    free(sha256);
    return status;
}

static iw_status check_net(const iw_log *log, const char *path)
{
    iw_net net;

    IW_TRY(iwi_net_load(log, path, NULL, &net));
    iwi_net_release(&net);
    return IW_OK;
}

iw_status iw_collection_check(const iw_log *log, const char *folder, const iw_collected *entry)
{
    char *path;
    iw_status status;

    if (entry->spec != NULL) {
        return iwi_noise_try(log, entry->spec);
    }
    path = iwi_path_join(log, folder, entry->file);
    status = path != NULL ? check_bytes(log, path, entry) : IW_ERR_NOMEM;
    if (status == IW_OK) {
        status = entry->kind == IW_COLLECTED_NET ? check_net(log, path) : iwi_noise_try(log, path);
    }
    free(path);
    return status;
}

/* ---- what can be told of a file that somebody contributes ---- */

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

static void collected_write(FILE *out, const iw_collected *entry);

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
        collected_write(out, &entry);
    }
    free(origin);
    free(sha256);
    return status;
}

/* ---- entries put into a collection ---- */

static void write_value(FILE *out, const char *key, const char *text)
{
    (void)fprintf(out, "    %s: ", key);
    iwi_yaml_write_text(out, text, SIZE_MAX);
    (void)fputc('\n', out);
}

/* Writes one item of `entries`. */
static void collected_write(FILE *out, const iw_collected *entry)
{
    (void)fprintf(out, "  - name: %s\n    kind: %s\n", entry->name, iw_collected_kind_name(entry->kind));
    if (entry->spec != NULL) {
        write_value(out, "spec", entry->spec);
    } else {
        (void)fprintf(out, "    file: %s\n    bytes: %" PRIu64 "\n    sha256: %s\n", entry->file,
                      entry->bytes, entry->sha256);
    }
    write_value(out, "about", entry->about);
    write_value(out, "licence", entry->licence);
    write_value(out, "origin", entry->origin);
    write_value(out, "made", entry->made);
}

/* The folder of a file. */
static iw_status make_folder_of(const iw_log *log, char *path)
{
    char *slash = strrchr(path, '/');
    iw_status status;

    if (slash == NULL || slash == path) {
        return IW_OK;
    }
    *slash = '\0';
    status = iwi_folder_ensure(log, path, IWI_FOLDER_MADE_WITH_PARENTS);
    *slash = '/';
    return status;
}

static iw_status copy_file(const iw_log *log, const char *from, char *to)
{
    struct iwi_input input;
    iw_status status;

    IW_TRY(make_folder_of(log, to));
    IW_TRY(iwi_input_open(log, from, &input));
    status = iwi_write_bytes(log, to, input.data, input.size);
    iwi_input_close(&input);
    return status;
}

/* All entries of the old index but those of this name, and the new one. */
static iw_status write_index(const iw_log *log, const char *path, const iw_collection *old,
                             const iw_collected *entry)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    iw_status status = IW_ERR_NOMEM;

    if (out == NULL) {
        return iwi_fail(log, IW_ERR_NOMEM, "out of memory for an index");
    }
    (void)fputs("format: idlewave.collection/1\nentries:\n", out);
    for (size_t i = 0; old != NULL && i < old->count; i++) {
        if (strcmp(old->entries[i].name, entry->name) != 0) {
            collected_write(out, &old->entries[i]);
        }
    }
    collected_write(out, entry);
    if (fclose(out) == 0) {
        status = iwi_write_bytes(log, path, text, size);
    }
    free(text);
    return status;
}

/* -1: going on without, as where the file system has no locks. Closing it gives the lock back. */
static int lock_index(const iw_log *log, const char *folder)
{
    char *path = iwi_path_join(log, folder, ".lock");
    int fd = -1;

    if (path != NULL && iwi_open_growing(log, path, O_RDWR, &fd) == IW_OK) {
        while (flock(fd, LOCK_EX) != 0 && errno == EINTR) {
        }
    }
    free(path);
    return fd;
}

/* Reads the index and writes it anew: others that add to it wait. */
static iw_status add_to_index(const iw_log *log, const char *folder, const iw_collected *entry)
{
    iw_collection *old = NULL;
    char *path = iwi_path_join(log, folder, IW_COLLECTION_INDEX);
    iw_status status = path != NULL ? make_folder_of(log, path) : IW_ERR_NOMEM;
    const int lock = status == IW_OK ? lock_index(log, folder) : -1;

    if (status == IW_OK && access(path, F_OK) == 0) {
        status = iw_collection_load(log, folder, &old);
    }
    if (status == IW_OK) {
        status = write_index(log, path, old, entry);
    }
    if (lock >= 0) {
        (void)close(lock);
    }
    iw_collection_free(old);
    free(path);
    return status;
}

/* "net/NAME.yaml": files of two collections may have one name, entries of one have not. */
static void name_file(const iw_collected *entry, char *buf, size_t size)
{
    const char *slash = strrchr(entry->file, '/');
    const char *suffix = strrchr(slash != NULL ? slash : entry->file, '.');

    snprintf(buf, size, "%s/%s%s", iw_collected_kind_name(entry->kind), entry->name,
             suffix != NULL ? suffix : "");
}

iw_status iw_collection_copy(const iw_log *log, const char *from, const iw_collected *entry, const char *to)
{
    iw_collected copy = *entry;
    char file[NAME_MAX], *source, *target;
    iw_status status;

    IW_TRY(iw_collection_check(log, from, entry));
    if (entry->spec != NULL) {
        return add_to_index(log, to, entry);
    }
    name_file(entry, file, sizeof file);
    copy.file = file;
    source = iwi_path_join(log, from, entry->file);
    target = iwi_path_join(log, to, file);
    status = source != NULL && target != NULL ? copy_file(log, source, target) : IW_ERR_NOMEM;
    if (status == IW_OK) {
        status = add_to_index(log, to, &copy);
    }
    free(source);
    free(target);
    return status;
}
