/* Stored schedules: made, freed, turned into GOAL's form.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>

#include "core/base/base.h"
#include "core/program/program.h"

void iwi_schedule_free(struct iwi_schedule *schedule)
{
    if (schedule == NULL) {
        return;
    }
    free(schedule->first_node);
    free(schedule->nodes);
    free(schedule->first_dep);
    free(schedule->deps);
    free(schedule->call_of);
    free(schedule);
}

iw_status iwi_schedule_new(const iw_log *log, uint32_t ranks, uint64_t nodes, uint64_t deps,
                           struct iwi_schedule **schedule_p)
{
    struct iwi_schedule *schedule = iwi_new_array(log, 1, sizeof *schedule);

    if (schedule == NULL) {
        return IW_ERR_NOMEM;
    }
    schedule->ranks = ranks;
    schedule->cpu_count = 1;
    schedule->nic_count = 1;
    schedule->first_node = iwi_new_array(log, (size_t)ranks + 1, sizeof *schedule->first_node);
    schedule->nodes =
        schedule->first_node == NULL ? NULL : iwi_new_array(log, nodes, sizeof *schedule->nodes);
    schedule->first_dep =
        schedule->nodes == NULL ? NULL : iwi_new_array(log, nodes + 1, sizeof *schedule->first_dep);
    schedule->deps = schedule->first_dep == NULL ? NULL : iwi_new_array(log, deps, sizeof *schedule->deps);
    if (schedule->deps == NULL) {
        iwi_schedule_free(schedule);
        return IW_ERR_NOMEM;
    }
    *schedule_p = schedule;
    return IW_OK;
}

/* ---- as a graph ---- */

struct dag_writer {
    const struct iwi_schedule *in_order;
    struct iwi_schedule *dag; /* NULL: counting */
    uint64_t nodes, deps;     /* so far */
    uint64_t first;           /* node of the rank in the DAG */
    uint64_t main;            /* the last node of the rank that is not aside, or NO_NODE */
    uint32_t *place;          /* by node of the rank in the program: its number in the rank of the DAG */
};

#define NO_NODE UINT64_MAX

static void put_dag_node(struct dag_writer *w, struct iwi_node node)
{
    if (node.kind == IWI_WAIT) {
        node.kind = IWI_CALC;
        node.amount = 0;
    }
    node.flags &= IWI_NODE_PHASE | IWI_NODE_SYNCHRONOUS;
    if (w->dag != NULL) {
        w->dag->nodes[w->nodes] = node;
        w->dag->first_dep[w->nodes] = w->deps;
    }
    w->nodes++;
}

/* Of the node that was put last. */
static void put_dag_dep(struct dag_writer *w, uint32_t node, bool is_start)
{
    if (w->dag != NULL) {
        w->dag->deps[w->deps] = (struct iwi_dep){node, is_start};
    }
    w->deps++;
}

static bool is_blocking_message(const struct iwi_node *node)
{
    return (node->kind == IWI_SEND || node->kind == IWI_RECV) && (node->flags & IWI_NODE_NONBLOCKING) == 0;
}

/* What a wait requires counts as one of its requests. So a blocking message that only comes before it gets a
 * wait of its own: else the graph would be that of another program, in which both go on side by side. */
static bool needs_own_wait(const struct iwi_schedule *s, uint64_t at, uint64_t previous)
{
    return s->nodes[at].kind == IWI_WAIT && s->first_dep[at] < s->first_dep[at + 1] &&
           is_blocking_message(&s->nodes[previous]);
}

/* The node of the rank that has to be over, or to have started, before this one: the one before it in the
 * program, or in its branch. */
static uint64_t previous_of(const struct dag_writer *w, uint64_t at)
{
    const uint8_t flags = w->in_order->nodes[at].flags;

    return (flags & IWI_NODE_ASIDE) != 0 && (flags & IWI_NODE_ASIDE_FIRST) == 0 ? at - 1 : w->main;
}

/* `at` is the global node number, `first` that of the rank's first: it requires what the wait completes, and
 * the previous node unless that is completed here. */
static void put_dag_part(struct dag_writer *w, uint64_t at, uint64_t first)
{
    const struct iwi_schedule *s = w->in_order;
    const uint64_t previous = previous_of(w, at);
    bool is_previous_listed = previous == NO_NODE;
    uint32_t before = 0;

    if (previous != NO_NODE) {
        before = w->place[previous - first];
        if (needs_own_wait(s, at, previous)) {
            put_dag_node(w, (struct iwi_node){.kind = IWI_WAIT});
            put_dag_dep(w, before, false);
            before = (uint32_t)(w->nodes - 1 - w->first);
        }
    }
    w->place[at - first] = (uint32_t)(w->nodes - w->first);
    put_dag_node(w, s->nodes[at]);
    for (uint64_t d = s->first_dep[at]; d < s->first_dep[at + 1]; d++) {
        is_previous_listed |= w->place[s->deps[d].node] == before;
        put_dag_dep(w, w->place[s->deps[d].node], s->deps[d].is_start);
    }
    if (!is_previous_listed) {
        put_dag_dep(w, before, (s->nodes[previous].flags & IWI_NODE_NONBLOCKING) != 0);
    }
    if ((s->nodes[at].flags & IWI_NODE_ASIDE) == 0) {
        w->main = at;
    }
}

static void put_dag(struct dag_writer *w)
{
    const struct iwi_schedule *s = w->in_order;

    w->nodes = w->deps = 0;
    for (uint32_t rank = 0; rank < s->ranks; rank++) {
        w->first = w->nodes;
        w->main = NO_NODE;
        for (uint64_t at = s->first_node[rank]; at < s->first_node[rank + 1]; at++) {
            put_dag_part(w, at, s->first_node[rank]);
        }
        if (w->dag != NULL) {
            w->dag->first_node[rank + 1] = w->nodes;
            w->dag->first_dep[w->nodes] = w->deps;
        }
    }
}

struct iwi_schedule_facts iwi_schedule_facts(const struct iwi_schedule *schedule)
{
    struct iwi_schedule_facts facts = {.are_known = true};

    if (schedule->facts.are_known) {
        return schedule->facts;
    }
    for (uint64_t node = 0; node < schedule->first_node[schedule->ranks]; node++) {
        iwi_facts_note(&facts, &schedule->nodes[node]);
        if (schedule->nodes[node].kind == IWI_WAIT) {
            const uint64_t requests = schedule->first_dep[node + 1] - schedule->first_dep[node];

            facts.longest_wait = requests > facts.longest_wait ? requests : facts.longest_wait;
        }
    }
    return facts;
}

iw_status iwi_schedule_number_sends(const iw_log *log, const struct iwi_schedule *schedule,
                                    uint32_t **numbers_p)
{
    uint32_t *numbers = iwi_new_array(log, (size_t)schedule->first_node[schedule->ranks], sizeof *numbers);

    if (numbers == NULL) {
        return IW_ERR_NOMEM;
    }
    for (uint32_t rank = 0; rank < schedule->ranks; rank++) {
        uint32_t sends = 0;

        for (uint64_t node = schedule->first_node[rank]; node < schedule->first_node[rank + 1]; node++) {
            numbers[node] = sends;
            sends += schedule->nodes[node].kind == IWI_SEND;
        }
    }
    *numbers_p = numbers;
    return IW_OK;
}

uint64_t iwi_schedule_largest_rank(const struct iwi_schedule *schedule)
{
    uint64_t largest = 0;

    for (uint32_t rank = 0; rank < schedule->ranks; rank++) {
        const uint64_t count = schedule->first_node[rank + 1] - schedule->first_node[rank];

        largest = count > largest ? count : largest;
    }
    return largest;
}

iw_status iwi_schedule_to_dag(const iw_log *log, const struct iwi_schedule *in_order,
                              struct iwi_schedule **dag_p)
{
    struct dag_writer w = {.in_order = in_order};
    iw_status status = IW_ERR_NOMEM;

    w.place = iwi_new_array(log, (size_t)iwi_schedule_largest_rank(in_order), sizeof *w.place);
    if (w.place != NULL) {
        put_dag(&w);
        status = iwi_schedule_new(log, in_order->ranks, w.nodes, w.deps, &w.dag);
    }
    if (status == IW_OK) {
        put_dag(&w);
        w.dag->cpu_count = in_order->cpu_count;
        w.dag->nic_count = in_order->nic_count;
        *dag_p = w.dag;
    }
    free(w.place);
    return status;
}
