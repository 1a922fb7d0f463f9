/* What changed on a fleet over weeks.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/history.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/opts.h"
#include "core/base/order.h"
#include "core/numeric/numeric.h"
#include "core/stats/select.h"
#include "features/fleet/fleet_cells.h"
#include "features/fleet/fleet_judge.h"
#include "features/fleet/node_digest.h"

/* A node at one time. */
struct iwi_history_entry {
    char *node;
    int64_t start_ns;
    bool is_busy;      /* programs of users ran */
    double watched_ns; /* summed over CPUs */
    uint32_t number;   /* its cells are those of this number */
};

struct iwi_history_data {
    struct iwi_fleet_cells *cells; /* by digest, where fleets have nodes; no columns */
    size_t capacity;
    struct iwi_history_entry *entries; /* with a date; once judged by node, then time */
    size_t count;
    size_t change_capacity, node_capacity;
};

/* A node with recordings before and after. */
struct pair {
    const char *name;
    size_t begin, end;           /* its entries */
    double before, after;        /* mean share */
    double mean_log, difference; /* of logarithms: the mean before, and after less before */
};

struct judging {
    const iw_log *log;
    iw_history *history;
    double p_fleet, p_node; /* of a false alarm, for one comparison */
    int64_t first_ns;       /* start of the first period */
    size_t pair_count;
    struct pair *pairs;
    double *shares;  /* of the family at hand, by entry */
    double *scratch; /* room for a value of each entry */
    size_t slot_count;
    double *slot_sums, *slot_counts; /* by period before the change, empty ones too */
};

/* The number of the period, empty ones too. */
static size_t slot_of(const struct judging *j, int64_t start_ns)
{
    return (size_t)((start_ns - j->first_ns) / j->history->opts.period_ns);
}

/* ======== digests by time ======== */

iw_status iw_history_new(const iw_log *log, const char *name, iw_history **history_p)
{
    iw_history *history = iwi_new_array(log, 1, sizeof *history);
    iw_status status = IW_ERR_NOMEM;

    if (history == NULL) {
        return status;
    }
    history->name = strdup(name);
    history->data = iwi_new_array(log, 1, sizeof *history->data);
    if (history->name != NULL && history->data != NULL) {
        status = iwi_fleet_cells_new(log, &history->data->cells);
    }
    if (status != IW_OK) {
        iw_history_free(history);
        return status;
    }
    iwi_fleet_drop_columns(history->data->cells, IW_CPU_SET_MOST); /* whole nodes only */
    *history_p = history;
    return IW_OK;
}

void iw_history_free(iw_history *history)
{
    if (history == NULL) {
        return;
    }
    for (size_t i = 0; history->data != NULL && i < history->data->count; i++) {
        free(history->data->entries[i].node);
    }
    if (history->data != NULL) {
        iwi_fleet_cells_free(history->data->cells);
        free(history->data->entries);
    }
    free(history->data);
    free(history->name);
    free(history->periods);
    free(history->changes);
    free(history->changed_nodes);
    free(history);
}

iw_status iw_history_add(const iw_log *log, iw_history *history, const iw_digest *digest)
{
    struct iwi_history_data *data = history->data;
    struct iwi_history_entry entry = {.start_ns = digest->start_ns,
                                      .is_busy = iw_digest_get(digest, IWI_DIGEST_BUSY_KEY) != NULL,
                                      .number = (uint32_t)data->count};

    history->digest_count++;
    for (size_t i = 0; i < digest->cpu_count; i++) {
        entry.watched_ns += (double)digest->cpus[i].length_ns;
    }
    if (digest->start_ns <= 0 || !(entry.watched_ns > 0.0)) {
        history->undated_count++;
        return IW_OK;
    }
    IW_TRY(iwi_grow(log, (void **)&data->entries, &data->capacity, data->count + 1, sizeof *data->entries));
    IW_TRY(iwi_fleet_add_cells(log, data->cells, entry.number, digest, true));
    entry.node = strdup(digest->node);
    if (entry.node == NULL) {
        return iwi_fail(log, IW_ERR_NOMEM, "out of memory for the name of a node");
    }
    data->entries[data->count++] = entry;
    return IW_OK;
}

/* ======== periods ======== */

enum { MOST_PERIODS = 10000 };

static double value_of(const struct judging *j, const struct iwi_history_entry *entry, uint32_t family,
                       iw_fleet_metric metric)
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
static size_t values_of_slot(const struct judging *j, size_t slot, iw_fleet_metric metric)
{
    const struct iwi_history_data *data = j->history->data;
    size_t count = 0;

    for (size_t i = 0; i < data->count; i++) {
        if (slot_of(j, data->entries[i].start_ns) == slot) {
            j->scratch[count++] = value_of(j, &data->entries[i], 0, metric);
        }
    }
    return count;
}

static size_t nodes_of_slot(const struct judging *j, size_t slot)
{
    const struct iwi_history_data *data = j->history->data;
    const char *last = NULL;
    size_t count = 0;

    for (size_t i = 0; i < data->count; i++) {
        if (slot_of(j, data->entries[i].start_ns) == slot) {
            count += last == NULL || strcmp(last, data->entries[i].node) != 0;
            last = data->entries[i].node;
        }
    }
    return count;
}

static iw_status describe_periods(struct judging *j)
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
static void find_change(struct judging *j)
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
    j->slot_count = slot_of(j, last_ns) + 1;
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

static iw_status find_periods(struct judging *j)
{
    find_change(j);
    if (j->slot_count > MOST_PERIODS) {
        return iwi_fail(j->log, IW_ERR_RANGE, "'%s': %zu periods are more than %d; use longer periods",
                        j->history->name, j->slot_count, MOST_PERIODS);
    }
    IW_TRY(describe_periods(j));
    count_periods(j->history);
    return IW_OK;
}

/* ======== judging ======== */

/* On a logarithmic scale, each node against itself: what nodes differ in does not count. The mean of all
 * nodes' differences is a change of the fleet if it is beyond what periods differ by chance. A few periods do
 * not show that well, so what fleets usually have is added with the weight of four periods (a moderated t).
 * A node that changed by more than the tail of the others' differences, less their median, stands out.
 */

/* A fleet without a change usually differs by a tenth from period to period. */
static const double USUAL_VARIANCE = 0.1 * 0.1, USUAL_FREEDOM = 4.0;

/* What is worth an alarm, beside the share of time. */
static const double LEAST_FACTOR = 1.2, LEAST_NODE_FACTOR = 1.5;

/* Entries of a node lie together: nodes with some on both sides. */
static iw_status find_pairs(struct judging *j)
{
    const struct iwi_history_data *data = j->history->data;
    size_t end;

    j->pairs = iwi_new_array(j->log, data->count, sizeof *j->pairs);
    if (j->pairs == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t begin = 0; begin < data->count; begin = end) {
        for (end = begin + 1;
             end < data->count && strcmp(data->entries[end].node, data->entries[begin].node) == 0; end++) {
        }
        j->history->node_count++;
        if (data->entries[begin].start_ns < j->history->change_ns &&
            data->entries[end - 1].start_ns >= j->history->change_ns) {
            j->pairs[j->pair_count++] =
                (struct pair){.name = data->entries[begin].node, .begin = begin, .end = end};
        }
    }
    j->history->paired_count = j->pair_count;
    return IW_OK;
}

/* Which nodes were at work in one of their recordings: entries of a node lie together. */
static void find_caveats(iw_history *h)
{
    const struct iwi_history_entry *entries = h->data->entries;
    struct iwi_busy_nodes busy = {.count = 0};

    for (size_t begin = 0, end; begin < h->data->count; begin = end) {
        bool is_busy = false;

        for (end = begin; end < h->data->count && strcmp(entries[end].node, entries[begin].node) == 0;
             end++) {
            is_busy |= entries[end].is_busy;
        }
        if (is_busy) {
            iwi_busy_nodes_add(&busy, entries[begin].node);
        }
    }
    h->caveats = (iw_caveats){.count = 0};
    iw_caveats_of_nodes(h->name, busy.count, h->node_count, busy.names, &h->caveats);
}

/* ---- one source ---- */

static void measure_pair(const struct judging *j, struct pair *pair)
{
    const struct iwi_history_entry *entries = j->history->data->entries;
    const double floor = iwi_fleet_share_floor(j->history->opts.matters);
    double sum[2] = {0.0}, logs[2] = {0.0}, count[2] = {0.0};

    for (size_t i = pair->begin; i < pair->end; i++) {
        const int side = entries[i].start_ns >= j->history->change_ns;

        sum[side] += j->shares[i];
        logs[side] += log(fmax(j->shares[i], floor));
        count[side] += 1.0;
    }
    pair->before = sum[0] / count[0];
    pair->after = sum[1] / count[1];
    pair->mean_log = logs[0] / count[0];
    pair->difference = logs[1] / count[1] - pair->mean_log;
}

/* By how much periods before the change differ from each other, on average over nodes: sum of squares. */
static double squares_of_periods(const struct judging *j)
{
    const struct iwi_history_entry *entries = j->history->data->entries;
    const double floor = iwi_fleet_share_floor(j->history->opts.matters);
    double squares = 0.0;

    memset(j->slot_sums, 0, j->slot_count * sizeof *j->slot_sums);
    memset(j->slot_counts, 0, j->slot_count * sizeof *j->slot_counts);
    for (size_t p = 0; p < j->pair_count; p++) {
        for (size_t i = j->pairs[p].begin; i < j->pairs[p].end; i++) {
            const size_t slot = slot_of(j, entries[i].start_ns);

            if (entries[i].start_ns < j->history->change_ns) {
                j->slot_sums[slot] += log(fmax(j->shares[i], floor)) - j->pairs[p].mean_log;
                j->slot_counts[slot] += 1.0;
            }
        }
    }
    for (size_t slot = 0; slot < j->slot_count; slot++) {
        const double mean = j->slot_counts[slot] > 0.0 ? j->slot_sums[slot] / j->slot_counts[slot] : 0.0;

        squares += mean * mean;
    }
    return squares;
}

static double freedom_of(const iw_history *h)
{
    return USUAL_FREEDOM + (double)h->before_count - 1.0;
}

/* Of the mean of all nodes' differences. */
static double variance_of_mean(const struct judging *j, double mean)
{
    const iw_history *h = j->history;
    const double of_periods = (USUAL_FREEDOM * USUAL_VARIANCE + squares_of_periods(j)) / freedom_of(h);
    double of_nodes = 0.0;

    for (size_t i = 0; i < j->pair_count; i++) {
        of_nodes += (j->pairs[i].difference - mean) * (j->pairs[i].difference - mean);
    }
    of_nodes /= fmax((double)j->pair_count - 1.0, 1.0) * (double)j->pair_count;
    return of_periods * (1.0 / (double)h->before_count + 1.0 / (double)h->after_count) + of_nodes;
}

static iw_source source_of(const struct judging *j, uint32_t family)
{
    return family > 0 ? *iwi_fleet_source_of(j->history->data->cells, family) : (iw_source){.name = ""};
}

static double median_of(const struct judging *j, bool is_after)
{
    for (size_t i = 0; i < j->pair_count; i++) {
        j->scratch[i] = is_after ? j->pairs[i].after : j->pairs[i].before;
    }
    return iwi_select_quantile(j->scratch, j->pair_count, 0.5);
}

static iw_status test_fleet(struct judging *j, uint32_t family)
{
    iw_history *h = j->history;
    iw_history_change change = {.is_all = family == 0, .source = source_of(j, family)};
    double mean = 0.0, deviation;

    for (size_t i = 0; i < j->pair_count; i++) {
        mean += j->pairs[i].difference / (double)j->pair_count;
    }
    deviation = sqrt(variance_of_mean(j, mean));
    change.node_count = j->pair_count;
    change.before = median_of(j, false);
    change.after = median_of(j, true);
    if (fabs(mean) <= -iwi_t_quantile(j->p_fleet / 2.0, freedom_of(h)) * deviation ||
        fabs(mean) < log(LEAST_FACTOR) || fabs(change.after - change.before) < h->opts.matters) {
        return IW_OK;
    }
    deviation *= -iwi_t_quantile(0.025, freedom_of(h));
    change.factor = (iw_estimate){exp(mean), exp(mean - deviation), exp(mean + deviation)};
    IW_TRY(iwi_grow(j->log, (void **)&h->changes, &h->data->change_capacity, h->change_count + 1,
                    sizeof *h->changes));
    h->changes[h->change_count++] = change;
    return IW_OK;
}

static iw_status test_nodes(struct judging *j, uint32_t family)
{
    iw_history *h = j->history;
    struct iwi_fleet_tail tail;
    double median, limit;

    if (j->pair_count < IW_FLEET_LEAST_NODES) {
        return IW_OK;
    }
    for (size_t i = 0; i < j->pair_count; i++) {
        j->scratch[i] = j->pairs[i].difference;
    }
    tail = iwi_fleet_tail_fit(j->scratch, j->pair_count, IWI_FLEET_LEAST_VARIANCE, 1.0);
    median = tail.median;
    limit = fmax(iwi_fleet_tail_limit(&tail, j->p_node, 0.0) - median, log(LEAST_NODE_FACTOR));
    for (size_t i = 0; i < j->pair_count; i++) {
        const struct pair *pair = &j->pairs[i];

        if (pair->difference - median <= limit || pair->after - pair->before < h->opts.matters) {
            continue;
        }
        IW_TRY(iwi_grow(j->log, (void **)&h->changed_nodes, &h->data->node_capacity,
                        h->changed_node_count + 1, sizeof *h->changed_nodes));
        h->changed_nodes[h->changed_node_count++] =
            (iw_history_node){.name = pair->name,
                              .is_all = family == 0,
                              .source = source_of(j, family),
                              .before = pair->before,
                              .after = pair->after,
                              .factor = exp(pair->difference - median),
                              .limit = exp(limit)};
    }
    return IW_OK;
}

/* ---- all ---- */

IWI_COMPARE(by_node_and_time, struct iwi_history_entry, IWI_TEXT(node), IWI_RISING(start_ns))

IWI_COMPARE(larger_change_first, iw_history_change,
            IWI_ORDER(fabs(right->after - right->before), fabs(left->after - left->before)))

/* All sources together are told of a node only where no single one is. */
static void drop_sums(iw_history *h)
{
    size_t kept = 0;

    for (size_t i = 0; i < h->changed_node_count; i++) {
        bool is_told = false;

        for (size_t k = 0; h->changed_nodes[i].is_all && k < h->changed_node_count; k++) {
            is_told |= !h->changed_nodes[k].is_all && h->changed_nodes[k].name == h->changed_nodes[i].name;
        }
        if (!is_told) {
            h->changed_nodes[kept++] = h->changed_nodes[i];
        }
    }
    h->changed_node_count = kept;
}

IWI_COMPARE(larger_node_first, iw_history_node,
            IWI_ORDER(right->after - right->before, left->after - left->before))

static iw_status judge(struct judging *j)
{
    iw_history *h = j->history;
    const size_t families = h->data->cells->family_count;

    IW_TRY(find_periods(j));
    j->slot_sums = iwi_new_array(j->log, j->slot_count, sizeof *j->slot_sums);
    j->slot_counts = iwi_new_array(j->log, j->slot_count, sizeof *j->slot_counts);
    if (j->slot_sums == NULL || j->slot_counts == NULL) {
        return IW_ERR_NOMEM;
    }
    IW_TRY(find_pairs(j));
    find_caveats(h);
    h->tests = families * (1 + (j->pair_count >= IW_FLEET_LEAST_NODES ? j->pair_count : 0));
    j->p_fleet = 0.5 * h->opts.false_alarms / (double)families; /* half of the rate for each question */
    j->p_node = 0.5 * h->opts.false_alarms / (double)(families * (j->pair_count + 1));
    if (j->pair_count == 0) {
        h->least_factor = NAN;
        return IW_OK;
    }
    h->least_factor =
        exp(-iwi_t_quantile(j->p_fleet / 2.0, freedom_of(h)) *
            sqrt(USUAL_VARIANCE * (1.0 / (double)h->before_count + 1.0 / (double)h->after_count)));
    for (uint32_t family = 0; family < families; family++) {
        for (size_t i = 0; i < h->data->count; i++) {
            j->shares[i] = value_of(j, &h->data->entries[i], family, IW_FLEET_SHARE);
        }
        for (size_t i = 0; i < j->pair_count; i++) {
            measure_pair(j, &j->pairs[i]);
        }
        IW_TRY(test_fleet(j, family));
        IW_TRY(test_nodes(j, family));
    }
    iwi_sort(h->changes, h->change_count, larger_change_first);
    drop_sums(h);
    iwi_sort(h->changed_nodes, h->changed_node_count, larger_node_first);
    return IW_OK;
}

iw_status iw_history_judge(const iw_log *log, iw_history *history, const iw_history_opts *given)
{
    iw_history_opts known = IW_HISTORY_OPTS_INIT;
    struct judging j = {.log = log, .history = history};
    const size_t count = history->data->count;
    iw_status status = IW_ERR_NOMEM;

    IW_TRY(IWI_READ_OPTS(log, "IW_HISTORY_OPTS_INIT", given, &known));
    if (count == 0) {
        return iwi_fail(log, IW_ERR_RANGE, "'%s': no recording has a date", history->name);
    }
    if (known.period_ns <= 0 || !(known.false_alarms > 0.0 && known.false_alarms <= 0.5) ||
        !(known.matters >= 0.0 && known.matters <= 1.0)) {
        return iwi_fail(log, IW_ERR_RANGE, "options of a history are out of range");
    }
    history->opts = known;
    iwi_sort(history->data->entries, count, by_node_and_time);
    j.shares = iwi_new_array(log, count, sizeof *j.shares);
    j.scratch = iwi_new_array(log, count, sizeof *j.scratch);
    if (j.shares != NULL && j.scratch != NULL) {
        status = judge(&j);
    }
    free(j.pairs);
    free(j.shares);
    free(j.scratch);
    free(j.slot_sums);
    free(j.slot_counts);
    return status;
}
