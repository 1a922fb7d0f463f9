/* Generalised Pareto tails: fits, the tests of fits, clusters, and the mean of the largest.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/model/window_law.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "core/base/rng.h"
#include "support/support.h"

#define assert_near(a, b, relative) assert_true(fabs((a) - (b)) <= (relative)*fabs(b))

enum { COUNT = 200 };

IWI_COMPARE(descending, double, IWI_ORDER(*right, *left))

/* Quantiles at even distances (sample -1), or a random sample. */
static void draw(double xi, double sigma, int sample, double excess[COUNT])
{
    const struct iwi_draw_id id = {(uint64_t)sample, 0, IWI_DRAW_TEST, 0, 0};

    for (size_t i = 0; i < COUNT; i++) {
        const double unit = sample < 0 ? ((double)i + 0.5) / COUNT : iwi_draw_unit(id, i);

        excess[i] = fabs(xi) < 1e-9 ? -sigma * log(unit) : sigma * (pow(unit, -xi) - 1.0) / xi;
    }
    iwi_sort(excess, COUNT, descending);
}

static void the_law_goes_smoothly_through_the_exponential_one(void **state)
{
    (void)state;
    assert_near(iwi_gpd_above(&(struct iwi_gpd){0.0, 2.0}, 3.0), exp(-1.5), 1e-12);
    assert_near(iwi_gpd_above(&(struct iwi_gpd){1e-9, 2.0}, 3.0), exp(-1.5), 1e-8);
    assert_near(iwi_gpd_above(&(struct iwi_gpd){0.5, 2.0}, 4.0), 0.25, 1e-12);
    assert_true(iwi_gpd_above(&(struct iwi_gpd){-0.5, 2.0}, 4.5) == 0.0);
}

static void fits_find_shape_and_scale_in_any_unit(void **state)
{
    const double shapes[] = {-0.3, 0.0, 0.3};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        for (double sigma = 10.0; sigma < 1e7; sigma *= 1000.0) {
            struct iwi_gpd_posterior p;
            double excess[COUNT];

            draw(shapes[i], sigma, -1, excess);
            iwi_gpd_fit(excess, COUNT, 0, 1.0, &p);
            assert_true(fabs(p.mode.xi - shapes[i]) < 0.06);
            assert_near(p.mode.sigma, sigma, 0.06);
            assert_true(iwi_gpd_xi_above(&p, shapes[i] + 0.4) < 0.01);
            assert_true(iwi_gpd_xi_above(&p, shapes[i] - 0.4) > 0.99);
        }
    }
}

static void fewer_observations_say_less(void **state)
{
    struct iwi_gpd_posterior all, tenth;
    double excess[COUNT];

    (void)state;
    draw(0.0, 1.0, -1, excess);
    iwi_gpd_fit(excess, COUNT, 0, 1.0, &all);
    iwi_gpd_fit(excess, COUNT, 0, 0.1, &tenth);
    assert_true(iwi_gpd_xi_above(&all, 0.2) < 0.02);
    assert_true(iwi_gpd_xi_above(&tenth, 0.2) > 0.05);
}

/* The largest five are made 1,000 times as large; hidden, they count as "larger" only. */
static void hidden_values_do_not_move_the_fit(void **state)
{
    struct iwi_gpd_posterior before, after;
    double excess[COUNT];

    (void)state;
    draw(0.0, 1.0, -1, excess);
    iwi_gpd_fit(excess, COUNT, 5, 1.0, &before);
    for (size_t i = 0; i < 5; i++) {
        excess[i] *= 1000.0;
    }
    iwi_gpd_fit(excess, COUNT, 5, 1.0, &after);
    assert_near(after.mode.sigma, before.mode.sigma, 1e-12);
    assert_true(fabs(before.mode.xi) < 0.06);
}

/* At the level of 10 % the test of the fit rejects about 10 % of samples of the law: 15 to 45 of 300. */
static void the_test_of_the_fit_has_the_level_it_states(void **state)
{
    const double shapes[] = {0.0, 0.33, 0.6};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        unsigned rejected = 0, outliers = 0;

        for (int sample = 0; sample < 300; sample++) {
            struct iwi_gpd_posterior p;
            double excess[COUNT];

            draw(shapes[i], 1.0, sample, excess);
            iwi_gpd_fit(excess, COUNT, 0, 1.0, &p);
            rejected += iwi_gpd_goodness(&p.mode, excess, COUNT) < 0.1;
            outliers += sample % 3 == 0 && iwi_gpd_outliers(excess, COUNT, 1.0) > 0;
        }
        assert_in_range(rejected, 15, 45);
        assert_in_range(outliers, 0, 5);
    }
}

static void another_law_is_rejected(void **state)
{
    struct iwi_gpd_posterior p;
    double excess[COUNT];

    (void)state;
    for (size_t i = 0; i < COUNT; i++) { /* two heaps */
        excess[i] = (i < COUNT / 2 ? 10.0 : 1.0) + 1e-3 * (double)(COUNT - i);
    }
    iwi_gpd_fit(excess, COUNT, 0, 1.0, &p);
    assert_true(iwi_gpd_goodness(&p.mode, excess, COUNT) < 0.01);
}

static void values_far_apart_are_counted(void **state)
{
    (void)state;
    for (size_t apart = 1; apart <= 12; apart++) {
        double excess[COUNT];

        draw(0.1, 10.0, 5, excess);
        for (size_t i = 0; i < apart; i++) {
            excess[i] = 5000.0 + (double)(apart - i);
        }
        assert_int_equal(iwi_gpd_outliers(excess, COUNT, 1.0), apart);
    }
}

/* Exponential excesses and short detours: E = u + sigma (log(n rate a) + Euler's constant), a + sigma instead
 * of a for begins inside; also for absurd n. */
static void the_largest_under_an_exponential_tail_is_the_known_one(void **state)
{
    const double euler = 0.57721566490153286, inside = 1e6 + 1e4;
    double loss_ns[] = {5e4, 0.0}, share[] = {1e-3, 1.0 - 1e-3};
    const struct iwi_window_law law = {.count = 2, .loss_ns = loss_ns, .share = share};
    struct iwi_tail *tail = calloc(1, sizeof *tail);

    (void)state;
    assert_non_null(tail);
    tail->most_ns = 1e12;
    tail->mode = (struct iwi_tail_draw){2e4, 1e6, 1e-9, {0.0, 1e4}};
    for (double n = 1e6; n < 1e19; n *= 1e3) {
        assert_near(iwi_tail_mean_max_ns(tail, &law, n), 2e4 + 1e4 * (log(n * 1e-9 * inside) + euler), 1e-4);
    }
    free(tail);
}

/* Where detours are short against phases, xi = 1/3: E = u + sigma / xi ((n rate a)^xi Gamma(1 - xi) - 1). */
static void the_largest_under_a_pareto_tail_is_the_known_one(void **state)
{
    const double xi = 1.0 / 3.0;
    double loss_ns[] = {5e4, 0.0}, share[] = {1e-3, 1.0 - 1e-3};
    const struct iwi_window_law law = {.count = 2, .loss_ns = loss_ns, .share = share};
    struct iwi_tail *tail = calloc(1, sizeof *tail);

    (void)state;
    assert_non_null(tail);
    tail->most_ns = 1e15;
    tail->mode = (struct iwi_tail_draw){2.0, 1e9, 1e-9, {xi, 1.0}};
    assert_near(iwi_tail_mean_max_ns(tail, &law, 1e5), 2.0 + (pow(1e5, xi) * tgamma(1.0 - xi) - 1.0) / xi,
                1e-3);
    /* nothing is longer than what is allowed */
    tail->most_ns = 12.0;
    assert_true(iwi_tail_mean_max_ns(tail, &law, 1e30) <= 12.0 + 1e-6);
    assert_true(iwi_tail_mean_max_ns(tail, &law, 1e30) > 11.9);
    free(tail);
}

/* Detours at 100, 108 and 600 us: phases of 10 us meet the first two together. */
static void phases_that_overlap_are_one_cluster(void **state)
{
    const int64_t start_ns[] = {100000, 108000, 600000}, duration_ns[] = {2000, 3000, 4000};
    struct iwi_window_cpu cpu = {3, start_ns, duration_ns, 1000000};
    const struct iwi_window_cpus cpus = {1, &cpu, 1000000, 1e6};
    const struct iwi_blocks blocks = {50000, 20};
    struct iwi_window_law law;
    struct iwi_peaks peaks;

    (void)state;
    assert_ok(iwi_window_law_new(NULL, &cpus, 10000, &blocks, &law));
    assert_ok(iwi_peaks_new(NULL, &cpus, 10000, &law, &blocks, 10, &peaks));
    assert_int_equal(peaks.count, 2);
    assert_true(peaks.loss_ns[0] == 5000.0 && peaks.loss_ns[1] == 4000.0);
    assert_int_equal(peaks.block[0], 1);
    assert_int_equal(peaks.block[1], 11);
    /* above 4,000: begins from 10 us of work before the second to the first, which are 4 us, and 1 us of it
     */
    assert_near(iwi_peaks_time_above_ns(&peaks, 4000.0), 5000.0, 1e-12);
    iwi_peaks_release(&peaks);
    iwi_window_law_release(&law);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_law_goes_smoothly_through_the_exponential_one),
        cmocka_unit_test(fits_find_shape_and_scale_in_any_unit),
        cmocka_unit_test(fewer_observations_say_less),
        cmocka_unit_test(hidden_values_do_not_move_the_fit),
        cmocka_unit_test(the_test_of_the_fit_has_the_level_it_states),
        cmocka_unit_test(another_law_is_rejected),
        cmocka_unit_test(values_far_apart_are_counted),
        cmocka_unit_test(the_largest_under_an_exponential_tail_is_the_known_one),
        cmocka_unit_test(the_largest_under_a_pareto_tail_is_the_known_one),
        cmocka_unit_test(phases_that_overlap_are_one_cluster),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
