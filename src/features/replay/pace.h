/* Where in the trace we are, and which detour comes next: pure computation, safe in signal handlers.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Times `_ns` are of this host's CLOCK_MONOTONIC; reference times (`_ref_ns`) are of the clock that all hosts
 * agree on: reference(t) = t + offset + drift (t - at). The place in the trace at reference time r is
 * r - lap_ref_ns, from 0 to the trace's length.
 */
#ifndef IWI_PACE_H
#define IWI_PACE_H

#include "features/replay/inject_plan.h"

/* Later than this after its deadline a detour is not made any more: the thread was stopped, or kept signals
 * out; what would follow is not the noise of the trace. */
#define IWI_LATE_MOST_NS INT64_C(1000000)

struct iwi_clock_map {
    int64_t offset_ns, at_ns;
    double drift;
};

struct iwi_detour {
    int64_t deadline_ns, duration_ns;
};

struct iwi_pace {
    const iw_inject_plan *plan;
    struct iwi_clock_map map;
    int64_t lap_ref_ns; /* reference time at which the current passage of the trace began */
    size_t next;        /* detour of this passage; plan->count: the first of the next one */
    int64_t rest_ns;    /* of a detour that was under way when the place was set; 0: none */
    int64_t rest_at_ns;
    int64_t end_ns; /* nothing begins from here on */
    uint64_t phase; /* number of the next one */
    uint64_t skipped_count;
    double skipped_ns;
};

/* The place in the trace at reference time 0 of a node (not IW_SYNC_PHASE: its phase number `phase`), in
 * [0, length): a pure function of all these. */
int64_t iwi_pace_offset(const iw_inject_opts *opts, int64_t length_ns);
int64_t iwi_pace_phase_offset(const iw_inject_opts *opts, uint64_t phase, int64_t length_ns);

/* How late this node is; 0 without synchronisation, as in simulations. */
int64_t iwi_pace_skew(const iw_inject_opts *opts);

int64_t iwi_reference(const struct iwi_clock_map *map, int64_t now_ns);
int64_t iwi_from_reference(const struct iwi_clock_map *map, int64_t ref_ns);

/* From now on the trace passes; most_share of it. */
void iwi_pace_begin(struct iwi_pace *pace, const iw_inject_plan *plan, int64_t now_ns);

/* The cursor to the place of now: after a pause of `silent_ns`, which is not taken from most_share. */
void iwi_pace_go_on(struct iwi_pace *pace, int64_t now_ns, int64_t silent_ns);
void iwi_pace_phase(struct iwi_pace *pace, int64_t now_ns);
void iwi_pace_set_clock(struct iwi_pace *pace, struct iwi_clock_map map, int64_t now_ns);

/* The next detour that can be made by one who is free from `free_ns` on; others are counted as skipped.
 * False: no more of them, unless the place is set anew before end_ns. */
bool iwi_pace_next(struct iwi_pace *pace, int64_t free_ns, struct iwi_detour *detour_p);

#endif
