/* Between the files of `replay`: its options; what a process is to meet: its noise, what a detour costs here,
 * its plans.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_REPLAY_PLAN_H
#define IW_CLI_REPLAY_PLAN_H

#include <idlewave/idlewave.h>
#include <idlewave/internal/inject.h>
#include <idlewave/internal/mpi.h>
#include <idlewave/internal/replay.h>

#include "features/replay/verb/injected_noise.h"
#include "options/shown_opts.h"
#include "process/node_log.h"

/* ======== options ======== */

struct replay_opts {
    struct opt_origins origins;
    int threads, mpi;
    iw_time calibrate_ps, check_ps;
    const char *most; /* NULL: not given */
    bool is_quiet, is_dry, is_check, want_naive;
    struct injection_opts injection;
    struct shown_opts shown; /* of the check */
};

enum { REPLAY_THREADS_MAIN, REPLAY_THREADS_ALL };
enum { REPLAY_MPI_AUTO, REPLAY_MPI_NONE };

extern const char *const replay_mpis[]; /* names of parts; the first is "auto" */
extern const struct opt_group replay_groups[];
enum { REPLAY_GROUP_COUNT = 6 };
extern const struct replay_opts replay_defaults;

/* ======== plans ======== */

struct replay {
    const struct replay_opts *opts;
    iw_launcher launcher;
    iw_recording *recording;
    iw_inject_opts inject;
    iw_inject_costs costs;
    iw_inject_plan *plans[IW_REPLAY_MOST_PLANS]; /* of the threads, in the order in which they begin */
    size_t plan_count;
    bool is_of_file;
};

/* Checks options against each other. Returns UI_DONE or UI_USAGE. */
int replay_check(struct ui *ui, const struct replay_opts *opts);

/* Reads the noise, measures the costs on this CPU, makes the plans. `replay` is to be released in any case.
 */
int replay_prepare(struct ui *ui, struct node_log *node_log, const struct replay_opts *opts,
                   struct replay *replay);
void replay_release(struct replay *replay);

/* One line for stderr: floor, deadline error, what can be reproduced. */
void replay_summary(const struct replay *replay, char *text, size_t size);

/* The same at length, on stdout. */
void replay_describe(const struct replay *replay);

/* ======== the check ======== */

struct replay_check_opts {
    int64_t duration_ns; /* for which noise is made and watched; the host's own for half of it */
    bool want_naive;     /* also the trace as it stands, without scale and compensation */
    const struct shown_opts *shown;
};

/* Watches a thread of this process, first as it is, then under the noise of `replay`, which is prepared.
 * Returns UI_NEGATIVE if it is not what was asked for. */
int replay_self_check(struct ui *ui, const struct replay *replay, const iw_log *log,
                      const struct replay_check_opts *opts);

#endif
