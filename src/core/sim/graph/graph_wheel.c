/* A wheel of stretches of time.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/sim/graph/graph_wheel.h"

#include <stdlib.h>

void iwi_wheel_init(struct iwi_wheel *wheel, iw_time most)
{
    *wheel = (struct iwi_wheel){.far_first = INT64_MAX};
    while (wheel->shift < 62 && (INT64_C(2) << wheel->shift) <= most) {
        wheel->shift++;
    }
}

void iwi_wheel_release(struct iwi_wheel *wheel)
{
    for (size_t i = 0; i < IWI_WHEEL_SLOTS; i++) {
        free(wheel->slots[i].ranks);
    }
    free(wheel->far.ranks);
}

static iw_status append(const iw_log *log, struct iwi_wheel_slot *slot, uint32_t rank)
{
    if (slot->count == slot->capacity) {
        IW_TRY(iwi_grow(log, (void **)&slot->ranks, &slot->capacity, slot->count + 1, sizeof *slot->ranks));
    }
    slot->ranks[slot->count++] = rank;
    return IW_OK;
}

iw_status iwi_wheel_put(const iw_log *log, struct iwi_wheel *wheel, uint32_t rank, iw_time time)
{
    const int64_t stretch = time >> wheel->shift;
    const size_t at = (size_t)stretch % IWI_WHEEL_SLOTS;

    if (stretch - wheel->first >= IWI_WHEEL_SLOTS) {
        wheel->far_first = iwi_min(wheel->far_first, stretch);
        return append(log, &wheel->far, rank);
    }
    wheel->is_filled[at / 64] |= UINT64_C(1) << at % 64;
    return append(log, &wheel->slots[at], rank);
}

/* The first stretch on the wheel that has ranks; INT64_MAX if none has. */
static int64_t first_filled(const struct iwi_wheel *wheel)
{
    const size_t begin = (size_t)wheel->first % IWI_WHEEL_SLOTS;

    for (size_t passed = 0; passed < IWI_WHEEL_SLOTS;) {
        const size_t at = (begin + passed) % IWI_WHEEL_SLOTS;
        const uint64_t left = wheel->is_filled[at / 64] >> at % 64;

        if (left != 0) {
            const size_t found = passed + (size_t)__builtin_ctzll(left);

            return found < IWI_WHEEL_SLOTS ? wheel->first + (int64_t)found : INT64_MAX;
        }
        passed += 64 - at % 64;
    }
    return INT64_MAX;
}

int64_t iwi_wheel_peek(const struct iwi_wheel *wheel)
{
    return iwi_min(first_filled(wheel), wheel->far_first);
}

/* The far ranks that have come near get their places on the wheel. */
static iw_status bring_near(const iw_log *log, struct iwi_wheel *wheel, struct iwi_wheel_turns turns)
{
    struct iwi_wheel_slot far = wheel->far;
    iw_status status = IW_OK;

    wheel->far = (struct iwi_wheel_slot){NULL, 0, 0};
    wheel->far_first = INT64_MAX;
    for (size_t i = 0; i < far.count && status == IW_OK; i++) {
        const uint32_t rank = far.ranks[i];
        const iw_time turn = *(const iw_time *)(const void *)(turns.first + rank * turns.step);

        if (turn >> wheel->shift >= wheel->first && turn != INT64_MAX) {
            status = iwi_wheel_put(log, wheel, rank, turn);
        }
    }
    free(far.ranks);
    return status;
}

iw_status iwi_wheel_turn(const iw_log *log, struct iwi_wheel *wheel, int64_t stretch,
                         struct iwi_wheel_turns turns, struct iwi_wheel_slot **slot_p)
{
    wheel->first = stretch;
    if (wheel->far_first <= stretch) {
        IW_TRY(bring_near(log, wheel, turns));
    }
    *slot_p = &wheel->slots[(size_t)stretch % IWI_WHEEL_SLOTS];
    return IW_OK;
}

void iwi_wheel_clear(struct iwi_wheel *wheel)
{
    const size_t at = (size_t)wheel->first % IWI_WHEEL_SLOTS;

    wheel->slots[at].count = 0;
    wheel->is_filled[at / 64] &= ~(UINT64_C(1) << at % 64);
}
