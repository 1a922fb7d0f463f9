/* What readers find in files, rows in any order or quanta, to the CPUs of recordings.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_CONVERT_ROWS_H
#define IWI_CONVERT_ROWS_H

#include <idlewave/recording.h>

#include "core/base/base.h"
#include "kit/files/io/convert_child.h"

/* A detour, or with probes of quanta a quantum. */
struct iwi_row {
    uint32_t cpu, source;
    int64_t start_ns, duration_ns;
    double sample; /* of a quantum */
    size_t line;   /* where it stands; 0: the reader does not say */
};

/* What a file says about a CPU besides its rows. */
struct iwi_cpu_facts {
    uint32_t cpu;
    int64_t length_ns; /* 0: it does not say */
    double t_min_ns, threshold_ns;
    uint64_t dropped;
};

/* Zeroed to begin with. */
struct iwi_rows {
    struct iwi_row *rows;
    size_t count, capacity;
    struct iwi_cpu_facts *facts;
    size_t fact_count, fact_capacity;
    bool is_quanta;
    bool want_union; /* detours that overlap become one */
};

IW_NODISCARD iw_status iwi_rows_add(const iw_log *log, struct iwi_rows *rows, const struct iwi_row *row);
IW_NODISCARD iw_status iwi_rows_add_facts(const iw_log *log, struct iwi_rows *rows,
                                          const struct iwi_cpu_facts *facts);

/* Gives the recording, which has no CPUs yet, those of the rows and facts, ascending. Where no length is told
 * it is that of the CPU that ends last. Sorts the rows. */
IW_NODISCARD iw_status iwi_rows_fill(const iw_log *log, struct iwi_rows *rows, iw_recording *recording);

void iwi_rows_release(struct iwi_rows *rows);

/* Makes `count` CPUs without detours for a recording that has none. */
IW_NODISCARD iw_status iwi_recording_set_cpus(const iw_log *log, iw_recording *recording, size_t count);

/* ---- quanta of FWQ and FTQ ---- */

/* The quanta of one CPU; the arrays are the reader's. */
struct iwi_quanta {
    uint32_t cpu;
    size_t count;
    double *start_ns, *sample; /* ascending; as of iw_detours */
    double length_ns;
};

/* A new recording of these CPUs, which it sorts. What a quantum lost against the best of its CPU becomes a
 * detour at its begin, since where it was cannot be known. `path` is for messages: IW_ERR_RANGE, longer than
 * 240 h; IW_ERR_NOMEM. */
IW_NODISCARD iw_status iwi_quanta_to_recording(const iw_log *log, const char *path, iw_probe probe,
                                               double quantum_ns, struct iwi_quanta *cpus, size_t count,
                                               iw_recording **recording_p);

/* ---- fixed time quanta from the text of FTQ, in memory: for the reader and its tests ---- */

/* `counts`: "time count" a line, or counts alone. Those may have `times`, in ticks, a line for each; NULL:
 * windows of equal length. */
IW_NODISCARD iw_status iwi_ftq_read(const struct iwi_import *counts, const struct iwi_import *times,
                                    iw_recording **recording_p);

#endif
