/* Forms a team, and runs work as its members.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/team/team.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/available.h"
#include "core/base/base.h"
#include "core/base/order.h"
#include "core/base/shared_log.h"
#include "core/team/mailbox.h"

/* Messages between members: by memory inside a process, by the link between processes.
 *
 * Inside a process, whoever comes second, the sender or the receiver, copies from the memory of one straight
 * into that of the other.
 */

/* Messages between members: by memory inside a process, by the link between processes.
 *
 * Inside a process, whoever comes second, the sender or the receiver, copies from the memory of one straight
 * into that of the other.
 */

/* What `state` of a transfer points to: all NULL once it has been waited for. */
enum { STATE_POST, STATE_REQUEST };

static struct iwi_route route_to(const struct iwi_member *member, uint32_t to);
static struct iwi_route route_from(const struct iwi_member *member, uint32_t from);

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
    const struct iwi_route route = route_to(member, to);
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
    const struct iwi_route route = route_from(member, from);
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
    const struct iwi_route route = route_from(member, from);
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
               : iwi_fail(member->log, IW_ERR_RANGE, "a message of %zu bytes is too long: the limit is %zu",
                          bytes, IW_LINK_MOST_BYTES);
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

static void team_set_crowd(struct iwi_team *team, uint64_t members);

static iw_status send_now(struct iwi_member *member, uint32_t to, const int64_t *values, size_t count)
{
    struct iwi_transfer transfer;

    IW_TRY(iwi_member_send(member, to, values, count * sizeof *values, &transfer));
    return iwi_member_wait(member, &transfer, 1);
}

static iw_status receive_now(struct iwi_member *member, uint32_t from, int64_t *values, size_t count)
{
    struct iwi_transfer transfer;

    IW_TRY(iwi_member_receive(member, from, values, count * sizeof *values, &transfer));
    return iwi_member_wait(member, &transfer, 1);
}

/* A binomial tree: member m hears of m + 1, m + 2, m + 4, ... below its lowest bit, tells the one without
 * that bit, and is told the result by it. */
static iw_status max_over_tree(struct iwi_member *member, int64_t *values, int64_t *theirs, size_t count)
{
    const uint32_t number = member->number;
    uint64_t bit = 1;

    for (; bit < member->count && (number & bit) == 0; bit *= 2) {
        if (number + bit < member->count) {
            IW_TRY(receive_now(member, (uint32_t)(number + bit), theirs, count));
            for (size_t i = 0; i < count; i++) {
                values[i] = iwi_max(values[i], theirs[i]);
            }
        }
    }
    if (number != 0) {
        IW_TRY(send_now(member, (uint32_t)(number - bit), values, count));
        IW_TRY(receive_now(member, (uint32_t)(number - bit), values, count));
    }
    while (bit > 1) {
        bit /= 2;
        if (number + bit < member->count) {
            IW_TRY(send_now(member, (uint32_t)(number + bit), values, count));
        }
    }
    return IW_OK;
}

iw_status iwi_member_max(struct iwi_member *member, int64_t *values, size_t count)
{
    int64_t *theirs = iwi_new_array(member->log, count, sizeof *theirs);
    iw_status status;

    if (theirs == NULL) {
        return IW_ERR_NOMEM;
    }
    status = max_over_tree(member, values, theirs, count);
    if (status != IW_OK) {
        iwi_team_fail(member->team, status); /* before memory that others know of goes away */
    }
    free(theirs);
    return status;
}

/* Members of other processes: who has how many, and the channels to them. */

/* ---- meeting ---- */

/* What each process says of itself. */
struct greeting {
    uint32_t threads, most_threads, node;
};

static iw_status finish_request(const iw_log *log, const struct iwi_team *team, iw_link_request *request)
{
    const iw_link *link = team->link;
    struct iwi_vigil vigil = {0};

    for (bool is_done = false;;) {
        IW_TRY(link->test(link->arg, log, request, &is_done));
        if (is_done) {
            return IW_OK;
        }
        iwi_vigil_pause(&vigil, &team->mailboxes[0].patience);
    }
}

static iw_status tell(const iw_log *log, const struct iwi_team *team, uint32_t to, const void *data,
                      size_t bytes)
{
    const iw_link *link = team->link;
    iw_link_request *request;

    IW_TRY(link->send(link->arg, log, to, 0, data, bytes, &request));
    return finish_request(log, team, request);
}

static iw_status hear(const iw_log *log, const struct iwi_team *team, uint32_t from, void *data, size_t bytes)
{
    const iw_link *link = team->link;
    iw_link_request *request;

    IW_TRY(link->receive(link->arg, log, from, 0, data, bytes, &request));
    return finish_request(log, team, request);
}

/* Every process tells the first one, which tells all of them everything. */
static iw_status greet(const iw_log *log, const struct iwi_team *team, struct greeting *all)
{
    const iw_link *link = team->link;
    const size_t bytes = link->size * sizeof *all;

    if (link->rank != 0) {
        IW_TRY(tell(log, team, 0, &all[link->rank], sizeof *all));
        return hear(log, team, 0, all, bytes);
    }
    for (uint32_t p = 1; p < link->size; p++) {
        IW_TRY(hear(log, team, p, &all[p], sizeof *all));
    }
    for (uint32_t p = 1; p < link->size; p++) {
        IW_TRY(tell(log, team, p, all, bytes));
    }
    return IW_OK;
}

/* All processes come to the same end: what they look at is the same. */
static iw_status seat_all(const iw_log *log, struct iwi_team *team, const struct greeting *all)
{
    uint32_t most_at_once = UINT32_MAX;
    uint64_t count = 0, here = 0;

    for (uint32_t p = 0; p < team->processes; p++) {
        count += all[p].threads;
        here += all[p].node == team->link->node ? all[p].threads : 0;
        team->first_of[p + 1] = (uint32_t)count;
        team->most_threads = (uint32_t)iwi_max(team->most_threads, all[p].threads);
        most_at_once = (uint32_t)iwi_min(most_at_once, all[p].most_threads);
    }
    if (team->most_threads > most_at_once) {
        return iwi_fail(log, IW_ERR_UNSUPPORTED,
                        "this MPI allows calls from one thread only: use 1 thread per process");
    }
    if (count > UINT32_MAX || (uint64_t)team->most_threads * team->most_threads > team->link->most_channels) {
        return iwi_fail(log, IW_ERR_UNSUPPORTED,
                        "%" PRIu32 " threads in %" PRIu32 " processes are too many to communicate",
                        team->most_threads, team->processes);
    }
    team_set_crowd(team, here);
    team->first = team->first_of[team->link->rank];
    team->count = (uint32_t)count;
    return IW_OK;
}

/* Tells every process how many threads each has, and refuses what the link cannot do. Collective. */
static iw_status team_meet(const iw_log *log, struct iwi_team *team)
{
    struct greeting *all = iwi_new_array(log, team->processes, sizeof *all);
    iw_status status;

    if (all == NULL) {
        return IW_ERR_NOMEM;
    }
    all[team->link->rank] = (struct greeting){team->threads, team->link->most_threads, team->link->node};
    status = greet(log, team, all);
    if (status == IW_OK) {
        status = seat_all(log, team, all);
    }
    free(all);
    return status;
}

/* ---- routes ---- */

static uint32_t process_of(const struct iwi_team *team, uint32_t number)
{
    size_t at;

    IWI_FIRST_NOT(at, 1, team->processes, team->first_of[at] <= number);
    return (uint32_t)at - 1;
}

static struct iwi_route route_to(const struct iwi_member *member, uint32_t to)
{
    const struct iwi_team *team = member->team;
    const uint32_t process = process_of(team, to);

    return (struct iwi_route){process, (member->number - team->first) * team->most_threads +
                                           (to - team->first_of[process])};
}

static struct iwi_route route_from(const struct iwi_member *member, uint32_t from)
{
    const struct iwi_team *team = member->team;
    const uint32_t process = process_of(team, from);

    return (struct iwi_route){process, (from - team->first_of[process]) * team->most_threads +
                                           (member->number - team->first)};
}

/* So many members are on this node: sets how patient those of this process are at first. */
static void team_set_crowd(struct iwi_team *team, uint64_t members)
{
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    const bool is_crowded = team->threads > iwi_available_cpus() || (cpus > 0 && members > (uint64_t)cpus);

    for (uint32_t t = 0; t < team->threads; t++) {
        iwi_patience_init(&team->mailboxes[t].patience, is_crowded);
    }
}

iw_status iwi_team_new(const iw_log *log, const iw_link *link, uint32_t threads, struct iwi_team **team_p)
{
    struct iwi_team *team = iwi_new_array(log, 1, sizeof *team);
    iw_status status = IW_OK;

    if (team == NULL) {
        return IW_ERR_NOMEM;
    }
    team->link = link != NULL && link->size > 1 ? link : NULL;
    team->processes = team->link != NULL ? link->size : 1;
    team->threads = team->count = team->most_threads = threads;
    team->first_of = iwi_new_array(log, (size_t)team->processes + 1, sizeof *team->first_of);
    team->mailboxes = iwi_new_array(log, threads, sizeof *team->mailboxes);
    if (team->first_of == NULL || team->mailboxes == NULL) {
        status = IW_ERR_NOMEM;
    }
    for (uint32_t t = 0; status == IW_OK && t < threads; t++) {
        status = iwi_mailbox_init(log, &team->mailboxes[t], threads);
    }
    if (status == IW_OK) {
        team->first_of[1] = threads;
        team_set_crowd(team, threads);
        status = team->link != NULL ? team_meet(log, team) : IW_OK;
    }
    if (status != IW_OK) {
        iwi_team_free(team);
        return status;
    }
    *team_p = team;
    return IW_OK;
}

void iwi_team_free(struct iwi_team *team)
{
    if (team == NULL) {
        return;
    }
    for (uint32_t t = 0; team->mailboxes != NULL && t < team->threads; t++) {
        iwi_mailbox_release(&team->mailboxes[t]);
    }
    free(team->mailboxes);
    free(team->first_of);
    free(team);
}

uint32_t iwi_team_size(const struct iwi_team *team)
{
    return team->count;
}

uint32_t iwi_team_threads(const struct iwi_team *team)
{
    return team->threads;
}

uint32_t iwi_team_first(const struct iwi_team *team)
{
    return team->first;
}

void iwi_bytes_release(struct iwi_bytes *bytes)
{
    free(bytes->data);
    *bytes = (struct iwi_bytes){.data = NULL};
}

/* ---- running ---- */

struct runner {
    pthread_t thread;
    struct iwi_member member;
    iwi_member_work work;
    void *arg;
};

static void *run_member(void *arg)
{
    struct runner *runner = arg;
    const iw_status status = runner->work(&runner->member, runner->arg);

    if (status != IW_OK) {
        iwi_team_fail(runner->member.team, status);
    }
    return NULL;
}

iw_status iwi_team_run(struct iwi_team *team, const iw_log *log, iwi_member_work work, void *arg)
{
    struct iwi_shared_log shared; /* one error says why the team ended */
    struct runner *runners = iwi_new_array(log, team->threads, sizeof *runners);
    uint32_t started = 1;

    if (runners == NULL) {
        iwi_team_fail(team, IW_ERR_NOMEM);
        return IW_ERR_NOMEM;
    }
    iwi_shared_log_init(&shared, log);
    for (uint32_t t = 0; t < team->threads; t++) {
        runners[t] = (struct runner){
            .member = {team, &shared.log, team->first + t, team->count}, .work = work, .arg = arg};
    }
    while (started < team->threads &&
           pthread_create(&runners[started].thread, NULL, run_member, &runners[started]) == 0) {
        started++;
    }
    if (started < team->threads) {
        iwi_error(&shared.log, "only %" PRIu32 " of %" PRIu32 " threads could be started", started,
                  team->threads);
        iwi_team_fail(team, IW_ERR_NOMEM);
    }
    (void)run_member(&runners[0]);
    for (uint32_t t = 1; t < started; t++) {
        pthread_join(runners[t].thread, NULL);
    }
    iwi_shared_log_release(&shared);
    free(runners);
    return iwi_team_status(team);
}
