/* What a simulation says, computed once: end times, critical paths.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <idlewave/result.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "core/numeric/numeric.h"
#include "core/stats/mean_interval.h"
#include "core/stats/select.h"
#include "features/simulate/simulate_report.h"
#include "kit/text/words.h"

/* ======== end times ======== */

static void write_trial(const iw_sim_result *result, uint64_t index, FILE *out)
{
    const iw_time *end_ps = &result->end_ps[index * result->ranks];
    char ns[IWI_NS_TEXT_SIZE];

    for (uint32_t rank = 0; rank < result->ranks; rank++) {
        if (result->trials > 1) {
            (void)fprintf(out, "%" PRIu64 ",", result->first_trial + index);
        }
        (void)fprintf(out, "%" PRIu32 ",%s\n", rank, iwi_ns_text(end_ps[rank], ns));
    }
}

static iw_status write_end_times(const iw_log *log, void *arg, FILE *out)
{
    const iw_sim_result *result = arg;

    (void)log;
    (void)fputs(result->trials > 1 ? "trial,rank,end_ns\n" : "rank,end_ns\n", out);
    for (uint64_t i = 0; i < result->trials; i++) {
        write_trial(result, i, out);
    }
    return IW_OK;
}

iw_status iw_result_write_end_times(const iw_log *log, const iw_sim_result *result, const char *path)
{
    if (result->end_ps == NULL) {
        return iwi_fail(log, IW_ERR_USAGE, "end times were not stored: set want_end_times");
    }
    return iw_write_file(log, path, write_end_times, (void *)(uintptr_t)result); /* only read */
}

/* ======== critical paths of several trials ======== */

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

/* ======== where the time goes ======== */

/* ---- tables ---- */

static bool has_level(const void *object)
{
    return ((const iw_explained_part *)object)->level != NULL;
}

static const struct iwi_field part_fields[] = {
    IWI_VALUE_AS(
        iw_explained_part, name, "part",
        .about =
            "`compute`, `delay` (injected), `o` (with O), `L`, `g`, `G`, `rendezvous` (control messages), "
            "`network noise`, or the SPEC of a source; a repeated SPEC is `SPEC #2`"),
    IWI_VALUE(iw_explained_part, level, .is_there = has_level, .is_optional = true,
              .about = "of a network with levels; the outermost is `network`"),
    IWI_VALUE(iw_explained_part, is_noise),
    IWI_VALUE(iw_explained_part, last_ns,
              .about = "on the path to the last rank; the parts add up to `makespan_ns`, to the picosecond"),
    IWI_VALUE(iw_explained_part, mean_ns, .about = "on every rank's own path, averaged over the ranks"),
    IWI_ESTIMATE(iw_explained_part, average_ns, .about = "over several trials"),
};
static const struct iwi_schema part_schema = IWI_SCHEMA(iw_explained_part, part_fields);

static const struct iwi_field hit_fields[] = {
    IWI_VALUE(iw_explained_hit, source, .about = "name of a part"),
    IWI_VALUE(iw_explained_hit, rank),
    IWI_TIME(iw_explained_hit, at_ps, "at_ns", .about = "when it began to delay the rank"),
    IWI_TIME(iw_explained_hit, lost_ps, "lost_ns"),
};
static const struct iwi_schema hit_schema = IWI_SCHEMA(iw_explained_hit, hit_fields);

static const struct iwi_field place_fields[] = {
    IWI_VALUE(iw_hit_place, number, .about = "of the rank, seat or tenth"),
    IWI_VALUE(iw_hit_place, source, .may_be_null = true),
    IWI_VALUE(iw_hit_place, trials, .about = "trials whose largest detour was here"),
    IWI_VALUE_AS(iw_hit_place, of_trials, "of", .about = "how many trials"),
    IWI_VALUE(iw_hit_place, stands_out,
              .about =
                  "if all places were equal, one would have this many by chance in less than 1 % of cases"),
};
static const struct iwi_schema place_schema = IWI_SCHEMA(iw_hit_place, place_fields);

static const struct iwi_field average_fields[] = {
    IWI_VALUE(iw_average_path, trials),
    IWI_ESTIMATE(iw_average_path, makespan_ns, .about = "the `average_ns` of the parts add up to it"),
    IWI_VALUE(iw_average_path, hops, .about = "messages on the path, mean"),
    IWI_VALUE(iw_average_path, worst_share,
              .about = "share of the up to four largest detours of each path in all noise on these paths; "
                       "null without noise"),
    IWI_OBJECTS_AS(iw_average_path, sources.places, sources.count, "sources", place_schema,
                   .about = "places of the largest detour of each path, most frequent first, up to eight; "
                            "likewise the next three"),
    IWI_OBJECTS_AS(iw_average_path, ranks.places, ranks.count, "ranks", place_schema),
    IWI_OBJECTS_AS(iw_average_path, seats.places, seats.count, "seats", place_schema,
                   .about = "ranks by their number on the node, where it has several"),
    IWI_OBJECTS_AS(iw_average_path, tenths.places, tenths.count, "tenths", place_schema,
                   .about = "of the run; 0 is the first. Without paths whose largest detours are all equal"),
};
static const struct iwi_schema average_schema = IWI_SCHEMA(iw_average_path, average_fields);

static const struct iwi_field explained_fields[] = {
    IWI_VALUE(iw_explained, trial, .about = "the one with the median makespan"),
    IWI_VALUE(iw_explained, last_rank, .about = "that ends last; the lowest if several do"),
    IWI_TIME(iw_explained, makespan_ps, "makespan_ns"),
    IWI_VALUE(iw_explained, hops,
              .about = "messages on the critical path, which ends with the last rank's end"),
    IWI_VALUE(iw_explained, mean_hops, .about = "on every rank's own path, averaged over the ranks"),
    IWI_OBJECTS(iw_explained, parts, part_count, part_schema),
    IWI_OBJECTS(iw_explained, worst, worst_count, hit_schema,
                .about = "largest delays by noise on this path, largest first. Noise of a compute phase "
                         "(`phase-exp`, `bernoulli`) counts as one detour at its start"),
    IWI_POINTER(iw_explained, average, average_schema,
                .about = "critical paths of the first trials; null if only one is explained"),
};
const struct iwi_schema iwi_explained_schema = IWI_SCHEMA(iw_explained, explained_fields);

iw_status iwi_explained_check(const iw_log *log, const char *name, const iw_explained *explained)
{
    const iw_average_path *average = explained->average;

    return average == NULL || average->sources.count == 0 || average->sources.places[0].source != NULL
               ? IW_OK
               : iwi_fail(log, IW_ERR_FORMAT, "'%s': explain.average.sources[0].source: not a text", name);
}

/* ---- from a result ---- */

/* What the explanation is made from. */
struct source {
    const iw_log *log;
    const iw_explain *explain;
    const iw_noise *noise; /* or NULL */
    const iw_net *net;
    uint32_t ranks, seats; /* ranks of a node; 1: nothing is known of nodes */
    struct iwi_arena *arena;
};

static size_t source_count(const struct source *from)
{
    return from->noise != NULL ? iw_noise_source_count(from->noise) : 0;
}

/* One that is given twice gets a number, so that names differ. */
static const char *source_name(const struct source *from, size_t number)
{
    const char *name = number < source_count(from) ? iw_noise_source_name(from->noise, number) : "";
    unsigned same = 1;

    for (size_t i = 0; i < number && i < source_count(from); i++) {
        same += strcmp(iw_noise_source_name(from->noise, i), name) == 0;
    }
    return same > 1 ? iwi_arena_text(from->arena, "%s #%u", name, same) : name;
}

static double ns_of(double ps)
{
    return ps / (double)IW_PS_PER_NS;
}

static iw_estimate ns_of_estimate(iw_estimate ps)
{
    return (iw_estimate){ns_of(ps.value), ns_of(ps.low), ns_of(ps.high)};
}

/* `means` is NULL where there is no average. */
static iw_explained_part whole_part(const struct source *from, const struct iwi_path_means *means, size_t i)
{
    const bool is_noise = i >= IW_PART_NOISE;

    return (iw_explained_part){
        .name = is_noise ? source_name(from, i - IW_PART_NOISE) : iw_part_name((iw_part)i),
        .is_noise = is_noise,
        .last_ns = ns_of((double)from->explain->median.split.part_ps[i]),
        .mean_ns = ns_of(from->explain->mean_ps[i]),
        .average_ns = means != NULL ? ns_of_estimate(means->part_ps[i]) : (iw_estimate){NAN, NAN, NAN},
    };
}

static double mean_at_level(const iw_explain *explain, iw_part part, uint32_t level)
{
    double outermost_ps = explain->mean_ps[part];

    if (level < IW_NET_INNER_MAX) {
        return explain->mean_inner_ps[level][part - IW_PART_OVERHEAD];
    }
    for (size_t i = 0; i < IW_NET_INNER_MAX; i++) {
        outermost_ps -= explain->mean_inner_ps[i][part - IW_PART_OVERHEAD];
    }
    return fmax(outermost_ps, 0.0); /* of what was rounded */
}

/* `level`: of the network, from inside out; net->inner_count is the outermost. */
static iw_explained_part part_at_level(const struct source *from, const struct iwi_path_means *means,
                                       iw_part part, uint32_t level)
{
    const bool is_inner = level < from->net->inner_count;
    const uint32_t at = is_inner ? level : IW_NET_INNER_MAX;

    return (iw_explained_part){
        .name = iw_part_name(part),
        .level = iw_net_level_name(from->net, level),
        .last_ns = ns_of((double)iwi_path_at_level(&from->explain->median.split, part, at)),
        .mean_ns = ns_of(mean_at_level(from->explain, part, at)),
        .average_ns = means != NULL ? ns_of_estimate(means->level_ps[at][part - IW_PART_OVERHEAD])
                                    : (iw_estimate){NAN, NAN, NAN},
    };
}

/* Parts of a network with levels are told level by level. */
static void list_parts(const struct source *from, const struct iwi_path_means *means, iw_explained *explained)
{
    const uint32_t inner = from->net->inner_count;
    const size_t count = IW_PART_NOISE + source_count(from);
    iw_explained_part *next =
        iwi_arena_take(from->arena, count + (size_t)inner * IW_NET_PARTS, sizeof *explained->parts);

    explained->parts = next;
    for (size_t i = 0; explained->parts != NULL && i < count; i++) {
        if (i == IW_PART_NETWORK && !iw_net_is_noisy(from->net)) {
            continue;
        }
        if (inner == 0 || i < IW_PART_OVERHEAD || i >= IW_PART_OVERHEAD + IW_NET_PARTS) {
            *next++ = whole_part(from, means, i);
            continue;
        }
        for (uint32_t level = 0; level <= inner; level++) {
            *next++ = part_at_level(from, means, (iw_part)i, level);
        }
    }
    explained->part_count = (size_t)(next - explained->parts);
}

static void list_worst(const struct source *from, iw_explained *explained)
{
    const iw_split *split = &from->explain->median.split;

    explained->worst = iwi_arena_take(from->arena, IW_HITS, sizeof *explained->worst);
    for (size_t i = 0; explained->worst != NULL && i < IW_HITS && split->worst[i].lost_ps > 0; i++) {
        const iw_hit *hit = &split->worst[i];

        explained->worst[i] =
            (iw_explained_hit){source_name(from, hit->source), hit->rank, hit->at_ps, hit->lost_ps};
        explained->worst_count++;
    }
}

/* ---- the average ---- */

static iw_status find_places(const struct source *from, iwi_path_place_fn place_of, uint32_t arg,
                             uint32_t count, iw_hit_places *places)
{
    places->places = iwi_arena_take(from->arena, IWI_MOST_PLACES, sizeof *places->places);
    if (places->places == NULL) {
        return iwi_fail(from->log, IW_ERR_NOMEM, "out of memory for the result");
    }
    return iwi_count_places(from->log, from->explain->paths, (size_t)from->explain->path_count, place_of, arg,
                            count, places->places, &places->count);
}

/* A noisy seat is no reason to blame one rank in it: ranks are compared as if all hits were in one seat.
 * Sources are not alike to begin with: none stands out. */
static iw_status find_largest(const struct source *from, iw_average_path *average)
{
    const uint32_t nodes = (from->ranks + from->seats - 1) / from->seats;

    IW_TRY(find_places(from, iwi_path_place_source, 0, (uint32_t)source_count(from), &average->sources));
    for (size_t i = 0; i < average->sources.count; i++) {
        iw_hit_place *place = &average->sources.places[i];

        place->source = source_name(from, place->number);
        place->stands_out = false;
    }
    IW_TRY(find_places(from, iwi_path_place_rank, 0, nodes, &average->ranks));
    if (from->seats > 1) {
        IW_TRY(find_places(from, iwi_path_place_seat, from->seats, from->seats, &average->seats));
    }
    return find_places(from, iwi_path_place_tenth, 0, 10, &average->tenths);
}

static iw_status find_average(const struct source *from, const struct iwi_path_means *means,
                              iw_explained *explained)
{
    iw_average_path *average = iwi_arena_take(from->arena, 1, sizeof *average);

    if (average == NULL) {
        return iwi_fail(from->log, IW_ERR_NOMEM, "out of memory for the result");
    }
    average->trials = from->explain->path_count;
    average->makespan_ns = ns_of_estimate(means->makespan_ps);
    average->hops = means->hops;
    average->worst_share = means->worst_share;
    explained->average = average;
    return means->hit_count > 0 ? find_largest(from, average) : IW_OK;
}

/* What result->explain says. Lives in the arena, and borrows the names of sources from the noise. */
static iw_status explained_find(const iw_log *log, const iw_sim_result *result, const iw_origin *origin,
                                struct iwi_arena *arena, const iw_explained **explained_p)
{
    const iw_explain *explain = result->explain;
    const bool has_average = explain->path_count > 1;
    const struct source from = {
        log,         explain,       origin->noise,
        origin->net, result->ranks, origin->noise != NULL ? iw_noise_ranks_per_node(origin->noise) : 1,
        arena};
    iw_explained *explained = iwi_arena_take(arena, 1, sizeof *explained);
    struct iwi_path_means means;

    if (explained == NULL) {
        return iwi_fail(log, IW_ERR_NOMEM, "out of memory for the result");
    }
    explained->trial = explain->median.trial;
    explained->last_rank = explain->median.last_rank;
    explained->makespan_ps = explain->median.makespan_ps;
    explained->hops = explain->median.split.hops;
    explained->mean_hops = explain->mean_hops;
    if (has_average) {
        IW_TRY(iwi_path_means(log, explain->paths, (size_t)explain->path_count, &means));
        IW_TRY(find_average(&from, &means, explained));
    }
    list_parts(&from, has_average ? &means : NULL, explained);
    list_worst(&from, explained);
    *explained_p = explained;
    return IW_OK;
}

/* ======== results ======== */

/* What it consists of besides. */
struct made {
    iw_simulation simulation; /* the first member: it is what callers hold */
    struct iwi_arena arena;
};

double iwi_end_percent(size_t index)
{
    static const double percents[IW_END_QUANTILES] = {0.0,  1.0,  5.0,  10.0, 25.0, 50.0,
                                                      75.0, 90.0, 95.0, 99.0, 100.0};

    return percents[index];
}

/* ---- times ---- */

static double slowdown_of(double makespan_ps, iw_time noiseless_ps)
{
    return noiseless_ps > 0 ? (makespan_ps - (double)noiseless_ps) / (double)noiseless_ps : NAN;
}

/* To the picosecond, which is what there is. */
static double whole_ps(double ns, iw_time unused)
{
    (void)unused;
    return round(ns * (double)IW_PS_PER_NS) / (double)IW_PS_PER_NS;
}

static double slowdown_of_ns(double ns, iw_time noiseless_ps)
{
    return slowdown_of(ns * (double)IW_PS_PER_NS, noiseless_ps);
}

/* Quantiles, means and their intervals commute with the linear T -> T/T0 - 1. */
static iw_summary map_summary(const iw_summary *s, double (*map)(double, iw_time), iw_time arg)
{
    return (iw_summary){s->count,
                        map(s->min, arg),
                        map(s->q1, arg),
                        map(s->median, arg),
                        map(s->q3, arg),
                        map(s->max, arg),
                        map(s->mean, arg),
                        map(s->median_low, arg),
                        map(s->median_high, arg),
                        map(s->mean_low, arg),
                        map(s->mean_high, arg)};
}

static iw_status find_ends(const iw_log *log, const iw_sim_result *result, iw_ends *ends)
{
    const bool is_of_ranks = result->trials == 1 && result->end_ps != NULL;
    const iw_time *times_ps = is_of_ranks ? result->end_ps : result->makespan_ps;
    const size_t count = is_of_ranks ? result->ranks : (size_t)result->trials;
    double *values_ps = iwi_new_array(log, count, sizeof *values_ps);

    if (values_ps == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        values_ps[i] = (double)times_ps[i];
    }
    ends->is_of_ranks = is_of_ranks;
    for (size_t i = 0; i < IW_END_QUANTILES; i++) {
        ends->quantiles_ns[i] =
            round(iwi_select_quantile(values_ps, count, iwi_end_percent(i) / 100.0)) / (double)IW_PS_PER_NS;
    }
    free(values_ps);
    return IW_OK;
}

static iw_status list_trials(const iw_log *log, const iw_sim_result *result, struct made *made)
{
    iw_trial *trials = iwi_arena_take(&made->arena, (size_t)result->trials, sizeof *trials);

    if (trials == NULL) {
        return iwi_fail(log, IW_ERR_NOMEM, "out of memory for the times of %" PRIu64 " trials",
                        result->trials);
    }
    for (uint64_t i = 0; i < result->trials; i++) {
        trials[i] = (iw_trial){result->first_trial + i, result->makespan_ps[i],
                               slowdown_of((double)result->makespan_ps[i], result->noiseless_ps)};
    }
    made->simulation.trial_times = trials;
    made->simulation.trial_time_count = (size_t)result->trials;
    return IW_OK;
}

/* ---- origin ---- */

static void list_noise(const iw_noise *noise, struct made *made)
{
    const size_t count = noise != NULL ? iw_noise_source_count(noise) : 0;
    iw_source_share *sources = iwi_arena_take(&made->arena, count, sizeof *sources);
    iw_simulation *simulation = &made->simulation;
    char cpus[256];

    for (size_t i = 0; sources != NULL && i < count; i++) {
        sources[i] = (iw_source_share){iw_noise_source_name(noise, i), iw_noise_source_share(noise, i)};
    }
    simulation->noise = sources;
    simulation->noise_count = sources != NULL ? count : 0;
    if (noise == NULL) {
        return;
    }
    simulation->sync = iw_noise_sync(noise);
    simulation->align = iw_noise_nodes_aligned(noise);
    simulation->cores_per_rank = iw_noise_cores_per_rank(noise);
    simulation->loop = iw_noise_loop(noise);
    if (iw_noise_recorded_cpus(noise) > 0) {
        simulation->ranks_per_node = iw_noise_ranks_per_node(noise);
        simulation->recorded_cpus = iw_noise_recorded_cpus(noise);
        if (iw_noise_cpus(noise) != NULL) {
            simulation->noise_cpus =
                iwi_arena_text(&made->arena, "%s", iw_cpu_set_text(iw_noise_cpus(noise), cpus, sizeof cpus));
        }
    }
}

static iw_status fill(const iw_log *log, const iw_sim_result *result, const iw_origin *origin,
                      struct made *made)
{
    iw_simulation *simulation = &made->simulation;
    iw_summary makespan_ns;

    *simulation = (iw_simulation){
        .what = origin->what,
        .command = origin->command,
        .run = *result,
        .delays = origin->delay_count,
        .compute_bytes = origin->compute_bytes,
        .spare_cores = origin->spare_cores,
        .node_speed = origin->node_speed,
        .net = origin->net,
        .net_segments = origin->net->segments,
        .net_segment_count = origin->net->segment_count,
        .recording =
            origin->certainty != NULL && origin->certainty->reach.watched_s > 0.0 ? origin->certainty : NULL,
        .traced = origin->traced,
        .independence = origin->independence,
        .steady = origin->steady,
        .node_wide = origin->node_wide,
    };
    if (origin->caveats != NULL) {
        simulation->caveats = *origin->caveats;
    }
    iw_caveats_of_net(origin->net, result->ranks, &simulation->caveats);
    if (origin->traced != NULL) {
        iw_caveats_of_traced(origin->traced, origin->what, &simulation->caveats);
    }
    IW_TRY(iw_summarize_trials(log, result, &makespan_ns));
    simulation->makespan_ns = map_summary(&makespan_ns, whole_ps, 0);
    simulation->slowdown = map_summary(&makespan_ns, slowdown_of_ns, result->noiseless_ps);
    IW_TRY(find_ends(log, result, &simulation->distribution));
    IW_TRY(list_trials(log, result, made));
    list_noise(origin->noise, made);
    if (result->explain != NULL) {
        IW_TRY(explained_find(log, result, origin, &made->arena, &simulation->explain));
    }
    return made->arena.is_broken ? iwi_fail(log, IW_ERR_NOMEM, "out of memory for the result") : IW_OK;
}

iw_status iw_simulation_new(const iw_log *log, const iw_sim_result *result, const iw_origin *origin,
                            iw_simulation **simulation_p)
{
    struct made *made = iwi_new_array(log, 1, sizeof *made);
    const iw_status status = made != NULL ? fill(log, result, origin, made) : IW_ERR_NOMEM;

    if (status == IW_OK) {
        *simulation_p = &made->simulation;
    } else if (made != NULL) {
        iw_simulation_free(&made->simulation);
    }
    return status;
}

void iw_simulation_free(iw_simulation *simulation)
{
    if (simulation != NULL) {
        iwi_arena_free(&((struct made *)simulation)->arena);
        free(simulation);
    }
}
