/* Says which operations can never run.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/sim/later_half.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "core/sim/engine.h"
#include "core/sim/possible_matches.h"
#include "core/sim/unreceived.h"

/* What the second half of a run costs, trial by trial. */

bool iwi_later_half(const iw_sim_result *whole, const iw_sim_result *half, double *slowdowns)
{
    const double quiet_ps = (double)(whole->noiseless_ps - half->noiseless_ps);

    if (!(quiet_ps > 0.0)) {
        return false;
    }
    for (uint64_t i = 0; i < half->trials; i++) {
        const double later_ps = (double)whole->makespan_ps[i] - (double)half->makespan_ps[i];

        slowdowns[i] = later_ps / quiet_ps - 1.0;
    }
    return true;
}

/* Sends and receives that can meet, rank by rank. */

/* How many sends have destinations up to each rank. */
static uint64_t count_inbound(struct iwi_meetings *m)
{
    const struct iwi_schedule *schedule = m->schedule;
    const uint64_t nodes = schedule->first_node[schedule->ranks];
    uint64_t sends = 0;

    for (uint64_t node = 0; node < nodes; node++) {
        if (schedule->nodes[node].kind == IWI_SEND) {
            m->first_inbound[schedule->nodes[node].peer]++;
        }
    }
    for (uint32_t rank = 0; rank < schedule->ranks; rank++) {
        sends += m->first_inbound[rank];
        m->first_inbound[rank] = sends;
    }
    m->first_inbound[schedule->ranks] = sends;
    return sends;
}

/* From the last to the first, so that ends move down to starts. */
static void list_inbound(struct iwi_meetings *m)
{
    const struct iwi_schedule *schedule = m->schedule;

    for (uint32_t rank = schedule->ranks; rank-- > 0;) {
        for (uint64_t node = schedule->first_node[rank + 1]; node-- > schedule->first_node[rank];) {
            if (schedule->nodes[node].kind == IWI_SEND) {
                m->inbound[--m->first_inbound[schedule->nodes[node].peer]] =
                    (struct iwi_inbound){node, rank, schedule->nodes[node].tag};
            }
        }
    }
}

iw_status iwi_meetings_init(const iw_log *log, const struct iwi_schedule *schedule,
                            struct iwi_meetings *meetings)
{
    *meetings = (struct iwi_meetings){.log = log, .schedule = schedule};
    meetings->first_inbound = iwi_new_array(log, (size_t)schedule->ranks + 1, sizeof(uint64_t));
    if (meetings->first_inbound == NULL) {
        return IW_ERR_NOMEM;
    }
    meetings->inbound = iwi_new_array(log, (size_t)count_inbound(meetings), sizeof *meetings->inbound);
    if (meetings->inbound == NULL) {
        iwi_meetings_release(meetings);
        return IW_ERR_NOMEM;
    }
    list_inbound(meetings);
    return IW_OK;
}

void iwi_meetings_release(struct iwi_meetings *meetings)
{
    free(meetings->inbound);
    free(meetings->first_inbound);
    free(meetings->table);
    *meetings = (struct iwi_meetings){.log = NULL};
}

iw_status iwi_meetings_at(struct iwi_meetings *m, uint32_t rank)
{
    const uint64_t most = m->first_inbound[rank + 1] - m->first_inbound[rank] +
                          m->schedule->first_node[rank + 1] - m->schedule->first_node[rank];
    size_t size = 8;

    while (size < 2 * most) {
        size *= 2;
    }
    if (size > m->capacity) {
        free(m->table);
        m->table = iwi_new_array(m->log, size, sizeof *m->table);
        m->capacity = m->table == NULL ? 0 : size;
        if (m->table == NULL) {
            return IW_ERR_NOMEM;
        }
    }
    m->mask = size - 1;
    m->stamp = rank + 1; /* a new table has 0 */
    return IW_OK;
}

struct iwi_meeting *iwi_meeting_of(struct iwi_meetings *m, uint32_t source, uint32_t tag)
{
    const uint64_t key = (uint64_t)source << 32 | tag;
    size_t at = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & m->mask;

    while (m->table[at].stamp == m->stamp && (m->table[at].source != source || m->table[at].tag != tag)) {
        at = (at + 1) & m->mask;
    }
    if (m->table[at].stamp != m->stamp) {
        m->table[at] = (struct iwi_meeting){.source = source,
                                            .tag = tag,
                                            .stamp = m->stamp,
                                            .send = IWI_NO_MEETING,
                                            .recv = IWI_NO_MEETING,
                                            .last_recv = IWI_NO_MEETING};
    }
    return &m->table[at];
}

enum { MOST_NAMED = 8, NODE_TEXT_SIZE = 160, TEXT_SIZE = MOST_NAMED * NODE_TEXT_SIZE };

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
    const size_t ranks = count_ranks(schedule, nodes, count), named = count < MOST_NAMED ? count : MOST_NAMED;
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
    return iwi_fail(log, IW_ERR_DEADLOCK, "%zu rank%s cannot continue: %s%s", ranks, ranks == 1 ? "" : "s",
                    text, rest);
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
    return iwi_fail(log, IW_ERR_RANGE,
                    "the simulated time exceeds the limit of 53 days: compute or repeat less");
}
