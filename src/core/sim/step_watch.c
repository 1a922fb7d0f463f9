/* The step that each rank is in, and its end.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/sim/step_watch.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/program/trace_program.h"
#include "core/sim/engine.h"
#include "core/sim/flow/flow_state.h"

iw_status iwi_step_watch_init(const iw_log *log, const iw_step_sink *sink, uint32_t ranks,
                              struct iwi_step_watch *watch)
{
    *watch = (struct iwi_step_watch){.ranks = ranks};
    if (sink == NULL) {
        return IW_OK;
    }
    watch->sink = *sink;
    watch->open = iwi_rank_array_new(log, ranks, sizeof *watch->open);
    watch->comm = iwi_rank_array_new(log, ranks, sizeof *watch->comm);
    watch->delay = iwi_rank_array_new(log, ranks, sizeof *watch->delay);
    if (watch->open == NULL || watch->comm == NULL || watch->delay == NULL) {
        iwi_step_watch_release(watch);
        return IW_ERR_NOMEM;
    }
    iwi_step_watch_restart(watch);
    return IW_OK;
}

void iwi_step_watch_release(struct iwi_step_watch *watch)
{
    free(watch->open);
    free(watch->comm);
    free(watch->delay);
    *watch = (struct iwi_step_watch){.open = NULL};
}

void iwi_step_watch_restart(struct iwi_step_watch *watch)
{
    watch->delayed = 0;
    for (uint32_t rank = 0; rank < watch->ranks && watch->open != NULL; rank++) {
        watch->open[rank] = (struct iwi_open_step){.compute = IWI_NO_PHASE};
        watch->comm[rank] = 0;
    }
}

/* Once for each delay, and while it is the open step of its rank for all. */
static iw_time take_delay(struct iwi_step_watch *watch, uint32_t rank)
{
    const iw_time delay = watch->delay[rank];

    watch->delayed -= delay > 0;
    watch->delay[rank] = 0;
    return delay;
}

static void put_delay(struct iwi_step_watch *watch, uint32_t rank, iw_time delay)
{
    if (watch->delayed == 0) {
        memset(watch->delay, 0, watch->ranks * sizeof *watch->delay);
    }
    watch->delayed++;
    watch->delay[rank] = delay;
}

void iwi_step_watch_end(struct iwi_step_watch *watch, uint32_t rank, iw_time end)
{
    const struct iwi_open_step *open = &watch->open[rank];
    const bool has_phase = open->compute != IWI_NO_PHASE;

    if (has_phase || end > open->begin) {
        const iw_time delay = watch->delayed > 0 ? take_delay(watch, rank) : 0;
        const iw_time compute = has_phase ? open->compute : 0, comm = watch->comm[rank];
        const iw_step step = {
            .begin_ps = open->begin,
            .state_ps = {[IW_STATE_DELAY] = delay,
                         [IW_STATE_COMPUTE] = compute,
                         [IW_STATE_NOISE] = open->noise,
                         [IW_STATE_COMM] = comm,
                         [IW_STATE_WAIT] = end - open->begin - delay - compute - open->noise - comm}};

        watch->sink.step(watch->sink.arg, rank, &step);
    }
}

void iwi_step_phase(struct iwi_step_watch *watch, uint32_t rank, iw_time begin, iw_time delay,
                    iw_time compute, iw_time extra)
{
    iwi_step_watch_end(watch, rank, begin);
    watch->comm[rank] = 0;
    watch->open[rank] = (struct iwi_open_step){begin, compute, extra};
    if (delay > 0) {
        put_delay(watch, rank, delay);
    }
}

iw_status iwi_steps_check(const iw_log *log, iw_rules rules, const struct iwi_schedule *schedule)
{
    if (rules == IW_RULES_LOGGOPSIM) {
        return iwi_fail(log, IW_ERR_UNSUPPORTED,
                        "LogGOPSim's rules have no steps of ranks: use the rules of idlewave");
    }
    if (schedule != NULL && schedule->cpu_count > 1) {
        return iwi_fail(log, IW_ERR_UNSUPPORTED, "steps need programs with one CPU per rank");
    }
    return IW_OK;
}

/* Compute phases of all ranks of a schedule. */
static uint64_t phases_of(const struct iwi_schedule *schedule)
{
    uint64_t phases = 0;

    for (uint64_t node = 0; node < schedule->first_node[schedule->ranks]; node++) {
        phases += (schedule->nodes[node].flags & IWI_NODE_PHASE) != 0;
    }
    return phases;
}

bool iwi_steps_are_few(const iw_program *program)
{
    const double most = 1 << 21;
    uint64_t phases = iwi_program_starts_with_phase(program) ? 1 : 0;

    if (program->schedule != NULL) {
        return true; /* schedules never stream */
    }
    if (program->trace != NULL) {
        return (double)phases_of(program->trace->schedule) * program->trace->replicas <= most;
    }
    for (size_t k = 0; k < program->operation_count; k++) {
        phases += program->operations[k].algorithm->places_compute;
    }
    return (double)(phases > 0 ? phases * program->repeat : 1) * program->ranks <= most;
}
