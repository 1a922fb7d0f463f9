/* Formats of traces that tell when ranks came to their collectives: one ops struct each.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A new format is one file with one `const struct iwi_visits_reader`, declared below, and its line in the
 * table of visits_open.c.
 */
#ifndef IWI_VISITS_READER_H
#define IWI_VISITS_READER_H

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
extern const struct iwi_visits_reader iwi_visits_inspector;
extern const struct iwi_visits_reader iwi_visits_kineto;
extern const struct iwi_visits_reader iwi_visits_chakra;

#endif
