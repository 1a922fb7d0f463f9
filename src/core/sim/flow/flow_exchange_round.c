/* Rounds of any kind on a partition: what ranks of other members need goes out in letters, one for each
 * member.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The two passes of flow_pattern.c: between them the letters go out. In the second, ranks that need a letter
 * which is not here yet are put off until all others are done.
 *
 * A letter is a list of records, in the order of their keys when it is read: the key, and a time for each
 * lane. Keys are the rank of the operation and 1 + the number of its send (when the CPU part ended), or 0
 * (when its receives were posted).
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "core/sim/flow/flow_exchange.h"

/* Passes of streaming rounds on a partition: what senders of other members have comes straight into the
 * arrays.
 *
 * A shift or flip takes the values that a block needs out of a few contiguous pieces of the ring. All that
 * others need goes out first; then the elements are passed whose values are here, then the others, in the
 * order in which their values come. These are received into the array that the pass writes to: an element's
 * value is read before its result takes the place.
 *
 * By rendezvous, elements also need when the receives of those that they send to were posted: the same the
 * other way round.
 */

/* Elements in one message, so that those received are still in the cache when they are passed; and how many
 * messages may be under way to here at once. */
enum { MOST_ELEMENTS = 1 << 15, AHEAD = 4 };

/* Where rank r finds a value: at rank r - shift, around the end, or r ^ flip. */
struct move {
    bool is_flip;
    uint32_t distance;
};

/* A pass, and how far its receives have come: they are numbered, those of values first. */
struct pass_run {
    struct iwi_flow *flow;
    const struct iwi_span *all;
    const struct iwi_pass *pass;
    size_t receive_count, posted_count, arrived_count;
    size_t next_piece; /* the receives of all pieces before it, of values and then of posts, are posted */
    struct iwi_transfer receives[AHEAD];
};

/* The piece at `rank` of a receiver's block that ends at `end`. */
static struct iwi_exchange_piece piece_at(const struct iwi_partition *partition, struct move move,
                                          uint32_t rank, uint32_t end)
{
    const uint32_t from = move.is_flip            ? rank ^ move.distance
                          : rank >= move.distance ? rank - move.distance
                                                  : rank + (partition->ranks - move.distance);
    const uint32_t member = iwi_partition_owner(partition, from);
    uint32_t count = end - rank;

    if (count > partition->first[member + 1] - from) {
        count = partition->first[member + 1] - from;
    }
    if (move.is_flip && count > move.distance - rank % move.distance) {
        count = move.distance - rank % move.distance;
    }
    return (struct iwi_exchange_piece){.to = rank, .from = from, .count = count, .member = member};
}

/* Of a piece, as much as one message takes. */
static struct iwi_exchange_piece first_part(const struct iwi_flow *flow, struct iwi_exchange_piece piece)
{
    const uint32_t most = MOST_ELEMENTS >> flow->lane_shift;

    piece.count = piece.count < most ? piece.count : most;
    return piece;
}

static struct iwi_exchange_piece rest_after(struct iwi_exchange_piece piece, struct iwi_exchange_piece part)
{
    piece.to += part.count;
    piece.from += part.count;
    piece.count -= part.count;
    return piece;
}

/* ---- out ---- */

static iw_status send_piece(struct iwi_flow *flow, uint32_t to, struct iwi_exchange_piece piece,
                            const iw_time *values)
{
    struct iwi_exchange *exchange = flow->exchange;

    while (piece.count > 0) {
        const struct iwi_exchange_piece part = first_part(flow, piece);

        IW_TRY(iwi_grow(flow->log, (void **)&exchange->sends, &exchange->send_capacity,
                        exchange->send_count + 1, sizeof *exchange->sends));
        IW_TRY(iwi_member_send(flow->member, to, values + iwi_flow_at(flow, part.from),
                               ((size_t)part.count << flow->lane_shift) * sizeof *values,
                               &exchange->sends[exchange->send_count]));
        exchange->send_count++;
        piece = rest_after(piece, part);
    }
    return IW_OK;
}

/* That member may get something of this block. Flips stay in stretches of twice their distance. */
static bool may_meet(const struct iwi_flow *flow, struct move move, uint32_t member)
{
    const uint32_t *first = &flow->partition->first[member], within = 2 * move.distance - 1;

    return member != flow->member->number && first[0] < first[1] &&
           (!move.is_flip || (((first[1] - 1) | within) >= flow->first_rank &&
                              (first[0] & ~within) < flow->first_rank + flow->ranks));
}

/* Each member gets its pieces in the order of its ranks. */
static iw_status send_pieces(struct iwi_flow *flow, struct move move, const iw_time *values)
{
    const struct iwi_partition *partition = flow->partition;

    for (uint32_t member = 0; member < partition->members && flow->ranks > 0; member++) {
        const uint32_t end = partition->first[member + 1];

        for (uint32_t rank = partition->first[member]; rank < end && may_meet(flow, move, member);) {
            const struct iwi_exchange_piece piece = piece_at(partition, move, rank, end);

            if (piece.member == flow->member->number) {
                IW_TRY(send_piece(flow, member, piece, values));
            }
            rank += piece.count;
        }
    }
    return IW_OK;
}

/* ---- in ---- */

/* All pieces of this block, in its order; those of others no larger than a message. */
static iw_status find_pieces(struct pass_run *run, struct move move, struct iwi_exchange_pieces *pieces)
{
    const struct iwi_flow *flow = run->flow;
    const uint32_t end = flow->first_rank + flow->ranks;

    pieces->count = 0;
    for (uint32_t rank = flow->first_rank; rank < end;) {
        struct iwi_exchange_piece piece = piece_at(flow->partition, move, rank, end);

        if (piece.member != flow->member->number) {
            piece = first_part(flow, piece);
            piece.number = run->receive_count++;
        }
        IW_TRY(iwi_grow(flow->log, (void **)&pieces->piece, &pieces->capacity, pieces->count + 1,
                        sizeof *pieces->piece));
        pieces->piece[pieces->count++] = piece;
        rank += piece.count;
    }
    return IW_OK;
}

/* The next receive is posted. */
static iw_status post_receive(struct pass_run *run)
{
    struct iwi_flow *flow = run->flow;
    const struct iwi_exchange *exchange = flow->exchange;
    const struct iwi_exchange_piece *piece;
    bool is_value;

    do {
        const size_t n = run->next_piece++;

        is_value = n < exchange->values.count;
        piece = is_value ? &exchange->values.piece[n] : &exchange->posts.piece[n - exchange->values.count];
    } while (piece->member == flow->member->number);
    return iwi_member_receive(flow->member, piece->member,
                              (is_value ? flow->other : flow->posted_other) + iwi_flow_at(flow, piece->to),
                              ((size_t)piece->count << flow->lane_shift) * sizeof(iw_time),
                              &run->receives[piece->number % AHEAD]);
}

/* The first `count` receives are done, or with 0 the first are at least posted. */
static iw_status receive(struct pass_run *run, size_t count)
{
    for (;;) {
        while (run->posted_count < run->receive_count && run->posted_count < run->arrived_count + AHEAD) {
            IW_TRY(post_receive(run));
            run->posted_count++;
        }
        if (run->arrived_count >= count) {
            return IW_OK;
        }
        IW_TRY(iwi_member_wait(run->flow->member, &run->receives[run->arrived_count % AHEAD], 1));
        run->arrived_count++;
    }
}

/* ---- passing ---- */

static bool is_of(const struct iwi_flow *flow, const struct iwi_exchange_piece *piece)
{
    return piece == NULL || piece->member == flow->member->number;
}

/* What the elements from `rank` on find in `piece`: in the array itself, or where it was received to. */
static const iw_time *values_at(const struct iwi_flow *flow, const struct iwi_exchange_piece *piece,
                                uint32_t rank, const iw_time *own, const iw_time *received)
{
    return is_of(flow, piece) ? own + iwi_flow_at(flow, piece->from + (rank - piece->to))
                              : received + iwi_flow_at(flow, rank);
}

static void pass_ranks(const struct pass_run *run, uint32_t rank, uint32_t end,
                       const struct iwi_exchange_piece *value, const struct iwi_exchange_piece *post)
{
    struct iwi_flow *flow = run->flow;
    const size_t k = iwi_flow_at(flow, rank), stop = iwi_flow_at(flow, end);
    const iw_time *from = values_at(flow, value, rank, flow->cpu, flow->other);

    if (post == NULL) {
        iwi_pass_run(flow, run->all, run->pass, k, stop, flow->cpu, from, flow->other);
    } else {
        const struct iwi_pass_lines lines = {
            .now = flow->cpu + k,
            .posted = flow->posted + k,
            .from = from,
            .to = values_at(flow, post, rank, flow->posted, flow->posted_other),
            .out = flow->other + k,
            .posted_out = flow->posted_other + k};

        iwi_pass_rendezvous_run(flow, run->all, run->pass, k, stop, &lines);
    }
}

/* Those ranks that need nothing of others, or all the others. */
static iw_status pass_those(struct pass_run *run, bool need_nothing)
{
    const struct iwi_flow *flow = run->flow;
    const struct iwi_exchange_piece *value = flow->exchange->values.piece;
    const struct iwi_exchange_piece *post = run->pass->is_rendezvous ? flow->exchange->posts.piece : NULL;
    const uint32_t end = flow->first_rank + flow->ranks;

    for (uint32_t rank = flow->first_rank; rank < end;) {
        uint32_t stop = value->to + value->count;

        stop = post != NULL && post->to + post->count < stop ? post->to + post->count : stop;
        if ((is_of(flow, value) && is_of(flow, post)) == need_nothing) {
            IW_TRY(receive(run, is_of(flow, value) ? 0 : value->number + 1));
            IW_TRY(receive(run, is_of(flow, post) ? 0 : post->number + 1));
            pass_ranks(run, rank, stop, value, post);
        }
        value += value->to + value->count == stop;
        if (post != NULL && post->to + post->count == stop) {
            post++;
        }
        rank = stop;
    }
    return IW_OK;
}

static iw_status exchange_and_pass(struct pass_run *run)
{
    struct iwi_flow *flow = run->flow;
    struct iwi_exchange *exchange = flow->exchange;
    const struct iwi_pass *pass = run->pass;
    const struct move values = {pass->is_flip,
                                (uint32_t)((pass->is_flip ? pass->flip : pass->shift) >> flow->lane_shift)};
    const struct move posts = {pass->is_flip,
                               pass->is_flip ? values.distance : flow->partition->ranks - values.distance};

    exchange->posts.count = 0;
    IW_TRY(find_pieces(run, values, &exchange->values));
    if (pass->is_rendezvous) {
        IW_TRY(find_pieces(run, posts, &exchange->posts));
    }
    IW_TRY(receive(run, 0));
    IW_TRY(send_pieces(flow, values, flow->cpu));
    if (pass->is_rendezvous) {
        IW_TRY(send_pieces(flow, posts, flow->posted));
    }
    IW_TRY(pass_those(run, true));
    return pass_those(run, false);
}

iw_status iwi_exchange_pass(struct iwi_flow *flow, const struct iwi_span *all, const struct iwi_pass *pass)
{
    struct pass_run run = {.flow = flow, .all = all, .pass = pass};
    const size_t granule = (size_t)flow->partition->granule << flow->lane_shift;

    IW_TRY(iwi_exchange_finish_pass(flow)); /* it sends out of what this pass writes to */
    if (pass->has_receive && !(pass->is_flip && pass->flip < granule)) {
        return exchange_and_pass(&run);
    }
    if (pass->is_rendezvous) {
        iwi_pass_rendezvous(flow, all, pass, flow->cpu, flow->posted, flow->other, flow->posted_other);
    } else {
        iwi_pass_closed(flow, all, pass, flow->cpu, flow->cpu, flow->other);
    }
    return IW_OK;
}

iw_status iwi_exchange_finish_pass(struct iwi_flow *flow)
{
    struct iwi_exchange *exchange = flow->exchange;
    const size_t count = exchange->send_count;

    exchange->send_count = 0;
    return iwi_member_wait(flow->member, exchange->sends, count);
}

enum { POSTED = 0, FIRST_SEND = 1 };

static uint64_t key_of(uint32_t rank, uint64_t what)
{
    return ((uint64_t)rank << 32) + what;
}

static size_t record_bytes(const struct iwi_flow *flow)
{
    return sizeof(uint64_t) + flow->lanes * sizeof(iw_time);
}

/* ---- out ---- */

static iw_status write_record(struct iwi_flow *flow, uint32_t to, uint64_t key, const iw_time *times)
{
    void *room;

    IW_TRY(iwi_letter_room(flow, to, record_bytes(flow), &room));
    memcpy(room, &key, sizeof key);
    memcpy((unsigned char *)room + sizeof key, times, flow->lanes * sizeof *times);
    return IW_OK;
}

/* The last record in the open letter to that member has this key. */
static bool is_written(const struct iwi_flow *flow, uint32_t to, uint64_t key)
{
    const struct iwi_letter *letter = flow->exchange->outboxes[to].open;
    uint64_t last;

    if (letter == NULL || letter->bytes.count < record_bytes(flow)) {
        return false;
    }
    memcpy(&last, letter->bytes.data + letter->bytes.count - record_bytes(flow), sizeof last);
    return last == key;
}

/* The member that has a peer, if it is not this one. */
static bool is_elsewhere(const struct iwi_flow *flow, const struct iwi_round_run *run, uint32_t peer,
                         uint32_t *member_p)
{
    const uint32_t world = round_world_rank(run, peer);

    if (iwi_is_here(flow, world)) {
        return false;
    }
    *member_p = iwi_partition_owner(flow->partition, world);
    return true;
}

static iw_status post(struct iwi_flow *flow, const struct iwi_round_run *run, const struct iwi_role *role,
                      uint32_t rank)
{
    const size_t base = round_state_at(flow, run, rank);
    uint32_t to;

    for (uint32_t lane = 0; lane < flow->lanes; lane++) {
        flow->posted[base + lane] = step_post(flow, round_world_rank(run, rank), base + lane, NULL, false);
    }
    for (uint32_t r = 0; r < role->recv_count; r++) {
        if (role->recvs[r].bytes > flow->job->net->S_bytes &&
            is_elsewhere(flow, run, role->recvs[r].peer, &to) &&
            !is_written(flow, to, key_of(rank, POSTED))) {
            IW_TRY(write_record(flow, to, key_of(rank, POSTED), flow->posted + base));
        }
    }
    return IW_OK;
}

/* First pass: post the receives, issue the sends. */
static iw_status post_and_send(struct iwi_flow *flow, const struct iwi_round_run *run, uint32_t rank)
{
    const struct iwi_role role = round_part_of(flow, run, rank);
    const uint32_t world = round_world_rank(run, rank);
    const size_t base = iwi_flow_at(flow, world);
    uint32_t to;

    if (run->has_rendezvous) {
        IW_TRY(post(flow, run, &role, rank));
    }
    for (uint32_t s = 0; s < role.send_count; s++) {
        const struct iwi_cost *cost = round_cost(flow, run, world, &role.sends[s]);
        iw_time *sent = &flow->slots[round_slot_at(flow, run, s, rank, 0)];

        for (uint32_t lane = 0; lane < flow->lanes; lane++) {
            step_send(flow, world, round_world_rank(run, role.sends[s].peer), base + lane, cost, &sent[lane],
                      NULL, false);
        }
        if (is_elsewhere(flow, run, role.sends[s].peer, &to)) {
            IW_TRY(write_record(flow, to, key_of(rank, FIRST_SEND + (uint64_t)s), sent));
        }
    }
    return IW_OK;
}

/* ---- in ---- */

static uint64_t key_at(const unsigned char *record)
{
    uint64_t key;

    memcpy(&key, record, sizeof key);
    return key;
}

static int compare_records(const void *left, const void *right)
{
    const uint64_t a = key_at(left), b = key_at(right);

    return (a > b) - (a < b);
}

static void sort(struct iwi_inbox *inbox, size_t record)
{
    unsigned char *records = inbox->bytes.data + inbox->at;
    const size_t count = (inbox->bytes.count - inbox->at) / record;
    bool is_sorted = true;

    for (size_t n = 1; n < count && is_sorted; n++) {
        is_sorted = key_at(records + (n - 1) * record) < key_at(records + n * record);
    }
    if (!is_sorted) {
        qsort(records, count, record, compare_records);
    }
}

static iw_status take(struct iwi_flow *flow, uint32_t from, bool may_wait, bool *has_p)
{
    const bool is_new = flow->exchange->inboxes[from].round != flow->exchange->round;
    struct iwi_inbox *inbox;

    IW_TRY(iwi_letter_take(flow, from, may_wait, &inbox));
    *has_p = inbox != NULL;
    if (is_new && inbox != NULL) {
        sort(inbox, record_bytes(flow));
    }
    return IW_OK;
}

/* The times of a record. Mostly it is the one after that read last. */
static iw_status find(struct iwi_flow *flow, uint32_t from, uint64_t key, const iw_time **times_p)
{
    struct iwi_inbox *inbox = &flow->exchange->inboxes[from];
    const size_t record = record_bytes(flow), head = inbox->bytes.count % record;
    const unsigned char *records = inbox->bytes.data + head;
    const size_t count = inbox->bytes.count / record;
    size_t n = (inbox->at - head) / record;

    if (n >= count || key_at(records + n * record) != key) {
        IWI_FIRST_NOT(n, 0, count, key_at(records + n * record) < key);
    }
    if (n >= count || key_at(records + n * record) != key) {
        return iwi_fail(flow->log, IW_ERR_FORMAT,
                        "member %" PRIu32 " sent nothing of rank %" PRIu64
                        ": run the same program in all processes",
                        from, key >> 32);
    }
    inbox->at = head + (n + 1) * record;
    *times_p = (const iw_time *)(const void *)(records + n * record + sizeof key);
    return IW_OK;
}

/* All letters that this rank's wait needs are here. */
static iw_status has_letters(struct iwi_flow *flow, const struct iwi_round_run *run,
                             const struct iwi_role *role, bool may_wait, bool *has_p)
{
    uint32_t from;

    *has_p = true;
    for (uint32_t r = 0; r < role->recv_count && *has_p; r++) {
        if (is_elsewhere(flow, run, role->recvs[r].peer, &from)) {
            IW_TRY(take(flow, from, may_wait, has_p));
        }
    }
    for (uint32_t s = 0; run->has_rendezvous && s < role->send_count && *has_p; s++) {
        if (role->sends[s].bytes > flow->job->net->S_bytes &&
            is_elsewhere(flow, run, role->sends[s].peer, &from)) {
            IW_TRY(take(flow, from, may_wait, has_p));
        }
    }
    return IW_OK;
}

/* Where the times of others are that this rank's wait needs: all lanes side by side. */
static iw_status look_up(struct iwi_flow *flow, const struct iwi_round_run *run, const struct iwi_role *role)
{
    struct iwi_exchange *exchange = flow->exchange;
    uint32_t from;

    for (uint32_t r = 0; r < role->recv_count; r++) {
        const struct iwi_msg *recv = &role->recvs[r];

        if (is_elsewhere(flow, run, recv->peer, &from)) {
            IW_TRY(find(flow, from, key_of(recv->peer, FIRST_SEND + (uint64_t)recv->slot),
                        &exchange->sent_at[r]));
        } else {
            exchange->sent_at[r] = &flow->slots[round_slot_at(flow, run, recv->slot, recv->peer, 0)];
        }
    }
    for (uint32_t s = 0; run->has_rendezvous && s < role->send_count; s++) {
        const struct iwi_msg *send = &role->sends[s];

        exchange->posted_at[s] = NULL;
        if (send->bytes <= flow->job->net->S_bytes) {
            continue;
        }
        if (is_elsewhere(flow, run, send->peer, &from)) {
            IW_TRY(find(flow, from, key_of(send->peer, POSTED), &exchange->posted_at[s]));
        } else {
            exchange->posted_at[s] = &flow->posted[round_state_at(flow, run, send->peer)];
        }
    }
    return IW_OK;
}

static void wait_for_receives(struct iwi_flow *flow, const struct iwi_round_run *run,
                              const struct iwi_role *role, uint32_t world, uint32_t lane)
{
    const size_t i = iwi_flow_at(flow, world) + lane;

    for (uint32_t r = 0; r < role->recv_count; r++) {
        const struct iwi_cost *cost = round_cost(flow, run, world, &role->recvs[r]);
        iw_time left = flow->exchange->sent_at[r][lane];

        if (cost->is_rendezvous) {
            left = step_transfer_start(flow, cost, left, 0, flow->posted[i], 0, NULL, false);
        }
        flow->arrivals[r] = (struct iwi_arrival){left + cost->wire, r};
    }
    if (role->recv_count > 1) {
        iwi_sort_arrivals(flow->arrivals, role->recv_count);
    }
    for (uint32_t r = 0; r < role->recv_count; r++) {
        const struct iwi_msg *recv = &role->recvs[flow->arrivals[r].index];

        step_receive(flow, world, i, round_cost(flow, run, world, recv), flow->arrivals[r].time, 0, false);
    }
}

static void wait_for_sends(struct iwi_flow *flow, const struct iwi_round_run *run,
                           const struct iwi_role *role, uint32_t rank, uint32_t lane)
{
    const size_t i = round_state_at(flow, run, rank) + lane;

    for (uint32_t s = 0; s < role->send_count; s++) {
        const iw_time *posted = flow->exchange->posted_at[s];

        if (posted != NULL) {
            const iw_time sent = flow->slots[round_slot_at(flow, run, s, rank, lane)];
            const struct iwi_cost *cost = round_cost(flow, run, round_world_rank(run, rank), &role->sends[s]);

            step_send_done(flow, i, cost,
                           step_transfer_start(flow, cost, sent, 0, posted[lane], 0, NULL, false), 0, false);
        }
    }
}

/* Second pass: wait for all, then reduce and work; *is_done_p is false if letters are missing. */
static iw_status wait_and_work(struct iwi_flow *flow, const struct iwi_round_run *run, uint32_t rank,
                               bool may_wait, bool *is_done_p)
{
    const struct iwi_role role = round_part_of(flow, run, rank);
    const uint32_t world = round_world_rank(run, rank);
    const iw_time reduce =
        role.reduce_bytes > 0 ? iwi_bytes_cost(flow->job->program->reduce, role.reduce_bytes) : 0;

    IW_TRY(has_letters(flow, run, &role, may_wait, is_done_p));
    if (!*is_done_p) {
        return IW_OK;
    }
    IW_TRY(look_up(flow, run, &role));
    for (uint32_t lane = 0; lane < flow->lanes; lane++) {
        wait_for_receives(flow, run, &role, world, lane);
        if (run->has_rendezvous) {
            wait_for_sends(flow, run, &role, rank, lane);
        }
        if (reduce > 0) {
            step_local_work(flow, world, iwi_flow_at(flow, world) + lane, reduce, false);
        }
    }
    if (role.is_phase) {
        iwi_flow_phase(flow, world, run->phase, role.work_ps);
    }
    return IW_OK;
}

static iw_status try_to_wait(struct iwi_flow *flow, const struct iwi_round_run *run, uint32_t rank)
{
    struct iwi_exchange *exchange = flow->exchange;
    bool is_done;

    IW_TRY(wait_and_work(flow, run, rank, false, &is_done));
    if (!is_done) {
        IW_TRY(iwi_grow(flow->log, (void **)&exchange->put_off, &exchange->put_off_capacity,
                        exchange->put_off_count + 1, sizeof *exchange->put_off));
        exchange->put_off[exchange->put_off_count++] = rank;
    }
    return IW_OK;
}

/* ---- both ---- */

typedef iw_status (*rank_pass)(struct iwi_flow *flow, const struct iwi_round_run *run, uint32_t rank);

static iw_status for_each_own(struct iwi_flow *flow, const struct iwi_round_run *run, rank_pass pass)
{
    for (uint32_t k = 0; k < run->round.range_count; k++) {
        struct iwi_turns turns =
            iwi_turns_of(&run->round.active[k], run->op->ranks, run->own_first, run->own_end);
        struct iwi_turn turn;

        while (iwi_turns_next(&turns, &turn)) {
            for (; turn.begin < turn.end; turn.begin++, turn.rank += turns.stride) {
                if (run->group == NULL || iwi_is_here(flow, round_world_rank(run, (uint32_t)turn.rank))) {
                    IW_TRY(pass(flow, run, (uint32_t)turn.rank));
                }
            }
        }
    }
    return IW_OK;
}

static iw_status reserve(struct iwi_flow *flow, uint32_t fan)
{
    struct iwi_exchange *exchange = flow->exchange;

    if (fan <= exchange->fan) {
        return IW_OK;
    }
    free(exchange->sent_at);
    free(exchange->posted_at);
    exchange->sent_at = iwi_new_array(flow->log, fan, sizeof *exchange->sent_at);
    exchange->posted_at = iwi_new_array(flow->log, fan, sizeof *exchange->posted_at);
    exchange->fan = fan;
    return exchange->sent_at == NULL || exchange->posted_at == NULL ? IW_ERR_NOMEM : IW_OK;
}

iw_status iwi_exchange_round(struct iwi_flow *flow, const struct iwi_round_run *run)
{
    struct iwi_exchange *exchange = flow->exchange;
    bool is_done;

    IW_TRY(reserve(flow, run->round.fan));
    iwi_letters_begin(exchange);
    exchange->put_off_count = 0;
    IW_TRY(for_each_own(flow, run, post_and_send));
    IW_TRY(iwi_letters_send(flow));
    IW_TRY(for_each_own(flow, run, try_to_wait));
    for (size_t n = 0; n < exchange->put_off_count; n++) {
        IW_TRY(wait_and_work(flow, run, exchange->put_off[n], true, &is_done));
    }
    return IW_OK;
}
