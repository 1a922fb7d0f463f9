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

#include <stddef.h>
#include <stdint.h>

#include <idlewave/log.h>
#include <idlewave/noise.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How it was measured. */
typedef enum iw_probe {
    IW_PROBE_SELFISH, /* gaps in a loop that reads the clock */
    IW_PROBE_FWQ,     /* time of a fixed amount of work */
    IW_PROBE_FTQ      /* work done in a fixed time */
} iw_probe;

/** What told the sources apart; better ones later. */
typedef enum iw_rung {
    IW_RUNG_NONE,     /* nothing: all sources are unknown */
    IW_RUNG_SWITCHES, /* perf's context-switch records of the own thread */
    IW_RUNG_PERF,     /* perf tracepoints */
    IW_RUNG_TRACEFS,  /* kernel events in a private tracefs instance */
    IW_RUNG_OSNOISE   /* the osnoise tracer */
} iw_rung;

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
    iw_rung rung;
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
IW_API const char *iw_rung_name(iw_rung rung);
IW_API const char *iw_probe_name(iw_probe probe);

/** Reads a noise file (HDF5, docs/reference/formats/noise-hdf5.md), also one whose writer was killed. */
IW_API IW_NODISCARD iw_status iw_recording_load(const iw_log *log, const char *path,
                                                iw_recording **recording_p);

/** Writes all of it. */
IW_API IW_NODISCARD iw_status iw_recording_save(const iw_log *log, const iw_recording *recording,
                                                const char *path);

/** A noise file that is written while it is measured: it has its name from the start, and holds what was
 * appended up to the last flush even if this process is killed. */
typedef struct iw_live_file iw_live_file;

/** Writes what `head` says of the CPUs, and its attributes. `log` is used until the file is closed. */
IW_API IW_NODISCARD iw_status iw_live_file_open(const iw_log *log, const char *path, const iw_recording *head,
                                                iw_live_file **file_p);

/** Appends detours, parts and samples to CPU number `index` of the recording, which lists their sources.
 * part_detour counts from the batch's first detour; length_ns and dropped are those of all so far. */
IW_API IW_NODISCARD iw_status iw_live_file_append(iw_live_file *file, const iw_recording *recording,
                                                  size_t index, const iw_detours *batch);
IW_API IW_NODISCARD iw_status iw_live_file_flush(iw_live_file *file);

/** Ends it; returns the first failure there was. NULL is fine. */
IW_API IW_NODISCARD iw_status iw_live_file_close(iw_live_file *file);

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

/** What a text that stands for noise is. */
typedef enum iw_noise_form {
    IW_NOISE_SPEC,      /* of iw_noise_add(): a kind and ':', also a kind that does not exist */
    IW_NOISE_ABSENT,    /* a path, but nothing is there */
    IW_NOISE_TEXT,      /* a file of two columns (docs/reference/formats/noise-text.md), or any other */
    IW_NOISE_RECORDING, /* an HDF5 noise file, told by its content */
    IW_NOISE_FOLDER     /* of HDF5 noise files, one a node */
} iw_noise_form;

IW_API iw_noise_form iw_noise_form_of(const char *spec_or_path);

/** Adds noise of any form. */
IW_API IW_NODISCARD iw_status iw_noise_open(const iw_log *log, iw_noise *noise, const char *spec_or_path);

#ifdef __cplusplus
}
#endif
#endif
