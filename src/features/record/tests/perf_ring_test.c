/* Ring buffers of perf, made by hand: records anywhere, whole, damaged, too many.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/record/kernel/perf.h"

#include <stdlib.h>
#include <string.h>

#include "support/support.h"

enum { RING_BYTES = 256, COPY_BYTES = 65536 };

struct made {
    struct perf_event_mmap_page page;
    _Alignas(8) unsigned char data[RING_BYTES];
    struct iwi_perf_ring ring;
};

/* An empty ring in which `begin` bytes have been written and read before. */
static struct made *make(uint64_t begin)
{
    struct made *made = calloc(1, sizeof *made);

    assert_non_null(made);
    made->page.data_head = made->page.data_tail = begin;
    made->ring = (struct iwi_perf_ring){.page = &made->page,
                                        .data = made->data,
                                        .size_bytes = RING_BYTES,
                                        .tail = begin,
                                        .next = begin,
                                        .head = begin,
                                        .copy = malloc(COPY_BYTES)};
    assert_non_null(made->ring.copy);
    return made;
}

static void unmake(struct made *made)
{
    free(made->ring.copy);
    free(made);
}

static void put(struct made *made, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        made->data[(made->page.data_head + i) % RING_BYTES] = ((const unsigned char *)bytes)[i];
    }
    made->page.data_head += size;
}

/* A record whose body is `words` numbers, from `first` up. */
static void put_record(struct made *made, uint32_t type, size_t words, uint64_t first)
{
    const struct perf_event_header header = {.type = type, .size = (uint16_t)(8 + 8 * words)};

    put(made, &header, sizeof header);
    for (uint64_t i = 0; i < words; i++) {
        const uint64_t word = first + i;

        put(made, &word, sizeof word);
    }
}

static void assert_record(const struct perf_event_header *record, uint32_t type, size_t words, uint64_t first)
{
    assert_non_null(record);
    assert_int_equal(record->type, type);
    assert_int_equal(record->size, 8 + 8 * words);
    for (size_t i = 0; i < words; i++) {
        uint64_t word;

        memcpy(&word, (const unsigned char *)record + 8 + 8 * i, sizeof word);
        assert_int_equal(word, first + i);
    }
}

static void records_come_in_order_wherever_they_wrap(void **state)
{
    (void)state;
    for (uint64_t begin = 0; begin < 2 * RING_BYTES; begin += 8) {
        struct made *made = make(begin);

        put_record(made, PERF_RECORD_SWITCH, 1, 100);
        put_record(made, PERF_RECORD_SAMPLE, 12, 200);
        put_record(made, PERF_RECORD_SAMPLE, 0, 0);
        put_record(made, PERF_RECORD_SWITCH, 15, 300);
        assert_null(iwi_perf_ring_next(&made->ring));
        iwi_perf_ring_fetch(&made->ring);
        assert_record(iwi_perf_ring_next(&made->ring), PERF_RECORD_SWITCH, 1, 100);
        assert_record(iwi_perf_ring_next(&made->ring), PERF_RECORD_SAMPLE, 12, 200);
        assert_record(iwi_perf_ring_next(&made->ring), PERF_RECORD_SAMPLE, 0, 0);
        assert_record(iwi_perf_ring_next(&made->ring), PERF_RECORD_SWITCH, 15, 300);
        assert_null(iwi_perf_ring_next(&made->ring));
        assert_int_equal(made->page.data_tail, made->page.data_head);
        assert_int_equal(made->ring.lost, 0);
        unmake(made);
    }
}

static void a_record_is_given_back_only_with_the_next(void **state)
{
    struct made *made = make(80);

    (void)state;
    put_record(made, PERF_RECORD_SWITCH, 1, 1);
    put_record(made, PERF_RECORD_SWITCH, 1, 2);
    iwi_perf_ring_fetch(&made->ring);
    assert_non_null(iwi_perf_ring_next(&made->ring));
    assert_int_equal(made->page.data_tail, 80);
    assert_non_null(iwi_perf_ring_next(&made->ring));
    assert_int_equal(made->page.data_tail, 96);
    assert_null(iwi_perf_ring_next(&made->ring));
    assert_int_equal(made->page.data_tail, 112);
    unmake(made);
}

static void what_is_written_meanwhile_waits_for_the_next_fetch(void **state)
{
    struct made *made = make(0);

    (void)state;
    put_record(made, PERF_RECORD_SWITCH, 1, 1);
    iwi_perf_ring_fetch(&made->ring);
    put_record(made, PERF_RECORD_SWITCH, 1, 2);
    assert_record(iwi_perf_ring_next(&made->ring), PERF_RECORD_SWITCH, 1, 1);
    assert_null(iwi_perf_ring_next(&made->ring));
    iwi_perf_ring_fetch(&made->ring);
    assert_record(iwi_perf_ring_next(&made->ring), PERF_RECORD_SWITCH, 1, 2);
    unmake(made);
}

static void a_record_as_large_as_the_ring_is_read(void **state)
{
    struct made *made = make(RING_BYTES - 8);

    (void)state;
    put_record(made, PERF_RECORD_SAMPLE, RING_BYTES / 8 - 1, 7);
    iwi_perf_ring_fetch(&made->ring);
    assert_record(iwi_perf_ring_next(&made->ring), PERF_RECORD_SAMPLE, RING_BYTES / 8 - 1, 7);
    assert_null(iwi_perf_ring_next(&made->ring));
    unmake(made);
}

static void lost_records_are_counted_and_passed_on(void **state)
{
    struct made *made = make(RING_BYTES - 16); /* the number wraps */

    (void)state;
    put_record(made, PERF_RECORD_LOST, 3, 40); /* event 40, 41 lost, at 42 ns */
    put_record(made, PERF_RECORD_LOST, 3, 1);
    put_record(made, PERF_RECORD_LOST, 1, 1000); /* too short to tell how many */
    iwi_perf_ring_fetch(&made->ring);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(iwi_perf_ring_next(&made->ring)->type, PERF_RECORD_LOST);
    }
    assert_int_equal(made->ring.lost, 41 + 2);
    unmake(made);
}

/* Everything that was fetched is given up, once, and reading goes on behind it. */
static void assert_damage(struct made *made)
{
    const uint64_t lost = made->ring.lost;
    const struct perf_event_header *record;

    iwi_perf_ring_fetch(&made->ring);
    record = iwi_perf_ring_next(&made->ring);
    assert_record(record, PERF_RECORD_LOST, 0, 0);
    assert_int_equal(iwi_perf_record_ns(record), -1);
    assert_int_equal(made->ring.lost, lost + 1);
    assert_null(iwi_perf_ring_next(&made->ring));
    assert_int_equal(made->page.data_tail, made->page.data_head);
}

static void sizes_that_cannot_be_are_damage(void **state)
{
    static const uint16_t sizes[] = {0, 1, 7, 12, 17, 40, 65528, 65535}; /* 32 bytes are there */

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (uint64_t begin = 0; begin < RING_BYTES; begin += 8) {
            struct made *made = make(begin);
            const struct perf_event_header header = {.type = PERF_RECORD_SAMPLE, .size = sizes[i]};

            put(made, &header, sizeof header);
            put_record(made, PERF_RECORD_SWITCH, 2, 1);
            assert_damage(made);
            put_record(made, PERF_RECORD_SWITCH, 1, 5);
            iwi_perf_ring_fetch(&made->ring);
            assert_record(iwi_perf_ring_next(&made->ring), PERF_RECORD_SWITCH, 1, 5);
            unmake(made);
        }
    }
}

static void heads_that_cannot_be_are_damage(void **state)
{
    static const uint64_t steps[] = {4, 7, RING_BYTES + 8, UINT64_MAX - 7};

    (void)state;
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        struct made *made = make(64);

        made->page.data_head += steps[i];
        assert_damage(made);
        made->page.data_head += 16;
        if (made->page.data_head % 8 != 0) {
            assert_damage(made);
        }
        unmake(made);
    }
}

static void times_stand_at_the_end_of_a_record(void **state)
{
    struct made *made = make(0);

    (void)state;
    put_record(made, PERF_RECORD_SWITCH, 3, 40);
    put_record(made, PERF_RECORD_SWITCH, 0, 0);
    iwi_perf_ring_fetch(&made->ring);
    assert_int_equal(iwi_perf_record_ns(iwi_perf_ring_next(&made->ring)), 42);
    assert_int_equal(iwi_perf_record_ns(iwi_perf_ring_next(&made->ring)), -1);
    unmake(made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_come_in_order_wherever_they_wrap),
        cmocka_unit_test(a_record_is_given_back_only_with_the_next),
        cmocka_unit_test(what_is_written_meanwhile_waits_for_the_next_fetch),
        cmocka_unit_test(a_record_as_large_as_the_ring_is_read),
        cmocka_unit_test(lost_records_are_counted_and_passed_on),
        cmocka_unit_test(sizes_that_cannot_be_are_damage),
        cmocka_unit_test(heads_that_cannot_be_are_damage),
        cmocka_unit_test(times_stand_at_the_end_of_a_record),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
