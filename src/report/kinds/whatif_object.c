/* An answer to "what if" as one JSON object, schema "idlewave.whatif/1";
 * docs/reference/formats/whatif-json.md.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <string.h>

#include <idlewave/idlewave.h>

#include "base/base.h"
#include "report/kinds/json_file.h"
#include "report/kinds/reach_report.h"
#include "report/kinds/result_report.h"
#include "report/kinds/whatif_report.h"

/* In the order of iw_change_kind. */
static const char *const kinds[] = {"source", "rest", "class", "set", "all", "together", "reserve"};

static json_t *estimate_object(iw_estimate e)
{
    return json_pack("{s:o, s:o, s:o}", "value", iwi_json_number(e.value), "low", iwi_json_number(e.low),
                     "high", iwi_json_number(e.high));
}

static json_t *removed_array(const iw_change *change, const iw_noise_set *set)
{
    json_t *array = json_array();

    for (size_t i = 0; i < iw_noise_set_part_count(set) && change->is_removed != NULL; i++) {
        if (change->is_removed[i]) {
            (void)json_array_append_new(array, iwi_json_text(iw_noise_set_part(set, i)->text));
        }
    }
    return array;
}

static json_t *remedy_object(const iw_remedy *remedy)
{
    return remedy == NULL ? json_null() : json_pack("{s:s, s:s}", "name", remedy->name, "how", remedy->how);
}

static json_t *change_object(const iw_change *change, const iw_noise_set *set)
{
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "kind", kinds[change->kind], "name",
                     iwi_json_text(change->name), "removes", removed_array(change, set), "share",
                     iwi_json_number(change->share), "slowdown", estimate_object(change->slowdown), "saving",
                     estimate_object(change->saving), "remedy", remedy_object(change->remedy));
}

static json_t *changes_array(const iw_whatif *whatif, const iw_noise_set *set)
{
    json_t *array = json_array();

    for (size_t i = 0; i < whatif->change_count; i++) {
        (void)json_array_append_new(array, change_object(&whatif->changes[i], set));
    }
    return array;
}

static json_t *sources_array(const iw_noise_set *set)
{
    json_t *array = json_array();

    for (size_t i = 0; i < iw_noise_set_part_count(set); i++) {
        const iw_noise_part *part = iw_noise_set_part(set, i);

        (void)json_array_append_new(
            array, json_pack("{s:o, s:s, s:o, s:o}", "name", iwi_json_text(part->text), "class",
                             iw_class_name(part->kind), "share", iwi_json_number(part->share), "remedy",
                             remedy_object(part->remedy)));
    }
    return array;
}

static json_t *target_object(const iw_whatif *whatif, const iw_noise_set *set)
{
    if (whatif->target < 0) {
        return json_null();
    }
    if (!whatif->has_target_set) {
        return json_pack("{s:o, s:b, s:b}", "slowdown", iwi_json_number(whatif->target), "is_reached", 0,
                         "is_exact", whatif->is_target_exact);
    }
    return json_pack(
        "{s:o, s:b, s:b, s:o, s:o, s:o}", "slowdown", iwi_json_number(whatif->target), "is_reached", 1,
        "is_exact", whatif->is_target_exact, "removes", removed_array(&whatif->target_set, set), "left",
        estimate_object(whatif->target_set.slowdown), "saving", estimate_object(whatif->target_set.saving));
}

static json_t *break_even_object(const iw_break_even *even)
{
    if (even->most_ranks == 0) {
        return json_null();
    }
    return json_pack("{s:b, s:b, s:o, s:o, s:o, s:o, s:o, s:o}", "is_known", even->is_known, "is_always",
                     even->is_always, "ranks", iwi_json_number(even->ranks), "low",
                     iwi_json_number(even->low), "high", iwi_json_number(even->high), "least_ranks",
                     iwi_json_count(even->least_ranks), "most_ranks", iwi_json_count(even->most_ranks),
                     "price", iwi_json_number(even->price));
}

/* Why there is no answer on a reserved core although it was asked for. */
static json_t *reserve_note(const iw_whatif *whatif)
{
    return !whatif->is_reserve_unknown
               ? json_null()
               : json_string(
                     "What a core of each node left to the operating system would bring cannot be told: "
                     "its price is that computation takes longer, and here it cannot be made to. Give "
                     "--compute, or a trace.");
}

/* What was asked. */
static json_t *question_object(const iw_whatif *whatif, const iw_whatif_origin *origin)
{
    const uint32_t ranks_per_node = iw_noise_set_ranks_per_node(origin->set);
    json_t *object = json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "schema", "idlewave.whatif/1",
                               "version", iw_version(), "command", iwi_json_text(origin->command), "what",
                               iwi_json_text(origin->what), "noise", iwi_json_text(origin->noise), "net",
                               iwi_json_text(origin->net->name), "ranks", iwi_json_count(whatif->ranks),
                               "ranks_per_node", iwi_json_count(ranks_per_node));

    iwi_json_add_nodes(object, ranks_per_node, iw_noise_set_recorded_cpus(origin->set),
                       iw_noise_set_cpus(origin->set));
    (void)json_object_set_new(object, "trials", iwi_json_count(whatif->trials));
    (void)json_object_set_new(object, "redraws", iwi_json_count(whatif->redraws));
    (void)json_object_set_new(object, "seed", iwi_json_count(whatif->seed));
    (void)json_object_set_new(object, "messages", iwi_json_count(whatif->messages));
    return object;
}

static json_t *answer_object(const iw_whatif *whatif, const iw_whatif_origin *origin)
{
    return json_pack(
        "{s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "noiseless_ns",
        iwi_json_number((double)whatif->noiseless_ps / (double)IW_PS_PER_NS), "is_monotone",
        whatif->is_monotone, "now", estimate_object(whatif->now), "changes",
        changes_array(whatif, origin->set), "sum_of_sources", iwi_json_number(whatif->sum_of_sources),
        "target", target_object(whatif, origin->set), "break_even", break_even_object(&whatif->break_even),
        "reserve_note", reserve_note(whatif), "sources", sources_array(origin->set), "recording",
        iwi_reach_object(&whatif->reach, origin->set), "recorded_seconds",
        iwi_json_number(whatif->recorded_s), "rare_limit_seconds", iwi_json_number(whatif->rare_limit_s),
        "engine_seconds", iwi_json_number(whatif->engine_seconds));
}

iw_status iwi_whatif_new(const iw_log *log, const iw_whatif *whatif, const iw_whatif_origin *origin,
                         json_t **object_p)
{
    json_t *object = question_object(whatif, origin), *answer = answer_object(whatif, origin);
    const bool is_whole = json_object_update(object, answer) == 0;

    json_decref(answer);
    if (!is_whole) {
        json_decref(object);
        return iwi_fail(log, IW_ERR_NOMEM, "out of memory for the answer");
    }
    *object_p = object;
    return IW_OK;
}

iw_status iw_whatif_write_json(const iw_log *log, const iw_whatif *whatif, const iw_whatif_origin *origin,
                               FILE *out)
{
    json_t *object;

    IW_TRY(iwi_whatif_new(log, whatif, origin, &object));
    return iwi_json_write(log, object, out, "the answer");
}

/* ---- reading it again ---- */

iw_estimate iwi_whatif_estimate(const json_t *object, const char *key)
{
    const json_t *estimate = json_object_get(object, key);

    return (iw_estimate){iwi_result_number(estimate, "value"), iwi_result_number(estimate, "low"),
                         iwi_result_number(estimate, "high")};
}

const json_t *iwi_whatif_change(const json_t *whatif, const char *kind, size_t index)
{
    const json_t *changes = json_object_get(whatif, "changes");

    for (size_t i = 0, seen = 0; i < json_array_size(changes); i++) {
        const json_t *change = json_array_get(changes, i);

        if (kind == NULL || strcmp(iwi_result_text(change, "kind"), kind) == 0) {
            if (seen++ == index) {
                return change;
            }
        }
    }
    return NULL;
}
