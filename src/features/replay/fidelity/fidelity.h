/* Between the parts of iw_fidelity_compare().
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_FIDELITY_H
#define IWI_FIDELITY_H

#include <idlewave/internal/fidelity.h>

/* A detour that was to be made while it was watched, and what was seen of it. */
struct iwi_wanted {
    int64_t start_ns, duration_ns; /* on the probe's clock; after scaling */
    bool is_as_recorded;           /* the trace has one of this duration at its place */
    bool is_merged;                /* seen as one with the wanted one before */
    bool is_hidden;                /* seen in a detour that is mostly the host's */
    bool is_excess;                /* so it seemed, but the host does not explain so many */
    size_t seen;                   /* number of the observed detour, or IWI_UNSEEN */
    double late_ns;                /* of those seen */
};

#define IWI_UNSEEN SIZE_MAX

/* A detour that is longer than what was to be made in it by more than this, and by half of that, is mostly
 * the host's. */
#define IWI_HIDING_NS INT64_C(20000)

struct iwi_matched {
    size_t count;
    struct iwi_wanted *wanted; /* ascending */
    int64_t first_ns, last_ns; /* wanted ones are between; a margin at both ends is not looked at */
    bool *is_made;             /* of each observed one: something was made for it */
};

/* Finds where in the trace the observation began, and what was seen of what was to be made. */
IW_NODISCARD iw_status iwi_fidelity_match(const iw_log *log, const iw_fidelity_inputs *inputs,
                                          struct iwi_matched *matched_p);
void iwi_matched_release(struct iwi_matched *matched);

/* Takes back is_hidden where there are more than the host's recording explains; sets hidden_by_host. */
IW_NODISCARD iw_status iwi_fidelity_hidden(const iw_log *log, const iw_fidelity_inputs *inputs,
                                           struct iwi_matched *matched, iw_fidelity *f);

/* Detours that nothing was made for. */
struct iwi_own {
    double count, able_count; /* all; those so long that they may have been made */
    double ns;                /* sum of durations */
    double able_deviation, ns_deviation;
    double short_ns2; /* sum of squares, of those that do not hide others */
};

struct iwi_own iwi_own_noise(const iw_fidelity_inputs *inputs, const struct iwi_matched *matched);

/* They are no more, and take no more time, than the host's recording says: but for what is allowed of the
 * noise asked for, and three standard deviations of both. `outside_ns`: time between matched detours. */
bool iwi_is_own_explained(const iw_fidelity_inputs *inputs, const struct iwi_own *own, double outside_ns,
                          const iw_fidelity *f);

/* So much of the time goes to the host that its recording says little of the next seconds. */
bool iwi_is_host_busy(const iw_fidelity_inputs *inputs, double host_share);

/* Kullback and Leibler's divergence of b from a on Parzen densities of the logarithm of durations; NaN if one
 * has none. */
IW_NODISCARD iw_status iwi_kl_divergence(const iw_log *log, const double *a_ns, size_t a_count,
                                         const double *b_ns, size_t b_count, double *kl_p);

#endif
