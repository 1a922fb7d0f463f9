/* Reruns without each cause, and without each cause on single ranks and nodes.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/order.h"
#include "core/stats/mean_interval.h"
#include "features/explain/arrivals/rerun.h"

/* Of one cause: those with the longest pauses are tried. */
enum { MOST_RANKS = 24, MOST_NODES = 8 };

/* Of what leaving the cause out everywhere saves, a culprit saves at least this share. */
static const double LEAST_PART = 0.05;

/* What is left out. */
struct choice {
    uint8_t cause;    /* IWI_PAUSE_CAUSES: any */
    uint32_t rank;    /* or IWI_PAUSE_EVERYWHERE */
    const char *node; /* NULL: any */
};

/* Pauses of one rank or node. */
struct suspect {
    uint32_t rank;
    const char *node;
    double paused_ns;
};

struct finder {
    const struct iwi_visits *visits;
    struct iwi_rerun *rerun;
    struct iwi_pause_costs *costs;
    bool *is_left_out;
    iw_time *traced_ps, *steps_ps;
    double *saved_ns;
    struct suspect *suspects;
    bool *has_some; /* of ranks: such pauses */
};

/* ---- clocks ---- */

static bool is_synchronising(const struct iwi_visit *visit)
{
    return visit->op == IWI_VISIT_ALLREDUCE || visit->op == IWI_VISIT_BARRIER;
}

/* Half of the range of the ends of a collective, which should be one time; the median over all of them. */
static iw_status judge_clocks(const struct iwi_visits *visits, double *clock_ns_p)
{
    double *ranges_ns = iwi_new_array(visits->log, visits->encounter_count, sizeof *ranges_ns);
    size_t count = 0;

    if (ranges_ns == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < visits->encounter_count; i++) {
        const struct iwi_visit *of = &visits->visits[visits->encounters[i].first];
        iw_time first_ps = INT64_MAX, last_ps = INT64_MIN;

        for (uint32_t v = 0; v < visits->encounters[i].count; v++) {
            first_ps = iwi_min(first_ps, of[v].leave_ps);
            last_ps = iwi_max(last_ps, of[v].leave_ps);
        }
        if (visits->encounters[i].count > 1 && is_synchronising(of)) {
            ranges_ns[count++] = (double)(last_ps - first_ps) / 2.0 / IW_PS_PER_NS;
        }
    }
    iwi_sort_doubles(ranges_ns, count);
    *clock_ns_p = count > 0 ? ranges_ns[count / 2] : 0.0;
    free(ranges_ns);
    return IW_OK;
}

/* ---- one rerun ---- */

static bool is_chosen(const struct iwi_visits *visits, const struct choice *choice,
                      const struct iwi_pause *pause)
{
    return (choice->cause == IWI_PAUSE_CAUSES || choice->cause == pause->cause) &&
           (choice->rank == IWI_PAUSE_EVERYWHERE || choice->rank == pause->rank) &&
           (choice->node == NULL || strcmp(choice->node, visits->ranks[pause->rank].node) == 0);
}

/* Marks what is left out, and counts it. */
static struct iwi_pause_cost leave_out(const struct finder *f, const struct choice *choice)
{
    struct iwi_pause_cost cost = {.cause = choice->cause, .rank = choice->rank};

    memset(f->has_some, 0, f->visits->rank_count * sizeof f->has_some[0]);
    (void)snprintf(cost.node, sizeof cost.node, "%s", choice->node != NULL ? choice->node : "");
    for (size_t i = 0; i < f->visits->pause_count; i++) {
        const struct iwi_pause *pause = &f->visits->pauses[i];

        f->is_left_out[i] = is_chosen(f->visits, choice, pause);
        if (f->is_left_out[i]) {
            cost.pauses++;
            cost.paused_ns += (double)(pause->end_ps - pause->begin_ps) / IW_PS_PER_NS;
            cost.ranks += !f->has_some[pause->rank];
            f->has_some[pause->rank] = true;
        }
    }
    return cost;
}

/* Nothing is saved in most steps where pauses are rare: such intervals are skewed, and end at 0. Of a few
 * steps Student's is the best there is. */
static iw_estimate estimate(const double *saved_ns, size_t count, double clock_ns)
{
    const iw_estimate mean =
        count >= IW_LEAST_TRIALS ? iwi_mean_estimate(saved_ns, count) : iwi_student_estimate(saved_ns, count);
    const double low = mean.low - clock_ns;

    return (iw_estimate){mean.value, mean.value >= 0.0 && low < 0.0 ? 0.0 : low, mean.high + clock_ns};
}

static iw_status find_cost(const struct finder *f, const struct choice *choice, struct iwi_pause_cost *cost_p)
{
    struct iwi_pause_costs *costs = f->costs;

    *cost_p = leave_out(f, choice);
    IW_TRY(iwi_rerun_run(f->rerun, f->is_left_out, f->steps_ps));
    for (size_t k = 0; k < costs->step_count; k++) {
        f->saved_ns[k] = (double)(f->traced_ps[k] - f->steps_ps[k]) / IW_PS_PER_NS;
    }
    cost_p->saved_ns = estimate(f->saved_ns, costs->step_count, costs->clock_ns);
    cost_p->share =
        (iw_estimate){cost_p->saved_ns.value / costs->step_ns, cost_p->saved_ns.low / costs->step_ns,
                      fmin(1.0, cost_p->saved_ns.high / costs->step_ns)};
    return IW_OK;
}

static iw_status add_cost(struct finder *f, const struct iwi_pause_cost *cost)
{
    struct iwi_pause_costs *costs = f->costs;

    IW_TRY(iwi_grow(f->visits->log, (void **)&costs->of, &costs->capacity, costs->count + 1,
                    sizeof costs->of[0]));
    costs->of[costs->count++] = *cost;
    return IW_OK;
}

/* ---- whose pauses they are ---- */

IWI_COMPARE(compare_suspects, struct suspect, IWI_FALLING(paused_ns))

/* The first rank of its node, if that has several. */
static bool stands_for_node(const struct iwi_visits *visits, uint32_t rank)
{
    uint32_t others = 0;

    if (visits->ranks[rank].node[0] == '\0') {
        return false;
    }
    for (uint32_t r = 0; r < visits->rank_count; r++) {
        if (strcmp(visits->ranks[r].node, visits->ranks[rank].node) == 0) {
            if (r < rank) {
                return false;
            }
            others += r > rank;
        }
    }
    return others > 0 && others + 1 < visits->rank_count;
}

static size_t list_suspects(const struct finder *f, unsigned cause)
{
    const struct iwi_visits *visits = f->visits;
    size_t count = visits->rank_count;

    for (uint32_t r = 0; r < visits->rank_count; r++) {
        f->suspects[r] = (struct suspect){.rank = r};
    }
    for (size_t i = 0; i < visits->pause_count; i++) {
        const struct iwi_pause *pause = &visits->pauses[i];

        if (pause->cause == cause) {
            f->suspects[pause->rank].paused_ns += (double)(pause->end_ps - pause->begin_ps) / IW_PS_PER_NS;
        }
    }
    for (uint32_t r = 0; r < visits->rank_count; r++) {
        if (stands_for_node(visits, r)) {
            struct suspect node = {.rank = IWI_PAUSE_EVERYWHERE, .node = visits->ranks[r].node};

            for (uint32_t s = r; s < visits->rank_count; s++) {
                node.paused_ns +=
                    strcmp(visits->ranks[s].node, node.node) == 0 ? f->suspects[s].paused_ns : 0.0;
            }
            f->suspects[count++] = node;
        }
    }
    iwi_sort(f->suspects, count, compare_suspects);
    return count;
}

static iw_status add_culprits(struct finder *f, const struct iwi_pause_cost *whole)
{
    const size_t suspects = list_suspects(f, whole->cause);
    unsigned ranks = 0, nodes = 0;

    for (size_t i = 0; i < suspects && f->suspects[i].paused_ns > 0.0; i++) {
        const struct choice choice = {whole->cause, f->suspects[i].rank, f->suspects[i].node};
        struct iwi_pause_cost cost;

        if (choice.node == NULL ? ++ranks > MOST_RANKS : ++nodes > MOST_NODES) {
            continue;
        }
        IW_TRY(find_cost(f, &choice, &cost));
        if (cost.saved_ns.value > 0.0 && cost.saved_ns.value >= LEAST_PART * whole->saved_ns.value) {
            IW_TRY(add_cost(f, &cost));
        }
    }
    return IW_OK;
}

/* ---- all of it ---- */

IWI_COMPARE(compare_costs, struct iwi_pause_cost, IWI_FALLING(saved_ns.value))

static iw_status find_all(struct finder *f)
{
    struct iwi_pause_cost wholes[IWI_PAUSE_CAUSES + 1];
    size_t count = 0;

    for (unsigned cause = 0; cause <= IWI_PAUSE_CAUSES; cause++) {
        const struct choice choice = {(uint8_t)cause, IWI_PAUSE_EVERYWHERE, NULL};

        IW_TRY(find_cost(f, &choice, &wholes[count]));
        count += wholes[count].pauses > 0;
    }
    iwi_sort(wholes, count, compare_costs);
    for (size_t i = 0; i < count; i++) {
        IW_TRY(add_cost(f, &wholes[i]));
        if (wholes[i].cause != IWI_PAUSE_CAUSES) {
            IW_TRY(add_culprits(f, &wholes[i]));
        }
    }
    return IW_OK;
}

static iw_status find_with(struct finder *f)
{
    const struct iwi_visits *visits = f->visits;
    const size_t steps = iwi_rerun_step_count(f->rerun);
    double sum_ns = 0.0;

    f->is_left_out = iwi_new_array(visits->log, visits->pause_count, sizeof f->is_left_out[0]);
    f->traced_ps = iwi_new_array(visits->log, steps, sizeof f->traced_ps[0]);
    f->steps_ps = iwi_new_array(visits->log, steps, sizeof f->steps_ps[0]);
    f->saved_ns = iwi_new_array(visits->log, steps, sizeof f->saved_ns[0]);
    f->suspects = iwi_new_array(visits->log, 2 * visits->rank_count, sizeof f->suspects[0]);
    f->has_some = iwi_new_array(visits->log, visits->rank_count, sizeof f->has_some[0]);
    if (f->is_left_out == NULL || f->has_some == NULL || f->traced_ps == NULL || f->steps_ps == NULL ||
        f->saved_ns == NULL || f->suspects == NULL) {
        return IW_ERR_NOMEM;
    }
    IW_TRY(iwi_rerun_run(f->rerun, NULL, f->traced_ps));
    for (size_t k = 0; k < steps; k++) {
        sum_ns += (double)f->traced_ps[k] / IW_PS_PER_NS;
    }
    f->costs->step_count = steps;
    f->costs->step_ns = steps > 0 ? sum_ns / (double)steps : 0.0;
    IW_TRY(judge_clocks(visits, &f->costs->clock_ns));
    return steps > 0 ? find_all(f) : IW_OK;
}

iw_status iwi_pause_costs_find(const struct iwi_visits *visits, struct iwi_pause_costs *costs_p)
{
    struct finder f = {.visits = visits, .costs = costs_p};
    iw_status status;

    *costs_p = (struct iwi_pause_costs){.of = NULL};
    if (visits->pause_count == 0) {
        return IW_OK;
    }
    IW_TRY(iwi_rerun_new(visits, &f.rerun));
    status = find_with(&f);
    iwi_rerun_free(f.rerun);
    free(f.is_left_out);
    free(f.traced_ps);
    free(f.steps_ps);
    free(f.saved_ns);
    free(f.suspects);
    free(f.has_some);
    if (status != IW_OK) {
        iwi_pause_costs_release(costs_p);
    }
    return status;
}

void iwi_pause_costs_release(struct iwi_pause_costs *costs)
{
    free(costs->of);
    *costs = (struct iwi_pause_costs){.of = NULL};
}
