/* Which ranks have something to do in a window of time: a wheel of short stretches of time, each with its
 * ranks.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_GRAPH_WHEEL_H
#define IWI_GRAPH_WHEEL_H

#include <idlewave/sim.h>

#include "core/base/base.h"

enum { IWI_WHEEL_SLOTS = 1024 };

struct iwi_wheel_slot {
    uint32_t *ranks;
    size_t count, capacity;
};

struct iwi_wheel {
    uint32_t shift; /* a stretch is 2^shift picoseconds */
    int64_t first;  /* number of the stretch that is under way: slot first % IWI_WHEEL_SLOTS */
    struct iwi_wheel_slot slots[IWI_WHEEL_SLOTS];
    uint64_t is_filled[IWI_WHEEL_SLOTS / 64];
    struct iwi_wheel_slot far; /* ranks with a later turn than the wheel holds */
    int64_t far_first;         /* the first stretch of these; INT64_MAX: there are none */
};

/* No stretch is longer than `most` picoseconds (at least 1). */
void iwi_wheel_init(struct iwi_wheel *wheel, iw_time most);
void iwi_wheel_release(struct iwi_wheel *wheel);

/* The rank has something to do at `time`, not before the stretch under way. A rank may be put in several
 * times. */
IW_NODISCARD iw_status iwi_wheel_put(const iw_log *log, struct iwi_wheel *wheel, uint32_t rank, iw_time time);

/* When each rank has its turn: of rank r *(iw_time *)(first + r * step). INT64_MAX: never. */
struct iwi_wheel_turns {
    const char *first;
    size_t step;
};

/* The first stretch that has ranks; INT64_MAX: there is none. */
int64_t iwi_wheel_peek(const struct iwi_wheel *wheel);

/* Goes on to a stretch, before which there is none with ranks. A rank that was far has its turn when `turns`
 * says so, whatever it was put in with. */
IW_NODISCARD iw_status iwi_wheel_turn(const iw_log *log, struct iwi_wheel *wheel, int64_t stretch,
                                      struct iwi_wheel_turns turns, struct iwi_wheel_slot **slot_p);

/* The ranks of the stretch under way have had their turns. */
void iwi_wheel_clear(struct iwi_wheel *wheel);

#endif
