/* idlewave/measure.h - measure the noise of this node.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Experimental: functions and structs here may change in any release.
 */
#ifndef IW_MEASURE_H
#define IW_MEASURE_H

#include <stdbool.h>
#include <stdio.h>

#include <idlewave/analysis.h>
#include <idlewave/doc.h>
#include <idlewave/recording.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Which attribution level to use. */
typedef enum iw_attribution {
    IW_ATTRIBUTION_AUTO, /* the best that works */
    IW_ATTRIBUTION_NONE,
    IW_ATTRIBUTION_SWITCHES, /* this one or fail; as iw_attribution_level */
    IW_ATTRIBUTION_PERF,
    IW_ATTRIBUTION_TRACEFS,
    IW_ATTRIBUTION_OSNOISE
} iw_attribution;

/** Takes a recording piece by piece while it is measured, so that what has been measured survives whatever
 * happens later. Called from the thread that called iw_measure(), every few seconds. */
typedef struct iw_measure_sink {
    /* Once, before anything is measured: CPUs, t_min, threshold and attributes are known. */
    iw_status (*begin)(void *arg, const iw_recording *head);
    /* Detours, parts and samples of recording->cpus[index]; part_detour counts from the batch's first detour.
     * recording->sources has all that they name. */
    iw_status (*append)(void *arg, const iw_recording *recording, size_t index, const iw_detours *batch);
    /* All CPUs are on the same level. */
    iw_status (*flush)(void *arg);
    void *arg;
} iw_measure_sink;

typedef struct iw_measure_opts {
    size_t size; /* IW_MEASURE_OPTS_INIT */
    iw_probe probe;
    int64_t duration_ns;  /* stop after this */
    uint64_t max_events;  /* per CPU: room is made for so many; 0: chosen. Detours behind the last that fits
                           * are counted, and the recording of that CPU ends there */
    double threshold;     /* times t_min (selfish); at least 2 */
    int64_t quantum_ns;   /* FWQ, FTQ */
    const uint32_t *cpus; /* NULL: all that the process may use */
    size_t cpu_count;
    iw_attribution attribution;
    const char *command, *under; /* for the recording's attributes: what was typed, and what ran beside; may
                                  * be NULL */
    const iw_measure_sink *sink; /* may be NULL */
    iw_progress progress;        /* counts nanoseconds; false ends the recording early, which then is IW_OK */
    /* On each measuring thread, on its CPU, when it is ready to measure and when it has; index: its place in
     * `cpus`. May be NULL. */
    void (*on_thread_start)(void *arg, size_t index);
    void (*on_thread_stop)(void *arg, size_t index);
    void *arg;
} iw_measure_opts;

#define IW_MEASURE_OPTS_INIT                                                              \
    {                                                                                     \
        sizeof(iw_measure_opts), IW_PROBE_SELFISH, 60000000000, 0, 9.0, 1000000, NULL, 0, \
            IW_ATTRIBUTION_AUTO, NULL, NULL, NULL, {NULL, NULL}, NULL, NULL, NULL         \
    }

/** Measures all chosen CPUs at once, one pinned thread each, on one clock. The calling thread sleeps
 * meanwhile, and now and then fetches what the kernel reports and feeds the sink; its affinity and those of
 * others are as before when it returns, and so is everything else that attribution needed, also if the
 * process is killed. Attributes of the machine are filled in. IW_ERR_RANGE (a CPU that may not be used: which
 * ones may is logged), IW_ERR_NOMEM, IW_ERR_IO. */
IW_API IW_NODISCARD iw_status iw_measure(const iw_log *log, const iw_measure_opts *opts,
                                         iw_recording **recording_p);

/** Who uses the CPUs of this node. */
typedef struct iw_look {
    iw_recording *recording; /* of no time and without detours; attributes load_* tell who used the CPUs */
    size_t pid_count;
    uint32_t *pids; /* processes of users from which all others of theirs descend */
} iw_look;

/** Looks for a second or more at the accounts that the kernel keeps of processes; needs no rights and takes
 * no CPU time. `cpus` as in iw_measure_opts. IW_ERR_RANGE, IW_ERR_NOMEM. */
IW_API IW_NODISCARD iw_status iw_look_at(const iw_log *log, const uint32_t *cpus, size_t cpu_count,
                                         int64_t duration_ns, const char *command, iw_look *look_p);
IW_API void iw_look_release(iw_look *look);

/** Up to how many ranks that meet after each so much work a recording gives estimates. */
typedef struct iw_record_reach {
    double work_ns, ranks;
} iw_record_reach;

enum { IW_RECORD_REACHES = 2 };

/** A recording that has just been measured. */
typedef struct iw_record_report {
    const char *file; /* where it was saved */
    iw_noise_report noise;
    iw_record_reach reach[IW_RECORD_REACHES];
} iw_record_report;

/** To be released by iw_noise_report_release(&report->noise). */
IW_API IW_NODISCARD iw_status iw_record_report_init(const iw_log *log, const iw_recording *recording,
                                                    const char *file, iw_record_report *report);

IW_API iw_doc iw_record_doc(const iw_record_report *report);

#ifdef __cplusplus
}
#endif
#endif
