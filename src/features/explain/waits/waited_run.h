/* A run as waits are found in it: the time of each rank in segments, and who each waiting one waits for.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_WAITED_RUN_H
#define IWI_WAITED_RUN_H

#include <idlewave/waits.h>

#include "core/base/base.h"
#include "features/explain/arrivals/visits.h"

#define IWI_NOBODY UINT32_MAX

/* Shorter messages do not wait for their receiver, as in src/features/explain/blame. */
#define IWI_LEAST_RENDEZVOUS_BYTES 1024

enum iwi_doing { IWI_DOES_COMPUTE, IWI_DOES_WAIT, IWI_DOES_TRANSFER, IWI_DOES_OTHER, IWI_DOINGS };

/* Whom a visit waits for. */
struct iwi_awaited {
    uint32_t rank;     /* index; IWI_NOBODY */
    iw_time start_ps;  /* when that one came, at most the visit's leave */
    bool is_unordered; /* it left before that one came */
};

/* Time of a rank, without gaps from its begin to its end. */
struct iwi_segment {
    iw_time begin_ps, end_ps;
    uint64_t visit; /* that it waits or transfers in */
    enum iwi_doing doing;
};

/* Iterations of the run. Each rank has its own borders where the trace has steps. */
struct iwi_iterations {
    size_t count;
    iw_time *begin_ps; /* count + 1 of each rank, or of all (is_shared) */
    bool is_shared;
    char what[IW_WAITS_NAME_SIZE];
};

struct iwi_waited_run {
    const iw_log *log;
    const struct iwi_visits *visits;
    uint32_t rank_count;
    struct iwi_awaited *awaited; /* of each visit */
    struct iwi_segment *segments;
    size_t *first_segment; /* rank_count + 1 */
    size_t segment_count, segment_capacity;
    iw_time begin_ps, end_ps; /* of the run */
    struct iwi_iterations iterations;

    /* Parts of the run that ranks are judged by: whole iterations, or where these are few (block_end_ps is
     * not NULL) equally many encounters. busy_in_block[rank * block_count + b]: neither waiting nor
     * transferring. */
    uint32_t block_count;
    iw_time *block_end_ps;
    double *busy_in_block;

    /* What each rank caused: by iteration (rank * iterations + i). */
    double *caused_in_iteration, *waited_in_iteration;
    double *caused; /* of each rank */
    double through_transfer_ps;
    struct iwi_pause *pauses; /* by rank and time */
    iw_time *reach_ps;        /* of each pause: the latest end of those of its rank up to it */
    size_t *first_pause;      /* rank_count + 1 */
    double caused_by_pause[IWI_PAUSE_CAUSES];
};

IW_NODISCARD iw_status iwi_waited_await(struct iwi_waited_run *run);   /* first: whom visits wait for */
IW_NODISCARD iw_status iwi_waited_segment(struct iwi_waited_run *run); /* second: the time of each rank */
IW_NODISCARD iw_status iwi_waited_iterate(struct iwi_waited_run *run); /* third: iterations */
IW_NODISCARD iw_status iwi_waited_block(struct iwi_waited_run *run);   /* fourth: blocks */
IW_NODISCARD iw_status iwi_waited_blame(struct iwi_waited_run *run);   /* fifth: who caused what */

/* Fills pauses, reach_ps, first_pause. */
IW_NODISCARD iw_status iwi_waited_sort_pauses(struct iwi_waited_run *run);

/* For how long a rank paused between two instants, in all and by cause. */
double iwi_waited_paused(const struct iwi_waited_run *run, uint32_t rank, iw_time from_ps, iw_time end_ps,
                         double paused[IWI_PAUSE_CAUSES]);

/* Encounters of at least two ranks that are no messages. */
static inline bool iwi_is_met(const struct iwi_visits *visits, const struct iwi_encounter *encounter)
{
    return encounter->count > 1 && visits->visits[encounter->first].op != IWI_VISIT_MESSAGE;
}

/* Of a rank: the iteration at an instant, the first or last for what lies outside. */
size_t iwi_iteration_at(const struct iwi_waited_run *run, uint32_t rank, iw_time at_ps);
const iw_time *iwi_iteration_borders(const struct iwi_waited_run *run, uint32_t rank);

/* Fills peers, longer_ns, blocks_won, chance, pattern, from and to of ranks, by index; `waits->least_share`
 * and `waits->run_ns` are known. */
IW_NODISCARD iw_status iwi_waited_judge(const struct iwi_waited_run *run, iw_waits *waits,
                                        iw_waits_rank *by_index);

/* Tables of the result. */
IW_NODISCARD iw_status iwi_waited_parts(const struct iwi_waited_run *run, const iw_waits_rank *by_index,
                                        iw_waits *waits);
IW_NODISCARD iw_status iwi_waited_map(const struct iwi_waited_run *run, iw_waits *waits);

/* One traced rank: what its collectives took at least, and how much of them can have been waiting. */
IW_NODISCARD iw_status iwi_waited_bounds(const struct iwi_waited_run *run, iw_waits *waits);

#endif
