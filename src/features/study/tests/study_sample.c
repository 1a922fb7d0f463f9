/* Results of studies made up for tests of reports.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "study_sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static char *copy(const char *text)
{
    char *made = strdup(text);

    if (made == NULL) {
        abort();
    }
    return made;
}

void study_sample_rename(char **field, const char *text)
{
    free(*field);
    *field = copy(text);
}

static void *zeroed(size_t count, size_t size)
{
    void *made = calloc(count + 1, size);

    if (made == NULL) {
        abort();
    }
    return made;
}

static char *numbered(const char *const *names, size_t name_count, const char *other, size_t number)
{
    char text[64];

    snprintf(text, sizeof text, "%s %zu", other, number);
    return copy(number < name_count ? names[number] : text);
}

/* Ranks at which the slowdown of the first work is 1. */
static double inflection_of(size_t system)
{
    static const double known[] = {512.0, 4096.0, 8192.0, 1e8};

    return system < 4 ? known[system] : 64.0 * pow(1.7, (double)system);
}

static void fill_times(iw_cell_result *cell, size_t system, size_t work)
{
    const double ratio = pow((double)cell->ranks / inflection_of(system), 0.8) / (1.0 + (double)work * 2.0) /
                         (cell->sync == IW_SYNC_NONE ? 1.0 : 20.0);
    const double slowdown = ratio / (1.0 + ratio / 150.0);
    const double base = 3000.0 * log2(cell->ranks) * (1.0 + (double)system * 0.3) / cell->net_scale +
                        (double)cell->bytes * 0.5;
    const double spread = base * slowdown;
    const double ci = 2.0 / sqrt((double)cell->trials);
    const bool has_interval = cell->trials >= IW_LEAST_TRIALS;

    cell->noiseless_ns = base;
    cell->makespan_ns = (iw_summary){.count = cell->trials,
                                     .min = base + 0.2 * spread,
                                     .q1 = base + 0.75 * spread,
                                     .median = base + spread,
                                     .q3 = base + 1.4 * spread,
                                     .max = base * 1.01 + 4.0 * spread,
                                     .mean = base + 1.1 * spread,
                                     .median_low = has_interval ? base + (1.0 - ci) * spread : NAN,
                                     .median_high = has_interval ? base + (1.0 + ci) * spread : NAN,
                                     .mean_low = has_interval ? base + (1.1 - ci) * spread : NAN,
                                     .mean_high = has_interval ? base + (1.1 + 2.0 * ci) * spread : NAN};
    cell->p5_ns = base + 0.4 * spread;
    cell->p95_ns = base + 2.2 * spread;
}

static void fill_cell(iw_cell_result *cell, const struct study_sample *sample, size_t number)
{
    static const char *const systems[] = {"chic", "altix", "xt4", "zeptoos"};
    static const char *const works[] = {"allreduce:dissemination", "bcast:binomial"};
    static const double scales[] = {1.0, 10.0, 0.1};
    const size_t point = number % sample->points, net = number / sample->points % sample->nets;
    const size_t rest = number / sample->points / sample->nets;
    const size_t sync = rest % sample->syncs, size = rest / sample->syncs % sample->sizes;
    const size_t work = rest / sample->syncs / sample->sizes % sample->works;
    const size_t system = rest / sample->syncs / sample->sizes / sample->works;

    snprintf(cell->id, sizeof cell->id, "%016zx", number);
    cell->system = numbered(systems, 4, "system", system);
    cell->work = numbered(works, 2, "work", work);
    cell->net = copy("L 2 us, o 1 us, g 1 us");
    cell->noise = copy("poisson:100Hz,20us");
    cell->ranks = UINT32_C(2) << point;
    cell->bytes = size == 0 ? 1 : UINT64_C(1) << (10 * size);
    cell->trials = sample->trials;
    cell->seed = 1;
    cell->messages = (uint64_t)cell->ranks * (point + 1);
    cell->sync = (iw_sync)(sync % 3);
    cell->net_scale = scales[net % 3];
    cell->noise_share = 0.002;
    fill_times(cell, system, work);
}

iw_study_results *study_sample_new(const struct study_sample *sample)
{
    static const char *const attributes[][2] = {
        {"host", "node17"}, {"version", "0.1.0"}, {"date", "2026-11-01T12:00:00Z"}};
    const size_t count =
        sample->systems * sample->works * sample->sizes * sample->syncs * sample->nets * sample->points;
    iw_study_results *results = zeroed(1, sizeof *results);

    *results = (iw_study_results){.name = copy("four-systems"),
                                  .title = copy("Four systems under dissemination and binomial tree"),
                                  .text = copy("title: Four systems\nsystems:\n  - name: chic\n"),
                                  .threshold = 1.0,
                                  .expected = count,
                                  .count = count,
                                  .cells = zeroed(count, sizeof *results->cells),
                                  .attribute_count = 3,
                                  .attributes = zeroed(3, sizeof *results->attributes)};
    for (size_t i = 0; i < count; i++) {
        fill_cell(&results->cells[i], sample, i);
    }
    for (size_t i = 0; i < 3; i++) {
        results->attributes[i].name = copy(attributes[i][0]);
        results->attributes[i].value = copy(attributes[i][1]);
    }
    return results;
}
