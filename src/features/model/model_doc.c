/* Answers of models as a document: words, tables, figures, JSON.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <string.h>

#include <idlewave/model.h>

#include "core/base/base.h"
#include "features/tables.h"
#include "kit/doc/doc.h"
#include "kit/text/words.h"

static iw_status check(const iw_log *log, const char *name, const void *subject);
static const char *any_ranks(struct iwi_document *doc, double ranks);
static const char *compared(struct iwi_document *doc, const iw_model_row *row);

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
    return iwi_doc_printf(doc, "%s", iwi_plain_name(name, columns, (char[IWI_NAME_SIZE]){0}));
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
    ranks = iwi_doc_printf(doc, "%s rank%s%s%s", any_ranks(doc, (double)row->ranks), iwi_plural_s(row->ranks),
                           report->net != NULL ? " of " : "",
                           report->net != NULL ? iwi_net_words(plain(doc, report->net, 40), net) : "");
    if (is_quiet(report)) {
        iwi_doc_append(doc, "Without noise: %s on %s.", iwi_ns(doc, row->noiseless_ns), ranks);
    } else if (isinf(row->high_ns.high)) {
        iwi_doc_append(doc, "On %s the time has no finite mean.", ranks);
    } else if (row->low_ns.low < row->high_ns.high) {
        const double high = row->high_ns.high / row->noiseless_ns - 1;

        (void)iwi_slowdown_range_text(fmax(row->low_ns.low / row->noiseless_ns - 1, 0), high, high, range);
        iwi_doc_append(doc,
                       high < 1 ? "On %s it has a slowdown of %s (mean%s)."
                                : "On %s it takes %s as long as without noise (mean%s).",
                       ranks, range,
                       leaves_out_messages(report) ? ", not counting noise that hits messages" : "");
    } else {
        iwi_doc_append(doc, "On %s it %s without noise (mean).", ranks,
                       iwi_slower_text(row->high_ns.value / row->noiseless_ns - 1, slower));
    }
}

/* From which of the ranks asked on it takes twice as long as without noise, or up to which it surely does
 * not. */
static void say_first_doubled_row(struct iwi_document *doc, const iw_model_report *report, const char *what)
{
    const iw_model_row *below = NULL;

    for (size_t i = 0; i < report->count; i++) {
        const iw_model_row *row = &report->rows[i];

        if (row->support == IW_SUPPORT_REFUSED || !(row->noiseless_ns > 0)) {
            continue;
        }
        if (row->low_ns.low >= 2 * row->noiseless_ns) {
            iwi_doc_append(doc, "%s takes twice as long as without noise from %s ranks%s. ", what,
                           any_ranks(doc, (double)row->ranks),
                           report->count > 1 && i > 0 ? " (smallest number tried)" : " or fewer");
            return;
        }
        below = row->high_ns.high < 2 * row->noiseless_ns ? row : below;
    }
    if (below != NULL) {
        iwi_doc_append(doc, "%s takes less than twice as long as without noise up to %s ranks. ", what,
                       any_ranks(doc, (double)below->ranks));
    }
}

static void say_doubled(struct iwi_document *doc, const iw_model_report *report)
{
    const char *first = any_ranks(doc, report->first_doubled), *last = any_ranks(doc, report->last_doubled);

    if (isinf(report->first_doubled)) {
        iwi_doc_append(doc, "Up to 10^40 ranks no phase takes twice as long as on one rank. ");
    } else if (report->first_doubled > MOST_MACHINES) {
        iwi_doc_append(
            doc, "A phase takes twice as long as on one rank only from %s ranks, more than any machine has. ",
            first);
    } else if (isinf(report->last_doubled)) {
        iwi_doc_append(doc, "A phase takes twice as long as on one rank from %s ranks at the earliest. ",
                       first);
    } else if (strcmp(first, last) == 0) {
        iwi_doc_append(doc, "A phase takes twice as long as on one rank from %s ranks. ", first);
    } else {
        iwi_doc_append(doc,
                       "A phase takes twice as long as on one rank from %s ranks at the latest, from %s "
                       "at the earliest. ",
                       last, first);
    }
}

/* Verdict, and what follows the tables: the question, how sure, where it ends. */
static void say_model_verdict(struct iwi_document *doc, const iw_model_report *report)
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
        iwi_doc_append(
            doc, "%sThis recording supports up to %s ranks.", last_answer(report) != NULL ? " " : "",
            any_ranks(doc, floor(fmax(report->horizon->tail_ranks, report->horizon->observed_ranks))));
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
        iwi_doc_append(doc, ", network %s", plain(doc, report->net, 40));
    }
    iwi_doc_append(doc, "; noise %s.", plain(doc, report->noise, 60));
}

/* ---- limits of laws ---- */

static void say_chains(struct iwi_document *doc, const iw_model_chain *chains)
{
    iwi_item(
        doc,
        "Without a barrier, if each rank waits for one neighbour on a line, a phase takes %s on any number "
        "of ranks: noise adds %.0f times its mean; %s if it waits for both: %.3f times. The idle wave of a "
        "delay then loses %s or %s per rank that it passes.",
        iwi_ns(doc, chains[0].phase_ns), chains[0].growth, iwi_ns(doc, chains[1].phase_ns), chains[1].growth,
        iwi_ns(doc, chains[0].decay_ns_per_rank), iwi_ns(doc, chains[1].decay_ns_per_rank));
}

/* The papers cut their numbers off; what is whole but for rounding (4 * 49^2) stays whole. */
static void say_half_ranks(struct iwi_document *doc, const iw_model_report *report)
{
    static const double ROUNDING = 1 + 1e-12;

    if (report->half_rule == IW_DOUBLING_BOUND) {
        iwi_item(doc, "The papers give no rule of thumb for N_1/2 with this noise.");
    } else if (isfinite(report->half_ranks)) {
        iwi_item(doc, "N_1/2 is %s by %s.", any_ranks(doc, floor(report->half_ranks * ROUNDING)),
                 report->half_rule == IW_DOUBLING_PAPERS ? "the papers' rule of thumb"
                                                         : "our own rule; that of the papers does not hold "
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
            iwi_item(doc, "Limits of the mean by theorem 1 of Agarwal, Garg and Vishnoi: the slowest leaf "
                          "and the slowest rank.");
        }
        say_half_ranks(doc, report);
    } else {
        iwi_item(
            doc,
            "The mean covers the slowest rank and all rounds; it is exact where messages cost only latency.");
    }
    if (report->chains[0].growth > 0) {
        say_chains(doc, report->chains);
    }
    if (report->net != NULL && report->question.barrier == IW_MODEL_TREE) {
        iwi_item(doc, "A message takes o_s + L + o_r of the network. Not included: of the two children of a "
                      "rank in the tree, the second waits for the CPU.");
    }
    if (was_simulated(report) && strstr(report->noise, "pareto:") != NULL) {
        iwi_item(doc,
                 "With heavy tails, rare draws dominate the mean and few trials include them: the simulated "
                 "mean tends to be too low, its interval too narrow.");
    }
    if (!is_quiet(report)) {
        iwi_item(doc,
                 "Noise hits ranks independently, and only while they work. Noise that coincides on many "
                 "ranks, or that hits messages, needs a simulation.");
    }
}

static void say_cone_limits(struct iwi_document *doc)
{
    iwi_item(doc, "Recursion over the rounds: detours hit work and messages, and waiting absorbs some. The "
                  "mean was within 10 %% of the simulator's in all comparisons "
                  "(docs/explanation/models.md).");
    iwi_item(doc, "Noise hits ranks independently. Noise that coincides on many ranks needs a simulation.");
}

/* ---- limits of recordings ---- */

/* Why there is no answer behind the supported ranks, and what to do. */
static void say_refusal(struct iwi_document *doc, const iw_window_horizon *horizon)
{
    static const char *const why[] = {
        [IW_REFUSAL_NONE] = "",
        [IW_REFUSAL_SHORT] = "the recording is short: a rare source may be missing",
        [IW_REFUSAL_FEW] = "too few phases lose enough for a fit of the tail",
        [IW_REFUSAL_MIXTURE] = "the largest losses differ in kind from the rest of the tail",
        [IW_REFUSAL_HEAVY] = "the fitted tail has no finite mean",
    };
    char number[IWI_NUMBER_SIZE];

    if (horizon->refusal == IW_REFUSAL_NONE) {
        return;
    }
    iwi_item(doc, "No answer for more ranks: %s. ", why[horizon->refusal]);
    if (horizon->record_s > 0) {
        iwi_doc_append(doc, "Record for %s.", iwi_ns_round_text(1e9 * ceil(horizon->record_s), number));
    } else {
        iwi_doc_append(doc, "A longer recording would not help.");
    }
}

/* "tick from 4 ranks, kworker from 1,024 ranks": where the source that slows most changes. */
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
            iwi_item(doc, "Largest source: ");
        }
        iwi_doc_append(doc, "%s%s from %s ranks", before != NULL ? ", " : "",
                       plain(doc, row->worst_source, 40), any_ranks(doc, (double)row->ranks));
        before = row->worst_source;
    }
    if (before != NULL) {
        iwi_doc_append(doc, ".");
    }
}

static void say_recording_limits(struct iwi_document *doc, const iw_model_report *report)
{
    const iw_window_horizon *horizon = report->horizon;
    char nodes[IW_NODES_TEXT_SIZE];

    say_worst_sources(doc, report);
    iwi_item(doc, "The recording has %s independent phases; order statistics support %s ranks",
             any_ranks(doc, floor(horizon->phases)), any_ranks(doc, floor(horizon->observed_ranks)));
    if (horizon->tail_ranks > horizon->observed_ranks) {
        const double shape = fabs(horizon->tail_shape) < 0.005 ? 0 : horizon->tail_shape; /* no -0.00 */

        iwi_doc_append(doc, ", the fitted tail (shape %.2f) %s ranks", shape,
                       any_ranks(doc, floor(horizon->tail_ranks)));
    }
    iwi_doc_append(doc,
                   ". This holds for the recorded sources; one that occurs fewer than three times in the "
                   "recorded time may be missing.");
    say_refusal(doc, horizon);
    iwi_item(
        doc,
        "Limits include the 95 %% interval of the recording. The noise is that of this node, %s; it hits "
        "ranks independently, and only while they work.",
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
        iwi_item(doc, "Of %zu simulated means, %zu %s significantly outside the model's range (95 %%).",
                 simulated, outside, outside == 1 ? "is" : "are");
    }
}

static void say_model_limits(struct iwi_document *doc, const iw_model_report *report)
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
        iwi_item(doc, "The range counts noise that hits work only. In a simulation noise also hits messages, "
                      "so the result may lie above the range.");
    }
    say_check(doc, report);
}

/* Answers of models. */

/* ---- the table ---- */

static const struct iwi_field check_fields[] = {
    IWI_VALUE(iw_model_check, trials),
    IWI_ESTIMATE(iw_model_check, mean_ns, .about = "of a phase, as simulated"),
};
static const struct iwi_schema check_schema = IWI_SCHEMA(iw_model_check, check_fields);

IWI_NAMED(support_name, iw_support_name((iw_support)value))
IWI_OF(bool, is_simulated, iw_model_row, it->simulated.trials > 0)

static const struct iwi_field row_fields[] = {
    IWI_VALUE(iw_model_row, ranks),
    IWI_VALUE(iw_model_row, noiseless_ns),
    IWI_ESTIMATE(iw_model_row, slowest_ns, .about = "time that noise adds on the slowest rank"),
    IWI_OBJECT_AS(iw_model_row, low_ns, "at_least_ns", iwi_estimate_schema,
                  .about = "lower limit of the mean; equals the upper limit where the mean is one number"),
    IWI_OBJECT_AS(iw_model_row, high_ns, "at_most_ns", iwi_estimate_schema,
                  .about = "upper limit of the mean"),
    IWI_VALUE(iw_model_row, median_ns),
    IWI_ENUM(iw_model_row, support, "rests_on", support_name),
    IWI_VALUE(iw_model_row, worst_source, .may_be_null = true),
    IWI_OBJECT(iw_model_row, simulated, check_schema, .is_there = is_simulated, .about = "with `--check`"),
};
static const struct iwi_schema row_schema = IWI_SCHEMA(iw_model_row, row_fields);

IWI_NAMES(refusal_name, [IW_REFUSAL_NONE] = "none", [IW_REFUSAL_SHORT] = "short", [IW_REFUSAL_FEW] = "few",
          [IW_REFUSAL_MIXTURE] = "mixture", [IW_REFUSAL_HEAVY] = "heavy")

static const struct iwi_field horizon_fields[] = {
    IWI_VALUE(iw_window_horizon, phases, .about = "independent phases recorded"),
    IWI_VALUE(iw_window_horizon, observed_ranks, .about = "supported by order statistics"),
    IWI_VALUE(iw_window_horizon, tail_ranks, .about = "supported by the fitted tail"),
    IWI_ENUM(iw_window_horizon, refusal, "refusal", refusal_name, .about = "why there are no answers beyond"),
    IWI_VALUE(iw_window_horizon, record_s, .about = "length to record for more; 0: no length would help"),
    IWI_VALUE(iw_window_horizon, tail_shape, .about = "of the fitted tail"),
    IWI_VALUE(iw_window_horizon, tail_from_ns),
};
static const struct iwi_schema horizon_schema = IWI_SCHEMA(iw_window_horizon, horizon_fields);

static const struct iwi_field chain_fields[] = {
    IWI_VALUE(iw_model_chain, growth, .about = "time that noise adds to a phase, over its mean"),
    IWI_VALUE(iw_model_chain, phase_ns),
    IWI_VALUE(iw_model_chain, decay_ns_per_rank, .about = "of an idle wave"),
};
static const struct iwi_schema chain_schema = IWI_SCHEMA(iw_model_chain, chain_fields);

IWI_NAMED(chain_name, value == 0 ? "one_way" : value == 1 ? "both_ways" : NULL)
IWI_OF(bool, has_chains, iw_model_report, it->chains[0].growth > 0)

IWI_NAMED(barrier_name, value == IW_MODEL_TREE            ? "tree"
                        : value == IW_MODEL_DISSEMINATION ? "dissemination"
                                                          : NULL)

static const struct iwi_field question_fields[] = {
    IWI_VALUE(iw_model_question, work_ns, .about = "of a phase; 0: the barrier alone"),
    IWI_VALUE(iw_model_question, latency_ns, .about = "of a message: o_s + L + o_r of a network"),
    IWI_ENUM(iw_model_question, barrier, "barrier", barrier_name),
};
static const struct iwi_schema question_schema = IWI_SCHEMA(iw_model_question, question_fields);

IWI_NAMED(rule_name, iw_doubling_rule_name((iw_doubling_rule)value))

static const struct iwi_field report_fields[] = {
    IWI_VALUE(iw_model_report, noise, .about = "spec, or name of the noise file"),
    IWI_VALUE_AS(iw_model_report, cpu_count, "recorded_cpus",
                 .about = "number of CPUs whose noise ranks meet; 0 without a noise file"),
    IWI_VALUE_AS(iw_model_report, cpus, "noise_cpus", .may_be_null = true,
                 .about = "CPUs chosen by `--noise-cpus`; null: all"),
    IWI_VALUE(iw_model_report, net, .may_be_null = true, .about = "null: messages cost only latency"),
    IWI_INLINE(iw_model_report, question, question_schema),
    IWI_VALUE(iw_model_report, is_cone,
              .about = "answered by the recursion over the rounds of a dissemination barrier"),
    IWI_VALUE(iw_model_report, half_ranks, .about = "N_1/2 by a rule of thumb; null without a law"),
    IWI_ENUM(iw_model_report, half_rule, "half_rule", rule_name,
             .about =
                 "source of the rule: `own` where that of the papers does not hold, `bound` if there is none "
                 "and the number is `last_doubled`"),
    IWI_VALUE(iw_model_report, first_doubled,
              .about = "smallest number of ranks on which a phase may take twice as long as on one; null: "
                       "never, or not asked"),
    IWI_VALUE(iw_model_report, last_doubled, .about = "smallest number of ranks on which it must"),
    {.key = "neighbours",
     .type = IWI_T_OBJECT,
     .holder = IWI_KEYED,
     .offset = offsetof(iw_model_report, chains),
     .size = sizeof(iw_model_chain),
     .count = 2,
     .name = chain_name,
     .of = &chain_schema,
     .is_there = has_chains,
     .about = "exponential noise without a barrier: each rank waits for one neighbor on a line, or for both"},
    IWI_POINTER(iw_model_report, horizon, horizon_schema, .about = "how far a noise file carries"),
    IWI_OBJECTS(iw_model_report, rows, count, row_schema, .is_row = true,
                .about = "one for each number of ranks, ascending"),
    IWI_VALUE(iw_model_report, command, .may_be_null = true),
    IWI_INLINE(iw_model_report, caveats, iwi_caveats_schema),
};
static const struct iwi_schema report_schema = IWI_SCHEMA(iw_model_report, report_fields);

static iw_status check(const iw_log *log, const char *name, const void *subject)
{
    const iw_model_report *report = subject;

    return report->count > 0 ? IW_OK : iwi_fail(log, IW_ERR_FORMAT, "'%s': rows: empty", name);
}

/* ---- rows ---- */

/* "1,023", "2.30 * 10^27", "-" for none */
static const char *any_ranks(struct iwi_document *doc, double ranks)
{
    const double decade = floor(log10(ranks));

    if (isnan(ranks) || isinf(ranks)) {
        return "-";
    }
    return ranks < 1e15 ? iwi_doc_printf(doc, "%s",
                                         iwi_ranks_text((uint64_t)fmax(ceil(ranks - 1e-6), 0),
                                                        (char[IWI_NUMBER_SIZE]){0}))
                        : iwi_doc_printf(doc, "%.2f * 10^%.0f", ranks / pow(10, decade), decade);
}

/* Nothing is said of so many ranks. */
static bool is_silent(const iw_model_row *row)
{
    return isnan(row->low_ns.low);
}

static bool is_exact(const iw_model_report *report)
{
    for (size_t i = 0; i < report->count; i++) {
        const iw_model_row *row = &report->rows[i];

        if (row->support != IW_SUPPORT_REFUSED && row->low_ns.low < row->high_ns.high) {
            return false;
        }
    }
    return true;
}

static double slowdown_at(double time_ns, const iw_model_row *row)
{
    return time_ns / row->noiseless_ns - 1;
}

/* Of all rows that have one; `is_exact`: of means, else of upper bounds and of lower ones without these. */
static double largest_slowdown(const iw_model_report *report, bool is_exact)
{
    double largest = 0;

    for (size_t i = 0; i < report->count; i++) {
        const iw_model_row *row = &report->rows[i];
        const double high = slowdown_at(is_exact ? row->high_ns.value : row->high_ns.high, row);

        largest = fmax(largest, isfinite(high) ? high : is_exact ? 0 : slowdown_at(row->low_ns.low, row));
    }
    return largest;
}

/* Bounds that sampling puts below no slowdown are none. */
static const char *slowdown_of(struct iwi_document *doc, double time_ns, const iw_model_row *row,
                               double largest)
{
    const double slowdown = slowdown_at(time_ns, row);

    return isinf(slowdown)
               ? "inf"
               : iwi_slower_in_column(doc, isnan(slowdown) ? slowdown : fmax(slowdown, 0), largest);
}

static const char *time_of(struct iwi_document *doc, double ns)
{
    return isinf(ns) ? "no mean" : iwi_ns(doc, ns);
}

static void say_exact_rows(struct iwi_document *doc, const iw_model_report *report)
{
    const double largest = largest_slowdown(report, true);
    const struct iwi_column columns[] = {{"ranks", IWI_NUMBER},   {"noiseless", IWI_NUMBER},
                                         {"mean", IWI_NUMBER},    {iwi_slowdown_head(largest), IWI_NUMBER},
                                         {"based on", IWI_WORDS}, {"median", IWI_NUMBER}};

    iwi_table(doc, "", columns, report->is_cone ? 6 : 5);
    iwi_unfold(doc);
    for (size_t i = 0; i < report->count; i++) {
        const iw_model_row *row = &report->rows[i];

        iwi_row(doc, any_ranks(doc, (double)row->ranks), time_of(doc, row->noiseless_ns),
                time_of(doc, row->high_ns.value), slowdown_of(doc, row->high_ns.value, row, largest),
                iw_support_name(row->support), time_of(doc, row->median_ns));
    }
}

/* "4.10-6.20 %"; "4.10 % up": the upper bound is refused */
static const char *slowdowns_of(struct iwi_document *doc, const iw_model_row *row, double largest)
{
    const double high = slowdown_at(row->high_ns.high, row);

    if (!isfinite(high)) {
        return iwi_doc_printf(doc, isnan(high) ? "%s up" : "%s-inf",
                              slowdown_of(doc, row->low_ns.low, row, largest));
    }
    return iwi_doc_printf(doc, "%s",
                          iwi_slowdown_span_column_text(fmax(slowdown_at(row->low_ns.low, row), 0),
                                                        fmax(high, 0), largest, (char[IWI_RANGE_SIZE]){0}));
}

/* Bounds include the interval of what they rest on. Rows behind the first without any answer have none. */
static void say_bounded_rows(struct iwi_document *doc, const iw_model_report *report)
{
    /* theorems bound phases whose messages no noise hits */
    const bool are_bounds = report->horizon == NULL && report->net == NULL;
    const double largest = largest_slowdown(report, false);
    const struct iwi_column columns[] = {{"ranks", IWI_NUMBER},
                                         {"noiseless", IWI_NUMBER},
                                         {are_bounds ? "at least" : "from", IWI_NUMBER},
                                         {are_bounds ? "at most" : "to", IWI_NUMBER},
                                         {iwi_slowdown_head(largest), IWI_NUMBER},
                                         {"based on", IWI_WORDS},
                                         {"worst source", IWI_WORDS}};
    char name[IWI_NAME_SIZE];

    iwi_table(doc, "", columns, report->horizon != NULL ? 7 : 6);
    iwi_unfold(doc);
    for (size_t i = 0; i < report->count; i++) {
        const iw_model_row *row = &report->rows[i];
        const char *ranks = any_ranks(doc, (double)row->ranks);

        if (is_silent(row)) {
            iwi_row(doc, iwi_doc_printf(doc, i + 1 < report->count ? "%s or more" : "%s", ranks), "", "", "",
                    "", "refused", "");
            return;
        }
        iwi_row(
            doc, ranks, time_of(doc, row->noiseless_ns), time_of(doc, row->low_ns.low),
            time_of(doc, row->high_ns.high), slowdowns_of(doc, row, largest), iw_support_name(row->support),
            row->worst_source != NULL ? iwi_doc_printf(doc, "%s", iwi_plain_name(row->worst_source, 20, name))
                                      : "");
    }
}

/* ---- what was simulated ---- */

/* The simulator's mean over the model's number, or how far it is outside the model's range. */
static const char *compared(struct iwi_document *doc, const iw_model_row *row)
{
    const double mean_ns = row->simulated.mean_ns.value;
    const double low_ns = row->low_ns.low, high_ns = row->high_ns.high;

    if (row->support == IW_SUPPORT_REFUSED) {
        return "-";
    }
    if (!(low_ns < high_ns)) {
        return iwi_doc_printf(doc, "%.3f", mean_ns / row->high_ns.value);
    }
    if (mean_ns < low_ns) {
        return iwi_doc_printf(doc, "%s below", iwi_percent(doc, 1 - mean_ns / low_ns));
    }
    return mean_ns > high_ns ? iwi_doc_printf(doc, "%s above", iwi_percent(doc, mean_ns / high_ns - 1))
                             : "inside";
}

static bool has_simulations(const iw_model_report *report)
{
    for (size_t i = 0; i < report->count; i++) {
        if (is_simulated(&report->rows[i])) {
            return true;
        }
    }
    return false;
}

static void say_simulated(struct iwi_document *doc, const iw_model_report *report)
{
    const bool has_one_number = is_exact(report);

    if (!has_simulations(report)) {
        return;
    }
    IWI_TABLE(doc,
              report->is_cone || !(report->question.work_ns > 0)
                  ? "Simulation, with the 95 % interval of the mean"
                  : "Simulation of a later phase of a run, with the 95 % interval of the mean",
              {"ranks", IWI_NUMBER}, {"model", IWI_NUMBER}, {"simulated", IWI_NUMBER},
              {"95 % interval", IWI_NUMBER}, {has_one_number ? "ratio" : "mean is", IWI_WORDS});
    iwi_unfold(doc);
    for (size_t i = 0; i < report->count; i++) {
        const iw_model_row *row = &report->rows[i];
        const iw_estimate *mean_ns = &row->simulated.mean_ns;

        if (is_simulated(row) && !is_silent(row)) {
            iwi_row(doc, any_ranks(doc, (double)row->ranks),
                    has_one_number ? time_of(doc, row->high_ns.high)
                                   : iwi_doc_printf(doc, "%s - %s", time_of(doc, row->low_ns.low),
                                                    time_of(doc, row->high_ns.high)),
                    time_of(doc, mean_ns->value),
                    iwi_doc_printf(doc, "%s - %s", time_of(doc, mean_ns->low), time_of(doc, mean_ns->high)),
                    compared(doc, row));
        }
    }
}

/* ---- the figure ---- */

static void draw(struct iwi_figure *figure, const iw_model_report *report)
{
    const bool has_one_number = is_exact(report);
    struct iwi_mark *noiseless, *model, *simulated;

    figure->message = "Mean time by number of ranks.";
    figure->x = (struct iwi_figure_axis){.label = "Ranks", .unit = IWI_AXIS_RANKS, .is_log = true};
    figure->y = (struct iwi_figure_axis){.label = "Time", .unit = IWI_AXIS_NS, .is_log = true};
    model = has_one_number ? iwi_figure_mark(figure, IWI_MARK_LINE, IWI_INK_NOISE, "with noise")
                           : iwi_figure_mark(figure, IWI_MARK_BAND, IWI_INK_NOISE, "with noise, limits");
    noiseless = iwi_figure_mark(figure, IWI_MARK_LINE, iwi_series_ink(0), "without noise");
    simulated = has_simulations(report)
                    ? iwi_figure_mark(figure, IWI_MARK_RANGE, IWI_INK_TEXT, "simulated, 95 % interval")
                    : NULL;
    for (size_t i = 0; i < report->count; i++) {
        const iw_model_row *row = &report->rows[i];
        const double ranks = (double)row->ranks;

        if (row->noiseless_ns > 0 && row->ranks > 0) {
            iwi_mark_add(figure, noiseless, (double[]){ranks, row->noiseless_ns});
        }
        if (row->ranks > 0 && row->low_ns.low > 0 && isfinite(row->high_ns.high)) {
            iwi_mark_add(figure, model,
                         has_one_number ? (double[]){ranks, row->high_ns.value}
                                        : (double[]){ranks, row->low_ns.low, row->high_ns.high});
        }
        if (row->ranks > 0 && simulated != NULL && is_simulated(row) && row->simulated.mean_ns.low > 0) {
            iwi_mark_add(figure, simulated,
                         (double[]){ranks, row->simulated.mean_ns.low, row->simulated.mean_ns.high});
        }
    }
}

static void show_times(struct iwi_document *doc, const iw_model_report *report)
{
    struct iwi_figure *figure = NULL;
    iw_status made = IW_OK;

    if (report->count > 1) {
        made = iwi_figure_new(doc->log, report->question.work_ns > 0 ? "A phase" : "A barrier", &figure);
    }
    if (figure != NULL) {
        draw(figure, report);
    }
    iwi_only_in(doc, IWI_ON_PAGES | IWI_IN_PLOTS);
    iwi_show_figure(doc, made, figure);
    iwi_only_in(doc, IWI_EVERYWHERE);
}

/* ---- the document ---- */

static void make_infinite(iw_estimate *estimate)
{
    estimate->value = isnan(estimate->value) ? INFINITY : estimate->value;
    estimate->low = isnan(estimate->low) ? INFINITY : estimate->low;
    estimate->high = isnan(estimate->high) ? INFINITY : estimate->high;
}

/* JSON has null for what is infinite: where there is an answer, nothing else can be missing. */
static iw_model_report with_infinities(struct iwi_document *doc, const iw_model_report *report)
{
    iw_model_row *rows = iwi_arena_take(&doc->arena, report->count, sizeof *rows);
    iw_model_report whole = *report;

    whole.rows = rows != NULL ? rows : report->rows;
    for (size_t i = 0; rows != NULL && i < report->count; i++) {
        rows[i] = report->rows[i];
        if (rows[i].support != IW_SUPPORT_REFUSED) {
            make_infinite(&rows[i].low_ns);
            make_infinite(&rows[i].high_ns);
        }
    }
    if (!report->is_cone && report->horizon == NULL && report->question.work_ns > 0) {
        whole.first_doubled = isnan(report->first_doubled) ? INFINITY : report->first_doubled;
        whole.last_doubled = isnan(report->last_doubled) ? INFINITY : report->last_doubled;
    }
    return whole;
}

static void write_doc(struct iwi_document *doc, const void *subject)
{
    const iw_model_report report = with_infinities(doc, subject);

    iwi_title(doc, report.question.work_ns > 0 ? "Phases under noise, by formula"
                                               : "Barriers under noise, by formula");
    iwi_subtitle(doc, "%s", report.noise);
    iwi_say_caveats(doc, &report.caveats, NULL);
    say_model_verdict(doc, &report);
    show_times(doc, &report);
    if (is_exact(&report) && report.horizon == NULL) {
        say_exact_rows(doc, &report);
    } else {
        say_bounded_rows(doc, &report);
    }
    say_simulated(doc, &report);
    say_model_limits(doc, &report);
}

const struct iwi_kind iwi_model_kind = {
    .name = "model",
    .schema_id = "idlewave.model/3",
    .about = "Answers of `idlewave model --format json`; an infinite mean is null. CSV has a line for each "
             "number of ranks",
    .older_id = "idlewave.model/2",
    .schema = &report_schema,
    .write_doc = write_doc,
    .check = check,
};

IWI_DOC(iw_model_doc, iw_model_report, report, iwi_model_kind)
