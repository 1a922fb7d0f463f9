/* Sheets: where their figures are, and how they get into files.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/figure/figure_sheet.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <idlewave/output.h>

#include "core/base/base.h"
#include "kit/figure/gnuplot.h"

enum { MOST_COLUMNS = 4 };

static const double LEFT_CM = 1.9, RIGHT_CM = 0.4, BETWEEN_CM = 0.3, HEAD_CM = 0.9, TITLE_CM = 0.6,
                    ABOVE_CM = 0.55, BELOW_CM = 1.3, NOTE_CM = 0.45, NARROW_HEIGHT_CM = 4.4,
                    LEGEND_ENTRY_CM = 3.1;

/* ---- places ---- */

static double legend_height_cm(const struct iwi_figure *figure, size_t columns)
{
    struct iwi_mark entry;
    size_t count = 0;

    while (iwi_legend_entry(figure, count, &entry)) {
        count++;
    }
    return count < 2 ? 0.0 : IWI_LEGEND_CM * ceil((double)count / (double)columns) + 0.1;
}

/* Figures from `first` on that stand side by side with it. */
static size_t narrow_count(const struct iwi_sheet *sheet, size_t first)
{
    size_t count = 0;

    while (first + count < sheet->count && !sheet->figures[first + count]->is_wide) {
        count++;
    }
    return count;
}

static bool has_same_axis(const struct iwi_figure *a, const struct iwi_figure *b)
{
    return a->y.low < a->y.high && a->y.low == b->y.low && a->y.high == b->y.high && a->y.unit == b->y.unit;
}

static void place_row(const struct iwi_sheet *sheet, size_t first, size_t count, size_t columns,
                      struct iwi_layout *layout)
{
    const bool has_shared_axis = count > 1 && has_same_axis(sheet->figures[first], sheet->figures[first + 1]);
    const bool has_axes = sheet->figures[first]->x.unit != IWI_AXIS_NONE;
    const double left_cm = has_axes ? LEFT_CM : RIGHT_CM, below_cm = has_axes ? BELOW_CM : RIGHT_CM;
    const double gap_cm = has_shared_axis ? BETWEEN_CM : LEFT_CM;
    const double room_cm = IWI_SHEET_CM - left_cm - RIGHT_CM - gap_cm * (double)(columns - 1);
    const size_t legend_columns = (size_t)fmax(room_cm / (double)columns / LEGEND_ENTRY_CM, 1.0);
    double legend_cm = 0.0, height_cm = 0.0;

    for (size_t i = first; i < first + count; i++) {
        const struct iwi_figure *figure = sheet->figures[i];
        const double wanted_cm = columns > 1 ? NARROW_HEIGHT_CM
                                             : IWI_SHEET_CM * (figure->height > 0.0 ? figure->height : 0.45) -
                                                   (has_axes ? BELOW_CM : 0.0);

        legend_cm = fmax(legend_cm, legend_height_cm(figure, legend_columns));
        height_cm = fmax(height_cm, wanted_cm);
    }
    for (size_t i = 0; i < count; i++) {
        const double title_cm = sheet->count > 1 ? TITLE_CM : 0.0;

        layout->places[first + i] = (struct iwi_place){
            .left_cm = left_cm + (double)i * (room_cm / (double)columns + gap_cm),
            .width_cm = room_cm / (double)columns,
            .title_cm = layout->height_cm + title_cm - 0.15,
            .legend_cm = layout->height_cm + title_cm,
            .top_cm = layout->height_cm + title_cm + legend_cm + ABOVE_CM,
            .height_cm = height_cm,
            .legend_columns = legend_columns,
            .has_y_labels = i == 0 || !has_shared_axis,
        };
    }
    layout->height_cm = layout->places[first].top_cm + height_cm + below_cm;
}

static iw_status layout_new(const iw_log *log, const struct iwi_sheet *sheet, struct iwi_layout *layout)
{
    size_t first = 0;

    *layout = (struct iwi_layout){.height_cm = HEAD_CM,
                                  .places = iwi_new_array(log, sheet->count, sizeof(struct iwi_place))};
    if (layout->places == NULL) {
        return IW_ERR_NOMEM;
    }
    while (first < sheet->count) {
        const size_t narrow = narrow_count(sheet, first);
        const size_t most = sheet->most_columns > 0 ? sheet->most_columns : MOST_COLUMNS;
        const size_t rows = (narrow + most - 1) / most;
        const size_t columns = narrow > 0 ? (narrow + rows - 1) / rows : 1; /* five are three and two */
        const size_t end = first + (narrow > 0 ? narrow : 1);

        for (; first < end; first += columns) {
            place_row(sheet, first, end - first < columns ? end - first : columns, columns, layout);
        }
        first = end;
    }
    layout->height_cm += sheet->notes[0] != NULL ? 2.0 * NOTE_CM : 0.0;
    return IW_OK;
}

/* ---- files ---- */

struct drawing {
    const struct iwi_sheet *sheet;
    const struct iwi_layout *layout;
};

static iw_status write_svg(const iw_log *log, void *arg, FILE *out)
{
    const struct drawing *drawing = arg;

    (void)log;
    iwi_sheet_write_svg(drawing->sheet, drawing->layout, out);
    return IW_OK;
}

static void write_commands(const struct drawing *drawing, const char *name, FILE *script)
{
    iwi_gnuplot_figure(script, name, IWI_SHEET_CM, drawing->layout->height_cm);
    iwi_sheet_write_data(drawing->sheet, false, script);
    iwi_sheet_write_script(drawing->sheet, drawing->layout, NULL, script);
}

static iw_status write_script(const iw_log *log, void *arg, FILE *out)
{
    const struct drawing *drawing = arg;

    (void)log;
    iwi_gnuplot_head(out);
    write_commands(drawing, drawing->sheet->name, out);
    return IW_OK;
}

static iw_status run_gnuplot(const iw_log *log, const struct drawing *drawing, const char *path,
                             const char *format)
{
    FILE *script = tmpfile();
    iw_status status;

    if (script == NULL) {
        return iwi_fail(log, IW_ERR_IO, "cannot create a temporary file: %s", strerror(errno));
    }
    (void)fprintf(script, "format = '%s'\n", format);
    write_commands(drawing, NULL, script);
    status = iwi_gnuplot_run(log, script, path);
    (void)fclose(script);
    return status;
}

iw_status iwi_sheet_check(const iw_log *log, const char *path)
{
    static const char *const suffixes[] = {".svg", ".png", ".pdf", ".gp"};
    const char *suffix = strrchr(path, '.');

    for (size_t i = 0; suffix != NULL && i < sizeof suffixes / sizeof suffixes[0]; i++) {
        if (strcmp(suffix, suffixes[i]) == 0) {
            return IW_OK;
        }
    }
    return iwi_fail(log, IW_ERR_USAGE, "'%s': use .svg, .png or .pdf for pictures, .gp for scripts", path);
}

iw_status iwi_sheet_plot(const iw_log *log, const struct iwi_sheet *sheet, const char *path)
{
    struct iwi_layout layout;
    struct drawing drawing = {sheet, &layout};
    const char *suffix = strrchr(path, '.');
    iw_status status = IW_OK;

    IW_TRY(iwi_sheet_check(log, path));
    for (size_t i = 0; i < sheet->count; i++) {
        IW_TRY(iwi_figure_check(log, sheet->figures[i]));
    }
    IW_TRY(layout_new(log, sheet, &layout));
    if (strcmp(suffix, ".svg") == 0) {
        status = iw_write_file(log, path, write_svg, &drawing);
    } else if (strcmp(suffix, ".gp") == 0) {
        status = iw_write_file(log, path, write_script, &drawing);
    } else {
        status = run_gnuplot(log, &drawing, path, suffix + 1);
    }
    free(layout.places);
    return status;
}

/* ---- folders ---- */

struct sheets {
    const struct iwi_sheet *sheets;
    size_t count;
};

static void write_data(FILE *out, const void *arg)
{
    const struct iwi_sheet *sheet = arg;

    iwi_gnuplot_comment(out, sheet->title);
    iwi_sheet_write_data(sheet, true, out);
}

static iw_status write_figures(const struct iwi_gnuplot_folder *folder, const void *arg)
{
    const struct sheets *sheets = arg;

    for (size_t i = 0; i < sheets->count; i++) {
        const struct iwi_sheet *sheet = &sheets->sheets[i];
        struct iwi_layout layout;

        IW_TRY(layout_new(folder->log, sheet, &layout));
        iwi_gnuplot_figure(folder->script, sheet->name, IWI_SHEET_CM, layout.height_cm);
        iwi_sheet_write_script(sheet, &layout, sheet->name, folder->script);
        free(layout.places);
        IW_TRY(iwi_gnuplot_data(folder, sheet->name, write_data, sheet));
    }
    return IW_OK;
}

iw_status iwi_sheets_write_folder(const iw_log *log, const struct iwi_sheet *sheets, size_t count,
                                  const char *dir)
{
    const struct sheets all = {sheets, count};

    for (size_t s = 0; s < count; s++) {
        for (size_t i = 0; i < sheets[s].count; i++) {
            IW_TRY(iwi_figure_check(log, sheets[s].figures[i]));
        }
    }
    return iwi_gnuplot_folder(log, dir, write_figures, &all);
}
