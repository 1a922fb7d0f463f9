/* Shares and densities, compared with the GNU Scientific Library over their whole range.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_sf_psi.h>
#include <gsl/gsl_sf_trig.h>

#include "compare.h"

#include "core/numeric/numeric.h"

/* GSL itself is off by 1e-11 for a shape of 3,000, and by 1e-8 for 50,000. */
#define GSL_CLOSE 1e-9

static const double shapes[] = {0.1, 0.5, 1.0, 1.5, 2.0, 7.0, 15.5, 40.0, 250.0, 3e3};

static void the_normal_law(void **state)
{
    (void)state;
    for (double x = -37.0; x <= 37.0; x += 0.173) {
        assert_near(iwi_normal_below(x), gsl_cdf_ugaussian_P(x), 1e-12);
        assert_near(iwi_normal_above(x), gsl_cdf_ugaussian_Q(x), 1e-12);
    }
}

/* From far below the mean to far above it. The tail that is small is compared. */
static void the_gamma_law(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        const double shape = shapes[i];

        for (double z = -8.0; z <= 12.0; z += 0.37) {
            const double x = shape + z * sqrt(shape);

            if (x > 0.0 && x < shape) {
                assert_near(iwi_gamma_below(x, shape), gsl_cdf_gamma_P(x, shape, 1.0), GSL_CLOSE);
            } else if (x > 0.0) {
                assert_near(iwi_gamma_above(x, shape), gsl_cdf_gamma_Q(x, shape, 1.0), GSL_CLOSE);
            }
        }
    }
}

/* Computed with 30 digits (mpmath 1.2). */
static void the_gamma_law_of_large_shapes(void **state)
{
    (void)state;
    assert_near(iwi_gamma_above(1e-3, 0.5), 0.964329408270320114582889, CLOSE);
    assert_near(iwi_gamma_above(25.0, 40.0), 0.996556431270572930293537, CLOSE);
    assert_near(iwi_gamma_above(400.0, 250.0), 3.17700765923856890560769e-16, CLOSE);
    assert_near(iwi_gamma_below(2946.870911921999, 3e3), 0.166100233547289035106705, CLOSE);
    assert_near(iwi_gamma_below(49783.10140618252, 5e4), 0.166044451573327046190213, CLOSE);
    assert_near(iwi_gamma_above(1e8 + 2e4, 1e8), 0.022755530774855202606249, 1e-11);
    assert_near(iwi_gamma_above(1e8 - 3e4, 1e8), 0.998651283550838449408210, 1e-11);
}

/* Below and above make one, also where the sums are replaced by an expansion. */
static void large_shapes_are_continuous(void **state)
{
    const double shape = 1e8;

    (void)state;
    for (double z = -6.0; z <= 6.0; z += 0.5) {
        const double x = shape + z * sqrt(shape), before = shape * (1.0 - 1e-15);

        assert_near(iwi_gamma_above(x, shape), iwi_gamma_above(x, before), 1e-7);
        assert_near(iwi_gamma_above(x, shape) + iwi_gamma_below(x, shape), 1.0, CLOSE);
    }
}

static void poisson(void **state)
{
    static const double means[] = {1e-6, 0.3, 1.0, 4.7, 30.0, 900.0, 1e5};

    (void)state;
    for (size_t i = 0; i < sizeof means / sizeof means[0]; i++) {
        const double mean = means[i];

        for (double z = -6.0; z <= 10.0; z += 0.9) {
            const double k = floor(mean + z * sqrt(mean));

            if (k >= 0.0) {
                assert_near(iwi_poisson_chance((uint64_t)k, mean), gsl_ran_poisson_pdf((unsigned)k, mean),
                            1e-9);
                assert_near(iwi_poisson_above((uint64_t)k, mean), gsl_cdf_poisson_Q((unsigned)k, mean),
                            1e-10);
            }
        }
    }
    assert_true(iwi_poisson_above(2, 0.0) == 0.0);
    assert_true(iwi_poisson_above(1999999, 1e6) == 0.0);
    assert_near(iwi_poisson_chance(0, 2.0), exp(-2.0), CLOSE);
    assert_near(iwi_poisson_chance(0, 0.0), 1.0, CLOSE);
    assert_near(iwi_poisson_chance(3, 2.0), exp(-2.0) * 8.0 / 6.0, CLOSE); /* 2^3 e^-2 / 3! */
}

static void binomial(void **state)
{
    static const unsigned alls[] = {1, 2, 10, 63, 1000, 40000};
    static const double chances[] = {1e-5, 0.01, 0.3, 0.5, 0.9};

    (void)state;
    for (size_t i = 0; i < sizeof alls / sizeof alls[0]; i++) {
        for (size_t c = 0; c < sizeof chances / sizeof chances[0]; c++) {
            const double n = alls[i], p = chances[c], deviation = sqrt(n * p * (1.0 - p));

            for (double z = -5.0; z <= 8.0; z += 1.1) {
                const double k = floor(n * p + z * deviation);

                if (k >= 0.0 && k <= n) {
                    assert_near(iwi_binomial_below((uint64_t)k, p, alls[i]),
                                gsl_cdf_binomial_P((unsigned)k, p, alls[i]), 1e-9);
                    assert_near(iwi_binomial_above((uint64_t)k, p, alls[i]),
                                gsl_cdf_binomial_Q((unsigned)k, p, alls[i]), 1e-9);
                }
            }
        }
    }
    assert_near(iwi_binomial_below(1, 0.5, 2), 0.75, CLOSE); /* of four outcomes one has two */
    assert_near(iwi_binomial_above(3, 0.5, 3), 0.0, CLOSE);
}

static void digamma_and_sinc(void **state)
{
    (void)state;
    for (double x = 1e-3; x < 1e7; x *= 1.7) {
        assert_near(iwi_digamma(x) + 2.0, gsl_sf_psi(x) + 2.0, 1e-12); /* psi has a root: absolute there */
    }
    assert_near(iwi_digamma(1.0), -0.57721566490153286, CLOSE); /* Euler's constant */
    for (double x = 1e-7; x < 5.0; x *= 1.3) {
        assert_near(iwi_sinc(x) + 1.0, gsl_sf_sinc(x) + 1.0, CLOSE);
    }
}

static void nonsense_is_no_number(void **state)
{
    (void)state;
    assert_true(isnan(iwi_gamma_above(1.0, 0.0)));
    assert_true(isnan(iwi_gamma_above((double)NAN, 1.0)));
    assert_true(isnan(iwi_beta_below(0.5, -1.0, 1.0)));
    assert_true(isnan(iwi_digamma(0.0)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_normal_law),
        cmocka_unit_test(the_gamma_law),
        cmocka_unit_test(the_gamma_law_of_large_shapes),
        cmocka_unit_test(large_shapes_are_continuous),
        cmocka_unit_test(poisson),
        cmocka_unit_test(binomial),
        cmocka_unit_test(digamma_and_sinc),
        cmocka_unit_test(nonsense_is_no_number),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
