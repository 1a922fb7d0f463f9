/* Sweeps in the flow engine: row by row of the grid, each rank with all that it does.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * In rank order, every rank comes after those that it receives from. So one pass over the ranks does what the
 * rounds do diagonal by diagonal, on arrays as they lie in memory. What a rank has sent to the east is for
 * the next one; what ranks have sent to the south is kept until the next row. A rank posts its receives where
 * the sweep begins, so of those that the pass has not come to, `cpu` says when.
 */
#include "core/sim/flow/flow_state.h"

#include <stdlib.h>

#include "core/base/base.h"
#include "core/sim/flow/flow_step.h"

struct sweep {
    struct iwi_flow *flow;
    const struct iwi_operation *op;
    uint64_t phase;
    bool has_even_phases, is_rendezvous;
    iw_time *east;  /* by lane: when the send of the rank before to the east was over */
    iw_time *south; /* by column and lane: the same of those of the row before to the south */
};

/* A message for a rank, or from it: `cost` is NULL if there is none. */
struct message {
    iw_time time;
    const struct iwi_cost *cost;
};

IWI_STEP const struct iwi_cost *cost_of(const struct sweep *sweep, bool has, uint32_t rank, int64_t distance)
{
    return has ? flow_cost(sweep->flow, rank, (uint32_t)(rank + distance), sweep->op->bytes) : NULL;
}

IWI_STEP struct message arrival_of(const struct iwi_flow *flow, const struct iwi_cost *cost,
                                   const iw_time *sent, iw_time posted)
{
    iw_time left = 0;

    if (cost == NULL) {
        return (struct message){IWI_NEVER, NULL};
    }
    left = cost->is_rendezvous ? step_transfer_start(flow, cost, *sent, 0, posted, 0, NULL, false) : *sent;
    return (struct message){left + cost->wire, cost};
}

/* Rule 4: in the order of arrival; the west first if both are there at once. */
IWI_STEP void receive(const struct sweep *sweep, uint32_t rank, uint32_t row, uint32_t column,
                      const uint32_t lanes)
{
    struct iwi_flow *flow = sweep->flow;
    const struct iwi_cost *west = cost_of(sweep, column > 0, rank, -1);
    const struct iwi_cost *north = cost_of(sweep, row > 0, rank, -(int64_t)sweep->op->dims[1]);

    for (uint32_t lane = 0; lane < lanes; lane++) {
        const size_t i = (size_t)rank * lanes + lane;
        const iw_time posted = sweep->is_rendezvous ? step_post(flow, rank, i, NULL, false) : flow->cpu[i];
        const struct message w = arrival_of(flow, west, &sweep->east[lane], posted);
        const struct message n =
            arrival_of(flow, north, &sweep->south[(size_t)column * lanes + lane], posted);
        const bool is_west_first = w.time <= n.time;
        const struct message first = is_west_first ? w : n, second = is_west_first ? n : w;

        if (first.cost != NULL) {
            step_receive(flow, rank, i, first.cost, first.time, 0, false);
        }
        if (second.cost != NULL) {
            step_receive(flow, rank, i, second.cost, second.time, 0, false);
        }
    }
}

IWI_STEP void work(const struct sweep *sweep, uint32_t rank, const uint32_t lanes)
{
    struct iwi_flow *flow = sweep->flow;
    const iw_time d = iwi_max(sweep->op->compute_ps, flow->job->memory_ps);

    if (!sweep->has_even_phases) {
        iwi_flow_phase(flow, rank, sweep->phase, sweep->op->compute_ps);
        return;
    }
    for (size_t i = (size_t)rank * lanes; i < ((size_t)rank + 1) * lanes; i++) {
        flow->cpu[i] = step_finish(flow, rank, i, flow->cpu[i], d, NULL, false);
    }
}

/* Rule 5: the wait for the send to rank `peer`, in a lane of `lanes`. */
IWI_STEP void wait_for_send(struct iwi_flow *flow, size_t i, uint32_t peer, uint32_t lane,
                            const struct message *message, const uint32_t lanes)
{
    if (message->cost != NULL && message->cost->is_rendezvous) {
        const iw_time posted = step_post(flow, peer, (size_t)peer * lanes + lane, NULL, false);
        const iw_time transfer =
            step_transfer_start(flow, message->cost, message->time, 0, posted, 0, NULL, false);

        step_send_done(flow, i, message->cost, transfer, 0, false);
    }
}

IWI_STEP void send(const struct sweep *sweep, uint32_t rank, uint32_t row, uint32_t column,
                   const uint32_t lanes)
{
    struct iwi_flow *flow = sweep->flow;
    const uint32_t height = sweep->op->dims[0], width = sweep->op->dims[1];
    struct message east = {0, cost_of(sweep, column + 1 < width, rank, 1)};
    struct message south = {0, cost_of(sweep, row + 1 < height, rank, width)};

    for (uint32_t lane = 0; lane < lanes; lane++) {
        const size_t i = (size_t)rank * lanes + lane;

        if (east.cost != NULL) {
            step_send(flow, rank, rank + 1, i, east.cost, &east.time, NULL, false);
            sweep->east[lane] = east.time;
        }
        if (south.cost != NULL) {
            step_send(flow, rank, rank + width, i, south.cost, &south.time, NULL, false);
            sweep->south[(size_t)column * lanes + lane] = south.time;
        }
        wait_for_send(flow, i, rank + 1, lane, &east, lanes);
        wait_for_send(flow, i, rank + width, lane, &south, lanes);
    }
}

IWI_STEP void sweep_row(const struct sweep *sweep, uint32_t row, const uint32_t lanes)
{
    const uint32_t width = sweep->op->dims[1];

    for (uint32_t column = 0; column < width; column++) {
        const uint32_t rank = row * width + column;

        receive(sweep, rank, row, column, lanes);
        work(sweep, rank, lanes);
        send(sweep, rank, row, column, lanes);
    }
}

/* Lanes as constants. */
static void sweep_one(const struct sweep *sweep, uint32_t row)
{
    sweep_row(sweep, row, 1);
}

static void sweep_eight(const struct sweep *sweep, uint32_t row)
{
    sweep_row(sweep, row, 8);
}

static void sweep_any(const struct sweep *sweep, uint32_t row)
{
    sweep_row(sweep, row, sweep->flow->lanes);
}

static iw_status sweep_rows(const struct sweep *sweep)
{
    const uint32_t lanes = sweep->flow->lanes, height = sweep->op->dims[0];
    void (*const run)(const struct sweep *, uint32_t) =
        lanes == 1 ? sweep_one : (lanes == 8 ? sweep_eight : sweep_any);

    for (uint32_t row = 0; row < height; row++) {
        run(sweep, row);
        IW_TRY(iwi_tick(sweep->flow->job->ticker, 1));
    }
    /* diagonals are counted: height + width - 1 */
    return iwi_tick(sweep->flow->job->ticker, sweep->op->dims[1] - 1);
}

bool iwi_flow_is_sweep(const struct iwi_flow *flow, const struct iwi_operation *op,
                       const struct iwi_flow_group *group)
{
    return op->algorithm->is_wavefront && group == NULL && flow->partition == NULL && !flow->is_alike &&
           flow->job->split == NULL && flow->start.round == 0;
}

iw_status iwi_flow_sweep(struct iwi_flow *flow, const struct iwi_operation *op, uint64_t phase)
{
    iw_time east[IWI_MOST_LANES] = {0};
    struct sweep sweep = {.flow = flow,
                          .op = op,
                          .phase = phase,
                          .has_even_phases = iwi_flow_has_even_phases(flow) &&
                                             !(flow->job->has_delays && flow->job->program->delay_count > 0),
                          .is_rendezvous = op->bytes > flow->job->net->S_bytes,
                          .east = east};
    iw_status status;

    sweep.south = iwi_new_array(flow->log, (size_t)op->dims[1] << flow->lane_shift, sizeof *sweep.south);
    if (sweep.south == NULL) {
        return IW_ERR_NOMEM;
    }
    status = sweep_rows(&sweep);
    free(sweep.south);
    return status;
}
