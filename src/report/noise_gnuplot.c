/* A recording as a picture for papers: detours over time, and how often they take how long, by source.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/noise_report.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "report/gnuplot.h"
#include "report/noise_parts.h"
#include "stats/recording_stats.h"

enum {
    MOST_SERIES = 7, /* the largest sources, and the rest together */
    LEGEND_COLUMNS = 28,
    TITLE_COLUMNS = 48,
    /* Points that would fall on each other are drawn once: any number of detours makes a small picture. */
    GRID_ACROSS = 640,
    GRID_DOWN = 760, /* over all DECADES */
    BINS_PER_DECADE = 20,
    DECADES = 19, /* of an int64_t */
    NS_DECADE = 9,
    BINS = DECADES * BINS_PER_DECADE
};

struct series {
    char title[IWI_NAME_SIZE];
    uint64_t count[BINS]; /* by duration */
    uint64_t points;      /* written for the upper plot */
};

struct picture {
    FILE *script;
    const iw_recording *detours;
    struct iwi_detour_axes axes;
    double watched_ns;
    uint8_t *series_of; /* by number of the source */
    uint8_t *taken;     /* the grid: one bit a point */
    size_t series_count;
    bool has_rest; /* the last series is what is left */
    struct series series[MOST_SERIES];
};

/* The largest sources get series of their own. */
static void choose_series(struct picture *p, const iw_noise_facts *facts, size_t *order)
{
    const size_t count = iwi_order_rows(facts->by_source, p->detours->source_count, order);
    const size_t own = count <= MOST_SERIES ? count : MOST_SERIES - 1;

    memset(p->series_of, (int)own, p->detours->source_count);
    for (size_t i = 0; i < own; i++) {
        const iw_source *source = &p->detours->sources[order[i]];

        p->series_of[order[i]] = (uint8_t)i;
        (void)iwi_plain_name(iwi_source_name(source), LEGEND_COLUMNS, p->series[i].title);
    }
    if (p->detours->probe != IW_PROBE_SELFISH) {
        snprintf(p->series[0].title, IWI_NAME_SIZE, "quanta");
    }
    p->series_count = own;
    if (own < count) {
        snprintf(p->series[own].title, IWI_NAME_SIZE, "%zu others", count - own);
        p->series_count++;
        p->has_rest = true;
    }
}

/* Share of the range of all durations, 1 ns to 10^DECADES ns. */
static double height_of(int64_t duration_ns)
{
    return log10((double)duration_ns) / DECADES;
}

static bool take(struct picture *p, int64_t start_ns, int64_t duration_ns)
{
    const size_t x = (size_t)((double)start_ns / p->axes.length_ns * (GRID_ACROSS - 1));
    const size_t y = (size_t)(height_of(duration_ns) * GRID_DOWN);
    const size_t bit = x * GRID_DOWN + y;
    const uint8_t mask = (uint8_t)(1u << bit % 8);
    const bool is_new = (p->taken[bit / 8] & mask) == 0;

    p->taken[bit / 8] |= mask;
    return is_new;
}

static void write_points(struct picture *p, size_t series)
{
    struct series *s = &p->series[series];

    memset(p->taken, 0, (size_t)GRID_ACROSS * GRID_DOWN / 8);
    (void)fprintf(p->script, "$points%zu << END\n", series);
    for (size_t c = 0; c < p->detours->cpu_count; c++) {
        const iw_detours *cpu = &p->detours->cpus[c];

        for (size_t i = 0; i < cpu->count; i++) {
            if (p->series_of[cpu->source[i]] != series || cpu->duration_ns[i] <= 0) {
                continue;
            }
            s->count[(size_t)(height_of(cpu->duration_ns[i]) * BINS)]++;
            if (take(p, cpu->start_ns[i], cpu->duration_ns[i])) {
                (void)fprintf(p->script, "%" PRId64 " %" PRId64 "\n", cpu->start_ns[i], cpu->duration_ns[i]);
                s->points++;
            }
        }
    }
    (void)fputs("END\n", p->script);
}

/* Per second of a CPU, how many take at least as long as each bin begins. */
static void write_rates(const struct picture *p, size_t series)
{
    const struct series *s = &p->series[series];
    uint64_t at_least = 0;
    size_t first = 0, last = BINS;

    for (size_t bin = 0; bin < BINS; bin++) {
        at_least += s->count[bin];
    }
    while (first < BINS && s->count[first] == 0) {
        first++;
    }
    while (last > 0 && s->count[last - 1] == 0) {
        last--;
    }
    (void)fprintf(p->script, "$rates%zu << END\n", series);
    for (size_t bin = first; bin <= last; bin++) { /* also the end of the last one, so that it has a width */
        iwi_write_real(p->script, pow(10.0, (double)bin / BINS_PER_DECADE));
        (void)fputc(' ', p->script);
        iwi_write_real(p->script, (double)at_least / p->watched_ns * 1e9);
        (void)fputc('\n', p->script);
        at_least -= bin + 1 < last ? s->count[bin] : 0;
    }
    (void)fputs("END\n", p->script);
}

/* Told apart also by those who do not see all colours (Okabe and Ito); the last one is for the rest. */
static const char *const colours[MOST_SERIES] = {"#0072b2", "#d55e00", "#009e73", "#e69f00",
                                                 "#56b4e9", "#cc79a7", "#888888"};

/* Draws the blocks of all series, the rest beneath the others; in a legend they get a larger sign. */
static void write_plot(const struct picture *p, const char *block, const char *columns, const char *style,
                       bool has_legend)
{
    const char *separator = "plot ";

    for (size_t k = 0; k < p->series_count; k++) {
        const size_t i = p->has_rest ? (k + p->series_count - 1) % p->series_count : k;

        if (p->series[i].points == 0) {
            continue;
        }
        (void)fprintf(p->script, "%s$%s%zu using %s with %s linecolor rgb '%s' notitle", separator, block, i,
                      columns, style, colours[i]);
        separator = ", \\\n     ";
        if (has_legend) {
            (void)fprintf(p->script, "%sNaN with points pointtype 7 pointsize 1 linecolor rgb '%s' title ",
                          separator, colours[i]);
            iwi_gnuplot_quote(p->script, p->series[i].title);
        }
    }
    (void)fputc('\n', p->script);
}

static void write_title(const struct picture *p, const iw_noise_facts *facts, const char *name)
{
    char title[IWI_PARAGRAPH_SIZE] = "", host[IWI_NAME_SIZE], percent[IWI_NUMBER_SIZE], time[IWI_NUMBER_SIZE];

    iwi_append(title, "%s: %s noise, %zu CPU%s, %s",
               iwi_plain_name(iwi_host_name(p->detours, name), TITLE_COLUMNS, host),
               iwi_share_text(facts->all.share, percent), p->detours->cpu_count,
               p->detours->cpu_count == 1 ? "" : "s", iwi_ns_round_text(p->axes.length_ns, time));
    (void)fputs("set multiplot title ", p->script);
    iwi_gnuplot_quote(p->script, title);
    (void)fputc('\n', p->script);
}

/* Above: detours over time. */
static void write_upper(const struct picture *p, const char *what)
{
    (void)fprintf(p->script,
                  "set lmargin 11\nset rmargin 3\nset grid linetype 1 linecolor rgb '#dddddd'\n"
                  "set logscale y\nset origin 0,0.38\nset size 1,0.56\n"
                  "set key outside top center horizontal Left reverse samplen 1\n"
                  "set xlabel 'time [s]'\nset ylabel '%s'\nset format y '%%.0s %%cs'\n"
                  "set xrange [0:%.0f*1e-9]\nset yrange [1e%.0f:1e%.0f]\n",
                  what, p->axes.length_ns, p->axes.low_decade - NS_DECADE, p->axes.high_decade - NS_DECADE);
    write_plot(p, "points", "($1*1e-9):($2*1e-9)", "points pointtype 7 pointsize 0.35", true);
}

/* Below: how often they take at least how long. */
static void write_lower(const struct picture *p, const char *what, double rate_hz)
{
    const double least_hz = 1e9 / p->watched_ns;

    (void)fprintf(p->script,
                  "set origin 0,0\nset size 1,0.38\nset logscale xy\nunset key\n"
                  "set xlabel '%s, at least'\nset format x '%%.0s %%cs'\nset xrange [1e%.0f:1e%.0f]\n"
                  "set ylabel 'per second and CPU'\nset format y '%%g'\nset yrange [1e%.0f:1e%.0f]\n",
                  what, p->axes.low_decade - NS_DECADE, p->axes.high_decade - NS_DECADE,
                  floor(log10(least_hz)), floor(log10(fmax(rate_hz, least_hz))) + 1.0);
    write_plot(p, "rates", "($1*1e-9):2", "steps linewidth 2", false);
}

static void write_script(struct picture *p, const iw_noise_facts *facts, const char *name,
                         const char *terminal)
{
    const char *what = p->detours->probe == IW_PROBE_SELFISH ? "duration of a detour" : "loss of a quantum";

    for (size_t i = 0; i < p->series_count; i++) {
        write_points(p, i);
        write_rates(p, i);
    }
    (void)fputs("set encoding utf8\n", p->script);
    (void)fputs(terminal, p->script);
    write_title(p, facts, name);
    write_upper(p, what);
    write_lower(p, what, facts->all.rate_hz);
    (void)fputs("unset multiplot\n", p->script);
}

static iw_status draw(const iw_log *log, const iw_recording *detours, const iw_noise_facts *facts,
                      const char *name, const char *path, FILE *script)
{
    struct picture *p = iwi_new_array(log, 1, sizeof *p);
    size_t *order = iwi_new_array(log, detours->source_count, sizeof *order);
    iw_status status = IW_ERR_NOMEM;

    if (p != NULL && order != NULL) {
        p->script = script;
        p->detours = detours;
        p->watched_ns = fmax(facts->watched_ns, 1.0);
        p->series_of = iwi_new_array(log, detours->source_count, 1);
        p->taken = iwi_new_array(log, (size_t)GRID_ACROSS * GRID_DOWN / 8, 1);
        if (!iwi_detour_axes(detours, &p->axes)) {
            status = iwi_fail(log, IW_ERR_RANGE, "there is nothing to draw: no detours");
        } else if (p->series_of != NULL && p->taken != NULL) {
            choose_series(p, facts, order);
            write_script(p, facts, name, iwi_gnuplot_terminal(path));
            status = iwi_gnuplot_run(log, script, path);
        }
        free(p->series_of);
        free(p->taken);
    }
    free(order);
    free(p);
    return status;
}

iw_status iw_noise_plot(const iw_log *log, const iw_recording *recording, const iw_noise_facts *facts,
                        const char *name, const char *path)
{
    const iw_recording *detours;
    iw_recording *losses;
    iw_status status;
    FILE *script;

    if (iwi_gnuplot_terminal(path) == NULL) {
        return iwi_fail(log, IW_ERR_USAGE, "'%s': pictures are .svg, .png or .pdf", path);
    }
    script = tmpfile();
    if (script == NULL) {
        return iwi_fail(log, IW_ERR_IO, "cannot create a temporary file: %s", strerror(errno));
    }
    status = iwi_detours_of(log, recording, &detours, &losses);
    if (status == IW_OK) {
        status = draw(log, detours, facts, name, path, script);
        iwi_losses_free(losses);
    }
    (void)fclose(script);
    return status;
}
