/* Says which operations can never run.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "core/sim/engine.h"
#include "core/sim/unreceived.h"

enum { NAMED_MAX = 8, NODE_TEXT_SIZE = 160, TEXT_SIZE = NAMED_MAX * NODE_TEXT_SIZE };

static uint32_t rank_of(const struct iwi_schedule *schedule, uint64_t node)
{
    size_t at;

    IWI_FIRST_NOT(at, 1, schedule->ranks, schedule->first_node[at] <= node);
    return (uint32_t)at - 1;
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
    case IWI_COLLECTIVE: snprintf(text, size, "collective"); break;
    default: snprintf(text, size, "calc"); break;
    }
}

/* "wait for recv 8 B from rank 1, tag 7", "wait for 3 messages" */
static void describe_wait(const struct iwi_schedule *schedule, uint64_t first, uint64_t wait, char *text,
                          size_t size)
{
    const uint64_t begin = schedule->first_dep[wait], count = schedule->first_dep[wait + 1] - begin;
    char what[96];

    if (count == 1) {
        describe(&schedule->nodes[first + schedule->deps[begin].node], schedule->call_of != NULL, what,
                 sizeof what);
        (void)snprintf(text, size, "wait for %s", what);
    } else if (count > 1) {
        (void)snprintf(text, size, "wait for %" PRIu64 " messages", count);
    } else {
        (void)snprintf(text, size, "wait");
    }
}

/* "rank 0 op 2", "rank 0 call 2" */
static void describe_place(const struct iwi_schedule *schedule, uint64_t node, char *text, size_t size)
{
    const uint32_t rank = rank_of(schedule, node);
    const bool is_traced = schedule->call_of != NULL;

    (void)snprintf(text, size, "rank %" PRIu32 " %s %" PRIu64, rank, is_traced ? "call" : "op",
                   is_traced ? schedule->call_of[node] : node - schedule->first_node[rank]);
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
        char place[48], what[112];

        describe_place(schedule, nodes[i], place, sizeof place);
        if (schedule->nodes[nodes[i]].kind == IWI_WAIT) {
            describe_wait(schedule, schedule->first_node[rank_of(schedule, nodes[i])], nodes[i], what,
                          sizeof what);
        } else {
            describe(&schedule->nodes[nodes[i]], schedule->call_of != NULL, what, sizeof what);
        }
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "%s%s (%s)", i == 0 ? "" : ", ", place, what);
    }
    if (count > named) {
        snprintf(rest, sizeof rest, " and %zu more", count - named);
    }
    return iwi_fail(log, IW_ERR_DEADLOCK, "%zu rank%s cannot go on: %s%s", ranks, ranks == 1 ? "" : "s", text,
                    rest);
}

iw_status iwi_report_stuck_ranks(const iw_log *log, const struct iwi_schedule *schedule, iwi_stuck_node find,
                                 const void *run)
{
    uint64_t *stuck = iwi_new_array(log, schedule->ranks, sizeof *stuck);
    size_t count = 0;
    iw_status status;

    if (stuck == NULL) {
        return IW_ERR_NOMEM;
    }
    for (uint32_t rank = 0; rank < schedule->ranks; rank++) {
        stuck[count] = find(run, rank);
        count += stuck[count] != IWI_NOT_STUCK;
    }
    status = count == 0 ? IW_OK : iwi_report_stuck(log, schedule, stuck, count);
    free(stuck);
    return status;
}

void iwi_unreceived_add(struct iwi_unreceived *unreceived, uint64_t node)
{
    unreceived->count++;
    for (uint32_t i = 0; i < unreceived->named; i++) {
        if (node < unreceived->first[i]) {
            const uint64_t higher = unreceived->first[i];

            unreceived->first[i] = node;
            node = higher;
        }
    }
    if (unreceived->named < IWI_UNRECEIVED_NAMED) {
        unreceived->first[unreceived->named++] = node;
    }
}

void iwi_warn_unreceived(const iw_log *log, const struct iwi_schedule *schedule,
                         const struct iwi_unreceived *unreceived)
{
    const uint64_t count = unreceived->count;
    char text[IWI_UNRECEIVED_NAMED * NODE_TEXT_SIZE] = "", rest[40] = "";
    size_t used = 0;

    if (count == 0) {
        return;
    }
    for (uint32_t i = 0; i < unreceived->named; i++) {
        const struct iwi_node *node = &schedule->nodes[unreceived->first[i]];
        char place[48], peer[64];

        describe_place(schedule, unreceived->first[i], place, sizeof place);
        describe_peer(node, schedule->call_of != NULL, peer, sizeof peer);
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s (%" PRIu64 " B to %s)",
                                 i == 0 ? "" : ", ", place, node->amount, peer);
    }
    if (count > unreceived->named) {
        (void)snprintf(rest, sizeof rest, " and %" PRIu64 " more", count - unreceived->named);
    }
    iwi_warn(log, "%" PRIu64 " message%s sent but never received: %s%s", count, count == 1 ? " is" : "s are",
             text, rest);
}

iw_status iwi_fail_too_late(const iw_log *log)
{
    return iwi_fail(
        log, IW_ERR_RANGE,
        "the simulated time passes 53 days, the most that can be simulated: compute or repeat less");
}
