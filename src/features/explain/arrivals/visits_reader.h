/* Formats of traces that tell when ranks came to their collectives: one ops struct each; traces in memory.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A new format is a folder that reads it, one `struct iwi_visits_reader` in visits_open.c, and its line in
 * the table there.
 */
#ifndef IWI_VISITS_READER_H
#define IWI_VISITS_READER_H

#include "core/program/trace.h"
#include "features/explain/arrivals/visits.h"

/* What a format is told by. */
struct iwi_visits_head {
    const char *path;
    bool is_folder;    /* then there are no bytes */
    const char *bytes; /* the first of the file, at most 64 KiB, unpacked where it is compressed by gzip */
    size_t size;
};

struct iwi_visits_reader {
    const char *origin; /* "OTF2": what visits->origin is at first */
    const char *what;   /* for people, in a list: "traces of MPI programs (OTF2, liballprof)" */

    /* Whether a file is of this format. A folder: whether all of it is one trace; else each file in it is
     * asked for. */
    bool (*is)(const struct iwi_visits_head *head);

    /* Fills `visits`, which is initialised, and finishes it. All paths are of this format. */
    iw_status (*read)(const iw_log *log, const char *const *paths, size_t count, struct iwi_visits *visits);

    /* It tells of no pauses: clocks are aligned, and what ranks lose against their peers is looked for. */
    bool lacks_pauses;
};

/* A file of one of the formats, or a folder that has one. */
bool iwi_visits_is_readable(const char *path);

extern const struct iwi_visits_reader iwi_visits_mpi;

/* ---- visits of a trace that is in memory ---- */

/* Times count from the first beginning of a rank. Collectives are numbered in their communicators, messages
 * by their sends, in the group of their communicator. */
IW_NODISCARD iw_status iwi_visits_of_trace(const iw_log *log, const struct iw_trace *trace,
                                           struct iwi_visits *visits);

/* ---- a traced run of training as a trace of calls, which programs are made of ---- */

/* A rank is one sequence: its computation, and the collectives and messages that computation starts and waits
 * for. A visit starts where the computation had come to that it needed; if computation then stood still until
 * it ended, it is waited for there, else it goes on beside. Time in which a rank stood still for no visit
 * stays: it is computation. Waiting and transfer are left out: they are simulated.
 */

/* Of visits that are finished and aligned. IW_ERR_NOMEM, IW_ERR_RANGE. */
IW_NODISCARD iw_status iwi_trace_of_visits(const iw_log *log, const struct iwi_visits *visits,
                                           struct iw_trace **trace_p);

#endif
