/* idlewave/internal/fidelity.h - is the noise that was made the noise that was asked for?
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *     iw_fidelity_inputs inputs = {.expected = &trace->cpus[0], .planned = &plan->cpus[0],
 *                                  .observed = &under->cpus[0], .host = &quiet->cpus[0],
 *                                  .time_scale = 9.0, .floor_ns = 2100.0};
 *     st = iw_fidelity_compare(log, &inputs, &fidelity);
 *
 * A probe watches a thread while noise is injected into it. What it saw is matched in time with what was to
 * be made; what nothing was made for is the host's own. src/features/replay/fidelity/README.md has the
 * equations.
 */
#ifndef IW_INTERNAL_FIDELITY_H
#define IW_INTERNAL_FIDELITY_H

#include <stdbool.h>
#include <stdio.h>

#include <idlewave/doc.h>
#include <idlewave/internal/inject.h>
#include <idlewave/recording.h>

#ifdef __cplusplus
extern "C" {
#endif

#define IW_FIDELITY_QUANTILES 6 /* p10, p25, p50, p75, p90, p99 */
double iw_fidelity_quantile(size_t q);

/* What is asked for. */
#define IW_FIDELITY_POWER 0.05         /* noise power: tolerated relative error, and as much beside it */
#define IW_FIDELITY_COUNT 0.01         /* tolerated relative error of the number of detours */
#define IW_FIDELITY_QUANTILE 0.10      /* each quantile, or */
#define IW_FIDELITY_QUANTILE_NS 3000.0 /* this error in ns as made, time scale included */

typedef struct iw_fidelity_inputs {
    const iw_detours *expected; /* the trace as it was recorded, before scaling */
    const iw_detours *planned;  /* what is to be made, after scaling; NULL: `expected`, scaled */
    const iw_detours *observed; /* under injection */
    const iw_detours *host;     /* without */
    double time_scale;          /* observed starts and durations are those of the trace times this */
    double floor_ns;            /* after scaling: no shorter detour can be made */
} iw_fidelity_inputs;

/** Durations, quantiles and distances are in the trace's time: as observed, over the time scale. Numbers that
 * do not exist are NaN. */
typedef struct iw_fidelity {
    double time_scale, floor_ns, watched_ns;
    /* Detours to be made while it was watched; those of them that came while the host had the CPU for far
     * longer, which are left out of all that follows; how many of these its noise explains. */
    uint64_t all_count, hidden_count;
    double hidden_by_host;
    /* Of the rest: all; seen; seen as one with the one before; not seen as they are but in far longer ones,
     * more than the host's noise explains. */
    uint64_t planned_count, matched_count, merged_count, excess_count;
    uint64_t observed_count, own_count; /* all that were seen; those that nothing was made for */
    double host_rate_hz, own_rate_hz;   /* the host's without injection, and meanwhile */
    double host_share, own_share;       /* of the time */
    double power_expected;              /* of the trace, for the time watched: a share of time */
    double power_observed;              /* in matched detours, without the host's part of them */
    double power_by_host;    /* the same from the host's recording: (observed - host) / (1 - host) */
    uint64_t compared_count; /* detours of the trace above the floor, made as recorded */
    double quantile_expected_ns[IW_FIDELITY_QUANTILES], quantile_observed_ns[IW_FIDELITY_QUANTILES];
    double ks, wasserstein_ns; /* of the same durations */
    double kl;                 /* of all durations of the trace against all that were matched, in nats */
    double late_spread_ns;     /* from the median to the 99th percentile of the starts' error, as made */
    bool is_hidden;            /* by the host, over three of four: nothing can be told */
    bool is_drowned;           /* what was not seen, or too much, may be the busy host's doing: the same */
    bool is_power_right, is_count_right, are_quantiles_right;
    bool is_own_right; /* what nothing was made for is no more than the host has without injection */
} iw_fidelity;

/** IW_ERR_RANGE: nothing was watched, a scale below 1. */
IW_NODISCARD iw_status iw_fidelity_compare(const iw_log *log, const iw_fidelity_inputs *inputs,
                                           iw_fidelity *fidelity_p);

/** The host left enough of the CPU. */
bool iw_fidelity_can_tell(const iw_fidelity *fidelity);

/** All of what is asked for, and enough was seen to tell. */
bool iw_fidelity_is_right(const iw_fidelity *fidelity);

/** How many times as far from the trace the naive injector's durations are, by KL. NaN: not known, or one of
 * both had less than 30, or less than nine of ten detours that the host did not hide, found again. */
struct iw_fidelity_report;
double iw_fidelity_kl_ratio(const struct iw_fidelity_report *report);

/** The detours of a plan as a recording of one CPU, after scaling: as they are to be made. */
IW_NODISCARD iw_status iw_inject_plan_recording(const iw_log *log, const iw_inject_plan *plan,
                                                iw_recording **recording_p);

/** What a report of a self-check needs. */
typedef struct iw_fidelity_report {
    const char *noise, *back_end; /* their names */
    iw_inject_costs costs;
    iw_inject_facts facts;
    iw_inject_counts counts;
    iw_fidelity fidelity;
    bool has_naive; /* the trace as it stands was made too: no scale, nothing subtracted, nothing merged */
    iw_fidelity naive;
} iw_fidelity_report;

iw_doc iw_fidelity_doc(const iw_fidelity_report *report);

#ifdef __cplusplus
}
#endif
#endif
