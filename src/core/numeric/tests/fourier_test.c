/* Power by frequency, compared with the GNU Scientific Library and with what is known.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <gsl/gsl_fft_real.h>

#include <string.h>

#include "compare.h"

#include "core/base/rng.h"
#include "core/numeric/numeric.h"

enum { MOST = 1 << 12 };

static void power_of(const double *values, size_t count, double *power)
{
    static double turns[2 * MOST], lost[MOST];

    memcpy(lost, values, count * sizeof *values);
    iwi_fourier_turns(count, turns);
    iwi_fourier_power(lost, count, turns, power);
}

static void it_is_that_of_another_library(void **state)
{
    static double values[MOST], theirs[MOST], power[MOST / 2];

    (void)state;
    for (size_t count = 2; count <= MOST; count *= 2) {
        double most = 0.0;

        for (size_t i = 0; i < count; i++) {
            values[i] = theirs[i] =
                1e-9 * (double)(iwi_draw_below((struct iwi_draw_id){.seed = count}, i, 2000000000)) - 1.0;
        }
        power_of(values, count, power);
        gsl_fft_real_radix2_transform(theirs, 1, count);
        for (size_t k = 0; k < count / 2; k++) {
            most = fmax(most, power[k]);
        }
        for (size_t k = 0; k < count / 2; k++) {
            const double im = k > 0 ? theirs[count - k] : 0.0;

            assert_near(power[k] + most, theirs[k] * theirs[k] + im * im + most, CLOSE);
        }
    }
}

/* A cosine of 5 turns has its power, (n/2)^2, at 5. */
static void a_tone_is_one_line(void **state)
{
    double values[64], power[32];

    (void)state;
    for (size_t i = 0; i < 64; i++) {
        values[i] = cos(2.0 * M_PI * 5.0 * (double)i / 64.0);
    }
    power_of(values, 64, power);
    for (size_t k = 0; k < 32; k++) {
        assert_near(power[k] + 1.0, (k == 5 ? 32.0 * 32.0 : 0.0) + 1.0, CLOSE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_that_of_another_library),
        cmocka_unit_test(a_tone_is_one_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
