/* A recording for people, with its spectrum: all that its page has, as text.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/analysis.h>

#include "base/base.h"
#include "report/kinds/spectrum_report.h"

static void keep_text(void *arg, iw_log_level level, const char *text)
{
    (void)level;
    iwi_append(arg, "%s", text);
}

iw_status iwi_report_spectrum(const iw_log *log, const iw_recording *recording,
                              iw_noise_spectrum **spectrum_p, char why_not[IWI_PARAGRAPH_SIZE])
{
    const iw_spectrum_opts opts = IW_SPECTRUM_OPTS_INIT;
    char said[IWI_PARAGRAPH_SIZE] = "";
    const iw_log keeping = {keep_text, said};
    const iw_status status = iw_noise_spectrum_new(&keeping, recording, &opts, spectrum_p);

    if (status == IW_ERR_RANGE) {
        *spectrum_p = NULL;
        snprintf(why_not, IWI_PARAGRAPH_SIZE, "Which frequencies it has cannot be told: %.900s.", said);
        return IW_OK;
    }
    return status == IW_OK ? IW_OK : iwi_fail(log, status, "%s", said);
}

iw_status iw_noise_write_report(const iw_log *log, const iw_recording *recording, const iw_noise_facts *facts,
                                const char *name, FILE *out)
{
    char why_not[IWI_PARAGRAPH_SIZE] = "";
    iw_noise_spectrum *spectrum = NULL;
    iw_status status;

    IW_TRY(iw_noise_write_text(log, recording, facts, name, out));
    IW_TRY(iwi_report_spectrum(log, recording, &spectrum, why_not));
    (void)fputc('\n', out);
    if (spectrum == NULL) {
        iwi_write_wrapped(out, why_not);
        return iwi_check_written(log, out, "the report");
    }
    status = iw_spectrum_write_text(log, recording, spectrum, name, out);
    iw_noise_spectrum_free(spectrum);
    return status;
}
