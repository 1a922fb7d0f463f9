/* Fits laws to the detours of a recording: groups, specs, how well they agree.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/recordings/fit/fit.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "core/base/opts.h"
#include "features/recordings/recordings.h"

static iw_status look_at(const iw_log *log, const iw_recording *recording, iw_noise_fit *fit)
{
    if (iw_probe_has_quanta(recording->probe)) {
        return iwi_fail(
            log, IW_ERR_UNSUPPORTED,
            "this recording has quanta (%s), which may hold several detours each: laws are fitted "
            "to single detours, so record with the probe selfish",
            iw_probe_name(recording->probe));
    }
    for (size_t i = 0; i < recording->cpu_count; i++) {
        fit->watched_ns += (double)recording->cpus[i].length_ns;
        fit->threshold_ns = fmax(fit->threshold_ns, recording->cpus[i].threshold_ns);
        fit->dropped += recording->cpus[i].dropped;
    }
    if (!(fit->watched_ns > 0.0)) {
        return iwi_fail(log, IW_ERR_RANGE, "this recording watched no time, so there is nothing to fit");
    }
    return IW_OK;
}

static iw_status fill(const iw_log *log, const iw_recording *recording, const iw_noise_fit *first,
                      iw_noise_fit *fit)
{
    IW_TRY(look_at(log, recording, fit));
    IW_TRY(iwi_fit_groups(log, recording, first, fit));
    IW_TRY(iwi_fit_specs(log, fit));
    return first == NULL ? iwi_fit_set_agreement(log, recording, fit) : IW_OK;
}

static void name_it(const iw_recording *recording, iw_noise_fit *fit)
{
    const char *host = iw_recording_get(recording, "host"), *name = fit->opts.name;

    if (host == NULL || host[0] == '\0') {
        host = name != NULL ? name : "the recording";
    }
    snprintf(fit->name, sizeof fit->name, "%s", host);
    fit->opts.name = NULL; /* the caller's */
}

static iw_status fit_new(const iw_log *log, const iw_recording *recording, const iw_noise_fit *first,
                         const iw_fit_opts *opts, iw_noise_fit **fit_p)
{
    iw_noise_fit *fit = iwi_new_array(log, 1, sizeof *fit);
    iw_status status;

    if (fit == NULL) {
        return IW_ERR_NOMEM;
    }
    fit->opts = *opts;
    iw_caveats_of_recording(recording, opts->name != NULL ? opts->name : "the recording", &fit->caveats);
    name_it(recording, fit);
    status = fill(log, recording, first, fit);
    if (status != IW_OK) {
        iw_noise_fit_free(fit);
        return status;
    }
    *fit_p = fit;
    return IW_OK;
}

iw_status iw_noise_fit_new(const iw_log *log, const iw_recording *recording, const iw_fit_opts *given,
                           iw_noise_fit **fit_p)
{
    iw_fit_opts opts = IW_FIT_OPTS_INIT;

    IW_TRY(IWI_READ_OPTS(log, "IW_FIT_OPTS_INIT", given, &opts));
    return fit_new(log, recording, NULL, &opts, fit_p);
}

iw_status iwi_fit_redrawn(const iw_log *log, const iw_recording *recording, const iw_noise_fit *first,
                          iw_noise_fit **fit_p)
{
    const iw_fit_opts opts = {.size = sizeof opts, .seed = first->opts.seed};

    return fit_new(log, recording, first, &opts, fit_p);
}

void iw_noise_fit_free(iw_noise_fit *fit)
{
    if (fit == NULL) {
        return;
    }
    for (size_t i = 0; i < fit->group_count; i++) {
        iwi_durations_release(&fit->groups[i].durations);
        iwi_durations_release(&fit->groups[i].beats);
        iwi_durations_release(&fit->groups[i].others);
    }
    free(fit->specs);
    free(fit->groups);
    free(fit);
}
