/* Letters between members of a team: written in a round, sent at once, taken in the same round.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/sim/flow/flow_exchange.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"

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
