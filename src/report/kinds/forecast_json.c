/* What a simulation will take, as one JSON object, schema "idlewave.forecast/1".
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/whatif.h>

#include <jansson.h>

#include "report/kinds/json_util.h"

static const char *split_name(iw_parallel parallel)
{
    return parallel == IW_PARALLEL_RANKS ? "ranks" : "trials";
}

static json_t *way_of(const iw_way *way)
{
    if (way->refusal[0] != '\0') {
        return json_pack("{s:o}", "refusal", iwi_json_text(way->refusal));
    }
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "workers", iwi_json_count(way->workers),
                     "lanes", iwi_json_count(way->lanes), "batches", iwi_json_count(way->batches),
                     "messages_per_batch", iwi_json_number(way->messages), "bytes_sent_per_batch",
                     iwi_json_number(way->bytes_sent), "exchanges_per_batch", iwi_json_count(way->exchanges),
                     "compute_seconds", iwi_json_number(way->compute_s), "exchange_seconds",
                     iwi_json_number(way->exchange_s), "process_bytes", iwi_json_count(way->process_bytes));
}

iw_status iw_forecast_write_json(const iw_log *log, const iw_forecast *forecast, FILE *out)
{
    json_t *object = json_pack(
        "{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:s, s:o, s:o}", "schema", "idlewave.forecast/1",
        "engine", iw_engine_name(forecast->engine), "ranks", iwi_json_count(forecast->ranks), "trials",
        iwi_json_count(forecast->trials), "messages", iwi_json_count(forecast->messages), "processes",
        iwi_json_count(forecast->processes), "nodes", iwi_json_count(forecast->nodes), "threads",
        iwi_json_count(forecast->threads), "message_seconds", iwi_json_number(forecast->message_s),
        "parallel", split_name(forecast->chosen), "reason", forecast->reason, "trials_split",
        way_of(&forecast->trials_split), "ranks_split", way_of(&forecast->ranks_split));

    if (forecast->redrawn > 0 && json_is_object(object)) {
        (void)json_object_set_new(object, "redrawn", iwi_json_count(forecast->redrawn));
    }
    return iwi_json_write(log, object, out, "the forecast");
}
