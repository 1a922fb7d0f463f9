/* What the writers make of a study.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "study_written.h"

#include <stdlib.h>
#include <string.h>

#include "support/support.h"

#include "study_sample.h"

iw_study_results *study_one_series(size_t points)
{
    const struct study_sample sample = {
        .systems = 1, .works = 1, .sizes = 1, .syncs = 1, .nets = 1, .points = points, .trials = 1000};

    return study_sample_new(&sample);
}

void study_set_times(iw_cell_result *cell, double noiseless, double min, double p5, double q1, double median,
                     double q3, double p95, double max)
{
    cell->noiseless_ns = noiseless;
    cell->p5_ns = p5;
    cell->p95_ns = p95;
    cell->makespan_ns.min = min;
    cell->makespan_ns.q1 = q1;
    cell->makespan_ns.median = median;
    cell->makespan_ns.q3 = q3;
    cell->makespan_ns.max = max;
    cell->makespan_ns.mean = median;
    cell->makespan_ns.median_low = cell->makespan_ns.median_high = median;
    cell->makespan_ns.mean_low = cell->makespan_ns.mean_high = median;
}

char *study_text(const iw_study_results *results, bool has_colour)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    const iw_doc_style look = {.has_colour = has_colour};

    assert_non_null(out);
    assert_ok(iw_doc_write(NULL, iw_study_doc(results), IW_DOC_TEXT, &look, out));
    assert_int_equal(fclose(out), 0);
    return text;
}

char *study_csv(const iw_study_results *results)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    assert_ok(iw_doc_write(NULL, iw_study_doc(results), IW_DOC_CSV, NULL, out));
    assert_int_equal(fclose(out), 0);
    return text;
}

static char *unwrapped(const iw_study_results *results)
{
    char *text = study_text(results, false);
    size_t used = 0;

    for (size_t i = 0; text[i] != '\0'; i++) {
        const char c = text[i];

        text[used] = c == '\n' ? ' ' : c;
        used += text[used] != ' ' || used == 0 || text[used - 1] != ' ';
    }
    text[used] = '\0';
    return text;
}

void study_assert_says(const iw_study_results *results, const char *part)
{
    char *text = unwrapped(results);

    if (strstr(text, part) == NULL) {
        fail_msg("no '%s' in:\n%s", part, text);
    }
    free(text);
}

void study_assert_silent(const iw_study_results *results, const char *part)
{
    char *text = unwrapped(results);

    if (strstr(text, part) != NULL) {
        fail_msg("'%s' in:\n%s", part, text);
    }
    free(text);
}

char *study_read_file(const char *folder, const char *name)
{
    char path[256], *text = NULL;
    size_t size = 0;
    FILE *in, *out = open_memstream(&text, &size);
    int c;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    in = fopen(path, "r");
    if (in == NULL) {
        fail_msg("there is no '%s'", path);
    }
    assert_non_null(out);
    while ((c = fgetc(in)) != EOF) {
        (void)fputc(c, out);
    }
    (void)fclose(in);
    assert_int_equal(fclose(out), 0);
    return text;
}
