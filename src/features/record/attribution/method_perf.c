/* Attribution by kernel tracepoints that perf records: one ring for all events of a measured CPU.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "core/base/base.h"
#include "features/record/attribution/attribution.h"
#include "features/record/clock/clock.h"
#include "features/record/kernel/kernel_events.h"
#include "features/record/kernel/perf.h"
#include "features/record/kernel/tracefs.h"

/* Records have about 60 to 100 bytes: the larger one holds some ten thousand. */
enum { MOST_RING_BYTES = 1048576, LEAST_RING_BYTES = 65536 };

/* perf uses this interrupt itself, so the kernel forbids to sample its exit: not to be had. */
static const char FORBIDDEN[] = "irq_vectors/irq_work_";

static const int MOST_PARANOID = -1;
static const char WHAT[] = "perf's tracepoints of whole CPUs";

struct cpu {
    struct iwi_perf_ring ring;
    uint64_t last; /* tick of the last record */
};

struct tracepoints {
    struct iwi_kernel_events *events;
    struct iwi_perf_list list;
    struct iwi_clock_bridge bridge;
    struct cpu *cpus;
    size_t count;
};

static void close_perf(struct iwi_method *method)
{
    struct tracepoints *state = method->state;

    for (size_t i = 0; i < state->count; i++) {
        iwi_perf_ring_unmap(&state->cpus[i].ring);
    }
    iwi_perf_list_release(&state->list);
    iwi_kernel_events_free(state->events);
    free(state->cpus);
    free(state);
    method->state = NULL;
}

static iw_status learn_events(struct iwi_method *method, struct tracepoints *state)
{
    const int tracing = iwi_tracefs_open(method);
    iw_status status;

    if (tracing < 0) {
        return IW_ERR_IO; /* and the reason is known */
    }
    status = iwi_kernel_events_new(method, tracing, &state->events);
    (void)close(tracing);
    return status;
}

static iw_status new_state(struct iwi_method *method)
{
    struct tracepoints *state = iwi_new_array(method->log, 1, sizeof *state);
    size_t event_count = 0;
    int id;

    if (state == NULL) {
        return IW_ERR_NOMEM;
    }
    method->state = state;
    IW_TRY(learn_events(method, state));
    state->cpus = iwi_new_array(method->log, method->count, sizeof *state->cpus);
    if (state->cpus == NULL) {
        return IW_ERR_NOMEM;
    }
    state->count = method->count;
    while (iwi_kernel_events_name(state->events, event_count, &id) != NULL) {
        event_count++;
    }
    return iwi_perf_list_init(method->log, &state->list, event_count * method->count);
}

/* The first event of a CPU has the ring, the others write into it. */
static iw_status connect_ring(struct iwi_method *method, size_t place, int event, int *owner_p)
{
    struct tracepoints *state = method->state;
    int error;

    if (*owner_p < 0) {
        *owner_p = event;
        error = iwi_perf_ring_map(&state->cpus[place].ring, event, MOST_RING_BYTES, LEAST_RING_BYTES);
    } else {
        error = ioctl(event, PERF_EVENT_IOC_SET_OUTPUT, *owner_p) == 0 ? 0 : errno;
    }
    return error == 0 ? IW_OK
                      : iwi_method_refuse(method, "no ring buffer for %s on CPU %" PRIu32 ": %s", WHAT,
                                          method->watched[place].cpu, strerror(error));
}

static iw_status watch(struct iwi_method *method, size_t place)
{
    struct tracepoints *state = method->state;
    const char *name;
    int id, owner = -1;

    for (size_t i = 0; (name = iwi_kernel_events_name(state->events, i, &id)) != NULL; i++) {
        struct perf_event_attr attr = iwi_perf_attr(PERF_TYPE_TRACEPOINT, (uint64_t)id);
        int event;

        if (strncmp(name, FORBIDDEN, sizeof FORBIDDEN - 1) == 0) {
            continue;
        }
        attr.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_RAW;
        event = iwi_perf_open(&state->list, &attr, -1, (int)method->watched[place].cpu);
        if (event < 0) {
            return iwi_perf_refuse(method, WHAT, MOST_PARANOID, errno);
        }
        IW_TRY(connect_ring(method, place, event, &owner));
    }
    return IW_OK;
}

/* Events begin one after the other: until the last has, there are entries without their exits. */
static void skip_beginning(struct tracepoints *state)
{
    for (size_t i = 0; i < state->count; i++) {
        iwi_perf_ring_fetch(&state->cpus[i].ring);
        while (iwi_perf_ring_next(&state->cpus[i].ring) != NULL) {
        }
        state->cpus[i].ring.lost = 0;
    }
}

static iw_status open_perf(struct iwi_method *method)
{
    iw_status status = new_state(method);

    for (size_t i = 0; status == IW_OK && i < method->count; i++) {
        status = watch(method, i);
    }
    if (status == IW_OK) {
        iwi_clock_bridge_begin(&((struct tracepoints *)method->state)->bridge, method->clock);
        skip_beginning(method->state);
    } else if (method->state != NULL) {
        close_perf(method);
    }
    return status;
}

/* Time stamps of records that interrupt each other's writing may be out of order by some ns: raised. */
static uint64_t tick_of(struct tracepoints *state, size_t place, int64_t ns)
{
    struct cpu *cpu = &state->cpus[place];
    const uint64_t tick = ns >= 0 ? iwi_clock_bridge_ticks(&state->bridge, ns) : 0;

    cpu->last = tick > cpu->last ? tick : cpu->last;
    return cpu->last;
}

/* A sample: header, time, size of the tracepoint's own record, that record, padding. */
static iw_status take_sample(struct tracepoints *state, size_t place, struct perf_event_header *record)
{
    enum { TIME_AT = 8, SIZE_AT = 16, DATA_AT = 20 };
    unsigned char *bytes = (unsigned char *)record;
    int64_t ns;
    uint32_t size;

    if (record->size < DATA_AT) {
        return IW_OK;
    }
    memcpy(&ns, bytes + TIME_AT, sizeof ns);
    memcpy(&size, bytes + SIZE_AT, sizeof size);
    return size <= (uint32_t)record->size - DATA_AT
               ? iwi_kernel_events_take(state->events, place, tick_of(state, place, ns), bytes + DATA_AT,
                                        size)
               : IW_OK;
}

static iw_status drain_perf(struct iwi_method *method)
{
    struct tracepoints *state = method->state;

    for (size_t i = 0; i < method->count; i++) {
        iwi_perf_ring_fetch(&state->cpus[i].ring);
    }
    iwi_clock_bridge_renew(&state->bridge); /* all that has been fetched is before this */
    method->lost = 0;
    for (size_t i = 0; i < method->count; i++) {
        struct iwi_perf_ring *ring = &state->cpus[i].ring;
        struct perf_event_header *record;

        while ((record = iwi_perf_ring_next(ring)) != NULL) {
            if (record->type == PERF_RECORD_SAMPLE) {
                IW_TRY(take_sample(state, i, record));
            } else if (record->type == PERF_RECORD_LOST) {
                IW_TRY(
                    iwi_kernel_events_reset(state->events, i, tick_of(state, i, iwi_perf_record_ns(record))));
            }
        }
        method->lost += ring->lost;
    }
    return IW_OK;
}

const struct iwi_method_ops iwi_method_perf = {
    .attribution = IW_ATTRIBUTION_LEVEL_PERF,
    .sees_all = true,
    .open = open_perf,
    .drain = drain_perf,
    .close = close_perf,
};
