/* Exchange with the neighbours in a line or ring of ranks, up to a distance d each way.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Sends go out to r + 1, ..., r + d, then to r - 1, ..., r - d; split: the two directions in two rounds.
 */
#include "core/base/base.h"
#include "core/program/collectives/rounds.h"

static iw_status check(const iw_log *log, const struct iwi_operation *op)
{
    if (op->distance == 0) {
        return iwi_fail(log, IW_ERR_RANGE, "halo1d: the distance is 0; it must be at least 1");
    }
    if (op->ranks > 1 && op->distance >= op->ranks) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "halo1d: a distance of %" PRIu32 " needs more than %" PRIu32 " ranks", op->distance,
                        op->ranks);
    }
    return IW_OK;
}

static uint64_t round_count(const struct iwi_operation *op)
{
    if (op->ranks == 1) {
        return 0;
    }
    return op->is_split && !op->is_one_way ? 2 : 1;
}

static uint64_t message_count(const struct iwi_operation *op)
{
    const uint64_t distance = op->distance;
    const uint64_t missing = op->is_periodic ? 0 : distance * (distance + 1) / 2; /* beyond the open ends */

    if (op->ranks == 1) {
        return 0;
    }
    return (op->ranks * distance - missing) * (op->is_one_way ? 1 : 2);
}

static bool has_higher(const struct iwi_operation *op, uint64_t index)
{
    return !op->is_split || index == 0;
}

static bool has_lower(const struct iwi_operation *op, uint64_t index)
{
    return !op->is_one_way && (!op->is_split || index == 1);
}

static void fill_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round)
{
    iwi_round_all(round, op->ranks);
    round->fan = op->distance * ((uint32_t)has_higher(op, index) + (uint32_t)has_lower(op, index));
    round->is_grid = true;
    round->bytes = op->bytes;
    if (op->is_periodic && round->fan == 1) {
        iwi_round_shift(round, op->ranks, has_higher(op, index) ? 1 : op->ranks - 1, op->bytes, 0);
    }
}

static void fill_direction(const struct iwi_operation *op, uint64_t index, uint32_t k,
                           struct iwi_direction *direction_p)
{
    const bool is_higher = has_higher(op, index) && k < op->distance;
    const int64_t distance = 1 + (int64_t)(k % op->distance);

    *direction_p = (struct iwi_direction){.size = op->ranks,
                                          .stride = 1,
                                          .step = is_higher ? distance : -distance,
                                          .is_closed = op->is_periodic};
}

/* How many of the partners at distances 1..d on one side exist. */
static uint32_t reach_up(const struct iwi_operation *op, uint32_t rank)
{
    const uint32_t room = op->ranks - 1 - rank;

    return op->is_periodic || op->distance < room ? op->distance : room;
}

static uint32_t reach_down(const struct iwi_operation *op, uint32_t rank)
{
    return op->is_periodic || op->distance < rank ? op->distance : rank;
}

static void fill_role(const struct iwi_operation *op, uint64_t index, uint32_t rank, struct iwi_role *role)
{
    const uint32_t up = reach_up(op, rank);
    const uint32_t down = reach_down(op, rank);

    iwi_role_clear(role);
    if (has_higher(op, index)) {
        for (uint32_t k = 1; k <= up; k++) {
            iwi_role_send(role, iwi_rank_of_virtual(op->ranks, k, rank), op->bytes);
        }
        for (uint32_t k = 1; k <= down; k++) {
            iwi_role_recv(role, iwi_virtual_of_rank(op->ranks, k, rank), k - 1, op->bytes);
        }
    }
    if (has_lower(op, index)) {
        for (uint32_t k = 1; k <= down; k++) {
            iwi_role_send(role, iwi_virtual_of_rank(op->ranks, k, rank), op->bytes);
        }
        for (uint32_t k = 1; k <= up; k++) {
            const uint32_t peer = iwi_rank_of_virtual(op->ranks, k, rank);
            const uint32_t sends_before = has_higher(op, index) ? reach_up(op, peer) : 0;

            iwi_role_recv(role, peer, sends_before + k - 1, op->bytes);
        }
    }
}

const struct iwi_algorithm iwi_halo1d_neighbours = {
    .kind = IWI_HALO1D,
    .name = "neighbours",
    .summary = "neighbours in a line, up to a distance",
    .check = check,
    .round_count = round_count,
    .message_count = message_count,
    .round = fill_round,
    .role = fill_role,
    .direction = fill_direction,
};
