/* A digest of all that the times of a simulation depend on: to go on with that one and no other.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/base/hash.h"
#include "core/noise/source.h"
#include "core/noise/stream.h"
#include "core/program/message_list.h"
#include "core/program/node_table.h"
#include "core/program/trace_resample.h"
#include "core/sim/checkpoint/checkpoint.h"

enum { WALKED_DETOURS = 256 };

static void add_costs(struct iwi_hash *digest, const iw_net_costs *costs)
{
    const int64_t numbers[] = {costs->L_ps, costs->o_send_ps, costs->o_recv_ps,         costs->g_ps,
                               costs->G,    costs->O,         costs->is_device_progress};

    iwi_hash_add(digest, numbers, sizeof numbers);
    for (uint32_t k = 0; k < costs->segment_count; k++) {
        const iw_net_segment *segment = &costs->segments[k];
        const int64_t more[] = {(int64_t)segment->from_bytes,
                                segment->L_ps,
                                segment->o_send_ps,
                                segment->o_recv_ps,
                                segment->g_ps,
                                segment->G,
                                segment->O};

        iwi_hash_add(digest, more, sizeof more);
    }
}

static void add_net(struct iwi_hash *digest, const iw_net *net)
{
    const uint64_t shape[] = {net->S_bytes,
                              net->inner_count,
                              net->placement,
                              net->memory.ranks,
                              net->memory.domain_bytes_per_s,
                              net->memory.core_bytes_per_s};

    iwi_hash_add(digest, shape, sizeof shape);
    add_costs(digest, &net->costs);
    for (uint32_t i = 0; i < net->inner_count; i++) {
        iwi_hash_add(digest, &net->inner[i].ranks, sizeof net->inner[i].ranks);
        add_costs(digest, &net->inner[i].costs);
    }
    if (net->inner_count > 0 && net->placement == IW_PLACEMENT_ROUND_ROBIN) {
        iwi_hash_add_u64(digest, iwi_node_level(net));
    }
    if (net->inner_count > 0 && net->placement == IW_PLACEMENT_LIST) {
        iwi_hash_add_u64(digest, (uint64_t)net->list.level << 32 | net->list.count);
        iwi_hash_add(digest, net->list.nodes, net->list.count * sizeof *net->list.nodes);
    }
}

static void add_messages(struct iwi_hash *digest, const struct iwi_message_list *list)
{
    for (uint32_t rank = 0; rank < list->ranks; rank++) {
        iwi_hash_add_u64(digest, list->first_send[rank + 1]);
    }
    for (uint64_t i = 0; i < list->first_send[list->ranks]; i++) {
        iwi_hash_add_u64(digest, list->sends[i].peer);
        iwi_hash_add_u64(digest, list->sends[i].bytes);
    }
}

static void add_operation(struct iwi_hash *digest, const struct iwi_operation *op)
{
    const uint64_t numbers[] = {
        op->algorithm->kind,      op->ranks,      op->root,    op->bytes,   op->segment_bytes,
        (uint64_t)op->compute_ps, op->dims[0],    op->dims[1], op->dims[2], op->distance,
        op->is_periodic,          op->is_one_way, op->is_split};

    iwi_hash_add_text(digest, op->algorithm->name);
    iwi_hash_add(digest, numbers, sizeof numbers);
    if (op->nodes.ranks > 0) {
        iwi_hash_add_u64(digest, (uint64_t)op->nodes.ranks << 32 | (uint64_t)op->nodes.placement);
    }
    if (op->messages != NULL) {
        add_messages(digest, op->messages);
    }
    if (op->table != NULL) {
        iwi_hash_add(digest, op->table->node_of, op->table->ranks * sizeof *op->table->node_of);
    }
}

static void add_schedule(struct iwi_hash *digest, const struct iwi_schedule *schedule)
{
    const uint64_t nodes = schedule->first_node[schedule->ranks];

    iwi_hash_add(digest, schedule->first_node, ((size_t)schedule->ranks + 1) * sizeof *schedule->first_node);
    for (uint64_t node = 0; node < nodes; node++) { /* field by field: structs have padding */
        const struct iwi_node *op = &schedule->nodes[node];

        iwi_hash_add_u64(digest, (uint64_t)op->kind | (uint64_t)op->flags << 8 | (uint64_t)op->peer << 32);
        iwi_hash_add_u64(digest, (uint64_t)op->cpu | (uint64_t)op->nic << 8 | (uint64_t)op->tag << 32);
        iwi_hash_add_u64(digest, op->amount);
        for (uint64_t d = schedule->first_dep[node]; d < schedule->first_dep[node + 1]; d++) {
            iwi_hash_add_u64(digest, (uint64_t)schedule->deps[d].node << 1 | schedule->deps[d].is_start);
        }
    }
}

static void add_trace(struct iwi_hash *digest, const struct iwi_trace_program *trace)
{
    iwi_hash_add_u64(digest, trace->base);
    iwi_hash_add_u64(digest, trace->replicas);
    iwi_hash_add_u64(digest, trace->resample != NULL);
    iwi_hash_add_u64(digest, trace->resample != NULL ? trace->resample->seed : 0);
    add_schedule(digest, trace->schedule);
    for (uint64_t k = 0; k < trace->collective_count; k++) {
        iwi_hash_add_u64(digest, trace->collectives[k].comm);
        add_operation(digest, &trace->operations[trace->collectives[k].operation]);
    }
    for (uint32_t k = 0; k < trace->comm_count; k++) {
        const struct iwi_comm *comm = &trace->comms[k];

        iwi_hash_add_u64(digest, comm->size);
        if (comm->members != NULL) {
            iwi_hash_add(digest, comm->members, comm->size * sizeof *comm->members);
        }
    }
}

static void add_program(struct iwi_hash *digest, const iw_program *program)
{
    const uint64_t numbers[] = {program->ranks, program->repeat, (uint64_t)program->compute_ps,
                                program->compute_bytes, (uint64_t)program->reduce};

    iwi_hash_add(digest, numbers, sizeof numbers);
    for (size_t k = 0; k < program->operation_count; k++) {
        add_operation(digest, &program->operations[k]);
    }
    if (program->schedule != NULL) {
        add_schedule(digest, program->schedule);
    }
    if (program->trace != NULL) {
        add_trace(digest, program->trace);
    }
    for (size_t k = 0; k < program->delay_count; k++) {
        iwi_hash_add_u64(digest, program->delays[k].rank);
        iwi_hash_add_u64(digest, program->delays[k].step);
        iwi_hash_add_u64(digest, (uint64_t)program->delays[k].time_ps);
    }
}

struct walk {
    struct iwi_hash *digest;
    uint32_t left;
};

static bool add_detour(void *arg, uint32_t source, iw_time start, iw_time end)
{
    struct walk *walk = arg;

    iwi_hash_add_u64(walk->digest, source);
    iwi_hash_add_u64(walk->digest, (uint64_t)start);
    iwi_hash_add_u64(walk->digest, (uint64_t)end);
    return --walk->left > 0;
}

/* Noise is told by what it does: the first detours of some ranks; and by what acts on phases. */
static void add_noise(struct iwi_hash *digest, const struct iwi_job *job)
{
    const iw_time until = 100 * IW_PS_PER_S;

    for (size_t k = 0; k < iw_noise_source_count(job->noise); k++) {
        const double share = iw_noise_source_share(job->noise, k);

        iwi_hash_add_text(digest, iw_noise_source_name(job->noise, k));
        iwi_hash_add(digest, &share, sizeof share);
    }
    iwi_hash_add_u64(digest, (uint64_t)iw_noise_sync(job->noise));
    iwi_hash_add_u64(digest, (uint64_t)job->noise->skew_ps);
    iwi_hash_add_u64(digest, job->noise->ranks_per_node);
    iwi_hash_add_u64(digest, job->noise->cores_per_rank);
    iwi_hash_add_u64(digest, (uint64_t)job->noise->loop);
    for (uint64_t rank = 0; rank < job->program->ranks; rank += 1 + rank) { /* 0, 1, 3, 7, ... */
        const struct iwi_stream_id id = {job->seed, job->first_trial, (uint32_t)rank};
        struct walk walk = {digest, WALKED_DETOURS};

        iwi_noise_walk(job->noise, id, until, add_detour, &walk);
    }
}

uint64_t iwi_job_digest(const struct iwi_job *job, uint64_t trials)
{
    struct iwi_hash digest;

    iwi_hash_init(&digest, iwi_hash_key);
    iwi_hash_add_u64(&digest, job->seed);
    iwi_hash_add_u64(&digest, job->first_trial);
    iwi_hash_add_u64(&digest, trials);
    iwi_hash_add_u64(&digest, (uint64_t)job->rendezvous);
    add_net(&digest, job->net);
    add_program(&digest, job->program);
    if (job->node_factors != NULL) {
        iwi_hash_add_u64(&digest, job->ranks_per_node);
        iwi_hash_add(&digest, job->node_factors,
                     ((size_t)(job->program->ranks - 1) / job->ranks_per_node + 1) *
                         sizeof *job->node_factors);
    }
    if (job->noise != NULL) {
        add_noise(&digest, job);
    }
    return iwi_hash_value(&digest);
}
