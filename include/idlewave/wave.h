/* idlewave/wave.h - idle waves in a timeline: fronts, speed, decay, where they end.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Experimental: functions and structs here may change in any release.
 *
 *     iw_wave_opts opts = IW_WAVE_OPTS_INIT;
 *     st = iw_waves_find(log, timeline, &opts, &waves);
 *     ...  iw_waves_free(waves);
 *
 * A delay makes one wave in each direction in which somebody waits for it. It is followed from rank to rank
 * along one dimension of the grid, in the exact window of the timeline. docs/explanation/waves.md has the
 * rules.
 */
#ifndef IW_WAVE_H
#define IW_WAVE_H

#include <stdbool.h>
#include <stdio.h>

#include <idlewave/doc.h>
#include <idlewave/estimate.h>
#include <idlewave/timeline.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum iw_wave_end {
    IW_WAVE_RUNS,    /* it is still there at the end of the run */
    IW_WAVE_BORDER,  /* reached the end of an open chain of ranks */
    IW_WAVE_ORIGIN,  /* came back around to the rank where it began */
    IW_WAVE_MET,     /* met another wave at least as strong, or a rank that is as late by itself */
    IW_WAVE_DECAYED, /* too weak to be told from ordinary waiting */
    IW_WAVE_WINDOW,  /* left the window of ranks that is known exactly */
    IW_WAVE_SYNCED   /* a collective: most ranks waited for it in one step, nobody is late any more */
} iw_wave_end;

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
    /* Values of this wave, with 95 % intervals for the law of such waves: the mean of many in the same
     * program, noise and direction. Ends are NaN for two points; a speed may have no upper limit, INFINITY.
     */
    iw_estimate speed;                 /* of the leading edge, ranks/s */
    iw_estimate trail_speed;           /* of the trailing edge */
    iw_estimate ranks_per_step;        /* speed x period */
    iw_estimate decay_s;               /* idle time lost per rank, seconds per rank */
    size_t speed_points, decay_points; /* steps and ranks that they are means over */
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

/** In the terminal: `columns` x `lines` characters, two rows of ranks a line, in colour if there is. */
IW_API IW_NODISCARD iw_status iw_timeline_write_terminal(const iw_log *log, const iw_timeline *timeline,
                                                         const iw_waves *waves,
                                                         const iw_timeline_window *window, uint32_t columns,
                                                         uint32_t lines, bool has_colour, FILE *out);

/** As iw_noise_plot(). */
IW_API IW_NODISCARD iw_status iw_timeline_plot(const iw_log *log, const iw_timeline *timeline,
                                               const iw_waves *waves, const iw_timeline_window *window,
                                               const char *path);

/* ---- traced runs ---- */

/** True if a wave was followed over at least 3 ranks: fewer show no direction and no speed. */
IW_API bool iw_waves_are_followed(const iw_waves *waves);

typedef struct iw_traced_run {
    const iw_trace_summary *summary; /* of a page NULL: a timeline that is no trace */
    const iw_waves *waves;           /* NULL: nobody looked for them */
} iw_traced_run;

/** The run, its functions, then waves if they are followed. CSV has a line for each function. */
IW_API iw_doc iw_traced_run_doc(const iw_traced_run *run);

/** One page that needs nothing from elsewhere: zoom, pan, fronts and fits over it; with a summary the run and
 * its functions. */
IW_API IW_NODISCARD iw_status iw_traced_run_write_html(const iw_log *log, const iw_traced_run *run,
                                                       const iw_timeline *timeline, const char *name,
                                                       FILE *out);

#ifdef __cplusplus
}
#endif
#endif
