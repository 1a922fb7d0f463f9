/* What a simulation refuses or warns of before it runs.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/sim/check.h"

#include "core/base/base.h"
#include "core/net/memory.h"
#include "core/noise/spec.h"
#include "core/noise/stream.h"
#include "core/program/trace_program.h"
#include "core/sim/engine.h"

enum { MOST_THREADS = 1024 };

static iw_status check_opts(const iw_log *log, const iw_sim_opts *opts)
{
    if (opts->trials < 1) {
        return iwi_fail(log, IW_ERR_RANGE, "at least 1 trial is needed");
    }
    if (opts->lanes > IWI_MOST_LANES || (opts->lanes & (opts->lanes - 1)) != 0) {
        return iwi_fail(log, IW_ERR_RANGE, "%u lanes: use 1, 2, 4 or 8", opts->lanes);
    }
    if (opts->checkpoint_dir != NULL && opts->want_end_times && opts->trials > 1) {
        return iwi_fail(log, IW_ERR_UNSUPPORTED,
                        "checkpoints do not store end times of earlier trials: leave out the end times, or "
                        "run one trial");
    }
    if (opts->threads > MOST_THREADS) {
        return iwi_fail(log, IW_ERR_RANGE, "%u threads: at most %d are possible", opts->threads,
                        MOST_THREADS);
    }
    return IW_OK;
}

/* Those that are stored: all of a schedule, those of a trace's base ranks. NULL: a pattern. */
static const struct iwi_schedule *stored_nodes(const iw_program *program)
{
    return program->trace != NULL ? program->trace->schedule : program->schedule;
}

static bool has_compute_phases(const iw_program *program)
{
    const struct iwi_schedule *schedule = stored_nodes(program);

    if (schedule == NULL) {
        bool places_compute = false;

        for (size_t k = 0; k < program->operation_count; k++) {
            places_compute |= program->operations[k].algorithm->places_compute;
        }
        return places_compute || iwi_program_starts_with_phase(program);
    }
    return iwi_schedule_facts(schedule).has_phases;
}

static void warn_of_idle_noise(const iw_log *log, const iw_program *program, const iw_noise *noise)
{
    if (noise != NULL && iwi_noise_has_phases(noise) && !has_compute_phases(program)) {
        char names[128];

        iwi_warn(log,
                 "%s and synchronisation by phase need compute phases: give the program work (`compute_ps`)",
                 iwi_list_usages(iwi_noise_phased_name, names, sizeof names));
    }
}

/* At least as large as any message: some operations join the blocks of all ranks. */
static uint64_t largest_message(const iw_program *program)
{
    const struct iwi_schedule *schedule = stored_nodes(program);
    const struct iwi_operation *operations =
        program->trace != NULL ? program->trace->operations : program->operations;
    const size_t count = program->trace != NULL ? program->trace->operation_count : program->operation_count;
    uint64_t largest = schedule == NULL ? 0 : iwi_schedule_facts(schedule).largest_bytes;

    for (size_t k = 0; k < count; k++) {
        const struct iwi_operation *op = &operations[k];
        const uint64_t bytes = op->bytes * iwi_operation_most_blocks(op);

        largest = bytes > largest ? bytes : largest;
    }
    return largest;
}

bool iwi_may_rendezvous(const iw_program *program, const iw_net *net)
{
    const struct iwi_schedule *schedule = stored_nodes(program);

    return largest_message(program) > net->S_bytes ||
           (schedule != NULL && iwi_schedule_facts(schedule).has_synchronous);
}

static iw_fs_per_byte dearest_byte(const iw_net_costs *costs)
{
    iw_fs_per_byte dearest = iwi_max(costs->G, costs->O);

    for (uint32_t i = 0; i < costs->segment_count; i++) {
        dearest = iwi_max(dearest, iwi_max(costs->segments[i].G, costs->segments[i].O));
    }
    return dearest;
}

static iw_status check_message_costs(const iw_log *log, const iw_program *program, const iw_net *net)
{
    const uint64_t largest = largest_message(program);
    iw_fs_per_byte dearest = dearest_byte(&net->costs);

    for (uint32_t i = 0; i < net->inner_count; i++) {
        dearest = iwi_max(dearest, dearest_byte(&net->inner[i].costs));
    }
    if (iwi_bytes_cost(dearest, largest) > IW_TIME_INPUT_MAX) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "messages of up to %" PRIu64 " bytes take more than 10 days on this network",
                        largest);
    }
    return IW_OK;
}

static iw_status check_cores(const iw_log *log, const iw_program *program, const iw_noise *noise,
                             const iw_sim_opts *opts)
{
    const uint32_t cores = noise == NULL ? 1 : iw_noise_cores_per_rank(noise);

    if (cores > 1 && opts->rules == IW_RULES_LOGGOPSIM) {
        return iwi_fail(log, IW_ERR_UNSUPPORTED,
                        "LogGOPSim's rules have no ranks with several cores: use the rules of idlewave, or 1 "
                        "core per rank");
    }
    if (opts->node_speeds != NULL && opts->rules == IW_RULES_LOGGOPSIM) {
        return iwi_fail(log, IW_ERR_UNSUPPORTED,
                        "LogGOPSim's rules have no nodes of different speed: use the rules of idlewave");
    }
    if ((uint64_t)program->ranks * cores > UINT32_MAX) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "%u ranks with %u cores each are too many: at most 2^32 cores are possible",
                        program->ranks, cores);
    }
    return IW_OK;
}

static iw_status check_memory(const iw_log *log, const iw_program *program, const iw_net *net,
                              const iw_noise *noise, iw_rules rules)
{
    const uint32_t cores = noise == NULL ? 1 : iw_noise_cores_per_rank(noise);

    if (program->compute_bytes == 0) {
        return IW_OK;
    }
    if (rules == IW_RULES_LOGGOPSIM) {
        return iwi_fail(log, IW_ERR_UNSUPPORTED,
                        "LogGOPSim's rules have no memory: remove the bytes of compute phases, or use the "
                        "rules of idlewave");
    }
    if (net->memory.ranks == 0) {
        return iwi_fail(log, IW_ERR_USAGE,
                        "compute phases move %" PRIu64
                        " bytes each, but the memory bandwidth is unknown: add for instance `memory` "
                        "ranks=20,domain=40GB/s,core=6.5GB/s",
                        program->compute_bytes);
    }
    if (cores > 1) {
        return iwi_fail(log, IW_ERR_UNSUPPORTED,
                        "compute phases that move bytes need 1 core per rank, not %u: drop one of the two",
                        cores);
    }
    if (iwi_memory_lockstep(&net->memory, program->ranks, program->compute_bytes) > IW_TIME_INPUT_MAX) {
        return iwi_fail(log, IW_ERR_RANGE, "compute phases of %" PRIu64 " bytes take more than 10 days",
                        program->compute_bytes);
    }
    return IW_OK;
}

iw_status iwi_check_simulation(const iw_log *log, const iw_program *program, const iw_net *net,
                               const iw_noise *noise, const iw_sim_opts *opts)
{
    IW_TRY(check_opts(log, opts));
    IW_TRY(iw_net_check(log, net));
    if (opts->rules == IW_RULES_LOGGOPSIM && net->segment_count > 0) {
        return iwi_fail(log, IW_ERR_UNSUPPORTED,
                        "network '%s' has size segments, which LogGOPSim's rules do not support; use the "
                        "rules of idlewave, or L, o, g and G for all sizes",
                        net->name);
    }
    if (opts->rules == IW_RULES_LOGGOPSIM && net->inner_count > 0) {
        return iwi_fail(log, IW_ERR_UNSUPPORTED,
                        "network '%s' has levels, which LogGOPSim's rules do not support; use the rules of "
                        "idlewave, or one of its levels",
                        net->name);
    }
    if (iw_net_is_noisy(net) && (opts->rules == IW_RULES_LOGGOPSIM || opts->checkpoint_dir != NULL)) {
        return iwi_fail(log, IW_ERR_UNSUPPORTED, "network '%s' has noise, which %s do not support; %s",
                        net->name, opts->rules == IW_RULES_LOGGOPSIM ? "LogGOPSim's rules" : "restart points",
                        opts->rules == IW_RULES_LOGGOPSIM ? "use the rules of idlewave" : "run without them");
    }
    IW_TRY(check_cores(log, program, noise, opts));
    IW_TRY(check_message_costs(log, program, net));
    IW_TRY(check_memory(log, program, net, noise, opts->rules));
    warn_of_idle_noise(log, program, noise);
    return IW_OK;
}
