/* Parameters, FLOP and bytes of a model in its layout (docs/explanation/training.md, "Sizes").
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include "core/base/base.h"
#include "features/training/step_plan.h"

enum { ACTIVATION_BYTES = 2, GRADIENT_BYTES = 4, PARAMETER_BYTES = 2 };
enum { OPTIMIZER_BYTES = 12 }; /* of Adam, single precision: weights and two moments */

iw_time iwi_seconds_ps(double seconds)
{
    const double ps = seconds * 1e12;

    return ps < (double)IW_TIME_INPUT_MAX ? llround(ps) : IW_TIME_INPUT_MAX;
}

/* h^2 (1 + g/n): a projection and the part of keys or values. */
static double projections(const iw_training *spec)
{
    const double h = spec->hidden, shared = spec->kv_heads > 0 ? spec->kv_heads : spec->heads;

    return h * h * (1.0 + shared / spec->heads);
}

double iwi_layer_shared_parameters(const iw_training *spec)
{
    const double h = spec->hidden;
    const double dense = spec->experts == 0 ? 3.0 * h * spec->ffn : h * spec->experts; /* or the router */

    return 2.0 * projections(spec) + dense + 2.0 * h;
}

static double layer_experts(const iw_training *spec)
{
    return 3.0 * spec->hidden * spec->expert_ffn * spec->experts;
}

double iwi_layer_parameters(const iw_training *spec)
{
    return iwi_layer_shared_parameters(spec) + layer_experts(spec);
}

double iwi_attention_flop(const iw_training *spec)
{
    return 2.0 * spec->sequence * spec->hidden; /* causal: half of the pairs */
}

double iwi_layer_flop(const iw_training *spec)
{
    const double h = spec->hidden;
    const double ffn = spec->experts == 0 ? spec->ffn : (double)spec->expert_ffn * spec->top_k;

    return 4.0 * projections(spec) + iwi_attention_flop(spec) + 6.0 * h * ffn;
}

uint64_t iwi_activation_bytes(const iw_training *spec)
{
    return (uint64_t)spec->sequence * spec->microbatch_size * spec->hidden * ACTIVATION_BYTES / spec->cp;
}

uint64_t iwi_message_bytes(const iw_training *spec)
{
    if (spec->message_bytes > 0) {
        return (uint64_t)fmin(spec->message_bytes, 0x1p53);
    }
    return iwi_activation_bytes(spec) / (spec->is_sequence_parallel ? spec->tp : 1);
}

/* Even; or as even with one more at both ends, where embedding and logits are. */
uint32_t iwi_chunk_layers(const iw_training *spec, uint32_t part)
{
    const uint32_t parts = spec->pp * spec->chunks;

    if (spec->chunk_layers != NULL) {
        return spec->chunk_layers[part];
    }
    if (spec->layers % parts != 0 && (spec->layers + 2) % parts == 0) {
        return (spec->layers + 2) / parts - (part == 0) - (part + 1 == parts);
    }
    return spec->layers > 0 ? spec->layers / parts : 1;
}

/* Experts of a layer on one replica's share of them, before tensor parallelism. */
static double own_experts(const iw_training *spec)
{
    return layer_experts(spec) / spec->ep;
}

double iwi_expert_parameters(const iw_training *spec)
{
    return spec->parameters > 0 ? 0 : own_experts(spec) / spec->tp;
}

double iwi_chunk_parameters(const iw_training *spec, uint32_t part)
{
    const uint32_t parts = spec->pp * spec->chunks;
    const double embedding = (double)spec->vocab * spec->hidden;
    double sum = iwi_chunk_layers(spec, part) * (iwi_layer_shared_parameters(spec) + own_experts(spec));

    if (spec->parameters > 0) {
        return spec->parameters / spec->chunks;
    }
    if (!iwi_training_has_model(spec)) {
        return 0;
    }
    if (part == 0) {
        sum += embedding;
    }
    if (part + 1 == parts) {
        sum += (spec->is_tied && parts == 1 ? 0 : embedding) + spec->hidden;
    }
    return sum / spec->tp;
}

double iwi_state_bytes(const iw_training *spec)
{
    const double sharers = (double)spec->dp * spec->cp, kept = PARAMETER_BYTES + GRADIENT_BYTES;
    double most = 0;

    for (uint32_t stage = 0; stage < spec->pp; stage++) {
        double sum = 0;

        for (uint32_t chunk = 0; chunk < spec->chunks; chunk++) {
            sum += iwi_chunk_parameters(spec, chunk * spec->pp + stage);
        }
        most = fmax(most, sum);
    }
    switch (spec->sharding) {
    case IW_TRAINING_FSDP: return most * (kept + OPTIMIZER_BYTES) / sharers;
    case IW_TRAINING_ZERO1: return most * (kept + OPTIMIZER_BYTES / sharers);
    default: return most * (kept + OPTIMIZER_BYTES);
    }
}

double iwi_bucket_parameters(const iw_training *spec)
{
    return fmax(40e6, 1e6 * spec->dp); /* Megatron's default */
}

iw_time iwi_hop_ps(const iw_training *spec)
{
    const bool is_inside = (uint64_t)spec->tp * spec->cp * spec->dp * spec->pp <= spec->node_gpus;
    const double bandwidth = is_inside ? spec->node_bandwidth : spec->net_bandwidth;

    if (spec->hop_ps >= 0) {
        return spec->hop_ps;
    }
    return spec->is_net_free ? 0 : iwi_seconds_ps((double)iwi_message_bytes(spec) / bandwidth);
}

static void measure_model(const iw_training *spec, iw_training_sizes *sizes)
{
    const double embedding = (double)spec->vocab * spec->hidden;
    const double logits = 2.0 * spec->hidden * spec->vocab;
    const double others = own_experts(spec) * (spec->ep - 1.0) * spec->layers; /* experts of other ranks */

    sizes->parameters = (uint64_t)llround(iwi_layer_parameters(spec) * spec->layers +
                                          (spec->is_tied ? 1.0 : 2.0) * embedding + spec->hidden);
    sizes->tokens = (uint64_t)spec->sequence * spec->microbatch_size * spec->microbatches * spec->dp;
    sizes->layer_flop = iwi_layer_flop(spec);
    sizes->token_flop = sizes->layer_flop * spec->layers + logits;
    sizes->step_flop = 3.0 * sizes->token_flop * (double)sizes->tokens;
    sizes->tp_bytes = spec->tp > 1 ? iwi_activation_bytes(spec) : 0;
    sizes->pp_bytes = spec->pp > 1 ? iwi_message_bytes(spec) : 0;
    sizes->gpu_parameters = ((double)sizes->parameters - others) / spec->tp / spec->pp;
}

/* All parameters of a mean GPU: common ones over all replicas, experts over those that have the same. */
static iw_time exchange_ps(const iw_training *spec, enum iwi_nccl_op op, double bytes, double each_bytes)
{
    const uint32_t sharers = spec->dp * spec->cp;
    const double experts = each_bytes * iwi_expert_parameters(spec) * spec->layers / spec->pp;

    return iwi_nccl_ps(spec, &(struct iwi_nccl_call){op, bytes - experts, sharers, spec->tp}) +
           iwi_nccl_ps(spec, &(struct iwi_nccl_call){op, experts, sharers / spec->ep, spec->tp * spec->ep});
}

iw_status iw_training_measure(const iw_log *log, const iw_training *spec, iw_training_sizes *sizes_p)
{
    iw_training_sizes sizes = {.gpus = (uint64_t)spec->tp * spec->cp * spec->dp * spec->pp};

    IW_TRY(iwi_training_check(log, spec));
    if (iwi_training_has_model(spec)) {
        measure_model(spec, &sizes);
        sizes.gpu_bytes = iwi_state_bytes(spec);
    }
    if (spec->parameters > 0) {
        sizes.gpu_parameters = spec->parameters;
    }
    sizes.gradient_bytes = GRADIENT_BYTES * sizes.gpu_parameters;
    sizes.parameter_bytes = PARAMETER_BYTES * sizes.gpu_parameters;
    sizes.tp_ps = iwi_nccl_ps(
        spec, &(struct iwi_nccl_call){spec->is_sequence_parallel ? IWI_NCCL_GATHER : IWI_NCCL_ALL_REDUCE,
                                      (double)sizes.tp_bytes, spec->tp, 1});
    sizes.pp_ps = spec->pp > 1 ? iwi_hop_ps(spec) : 0;
    sizes.gradient_ps = exchange_ps(spec, IWI_NCCL_REDUCE_SCATTER, sizes.gradient_bytes, GRADIENT_BYTES);
    sizes.gather_ps = exchange_ps(spec, IWI_NCCL_GATHER, sizes.parameter_bytes, PARAMETER_BYTES);
    *sizes_p = sizes;
    return IW_OK;
}
