/* Runs trials by a team: one batch at a time, each member on its block of ranks.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/sim/split/partition.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "core/program/trace_program.h"
#include "core/sim/plan.h"

/* Deals the ranks of a program to the members of a team. */

/* Blocks may differ by one granule: so many of them to a member keep that below 2 %. */
enum { GRANULES = 64 };

/* Of a pattern: a power of two, so that the partners of a block under a flip are a few whole stretches.
 * Replicas of a trace stay whole where there are enough of them. */
static uint32_t granule_of(const iw_program *program, uint32_t members)
{
    const uint64_t parts = (uint64_t)members * GRANULES;
    uint32_t granule = 1;

    if (program->trace != NULL) {
        return program->trace->replicas >= members ? program->trace->base : 1;
    }
    while (members > 1 && (uint64_t)granule * 2 * parts <= program->ranks) {
        granule *= 2;
    }
    return granule;
}

/* The same for the same program and number of members, whoever asks. */
static iw_status partition_new(const iw_log *log, const iw_program *program, uint32_t members,
                               struct iwi_partition **partition_p)
{
    struct iwi_partition *partition = iwi_new_array(log, 1, sizeof *partition);
    const uint32_t granule = granule_of(program, members);
    const uint64_t granules = ((uint64_t)program->ranks + granule - 1) / granule;

    if (partition == NULL ||
        (partition->first = iwi_new_array(log, (size_t)members + 1, sizeof *partition->first)) == NULL) {
        free(partition);
        return IW_ERR_NOMEM;
    }
    partition->ranks = partition->smallest = program->ranks;
    partition->members = members;
    partition->granule = granule;
    for (uint32_t m = 1; m <= members; m++) {
        const uint64_t first = granules * m / members * granule;
        const uint32_t *before = &partition->first[m - 1];

        partition->first[m] = first < program->ranks ? (uint32_t)first : program->ranks;
        if (partition->first[m] - *before < partition->smallest) {
            partition->smallest = partition->first[m] - *before;
        }
    }
    *partition_p = partition;
    return IW_OK;
}

static void partition_free(struct iwi_partition *partition)
{
    if (partition != NULL) {
        free(partition->first);
        free(partition);
    }
}

enum { SENT_AT_ONCE = 1 << 20 /* times: 8 MiB */ };

struct members_run {
    const struct iwi_batches *batches;
    const struct iwi_partition *partition;
    const struct iwi_point *found; /* to go on from; NULL: from the start */
    uint64_t generation;           /* of restart points before the run */
};

/* When the ranks of a member's block ended: element r * lanes + l of rank r in lane l; of ranks that are all
 * alike there is one. */
struct block_ends {
    const iw_time *of;
    size_t count;
    uint32_t lanes, lane_shift;
    bool is_alike, is_too_late;
};

static struct block_ends ends_of_flow(const struct iwi_flow *flow)
{
    return (struct block_ends){.of = flow->cpu,
                               .count = flow->count,
                               .lanes = flow->lanes,
                               .lane_shift = flow->lane_shift,
                               .is_alike = flow->is_alike,
                               .is_too_late = flow->is_too_late};
}

static uint32_t block_size(const struct members_run *run, uint32_t member)
{
    return run->partition->first[member + 1] - run->partition->first[member];
}

/* ---- end times, to the first process ---- */

/* Ends of the ranks first ... first + count - 1 of a member's block, in one lane. */
static void lane_of(const struct block_ends *block, uint32_t lane, uint32_t first, uint32_t count,
                    iw_time *ends)
{
    for (uint32_t r = 0; r < count; r++) {
        ends[r] = block->of[((block->is_alike ? 0 : (size_t)first + r) << block->lane_shift) + lane];
    }
}

/* Of those who share no memory with the result. */
static iw_status send_ends(struct iwi_member *member, const struct members_run *run,
                           const struct block_ends *block, uint32_t lane)
{
    const uint32_t count = block_size(run, member->number);
    iw_time *ends = iwi_new_array(member->log, SENT_AT_ONCE, sizeof *ends);
    iw_status status = ends == NULL ? IW_ERR_NOMEM : IW_OK;

    for (uint32_t r = 0; status == IW_OK && r < count; r += SENT_AT_ONCE) {
        const uint32_t part = count - r < SENT_AT_ONCE ? count - r : SENT_AT_ONCE;
        struct iwi_transfer transfer;

        lane_of(block, lane, r, part, ends);
        status = iwi_member_send(member, 0, ends, part * sizeof *ends, &transfer);
        if (status == IW_OK) {
            status = iwi_member_wait(member, &transfer, 1);
        }
    }
    free(ends);
    return status;
}

static iw_status receive_ends(struct iwi_member *member, const struct members_run *run, uint32_t from,
                              iw_time *end_ps)
{
    const uint32_t count = block_size(run, from);

    for (uint32_t r = 0; r < count; r += SENT_AT_ONCE) {
        const uint32_t part = count - r < SENT_AT_ONCE ? count - r : SENT_AT_ONCE;
        struct iwi_transfer transfer;

        IW_TRY(iwi_member_receive(member, from, end_ps + run->partition->first[from] + r,
                                  part * sizeof *end_ps, &transfer));
        IW_TRY(iwi_member_wait(member, &transfer, 1));
    }
    return IW_OK;
}

/* Members of the first process write into the result, the others send to its first member. */
static iw_status keep_ends(struct iwi_member *member, const struct members_run *run,
                           const struct block_ends *block, uint64_t trial, uint32_t lane)
{
    const struct iwi_batches *batches = run->batches;
    const uint32_t local = iwi_team_threads(member->team);
    iw_time *end_ps = NULL;

    if (!batches->wants_ends) {
        return IW_OK;
    }
    if (iwi_team_first(member->team) > 0) {
        return send_ends(member, run, block, lane);
    }
    end_ps = batches->end_ps + (size_t)trial * run->partition->ranks;
    lane_of(block, lane, 0, block_size(run, member->number), end_ps + run->partition->first[member->number]);
    for (uint32_t from = local; member->number == 0 && from < member->count; from++) {
        IW_TRY(receive_ends(member, run, from, end_ps));
    }
    return IW_OK;
}

/* ---- batches ---- */

/* The makespans of all lanes, and whether simulated time ran out: the same for all members. */
static iw_status join(struct iwi_member *member, const struct block_ends *block, iw_time *makespans)
{
    iw_time values[IWI_MOST_LANES + 1] = {0};

    for (size_t i = 0; i < block->count; i++) {
        iw_time *value = &values[i & (block->lanes - 1)];

        *value = iwi_max(*value, block->of[i]);
    }
    values[block->lanes] = block->is_too_late;
    for (uint32_t lane = 0; lane < block->lanes; lane++) { /* also of what a restart point held */
        values[block->lanes] |= values[lane] >= IWI_LATEST;
    }
    IW_TRY(iwi_member_max(member, values, block->lanes + 1));
    for (uint32_t lane = 0; lane < block->lanes; lane++) {
        makespans[lane] = values[lane];
    }
    if (values[block->lanes] != 0) {
        const iw_status status = member->number == 0 ? iwi_fail_too_late(member->log) : IW_ERR_RANGE;

        IW_TRY(iwi_member_max(member, values, 1)); /* who fails ends all others: not before it was told why */
        return status;
    }
    return IW_OK;
}

/* Points inside a trial of a trace are points of whole replicas. */
static iw_status check_whole(const struct iwi_member *member, const struct members_run *run)
{
    const struct iwi_trace_program *trace = run->batches->job.program->trace;

    if (trace == NULL || member->count <= trace->replicas) {
        return IW_OK;
    }
    return iwi_fail(member->log, IW_ERR_USAGE,
                    "with more than %" PRIu32
                    " threads in all processes, the trace cannot resume from its checkpoint",
                    trace->replicas);
}

/* The makespans and ends of a batch, to where they belong. */
static iw_status keep_batch(struct iwi_member *member, const struct members_run *run,
                            const struct block_ends *block, uint64_t first)
{
    const struct iwi_batches *batches = run->batches;
    iw_time makespans[IWI_MOST_LANES] = {0};

    IW_TRY(join(member, block, makespans));
    for (uint32_t lane = 0; lane < block->lanes && first + lane < batches->trials; lane++) {
        if (member->number == iwi_team_first(member->team)) {
            batches->makespan_ps[first + lane] = makespans[lane];
        }
        IW_TRY(keep_ends(member, run, block, first + lane, lane));
    }
    return IW_OK;
}

static iw_status run_batch(struct iwi_member *member, const struct members_run *run, struct iwi_flow *flow,
                           struct iwi_job *job, uint64_t first)
{
    const struct iwi_batches *batches = run->batches;
    struct block_ends block;

    job->first_trial = batches->job.first_trial + first;
    iwi_flow_restart(flow, job);
    if (run->found != NULL && run->found->has_state && first == run->found->done) {
        IW_TRY(check_whole(member, run));
        IW_TRY(iwi_checkpointer_load(job->keeper, flow));
        flow->start = run->found->at;
    }
    IW_TRY(iwi_plan_run_flow(batches->plan, flow));
    block = ends_of_flow(flow);
    IW_TRY(keep_batch(member, run, &block, first));
    if (job->keeper != NULL) {
        job->keeper->done = first + job->lanes < batches->trials ? first + job->lanes : batches->trials;
        return iwi_checkpointer_visit(job->keeper, NULL, NULL);
    }
    return IW_OK;
}

/* All trials by the window engine, which keeps nothing from one to the next and has no restart points. */
static iw_status run_windows(struct iwi_member *member, const struct members_run *run, struct iwi_job *job)
{
    const struct iwi_batches *batches = run->batches;
    const size_t count = block_size(run, member->number);
    iw_status status = IW_OK;

    job->end_ps = iwi_new_array(member->log, count, sizeof *job->end_ps);
    status = job->end_ps == NULL ? IW_ERR_NOMEM : IW_OK;
    for (uint64_t trial = 0; status == IW_OK && trial < batches->trials; trial++) {
        const struct block_ends block = {.of = job->end_ps, .count = count, .lanes = 1};

        job->first_trial = batches->job.first_trial + trial;
        status = iwi_window_run(member->log, job, batches->plan->window);
        if (status == IW_OK) {
            status = keep_batch(member, run, &block, trial);
        }
    }
    if (status != IW_OK) {
        iwi_team_fail(member->team, status);
    }
    free(job->end_ps);
    return status;
}

static iw_status work(struct iwi_member *member, void *arg)
{
    const struct members_run *run = arg;
    const struct iwi_batches *batches = run->batches;
    const uint64_t begin = run->found != NULL ? run->found->done : 0;
    struct iwi_job job = batches->job;
    struct iwi_flow *flow = NULL;
    struct iwi_checkpointer keeper;
    iw_status status;

    job.lanes = batches->lanes;
    job.begins_ahead = iwi_batches_begin_ahead(batches);
    job.partition = run->partition;
    job.member = member;
    job.ticker = member->number == 0 ? job.ticker : NULL;
    if (batches->plan->window != NULL) {
        return run_windows(member, run, &job);
    }
    if (batches->checkpoint != NULL) {
        iwi_checkpointer_init(batches->checkpoint, run->generation, member, run->partition, &keeper);
        keeper.is_trials = !batches->is_reference;
        keeper.noiseless_ps = batches->noiseless_ps;
        keeper.makespan_ps = batches->makespan_ps;
        keeper.done = begin;
        job.keeper = &keeper;
    }
    status = iwi_flow_new(member->log, &job, &flow);
    for (uint64_t first = begin; status == IW_OK && first < batches->trials; first += job.lanes) {
        status = run_batch(member, run, flow, &job, first);
    }
    if (job.keeper != NULL && member->number == iwi_team_first(member->team)) {
        iwi_checkpointer_end(&keeper);
    }
    if (status != IW_OK) {
        iwi_team_fail(member->team, status); /* before memory goes that others may be copying from */
    }
    iwi_flow_free(flow);
    return status;
}

/* Of this run: of its trials, or of the one without noise. */
static const struct iwi_point *found_point(const struct iwi_batches *batches)
{
    const struct iwi_point *found = batches->checkpoint == NULL ? NULL : &batches->checkpoint->found;

    return found != NULL && found->generation > 0 && (found->is_trials == 0) == batches->is_reference ? found
                                                                                                      : NULL;
}

iw_status iwi_members_run(const iw_log *log, const struct iwi_batches *batches)
{
    struct iwi_partition *partition = NULL;
    struct members_run run = {.batches = batches};
    iw_status status;

    IW_TRY(partition_new(log, batches->job.program, iwi_team_size(batches->team), &partition));
    run.partition = partition;
    run.found = found_point(batches);
    run.generation = batches->checkpoint != NULL ? batches->checkpoint->generation : 0;
    if (run.found != NULL) {
        memcpy(batches->makespan_ps, run.found->makespan_ps, run.found->done * sizeof(iw_time));
    }
    status = iwi_team_run(batches->team, log, work, &run);
    partition_free(partition);
    return status;
}
