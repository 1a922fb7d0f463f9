/* The recursion over rounds of a dissemination barrier under detours in wall-clock time.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_DISSEMINATION_MODEL_H
#define IWI_DISSEMINATION_MODEL_H

#include <stdbool.h>
#include <stddef.h>

#include <idlewave/model.h>

/* Detours of one duration that begin 1/period often in the mean; one may be under way at time 0, as at any
 * other. */
struct iwi_dissemination_noise {
    double period_ns, duration_ns;
    bool is_periodic; /* else at random times: chance decides how many the work meets */
};

/* What a message costs. */
struct iwi_dissemination_net {
    double send_ns, latency_ns, receive_ns;
};

struct iwi_dissemination;

/* Of up to `rounds` rounds, after work that loses by a law at most `most_lost` detours; NULL: no work. */
IW_NODISCARD iw_status iwi_dissemination_new(const iw_log *log, const struct iwi_dissemination_noise *noise,
                                             const struct iwi_dissemination_net *net, const iw_law *work,
                                             double most_lost, unsigned rounds,
                                             struct iwi_dissemination **cone_p);
void iwi_dissemination_free(struct iwi_dissemination *cone);

/* One round more. */
void iwi_dissemination_step(struct iwi_dissemination *cone);

/* Mean and median of what noise adds to the time of the slowest of `ranks` after the rounds so far. */
void iwi_dissemination_slowest(struct iwi_dissemination *cone, double ranks, double *mean_ns_p,
                               double *median_ns_p);

#endif
