/* Fits of recordings that were drawn anew.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <string.h>

#include <idlewave/recording.h>

#include "features/recordings/recordings.h"
#include "support/support.h"

/* A tick among three times as many others, and nothing that tells which is which. */
static iw_recording *made(void)
{
    static const char *const specs[] = {"periodic:100Hz,2us", "poisson:300Hz,lognormal:5us,0.5"};
    iw_synth_opts opts = IW_SYNTH_OPTS_INIT;
    iw_recording *recording = NULL;
    iw_edit edit;

    opts.specs = specs;
    opts.spec_count = 2;
    opts.duration_ns = INT64_C(30000000000);
    assert_ok(iw_recording_synth(NULL, &opts, &recording, &edit));
    memset(recording->cpus[0].source, 0, recording->cpus[0].count * sizeof *recording->cpus[0].source);
    recording->cpus[0].part_count = 0;
    return recording;
}

static iw_noise_fit *fitted(const iw_recording *recording)
{
    const iw_fit_opts opts = {.size = sizeof opts, .seed = 1, .replicates = 19};
    iw_noise_fit *fit = NULL;

    assert_ok(iw_noise_fit_new(NULL, recording, &opts, &fit));
    return fit;
}

/* Without a spectrum of its own, at the period of the first fit; its p and agreement are not asked for. */
static void a_redrawn_recording_has_the_specs_of_a_full_fit(void **state)
{
    iw_recording *recording = made(), *redrawn = NULL;
    iw_noise_fit *first, *full, *again = NULL;

    (void)state;
    assert_ok(iw_recording_resample(NULL, "made", recording, 30, 1, 1, &redrawn));
    first = fitted(recording);
    full = fitted(redrawn);
    assert_ok(iwi_fit_redrawn(NULL, redrawn, first, &again));
    assert_true(again->groups[0].arrivals.beats > 0 && !again->agreement.is_known);
    assert_int_equal(again->spec_count, full->spec_count);
    for (size_t i = 0; i < full->spec_count; i++) {
        assert_string_equal(again->specs[i].text, full->specs[i].text);
    }
    assert_string_not_equal(again->specs[1].text, first->specs[1].text);
    iw_noise_fit_free(again);
    iw_noise_fit_free(full);
    iw_noise_fit_free(first);
    iw_recording_free(redrawn);
    iw_recording_free(recording);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_redrawn_recording_has_the_specs_of_a_full_fit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
