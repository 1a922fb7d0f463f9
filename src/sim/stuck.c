/* Says which operations can never run.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>

#include "base/base.h"
#include "sim/engine.h"

enum { NAMED_MAX = 8, NODE_TEXT_SIZE = 160, TEXT_SIZE = NAMED_MAX * NODE_TEXT_SIZE };

static uint32_t rank_of(const struct iwi_schedule *schedule, uint64_t node)
{
    uint32_t low = 0, high = schedule->ranks - 1; /* the last rank with first_node <= node */

    while (low < high) {
        const uint32_t middle = high - (high - low) / 2;

        if (schedule->first_node[middle] <= node) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

/* "rank 1, tag 7", "any rank, any tag"; "rank 1" in a trace, whose tags have been renumbered */
static void describe_peer(const struct iwi_node *node, bool is_traced, char *text, size_t size)
{
    char peer[24] = "any rank", tag[24] = "any tag";

    if (node->peer != IWI_ANY) {
        snprintf(peer, sizeof peer, "rank %" PRIu32, node->peer);
    }
    if (node->tag != IWI_ANY) {
        snprintf(tag, sizeof tag, "tag %" PRIu32, node->tag);
    }
    snprintf(text, size, "%s%s%s", peer, is_traced ? "" : ", ", is_traced ? "" : tag);
}

static void describe(const struct iwi_node *node, bool is_traced, char *text, size_t size)
{
    char peer[64];

    describe_peer(node, is_traced, peer, sizeof peer);
    switch (node->kind) {
    case IWI_SEND:
        snprintf(text, size, "send %" PRIu64 " B to %s, never received", node->amount, peer);
        break;
    case IWI_RECV: snprintf(text, size, "recv %" PRIu64 " B from %s", node->amount, peer); break;
    case IWI_WAIT: snprintf(text, size, "wait"); break;
    case IWI_COLLECTIVE: snprintf(text, size, "collective"); break;
    default: snprintf(text, size, "calc"); break;
    }
}

static size_t count_ranks(const struct iwi_schedule *schedule, const uint64_t *nodes, size_t count)
{
    size_t ranks = count > 0;

    for (size_t i = 1; i < count; i++) {
        ranks += rank_of(schedule, nodes[i]) != rank_of(schedule, nodes[i - 1]);
    }
    return ranks;
}

iw_status iwi_report_stuck(const iw_log *log, const struct iwi_schedule *schedule, const uint64_t *nodes,
                           size_t count)
{
    const size_t ranks = count_ranks(schedule, nodes, count), named = count < NAMED_MAX ? count : NAMED_MAX;
    char text[TEXT_SIZE] = "", rest[32] = "";
    size_t used = 0;

    for (size_t i = 0; i < named; i++) {
        const uint32_t rank = rank_of(schedule, nodes[i]);
        char what[96];

        describe(&schedule->nodes[nodes[i]], schedule->call_of != NULL, what, sizeof what);
        used += (size_t)snprintf(text + used, sizeof text - used, "%srank %" PRIu32 " %s %" PRIu64 " (%s)",
                                 i == 0 ? "" : ", ", rank, schedule->call_of != NULL ? "call" : "op",
                                 schedule->call_of != NULL ? schedule->call_of[nodes[i]]
                                                           : nodes[i] - schedule->first_node[rank],
                                 what);
    }
    if (count > named) {
        snprintf(rest, sizeof rest, " and %zu more", count - named);
    }
    return iwi_fail(log, IW_ERR_DEADLOCK, "%zu rank%s cannot go on: %s%s", ranks, ranks == 1 ? "" : "s", text,
                    rest);
}

iw_status iwi_fail_too_late(const iw_log *log)
{
    return iwi_fail(
        log, IW_ERR_RANGE,
        "the simulated time passes 53 days, the most that can be simulated: compute or repeat less");
}
