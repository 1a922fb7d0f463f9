/* The window engine's message side: matching by (source, tag), and what both sides learn (rules 5 and 7).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * On a rank without wildcards the k-th send meets the k-th receive of the same source and tag, so it does not
 * matter when a message is matched, if those of one source come in their order. Nor does it on a rank with
 * wildcards, if none of these can accept the message. All others wait in an inbox until their rank sees them.
 */
#include <stdlib.h>

#include "core/base/base.h"
#include "core/sim/window/window_state.h"

/* ---- a ring of stretches of time, each with a set of ranks ---- */

iw_status iwi_calendar_init(const iw_log *log, struct iwi_calendar *calendar, uint32_t ranks, iw_time most)
{
    *calendar = (struct iwi_calendar){.ranks = ranks, .words = ((size_t)ranks + 63) / 64, .current = -1};
    while (calendar->shift < 62 && (INT64_C(2) << calendar->shift) <= most) {
        calendar->shift++;
    }
    calendar->sets = iwi_new_array(log, calendar->words * IWI_CALENDAR_SLOTS, sizeof *calendar->sets);
    calendar->turn = iwi_new_array(log, ranks, sizeof *calendar->turn);
    calendar->active = iwi_new_array(log, ranks, sizeof *calendar->active);
    for (uint32_t rank = 0; calendar->turn != NULL && rank < ranks; rank++) {
        calendar->turn[rank] = INT64_MAX;
    }
    return calendar->sets != NULL && calendar->turn != NULL && calendar->active != NULL ? IW_OK
                                                                                        : IW_ERR_NOMEM;
}

void iwi_calendar_release(struct iwi_calendar *calendar)
{
    free(calendar->sets);
    free(calendar->turn);
    free(calendar->active);
}

static int64_t stretch_of(const struct iwi_calendar *calendar, uint32_t rank)
{
    return calendar->turn[rank] == INT64_MAX ? INT64_MAX : calendar->turn[rank] >> calendar->shift;
}

/* Slots that have ranks, the one after the current stretch first. */
static uint64_t filled_in_order(const struct iwi_calendar *calendar)
{
    const uint32_t begin = (uint32_t)(calendar->current + 1) % IWI_CALENDAR_SLOTS;

    return begin == 0 ? calendar->is_filled
                      : calendar->is_filled >> begin | calendar->is_filled << (IWI_CALENDAR_SLOTS - begin);
}

/* The first stretch in which a rank of the slot has its turn; it is not before `stretch`, that of the slot.
 */
static int64_t first_of_slot(const struct iwi_calendar *calendar, int64_t stretch)
{
    const uint64_t *set = calendar->sets + (size_t)(stretch % IWI_CALENDAR_SLOTS) * calendar->words;
    int64_t first = INT64_MAX;

    for (size_t word = 0; word < calendar->words && first > stretch; word++) {
        for (uint64_t left = set[word]; left != 0; left &= left - 1) {
            first =
                iwi_min(first, stretch_of(calendar, (uint32_t)(64 * word) + (uint32_t)__builtin_ctzll(left)));
        }
    }
    return first;
}

int64_t iwi_calendar_first(const struct iwi_calendar *calendar)
{
    int64_t first = INT64_MAX;

    for (uint64_t left = filled_in_order(calendar); left != 0; left &= left - 1) {
        const int64_t stretch = calendar->current + 1 + __builtin_ctzll(left);

        if (first <= stretch) {
            break;
        }
        first = iwi_min(first, first_of_slot(calendar, stretch));
    }
    return first;
}

/* Ranks of the slot whose turn is in the current stretch become active, others are put again. */
static uint32_t empty_slot(struct iwi_calendar *calendar, size_t slot, uint32_t count)
{
    uint64_t *set = calendar->sets + slot * calendar->words;

    for (size_t word = 0; word < calendar->words; word++) {
        uint64_t left = set[word];

        for (set[word] = 0; left != 0; left &= left - 1) {
            const uint32_t rank = (uint32_t)(64 * word) + (uint32_t)__builtin_ctzll(left);
            const int64_t stretch = stretch_of(calendar, rank);

            if (stretch == calendar->current) {
                calendar->active[count++] = rank;
                calendar->turn[rank] = INT64_MAX; /* it may be in other slots too */
            } else if (stretch != INT64_MAX) {
                iwi_calendar_put(calendar, rank);
            }
        }
    }
    return count;
}

uint32_t iwi_calendar_take(struct iwi_calendar *calendar, int64_t stretch)
{
    const int64_t before = calendar->current, passed = stretch - before;
    uint64_t left = filled_in_order(calendar);
    uint32_t count = 0;

    if (passed < IWI_CALENDAR_SLOTS) {
        left &= (UINT64_C(1) << passed) - 1;
    }
    calendar->current = stretch;
    for (uint64_t k = left; k != 0; k &= k - 1) {
        calendar->is_filled &=
            ~(UINT64_C(1) << (uint64_t)(before + 1 + __builtin_ctzll(k)) % IWI_CALENDAR_SLOTS);
    }
    for (; left != 0; left &= left - 1) {
        count =
            empty_slot(calendar, (size_t)(before + 1 + __builtin_ctzll(left)) % IWI_CALENDAR_SLOTS, count);
    }
    return count;
}

iw_status iwi_window_grow_queue(struct window_run *run, struct window_rank *rank)
{
    struct iwi_window_queue *queue = &rank->queue;
    void *events = queue->far;
    size_t capacity = queue->far_capacity;

    IW_TRY(iwi_grow(run->log, &events, &capacity, (size_t)queue->far_count * 2 + IWI_WINDOW_NEAR,
                    sizeof *queue->far));
    queue->far = events;
    queue->far_capacity = (uint32_t)capacity;
    return IW_OK;
}

/* ---- on their way ---- */

iw_status iwi_window_send(struct window_run *run, struct iwi_window_message message)
{
    const bool is_own = message.to - run->first_rank < run->rank_count;
    struct window_outbox *outbox =
        &run->outboxes[is_own ? run->own_outbox : iwi_partition_owner(run->job->partition, message.to)];

    if (outbox->count == outbox->capacity) {
        void *messages = outbox->messages;

        IW_TRY(iwi_grow(run->log, &messages, &outbox->capacity, outbox->count + 1, sizeof message));
        outbox->messages = messages;
    }
    outbox->messages[outbox->count++] = message;
    run->first_sent = is_own ? run->first_sent : iwi_min(run->first_sent, message.notice);
    return IW_OK;
}

/* ---- buckets ---- */

static struct window_bucket *bucket_of(const struct window_rank *rank, uint32_t source, uint32_t tag)
{
    const uint64_t hash = ((uint64_t)source << 32 | tag) * UINT64_C(0x9e3779b97f4a7c15);

    return &rank->buckets[hash >> 40 & (rank->bucket_count - 1)];
}

static uint32_t source_as(enum iwi_window_look look, uint32_t source)
{
    return (look & IWI_LOOK_ANY_SOURCE) != 0 ? IWI_ANY : source;
}

static uint32_t tag_as(enum iwi_window_look look, uint32_t tag)
{
    return (look & IWI_LOOK_ANY_TAG) != 0 ? IWI_ANY : tag;
}

/* That of receives which look so for the message. */
static struct window_bucket *bucket_for(const struct window_rank *rank, enum iwi_window_look look,
                                        const struct iwi_window_message *message)
{
    return bucket_of(rank, source_as(look, message->from), tag_as(look, message->tag));
}

/* A message that waits is listed by each of the looks that may find it, and so that it is not lost. */
static bool is_listed(const struct window_rank *rank, const struct iwi_window_message *message, uint32_t look)
{
    return look == IWI_LOOK_EXACT ||
           (iwi_window_looks_for(&rank->looks, message->from, message->tag) >> look & 1) != 0;
}

static void append_recv(struct window_node *nodes, struct window_bucket *bucket, uint32_t recv)
{
    nodes[recv].link = IWI_WINDOW_NONE;
    *(bucket->recv_first == IWI_WINDOW_NONE ? &bucket->recv_first : &nodes[bucket->recv_last].link) = recv;
    bucket->recv_last = recv;
}

static uint32_t *newer_of(struct window_run *run, uint32_t entry)
{
    return &run->unexpected[entry / IWI_LOOKS].entry[entry % IWI_LOOKS].newer;
}

static uint32_t *older_of(struct window_run *run, uint32_t entry)
{
    return &run->unexpected[entry / IWI_LOOKS].entry[entry % IWI_LOOKS].older;
}

static void append_entry(struct window_run *run, struct window_bucket *bucket, uint32_t entry)
{
    *newer_of(run, entry) = IWI_WINDOW_NONE;
    *older_of(run, entry) = bucket->entry_first == IWI_WINDOW_NONE ? IWI_WINDOW_NONE : bucket->entry_last;
    *(bucket->entry_first == IWI_WINDOW_NONE ? &bucket->entry_first : newer_of(run, bucket->entry_last)) =
        entry;
    bucket->entry_last = entry;
}

static void unlink_entry(struct window_run *run, struct window_bucket *bucket, uint32_t entry)
{
    const uint32_t older = *older_of(run, entry), newer = *newer_of(run, entry);

    *(older == IWI_WINDOW_NONE ? &bucket->entry_first : newer_of(run, older)) = newer;
    *(newer == IWI_WINDOW_NONE ? &bucket->entry_last : older_of(run, newer)) = older;
}

/* Moves what an old bucket has into the new ones; those of one (source, tag) stay in their order. */
static void deal_out(struct window_run *run, const struct window_place *place,
                     const struct window_bucket *old)
{
    for (uint32_t recv = old->recv_first; recv != IWI_WINDOW_NONE;) {
        const struct window_node *node = &place->nodes[recv];
        const uint32_t next = node->link;

        append_recv(place->nodes, bucket_of(place->state, node->peer, node->tag), recv);
        recv = next;
    }
    for (uint32_t entry = old->entry_first; entry != IWI_WINDOW_NONE;) {
        const uint32_t next = *newer_of(run, entry);
        const struct iwi_window_message *message = &run->unexpected[entry / IWI_LOOKS].message;

        append_entry(run, bucket_for(place->state, (enum iwi_window_look)(entry % IWI_LOOKS), message),
                     entry);
        entry = next;
    }
}

/* Something is about to be put into a bucket. */
static iw_status grow_buckets(struct window_run *run, const struct window_place *place)
{
    struct window_rank *rank = place->state;
    struct window_bucket *old = rank->buckets;
    const uint32_t old_count = rank->bucket_count;

    if (rank->posted_count + rank->entry_count < 2 * old_count) {
        return IW_OK;
    }
    rank->buckets = iwi_new_array(run->log, (size_t)old_count * 4, sizeof *rank->buckets);
    if (rank->buckets == NULL) {
        rank->buckets = old;
        return IW_ERR_NOMEM;
    }
    rank->bucket_count = 4 * old_count;
    for (uint32_t i = 0; i < rank->bucket_count; i++) {
        rank->buckets[i].recv_first = rank->buckets[i].entry_first = IWI_WINDOW_NONE;
    }
    for (uint32_t i = 0; i < old_count; i++) {
        deal_out(run, place, &old[i]);
    }
    if (old != run->bucket_room + (size_t)place->local * IWI_WINDOW_BUCKETS) {
        free(old);
    }
    return IW_OK;
}

/* ---- meeting ---- */

/* Receive and message have found each other: both sides learn the rest. */
static iw_status meet(struct window_run *run, const struct window_place *place, uint32_t recv,
                      const struct iwi_window_message *message)
{
    struct window_node *node = &place->nodes[recv];
    iw_time known = iwi_max(message->notice, node->value);

    if (message->is_rendezvous && run->posted != NULL) {
        known = iwi_max(message->notice, run->posted[iwi_window_index(run, place, recv)]);
    }
    if (message->is_rendezvous) {
        const uint32_t level = iwi_level_between(&run->job->levels, message->from, place->rank);
        const struct iwi_cost cost = iwi_cost_at(run->job->net, level, message->bytes);
        struct iwi_window_message answer = *message;

        known += iwi_cost_handshake(cost.costs, run->job->rendezvous);
        answer.notice = known;
        answer.from = message->to;
        answer.to = message->from;
        answer.is_answer = true;
        IW_TRY(iwi_window_send(run, answer));
        known += cost.wire;
    }
    node->value = (int64_t)message->bytes;
    node->open = message->from;
    run->met_at = known;
    return iwi_window_push(run, place->state, known, iwi_window_serve(node->cpu, true, recv));
}

/* ---- messages whose receive is known before the run ---- */

iw_status iwi_window_ready_fixed(struct window_run *run, const struct window_place *place, uint32_t recv)
{
    const struct window_node *node = &place->nodes[recv];

    if ((node->flags & WINDOW_POSTS) != 0) {
        IW_TRY(iwi_window_push(run, place->state, node->value, iwi_window_what(IWI_WINDOW_POST, recv)));
    }
    if ((node->flags & WINDOW_ARRIVED) != 0) {
        const struct iwi_window_message message = {.notice = (iw_time)node->amount,
                                                   .bytes = node->link,
                                                   .from = node->peer,
                                                   .to = place->rank,
                                                   .send = node->tag,
                                                   .is_rendezvous = (node->flags & WINDOW_RENDEZVOUS) != 0};

        return meet(run, place, recv, &message);
    }
    return IW_OK;
}

/* The same when the message comes: a receive that is not ready yet remembers it. */
iw_status iwi_window_notice_fixed(struct window_run *run, const struct window_place *place,
                                  const struct iwi_window_message *message)
{
    struct window_node *node = &place->nodes[message->tag];

    if (node->open == 0) {
        return meet(run, place, message->tag, message);
    }
    node->amount = (uint64_t)message->notice;
    node->link = (uint32_t)message->bytes;
    node->flags |= (uint8_t)(WINDOW_ARRIVED | (message->is_rendezvous ? WINDOW_RENDEZVOUS : 0));
    return IW_OK;
}

/* ---- receives ---- */

/* A message that has waited is received. */
static iw_status take_message(struct window_run *run, const struct window_place *place, uint32_t index,
                              uint32_t recv)
{
    struct window_rank *rank = place->state;
    const struct iwi_window_message message = run->unexpected[index].message;

    for (uint32_t look = 0; look < IWI_LOOKS; look++) {
        if (is_listed(rank, &message, look)) {
            unlink_entry(run, bucket_for(rank, (enum iwi_window_look)look, &message),
                         IWI_LOOKS * index + look);
            rank->entry_count--;
        }
    }
    run->unexpected[index].entry[0].newer = run->unused;
    run->unused = index;
    return meet(run, place, recv, &message);
}

/* The oldest message that a receive takes. */
static uint32_t find_message(struct window_run *run, const struct window_rank *rank,
                             const struct window_node *recv)
{
    const enum iwi_window_look look = iwi_window_look_of(recv->peer, recv->tag);
    uint32_t entry = bucket_of(rank, recv->peer, recv->tag)->entry_first;

    for (; entry != IWI_WINDOW_NONE; entry = *newer_of(run, entry)) {
        const struct iwi_window_message *message = &run->unexpected[entry / IWI_LOOKS].message;

        if (entry % IWI_LOOKS == look && source_as(look, message->from) == recv->peer &&
            tag_as(look, message->tag) == recv->tag) {
            return entry / IWI_LOOKS;
        }
    }
    return IWI_WINDOW_NONE;
}

iw_status iwi_window_post(struct window_run *run, const struct window_place *place, uint32_t recv)
{
    struct window_rank *rank = place->state;
    struct window_node *node = &place->nodes[recv];
    const uint32_t message = rank->entry_count > 0 ? find_message(run, rank, node) : IWI_WINDOW_NONE;

    node->value = run->now;
    if (message != IWI_WINDOW_NONE) {
        return take_message(run, place, message, recv);
    }
    IW_TRY(grow_buckets(run, place));
    node->open = rank->post_count++;
    rank->posted_count++;
    append_recv(place->nodes, bucket_of(rank, node->peer, node->tag), recv);
    return IW_OK;
}

/* ---- messages ---- */

/* A posted receive, where it is. */
struct window_posted {
    struct window_bucket *bucket;
    uint32_t recv, previous;
};

/* The oldest that looks so for the message. */
static struct window_posted find_recv(const struct window_place *place, enum iwi_window_look look,
                                      const struct iwi_window_message *message)
{
    const uint32_t source = source_as(look, message->from), tag = tag_as(look, message->tag);
    struct window_posted posted = {bucket_of(place->state, source, tag), IWI_WINDOW_NONE, IWI_WINDOW_NONE};

    for (posted.recv = posted.bucket->recv_first; posted.recv != IWI_WINDOW_NONE;
         posted.recv = place->nodes[posted.recv].link) {
        if (place->nodes[posted.recv].peer == source && place->nodes[posted.recv].tag == tag) {
            break;
        }
        posted.previous = posted.recv;
    }
    return posted;
}

/* Nobody has posted a receive for it. */
static iw_status keep_message(struct window_run *run, const struct window_place *place,
                              const struct iwi_window_message *message)
{
    struct window_rank *rank = place->state;
    uint32_t index = run->unused;

    IW_TRY(grow_buckets(run, place));
    if (index == IWI_WINDOW_NONE) {
        void *all = run->unexpected;

        IW_TRY(iwi_grow(run->log, &all, &run->unexpected_capacity, run->unexpected_count + 1,
                        sizeof *run->unexpected));
        run->unexpected = all;
        index = (uint32_t)run->unexpected_count++;
        run->unexpected[index].entry[0].newer = IWI_WINDOW_NONE;
    }
    run->unused = run->unexpected[index].entry[0].newer;
    run->unexpected[index].message = *message;
    for (uint32_t look = 0; look < IWI_LOOKS; look++) {
        if (is_listed(rank, message, look)) {
            append_entry(run, bucket_for(rank, (enum iwi_window_look)look, message),
                         IWI_LOOKS * index + look);
            rank->entry_count++;
        }
    }
    return IW_OK;
}

iw_status iwi_window_notice(struct window_run *run, const struct window_place *place,
                            const struct iwi_window_message *message)
{
    struct window_rank *rank = place->state;
    struct window_posted oldest = {.recv = IWI_WINDOW_NONE};
    const uint32_t looks = iwi_window_looks_for(&rank->looks, message->from, message->tag);

    for (uint32_t look = 0; look < IWI_LOOKS && rank->posted_count > 0; look++) {
        if ((looks >> look & 1) != 0) {
            const struct window_posted posted = find_recv(place, (enum iwi_window_look)look, message);

            if (posted.recv != IWI_WINDOW_NONE &&
                (oldest.recv == IWI_WINDOW_NONE ||
                 place->nodes[posted.recv].open < place->nodes[oldest.recv].open)) {
                oldest = posted;
            }
        }
    }
    if (oldest.recv == IWI_WINDOW_NONE) {
        return keep_message(run, place, message);
    }
    *(oldest.previous == IWI_WINDOW_NONE ? &oldest.bucket->recv_first : &place->nodes[oldest.previous].link) =
        place->nodes[oldest.recv].link;
    if (oldest.bucket->recv_last == oldest.recv) {
        oldest.bucket->recv_last = oldest.previous;
    }
    rank->posted_count--;
    return meet(run, place, oldest.recv, message);
}
