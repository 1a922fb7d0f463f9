/* The flow engine on schedules in order in which all messages between two ranks are received in the order in
 * which they were sent, whatever their tags, and none needs a rendezvous: as patterns and most traces are.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Who meets whom is found once and kept by numbers of sends. A run then needs nothing of a message but when
 * its send was over: one time for each send. Ranks take turns in their order, each as far as it gets.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/sim/flow/flow_state.h"
#include "core/sim/flow/flow_step.h"

/* ---- who meets whom ---- */

/* Of the rank at hand and one that it sends to, or receives from. */
struct pair_count {
    uint32_t stamp; /* rank at hand + 1; else it is of an earlier one */
    uint32_t peer;
    uint32_t messages; /* so far */
    uint32_t next;     /* the receives of the peer before this place are taken */
};

struct send_finder {
    const struct iwi_schedule *schedule;
    uint32_t *send_of;
    bool is_counted;   /* send_of of receives is, until their send is found, how many from the same rank come
                          before */
    uint32_t *guesses; /* by place of a send in its rank: the place of its receive in the other rank */
    struct pair_count *pairs; /* open addressing */
    size_t pair_slots;
    uint64_t sends;
    uint64_t steps; /* of searches that are left */
};

enum { FREE_STEPS = 1 << 20 }; /* of searches: about a millisecond */

static struct pair_count *pair_with(struct send_finder *f, uint32_t rank, uint32_t peer)
{
    size_t at = (size_t)(peer * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (f->pair_slots - 1);

    while (f->pairs[at].stamp == rank + 1 && f->pairs[at].peer != peer) {
        at = (at + 1) & (f->pair_slots - 1);
    }
    if (f->pairs[at].stamp != rank + 1) {
        f->pairs[at] = (struct pair_count){.stamp = rank + 1, .peer = peer};
    }
    return &f->pairs[at];
}

static void number_receives(struct send_finder *f, uint32_t rank)
{
    const struct iwi_schedule *schedule = f->schedule;

    for (uint64_t node = schedule->first_node[rank]; node < schedule->first_node[rank + 1]; node++) {
        if (schedule->nodes[node].kind == IWI_RECV) {
            f->send_of[node] = pair_with(f, rank, schedule->nodes[node].peer)->messages++;
        }
    }
}

/* The receive at this place of the peer is that of the next message to it; or, if they are not counted, it
 * may be a later one. */
static bool is_place_of(const struct send_finder *f, uint32_t rank, const struct pair_count *pair,
                        uint32_t place)
{
    const uint64_t recv = f->schedule->first_node[pair->peer] + place;

    return place >= pair->next && recv < f->schedule->first_node[pair->peer + 1] &&
           f->schedule->nodes[recv].kind == IWI_RECV && f->schedule->nodes[recv].peer == rank &&
           (!f->is_counted || f->send_of[recv] == pair->messages);
}

/* Ranks do similar things: a guess is where the receive of an earlier rank was. */
static bool find_place(struct send_finder *f, uint32_t rank, const struct pair_count *pair, uint32_t *guess)
{
    const uint64_t first = f->schedule->first_node[pair->peer];
    const uint64_t count = f->schedule->first_node[pair->peer + 1] - first;

    if (is_place_of(f, rank, pair, *guess)) {
        return true;
    }
    for (uint32_t place = pair->next; place < count && f->steps > 0; place++, f->steps--) {
        if (f->schedule->nodes[first + place].peer == rank && is_place_of(f, rank, pair, place)) {
            *guess = place;
            return true;
        }
    }
    return false;
}

static bool find_receives(struct send_finder *f, uint32_t rank)
{
    const struct iwi_schedule *schedule = f->schedule;
    const uint64_t first = schedule->first_node[rank];

    for (uint64_t node = first; node < schedule->first_node[rank + 1]; node++) {
        const struct iwi_node *send = &schedule->nodes[node];

        if (send->kind == IWI_SEND) {
            uint32_t *guess = &f->guesses[node - first];
            struct pair_count *pair = pair_with(f, rank, send->peer);

            if (!find_place(f, rank, pair, guess)) {
                return false;
            }
            const uint64_t recv = schedule->first_node[send->peer] + *guess;

            if (schedule->nodes[recv].tag != send->tag || schedule->nodes[recv].amount != send->amount) {
                return false;
            }
            pair->next = *guess + 1;
            pair->messages++;
            f->send_of[node] = f->send_of[recv] = (uint32_t)f->sends++;
        }
    }
    return true;
}

/* What the sends of a rank will be compared with first: it is all over the memory. */
static void fetch_guesses(const struct send_finder *f, uint32_t rank)
{
    const struct iwi_schedule *schedule = f->schedule;
    const uint64_t first = schedule->first_node[rank];

    for (uint64_t node = first; node < schedule->first_node[rank + 1]; node++) {
        if (schedule->nodes[node].kind == IWI_SEND) {
            const uint64_t recv = schedule->first_node[schedule->nodes[node].peer] + f->guesses[node - first];

            __builtin_prefetch(&schedule->nodes[recv]);
            __builtin_prefetch(&f->send_of[recv], 1);
        }
    }
}

/* False: some send has no receive like it in its place, or it takes too long to look. */
static bool find_all(struct send_finder *f)
{
    const uint32_t ranks = f->schedule->ranks;

    f->sends = 0;
    memset(f->pairs, 0, f->pair_slots * sizeof *f->pairs);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        if (rank + 1 < ranks) {
            fetch_guesses(f, rank + 1);
        }
        if (!find_receives(f, rank)) {
            return false;
        }
    }
    return true;
}

/* Each receive has at most one send, later ones between two ranks later ones: if there are as many of both,
 * all meet in their order, whatever has been guessed. Where a guess was one too far some send finds none, and
 * receives are counted. */
static bool find_exactly(struct send_finder *f)
{
    const struct iwi_schedule_facts facts = iwi_schedule_facts(f->schedule);

    if (facts.sends != facts.receives) {
        return false;
    }
    f->is_counted = false;
    if (find_all(f)) {
        return true;
    }
    f->is_counted = true;
    memset(f->pairs, 0, f->pair_slots * sizeof *f->pairs);
    for (uint32_t rank = 0; rank < f->schedule->ranks; rank++) {
        number_receives(f, rank);
    }
    return find_all(f);
}

iw_status iwi_flow_partners_new(const iw_log *log, const struct iwi_schedule *schedule, const iw_net *net,
                                uint32_t **send_of_p)
{
    const struct iwi_schedule_facts facts = iwi_schedule_facts(schedule);
    const uint64_t nodes = schedule->first_node[schedule->ranks];
    const size_t largest = (size_t)iwi_schedule_largest_rank(schedule);
    struct send_finder f = {.schedule = schedule, .pair_slots = 8, .steps = 4 * nodes + FREE_STEPS};
    bool has_memory;

    *send_of_p = NULL;
    if (facts.sends >= UINT32_MAX || facts.has_synchronous || facts.largest_bytes > net->S_bytes) {
        return IW_OK;
    }
    while (f.pair_slots < 2 * largest) {
        f.pair_slots *= 2;
    }
    f.send_of = iwi_rank_array_new(log, (size_t)nodes, sizeof *f.send_of);
    f.guesses = iwi_new_array(log, largest, sizeof *f.guesses);
    f.pairs = iwi_new_array(log, f.pair_slots, sizeof *f.pairs);
    has_memory = f.send_of != NULL && f.guesses != NULL && f.pairs != NULL;
    if (has_memory && find_exactly(&f)) {
        *send_of_p = f.send_of;
        f.send_of = NULL;
    }
    free(f.send_of);
    free(f.guesses);
    free(f.pairs);
    return has_memory ? IW_OK : IW_ERR_NOMEM;
}

/* ---- turns ---- */

enum { NOT_SENT = -1 };
#define NO_SEND UINT32_MAX

struct turn_rank {
    uint64_t next;      /* operation, of all */
    uint64_t phases;    /* compute phases begun */
    uint32_t awaited;   /* the send that it waits for, or NO_SEND */
    uint32_t satisfied; /* so many requests of its wait need nothing more */
    bool is_posted;     /* its next operation is a receive that has been posted */
};

struct turn_run {
    struct iwi_flow *flow;
    const struct iwi_schedule *schedule;
    const uint32_t *send_of;
    struct turn_rank *ranks;
    iw_time *sent;        /* of each send and lane: when its CPU part was over, or NOT_SENT (lane 0) */
    uint64_t *has_turn;   /* a bit for each rank */
    uint32_t first, last; /* no words of has_turn before, and none after, have bits set */
};

static void give_turn(struct turn_run *run, uint32_t rank)
{
    const uint32_t word = rank / 64;

    run->has_turn[word] |= UINT64_C(1) << rank % 64;
    run->first = word < run->first ? word : run->first;
    run->last = word > run->last ? word : run->last;
}

/* ---- operations ---- */

IWI_STEP void turn_send(struct turn_run *run, uint32_t rank, uint64_t node)
{
    struct iwi_flow *flow = run->flow;
    const struct iwi_node *op = &run->schedule->nodes[node];
    const struct iwi_cost *cost = flow_cost(flow, rank, op->peer, op->amount);
    const uint32_t number = run->send_of[node];
    iw_time *sent = &run->sent[(size_t)number << flow->lane_shift];

    for (uint32_t lane = 0; lane < flow->lanes; lane++) {
        step_send(flow, rank, op->peer, ((size_t)rank << flow->lane_shift) + lane, cost, &sent[lane], NULL,
                  false);
    }
    if (run->ranks[op->peer].awaited == number) {
        run->ranks[op->peer].awaited = NO_SEND;
        give_turn(run, op->peer);
    }
}

/* Nothing waits for the time of a posting but the noise that it may meet. */
IWI_STEP void turn_post(struct turn_run *run, uint32_t rank)
{
    struct iwi_flow *flow = run->flow;

    for (uint32_t lane = 0; lane < flow->lanes && flow->post_touch > 0; lane++) {
        (void)step_post(flow, rank, ((size_t)rank << flow->lane_shift) + lane, NULL, false);
    }
}

/* The send of this receive is over; else the rank waits for it. */
IWI_STEP bool is_there(struct turn_run *run, struct turn_rank *here, uint64_t recv)
{
    const uint32_t number = run->send_of[recv];

    if (run->sent[(size_t)number << run->flow->lane_shift] == NOT_SENT) {
        here->awaited = number;
        return false;
    }
    return true;
}

IWI_STEP iw_time arrival_of(struct turn_run *run, uint32_t rank, uint64_t recv, uint32_t lane,
                            const struct iwi_cost **cost_p)
{
    const struct iwi_node *op = &run->schedule->nodes[recv];

    *cost_p = flow_cost(run->flow, op->peer, rank, op->amount);
    return run->sent[((size_t)run->send_of[recv] << run->flow->lane_shift) + lane] + (*cost_p)->wire;
}

IWI_STEP void turn_receive(struct turn_run *run, uint32_t rank, uint64_t recv)
{
    struct iwi_flow *flow = run->flow;

    for (uint32_t lane = 0; lane < flow->lanes; lane++) {
        const struct iwi_cost *cost;
        const iw_time arrival = arrival_of(run, rank, recv, lane, &cost);

        step_receive(flow, rank, ((size_t)rank << flow->lane_shift) + lane, cost, arrival, NULL, false);
    }
}

/* Several receives of a wait, in the order of arrival. */
static void receive_all(struct turn_run *run, uint32_t rank, uint64_t first, const struct iwi_dep *deps,
                        uint64_t count)
{
    struct iwi_flow *flow = run->flow;
    struct iwi_arrival *arrivals = flow->arrivals;
    const struct iwi_cost *cost;

    for (uint32_t lane = 0; lane < flow->lanes; lane++) {
        uint32_t receives = 0;

        for (uint64_t d = 0; d < count; d++) {
            if (run->schedule->nodes[first + deps[d].node].kind == IWI_RECV) {
                arrivals[receives++] = (struct iwi_arrival){
                    arrival_of(run, rank, first + deps[d].node, lane, &cost), deps[d].node};
            }
        }
        iwi_sort_arrivals(arrivals, receives);
        for (uint32_t k = 0; k < receives; k++) {
            const iw_time arrival = arrival_of(run, rank, first + arrivals[k].index, lane, &cost);

            step_receive(flow, rank, ((size_t)rank << flow->lane_shift) + lane, cost, arrival, NULL, false);
        }
    }
}

/* False: the rank has to wait. Requests that are there are not looked at again when it comes back. */
IWI_STEP bool turn_wait(struct turn_run *run, struct turn_rank *here, uint32_t rank, uint64_t wait)
{
    const struct iwi_schedule *schedule = run->schedule;
    const uint64_t first = schedule->first_node[rank];
    const struct iwi_dep *deps = &schedule->deps[schedule->first_dep[wait]];
    const uint64_t count = schedule->first_dep[wait + 1] - schedule->first_dep[wait];
    uint64_t receives = 0, recv = 0;

    for (; here->satisfied < count; here->satisfied++) {
        const uint64_t node = first + deps[here->satisfied].node;

        if (schedule->nodes[node].kind == IWI_RECV && !is_there(run, here, node)) {
            return false;
        }
    }
    here->satisfied = 0;
    for (uint64_t d = 0; d < count; d++) {
        if (schedule->nodes[first + deps[d].node].kind == IWI_RECV) {
            recv = first + deps[d].node;
            receives++;
        }
    }
    if (receives == 1) {
        turn_receive(run, rank, recv);
    } else if (receives > 1) {
        receive_all(run, rank, first, deps, count);
    }
    return true;
}

IWI_STEP bool turn_recv(struct turn_run *run, struct turn_rank *here, uint32_t rank, uint64_t node)
{
    if (!here->is_posted) {
        turn_post(run, rank);
    }
    if ((run->schedule->nodes[node].flags & IWI_NODE_NONBLOCKING) != 0) {
        return true;
    }
    here->is_posted = !is_there(run, here, node);
    if (!here->is_posted) {
        turn_receive(run, rank, node);
    }
    return !here->is_posted;
}

static void turn_calc(struct turn_run *run, struct turn_rank *here, uint32_t rank, const struct iwi_node *op)
{
    struct iwi_flow *flow = run->flow;

    if ((op->flags & IWI_NODE_PHASE) != 0) {
        iwi_flow_phase(flow, rank, here->phases++, (iw_time)op->amount);
        return;
    }
    for (uint32_t lane = 0; lane < flow->lanes; lane++) {
        step_local_work(flow, rank, ((size_t)rank << flow->lane_shift) + lane, (iw_time)op->amount, false);
    }
}

/* One rank, as far as it gets. */
static void turn_run_rank(struct turn_run *run, uint32_t rank)
{
    struct turn_rank *here = &run->ranks[rank];
    const uint64_t end = run->schedule->first_node[rank + 1];
    bool goes_on = true;

    for (uint64_t node = here->next; node < end && goes_on; node += goes_on) {
        here->next = node;
        switch (run->schedule->nodes[node].kind) {
        case IWI_SEND: turn_send(run, rank, node); break;
        case IWI_RECV: goes_on = turn_recv(run, here, rank, node); break;
        case IWI_WAIT: goes_on = turn_wait(run, here, rank, node); break;
        default: turn_calc(run, here, rank, &run->schedule->nodes[node]); break;
        }
    }
    here->next = goes_on ? end : here->next;
}

/* ---- the run ---- */

/* What a rank that comes soon will look at first: it has not been there for long, if at all. First where its
 * operations are, then what they need. */
enum { SOON = 8, LATER = 16, FETCH_BYTES = 320 };

static void fetch_later(const struct turn_run *run, uint32_t rank)
{
    const uint64_t next = run->ranks[rank].next;
    const char *const nodes = (const char *)&run->schedule->nodes[next];

    for (size_t byte = 0; byte < FETCH_BYTES; byte += 64) {
        __builtin_prefetch(nodes + byte);
    }
    __builtin_prefetch(&run->schedule->first_dep[next]);
    __builtin_prefetch(&run->schedule->first_dep[next + 8]);
    __builtin_prefetch(&run->send_of[next]);
}

static void fetch_soon(const struct turn_run *run, uint32_t rank)
{
    const uint64_t next = run->ranks[rank].next;

    __builtin_prefetch(&run->schedule->deps[run->schedule->first_dep[next]]);
}

/* The ranks of a word of has_turn, in their order; one that gets another turn meanwhile waits for the next
 * pass unless it is further on. */
static void turn_word(struct turn_run *run, uint32_t word)
{
    uint64_t ahead = UINT64_MAX;

    while ((run->has_turn[word] & ahead) != 0) {
        const uint32_t bit = (uint32_t)__builtin_ctzll(run->has_turn[word] & ahead);

        ahead = bit == 63 ? 0 : UINT64_MAX << (bit + 1);
        run->has_turn[word] &= ~(UINT64_C(1) << bit);
        if (word * 64 + bit + LATER < run->flow->ranks) {
            fetch_later(run, word * 64 + bit + LATER);
            fetch_soon(run, word * 64 + bit + SOON);
        }
        turn_run_rank(run, word * 64 + bit);
    }
}

/* From the first to the last rank that has a turn. */
static iw_status take_pass(struct turn_run *run)
{
    const uint32_t last = run->last;
    uint32_t word = run->first;

    run->first = UINT32_MAX;
    run->last = 0;
    for (; word <= iwi_max(last, run->last); word++) {
        turn_word(run, word);
        IW_TRY(iwi_tick_rarely(run->flow->job->ticker, word));
    }
    return IW_OK;
}

static uint64_t stuck_node(const void *arg, uint32_t rank)
{
    const struct turn_run *run = arg;
    const uint64_t next = run->ranks[rank].next;

    return next < run->schedule->first_node[rank + 1] ? next : IWI_NOT_STUCK;
}

static iw_status run_turns(struct turn_run *run)
{
    struct iwi_flow *flow = run->flow;
    const size_t times = (size_t)iwi_schedule_facts(run->schedule).sends << flow->lane_shift;

    run->ranks = iwi_rank_array_new(flow->log, flow->ranks, sizeof *run->ranks);
    run->has_turn = iwi_new_array(flow->log, (size_t)flow->ranks / 64 + 1, sizeof *run->has_turn);
    run->sent = iwi_rank_array_new(flow->log, times, sizeof *run->sent);
    if (run->ranks == NULL || run->has_turn == NULL || run->sent == NULL) {
        return IW_ERR_NOMEM;
    }
    IW_TRY(iwi_flow_reserve_scratch(flow, (uint32_t)iwi_schedule_facts(run->schedule).longest_wait));
    for (size_t i = 0; i < times; i += flow->lanes) {
        run->sent[i] = NOT_SENT;
    }
    for (uint32_t rank = 0; rank < flow->ranks; rank++) {
        run->ranks[rank] = (struct turn_rank){.next = run->schedule->first_node[rank], .awaited = NO_SEND};
        give_turn(run, rank);
    }
    while (run->first != UINT32_MAX) {
        IW_TRY(take_pass(run));
    }
    return iwi_report_stuck_ranks(flow->log, run->schedule, stuck_node, run);
}

iw_status iwi_flow_partners_run(struct iwi_flow *flow, const uint32_t *send_of)
{
    struct turn_run run = {
        .flow = flow, .schedule = flow->job->schedule, .send_of = send_of, .first = UINT32_MAX};
    const iw_status status = run_turns(&run);

    free(run.ranks);
    free(run.has_turn);
    free(run.sent);
    return status;
}
