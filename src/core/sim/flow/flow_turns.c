/* The flow engine on schedules in order in which all messages between two ranks are received in the order in
 * which they were sent, whatever their tags, and none needs a rendezvous: as patterns and most traces are.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Who meets whom is found once and kept by numbers of sends, and what each rank does becomes a few words: a
 * third of the memory to go through. A run then needs nothing of a message but when its send was over: one
 * time for each send. Ranks take turns in their order, each as far as it gets.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/sim/flow/flow_state.h"
#include "core/sim/flow/flow_step.h"

/* What a rank does, in words. The low bits of the first one are the code, the others what stands behind it.
 */
enum turn_code {
    TURN_SEND, /* bytes; then the peer */
    TURN_POST, /* of a receive, where noise may meet it */
    TURN_WAIT, /* number of receives; then a struct awaited_receive of each */
    TURN_CALC, /* picoseconds */
    TURN_PHASE,
    TURN_LONG_CALC, /* nothing; then the picoseconds, low word first */
    TURN_LONG_PHASE
};

enum { CODE_BITS = 3 };
#define MOST_VALUE ((UINT64_C(1) << (32 - CODE_BITS)) - 1)

struct awaited_receive {
    uint32_t bytes, peer;
    uint32_t place; /* in its rank: send_of has its send */
};

enum { RECEIVE_WORDS = sizeof(struct awaited_receive) / sizeof(uint32_t) };

struct iwi_turn_plan {
    const struct iwi_schedule *schedule;
    bool has_posts;
    uint32_t *words;
    uint64_t *first_word; /* ranks + 1 */
    uint32_t *first_send; /* of each rank: the number of its first send */
    uint32_t *send_of;    /* of each receive, by node */
    uint64_t sends;
    uint32_t longest_wait;
};

static inline enum turn_code code_of(uint32_t word)
{
    return (enum turn_code)(word & ((1U << CODE_BITS) - 1));
}

/* ---- words ---- */

struct turn_writer {
    const struct iwi_turn_plan *turns;
    uint32_t *words; /* NULL: counting */
    uint64_t count;
};

static void put_word(struct turn_writer *w, uint32_t word)
{
    if (w->words != NULL) {
        w->words[w->count] = word;
    }
    w->count++;
}

static void put_code(struct turn_writer *w, enum turn_code code, uint64_t value)
{
    put_word(w, (uint32_t)code | (uint32_t)value << CODE_BITS);
}

static void put_receive(struct turn_writer *w, const struct iwi_node *op, uint32_t place)
{
    put_word(w, (uint32_t)op->amount);
    put_word(w, op->peer);
    put_word(w, place);
}

static void put_calc(struct turn_writer *w, uint64_t ps, bool is_phase)
{
    if (ps <= MOST_VALUE) {
        put_code(w, is_phase ? TURN_PHASE : TURN_CALC, ps);
        return;
    }
    put_word(w, is_phase ? TURN_LONG_PHASE : TURN_LONG_CALC);
    put_word(w, (uint32_t)ps);
    put_word(w, (uint32_t)(ps >> 32));
}

/* Eager sends need no wait. False: the requests are not in the order of the program. */
static bool put_wait(struct turn_writer *w, uint64_t first, uint64_t wait)
{
    const struct iwi_schedule *schedule = w->turns->schedule;
    const uint64_t head = w->count, begin = schedule->first_dep[wait], end = schedule->first_dep[wait + 1];

    put_word(w, TURN_WAIT);
    for (uint64_t d = begin; d < end; d++) {
        const uint32_t place = schedule->deps[d].node;

        if (d > begin && place <= schedule->deps[d - 1].node) {
            return false;
        }
        if (schedule->nodes[first + place].kind == IWI_RECV) {
            put_receive(w, &schedule->nodes[first + place], place);
        }
    }
    if (w->count == head + 1) {
        w->count = head;
    } else if (w->words != NULL) {
        w->words[head] = TURN_WAIT | (uint32_t)((w->count - head - 1) / RECEIVE_WORDS) << CODE_BITS;
    }
    return true;
}

static bool put_operation(struct turn_writer *w, uint64_t first, uint64_t node)
{
    const struct iwi_node *op = &w->turns->schedule->nodes[node];

    switch (op->kind) {
    case IWI_SEND:
        put_code(w, TURN_SEND, op->amount);
        put_word(w, op->peer);
        return true;
    case IWI_RECV:
        if (w->turns->has_posts) {
            put_word(w, TURN_POST);
        }
        if ((op->flags & IWI_NODE_NONBLOCKING) == 0) {
            put_code(w, TURN_WAIT, 1);
            put_receive(w, op, (uint32_t)(node - first));
        }
        return true;
    case IWI_WAIT: return put_wait(w, first, node);
    default: put_calc(w, op->amount, (op->flags & IWI_NODE_PHASE) != 0); return true;
    }
}

/* At most so many words. */
static size_t most_words(const struct iwi_schedule *schedule, const struct iwi_schedule_facts *facts)
{
    const uint64_t nodes = schedule->first_node[schedule->ranks];

    return (size_t)(2 * facts->sends + (2 + RECEIVE_WORDS) * facts->receives +
                    3 * (nodes - facts->sends - facts->receives));
}

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
    struct iwi_turn_plan *turns;
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

static bool find_receive(struct send_finder *f, uint32_t rank, uint64_t node)
{
    const struct iwi_schedule *schedule = f->schedule;
    const struct iwi_node *send = &schedule->nodes[node];
    uint32_t *guess = &f->guesses[node - schedule->first_node[rank]];
    struct pair_count *pair = pair_with(f, rank, send->peer);

    if (!find_place(f, rank, pair, guess)) {
        return false;
    }
    const uint64_t recv = schedule->first_node[send->peer] + *guess;

    pair->next = *guess + 1;
    pair->messages++;
    f->send_of[recv] = (uint32_t)f->turns->sends++;
    return schedule->nodes[recv].tag == send->tag && schedule->nodes[recv].amount == send->amount;
}

/* Finds the receives of what a rank sends, and writes down what it does. */
static bool take_rank(struct send_finder *f, struct turn_writer *w, uint32_t rank)
{
    const struct iwi_schedule *schedule = f->schedule;
    const uint64_t first = schedule->first_node[rank];

    f->turns->first_word[rank] = w->count;
    f->turns->first_send[rank] = (uint32_t)f->turns->sends;
    for (uint64_t node = first; node < schedule->first_node[rank + 1]; node++) {
        if (!put_operation(w, first, node) ||
            (schedule->nodes[node].kind == IWI_SEND && !find_receive(f, rank, node))) {
            return false;
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
    struct turn_writer w = {.turns = f->turns, .words = f->turns->words};

    f->turns->sends = 0;
    memset(f->pairs, 0, f->pair_slots * sizeof *f->pairs);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        if (rank + 1 < ranks) {
            fetch_guesses(f, rank + 1);
        }
        if (!take_rank(f, &w, rank)) {
            return false;
        }
    }
    f->turns->first_word[ranks] = w.count;
    return true;
}

/* Each receive has at most one send, later ones between two ranks later ones: if there are as many of both,
 * all meet in their order, whatever has been guessed. Where a guess was one too far some send finds none, and
 * receives are counted. */
static bool find_exactly(struct send_finder *f)
{
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

/* *is_found_p is false if the schedule has other messages. */
static iw_status find_sends(const iw_log *log, struct iwi_turn_plan *turns, bool *is_found_p)
{
    const struct iwi_schedule *schedule = turns->schedule;
    const uint64_t nodes = schedule->first_node[schedule->ranks];
    const size_t largest = (size_t)iwi_schedule_largest_rank(schedule);
    struct send_finder f = {.schedule = schedule,
                            .turns = turns,
                            .send_of = turns->send_of,
                            .pair_slots = 8,
                            .steps = 4 * nodes + FREE_STEPS};
    bool has_memory;

    while (f.pair_slots < 2 * largest) {
        f.pair_slots *= 2;
    }
    f.guesses = iwi_new_array(log, largest, sizeof *f.guesses);
    f.pairs = iwi_new_array(log, f.pair_slots, sizeof *f.pairs);
    has_memory = f.guesses != NULL && f.pairs != NULL;
    *is_found_p = has_memory && find_exactly(&f);
    free(f.guesses);
    free(f.pairs);
    return has_memory ? IW_OK : IW_ERR_NOMEM;
}

iw_status iwi_turn_plan_new(const iw_log *log, const struct iwi_schedule *schedule, const iw_net *net,
                            struct iwi_turn_plan **turns_p)
{
    const struct iwi_schedule_facts facts = iwi_schedule_facts(schedule);
    struct iwi_turn_plan *turns;
    bool is_found = false;
    iw_status status = IW_ERR_NOMEM;

    *turns_p = NULL;
    if (facts.sends >= UINT32_MAX || facts.sends != facts.receives || facts.has_synchronous ||
        facts.largest_bytes > net->S_bytes || facts.largest_bytes > MOST_VALUE ||
        facts.longest_wait > MOST_VALUE) {
        return IW_OK;
    }
    turns = iwi_new_array(log, 1, sizeof *turns);
    if (turns == NULL) {
        return IW_ERR_NOMEM;
    }
    *turns = (struct iwi_turn_plan){.schedule = schedule,
                                    .has_posts = iwi_post_touch(net) > 0,
                                    .longest_wait = (uint32_t)facts.longest_wait};
    turns->words = iwi_rank_array_new(log, most_words(schedule, &facts), sizeof *turns->words);
    turns->first_word = iwi_new_array(log, (size_t)schedule->ranks + 1, sizeof *turns->first_word);
    turns->first_send = iwi_new_array(log, schedule->ranks, sizeof *turns->first_send);
    turns->send_of =
        iwi_rank_array_new(log, (size_t)schedule->first_node[schedule->ranks], sizeof *turns->send_of);
    if (turns->words != NULL && turns->first_word != NULL && turns->first_send != NULL &&
        turns->send_of != NULL) {
        status = find_sends(log, turns, &is_found);
    }
    if (!is_found) {
        iwi_turn_plan_free(turns);
        return status;
    }
    *turns_p = turns;
    return IW_OK;
}

void iwi_turn_plan_free(struct iwi_turn_plan *turns)
{
    if (turns != NULL) {
        free(turns->words);
        free(turns->first_word);
        free(turns->first_send);
        free(turns->send_of);
        free(turns);
    }
}

/* ---- turns ---- */

enum { NOT_SENT = -1 };
#define NO_SEND UINT32_MAX

struct turn_rank {
    uint64_t next;    /* word of what comes next */
    uint64_t phases;  /* compute phases begun */
    uint32_t awaited; /* the send that it waits for, or NO_SEND */
    uint32_t there;   /* so many receives of its wait need nothing more */
    uint32_t sends;   /* the number of its next one */
};

struct turn_run {
    struct iwi_flow *flow;
    const struct iwi_turn_plan *turns;
    struct turn_rank *ranks;
    iw_time *sent;        /* of each send and lane: when its CPU part was over, or NOT_SENT (lane 0) */
    uint64_t *has_turn;   /* a bit for each rank */
    uint32_t first, last; /* no words of has_turn before, and none after, have bits set */
    uint64_t done;        /* words of all ranks */
};

/* The rank at work. */
struct turn_here {
    struct turn_rank *rank;
    uint32_t number;
    const uint32_t *send_of; /* by place in the rank */
};

static void give_turn(struct turn_run *run, uint32_t rank)
{
    const uint32_t word = rank / 64;

    run->has_turn[word] |= UINT64_C(1) << rank % 64;
    run->first = word < run->first ? word : run->first;
    run->last = word > run->last ? word : run->last;
}

/* ---- operations ---- */

IWI_STEP void turn_send(struct turn_run *run, const struct turn_here *here, uint32_t peer, uint64_t bytes)
{
    struct iwi_flow *flow = run->flow;
    const struct iwi_cost *cost = flow_cost(flow, here->number, peer, bytes);
    const uint32_t number = here->rank->sends++;
    iw_time *sent = &run->sent[(size_t)number << flow->lane_shift];

    for (uint32_t lane = 0; lane < flow->lanes; lane++) {
        step_send(flow, here->number, peer, ((size_t)here->number << flow->lane_shift) + lane, cost,
                  &sent[lane], NULL, false);
    }
    if (run->ranks[peer].awaited == number) {
        run->ranks[peer].awaited = NO_SEND;
        give_turn(run, peer);
    }
}

/* Nothing waits for the time of a posting but the noise that it may meet. */
IWI_STEP void turn_post(struct turn_run *run, const struct turn_here *here)
{
    struct iwi_flow *flow = run->flow;

    for (uint32_t lane = 0; lane < flow->lanes; lane++) {
        (void)step_post(flow, here->number, ((size_t)here->number << flow->lane_shift) + lane, NULL, false);
    }
}

IWI_STEP iw_time arrival_of(struct turn_run *run, const struct turn_here *here,
                            const struct awaited_receive *recv, uint32_t lane, const struct iwi_cost **cost_p)
{
    const size_t number = here->send_of[recv->place];

    *cost_p = flow_cost(run->flow, recv->peer, here->number, recv->bytes);
    return run->sent[(number << run->flow->lane_shift) + lane] + (*cost_p)->wire;
}

IWI_STEP void turn_receive(struct turn_run *run, const struct turn_here *here,
                           const struct awaited_receive *recv)
{
    struct iwi_flow *flow = run->flow;
    const struct iwi_cost *cost;

    for (uint32_t lane = 0; lane < flow->lanes; lane++) {
        const iw_time arrival = arrival_of(run, here, recv, lane, &cost);

        step_receive(flow, here->number, ((size_t)here->number << flow->lane_shift) + lane, cost, arrival, 0,
                     false);
    }
}

/* Several receives of a wait, in the order of arrival. */
static void receive_all(struct turn_run *run, const struct turn_here *here,
                        const struct awaited_receive *receives, uint32_t count)
{
    struct iwi_flow *flow = run->flow;
    struct iwi_arrival *arrivals = flow->arrivals;
    const struct iwi_cost *cost;

    for (uint32_t lane = 0; lane < flow->lanes; lane++) {
        for (uint32_t k = 0; k < count; k++) {
            arrivals[k] = (struct iwi_arrival){arrival_of(run, here, &receives[k], lane, &cost), k};
        }
        iwi_sort_arrivals(arrivals, count);
        for (uint32_t k = 0; k < count; k++) {
            const iw_time arrival = arrival_of(run, here, &receives[arrivals[k].index], lane, &cost);

            step_receive(flow, here->number, ((size_t)here->number << flow->lane_shift) + lane, cost, arrival,
                         0, false);
        }
    }
}

/* False: the rank has to wait. Messages that are there are not looked at again when it comes back. */
IWI_STEP bool turn_wait(struct turn_run *run, const struct turn_here *here,
                        const struct awaited_receive *receives, uint32_t count)
{
    for (uint32_t k = here->rank->there; k < count; k++) {
        const uint32_t number = here->send_of[receives[k].place];

        if (run->sent[(size_t)number << run->flow->lane_shift] == NOT_SENT) {
            here->rank->awaited = number;
            here->rank->there = k;
            return false;
        }
    }
    here->rank->there = 0;
    if (count == 1) {
        turn_receive(run, here, receives);
    } else {
        receive_all(run, here, receives, count);
    }
    return true;
}

static void turn_calc(struct turn_run *run, const struct turn_here *here, iw_time amount, bool is_phase)
{
    struct iwi_flow *flow = run->flow;

    if (is_phase) {
        iwi_flow_phase(flow, here->number, here->rank->phases++, amount);
        return;
    }
    for (uint32_t lane = 0; lane < flow->lanes; lane++) {
        step_local_work(flow, here->number, ((size_t)here->number << flow->lane_shift) + lane, amount, false);
    }
}

/* The words behind what has been done; NULL: the rank has to wait. */
IWI_STEP const uint32_t *turn_step(struct turn_run *run, const struct turn_here *here, const uint32_t *word)
{
    const uint32_t value = *word >> CODE_BITS;

    switch (code_of(*word)) {
    case TURN_SEND: turn_send(run, here, word[1], value); return word + 2;
    case TURN_POST: turn_post(run, here); return word + 1;
    case TURN_WAIT:
        return turn_wait(run, here, (const struct awaited_receive *)(const void *)(word + 1), value)
                   ? word + 1 + (size_t)value * RECEIVE_WORDS
                   : NULL;
    case TURN_CALC: turn_calc(run, here, value, false); return word + 1;
    case TURN_PHASE: turn_calc(run, here, value, true); return word + 1;
    default:
        turn_calc(run, here, (iw_time)(word[1] | (uint64_t)word[2] << 32), code_of(*word) == TURN_LONG_PHASE);
        return word + 3;
    }
}

/* One rank, as far as it gets. */
static void turn_run_rank(struct turn_run *run, uint32_t rank)
{
    const struct iwi_turn_plan *turns = run->turns;
    const struct turn_here here = {&run->ranks[rank], rank,
                                   turns->send_of + turns->schedule->first_node[rank]};
    const uint32_t *word = turns->words + here.rank->next, *next;
    const uint32_t *const end = turns->words + turns->first_word[rank + 1];

    while (word < end && (next = turn_step(run, &here, word)) != NULL) {
        word = next;
    }
    run->done += (uint64_t)(word - turns->words) - here.rank->next;
    here.rank->next = (uint64_t)(word - turns->words);
}

/* ---- the run ---- */

/* What a rank that comes soon will look at first: it has not been there for long, if at all. First its words,
 * then what they need. */
enum { SOON = 8, LATER = 16, FETCH_BYTES = 192 };

static void fetch_later(const struct turn_run *run, uint32_t rank)
{
    const char *const words = (const char *)&run->turns->words[run->ranks[rank].next];

    for (size_t byte = 0; byte < FETCH_BYTES; byte += 64) {
        __builtin_prefetch(words + byte);
    }
}

static void fetch_soon(const struct turn_run *run, uint32_t rank)
{
    const struct iwi_turn_plan *turns = run->turns;
    const uint32_t *word = &turns->words[run->ranks[rank].next];

    if (run->ranks[rank].next < turns->first_word[rank + 1] && code_of(*word) == TURN_WAIT) {
        __builtin_prefetch(&turns->send_of[turns->schedule->first_node[rank] + word[RECEIVE_WORDS]]);
    }
}

/* The ranks of a word of has_turn, in their order; one that gets another turn meanwhile waits for the next
 * pass unless it is further on. */
static void turn_word(struct turn_run *run, uint32_t word)
{
    uint64_t ahead = UINT64_MAX;

    while ((run->has_turn[word] & ahead) != 0) {
        const uint32_t bit = (uint32_t)__builtin_ctzll(run->has_turn[word] & ahead), rank = word * 64 + bit;

        ahead = bit == 63 ? 0 : UINT64_MAX << (bit + 1);
        run->has_turn[word] &= ~(UINT64_C(1) << bit);
        if (rank + LATER < run->flow->ranks) {
            fetch_later(run, rank + LATER);
            fetch_soon(run, rank + SOON);
        }
        turn_run_rank(run, rank);
    }
}

/* From the first to the last rank that has a turn. */
static iw_status take_pass(struct turn_run *run)
{
    const uint64_t all = run->turns->first_word[run->flow->ranks];
    const uint32_t last = run->last;
    uint32_t word = run->first;

    run->first = UINT32_MAX;
    run->last = 0;
    for (; word <= iwi_max(last, run->last); word++) {
        turn_word(run, word);
        IW_TRY(iwi_tick_rarely(run->flow->job->ticker, word, run->done, all));
    }
    return IW_OK;
}

/* The operation that the rank's next words are of. */
static uint64_t stuck_node(const void *arg, uint32_t rank)
{
    const struct turn_run *run = arg;
    const struct iwi_turn_plan *turns = run->turns;
    const uint64_t first = turns->schedule->first_node[rank], next = run->ranks[rank].next;
    struct turn_writer w = {.turns = turns, .count = turns->first_word[rank]};
    uint64_t node = first;

    if (next >= turns->first_word[rank + 1]) {
        return IWI_NOT_STUCK;
    }
    while (put_operation(&w, first, node) && w.count <= next) {
        node++;
    }
    return node;
}

static iw_status run_turns(struct turn_run *run)
{
    struct iwi_flow *flow = run->flow;
    const size_t times = (size_t)run->turns->sends << flow->lane_shift;

    run->ranks = iwi_rank_array_new(flow->log, flow->ranks, sizeof *run->ranks);
    run->has_turn = iwi_new_array(flow->log, (size_t)flow->ranks / 64 + 1, sizeof *run->has_turn);
    run->sent = iwi_rank_array_new(flow->log, times, sizeof *run->sent);
    if (run->ranks == NULL || run->has_turn == NULL || run->sent == NULL) {
        return IW_ERR_NOMEM;
    }
    IW_TRY(iwi_flow_reserve_scratch(flow, run->turns->longest_wait));
    for (size_t i = 0; i < times; i += flow->lanes) {
        run->sent[i] = NOT_SENT;
    }
    for (uint32_t rank = 0; rank < flow->ranks; rank++) {
        run->ranks[rank] = (struct turn_rank){
            .next = run->turns->first_word[rank], .awaited = NO_SEND, .sends = run->turns->first_send[rank]};
        give_turn(run, rank);
    }
    while (run->first != UINT32_MAX) {
        IW_TRY(take_pass(run));
    }
    return iwi_report_stuck_ranks(flow->log, run->turns->schedule, stuck_node, run);
}

iw_status iwi_flow_turns(struct iwi_flow *flow, const struct iwi_turn_plan *turns)
{
    struct turn_run run = {.flow = flow, .turns = turns, .first = UINT32_MAX};
    const iw_status status = run_turns(&run);

    free(run.ranks);
    free(run.has_turn);
    free(run.sent);
    return status;
}
