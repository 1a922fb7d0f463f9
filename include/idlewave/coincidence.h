/* idlewave/coincidence.h - whether the detours of several nodes come at the same time.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Experimental: functions and structs here may change in any release.
 *
 *     iw_coincidence_opts opts = IW_COINCIDENCE_OPTS_INIT;
 *     iw_coincidence *found;
 *     iw_folder *folder;
 *     iw_recording **recordings;
 *     st = iw_folder_list(log, "noise", &folder);
 *     st = iw_folder_load(log, folder, &recordings);
 *     st = iw_coincidence_find(log, (const char *const *)folder->paths, recordings, folder->count, &opts,
 * &found);
 *     ...  iw_coincidence_free(found);
 *
 * A job on many nodes meets noise that hits all of them together once, and noise that does not as often as
 * there are nodes. Which it is can be told from recordings that were made at the same time, by their wall
 * clocks (docs/how-to/fleet.md has the test).
 */
#ifndef IW_COINCIDENCE_H
#define IW_COINCIDENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <idlewave/caveat.h>
#include <idlewave/doc.h>
#include <idlewave/fleet.h>
#include <idlewave/log.h>
#include <idlewave/recording.h>

#ifdef __cplusplus
extern "C" {
#endif

/** An instant at which a source hit more nodes than chance brings together. */
typedef struct iw_coincidence_instant {
    int64_t wall_ns; /* the middle of the nodes: ns since 1970, UTC */
    uint32_t nodes;
} iw_coincidence_instant;

/** How many nodes were hit at once, over time: the time that all watched in so many equal parts. */
enum { IW_COINCIDENCE_PARTS = 200, IW_COINCIDENCE_LISTED = 100 };

/** A source over the nodes: names that differ only in numbers are one. */
typedef struct iw_coincidence_source {
    iw_source source;     /* numbers that differ are '*' */
    uint32_t nodes;       /* that have it */
    uint64_t occurrences; /* on all nodes */
    double share;         /* of the time of the average CPU */
    bool is_tested;       /* false: on one node only, or too small a source */
    double p;             /* that independent nodes coincide as much, by shifting them at random */
    bool is_coincident;   /* p is below the limit of all tests together */
    int64_t width_ns;     /* what is within this counts as together */
    double together;      /* of the meetings of two nodes that there could be, those beyond chance: 0 to 1 */
    uint32_t nodes_together; /* hit at half of the instants, or more */
    int64_t period_ns;       /* between the instants; 0: none is regular */
    size_t instant_count;    /* all that there were; the first are listed */
    size_t listed_count;
    iw_coincidence_instant *instants;
    size_t part_count;    /* IW_COINCIDENCE_PARTS if it is coincident, else 0 */
    uint32_t *part_nodes; /* the most nodes that were hit at once */
} iw_coincidence_source;

typedef struct iw_coincidence_opts {
    size_t size;         /* IW_COINCIDENCE_OPTS_INIT */
    double false_alarms; /* of so many fleets of independent nodes at most one gets any finding */
    uint64_t seed;
} iw_coincidence_opts;

#define IW_COINCIDENCE_OPTS_INIT             \
    {                                        \
        sizeof(iw_coincidence_opts), 0.01, 1 \
    }

typedef struct iw_coincidence {
    char *name;        /* of the folder; for the caller to set, NULL until then; freed with the rest */
    size_t node_count; /* that were compared */
    size_t clock_less; /* recordings that do not say when they were made, and were left out */
    iw_wall_window window;
    double false_alarms;
    uint64_t tests;
    size_t found_count;
    size_t source_count;
    iw_coincidence_source *sources; /* those that coincide first, then by share */
    iw_caveats caveats;
} iw_coincidence;

/** Cuts the recordings to the time that all of them watched, and looks which sources hit nodes together.
 * Takes the recordings: those that were used become NULL.
 * IW_ERR_RANGE: fewer than two say when they were made, they have no time in common, or an option is out of
 * range. */
IW_API IW_NODISCARD iw_status iw_coincidence_find(const iw_log *log, const char *const *names,
                                                  iw_recording **recordings, size_t count,
                                                  const iw_coincidence_opts *opts,
                                                  iw_coincidence **coincidence_p);
IW_API void iw_coincidence_free(iw_coincidence *coincidence);

/** Schema "idlewave.coincidence/1"; CSV has a line for each source. */
IW_API iw_doc iw_coincidence_doc(const iw_coincidence *coincidence);

#ifdef __cplusplus
}
#endif
#endif
