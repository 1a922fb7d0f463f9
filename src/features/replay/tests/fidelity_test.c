/* Self-checks see noise that was made well as that, and each way in which it may not be.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/internal/fidelity.h>

#include <math.h>

#include "features/replay/fidelity/fidelity.h"
#include "fidelity_support.h"

enum { EVENTS = 1000 };

/* A thousand detours in 2 s, never less than 1 ms apart, of 20 to 60 us; the places do not repeat. */
static int64_t start_of(size_t i)
{
    return (int64_t)i * 2000000 + (int64_t)((i * i * 7919) % 997) * 1000;
}

static int64_t duration_of(size_t i)
{
    return 20000 + (int64_t)((i * 7877) % 401) * 100;
}

static iw_recording *trace(void)
{
    iw_recording *recording = iwt_recording(1, 2 * SECOND_NS);

    for (size_t i = 0; i < EVENTS; i++) {
        iwt_detour(recording, 0, start_of(i), duration_of(i), NO_SOURCE);
    }
    return recording;
}

/* How it is made: times times `scale`, `shift_ns` later, longer by `longer_ns`; every so many-th is left out
 * (0: none). The probe watches for one length of the trace. */
struct making {
    double scale;
    int64_t shift_ns, longer_ns;
    size_t lost_every;
    int64_t own_ns; /* the host's own, every 10 ms, between those that are made; 0: none */
};

static iw_recording *made(const struct making *making)
{
    const int64_t length_ns = (int64_t)(making->scale * 2e9);
    iw_recording *recording = iwt_recording(1, length_ns);
    int64_t own_at_ns = 1700000;

    for (size_t i = 0; i < 2 * EVENTS; i++) { /* what is shifted out at the end comes in at the beginning */
        const int64_t start_ns = (int64_t)((double)start_of(i % EVENTS) * making->scale) + making->shift_ns -
                                 (i < EVENTS ? length_ns : 0);
        const int64_t duration_ns =
            (int64_t)((double)duration_of(i % EVENTS) * making->scale) + making->longer_ns;

        while (making->own_ns > 0 && own_at_ns < start_ns) {
            iwt_detour(recording, 0, own_at_ns, making->own_ns, NO_SOURCE);
            own_at_ns += 10000000;
        }
        if (start_ns >= 0 && start_ns + duration_ns < length_ns &&
            (making->lost_every == 0 || i % making->lost_every != 0)) {
            iwt_detour(recording, 0, start_ns, duration_ns, NO_SOURCE);
        }
    }
    return recording;
}

static iw_fidelity judged_making(const struct making *making)
{
    iw_recording *expected = trace(), *observed = made(making), *host = iwt_recording(1, SECOND_NS);
    const iw_fidelity fidelity = judged(expected, observed, host, making->scale);

    iw_recording_free(expected);
    iw_recording_free(observed);
    iw_recording_free(host);
    return fidelity;
}

static void noise_made_as_asked_is_right_wherever_the_trace_began(void **state)
{
    static const int64_t shifts[] = {0, 13, 400123456, 1999000000};

    (void)state;
    for (size_t i = 0; i < sizeof shifts / sizeof shifts[0]; i++) {
        const struct making making = {.scale = 1.0, .shift_ns = shifts[i]};
        const iw_fidelity f = judged_making(&making);

        assert_true(iw_fidelity_is_right(&f));
        assert_in_range(f.planned_count, EVENTS - 4, EVENTS);
        assert_int_equal(f.matched_count, f.planned_count);
        assert_int_equal(f.own_count, 0);
        assert_near(f.ks, 0.0, 1e-12);
        assert_near(f.wasserstein_ns, 0.0, 1e-9);
        assert_true(f.kl < 1e-3);
        assert_near(f.power_observed, f.power_expected, 1e-9);
        assert_near(f.power_expected, 0.02, 0.0005); /* 1,000 x 40 us in 2 s */
    }
}

static void a_constant_cost_moves_quantiles_and_power_by_itself(void **state)
{
    const struct making making = {.scale = 1.0, .longer_ns = 8000};
    const iw_fidelity f = judged_making(&making);

    (void)state;
    assert_false(f.are_quantiles_right);
    assert_false(f.is_power_right);
    assert_true(f.is_count_right);
    assert_near(f.wasserstein_ns, 8000.0, 1.0);
    for (size_t q = 0; q < IW_FIDELITY_QUANTILES; q++) {
        assert_near(f.quantile_observed_ns[q] - f.quantile_expected_ns[q], 8000.0, 1.0);
    }
    assert_near(f.power_observed - f.power_expected, 8e-6 * 500.0, 1e-5); /* 8 us x 500 a second */
    assert_true(f.kl > 0.02);
}

static void scaled_noise_is_judged_in_the_traces_time(void **state)
{
    const struct making making = {.scale = 9.0, .longer_ns = 8000};
    const iw_fidelity f = judged_making(&making);

    (void)state;
    assert_near(f.wasserstein_ns, 8000.0 / 9.0, 1.0);
    assert_true(f.are_quantiles_right); /* 0.9 us of 20 us */
    assert_true(f.is_count_right);
}

static void scaling_brings_the_divergence_down(void **state)
{
    const struct making naive = {.scale = 1.0, .longer_ns = 8000}, scaled = {.scale = 9.0, .longer_ns = 8000};

    (void)state;
    assert_true(judged_making(&naive).kl > 20.0 * judged_making(&scaled).kl);
}

static void the_hosts_own_detours_do_not_count(void **state)
{
    const struct making making = {.scale = 1.0, .own_ns = 15000};
    iw_recording *expected = trace(), *observed = made(&making), *host = iwt_recording(1, SECOND_NS);
    iw_fidelity f;

    (void)state;
    for (int64_t i = 0; i < 100; i++) {
        iwt_detour(host, 0, i * 10000000, 15000, NO_SOURCE); /* a share of 0.15 % */
    }
    f = judged(expected, observed, host, 1.0);
    assert_true(iw_fidelity_is_right(&f));
    assert_in_range(f.own_count, 195, 200);
    assert_near(f.host_rate_hz, 100.0, 1e-9);
    assert_near(f.own_rate_hz, 100.0, 4.0);
    assert_near(f.power_observed / f.power_expected, 1.0, 0.001);
    assert_near(f.power_by_host / f.power_expected, 1.0, 0.01);
    iw_recording_free(expected);
    iw_recording_free(observed);
    iw_recording_free(host);
}

static void detours_that_are_missing_are_counted(void **state)
{
    const struct making making = {.scale = 1.0, .lost_every = 40}; /* 25 of 1,000 */
    const iw_fidelity f = judged_making(&making);

    (void)state;
    assert_false(f.is_count_right);
    assert_in_range(f.planned_count - f.matched_count, 24, 25);
}

/* The host takes the CPU for 3 ms ten times in 2 s: each time one detour or two are to be made meanwhile. */
static iw_recording *preempted(bool has_noise)
{
    iw_recording *recording = iwt_recording(1, 2 * SECOND_NS);
    int64_t next_ns = 100500000;

    for (size_t i = 0; i < EVENTS; i++) {
        const int64_t start_ns = start_of(i);

        if (next_ns < start_ns) {
            iwt_detour(recording, 0, next_ns, 3000000, NO_SOURCE);
            next_ns += 200000000;
        }
        if (has_noise && start_ns > next_ns - 200000000 + 3000000 && start_ns + duration_of(i) < next_ns) {
            iwt_detour(recording, 0, start_ns, duration_of(i), NO_SOURCE);
        }
    }
    return recording;
}

static void what_comes_while_the_host_has_the_cpu_is_left_out(void **state)
{
    iw_recording *expected = trace(), *observed = preempted(true), *host = preempted(false);
    const iw_fidelity f = judged(expected, observed, host, 1.0);

    (void)state;
    assert_in_range(f.hidden_count, 10, 25);
    assert_near(f.hidden_by_host, 15.0, 1.0); /* 30 ms of 2 s, of 1,000, and 10 hits more a 2 s x 40 us */
    assert_int_equal(f.excess_count, 0);
    assert_true(iw_fidelity_is_right(&f));
    assert_near(f.power_observed / f.power_expected, 1.0, 1e-3);
    iw_recording_free(expected);
    iw_recording_free(observed);
    iw_recording_free(host);
}

static void detours_that_are_all_much_too_long_are_not_the_hosts_doing(void **state)
{
    const struct making making = {.scale = 1.0, .longer_ns = 60000};
    const iw_fidelity f = judged_making(&making);

    (void)state;
    assert_false(f.is_count_right);
    assert_false(iw_fidelity_is_right(&f));
}

static void detours_that_nothing_explains_are_not_the_hosts(void **state)
{
    const struct making making = {.scale = 1.0, .own_ns = 15000}; /* 20 % more, and the host is silent */
    const iw_fidelity f = judged_making(&making);

    (void)state;
    assert_true(f.is_power_right && f.is_count_right && f.are_quantiles_right);
    assert_false(f.is_own_right);
    assert_true(iw_fidelity_can_tell(&f));
    assert_false(iw_fidelity_is_right(&f));
}

static void few_of_great_length_are_not_the_hosts_either(void **state)
{
    iw_recording *expected = trace(), *host = iwt_recording(1, SECOND_NS), *observed;
    const struct making making = {.scale = 1.0};
    iw_fidelity f;

    (void)state;
    observed = made(&making);
    for (size_t i = 0; i < EVENTS; i += 50) { /* 2 %: ten times as long as the longest */
        observed->cpus[0].duration_ns[i] = 600000;
    }
    f = judged(expected, observed, host, 1.0);
    assert_int_equal(f.hidden_count, 0);
    assert_in_range(f.excess_count, 19, 20);
    assert_false(f.is_count_right);
    assert_true(f.quantile_observed_ns[5] > 500000.0);
    iw_recording_free(expected);
    iw_recording_free(observed);
    iw_recording_free(host);
}

/* 30 us cannot hide detours of over 20 us, only make them longer. */
static void short_detours_of_the_host_explain_nothing_hidden(void **state)
{
    const struct making making = {.scale = 1.0};
    iw_recording *expected = trace(), *observed = made(&making), *host = iwt_recording(1, SECOND_NS);

    (void)state;
    for (int64_t i = 0; i < 1000; i++) {
        iwt_detour(host, 0, i * 1000000, 30000, NO_SOURCE);
    }
    assert_near(judged(expected, observed, host, 1.0).hidden_by_host, 0.0, 1e-9);
    iw_recording_free(expected);
    iw_recording_free(observed);
    iw_recording_free(host);
}

/* The host has 40 % of the time, in 4 ms each: what was made is not found. */
static void on_a_busy_host_nothing_can_be_told_of_what_is_not_found(void **state)
{
    iw_recording *expected = trace(), *busy = iwt_recording(1, 2 * SECOND_NS);
    iw_recording *quiet = iwt_recording(1, 2 * SECOND_NS);
    iw_fidelity f;

    (void)state;
    for (int64_t i = 0; i < 190; i++) {
        iwt_detour(busy, 0, i * 10000000, 4000000, NO_SOURCE);
    }
    f = judged(expected, busy, busy, 1.0);
    assert_false(iw_fidelity_can_tell(&f));
    f = judged(expected, quiet, quiet, 1.0);
    assert_true(iw_fidelity_can_tell(&f));
    iw_recording_free(expected);
    iw_recording_free(busy);
    iw_recording_free(quiet);
}

static void silence_is_not_right(void **state)
{
    iw_recording *expected = trace(), *nothing = iwt_recording(1, 2 * SECOND_NS);
    const iw_fidelity f = judged(expected, nothing, nothing, 1.0);

    (void)state;
    assert_false(f.is_power_right || f.is_count_right || f.are_quantiles_right);
    assert_int_equal(f.matched_count, 0);
    assert_true(isnan(f.kl) && isnan(f.ks) && isnan(f.quantile_observed_ns[0]));
    iw_recording_free(expected);
    iw_recording_free(nothing);
}

/* Of two normal densities of ln d whose means differ by m and with the same deviation s, KL = m^2 / (2 s^2);
 * Parzen's densities are wider by the bandwidth, 0.2 of s for these 1,000. */
static void divergence_is_that_of_normal_densities(void **state)
{
    double a[1000], b[1000], kl;

    (void)state;
    for (size_t i = 0; i < 1000; i++) {
        const double u = ((double)i + 0.5) / 1000.0;
        const double z = 4.91 * (pow(u, 0.14) - pow(1.0 - u, 0.14)); /* Tukey's lambda: nearly normal */

        a[i] = exp(log(10000.0) + 0.3 * z);
        b[i] = exp(log(10000.0) + 0.3 * z + 0.3);
    }
    assert_ok(iwi_kl_divergence(NULL, a, 1000, b, 1000, &kl));
    assert_near(kl, 0.5, 0.05);
    assert_ok(iwi_kl_divergence(NULL, a, 1000, a, 1000, &kl));
    assert_near(kl, 0.0, 1e-12);
}

static void nonsense_is_refused(void **state)
{
    iw_recording *expected = trace(), *empty = iwt_recording(1, 0);
    iw_fidelity_inputs inputs = {.expected = &expected->cpus[0],
                                 .observed = &expected->cpus[0],
                                 .host = &expected->cpus[0],
                                 .time_scale = 0.5};
    iw_fidelity fidelity;

    (void)state;
    assert_int_equal(iw_fidelity_compare(NULL, &inputs, &fidelity), IW_ERR_RANGE);
    inputs.time_scale = 1.0;
    inputs.observed = &empty->cpus[0];
    assert_int_equal(iw_fidelity_compare(NULL, &inputs, &fidelity), IW_ERR_RANGE);
    iw_recording_free(expected);
    iw_recording_free(empty);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noise_made_as_asked_is_right_wherever_the_trace_began),
        cmocka_unit_test(a_constant_cost_moves_quantiles_and_power_by_itself),
        cmocka_unit_test(scaled_noise_is_judged_in_the_traces_time),
        cmocka_unit_test(scaling_brings_the_divergence_down),
        cmocka_unit_test(the_hosts_own_detours_do_not_count),
        cmocka_unit_test(detours_that_are_missing_are_counted),
        cmocka_unit_test(what_comes_while_the_host_has_the_cpu_is_left_out),
        cmocka_unit_test(detours_that_are_all_much_too_long_are_not_the_hosts_doing),
        cmocka_unit_test(detours_that_nothing_explains_are_not_the_hosts),
        cmocka_unit_test(few_of_great_length_are_not_the_hosts_either),
        cmocka_unit_test(short_detours_of_the_host_explain_nothing_hidden),
        cmocka_unit_test(on_a_busy_host_nothing_can_be_told_of_what_is_not_found),
        cmocka_unit_test(silence_is_not_right),
        cmocka_unit_test(divergence_is_that_of_normal_densities),
        cmocka_unit_test(nonsense_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
