/* The laws of what noise adds to a phase, and the largest of n draws.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/model.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/order.h"
#include "features/model/law.h"
#include "law_testing.h"

#define EULER 0.57721566490153286060651209

static void exponential_maxima_are_harmonic_numbers(void **state)
{
    iw_law *law = make("phase-exp:100%", MS);
    long double sum = 0;

    (void)state;
    for (int n = 1; n <= 1000000; n++) {
        sum += 1.0L / n;
        if (n < 100 || n % 99991 == 0 || n == 1000000) {
            assert_close(iw_law_mean_max_ns(law, n) / MS, (double)sum, 1e-12);
        }
    }
    iw_law_free(law);
}

/* H_n = ln n + gamma + 1/(2n) - 1/(12 n^2) + ... */
static void exponential_maxima_of_a_thousand_million_ranks_are_exact(void **state)
{
    static const double ns[] = {1e7, 1e8, 123456789, 1e9};

    (void)state;
    for (size_t i = 0; i < sizeof ns / sizeof ns[0]; i++) {
        const long double n = ns[i];

        assert_close(mean_max("phase-exp:100%", MS, ns[i]) / MS,
                     (double)(logl(n) + (long double)EULER + 1 / (2 * n) - 1 / (12 * n * n)), 1e-10);
    }
    assert_close(mean_max("phase-exp:100%", MS, 1e9) / MS, 21.30048150234794, 1e-13);
}

static void pareto_maxima_are_the_product_of_the_paper(void **state)
{
    static const char *const shapes[] = {"1.01", "1.5", "2", "3", "7.5", "100"};

    (void)state;
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
        const long double a = strtold(shapes[s], NULL);
        long double product = 1;
        char spec[64];
        iw_law *law;

        snprintf(spec, sizeof spec, "phase-pareto:100%%,%s", shapes[s]);
        law = make(spec, MS);
        for (int n = 1; n <= 200000; n++) {
            product *= n * a / (n * a - 1);
            if (n < 60 || n % 9973 == 0) { /* draws are (a-1)/a X */
                assert_close(iw_law_mean_max_ns(law, n) / MS, (double)(product * (a - 1) / a), 1e-11);
            }
        }
        iw_law_free(law);
    }
}

/* Gamma(z)/Gamma(z-b) = (z-b/2-1/2)^b (1 + b(1-b)(1+b)... / (24 (z-b/2-1/2)^2) ...): Tricomi and Erdelyi's
 * series in the middle has only even powers; its first correction is b (1-b^2) / (24 m^2) at m = z - (b+1)/2.
 */
static void pareto_maxima_of_a_thousand_million_ranks_are_exact(void **state)
{
    static const double shapes[] = {1.1, 1.5, 2, 3, 10};

    (void)state;
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
        for (double n = 1e4; n <= 1e9; n *= 10) {
            const long double a = shapes[s], b = 1 / a, m = (long double)n + 1 - (b + 1) / 2;
            const long double ratio = powl(m, b) * (1 + b * (1 - b * b) / (24 * m * m));
            char spec[64];

            snprintf(spec, sizeof spec, "phase-pareto:100%%,%.17g", shapes[s]);
            assert_close(mean_max(spec, MS, n) / MS, (double)(ratio * tgammal(1 - b) * (a - 1) / a), 1e-10);
        }
    }
    /* A = 2: sqrt(pi) Gamma(n+1)/Gamma(n+1/2) */
    assert_close(mean_max("phase-pareto:100%,2", MS, 1e9) / MS,
                 (double)(0.5L * sqrtl(3.14159265358979323846L) * sqrtl(1e9L) * (1 + 1 / 8e9L)), 1e-13);
}

static void pareto_maxima_lie_between_the_bounds_of_the_paper(void **state)
{
    (void)state;
    for (double n = 1; n <= 1e9; n *= 3) {
        const double a = 1.5, unit = (a - 1) / a;
        const double mean = mean_max("phase-pareto:100%,1.5", MS, n) / MS / unit;

        assert_true(mean >= pow(n, 1 / a) * pow(a / (a - 1), 1 / a) * (1 - 1e-12));
        assert_true(mean <= pow(n, 1 / a) * a / (a - 1) * (1 + 1e-12));
    }
}

static void pareto_without_a_mean_has_no_mean_maximum(void **state)
{
    iw_law *law = make("pareto:1%,1", MS);

    (void)state;
    assert_true(isinf(iw_law_mean_max_ns(law, 1)));
    assert_true(iw_law_cdf(law, 1e12) < 1);
    iw_law_free(law);
}

static void shares_of_all_time_become_shares_of_the_work(void **state)
{
    (void)state;
    assert_close(mean_max("exp:10%", MS, 1), MS * 0.1 / 0.9, 1e-14);
    assert_close(mean_max("pareto:10%,3", MS, 1), MS * 0.1 / 0.9, 1e-14);
    assert_close(mean_max("phase-exp:10%", MS, 1), MS * 0.1, 1e-14);
}

static void bernoulli_maxima_rise_and_saturate(void **state)
{
    (void)state;
    assert_close(mean_max("bernoulli:1%,2ms", MS, 1), 0.02 * MS, 1e-14);
    assert_close(mean_max("bernoulli:1%,2ms", MS, 100), 2 * MS * (1 - pow(0.99, 100)), 1e-13);
    assert_close(mean_max("bernoulli:0.0000001%,2ms", MS, 1e3), 2 * MS * 1e-6, 1e-6);
    assert_close(mean_max("bernoulli:1%,2ms", MS, 1e9), 2 * MS, 1e-14);
    assert_close(mean_max("bernoulli:1,2ms", MS, 1), 2 * MS, 1e-14);
    assert_true(mean_max("bernoulli:0,2ms", MS, 1e9) == 0);
}

static void the_integral_gives_what_closed_forms_give(void **state)
{
    iw_law *law = make("phase-exp:5%", MS);

    (void)state;
    for (double n = 1; n <= 1e12; n *= 7) {
        assert_close(iwi_law_integrate(law, n), iw_law_mean_max_ns(law, n), 1e-12);
    }
    iw_law_free(law);
}

/* Rule 6 of docs/explanation/semantics.md, detour by detour; the next one begins `next` after the work. */
static double walked_loss(double work, double period, double duration, double next)
{
    double now = 0, left = work;

    for (double start = next;; start += period) {
        if (start > now && left <= start - now) {
            return now + left - work;
        }
        left -= fmax(start - now, 0);
        now = fmax(now, start + duration);
    }
}

/* Of ascending values, each drawn as often as any other. */
static double drawn_mean_max(const double *values, int count, double n)
{
    double sum = 0;

    for (int i = 0; i < count; i++) {
        sum += values[i] * (pow((i + 1.0) / count, n) - pow((double)i / count, n));
    }
    return sum;
}

static double drawn_share_up_to(const double *values, int count, double x)
{
    int below = 0;

    while (below < count && values[below] <= x) {
        below++;
    }
    return (double)below / count;
}

static void periodic_loss_is_that_of_walking_from_every_phase(void **state)
{
    enum { PHASES = 20000 };
    static const double works_us[] = {1, 250, 990, 999, 1000, 1990, 5000.5};
    double *values = calloc(PHASES, sizeof *values);

    (void)state;
    for (size_t w = 0; w < sizeof works_us / sizeof works_us[0]; w++) {
        iw_law *law = make("periodic:1kHz,10us", works_us[w] * 1e3);

        for (int i = 0; i < PHASES; i++) {
            values[i] = walked_loss(works_us[w] * 1e3, 1e6, 1e4, (i + 0.5) * 1e6 / PHASES - 1e4);
        }
        iwi_sort_doubles(values, PHASES);
        for (double n = 1; n < 2000; n *= 4) {
            assert_close(iw_law_mean_max_ns(law, n), drawn_mean_max(values, PHASES, n), 2e-2);
        }
        for (double x = 0; x < 7e4; x += 777) {
            assert_true(fabs(iw_law_cdf(law, x) - drawn_share_up_to(values, PHASES, x)) < 2e-4);
        }
        iw_law_free(law);
    }
    free(values);
}

static void periodic_noise_takes_nothing_from_no_work(void **state)
{
    (void)state;
    assert_true(mean_max("periodic:1kHz,10us", 0, 1e6) == 0);
}

static void all_ranks_lose_the_most_that_periodic_noise_can_take(void **state)
{
    (void)state; /* 3.5 ms of work in pieces of 990 us: 3 whole detours on everyone, 4 on most */
    assert_close(mean_max("periodic:1kHz,10us", 3.5 * MS, 1e9), 4e4, 1e-9);
    assert_close(mean_max("periodic:0.001Hz,10us", 1, 1), 1e4 * (1 + 5e3) / 1e12, 1e-3);
}

static void work_of_less_than_nothing_is_refused(void **state)
{
    iw_law *law;

    (void)state;
    assert_status(iw_law_new(NULL, "exp:1%", -1, &law), IW_ERR_RANGE);
}

static void what_is_no_law_is_refused_with_the_laws(void **state)
{
    static const struct {
        const char *spec, *part;
        iw_status status;
    } cases[] = {{"expo:1%", "use one of exp:F, pareto:F,A, bernoulli:P,TIME,", IW_ERR_FORMAT},
                 {"exp:100%", "cannot take 100% of all time", IW_ERR_RANGE},
                 {"exp:", "write exp:F, for example 'exp:1%'", IW_ERR_FORMAT},
                 {"pareto:1%", "write pareto:F,A", IW_ERR_FORMAT},
                 {"pareto:1%,0", "A is '0', not a number above 0", IW_ERR_RANGE},
                 {"bernoulli:2,1ms", "is above 1", IW_ERR_RANGE},
                 {"periodic:1kHz,1ms", "fill the whole period", IW_ERR_RANGE}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct iwt_log l;
        iw_law *law = NULL;

        iwt_log_init(&l);
        assert_status(iw_law_new(&l.log, cases[i].spec, MS, &law), cases[i].status);
        iwt_assert_logged(&l, cases[i].part);
        assert_int_equal(l.errors, 1);
        assert_null(law);
    }
}

static void laws_name_the_noise_that_simulations_draw(void **state)
{
    static const char *const cases[][2] = {{"exp:10%", "phase-exp:0.111111111111111"},
                                           {"pareto:20%,1.5", "phase-pareto:0.250000000000000,1.5"},
                                           {"bernoulli:1%,2ms", "bernoulli:1%,2ms"},
                                           {"phase-exp:1%", "phase-exp:1%"}};
    char buf[96];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        iw_law *law = make(cases[i][0], MS);

        assert_string_equal(iw_law_noise_spec(law, cases[i][0], buf, sizeof buf), cases[i][1]);
        iw_law_free(law);
    }
    iw_law_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exponential_maxima_are_harmonic_numbers),
        cmocka_unit_test(exponential_maxima_of_a_thousand_million_ranks_are_exact),
        cmocka_unit_test(pareto_maxima_are_the_product_of_the_paper),
        cmocka_unit_test(pareto_maxima_of_a_thousand_million_ranks_are_exact),
        cmocka_unit_test(pareto_maxima_lie_between_the_bounds_of_the_paper),
        cmocka_unit_test(pareto_without_a_mean_has_no_mean_maximum),
        cmocka_unit_test(shares_of_all_time_become_shares_of_the_work),
        cmocka_unit_test(bernoulli_maxima_rise_and_saturate),
        cmocka_unit_test(the_integral_gives_what_closed_forms_give),
        cmocka_unit_test(periodic_loss_is_that_of_walking_from_every_phase),
        cmocka_unit_test(periodic_noise_takes_nothing_from_no_work),
        cmocka_unit_test(all_ranks_lose_the_most_that_periodic_noise_can_take),
        cmocka_unit_test(work_of_less_than_nothing_is_refused),
        cmocka_unit_test(what_is_no_law_is_refused_with_the_laws),
        cmocka_unit_test(laws_name_the_noise_that_simulations_draw),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
