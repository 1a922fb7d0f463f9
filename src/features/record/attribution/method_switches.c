/* Attribution without privileges: perf tells when the measuring threads themselves leave and get their CPU.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "features/record/attribution/attribution.h"
#include "features/record/clock/clock.h"
#include "features/record/kernel/perf.h"

/* A record has 16 bytes: the larger one holds 8 Ki leaves and returns, 4 s of 2000 a second. With one a CPU
 * it stays below what kernel.perf_event_mlock_kb (516 a CPU and user) grants by default. */
enum { MOST_RING_BYTES = 262144, LEAST_RING_BYTES = 16384 };

static const int MOST_PARANOID = 2;
static const char WHAT[] = "perf's context-switch records";

struct thread {
    struct iwi_perf_ring ring;
    bool is_out; /* and since then: */
    bool is_preempted;
    uint64_t out_at;
};

struct switches {
    struct iwi_perf_list list;
    struct iwi_clock_bridge bridge;
    struct thread *threads;
    size_t count;
};

static void close_switches(struct iwi_method *method)
{
    struct switches *state = method->state;

    for (size_t i = 0; i < state->count; i++) {
        iwi_perf_ring_unmap(&state->threads[i].ring);
    }
    iwi_perf_list_release(&state->list);
    free(state->threads);
    free(state);
    method->state = NULL;
}

static iw_status watch(struct iwi_method *method, size_t place)
{
    struct switches *state = method->state;
    struct perf_event_attr attr = iwi_perf_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
    int event, error;

    attr.context_switch = 1;
    attr.exclude_kernel = 1; /* else it needs kernel.perf_event_paranoid of 1 */
    event = iwi_perf_open(&state->list, &attr, method->watched[place].tid, -1);
    if (event < 0) {
        return iwi_perf_refuse(method, WHAT, MOST_PARANOID, errno);
    }
    error = iwi_perf_ring_map(&state->threads[place].ring, event, MOST_RING_BYTES, LEAST_RING_BYTES);
    if (error == EPERM) {
        return iwi_method_refuse(
            method, "cannot lock memory for %s: raise kernel.perf_event_mlock_kb or ulimit -l", WHAT);
    }
    return error == 0 ? IW_OK : iwi_method_refuse(method, "no ring buffer for %s: %s", WHAT, strerror(error));
}

static iw_status new_state(struct iwi_method *method)
{
    struct switches *state = iwi_new_array(method->log, 1, sizeof *state);

    if (state == NULL) {
        return IW_ERR_NOMEM;
    }
    method->state = state;
    state->threads = iwi_new_array(method->log, method->count, sizeof *state->threads);
    state->count = state->threads != NULL ? method->count : 0;
    return state->threads != NULL ? iwi_perf_list_init(method->log, &state->list, method->count)
                                  : IW_ERR_NOMEM;
}

static iw_status open_switches(struct iwi_method *method)
{
    iw_status status = new_state(method);

    for (size_t i = 0; status == IW_OK && i < method->count; i++) {
        status = watch(method, i);
    }
    if (status == IW_OK) {
        iwi_clock_bridge_begin(&((struct switches *)method->state)->bridge, method->clock);
    } else if (method->state != NULL) {
        close_switches(method);
    }
    return status;
}

/* The thread is back: what it was away for becomes a share. */
static iw_status come_back(struct iwi_method *method, size_t place, uint64_t at)
{
    struct switches *state = method->state;
    struct thread *thread = &state->threads[place];
    uint32_t source = 0;

    if (!thread->is_out) { /* it left before this began, or the record was lost */
        return IW_OK;
    }
    thread->is_out = false;
    IW_TRY(iw_recording_source(method->log, method->recording, IW_CLASS_THREAD,
                               thread->is_preempted ? "preemption" : "wait", &source));
    return iwi_method_add(method, place, thread->out_at, at > thread->out_at ? at - thread->out_at : 0,
                          source);
}

static iw_status take(struct iwi_method *method, size_t place, const struct perf_event_header *record)
{
    struct switches *state = method->state;
    struct thread *thread = &state->threads[place];
    const int64_t ns = iwi_perf_record_ns(record);
    uint64_t at;

    if (record->type == PERF_RECORD_LOST) { /* the return may be among the lost */
        thread->is_out = false;
        return IW_OK;
    }
    if (record->type != PERF_RECORD_SWITCH || ns < 0) {
        return IW_OK;
    }
    at = iwi_clock_bridge_ticks(&state->bridge, ns);
    if ((record->misc & PERF_RECORD_MISC_SWITCH_OUT) == 0) {
        return come_back(method, place, at);
    }
    thread->is_out = true;
    thread->is_preempted = (record->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0;
    thread->out_at = at;
    return IW_OK;
}

static iw_status drain_switches(struct iwi_method *method)
{
    struct switches *state = method->state;

    for (size_t i = 0; i < method->count; i++) {
        iwi_perf_ring_fetch(&state->threads[i].ring);
    }
    iwi_clock_bridge_renew(&state->bridge); /* all that has been fetched is before this */
    method->lost = 0;
    for (size_t i = 0; i < method->count; i++) {
        struct iwi_perf_ring *ring = &state->threads[i].ring;
        const struct perf_event_header *record;

        while ((record = iwi_perf_ring_next(ring)) != NULL) {
            IW_TRY(take(method, i, record));
        }
        method->lost += ring->lost;
    }
    return IW_OK;
}

const struct iwi_method_ops iwi_method_switches = {
    .attribution = IW_ATTRIBUTION_LEVEL_SWITCHES,
    .sees_all = false,
    .open = open_switches,
    .drain = drain_switches,
    .close = close_switches,
};
