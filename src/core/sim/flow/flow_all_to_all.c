/* The flow engine's rounds in which every rank sends to all others at once, in memory proportional to ranks.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * All sends of a rank come before it serves what it receives, so when they end depends on that rank alone.
 * They end on lines wherever no detour is met. Receivers are taken one after the other; what a sender has for
 * the next receiver is its next send. So each sender is kept where it is, never what it sent: for receiver 0
 * sender i begins with its send number P - i, and starts again behind receiver i.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/net/cost.h"
#include "core/sim/flow/flow_state.h"

/* One rank serves many messages of one size, without sorting those that wait for it anyway.
 *
 * Which of several messages that have arrived is served next plays no role if all cost the same. So of those
 * that are there when the rank is free only their number counts, and between two detours they are a line.
 */

struct drain {
    struct iwi_flow *flow;
    uint32_t rank;
    size_t at;
    iw_time work, touch, gap; /* of a message */
};

static iw_time free_from(const struct drain *drain)
{
    return iwi_max(drain->flow->cpu[drain->at], drain->flow->recv_gap[drain->at]);
}

/* One message from then on. */
static void serve_one(const struct drain *drain, iw_time start)
{
    struct iwi_flow *flow = drain->flow;
    iw_time *next = &flow->next_detour[drain->at];
    const iw_time end = start + drain->work;

    flow->recv_gap[drain->at] = start + drain->gap;
    flow->cpu[drain->at] = end + drain->touch <= *next
                               ? end
                               : iwi_flow_work_slow(flow, drain->rank, drain->at, next, start,
                                                    drain->work + drain->touch, NULL) -
                                     drain->touch;
}

/* That many, which are there. */
static void serve_waiting(const struct drain *drain, size_t count)
{
    const iw_time slope = iwi_max(drain->work, drain->gap);

    while (count > 0) {
        const iw_time start = free_from(drain),
                      left = drain->flow->next_detour[drain->at] - start - drain->work - drain->touch;
        size_t some = 1;

        if (left >= 0 && slope > 0) {
            some = (size_t)(left / slope) < count ? (size_t)(left / slope) + 1 : count;
        }
        serve_one(drain, start + (iw_time)(some - 1) * slope);
        count -= some;
    }
}

/* Moves those after `now` to the front; tells how many. */
static size_t keep_later(struct iwi_arrival *arrivals, size_t count, iw_time now)
{
    size_t kept = 0;

    for (size_t k = 0; k < count; k++) {
        const struct iwi_arrival arrival = arrivals[k];

        arrivals[kept] = arrival;
        kept += arrival.time > now;
    }
    return kept;
}

/* Element `at`, of `rank`, serves messages that all cost the same, given in any order. Changes `arrivals`;
 * `scratch` as for iwi_sort_by_lines(). */
static void flow_drain(struct iwi_flow *flow, uint32_t rank, size_t at, const struct iwi_cost *cost,
                       struct iwi_arrival *arrivals, size_t count, struct iwi_arrival *scratch)
{
    const struct drain drain = {flow, rank, at, cost->recv_cpu, cost->recv_touch, cost->gap};
    size_t kept = keep_later(arrivals, count, free_from(&drain));

    while (count - kept > kept / 8) { /* going through them all is worth it */
        serve_waiting(&drain, count - kept);
        count = kept;
        kept = keep_later(arrivals, count, free_from(&drain));
    }
    serve_waiting(&drain, count - kept);
    iwi_sort_by_lines(arrivals, kept, scratch);
    for (size_t k = 0; k < kept; k++) {
        serve_one(&drain, iwi_max(free_from(&drain), arrivals[k].time));
    }
}

/* Where a rank is. */
struct standing {
    iw_time cpu, send_gap, recv_gap, next;
    iw_time posted; /* its receives of this round */
};

/* Sends that end at value, value + slope, ..., all at one level. */
struct line {
    iw_time value, slope;
    uint32_t left, level;
};

struct sender {
    iw_time start;     /* of its last send */
    uint32_t distance; /* of the next one's receiver */
    uint32_t level;    /* of the last one; not steady: none */
    bool is_steady;
};

/* One lane of a round. */
struct exchange {
    struct iwi_flow *flow;
    uint32_t ranks, lane;
    bool is_rendezvous;
    struct iwi_cost costs[IW_NET_INNER_MAX + 1];
    iw_time notice, handshake;
    struct standing *before, *after; /* before the round; behind the sends, and then behind the round */
    int64_t *before_words, *after_words;
    struct sender *senders;
    struct line *lines;
    struct iwi_arrival *arrivals, *scratch;
};

static size_t element_of(const struct exchange *x, uint32_t rank)
{
    return iwi_flow_at(x->flow, rank) + x->lane;
}

static void copy_words(const struct exchange *x, uint32_t rank, int64_t *kept, bool is_back)
{
    const size_t words = x->flow->words;
    int64_t *own = x->flow->noise_words + element_of(x, rank) * words;

    if (words > 0) {
        memcpy(is_back ? own : kept + rank * words, is_back ? kept + rank * words : own, words * sizeof *own);
    }
}

static void save(const struct exchange *x, uint32_t rank, struct standing *kept, int64_t *words)
{
    const struct iwi_flow *flow = x->flow;
    const size_t i = element_of(x, rank);

    kept[rank].cpu = flow->cpu[i];
    kept[rank].send_gap = flow->send_gap[i];
    kept[rank].recv_gap = flow->recv_gap[i];
    kept[rank].next = flow->next_detour[i];
    copy_words(x, rank, words, false);
}

static void load(const struct exchange *x, uint32_t rank, const struct standing *kept, int64_t *words)
{
    struct iwi_flow *flow = x->flow;
    const size_t i = element_of(x, rank);

    flow->cpu[i] = kept[rank].cpu;
    flow->send_gap[i] = kept[rank].send_gap;
    flow->recv_gap[i] = kept[rank].recv_gap;
    flow->next_detour[i] = kept[rank].next;
    copy_words(x, rank, words, true);
}

/* `touch` as in struct iwi_cost. */
static iw_time do_work(struct iwi_flow *flow, uint32_t rank, size_t i, iw_time t, iw_time d, iw_time touch)
{
    iw_time *next = &flow->next_detour[i];

    return t + d + touch <= *next ? t + d
                                  : iwi_flow_work_slow(flow, rank, i, next, t, d + touch, NULL) - touch;
}

/* ---- sends ---- */

static uint32_t peer_at(const struct exchange *x, uint32_t rank, uint32_t distance)
{
    return distance < x->ranks - rank ? rank + distance : rank - (x->ranks - distance);
}

/* For how many receivers from that distance on the level is the same, as far as it is easily told. */
static uint32_t level_run(const struct exchange *x, uint32_t rank, uint32_t distance, uint32_t level)
{
    const struct iwi_levels *levels = &x->flow->job->levels;
    const uint32_t left = x->ranks - distance, peer = peer_at(x, rank, distance);
    const uint32_t before_end = peer < rank ? left : (uint32_t)iwi_min(left, x->ranks - peer);

    if (levels->count == 0) {
        return left;
    }
    if (levels->places != NULL) {
        return 1;
    }
    if (levels->nodes == 0 && level == levels->count) { /* up to the first rank of the own group */
        return peer < rank ? rank - rank % levels->ranks[level - 1] - peer : before_end;
    }
    if (levels->nodes == 0) { /* as long as the peer stays in a group that the own rank is in, or is not in */
        const uint32_t group = levels->ranks[level == 0 ? 0 : level - 1];

        return (uint32_t)iwi_min(before_end, group - peer % group);
    }
    if (level < levels->count || levels->dealt + 1 < levels->count) { /* other nodes may be in one group */
        return 1;
    }
    /* up to the next rank that is on the same node */
    return (uint32_t)iwi_min(before_end,
                             (rank % levels->nodes + levels->nodes - peer % levels->nodes) % levels->nodes);
}

/* Undisturbed sends, up to `room`, or none. */
static uint32_t jump(const struct exchange *x, struct sender *sender, size_t i, const struct iwi_cost *cost,
                     uint32_t room, struct line *line)
{
    struct iwi_flow *flow = x->flow;
    const iw_time slope = iwi_max(cost->send_cpu, cost->gap), first = sender->start + slope;
    const iw_time left = flow->next_detour[i] - first - cost->send_cpu - cost->send_touch;

    if (left < 0) {
        return 0;
    }
    if (left < (iw_time)(room - 1) * slope) {
        room = 1 + (uint32_t)(left / slope);
    }
    sender->start = first + (iw_time)(room - 1) * slope;
    flow->cpu[i] = sender->start + cost->send_cpu;
    flow->send_gap[i] = sender->start + cost->gap;
    line->value = first + cost->send_cpu;
    line->slope = slope;
    return room;
}

static void step(const struct exchange *x, struct sender *sender, uint32_t rank, size_t i,
                 const struct iwi_cost *cost, struct line *line)
{
    struct iwi_flow *flow = x->flow;

    sender->start = iwi_max(flow->cpu[i], flow->send_gap[i]);
    flow->send_gap[i] = sender->start + cost->gap;
    flow->cpu[i] = do_work(flow, rank, i, sender->start, cost->send_cpu, cost->send_touch);
    sender->is_steady = flow->cpu[i] == sender->start + cost->send_cpu;
    line->value = flow->cpu[i];
    line->slope = 0;
}

/* The next sends of a rank. */
static void next_line(const struct exchange *x, uint32_t rank)
{
    const uint32_t distance = x->senders[rank].distance;
    const uint32_t level = iwi_level_between(&x->flow->job->levels, rank, peer_at(x, rank, distance));
    const struct iwi_cost *cost = &x->costs[level];
    struct sender *sender = &x->senders[rank];
    struct line *line = &x->lines[rank];
    const size_t i = element_of(x, rank);

    line->left = 0;
    if (sender->is_steady && sender->level == level) {
        line->left = jump(x, sender, i, cost, level_run(x, rank, distance, level), line);
    }
    if (line->left == 0) {
        step(x, sender, rank, i, cost, line);
        line->left = 1;
    }
    line->level = sender->level = level;
    sender->distance += line->left;
}

/* From its first send on, of which the first `skipped` are done at once. */
static void start_sender(const struct exchange *x, uint32_t rank, uint32_t skipped)
{
    struct line *line = &x->lines[rank];

    x->senders[rank] = (struct sender){.distance = 1};
    line->left = 0;
    while (skipped > 0) {
        uint32_t some;

        if (line->left == 0) {
            next_line(x, rank);
        }
        some = line->left < skipped ? line->left : skipped;
        line->value += some * line->slope;
        line->left -= some;
        skipped -= some;
    }
}

/* ---- receives ---- */

/* When rank `sender`'s next message arrives at a receiver that posted its receives then. */
static iw_time next_arrival(const struct exchange *x, uint32_t sender, iw_time posted)
{
    struct line *line = &x->lines[sender];
    iw_time left;

    if (line->left == 0) {
        next_line(x, sender);
    }
    left = line->value;
    line->value += line->slope;
    line->left--;
    if (x->is_rendezvous) {
        left = iwi_max(left + x->notice, posted) + x->handshake;
    }
    return left + x->costs[line->level].wire;
}

/* Receive number k is from the rank k + 1 after this one; those right before it send to it first. */
static void gather(const struct exchange *x, uint32_t rank)
{
    const iw_time posted = x->before[rank].posted;
    uint32_t count = 0;

    for (uint32_t sender = rank; sender-- > 0; count++) {
        x->arrivals[count] =
            (struct iwi_arrival){next_arrival(x, sender, posted), x->ranks - 1 - (rank - sender)};
    }
    for (uint32_t sender = x->ranks; --sender > rank; count++) {
        x->arrivals[count] = (struct iwi_arrival){next_arrival(x, sender, posted), sender - rank - 1};
    }
}

/* In the order of arrival. */
static void serve_sorted(const struct exchange *x, uint32_t rank)
{
    struct iwi_flow *flow = x->flow;
    const size_t i = element_of(x, rank);
    iw_time cpu = flow->cpu[i], gap = flow->recv_gap[i];

    for (uint32_t k = 0; k + 1 < x->ranks; k++) {
        const uint32_t peer = peer_at(x, rank, x->arrivals[k].index + 1);
        const struct iwi_cost *cost = &x->costs[iwi_level_between(&flow->job->levels, rank, peer)];
        const iw_time start = iwi_max(iwi_max(cpu, x->arrivals[k].time), gap);

        gap = start + cost->gap;
        cpu = do_work(flow, rank, i, start, cost->recv_cpu, cost->recv_touch);
    }
    flow->cpu[i] = cpu;
    flow->recv_gap[i] = gap;
}

static void serve(const struct exchange *x, uint32_t rank)
{
    if (x->flow->job->levels.count == 0) {
        flow_drain(x->flow, rank, element_of(x, rank), &x->costs[0], x->arrivals, x->ranks - 1, x->scratch);
    } else {
        iwi_sort_by_lines(x->arrivals, x->ranks - 1, x->scratch);
        serve_sorted(x, rank);
    }
}

/* Rule 5: the sender waits for the last transfer to start. */
static void wait_for_transfers(const struct exchange *x, uint32_t rank, iw_time last_send,
                               iw_time last_posted)
{
    struct iwi_flow *flow = x->flow;
    const size_t i = element_of(x, rank);
    const iw_time transfer = iwi_max(last_send + x->notice, last_posted) + x->handshake;

    flow->cpu[i] = iwi_max(flow->cpu[i], transfer);
    flow->send_gap[i] = iwi_max(flow->send_gap[i], transfer + x->costs[0].gap);
}

/* ---- the round ---- */

static void post(const struct exchange *x, uint32_t rank)
{
    struct iwi_flow *flow = x->flow;
    const size_t i = element_of(x, rank);

    x->before[rank].posted =
        x->is_rendezvous ? do_work(flow, rank, i, flow->cpu[i], 0, flow->post_touch) : flow->cpu[i];
}

/* Where all senders are when receiver 0 comes; tells when the last of all posted its receives. */
static iw_time run_sends(struct exchange *x)
{
    iw_time last_posted = 0;

    for (uint32_t rank = 0; rank < x->ranks; rank++) {
        post(x, rank);
        save(x, rank, x->before, x->before_words);
        last_posted = iwi_max(last_posted, x->before[rank].posted);
        start_sender(x, rank, x->ranks - 1);
        save(x, rank, x->after, x->after_words);
        load(x, rank, x->before, x->before_words);
        start_sender(x, rank, rank > 0 ? x->ranks - rank - 1 : 0);
    }
    return last_posted;
}

/* Behind its sends, whose times others still ask for. */
static void receive(struct exchange *x, uint32_t rank, iw_time last_posted)
{
    const iw_time last_send = x->after[rank].cpu;

    load(x, rank, x->after, x->after_words);
    serve(x, rank);
    if (x->is_rendezvous) {
        wait_for_transfers(x, rank, last_send, last_posted);
    }
    save(x, rank, x->after, x->after_words);
    load(x, rank, x->before, x->before_words);
    start_sender(x, rank, 0);
}

static iw_status run_lane(struct exchange *x)
{
    const iw_time last_posted = run_sends(x);
    struct iwi_ticker *ticker = x->flow->job->ticker;

    for (uint32_t rank = 0; rank < x->ranks; rank++) {
        const double lanes_done = x->lane + (double)rank / x->ranks; /* each rank meets all others */

        IW_TRY(iwi_tick_part(rank % 64 == 0 ? ticker : NULL, lanes_done / x->flow->lanes));
        gather(x, rank);
        receive(x, rank, last_posted);
    }
    for (uint32_t rank = 0; rank < x->ranks; rank++) {
        load(x, rank, x->after, x->after_words);
    }
    return IW_OK;
}

static void release(struct exchange *x)
{
    free(x->before);
    free(x->after);
    free(x->before_words);
    free(x->after_words);
    free(x->senders);
    free(x->lines);
    free(x->arrivals);
    free(x->scratch);
}

static iw_status allocate(struct exchange *x)
{
    const iw_log *log = x->flow->log;
    const size_t ranks = x->ranks, words = ranks * x->flow->words;

    x->before = iwi_new_array(log, ranks, sizeof *x->before);
    x->after = iwi_new_array(log, ranks, sizeof *x->after);
    x->before_words = iwi_new_array(log, words, sizeof *x->before_words);
    x->after_words = iwi_new_array(log, words, sizeof *x->after_words);
    x->senders = iwi_new_array(log, ranks, sizeof *x->senders);
    x->lines = iwi_new_array(log, ranks, sizeof *x->lines);
    x->arrivals = iwi_new_array(log, ranks, sizeof *x->arrivals);
    x->scratch = iwi_new_array(log, IWI_SORT_ROOM * ranks, sizeof *x->scratch);
    return x->before == NULL || x->after == NULL || x->before_words == NULL || x->after_words == NULL ||
                   x->senders == NULL || x->lines == NULL || x->arrivals == NULL || x->scratch == NULL
               ? IW_ERR_NOMEM
               : IW_OK;
}

bool iwi_flow_is_all_to_all(const struct iwi_flow *flow, const struct iwi_round *round)
{
    const struct iwi_job *job = flow->job;

    return round->is_all_to_all && flow->partition == NULL && job->split == NULL && job->net_noise == NULL &&
           flow->watch.open == NULL && (round->bytes <= job->net->S_bytes || job->levels.count == 0);
}

iw_status iwi_flow_all_to_all(struct iwi_flow *flow, uint32_t ranks, const struct iwi_round *round)
{
    const struct iwi_job *job = flow->job;
    struct exchange x = {.flow = flow, .ranks = ranks, .is_rendezvous = round->bytes > job->net->S_bytes};
    iw_status status;

    for (uint32_t level = 0; level <= job->levels.count; level++) {
        x.costs[level] = iwi_cost_at(job->net, level, round->bytes);
    }
    x.notice = iwi_cost_notice(&job->net->costs, job->rendezvous);
    x.handshake = iwi_cost_handshake(&job->net->costs, job->rendezvous);
    status = allocate(&x);
    for (; status == IW_OK && x.lane < flow->lanes; x.lane++) {
        status = run_lane(&x);
    }
    release(&x);
    return status;
}
