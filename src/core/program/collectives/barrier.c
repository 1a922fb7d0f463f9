/* Barriers.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/program/collectives/rounds.h"
#include "core/program/collectives/tree.h"
#include "core/program/collectives/two_level.h"

static void dissemination_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round)
{
    iwi_round_shift(round, op->ranks, UINT32_C(1) << index, 1, 0);
}

const struct iwi_algorithm iwi_barrier_dissemination = {
    .kind = IWI_BARRIER,
    .name = "dissemination",
    .summary = "1 byte to the rank 2^k ahead in round k",
    IWI_STREAMING_ROUNDS(iwi_log2_ranks, dissemination_round),
};

/* Barrier by recursive doubling; ranks beyond a power of two report to a partner first and are released last
 * (as Open MPI).
 */

struct shape {
    uint32_t core, steps, extras; /* ranks [0, core) exchange; rank core + i reports to rank i */
};

static struct shape shape_of(const struct iwi_operation *op)
{
    const uint32_t steps = iwi_floor_log2(op->ranks);

    return (struct shape){UINT32_C(1) << steps, steps, op->ranks - (UINT32_C(1) << steps)};
}

static uint64_t round_count(const struct iwi_operation *op)
{
    const struct shape s = shape_of(op);

    return s.steps + (s.extras > 0 ? 2U : 0U);
}

static uint64_t message_count(const struct iwi_operation *op)
{
    const struct shape s = shape_of(op);

    return (uint64_t)s.core * s.steps + UINT64_C(2) * s.extras;
}

static bool is_exchange(const struct shape *s, uint64_t index)
{
    return s->extras == 0 || (index > 0 && index <= s->steps);
}

static void recursive_doubling_round(const struct iwi_operation *op, uint64_t index, struct iwi_round *round)
{
    const struct shape s = shape_of(op);

    iwi_round_clear(round);
    if (s.extras == 0) {
        iwi_round_flip(round, op->ranks, UINT32_C(1) << index, 1, 0);
    } else if (is_exchange(&s, index)) {
        iwi_round_add(round, 0, s.core, 1);
    } else {
        iwi_round_add(round, 0, s.extras, 1);
        iwi_round_add(round, s.core, s.extras, 1);
    }
}

static void exchange_role(const struct shape *s, uint64_t index, uint32_t rank, struct iwi_role *role)
{
    const uint32_t step = (uint32_t)index - (s->extras > 0);
    const uint32_t partner = rank ^ (UINT32_C(1) << step);

    if (rank < s->core) {
        iwi_role_send(role, partner, 1);
        iwi_role_recv(role, partner, 0, 1);
    }
}

static void fill_role(const struct iwi_operation *op, uint64_t index, uint32_t rank, struct iwi_role *role)
{
    const struct shape s = shape_of(op);
    const bool is_extra = rank >= s.core;
    const bool is_report = index == 0;

    iwi_role_clear(role);
    if (is_exchange(&s, index)) {
        exchange_role(&s, index, rank, role);
    } else if (is_extra || rank < s.extras) {
        const uint32_t partner = is_extra ? rank - s.core : rank + s.core;

        if (is_extra == is_report) {
            iwi_role_send(role, partner, 1);
        } else {
            iwi_role_recv(role, partner, 0, 1);
        }
    }
}

const struct iwi_algorithm iwi_barrier_recursive_doubling = {
    .kind = IWI_BARRIER,
    .name = "recursive-doubling",
    .summary = "exchange with the rank 2^k away in round k",
    .round_count = round_count,
    .message_count = message_count,
    .round = recursive_doubling_round,
    .role = fill_role,
};

/* Barrier up and down a binomial tree of rank 0. */

const struct iwi_algorithm iwi_barrier_tree = {
    .kind = IWI_BARRIER,
    .name = "tree",
    .summary = "binomial tree: all report, then are released",
    IWI_ROUNDS_OF(iwi_binomial),
};

/* Barrier by rank 0, which hears from and then releases one rank after the other. */

const struct iwi_algorithm iwi_barrier_linear = {
    .kind = IWI_BARRIER,
    .name = "linear",
    .summary = "all ranks report to rank 0, which then releases each",
    IWI_ROUNDS_OF(iwi_star),
};

/* Barrier of two levels: each node reports to its leader, leaders disseminate, each node is released (MPICH).
 */

static void plan_barrier(const struct iwi_operation *op, struct iwi_two_level *two)
{
    iwi_two_level_init(two, op, false);
    two->up = two->down = (struct iwi_inside){.exists = true, .bytes = 1};
    two->across.algorithm = &iwi_barrier_dissemination;
    iwi_two_level_ready(two);
}

IWI_TWO_LEVEL_FUNCTIONS(plan_barrier)

const struct iwi_algorithm iwi_barrier_two_level = {
    .kind = IWI_BARRIER,
    .name = "two-level",
    .summary = "binomial inside nodes, dissemination over their leaders",
    .uses_nodes = true,
    IWI_ROUNDS_OF(two_level),
};
