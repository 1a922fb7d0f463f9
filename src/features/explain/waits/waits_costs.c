/* What the pauses of a run cost, in words and numbers for the result.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "features/explain/arrivals/pause_costs.h"
#include "features/explain/waits/waited_run.h"

static const char *cause_name(uint8_t cause)
{
    return cause == IWI_PAUSE_CAUSES ? "all pauses" : iwi_pause_cause_name(cause);
}

static void describe(const struct iwi_visits *visits, const struct iwi_pause_cost *from, iw_waits_cost *to)
{
    *to = (iw_waits_cost){.ranks = from->ranks,
                          .pauses = from->pauses,
                          .paused_ns = from->paused_ns,
                          .saved_ns = from->saved_ns,
                          .share = from->share};
    (void)snprintf(to->cause, sizeof to->cause, "%s", cause_name(from->cause));
    if (from->node[0] != '\0') {
        (void)snprintf(to->where, sizeof to->where, "node %.*s", (int)sizeof to->where - 6, from->node);
    } else if (from->rank != IWI_PAUSE_EVERYWHERE) {
        (void)snprintf(to->where, sizeof to->where, "rank %" PRIu32, visits->ranks[from->rank].number);
    } else {
        (void)snprintf(to->where, sizeof to->where, "everywhere");
    }
}

/* "ranks 3, 17 and others": those of the rows that follow, as many as fit. */
static void name_culprits(const struct iwi_visits *visits, const struct iwi_pause_costs *costs, size_t whole,
                          iw_waits_cost *to)
{
    const size_t room = sizeof to->culprits - sizeof ", 4294967295 and others";
    size_t size = 0, count = 0;

    for (size_t i = whole + 1; i < costs->count && costs->of[i].cause == costs->of[whole].cause; i++) {
        if (costs->of[i].rank == IWI_PAUSE_EVERYWHERE) {
            continue;
        }
        if (size > room) {
            (void)snprintf(to->culprits + size, sizeof to->culprits - size, " and others");
            return;
        }
        size += (size_t)snprintf(to->culprits + size, sizeof to->culprits - size, "%s%" PRIu32,
                                 count++ > 0 ? ", " : "ranks ", visits->ranks[costs->of[i].rank].number);
    }
    if (count == 1) { /* "rank 3" */
        memmove(to->culprits + 4, to->culprits + 5, size - 4);
    }
}

iw_status iwi_waited_costs(const struct iwi_waited_run *run, iw_waits *waits)
{
    struct iwi_pause_costs costs;
    iw_status status = IW_OK;

    IW_TRY(iwi_pause_costs_find(run->visits, &costs));
    waits->costs = iwi_new_array(run->log, costs.count, sizeof *waits->costs);
    if (waits->costs == NULL) {
        status = IW_ERR_NOMEM;
    } else {
        waits->cost_count = costs.count;
        waits->steps = costs.step_count;
        waits->step_ns = costs.step_ns;
        for (size_t i = 0; i < costs.count; i++) {
            describe(run->visits, &costs.of[i], &waits->costs[i]);
            if (strcmp(waits->costs[i].where, "everywhere") == 0) {
                name_culprits(run->visits, &costs, i, &waits->costs[i]);
            }
        }
    }
    iwi_pause_costs_release(&costs);
    return status;
}
