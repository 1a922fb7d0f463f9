/* Which frequencies the noise of a recording has: lines, what carries them, power over frequency.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "report/html/html_noise.h"

#include "base/base.h"
#include "report/figure/spectrum_figure.h"

/* ---- lines ---- */

static void write_lines(FILE *out, const iw_recording *recording, const iw_noise_spectrum *spectrum)
{
    static const char *const heads[] = {"Line",      "Frequency",    "Period", "Times the floor",
                                        "Harmonics", "Share of time"};
    char number[IWI_NUMBER_SIZE];

    iwi_html_table_begin(out, "Lines that stand out, the strongest first");
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        iwi_html_head(out, false, "%s", heads[i]);
    }
    iwi_html_head(out, true, "Carried by");
    iwi_html_table_body(out);
    for (size_t i = 0; i < spectrum->line_count; i++) {
        const iw_spectral_line *line = &spectrum->lines[i];
        char carriers[IWI_PARAGRAPH_SIZE] = "";

        iwi_spectrum_carriers(recording, spectrum, i, carriers);
        iwi_html_row_begin(out);
        iwi_html_cell(out, IWI_CELL_ROW_HEAD, "%zu", i + 1);
        iwi_html_cell(out, IWI_CELL_NUMBER, "%s", iwi_frequency_text(spectrum, line->frequency_hz, number));
        iwi_html_cell(out, IWI_CELL_NUMBER, "%s", iwi_ns_short_text(1e9 / line->frequency_hz, number));
        iwi_html_cell(out, IWI_CELL_NUMBER, "%s", iwi_ratio_text(line->ratio, number));
        iwi_html_cell(out, IWI_CELL_NUMBER, "%zu", line->harmonics);
        iwi_html_cell(out, IWI_CELL_NUMBER, "%s", iwi_share_text(line->share, number));
        iwi_html_cell(out, IWI_CELL_WORDS, "%s", carriers[0] != '\0' ? carriers : "-");
        iwi_html_row_end(out);
    }
    iwi_html_table_end(out);
}

/* ---- plot ---- */

static iw_status write_figure(struct iwi_html *html, const iw_noise_spectrum *spectrum)
{
    struct iwi_figure *figure;
    iw_status status = IW_OK;

    IW_TRY(iwi_spectrum_figure(html->log, spectrum, IWI_SPECTRUM_POINTS, &figure));
    if (figure != NULL) {
        status = iwi_html_figure(html, figure);
        iwi_figure_free(figure);
    }
    return status;
}

/* ---- section ---- */

static void write_note(void *arg, const char *text)
{
    iwi_html_paragraph(arg, "note", "%s", text);
}

static iw_status write_section(struct iwi_html *html, const struct iwi_noise_page *page,
                               const iw_noise_spectrum *spectrum)
{
    char verdict[IWI_PARAGRAPH_SIZE] = "";

    iwi_spectrum_verdict(page->recording, spectrum, page->name, verdict);
    iwi_html_paragraph(html->out, NULL, "%s", verdict);
    if (spectrum->highest_ratio <= 0.0) {
        return IW_OK;
    }
    if (spectrum->line_count > 0) {
        write_lines(html->out, page->recording, spectrum);
    }
    IW_TRY(write_figure(html, spectrum));
    iwi_spectrum_notes(page->recording, spectrum, write_note, html->out);
    return IW_OK;
}

iw_status iwi_html_noise_spectrum(struct iwi_html *html, const struct iwi_noise_page *page)
{
    char why_not[IWI_PARAGRAPH_SIZE] = "";
    iw_noise_spectrum *spectrum = NULL;
    iw_status status = IW_OK;

    IW_TRY(iwi_report_spectrum(html->log, page->recording, &spectrum, why_not));
    iwi_html_section(html->out, "spectrum", "What comes at regular intervals");
    if (spectrum == NULL) {
        iwi_html_paragraph(html->out, NULL, "%s", why_not);
    } else {
        status = write_section(html, page, spectrum);
        iw_noise_spectrum_free(spectrum);
    }
    return status;
}
