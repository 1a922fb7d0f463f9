/* What one rank's trace can tell of waiting: bounds.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A collective takes transfer and waiting together, and one rank does not see when the others came. Only what
 * computation does not hide delays the rank: that part e of the duration d is what the rank's time counts as
 * its collectives. Repetitions that are equal transfer equally long, so none transfers for longer than the
 * shortest took:
 *
 *     sum max(0, e - min d)  <=  waiting  <=  sum e
 *
 * Of unknown size none is known to be equal to another.
 */
#include <stdlib.h>

#include "core/base/order.h"
#include "features/explain/waits/waited_run.h"

struct repetition {
    uint32_t rank, group;
    uint64_t bytes;
    iw_time took_ps, exposed_ps;
    uint8_t op;
};

static int compare_kinds(const struct repetition *a, const struct repetition *b)
{
    int sign = iwi_order(a->rank, b->rank);

    sign = sign != 0 ? sign : iwi_order(a->group, b->group);
    sign = sign != 0 ? sign : iwi_order(a->op, b->op);
    return sign != 0 ? sign : iwi_order(a->bytes, b->bytes);
}

IWI_COMPARE(compare_repetitions, struct repetition, compare_kinds(left, right), IWI_RISING(took_ps))

static void take_visits(const struct iwi_waited_run *run, struct repetition *all)
{
    for (size_t i = 0; i < run->visits->visit_count; i++) {
        const struct iwi_visit *visit = &run->visits->visits[i];

        all[i] = (struct repetition){.rank = visit->rank,
                                     .group = visit->group,
                                     .bytes = visit->bytes,
                                     .took_ps = visit->leave_ps - visit->enter_ps,
                                     .op = visit->op};
    }
    for (size_t i = 0; i < run->segment_count; i++) {
        const struct iwi_segment *segment = &run->segments[i];

        if (segment->doing == IWI_DOES_WAIT || segment->doing == IWI_DOES_TRANSFER) {
            all[segment->visit].exposed_ps += segment->end_ps - segment->begin_ps;
        }
    }
}

static bool has_size(const struct repetition *one)
{
    return one->bytes > 0 || one->op == IWI_VISIT_BARRIER;
}

iw_status iwi_waited_bounds(const struct iwi_waited_run *run, iw_waits *waits)
{
    const size_t count = run->visits->visit_count;
    struct repetition *all = iwi_new_array(run->log, count, sizeof *all);
    iw_time least_ps = 0;

    if (all == NULL) {
        return IW_ERR_NOMEM;
    }
    take_visits(run, all);
    iwi_sort(all, count, compare_repetitions);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || compare_kinds(&all[i], &all[i - 1]) != 0) {
            least_ps = all[i].took_ps;
        }
        waits->waiting_most_ns += (double)all[i].exposed_ps / IW_PS_PER_NS;
        if (has_size(&all[i]) && all[i].exposed_ps > least_ps) {
            waits->waiting_least_ns += (double)(all[i].exposed_ps - least_ps) / IW_PS_PER_NS;
        }
    }
    waits->has_bounds_only = true;
    free(all);
    return IW_OK;
}
