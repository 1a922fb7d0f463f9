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
#include "core/sim/flow/flow_range.h"

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
                        "member %" PRIu32 " has sent nothing of rank %" PRIu64
                        ": do all run the same program?",
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
            left = step_transfer_start(flow, cost, left, NULL, flow->posted[i], NULL, NULL, false);
        }
        flow->arrivals[r] = (struct iwi_arrival){left + cost->wire, r};
    }
    if (role->recv_count > 1) {
        iwi_sort_arrivals(flow->arrivals, role->recv_count);
    }
    for (uint32_t r = 0; r < role->recv_count; r++) {
        const struct iwi_msg *recv = &role->recvs[flow->arrivals[r].index];

        step_receive(flow, world, i, round_cost(flow, run, world, recv), flow->arrivals[r].time, NULL, false);
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
                           step_transfer_start(flow, cost, sent, NULL, posted[lane], NULL, NULL, false), NULL,
                           false);
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
