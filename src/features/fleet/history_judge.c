/* Judges the history of a fleet: which sources changed, and which nodes changed more than the others.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * On a logarithmic scale, each node against itself: what nodes differ in does not count. The mean of all
 * nodes' differences is a change of the fleet if it is beyond what periods differ by chance. A few periods do
 * not show that well, so what fleets usually have is added with the weight of four periods (a moderated t).
 * A node that changed by more than the tail of the others' differences, less their median, stands out.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/opts.h"
#include "core/base/order.h"
#include "core/numeric/numeric.h"
#include "core/stats/select.h"
#include "features/fleet/fleet_judge.h"
#include "features/fleet/fleet_tail.h"
#include "features/fleet/history_judging.h"

/* A fleet without a change usually differs by a tenth from period to period. */
static const double USUAL_VARIANCE = 0.1 * 0.1, USUAL_FREEDOM = 4.0;

/* What is worth an alarm, beside the share of time. */
static const double LEAST_FACTOR = 1.2, LEAST_NODE_FACTOR = 1.5;

/* Entries of a node lie together: nodes with some on both sides. */
static iw_status find_pairs(struct iwi_history_judging *j)
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
                (struct iwi_history_pair){.name = data->entries[begin].node, .begin = begin, .end = end};
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

static void measure_pair(const struct iwi_history_judging *j, struct iwi_history_pair *pair)
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
static double squares_of_periods(const struct iwi_history_judging *j)
{
    const struct iwi_history_entry *entries = j->history->data->entries;
    const double floor = iwi_fleet_share_floor(j->history->opts.matters);
    double squares = 0.0;

    memset(j->slot_sums, 0, j->slot_count * sizeof *j->slot_sums);
    memset(j->slot_counts, 0, j->slot_count * sizeof *j->slot_counts);
    for (size_t p = 0; p < j->pair_count; p++) {
        for (size_t i = j->pairs[p].begin; i < j->pairs[p].end; i++) {
            const size_t slot = iwi_history_slot(j, entries[i].start_ns);

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
static double variance_of_mean(const struct iwi_history_judging *j, double mean)
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

static iw_source source_of(const struct iwi_history_judging *j, uint32_t family)
{
    return family > 0 ? *iwi_fleet_source_of(j->history->data->cells, family) : (iw_source){.name = ""};
}

static double median_of(const struct iwi_history_judging *j, bool is_after)
{
    for (size_t i = 0; i < j->pair_count; i++) {
        j->scratch[i] = is_after ? j->pairs[i].after : j->pairs[i].before;
    }
    return iwi_select_quantile(j->scratch, j->pair_count, 0.5);
}

static iw_status test_fleet(struct iwi_history_judging *j, uint32_t family)
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

static iw_status test_nodes(struct iwi_history_judging *j, uint32_t family)
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
        const struct iwi_history_pair *pair = &j->pairs[i];

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

static iw_status judge(struct iwi_history_judging *j)
{
    iw_history *h = j->history;
    const size_t families = h->data->cells->family_count;

    IW_TRY(iwi_history_find_periods(j));
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
            j->shares[i] = iwi_history_value(j, &h->data->entries[i], family, IW_FLEET_SHARE);
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
    struct iwi_history_judging j = {.log = log, .history = history};
    const size_t count = history->data->count;
    iw_status status = IW_ERR_NOMEM;

    IW_TRY(IWI_READ_OPTS(log, "IW_HISTORY_OPTS_INIT", given, &known));
    if (count == 0) {
        return iwi_fail(log, IW_ERR_RANGE, "'%s': no recording says when it was made", history->name);
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
