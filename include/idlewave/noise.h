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
#include <stddef.h>
#include <stdint.h>

#include <idlewave/time.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ======== Sets of CPUs ========
 * As people and Linux write them: "0-3,8", "0-31:2".
 */

#define IW_CPU_SET_MOST 8192 /* CPUs are numbered below; Linux has no more either */
#define IW_CPU_SET_WORDS (IW_CPU_SET_MOST / 64)
#define IW_CPU_FAULT_SIZE 160

typedef struct iw_cpu_set {
    uint64_t words[IW_CPU_SET_WORDS]; /* CPU n: bit n % 64 of word n / 64 */
} iw_cpu_set;

/** Reads numbers and ranges, "0-31:2" (every second one), "0-31:2/8" (the first two of each eight, as the
 * kernel's parameters have it). False: `fault` says what is wrong, and where; the set is left alone. */
IW_API IW_NODISCARD bool iw_cpu_set_parse(const char *text, iw_cpu_set *set, char fault[IW_CPU_FAULT_SIZE]);

/** Reads a mask as Linux writes it: "ff", "00000003,ffffffff". False: it is none. */
IW_API IW_NODISCARD bool iw_cpu_set_parse_mask(const char *text, iw_cpu_set *set);

/** "0-3,8", cut to `size` with "..." at its end where it does not fit; "none". Returns `buf`. */
IW_API char *iw_cpu_set_text(const iw_cpu_set *set, char *buf, size_t size);

/** "00000003,ffffffff", as Linux wants it in files that take masks; cut with "..." at its end where it does
 * not fit. Returns `buf`. */
IW_API char *iw_cpu_set_mask(const iw_cpu_set *set, char *buf, size_t size);

static inline bool iw_cpu_set_has(const iw_cpu_set *set, uint32_t cpu)
{
    return cpu < IW_CPU_SET_MOST && (set->words[cpu / 64] >> (cpu % 64) & 1) != 0;
}

static inline void iw_cpu_set_add(iw_cpu_set *set, uint32_t cpu)
{
    if (cpu < IW_CPU_SET_MOST) {
        set->words[cpu / 64] |= UINT64_C(1) << (cpu % 64);
    }
}

IW_API size_t iw_cpu_set_count(const iw_cpu_set *set);
IW_API bool iw_cpu_set_is_empty(const iw_cpu_set *set);
IW_API bool iw_cpu_set_meets(const iw_cpu_set *a, const iw_cpu_set *b);
IW_API bool iw_cpu_set_is_within(const iw_cpu_set *part, const iw_cpu_set *whole);
IW_API iw_cpu_set iw_cpu_set_and(const iw_cpu_set *a, const iw_cpu_set *b);
IW_API iw_cpu_set iw_cpu_set_or(const iw_cpu_set *a, const iw_cpu_set *b);
IW_API iw_cpu_set iw_cpu_set_without(const iw_cpu_set *from, const iw_cpu_set *taken);

/* ======== Noise ======== */

typedef struct iw_noise iw_noise; /* opaque: a list of additive sources */

/** How the noise of different ranks is aligned. */
typedef enum iw_sync {
    IW_SYNC_NONE,  /* a random phase for each rank */
    IW_SYNC_START, /* one random phase for all ranks */
    IW_SYNC_PHASE  /* one random phase for all ranks, drawn anew at the start of each compute phase */
} iw_sync;

#define IW_NOISE_MAX_SOURCES 8

/** How the cores of a rank share a compute phase (docs/explanation/semantics.md, 13). */
typedef enum iw_loop_schedule {
    IW_LOOP_STATIC, /* each core has its part, and the phase ends with the last of them */
    IW_LOOP_DYNAMIC /* whichever core is free takes the next piece */
} iw_loop_schedule;

#define IW_CORES_PER_RANK_MOST 1024

IW_API IW_NODISCARD iw_status iw_noise_new(const iw_log *log, iw_noise **noise_p);
IW_API void iw_noise_free(iw_noise *noise);

/** How sources are written, kind by kind: "periodic:RATE,DURATION"; NULL behind the last.
 * iw_noise_clocked_usage() leaves out those that act on compute phases; iw_noise_duration_usage() has what
 * DIST may be, "exp:MEAN". */
IW_API const char *iw_noise_spec_usage(size_t index);
IW_API const char *iw_noise_clocked_usage(size_t index);
IW_API const char *iw_noise_duration_usage(size_t index);

/** Adds one source: a SPEC, as iw_noise_spec_usage() has them, or else the path of a noise file
 * (docs/reference/formats/noise-text.md). IW_ERR_FORMAT, IW_ERR_RANGE, IW_ERR_IO; at most
 * IW_NOISE_MAX_SOURCES sources. "none" adds nothing, but keeps the place: random numbers follow the number of
 * the call, so "none" instead of one source leaves the detours of all others where they were. */
IW_API IW_NODISCARD iw_status iw_noise_add(const iw_log *log, iw_noise *noise, const char *spec_or_path);

/** Adds a source from detours in memory: (start, duration) pairs in picoseconds, any order, overlaps allowed;
 *  the trace repeats every `length_ps` (0: the end of the last detour). Copies the arrays. */
IW_API IW_NODISCARD iw_status iw_noise_add_trace(const iw_log *log, iw_noise *noise, const char *name,
                                                 const iw_time *start_ps, const iw_time *duration_ps,
                                                 size_t count, iw_time length_ps);

/** Alignment between ranks; `skew_ps` shifts each synchronised node by a uniform draw from [0, skew_ps);
 *  `ranks_per_node` ranks share a node's offset into recorded traces and meet its CPUs in turns. 1: each rank
 *  is a node; 0, which it is unless this is called: as recorded, one rank for each CPU that recordings have
 * of a node (the most that one has, where they differ; 1 where nothing is recorded). */
IW_API void iw_noise_align(iw_noise *noise, iw_sync sync, iw_time skew_ps, uint32_t ranks_per_node);

/** Each rank computes on so many cores, 1 unless this is called and at most IW_CORES_PER_RANK_MOST, each with
 *  noise of its own: core c of rank r is stream r * cores_per_rank + c of all sources. A node then has
 *  ranks_per_node * cores_per_rank cores; as recorded, as many ranks as have their cores on its CPUs, at
 * least one. */
IW_API void iw_noise_share_phases(iw_noise *noise, uint32_t cores_per_rank, iw_loop_schedule loop);

IW_API uint32_t iw_noise_cores_per_rank(const iw_noise *noise);
IW_API iw_loop_schedule iw_noise_loop(const iw_noise *noise);
IW_API const char *iw_loop_schedule_name(
    iw_loop_schedule loop); /* "static", "dynamic"; NULL: there is none */

IW_API size_t iw_noise_source_count(const iw_noise *noise);
IW_API const char *iw_noise_source_name(const iw_noise *noise, size_t source);

/** Long-run share of time that source takes: 0.0021 for 0.21 %. Per-phase sources: share of compute time
 *  (bernoulli: NaN, it depends on the work). */
IW_API double iw_noise_source_share(const iw_noise *noise, size_t source);

IW_API iw_sync iw_noise_sync(const iw_noise *noise);
IW_API uint32_t iw_noise_ranks_per_node(const iw_noise *noise);

/** Of recordings that are added from now on only these CPUs are met; NULL: all. One that does not have all of
 *  them is refused (IW_ERR_RANGE). */
IW_API void iw_noise_only_cpus(iw_noise *noise, const iw_cpu_set *cpus);

/** These CPUs, or NULL: all. */
IW_API const iw_cpu_set *iw_noise_cpus(const iw_noise *noise);

/** How nodes of several recordings are aligned, those that are added from now on. */
typedef enum iw_align {
    IW_ALIGN_NONE, /* an offset for each node: nodes are independent of each other */
    IW_ALIGN_WALL  /* one for all of them, by the wall clock: what hit nodes together does so again */
} iw_align;

/** With IW_ALIGN_WALL as many nodes as were recorded meet one instant of the recordings
 * (docs/explanation/semantics.md, 6). Those of a folder are cut to the time that all of them watched; those
 * in memory have to be (iw_recordings_cut_to_wall() of idlewave/fleet.h). */
IW_API void iw_noise_align_nodes(iw_noise *noise, iw_align align);
IW_API iw_align iw_noise_nodes_aligned(const iw_noise *noise);

/** CPUs that ranks of a node can meet: the most that recordings have of a node; 0: nothing is recorded. */
IW_API uint32_t iw_noise_recorded_cpus(const iw_noise *noise);

/** "2 ranks per node, as recorded": how ranks meet the CPUs that recordings have of a node, each with
 * cores_per_rank of them (0, 1: not said); `cpus`: the only
 * ones that are used, "0,2-5", or NULL. "" where nothing is recorded (recorded_cpus 0). Returns `buf`. */
#define IW_NODES_TEXT_SIZE 160
IW_API const char *iw_nodes_text(uint64_t ranks_per_node, uint64_t cores_per_rank, uint64_t recorded_cpus,
                                 const char *cpus, char buf[IW_NODES_TEXT_SIZE]);

/** A detour, or the noise of a compute phase, as it took time of a rank. */
typedef struct iw_hit {
    iw_time at_ps;   /* when it began to take: a detour may have begun while the rank waited */
    iw_time lost_ps; /* 0: there is none */
    uint32_t rank, source;
} iw_hit;

/* Growth: where ranks on a line wait for neighbours only, exponential noise makes a step longer by this many
 * times its mean, however many ranks there are (last-passage percolation: 2 is known exactly, 2.384 by
 * simulation to 0.002; docs/explanation/models.md). */
#define IW_GROWTH_ONE_WAY 2.0
#define IW_GROWTH_BOTH_WAYS 2.384

#ifdef __cplusplus
}
#endif
#endif
