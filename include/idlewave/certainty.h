/* idlewave/certainty.h - what a recording can say about a job, and how sure that is.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *     iw_certainty certainty;
 *     st = iw_simulate(log, program, net, noise, &opts, &result);
 *     st = iw_certainty_find(log, &(iw_certainty_question){set, program, net, &opts, result}, &certainty);
 *
 * A recording of W of CPU time cannot show what comes less than once in about W/3, and no simulation from it
 * can: detours longer than the longest recorded one do not come up, however many ranks there are. So a
 * recording reaches up to some scale. Within it an interval counts the trials, how another recording of the
 * same node would differ, and what may be unseen; beyond it there is a lower bound
 * (docs/explanation/statistics.md).
 */
#ifndef IW_CERTAINTY_H
#define IW_CERTAINTY_H

#include <stdbool.h>

#include <idlewave/sim.h>
#include <idlewave/stats.h>
#include <idlewave/whatif.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { IW_CERTAINTY_REDRAWS = 12, IW_CERTAINTY_LEAST_TRIALS = 6 };

/** The interval of a job that was simulated with the noise of a set. */
typedef struct iw_certainty {
    iw_reach reach;
    iw_estimate slowdown; /* T/T0 - 1, mean of the trials. The interval counts the trials, the recording and
                             what is unseen; NaN of fewer than IW_CERTAINTY_LEAST_TRIALS trials, or without a
                             recording. Beyond the reach .high is INFINITY, and .low a lower bound (97.5 %) */
} iw_certainty;

/** What was simulated. */
typedef struct iw_certainty_question {
    const iw_noise_set *set;
    const iw_program *program;
    const iw_net *net;
    const iw_sim_opts *opts;     /* of the simulation */
    const iw_sim_result *result; /* of it, from the set as it is */
} iw_certainty_question;

/** What the recordings can say. Takes a moment, but for a set that is extrapolated: there laws are fitted to
 * recordings drawn anew, IW_CERTAINTY_REDRAWS times, and the job is simulated with them, in trials whose
 * numbers are behind its own. */
IW_API IW_NODISCARD iw_status iw_certainty_find(const iw_log *log, const iw_certainty_question *question,
                                                iw_certainty *certainty_p);

/** Trials that iw_certainty_find() simulates for a job that had so many. */
IW_API uint64_t iw_certainty_trials(const iw_noise_set *set, uint64_t trials);

/** Up to how many ranks that meet after each `work_s` of work a recording gives estimates, about, by its
 * detours alone. 0: not even one. */
IW_API double iw_reach_ranks(const iw_recording *recording, double work_s);

#ifdef __cplusplus
}
#endif
#endif
