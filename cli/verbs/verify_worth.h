/* What mitigations are worth to a job: verify's question to what-if.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_VERIFY_WORTH_H
#define IW_CLI_VERIFY_WORTH_H

#include <idlewave/idlewave.h>

#include "options/simulate_opts.h"

struct worth_opts {
    uint64_t ranks_per_node; /* 0: one on each CPU of the recording that is to be quiet */
    uint64_t trials, seed;
    struct program_opts program;
    struct net_opts net;
    struct memory_opts memory;
};

/* The first rows of program_rows: pattern, ranks, bytes, repeat, compute. */
enum { WORTH_PROGRAM_ROWS = 5 };

#define WORTH_OPTS_INIT                                                             \
    {                                                                               \
        .program = PROGRAM_OPTS_INIT, .net = NET_OPTS_INIT, .trials = 20, .seed = 1 \
    }

/* Whether a job is given. */
bool worth_is_asked(const struct worth_opts *opts);

/* Simulates the job with the noise that the recording (its name is for messages) has on CPUs that are to be
 * quiet, as it is and without what each mitigation that is missing removes, and fills in worths. Returns
 * UI_DONE or an exit code. */
int worth_fill(struct ui *ui, const struct worth_opts *opts, const char *name, const iw_recording *recording,
               iw_verify *verify);

#endif
