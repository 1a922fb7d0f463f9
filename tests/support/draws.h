/* Random numbers for tests, from a state of their own: splitmix64.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_DRAWS_H
#define IWT_DRAWS_H

#include <math.h>
#include <stdint.h>

#include "core/base/hash.h"

static inline uint64_t iwt_bits(uint64_t *state)
{
    return iwi_mix(*state += UINT64_C(0x9e3779b97f4a7c15));
}

/* In (0, 1). */
static inline double iwt_unit(uint64_t *state)
{
    return ((double)(iwt_bits(state) >> 12) + 0.5) * 0x1p-52;
}

/* Mean 0, variance 1. */
static inline double iwt_normal(uint64_t *state)
{
    const double radius = sqrt(-2.0 * log(iwt_unit(state)));

    return radius * cos(6.283185307179586 * iwt_unit(state));
}

#endif
