/* Derives from a run under LogGOPSim's rules when each operation would have been ready by ours.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "support/support.h"

#include <stdlib.h>
#include <string.h>

#include "golden/rules.h"

iw_time further_bytes_ps(iw_fs_per_byte per_byte, uint64_t bytes)
{
    return bytes > 1 ? iwi_bytes_cost(per_byte, bytes - 1) : 0;
}

static void *new_array(size_t count, size_t size)
{
    void *array = calloc(count + 1, size);

    assert_non_null(array);
    return array;
}

static uint64_t node_count(const struct observed_run *run)
{
    return run->schedule->first_node[run->schedule->ranks];
}

/* When the node lets its dependants go. */
static iw_time satisfied_ps(const struct observed_run *run, uint64_t node, bool is_start)
{
    const struct iwi_lgs_fact *fact = &run->facts[node];

    if (run->schedule->nodes[node].kind == IWI_RECV) {
        return is_start ? run->ready_ps[node] : run->facts[fact->match].served_end_ps;
    }
    return is_start ? fact->start_ps : fact->end_ps;
}

static iw_time ready_ps(const struct observed_run *run, uint64_t node)
{
    const struct iwi_schedule *schedule = run->schedule;
    const uint64_t base = schedule->first_node[run->rank_of[node]];
    iw_time ready = 0;

    for (uint64_t d = schedule->first_dep[node]; d < schedule->first_dep[node + 1]; d++) {
        const iw_time other = satisfied_ps(run, base + schedule->deps[d].node, schedule->deps[d].is_start);

        ready = other > ready ? other : ready;
    }
    return ready;
}

/* Chains of posted receives need one pass for each receive that depends on a later node; times only grow. */
static void set_ready(struct observed_run *run)
{
    bool has_changed = true;

    while (has_changed) {
        has_changed = false;
        for (uint64_t node = 0; node < node_count(run); node++) {
            const iw_time ready = ready_ps(run, node);

            has_changed |= ready != run->ready_ps[node];
            run->ready_ps[node] = ready;
        }
    }
}

static struct occupation own_work(const struct observed_run *run, uint64_t node)
{
    const struct iwi_node *op = &run->schedule->nodes[node];

    return (struct occupation){.rank = run->rank_of[node],
                               .cpu = op->cpu,
                               .nic = op->nic,
                               .kind = op->kind,
                               .node = node,
                               .bytes = op->kind == IWI_SEND ? op->amount : 0,
                               .ready_ps = run->ready_ps[node],
                               .start_ps = run->facts[node].start_ps,
                               .end_ps = run->facts[node].end_ps};
}

/* Ready when the receive is posted and the last byte is there. */
static struct occupation served_message(const struct observed_run *run, uint64_t send)
{
    const struct iwi_node *op = &run->schedule->nodes[send];
    const struct iwi_lgs_fact *fact = &run->facts[send];
    const bool is_matched = fact->match != UINT64_MAX;
    const iw_time posted_ps = is_matched ? run->ready_ps[fact->match] : 0;
    const iw_time there_ps = fact->arrival_ps + further_bytes_ps(run->net->O, op->amount) +
                             further_bytes_ps(run->net->G, op->amount);

    return (struct occupation){.rank = op->peer,
                               .cpu = op->cpu,
                               .nic = op->nic,
                               .kind = IWI_RECV,
                               .node = is_matched ? fact->match : send,
                               .bytes = op->amount,
                               .ready_ps = there_ps > posted_ps ? there_ps : posted_ps,
                               .start_ps = fact->served_ps,
                               .end_ps = fact->served_end_ps};
}

static int compare_times(const struct occupation *a, const struct occupation *b)
{
    if (a->start_ps != b->start_ps) {
        return a->start_ps < b->start_ps ? -1 : 1;
    }
    return a->end_ps < b->end_ps ? -1 : a->end_ps > b->end_ps; /* work of no length came first */
}

static int compare_by_cpu(const void *left, const void *right)
{
    const struct occupation *a = left, *b = right;

    if (a->rank != b->rank) {
        return a->rank < b->rank ? -1 : 1;
    }
    return a->cpu != b->cpu ? a->cpu - b->cpu : compare_times(a, b);
}

static int compare_by_nic(const void *left, const void *right)
{
    const struct occupation *a = left, *b = right;

    if (a->rank != b->rank) {
        return a->rank < b->rank ? -1 : 1;
    }
    return a->nic != b->nic ? a->nic - b->nic : compare_times(a, b);
}

static void list_occupations(struct observed_run *run)
{
    const size_t count = (size_t)node_count(run);

    run->by_cpu = new_array(2 * count, sizeof *run->by_cpu);
    run->by_nic = new_array(count, sizeof *run->by_nic);
    for (uint64_t node = 0; node < count; node++) {
        const uint8_t kind = run->schedule->nodes[node].kind;

        if (kind != IWI_RECV) {
            run->by_cpu[run->cpu_entries++] = own_work(run, node);
        }
        if (kind == IWI_SEND) {
            run->by_cpu[run->cpu_entries++] = served_message(run, node);
            run->by_nic[run->nic_entries++] = served_message(run, node);
        }
    }
    qsort(run->by_cpu, run->cpu_entries, sizeof *run->by_cpu, compare_by_cpu);
    qsort(run->by_nic, run->nic_entries, sizeof *run->by_nic, compare_by_nic);
}

void observe(struct observed_run *run, const struct iwi_schedule *program,
             const struct iwi_schedule *schedule, const iw_net *net, const struct iwi_lgs_fact *facts,
             bool is_deadlock)
{
    memset(run, 0, sizeof *run);
    run->program = program;
    run->schedule = schedule;
    run->net = net;
    run->facts = facts;
    run->is_deadlock = is_deadlock;
    run->rank_of = new_array((size_t)node_count(run), sizeof *run->rank_of);
    run->ready_ps = new_array((size_t)node_count(run), sizeof *run->ready_ps);
    for (uint32_t rank = 0; rank < schedule->ranks; rank++) {
        for (uint64_t node = schedule->first_node[rank]; node < schedule->first_node[rank + 1]; node++) {
            run->rank_of[node] = rank;
        }
    }
    if (!is_deadlock) {
        set_ready(run);
        list_occupations(run);
    }
}

void observe_free(struct observed_run *run)
{
    free(run->rank_of);
    free(run->ready_ps);
    free(run->by_cpu);
    free(run->by_nic);
}
