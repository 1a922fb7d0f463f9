/* The verdict in words, and how sure it is.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "report/kinds/reach_report.h"
#include "report/kinds/result_report.h"

#include <math.h>

#include "base/base.h"

/* Half the width of the mean's interval, over the mean, above which more trials are advised. */
static const double WIDE_INTERVAL = 0.05;

/* Of what noise costs on average, the part of one trial above which more trials are advised: half, also where
 * sums are rounded. */
static const double LARGE_PART = 0.499;

/* What the noiseless time is without. */
static const char *reference(const json_t *result)
{
    const uint64_t delays = iwi_result_count(result, "delays");

    if (delays == 0) {
        return "noise";
    }
    if (iwi_result_sources(result) > 0) {
        return "noise and delays";
    }
    return delays == 1 ? "the delay" : "the delays";
}

/* ---- the verdict ---- */

/* "allreduce on 8 ranks" */
static void append_subject(char *paragraph, const json_t *result)
{
    const uint64_t ranks = iwi_result_count(result, "ranks");

    iwi_append(paragraph, "%.256s on %" PRIu64 " %s", iwi_result_text(result, "what"), ranks,
               ranks == 1 ? "rank" : "ranks");
}

/* " takes 2.887 times as long as without noise": of the mean, which is what a job of many such runs pays. */
static void append_comparison(char *paragraph, const json_t *result, const iw_summary *slowdown)
{
    char slower[IWI_PHRASE_SIZE];

    iwi_append(paragraph, " %s without %s", iwi_slower_text(slowdown->mean, slower), reference(result));
}

/* With the interval that counts the recording, where there is one. */
static iw_estimate mean_of(const json_t *result, const iw_summary *slowdown)
{
    const iw_estimate recorded = iwi_recorded_slowdown(json_object_get(result, "recording"));

    return isnan(recorded.high) ? (iw_estimate){slowdown->mean, slowdown->mean_low, slowdown->mean_high}
                                : recorded;
}

/* " takes at least 2.3 times as long as without noise: this recording of 10 s on 2 CPUs cannot show ..." */
static void append_bound(char *paragraph, const json_t *result, const iw_summary *slowdown)
{
    const json_t *recording = json_object_get(result, "recording");
    const iw_estimate recorded = iwi_recorded_slowdown(recording);

    iwi_append_bound(paragraph, (iw_estimate){slowdown->mean, recorded.low, NAN}, reference(result));
    iwi_append_reach(paragraph, recording, iwi_result_count(result, "ranks"),
                     iwi_result_number(result, "noiseless_ns"));
}

/* " (mean of 20 trials; 95 % CI 2.713x to 3.142x; median 2.801x)": which statistic that is, how sure it is,
 * and the other one. Nothing where nothing is random. */
static void append_statistic(char *paragraph, const json_t *result, const iw_summary *slowdown)
{
    const iw_estimate mean = mean_of(result, slowdown);
    const bool has_interval = !isnan(mean.low);
    char range[IWI_RANGE_SIZE], median[IWI_NUMBER_SIZE];

    if (iwi_result_sources(result) == 0) {
        return;
    }
    if (slowdown->count < 2) {
        iwi_append(paragraph, " (one trial)");
    } else if (slowdown->min == slowdown->max) {
        iwi_append(paragraph, " (all %zu trials alike)", slowdown->count);
    } else {
        iwi_append(paragraph, " (mean of %zu trials; %s %s; median %s)", slowdown->count,
                   has_interval ? "95 % CI" : "lowest to highest",
                   has_interval ? iwi_slowdown_range_text(mean.low, mean.high, range)
                                : iwi_slowdown_range_text(slowdown->min, slowdown->max, range),
                   iwi_slowdown_text(slowdown->median, median));
    }
}

void iwi_result_verdict(const json_t *result, char paragraph[IWI_PARAGRAPH_SIZE])
{
    const iw_summary slowdown = iwi_result_summary(result, "slowdown");
    const json_t *recording = json_object_get(result, "recording");
    const double mean_ns = iwi_result_summary(result, "makespan_ns").mean;
    char time[IWI_NUMBER_SIZE];

    append_subject(paragraph, result);
    if (!iwi_result_is_disturbed(result)) {
        iwi_append(paragraph, " takes %s (no noise given)", iwi_ns_time_text(mean_ns, time));
    } else if (isnan(slowdown.mean)) {
        iwi_append(paragraph, " takes %s on average; without %s it takes no time",
                   iwi_ns_time_text(mean_ns, time), reference(result));
    } else if (iwi_is_bound(recording)) {
        append_bound(paragraph, result, &slowdown);
    } else {
        append_comparison(paragraph, result, &slowdown);
        append_statistic(paragraph, result, &slowdown);
    }
    if (iwi_is_extrapolated(recording)) {
        iwi_append(paragraph, ", ");
        iwi_append_laws(paragraph, recording);
    }
    iwi_append(paragraph, ".");
}

/* ---- how sure that is ---- */

/* What comes in a smaller share of runs is met by none of n trials in over 5 % of cases: (1 - p)^n = 0.05. */
static void append_alike(char *paragraph, const iw_summary *makespan)
{
    char share[IWI_NUMBER_SIZE];

    iwi_append(paragraph,
               ", all alike. What hits fewer than %s of runs may have hit none of them (95 %%): more "
               "--trials tell.",
               iwi_percent_text(1.0 - pow(0.05, 1.0 / (double)makespan->count), share));
}

static void append_extremes(char *paragraph, const iw_summary *makespan)
{
    char low[IWI_NUMBER_SIZE], high[IWI_NUMBER_SIZE];

    iwi_append(paragraph, "; lowest to highest makespan: %s to %s.", iwi_ns_time_text(makespan->min, low),
               iwi_ns_time_text(makespan->max, high));
    if (makespan->count < IW_LEAST_TRIALS) {
        iwi_append(paragraph, " Fewer than %d have no 95 %% interval: add --trials 100.",
                   (int)IW_LEAST_TRIALS);
    }
}

static void append_intervals(char *paragraph, const json_t *result, const iw_summary *makespan)
{
    const double noiseless_ns = iwi_result_number(result, "noiseless_ns");
    const double half_width = 0.5 * (makespan->mean_high - makespan->mean_low);
    const double most = (makespan->max - noiseless_ns) / (double)makespan->count;
    char low[IWI_NUMBER_SIZE], high[IWI_NUMBER_SIZE], part[IWI_NUMBER_SIZE];

    iwi_append(paragraph, "; 95 %% CI of the mean makespan: %s to %s, ",
               iwi_ns_time_text(makespan->mean_low, low), iwi_ns_time_text(makespan->mean_high, high));
    iwi_append(paragraph, "%s CI of the median: %s to %s.",
               iwi_percent_text(iw_median_level(makespan->count), part),
               iwi_ns_time_text(makespan->median_low, low), iwi_ns_time_text(makespan->median_high, high));
    if (makespan->mean > noiseless_ns && most > LARGE_PART * (makespan->mean - noiseless_ns)) {
        iwi_append(paragraph,
                   " One trial makes up %s of what noise costs on average: the interval may be too short, "
                   "and more --trials tell.",
                   iwi_percent_text(most / (makespan->mean - noiseless_ns), part));
    } else if (half_width > WIDE_INTERVAL * makespan->mean) {
        iwi_append(paragraph, " The mean is known to +-%.0f %%: more --trials narrow it.",
                   100.0 * half_width / makespan->mean);
    }
}

/* What the interval of a recording counts; of a bound there is none, and that of the trials would mislead. */
static void append_recorded(char *paragraph, const json_t *result, const iw_summary *makespan)
{
    const json_t *recording = json_object_get(result, "recording");
    char mean[IWI_NUMBER_SIZE], low[IWI_NUMBER_SIZE], high[IWI_NUMBER_SIZE];

    if (iwi_is_bound(recording)) {
        iwi_append(paragraph, ". With what was recorded they take %s on average, lowest to highest %s to %s.",
                   iwi_ns_time_text(makespan->mean, mean), iwi_ns_time_text(makespan->min, low),
                   iwi_ns_time_text(makespan->max, high));
    } else if (iwi_is_extrapolated(recording)) {
        iwi_append(paragraph, ". The interval counts the trials and how the laws of other recordings would "
                              "differ, not that the laws may be wrong.");
    } else {
        iwi_append(paragraph,
                   ". The interval counts the trials, how another recording would differ, and up to %s that "
                   "this one may not have shown.",
                   iwi_percent_text(iwi_result_number(recording, "unseen"), mean));
    }
}

void iwi_result_certainty(const json_t *result, char paragraph[IWI_PARAGRAPH_SIZE])
{
    const iw_summary makespan = iwi_result_summary(result, "makespan_ns");

    if (iwi_result_sources(result) == 0) {
        if (makespan.count > 1) {
            iwi_append(paragraph, "Without noise all trials are alike: one is enough.");
        }
        return;
    }
    iwi_append(paragraph, "%zu trial%s, seed %" PRIu64, makespan.count, makespan.count == 1 ? "" : "s",
               iwi_result_count(result, "seed"));
    if (makespan.count < 2) {
        iwi_append(paragraph, ". One trial says little: add --trials 100.");
    } else if (makespan.min == makespan.max) {
        append_alike(paragraph, &makespan);
    } else if (isnan(makespan.mean_low) || isnan(makespan.median_low)) {
        append_extremes(paragraph, &makespan);
    } else if (!isnan(iwi_recorded_slowdown(json_object_get(result, "recording")).low)) {
        append_recorded(paragraph, result, &makespan);
    } else {
        append_intervals(paragraph, result, &makespan);
    }
}
