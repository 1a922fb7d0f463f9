/* idlewave/timeline.h - who did what when: steps, exact or as a raster, and files of them.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Experimental: functions and structs here may change in any release.
 *
 *     iw_timeline_opts opts = IW_TIMELINE_OPTS_INIT;
 *     opts.about.ranks = 1 << 20;  opts.expected_ps = noiseless_ps;
 *     st = iw_timeline_new(log, &opts, &timeline);
 *     sim_opts.steps = iw_timeline_sink(timeline);
 *     st = iw_simulate(...);
 *     st = iw_timeline_finish(log, timeline);          only now can it be looked at
 *     st = iw_timeline_write(log, timeline, "run.h5");
 *     ...  iw_timeline_free(timeline);
 *
 * A timeline holds the raster of all ranks over the whole run, and the exact steps of a window of ranks and
 * time (all of it if it is small enough). Memory is bounded by the options, not by the run.
 */
#ifndef IW_TIMELINE_H
#define IW_TIMELINE_H

#include <stdbool.h>
#include <stdio.h>

#include <idlewave/program.h>
#include <idlewave/sim.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ======== Timelines ======== */

typedef struct iw_timeline iw_timeline;

#define IW_TIMELINE_DIMS 3

/** What is known of the run; kept in the file. */
typedef struct iw_timeline_about {
    char origin[16]; /* "simulated" or "traced" */
    char title[256]; /* what ran: the command line, or the trace's path */
    char net[64];    /* the network that was simulated; "": traced, or not known */
    uint32_t ranks;
    uint32_t dims[IW_TIMELINE_DIMS]; /* grid of the ranks, the last one fastest; {ranks, 0, 0}, and all that
                                        does not hold just the ranks: a line */
    bool is_periodic;                /* the ends of each dimension are neighbours */
    uint32_t distance;               /* d: distance of the farthest partner in ranks; 0: not known */
    uint32_t sigma;                  /* expected speed is sigma d ranks a step; 0: not known */
    iw_time noiseless_ps;            /* how long the run takes without noise and delays; 0: not known */
} iw_timeline_about;

typedef struct iw_timeline_opts {
    size_t size; /* IW_TIMELINE_OPTS_INIT */
    iw_timeline_about about;
    iw_time expected_ps;    /* about how long the run takes; a longer one makes the cells wider */
    uint32_t rows, columns; /* of the raster, at most */
    uint64_t max_steps;     /* kept exactly, at most; 0: none */
    uint32_t first_rank;    /* the window: rank_count ranks from here on, around the end */
    uint32_t rank_count;    /* 0: all */
    iw_time from_ps, to_ps; /* steps that begin in [from, to); to 0: until the end */
} iw_timeline_opts;

#define IW_TIMELINE_OPTS_INIT                                                                         \
    {                                                                                                 \
        sizeof(iw_timeline_opts), {"simulated", "", "", 0, {0, 0, 0}, false, 0, 0, 0}, 0, 2048, 2048, \
            UINT64_C(1) << 21, 0, 0, 0, 0                                                             \
    }

/** IW_ERR_RANGE (no ranks, rows or columns below 16, a window outside), IW_ERR_NOMEM. */
IW_API IW_NODISCARD iw_status iw_timeline_new(const iw_log *log, const iw_timeline_opts *opts,
                                              iw_timeline **timeline_p);
IW_API void iw_timeline_free(iw_timeline *timeline);

/** Takes the steps. What goes wrong meanwhile is told by iw_timeline_finish(). */
IW_API iw_step_sink iw_timeline_sink(iw_timeline *timeline);

/** No more steps: makes the levels of the raster. If steps did not fit into max_steps, whole ranks at the end
 *  of the window were left out, and a warning says so. IW_ERR_NOMEM. */
IW_API IW_NODISCARD iw_status iw_timeline_finish(const iw_log *log, iw_timeline *timeline);

/** about.noiseless_ps, where it is known only after the run; any time before the timeline is written. */
IW_API void iw_timeline_set_noiseless(iw_timeline *timeline, iw_time noiseless_ps);

/* ---- looking at it ---- */

IW_API const iw_timeline_about *iw_timeline_describe(const iw_timeline *timeline);

/** End of the last step of any rank. */
IW_API iw_time iw_timeline_end(const iw_timeline *timeline);

/** The exact window: number of its ranks (0: nothing exact), and the rank of the program that is its i-th. */
IW_API uint32_t iw_timeline_exact_ranks(const iw_timeline *timeline);
IW_API uint32_t iw_timeline_exact_rank(const iw_timeline *timeline, uint32_t index);

/** The other way round: where in the window a rank of the program is; false if it is not there. */
IW_API bool iw_timeline_exact_index(const iw_timeline *timeline, uint32_t rank, uint32_t *index_p);

/** Steps of the window's i-th rank, in their order; the first has number *first_step_p of its rank (from 0).
 */
IW_API const iw_step *iw_timeline_steps(const iw_timeline *timeline, uint32_t index, size_t *count_p,
                                        uint64_t *first_step_p);

/** True if the window is all ranks and all time: every step of the run is there. */
IW_API bool iw_timeline_is_whole(const iw_timeline *timeline);

/** One level of the raster. Level 0 is the finest; each next one has half the rows and columns (rounded up).
 *  Row r holds ranks r * ranks_per_row and on, column c the time from c * bin_ps on.
 *  mean[state][r * columns + c]: share of the cell's time that its ranks spent in `state`, of all;
 *  max[state][...]: the largest such share of a single rank, in cells of level 0. 65535 is all of the time.
 *  Time after a rank's end belongs to no state. */
typedef struct iw_raster {
    uint32_t rows, columns, ranks_per_row;
    iw_time bin_ps;
    const uint16_t *mean[IW_STATES], *max[IW_STATES];
} iw_raster;

IW_API size_t iw_timeline_level_count(const iw_timeline *timeline);
IW_API iw_raster iw_timeline_level(const iw_timeline *timeline, size_t level);

/* ---- files ---- */

/** HDF5, docs/reference/formats/timeline.md. IW_ERR_IO, IW_ERR_UNSUPPORTED (built without HDF5). */
IW_API IW_NODISCARD iw_status iw_timeline_write(const iw_log *log, const iw_timeline *timeline,
                                                const char *path);

/** A file of iw_timeline_write(). IW_ERR_IO, IW_ERR_FORMAT, IW_ERR_TRUNCATED, IW_ERR_NOMEM. */
IW_API IW_NODISCARD iw_status iw_timeline_read(const iw_log *log, const char *path, iw_timeline **timeline_p);

/** By a look at the path: an HDF5 file of iw_timeline_write(). */
IW_API bool iw_timeline_is_file(const char *path);

/** Steps of a traced run (anything that iw_trace_open() takes), from its time stamps. A step begins where a
 *  rank computes for at least `gap_ps` between two MPI calls; 0: chosen from the gaps themselves.
 *  opts->about.origin becomes "traced", ranks are those of the trace, and so are title and expected_ps where
 *  they are empty. Errors as iw_trace_open(). */
IW_API IW_NODISCARD iw_status iw_timeline_from_trace(const iw_log *log, const char *path, iw_time gap_ps,
                                                     const iw_timeline_opts *opts, iw_timeline **timeline_p);

/** What of the exact window is exported: ranks first_rank ... + rank_count - 1 (0: all of the window), steps
 *  that touch [from, to) (to 0: until the end). */
typedef struct iw_timeline_window {
    uint32_t first_rank, rank_count;
    iw_time from_ps, to_ps;
} iw_timeline_window;

/** Chrome's trace-event JSON, for ui.perfetto.dev: a thread a rank, a slice a state. */
IW_API IW_NODISCARD iw_status iw_timeline_write_perfetto(const iw_log *log, const iw_timeline *timeline,
                                                         const iw_timeline_window *window, FILE *out);

/** An OTF2 archive in the new folder `path`: a location a rank, a region a state. */
IW_API IW_NODISCARD iw_status iw_timeline_write_otf2(const iw_log *log, const iw_timeline *timeline,
                                                     const iw_timeline_window *window, const char *path);

/* ======== Traced runs ========
 * A traced run at a glance: how long, how much of it in MPI, in which functions.
 */

/** One MPI function, over all ranks. */
typedef struct iw_trace_function {
    char name[32];
    uint64_t calls;
    uint64_t bytes; /* that the calls send; of collectives, the data of each rank */
    iw_time time_ps;
} iw_trace_function;

/** Times are by the wall clock, from the end of MPI_Init to MPI_Finalize. */
typedef struct iw_trace_summary {
    char origin[16]; /* as iw_trace_info has it */
    uint32_t ranks;
    iw_time run_ps;                           /* from the first rank's begin to the last one's end */
    bool is_training;                         /* a run of training: collectives, not MPI */
    double mpi_share;                         /* of the time of all ranks, polls included */
    double mpi_least, mpi_most;               /* of single ranks */
    iw_time compute_mean_ps, compute_most_ps; /* outside of MPI, of single ranks */
    uint32_t most_rank;                       /* which computes longest */
    uint64_t calls, bytes;
    uint32_t threaded_ranks, threaded_rank,
        threads;                  /* that call from several threads; the first, and how many */
    iw_trace_function *functions; /* the most time first */
    size_t function_count;
} iw_trace_summary;

IW_API IW_NODISCARD iw_status iw_trace_summarize(const iw_log *log, const iw_trace *trace,
                                                 iw_trace_summary **summary_p);
IW_API void iw_trace_summary_free(iw_trace_summary *summary);

/** As iw_timeline_from_trace(), of a trace that is open; `name` is for messages and the title. */
IW_API IW_NODISCARD iw_status iw_timeline_of_trace(const iw_log *log, const iw_trace *trace, const char *name,
                                                   iw_time gap_ps, const iw_timeline_opts *opts,
                                                   iw_timeline **timeline_p);

#ifdef __cplusplus
}
#endif
#endif
