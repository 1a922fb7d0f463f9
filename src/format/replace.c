/* Writes files aside and renames them when they are whole.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "format/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* As the kernel has it. */
enum { MOST_LINKS = 40 };

static iw_status fail(const iw_log *log, const char *path)
{
    return iwi_fail(log, IW_ERR_IO, "cannot write '%s': %s", path, strerror(errno));
}

/* "PATH.tmp-0123456789abcdef" */
static iw_status name_temporary(const iw_log *log, struct iwi_replace *replace)
{
    const size_t size = strlen(replace->path) + sizeof ".tmp-0123456789abcdef";
    uint64_t number;

    if (getrandom(&number, sizeof number, GRND_NONBLOCK) != (ssize_t)sizeof number) {
        number = (uint64_t)getpid(); /* will do */
    }
    replace->temporary = iwi_new_array(log, size, 1);
    if (replace->temporary == NULL) {
        return IW_ERR_NOMEM;
    }
    snprintf(replace->temporary, size, "%s.tmp-%016" PRIx64, replace->path, number);
    return IW_OK;
}

static iw_status create_temporary(const iw_log *log, struct iwi_replace *replace)
{
    int fd;

    IW_TRY(name_temporary(log, replace));
    fd = open(replace->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0) {
        return fail(log, replace->path);
    }
    (void)close(fd);
    return IW_OK;
}

/* The folder of `path`, with its last slash; free it. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? strndup(path, (size_t)(slash + 1 - path)) : strdup("");
}

/* Whether `folder` holds open files of processes, such as /proc/self/fd, where /dev/stdout leads. */
static bool is_of_open_files(const char *folder)
{
    struct statfs info;

    return statfs(folder[0] != '\0' ? folder : ".", &info) == 0 && info.f_type == PROC_SUPER_MAGIC;
}

/* *path_p becomes where it leads, if it is a link, which counts from its folder. `named` is for messages. */
static iw_status follow_link(const iw_log *log, const char *named, char **path_p, bool *is_link_p)
{
    char *folder = folder_of(*path_p), *next = NULL;
    char target[PATH_MAX];
    ssize_t length;
    int printed = 0;

    if (folder != NULL && is_of_open_files(folder)) {
        free(folder);
        return iwi_fail(log, IW_ERR_IO,
                        "cannot write '%s': a noise file cannot go to standard output or another open file; "
                        "name a file",
                        named);
    }
    length = readlink(*path_p, target, sizeof target);
    *is_link_p = length >= 0 && length < (ssize_t)sizeof target;
    if (*is_link_p && folder != NULL) {
        printed = asprintf(&next, "%s%.*s", target[0] == '/' ? "" : folder, (int)length, target);
    }
    free(folder);
    if (folder == NULL || printed < 0) {
        return iwi_fail(log, IW_ERR_NOMEM, "out of memory for a path");
    }
    if (next != NULL) {
        free(*path_p);
        *path_p = next;
    }
    return IW_OK;
}

/* replace->path becomes the file that `path` leads to, also where that does not exist yet. */
static iw_status follow_links(const iw_log *log, const char *path, struct iwi_replace *replace)
{
    bool is_link = true;
    char *whole;

    replace->path = strdup(path);
    if (replace->path == NULL) {
        return fail(log, path);
    }
    for (size_t i = 0; i < MOST_LINKS && is_link; i++) {
        IW_TRY(follow_link(log, path, &replace->path, &is_link));
    }
    if (is_link) {
        errno = ELOOP;
        return fail(log, path);
    }
    whole = realpath(replace->path, NULL);
    if (whole == NULL) {
        return errno == ENOENT ? IW_OK : fail(log, path);
    }
    free(replace->path);
    replace->path = whole;
    return IW_OK;
}

iw_status iwi_replace_open(const iw_log *log, const char *path, struct iwi_replace *replace)
{
    struct stat info;
    iw_status status;

    *replace = (struct iwi_replace){.path = NULL};
    status = follow_links(log, path, replace);
    if (status == IW_OK && stat(replace->path, &info) == 0 && !S_ISREG(info.st_mode)) {
        status = iwi_fail(log, IW_ERR_IO, "cannot write '%s': it is not a regular file", path);
    }
    if (status == IW_OK) {
        status = create_temporary(log, replace);
    }
    if (status != IW_OK) {
        iwi_replace_release(replace);
    }
    return status;
}

/* Gives errno. */
static int reserve(int fd, uint64_t bytes)
{
    struct rlimit limit;
    struct stat info;

    if (fstat(fd, &info) != 0) {
        return errno;
    }
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        (uint64_t)info.st_size + bytes > limit.rlim_cur) {
        return EFBIG;
    }
    if (fallocate(fd, FALLOC_FL_KEEP_SIZE, info.st_size, (off_t)bytes) != 0) {
        return errno == ENOSPC || errno == EDQUOT || errno == EFBIG ? errno : 0;
    }
    return 0;
}

iw_status iwi_reserve(const iw_log *log, const char *path, const char *name, uint64_t bytes)
{
    const int fd = open(name, O_WRONLY | O_CLOEXEC);
    const int error = fd < 0 ? errno : reserve(fd, bytes);

    if (fd >= 0) {
        (void)close(fd);
    }
    return error == 0 ? IW_OK : iwi_fail(log, IW_ERR_IO, "cannot write '%s': %s", path, strerror(error));
}

void iwi_unreserve(const char *name)
{
    struct stat info;

    if (stat(name, &info) == 0 && S_ISREG(info.st_mode)) {
        (void)!truncate(name, info.st_size); /* at worst some blocks stay with the file */
    }
}

/* Gives errno. */
static int write_all(int fd, const char *bytes, size_t count)
{
    while (count > 0) {
        const ssize_t written = write(fd, bytes, count);

        if (written > 0) {
            bytes += written;
            count -= (size_t)written;
        } else if (written == 0 || errno != EINTR) {
            return written == 0 ? ENOSPC : errno;
        }
    }
    return 0;
}

iw_status iwi_replace_write(const iw_log *log, const struct iwi_replace *replace, const void *bytes,
                            size_t count)
{
    const int fd = open(replace->temporary, O_WRONLY | O_CLOEXEC);
    int error = fd < 0 ? errno : write_all(fd, bytes, count);

    if (fd >= 0 && close(fd) != 0 && error == 0) {
        error = errno;
    }
    return error == 0 ? IW_OK
                      : iwi_fail(log, IW_ERR_IO, "cannot write '%s': %s", replace->path, strerror(error));
}

iw_status iwi_replace_commit(const iw_log *log, struct iwi_replace *replace)
{
    const int fd = open(replace->temporary, O_RDONLY | O_CLOEXEC);
    const bool is_on_disk = fd >= 0 && fsync(fd) == 0;

    if (!is_on_disk || rename(replace->temporary, replace->path) != 0) {
        const iw_status status = fail(log, replace->path);

        if (fd >= 0) {
            (void)close(fd);
        }
        return status;
    }
    (void)close(fd);
    free(replace->temporary);
    replace->temporary = NULL;
    return IW_OK;
}

void iwi_replace_release(struct iwi_replace *replace)
{
    if (replace->temporary != NULL) {
        (void)unlink(replace->temporary);
    }
    free(replace->temporary);
    free(replace->path);
    *replace = (struct iwi_replace){.path = NULL};
}
