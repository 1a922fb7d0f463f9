/* idlewave/internal/memory_bench.h - how fast the cores of a memory domain move data, alone and together.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *     st = iw_memory_measure(log, &plan, &samples);
 *     st = iw_memory_evaluate(log, samples, &curve);
 *     st = iw_doc_write(log, iw_memory_doc(curve), IW_DOC_TEXT, NULL, stdout);
 *
 * Not installed: only the command uses it.
 */
#ifndef IW_MEMORY_BENCH_H
#define IW_MEMORY_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <idlewave/doc.h>
#include <idlewave/estimate.h>
#include <idlewave/log.h>
#include <idlewave/net.h>
#include <idlewave/noise.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- measuring ---- */

typedef struct iw_memory_plan {
    const uint32_t *cpus; /* NULL: one of each core of the first NUMA node that the process may use */
    size_t cpu_count;
    double seconds;       /* how long to measure; at least a few windows of each kind are made */
    uint64_t array_bytes; /* of the three arrays together; 0: chosen, well beyond the caches */
    iw_progress progress;
} iw_memory_plan;

/** A short stretch of time in which so many cores moved data. */
typedef struct iw_memory_window {
    double bytes_per_s; /* of all of them */
    double held_share;  /* of the stretch that the core which had least of its CPU had it */
} iw_memory_window;

enum { IW_MEMORY_FACT_SIZE = 128 };

typedef struct iw_memory_samples {
    char host[IW_MEMORY_FACT_SIZE], cpu_model[IW_MEMORY_FACT_SIZE], hypervisor[IW_MEMORY_FACT_SIZE];
    iw_cpu_set cpus;
    uint32_t numa_node;        /* the operating system's number */
    uint32_t cores;            /* all that were measured */
    uint64_t cache_bytes;      /* all caches of these cores together; 0: not told */
    uint64_t array_bytes;      /* of the three arrays together */
    double window_s;           /* length of a window */
    double seconds;            /* of it all */
    size_t kinds;              /* how many numbers of cores were tried */
    uint32_t *cores_of;        /* of each kind, ascending, from 1 to `cores` */
    size_t rounds;             /* each has one window of each kind */
    iw_memory_window *windows; /* of a round one after the other */
} iw_memory_samples;

/** Moves data by the STREAM triad, a[i] = b[i] + s c[i], on 1 to all CPUs, one pinned thread each, round
 * after round. IW_ERR_RANGE: CPUs that may not be used, or that do not share one NUMA node. IW_ERR_NOMEM: no
 * room for arrays that are larger than the caches. */
IW_NODISCARD iw_status iw_memory_measure(const iw_log *log, const iw_memory_plan *plan,
                                         iw_memory_samples **samples_p);
void iw_memory_samples_free(iw_memory_samples *samples);

/* ---- what it says ---- */

typedef enum iw_memory_verdict {
    IW_MEMORY_SATURATES, /* all cores together move less than as many alone */
    IW_MEMORY_SCALES,    /* they do not disturb each other */
    IW_MEMORY_UNCLEAR    /* the measurement cannot tell */
} iw_memory_verdict;

/** From here on cores count as undisturbed by others: they move this share of what as many alone do. */
#define IW_MEMORY_SCALING_LEAST 0.9

/** So many cores at once. */
typedef struct iw_memory_point {
    uint32_t cores;
    uint64_t windows;         /* that count */
    iw_estimate bytes_per_s;  /* of all of them: the median, and its 95 % interval by stretches of the run */
    double model_bytes_per_s; /* what the two numbers make of it */
} iw_memory_point;

typedef struct iw_memory_curve {
    const char *command; /* borrowed */
    char host[IW_MEMORY_FACT_SIZE], cpu_model[IW_MEMORY_FACT_SIZE], hypervisor[IW_MEMORY_FACT_SIZE];
    iw_cpu_set cpus;
    uint32_t numa_node, cores;
    uint64_t cache_bytes, array_bytes;
    double window_s, seconds;
    uint64_t windows, disturbed_windows; /* all, and those in which others had one of the CPUs */
    bool is_disturbed;                   /* too few of the others were left: all count */
    iw_estimate core_bytes_per_s, domain_bytes_per_s;
    iw_estimate scaling; /* of all cores, against as many times one alone, in the same rounds */
    iw_memory_verdict verdict;
    uint32_t saturated_from; /* cores; 0: none of these numbers */
    double misfit;           /* how far the model is off at most, as a share of what was measured, */
    uint32_t misfit_cores;   /* and with how many cores */
    iw_memory memory;        /* for simulations */
    size_t point_count;
    iw_memory_point *points;
} iw_memory_curve;

/** IW_ERR_RANGE: nothing was measured. The samples may be freed. */
IW_NODISCARD iw_status iw_memory_evaluate(const iw_log *log, const iw_memory_samples *samples,
                                          iw_memory_curve **curve_p);
void iw_memory_curve_free(iw_memory_curve *curve);

/** Text, page, JSON of schema "idlewave.memory/1", pictures; CSV has
 * a line for each number of cores. */
iw_doc iw_memory_doc(const iw_memory_curve *curve);

#ifdef __cplusplus
}
#endif
#endif
