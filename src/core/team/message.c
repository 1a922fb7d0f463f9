/* Messages between members: by memory inside a process, by the link between processes.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Inside a process, whoever comes second, the sender or the receiver, copies from the memory of one straight
 * into that of the other.
 */
#include <string.h>

#include "core/base/base.h"
#include "core/team/mailbox.h"

/* What `state` of a transfer points to: all NULL once it has been waited for. */
enum { STATE_POST, STATE_REQUEST };

static bool is_here(const struct iwi_team *team, uint32_t number)
{
    return number - team->first < team->threads; /* of unsigned numbers: those before wrap around */
}

static void put(struct iwi_channel *channel, struct iwi_post *post)
{
    if (channel->first == NULL) {
        channel->first = post;
    } else {
        channel->last->next = post;
    }
    channel->last = post;
}

/* The first in the channel if it is of that kind, else NULL; it is no longer there then. */
static struct iwi_post *pop(struct iwi_channel *channel, bool is_send)
{
    struct iwi_post *post = channel->first;

    if (post == NULL || post->is_send != is_send) {
        return NULL;
    }
    channel->first = post->next;
    return post;
}

static void copy(void *to, const void *from, size_t bytes)
{
    if (bytes > 0) {
        memcpy(to, from, bytes);
    }
}

static void finish(const struct iwi_team *team, struct iwi_post *post)
{
    struct iwi_mailbox *owner = &team->mailboxes[post->owner]; /* who may drop the post once it is done */

    atomic_store(&post->is_done, true);
    iwi_mailbox_ring(owner);
}

/* ---- inside the process ---- */

/* Copies between the two halves of a message. */
static iw_status join(struct iwi_member *member, struct iwi_post *mine, struct iwi_post *other)
{
    const struct iwi_post *send = mine->is_send ? mine : other;
    struct iwi_post *receive = mine->is_send ? other : mine;

    if (send->bytes != receive->bytes) {
        const uint32_t first = member->team->first;

        iwi_error(member->log, "member %" PRIu32 " sends %zu bytes where member %" PRIu32 " expects %zu",
                  first + send->owner, send->bytes, first + receive->owner, receive->bytes);
        iwi_team_fail(member->team, IW_ERR_FORMAT);
        return IW_ERR_FORMAT;
    }
    IW_TRY(iwi_mailbox_enter(member));
    copy(receive->to, send->from, send->bytes);
    iwi_mailbox_leave(member);
    atomic_store(&mine->is_done, true);
    finish(member->team, other);
    return IW_OK;
}

static iw_status begin_here(struct iwi_member *member, uint32_t from, uint32_t to, struct iwi_post what,
                            struct iwi_transfer *transfer)
{
    struct iwi_team *team = member->team;
    struct iwi_mailbox *receiver = &team->mailboxes[to - team->first];
    struct iwi_channel *channel = &receiver->channels[from - team->first];
    struct iwi_post *mine, *other;

    IW_TRY(iwi_team_check(team));
    IW_TRY(iwi_mailbox_new_post(member->log, iwi_mailbox_of(member), &mine));
    mine->owner = member->number - team->first;
    mine->is_send = what.is_send;
    mine->from = what.from;
    mine->to = what.to;
    mine->bytes = what.bytes;
    transfer->state[STATE_POST] = mine;
    pthread_mutex_lock(&receiver->lock);
    other = pop(channel, !mine->is_send);
    if (other == NULL) {
        put(channel, mine);
    }
    pthread_mutex_unlock(&receiver->lock);
    if (other != NULL) {
        return join(member, mine, other);
    }
    if (mine->is_send) {
        iwi_mailbox_ring(receiver); /* it may wait to take a message */
    }
    return IW_OK;
}

/* A look, while there were `seen` rings, was in vain. */
static void pause_here(struct iwi_member *member, struct iwi_vigil *vigil, unsigned seen)
{
    struct iwi_mailbox *mailbox = iwi_mailbox_of(member);

    if (!iwi_vigil_goes_on(vigil, &mailbox->patience)) {
        iwi_mailbox_sleep(member->team, mailbox, seen);
    }
}

static iw_status wait_here(struct iwi_member *member, struct iwi_post *post)
{
    struct iwi_mailbox *mailbox = iwi_mailbox_of(member);
    struct iwi_vigil vigil = {0};

    for (;;) {
        const unsigned seen = atomic_load(&mailbox->rings);

        if (atomic_load(&post->is_done)) {
            iwi_vigil_end(&vigil, &mailbox->patience);
            iwi_mailbox_drop_post(mailbox, post);
            return IW_OK;
        }
        IW_TRY(iwi_team_check(member->team));
        pause_here(member, &vigil, seen);
    }
}

static iw_status make_room(struct iwi_member *member, struct iwi_bytes *message, size_t bytes)
{
    return iwi_grow(member->log, (void **)&message->data, &message->capacity, bytes, 1);
}

static iw_status copy_to(struct iwi_member *member, struct iwi_post *send, struct iwi_bytes *message)
{
    IW_TRY(make_room(member, message, send->bytes));
    IW_TRY(iwi_mailbox_enter(member));
    copy(message->data, send->from, send->bytes);
    iwi_mailbox_leave(member);
    message->count = send->bytes;
    finish(member->team, send);
    return IW_OK;
}

static iw_status take_here(struct iwi_member *member, uint32_t from, bool may_wait, struct iwi_bytes *message,
                           bool *has_p)
{
    struct iwi_mailbox *mailbox = iwi_mailbox_of(member);
    struct iwi_channel *channel = &mailbox->channels[from - member->team->first];
    struct iwi_vigil vigil = {0};

    for (;;) {
        const unsigned seen = atomic_load(&mailbox->rings);
        struct iwi_post *send;

        IW_TRY(iwi_team_check(member->team));
        pthread_mutex_lock(&mailbox->lock);
        send = pop(channel, true);
        pthread_mutex_unlock(&mailbox->lock);
        if (send != NULL || !may_wait) {
            iwi_vigil_end(&vigil, &mailbox->patience);
            *has_p = send != NULL;
            return send != NULL ? copy_to(member, send, message) : IW_OK;
        }
        pause_here(member, &vigil, seen);
    }
}

/* ---- over the link ---- */

static iw_status wait_there(struct iwi_member *member, iw_link_request *request)
{
    const iw_link *link = member->team->link;
    struct iwi_patience *patience = &iwi_mailbox_of(member)->patience;
    struct iwi_vigil vigil = {0};

    for (bool is_done = false;;) {
        iw_status status;

        IW_TRY(iwi_mailbox_enter(member));
        status = link->test(link->arg, member->log, request, &is_done);
        iwi_mailbox_leave(member);
        IW_TRY(status);
        if (is_done) {
            iwi_vigil_end(&vigil, patience);
            return IW_OK;
        }
        iwi_vigil_pause(&vigil, patience);
    }
}

static iw_status send_there(struct iwi_member *member, uint32_t to, const void *data, size_t bytes,
                            iw_link_request **request_p)
{
    const iw_link *link = member->team->link;
    const struct iwi_route route = iwi_route_to(member, to);
    iw_status status;

    IW_TRY(iwi_mailbox_enter(member));
    status = link->send(link->arg, member->log, route.process, route.channel, data, bytes, request_p);
    iwi_mailbox_leave(member);
    return status;
}

static iw_status receive_there(struct iwi_member *member, uint32_t from, void *data, size_t bytes,
                               iw_link_request **request_p)
{
    const iw_link *link = member->team->link;
    const struct iwi_route route = iwi_route_from(member, from);
    iw_status status;

    IW_TRY(iwi_mailbox_enter(member));
    status = link->receive(link->arg, member->log, route.process, route.channel, data, bytes, request_p);
    iwi_mailbox_leave(member);
    return status;
}

/* How long the next message of `from` is, if it is there or is waited for. */
static iw_status probe_there(struct iwi_member *member, uint32_t from, bool may_wait, size_t *bytes_p,
                             bool *is_there_p)
{
    const iw_link *link = member->team->link;
    const struct iwi_route route = iwi_route_from(member, from);
    struct iwi_patience *patience = &iwi_mailbox_of(member)->patience;
    struct iwi_vigil vigil = {0};

    for (;;) {
        iw_status status;

        IW_TRY(iwi_mailbox_enter(member));
        status = link->probe(link->arg, member->log, route.process, route.channel, is_there_p, bytes_p);
        iwi_mailbox_leave(member);
        IW_TRY(status);
        if (*is_there_p || !may_wait) {
            iwi_vigil_end(&vigil, patience);
            return IW_OK;
        }
        iwi_vigil_pause(&vigil, patience);
    }
}

static iw_status take_there(struct iwi_member *member, uint32_t from, bool may_wait,
                            struct iwi_bytes *message, bool *has_p)
{
    iw_link_request *request;
    size_t bytes = 0;
    bool is_there = false;

    IW_TRY(probe_there(member, from, may_wait, &bytes, &is_there));
    if (!is_there) {
        *has_p = false;
        return IW_OK;
    }
    IW_TRY(make_room(member, message, bytes));
    IW_TRY(receive_there(member, from, message->data, bytes, &request));
    IW_TRY(wait_there(member, request));
    message->count = bytes;
    *has_p = true;
    return IW_OK;
}

/* ---- both ---- */

/* Also where memory would take more: what works in one process works in several. */
static iw_status check_size(struct iwi_member *member, size_t bytes)
{
    return bytes <= IW_LINK_MOST_BYTES
               ? IW_OK
               : iwi_fail(member->log, IW_ERR_RANGE,
                          "a message of %zu bytes is too long: at most %zu are possible", bytes,
                          IW_LINK_MOST_BYTES);
}

iw_status iwi_member_send(struct iwi_member *member, uint32_t to, const void *data, size_t bytes,
                          struct iwi_transfer *transfer)
{
    *transfer = (struct iwi_transfer){.state = {NULL}};
    IW_TRY(check_size(member, bytes));
    if (is_here(member->team, to)) {
        return begin_here(member, member->number, to,
                          (struct iwi_post){.is_send = true, .from = data, .bytes = bytes}, transfer);
    }
    return send_there(member, to, data, bytes, (iw_link_request **)&transfer->state[STATE_REQUEST]);
}

iw_status iwi_member_receive(struct iwi_member *member, uint32_t from, void *data, size_t bytes,
                             struct iwi_transfer *transfer)
{
    *transfer = (struct iwi_transfer){.state = {NULL}};
    IW_TRY(check_size(member, bytes));
    if (is_here(member->team, from)) {
        return begin_here(member, from, member->number, (struct iwi_post){.to = data, .bytes = bytes},
                          transfer);
    }
    return receive_there(member, from, data, bytes, (iw_link_request **)&transfer->state[STATE_REQUEST]);
}

/* First those of the link, where looking makes them go on; the others need no help of ours. */
iw_status iwi_member_wait(struct iwi_member *member, struct iwi_transfer *transfers, size_t count)
{
    for (size_t i = 0; member->team->link != NULL && i < count; i++) {
        if (transfers[i].state[STATE_REQUEST] != NULL) {
            IW_TRY(wait_there(member, transfers[i].state[STATE_REQUEST]));
            transfers[i].state[STATE_REQUEST] = NULL;
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (transfers[i].state[STATE_POST] != NULL) {
            IW_TRY(wait_here(member, transfers[i].state[STATE_POST]));
            transfers[i].state[STATE_POST] = NULL;
        }
    }
    return IW_OK;
}

iw_status iwi_member_take(struct iwi_member *member, uint32_t from, bool may_wait, struct iwi_bytes *message,
                          bool *has_p)
{
    return is_here(member->team, from) ? take_here(member, from, may_wait, message, has_p)
                                       : take_there(member, from, may_wait, message, has_p);
}
