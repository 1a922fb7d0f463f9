/* What was seen of a job, as a recording with one `cpu` for each rank.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_JOB_RECORDING_H
#define IWI_JOB_RECORDING_H

#include <idlewave/log.h>
#include <idlewave/measure.h>
#include <idlewave/recording.h>
#include <idlewave/watch.h>

#include <stdbool.h>
#include <sys/types.h>

/* Times are those of CLOCK_MONOTONIC. */
struct iwi_job_seen {
    int64_t start_ns, end_ns; /* of the watching */
    int64_t clock_error_ns;
    struct iwi_job_rank *ranks; /* are sorted */
    size_t rank_count;
    const struct iwi_job_cpu *cpus;
    size_t cpu_count;
    const iw_recording *sources; /* those of the segments of `cpus`; nothing else of it counts */
    iw_attribution_level attribution;
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

/* ---- which threads belong to a job: those of processes whose environment has the job's mark, with their
 * rank ---- */

/* IDLEWAVE_TRACE_KERNEL=3:/home/me/run      rank 3 of the job that is traced into /home/me/run */

/* A rank, or: */
#define IWI_JOB_NOT INT64_C(-1)   /* of no rank */
#define IWI_JOB_OTHER INT64_C(-2) /* of the job, but no process's first thread */

enum { IWI_COMM_SIZE = 16 };

struct iwi_job_thread {
    pid_t tid; /* 0: a free place */
    char comm[IWI_COMM_SIZE];
    int64_t rank;
    bool is_told; /* the rank is known from elsewhere, and not looked up */
};

struct iwi_job_threads {
    const iw_log *log;
    const char *root; /* of /proc; "" but in tests */
    const char *job;  /* the mark, behind the rank; NULL: only those count that are told */
    struct iwi_job_thread *table;
    size_t count, capacity;
};

/* The rank of a thread that is about to run. It is looked up in /proc when it is new or has another name than
 * before: programs are started by exec. */
IW_NODISCARD iw_status iwi_job_thread_find(struct iwi_job_threads *threads, pid_t tid, const char *comm,
                                           int64_t *rank_p);

/* The first thread of a process is that rank, also when the process has ended before it could be looked up.
 */
IW_NODISCARD iw_status iwi_job_thread_tell(struct iwi_job_threads *threads, pid_t tid, int64_t rank);

/* Of a thread that ran: as it was found when it began. */
int64_t iwi_job_thread_known(const struct iwi_job_threads *threads, pid_t tid);

void iwi_job_threads_release(struct iwi_job_threads *threads);

#endif
