/* Options of `model`, and what answers them: numbers of ranks, rows of a model, and a simulation of the same.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IW_CLI_MODEL_OPTS_H
#define IW_CLI_MODEL_OPTS_H

#include <idlewave/idlewave.h>

#include "options/simulate_opts.h"

struct model_opts {
    struct opt_origins origins;
    iw_time compute_ps, rarest_ps;
    int barrier; /* iw_model_barrier */
    struct opt_list ranks;
    bool wants_check;
    uint64_t trials, seed, check_ranks;
    struct noise_opts noise; /* one source */
    struct net_opts net;
    struct shown_opts shown;
};

/* What one run holds; zeroed at the start. */
struct model_run {
    uint64_t *ranks;
    iw_model_row *rows;
    size_t count;
    iw_net *net;
    bool has_net; /* else messages take no CPU time */
    iw_law *law;
    iw_recording *recording;
    iw_cpu_set cpus;
    const iw_cpu_set *only; /* these, or NULL: all */
    char cpus_text[256];    /* that report.cpus points to */
    iw_window_model *window;
    iw_model_report report;
};

/* What --noise says. */
static inline const char *model_noise(const struct model_opts *opts)
{
    return opts->noise.specs.items[0];
}

/* Return UI_DONE or an exit code. */
int model_answer(struct ui *ui, const struct model_opts *opts, struct model_run *run);
int model_check(struct ui *ui, const struct model_opts *opts, struct model_run *run);

void model_release(struct model_run *run);

#endif
