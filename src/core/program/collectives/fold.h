/* Recursive doubling and halving for any number of ranks: those beyond a power of two are folded away first.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * With P = 2^n + rem, the first 2 rem ranks pair up; one of each pair (the extra) gives its data to the other
 * (the keeper) and idles until the end. The 2^n remaining ranks are the core, numbered without holes.
 * In rooted operations all ranks are virtual: numbered from the root on.
 */
#ifndef IWI_FOLD_H
#define IWI_FOLD_H

#include "core/program/collectives/rounds.h"

struct iwi_fold {
    uint32_t ranks, root;
    uint32_t core, steps; /* core == 2^steps */
    uint32_t extras;      /* rem */
    uint32_t keeper;      /* 1: the odd rank of a pair stays, 0: the even one */
    /* set by the algorithm: */
    uint32_t core_rounds;         /* rounds in which only the core works */
    uint64_t in_bytes, out_bytes; /* an extra gives so much to its keeper first, and gets so much back last */
};

/* All but what the algorithm sets. In place: part() is hot, a copy would wait for what was just written. */
static inline void iwi_fold_init(struct iwi_fold *fold, uint32_t ranks, uint32_t root, uint32_t keeper)
{
    fold->ranks = ranks;
    fold->root = root;
    fold->steps = iwi_floor_log2(ranks);
    fold->core = UINT32_C(1) << fold->steps;
    fold->extras = ranks - fold->core;
    fold->keeper = keeper;
}

/* Rounds: one in which the extras give, the core's, one in which they get back. */
uint64_t iwi_fold_rounds(const struct iwi_fold *fold);

/* Messages if the whole core exchanges in each of its rounds. */
uint64_t iwi_fold_messages(const struct iwi_fold *fold);

/* Is round `index` one of the core's? *step_p counts those from 0. */
bool iwi_fold_is_core(const struct iwi_fold *fold, uint64_t index, uint32_t *step_p);

/* Active: the core ranks below `count`, the pairs, or what round `index` needs if the whole core works. */
void iwi_fold_core(const struct iwi_fold *fold, uint32_t count, struct iwi_round *round);
void iwi_fold_pairs(const struct iwi_fold *fold, struct iwi_round *round);
void iwi_fold_round(const struct iwi_fold *fold, uint64_t index, struct iwi_round *round);

/* What extras give is combined by their keepers. True: the rank works in the core in this round; its part is
 * left empty for the algorithm, which gets the step and the number in the core. */
bool iwi_fold_role(const struct iwi_fold *fold, uint64_t index, uint32_t rank, struct iwi_role *role,
                   uint32_t *step_p, uint32_t *core_rank_p);

uint32_t iwi_fold_rank_of_core(const struct iwi_fold *fold, uint32_t core_rank);

/* With the partner whose number in the core differs in `bit`; no reduction. */
void iwi_fold_exchange(const struct iwi_fold *fold, uint32_t core_rank, uint32_t bit, uint64_t send_bytes,
                       uint64_t recv_bytes, struct iwi_role *role);

/* Distance doubling, vector halving (Rabenseifner): bytes that the core rank still works on after `steps`
 * halvings of a vector of `bytes` cut into fold->core blocks. */
uint64_t iwi_halved_bytes(const struct iwi_fold *fold, uint64_t bytes, uint32_t core_rank, uint32_t steps);

/* Halving number `bit`: one half goes to the partner, whose other half is combined. */
void iwi_fold_halve(const struct iwi_fold *fold, uint64_t bytes, uint32_t core_rank, uint32_t bit,
                    struct iwi_role *role);

#endif
