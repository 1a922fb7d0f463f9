/* Static matching by sorting: all sends and receives by (source, destination, tag, program order).
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "sim/flow/flow_match.h"

#include <stdlib.h>

#include "base/base.h"

struct end_point {
    uint32_t source, destination, tag;
    uint64_t node;
};

const char *iwi_flow_refusal(const struct iwi_schedule *schedule)
{
    const uint64_t node_count = schedule->first_node[schedule->ranks];

    if (!schedule->is_in_order) {
        return "the schedule is a graph whose operations are not in order";
    }
    if (schedule->cpu_count > 1 || schedule->nic_count > 1) {
        return "the schedule uses several CPUs or NICs on a rank";
    }
    for (uint64_t node = 0; node < node_count; node++) {
        const struct iwi_node *op = &schedule->nodes[node];

        if ((op->kind == IWI_SEND || op->kind == IWI_RECV) && (op->peer == IWI_ANY || op->tag == IWI_ANY)) {
            return "the schedule has receives from any source or with any tag";
        }
    }
    return NULL;
}

static int compare_end_points(const void *left, const void *right)
{
    const struct end_point *a = left;
    const struct end_point *b = right;

    if (a->source != b->source) {
        return a->source < b->source ? -1 : 1;
    }
    if (a->destination != b->destination) {
        return a->destination < b->destination ? -1 : 1;
    }
    if (a->tag != b->tag) {
        return a->tag < b->tag ? -1 : 1;
    }
    return (a->node > b->node) - (a->node < b->node);
}

static bool is_same_channel(const struct end_point *a, const struct end_point *b)
{
    return a->source == b->source && a->destination == b->destination && a->tag == b->tag;
}

/* Fills sends and receives in node order. */
static void list_end_points(const struct iwi_schedule *schedule, struct iwi_match *match,
                            struct end_point *sends, size_t *send_count, struct end_point *recvs,
                            size_t *recv_count)
{
    for (uint32_t rank = 0; rank < schedule->ranks; rank++) {
        for (uint64_t node = schedule->first_node[rank]; node < schedule->first_node[rank + 1]; node++) {
            const struct iwi_node *op = &schedule->nodes[node];

            match->rank_of[node] = rank;
            match->partner[node] = UINT64_MAX;
            if (op->kind == IWI_SEND) {
                sends[(*send_count)++] = (struct end_point){rank, op->peer, op->tag, node};
            } else if (op->kind == IWI_RECV) {
                recvs[(*recv_count)++] = (struct end_point){op->peer, rank, op->tag, node};
            }
        }
    }
}

static void pair_up(struct iwi_match *match, const struct end_point *sends, size_t send_count,
                    const struct end_point *recvs, size_t recv_count)
{
    size_t r = 0;

    for (size_t s = 0; s < send_count; s++) {
        while (r < recv_count && !is_same_channel(&sends[s], &recvs[r]) &&
               compare_end_points(&recvs[r], &sends[s]) < 0) {
            r++;
        }
        if (r < recv_count && is_same_channel(&sends[s], &recvs[r])) {
            match->partner[sends[s].node] = recvs[r].node;
            match->partner[recvs[r].node] = sends[s].node;
            r++;
        } else {
            iwi_unreceived_add(&match->unreceived, sends[s].node);
        }
    }
}

iw_status iwi_match_new(const iw_log *log, const struct iwi_schedule *schedule, struct iwi_match **match_p)
{
    const size_t node_count = (size_t)schedule->first_node[schedule->ranks];
    struct iwi_match *match = iwi_new_array(log, 1, sizeof *match);
    struct end_point *sends = iwi_new_array(log, node_count, sizeof *sends);
    struct end_point *recvs = iwi_new_array(log, node_count, sizeof *recvs);
    size_t send_count = 0;
    size_t recv_count = 0;
    iw_status status = IW_ERR_NOMEM;

    if (match != NULL) {
        match->partner = iwi_new_array(log, node_count, sizeof *match->partner);
        match->rank_of = iwi_new_array(log, node_count, sizeof *match->rank_of);
    }
    if (match != NULL && match->partner != NULL && match->rank_of != NULL && sends != NULL && recvs != NULL) {
        list_end_points(schedule, match, sends, &send_count, recvs, &recv_count);
        qsort(sends, send_count, sizeof *sends, compare_end_points);
        qsort(recvs, recv_count, sizeof *recvs, compare_end_points);
        pair_up(match, sends, send_count, recvs, recv_count);
        *match_p = match;
        match = NULL;
        status = IW_OK;
    }
    free(sends);
    free(recvs);
    iwi_match_free(match);
    return status;
}

void iwi_match_free(struct iwi_match *match)
{
    if (match != NULL) {
        free(match->partner);
        free(match->rank_of);
        free(match);
    }
}
