/* Channels: messages meet in order, stay until nobody needs them, and idle channels go.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/sim/flow/flow_channels.h"
#include "random_program.h"
#include "support/support.h"

enum { KEYS = 400, DEPTH = 40, STEPS = 40000 };

/* What a channel should have: messages first ... end - 1 of those ever sent, of which some were posted. */
struct model {
    uint32_t numbers[DEPTH];
    uint64_t bytes[DEPTH];
    uint32_t sent, posted; /* of those that are there */
};

static struct iwi_flow_channel *channel_of(struct iwi_channels *channels, uint32_t key)
{
    struct iwi_flow_channel *channel = iwi_channel_of(channels, key % 7, key / 7, key % 3);

    assert_non_null(channel);
    return channel;
}

static void send(struct iwi_channels *channels, struct model *m, uint32_t key, uint64_t bytes)
{
    struct iwi_flow_channel *channel = channel_of(channels, key);
    struct iwi_channel_message *message;

    m->numbers[m->sent] = channel->sent;
    m->bytes[m->sent++] = bytes;
    if (!iwi_channel_has_room(channel, channel->sent)) {
        assert_ok(iwi_channel_widen(channels, channel));
    }
    message = iwi_channel_message(channels, channel, channel->sent++);
    message->bytes = bytes;
    message->left = 1;
    iwi_message_sent(message)[0] = (iw_time)bytes + 1;
}

static void post(struct iwi_channels *channels, struct model *m, uint32_t key)
{
    struct iwi_flow_channel *channel = channel_of(channels, key);

    if (!iwi_channel_has_room(channel, channel->posted)) {
        assert_ok(iwi_channel_widen(channels, channel));
    }
    iwi_message_posted(channels, iwi_channel_message(channels, channel, channel->posted++))[0] = 7;
    m->posted++;
}

/* The receives take what has come, the last one first: it stays until those before it are over. */
static void take_all(struct iwi_channels *channels, struct model *m, uint32_t key)
{
    const uint32_t count = m->sent < m->posted ? m->sent : m->posted;
    struct iwi_flow_channel *channel = channel_of(channels, key);

    for (uint32_t k = count; k-- > 0;) {
        struct iwi_channel_message *message = iwi_channel_message(channels, channel, m->numbers[k]);

        assert_int_equal(message->bytes, m->bytes[k]);
        assert_int_equal(iwi_message_sent(message)[0], m->bytes[k] + 1);
        assert_int_equal(iwi_message_posted(channels, message)[0], 7);
        iwi_channel_leave(channels, channel, m->numbers[k]);
    }
    for (uint32_t k = count; k < m->sent; k++) {
        m->numbers[k - count] = m->numbers[k];
        m->bytes[k - count] = m->bytes[k];
    }
    m->sent -= count;
    m->posted -= count;
    assert_int_equal(channel->sent - channel->first, m->sent);
    assert_int_equal(channel->posted - channel->first, m->posted);
}

static void run(uint64_t seed, size_t most_slots)
{
    struct iwt_random random = {seed, 0};
    struct iwi_channels channels;
    static struct model models[KEYS];

    assert_ok(iwi_channels_init(NULL, 1, false, most_slots, &channels));
    for (uint32_t k = 0; k < KEYS; k++) {
        models[k] = (struct model){.sent = 0};
    }
    for (uint64_t step = 0; step < STEPS; step++) {
        const uint32_t key = (uint32_t)iwt_below(&random, KEYS);
        struct model *m = &models[key];

        if (m->sent < DEPTH && iwt_below(&random, 2)) {
            send(&channels, m, key, step);
        } else if (m->posted < DEPTH) {
            post(&channels, m, key);
        }
        if (iwt_below(&random, 3) == 0) {
            take_all(&channels, m, key);
        }
    }
    iwi_channels_release(&channels);
}

static void messages_meet_in_order(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 8; seed++) {
        run(seed, seed % 2 ? 0 : 1 << 16);
    }
}

/* One message on each of many channels, one after the other: memory is that of a few. */
static void channels_that_are_idle_go(void **state)
{
    struct iwi_channels channels;
    struct model m = {.sent = 0};

    (void)state;
    assert_ok(iwi_channels_init(NULL, 1, false, 0, &channels));
    for (uint32_t key = 0; key < 100000; key++) {
        send(&channels, &m, key, key);
        post(&channels, &m, key);
        take_all(&channels, &m, key);
    }
    assert_true(channels.slots <= 256);
    assert_true(channels.message_capacity <= 256);
    iwi_channels_release(&channels);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_meet_in_order),
        cmocka_unit_test(channels_that_are_idle_go),
    };

    return cmocka_run_group_tests_name("channels", tests, NULL, NULL);
}
