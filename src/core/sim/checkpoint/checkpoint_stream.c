/* Files of a restart point: written or read once, with a digest at their end.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/sim/checkpoint/checkpoint_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "core/base/base.h"

bool iwi_file_open(struct iwi_file_stream *stream, const char *path)
{
    iwi_hash_init(&stream->digest, iwi_hash_key);
    stream->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK); /* a pipe must not stop us */
    return stream->fd >= 0;
}

bool iwi_file_create(struct iwi_file_stream *stream, const char *path)
{
    iwi_hash_init(&stream->digest, iwi_hash_key);
    if (iwi_output_open(NULL, path, IWI_OUTPUT_REGULAR, &stream->output) != IW_OK) {
        errno = stream->output.error;
        return false;
    }
    return true;
}

bool iwi_file_put(struct iwi_file_stream *stream, const void *data, size_t bytes)
{
    iwi_hash_add(&stream->digest, data, bytes);
    return iwi_output_write(&stream->output, data, bytes) == IW_OK;
}

bool iwi_file_get(struct iwi_file_stream *stream, void *data, size_t bytes)
{
    char *to = data;
    size_t left = bytes;

    while (left > 0) {
        const ssize_t count = read(stream->fd, to, left);

        if (count == 0 || (count < 0 && errno != EINTR)) {
            return false;
        }
        to += count > 0 ? count : 0;
        left -= count > 0 ? (size_t)count : 0;
    }
    iwi_hash_add(&stream->digest, data, bytes);
    return true;
}

bool iwi_file_end_writing(struct iwi_file_stream *stream, bool is_good)
{
    const uint64_t value = iwi_hash_value(&stream->digest);

    is_good =
        is_good && iwi_file_put(stream, &value, sizeof value) && iwi_output_commit(&stream->output) == IW_OK;
    iwi_output_release(&stream->output);
    errno = stream->output.error;
    return is_good;
}

bool iwi_file_end_reading(struct iwi_file_stream *stream, bool is_good)
{
    const uint64_t value = iwi_hash_value(&stream->digest);
    uint64_t stored = 0;

    is_good = is_good && iwi_file_get(stream, &stored, sizeof stored) && stored == value;
    (void)close(stream->fd);
    return is_good;
}

/* errno tells what a failed snprintf() does not. */
static bool is_whole(int length)
{
    if (length >= 0 && length < IWI_FILE_PATH_SIZE) {
        return true;
    }
    errno = ENAMETOOLONG;
    return false;
}

bool iwi_file_path(char path[IWI_FILE_PATH_SIZE], const char *dir, const char *name)
{
    return is_whole(snprintf(path, IWI_FILE_PATH_SIZE, "%s/%s", dir, name));
}

bool iwi_block_file_path(char path[IWI_FILE_PATH_SIZE], const char *dir, uint64_t generation,
                         uint32_t first_rank)
{
    return is_whole(snprintf(path, IWI_FILE_PATH_SIZE, "%s/" IWI_PART_PREFIX "%" PRIu64 ".%" PRIu32, dir,
                             generation, first_rank));
}

iw_status iwi_file_refuse(const iw_log *log, const char *path)
{
    return iwi_fail(log, IW_ERR_FORMAT,
                    "'%s' is damaged: remove the folder to start again from the beginning", path);
}
