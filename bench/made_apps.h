/* Traces that the programs pop_like, sweep_like and amg_like would leave, made in memory.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_MADE_APPS_H
#define IW_MADE_APPS_H

#include "support/made_trace.h"

enum { MADE_RANKS = 128, MADE_AMG_RANKS = 125 };

struct made_choice {
    iw_time work_ps;  /* of the slowest rank before a collective, of a block, or on the finest level */
    double imbalance; /* POP: 1 as pop_like has it, 0 all ranks work as long as the slowest. Sweep3D, AMG:
                       * pieces of work take up to so much longer, each by its own share */
};

/* Into a trace of MADE_RANKS ranks. */
void made_pop(struct iwt_made_trace *t, const struct made_choice *choice);

/* The same; one of its 16 iterations, which are all alike. */
void made_sweep(struct iwt_made_trace *t, const struct made_choice *choice);

/* Into a trace of MADE_AMG_RANKS ranks. */
void made_amg(struct iwt_made_trace *t, const struct made_choice *choice);

#endif
