/* Folding of the ranks beyond a power of two, and the exchanges among the rest.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/program/collectives/fold.h"

uint64_t iwi_fold_rounds(const struct iwi_fold *fold)
{
    return (uint64_t)fold->core_rounds + (fold->extras > 0 ? 2 : 0);
}

uint64_t iwi_fold_messages(const struct iwi_fold *fold)
{
    return (uint64_t)fold->core * fold->core_rounds + UINT64_C(2) * fold->extras;
}

bool iwi_fold_is_core(const struct iwi_fold *fold, uint64_t index, uint32_t *step_p)
{
    const uint64_t first = fold->extras > 0;

    *step_p = (uint32_t)(index - first);
    return index >= first && index - first < fold->core_rounds;
}

void iwi_fold_pairs(const struct iwi_fold *fold, struct iwi_round *round)
{
    iwi_round_clear(round);
    iwi_round_add(round, fold->root, 2 * fold->extras, 1);
}

void iwi_fold_core(const struct iwi_fold *fold, uint32_t count, struct iwi_round *round)
{
    const uint32_t keepers = count < fold->extras ? count : fold->extras;

    iwi_round_clear(round);
    iwi_round_add(round, iwi_rank_of_virtual(fold->ranks, fold->root, fold->extras > 0 ? fold->keeper : 0),
                  keepers, 2);
    iwi_round_add(round, iwi_rank_of_virtual(fold->ranks, fold->root, 2 * fold->extras), count - keepers, 1);
}

void iwi_fold_round(const struct iwi_fold *fold, uint64_t index, struct iwi_round *round)
{
    uint32_t step;

    if (iwi_fold_is_core(fold, index, &step)) {
        iwi_fold_core(fold, fold->core, round);
    } else {
        iwi_fold_pairs(fold, round);
    }
}

/* Number in the core of a rank; false for an extra. */
static bool find_core_rank(const struct iwi_fold *fold, uint32_t rank, uint32_t *core_rank_p)
{
    const uint32_t v = iwi_virtual_of_rank(fold->ranks, fold->root, rank);

    if (v >= 2 * fold->extras) {
        *core_rank_p = v - fold->extras;
        return true;
    }
    *core_rank_p = v / 2;
    return (v & 1) == fold->keeper;
}

/* The extra gives (is_in), or gets back. */
static void pair_role(const struct iwi_fold *fold, bool is_in, uint32_t rank, struct iwi_role *role)
{
    const uint32_t v = iwi_virtual_of_rank(fold->ranks, fold->root, rank);
    const uint32_t partner = iwi_rank_of_virtual(fold->ranks, fold->root, v ^ 1);
    const bool is_keeper = (v & 1) == fold->keeper;
    const uint64_t bytes = is_in ? fold->in_bytes : fold->out_bytes;

    if (v >= 2 * fold->extras) {
        return;
    }
    if (is_keeper == is_in) {
        iwi_role_recv(role, partner, 0, bytes);
        role->reduce_bytes = is_in ? bytes : 0;
    } else {
        iwi_role_send(role, partner, bytes);
    }
}

bool iwi_fold_role(const struct iwi_fold *fold, uint64_t index, uint32_t rank, struct iwi_role *role,
                   uint32_t *step_p, uint32_t *core_rank_p)
{
    iwi_role_clear(role);
    if (iwi_fold_is_core(fold, index, step_p)) {
        return find_core_rank(fold, rank, core_rank_p);
    }
    pair_role(fold, index == 0, rank, role);
    return false;
}

uint32_t iwi_fold_rank_of_core(const struct iwi_fold *fold, uint32_t core_rank)
{
    const uint32_t v = core_rank < fold->extras ? 2 * core_rank + fold->keeper : core_rank + fold->extras;

    return iwi_rank_of_virtual(fold->ranks, fold->root, v);
}

void iwi_fold_exchange(const struct iwi_fold *fold, uint32_t core_rank, uint32_t bit, uint64_t send_bytes,
                       uint64_t recv_bytes, struct iwi_role *role)
{
    const uint32_t partner = iwi_fold_rank_of_core(fold, core_rank ^ (UINT32_C(1) << bit));

    iwi_role_send(role, partner, send_bytes);
    iwi_role_recv(role, partner, 0, recv_bytes);
}

uint64_t iwi_halved_bytes(const struct iwi_fold *fold, uint64_t bytes, uint32_t core_rank, uint32_t steps)
{
    uint32_t first = 0;
    uint32_t count = fold->core;

    for (uint32_t k = 0; k < steps; k++) {
        count /= 2;
        first += (core_rank >> k & 1) * count;
    }
    return iwi_block_start(bytes, fold->core, first + count) - iwi_block_start(bytes, fold->core, first);
}

void iwi_fold_halve(const struct iwi_fold *fold, uint64_t bytes, uint32_t core_rank, uint32_t bit,
                    struct iwi_role *role)
{
    const uint64_t kept = iwi_halved_bytes(fold, bytes, core_rank, bit + 1);

    assert(bit < fold->steps);
    iwi_fold_exchange(fold, core_rank, bit, iwi_halved_bytes(fold, bytes, core_rank, bit) - kept, kept, role);
    role->reduce_bytes = kept;
}
