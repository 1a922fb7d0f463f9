/* Waiting by node, stage, group, operation and named cause, the same every time or not; the map.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/order.h"
#include "core/numeric/numeric.h"
#include "features/explain/waits/waited_run.h"

/* ---- the map: ranks and iterations, who waited and who made the others wait ---- */

/* Ranks in the order of their numbers. */
struct numbered {
    uint32_t number, index;
};

/* Of a cell: its ranks, and iterations from ... to - 1. */
struct cell {
    const struct numbered *ranks;
    uint32_t rank_count;
    size_t first, last;
};

IWI_COMPARE(compare_numbers, struct numbered, IWI_RISING(number))

static double rounded(double share)
{
    return round(share * 1e4) / 1e4;
}

static void fill_cell(const struct iwi_waited_run *run, const struct cell *cell, double *waiting_p,
                      double *caused_p)
{
    const size_t count = run->iterations.count;
    const double others = run->rank_count > 1 ? run->rank_count - 1 : 1;
    double waited = 0.0, caused = 0.0, time = 0.0;

    for (uint32_t k = 0; k < cell->rank_count; k++) {
        const uint32_t r = cell->ranks[k].index;
        const iw_time *borders = iwi_iteration_borders(run, r);

        time += (double)(borders[cell->last] - borders[cell->first]);
        for (size_t i = cell->first; i < cell->last; i++) {
            waited += run->waited_in_iteration[r * count + i];
            caused += run->caused_in_iteration[r * count + i];
        }
    }
    *waiting_p = time > 0.0 ? rounded(fmin(1.0, waited / time)) : 0.0;
    *caused_p = time > 0.0 ? rounded(fmin(1.0, caused / (time * others))) : 0.0;
}

static iw_status fill_row(const struct iwi_waited_run *run, const iw_waits *waits, struct cell cell,
                          iw_waits_row *row)
{
    const size_t per = (size_t)waits->iterations_per_column;

    row->column_count = (run->iterations.count + per - 1) / per;
    row->waiting = iwi_new_array(run->log, row->column_count, sizeof *row->waiting);
    row->caused = iwi_new_array(run->log, row->column_count, sizeof *row->caused);
    if (row->waiting == NULL || row->caused == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t c = 0; c < row->column_count; c++) {
        cell.first = c * per;
        cell.last = cell.first + per < run->iterations.count ? cell.first + per : run->iterations.count;
        fill_cell(run, &cell, &row->waiting[c], &row->caused[c]);
    }
    return IW_OK;
}

static iw_status fill_map(const struct iwi_waited_run *run, const struct numbered *order, iw_waits *waits)
{
    const uint32_t per_row = (run->rank_count + IW_WAITS_MOST_ROWS - 1) / IW_WAITS_MOST_ROWS;

    waits->iterations_per_column =
        (run->iterations.count + IW_WAITS_MOST_COLUMNS - 1) / IW_WAITS_MOST_COLUMNS;
    for (uint32_t r = 0; r < run->rank_count; r += per_row) {
        const struct cell cell = {
            .ranks = &order[r], .rank_count = r + per_row < run->rank_count ? per_row : run->rank_count - r};
        iw_waits_row *row = &waits->map[waits->row_count++];

        row->first_rank = order[r].number;
        row->rank_count = cell.rank_count;
        IW_TRY(fill_row(run, waits, cell, row));
    }
    return IW_OK;
}

iw_status iwi_waited_map(const struct iwi_waited_run *run, iw_waits *waits)
{
    struct numbered *order;
    iw_status status;

    if (run->iterations.count == 0) {
        return IW_OK;
    }
    order = iwi_new_array(run->log, run->rank_count, sizeof *order);
    waits->map = iwi_new_array(run->log, IW_WAITS_MOST_ROWS, sizeof *waits->map);
    if (order == NULL || waits->map == NULL) {
        free(order);
        return IW_ERR_NOMEM;
    }
    for (uint32_t r = 0; r < run->rank_count; r++) {
        order[r] = (struct numbered){run->visits->ranks[r].number, r};
    }
    iwi_sort(order, run->rank_count, compare_numbers);
    status = fill_map(run, order, waits);
    free(order);
    return status;
}

/* ---- what of the waiting is the same every time, and what varies ---- */

/* Encounters are alike that have the same group, operation, size, root and place within their step. Of alike
 * ones each rank has a usual arrival: the median, against the median rank of each encounter. If all ranks
 * always came at their usual times, they would wait for the one whose usual time is the latest:
 *
 *     imbalance = sum over ranks (usual arrival of the latest - usual arrival of the rank)
 *
 * for each encounter; the rest of the waiting is noise. To take the latest of several medians that differ by
 * chance alone would find some imbalance anywhere. So half of the encounters say which rank is the latest,
 * and the other half how late it is; and the halves once more in exchanged roles.
 */

enum { LEAST_ALIKE = 10 };

enum { KEYS = 6, IN_STEP = KEYS - 1 };

struct place {
    uint64_t first_visit, encounter;
    uint64_t key[KEYS]; /* group, operation, bytes, root, partner, number in its step */
    uint64_t number;
    uint32_t count;
    iw_time at_ps;
};

/* ---- which are alike ---- */

static int compare_keys(const struct place *a, const struct place *b)
{
    int sign = 0;

    for (int k = 0; k < KEYS && sign == 0; k++) {
        sign = iwi_order(a->key[k], b->key[k]);
    }
    return sign != 0 ? sign : iwi_order(a->count, b->count);
}

IWI_COMPARE(compare_places, struct place, compare_keys(left, right), IWI_RISING(at_ps))

/* The receiver of a message, which has two visits; else nothing. */
static uint64_t partner_of(const struct iwi_visit *visits, uint32_t count)
{
    return visits->op == IWI_VISIT_MESSAGE && count == 2 ? visits[visits[0].rank == visits[0].root].rank
                                                         : IWI_NOBODY;
}

/* Of those that are alike in everything else, in order. */
static void number_places(struct place *places, size_t count, const struct iwi_visits *visits)
{
    for (size_t i = 1; i < count; i++) {
        const uint32_t step = visits->visits[places[i].first_visit].step;
        const bool goes_on = step != IWI_VISIT_NO_STEP &&
                             visits->visits[places[i - 1].first_visit].step == step &&
                             compare_keys(&places[i], &places[i - 1]) == 0;

        places[i].number = goes_on ? places[i - 1].number + 1 : 0;
    }
    for (size_t i = 0; i < count; i++) {
        places[i].key[IN_STEP] = places[i].number;
    }
    iwi_sort(places, count, compare_places);
}

static struct place *list_places(const struct iwi_waited_run *run)
{
    const struct iwi_visits *visits = run->visits;
    struct place *places = iwi_new_array(run->log, visits->encounter_count, sizeof *places);

    for (size_t i = 0; places != NULL && i < visits->encounter_count; i++) {
        const struct iwi_encounter *encounter = &visits->encounters[i];
        const struct iwi_visit *first = &visits->visits[encounter->first];

        places[i] = (struct place){.first_visit = encounter->first,
                                   .encounter = i,
                                   .key = {first->group, first->op, first->bytes,
                                           first->has_root ? first->root : IWI_NOBODY,
                                           partner_of(first, encounter->count)},
                                   .count = encounter->count,
                                   .at_ps = iwi_encounter_start_ps(visits, encounter)};
    }
    if (places != NULL && visits->encounter_count > 0) {
        iwi_sort(places, visits->encounter_count, compare_places);
        if (run->iterations.count >= LEAST_ALIKE && !run->iterations.is_shared) {
            number_places(places, visits->encounter_count, visits);
        }
    }
    return places;
}

/* ---- usual arrivals ---- */

struct halves {
    double *late;     /* [visit of the encounter][encounter], of one half */
    double *usual[2]; /* of each visit */
    double *scratch;
};

/* When a rank stands there: what it does before that is its own. */
static double blocked_ps(const struct iwi_visit *visit)
{
    return (double)(visit->enter_ps + visit->ahead_ps);
}

static void find_usual(const struct iwi_waited_run *run, const struct place *places, size_t count, int half,
                       struct halves *h)
{
    const uint32_t ranks = places[0].count;
    size_t kept = 0;

    for (size_t i = (size_t)half; i < count; i += 2, kept++) {
        const struct iwi_visit *visits = &run->visits->visits[places[i].first_visit];
        double middle;

        for (uint32_t k = 0; k < ranks; k++) {
            h->scratch[k] = blocked_ps(&visits[k]);
        }
        middle = iwi_select(h->scratch, ranks, ranks / 2);
        for (uint32_t k = 0; k < ranks; k++) {
            h->late[k * count + kept] = blocked_ps(&visits[k]) - middle;
        }
    }
    for (uint32_t k = 0; k < ranks; k++) {
        h->usual[half][k] = iwi_select(&h->late[k * count], kept, kept / 2);
    }
}

/* Whom they wait for: the root, or who is the latest. */
static uint32_t latest_of(const struct iwi_visit *visits, const double *usual, uint32_t ranks)
{
    uint32_t latest = 0;

    for (uint32_t k = 1; k < ranks; k++) {
        const bool is_root = visits[0].has_root && visits[k].rank == visits[k].root;

        latest = is_root || (!visits[0].has_root && usual[k] > usual[latest]) ? k : latest;
    }
    return latest;
}

/* In one encounter, over its ranks. */
static double usual_wait(const struct iwi_visit *visits, const double *chooses, const double *measures,
                         uint32_t ranks)
{
    const uint32_t latest = latest_of(visits, chooses, ranks);
    double sum = 0.0;

    for (uint32_t k = 0; k < ranks; k++) {
        sum += chooses[latest] > chooses[k] ? measures[latest] - measures[k] : 0.0;
    }
    return sum;
}

static double mean_wait(const struct iwi_waited_run *run, const struct place *places, size_t count)
{
    double sum = 0.0;

    for (size_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < places[i].count; k++) {
            const uint64_t visit = places[i].first_visit + k;

            sum += fmax(0.0, (double)run->awaited[visit].start_ps - blocked_ps(&run->visits->visits[visit]));
        }
    }
    return sum / (double)count;
}

static iw_status split(const struct iwi_waited_run *run, const struct place *places, size_t count,
                       double *share_p)
{
    const struct iwi_visit *visits = &run->visits->visits[places[0].first_visit];
    const uint32_t ranks = places[0].count;
    const double waited = mean_wait(run, places, count);
    struct halves h = {.late = iwi_new_array(run->log, ranks * count, sizeof *h.late),
                       .usual = {iwi_new_array(run->log, 2 * (size_t)ranks, sizeof **h.usual)},
                       .scratch = iwi_new_array(run->log, ranks, sizeof *h.scratch)};
    iw_status status = h.late != NULL && h.usual[0] != NULL && h.scratch != NULL ? IW_OK : IW_ERR_NOMEM;

    if (status == IW_OK) {
        double usual;

        h.usual[1] = h.usual[0] + ranks;
        find_usual(run, places, count, 0, &h);
        find_usual(run, places, count, 1, &h);
        usual = (usual_wait(visits, h.usual[0], h.usual[1], ranks) +
                 usual_wait(visits, h.usual[1], h.usual[0], ranks)) /
                2.0;
        *share_p = waited > 0.0 ? fmin(1.0, fmax(0.0, usual / waited)) : 0.0;
    }
    free(h.late);
    free(h.usual[0]);
    free(h.scratch);
    return status;
}

/* The same ranks meet in all that are alike. */
static bool is_whole(const struct iwi_visits *visits, const struct place *place)
{
    const struct iwi_visit *first = &visits->visits[place->first_visit];

    return place->count > 1 &&
           (first->op == IWI_VISIT_MESSAGE || place->count == visits->groups[first->group].count);
}

/* What of the waiting is the same every time: for each encounter, of the waiting in it the share that is. NaN
 * where there are too few alike. `shares` has one number for each encounter. */
static iw_status waited_imbalance(const struct iwi_waited_run *run, double *shares)
{
    const size_t count = run->visits->encounter_count;
    struct place *places = list_places(run);
    iw_status status = places != NULL ? IW_OK : IW_ERR_NOMEM;

    for (size_t first = 0, end; status == IW_OK && first < count; first = end) {
        double share = NAN;

        for (end = first + 1; end < count && compare_keys(&places[first], &places[end]) == 0; end++) {
        }
        if (end - first >= LEAST_ALIKE && is_whole(run->visits, &places[first])) {
            status = split(run, &places[first], end - first, &share);
        }
        for (size_t i = first; i < end; i++) {
            shares[places[i].encounter] = share;
        }
    }
    free(places);
    return status;
}

/* ---- by node, stage, group, operation and named cause ---- */

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

static void add_encounter(iw_waits_group *part, const struct by_encounter *sums, size_t i)
{
    const double imbalance_ns = isnan(sums->share[i]) ? 0.0 : sums->share[i] * sums->waiting[i];

    part->encounters++;
    part->waiting_ns += sums->waiting[i];
    part->transfer_ns += sums->transfer[i];
    part->imbalance_ns += imbalance_ns;
    part->noise_ns += isnan(sums->share[i]) ? 0.0 : sums->waiting[i] - imbalance_ns;
}

IWI_COMPARE(compare_parts, iw_waits_group,
            IWI_ORDER(right->waiting_ns + right->transfer_ns, left->waiting_ns + left->transfer_ns),
            IWI_TEXT(name))

/* Those that something happened in, the longest first. */
static size_t keep_used(iw_waits_group *parts, size_t count)
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
        iw_waits_group *op = &waits->ops[visit->op];

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
        status = waited_imbalance(run, by.share);
    }
    status = status == IW_OK ? fill_groups(run, &by, waits) : status;
    free(encounter_of);
    free(sums);
    return status;
}

/* ---- nodes and stages ---- */

static iw_waits_group *part_named(iw_waits_group *parts, size_t *count_p, const char *name)
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

static void add_rank(iw_waits_group *part, const iw_waits_rank *rank)
{
    part->ranks++;
    part->encounters += rank->last;
    part->waiting_ns += rank->waiting_ns;
    part->transfer_ns += rank->transfer_ns;
    part->caused_ns += rank->caused_ns;
}

IWI_COMPARE(compare_by_caused, iw_waits_group, IWI_FALLING(caused_ns), IWI_TEXT(name))

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
