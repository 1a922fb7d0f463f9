/* Random numbers by counter (Philox 4x64, Random123): each draw is a pure function of what it is for,
 * so any order of evaluation, thread or process count sees the same numbers.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_RNG_H
#define IWI_RNG_H

#include <stdint.h>

#include <Random123/philox.h>

/* What a draw is for; one stream of indices each. */
enum iwi_purpose {
    IWI_DRAW_OFFSET = 1, /* start offset of a source on a rank or node */
    IWI_DRAW_SKEW,       /* shift of a synchronised node */
    IWI_DRAW_GAP,        /* time between detours */
    IWI_DRAW_DURATION,   /* length of a detour */
    IWI_DRAW_PHASE,      /* per-phase noise, phase offsets */
    IWI_DRAW_BOOTSTRAP,  /* resampling */
    IWI_DRAW_TEST        /* test programs */
};

struct iwi_draw_id {
    uint64_t seed, trial;
    uint32_t purpose, source, rank; /* source: number of the noise source, or 0 */
};

/* 64 random bits. Four neighbouring trials share one evaluation of the block function's counter. */
static inline uint64_t iwi_draw(struct iwi_draw_id id, uint64_t index)
{
    const philox4x64_ctr_t counter = {
        {index, id.rank, id.trial >> 2, ((uint64_t)id.purpose << 32) | id.source}};
    const philox4x64_key_t key = {{id.seed, UINT64_C(0x69646c6577617665)}}; /* "idlewave" */

    return philox4x64(counter, key).v[id.trial & 3];
}

/* Uniform integer in [0, n), n > 0, without measurable bias: the high half of a 64x64 product. */
static inline uint64_t iwi_draw_below(struct iwi_draw_id id, uint64_t index, uint64_t n)
{
    return (uint64_t)(((unsigned __int128)iwi_draw(id, index) * n) >> 64);
}

/* Uniform in the open interval (0, 1): 52 bits and a half, so neither 0 nor 1. */
static inline double iwi_draw_unit(struct iwi_draw_id id, uint64_t index)
{
    return ((double)(iwi_draw(id, index) >> 12) + 0.5) * 0x1p-52;
}

#endif
