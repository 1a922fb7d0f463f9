/* Scripts that draw timelines: rectangles of every step, or an image of cells where there are many.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "report/gnuplot.h"
#include "report/report.h"
#include "report/timeline_parts.h"

enum {
    MOST_BOXES = 20000, /* steps; beyond, nobody can tell them apart */
    MOST_BOX_RANKS = 256,
    IMAGE_COLUMNS = 1200,
    IMAGE_ROWS = 820,
    MOST_TITLE = 110
};

struct plot {
    const iw_timeline *timeline;
    const iw_waves *waves;
    iw_timeline_window window;
    double unit_ps; /* of the time axis */
    const char *unit;
    FILE *script;
};

static bool is_inside(const struct plot *plot, uint32_t rank)
{
    return rank >= plot->window.first_rank && rank - plot->window.first_rank < plot->window.rank_count;
}

static void choose_unit(struct plot *plot)
{
    static const struct {
        double unit_ps;
        const char *name;
    } units[] = {{1e12, "s"}, {1e9, "ms"}, {1e6, "us"}, {1e3, "ns"}};
    const double end_ps = (double)plot->window.to_ps;
    size_t i = 0;

    while (i + 1 < sizeof units / sizeof units[0] && end_ps < 10.0 * units[i].unit_ps) {
        i++;
    }
    plot->unit_ps = units[i].unit_ps;
    plot->unit = units[i].name;
}

static void write_number(const struct plot *plot, double ps)
{
    iwi_gnuplot_number(plot->script, ps / plot->unit_ps);
}

/* ---- boxes ---- */

/* A gap between ranks, as in the paper, where there is room for it. */
static double half_height(const struct plot *plot)
{
    return plot->window.rank_count <= 64 ? 0.42 : 0.5;
}

static void write_box(const struct plot *plot, uint32_t rank, iw_time begin_ps, iw_time end_ps,
                      iw_state state)
{
    const iw_time from_ps = iwi_max(begin_ps, plot->window.from_ps),
                  to_ps = iwi_min(end_ps, plot->window.to_ps);

    if (from_ps >= to_ps) {
        return;
    }
    write_number(plot, ((double)from_ps + (double)to_ps) / 2.0);
    (void)fprintf(plot->script, " %" PRIu32, rank);
    write_number(plot, (double)from_ps);
    write_number(plot, (double)to_ps);
    iwi_gnuplot_number(plot->script, (double)rank - half_height(plot));
    iwi_gnuplot_number(plot->script, (double)rank + half_height(plot));
    (void)fprintf(plot->script, " %" PRIu32 "\n", iwi_state_colour(state));
}

/* All of a rank's time first, white: what it does beside computing lies over it. */
static void write_rank(const struct plot *plot, uint32_t rank, const iw_step *steps, size_t count)
{
    if (count == 0) {
        return;
    }
    write_box(plot, rank, steps[0].begin_ps, iw_step_end(&steps[count - 1]), IW_STATE_COMPUTE);
    for (size_t i = 0; i < count; i++) {
        iw_time at_ps = steps[i].begin_ps;

        for (int state = 0; state < IW_STATES; state++) {
            if (state != IW_STATE_COMPUTE) {
                write_box(plot, rank, at_ps, at_ps + steps[i].state_ps[state], (iw_state)state);
            }
            at_ps += steps[i].state_ps[state];
        }
    }
}

static void write_boxes(const struct plot *plot)
{
    (void)fputs("$steps << EOD\n", plot->script);
    for (uint32_t i = 0; i < iw_timeline_exact_ranks(plot->timeline); i++) {
        const uint32_t rank = iw_timeline_exact_rank(plot->timeline, i);
        uint64_t number;
        size_t count;
        const iw_step *steps = iw_timeline_steps(plot->timeline, i, &count, &number);

        if (is_inside(plot, rank)) {
            write_rank(plot, rank, steps, count);
        }
    }
    (void)fputs("EOD\n", plot->script);
}

/* Every rank of the picture is known exactly for all of its time, and there are not too many steps; gnuplot
 * complains about none. */
static bool has_boxes(const struct plot *plot)
{
    const uint64_t step_count = iwi_timeline_count_steps(plot->timeline, &plot->window);
    uint32_t index;
    uint64_t number;
    size_t count;

    if (plot->window.rank_count > MOST_BOX_RANKS || step_count > MOST_BOXES || step_count == 0) {
        return false;
    }
    for (uint32_t i = 0; i < plot->window.rank_count; i++) {
        const iw_step *steps;

        if (!iw_timeline_exact_index(plot->timeline, plot->window.first_rank + i, &index)) {
            return false;
        }
        if (iw_timeline_is_whole(plot->timeline)) {
            continue;
        }
        steps = iw_timeline_steps(plot->timeline, index, &count, &number);
        if (count == 0 || (number > 0 && steps[0].begin_ps > plot->window.from_ps) ||
            iw_step_end(&steps[count - 1]) < plot->window.to_ps) {
            return false;
        }
    }
    return true;
}

/* ---- fronts ---- */

/* A block of lines for each piece: time, rank; two empty lines would begin another data set. */
static void write_fronts(const struct plot *plot, iwi_edge edge)
{
    (void)fprintf(plot->script, "$%s << EOD\n", edge == IWI_EDGE_LEAD ? "lead" : "trail");
    for (size_t w = 0; plot->waves != NULL && w < plot->waves->wave_count; w++) {
        const iw_wave *wave = &plot->waves->waves[w];
        const struct iwi_fit fit = iwi_wave_fit(wave, edge);

        for (size_t i = 0; i < wave->front_count; i++) {
            const iw_front *front = &wave->fronts[i];
            const iw_time time_ps = edge == IWI_EDGE_LEAD ? front->lead_ps : front->trail_ps;

            if (i > 0 && iwi_wave_wraps(plot->timeline, front - 1, front)) {
                (void)fputc('\n', plot->script);
            }
            write_number(plot, (double)time_ps);
            (void)fprintf(plot->script, " %" PRIu32, front->rank);
            write_number(plot, iwi_fit_ps(&fit, front->distance));
            (void)fputc('\n', plot->script);
        }
        (void)fputc('\n', plot->script);
    }
    (void)fputs("EOD\n", plot->script);
}

static bool has_fronts(const struct plot *plot)
{
    for (size_t w = 0; plot->waves != NULL && w < plot->waves->wave_count; w++) {
        if (plot->waves->waves[w].front_count > 0) {
            return true;
        }
    }
    return false;
}

/* Whether there is a line at all: gnuplot complains about data without numbers. */
static bool has_fit(const struct plot *plot, iwi_edge edge)
{
    for (size_t w = 0; plot->waves != NULL && w < plot->waves->wave_count; w++) {
        if (plot->waves->waves[w].front_count > 0 &&
            isfinite(iwi_wave_fit(&plot->waves->waves[w], edge).begin_ps)) {
            return true;
        }
    }
    return false;
}

/* ---- the script ---- */

/* "[low:high]" with a point, whatever the locale. */
static void write_range(const struct plot *plot, const char *axis, double low, double high)
{
    (void)fprintf(plot->script, "set %srange [", axis);
    iwi_gnuplot_number(plot->script, low);
    (void)fputs(" :", plot->script);
    iwi_gnuplot_number(plot->script, high);
    (void)fputs(" ]\n", plot->script);
}

static void write_title(const struct plot *plot)
{
    char title[sizeof((iw_timeline_about *)NULL)->title];

    snprintf(title, sizeof title, "%s", iw_timeline_describe(plot->timeline)->title);
    if (strlen(title) > MOST_TITLE) {
        snprintf(&title[MOST_TITLE], 4, "...");
    }
    (void)fputs("set title ", plot->script);
    iwi_gnuplot_quote(plot->script, title);
    (void)fputs(" font ',12'\n", plot->script);
}

static void write_setup(const struct plot *plot)
{
    write_title(plot);
    (void)fprintf(plot->script, "set xlabel 'time [%s]'\nset ylabel 'rank'\n", plot->unit);
    write_range(plot, "x", (double)plot->window.from_ps / plot->unit_ps,
                (double)plot->window.to_ps / plot->unit_ps);
    write_range(plot, "y", (double)plot->window.first_rank - 0.5,
                (double)plot->window.first_rank + plot->window.rank_count - 0.5);
    (void)fputs(
        "set tics out nomirror\nset key outside top center horizontal Left reverse samplen 2\nset border 3\n"
        "set format y '%.0f'\nset style fill solid noborder\n"
        "set object 1 rectangle from graph 0,0 to graph 1,1 behind fillcolor rgb '#f0f0f0' "
        "fillstyle solid noborder\n",
        plot->script);
    if (plot->window.rank_count <= 20) {
        (void)fputs("set ytics 1\n", plot->script);
    }
}

/* Squares with the colours of states: lines of the key that have no data. */
static void write_key(const struct plot *plot)
{
    static const struct {
        iw_state state;
        const char *name;
    } rows[] = {{IW_STATE_WAIT, "idle"},
                {IW_STATE_DELAY, "delay"},
                {IW_STATE_NOISE, "noise"},
                {IW_STATE_COMM, "messages"}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        (void)fprintf(plot->script,
                      ", NaN with points pointtype 5 pointsize 1.5 linecolor rgb '#%06" PRIx32 "' title '%s'",
                      iwi_state_colour(rows[i].state), rows[i].name);
    }
}

/* Thin ranks have thin waves: thick lines and points would hide them. */
static void write_overlay(const struct plot *plot)
{
    const char *size = plot->window.rank_count <= 64 ? "0.6" : "0.25";
    const bool is_thin = plot->window.rank_count > MOST_BOX_RANKS;

    if (has_fit(plot, IWI_EDGE_LEAD)) {
        (void)fprintf(plot->script,
                      ", $lead using 3:2 with lines %s linecolor rgb 'black' title 'fitted front'",
                      is_thin ? "linewidth 0.8 dashtype (12,12)" : "linewidth 2");
    }
    if (is_thin || !has_fronts(plot)) {
        return;
    }
    if (has_fit(plot, IWI_EDGE_TRAIL)) {
        (void)fputs(", $trail using 3:2 with lines linewidth 1.5 dashtype 2 linecolor rgb '#404040' "
                    "title 'fitted end'",
                    plot->script);
    }
    (void)fprintf(plot->script,
                  ", $lead using 1:2 with points pointtype 7 pointsize %s linecolor rgb 'black' notitle"
                  ", $trail using 1:2 with points pointtype 6 pointsize %s linecolor rgb '#404040' notitle",
                  size, size);
}

static void write_box_plot(const struct plot *plot)
{
    write_boxes(plot);
    (void)fputs("plot $steps using 1:2:3:4:5:6:7 with boxxyerror linecolor rgb variable notitle",
                plot->script);
    write_key(plot);
    write_overlay(plot);
    (void)fputc('\n', plot->script);
}

static iw_status write_image_plot(const iw_log *log, const struct plot *plot)
{
    struct iwi_grid grid;
    const iw_raster *raster = &grid.raster;
    bool is_max;

    IW_TRY(iwi_grid_new(log, plot->timeline, &plot->window, IMAGE_ROWS, IMAGE_COLUMNS, &grid));
    is_max = iwi_raster_prefers_max(raster);
    (void)fprintf(plot->script,
                  "plot '-' binary array=(%" PRIu32 ",%" PRIu32 ") format='%%uchar' dx=", raster->columns,
                  raster->rows);
    write_number(plot, (double)raster->bin_ps);
    (void)fprintf(plot->script, " dy=%" PRIu32 " origin=(", raster->ranks_per_row);
    write_number(plot, (double)grid.window.from_ps + (double)raster->bin_ps / 2.0);
    (void)fputc(',', plot->script);
    iwi_gnuplot_number(plot->script, grid.window.first_rank + (raster->ranks_per_row - 1.0) / 2.0);
    (void)fputs(") using 1:2:3 with rgbimage notitle", plot->script);
    write_key(plot);
    write_overlay(plot);
    (void)fputc('\n', plot->script);
    for (size_t cell = 0; cell < (size_t)raster->rows * raster->columns; cell++) {
        const uint32_t colour = iwi_cell_colour(raster, cell, is_max);
        const unsigned char bytes[3] = {(unsigned char)(colour >> 16), (unsigned char)(colour >> 8),
                                        (unsigned char)colour};

        (void)fwrite(bytes, 1, sizeof bytes, plot->script);
    }
    iwi_grid_free(&grid);
    return IW_OK;
}

iw_status iwi_timeline_script(const iw_log *log, const iw_timeline *timeline, const iw_waves *waves,
                              const iw_timeline_window *window, FILE *script)
{
    struct plot plot = {.timeline = timeline, .waves = waves, .script = script};

    IW_TRY(iwi_timeline_clip(log, timeline, window, &plot.window));
    choose_unit(&plot);
    write_setup(&plot);
    if (has_fronts(&plot)) {
        write_fronts(&plot, IWI_EDGE_LEAD);
        write_fronts(&plot, IWI_EDGE_TRAIL);
    }
    if (has_boxes(&plot)) {
        write_box_plot(&plot);
        return IW_OK;
    }
    return write_image_plot(log, &plot);
}
