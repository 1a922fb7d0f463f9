/* Between the files that judge a history.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_HISTORY_JUDGING_H
#define IWI_HISTORY_JUDGING_H

#include "features/fleet/history.h"

/* A node with recordings before and after. */
struct iwi_history_pair {
    const char *name;
    size_t begin, end;           /* its entries */
    double before, after;        /* mean share */
    double mean_log, difference; /* of logarithms: the mean before, and after less before */
};

struct iwi_history_judging {
    const iw_log *log;
    iw_history *history;
    double p_fleet, p_node; /* of a false alarm, for one comparison */
    int64_t first_ns;       /* start of the first period */
    size_t pair_count;
    struct iwi_history_pair *pairs;
    double *shares;  /* of the family at hand, by entry */
    double *scratch; /* room for a value of each entry */
    size_t slot_count;
    double *slot_sums, *slot_counts; /* by period before the change, empty ones too */
};

/* The number of the period, empty ones too. */
static inline size_t iwi_history_slot(const struct iwi_history_judging *j, int64_t start_ns)
{
    return (size_t)((start_ns - j->first_ns) / j->history->opts.period_ns);
}

/* Of a family of sources in one recording. */
double iwi_history_value(const struct iwi_history_judging *j, const struct iwi_history_entry *entry,
                         uint32_t family, iw_fleet_metric metric);

/* Finds the change, and what the periods before and after it were like. Needs room for values. */
IW_NODISCARD iw_status iwi_history_find_periods(struct iwi_history_judging *j);

#endif
