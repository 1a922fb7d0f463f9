/* Does the fit stand for the recording? Noise is made of its specs, and compared.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include <idlewave/recording.h>

#include "core/base/base.h"
#include "features/recordings/fit/fit.h"

/* Made recordings of more detours are cut shorter. */
static const double MOST_MADE = 5e5;

/* Of the comparison: its interval, not a p-value, is what is told. */
enum { REPLICATES = 400 };

static double made_rate_hz(const iw_noise_fit *fit)
{
    double rate_hz = 0.0;

    for (size_t i = 0; i < fit->spec_count; i++) {
        rate_hz += fit->specs[i].rate_hz;
    }
    return rate_hz;
}

static iw_status make(const iw_recording *recording, const iw_noise_fit *fit, iw_recording **made_p)
{
    const char *specs[IW_NOISE_MAX_SOURCES];
    iw_synth_opts opts = IW_SYNTH_OPTS_INIT;
    iw_edit edit;

    opts.duration_ns = 0;
    for (size_t i = 0; i < recording->cpu_count; i++) {
        opts.duration_ns = iwi_max(opts.duration_ns, recording->cpus[i].length_ns);
    }
    opts.cpu_count = recording->cpu_count;
    opts.duration_ns = (int64_t)fmin((double)opts.duration_ns,
                                     MOST_MADE * 1e9 / (made_rate_hz(fit) * (double)opts.cpu_count));
    for (size_t i = 0; i < fit->spec_count; i++) {
        specs[i] = fit->specs[i].text;
    }
    opts.specs = specs;
    opts.spec_count = fit->spec_count;
    opts.seed = fit->opts.seed;
    opts.threshold_ns = fit->threshold_ns;
    return iw_recording_synth(NULL, &opts, made_p, &edit);
}

/* What cannot be made (no time would be left to work) or compared is left unknown. */
iw_status iwi_fit_set_agreement(const iw_log *log, const iw_recording *recording, iw_noise_fit *fit)
{
    iw_compare_opts opts = IW_COMPARE_OPTS_INIT;
    iw_noise_comparison *comparison = NULL;
    iw_recording *made = NULL;
    iw_status status;

    fit->agreement = (iw_fit_agreement){.is_known = false};
    if (fit->spec_count == 0) {
        return IW_OK;
    }
    opts.seed = fit->opts.seed;
    opts.replicates = REPLICATES;
    status = make(recording, fit, &made);
    if (status == IW_OK) {
        status = iw_noise_compare(NULL, recording, made, &opts, &comparison);
    }
    if (status == IW_OK) {
        const iw_compare_value *share = &comparison->metrics[IW_COMPARE_SHARE];
        const iw_compare_value *rate_hz = &comparison->metrics[IW_COMPARE_RATE];

        fit->agreement = (iw_fit_agreement){.is_known = true,
                                            .length_ns = made->cpus[0].length_ns,
                                            .recorded = share->a,
                                            .made = share->b,
                                            .difference = share->difference,
                                            .recorded_hz = rate_hz->a,
                                            .made_hz = rate_hz->b,
                                            .durations = comparison->ks};
    }
    iw_noise_comparison_free(comparison);
    iw_recording_free(made);
    return status == IW_ERR_NOMEM ? iwi_fail(log, status, "out of memory for noise made of the fit") : IW_OK;
}
