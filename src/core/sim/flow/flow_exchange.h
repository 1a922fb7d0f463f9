/* What members of a team pass each other in the rounds of patterns (flow->partition is set).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Streaming rounds receive straight into the arrays. In other rounds, all that one member has for another is
 * one letter, and only if there is something: who needs it knows that it comes, and takes it in that round.
 * All members that an operation concerns run the operations in the same order.
 */
#ifndef IWI_FLOW_EXCHANGE_H
#define IWI_FLOW_EXCHANGE_H

#include "core/program/program.h"
#include "core/sim/flow/flow_pass.h"
#include "core/sim/flow/flow_round.h"

/* A letter on its way. */
struct iwi_letter {
    struct iwi_letter *next;
    struct iwi_bytes bytes;
    struct iwi_transfer transfer;
    uint64_t round; /* in which it was sent */
};

/* To one other member. */
struct iwi_outbox {
    struct iwi_letter *open;         /* being written in this round, or NULL */
    struct iwi_letter *first, *last; /* sent and not known to have arrived: oldest first */
    struct iwi_letter *unused;       /* the one used last first: it is in the cache */
    size_t sent_count, sent_bytes;   /* of those sent */
};

/* From one other member: what it sent in `round`. */
struct iwi_inbox {
    struct iwi_bytes bytes, more;
    uint64_t round;
    size_t at; /* where reading goes on */
};

/* Ranks to ... to + count - 1 receive what ranks from ... of `member` send. */
struct iwi_exchange_piece {
    uint32_t to, from, count, member;
    size_t number; /* among the receives of the pass, if of another member */
};

struct iwi_exchange_pieces {
    struct iwi_exchange_piece *piece;
    size_t count, capacity;
};

/* Halos: ranks to ... to + count - 1 need the values of a line that ranks from ... elsewhere have. */
struct iwi_away_run {
    uint32_t line, to, from, count;
    size_t at; /* of the values, where they are kept */
};

struct iwi_exchange {
    struct iwi_outbox *outboxes; /* of all members */
    struct iwi_inbox *inboxes;
    uint64_t round;      /* counts the rounds with letters, from 1 on */
    uint32_t *addressed; /* whom this round's letters go to */
    size_t addressed_count;
    /* other rounds: */
    uint32_t *put_off; /* ranks of the operation that need letters which are not here yet */
    size_t put_off_count, put_off_capacity;
    const iw_time **sent_at, **posted_at; /* of the receives and of the sends of one rank */
    uint32_t fan;
    /* streaming rounds: */
    struct iwi_exchange_pieces values,
        posts; /* where the times of senders, and of receives posted, come from */
    struct iwi_transfer *sends;
    size_t send_count, send_capacity;
    /* halos: by line and rank */
    struct iwi_away_run *away;
    size_t away_count, away_capacity;
    iw_time *away_values;
    size_t away_value_count, away_value_capacity;
};

IW_NODISCARD iw_status iwi_exchange_new(struct iwi_flow *flow);
void iwi_exchange_free(struct iwi_flow *flow);

static inline bool iwi_is_here(const struct iwi_flow *flow, uint32_t rank)
{
    return rank - flow->first_rank < flow->ranks; /* unsigned: those before wrap around */
}

/* ---- letters ---- */

/* A round with letters begins. */
void iwi_letters_begin(struct iwi_exchange *exchange);

/* Room for `bytes` more in the letter to a member; a multiple of 8. */
IW_NODISCARD iw_status iwi_letter_room(struct iwi_flow *flow, uint32_t to, size_t bytes, void **room_p);

/* All letters of this round go out. */
IW_NODISCARD iw_status iwi_letters_send(struct iwi_flow *flow);

/* The letter of this round from a member; *inbox_p is NULL if it is not here yet (only if !may_wait). */
IW_NODISCARD iw_status iwi_letter_take(struct iwi_flow *flow, uint32_t from, bool may_wait,
                                       struct iwi_inbox **inbox_p);

/* ---- rounds ---- */

/* One pass over all elements of the block. What it sends may be on its way until the next one, or until
 * iwi_exchange_finish_pass(). */
IW_NODISCARD iw_status iwi_exchange_pass(struct iwi_flow *flow, const struct iwi_span *all,
                                         const struct iwi_pass *pass);
IW_NODISCARD iw_status iwi_exchange_finish_pass(struct iwi_flow *flow);

/* A round of pairs of eager messages. */
IW_NODISCARD iw_status iwi_exchange_pairs(struct iwi_flow *flow, const struct iwi_round *round);

/* Any other round. */
IW_NODISCARD iw_status iwi_exchange_round(struct iwi_flow *flow, const struct iwi_round_run *run);

/* A range goes around the ring of P ranks, maybe several times, and passes the block once in each turn. */
struct iwi_turns {
    int64_t ranks;                /* P */
    int64_t first, stride, count; /* of the range; the stride is the shorter way around */
    int64_t low, high;            /* the block: ranks low ... high - 1 */
    int64_t turn;
};

/* Numbers begin ... end - 1 of the range are ranks rank, rank + stride, ... of the block. */
struct iwi_turn {
    int64_t begin, end, rank;
};

static inline struct iwi_turns iwi_turns_of(const struct iwi_range *range, uint32_t ranks, uint32_t low,
                                            uint32_t high)
{
    const int64_t p = ranks, stride = (range->stride % p + p) % p;

    return (struct iwi_turns){.ranks = p,
                              .first = range->first,
                              .stride = stride > p / 2 ? stride - p : stride,
                              .count = range->count,
                              .low = low,
                              .high = high};
}

/* The least number whose place is at or beyond `distance` from the first, n > 0. */
static inline int64_t iwi_turns_reach(int64_t distance, int64_t n)
{
    return distance <= 0 ? 0 : (distance + n - 1) / n;
}

/* The next turn that meets the block, in the order of numbers; false: there is none. */
static inline bool iwi_turns_next(struct iwi_turns *turns, struct iwi_turn *turn_p)
{
    const int64_t n = turns->stride < 0 ? -turns->stride : turns->stride;
    const int64_t length = (turns->count - 1) * n; /* of the way */

    while (turns->count > 0 && turns->low < turns->high) {
        const int64_t moved = turns->turn++ * turns->ranks;
        /* along the way, from the first rank on */
        const int64_t near =
            moved + (turns->stride < 0 ? turns->first - (turns->high - 1) : turns->low - turns->first);
        const int64_t far = near + (turns->high - turns->low);
        int64_t begin, end;

        if (near > length || (n == 0 && moved > 0)) {
            return false;
        }
        begin = n == 0 ? (near > 0 || far <= 0 ? turns->count : 0) : iwi_turns_reach(near, n);
        end = n == 0 ? turns->count : iwi_turns_reach(far, n);
        end = end < turns->count ? end : turns->count;
        if (begin < end) {
            *turn_p = (struct iwi_turn){
                begin, end, turns->first + begin * turns->stride + (turns->stride < 0 ? moved : -moved)};
            return true;
        }
    }
    return false;
}

#endif
