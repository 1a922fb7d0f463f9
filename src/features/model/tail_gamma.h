/* Quantiles of the gamma law: what so many Poisson events say of their rate.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_TAIL_GAMMA_H
#define IWI_TAIL_GAMMA_H

#include <math.h>

#include "core/numeric/numeric.h"

/* Of the gamma law with this shape and mean 1 (Wilson and Hilferty 1931): 1e-3 for shapes above 20, too small
 * for low quantiles of shape 1. */
static inline double iwi_gamma_quantile(double shape, double probability)
{
    const double z = iwi_normal_quantile(probability), s = 1.0 / (9.0 * shape);
    const double root = fmax(1.0 - s + z * sqrt(s), 0.0);

    return root * root * root;
}

#endif
