/* What other features use of simulations: variants of noise in the same trials, and how far recordings reach.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_SIMULATE_H
#define IWI_SIMULATE_H

#include "features/simulate/experiment.h"
#include "features/simulate/reach.h"
#include "features/simulate/reach_report.h"
#include "features/simulate/sensitivity.h"

#endif
