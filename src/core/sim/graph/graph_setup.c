/* Sets a run of a graph up, takes it down, and says what has not been done.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/sim/graph/graph_state.h"
#include "core/sim/rank_array.h"

static iw_status allocate(struct graph_run *run)
{
    const struct iwi_schedule *schedule = run->schedule;
    const size_t ranks = schedule->ranks, nodes = (size_t)schedule->first_node[ranks];

    run->nodes = iwi_rank_array_new(run->log, nodes, sizeof *run->nodes);
    run->ranks = iwi_rank_array_new(run->log, ranks, sizeof *run->ranks);
    run->blocks = iwi_new_array(run->log, run->block_count, sizeof *run->blocks);
    run->channels = iwi_new_array(run->log, run->windows->channel_count, sizeof *run->channels);
    IW_TRY(iwi_graph_cpus_init(run->log, run->job, &run->cpus));
    return run->nodes != NULL && run->ranks != NULL && run->blocks != NULL && run->channels != NULL
               ? IW_OK
               : IW_ERR_NOMEM;
}

static void set_rank(struct graph_run *run, uint32_t rank)
{
    const struct iwi_schedule *schedule = run->schedule;

    for (uint64_t node = schedule->first_node[rank]; node < schedule->first_node[rank + 1]; node++) {
        run->nodes[node] = (struct graph_node){
            .open = (uint32_t)(schedule->first_dep[node + 1] - schedule->first_dep[node])};
    }
    run->ranks[rank] = (struct graph_rank){.turn = INT64_MAX, .first = (uint32_t)schedule->first_node[rank]};
}

iw_status iwi_graph_setup(struct graph_run *run)
{
    run->lookahead = iwi_graph_lookahead(run->job->net);
    run->block_shift = IWI_GRAPH_BLOCK_SHIFT;
    while ((run->schedule->ranks - 1) >> run->block_shift >= IWI_GRAPH_BLOCKS) {
        run->block_shift++;
    }
    run->block_count = ((run->schedule->ranks - 1) >> run->block_shift) + 1;
    IW_TRY(allocate(run));
    for (uint32_t b = 0; b < run->block_count; b++) {
        iwi_wheel_init(&run->blocks[b].wheel, run->lookahead);
        run->blocks[b].mail_first = INT64_MAX;
    }
    for (uint32_t c = 0; c < run->windows->channel_count; c++) {
        run->channels[c].first = IWI_GRAPH_NONE;
    }
    for (uint32_t rank = 0; rank < run->schedule->ranks; rank++) {
        set_rank(run, rank);
        iwi_graph_cpu_begin(&run->cpus, rank, &run->ranks[rank].cpu);
    }
    run->is_set_up = true;
    return IW_OK;
}

void iwi_graph_release(struct graph_run *run)
{
    for (uint32_t rank = 0; run->is_set_up && rank < run->schedule->ranks; rank++) {
        free(run->ranks[rank].queue.events);
    }
    for (uint32_t b = 0; run->blocks != NULL && b < run->block_count; b++) {
        iwi_wheel_release(&run->blocks[b].wheel);
        free(run->blocks[b].mail);
    }
    free(run->blocks);
    free(run->nodes);
    free(run->ranks);
    free(run->channels);
    iwi_graph_cpus_release(&run->cpus);
}

/* Where a rank is stuck: its first operation that nothing in its own rank holds back; if there is none, its
 * operations wait for each other in a circle, and the first of all stands for them. */
static uint64_t stuck_node(const void *arg, uint32_t rank)
{
    const struct graph_run *run = arg;
    const struct iwi_schedule *schedule = run->schedule;
    uint64_t first = IWI_NOT_STUCK;

    for (uint64_t node = schedule->first_node[rank]; node < schedule->first_node[rank + 1]; node++) {
        const uint32_t open = run->nodes[node].open;

        if (open != IWI_GRAPH_DONE && (open & ~IWI_GRAPH_ARRIVED) == 0) {
            return node;
        }
        if (open != IWI_GRAPH_DONE && first == IWI_NOT_STUCK) {
            first = node;
        }
    }
    return first;
}

static void warn_unreceived(const struct graph_run *run)
{
    const struct iwi_schedule *schedule = run->schedule;
    struct iwi_unreceived unreceived = {.count = 0};

    for (uint64_t node = 0; run->windows->lonely_count > 0 && node < schedule->first_node[schedule->ranks];
         node++) {
        if (schedule->nodes[node].kind == IWI_SEND && run->windows->ops[node].link.how == IWI_MEETS_NOBODY) {
            iwi_unreceived_add(&unreceived, node);
        }
    }
    for (uint32_t c = 0; c < run->windows->channel_count; c++) {
        const struct graph_channel *channel = &run->channels[c];

        for (uint32_t node = channel->first; node != IWI_GRAPH_NONE && channel->are_sends;
             node = run->nodes[node].also) {
            iwi_unreceived_add(&unreceived, node);
        }
    }
    iwi_warn_unreceived(run->log, schedule, &unreceived);
}

iw_status iwi_graph_check_end(const struct graph_run *run)
{
    if (run->cpus.is_too_late) {
        return iwi_fail_too_late(run->log);
    }
    if (run->done < run->schedule->first_node[run->schedule->ranks]) {
        return iwi_report_stuck_ranks(run->log, run->schedule, stuck_node, run);
    }
    if (run->job->want_warnings) {
        warn_unreceived(run);
    }
    return IW_OK;
}
