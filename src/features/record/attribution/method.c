/* What all methods use: shares, places, and why one does not work.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/record/attribution/method.h"

#include <stdarg.h>
#include <stdio.h>

#include "core/base/base.h"

void iwi_nesting_begin(struct iwi_nesting *nesting, struct iwi_method *method, size_t place)
{
    *nesting = (struct iwi_nesting){.method = method, .place = place, .stack = {IWI_NO_SOURCE}};
}

/* Gives the time since the last change to what ran. */
static iw_status settle(struct iwi_nesting *nesting, uint64_t at)
{
    const uint32_t source = nesting->stack[nesting->depth];
    const uint64_t since = nesting->since;

    if (at <= since) {
        return IW_OK;
    }
    nesting->since = at;
    return source == IWI_NO_SOURCE
               ? IW_OK
               : iwi_method_add(nesting->method, nesting->place, since, at - since, source);
}

iw_status iwi_nesting_enter(struct iwi_nesting *nesting, uint64_t at, uint32_t source)
{
    IW_TRY(settle(nesting, at));
    if (nesting->depth < IWI_NESTING_DEPTH) { /* deeper than any kernel nests: exits must have been lost */
        nesting->stack[++nesting->depth] = source;
    }
    return IW_OK;
}

iw_status iwi_nesting_leave(struct iwi_nesting *nesting, uint64_t at)
{
    IW_TRY(settle(nesting, at));
    if (nesting->depth > 0) {
        nesting->depth--;
    }
    return IW_OK;
}

iw_status iwi_nesting_switch(struct iwi_nesting *nesting, uint64_t at, uint32_t source)
{
    IW_TRY(settle(nesting, at));
    nesting->depth = 0;
    nesting->stack[0] = source;
    return IW_OK;
}

iw_status iwi_nesting_reset(struct iwi_nesting *nesting, uint64_t at)
{
    const struct iwi_shares *shares = &nesting->method->shares[nesting->place];
    uint64_t from = nesting->since;

    if (shares->count > 0 && shares->array[shares->count - 1].at > from) {
        from = shares->array[shares->count - 1].at;
    }
    at = at > from ? at : from;
    nesting->since = at;
    nesting->depth = 0;
    nesting->stack[0] = IWI_NO_SOURCE;
    return at > from ? iwi_method_add(nesting->method, nesting->place, from, at - from, IWI_NO_SOURCE)
                     : IW_OK;
}

iw_status iwi_method_add(struct iwi_method *method, size_t place, uint64_t at, uint64_t ticks,
                         uint32_t source)
{
    struct iwi_shares *shares = &method->shares[place];
    void *array = shares->array;

    IW_TRY(iwi_grow(method->log, &array, &shares->capacity, shares->count + 1, sizeof *shares->array));
    shares->array = array;
    if (shares->count > 0 && shares->array[shares->count - 1].at > at) {
        at = shares->array[shares->count - 1].at;
    }
    shares->array[shares->count++] = (struct iwi_share){at, ticks, source};
    return IW_OK;
}

size_t iwi_method_place_of_cpu(const struct iwi_method *method, uint32_t cpu)
{
    size_t place = 0;

    while (place < method->count && method->watched[place].cpu != cpu) {
        place++;
    }
    return place;
}

size_t iwi_method_place_of_thread(const struct iwi_method *method, pid_t tid)
{
    size_t place = 0;

    while (place < method->count && method->watched[place].tid != tid) {
        place++;
    }
    return place;
}

iw_status iwi_method_refuse(struct iwi_method *method, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)vsnprintf(method->reason, sizeof method->reason, format, args);
    va_end(args);
    return IW_ERR_IO;
}
