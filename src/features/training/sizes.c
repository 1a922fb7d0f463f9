/* What a model and a layout ask of GPUs and links, and what collectives of NCCL take.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include "core/base/base.h"
#include "features/training/step_plan.h"
#include "features/training/training.h"

/* What a collective of NCCL takes: latency + bytes / bandwidth, the least over rings, trees and protocols.
 *
 * Latencies are those of NCCL's own tuning (src/graph/tuning.cc of NVIDIA/nccl 5067397c); bandwidths are
 * settings. A ring of P ranks on N nodes takes P - 1 steps (all-reduce: twice), of which N - 1 cross nodes.
 */

enum { LL, LL128, SIMPLE, PROTOCOLS };

static const double ring_base_us[PROTOCOLS] = {6.6, 14.0, 8.4}, tree_base_us[PROTOCOLS] = {6.8, 14.0, 8.4};
static const double ring_node_us[PROTOCOLS] = {0.6, 1.9, 3.4}, tree_node_us[PROTOCOLS] = {0.6, 1.25, 4.0};
static const double ring_net_us[PROTOCOLS] = {2.7, 4.0, 14.0}, tree_net_us[PROTOCOLS] = {5.0, 8.5, 14.0};
static const double bandwidth_factor[PROTOCOLS] = {0.5, 0.92, 1.0};
static const double SIMPLE_ACROSS = 1.4; /* all-reduce by rings across nodes */

/* How the members of a group lie on nodes. */
struct lie {
    double members, nodes, each; /* each: members on one node */
};

static struct lie lie_of(const iw_training *spec, uint32_t members, uint32_t stride)
{
    const uint32_t fitting = stride > 0 && stride < spec->node_gpus ? spec->node_gpus / stride : 1;
    const uint32_t most = fitting < members ? fitting : members, each = most > 0 ? most : 1;

    return (struct lie){members, ceil((double)members / each), each};
}

bool iwi_group_leaves_node(const iw_training *spec, uint32_t members, uint32_t stride)
{
    return members > 1 && lie_of(spec, members, stride).nodes > 1;
}

/* Of one rank's data through the ring: inside of a node all of NVLink, outside a NIC for each member. */
static double ring_bandwidth(const iw_training *spec, const struct lie *lie)
{
    return lie->nodes > 1 ? fmin(spec->node_bandwidth, lie->each * spec->net_bandwidth)
                          : spec->node_bandwidth;
}

static double ring_s(const iw_training *spec, const struct iwi_nccl_call *call, const struct lie *lie,
                     int protocol)
{
    const double passes = call->op == IWI_NCCL_ALL_REDUCE ? 2.0 : 1.0;
    const double steps = passes * (lie->members - 1.0), across = passes * (lie->nodes - 1.0);
    const double slow =
        call->op == IWI_NCCL_ALL_REDUCE && lie->nodes > 1 && protocol == SIMPLE ? SIMPLE_ACROSS : 1.0;
    const double latency_us = ring_base_us[protocol] + (steps - across) * ring_node_us[protocol] +
                              across * ring_net_us[protocol] * slow;

    return latency_us * 1e-6 +
           steps / lie->members * call->bytes / (ring_bandwidth(spec, lie) * bandwidth_factor[protocol]);
}

static double tree_s(const iw_training *spec, const struct iwi_nccl_call *call, const struct lie *lie,
                     int protocol)
{
    const double latency_us = tree_base_us[protocol] + 2.0 * ((lie->each - 1.0) * tree_node_us[protocol] +
                                                              ceil(log2(lie->nodes)) * tree_net_us[protocol]);

    return latency_us * 1e-6 + 2.0 * call->bytes / (ring_bandwidth(spec, lie) * bandwidth_factor[protocol]);
}

/* Each rank sends to all others: what leaves the node goes through its own NIC, the rest through NVLink. */
static double all_to_all_s(const iw_training *spec, const struct iwi_nccl_call *call, const struct lie *lie)
{
    const double outside = (lie->members - lie->each) / fmax(1.0, lie->members - 1.0);
    const double net_s = call->bytes * outside / spec->net_bandwidth;
    const double node_s = call->bytes * (1.0 - outside) / spec->node_bandwidth;

    return (ring_base_us[SIMPLE] + (lie->nodes > 1 ? ring_net_us[SIMPLE] : ring_node_us[SIMPLE])) * 1e-6 +
           fmax(net_s, node_s);
}

iw_time iwi_nccl_ps(const iw_training *spec, const struct iwi_nccl_call *call)
{
    const struct lie lie = lie_of(spec, call->members, call->stride);
    double best_s = INFINITY;

    if (call->members <= 1 || spec->is_net_free || call->bytes <= 0) {
        return 0;
    }
    if (call->op == IWI_NCCL_ALL_TO_ALL) {
        return iwi_seconds_ps(all_to_all_s(spec, call, &lie));
    }
    for (int protocol = 0; protocol < PROTOCOLS; protocol++) {
        best_s = fmin(best_s, ring_s(spec, call, &lie, protocol));
        if (call->op == IWI_NCCL_ALL_REDUCE) {
            best_s = fmin(best_s, tree_s(spec, call, &lie, protocol));
        }
    }
    return iwi_seconds_ps(best_s);
}

enum { ACTIVATION_BYTES = 2 };
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
    return iwi_activation_bytes(spec) / (spec->is_sequence_parallel && spec->tp > 1 ? spec->tp : 1);
}

double iwi_own_experts(const iw_training *spec)
{
    return layer_experts(spec) / spec->ep;
}

double iwi_expert_parameters(const iw_training *spec)
{
    return spec->parameters > 0 ? 0 : iwi_own_experts(spec) / spec->tp;
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

double iwi_chunk_parameters(const iw_training *spec, uint32_t part)
{
    const uint32_t parts = spec->pp * spec->chunks;
    const double embedding = (double)spec->vocab * spec->hidden;
    double sum = iwi_chunk_layers(spec, part) * (iwi_layer_shared_parameters(spec) + iwi_own_experts(spec));

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

enum { OPTIMIZER_BYTES = 12 }; /* of Adam, single precision: weights and two moments */

double iwi_state_bytes(const iw_training *spec)
{
    const double sharers = (double)spec->dp * spec->cp, kept = IWI_PARAMETER_BYTES + IWI_GRADIENT_BYTES;
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
