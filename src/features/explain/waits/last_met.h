/* When two ranks last met.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_LAST_MET_H
#define IWI_LAST_MET_H

#include "features/explain/arrivals/visits.h"

struct iwi_last_met {
    uint64_t *by_time;      /* visits by rank and time */
    uint64_t *place;        /* of each visit: in by_time */
    size_t *first_visit;    /* of each rank: in by_time */
    uint32_t *encounter_of; /* of each visit */
};

/* To be released whatever the outcome; all zero before. */
IW_NODISCARD iw_status iwi_last_met_prepare(const iw_log *log, const struct iwi_visits *visits,
                                            struct iwi_last_met *meetings);
void iwi_last_met_release(struct iwi_last_met *meetings);

/* Before that visit of a rank, and before an instant, with another one: when the first of them left. `begin`
 * of the run where they have not met. */
iw_time iwi_last_met_at(const struct iwi_visits *visits, const struct iwi_last_met *meetings, uint64_t visit,
                        uint32_t other, iw_time at_ps, iw_time begin_ps);

#endif
