/* idlewave/internal/bench.h - the compute-and-synchronise benchmark: what is to be done, what came of it,
 * what it says. docs/how-to/bench.md.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *     iw_bench_plan plan = IW_BENCH_PLAN_INIT;
 *     st = part->bench_measure(log, &plan, &samples);      all ranks; rank 0 gets the samples
 *     st = iw_bench_evaluate(log, samples, 1.0, &result);
 *     st = iw_doc_write(log, iw_bench_doc(result), IW_DOC_TEXT, NULL, stdout);
 *     iw_bench_result_free(result);  iw_bench_samples_free(samples);
 *
 * A phase is: work for a quantum, then an operation. qt is the time of the work, bt that of the operation,
 * qtbt their sum. Over all ranks of a phase, the largest counts.
 */
#ifndef IW_INTERNAL_BENCH_H
#define IW_INTERNAL_BENCH_H

#include <stdbool.h>
#include <stdio.h>

#include <idlewave/doc.h>
#include <idlewave/estimate.h>
#include <idlewave/internal/inject.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum iw_bench_op { IW_BENCH_BARRIER, IW_BENCH_ALLREDUCE, IW_BENCH_HALO, IW_BENCH_OPS } iw_bench_op;

/** "barrier", "allreduce", "halo". */
const char *iw_bench_op_name(iw_bench_op op);

/** What a rank does for a quantum: a loop of arithmetic; or it sleeps, so that many ranks share a CPU. */
typedef enum iw_bench_work { IW_BENCH_SPIN, IW_BENCH_SLEEP, IW_BENCH_WORKS } iw_bench_work;

/** "spin", "sleep". */
const char *iw_bench_work_name(iw_bench_work work);

/** Phases without and with injected noise. */
enum { IW_BENCH_QUIET, IW_BENCH_NOISY, IW_BENCH_KINDS };

/** Where a process runs. Hosts are numbered in the order of their lowest ranks. */
typedef struct iw_bench_place {
    uint32_t rank, ranks;
    uint32_t host, hosts;
    uint32_t local_rank, local_ranks; /* among those of its host */
    uint32_t most_local_ranks;        /* of any host */
} iw_bench_place;

/** What one rank's injector did. */
typedef struct iw_bench_injected {
    double planned_share;           /* of the time in detours, as planned */
    double as_recorded_share;       /* of the noise's time in detours that keep their place and duration */
    double as_recorded_event_share; /* of their number */
    double made_ns, skipped_ns;     /* time in detours that were made, or left out */
    double noisy_ns;                /* the injector ran for so long */
    double floor_ns, overhead_ns, late_p99_ns;
    uint64_t made_count, skipped_count;
    uint64_t cut_short_count; /* blocks in which a detour had to be ended, and none came after it */
} iw_bench_injected;

/** Noise that the caller makes; called on every rank, by the thread that measures. */
typedef struct iw_bench_noise {
    void *arg;
    /* Measured by the preparation. Then the floor and the gap become the largest of all ranks, so that all
     * plan alike. */
    iw_inject_costs *costs;
    /* Before anything is measured. */
    iw_status (*prepare)(void *arg, const iw_bench_place *place);
    /* A block with noise begins, the draw-th one; it ends. */
    iw_status (*start)(void *arg, uint64_t draw);
    void (*stop)(void *arg);
    /* A compute phase of such a block begins; NULL: nothing is to be done then. */
    void (*phase)(void *arg);
    /* Time in detours since the block began, as planned; for work that sleeps. */
    double (*made_ns)(void *arg);
    /* When all is measured. */
    void (*tell)(void *arg, iw_bench_injected *injected_p);
} iw_bench_noise;

/** What is to be measured; the same on all ranks. */
typedef struct iw_bench_plan {
    iw_bench_op op;
    iw_bench_work work;
    uint64_t bytes;          /* of an allreduce, and of each message of a halo exchange */
    double quantum_ns;       /* undisturbed work */
    uint64_t phases;         /* of each kind; 0: as many as fit into the duration */
    double duration_seconds; /* of all phases */
    double block_seconds;    /* phases with and without noise alternate in blocks; also how often the duration
                              * is looked at */
    size_t most_kept;        /* phases in memory; of more, every 2nd, 4th, ... is kept */
    const iw_bench_noise *noise; /* NULL: none */
    iw_progress progress; /* on rank 0; what it returns is not looked at: all ranks would have to know */
} iw_bench_plan;

#define IW_BENCH_PLAN_INIT                                                                          \
    {                                                                                               \
        .op = IW_BENCH_BARRIER, .bytes = 8, .quantum_ns = 1e6, .phases = 0, .duration_seconds = 10, \
        .block_seconds = 0.25, .most_kept = (size_t)1 << 20, .noise = NULL, .progress = {           \
            NULL,                                                                                   \
            NULL                                                                                    \
        }                                                                                           \
    }

/* ---- what was measured ---- */

typedef struct iw_bench_rank {
    char host[64];
    uint64_t phases;     /* that this rank ran, without those left out after a switch */
    uint64_t iterations; /* of the generator in a quantum */
    double qt_ns[IW_BENCH_KINDS], bt_ns[IW_BENCH_KINDS]; /* means; 0: no such phases */
    double undisturbed_ns;                               /* the 5 % quantile of qt in phases without noise */
    iw_bench_injected injected;
} iw_bench_rank;

/** A block of phases. Its time is that of the rank for which it took longest, so that what one rank's delay
 * costs its neighbours, one phase after the other, counts once. */
typedef struct iw_bench_block {
    bool is_noisy;
    uint64_t phases;   /* all, also those that were not kept */
    double elapsed_ns; /* the sum of qtbt of a rank, the largest of all ranks */
} iw_bench_block;

typedef struct iw_bench_samples {
    iw_bench_op op;
    iw_bench_work work;
    uint64_t bytes;
    double quantum_ns;
    uint32_t ranks, hosts;
    char mpi[16], mpi_version[128];
    char clock[64];        /* what times were read from, and what a reading costs */
    char warning[256];     /* why the numbers are not valid (ranks share a CPU), or "" */
    bool has_noise;        /* some blocks have injected noise */
    uint64_t phases;       /* all that were measured */
    uint64_t left_out;     /* further ones, after switches */
    uint64_t stride;       /* every stride-th was kept */
    uint64_t block_phases; /* phases of a whole block */
    size_t count;          /* that were kept */
    uint32_t *block;       /* which block a phase is of; with noise, blocks 2k and 2k+1 are a pair */
    bool *is_noisy;
    double *qt_ns, *bt_ns, *qtbt_ns; /* the largest of all ranks */
    double *op_ns;                   /* the smallest bt: the last rank to come waits for nobody */
    iw_bench_rank *of_rank;
    size_t block_count;
    iw_bench_block *blocks;
    double seconds;
} iw_bench_samples;

void iw_bench_samples_free(iw_bench_samples *samples);

/* ---- what it says ---- */

#define IW_BENCH_QUANTILES 9

/** 0, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 0.999, 1. */
double iw_bench_quantile(size_t index);

#define IW_BENCH_BINS 48

typedef struct iw_bench_value {
    iw_estimate mean_ns; /* the interval by blocks; NaN: too few of them */
    double quantile_ns[IW_BENCH_QUANTILES];
} iw_bench_value;

typedef struct iw_bench_times {
    uint64_t count; /* phases that were kept, 0: none of this kind */
    iw_bench_value qt, bt, qtbt, op;
    iw_estimate phase_ns;         /* blocks' times over their phases, of all phases */
    uint64_t bins[IW_BENCH_BINS]; /* how many qtbt lie between the result's bin_begin_ns */
} iw_bench_times;

/** What was injected: how it was asked for, and means of all ranks. */
typedef struct iw_bench_injection {
    const char *const *sources; /* as given, borrowed */
    size_t source_count;
    char back_end[16];
    iw_sync sync;
    double skew_ns;
    uint32_t ranks_per_node, recorded_cpus; /* recorded_cpus 0: nothing is recorded */
    char cpus[256];                         /* of the recording that were used, "0,2-5"; "": all */
    double injected_share;                  /* of the time in detours, as they were made */
    double planned_share, as_recorded_share, as_recorded_event_share;
    double floor_ns;
    double skipped_share; /* of the planned time */
    uint64_t cut_short_count;
} iw_bench_injection;

/** Another run, to compare with: its means, and how much slower this one is. Slowdowns are shares: 0.043 is
 * 4.3 %. */
typedef struct iw_bench_baseline {
    char path[256];
    iw_bench_op op;
    uint64_t bytes;
    iw_estimate qtbt_ns;
    double quantum_ns;
    uint32_t ranks;
    iw_estimate slowdown;
} iw_bench_baseline;

/** Within 20 % of the simulated slowdown or within 2 points; or the measured interval is too wide to say.
 * What agrees may still be further apart than chance explains: is_beyond_chance. */
typedef enum iw_bench_agreement { IW_BENCH_UNCLEAR, IW_BENCH_AGREES, IW_BENCH_DIFFERS } iw_bench_agreement;

/** What the simulation of the same phases with the same noise says. */
typedef struct iw_bench_simulated {
    char net[64];                  /* its network */
    uint64_t trials, phases;       /* of each trial */
    double noiseless_ns, noisy_ns; /* a phase */
    iw_estimate slowdown;
    iw_estimate expected; /* where the slowdown measured by a run of so many blocks lies, 95 of 100 times */
    double difference, ratio; /* of the measured slowdown, minus and over this one */
    iw_bench_agreement agreement;
    bool is_beyond_chance; /* they differ by more than both 95 % intervals together */
} iw_bench_simulated;

typedef struct iw_bench_result {
    const iw_bench_samples *samples; /* borrowed */
    const char *command;             /* the command line, borrowed, or NULL */
    double time_scale; /* noise and quantum were stretched by this factor; all times here are divided by it */
    double quantum_ns;
    iw_bench_times times[IW_BENCH_KINDS];
    double undisturbed_ns;        /* work: mean of all ranks' 5 % quantiles in quiet phases */
    double own_share;             /* of the host's noise in quiet phases: mean qt against its 5 % quantile */
    iw_bench_injection injection; /* if some blocks have noise */
    iw_estimate slowdown;         /* phase_ns with injected noise against without; NaN: there were none */
    iw_estimate max_slowdown;     /* the same of the means of the largest qtbt of each phase: of operations
                                   * that let delays travel, it counts one again and again */
    double pair_slowdown; /* the median of those of the pairs of blocks: bursts of the host's own noise move
                           * it little; NaN: too few pairs */
    iw_bench_baseline baseline;             /* path "": none */
    iw_bench_simulated simulated;           /* trials 0: none */
    double bin_begin_ns[IW_BENCH_BINS + 1]; /* of qtbt, of both kinds */
} iw_bench_result;

/** Means, quantiles, intervals, slowdown. Times are divided by `time_scale`. IW_ERR_RANGE: no phases. */
IW_NODISCARD iw_status iw_bench_evaluate(const iw_log *log, const iw_bench_samples *samples,
                                         double time_scale, iw_bench_result **result_p);
void iw_bench_result_free(iw_bench_result *result);

/** Against a run without noise: of quiet phases (or noisy ones, if those were injected), qtbt. */
void iw_bench_set_baseline(iw_bench_result *result, const iw_bench_baseline *baseline);

/** Against a simulation; fills `agreement`. */
void iw_bench_set_simulated(iw_bench_result *result, const iw_bench_simulated *simulated);

/* ---- results as documents and files ---- */

/** Text, page, JSON of schema "idlewave.bench/2", pictures. */
iw_doc iw_bench_doc(const iw_bench_result *result);

/** A header line and one line per phase: phase,block,noise,qt_ns,bt_ns,qtbt_ns,op_ns. */
IW_NODISCARD iw_status iw_bench_write_csv(const iw_log *log, const iw_bench_samples *samples, FILE *out);

/** Reads the JSON of a result as a baseline: its quiet phases. IW_ERR_IO, IW_ERR_FORMAT. */
IW_NODISCARD iw_status iw_bench_load_baseline(const iw_log *log, const char *path,
                                              iw_bench_baseline *baseline_p);

#ifdef __cplusplus
}
#endif
#endif
