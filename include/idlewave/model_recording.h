/* idlewave/model_recording.h - the slowest of N ranks under the noise of a recording, and how far it can be
 * trusted.
 * SPDX-License-Identifier: BSD-3-Clause
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
#ifndef IW_MODEL_RECORDING_H
#define IW_MODEL_RECORDING_H

#include <idlewave/model.h>

#ifdef __cplusplus
extern "C" {
#endif

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
    double record_s;                 /* refused: record so long instead; 0: no length would do */
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

/** E[largest loss of N] if there were only that source of the recording; behind what was seen by its most
 * likely tail, or the longest seen if it has none. NaN if there is no such source. */
IW_API double iw_window_model_source_max_ns(const iw_window_model *model, size_t source, double n);

/** What iw_model_answer() says, with the noise of the recording; also the source that dominates. */
IW_API IW_NODISCARD iw_status iw_window_model_answer(const iw_log *log, const iw_window_model *model,
                                                     const iw_model_question *question, uint64_t ranks,
                                                     iw_model_row *row_p, size_t *dominant_p);

#ifdef __cplusplus
}
#endif
#endif
