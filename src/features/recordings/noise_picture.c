/* What is drawn of a recording: some of its detours, and how many took how long.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/recordings/noise_picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/order.h"

enum {
    MOST_POINTS = 4000,
    LONGEST_POINTS = 1000, /* that are the longest of all */
    BINS_PER_DECADE = 6,
    DECADES = 19, /* of an int64_t */
    BINS = DECADES * BINS_PER_DECADE
};

/* ---- points ---- */

/* The longest first; of equal ones the earliest. */
IWI_COMPARE(compare_points, iw_noise_point, IWI_FALLING(duration_ns), IWI_RISING(start_ns), IWI_RISING(cpu))

static void gather(const iw_recording *detours, const uint32_t *place_of, iw_noise_picture *picture)
{
    for (size_t c = 0; c < detours->cpu_count; c++) {
        const iw_detours *cpu = &detours->cpus[c];

        picture->length_ns = fmax(picture->length_ns, (double)cpu->length_ns);
        for (size_t i = 0; i < cpu->count; i++) {
            picture->length_ns = fmax(picture->length_ns, (double)cpu->start_ns[i]);
            if (cpu->duration_ns[i] > 0) {
                picture->points[picture->count++] =
                    (iw_noise_point){(double)cpu->start_ns[i], (double)cpu->duration_ns[i], cpu->cpu,
                                     place_of[cpu->source != NULL ? cpu->source[i] : 0]};
            }
        }
    }
}

/* In no order of time, the same on every machine. */
static uint64_t shuffled(const iw_noise_point *point)
{
    uint64_t mixed = (uint64_t)point->start_ns + ((uint64_t)point->cpu << 48); /* as splitmix64 */

    mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ (mixed >> 31);
}

/* The longest first; equal ones from all of the time. */
IWI_COMPARE(compare_shuffled, iw_noise_point, IWI_FALLING(duration_ns),
            IWI_ORDER(shuffled(left), shuffled(right)))

/* Sorted by duration, every so many of the shorter ones stand for all of them. */
static void thin_out(iw_noise_picture *picture)
{
    const size_t count = picture->count, rest = MOST_POINTS - LONGEST_POINTS;

    if (count > MOST_POINTS) { /* of equal ones the earliest would be all that is drawn */
        iwi_sort(picture->points, count, compare_shuffled);
    }
    picture->longest_count = count <= MOST_POINTS ? count : LONGEST_POINTS;
    picture->point_count = picture->longest_count;
    picture->stride = count > MOST_POINTS ? (count - LONGEST_POINTS + rest - 1) / rest : 1;
    for (size_t i = picture->longest_count; i < count; i += picture->stride) {
        picture->points[picture->point_count++] = picture->points[i];
    }
    iwi_sort(picture->points, picture->longest_count, compare_points);
    iwi_sort(&picture->points[picture->longest_count], picture->point_count - picture->longest_count,
             compare_points);
}

/* ---- bins ---- */

/* 1, 1.5, 2, 3, 5, 7, 10, 15, ... ns */
static double begin_ns(size_t bin)
{
    static const double factors[BINS_PER_DECADE] = {1.0, 1.5, 2.0, 3.0, 5.0, 7.0};
    const size_t decade = bin / BINS_PER_DECADE;

    return pow(10.0, (double)decade) * factors[bin % BINS_PER_DECADE];
}

static size_t bin_of(double ns)
{
    size_t bin = (size_t)fmin(floor(log10(ns)), DECADES - 1) * BINS_PER_DECADE;

    while (bin + 1 < BINS && ns >= begin_ns(bin + 1)) {
        bin++;
    }
    return bin;
}

/* Of all points, before they are thinned out, the longest first. */
static void fill_bins(iw_noise_picture *picture)
{
    const size_t first = bin_of(picture->points[picture->count - 1].duration_ns);

    picture->bin_count = bin_of(picture->points[0].duration_ns) - first + 1;
    for (size_t i = 0; i < picture->bin_count; i++) {
        picture->bins[i].from_ns = begin_ns(first + i);
        picture->bins[i].to_ns = begin_ns(first + i + 1);
    }
    for (size_t i = 0; i < picture->count; i++) {
        const iw_noise_point *point = &picture->points[i];
        iw_noise_bin *bin = &picture->bins[bin_of(point->duration_ns) - first];

        bin->count++;
        bin->time_ns += point->duration_ns;
        bin->by_source[point->source < IW_NOISE_SERIES ? point->source : IW_NOISE_SERIES - 1]++;
    }
}

iw_status iwi_noise_picture_fill(const iw_log *log, const iw_recording *detours, const iw_noise_facts *facts,
                                 iw_noise_picture *picture)
{
    uint32_t *place_of = iwi_new_array(log, detours->source_count, sizeof *place_of);
    size_t count = 0;

    for (size_t c = 0; c < detours->cpu_count; c++) {
        count += detours->cpus[c].count;
    }
    picture->points = iwi_new_array(log, count, sizeof *picture->points);
    picture->bins = iwi_new_array(log, BINS, sizeof *picture->bins);
    if (place_of == NULL || picture->points == NULL || picture->bins == NULL) {
        free(place_of);
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < facts->source_count; i++) {
        place_of[facts->sources[i].number] = (uint32_t)i;
    }
    gather(detours, place_of, picture);
    free(place_of);
    if (picture->count > 0) {
        iwi_sort(picture->points, picture->count, compare_points);
        fill_bins(picture);
        thin_out(picture);
    }
    return IW_OK;
}
