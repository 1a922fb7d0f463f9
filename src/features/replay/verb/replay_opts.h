/* The options of `replay`.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_REPLAY_OPTS_H
#define IW_CLI_REPLAY_OPTS_H

#include <idlewave/idlewave.h>
#include <idlewave/internal/inject.h>

#include "features/replay/verb/injected_noise.h"
#include "options/shown_opts.h"

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

#endif
