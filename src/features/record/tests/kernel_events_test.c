/* What records of kernel events mean: made by hand, decoded with formats of real kernels.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/record/kernel/kernel_events.h"

#include <fcntl.h>

#include "fake_method.h"
#include "support/fake_root.h"

enum { STRANGER = 77 };

struct bench {
    struct fake_method fake;
    struct iwi_kernel_events *events;
};

static iw_status learn_from(struct bench *bench, const char *folder)
{
    const int tracing = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    iw_status status;

    assert_true(tracing >= 0);
    fake_method_begin(&bench->fake);
    status = iwi_kernel_events_new(&bench->fake.method, tracing, &bench->events);
    assert_int_equal(close(tracing), 0);
    return status;
}

static int begin(void **state)
{
    static struct bench bench;

    assert_ok(learn_from(&bench, IW_TEST_DATA "/tracing/linux-6.18"));
    *state = &bench;
    return 0;
}

static int end(void **state)
{
    struct bench *bench = *state;

    iwi_kernel_events_free(bench->events);
    fake_method_end(&bench->fake);
    return 0;
}

/* Records come from a ring of the kernel; in a block of just their size, reading behind them is seen. */
static void take_sized(struct bench *bench, size_t place, uint64_t tick, const struct fake_record *record,
                       size_t size)
{
    char *copy = malloc(size + 1);

    assert_non_null(copy);
    memcpy(copy + 1, record->bytes, size); /* not aligned */
    assert_ok(iwi_kernel_events_take(bench->events, place, tick, copy + 1, size));
    free(copy);
}

static void take(struct bench *bench, size_t place, uint64_t tick, struct fake_record record)
{
    take_sized(bench, place, tick, &record, record.size);
}

static void a_thread_holds_the_cpu_until_the_measuring_thread_is_back(void **state)
{
    struct bench *bench = *state;

    take(bench, 0, 1000, fake_switch(STRANGER, "kworker/0:1"));
    take(bench, 0, 1400, fake_switch(78, "cc1"));
    take(bench, 0, 1900, fake_switch(FAKE_FIRST_TID, "idlewave"));
    take(bench, 0, 5000, fake_switch(STRANGER, "kworker/0:1"));
    assert_int_equal(bench->fake.shares[0].count, 2);
    fake_method_expect(&bench->fake, 0, 0, 1000, 400, IW_CLASS_THREAD, "kworker/0:1");
    fake_method_expect(&bench->fake, 0, 1, 1400, 500, IW_CLASS_THREAD, "cc1");
}

static void places_are_kept_apart(void **state)
{
    struct bench *bench = *state;

    take(bench, 0, 1000, fake_switch(STRANGER, "a"));
    take(bench, 1, 1100,
         fake_switch(FAKE_FIRST_TID, "idlewave")); /* not the measuring thread of that place */
    take(bench, 1, 1200, fake_switch(FAKE_FIRST_TID + 1, "idlewave"));
    take(bench, 0, 1300, fake_switch(FAKE_FIRST_TID, "idlewave"));
    assert_int_equal(bench->fake.shares[0].count, 1);
    assert_int_equal(bench->fake.shares[1].count, 1);
    fake_method_expect(&bench->fake, 0, 0, 1000, 300, IW_CLASS_THREAD, "a");
    fake_method_expect(&bench->fake, 1, 0, 1100, 100, IW_CLASS_THREAD, "idlewave");
}

static void the_recorder_is_not_a_source_of_the_node(void **state)
{
    enum { RECORDER = 4711 };
    struct bench *bench = *state;

    bench->fake.method.recorder = RECORDER;
    take(bench, 0, 1000, fake_switch(RECORDER, "idlewave"));
    take(bench, 0, 1300, fake_switch(FAKE_FIRST_TID, "idlewave"));
    assert_int_equal(bench->fake.shares[0].count, 1);
    assert_int_equal(bench->fake.shares[0].array[0].ticks, 300);
    assert_int_equal(bench->fake.shares[0].array[0].source, IWI_RECORDER_SOURCE);
    assert_int_equal(bench->fake.method.recording->source_count, 1); /* the unknown one */
}

static void a_thread_that_changes_its_name_is_two_sources(void **state)
{
    struct bench *bench = *state;

    take(bench, 0, 10, fake_switch(STRANGER, "bash"));
    take(bench, 0, 20, fake_switch(STRANGER, "ls"));
    take(bench, 0, 30, fake_switch(STRANGER, "bash"));
    take(bench, 0, 40, fake_switch(FAKE_FIRST_TID, ""));
    fake_method_expect(&bench->fake, 0, 0, 10, 10, IW_CLASS_THREAD, "bash");
    fake_method_expect(&bench->fake, 0, 1, 20, 10, IW_CLASS_THREAD, "ls");
    fake_method_expect(&bench->fake, 0, 2, 30, 10, IW_CLASS_THREAD, "bash");
    assert_int_equal(bench->fake.method.recording->source_count, 3); /* with the unknown one */
}

static void many_threads_keep_their_names(void **state)
{
    enum { THREADS = 1000 };
    struct bench *bench = *state;

    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < THREADS; i++) {
            char comm[16];

            snprintf(comm, sizeof comm, "job %d", i);
            take(bench, 0, (uint64_t)(10 * (round * THREADS + i) + 10), fake_switch(100 + i, comm));
        }
    }
    assert_int_equal(bench->fake.method.recording->source_count, THREADS + 1);
    for (size_t i = 0; i < 2 * THREADS - 1; i++) {
        char comm[16];

        snprintf(comm, sizeof comm, "job %zu", i % THREADS);
        fake_method_expect(&bench->fake, 0, i, 10 * i + 10, 10, IW_CLASS_THREAD, comm);
    }
}

static void names_are_made_printable_and_are_never_empty(void **state)
{
    struct bench *bench = *state;

    take(bench, 0, 10, fake_switch(STRANGER, "a\nb\xc3\xa4:c d"));
    take(bench, 0, 20, fake_switch(STRANGER, ""));
    take(bench, 0, 30, fake_switch(STRANGER, "sixteen bytes at")); /* without an end */
    take(bench, 0, 40, fake_switch(FAKE_FIRST_TID, ""));
    fake_method_expect(&bench->fake, 0, 0, 10, 10, IW_CLASS_THREAD, "a?b??:c d");
    fake_method_expect(&bench->fake, 0, 1, 20, 10, IW_CLASS_THREAD, "thread 77");
    fake_method_expect(&bench->fake, 0, 2, 30, 10, IW_CLASS_THREAD, "sixteen bytes at");
}

static struct fake_record irq_entry(int32_t number, const char *name)
{
    struct fake_record record = {.size = 0};

    fake_record_u16(&record, 0, IRQ_ENTRY_ID);
    fake_record_i32(&record, 8, number);
    fake_record_text(&record, 12, 16, name);
    return record;
}

static void interrupts_are_named_after_their_handlers(void **state)
{
    struct bench *bench = *state;

    take(bench, 0, 100, irq_entry(24, "virtio0-input.0"));
    take(bench, 0, 130, fake_numbered(IRQ_EXIT_ID, 24));
    take(bench, 0, 200, irq_entry(25, ""));
    take(bench, 0, 250, fake_numbered(IRQ_EXIT_ID, 25));
    assert_int_equal(bench->fake.shares[0].count, 2);
    fake_method_expect(&bench->fake, 0, 0, 100, 30, IW_CLASS_IRQ, "virtio0-input.0");
    fake_method_expect(&bench->fake, 0, 1, 200, 50, IW_CLASS_IRQ, "irq 25");
}

static void a_tick_and_its_softirq_nest_and_follow(void **state)
{
    struct bench *bench = *state;

    take(bench, 0, 100, fake_numbered(SOFTIRQ_ENTRY_ID, 9));
    take(bench, 0, 110, fake_numbered(LOCAL_TIMER_ENTRY_ID, 236));
    take(bench, 0, 140, fake_numbered(LOCAL_TIMER_EXIT_ID, 236));
    take(bench, 0, 160, fake_numbered(SOFTIRQ_EXIT_ID, 9));
    take(bench, 0, 160, fake_numbered(SOFTIRQ_ENTRY_ID, 1));
    take(bench, 0, 170, fake_numbered(SOFTIRQ_EXIT_ID, 1));
    take(bench, 0, 180, fake_numbered(SOFTIRQ_ENTRY_ID, 99));
    take(bench, 0, 190, fake_numbered(SOFTIRQ_EXIT_ID, 99));
    assert_int_equal(bench->fake.shares[0].count, 5);
    fake_method_expect(&bench->fake, 0, 0, 100, 10, IW_CLASS_SOFTIRQ, "RCU");
    fake_method_expect(&bench->fake, 0, 1, 110, 30, IW_CLASS_IRQ, "local_timer");
    fake_method_expect(&bench->fake, 0, 2, 140, 20, IW_CLASS_SOFTIRQ, "RCU");
    fake_method_expect(&bench->fake, 0, 3, 160, 10, IW_CLASS_SOFTIRQ, "TIMER");
    fake_method_expect(&bench->fake, 0, 4, 180, 10, IW_CLASS_SOFTIRQ, "softirq 99");
}

static void an_nmi_is_told_at_its_end(void **state)
{
    struct bench *bench = *state;
    struct fake_record nmi = {.size = 0};

    fake_record_u16(&nmi, 0, NMI_ID);
    fake_record_i64(&nmi, 16, 40);
    fake_record_i32(&nmi, 24, 1);
    take(bench, 0, 1000, fake_switch(STRANGER, "a"));
    take(bench, 0, 1100, nmi); /* from 1060 on */
    take(bench, 0, 1110, nmi); /* a second handler cannot have begun before the first ended */
    take(bench, 0, 1200, fake_switch(FAKE_FIRST_TID, ""));
    assert_int_equal(bench->fake.shares[0].count, 4);
    fake_method_expect(&bench->fake, 0, 0, 1000, 60, IW_CLASS_THREAD, "a");
    fake_method_expect(&bench->fake, 0, 1, 1060, 40, IW_CLASS_NMI, "nmi");
    fake_method_expect(&bench->fake, 0, 2, 1100, 10, IW_CLASS_NMI, "nmi");
    fake_method_expect(&bench->fake, 0, 3, 1110, 90, IW_CLASS_THREAD, "a");
}

static void an_nmi_older_than_the_clock_or_of_no_time_is_harmless(void **state)
{
    struct bench *bench = *state;
    struct fake_record nmi = {.size = 0};

    fake_record_u16(&nmi, 0, NMI_ID);
    fake_record_i64(&nmi, 16, -5);
    take(bench, 0, 10, nmi);
    assert_int_equal(bench->fake.shares[0].count, 0);
    fake_record_i64(&nmi, 16, 1000);
    take(bench, 0, 20, nmi);
    fake_method_expect(&bench->fake, 0, 0, 0, 20, IW_CLASS_NMI, "nmi");
}

static void after_lost_events_nothing_is_known(void **state)
{
    struct bench *bench = *state;

    take(bench, 0, 100, fake_switch(STRANGER, "a"));
    take(bench, 0, 150, fake_numbered(LOCAL_TIMER_ENTRY_ID, 236));
    assert_ok(iwi_kernel_events_reset(bench->events, 0, 5000));
    take(bench, 0, 5100, fake_numbered(LOCAL_TIMER_EXIT_ID, 236));
    take(bench, 0, 5200, fake_switch(FAKE_FIRST_TID, ""));
    assert_int_equal(bench->fake.shares[0].count, 2);
    fake_method_expect(&bench->fake, 0, 0, 100, 50, IW_CLASS_THREAD, "a");
    fake_method_expect_lost(&bench->fake, 0, 1, 150, 4850);
}

static void records_of_other_events_are_passed_over(void **state)
{
    struct bench *bench = *state;

    take(bench, 0, 100, fake_numbered(LOCAL_TIMER_ENTRY_ID, 236));
    take(bench, 0, 110, fake_numbered(1, 2));
    take(bench, 0, 120, fake_numbered(65535, 2));
    take(bench, 0, 130, fake_numbered(LOCAL_TIMER_EXIT_ID, 236));
    assert_int_equal(bench->fake.shares[0].count, 1);
    fake_method_expect(&bench->fake, 0, 0, 100, 30, IW_CLASS_IRQ, "local_timer");
}

static void records_that_are_too_short_are_passed_over(void **state)
{
    struct bench *bench = *state;
    const struct fake_record other = fake_switch(STRANGER, "a"), irq = irq_entry(24, "eth0");
    struct fake_record far = irq;

    for (size_t size = 0; size < 60; size++) { /* next_pid ends at 60 */
        take_sized(bench, 0, 100, &other, size);
    }
    for (size_t size = 0; size < irq.size; size++) {
        take_sized(bench, 0, 100, &irq, size);
    }
    fake_record_i32(&far, 12, (int32_t)(8u << 16 | 60000u));
    take_sized(bench, 0, 100, &far, far.size);
    take(bench, 0, 200, fake_switch(FAKE_FIRST_TID, ""));
    assert_int_equal(bench->fake.shares[0].count, 0);
}

static void events_are_listed_with_their_numbers(void **state)
{
    const struct bench *bench = *state;
    const char *name;
    size_t count = 0;
    bool has_timer = false;
    int id = 0;

    assert_string_equal(iwi_kernel_events_name(bench->events, 0, &id), "sched/sched_switch");
    assert_int_equal(id, SWITCH_ID);
    while ((name = iwi_kernel_events_name(bench->events, count, &id)) != NULL) {
        has_timer = has_timer || (strcmp(name, "irq_vectors/local_timer_entry") == 0 && id == 165);
        count++;
    }
    assert_true(has_timer);
    assert_int_equal(count, 10); /* those of tests/data/tracing/linux-6.18 */
}

static void without_sched_switch_the_method_is_refused(void **state)
{
    struct bench bench;

    (void)state;
    assert_status(learn_from(&bench, IW_TEST_DATA "/tracing/linux-6.1-rt"), IW_ERR_IO);
    assert_non_null(strstr(bench.fake.method.reason, "sched/sched_switch: No such file"));
    fake_method_end(&bench.fake);
}

/* As kernels with PREEMPT_RT have it, and a format that nobody can print. */
static const char RT_SWITCH[] =
    "name: sched_switch\nID: 300\nformat:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
    "\tfield:unsigned char common_preempt_lazy_count;\toffset:8;\tsize:1;\tsigned:0;\n\n"
    "\tfield:char next_comm[16];\toffset:12;\tsize:16;\tsigned:1;\n"
    "\tfield:pid_t next_pid;\toffset:28;\tsize:4;\tsigned:1;\n"
    "\tfield:pid_t prev_pid;\toffset:32;\tsize:4;\tsigned:1;\n"
    "\tfield:long prev_state;\toffset:40;\tsize:8;\tsigned:1;\n\n"
    "print fmt: \"%s\", some_function_of_tomorrow(REC->next_comm, ({ 1; }))\n";

static void fields_are_where_the_kernel_says(void **state)
{
    struct fake_record record = {.size = 0};
    char root[FAKE_ROOT_SIZE];
    struct bench bench;

    (void)state;
    fake_root_make(root);
    fake_root_file(root, "/events/sched/sched_switch/format", RT_SWITCH);
    assert_ok(learn_from(&bench, root));
    fake_record_u16(&record, 0, 300);
    fake_record_comm(&record, 12, "ktimers/0");
    fake_record_i32(&record, 28, STRANGER);
    take(&bench, 0, 50, record);
    fake_record_i32(&record, 28, FAKE_FIRST_TID);
    take(&bench, 0, 60, record);
    assert_int_equal(bench.fake.shares[0].count, 1);
    fake_method_expect(&bench.fake, 0, 0, 50, 10, IW_CLASS_THREAD, "ktimers/0");
    iwi_kernel_events_free(bench.events);
    fake_method_end(&bench.fake);
    fake_root_remove(root);
}

static void a_format_that_makes_no_sense_is_refused(void **state)
{
    char root[FAKE_ROOT_SIZE];
    struct bench bench;

    (void)state;
    fake_root_make(root);
    fake_root_file(root, "/events/sched/sched_switch/format", "what is this?\n");
    assert_status(learn_from(&bench, root), IW_ERR_IO);
    assert_non_null(strstr(bench.fake.method.reason, "sched/sched_switch"));
    fake_method_end(&bench.fake);
    fake_root_remove(root);
}

int main(void)
{
#define WITH_EVENTS(test) cmocka_unit_test_setup_teardown(test, begin, end)
    const struct CMUnitTest tests[] = {
        WITH_EVENTS(a_thread_holds_the_cpu_until_the_measuring_thread_is_back),
        WITH_EVENTS(places_are_kept_apart),
        WITH_EVENTS(the_recorder_is_not_a_source_of_the_node),
        WITH_EVENTS(a_thread_that_changes_its_name_is_two_sources),
        WITH_EVENTS(many_threads_keep_their_names),
        WITH_EVENTS(names_are_made_printable_and_are_never_empty),
        WITH_EVENTS(interrupts_are_named_after_their_handlers),
        WITH_EVENTS(a_tick_and_its_softirq_nest_and_follow),
        WITH_EVENTS(an_nmi_is_told_at_its_end),
        WITH_EVENTS(an_nmi_older_than_the_clock_or_of_no_time_is_harmless),
        WITH_EVENTS(after_lost_events_nothing_is_known),
        WITH_EVENTS(records_of_other_events_are_passed_over),
        WITH_EVENTS(records_that_are_too_short_are_passed_over),
        WITH_EVENTS(events_are_listed_with_their_numbers),
        cmocka_unit_test(without_sched_switch_the_method_is_refused),
        cmocka_unit_test(fields_are_where_the_kernel_says),
        cmocka_unit_test(a_format_that_makes_no_sense_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
