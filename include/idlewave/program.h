/* idlewave/program.h - what the ranks run: a generated pattern, a stored schedule, or a traced run.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *     iw_pattern p = IW_PATTERN_INIT;
 *     p.ranks = 1 << 20;  p.bytes = 8;
 *     st = iw_program_from_pattern(log, "allreduce:dissemination", &p, &program);
 *     ...  iw_program_free(program);
 *
 * A program is immutable and may be shared by threads.
 */
#ifndef IW_PROGRAM_H
#define IW_PROGRAM_H

#include <stdbool.h>

#include <idlewave/net.h>
#include <idlewave/time.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ======== Programs ======== */

typedef struct iw_program iw_program;

#define IW_MAX_DIMS 3

/** One delay: `time_ps` of extra work on `rank` in compute phase `step` (the first is 1). */
typedef struct iw_delay {
    uint32_t rank;
    uint64_t step;
    iw_time time_ps;
} iw_delay;

/** Everything about a pattern but its operations. */
typedef struct iw_pattern {
    size_t size; /* IW_PATTERN_INIT */
    uint32_t ranks;
    uint64_t bytes;         /* size of each rank's data, as MPI's count x type */
    uint64_t segment_bytes; /* pipelined algorithms cut messages into these; 0: not cut */
    uint32_t root;
    uint64_t repeat;       /* the operations are run so often */
    iw_time compute_ps;    /* work on every rank before each repetition */
    iw_fs_per_byte reduce; /* CPU time of a reduction per byte */
    /* halo and sweep patterns only */
    uint32_t dims[IW_MAX_DIMS]; /* 0: chosen as square as possible */
    uint32_t distance;          /* halo1d: partners up to this far */
    bool is_periodic;
    bool is_one_way;        /* halo: send to the higher, receive from the lower neighbour only */
    bool is_split;          /* halo: one wait for each direction instead of one for all */
    const iw_delay *delays; /* borrowed until the constructor returns */
    size_t delay_count;
    iw_nodes nodes;    /* algorithms that use nodes need them; iw_net_nodes() */
    const char *rules; /* who chooses where OP has no ALGORITHM: "mpich", ... as of traces; NULL: the first */
    uint64_t compute_bytes; /* that each compute phase moves between its core and the memory of its domain */
} iw_pattern;

#define IW_PATTERN_INIT                                                                     \
    {                                                                                       \
        sizeof(iw_pattern), 2, 1, 0, 0, 1, 0, 0, {0, 0, 0}, 1, true, false, false, NULL, 0, \
            {0, IW_PLACEMENT_BLOCK, {0, 0, NULL}}, NULL, 0                                  \
    }

/** `work` times as much computation, in time and in bytes, both rounded to the nearest. */
IW_API void iw_pattern_scale_work(iw_pattern *pattern, double work);

/** `operations`: one or more OP[:ALGORITHM] joined by "+", run in this order in each repetition:
 *  "barrier", "halo2d+allreduce:ring". IW_ERR_USAGE (unknown name: the known ones are logged), IW_ERR_RANGE.
 */
IW_API IW_NODISCARD iw_status iw_program_from_pattern(const iw_log *log, const char *operations,
                                                      const iw_pattern *pattern, iw_program **program_p);

IW_API void iw_program_free(iw_program *program);

IW_API uint32_t iw_program_ranks(const iw_program *program);

/** Messages of one run. */
IW_API uint64_t iw_program_messages(const iw_program *program);

/** What the first halo of a pattern was made of, in *halo_p, begun with IW_PATTERN_INIT: dims as chosen
 * ({ranks, 0, 0} of halo1d, the last one fastest); its delays are left out. *is_alone_p: nothing else runs.
 * False: there is no halo. */
IW_API bool iw_program_halo(const iw_program *program, iw_pattern *halo_p, bool *is_alone_p);

/** Delays for a stored schedule (patterns carry theirs): step n is the rank's n-th calc. Copies the array. */
IW_API IW_NODISCARD iw_status iw_program_set_delays(const iw_log *log, iw_program *program,
                                                    const iw_delay *delays, size_t count);

/** The registry, for help texts: fills name and summary of algorithm `index`; false past the last.
 *  `op` is "allreduce", `algorithm` "ring"; the first algorithm of an op is its default. */
IW_API bool iw_algorithm_info(size_t index, const char **op_p, const char **algorithm_p,
                              const char **summary_p);

/* ======== Traces ========
 * Recorded calls of MPI programs, and the programs made of them; docs/reference/formats/trace.md.
 *
 *     iw_trace *trace;
 *     st = iw_trace_open(log, "run/traces.otf2", &trace);
 *     iw_trace_opts opts = IW_TRACE_OPTS_INIT;
 *     opts.ranks = 32768;
 *     st = iw_program_from_trace(log, trace, &opts, &program);
 *     ...  iw_program_free(program);  iw_trace_free(trace);
 */

typedef struct iw_trace iw_trace;

IW_API void iw_trace_free(iw_trace *trace);

/** What is in it. */
typedef struct iw_trace_info {
    const char *origin; /* "idlewave", "eztrace", "scorep", "liballprof", "otf2" */
    uint32_t ranks;
    uint64_t calls, sends, receives, collectives, waits, opaque; /* of all ranks */
    uint64_t communicators;                                      /* world included */
    bool has_cpu_time;                                           /* compute time is also known as CPU time */
    iw_time wall_ps;                                             /* longest rank, first call to last */
    iw_time compute_wall_ps, compute_cpu_ps;                     /* sums over ranks */
    iw_time compute_timed_ps; /* of compute_wall_ps, what compute_cpu_ps is known of */
    uint32_t threaded_ranks;  /* that call MPI from several threads, whose calls are put into one sequence */
    bool is_on_gpus;          /* a run of training whose ranks compute and communicate on GPUs */
} iw_trace_info;

typedef enum iw_compute_clock {
    IW_COMPUTE_AUTO, /* CPU time where the trace has it */
    IW_COMPUTE_WALL, /* the noise of the traced run stays in */
    IW_COMPUTE_CPU   /* time that others had the CPU is taken out */
} iw_compute_clock;

/** What replicas of the traced ranks compute (docs/explanation/extrapolation.md). */
typedef enum iw_replica_compute {
    IW_REPLICA_RESAMPLE, /* drawn from what the rank that they replicate did: imbalance grows with ranks */
    IW_REPLICA_COPY      /* as the rank that they replicate, phase by phase */
} iw_replica_compute;

/** "resample", "copy". */
IW_API const char *iw_replica_compute_name(iw_replica_compute compute);

/** Where nonblocking collectives of a trace go on (docs/explanation/semantics.md, 4). */
typedef enum iw_async {
    IW_ASYNC_WAIT,  /* in the wait that completes them */
    IW_ASYNC_CALLS, /* in every call of their rank */
    IW_ASYNC_THREAD /* at any time, by a thread on a CPU of its own */
} iw_async;

/** How a trace becomes a program. */
typedef struct iw_trace_opts {
    size_t size;       /* IW_TRACE_OPTS_INIT */
    uint32_t ranks;    /* 0: as traced; else a multiple of the traced number: replicas */
    const char *rules; /* "ompi-4.1", "mpich", "nccl-ring", "paper"; or the path of an Open MPI rules file */
    const char *const
        *algorithms; /* "allreduce=ring", "bcast>64KiB=pipeline": before the rules; NULL-ended, or NULL */
    bool drops_p2p, drops_collectives;
    double compute_scale; /* compute times are multiplied by it */
    iw_compute_clock clock;
    iw_fs_per_byte reduce; /* CPU time of a reduction per byte */
    iw_replica_compute replica_compute;
    uint64_t replica_seed; /* of what is drawn; it says nothing about noise */
    iw_nodes nodes;        /* of all ranks; rule sets then choose algorithms that use them */
    iw_async async; /* but IW_ASYNC_WAIT: a trace with nonblocking collectives is stored message by message */
    const char *grow; /* groups with this in their name span all replicas; NULL: those of data parallelism */
} iw_trace_opts;

#define IW_TRACE_OPTS_INIT                                                                                   \
    {                                                                                                        \
        sizeof(iw_trace_opts), 0, "paper", NULL, false, false, 1.0, IW_COMPUTE_AUTO, 0, IW_REPLICA_RESAMPLE, \
            1, {0, IW_PLACEMENT_BLOCK, {0, 0, NULL}}, IW_ASYNC_WAIT, NULL                                    \
    }

/** What is told of the traced run beside a prediction. */
typedef struct iw_traced {
    uint32_t ranks, replicas;
    iw_time run_ps;   /* by the wall clock, from the first rank's begin to the last one's end */
    double mpi_share; /* of the time of all ranks; of a run of training, in collectives */
    double cpu_share; /* CPU time of the time between calls; NaN: the trace has no CPU times */
    bool is_by_cpu;   /* computation is predicted as CPU time */
    bool has_p2p;     /* point-to-point messages are simulated */
    iw_replica_compute replica_compute;
    bool is_training;      /* a run of training, not of MPI */
    uint32_t fixed_groups; /* communicators of several, not all ranks, whose size stays when ranks multiply */
    char lost[160];        /* what the tracer says is missing: "the run died; ..."; "": nothing */
    uint64_t opaque;       /* MPI calls that are not simulated: one-sided communication, files, ... */
} iw_traced;

/** The rule sets, for help texts; NULL past the last. */
IW_API const char *iw_rules_name(size_t index);

#ifdef __cplusplus
}
#endif
#endif
