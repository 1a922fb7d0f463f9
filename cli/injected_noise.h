/* Noise that is to be injected, as options name it: one noise file, or any number of SPECs.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_INJECTED_NOISE_H
#define IW_CLI_INJECTED_NOISE_H

#include <idlewave/idlewave.h>
#include <idlewave/inject.h>

#include "opt.h"

/* Choices of options, in the order of iw_sync and iw_back_end. */
extern const char *const injected_syncs[], *const injected_back_ends[];

/* How SPECs that can be injected begin, for suggestions; ends with NULL. */
const char *injected_known(size_t index);

/* A file is among them. */
bool injected_has_file(const struct opt_list *noise);

/* What is asked of it. */
struct injected_opts {
    const struct opt_list *noise;
    const iw_cpu_set *cpus; /* of the file; NULL: all */
    iw_sync sync;
    uint64_t seed;
    size_t cpu_count; /* that SPECs are to make */
};

/* Reads the file, or has SPECs make CPUs. Without a synchronisation these are as different as CPUs are. */
int injected_load(const struct ui *ui, const iw_log *log, const struct injected_opts *opts,
                  iw_recording **recording_p);

#endif
