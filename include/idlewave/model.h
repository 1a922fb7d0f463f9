/* idlewave/model.h - closed forms: how long a phase of work and a barrier take on N ranks under noise.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Experimental: functions and structs here may change in any release.
 *
 *     iw_model_question question = {.work_ns = 1e6, .latency_ns = 2e3, .barrier = IW_MODEL_TREE};
 *     iw_law *law;
 *     st = iw_law_new(log, "exp:1%", question.work_ns, &law);
 *     st = iw_model_answer(log, law, &question, 1023, &row);
 *     iw_law_free(law);
 *
 * Theory: Agarwal, Garg, Vishnoi, HiPC'05. Times are nanoseconds in doubles: answers are expectations.
 */
#ifndef IW_MODEL_H
#define IW_MODEL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <idlewave/caveat.h>
#include <idlewave/doc.h>
#include <idlewave/estimate.h>
#include <idlewave/net.h>
#include <idlewave/recording.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ======== Closed forms ======== */

/** What a number rests on; later ones on less. */
typedef enum iw_support {
    IW_SUPPORT_EXACT,     /* a closed form of a known law */
    IW_SUPPORT_RECURSION, /* the cone recursion, an approximation */
    IW_SUPPORT_OBSERVED,  /* order statistics of a recording */
    IW_SUPPORT_TAIL,      /* the fitted tail of a recording, behind what was seen */
    IW_SUPPORT_REFUSED    /* nothing honest can be said */
} iw_support;

IW_API const char *iw_support_name(iw_support support); /* NULL: there is none */

/** The law of the time that noise adds to a phase of work on one rank. */
typedef struct iw_law iw_law;

/** A law by its spec, for phases of `work_ns`: "exp:F", "pareto:F,A" (F: share of all time, as in the
 * papers), "bernoulli:P,TIME", and the specs of simulations: "phase-exp:SHARE", "phase-pareto:SHARE,A" (share
 * of the work), "periodic:RATE,TIME", "poisson:RATE,DIST", "none". */
IW_API IW_NODISCARD iw_status iw_law_new(const iw_log *log, const char *spec, double work_ns, iw_law **law_p);

IW_API void iw_law_free(iw_law *law);

/** E[largest of n draws], n >= 1: 1e-10 relative for exp and pareto up to 10^9. INFINITY where it has no
 * mean. */
IW_API double iw_law_mean_max_ns(const iw_law *law, double n);

/** The SPEC of iw_noise_add() that draws from the law of `spec`: itself, or one in `buf` (96 bytes are
 * enough). */
IW_API const char *iw_law_noise_spec(const iw_law *law, const char *spec, char *buf, size_t size);

/** P(one draw <= x). */
IW_API double iw_law_cdf(const iw_law *law, double x_ns);

typedef enum iw_model_barrier {
    IW_MODEL_TREE,         /* up and down a complete binary tree: bounds of theorem 1 */
    IW_MODEL_DISSEMINATION /* log2(N) rounds: the slowest rank and all rounds */
} iw_model_barrier;

typedef struct iw_model_question {
    double work_ns, latency_ns; /* of a phase; one way */
    iw_model_barrier barrier;
} iw_model_question;

/** What the simulator says of the same number of ranks. */
typedef struct iw_model_check {
    uint64_t trials;     /* 0: was not simulated */
    iw_estimate mean_ns; /* of the phase time */
} iw_model_check;

/** What the model says of one number of ranks. Phase: work and barrier. */
typedef struct iw_model_row {
    uint64_t ranks;
    double noiseless_ns;
    iw_estimate slowest_ns;      /* E[what noise adds on the slowest rank] */
    iw_estimate low_ns, high_ns; /* bounds of the mean phase time; the same where the form is exact */
    double median_ns;            /* of the phase time; NaN where it is not known */
    iw_support support;
    const char *worst_source; /* of a recording: the one that slows most; NULL: not known */
    iw_model_check simulated;
} iw_model_row;

IW_API IW_NODISCARD iw_status iw_model_answer(const iw_log *log, const iw_law *law,
                                              const iw_model_question *question, uint64_t ranks,
                                              iw_model_row *row_p);

/** Whose rule of thumb a number of ranks comes from. */
typedef enum iw_doubling_rule {
    IW_DOUBLING_PAPERS, /* a formula that the papers print, where it holds */
    IW_DOUBLING_OWN,    /* one of ours, where the papers' does not hold */
    IW_DOUBLING_BOUND   /* none: where the lower bound of iw_model_doubled() has doubled */
} iw_doubling_rule;

IW_API const char *iw_doubling_rule_name(iw_doubling_rule rule); /* NULL: there is none */

/** N_1/2: the fewest ranks on which a phase takes twice as long as on one, by a rule of thumb. */
IW_API IW_NODISCARD iw_status iw_model_half_ranks(const iw_log *log, const iw_law *law,
                                                  const iw_model_question *question, iw_doubling_rule *rule_p,
                                                  double *ranks_p);

/** The fewest ranks on which a phase may take twice as long as on one, by the upper bound, and on which it
 * must, by the lower one. INFINITY: never. */
IW_API IW_NODISCARD iw_status iw_model_doubled(const iw_log *log, const iw_law *law,
                                               const iw_model_question *question, double *first_p,
                                               double *last_p);

/** A phase without a barrier: each rank goes on when it and its neighbours on a line have done their work. */
typedef struct iw_model_chain {
    double growth;
    double phase_ns;          /* work, latency and growth times the mean of the noise */
    double decay_ns_per_rank; /* what the idle wave of a delay loses on its way: growth - 1 times the mean */
} iw_model_chain;

/** chains[0]: each waits for one neighbour, chains[1]: for both. False: there is no formula for the law, it
 * is not exponential. */
IW_API bool iw_model_chains(const iw_law *law, const iw_model_question *question, iw_model_chain chains[2]);

/** Work (or 0) and a dissemination barrier of messages of 1 byte, under "periodic:RATE,TIME" or
 * "poisson:RATE,fixed:TIME" that hits work and messages, on each of `count` numbers of ranks: mean and
 * median, by recursion over the rounds (docs/explanation/models.md). IW_ERR_UNSUPPORTED: what it is not made
 * for. */
IW_API IW_NODISCARD iw_status iw_model_cone(const iw_log *log, const char *spec, const iw_net *net,
                                            double work_ns, const uint64_t *ranks, size_t count,
                                            iw_model_row *rows);

/* ======== Models from recordings ========
 * The slowest of N ranks under the noise of a recording, and how far it can be
 * trusted.
 *
 *     iw_window_model *model;
 *     st = iw_window_model_new(log, recording, &options, &model);
 *     st = iw_window_model_mean_max(log, model, 65536, &answer);
 *     iw_window_model_free(model);
 *
 * The loss of a phase of work that begins at any time of the recording is its law; N ranks draw from it
 * independently. Up to the supported N by order statistics, behind it by the fitted tail, if tests let it.
 * What the tail says leaves out losses of more than 100 times the longest seen.
 */

typedef struct iw_window_model iw_window_model;

typedef struct iw_window_options {
    double work_ns;
    double rarest_s; /* no source is rarer than this, the user says; 0: 60 s. Recordings shorter than 3 times
                        this are not extrapolated: a source that rare is unseen in 1 of 20 of them. */
    uint64_t seed;
} iw_window_options;

/** Why there is no answer behind the supported ranks. */
typedef enum iw_refusal {
    IW_REFUSAL_NONE,
    IW_REFUSAL_SHORT,   /* sources of the rarest kind may be unseen */
    IW_REFUSAL_FEW,     /* too few phases in the tail */
    IW_REFUSAL_MIXTURE, /* the largest losses are of another kind than those the tail was fitted to */
    IW_REFUSAL_HEAVY    /* the fitted tail has no mean */
} iw_refusal;

typedef struct iw_window_answer {
    iw_estimate slowest_ns; /* E[largest loss of N]; NaN if refused */
    iw_support support;
    size_t dominant; /* the recorded source that alone would slow N ranks most */
} iw_window_answer;

/** What the recording supports. */
typedef struct iw_window_horizon {
    double phases;         /* independent phases of work seen */
    double observed_ranks; /* supported by order statistics: what one of N exceeds was seen 50 times */
    double tail_ranks;     /* supported by the tail, 100 times as many; = observed_ranks if refused */
    iw_refusal refusal;
    double record_s;                 /* refused: record for this long instead; 0: no length would do */
    double tail_shape, tail_from_ns; /* generalised Pareto: xi, threshold; NaN without */
} iw_window_horizon;

/** IW_ERR_RANGE: the recording is shorter than 160 phases, or has not as much undisturbed time as one. */
IW_API IW_NODISCARD iw_status iw_window_model_new(const iw_log *log, const iw_recording *recording,
                                                  const iw_window_options *options,
                                                  iw_window_model **model_p);
IW_API void iw_window_model_free(iw_window_model *model);
IW_API const iw_window_horizon *iw_window_model_horizon(const iw_window_model *model);

/** N > horizon's tail_ranks is refused in the answer, not an error. */
IW_API IW_NODISCARD iw_status iw_window_model_mean_max(const iw_log *log, const iw_window_model *model,
                                                       double n, iw_window_answer *answer_p);

/** What iw_model_answer() says, with the noise of the recording; also the source that dominates. */
IW_API IW_NODISCARD iw_status iw_window_model_answer(const iw_log *log, const iw_window_model *model,
                                                     const iw_model_question *question, uint64_t ranks,
                                                     iw_model_row *row_p, size_t *dominant_p);

/* ======== Reports of models ======== */

/** Everything that was asked and answered. Borrowed. */
typedef struct iw_model_report {
    const char *noise;   /* as given */
    const char *net;     /* name of the network, or NULL: messages cost nothing but latency */
    const char *command; /* the command line */
    bool is_cone;        /* answers of iw_model_cone() */
    iw_model_question question;
    const iw_model_row *rows;
    size_t count;                       /* at least 1 */
    double half_ranks;                  /* iw_model_half_ranks(); NaN without a law */
    iw_doubling_rule half_rule;         /* of it */
    double first_doubled, last_doubled; /* iw_model_doubled(); NaN without a law */
    iw_model_chain chains[2];           /* iw_model_chains(); a growth of 0: there is no formula */
    /* noise of a recording: */
    const iw_window_horizon *horizon; /* NULL: it is none */
    uint64_t cpu_count;               /* that were recorded and that ranks meet */
    const char *cpus;                 /* the only ones that were to be used, "2-7", or NULL */
    iw_caveats caveats;               /* of recording and network */
} iw_model_report;

IW_API iw_doc iw_model_doc(const iw_model_report *report);

#ifdef __cplusplus
}
#endif
#endif
