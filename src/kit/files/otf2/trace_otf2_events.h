/* Events of one rank on their way from libotf2 to the builder.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_TRACE_OTF2_EVENTS_H
#define IWI_TRACE_OTF2_EVENTS_H

#include "kit/files/otf2/trace_otf2_read.h"

/* STARTED: between Enter and Leave, after what was started and before what was waited for. */
enum iwi_raw_type { IWI_RAW_ENTER, IWI_RAW_LEAVE, IWI_RAW_EVENT, IWI_RAW_STARTED, IWI_RAW_ON, IWI_RAW_OFF };

struct iwi_otf2_raw {
    iw_time time_ps, cpu_ps, poll_ps;
    uint64_t unknown; /* LEAVE: as struct iwi_call_span has it */
    uint64_t sequence;
    uint32_t type, thread, region;
    struct iwi_trace_event event;
};

struct iwi_otf2_thread {
    uint32_t depth, open_depth; /* open_depth: of the MPI function that is open; 0: none */
    bool has_started;           /* what that one starts is with the builder already */
    const struct iwi_def_region *region;
    struct iwi_call_span span;
    uint64_t given;                 /* bytes that it started with */
    bool calls;                     /* MPI, at least once */
    struct iwi_trace_event *events; /* inside it */
    size_t count, capacity;
};

struct iwi_otf2_events {
    struct iwi_otf2 *in;
    struct iwi_builder *builder;
    struct iwi_otf2_thread *threads;
    uint32_t thread_count, thread;     /* thread: whose events come */
    iw_time last_ps;                   /* of that thread */
    uint64_t event_number;             /* of those before, within the location */
    uint32_t seen_comm, seen_position; /* of the last collective, which the next one mostly has too */
    bool is_buffered, has_ended;
    iw_time end_ps;
    struct iwi_otf2_raw *buffer; /* of all threads, to be put in order */
    size_t buffer_count, buffer_capacity;
    iw_status status;
};

IW_NODISCARD iw_status iwi_otf2_handle(struct iwi_otf2_events *e, const struct iwi_otf2_raw *raw);

/* ---- what records need ---- */

OTF2_CallbackCode iwi_otf2_pass_on(struct iwi_otf2_events *e, iw_status status);
iw_status iwi_otf2_refuse(const struct iwi_otf2_events *e, const char *why, uint64_t value);
bool iwi_otf2_get(const struct iwi_otf2_events *e, const OTF2_AttributeList *list,
                  enum iwi_otf2_attribute which, OTF2_AttributeValue *value_p);
/* ns of an attribute to ps; -1 if it is not there or makes no sense. */
iw_time iwi_otf2_get_ns(const struct iwi_otf2_events *e, const OTF2_AttributeList *list,
                        enum iwi_otf2_attribute which);
IW_NODISCARD iw_status iwi_otf2_raw_begin(struct iwi_otf2_events *e, uint64_t ticks, uint32_t type,
                                          struct iwi_otf2_raw *raw);
IW_NODISCARD iw_status iwi_otf2_emit(struct iwi_otf2_events *e, uint64_t ticks,
                                     const struct iwi_trace_event *event);
/* Position of `rank` among `count` members; its number if all ranks are members, UINT32_MAX if it is none. */
uint32_t iwi_otf2_position(const struct iwi_comm *comm, uint32_t count, uint32_t rank);
/* Puts index of the communicator and world rank of `peer` into the event. */
IW_NODISCARD iw_status iwi_otf2_translate(struct iwi_otf2_events *e, uint32_t ref, uint32_t peer,
                                          struct iwi_trace_event *event);

void iwi_otf2_set_messages(OTF2_EvtReaderCallbacks *callbacks);
void iwi_otf2_set_collectives(OTF2_EvtReaderCallbacks *callbacks);

/* Parts calls of several threads, whose records are in the buffer one thread after the other, into what they
 * start and what they wait for. */
IW_NODISCARD iw_status iwi_otf2_part_calls(struct iwi_otf2_events *e);

/* Reads the events of one location. */
IW_NODISCARD iw_status iwi_otf2_read_location(struct iwi_otf2_events *e,
                                              const struct iwi_def_location *location);

#endif
