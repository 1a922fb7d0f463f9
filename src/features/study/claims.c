/* Claims by locks of open file descriptions.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/study/claims.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/output.h"
#include "features/study/folder.h"
#include "kit/files/io/paths.h"

/* Cells have the bytes below, nodes those from here on; offsets of files have 63 bits. */
static const uint64_t FIRST_NODE_BYTE = UINT64_C(1) << 61;

/* Gives errno. */
static int set_lock(int fd, short type, uint64_t byte)
{
    struct flock lock = {
        .l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)byte, .l_len = 1}; /* its l_pid must be 0 */
    int result;

    do {
        result = fcntl(fd, F_OFD_SETLK, &lock);
    } while (result != 0 && errno == EINTR);
    return result == 0 ? 0 : errno;
}

static bool is_held(int error)
{
    return error == EAGAIN || error == EACCES;
}

iw_status iwi_claims_open(const iw_log *log, const char *dir, struct iwi_claims *claims)
{
    iw_status status;

    *claims = (struct iwi_claims){.path = iwi_path_join(log, dir, "claims"), .fd = -1};
    status = claims->path != NULL ? iwi_open_growing(log, claims->path, O_RDWR, &claims->fd) : IW_ERR_NOMEM;
    if (status != IW_OK) {
        iwi_claims_close(claims);
        return status;
    }
    claims->fault = set_lock(claims->fd, F_WRLCK, FIRST_NODE_BYTE - 1); /* belongs to nothing: just a try */
    claims->fault = is_held(claims->fault) ? 0 : claims->fault;
    (void)set_lock(claims->fd, F_UNLCK, FIRST_NODE_BYTE - 1);
    return IW_OK;
}

void iwi_claims_close(struct iwi_claims *claims)
{
    if (claims->fd >= 0) {
        (void)close(claims->fd);
    }
    free(claims->path);
    *claims = (struct iwi_claims){.fd = -1};
}

/* Two cells whose ids differ in the last digits only do not run at the same time, once in 10^18 pairs. */
uint64_t iwi_claim_of_cell(const iw_cell *cell)
{
    return strtoull(cell->id, NULL, 16) >> 3;
}

uint64_t iwi_claim_of_node(void)
{
    uint64_t number = UINT64_C(14695981039346656037); /* FNV-1a */
    char name[256] = "";

    (void)gethostname(name, sizeof name - 1);
    for (const char *c = name; *c != '\0'; c++) {
        number = (number ^ (unsigned char)*c) * UINT64_C(1099511628211);
    }
    return FIRST_NODE_BYTE + (number >> 3);
}

iw_status iwi_claims_take(const iw_log *log, const struct iwi_claims *claims, uint64_t byte, bool *is_taken_p)
{
    const int error = claims->fault == 0 ? set_lock(claims->fd, F_WRLCK, byte) : 0;

    *is_taken_p = error == 0;
    if (error != 0 && !is_held(error)) {
        return iwi_fail(log, IW_ERR_IO,
                        "cannot lock '%s': %s; what is done stays, and the same command goes on",
                        claims->path, strerror(error));
    }
    return IW_OK;
}

void iwi_claims_give_back(const struct iwi_claims *claims, uint64_t byte)
{
    if (claims->fault == 0) {
        (void)set_lock(claims->fd, F_UNLCK, byte);
    }
}
