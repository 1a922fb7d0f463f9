/* Sentences about training.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/training/training_words.h"

#include <math.h>
#include <string.h>

#include "core/base/base.h"

/* Dense, of the GPUs of 2025: GB300, MI355X. */
static const double MOST_RATE = 2.5e15;

const char *iwi_training_money(struct iwi_document *doc, double amount)
{
    const double size = fabs(amount);

    return size < 1e4   ? iwi_say(doc, "%.0f", amount)
           : size < 1e6 ? iwi_say(doc, "%.1fk", amount / 1e3)
                        : iwi_say(doc, "%.2fM", amount / 1e6);
}

const char *iwi_training_time(struct iwi_document *doc, double ns)
{
    return ns < 0 ? iwi_say(doc, "-%s", iwi_ns(doc, -ns)) : iwi_ns(doc, ns);
}

const char *iwi_training_exact(struct iwi_document *doc, iw_time ps)
{
    return ps >= IW_PS_PER_S ? iwi_say(doc, "%.6f s", (double)ps * 1e-12) : iwi_ps(doc, ps);
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

void iwi_training_say_best(struct iwi_document *doc, const iw_training_result *result)
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

        iwi_verdict(doc, "The change that saves most%s is \"%s\": %s of the step without jitter",
                    has_better_batch(result, best) ? " and keeps the batch" : "", best->what,
                    iwi_percent(doc, best->share));
        if (other != NULL) {
            iwi_more(doc, "; \"%s\" saves %s", other->what, iwi_percent(doc, other->share));
        }
        iwi_more(doc, ".");
    } else if (result->change_count > 0) {
        iwi_verdict(doc, "No change that keeps the batch as it is certainly saves anything%s.",
                    result->has_jitter ? "; more steps narrow the intervals" : "");
    }
}

const char *iwi_training_loss_interval(struct iwi_document *doc, const iw_training_result *result)
{
    const double noiseless_ns = (double)result->noiseless_ps / 1e3;

    return isfinite(result->step_ns.low) && isfinite(result->step_ns.high)
               ? iwi_say(doc, " (95 %% interval %s to %s)",
                         iwi_percent(doc, result->step_ns.low / noiseless_ns - 1.0),
                         iwi_percent(doc, result->step_ns.high / noiseless_ns - 1.0))
               : "";
}

void iwi_training_say_rate(struct iwi_document *doc, const iw_training_result *result)
{
    /* while it computes, not over the step; NaN: not known */
    const double rate = result->rate * (double)result->noiseless_ps / (double)iwi_max(1, result->compute_ps);

    if (rate > MOST_RATE) {
        iwi_verdict(
            doc,
            "A GPU would compute %.4g TFLOP/s, more than any does in bfloat16 (%.4g TFLOP/s): these times "
            "are too short, unless precision is lower.",
            rate / 1e12, MOST_RATE / 1e12);
    }
}

void iwi_training_say_places(struct iwi_document *doc, const iw_training_result *result)
{
    const bool is_one = strncmp(result->slow, "slow:1,", strlen("slow:1,")) == 0;

    if (result->slow[0] == '\0') {
        return;
    }
    iwi_verdict(doc,
                "Slow GPUs (%s) stand elsewhere in each trial, and their place decides what they cost: "
                "steps take %s (10th percentile) to %s (longest).",
                result->slow, iwi_ns(doc, result->p10_ns), iwi_ns(doc, result->worst_ns));
    if (is_one && result->trials < result->pp) {
        iwi_more(doc, " Only %" PRIu64 " of %" PRIu32 " stages were tried: run %" PRIu32 " trials.",
                 result->trials, result->pp, result->pp);
    }
}

void iwi_training_say_reach(struct iwi_document *doc, const iw_training_result *result)
{
    const iw_training_absorption *most = NULL;

    for (uint32_t i = 0; i < result->absorption_count; i++) {
        const iw_training_absorption *row = &result->absorption[i];

        if (row->reaches_ns.value > 0 && (most == NULL || row->reaches_ns.value > most->reaches_ns.value)) {
            most = row;
        }
    }
    if (most != NULL) {
        iwi_verdict(doc, "In each step %s takes %s from the rank it hits hardest; ", most->source,
                    iwi_ns(doc, most->longest_ns.value));
        if (most->share < 0.995) {
            iwi_more(doc, "%s of that lengthens the step, the rest is absorbed.",
                     iwi_percent(doc, most->share));
        } else {
            iwi_more(doc, "all of that lengthens the step.");
        }
    }
}

void iwi_training_say_model(struct iwi_document *doc, const iw_training_result *result)
{
    const iw_training_sizes *sizes = &result->sizes;

    iwi_row(doc, "parameters", iwi_say(doc, "%" PRIu64, sizes->parameters));
    iwi_row(doc, "parameters that a GPU uses, mean",
            iwi_say(doc, "%.5g billion", sizes->gpu_parameters / 1e9));
    if (sizes->gpu_bytes > 0) {
        iwi_row(doc, "GPU memory without activations", iwi_say(doc, "%.3g GB", sizes->gpu_bytes / 1e9));
    }
    iwi_row(doc, "tokens per step", iwi_say(doc, "%" PRIu64, sizes->tokens));
    iwi_row(doc, "FLOP per step", iwi_say(doc, "%.5g", sizes->step_flop));
    iwi_row(doc, "rate per GPU, without jitter", iwi_say(doc, "%.4g TFLOP/s", result->rate / 1e12));
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
    iwi_item(doc, "%s hits the %s of each %s: %s.", source->name, iw_training_where_name(source->where),
             source->scope == IW_TRAINING_ALL_RANKS ? "rank at the same time"
                                                    : iw_training_scope_name(source->scope),
             source->spec);
    for (size_t i = 0; iw_training_ready(i) != NULL; i++) {
        const iw_training_ready_source *ready = iw_training_ready(i);

        if (ready->spec != NULL && strcmp(ready->name, source->name) == 0 &&
            strcmp(ready->spec, source->spec) == 0) {
            iwi_more(doc, " Its size: %s.", ready->origin);
        }
    }
}

void iwi_training_say_certainty(struct iwi_document *doc, const iw_training_result *result)
{
    iwi_section(doc, "certainty", "How sure");
    iwi_item(doc, "Computed from settings and published sizes. None of this was run on a GPU by idlewave.");
    if (result->has_jitter) {
        iwi_item(
            doc,
            "%" PRIu64 " trial%s of %" PRIu64
            " step%s, all ranks simulated; changes are compared on the same random numbers. Intervals cover "
            "chance, not wrong settings.",
            result->trials, iwi_s(result->trials), result->steps, iwi_s(result->steps));
        for (uint32_t i = 0; i < result->source_count; i++) {
            say_source(doc, &result->sources[i]);
        }
    } else {
        iwi_item(doc, "No jitter was given, so one rank stands for all ranks of its stage.");
    }
    if (has_other_batch(result)) {
        iwi_item(doc, "Times of a larger batch are given per as many sequences as a step has now. There are "
                      "fewer steps then: whether the model learns as much from them is not asked here.");
    }
    iwi_item(
        doc,
        "A collective begins when its last rank has come, takes what NCCL's tuning tables say, and ends on "
        "all ranks at once; it slows no computation down.");
}
