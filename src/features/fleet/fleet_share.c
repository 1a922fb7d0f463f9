/* The processes that judge one fleet together: messages between them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/fleet/fleet_share.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"

iw_status iwi_fleet_share_open(const iw_log *log, const struct iw_link *link,
                               struct iwi_fleet_share **share_p)
{
    struct iwi_fleet_share *share;
    iw_status status;

    *share_p = NULL;
    if (link == NULL || link->size == 1) {
        return IW_OK;
    }
    share = iwi_new_array(log, 1, sizeof *share);
    if (share == NULL) {
        return IW_ERR_NOMEM;
    }
    status = iwi_team_new(log, link, 1, &share->team);
    if (status != IW_OK) {
        free(share);
        return status;
    }
    share->member =
        (struct iwi_member){share->team, log, iwi_team_first(share->team), iwi_team_size(share->team)};
    *share_p = share;
    return IW_OK;
}

void iwi_fleet_share_close(struct iwi_fleet_share *share)
{
    if (share != NULL) {
        free(share->guest.lengths);
        free(share->guest.cells);
        iwi_team_free(share->team);
        free(share);
    }
}

bool iwi_fleet_is_first(const iw_fleet *fleet)
{
    return fleet->cells->share == NULL || fleet->cells->share->member.number == 0;
}

/* ---- parcels ---- */

iw_status iwi_parcel_put(const iw_log *log, struct iwi_parcel *parcel, const void *data, size_t bytes)
{
    struct iwi_bytes *to = &parcel->bytes;

    IW_TRY(iwi_grow(log, (void **)&to->data, &to->capacity, to->count + bytes, 1));
    if (bytes > 0) {
        memcpy(to->data + to->count, data, bytes);
    }
    to->count += bytes;
    return IW_OK;
}

iw_status iwi_parcel_put_text(const iw_log *log, struct iwi_parcel *parcel, const char *text)
{
    return iwi_parcel_put(log, parcel, text, strlen(text) + 1);
}

static iw_status fail_short(const iw_log *log)
{
    return iwi_fail(
        log, IW_ERR_FORMAT,
        "another process sent less than expected; check that all processes run the same idlewave");
}

iw_status iwi_parcel_take(const iw_log *log, struct iwi_parcel *parcel, void *data, size_t bytes)
{
    if (bytes > parcel->bytes.count - parcel->at) {
        return fail_short(log);
    }
    if (bytes > 0) {
        memcpy(data, parcel->bytes.data + parcel->at, bytes);
    }
    parcel->at += bytes;
    return IW_OK;
}

iw_status iwi_parcel_take_text(const iw_log *log, struct iwi_parcel *parcel, const char **text_p)
{
    const size_t left = parcel->bytes.count - parcel->at;
    const char *text = (const char *)parcel->bytes.data + parcel->at;
    const char *end = left > 0 ? memchr(text, '\0', left) : NULL;

    if (end == NULL) {
        return fail_short(log);
    }
    parcel->at += (size_t)(end - text) + 1;
    *text_p = text;
    return IW_OK;
}

bool iwi_parcel_is_empty(const struct iwi_parcel *parcel)
{
    return parcel->at == parcel->bytes.count;
}

/* ---- messages ---- */

static size_t piece_of(size_t left)
{
    return left < IW_LINK_MOST_BYTES ? left : IW_LINK_MOST_BYTES;
}

static iw_status send_now(struct iwi_member *member, uint32_t to, const void *data, size_t bytes)
{
    struct iwi_transfer transfer = {{NULL}};

    IW_TRY(iwi_member_send(member, to, data, bytes, &transfer));
    return iwi_member_wait(member, &transfer, 1);
}

static iw_status receive_now(struct iwi_member *member, uint32_t from, void *data, size_t bytes)
{
    struct iwi_transfer transfer = {{NULL}};

    IW_TRY(iwi_member_receive(member, from, data, bytes, &transfer));
    return iwi_member_wait(member, &transfer, 1);
}

iw_status iwi_share_send(struct iwi_fleet_share *share, uint32_t to, const struct iwi_parcel *parcel)
{
    const uint64_t count = parcel->bytes.count;

    IW_TRY(send_now(&share->member, to, &count, sizeof count));
    for (size_t at = 0; at < count; at += piece_of(count - at)) {
        IW_TRY(send_now(&share->member, to, parcel->bytes.data + at, piece_of(count - at)));
    }
    return IW_OK;
}

iw_status iwi_share_receive(struct iwi_fleet_share *share, uint32_t from, struct iwi_parcel *parcel)
{
    uint64_t count;

    IW_TRY(receive_now(&share->member, from, &count, sizeof count));
    IW_TRY(iwi_grow(share->member.log, (void **)&parcel->bytes.data, &parcel->bytes.capacity, count, 1));
    for (size_t at = 0; at < count; at += piece_of(count - at)) {
        IW_TRY(receive_now(&share->member, from, parcel->bytes.data + at, piece_of(count - at)));
    }
    parcel->bytes.count = count;
    parcel->at = 0;
    return IW_OK;
}

iw_status iwi_share_spread(struct iwi_fleet_share *share, struct iwi_parcel *parcel)
{
    if (share->member.number != 0) {
        return iwi_share_receive(share, 0, parcel);
    }
    for (uint32_t to = 1; to < share->member.count; to++) {
        IW_TRY(iwi_share_send(share, to, parcel));
    }
    return IW_OK;
}

iw_status iwi_share_gather(struct iwi_fleet_share *share, struct iwi_parcel *parcel)
{
    struct iwi_parcel theirs = {.at = 0};
    iw_status status = IW_OK;

    if (share->member.number != 0) {
        return iwi_share_send(share, 0, parcel);
    }
    for (uint32_t from = 1; from < share->member.count && status == IW_OK; from++) {
        status = iwi_share_receive(share, from, &theirs);
        status = status == IW_OK
                     ? iwi_parcel_put(share->member.log, parcel, theirs.bytes.data, theirs.bytes.count)
                     : status;
    }
    iwi_bytes_release(&theirs.bytes);
    return status;
}

static iw_status count_up(struct iwi_fleet_share *share, struct iwi_parcel *counts, uint64_t own,
                          size_t *before_p, size_t *all_p)
{
    const iw_log *log = share->member.log;

    IW_TRY(iwi_parcel_put(log, counts, &own, sizeof own));
    IW_TRY(iwi_share_gather(share, counts));
    IW_TRY(iwi_share_spread(share, counts));
    *before_p = *all_p = 0;
    for (uint32_t p = 0; p < share->member.count; p++) {
        uint64_t count;

        IW_TRY(iwi_parcel_take(log, counts, &count, sizeof count));
        *before_p += p < share->member.number ? count : 0;
        *all_p += count;
    }
    return IW_OK;
}

iw_status iwi_share_count(struct iwi_fleet_share *share, size_t own, size_t *before_p, size_t *all_p)
{
    struct iwi_parcel counts = {.at = 0};
    const iw_status status = count_up(share, &counts, own, before_p, all_p);

    iwi_bytes_release(&counts.bytes);
    return status;
}
