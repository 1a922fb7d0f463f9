/* Which threads belong to a job: those of processes whose environment has the job's mark, with their rank.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *     IDLEWAVE_TRACE_KERNEL=3:/home/me/run      rank 3 of the job that is traced into /home/me/run
 */
#ifndef IWI_JOB_THREADS_H
#define IWI_JOB_THREADS_H

#include <sys/types.h>

#include <idlewave/log.h>

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
