/* What a run under LogGOPSim's rules did, node by node: for tests that compare the two sets of rules.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_LOGGOPSIM_H
#define IWI_LOGGOPSIM_H

#include "core/sim/engine.h"

struct iwi_lgs_fact {
    iw_time start_ps; /* calc, send: the CPU began it; recv: it was posted */
    iw_time end_ps;   /* calc, send: end of its CPU part */
    uint64_t match;   /* send: its receive, recv: its send (global nodes); UINT64_MAX: none */
    /* of a send's message: */
    iw_time arrival_ps; /* of the first byte */
    iw_time served_ps;  /* the receiver's CPU began to pay for it */
    iw_time served_end_ps;
    bool was_unexpected; /* served before its receive was posted */
};

/* iwi_loggopsim_run() that fills facts[node] for each node of the schedule, unless `facts` is NULL. */
IW_NODISCARD iw_status iwi_loggopsim_run_observed(const iw_log *log, const struct iwi_job *job,
                                                  struct iwi_lgs_fact *facts);

#endif
