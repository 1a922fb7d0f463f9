/* Maps and reads the ring buffers of perf events.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/record/kernel/perf_ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/base.h"

/* Sizes and beginnings of records are multiples of this, so a header never wraps. */
enum { RECORD_ALIGNMENT = 8, LARGEST_RECORD_BYTES = UINT16_MAX + 1 };

int iwi_perf_ring_map(struct iwi_perf_ring *ring, int event, size_t most_bytes, size_t least_bytes)
{
    const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    size_t size = most_bytes;
    void *map;

    *ring = (struct iwi_perf_ring){.copy = malloc(LARGEST_RECORD_BYTES)};
    if (ring->copy == NULL) {
        return ENOMEM;
    }
    do {
        map = mmap(NULL, page_bytes + size, PROT_READ | PROT_WRITE, MAP_SHARED, event, 0);
    } while (map == MAP_FAILED && (errno == EPERM || errno == ENOMEM) && (size /= 2) >= least_bytes &&
             size >= page_bytes);
    if (map == MAP_FAILED) {
        const int error = errno;

        iwi_perf_ring_unmap(ring);
        return error;
    }
    ring->page = map;
    ring->data = (unsigned char *)map + page_bytes;
    ring->size_bytes = size;
    return 0;
}

void iwi_perf_ring_unmap(struct iwi_perf_ring *ring)
{
    if (ring->page != NULL) {
        (void)munmap(ring->page, (size_t)(ring->data - (unsigned char *)ring->page) + ring->size_bytes);
    }
    free(ring->copy);
    *ring = (struct iwi_perf_ring){0};
}

void iwi_perf_ring_fetch(struct iwi_perf_ring *ring)
{
    /* pairs with the kernel's barrier between writing records and moving the head */
    ring->head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
}

/* The kernel may overwrite what is before `next`. */
static void give_back(struct iwi_perf_ring *ring)
{
    ring->tail = ring->next;
    __atomic_store_n(&ring->page->data_tail, ring->tail, __ATOMIC_RELEASE);
}

static bool is_record(const struct iwi_perf_ring *ring, const struct perf_event_header *header)
{
    return header->size >= sizeof *header && header->size % RECORD_ALIGNMENT == 0 &&
           header->size <= ring->head - ring->tail;
}

static struct perf_event_header *discard(struct iwi_perf_ring *ring)
{
    const struct perf_event_header gap = {.type = PERF_RECORD_LOST, .size = sizeof gap};

    ring->next = ring->head;
    ring->lost++;
    memcpy(ring->copy, &gap, sizeof gap);
    return (struct perf_event_header *)(void *)ring->copy;
}

static struct perf_event_header *whole(struct iwi_perf_ring *ring, struct perf_event_header *header)
{
    const size_t at = ring->tail & (ring->size_bytes - 1), up_to_end = ring->size_bytes - at;

    ring->next = ring->tail + header->size;
    if (header->size > up_to_end) {
        memcpy(ring->copy + up_to_end, ring->data, header->size - up_to_end);
        memcpy(ring->copy, ring->data + at, up_to_end);
        header = (struct perf_event_header *)(void *)ring->copy;
    }
    if (header->type == PERF_RECORD_LOST && header->size >= sizeof *header + 2 * sizeof(uint64_t)) {
        uint64_t lost; /* behind the header: the event's number, how many */

        memcpy(&lost, (const unsigned char *)(header + 1) + sizeof lost, sizeof lost);
        ring->lost += lost;
    }
    return header;
}

struct perf_event_header *iwi_perf_ring_next(struct iwi_perf_ring *ring)
{
    struct perf_event_header *header;

    give_back(ring);
    if (ring->tail == ring->head) {
        return NULL;
    }
    header = (struct perf_event_header *)(void *)(ring->data + (ring->tail & (ring->size_bytes - 1)));
    if (ring->tail % RECORD_ALIGNMENT != 0 || ring->head - ring->tail > ring->size_bytes ||
        ring->head - ring->tail < sizeof *header || !is_record(ring, header)) {
        return discard(ring);
    }
    return whole(ring, header);
}

int64_t iwi_perf_record_ns(const struct perf_event_header *record)
{
    int64_t ns; /* sample_id_all puts it last */

    if (record->size < sizeof *record + sizeof ns) {
        return -1;
    }
    memcpy(&ns, (const unsigned char *)record + record->size - sizeof ns, sizeof ns);
    return ns;
}
