/* Spectra of files that cannot be.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include "features/recordings/noise_report.h"
#include "support/support.h"

static void a_range_that_is_none_is_refused(void **state)
{
    static const struct {
        double lowest_hz, highest_hz, step_hz;
        iw_status status;
    } cases[] = {{1.0, 100.0, 0.5, IW_OK},         {0.0, 100.0, 0.5, IW_ERR_FORMAT},
                 {1.0, 1.0, 0.5, IW_ERR_FORMAT},   {1.0, HUGE_VAL, 0.5, IW_ERR_FORMAT},
                 {1.0, 100.0, 0.0, IW_ERR_FORMAT}, {(double)NAN, 100.0, 0.5, IW_ERR_FORMAT}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        iw_noise_spectrum spectrum = {.lowest_hz = cases[i].lowest_hz, .step_hz = cases[i].step_hz};
        struct iwt_log l;

        iwt_log_init(&l);
        spectrum.opts.max_frequency_hz = cases[i].highest_hz;
        assert_status(iwi_spectrum_check(&l.log, "file", &spectrum), cases[i].status);
        assert_int_equal(l.errors, cases[i].status == IW_OK ? 0 : 1);
    }
}

static void a_source_of_a_line_that_is_not_there_is_refused(void **state)
{
    iw_spectral_source source = {.line = 1};
    iw_noise_spectrum spectrum = {.lowest_hz = 1.0, .step_hz = 0.5, .sources = &source, .source_count = 1};
    struct iwt_log l;

    (void)state;
    iwt_log_init(&l);
    spectrum.opts.max_frequency_hz = 100.0;
    assert_status(iwi_spectrum_check(&l.log, "file", &spectrum), IW_ERR_FORMAT);
    source.line = 0; /* none */
    assert_ok(iwi_spectrum_check(&l.log, "file", &spectrum));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_range_that_is_none_is_refused),
        cmocka_unit_test(a_source_of_a_line_that_is_not_there_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
