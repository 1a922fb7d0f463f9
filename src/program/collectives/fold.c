/* Folding of the ranks beyond a power of two, and the exchanges among the rest.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "program/collectives/fold.h"

uint64_t iwi_fold_rounds(const struct iwi_fold *fold, uint64_t core_rounds, bool has_out)
{
    return core_rounds + (fold->extras > 0 ? 1U + has_out : 0U);
}

enum iwi_fold_phase iwi_fold_phase(const struct iwi_fold *fold, uint64_t core_rounds, uint64_t index,
                                   uint32_t *step_p)
{
    const uint64_t first = fold->extras > 0;

    *step_p = 0;
    if (index < first) {
        return IWI_FOLD_IN;
    }
    if (index - first >= core_rounds) {
        return IWI_FOLD_OUT;
    }
    *step_p = (uint32_t)(index - first);
    return IWI_FOLD_CORE;
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

static bool is_paired(const struct iwi_fold *fold, uint32_t rank, uint32_t *partner_p, bool *is_keeper_p)
{
    const uint32_t v = iwi_virtual_of_rank(fold->ranks, fold->root, rank);

    if (v >= 2 * fold->extras) {
        return false;
    }
    *partner_p = iwi_rank_of_virtual(fold->ranks, fold->root, v ^ 1);
    *is_keeper_p = (v & 1) == fold->keeper;
    return true;
}

void iwi_fold_in_part(const struct iwi_fold *fold, uint64_t bytes, uint32_t rank, struct iwi_part *part)
{
    uint32_t partner;
    bool is_keeper;

    iwi_part_clear(part);
    if (!is_paired(fold, rank, &partner, &is_keeper)) {
        return;
    }
    if (is_keeper) {
        iwi_part_recv(part, partner, 0, bytes);
        part->reduce_bytes = bytes;
    } else {
        iwi_part_send(part, partner, bytes);
    }
}

void iwi_fold_out_part(const struct iwi_fold *fold, uint64_t bytes, uint32_t rank, struct iwi_part *part)
{
    uint32_t partner;
    bool is_keeper;

    iwi_part_clear(part);
    if (!is_paired(fold, rank, &partner, &is_keeper)) {
        return;
    }
    if (is_keeper) {
        iwi_part_send(part, partner, bytes);
    } else {
        iwi_part_recv(part, partner, 0, bytes);
    }
}

bool iwi_fold_core_of_rank(const struct iwi_fold *fold, uint32_t rank, uint32_t *core_p)
{
    const uint32_t v = iwi_virtual_of_rank(fold->ranks, fold->root, rank);

    if (v >= 2 * fold->extras) {
        *core_p = v - fold->extras;
        return true;
    }
    *core_p = v / 2;
    return (v & 1) == fold->keeper;
}

uint32_t iwi_fold_rank_of_core(const struct iwi_fold *fold, uint32_t core_rank)
{
    const uint32_t v = core_rank < fold->extras ? 2 * core_rank + fold->keeper : core_rank + fold->extras;

    return iwi_rank_of_virtual(fold->ranks, fold->root, v);
}

void iwi_fold_exchange(const struct iwi_fold *fold, uint32_t core_rank, uint32_t bit, uint64_t send_bytes,
                       uint64_t recv_bytes, struct iwi_part *part)
{
    const uint32_t partner = iwi_fold_rank_of_core(fold, core_rank ^ (UINT32_C(1) << bit));

    iwi_part_clear(part);
    iwi_part_send(part, partner, send_bytes);
    iwi_part_recv(part, partner, 0, recv_bytes);
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
