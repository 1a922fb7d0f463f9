/* Sorting, selecting, quantiles of samples, and the quadrature.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <gsl/gsl_integration.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>

#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "core/base/order.h"

#include "core/base/rng.h"
#include "core/numeric/numeric.h"

enum { MOST = 300 };

/* Few different values: ties matter. */
static void draw(double *values, size_t count, uint64_t seed, unsigned different)
{
    for (size_t i = 0; i < count; i++) {
        values[i] = (double)(iwi_draw_below((struct iwi_draw_id){.seed = seed}, i, different)) - 3.0;
    }
}

static void sorting_and_selecting_agree(void **state)
{
    static const unsigned differents[] = {1, 2, 7, 1000000};

    (void)state;
    for (size_t count = 1; count < MOST; count += 1 + count / 9) {
        double sorted[MOST], ours[MOST], selected[MOST];

        for (size_t d = 0; d < sizeof differents / sizeof differents[0]; d++) {
            draw(sorted, count, count, differents[d]);
            memcpy(ours, sorted, sizeof ours);
            for (size_t index = 0; index < count; index += 1 + count / 7) {
                memcpy(selected, ours, sizeof ours);
                (void)iwi_select(selected, count, index);
                for (size_t i = 0; i < count; i++) {
                    assert_true(i < index ? selected[i] <= selected[index] : selected[i] >= selected[index]);
                }
            }
            memcpy(selected, ours, sizeof ours);
            gsl_sort(sorted, 1, count);
            assert_near(iwi_median(selected, count), gsl_stats_median_from_sorted_data(sorted, 1, count),
                        CLOSE);
            assert_near(iwi_mean(ours, count) + 4.0, gsl_stats_mean(ours, 1, count) + 4.0, CLOSE);
            iwi_sort_doubles(ours, count);
            assert_memory_equal(ours, sorted, count * sizeof *ours);
            for (double q = 0.0; q <= 1.0; q += 0.0625) {
                assert_near(iwi_quantile_of_sorted(ours, count, q),
                            gsl_stats_quantile_from_sorted_data(sorted, 1, count, q), CLOSE);
            }
        }
    }
    assert_true(isnan(iwi_quantile_of_sorted(NULL, 0, 0.5)));
}

static void the_quadrature(void **state)
{
    static const size_t counts[] = {1, 2, 5, 24, 64};

    (void)state;
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        gsl_integration_glfixed_table *table = gsl_integration_glfixed_table_alloc(counts[c]);
        double points[64], weights[64];

        iwi_gauss_legendre(counts[c], points, weights);
        for (size_t i = 0; i < counts[c]; i++) {
            double x, weight;

            (void)gsl_integration_glfixed_point(-1.0, 1.0, i, &x, &weight, table);
            assert_near(points[i] + 2.0, x + 2.0, 1e-15);
            assert_near(weights[i], weight, 1e-12);
        }
        gsl_integration_glfixed_table_free(table);
    }
}

/* Of n differences without ties, 2^n signs: all positive is one of them, all but the smallest the next. */
static void signed_ranks(void **state)
{
    const double all[] = {5.0, 1.0, 4.0, 2.0, 3.0}, but_smallest[] = {5.0, -1.0, 4.0, 2.0, 3.0},
                 none[] = {-5.0, -1.0, -4.0}, tied[] = {1.0, -1.0}, zeros[] = {0.0, 2.0, 0.0};
    double sum = 0.0;

    (void)state;
    assert_near(iwi_signed_ranks_above(all, 5), 1.0 / 32, CLOSE);
    assert_near(iwi_signed_ranks_above(but_smallest, 5), 2.0 / 32, CLOSE);
    assert_near(iwi_signed_ranks_above(none, 3), 1.0, CLOSE);
    assert_near(iwi_signed_ranks_above(tied, 2), 3.0 / 4, CLOSE); /* ranks 1.5 and 1.5: sums 0, 1.5, 1.5, 3 */
    assert_near(iwi_signed_ranks_above(zeros, 3), 1.0 / 2, CLOSE);
    assert_near(iwi_signed_ranks_above(NULL, 0), 1.0, CLOSE);
    assert_true(isnan(iwi_signed_ranks_above(all, IWI_MOST_SIGNED_RANKS + 1)));
    for (unsigned signs = 0; signs < 1U << 10; signs++) { /* as counted: so many sums are at least as high */
        double differences[10];

        for (unsigned i = 0; i < 10; i++) {
            differences[i] = (signs >> i & 1U) != 0 ? 1.0 + i : -1.0 - i;
        }
        sum += iwi_signed_ranks_above(differences, 10) <= 0.01;
    }
    assert_true(sum / (1U << 10) <= 0.01 && sum / (1U << 10) > 0.005);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorting_and_selecting_agree),
        cmocka_unit_test(the_quadrature),
        cmocka_unit_test(signed_ranks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
