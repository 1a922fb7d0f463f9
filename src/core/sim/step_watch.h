/* The step that each rank is in, and its end: for the engines that tell steps (idlewave/sim.h).
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_STEP_WATCH_H
#define IWI_STEP_WATCH_H

#include "core/sim/engine.h"

/* What a rank's step has so far; waiting is the rest, known at its end. Three words and one apart, since
 * there may be 2^20 of them and every pass over the ranks meets them again. */
struct iwi_open_step {
    iw_time begin;
    iw_time compute; /* IWI_NO_PHASE: it did not begin with a compute phase */
    iw_time noise;
};

enum { IWI_NO_PHASE = -1 };

struct iwi_step_watch {
    iw_step_sink sink;
    uint32_t ranks;
    struct iwi_open_step *open; /* of each rank; NULL: nothing is watched */
    iw_time *comm;              /* of each rank in its open step: every message adds to it */
    iw_time *delay;             /* of each rank in its open step; looked at only while some have one */
    uint64_t delayed;           /* ranks whose open step has a delay */
};

/* `sink` NULL: nothing is watched, and open stays NULL. */
IW_NODISCARD iw_status iwi_step_watch_init(const iw_log *log, const iw_step_sink *sink, uint32_t ranks,
                                           struct iwi_step_watch *watch);
void iwi_step_watch_release(struct iwi_step_watch *watch);

/* Back to time 0. */
void iwi_step_watch_restart(struct iwi_step_watch *watch);

/* d of CPU time of a message, a reduction or other work that is no phase. */
static inline void iwi_step_busy(struct iwi_step_watch *watch, uint32_t rank, iw_time d)
{
    watch->comm[rank] += d;
}

/* Noise took so much of the rank's work. */
static inline void iwi_step_lost(struct iwi_step_watch *watch, uint32_t rank, iw_time lost)
{
    watch->open[rank].noise += lost;
}

/* The compute phase that the rank is in took so much longer, to move its bytes. */
static inline void iwi_step_memory(struct iwi_step_watch *watch, uint32_t rank, iw_time more)
{
    watch->open[rank].compute += more;
}

/* A compute phase begins, and per-phase noise adds `extra` to it: the step before it ends. */
void iwi_step_phase(struct iwi_step_watch *watch, uint32_t rank, iw_time begin, iw_time delay,
                    iw_time compute, iw_time extra);

/* The rank ends. */
void iwi_step_watch_end(struct iwi_step_watch *watch, uint32_t rank, iw_time end);

/* IW_ERR_UNSUPPORTED (logged): such a run has no steps. `schedule` may be NULL: a pattern or a trace. */
IW_NODISCARD iw_status iwi_steps_check(const iw_log *log, iw_rules rules,
                                       const struct iwi_schedule *schedule);

/* All steps of a run can be kept exactly (IW_TIMELINE_OPTS_INIT): then no round streams, at the cost of time.
 */
bool iwi_steps_are_few(const iw_program *program);

#endif
