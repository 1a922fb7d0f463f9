/* How long a step of training takes, and what jitter costs.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <string.h>

#include <idlewave/training.h>

#include "core/base/base.h"
#include "features/tables.h"
#include "kit/doc/doc.h"
#include "kit/figure/figure.h"
#include "kit/text/words.h"

/* Sentences about training. */

/* Dense, of the GPUs of 2025: GB300, MI355X. */
static const double MOST_RATE = 2.5e15;

static const char *training_money(struct iwi_document *doc, double amount)
{
    const double size = fabs(amount);

    return size < 1e4   ? iwi_doc_printf(doc, "%.0f", amount)
           : size < 1e6 ? iwi_doc_printf(doc, "%.1fk", amount / 1e3)
                        : iwi_doc_printf(doc, "%.2fM", amount / 1e6);
}

/* "12,300" */
static const char *training_time(struct iwi_document *doc, double ns)
{
    return ns < 0 ? iwi_doc_printf(doc, "-%s", iwi_ns(doc, -ns)) : iwi_ns(doc, ns);
}

/* with a sign */
static const char *training_exact(struct iwi_document *doc, iw_time ps)
{
    return ps >= IW_PS_PER_S ? iwi_doc_printf(doc, "%.6f s", (double)ps * 1e-12) : iwi_ps(doc, ps);
}

/* The other line about its source, if that surely saves something too; or NULL. */
static const iw_training_change *other_of_source(const iw_training_result *result,
                                                 const iw_training_change *row)
{
    for (uint32_t i = 0; i < result->change_count; i++) {
        const iw_training_change *other = &result->changes[i];

        if (other != row && row->source[0] != '\0' && strcmp(other->source, row->source) == 0 &&
            other->saved_ns.low > 0) {
            return other;
        }
    }
    return NULL;
}

/* Whether the table has a larger batch that saves more, which the verdict leaves out. */
static bool has_better_batch(const iw_training_result *result, const iw_training_change *best)
{
    for (uint32_t i = 0; i < result->change_count; i++) {
        if (result->changes[i].batch != 1.0 && result->changes[i].saved_ns.value > best->saved_ns.value) {
            return true;
        }
    }
    return false;
}

/* The change that saves most, if it surely saves anything. */
static void training_say_best(struct iwi_document *doc, const iw_training_result *result)
{
    const iw_training_change *best = NULL;

    for (uint32_t i = 0; i < result->change_count; i++) {
        const iw_training_change *row = &result->changes[i];

        if (row->batch == 1.0 && row->saved_ns.low > 0 &&
            (best == NULL || row->saved_ns.value > best->saved_ns.value)) {
            best = row;
        }
    }
    if (best != NULL) {
        const iw_training_change *other = other_of_source(result, best);

        iwi_verdict(doc, "Largest saving%s: \"%s\" saves %s of the step without jitter",
                    has_better_batch(result, best) ? " at the same batch size" : "", best->what,
                    iwi_percent(doc, best->share));
        if (other != NULL) {
            iwi_doc_append(doc, ", \"%s\" %s", other->what, iwi_percent(doc, other->share));
        }
        iwi_doc_append(doc, ".");
    } else if (result->change_count > 0) {
        iwi_verdict(doc, "No change at the same batch size saves anything significant%s.",
                    result->has_jitter ? "; more steps narrow the intervals" : "");
    }
}

/* " (95 % CI 1.20 to 3.10 %)"; "": there is none, or it is a point. */
static const char *training_loss_interval(struct iwi_document *doc, const iw_training_result *result)
{
    const double noiseless_ns = (double)result->noiseless_ps / 1e3;
    const char *span;

    if (!isfinite(result->step_ns.low) || !isfinite(result->step_ns.high)) {
        return "";
    }
    span = iwi_from_to(doc, iwi_percent(doc, result->step_ns.low / noiseless_ns - 1.0),
                       iwi_percent(doc, result->step_ns.high / noiseless_ns - 1.0));
    return strcmp(span, "-") == 0 ? "" : iwi_doc_printf(doc, " (95 %% CI %s)", span);
}

/* That no GPU computes so fast. */
static void training_say_rate(struct iwi_document *doc, const iw_training_result *result)
{
    /* while it computes, not over the step; NaN: not known */
    const double rate = result->rate * (double)result->noiseless_ps / (double)iwi_max(1, result->compute_ps);

    if (rate > MOST_RATE) {
        iwi_verdict(doc,
                    "Caution: a GPU would compute %.4g TFLOP/s, but none exceeds %.4g in bfloat16: the times "
                    "are too short, unless precision is lower.",
                    rate / 1e12, MOST_RATE / 1e12);
    }
}

/* That chance places slow GPUs, and what stages were tried. */
static void training_say_places(struct iwi_document *doc, const iw_training_result *result)
{
    const bool is_one = strncmp(result->slow, "slow:1,", strlen("slow:1,")) == 0;

    if (result->slow[0] == '\0') {
        return;
    }
    iwi_verdict(
        doc,
        "Slow GPUs (%s) are placed at random in each trial; depending on their place, steps take %s (10th "
        "percentile) to %s (longest)",
        result->slow, iwi_ns(doc, result->p10_ns), iwi_ns(doc, result->worst_ns));
    if (is_one && result->trials < result->pp) {
        iwi_doc_append(doc, "; only %" PRIu64 " of %" PRIu32 " stages were tried, so run %" PRIu32 " trials",
                       result->trials, result->pp, result->pp);
    }
    iwi_doc_append(doc, ".");
}

/* How much of the source that costs most reaches the step. */
static void training_say_reach(struct iwi_document *doc, const iw_training_result *result)
{
    const iw_training_absorption *most = NULL;

    for (uint32_t i = 0; i < result->absorption_count; i++) {
        const iw_training_absorption *row = &result->absorption[i];

        if (row->reaches_ns.value > 0 && (most == NULL || row->reaches_ns.value > most->reaches_ns.value)) {
            most = row;
        }
    }
    if (most != NULL) {
        iwi_paragraph(doc, "In an average step the hardest-hit rank loses %s to '%s'; ",
                      iwi_ns(doc, most->longest_ns.value), most->source);
        if (most->share < 0.995) {
            iwi_doc_append(doc, "%s of that lengthens the step, the rest is absorbed.",
                           iwi_percent(doc, most->share));
        } else {
            iwi_doc_append(doc, "all of that lengthens the step.");
        }
    }
}

/* Rows of a table. */
static void training_say_model(struct iwi_document *doc, const iw_training_result *result)
{
    const iw_training_sizes *sizes = &result->sizes;

    iwi_row(doc, "parameters", iwi_doc_printf(doc, "%" PRIu64, sizes->parameters));
    iwi_row(doc, "parameters per GPU, mean",
            iwi_doc_printf(doc, "%.5g billion", sizes->gpu_parameters / 1e9));
    if (sizes->gpu_bytes > 0) {
        iwi_row(doc, "GPU memory without activations",
                iwi_doc_printf(doc, "%.3g GB", sizes->gpu_bytes / 1e9));
    }
    iwi_row(doc, "tokens per step", iwi_doc_printf(doc, "%" PRIu64, sizes->tokens));
    iwi_row(doc, "FLOP per step", iwi_doc_printf(doc, "%.5g", sizes->step_flop));
    iwi_row(doc, "rate per GPU, without jitter", iwi_doc_printf(doc, "%.4g TFLOP/s", result->rate / 1e12));
}

static bool has_other_batch(const iw_training_result *result)
{
    for (uint32_t i = 0; i < result->change_count; i++) {
        if (result->changes[i].batch != 1.0) {
            return true;
        }
    }
    return false;
}

/* A ready source that was taken as it is also says how well its size is known. */
static void say_source(struct iwi_document *doc, const iw_training_source *source)
{
    iwi_item(doc, "'%s' hits the %s of each %s: %s.", source->name, iw_training_where_name(source->where),
             source->scope == IW_TRAINING_ALL_RANKS ? "rank at the same time"
                                                    : iw_training_scope_name(source->scope),
             source->spec);
    for (size_t i = 0; iw_training_ready(i) != NULL; i++) {
        const iw_training_ready_source *ready = iw_training_ready(i);

        if (ready->spec != NULL && strcmp(ready->name, source->name) == 0 &&
            strcmp(ready->spec, source->spec) == 0) {
            iwi_doc_append(doc, " Origin of its size: %s.", ready->origin);
        }
    }
}

static void training_say_certainty(struct iwi_document *doc, const iw_training_result *result)
{
    iwi_section(doc, "certainty", "How sure");
    iwi_item(doc, "All numbers are computed from settings and published sizes; nothing was run on a GPU.");
    if (result->has_jitter) {
        iwi_item(
            doc,
            "%" PRIu64 " trial%s of %" PRIu64
            " step%s, all ranks simulated. Changes are compared on the same random numbers. Intervals cover "
            "random variation, not wrong settings.",
            result->trials, iwi_plural_s(result->trials), result->steps, iwi_plural_s(result->steps));
        for (uint32_t i = 0; i < result->source_count; i++) {
            say_source(doc, &result->sources[i]);
        }
    } else {
        iwi_item(doc, "Without jitter, one rank stands for all ranks of its stage.");
    }
    if (has_other_batch(result)) {
        iwi_item(doc,
                 "Times of a larger batch are per current batch of sequences. A larger batch means fewer "
                 "steps; whether the model learns as much from them is not considered.");
    }
    iwi_item(
        doc,
        "A collective begins when its last rank arrives, takes the time in NCCL's tuning tables, and ends on "
        "all ranks at once. It does not slow down computation.");
}

/* The bill of training: what each change saves, what variants are like, how much is absorbed. */

static const char *interval(struct iwi_document *doc, iw_estimate value)
{
    return iwi_from_to(doc, training_time(doc, value.low), training_time(doc, value.high));
}

/* No sign in front of what is printed as nothing. */
static double shown(double value, double least)
{
    return fabs(value) < least ? 0.0 : value;
}

enum { MOST_BARS = 12 };

/* Changes that save something worth a bar, most first; returns how many. */
static uint32_t sort_changes(const iw_training_result *result, const iw_training_change *rows[MOST_BARS])
{
    static const double LEAST = 5e-4;
    uint32_t count = 0;

    for (uint32_t i = 0; i < result->change_count; i++) {
        const iw_training_change *row = &result->changes[i];
        uint32_t at = count;

        while (at > 0 && rows[at - 1]->share < row->share) {
            at--;
        }
        if (row->share < LEAST || at == MOST_BARS) {
            continue;
        }
        count += count < MOST_BARS;
        for (uint32_t k = count - 1; k > at; k--) {
            rows[k] = rows[k - 1];
        }
        rows[at] = row;
    }
    return count;
}

static void show_bars(struct iwi_document *doc, const iw_training_result *result)
{
    const double noiseless_ns = (double)result->noiseless_ps / 1e3;
    const iw_training_change *rows[MOST_BARS];
    const uint32_t count = sort_changes(result, rows);
    struct iwi_figure *figure = NULL;
    struct iwi_mark *bars;
    iw_status made;

    if (count == 0) {
        return;
    }
    made = iwi_figure_new(doc->log, "Largest savings", &figure);
    if (made == IW_OK) {
        bars = iwi_bar_rows_begin(figure, "Share of a step without jitter", IWI_AXIS_SHARE, count);
        for (uint32_t i = 0; i < count; i++) {
            const iw_estimate share = {rows[i]->share, rows[i]->saved_ns.low / noiseless_ns,
                                       rows[i]->saved_ns.high / noiseless_ns};

            iwi_bar_rows_add(figure, bars, rows[i]->what, share, iwi_percent(doc, share.value), false);
        }
        figure->message = iwi_figure_text(
            figure, "Jitter adds %s to a step; lines: 95 %% intervals. Savings do not add up.",
            iwi_percent(doc, result->loss));
    }
    iwi_show_figure(doc, made, figure);
}

static bool is_program(const iw_training_result *result, const iw_training_change *row)
{
    return row->noiseless_ns != (double)result->noiseless_ps / 1e3 || row->bubble != result->bubble;
}

/* Changes of the program: what they do to the step without jitter, and to what jitter costs. */
static void say_programs(struct iwi_document *doc, const iw_training_result *result)
{
    static const struct iwi_column columns[] = {{"program", IWI_WORDS},
                                                {"step without jitter", IWI_NUMBER},
                                                {"GPUs wait", IWI_NUMBER},
                                                {"jitter adds", IWI_NUMBER}};
    bool has_any = false;

    for (uint32_t i = 0; i < result->change_count; i++) {
        const iw_training_change *row = &result->changes[i];

        if (!is_program(result, row)) {
            continue;
        }
        if (!has_any) {
            iwi_section(doc, "programs", "Changed programs");
            iwi_table(doc, "", columns, sizeof columns / sizeof columns[0] - (result->has_jitter ? 0 : 1));
            iwi_unfold(doc);
            iwi_row(doc, "unchanged", iwi_ps(doc, result->noiseless_ps), iwi_percent(doc, result->bubble),
                    iwi_percent(doc, result->loss));
            has_any = true;
        }
        iwi_row(doc, row->what, iwi_ns(doc, row->noiseless_ns), iwi_percent(doc, row->bubble),
                iwi_percent(doc, row->loss));
    }
}

static void training_say_bill(struct iwi_document *doc, const iw_training_result *result)
{
    static const struct iwi_column columns[] = {{"change", IWI_WORDS},        {"per step", IWI_NUMBER},
                                                {"95 % interval", IWI_WORDS}, {"share", IWI_NUMBER},
                                                {"GPU-hours/h", IWI_NUMBER},  {"per day", IWI_NUMBER}};
    const bool has_price = result->cost_per_hour > 0;

    if (result->change_count == 0) {
        return;
    }
    iwi_section(doc, "bill", "What each change saves");
    if (result->has_jitter) {
        iwi_only_in(doc, IWI_ON_PAGES | IWI_IN_PLOTS);
        show_bars(doc, result);
        iwi_only_in(doc, IWI_EVERYWHERE);
    }
    iwi_table(doc, "", columns, sizeof columns / sizeof columns[0] - (has_price ? 0 : 1));
    iwi_unfold(doc);
    for (uint32_t i = 0; i < result->change_count; i++) {
        const iw_training_change *row = &result->changes[i];

        iwi_row(doc, row->what, training_time(doc, row->saved_ns.value), interval(doc, row->saved_ns),
                iwi_percent(doc, shown(row->share, 5e-5)),
                iwi_doc_printf(doc, "%.1f", shown(row->gpu_hours, 0.05)),
                has_price ? training_money(doc, shown(row->cost_per_day, 0.5)) : NULL);
    }
    say_programs(doc, result);
}

/* ---- what is absorbed ---- */

static void say_part(struct iwi_document *doc, const char *source, const char *what, iw_estimate part,
                     double longest_ns)
{
    iwi_row(doc, source, what, training_time(doc, part.value), interval(doc, part),
            longest_ns > 0 ? iwi_percent(doc, part.value / longest_ns) : "-");
}

static const char *ahead_words(iw_training_where where)
{
    return where == IW_TRAINING_LOADER ? "batches were ahead" : "host was ahead";
}

static void training_say_absorbed(struct iwi_document *doc, const iw_training_result *result)
{
    if (result->absorption_count == 0) {
        return;
    }
    iwi_section(doc, "absorbed", "What is absorbed in a step");
    training_say_reach(doc, result);
    IWI_TABLE(doc, "", {"source", IWI_WORDS}, {"", IWI_WORDS}, {"time", IWI_NUMBER},
              {"95 % interval", IWI_WORDS}, {"share", IWI_NUMBER});
    iwi_unfold(doc);
    for (uint32_t i = 0; i < result->absorption_count; i++) {
        const iw_training_absorption *row = &result->absorption[i];
        const iw_training_where where =
            i < result->source_count ? result->sources[i].where : IW_TRAINING_DEVICE;
        const double longest_ns = row->longest_ns.value;

        iwi_row(doc, row->source, "a rank loses, mean", training_time(doc, row->taken_ns), "", "");
        say_part(doc, "", "hardest-hit rank loses", row->longest_ns, longest_ns);
        if (where == IW_TRAINING_HOST || where == IW_TRAINING_LOADER) {
            say_part(doc, "", ahead_words(where), row->ahead_ns, longest_ns);
        }
        say_part(doc, "", where == IW_TRAINING_NETWORK ? "delayed no collective" : "GPUs waited anyway",
                 row->slack_ns, longest_ns);
        say_part(doc, "", "lengthens the step", row->reaches_ns, longest_ns);
    }
}

/* ---- the table ---- */

IWI_NAMED(where_name, iw_training_where_name(value))
IWI_NAMED(scope_name, iw_training_scope_name(value))

static bool has_bytes(const void *subject)
{
    return ((const iw_training_sizes *)subject)->gpu_bytes > 0;
}

static const struct iwi_field sizes_fields[] = {
    IWI_VALUE(iw_training_sizes, gpus),
    IWI_VALUE(iw_training_sizes, parameters),
    IWI_VALUE(iw_training_sizes, tokens, .about = "of a step"),
    IWI_VALUE(iw_training_sizes, layer_flop, .about = "forward, of a token"),
    IWI_VALUE(iw_training_sizes, token_flop, .about = "forward, of a token"),
    IWI_VALUE(iw_training_sizes, step_flop, .about = "of a step, forward and backward"),
    IWI_VALUE(iw_training_sizes, tp_bytes, .about = "buffer of a tensor-parallel collective"),
    IWI_VALUE(iw_training_sizes, pp_bytes, .about = "a message between stages"),
    IWI_VALUE(iw_training_sizes, gpu_parameters, .about = "mean of a GPU"),
    IWI_VALUE(iw_training_sizes, gpu_bytes, .is_there = has_bytes, .is_optional = true,
              .about = "weights, gradients and optimizer states of a GPU, of the stage with most"),
    IWI_VALUE(iw_training_sizes, gradient_bytes, .about = "mean of a GPU"),
    IWI_VALUE(iw_training_sizes, parameter_bytes, .about = "mean of a GPU"),
    IWI_TIME(iw_training_sizes, tp_ps, "tp_ns", .about = "of one tensor-parallel collective"),
    IWI_TIME(iw_training_sizes, pp_ps, "pp_ns", .about = "of one message between stages"),
    IWI_TIME(iw_training_sizes, gradient_ps, "gradient_ns", .about = "of one reduction of gradients"),
    IWI_TIME(iw_training_sizes, gather_ps, "gather_ns", .about = "of one gathering of parameters"),
};
static const struct iwi_schema sizes_schema = IWI_SCHEMA(iw_training_sizes, sizes_fields);

static const struct iwi_field volume_fields[] = {
    IWI_CHARS(iw_training_volume, what),
    IWI_VALUE(iw_training_volume, bytes, .about = "of the whole buffer"),
    IWI_VALUE(iw_training_volume, count, .about = "in a step"),
    IWI_VALUE(iw_training_volume, group, .about = "ranks of it"),
    IWI_VALUE(iw_training_volume, stride, .about = "of its ranks"),
    IWI_TIME(iw_training_volume, each_ps, "each_ns"),
};
static const struct iwi_schema volume_schema = IWI_SCHEMA(iw_training_volume, volume_fields);

static const struct iwi_field change_fields[] = {
    IWI_CHARS(iw_training_change, what),
    IWI_CHARS(iw_training_change, source, .about = "that it changes; empty: the program"),
    IWI_ESTIMATE(iw_training_change, saved_ns, .about = "of a step; negative: it costs"),
    IWI_VALUE(iw_training_change, share, .about = "of the step without jitter"),
    IWI_VALUE(iw_training_change, gpu_hours, .about = "saved in an hour of all GPUs"),
    IWI_VALUE(iw_training_change, cost_per_day, .about = "saved; null without a price"),
    IWI_VALUE(iw_training_change, noiseless_ns, .about = "a step of the changed program without jitter"),
    IWI_VALUE(iw_training_change, bubble, .about = "of the changed program"),
    IWI_VALUE(iw_training_change, loss, .about = "what the remaining jitter adds to `noiseless_ns`"),
    IWI_VALUE(iw_training_change, batch,
              .about = "sequences of its step over the program's; where it is not 1, all its times are those "
                       "of as many sequences as a step of the program has"),
};
static const struct iwi_schema change_schema = IWI_SCHEMA(iw_training_change, change_fields);

static const struct iwi_field absorption_fields[] = {
    IWI_CHARS(iw_training_absorption, source),
    IWI_VALUE(iw_training_absorption, taken_ns, .about = "from a rank, the mean"),
    IWI_ESTIMATE(iw_training_absorption, longest_ns, .about = "from the rank that loses most in a step"),
    IWI_ESTIMATE(iw_training_absorption, ahead_ns,
                 .about = "absorbed because launches or batches were ahead"),
    IWI_ESTIMATE(iw_training_absorption, slack_ns,
                 .about = "absorbed because GPUs waited anyway; negative: pauses of several ranks add up"),
    IWI_ESTIMATE(iw_training_absorption, reaches_ns, .about = "the step"),
    IWI_VALUE(iw_training_absorption, share, .about = "that reaches the step; null: nothing was lost"),
};
static const struct iwi_schema absorption_schema = IWI_SCHEMA(iw_training_absorption, absorption_fields);

static const struct iwi_field source_fields[] = {
    IWI_CHARS(iw_training_source, name),
    IWI_CHARS(iw_training_source, spec),
    IWI_ENUM(iw_training_source, where, "where", where_name),
    IWI_ENUM(iw_training_source, scope, "scope", scope_name),
    IWI_TIME(iw_training_source, skew_ps, "skew_ns",
             .about = "largest shift of the same pause between ranks"),
    IWI_VALUE(iw_training_source, factor, .about = "factor on all times while it lasts; 0: everything stops"),
    IWI_VALUE(iw_training_source, is_of_loader, .about = "caused by data loaders"),
};
static const struct iwi_schema source_schema = IWI_SCHEMA(iw_training_source, source_fields);

static bool has_law(const void *subject)
{
    return ((const iw_training_result *)subject)->slow[0] != '\0';
}

static const struct iwi_field training_fields[] = {
    IWI_VALUE(iw_training_result, command, .may_be_null = true),
    IWI_CHARS(iw_training_result, name),
    IWI_VALUE(iw_training_result, tp),
    IWI_VALUE(iw_training_result, cp),
    IWI_VALUE(iw_training_result, ep),
    IWI_VALUE(iw_training_result, dp),
    IWI_VALUE(iw_training_result, pp),
    IWI_VALUE(iw_training_result, chunks),
    IWI_VALUE(iw_training_result, microbatches),
    IWI_OBJECT(iw_training_result, sizes, sizes_schema, .about = "0: no model"),
    IWI_VALUE(iw_training_result, has_model, .about = "sizes are those of a model"),
    IWI_VALUE(iw_training_result, has_jitter, .about = "jitter was given"),
    IWI_VALUE(iw_training_result, steps),
    IWI_VALUE(iw_training_result, trials),
    IWI_VALUE(iw_training_result, seed),
    IWI_VALUE(iw_training_result, operations, .about = "of all ranks in a step"),
    IWI_TIME(iw_training_result, noiseless_ps, "noiseless_ns", .about = "a step without jitter"),
    IWI_TIME(iw_training_result, compute_ps, "compute_ns",
             .about = "computing of a GPU in a step, mean of stages"),
    IWI_VALUE(iw_training_result, rows, .about = "of a workload file; 0: there was none"),
    IWI_VALUE(iw_training_result, even_bubble,
              .about =
                  "(pp - 1) / (chunks microbatches): waiting over work for even stages and free messages"),
    IWI_VALUE(iw_training_result, bubble,
              .about = "share of the step without jitter in which a GPU waits for others, the mean"),
    IWI_VALUE(iw_training_result, rate, .about = "FLOP/s of a GPU over the step without jitter"),
    IWI_ESTIMATE(iw_training_result, step_ns, .about = "the mean step"),
    IWI_VALUE(iw_training_result, p10_ns, .about = "of all steps of all trials"),
    IWI_VALUE(iw_training_result, median_ns),
    IWI_VALUE(iw_training_result, p90_ns),
    IWI_VALUE(iw_training_result, worst_ns),
    IWI_VALUE(iw_training_result, loss, .about = "mean over the step without jitter, less 1"),
    IWI_VALUE(iw_training_result, scatter, .about = "mean over the 10th percentile, less 1"),
    IWI_VALUE(iw_training_result, gpu_hours, .about = "lost in an hour of all GPUs"),
    IWI_VALUE(iw_training_result, cost_per_hour, .about = "price of a GPU as given; 0: none"),
    IWI_VALUE(iw_training_result, cost_per_day, .about = "lost per day; null without a price"),
    IWI_OBJECTS_IN_PLACE(iw_training_result, changes, change_count, change_schema, .is_row = true,
                         .about = "the bill"),
    IWI_OBJECTS_IN_PLACE(iw_training_result, absorption, absorption_count, absorption_schema,
                         .about = "part of each source that reaches a step"),
    IWI_OBJECTS_IN_PLACE(iw_training_result, volumes, volume_count, volume_schema,
                         .about = "what a GPU of the first stage communicates (cross-entropy: of the last)"),
    IWI_VALUES(iw_training_result, step_time_ns, step_time_count, .about = "the steps of the first trial"),
    IWI_OBJECTS_IN_PLACE(iw_training_result, sources, source_count, source_schema),
    IWI_CHARS(iw_training_result, slow, .is_there = has_law, .is_optional = true,
              .about = "law that places slow GPUs anew in each trial"),
    IWI_INLINE(iw_training_result, caveats, iwi_caveats_schema),
};
static const struct iwi_schema training_schema = IWI_SCHEMA(iw_training_result, training_fields);

static iw_status check(const iw_log *log, const char *name, const void *subject)
{
    const iw_training_result *result = subject;

    return result->noiseless_ps > 0 && result->sizes.gpus > 0
               ? IW_OK
               : iwi_fail(log, IW_ERR_FORMAT, "'%s': there are no GPUs, or a step takes no time", name);
}

/* ---- the document ---- */

static void say_verdict(struct iwi_document *doc, const iw_training_result *result)
{
    iwi_say_caveats(doc, &result->caveats, NULL);
    training_say_rate(doc, result);
    iwi_verdict(doc, "A step of %s on %s GPU%s takes %s without jitter", result->name,
                iwi_count(doc, result->sizes.gpus), iwi_plural_s(result->sizes.gpus),
                iwi_ps(doc, result->noiseless_ps));
    if (!result->has_jitter) {
        iwi_doc_append(doc, ".");
        training_say_best(doc, result);
        return;
    }
    iwi_doc_append(doc, " and %s with it: %s longer%s, a loss of %s of every %s",
                   iwi_ns(doc, result->step_ns.value), iwi_percent(doc, result->loss),
                   training_loss_interval(doc, result), iwi_factor(doc, result->gpu_hours),
                   result->sizes.gpus == 1
                       ? "GPU-hour"
                       : iwi_doc_printf(doc, "%s GPU-hours", iwi_count(doc, result->sizes.gpus)));
    if (result->cost_per_hour > 0) {
        iwi_doc_append(doc, " (%s per day at %.2f per GPU-hour)", training_money(doc, result->cost_per_day),
                       result->cost_per_hour);
    }
    iwi_doc_append(doc, ".");
    training_say_places(doc, result);
    training_say_best(doc, result);
}

static void show_steps(struct iwi_document *doc, const iw_training_result *result)
{
    struct iwi_figure *figure = NULL;
    struct iwi_mark *dots, *line;
    iw_status made;

    if (result->step_time_count < 2) {
        return;
    }
    made = iwi_figure_new(doc->log, "Step times of the first trial", &figure);
    if (made == IW_OK) {
        figure->message =
            iwi_figure_text(figure, "Each dot is a step; the line is a step without jitter, %s.",
                            iwi_ps(doc, result->noiseless_ps));
        figure->x = (struct iwi_figure_axis){.label = "Step", .unit = IWI_AXIS_INDEX};
        figure->y = (struct iwi_figure_axis){.label = "Time", .unit = IWI_AXIS_NS};
        line = iwi_figure_mark(figure, IWI_MARK_RULE_Y, iwi_series_ink(1), "without jitter");
        iwi_mark_add(figure, line, (double[]){(double)result->noiseless_ps / 1e3});
        dots = iwi_figure_mark(figure, IWI_MARK_DOTS, iwi_series_ink(0), "simulated");
        for (uint64_t i = 0; i < result->step_time_count; i++) {
            iwi_mark_add(figure, dots, (double[]){(double)i + 1.0, (double)result->step_time_ns[i]});
        }
    }
    iwi_show_figure(doc, made, figure);
}

static void say_step(struct iwi_document *doc, const iw_training_result *result)
{
    iwi_section(doc, "step", "The step");
    IWI_TABLE(doc, "", {"", IWI_WORDS}, {"", IWI_NUMBER});
    iwi_unfold(doc);
    iwi_row(doc, "GPUs as TP x CP x PP x DP",
            iwi_doc_printf(doc, "%" PRIu32 " x %" PRIu32 " x %" PRIu32 " x %" PRIu32, result->tp, result->cp,
                           result->pp, result->dp));
    if (result->has_model) {
        training_say_model(doc, result);
    }
    iwi_row(doc, "without jitter", training_exact(doc, result->noiseless_ps));
    iwi_row(doc, "of which a GPU waits", iwi_percent(doc, result->bubble));
    if (result->rows > 0) {
        iwi_row(doc, "of which a GPU computes", training_exact(doc, result->compute_ps));
        iwi_row(doc, "rows of the workload file", iwi_count(doc, result->rows));
        iwi_row(doc, "bubble over work, even stages",
                iwi_doc_printf(doc, "%" PRIu32 "/%" PRIu64 ", %s", result->pp - 1,
                               (uint64_t)result->chunks * result->microbatches,
                               iwi_percent(doc, result->even_bubble)));
    }
    if (result->has_jitter) {
        iwi_row(doc, "with jitter, mean", iwi_ns(doc, result->step_ns.value));
        iwi_row(doc, "10th, 50th, 90th percentile",
                iwi_doc_printf(doc, "%s, %s, %s", iwi_ns(doc, result->p10_ns), iwi_ns(doc, result->median_ns),
                               iwi_ns(doc, result->p90_ns)));
        iwi_row(doc, "longest", iwi_ns(doc, result->worst_ns));
        iwi_row(doc, "mean above 10th percentile", iwi_percent(doc, result->scatter));
    }
}

static void say_volumes(struct iwi_document *doc, const iw_training_result *result)
{
    if (result->volume_count == 0) {
        return;
    }
    iwi_section(doc, "volumes", "What a GPU communicates in a step");
    IWI_TABLE(doc, "", {"what", IWI_WORDS}, {"times", IWI_NUMBER}, {"bytes each", IWI_NUMBER},
              {"ranks", IWI_NUMBER}, {"stride", IWI_NUMBER}, {"time each", IWI_NUMBER});
    iwi_unfold(doc);
    for (uint32_t i = 0; i < result->volume_count; i++) {
        const iw_training_volume *row = &result->volumes[i];

        iwi_row(doc, row->what, iwi_doc_printf(doc, "%" PRIu64, row->count),
                iwi_doc_printf(doc, "%" PRIu64, row->bytes), iwi_doc_printf(doc, "%" PRIu64, row->group),
                iwi_doc_printf(doc, "%" PRIu64, row->stride), iwi_ps(doc, row->each_ps));
    }
}

static void write_doc(struct iwi_document *doc, const void *subject)
{
    const iw_training_result *result = subject;

    iwi_title(doc, "Training %s on %s GPUs", result->name, iwi_count(doc, result->sizes.gpus));
    if (result->command != NULL) {
        iwi_subtitle(doc, "%s", result->command);
    }
    say_verdict(doc, result);
    training_say_bill(doc, result);
    training_say_absorbed(doc, result);
    say_step(doc, result);
    iwi_only_in(doc, IWI_ON_PAGES | IWI_IN_PLOTS);
    show_steps(doc, result);
    iwi_only_in(doc, IWI_EVERYWHERE);
    say_volumes(doc, result);
    training_say_certainty(doc, result);
}

const struct iwi_kind iwi_training_kind = {
    .name = "training",
    .schema_id = "idlewave.training/1",
    .about = "A simulated run of training, from `idlewave training --format json`",
    .schema = &training_schema,
    .write_doc = write_doc,
    .check = check,
};

IWI_DOC(iw_training_doc, iw_training_result, result, iwi_training_kind)
