/* Letters between members of a team: written in a round, sent at once, taken in the same round.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "core/sim/flow/flow_exchange.h"
#include "core/sim/flow/flow_grid.h"

/* Rounds of pairs on a partition: pairs inside the block at once, the others by letters of times in the order
 * of the pairs.
 */

struct pairs {
    const struct iwi_round *round;
    iw_time reduce;
    uint32_t ranks;
};

IWI_STEP uint32_t moved(const struct pairs *pairs, uint32_t rank, uint32_t by)
{
    const uint64_t at = (uint64_t)rank + by;

    return (uint32_t)(at < pairs->ranks ? at : at - pairs->ranks);
}

/* `lanes` is a constant in every caller, here and below. */
IWI_STEP void receive(struct iwi_flow *flow, const struct pairs *pairs, uint32_t sender, uint32_t rank,
                      const iw_time *sent, const uint32_t lanes)
{
    const struct iwi_cost *cost = flow_cost(flow, sender, rank, pairs->round->bytes);
    const size_t base = iwi_flow_at(flow, rank);

    for (uint32_t lane = 0; lane < lanes; lane++) {
        step_receive(flow, rank, base + lane, cost, sent[lane] + cost->wire, 0, false);
        step_local_work(flow, rank, base + lane, pairs->reduce, false);
    }
}

IWI_STEP iw_status send(struct iwi_flow *flow, const struct pairs *pairs, uint32_t rank, const uint32_t lanes)
{
    const uint32_t receiver = moved(pairs, rank, pairs->round->shift);
    const struct iwi_cost *cost = flow_cost(flow, rank, receiver, pairs->round->bytes);
    const size_t base = iwi_flow_at(flow, rank);
    iw_time sent[8] = {0};
    void *room;

    for (uint32_t lane = 0; lane < lanes; lane++) {
        step_send(flow, rank, receiver, base + lane, cost, &sent[lane], NULL, false);
    }
    if (iwi_is_here(flow, receiver)) {
        receive(flow, pairs, rank, receiver, sent, lanes);
        return IW_OK;
    }
    IW_TRY(
        iwi_letter_room(flow, iwi_partition_owner(flow->partition, receiver), lanes * sizeof *sent, &room));
    memcpy(room, sent, lanes * sizeof *sent);
    return IW_OK;
}

IWI_STEP iw_status receive_by_letter(struct iwi_flow *flow, const struct pairs *pairs, uint32_t rank,
                                     const uint32_t lanes)
{
    const uint32_t sender = moved(pairs, rank, pairs->ranks - pairs->round->shift);
    const size_t bytes = lanes * sizeof(iw_time);
    struct iwi_inbox *inbox;

    if (iwi_is_here(flow, sender)) {
        return IW_OK;
    }
    IW_TRY(iwi_letter_take(flow, iwi_partition_owner(flow->partition, sender), true, &inbox));
    if (inbox->bytes.count - inbox->at < bytes) {
        return iwi_fail(flow->log, IW_ERR_FORMAT,
                        "nothing of rank %" PRIu32 " arrived: run the same program in all processes", sender);
    }
    receive(flow, pairs, sender, rank, (const iw_time *)(const void *)(inbox->bytes.data + inbox->at), lanes);
    inbox->at += bytes;
    return IW_OK;
}

/* Over those of a range that are here, in the order of their numbers. */
IWI_STEP iw_status for_each_here(struct iwi_flow *flow, const struct pairs *pairs,
                                 const struct iwi_range *range, const bool is_sending, const uint32_t lanes)
{
    struct iwi_turns turns =
        iwi_turns_of(range, pairs->ranks, flow->first_rank, flow->first_rank + flow->ranks);
    struct iwi_turn turn;

    while (iwi_turns_next(&turns, &turn)) {
        for (; turn.begin < turn.end; turn.begin++, turn.rank += turns.stride) {
            IW_TRY(is_sending ? send(flow, pairs, (uint32_t)turn.rank, lanes)
                              : receive_by_letter(flow, pairs, (uint32_t)turn.rank, lanes));
        }
    }
    return IW_OK;
}

static iw_status pass_range(struct iwi_flow *flow, const struct pairs *pairs, const struct iwi_range *range,
                            bool is_sending)
{
    switch (flow->lanes) {
    case 8: return for_each_here(flow, pairs, range, is_sending, 8);
    case 1: return for_each_here(flow, pairs, range, is_sending, 1);
    default: return for_each_here(flow, pairs, range, is_sending, flow->lanes);
    }
}

iw_status iwi_exchange_pairs(struct iwi_flow *flow, const struct iwi_round *round)
{
    const struct pairs pairs = {
        .round = round,
        .reduce = iwi_bytes_cost(flow->job->program->reduce, round->reduce_bytes),
        .ranks = flow->partition->ranks,
    };
    struct iwi_range receivers = round->senders;

    receivers.first = moved(&pairs, receivers.first, round->shift);
    iwi_letters_begin(flow->exchange);
    IW_TRY(pass_range(flow, &pairs, &round->senders, true));
    IW_TRY(iwi_letters_send(flow));
    return pass_range(flow, &pairs, &receivers, false);
}

/* Halos on a partition: what ranks of other members need goes out in letters, one for each member.
 *
 * Blocks of ranks are contiguous, and so are the ranks of a run whose neighbours another member has: a letter
 * is a list of few stretches. Each says which line it belongs to and for which ranks it is; these are in one
 * run of the ranks here that wait for something from elsewhere.
 */

/* Of a stretch in a letter; times follow, all lanes of a rank side by side. */
struct head {
    uint32_t line, to, count, unused;
};
_Static_assert(sizeof(struct head) % sizeof(iw_time) == 0, "times are read where they are");

/* So many times at once: letters must not become too long. */
enum { MOST_TIMES = 1 << 20 };

/* ---- out ---- */

static const iw_time *line_values(const struct iwi_halo_grid *grid, uint32_t line)
{
    return line < grid->fan ? grid->flow->slots + line * grid->flow->count : grid->flow->posted;
}

static iw_status write_stretch(struct iwi_flow *flow, uint32_t member, struct head head,
                               const iw_time *values)
{
    const size_t bytes = ((size_t)head.count << flow->lane_shift) * sizeof *values;
    void *room;

    IW_TRY(iwi_letter_room(flow, member, sizeof head + bytes, &room));
    memcpy(room, &head, sizeof head);
    memcpy((unsigned char *)room + sizeof head, values, bytes);
    return IW_OK;
}

/* Ranks rank ... rank + count - 1 have values for `peer` and those after it, who are elsewhere. */
static iw_status write_run(const struct iwi_halo_grid *grid, uint32_t line, uint32_t rank, uint32_t peer,
                           uint32_t count)
{
    struct iwi_flow *flow = grid->flow;
    const uint32_t most = MOST_TIMES >> flow->lane_shift;
    uint32_t part;

    for (uint32_t done = 0; done < count; done += part) {
        const uint32_t member = iwi_partition_owner(flow->partition, peer + done);

        part = (uint32_t)iwi_min(count - done, flow->partition->first[member + 1] - (peer + done));
        part = part < most ? part : most;
        IW_TRY(write_stretch(flow, member, (struct head){.line = line, .to = peer + done, .count = part},
                             line_values(grid, line) + iwi_flow_at(flow, rank + done)));
    }
    return IW_OK;
}

/* ---- in ---- */

/* Place of a rank's values of a line: runs are in the order of lines and ranks. */
static struct iwi_away_run *run_of(struct iwi_exchange *exchange, uint32_t line, uint32_t rank)
{
    const struct iwi_away_run *runs = exchange->away;
    size_t at; /* the first that begins later */

    IWI_FIRST_NOT(at, 1, exchange->away_count,
                  runs[at].line < line || (runs[at].line == line && runs[at].to <= rank));
    return &exchange->away[at - 1];
}

static iw_status read_letter(struct iwi_flow *flow, uint32_t from, struct iwi_inbox *inbox)
{
    struct iwi_exchange *exchange = flow->exchange;
    struct head head;

    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): an exchange that began has inboxes */
    while (inbox->at + sizeof head <= inbox->bytes.count) {
        const struct iwi_away_run *run;
        size_t bytes;

        memcpy(&head, inbox->bytes.data + inbox->at, sizeof head);
        inbox->at += sizeof head;
        bytes = ((size_t)head.count << flow->lane_shift) * sizeof(iw_time);
        run = run_of(exchange, head.line, head.to);
        if (run->line != head.line || head.to < run->to || head.to - run->to > run->count ||
            head.count > run->count - (head.to - run->to) || bytes > inbox->bytes.count - inbox->at) {
            return iwi_fail(flow->log, IW_ERR_FORMAT,
                            "member %" PRIu32 " sent unexpected data for rank %" PRIu32
                            ": run the same program in all processes",
                            from, head.to);
        }
        memcpy(exchange->away_values + run->at + ((size_t)(head.to - run->to) << flow->lane_shift),
               inbox->bytes.data + inbox->at, bytes);
        inbox->at += bytes;
    }
    return IW_OK;
}

/* The letters of all who have something for that run. */
static iw_status take_run(struct iwi_flow *flow, const struct iwi_away_run *run)
{
    const struct iwi_partition *partition = flow->partition;
    uint32_t member;

    for (uint32_t peer = run->from; peer < run->from + run->count; peer = partition->first[member + 1]) {
        struct iwi_inbox *inbox;

        member = iwi_partition_owner(partition, peer);
        if (flow->exchange->inboxes[member].round != flow->exchange->round) {
            IW_TRY(iwi_letter_take(flow, member, true, &inbox));
            IW_TRY(read_letter(flow, member, inbox));
        }
    }
    return IW_OK;
}

/* Ranks rank ... rank + count - 1 need what `peer` and those after it have, who are elsewhere. */
static iw_status add_run(struct iwi_flow *flow, uint32_t line, uint32_t rank, uint32_t peer, uint32_t count)
{
    struct iwi_exchange *exchange = flow->exchange;

    IW_TRY(iwi_grow(flow->log, (void **)&exchange->away, &exchange->away_capacity, exchange->away_count + 1,
                    sizeof *exchange->away));
    exchange->away[exchange->away_count++] = (struct iwi_away_run){
        .line = line, .to = rank, .from = peer, .count = count, .at = exchange->away_value_count};
    exchange->away_value_count += (size_t)count << flow->lane_shift;
    return IW_OK;
}

/* ---- both ---- */

/* Runs of ranks here whose peers of that line are elsewhere: values for them go out, or are awaited. */
static iw_status each_run(const struct iwi_halo_grid *grid, uint32_t line, bool is_giving)
{
    struct iwi_flow *flow = grid->flow;
    struct iwi_bands bands = iwi_grid_line(grid, line, is_giving);
    const uint32_t end = flow->first_rank + flow->ranks;
    uint32_t count;

    for (uint32_t rank = flow->first_rank; rank < end; rank += count) {
        const struct iwi_band_run *run = &bands.runs[bands.at];
        const uint32_t peer = (uint32_t)(rank + run->offset);
        bool is_away = false;

        count = (uint32_t)iwi_min((int64_t)bands.left, end - rank);
        if (run->has_peer) {
            count = iwi_grid_here(flow, peer, count, &is_away);
        }
        if (is_away && is_giving) {
            IW_TRY(write_run(grid, line, rank, peer, count));
        } else if (is_away) {
            IW_TRY(add_run(flow, line, rank, peer, count));
        }
        iwi_bands_skip(&bands, count);
    }
    return IW_OK;
}

iw_status iwi_exchange_grid(struct iwi_halo_grid *grid)
{
    struct iwi_flow *flow = grid->flow;
    struct iwi_exchange *exchange = flow->exchange;
    size_t first[IWI_GRID_LINES];

    iwi_letters_begin(exchange);
    for (uint32_t line = 0; line < iwi_grid_lines(grid); line++) {
        IW_TRY(each_run(grid, line, true));
    }
    IW_TRY(iwi_letters_send(flow));
    exchange->away_count = exchange->away_value_count = 0;
    for (uint32_t line = 0; line < iwi_grid_lines(grid); line++) {
        first[line] = exchange->away_value_count;
        IW_TRY(each_run(grid, line, false));
    }
    IW_TRY(iwi_grow(flow->log, (void **)&exchange->away_values, &exchange->away_value_capacity,
                    exchange->away_value_count, sizeof *exchange->away_values));
    for (size_t k = 0; k < exchange->away_count; k++) {
        IW_TRY(take_run(flow, &exchange->away[k]));
    }
    for (uint32_t line = 0; line < iwi_grid_lines(grid); line++) {
        grid->away[line] = exchange->away_values + first[line];
    }
    return IW_OK;
}

/* A member may be so far ahead of another that it writes to: letters, and bytes of them (two of any size). */
enum { MOST_LETTERS = 1024, MOST_BYTES = 1 << 20 };

/* A letter begins with a word that tells whether another one of the same round follows. */
enum { HEAD = sizeof(uint64_t), LARGEST = 1 << 26 };
_Static_assert(LARGEST <= IW_LINK_MOST_BYTES, "letters must fit into messages");

iw_status iwi_exchange_new(struct iwi_flow *flow)
{
    const size_t members = flow->partition->members;
    struct iwi_exchange *exchange = iwi_new_array(flow->log, 1, sizeof *exchange);

    if (exchange == NULL) {
        return IW_ERR_NOMEM;
    }
    flow->exchange = exchange;
    exchange->outboxes = iwi_new_array(flow->log, members, sizeof *exchange->outboxes);
    exchange->inboxes = iwi_new_array(flow->log, members, sizeof *exchange->inboxes);
    exchange->addressed = iwi_new_array(flow->log, members, sizeof *exchange->addressed);
    return exchange->outboxes == NULL || exchange->inboxes == NULL || exchange->addressed == NULL
               ? IW_ERR_NOMEM
               : IW_OK;
}

static void free_letters(struct iwi_letter *letter)
{
    while (letter != NULL) {
        struct iwi_letter *next = letter->next;

        iwi_bytes_release(&letter->bytes);
        free(letter);
        letter = next;
    }
}

/* Others may still have to take what this member sent; they do, unless somebody failed. */
static void free_boxes(struct iwi_flow *flow)
{
    struct iwi_exchange *exchange = flow->exchange;

    for (uint32_t m = 0; m < flow->partition->members && exchange->outboxes != NULL; m++) {
        struct iwi_outbox *outbox = &exchange->outboxes[m];

        for (struct iwi_letter *letter = outbox->first; letter != NULL; letter = letter->next) {
            if (iwi_member_wait(flow->member, &letter->transfer, 1) != IW_OK) {
                break;
            }
        }
        free_letters(outbox->first);
        free_letters(outbox->unused);
        free_letters(outbox->open);
    }
    for (uint32_t m = 0; m < flow->partition->members && exchange->inboxes != NULL; m++) {
        iwi_bytes_release(&exchange->inboxes[m].bytes);
        iwi_bytes_release(&exchange->inboxes[m].more);
    }
}

void iwi_exchange_free(struct iwi_flow *flow)
{
    struct iwi_exchange *exchange = flow->exchange;

    if (exchange == NULL) {
        return;
    }
    free_boxes(flow);
    free(exchange->outboxes);
    free(exchange->inboxes);
    free(exchange->addressed);
    free(exchange->put_off);
    free(exchange->sent_at);
    free(exchange->posted_at);
    free(exchange->values.piece);
    free(exchange->posts.piece);
    free(exchange->sends);
    free(exchange->away);
    free(exchange->away_values);
    free(exchange);
}

void iwi_letters_begin(struct iwi_exchange *exchange)
{
    exchange->round++;
    exchange->addressed_count = 0;
}

/* ---- out ---- */

/* Waits for the oldest letters until this member is not too far ahead. Only those of earlier rounds: who gets
 * one of this round may have to wait for this member before it takes it. */
static iw_status wait_for_oldest(struct iwi_flow *flow, struct iwi_outbox *outbox)
{
    while (
        outbox->first != NULL && outbox->first->round < flow->exchange->round &&
        (outbox->sent_count >= MOST_LETTERS || (outbox->sent_bytes > MOST_BYTES && outbox->sent_count > 1))) {
        struct iwi_letter *letter = outbox->first;

        IW_TRY(iwi_member_wait(flow->member, &letter->transfer, 1));
        outbox->first = letter->next;
        outbox->sent_count--;
        outbox->sent_bytes -= letter->bytes.count;
        letter->next = outbox->unused;
        outbox->unused = letter;
    }
    return IW_OK;
}

static iw_status open_letter(struct iwi_flow *flow, struct iwi_outbox *outbox)
{
    struct iwi_letter *letter;

    IW_TRY(wait_for_oldest(flow, outbox));
    letter = outbox->unused;
    if (letter != NULL) {
        outbox->unused = letter->next;
    } else if ((letter = iwi_new_array(flow->log, 1, sizeof *letter)) == NULL) {
        return IW_ERR_NOMEM;
    }
    letter->next = NULL;
    letter->round = flow->exchange->round;
    letter->bytes.count = HEAD;
    outbox->open = letter;
    return iwi_grow(flow->log, (void **)&letter->bytes.data, &letter->bytes.capacity, HEAD, 1);
}

static iw_status send_letter(struct iwi_flow *flow, uint32_t to, bool is_last)
{
    struct iwi_outbox *outbox = &flow->exchange->outboxes[to];
    struct iwi_letter *letter = outbox->open;
    const uint64_t head = is_last;

    memcpy(letter->bytes.data, &head, HEAD);
    IW_TRY(iwi_member_send(flow->member, to, letter->bytes.data, letter->bytes.count, &letter->transfer));
    outbox->open = NULL;
    if (outbox->first == NULL) {
        outbox->first = letter;
    } else {
        outbox->last->next = letter;
    }
    outbox->last = letter;
    outbox->sent_count++;
    outbox->sent_bytes += letter->bytes.count;
    return IW_OK;
}

iw_status iwi_letter_room(struct iwi_flow *flow, uint32_t to, size_t bytes, void **room_p)
{
    struct iwi_exchange *exchange = flow->exchange;
    struct iwi_outbox *outbox = &exchange->outboxes[to];
    struct iwi_bytes *letter;

    if (outbox->open == NULL) {
        exchange->addressed[exchange->addressed_count++] = to;
        IW_TRY(open_letter(flow, outbox));
    } else if (outbox->open->bytes.count + bytes > LARGEST) {
        IW_TRY(send_letter(flow, to, false));
        IW_TRY(open_letter(flow, outbox));
    }
    letter = &outbox->open->bytes;
    IW_TRY(iwi_grow(flow->log, (void **)&letter->data, &letter->capacity, letter->count + bytes, 1));
    *room_p = letter->data + letter->count;
    letter->count += bytes;
    return IW_OK;
}

iw_status iwi_letters_send(struct iwi_flow *flow)
{
    for (size_t k = 0; k < flow->exchange->addressed_count; k++) {
        IW_TRY(send_letter(flow, flow->exchange->addressed[k], true));
    }
    return IW_OK;
}

/* ---- in ---- */

static bool is_last(const struct iwi_bytes *letter)
{
    uint64_t head = 1;

    if (letter->count >= HEAD) {
        memcpy(&head, letter->data, HEAD);
    }
    return head != 0;
}

static iw_status take_rest(struct iwi_flow *flow, uint32_t from, struct iwi_inbox *inbox)
{
    struct iwi_bytes *bytes = &inbox->bytes;
    bool has, is_complete = is_last(bytes);

    while (!is_complete) {
        IW_TRY(iwi_member_take(flow->member, from, true, &inbox->more, &has));
        is_complete = is_last(&inbox->more);
        IW_TRY(iwi_grow(flow->log, (void **)&bytes->data, &bytes->capacity, bytes->count + inbox->more.count,
                        1));
        memcpy(bytes->data + bytes->count, inbox->more.data + HEAD, inbox->more.count - HEAD);
        bytes->count += inbox->more.count - HEAD;
    }
    return IW_OK;
}

iw_status iwi_letter_take(struct iwi_flow *flow, uint32_t from, bool may_wait, struct iwi_inbox **inbox_p)
{
    struct iwi_inbox *inbox = &flow->exchange->inboxes[from];
    bool has = true;

    if (inbox->round != flow->exchange->round) {
        IW_TRY(iwi_member_take(flow->member, from, may_wait, &inbox->bytes, &has));
        if (has) {
            IW_TRY(take_rest(flow, from, inbox));
            inbox->round = flow->exchange->round;
            inbox->at = HEAD;
        }
    }
    *inbox_p = has ? inbox : NULL;
    return IW_OK;
}
