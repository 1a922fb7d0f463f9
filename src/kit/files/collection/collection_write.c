/* Puts entries into a collection, and checks what is in it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/files.h>
#include <idlewave/net.h>
#include <idlewave/recording.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "core/base/output.h"
#include "core/base/sha256.h"
#include "core/net/net.h"
#include "kit/files/collection/collection.h"
#include "kit/files/io/input.h"
#include "kit/files/io/paths.h"
#include "kit/files/io/yaml_doc.h"
#include "kit/files/io/yaml_text.h"
#include "kit/files/net/net_yaml.h"
#include "kit/files/recording/noise_file.h"

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
                          "'%s' has %" PRIu64 " bytes where the index says %" PRIu64
                          ": it is damaged, or another file",
                          path, bytes, entry->bytes);
    } else if (strcmp(sha256, entry->sha256) != 0) {
        status = iwi_fail(log, IW_ERR_FORMAT,
                          "'%s' has another checksum (%.12s...) than the index says (%.12s...): it is "
                          "damaged, or another file",
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
