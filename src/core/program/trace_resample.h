/* Computation of replicas, drawn from what the traced ranks did (docs/explanation/extrapolation.md).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Phase n of base rank b took T(b,n). m(n) is the mean over the base ranks of the phases in the same place.
 * Rank b of a replica takes
 *     m(n) T(b,k) / m(k)
 * where k is drawn from the phases of rank b that are alike: between the same kinds of calls, with means in
 * the same power of two. What all ranks share from phase to phase stays as traced, and so does how much
 * slower rank b is than others; by how much it strays from that is drawn anew.
 */
#ifndef IWI_TRACE_RESAMPLE_H
#define IWI_TRACE_RESAMPLE_H

#include "core/program/trace_build.h"

struct iwi_trace_length {
    iw_time own_ps, mean_ps; /* T(b,n) and m(n), at least 1 */
};

struct iwi_trace_phase {
    iw_time mean_ps;
    uint32_t first, count; /* those that are alike: alike[first_phase[b] + first ... + count - 1] */
};

struct iwi_trace_resample {
    uint64_t seed;
    uint64_t *first_phase;          /* base + 1: phases of each base rank */
    struct iwi_trace_phase *phases; /* of all base ranks, in the order of their schedules */
    struct iwi_trace_length *alike; /* of the same phases, those that are alike side by side */
    iw_time *drawn_ps; /* of each phase, side by side, what the first replicas drew, which come to it one
                          after the other; others draw whenever they are asked */
    uint64_t kept;     /* so many replicas */
};

/* For build->program, whose schedule is there. IW_ERR_NOMEM. */
IW_NODISCARD iw_status iwi_trace_resample_new(const struct iwi_trace_build *build,
                                              struct iwi_trace_resample **resample_p);
void iwi_trace_resample_free(struct iwi_trace_resample *resample);

/* Length of compute phase `number` (0 = first) of world rank `rank`, whose traced length is `traced_ps`. */
iw_time iwi_trace_drawn(const struct iwi_trace_program *program, uint32_t rank, uint32_t number);

static inline iw_time iwi_trace_compute(const struct iwi_trace_program *program, uint32_t rank,
                                        uint32_t number, iw_time traced_ps)
{
    const struct iwi_trace_resample *r = program->resample;
    const iw_time *drawn_ps;

    if (r == NULL || program->base == 0 || rank < program->base) {
        return traced_ps;
    }
    if (rank / program->base > r->kept) {
        return iwi_trace_drawn(program, rank, number);
    }
    drawn_ps =
        &r->drawn_ps[(r->first_phase[rank % program->base] + number) * r->kept + rank / program->base - 1];
    __builtin_prefetch(drawn_ps + r->kept); /* the phase behind this one comes soon */
    return *drawn_ps;
}

/* The same of rank `own` of replicas first ... first + count - 1. */
static inline void iwi_trace_compute_row(const struct iwi_trace_program *program, uint32_t first,
                                         uint32_t count, uint32_t own, uint32_t number, iw_time traced_ps,
                                         iw_time *computed_ps)
{
    const struct iwi_trace_resample *r = program->resample;
    uint32_t k = 0;

    for (; k < count && (r == NULL || first + k == 0); k++) {
        computed_ps[k] = traced_ps;
    }
    if (k < count && first + k <= r->kept) {
        const iw_time *drawn_ps = &r->drawn_ps[(r->first_phase[own] + number) * r->kept];

        for (; k < count && first + k <= r->kept; k++) {
            computed_ps[k] = drawn_ps[first + k - 1];
            __builtin_prefetch(&drawn_ps[first + k - 1 + r->kept]);
        }
    }
    for (; k < count; k++) {
        computed_ps[k] = iwi_trace_drawn(program, (first + k) * program->base + own, number);
    }
}

#endif
