/* What the files about studies share: series and their panels, words and numbers about them, figures.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_STUDY_REPORT_H
#define IWI_STUDY_REPORT_H

#include <stddef.h>

#include <idlewave/study.h>

#include "features/study/study_report.h"
#include "kit/doc/doc.h"
#include "kit/figure/figure.h"
#include "kit/text/words.h"

/* What can differ between series; of settings of training programs each alone too. */
enum iwi_dim {
    IWI_DIM_SYSTEM,
    IWI_DIM_WORK,
    IWI_DIM_SETTINGS, /* all together */
    IWI_DIM_BYTES,
    IWI_DIM_SYNC,
    IWI_DIM_NET,
    IWI_DIMS,
    IWI_DIM_SETTING, /* the first of iw_training_key(), and so on; jitter behind them */
    IWI_ALL_DIMS = IWI_DIM_SETTING + 80
};

/* One series as it is drawn. */
struct iwi_drawn_series {
    const iw_series *series;
    const char *label;
    size_t style; /* its number among those that differ: the same in all figures */
};

/* One picture: series that differ only in their system (and its network and noise), or in a setting. */
struct iwi_panel {
    const iw_series *first;
    const iw_cell_result *cell; /* of the first: work, bytes, sync and net_scale are the panel's */
    size_t count;
    const iw_series **series; /* in the order of the study */
};

struct iwi_panels {
    size_t series_count, count;
    iw_series *series;         /* in the order of the study */
    const iw_series **members; /* what the panels' lists are parts of */
    struct iwi_panel *panels;  /* in the order in which the study first names them */
    bool varies[IWI_ALL_DIMS];
    enum iwi_dim by; /* what series of a panel differ in: a setting if any varies, else the system */
};

IW_NODISCARD iw_status iwi_panels_new(const iw_log *log, const iw_study_results *results,
                                      struct iwi_panels *panels);
void iwi_panels_release(struct iwi_panels *panels);

/* All systems have the same single number of ranks, or each settings one: it is no axis. */
bool iwi_is_flat_pair(const iw_series *a, const iw_series *b);
bool iwi_panel_is_flat(const struct iwi_panel *panel);

/* The key that one setting has; NULL: there is none so far on. */
const char *iwi_setting_key(enum iwi_dim dim);

/* Where its value begins in the settings of a cell, and how long it is; "" if it has none. */
const char *iwi_setting_value(const iw_cell_result *cell, const char *key, size_t *length_p);

bool iwi_dim_is_same(enum iwi_dim dim, const iw_series *a, const iw_series *b);
bool iwi_differ_only_in(enum iwi_dim dim, const iw_series *a, const iw_series *b);

/* The same value has the same colour in all figures: its number among the values of the study. */
unsigned iwi_dim_style(const struct iwi_panels *panels, enum iwi_dim dim, const iw_series *series);

/* ---- cells ---- */

/* T/T0 - 1 of a time of this cell; NaN where nothing takes time without noise. */
double iwi_cell_slowdown(const iw_cell_result *cell, double makespan_ns);
double iwi_mean_slowdown(const iw_cell_result *cell);
double iwi_median_slowdown(const iw_cell_result *cell);

/* Whether noise has taken over in this cell: a matter of the median (docs/explanation/inflection.md). */
bool iwi_is_dominated(const iw_cell_result *cell, double threshold);

/* The cell with the most ranks; that with the largest mean slowdown, or NULL if none of them has one. */
const iw_cell_result *iwi_last_cell(const iw_series *series);
const iw_cell_result *iwi_worst_of_series(const iw_series *series);

/* ---- words ---- */

/* As it is for pages; fit for a terminal and for gnuplot else. */
const char *iwi_study_name(struct iwi_document *doc, const char *name);

/* Heads a column or a section: "System", "Systems". */
const char *iwi_dim_name(enum iwi_dim dim, bool is_plural);

/* "chic", "1 MiB", "network 10 times faster". */
const char *iwi_dim_label(struct iwi_document *doc, enum iwi_dim dim, const iw_series *series);

/* What sets the series apart from others, `but` left out: "allreduce, 1 MiB"; the work if nothing does. */
const char *iwi_series_label(struct iwi_document *doc, const struct iwi_panels *panels,
                             const iw_series *series, enum iwi_dim but);

/* "allreduce:dissemination, 1 B, noise synchronised at the start, network 10 times faster". */
const char *iwi_panel_title(struct iwi_document *doc, const iw_cell_result *cell);

/* "from 4,930 ranks on", "from 2 or fewer on", "not up to 1,048,576 ranks"; "at 64 ranks" if there is only
 * one number. */
const char *iwi_inflection_text(struct iwi_document *doc, const iw_series *series);

/* Its 95 % interval: "4,500 to 5,210", "4,500 or more", "up to 40", "" if there is none. */
const char *iwi_inflection_interval_text(struct iwi_document *doc, const iw_series *series);

/* What is there to say of a study: its verdict, each system in a sentence, how sure all that is. */
void iwi_study_say_verdict(struct iwi_document *doc, const iw_study_results *results,
                           const struct iwi_panels *panels);
void iwi_study_say_systems(struct iwi_document *doc, const struct iwi_panels *panels);
void iwi_study_say_notes(struct iwi_document *doc, const iw_study_results *results);

/* ---- parts of documents ---- */

struct iwi_study_view {
    struct iwi_document *doc;
    const iw_study_results *results;
    struct iwi_panels panels;
};

/* Series that differ only in `dim`. */
struct iwi_comparison {
    enum iwi_dim dim;
    size_t count;
    const iw_series **members;
};

/* NULL: it failed, which the document knows. */
struct iwi_figure *iwi_study_show_curves(const struct iwi_study_view *view, const struct iwi_comparison *c,
                                         const char *title);

/* How times are distributed, a panel each. */
void iwi_study_say_panels(const struct iwi_study_view *view);

/* A section for each thing that varies. */
void iwi_study_say_slowdowns(const struct iwi_study_view *view);

/* Of a study: " 3 of 12 cells are lower bounds: their recordings cannot show ...; record 40 min for estimates
 * of all." Nothing where there are none. */
void iwi_append_bounds(char paragraph[IWI_PARAGRAPH_SIZE], const iw_study_results *results);

/* Of a study: " 3 of 12 cells are from laws fitted to the recording (poisson:9.9Hz,exp:20us), not from it."
 * Nothing where there are none. */
void iwi_append_extrapolated(char paragraph[IWI_PARAGRAPH_SIZE], const iw_study_results *results);

/* ======== figures ======== */

/* `axis` is what the series are, where they stand side by side.
 *
 * Times of the median over ranks, in times of that without noise, with intervals and where noise takes over;
 * side by side where all have the same single number of ranks. */
IW_NODISCARD iw_status iwi_study_curves_figure(const iw_log *log, const struct iwi_drawn_series *drawn,
                                               size_t count, double threshold, const char *title,
                                               const char *axis, struct iwi_figure **figure_p);

/* How times are distributed, over ranks; several series only where each has one number of ranks. The axis of
 * time has `low_ns` to `high_ns`, so that figures can be compared. */
IW_NODISCARD iw_status iwi_study_boxes_figure(const iw_log *log, const struct iwi_drawn_series *drawn,
                                              size_t count, double threshold, double low_ns, double high_ns,
                                              const char *title, const char *axis,
                                              struct iwi_figure **figure_p);

/* Smallest and largest time of the series; widens what is there (INFINITY, 0 to begin with). */
void iwi_study_limits(const iw_series *series, double *low_ns, double *high_ns);

/* ======== where noise takes over ======== */

struct iwi_curve_point {
    double ranks;
    double slowdown; /* T/T0 - 1; NaN counts as below any threshold */
};

/* The fewest ranks from which on the slowdown stays at or above the threshold, 0 if the last point is below
 * it. Points ascend by ranks. Between the last point below and the next one log(1 + slowdown) is taken as
 * linear in log(ranks): the straight line between two medians on log axes. */
double iwi_inflection(const struct iwi_curve_point *points, size_t count, double threshold);

#endif
