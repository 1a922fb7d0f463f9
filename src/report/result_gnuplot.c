/* One simulation for papers: when its trials or ranks end, and what its critical path is made of.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include "base/base.h"
#include "report/gnuplot.h"
#include "report/html_svg.h"
#include "report/noise_parts.h"
#include "report/result_parts.h"

enum { TITLE_COLUMNS = 60, PART_COLUMNS = 30 };

static const double WIDTH_CM = 17.5, TIMES_CM = 9.0, PATH_CM = 3.0, PART_CM = 0.9;

/* ---- times ---- */

static void write_times_data(FILE *out, const void *arg)
{
    struct iwi_distribution d;

    iwi_result_distribution(arg, &d);
    iwi_gnuplot_comment(out, iwi_result_text(arg, "what"));
    (void)fprintf(out, "# percent of the %s that have ended, time_ns, slowdown = T/T0 - 1\n",
                  d.is_of_ranks ? "ranks" : "trials");
    for (size_t i = 0; i < d.count; i++) {
        iwi_gnuplot_number(out, d.percent[i]);
        iwi_gnuplot_number(out, d.time_ns[i]);
        iwi_gnuplot_number(out, iwi_result_slowdown(arg, d.time_ns[i]));
        (void)fputc('\n', out);
    }
    if (!d.is_of_ranks && d.values_ns != NULL) {
        (void)fputs("\n\n# time_ns of each trial\n", out);
        for (size_t i = 0; i < json_array_size(d.values_ns); i++) {
            iwi_gnuplot_number(out, json_number_value(json_array_get(d.values_ns, i)));
            (void)fputc('\n', out);
        }
    }
}

static void write_title(FILE *script, const json_t *result)
{
    char title[IWI_PARAGRAPH_SIZE] = "", what[IWI_NAME_SIZE];
    const uint64_t ranks = iwi_result_count(result, "ranks"), trials = iwi_result_count(result, "trials");

    iwi_append(title, "%s, %" PRIu64 " rank%s, %" PRIu64 " trial%s",
               iwi_plain_name(iwi_result_text(result, "what"), TITLE_COLUMNS, what), ranks,
               ranks == 1 ? "" : "s", trials, trials == 1 ? "" : "s");
    (void)fputs("set title ", script);
    iwi_gnuplot_quote(script, title);
    (void)fputs(" noenhanced\n", script);
}

/* Round times with their units; gnuplot's own would be too many, or not tell one from the next. */
static void write_time_axis(FILE *script, double low_ns, double high_ns)
{
    struct iwi_axis axis = {.low = low_ns, .high = high_ns};
    double ticks[IWI_SVG_TICKS];
    char text[IWI_SVG_TEXT_SIZE];
    size_t count;

    if (!(axis.high > axis.low)) {
        axis.high = axis.low + 1.0;
    }
    iwi_axis_widen(&axis, 0.03);
    count = iwi_axis_ticks(&axis, 6, ticks);
    (void)fprintf(script, "set xlabel 'time'\nset xrange [%.9g:%.9g]\nset xtics (", axis.low, axis.high);
    for (size_t i = 0; i < count; i++) {
        iwi_tick_time(ticks[i], text);
        (void)fprintf(script, "%s'%s' %.9g", i > 0 ? ", " : "", text, ticks[i]);
    }
    (void)fputs(")\nset grid xtics ytics linetype 1 linewidth 0.5 linecolor rgb '#dddddd'\n", script);
}

static void write_times_script(FILE *script, const json_t *result)
{
    const double noiseless_ns = iwi_result_number(result, "noiseless_ns");
    const bool is_disturbed = iwi_result_is_disturbed(result);
    struct iwi_distribution d;

    iwi_result_distribution(result, &d);
    iwi_gnuplot_figure(script, "times", WIDTH_CM, TIMES_CM);
    write_title(script, result);
    write_time_axis(script, is_disturbed ? fmin(d.time_ns[0], noiseless_ns) : d.time_ns[0],
                    d.time_ns[d.count - 1]);
    (void)fprintf(script,
                  "set ylabel '%s that have ended'\nset yrange [0:102]\nset format y '%%g %%%%'\nunset key\n",
                  d.is_of_ranks ? "ranks" : "trials");
    if (is_disturbed) {
        (void)fprintf(script,
                      "set arrow from %.9g, graph 0 to %.9g, graph 1 nohead dashtype 3 linewidth 1.5\n"
                      "set label 'without noise' at %.9g, graph 0.06 offset 0.6,0 font ','.small\n",
                      noiseless_ns, noiseless_ns, noiseless_ns);
    }
    if (!d.is_of_ranks && json_array_size(d.values_ns) > 1) {
        (void)fprintf(script,
                      "plot 'times.dat' index 1 using 1:(%.9g) smooth cumulative with steps linewidth 2 "
                      "linecolor rgb '#0072b2'\n",
                      100.0 / (double)json_array_size(d.values_ns));
    } else {
        (void)fputs("plot 'times.dat' index 0 using 2:1 with linespoints linewidth 2 pointtype 7 "
                    "pointsize dot*0.4 linecolor rgb '#0072b2'\n",
                    script);
    }
    (void)fputs("set output\n", script);
}

/* ---- critical path ---- */

struct part {
    const char *name;
    double last_ns, mean_ns;
};

/* The parts that take time, up to `most`; returns how many. */
static size_t find_parts(const json_t *explain, struct part *parts, size_t most)
{
    json_t *last = json_object_get(explain, "parts"), *mean = json_object_get(explain, "mean_parts"), *value;
    const char *name;
    size_t count = 0;

    json_object_foreach(last, name, value)
    {
        const struct part part = {name, fmax(json_number_value(value), 0.0),
                                  fmax(iwi_result_number(mean, name), 0.0)};

        if (count < most && (part.last_ns > 0.0 || part.mean_ns > 0.0)) {
            parts[count++] = part;
        }
    }
    return count;
}

static void write_path_data(FILE *out, const void *arg)
{
    struct part parts[IW_PARTS];
    const size_t count = find_parts(arg, parts, IW_PARTS);

    (void)fputs("# number, ns on the path of the last rank, ns on that of the average rank; then the part\n",
                out);
    for (size_t i = 0; i < count; i++) {
        (void)fprintf(out, "%zu", i + 1);
        iwi_gnuplot_number(out, parts[i].last_ns);
        iwi_gnuplot_number(out, parts[i].mean_ns);
        (void)fputc(' ', out);
        iwi_gnuplot_comment(out, parts[i].name);
    }
}

static void write_path_script(FILE *script, const json_t *result)
{
    struct part parts[IW_PARTS];
    const size_t count = find_parts(json_object_get(result, "explain"), parts, IW_PARTS);
    double most_ns = 0.0;
    char name[IWI_NAME_SIZE];

    iwi_gnuplot_figure(script, "path", WIDTH_CM, PATH_CM + PART_CM * (double)count);
    write_title(script, result);
    (void)fputs("set ytics (", script);
    for (size_t i = 0; i < count; i++) {
        (void)fputs(i > 0 ? ", " : "", script);
        iwi_gnuplot_quote(script, iwi_plain_name(iwi_part_words(parts[i].name), PART_COLUMNS, name));
        (void)fprintf(script, " %zu", i + 1);
        most_ns = fmax(most_ns, fmax(parts[i].last_ns, parts[i].mean_ns));
    }
    (void)fprintf(script, ") noenhanced\nset yrange [%zu.5:0.5]\nset style fill solid 0.7 noborder\n", count);
    write_time_axis(script, 0.0, most_ns);
    (void)fputs("set xlabel 'time on the critical path'\nset key outside top center horizontal Left reverse "
                "samplen 2\n"
                "plot 'path.dat' using ($2/2):($1-0.19):(0):2:($1-0.36):($1-0.02) with boxxyerrorbars "
                "linecolor rgb '#0072b2' title 'last rank', \\\n"
                "     '' using ($3/2):($1+0.19):(0):3:($1+0.02):($1+0.36) with boxxyerrorbars "
                "linecolor rgb '#d55e00' title 'average rank'\nset output\n",
                script);
}

/* ---- both ---- */

static iw_status write_figures(const struct iwi_gnuplot_folder *folder, const void *arg)
{
    const json_t *explain = json_object_get(arg, "explain");
    struct part part;

    IW_TRY(iwi_gnuplot_data(folder, "times", write_times_data, arg));
    write_times_script(folder->script, arg);
    if (find_parts(explain, &part, 1) > 0) {
        IW_TRY(iwi_gnuplot_data(folder, "path", write_path_data, explain));
        write_path_script(folder->script, arg);
    }
    return IW_OK;
}

iw_status iw_result_report_gnuplot(const iw_log *log, const char *path, const char *dir)
{
    json_t *result;
    iw_status status;

    IW_TRY(iwi_result_load(log, path, &result));
    status = iwi_gnuplot_folder(log, dir, write_figures, result);
    json_decref(result);
    return status;
}
