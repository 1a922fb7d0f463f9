/* A wavefront through a 2-dimensional grid from the corner (0,0): each rank works once its west and north
 * neighbours have sent, then sends to the east and the south. SPDX-License-Identifier: BSD-3-Clause
 *
 * In round t the diagonal t - 1 sends, the diagonal t receives and works. Rank i * width + j is at row i,
 * column j, so ranks of one diagonal i + j = t are width - 1 apart. The borders are always open.
 */
#include "core/program/collectives/rounds.h"

static uint64_t round_count(const struct iwi_operation *op)
{
    return (uint64_t)op->dims[0] + op->dims[1] - 1;
}

static uint64_t message_count(const struct iwi_operation *op)
{
    return UINT64_C(2) * op->ranks - op->dims[0] - op->dims[1];
}

static void add_diagonal(const struct iwi_operation *op, uint64_t diagonal, struct iwi_round *round)
{
    const uint64_t height = op->dims[0];
    const uint64_t width = op->dims[1];
    const uint64_t first_row = diagonal < width ? 0 : diagonal - (width - 1);
    const uint64_t last_row = diagonal < height ? diagonal : height - 1;

    iwi_round_add(round, (uint32_t)(first_row * width + (diagonal - first_row)),
                  (uint32_t)(last_row - first_row + 1), (int64_t)width - 1);
}

static void fill_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round)
{
    iwi_round_clear(round);
    round->fan = 2;
    if (index > 0) {
        add_diagonal(op, index - 1, round);
    }
    add_diagonal(op, index, round);
}

static void fill_role(const struct iwi_operation *op, uint64_t index, uint32_t rank, struct iwi_role *role)
{
    const uint32_t height = op->dims[0];
    const uint32_t width = op->dims[1];
    const uint32_t row = rank / width;
    const uint32_t column = rank % width;

    iwi_role_clear(role);
    if ((uint64_t)row + column + 1 == index) {
        if (column + 1 < width) {
            iwi_role_send(role, rank + 1, op->bytes);
        }
        if (row + 1 < height) {
            iwi_role_send(role, rank + width, op->bytes);
        }
    } else if ((uint64_t)row + column == index) {
        if (column > 0) {
            iwi_role_recv(role, rank - 1, 0, op->bytes);
        }
        if (row > 0) {
            iwi_role_recv(role, rank - width, column + 1 < width, op->bytes); /* after its send to the east */
        }
        role->work_ps = op->compute_ps;
        role->is_phase = true;
    }
}

const struct iwi_algorithm iwi_sweep2d_wavefront = {
    .kind = IWI_SWEEP2D,
    .name = "wavefront",
    .summary = "work and messages from one corner of a grid to the opposite one",
    .round_count = round_count,
    .message_count = message_count,
    .round = fill_round,
    .role = fill_role,
    .is_wavefront = true,
    .places_compute = true,
};
