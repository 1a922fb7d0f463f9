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

#include <idlewave/doc.h>
#include <idlewave/program.h>
#include <idlewave/result.h>
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

#define IW_TIMELINE_OPTS_INIT                                                                     \
    {                                                                                             \
        sizeof(iw_timeline_opts), {"simulated", "", 0, {0, 0, 0}, false, 0, 0, 0}, 0, 2048, 2048, \
            UINT64_C(1) << 21, 0, 0, 0, 0                                                         \
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

/* ======== Waves ========
 * Idle waves in a timeline: fronts, speed, decay, where they end.
 *
 *     iw_wave_opts opts = IW_WAVE_OPTS_INIT;
 *     st = iw_waves_find(log, timeline, &opts, &waves);
 *     ...  iw_waves_free(waves);
 *
 * A delay makes one wave in each direction in which somebody waits for it. It is followed from rank to rank
 * along one dimension of the grid, in the exact window of the timeline. docs/explanation/waves.md has the
 * rules.
 */

typedef enum iw_wave_end {
    IW_WAVE_RUNS,    /* it is still there at the end of the run */
    IW_WAVE_BORDER,  /* reached the end of an open chain of ranks */
    IW_WAVE_ORIGIN,  /* came back around to the rank where it began */
    IW_WAVE_MET,     /* met another wave at least as strong, or a rank that is as late by itself */
    IW_WAVE_DECAYED, /* too weak to be told from ordinary waiting */
    IW_WAVE_WINDOW,  /* left the window of ranks that is known exactly */
    IW_WAVE_SYNCED   /* a collective: most ranks waited for it in one step, nobody is late any more */
} iw_wave_end;

IW_API const char *iw_wave_end_text(iw_wave_end end);

/** The wave on one rank. */
typedef struct iw_front {
    uint32_t rank;
    uint32_t distance; /* from the origin, in ranks along the dimension */
    uint64_t step;     /* in which it arrives; from 0, here and below */
    iw_time lead_ps;   /* idle time begins */
    iw_time trail_ps;  /* and ends, maybe several steps later */
    iw_time idle_ps;   /* waiting beyond the ordinary in between */
} iw_front;

typedef struct iw_wave {
    uint32_t origin_rank;
    uint64_t origin_step;
    iw_time delay_ps; /* that began it: injected, or computation beyond the ordinary */
    uint32_t dimension;
    int direction;    /* +1: towards higher ranks; -1 */
    iw_front *fronts; /* by distance, 1 and on */
    size_t front_count;
    iw_estimate speed;                 /* of the leading edge, ranks/s */
    iw_estimate trail_speed;           /* of the trailing edge */
    iw_estimate ranks_per_step;        /* speed x period */
    iw_estimate decay_s;               /* idle time lost per rank, seconds per rank */
    size_t speed_points, decay_points; /* steps and ranks that the lines go through */
    iw_wave_end end;
    uint32_t end_rank; /* the last one that it reached */
    iw_time end_ps;    /* when it did */
    int met;           /* index of the other wave, or -1 */
} iw_wave;

/** How far apart the ranks are, step by step. */
typedef struct iw_desync {
    uint64_t step;
    iw_time spread_ps;    /* last minus first begin of this step */
    iw_time deviation_ps; /* standard deviation of the begins */
    double order;         /* |mean of exp(2 pi i begin / period)|: 1 in step, 0 spread evenly */
} iw_desync;

typedef struct iw_waves {
    iw_timeline_about about;                /* of the timeline */
    uint32_t exact_ranks, first_exact_rank; /* of which all steps are known, in a window or all */
    bool is_whole;                          /* all steps of all ranks are known exactly */
    iw_wave *waves;
    size_t wave_count;
    iw_time exec_ps;      /* ordinary computation of a step */
    iw_time comm_ps;      /* ordinary rest of a step: messages and waiting */
    iw_time period_ps;    /* exec + comm */
    iw_time threshold_ps; /* waiting beyond the ordinary by more than this is idle time of a wave */
    iw_time least_delay_ps;
    size_t delay_count;    /* of at least that length */
    size_t quiet_count;    /* of these, nobody waited for */
    double expected_speed; /* sigma d / period, ranks/s; 0: sigma or d is not known */
    /* against the same run without noise; NaN where it is not known: */
    double silent_period_s;  /* length of its steps */
    double silent_speed;     /* sigma d / silent period, ranks/s: v_silent of the paper */
    double noise_s;          /* that a rank has in a step, in the mean; 0 in silent runs */
    double growth;           /* by how much of that steps ahead of the waves are longer than silent ones */
    double expected_decay_s; /* (growth - 1) noise / (sigma d), seconds per rank */
    iw_time joined_below_ps; /* steps with less computation are part of the one before; 0: there are none */
    iw_time makespan_ps;
    iw_desync *desync;
    size_t desync_count;
} iw_waves;

/** Delays that sent waves. */
IW_API size_t iw_waves_origins(const iw_waves *waves);

typedef struct iw_wave_opts {
    size_t size;              /* IW_WAVE_OPTS_INIT */
    iw_time threshold_ps;     /* 0: chosen */
    iw_time least_delay_ps;   /* shorter delays begin no wave; 0: chosen */
    uint32_t distance, sigma; /* 0: as the timeline says */
    bool is_periodic; /* the ends of each dimension are neighbours, also where the timeline does not say so */
    size_t max_waves;
} iw_wave_opts;

#define IW_WAVE_OPTS_INIT                           \
    {                                               \
        sizeof(iw_wave_opts), 0, 0, 0, 0, false, 64 \
    }

/** IW_ERR_UNSUPPORTED: nothing exact in the timeline, or fewer than 3 steps. IW_ERR_RANGE: opts->distance is
 * above half of the ranks. IW_ERR_NOMEM. */
IW_API IW_NODISCARD iw_status iw_waves_find(const iw_log *log, const iw_timeline *timeline,
                                            const iw_wave_opts *opts, iw_waves **waves_p);
IW_API void iw_waves_free(iw_waves *waves);

IW_API iw_doc iw_waves_doc(const iw_waves *waves);

/* ---- pictures; `waves` may be NULL: none drawn; `window` too: all is shown ---- */

/** One page that needs nothing from elsewhere: zoom, pan, fronts and fits over it. */
IW_API IW_NODISCARD iw_status iw_timeline_write_html(const iw_log *log, const iw_timeline *timeline,
                                                     const iw_waves *waves, const char *name, FILE *out);

/** In the terminal: `columns` x `lines` characters, two rows of ranks a line, in colour if there is. */
IW_API IW_NODISCARD iw_status iw_timeline_write_terminal(const iw_log *log, const iw_timeline *timeline,
                                                         const iw_waves *waves,
                                                         const iw_timeline_window *window, uint32_t columns,
                                                         uint32_t lines, bool has_colour, FILE *out);

/** As iw_noise_plot(). */
IW_API IW_NODISCARD iw_status iw_timeline_plot(const iw_log *log, const iw_timeline *timeline,
                                               const iw_waves *waves, const iw_timeline_window *window,
                                               const char *path);

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

/** True if a wave was followed over at least 3 ranks: fewer show no direction and no speed. */
IW_API bool iw_waves_are_followed(const iw_waves *waves);

typedef struct iw_traced_run {
    const iw_trace_summary *summary;
    const iw_waves *waves; /* NULL: nobody looked for them */
} iw_traced_run;

/** The run, its functions, then waves if they are followed. CSV has a line for each function. */
IW_API iw_doc iw_traced_run_doc(const iw_traced_run *run);

/** The page of iw_timeline_write_html(), with the run and its functions. */
IW_API IW_NODISCARD iw_status iw_traced_run_write_html(const iw_log *log, const iw_traced_run *run,
                                                       const iw_timeline *timeline, const char *name,
                                                       FILE *out);

#ifdef __cplusplus
}
#endif
#endif
