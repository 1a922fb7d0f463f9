/* The member "explain" of a result: one critical path, the average of several, and what hurt most on them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "report/kinds/result_report.h"

#include <math.h>

#include "schema/json_util.h"
#include "stats/path_stats.h"

/* What the parts of this object are made from. */
struct source {
    const iw_explain *explain;
    const iw_origin *origin;
    uint32_t ranks, seats; /* ranks of a node; 1: nothing is known of nodes */
};

static json_t *label_of(const struct source *from, uint32_t number)
{
    char label[IWI_PART_LABEL_SIZE] = "";

    (void)iwi_part_label(from->origin, IW_PART_NOISE + (int)number, label);
    return iwi_json_text(label);
}

static json_t *worst_array(const struct source *from, const iw_split *split)
{
    json_t *array = json_array();

    for (size_t i = 0; i < IW_HITS && split->worst[i].lost_ps > 0; i++) {
        const iw_hit *hit = &split->worst[i];
        json_t *object = json_pack("{s:o, s:o, s:o, s:o}", "source", label_of(from, hit->source), "rank",
                                   iwi_json_count(hit->rank), "at_ns", iwi_json_ns((double)hit->at_ps),
                                   "lost_ns", iwi_json_ns((double)hit->lost_ps));

        if (from->seats > 1) {
            (void)json_object_set_new(object, "seat", iwi_json_count(hit->rank % from->seats));
        }
        (void)json_array_append_new(array, object);
    }
    return array;
}

static json_t *estimate_object(const iw_estimate *ps)
{
    return json_pack("{s:o, s:o}", "mean", iwi_json_ns(ps->value), "ci95",
                     isnan(ps->low) ? json_null()
                                    : json_pack("[o, o]", iwi_json_ns(ps->low), iwi_json_ns(ps->high)));
}

/* ---- where the largest detours were ---- */

struct places {
    const char *list, *key; /* "ranks", "rank" */
    iwi_path_place_fn place_of;
    uint32_t arg, count; /* places that there are */
};

static iw_status places_array(const iw_log *log, const struct source *from, const struct places *of,
                              json_t **array_p)
{
    struct iwi_path_place places[IWI_MOST_PLACES];
    json_t *array;
    size_t found;

    IW_TRY(iwi_count_places(log, from->explain->paths, (size_t)from->explain->path_count, of->place_of,
                            of->arg, of->count, places, &found));
    array = json_array();
    for (size_t i = 0; i < found; i++) {
        const bool is_source = of->place_of == iwi_path_place_source; /* they are not alike to begin with */
        json_t *place =
            json_pack("{s:o, s:o, s:o}", of->key,
                      is_source ? label_of(from, places[i].number) : iwi_json_count(places[i].number),
                      "trials", iwi_json_count(places[i].trials), "of", iwi_json_count(places[i].of_trials));

        if (!is_source) {
            (void)json_object_set_new(place, "stands_out", json_boolean(places[i].stands_out));
        }
        (void)json_array_append_new(array, place);
    }
    *array_p = array;
    return IW_OK;
}

/* A noisy seat is no reason to blame one rank in it: ranks are compared as if all hits were in one seat. */
static iw_status largest_object(const iw_log *log, const struct source *from, json_t **object_p)
{
    const uint32_t nodes = (from->ranks + from->seats - 1) / from->seats;
    const struct places all[] = {
        {"sources", "source", iwi_path_place_source, 0, (uint32_t)iwi_source_count(from->origin)},
        {"ranks", "rank", iwi_path_place_rank, 0, nodes},
        {"seats", "seat", iwi_path_place_seat, from->seats, from->seats},
        {"tenths", "tenth", iwi_path_place_tenth, 0, 10},
    };
    json_t *object = json_object(), *array;

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (all[i].place_of != iwi_path_place_seat || from->seats > 1) {
            const iw_status status = places_array(log, from, &all[i], &array);

            if (status != IW_OK) {
                json_decref(object);
                return status;
            }
            (void)json_object_set_new(object, all[i].list, array);
        }
    }
    *object_p = object;
    return IW_OK;
}

static iw_status average_object(const iw_log *log, const struct source *from, json_t **object_p)
{
    struct iwi_path_means means;
    char label[IWI_PART_LABEL_SIZE];
    json_t *parts, *object, *largest;

    IW_TRY(iwi_path_means(log, from->explain->paths, (size_t)from->explain->path_count, &means));
    parts = json_object();
    for (int i = 0; i < IW_PARTS && iwi_part_label(from->origin, i, label); i++) {
        (void)json_object_set_new(parts, label, estimate_object(&means.part_ps[i]));
    }
    object = json_pack("{s:o, s:o, s:o, s:o}", "trials", iwi_json_count(from->explain->path_count),
                       "makespan_ns", estimate_object(&means.makespan_ps), "parts_ns", parts, "hops",
                       iwi_json_number(means.hops));
    if (means.hit_count > 0) {
        const iw_status status = largest_object(log, from, &largest);

        if (status != IW_OK) {
            json_decref(object);
            return status;
        }
        (void)json_object_set_new(object, "worst_share", iwi_json_number(means.worst_share));
        (void)json_object_set_new(object, "largest", largest);
    }
    *object_p = object;
    return IW_OK;
}

iw_status iwi_explain_object(const iw_log *log, const iw_sim_result *result, const iw_origin *origin,
                             json_t **object_p)
{
    const iw_explain *explain = result->explain;
    const iw_path *median = &explain->median;
    const struct source from = {explain, origin, result->ranks,
                                origin->noise != NULL ? iw_noise_ranks_per_node(origin->noise) : 1};
    json_t *parts = json_object(), *mean = json_object(), *average = NULL;
    char label[IWI_PART_LABEL_SIZE];

    for (int i = 0; i < IW_PARTS && iwi_part_label(origin, i, label); i++) {
        (void)json_object_set_new(parts, label, iwi_json_ns((double)median->split.part_ps[i]));
        (void)json_object_set_new(mean, label, iwi_json_ns(explain->mean_ps[i]));
    }
    *object_p = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "trial", iwi_json_count(median->trial),
                          "last_rank", iwi_json_count(median->last_rank), "makespan_ns",
                          iwi_json_ns((double)median->makespan_ps), "parts", parts, "hops",
                          iwi_json_count(median->split.hops), "mean_parts", mean, "mean_hops",
                          iwi_json_number(explain->mean_hops), "worst", worst_array(&from, &median->split));
    if (explain->path_count > 1) {
        const iw_status status = average_object(log, &from, &average);

        if (status != IW_OK) {
            json_decref(*object_p);
            return status;
        }
        (void)json_object_set_new(*object_p, "average", average);
    }
    return IW_OK;
}
