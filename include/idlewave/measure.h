/* idlewave/measure.h - measure the noise of this node.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_MEASURE_H
#define IW_MEASURE_H

#include <stdbool.h>
#include <stdio.h>

#include <idlewave/recording.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct iw_measure_opts {
    iw_probe probe;
    int64_t duration_ns;  /* stop after this */
    uint64_t max_events;  /* per CPU: room is made for so many; 0: chosen. Detours behind the last that fits
                           * are counted, and the recording of that CPU ends there */
    double threshold;     /* times t_min (selfish); at least 2 */
    int64_t quantum_ns;   /* FWQ, FTQ */
    const uint32_t *cpus; /* NULL: all that the process may use */
    size_t cpu_count;
    bool (*is_stopped)(
        void *arg); /* asked a few times a second, may be NULL; true ends the recording early */
    void (*progress)(void *arg, int64_t done_ns, int64_t total_ns); /* may be NULL */
    void *arg;
} iw_measure_opts;

#define IW_MEASURE_OPTS_INIT                                                                       \
    {                                                                                              \
        .probe = IW_PROBE_SELFISH, .duration_ns = 60000000000, .max_events = 0, .threshold = 9.0,  \
        .quantum_ns = 1000000, .cpus = NULL, .cpu_count = 0, .is_stopped = NULL, .progress = NULL, \
        .arg = NULL                                                                                \
    }

/** Measures all chosen CPUs at once, one pinned thread each, on one clock. The calling thread sleeps
 * meanwhile; its affinity and those of others are as before when it returns. Attributes of the machine are
 * filled in. IW_ERR_RANGE (a CPU that may not be used: which ones may is logged), IW_ERR_NOMEM, IW_ERR_IO. */
IW_API IW_NODISCARD iw_status iw_measure(const iw_log *log, const iw_measure_opts *opts,
                                         iw_recording **recording_p);

/** What was measured: the verdict, how fine it is, what to do next. `path`: where the recording has been
 * saved. */
IW_API IW_NODISCARD iw_status iw_measure_write_text(const iw_log *log, const iw_recording *recording,
                                                    const char *path, FILE *out);

/** The same as one JSON object, schema "idlewave.record/1". */
IW_API IW_NODISCARD iw_status iw_measure_write_json(const iw_log *log, const iw_recording *recording,
                                                    const char *path, FILE *out);

#ifdef __cplusplus
}
#endif
#endif
