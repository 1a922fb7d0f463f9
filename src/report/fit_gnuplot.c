/* Fits as a picture for papers: distributions of durations, each with its laws.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/output.h"
#include "report/fit_parts.h"
#include "report/gnuplot.h"

enum { CURVE_POINTS = 200, MOST_PANELS = 4, TITLE_COLUMNS = 48, PANEL_COLUMNS = 22, SPECS = IW_FIT_LAWS };

/* Told apart also by those who do not see all colours (Okabe and Ito). */
static const char *const colours[] = {[IW_FIT_FIXED] = "#888888",
                                      [IW_FIT_EXP] = "#009e73",
                                      [IW_FIT_PARETO] = "#d55e00",
                                      [IW_FIT_LOGNORMAL] = "#0072b2",
                                      [SPECS] = "#000000"};

/* ---- data ---- */

static void write_pair(FILE *script, double ns, double above)
{
    iwi_write_real(script, ns);
    (void)fputc(' ', script);
    iwi_write_real(script, above);
    (void)fputc('\n', script);
}

/* The axis of durations. */
static double lowest_ns(const iw_durations *d)
{
    return fmax(d->cut_ns, d->point_ns[0] * 0.8);
}

static double highest_ns(const iw_durations *d)
{
    return d->longest_ns * 1.5;
}

static void write_recorded(FILE *script, size_t panel, const iw_durations *d)
{
    (void)fprintf(script, "$recorded%zu << END\n", panel);
    for (size_t i = 0; i < d->point_count; i++) {
        write_pair(script, d->point_ns[i], d->point_above[i]);
    }
    (void)fputs("END\n", script);
}

/* `law`: a law of the group, or SPECS. */
static void write_curve(FILE *script, size_t panel, const iw_noise_fit *fit, int law)
{
    const iw_durations *d = &fit->groups[panel].durations;
    const double low_ns = lowest_ns(d), high_ns = highest_ns(d);

    (void)fprintf(script, "$curve%zu_%d << END\n", panel, law);
    for (size_t i = 0; i <= CURVE_POINTS; i++) {
        const double ns = low_ns * pow(high_ns / low_ns, (double)i / CURVE_POINTS);
        const double above =
            law == SPECS ? iw_noise_fit_above(fit, ns) : iw_durations_above(d, (iw_fit_law)law, ns);

        if (above > 0.1 / (double)d->count) { /* what is below would not be seen */
            write_pair(script, ns, above);
        }
    }
    (void)fputs("END\n", script);
}

static bool has_curve(const iw_noise_fit *fit, size_t panel, int law)
{
    return law == SPECS ? panel == 0 && iwi_fit_has_mixture(fit)
                        : fit->groups[panel].durations.laws[law].is_fitted;
}

/* ---- panels ---- */

static void write_panel_title(FILE *script, const iw_recording *recording, const iw_noise_fit *fit,
                              size_t panel)
{
    const iw_durations *d = &fit->groups[panel].durations;
    char title[IWI_PARAGRAPH_SIZE] = "", name[IWI_NAME_SIZE];

    iwi_append(title, "%s", iwi_fit_group_name(recording, &fit->groups[panel], PANEL_COLUMNS, name));
    if (d->is_fitted) {
        iwi_append(title, ": %s, KS %.3f", iw_fit_law_name(d->best), d->laws[d->best].distance);
    }
    (void)fputs("set title ", script);
    iwi_gnuplot_quote(script, title);
    (void)fputc('\n', script);
}

static void write_curve_plot(FILE *script, const iw_noise_fit *fit, size_t panel, int law)
{
    const iw_durations *d = &fit->groups[panel].durations;
    const bool is_best = law < IW_FIT_LAWS && d->best == (iw_fit_law)law;
    char title[IWI_NAME_SIZE + 32] = "specs together", parameters[IWI_NAME_SIZE];

    if (law < IW_FIT_LAWS && fit->group_count > 1) { /* the panels have no room for more */
        snprintf(title, sizeof title, "%s", iw_fit_law_name((iw_fit_law)law));
    } else if (law < IW_FIT_LAWS) {
        snprintf(title, sizeof title, "%s, %s", iw_fit_law_name((iw_fit_law)law),
                 iwi_fit_parameters((iw_fit_law)law, &d->laws[law], parameters));
    }
    (void)fprintf(script,
                  "$curve%zu_%d using ($1/1e3):2 with lines dashtype %d linewidth %d linecolor "
                  "rgb '%s' title ",
                  panel, law, law == SPECS ? 2 : 1, is_best ? 4 : (law == SPECS ? 3 : 1), colours[law]);
    iwi_gnuplot_quote(script, title);
    (void)fputs(", \\\n     ", script);
}

/* Ticks at 1, 2, 5 times powers of ten where there are few powers. */
static void write_ticks(FILE *script, double low_us, double high_us)
{
    static const double factors[] = {1.0, 2.0, 5.0};
    bool is_first = true;

    if (high_us / low_us > 300.0) {
        (void)fputs("set xtics autofreq\n", script);
        return;
    }
    (void)fputs("set xtics (", script);
    for (int decade = (int)floor(log10(low_us)); decade <= (int)ceil(log10(high_us)); decade++) {
        for (size_t i = 0; i < sizeof factors / sizeof factors[0]; i++) {
            const double us = factors[i] * pow(10.0, decade);

            if (us >= low_us && us <= high_us) {
                (void)fputs(is_first ? "" : ", ", script);
                iwi_write_real(script, us);
                is_first = false;
            }
        }
    }
    (void)fputs(")\n", script);
}

static void write_panel(FILE *script, const iw_recording *recording, const iw_noise_fit *fit, size_t panel)
{
    const iw_durations *d = &fit->groups[panel].durations;

    write_panel_title(script, recording, fit, panel);
    write_ticks(script, lowest_ns(d) / 1e3, highest_ns(d) / 1e3);
    (void)fputs("set xrange [", script);
    iwi_write_real(script, lowest_ns(d) / 1e3);
    (void)fputc(':', script);
    iwi_write_real(script, highest_ns(d) / 1e3);
    (void)fputs("]\nset yrange [", script);
    iwi_write_real(script, 0.5 / (double)d->count);
    (void)fputs(":1.5]\n", script);
    (void)fputs("plot ", script);
    for (int law = 0; law <= SPECS; law++) {
        if (has_curve(fit, panel, law)) {
            write_curve_plot(script, fit, panel, law);
        }
    }
    (void)fprintf(script,
                  "$recorded%zu using ($1/1e3):2 with points pointtype 6 pointsize 0.5 linecolor rgb "
                  "'#444444' title 'recorded'\n",
                  panel);
}

/* All of it, and the largest sources that have several lengths. */
static size_t choose_panels(const iw_noise_fit *fit, size_t panels[MOST_PANELS])
{
    size_t count = 0;

    for (size_t i = 0; i < fit->group_count && count < MOST_PANELS; i++) {
        if (fit->groups[i].durations.point_count > 0) {
            panels[count++] = i;
        }
    }
    return count;
}

static void write_head(FILE *script, const iw_recording *recording, const char *name, size_t panels)
{
    char title[IWI_PARAGRAPH_SIZE] = "", host[IWI_NAME_SIZE];

    iwi_append(title, "%s: durations of detours and fitted laws",
               iwi_plain_name(iwi_host_name(recording, name), TITLE_COLUMNS, host));
    (void)fprintf(script, "set multiplot layout %d,%d title ", panels > 2 ? 2 : 1, panels > 1 ? 2 : 1);
    iwi_gnuplot_quote(script, title);
    (void)fputs("\nset logscale xy\nset grid linetype 1 linecolor rgb '#dddddd'\n"
                "set xlabel 'duration [us]'\nset ylabel 'share that lasts longer'\n"
                "set format y '%.0e'\nset format x '%g'\nset key below Left reverse samplen 1.5\n",
                script);
}

static void write_script(FILE *script, const iw_recording *recording, const iw_noise_fit *fit,
                         const char *name, const char *terminal)
{
    size_t panels[MOST_PANELS];
    const size_t count = choose_panels(fit, panels);

    for (size_t i = 0; i < count; i++) {
        write_recorded(script, panels[i], &fit->groups[panels[i]].durations);
        for (int law = 0; law <= SPECS; law++) {
            if (has_curve(fit, panels[i], law)) {
                write_curve(script, panels[i], fit, law);
            }
        }
    }
    (void)fputs("set encoding utf8\n", script);
    (void)fputs(terminal, script);
    write_head(script, recording, name, count);
    for (size_t i = 0; i < count; i++) {
        write_panel(script, recording, fit, panels[i]);
    }
    (void)fputs("unset multiplot\n", script);
}

/* ---- files ---- */

static bool is_script_name(const char *path)
{
    const char *suffix = strrchr(path, '.');

    return suffix != NULL && strcmp(suffix, ".gp") == 0;
}

struct picture {
    const iw_recording *recording;
    const iw_noise_fit *fit;
    const char *name;
};

static iw_status write_script_file(const iw_log *log, void *arg, FILE *out)
{
    const struct picture *picture = arg;

    (void)log;
    write_script(out, picture->recording, picture->fit, picture->name,
                 "# set terminal pdfcairo; set output 'fit.pdf'\n");
    return IW_OK;
}

iw_status iw_fit_plot(const iw_log *log, const iw_recording *recording, const iw_noise_fit *fit,
                      const char *name, const char *path)
{
    struct picture picture = {recording, fit, name};
    const char *terminal = iwi_gnuplot_terminal(path);
    iw_status status;
    FILE *script;

    if (terminal == NULL && !is_script_name(path)) {
        return iwi_fail(log, IW_ERR_USAGE, "'%s': pictures are .svg, .png or .pdf, scripts .gp", path);
    }
    if (fit->groups[0].durations.point_count == 0) {
        return iwi_fail(log, IW_ERR_RANGE, "there is nothing to draw: no detours");
    }
    if (terminal == NULL) {
        return iw_write_file(log, path, write_script_file, &picture);
    }
    script = tmpfile();
    if (script == NULL) {
        return iwi_fail(log, IW_ERR_IO, "cannot create a temporary file: %s", strerror(errno));
    }
    write_script(script, recording, fit, name, terminal);
    status = iwi_gnuplot_run(log, script, path);
    (void)fclose(script);
    return status;
}
