/* The folder of a study: study.yaml, origin.json, and results, which are appended under a lock.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>

#include <idlewave/study.h>

#include "core/base/output.h"
#include "features/study/files/study_line.h"
#include "features/study/folder.h"
#include "kit/files/io/input.h"
#include "kit/files/io/paths.h"

/* ======== results ======== */

enum { MOST_WRITERS = 100000 };

static iw_status fail(const iw_log *log, const char *path, int error)
{
    return iwi_fail(log, IW_ERR_IO, "cannot write '%s': %s", path, strerror(error));
}

/* ---- locking ---- */

/* Between opening and locking, a merge may have put another file in its place. */
static bool is_still_there(const struct iwi_results_file *file)
{
    struct stat opened, named;

    return fstat(file->fd, &opened) == 0 && stat(file->path, &named) == 0 && opened.st_ino == named.st_ino &&
           opened.st_dev == named.st_dev;
}

/* *is_taken_p: another process has it. */
static void lock(const iw_log *log, const struct iwi_results_file *file, bool *is_taken_p)
{
    const int error = flock(file->fd, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;

    *is_taken_p = error == EWOULDBLOCK;
    if (error != 0 && !*is_taken_p) { /* some network file systems have no locks */
        iwi_warn(log, "cannot lock '%s' (%s): make sure that no other process writes it", file->path,
                 strerror(error));
    }
}

static iw_status open_regular(const iw_log *log, struct iwi_results_file *file)
{
    return iwi_open_growing(log, file->path, O_RDWR | O_APPEND, &file->fd);
}

static iw_status open_and_lock(const iw_log *log, struct iwi_results_file *file, bool *is_taken_p)
{
    for (int attempt = 0; attempt < 10; attempt++) {
        IW_TRY(open_regular(log, file));
        lock(log, file, is_taken_p);
        if (*is_taken_p || is_still_there(file)) {
            return IW_OK;
        }
        (void)close(file->fd);
        file->fd = -1;
    }
    return iwi_fail(log, IW_ERR_IO, "'%s' keeps being replaced: try later", file->path);
}

/* ---- cut-off lines ---- */

off_t iwi_end_of_lines(int fd)
{
    char chunk[4096];
    off_t end = lseek(fd, 0, SEEK_END);

    while (end > 0) {
        const off_t begin = end > (off_t)sizeof chunk ? end - (off_t)sizeof chunk : 0;
        const ssize_t got = pread(fd, chunk, (size_t)(end - begin), begin);
        const char *newline;

        if (got != (ssize_t)(end - begin)) {
            errno = got < 0 ? errno : EIO;
            return -1;
        }
        newline = memrchr(chunk, '\n', (size_t)got);
        if (newline != NULL) {
            return begin + (newline - chunk) + 1;
        }
        end = begin;
    }
    return end;
}

static iw_status cut_last_line(const iw_log *log, struct iwi_results_file *file)
{
    file->size = iwi_end_of_lines(file->fd);
    if (file->size < 0 || ftruncate(file->fd, file->size) != 0) {
        return fail(log, file->path, errno);
    }
    return IW_OK;
}

/* That the file exists shall be on the disk too, as far as the file system can. */
static void sync_folder(const char *dir)
{
    const int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd >= 0) {
        (void)fsync(fd);
        (void)close(fd);
    }
}

/* *is_taken_p: another process writes it, and it is not opened. */
static iw_status try_open(const iw_log *log, const char *dir, const char *name, bool has_locks,
                          struct iwi_results_file *file, bool *is_taken_p)
{
    iw_status status;

    *is_taken_p = false;
    *file = (struct iwi_results_file){.path = iwi_path_join(log, dir, name), .fd = -1};
    if (file->path == NULL) {
        return IW_ERR_NOMEM;
    }
    status = has_locks ? open_and_lock(log, file, is_taken_p) : open_regular(log, file);
    if (status == IW_OK && !*is_taken_p) {
        status = cut_last_line(log, file);
    }
    if (status != IW_OK || *is_taken_p) {
        iwi_results_file_close(file);
        return status;
    }
    sync_folder(dir);
    return IW_OK;
}

iw_status iwi_results_file_open(const iw_log *log, const char *dir, const char *name,
                                struct iwi_results_file *file)
{
    bool is_taken;

    IW_TRY(try_open(log, dir, name, true, file, &is_taken));
    return is_taken ? iwi_fail(log, IW_ERR_IO, "another process is writing '%s/%s': wait for it", dir, name)
                    : IW_OK;
}

iw_status iwi_results_file_take(const iw_log *log, const char *dir, uint32_t shard, uint32_t shards,
                                uint32_t writer, bool has_locks, struct iwi_results_file *file)
{
    for (uint32_t attempt = 0; attempt < MOST_WRITERS; attempt++) {
        bool is_taken;
        char name[64];

        iwi_results_file_name(shard, shards, (writer + attempt) % MOST_WRITERS, name);
        IW_TRY(try_open(log, dir, name, has_locks, file, &is_taken));
        if (!is_taken) {
            file->is_extra = writer + attempt > 0;
            return IW_OK;
        }
    }
    return iwi_fail(log, IW_ERR_IO, "%d processes already write to '%s'", MOST_WRITERS, dir);
}

void iwi_results_file_close(struct iwi_results_file *file)
{
    if (file->fd >= 0) {
        (void)close(file->fd);
    }
    free(file->path);
    *file = (struct iwi_results_file){.fd = -1};
}

void iwi_results_file_leave(struct iwi_results_file *file)
{
    if (file->is_extra && file->size == 0) {
        (void)unlink(file->path);
    }
    iwi_results_file_close(file);
}

/* ---- appending ---- */

/* Gives errno. The first write() takes all unless something is wrong; the next one tells what. */
static int write_all(int fd, const char *bytes, size_t count)
{
    while (count > 0) {
        const ssize_t written = write(fd, bytes, count);

        if (written < 0 && errno != EINTR) {
            return errno;
        }
        bytes += written > 0 ? written : 0;
        count -= written > 0 ? (size_t)written : 0;
    }
    return 0;
}

/* Gives errno. Beyond the limit of a file's size, write() would not only fail but also end the process. */
static int write_without_signal(int fd, const char *bytes, size_t count)
{
    const struct timespec at_once = {0, 0};
    sigset_t too_large, before;
    int error;

    (void)sigemptyset(&too_large);
    (void)sigaddset(&too_large, SIGXFSZ);
    (void)pthread_sigmask(SIG_BLOCK, &too_large, &before);
    error = write_all(fd, bytes, count);
    if (error == EFBIG && sigismember(&before, SIGXFSZ) == 0) {
        (void)sigtimedwait(&too_large, NULL, &at_once);
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

iw_status iwi_results_file_append(const iw_log *log, struct iwi_results_file *file, const char *line)
{
    const size_t length = strlen(line);
    int error = write_without_signal(file->fd, line, length);

    if (error == 0 && fdatasync(file->fd) != 0) {
        error = errno;
    }
    if (error != 0) {
        (void)!ftruncate(file->fd, file->size); /* a part that stays is cut off by the next run */
        return iwi_fail(log, IW_ERR_IO, "cannot write '%s': %s; finished cells are kept; rerun to resume",
                        file->path, strerror(error));
    }
    file->size += (off_t)length;
    return IW_OK;
}

/* ======== the folder ======== */

static const char study_name[] = "study.yaml", origin_name[] = "origin.json";

/* ---- files ---- */

iw_status iwi_read_text(const iw_log *log, const char *path, char **text_p, size_t *size_p)
{
    struct stat info = {0};
    struct iwi_input input;
    char *text;

    *text_p = NULL;
    *size_p = 0;
    if (stat(path, &info) != 0 && errno == ENOENT) {
        return IW_OK;
    }
    if (!S_ISREG(info.st_mode)) { /* a pipe would stop us for ever */
        return iwi_fail(log, IW_ERR_IO, "cannot read '%s': it is not a regular file", path);
    }
    IW_TRY(iwi_input_open(log, path, &input));
    text = iwi_new_array(log, input.size + 1, 1);
    if (text != NULL) {
        memcpy(text, input.data, input.size);
        *text_p = text;
        *size_p = input.size;
    }
    iwi_input_close(&input);
    return text != NULL ? IW_OK : IW_ERR_NOMEM;
}

/* ---- the folder ---- */

iw_status iwi_folder_each_results(const iw_log *log, const char *dir, iwi_visit_results visit, void *arg)
{
    struct dirent **names = NULL;
    const int count = scandir(dir, &names, iwi_is_results_file, alphasort);
    iw_status status = IW_OK;

    if (count < 0 && errno != ENOENT) {
        return iwi_fail(log, IW_ERR_IO, "cannot read the folder '%s': %s", dir, strerror(errno));
    }
    for (int i = 0; i < count; i++) {
        if (status == IW_OK) {
            status = visit(log, dir, names[i]->d_name, arg);
        }
        free(names[i]);
    }
    free(names);
    return status;
}

/* ---- what describes it ---- */

static void put(json_t *object, const char *name, const char *value)
{
    (void)json_object_set_new(object, name, json_string(value)); /* text that is not UTF-8 is left out */
}

static json_t *new_origin(const iw_study *study, const char *command)
{
    const time_t now = time(NULL);
    char date[32] = "", host[256] = "";
    json_t *origin = json_object();
    struct tm utc;

    if (origin == NULL) {
        return NULL;
    }
    if (gmtime_r(&now, &utc) != NULL) {
        (void)strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc);
    }
    (void)gethostname(host, sizeof host - 1);
    put(origin, "version", iw_version());
    put(origin, "date", date);
    put(origin, "host", host);
    put(origin, "study", study->path != NULL ? study->path : "");
    put(origin, "command", command != NULL ? command : "");
    return origin;
}

static iw_status write_origin(const iw_log *log, const char *path, const iw_study *study, const char *command)
{
    json_t *origin = new_origin(study, command);
    char *text = origin != NULL ? json_dumps(origin, JSON_INDENT(2) | JSON_PRESERVE_ORDER) : NULL;
    const size_t length = text != NULL ? strlen(text) : 0;
    iw_status status;

    json_decref(origin);
    if (text == NULL) {
        return iwi_fail(log, IW_ERR_NOMEM, "out of memory for '%s'", path);
    }
    text[length] = '\n'; /* in the place of the NUL: the size says where it ends */
    status = iwi_write_bytes(log, path, text, length + 1);
    free(text);
    return status;
}

static iw_status count_results(const iw_log *log, const char *dir, const char *name, void *arg)
{
    (void)log;
    (void)dir;
    (void)name;
    (*(size_t *)arg)++;
    return IW_OK;
}

/* *is_there_p: there is a study.yaml; *is_same_p: and it is this study's. */
static iw_status compare_study(const iw_log *log, const char *path, const iw_study *study, bool *is_there_p,
                               bool *is_same_p)
{
    const size_t length = strlen(study->text);
    char *before = NULL;
    size_t size = 0;

    IW_TRY(iwi_read_text(log, path, &before, &size));
    *is_there_p = before != NULL;
    *is_same_p = before != NULL && size == length && memcmp(before, study->text, length) == 0;
    free(before);
    return IW_OK;
}

static iw_status check_owner(const iw_log *log, const char *dir, const iw_study *study,
                             const char *study_path, const char *origin_path)
{
    bool is_there = false, is_same = false;
    size_t results = 0;

    IW_TRY(compare_study(log, study_path, study, &is_there, &is_same));
    IW_TRY(iwi_folder_each_results(log, dir, count_results, &results));
    if (is_there && !is_same && results == 0 && access(origin_path, F_OK) != 0) {
        return iwi_fail(log, IW_ERR_IO,
                        "'%s' belongs to another study, and its folder has no results: choose another folder",
                        study_path);
    }
    return IW_OK;
}

static iw_status describe(const iw_log *log, const iw_study *study, const char *command,
                          const char *study_path, const char *origin_path, bool *is_other_p)
{
    bool is_there = false, is_same = false;

    IW_TRY(compare_study(log, study_path, study, &is_there, &is_same));
    if (access(origin_path, F_OK) != 0) {
        IW_TRY(write_origin(log, origin_path, study, command));
    }
    if (!is_same) {
        IW_TRY(iwi_write_bytes(log, study_path, study->text, strlen(study->text)));
    }
    *is_other_p = is_there && !is_same;
    return IW_OK;
}

iw_status iwi_folder_check_owner(const iw_log *log, const char *dir, const iw_study *study)
{
    char *study_path = iwi_path_join(log, dir, study_name);
    char *origin_path = iwi_path_join(log, dir, origin_name);
    iw_status status = IW_ERR_NOMEM;

    if (study_path != NULL && origin_path != NULL) {
        status = check_owner(log, dir, study, study_path, origin_path);
    }
    free(study_path);
    free(origin_path);
    return status;
}

iw_status iwi_folder_describe(const iw_log *log, const char *dir, const iw_study *study, const char *command,
                              bool *is_other_p)
{
    char *study_path = iwi_path_join(log, dir, study_name);
    char *origin_path = iwi_path_join(log, dir, origin_name);
    iw_status status = IW_ERR_NOMEM;

    if (study_path != NULL && origin_path != NULL) {
        status = describe(log, study, command, study_path, origin_path, is_other_p);
    }
    free(study_path);
    free(origin_path);
    return status;
}

static iw_status copy_missing(const iw_log *log, const char *from, const char *to, const char *name)
{
    char *source = iwi_path_join(log, from, name), *target = iwi_path_join(log, to, name), *text = NULL;
    iw_status status = source != NULL && target != NULL ? IW_OK : IW_ERR_NOMEM;
    size_t size = 0;

    if (status == IW_OK && access(target, F_OK) != 0) {
        status = iwi_read_text(log, source, &text, &size);
        if (status == IW_OK && text != NULL) {
            status = iwi_write_bytes(log, target, text, size);
        }
    }
    free(source);
    free(target);
    free(text);
    return status;
}

iw_status iwi_folder_copy_description(const iw_log *log, const char *from, const char *to)
{
    IW_TRY(copy_missing(log, from, to, origin_name));
    return copy_missing(log, from, to, study_name);
}
