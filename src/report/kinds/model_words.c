/* Sentences about models: what they say, how sure, and where they end.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "report/kinds/model_report.h"
#include "report/kinds/noise_report.h"

/* More ranks than any machine will have. */
static const double MOST_MACHINES = 1e12;

/* The last row that says something, or NULL. */
static const iw_model_row *last_answer(const iw_model_report *report)
{
    const iw_model_row *last = NULL;

    for (size_t i = 0; i < report->count; i++) {
        if (report->rows[i].support != IW_SUPPORT_REFUSED) {
            last = &report->rows[i];
        }
    }
    return last;
}

/* Noise "none": what the network alone does. */
static bool is_quiet(const iw_model_report *report)
{
    return report->recording == NULL && strcmp(report->noise, "none") == 0;
}

static void append_largest(char *text, const iw_model_report *report)
{
    const iw_model_row *row = last_answer(report);
    char ranks[IWI_NUMBER_SIZE], time[IWI_NUMBER_SIZE], range[IWI_RANGE_SIZE], slower[IWI_PHRASE_SIZE];

    if (row == NULL) {
        return;
    }
    if (is_quiet(report)) {
        iwi_append(text, "Without noise it takes %s on %s rank%s.", iwi_ns_time_text(row->noiseless_ns, time),
                   iwi_any_ranks_text((double)row->ranks, ranks), row->ranks == 1 ? "" : "s");
        return;
    }
    iwi_append(text, "On %s rank%s it ", iwi_any_ranks_text((double)row->ranks, ranks),
               row->ranks == 1 ? "" : "s");
    if (isinf(row->high_ns.high)) {
        iwi_append(text, "takes a time that has no mean.");
    } else if (row->low_ns.low < row->high_ns.high) {
        iwi_append(text, "has a slowdown of %s (mean).",
                   iwi_slowdown_range_text(fmax(row->low_ns.low / row->noiseless_ns - 1, 0),
                                           row->high_ns.high / row->noiseless_ns - 1, range));
    } else {
        iwi_append(text, "%s without noise (mean).",
                   iwi_slower_text(row->high_ns.value / row->noiseless_ns - 1, slower));
    }
}

/* From which of the ranks asked on it takes twice as long as without noise. */
static void append_first_doubled_row(char *text, const iw_model_report *report, const char *what)
{
    char ranks[IWI_NUMBER_SIZE];

    for (size_t i = 0; i < report->count; i++) {
        const iw_model_row *row = &report->rows[i];

        if (row->support != IW_SUPPORT_REFUSED && row->noiseless_ns > 0 &&
            row->low_ns.low >= 2 * row->noiseless_ns) {
            iwi_append(text, "%s takes twice as long as without noise from N = %s ranks on%s. ", what,
                       iwi_any_ranks_text((double)row->ranks, ranks),
                       report->count > 1 && i > 0 ? " (the first of those asked)" : " or fewer");
            return;
        }
    }
    if (last_answer(report) != NULL) {
        iwi_append(text, "%s does not take twice as long up to N = %s ranks. ", what,
                   iwi_any_ranks_text((double)last_answer(report)->ranks, ranks));
    }
}

static void append_doubled(char *text, const iw_model_report *report)
{
    char first[IWI_NUMBER_SIZE], last[IWI_NUMBER_SIZE];

    iwi_any_ranks_text(report->first_doubled, first);
    iwi_any_ranks_text(report->last_doubled, last);
    if (isinf(report->first_doubled)) {
        iwi_append(text, "No number of ranks up to 10^40 makes a phase take twice as long as on one rank. ");
    } else if (report->first_doubled > MOST_MACHINES) {
        iwi_append(text,
                   "No machine is large enough for a phase to take twice as long as on one rank: N = %s "
                   "ranks. ",
                   first);
    } else if (isinf(report->last_doubled)) {
        iwi_append(text, "A phase may take twice as long as on one rank from N = %s ranks on, never before. ",
                   first);
    } else if (strcmp(first, last) == 0) {
        iwi_append(text, "A phase takes twice as long as on one rank from N = %s ranks on. ", first);
    } else {
        iwi_append(
            text,
            "A phase takes twice as long as on one rank from N = %s ranks on at the latest, from %s at "
            "the earliest. ",
            last, first);
    }
}

static void append_horizon(char *text, const iw_model_report *report)
{
    const iw_window_horizon *horizon = report->horizon;
    const double ranks = fmax(horizon->tail_ranks, horizon->observed_ranks);
    char number[IWI_NUMBER_SIZE];

    iwi_append(text, "This recording supports N up to %s. ", iwi_any_ranks_text(floor(ranks), number));
}

void iwi_write_model_verdict(FILE *out, const iw_model_report *report)
{
    char text[IWI_PARAGRAPH_SIZE] = "";

    if (report->is_cone) {
        append_first_doubled_row(text, report, report->question.work_ns > 0 ? "A phase" : "The barrier");
    } else if (report->recording != NULL) {
        append_first_doubled_row(text, report, "A phase");
    } else if (report->question.work_ns > 0) {
        append_doubled(text, report);
    }
    append_largest(text, report);
    if (report->horizon != NULL) {
        iwi_append(text, "%s", text[0] != '\0' ? " " : "");
        append_horizon(text, report);
    }
    iwi_write_wrapped(out, text);
}

static void write_question(FILE *out, const iw_model_report *report)
{
    char text[IWI_PARAGRAPH_SIZE] = "", noise[IWI_NAME_SIZE], net[IWI_NAME_SIZE], work[IWI_NUMBER_SIZE],
         latency[IWI_NUMBER_SIZE];

    if (report->question.work_ns <= 0) {
        iwi_append(text, "A dissemination barrier without work");
    } else {
        iwi_append(
            text, "A phase: %s of work, then a barrier %s", iwi_ns_time_text(report->question.work_ns, work),
            report->question.barrier == IW_MODEL_TREE ? "up and down a binary tree" : "by dissemination");
        iwi_append(text, ", latency %s", iwi_ns_time_text(report->question.latency_ns, latency));
    }
    if (report->net != NULL) {
        iwi_append(text, ", network %s", iwi_plain_name(report->net, 40, net));
    }
    iwi_append(text, "; noise %s.", iwi_plain_name(report->noise, 60, noise));
    (void)fputc('\n', out);
    iwi_write_wrapped(out, text);
}

static void write_chains(FILE *out, const iw_model_chain *chains)
{
    char text[IWI_PARAGRAPH_SIZE] = "", one[IWI_NUMBER_SIZE], both[IWI_NUMBER_SIZE],
         lost_one[IWI_NUMBER_SIZE], lost_both[IWI_NUMBER_SIZE];

    iwi_append(
        text,
        "Without a barrier, if each rank waits for a neighbour on a line, a phase takes %s on any number of "
        "ranks: noise adds %.0f times its mean; %s if it waits for both: %.3f times. The idle wave "
        "of a delay then loses %s or %s for each rank that it goes on.",
        iwi_ns_time_text(chains[0].phase_ns, one), chains[0].growth,
        iwi_ns_time_text(chains[1].phase_ns, both), chains[1].growth,
        iwi_ns_time_text(chains[0].decay_ns_per_rank, lost_one),
        iwi_ns_time_text(chains[1].decay_ns_per_rank, lost_both));
    iwi_write_item(out, text);
}

/* The papers cut their numbers off; what is whole but for rounding (4 * 49^2) stays whole. */
static void write_half_ranks(FILE *out, const iw_model_report *report)
{
    static const double ROUNDING = 1 + 1e-12;
    char number[IWI_NUMBER_SIZE], text[IWI_PARAGRAPH_SIZE] = "";

    if (report->half_rule == IW_HALF_BOUND) {
        iwi_append(text, "The papers have no rule of thumb for N_1/2 of this noise.");
    } else if (isfinite(report->half_ranks)) {
        iwi_append(
            text, "N_1/2 is %s by %s.", iwi_any_ranks_text(floor(report->half_ranks * ROUNDING), number),
            report->half_rule == IW_HALF_PAPERS
                ? "the papers' rule of thumb"
                : "a rule of our own; that of the papers does not hold here (docs/explanation/models.md)");
    }
    if (text[0] != '\0') {
        iwi_write_item(out, text);
    }
}

static void write_law_limits(FILE *out, const iw_model_report *report)
{
    if (report->question.barrier == IW_MODEL_TREE) {
        if (!is_quiet(report)) {
            iwi_write_item(out, "Bounds of the mean by theorem 1 of Agarwal, Garg and Vishnoi: the slowest "
                                "leaf, and the slowest rank.");
        }
        write_half_ranks(out, report);
    } else {
        iwi_write_item(out, "The mean is that of the slowest rank and of all rounds; exact where messages "
                            "cost nothing but latency.");
    }
    if (report->chains != NULL) {
        write_chains(out, report->chains);
    }
    if (report->net != NULL && report->question.barrier == IW_MODEL_TREE) {
        iwi_write_item(out, "A message takes o_s + L + o_r of the network. That a rank of the tree has two "
                            "children, the second of which waits for the CPU, is left out.");
    }
    if (report->checks != NULL && strstr(report->noise, "pareto:") != NULL) {
        iwi_write_item(out, "Means of heavy tails come from draws so rare that few trials miss them: the "
                            "simulated mean tends to be too low, its interval too narrow.");
    }
    if (!is_quiet(report)) {
        iwi_write_item(out, "Ranks are hit independently, and only while they work. Noise that is the same "
                            "on many ranks, or that hits messages, is for 'idlewave simulate'.");
    }
}

static void write_cone_limits(FILE *out)
{
    iwi_write_item(
        out, "By recursion over the rounds: detours hit work and messages, and are absorbed in waiting. The "
             "mean was within 10 % of the simulator's wherever both were tried (docs/explanation/models.md); "
             "--check simulates this one.");
    iwi_write_item(out, "Ranks are hit independently. Noise that is the same on many ranks is for 'idlewave "
                        "simulate'.");
}

/* Why there is no answer behind the supported ranks, and what to do. */
static void write_refusal(FILE *out, const iw_window_horizon *horizon)
{
    static const char *const why[] = {
        [IW_REFUSAL_NONE] = "",
        [IW_REFUSAL_SHORT] = "the recording is short: a rare source may not have shown up in it",
        [IW_REFUSAL_FEW] = "too few phases lose enough to fit the tail to",
        [IW_REFUSAL_MIXTURE] =
            "the largest losses are of another kind than those that the tail would be fitted to",
        [IW_REFUSAL_HEAVY] = "the fitted tail is so heavy that it has no mean",
    };
    char text[IWI_PARAGRAPH_SIZE] = "", number[IWI_NUMBER_SIZE];

    if (horizon->refusal == IW_REFUSAL_NONE) {
        return;
    }
    iwi_append(text, "More ranks are refused: %s. ", why[horizon->refusal]);
    if (horizon->record_s > 0) {
        iwi_append(text, "Record for %s instead.", iwi_ns_round_text(1e9 * ceil(horizon->record_s), number));
    } else {
        iwi_append(text, "No longer recording would change that.");
    }
    iwi_write_item(out, text);
}

static void write_recording_limits(FILE *out, const iw_model_report *report)
{
    const iw_window_horizon *horizon = report->horizon;
    const size_t cpu_count = report->recording->cpu_count;
    char text[IWI_PARAGRAPH_SIZE] = "", phases[IWI_NUMBER_SIZE], ranks[IWI_NUMBER_SIZE],
         nodes[IW_NODES_TEXT_SIZE], cpus[64];

    iwi_append(text, "The recording has %s independent phases: by order statistics they support N = %s",
               iwi_any_ranks_text(floor(horizon->phases), phases),
               iwi_any_ranks_text(floor(horizon->observed_ranks), ranks));
    if (horizon->tail_ranks > horizon->observed_ranks) {
        iwi_append(text, ", the fitted tail (shape %.2f) N = %s", horizon->tail_shape,
                   iwi_any_ranks_text(floor(horizon->tail_ranks), ranks));
    }
    iwi_append(text,
               ". Both hold for the sources that were seen; one that comes less than three times in the "
               "recorded time may be missing.");
    iwi_write_item(out, text);
    write_refusal(out, horizon);
    text[0] = '\0';
    iwi_append(
        text,
        "Bounds hold the 95 %% interval of the recording. Noise is that of this node, %s; ranks are taken "
        "to be hit independently, and only while they work.",
        iw_nodes_text(cpu_count, cpu_count,
                      report->cpus != NULL ? iw_cpu_set_text(report->cpus, cpus, sizeof cpus) : NULL, nodes));
    iwi_write_item(out, text);
}

/* "rank 4: tick; from 1,024: kworker": where the source that slows most changes. */
static void write_dominant(FILE *out, const iw_model_report *report)
{
    char text[IWI_PARAGRAPH_SIZE] = "What slows most: ", ranks[IWI_NUMBER_SIZE], name[IWI_NAME_SIZE];
    const iw_source *before = NULL;

    for (size_t i = 0; i < report->count; i++) {
        const iw_source *source = iwi_model_dominant(report, i);

        if (report->rows[i].support == IW_SUPPORT_REFUSED || source == NULL || source == before) {
            continue;
        }
        iwi_append(text, "%s%s from N = %s on", before != NULL ? ", " : "",
                   iwi_plain_name(iwi_model_source_name(source), 40, name),
                   iwi_any_ranks_text((double)report->rows[i].ranks, ranks));
        before = source;
    }
    if (before != NULL) {
        iwi_append(text, ".");
        iwi_write_item(out, text);
    }
}

void iwi_write_model_limits(FILE *out, const iw_model_report *report)
{
    write_question(out, report);
    if (report->is_cone) {
        write_cone_limits(out);
    } else if (report->recording != NULL) {
        write_dominant(out, report);
        write_recording_limits(out, report);
    } else {
        write_law_limits(out, report);
    }
}
