/* Timelines as pictures for papers, and at a terminal.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <string.h>

#include <idlewave/wave.h>

#include "core/base/base.h"
#include "features/wave/timeline_figure.h"
#include "kit/figure/figure_text.h"

/* Cells of a picture; in an .svg each run of equal cells is an element. */
enum { IMAGE_COLUMNS = 1200, IMAGE_ROWS = 820, SVG_COLUMNS = 480, SVG_ROWS = 240 };
enum { LEAST_COLUMNS = 32, MOST_COLUMNS = 1000, LEAST_LINES = 4, MOST_LINES = 500 };

iw_status iw_timeline_plot(const iw_log *log, const iw_timeline *timeline, const iw_waves *waves,
                           const iw_timeline_window *window, const char *path)
{
    const char *suffix = strrchr(path, '.');
    const bool is_svg = suffix != NULL && strcmp(suffix, ".svg") == 0;
    struct iwi_timeline_picture picture;
    struct iwi_sheet sheet = {.name = "timeline", .count = 1, .figures = &picture.figure};
    iw_status status;

    IW_TRY(iwi_sheet_check(log, path));
    IW_TRY(iwi_timeline_figure(log, timeline, waves, window, is_svg ? SVG_ROWS : IMAGE_ROWS,
                               is_svg ? SVG_COLUMNS : IMAGE_COLUMNS, false, &picture));
    sheet.title = picture.figure->title;
    status = iwi_sheet_plot(log, &sheet, path);
    iwi_timeline_picture_release(&picture);
    return status;
}

static size_t clamp(uint32_t value, size_t least, size_t most)
{
    return value < least ? least : value > most ? most : value;
}

iw_status iw_timeline_write_terminal(const iw_log *log, const iw_timeline *timeline, const iw_waves *waves,
                                     const iw_timeline_window *window, uint32_t columns, uint32_t lines,
                                     bool has_colour, FILE *out)
{
    const struct iwi_figure_look look = {.columns = clamp(columns, LEAST_COLUMNS, MOST_COLUMNS),
                                         .lines = clamp(lines, LEAST_LINES, MOST_LINES),
                                         .has_colour = has_colour};
    struct iwi_timeline_picture picture;
    struct iwi_cells_size size;
    iw_timeline_window clipped;

    IW_TRY(iwi_timeline_clip(log, timeline, window, &clipped));
    size = iwi_cells_size((double)clipped.first_rank + clipped.rank_count - 0.5, clipped.rank_count, &look);
    IW_TRY(iwi_timeline_figure(log, timeline, waves, &clipped, (uint32_t)size.pixel_rows,
                               (uint32_t)size.columns, true, &picture));
    iwi_figure_write_text(picture.figure, &look, out);
    iwi_timeline_picture_release(&picture);
    return iwi_check_written(log, out, "the timeline");
}
