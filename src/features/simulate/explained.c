/* Where the time of a simulation goes: one critical path, the average of several, and what hurt most on them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <string.h>

#include "core/base/base.h"
#include "features/simulate/path_stats.h"
#include "features/simulate/simulate_report.h"
#include "kit/text/words.h"

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
            "`network noise`, or a source by its SPEC; one that is given twice is `SPEC #2` the second time"),
    IWI_VALUE(iw_explained_part, level, .is_there = has_level, .is_optional = true,
              .about = "of a network with levels; the outermost is `network`"),
    IWI_VALUE(iw_explained_part, is_noise),
    IWI_VALUE(iw_explained_part, last_ns,
              .about = "on the path to the last rank; these add up to `makespan_ns` to the picosecond"),
    IWI_VALUE(iw_explained_part, mean_ns, .about = "on every rank's own path, averaged over the ranks"),
    IWI_ESTIMATE(iw_explained_part, average_ns, .about = "over several trials"),
};
static const struct iwi_schema part_schema = IWI_SCHEMA(iw_explained_part, part_fields);

static const struct iwi_field hit_fields[] = {
    IWI_VALUE(iw_explained_hit, source, .about = "name of a part"),
    IWI_VALUE(iw_explained_hit, rank),
    IWI_TIME(iw_explained_hit, at_ps, "at_ns", .about = "when it began to take time of the rank"),
    IWI_TIME(iw_explained_hit, lost_ps, "lost_ns"),
};
static const struct iwi_schema hit_schema = IWI_SCHEMA(iw_explained_hit, hit_fields);

static const struct iwi_field place_fields[] = {
    IWI_VALUE(iw_hit_place, number, .about = "of the rank, seat or tenth"),
    IWI_VALUE(iw_hit_place, source, .may_be_null = true),
    IWI_VALUE(iw_hit_place, trials, .about = "in which the largest detour was there"),
    IWI_VALUE_AS(iw_hit_place, of_trials, "of", .about = "how many trials"),
    IWI_VALUE(iw_hit_place, stands_out,
              .about = "were all alike, any of them would have as many by chance in less than 1 % of cases"),
};
static const struct iwi_schema place_schema = IWI_SCHEMA(iw_hit_place, place_fields);

static const struct iwi_field average_fields[] = {
    IWI_VALUE(iw_average_path, trials),
    IWI_ESTIMATE(iw_average_path, makespan_ns, .about = "the `average_ns` of the parts add up to it"),
    IWI_VALUE(iw_average_path, hops, .about = "messages on the path, mean"),
    IWI_VALUE(iw_average_path, worst_share,
              .about = "of all noise on these paths, the part that the up to four largest detours of each "
                       "took; null without noise"),
    IWI_OBJECTS_AS(
        iw_average_path, sources.places, sources.count, "sources", place_schema,
        .about =
            "where the largest detour of each path was, the most first, up to eight; so are the next three"),
    IWI_OBJECTS_AS(iw_average_path, ranks.places, ranks.count, "ranks", place_schema),
    IWI_OBJECTS_AS(iw_average_path, seats.places, seats.count, "seats", place_schema,
                   .about = "ranks by their number on the node, where it has several"),
    IWI_OBJECTS_AS(iw_average_path, tenths.places, tenths.count, "tenths", place_schema,
                   .about = "of the run; 0 is the first. Not of paths whose largest detours are all alike"),
};
static const struct iwi_schema average_schema = IWI_SCHEMA(iw_average_path, average_fields);

static const struct iwi_field explained_fields[] = {
    IWI_VALUE(iw_explained, trial, .about = "the one with the median makespan"),
    IWI_VALUE(iw_explained, last_rank, .about = "that ends last; the lowest if several do"),
    IWI_TIME(iw_explained, makespan_ps, "makespan_ns"),
    IWI_VALUE(iw_explained, hops,
              .about = "messages on the path of dependences that ends with the last rank's end"),
    IWI_VALUE(iw_explained, mean_hops, .about = "on every rank's own path, averaged over the ranks"),
    IWI_OBJECTS(iw_explained, parts, part_count, part_schema),
    IWI_OBJECTS(iw_explained, worst, worst_count, hit_schema,
                .about = "what noise took most on this path, the most first. Noise of a compute phase "
                         "(`phase-exp`, `bernoulli`) counts as one detour at its start"),
    IWI_POINTER(iw_explained, average, average_schema,
                .about = "critical paths of several trials, the first ones, whatever came out; null if only "
                         "one is explained"),
};
const struct iwi_schema iwi_explained_schema = IWI_SCHEMA(iw_explained, explained_fields);

iw_status iwi_explained_check(const iw_log *log, const char *name, const iw_explained *explained)
{
    const iw_average_path *average = explained->average;

    return average == NULL || average->sources.count == 0 || average->sources.places[0].source != NULL
               ? IW_OK
               : iwi_fail(log, IW_ERR_FORMAT, "'%s': explain.average.sources[0].source: is no text", name);
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

iw_status iwi_explained_find(const iw_log *log, const iw_sim_result *result, const iw_origin *origin,
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
