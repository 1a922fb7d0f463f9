/* The rules that differ between docs/explanation/semantics.md and LogGOPSim, each with a test of what it can
 * touch.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "golden/rules.h"

#include "support/support.h"

#include <stdlib.h>

static uint64_t node_count(const struct observed_run *run)
{
    return run->schedule->first_node[run->schedule->ranks];
}

/* ---- told by the schedule and the network alone ---- */

static bool touches_zero_bytes(const struct observed_run *run)
{
    for (uint64_t n = 0; n < node_count(run); n++) {
        if (run->schedule->nodes[n].kind == IWI_SEND && run->schedule->nodes[n].amount == 0) {
            return run->net->G > 0 || run->net->O > 0;
        }
    }
    return false;
}

static bool touches_overhead_delays_message(const struct observed_run *run)
{
    for (uint64_t n = 0; n < node_count(run); n++) {
        if (run->schedule->nodes[n].kind == IWI_SEND && run->schedule->nodes[n].amount > 1) {
            return run->net->O > 0;
        }
    }
    return false;
}

static bool touches_rendezvous_start(const struct observed_run *run)
{
    for (uint64_t n = 0; n < node_count(run); n++) {
        if (run->schedule->nodes[n].kind != IWI_CALC && run->schedule->nodes[n].amount > run->net->S_bytes) {
            return true;
        }
    }
    return false;
}

static bool touches_cross_cpu(const struct observed_run *run)
{
    const struct iwi_schedule *schedule = run->schedule;

    for (uint64_t n = 0; n < node_count(run); n++) {
        const uint64_t base = schedule->first_node[run->rank_of[n]];

        for (uint64_t d = schedule->first_dep[n]; d < schedule->first_dep[n + 1]; d++) {
            if (schedule->nodes[n].cpu != schedule->nodes[base + schedule->deps[d].node].cpu) {
                return true;
            }
        }
    }
    return false;
}

/* ---- told by the run ---- */

static bool touches_receive_cpu(const struct observed_run *run)
{
    for (uint64_t n = 0; n < node_count(run); n++) {
        const struct iwi_node *send = &run->schedule->nodes[n];
        const uint64_t match = run->facts[n].match;

        if (send->kind == IWI_SEND && match != UINT64_MAX &&
            (run->schedule->nodes[match].cpu != send->cpu || run->schedule->nodes[match].nic != send->nic)) {
            return true;
        }
    }
    return false;
}

static bool touches_receive_when_posted(const struct observed_run *run)
{
    for (uint64_t n = 0; n < node_count(run); n++) {
        if (run->facts[n].was_unexpected) {
            return true;
        }
    }
    return false;
}

/* LogGOPSim's CPU is busy from the first byte on, ours from the last. That shows if the message had to wait,
 * or if other work was ready before the last byte was there. */
static bool touches_bytes_on_wire(const struct observed_run *run)
{
    iw_time later_ready_ps = INT64_MAX; /* earliest of what the same CPU served later */

    for (size_t i = run->cpu_entries; i-- > 0;) {
        const struct occupation *work = &run->by_cpu[i];
        const iw_time transfer_ps = work->kind == IWI_RECV ? further_bytes_ps(run->net->G, work->bytes) : 0;
        const iw_time last_byte_ps = work->start_ps + transfer_ps;

        if (i + 1 < run->cpu_entries && (work[1].rank != work->rank || work[1].cpu != work->cpu)) {
            later_ready_ps = INT64_MAX;
        }
        if (transfer_ps > 0 && (last_byte_ps > work->ready_ps || later_ready_ps <= last_byte_ps)) {
            return true;
        }
        later_ready_ps = work->ready_ps < later_ready_ps ? work->ready_ps : later_ready_ps;
    }
    return false;
}

/* Ours begins when the receive does, LogGOPSim's with the first byte. */
static bool touches_receive_gap(const struct observed_run *run)
{
    for (size_t i = 1; i < run->nic_entries; i++) {
        const struct occupation *last = &run->by_nic[i - 1], *next = &run->by_nic[i];
        const iw_time transfer_ps = further_bytes_ps(run->net->G, last->bytes);
        const iw_time our_gap_end_ps = last->start_ps + transfer_ps + run->net->g_ps + transfer_ps;
        const iw_time our_start_ps = next->start_ps + further_bytes_ps(run->net->G, next->bytes);

        if (last->rank == next->rank && last->nic == next->nic && transfer_ps > 0 &&
            our_start_ps < our_gap_end_ps) {
            return true;
        }
    }
    return false;
}

static bool is_before(iw_time ready_a, uint64_t node_a, iw_time ready_b, uint64_t node_b)
{
    return ready_a < ready_b || (ready_a == ready_b && node_a < node_b);
}

/* Two such may change places; sends and messages of no length still have their gaps. */
static bool is_free(const struct occupation *work)
{
    return work->kind == IWI_CALC && work->start_ps == work->end_ps;
}

/* Somebody was served first although another, who comes first by our rules, was ready. */
static bool touches_cpu_order(const struct observed_run *run)
{
    for (size_t i = 1; i < run->cpu_entries; i++) {
        const struct occupation *late = &run->by_cpu[i];

        for (size_t j = i; j-- > 0;) {
            const struct occupation *early = &run->by_cpu[j];

            if (early->rank != late->rank || early->cpu != late->cpu || early->start_ps < late->ready_ps) {
                break;
            }
            if (is_before(late->ready_ps, late->node, early->ready_ps, early->node) &&
                !(is_free(early) && is_free(late))) {
                return true;
            }
        }
    }
    return false;
}

/* When the CPU of a program in order has done what comes before the wait, but for other requests. */
static iw_time reached_ps(const struct observed_run *run, uint64_t wait)
{
    const uint64_t first = run->program->first_node[run->rank_of[wait]];
    iw_time reached = 0;

    for (uint64_t node = first; node < wait; node++) {
        if (run->program->nodes[node].kind != IWI_RECV && run->facts[node].end_ps > reached) {
            reached = run->facts[node].end_ps;
        }
    }
    return reached;
}

/* A program in order serves messages in the wait for them. LogGOPSim did so before the CPU was there. */
static bool touches_waits(const struct observed_run *run)
{
    const struct iwi_schedule *program = run->program;

    for (uint64_t wait = 0; program->is_in_order && wait < node_count(run); wait++) {
        const uint64_t first = program->first_node[run->rank_of[wait]];

        for (uint64_t d = program->first_dep[wait]; d < program->first_dep[wait + 1]; d++) {
            const uint64_t node = first + program->deps[d].node;

            if (program->nodes[node].kind == IWI_RECV &&
                run->facts[run->facts[node].match].served_ps < reached_ps(run, wait)) {
                return true;
            }
        }
    }
    return false;
}

struct pair {
    uint32_t source, destination, tag;
    uint64_t send, recv;
    iw_time sent_ps, posted_ps;
};

static int compare_pairs(const void *left, const void *right)
{
    const struct pair *a = left, *b = right;

    if (a->source != b->source) {
        return a->source < b->source ? -1 : 1;
    }
    if (a->destination != b->destination) {
        return a->destination < b->destination ? -1 : 1;
    }
    if (a->tag != b->tag) {
        return a->tag < b->tag ? -1 : 1;
    }
    return is_before(a->sent_ps, a->send, b->sent_ps, b->send) ? -1 : 1;
}

static bool has_wildcards(const struct observed_run *run)
{
    for (uint64_t n = 0; n < node_count(run); n++) {
        const struct iwi_node *node = &run->schedule->nodes[n];

        if (node->kind != IWI_CALC && (node->tag == IWI_ANY || node->peer == IWI_ANY)) {
            return true;
        }
    }
    return false;
}

static size_t list_pairs(const struct observed_run *run, struct pair *pairs)
{
    size_t count = 0;

    for (uint64_t n = 0; n < node_count(run); n++) {
        const struct iwi_node *send = &run->schedule->nodes[n];
        const uint64_t recv = run->facts[n].match;

        if (send->kind == IWI_SEND && recv != UINT64_MAX) {
            pairs[count++] = (struct pair){.source = run->rank_of[n],
                                           .destination = send->peer,
                                           .tag = send->tag,
                                           .send = n,
                                           .recv = recv,
                                           .sent_ps = run->facts[n].start_ps,
                                           .posted_ps = run->ready_ps[recv]};
        }
    }
    qsort(pairs, count, sizeof *pairs, compare_pairs);
    return count;
}

/* Without the matches of a run that got stuck: some source and tag is received more than once on a rank. */
static size_t list_receives(const struct observed_run *run, struct pair *pairs)
{
    size_t count = 0;

    for (uint64_t n = 0; n < node_count(run); n++) {
        const struct iwi_node *recv = &run->schedule->nodes[n];

        if (recv->kind == IWI_RECV) {
            pairs[count++] = (struct pair){
                .source = recv->peer, .destination = run->rank_of[n], .tag = recv->tag, .send = n, .recv = n};
        }
    }
    qsort(pairs, count, sizeof *pairs, compare_pairs);
    return count;
}

/* Ours: first send to first posted receive of that source and tag; wildcards by arrival of the last byte. */
static bool touches_matching(const struct observed_run *run)
{
    struct pair *pairs = calloc((size_t)node_count(run) + 1, sizeof *pairs);
    bool is_crossed = false;
    size_t count;

    assert_non_null(pairs);
    count = run->is_deadlock ? list_receives(run, pairs) : list_pairs(run, pairs);
    for (size_t i = 1; i < count; i++) {
        const struct pair *a = &pairs[i - 1], *b = &pairs[i];

        is_crossed |= a->source == b->source && a->destination == b->destination && a->tag == b->tag &&
                      (run->is_deadlock || !is_before(a->posted_ps, a->recv, b->posted_ps, b->recv));
    }
    free(pairs);
    return is_crossed || has_wildcards(run);
}

const struct rule golden_rules[] = {
    {"zero-bytes", "0 bytes cost as 1", false, touches_zero_bytes},
    {"overhead-delays-message", "(k-1)O on the sender delays the message", false,
     touches_overhead_delays_message},
    {"rendezvous-start", "transfer starts when both sides are there", false, touches_rendezvous_start},
    {"cross-cpu", "dependences between CPUs are timed", false, touches_cross_cpu},
    {"receive-cpu", "a receive's own cpu and nic pay", true, touches_receive_cpu},
    {"receive-when-posted", "o is paid once the receive is posted", true, touches_receive_when_posted},
    {"bytes-on-wire", "(k-1)G passes on the wire, not on the CPU", true, touches_bytes_on_wire},
    {"receive-gap", "the gap begins with the receive", true, touches_receive_gap},
    {"cpu-order", "CPUs serve by (ready, program order)", true, touches_cpu_order},
    {"waits", "programs in order serve messages in the wait", true, touches_waits},
    {"matching", "k-th send meets k-th receive", false, touches_matching},
};
const size_t golden_rule_count = sizeof golden_rules / sizeof golden_rules[0];
