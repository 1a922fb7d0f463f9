/* Whether nodes are hit together: which sources, how strongly, when.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Each source that enough nodes have is tested at a few widths of time. Of J tests one is an alarm if p <=
 * a / J (Bonferroni), so that of fleets of independent nodes at most a share a gets any. As p is at least
 * 1 / (1 + shifts), J / a shifts are enough.
 */
#include "features/fleet/coincidence.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/opts.h"
#include "core/base/order.h"
#include "core/noise/recording_wall.h"
#include "features/fleet/fleet_judge.h"

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
    IW_TRY(iwi_hit_cells_fill(s->log, subject->hits, s->table.node_count, length_ns, width_ns, cells));
    *can_tell_p = iwi_hit_cells_can_tell(cells);
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
        iwi_hit_cells_release(&cells);
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
            const double p = iwi_hit_cells_chance(&cells, shifts, s->opts->seed, number * WIDTHS + i);

            take_test(&subject->found, p, iwi_hit_cells_together(&cells), widths_ns[i]);
        }
        iwi_hit_cells_release(&cells);
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
    iwi_hit_cells_release(&cells);
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
                        "%zu recordings say when they were made by the wall clock (start_wall_ns), and it "
                        "takes 2 to 65535 to compare: record the nodes again, at the same time",
                        result->node_count);
    }
    IW_TRY(find_caveats(s, names, recordings));
    IW_TRY(iw_recordings_cut_to_wall(s->log, names, recordings, result->node_count, &result->window));
    status = iwi_hit_table_fill(s->log, recordings, result->node_count, result->window.length_ns, &s->table);
    if (status == IW_OK) {
        status = search_all(s);
    }
    iwi_hit_table_release(&s->table);
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
