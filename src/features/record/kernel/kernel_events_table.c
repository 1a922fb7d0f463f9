/* The tracepoints that tell what runs on a CPU, and what a record of each means.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>

#include "core/base/base.h"
#include "features/record/kernel/kernel_events_record.h"
#include "kit/machine/softirq_name.h"

static struct iwi_nesting *nesting_of(const struct iwi_kernel_record *record)
{
    return &record->events->nestings[record->place];
}

static iw_status enter(const struct iwi_kernel_record *record, uint64_t tick, iw_class kind, const char *name)
{
    uint32_t source;

    IW_TRY(iwi_record_source(record, kind, name, &source));
    return iwi_nesting_enter(nesting_of(record), tick, source);
}

void iwi_thread_name(int64_t number, char *comm, size_t size)
{
    if (comm[0] == '\0') {
        snprintf(comm, size, "thread %" PRId64, number);
    }
}

void iwi_irq_name(int64_t number, char *name, size_t size)
{
    if (name[0] == '\0') {
        snprintf(name, size, "irq %" PRId64, number);
    }
}

/* Bits of prev_state that say why a thread sleeps; above them is one for preempted ones (TASK_REPORT_MAX). */
static const int64_t SLEEPING = 0xff;

static iw_status tell_listener(const struct iwi_kernel_record *record, int64_t next, const char *comm,
                               bool *is_own_p)
{
    const struct iwi_switch_listener *listener = record->events->rung->listener;
    int64_t previous, state;

    *is_own_p = false;
    if (listener == NULL || !iwi_record_number(record, 2, &previous) ||
        !iwi_record_number(record, 3, &state)) {
        return IW_OK;
    }
    return listener->take(
        listener->arg,
        &(struct iwi_switch){record->place, record->tick, previous, next, (state & SLEEPING) == 0, comm},
        is_own_p);
}

static iw_status take_switch(const struct iwi_kernel_record *record)
{
    const struct iwi_rung_state *rung = record->events->rung;
    uint32_t source = IWI_NO_SOURCE;
    char comm[IW_SOURCE_NAME_SIZE];
    int64_t next;
    bool is_own;

    if (!iwi_record_number(record, 0, &next) || !iwi_record_text(record, 1, comm, sizeof comm)) {
        return IW_OK;
    }
    IW_TRY(tell_listener(record, next, comm, &is_own));
    if (rung->recorder > 0 && next == rung->recorder) {
        source = IWI_RECORDER_SOURCE;
    } else if (!is_own && next != rung->watched[record->place].tid) {
        iwi_thread_name(next, comm, sizeof comm);
        IW_TRY(iwi_record_source(record, IW_CLASS_THREAD, comm, &source));
    }
    return iwi_nesting_switch(nesting_of(record), record->tick, source);
}

static iw_status take_irq(const struct iwi_kernel_record *record)
{
    char name[IW_SOURCE_NAME_SIZE];
    int64_t number;

    if (!iwi_record_number(record, 0, &number) || !iwi_record_text(record, 1, name, sizeof name)) {
        return IW_OK;
    }
    iwi_irq_name(number, name, sizeof name);
    return enter(record, record->tick, IW_CLASS_IRQ, name);
}

static iw_status take_vector(const struct iwi_kernel_record *record)
{
    return enter(record, record->tick, IW_CLASS_IRQ, record->event->point->source);
}

static iw_status take_softirq(const struct iwi_kernel_record *record)
{
    char name[IW_SOURCE_NAME_SIZE];
    int64_t vector;

    if (!iwi_record_number(record, 0, &vector)) {
        return IW_OK;
    }
    iwi_softirq_name(vector, name, sizeof name);
    return enter(record, record->tick, IW_CLASS_SOFTIRQ, name);
}

static iw_status take_exit(const struct iwi_kernel_record *record)
{
    return iwi_nesting_leave(nesting_of(record), record->tick);
}

/* The one record of a handler, at its end: as if it had been entered so long ago. */
static iw_status take_nmi(const struct iwi_kernel_record *record)
{
    uint64_t ticks;
    int64_t ns;

    if (!iwi_record_number(record, 0, &ns) || ns <= 0) {
        return IW_OK;
    }
    ticks = iwi_clock_ticks(record->events->rung->clock, ns);
    IW_TRY(enter(record, record->tick - (ticks < record->tick ? ticks : record->tick), IW_CLASS_NMI,
                 record->event->point->source));
    return iwi_nesting_leave(nesting_of(record), record->tick);
}

/* clang-format off */
#define VECTOR(system, vector)                                                         \
    {#system "/" #vector "_entry", take_vector, {NULL}, #vector},                      \
    {#system "/" #vector "_exit", take_exit, {NULL}, NULL}

/* The first one must not be missing. */
static const struct iwi_tracepoint table[] = {
    {"sched/sched_switch", take_switch, {"next_pid", "next_comm", "prev_pid", "prev_state"}, NULL},
    {"irq/irq_handler_entry", take_irq, {"irq", "name"}, NULL},
    {"irq/irq_handler_exit", take_exit, {NULL}, NULL},
    {"irq/softirq_entry", take_softirq, {"vec"}, NULL},
    {"irq/softirq_exit", take_exit, {NULL}, NULL},
    VECTOR(irq_vectors, local_timer), /* x86 */
    VECTOR(irq_vectors, reschedule),
    VECTOR(irq_vectors, call_function),
    VECTOR(irq_vectors, call_function_single),
    VECTOR(irq_vectors, irq_work),
    VECTOR(irq_vectors, x86_platform_ipi),
    VECTOR(irq_vectors, error_apic),
    VECTOR(irq_vectors, spurious_apic),
    VECTOR(irq_vectors, thermal_apic),
    VECTOR(irq_vectors, threshold_apic),
    VECTOR(irq_vectors, deferred_error_apic),
    VECTOR(ipi, ipi), /* arm64 */
    {"nmi/nmi_handler", take_nmi, {"delta_ns"}, "nmi"},
};
/* clang-format on */

iw_status iwi_kernel_events_new(struct iwi_rung_state *rung, int tracing, struct iwi_kernel_events **events_p)
{
    return iwi_kernel_events_of(rung, tracing, table, sizeof table / sizeof table[0], events_p);
}
