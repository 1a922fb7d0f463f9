/* Tests of iw_net_combine(): several launches, whose differences the intervals hold.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/internal/net_measure.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/rng.h"
#include "core/net/cost.h"
#include "support/made_net.h"
#include "support/support.h"

enum { LAUNCHES = 5, REPETITIONS = 1000, SIZES = 3 };

/* Launches with values, no intervals, no fits. */
struct launches {
    struct iwt_made_net made[LAUNCHES];
    iw_net_point points[LAUNCHES][2][SIZES];
    const iw_net_measured *of[LAUNCHES];
};

static iw_estimate known(double ns)
{
    return (iw_estimate){ns, ns, ns};
}

/* A message of s bytes takes 1000 + s ns to and fro, times the launch's factor. */
static void launches_init(struct launches *l, const double *factors)
{
    for (size_t i = 0; i < LAUNCHES; i++) {
        struct iwt_made_net *made = &l->made[i];

        iwt_made_net_init(made);
        made->measured.link_count = 0;
        for (size_t level = 0; level < 2; level++) {
            for (size_t k = 0; k < SIZES; k++) {
                const double bytes = (double)(UINT64_C(1) << 8 * k);

                l->points[i][level][k] = (iw_net_point){.bytes = (uint64_t)bytes,
                                                        .samples = 10,
                                                        .half_round_trip = known(factors[i] * (1000 + bytes)),
                                                        .gap = known(400 + bytes),
                                                        .o_send = known(100),
                                                        .o_recv = known(200)};
            }
            made->levels[level].points = l->points[i][level];
            made->levels[level].point_count = SIZES;
        }
        l->of[i] = &made->measured;
    }
}

static const double alike[LAUNCHES] = {1, 1, 1, 1, 1};

/* Mean 1.02, standard deviation sqrt(0.001 / 4); t(0.975, 4) = 2.7764; of 1001 ns. */
static void values_are_means_with_intervals_by_students_t(void **state)
{
    static const double factors[LAUNCHES] = {1.00, 1.01, 1.02, 1.03, 1.04};
    const double half_ns = 2.776445 * 1001 * sqrt(0.00025 / 5);
    struct launches l;
    iw_net_measured *all;
    const iw_net_level *level;

    (void)state;
    launches_init(&l, factors);
    assert_ok(iw_net_combine(NULL, l.of, LAUNCHES, &all));
    assert_int_equal(all->launches, 5);
    assert_int_equal(all->level_count, 2);
    level = &all->levels[0];
    assert_int_equal(level->point_count, SIZES);
    assert_int_equal(level->points[0].samples, 50);
    assert_true(fabs(level->half_round_trip.value - 1.02 * 1001) < 1e-6);
    assert_true(fabs(level->half_round_trip.low - (1.02 * 1001 - half_ns)) < 1e-3);
    assert_true(fabs(level->half_round_trip.high - (1.02 * 1001 + half_ns)) < 1e-3);
    assert_true(fabs(level->L.value - (1.02 * 1001 - 300)) < 1e-6); /* o_s and o_r are alike in all */
    assert_true(fabs(level->L.high - level->L.value - half_ns) < 1e-3);
    assert_true(fabs(level->o_send.high - 100) < 1e-9);
    assert_ok(iw_net_check(NULL, &level->net));
    assert_true(all->seconds > 5 * 9.7);
    iw_net_measured_free(all);
}

/* Launches spread by 2 %, each: 95 % of the intervals hold the truth, and 1 in 20 do not (standard deviation
 * of the count: 7). Intervals of two runs lie apart less often than that. */
static void intervals_hold_the_truth_as_often_as_they_say(void **state)
{
    int held = 0, met = 0;
    iw_estimate before = {0, 0, 0};

    (void)state;
    for (uint64_t i = 0; i < REPETITIONS; i++) {
        double factors[LAUNCHES];
        struct launches l;
        iw_net_measured *all;
        iw_estimate value;

        for (uint64_t k = 0; k < LAUNCHES; k++) { /* near to a normal law: the sum of 12 uniform draws */
            factors[k] = 1;
            for (uint64_t m = 0; m < 12; m++) {
                const struct iwi_draw_id id = {11, i, IWI_DRAW_TEST, 0, (uint32_t)k};

                factors[k] += 0.02 * (iwi_draw_unit(id, m) - 0.5);
            }
        }
        launches_init(&l, factors);
        assert_ok(iw_net_combine(NULL, l.of, LAUNCHES, &all));
        value = all->levels[1].half_round_trip;
        held += value.low <= 1001 && 1001 <= value.high;
        met += i > 0 && value.low <= before.high && before.low <= value.high;
        before = value;
        iw_net_measured_free(all);
    }
    assert_in_range(held, 950 - 28, 950 + 28);
    assert_true(met > 980);
}

static void sizes_and_levels_that_not_all_have_are_left_out(void **state)
{
    struct launches l;
    iw_net_measured *all;
    struct iwt_log log;

    (void)state;
    launches_init(&l, alike);
    l.points[3][0][1].bytes = 300;
    assert_ok(iw_net_combine(NULL, l.of, LAUNCHES, &all));
    assert_int_equal(all->levels[0].point_count, SIZES - 1);
    assert_int_equal(all->levels[0].points[1].bytes, 65536);
    assert_int_equal(all->levels[1].point_count, SIZES);
    iw_net_measured_free(all);
    l.made[2].measured.level_count = 1;
    iwt_log_init(&log);
    assert_status(iw_net_combine(&log.log, l.of, LAUNCHES, &all), IW_ERR_RANGE);
    iwt_assert_logged(&log, "0 sizes of level 'network',");
}

static void the_limit_is_the_median_of_the_launches(void **state)
{
    struct launches l;
    iw_net_measured *all;

    (void)state;
    launches_init(&l, alike);
    for (size_t i = 0; i < LAUNCHES; i++) { /* node: 100, 200, none, none, 300 */
        l.made[i].levels[0].eager_computing =
            (iw_net_eager){i == 4 ? 300 : 100 * (i + 1), i < 2 || i == 4, 10};
    }
    l.made[0].levels[1].eager_computing = (iw_net_eager){4000, true, 5};
    assert_ok(iw_net_combine(NULL, l.of, LAUNCHES, &all));
    assert_int_equal(all->levels[0].eager_computing.bytes, 300);
    assert_true(all->levels[0].eager_computing.is_at_most);
    assert_int_equal(all->levels[0].eager_computing.votes, 50);
    assert_false(all->levels[1].eager_computing.is_at_most);
    assert_int_equal(all->levels[0].net.S_bytes, 300);
    iw_net_measured_free(all);
}

static void a_pair_is_slow_if_most_launches_say_so(void **state)
{
    struct launches l;
    iw_net_measured *all;

    (void)state;
    launches_init(&l, alike);
    l.made[0].measured.slow_count = l.made[4].measured.slow_count = 0; /* 3 of 5 are left */
    l.made[2].slow.small_factor = 5;
    assert_ok(iw_net_combine(NULL, l.of, LAUNCHES, &all));
    assert_int_equal(all->slow_count, 1);
    assert_int_equal(all->slow[0].ranks[1], 2);
    assert_true(fabs(all->slow[0].small_factor - 3) < 1e-9); /* 2, 5, 2 */
    iw_net_measured_free(all);
    l.made[1].measured.slow_count = 0;
    assert_ok(iw_net_combine(NULL, l.of, LAUNCHES, &all));
    assert_int_equal(all->slow_count, 0);
    iw_net_measured_free(all);
}

/* Messages in a row that take three times as long each as one alone: no part of its way takes that. */
static void gaps_are_cut_to_half_a_round_trip_and_told(void **state)
{
    struct launches l;
    iw_net_measured *all;
    const iw_net_level *level;

    (void)state;
    launches_init(&l, alike);
    for (size_t i = 0; i < LAUNCHES; i++) {
        for (size_t k = 1; k < SIZES; k++) {
            l.points[i][0][k].gap = known(3 * l.points[i][0][k].half_round_trip.value);
        }
    }
    assert_ok(iw_net_combine(NULL, l.of, LAUNCHES, &all));
    level = &all->levels[0];
    assert_int_equal(level->capped_from_bytes, 256);
    assert_true(fabs(level->most_capped - 3) < 1e-9);
    assert_true(fabs(level->points[2].gap.value - 3 * 66536.0) < 1e-6); /* the evidence stays */
    for (uint64_t bytes = 1; bytes <= 1 << 20; bytes = bytes * 3 / 2 + 1) {
        const struct iwi_cost cost = iwi_cost_of(&level->net, bytes);

        assert_true(cost.gap <= cost.send_cpu + cost.wire + cost.recv_cpu);
    }
    assert_int_equal(all->levels[1].capped_from_bytes, 0);
    iw_net_measured_free(all);
}

static void a_launch_that_is_not_valid_makes_all_so(void **state)
{
    struct launches l;
    iw_net_measured *all;
    struct iwt_log log;

    (void)state;
    launches_init(&l, alike);
    snprintf(l.made[3].measured.warning, sizeof l.made[3].measured.warning, "ranks share a CPU");
    assert_ok(iw_net_combine(NULL, l.of, LAUNCHES, &all));
    assert_string_equal(all->warning, "ranks share a CPU");
    iw_net_measured_free(all);
    l.made[3].measured.ranks = 4;
    iwt_log_init(&log);
    assert_status(iw_net_combine(&log.log, l.of, LAUNCHES, &all), IW_ERR_RANGE);
    iwt_assert_logged(&log, "launch 4 has 4 ranks");
    iwt_log_init(&log);
    assert_status(iw_net_combine(&log.log, l.of, 1, &all), IW_ERR_RANGE);
    iwt_assert_logged(&log, "1 launches cannot be combined");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_means_with_intervals_by_students_t),
        cmocka_unit_test(intervals_hold_the_truth_as_often_as_they_say),
        cmocka_unit_test(sizes_and_levels_that_not_all_have_are_left_out),
        cmocka_unit_test(the_limit_is_the_median_of_the_launches),
        cmocka_unit_test(a_pair_is_slow_if_most_launches_say_so),
        cmocka_unit_test(gaps_are_cut_to_half_a_round_trip_and_told),
        cmocka_unit_test(a_launch_that_is_not_valid_makes_all_so),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
