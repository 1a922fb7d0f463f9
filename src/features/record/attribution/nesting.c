/* Turns entries, exits and switches into shares: the time of each goes to what was innermost.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/record/attribution/nesting.h"

#include "core/base/base.h"

void iwi_nesting_begin(struct iwi_nesting *nesting, struct iwi_rung_state *rung, size_t place)
{
    *nesting = (struct iwi_nesting){.rung = rung, .place = place, .stack = {IWI_NO_SOURCE}};
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
    return source == IWI_NO_SOURCE ? IW_OK
                                   : iwi_rung_add(nesting->rung, nesting->place, since, at - since, source);
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
    const struct iwi_shares *shares = &nesting->rung->shares[nesting->place];
    uint64_t from = nesting->since;

    if (shares->count > 0 && shares->array[shares->count - 1].at > from) {
        from = shares->array[shares->count - 1].at;
    }
    at = at > from ? at : from;
    nesting->since = at;
    nesting->depth = 0;
    nesting->stack[0] = IWI_NO_SOURCE;
    return at > from ? iwi_rung_add(nesting->rung, nesting->place, from, at - from, IWI_NO_SOURCE) : IW_OK;
}
