/* What detours took: by source, and the worst of them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/noise/stream.h"

/* Whether `a` comes before `b` in a list of what took most. */
static bool is_worse(const iw_hit *a, const iw_hit *b)
{
    if (a->lost_ps != b->lost_ps) {
        return a->lost_ps > b->lost_ps;
    }
    if (a->at_ps != b->at_ps) {
        return a->at_ps < b->at_ps;
    }
    return a->rank != b->rank ? a->rank < b->rank : a->source < b->source;
}

void iwi_lost_keep(const struct iwi_lost *lost, iw_hit hit)
{
    size_t at = lost->worst_count;

    while (at > 0 && is_worse(&hit, &lost->worst[at - 1])) {
        at--;
        if (at + 1 < lost->worst_count) {
            lost->worst[at + 1] = lost->worst[at];
        }
    }
    if (at < lost->worst_count) {
        lost->worst[at] = hit;
    }
}

void iwi_lost_add(const struct iwi_lost *lost, iw_hit hit)
{
    lost->by_source[hit.source] += hit.lost_ps;
    iwi_lost_keep(lost, hit);
}
