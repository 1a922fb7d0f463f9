/* Windows of a spool file.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "mpi/trace/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define PAGE UINT64_C(4096) /* windows begin at multiples of it; larger pages are multiples too */
#define LARGEST_PAGE UINT64_C(65536)

int iwi_spool_open(struct iwi_spool *spool, const char *path, size_t window_bytes)
{
    memset(spool, 0, sizeof *spool);
    spool->wanted_bytes = window_bytes;
    spool->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (spool->fd < 0) {
        spool->error = errno;
        return spool->error;
    }
    if (!iwi_spool_advance(spool, PAGE)) {
        (void)close(spool->fd);
        (void)unlink(path);
        spool->fd = -1;
    }
    return spool->error;
}

uint64_t iwi_spool_used(const struct iwi_spool *spool)
{
    return spool->offset + (uint64_t)(spool->next - spool->window);
}

static void unmap(struct iwi_spool *spool)
{
    if (spool->window != NULL) {
        (void)munmap(spool->window, spool->window_bytes);
    }
    spool->window = spool->next = spool->end = NULL;
}

/* Past the limit on file sizes the kernel would send SIGXFSZ, which ends the program. */
static int claim(int fd, uint64_t offset, size_t bytes)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        offset + bytes > limit.rlim_cur) {
        return EFBIG;
    }
    int error;
    do {
        error = posix_fallocate(fd, (off_t)offset, (off_t)bytes);
    } while (error == EINTR);
    return error;
}

bool iwi_spool_advance(struct iwi_spool *spool, size_t bytes)
{
    if (spool->error != 0) {
        return false;
    }
    uint64_t used = iwi_spool_used(spool);
    uint64_t offset = used / LARGEST_PAGE * LARGEST_PAGE;
    size_t need = (size_t)(used - offset) + bytes;
    size_t length = need > spool->wanted_bytes ? need : spool->wanted_bytes;
    length = (length + LARGEST_PAGE - 1) / LARGEST_PAGE * LARGEST_PAGE;
    unmap(spool);
    spool->offset = used; /* with no window, next - window is 0 */
    spool->error = claim(spool->fd, offset, length);
    if (spool->error != 0) {
        return false;
    }
    void *map =
        mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, spool->fd, (off_t)offset);
    if (map == MAP_FAILED) {
        spool->error = errno;
        return false;
    }
    spool->window = map;
    spool->window_bytes = length;
    spool->offset = offset;
    spool->next = spool->window + (used - offset);
    spool->end = spool->window + length;
    return true;
}

void iwi_spool_close(struct iwi_spool *spool)
{
    if (spool->fd < 0) {
        return;
    }
    uint64_t used = iwi_spool_used(spool);
    unmap(spool);
    spool->offset = used;
    (void)!ftruncate(spool->fd, (off_t)used);
    (void)close(spool->fd);
    spool->fd = -1;
}
