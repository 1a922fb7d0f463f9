/* Finds tracefs in the table of mounts, or mounts it for this process alone.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/record/kernel/tracefs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/base/base.h"

/* Events name threads by their numbers in the kernel's first namespace of process numbers, whose own number
 * is fixed (PROC_PID_INIT_INO). */
static const char FIRST_PID_NAMESPACE[] = "pid:[4026531836]";

static const char USUAL_PLACE[] = "/sys/kernel/tracing";

/* Of <linux/mount.h>, which <sys/mount.h> of some C libraries contradicts. */
enum { CONFIG_CMD_CREATE = 6, OPEN_CLOEXEC = 1, MOUNT_CLOEXEC = 1 };

static bool has_foreign_thread_numbers(const char *root)
{
    char path[PATH_MAX], target[64];
    ssize_t length;

    if (snprintf(path, sizeof path, "%s/proc/self/ns/pid", root) >= (int)sizeof path) {
        return false;
    }
    length = readlink(path, target, sizeof target - 1);
    if (length < 0) {
        return false; /* not told: trust that the process is not in a container */
    }
    target[length] = '\0';
    return strcmp(target, FIRST_PID_NAMESPACE) != 0;
}

static int open_folder(const char *root, const char *place)
{
    char path[PATH_MAX];

    if (snprintf(path, sizeof path, "%s%s", root, place) >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* The first mount that can be opened; -1 with errno 0: there is none at all. */
static int open_mounted(const char *root, char *place, size_t size)
{
    char path[PATH_MAX], line[2 * PATH_MAX];
    struct mntent entry;
    int fd = -1, error = 0;
    FILE *mounts;

    if (snprintf(path, sizeof path, "%s/proc/self/mounts", root) >= (int)sizeof path ||
        (mounts = setmntent(path, "re")) == NULL) {
        errno = 0;
        return -1;
    }
    while (fd < 0 && getmntent_r(mounts, &entry, line, sizeof line) != NULL) {
        if (strcmp(entry.mnt_type, "tracefs") == 0) {
            fd = open_folder(root, entry.mnt_dir);
            error = fd < 0 ? errno : 0;
            snprintf(place, size, "%s", entry.mnt_dir);
        }
    }
    (void)endmntent(mounts);
    errno = error;
    return fd;
}

/* A mount without a place in the file tree. */
static int open_detached(void)
{
#if defined(SYS_fsopen) && defined(SYS_fsconfig) && defined(SYS_fsmount)
    const int context = (int)syscall(SYS_fsopen, "tracefs", OPEN_CLOEXEC);
    int fd = -1, error;

    if (context < 0) {
        return -1;
    }
    if (syscall(SYS_fsconfig, context, CONFIG_CMD_CREATE, NULL, NULL, 0) == 0) {
        fd = (int)syscall(SYS_fsmount, context, MOUNT_CLOEXEC, 0);
    }
    error = errno;
    (void)close(context);
    errno = error;
    return fd;
#else
    errno = ENOSYS;
    return -1;
#endif
}

static void refuse_detached(struct iwi_method *method, int error)
{
    switch (error) {
    case EPERM:
    case EACCES: (void)iwi_method_refuse(method, "tracefs needs root (CAP_SYS_ADMIN): run as root"); break;
    case ENODEV:
        (void)iwi_method_refuse(method, "this kernel has no tracefs: it was built without event tracing");
        break;
    case ENOSYS:
        (void)iwi_method_refuse(
            method,
            "tracefs is not mounted, and this kernel (before 5.2) cannot mount it for one "
            "process: mount -t tracefs tracefs %s",
            USUAL_PLACE);
        break;
    default:
        (void)iwi_method_refuse(method,
                                "tracefs is not mounted and cannot be (%s): mount -t tracefs tracefs %s",
                                strerror(error), USUAL_PLACE);
    }
}

int iwi_tracefs_open(struct iwi_method *method)
{
    char place[128] = "";
    int fd;

    if (has_foreign_thread_numbers(method->root)) {
        (void)iwi_method_refuse(
            method, "kernel events number threads as the host does, but this container does not know its own "
                    "by these numbers: run on the host, or with the host's process numbers (--pid=host)");
        return -1;
    }
    fd = open_mounted(method->root, place, sizeof place);
    if (fd >= 0) {
        return fd;
    }
    if (errno == EACCES || errno == EPERM) {
        (void)iwi_method_refuse(method, "tracefs at %s is not open to this user: run as root%s", place,
                                method->ops != NULL && method->ops->attribution == IW_ATTRIBUTION_LEVEL_PERF
                                    ? ", or with CAP_PERFMON and read access to it"
                                    : "");
        return -1;
    }
    fd = open_detached();
    if (fd < 0) {
        refuse_detached(method, errno);
    }
    return fd;
}

bool iwi_tracefs_read(int folder, const char *path, char *buf, size_t size)
{
    const int fd = openat(folder, path, O_RDONLY | O_CLOEXEC);
    size_t length = 0;
    ssize_t got;

    buf[0] = '\0';
    if (fd < 0) {
        return false;
    }
    do {
        got = read(fd, buf + length, size - length);
        length += got > 0 ? (size_t)got : 0;
    } while (length < size && (got > 0 || (got < 0 && errno == EINTR)));
    (void)close(fd);
    if (got < 0 || length == size) { /* no room for the end of the text */
        buf[0] = '\0';
        return false;
    }
    buf[length] = '\0';
    return true;
}

bool iwi_tracefs_write(int folder, const char *path, const char *text)
{
    const size_t length = strlen(text);
    const int fd = openat(folder, path, O_WRONLY | O_TRUNC | O_CLOEXEC);
    ssize_t put;
    int error;

    if (fd < 0) {
        return false;
    }
    do {
        put = write(fd, text, length);
    } while (put < 0 && errno == EINTR);
    error = put < 0 ? errno : EIO;
    (void)close(fd);
    errno = error;
    return put == (ssize_t)length;
}
