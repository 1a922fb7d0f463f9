/* idlewave/trace.h - traces of MPI programs, and the programs made of them. docs/reference/formats/trace.md.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *     iw_trace *trace;
 *     st = iw_trace_open(log, "run/traces.otf2", &trace);
 *     iw_trace_opts opts = IW_TRACE_OPTS_INIT;
 *     opts.ranks = 32768;
 *     st = iw_program_from_trace(log, trace, &opts, &program);
 *     ...  iw_program_free(program);  iw_trace_free(trace);
 */
#ifndef IW_TRACE_H
#define IW_TRACE_H

#include <idlewave/program.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iw_trace iw_trace;

/** Opens an OTF2 anchor file (or the folder it is in), or a set of liballprof text files (the file of any
 *  rank, or their folder); told apart by content. Reads all of it. What the trace lacks and could not be
 *  reconstructed is logged as warnings, once for each kind, with the first place and the number of cases.
 *  IW_ERR_IO, IW_ERR_FORMAT (with file, rank and number of the event), IW_ERR_TRUNCATED
 *  (also what a run left that did not end), IW_ERR_UNSUPPORTED (built without OTF2; a format of other tools),
 *  IW_ERR_NOMEM. */
IW_API IW_NODISCARD iw_status iw_trace_open(const iw_log *log, const char *path, iw_trace **trace_p);
IW_API void iw_trace_free(iw_trace *trace);

/** True if `path` looks like a trace. It may still be damaged, left by a run that did not end, or of a format
 *  that is not read: iw_trace_open() says so, and what to do. */
IW_API bool iw_trace_is_trace(const char *path);

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
} iw_trace_info;

IW_API void iw_trace_describe(const iw_trace *trace, iw_trace_info *info_p);

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

/** How a trace becomes a program. */
typedef struct iw_trace_opts {
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
} iw_trace_opts;

#define IW_TRACE_OPTS_INIT                                                                                 \
    {                                                                                                      \
        .ranks = 0, .rules = "paper", .algorithms = NULL, .drops_p2p = false, .drops_collectives = false,  \
        .compute_scale = 1, .clock = IW_COMPUTE_AUTO, .reduce = 0, .replica_compute = IW_REPLICA_RESAMPLE, \
        .replica_seed = 1                                                                                  \
    }

/** A program of `trace`, which it borrows: free the trace after the program. Messages and collectives are
 *  generated while it runs, never stored (docs/explanation/extrapolation.md says what is replicated how).
 *  IW_ERR_USAGE (unknown rules or algorithm: the known ones are logged), IW_ERR_RANGE (ranks is no multiple),
 *  IW_ERR_FORMAT (ranks disagree on their collectives: logged with rank and call). */
IW_API IW_NODISCARD iw_status iw_program_from_trace(const iw_log *log, const iw_trace *trace,
                                                    const iw_trace_opts *opts, iw_program **program_p);

/** What is told of the traced run beside a prediction. */
typedef struct iw_traced {
    uint32_t ranks, replicas;
    iw_time run_ps;   /* by the wall clock, from the first rank's begin to the last one's end */
    double mpi_share; /* of the time of all ranks */
    double cpu_share; /* CPU time of the time between calls; NaN: the trace has no CPU times */
    bool is_by_cpu;   /* computation is predicted as CPU time */
    bool has_p2p;     /* point-to-point messages are simulated */
    iw_replica_compute replica_compute;
} iw_traced;

/** For a program made with these options. IW_ERR_NOMEM. */
IW_API IW_NODISCARD iw_status iw_trace_recall(const iw_log *log, const iw_trace *trace,
                                              const iw_trace_opts *opts, iw_traced *traced_p);

/** The rule sets, for help texts; NULL past the last. */
IW_API const char *iw_rules_name(size_t index);

#ifdef __cplusplus
}
#endif
#endif
