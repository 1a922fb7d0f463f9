/* The periods of a history: when a change is looked for, and what the fleet lost in each of them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <string.h>

#include "core/base/base.h"
#include "core/stats/select.h"
#include "features/fleet/fleet_judge.h"
#include "features/fleet/history_judging.h"

enum { MOST_PERIODS = 10000 };

double iwi_history_value(const struct iwi_history_judging *j, const struct iwi_history_entry *entry,
                         uint32_t family, iw_fleet_metric metric)
{
    const struct iwi_fleet_node_cell *cell =
        iwi_fleet_cell_of(j->history->data->cells, entry->number, family);
    struct iwi_digest_sums sums;

    if (cell == NULL) {
        return 0.0;
    }
    memcpy(sums.of, cell->all, sizeof sums.of);
    return iwi_fleet_value(&sums, metric, entry->watched_ns);
}

/* Values of all entries of a period into the scratch; returns how many. */
static size_t values_of_slot(const struct iwi_history_judging *j, size_t slot, iw_fleet_metric metric)
{
    const struct iwi_history_data *data = j->history->data;
    size_t count = 0;

    for (size_t i = 0; i < data->count; i++) {
        if (iwi_history_slot(j, data->entries[i].start_ns) == slot) {
            j->scratch[count++] = iwi_history_value(j, &data->entries[i], 0, metric);
        }
    }
    return count;
}

static size_t nodes_of_slot(const struct iwi_history_judging *j, size_t slot)
{
    const struct iwi_history_data *data = j->history->data;
    const char *last = NULL;
    size_t count = 0;

    for (size_t i = 0; i < data->count; i++) {
        if (iwi_history_slot(j, data->entries[i].start_ns) == slot) {
            count += last == NULL || strcmp(last, data->entries[i].node) != 0;
            last = data->entries[i].node;
        }
    }
    return count;
}

static iw_status describe_periods(struct iwi_history_judging *j)
{
    iw_history *h = j->history;

    h->periods = iwi_new_array(j->log, j->slot_count, sizeof *h->periods);
    if (h->periods == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t slot = 0; slot < j->slot_count; slot++) {
        iw_history_period *period = &h->periods[h->period_count];
        const size_t count = values_of_slot(j, slot, IW_FLEET_SHARE);

        if (count == 0) {
            continue;
        }
        *period = (iw_history_period){.start_ns = j->first_ns + (int64_t)slot * h->opts.period_ns,
                                      .node_count = nodes_of_slot(j, slot),
                                      .share = iwi_fleet_spread(j->scratch, count)};
        (void)values_of_slot(j, slot, IW_FLEET_RATE);
        period->rate_hz = iwi_select_quantile(j->scratch, count, 0.5);
        (void)values_of_slot(j, slot, IW_FLEET_LONGEST);
        period->longest_ns = iwi_select_quantile(j->scratch, count, 0.5);
        h->period_count++;
    }
    return IW_OK;
}

/* The change is where it is said to be, or else where the last period with recordings begins. Periods are
 * counted from it, so that none is both before and after. */
static void find_change(struct iwi_history_judging *j)
{
    const struct iwi_history_data *data = j->history->data;
    const int64_t period_ns = j->history->opts.period_ns;
    int64_t first_ns = INT64_MAX, last_ns = 0, change_ns = j->history->opts.change_ns;

    for (size_t i = 0; i < data->count; i++) {
        first_ns = iwi_min(first_ns, data->entries[i].start_ns);
        last_ns = iwi_max(last_ns, data->entries[i].start_ns);
    }
    j->first_ns = change_ns > 0 && change_ns > first_ns
                      ? change_ns - ((change_ns - first_ns + period_ns - 1) / period_ns) * period_ns
                      : first_ns;
    j->slot_count = iwi_history_slot(j, last_ns) + 1;
    if (change_ns == 0) {
        change_ns = j->first_ns + (int64_t)(j->slot_count - 1) * period_ns;
    }
    j->history->change_ns = change_ns;
}

static void count_periods(iw_history *h)
{
    for (size_t i = 0; i < h->period_count; i++) {
        h->before_count += h->periods[i].start_ns < h->change_ns;
        h->after_count += h->periods[i].start_ns >= h->change_ns;
    }
}

iw_status iwi_history_find_periods(struct iwi_history_judging *j)
{
    find_change(j);
    if (j->slot_count > MOST_PERIODS) {
        return iwi_fail(j->log, IW_ERR_RANGE, "'%s': %zu periods are more than %d: make them longer",
                        j->history->name, j->slot_count, MOST_PERIODS);
    }
    IW_TRY(describe_periods(j));
    count_periods(j->history);
    return IW_OK;
}
