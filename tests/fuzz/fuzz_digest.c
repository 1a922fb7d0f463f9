/* Fuzzes the reader of digests: inputs are payloads, which get the head and the checksum of a file.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <idlewave/digest.h>

#include "core/base/hash.h"
#include "features/fleet/node_digest.h"
#include "fuzz.h"

static void write_fixed(int fd, uint64_t value, size_t bytes)
{
    uint8_t fixed[8];

    for (size_t i = 0; i < bytes; i++) {
        fixed[i] = (uint8_t)(value >> (8 * i));
    }
    iwt_fuzz_require(write(fd, fixed, bytes) == (ssize_t)bytes);
}

static void write_file(int fd, const uint8_t *data, size_t size)
{
    struct iwi_hash hash;

    iwi_hash_init(&hash, iwi_hash_key);
    iwi_hash_add(&hash, data, size);
    iwt_fuzz_require(write(fd, IWI_DIGEST_MAGIC, IWI_DIGEST_MAGIC_BYTES) == IWI_DIGEST_MAGIC_BYTES);
    write_fixed(fd, size, IWI_DIGEST_HEAD_BYTES - IWI_DIGEST_MAGIC_BYTES);
    iwt_fuzz_require(write(fd, data, size) == (ssize_t)size);
    write_fixed(fd, iwi_hash_value(&hash), IWI_DIGEST_HASH_BYTES);
}

/* How many cells of the file's digest are of these CPUs; SIZE_MAX: it cannot be read any more. */
static size_t cells_of(iw_digest_file *file, uint32_t first, uint32_t end)
{
    iw_digest *digest = NULL;
    size_t count = 0;

    iw_digest_file_seek(file, 0);
    iw_digest_file_want(file, first, end);
    if (iw_digest_file_next(NULL, file, &digest) != IW_OK || digest == NULL) {
        return SIZE_MAX;
    }
    for (size_t i = 0; i < digest->source_count; i++) {
        count += digest->sources[i].cell_count;
    }
    iw_digest_free(digest);
    return count;
}

/* Parts are the whole; a file that changes meanwhile does no harm. */
static void read_parts(iw_digest_file *file, int fd, const uint8_t *data, size_t size)
{
    const uint32_t border = data[size / 2];
    const size_t whole = cells_of(file, 0, IW_CPU_SET_MOST), low = cells_of(file, 0, border);
    const uint8_t changed = (uint8_t)~data[size / 3];

    iwt_fuzz_require(low + cells_of(file, border, IW_CPU_SET_MOST) == whole);
    iwt_fuzz_require(pwrite(fd, &changed, 1, (off_t)(IWI_DIGEST_HEAD_BYTES + size / 3)) == 1);
    (void)cells_of(file, 0, border);
    (void)cells_of(file, border, IW_CPU_SET_MOST);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const int fd = memfd_create("fuzz", MFD_CLOEXEC);
    unsigned errors = 0;
    const iw_log log = {iwt_fuzz_count_error, &errors};
    iw_digest_file *file;
    iw_digest *digest;
    iw_status status;
    char path[64];

    iwt_fuzz_require(fd >= 0);
    write_file(fd, data, size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    iwt_fuzz_require(iw_digest_file_open(NULL, path, &file) == IW_OK);
    status = iw_digest_file_next(&log, file, &digest);
    iwt_fuzz_check_log(status, errors);
    if (status == IW_OK) {
        iwt_fuzz_require(digest != NULL && digest->source_count > 0);
        for (size_t i = 0; i < digest->source_count; i++) {
            for (size_t k = 0; k < digest->sources[i].cell_count; k++) {
                iwt_fuzz_require(digest->sources[i].cells[k].cpu < digest->cpu_count);
            }
        }
        iw_digest_free(digest);
        read_parts(file, fd, data, size);
    }
    iw_digest_file_close(file);
    (void)close(fd);
    return 0;
}
