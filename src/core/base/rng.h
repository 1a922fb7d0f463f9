/* Random numbers by counter (Philox 4x64, Random123): each draw is a pure function of what it is for,
 * so any order of evaluation, thread or process count sees the same numbers.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_RNG_H
#define IWI_RNG_H

#include <stdint.h>

#ifndef __clang_analyzer__
#define R123_USE_SSE \
    0 /* only other generators use it, and its headers take most of the time to compile a file */
#include <Random123/philox.h>
#endif

/* What a draw is for; one stream of indices each. */
enum iwi_purpose {
    IWI_DRAW_OFFSET = 1,  /* start offset of a source on a rank or node */
    IWI_DRAW_SKEW,        /* shift of a synchronised node */
    IWI_DRAW_GAP,         /* time between detours */
    IWI_DRAW_DURATION,    /* length of a detour */
    IWI_DRAW_PHASE,       /* per-phase noise, phase offsets */
    IWI_DRAW_BOOTSTRAP,   /* resampling */
    IWI_DRAW_TEST,        /* test programs */
    IWI_DRAW_NODE,        /* which recorded node a simulated one meets */
    IWI_DRAW_UNDER_WAY,   /* detours that began before the timeline did: their number, lengths and ages */
    IWI_DRAW_REPLICA,     /* computation of replicas of a trace */
    IWI_DRAW_SPEED,       /* of a node */
    IWI_DRAW_LENGTH,      /* of a micro-batch */
    IWI_DRAW_COPY,        /* start offset of a further copy of recorded CPUs on a node */
    IWI_DRAW_COINCIDENCE, /* how far recorded CPUs are shifted against each other */
    IWI_DRAW_MESSAGE,     /* by how much the network delays it */
    IWI_DRAW_PAIR         /* start offset of a pair of nodes in a series of such delays */
};

struct iwi_draw_id {
    uint64_t seed, trial;
    uint32_t purpose, source, rank; /* source: number of the noise source, or 0 */
};

/* The draws of so many neighbouring trials come from one evaluation of the block function. */
enum { IWI_DRAW_TRIALS = 4 };

struct iwi_draw_block {
    uint64_t v[IWI_DRAW_TRIALS]; /* of trials that equal id.trial but for its lowest bits */
};

#ifdef __clang_analyzer__
/* Its rounds say nothing of our code, and following them takes the analyzer most of its time. */
struct iwi_draw_block iwi_draw_block(struct iwi_draw_id id, uint64_t index);
#else
static inline struct iwi_draw_block iwi_draw_block(struct iwi_draw_id id, uint64_t index)
{
    const philox4x64_ctr_t counter = {
        {index, id.rank, id.trial / IWI_DRAW_TRIALS, ((uint64_t)id.purpose << 32) | id.source}};
    const philox4x64_key_t key = {{id.seed, UINT64_C(0x69646c6577617665)}}; /* "idlewave" */
    const philox4x64_ctr_t drawn = philox4x64(counter, key);

    return (struct iwi_draw_block){{drawn.v[0], drawn.v[1], drawn.v[2], drawn.v[3]}};
}
#endif

/* 64 random bits. */
static inline uint64_t iwi_draw(struct iwi_draw_id id, uint64_t index)
{
    return iwi_draw_block(id, index).v[id.trial % IWI_DRAW_TRIALS];
}

/* 64 random bits to a uniform integer in [0, n), n > 0: the high half of the product, without measurable
 * bias. */
static inline uint64_t iwi_scale_below(uint64_t bits, uint64_t n)
{
    return (uint64_t)(((unsigned __int128)bits * n) >> 64);
}

static inline uint64_t iwi_draw_below(struct iwi_draw_id id, uint64_t index, uint64_t n)
{
    return iwi_scale_below(iwi_draw(id, index), n);
}

/* Uniform in the open interval (0, 1): 52 bits and a half, so neither 0 nor 1. */
static inline double iwi_unit_of(uint64_t bits)
{
    return ((double)(bits >> 12) + 0.5) * 0x1p-52;
}

static inline double iwi_draw_unit(struct iwi_draw_id id, uint64_t index)
{
    return iwi_unit_of(iwi_draw(id, index));
}

#endif
