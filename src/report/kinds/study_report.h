/* What the reports of studies share: panels of series, and words and numbers about them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_STUDY_REPORT_H
#define IWI_STUDY_REPORT_H

#include <idlewave/study.h>

#include "report/kinds/report.h"

/* One picture: series that differ only in their system (and its network and noise). */
struct iwi_panel {
    const iw_cell_result *cell; /* any one: work, bytes, sync and net_scale are the panel's */
    size_t count;
    const iw_series **series; /* in the order of the study */
};

struct iwi_panels {
    size_t series_count, count;
    iw_series *series;
    const iw_series **members; /* what the panels' lists are parts of */
    struct iwi_panel *panels;  /* in the order in which the study first names them */
};

IW_NODISCARD iw_status iwi_panels_new(const iw_log *log, const iw_study_results *results,
                                      struct iwi_panels *panels);
void iwi_panels_release(struct iwi_panels *panels);

/* All systems have the same single number of ranks: it is no axis. */
bool iwi_panel_is_flat(const struct iwi_panel *panel);

/* T/T0 - 1 of a time of this cell; NaN where nothing takes time without noise. */
double iwi_cell_slowdown(const iw_cell_result *cell, double makespan_ns);
double iwi_mean_slowdown(const iw_cell_result *cell);
double iwi_median_slowdown(const iw_cell_result *cell);

/* Whether noise has taken over in this cell: a matter of the median (docs/explanation/inflection.md). */
bool iwi_is_dominated(const iw_cell_result *cell, double threshold);

/* The numbers of a cell as files have them: times in ns, slowdowns as T/T0 - 1, of mean and median and of the
 * bounds of their 95 % intervals. */
enum iwi_cell_column {
    IWI_COLUMN_NOISE_SHARE,
    IWI_COLUMN_NOISELESS,
    IWI_COLUMN_MIN,
    IWI_COLUMN_P5,
    IWI_COLUMN_Q1,
    IWI_COLUMN_MEDIAN,
    IWI_COLUMN_Q3,
    IWI_COLUMN_P95,
    IWI_COLUMN_MAX,
    IWI_COLUMN_MEAN,
    IWI_COLUMN_MEAN_LOW,
    IWI_COLUMN_MEAN_HIGH,
    IWI_COLUMN_MEDIAN_LOW,
    IWI_COLUMN_MEDIAN_HIGH,
    IWI_COLUMN_MEAN_SLOWDOWN,
    IWI_COLUMN_MEAN_SLOWDOWN_LOW,
    IWI_COLUMN_MEAN_SLOWDOWN_HIGH,
    IWI_COLUMN_MEDIAN_SLOWDOWN,
    IWI_COLUMN_MEDIAN_SLOWDOWN_LOW,
    IWI_COLUMN_MEDIAN_SLOWDOWN_HIGH,
    IWI_CELL_COLUMNS
};
extern const char *const iwi_cell_columns[IWI_CELL_COLUMNS]; /* their names */
void iwi_cell_numbers(const iw_cell_result *cell, double numbers[IWI_CELL_COLUMNS]);

/* The cell with the largest mean slowdown, or NULL if none of them has one. */
const iw_cell_result *iwi_worst_of_series(const iw_series *series);

/* A line of the study's origin ("host", "command"), or NULL. */
const char *iwi_study_origin_line(const iw_study_results *results, const char *name);

/* ---- words ---- */

/* "allreduce:dissemination, 1 B, one start for all ranks, network 10 times faster". */
const char *iwi_panel_title(const struct iwi_panel *panel, char buf[IWI_PHRASE_SIZE]);

/* What of it tells apart panels of one work: "1 B, network 10 times faster". May be "". */
const char *iwi_panel_details(const iw_cell_result *cell, char buf[IWI_PHRASE_SIZE]);

/* "from 4,930 ranks on", "from 2 or fewer on", "not up to 1,048,576 ranks"; "at 64 ranks" if there is only
 * one number. */
const char *iwi_inflection_text(const iw_series *series, char buf[IWI_PHRASE_SIZE]);

/* Its 95 % interval: "4,500 to 5,210", "4,500 or more", "up to 40", "" if there is none. */
const char *iwi_inflection_interval_text(const iw_series *series, char buf[IWI_PHRASE_SIZE]);

/* ---- numbers ---- */

/* "1,048,576" */
const char *iwi_ranks_text(uint64_t ranks, char buf[IWI_NUMBER_SIZE]);

/* The same for estimates, with three significant digits: "291", "4,930", "123,000", "12.3 M". */
const char *iwi_about_ranks_text(double ranks, char buf[IWI_NUMBER_SIZE]);

/* "1 B", "64 KiB", "1 MiB", "1000 B" */
const char *iwi_bytes_text(uint64_t bytes, char buf[IWI_NUMBER_SIZE]);

/* ---- for a terminal ---- */

/* Where the text goes, and how it is drawn. */
struct iwi_page {
    FILE *out;
    bool has_colour;
    double threshold; /* of the slowdown */
};

/* What the signs of iwi_write_panel_text() mean. */
void iwi_write_panel_legend(const struct iwi_page *page);

/* Box plots with their numbers, 80 columns. */
void iwi_write_panel_text(const struct iwi_page *page, const struct iwi_panel *panel);

/* Where noise takes over, in words, for all panels. */
void iwi_write_study_verdict(const struct iwi_page *page, const iw_study_results *results,
                             const struct iwi_panels *panels);

/* ANSI codes ("1" bold, "31" red), if there are colours; an empty code ends them. */
void iwi_ink(const struct iwi_page *page, const char *code);

#endif
