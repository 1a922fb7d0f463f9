/* Pages of events, made by hand: their stamps, what was lost, and where they end.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <fcntl.h>
#include <unistd.h>

#include "fake_method.h"
#include "features/record/kernel/tracefs_instance.h"
#include "support/fake_root.h"

enum { PAGE_SIZE = 4096, HEADER_SIZE = 16, EXTEND = 30, LARGE = 0 };

static const uint64_t MISSED = UINT64_C(1) << 31, MISSED_STORED = UINT64_C(1) << 30;

struct page {
    _Alignas(8) char bytes[PAGE_SIZE];
    size_t used;
};

struct bench {
    struct fake_method fake;
    struct iwi_tracefs_instance instance;
    int pipes[FAKE_PLACES], writers[FAKE_PLACES];
    uint64_t overruns[FAKE_PLACES];
};

static int begin(void **state)
{
    static struct bench bench;
    const int tracing = open(IW_TEST_DATA "/tracing/linux-6.18", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    fake_method_begin(&bench.fake);
    bench.instance = (struct iwi_tracefs_instance){
        .method = &bench.fake.method, .tracing = tracing, .folder = -1, .on = -1, .guard = {.pipe = -1}};
    bench.fake.method.state = &bench.instance;
    assert_ok(iwi_kernel_events_new(&bench.fake.method, tracing, &bench.instance.events));
    bench.instance.kbuffer = iwi_new_kbuffer();
    bench.instance.page = malloc(PAGE_SIZE);
    bench.instance.page_size = PAGE_SIZE;
    bench.instance.pipes = bench.pipes;
    bench.instance.overruns = bench.overruns;
    memset(bench.overruns, 0, sizeof bench.overruns);
    for (size_t i = 0; i < FAKE_PLACES; i++) {
        int ends[2];

        assert_int_equal(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
        bench.pipes[i] = ends[0];
        bench.writers[i] = ends[1];
    }
    *state = &bench;
    return 0;
}

static int end(void **state)
{
    struct bench *bench = *state;

    for (size_t i = 0; i < FAKE_PLACES; i++) {
        assert_int_equal(close(bench->pipes[i]), 0);
        assert_int_equal(close(bench->writers[i]), 0);
    }
    assert_int_equal(close(bench->instance.tracing), 0);
    kbuffer_free(bench->instance.kbuffer);
    free(bench->instance.page);
    iwi_kernel_events_free(bench->instance.events);
    fake_method_end(&bench->fake);
    return 0;
}

static void page_begin(struct page *page, uint64_t stamp)
{
    *page = (struct page){.used = HEADER_SIZE};
    memcpy(page->bytes, &stamp, sizeof stamp);
}

static void page_word(struct page *page, uint32_t word)
{
    assert_true(page->used + sizeof word <= PAGE_SIZE);
    memcpy(page->bytes + page->used, &word, sizeof word);
    page->used += sizeof word;
}

/* `delta` ticks after the one before it. Data of at most 112 bytes have their length in the head. */
static void page_event(struct page *page, uint32_t delta, struct fake_record record)
{
    page_word(page, (uint32_t)(record.size + 3) / 4 | delta << 5);
    memcpy(page->bytes + page->used, record.bytes, record.size);
    page->used += (record.size + 3) / 4 * 4;
}

static void send_page(struct bench *bench, size_t place, struct page *page, uint64_t flags)
{
    const uint64_t commit = (page->used - HEADER_SIZE) | flags;

    memcpy(page->bytes + sizeof(uint64_t), &commit, sizeof commit);
    assert_int_equal(write(bench->writers[place], page->bytes, PAGE_SIZE), PAGE_SIZE);
}

static void stamps_add_up_from_that_of_the_page(void **state)
{
    struct bench *bench = *state;
    struct page page;

    page_begin(&page, 5000000000);
    page_event(&page, 0, fake_switch(77, "a"));
    page_event(&page, 30, fake_switch(78, "b"));
    page_event(&page, 12, fake_switch(FAKE_FIRST_TID, ""));
    send_page(bench, 0, &page, 0);
    assert_ok(iwi_tracefs_instance_drain(&bench->fake.method));
    assert_int_equal(bench->fake.shares[0].count, 2);
    fake_method_expect(&bench->fake, 0, 0, 5000000000, 30, IW_CLASS_THREAD, "a");
    fake_method_expect(&bench->fake, 0, 1, 5000000030, 12, IW_CLASS_THREAD, "b");
    assert_int_equal(bench->fake.method.lost, 0);
}

static void long_pauses_between_events_are_told_apart(void **state)
{
    struct bench *bench = *state;
    const uint64_t pause = UINT64_C(20) << 27 | 5; /* does not fit into the 27 bits of an event */
    struct page page;

    page_begin(&page, 1000);
    page_event(&page, 0, fake_switch(77, "a"));
    page_word(&page, EXTEND | (uint32_t)(pause & 0x7ffffff) << 5);
    page_word(&page, (uint32_t)(pause >> 27));
    page_event(&page, 0, fake_switch(FAKE_FIRST_TID, ""));
    send_page(bench, 0, &page, 0);
    assert_ok(iwi_tracefs_instance_drain(&bench->fake.method));
    fake_method_expect(&bench->fake, 0, 0, 1000, pause, IW_CLASS_THREAD, "a");
}

static void all_pages_of_all_cpus_are_read_and_drains_go_on(void **state)
{
    struct bench *bench = *state;
    struct page page;

    page_begin(&page, 100);
    page_event(&page, 0, fake_switch(77, "a"));
    send_page(bench, 0, &page, 0);
    page_begin(&page, 200);
    page_event(&page, 0, fake_switch(FAKE_FIRST_TID, ""));
    send_page(bench, 0, &page, 0);
    page_begin(&page, 150);
    page_event(&page, 0, fake_switch(78, "b"));
    send_page(bench, 1, &page, 0);
    assert_ok(iwi_tracefs_instance_drain(&bench->fake.method));
    assert_int_equal(bench->fake.shares[0].count, 1);
    assert_int_equal(bench->fake.shares[1].count, 0);           /* b still runs */
    assert_ok(iwi_tracefs_instance_drain(&bench->fake.method)); /* nothing new */
    page_begin(&page, 400);
    page_event(&page, 0, fake_switch(FAKE_FIRST_TID + 1, ""));
    send_page(bench, 1, &page, 0);
    assert_ok(iwi_tracefs_instance_drain(&bench->fake.method));
    fake_method_expect(&bench->fake, 0, 0, 100, 100, IW_CLASS_THREAD, "a");
    fake_method_expect(&bench->fake, 1, 0, 150, 250, IW_CLASS_THREAD, "b");
}

/* The kernel gave the first half only: the other half is not that of the page before. */
static void a_page_cut_short_has_nothing_of_the_one_before(void **state)
{
    struct bench *bench = *state;
    struct page page;
    uint64_t commit;

    page_begin(&page, 100);
    page_event(&page, 0, fake_switch(77, "a"));
    page_event(&page, 10, fake_switch(FAKE_FIRST_TID, ""));
    page_event(&page, 10, fake_switch(78, "b"));
    page_event(&page, 10, fake_switch(FAKE_FIRST_TID, ""));
    send_page(bench, 0, &page, 0);
    assert_ok(iwi_tracefs_instance_drain(&bench->fake.method));
    assert_int_equal(bench->fake.shares[0].count, 2);
    commit = page.used - HEADER_SIZE;
    page_begin(&page, 1000);
    memcpy(page.bytes + sizeof(uint64_t), &commit, sizeof commit);
    assert_int_equal(write(bench->writers[0], page.bytes, HEADER_SIZE), HEADER_SIZE);
    assert_ok(iwi_tracefs_instance_drain(&bench->fake.method));
    assert_int_equal(bench->fake.shares[0].count, 2);
}

static void lost_events_are_counted_and_nothing_is_made_up_for_them(void **state)
{
    struct bench *bench = *state;
    const uint64_t lost = 41;
    struct page page;

    page_begin(&page, 100);
    page_event(&page, 0, fake_switch(77, "a"));
    send_page(bench, 0, &page, 0);
    page_begin(&page, 1000);
    page_event(&page, 0, fake_numbered(LOCAL_TIMER_ENTRY_ID, 236));
    page_event(&page, 10, fake_numbered(LOCAL_TIMER_EXIT_ID, 236));
    memcpy(page.bytes + page.used, &lost, sizeof lost);
    send_page(bench, 0, &page, MISSED | MISSED_STORED);
    page_begin(&page, 2000);
    page_event(&page, 0, fake_switch(FAKE_FIRST_TID, ""));
    send_page(bench, 0, &page, MISSED); /* no room for their number */
    assert_ok(iwi_tracefs_instance_drain(&bench->fake.method));
    assert_int_equal(bench->fake.method.lost, lost + 1);
    assert_int_equal(bench->fake.shares[0].count, 3);
    fake_method_expect_lost(&bench->fake, 0, 0, 100, 900);
    fake_method_expect(&bench->fake, 0, 1, 1000, 10, IW_CLASS_IRQ, "local_timer");
    fake_method_expect_lost(&bench->fake, 0, 2, 1010, 990);
}

static void what_the_kernel_has_counted_as_overwritten_is_lost(void **state)
{
    struct bench *bench = *state;
    char root[FAKE_ROOT_SIZE];
    struct page page;

    fake_root_make(root);
    bench->instance.folder = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(bench->instance.folder >= 0);
    page_begin(&page, 100);
    page_event(&page, 0, fake_switch(77, "a"));
    fake_root_file(root, "/per_cpu/cpu0/stats", "entries: 9\noverrun: 1234\ncommit overrun: 7\nbytes: 5\n");
    send_page(bench, 0, &page, MISSED);
    assert_ok(iwi_tracefs_instance_drain(&bench->fake.method));
    assert_int_equal(bench->fake.method.lost, 1234);
    fake_root_file(root, "/per_cpu/cpu0/stats", "entries: 9\noverrun: 1300\ncommit overrun: 7\nbytes: 5\n");
    send_page(bench, 0, &page, MISSED);
    send_page(bench, 0, &page, MISSED);
    assert_ok(iwi_tracefs_instance_drain(&bench->fake.method));
    assert_int_equal(bench->fake.method.lost, 1300);
    assert_int_equal(close(bench->instance.folder), 0);
    fake_root_remove(root);
}

static void empty_pages_are_passed_over(void **state)
{
    struct bench *bench = *state;
    struct page page;

    page_begin(&page, 100);
    send_page(bench, 0, &page, 0);
    page_begin(&page, 100);
    send_page(bench, 0, &page, MISSED);
    assert_ok(iwi_tracefs_instance_drain(&bench->fake.method));
    assert_int_equal(bench->fake.shares[0].count, 0);
    assert_int_equal(bench->fake.method.lost, 1);
}

static void large_records_are_taken(void **state)
{
    struct bench *bench = *state;
    struct fake_record record = fake_switch(77, "a");
    struct page page;

    page_begin(&page, 100);
    page_word(&page, LARGE | 7u << 5);
    page_word(&page, (uint32_t)(record.size + sizeof(uint32_t)));
    memcpy(page.bytes + page.used, record.bytes, record.size);
    page.used += record.size;
    page_event(&page, 3, fake_switch(FAKE_FIRST_TID, ""));
    send_page(bench, 0, &page, 0);
    assert_ok(iwi_tracefs_instance_drain(&bench->fake.method));
    fake_method_expect(&bench->fake, 0, 0, 107, 3, IW_CLASS_THREAD, "a");
}

static void stamps_of_the_raw_clock_are_brought_to_the_one_that_measures(void **state)
{
    struct bench *bench = *state;
    struct page page;

    bench->fake.clock = (struct iwi_clock){.ops = &iwi_clock_monotonic_raw, .hz = 1e9};
    bench->instance.is_bridged = true;
    iwi_clock_bridge_begin(&bench->instance.bridge, &bench->fake.clock);
    page_begin(&page, 700);
    page_event(&page, 0, fake_switch(77, "a"));
    page_event(&page, 30, fake_switch(FAKE_FIRST_TID, ""));
    send_page(bench, 0, &page, 0);
    assert_ok(iwi_tracefs_instance_drain(&bench->fake.method));
    fake_method_expect(&bench->fake, 0, 0, 700, 30, IW_CLASS_THREAD, "a");
}

static void a_pipe_that_cannot_be_read_is_an_error_that_names_the_cpu(void **state)
{
    struct bench *bench = *state;
    struct iwt_log log;
    const int before = bench->pipes[1];

    iwt_log_init(&log);
    bench->fake.method.log = &log.log;
    bench->pipes[1] = bench->writers[1];
    assert_status(iwi_tracefs_instance_drain(&bench->fake.method), IW_ERR_IO);
    bench->pipes[1] = before;
    iwt_assert_logged(&log, "cannot read kernel events of CPU 1: Bad file descriptor");
}

int main(void)
{
#define WITH_PIPES(test) cmocka_unit_test_setup_teardown(test, begin, end)
    const struct CMUnitTest tests[] = {
        WITH_PIPES(stamps_add_up_from_that_of_the_page),
        WITH_PIPES(long_pauses_between_events_are_told_apart),
        WITH_PIPES(all_pages_of_all_cpus_are_read_and_drains_go_on),
        WITH_PIPES(a_page_cut_short_has_nothing_of_the_one_before),
        WITH_PIPES(lost_events_are_counted_and_nothing_is_made_up_for_them),
        WITH_PIPES(what_the_kernel_has_counted_as_overwritten_is_lost),
        WITH_PIPES(empty_pages_are_passed_over),
        WITH_PIPES(large_records_are_taken),
        WITH_PIPES(stamps_of_the_raw_clock_are_brought_to_the_one_that_measures),
        WITH_PIPES(a_pipe_that_cannot_be_read_is_an_error_that_names_the_cpu),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
