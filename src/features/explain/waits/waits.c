/* Who made the others wait in a run: the public functions.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/waits.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/opts.h"
#include "core/base/order.h"
#include "features/explain/waits/waited_run.h"

void iwi_waited_release(struct iwi_waited_run *run)
{
    free(run->awaited);
    free(run->segments);
    free(run->first_segment);
    free(run->iterations.begin_ps);
    free(run->block_end_ps);
    free(run->caused);
    free(run->busy_in_block);
    free(run->caused_in_iteration);
    free(run->waited_in_iteration);
    free(run->pauses);
    free(run->reach_ps);
    free(run->first_pause);
}

static double ns(double ps)
{
    return ps / IW_PS_PER_NS;
}

/* ---- ranks ---- */

static void add_times(const struct iwi_waited_run *run, uint32_t r, iw_waits_rank *rank, iw_waits *waits)
{
    double sum[IWI_DOINGS] = {0.0};

    for (size_t i = run->first_segment[r]; i < run->first_segment[r + 1]; i++) {
        const struct iwi_segment *segment = &run->segments[i];

        sum[segment->doing] += ns((double)(segment->end_ps - segment->begin_ps));
    }
    rank->computing_ns = sum[IWI_DOES_COMPUTE];
    rank->waiting_ns = sum[IWI_DOES_WAIT];
    rank->transfer_ns = sum[IWI_DOES_TRANSFER];
    rank->other_ns = sum[IWI_DOES_OTHER];
    rank->caused_ns = ns(run->caused[r]);
    waits->computing_ns += rank->computing_ns;
    waits->waiting_ns += rank->waiting_ns;
    waits->transfer_ns += rank->transfer_ns;
    waits->other_ns += rank->other_ns;
}

static void describe_ranks(const struct iwi_waited_run *run, iw_waits *waits, iw_waits_rank *by_index)
{
    for (uint32_t r = 0; r < run->rank_count; r++) {
        const struct iwi_visit_rank *from = &run->visits->ranks[r];

        by_index[r].rank = from->number;
        by_index[r].stage = from->stage == IWI_VISIT_NO_STAGE ? -1 : (int32_t)from->stage;
        (void)snprintf(by_index[r].node, sizeof by_index[r].node, "%s", from->node);
        add_times(run, r, &by_index[r], waits);
    }
}

/* ---- all of it ---- */

/* Those that are named by how much longer they were busy, then the others by what they caused. */
static int compare_ranks(const void *left, const void *right)
{
    const iw_waits_rank *a = left, *b = right;
    const bool is_named = a->pattern != IW_WAITS_ORDINARY;

    if (is_named != (b->pattern != IW_WAITS_ORDINARY)) {
        return is_named ? -1 : 1;
    }
    if (is_named && a->longer_ns != b->longer_ns) {
        return a->longer_ns < b->longer_ns ? 1 : -1;
    }
    return a->caused_ns != b->caused_ns ? (a->caused_ns < b->caused_ns ? 1 : -1)
                                        : (a->rank > b->rank) - (a->rank < b->rank);
}

static iw_status find_waits(struct iwi_waited_run *run, iw_waits *waits)
{
    IW_TRY(iwi_waited_await(run));
    IW_TRY(iwi_waited_segment(run));
    IW_TRY(iwi_waited_iterate(run));
    IW_TRY(iwi_waited_block(run));
    IW_TRY(iwi_waited_blame(run));
    waits->run_ns = ns((double)(run->end_ps - run->begin_ps));
    return IW_OK;
}

static void describe(const struct iwi_waited_run *run, iw_waits *waits)
{
    const struct iwi_visits *visits = run->visits;
    const uint32_t run_ranks = iwi_visits_least_ranks(visits);

    (void)snprintf(waits->origin, sizeof waits->origin, "%s", visits->origin);
    waits->rank_count = run->rank_count;
    waits->run_ranks = run_ranks > run->rank_count ? run_ranks : 0;
    iw_caveats_of_ranks(waits->name, run->rank_count, run_ranks > 0 ? run_ranks : run->rank_count,
                        &waits->caveats);
    waits->unmatched = visits->unmatched;
    waits->through_transfer_ns = ns(run->through_transfer_ps);
    for (size_t i = 0; i < visits->visit_count; i++) {
        waits->unordered += run->awaited[i].is_unordered;
    }
}

static iw_status answer(const struct iwi_waited_run *run, iw_waits *waits)
{
    waits->ranks = iwi_new_array(run->log, run->rank_count, sizeof *waits->ranks);
    if (waits->ranks == NULL) {
        return IW_ERR_NOMEM;
    }
    waits->ranks_count = run->rank_count;
    describe(run, waits);
    describe_ranks(run, waits, waits->ranks);
    IW_TRY(iwi_waited_arrivals(run, waits, waits->ranks));
    IW_TRY(iwi_waited_clock(run, waits));
    IW_TRY(iwi_waited_judge(run, waits, waits->ranks));
    IW_TRY(iwi_waited_times(run, waits));
    IW_TRY(iwi_waited_parts(run, waits->ranks, waits));
    IW_TRY(iwi_waited_map(run, waits));
    IW_TRY(iwi_waited_costs(run, waits));
    if (waits->collectives + waits->messages == 0) {
        IW_TRY(iwi_waited_bounds(run, waits));
    }
    iwi_sort(waits->ranks, waits->ranks_count, compare_ranks);
    return IW_OK;
}

static iw_status check(const iw_log *log, const char *name, const iw_visits *visits)
{
    return visits->visit_count == 0 || visits->rank_count == 0
               ? iwi_fail(log, IW_ERR_UNSUPPORTED,
                          "'%s': there is no collective and no message in it, so nobody waits for anybody",
                          name)
               : IW_OK;
}

iw_status iw_waits_run(const iw_log *log, const char *name, const iw_visits *visits,
                       const iw_waits_opts *opts, iw_waits **waits_p)
{
    struct iwi_waited_run run = {.log = log, .visits = visits, .rank_count = (uint32_t)visits->rank_count};
    iw_waits_opts known = IW_WAITS_OPTS_INIT;
    iw_waits *waits;
    iw_status status;

    IW_TRY(IWI_READ_OPTS(log, "IW_WAITS_OPTS_INIT", opts, &known));
    IW_TRY(check(log, name, visits));
    waits = iwi_new_array(log, 1, sizeof *waits);
    if (waits == NULL) {
        return IW_ERR_NOMEM;
    }
    waits->least_share = known.least_share;
    waits->top = known.top;
    waits->name = strdup(name);
    waits->lacks = strdup(visits->lacks);
    status = waits->name != NULL && waits->lacks != NULL ? find_waits(&run, waits)
                                                         : iwi_fail(log, IW_ERR_NOMEM, "out of memory");
    status = status == IW_OK ? answer(&run, waits) : status;
    iwi_waited_release(&run);
    if (status != IW_OK) {
        iw_waits_free(waits);
        return status;
    }
    *waits_p = waits;
    return IW_OK;
}

void iw_waits_free(iw_waits *waits)
{
    if (waits == NULL) {
        return;
    }
    for (size_t i = 0; waits->map != NULL && i < waits->row_count; i++) {
        free(waits->map[i].waiting);
        free(waits->map[i].caused);
    }
    free(waits->name);
    free(waits->lacks);
    free(waits->ranks);
    free(waits->nodes);
    free(waits->stages);
    free(waits->groups);
    free(waits->ops);
    free(waits->causes);
    free(waits->costs);
    free(waits->changes);
    free(waits->times_ns);
    free(waits->map);
    free(waits);
}
