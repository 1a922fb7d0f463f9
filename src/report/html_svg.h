/* Pictures in SVG within a page: axes with round ticks, and the few shapes that plots need.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_HTML_SVG_H
#define IWI_HTML_SVG_H

#include <stdbool.h>
#include <stdio.h>

enum { IWI_SVG_WIDTH = 560, IWI_SVG_TICKS = 24, IWI_SVG_TEXT_SIZE = 32 };

/* Values `low` to `high` on the pixels `from` to `to`. */
struct iwi_axis {
    const char *label;
    double low, high;
    bool is_log, is_binary;                                       /* binary: ticks at powers of two */
    void (*tick_text)(double value, char buf[IWI_SVG_TEXT_SIZE]); /* NULL: no ticks */
    double from, to;
};

struct iwi_svg {
    FILE *out;
    struct iwi_axis x, y;
};

/* Round values between low and high, at most `wanted` or a few more; returns how many. */
size_t iwi_axis_ticks(const struct iwi_axis *axis, size_t wanted, double ticks[IWI_SVG_TICKS]);

/* Widens the axis by this part of its length on both sides. */
void iwi_axis_widen(struct iwi_axis *axis, double part);

/* Where a value lies; NaN for values that a logarithmic axis does not have. */
double iwi_axis_at(const struct iwi_axis *axis, double value);

/* <svg> with grid and axes; sets the pixels of both axes. */
void iwi_svg_begin(struct iwi_svg *svg, int height);
void iwi_svg_end(struct iwi_svg *svg);

/* Ticks. */
void iwi_tick_time(double ns, char buf[IWI_SVG_TEXT_SIZE]);
void iwi_tick_ranks(double ranks, char buf[IWI_SVG_TEXT_SIZE]);
void iwi_tick_plain(double value, char buf[IWI_SVG_TEXT_SIZE]);
void iwi_tick_percent(double share, char buf[IWI_SVG_TEXT_SIZE]);
void iwi_tick_frequency(double hz, char buf[IWI_SVG_TEXT_SIZE]);
void iwi_tick_power(double power, char buf[IWI_SVG_TEXT_SIZE]);
void iwi_tick_times(double factor, char buf[IWI_SVG_TEXT_SIZE]);

/* ---- shapes, in values of the axes; what lies nowhere is left out ---- */

/* As web/report.css has them: "var(--series-3)". */
const char *iwi_svg_colour(long style);

void iwi_svg_line(struct iwi_svg *svg, double x1, double y1, double x2, double y2, const char *attributes);
void iwi_svg_box(struct iwi_svg *svg, double x1, double y1, double x2, double y2, const char *colour,
                 double opacity);
void iwi_svg_dot(struct iwi_svg *svg, double x, double y, double radius, const char *colour);
/* A triangle that stands on its tip at (x, y). */
void iwi_svg_mark(struct iwi_svg *svg, double x, double y, const char *colour);
void iwi_svg_name_mark(struct iwi_svg *svg, double x, double y, const char *colour, const char *text);
void iwi_svg_text(struct iwi_svg *svg, double x, double y, const char *colour, const char *text);

/* A path: begin, points ("M" first, then "L"), end. */
void iwi_svg_path_begin(struct iwi_svg *svg);
void iwi_svg_path_point(struct iwi_svg *svg, char command, double x, double y);
void iwi_svg_path_end(struct iwi_svg *svg, const char *attributes);

#endif
