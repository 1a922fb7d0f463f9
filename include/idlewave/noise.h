/* idlewave/noise.h - operating-system noise: detours in wall-clock time, and per-phase noise.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *     iw_noise *noise;
 *     st = iw_noise_new(log, &noise);
 *     st = iw_noise_add(log, noise, "periodic:1000Hz,100us");
 *     ...  iw_noise_free(noise);
 *
 * An iw_noise is immutable once simulations use it, and may then be shared by threads.
 */
#ifndef IW_NOISE_H
#define IW_NOISE_H

#include <stdbool.h>

#include <idlewave/time.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iw_noise iw_noise; /* opaque: a list of additive sources */

/** How the noise of different ranks is aligned. */
typedef enum iw_sync {
    IW_SYNC_NONE,  /* a random phase for each rank */
    IW_SYNC_START, /* one random phase for all ranks */
    IW_SYNC_PHASE  /* one random phase for all ranks, drawn anew at the start of each compute phase */
} iw_sync;

#define IW_NOISE_MAX_SOURCES 8

IW_API IW_NODISCARD iw_status iw_noise_new(const iw_log *log, iw_noise **noise_p);
IW_API void iw_noise_free(iw_noise *noise);

/** Adds one source: a SPEC ("periodic:RATE,DURATION", "poisson:RATE,DIST", "phase-exp:SHARE",
 *  "phase-pareto:SHARE,A", "bernoulli:P,T") or else the path of a noise file (docs/formats/noise-text.md).
 *  IW_ERR_FORMAT, IW_ERR_RANGE, IW_ERR_IO; at most IW_NOISE_MAX_SOURCES sources. "none" adds nothing,
 *  but keeps the place: random numbers follow the number of the call, so "none" instead of one source leaves
 *  the detours of all others where they were. */
IW_API IW_NODISCARD iw_status iw_noise_add(const iw_log *log, iw_noise *noise, const char *spec_or_path);

/** Adds a source from detours in memory: (start, duration) pairs in picoseconds, any order, overlaps allowed;
 *  the trace repeats every `length_ps` (0: the end of the last detour). Copies the arrays. */
IW_API IW_NODISCARD iw_status iw_noise_add_trace(const iw_log *log, iw_noise *noise, const char *name,
                                                 const iw_time *start_ps, const iw_time *duration_ps,
                                                 size_t count, iw_time length_ps);

/** Alignment between ranks; `skew_ps` shifts each synchronised node by a uniform draw from [0, skew_ps);
 *  `ranks_per_node` ranks share a node's offset into recorded traces (1: each rank is a node). */
IW_API void iw_noise_align(iw_noise *noise, iw_sync sync, iw_time skew_ps, uint32_t ranks_per_node);

IW_API size_t iw_noise_source_count(const iw_noise *noise);
IW_API const char *iw_noise_source_name(const iw_noise *noise, size_t source);

/** Long-run share of time that source takes: 0.0021 for 0.21 %. Per-phase sources: share of compute time
 *  (bernoulli: NaN, it depends on the work). */
IW_API double iw_noise_source_share(const iw_noise *noise, size_t source);

IW_API iw_sync iw_noise_sync(const iw_noise *noise);
IW_API uint32_t iw_noise_ranks_per_node(const iw_noise *noise);

/** A detour, or the noise of a compute phase, as it took time of a rank. */
typedef struct iw_hit {
    iw_time at_ps;   /* when it began to take: a detour may have begun while the rank waited */
    iw_time lost_ps; /* 0: there is none */
    uint32_t rank, source;
} iw_hit;

#ifdef __cplusplus
}
#endif
#endif
