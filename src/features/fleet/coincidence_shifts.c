/* One source at one width: do nodes meet more often than if they were independent?
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Time is cut into B cells. The statistic is the number of meetings in the middle two thirds of them,
 *
 *   S = sum over cells b of N_b (N_b - 1) / 2,   N_b: nodes that were hit in b
 *
 * If nodes are independent and their noise is stationary, each may as well have begun to record a little
 * earlier or later: with the timeline of each node shifted by its own random number of cells, up to a sixth
 * of all, S is distributed as it was. So
 *
 *   p = (1 + shifts with an S at least as large) / (1 + shifts)
 *
 * is no smaller than it should be, whatever the law of the noise: periods, bursts and rates of each node stay
 * as they are in its timeline. Nothing is wrapped around, which would break the step of periodic noise at the
 * seam and make chance look rarer than it is. Of noise with a period that is long against the shifts p is too
 * large, never too small: lags between two nodes have a triangular density, the Fourier transform of which is
 * nowhere below 0, so that its values at all multiples of a period P add up to 1/P or more.
 *
 * With x_n cells that are hit on node n in all, chance brings E = sum of x_n x_m / B over pairs together, and
 * no more than the sum of min(x_n, x_m) can be: `together` is (S - E) / (most - E), S of all cells.
 */
#include "features/fleet/coincidence.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/rng.h"

/* A test ends when so many shifts had as many meetings: p is known well enough then. */
enum { ENOUGH_SHIFTS = 10 };

/* ---- cells ---- */

static size_t hits_before(const struct iwi_hits *hits, int64_t length_ns)
{
    size_t count = hits->count;

    while (count > 0 && hits->at_ns[count - 1] >= length_ns) {
        count--;
    }
    return count;
}

iw_status iwi_hit_cells_fill(const iw_log *log, const struct iwi_hit_source *source, size_t node_count,
                             int64_t length_ns, int64_t width_ns, struct iwi_hit_cells *cells)
{
    const uint32_t cell_count = (uint32_t)(length_ns / width_ns);
    size_t most = 0, used = 0;

    *cells = (struct iwi_hit_cells){.width_ns = width_ns, .cell_count = cell_count, .node_count = node_count};
    for (size_t node = 0; node < node_count; node++) {
        most += hits_before(&source->nodes[node], cell_count * width_ns);
    }
    cells->first = iwi_new_array(log, node_count + 1, sizeof *cells->first);
    cells->cell = iwi_new_array(log, most, sizeof *cells->cell);
    cells->nodes_in = iwi_new_array(log, cell_count, sizeof *cells->nodes_in);
    cells->shift = iwi_new_array(log, node_count, sizeof *cells->shift);
    if (cells->first == NULL || cells->cell == NULL || cells->nodes_in == NULL || cells->shift == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t node = 0; node < node_count; node++) {
        const struct iwi_hits *hits = &source->nodes[node];
        const size_t count = hits_before(hits, cell_count * width_ns);

        cells->first[node] = used;
        for (size_t i = 0; i < count; i++) {
            const uint32_t cell = (uint32_t)(hits->at_ns[i] / width_ns);

            if (used == cells->first[node] || cells->cell[used - 1] != cell) {
                cells->cell[used++] = cell;
            }
        }
    }
    cells->first[node_count] = used;
    return IW_OK;
}

void iwi_hit_cells_release(struct iwi_hit_cells *cells)
{
    free(cells->first);
    free(cells->cell);
    free(cells->nodes_in);
    free(cells->shift);
}

static size_t hit_cells_of(const struct iwi_hit_cells *cells, size_t node)
{
    return cells->first[node + 1] - cells->first[node];
}

bool iwi_hit_cells_can_tell(const struct iwi_hit_cells *cells)
{
    size_t nodes = 0;

    for (size_t node = 0; node < cells->node_count; node++) {
        nodes += hit_cells_of(cells, node) > 0;
    }
    return nodes >= 2 && cells->first[cells->node_count] * 2 <= nodes * cells->cell_count;
}

/* ---- meetings ---- */

/* Cells at each end that shifts may bring in or take out. */
static uint32_t margin_of(const struct iwi_hit_cells *cells)
{
    return cells->cell_count / 6;
}

/* Meetings in `count` cells, the first of which is cell shift[node] of each node. nodes_in is left as it was
 * found: 0. */
static uint64_t count_meetings(struct iwi_hit_cells *cells, const uint32_t *shift, uint32_t count)
{
    uint64_t meetings = 0;

    for (size_t node = 0; node < cells->node_count; node++) {
        for (size_t i = cells->first[node]; i < cells->first[node + 1]; i++) {
            const uint32_t at = cells->cell[i] - shift[node]; /* what is before it is a large number */

            if (at < count) {
                meetings += cells->nodes_in[at]++;
            }
        }
    }
    memset(cells->nodes_in, 0, count * sizeof *cells->nodes_in);
    return meetings;
}

/* As they are, with the first cell to be counted. */
static uint64_t meetings_from(struct iwi_hit_cells *cells, uint32_t first, uint32_t count)
{
    for (size_t node = 0; node < cells->node_count; node++) {
        cells->shift[node] = first;
    }
    return count_meetings(cells, cells->shift, count);
}

double iwi_hit_cells_together(struct iwi_hit_cells *cells)
{
    const double meetings = (double)meetings_from(cells, 0, cells->cell_count);
    double expected = 0.0, most = 0.0;

    for (size_t n = 0; n < cells->node_count; n++) {
        for (size_t m = 0; m < n; m++) {
            const double x = (double)hit_cells_of(cells, n), y = (double)hit_cells_of(cells, m);

            expected += x * y / (double)cells->cell_count;
            most += x < y ? x : y;
        }
    }
    return most > expected ? (meetings - expected) / (most - expected) : 0.0;
}

double iwi_hit_cells_chance(struct iwi_hit_cells *cells, uint64_t shifts, uint64_t seed, uint64_t test)
{
    const uint32_t margin = margin_of(cells), count = cells->cell_count - 2 * margin;
    const uint64_t meetings = meetings_from(cells, margin, count);
    uint64_t done = 0, as_many = 0;

    while (done < shifts && as_many < ENOUGH_SHIFTS) {
        const struct iwi_draw_id draw = {
            .seed = seed, .trial = done, .purpose = IWI_DRAW_BOOTSTRAP, .source = (uint32_t)test};

        for (size_t node = 0; node < cells->node_count; node++) {
            cells->shift[node] = (uint32_t)iwi_draw_below(draw, node, 2 * (uint64_t)margin + 1);
        }
        as_many += count_meetings(cells, cells->shift, count) >= meetings;
        done++;
    }
    return (double)(1 + as_many) / (double)(1 + done);
}
