/* Programs, whether pattern, schedule or trace: made from schedules, asked, freed.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/program/program.h"

#include <stdlib.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "core/program/delays.h"
#include "core/program/message_list.h"
#include "core/program/node_table.h"
#include "core/program/trace_program.h"
#include "core/program/trace_resample.h"

void iwi_trace_program_free(struct iwi_trace_program *program)
{
    if (program == NULL) {
        return;
    }
    iwi_schedule_free(program->schedule);
    free(program->collectives);
    free(program->operations);
    for (size_t i = 0; i < program->message_list_count; i++) {
        iwi_message_list_free(program->message_lists[i]);
    }
    free(program->message_lists);
    free(program->grows);
    iwi_node_table_free(program->node_table);
    free(program->tags);
    free(program->first_membership);
    free(program->memberships);
    iwi_trace_resample_free(program->resample);
    free(program);
}

uint64_t iwi_trace_phases(const struct iwi_trace_program *program, uint32_t rank)
{
    const struct iwi_schedule *schedule = program->schedule;
    const uint32_t base = rank % program->base;
    uint64_t count = 0;

    for (uint64_t n = schedule->first_node[base]; n < schedule->first_node[base + 1]; n++) {
        count += schedule->nodes[n].kind == IWI_CALC && (schedule->nodes[n].flags & IWI_NODE_PHASE) != 0;
    }
    return count;
}

/* ---- who is in which communicator ---- */

uint32_t iwi_trace_rank_in(const struct iwi_trace_program *program, uint32_t comm, uint32_t rank)
{
    size_t at;

    if (program->comms[comm].members == NULL) {
        return rank;
    }
    IWI_FIRST_NOT(at, program->first_membership[rank], program->first_membership[rank + 1],
                  program->memberships[at].comm < comm);
    return at < program->first_membership[rank + 1] && program->memberships[at].comm == comm
               ? program->memberships[at].rank
               : UINT32_MAX;
}

iw_status iwi_program_from_schedule(const iw_log *log, struct iwi_schedule *schedule, iw_program **program_p)
{
    iw_program *program = iwi_new_array(log, 1, sizeof *program);

    if (program == NULL) {
        iwi_schedule_free(schedule);
        return IW_ERR_NOMEM;
    }
    schedule->facts = iwi_schedule_facts(schedule);
    program->schedule = schedule;
    program->ranks = schedule->ranks;
    program->repeat = 1;
    *program_p = program;
    return IW_OK;
}

void iw_program_free(iw_program *program)
{
    if (program == NULL) {
        return;
    }
    iwi_schedule_free(program->schedule);
    iwi_trace_program_free(program->trace);
    free(program->operations);
    iwi_node_table_free(program->node_table);
    free(program->delays);
    free(program);
}

uint32_t iw_program_ranks(const iw_program *program)
{
    return program->ranks;
}

uint64_t iw_program_messages(const iw_program *program)
{
    uint64_t count = 0;

    if (program->trace != NULL) {
        return program->trace->messages;
    }
    if (program->schedule != NULL) {
        return iwi_schedule_facts(program->schedule).sends;
    }
    for (size_t i = 0; i < program->operation_count; i++) {
        count += program->operations[i].algorithm->message_count(&program->operations[i]);
    }
    return count * program->repeat;
}

bool iwi_program_starts_with_phase(const iw_program *program)
{
    for (size_t i = 0; i < program->operation_count; i++) {
        if (program->operations[i].algorithm->places_compute) {
            return false;
        }
    }
    return program->operation_count > 0 &&
           (program->compute_ps > 0 || program->compute_bytes > 0 || program->delay_count > 0);
}

static uint64_t count_phases(const iw_program *program, uint32_t rank)
{
    const struct iwi_schedule *schedule = program->schedule;
    uint64_t count = 0;

    if (program->trace != NULL) {
        return iwi_trace_phases(program->trace, rank);
    }
    for (uint64_t n = schedule->first_node[rank]; n < schedule->first_node[rank + 1]; n++) {
        count += schedule->nodes[n].kind == IWI_CALC && (schedule->nodes[n].flags & IWI_NODE_PHASE) != 0;
    }
    return count;
}

iw_status iw_program_set_delays(const iw_log *log, iw_program *program, const iw_delay *delays, size_t count)
{
    if (program->operations != NULL) {
        return iwi_fail(log, IW_ERR_USAGE, "give the delays of a pattern with the pattern");
    }
    for (size_t i = 0; i < count; i++) {
        const uint64_t phases =
            delays[i].rank < program->ranks ? count_phases(program, delays[i].rank) : UINT64_MAX;

        if (delays[i].step > phases) {
            return iwi_fail(
                log, IW_ERR_RANGE,
                "the delay on rank %" PRIu32 " is in step %" PRIu64 ", but the rank has only %" PRIu64 " %s",
                delays[i].rank, delays[i].step, phases, program->trace != NULL ? "computations" : "calcs");
        }
    }
    return iwi_delays_set(log, program, delays, count);
}
