/* Folders that are written into, what is removed from them, and files that grow in them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/internal/folder.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/output.h"

/* ---- folders ---- */

iw_status iwi_folder_ensure(const iw_log *log, const char *path, enum iwi_folder_use use)
{
    int folder = -1;

    IW_TRY(iwi_folder_open(log, path, use, &folder));
    (void)close(folder);
    return IW_OK;
}

/* The absolute path of an open folder. Gives errno. */
static int name_folder(int folder, const char *path, char *name, size_t size)
{
    char link[IWI_OUTPUT_NAME_SIZE], found[PATH_MAX];
    ssize_t length;

    snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    length = readlink(link, found, sizeof found - 1);
    if (length <= 0) { /* there is no /proc */
        if (realpath(path, found) == NULL) {
            return errno;
        }
        length = (ssize_t)strlen(found);
    }
    if ((size_t)length >= size) {
        return ENAMETOOLONG;
    }
    memcpy(name, found, (size_t)length);
    name[length] = '\0';
    return 0;
}

/* For our command alone, which has the library inside: not exported. */
__attribute__((visibility("hidden"))) iw_status iw_folder_make(const iw_log *log, const char *path,
                                                               char *name, size_t size)
{
    int folder = -1, error;

    IW_TRY(iwi_folder_open(log, path, IWI_FOLDER_MADE, &folder));
    error = name_folder(folder, path, name, size);
    (void)close(folder);
    return error == 0 ? IW_OK
                      : iwi_fail(log, IW_ERR_IO, "cannot use the folder '%s': %s", path, strerror(error));
}

/* ---- what is in them ---- */

static bool is_regular(int folder, const char *name)
{
    struct stat facts;

    return fstatat(folder, name, &facts, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(facts.st_mode);
}

/* NULL: errno tells. The folder itself stays open. */
static DIR *list(int folder)
{
    const int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = fd >= 0 ? fdopendir(fd) : NULL;

    if (entries == NULL && fd >= 0) {
        (void)close(fd);
    }
    return entries;
}

static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

int iwi_folder_clean(int folder, iwi_is_own_fn is_own, const void *arg)
{
    DIR *entries = list(folder);
    const struct dirent *entry;
    int error = entries != NULL ? 0 : errno;

    while (entries != NULL && (entry = readdir(entries)) != NULL) {
        if (!is_dots(entry->d_name) && is_own(entry->d_name, arg) && is_regular(folder, entry->d_name) &&
            unlinkat(folder, entry->d_name, 0) != 0 && errno != ENOENT) {
            error = errno;
        }
    }
    if (entries != NULL) {
        (void)closedir(entries);
    }
    return error;
}

/* ---- clearing ---- */

struct clearing {
    const iw_log *log;
    const char *path;
    int folder;
};

static iw_status cannot_clear(const struct clearing *clearing, int error)
{
    return iwi_fail(clearing->log, IW_ERR_IO, "cannot clear the folder '%s': %s", clearing->path,
                    strerror(error));
}

static iw_status refuse(const struct clearing *clearing, const char *sub, const char *name)
{
    return iwi_fail(
        clearing->log, IW_ERR_IO,
        "cannot clear the folder '%s': '%s%s%s' in it was not written by idlewave; nothing was removed",
        clearing->path, sub != NULL ? sub : "", sub != NULL && name[0] != '\0' ? "/" : "", name);
}

/* The folder of a part; -1 without an error: it is not there. */
static iw_status open_part(const struct clearing *clearing, const iw_own_files *part, int *fd_p)
{
    *fd_p = openat(clearing->folder, part->sub != NULL ? part->sub : ".",
                   O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (*fd_p < 0 && errno != ENOENT) {
        return errno == ENOTDIR || errno == ELOOP ? refuse(clearing, part->sub, "")
                                                  : cannot_clear(clearing, errno);
    }
    return IW_OK;
}

static iw_status check_part(const struct clearing *clearing, const iw_own_files *part, int fd)
{
    DIR *entries = list(fd);
    const struct dirent *entry;
    iw_status status = IW_OK;

    if (entries == NULL) {
        return cannot_clear(clearing, errno);
    }
    while (status == IW_OK && (entry = readdir(entries)) != NULL) {
        const bool is_own = part->is_own(entry->d_name);

        if (!is_dots(entry->d_name) && (is_own ? !is_regular(fd, entry->d_name) : part->sub != NULL)) {
            status = refuse(clearing, part->sub, entry->d_name);
        }
    }
    (void)closedir(entries);
    return status;
}

static bool is_own_of(const char *name, const void *part)
{
    return ((const iw_own_files *)part)->is_own(name);
}

static iw_status remove_part(const struct clearing *clearing, const iw_own_files *part, int fd)
{
    int error = iwi_folder_clean(fd, is_own_of, part);

    if (error == 0 && part->sub != NULL && unlinkat(clearing->folder, part->sub, AT_REMOVEDIR) != 0 &&
        errno != ENOENT) {
        error = errno;
    }
    return error == 0 ? IW_OK : cannot_clear(clearing, error);
}

static iw_status each_part(const struct clearing *clearing, const iw_own_files *parts, size_t count,
                           iw_status (*visit)(const struct clearing *, const iw_own_files *, int))
{
    iw_status status = IW_OK;

    for (size_t i = 0; i < count && status == IW_OK; i++) {
        int fd = -1;

        status = open_part(clearing, &parts[i], &fd);
        if (status == IW_OK && fd >= 0) {
            status = visit(clearing, &parts[i], fd);
            (void)close(fd);
        }
    }
    return status;
}

__attribute__((visibility("hidden"))) iw_status iw_folder_clear(const iw_log *log, const char *path,
                                                                const iw_own_files *parts, size_t count)
{
    struct clearing clearing = {.log = log, .path = path, .folder = -1};
    iw_status status;

    IW_TRY(iwi_folder_open(log, path, IWI_FOLDER_THERE, &clearing.folder));
    status = each_part(&clearing, parts, count, check_part);
    if (status == IW_OK) {
        status = each_part(&clearing, parts, count, remove_part);
    }
    (void)close(clearing.folder);
    return status;
}

/* ---- files that grow ---- */

/* Where everyone may write, a file of another user is refused, as a place is. */
static const char *why_not_to_grow(int folder, int fd)
{
    struct stat in, info;

    if (fstat(fd, &info) != 0 || fstat(folder, &in) != 0 || !S_ISREG(info.st_mode)) {
        return "it is not a regular file";
    }
    if (iwi_output_is_planted(&in, &info)) {
        return "it belongs to another user, in a folder where everyone may write";
    }
    return NULL;
}

iw_status iwi_open_growing_at(const iw_log *log, int folder, const char *name, const char *path, int flags,
                              int *fd_p)
{
    const int fd = openat(folder, name, flags | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0666);
    const int error = errno;
    const char *why = fd < 0 && error == ELOOP   ? "it is not a regular file but a symbolic link"
                      : fd < 0 && error == ENXIO ? "it is not a regular file" /* a pipe that nobody reads */
                      : fd < 0                   ? strerror(error)
                                                 : why_not_to_grow(folder, fd);

    if (why != NULL) {
        if (fd >= 0) {
            (void)close(fd);
        }
        return iwi_fail(log, IW_ERR_IO, "cannot write '%s': %s", path, why);
    }
    *fd_p = fd;
    return IW_OK;
}

iw_status iwi_open_growing(const iw_log *log, const char *path, int flags, int *fd_p)
{
    const char *slash = strrchr(path, '/');
    char parent[PATH_MAX] = ".";
    iw_status status;
    int folder = -1;

    if (slash != NULL) {
        const int length = slash == path ? 1 : (int)(slash - path);

        if (snprintf(parent, sizeof parent, "%.*s", length, path) >= (int)sizeof parent) {
            return iwi_fail(log, IW_ERR_IO, "cannot write '%s': %s", path, strerror(ENAMETOOLONG));
        }
    }
    IW_TRY(iwi_folder_open(log, parent, IWI_FOLDER_THERE, &folder));
    status = iwi_open_growing_at(log, folder, slash != NULL ? slash + 1 : path, path, flags, fd_p);
    (void)close(folder);
    return status;
}
