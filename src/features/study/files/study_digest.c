/* Identifiers of cells: digests of everything that a result depends on, and of nothing else.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Every quantity is added as its name and 8 bytes, the lowest first, in one fixed order. Results on disks are
 * found by these digests: a change of them makes all stored results strangers.
 */
#include <stdio.h>
#include <string.h>

#include "core/base/hash.h"
#include "core/noise/node_speed.h"
#include "core/noise/recording_noise.h"
#include "core/noise/source.h"
#include "core/program/trace.h"
#include "features/study/files/study_yaml.h"

static void add(struct iwi_hash *digest, const char *name, uint64_t value)
{
    iwi_hash_add_text(digest, name);
    iwi_hash_add_u64(digest, value);
}

static void add_real(struct iwi_hash *digest, const char *name, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    add(digest, name, bits);
}

static void begin(struct iwi_hash *digest, const char *what)
{
    iwi_hash_init(digest, iwi_hash_key);
    iwi_hash_add_text(digest, what);
}

/* ---- systems ---- */

static void add_segments(struct iwi_hash *digest, const iw_net_costs *costs)
{
    for (uint32_t i = 0; i < costs->segment_count; i++) {
        const iw_net_segment *segment = &costs->segments[i];

        add(digest, "from", segment->from_bytes);
        add(digest, "L", (uint64_t)segment->L_ps);
        add(digest, "o_s", (uint64_t)segment->o_send_ps);
        add(digest, "o_r", (uint64_t)segment->o_recv_ps);
        add(digest, "g", (uint64_t)segment->g_ps);
        add(digest, "G", (uint64_t)segment->G);
        add(digest, "O", (uint64_t)segment->O);
    }
}

static void add_costs(struct iwi_hash *digest, const iw_net_costs *costs)
{
    add(digest, "L", (uint64_t)costs->L_ps);
    add(digest, "o_s", (uint64_t)costs->o_send_ps);
    add(digest, "o_r", (uint64_t)costs->o_recv_ps);
    add(digest, "g", (uint64_t)costs->g_ps);
    add(digest, "G", (uint64_t)costs->G);
    add(digest, "O", (uint64_t)costs->O);
    if (costs->is_device_progress) {
        add(digest, "device", 1);
    }
}

/* What was added last: networks without it keep their digests. */
static void add_sharing(struct iwi_hash *digest, const iw_net *net)
{
    const iw_net_nics *nics = &net->nics;

    for (uint32_t i = 0; i < net->inner_count; i++) {
        if (net->inner[i].taper > 1.0) {
            add(digest, "tapered", i);
            iwi_hash_add(digest, &net->inner[i].taper, sizeof net->inner[i].taper);
        }
    }
    if (nics->count > 0) {
        add(digest, "nics", nics->count);
        add(digest, "node", nics->node_level);
        add(digest, "active", nics->active);
        add(digest, "rails", nics->has_rails);
        add(digest, "sharing", nics->sharing);
        add(digest, "G", (uint64_t)nics->G);
    }
}

/* Levels come late, so that networks without them keep their digests. */
static void add_net(struct iwi_hash *digest, const iw_net *net)
{
    add_costs(digest, &net->costs);
    add(digest, "S", net->S_bytes);
    add_segments(digest, &net->costs);
    for (uint32_t i = 0; i < net->inner_count; i++) {
        add(digest, "ranks", net->inner[i].ranks);
        add_costs(digest, &net->inner[i].costs);
        add_segments(digest, &net->inner[i].costs);
    }
    if (net->placement != IW_PLACEMENT_BLOCK) {
        add(digest, "placement", net->placement);
    }
    if (net->placement == IW_PLACEMENT_LIST) {
        add(digest, "placed", (uint64_t)net->list.level << 32 | net->list.count);
        iwi_hash_add(digest, net->list.nodes, net->list.count * sizeof *net->list.nodes);
    }
    add_sharing(digest, net);
    for (uint32_t i = 0; i < net->noise.point_count; i++) {
        iwi_hash_add(digest, &net->noise.points[i].share, sizeof net->noise.points[i].share);
        add(digest, "delay", (uint64_t)net->noise.points[i].delay_ps);
    }
    if (net->noise.series.count > 0) {
        add(digest, "every", (uint64_t)net->noise.series.every_ps);
        iwi_hash_add(digest, net->noise.series.delays_ps,
                     net->noise.series.count * sizeof *net->noise.series.delays_ps);
    }
    if (net->memory.ranks > 0) {
        add(digest, "memory-ranks", net->memory.ranks);
        add(digest, "memory-domain", net->memory.domain_bytes_per_s);
        add(digest, "memory-core", net->memory.core_bytes_per_s);
    }
}

static void add_trace(struct iwi_hash *digest, const struct iwi_detour_trace *trace)
{
    add(digest, "length", (uint64_t)trace->length_ps);
    add(digest, "detours", trace->count);
    for (size_t i = 0; i < trace->count; i++) {
        iwi_hash_add_u64(digest, (uint64_t)trace->pieces[i].start_ps);
        iwi_hash_add_u64(digest, (uint64_t)trace->pieces[i].duration_ps);
    }
}

/* What took the CPU away matters to explanations only, so labels are left out. */
static void add_recorded(struct iwi_hash *digest, const struct iwi_recorded *recorded)
{
    for (size_t i = 1; i < recorded->node_count; i++) { /* nothing for one node: results of old are known */
        add(digest, "node", recorded->first_cpu[i]);
    }
    add(digest, "cpus", recorded->cpu_count);
    for (size_t i = 0; i < recorded->cpu_count; i++) {
        add_trace(digest, &recorded->cpus[i].trace);
    }
}

/* "poisson:100Hz,exp:50us" without blanks: the same text is the same noise, and few write it otherwise. */
static void add_spec(struct iwi_hash *digest, const char *spec)
{
    for (; *spec != '\0'; spec++) {
        if (*spec != ' ' && *spec != '\t') {
            iwi_hash_add(digest, spec, 1);
        }
    }
}

static void add_source(struct iwi_hash *digest, const struct iwi_noise_source *source)
{
    if (source->ops == &iwi_source_periodic) {
        add(digest, "period", (uint64_t)source->u.periodic.period_ps);
        add(digest, "duration", (uint64_t)source->u.periodic.duration_ps);
    } else if (source->ops == &iwi_source_phase_exp) {
        add_real(digest, "phase-exp", source->u.phase_share);
    } else if (source->ops == &iwi_source_phase_pareto) {
        add_real(digest, "phase-pareto", source->u.phase_pareto.share);
        add_real(digest, "shape", source->u.phase_pareto.shape);
    } else if (source->ops == &iwi_source_bernoulli) {
        add_real(digest, "bernoulli", source->u.bernoulli.probability);
        add(digest, "extra", (uint64_t)source->u.bernoulli.extra_ps);
    } else if (source->ops == &iwi_source_poisson) {
        iwi_hash_add_text(digest, "stationary"); /* results of before, when it began empty, are others */
        add_spec(digest, source->name);
    } else if (source->ops == &iwi_source_trace) {
        add_trace(digest, &source->u.trace);
    } else if (iwi_source_is_recording(source)) {
        add_recorded(digest, source->u.recorded.recorded);
        if (source->nodes_together > 1) { /* nothing else: results of old are known */
            add(digest, "together", source->nodes_together);
        }
    } else if (source->ops->name != NULL) { /* kinds that came later */
        add_spec(digest, source->name);
    }
}

/* Where there are further copies of recorded CPUs: results of before, when all had one offset, are others. */
static bool meets_copies(const iw_noise *noise)
{
    for (size_t i = 0; i < noise->count; i++) {
        const struct iwi_noise_source *source = &noise->sources[i];

        if ((source->ops == &iwi_source_trace && noise->cores_per_node > 1) ||
            (iwi_source_is_recording(source) &&
             iwi_recorded_fewest_cpus(source->u.recorded.recorded) < noise->cores_per_node)) {
            return true;
        }
    }
    return false;
}

uint64_t iwi_digest_of_system(const iw_study_system *system, const iw_noise *noise,
                              const iw_node_speeds *speeds)
{
    struct iwi_hash digest;

    begin(&digest, "system");
    add_net(&digest, &system->net);
    add(&digest, "ranks-per-node", iw_noise_ranks_per_node(noise));
    for (size_t i = 0; i < noise->count; i++) {
        add(&digest, "source", i); /* the number takes part in the random draws */
        add_source(&digest, &noise->sources[i]);
    }
    if (meets_copies(noise)) {
        add(&digest, "copies", noise->cores_per_node);
    }
    if (iw_noise_cores_per_rank(noise) > 1) { /* nothing of one core: results of old are known */
        add(&digest, "cores-per-rank", iw_noise_cores_per_rank(noise));
        add(&digest, "loop", (uint64_t)iw_noise_loop(noise));
    }
    if (system->spare_cores > 0) { /* as before */
        add(&digest, "spare-cores", system->spare_cores);
    }
    if (speeds != NULL) {
        iwi_hash_add_text(&digest, "node-speed");
        iwi_node_speeds_digest(speeds, &digest);
    }
    if (system->is_extrapolated) { /* nothing else: results of old are known */
        iwi_hash_add_text(&digest, "extrapolated");
    }
    return iwi_hash_value(&digest);
}

/* ---- works ---- */

/* An operation without an algorithm has the first of the registry. */
static const char *default_algorithm(const char *op_text, size_t length)
{
    const char *op, *algorithm, *summary;

    for (size_t i = 0; iw_algorithm_info(i, &op, &algorithm, &summary); i++) {
        if (strlen(op) == length && memcmp(op, op_text, length) == 0) {
            return algorithm;
        }
    }
    return "";
}

static void add_operations(struct iwi_hash *digest, const char *text)
{
    for (;;) {
        const size_t length = strcspn(text, "+");

        iwi_hash_add(digest, text, length);
        if (memchr(text, ':', length) == NULL) {
            iwi_hash_add_text(digest, ":");
            iwi_hash_add_text(digest, default_algorithm(text, length));
        }
        iwi_hash_add_text(digest, "+");
        if (text[length] == '\0') {
            return;
        }
        text += length + 1;
    }
}

uint64_t iwi_digest_of_pattern(const iw_study_work *work)
{
    const iw_pattern *pattern = &work->pattern;
    struct iwi_hash digest;

    begin(&digest, "pattern");
    add_operations(&digest, work->operations);
    add(&digest, "segment", pattern->segment_bytes);
    add(&digest, "root", pattern->root);
    add(&digest, "repeat", pattern->repeat);
    add(&digest, "compute", (uint64_t)pattern->compute_ps);
    if (pattern->compute_bytes > 0) { /* so that others keep the digests that they had */
        add(&digest, "compute-bytes", pattern->compute_bytes);
    }
    add(&digest, "reduce-cost", (uint64_t)pattern->reduce);
    for (size_t i = 0; i < IW_MAX_DIMS; i++) {
        add(&digest, "dim", pattern->dims[i]);
    }
    add(&digest, "distance", pattern->distance);
    add(&digest, "periodic", pattern->is_periodic);
    add(&digest, "one-way", pattern->is_one_way);
    add(&digest, "split", pattern->is_split);
    return iwi_hash_value(&digest);
}

uint64_t iwi_digest_of_schedule(const iw_study_work *work, const char *data, size_t size)
{
    struct iwi_hash digest;

    begin(&digest, "schedule");
    add(&digest, "unit", (uint64_t)work->goal_unit_ps);
    add(&digest, "bytes", size);
    iwi_hash_add(&digest, data, size);
    return iwi_hash_value(&digest);
}

uint64_t iwi_digest_of_training(uint64_t so_far, uint64_t number, const char *data, size_t size)
{
    struct iwi_hash digest;

    begin(&digest, "training");
    add(&digest, "before", so_far);
    add(&digest, "number", number);
    add(&digest, "bytes", size);
    iwi_hash_add(&digest, data, size);
    return iwi_hash_value(&digest);
}

/* ---- traces ---- */

/* Times inside calls are simulated anew, but for opaque ones. */
static void add_call(struct iwi_hash *digest, const struct iwi_call *call)
{
    iwi_hash_add_u64(digest, (uint64_t)call->kind << 48 | (uint64_t)call->op << 40 |
                                 (uint64_t)call->flags << 32 | call->comm);
    iwi_hash_add_u64(digest, (uint64_t)call->peer << 32 | (uint32_t)call->tag);
    iwi_hash_add_u64(digest, call->bytes);
    iwi_hash_add_u64(digest, (uint64_t)call->request << 32 | call->request_count);
    iwi_hash_add_u64(digest, (uint64_t)call->compute_wall_ps);
    iwi_hash_add_u64(digest, (uint64_t)call->compute_cpu_ps);
    if (call->kind == IWI_CALL_OPAQUE) {
        iwi_hash_add_u64(digest, (uint64_t)call->call_ps);
    }
}

static void add_traced_rank(struct iwi_hash *digest, const struct iwi_trace_rank *rank)
{
    add(digest, "calls", rank->call_count);
    for (uint64_t i = 0; i < rank->call_count; i++) {
        add_call(digest, &rank->calls[i]);
    }
    add(digest, "completed", rank->completed_count);
    for (uint64_t i = 0; i < rank->completed_count; i++) {
        iwi_hash_add_u64(digest, rank->completed[i]);
    }
    add(digest, "last", (uint64_t)rank->last_compute_wall_ps);
}

uint64_t iwi_digest_of_calls(const struct iw_trace *trace)
{
    struct iwi_hash digest;

    begin(&digest, "calls");
    add(&digest, "ranks", trace->rank_count);
    for (uint32_t i = 0; i < trace->rank_count; i++) {
        add_traced_rank(&digest, &trace->ranks[i]);
    }
    for (uint32_t i = 0; i < trace->comm_count; i++) {
        const struct iwi_comm *comm = &trace->comms[i];

        add(&digest, "communicator", comm->size);
        for (uint32_t k = 0; comm->members != NULL && k < comm->size; k++) {
            iwi_hash_add_u64(&digest, comm->members[k]);
        }
        if (comm->name[0] != '\0') { /* by which it grows on more ranks; MPI's have none */
            iwi_hash_add_text(&digest, comm->name);
        }
    }
    return iwi_hash_value(&digest);
}

uint64_t iwi_digest_of_traced(const iw_study_work *work, uint64_t calls_digest, const char *rules,
                              size_t rules_size)
{
    const iw_trace_opts *opts = &work->trace_opts;
    struct iwi_hash digest;

    begin(&digest, "trace");
    add(&digest, "calls", calls_digest);
    add(&digest, "rules", rules != NULL ? rules_size : 0);
    if (rules != NULL) {
        iwi_hash_add(&digest, rules, rules_size);
    } else {
        iwi_hash_add_text(&digest, opts->rules);
    }
    for (size_t i = 0; opts->algorithms != NULL && opts->algorithms[i] != NULL; i++) {
        add(&digest, "algorithm", i);
        iwi_hash_add_text(&digest, opts->algorithms[i]);
    }
    add(&digest, "no-p2p", opts->drops_p2p);
    add(&digest, "no-collectives", opts->drops_collectives);
    add(&digest, "clock", opts->clock);
    add_real(&digest, "compute-scale", opts->compute_scale);
    add(&digest, "reduce-cost", (uint64_t)opts->reduce);
    add(&digest, "replica-compute", opts->replica_compute);
    add(&digest, "replica-seed", opts->replica_seed);
    if (opts->async != IW_ASYNC_WAIT) { /* folders of studies that have no such key stay as they were */
        add(&digest, "async", opts->async);
    }
    return iwi_hash_value(&digest);
}

/* ---- cells ---- */

void iwi_cell_identify(iw_cell *cell, uint64_t system_digest, uint64_t work_digest, iw_time skew_ps)
{
    struct iwi_hash digest;

    begin(&digest, "idlewave.cell/1");
    add(&digest, "system", system_digest);
    add(&digest, "work", work_digest);
    add(&digest, "ranks", cell->ranks);
    add(&digest, "bytes", cell->bytes);
    add(&digest, "sync", (uint64_t)cell->sync);
    add(&digest, "skew", cell->sync == IW_SYNC_NONE ? 0 : (uint64_t)skew_ps); /* it shifts nothing else */
    add_real(&digest, "net-scale", cell->net_scale);
    add(&digest, "trials", cell->trials);
    add(&digest, "seed", cell->seed);
    snprintf(cell->id, sizeof cell->id, "%016" PRIx64, iwi_hash_value(&digest));
}
