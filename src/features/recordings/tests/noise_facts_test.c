/* Facts about recordings made by hand: every number can be computed in the head.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/analysis.h>

#include <math.h>

#include "support/made_recording.h"
#include "support/support.h"

#include "core/base/base.h"
#include "core/base/order.h"
#include "core/base/rng.h"

static const int64_t SECOND_NS = 1000000000;

static iw_noise_facts *facts_of(const iw_recording *recording)
{
    iw_noise_facts *facts = NULL;

    assert_ok(iw_noise_facts_new(NULL, recording, &facts));
    return facts;
}

static void assert_near(double actual, double expected)
{
    if (!(fabs(actual - expected) <= 1e-9 * fabs(expected))) {
        fail_msg("%.17g instead of %.17g", actual, expected);
    }
}

static void assert_row(const iw_noise_row *row, uint64_t count, double rate_hz, double share,
                       double median_ns, double p99_ns, double max_ns)
{
    assert_int_equal(row->count, count);
    assert_near(row->rate_hz, rate_hz);
    assert_near(row->share, share);
    assert_near(row->median_ns, median_ns);
    assert_near(row->p99_ns, p99_ns);
    assert_near(row->max_ns, max_ns);
}

/* Of a source by its number; one that took nothing has zeros. */
static const iw_noise_row *row_of(const iw_noise_facts *facts, uint32_t number)
{
    static const iw_noise_row nothing = {.count = 0};

    for (size_t i = 0; i < facts->source_count; i++) {
        if (facts->sources[i].number == number) {
            return &facts->sources[i].row;
        }
    }
    return &nothing;
}

/* CPU 0: 1, 2, 3 us of a thread and 10 us of an interrupt in 1 s; CPU 1: 4 us of the thread in 1 s. */
static iw_recording *make_small(void)
{
    iw_recording *recording = iwt_recording(2, SECOND_NS);
    const uint32_t thread = iwt_source(recording, IW_CLASS_THREAD, "kworker/0:1");
    const uint32_t irq = iwt_source(recording, IW_CLASS_IRQ, "eth0");

    iwt_detour(recording, 0, 100, 1000, thread);
    iwt_detour(recording, 0, 5000, 3000, thread);
    iwt_detour(recording, 0, 10000, 2000, thread);
    iwt_detour(recording, 0, 20000, 10000, irq);
    iwt_detour(recording, 1, 700, 4000, thread);
    return recording;
}

static void rows_count_rate_share_and_quantiles(void **state)
{
    iw_recording *recording = make_small();
    iw_noise_facts *facts = facts_of(recording);

    (void)state;
    assert_near(facts->watched_ns, 2e9);
    /* 1 2 3 4 10 us in 2 s; p99 at position 3.96: 4 + 0.96 x 6 */
    assert_row(&facts->all, 5, 2.5, 20000.0 / 2e9, 3000.0, 9760.0, 10000.0);
    assert_row(row_of(facts, 0), 0, 0.0, 0.0, 0.0, 0.0, 0.0);
    assert_row(row_of(facts, 1), 4, 2.0, 10000.0 / 2e9, 2500.0, 3970.0, 4000.0);
    assert_row(row_of(facts, 2), 1, 0.5, 10000.0 / 2e9, 10000.0, 10000.0, 10000.0);
    /* CPU 0: 1 2 3 10 us in 1 s; p99 at position 2.97 */
    assert_row(&facts->cpus[0].row, 4, 4.0, 16000.0 / 1e9, 2500.0, 9790.0, 10000.0);
    assert_row(&facts->cpus[1].row, 1, 1.0, 4000.0 / 1e9, 4000.0, 4000.0, 4000.0);
    iw_noise_facts_free(facts);
    iw_recording_free(recording);
}

static void parts_count_for_their_own_source(void **state)
{
    iw_recording *recording = iwt_recording(1, SECOND_NS);
    const uint32_t tick = iwt_source(recording, IW_CLASS_IRQ, "local_timer");
    const uint32_t softirq = iwt_source(recording, IW_CLASS_SOFTIRQ, "timer");
    iw_noise_facts *facts;

    (void)state;
    iwt_detour(recording, 0, 0, 9000, tick);
    iwt_part(recording, 0, tick, 4000);
    iwt_part(recording, 0, softirq, 2000);
    iwt_part(recording, 0, tick, 1000); /* the same source again: still one detour */
    iwt_detour(recording, 0, 20000, 3000, softirq);
    facts = facts_of(recording);
    /* 2 us of the first detour are nobody's part and fall to the tick: 4 + 1 + 2 */
    assert_row(row_of(facts, tick), 1, 1.0, 7e-6, 7000.0, 7000.0, 7000.0);
    assert_row(row_of(facts, softirq), 2, 2.0, 5e-6, 2500.0, 2990.0, 3000.0);
    assert_near(row_of(facts, tick)->share + row_of(facts, softirq)->share, facts->all.share);
    iw_noise_facts_free(facts);
    iw_recording_free(recording);
}

static void rare_limit_is_a_third_of_the_shortest_length(void **state)
{
    iw_recording *recording = iwt_recording(2, 60 * SECOND_NS);
    iw_noise_facts *facts;

    (void)state;
    recording->cpus[1].length_ns = 66 * SECOND_NS;
    facts = facts_of(recording);
    assert_near(facts->rare_limit_ns, 20e9);
    iw_noise_facts_free(facts);
    iw_recording_free(recording);
}

static void dropped_detours_are_summed(void **state)
{
    iw_recording *recording = make_small();
    iw_noise_facts *facts;

    (void)state;
    recording->cpus[0].dropped = 7;
    recording->cpus[1].dropped = 5;
    facts = facts_of(recording);
    assert_int_equal(facts->dropped, 12);
    iw_noise_facts_free(facts);
    iw_recording_free(recording);
}

static void nothing_recorded_is_all_zero(void **state)
{
    iw_recording *recording = iwt_recording(0, 0), *unwatched = iwt_recording(1, 0);
    iw_noise_facts *facts = facts_of(recording);

    (void)state;
    assert_row(&facts->all, 0, 0.0, 0.0, 0.0, 0.0, 0.0);
    assert_true(facts->rare_limit_ns == 0.0);
    iw_noise_facts_free(facts);
    facts = facts_of(unwatched);
    assert_row(&facts->cpus[0].row, 0, 0.0, 0.0, 0.0, 0.0, 0.0);
    iw_noise_facts_free(facts);
    iw_recording_free(unwatched);
    iw_recording_free(recording);
}

static void ticks_of_each_cpu_have_one_period(void **state)
{
    iw_recording *recording = iwt_recording(3, SECOND_NS);
    const uint32_t tick = iwt_source(recording, IW_CLASS_IRQ, "local_timer");
    const uint32_t other = iwt_source(recording, IW_CLASS_THREAD, "bash");
    iw_noise_facts *facts;

    (void)state;
    for (size_t cpu = 0; cpu < 3; cpu++) {
        for (int64_t i = 0; i < 250; i++) {
            iwt_detour(recording, cpu, i * 4000000 + (int64_t)cpu * 1234567 + i % 3 * 10000, 2000, tick);
        }
    }
    iwt_detour(recording, 0, SECOND_NS - 5000, 5000, other);
    facts = facts_of(recording);
    assert_true(fabs(row_of(facts, tick)->period_ns - 4e6) < 1e3);
    assert_true(row_of(facts, other)->period_ns == 0.0);
    iw_noise_facts_free(facts);
    iw_recording_free(recording);
}

static void a_daemon_on_changing_cpus_has_a_period(void **state)
{
    iw_recording *recording = iwt_recording(4, 60 * SECOND_NS);
    const uint32_t daemon = iwt_source(recording, IW_CLASS_THREAD, "collectd");
    const struct iwi_draw_id id = {1, 0, IWI_DRAW_TEST, 0, 0};
    iw_noise_facts *facts;

    (void)state;
    for (int64_t i = 0; i < 60; i++) {
        iwt_detour(recording, (size_t)iwi_draw_below(id, (uint64_t)i, 4), i * SECOND_NS + 500, 80000, daemon);
    }
    facts = facts_of(recording);
    assert_true(fabs(row_of(facts, daemon)->period_ns - 1e9) < 1e6);
    iw_noise_facts_free(facts);
    iw_recording_free(recording);
}

static void different_periods_on_different_cpus_are_none(void **state)
{
    iw_recording *recording = iwt_recording(2, SECOND_NS);
    iw_noise_facts *facts;

    (void)state;
    for (int64_t i = 0; i < 100; i++) {
        iwt_detour(recording, 0, i * 1000000, 2000, 0);
        iwt_detour(recording, 1, i * 1618034, 2000, 0);
    }
    facts = facts_of(recording);
    assert_true(row_of(facts, 0)->period_ns == 0.0);
    iw_noise_facts_free(facts);
    iw_recording_free(recording);
}

static void fwq_loses_what_quanta_take_beyond_the_shortest(void **state)
{
    static const double samples[] = {1000000.0, 1200000.0, 1000000.0, 1800000.0};
    iw_recording *recording = iwt_recording(1, SECOND_NS);
    iw_noise_facts *facts;

    (void)state;
    recording->probe = IW_PROBE_FWQ;
    recording->quantum_ns = 1000000;
    for (size_t i = 0; i < 4; i++) {
        iwt_sample(recording, 0, (int64_t)i * 2000000, samples[i]);
    }
    facts = facts_of(recording);
    assert_near(facts->watched_ns, 5e6);
    /* lost: 0, 0.2, 0, 0.8 ms; 1 - min / mean = 1 - 1 / 1.25 */
    assert_row(&facts->all, 4, 800.0, 0.2, 100000.0, 782000.0, 800000.0);
    assert_row(row_of(facts, 0), 4, 800.0, 0.2, 100000.0, 782000.0, 800000.0);
    assert_true(row_of(facts, 0)->period_ns == 0.0);
    iw_noise_facts_free(facts);
    iw_recording_free(recording);
}

static void ftq_loses_the_work_that_quanta_lack(void **state)
{
    static const double work[2][3] = {{500.0, 400.0, 500.0}, {250.0, 0.0, 125.0}};
    iw_recording *recording = iwt_recording(2, SECOND_NS);
    iw_noise_facts *facts;

    (void)state;
    recording->probe = IW_PROBE_FTQ;
    recording->quantum_ns = 1000000;
    for (size_t i = 0; i < 6; i++) {
        iwt_sample(recording, i / 3, (int64_t)(i % 3) * 1000000, work[i / 3][i % 3]);
    }
    facts = facts_of(recording);
    assert_row(&facts->cpus[0].row, 3, 1000.0, 0.2 / 3.0, 0.0, 196000.0, 200000.0);
    assert_row(&facts->cpus[1].row, 3, 1000.0, 1.5 / 3.0, 500000.0, 990000.0, 1000000.0);
    assert_near(facts->all.share, 1.7 / 6.0);
    iw_noise_facts_free(facts);
    iw_recording_free(recording);
}

static void quanta_without_samples_are_no_noise(void **state)
{
    iw_recording *recording = iwt_recording(1, SECOND_NS);
    iw_noise_facts *facts;

    (void)state;
    recording->probe = IW_PROBE_FTQ;
    facts = facts_of(recording);
    assert_row(&facts->all, 0, 0.0, 0.0, 0.0, 0.0, 0.0);
    iw_noise_facts_free(facts);
    iw_recording_free(recording);
}

/* ---- what is drawn ---- */

enum { DRAWN_OF = 20000, LONGEST = 1000 };

/* Durations of the n-th of them: half of them are alike, of 40 us at most, a few are long. */
static int64_t duration_at(uint64_t n)
{
    return n % 2 == 0    ? 3000
           : n % 97 == 0 ? 100000 + (int64_t)(n * 7919 % 1000000)
                         : 1 + (int64_t)(n * 7919 % 40000);
}

static int compare_falling(const void *left, const void *right)
{
    return -iwi_compare_doubles(left, right);
}

static void assert_points(const iw_noise_picture *picture, const double *falling_ns)
{
    double early = 0.0, alike = 0.0;

    for (size_t i = 0; i < picture->point_count; i++) {
        const iw_noise_point *point = &picture->points[i];
        const uint64_t n = (uint64_t)point->start_ns / 100000;
        const size_t place = i < LONGEST ? i : LONGEST + (i - LONGEST) * picture->stride;

        assert_true(point->duration_ns == falling_ns[place]);
        assert_true(point->duration_ns == (double)duration_at(n) && point->cpu == n % 2);
        if (i >= LONGEST && point->duration_ns == 3000.0) {
            alike++;
            early += n < DRAWN_OF / 2;
        }
    }
    assert_true(alike > 1000.0 && fabs(early / alike - 0.5) < 0.1); /* from all of the time */
}

static void the_longest_are_drawn_and_some_that_stand_for_the_rest(void **state)
{
    static double falling_ns[DRAWN_OF];
    iw_recording *recording = iwt_recording(2, 3 * SECOND_NS);
    iw_noise_report_opts opts = IW_NOISE_REPORT_OPTS_INIT;
    iw_noise_report report;
    uint64_t binned = 0;

    (void)state;
    for (uint64_t n = 0; n < DRAWN_OF; n++) {
        falling_ns[n] = (double)duration_at(n);
        iwt_detour(recording, n % 2, (int64_t)n * 100000, duration_at(n),
                   iwt_source(recording, IW_CLASS_IRQ, "eth0"));
    }
    iwi_sort(falling_ns, DRAWN_OF, compare_falling);
    assert_ok(iw_noise_report_init(NULL, recording, &opts, &report));
    assert_true(report.picture.count == DRAWN_OF && report.picture.longest_count == LONGEST);
    assert_int_equal(report.picture.stride, (DRAWN_OF - LONGEST + 2999) / 3000);
    assert_int_equal(report.picture.point_count,
                     LONGEST + (DRAWN_OF - LONGEST + report.picture.stride - 1) / report.picture.stride);
    assert_points(&report.picture, falling_ns);
    for (size_t i = 0; i < report.picture.bin_count; i++) {
        binned += report.picture.bins[i].count;
    }
    assert_true(binned == DRAWN_OF && report.picture.bins[0].count > 0 &&
                report.picture.bins[report.picture.bin_count - 1].to_ns > falling_ns[0]);
    iw_noise_report_release(&report);
    iw_recording_free(recording);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_count_rate_share_and_quantiles),
        cmocka_unit_test(parts_count_for_their_own_source),
        cmocka_unit_test(rare_limit_is_a_third_of_the_shortest_length),
        cmocka_unit_test(dropped_detours_are_summed),
        cmocka_unit_test(nothing_recorded_is_all_zero),
        cmocka_unit_test(ticks_of_each_cpu_have_one_period),
        cmocka_unit_test(a_daemon_on_changing_cpus_has_a_period),
        cmocka_unit_test(different_periods_on_different_cpus_are_none),
        cmocka_unit_test(fwq_loses_what_quanta_take_beyond_the_shortest),
        cmocka_unit_test(ftq_loses_the_work_that_quanta_lack),
        cmocka_unit_test(quanta_without_samples_are_no_noise),
        cmocka_unit_test(the_longest_are_drawn_and_some_that_stand_for_the_rest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
