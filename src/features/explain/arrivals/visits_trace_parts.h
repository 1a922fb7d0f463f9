/* What the files that make calls of visits share.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_VISITS_TRACE_PARTS_H
#define IWI_VISITS_TRACE_PARTS_H

#include "features/explain/arrivals/rerun.h"
#include "features/explain/arrivals/visits_trace.h"

#define IWI_NO_REQUEST UINT32_MAX

/* Computation of a rank, whatever its streams; what it does not cover before it, from `idle_ps` on, is time
 * of the host. */
struct iwi_busy {
    iw_time begin_ps, end_ps;
    bool is_late; /* the host launched it too late: computation did not wait for anything else */
};

struct iwi_visit_point {
    iw_time at_ps;
    bool is_start; /* else the end */
    uint32_t visit;
};

struct iwi_call_maker {
    const iw_log *log;
    const struct iwi_visits *visits;
    const struct iwi_rerun *rerun;
    struct iw_trace *trace;
    uint32_t *encounter_of; /* of visits */
    iw_time *transfer_ps;   /* of visits whose group was traced in part: how long it takes without waiting */
    size_t *by_rank;        /* stretches, by rank and time */
    size_t *first_stretch;  /* rank_count + 1: in by_rank */
    size_t *waits_by_rank;  /* host waits, by rank and time */
    size_t *first_wait;     /* rank_count + 1: in waits_by_rank */
    uint32_t *of_rank;      /* visits, by rank */
    size_t *first_visit;    /* rank_count + 1: in of_rank */
    /* of the rank: */
    uint32_t rank;
    struct iwi_busy *busy;
    size_t busy_count, next_busy, next_wait;
    struct iwi_visit_point *points;
    uint32_t *requests; /* of visits: NO_REQUEST, or its number */
    size_t call_capacity, completed_capacity;
    iw_time at_ps, compute_ps; /* how far it has come; computation since the last call */
};

/* Visits and stretches by rank, and what repetitions tell (visits_trace_sort.c). */
IW_NODISCARD iw_status iwi_call_maker_sort(struct iwi_call_maker *m);
void iwi_call_maker_release(struct iwi_call_maker *m);

/* One visit of the rank begins, or is waited for (visits_trace_call.c). */
IW_NODISCARD iw_status iwi_call_start(struct iwi_call_maker *m, uint32_t visit);
IW_NODISCARD iw_status iwi_call_wait(struct iwi_call_maker *m, uint32_t visit);

#endif
