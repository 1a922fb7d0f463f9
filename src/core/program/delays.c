/* Injected delays of a program.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/program/delays.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/order.h"

IWI_COMPARE(compare, iw_delay, IWI_RISING(rank), IWI_RISING(step))

static iw_status check_delay(const iw_log *log, const iw_program *program, const iw_delay *delay)
{
    if (delay->rank >= program->ranks) {
        return iwi_fail(log, IW_ERR_RANGE, "a delay on rank %" PRIu32 ": ranks are 0 to %" PRIu32,
                        delay->rank, program->ranks - 1);
    }
    if (delay->step == 0) {
        return iwi_fail(log, IW_ERR_RANGE, "the delay on rank %" PRIu32 " is in step 0: the first step is 1",
                        delay->rank);
    }
    if (delay->time_ps < 0 || delay->time_ps > IW_TIME_INPUT_MAX) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "the delay on rank %" PRIu32 ", step %" PRIu64 " must last between 0 and 10 days",
                        delay->rank, delay->step);
    }
    return IW_OK;
}

/* Adds neighbours with the same rank and step up; returns how many are left, SIZE_MAX if a sum is absurd. */
static size_t merge(iw_delay *delays, size_t count)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && compare(&delays[kept - 1], &delays[i]) == 0) {
            delays[kept - 1].time_ps += delays[i].time_ps;
            if (delays[kept - 1].time_ps > IW_TIME_INPUT_MAX) {
                return SIZE_MAX;
            }
        } else {
            delays[kept++] = delays[i];
        }
    }
    return kept;
}

iw_status iwi_delays_set(const iw_log *log, iw_program *program, const iw_delay *delays, size_t count)
{
    iw_delay *copy;
    size_t kept;

    for (size_t i = 0; i < count; i++) {
        IW_TRY(check_delay(log, program, &delays[i]));
    }
    copy = iwi_new_array(log, count, sizeof *copy);
    if (copy == NULL) {
        return IW_ERR_NOMEM;
    }
    if (count > 0) {
        memcpy(copy, delays, count * sizeof *copy);
        iwi_sort(copy, count, compare);
    }
    kept = merge(copy, count);
    if (kept == SIZE_MAX) {
        free(copy);
        return iwi_fail(log, IW_ERR_RANGE, "the delays of one rank and step add up to more than 10 days");
    }
    free(program->delays);
    program->delays = copy;
    program->delay_count = kept;
    return IW_OK;
}

iw_time iwi_program_delay(const iw_program *program, uint32_t rank, uint64_t step)
{
    const iw_delay key = {rank, step, 0};
    const iw_delay *found = iwi_find(&key, program->delays, program->delay_count, compare);

    return found == NULL ? 0 : found->time_ps;
}
