/* Whether a series of events is periodic, and with which period.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_PERIODICITY_H
#define IWI_PERIODICITY_H

#include <stddef.h>
#include <stdint.h>

/* Room that iwi_find_period() needs. */
enum { IWI_PERIOD_SCRATCH = 4096 };

/* The period of ascending times in their unit, or 0 if they are not periodic. Beats may be missing, late by
 * some percent, and have others in between, but most must be there. */
double iwi_find_period(const int64_t *times, size_t count, double scratch[IWI_PERIOD_SCRATCH]);

/* The time from *next_p on that is nearest to `expected` within the tolerance, or the count. Moves *next_p
 * past all that comes too early. */
size_t iwi_find_beat(const int64_t *times, size_t count, double expected, double tolerance, size_t *next_p);

#endif
