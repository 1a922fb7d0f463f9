/* Which sources make the difference between two recordings.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "features/recordings/compare/compare.h"
#include "kit/facts/recording_stats.h"

/* Time by source and block of one side. */
struct source_sums {
    const struct iwi_blocks *blocks;
    double *time_ns;        /* [source][block] */
    const size_t *place_of; /* of the side's source numbers among those of both */
    bool *is_there;         /* by place */
};

static void add_one(void *arg, uint32_t source, int64_t start_ns, int64_t time_ns)
{
    struct source_sums *sums = arg;
    const size_t place = sums->place_of[source];

    sums->time_ns[place * sums->blocks->count + iwi_block_of(sums->blocks, start_ns)] += (double)time_ns;
    sums->is_there[place] = true;
}

/* A source of a side, to be sorted by name. */
struct named {
    const iw_source *source;
    size_t *place;
};

IWI_COMPARE(compare_named, struct named, IWI_RISING(source->kind), IWI_TEXT(source->name))

static void list_named(const iw_recording *recording, size_t *place_of, struct named *list)
{
    for (size_t s = 0; s < recording->source_count; s++) {
        list[s] = (struct named){&recording->sources[s], &place_of[s]};
    }
}

/* Gives sources of the same class and name the same place; returns how many places there are. */
static size_t give_places(struct named *list, size_t count)
{
    size_t places = 0;

    iwi_sort(list, count, compare_named);
    for (size_t i = 0; i < count; i++) {
        places += i == 0 || compare_named(&list[i - 1], &list[i]) != 0;
        *list[i].place = places - 1;
    }
    return places;
}

/* Larger differences first; equal ones by name, so that the order is the same everywhere. */
IWI_COMPARE(compare_rows, iw_compare_source,
            IWI_ORDER(fabs(right->share.difference.value), fabs(left->share.difference.value)),
            IWI_RISING(source.kind), IWI_TEXT(source.name))

/* Rows of the sources that took time, from the sums of both sides. */
static iw_status make_rows(const iw_log *log, const struct iwi_compared_side *const sides[2],
                           const struct source_sums sums[2], const struct named *list, size_t count,
                           iw_noise_comparison *comparison)
{
    for (size_t i = 0; i < count; i++) {
        const size_t place = *list[i].place;
        iw_compare_source *row = &comparison->sources[comparison->source_count];

        if ((i > 0 && *list[i - 1].place == place) ||
            (!sums[0].is_there[place] && !sums[1].is_there[place])) {
            continue;
        }
        row->source = *list[i].source;
        row->is_in_a = sums[0].is_there[place];
        row->is_in_b = sums[1].is_there[place];
        IW_TRY(iwi_compare_ratio(log, sides[0], &sums[0].time_ns[place * sides[0]->blocks.count], sides[1],
                                 &sums[1].time_ns[place * sides[1]->blocks.count], &row->share));
        comparison->source_count++;
    }
    iwi_sort(comparison->sources, comparison->source_count, compare_rows);
    return IW_OK;
}

/* `place_of` and `list` have room for the sources of both. */
static iw_status compare_named_sources(const iw_log *log, const struct iwi_compared_side *const sides[2],
                                       size_t *place_of, struct named *list, iw_noise_comparison *comparison)
{
    const size_t count_a = sides[0]->detours->source_count;
    const size_t count = count_a + sides[1]->detours->source_count;
    struct source_sums sums[2] = {{.place_of = place_of}, {.place_of = &place_of[count_a]}};
    iw_status status = IW_OK;
    size_t places;

    list_named(sides[0]->detours, place_of, list);
    list_named(sides[1]->detours, &place_of[count_a], &list[count_a]);
    places = give_places(list, count);
    for (size_t k = 0; k < 2; k++) {
        sums[k].blocks = &sides[k]->blocks;
        sums[k].time_ns = iwi_new_array(log, places * sides[k]->blocks.count, sizeof *sums[k].time_ns);
        sums[k].is_there = iwi_new_array(log, places, sizeof *sums[k].is_there);
        status = sums[k].time_ns != NULL && sums[k].is_there != NULL ? status : IW_ERR_NOMEM;
        for (size_t c = 0; status == IW_OK && c < sides[k]->detours->cpu_count; c++) {
            iwi_each_occurrence(&sides[k]->detours->cpus[c], add_one, &sums[k]);
        }
    }
    comparison->sources = iwi_new_array(log, places, sizeof *comparison->sources);
    if (status == IW_OK) {
        status =
            comparison->sources != NULL ? make_rows(log, sides, sums, list, count, comparison) : IW_ERR_NOMEM;
    }
    for (size_t k = 0; k < 2; k++) {
        free(sums[k].time_ns);
        free(sums[k].is_there);
    }
    return status;
}

iw_status iwi_compare_sources(const iw_log *log, const struct iwi_compared_side *a,
                              const struct iwi_compared_side *b, iw_noise_comparison *comparison)
{
    const struct iwi_compared_side *const sides[2] = {a, b};
    const size_t count = a->detours->source_count + b->detours->source_count;
    size_t *place_of = iwi_new_array(log, count, sizeof *place_of);
    struct named *list = iwi_new_array(log, count, sizeof *list);
    iw_status status = IW_ERR_NOMEM;

    if (place_of != NULL && list != NULL) {
        status = compare_named_sources(log, sides, place_of, list, comparison);
    }
    free(list);
    free(place_of);
    return status;
}
