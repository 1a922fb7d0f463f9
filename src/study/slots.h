/* The cells that a run has still to see done, and what has become of each.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *     waiting -> claiming -> running -> ended | failed
 *                         -> held      another process runs it; waits again from time to time
 *     waiting | claiming | held -> found      another process has run it
 */
#ifndef IWI_SLOTS_H
#define IWI_SLOTS_H

#include <stdatomic.h>

#include "study/tasks.h"

enum iwi_slot_state { IWI_WAITING, IWI_CLAIMING, IWI_RUNNING, IWI_HELD, IWI_ENDED, IWI_FOUND, IWI_FAILED };
enum { IWI_SLOT_STATES = IWI_FAILED + 1 };

struct iwi_slot {
    const struct iwi_task *task;
    enum iwi_slot_state state;
    uint32_t threads;             /* while claiming and running */
    bool has_claim, has_node;     /* the cell's claim is held, and the node's too */
    bool is_found;                /* another process's line has been seen */
    atomic_uint_fast32_t permill; /* of its work done */
};

struct iwi_slots {
    const iw_study *study;
    struct iwi_slot *items; /* largest first */
    size_t count;
    struct iwi_slot **by_id;
    double all_seconds;
    size_t in[IWI_SLOT_STATES]; /* how many */
    size_t first_waiting;       /* none before it waits */
    size_t next_held;           /* where to look for the next that is held */
};

/* Those that were not found. */
IW_NODISCARD iw_status iwi_slots_init(const iw_log *log, const iw_study *study, const struct iwi_tasks *tasks,
                                      struct iwi_slots *slots);
void iwi_slots_release(struct iwi_slots *slots);

void iwi_slot_set(struct iwi_slots *slots, struct iwi_slot *slot, enum iwi_slot_state state);

/* The line of that cell has been seen in another process's results. */
void iwi_slots_note_found(struct iwi_slots *slots, const char *id);

/* Lets up to `most` of those held wait again, in turn. */
void iwi_slots_retry_held(struct iwi_slots *slots, size_t most);

/* Of all work, in expected seconds of one core. */
double iwi_slots_work_done(const struct iwi_slots *slots);

#endif
