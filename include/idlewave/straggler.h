/* idlewave/straggler.h - what a training job lost because its workers were not alike.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Experimental: functions and structs here may change in any release.
 *
 *     iw_straggler_job *job;
 *     iw_stragglers *result;
 *     st = iw_straggler_load(log, "timeline.json.gz", NULL, NULL, &job);
 *     st = iw_straggler_run(log, job, &result);
 *     ...  iw_stragglers_free(result);  iw_straggler_job_free(job);
 *
 * A job is a timeline of pipelined training: when each worker computed, and how long each transfer took once
 * all had come. It is replayed with some of these times replaced by the usual ones. The rules are in
 * docs/reference/formats/stragglers.md.
 */
#ifndef IW_STRAGGLER_H
#define IW_STRAGGLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <idlewave/doc.h>
#include <idlewave/log.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A traced job in memory. */
typedef struct iw_straggler_job iw_straggler_job;

/** Reads a timeline, plain or gzipped. `meta` is the file of sizes that comes with it, `left_out` steps not
 * to look at, as "31,32" or "0-15"; both may be NULL. IW_ERR_IO, IW_ERR_FORMAT, IW_ERR_TRUNCATED,
 * IW_ERR_USAGE (of left_out), IW_ERR_UNSUPPORTED (built without yajl), IW_ERR_NOMEM. */
IW_API IW_NODISCARD iw_status iw_straggler_load(const iw_log *log, const char *path, const char *meta,
                                                const char *left_out, iw_straggler_job **job_p);
IW_API void iw_straggler_job_free(iw_straggler_job *job);

enum { IW_STRAGGLER_NAME_SIZE = 64 };

/** A kind of operation. */
typedef struct iw_straggler_kind {
    char name[IW_STRAGGLER_NAME_SIZE]; /* "forward-compute" */
    uint64_t count;
    double usual_ns; /* the mean of what is computed, the median of what is transferred */
    double factor;   /* of a step in which only this kind takes its traced times, all else the usual ones */
} iw_straggler_kind;

/** A stage, or a replica. */
typedef struct iw_straggler_place {
    uint32_t number;
    double factor; /* of a step in which only this one takes its traced times */
} iw_straggler_place;

/** One rank of the timeline. */
typedef struct iw_straggler_worker {
    uint32_t rank, replica, stage;
    double factor; /* the lesser of its stage's and its replica's */
} iw_straggler_worker;

/** Something made alike, all else as traced. */
typedef struct iw_straggler_cause {
    char name[IW_STRAGGLER_NAME_SIZE]; /* "stages" */
    double without_ns;                 /* mean step then */
    double share;                      /* of what was lost */
} iw_straggler_cause;

typedef struct iw_straggler_step {
    uint32_t number;
    double traced_ns;   /* from its first to its last event */
    double replayed_ns; /* as the operations take, without gaps between them */
} iw_straggler_step;

enum { IW_STRAGGLER_KINDS = 11, IW_STRAGGLER_CAUSES = 4 };

typedef struct iw_stragglers {
    const char *command; /* or NULL; not owned */
    char name[IW_STRAGGLER_NAME_SIZE];
    uint32_t replicas, stages, microbatches;
    uint32_t gpus;      /* by the file of sizes; 0: not known */
    double traced_ns;   /* mean step, from its first to its last event */
    double replayed_ns; /* mean step by replay */
    double ideal_ns;    /* step in which each operation takes the usual time of its kind */
    double factor;      /* replayed_ns / ideal_ns, S */
    uint32_t slow_workers;
    double slow_workers_share; /* of what was lost, gone if these took the usual times */
    double last_stage_share;   /* the same of the last stage */
    size_t kind_count, stage_count, replica_count, worker_count, step_count;
    iw_straggler_kind kinds[IW_STRAGGLER_KINDS];    /* the largest factor first */
    iw_straggler_cause causes[IW_STRAGGLER_CAUSES]; /* the largest share first */
    uint32_t cause_count;
    iw_straggler_place *by_stage, *by_replica; /* by number */
    iw_straggler_worker *workers;              /* the largest factor first */
    iw_straggler_step *steps;
} iw_stragglers;

/** Replays the job; the result, to be freed, does not need it any longer. IW_ERR_FORMAT: steps take no time;
 * IW_ERR_NOMEM. */
IW_API IW_NODISCARD iw_status iw_straggler_run(const iw_log *log, const iw_straggler_job *job,
                                               iw_stragglers **result_p);
IW_API void iw_stragglers_free(iw_stragglers *result);

IW_API iw_doc iw_stragglers_doc(const iw_stragglers *result);

#ifdef __cplusplus
}
#endif
#endif
