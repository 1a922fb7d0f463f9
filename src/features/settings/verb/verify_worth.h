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

/* ---- for other verbs that ask what-if about a verified node ---- */

/* One set for each mitigation that is missing and removes something of the recording; `sets` has room for all
 * mitigations. How many. */
size_t worth_sets(const iw_verify *verify, iw_named_set *sets);

/* Fills in worths from the changes of these sets, and sorts. */
void worth_take(const iw_whatif *whatif, iw_verify *verify);

/* What happened where ranks would run: on CPUs that are to be quiet, if any are. UI_DONE or an exit code. */
int worth_cut_quiet(struct ui *ui, const char *name, const iw_recording *recording, const iw_verify *verify,
                    iw_recording **cut_p);

#endif
