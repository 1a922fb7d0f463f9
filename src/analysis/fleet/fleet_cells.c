/* Sums by node, CPU and source of a fleet: adding.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "analysis/fleet/fleet_cells.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

/* ---- names ---- */

/* Digits as stars: "ksoftirqd/3" is "ksoftirqd/" and a star. */
static iw_source pattern_of(const iw_source *source)
{
    iw_source pattern = {.kind = source->kind};
    size_t used = 0;

    for (const char *c = source->name; *c != '\0'; c++) {
        if (!isdigit((unsigned char)*c)) {
            pattern.name[used++] = *c;
        } else if (used == 0 || pattern.name[used - 1] != '*') {
            pattern.name[used++] = '*';
        }
    }
    return pattern;
}

static int compare_sources(const iw_source *a, const iw_source *b)
{
    return a->kind != b->kind ? (a->kind < b->kind ? -1 : 1) : strcmp(a->name, b->name);
}

/* Where the name is or belongs among the sorted ones; they begin with name 1. */
static size_t place_of(const struct iwi_fleet_cells *cells, const iw_source *source)
{
    size_t low = 0, high = cells->name_count - 1;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (compare_sources(&cells->names[cells->sorted_names[middle]].source, source) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Names are few hundreds, and each is looked for once. */
static iw_status find_family(const iw_log *log, struct iwi_fleet_cells *cells, const iw_source *source,
                             uint32_t name, uint32_t *family_p)
{
    const iw_source pattern = pattern_of(source);

    for (size_t i = 1; i < cells->family_count; i++) {
        if (compare_sources(&cells->families[i].pattern, &pattern) == 0) {
            cells->families[i].has_other_names = true;
            *family_p = (uint32_t)i;
            return IW_OK;
        }
    }
    IW_TRY(iwi_grow(log, (void **)&cells->families, &cells->family_capacity, cells->family_count + 1,
                    sizeof *cells->families));
    cells->families[cells->family_count] = (struct iwi_fleet_family){pattern, name, false};
    *family_p = (uint32_t)cells->family_count++;
    return IW_OK;
}

iw_status iwi_fleet_find_name(const iw_log *log, struct iwi_fleet_cells *cells, const iw_source *source,
                              uint32_t *name_p)
{
    const size_t place = place_of(cells, source), sorted = cells->name_count - 1;
    const uint32_t name = (uint32_t)cells->name_count;
    uint32_t family;

    if (place < sorted && compare_sources(&cells->names[cells->sorted_names[place]].source, source) == 0) {
        *name_p = cells->sorted_names[place];
        return IW_OK;
    }
    IW_TRY(iwi_grow(log, (void **)&cells->names, &cells->name_capacity, cells->name_count + 1,
                    sizeof *cells->names));
    IW_TRY(iwi_grow(log, (void **)&cells->sorted_names, &cells->sorted_capacity, sorted + 1,
                    sizeof *cells->sorted_names));
    IW_TRY(find_family(log, cells, source, name, &family));
    cells->names[cells->name_count++] = (struct iwi_fleet_name){*source, family};
    memmove(&cells->sorted_names[place + 1], &cells->sorted_names[place],
            (sorted - place) * sizeof *cells->sorted_names);
    cells->sorted_names[place] = name;
    *name_p = name;
    return IW_OK;
}

/* ---- nodes, CPUs, cells ---- */

iw_status iwi_fleet_add_node(const iw_log *log, iw_fleet *fleet, const char *name)
{
    char *copy = strdup(name);

    if (copy == NULL) {
        return iwi_fail(log, IW_ERR_NOMEM, "out of memory for the name of a node");
    }
    if (iwi_grow(log, (void **)&fleet->nodes, &fleet->cells->node_capacity, fleet->node_count + 1,
                 sizeof *fleet->nodes) != IW_OK) {
        free(copy);
        return IW_ERR_NOMEM;
    }
    fleet->nodes[fleet->node_count++] = (iw_fleet_node){.name = copy};
    return IW_OK;
}

iw_status iwi_fleet_add_cpu(const iw_log *log, iw_fleet *fleet, uint32_t cpu, double length_ns)
{
    struct iwi_fleet_cells *cells = fleet->cells;
    iw_fleet_node *node = &fleet->nodes[fleet->node_count - 1];

    IW_TRY(iwi_grow(log, (void **)&cells->cpus, &cells->cpu_capacity, cells->cpu_count + 1,
                    sizeof *cells->cpus));
    cells->cpus[cells->cpu_count++] =
        (struct iwi_fleet_cpu){(uint32_t)(fleet->node_count - 1), cpu, length_ns};
    node->cpu_count++;
    node->watched_ns += length_ns;
    return IW_OK;
}

void iwi_fleet_count(struct iwi_fleet_counter *counter, double at, double time_ns)
{
    const int stretch = (int)(at * IWI_FLEET_STRETCHES), last = IWI_FLEET_STRETCHES - 1;
    struct iwi_fleet_sums *sums = &counter->by_stretch[stretch < last ? stretch : last];

    sums->count += 1.0;
    sums->busy_ns += time_ns;
    sums->square_ns2 += time_ns * time_ns;
    sums->longest_ns = fmax(sums->longest_ns, time_ns);
}

static int descending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x < y) - (x > y);
}

/* What is left of the values of all stretches without the largest. */
static double steady_sum(double values[IWI_FLEET_STRETCHES])
{
    double sum = 0.0;

    qsort(values, IWI_FLEET_STRETCHES, sizeof *values, descending);
    for (size_t i = IWI_FLEET_BURST; i < IWI_FLEET_STRETCHES; i++) {
        sum += values[i];
    }
    return sum;
}

/* Most sources come on few of the CPUs. */
static bool is_empty(const struct iwi_fleet_counter *counter)
{
    for (size_t i = 0; i < IWI_FLEET_STRETCHES; i++) {
        if (counter->by_stretch[i].count > 0.0) {
            return false;
        }
    }
    return true;
}

static void sum_up(const struct iwi_fleet_counter *counter, struct iwi_fleet_cell *cell)
{
    double count[IWI_FLEET_STRETCHES], busy[IWI_FLEET_STRETCHES], square[IWI_FLEET_STRETCHES],
        longest[IWI_FLEET_STRETCHES];

    for (size_t i = 0; i < IWI_FLEET_STRETCHES; i++) {
        const struct iwi_fleet_sums *sums = &counter->by_stretch[i];

        count[i] = sums->count;
        busy[i] = sums->busy_ns;
        square[i] = sums->square_ns2;
        longest[i] = sums->longest_ns;
        cell->stretches |= sums->count > 0.0 ? 1U << i : 0;
        cell->all.count += sums->count;
        cell->all.busy_ns += sums->busy_ns;
        cell->all.square_ns2 += sums->square_ns2;
        cell->all.longest_ns = fmax(cell->all.longest_ns, sums->longest_ns);
    }
    cell->steady.count = steady_sum(count);
    cell->steady.busy_ns = steady_sum(busy);
    cell->steady.square_ns2 = steady_sum(square);
    qsort(longest, IWI_FLEET_STRETCHES, sizeof *longest, descending);
    cell->steady.longest_ns = longest[IWI_FLEET_BURST];
}

iw_status iwi_fleet_add_cell(const iw_log *log, iw_fleet *fleet, uint32_t name,
                             const struct iwi_fleet_counter *counter)
{
    struct iwi_fleet_cells *cells = fleet->cells;
    const struct iwi_fleet_cpu *cpu = &cells->cpus[cells->cpu_count - 1];
    struct iwi_fleet_cell cell = {.name = name, .node = cpu->node, .cpu = cpu->cpu};

    if (is_empty(counter)) {
        return IW_OK;
    }
    sum_up(counter, &cell);
    IW_TRY(iwi_grow(log, (void **)&cells->cells, &cells->capacity, cells->count + 1, sizeof *cells->cells));
    cells->cells[cells->count++] = cell;
    return IW_OK;
}

/* ---- life ---- */

iw_status iwi_fleet_cells_new(const iw_log *log, struct iwi_fleet_cells **cells_p)
{
    struct iwi_fleet_cells *cells = iwi_new_array(log, 1, sizeof *cells);

    if (cells == NULL) {
        return IW_ERR_NOMEM;
    }
    *cells_p = cells;
    IW_TRY(iwi_grow(log, (void **)&cells->names, &cells->name_capacity, 1, sizeof *cells->names));
    IW_TRY(iwi_grow(log, (void **)&cells->families, &cells->family_capacity, 1, sizeof *cells->families));
    cells->names[0] = (struct iwi_fleet_name){.family = 0};
    cells->families[0] = (struct iwi_fleet_family){.first_name = 0};
    cells->name_count = cells->family_count = 1;
    return IW_OK;
}

void iwi_fleet_cells_free(struct iwi_fleet_cells *cells)
{
    if (cells == NULL) {
        return;
    }
    iwi_fleet_facts_release(&cells->facts);
    free(cells->cells);
    free(cells->cpus);
    free(cells->names);
    free(cells->sorted_names);
    free(cells->families);
    free(cells);
}
