/* Judges a fleet: every source at every place, all nodes against each other.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Places are the node as a whole and each CPU number that most nodes have: CPU 0 of a node is compared with
 * CPU 0 of the others, since interrupts and daemons have their habits. The stated rate of false alarms is for
 * all comparisons together (Bonferroni).
 */
#include "analysis/fleet/fleet_judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/opts.h"
#include "stats/select.h"

/* A source has its place if on so many of the nodes that have it one CPU number has most of it. */
static const double LEAST_PLACED = 0.9;

/* ---- preparing ---- */

static int by_family_cpu_node(const void *a, const void *b)
{
    const struct iwi_fleet_entry *x = a, *y = b;

    if (x->family != y->family) {
        return x->family < y->family ? -1 : 1;
    }
    if (x->cell->cpu != y->cell->cpu) {
        return x->cell->cpu < y->cell->cpu ? -1 : 1;
    }
    return (x->cell->node > y->cell->node) - (x->cell->node < y->cell->node);
}

static iw_status sort_cells(struct iwi_fleet_trial *judge)
{
    const struct iwi_fleet_cells *cells = judge->fleet->cells;
    size_t at = 0;

    judge->sorted = iwi_new_array(judge->log, cells->count, sizeof *judge->sorted);
    judge->first_entry = iwi_new_array(judge->log, cells->family_count + 1, sizeof *judge->first_entry);
    if (judge->sorted == NULL || judge->first_entry == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < cells->count; i++) {
        const struct iwi_fleet_cell *cell = &cells->cells[i];

        judge->sorted[i] = (struct iwi_fleet_entry){cells->names[cell->name].family, cell};
    }
    qsort(judge->sorted, cells->count, sizeof *judge->sorted, by_family_cpu_node);
    for (size_t family = 0; family <= cells->family_count; family++) {
        while (at < cells->count && judge->sorted[at].family < family) {
            at++;
        }
        judge->first_entry[family] = at;
    }
    return IW_OK;
}

/* ---- places ---- */

static void add_sums(struct iwi_fleet_sums *to, const struct iwi_fleet_sums *from)
{
    to->count += from->count;
    to->busy_ns += from->busy_ns;
    to->square_ns2 += from->square_ns2;
    to->longest_ns = fmax(to->longest_ns, from->longest_ns);
}

/* The first of a family's cells whose CPU is at least this. */
static size_t first_at(const struct iwi_fleet_trial *judge, uint32_t family, uint64_t cpu)
{
    size_t low = judge->first_entry[family], high = judge->first_entry[family + 1];

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (judge->sorted[middle].cell->cpu < cpu) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

void iwi_fleet_gather(struct iwi_fleet_trial *judge, uint32_t family)
{
    const struct iwi_fleet_place *place = &judge->place;
    const size_t begin = place->is_cpu ? first_at(judge, family, place->cpu) : judge->first_entry[family];
    const size_t end =
        place->is_cpu ? first_at(judge, family, (uint64_t)place->cpu + 1) : judge->first_entry[family + 1];

    for (size_t node = 0; node < judge->fleet->node_count; node++) {
        struct iwi_fleet_unit *unit = &place->units[node];

        *unit = (struct iwi_fleet_unit){.node = unit->node, .length_ns = unit->length_ns};
    }
    for (size_t i = begin; i < end; i++) {
        const struct iwi_fleet_cell *cell = judge->sorted[i].cell;
        struct iwi_fleet_unit *unit = &place->units[cell->node];

        add_sums(&unit->all, &cell->all);
        add_sums(&unit->steady, &cell->steady);
        unit->stretches |= cell->stretches;
    }
}

static void find_median_longest(struct iwi_fleet_trial *judge)
{
    size_t count = 0;

    iwi_fleet_gather(judge, 0);
    for (size_t node = 0; node < judge->fleet->node_count; node++) {
        if (judge->place.units[node].length_ns > 0.0) {
            judge->scratch[count++] = judge->place.units[node].steady.longest_ns;
        }
    }
    judge->place.median_longest_ns = count > 0 ? iwi_select_quantile(judge->scratch, count, 0.5) : 0.0;
}

void iwi_fleet_go_to(struct iwi_fleet_trial *judge, bool is_cpu, uint32_t cpu)
{
    const struct iwi_fleet_cells *cells = judge->fleet->cells;
    struct iwi_fleet_place *place = &judge->place;

    place->is_cpu = is_cpu;
    place->cpu = cpu;
    place->total_ns = 0.0;
    for (size_t node = 0; node < judge->fleet->node_count; node++) {
        place->units[node].node = (uint32_t)node;
        place->units[node].length_ns = 0.0;
    }
    for (size_t i = 0; i < cells->cpu_count; i++) {
        if (!is_cpu || cells->cpus[i].cpu == cpu) {
            place->units[cells->cpus[i].node].length_ns += cells->cpus[i].length_ns;
            place->total_ns += cells->cpus[i].length_ns;
        }
    }
    find_median_longest(judge);
}

static int by_number(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* CPU numbers that at least half of the nodes have, in ascending order. */
static iw_status list_cpus(const struct iwi_fleet_trial *judge, uint32_t **cpus_p, size_t *count_p)
{
    const struct iwi_fleet_cells *cells = judge->fleet->cells;
    uint32_t *cpus = iwi_new_array(judge->log, cells->cpu_count, sizeof *cpus);
    size_t count = 0, same;

    if (cpus == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < cells->cpu_count; i++) {
        cpus[i] = cells->cpus[i].cpu;
    }
    qsort(cpus, cells->cpu_count, sizeof *cpus, by_number);
    for (size_t i = 0; i < cells->cpu_count; i += same) {
        for (same = 1; i + same < cells->cpu_count && cpus[i + same] == cpus[i]; same++) {
        }
        if (2 * same >= judge->fleet->node_count) {
            cpus[count++] = cpus[i];
        }
    }
    *cpus_p = cpus;
    *count_p = count;
    return IW_OK;
}

/* The most frequent of sorted numbers comes so often. */
static size_t most_frequent(const uint32_t *sorted, size_t count)
{
    size_t largest = 0, same;

    for (size_t i = 0; i < count; i += same) {
        for (same = 1; i + same < count && sorted[i + same] == sorted[i]; same++) {
        }
        largest = same > largest ? same : largest;
    }
    return largest;
}

/* Where a source goes anywhere, no place is wrong. `most_ns`, `top`: room by node. */
static bool is_placed(const struct iwi_fleet_trial *judge, uint32_t family, double *most_ns, uint32_t *top)
{
    const size_t node_count = judge->fleet->node_count;
    size_t having = 0;

    memset(most_ns, 0, node_count * sizeof *most_ns);
    for (size_t i = judge->first_entry[family]; i < judge->first_entry[family + 1]; i++) {
        const struct iwi_fleet_cell *cell = judge->sorted[i].cell;

        if (cell->all.busy_ns > most_ns[cell->node]) {
            most_ns[cell->node] = cell->all.busy_ns;
            top[cell->node] = cell->cpu;
        }
    }
    for (size_t node = 0; node < node_count; node++) {
        if (most_ns[node] > 0.0) {
            top[having++] = top[node];
        }
    }
    qsort(top, having, sizeof *top, by_number);
    return (double)most_frequent(top, having) >= LEAST_PLACED * (double)having;
}

static iw_status find_placed(struct iwi_fleet_trial *judge)
{
    const size_t family_count = judge->fleet->cells->family_count;
    uint32_t *top = iwi_new_array(judge->log, judge->fleet->node_count, sizeof *top);

    judge->is_placed = iwi_new_array(judge->log, family_count, sizeof *judge->is_placed);
    for (uint32_t family = 0; top != NULL && judge->is_placed != NULL && family < family_count; family++) {
        judge->is_placed[family] = is_placed(judge, family, judge->scratch, top);
    }
    free(top);
    return top != NULL && judge->is_placed != NULL ? IW_OK : IW_ERR_NOMEM;
}

/* ---- judging ---- */

static iw_status test_place(struct iwi_fleet_trial *judge)
{
    for (uint32_t family = 0; family < judge->fleet->cells->family_count; family++) {
        iwi_fleet_gather(judge, family);
        IW_TRY(iwi_fleet_test(judge, family));
    }
    return IW_OK;
}

static iw_status test_places(struct iwi_fleet_trial *judge, iw_fleet *fleet)
{
    uint32_t *cpus;
    size_t cpu_count;
    iw_status status;

    IW_TRY(list_cpus(judge, &cpus, &cpu_count));
    cpu_count = cpu_count > 1 ? cpu_count : 0; /* one CPU is the node */
    fleet->tests =
        (uint64_t)fleet->node_count * fleet->cells->family_count * (1 + cpu_count) * (IW_FLEET_METRICS + 1);
    judge->p = fleet->opts.false_alarms / (double)fleet->tests;
    iwi_fleet_go_to(judge, false, 0);
    status = test_place(judge);
    for (size_t i = 0; i < cpu_count && status == IW_OK; i++) {
        iwi_fleet_go_to(judge, true, cpus[i]);
        status = test_place(judge);
    }
    free(cpus);
    return status;
}

static iw_status judge_fleet(struct iwi_fleet_trial *judge, iw_fleet *fleet)
{
    judge->place.units = iwi_new_array(judge->log, fleet->node_count, sizeof *judge->place.units);
    judge->having = iwi_new_array(judge->log, fleet->node_count, sizeof *judge->having);
    judge->scratch = iwi_new_array(judge->log, fleet->node_count, sizeof *judge->scratch);
    if (judge->place.units == NULL || judge->having == NULL || judge->scratch == NULL) {
        return IW_ERR_NOMEM;
    }
    IW_TRY(sort_cells(judge));
    IW_TRY(find_placed(judge));
    IW_TRY(test_places(judge, fleet));
    return iwi_fleet_conclude(judge, fleet);
}

static int noisiest_first(const void *a, const void *b)
{
    const iw_fleet_node *x = a, *y = b;
    const bool is_x = x->finding_count > 0, is_y = y->finding_count > 0;

    if (is_x != is_y) {
        return is_x ? -1 : 1;
    }
    if (x->value[IW_FLEET_SHARE] != y->value[IW_FLEET_SHARE]) {
        return x->value[IW_FLEET_SHARE] > y->value[IW_FLEET_SHARE] ? -1 : 1;
    }
    return strcmp(x->name, y->name);
}

iw_status iw_fleet_judge(const iw_log *log, iw_fleet *fleet, const iw_fleet_opts *given)
{
    iw_fleet_opts known = IW_FLEET_OPTS_INIT;
    const iw_fleet_opts *opts = &known;
    struct iwi_fleet_trial judge = {.log = log, .fleet = fleet};
    iw_status status;

    IW_TRY(IWI_READ_OPTS(log, "IW_FLEET_OPTS_INIT", given, &known));
    if (fleet->node_count == 0) {
        return iwi_fail(log, IW_ERR_RANGE, "there is no node to judge");
    }
    if (!(opts->false_alarms > 0.0 && opts->false_alarms <= 0.5)) {
        return iwi_fail(log, IW_ERR_RANGE, "the rate of false alarms must be above 0 and at most 50 %%");
    }
    if (!(opts->matters >= 0.0 && opts->matters <= 1.0)) {
        return iwi_fail(log, IW_ERR_RANGE, "the share that matters must be between 0 and 100 %%");
    }
    fleet->opts = *opts;
    status = judge_fleet(&judge, fleet);
    free(judge.place.units);
    free(judge.having);
    free(judge.scratch);
    free(judge.sorted);
    free(judge.first_entry);
    free(judge.is_placed);
    free(judge.alarms);
    IW_TRY(status);
    IW_TRY(iwi_fleet_find_groups(log, fleet));
    qsort(fleet->nodes, fleet->node_count, sizeof *fleet->nodes, noisiest_first);
    return IW_OK;
}
