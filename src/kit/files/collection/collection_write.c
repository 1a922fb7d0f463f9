/* Puts entries into a collection.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "core/base/output.h"
#include "kit/files/collection/collection.h"
#include "kit/files/io/input.h"
#include "kit/files/io/paths.h"
#include "kit/files/io/yaml_text.h"

static void write_value(FILE *out, const char *key, const char *text)
{
    (void)fprintf(out, "    %s: ", key);
    iwi_yaml_write_text(out, text, SIZE_MAX);
    (void)fputc('\n', out);
}

void iwi_collected_write(FILE *out, const iw_collected *entry)
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
            iwi_collected_write(out, &old->entries[i]);
        }
    }
    iwi_collected_write(out, entry);
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
