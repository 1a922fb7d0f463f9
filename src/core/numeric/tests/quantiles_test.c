/* Quantiles, compared with the GNU Scientific Library, and against the shares that they undo.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>

#include "compare.h"

#include "core/numeric/numeric.h"

static const double chances[] = {1e-300, 1e-100, 1e-30, 1e-12,  1e-6, 1e-3,  0.01, 0.025, 0.075, 0.2,
                                 0.4,    0.4999, 0.5,   0.5001, 0.7,  0.925, 0.95, 0.975, 0.999, 1.0 - 1e-9};
enum { CHANCES = sizeof chances / sizeof chances[0] };

static void of_the_normal_law(void **state)
{
    (void)state;
    for (size_t i = 0; i < CHANCES; i++) {
        assert_near(iwi_normal_quantile(chances[i]), gsl_cdf_ugaussian_Pinv(chances[i]), 1e-15);
        assert_near(iwi_normal_upper_quantile(chances[i]), gsl_cdf_ugaussian_Qinv(chances[i]), 1e-14);
        assert_near(iwi_normal_below(iwi_normal_quantile(chances[i])), chances[i], 2e-12);
    }
    assert_true(isinf(iwi_normal_quantile(0.0)) && iwi_normal_quantile(0.0) < 0.0);
    assert_true(isinf(iwi_normal_quantile(1.0)) && iwi_normal_quantile(1.0) > 0.0);
    assert_true(isnan(iwi_normal_quantile(1.5)));
}

static void of_squares(void **state)
{
    static const double freedoms[] = {0.5, 1.0, 2.0, 3.0, 8.0, 31.0, 200.0, 1e4};

    (void)state;
    for (size_t f = 0; f < sizeof freedoms / sizeof freedoms[0]; f++) {
        for (size_t i = 4; i < CHANCES; i++) {
            const double below = iwi_chi2_quantile(chances[i], freedoms[f]);
            const double above = iwi_chi2_upper_quantile(chances[i], freedoms[f]);

            assert_near(below, gsl_cdf_chisq_Pinv(chances[i], freedoms[f]), 1e-8); /* GSL's own search */
            assert_near(iwi_gamma_below(0.5 * below, 0.5 * freedoms[f]), chances[i], 1e-12);
            assert_near(iwi_gamma_above(0.5 * above, 0.5 * freedoms[f]), chances[i], 1e-12);
        }
    }
    assert_near(iwi_chi2_quantile(0.5, 2.0), 2.0 * log(2.0), CLOSE); /* exponential, mean 2 */
    assert_near(iwi_chi2_upper_quantile(1e-200, 2.0), 2.0 * 200.0 * log(10.0), CLOSE);
    assert_near(iwi_chi2_quantile(0.0, 4.0), 0.0, CLOSE);
    assert_true(isinf(iwi_chi2_upper_quantile(0.0, 4.0)));
    assert_true(isnan(iwi_chi2_quantile(0.5, 0.0)));
}

static void of_students_law(void **state)
{
    static const double freedoms[] = {1.0, 2.0, 3.0, 4.5, 9.0, 23.0, 100.0, 1e4, 1e7};

    (void)state;
    for (size_t f = 0; f < sizeof freedoms / sizeof freedoms[0]; f++) {
        for (size_t i = 4; i < CHANCES; i++) {
            assert_near(iwi_t_quantile(chances[i], freedoms[f]), gsl_cdf_tdist_Pinv(chances[i], freedoms[f]),
                        1e-7);
        }
    }
    for (size_t i = 4; i < CHANCES; i++) { /* Cauchy's law; two degrees of freedom have a closed form too */
        const double p = chances[i], middle = p - 0.5;

        assert_near(iwi_t_quantile(p, 1.0),
                    p == 0.5 ? 0.0 : (p < 0.5 ? -1.0 : 1.0) / tan(M_PI * fmin(p, 1.0 - p)), 1e-12);
        assert_near(iwi_t_quantile(p, 2.0), 2.0 * middle * sqrt(0.5 / (p * (1.0 - p))), 1e-12);
    }
    assert_near(iwi_t_quantile(0.975, 9.0), 2.2621571627982050, CLOSE);
    assert_near(iwi_t_quantile(0.5, 9.0), 0.0, CLOSE);
    assert_true(isnan(iwi_t_quantile(0.5, 0.0)));
    assert_true(isinf(iwi_t_quantile(1.0, 3.0)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_the_normal_law),
        cmocka_unit_test(of_squares),
        cmocka_unit_test(of_students_law),
    };

    (void)gsl_set_error_handler_off(); /* it would end the process where GSL's search does not converge */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
