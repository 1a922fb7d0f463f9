/* Settings of a training program that do not fit together, and what would.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>

#include "core/base/base.h"
#include "core/noise/node_speed.h"
#include "features/training/step_plan.h"

/* Micro-batches come in groups, of pp unless it is said: the multiples next to them. */
static iw_status refuse_microbatches(const iw_log *log, const iw_training *spec, uint32_t group)
{
    const uint32_t left = spec->microbatches % group, below = spec->microbatches - left;
    char smaller[32] = "";

    if (below > 0) {
        (void)snprintf(smaller, sizeof smaller, "%" PRIu32 " or ", below);
    }
    return iwi_fail(log, IW_ERR_RANGE,
                    "%" PRIu32 " microbatches in groups of %" PRIu32 " leave %" PRIu32
                    ": an interleaved schedule needs none left, or at least pp, %" PRIu32 "; take %s%" PRIu32
                    " microbatches, or 'chunks' 1",
                    spec->microbatches, group, left, spec->pp, smaller, below + group);
}

static iw_status check_layout(const iw_log *log, const iw_training *spec)
{
    const uint64_t gpus = (uint64_t)spec->tp * spec->cp * spec->dp * spec->pp;
    const uint32_t group = spec->group > 0 ? spec->group : spec->pp;

    if (gpus > 1u << 22) {
        return iwi_fail(log, IW_ERR_RANGE, "%" PRIu64 " GPUs are too many: at most 4194304", gpus);
    }
    if ((uint64_t)spec->cp * spec->dp % spec->ep != 0) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "expert parallelism %" PRIu32 " does not divide cp times dp, %" PRIu64, spec->ep,
                        (uint64_t)spec->cp * spec->dp);
    }
    if (spec->chunks > 1 && (spec->pp == 1 || spec->schedule == IW_TRAINING_GPIPE)) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "chunks %" PRIu32 " need pipeline stages (pp) and the schedule 1f1b", spec->chunks);
    }
    if (spec->chunks > 1 && spec->microbatches % group != 0 && spec->microbatches % group < spec->pp) {
        return refuse_microbatches(log, spec, group);
    }
    if ((uint64_t)spec->pp * spec->chunks * spec->microbatches > 1u << 22) {
        return iwi_fail(log, IW_ERR_RANGE, "stages times chunks times micro-batches are more than 4194304");
    }
    if ((uint64_t)spec->pp * spec->rows_each * spec->microbatches > 1u << 24) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "stages times rows of a micro-batch times micro-batches are more than 16777216");
    }
    if (spec->sharding == IW_TRAINING_FSDP && (spec->pp > 1 || spec->ep > 1)) {
        return iwi_fail(log, IW_ERR_RANGE, "fsdp is simulated without pipeline and expert parallelism only");
    }
    return IW_OK;
}

/* The first thing that a model lacks; NULL: nothing. */
static const char *missing_of_model(const iw_training *spec)
{
    const struct {
        const char *key;
        bool is_missing;
    } needed[] = {
        {"layers", spec->layers == 0},
        {"heads", spec->heads == 0},
        {"sequence", spec->sequence == 0},
        {"top-k", spec->experts > 0 && spec->top_k == 0},
        {"expert-ffn", spec->experts > 0 && spec->expert_ffn == 0},
        {"ffn", spec->experts == 0 && spec->ffn == 0},
    };

    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        if (needed[i].is_missing) {
            return needed[i].key;
        }
    }
    return NULL;
}

/* Each GPU of a tensor group has heads of its own, and shares none of keys and values or all of one. */
static bool divides_heads(const iw_training *spec, uint32_t kv_heads, uint32_t tp)
{
    return spec->heads % tp == 0 && (kv_heads % tp == 0 || tp % kv_heads == 0);
}

static iw_status check_shape(const iw_log *log, const iw_training *spec)
{
    const uint32_t kv_heads = spec->kv_heads > 0 ? spec->kv_heads : spec->heads;

    if (spec->hidden == 0) {
        return IW_OK;
    }
    if (missing_of_model(spec) != NULL) {
        return iwi_fail(log, IW_ERR_RANGE, "a model%s needs '%s' too, or a known name",
                        spec->experts > 0 ? " with experts" : "", missing_of_model(spec));
    }
    if (!divides_heads(spec, kv_heads, spec->tp)) {
        uint32_t tp = spec->tp;

        while (!divides_heads(spec, kv_heads, tp)) { /* 1 does */
            tp--;
        }
        return iwi_fail(log, IW_ERR_RANGE,
                        "tensor parallelism %" PRIu32 " does not divide %" PRIu32 " heads with %" PRIu32
                        " of keys and values; 'tp' %" PRIu32 " does",
                        spec->tp, spec->heads, kv_heads, tp);
    }
    if (spec->experts > 0 && spec->experts % spec->ep != 0) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "expert parallelism %" PRIu32 " does not divide %" PRIu32 " experts", spec->ep,
                        spec->experts);
    }
    if (spec->experts == 0 && spec->ep > 1 && spec->rows == NULL) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "expert parallelism %" PRIu32
                        " needs a model with experts: set experts, top-k and expert-ffn",
                        spec->ep);
    }
    return IW_OK;
}

static iw_status check_model(const iw_log *log, const iw_training *spec)
{
    IW_TRY(check_shape(log, spec));
    if ((spec->forward_ps == NULL) != (spec->backward_ps == NULL)) {
        return iwi_fail(log, IW_ERR_RANGE, "'%s' is given without '%s': measured times need both",
                        spec->forward_ps != NULL ? "forward" : "backward",
                        spec->forward_ps != NULL ? "backward" : "forward");
    }
    if (spec->rows != NULL && (spec->forward_ps != NULL || spec->sharding == IW_TRAINING_FSDP)) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "the rows of a workload file have times and collectives of their own: leave out %s",
                        spec->forward_ps != NULL ? "'forward' and 'backward'" : "'sharding' fsdp");
    }
    if (iwi_training_is_measured(spec)) {
        return IW_OK;
    }
    if (spec->hidden == 0) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "nothing says how long a micro-batch computes: give a model, or 'forward' and "
                        "'backward' as measured");
    }
    if (spec->rate <= 0 && spec->step_rate <= 0) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "nothing says how fast a GPU is: give 'rate' (while it computes), 'step-rate' (over "
                        "the whole step, as published), or measured times");
    }
    return IW_OK;
}

static iw_status check_lists(const iw_log *log, const iw_training *spec)
{
    if (spec->forward_ps != NULL && ((spec->forward_count != 1 && spec->forward_count != spec->pp) ||
                                     (spec->backward_count != 1 && spec->backward_count != spec->pp))) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "'forward' has %" PRIu32 " and 'backward' %" PRIu32 " times, and there %s %" PRIu32
                        " stage%s: give one time, or one for each stage; 'pp' says how many stages there are",
                        spec->forward_count, spec->backward_count, spec->pp == 1 ? "is" : "are", spec->pp,
                        spec->pp == 1 ? "" : "s");
    }
    if (spec->chunk_layers != NULL && spec->chunk_layers_count != spec->pp * spec->chunks) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "'chunk-layers' needs a number for each of %" PRIu32 " chunks (pp times chunks)",
                        spec->pp * spec->chunks);
    }
    return IW_OK;
}

static iw_status check_split(const iw_log *log, const iw_training *spec)
{
    const uint32_t parts = spec->pp * spec->chunks;
    uint64_t sum = 0;

    for (uint32_t i = 0; i < parts; i++) {
        sum += iwi_chunk_layers(spec, i);
    }
    if (spec->layers == 0 || sum == spec->layers) {
        return IW_OK;
    }
    if (spec->chunk_layers != NULL) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "'chunk-layers' add up to %" PRIu64 ", and the model has %" PRIu32
                        " layers: they have to agree",
                        sum, spec->layers);
    }
    if (spec->layers < parts) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "%" PRIu32 " layers are too few for %" PRIu32
                        " chunks (pp times chunks): take a smaller 'pp' or fewer 'chunks'",
                        spec->layers, parts);
    }
    return iwi_fail(log, IW_ERR_RANGE,
                    "%" PRIu32 " layers cannot be split evenly into %" PRIu32
                    " chunks (first and last may have one fewer): say 'chunk-layers', one number each",
                    spec->layers, parts);
}

/* A law; of a file this is known when it is read, where jitter is drawn. */
static iw_status check_speeds(const iw_log *log, const iw_training *spec)
{
    iw_node_speeds *speeds;
    iw_status status;

    if (!iwi_node_speed_is_spec(spec->slow)) {
        return IW_OK;
    }
    IW_TRY(iw_node_speeds_new(log, spec->slow, 1, &speeds));
    status = iwi_node_speeds_check(log, speeds, spec->tp * spec->cp * spec->pp * spec->dp);
    iw_node_speeds_free(speeds);
    return status;
}

/* Times that were measured are of a job that ran. */
static iw_status check_memory(const iw_log *log, const iw_training *spec)
{
    const double most_bytes = 288e9; /* of the GPUs of 2025: GB300, MI355X */

    if (!iwi_training_has_model(spec) || iwi_training_is_measured(spec) ||
        iwi_state_bytes(spec) <= most_bytes) {
        return IW_OK;
    }
    return iwi_fail(log, IW_ERR_RANGE,
                    "weights, gradients and optimizer states take %.0f GB of a GPU, and no GPU has more than "
                    "%.0f GB: take a larger 'tp' or 'pp', or shard more",
                    iwi_state_bytes(spec) / 1e9, most_bytes / 1e9);
}

iw_status iwi_training_check(const iw_log *log, const iw_training *spec)
{
    IW_TRY(check_layout(log, spec));
    IW_TRY(check_model(log, spec));
    IW_TRY(check_lists(log, spec));
    IW_TRY(check_split(log, spec));
    IW_TRY(check_speeds(log, spec));
    IW_TRY(check_memory(log, spec));
    if (spec->launch_ps > IW_PS_PER_S) {
        return iwi_fail(log, IW_ERR_RANGE, "a launch of more than a second is none");
    }
    if (spec->launch_ps == 0) {
        for (uint32_t i = 0; i < spec->source_count; i++) {
            if (spec->sources[i].where == IW_TRAINING_HOST) {
                return iwi_fail(log, IW_ERR_RANGE,
                                "'%s' hits the host, which does nothing here: give 'launch' a time",
                                spec->sources[i].name);
            }
        }
    }
    return IW_OK;
}
