/* A spectrum as a picture for papers: power and floor over frequency, lines named.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "report/gnuplot.h"
#include "report/spectrum_parts.h"

enum {
    COLUMNS = 1400, /* of the highest powers: any spectrum makes a small picture */
    TITLE_COLUMNS = 48,
    MOST_LABELS = 6
};

static void write_title(FILE *script, const iw_recording *recording, const iw_noise_spectrum *spectrum,
                        const char *name)
{
    char title[IWI_PARAGRAPH_SIZE] = "", host[IWI_NAME_SIZE], time[IWI_NUMBER_SIZE];

    iwi_append(title, "%s: spectrum of the noise, ",
               iwi_plain_name(iwi_host_name(recording, name), TITLE_COLUMNS, host));
    if (spectrum->opts.cpu >= 0) {
        iwi_append(title, "CPU %" PRId64, spectrum->opts.cpu);
    } else {
        iwi_append(title, "%zu CPU%s", spectrum->cpu_count, spectrum->cpu_count == 1 ? "" : "s");
    }
    iwi_append(title, ", %zu windows of %s", spectrum->windows, iwi_ns_round_text(spectrum->window_ns, time));
    (void)fputs("set title ", script);
    iwi_gnuplot_quote(script, title);
    (void)fputs(" offset 0,2.5\n", script); /* above the labels of the lines */
}

static void write_points(FILE *script, const iw_noise_spectrum *spectrum, const char *block, bool is_floor)
{
    (void)fprintf(script, "$%s << END\n", block);
    for (size_t i = 0; i < COLUMNS; i++) {
        const struct iwi_spectrum_column column = iwi_spectrum_column(spectrum, i, COLUMNS);
        const double power = is_floor ? column.floor : column.power;

        if (power > 0.0) {
            iwi_write_real(script, column.frequency_hz);
            (void)fputc(' ', script);
            iwi_write_real(script, power);
            (void)fputc('\n', script);
        }
    }
    (void)fputs("END\n", script);
}

/* The strongest lines, each with its frequency at the top. */
static void write_labels(FILE *script, const iw_noise_spectrum *spectrum)
{
    char frequency[IWI_NUMBER_SIZE];

    for (size_t i = 0; i < spectrum->line_count && i < MOST_LABELS; i++) {
        const double frequency_hz = spectrum->lines[i].frequency_hz;

        (void)fputs("set label ", script);
        iwi_gnuplot_quote(script, iwi_frequency_text(spectrum, frequency_hz, frequency));
        (void)fputs(" at first ", script);
        iwi_write_real(script, frequency_hz);
        (void)fputs(", graph 1.02 rotate by 35 left textcolor rgb '#d55e00'\nset arrow from first ", script);
        iwi_write_real(script, frequency_hz);
        (void)fputs(", graph 0.98 to first ", script);
        iwi_write_real(script, frequency_hz);
        (void)fputs(", graph 1 nohead linecolor rgb '#d55e00' linewidth 2\n", script);
    }
}

static void write_script(FILE *script, const iw_recording *recording, const iw_noise_spectrum *spectrum,
                         const char *name, const char *terminal)
{
    write_points(script, spectrum, "power", false);
    write_points(script, spectrum, "floor", true);
    (void)fputs("set encoding utf8\n", script);
    (void)fputs(terminal, script);
    write_title(script, recording, spectrum, name);
    write_labels(script, spectrum);
    (void)fprintf(
        script,
        "set tmargin 7\nset logscale xy\nset grid linetype 1 linecolor rgb '#dddddd'\n"
        "set xlabel 'frequency [Hz]'\nset ylabel 'power of the share of time lost [1/Hz]'\n"
        "set format y '%%.0e'\nset format x '%%g'\nset key bottom left Left reverse\nset xrange [%.9g:%.9g]\n"
        "plot $power with lines linecolor rgb '#0072b2' title 'power', \\\n"
        "     $floor with lines linecolor rgb '#888888' linewidth 2 title 'floor'\n",
        spectrum->lowest_hz, spectrum->opts.max_frequency_hz);
}

iw_status iw_spectrum_plot(const iw_log *log, const iw_recording *recording,
                           const iw_noise_spectrum *spectrum, const char *name, const char *path)
{
    const char *terminal = iwi_gnuplot_terminal(path);
    iw_status status;
    FILE *script;

    if (terminal == NULL) {
        return iwi_fail(log, IW_ERR_USAGE, "'%s': pictures are .svg, .png or .pdf", path);
    }
    if (spectrum->highest_ratio <= 0.0) {
        return iwi_fail(log, IW_ERR_RANGE, "there is nothing to draw: no noise");
    }
    script = tmpfile();
    if (script == NULL) {
        return iwi_fail(log, IW_ERR_IO, "cannot create a temporary file: %s", strerror(errno));
    }
    write_script(script, recording, spectrum, name, terminal);
    status = iwi_gnuplot_run(log, script, path);
    (void)fclose(script);
    return status;
}
