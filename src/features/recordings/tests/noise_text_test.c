/* What a recording says to people: verdicts, tables and warnings, no wider than a terminal.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/analysis.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/made_recording.h"
#include "support/support.h"

#include "noise_sample.h"

static const int64_t MINUTE_NS = INT64_C(60000000000);

static void verdict_comes_first(void **state)
{
    static const char expected[] = "node07 loses 0.0083 % of its CPUs to noise (2 CPUs, 60 s); the longest ";
    iw_recording *recording = noise_sample();
    char *text = noise_written(recording, false, IW_DOC_TEXT);

    (void)state;
    if (strncmp(text, expected, strlen(expected)) != 0) {
        fail_msg("the text begins:\n%s", text);
    }
    free(text);
    noise_assert_says(recording, "the longest detour took 10 ms.");
    iw_recording_free(recording);
}

static void one_cpu_is_named(void **state)
{
    iw_recording *recording = iwt_recording(1, MINUTE_NS);

    (void)state;
    recording->cpus[0].cpu = 3;
    iwt_detour(recording, 0, 0, 126000000, 0);
    noise_assert_says(recording, "node.h5 loses 0.21 % of its CPU to noise (CPU 3, 60 s); the longest detour "
                                 "took 126 ms.");
    iw_recording_free(recording);
}

static void silence_is_said_so(void **state)
{
    iw_recording *recording = iwt_recording(1, MINUTE_NS);

    (void)state;
    noise_assert_says(recording, "node.h5 shows no noise (CPU 0, 60 s).");
    noise_assert_silent(recording, "barrier");
    noise_assert_silent(recording, "class");
    noise_assert_silent(recording, "over time");
    iw_recording_free(recording);
}

static void sources_come_by_their_share(void **state)
{
    iw_recording *recording = noise_sample();

    (void)state;
    noise_assert_says(recording, "class source detours rate share median p99 max period "
                                 "all 3 1.5/min 0.008 % 5.00 us 9.80 ms 10.0 ms "
                                 "thread cron 2 1.0/min 0.008 % 5.00 ms 9.90 ms 10.0 ms "
                                 "irq local_timer 1 0.5/min <.001 % 2.00 us 2.00 us 2.00 us ");
    iw_recording_free(recording);
}

static void periods_stand_beside_their_source(void **state)
{
    iw_recording *recording = iwt_recording(1, 1000000000);
    const uint32_t tick = iwt_source(recording, IW_CLASS_IRQ, "local_timer");

    (void)state;
    for (int64_t i = 0; i < 250; i++) {
        iwt_detour(recording, 0, i * 4000000, 2000, tick);
    }
    noise_assert_says(recording, "irq local_timer 250 250/s 0.050 % 2.00 us 2.00 us 2.00 us 4.00 ms");
    iw_recording_free(recording);
}

static void small_sources_are_counted(void **state)
{
    iw_recording *recording = iwt_recording(1, 1000000000);
    char name[16];

    (void)state;
    for (int64_t i = 0; i < 14; i++) {
        snprintf(name, sizeof name, "thread%d", (int)i);
        iwt_detour(recording, 0, i * 1000000, 20000 - i, iwt_source(recording, IW_CLASS_THREAD, name));
    }
    noise_assert_says(recording, "thread thread8 ");
    noise_assert_silent(recording, "thread thread9 ");
    noise_assert_says(recording, "and 5 more");
    iw_recording_free(recording);
}

static void cpus_are_listed_in_their_order(void **state)
{
    iw_recording *recording = noise_sample();

    (void)state;
    noise_assert_says(recording, "CPU detours rate share median p99 max "
                                 "0 2 2.0/min 0.017 % 5.00 ms 9.90 ms 10.0 ms "
                                 "5 1 1.0/min <.001 % 5.00 us 5.00 us 5.00 us ");
    iw_recording_free(recording);
}

static void of_many_cpus_the_worst_are_listed(void **state)
{
    iw_recording *recording = iwt_recording(12, 1000000000);

    (void)state;
    for (size_t cpu = 1; cpu < 12; cpu++) {
        iwt_detour(recording, cpu, 0, (int64_t)cpu * 10000000, 0);
    }
    noise_assert_says(recording, "CPU detours rate share median p99 max "
                                 "11 1 1.00/s 11.0 % 110 ms 110 ms 110 ms "
                                 "10 1 1.00/s 10.0 % 100 ms 100 ms 100 ms ");
    noise_assert_says(recording, " 2 1 1.00/s 2.00 % 20.0 ms 20.0 ms 20.0 ms and 2 more "
                                 "The other 2 CPUs: 0.00 % to 1.00 %, mean 0.50 %.");
    iw_recording_free(recording);
}

static void names_cannot_disturb_the_terminal(void **state)
{
    iw_recording *recording = iwt_recording(1, MINUTE_NS);

    (void)state;
    iwt_attribute(recording, "host", "a\033[31mb\n");
    iwt_detour(recording, 0, 0, 1000, iwt_source(recording, IW_CLASS_THREAD, "\033[2Jx\xff"));
    noise_assert_says(recording, "a?[31mb? loses");
    noise_assert_says(recording, "thread ?[2Jx? 1");
    iw_recording_free(recording);
}

static void how_it_was_measured_is_told(void **state)
{
    iw_recording *recording = noise_sample();

    (void)state;
    noise_assert_says(recording, "Probe selfish; sources identified with tracefs. Detours shorter than 180 "
                                 "ns cannot be seen (t_min 20.0 ns).");
    iwt_attribute(recording, "clock", "tsc");
    iwt_attribute(recording, "kernel", "6.1.0");
    iwt_attribute(recording, "under", "make");
    iwt_attribute(recording, "under_ended_ns", "300000000");
    recording->cpus[1].t_min_ns = 22.0;
    recording->attribution = IW_ATTRIBUTION_LEVEL_NONE;
    noise_assert_says(recording, "Probe selfish, clock tsc, kernel 6.1.0, under 'make' until 300 ms. Detours "
                                 "shorter than 180 ns cannot be seen (t_min 20.0 to 22.0 ns).");
    iw_recording_free(recording);
}

/* ---- warnings ---- */

static void rare_sources_may_be_missing(void **state)
{
    iw_recording *recording = noise_sample();

    (void)state;
    noise_assert_says(recording, "- Events rarer than every 20 s may be missing");
    iw_recording_free(recording);
}

static void a_sound_recording_has_no_other_warning(void **state)
{
    iw_recording *recording = noise_sample();

    (void)state;
    iwt_attribute(recording, "hypervisor", "none");
    iwt_attribute(recording, "governor", "performance");
    iwt_attribute(recording, "steal_ms", "0");
    noise_assert_says(recording, "How sure: - Events rarer");
    iwt_attribute(recording, "governor", "unknown");
    noise_assert_says(recording, "How sure: - Events rarer");
    iw_recording_free(recording);
}

static void dropped_detours_are_told(void **state)
{
    iw_recording *recording = noise_sample();

    (void)state;
    recording->cpus[0].dropped = 17;
    noise_assert_says(recording, "- 17 detours are missing");
    iw_recording_free(recording);
}

static void unknown_sources_come_with_advice(void **state)
{
    iw_recording *recording = iwt_recording(1, INT64_C(60000000000));

    (void)state;
    iwt_detour(recording, 0, 1000000, 2000, 0);
    recording->attribution = IW_ATTRIBUTION_LEVEL_NONE;
    noise_assert_says(recording, "- The sources are unknown: the recording");
    iw_recording_free(recording);
}

static void sources_are_known_where_a_file_names_them(void **state)
{
    iw_recording *recording = noise_sample();

    (void)state;
    recording->attribution = IW_ATTRIBUTION_LEVEL_NONE; /* as of CSV that does not say who told them */
    noise_assert_says(recording, "How sure: - Events rarer");
    iw_recording_free(recording);
}

/* "noise show --cpu 1" has one CPU left, but all attributes. */
static void interrupts_are_those_of_the_cpus_shown(void **state)
{
    iw_recording *recording = noise_sample();

    (void)state;
    recording->attribution = IW_ATTRIBUTION_LEVEL_NONE;
    iwt_attribute(recording, "interrupts", "0:LOC=60000,25 a[0:1]=120;5:LOC=600,25 a[0:1]=120");
    noise_assert_says(recording, "(/proc): LOC 505/s, 25 a[0:1] 2.00/s.");
    recording->cpus[0].cpu = 8;
    noise_assert_says(recording, "(/proc): LOC 5.00/s, 25 a[0:1] 1.00/s.");
    iw_recording_free(recording);
}

static void virtual_machines_are_told(void **state)
{
    iw_recording *recording = noise_sample();

    (void)state;
    iwt_attribute(recording, "hypervisor", "KVMKVMKVM");
    noise_assert_says(recording,
                      "- This is a virtual machine (KVM): time that its host takes counts as noise. Bare");
    iwt_detour(recording, 0, 50000000000, 120000000, iwt_source(recording, IW_CLASS_HARDWARE, ""));
    noise_assert_says(recording, "counts as noise, class hardware, 0.10 %. Bare");
    iw_recording_free(recording);
}

/* 12 ms on each of two CPUs of 60 s, or 12 ms and 36 ms. */
static void stolen_time_is_told(void **state)
{
    iw_recording *recording = noise_sample();

    (void)state;
    iwt_attribute(recording, "steal_ms", "12");
    noise_assert_says(recording, "- This is a virtual machine: time that its host takes counts as noise; the "
                                 "hypervisor reports 0.020 % steal.");
    iwt_attribute(recording, "steal_ms", "0:12,5:36,6:1000");
    noise_assert_says(recording, "the hypervisor reports 0.040 % steal");
    iw_recording_free(recording);
}

/* 10,000 ticks of one length: as many are drawn of each tenth of the time. */
static void a_steady_source_is_drawn_all_the_time(void **state)
{
    iw_recording *recording = iwt_recording(1, INT64_C(100000000000));
    const uint32_t tick = iwt_source(recording, IW_CLASS_IRQ, "tick");
    iw_noise_report_opts opts = IW_NOISE_REPORT_OPTS_INIT;
    iw_noise_report report;
    size_t drawn[10] = {0};

    (void)state;
    for (int64_t i = 0; i < 10000; i++) {
        iwt_detour(recording, 0, i * 10000000, 3000, tick);
    }
    assert_ok(iw_noise_report_init(NULL, recording, &opts, &report));
    for (size_t i = 0; i < report.picture.point_count; i++) {
        drawn[(size_t)(report.picture.points[i].start_ns / 1e10)]++;
    }
    for (size_t i = 0; i < 10; i++) {
        assert_true(10 * drawn[i] > report.picture.point_count * 8 / 10);
        assert_true(10 * drawn[i] < report.picture.point_count * 12 / 10);
    }
    iw_noise_report_release(&report);
    iw_recording_free(recording);
}

static void detours_of_one_length_are_in_the_order_of_time_and_cpus(void **state)
{
    static const double start_ns[] = {1e6, 3e6, 3e6, 4e6};
    static const uint32_t cpus[] = {1, 0, 1, 0};
    iw_recording *recording = iwt_recording(2, 10000000);
    const uint32_t tick = iwt_source(recording, IW_CLASS_IRQ, "tick");
    iw_noise_report_opts opts = IW_NOISE_REPORT_OPTS_INIT;
    iw_noise_report report;

    (void)state;
    iwt_detour(recording, 0, 3000000, 5000, tick);
    iwt_detour(recording, 0, 4000000, 5000, tick);
    iwt_detour(recording, 1, 1000000, 5000, tick);
    iwt_detour(recording, 1, 3000000, 5000, tick);
    assert_ok(iw_noise_report_init(NULL, recording, &opts, &report));
    assert_int_equal(report.picture.point_count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_true(report.picture.points[i].start_ns == start_ns[i]);
        assert_int_equal(report.picture.points[i].cpu, cpus[i]);
    }
    iw_noise_report_release(&report);
    iw_recording_free(recording);
}

/* CPUs of 1 and 6 ms: a detour of 5 ms is not longer than what it is in. */
static void no_detour_is_longer_than_its_recording(void **state)
{
    iw_recording *recording = iwt_recording(2, 1000000);

    (void)state;
    recording->cpus[1].length_ns = 6000000;
    iwt_detour(recording, 1, 500000, 5000000, iwt_source(recording, IW_CLASS_THREAD, "a"));
    noise_assert_says(recording, "(2 CPUs, up to 6 ms); the longest detour took 5 ms");
    iw_recording_free(recording);
}

/* The kernel counts by ticks of 10 ms, the recording is one of milliseconds. */
static void no_more_than_all_is_stolen(void **state)
{
    iw_recording *recording = noise_sample();

    (void)state;
    iwt_attribute(recording, "hypervisor", "KVMKVMKVM");
    iwt_attribute(recording, "steal_ms", "0:70000,5:60000");
    noise_assert_says(recording, "counts as noise. Bare metal may be quieter.");
    iw_recording_free(recording);
}

static void changing_frequencies_are_told(void **state)
{
    iw_recording *recording = noise_sample();

    (void)state;
    iwt_attribute(recording, "governor", "0:performance,5:powersave");
    noise_assert_says(recording,
                      "- The clock frequency was not fixed (governor '0:performance,5:powersave')");
    iw_recording_free(recording);
}

static void slow_clocks_are_told(void **state)
{
    iw_recording *recording = noise_sample();

    (void)state;
    recording->cpus[1].t_min_ns = 1234.0;
    noise_assert_says(recording,
                      "- One undisturbed loop takes 1.23 us on CPU 5, so short detours were missed.");
    iwt_attribute(recording, "clocksource", "hpet");
    noise_assert_says(recording, "were missed: the clock is slow to read (clock source 'hpet').");
    iw_recording_free(recording);
}

/* ---- quanta ---- */

static void fwq_tells_what_quanta_lost(void **state)
{
    iw_recording *recording = iwt_recording(1, 4000000);

    (void)state;
    recording->probe = IW_PROBE_FWQ;
    recording->attribution = IW_ATTRIBUTION_LEVEL_NONE;
    recording->quantum_ns = 1000000;
    for (int64_t i = 0; i < 4; i++) {
        iwt_sample(recording, 0, i * 1000000, i == 2 ? 1500000.0 : 1000000.0);
    }
    noise_assert_says(recording,
                      "node.h5 loses 11.1 % of its CPU to noise (CPU 0, 4.5 ms; 4 quanta of 1 ms); the "
                      "worst quantum lost 500 us.");
    noise_assert_says(recording, "Probe fwq.");
    noise_assert_says(recording, "CPU quanta rate share median p99 max 0 4 889/s 11.1 % 0 ns 485 us 500 us ");
    noise_assert_says(recording,
                      "from to quanta of noise (number, logarithmic) none 3 500 us 700 us 1 100.0 % ");
    noise_assert_silent(recording, "class");
    noise_assert_silent(recording, "unknown");
    iw_recording_free(recording);
}

/* ---- width ---- */

static size_t columns_of(const char *line, size_t length)
{
    size_t columns = 0;

    for (size_t i = 0; i < length; i++) {
        columns += ((unsigned char)line[i] & 0xc0) != 0x80;
    }
    return columns;
}

static void lines_fit_a_terminal_and_have_no_trailing_blanks(void **state)
{
    iw_recording *recording = noise_sample();
    char *text, name[128];

    (void)state;
    memset(name, 'x', sizeof name);
    name[63] = '\0';
    iwt_attribute(recording, "hypervisor", name);
    iwt_attribute(recording, "governor", name);
    iwt_attribute(recording, "host", name);
    for (int64_t i = 0; i < 50; i++) {
        iwt_detour(recording, 1, 46000000000 + i * 100000000, 33333333,
                   iwt_source(recording, IW_CLASS_HARDWARE, name));
    }
    text = noise_written(recording, false, IW_DOC_TEXT);
    for (const char *line = text; *line != '\0';) {
        const size_t length = strcspn(line, "\n");

        if (columns_of(line, length) > 80 || (length > 0 && line[length - 1] == ' ')) {
            fail_msg("'%.*s'", (int)length, line);
        }
        line += length + 1;
    }
    free(text);
    iw_recording_free(recording);
}

static void a_full_disk_is_an_error(void **state)
{
    FILE *full = fopen("/dev/full", "w");
    iw_recording *recording = noise_sample();
    const iw_noise_report_opts opts = IW_NOISE_REPORT_OPTS_INIT;
    iw_noise_report report;
    struct iwt_log l;

    (void)state;
    iwt_log_init(&l);
    assert_ok(iw_noise_report_init(NULL, recording, &opts, &report));
    if (full != NULL) {
        assert_status(iw_doc_write(&l.log, iw_noise_doc(&report), IW_DOC_TEXT, NULL, full), IW_ERR_IO);
        iwt_assert_logged(&l, "cannot write the report: No space left on device");
        (void)fclose(full);
    }
    iw_noise_report_release(&report);
    iw_recording_free(recording);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdict_comes_first),
        cmocka_unit_test(one_cpu_is_named),
        cmocka_unit_test(silence_is_said_so),
        cmocka_unit_test(sources_come_by_their_share),
        cmocka_unit_test(periods_stand_beside_their_source),
        cmocka_unit_test(small_sources_are_counted),
        cmocka_unit_test(cpus_are_listed_in_their_order),
        cmocka_unit_test(of_many_cpus_the_worst_are_listed),
        cmocka_unit_test(names_cannot_disturb_the_terminal),
        cmocka_unit_test(how_it_was_measured_is_told),
        cmocka_unit_test(rare_sources_may_be_missing),
        cmocka_unit_test(a_sound_recording_has_no_other_warning),
        cmocka_unit_test(dropped_detours_are_told),
        cmocka_unit_test(unknown_sources_come_with_advice),
        cmocka_unit_test(sources_are_known_where_a_file_names_them),
        cmocka_unit_test(interrupts_are_those_of_the_cpus_shown),
        cmocka_unit_test(virtual_machines_are_told),
        cmocka_unit_test(stolen_time_is_told),
        cmocka_unit_test(a_steady_source_is_drawn_all_the_time),
        cmocka_unit_test(detours_of_one_length_are_in_the_order_of_time_and_cpus),
        cmocka_unit_test(no_detour_is_longer_than_its_recording),
        cmocka_unit_test(no_more_than_all_is_stolen),
        cmocka_unit_test(changing_frequencies_are_told),
        cmocka_unit_test(slow_clocks_are_told),
        cmocka_unit_test(fwq_tells_what_quanta_lost),
        cmocka_unit_test(lines_fit_a_terminal_and_have_no_trailing_blanks),
        cmocka_unit_test(a_full_disk_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
