/* idlewave/recording.h - the noise of one node as it was measured: detours of its CPUs, and what took them.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *     iw_recording *recording;
 *     st = iw_recording_load(log, "node.h5", &recording);
 *     ... recording->cpus[0].duration_ns[17] ...
 *     iw_recording_free(recording);
 *
 * Plain data, filled by probes (idlewave/measure.h) and readers, changed by nobody afterwards.
 */
#ifndef IW_RECORDING_H
#define IW_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <idlewave/log.h>
#include <idlewave/noise.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ======== Recordings ======== */

/** How it was measured. */
typedef enum iw_probe {
    IW_PROBE_SELFISH, /* gaps in a loop that reads the clock */
    IW_PROBE_FWQ,     /* time of a fixed amount of work */
    IW_PROBE_FTQ,     /* work done in a fixed time */
    IW_PROBE_WATCH,   /* none: detours that a running job met (idlewave/watch.h) */
    IW_PROBES
} iw_probe;

/** Whether it gives samples of quanta; the others give detours. */
static inline bool iw_probe_has_quanta(iw_probe probe)
{
    return probe == IW_PROBE_FWQ || probe == IW_PROBE_FTQ;
}

/** What told the sources apart; better ones later. */
typedef enum iw_attribution_level {
    IW_ATTRIBUTION_LEVEL_NONE,     /* nothing: all sources are unknown */
    IW_ATTRIBUTION_LEVEL_SWITCHES, /* perf's context-switch records of the own thread */
    IW_ATTRIBUTION_LEVEL_PERF,     /* perf tracepoints */
    IW_ATTRIBUTION_LEVEL_TRACEFS,  /* kernel events in a private tracefs instance */
    IW_ATTRIBUTION_LEVEL_OSNOISE,  /* the osnoise tracer */
    IW_ATTRIBUTION_LEVEL_BPF,      /* own programs in the kernel, which see whole detours */
    IW_ATTRIBUTION_LEVELS
} iw_attribution_level;

typedef enum iw_class {
    IW_CLASS_UNKNOWN,
    IW_CLASS_THREAD,
    IW_CLASS_IRQ,
    IW_CLASS_SOFTIRQ,
    IW_CLASS_NMI,
    IW_CLASS_HARDWARE, /* hypervisor or hardware: the kernel saw nothing */
    IW_CLASSES
} iw_class;

#define IW_SOURCE_NAME_SIZE 64

/** Name of the source of class hardware: time that nothing the kernel reported explains. */
#define IW_SOURCE_UNSEEN "no kernel event"

typedef struct iw_source {
    iw_class kind;
    char name[IW_SOURCE_NAME_SIZE]; /* comm, interrupt or vector name; "" for unknown */
} iw_source;

/** What one CPU saw. Times count from the start of the recording, the same instant on all CPUs. */
typedef struct iw_detours {
    uint32_t cpu;                  /* as the operating system numbers it */
    int64_t length_ns;             /* watched so long */
    double t_min_ns, threshold_ns; /* the loop's undisturbed time; shorter gaps were not kept */
    uint64_t dropped;              /* detours that found no room */
    size_t count;
    int64_t *start_ns, *duration_ns; /* ascending, not overlapping */
    uint32_t *source;                /* number in the recording's list: the one with the largest part */
    /* Detours with several sources: rows (detour, source, time), ascending by detour; the rest has none. */
    size_t part_count;
    uint64_t *part_detour;
    uint32_t *part_source;
    int64_t *part_ns;
    /* FWQ: duration of each quantum in ns; FTQ: work done in each. */
    size_t sample_count;
    int64_t *sample_start_ns;
    double *sample;
} iw_detours;

/** One fact about the origin: "kernel" = "6.1.0-18-amd64". */
typedef struct iw_attribute {
    char *name, *value;
} iw_attribute;

typedef struct iw_recording {
    iw_probe probe;
    iw_attribution_level attribution;
    int64_t quantum_ns; /* FWQ, FTQ; else 0 */
    size_t cpu_count;
    iw_detours *cpus;
    size_t source_count; /* at least 1: number 0 is unknown */
    iw_source *sources;
    size_t attribute_count;
    iw_attribute *attributes; /* host, kernel, command, clock, ... in this order */
} iw_recording;

/** A recording of `cpu_count` CPUs without detours. */
IW_API IW_NODISCARD iw_status iw_recording_new(const iw_log *log, size_t cpu_count,
                                               iw_recording **recording_p);
IW_API void iw_recording_free(iw_recording *recording);

/** Number of that source, added if new. */
IW_API IW_NODISCARD iw_status iw_recording_source(const iw_log *log, iw_recording *recording, iw_class kind,
                                                  const char *name, uint32_t *number_p);

/** Sets or replaces an attribute; copies both strings. */
IW_API IW_NODISCARD iw_status iw_recording_set(const iw_log *log, iw_recording *recording, const char *name,
                                               const char *value);

/** NULL if there is no such attribute. */
IW_API const char *iw_recording_get(const iw_recording *recording, const char *name);

IW_API const char *iw_class_name(iw_class kind);
IW_API const char *iw_attribution_level_name(iw_attribution_level attribution);
IW_API const char *iw_probe_name(iw_probe probe);

/** Adds the recording to what a simulation meets: rank r sees CPU (r mod ranks_per_node) mod cpu_count of the
 * recording, all at the offset of its node. The largest recorded sources become sources of their own, the
 * rest one together. Nothing of the recording is kept. */
IW_API IW_NODISCARD iw_status iw_noise_add_recording(const iw_log *log, iw_noise *noise,
                                                     const iw_recording *recording);

/** The recordings of several nodes: each simulated node meets another one of them, drawn anew for each trial;
 * only when all are in use one is used again. All are cut to the length of the shortest; sources are told
 * apart by class and name over all of them. IW_ERR_RANGE: count is 0. */
IW_API IW_NODISCARD iw_status iw_noise_add_recordings(const iw_log *log, iw_noise *noise,
                                                      const iw_recording *const *recordings, size_t count);

/* ======== Editing ========
 * Recordings from noise specs, parts of recordings, several recordings as one.
 *
 * Inputs are never changed, but by iw_recording_keep_cpus(). What comes out is as valid as what was measured.
 */

typedef enum iw_edit_kind { IW_EDIT_SYNTH, IW_EDIT_CUT, IW_EDIT_MERGE, IW_EDIT_APPEND } iw_edit_kind;

/** What an edit was made from, so that one can say what it changed. All 0 for IW_EDIT_SYNTH but too_short. */
typedef struct iw_edit {
    iw_edit_kind kind;
    size_t recording_count, cpu_count; /* of all inputs together */
    uint64_t detour_count, sample_count;
    double busy_ns, watched_ns; /* time in detours, and all time, summed over the CPUs */
    uint64_t kept_count;        /* cut: detours of which something is left; some may have come apart */
    uint64_t too_short;         /* synth: detours left out because they are below the threshold */
    size_t renumbered;          /* merge: CPUs whose numbers were taken */
} iw_edit;

/* ---- making ---- */

typedef struct iw_synth_opts {
    size_t size; /* IW_SYNTH_OPTS_INIT */
    /* "SPEC", "NAME=SPEC" or "CLASS/NAME=SPEC" with a SPEC of iw_noise_add(), "irq/tick=periodic:1kHz,2us".
     * Without a name the spec is the name; without a class it is unknown. At most IW_NOISE_MAX_SOURCES. */
    const char *const *specs;
    size_t spec_count;
    int64_t duration_ns;
    size_t cpu_count; /* numbered from 0 */
    uint64_t seed;
    iw_sync sync;                  /* IW_SYNC_NONE or IW_SYNC_START */
    double t_min_ns, threshold_ns; /* shorter detours are left out */
} iw_synth_opts;

#define IW_SYNTH_OPTS_INIT                                                        \
    {                                                                             \
        sizeof(iw_synth_opts), NULL, 0, 60000000000, 1, 1, IW_SYNC_NONE, 0.0, 0.0 \
    }

/** The detours that rank r of a simulation with this seed and these specs would meet in its trial 0 become
 * those of CPU r, rounded to the nanosecond. IW_ERR_FORMAT, IW_ERR_RANGE, IW_ERR_USAGE (noise per compute
 * phase cannot be recorded), IW_ERR_NOMEM. */
IW_API IW_NODISCARD iw_status iw_recording_synth(const iw_log *log, const iw_synth_opts *opts,
                                                 iw_recording **recording_p, iw_edit *edit_p);

/* ---- cutting ---- */

typedef struct iw_cut_opts {
    size_t size;            /* IW_CUT_OPTS_INIT */
    int64_t from_ns, to_ns; /* [from, to) becomes [0, to - from) */
    const uint32_t *cpus;   /* NULL: all */
    size_t cpu_count;
    /* Sources: a name, a class, or "class/name"; '*', '?' and [] as in file names. What has been kept (none
     * given: all) loses the time of the dropped ones: what is left of a detour stays where it was. */
    const char *const *keep, *const *drop;
    size_t keep_count, drop_count;
    int64_t at_least_ns; /* shorter detours go; the threshold is raised to this */
} iw_cut_opts;

#define IW_CUT_OPTS_INIT                                                \
    {                                                                   \
        sizeof(iw_cut_opts), 0, INT64_MAX, NULL, 0, NULL, NULL, 0, 0, 0 \
    }

/** A part of a recording; `name` is for messages. Detours that straddle an edge are clipped, their parts in
 * the order of their rows; FWQ and FTQ samples belong to the time in which they start, and know no sources
 * (IW_ERR_USAGE). IW_ERR_RANGE: a CPU or source that is not there, or nothing would be left. */
IW_API IW_NODISCARD iw_status iw_recording_cut(const iw_log *log, const char *name,
                                               const iw_recording *recording, const iw_cut_opts *opts,
                                               iw_recording **recording_p, iw_edit *edit_p);

/** Leaves of a recording the CPUs of a set, all of which it must have (IW_ERR_RANGE); NULL: all it has. */
IW_API IW_NODISCARD iw_status iw_recording_keep_cpus(const iw_log *log, const char *name,
                                                     const iw_cpu_set *cpus, iw_recording **recording);

/* ---- drawing anew ---- */

/** Another recording that this node might have given: `block_count` stretches of it (at least 2), drawn with
 * replacement, one behind the other; the same stretches for all CPUs, so that what they share stays together.
 * It is as long as the shortest CPU, but for less than block_count ns. Detours that straddle the end of a
 * stretch are clipped. The draw follows from `seed` and `replicate`. Samples of FWQ and FTQ: IW_ERR_USAGE. */
IW_API IW_NODISCARD iw_status iw_recording_resample(const iw_log *log, const char *name,
                                                    const iw_recording *recording, size_t block_count,
                                                    uint64_t seed, uint64_t replicate,
                                                    iw_recording **recording_p);

/* ---- joining ---- */

/** One recording that is to be joined with others. */
typedef struct iw_merge_input {
    const char *name; /* for messages and the attribute "merged" */
    const iw_recording *recording;
} iw_merge_input;

/** All CPUs of all inputs, in their order, in one recording. A CPU whose number an earlier one has gets the
 * lowest number that no input uses. Sources are joined by class and name; attributes that differ become
 * "a | b"; the attribution level is the lowest. IW_ERR_RANGE: other probes or quanta. */
IW_API IW_NODISCARD iw_status iw_recording_merge(const iw_log *log, const iw_merge_input *inputs,
                                                 size_t count, iw_recording **recording_p, iw_edit *edit_p);

/** The same CPUs, one input behind the other in time. All but the last input end with their shortest CPU;
 * detours that meet at the seam become one. IW_ERR_RANGE: other CPUs, probes or quanta, or over 240 h. */
IW_API IW_NODISCARD iw_status iw_recording_append(const iw_log *log, const iw_merge_input *inputs,
                                                  size_t count, iw_recording **recording_p, iw_edit *edit_p);

/* ---- by the wall clock ---- */

/** The time that several recordings watched together. */
typedef struct iw_wall_window {
    int64_t from_wall_ns; /* when it began: ns since 1970, UTC */
    int64_t length_ns;
    double error_ns;       /* how wrong the worst clock is, by the estimate of its kernel */
    size_t unsynchronised; /* recordings of nodes whose clock nothing synchronises */
} iw_wall_window;

/** Cuts each recording to the time that all of them watched: what happened at one instant of the wall clock
 * is then at the same place in each. `names` are for messages. IW_ERR_RANGE: one does not say when it was
 * made, or they have no time in common. */
IW_API IW_NODISCARD iw_status iw_recordings_cut_to_wall(const iw_log *log, const char *const *names,
                                                        iw_recording **recordings, size_t count,
                                                        iw_wall_window *window_p);

#ifdef __cplusplus
}
#endif
#endif
