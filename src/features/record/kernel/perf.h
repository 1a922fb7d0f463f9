/* Perf events: opening them, what to tell where it is refused, and their ring buffers.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_PERF_H
#define IWI_PERF_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

#include "features/record/attribution/method.h"

/* What all our events have in common: each occurrence is recorded, with its time on CLOCK_MONOTONIC_RAW, and
 * nobody is woken for it. */
struct perf_event_attr iwi_perf_attr(uint32_t type, uint64_t config);

/* Descriptors of events. There may be thousands: the process's soft limit is raised where it must be. */
struct iwi_perf_list {
    int *events;
    size_t count, capacity;
    bool is_limit_raised;
    struct rlimit limit_before;
};

IW_NODISCARD iw_status iwi_perf_list_init(const iw_log *log, struct iwi_perf_list *list, size_t capacity);

/* Closes all and puts the limit back. */
void iwi_perf_list_release(struct iwi_perf_list *list);

/* A descriptor that stays in the list, or -1 with errno. pid, cpu: as perf_event_open(2) has them. */
int iwi_perf_open(struct iwi_perf_list *list, const struct perf_event_attr *attr, pid_t pid, int cpu);

/* Tells in method->reason why there are no `what` ("context-switch records") here. `most_paranoid`: the
 * largest kernel.perf_event_paranoid with which there would be. */
iw_status iwi_perf_refuse(struct iwi_method *method, const char *what, int most_paranoid, int error);

/* ---- ring buffers ---- */

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
