/* The verdict in words, and how sure it is.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "report/result_parts.h"

#include <math.h>

#include "base/base.h"

/* Below this a slowdown shows as 0.00 %. */
static const double NO_SLOWDOWN = 0.00005;

/* From this on people read a factor more easily than a percentage. */
static const double LARGE_SLOWDOWN = 1.0;

/* Half the width of the confidence interval, over the median, above which more trials are advised. */
static const double WIDE_INTERVAL = 0.05;

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

/* " takes 2.887 times as long as without noise": what follows the name of the program. */
static void append_comparison(char *paragraph, const json_t *result, double slowdown)
{
    char number[IWI_NUMBER_SIZE];

    if (slowdown >= LARGE_SLOWDOWN) {
        iwi_append(paragraph, " takes %s times as long as without %s",
                   iwi_factor_text(1.0 + slowdown, number), reference(result));
    } else if (fabs(slowdown) < NO_SLOWDOWN) {
        iwi_append(paragraph, " is not slower than without %s", reference(result));
    } else {
        iwi_append(paragraph, " is %s %s than without %s", iwi_percent_text(fabs(slowdown), number),
                   slowdown > 0.0 ? "slower" : "faster", reference(result));
    }
}

/* What stands first in the parentheses: "slowdown 1.887" where a factor was told, "+0.00 %" where nothing
 * was. */
static void append_number(char *paragraph, double slowdown)
{
    char number[IWI_NUMBER_SIZE];

    if (slowdown >= LARGE_SLOWDOWN) {
        iwi_append(paragraph, "slowdown %s", iwi_factor_text(slowdown, number));
    } else if (fabs(slowdown) < NO_SLOWDOWN) {
        iwi_append(paragraph, "+0.00 %%");
    }
}

/* "median of 20 trials; 95 % CI 2.713 to 3.142 times" */
static void append_interval(char *paragraph, const iw_summary *slowdown)
{
    char low[IWI_NUMBER_SIZE], high[IWI_NUMBER_SIZE];

    if (slowdown->count < 2) {
        iwi_append(paragraph, "one trial");
    } else if (slowdown->median >= LARGE_SLOWDOWN) {
        iwi_append(paragraph, "median of %zu trials; 95 %% CI %s to %s times", slowdown->count,
                   iwi_factor_text(1.0 + slowdown->ci95_low, low),
                   iwi_factor_text(1.0 + slowdown->ci95_high, high));
    } else {
        iwi_append(paragraph, "median of %zu trials; 95 %% CI %s to %s", slowdown->count,
                   iwi_percent_text(slowdown->ci95_low, low), iwi_percent_text(slowdown->ci95_high, high));
    }
}

/* " (slowdown 1.887; median of 20 trials; 95 % CI 2.713 to 3.142 times)"; no trials where nothing is random.
 */
static void append_details(char *paragraph, const json_t *result, const iw_summary *slowdown)
{
    char details[IWI_PARAGRAPH_SIZE] = "";

    append_number(details, slowdown->median);
    if (iwi_result_sources(result) > 0) {
        iwi_append(details, "%s", details[0] != '\0' ? "; " : "");
        append_interval(details, slowdown);
    }
    if (details[0] != '\0') {
        iwi_append(paragraph, " (%s)", details);
    }
}

void iwi_result_verdict(const json_t *result, char paragraph[IWI_PARAGRAPH_SIZE])
{
    const iw_summary slowdown = iwi_result_summary(result, "slowdown");
    const double median_ns = iwi_result_summary(result, "makespan_ns").median;
    const uint64_t ranks = iwi_result_count(result, "ranks");
    char time[IWI_NUMBER_SIZE];

    iwi_append(paragraph, "%.256s on %" PRIu64 " %s", iwi_result_text(result, "what"), ranks,
               ranks == 1 ? "rank" : "ranks");
    if (!iwi_result_is_disturbed(result)) {
        iwi_append(paragraph, " takes %s (no noise given)", iwi_ns_time_text(median_ns, time));
    } else if (isnan(slowdown.median)) {
        iwi_append(paragraph, " takes %s; without %s it takes no time", iwi_ns_time_text(median_ns, time),
                   reference(result));
    } else {
        append_comparison(paragraph, result, slowdown.median);
        append_details(paragraph, result, &slowdown);
    }
    iwi_append(paragraph, ".");
}

void iwi_result_certainty(const json_t *result, char paragraph[IWI_PARAGRAPH_SIZE])
{
    const iw_summary makespan = iwi_result_summary(result, "makespan_ns");
    const double half_width = 0.5 * (makespan.ci95_high - makespan.ci95_low);
    const uint64_t seed = iwi_result_count(result, "seed");
    char low[IWI_NUMBER_SIZE], high[IWI_NUMBER_SIZE];

    if (iwi_result_sources(result) == 0) {
        if (makespan.count > 1) {
            iwi_append(paragraph, "Without noise all trials are alike: one is enough.");
        }
        return;
    }
    if (makespan.count < 2) {
        iwi_append(paragraph, "1 trial, seed %" PRIu64 ". One trial says little: add --trials 100.", seed);
    } else {
        iwi_append(paragraph, "%zu trials, seed %" PRIu64 "; 95 %% CI of the median makespan: %s to %s.",
                   makespan.count, seed, iwi_ns_time_text(makespan.ci95_low, low),
                   iwi_ns_time_text(makespan.ci95_high, high));
    }
    if (half_width > WIDE_INTERVAL * makespan.median) {
        iwi_append(paragraph, " That is +-%.0f %%: more --trials narrow it.",
                   100.0 * half_width / makespan.median);
    }
}
