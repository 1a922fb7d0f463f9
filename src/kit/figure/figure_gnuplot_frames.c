/* Frames of figures for gnuplot: rectangles and labels, part of the script.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <inttypes.h>
#include <string.h>

#include "core/base/base.h"
#include "kit/figure/figure_gnuplot.h"
#include "kit/figure/gnuplot.h"

static void write_pair(const struct iwi_plot *plot, const char *before, double x, double y)
{
    (void)fprintf(plot->script, "%s first", before);
    iwi_gnuplot_number(plot->script, x);
    (void)fputs(", first", plot->script);
    iwi_gnuplot_number(plot->script, y);
}

/* A little of the colour on white, which all terminals can draw. */
static uint32_t pale(uint32_t rgb)
{
    uint32_t paler = 0;

    for (unsigned shift = 0; shift < 24; shift += 8) {
        const uint32_t part = rgb >> shift & 0xff;

        paler |= (255 - (255 - part) * 12 / 100) << shift;
    }
    return paler;
}

static void write_rectangle(const struct iwi_plot *plot, const struct iwi_mark *mark, const double *n)
{
    const double above = 0.12, below = 0.2; /* of a line */
    const uint32_t rgb = iwi_ink_rgb(mark->ink);

    write_pair(plot, "set object rectangle from", n[0], n[2] + above);
    write_pair(plot, " to", n[1], n[3] - below);
    (void)fprintf(plot->script,
                  " back fillcolor rgb '#%06" PRIx32 "' fillstyle solid 1 border linecolor rgb '#%06" PRIx32
                  "' dashtype %d\n",
                  pale(rgb), rgb, mark->dash == IWI_SOLID ? 1 : 2);
}

static void write_text(const struct iwi_plot *plot, const double *n, const char *text)
{
    for (double y = n[2] + 0.6; *text != '\0'; y += 1.0) {
        const size_t length = strcspn(text, "\n");
        char line[IWI_PARAGRAPH_SIZE];

        snprintf(line, sizeof line, "%.*s", (int)length, text);
        (void)fputs("set label ", plot->script);
        iwi_gnuplot_quote(plot->script, line);
        write_pair(plot, " at", n[0] + 1.0, y);
        (void)fprintf(plot->script, " left%s\n", y < n[2] + 1.0 ? "" : " font ','.small");
        text += length + (text[length] == '\n');
    }
}

void iwi_gnuplot_frames(const struct iwi_plot *plot, const struct iwi_mark *mark)
{
    for (size_t i = 0; i < mark->count; i++) {
        write_rectangle(plot, mark, iwi_mark_item(mark, i));
        if (iwi_mark_text(mark, i) != NULL) {
            write_text(plot, iwi_mark_item(mark, i), iwi_mark_text(mark, i));
        }
    }
}
