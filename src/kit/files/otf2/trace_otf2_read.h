/* What the files that use libotf2 share: definitions of an archive, and its events as the builder wants them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_TRACE_OTF2_READ_H
#define IWI_TRACE_OTF2_READ_H

#include <otf2/otf2.h>

#include "kit/files/otf2/trace_otf2.h"

/* How sizes of collectives are meant. */
enum iwi_otf2_sizes {
    IWI_SIZES_ATTRIBUTE, /* in an attribute of ours */
    IWI_SIZES_EACH,      /* EZTrace: count x type */
    IWI_SIZES_TOTAL      /* Score-P: what goes to and comes from all members together */
};

enum iwi_otf2_attribute {
    IWI_ATTR_CPU_NS,
    IWI_ATTR_POLL_NS,
    IWI_ATTR_POSTED_SOURCE,
    IWI_ATTR_POSTED_TAG,
    IWI_ATTR_COMM,
    IWI_ATTR_MODE,
    IWI_ATTR_OP,
    IWI_ATTR_ROOT,
    IWI_ATTR_BYTES,
    IWI_ATTR_SIZES,
    IWI_ATTR_UNKNOWN,
    IWI_ATTRS
};

/* Definitions of one kind, in the order of their numbers. Every item begins with its number. */
struct iwi_defs {
    void *items;
    size_t count, capacity, item_size;
};

struct iwi_def_string {
    uint64_t id;
    char *text;
};

struct iwi_def_region {
    uint64_t id;
    uint32_t name, description;
    struct iwi_function function;
    const char *text; /* its name, behind iwi_otf2_resolve() */
};

struct iwi_def_location {
    uint64_t id;
    uint64_t event_count;
    uint32_t group, rank; /* rank: UINT32_MAX if it belongs to none */
};

struct iwi_def_group {
    uint64_t id;
    uint32_t type, count;
    uint32_t *members; /* ranks */
};

/* A process, in which locations are, or a node, rack, machine above it. */
struct iwi_def_place {
    uint64_t id;
    uint32_t name, class_name, parent; /* class_name: of places above processes; parent: one of these */
};

/* What our tracer added to the clock of a process at its first and last event. */
struct iwi_def_clock {
    int64_t added_ns[2];
};

/* What a rank sends to whom: rank << 32 | number. */
struct iwi_def_sizes {
    uint64_t id;
    struct iwi_size_list list;
};

enum iwi_comm_form { IWI_COMM_UNKNOWN, IWI_COMM_INTRA, IWI_COMM_INTER, IWI_COMM_SELF };

struct iwi_def_comm {
    uint64_t id;
    uint32_t name;
    uint32_t group, remote_group;
    uint32_t form, index; /* index into comms */
    uint32_t first_size;  /* INTER: ranks of the first group, which come first */
};

struct iwi_otf2 {
    const iw_log *log;
    const char *path;
    OTF2_Reader *reader;
    iw_status status; /* of what went wrong in a callback */
    struct iwi_gaps gaps;
    struct iwi_function_uses uses;
    char origin[IWI_ORIGIN_SIZE];
    enum iwi_otf2_sizes sizes;
    uint32_t format; /* of our own tracer: 1 is that of 0.2; 0: of another one */

    struct iwi_defs strings, regions, locations, groups, comm_defs, processes, places, size_lists;
    struct iwi_sent_piece *parts; /* of size lists */
    size_t part_count, part_capacity;
    uint64_t *rank_locations; /* the location of each rank's main thread */
    uint32_t rank_count;
    uint32_t attributes[IWI_ATTRS]; /* OTF2_UNDEFINED_ATTRIBUTE: not there */
    uint64_t resolution_hz, offset_ticks;
    bool has_offset;
    struct iwi_def_clock *clocks; /* by location group, which our own tracer numbers as ranks */
    size_t clock_count, clock_capacity;

    struct iwi_comm *comms; /* the block's communicators; 0 is world */
    size_t comm_capacity;
    uint32_t comm_count, self_base;
    bool uses_self;
};

/* NULL if there is none. */
void *iwi_defs_find(const struct iwi_defs *defs, uint64_t id);

/* Reads the definitions and makes sense of them: ranks, communicators, functions. */
IW_NODISCARD iw_status iwi_otf2_definitions(struct iwi_otf2 *in);
IW_NODISCARD iw_status iwi_otf2_resolve(struct iwi_otf2 *in);
void iwi_otf2_release(struct iwi_otf2 *in);

/* Definitions of single locations: translations of numbers that events need, and lists of sizes. They may be
 * missing. */
IW_NODISCARD iw_status iwi_otf2_local_definitions(struct iwi_otf2 *in);

/* The name of the node that a rank ran on; "" where the archive has none. */
void iwi_otf2_node(const struct iwi_otf2 *in, uint32_t rank, char node[IWI_TRACE_NODE_SIZE]);

/* Reads the events of all threads of a rank. */
IW_NODISCARD iw_status iwi_otf2_rank(struct iwi_otf2 *in, uint32_t rank, struct iwi_builder *builder,
                                     iw_time *end_ps_p);

/* ---- events of one rank on their way from libotf2 to the builder ---- */

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
    iw_time leave_ps;                  /* of its Leave or MeasurementOnOff before, if has_left */
    uint64_t event_number;             /* of those before, within the location */
    uint32_t seen_comm, seen_position; /* of the last collective, which the next one mostly has too */
    bool is_buffered, has_left, has_ended;
    iw_time end_ps;
    struct iwi_otf2_raw *buffer; /* of all threads, to be put in order */
    size_t buffer_count, buffer_capacity;
    iw_status status;
};

IW_NODISCARD iw_status iwi_otf2_handle(struct iwi_otf2_events *e, const struct iwi_otf2_raw *raw);

/* Hands on what was buffered, all threads in one order. */
IW_NODISCARD iw_status iwi_otf2_replay(struct iwi_otf2_events *e);

#endif
