/* Axes of figures: how long they are, round ticks, and how values read.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <string.h>

#include "core/base/base.h"
#include "kit/figure/figure_parts.h"
#include "kit/text/words.h"

/* ---- length ---- */

static bool is_fixed(const struct iwi_figure_axis *axis)
{
    return axis->low < axis->high;
}

static void include(struct iwi_scale *scale, double value)
{
    if (isfinite(value) && (value > 0.0 || !scale->axis->is_log)) {
        scale->low = fmin(scale->low, value);
        scale->high = fmax(scale->high, value);
    }
}

static void include_marks(const struct iwi_figure *figure, char role, struct iwi_scale *scale)
{
    for (size_t m = 0; m < figure->mark_count; m++) {
        const struct iwi_mark *mark = figure->marks[m];
        const char *roles = iwi_mark_roles(mark->kind);

        for (size_t i = 0; i < mark->count; i++) {
            for (size_t k = 0; roles[k] != '\0'; k++) {
                if (roles[k] == role) {
                    include(scale, iwi_mark_item(mark, i)[k]);
                }
            }
        }
    }
}

/* Nothing to show, or one value only: still an axis. */
static void settle(struct iwi_scale *scale, double margin)
{
    const bool is_log = scale->axis->is_log;

    if (scale->low > scale->high) {
        scale->low = scale->high = 1.0;
    }
    if (scale->low == scale->high) {
        const double more = fmax(fabs(scale->low) * 0.1, 1e-9);

        scale->low = is_log ? scale->low / 2.0 : scale->low - more;
        scale->high = is_log ? scale->high * 2.0 : scale->high + more;
    }
    if (is_log) {
        const double factor = pow(scale->high / scale->low, margin);

        scale->low /= factor;
        scale->high *= factor;
    } else {
        const double more = (scale->high - scale->low) * margin;

        scale->low -= scale->low == 0.0 ? 0.0 : more;
        scale->high += more;
    }
}

/* Boxes at the ends of the x axis are whole. */
static double box_margin(const struct iwi_figure *figure)
{
    double margin = 0.03;

    for (size_t m = 0; m < figure->mark_count; m++) {
        if (figure->marks[m]->kind == IWI_MARK_BOX && figure->marks[m]->count > 1) {
            margin = fmax(margin, 0.4 / (double)figure->marks[m]->count);
        }
    }
    return margin;
}

bool iwi_axis_is_down(const struct iwi_figure_axis *axis)
{
    return axis->unit == IWI_AXIS_NAMES || axis->unit == IWI_AXIS_NONE;
}

static void find_scale(const struct iwi_figure *figure, char role, struct iwi_scale *scale)
{
    const struct iwi_figure_axis *axis = role == 'x' ? &figure->x : &figure->y;
    const bool is_rows = role == 'y' && iwi_axis_is_down(axis);

    *scale = (struct iwi_scale){.axis = axis, .from = is_rows ? 1.0 : 0.0, .to = is_rows ? 0.0 : 1.0};
    if (is_fixed(axis)) {
        scale->low = axis->low;
        scale->high = axis->high;
    } else if (axis->unit == IWI_AXIS_NAMES) {
        scale->low = 0.5;
        scale->high = (double)axis->name_count + 0.5;
    } else {
        scale->low = INFINITY;
        scale->high = -INFINITY;
        include_marks(figure, role, scale);
        settle(scale, role == 'x' ? box_margin(figure) : 0.04);
    }
}

void iwi_figure_scales(const struct iwi_figure *figure, struct iwi_scale *x, struct iwi_scale *y)
{
    find_scale(figure, 'x', x);
    find_scale(figure, 'y', y);
}

double iwi_scale_at(const struct iwi_scale *scale, double value)
{
    const bool is_log = scale->axis->is_log;
    const double part = is_log ? log(value / scale->low) / log(scale->high / scale->low)
                               : (value - scale->low) / (scale->high - scale->low);

    return (is_log && !(value > 0.0)) || !isfinite(part) ? NAN
                                                         : scale->from + part * (scale->to - scale->from);
}

/* ---- ticks ---- */

static void add_tick(const struct iwi_scale *scale, double value, double ticks[IWI_MOST_TICKS], size_t *count)
{
    const double slack = scale->axis->is_log ? 1e-9 * value : 1e-9 * (scale->high - scale->low);

    if (*count < IWI_MOST_TICKS && value >= scale->low - slack && value <= scale->high + slack) {
        ticks[(*count)++] = value;
    }
}

static size_t linear_ticks(const struct iwi_scale *scale, size_t wanted, double ticks[IWI_MOST_TICKS])
{
    const double raw = (scale->high - scale->low) / (double)wanted * (1.0 - 1e-9);
    const double power = pow(10.0, floor(log10(raw)));
    const bool is_whole = scale->axis->unit == IWI_AXIS_INDEX || scale->axis->unit == IWI_AXIS_COUNT;
    const double found = power * (raw <= power         ? 1.0
                                  : raw <= 2.0 * power ? 2.0
                                  : raw <= 5.0 * power ? 5.0
                                                       : 10.0);
    const double step = is_whole ? fmax(found, 1.0) : found;
    size_t count = 0;

    for (double i = ceil(scale->low / step - 1e-9); i * step <= scale->high * (1.0 + 1e-9); i++) {
        add_tick(scale, i * step, ticks, &count);
    }
    return count;
}

/* Each `stride`-th decade, and within a decade the first `parts` of 1, 2, 5. */
static size_t decade_ticks(const struct iwi_scale *scale, int stride, size_t parts,
                           double ticks[IWI_MOST_TICKS])
{
    static const double factors[] = {1.0, 2.0, 5.0};
    size_t count = 0;

    for (int d = (int)floor(log10(scale->low)); d <= (int)ceil(log10(scale->high)); d++) {
        for (size_t i = 0; i < parts && d % stride == 0; i++) {
            add_tick(scale, factors[i] * pow(10.0, d), ticks, &count);
        }
    }
    return count;
}

static size_t binary_ticks(const struct iwi_scale *scale, size_t wanted, double ticks[IWI_MOST_TICKS])
{
    const int stride = 1 + (int)(log2(scale->high / scale->low) / (double)wanted);
    size_t count = 0;

    for (int p = (int)floor(log2(scale->low)); p <= (int)ceil(log2(scale->high)); p++) {
        if (p % stride == 0) {
            add_tick(scale, exp2(p), ticks, &count);
        }
    }
    return count;
}

size_t iwi_scale_ticks(const struct iwi_scale *scale, size_t wanted, double ticks[IWI_MOST_TICKS])
{
    const double decades = scale->axis->is_log ? log10(scale->high / scale->low) : 0.0;
    size_t count = 0;

    if (scale->axis->unit == IWI_AXIS_NAMES) {
        for (size_t i = 0; i < scale->axis->name_count && i < IWI_MOST_TICKS; i++) {
            ticks[count++] = (double)i + 1.0;
        }
        return count;
    }
    if (scale->axis->is_log && scale->axis->unit == IWI_AXIS_RANKS) {
        return binary_ticks(scale, wanted, ticks);
    }
    if (!scale->axis->is_log || decades < 0.6) {
        return linear_ticks(scale, wanted, ticks);
    }
    count = 3.0 * decades <= (double)wanted + 2.0 ? decade_ticks(scale, 1, 3, ticks) : 0;
    return count > 0 ? count : decade_ticks(scale, 1 + (int)(decades / (double)wanted), 1, ticks);
}

/* ---- texts ---- */

static const char *time_text(double ns, char buf[IWI_PHRASE_SIZE])
{
    static const struct {
        double ns;
        const char *name;
    } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1.0, "ns"}, {1e-3, "ps"}};
    size_t i = 0;

    while (i < 4 && fabs(ns) < 0.9999 * units[i].ns) {
        i++;
    }
    snprintf(buf, IWI_PHRASE_SIZE, ns != 0.0 ? "%.5g %s" : "0", ns / units[i].ns, units[i].name);
    return buf;
}

static const char *power_text(double power, char buf[IWI_PHRASE_SIZE])
{
    const double decade = floor(log10(power) + 1e-9);

    if (decade == 0.0) {
        snprintf(buf, IWI_PHRASE_SIZE, "%.3g", power);
    } else {
        snprintf(buf, IWI_PHRASE_SIZE, "%.3ge%.0f", power / pow(10.0, decade), decade);
    }
    return buf;
}

const char *iwi_axis_text(const struct iwi_figure_axis *axis, double value, char buf[IWI_PHRASE_SIZE])
{
    char number[IWI_NUMBER_SIZE];

    value += 0.0; /* no -0 */
    switch (axis->unit) {
    case IWI_AXIS_NS: return time_text(value, buf);
    case IWI_AXIS_INDEX: snprintf(buf, IWI_PHRASE_SIZE, "%.0f", value); break;
    case IWI_AXIS_COUNT:
    case IWI_AXIS_RANKS:
        snprintf(buf, IWI_PHRASE_SIZE, "%s", iwi_ranks_text((uint64_t)llround(fmax(value, 0.0)), number));
        break;
    case IWI_AXIS_SHARE: snprintf(buf, IWI_PHRASE_SIZE, "%.4g %%", 100.0 * value); break;
    case IWI_AXIS_FACTOR: snprintf(buf, IWI_PHRASE_SIZE, "%.4gx", value); break;
    case IWI_AXIS_HZ:
        snprintf(buf, IWI_PHRASE_SIZE, value < 1000.0 ? "%.4g Hz" : "%.4g kHz",
                 value < 1000.0 ? value : value / 1000.0);
        break;
    case IWI_AXIS_POWER: return power_text(value, buf);
    case IWI_AXIS_NAMES: {
        const long row = lround(value) - 1;

        snprintf(buf, IWI_PHRASE_SIZE, "%s",
                 row >= 0 && (size_t)row < axis->name_count ? axis->names[row] : "");
        break;
    }
    case IWI_AXIS_NUMBER:
    default: snprintf(buf, IWI_PHRASE_SIZE, "%.7g", value);
    }
    return buf;
}

/* ---- items ---- */

static void append_range(char text[IWI_PARAGRAPH_SIZE], const struct iwi_figure_axis *axis, const char *what,
                         double low, double high)
{
    char from[IWI_PHRASE_SIZE], to[IWI_PHRASE_SIZE];

    if (isfinite(low) && isfinite(high)) {
        iwi_axis_text(axis, low, from);
        iwi_axis_text(axis, high, to);
        iwi_append(text, "\n%s%s", what, from);
        if (strcmp(from, to) != 0) {
            iwi_append(text, " to %s", to);
        }
    }
}

static void append_box(const struct iwi_figure_axis *axis, const double *box, char text[IWI_PARAGRAPH_SIZE])
{
    char median[IWI_PHRASE_SIZE];

    iwi_append(text, ": median %s", iwi_axis_text(axis, box[4], median));
    append_range(text, axis, "middle half ", box[3], box[5]);
    append_range(text, axis, "5 % to 95 %: ", box[2], box[6]);
    append_range(text, axis, "all: ", box[1], box[7]);
}

void iwi_item_text(const struct iwi_figure *figure, const struct iwi_mark *mark, size_t item,
                   char text[IWI_PARAGRAPH_SIZE])
{
    const double *n = iwi_mark_item(mark, item);
    char x[IWI_PHRASE_SIZE], y[IWI_PHRASE_SIZE];

    text[0] = '\0';
    if (mark->label != NULL) {
        iwi_append(text, "%.200s\n", mark->label);
    }
    if (iwi_mark_text(mark, item) != NULL) {
        iwi_append(text, "%.400s", iwi_mark_text(mark, item));
        return;
    }
    iwi_append(text, "%s%s", iwi_axis_text(&figure->x, n[0], x),
               figure->x.unit == IWI_AXIS_RANKS ? " ranks" : "");
    switch (mark->kind) {
    case IWI_MARK_BOX: append_box(&figure->y, n, text); break;
    case IWI_MARK_BAR:
        iwi_append(text, " to %s: %s", iwi_axis_text(&figure->x, n[1], x),
                   iwi_axis_text(&figure->y, n[3], y));
        break;
    case IWI_MARK_RANGE:
    case IWI_MARK_BAND: append_range(text, &figure->y, "", n[1], n[2]); break;
    case IWI_MARK_PIN:
        if (n[3] > n[2]) {
            append_range(text, &figure->x, "95 % CI ", n[2], n[3]);
        }
        break;
    default: iwi_append(text, ": %s", iwi_axis_text(&figure->y, n[1], y));
    }
}

bool iwi_figure_has_legend(const struct iwi_figure *figure)
{
    size_t labels = 0;

    for (size_t i = 0; i < figure->mark_count; i++) {
        labels += figure->marks[i]->label != NULL;
        labels += figure->marks[i]->layer_count;
    }
    return labels > 1;
}

bool iwi_legend_entry(const struct iwi_figure *figure, size_t index, struct iwi_mark *entry)
{
    for (size_t i = 0; i < figure->mark_count; i++) {
        const struct iwi_mark *mark = figure->marks[i];

        if (mark->label != NULL && index-- == 0) {
            *entry = *mark;
            return true;
        }
        if (index < mark->layer_count) {
            *entry = (struct iwi_mark){
                .kind = IWI_MARK_BAR, .ink = mark->layers[index].ink, .label = mark->layers[index].label};
            return true;
        }
        index -= mark->layer_count;
    }
    return false;
}
