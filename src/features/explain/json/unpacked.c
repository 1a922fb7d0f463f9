/* Reads a file or memory, through zlib where it begins as gzip's files do.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/explain/json/unpacked.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK_BYTES = 256 << 10, GZIP_ONLY = 16 + MAX_WBITS };

/* More packed bytes, once all were used; in_size stays 0 at the end of the file. */
static iw_status fill(struct iwi_unpacked *bytes)
{
    ssize_t got = 0;

    if (bytes->fd < 0) {
        return IW_OK;
    }
    do {
        got = read(bytes->fd, bytes->buffer, CHUNK_BYTES);
    } while (got < 0 && errno == EINTR);
    if (got < 0) {
        return iwi_fail(bytes->log, IW_ERR_IO, "cannot read '%s': %s", bytes->name, strerror(errno));
    }
    bytes->in = bytes->buffer;
    bytes->in_size = (size_t)got;
    return IW_OK;
}

static iw_status begin(struct iwi_unpacked *bytes)
{
    const bool is_packed = bytes->in_size >= 2 && bytes->in[0] == 0x1f && bytes->in[1] == 0x8b;

    if (is_packed && inflateInit2(&bytes->zlib, GZIP_ONLY) != Z_OK) {
        return iwi_fail(bytes->log, IW_ERR_NOMEM, "out of memory for unpacking '%s'", bytes->name);
    }
    bytes->is_packed = is_packed;
    return IW_OK;
}

iw_status iwi_unpacked_open(const iw_log *log, const char *path, struct iwi_unpacked *bytes)
{
    iw_status status;

    *bytes = (struct iwi_unpacked){.log = log, .name = path, .fd = -1};
    bytes->buffer = iwi_new_array(log, CHUNK_BYTES, 1);
    if (bytes->buffer == NULL) {
        return IW_ERR_NOMEM;
    }
    bytes->fd = open(path, O_RDONLY | O_CLOEXEC);
    status = bytes->fd >= 0 ? fill(bytes)
                            : iwi_fail(log, IW_ERR_IO, "cannot read '%s': %s", path, strerror(errno));
    if (status == IW_OK) {
        status = begin(bytes);
    }
    if (status != IW_OK) {
        iwi_unpacked_close(bytes);
    }
    return status;
}

iw_status iwi_unpacked_open_memory(const iw_log *log, const char *name, const void *data, size_t size,
                                   struct iwi_unpacked *bytes)
{
    *bytes = (struct iwi_unpacked){.log = log, .name = name, .fd = -1, .in = data, .in_size = size};
    return begin(bytes);
}

static iw_status read_plain(struct iwi_unpacked *bytes, char *to, size_t size, size_t *got_p)
{
    size_t got = 0;

    while (got < size && !bytes->has_ended) {
        const size_t part = bytes->in_size < size - got ? bytes->in_size : size - got;

        if (part > 0) {
            memcpy(to + got, bytes->in, part);
            bytes->in += part;
            bytes->in_size -= part;
            got += part;
        } else {
            IW_TRY(fill(bytes));
            bytes->has_ended = bytes->in_size == 0;
        }
    }
    *got_p = got;
    return IW_OK;
}

/* One call of inflate() on what is there. Files may hold several packed members, one after the other. */
static iw_status inflate_some(struct iwi_unpacked *bytes)
{
    const size_t in_size = bytes->in_size < UINT32_MAX ? bytes->in_size : UINT32_MAX;
    int result;

    bytes->zlib.next_in = (z_const Bytef *)bytes->in;
    bytes->zlib.avail_in = (uInt)in_size;
    result = inflate(&bytes->zlib, Z_NO_FLUSH);
    bytes->is_in_member = result != Z_STREAM_END;
    bytes->in += in_size - bytes->zlib.avail_in;
    bytes->in_size -= in_size - bytes->zlib.avail_in;
    if (result == Z_STREAM_END) {
        (void)inflateReset(&bytes->zlib);
    } else if (result == Z_MEM_ERROR) {
        return iwi_fail(bytes->log, IW_ERR_NOMEM, "out of memory for unpacking '%s'", bytes->name);
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
        return iwi_fail(bytes->log, IW_ERR_FORMAT, "'%s' is damaged: gzip's data cannot be unpacked (%s)",
                        bytes->name, bytes->zlib.msg != NULL ? bytes->zlib.msg : "zlib gives no reason");
    }
    return IW_OK;
}

static iw_status read_packed(struct iwi_unpacked *bytes, char *to, size_t size, size_t *got_p)
{
    size_t got = 0;

    while (got < size && !bytes->has_ended) {
        const size_t room = size - got < UINT32_MAX ? size - got : UINT32_MAX;

        if (bytes->in_size == 0) {
            IW_TRY(fill(bytes));
        }
        if (bytes->in_size == 0) {
            bytes->has_ended = true;
            if (bytes->is_in_member) {
                return iwi_fail(bytes->log, IW_ERR_TRUNCATED,
                                "'%s' ends early: gzip's data goes on; copy it again", bytes->name);
            }
        } else {
            bytes->zlib.next_out = (Bytef *)(to + got);
            bytes->zlib.avail_out = (uInt)room;
            IW_TRY(inflate_some(bytes));
            got += room - bytes->zlib.avail_out;
        }
    }
    *got_p = got;
    return IW_OK;
}

iw_status iwi_unpacked_read(struct iwi_unpacked *bytes, char *to, size_t size, size_t *got_p)
{
    return bytes->is_packed ? read_packed(bytes, to, size, got_p) : read_plain(bytes, to, size, got_p);
}

void iwi_unpacked_close(struct iwi_unpacked *bytes)
{
    if (bytes->is_packed) {
        (void)inflateEnd(&bytes->zlib);
    }
    if (bytes->fd >= 0) {
        (void)close(bytes->fd);
    }
    free(bytes->buffer);
    *bytes = (struct iwi_unpacked){.fd = -1};
}
