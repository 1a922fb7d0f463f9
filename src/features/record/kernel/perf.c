/* Opens perf events; maps and reads their ring buffers.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/sysfile.h"
#include "features/record/kernel/perf.h"

struct perf_event_attr iwi_perf_attr(uint32_t type, uint64_t config)
{
    return (struct perf_event_attr){
        .type = type,
        .size = sizeof(struct perf_event_attr),
        .config = config,
        .sample_period = 1,
        .sample_type = PERF_SAMPLE_TIME,
        .sample_id_all = 1,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC_RAW,
        /* passing the mark costs an interrupt on the measured CPU: as far away as it goes */
        .watermark = 1,
        .wakeup_watermark = INT32_MAX,
    };
}

iw_status iwi_perf_list_init(const iw_log *log, struct iwi_perf_list *list, size_t capacity)
{
    *list = (struct iwi_perf_list){.capacity = capacity};
    list->events = iwi_new_array(log, capacity, sizeof *list->events);
    return list->events != NULL ? IW_OK : IW_ERR_NOMEM;
}

void iwi_perf_list_release(struct iwi_perf_list *list)
{
    while (list->count > 0) {
        (void)close(list->events[--list->count]);
    }
    if (list->is_limit_raised) {
        (void)setrlimit(RLIMIT_NOFILE, &list->limit_before);
    }
    free(list->events);
    *list = (struct iwi_perf_list){0};
}

/* Room for the whole list, at most up to the hard limit. */
static bool raise_limit(struct iwi_perf_list *list)
{
    struct rlimit limit;

    if (list->is_limit_raised || getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max) {
        return false;
    }
    list->limit_before = limit;
    limit.rlim_cur =
        limit.rlim_max - limit.rlim_cur > list->capacity ? limit.rlim_cur + list->capacity : limit.rlim_max;
    list->is_limit_raised = setrlimit(RLIMIT_NOFILE, &limit) == 0;
    return list->is_limit_raised;
}

static int open_event(const struct perf_event_attr *attr, pid_t pid, int cpu)
{
    return (int)syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

int iwi_perf_open(struct iwi_perf_list *list, const struct perf_event_attr *attr, pid_t pid, int cpu)
{
    int event;

    if (list->count == list->capacity) {
        errno = EMFILE;
        return -1;
    }
    event = open_event(attr, pid, cpu);
    if (event < 0 && errno == EMFILE) {
        if (!raise_limit(list)) {
            errno = EMFILE;
            return -1;
        }
        event = open_event(attr, pid, cpu);
    }
    if (event >= 0) {
        list->events[list->count++] = event;
    }
    return event;
}

static iw_status refuse_access(struct iwi_method *method, const char *what, int most_paranoid)
{
    char paranoid[32];

    if (iwi_sysfile_line(method->root, "/proc/sys/kernel/perf_event_paranoid", paranoid, sizeof paranoid) &&
        strtol(paranoid, NULL, 10) > most_paranoid) {
        return iwi_method_refuse(method,
                                 "kernel.perf_event_paranoid is %s: %s need at most %d, or CAP_PERFMON",
                                 paranoid, what, most_paranoid);
    }
    return iwi_method_refuse(method, "a security module forbids %s", what);
}

iw_status iwi_perf_refuse(struct iwi_method *method, const char *what, int most_paranoid, int error)
{
    struct rlimit limit = {0};

    switch (error) {
    case EACCES: return refuse_access(method, what, most_paranoid);
    case EPERM:
        return iwi_method_refuse(
            method, "%s are not permitted: a container needs perf_event_open in its seccomp profile", what);
    case ENOSYS: return iwi_method_refuse(method, "this kernel was built without perf events");
    case EINVAL:
    case ENOENT: return iwi_method_refuse(method, "this kernel has no %s", what);
    case EMFILE:
        (void)getrlimit(RLIMIT_NOFILE, &limit);
        return iwi_method_refuse(method,
                                 "%s need more than %llu open files; raise the hard limit (ulimit -Hn)", what,
                                 (unsigned long long)limit.rlim_max);
    default: return iwi_method_refuse(method, "no %s: %s", what, strerror(error));
    }
}

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
