/* How far a simulation is, and whether it shall go on: work done, counted from any thread.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_TICKER_H
#define IWI_TICKER_H

#include <idlewave/sim.h>

struct iwi_ticker;

struct iwi_ticker *iwi_ticker_new(const iw_log *log, iw_progress progress, uint64_t total);
void iwi_ticker_free(struct iwi_ticker *ticker);

/* IW_ERR_CANCELLED: the user wants no more of it. 0 units: only asks for that. `ticker` NULL: not counted. */
IW_NODISCARD iw_status iwi_tick(struct iwi_ticker *ticker, uint64_t units);

/* Inside a unit that takes long, of which this share is done. */
IW_NODISCARD iw_status iwi_tick_part(struct iwi_ticker *ticker, double part);

/* For loops whose turns are too short to look at a clock in each. */
static inline iw_status iwi_tick_rarely(struct iwi_ticker *ticker, uint64_t turn)
{
    return ticker != NULL && turn % 4096 == 0 ? iwi_tick(ticker, 0) : IW_OK;
}

#endif
