/* The parts of a recording's page.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_HTML_NOISE_H
#define IWI_HTML_NOISE_H

#include "report/html/html.h"
#include "report/kinds/noise_report.h"

struct iwi_noise_page {
    const iw_recording *recording;
    const iw_noise_facts *facts;
    const char *name;
};

/* A section on the frequencies of the noise. */
IW_NODISCARD iw_status iwi_html_noise_spectrum(struct iwi_html *html, const struct iwi_noise_page *page);

IW_NODISCARD iw_status iwi_noise_html(const iw_log *log, const struct iwi_noise_page *page, FILE *out);

#endif
