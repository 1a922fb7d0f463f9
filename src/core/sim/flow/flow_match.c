/* Static matching: the k-th send with the k-th receive on (source, destination, tag).
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/sim/flow/flow_exchange.h"
#include "core/sim/flow/flow_match.h"
#include "core/sim/flow/flow_ring.h"
#include "core/sim/flow/flow_step.h"
#include "core/sim/possible_matches.h"

/* The flow engine's rounds of pairs, as trees have them: some ranks send, each to one that only receives. */

/* All lanes of one pair of ranks. `lanes` is a constant in every caller. */
IWI_STEP void pass_pair(struct iwi_flow *flow, const struct iwi_cost *cost, iw_time reduce, uint32_t sender,
                        uint32_t receiver, const uint32_t lanes)
{
    const size_t from = (size_t)sender * lanes, to = (size_t)receiver * lanes;

    for (uint32_t lane = 0; lane < lanes; lane++) {
        iw_time sent;

        step_send(flow, sender, receiver, from + lane, cost, &sent, NULL, false);
        step_receive(flow, receiver, to + lane, cost, sent + cost->wire, 0, false);
        step_local_work(flow, receiver, to + lane, reduce, false);
    }
}

IWI_STEP void pass_pairs(struct iwi_flow *flow, const struct iwi_round *round, const uint32_t lanes)
{
    const iw_time reduce = iwi_bytes_cost(flow->job->program->reduce, round->reduce_bytes);
    const int64_t ranks = flow->ranks;
    const int64_t stride = round->senders.stride % ranks;
    int64_t sender = round->senders.first;

    for (uint32_t n = 0; n < round->senders.count; n++) {
        const int64_t receiver = sender + round->shift - (sender + round->shift >= ranks ? ranks : 0);

        pass_pair(flow, flow_cost(flow, (uint32_t)sender, (uint32_t)receiver, round->bytes), reduce,
                  (uint32_t)sender, (uint32_t)receiver, lanes);
        sender += stride - (sender + stride >= ranks ? ranks : 0);
    }
}

iw_status iwi_flow_pairs(struct iwi_flow *flow, const struct iwi_round *round)
{
    if (flow->partition != NULL) {
        return iwi_exchange_pairs(flow, round);
    }
    switch (flow->lanes) {
    case 8: pass_pairs(flow, round, 8); break;
    case 1: pass_pairs(flow, round, 1); break;
    default: pass_pairs(flow, round, flow->lanes);
    }
    return IW_OK;
}

/* Receives of one meeting wait in a list through `partner`, in program order; each send takes the first. */
static iw_status match_rank(struct iwi_meetings *m, struct iwi_match *match, uint32_t rank)
{
    const struct iwi_schedule *schedule = m->schedule;

    IW_TRY(iwi_meetings_at(m, rank));
    for (uint64_t node = schedule->first_node[rank]; node < schedule->first_node[rank + 1]; node++) {
        const struct iwi_node *op = &schedule->nodes[node];

        match->rank_of[node] = rank;
        if (op->kind == IWI_RECV) {
            struct iwi_meeting *meeting = iwi_meeting_of(m, op->peer, op->tag);
            uint64_t *link =
                meeting->recv == IWI_NO_MEETING ? &meeting->recv : &match->partner[meeting->last_recv];

            *link = meeting->last_recv = node;
        }
    }
    for (uint64_t i = m->first_inbound[rank]; i < m->first_inbound[rank + 1]; i++) {
        const struct iwi_inbound *in = &m->inbound[i];
        struct iwi_meeting *meeting = iwi_meeting_of(m, in->source, in->tag);
        const uint64_t recv = meeting->recv;

        if (recv == IWI_NO_MEETING) {
            iwi_unreceived_add(&match->unreceived, in->send);
        } else {
            meeting->recv = match->partner[recv];
            match->partner[recv] = in->send;
            match->partner[in->send] = recv;
        }
    }
    return IW_OK;
}

/* A receive that is left over has the next one of its list as partner: it has none. */
static void forget_left_over(const struct iwi_schedule *schedule, struct iwi_match *match)
{
    for (uint64_t node = 0; node < schedule->first_node[schedule->ranks]; node++) {
        const uint64_t partner = match->partner[node];

        if (partner != UINT64_MAX && schedule->nodes[partner].kind == schedule->nodes[node].kind) {
            match->partner[node] = UINT64_MAX;
        }
    }
}

static iw_status match_all(const iw_log *log, const struct iwi_schedule *schedule, struct iwi_match *match)
{
    struct iwi_meetings meetings;
    iw_status status;

    IW_TRY(iwi_meetings_init(log, schedule, &meetings));
    memset(match->partner, 0xff, (size_t)schedule->first_node[schedule->ranks] * sizeof *match->partner);
    status = IW_OK;
    for (uint32_t rank = 0; rank < schedule->ranks && status == IW_OK; rank++) {
        status = match_rank(&meetings, match, rank);
    }
    iwi_meetings_release(&meetings);
    forget_left_over(schedule, match);
    return status;
}

iw_status iwi_match_new(const iw_log *log, const struct iwi_schedule *schedule, struct iwi_match **match_p)
{
    const size_t node_count = (size_t)schedule->first_node[schedule->ranks];
    struct iwi_match *match = iwi_new_array(log, 1, sizeof *match);
    iw_status status = IW_ERR_NOMEM;

    if (match != NULL) {
        match->partner = iwi_new_array(log, node_count, sizeof *match->partner);
        match->rank_of = iwi_new_array(log, node_count, sizeof *match->rank_of);
        status =
            match->partner == NULL || match->rank_of == NULL ? IW_ERR_NOMEM : match_all(log, schedule, match);
    }
    if (status != IW_OK) {
        iwi_match_free(match);
        return status;
    }
    *match_p = match;
    return IW_OK;
}

void iwi_match_free(struct iwi_match *match)
{
    if (match != NULL) {
        free(match->partner);
        free(match->rank_of);
        free(match);
    }
}

/* One rank's passes of a ring: jumps where it is undisturbed, exact steps where it is not.
 *
 * With S the time a receive is served and B that of the send after it, the rules are
 *   S' = max(B + send, arrival, S + in_gap),   B' = max(S' + receive, B + out_gap)
 * without detours. Since B >= S + receive after every pass, B' = max(B + A, arrival + receive) with
 * A = max(receive + send, out_gap), as long as in_gap <= A or B = S + receive (then A = in_gap, too). So B is
 * the larger of two lines while arrivals are on one.
 */

struct course {
    struct iwi_flow *flow;
    uint32_t world;
    size_t at;
    iw_time *next;
    iw_time cpu, send_gap, recv_gap; /* free from then on */
    iw_time served, start;           /* S, B of the last pass */
    bool is_steady;                  /* the last pass cost what the next ones will, and met no detour */
    struct iwi_ring_costs costs;
    iw_time work, slope; /* of a receive with its reduction; A */
    iw_time touch;       /* 1 if a part of a pass only touches the CPU, else 0 */
};

/* ---- tracks ---- */

/* Passes from `first` on end on a line. */
static void add_line(struct iwi_track *track, uint64_t first, iw_time value, iw_time slope, uint64_t count)
{
    struct iwi_track_piece *last = &track->pieces[track->count - (track->count > 0)];
    const uint64_t behind = track->count > 0 ? first - last->first : 0;

    track->end = first + count;
    if (behind == 1) { /* two points are a line */
        const iw_time step = value - last->value;

        if (count == 1 || step == slope) {
            last->slope = step;
            return;
        }
    } else if (behind > 1 && last->value + (iw_time)behind * last->slope == value &&
               (count == 1 || last->slope == slope)) {
        return;
    }
    track->pieces[track->count++] = (struct iwi_track_piece){first, value, slope};
}

/* ---- passes ---- */

/* `touch` as in struct iwi_cost. */
static inline iw_time do_work(struct course *c, iw_time t, iw_time d, iw_time touch)
{
    return t + d + touch <= *c->next
               ? t + d
               : iwi_flow_work_slow(c->flow, c->world, c->at, c->next, t, d + touch, NULL) - touch;
}

/* One pass, exactly. */
static void step(struct course *c, iw_time arrival)
{
    const struct iwi_ring_costs *costs = &c->costs;

    c->served = iwi_max(iwi_max(c->cpu, arrival), c->recv_gap);
    c->recv_gap = c->served + costs->in_gap;
    c->cpu = do_work(c, c->served, costs->receive, costs->receive_touch);
    c->cpu = do_work(c, c->cpu, costs->reduce, 0);
    c->is_steady = false;
    if (costs->has_send) {
        c->start = iwi_max(c->cpu, c->send_gap);
        c->send_gap = c->start + costs->out_gap;
        c->cpu = do_work(c, c->start, costs->send, costs->send_touch);
        c->is_steady = c->cpu == c->start + costs->send &&
                       (costs->in_gap <= c->slope || c->start == c->served + c->work);
    }
}

/* As many of the next `room` passes as no detour disturbs; the first one's message arrives at `arrival`, the
 * others' come `arrival_slope` after each other. Tells when the first pass ends, and how far they are apart.
 */
static uint64_t jump(struct course *c, iw_time arrival, iw_time arrival_slope, uint64_t room,
                     iw_time *first_p, iw_time *slope_p)
{
    const struct iwi_ring_costs *costs = &c->costs;
    const iw_time own_slope = iwi_max(c->slope, costs->in_gap), own = c->start + own_slope;
    const iw_time arrived = arrival + c->work;
    iw_time slope = own_slope, first = own, before, left;

    if (arrived > own) {
        first = arrived;
        slope = arrival_slope;
        room = arrival_slope >= own_slope ? room : 1;
    } else if (arrival_slope > own_slope) {
        const uint64_t met = 1 + (uint64_t)((own - arrived) / (arrival_slope - own_slope));

        room = met < room ? met : room;
    }
    left = *c->next - first - costs->send - c->touch;
    if (left < 0) {
        return 0;
    }
    if (left < (iw_time)(room - 1) * slope) {
        room = 1 + (uint64_t)(left / slope);
    }
    before = room > 1 ? first + (iw_time)(room - 2) * slope : c->start;
    /* lines from all that a receive waits for; arrivals may be slower than the gap */
    c->served = iwi_max(iwi_max(before + costs->send, c->served + (iw_time)room * costs->in_gap),
                        arrival + (iw_time)(room - 1) * iwi_max(arrival_slope, costs->in_gap));
    c->start = first + (iw_time)(room - 1) * slope;
    c->cpu = c->start + costs->send;
    c->send_gap = c->start + costs->out_gap;
    c->recv_gap = c->served + costs->in_gap;
    *first_p = first + costs->send;
    *slope_p = slope;
    return room;
}

/* Whole pieces of the neighbour's track that come later than this rank would be ready, and between detours:
 * its own track is a copy of them. Most pieces are such waves. Tells with which piece that ends. */
static const struct iwi_track_piece *follow(struct course *c, const struct iwi_track_piece *piece,
                                            uint64_t pass, uint64_t limit, struct iwi_track *out)
{
    const iw_time slope = iwi_max(c->slope, c->costs.in_gap), send = c->costs.send;
    const iw_time later = c->costs.wire + c->work, latest = *c->next - send - c->touch;
    const struct iwi_track_piece *const begin = piece;
    iw_time value = piece->value + (iw_time)(pass - 1 - piece->first) * piece->slope + later;
    iw_time last = c->start;
    struct iwi_track_piece *to = &out->pieces[out->count];

    while (pass < limit && piece[1].first < limit) { /* all of the piece arrives before */
        const iw_time more = (iw_time)(piece[1].first - pass), end = value + more * piece->slope;

        if (value <= last + slope || end > latest || (piece->slope < slope && more > 0)) {
            break;
        }
        if (piece == begin) {
            add_line(out, pass, value + send, piece->slope, (uint64_t)more + 1);
            to = &out->pieces[out->count];
        } else { /* pieces that are not one line there are not one here either */
            *to++ = (struct iwi_track_piece){pass, value + send, piece->slope};
        }
        last = end;
        piece++;
        pass = piece->first + 1;
        value = piece->value + later;
    }
    out->count = (size_t)(to - out->pieces);
    if (piece > begin) {
        c->start = last;
        c->served = last - c->work;
        c->cpu = last + send;
        c->send_gap = last + c->costs.out_gap;
        c->recv_gap = c->served + c->costs.in_gap;
        out->end = pass;
    }
    return piece;
}

static void take_costs(struct course *c, const struct iwi_runner *runner, uint64_t pass)
{
    c->costs = iwi_ring_costs_at(runner->ring, runner->rank, runner->in_level, runner->out_level, pass);
    if (c->flow->send_gap == NULL) { /* no gap delays anything */
        c->costs.in_gap = c->costs.out_gap = 0;
    }
    c->work = c->costs.receive + c->costs.reduce;
    c->touch = c->costs.receive_touch | c->costs.send_touch;
    c->slope = iwi_max(c->work + c->costs.send, c->costs.out_gap);
    c->is_steady = false;
}

static struct course course_of(const struct iwi_runner *runner)
{
    struct iwi_flow *flow = runner->flow;

    return (struct course){.flow = flow,
                           .world = runner->world,
                           .at = runner->at,
                           .next = &flow->next_detour[runner->at],
                           .cpu = flow->cpu[runner->at],
                           .send_gap = flow->send_gap != NULL ? flow->send_gap[runner->at] : 0,
                           .recv_gap = flow->recv_gap != NULL ? flow->recv_gap[runner->at] : 0};
}

static void keep_course(const struct course *c)
{
    c->flow->cpu[c->at] = c->cpu;
    if (c->flow->send_gap != NULL) {
        c->flow->send_gap[c->at] = c->send_gap;
        c->flow->recv_gap[c->at] = c->recv_gap;
    }
}

void iwi_runner_start(const struct iwi_runner *runner)
{
    struct course c = course_of(runner);

    take_costs(&c, runner, 0);
    c.start = iwi_max(c.cpu, c.send_gap);
    c.send_gap = c.start + c.costs.out_gap;
    c.cpu = do_work(&c, c.start, c.costs.send, c.costs.send_touch);
    keep_course(&c);
}

/* One pass, or some, of those that receive what `piece` says, but not beyond `stop`; tells how many. */
static uint64_t go_on(struct course *c, const struct iwi_track_piece *piece, uint64_t pass, uint64_t stop,
                      struct iwi_track *out)
{
    const iw_time arrival = piece->value + (iw_time)(pass - 1 - piece->first) * piece->slope + c->costs.wire;
    const uint64_t room = (piece[1].first + 1 < stop ? piece[1].first + 1 : stop) - pass;
    iw_time ends, slope = 0;
    uint64_t count = c->is_steady ? jump(c, arrival, piece->slope, room, &ends, &slope) : 0;

    if (count == 0) {
        step(c, arrival);
        ends = c->cpu;
        count = 1;
    }
    add_line(out, pass, ends, slope, count);
    return count;
}

void iwi_runner_run(const struct iwi_runner *runner, uint64_t first, uint64_t end, const struct iwi_track *in,
                    struct iwi_track *out)
{
    const struct iwi_track_piece *piece = in->pieces;
    struct course c = course_of(runner);

    for (uint64_t pass = first; pass < end;) {
        uint64_t stop;

        if (pass == first || pass == c.costs.end) {
            take_costs(&c, runner, pass);
        }
        piece += pass - 1 == piece[1].first;
        stop = c.costs.end < end ? c.costs.end : end;
        if (c.is_steady) {
            const struct iwi_track_piece *followed = follow(&c, piece, pass, stop, out);

            pass = followed == piece ? pass : out->end;
            piece = followed;
        }
        pass += pass < stop ? go_on(&c, piece, pass, stop, out) : 0;
    }
    keep_course(&c);
    out->pieces[out->count].first = out->end;
}
