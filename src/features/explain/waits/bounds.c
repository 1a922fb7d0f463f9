/* What one rank's trace can tell of waiting: bounds.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A collective takes transfer and waiting together, and one rank does not see when the others came. Of
 * repetitions that are equal the shortest waited least, so that none transfers for longer than it took, if
 * transfers are equal too. So of n repetitions of duration d:
 *
 *     sum d - n min d  <=  waiting  <=  sum d
 */
#include <stdlib.h>

#include "core/base/order.h"
#include "features/explain/waits/waited_run.h"

struct repetition {
    uint32_t rank, group;
    uint64_t bytes;
    iw_time took_ps;
    uint8_t op;
};

static int compare_kinds(const struct repetition *a, const struct repetition *b)
{
    int sign = iwi_order(a->rank, b->rank);

    sign = sign != 0 ? sign : iwi_order(a->group, b->group);
    sign = sign != 0 ? sign : iwi_order(a->op, b->op);
    return sign != 0 ? sign : iwi_order(a->bytes, b->bytes);
}

static int compare_repetitions(const void *left, const void *right)
{
    const struct repetition *a = left, *b = right;
    const int sign = compare_kinds(a, b);

    return sign != 0 ? sign : iwi_order_signed(a->took_ps, b->took_ps);
}

iw_status iwi_waited_bounds(const struct iwi_waited_run *run, iw_waits *waits)
{
    const size_t count = run->visits->visit_count;
    struct repetition *all = iwi_new_array(run->log, count, sizeof *all);
    iw_time least_ps = 0;

    if (all == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        const struct iwi_visit *visit = &run->visits->visits[i];

        all[i] =
            (struct repetition){visit->rank, visit->group, visit->bytes,
                                iwi_max(0, visit->leave_ps - visit->enter_ps - visit->ahead_ps), visit->op};
        waits->waiting_most_ns += (double)all[i].took_ps / IW_PS_PER_NS;
    }
    qsort(all, count, sizeof *all, compare_repetitions);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || compare_kinds(&all[i], &all[i - 1]) != 0) {
            least_ps = all[i].took_ps;
        }
        waits->waiting_least_ns += (double)(all[i].took_ps - least_ps) / IW_PS_PER_NS;
    }
    waits->has_bounds_only = true;
    free(all);
    return IW_OK;
}
