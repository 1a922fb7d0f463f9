/* The options of `replay`.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_REPLAY_OPTS_H
#define IW_CLI_REPLAY_OPTS_H

#include <idlewave/idlewave.h>
#include <idlewave/inject.h>

#include "opt.h"

struct replay_opts {
    struct opt_origins origins;
    struct opt_list noise;
    int back_end, sync, threads, mpi, check_format;
    iw_time skew_ps, calibrate_ps, check_ps;
    double time_scale;
    const char *most; /* NULL: not given */
    const char *cpus; /* of a file; NULL: all */
    uint64_t seed;
    bool is_quiet, is_dry, is_check, want_naive;
};

enum { REPLAY_THREADS_MAIN, REPLAY_THREADS_ALL };
enum { REPLAY_MPI_AUTO, REPLAY_MPI_NONE };

extern const char *const replay_mpis[]; /* names of parts; the first is "auto" */
extern const struct opt_group replay_groups[];
enum { REPLAY_GROUP_COUNT = 4 };
extern const struct replay_opts replay_defaults;

#endif
