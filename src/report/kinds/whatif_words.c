/* An answer to "what if" in words and numbers for people.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "report/kinds/noise_report.h"
#include "report/kinds/reach_report.h"
#include "report/kinds/result_report.h"
#include "report/kinds/study_report.h"
#include "report/kinds/whatif_report.h"

enum { LISTED_SOURCES = 6 };

/* ---- numbers ---- */

/* Points of percent, as many digits as iwi_percent_text() has. */
static const char *points_text(double share, char buf[IWI_NUMBER_SIZE])
{
    snprintf(buf, IWI_NUMBER_SIZE, "%.*f", fabs(share) < 0.1 ? 2 : 1, 100.0 * share);
    return buf;
}

/* Beyond the reach of a recording: there is a lower end, and no upper one. */
static bool is_bound(iw_estimate e)
{
    return !isnan(e.low) && isnan(e.high);
}

const char *iwi_whatif_slowdown_text(iw_estimate e, char buf[IWI_ESTIMATE_SIZE])
{
    char number[IWI_NUMBER_SIZE], range[IWI_RANGE_SIZE];

    iwi_slowdown_text(is_bound(e) ? e.low : e.value, number);
    if (is_bound(e)) {
        snprintf(buf, IWI_ESTIMATE_SIZE, "at least %s", number);
    } else if (e.low < e.high) {
        snprintf(buf, IWI_ESTIMATE_SIZE, "%s (%s)", number, iwi_slowdown_range_text(e.low, e.high, range));
    } else {
        snprintf(buf, IWI_ESTIMATE_SIZE, "%s", number);
    }
    return buf;
}

const char *iwi_whatif_points_text(iw_estimate e, char buf[IWI_ESTIMATE_SIZE])
{
    char number[IWI_NUMBER_SIZE], low[IWI_NUMBER_SIZE], high[IWI_NUMBER_SIZE];
    const int used =
        snprintf(buf, IWI_ESTIMATE_SIZE, "%s points", isnan(e.value) ? "-" : points_text(e.value, number));

    if (is_bound(e)) {
        snprintf(buf, IWI_ESTIMATE_SIZE, "at least %s points", points_text(e.low, low));
    } else if (e.low < e.high) {
        snprintf(buf + used, IWI_ESTIMATE_SIZE - (size_t)used, " (%s to %s)", points_text(e.low, low),
                 points_text(e.high, high));
    }
    return buf;
}

bool iwi_whatif_is_worth_it(const json_t *change)
{
    return iwi_whatif_estimate(change, "saving").low > 0;
}

/* ---- names ---- */

static bool is_kind(const json_t *change, const char *kind)
{
    return strcmp(iwi_result_text(change, "kind"), kind) == 0;
}

const char *iwi_whatif_change_name(const json_t *change, char buf[IWI_CHANGE_NAME_SIZE])
{
    const size_t removed = json_array_size(json_object_get(change, "removes"));
    char name[IWI_NAME_SIZE];

    iwi_plain_name(iwi_result_text(change, "name"), IWI_NAME_SIZE - 1, name);
    if (is_kind(change, "all")) {
        snprintf(buf, IWI_CHANGE_NAME_SIZE, "all noise");
    } else if (is_kind(change, "rest")) {
        snprintf(buf, IWI_CHANGE_NAME_SIZE, "the %zu others", removed);
    } else if (is_kind(change, "class")) {
        snprintf(buf, IWI_CHANGE_NAME_SIZE, "class %s (%zu)", name, removed);
    } else if (is_kind(change, "together")) {
        snprintf(buf, IWI_CHANGE_NAME_SIZE, "all nodes at the same time");
    } else if (is_kind(change, "reserve")) {
        snprintf(buf, IWI_CHANGE_NAME_SIZE, "a core for the OS");
    } else {
        snprintf(buf, IWI_CHANGE_NAME_SIZE, "%s", name);
    }
    return buf;
}

/* "irq/eno1, thread/nscd and 3 others" */
static void append_sources(const json_t *names, char paragraph[IWI_PARAGRAPH_SIZE])
{
    const size_t count = json_array_size(names), listed = count > LISTED_SOURCES + 1 ? LISTED_SOURCES : count;
    char name[IWI_NAME_SIZE];

    for (size_t i = 0; i < listed; i++) {
        const char *text = json_string_value(json_array_get(names, i));
        const bool is_last = i + 1 == count;

        iwi_append(paragraph, "%s%s", i == 0 ? "" : (is_last ? " and " : ", "),
                   iwi_plain_name(text != NULL ? text : "-", IWI_NAME_SIZE - 1, name));
    }
    if (listed < count) {
        iwi_append(paragraph, " and %zu others", count - listed);
    }
}

/* "allreduce on 8,192 ranks (512 nodes, 16 ranks a node, as recorded)" */
static void append_job(const json_t *whatif, char paragraph[IWI_PARAGRAPH_SIZE])
{
    const uint64_t ranks = iwi_result_count(whatif, "ranks"),
                   per_node = iwi_result_count(whatif, "ranks_per_node");
    const uint64_t nodes = per_node > 0 ? (ranks + per_node - 1) / per_node : ranks;
    char what[IWI_PARAGRAPH_SIZE], number[IWI_NUMBER_SIZE], placing[IW_NODES_TEXT_SIZE];
    const bool is_recorded = iwi_result_nodes(whatif, placing)[0] != '\0';

    iwi_append(paragraph, "%s on %s rank%s", iwi_plain_text(iwi_result_text(whatif, "what"), what),
               iwi_ranks_text(ranks, number), ranks == 1 ? "" : "s");
    if (per_node > 1) {
        iwi_append(paragraph, " (%s node%s%s%s)", iwi_ranks_text(nodes, number), nodes == 1 ? "" : "s",
                   is_recorded ? ", " : "", placing);
    } else if (is_recorded) {
        iwi_append(paragraph, " (%s)", placing);
    }
}

/* ---- sentences ---- */

void iwi_whatif_append_remedy(const json_t *remedy, char paragraph[IWI_PARAGRAPH_SIZE])
{
    char plain[IWI_PARAGRAPH_SIZE];

    iwi_append(paragraph, "%s: ", iwi_plain_text(iwi_result_text(remedy, "name"), plain));
    iwi_append(paragraph, "%s.", iwi_plain_text(iwi_result_text(remedy, "how"), plain));
}

static void append_best(const json_t *best, const json_t *whatif, char paragraph[IWI_PARAGRAPH_SIZE])
{
    const json_t *remedy = json_object_get(best, "remedy");
    const double saving = iwi_whatif_estimate(best, "saving").value,
                 now = iwi_whatif_estimate(whatif, "now").value;
    char estimate[IWI_ESTIMATE_SIZE], name[IWI_CHANGE_NAME_SIZE];

    iwi_append(paragraph, " %s: without %s its slowdown would be %s less.",
               saving > 0.5 * now ? "Most of it has one source" : "The largest part has one source",
               iwi_whatif_change_name(best, name),
               iwi_whatif_points_text(iwi_whatif_estimate(best, "saving"), estimate));
    if (json_is_object(remedy)) {
        iwi_append(paragraph, " To do: ");
        iwi_whatif_append_remedy(remedy, paragraph);
    }
}

/* " (mean of 20 trials; 95 % CI 6.20 % to 8.00 %)" */
static void append_statistic(const json_t *whatif, iw_estimate now, char paragraph[IWI_PARAGRAPH_SIZE])
{
    char range[IWI_RANGE_SIZE];

    iwi_append(paragraph, " (mean of %" PRIu64 " trials", iwi_result_count(whatif, "trials"));
    if (now.low < now.high) {
        iwi_append(paragraph, "; 95 %% CI %s", iwi_slowdown_range_text(now.low, now.high, range));
    }
    iwi_append(paragraph, ")");
}

void iwi_whatif_verdict(const json_t *whatif, char paragraph[IWI_PARAGRAPH_SIZE])
{
    const iw_estimate now = iwi_whatif_estimate(whatif, "now");
    const json_t *recording = json_object_get(whatif, "recording");
    const json_t *best = iwi_whatif_change(whatif, "source", 0);
    char estimate[IWI_ESTIMATE_SIZE], phrase[IWI_PHRASE_SIZE], name[IWI_CHANGE_NAME_SIZE];

    append_job(whatif, paragraph);
    if (isnan(now.value)) {
        iwi_append(paragraph, " takes no time without noise, so nothing can be said in percent.");
        return;
    }
    if (iwi_is_bound(recording)) {
        iwi_append_bound(paragraph, now, "noise");
        iwi_append_reach(paragraph, recording, iwi_result_count(whatif, "ranks"),
                         iwi_result_number(whatif, "noiseless_ns"));
    } else {
        iwi_append(paragraph, " %s without noise", iwi_slower_text(now.value, phrase));
        append_statistic(whatif, now, paragraph);
    }
    if (iwi_is_extrapolated(recording)) {
        iwi_append(paragraph, ", ");
        iwi_append_laws(paragraph, recording);
    }
    iwi_append(paragraph, ".");
    if (best != NULL && iwi_whatif_is_worth_it(best)) {
        append_best(best, whatif, paragraph);
    } else if (best != NULL) {
        const iw_estimate saving = iwi_whatif_estimate(best, "saving");

        iwi_append(paragraph, " The largest part may be that of %s", iwi_whatif_change_name(best, name));
        if (!is_bound(saving)) {
            iwi_append(paragraph, ", %s", iwi_whatif_points_text(saving, estimate));
        }
        iwi_append(paragraph,
                   ", but that may also be chance: more --trials, or a longer recording, would tell.");
    }
}

void iwi_whatif_interaction(const json_t *whatif, char paragraph[IWI_PARAGRAPH_SIZE])
{
    const json_t *all = iwi_whatif_change(whatif, "all", 0);
    const double sum = iwi_result_number(whatif, "sum_of_sources"),
                 together = iwi_whatif_estimate(all, "saving").value;
    char one[IWI_NUMBER_SIZE], other[IWI_NUMBER_SIZE];

    if (isnan(sum) || !(together > 0) || iwi_whatif_change(whatif, "source", 1) == NULL) {
        return;
    }
    points_text(sum, one);
    points_text(together, other);
    if (strcmp(one, other) == 0) {
        iwi_append(paragraph, "Savings add up here: %s points, one by one or all at once.", one);
        return;
    }
    iwi_append(paragraph,
               "Savings do not add up: one by one the sources save %s points in sum, all of them "
               "at once %s. ",
               one, other);
    iwi_append(paragraph, "%s",
               sum < together
                   ? "Where one is gone, another takes its place on the critical path."
                   : "Where waiting absorbs one delay but not two, each of them seems to cost what "
                     "only both do.");
}

void iwi_whatif_order(const json_t *whatif, char paragraph[IWI_PARAGRAPH_SIZE])
{
    if (json_is_false(json_object_get(whatif, "is_monotone"))) {
        iwi_append(paragraph,
                   "Less noise can also make this job slower: what comes first decides what its ranks do "
                   "next (docs/explanation/semantics.md, 9). So a saving may be below 0, and nothing is "
                   "concluded from "
                   "one set of sources for another.");
        if (iwi_result_number(whatif, "recorded_seconds") > 0.0) {
            iwi_append(paragraph,
                       " Upper ends take it that a detour which no trial met costs no more than it "
                       "lasts; here it may cost more.");
        }
    }
}

void iwi_whatif_target(const json_t *whatif, char paragraph[IWI_PARAGRAPH_SIZE])
{
    const json_t *target = json_object_get(whatif, "target"), *removes = json_object_get(target, "removes");
    const iw_estimate left = iwi_whatif_estimate(target, "left");
    char goal[IWI_NUMBER_SIZE], estimate[IWI_ESTIMATE_SIZE];

    if (!json_is_object(target)) {
        return;
    }
    iwi_slowdown_text(iwi_result_number(target, "slowdown"), goal);
    if (!json_is_true(json_object_get(target, "is_reached"))) {
        iwi_append(
            paragraph,
            json_is_false(json_object_get(target, "is_exact"))
                ? "The slowdown is more than %s without each of the sets that were tried; there were too "
                  "many to try all."
                : "The slowdown is more than %s whatever is removed.",
            goal);
        return;
    }
    if (json_array_size(removes) == 0) {
        iwi_append(paragraph, "The slowdown is less than %s as it is.", goal);
        return;
    }
    iwi_append(paragraph, "For a slowdown of %s at most, remove ", goal);
    append_sources(removes, paragraph);
    iwi_append(paragraph, ": a slowdown of %s is left.", iwi_whatif_slowdown_text(left, estimate));
    iwi_append(paragraph, json_is_true(json_object_get(target, "is_exact"))
                              ? " No smaller set does."
                              : " There were too many sets to try: a smaller one may do.");
    if (left.high > iwi_result_number(target, "slowdown")) {
        iwi_append(paragraph, " The interval reaches beyond the target: it may not be enough.");
    }
}

/* From how many ranks on it pays, if more than one number was looked at. */
static void append_break_even(const json_t *even, char paragraph[IWI_PARAGRAPH_SIZE])
{
    const uint64_t least = iwi_result_count(even, "least_ranks"), most = iwi_result_count(even, "most_ranks");
    char number[IWI_NUMBER_SIZE], low[IWI_NUMBER_SIZE], high[IWI_NUMBER_SIZE];

    if (json_is_true(json_object_get(even, "is_known"))) {
        iwi_append(paragraph, " It pays from about %s ranks on (%s to %s).",
                   iwi_about_ranks_text(iwi_result_number(even, "ranks"), number),
                   iwi_about_ranks_text(iwi_result_number(even, "low"), low),
                   iwi_about_ranks_text(iwi_result_number(even, "high"), high));
    } else if (least < most && json_is_true(json_object_get(even, "is_always"))) {
        iwi_append(paragraph, " It pays on any number of ranks from %s on.", iwi_ranks_text(least, low));
    } else if (least < most) {
        iwi_append(paragraph, " Between %s and %s ranks there is no number from which on it pays.",
                   iwi_ranks_text(least, low), iwi_ranks_text(most, high));
    }
}

void iwi_whatif_reserve(const json_t *whatif, char paragraph[IWI_PARAGRAPH_SIZE])
{
    const json_t *even = json_object_get(whatif, "break_even");
    const json_t *change = iwi_whatif_change(whatif, "reserve", 0);
    const iw_estimate saving = iwi_whatif_estimate(change, "saving");
    char number[IWI_NUMBER_SIZE], estimate[IWI_ESTIMATE_SIZE], note[IWI_PARAGRAPH_SIZE];

    if (change == NULL) {
        if (json_is_string(json_object_get(whatif, "reserve_note"))) {
            iwi_append(paragraph, "%s", iwi_plain_text(iwi_result_text(whatif, "reserve_note"), note));
        }
        return;
    }
    iwi_append(
        paragraph, "A core of each node left to the operating system %s %s here, its price included",
        saving.value >= 0 ? "saves" : "costs",
        iwi_whatif_points_text(
            saving.value >= 0 ? saving : (iw_estimate){-saving.value, -saving.high, -saving.low}, estimate));
    if (json_is_object(even)) {
        iwi_append(paragraph, " (one core less costs %s)",
                   iwi_slowdown_text(iwi_result_number(even, "price"), number));
    }
    iwi_append(paragraph, saving.low < 0 && !(saving.high <= 0) ? "; that may also be chance." : ".");
    if (json_is_object(even)) {
        append_break_even(even, paragraph);
    }
}

void iwi_whatif_together(const json_t *whatif, char paragraph[IWI_PARAGRAPH_SIZE])
{
    const json_t *change = iwi_whatif_change(whatif, "together", 0);
    char estimate[IWI_ESTIMATE_SIZE];

    if (change != NULL && iwi_whatif_is_worth_it(change)) {
        iwi_append(paragraph,
                   "If all nodes did their work for the operating system at the same time, "
                   "nothing would have to go: that alone would save %s.",
                   iwi_whatif_points_text(iwi_whatif_estimate(change, "saving"), estimate));
    }
}

/* What upper ends hold besides: rarer and longer detours than those that were seen. */
static void append_unseen(const json_t *whatif, char paragraph[IWI_PARAGRAPH_SIZE])
{
    const json_t *recording = json_object_get(whatif, "recording");
    char number[IWI_NUMBER_SIZE];

    if (iwi_is_bound(recording)) {
        iwi_append(paragraph, " 'At least': what the recording cannot show may add to that.");
    } else if (json_is_object(recording) && !iwi_is_extrapolated(recording) &&
               iwi_result_count(whatif, "redraws") > 0) {
        iwi_append(paragraph, " Upper ends count what may be unseen, up to %s points.",
                   points_text(iwi_result_number(recording, "unseen"), number));
    }
}

void iwi_whatif_certainty(const json_t *whatif, char paragraph[IWI_PARAGRAPH_SIZE])
{
    const double recorded_s = iwi_result_number(whatif, "recorded_seconds"),
                 rare_s = iwi_result_number(whatif, "rare_limit_seconds");
    const uint64_t redraws = iwi_result_count(whatif, "redraws");
    char number[IWI_NUMBER_SIZE];

    iwi_append(paragraph, "In brackets: 95 %% intervals, from %" PRIu64 " trials in pairs",
               iwi_result_count(whatif, "trials"));
    if (recorded_s > 0 && redraws > 0) {
        iwi_append(paragraph, " and %" PRIu64 " redraws of what was recorded in %s", redraws,
                   iwi_ns_round_text(recorded_s * 1e9, number));
    } else if (recorded_s > 0) {
        iwi_append(paragraph, "; that the recording is short is not in them (--redraws)");
    }
    iwi_append(paragraph, ".");
    append_unseen(whatif, paragraph);
    if (rare_s > 0) {
        iwi_append(paragraph,
                   " What comes less than once in %s on a node may be missing in the recording, and then "
                   "here.",
                   iwi_ns_round_text(rare_s * 1e9, number));
    }
}
