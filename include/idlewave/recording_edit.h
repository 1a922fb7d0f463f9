/* idlewave/recording_edit.h - recordings from noise specs, parts of recordings, several recordings as one.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Inputs are never changed, but by iw_recording_keep_cpus(). What comes out keeps all promises of
 * idlewave/recording.h.
 */
#ifndef IW_RECORDING_EDIT_H
#define IW_RECORDING_EDIT_H

#include <stdio.h>

#include <idlewave/recording.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum iw_edit_kind { IW_EDIT_SYNTH, IW_EDIT_CUT, IW_EDIT_MERGE, IW_EDIT_APPEND } iw_edit_kind;

/** What an edit was made from, so that one can say what it changed. All 0 for IW_EDIT_SYNTH but too_short. */
typedef struct iw_edit {
    iw_edit_kind kind;
    size_t recording_count, cpu_count; /* of all inputs together */
    uint64_t detour_count, sample_count;
    double busy_ns, watched_ns; /* time in detours, and all time, summed over the CPUs */
    uint64_t too_short;         /* synth: detours left out because they are below the threshold */
    size_t renumbered;          /* merge: CPUs whose numbers were taken */
} iw_edit;

/* ---- making ---- */

typedef struct iw_synth_opts {
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

#define IW_SYNTH_OPTS_INIT                                                                     \
    {                                                                                          \
        .specs = NULL, .spec_count = 0, .duration_ns = 60000000000, .cpu_count = 1, .seed = 1, \
        .sync = IW_SYNC_NONE, .t_min_ns = 0.0, .threshold_ns = 0.0                             \
    }

/** The detours that rank r of a simulation with this seed and these specs would meet in its trial 0 become
 * those of CPU r, rounded to the nanosecond. IW_ERR_FORMAT, IW_ERR_RANGE, IW_ERR_USAGE (noise per compute
 * phase cannot be recorded), IW_ERR_NOMEM. */
IW_API IW_NODISCARD iw_status iw_recording_synth(const iw_log *log, const iw_synth_opts *opts,
                                                 iw_recording **recording_p, iw_edit *edit_p);

/* ---- cutting ---- */

typedef struct iw_cut_opts {
    int64_t from_ns, to_ns; /* [from, to) becomes [0, to - from) */
    const uint32_t *cpus;   /* NULL: all */
    size_t cpu_count;
    /* Sources: a name, a class, or "class/name"; '*', '?' and [] as in file names. What has been kept (none
     * given: all) loses the time of the dropped ones: what is left of a detour stays where it was. */
    const char *const *keep, *const *drop;
    size_t keep_count, drop_count;
    int64_t at_least_ns; /* shorter detours go; the threshold is raised to this */
} iw_cut_opts;

#define IW_CUT_OPTS_INIT                                                                            \
    {                                                                                               \
        .from_ns = 0, .to_ns = INT64_MAX, .cpus = NULL, .cpu_count = 0, .keep = NULL, .drop = NULL, \
        .keep_count = 0, .drop_count = 0, .at_least_ns = 0                                          \
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
 * "a | b"; the rung is the lowest. IW_ERR_RANGE: other probes or quanta. */
IW_API IW_NODISCARD iw_status iw_recording_merge(const iw_log *log, const iw_merge_input *inputs,
                                                 size_t count, iw_recording **recording_p, iw_edit *edit_p);

/** The same CPUs, one input behind the other in time. All but the last input end with their shortest CPU;
 * detours that meet at the seam become one. IW_ERR_RANGE: other CPUs, probes or quanta, or over 240 h. */
IW_API IW_NODISCARD iw_status iw_recording_append(const iw_log *log, const iw_merge_input *inputs,
                                                  size_t count, iw_recording **recording_p, iw_edit *edit_p);

/* ---- telling ---- */

/** What has been written to `path`: one paragraph, 80 columns. */
IW_API IW_NODISCARD iw_status iw_edit_write_text(const iw_log *log, const iw_edit *edit,
                                                 const iw_recording *recording, const char *path, FILE *out);

/** The same as one JSON object, schema "idlewave.noise-edit/1". */
IW_API IW_NODISCARD iw_status iw_edit_write_json(const iw_log *log, const iw_edit *edit,
                                                 const iw_recording *recording, const char *path, FILE *out);

#ifdef __cplusplus
}
#endif
#endif
