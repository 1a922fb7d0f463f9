/* A ring of stretches of time, each with a set of ranks.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/sim/window/window_calendar.h"

#include <stdlib.h>

#include "core/base/base.h"

iw_status iwi_calendar_init(const iw_log *log, struct iwi_calendar *calendar, uint32_t ranks, iw_time most)
{
    *calendar = (struct iwi_calendar){.ranks = ranks, .words = ((size_t)ranks + 63) / 64, .current = -1};
    while (calendar->shift < 62 && (INT64_C(2) << calendar->shift) <= most) {
        calendar->shift++;
    }
    calendar->sets = iwi_new_array(log, calendar->words * IWI_CALENDAR_SLOTS, sizeof *calendar->sets);
    calendar->turn = iwi_new_array(log, ranks, sizeof *calendar->turn);
    calendar->active = iwi_new_array(log, ranks, sizeof *calendar->active);
    for (uint32_t rank = 0; calendar->turn != NULL && rank < ranks; rank++) {
        calendar->turn[rank] = INT64_MAX;
    }
    return calendar->sets != NULL && calendar->turn != NULL && calendar->active != NULL ? IW_OK
                                                                                        : IW_ERR_NOMEM;
}

void iwi_calendar_release(struct iwi_calendar *calendar)
{
    free(calendar->sets);
    free(calendar->turn);
    free(calendar->active);
}

static int64_t stretch_of(const struct iwi_calendar *calendar, uint32_t rank)
{
    return calendar->turn[rank] == INT64_MAX ? INT64_MAX : calendar->turn[rank] >> calendar->shift;
}

/* Slots that have ranks, the one after the current stretch first. */
static uint64_t filled_in_order(const struct iwi_calendar *calendar)
{
    const uint32_t begin = (uint32_t)(calendar->current + 1) % IWI_CALENDAR_SLOTS;

    return begin == 0 ? calendar->is_filled
                      : calendar->is_filled >> begin | calendar->is_filled << (IWI_CALENDAR_SLOTS - begin);
}

/* The first stretch in which a rank of the slot has its turn; it is not before `stretch`, that of the slot.
 */
static int64_t first_of_slot(const struct iwi_calendar *calendar, int64_t stretch)
{
    const uint64_t *set = calendar->sets + (size_t)(stretch % IWI_CALENDAR_SLOTS) * calendar->words;
    int64_t first = INT64_MAX;

    for (size_t word = 0; word < calendar->words && first > stretch; word++) {
        for (uint64_t left = set[word]; left != 0; left &= left - 1) {
            first =
                iwi_min(first, stretch_of(calendar, (uint32_t)(64 * word) + (uint32_t)__builtin_ctzll(left)));
        }
    }
    return first;
}

int64_t iwi_calendar_first(const struct iwi_calendar *calendar)
{
    int64_t first = INT64_MAX;

    for (uint64_t left = filled_in_order(calendar); left != 0; left &= left - 1) {
        const int64_t stretch = calendar->current + 1 + __builtin_ctzll(left);

        if (first <= stretch) {
            break;
        }
        first = iwi_min(first, first_of_slot(calendar, stretch));
    }
    return first;
}

/* Ranks of the slot whose turn is in the current stretch become active, others are put again. */
static uint32_t empty_slot(struct iwi_calendar *calendar, size_t slot, uint32_t count)
{
    uint64_t *set = calendar->sets + slot * calendar->words;

    for (size_t word = 0; word < calendar->words; word++) {
        uint64_t left = set[word];

        for (set[word] = 0; left != 0; left &= left - 1) {
            const uint32_t rank = (uint32_t)(64 * word) + (uint32_t)__builtin_ctzll(left);
            const int64_t stretch = stretch_of(calendar, rank);

            if (stretch == calendar->current) {
                calendar->active[count++] = rank;
                calendar->turn[rank] = INT64_MAX; /* it may be in other slots too */
            } else if (stretch != INT64_MAX) {
                iwi_calendar_put(calendar, rank);
            }
        }
    }
    return count;
}

uint32_t iwi_calendar_take(struct iwi_calendar *calendar, int64_t stretch)
{
    const int64_t before = calendar->current, passed = stretch - before;
    uint64_t left = filled_in_order(calendar);
    uint32_t count = 0;

    if (passed < IWI_CALENDAR_SLOTS) {
        left &= (UINT64_C(1) << passed) - 1;
    }
    calendar->current = stretch;
    for (uint64_t k = left; k != 0; k &= k - 1) {
        calendar->is_filled &=
            ~(UINT64_C(1) << (uint64_t)(before + 1 + __builtin_ctzll(k)) % IWI_CALENDAR_SLOTS);
    }
    for (; left != 0; left &= left - 1) {
        count =
            empty_slot(calendar, (size_t)(before + 1 + __builtin_ctzll(left)) % IWI_CALENDAR_SLOTS, count);
    }
    return count;
}
