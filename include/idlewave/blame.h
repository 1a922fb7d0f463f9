/* idlewave/blame.h - why a run was slow: what the operating system took from its ranks, and what came of it.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Experimental: functions and structs here may change in any release.
 *
 *     mpirun -n 64 idlewave trace --kernel -o run -- ./app
 *
 *     iw_trace *trace;
 *     iw_recording **kernel;
 *     size_t count;
 *     iw_blame *blame;
 *     st = iw_trace_open(log, "run/traces.otf2", &trace);
 *     st = iw_blame_load(log, "run", &kernel, &count);
 *     st = iw_blame_run(log, "run", trace, (const iw_recording *const *)kernel, count, &blame);
 */
#ifndef IW_BLAME_H
#define IW_BLAME_H

#include <stdbool.h>

#include <idlewave/doc.h>
#include <idlewave/estimate.h>
#include <idlewave/program.h>
#include <idlewave/recording.h>
#include <idlewave/remedy.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { IW_BLAME_CALL_SIZE = 32, IW_BLAME_COMM_SIZE = 64, IW_BLAME_SOURCE_SIZE = IW_SOURCE_NAME_SIZE + 16 };

/** One source of detours. Times in ns. */
typedef struct iw_blame_source {
    char name[IW_BLAME_SOURCE_SIZE]; /* "thread/cron" */
    iw_class kind;
    uint64_t detours;        /* that it had a part in, on all ranks */
    double lost_ns;          /* by all ranks together */
    double absorbed_ns;      /* of that, while the rank waited anyway */
    uint64_t path_detours;   /* on the critical path */
    double path_ns;          /* of the critical path */
    iw_estimate saving_ns;   /* of the run, had it not been there; low and high: 95 % for another run */
    const iw_remedy *remedy; /* NULL: none is known */
} iw_blame_source;

/** Where delays were felt: the calls in which ranks waited for a delayed one, or that were prolonged. */
typedef struct iw_blame_call {
    char name[IW_BLAME_CALL_SIZE]; /* "MPI_Allreduce"; "end" for the end of the run */
    uint32_t comm, comm_size;
    char comm_name[IW_BLAME_COMM_SIZE]; /* "world", as the program calls it, or "communicator 3" */
    uint64_t delays;
    double lost_ns;                     /* of the critical path */
    char largest[IW_BLAME_SOURCE_SIZE]; /* the source that took most of it */
} iw_blame_call;

/** One detour on the critical path. */
typedef struct iw_blame_hit {
    char source[IW_BLAME_SOURCE_SIZE];
    uint32_t rank;   /* that lost the time */
    double at_ns;    /* since the run began */
    double lost_ns;  /* of the critical path */
    bool is_in_call; /* inside of the call, else while computing before it */
    char call[IW_BLAME_CALL_SIZE];
    uint64_t iteration; /* how often that rank had made this call on this communicator, this one included */
    uint32_t comm, comm_size; /* of the call */
    uint32_t waiter;          /* the rank that waited for it; `rank` itself: it was the last to end */
    char waited_in[IW_BLAME_CALL_SIZE];
    uint64_t waiter_iteration;
} iw_blame_hit;

typedef struct iw_blame {
    char *name; /* of the run */
    uint32_t ranks, watched_ranks;
    uint64_t calls;
    double run_ns; /* from the end of the first MPI_Init to the end of the last rank */
    double path_computing_ns, path_calls_ns,
        path_lost_ns;    /* of the critical path, which is as long as the run */
    uint64_t path_jumps; /* from a rank that waited to the one it waited for */
    uint32_t last_rank;
    iw_estimate without_all_ns; /* the run without any of the sources */
    double unexplained_share;   /* of the run's computing: slower than the same computation at its best, no
                                   detour seen */
    uint64_t unordered; /* waits that ended before what they waited for began, by the clocks: not followed */
    char attribution[16];
    double clock_error_ns;
    uint64_t events_lost;
    size_t source_count, call_count, hit_count;
    iw_blame_source *sources; /* the largest saving first */
    iw_blame_call *by_call;   /* the largest loss first */
    iw_blame_hit *hits;       /* the largest first */
} iw_blame;

/** The recordings that `trace --kernel` left in the folder of a trace. IW_ERR_IO: there is none; what to do
 * is logged. To be freed by iw_recordings_free(). */
IW_API IW_NODISCARD iw_status iw_blame_load(const iw_log *log, const char *folder, iw_recording ***kernel_p,
                                            size_t *count_p);

/** Lays what ranks lost upon what they did. IW_ERR_UNSUPPORTED: the trace does not say when it began by
 * CLOCK_MONOTONIC, or recordings are of something else. */
IW_API IW_NODISCARD iw_status iw_blame_run(const iw_log *log, const char *name, const iw_trace *trace,
                                           const iw_recording *const *kernel, size_t count,
                                           iw_blame **blame_p);
IW_API void iw_blame_free(iw_blame *blame);

IW_API iw_doc iw_blame_doc(const iw_blame *blame);

#ifdef __cplusplus
}
#endif
#endif
