/* What benchmarks say, in sentences.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include "core/base/base.h"
#include "features/bench/bench_report.h"
#include "kit/text/words.h"

const char *iwi_bench_op_text(struct iwi_document *doc, const iw_bench_result *result)
{
    const iw_bench_samples *samples = result->samples;

    return samples->op == IW_BENCH_BARRIER
               ? "barrier"
               : iwi_say(doc, "%s of %" PRIu64 " bytes", iw_bench_op_name(samples->op), samples->bytes);
}

const char *iwi_bench_interval(struct iwi_document *doc, iw_estimate slowdown)
{
    char range[IWI_RANGE_SIZE];

    return isfinite(slowdown.low) && isfinite(slowdown.high)
               ? iwi_say(doc, "%s",
                         iwi_slowdown_range_text(slowdown.low, slowdown.high, slowdown.value, range))
               : "";
}

/* ---- verdict ---- */

/* "is 4.31 % slower than without (mean; 95 % CI 3.90 % to 4.70 %)" */
static const char *slower_than(struct iwi_document *doc, iw_estimate slowdown, const char *than)
{
    const char *interval = iwi_bench_interval(doc, slowdown);
    char slower[IWI_PHRASE_SIZE];

    return iwi_say(doc, "%s %s (mean%s%s)", iwi_slower_text(slowdown.value, slower), than,
                   interval[0] != '\0' ? "; 95 % CI " : "", interval);
}

static void say_noisy(struct iwi_document *doc, const iw_bench_result *result)
{
    const iw_bench_injection *injection = &result->injection;
    char nodes[IW_NODES_TEXT_SIZE];

    iwi_more(doc, " With injected noise (");
    for (size_t i = 0; i < injection->source_count; i++) {
        iwi_more(doc, "%s%s", i > 0 ? " + " : "", injection->sources[i]);
    }
    iw_nodes_text(injection->ranks_per_node, 1, injection->recorded_cpus,
                  injection->cpus[0] != '\0' ? injection->cpus : NULL, nodes);
    iwi_more(doc, "%s%s, sync %s) it takes %s: it %s.", nodes[0] != '\0' ? ", " : "", nodes,
             iwi_sync_name(injection->sync), iwi_ns(doc, result->times[IW_BENCH_NOISY].phase_ns.value),
             slower_than(doc, result->slowdown, "without"));
}

static void say_prediction(struct iwi_document *doc, const iw_bench_result *result)
{
    static const char *const agreements[] = {
        [IW_BENCH_UNCLEAR] = ("Whether they agree (within 20 % or 2 points) cannot be said: the interval of "
                              "the measured slowdown is too wide. A longer run makes it narrower."),
        [IW_BENCH_AGREES] = "They agree (within 20 % or 2 points).",
        [IW_BENCH_DIFFERS] = "They do not agree (that would be within 20 % or 2 points).",
    };
    const iw_bench_simulated *simulated = &result->simulated;

    iwi_verdict(doc,
                "In the simulation of the same phases with the same noise it %s: measured is %.2f points %s "
                "simulated",
                slower_than(doc, simulated->slowdown, "without"), 100.0 * fabs(simulated->difference),
                simulated->difference < 0.0 ? "below" : "above");
    if (isfinite(simulated->ratio) && simulated->ratio > 0.0) {
        iwi_more(doc, ", a factor of %.3g", simulated->ratio);
    }
    iwi_more(doc, ". %s", agreements[simulated->agreement]);
    if (isfinite(simulated->expected.low)) {
        iwi_more(doc, " A run as long as this one should show %s, in 95 of 100 cases.",
                 iwi_bench_interval(doc, simulated->expected));
    }
    if (simulated->is_beyond_chance) {
        iwi_more(doc, " They are further apart than both 95 %% intervals together explain.");
    }
    if (result->injection.injected_share < result->own_share) {
        iwi_more(doc, " The host's own noise is larger than what was injected: little can be said.");
    }
}

void iwi_bench_say_verdict(struct iwi_document *doc, const iw_bench_result *result)
{
    const iw_bench_samples *samples = result->samples;
    const double mean_ns = result->times[IW_BENCH_QUIET].phase_ns.value;
    char slower[IWI_PHRASE_SIZE];

    iwi_verdict(doc, "%s", "");
    if (samples->warning[0] != '\0') {
        iwi_more(doc, "NOT VALID: %s, so times contain the scheduler. ", samples->warning);
    }
    iwi_more(
        doc, "A phase of %s %sand %s %s takes %s on %" PRIu32 " rank%s (mean): it %s its work undisturbed.",
        iwi_ns(doc, result->quantum_ns), samples->work == IW_BENCH_SLEEP ? "of sleep " : "",
        samples->op == IW_BENCH_ALLREDUCE ? "an" : "a", iwi_bench_op_text(doc, result), iwi_ns(doc, mean_ns),
        samples->ranks, iwi_s(samples->ranks), iwi_slower_text(mean_ns / result->quantum_ns - 1.0, slower));
    if (result->times[IW_BENCH_NOISY].count > 0) {
        say_noisy(doc, result);
    }
    if (result->baseline.path[0] != '\0') {
        iwi_more(doc, " The slowest rank of a phase %s.",
                 slower_than(doc, result->baseline.slowdown, iwi_say(doc, "in '%s'", result->baseline.path)));
    }
    if (result->simulated.trials > 0) {
        say_prediction(doc, result);
    }
}

/* ---- how sure ---- */

static void say_phases(struct iwi_document *doc, const iw_bench_result *result)
{
    const iw_bench_samples *samples = result->samples;

    iwi_item(doc, "%" PRIu64 " phases%s", samples->phases,
             samples->has_noise ? ", half of them with noise" : "");
    if (samples->stride > 1) {
        iwi_more(doc, ", of which one in %" PRIu64 " was kept", samples->stride);
    }
    iwi_more(doc,
             "; of each, the slowest rank counts. Another %" PRIu64
             " at the beginnings of blocks were left out.",
             samples->left_out);
    if (isnan(result->times[IW_BENCH_QUIET].qtbt.mean_ns.low)) {
        iwi_item(doc, "Too few blocks of phases for intervals: a longer run has them.");
        return;
    }
    iwi_item(doc,
             "Intervals: 95 %% of means, bootstrap of %sblocks of %" PRIu64 " phases, widened as Student's.",
             samples->has_noise ? "pairs of " : "", samples->block_phases);
    if (isfinite(result->pair_slowdown)) {
        iwi_more(doc, " The median of the pairs is a slowdown of %s.",
                 iwi_slowdown_percent(doc, result->pair_slowdown));
    }
}

static void say_injected(struct iwi_document *doc, const iw_bench_injection *injection)
{
    iwi_more(doc, "; %s of the time was injected as noise, %s was planned",
             iwi_percent(doc, injection->injected_share), iwi_percent(doc, injection->planned_share));
    iwi_more(doc, ".");
    iwi_item(doc,
             "%s of the noise's detours and %s of their time kept place and duration; detours shorter than "
             "%s here, or too close to the one before, were merged.",
             iwi_percent(doc, injection->as_recorded_event_share),
             iwi_percent(doc, injection->as_recorded_share), iwi_ns(doc, injection->floor_ns));
    if (injection->skipped_share > 0.0) {
        iwi_more(doc, " %s of the planned time was skipped: it had passed before it could be taken.",
                 iwi_percent(doc, injection->skipped_share));
    }
    if (injection->cut_short_count > 0) {
        iwi_more(doc,
                 " In %" PRIu64 " blocks of a rank a detour did not end as planned and was ended, with none "
                 "after it: they have less noise than planned.",
                 injection->cut_short_count);
    }
}

void iwi_bench_say_notes(struct iwi_document *doc, const iw_bench_result *result)
{
    const iw_bench_simulated *simulated = &result->simulated;

    say_phases(doc, result);
    iwi_item(doc, "The host's own noise makes the work %s longer (mean against the 5 %% quantile)",
             iwi_percent(doc, result->own_share));
    if (result->samples->has_noise) {
        say_injected(doc, &result->injection);
    } else {
        iwi_more(doc, ".");
    }
    if (result->time_scale > 1.0) {
        iwi_item(doc,
                 "Noise and work ran %g times as long; all times here are divided by that, also those of the "
                 "operation, which did not.",
                 result->time_scale);
    }
    if (simulated->trials > 0) {
        iwi_item(doc,
                 "Simulated: %" PRIu64 " trials of %" PRIu64 " phases each with the noise as it was planned, "
                 "network %s; its interval is that of the mean of the trials.",
                 simulated->trials, simulated->phases, simulated->net);
    }
}
