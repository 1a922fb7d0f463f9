/* Parts and wholes: the ends of intervals keep to what all trials do.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/whatif/wholes.h"

#include <math.h>

#include "features/whatif/changes.h"

static double smaller(double a, double b)
{
    return b < a ? b : a; /* NaN is no bound */
}

static double larger(double a, double b)
{
    return b > a ? b : a;
}

static bool is_removal(const iw_change *change)
{
    const struct iwi_variant variant = iwi_variant_of(change);

    return iwi_is_removal(&variant);
}

/* All that `part` removes goes with `whole` too. */
static bool is_part(const iw_change *part, const iw_change *whole, size_t part_count)
{
    for (size_t i = 0; i < part_count; i++) {
        if (part->is_removed[i] && !whole->is_removed[i]) {
            return false;
        }
    }
    return true;
}

static void keep_below(iw_estimate *e, iw_estimate now)
{
    e->low = smaller(e->low, now.low);
    e->high = smaller(e->high, now.high);
}

void iwi_keep_below_now(iw_change *change, iw_estimate now)
{
    if (change->kind != IW_CHANGE_APART) { /* that is another question */
        keep_below(&change->saving, now);
    }
    if (is_removal(change)) {
        keep_below(&change->slowdown, now);
    }
}

void iwi_keep_among_wholes(iw_change *change, const iw_change *others, size_t count, size_t part_count)
{
    for (size_t i = 0; i < count && is_removal(change); i++) {
        const iw_change *other = &others[i];

        if (!is_removal(other)) {
            continue;
        }
        if (is_part(change, other, part_count)) {
            change->saving.high = smaller(change->saving.high, other->saving.high);
            change->slowdown.low = larger(change->slowdown.low, other->slowdown.low);
        }
        if (is_part(other, change, part_count)) {
            change->saving.low = larger(change->saving.low, other->saving.low);
            change->slowdown.high = smaller(change->slowdown.high, other->slowdown.high);
        }
    }
}
