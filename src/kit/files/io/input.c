/* Maps or reads a whole input file.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/files/io/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK_BYTES = 1 << 20, FORGET_BYTES = 8 << 20 }; /* whole pages */

/* The address sanitizer notices reads past the end of what is on the heap, to the byte, but none past a map.
 */
#if defined(__SANITIZE_ADDRESS__)
enum { DOES_MAP = 0 };
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
enum { DOES_MAP = 0 };
#else
enum { DOES_MAP = 1 };
#endif
#else
enum { DOES_MAP = 1 };
#endif

/* Gives back what was allocated beyond the end. */
static void trim(struct iwi_input *input)
{
    char *exact = realloc(input->buffer, input->size > 0 ? input->size : 1);

    input->buffer = exact != NULL ? exact : input->buffer;
    input->data = input->buffer;
}

static iw_status read_all(const iw_log *log, const char *path, int fd, struct iwi_input *input)
{
    size_t capacity = 0;

    for (;;) {
        ssize_t got;

        IW_TRY(iwi_grow(log, (void **)&input->buffer, &capacity, input->size + CHUNK_BYTES, 1));
        got = read(fd, input->buffer + input->size, CHUNK_BYTES);
        if (got > 0) {
            input->size += (size_t)got;
        } else if (got == 0) {
            trim(input);
            return IW_OK;
        } else if (errno != EINTR) {
            return iwi_fail(log, IW_ERR_IO, "cannot read '%s': %s", path, strerror(errno));
        }
    }
}

static iw_status load(const iw_log *log, const char *path, int fd, struct iwi_input *input)
{
    struct stat info;

    if (fstat(fd, &info) != 0) {
        return iwi_fail(log, IW_ERR_IO, "cannot read '%s': %s", path, strerror(errno));
    }
    if (S_ISDIR(info.st_mode)) {
        return iwi_fail(log, IW_ERR_IO, "cannot read '%s': it is a directory", path);
    }
    if (DOES_MAP && S_ISREG(info.st_mode) && info.st_size > 0 && (uintmax_t)info.st_size <= SIZE_MAX) {
        void *map = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);

        if (map != MAP_FAILED) {
            (void)madvise(map, (size_t)info.st_size, MADV_SEQUENTIAL);
            input->map = map;
            input->data = map;
            input->size = (size_t)info.st_size;
            return IW_OK;
        }
    }
    return read_all(log, path, fd, input);
}

iw_status iwi_input_open(const iw_log *log, const char *path, struct iwi_input *input)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    iw_status status;

    *input = (struct iwi_input){.data = ""};
    if (fd < 0) {
        return iwi_fail(log, IW_ERR_IO, "cannot read '%s': %s", path, strerror(errno));
    }
    status = load(log, path, fd, input);
    (void)close(fd);
    if (status != IW_OK) {
        iwi_input_close(input);
    }
    return status;
}

void iwi_input_forget(const struct iwi_input *input, const char *end, size_t *forgotten_p)
{
    const size_t bytes = (size_t)(end - input->data) / FORGET_BYTES * FORGET_BYTES;

    if (input->map != NULL && bytes > *forgotten_p) {
        (void)madvise((char *)input->map + *forgotten_p, bytes - *forgotten_p, MADV_DONTNEED);
        *forgotten_p = bytes;
    }
}

void iwi_input_close(struct iwi_input *input)
{
    if (input->map != NULL) {
        (void)munmap(input->map, input->size);
    }
    free(input->buffer);
    *input = (struct iwi_input){.data = ""};
}
