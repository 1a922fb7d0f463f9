/* Self-checks find the place in the trace, and of each detour to be made the one that was seen.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "fidelity_support.h"

static void neighbours_that_were_seen_as_one_are_both_there(void **state)
{
    iw_recording *expected = iwt_recording(1, SECOND_NS), *observed = iwt_recording(1, SECOND_NS);
    iw_recording *host = iwt_recording(1, SECOND_NS);
    iw_fidelity f;

    (void)state;
    for (int64_t i = 0; i < 90; i++) {
        const int64_t start_ns = 1000000 + i * 10000000 + (i * i % 89) * 10000;

        iwt_detour(expected, 0, start_ns, 30000, NO_SOURCE);
        iwt_detour(expected, 0, start_ns + 30100, 20000, NO_SOURCE); /* the gap is too short to be seen */
        iwt_detour(observed, 0, start_ns, 50100, NO_SOURCE);
    }
    f = judged(expected, observed, host, 1.0);
    assert_int_equal(f.planned_count, 180);
    assert_int_equal(f.matched_count, 180);
    assert_int_equal(f.merged_count, 90);
    assert_true(f.is_count_right);
    assert_true(f.is_power_right);
    iw_recording_free(expected);
    iw_recording_free(observed);
    iw_recording_free(host);
}

/* 3,000 detours in 60 s; scaled by 9 the trace is 540 s long, of which 20 s from a place in it are watched.
 */
static void a_long_trace_is_found_to_microseconds(void **state)
{
    iw_recording *expected = iwt_recording(1, 60 * SECOND_NS), *observed = iwt_recording(1, 20 * SECOND_NS);
    iw_recording *host = iwt_recording(1, SECOND_NS);
    iw_fidelity f;

    (void)state;
    for (size_t place_ns = 123456, at = 0; at < 24; at++, place_ns += 7000) { /* wherever the bins are */
        iw_recording_free(expected);
        iw_recording_free(observed);
        expected = iwt_recording(1, 60 * SECOND_NS);
        observed = iwt_recording(1, 20 * SECOND_NS);
        for (size_t i = 0; i < 3000; i++) {
            const int64_t start_ns = (int64_t)i * 20000000 + (int64_t)((i * i * 7919) % 997) * 10000;
            const int64_t duration_ns = 20000 + (int64_t)((i * 7877) % 401) * 100;
            const int64_t seen_ns = 9 * start_ns - 123 * SECOND_NS - (int64_t)place_ns;

            iwt_detour(expected, 0, start_ns, duration_ns, NO_SOURCE);
            if (seen_ns > 0 && seen_ns < 20 * SECOND_NS - SECOND_NS / 1000) {
                iwt_detour(observed, 0, seen_ns, 9 * duration_ns, NO_SOURCE);
            }
        }
        f = judged(expected, observed, host, 9.0);
        assert_true(iw_fidelity_is_right(&f));
        assert_in_range(f.planned_count, 105, 115);
        assert_int_equal(f.matched_count, f.planned_count);
    }
    iw_recording_free(expected);
    iw_recording_free(observed);
    iw_recording_free(host);
}

/* Pairs 45 us apart, of 30 us each. */
static iw_fidelity judged_pairs(bool is_second_made, int64_t stranger_ns)
{
    iw_recording *expected = iwt_recording(1, SECOND_NS), *observed = iwt_recording(1, SECOND_NS);
    iw_recording *host = iwt_recording(1, SECOND_NS);
    iw_fidelity f;

    for (int64_t i = 0; i < 90; i++) {
        const int64_t start_ns = 1000000 + i * 10000000 + (i * i % 89) * 10000;

        iwt_detour(expected, 0, start_ns, 30000, NO_SOURCE);
        iwt_detour(expected, 0, start_ns + 45000, 30000, NO_SOURCE);
        iwt_detour(observed, 0, start_ns, 30000, NO_SOURCE);
        if (is_second_made) {
            iwt_detour(observed, 0, start_ns + 45000, 30000, NO_SOURCE);
        }
        if (stranger_ns > 0) {
            iwt_detour(observed, 0, start_ns + 80000, stranger_ns, NO_SOURCE);
        }
    }
    f = judged(expected, observed, host, 1.0);
    iw_recording_free(expected);
    iw_recording_free(observed);
    iw_recording_free(host);
    return f;
}

static void each_detour_is_matched_with_one_the_nearest_that_is_long_enough(void **state)
{
    iw_fidelity f = judged_pairs(true, 39000); /* longer than those that are made */

    (void)state;
    assert_int_equal(f.matched_count, 180);
    assert_int_equal(f.merged_count, 0);
    assert_int_equal(f.own_count, 90);
    assert_near(f.quantile_observed_ns[5], 30000.0, 1.0);
    f = judged_pairs(false, 0); /* the first is not the second too */
    assert_int_equal(f.matched_count, 90);
    assert_int_equal(f.merged_count, 0);
    f = judged_pairs(false, 14000); /* less than half is not it */
    assert_int_equal(f.matched_count, 90);
    assert_int_equal(f.own_count, 90);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbours_that_were_seen_as_one_are_both_there),
        cmocka_unit_test(a_long_trace_is_found_to_microseconds),
        cmocka_unit_test(each_detour_is_matched_with_one_the_nearest_that_is_long_enough),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
