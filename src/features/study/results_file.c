/* A results file that grows by whole lines: locked, appended, synced.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/base/output.h"
#include "features/study/files/study_line.h"
#include "features/study/folder.h"
#include "kit/files/io/paths.h"

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
        iwi_warn(log, "'%s' cannot be locked (%s): make sure that no other process writes it", file->path,
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
    return iwi_fail(log, IW_ERR_IO, "'%s' is being replaced again and again: try later", file->path);
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
    return iwi_fail(log, IW_ERR_IO, "%d processes write into '%s' already", MOST_WRITERS, dir);
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
        return iwi_fail(log, IW_ERR_IO,
                        "cannot write '%s': %s; what is done stays, and the same command goes on", file->path,
                        strerror(error));
    }
    file->size += (off_t)length;
    return IW_OK;
}
