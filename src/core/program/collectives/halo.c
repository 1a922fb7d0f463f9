/* Neighbour exchange in a grid: in one round, or one round for each direction.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/program/collectives/rounds.h"

#include "core/base/base.h"

/* Directions are numbered 2 * dimension + (0: towards higher, 1: towards lower coordinates). */
enum { HIGHER, LOWER };

/* Where a rank is in the grid. */
struct place {
    uint32_t at[IW_MAX_DIMS];
    uint32_t stride[IW_MAX_DIMS]; /* ranks between neighbours in that dimension */
};

static uint32_t dimensions_of(const struct iwi_operation *op)
{
    return op->algorithm->kind == IWI_HALO3D ? 3 : 2;
}

static struct place place_of(const struct iwi_operation *op, uint32_t rank)
{
    struct place place = {{0}, {0}};
    uint32_t stride = 1;
    uint32_t rest = rank;

    for (uint32_t d = dimensions_of(op); d-- > 0;) {
        place.at[d] = rest % op->dims[d];
        place.stride[d] = stride;
        rest /= op->dims[d];
        stride *= op->dims[d];
    }
    return place;
}

/* There is a neighbour in that direction: not at an open border, nor in a dimension of one rank. */
static bool has_neighbour(const struct iwi_operation *op, uint32_t direction, uint32_t at)
{
    const uint32_t size = op->dims[direction / 2];
    const uint32_t border = direction % 2 == HIGHER ? size - 1 : 0;

    return size > 1 && (op->is_periodic || at != border);
}

/* Coordinate of that neighbour. */
static uint32_t next_at(const struct iwi_operation *op, uint32_t direction, uint32_t at)
{
    const uint32_t size = op->dims[direction / 2];

    if (direction % 2 == HIGHER) {
        return at + 1 == size ? 0 : at + 1;
    }
    return at == 0 ? size - 1 : at - 1;
}

/* Round `index` serves the directions from *first_p on, every *step_p-th, below *end_p. */
static void directions_of(const struct iwi_operation *op, uint64_t index, uint32_t *first_p, uint32_t *step_p,
                          uint32_t *end_p)
{
    *step_p = op->is_one_way ? 2 : 1;
    *first_p = op->is_split ? (uint32_t)index * *step_p : 0;
    *end_p = op->is_split ? *first_p + 1 : 2 * dimensions_of(op);
}

/* Sends go out in the order: dimension, towards higher before towards lower coordinates. */
static uint64_t halo_rounds(const struct iwi_operation *op)
{
    if (op->ranks == 1) {
        return 0;
    }
    return op->is_split ? dimensions_of(op) * (op->is_one_way ? 1U : 2U) : 1;
}

static uint64_t halo_messages(const struct iwi_operation *op)
{
    uint64_t count = 0;

    for (uint32_t d = 0; d < dimensions_of(op); d++) {
        const uint64_t borders = op->is_periodic && op->dims[d] > 1 ? 0 : op->ranks / op->dims[d];

        count += (op->ranks - borders) * (op->is_one_way ? 1 : 2);
    }
    return count;
}

static void halo_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round)
{
    const uint32_t directions = dimensions_of(op) * (op->is_one_way ? 1 : 2);
    uint32_t first;
    uint32_t step;
    uint32_t end;

    directions_of(op, index, &first, &step, &end);
    iwi_round_all(round, op->ranks);
    round->fan = op->is_split ? 1 : directions;
    round->is_grid = true;
    round->bytes = op->bytes;
    /* along the slowest dimension all ranks move by the same distance, also across the border */
    if (op->is_periodic && round->fan == 1 && first / 2 == 0 && op->dims[0] > 1) {
        const uint32_t stride = op->ranks / op->dims[0];

        iwi_round_shift(round, op->ranks, first == HIGHER ? stride : op->ranks - stride, op->bytes, 0);
    }
}

static void halo_direction(const struct iwi_operation *op, uint64_t index, uint32_t k,
                           struct iwi_direction *direction_p)
{
    uint32_t first;
    uint32_t step;
    uint32_t end;
    uint32_t number;

    directions_of(op, index, &first, &step, &end);
    number = first + k * step;
    *direction_p = (struct iwi_direction){.size = op->dims[number / 2],
                                          .stride = place_of(op, 0).stride[number / 2],
                                          .step = number % 2 == HIGHER ? 1 : -1,
                                          .is_closed = op->is_periodic};
}

/* Which of the peer's sends in this round goes in `direction`: one for each neighbour it has before that. The
 * peer differs from `place` only in the dimension of the direction, where it is at `peer_at`. */
static uint32_t slot_of(const struct iwi_operation *op, const struct place *place, uint32_t first,
                        uint32_t step, uint32_t direction, uint32_t peer_at)
{
    uint32_t slot = 0;

    for (uint32_t earlier = first; earlier < direction; earlier += step) {
        slot += has_neighbour(op, earlier, earlier / 2 == direction / 2 ? peer_at : place->at[earlier / 2]);
    }
    return slot;
}

static void halo_role(const struct iwi_operation *op, uint64_t index, uint32_t rank, struct iwi_role *role)
{
    const struct place place = place_of(op, rank);
    uint32_t first;
    uint32_t step;
    uint32_t end;

    directions_of(op, index, &first, &step, &end);
    iwi_role_clear(role);
    for (uint32_t direction = first; direction < end; direction += step) {
        const uint32_t at = place.at[direction / 2];
        const uint32_t stride = place.stride[direction / 2];

        if (has_neighbour(op, direction, at)) {
            iwi_role_send(role, rank + (next_at(op, direction, at) - at) * stride, op->bytes);
        }
        if (has_neighbour(op, direction ^ 1, at)) {
            const uint32_t peer_at = next_at(op, direction ^ 1, at);

            iwi_role_recv(role, rank + (peer_at - at) * stride,
                          slot_of(op, &place, first, step, direction, peer_at), op->bytes);
        }
    }
}

/* Exchange with the neighbours in a line or ring of ranks, up to a distance d each way.
 *
 * Sends go out to r + 1, ..., r + d, then to r - 1, ..., r - d; split: the two directions in two rounds.
 */

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

/* Exchange with the neighbours in a grid of 2 dimensions. */

const struct iwi_algorithm iwi_halo2d_neighbours = {
    .kind = IWI_HALO2D,
    .name = "neighbours",
    .summary = "neighbours in a 2-dimensional grid",
    IWI_ROUNDS_OF(halo),
    .direction = halo_direction,
};

/* Exchange with the neighbours in a grid of 3 dimensions. */

const struct iwi_algorithm iwi_halo3d_neighbours = {
    .kind = IWI_HALO3D,
    .name = "neighbours",
    .summary = "neighbours in a 3-dimensional grid",
    IWI_ROUNDS_OF(halo),
    .direction = halo_direction,
};
