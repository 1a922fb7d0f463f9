/* Ring buffers in which perf events leave their records.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_PERF_RING_H
#define IWI_PERF_RING_H

#include <stddef.h>
#include <stdint.h>

#include <linux/perf_event.h>

struct iwi_perf_ring {
    struct perf_event_mmap_page *page; /* NULL: not mapped */
    unsigned char *data;               /* behind the page */
    uint64_t size_bytes;               /* of data; a power of two */
    uint64_t tail, next, head;         /* read up to next; the record given last begins at tail */
    unsigned char *copy;               /* of a record that wraps */
    uint64_t lost;                     /* records that found no room, as far as told */
};

/* Maps the ring of an event, of `most_bytes` or, where so much may not be locked in memory, of less, down to
 * `least_bytes`; both are powers of two, the first at least a page. 0 or an errno. */
int iwi_perf_ring_map(struct iwi_perf_ring *ring, int event, size_t most_bytes, size_t least_bytes);

/* Only of what iwi_perf_ring_map() gave, or of zeros; the event stays open. */
void iwi_perf_ring_unmap(struct iwi_perf_ring *ring);

/* What the kernel has written until now can be read. */
void iwi_perf_ring_fetch(struct iwi_perf_ring *ring);

/* The next of the fetched records, NULL behind the last. It stays until the next call, is whole and aligned
 * to 8 bytes, and its size is at least that of its header. After something that cannot be a record all that
 * was fetched is lost: a record of kind PERF_RECORD_LOST without a body is given for it. */
struct perf_event_header *iwi_perf_ring_next(struct iwi_perf_ring *ring);

/* When it was written, on the event's clock, where iwi_perf_attr() made the event; -1 if it does not say. Not
 * of samples, whose layout is another. */
int64_t iwi_perf_record_ns(const struct perf_event_header *record);

#endif
