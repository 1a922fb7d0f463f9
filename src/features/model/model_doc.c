/* Answers of models.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <string.h>

#include "core/base/base.h"
#include "features/model/model_report.h"
#include "features/tables.h"
#include "kit/text/words.h"

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
    IWI_ESTIMATE(iw_model_row, slowest_ns, .about = "what noise adds on the slowest rank"),
    IWI_OBJECT_AS(iw_model_row, low_ns, "at_least_ns", iwi_estimate_schema,
                  .about = "lower bound of the mean; the same as the upper one where it is one number"),
    IWI_OBJECT_AS(iw_model_row, high_ns, "at_most_ns", iwi_estimate_schema,
                  .about = "upper bound of the mean"),
    IWI_VALUE(iw_model_row, median_ns),
    IWI_ENUM(iw_model_row, support, "rests_on", support_name),
    IWI_VALUE(iw_model_row, worst_source, .may_be_null = true),
    IWI_OBJECT(iw_model_row, simulated, check_schema, .is_there = is_simulated, .about = "with `--check`"),
};
static const struct iwi_schema row_schema = IWI_SCHEMA(iw_model_row, row_fields);

IWI_NAMES(refusal_name, [IW_REFUSAL_NONE] = "none", [IW_REFUSAL_SHORT] = "short", [IW_REFUSAL_FEW] = "few",
          [IW_REFUSAL_MIXTURE] = "mixture", [IW_REFUSAL_HEAVY] = "heavy")

static const struct iwi_field horizon_fields[] = {
    IWI_VALUE(iw_window_horizon, phases, .about = "independent ones seen"),
    IWI_VALUE(iw_window_horizon, observed_ranks, .about = "supported by order statistics"),
    IWI_VALUE(iw_window_horizon, tail_ranks, .about = "supported by the fitted tail"),
    IWI_ENUM(iw_window_horizon, refusal, "refusal", refusal_name, .about = "why there is no more"),
    IWI_VALUE(iw_window_horizon, record_s, .about = "record for this long instead; 0: no length would do"),
    IWI_VALUE(iw_window_horizon, tail_shape, .about = "of the fitted tail"),
    IWI_VALUE(iw_window_horizon, tail_from_ns),
};
static const struct iwi_schema horizon_schema = IWI_SCHEMA(iw_window_horizon, horizon_fields);

static const struct iwi_field chain_fields[] = {
    IWI_VALUE(iw_model_chain, growth, .about = "what noise adds to a phase, over its mean"),
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

IWI_NAMED(rule_name, iw_half_rule_name((iw_half_rule)value))

static const struct iwi_field report_fields[] = {
    IWI_VALUE(iw_model_report, noise, .about = "spec, or name of the noise file"),
    IWI_VALUE_AS(iw_model_report, cpu_count, "recorded_cpus",
                 .about = "how many CPUs ranks meet the noise of; 0 without a noise file"),
    IWI_VALUE_AS(iw_model_report, cpus, "noise_cpus", .may_be_null = true,
                 .about = "the only ones that were to be used; null: all"),
    IWI_VALUE(iw_model_report, net, .may_be_null = true, .about = "null: messages cost nothing but latency"),
    IWI_INLINE(iw_model_report, question, question_schema),
    IWI_VALUE(iw_model_report, is_cone,
              .about = "the recursion over the rounds of a dissemination barrier answers"),
    IWI_VALUE(iw_model_report, half_ranks, .about = "N_1/2 by a rule of thumb; null without a law"),
    IWI_ENUM(iw_model_report, half_rule, "half_rule", rule_name,
             .about = "whose rule: `own` where that of the papers does not hold, `bound` if there is none "
                      "and the number is `last_doubled`"),
    IWI_VALUE(
        iw_model_report, first_doubled,
        .about = "fewest ranks on which a phase may take twice as long as on one; null: never, or not asked"),
    IWI_VALUE(iw_model_report, last_doubled, .about = "fewest ranks on which it must"),
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

    return report->count > 0 ? IW_OK : iwi_fail(log, IW_ERR_FORMAT, "'%s': rows: there are none", name);
}

/* ---- rows ---- */

const char *iwi_any_ranks(struct iwi_document *doc, double ranks)
{
    const double decade = floor(log10(ranks));

    if (isnan(ranks) || isinf(ranks)) {
        return "-";
    }
    return ranks < 1e15
               ? iwi_say(doc, "%s",
                         iwi_ranks_text((uint64_t)fmax(ceil(ranks - 1e-6), 0), (char[IWI_NUMBER_SIZE]){0}))
               : iwi_say(doc, "%.2f * 10^%.0f", ranks / pow(10, decade), decade);
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
                                         {"rests on", IWI_WORDS}, {"median", IWI_NUMBER}};

    iwi_table(doc, "", columns, report->is_cone ? 6 : 5);
    iwi_unfold(doc);
    for (size_t i = 0; i < report->count; i++) {
        const iw_model_row *row = &report->rows[i];

        iwi_row(doc, iwi_any_ranks(doc, (double)row->ranks), time_of(doc, row->noiseless_ns),
                time_of(doc, row->high_ns.value), slowdown_of(doc, row->high_ns.value, row, largest),
                iw_support_name(row->support), time_of(doc, row->median_ns));
    }
}

/* "4.10-6.20 %"; "4.10 % up": the upper bound is refused */
static const char *slowdowns_of(struct iwi_document *doc, const iw_model_row *row, double largest)
{
    const double high = slowdown_at(row->high_ns.high, row);

    if (!isfinite(high)) {
        return iwi_say(doc, isnan(high) ? "%s up" : "%s-inf",
                       slowdown_of(doc, row->low_ns.low, row, largest));
    }
    return iwi_say(doc, "%s",
                   iwi_slowdown_span_column_text(fmax(slowdown_at(row->low_ns.low, row), 0), fmax(high, 0),
                                                 largest, (char[IWI_RANGE_SIZE]){0}));
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
                                         {"rests on", IWI_WORDS},
                                         {"worst source", IWI_WORDS}};
    char name[IWI_NAME_SIZE];

    iwi_table(doc, "", columns, report->horizon != NULL ? 7 : 6);
    iwi_unfold(doc);
    for (size_t i = 0; i < report->count; i++) {
        const iw_model_row *row = &report->rows[i];
        const char *ranks = iwi_any_ranks(doc, (double)row->ranks);

        if (is_silent(row)) {
            iwi_row(doc, iwi_say(doc, i + 1 < report->count ? "%s and more" : "%s", ranks), "", "", "", "",
                    "refused", "");
            return;
        }
        iwi_row(
            doc, ranks, time_of(doc, row->noiseless_ns), time_of(doc, row->low_ns.low),
            time_of(doc, row->high_ns.high), slowdowns_of(doc, row, largest), iw_support_name(row->support),
            row->worst_source != NULL ? iwi_say(doc, "%s", iwi_plain_name(row->worst_source, 20, name)) : "");
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
        return iwi_say(doc, "%.3f", mean_ns / row->high_ns.value);
    }
    if (mean_ns < low_ns) {
        return iwi_say(doc, "%s below", iwi_percent(doc, 1 - mean_ns / low_ns));
    }
    return mean_ns > high_ns ? iwi_say(doc, "%s above", iwi_percent(doc, mean_ns / high_ns - 1)) : "inside";
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
                  ? "Simulated, with the 95 % interval of the mean"
                  : "A later phase of a run, simulated, with the 95 % interval of the mean",
              {"ranks", IWI_NUMBER}, {"model", IWI_NUMBER}, {"simulated", IWI_NUMBER},
              {"95 % interval", IWI_NUMBER}, {has_one_number ? "ratio" : "mean is", IWI_WORDS});
    iwi_unfold(doc);
    for (size_t i = 0; i < report->count; i++) {
        const iw_model_row *row = &report->rows[i];
        const iw_estimate *mean_ns = &row->simulated.mean_ns;

        if (is_simulated(row) && !is_silent(row)) {
            iwi_row(doc, iwi_any_ranks(doc, (double)row->ranks),
                    has_one_number ? time_of(doc, row->high_ns.high)
                                   : iwi_say(doc, "%s - %s", time_of(doc, row->low_ns.low),
                                             time_of(doc, row->high_ns.high)),
                    time_of(doc, mean_ns->value),
                    iwi_say(doc, "%s - %s", time_of(doc, mean_ns->low), time_of(doc, mean_ns->high)),
                    compared(doc, row));
        }
    }
}

/* ---- the figure ---- */

static void draw(struct iwi_figure *figure, const iw_model_report *report)
{
    const bool has_one_number = is_exact(report);
    struct iwi_mark *noiseless, *model, *simulated;

    figure->message = "How long it takes by the number of ranks, in the mean.";
    figure->x = (struct iwi_figure_axis){.label = "Ranks", .unit = IWI_AXIS_RANKS, .is_log = true};
    figure->y = (struct iwi_figure_axis){.label = "Time", .unit = IWI_AXIS_NS, .is_log = true};
    model = has_one_number ? iwi_figure_mark(figure, IWI_MARK_LINE, IWI_INK_NOISE, "with noise")
                           : iwi_figure_mark(figure, IWI_MARK_BAND, IWI_INK_NOISE, "with noise, bounds");
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
    iwi_only(doc, IWI_ON_PAGES | IWI_IN_PLOTS);
    iwi_show_figure(doc, made, figure);
    iwi_only(doc, IWI_EVERYWHERE);
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
    iwi_say_model_verdict(doc, &report);
    show_times(doc, &report);
    if (is_exact(&report) && report.horizon == NULL) {
        say_exact_rows(doc, &report);
    } else {
        say_bounded_rows(doc, &report);
    }
    say_simulated(doc, &report);
    iwi_say_model_limits(doc, &report);
}

const struct iwi_kind iwi_model_kind = {
    .name = "model",
    .schema_id = "idlewave.model/3",
    .about = "Answers of `idlewave model --format json`; a mean that is infinite is null. CSV has a line for "
             "each number of ranks",
    .older_id = "idlewave.model/2",
    .schema = &report_schema,
    .write_doc = write_doc,
    .check = check,
};

iw_doc iw_model_doc(const iw_model_report *report)
{
    return (iw_doc){&iwi_model_kind, report};
}
