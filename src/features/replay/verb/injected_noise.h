/* Noise that is to be injected, as options name it: one noise file, or any number of SPECs.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_INJECTED_NOISE_H
#define IW_CLI_INJECTED_NOISE_H

#include <idlewave/idlewave.h>
#include <idlewave/internal/inject.h>

#include "options/opt.h"

struct injection_opts {
    struct opt_origins origins;
    struct opt_list noise;
    const char *cpus; /* of a file; NULL: all */
    int sync, back_end;
    iw_time skew_ps;
    double time_scale;
    uint64_t seed;
};

#define INJECTION_OPTS_INIT          \
    {                                \
        .time_scale = 1.0, .seed = 1 \
    }

/* Rows whose targets are in a struct injection_opts. */
enum { INJECTION_ROW_COUNT = 7 };
extern const struct opt injection_rows[INJECTION_ROW_COUNT];

extern const char *const injected_syncs[]; /* in the order of iw_sync */

/* Refuses options that make no sense together. Returns UI_DONE or UI_USAGE. */
int injection_check(const struct ui *ui, const struct injection_opts *opts);

/* A file is among them. */
bool injected_has_file(const struct opt_list *noise);

/* What is asked of it. */
struct injected_opts {
    const struct opt_list *noise;
    const iw_cpu_set *cpus; /* of the file; NULL: all */
    iw_sync sync;
    uint64_t seed;
    size_t cpu_count;    /* that SPECs are to make */
    int64_t duration_ns; /* of what SPECs make; 0: as `noise synth` does */
};

/* Reads the file, or has SPECs make CPUs. Without a synchronisation these are as different as CPUs are. */
int injected_load(const struct ui *ui, const iw_log *log, const struct injected_opts *opts,
                  iw_recording **recording_p);

#endif
