/* How the time of a check is divided: what is typed holds, and the parts are no more than the whole.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/check/verb/check_times.h"

#include "support/support.h"

static const int64_t SECOND_NS = 1000000000;

static void a_typed_duration_is_measured_in_full_and_jobs_take_their_share(void **state)
{
    (void)state;
    for (int64_t seconds = 1; seconds <= 1000; seconds++) {
        const struct asked_times asked = {.within_ns = 50 * SECOND_NS,
                                          .duration_ns = seconds * SECOND_NS,
                                          .is_duration_typed = true,
                                          .has_jobs = true};
        const struct check_times times = check_times_of(&asked);

        assert_true(times.has_look);
        assert_int_equal(times.measured_ns, seconds * SECOND_NS);
        assert_true(times.within_ns >= times.measured_ns + times.look_ns + 10 * SECOND_NS);
        assert_true(times.within_ns <= times.measured_ns + times.look_ns + (10 + seconds / 4) * SECOND_NS);
    }
}

static void the_parts_fit_into_the_time_allowed(void **state)
{
    (void)state;
    for (int64_t tenths = 1; tenths <= 2000; tenths++) {
        for (int has_jobs = 0; has_jobs < 2; has_jobs++) {
            const struct asked_times asked = {
                .within_ns = tenths * SECOND_NS / 10, .is_within_typed = true, .has_jobs = has_jobs != 0};
            const struct check_times times = check_times_of(&asked);
            const int64_t used_ns = times.measured_ns + (times.has_look ? times.look_ns : 0);

            assert_int_equal(times.within_ns, asked.within_ns);
            assert_true(times.measured_ns > 0);
            assert_true(used_ns <= (has_jobs ? 5 : 8) * times.within_ns / 10 ||
                        (has_jobs && used_ns <= times.within_ns - 10 * SECOND_NS));
            assert_true(!times.has_look || times.measured_ns >= SECOND_NS);
        }
    }
}

static void the_default_measures_for_40_s(void **state)
{
    const struct asked_times asked = {.within_ns = 50 * SECOND_NS, .has_jobs = true};
    const struct check_times times = check_times_of(&asked);

    (void)state;
    assert_int_equal(times.measured_ns + times.look_ns, 40 * SECOND_NS);
}

static void that_a_node_is_busy_is_said_soon(void **state)
{
    struct asked_times asked = {.within_ns = 50 * SECOND_NS, .has_jobs = true};

    (void)state;
    assert_true(check_times_of(&asked).busy_ns <= 2 * SECOND_NS);
    asked.wants_watch = true; /* then it is what the node is judged by */
    assert_int_equal(check_times_of(&asked).busy_ns, check_times_of(&asked).measured_ns);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_typed_duration_is_measured_in_full_and_jobs_take_their_share),
        cmocka_unit_test(the_parts_fit_into_the_time_allowed),
        cmocka_unit_test(the_default_measures_for_40_s),
        cmocka_unit_test(that_a_node_is_busy_is_said_soon),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
