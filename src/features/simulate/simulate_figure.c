/* The figures of single simulations: when trials or ranks end, and what the critical path is made of.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "features/simulate/simulate_report.h"
#include "kit/text/words.h"

/* ---- distribution ---- */

enum { LAST = IW_END_QUANTILES - 1, HALF = LAST / 2 };

/* Where the longest time is so many times the shortest, the axis is logarithmic. */
static const double WIDE_RANGE = 10.0;

static double noiseless_ns(const iw_simulation *s)
{
    return (double)s->run.noiseless_ps / (double)IW_PS_PER_NS;
}

/* Every trial where all are known. */
static void add_trials(struct iwi_figure *figure, const iw_simulation *s)
{
    const size_t count = s->trial_time_count;
    double *sorted_ns = iwi_new_array(NULL, count, sizeof *sorted_ns);
    struct iwi_mark *steps = iwi_figure_mark(figure, IWI_MARK_STEP, iwi_series_ink(0), NULL);

    if (sorted_ns == NULL) {
        figure->is_broken = true;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        sorted_ns[i] = (double)s->trial_times[i].makespan_ps / (double)IW_PS_PER_NS;
    }
    iwi_sort_doubles(sorted_ns, count);
    iwi_mark_add(figure, steps, (double[]){sorted_ns[0], 0.0});
    for (size_t i = 0; i < count; i++) {
        iwi_mark_add(figure, steps, (double[]){sorted_ns[i], (double)(i + 1) / (double)count});
    }
    free(sorted_ns);
}

static void add_quantiles(struct iwi_figure *figure, const iw_ends *ends)
{
    struct iwi_mark *line = iwi_figure_mark(figure, IWI_MARK_LINE, iwi_series_ink(0), NULL);

    for (size_t i = 0; i < IW_END_QUANTILES; i++) {
        iwi_mark_add(figure, line, (double[]){ends->quantiles_ns[i], iwi_end_percent(i) / 100.0});
    }
}

static bool has_band(const iw_simulation *s)
{
    return !s->distribution.is_of_ranks && !isnan(s->makespan_ns.mean_low);
}

static void add_marks(struct iwi_figure *figure, const iw_simulation *s)
{
    struct iwi_mark *mark;

    if (has_band(s)) {
        mark = iwi_figure_mark(figure, IWI_MARK_BAND, iwi_series_ink(0), NULL);
        iwi_mark_add(figure, mark, (double[]){s->makespan_ns.mean_low, 0.0, 1.0});
        iwi_mark_add(figure, mark, (double[]){s->makespan_ns.mean_high, 0.0, 1.0});
    }
    if (iwi_is_disturbed(s)) {
        mark = iwi_figure_mark(figure, IWI_MARK_RULE_X, IWI_INK_TEXT, NULL);
        mark->dash = IWI_DOTTED;
        iwi_mark_add_named(figure, mark, (double[]){noiseless_ns(s)}, "without noise", false);
    }
    if (!s->distribution.is_of_ranks && s->trial_time_count > 1 &&
        s->trial_time_count <= IWI_MOST_TRIAL_TIMES) {
        add_trials(figure, s);
    } else {
        add_quantiles(figure, &s->distribution);
    }
}

static double largest(const iw_simulation *s)
{
    return s->distribution.quantiles_ns[LAST] / noiseless_ns(s) - 1.0;
}

static void add_time(struct iwi_figure *figure, const iw_simulation *s, double ns)
{
    const double quiet_ns = noiseless_ns(s);
    char number[IWI_NUMBER_SIZE];

    iwi_figure_cell(figure, "%s", iwi_ns_time_text(ns, number));
    iwi_figure_cell(figure, "%s",
                    iwi_slowdown_column_text(quiet_ns > 0.0 ? ns / quiet_ns - 1.0 : NAN, largest(s), number));
}

static void add_table(struct iwi_figure *figure, const iw_simulation *s, const char *of)
{
    iwi_figure_table(figure, "End times of the %s", of);
    iwi_figure_head(figure, true, "Have ended");
    iwi_figure_head(figure, false, "By then");
    iwi_figure_head(figure, false, largest(s) < 1.0 ? "Slowdown" : "Relative");
    iwi_figure_cell(figure, "without noise");
    add_time(figure, s, noiseless_ns(s));
    for (size_t i = 0; i < IW_END_QUANTILES; i++) {
        if (i == 0 || i == LAST) {
            iwi_figure_cell(figure, "the %s of the %s", i == 0 ? "first" : "last", of);
        } else {
            iwi_figure_cell(figure, "%g %% of the %s", iwi_end_percent(i), of);
        }
        add_time(figure, s, s->distribution.quantiles_ns[i]);
    }
}

static void add_message(struct iwi_figure *figure, const iw_simulation *s, const char *of)
{
    const double *ns = s->distribution.quantiles_ns;
    char message[IWI_PARAGRAPH_SIZE] = "", text[3][IWI_NUMBER_SIZE];

    if (ns[0] == ns[LAST]) {
        iwi_append(message, "All %s end at %s.", of, iwi_ns_time_text(ns[LAST], text[0]));
    } else {
        iwi_append(message, "Half of the %s end by %s, all of them between %s and %s.", of,
                   iwi_ns_time_text(ns[HALF], text[0]), iwi_ns_time_text(ns[0], text[1]),
                   iwi_ns_time_text(ns[LAST], text[2]));
    }
    if (iwi_is_disturbed(s)) {
        iwi_append(message, " Dotted line: without noise, %s.", iwi_ns_time_text(noiseless_ns(s), text[0]));
    }
    iwi_append(message, has_band(s) ? " Band: 95 %% CI of the mean." : "");
    figure->message = iwi_figure_text(figure, "%s", message);
}

iw_status iwi_ends_figure(const iw_log *log, const iw_simulation *s, struct iwi_figure **figure_p)
{
    const char *of = s->distribution.is_of_ranks ? "ranks" : "trials";
    const double *ns = s->distribution.quantiles_ns;
    const double low_ns = iwi_is_disturbed(s) ? fmin(ns[0], noiseless_ns(s)) : ns[0];
    struct iwi_figure *figure;

    IW_TRY(iwi_figure_new(log, s->distribution.is_of_ranks ? "When the ranks end" : "When the trials end",
                          &figure));
    figure->height = 0.46;
    figure->is_wide = true;
    figure->x = (struct iwi_figure_axis){
        .label = "Time", .unit = IWI_AXIS_NS, .is_log = low_ns > 0.0 && ns[LAST] > WIDE_RANGE * low_ns};
    figure->y = (struct iwi_figure_axis){.label = s->distribution.is_of_ranks ? "Ranks that have ended"
                                                                              : "Trials that have ended",
                                         .unit = IWI_AXIS_SHARE,
                                         .high = 1.0};
    add_marks(figure, s);
    add_table(figure, s, of);
    add_message(figure, s, of);
    *figure_p = figure;
    return IW_OK;
}

/* ---- critical path ---- */

enum { PATH_LAST, PATH_AVERAGE_RANK, PATH_AVERAGE_TRIAL, PATHS };

/* A stretch of the bars. */
struct stretch {
    const char *name;  /* of the legend */
    const char *level; /* all that messages cost at this level; NULL: one part */
    bool is_noise;
    double ns[PATHS];
};

static void add_ns(struct stretch *stretch, const iw_explained_part *part)
{
    const double ns[PATHS] = {part->last_ns, part->mean_ns, part->average_ns.value};

    for (size_t row = 0; row < PATHS; row++) {
        stretch->ns[row] += fmax(ns[row], 0.0); /* also of what is not known */
    }
}

/* Noise has one colour, and so one stretch. */
static bool belongs_to(const iw_explained_part *part, const struct stretch *stretch)
{
    return (part->is_noise && stretch->is_noise) ||
           (part->level != NULL && stretch->level != NULL && strcmp(part->level, stretch->level) == 0);
}

static struct stretch *find_stretch(struct stretch *stretches, size_t count, const iw_explained_part *part)
{
    for (size_t i = 0; i < count; i++) {
        if (belongs_to(part, &stretches[i])) {
            return &stretches[i];
        }
    }
    return NULL;
}

/* Sources of noise, and parts of a network with levels, are too many for colours: they are joined, the latter
 * by level. Returns their number. */
static size_t list_stretches(struct iwi_document *doc, const iw_explained *explained,
                             struct stretch *stretches)
{
    size_t count = 0;

    for (size_t i = 0; stretches != NULL && i < explained->part_count; i++) {
        const iw_explained_part *part = &explained->parts[i];
        struct stretch *of = find_stretch(stretches, count, part);

        if (of != NULL && part->is_noise) {
            of->name = "noise of all sources";
        } else if (of == NULL) {
            of = &stretches[count++];
            *of = (struct stretch){.name = part->level != NULL
                                               ? iwi_doc_printf(doc, "messages at level %s", part->level)
                                               : iwi_part_words(doc, part),
                                   .level = part->level,
                                   .is_noise = part->is_noise};
        }
        add_ns(of, part);
    }
    return count;
}

/* Parts of the network have colours of their own; those that no path has are left out. */
static void add_stretches(struct iwi_document *doc, struct iwi_figure *figure,
                          const struct stretch *stretches, size_t count)
{
    const double half = 0.22, offset = 0.06; /* of a row, below its name */
    double from_ns[PATHS] = {0.0};
    size_t index = 0;

    for (size_t i = 0; i < count; i++) {
        const struct stretch *s = &stretches[i];
        struct iwi_mark *bars;

        if (s->ns[PATH_LAST] + s->ns[PATH_AVERAGE_RANK] + s->ns[PATH_AVERAGE_TRIAL] <= 0.0) {
            continue;
        }
        bars = iwi_figure_mark(figure, IWI_MARK_BAR, s->is_noise ? IWI_INK_NOISE : iwi_series_ink(index),
                               s->name);
        for (size_t row = 0; row < figure->y.name_count; row++) {
            const double middle = (double)row + 1.0 + offset;

            iwi_mark_add_named(
                figure, bars,
                (double[]){from_ns[row], from_ns[row] + s->ns[row], middle - half, middle + half},
                iwi_ns(doc, s->ns[row]), false);
            from_ns[row] += s->ns[row];
        }
        index++;
    }
}

static void add_path_message(struct iwi_document *doc, struct iwi_figure *figure,
                             const iw_explained *explained, const struct stretch *stretches, size_t count)
{
    const char *largest = "nothing";
    double most_ns = 0.0, sum_ns = 0.0;

    for (size_t i = 0; i < count; i++) {
        const double ns = stretches[i].ns[PATH_LAST];

        sum_ns += ns;
        if (ns > most_ns) {
            most_ns = ns;
            largest = stretches[i].name;
        }
    }
    figure->message = iwi_figure_text(
        figure,
        "Critical path to the last rank, %" PRIu32
        ", in the trial with the median time: the largest part, %s, is %.120s; it has %" PRIu64
        " messages.%s",
        explained->last_rank, iwi_percent(doc, most_ns / fmax(sum_ns, 1e-3)), largest, explained->hops,
        explained->average != NULL
            ? iwi_doc_printf(doc, " The third bar is the mean of such paths over %" PRIu64 " trials.",
                             explained->average->trials)
            : "");
}

iw_status iwi_path_figure(struct iwi_document *doc, const iw_explained *explained,
                          struct iwi_figure **figure_p)
{
    struct stretch *stretches = iwi_arena_take(&doc->arena, explained->part_count, sizeof *stretches);
    const size_t count = list_stretches(doc, explained, stretches);
    struct iwi_figure *figure;

    IW_TRY(iwi_figure_new(doc->log, "The critical path", &figure));
    figure->is_wide = true;
    figure->x = (struct iwi_figure_axis){.label = "Time", .unit = IWI_AXIS_NS};
    figure->y = (struct iwi_figure_axis){.label = "", .unit = IWI_AXIS_NAMES};
    iwi_axis_name(figure, &figure->y, "last rank");
    iwi_axis_name(figure, &figure->y, "average rank");
    if (explained->average != NULL) {
        iwi_axis_name(figure, &figure->y, "last rank, average of the trials");
    }
    figure->height = 0.12 + 0.1 * (double)figure->y.name_count;
    add_stretches(doc, figure, stretches, count);
    add_path_message(doc, figure, explained, stretches, count);
    *figure_p = figure;
    return IW_OK;
}
