/* When a source hit many nodes together, and whether that is regular.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "core/numeric/numeric.h"
#include "features/fleet/coincidence.h"

/* In independent nodes so many instants would be found by chance. */
static const double CHANCE_INSTANTS = 0.05;

/* An instant: cells in a row that have many nodes. */
struct instant {
    uint32_t first_cell, end_cell;
};

/* Nodes in a cell that are too many for chance: with B cells and m nodes in one on average,
 * B P(Poisson(m) >= k) < CHANCE_INSTANTS; at least two. */
static uint32_t least_nodes(const struct iwi_hit_cells *cells)
{
    const double mean = (double)cells->first[cells->node_count] / (double)cells->cell_count;
    uint32_t least = 2;

    while (least < cells->node_count &&
           (double)cells->cell_count * iwi_poisson_above(least - 1, mean) >= CHANCE_INSTANTS) {
        least++;
    }
    return least;
}

static void count_nodes(struct iwi_hit_cells *cells)
{
    for (size_t i = 0; i < cells->first[cells->node_count]; i++) {
        cells->nodes_in[cells->cell[i]]++;
    }
}

/* Cells in a row, which many nodes may have been hit across; at most three: more is no instant. */
static size_t find_cells(const struct iwi_hit_cells *cells, struct instant *instants)
{
    enum { MOST_CELLS = 3 };
    const uint32_t least = least_nodes(cells);
    size_t count = 0;

    for (uint32_t cell = 0; cell < cells->cell_count; cell++) {
        if (cells->nodes_in[cell] < least) {
            continue;
        }
        if (count > 0 && instants[count - 1].end_cell == cell &&
            cell - instants[count - 1].first_cell < MOST_CELLS) {
            instants[count - 1].end_cell++;
        } else {
            instants[count++] = (struct instant){cell, cell + 1};
        }
    }
    return count;
}

/* ---- which nodes, and when exactly ---- */

/* Its first hit within the instant; -1: none. */
static int64_t first_hit(const struct iwi_hits *hits, int64_t from_ns, int64_t to_ns)
{
    size_t at;

    IWI_FIRST_NOT(at, 0, hits->count, hits->at_ns[at] < from_ns);
    return at < hits->count && hits->at_ns[at] < to_ns ? hits->at_ns[at] : -1;
}

/* The middle of the nodes. Adds to how often each node takes part. `times` has room for one a node. */
static int64_t look_at(const struct iwi_hit_source *source, const struct iwi_hit_cells *cells,
                       const struct instant *instant, uint32_t *takes_part, int64_t *times, uint32_t *nodes_p)
{
    size_t count = 0;

    for (size_t node = 0; node < cells->node_count; node++) {
        const int64_t at_ns = first_hit(&source->nodes[node], instant->first_cell * cells->width_ns,
                                        instant->end_cell * cells->width_ns);

        if (at_ns >= 0) {
            times[count++] = at_ns;
            takes_part[node]++;
        }
    }
    iwi_sort(times, count, iwi_compare_i64);
    *nodes_p = (uint32_t)count;
    return times[count / 2];
}

/* ---- regularity ---- */

/* A period: most gaps between instants are whole multiples of their median; its mean over all of them. Gaps
 * are known to about a width. */
static int64_t period_of(const int64_t *at_ns, size_t count, int64_t width_ns, int64_t *gaps)
{
    const double most_off = 0.1, least_regular = 0.8;
    double whole = 0.0;
    size_t regular = 0;
    int64_t median_ns;

    if (count < 3) {
        return 0;
    }
    for (size_t i = 0; i + 1 < count; i++) {
        gaps[i] = at_ns[i + 1] - at_ns[i];
    }
    iwi_sort(gaps, count - 1, iwi_compare_i64);
    median_ns = gaps[(count - 1) / 2];
    if (median_ns < 3 * width_ns) {
        return 0;
    }
    for (size_t i = 0; i + 1 < count; i++) {
        const double times = (double)gaps[i] / (double)median_ns, rounded = round(times);

        regular += rounded >= 1.0 && fabs(times - rounded) <= most_off;
        whole += fmax(rounded, 1.0);
    }
    return (double)regular >= least_regular * (double)(count - 1)
               ? llround((double)(at_ns[count - 1] - at_ns[0]) / whole)
               : 0;
}

/* ---- all of it ---- */

static iw_status keep_instants(const iw_log *log, const int64_t *at_ns, const uint32_t *nodes, size_t count,
                               int64_t from_wall_ns, iw_coincidence_source *found)
{
    const size_t listed = count < IW_COINCIDENCE_LISTED ? count : IW_COINCIDENCE_LISTED;

    found->instants = iwi_new_array(log, listed, sizeof *found->instants);
    if (found->instants == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < listed; i++) {
        found->instants[i] = (iw_coincidence_instant){from_wall_ns + at_ns[i], nodes[i]};
    }
    found->instant_count = count;
    found->listed_count = listed;
    return IW_OK;
}

static iw_status keep_parts(const iw_log *log, const struct iwi_hit_cells *cells, int64_t length_ns,
                            iw_coincidence_source *found)
{
    found->part_nodes = iwi_new_array(log, IW_COINCIDENCE_PARTS, sizeof *found->part_nodes);
    if (found->part_nodes == NULL) {
        return IW_ERR_NOMEM;
    }
    found->part_count = IW_COINCIDENCE_PARTS;
    for (uint32_t cell = 0; cell < cells->cell_count; cell++) {
        const double at = (double)cell * (double)cells->width_ns / (double)length_ns;
        const size_t part = (size_t)fmin(at * IW_COINCIDENCE_PARTS, IW_COINCIDENCE_PARTS - 1.0);

        found->part_nodes[part] =
            (uint32_t)iwi_max((int64_t)found->part_nodes[part], (int64_t)cells->nodes_in[cell]);
    }
    return IW_OK;
}

static uint32_t often_there(const uint32_t *takes_part, size_t node_count, size_t instants)
{
    uint32_t often = 0;

    for (size_t node = 0; node < node_count; node++) {
        often += 2 * (size_t)takes_part[node] >= instants && instants > 0;
    }
    return often;
}

iw_status iwi_find_instants(const iw_log *log, const struct iwi_hit_source *source,
                            const iw_wall_window *window, struct iwi_hit_cells *cells,
                            iw_coincidence_source *found)
{
    struct instant *instants = iwi_new_array(log, cells->cell_count, sizeof *instants);
    int64_t *times = iwi_new_array(log, cells->node_count + 2 * (size_t)cells->cell_count, sizeof *times);
    uint32_t *numbers = iwi_new_array(log, cells->node_count + cells->cell_count, sizeof *numbers);
    int64_t *at_ns = times + cells->node_count, *gaps = at_ns + cells->cell_count;
    uint32_t *takes_part = numbers, *nodes = numbers + cells->node_count;
    iw_status status = instants != NULL && times != NULL && numbers != NULL ? IW_OK : IW_ERR_NOMEM;

    if (status == IW_OK) {
        size_t count;

        count_nodes(cells);
        count = find_cells(cells, instants);
        for (size_t i = 0; i < count; i++) {
            at_ns[i] = look_at(source, cells, &instants[i], takes_part, times, &nodes[i]);
        }
        found->period_ns = period_of(at_ns, count, cells->width_ns, gaps);
        found->nodes_together = often_there(takes_part, cells->node_count, count);
        status = keep_instants(log, at_ns, nodes, count, window->from_wall_ns, found);
    }
    if (status == IW_OK) {
        status = keep_parts(log, cells, window->length_ns, found);
    }
    free(instants);
    free(times);
    free(numbers);
    return status;
}
