/* Which ranks have something to do in a stretch of time: a ring of stretches, each with a set of ranks.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_WINDOW_CALENDAR_H
#define IWI_WINDOW_CALENDAR_H

#include <idlewave/log.h>
#include <idlewave/time.h>

enum { IWI_CALENDAR_SLOTS = 64 };

struct iwi_calendar {
    uint32_t shift; /* a stretch is 2^shift picoseconds */
    uint32_t ranks;
    size_t words;       /* of a set: 64 ranks each */
    int64_t current;    /* number of the stretch taken last; others are after it, up to 63 */
    uint64_t is_filled; /* bit n: slot n has ranks */
    uint64_t *sets;     /* IWI_CALENDAR_SLOTS x words */
    iw_time *turn;      /* of each rank: when it has something to do next; INT64_MAX: nothing is known of */
    uint32_t *active;   /* those taken last */
};

/* No stretch is longer than `most` picoseconds (at least 1). */
IW_NODISCARD iw_status iwi_calendar_init(const iw_log *log, struct iwi_calendar *calendar, uint32_t ranks,
                                         iw_time most);
void iwi_calendar_release(struct iwi_calendar *calendar);

/* turn[rank] is after the current stretch. Ranks far ahead, and those whose turn has changed, are put again
 * when their slot is looked at. */
static inline void iwi_calendar_put(struct iwi_calendar *calendar, uint32_t rank)
{
    const int64_t last = calendar->current + IWI_CALENDAR_SLOTS - 1,
                  wanted = calendar->turn[rank] >> calendar->shift;
    const uint32_t slot = (uint32_t)(wanted < last ? wanted : last) % IWI_CALENDAR_SLOTS;

    calendar->is_filled |= UINT64_C(1) << slot;
    calendar->sets[slot * calendar->words + rank / 64] |= UINT64_C(1) << rank % 64;
}

/* The rank has something to do at `time`, after the current stretch. */
static inline void iwi_calendar_note(struct iwi_calendar *calendar, uint32_t rank, iw_time time)
{
    if (time < calendar->turn[rank]) {
        calendar->turn[rank] = time;
        iwi_calendar_put(calendar, rank);
    }
}

/* The number of the first stretch in which a rank has its turn; INT64_MAX: there is none. */
int64_t iwi_calendar_first(const struct iwi_calendar *calendar);

/* Goes on to that stretch, which is not after the first that has ranks: they are in `active`, and have no
 * turn until they are noted again. Returns how many. */
uint32_t iwi_calendar_take(struct iwi_calendar *calendar, int64_t stretch);

#endif
