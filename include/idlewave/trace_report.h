/* idlewave/trace_report.h - a traced run at a glance: how long, how much of it in MPI, in which functions.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_TRACE_REPORT_H
#define IW_TRACE_REPORT_H

#include <stdio.h>

#include <idlewave/timeline.h>
#include <idlewave/trace.h>
#include <idlewave/wave.h>

#ifdef __cplusplus
extern "C" {
#endif

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

/** The run in a few lines, its functions, then waves if they are followed. `timeline` and `waves` may be
 * NULL. */
IW_API IW_NODISCARD iw_status iw_trace_write_text(const iw_log *log, const iw_trace_summary *summary,
                                                  const iw_timeline *timeline, const iw_waves *waves,
                                                  FILE *out);

/** The page of iw_timeline_write_html(), with the run and its functions before the picture. */
IW_API IW_NODISCARD iw_status iw_trace_write_html(const iw_log *log, const iw_trace_summary *summary,
                                                  const iw_timeline *timeline, const iw_waves *waves,
                                                  const char *name, FILE *out);

#ifdef __cplusplus
}
#endif
#endif
