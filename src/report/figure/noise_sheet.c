/* Recordings and spectra as pictures for papers.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "analysis/recording_stats.h"
#include "base/base.h"
#include "report/figure/noise_figure.h"
#include "report/figure/spectrum_figure.h"

enum { TITLE_COLUMNS = 48 };

/* ---- recordings ---- */

static void write_title(const iw_recording *detours, const iw_noise_facts *facts, const char *name,
                        double length_ns, char title[IWI_PARAGRAPH_SIZE])
{
    char host[IWI_NAME_SIZE], percent[IWI_NUMBER_SIZE], time[IWI_NUMBER_SIZE];

    iwi_append(title, "%s: %s noise, %zu CPU%s, %s",
               iwi_plain_name(iwi_host_name(detours, name), TITLE_COLUMNS, host),
               iwi_share_text(facts->all.share, percent), detours->cpu_count,
               detours->cpu_count == 1 ? "" : "s", iwi_ns_round_text(length_ns, time));
}

static iw_status draw(const iw_log *log, const iw_recording *detours, const iw_noise_facts *facts,
                      const char *name, const char *path)
{
    struct iwi_figure *figures[2] = {NULL, NULL};
    char title[IWI_PARAGRAPH_SIZE] = "";
    const struct iwi_sheet sheet = {.name = "noise", .title = title, .count = 2, .figures = figures};
    iw_status status = iwi_noise_scatter_figure(log, detours, facts, IWI_SCATTER_POINTS, &figures[0]);

    if (status == IW_OK && figures[0] == NULL) {
        return iwi_fail(log, IW_ERR_RANGE, "there is nothing to draw: no detours");
    }
    if (status == IW_OK) {
        write_title(detours, facts, name, figures[0]->x.high, title);
        status = iwi_noise_rates_figure(log, detours, facts, &figures[1]);
    }
    if (status == IW_OK) {
        status = iwi_sheet_plot(log, &sheet, path);
    }
    iwi_figure_free(figures[0]);
    iwi_figure_free(figures[1]);
    return status;
}

iw_status iw_noise_plot(const iw_log *log, const iw_recording *recording, const iw_noise_facts *facts,
                        const char *name, const char *path)
{
    const iw_recording *detours;
    iw_recording *losses;
    iw_status status;

    IW_TRY(iwi_sheet_check(log, path));
    IW_TRY(iwi_detours_of(log, recording, &detours, &losses));
    status = draw(log, detours, facts, name, path);
    iwi_losses_free(losses);
    return status;
}

/* ---- spectra ---- */

iw_status iw_spectrum_plot(const iw_log *log, const iw_recording *recording,
                           const iw_noise_spectrum *spectrum, const char *name, const char *path)
{
    char title[IWI_PARAGRAPH_SIZE] = "", host[IWI_NAME_SIZE], time[IWI_NUMBER_SIZE];
    struct iwi_figure *figure;
    const struct iwi_sheet sheet = {.name = "spectrum", .title = title, .count = 1, .figures = &figure};
    iw_status status;

    IW_TRY(iwi_sheet_check(log, path));
    if (spectrum->highest_ratio <= 0.0) {
        return iwi_fail(log, IW_ERR_RANGE, "there is nothing to draw: no noise");
    }
    iwi_append(title, "%s: spectrum of the noise, ",
               iwi_plain_name(iwi_host_name(recording, name), TITLE_COLUMNS, host));
    if (spectrum->opts.cpu >= 0) {
        iwi_append(title, "CPU %" PRId64, spectrum->opts.cpu);
    } else {
        iwi_append(title, "%zu CPU%s", spectrum->cpu_count, spectrum->cpu_count == 1 ? "" : "s");
    }
    iwi_append(title, ", %zu windows of %s", spectrum->windows, iwi_ns_round_text(spectrum->window_ns, time));
    IW_TRY(iwi_spectrum_figure(log, spectrum, IWI_SPECTRUM_POINTS, &figure));
    status = iwi_sheet_plot(log, &sheet, path);
    iwi_figure_free(figure);
    return status;
}
