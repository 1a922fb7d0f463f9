/* Waiting by node, stage, group, operation and named cause; the map of ranks and iterations.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/order.h"
#include "features/explain/waits/waited_run.h"

static double ns(double ps)
{
    return ps / IW_PS_PER_NS;
}

/* ---- groups and operations ---- */

/* Time of waits and transfers, by encounter. */
struct by_encounter {
    double *waiting, *transfer, *share; /* share: of the waiting that is imbalance */
};

static void sum_segments(const struct iwi_waited_run *run, const uint32_t *encounter_of,
                         const struct by_encounter *sums)
{
    for (size_t i = 0; i < run->segment_count; i++) {
        const struct iwi_segment *segment = &run->segments[i];
        const double length_ns = ns((double)(segment->end_ps - segment->begin_ps));

        if (segment->doing == IWI_DOES_WAIT) {
            sums->waiting[encounter_of[segment->visit]] += length_ns;
        } else if (segment->doing == IWI_DOES_TRANSFER) {
            sums->transfer[encounter_of[segment->visit]] += length_ns;
        }
    }
}

static void add_encounter(iw_waits_part *part, const struct by_encounter *sums, size_t i)
{
    const double imbalance_ns = isnan(sums->share[i]) ? 0.0 : sums->share[i] * sums->waiting[i];

    part->encounters++;
    part->waiting_ns += sums->waiting[i];
    part->transfer_ns += sums->transfer[i];
    part->imbalance_ns += imbalance_ns;
    part->noise_ns += isnan(sums->share[i]) ? 0.0 : sums->waiting[i] - imbalance_ns;
}

IWI_COMPARE(compare_parts, iw_waits_part,
            IWI_ORDER(right->waiting_ns + right->transfer_ns, left->waiting_ns + left->transfer_ns),
            IWI_TEXT(name))

/* Those that something happened in, the longest first. */
static size_t keep_used(iw_waits_part *parts, size_t count)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        if (parts[i].encounters > 0) {
            parts[i].caused_ns = NAN;
            parts[kept++] = parts[i];
        }
    }
    iwi_sort(parts, kept, compare_parts);
    return kept;
}

struct named_group {
    const char *name;
    size_t index;
};

IWI_COMPARE(by_name, struct named_group, IWI_TEXT(name))

static void name_group(const struct iwi_visits *visits, const struct iwi_visit_group *group, bool is_only,
                       char name[IW_WAITS_NAME_SIZE])
{
    uint32_t first = UINT32_MAX, last = 0;

    for (uint32_t i = 0; i < group->count; i++) {
        const uint32_t number = visits->ranks[group->members[i]].number;

        first = number < first ? number : first;
        last = number > last ? number : last;
    }
    if (is_only) {
        (void)snprintf(name, IW_WAITS_NAME_SIZE, "%s", group->name);
    } else {
        (void)snprintf(name, IW_WAITS_NAME_SIZE, "%.35s, ranks %" PRIu32 " to %" PRIu32, group->name, first,
                       last);
    }
}

/* Groups of one name are told apart by their ranks: "data, ranks 1 to 13". */
static iw_status name_groups(const struct iwi_visits *visits, iw_waits *waits)
{
    const size_t count = visits->group_count;
    struct named_group *sorted = iwi_new_array(visits->log, count, sizeof *sorted);

    if (sorted == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t g = 0; g < count; g++) {
        sorted[g] = (struct named_group){visits->groups[g].name, g};
        waits->groups[g].ranks = visits->groups[g].count;
    }
    iwi_sort(sorted, count, by_name);
    for (size_t i = 0; i < count; i++) {
        const bool is_only = (i == 0 || by_name(&sorted[i - 1], &sorted[i]) != 0) &&
                             (i + 1 == count || by_name(&sorted[i + 1], &sorted[i]) != 0);

        name_group(visits, &visits->groups[sorted[i].index], is_only, waits->groups[sorted[i].index].name);
    }
    free(sorted);
    return IW_OK;
}

static iw_status fill_groups(const struct iwi_waited_run *run, const struct by_encounter *sums,
                             iw_waits *waits)
{
    const struct iwi_visits *visits = run->visits;

    waits->groups = iwi_new_array(run->log, visits->group_count, sizeof *waits->groups);
    waits->ops = iwi_new_array(run->log, IWI_VISIT_OPS, sizeof *waits->ops);
    if (waits->groups == NULL || waits->ops == NULL) {
        return IW_ERR_NOMEM;
    }
    IW_TRY(name_groups(visits, waits));
    for (unsigned op = 0; op < IWI_VISIT_OPS; op++) {
        (void)snprintf(waits->ops[op].name, sizeof waits->ops[op].name, "%s", iwi_visit_op_name(op));
    }
    for (size_t i = 0; i < visits->encounter_count; i++) {
        const struct iwi_encounter *encounter = &visits->encounters[i];
        const struct iwi_visit *visit = &visits->visits[encounter->first];
        iw_waits_part *op = &waits->ops[visit->op];

        add_encounter(&waits->groups[visit->group], sums, i);
        add_encounter(op, sums, i);
        op->ranks = encounter->count > op->ranks ? encounter->count : op->ranks;
    }
    waits->group_count = keep_used(waits->groups, visits->group_count);
    waits->op_count = keep_used(waits->ops, IWI_VISIT_OPS);
    for (size_t i = 0; i < waits->op_count; i++) {
        waits->imbalance_ns += waits->ops[i].imbalance_ns;
        waits->noise_ns += waits->ops[i].noise_ns;
    }
    waits->unsplit_ns = fmax(0.0, waits->waiting_ns - waits->imbalance_ns - waits->noise_ns);
    return IW_OK;
}

static iw_status split_waiting(const struct iwi_waited_run *run, iw_waits *waits)
{
    const struct iwi_visits *visits = run->visits;
    uint32_t *encounter_of = iwi_new_array(run->log, visits->visit_count, sizeof *encounter_of);
    double *sums = iwi_new_array(run->log, 3 * visits->encounter_count, sizeof *sums);
    const struct by_encounter by = {sums, sums + visits->encounter_count, sums + 2 * visits->encounter_count};
    iw_status status = encounter_of != NULL && sums != NULL ? IW_OK : IW_ERR_NOMEM;

    if (status == IW_OK) {
        for (size_t i = 0; i < visits->encounter_count; i++) {
            for (uint32_t k = 0; k < visits->encounters[i].count; k++) {
                encounter_of[visits->encounters[i].first + k] = (uint32_t)i;
            }
        }
        sum_segments(run, encounter_of, &by);
        status = iwi_waited_imbalance(run, by.share);
    }
    status = status == IW_OK ? fill_groups(run, &by, waits) : status;
    free(encounter_of);
    free(sums);
    return status;
}

/* ---- nodes and stages ---- */

static iw_waits_part *part_named(iw_waits_part *parts, size_t *count_p, const char *name)
{
    for (size_t i = 0; i < *count_p; i++) {
        if (strcmp(parts[i].name, name) == 0) {
            return &parts[i];
        }
    }
    (void)snprintf(parts[*count_p].name, sizeof parts[*count_p].name, "%s", name);
    parts[*count_p].imbalance_ns = parts[*count_p].noise_ns = NAN;
    return &parts[(*count_p)++];
}

static void add_rank(iw_waits_part *part, const iw_waits_rank *rank)
{
    part->ranks++;
    part->encounters += rank->last;
    part->waiting_ns += rank->waiting_ns;
    part->transfer_ns += rank->transfer_ns;
    part->caused_ns += rank->caused_ns;
}

IWI_COMPARE(compare_by_caused, iw_waits_part, IWI_FALLING(caused_ns), IWI_TEXT(name))

static iw_status fill_nodes(const struct iwi_waited_run *run, const iw_waits_rank *by_index, iw_waits *waits)
{
    waits->nodes = iwi_new_array(run->log, run->rank_count, sizeof *waits->nodes);
    waits->stages = iwi_new_array(run->log, run->rank_count, sizeof *waits->stages);
    if (waits->nodes == NULL || waits->stages == NULL) {
        return IW_ERR_NOMEM;
    }
    for (uint32_t r = 0; r < run->rank_count; r++) {
        const iw_waits_rank *rank = &by_index[r];
        char stage[IW_WAITS_NAME_SIZE];

        if (rank->node[0] != '\0') {
            add_rank(part_named(waits->nodes, &waits->node_count, rank->node), rank);
        }
        if (rank->stage >= 0) {
            (void)snprintf(stage, sizeof stage, "stage %" PRId32, rank->stage);
            add_rank(part_named(waits->stages, &waits->stage_count, stage), rank);
        }
    }
    iwi_sort(waits->nodes, waits->node_count, compare_by_caused);
    iwi_sort(waits->stages, waits->stage_count, compare_by_caused);
    return IW_OK;
}

/* ---- named causes ---- */

static iw_status fill_causes(const struct iwi_waited_run *run, iw_waits *waits)
{
    waits->causes = iwi_new_array(run->log, IWI_PAUSE_CAUSES, sizeof *waits->causes);
    if (waits->causes == NULL) {
        return IW_ERR_NOMEM;
    }
    for (unsigned cause = 0; cause < IWI_PAUSE_CAUSES; cause++) {
        iw_waits_cause *to = &waits->causes[waits->cause_count];

        *to = (iw_waits_cause){.caused_ns = ns(run->caused_by_pause[cause])};
        for (size_t i = 0; i < run->visits->pause_count; i++) {
            const struct iwi_pause *pause = &run->visits->pauses[i];

            if (pause->cause == cause) {
                to->pauses++;
                to->paused_ns += ns((double)(pause->end_ps - pause->begin_ps));
            }
        }
        (void)snprintf(to->name, sizeof to->name, "%s", iwi_pause_cause_name(cause));
        waits->cause_count += to->pauses > 0;
    }
    return IW_OK;
}

iw_status iwi_waited_parts(const struct iwi_waited_run *run, const iw_waits_rank *by_index, iw_waits *waits)
{
    IW_TRY(split_waiting(run, waits));
    IW_TRY(fill_nodes(run, by_index, waits));
    return fill_causes(run, waits);
}
