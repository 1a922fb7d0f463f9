/* The options of `bench`.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_BENCH_OPTS_H
#define IW_CLI_BENCH_OPTS_H

#include <idlewave/bench.h>
#include <idlewave/idlewave.h>

#include "opt.h"

struct bench_opts {
    struct opt_origins origins;
    iw_time quantum_ps, duration_ps, block_ps;
    uint64_t bytes, phases;
    /* noise */
    struct opt_list replay;
    int sync, back_end;
    iw_time skew_ps;
    double time_scale;
    uint64_t seed, ranks_per_node; /* 0: as recorded */
    const char *cpus;              /* of a file; NULL: all */
    /* prediction */
    const char *net, *net_level;
    uint64_t trials; /* 0: chosen */
    /* output */
    const char *path, *baseline;
    int format;
};

enum bench_format { BENCH_TEXT, BENCH_JSON, BENCH_CSV };

enum { BENCH_GROUP_COUNT = 4 };
extern const struct opt_group bench_groups[BENCH_GROUP_COUNT];
extern const struct bench_opts bench_defaults;

/* Which operation the arguments name, and whether the options go together. Returns UI_DONE or UI_USAGE. */
int bench_check(struct ui *ui, const struct bench_opts *opts, const struct opt_args *args, iw_bench_op *op_p);

#endif
