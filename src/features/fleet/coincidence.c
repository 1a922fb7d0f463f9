/* Do detours of several nodes come at the same time? Sources of each node, tests of one source at one width
 * of time, findings.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/fleet/coincidence.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/opts.h"
#include "core/base/order.h"
#include "core/base/rng.h"
#include "core/noise/recording_head.h"
#include "features/fleet/fleet_cells.h"
#include "features/fleet/fleet_judge.h"
#include "kit/facts/recording_stats.h"

/* ======== when each source hit each node ======== */

static iw_status find_source(const iw_log *log, struct iwi_hit_table *table, const iw_source *source,
                             size_t *index_p)
{
    const iw_source pattern = iwi_fleet_pattern(source);
    struct iwi_hit_source *added;

    for (size_t i = 0; i < table->count; i++) {
        struct iwi_hit_source *known = &table->sources[i];

        if (known->pattern.kind == pattern.kind && strcmp(known->pattern.name, pattern.name) == 0) {
            known->has_other_names |= strcmp(known->first.name, source->name) != 0;
            *index_p = i;
            return IW_OK;
        }
    }
    IW_TRY(iwi_grow(log, (void **)&table->sources, &table->room, table->count + 1, sizeof *table->sources));
    added = &table->sources[table->count];
    *added = (struct iwi_hit_source){.pattern = pattern,
                                     .first = *source,
                                     .nodes = iwi_new_array(log, table->node_count, sizeof *added->nodes)};
    if (added->nodes == NULL) {
        return IW_ERR_NOMEM;
    }
    *index_p = table->count++;
    return IW_OK;
}

/* One node while its detours are looked through. */
struct collector {
    const iw_log *log;
    struct iwi_hit_table *table;
    const size_t *index; /* by source of the recording */
    size_t node;
    iw_status status;
};

static void collect(void *arg, uint32_t source, int64_t start_ns, int64_t time_ns)
{
    struct collector *c = arg;
    struct iwi_hit_source *row = &c->table->sources[c->index[source]];
    struct iwi_hits *hits = &row->nodes[c->node];

    if (c->status != IW_OK || start_ns >= c->table->length_ns) {
        return;
    }
    row->busy_ns += (double)time_ns;
    c->status = iwi_grow(c->log, (void **)&hits->at_ns, &hits->room, hits->count + 1, sizeof *hits->at_ns);
    if (c->status == IW_OK) {
        hits->at_ns[hits->count++] = start_ns;
    }
}

static iw_status collect_node(const iw_log *log, const iw_recording *recording, size_t node,
                              struct iwi_hit_table *table)
{
    size_t *index = iwi_new_array(log, recording->source_count, sizeof *index);
    struct collector collector = {log, table, index, node, index != NULL ? IW_OK : IW_ERR_NOMEM};

    for (size_t i = 0; i < recording->source_count && collector.status == IW_OK; i++) {
        collector.status = find_source(log, table, &recording->sources[i], &index[i]);
    }
    for (size_t i = 0; i < recording->cpu_count && collector.status == IW_OK; i++) {
        iwi_each_occurrence(&recording->cpus[i], collect, &collector);
    }
    table->cpu_count += recording->cpu_count;
    free(index);
    return collector.status;
}

/* Of recordings of one length. To be released also if it fails. */
static iw_status hit_table_fill(const iw_log *log, iw_recording *const *recordings, size_t count,
                                int64_t length_ns, struct iwi_hit_table *table)
{
    *table = (struct iwi_hit_table){.node_count = count, .length_ns = length_ns};
    for (size_t node = 0; node < count; node++) {
        IW_TRY(collect_node(log, recordings[node], node, table));
    }
    for (size_t i = 0; i < table->count; i++) {
        for (size_t node = 0; node < count; node++) { /* its CPUs came one after the other */
            struct iwi_hits *hits = &table->sources[i].nodes[node];

            iwi_sort(hits->at_ns, hits->count, iwi_compare_i64);
        }
    }
    return IW_OK;
}

static void hit_table_release(struct iwi_hit_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        for (size_t node = 0; node < table->node_count; node++) {
            free(table->sources[i].nodes[node].at_ns);
        }
        free(table->sources[i].nodes);
    }
    free(table->sources);
}

/* ======== random shifts of timelines ======== */

/* Time is cut into B cells. The statistic is the number of meetings in the middle two thirds of them,
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

/* Of the first `length_ns`. To be released also if it fails. */
static iw_status hit_cells_fill(const iw_log *log, const struct iwi_hit_source *source, size_t node_count,
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

static void hit_cells_release(struct iwi_hit_cells *cells)
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

/* Whether a test could tell anything: two nodes were hit, and not most of the time. */
static bool hit_cells_can_tell(const struct iwi_hit_cells *cells)
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

/* Meetings of two nodes in a cell beyond chance, as a share of the most there could be. */
static double hit_cells_together(struct iwi_hit_cells *cells)
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

/* The chance that nodes which are independent meet as often: by so many random shifts of their timelines; it
 * ends early when it is clear that p is no small number. */
static double hit_cells_chance(struct iwi_hit_cells *cells, uint64_t shifts, uint64_t seed, uint64_t test)
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

/* ======== all sources ======== */

/* Each source that enough nodes have is tested at a few widths of time. Of J tests one is an alarm if p <=
 * a / J (Bonferroni), so that of fleets of independent nodes at most a share a gets any. As p is at least
 * 1 / (1 + shifts), J / a shifts are enough.
 */

/* Clocks that agree, timers that fire late, daemons that wake up one after the other. */
static const int64_t widths_ns[] = {1000000, 30000000, 1000000000};
enum { WIDTHS = sizeof widths_ns / sizeof widths_ns[0] };

/* Sources that are tested, those that take most time; more tests need more evidence each. */
enum { MOST_SOURCES = 20 };

/* Cells that are hit, of all nodes together, in one test: of sources with more the first part is looked at.
 */
enum { MOST_HITS = 60000 };

/* A width needs so many cells, to be shifted in. */
enum { LEAST_CELLS = 60 };

/* One source while it is looked at. */
struct subject {
    const struct iwi_hit_source *hits;
    iw_coincidence_source found;
};

struct search {
    const iw_log *log;
    const iw_coincidence_opts *opts;
    struct iwi_hit_table table;
    iw_coincidence *result;
    struct subject *subjects;
    size_t tested_count; /* the first so many are tested */
};

/* ---- subjects ---- */

static void describe(const struct iwi_hit_table *table, const struct iwi_hit_source *hits,
                     struct subject *subject)
{
    iw_coincidence_source *found = &subject->found;

    subject->hits = hits;
    *found = (iw_coincidence_source){
        .source = hits->has_other_names ? hits->pattern : hits->first,
        .p = NAN,
        .share = hits->busy_ns / ((double)table->length_ns * fmax((double)table->cpu_count, 1.0))};
    for (size_t node = 0; node < table->node_count; node++) {
        found->nodes += hits->nodes[node].count > 0;
        found->occurrences += hits->nodes[node].count;
    }
}

/* Those that two nodes have, by share; then the others. */
IWI_COMPARE(compare_subjects, struct subject, IWI_ORDER(right->found.nodes >= 2, left->found.nodes >= 2),
            IWI_FALLING(found.share), IWI_TEXT(found.source.name))

static iw_status list_subjects(struct search *s)
{
    s->subjects = iwi_new_array(s->log, s->table.count, sizeof *s->subjects);
    if (s->subjects == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < s->table.count; i++) {
        if (s->table.sources[i].busy_ns > 0.0) {
            describe(&s->table, &s->table.sources[i], &s->subjects[s->result->source_count++]);
        }
    }
    iwi_sort(s->subjects, s->result->source_count, compare_subjects);
    while (s->tested_count < s->result->source_count && s->tested_count < MOST_SOURCES &&
           s->subjects[s->tested_count].found.nodes >= 2) {
        s->tested_count++;
    }
    return IW_OK;
}

/* ---- tests ---- */

/* So much of the time that all watched has no more than MOST_HITS. */
static int64_t looked_at_ns(const struct search *s, const struct subject *subject)
{
    const double part = (double)MOST_HITS / fmax((double)subject->found.occurrences, 1.0);

    return part < 1.0 ? llround(part * (double)s->table.length_ns) : s->table.length_ns;
}

static iw_status fill_cells(const struct search *s, const struct subject *subject, int64_t width_ns,
                            int64_t length_ns, struct iwi_hit_cells *cells, bool *can_tell_p)
{
    *can_tell_p = false;
    *cells = (struct iwi_hit_cells){0};
    if (length_ns / width_ns < LEAST_CELLS || length_ns / width_ns > UINT32_MAX / 2) {
        return IW_OK;
    }
    IW_TRY(hit_cells_fill(s->log, subject->hits, s->table.node_count, length_ns, width_ns, cells));
    *can_tell_p = hit_cells_can_tell(cells);
    return IW_OK;
}

static iw_status count_tests(struct search *s)
{
    for (size_t i = 0; i < s->tested_count * WIDTHS; i++) {
        const struct subject *subject = &s->subjects[i / WIDTHS];
        struct iwi_hit_cells cells;
        bool can_tell;
        const iw_status status =
            fill_cells(s, subject, widths_ns[i % WIDTHS], looked_at_ns(s, subject), &cells, &can_tell);

        s->result->tests += can_tell;
        hit_cells_release(&cells);
        IW_TRY(status);
    }
    return IW_OK;
}

/* The width with the smallest p counts; of several the narrowest, unless clearly more is together in a wider
 * one. Widths come in their order. */
static void take_test(iw_coincidence_source *found, double p, double together, int64_t width_ns)
{
    const double clearly_more = 1.1;

    if (!found->is_tested || p < found->p || (p <= found->p && together > clearly_more * found->together)) {
        found->p = p;
        found->together = together;
        found->width_ns = width_ns;
    }
    found->is_tested = true;
}

static iw_status test_subject(struct search *s, struct subject *subject)
{
    const uint64_t shifts = (uint64_t)ceil((double)s->result->tests / s->opts->false_alarms);
    const size_t number = (size_t)(subject - s->subjects);

    for (size_t i = 0; i < WIDTHS; i++) {
        struct iwi_hit_cells cells;
        bool can_tell;
        const iw_status status =
            fill_cells(s, subject, widths_ns[i], looked_at_ns(s, subject), &cells, &can_tell);

        if (status == IW_OK && can_tell) {
            const double p = hit_cells_chance(&cells, shifts, s->opts->seed, number * WIDTHS + i);

            take_test(&subject->found, p, hit_cells_together(&cells), widths_ns[i]);
        }
        hit_cells_release(&cells);
        IW_TRY(status);
    }
    subject->found.is_coincident =
        subject->found.is_tested && subject->found.p * (double)s->result->tests <= s->opts->false_alarms;
    return IW_OK;
}

static iw_status find_when(struct search *s, struct subject *subject)
{
    struct iwi_hit_cells cells;
    bool can_tell;
    iw_status status = fill_cells(s, subject, subject->found.width_ns, s->table.length_ns, &cells, &can_tell);

    if (status == IW_OK && cells.cell_count > 0) {
        status = iwi_find_instants(s->log, subject->hits, &s->result->window, &cells, &subject->found);
    }
    hit_cells_release(&cells);
    return status;
}

/* ---- the result ---- */

IWI_COMPARE(compare_found, iw_coincidence_source, IWI_FALLING(is_coincident), IWI_FALLING(share),
            IWI_TEXT(source.name))

static iw_status search_all(struct search *s)
{
    iw_coincidence *result = s->result;

    IW_TRY(list_subjects(s));
    IW_TRY(count_tests(s));
    result->sources = iwi_new_array(s->log, result->source_count, sizeof *result->sources);
    if (result->sources == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < result->source_count; i++) {
        iw_status status = i < s->tested_count ? test_subject(s, &s->subjects[i]) : IW_OK;

        if (status == IW_OK && s->subjects[i].found.is_coincident) {
            result->found_count++;
            status = find_when(s, &s->subjects[i]);
        }
        result->sources[i] = s->subjects[i].found;
        IW_TRY(status);
    }
    iwi_sort(result->sources, result->source_count, compare_found);
    return IW_OK;
}

/* Those that say when they were made, to the front; returns how many. */
static size_t choose(const char *const *names, iw_recording **recordings, size_t count,
                     const char **chosen_names, iw_recording **chosen)
{
    struct iwi_wall wall;
    size_t used = 0;

    for (size_t i = 0; i < count; i++) {
        if (iwi_recording_wall(recordings[i], &wall)) {
            chosen_names[used] = names[i];
            chosen[used++] = recordings[i];
            recordings[i] = NULL;
        }
    }
    return used;
}

/* Which nodes were at work, before the recordings are cut to pieces that do not say so. */
static iw_status find_caveats(struct search *s, const char *const *names, iw_recording *const *recordings)
{
    struct iwi_busy_nodes busy = {.count = 0};
    const char *first = "";

    for (size_t i = 0; i < s->result->node_count; i++) {
        iw_caveats caveats = {.count = 0};

        iw_caveats_of_recording(recordings[i], names[i], &caveats);
        if (iw_caveats_have(&caveats, IW_CAVEAT_BUSY)) {
            char *node = iw_node_name(s->log, names[i]);

            if (node == NULL) {
                return IW_ERR_NOMEM;
            }
            first = busy.count == 0 ? names[i] : first;
            iwi_busy_nodes_add(&busy, node);
            free(node);
        }
    }
    iw_caveats_of_nodes(first, busy.count, s->result->node_count, busy.names, &s->result->caveats);
    return IW_OK;
}

static iw_status find(struct search *s, const char *const *names, iw_recording **recordings)
{
    iw_coincidence *result = s->result;
    iw_status status;

    if (result->node_count < 2 || result->node_count > UINT16_MAX) {
        return iwi_fail(s->log, IW_ERR_RANGE,
                        "%zu recordings have a wall-clock time (start_wall_ns), but 2 to 65535 are needed; "
                        "record the nodes again, at the same time",
                        result->node_count);
    }
    IW_TRY(find_caveats(s, names, recordings));
    IW_TRY(iw_recordings_cut_to_wall(s->log, names, recordings, result->node_count, &result->window));
    status = hit_table_fill(s->log, recordings, result->node_count, result->window.length_ns, &s->table);
    if (status == IW_OK) {
        status = search_all(s);
    }
    hit_table_release(&s->table);
    free(s->subjects);
    return status;
}

iw_status iw_coincidence_find(const iw_log *log, const char *const *names, iw_recording **recordings,
                              size_t count, const iw_coincidence_opts *given, iw_coincidence **coincidence_p)
{
    iw_coincidence_opts opts = IW_COINCIDENCE_OPTS_INIT;
    struct search s = {.log = log, .opts = &opts};
    const char **chosen_names = iwi_new_array(log, count, sizeof *chosen_names);
    iw_recording **chosen = iwi_new_array(log, count, sizeof(iw_recording *));
    iw_status status = chosen_names != NULL && chosen != NULL ? IW_OK : IW_ERR_NOMEM;

    if (status == IW_OK && given != NULL) {
        status = IWI_READ_OPTS(log, "IW_COINCIDENCE_OPTS_INIT", given, &opts);
    }
    if (status == IW_OK && !(opts.false_alarms > 0.0 && opts.false_alarms <= 0.5)) {
        status = iwi_fail(log, IW_ERR_RANGE, "false_alarms must be above 0 and at most 0.5");
    }
    s.result = status == IW_OK ? iwi_new_array(log, 1, sizeof *s.result) : NULL;
    if (s.result != NULL) {
        s.result->node_count = choose(names, recordings, count, chosen_names, chosen);
        s.result->clock_less = count - s.result->node_count;
        s.result->false_alarms = opts.false_alarms;
        status = find(&s, chosen_names, chosen);
    } else if (status == IW_OK) {
        status = IW_ERR_NOMEM;
    }
    for (size_t i = 0; s.result != NULL && i < s.result->node_count; i++) {
        iw_recording_free(chosen[i]);
    }
    free(chosen);
    free(chosen_names);
    if (status != IW_OK) {
        iw_coincidence_free(s.result);
        return status;
    }
    *coincidence_p = s.result;
    return IW_OK;
}

void iw_coincidence_free(iw_coincidence *coincidence)
{
    if (coincidence == NULL) {
        return;
    }
    for (size_t i = 0; coincidence->sources != NULL && i < coincidence->source_count; i++) {
        free(coincidence->sources[i].instants);
        free(coincidence->sources[i].part_nodes);
    }
    free(coincidence->sources);
    free(coincidence->name);
    free(coincidence);
}
