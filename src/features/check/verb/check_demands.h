/* What a check is asked: its options, and the files that they name.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_CHECK_DEMANDS_H
#define IW_CLI_CHECK_DEMANDS_H

#include <idlewave/idlewave.h>

#include "features/check/verb/check_answer.h"
#include "features/check/verb/check_jobs.h"
#include "features/check/verb/check_times.h"

struct check_opts {
    struct opt_origins origins;
    const char *cpus, *sysroot, *recording_path;
    iw_time within_ps, duration_ps; /* duration 0: what --within leaves */
    bool wants_watch;
    const char *baseline, *fleet, *require, *limit, *slowdown_limit;
    struct answer_opts answer;
    struct job_opts job;
    struct net_opts net;
};

/* What is required of the node. */
struct check_demands {
    iw_check_opts limits;
    iw_doc_file *profile;   /* or NULL */
    iw_recording *baseline; /* or NULL */
};

/* Refuses what does not fit together, and files that cannot be read or written, before anything is measured.
 * Returns UI_DONE or an exit code; `demands` is to be released in any case. */
int check_demands_read(struct ui *ui, const struct check_opts *opts, bool has_file,
                       struct check_demands *demands);
void check_demands_release(struct check_demands *demands);

struct check_times check_times_asked(const struct check_opts *opts, bool has_jobs);

#endif
