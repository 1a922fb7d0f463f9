/* Events of the osnoise tracer: how they are found in text, and how they become detours.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "convert_testing.h"

#include <time.h>

#define HEAD "       osnoise/0-113     [000] d..h1..     6.538218: "

static iw_recording *import(const char *text)
{
    return import_text(&iwi_import_osnoise, text);
}

/* Detour `place` of the first CPU. */
static void expect_detour(const iw_recording *recording, size_t place, int64_t start_ns, int64_t duration_ns,
                          iw_class kind, const char *name)
{
    const iw_detours *cpu = &recording->cpus[0];

    assert_true(place < cpu->count);
    assert_int_equal(cpu->start_ns[place], start_ns);
    assert_int_equal(cpu->duration_ns[place], duration_ns);
    assert_int_equal(recording->sources[cpu->source[place]].kind, kind);
    assert_string_equal(recording->sources[cpu->source[place]].name, name);
}

static void expect_part(const iw_recording *recording, size_t place, uint64_t detour, const char *name,
                        int64_t part_ns)
{
    const iw_detours *cpu = &recording->cpus[0];

    assert_true(place < cpu->part_count);
    assert_int_equal(cpu->part_detour[place], detour);
    assert_string_equal(recording->sources[cpu->part_source[place]].name, name);
    assert_int_equal(cpu->part_ns[place], part_ns);
}

/* ---- samples ---- */

static void what_no_event_explains_is_hardware(void **state)
{
    iw_recording *recording =
        import(HEAD "irq_noise: local_timer:236 start 1.000000100 duration 300 ns\n" HEAD
                    "sample_threshold: start 1.000000000 duration 1000 ns interference 1\n" HEAD
                    "sample_threshold: start 1.000005000 duration 70 ns interference 0\n");

    (void)state;
    assert_int_equal(recording->attribution, IW_ATTRIBUTION_LEVEL_OSNOISE);
    expect_detour(recording, 0, 0, 1000, IW_CLASS_HARDWARE, "no kernel event");
    expect_part(recording, 0, 0, "local_timer", 300);
    expect_part(recording, 1, 0, "no kernel event", 700);
    expect_detour(recording, 1, 5000, 70, IW_CLASS_HARDWARE, "no kernel event");
    assert_int_equal(recording->cpus[0].part_count, 2); /* the second detour has one source only */
    assert_int_equal(recording->cpus[0].length_ns, 5070);
    iw_recording_free(recording);
}

/* Only sample_threshold was enabled: the kernel saw something, but did not tell. */
static void interference_without_events_is_unknown(void **state)
{
    iw_recording *recording =
        import(HEAD "sample_threshold: start 1.000000000 duration 1000 ns interference 2\n");

    (void)state;
    expect_detour(recording, 0, 0, 1000, IW_CLASS_UNKNOWN, "");
    iw_recording_free(recording);
}

/* A thread of 600 ns net, with an interrupt of 200 ns twice within it. */
static void the_largest_source_counts_and_equal_sources_are_one_part(void **state)
{
    iw_recording *recording =
        import(HEAD "irq_noise: local_timer:236 start 1.000000200 duration 200 ns\n" HEAD
                    "irq_noise: local_timer:236 start 1.000000600 duration 200 ns\n" HEAD
                    "thread_noise:   rcuc/0:19 start 1.000000050 duration 600 ns\n" HEAD
                    "sample_threshold: start 1.000000000 duration 1000 ns interference 3\n");

    (void)state;
    expect_detour(recording, 0, 0, 1000, IW_CLASS_THREAD, "rcuc/0");
    expect_part(recording, 0, 0, "rcuc/0", 600);
    expect_part(recording, 1, 0, "local_timer", 400);
    assert_int_equal(recording->cpus[0].part_count, 2);
    iw_recording_free(recording);
}

static void events_of_another_cpu_or_outside_are_no_parts(void **state)
{
    static const char text[] =
        HEAD "sample_threshold: start 1.000000000 duration 1000 ns interference 0\n"
             "  <idle>-0     [001] d..h1..     6.5: irq_noise: x:1 start 1.000000100 duration 300 ns\n" HEAD
             "irq_noise: x:1 start 1.000001000 duration 300 ns\n";
    iw_recording *recording;
    struct iwt_log log;

    (void)state;
    assert_ok(import_bytes(&log, &iwi_import_osnoise, text, strlen(text), &recording));
    iwt_assert_logged(&log, "2 noise events outside of samples");
    assert_int_equal(recording->cpu_count, 2);
    assert_int_equal(recording->cpus[1].count, 0);
    expect_detour(recording, 0, 0, 1000, IW_CLASS_HARDWARE, "no kernel event");
    assert_int_equal(recording->cpus[0].part_count, 0);
    iw_recording_free(recording);
}

/* ---- without samples ---- */

/* A thread of 500 ns net from 0, in it an interrupt of 100 ns at 200, which an NMI of 30 ns interrupts: busy
 * until 630. Another interrupt follows at 1000. */
static void noise_that_interrupts_noise_is_one_detour(void **state)
{
    iw_recording *recording =
        import(HEAD "nmi_noise: start 1.000000250 duration 30 ns\n" HEAD
                    "irq_noise: local_timer:236 start 1.000000200 duration 100 ns\n" HEAD
                    "thread_noise: init:1 start 1.000000000 duration 500 ns\n" HEAD
                    "softirq_noise:    TIMER:1 start 1.000001000 duration 40 ns\n");

    (void)state;
    expect_detour(recording, 0, 0, 630, IW_CLASS_THREAD, "init");
    expect_part(recording, 0, 0, "init", 500);
    expect_part(recording, 1, 0, "local_timer", 100);
    expect_part(recording, 2, 0, "", 30);
    expect_detour(recording, 1, 1000, 40, IW_CLASS_SOFTIRQ, "TIMER");
    assert_int_equal(recording->cpus[0].part_count, 3);
    iw_recording_free(recording);
}

/* ---- text ---- */

static void names_may_hold_anything(void **state)
{
    iw_recording *recording =
        import("    a [1] b: c-7  [000] d...3..  6.1: thread_noise: memfd: start 9:91 start 1.000000000 "
               "duration 5 ns\n"
               "    x-8  [000] d.h1.     6.1: thread_noise:   ]: [:-3:92 start 1.000000100 duration 6 ns\n"
               "    x-8  [000]     6.1: thread_noise:   ls:118 start 1.000000200 duration 7 ns\n"
               "    x-8  [000] d.h1.   123456789: irq_noise: eth0:24 start 1.000000300 duration 8 ns\n");

    (void)state;
    expect_detour(recording, 0, 0, 5, IW_CLASS_THREAD, "memfd: start 9");
    expect_detour(recording, 1, 100, 6, IW_CLASS_THREAD, "]: [:-3");
    expect_detour(recording, 2, 200, 7, IW_CLASS_THREAD, "ls");
    expect_detour(recording, 3, 300, 8, IW_CLASS_IRQ, "eth0");
    iw_recording_free(recording);
}

static void older_kernels_count_interferences(void **state)
{
    iw_recording *recording = import(HEAD "sample_threshold: start 1.0 duration 1000 ns interferences 0\n");

    (void)state;
    expect_detour(recording, 0, 0, 1000, IW_CLASS_HARDWARE, "no kernel event");
    iw_recording_free(recording);
}

/* Two periods of a second; the second one counted events that the trace has not (any more). */
static void a_period_counts_if_its_events_are_there(void **state)
{
    iw_recording *recording = import(
        HEAD
        "sample_threshold: start 5.500000000 duration 1000 ns interference 0\n"
        "       osnoise/0-113     [000] .......     6.000000: 1000000    1  99.9   1   1   0   0   0   0\n"
        "       osnoise/1-114     [001] .......     6.000000: 1000000    0 100.0   0   0   0   0   0   0\n"
        "       osnoise/0-113     [000] .......     7.000000: 1000000   99  99.9  40   1   0  10   0   5\n");

    (void)state;
    assert_int_equal(recording->cpu_count, 2);
    assert_int_equal(recording->cpus[0].length_ns, 1000000000);
    assert_int_equal(recording->cpus[1].length_ns, 1000000000);
    expect_detour(recording, 0, 500000000, 1000, IW_CLASS_HARDWARE, "no kernel event");
    iw_recording_free(recording);
}

static void periods_on_another_clock_do_not_count(void **state)
{
    iw_recording *recording = import(
        HEAD
        "sample_threshold: start 5.500000000 duration 1000 ns interference 0\n"
        "       osnoise/0-113     [000] .......  1006.000000: 1000000    1  99.9   1   1   0   0   0   0\n");

    (void)state;
    assert_int_equal(recording->cpus[0].length_ns, 1000);
    iw_recording_free(recording);
}

static void lost_events_are_told(void **state)
{
    static const char text[] =
        "# entries-in-buffer/entries-written: 1/31   #P:2\nCPU:0 [LOST 12 EVENTS]\n" HEAD
        "sample_threshold: start 1.0 duration 1000 ns interference 0\n";
    iw_recording *recording;
    struct iwt_log log;

    (void)state;
    assert_ok(import_bytes(&log, &iwi_import_osnoise, text, strlen(text), &recording));
    iwt_assert_logged(&log, "the kernel lost 42 events");
    iw_recording_free(recording);
}

static void what_is_malformed_is_refused_with_its_line(void **state)
{
    static const char *const fields[] = {
        "irq_noise: x:1 start 1.0 duration 300\n",
        "irq_noise: x:1 start 1.0 duration -3 ns\n",
        "irq_noise: x:1 start 1.0000000001 duration 3 ns\n",
        "irq_noise: x:1\n",
        "sample_threshold: start 1.0 duration 3 ns\n",
        "thread_noise: x:1 start 99999999999999999999.0 duration 3 ns\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        char text[256];

        snprintf(text, sizeof text, "# tracer: osnoise\n" HEAD "%s", fields[i]);
        expect_refused(&iwi_import_osnoise, text, IW_ERR_FORMAT, "'in:2'");
    }
    expect_refused(&iwi_import_osnoise, "# tracer: osnoise\n", IW_ERR_FORMAT, "has no osnoise events");
    expect_refused(&iwi_import_osnoise,
                   HEAD "nmi_noise: start 1.0 duration 5 ns\n" HEAD
                        "nmi_noise: start 1000000.0 duration 5 ns\n",
                   IW_ERR_RANGE, "more than 240h apart");
}

/* ---- a real one ---- */

/* Heads are looked for where they can be: 300 kB of brackets took half a minute once. */
static void long_lines_are_passed_over_soon(void **state)
{
    enum { BRACKETS = 100000 };
    char *text = malloc(3 * BRACKETS + 2);
    const clock_t begin = clock();

    (void)state;
    assert_non_null(text);
    for (size_t i = 0; i < BRACKETS; i++) {
        memcpy(&text[3 * i], "[0]", 3);
    }
    memcpy(&text[3 * BRACKETS], "\n", 2);
    assert_false(iwi_import_osnoise.matches(text, strlen(text)));
    assert_true((double)(clock() - begin) < 2.0 * CLOCKS_PER_SEC);
    free(text);
}

/* Names of interrupts are as long as the driver wants. */
static void fields_may_be_longer_than_any_head(void **state)
{
    char text[600], name[300];
    iw_recording *recording;

    (void)state;
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    snprintf(text, sizeof text, HEAD "irq_noise: %s:7 start 1.000000100 duration 300 ns\n", name);
    recording = import(text);
    assert_int_equal(recording->cpus[0].count, 1);
    assert_int_equal(recording->cpus[0].duration_ns[0], 300);
    iw_recording_free(recording);
}

static void a_trace_of_linux_6_1_is_read(void **state)
{
    struct iwi_input input;
    struct iwt_log log;
    iw_recording *recording;
    int64_t unseen_ns = 0, total_ns = 0;

    (void)state;
    assert_ok(iwi_input_open(NULL, IW_TEST_DATA "/osnoise/trace-6.1rt.txt", &input));
    assert_ok(import_bytes(&log, NULL, input.data, input.size, &recording));
    iwt_assert_logged(&log, "17 noise events");
    assert_int_equal(recording->cpu_count, 2);
    /* grep -c 'sample_threshold' of each CPU */
    assert_int_equal(recording->cpus[0].count, 26);
    assert_int_equal(recording->cpus[1].count, 15);
    for (size_t i = 0; i < recording->cpus[0].part_count; i++) {
        const bool is_unseen =
            recording->sources[recording->cpus[0].part_source[i]].kind == IW_CLASS_HARDWARE;

        unseen_ns += is_unseen ? recording->cpus[0].part_ns[i] : 0;
    }
    for (size_t i = 0; i < recording->cpus[0].count; i++) {
        total_ns += recording->cpus[0].duration_ns[i];
    }
    assert_true(unseen_ns > total_ns / 2); /* most of a sample has no event */
    iw_recording_free(recording);
    cut_short(NULL, input.data, input.size, 97);
    cut_short(&iwi_import_osnoise, input.data, 4000, 1);
    iwi_input_close(&input);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_no_event_explains_is_hardware),
        cmocka_unit_test(interference_without_events_is_unknown),
        cmocka_unit_test(the_largest_source_counts_and_equal_sources_are_one_part),
        cmocka_unit_test(events_of_another_cpu_or_outside_are_no_parts),
        cmocka_unit_test(noise_that_interrupts_noise_is_one_detour),
        cmocka_unit_test(names_may_hold_anything),
        cmocka_unit_test(older_kernels_count_interferences),
        cmocka_unit_test(a_period_counts_if_its_events_are_there),
        cmocka_unit_test(periods_on_another_clock_do_not_count),
        cmocka_unit_test(lost_events_are_told),
        cmocka_unit_test(what_is_malformed_is_refused_with_its_line),
        cmocka_unit_test(long_lines_are_passed_over_soon),
        cmocka_unit_test(fields_may_be_longer_than_any_head),
        cmocka_unit_test(a_trace_of_linux_6_1_is_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
