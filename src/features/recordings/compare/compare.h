/* Between the parts of iw_noise_compare().
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_COMPARE_H
#define IWI_COMPARE_H

#include <idlewave/analysis.h>

#include "core/base/order.h"
#include "core/stats/block_bootstrap.h"
#include "kit/doc/doc.h"

/* One of the two recordings: its detours, and what is drawn from it. */
struct iwi_compared_side {
    iw_recording *detours; /* without those below the common threshold; freed by iwi_without_short_free() */
    iw_recording *losses;  /* of quanta, or NULL; `detours` borrows from them */
    struct iwi_blocks blocks;
    double *watched_ns; /* of all CPUs, by block */
    double *noise_ns, *count;
    int64_t *sorted_ns; /* durations of all CPUs, ascending */
    size_t sorted_count;
    struct iwi_resampling resampling;
};

void iwi_without_short_free(iw_recording *coarse, const iw_recording *recording);

/* Sum of the numerators by block over the time watched, of both sides, and the interval of their difference.
 */
IW_NODISCARD iw_status iwi_compare_ratio(const iw_log *log, const struct iwi_compared_side *a,
                                         const double *numerator_a, const struct iwi_compared_side *b,
                                         const double *numerator_b, iw_compare_value *value_p);

/* Median, 99th percentile and longest with their intervals, and both distances. */
IW_NODISCARD iw_status iwi_compare_durations(const iw_log *log, const struct iwi_compared_side *a,
                                             const struct iwi_compared_side *b,
                                             iw_noise_comparison *comparison);

/* comparison->sources. */
IW_NODISCARD iw_status iwi_compare_sources(const iw_log *log, const struct iwi_compared_side *a,
                                           const struct iwi_compared_side *b,
                                           iw_noise_comparison *comparison);

/* ---- what the document of comparisons and its figures share ---- */

/* "0.41 %", "263/s", "2.02 us"; "-" if there is none. The same of a difference, with its sign. */
const char *iwi_compare_number(struct iwi_document *doc, iw_compare_metric metric, double value);
const char *iwi_compare_change(struct iwi_document *doc, iw_compare_metric metric, double value);

/* "-0.13 % to +0.02 %"; "" if there is none. */
const char *iwi_compare_interval(struct iwi_document *doc, iw_compare_metric metric, iw_estimate difference);

/* "thread cron" */
const char *iwi_compare_source_name(struct iwi_document *doc, const iw_source *source);

static inline bool iwi_compare_is_quanta(const iw_noise_comparison *comparison)
{
    return iw_probe_has_quanta(comparison->a.probe);
}

/* ---- sentences (compare_words.c) ---- */

void iwi_compare_say_verdict(struct iwi_document *doc, const iw_noise_comparison *comparison);

/* How sure it is, and what differs besides the noise: items of the section "certainty". */
void iwi_compare_say_notes(struct iwi_document *doc, const iw_noise_comparison *comparison);

/* ---- figures: none where there is nothing to draw ---- */

#endif
