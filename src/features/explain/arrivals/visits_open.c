/* Opens a traced run of any format: the table of formats, told apart by what is in the files.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/files.h>
#include <idlewave/program.h>
#include <idlewave/waits.h>

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "features/explain/arrivals/peers.h"
#include "features/explain/arrivals/visits_reader.h"
#include "features/explain/chakra/chakra.h"
#include "features/explain/inspector/inspector.h"
#include "features/explain/kineto/kineto.h"
#include "kit/files/io/paths.h"

#if IW_HAVE_YAJL /* which comes with zlib */
#include <zlib.h>
#endif

/* ---- profiles of PyTorch ---- */

/* Its first members; "traceEvents" may be behind long lists of groups. */
static bool is_kineto(const struct iwi_visits_head *head)
{
    static const char *const marks[] = {"\"traceEvents\"", "\"distributedInfo\"", "\"deviceProperties\"",
                                        "\"baseTimeNanoseconds\""};
    size_t first = 0;

    while (first < head->size && strchr(" \t\r\n", head->bytes[first]) != NULL) {
        first++;
    }
    if (head->is_folder || first == head->size) {
        return false;
    }
    if (head->bytes[first] == '[') { /* of a PyTorch without Kineto: known, to be refused with its reason */
        return memmem(head->bytes, head->size, "\"CPU functions\"", strlen("\"CPU functions\"")) != NULL;
    }
    if (head->bytes[first] != '{') {
        return false;
    }
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        if (memmem(head->bytes, head->size, marks[i], strlen(marks[i])) != NULL) {
            return true;
        }
    }
    return false;
}

#if IW_HAVE_YAJL

static iw_status read_kineto(const iw_log *log, const char *const *paths, size_t count,
                             struct iwi_visits *visits)
{
    IW_TRY(iwi_kineto_read(log, paths, count, visits));
    return iwi_visits_align(visits);
}

#else

static iw_status read_kineto(const iw_log *log, const char *const *paths, size_t count,
                             struct iwi_visits *visits)
{
    (void)count;
    (void)visits;
    return iwi_fail(log, IW_ERR_UNSUPPORTED,
                    "'%s' is a PyTorch profile, which this idlewave cannot read: rebuild it with libyajl-dev "
                    "and zlib1g-dev",
                    paths[0]);
}

#endif

static const struct iwi_visits_reader kineto_reader = {
    .origin = "Kineto",
    .what = "PyTorch profiles (Kineto's JSON, one file per rank)",
    .is = is_kineto,
    .read = read_kineto,
};

/* ---- lines of NCCL's Inspector plugin ---- */

static bool is_inspector(const struct iwi_visits_head *head)
{
    static const char mark[] = "\"inspector_output_format_version\"";

    return !head->is_folder && head->size > 0 && head->bytes[0] == '{' &&
           memmem(head->bytes, head->size, mark, sizeof mark - 1) != NULL;
}

#if IW_HAVE_YAJL

static iw_status read_inspector(const iw_log *log, const char *const *paths, size_t count,
                                struct iwi_visits *visits)
{
    struct iwi_inspector all;
    iw_status status = IW_OK;

    iwi_inspector_init(&all, log);
    for (size_t i = 0; status == IW_OK && i < count; i++) {
        status = iwi_inspector_read(&all, paths[i], paths[i], NULL, 0);
    }
    if (status == IW_OK) {
        status = iwi_inspector_fill(&all, visits);
    }
    iwi_inspector_release(&all);
    return status;
}

#else

static iw_status read_inspector(const iw_log *log, const char *const *paths, size_t count,
                                struct iwi_visits *visits)
{
    (void)count;
    (void)visits;
    return iwi_fail(
        log, IW_ERR_UNSUPPORTED,
        "'%s' is JSON of NCCL's Inspector, which this idlewave cannot read: rebuild it with libyajl-dev",
        paths[0]);
}

#endif

static const struct iwi_visits_reader inspector_reader = {
    .origin = "NCCL Inspector",
    .what = "lines of NCCL's Inspector plugin",
    .is = is_inspector,
    .lacks_pauses = true,
    .read = read_inspector,
};

/* ---- execution traces of Chakra ---- */

/* There is nothing in them that tells them: their names end in .et, and a first message has its length. */
static bool is_chakra(const struct iwi_visits_head *head)
{
    const size_t length = strlen(head->path);
    const bool is_packed = length > 3 && strcmp(head->path + length - 3, ".gz") == 0;
    const size_t end = length - (is_packed ? 3 : 0);

    return !head->is_folder && head->size > 0 && end > 3 && memcmp(head->path + end - 3, ".et", 3) == 0;
}

#if IW_HAVE_CHAKRA

static iw_status read_chakra(const iw_log *log, const char *const *paths, size_t count,
                             struct iwi_visits *visits)
{
    struct iwi_chakra all;
    iw_status status = IW_OK;

    iwi_chakra_init(&all, log);
    for (size_t i = 0; status == IW_OK && i < count; i++) {
        status = iwi_chakra_read(&all, paths[i], paths[i], NULL, 0);
    }
    if (status == IW_OK) {
        status = iwi_chakra_fill(&all, visits);
    }
    iwi_chakra_release(&all);
    return status;
}

#else

static iw_status read_chakra(const iw_log *log, const char *const *paths, size_t count,
                             struct iwi_visits *visits)
{
    (void)count;
    (void)visits;
    return iwi_fail(log, IW_ERR_UNSUPPORTED,
                    "'%s' is a Chakra execution trace, which this idlewave cannot read: rebuild it with "
                    "libprotobuf-c-dev, protobuf-c-compiler, libyajl-dev and zlib1g-dev",
                    paths[0]);
}

#endif

static const struct iwi_visits_reader chakra_reader = {
    .origin = "Chakra",
    .what = "Chakra execution traces (.et)",
    .is = is_chakra,
    .lacks_pauses = true,
    .read = read_chakra,
};

/* ---- all formats ---- */

/* The first that knows a file reads it. */
static const struct iwi_visits_reader *const readers[] = {
    &iwi_visits_mpi,
    &inspector_reader,
    &kineto_reader,
    &chakra_reader,
};

enum { READERS = sizeof readers / sizeof readers[0], HEAD_BYTES = 64 * 1024 };

/* ---- telling apart ---- */

#if IW_HAVE_YAJL
static bool read_head(const char *path, char *bytes, size_t *size_p)
{
    gzFile file = gzopen(path, "rb");
    int size;

    if (file == NULL) {
        return false;
    }
    size = gzread(file, bytes, HEAD_BYTES);
    (void)gzclose(file);
    *size_p = size > 0 ? (size_t)size : 0;
    return true;
}
#else
static bool read_head(const char *path, char *bytes, size_t *size_p)
{
    FILE *file = fopen(path, "rbe");

    if (file == NULL) {
        return false;
    }
    *size_p = fread(bytes, 1, HEAD_BYTES, file);
    (void)fclose(file);
    return true;
}
#endif

static const struct iwi_visits_reader *reader_of(const struct iwi_visits_head *head)
{
    for (size_t i = 0; i < READERS; i++) {
        if (readers[i]->is(head)) {
            return readers[i];
        }
    }
    return NULL;
}

static bool is_known(const char *path, char *bytes)
{
    struct iwi_visits_head head = {.path = path, .bytes = bytes};

    return read_head(path, bytes, &head.size) && reader_of(&head) != NULL;
}

static bool has_known(const char *folder, char *bytes)
{
    DIR *dir = opendir(folder);
    const struct dirent *entry;
    bool is_found = reader_of(&(struct iwi_visits_head){.path = folder, .is_folder = true}) != NULL;

    while (!is_found && dir != NULL && (entry = readdir(dir)) != NULL) {
        char *path = entry->d_name[0] != '.' ? iwi_path_join(NULL, folder, entry->d_name) : NULL;
        struct stat info;

        is_found = path != NULL && stat(path, &info) == 0 && S_ISREG(info.st_mode) && is_known(path, bytes);
        free(path);
    }
    if (dir != NULL) {
        (void)closedir(dir);
    }
    return is_found;
}

bool iwi_visits_is_readable(const char *path)
{
    char *bytes = malloc(HEAD_BYTES);
    struct stat info;
    const bool is_readable =
        bytes != NULL && stat(path, &info) == 0 &&
        (S_ISDIR(info.st_mode) ? has_known(path, bytes) : S_ISREG(info.st_mode) && is_known(path, bytes));

    free(bytes);
    return is_readable;
}

/* ---- the files of a run ---- */

struct run {
    const iw_log *log;
    const struct iwi_visits_reader *reader; /* of all files so far */
    char **paths;
    size_t count, capacity;
    char *head;
};

static void release_run(struct run *run)
{
    for (size_t i = 0; i < run->count; i++) {
        free(run->paths[i]);
    }
    free(run->paths);
    free(run->head);
}

static iw_status add_path(struct run *run, const char *path, const struct iwi_visits_reader *reader)
{
    if (run->reader != NULL && run->reader != reader) {
        return iwi_fail(run->log, IW_ERR_FORMAT,
                        "'%s' belongs to %s, but '%s' to %s: give files of one format", path, reader->what,
                        run->paths[0], run->reader->what);
    }
    run->reader = reader;
    IW_TRY(iwi_grow(run->log, (void **)&run->paths, &run->capacity, run->count + 1, sizeof *run->paths));
    run->paths[run->count] = strdup(path);
    if (run->paths[run->count] == NULL) {
        return iwi_fail(run->log, IW_ERR_NOMEM, "out of memory for the names of files");
    }
    run->count++;
    return IW_OK;
}

static iw_status refuse(const struct run *run, const char *path, bool is_folder)
{
    char formats[1024];
    size_t size = 0;
    iw_trace *trace;

    if (iw_trace_is_trace(path)) { /* known, though not read */
        return iw_trace_open(run->log, path, &trace);
    }
    for (size_t i = 0; i < READERS && size < sizeof formats; i++) {
        size += (size_t)snprintf(formats + size, sizeof formats - size, "%s%s", i > 0 ? "; " : "",
                                 readers[i]->what);
    }
    return iwi_fail(run->log, IW_ERR_FORMAT, "'%s' %s; supported: %s; timelines of pipelined training", path,
                    is_folder ? "contains no trace of a run" : "is not a trace of a run", formats);
}

/* *reader_p stays NULL where no format knows the file. */
static iw_status look_at(struct run *run, const char *path, const struct iwi_visits_reader **reader_p)
{
    struct iwi_visits_head head = {.path = path, .bytes = run->head};

    if (!read_head(path, run->head, &head.size)) {
        return iwi_fail(run->log, IW_ERR_IO, "cannot read '%s': %s", path, strerror(errno));
    }
    *reader_p = reader_of(&head);
    return IW_OK;
}

static iw_status add_entry(struct run *run, const char *folder, const char *name)
{
    const struct iwi_visits_reader *reader = NULL;
    char *path = iwi_path_join(run->log, folder, name);
    struct stat info;
    iw_status status = IW_OK;

    if (path == NULL) {
        return IW_ERR_NOMEM;
    }
    if (name[0] != '.' && stat(path, &info) == 0 && S_ISREG(info.st_mode)) {
        status = look_at(run, path, &reader);
    }
    if (status == IW_OK && reader != NULL) {
        status = add_path(run, path, reader);
    }
    free(path);
    return status;
}

static iw_status add_files_of(struct run *run, const char *folder)
{
    struct dirent **entries = NULL;
    const int count = scandir(folder, &entries, NULL, alphasort);
    const size_t before = run->count;
    iw_status status = IW_OK;

    if (count < 0) {
        return iwi_fail(run->log, IW_ERR_IO, "cannot read '%s': %s", folder, strerror(errno));
    }
    for (int i = 0; i < count; i++) {
        if (status == IW_OK) {
            status = add_entry(run, folder, entries[i]->d_name);
        }
        free(entries[i]);
    }
    free(entries);
    return status == IW_OK && run->count == before ? refuse(run, folder, true) : status;
}

static iw_status add_given(struct run *run, const char *path)
{
    const struct iwi_visits_reader *reader = NULL;
    struct stat info;

    if (stat(path, &info) != 0) {
        return iwi_fail(run->log, IW_ERR_IO, "cannot read '%s': %s", path, strerror(errno));
    }
    if (S_ISDIR(info.st_mode)) {
        reader = reader_of(&(struct iwi_visits_head){.path = path, .is_folder = true});
        return reader != NULL ? add_path(run, path, reader) : add_files_of(run, path);
    }
    IW_TRY(look_at(run, path, &reader));
    return reader != NULL ? add_path(run, path, reader) : refuse(run, path, false);
}

static iw_status find_files(struct run *run, const char *const *paths, size_t count)
{
    if (count == 0) {
        return iwi_fail(run->log, IW_ERR_USAGE, "no trace given");
    }
    run->head = iwi_new_array(run->log, HEAD_BYTES, 1);
    if (run->head == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        IW_TRY(add_given(run, paths[i]));
    }
    return IW_OK;
}

/* ---- the public functions ---- */

iw_status iw_visits_open(const iw_log *log, const char *const *paths, size_t count, iw_visits **visits_p)
{
    struct run run = {.log = log};
    struct iwi_visits *visits = iwi_new_array(log, 1, sizeof *visits);
    iw_status status = visits != NULL ? find_files(&run, paths, count) : IW_ERR_NOMEM;

    if (status == IW_OK && run.reader != NULL) {
        iwi_visits_init(visits, log, run.reader->origin);
        status = run.reader->read(log, (const char *const *)run.paths, run.count, visits);
        if (status == IW_OK && run.reader->lacks_pauses) {
            status = iwi_visits_align(visits);
            status = status == IW_OK ? iwi_visits_find_slow(visits) : status;
        }
        status = status == IW_OK ? iwi_visits_check_one_run(visits) : status;
    }
    release_run(&run);
    if (status != IW_OK) {
        iw_visits_free(visits);
        return status;
    }
    *visits_p = visits;
    return IW_OK;
}

void iw_visits_free(iw_visits *visits)
{
    if (visits != NULL) {
        iwi_visits_release(visits);
        free(visits);
    }
}
