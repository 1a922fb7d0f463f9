/* What a benchmark says, in sentences: the verdict, the prediction against it, how sure that is.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "report/kinds/bench_report.h"

const char *iwi_bench_interval_text(const json_t *slowdown, char buf[IWI_RANGE_SIZE])
{
    const json_t *ends = json_object_get(slowdown, "ci95");

    buf[0] = '\0';
    if (json_is_array(ends)) {
        iwi_slowdown_range_text(json_number_value(json_array_get(ends, 0)),
                                json_number_value(json_array_get(ends, 1)), buf);
    }
    return buf;
}

const char *iwi_bench_operation_text(const json_t *bench, char buf[IWI_NUMBER_SIZE])
{
    const char *operation = iwi_result_text(bench, "operation");
    const uint64_t bytes = iwi_result_count(bench, "bytes");

    if (strcmp(operation, "barrier") == 0) {
        snprintf(buf, IWI_NUMBER_SIZE, "barrier");
    } else {
        snprintf(buf, IWI_NUMBER_SIZE, "%.10s of %" PRIu64 " bytes", operation, bytes);
    }
    return buf;
}

/* "is 4.31 % slower than without (mean; 95 % CI 3.90 % to 4.70 %)" */
static void append_slowdown(char *paragraph, const json_t *slowdown, const char *than)
{
    char slower[IWI_PHRASE_SIZE], interval[IWI_RANGE_SIZE];

    iwi_append(paragraph, "%s %.210s (mean", iwi_slower_text(iwi_result_number(slowdown, "share"), slower),
               than);
    if (iwi_bench_interval_text(slowdown, interval)[0] != '\0') {
        iwi_append(paragraph, "; 95 %% CI %s", interval);
    }
    iwi_append(paragraph, ")");
}

static void append_noisy(const json_t *bench, char *paragraph)
{
    const json_t *noise = json_object_get(bench, "noise"), *sources = json_object_get(noise, "sources");
    char time[IWI_NUMBER_SIZE], nodes[IW_NODES_TEXT_SIZE];

    iwi_append(paragraph, " With injected noise (");
    for (size_t i = 0; i < json_array_size(sources); i++) {
        iwi_append(paragraph, "%s%.100s", i > 0 ? " + " : "", json_string_value(json_array_get(sources, i)));
    }
    if (iwi_result_nodes(noise, nodes)[0] != '\0') {
        iwi_append(paragraph, ", %s", nodes);
    }
    iwi_append(paragraph, ", sync %s) it takes %s: it ", iwi_result_text(noise, "sync"),
               iwi_ns_time_text(iwi_bench_number(bench, "noisy", "phase_ns", "mean"), time));
    append_slowdown(paragraph, json_object_get(bench, "slowdown"), "without");
    iwi_append(paragraph, ".");
}

void iwi_bench_verdict(const json_t *bench, char paragraph[IWI_PARAGRAPH_SIZE])
{
    const char *warning = json_string_value(json_object_get(bench, "warning"));
    const json_t *baseline = json_object_get(bench, "baseline");
    const double quantum_ns = iwi_result_number(bench, "quantum_ns");
    const double mean_ns = iwi_bench_number(bench, "quiet", "phase_ns", "mean");
    char number[3][IWI_NUMBER_SIZE], slower[IWI_PHRASE_SIZE], than[IWI_PHRASE_SIZE];

    if (warning != NULL) {
        iwi_append(paragraph, "NOT VALID: %s, so times contain the scheduler. ", warning);
    }
    iwi_append(paragraph,
               "A phase of %s and %s %s takes %s on %" PRIu64 " ranks (mean): it %s its work undisturbed.",
               iwi_ns_time_text(quantum_ns, number[0]),
               iwi_result_text(bench, "operation")[0] == 'a' ? "an" : "a",
               iwi_bench_operation_text(bench, number[1]), iwi_ns_time_text(mean_ns, number[2]),
               iwi_result_count(bench, "ranks"), iwi_slower_text(mean_ns / quantum_ns - 1.0, slower));
    if (json_is_object(json_object_get(bench, "noisy"))) {
        append_noisy(bench, paragraph);
    }
    if (json_is_object(baseline)) {
        snprintf(than, sizeof than, "in '%.200s'", iwi_result_text(baseline, "file"));
        iwi_append(paragraph, " The slowest rank of a phase ");
        append_slowdown(paragraph, json_object_get(baseline, "slowdown"), than);
        iwi_append(paragraph, ".");
    }
}

void iwi_bench_prediction(const json_t *bench, char paragraph[IWI_PARAGRAPH_SIZE])
{
    const json_t *simulated = json_object_get(bench, "simulated");
    const double own = iwi_result_number(bench, "own_noise_share");
    const double injected = iwi_result_number(json_object_get(bench, "noise"), "injected_share");
    const double ratio = iwi_result_number(simulated, "ratio");
    const double difference = iwi_result_number(simulated, "difference");
    const json_t *agrees = json_object_get(simulated, "agrees");

    if (!json_is_object(simulated)) {
        return;
    }
    iwi_append(paragraph, "In the simulation of the same phases with the same noise it ");
    append_slowdown(paragraph, json_object_get(simulated, "slowdown"), "without");
    iwi_append(paragraph, ": measured is %.2f points %s simulated", 100.0 * fabs(difference),
               difference < 0.0 ? "below" : "above");
    if (isfinite(ratio) && ratio > 0.0) {
        iwi_append(paragraph, ", a factor of %.3g", ratio);
    }
    if (json_is_boolean(agrees)) {
        iwi_append(paragraph, json_is_true(agrees)
                                  ? ". They agree (within 20 %% or 2 points)."
                                  : ". They do not agree (that would be within 20 %% or 2 points).");
    } else {
        iwi_append(paragraph,
                   ". Whether they agree (within 20 %% or 2 points) cannot be told from an interval "
                   "as wide as that of the measured slowdown: measure longer.");
    }
    if (json_is_true(json_object_get(simulated, "beyond_chance"))) {
        iwi_append(paragraph, " They are further apart than both 95 %% intervals together explain.");
    }
    if (injected < own) {
        iwi_append(paragraph, " The host's own noise is larger than what was injected: little can be said.");
    }
}

/* ---- how sure that is ---- */

static void note_phases(const json_t *bench, char *text)
{
    const uint64_t phases = iwi_result_count(bench, "phases"), stride = iwi_result_count(bench, "stride");
    const json_t *noisy = json_object_get(bench, "noisy");

    iwi_append(text, "%" PRIu64 " phases%s", phases,
               json_is_object(noisy) ? ", half of them with noise" : "");
    if (stride > 1) {
        iwi_append(text, ", of which one in %" PRIu64 " was kept", stride);
    }
    iwi_append(text,
               "; of each, the slowest rank counts. A further %" PRIu64
               " at the beginnings of blocks were left out.",
               iwi_result_count(bench, "left_out"));
}

static void note_interval(const json_t *bench, char *text)
{
    const json_t *value = json_object_get(json_object_get(bench, "quiet"), "qtbt_ns");
    char number[IWI_NUMBER_SIZE];

    if (json_is_array(json_object_get(value, "ci95"))) {
        iwi_append(text,
                   "Intervals: 95 %% of means, bootstrap of %sblocks of %" PRIu64
                   " phases, widened as Student's.",
                   json_is_object(json_object_get(bench, "noisy")) ? "pairs of " : "",
                   iwi_result_count(bench, "block_phases"));
        if (isfinite(iwi_result_number(bench, "pair_slowdown"))) {
            iwi_append(text, " The median of the pairs is a slowdown of %s.",
                       iwi_slowdown_text(iwi_result_number(bench, "pair_slowdown"), number));
        }
    } else {
        iwi_append(text, "Too few blocks of phases for intervals: measure longer.");
    }
}

static void note_own(const json_t *bench, char *text)
{
    const json_t *noise = json_object_get(bench, "noise");
    char own[IWI_NUMBER_SIZE], injected[IWI_NUMBER_SIZE], planned[IWI_NUMBER_SIZE];

    iwi_append(text, "The host's own noise makes the work %s longer (mean against the 5 %% quantile)",
               iwi_percent_text(iwi_result_number(bench, "own_noise_share"), own));
    if (json_is_object(noise)) {
        iwi_append(text, "; %s of the time was injected as noise, %s was planned",
                   iwi_percent_text(iwi_result_number(noise, "injected_share"), injected),
                   iwi_percent_text(iwi_result_number(noise, "planned_share"), planned));
    }
    iwi_append(text, ".");
}

static void note_injected(const json_t *bench, char *text)
{
    const json_t *noise = json_object_get(bench, "noise");
    const double skipped = iwi_result_number(noise, "skipped_share");
    char time[IWI_NUMBER_SIZE], share[3][IWI_NUMBER_SIZE];

    if (!json_is_object(noise)) {
        return;
    }
    iwi_append(text, "Of the noise's detours %s, of their time %s kept place and duration; ",
               iwi_percent_text(iwi_result_number(noise, "as_recorded_event_share"), share[0]),
               iwi_percent_text(iwi_result_number(noise, "as_recorded_share"), share[1]));
    iwi_append(text, "what is shorter than %s here, or too close to the one before, was merged.",
               iwi_ns_time_text(iwi_result_number(noise, "floor_ns"), time));
    if (skipped > 0.0) {
        iwi_append(text, " %s of the planned time was skipped: it had passed before it could be taken.",
                   iwi_percent_text(skipped, share[2]));
    }
    if (iwi_result_count(noise, "cut_short") > 0) {
        iwi_append(text,
                   " In %" PRIu64
                   " blocks of a rank a detour did not end as planned and was ended, with none "
                   "after it: they have less noise than planned.",
                   iwi_result_count(noise, "cut_short"));
    }
}

static void note_scale(const json_t *bench, char *text)
{
    const double scale = iwi_result_number(bench, "time_scale");

    if (scale > 1.0) {
        iwi_append(
            text,
            "Noise and quantum ran %g times as long; all times here are divided by that, also those of "
            "the operation, which did not.",
            scale);
    }
}

static void note_simulation(const json_t *bench, char *text)
{
    const json_t *simulated = json_object_get(bench, "simulated");

    if (json_is_object(simulated)) {
        iwi_append(text,
                   "Simulated: %" PRIu64 " trials of %" PRIu64
                   " phases each with the noise as it was planned, "
                   "network %.80s; its interval is that of the mean of the trials.",
                   iwi_result_count(simulated, "trials"), iwi_result_count(simulated, "phases"),
                   iwi_result_text(simulated, "net"));
    }
}

bool iwi_bench_note(const json_t *bench, int number, char paragraph[IWI_PARAGRAPH_SIZE])
{
    static void (*const notes[IWI_BENCH_NOTES])(const json_t *, char *) = {
        note_phases, note_interval, note_own, note_injected, note_scale, note_simulation};

    paragraph[0] = '\0';
    notes[number](bench, paragraph);
    return paragraph[0] != '\0';
}
