/* Records of the osnoise tracer, made by hand, and the reasons for which it is not used.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <fcntl.h>
#include <stdio.h>

#include "fake_method.h"
#include "features/record/kernel/kernel_events.h"
#include "features/record/kernel/tracefs.h"
#include "support/fake_root.h"

/* Of linux-6.1-rt. */
enum { NMI = 448, IRQ = 449, SOFTIRQ = 450, THREAD = 451 };

struct bench {
    struct fake_method fake;
    struct iwi_kernel_events *events;
};

static int begin(void **state)
{
    static struct bench bench;
    const int tracing = open(IW_TEST_DATA "/tracing/linux-6.1-rt", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    assert_true(tracing >= 0);
    fake_method_begin(&bench.fake);
    assert_ok(iwi_kernel_events_of(&bench.fake.method, tracing, iwi_osnoise_tracepoints,
                                   iwi_osnoise_tracepoint_count, &bench.events));
    assert_int_equal(close(tracing), 0);
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

static void take(struct bench *bench, uint64_t tick, struct fake_record record)
{
    assert_ok(iwi_kernel_events_take(bench->events, 0, tick, record.bytes, record.size));
}

/* What all but that of a thread begin with. */
static struct fake_record noise(uint16_t id, int64_t duration_ns)
{
    struct fake_record record = {.size = 0};

    fake_record_u16(&record, 0, id);
    fake_record_i64(&record, 24, duration_ns);
    return record;
}

static struct fake_record thread_noise(const char *comm, int32_t pid, int64_t duration_ns)
{
    struct fake_record record = {.size = 0};

    fake_record_u16(&record, 0, THREAD);
    fake_record_comm(&record, 12, comm);
    fake_record_i64(&record, 40, duration_ns);
    fake_record_i32(&record, 48, pid);
    return record;
}

static void every_record_is_a_share_of_its_net_duration(void **state)
{
    struct bench *bench = *state;
    struct fake_record irq = noise(IRQ, 2000), softirq = noise(SOFTIRQ, 300);

    fake_record_text(&irq, 32, 40, "local_timer");
    fake_record_i32(&irq, 36, 236);
    fake_record_i32(&softirq, 32, 1);
    take(bench, 10000, irq);
    take(bench, 11000, softirq);
    take(bench, 12000, noise(NMI, 50));
    take(bench, 20000, thread_noise("rcuc/0", 19, 7000));
    assert_int_equal(bench->fake.shares[0].count, 4);
    fake_method_expect(&bench->fake, 0, 0, 10000, 2000, IW_CLASS_IRQ, "local_timer");
    fake_method_expect(&bench->fake, 0, 1, 11000, 300, IW_CLASS_SOFTIRQ, "TIMER");
    fake_method_expect(&bench->fake, 0, 2, 12000, 50, IW_CLASS_NMI, "nmi");
    fake_method_expect(&bench->fake, 0, 3, 20000, 7000, IW_CLASS_THREAD, "rcuc/0");
}

static void durations_are_brought_to_the_clock(void **state)
{
    struct bench *bench = *state;

    bench->fake.clock.hz = 2.5e9;
    take(bench, 10000, noise(NMI, 100));
    fake_method_expect(&bench->fake, 0, 0, 10000, 250, IW_CLASS_NMI, "nmi");
}

static void the_measuring_thread_is_no_noise(void **state)
{
    struct bench *bench = *state;

    take(bench, 10000, thread_noise("idlewave", FAKE_FIRST_TID, 4000000));
    take(bench, 20000, thread_noise("idlewave", FAKE_FIRST_TID - 1, 10)); /* its main thread is */
    assert_int_equal(bench->fake.shares[0].count, 1);
    fake_method_expect(&bench->fake, 0, 0, 20000, 10, IW_CLASS_THREAD, "idlewave");
}

static void short_or_empty_records_are_passed_over(void **state)
{
    struct bench *bench = *state;
    struct fake_record irq = noise(IRQ, 2000);
    struct fake_record thread = thread_noise("a", 5, 7);

    take(bench, 1000, noise(NMI, 0));
    take(bench, 1000, noise(NMI, -1));
    fake_record_text(&irq, 32, 40, "eth0");
    irq.size--;
    take(bench, 1000, irq);
    thread.size--;
    take(bench, 1000, thread);
    assert_int_equal(bench->fake.shares[0].count, 0);
}

/* ---- refusing ---- */

/* A machine whose tracefs has the osnoise tracer, not in use. */
static void make_machine(char root[FAKE_ROOT_SIZE])
{
    fake_root_make(root);
    fake_root_file(root, "/proc/self/mounts", "tracefs /tracing tracefs rw 0 0\n");
    fake_root_file(root, "/tracing/available_tracers", "timerlat osnoise function nop\n");
    fake_root_file(root, "/tracing/current_tracer", "nop\n");
    fake_root_file(root, "/tracing/instances/other/current_tracer", "function\n");
    fake_root_file(root, "/tracing/osnoise/options", "NO_OSNOISE_PANIC_ON_STOP OSNOISE_WORKLOAD\n");
    fake_root_file(root, "/tracing/osnoise/cpus", "0-7\n");
}

static void expect_refusal(const char *root, const char *part)
{
    struct fake_method fake;

    fake_method_begin(&fake);
    fake.method.root = root;
    assert_status(iwi_method_osnoise.open(&fake.method), IW_ERR_IO);
    if (strstr(fake.method.reason, part) == NULL) {
        fail_msg("'%s' is not in '%s'", part, fake.method.reason);
    }
    assert_null(fake.method.state);
    fake_method_end(&fake);
}

static void a_kernel_without_the_tracer_is_refused(void **state)
{
    char root[FAKE_ROOT_SIZE];

    (void)state;
    make_machine(root);
    fake_root_file(root, "/tracing/available_tracers", "function_osnoise function nop\n");
    expect_refusal(root, "no osnoise tracer");
    fake_root_remove(root);
}

static void a_tracer_that_always_runs_its_load_is_refused(void **state)
{
    char root[FAKE_ROOT_SIZE];

    (void)state;
    make_machine(root);
    fake_root_file(root, "/tracing/osnoise/options", "NO_OSNOISE_PANIC_ON_STOP\n");
    expect_refusal(root, "always runs its own load");
    fake_root_remove(root);
}

static void a_tracer_that_others_use_is_left_to_them(void **state)
{
    char root[FAKE_ROOT_SIZE];

    (void)state;
    make_machine(root);
    fake_root_file(root, "/tracing/instances/other/current_tracer", "timerlat\n");
    expect_refusal(root, "in use (instances/other/current_tracer of tracefs)");
    fake_root_file(root, "/tracing/current_tracer", "osnoise\n");
    expect_refusal(root, "in use (current_tracer of tracefs)");
    fake_root_remove(root);
}

static void a_tracer_that_leaves_out_measured_cpus_is_refused(void **state)
{
    char root[FAKE_ROOT_SIZE];

    (void)state;
    make_machine(root);
    fake_root_file(root, "/tracing/osnoise/cpus", "0,2-7\n"); /* the method watches 0 and 1 */
    expect_refusal(root, "excludes measured CPUs: it is '0,2-7'");
    fake_root_remove(root);
}

static void give_formats(const char *root)
{
    static const char *const names[] = {"thread", "irq", "softirq", "nmi"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[FAKE_PATH_SIZE], format[4096];

        snprintf(path, sizeof path, "%s/tracing/linux-6.1-rt/events/osnoise/%s_noise/format", IW_TEST_DATA,
                 names[i]);
        assert_true(iwi_tracefs_read(AT_FDCWD, path, format, sizeof format));
        snprintf(path, sizeof path, "/tracing/events/osnoise/%s_noise/format", names[i]);
        fake_root_file(root, path, format);
    }
}

static void expect_options(const char *root, const char *expected)
{
    char path[FAKE_PATH_SIZE], text[128];

    snprintf(path, sizeof path, "%s/tracing/osnoise/options", root);
    assert_true(iwi_tracefs_read(AT_FDCWD, path, text, sizeof text));
    assert_string_equal(text, expected);
}

/* An ordinary folder lets the folder of an instance be made, but has none of its files. */
static void what_fails_later_leaves_the_load_as_it_was(void **state)
{
    char root[FAKE_ROOT_SIZE], path[FAKE_PATH_SIZE];

    (void)state;
    make_machine(root);
    expect_refusal(root, "the kernel's event osnoise/thread_noise: ");
    expect_options(root, "NO_OSNOISE_PANIC_ON_STOP OSNOISE_WORKLOAD\n");
    give_formats(root);
    expect_refusal(root, "cannot open ");
    expect_options(root, "OSNOISE_WORKLOAD"); /* written: the kernel takes it as this one option */
    fake_root_file(root, "/tracing/osnoise/options", "NO_OSNOISE_WORKLOAD\n");
    expect_refusal(root, "cannot open ");
    expect_options(root, "NO_OSNOISE_WORKLOAD\n");
    snprintf(path, sizeof path, "%s/tracing/instances/idlewave-%d", root, (int)getpid());
    assert_int_not_equal(access(path, F_OK), 0);
    fake_root_remove(root);
}

/* This machine's own. */
static void it_opens_or_says_why_not(void **state)
{
    struct fake_method fake;
    iw_status status;

    (void)state;
    fake_method_begin(&fake);
    fake.clock = (struct iwi_clock){.ops = &iwi_clock_monotonic_raw, .hz = 1e9};
    fake.method.count = 1;
    status = iwi_method_osnoise.open(&fake.method);
    print_message("%s\n", status == IW_OK ? "opened" : fake.method.reason);
    if (status == IW_OK) {
        assert_ok(iwi_method_osnoise.drain(&fake.method));
        iwi_method_osnoise.close(&fake.method);
    } else {
        assert_true(fake.method.reason[0] != '\0');
    }
    assert_null(fake.method.state);
    fake_method_end(&fake);
}

int main(void)
{
#define WITH_EVENTS(test) cmocka_unit_test_setup_teardown(test, begin, end)
    const struct CMUnitTest tests[] = {
        WITH_EVENTS(every_record_is_a_share_of_its_net_duration),
        WITH_EVENTS(durations_are_brought_to_the_clock),
        WITH_EVENTS(the_measuring_thread_is_no_noise),
        WITH_EVENTS(short_or_empty_records_are_passed_over),
        cmocka_unit_test(a_kernel_without_the_tracer_is_refused),
        cmocka_unit_test(a_tracer_that_always_runs_its_load_is_refused),
        cmocka_unit_test(a_tracer_that_others_use_is_left_to_them),
        cmocka_unit_test(a_tracer_that_leaves_out_measured_cpus_is_refused),
        cmocka_unit_test(what_fails_later_leaves_the_load_as_it_was),
        cmocka_unit_test(it_opens_or_says_why_not),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
