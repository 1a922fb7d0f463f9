/* How long a step of training takes, and what jitter costs.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/training.h>

#include <math.h>
#include <string.h>

#include "core/base/base.h"
#include "features/tables.h"
#include "features/training/training_bill.h"
#include "features/training/training_words.h"
#include "kit/text/words.h"

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
    IWI_TIME(iw_training_sizes, tp_ps, "tp_ns", .about = "what one tensor-parallel collective takes"),
    IWI_TIME(iw_training_sizes, pp_ps, "pp_ns", .about = "what one message between stages takes"),
    IWI_TIME(iw_training_sizes, gradient_ps, "gradient_ns", .about = "what one reduction of gradients takes"),
    IWI_TIME(iw_training_sizes, gather_ps, "gather_ns", .about = "what one gathering of parameters takes"),
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
    IWI_CHARS(iw_training_change, source, .about = "it is about; empty: the program"),
    IWI_ESTIMATE(iw_training_change, saved_ns, .about = "of a step; negative: it costs"),
    IWI_VALUE(iw_training_change, share, .about = "of the step without jitter"),
    IWI_VALUE(iw_training_change, gpu_hours, .about = "saved in an hour of all GPUs"),
    IWI_VALUE(iw_training_change, cost_per_day, .about = "saved; null without a price"),
    IWI_VALUE(iw_training_change, noiseless_ns, .about = "a step of the changed program without jitter"),
    IWI_VALUE(iw_training_change, bubble, .about = "of the changed program"),
    IWI_VALUE(iw_training_change, loss, .about = "what the jitter that is left adds to `noiseless_ns`"),
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
    IWI_VALUE(iw_training_absorption, share, .about = "which reaches the step; null where nothing is taken"),
};
static const struct iwi_schema absorption_schema = IWI_SCHEMA(iw_training_absorption, absorption_fields);

static const struct iwi_field source_fields[] = {
    IWI_CHARS(iw_training_source, name),
    IWI_CHARS(iw_training_source, spec),
    IWI_ENUM(iw_training_source, where, "where", where_name),
    IWI_ENUM(iw_training_source, scope, "scope", scope_name),
    IWI_TIME(iw_training_source, skew_ps, "skew_ns", .about = "how far apart ranks have the same pause"),
    IWI_VALUE(iw_training_source, factor,
              .about = "how many times as long everything takes while it lasts; 0: it stops"),
    IWI_VALUE(iw_training_source, is_of_loader, .about = "loaders bring it about"),
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
    IWI_OBJECT(iw_training_result, sizes, sizes_schema, .about = "0 without a model"),
    IWI_VALUE(iw_training_result, has_model, .about = "sizes follow from a model"),
    IWI_VALUE(iw_training_result, has_jitter, .about = "something disturbs"),
    IWI_VALUE(iw_training_result, steps),
    IWI_VALUE(iw_training_result, trials),
    IWI_VALUE(iw_training_result, seed),
    IWI_VALUE(iw_training_result, operations, .about = "of all ranks in a step"),
    IWI_TIME(iw_training_result, noiseless_ps, "noiseless_ns", .about = "a step without jitter"),
    IWI_TIME(iw_training_result, compute_ps, "compute_ns",
             .about = "of a step, computed by a GPU, the mean over stages"),
    IWI_VALUE(iw_training_result, rows, .about = "of a workload file; 0: there was none"),
    IWI_VALUE(iw_training_result, even_bubble,
              .about = "(pp - 1) / (chunks microbatches): waiting over work, where stages are even and "
                       "messages take no time"),
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
    IWI_VALUE(iw_training_result, cost_per_day, .about = "what is lost in a day; null without a price"),
    IWI_OBJECTS_IN_PLACE(iw_training_result, changes, change_count, change_schema, .is_row = true,
                         .about = "the bill"),
    IWI_OBJECTS_IN_PLACE(iw_training_result, absorption, absorption_count, absorption_schema,
                         .about = "for each source, what of it reaches a step"),
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
    iwi_training_say_rate(doc, result);
    iwi_verdict(doc, "A step of %s on %s GPU%s takes %s without jitter", result->name,
                iwi_count(doc, result->sizes.gpus), iwi_s(result->sizes.gpus),
                iwi_ps(doc, result->noiseless_ps));
    if (!result->has_jitter) {
        iwi_more(doc, ".");
        iwi_training_say_best(doc, result);
        return;
    }
    iwi_more(doc, ", and %s with it: %s longer%s. That costs %s of every %s",
             iwi_ns(doc, result->step_ns.value), iwi_percent(doc, result->loss),
             iwi_training_loss_interval(doc, result), iwi_factor(doc, result->gpu_hours),
             result->sizes.gpus == 1 ? "GPU-hour"
                                     : iwi_say(doc, "%s GPU-hours", iwi_count(doc, result->sizes.gpus)));
    if (result->cost_per_hour > 0) {
        iwi_more(doc, ", or %s a day at %.2f per GPU-hour", iwi_training_money(doc, result->cost_per_day),
                 result->cost_per_hour);
    }
    iwi_more(doc, ".");
    iwi_training_say_places(doc, result);
    iwi_training_say_best(doc, result);
    iwi_training_say_reach(doc, result);
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
            iwi_say(doc, "%" PRIu32 " x %" PRIu32 " x %" PRIu32 " x %" PRIu32, result->tp, result->cp,
                    result->pp, result->dp));
    if (result->has_model) {
        iwi_training_say_model(doc, result);
    }
    iwi_row(doc, "without jitter", iwi_training_exact(doc, result->noiseless_ps));
    iwi_row(doc, "of which a GPU waits for others", iwi_percent(doc, result->bubble));
    if (result->rows > 0) {
        iwi_row(doc, "of which a GPU computes", iwi_training_exact(doc, result->compute_ps));
        iwi_row(doc, "rows of the workload file", iwi_count(doc, result->rows));
        iwi_row(doc, "bubble of even stages, of their work",
                iwi_say(doc, "%" PRIu32 "/%" PRIu64 ", %s", result->pp - 1,
                        (uint64_t)result->chunks * result->microbatches,
                        iwi_percent(doc, result->even_bubble)));
    }
    if (result->has_jitter) {
        iwi_row(doc, "with jitter, mean", iwi_ns(doc, result->step_ns.value));
        iwi_row(doc, "10th, 50th, 90th percentile",
                iwi_say(doc, "%s, %s, %s", iwi_ns(doc, result->p10_ns), iwi_ns(doc, result->median_ns),
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

        iwi_row(doc, row->what, iwi_say(doc, "%" PRIu64, row->count), iwi_say(doc, "%" PRIu64, row->bytes),
                iwi_say(doc, "%" PRIu64, row->group), iwi_say(doc, "%" PRIu64, row->stride),
                iwi_ps(doc, row->each_ps));
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
    iwi_training_say_bill(doc, result);
    iwi_training_say_absorbed(doc, result);
    say_step(doc, result);
    iwi_only(doc, IWI_ON_PAGES | IWI_IN_PLOTS);
    show_steps(doc, result);
    iwi_only(doc, IWI_EVERYWHERE);
    say_volumes(doc, result);
    iwi_training_say_certainty(doc, result);
}

const struct iwi_kind iwi_training_kind = {
    .name = "training",
    .schema_id = "idlewave.training/1",
    .about = "A simulated run of training, from `idlewave training --format json`",
    .schema = &training_schema,
    .write_doc = write_doc,
    .check = check,
};

iw_doc iw_training_doc(const iw_training_result *result)
{
    return (iw_doc){&iwi_training_kind, result};
}
