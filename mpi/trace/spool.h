/* The file that a traced thread records into: a window of it is mapped, so that storing a record is all it
 * takes.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The kernel owns the pages: what was stored survives the process, however it ends. Room on the disk is
 * claimed before a window is mapped, so a full disk is an error here and not a signal later.
 */
#ifndef IWI_TRACE_SPOOL_H
#define IWI_TRACE_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct iwi_spool {
    unsigned char *next, *end; /* room in the window */
    unsigned char *window;
    size_t window_bytes; /* as mapped */
    size_t wanted_bytes; /* as asked for */
    uint64_t offset;     /* of the window in the file */
    int fd;
    int error; /* errno of the first failure; no room is given after it */
};

/* Makes the file (it must not exist). Gives 0 or errno; after a failure there is no file of ours. */
int iwi_spool_open(struct iwi_spool *spool, const char *path, size_t window_bytes);

/* Maps the next window, with `bytes` of room at least; false: spool->error says why. */
bool iwi_spool_advance(struct iwi_spool *spool, size_t bytes);

/* Room for a record of `bytes`, a multiple of 8; NULL after a failure. */
static inline void *iwi_spool_room(struct iwi_spool *spool, size_t bytes)
{
    if ((size_t)(spool->end - spool->next) < bytes && !iwi_spool_advance(spool, bytes)) {
        return NULL;
    }
    void *room = spool->next;
    spool->next += bytes;
    return room;
}

uint64_t iwi_spool_used(const struct iwi_spool *spool);

/* Cuts the file to what is used and closes it. May be called twice. */
void iwi_spool_close(struct iwi_spool *spool);

#endif
