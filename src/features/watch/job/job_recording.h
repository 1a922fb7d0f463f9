/* What was seen of a job, as a recording with one `cpu` for each rank.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_JOB_RECORDING_H
#define IWI_JOB_RECORDING_H

#include <idlewave/measure.h>
#include <idlewave/recording.h>
#include <idlewave/watch.h>

#include <stdbool.h>

/* Times are those of CLOCK_MONOTONIC. */
struct iwi_job_seen {
    int64_t start_ns, end_ns; /* of the watching */
    int64_t clock_error_ns;
    struct iwi_job_rank *ranks; /* are sorted */
    size_t rank_count;
    const struct iwi_job_cpu *cpus;
    size_t cpu_count;
    const iw_recording *sources; /* those of the segments of `cpus`; nothing else of it counts */
    iw_rung rung;
    uint64_t lost; /* events */
};

/* IW_ERR_IO: no rank was seen. IW_ERR_NOMEM. */
IW_NODISCARD iw_status iwi_job_recording(const iw_log *log, const struct iwi_job_seen *seen,
                                         const iw_job_watch_opts *opts, iw_recording **recording_p);

/* ---- what a rank lost: from the turns of its thread, and from what else ran on its CPUs ---- */

/* A rank loses the time in which its thread could run and does not: interrupts while it has a CPU, and all
 * time between losing a CPU while runnable and getting one again. It loses nothing while it sleeps.
 */

/* Nothing of the job had the CPU, but that source. */
struct iwi_job_segment {
    int64_t start_ns, end_ns;
    uint32_t source;
};

/* Of one CPU, ascending. */
struct iwi_job_cpu {
    struct iwi_job_segment *segments;
    size_t count, capacity;
};

enum iwi_job_turn {
    IWI_JOB_LEAVES, /* but could go on */
    IWI_JOB_SLEEPS,
    IWI_JOB_RUNS,
};

struct iwi_job_run {
    int64_t at_ns;
    uint32_t place; /* number of the CPU */
    uint32_t turn;  /* enum iwi_job_turn */
};

struct iwi_job_rank {
    int64_t rank;
    struct iwi_job_run *runs; /* in any order */
    size_t count, capacity;
};

/* What a walk goes by. */
struct iwi_job_span {
    int64_t zero_ns, end_ns; /* of the watching; times of detours are those of the turns less `zero_ns` */
    uint32_t others;         /* the source of waiting time in which nothing but the job itself had the CPU; */
    /* or: such waiting is left out, and so is sleep. Then the clock stands still meanwhile, and
     * detours->length_ns is the time for which the thread ran or waited for others
     * (docs/decisions/0054-watched-time.md). */
    bool is_wanted_time;
};

/* Sorts the runs and gives the rank its detours; *own_ns_p: how long it waited for the job itself.
 * IW_ERR_NOMEM.
 */
IW_NODISCARD iw_status iwi_job_detours(const iw_log *log, struct iwi_job_rank *rank,
                                       const struct iwi_job_cpu *cpus, size_t cpu_count,
                                       const struct iwi_job_span *span, iw_detours *detours,
                                       int64_t *own_ns_p);

#endif
