/* Writes files beside their names and renames them when they are whole.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

/* Of a long name the temporary one has this much: room for what is added must be left. */
enum { MOST_KEPT = NAME_MAX - 24 };

static iw_status fail(struct iwi_output *output, int error)
{
    output->error = error;
    return iwi_fail(output->log, IW_ERR_IO, "cannot write '%s': %s", output->path, strerror(error));
}

/* ---- opening ---- */

/* "NAME.tmp-0123456789abcdef", for us alone until it has the mode that it is to have. */
static iw_status create_temporary(struct iwi_output *output)
{
    const struct iwi_output_place *place = &output->place;
    uint64_t number;

    if (getrandom(&number, sizeof number, GRND_NONBLOCK) != (ssize_t)sizeof number) {
        number = (uint64_t)getpid(); /* will do */
    }
    snprintf(output->temporary, sizeof output->temporary, "%.*s.tmp-%016" PRIx64, MOST_KEPT, place->name,
             number);
    output->fd = openat(place->folder, output->temporary,
                        O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, place->is_there ? 0600 : 0666);
    if (output->fd < 0) {
        output->temporary[0] = '\0';
        return fail(output, errno);
    }
    return IW_OK;
}

/* If it is a file that we have open, it goes on where that stands. */
static iw_status open_open_file(struct iwi_output *output)
{
    const struct iwi_output_place *place = &output->place;
    struct stat named, ours;
    char *end;
    const long number = strtol(place->name, &end, 10);

    if (*end == '\0' && number >= 0 && number <= INT_MAX && fstat((int)number, &ours) == 0 &&
        fstatat(place->folder, place->name, &named, 0) == 0 && named.st_ino == ours.st_ino &&
        named.st_dev == ours.st_dev) {
        output->fd = fcntl((int)number, F_DUPFD_CLOEXEC, 0);
    } else {
        output->fd = openat(place->folder, place->name, O_WRONLY | O_NOCTTY | O_CLOEXEC);
    }
    return output->fd >= 0 ? IW_OK : fail(output, errno);
}

/* Nothing is cut off when it is opened, so nothing is lost should it have been exchanged. */
static iw_status open_special(struct iwi_output *output)
{
    const struct iwi_output_place *place = &output->place;
    struct stat opened;

    output->fd = openat(place->folder, place->name, O_WRONLY | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC);
    if (output->fd < 0 || fstat(output->fd, &opened) != 0) {
        return fail(output, errno);
    }
    return opened.st_ino == place->there.st_ino && opened.st_dev == place->there.st_dev
               ? IW_OK
               : fail(output, ESTALE);
}

static iw_status check_kind(struct iwi_output *output, enum iwi_output_kind kind)
{
    const struct iwi_output_place *place = &output->place;

    if (kind == IWI_OUTPUT_REGULAR && place->is_open_file) {
        output->error = EINVAL;
        return iwi_fail(output->log, IW_ERR_IO,
                        "cannot write '%s': this kind of file cannot go to standard output or another open "
                        "file; name a file",
                        output->path);
    }
    if (kind == IWI_OUTPUT_REGULAR && place->is_there && !S_ISREG(place->there.st_mode)) {
        output->error = EINVAL;
        return iwi_fail(output->log, IW_ERR_IO, "cannot write '%s': it is not a regular file", output->path);
    }
    return place->is_there && S_ISDIR(place->there.st_mode) ? fail(output, EISDIR) : IW_OK;
}

static iw_status find_place(const iw_log *log, const char *path, enum iwi_output_kind kind,
                            struct iwi_output *output)
{
    *output = (struct iwi_output){.log = log, .place.folder = -1, .fd = -1, .path = strdup(path)};
    if (output->path == NULL) {
        output->error = ENOMEM;
        return iwi_fail(log, IW_ERR_NOMEM, "out of memory for a path");
    }
    IW_TRY(iwi_output_place_find(log, path, &output->place, &output->error));
    return check_kind(output, kind);
}

iw_status iwi_output_open(const iw_log *log, const char *path, enum iwi_output_kind kind,
                          struct iwi_output *output)
{
    iw_status status = find_place(log, path, kind, output);

    if (status == IW_OK) {
        status = output->place.is_open_file                                        ? open_open_file(output)
                 : output->place.is_there && !S_ISREG(output->place.there.st_mode) ? open_special(output)
                                                                                   : create_temporary(output);
    }
    if (status != IW_OK) {
        iwi_output_release(output);
    }
    return status;
}

iw_status iwi_output_open_stdout(const iw_log *log, struct iwi_output *output)
{
    *output = (struct iwi_output){.log = log, .place.folder = -1, .path = strdup("-")};
    output->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
    if (output->path == NULL || output->fd < 0) {
        const int error = output->path == NULL ? ENOMEM : errno;

        iwi_output_release(output);
        return iwi_fail(log, IW_ERR_IO, "cannot write to standard output: %s", strerror(error));
    }
    return IW_OK;
}

iw_status iw_output_check(const iw_log *log, const char *path, bool needs_regular)
{
    struct iwi_output output;
    iw_status status = find_place(log, path, needs_regular ? IWI_OUTPUT_REGULAR : IWI_OUTPUT_ANY, &output);
    const struct iwi_output_place *place = &output.place;

    if (status == IW_OK && !place->is_open_file && (!place->is_there || S_ISREG(place->there.st_mode)) &&
        faccessat(place->folder, ".", W_OK | X_OK, AT_EACCESS) != 0) {
        status = fail(&output, errno);
    }
    iwi_output_release(&output);
    return status;
}

/* ---- writing ---- */

/* Beyond the limit of a file's size write() would not only fail but also end the process. */
static bool is_beyond_limit(uint64_t size)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && size > limit.rlim_cur;
}

/* Gives errno. */
static int write_all(struct iwi_output *output, const char *bytes, size_t count)
{
    if (output->temporary[0] != '\0' && is_beyond_limit(output->written + count)) {
        return EFBIG;
    }
    while (count > 0) {
        const ssize_t written = write(output->fd, bytes, count);

        if (written > 0) {
            bytes += written;
            count -= (size_t)written;
            output->written += (uint64_t)written;
        } else if (written == 0 || errno != EINTR) {
            return written == 0 ? ENOSPC : errno;
        }
    }
    return 0;
}

iw_status iwi_output_write(struct iwi_output *output, const void *bytes, size_t count)
{
    int error;

    if (output->error != 0) {
        return IW_ERR_IO;
    }
    error = write_all(output, bytes, count);
    return error == 0 ? IW_OK : fail(output, error);
}

/* ---- committing ---- */

/* Owner, group and mode of the file that is replaced; nobody may do more with the new one. Gives errno. */
static int keep_rights(const struct iwi_output *output)
{
    const struct stat *old = &output->place.there;
    mode_t mode = old->st_mode & (S_IRWXU | S_IRWXG | S_IRWXO);
    struct stat now;

    if (fchown(output->fd, old->st_uid, old->st_gid) != 0) {
        (void)!fchown(output->fd, (uid_t)-1, old->st_gid); /* whether it worked is seen below */
    }
    if (fstat(output->fd, &now) != 0) {
        return errno;
    }
    if (now.st_gid != old->st_gid) { /* another group may do what others may, no more */
        mode &= ~(mode_t)S_IRWXG | (mode & S_IRWXO) << 3;
    }
    if (fchmod(output->fd, mode) == 0) {
        return 0;
    }
    return (now.st_mode & (S_IRWXU | S_IRWXG | S_IRWXO) & ~mode) == 0 ? 0 : errno; /* it has no modes */
}

/* Gives errno; file systems that cannot do it do what they can. */
static int sync_data(int fd)
{
    return fsync(fd) == 0 || errno == EINVAL || errno == ENOSYS || errno == ENOTSUP ? 0 : errno;
}

/* The new name shall be on the disk too, where the folder may be read for that. Gives errno. */
static int sync_folder(int folder)
{
    const int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int error = 0;

    if (fd >= 0) {
        error = sync_data(fd);
        (void)close(fd);
    }
    return error;
}

iw_status iwi_output_commit(struct iwi_output *output)
{
    const struct iwi_output_place *place = &output->place;
    int error = 0;

    if (output->error != 0) {
        return IW_ERR_IO;
    }
    if (output->temporary[0] == '\0') {
        return IW_OK;
    }
    error = place->is_there ? keep_rights(output) : 0;
    if (error == 0) {
        error = sync_data(output->fd);
    }
    if (error == 0 && renameat(place->folder, output->temporary, place->folder, place->name) != 0) {
        error = errno;
    }
    if (error == 0) {
        output->temporary[0] = '\0';
        error = sync_folder(place->folder);
    }
    return error == 0 ? IW_OK : fail(output, error);
}

void iwi_output_release(struct iwi_output *output)
{
    if (output->temporary[0] != '\0') {
        (void)unlinkat(output->place.folder, output->temporary, 0);
        output->temporary[0] = '\0';
    }
    if (output->fd >= 0) {
        (void)close(output->fd);
        output->fd = -1;
    }
    iwi_output_place_release(&output->place);
    free(output->path);
    output->path = NULL;
}

iw_status iwi_write_bytes(const iw_log *log, const char *path, const void *bytes, size_t count)
{
    struct iwi_output output;
    iw_status status;

    IW_TRY(iwi_output_open(log, path, IWI_OUTPUT_ANY, &output));
    status = iwi_output_write(&output, bytes, count);
    if (status == IW_OK) {
        status = iwi_output_commit(&output);
    }
    iwi_output_release(&output);
    return status;
}

/* ---- streams ---- */

/* Never fails: who writes need not know, and the cause is told once, at the end. */
static ssize_t take(void *cookie, const char *bytes, size_t count)
{
    struct iwi_output *output = cookie;

    output->error = output->error != 0 ? output->error : write_all(output, bytes, count);
    return (ssize_t)count;
}

static iw_status write_stream(const iw_log *log, struct iwi_output *output, iw_write_fn write, void *arg)
{
    FILE *out = fopencookie(output, "w", (cookie_io_functions_t){.write = take});
    iw_status status;

    if (out == NULL) {
        return iwi_fail(log, IW_ERR_NOMEM, "out of memory to write '%s'", output->path);
    }
    status = write(log, arg, out);
    if (fclose(out) != 0 && output->error == 0) {
        output->error = errno;
    }
    if (status == IW_OK && output->error != 0) {
        status = fail(output, output->error);
    }
    return status == IW_OK ? iwi_output_commit(output) : status;
}

iw_status iw_write_file(const iw_log *log, const char *path, iw_write_fn write, void *arg)
{
    struct iwi_output output;
    iw_status status;

    IW_TRY(iwi_output_open(log, path, IWI_OUTPUT_ANY, &output));
    status = write_stream(log, &output, write, arg);
    iwi_output_release(&output);
    return status;
}

/* ---- for libraries that write themselves ---- */

bool iwi_output_reopen_name(const struct iwi_output *output, char name[IWI_OUTPUT_NAME_SIZE])
{
    snprintf(name, IWI_OUTPUT_NAME_SIZE, "/proc/self/fd/%d", output->fd);
    return access(name, W_OK) == 0;
}

/* Gives errno. */
static int reserve(int fd, uint64_t bytes)
{
    struct stat info;

    if (fstat(fd, &info) != 0) {
        return errno;
    }
    if (is_beyond_limit((uint64_t)info.st_size + bytes)) {
        return EFBIG;
    }
    if (fallocate(fd, FALLOC_FL_KEEP_SIZE, info.st_size, (off_t)bytes) != 0) {
        return errno == ENOSPC || errno == EDQUOT || errno == EFBIG ? errno : 0;
    }
    return 0;
}

iw_status iwi_output_reserve(struct iwi_output *output, uint64_t bytes)
{
    const int error = reserve(output->fd, bytes);

    return error == 0 ? IW_OK : fail(output, error);
}

void iwi_output_unreserve(const struct iwi_output *output)
{
    struct stat info;

    if (fstat(output->fd, &info) == 0) {
        (void)!ftruncate(output->fd, info.st_size); /* at worst some blocks stay with the file */
    }
}

iw_status iwi_check_written(const iw_log *log, FILE *out, const char *what)
{
    errno = 0;
    if (fflush(out) != 0 || ferror(out)) {
        return iwi_fail(log, IW_ERR_IO, "cannot write %s: %s", what,
                        errno != 0 ? strerror(errno) : "write error");
    }
    return IW_OK;
}
