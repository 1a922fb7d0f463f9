/* Detours of a recording over time, by source.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "report/html_noise.h"

#include <math.h>
#include <stdlib.h>

#include "base/base.h"
#include "report/json_util.h"
#include "report/study_parts.h"

enum {
    MOST_POINTS = 20000, /* of a page; the longest quarter of them are the longest of all */
    MOST_LONGEST = MOST_POINTS / 4,
    MOST_SERIES = 7, /* one each for the largest sources, one more for the rest */
    TABLE_ROWS = 20
};

struct point {
    int64_t start_ns, duration_ns;
    uint32_t cpu, source;
};

struct scatter {
    const iw_recording *detours;
    size_t count, longest_count;
    struct point *points; /* the longest first, longest_count of them; then those that are kept of the rest */
    size_t kept, stride;
};

/* The longest first; of equal ones the earliest. */
static int compare_points(const void *a, const void *b)
{
    const struct point *x = a, *y = b;

    if (x->duration_ns != y->duration_ns) {
        return x->duration_ns < y->duration_ns ? 1 : -1;
    }
    if (x->start_ns != y->start_ns) {
        return x->start_ns < y->start_ns ? -1 : 1;
    }
    return (x->cpu > y->cpu) - (x->cpu < y->cpu);
}

static void gather(struct scatter *s)
{
    for (size_t c = 0; c < s->detours->cpu_count; c++) {
        const iw_detours *cpu = &s->detours->cpus[c];

        for (size_t i = 0; i < cpu->count; i++) {
            if (cpu->duration_ns[i] > 0) {
                s->points[s->count++] = (struct point){cpu->start_ns[i], cpu->duration_ns[i], cpu->cpu,
                                                       cpu->source != NULL ? cpu->source[i] : 0};
            }
        }
    }
}

/* Sorted by duration, every so many of the shorter ones stand for all of them. */
static void thin_out(struct scatter *s)
{
    const size_t rest = MOST_POINTS - MOST_LONGEST;

    qsort(s->points, s->count, sizeof *s->points, compare_points);
    s->stride = 1;
    s->longest_count = s->count < MOST_LONGEST ? s->count : MOST_LONGEST;
    s->kept = s->longest_count;
    if (s->count > s->longest_count) {
        s->stride = (s->count - s->longest_count + rest - 1) / rest;
    }
    for (size_t i = s->longest_count; i < s->count; i += s->stride) {
        s->points[s->kept++] = s->points[i];
    }
}

/* ---- data ---- */

static json_t *points_of(const struct scatter *s, const unsigned char *series_of, unsigned series)
{
    json_t *points = json_array();

    for (size_t i = 0; i < s->kept; i++) {
        const struct point *p = &s->points[i];

        if (series_of[p->source] == series) {
            (void)json_array_append_new(points,
                                        json_pack("[o, o]", iwi_html_number((double)p->start_ns / 1e9),
                                                  iwi_html_number((double)p->duration_ns)));
        }
    }
    return points;
}

static json_t *data_of(const struct scatter *s, const unsigned char *series_of, const size_t *order,
                       size_t source_count)
{
    const size_t named = source_count <= MOST_SERIES + 1 ? source_count : MOST_SERIES;
    json_t *all = json_array();
    struct iwi_detour_axes axes;

    (void)iwi_detour_axes(s->detours, &axes);
    for (unsigned i = 0; i < named + (named < source_count); i++) {
        const char *label = i < named ? iwi_source_name(&s->detours->sources[order[i]]) : "others";

        (void)json_array_append_new(all, json_pack("{s:o, s:I, s:o}", "label", iwi_json_text(label), "style",
                                                   (json_int_t)i, "points", points_of(s, series_of, i)));
    }
    return json_pack("{s:s, s:o, s:o}", "kind", "scatter", "length", iwi_html_number(axes.length_ns / 1e9),
                     "series", all);
}

/* ---- table ---- */

static void write_table(FILE *out, const void *arg)
{
    const struct scatter *s = arg;
    char number[IWI_NUMBER_SIZE];

    iwi_html_head(out, false, "Time");
    iwi_html_head(out, false, "CPU");
    iwi_html_head(out, false, "Length");
    iwi_html_head(out, true, "Source");
    iwi_html_table_body(out);
    for (size_t i = 0; i < s->longest_count && i < TABLE_ROWS; i++) {
        const struct point *p = &s->points[i];

        iwi_html_row_begin(out);
        iwi_html_cell(out, IWI_CELL_ROW_HEAD, "%.6f s", (double)p->start_ns / 1e9);
        iwi_html_cell(out, IWI_CELL_NUMBER, "%" PRIu32, p->cpu);
        iwi_html_cell(out, IWI_CELL_NUMBER, "%s", iwi_ns_short_text((double)p->duration_ns, number));
        iwi_html_cell(out, IWI_CELL_WORDS, "%s", iwi_source_name(&s->detours->sources[p->source]));
        iwi_html_row_end(out);
    }
}

/* ---- figure ---- */

static void write_message(const struct scatter *s, char *message)
{
    const struct point *longest = &s->points[0];
    char number[IWI_NUMBER_SIZE], count[IWI_NUMBER_SIZE];

    iwi_append(message, "The longest of %s took %s, on CPU %" PRIu32 " after %.3f s (%.60s).",
               iwi_ranks_text(s->count, count), iwi_ns_short_text((double)longest->duration_ns, number),
               longest->cpu, (double)longest->start_ns / 1e9,
               iwi_source_name(&s->detours->sources[longest->source]));
    if (s->stride > 1) {
        iwi_append(message, " Shown are the %s longest, and one of %zu of the rest.",
                   iwi_ranks_text(s->longest_count, count), s->stride);
    }
}

static iw_status write_figure(struct iwi_html *html, const struct scatter *s, json_t *data)
{
    const bool is_quanta = s->detours->probe != IW_PROBE_SELFISH;
    char message[IWI_PARAGRAPH_SIZE] = "";

    write_message(s, message);
    return iwi_html_figure(
        html, &(struct iwi_figure){.title = is_quanta ? "Losses of quanta over time" : "Detours over time",
                                   .message = message,
                                   .data = data,
                                   .table_caption = is_quanta ? "The largest losses" : "The longest detours",
                                   .write_table = write_table,
                                   .arg = s});
}

iw_status iwi_html_noise_scatter(struct iwi_html *html, const struct iwi_noise_page *page,
                                 const iw_recording *detours)
{
    struct scatter s = {.detours = detours};
    size_t *order = iwi_new_array(html->log, detours->source_count, sizeof *order);
    unsigned char *series_of = iwi_new_array(html->log, detours->source_count, 1);
    size_t source_count = 0, all = 0;
    iw_status status = IW_ERR_NOMEM;

    for (size_t c = 0; c < detours->cpu_count; c++) {
        all += detours->cpus[c].count;
    }
    s.points = iwi_new_array(html->log, all, sizeof *s.points);
    if (order != NULL && series_of != NULL && s.points != NULL) {
        source_count = iwi_order_rows(page->facts->by_source, detours->source_count, order);
        if (source_count == 0) {
            order[source_count++] = 0;
        }
        for (size_t i = 0; i < source_count; i++) {
            series_of[order[i]] =
                (unsigned char)(source_count <= MOST_SERIES + 1 || i < MOST_SERIES ? i : (size_t)MOST_SERIES);
        }
        gather(&s);
        thin_out(&s);
        status = write_figure(html, &s, data_of(&s, series_of, order, source_count));
    }
    free(s.points);
    free(series_of);
    free(order);
    return status;
}
