/* Sentences about models: what they say, how sure, and where they end.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <string.h>

#include "core/base/base.h"
#include "features/model/model_report.h"
#include "kit/text/words.h"

/* More ranks than any machine will have. */
static const double MOST_MACHINES = 1e12;

/* The last row that says something, or NULL. */
static const iw_model_row *last_answer(const iw_model_report *report)
{
    const iw_model_row *last = NULL;

    for (size_t i = 0; i < report->count; i++) {
        last = report->rows[i].support != IW_SUPPORT_REFUSED ? &report->rows[i] : last;
    }
    return last;
}

/* Noise "none": what the network alone does. */
static bool is_quiet(const iw_model_report *report)
{
    return report->horizon == NULL && strcmp(report->noise, "none") == 0;
}

/* Noise of the wall clock hits messages that take CPU time too; bounds of phases leave that out. The cone has
 * it. */
static bool leaves_out_messages(const iw_model_report *report)
{
    return report->net != NULL && !report->is_cone &&
           (report->horizon != NULL || strncmp(report->noise, "poisson:", 8) == 0 ||
            strncmp(report->noise, "periodic:", 9) == 0);
}

static const char *plain(struct iwi_document *doc, const char *name, size_t columns)
{
    return iwi_say(doc, "%s", iwi_plain_name(name, columns, (char[IWI_NAME_SIZE]){0}));
}

/* ---- verdict ---- */

static void say_largest(struct iwi_document *doc, const iw_model_report *report)
{
    const iw_model_row *row = last_answer(report);
    char range[IWI_RANGE_SIZE], slower[IWI_PHRASE_SIZE], net[IWI_PHRASE_SIZE];
    const char *ranks;

    if (row == NULL) {
        return;
    }
    ranks = iwi_say(doc, "%s rank%s%s%s", iwi_any_ranks(doc, (double)row->ranks), iwi_s(row->ranks),
                    report->net != NULL ? " of " : "",
                    report->net != NULL ? iwi_net_words(plain(doc, report->net, 40), net) : "");
    if (is_quiet(report)) {
        iwi_more(doc, "Without noise it takes %s on %s.", iwi_ns(doc, row->noiseless_ns), ranks);
    } else if (isinf(row->high_ns.high)) {
        iwi_more(doc, "On %s it takes a time that has no mean.", ranks);
    } else if (row->low_ns.low < row->high_ns.high) {
        const double high = row->high_ns.high / row->noiseless_ns - 1;

        (void)iwi_slowdown_range_text(fmax(row->low_ns.low / row->noiseless_ns - 1, 0), high, high, range);
        iwi_more(doc,
                 high < 1 ? "On %s it has a slowdown of %s (mean%s)." : "On %s it takes %s as long (mean%s).",
                 ranks, range, leaves_out_messages(report) ? ", without noise that hits messages" : "");
    } else {
        iwi_more(doc, "On %s it %s without noise (mean).", ranks,
                 iwi_slower_text(row->high_ns.value / row->noiseless_ns - 1, slower));
    }
}

/* From which of the ranks asked on it takes twice as long as without noise. */
static void say_first_doubled_row(struct iwi_document *doc, const iw_model_report *report, const char *what)
{
    for (size_t i = 0; i < report->count; i++) {
        const iw_model_row *row = &report->rows[i];

        if (row->support != IW_SUPPORT_REFUSED && row->noiseless_ns > 0 &&
            row->low_ns.low >= 2 * row->noiseless_ns) {
            iwi_more(doc, "%s takes twice as long as without noise from N = %s ranks on%s. ", what,
                     iwi_any_ranks(doc, (double)row->ranks),
                     report->count > 1 && i > 0 ? " (the first of those asked)" : " or fewer");
            return;
        }
    }
    if (last_answer(report) != NULL) {
        iwi_more(doc, "%s does not take twice as long up to N = %s ranks. ", what,
                 iwi_any_ranks(doc, (double)last_answer(report)->ranks));
    }
}

static void say_doubled(struct iwi_document *doc, const iw_model_report *report)
{
    const char *first = iwi_any_ranks(doc, report->first_doubled),
               *last = iwi_any_ranks(doc, report->last_doubled);

    if (isinf(report->first_doubled)) {
        iwi_more(doc, "No number of ranks up to 10^40 makes a phase take twice as long as on one rank. ");
    } else if (report->first_doubled > MOST_MACHINES) {
        iwi_more(doc,
                 "No machine is large enough for a phase to take twice as long as on one rank: N = %s "
                 "ranks. ",
                 first);
    } else if (isinf(report->last_doubled)) {
        iwi_more(doc, "A phase may take twice as long as on one rank from N = %s ranks on, never before. ",
                 first);
    } else if (strcmp(first, last) == 0) {
        iwi_more(doc, "A phase takes twice as long as on one rank from N = %s ranks on. ", first);
    } else {
        iwi_more(doc,
                 "A phase takes twice as long as on one rank from N = %s ranks on at the latest, from %s at "
                 "the earliest. ",
                 last, first);
    }
}

void iwi_say_model_verdict(struct iwi_document *doc, const iw_model_report *report)
{
    iwi_verdict(doc, "%s", "");
    if (report->is_cone) {
        say_first_doubled_row(doc, report, report->question.work_ns > 0 ? "A phase" : "The barrier");
    } else if (report->horizon != NULL) {
        say_first_doubled_row(doc, report, "A phase");
    } else if (report->question.work_ns > 0) {
        say_doubled(doc, report);
    }
    say_largest(doc, report);
    if (report->horizon != NULL) {
        iwi_more(
            doc, "%sThis recording supports N up to %s.", last_answer(report) != NULL ? " " : "",
            iwi_any_ranks(doc, floor(fmax(report->horizon->tail_ranks, report->horizon->observed_ranks))));
    }
}

/* ---- the question ---- */

static void say_question(struct iwi_document *doc, const iw_model_report *report)
{
    if (report->question.work_ns > 0) {
        iwi_paragraph(
            doc, "A phase: %s of work, then a barrier %s, latency %s", iwi_ns(doc, report->question.work_ns),
            report->question.barrier == IW_MODEL_TREE ? "up and down a binary tree" : "by dissemination",
            iwi_ns(doc, report->question.latency_ns));
    } else {
        iwi_paragraph(doc, "A dissemination barrier without work");
    }
    if (report->net != NULL) {
        iwi_more(doc, ", network %s", plain(doc, report->net, 40));
    }
    iwi_more(doc, "; noise %s.", plain(doc, report->noise, 60));
}

/* ---- limits of laws ---- */

static void say_chains(struct iwi_document *doc, const iw_model_chain *chains)
{
    iwi_item(
        doc,
        "Without a barrier, if each rank waits for a neighbour on a line, a phase takes %s on any number "
        "of ranks: noise adds %.0f times its mean; %s if it waits for both: %.3f times. The idle wave "
        "of a delay then loses %s or %s for each rank that it passes.",
        iwi_ns(doc, chains[0].phase_ns), chains[0].growth, iwi_ns(doc, chains[1].phase_ns), chains[1].growth,
        iwi_ns(doc, chains[0].decay_ns_per_rank), iwi_ns(doc, chains[1].decay_ns_per_rank));
}

/* The papers cut their numbers off; what is whole but for rounding (4 * 49^2) stays whole. */
static void say_half_ranks(struct iwi_document *doc, const iw_model_report *report)
{
    static const double ROUNDING = 1 + 1e-12;

    if (report->half_rule == IW_HALF_BOUND) {
        iwi_item(doc, "The papers have no rule of thumb for N_1/2 of this noise.");
    } else if (isfinite(report->half_ranks)) {
        iwi_item(doc, "N_1/2 is %s by %s.", iwi_any_ranks(doc, floor(report->half_ranks * ROUNDING)),
                 report->half_rule == IW_HALF_PAPERS ? "the papers' rule of thumb"
                                                     : "a rule of our own; that of the papers does not hold "
                                                       "here (docs/explanation/models.md)");
    }
}

static bool was_simulated(const iw_model_report *report)
{
    uint64_t trials = 0;

    for (size_t i = 0; i < report->count; i++) {
        trials |= report->rows[i].simulated.trials;
    }
    return trials != 0;
}

static void say_law_limits(struct iwi_document *doc, const iw_model_report *report)
{
    if (report->question.barrier == IW_MODEL_TREE) {
        if (!is_quiet(report)) {
            iwi_item(doc, "Bounds of the mean by theorem 1 of Agarwal, Garg and Vishnoi: the slowest leaf, "
                          "and the slowest rank.");
        }
        say_half_ranks(doc, report);
    } else {
        iwi_item(doc, "The mean is that of the slowest rank and of all rounds; exact where messages cost "
                      "nothing but latency.");
    }
    if (report->chains[0].growth > 0) {
        say_chains(doc, report->chains);
    }
    if (report->net != NULL && report->question.barrier == IW_MODEL_TREE) {
        iwi_item(doc, "A message takes o_s + L + o_r of the network. That a rank of the tree has two "
                      "children, the second of which waits for the CPU, is left out.");
    }
    if (was_simulated(report) && strstr(report->noise, "pareto:") != NULL) {
        iwi_item(doc, "Means of heavy tails come from draws so rare that few trials miss them: the simulated "
                      "mean tends to be too low, its interval too narrow.");
    }
    if (!is_quiet(report)) {
        iwi_item(doc, "Ranks are hit independently, and only while they work. Noise that is the same on many "
                      "ranks, or that hits messages, needs a simulation.");
    }
}

static void say_cone_limits(struct iwi_document *doc)
{
    iwi_item(doc, "By recursion over the rounds: detours hit work and messages, and are absorbed in waiting. "
                  "The mean was within 10 %% of the simulator's wherever both were tried "
                  "(docs/explanation/models.md).");
    iwi_item(doc, "Ranks are hit independently. Noise that is the same on many ranks needs a simulation.");
}

/* ---- limits of recordings ---- */

/* Why there is no answer behind the supported ranks, and what to do. */
static void say_refusal(struct iwi_document *doc, const iw_window_horizon *horizon)
{
    static const char *const why[] = {
        [IW_REFUSAL_NONE] = "",
        [IW_REFUSAL_SHORT] = "the recording is short: a rare source may not have shown up in it",
        [IW_REFUSAL_FEW] = "too few phases lose enough to fit the tail to",
        [IW_REFUSAL_MIXTURE] =
            "the largest losses are of another kind than those that the tail would be fitted to",
        [IW_REFUSAL_HEAVY] = "the fitted tail is so heavy that it has no mean",
    };
    char number[IWI_NUMBER_SIZE];

    if (horizon->refusal == IW_REFUSAL_NONE) {
        return;
    }
    iwi_item(doc, "More ranks are refused: %s. ", why[horizon->refusal]);
    if (horizon->record_s > 0) {
        iwi_more(doc, "Record for %s instead.", iwi_ns_round_text(1e9 * ceil(horizon->record_s), number));
    } else {
        iwi_more(doc, "No longer recording would change that.");
    }
}

/* "tick from N = 4 on, kworker from N = 1,024 on": where the source that slows most changes. */
static void say_worst_sources(struct iwi_document *doc, const iw_model_report *report)
{
    const char *before = NULL;

    for (size_t i = 0; i < report->count; i++) {
        const iw_model_row *row = &report->rows[i];

        if (row->support == IW_SUPPORT_REFUSED || row->worst_source == NULL ||
            (before != NULL && strcmp(row->worst_source, before) == 0)) {
            continue;
        }
        if (before == NULL) {
            iwi_item(doc, "What slows most: ");
        }
        iwi_more(doc, "%s%s from N = %s on", before != NULL ? ", " : "", plain(doc, row->worst_source, 40),
                 iwi_any_ranks(doc, (double)row->ranks));
        before = row->worst_source;
    }
    if (before != NULL) {
        iwi_more(doc, ".");
    }
}

static void say_recording_limits(struct iwi_document *doc, const iw_model_report *report)
{
    const iw_window_horizon *horizon = report->horizon;
    char nodes[IW_NODES_TEXT_SIZE];

    say_worst_sources(doc, report);
    iwi_item(doc, "The recording has %s independent phases: by order statistics they support N = %s",
             iwi_any_ranks(doc, floor(horizon->phases)), iwi_any_ranks(doc, floor(horizon->observed_ranks)));
    if (horizon->tail_ranks > horizon->observed_ranks) {
        const double shape = fabs(horizon->tail_shape) < 0.005 ? 0 : horizon->tail_shape; /* no -0.00 */

        iwi_more(doc, ", the fitted tail (shape %.2f) N = %s", shape,
                 iwi_any_ranks(doc, floor(horizon->tail_ranks)));
    }
    iwi_more(doc, ". Both hold for the sources that were seen; one that comes less than three times in the "
                  "recorded time may be missing.");
    say_refusal(doc, horizon);
    iwi_item(doc,
             "Bounds hold the 95 %% interval of the recording. Noise is that of this node, %s; ranks are "
             "taken to be hit independently, and only while they work.",
             iw_nodes_text(report->cpu_count, 1, report->cpu_count, report->cpus, nodes));
}

/* ---- against the simulator ---- */

static bool is_surely_outside(const iw_model_row *row)
{
    return row->simulated.mean_ns.low > row->high_ns.high || row->simulated.mean_ns.high < row->low_ns.low;
}

/* What was compared with what, and of how many ranks chance does not explain the difference. */
static void say_check(struct iwi_document *doc, const iw_model_report *report)
{
    size_t simulated = 0, outside = 0;

    for (size_t i = 0; i < report->count; i++) {
        const iw_model_row *row = &report->rows[i];

        if (row->simulated.trials > 0 && row->low_ns.low < row->high_ns.high) {
            simulated++;
            outside += is_surely_outside(row);
        }
    }
    if (simulated > 0) {
        iwi_item(doc,
                 "Simulated means are compared with the model's range: %zu of %zu %s outside by more than "
                 "the trials explain (95 %%).",
                 outside, simulated, outside == 1 ? "is" : "are");
    }
}

void iwi_say_model_limits(struct iwi_document *doc, const iw_model_report *report)
{
    say_question(doc, report);
    iwi_section(doc, "certainty", "How sure");
    if (report->is_cone) {
        say_cone_limits(doc);
    } else if (report->horizon != NULL) {
        say_recording_limits(doc, report);
    } else {
        say_law_limits(doc, report);
    }
    if (leaves_out_messages(report)) {
        iwi_item(doc,
                 "The range is that of noise that hits work. Noise also hits messages, which a simulation "
                 "counts: it may lie above the range.");
    }
    say_check(doc, report);
}
