/* Buffered output to a file or to memory.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "format/out.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER_BYTES = 1 << 20 };

static iw_status open_buffer(const iw_log *log, struct iwi_out *out)
{
    *out = (struct iwi_out){.log = log, .fd = -1, .status = IW_OK};
    out->buffer = iwi_new_array(log, BUFFER_BYTES, 1);
    out->capacity = BUFFER_BYTES;
    return out->buffer == NULL ? IW_ERR_NOMEM : IW_OK;
}

iw_status iwi_out_open_memory(const iw_log *log, struct iwi_out *out)
{
    return open_buffer(log, out);
}

iw_status iwi_out_open_file(const iw_log *log, const char *path, struct iwi_out *out)
{
    IW_TRY(open_buffer(log, out));
    out->path = path;
    out->fd = strcmp(path, "-") == 0 ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)
                                     : open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (out->fd < 0) {
        const int cause = errno;

        free(out->buffer);
        return iwi_fail(log, IW_ERR_IO, "cannot write '%s': %s", path, strerror(cause));
    }
    return IW_OK;
}

static void flush(struct iwi_out *out)
{
    size_t done = 0;

    while (out->status == IW_OK && done < out->used) {
        const ssize_t written = write(out->fd, out->buffer + done, out->used - done);

        if (written > 0) {
            done += (size_t)written;
        } else if (written == 0 || errno != EINTR) {
            out->status = iwi_fail(out->log, IW_ERR_IO, "cannot write '%s': %s", out->path,
                                   written == 0 ? "nothing was accepted" : strerror(errno));
        }
    }
    out->used = 0;
}

void iwi_out_make_room(struct iwi_out *out)
{
    if (out->path != NULL) {
        flush(out);
        return;
    }
    if (out->status == IW_OK) {
        out->status =
            iwi_grow(out->log, (void **)&out->buffer, &out->capacity, out->used + IWI_OUT_RESERVE_MAX, 1);
    }
    if (out->status != IW_OK) {
        out->used = 0;
    }
}

/* A file cut short could later pass for a whole one. */
static void remove_partial(const struct iwi_out *out)
{
    struct stat info;

    if (strcmp(out->path, "-") != 0 && stat(out->path, &info) == 0 && S_ISREG(info.st_mode)) {
        (void)unlink(out->path);
    }
}

iw_status iwi_out_close(struct iwi_out *out)
{
    if (out->path != NULL) {
        flush(out);
        if (close(out->fd) != 0 && out->status == IW_OK) {
            out->status = iwi_fail(out->log, IW_ERR_IO, "cannot write '%s': %s", out->path, strerror(errno));
        }
        if (out->status != IW_OK) {
            remove_partial(out);
        }
    }
    free(out->buffer);
    out->buffer = NULL;
    return out->status;
}
