/* Text traces of liballprof (LogGOPSim's tracer): one file for each rank, one line for each call.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_TRACE_ALLPROF_H
#define IWI_TRACE_ALLPROF_H

#include "kit/files/io/convert_text.h"
#include "kit/files/trace/trace_read.h"

/* The text of one rank. */
struct iwi_allprof_text {
    const char *path;
    const char *data;
    size_t size;
};

/* True if it begins as such a file does. */
bool iwi_allprof_is(const char *data, size_t size);

/* texts[r] is that of rank r. */
IW_NODISCARD iw_status iwi_trace_allprof(const iw_log *log, const char *path,
                                         const struct iwi_allprof_text *texts, uint32_t rank_count,
                                         struct iw_trace **trace_p);

/* ---- one line ---- */

struct iwi_allprof_line {
    char name[40];
    struct iwi_function function;
    bool is_understood; /* its arguments are below */
    bool has_start, has_end;
    int64_t start_ps, end_ps; /* from the time that the reader began with */
    uint64_t buffer[2], request;
    int64_t count[2], size[2], peer[2], tag[2], root, color, key;
    uint64_t sum; /* of the counts of a v-form */
    uint32_t sum_of;
    bool has_sizes, has_comm;
    uint64_t comm;
    uint32_t comm_rank, comm_size;
};

/* ---- communicators ---- */

enum iwi_allprof_making { IWI_MADE_DUP, IWI_MADE_SPLIT, IWI_MADE_OTHER };

/* As one rank sees it. */
struct iwi_allprof_comm {
    uint64_t handle;
    uint32_t rank, size;
    uint64_t line;   /* of its first use */
    uint32_t global; /* IWI_NO_COMM: not known */
    uint32_t made;   /* communicators made of it */
};

struct iwi_allprof_made {
    uint32_t how, parent, number; /* parent: the rank's own number; number: of those made of it */
    int64_t color, key;
    uint64_t line;
};

struct iwi_allprof_rank {
    struct iwi_allprof_comm *comms;
    size_t comm_count, comm_capacity;
    struct iwi_allprof_made *made;
    size_t made_count, made_capacity;
};

/* ---- the file of a rank ---- */

/* A persistent request, by the address of its variable. */
struct iwi_allprof_persistent {
    uint64_t address;
    struct iwi_trace_event event;
};

struct iwi_allprof_reading {
    const iw_log *log;
    const struct iwi_allprof_text *text;
    struct iwi_builder *builder;
    struct iwi_allprof_rank *rank;
    struct iwi_lines lines;
    struct iwi_allprof_line line;
    int64_t base_us; /* what times count from; -1 until the first */
    bool is_mpich, has_int_requests, has_ended;
    struct iwi_allprof_persistent *persistent;
    size_t persistent_count, persistent_capacity;
};

iw_status iwi_allprof_refuse(const struct iwi_allprof_reading *in, const char *why);

/* Builds the call of in->line. */
IW_NODISCARD iw_status iwi_allprof_build(struct iwi_allprof_reading *in, const struct iwi_call_span *span);

/* Finds out who is in which communicator, by colours and keys and by the ranks that members say they have. */
IW_NODISCARD iw_status iwi_allprof_resolve(const iw_log *log, struct iwi_allprof_rank *ranks,
                                           struct iw_trace *trace);

#endif
