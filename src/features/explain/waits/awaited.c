/* Whom each visit waits for.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * In a collective whose result needs all ranks a rank waits for the one that comes last. Of others it waits
 * for the last that came while it was there; behind a root, for the root, which itself waits for nobody if
 * it has little to send.
 */
#include <stdlib.h>

#include "core/base/order.h"
#include "features/explain/waits/waited_run.h"

struct arrival {
    iw_time enter_ps;
    uint32_t rank;
};

IWI_COMPARE(compare_arrivals, struct arrival, IWI_RISING(enter_ps), IWI_RISING(rank))

static bool needs_all(unsigned op)
{
    return op == IWI_VISIT_ALLREDUCE || op == IWI_VISIT_ALLGATHER || op == IWI_VISIT_REDUCE_SCATTER ||
           op == IWI_VISIT_ALLTOALL || op == IWI_VISIT_BARRIER;
}

/* The last that came before an instant; sorted. */
static const struct arrival *last_before(const struct arrival *arrivals, uint32_t count, iw_time at_ps)
{
    size_t at;

    IWI_FIRST_NOT(at, 0, count, arrivals[at].enter_ps <= at_ps);
    return at > 0 ? &arrivals[at - 1] : NULL;
}

static const struct arrival *arrival_of(const struct arrival *arrivals, uint32_t count, uint32_t rank)
{
    for (uint32_t i = 0; i < count; i++) {
        if (arrivals[i].rank == rank) {
            return &arrivals[i];
        }
    }
    return NULL;
}

static struct iwi_awaited awaited_by(const struct iwi_visit *visit, const struct arrival *arrivals,
                                     uint32_t count, const struct arrival *root)
{
    const struct arrival *one;

    if (visit->has_root && visit->rank != visit->root) {
        one = root;
    } else if (visit->has_root && visit->bytes < IWI_LEAST_RENDEZVOUS_BYTES) {
        one = NULL;
    } else if (needs_all(visit->op)) {
        one = &arrivals[count - 1];
    } else {
        one = last_before(arrivals, count, visit->leave_ps);
    }
    if (one == NULL || one->rank == visit->rank || one->enter_ps <= visit->enter_ps) {
        return (struct iwi_awaited){.rank = IWI_NOBODY, .start_ps = visit->enter_ps};
    }
    return (struct iwi_awaited){.rank = one->rank,
                                .start_ps = iwi_min(one->enter_ps, visit->leave_ps),
                                .is_unordered = one->enter_ps > visit->leave_ps};
}

static void await_encounter(struct iwi_waited_run *run, const struct iwi_encounter *encounter,
                            struct arrival *arrivals)
{
    const struct iwi_visit *visits = &run->visits->visits[encounter->first];
    const struct arrival *root;

    for (uint32_t i = 0; i < encounter->count; i++) {
        arrivals[i] = (struct arrival){visits[i].enter_ps, visits[i].rank};
    }
    iwi_sort(arrivals, encounter->count, compare_arrivals);
    root = visits[0].has_root ? arrival_of(arrivals, encounter->count, visits[0].root) : NULL;
    for (uint32_t i = 0; i < encounter->count; i++) {
        run->awaited[encounter->first + i] = awaited_by(&visits[i], arrivals, encounter->count, root);
    }
}

iw_status iwi_waited_await(struct iwi_waited_run *run)
{
    struct arrival *arrivals = iwi_new_array(run->log, run->rank_count, sizeof *arrivals);

    run->awaited = iwi_new_array(run->log, run->visits->visit_count, sizeof *run->awaited);
    if (arrivals == NULL || run->awaited == NULL) {
        free(arrivals);
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < run->visits->encounter_count; i++) {
        await_encounter(run, &run->visits->encounters[i], arrivals);
    }
    free(arrivals);
    return IW_OK;
}
