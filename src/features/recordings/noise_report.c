/* All that is shown of a recording, in one struct.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/analysis.h>

#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "features/recordings/noise_cost.h"
#include "features/recordings/noise_picture.h"
#include "kit/facts/recording_stats.h"

enum { REASON_SIZE = 512 };

static void keep_reason(void *arg, iw_log_level level, const char *text)
{
    (void)level;
    snprintf(arg, REASON_SIZE, "%s", text);
}

/* A recording that is too short for a spectrum is reported all the same. */
static iw_status add_spectrum(const iw_log *log, const iw_recording *recording, iw_noise_report *report)
{
    iw_spectrum_opts opts = IW_SPECTRUM_OPTS_INIT;
    char reason[REASON_SIZE] = "";
    const iw_log keeping = {keep_reason, reason};
    iw_status status;

    opts.name = report->name;
    status = iw_noise_spectrum_new(&keeping, recording, &opts, &report->spectrum);
    if (status == IW_ERR_RANGE) {
        report->no_spectrum = strdup(reason);
        return report->no_spectrum != NULL ? IW_OK : iwi_fail(log, IW_ERR_NOMEM, "out of memory");
    }
    return status == IW_OK ? IW_OK : iwi_fail(log, status, "%s", reason);
}

static iw_status add_picture(const iw_log *log, const iw_recording *recording, iw_noise_report *report)
{
    iw_recording *losses = NULL;
    iw_status status;

    if (iw_probe_has_quanta(recording->probe)) {
        IW_TRY(iwi_losses_new(log, recording, &losses));
    }
    status =
        iwi_noise_picture_fill(log, losses != NULL ? losses : recording, &report->facts, &report->picture);
    iwi_losses_free(losses);
    return status;
}

iw_status iw_noise_report_init(const iw_log *log, const iw_recording *recording,
                               const iw_noise_report_opts *opts, iw_noise_report *report)
{
    iw_noise_facts *facts;
    iw_status status;

    IW_TRY(iw_noise_facts_new(log, recording, &facts));
    iw_caveats_of_recording(recording, opts->name, &facts->caveats);
    *report = (iw_noise_report){.name = opts->name, .facts = *facts, .recording = recording};
    free(facts); /* its lists are the report's now */
    status = add_picture(log, recording, report);
    if (status == IW_OK && opts->has_cost && !report->facts.load.is_busy) {
        status = iwi_noise_cost_find(recording, &report->cost);
    }
    if (status == IW_OK && opts->has_spectrum) {
        status = add_spectrum(log, recording, report);
    }
    if (status != IW_OK) {
        iw_noise_report_release(report);
    }
    return status;
}

void iw_noise_report_release(iw_noise_report *report)
{
    free(report->facts.sources);
    free(report->facts.cpus);
    free(report->picture.points);
    free(report->picture.bins);
    iw_noise_spectrum_free(report->spectrum);
    free(report->no_spectrum);
}
