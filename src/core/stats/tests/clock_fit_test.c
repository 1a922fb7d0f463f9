/* Tests of stats/clock_fit.h: offsets and drifts that are known must be found within the stated bound.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/stats/clock_fit.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/rng.h"
#include "support/support.h"

/* A reference clock that shows t + offset + drift * t when the local one shows t. */
static const struct iwi_clock_doubt sure = {.error_ns = 0};

struct truth {
    int64_t offset_ns;
    double drift;
};

static int64_t reference_at(const struct truth *truth, int64_t local_ns)
{
    return local_ns + truth->offset_ns + llround(truth->drift * (double)local_ns);
}

/* Exchanges whose two ways take different, random times: at least 400 ns each, at times very long. */
static struct iwi_clock_ping ping_at(const struct truth *truth, int64_t t0_ns, uint64_t number)
{
    const struct iwi_draw_id id = {7, number, IWI_DRAW_BOOTSTRAP, 0, 0};
    const double there = 400 - 900 * log(1 - iwi_draw_unit(id, 0)),
                 back = 400 - 300 * log(1 - iwi_draw_unit(id, 1));
    const int64_t turn_ns = t0_ns + (int64_t)there;

    return (struct iwi_clock_ping){t0_ns, turn_ns + (int64_t)back, reference_at(truth, turn_ns)};
}

static struct iwi_clock_point point_at(const struct truth *truth, int64_t at_ns, uint64_t number)
{
    struct iwi_clock_ping pings[20];

    for (size_t i = 0; i < 20; i++) {
        pings[i] = ping_at(truth, at_ns + (int64_t)i * 10000, 20 * number + i);
    }
    return iwi_clock_best(pings, 20);
}

static void assert_within_bound(const struct iwi_clock_model *model, const struct truth *truth,
                                int64_t local_ns)
{
    const int64_t error_ns = iwi_clock_to_reference(model, local_ns) - reference_at(truth, local_ns);

    assert_in_range(llabs(error_ns), 0, iwi_clock_error(model, local_ns));
}

static void the_shortest_exchange_decides(void **state)
{
    const struct iwi_clock_ping pings[] = {
        {1000, 9000, 100000}, {20000, 20800, 120500}, {30000, 34000, 131000}};
    const struct iwi_clock_point point = iwi_clock_best(pings, 3);

    (void)state;
    assert_int_equal(point.at_ns, 20400);
    assert_int_equal(point.offset_ns, 100100); /* 120500 - 20400 */
    assert_int_equal(point.half_ns, 401);
}

static void an_offset_is_found_within_its_bound(void **state)
{
    (void)state;
    for (uint64_t trial = 0; trial < 200; trial++) {
        const struct truth truth = {(int64_t)(trial * 77777777) - 5000000000, 0};
        const struct iwi_clock_point point = point_at(&truth, 1000000, trial);
        struct iwi_clock_model model;

        iwi_clock_fit(&point, 1, &sure, &model);
        assert_within_bound(&model, &truth, 1000000);
        assert_true(model.error_ns < 1500); /* two ways of some 400 ns at their best */
        assert_true(model.drift_error > 0); /* one point knows no drift */
    }
}

static void a_drift_is_found_within_its_bound(void **state)
{
    static const double drifts[] = {0, 1e-6, -1e-6, 5e-5, -5e-5, 1e-3};

    (void)state;
    for (size_t d = 0; d < sizeof drifts / sizeof drifts[0]; d++) {
        const struct truth truth = {123456789, drifts[d]};
        struct iwi_clock_point points[32];
        struct iwi_clock_model model;

        for (size_t i = 0; i < 32; i++) {
            points[i] = point_at(&truth, (int64_t)i * 10000000, 1000 * d + i);
        }
        iwi_clock_fit(points, 32, &sure, &model); /* over 310 ms */
        for (int64_t t = 0; t < 1000000000; t += 50000000) {
            assert_within_bound(&model, &truth, t);
        }
        assert_true(fabs(model.drift - drifts[d]) < model.drift_error + 1e-9);
        assert_true(model.drift_error < 1.5e-5);
    }
}

static void doubts_of_the_reference_are_added(void **state)
{
    const struct iwi_clock_point point = {.at_ns = 5, .offset_ns = 7, .half_ns = 100};
    const struct iwi_clock_doubt doubt = {.error_ns = 1000, .drift_error = 1e-3};
    struct iwi_clock_model model;

    (void)state;
    iwi_clock_fit(&point, 1, &doubt, &model);
    assert_int_equal(model.error_ns, 1100);
    assert_true(fabs(model.drift_error - (IWI_CLOCK_USUAL_DRIFT + 1e-3)) < 1e-9);
}

static void two_models_join_to_the_drift_of_the_whole_run(void **state)
{
    const struct truth truth = {-987654321, 2.5e-5};
    const int64_t run_ns = INT64_C(100000000000);
    struct iwi_clock_model begin, end, whole;
    struct iwi_clock_point point = point_at(&truth, 0, 1);

    (void)state;
    iwi_clock_fit(&point, 1, &sure, &begin);
    point = point_at(&truth, run_ns, 2);
    iwi_clock_fit(&point, 1, &sure, &end);
    whole = iwi_clock_join(&begin, &end);
    assert_true(fabs(whole.drift - 2.5e-5) < 1e-7);
    for (int64_t t = 0; t <= run_ns; t += run_ns / 10) {
        assert_within_bound(&whole, &truth, t);
    }
    assert_true(iwi_clock_error(&whole, run_ns / 2) < 1500);
}

static void models_too_close_for_a_drift_give_the_better_one(void **state)
{
    const struct iwi_clock_model begin = {.at_ns = 0, .offset_ns = 50, .error_ns = 300, .drift_error = 1e-4};
    const struct iwi_clock_model end = {.at_ns = 1000, .offset_ns = 90, .error_ns = 200, .drift_error = 1e-4};
    const struct iwi_clock_model whole = iwi_clock_join(&begin, &end);

    (void)state;
    assert_int_equal(whole.offset_ns, 90);
    assert_int_equal(whole.error_ns, 200);
}

static void the_reference_maps_to_itself(void **state)
{
    const struct iwi_clock_model model = iwi_clock_identity(12345);

    (void)state;
    assert_int_equal(iwi_clock_to_reference(&model, INT64_C(1) << 60), INT64_C(1) << 60);
    assert_int_equal(iwi_clock_error(&model, 99), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_shortest_exchange_decides),
        cmocka_unit_test(an_offset_is_found_within_its_bound),
        cmocka_unit_test(a_drift_is_found_within_its_bound),
        cmocka_unit_test(doubts_of_the_reference_are_added),
        cmocka_unit_test(two_models_join_to_the_drift_of_the_whole_run),
        cmocka_unit_test(models_too_close_for_a_drift_give_the_better_one),
        cmocka_unit_test(the_reference_maps_to_itself),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
