/* Kernel tracepoints that say what runs on a CPU: which there are, and what their records mean.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Records come from a tracefs instance or from perf; both carry the same bytes, decoded by libtraceevent.
 */
#ifndef IWI_KERNEL_EVENTS_H
#define IWI_KERNEL_EVENTS_H

#include <event-parse.h>

#include "features/record/attribution/method.h"

struct iwi_kernel_events;

/* Learns the formats of all events of the table that this kernel has. `tracing` is an open folder of tracefs.
 * Refuses (method->reason) where sched_switch, without which nothing can be said, is missing. */
IW_NODISCARD iw_status iwi_kernel_events_new(struct iwi_method *method, int tracing,
                                             struct iwi_kernel_events **events_p);
void iwi_kernel_events_free(struct iwi_kernel_events *events);

/* The events found: "sched/sched_switch" and its number; NULL behind the last. */
const char *iwi_kernel_events_name(const struct iwi_kernel_events *events, size_t index, int *id_p);

/* One record of a CPU's place, `tick` already on the method's clock. Records of unknown kinds are passed
 * over.
 */
IW_NODISCARD iw_status iwi_kernel_events_take(struct iwi_kernel_events *events, size_t place, uint64_t tick,
                                              void *data, size_t size);

/* Events of that place were lost at `tick`. */
IW_NODISCARD iw_status iwi_kernel_events_reset(struct iwi_kernel_events *events, size_t place, uint64_t tick);

/* ---- tables of tracepoints, and what their rows use: a record, its fields by name, the numbers of sources
 * ---- */

/* A tracepoint is one row: its name, what a record of it does, the fields that this needs. Where fields lie
 * is told by the running kernel.
 */

enum { IWI_TRACEPOINT_FIELDS = 4 };

struct iwi_kernel_record;

struct iwi_tracepoint {
    const char *name; /* "sched/sched_switch" */
    iw_status (*take)(const struct iwi_kernel_record *record);
    const char *fields[IWI_TRACEPOINT_FIELDS]; /* by their place in this array; NULL: no more */
    const char *source;                        /* where the name of the source is always the same */
};

/* A tracepoint that this kernel has. */
struct iwi_known_event {
    const struct iwi_tracepoint *point;
    int id;
    const struct tep_format_field *fields[IWI_TRACEPOINT_FIELDS];
};

/* Names that were looked up last, each at the place that its hash tells. */
struct iwi_known_source {
    iw_source source; /* name "": none yet */
    uint32_t number;
};
enum { IWI_KNOWN_SOURCES = 256 };

struct iwi_kernel_events {
    struct iwi_method *method;
    struct tep_handle *tep;
    const struct tep_format_field *type; /* where records have their event's number */
    struct iwi_known_event *known;
    size_t count;
    struct iwi_nesting *nestings; /* one of each place */
    struct iwi_known_source sources[IWI_KNOWN_SOURCES];
};

struct iwi_kernel_record {
    struct iwi_kernel_events *events;
    const struct iwi_known_event *event;
    size_t place;
    uint64_t tick;
    const char *data;
    size_t size;
};

/* As iwi_kernel_events_new() with another table, whose first row must not be missing. */
IW_NODISCARD iw_status iwi_kernel_events_of(struct iwi_method *method, int tracing,
                                            const struct iwi_tracepoint *table, size_t count,
                                            struct iwi_kernel_events **events_p);

/* A field by its place in the row; false: the record ends before it. */
bool iwi_record_number(const struct iwi_kernel_record *record, size_t field, int64_t *number_p);

/* Cut to `size`; what is not printable ASCII becomes '?'. */
bool iwi_record_text(const struct iwi_kernel_record *record, size_t field, char *buf, size_t size);

/* Number of a source in the recording. */
IW_NODISCARD iw_status iwi_record_source(const struct iwi_kernel_record *record, iw_class kind,
                                         const char *name, uint32_t *number_p);

/* Names for what has none. */
void iwi_thread_name(int64_t number, char *comm, size_t size);
void iwi_irq_name(int64_t number, char *name, size_t size);

/* A share of so many ns, which is over at the record's tick. */
IW_NODISCARD iw_status iwi_record_share(const struct iwi_kernel_record *record, int64_t duration_ns,
                                        iw_class kind, const char *name);

/* What the osnoise tracer reports. */
extern const struct iwi_tracepoint iwi_osnoise_tracepoints[];
extern const size_t iwi_osnoise_tracepoint_count;

#endif
