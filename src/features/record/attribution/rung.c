/* What all rungs use: shares, places, and why one does not work.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/record/attribution/rung.h"

#include <stdarg.h>
#include <stdio.h>

#include "core/base/base.h"

iw_status iwi_rung_add(struct iwi_rung_state *rung, size_t place, uint64_t at, uint64_t ticks,
                       uint32_t source)
{
    struct iwi_shares *shares = &rung->shares[place];
    void *array = shares->array;

    IW_TRY(iwi_grow(rung->log, &array, &shares->capacity, shares->count + 1, sizeof *shares->array));
    shares->array = array;
    if (shares->count > 0 && shares->array[shares->count - 1].at > at) {
        at = shares->array[shares->count - 1].at;
    }
    shares->array[shares->count++] = (struct iwi_share){at, ticks, source};
    return IW_OK;
}

size_t iwi_rung_place_of_cpu(const struct iwi_rung_state *rung, uint32_t cpu)
{
    size_t place = 0;

    while (place < rung->count && rung->watched[place].cpu != cpu) {
        place++;
    }
    return place;
}

size_t iwi_rung_place_of_thread(const struct iwi_rung_state *rung, pid_t tid)
{
    size_t place = 0;

    while (place < rung->count && rung->watched[place].tid != tid) {
        place++;
    }
    return place;
}

iw_status iwi_rung_refuse(struct iwi_rung_state *rung, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)vsnprintf(rung->reason, sizeof rung->reason, format, args);
    va_end(args);
    return IW_ERR_IO;
}
