/* Recursive doubling and halving for any number of ranks: those beyond a power of two are folded away first.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * With P = 2^n + rem, the first 2 rem ranks pair up; one of each pair (the extra) gives its data to the other
 * (the keeper) and idles until the end. The 2^n remaining ranks are the core, numbered without holes.
 * In rooted operations all ranks are virtual: numbered from the root on.
 */
#ifndef IWI_FOLD_H
#define IWI_FOLD_H

#include "program/collectives/rounds.h"

struct iwi_fold {
    uint32_t ranks, root;
    uint32_t core, steps; /* core == 2^steps */
    uint32_t extras;      /* rem */
    uint32_t keeper;      /* 1: the odd rank of a pair stays, 0: the even one */
};

enum iwi_fold_phase { IWI_FOLD_IN, IWI_FOLD_CORE, IWI_FOLD_OUT };

static inline struct iwi_fold iwi_fold_make(uint32_t ranks, uint32_t root, uint32_t keeper)
{
    const uint32_t steps = iwi_floor_log2(ranks);
    const uint32_t core = UINT32_C(1) << steps;

    return (struct iwi_fold){ranks, root, core, steps, ranks - core, keeper};
}

/* Rounds of an operation with `core_rounds` in the core. */
uint64_t iwi_fold_rounds(const struct iwi_fold *fold, uint64_t core_rounds, bool has_out);

/* The phase of round `index`; *step_p counts from 0 in the core. */
enum iwi_fold_phase iwi_fold_phase(const struct iwi_fold *fold, uint64_t core_rounds, uint64_t index,
                                   uint32_t *step_p);

/* Active: the pairs, or the core ranks below `count`. */
void iwi_fold_pairs(const struct iwi_fold *fold, struct iwi_round *round);
void iwi_fold_core(const struct iwi_fold *fold, uint32_t count, struct iwi_round *round);

/* The extra gives `bytes` to its keeper, which combines them (in), or gets `bytes` back (out). */
void iwi_fold_in_part(const struct iwi_fold *fold, uint64_t bytes, uint32_t rank, struct iwi_part *part);
void iwi_fold_out_part(const struct iwi_fold *fold, uint64_t bytes, uint32_t rank, struct iwi_part *part);

/* Number in the core of a rank; false for an extra. */
bool iwi_fold_core_of_rank(const struct iwi_fold *fold, uint32_t rank, uint32_t *core_p);
uint32_t iwi_fold_rank_of_core(const struct iwi_fold *fold, uint32_t core_rank);

/* Both partners send `send_bytes`, receive `recv_bytes`; no reduction. */
void iwi_fold_exchange(const struct iwi_fold *fold, uint32_t core_rank, uint32_t bit, uint64_t send_bytes,
                       uint64_t recv_bytes, struct iwi_part *part);

/* Distance doubling, vector halving (Rabenseifner): bytes that the core rank still works on after `steps`
 * halvings of a vector of `bytes` cut into fold->core blocks. */
uint64_t iwi_halved_bytes(const struct iwi_fold *fold, uint64_t bytes, uint32_t core_rank, uint32_t steps);

#endif
