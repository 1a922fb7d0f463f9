/* One program at one number of ranks, simulated under variants of the noise, all in the same trials.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_EXPERIMENT_H
#define IWI_EXPERIMENT_H

#include <idlewave/noise_set.h>

#include "features/simulate/noise_set.h"

/* What is simulated. */
struct iwi_paired_job {
    iw_sim_opts sim;
    const iw_net *net;
    iw_program_maker program;
    uint32_t redraws;        /* of the recordings, for the intervals; 0: they are the whole truth */
    uint32_t cores_per_node; /* of which some could be left to the operating system; 0: not asked */
    uint32_t spare_cores;    /* so many of them, at least one */
};

/* What all simulations of one question share. */
struct iwi_inquiry {
    const iw_log *log;
    const iw_noise_set *set;
    struct iwi_paired_job job;
    size_t blocks;                  /* pieces that the recordings are drawn in; 0: there are none */
    uint64_t work_done, work_total; /* messages of all trials, for the user's progress */
    double engine_seconds;
};

/* What is changed. All false: nothing. */
struct iwi_variant {
    const bool *is_removed;      /* by part; NULL: none */
    bool is_together;            /* all nodes are hit at the same time */
    bool is_apart;               /* nodes that are aligned are taken for independent */
    bool is_joined;              /* all ranks of a node are hit together */
    bool is_reserved;            /* some cores of each node do not compute */
    bool has_quiet_net;          /* the network delays no messages */
    uint32_t replaced;           /* so many of the slowest nodes are as fast as they should be */
    const iw_sensitivity *added; /* what is supposed besides; NULL: nothing */
};

/* Some noise goes, and nothing else changes. */
static inline bool iwi_is_removal(const struct iwi_variant *variant)
{
    return !variant->is_together && !variant->is_apart && !variant->is_joined && !variant->is_reserved &&
           !variant->has_quiet_net && variant->replaced == 0 && variant->added == NULL;
}

struct iwi_experiment {
    struct iwi_inquiry *inquiry;
    iw_program *program, *reserved; /* reserved: with one core less; NULL: not asked, or it cannot be made */
    bool is_monotone;               /* less noise never ends a trial of `program` later */
    iw_time noiseless_ps;           /* of `program`; known after the first simulation */
    uint64_t trials;
    uint32_t redraws, per_redraw;
    bool is_whole_known; /* the slowdown as it is is an estimate, and parts cost no more: what may be unseen
                            of a part is told too, however little the part costs */
};

/* For an iw_log of errors alone, with the log to pass them to as its arg; NULL is fine. A program's
 * warnings are told by its first simulation. */
void iwi_pass_error(void *arg, iw_log_level level, const char *text);

/* Makes the programs for so many ranks (0: as the user asked). IW_ERR_UNSUPPORTED: there are none for them.
 */
IW_NODISCARD iw_status iwi_experiment_init(struct iwi_inquiry *inquiry, uint32_t ranks, uint64_t trials,
                                           uint32_t redraws, struct iwi_experiment *experiment_p);
void iwi_experiment_release(struct iwi_experiment *experiment);

/* Numbers that one variant gives: trials, then trials of each redraw. */
size_t iwi_experiment_values(const struct iwi_experiment *experiment);

/* Messages of all simulations of so many variants. */
uint64_t iwi_experiment_work(const struct iwi_experiment *experiment, size_t variant_count);

/* Slowdowns T / T0 - 1 of each variant in each trial; T0 without noise and with all cores. values[v *
 * iwi_experiment_values() + i]; the same i is the same trial under the same recording. */
IW_NODISCARD iw_status iwi_experiment_run(struct iwi_experiment *experiment,
                                          const struct iwi_variant *variants, size_t count, double *values);

/* The redraws alone: the first experiment->trials numbers of each variant are left as they are. */
IW_NODISCARD iw_status iwi_experiment_run_redraws(struct iwi_experiment *experiment,
                                                  const struct iwi_variant *variants, size_t count,
                                                  double *values);

/* The trials alone, without redraws: experiment->trials numbers. */
IW_NODISCARD iw_status iwi_experiment_run_trials(struct iwi_experiment *experiment,
                                                 const struct iwi_variant *variant, double *values);

/* Of the slowdowns that a variant gave. Upper ends count what recordings cannot show: INFINITY beyond their
 * reach (reach.h). */
iw_estimate iwi_experiment_slowdown(const struct iwi_experiment *experiment, const double *values,
                                    const struct iwi_variant *variant);

/* What is no number stays so. */
double iwi_not_below_0(double low);

/* Of `before` minus `after`, which the variant gave, pair by pair. `work` has room for
 * iwi_experiment_values(). */
iw_estimate iwi_experiment_saving(const struct iwi_experiment *experiment, const double *before,
                                  const double *after, const struct iwi_variant *variant, double *work);

#endif
