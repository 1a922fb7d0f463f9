/* Critical paths of several trials: their average, and where the largest detours of each were.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/simulate/path_stats.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "core/numeric/numeric.h"
#include "core/stats/mean_interval.h"

static const double LEAST_CHANCE = 0.01;

static void fill_shares(const iw_path *paths, size_t count, struct iwi_path_means *means)
{
    double noise_ps = 0.0, worst_ps = 0.0;

    for (size_t i = 0; i < count; i++) {
        const iw_split *split = &paths[i].split;

        for (size_t part = IW_PART_NOISE; part < IW_PARTS; part++) {
            noise_ps += (double)split->part_ps[part];
        }
        for (size_t h = 0; h < IW_HITS; h++) {
            worst_ps += (double)split->worst[h].lost_ps;
        }
        means->hit_count += split->worst[0].lost_ps > 0;
        means->hops += (double)split->hops / (double)count;
    }
    means->worst_share = noise_ps > 0.0 ? worst_ps / noise_ps : NAN;
}

iw_time iwi_path_at_level(const iw_split *split, iw_part part, uint32_t level)
{
    iw_time outermost_ps = split->part_ps[part];

    if (level < IW_NET_INNER_MAX) {
        return split->inner_ps[level][part - IW_PART_OVERHEAD];
    }
    for (size_t i = 0; i < IW_NET_INNER_MAX; i++) {
        outermost_ps -= split->inner_ps[i][part - IW_PART_OVERHEAD];
    }
    return outermost_ps;
}

/* `values` has room for all paths. */
static void fill_levels(const iw_path *paths, size_t count, double *values, struct iwi_path_means *means)
{
    for (uint32_t level = 0; level <= IW_NET_INNER_MAX; level++) {
        for (size_t part = 0; part < IW_NET_PARTS; part++) {
            for (size_t i = 0; i < count; i++) {
                values[i] =
                    (double)iwi_path_at_level(&paths[i].split, (iw_part)(IW_PART_OVERHEAD + part), level);
            }
            means->level_ps[level][part] = iwi_mean_estimate(values, count);
        }
    }
}

iw_status iwi_path_means(const iw_log *log, const iw_path *paths, size_t count,
                         struct iwi_path_means *means_p)
{
    double *values = iwi_new_array(log, count, sizeof *values);
    struct iwi_path_means means = {.hops = 0.0};

    if (values == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t part = 0; part < IW_PARTS; part++) {
        for (size_t i = 0; i < count; i++) {
            values[i] = (double)paths[i].split.part_ps[part];
        }
        means.part_ps[part] = iwi_mean_estimate(values, count);
    }
    fill_levels(paths, count, values, &means);
    for (size_t i = 0; i < count; i++) {
        values[i] = (double)paths[i].makespan_ps;
    }
    means.makespan_ps = iwi_mean_estimate(values, count);
    free(values);
    fill_shares(paths, count, &means);
    *means_p = means;
    return IW_OK;
}

/* ---- places ---- */

uint32_t iwi_path_place_rank(const iw_path *path, uint32_t unused)
{
    (void)unused;
    return path->split.worst[0].rank;
}

uint32_t iwi_path_place_source(const iw_path *path, uint32_t unused)
{
    (void)unused;
    return path->split.worst[0].source;
}

uint32_t iwi_path_place_seat(const iw_path *path, uint32_t ranks_per_node)
{
    return path->split.worst[0].rank % ranks_per_node;
}

uint32_t iwi_path_place_tenth(const iw_path *path, uint32_t unused)
{
    const iw_hit *worst = path->split.worst;
    const double share = (double)worst[0].at_ps / (double)path->makespan_ps;

    (void)unused;
    if (worst[0].lost_ps == worst[1].lost_ps) {
        return IWI_NO_PLACE;
    }
    return share < 1.0 ? (uint32_t)(10.0 * share) : 9;
}

/* Into the list by trials; the numbers come in rising order. */
static size_t insert_place(iw_hit_place *places, size_t found, iw_hit_place place)
{
    size_t at = found;

    while (at > 0 && places[at - 1].trials < place.trials) {
        if (at < IWI_MOST_PLACES) {
            places[at] = places[at - 1];
        }
        at--;
    }
    if (at < IWI_MOST_PLACES) {
        places[at] = place;
    }
    return found < IWI_MOST_PLACES ? found + 1 : found;
}

/* Bonferroni: over all places at most LEAST_CHANCE. */
static bool stands_out(uint64_t trials, size_t all, uint32_t place_count)
{
    const double chance = iwi_binomial_above(trials - 1, 1.0 / (double)place_count, all);

    return place_count > 1 && (double)place_count * chance < LEAST_CHANCE;
}

iw_status iwi_count_places(const iw_log *log, const iw_path *paths, size_t count, iwi_path_place_fn place_of,
                           uint32_t arg, uint32_t place_count, iw_hit_place places[IWI_MOST_PLACES],
                           size_t *found_p)
{
    uint32_t *numbers = iwi_new_array(log, count, sizeof *numbers);
    size_t used = 0, found = 0;

    if (numbers == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        if (paths[i].split.worst[0].lost_ps > 0) {
            numbers[used] = place_of(&paths[i], arg);
            used += numbers[used] != IWI_NO_PLACE;
        }
    }
    iwi_sort(numbers, used, iwi_compare_u32);
    for (size_t begin = 0, end; begin < used; begin = end) {
        for (end = begin + 1; end < used && numbers[end] == numbers[begin]; end++) {
        }
        found = insert_place(places, found,
                             (iw_hit_place){numbers[begin], end - begin, used,
                                            stands_out(end - begin, used, place_count), NULL});
    }
    free(numbers);
    *found_p = found;
    return IW_OK;
}
