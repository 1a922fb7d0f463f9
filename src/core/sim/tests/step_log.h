/* Keeps the steps of a run, to be compared.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_STEP_LOG_H
#define IWT_STEP_LOG_H

#include <idlewave/sim.h>

struct iwt_logged_step {
    uint32_t rank;
    iw_step step;
};

/* All zero in the beginning. */
struct iwt_step_log {
    struct iwt_logged_step *steps; /* as they came; after iwt_run_steps() by rank */
    size_t count, capacity;
};

void iwt_step_log_release(struct iwt_step_log *log);

/* Runs and keeps the steps. Fails the test unless the steps of each rank follow each other without gaps from
 * 0 to the rank's end in the first trial, and none has a negative part. */
iw_sim_result *iwt_run_steps(const iw_program *program, const iw_net *net, const iw_noise *noise,
                             const iw_sim_opts *opts, struct iwt_step_log *log);

/* Fails the test, naming `what` and `seed`, unless both have the same steps. */
void iwt_assert_same_steps(const struct iwt_step_log *a, const struct iwt_step_log *b, const char *what,
                           uint64_t seed);

#endif
