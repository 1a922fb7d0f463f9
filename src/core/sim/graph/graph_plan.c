/* What of a graph can be known before it runs: successors, costs, and who meets whom.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/sim/graph/graph.h"
#include "core/sim/meetings.h"
#include "core/sim/rank_array.h"

enum { MOST_NODES = 1 << 30, MOST_COSTS = 1 << 16, COST_SLOTS = 1 << 17 };

/* ---- what windows cannot run ---- */

static iw_time least_cost(const iw_net_costs *costs)
{
    iw_time least = costs->o_send_ps + costs->L_ps;

    for (uint32_t i = 0; i < costs->segment_count; i++) {
        least = iwi_min(least, costs->segments[i].o_send_ps + costs->segments[i].L_ps);
    }
    return least;
}

iw_time iwi_graph_lookahead(const iw_net *net)
{
    iw_time least = least_cost(&net->costs);

    for (uint32_t i = 0; i < net->inner_count; i++) {
        least = iwi_min(least, least_cost(&net->inner[i].costs));
    }
    return least;
}

const char *iwi_graph_refusal(const struct iwi_schedule *schedule, const iw_net *net)
{
    const uint64_t node_count = schedule->first_node[schedule->ranks];

    if (schedule->cpu_count > 1) {
        return "the graph uses several CPUs on a rank";
    }
    if (iwi_graph_lookahead(net) < 1) {
        return "messages of the graph may take no time: o and L are 0";
    }
    if (node_count > MOST_NODES || schedule->first_dep[node_count] > UINT32_MAX) {
        return "the graph has more than 2^30 operations or 2^32 dependences";
    }
    return NULL;
}

const char *iwi_graph_refusal_of_message(const struct iwi_node *node, const iw_net *net)
{
    if (node->peer == IWI_ANY || node->tag == IWI_ANY) {
        return node->kind == IWI_SEND ? "sends with any tag" : "receives from any source or with any tag";
    }
    return iwi_graph_refuses(node, net) ? "sends by rendezvous" : NULL;
}

/* ---- successors ---- */

static void list_successors_of_rank(struct iwi_windows *graph, uint32_t rank)
{
    const struct iwi_schedule *schedule = graph->schedule;
    const uint64_t begin = schedule->first_node[rank], end = schedule->first_node[rank + 1];
    struct iwi_graph_op *ops = graph->ops + begin;
    uint32_t position = (uint32_t)schedule->first_dep[begin];

    for (uint64_t d = schedule->first_dep[begin]; d < schedule->first_dep[end]; d++) {
        ops[schedule->deps[d].node].first_successor++;
    }
    for (uint64_t node = 0; node < end - begin; node++) { /* from counts to ends */
        position += ops[node].first_successor;
        ops[node].first_successor = position;
    }
    for (uint64_t node = end; node-- > begin;) { /* ends move down to starts */
        for (uint64_t d = schedule->first_dep[node + 1]; d-- > schedule->first_dep[node];) {
            const struct iwi_dep dep = schedule->deps[d];

            graph->successors[--ops[dep.node].first_successor] = 2 * (uint32_t)(node - begin) + dep.is_start;
            if (dep.is_start && ops[dep.node].kind == IWI_GRAPH_RECV) {
                ops[dep.node].kind = IWI_GRAPH_RECV_IREQUIRED;
            }
        }
    }
    for (uint64_t node = begin; node < end; node++) { /* most receives let one other operation go */
        const uint64_t next =
            node + 1 < end ? graph->ops[node + 1].first_successor : schedule->first_dep[end];

        if (graph->ops[node].kind == IWI_GRAPH_RECV) {
            graph->ops[node].peer = next - graph->ops[node].first_successor == 1
                                        ? graph->successors[graph->ops[node].first_successor] / 2
                                        : UINT32_MAX;
        }
    }
}

/* ---- operations and their costs ---- */

/* The costs of all sizes so far, by level and bytes. */
struct pricing {
    const iw_log *log;
    const iw_net *net;
    struct iwi_levels levels;
    struct iwi_windows *graph;
    struct priced {
        uint64_t bytes;
        uint32_t level, number; /* + 1; 0: empty */
    } * table;                  /* open addressing, COST_SLOTS */
    size_t capacity;            /* of graph->costs */
    char *note;                 /* "", or why windows cannot run the graph */
};

/* Leaves a note if there are too many. */
static iw_status price(struct pricing *p, uint32_t level, uint64_t bytes, uint16_t *number_p)
{
    size_t at = (size_t)((bytes * 16 + level) * UINT64_C(0x9e3779b97f4a7c15) >> 32) % COST_SLOTS;
    struct iwi_windows *graph = p->graph;

    while (p->table[at].number != 0 && (p->table[at].bytes != bytes || p->table[at].level != level)) {
        at = (at + 1) % COST_SLOTS;
    }
    if (p->table[at].number == 0) {
        if (graph->cost_count == MOST_COSTS) {
            (void)snprintf(p->note, IWI_GRAPH_NOTE, "the messages of the graph have more than %d sizes",
                           MOST_COSTS);
            return IW_OK;
        }
        IW_TRY(iwi_grow(p->log, (void **)&graph->costs, &p->capacity, graph->cost_count + (size_t)1,
                        sizeof *graph->costs));
        graph->costs[graph->cost_count++] = iwi_cost_at(p->net, level, bytes);
        p->table[at] = (struct priced){bytes, level, graph->cost_count};
    }
    *number_p = (uint16_t)(p->table[at].number - 1);
    return IW_OK;
}

static enum iwi_graph_kind kind_of(const struct iwi_node *node)
{
    switch (node->kind) {
    case IWI_SEND: return IWI_GRAPH_SEND;
    case IWI_RECV: return IWI_GRAPH_RECV;
    default: return (node->flags & IWI_NODE_PHASE) != 0 ? IWI_GRAPH_PHASE : IWI_GRAPH_CALC;
    }
}

static iw_status set_ops_of_rank(struct pricing *p, uint32_t rank)
{
    const struct iwi_schedule *schedule = p->graph->schedule;
    uint64_t last_bytes = UINT64_MAX;
    uint32_t phases = 0, last_level = UINT32_MAX;
    uint16_t last_cost = 0;

    for (uint64_t node = schedule->first_node[rank]; node < schedule->first_node[rank + 1]; node++) {
        const struct iwi_node *from = &schedule->nodes[node];
        struct iwi_graph_op *op = &p->graph->ops[node];

        *op = (struct iwi_graph_op){.peer = from->peer, .kind = (uint8_t)kind_of(from), .nic = from->nic};
        if (from->kind == IWI_CALC) {
            op->peer = phases;
            phases += op->kind == IWI_GRAPH_PHASE;
        } else {
            const char *refusal = iwi_graph_refusal_of_message(from, p->net);
            const uint32_t level = refusal != NULL ? 0 : iwi_level_between(&p->levels, rank, from->peer);

            if (refusal != NULL) {
                (void)snprintf(p->note, IWI_GRAPH_NOTE, "rank %" PRIu32 " operation %" PRIu64 " %s", rank,
                               node - schedule->first_node[rank], refusal);
                return IW_OK;
            }
            if (level != last_level || from->amount != last_bytes) {
                IW_TRY(price(p, level, from->amount, &last_cost));
                last_level = level;
                last_bytes = from->amount;
            }
            op->cost = last_cost;
        }
    }
    return IW_OK;
}

static iw_status set_ops_of_all(struct pricing *p)
{
    struct iwi_windows *graph = p->graph;

    for (uint32_t rank = 0; rank < graph->schedule->ranks && p->note[0] == '\0'; rank++) {
        IW_TRY(set_ops_of_rank(p, rank));
        if (p->note[0] == '\0') {
            list_successors_of_rank(graph, rank);
        }
    }
    return IW_OK;
}

static iw_status set_ops(const iw_log *log, const iw_net *net, char *note, struct iwi_windows *graph)
{
    const struct iwi_schedule *schedule = graph->schedule;
    const size_t nodes = (size_t)schedule->first_node[schedule->ranks];
    struct pricing p = {.log = log, .net = net, .graph = graph, .note = note};
    iw_status status = IW_ERR_NOMEM;

    graph->ops = iwi_rank_array_new(log, nodes + 1, sizeof *graph->ops);
    graph->successors = iwi_new_array(log, (size_t)schedule->first_dep[nodes], sizeof *graph->successors);
    p.table = iwi_new_array(log, COST_SLOTS, sizeof *p.table);
    if (graph->ops != NULL && graph->successors != NULL && p.table != NULL) {
        graph->ops[nodes] = (struct iwi_graph_op){.first_successor = (uint32_t)schedule->first_dep[nodes]};
        status = iwi_levels_init(log, net, schedule->ranks, &p.levels);
    }
    if (status == IW_OK) {
        status = set_ops_of_all(&p);
        iwi_levels_release(&p.levels);
    }
    free(p.table);
    return status;
}

/* ---- partners ---- */

static void note(uint64_t *first_p, struct iwi_meeting *meeting, uint64_t node)
{
    meeting->has_several |= *first_p != IWI_NO_MEETING;
    *first_p = *first_p == IWI_NO_MEETING ? node : *first_p;
}

static struct iwi_graph_link link_to(enum iwi_graph_meeting how, uint64_t other)
{
    return (struct iwi_graph_link){how & 3, other & (MOST_NODES - 1)};
}

/* Of a send or receive, when all of the receiver's are known. A receive that expects another size than it
 * gets also goes by a channel, which tells what it got. */
static void set_link(struct iwi_windows *graph, uint64_t node, struct iwi_meeting *meeting, uint64_t partner)
{
    struct iwi_graph_link *link = &graph->ops[node].link;

    if (!meeting->has_several && partner == IWI_NO_MEETING) {
        *link = link_to(IWI_MEETS_NOBODY, 0);
        graph->lonely_count++;
    } else if (!meeting->has_several && graph->ops[node].cost == graph->ops[partner].cost) {
        *link = link_to(IWI_MEETS_NODE, partner);
    } else {
        if (meeting->number == 0) {
            meeting->number = ++graph->channel_count;
        }
        *link = link_to(IWI_MEETS_CHANNEL, meeting->number - 1);
    }
}

static struct iwi_meeting *meeting_of_receive(struct iwi_meetings *m, uint64_t node)
{
    const struct iwi_node *recv = &m->schedule->nodes[node];

    return recv->kind == IWI_RECV ? iwi_meeting_of(m, recv->peer, recv->tag) : NULL;
}

static iw_status link_rank(struct iwi_meetings *m, struct iwi_windows *graph, uint32_t rank)
{
    const struct iwi_schedule *schedule = m->schedule;
    const struct iwi_inbound *begin = m->inbound + m->first_inbound[rank];
    const struct iwi_inbound *end = m->inbound + m->first_inbound[rank + 1];
    const uint64_t first = schedule->first_node[rank], last = schedule->first_node[rank + 1];

    IW_TRY(iwi_meetings_at(m, rank));
    for (const struct iwi_inbound *in = begin; in < end; in++) {
        struct iwi_meeting *meeting = iwi_meeting_of(m, in->source, in->tag);

        __builtin_prefetch(&graph->ops[in->send], 1); /* which set_link() will need */
        note(&meeting->send, meeting, in->send);
    }
    for (uint64_t node = first; node < last; node++) {
        struct iwi_meeting *meeting = meeting_of_receive(m, node);

        if (meeting != NULL) {
            note(&meeting->recv, meeting, node);
        }
    }
    for (const struct iwi_inbound *in = begin; in < end; in++) {
        struct iwi_meeting *meeting = iwi_meeting_of(m, in->source, in->tag);

        set_link(graph, in->send, meeting, meeting->recv);
    }
    for (uint64_t node = first; node < last; node++) {
        struct iwi_meeting *meeting = meeting_of_receive(m, node);

        if (meeting != NULL) {
            set_link(graph, node, meeting, meeting->send);
        }
    }
    return IW_OK;
}

static iw_status set_links(const iw_log *log, struct iwi_windows *graph)
{
    struct iwi_meetings meetings;
    iw_status status;

    IW_TRY(iwi_meetings_init(log, graph->schedule, &meetings));
    status = IW_OK;
    for (uint32_t rank = 0; rank < graph->schedule->ranks && status == IW_OK; rank++) {
        status = link_rank(&meetings, graph, rank);
    }
    iwi_meetings_release(&meetings);
    return status;
}

/* ---- the whole ---- */

/* With the first operation that is on another CPU than the first, if that is the reason. */
static void note_refusal(const struct iwi_schedule *schedule, const char *refusal, char *note)
{
    const uint64_t count = schedule->cpu_count > 1 ? schedule->first_node[schedule->ranks] : 0;
    uint64_t node = 0;
    uint32_t rank = 0;

    while (node < count && schedule->nodes[node].cpu == 0) {
        node++;
    }
    if (node == count) {
        (void)snprintf(note, IWI_GRAPH_NOTE, "%s", refusal);
        return;
    }
    while (schedule->first_node[rank + 1] <= node) {
        rank++;
    }
    (void)snprintf(note, IWI_GRAPH_NOTE, "%s; the first such operation is %" PRIu64 " of rank %" PRIu32,
                   refusal, node - schedule->first_node[rank], rank);
}

iw_status iwi_windows_new(const iw_log *log, const struct iwi_schedule *schedule, const iw_net *net,
                          char note[IWI_GRAPH_NOTE], struct iwi_windows **windows_p)
{
    const char *refusal = iwi_graph_refusal(schedule, net);
    struct iwi_windows *graph = NULL;
    iw_status status = IW_OK;

    note[0] = '\0';
    if (refusal != NULL) {
        note_refusal(schedule, refusal, note);
        *windows_p = NULL;
        return IW_OK;
    }
    graph = iwi_new_array(log, 1, sizeof *graph);
    if (graph == NULL) {
        return IW_ERR_NOMEM;
    }
    graph->schedule = schedule;
    status = set_ops(log, net, note, graph);
    if (status == IW_OK && note[0] == '\0') {
        status = set_links(log, graph);
    }
    if (status != IW_OK || note[0] != '\0') {
        iwi_windows_free(graph);
        graph = NULL;
    }
    if (status == IW_OK) {
        *windows_p = graph;
    }
    return status;
}

void iwi_windows_free(struct iwi_windows *windows)
{
    if (windows != NULL) {
        free(windows->ops);
        free(windows->successors);
        free(windows->costs);
        free(windows);
    }
}
