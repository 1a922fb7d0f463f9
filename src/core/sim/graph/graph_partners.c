/* Finds the receive of each send where every message has a (source, destination, tag) of its own.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Ranks do similar things. So the receive of a send is first looked for where that of a send in the same
 * place of an earlier rank was.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/sim/graph/graph.h"

#define NO_RECEIVE UINT64_MAX

enum { FREE_STEPS = 1 << 20 }; /* of searches: about a millisecond */

struct partners {
    struct iwi_passes *passes;
    const iw_net *net;
    uint32_t *guesses; /* by place of a send in its rank: the place of its receive in the other rank */
    struct key {
        uint32_t rank, source, tag; /* rank + 1: of the rank that it is of */
    } * keys;                       /* open addressing, of the receives of one rank */
    size_t key_slots;
    uint64_t *is_taken; /* a bit for each node: receives that have a send */
    uint64_t steps;     /* of searches that are left */
    uint64_t sends, recvs;
    struct iwi_graph_refusal *refusal;
};

/* Passes cannot run the graph. */
static bool refuse(struct partners *p, const char *why, uint64_t node)
{
    *p->refusal = (struct iwi_graph_refusal){why, node};
    return false;
}

static const char NO_PARTNER[] =
    "a send or receive has no unique partner by source, destination, tag and size",
                  TOO_LONG[] = "finding the partners of sends takes too long";

/* Of one operation, a send or a receive: NULL if it is not in the way. */
static const char *refusal_of(const struct iwi_node *op, const iw_net *net)
{
    if (op->peer == IWI_ANY || op->tag == IWI_ANY) {
        return op->kind == IWI_SEND ? "a send has any tag" : "a receive takes any source or any tag";
    }
    return op->kind == IWI_SEND && (op->amount > net->S_bytes || (op->flags & IWI_NODE_SYNCHRONOUS) != 0)
               ? "a message uses rendezvous"
               : NULL;
}

/* False if the rank has another receive like it. */
static bool is_new_key(struct partners *p, uint32_t rank, uint32_t source, uint32_t tag)
{
    size_t at = (size_t)(((uint64_t)source << 32 | tag) * UINT64_C(0x9e3779b97f4a7c15) >> 32);

    for (at &= p->key_slots - 1; p->keys[at].rank == rank + 1; at = (at + 1) & (p->key_slots - 1)) {
        if (p->keys[at].source == source && p->keys[at].tag == tag) {
            return false;
        }
    }
    p->keys[at] = (struct key){rank + 1, source, tag};
    return true;
}

/* Numbers the rank's compute phases and receives. */
static bool number_rank(struct partners *p, uint32_t rank)
{
    struct iwi_passes *passes = p->passes;
    const struct iwi_schedule *schedule = passes->schedule;
    uint32_t phases = 0;

    for (uint64_t node = schedule->first_node[rank]; node < schedule->first_node[rank + 1]; node++) {
        const struct iwi_node *op = &schedule->nodes[node];

        if (op->kind == IWI_CALC) {
            passes->partner_of[node] = phases;
            phases += (op->flags & IWI_NODE_PHASE) != 0;
            continue;
        }
        const char *why = refusal_of(op, p->net);

        if (why != NULL) {
            return refuse(p, why, node);
        }
        if (op->kind == IWI_SEND) {
            p->sends++;
            continue;
        }
        if (!is_new_key(p, rank, op->peer, op->tag)) {
            return refuse(p, NO_PARTNER, node);
        }
        p->recvs++;
    }
    return true;
}

static bool is_receive_of(const struct iwi_node *recv, const struct iwi_node *send, uint32_t source)
{
    return recv->kind == IWI_RECV && recv->peer == source && recv->tag == send->tag &&
           recv->amount == send->amount;
}

/* NO_RECEIVE: it has none. */
static uint64_t find_receive(struct partners *p, uint32_t rank, uint64_t node)
{
    const struct iwi_schedule *schedule = p->passes->schedule;
    const struct iwi_node *send = &schedule->nodes[node];
    const uint64_t first = schedule->first_node[send->peer];
    const uint64_t count = schedule->first_node[send->peer + 1] - first;
    uint32_t *guess = &p->guesses[node - schedule->first_node[rank]];

    if (*guess >= count || !is_receive_of(&schedule->nodes[first + *guess], send, rank)) {
        uint64_t place = 0;

        while (place < count && p->steps > 0 && !is_receive_of(&schedule->nodes[first + place], send, rank)) {
            place++;
            p->steps--;
        }
        if (place == count || p->steps == 0) {
            return NO_RECEIVE;
        }
        *guess = (uint32_t)place;
    }
    return first + *guess;
}

/* What the sends of a rank will be compared with first: it is all over the memory. */
static void fetch_guesses(const struct partners *p, uint32_t rank)
{
    const struct iwi_schedule *schedule = p->passes->schedule;
    const uint64_t first = schedule->first_node[rank];

    for (uint64_t node = first; node < schedule->first_node[rank + 1]; node++) {
        if (schedule->nodes[node].kind == IWI_SEND) {
            __builtin_prefetch(schedule->nodes + schedule->first_node[schedule->nodes[node].peer] +
                               p->guesses[node - first]);
        }
    }
}

static bool match_rank(struct partners *p, uint32_t rank)
{
    const struct iwi_schedule *schedule = p->passes->schedule;

    if (rank + 1 < schedule->ranks) {
        fetch_guesses(p, rank + 1);
    }
    for (uint64_t node = schedule->first_node[rank]; node < schedule->first_node[rank + 1]; node++) {
        if (schedule->nodes[node].kind == IWI_SEND) {
            const uint64_t recv = find_receive(p, rank, node), bit = UINT64_C(1) << recv % 64;

            if (recv == NO_RECEIVE || (p->is_taken[recv / 64] & bit) != 0) {
                return refuse(p, p->steps == 0 ? TOO_LONG : NO_PARTNER, node);
            }
            p->is_taken[recv / 64] |= bit;
            p->passes->partner_of[node] = (uint32_t)recv;
        }
    }
    return true;
}

/* The first receive that no send has taken, when all have theirs; UINT64_MAX: there is none. */
static uint64_t first_left_over(const struct partners *p)
{
    const struct iwi_schedule *schedule = p->passes->schedule;

    for (uint64_t node = 0; p->sends < p->recvs && node < schedule->first_node[schedule->ranks]; node++) {
        if (schedule->nodes[node].kind == IWI_RECV && (p->is_taken[node / 64] >> node % 64 & 1) == 0) {
            return node;
        }
    }
    return UINT64_MAX;
}

static bool match_all(struct partners *p)
{
    const uint32_t ranks = p->passes->schedule->ranks;
    uint64_t left;

    for (uint32_t rank = 0; rank < ranks; rank++) {
        if (!number_rank(p, rank)) {
            return false;
        }
    }
    for (uint32_t rank = 0; rank < ranks; rank++) {
        if (!match_rank(p, rank)) {
            return false;
        }
    }
    left = first_left_over(p);
    return left == UINT64_MAX || refuse(p, NO_PARTNER, left);
}

iw_status iwi_passes_match(const iw_log *log, const iw_net *net, struct iwi_passes *passes,
                           struct iwi_graph_refusal *refusal)
{
    const uint64_t nodes = passes->schedule->first_node[passes->schedule->ranks];
    struct partners p = {
        .passes = passes, .net = net, .key_slots = 8, .steps = 4 * nodes + FREE_STEPS, .refusal = refusal};
    iw_status status = IW_ERR_NOMEM;

    while (p.key_slots < UINT64_C(2) * passes->largest_rank) {
        p.key_slots *= 2;
    }
    p.guesses = iwi_new_array(log, passes->largest_rank, sizeof *p.guesses);
    p.keys = iwi_new_array(log, p.key_slots, sizeof *p.keys);
    p.is_taken = iwi_new_array(log, (size_t)(nodes / 64 + 1), sizeof *p.is_taken);
    if (p.guesses != NULL && p.keys != NULL && p.is_taken != NULL) {
        (void)match_all(&p);
        status = IW_OK;
    }
    free(p.guesses);
    free(p.keys);
    free(p.is_taken);
    return status;
}
