/* The tracepoints that tell what runs on a CPU: how records are read, what a record of each means.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/base.h"
#include "features/record/kernel/kernel_events.h"
#include "features/record/kernel/tracefs.h"
#include "kit/machine/softirq_name.h"

enum { FORMAT_SIZE = 65536, PATH_SIZE = 128 };

/* ---- formats ---- */

static struct tep_event *learn_format(struct tep_handle *tep, int tracing, const char *name, char *format)
{
    const char *slash = strchr(name, '/');
    char path[PATH_SIZE], system[PATH_SIZE];

    snprintf(path, sizeof path, "events/%s/format", name);
    snprintf(system, sizeof system, "%.*s", (int)(slash - name), name);
    if (!iwi_tracefs_read(tracing, path, format, FORMAT_SIZE)) {
        return NULL;
    }
    errno = EPROTO;
    /* a "print fmt" that is not understood is an error, too, but the fields are known then */
    (void)tep_parse_event(tep, format, strlen(format), system);
    return tep_find_event_by_name(tep, system, slash + 1);
}

/* False: the kernel does not have it, or not with the fields that are needed. */
static bool learn(struct iwi_kernel_events *events, int tracing, const struct iwi_tracepoint *point,
                  char *format)
{
    struct iwi_known_event known = {.point = point};
    struct tep_event *event = learn_format(events->tep, tracing, point->name, format);

    if (event == NULL) {
        return false;
    }
    known.id = event->id;
    events->type = events->type != NULL ? events->type : tep_find_common_field(event, "common_type");
    for (size_t i = 0; i < IWI_TRACEPOINT_FIELDS && point->fields[i] != NULL; i++) {
        known.fields[i] = tep_find_field(event, point->fields[i]);
        if (known.fields[i] == NULL || known.fields[i]->offset < 0 || known.fields[i]->size <= 0) {
            return false;
        }
    }
    events->known[events->count++] = known;
    return events->type != NULL;
}

static iw_status learn_all(struct iwi_kernel_events *events, int tracing, const struct iwi_tracepoint *table,
                           size_t count)
{
    char *format = iwi_new_array(events->method->log, FORMAT_SIZE, 1);

    if (format == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        if (!learn(events, tracing, &table[i], format) && i == 0) {
            const int error = errno;

            free(format);
            return iwi_method_refuse(events->method, "cannot read the format of the kernel's event %s: %s",
                                     table[0].name, strerror(error));
        }
    }
    free(format);
    return IW_OK;
}

static struct tep_handle *new_tep(void)
{
    struct tep_handle *tep = tep_alloc();

    if (tep != NULL) {
        tep_set_file_bigendian(tep, tep_is_local_bigendian(tep) ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
        tep_set_long_size(tep, (int)sizeof(long));
        tep_set_page_size(tep, getpagesize());
    }
    return tep;
}

static iw_status fill(struct iwi_kernel_events *events, int tracing, const struct iwi_tracepoint *table,
                      size_t count)
{
    struct iwi_method *method = events->method;

    events->known = iwi_new_array(method->log, count, sizeof *events->known);
    events->nestings = iwi_new_array(method->log, method->count, sizeof *events->nestings);
    if (events->known == NULL || events->nestings == NULL) {
        return IW_ERR_NOMEM;
    }
    events->tep = new_tep();
    if (events->tep == NULL) {
        return iwi_fail(method->log, IW_ERR_NOMEM, "out of memory for the formats of kernel events");
    }
    for (size_t i = 0; i < method->count; i++) {
        iwi_nesting_begin(&events->nestings[i], method, i);
    }
    return learn_all(events, tracing, table, count);
}

iw_status iwi_kernel_events_of(struct iwi_method *method, int tracing, const struct iwi_tracepoint *table,
                               size_t count, struct iwi_kernel_events **events_p)
{
    struct iwi_kernel_events *events = iwi_new_array(method->log, 1, sizeof *events);
    iw_status status;

    if (events == NULL) {
        return IW_ERR_NOMEM;
    }
    events->method = method;
    status = fill(events, tracing, table, count);
    if (status != IW_OK) {
        iwi_kernel_events_free(events);
        return status;
    }
    *events_p = events;
    return IW_OK;
}

void iwi_kernel_events_free(struct iwi_kernel_events *events)
{
    if (events != NULL) {
        tep_free(events->tep);
        free(events->known);
        free(events->nestings);
        free(events);
    }
}

const char *iwi_kernel_events_name(const struct iwi_kernel_events *events, size_t index, int *id_p)
{
    if (index >= events->count) {
        return NULL;
    }
    *id_p = events->known[index].id;
    return events->known[index].point->name;
}

/* ---- records ---- */

static bool read_number(const struct iwi_kernel_record *record, const struct tep_format_field *field,
                        int64_t *number_p)
{
    const size_t offset = (size_t)field->offset, size = (size_t)field->size;
    uint64_t number;

    if (record->size < offset || record->size - offset < size || size > sizeof number) {
        return false;
    }
    number = tep_read_number(record->events->tep, record->data + offset, field->size);
    if ((field->flags & TEP_FIELD_IS_SIGNED) != 0 && size < sizeof number) {
        const uint64_t sign = UINT64_C(1) << (8 * size - 1);

        number = (number ^ sign) - sign;
    }
    *number_p = (int64_t)number;
    return true;
}

bool iwi_record_number(const struct iwi_kernel_record *record, size_t field, int64_t *number_p)
{
    return read_number(record, record->event->fields[field], number_p);
}

/* Where the text of a field is: in the field, or where the field says (__data_loc, __rel_loc: the offset in
 * its lower half, the length in its upper). */
static bool find_text(const struct iwi_kernel_record *record, const struct tep_format_field *field,
                      size_t *offset_p, size_t *size_p)
{
    int64_t place;

    if ((field->flags & TEP_FIELD_IS_DYNAMIC) == 0) {
        *offset_p = (size_t)field->offset;
        *size_p = (size_t)field->size;
        return true;
    }
    if (field->size != 4 || !read_number(record, field, &place)) {
        return false;
    }
    *offset_p = (size_t)(place & 0xffff);
    *size_p = (size_t)(((uint64_t)place >> 16) & 0xffff);
    if ((field->flags & TEP_FIELD_IS_RELATIVE) != 0) {
        *offset_p += (size_t)(field->offset + field->size);
    }
    return true;
}

bool iwi_record_text(const struct iwi_kernel_record *record, size_t field, char *buf, size_t size)
{
    size_t offset, length, i = 0;

    if (!find_text(record, record->event->fields[field], &offset, &length) || record->size < offset ||
        record->size - offset < length) {
        return false;
    }
    for (; i < length && i + 1 < size && record->data[offset + i] != '\0'; i++) {
        const char c = record->data[offset + i];

        buf[i] = (char)(c >= ' ' && c <= '~' ? c : '?');
    }
    buf[i] = '\0';
    return true;
}

/* FNV-1a */
static uint32_t hash(iw_class kind, const char *name)
{
    uint32_t value = UINT32_C(2166136261) ^ (uint32_t)kind;

    for (; *name != '\0'; name++) {
        value = (value ^ (unsigned char)*name) * UINT32_C(16777619);
    }
    return value;
}

iw_status iwi_record_source(const struct iwi_kernel_record *record, iw_class kind, const char *name,
                            uint32_t *number_p)
{
    struct iwi_method *method = record->events->method;
    struct iwi_known_source *known = &record->events->sources[hash(kind, name) % IWI_KNOWN_SOURCES];

    if (known->source.name[0] == '\0' || known->source.kind != kind ||
        strcmp(known->source.name, name) != 0) {
        IW_TRY(iw_recording_source(method->log, method->recording, kind, name, &known->number));
        known->source.kind = kind;
        snprintf(known->source.name, sizeof known->source.name, "%s", name);
    }
    *number_p = known->number;
    return IW_OK;
}

iw_status iwi_record_share(const struct iwi_kernel_record *record, int64_t duration_ns, iw_class kind,
                           const char *name)
{
    struct iwi_method *method = record->events->method;
    uint32_t source;

    if (duration_ns <= 0) {
        return IW_OK;
    }
    IW_TRY(iwi_record_source(record, kind, name, &source));
    return iwi_method_add(method, record->place, record->tick, iwi_clock_ticks(method->clock, duration_ns),
                          source);
}

static const struct iwi_known_event *find_event(const struct iwi_kernel_events *events, int64_t id)
{
    for (size_t i = 0; i < events->count; i++) {
        if (events->known[i].id == id) {
            return &events->known[i];
        }
    }
    return NULL;
}

iw_status iwi_kernel_events_take(struct iwi_kernel_events *events, size_t place, uint64_t tick, void *data,
                                 size_t size)
{
    struct iwi_kernel_record record = {
        .events = events, .place = place, .tick = tick, .data = data, .size = size};
    int64_t id;

    if (!read_number(&record, events->type, &id)) {
        return IW_OK;
    }
    record.event = find_event(events, id);
    return record.event != NULL ? record.event->point->take(&record) : IW_OK;
}

iw_status iwi_kernel_events_reset(struct iwi_kernel_events *events, size_t place, uint64_t tick)
{
    return iwi_nesting_reset(&events->nestings[place], tick);
}

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
    const struct iwi_switch_listener *listener = record->events->method->listener;
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
    const struct iwi_method *method = record->events->method;
    uint32_t source = IWI_NO_SOURCE;
    char comm[IW_SOURCE_NAME_SIZE];
    int64_t next;
    bool is_own;

    if (!iwi_record_number(record, 0, &next) || !iwi_record_text(record, 1, comm, sizeof comm)) {
        return IW_OK;
    }
    IW_TRY(tell_listener(record, next, comm, &is_own));
    if (method->recorder > 0 && next == method->recorder) {
        source = IWI_RECORDER_SOURCE;
    } else if (!is_own && next != method->watched[record->place].tid) {
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
    ticks = iwi_clock_ticks(record->events->method->clock, ns);
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

iw_status iwi_kernel_events_new(struct iwi_method *method, int tracing, struct iwi_kernel_events **events_p)
{
    return iwi_kernel_events_of(method, tracing, table, sizeof table / sizeof table[0], events_p);
}
