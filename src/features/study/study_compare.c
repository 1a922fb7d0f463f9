/* Series of a study side by side: what differs in one thing only.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include "core/base/base.h"
#include "features/study/study_figure.h"
#include "features/study/study_report.h"

static const iw_series *extreme(const struct iwi_comparison *c, double sign)
{
    const iw_series *found = NULL;
    double best = -INFINITY;

    for (size_t i = 0; i < c->count; i++) {
        const double slowdown = sign * iwi_median_slowdown(iwi_last_cell(c->members[i]));

        if (slowdown > best) {
            found = c->members[i];
            best = slowdown;
        }
    }
    return found;
}

/* A value alone says nothing in a sentence: "chic", "microbatches 8". */
static const char *name_of(struct iwi_document *doc, enum iwi_dim dim, const iw_series *series)
{
    const char *label = iwi_dim_label(doc, dim, series);

    return dim > IWI_DIMS ? iwi_say(doc, "%s %s", iwi_setting_key(dim), label) : label;
}

/* "chic takes 2.431 times as long as without noise" */
static const char *outcome(struct iwi_document *doc, enum iwi_dim dim, const iw_series *series)
{
    char slower[IWI_PHRASE_SIZE];

    return iwi_say(doc, "%s %s without noise", name_of(doc, dim, series),
                   iwi_slower_text(iwi_median_slowdown(iwi_last_cell(series)), slower));
}

static const char *extremes_text(struct iwi_document *doc, const struct iwi_comparison *c)
{
    const iw_series *most = extreme(c, 1.0), *least = extreme(c, -1.0);
    char ranks[IWI_NUMBER_SIZE];

    if (most == NULL) {
        return "";
    }
    iwi_ranks_text(iwi_last_cell(most)->ranks, ranks);
    return most == least ? iwi_say(doc, "By the median, at %s ranks %s. ", ranks, outcome(doc, c->dim, most))
                         : iwi_say(doc, "By the median, at %s ranks %s, the most; %s, the least. ", ranks,
                                   outcome(doc, c->dim, most), outcome(doc, c->dim, least));
}

static const char *message_of(struct iwi_document *doc, const struct iwi_comparison *c)
{
    enum { MOST = 6 };
    const char *message = extremes_text(doc, c), *separator = "Noise takes over: ";
    size_t over = 0;

    for (size_t i = 0; i < c->count; i++) {
        over += c->members[i]->inflection > 0.0;
    }
    if (over == 0 || c->count > MOST) {
        return over == 0 ? iwi_say(doc, "%sNoise never takes over.", message)
                         : iwi_say(doc, "%sNoise takes over in %zu of %zu.", message, over, c->count);
    }
    for (size_t i = 0; i < c->count; i++) {
        message = iwi_say(doc, "%s%s%s %s", message, separator, name_of(doc, c->dim, c->members[i]),
                          iwi_inflection_text(doc, c->members[i]));
        separator = "; ";
    }
    return iwi_say(doc, "%s.", message);
}

struct iwi_drawn_series iwi_study_drawn(const struct iwi_study_view *view, enum iwi_dim dim,
                                        const iw_series *series)
{
    return (struct iwi_drawn_series){.series = series,
                                     .label = iwi_dim_label(view->doc, dim, series),
                                     .style = iwi_dim_style(&view->panels, dim, series)};
}

struct iwi_figure *iwi_study_show_curves(const struct iwi_study_view *view, const struct iwi_comparison *c,
                                         const char *title)
{
    struct iwi_drawn_series *drawn = iwi_arena_take(&view->doc->arena, c->count, sizeof *drawn);
    struct iwi_figure *figure = NULL;
    iw_status made;

    if (drawn == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < c->count; i++) {
        drawn[i] = iwi_study_drawn(view, c->dim, c->members[i]);
    }
    made = iwi_study_curves_figure(view->doc->log, drawn, c->count, view->results->threshold, title,
                                   iwi_dim_name(c->dim, false), &figure);
    if (made == IW_OK) {
        figure->message = message_of(view->doc, c);
    }
    iwi_show_figure(view->doc, made, figure);
    return view->doc->status == IW_OK ? figure : NULL;
}

/* The series like number `first` but for the dimension; none if an earlier one has them already. */
static void gather(const struct iwi_panels *panels, struct iwi_comparison *c, size_t first)
{
    c->count = 0;
    for (size_t i = 0; i < panels->series_count; i++) {
        if (iwi_differ_only_in(c->dim, &panels->series[first], &panels->series[i])) {
            if (i < first) {
                c->count = 0;
                return;
            }
            c->members[c->count++] = &panels->series[i];
        }
    }
}

/* In sections after the first, what has nothing to be compared with has been shown before. */
static void say_dim(const struct iwi_study_view *view, enum iwi_dim dim, bool is_first)
{
    const struct iwi_panels *panels = &view->panels;
    struct iwi_document *doc = view->doc;
    struct iwi_comparison c = {
        .dim = dim, .members = iwi_arena_take(&doc->arena, panels->series_count, sizeof(iw_series *))};

    iwi_section(doc, iwi_say(doc, "slowdown-%d", (int)dim),
                !panels->varies[dim] ? "Relative time"
                                     : iwi_say(doc, "%s%s side by side", dim > IWI_DIMS ? "Values of " : "",
                                               iwi_dim_name(dim, true)));
    if (is_first) {
        iwi_note(doc, "Lines: the median time divided by the time without noise. Bands: its 95 %% confidence "
                      "interval. Triangles: where noise takes over, the bar below it the confidence interval "
                      "of that. Both axes are logarithmic.");
    }
    for (size_t i = 0; c.members != NULL && i < panels->series_count; i++) {
        gather(panels, &c, i);
        if (c.count > (is_first ? 0 : 1)) {
            struct iwi_figure *figure =
                iwi_study_show_curves(view, &c, iwi_series_label(doc, panels, c.members[0], dim));

            if (figure != NULL) {
                figure->is_wide = is_first;
            }
        }
    }
}

void iwi_study_say_slowdowns(const struct iwi_study_view *view)
{
    bool is_first = true;

    for (int dim = 0; dim < IWI_ALL_DIMS; dim++) {
        if (view->panels.varies[dim] && dim != IWI_DIM_SETTINGS) { /* they are compared each alone */
            say_dim(view, (enum iwi_dim)dim, is_first);
            is_first = false;
        }
    }
    if (is_first) {
        say_dim(view, IWI_DIM_SYSTEM, true);
    }
}
