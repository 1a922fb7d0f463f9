/* From how many ranks on a core that is left to the operating system gains more than it costs.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_BREAK_EVEN_H
#define IWI_BREAK_EVEN_H

#include <idlewave/whatif.h>

#include "features/simulate/simulate.h"

/* `reserve`: the change of kind IW_CHANGE_RESERVE, with its saving on `ranks` ranks. Looks at powers of 4 up
 * to 2^20 until the gain is certain or a simulation takes too long. Fills all of it but the price. */
IW_NODISCARD iw_status iwi_break_even_find(struct iwi_inquiry *inquiry, const iw_change *reserve,
                                           uint32_t ranks, iw_break_even *break_even_p);

/* About how many messages all of that takes at most, where they grow as the ranks do. */
double iwi_break_even_messages(const struct iwi_experiment *experiment);

/* Where savings at ascending ranks turn from loss to gain: interpolated in the logarithm of the ranks. Pure;
 * for iwi_break_even_find() and its tests. `count` > 0. */
void iwi_break_even_cross(const uint32_t *ranks, const iw_estimate *savings, size_t count,
                          iw_break_even *break_even_p);

#endif
