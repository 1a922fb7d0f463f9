/* Between the files of `bench`: its options, and the noise that it injects.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_BENCH_NOISE_H
#define IW_CLI_BENCH_NOISE_H

#include <idlewave/idlewave.h>
#include <idlewave/internal/bench.h>

#include "features/replay/verb/injected_noise.h"
#include "options/opt.h"
#include "options/simulate_opts.h"
#include "process/node_log.h"

/* ======== options ======== */

struct bench_opts {
    struct opt_origins origins;
    int work;
    iw_time compute_ps, duration_ps, block_ps;
    uint64_t bytes, phases;
    /* noise */
    uint64_t ranks_per_node; /* 0: as recorded */
    /* prediction */
    uint64_t trials; /* 0: chosen */
    /* output */
    const char *path, *baseline;
    struct injection_opts injection;
    struct net_opts net;
    struct shown_opts shown;
};

enum { BENCH_GROUP_COUNT = 7 };
extern const struct opt_group bench_groups[BENCH_GROUP_COUNT];
extern const struct bench_opts bench_defaults;

/* How detours are made. */
iw_back_end bench_back_end(const struct bench_opts *opts);

/* Whether a network is named for the prediction. */
bool bench_has_net(const struct bench_opts *opts);

/* Which operation the arguments name, and whether the options go together. Returns UI_DONE or UI_USAGE. */
int bench_check(struct ui *ui, const struct bench_opts *opts, const struct opt_args *args, iw_bench_op *op_p);

/* ======== noise ======== */

struct bench_noise {
    const struct bench_opts *opts;
    struct node_log *node_log;
    const iw_log *log; /* that of the node log */
    iw_recording *recording;
    bool is_of_file;
    iw_cpu_set cpu_set;     /* that `cpus` points to */
    const iw_cpu_set *cpus; /* of the file that are used; NULL: all */
    uint32_t
        ranks_per_node; /* known after the preparation, at most the recording's CPUs; all have the same */
    size_t cpu;         /* of the recording, whose detours happen here */
    iw_inject_opts inject;
    iw_inject_costs costs;
    iw_inject_plan *plan;
    iw_injector *injector; /* NULL: silence */
    int64_t started_ns;
    iw_bench_injected sum;
};

/* Reads or makes the noise, before MPI is started. To be released in any case. */
int bench_noise_load(struct ui *ui, struct node_log *node_log, const struct bench_opts *opts,
                     struct bench_noise *noise);
void bench_noise_release(struct bench_noise *noise);

/* What the plan of the measurement calls. */
iw_bench_noise bench_noise_calls(struct bench_noise *noise);

/* The detours of a node's ranks as they are planned, in times that are not stretched: a CPU for each rank.
 * After the measurement. */
IW_NODISCARD iw_status bench_noise_planned(const iw_log *log, const struct bench_noise *noise,
                                           iw_recording **recording_p);

/* Simulates blocks of the phases that were measured, with the noise as it was planned, and tells the result.
 * `net`: NULL: one whose operation takes what was measured. */
int bench_simulate(struct ui *ui, const struct bench_opts *opts, const struct bench_noise *noise,
                   const iw_net *net, iw_bench_result *result);

#endif
