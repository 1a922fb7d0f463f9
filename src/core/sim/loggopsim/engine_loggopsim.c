/* LogGOPSim's rules, to the letter, for `--rules loggopsim`. docs/explanation/semantics.md says how they
 * differ from
 * ours. SPDX-License-Identifier: BSD-3-Clause
 *
 * Events are served by (time, serial). An operation enters the queue when all that it depends on has started
 * or finished, at the time its own CPU (and NIC) is free then. A calc and an eager send finish as soon as
 * they are served: their dependants wait for the CPU's clock, not for them. A message is served at the
 * receiver's CPU at arrival of its first byte, with the cpu and nic of its send, whether a receive is posted
 * or not; a receive only matches and costs nothing. A rendezvous send is held until its message is matched.
 * What becomes ready at once on a rank goes by kind, then in the order in which it became so: what needed the
 * start of the operation before what needed its end, and among these in program order.
 * Where LogGOPSim itself goes wrong we keep a defined result: a send finishes once, ready operations keep
 * that order (its sort does not, if there are more than 16), times are signed and checked, noise see
 * loggopsim_noise.c.
 */
#include <stdlib.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "core/sim/loggopsim/loggopsim.h"
#include "core/sim/unreceived.h"

struct lgs_list {
    uint64_t first, last; /* linked by iwi_lgs_element.next, oldest first */
};

struct lgs_successor {
    uint64_t node;
    bool is_start;
};

struct lgs_ready {
    uint64_t node;
    uint64_t order; /* in which it became so */
    uint32_t rank;
    uint32_t turn; /* sends, then receives, then calcs */
};

struct lgs_run {
    const iw_log *log;
    const struct iwi_job *job;
    const struct iwi_schedule *schedule;
    const iw_net *net;
    uint64_t node_count, finished_count;
    struct iwi_lgs_noise noise;
    struct iwi_lgs_fact *facts; /* or NULL */
    /* nodes */
    struct iwi_lgs_element *elements;
    uint32_t *rank_of;
    uint32_t *open_deps;
    bool *is_finished;
    iw_time *delay_ps; /* or NULL */
    uint64_t *first_successor;
    struct lgs_successor *successors;
    /* ranks */
    iw_time *cpu_free_ps, *send_free_ps, *recv_free_ps;
    struct lgs_list *posted, *unexpected;
    /* queues */
    struct iwi_lgs_queue queue;
    struct iwi_lgs_groups groups;
    uint64_t next_serial;
    struct lgs_ready *ready;
    size_t ready_count, ready_capacity;
    bool has_overflow;
};

/* Posted receives and unexpected messages of a rank under LogGOPSim's rules: the oldest match wins. */

static iw_status lgs_loop(struct lgs_run *run);

static void lgs_append(struct lgs_run *run, struct lgs_list *list, uint64_t node)
{
    run->elements[node].next = IWI_LGS_NONE;
    if (list->first == IWI_LGS_NONE) {
        list->first = node;
    } else {
        run->elements[list->last].next = node;
    }
    list->last = node;
}

static bool is_match(const struct lgs_run *run, uint64_t send, uint64_t recv)
{
    const struct iwi_node *s = &run->schedule->nodes[send], *r = &run->schedule->nodes[recv];

    return (r->peer == IWI_ANY || r->peer == run->rank_of[send]) &&
           (r->tag == IWI_ANY || s->tag == IWI_ANY || r->tag == s->tag);
}

/* Takes the oldest element of `list` that matches `node` (a send's message or a receive) out of it;
 * IWI_LGS_NONE if none does. Sizes are not compared. */
static uint64_t lgs_take_match(struct lgs_run *run, struct lgs_list *list, uint64_t node)
{
    const bool is_message = run->schedule->nodes[node].kind == IWI_SEND;
    uint64_t previous = IWI_LGS_NONE, found = list->first;

    while (found != IWI_LGS_NONE && !(is_message ? is_match(run, node, found) : is_match(run, found, node))) {
        previous = found;
        found = run->elements[found].next;
    }
    if (found == IWI_LGS_NONE) {
        return IWI_LGS_NONE;
    }
    if (previous == IWI_LGS_NONE) {
        list->first = run->elements[found].next;
    } else {
        run->elements[previous].next = run->elements[found].next;
    }
    if (list->last == found) {
        list->last = previous;
    }
    return found;
}

/* Sets a run under LogGOPSim's rules up, takes its end times and takes it down. */

static iw_status check_job(const iw_log *log, const struct iwi_job *job)
{
    if (job->schedule == NULL || job->schedule->is_in_order) {
        return iwi_fail(log, IW_ERR_UNSUPPORTED,
                        "LogGOPSim's rules run GOAL schedules only: convert the program to GOAL, or use "
                        "`rules` idlewave");
    }
    if (job->noise != NULL && iw_noise_sync(job->noise) == IW_SYNC_PHASE) {
        return iwi_fail(log, IW_ERR_UNSUPPORTED,
                        "LogGOPSim's rules have no phases: use `sync` none or start, or `rules` idlewave");
    }
    if (job->split != NULL) {
        return iwi_fail(log, IW_ERR_UNSUPPORTED,
                        "LogGOPSim's rules cannot explain critical paths: use `rules` idlewave");
    }
    return IW_OK;
}

/* ---- nodes ---- */

static iw_status allocate_nodes(struct lgs_run *run)
{
    const iw_log *log = run->log;
    const size_t count = (size_t)run->node_count;
    const size_t dep_count = (size_t)run->schedule->first_dep[count];

    run->elements = iwi_new_array(log, count, sizeof *run->elements);
    run->rank_of = iwi_new_array(log, count, sizeof *run->rank_of);
    run->open_deps = iwi_new_array(log, count, sizeof *run->open_deps);
    run->is_finished = iwi_new_array(log, count, sizeof *run->is_finished);
    run->first_successor = iwi_new_array(log, count + 1, sizeof *run->first_successor);
    run->successors = iwi_new_array(log, dep_count, sizeof *run->successors);
    return run->elements == NULL || run->rank_of == NULL || run->open_deps == NULL ||
                   run->is_finished == NULL || run->first_successor == NULL || run->successors == NULL
               ? IW_ERR_NOMEM
               : IW_OK;
}

static void set_ranks(struct lgs_run *run)
{
    const struct iwi_schedule *schedule = run->schedule;

    for (uint32_t rank = 0; rank < schedule->ranks; rank++) {
        for (uint64_t node = schedule->first_node[rank]; node < schedule->first_node[rank + 1]; node++) {
            run->rank_of[node] = rank;
            run->open_deps[node] = (uint32_t)(schedule->first_dep[node + 1] - schedule->first_dep[node]);
        }
    }
}

/* Turns the dependences round; first_successor[n + 1] serves as the place of n's next one while filling. */
static void set_successors(struct lgs_run *run)
{
    const struct iwi_schedule *schedule = run->schedule;
    uint64_t *first = run->first_successor, sum = 0;

    for (uint64_t node = 0; node < run->node_count; node++) {
        for (uint64_t d = schedule->first_dep[node]; d < schedule->first_dep[node + 1]; d++) {
            first[schedule->first_node[run->rank_of[node]] + schedule->deps[d].node + 1]++;
        }
    }
    for (uint64_t node = 0; node < run->node_count; node++) {
        const uint64_t count = first[node + 1];

        first[node + 1] = sum;
        sum += count;
    }
    for (uint64_t node = 0; node < run->node_count; node++) {
        for (uint64_t d = schedule->first_dep[node]; d < schedule->first_dep[node + 1]; d++) {
            const struct iwi_dep *dep = &schedule->deps[d];
            const uint64_t place = first[schedule->first_node[run->rank_of[node]] + dep->node + 1]++;

            run->successors[place] = (struct lgs_successor){.node = node, .is_start = dep->is_start};
        }
    }
}

/* Step n of a rank is its n-th compute phase in program order; in GOAL files every calc is one. */
static iw_status set_delays(struct lgs_run *run)
{
    const struct iwi_job *job = run->job;
    uint64_t step = 0;

    if (!job->has_delays || job->program->delay_count == 0) {
        return IW_OK;
    }
    run->delay_ps = iwi_new_array(run->log, (size_t)run->node_count, sizeof *run->delay_ps);
    if (run->delay_ps == NULL) {
        return IW_ERR_NOMEM;
    }
    for (uint64_t node = 0; node < run->node_count; node++) {
        const uint32_t rank = run->rank_of[node];

        step = node == run->schedule->first_node[rank] ? 0 : step;
        if ((run->schedule->nodes[node].flags & IWI_NODE_PHASE) != 0) {
            run->delay_ps[node] = iwi_program_delay(job->program, rank, ++step);
        }
    }
    return IW_OK;
}

static void clear_facts(struct lgs_run *run)
{
    for (uint64_t node = 0; run->facts != NULL && node < run->node_count; node++) {
        run->facts[node] = (struct iwi_lgs_fact){.match = IWI_LGS_NONE};
    }
}

/* ---- ranks ---- */

static iw_status set_up_ranks(struct lgs_run *run)
{
    const iw_log *log = run->log;
    const size_t ranks = run->schedule->ranks;
    const size_t cpus = ranks * run->schedule->cpu_count, nics = ranks * run->schedule->nic_count;

    run->cpu_free_ps = iwi_new_array(log, cpus, sizeof *run->cpu_free_ps);
    run->send_free_ps = iwi_new_array(log, nics, sizeof *run->send_free_ps);
    run->recv_free_ps = iwi_new_array(log, nics, sizeof *run->recv_free_ps);
    run->posted = iwi_new_array(log, ranks, sizeof *run->posted);
    run->unexpected = iwi_new_array(log, ranks, sizeof *run->unexpected);
    run->groups.first_of_rank = iwi_new_array(log, ranks, sizeof *run->groups.first_of_rank);
    if (run->cpu_free_ps == NULL || run->send_free_ps == NULL || run->recv_free_ps == NULL ||
        run->posted == NULL || run->unexpected == NULL || run->groups.first_of_rank == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t r = 0; r < ranks; r++) {
        run->posted[r] = (struct lgs_list){.first = IWI_LGS_NONE, .last = IWI_LGS_NONE};
        run->unexpected[r] = run->posted[r];
        run->groups.first_of_rank[r] = IWI_LGS_NONE;
    }
    return IW_OK;
}

static iw_status set_up(struct lgs_run *run)
{
    const struct iwi_job *job = run->job;
    const struct iwi_stream_id first_rank = {.seed = job->seed, .trial = job->first_trial, .rank = 0};

    IW_TRY(allocate_nodes(run));
    set_ranks(run);
    set_successors(run);
    IW_TRY(set_delays(run));
    clear_facts(run);
    IW_TRY(set_up_ranks(run));
    return iwi_lgs_noise_init(run->log, &run->noise, job->noise, first_rank, run->schedule->ranks);
}

static void tear_down(struct lgs_run *run)
{
    iwi_lgs_noise_release(&run->noise);
    free(run->elements);
    free(run->rank_of);
    free(run->open_deps);
    free(run->is_finished);
    free(run->delay_ps);
    free(run->first_successor);
    free(run->successors);
    free(run->cpu_free_ps);
    free(run->send_free_ps);
    free(run->recv_free_ps);
    free(run->posted);
    free(run->unexpected);
    free(run->groups.first_of_rank);
    free(run->groups.groups);
    free(run->queue.events);
    free(run->ready);
}

/* ---- the end ---- */

/* What holds a rank: an operation that was let go and did not finish; without one, the first in a circle. */
static uint64_t stuck_node(const void *arg, uint32_t rank)
{
    const struct lgs_run *run = arg;
    uint64_t stuck = IWI_NOT_STUCK;

    for (uint64_t n = run->schedule->first_node[rank]; n < run->schedule->first_node[rank + 1]; n++) {
        if (!run->is_finished[n] && run->open_deps[n] == 0) {
            return n;
        }
        if (!run->is_finished[n] && stuck == IWI_NOT_STUCK) {
            stuck = n;
        }
    }
    return stuck;
}

static void warn_unreceived(const struct lgs_run *run)
{
    struct iwi_unreceived unreceived = {.count = 0};

    for (uint32_t rank = 0; run->job->want_warnings && rank < run->schedule->ranks; rank++) {
        for (uint64_t n = run->unexpected[rank].first; n != IWI_LGS_NONE; n = run->elements[n].next) {
            iwi_unreceived_add(&unreceived, n);
        }
    }
    iwi_warn_unreceived(run->log, run->schedule, &unreceived);
}

static iw_status take_end_times(const struct lgs_run *run)
{
    const size_t cpus = run->schedule->cpu_count;

    if (run->has_overflow) {
        return iwi_fail(run->log, IW_ERR_RANGE, "the simulated time exceeds the limit of 106 days");
    }
    if (run->finished_count < run->node_count) {
        return iwi_report_stuck_ranks(run->log, run->schedule, stuck_node, run);
    }
    warn_unreceived(run);
    for (size_t rank = 0; rank < run->schedule->ranks; rank++) {
        iw_time end_ps = run->cpu_free_ps[rank * cpus];

        for (size_t cpu = 1; cpu < cpus; cpu++) {
            end_ps = iwi_max(end_ps, run->cpu_free_ps[rank * cpus + cpu]);
        }
        run->job->end_ps[rank] = end_ps;
    }
    return IW_OK;
}

iw_status iwi_loggopsim_run_observed(const iw_log *log, const struct iwi_job *job, struct iwi_lgs_fact *facts)
{
    struct lgs_run run = {.log = log, .job = job, .schedule = job->schedule, .net = job->net, .facts = facts};
    iw_status status;

    IW_TRY(check_job(log, job));
    run.node_count = job->schedule->first_node[job->schedule->ranks];
    status = set_up(&run);
    if (status == IW_OK) {
        status = lgs_loop(&run);
    }
    if (status == IW_OK) {
        status = take_end_times(&run);
    }
    tear_down(&run);
    return status;
}

iw_status iwi_loggopsim_run(const iw_log *log, const struct iwi_job *job)
{
    return iwi_loggopsim_run_observed(log, job, NULL);
}

static iw_time plus(struct lgs_run *run, iw_time a, iw_time b)
{
    iw_time sum;

    if (__builtin_add_overflow(a, b, &sum)) {
        run->has_overflow = true;
        return a;
    }
    return sum;
}

/* (bytes - 1) times the cost, so minus one cost for 0 bytes. */
static iw_time further_bytes(iw_fs_per_byte per_byte, uint64_t bytes)
{
    return bytes > 0 ? iwi_bytes_cost(per_byte, bytes - 1) : -iwi_bytes_cost(per_byte, 1);
}

/* It compares them unsigned: of the negative costs of 0 bytes one that is not 0 wins. */
static iw_time larger_unsigned(iw_time a, iw_time b)
{
    return (uint64_t)a > (uint64_t)b ? a : b;
}

/* ---- clocks ---- */

static iw_time *cpu_clock(const struct lgs_run *run, uint32_t rank, uint8_t cpu)
{
    return &run->cpu_free_ps[(size_t)rank * run->schedule->cpu_count + cpu];
}

static iw_time *send_clock(const struct lgs_run *run, uint32_t rank, uint8_t nic)
{
    return &run->send_free_ps[(size_t)rank * run->schedule->nic_count + nic];
}

static iw_time *recv_clock(const struct lgs_run *run, uint32_t rank, uint8_t nic)
{
    return &run->recv_free_ps[(size_t)rank * run->schedule->nic_count + nic];
}

static iw_time free_ps(const struct lgs_run *run, struct iwi_lgs_need need)
{
    const iw_time cpu_ps = *cpu_clock(run, need.rank, need.cpu);

    switch (need.kind) {
    case IWI_SEND: return iwi_max(cpu_ps, *send_clock(run, need.rank, need.nic));
    case IWI_RECV: return iwi_max(cpu_ps, *recv_clock(run, need.rank, need.nic));
    default: return cpu_ps;
    }
}

/* A matched rendezvous send was held until now. */
static void hold_until(struct lgs_run *run, uint32_t rank, const struct iwi_node *ids, iw_time now_ps)
{
    iw_time *cpu = cpu_clock(run, rank, ids->cpu), *nic = send_clock(run, rank, ids->nic);

    *cpu = iwi_max(*cpu, now_ps);
    *nic = iwi_max(*nic, now_ps);
}

/* ---- dependences ---- */

static uint32_t turn_of(const struct iwi_node *node)
{
    return node->kind == IWI_SEND ? 0 : node->kind == IWI_RECV ? 1 : 2;
}

static iw_status add_ready(struct lgs_run *run, uint64_t node)
{
    void *array = run->ready;

    IW_TRY(iwi_grow(run->log, &array, &run->ready_capacity, run->ready_count + 1, sizeof *run->ready));
    run->ready = array;
    run->ready[run->ready_count] = (struct lgs_ready){.node = node,
                                                      .order = run->ready_count,
                                                      .rank = run->rank_of[node],
                                                      .turn = turn_of(&run->schedule->nodes[node])};
    run->ready_count++;
    return IW_OK;
}

static iw_status satisfy(struct lgs_run *run, uint64_t node, bool is_start)
{
    for (uint64_t i = run->first_successor[node]; i < run->first_successor[node + 1]; i++) {
        const struct lgs_successor *successor = &run->successors[i];

        if (successor->is_start == is_start && --run->open_deps[successor->node] == 0) {
            IW_TRY(add_ready(run, successor->node));
        }
    }
    return IW_OK;
}

static iw_status start(struct lgs_run *run, uint64_t node)
{
    return satisfy(run, node, true);
}

static iw_status finish(struct lgs_run *run, uint64_t node)
{
    if (run->is_finished[node]) {
        return IW_OK;
    }
    run->is_finished[node] = true;
    run->finished_count++;
    return satisfy(run, node, false);
}

IWI_COMPARE(compare_ready, struct lgs_ready, IWI_RISING(rank), IWI_RISING(turn), IWI_RISING(order))

static iw_status enqueue(struct lgs_run *run, enum iwi_lgs_event_kind kind, uint64_t node, iw_time time_ps)
{
    run->elements[node].serial = run->next_serial++;
    return iwi_lgs_push(
        run->log, &run->queue,
        (struct iwi_lgs_event){
            .time_ps = time_ps, .serial = run->elements[node].serial, .index = node, .kind = kind});
}

/* Queues what became ready; a receive at its CPU's clock like a calc. */
static iw_status release_ready(struct lgs_run *run)
{
    iwi_sort(run->ready, run->ready_count, compare_ready);
    for (size_t i = 0; i < run->ready_count; i++) {
        const struct iwi_node *node = &run->schedule->nodes[run->ready[i].node];
        const struct iwi_lgs_need need = {.rank = run->ready[i].rank,
                                          .kind = node->kind == IWI_SEND ? IWI_SEND : IWI_CALC,
                                          .cpu = node->cpu,
                                          .nic = node->nic};

        IW_TRY(enqueue(run, IWI_LGS_OP, run->ready[i].node, free_ps(run, need)));
    }
    run->ready_count = 0;
    return IW_OK;
}

static void note_match(struct lgs_run *run, uint64_t send, uint64_t recv)
{
    if (run->facts != NULL) {
        run->facts[send].match = recv;
        run->facts[recv].match = send;
    }
}

/* ---- operations ---- */

static iw_status serve_calc(struct lgs_run *run, uint64_t index, iw_time now_ps)
{
    const struct iwi_node *node = &run->schedule->nodes[index];
    const uint32_t rank = run->rank_of[index];
    iw_time *cpu = cpu_clock(run, rank, node->cpu);
    const iw_time work_ps =
        plus(run, (iw_time)node->amount, run->delay_ps == NULL ? 0 : run->delay_ps[index]);

    *cpu = plus(run, now_ps, plus(run, work_ps, iwi_lgs_noise_lost(&run->noise, rank, now_ps, work_ps)));
    if (run->facts != NULL) {
        run->facts[index].start_ps = now_ps;
        run->facts[index].end_ps = *cpu;
    }
    IW_TRY(start(run, index));
    return finish(run, index);
}

/* Neither noise nor O delays the message. */
static iw_status serve_send(struct lgs_run *run, uint64_t index, iw_time now_ps)
{
    const struct iwi_node *node = &run->schedule->nodes[index];
    const uint32_t rank = run->rank_of[index];
    const iw_net *net = run->net;
    const iw_time lost_ps = iwi_lgs_noise_lost(&run->noise, rank, now_ps, net->o_send_ps);
    const iw_time overhead_ps = plus(run, net->o_send_ps, further_bytes(net->O, node->amount));
    const iw_time gap_ps = plus(run, net->g_ps, further_bytes(net->G, node->amount));
    const iw_time arrival_ps = plus(run, now_ps, plus(run, net->o_send_ps, net->L_ps));
    iw_time *cpu = cpu_clock(run, rank, node->cpu);

    *cpu = plus(run, now_ps, plus(run, overhead_ps, lost_ps));
    *send_clock(run, rank, node->nic) = plus(run, now_ps, gap_ps);
    if (run->facts != NULL) {
        run->facts[index].start_ps = now_ps;
        run->facts[index].end_ps = *cpu;
        run->facts[index].arrival_ps = arrival_ps;
    }
    IW_TRY(enqueue(run, IWI_LGS_MESSAGE, index, arrival_ps));
    IW_TRY(start(run, index));
    return node->amount <= net->S_bytes ? finish(run, index) : IW_OK;
}

/* The cpu and nic are those of the send, on the receiver. */
static iw_status serve_message(struct lgs_run *run, uint64_t send, iw_time now_ps)
{
    const struct iwi_node *node = &run->schedule->nodes[send];
    const uint32_t rank = node->peer;
    const iw_net *net = run->net;
    const iw_time per_gap_ps = further_bytes(net->G, node->amount),
                  per_cpu_ps = further_bytes(net->O, node->amount);
    const iw_time lost_ps = iwi_lgs_noise_lost(&run->noise, rank, now_ps, net->o_recv_ps);
    const iw_time busy_ps =
        plus(run, plus(run, net->o_recv_ps, lost_ps), larger_unsigned(per_cpu_ps, per_gap_ps));
    const uint64_t recv = lgs_take_match(run, &run->posted[rank], send);
    iw_time *cpu = cpu_clock(run, rank, node->cpu);

    *cpu = plus(run, now_ps, busy_ps);
    *recv_clock(run, rank, node->nic) = plus(run, now_ps, plus(run, net->g_ps, per_gap_ps));
    if (run->facts != NULL) {
        run->facts[send].served_ps = now_ps;
        run->facts[send].served_end_ps = *cpu;
        run->facts[send].was_unexpected = recv == IWI_LGS_NONE;
    }
    if (recv == IWI_LGS_NONE) {
        lgs_append(run, &run->unexpected[rank], send);
        return IW_OK;
    }
    note_match(run, send, recv);
    if (node->amount > net->S_bytes) {
        hold_until(run, run->rank_of[send], node, now_ps);
        IW_TRY(finish(run, send));
    }
    return finish(run, recv);
}

/* Rendezvous is told by the size of the receive here, and by that of the message above. */
static iw_status post_recv(struct lgs_run *run, uint64_t recv, iw_time now_ps)
{
    const struct iwi_node *node = &run->schedule->nodes[recv];
    const uint32_t rank = run->rank_of[recv];
    const uint64_t send = lgs_take_match(run, &run->unexpected[rank], recv);

    if (run->facts != NULL) {
        run->facts[recv].start_ps = now_ps;
    }
    IW_TRY(start(run, recv));
    if (send == IWI_LGS_NONE) {
        lgs_append(run, &run->posted[rank], recv);
        return IW_OK;
    }
    note_match(run, send, recv);
    if (node->amount > run->net->S_bytes) {
        hold_until(run, run->rank_of[send], node, now_ps);
        IW_TRY(finish(run, send));
    }
    return finish(run, recv);
}

/* ---- the loop ---- */

static iw_status serve(struct lgs_run *run, uint64_t node, uint8_t need_kind, iw_time now_ps)
{
    switch (need_kind) {
    case IWI_SEND: IW_TRY(serve_send(run, node, now_ps)); break;
    case IWI_RECV: IW_TRY(serve_message(run, node, now_ps)); break;
    default: IW_TRY(serve_calc(run, node, now_ps)); break;
    }
    return release_ready(run);
}

/* Makes the group's oldest member be looked at again at that time. */
static iw_status arm(struct lgs_run *run, uint64_t index, iw_time time_ps)
{
    struct iwi_lgs_group *group = &run->groups.groups[index];

    group->wake_ps = time_ps;
    group->wake_serial = run->elements[group->first].serial;
    return iwi_lgs_push(
        run->log, &run->queue,
        (struct iwi_lgs_event){
            .time_ps = time_ps, .serial = group->wake_serial, .index = index, .kind = IWI_LGS_WAKE});
}

static iw_status wake(struct lgs_run *run, const struct iwi_lgs_event *event)
{
    struct iwi_lgs_group *group = &run->groups.groups[event->index];
    const struct iwi_lgs_need need = group->need;
    const iw_time available_ps = free_ps(run, need);

    if (event->serial != group->wake_serial || event->time_ps != group->wake_ps) {
        return IW_OK;
    }
    if (available_ps > event->time_ps) {
        return arm(run, event->index, available_ps);
    }
    group->wake_serial = IWI_LGS_NONE;
    IW_TRY(serve(run, iwi_lgs_take_first(group, run->elements), need.kind, event->time_ps));
    return group->first == IWI_LGS_NONE ? IW_OK
                                        : arm(run, event->index, iwi_max(free_ps(run, need), event->time_ps));
}

static iw_status try_to_serve(struct lgs_run *run, const struct iwi_lgs_event *event)
{
    const struct iwi_node *node = &run->schedule->nodes[event->index];
    const bool is_message = event->kind == IWI_LGS_MESSAGE;
    const struct iwi_lgs_need need = {.rank = is_message ? node->peer : run->rank_of[event->index],
                                      .kind = is_message ? IWI_RECV : node->kind,
                                      .cpu = node->cpu,
                                      .nic = node->kind == IWI_CALC ? 0 : node->nic};
    const iw_time available_ps = free_ps(run, need);
    uint64_t group;

    if (available_ps <= event->time_ps) {
        return serve(run, event->index, need.kind, event->time_ps);
    }
    IW_TRY(iwi_lgs_wait(run->log, &run->groups, run->elements, need, event->index, &group));
    return run->groups.groups[group].first == event->index ? arm(run, group, available_ps) : IW_OK;
}

static iw_status release_roots(struct lgs_run *run)
{
    for (uint64_t node = 0; node < run->node_count; node++) {
        if (run->open_deps[node] == 0) {
            IW_TRY(add_ready(run, node));
        }
    }
    return release_ready(run);
}

/* Runs all events. */
static iw_status lgs_loop(struct lgs_run *run)
{
    struct iwi_lgs_event event;

    IW_TRY(release_roots(run));
    for (uint64_t turn = 0; iwi_lgs_pop(&run->queue, &event); turn++) {
        IW_TRY(iwi_tick_rarely(run->job->ticker, turn, run->finished_count, run->node_count));
        if (event.kind == IWI_LGS_WAKE) {
            IW_TRY(wake(run, &event));
        } else if (event.kind == IWI_LGS_OP && run->schedule->nodes[event.index].kind == IWI_RECV) {
            IW_TRY(post_recv(run, event.index, event.time_ps));
            IW_TRY(release_ready(run));
        } else {
            IW_TRY(try_to_serve(run, &event));
        }
    }
    return IW_OK;
}
