/* Which frequencies the noise of a recording has: lines, what carries them, power over frequency.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "report/html_noise.h"

#include <math.h>

#include "base/base.h"
#include "report/spectrum_parts.h"

enum { COLUMNS = 600, ROWS_PER_DECADE = 5 };

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

static double power_near(const iw_noise_spectrum *spectrum, double frequency_hz)
{
    const size_t last = spectrum->count - 1;
    const size_t bin = (size_t)fmin(round(frequency_hz / spectrum->step_hz), (double)last);

    return fmax(spectrum->power[bin],
                fmax(spectrum->power[bin > 0 ? bin - 1 : 0], spectrum->power[bin < last ? bin + 1 : last]));
}

/* [frequency, power, text] of those that the axis has. */
static json_t *marks_of(const iw_noise_spectrum *spectrum)
{
    json_t *marks = json_array();
    char frequency[IWI_NUMBER_SIZE];

    for (size_t i = 0; i < spectrum->line_count; i++) {
        const double hz = spectrum->lines[i].frequency_hz, power = power_near(spectrum, hz);

        if (hz >= spectrum->lowest_hz && hz <= spectrum->opts.max_frequency_hz && power > 0.0) {
            (void)json_array_append_new(marks,
                                        json_pack("[o, o, s]", iwi_html_number(hz), iwi_html_number(power),
                                                  iwi_frequency_text(spectrum, hz, frequency)));
        }
    }
    return marks;
}

static json_t *data_of(const iw_noise_spectrum *spectrum)
{
    json_t *points = json_array();
    double low, high;

    if (!iwi_spectrum_decades(spectrum, COLUMNS, &low, &high)) {
        json_decref(points);
        return NULL;
    }
    for (size_t i = 0; i < COLUMNS; i++) {
        const struct iwi_spectrum_column column = iwi_spectrum_column(spectrum, i, COLUMNS);

        (void)json_array_append_new(points,
                                    json_pack("[o, o, o]", iwi_html_number(column.frequency_hz),
                                              iwi_html_number(column.power), iwi_html_number(column.floor)));
    }
    return json_pack("{s:s, s:[{s:s, s:i}, {s:s, s:i}], s:[o, o], s:[o, o], s:o, s:o}", "kind", "spectrum",
                     "series", "label", "power", "style", 0, "label", "floor", "style", 6, "frequencies",
                     iwi_html_number(spectrum->lowest_hz), iwi_html_number(spectrum->opts.max_frequency_hz),
                     "powers", iwi_html_number(pow(10.0, low)), iwi_html_number(pow(10.0, high)), "points",
                     points, "lines", marks_of(spectrum));
}

/* A coarse spectrum: of each stretch of frequencies the highest power. */
static void write_table(FILE *out, const void *arg)
{
    const iw_noise_spectrum *spectrum = arg;
    const double decades = log10(spectrum->opts.max_frequency_hz / spectrum->lowest_hz);
    const size_t rows = (size_t)fmax(ceil(decades * ROWS_PER_DECADE), 1.0);
    char number[IWI_NUMBER_SIZE];

    iwi_html_head(out, false, "Around");
    iwi_html_head(out, false, "Highest power [1/Hz]");
    iwi_html_head(out, false, "Floor [1/Hz]");
    iwi_html_head(out, false, "Times the floor");
    iwi_html_table_body(out);
    for (size_t i = 0; i < rows; i++) {
        const struct iwi_spectrum_column column = iwi_spectrum_column(spectrum, i, rows);

        iwi_html_row_begin(out);
        iwi_html_cell(out, IWI_CELL_ROW_HEAD, "%.3g Hz", column.frequency_hz);
        iwi_html_cell(out, IWI_CELL_NUMBER, "%.3g", column.power);
        iwi_html_cell(out, IWI_CELL_NUMBER, "%.3g", column.floor);
        iwi_html_cell(out, IWI_CELL_NUMBER, "%s",
                      column.floor > 0.0 ? iwi_ratio_text(column.power / column.floor, number) : "-");
        iwi_html_row_end(out);
    }
}

static iw_status write_figure(struct iwi_html *html, const iw_noise_spectrum *spectrum)
{
    static const char message[] =
        "Power of the share of time that is lost, over frequency. Peaks above the floor are noise that comes "
        "at regular intervals; triangles mark the lines. Both axes are logarithmic.";

    return iwi_html_figure(html, &(struct iwi_figure){.title = "Spectrum",
                                                      .message = message,
                                                      .data = data_of(spectrum),
                                                      .table_caption = "Highest power by frequency",
                                                      .write_table = write_table,
                                                      .arg = spectrum});
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
