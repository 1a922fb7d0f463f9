/* Passes of streaming rounds on a partition: what senders of other members have comes straight into the
 * arrays.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A shift or flip takes the values that a block needs out of a few contiguous pieces of the ring. All that
 * others need goes out first; then the elements are passed whose values are here, then the others, in the
 * order in which their values come. These are received into the array that the pass writes to: an element's
 * value is read before its result takes the place.
 *
 * By rendezvous, elements also need when the receives of those that they send to were posted: the same the
 * other way round.
 */
#include "core/base/base.h"
#include "core/sim/flow/flow_exchange.h"

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
