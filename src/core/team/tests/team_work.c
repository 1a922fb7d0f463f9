/* Work that members do to show that messages get where they should.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "team_work.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/base.h"

enum { MESSAGES = 100 };

static void doze(void)
{
    const struct timespec a_while = {.tv_nsec = 200000};

    (void)nanosleep(&a_while, NULL);
}

/* The value of message i from one member to another. */
static uint64_t value_of(uint32_t from, uint32_t to, uint64_t i)
{
    return ((uint64_t)from << 48) + ((uint64_t)to << 32) + i;
}

/* Every member sends to every other one, itself too, all at once; some dawdle, so that now the sender comes
 * first and now the receiver. */
iw_status iwt_talk_to_all(struct iwi_member *member, void *arg)
{
    const uint32_t count = member->count;
    struct iwi_transfer *transfers = iwi_new_array(member->log, 2 * (size_t)count, sizeof *transfers);
    uint64_t *sent = calloc(count, sizeof *sent), *received = calloc(count, sizeof *received);
    bool is_fine = true;

    (void)arg;
    for (uint64_t i = 0; i < MESSAGES; i++) {
        for (uint32_t other = 0; other < count; other++) {
            sent[other] = value_of(member->number, other, i);
            is_fine &= iwi_member_send(member, other, &sent[other], 8, &transfers[other]) == IW_OK;
        }
        if ((i + member->number) % 20 == 0) {
            doze();
        }
        for (uint32_t other = 0; other < count; other++) {
            is_fine &=
                iwi_member_receive(member, other, &received[other], 8, &transfers[count + other]) == IW_OK;
        }
        is_fine &= iwi_member_wait(member, transfers, 2 * (size_t)count) == IW_OK;
        for (uint32_t other = 0; other < count; other++) {
            is_fine &= received[other] == value_of(other, member->number, i);
        }
    }
    free(transfers);
    free(sent);
    free(received);
    return is_fine ? IW_OK : IW_ERR_FORMAT;
}

/* ---- sizes, around a ring of all members ---- */

static const size_t sizes[] = {0, 1, 7, 4095, 4096, 65537, 1 << 22};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

struct ring {
    uint32_t next, last;
    unsigned char *sent, *received;
};

static iw_status ring_init(const struct iwi_member *member, struct ring *ring)
{
    ring->next = (member->number + 1) % member->count;
    ring->last = (member->number + member->count - 1) % member->count;
    ring->sent = malloc(sizes[SIZES - 1]);
    ring->received = calloc(1, sizes[SIZES - 1]);
    return ring->sent != NULL && ring->received != NULL ? IW_OK : IW_ERR_NOMEM;
}

static void ring_release(struct ring *ring)
{
    free(ring->sent);
    free(ring->received);
}

/* What a member sends of the s-th size. */
static int mark(uint32_t number, size_t s)
{
    return (int)((number * 16 + s + 1) % 256);
}

static bool is_marked(const unsigned char *data, size_t bytes, int with)
{
    for (size_t b = 0; b < bytes; b++) {
        if (data[b] != with) {
            return false;
        }
    }
    return true;
}

static iw_status send_size(struct iwi_member *member, const struct ring *ring, size_t s)
{
    struct iwi_transfer transfers[2];

    memset(ring->sent, mark(member->number, s), sizes[s]);
    IW_TRY(iwi_member_receive(member, ring->last, ring->received, sizes[s], &transfers[0]));
    IW_TRY(iwi_member_send(member, ring->next, ring->sent, sizes[s], &transfers[1]));
    IW_TRY(iwi_member_wait(member, transfers, 2));
    IW_TRY(iwi_member_wait(member, transfers, 2)); /* once more does no harm */
    return is_marked(ring->received, sizes[s], mark(ring->last, s)) ? IW_OK : IW_ERR_FORMAT;
}

iw_status iwt_send_sizes(struct iwi_member *member, void *arg)
{
    struct ring ring;
    iw_status status = ring_init(member, &ring);

    (void)arg;
    for (size_t s = 0; status == IW_OK && s < SIZES; s++) {
        status = send_size(member, &ring, s);
    }
    if (status != IW_OK) {
        iwi_team_fail(member->team, status);
    }
    ring_release(&ring);
    return status;
}

/* Sizes are not known to who takes; odd ones are looked for again and again. */
static iw_status take_size(struct iwi_member *member, const struct ring *ring, size_t s,
                           struct iwi_bytes *message)
{
    struct iwi_transfer transfer;
    bool has = false;

    memset(ring->sent, mark(member->number, s), sizes[s]);
    IW_TRY(iwi_member_send(member, ring->next, ring->sent, sizes[s], &transfer));
    do {
        IW_TRY(iwi_member_take(member, ring->last, s % 2 == 0, message, &has));
    } while (!has && s % 2 == 1);
    IW_TRY(iwi_member_wait(member, &transfer, 1));
    return has && message->count == sizes[s] && is_marked(message->data, sizes[s], mark(ring->last, s))
               ? IW_OK
               : IW_ERR_FORMAT;
}

iw_status iwt_take_sizes(struct iwi_member *member, void *arg)
{
    struct iwi_bytes message = {.data = NULL};
    struct ring ring;
    iw_status status = ring_init(member, &ring);

    (void)arg;
    for (size_t i = 0; status == IW_OK && i < (size_t)3 * SIZES; i++) {
        status = take_size(member, &ring, i % SIZES, &message);
    }
    if (status != IW_OK) {
        iwi_team_fail(member->team, status);
    }
    iwi_bytes_release(&message);
    ring_release(&ring);
    return status;
}

/* ---- all together ---- */

iw_status iwt_find_largest(struct iwi_member *member, void *arg)
{
    int64_t values[3];

    (void)arg;
    for (uint32_t round = 0; round < 50; round++) {
        values[0] = member->number;
        values[1] = -(int64_t)member->number - 5;
        values[2] = member->number == round % member->count ? INT64_MAX : INT64_MIN;
        IW_TRY(iwi_member_max(member, values, 3));
        if (values[0] != member->count - 1 || values[1] != -5 || values[2] != INT64_MAX) {
            return IW_ERR_FORMAT;
        }
    }
    return iwi_member_max(member, values, 0);
}
