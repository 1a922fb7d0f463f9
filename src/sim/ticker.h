/* How far a simulation is: work done, counted from any thread.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_TICKER_H
#define IWI_TICKER_H

#include <idlewave/sim.h>

struct iwi_ticker;

struct iwi_ticker *iwi_ticker_new(const iw_log *log, iw_progress progress, uint64_t total);
void iwi_ticker_free(struct iwi_ticker *ticker);

/* `ticker` NULL: not counted. */
void iwi_tick(struct iwi_ticker *ticker, uint64_t units);

#endif
