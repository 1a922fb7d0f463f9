/* What a check works on, and what noise costs the jobs of a site: `check` asks what-if for each of them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_CHECK_JOBS_H
#define IW_CLI_CHECK_JOBS_H

#include <idlewave/idlewave.h>

#include "features/check/verb/check_times.h"
#include "options/cpu_list.h"
#include "options/simulate_opts.h"
#include "process/ui.h"

struct job_opts {
    struct opt_origins origins;
    const char *names; /* "barrier,halo"; "none" */
    uint64_t ranks, ranks_per_node, trials, seed;
};

extern const struct opt job_rows[];
enum { JOB_ROW_COUNT = 5, MOST_JOBS = 8 };

#define JOB_OPTS_INIT                                                            \
    {                                                                            \
        .names = "barrier,halo,training", .ranks = 1024, .trials = 10, .seed = 1 \
    }

struct job_list {
    size_t count;
    iw_check_job jobs[MOST_JOBS];
};

/* The jobs that the profile requires, on its ranks, else those that are named; not simulated yet. `profile`
 * may be NULL. Returns UI_DONE or an exit code. */
int jobs_choose(struct ui *ui, const struct job_opts *opts, const iw_profile *profile, struct job_list *list);

/* Simulates the jobs under the noise of a recording, those that can be done until `end_ns` of monotonic_ns().
 * What mitigations are worth to the first one goes into `verify`. Returns UI_DONE or an exit code. */
int jobs_simulate(struct ui *ui, const struct job_opts *opts, const struct net_opts *net,
                  const iw_recording *recording, int64_t end_ns, iw_verify *verify, struct job_list *list,
                  iw_caveats *caveats);

/* ---- a recording of this node, or, while programs of users run, what these lose ---- */

struct measured {
    iw_recording *recording; /* of no time where programs of users run that may not be watched */
    bool is_watched;         /* programs of users ran: no probe took CPU time from them */
};

/* First the kernel's accounts are looked at. If programs of users keep CPUs busy,
 * they are watched instead of recording, and the node is a busy one; with `wants_watch` it is judged by what
 * they lose. Returns UI_DONE or an exit code. */
int check_measure(struct ui *ui, const struct cpu_list *cpus, const struct check_times *times,
                  bool wants_watch, struct measured *measured);

#endif
