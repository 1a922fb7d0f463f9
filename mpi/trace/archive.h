/* Writing what was recorded as an OTF2 archive; by all processes together, or by one for all of them.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Knows nothing of MPI: how processes work together is told by OTF2's collective callbacks.
 */
#ifndef IWI_TRACE_ARCHIVE_H
#define IWI_TRACE_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <otf2/otf2.h>

#include "mpi/trace/record.h"
#include "core/stats/clock_fit.h"

/* One thread of one rank. */
struct iwi_archive_place {
    uint32_t rank, thread;
    uint64_t events, calls, opaque_calls;
    uint64_t first_ns, last_ns; /* corrected; 0 if there are no events */
};

struct iwi_archive_rank {
    char host[64];
    int64_t offset_first_ns, offset_last_ns; /* what was added to its times */
};

enum { IWI_COMM_NAME_BYTES = 64 };

struct iwi_archive_comm {
    uint64_t global;
    uint32_t size, remote_size;
    bool is_inter;
    char name[IWI_COMM_NAME_BYTES]; /* that the program gave it; "": none */
    int32_t *members; /* world ranks: the group, then the remote group; -1: unknown */
};

struct iwi_archive_definitions {
    const char *mpi, *cpu_clock;
    const char *lost; /* why ranks stopped early; NULL: none did */
    uint32_t rank_count;
    const struct iwi_archive_rank *ranks;
    size_t place_count;
    const struct iwi_archive_place *places; /* main threads first within each rank */
    uint32_t comm_count;
    const struct iwi_archive_comm *comms; /* 0: world, 1: self (its members are not read) */
    int64_t realtime_ns, reference_ns;    /* the time of day at a corrected time */
};

/* From numbers of communicators in the records to those of the archive; UINT32_MAX: not known. */
struct iwi_comm_map {
    const uint32_t *ids;
    uint32_t count;
};

/* Makes FOLDER/traces.*; NULL: failed. Collective callbacks are to be set next. spool_bytes: of the largest spool file of
 * all processes. *has_failed_p, which must live until the archive is closed: something could not be written, and nothing
 * more will be. */
OTF2_Archive *iwi_archive_open(const char *folder, uint64_t spool_bytes, bool *has_failed_p);
bool iwi_archive_set_properties(OTF2_Archive *archive, const struct iwi_archive_definitions *definitions);

/* Writes the events of the spool file at `path`, and the definitions of its location; false: some could not be
 * written. What the file holds up to a damaged place is written. */
bool iwi_archive_write_thread(OTF2_Archive *archive, const char *path, struct iwi_comm_map map,
                              const struct iwi_clock_model *clock, struct iwi_archive_place *place,
                              bool *has_failed_p);

/* Only in one process. */
bool iwi_archive_write_definitions(OTF2_Archive *archive, const struct iwi_archive_definitions *definitions);

/* idlewave.op of neighbour collectives: MPI_Start of a persistent one has no name that would tell. */
enum { IWI_OP_NEIGHBOR = UINT8_MAX };

enum iwi_archive_attribute {
    IWI_ATTRIBUTE_CPU_NS,
    IWI_ATTRIBUTE_POLLS,
    IWI_ATTRIBUTE_POLL_NS,
    IWI_ATTRIBUTE_POSTED_SOURCE,
    IWI_ATTRIBUTE_POSTED_TAG,
    IWI_ATTRIBUTE_POSTED_BYTES,
    IWI_ATTRIBUTE_COMM,
    IWI_ATTRIBUTE_MODE,
    IWI_ATTRIBUTE_OP,
    IWI_ATTRIBUTE_ROOT,
    IWI_ATTRIBUTE_BYTES,
    IWI_ATTRIBUTE_NEW_COMM,
    IWI_ATTRIBUTE_SIZES,
    IWI_ATTRIBUTE_UNKNOWN,
    IWI_ATTRIBUTES
};

/* Of the generated table of calls. */
struct iwi_call_info {
    const char *name;   /* MPI_Send */
    const char *opaque; /* what it is, if it is not understood; else NULL */
    uint8_t role;       /* OTF2_RegionRole */
};

extern const struct iwi_call_info iwi_calls[];
extern const unsigned iwi_call_count;
extern const uint64_t iwi_call_digest;

#endif
