/* What other features use of simulations, and the files on certainty share: variants of noise in the same
 * trials, and how far recordings reach.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_SIMULATE_H
#define IWI_SIMULATE_H

#include <idlewave/noise_set.h>

#include "core/sim/split/forecast.h"
#include "features/simulate/noise_set.h"
#include "kit/facts/length_bins.h"
#include "kit/facts/longest.h"
#include "kit/schema/schema.h"
#include "kit/text/words.h"

/* ======== variants of noise in the same trials ======== */

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

/* What a variant is simulated with; to be freed. */
IW_NODISCARD iw_status iwi_variant_noise(const struct iwi_inquiry *inquiry, const struct iwi_variant *variant,
                                         const struct iwi_drawn *drawn, iw_noise **noise_p);

/* One noise does for both, made when the first runs. */
bool iwi_variants_share_noise(const struct iwi_inquiry *inquiry, const struct iwi_variant *a,
                              const struct iwi_variant *b);

/* The redraws alone: the first experiment->trials numbers of each variant are left as they are. */
IW_NODISCARD iw_status iwi_experiment_run_redraws(struct iwi_experiment *experiment,
                                                  const struct iwi_variant *variants, size_t count,
                                                  double *values);

/* The trials alone, without redraws: experiment->trials numbers. */
IW_NODISCARD iw_status iwi_experiment_run_trials(struct iwi_experiment *experiment,
                                                 const struct iwi_variant *variant, double *values);

/* Of the slowdowns that a variant gave. Upper ends count what recordings cannot show: INFINITY beyond their
 * reach. */
iw_estimate iwi_experiment_slowdown(const struct iwi_experiment *experiment, const double *values,
                                    const struct iwi_variant *variant);

/* What is no number stays so. */
double iwi_not_below_0(double low);

/* Of `before` minus `after`, which the variant gave, pair by pair. `work` has room for
 * iwi_experiment_values(). */
iw_estimate iwi_experiment_saving(const struct iwi_experiment *experiment, const double *before,
                                  const double *after, const struct iwi_variant *variant, double *work);

/* ======== the interval of a mean: chance of the trials, and chance of the recording ======== */

/* One number a trial, at least 2. Differences of pairs are such numbers too. */
struct iwi_sample {
    const double *trials;
    size_t trial_count;
    const double *redraws; /* [redraw][trial]: the same from recordings drawn anew, in trials of their own */
    size_t redraw_count;   /* fewer than 2: the recording is taken for the whole truth */
    size_t per_redraw;     /* at least 2 */
    size_t blocks;         /* pieces that recordings are drawn in, at least 2 */
    double file_variance;  /* without redraws: what the recording adds to the variance of the mean, and the */
    double file_freedom;   /* degrees of freedom of that; 0: it is taken for the whole truth */
    double file_below;     /* without redraws: the lower end is at least so much lower */
    double file_floor;     /* but not below this part of what the trials say */
    double file_sure;      /* nor below this, which no trial is without */
    double one_hit;        /* the most that one detour can add to a number; 0: not known */
    double most_unmet;     /* what hits that no trial met add to the mean at most; used with one_hit */
};

iw_estimate iwi_paired_interval(const struct iwi_sample *sample);

/* ======== how far recordings reach ======== */

/* Which pieces of detours count: those of parts that `is_removed` has as `value`; NULL: all. */
struct iwi_removed_filter {
    const bool *is_removed;
    bool value;
};

/* A job, as noise meets it. */
struct iwi_exposure {
    uint32_t ranks;
    double quiet_s;   /* its time without noise */
    bool is_together; /* all nodes are hit at the same time */
    bool is_joined;   /* so are all ranks of a node */
    struct iwi_removed_filter filter;
};

/* For a value, a slowdown or a saving, that comes from what the filter lets pass. */
iw_reach iwi_reach_for(const iw_noise_set *set, const struct iwi_exposure *exposure, double value);

/* What other recordings of the same nodes would say of a slowdown. */
struct iwi_file_spread {
    double variance;   /* relative; 0: nothing is recorded */
    double least_part; /* of the slowdown: what is left if few events came by luck (length_bins.h) */
    double often_part, often_variance; /* of the slowdown, without the longest few detours, 0: not known; its
                                          variance, 0: a beat that never varies */
    double often_share;                /* of the time of a CPU, what these take; 0: not known */
};

/* By drawing their stretches (of a folder: its nodes) anew. */
IW_NODISCARD iw_status iwi_recording_spread(const iw_log *log, const iw_noise_set *set,
                                            const struct iwi_exposure *exposure, double slowdown,
                                            uint64_t seed, struct iwi_file_spread *spread_p);

/* The interval of a mean slowdown, at least IW_CERTAINTY_LEAST_TRIALS of them, that counts the recording and
 * what is unseen of it; .high INFINITY: it is a lower bound. *most_p, unless it is NULL: its
 * upper end, of a bound too. */
IW_NODISCARD iw_status iwi_count_recording(const iw_log *log, const iw_noise_set *set,
                                           const struct iwi_exposure *exposure, const double *slowdowns,
                                           size_t count, uint64_t seed, iw_estimate *slowdown_p,
                                           double *most_p);

/* ======== detours that a job can meet ======== */

/* Takes a detour; pieces of several sources that touch are one. */
typedef void (*iwi_met_fn)(void *arg, size_t node, int64_t start_ns, int64_t length_ns);

/* How often all places of the job together meet one recorded detour, a second: E/W (stats/longest.h). E are
 * the cores of all ranks; where ranks of a node are hit together, the recorded CPUs of all simulated nodes;
 * where nodes are hit at the same time, those of one. 0: no time was watched. */
double iwi_met_rate_hz(const iw_noise_set *set, const struct iwi_set_input *input,
                       const struct iwi_exposure *exposure);

/* ======== what a recording may lack ======== */

/* Trials that it takes for a job that has so many. */
uint64_t iwi_sensitivity_trials(uint64_t trials);

/* Simulates what is supposed, in the first trials of an experiment whose slowdowns are known, or computes a
 * bound of it where they would hardly meet it. length_ns 0: it hardly counts. */
IW_NODISCARD iw_status iwi_sensitivity_find(const struct iwi_experiment *experiment, const double *slowdowns,
                                            iw_sensitivity *sensitivity);

/* ======== what that will take ======== */

/* CPU seconds of iw_certainty_find(): what grows as the program does, and what does not. */
struct iwi_certainty_effort {
    double simulating_s, counting_s;
};

/* By samples; of q->opts->trials trials which `all` and `sampled` are about, of noise that takes make_s to
 * make. */
IW_NODISCARD iw_status iwi_certainty_sample(const iw_log *log, const iw_certainty_question *q,
                                            const iw_forecast *all, const struct iwi_sampled *sampled,
                                            double make_s, double enough_s,
                                            struct iwi_certainty_effort *effort_p);

/* ======== words ======== */

/* iw_reach */
extern const struct iwi_schema iwi_reach_schema;

/* Nobody records longer to answer one question. */
#define IWI_LONGEST_ADVICE_S (14.0 * 86400.0)

/* Two digits, upwards: advice that is followed shall be enough. */
double iwi_round_up(double seconds);

/* Goes on with "this recording of 10 s on 2 CPUs cannot show what 10,000 ranks meet in 24 ms; record 40 min
 * for an estimate". */
void iwi_append_reach(char paragraph[IWI_PARAGRAPH_SIZE], const iw_reach *reach, uint64_t ranks,
                      double time_ns);

/* Of an extrapolation: "from laws fitted to the recording (poisson:9.9Hz,exp:20us), not from it". */
void iwi_append_laws(char paragraph[IWI_PARAGRAPH_SIZE], const iw_reach *reach);

#endif
