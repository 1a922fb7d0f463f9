/* Reads the JSON of one launch of `net`, so that several can be combined.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/internal/net_measure.h>

#include <math.h>
#include <string.h>

#include <jansson.h>

#include "base/base.h"
#include "report/kinds/result_report.h"

#define SCHEMA "idlewave.net-measured/2"

enum { MOST_RANKS = 1 << 24, MOST_LEVELS = 16, MOST_BYTES = 1 << 30 /* as --max-size */ };
#define LONGEST_NS 3.6e12 /* an hour, as iw_net_check() has it */

/* What is null is unknown, which is 0 here. Only the value: an interval of one launch is of no use. */
static iw_net_value read_value(const json_t *object, const char *key)
{
    const double ns = iwi_result_number(json_object_get(object, key), "value_ns");

    return ns > 0 ? (iw_net_value){ns, ns, ns} : (iw_net_value){0, 0, 0};
}

static void copy_text(const json_t *object, const char *key, char *text, size_t size)
{
    const char *found = json_string_value(json_object_get(object, key));

    snprintf(text, size, "%s", found != NULL ? found : "");
}

/* ---- levels ---- */

static iw_net_eager read_eager(const json_t *object, const char *key)
{
    const json_t *eager = json_object_get(object, key);

    return (iw_net_eager){.bytes = iwi_result_count(eager, "at_least_bytes"),
                          .is_at_most = json_is_number(json_object_get(eager, "bytes")),
                          .votes = (uint32_t)iwi_result_count(eager, "votes")};
}

static bool read_ranks(const json_t *object, uint32_t most, uint32_t ranks[2])
{
    const json_t *array = json_object_get(object, "ranks");

    for (size_t i = 0; i < 2; i++) {
        const json_int_t rank = json_integer_value(json_array_get(array, i));

        if (!json_is_integer(json_array_get(array, i)) || rank < 0 || rank >= (json_int_t)most) {
            return false;
        }
        ranks[i] = (uint32_t)rank;
    }
    return true;
}

static bool is_possible(const iw_net_point *point)
{
    return point->bytes <= MOST_BYTES && point->half_round_trip.value_ns <= LONGEST_NS &&
           point->gap.value_ns <= LONGEST_NS && point->o_send.value_ns <= LONGEST_NS &&
           point->o_recv.value_ns <= LONGEST_NS && point->exchange.value_ns <= LONGEST_NS;
}

static iw_status read_points(const iw_log *log, const char *name, const json_t *array, iw_net_level *level)
{
    level->points = iwi_new_array(log, json_array_size(array), sizeof *level->points);
    if (level->points == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *object = json_array_get(array, i);
        iw_net_point *point = &level->points[level->point_count++];

        *point = (iw_net_point){.bytes = iwi_result_count(object, "bytes"),
                                .samples = iwi_result_count(object, "samples"),
                                .half_round_trip = read_value(object, "half_round_trip"),
                                .gap = read_value(object, "gap"),
                                .o_send = read_value(object, "o_send"),
                                .o_recv = read_value(object, "o_recv"),
                                .exchange = read_value(object, "exchange")};
        if (point->bytes <= (i == 0 ? 0 : point[-1].bytes) || !(point->half_round_trip.value_ns > 0) ||
            !is_possible(point)) {
            return iwi_fail(log, IW_ERR_FORMAT,
                            "'%s': point %zu of level '%s' has no size above the one before, or times that "
                            "cannot be",
                            name, i + 1, level->samples->name);
        }
    }
    return IW_OK;
}

static iw_status read_levels(const iw_log *log, const char *name, const json_t *array, iw_net_launch *launch)
{
    const size_t count = json_array_size(array);

    if (count == 0 || count > MOST_LEVELS) {
        return iwi_fail(log, IW_ERR_FORMAT, "'%s' has %zu levels; 1 to %d are read", name, count,
                        MOST_LEVELS);
    }
    launch->samples->levels = iwi_new_array(log, count, sizeof *launch->samples->levels);
    launch->measured->levels = iwi_new_array(log, count, sizeof *launch->measured->levels);
    if (launch->samples->levels == NULL || launch->measured->levels == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        const json_t *object = json_array_get(array, i);
        iw_net_level_samples *samples = &launch->samples->levels[launch->samples->level_count++];
        iw_net_level *level = &launch->measured->levels[launch->measured->level_count++];

        copy_text(object, "name", samples->name, sizeof samples->name);
        if (!read_ranks(object, launch->samples->ranks, samples->ranks)) {
            return iwi_fail(log, IW_ERR_FORMAT, "'%s': level '%s' is of no pair of ranks", name,
                            samples->name);
        }
        samples->eager_computing = read_eager(object, "S");
        samples->eager_inside = read_eager(object, "S_receiver_in_mpi");
        level->samples = samples;
        IW_TRY(read_points(log, name, json_object_get(object, "points"), level));
    }
    return IW_OK;
}

/* ---- links ---- */

static iw_status read_slow(const iw_log *log, const char *name, const json_t *array, iw_net_launch *launch)
{
    const size_t count = json_array_size(array);

    launch->samples->links = iwi_new_array(log, count, sizeof *launch->samples->links);
    launch->measured->slow = iwi_new_array(log, count, sizeof *launch->measured->slow);
    if (launch->samples->links == NULL || launch->measured->slow == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        const json_t *object = json_array_get(array, i);
        iw_net_link *link = &launch->samples->links[i];

        link->alone_small_ns = iwi_result_number(object, "small_round_trip_ns");
        link->alone_large_ns = iwi_result_number(object, "large_round_trip_ns");
        if (!read_ranks(object, launch->samples->ranks, link->ranks)) {
            return iwi_fail(log, IW_ERR_FORMAT, "'%s': slow link %zu is of no pair of ranks", name, i + 1);
        }
        launch->measured->slow[launch->measured->slow_count++] =
            (iw_net_slow_link){.link = link,
                               .small_factor = iwi_result_number(object, "small_factor"),
                               .large_factor = iwi_result_number(object, "large_factor")};
    }
    return IW_OK;
}

/* ---- all ---- */

static iw_status read_facts(const iw_log *log, const char *name, const json_t *object,
                            iw_net_samples *samples)
{
    const json_t *hosts = json_object_get(object, "host_names");
    const uint64_t ranks = iwi_result_count(object, "ranks");
    const char *calls = iwi_result_text(object, "calls");

    if (ranks < 2 || ranks > MOST_RANKS) {
        return iwi_fail(log, IW_ERR_FORMAT, "'%s' is no network between ranks", name);
    }
    samples->ranks = (uint32_t)ranks;
    samples->hosts = (uint32_t)iwi_result_count(object, "hosts");
    samples->host_names = iwi_new_array(log, (size_t)ranks, sizeof *samples->host_names);
    if (samples->host_names == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < ranks; i++) {
        const char *host = json_string_value(json_array_get(hosts, i));

        snprintf(samples->host_names[i], sizeof samples->host_names[i], "%s", host != NULL ? host : "");
    }
    while (samples->calls < IW_NET_CALLS_EXCHANGE && strcmp(iw_net_calls_name(samples->calls), calls) != 0) {
        samples->calls++;
    }
    copy_text(object, "warning", samples->warning, sizeof samples->warning);
    copy_text(object, "mpi", samples->mpi_version, sizeof samples->mpi_version);
    copy_text(object, "clock", samples->clock, sizeof samples->clock);
    samples->seconds = iwi_result_number(object, "seconds");
    samples->pair_count = iwi_result_count(object, "pairs");
    samples->link_count = (size_t)iwi_result_count(object, "links_looked_at");
    samples->large_bytes = iwi_result_count(object, "large_bytes");
    return IW_OK;
}

static iw_status read_launch(const iw_log *log, const char *name, const json_t *object, iw_net_launch *launch)
{
    const char *schema = json_string_value(json_object_get(object, "schema"));

    if (schema == NULL || strcmp(schema, SCHEMA) != 0) {
        return iwi_fail(log, IW_ERR_FORMAT, "'%s' is no result of net: its schema is not \"" SCHEMA "\"",
                        name);
    }
    launch->samples = iwi_new_array(log, 1, sizeof *launch->samples);
    launch->measured = iwi_new_array(log, 1, sizeof *launch->measured);
    if (launch->samples == NULL || launch->measured == NULL) {
        return IW_ERR_NOMEM;
    }
    launch->measured->samples = launch->samples;
    launch->measured->launches = 1;
    IW_TRY(read_facts(log, name, object, launch->samples));
    IW_TRY(read_levels(log, name, json_object_get(object, "levels"), launch));
    return read_slow(log, name, json_object_get(object, "slow_links"), launch);
}

iw_status iw_net_read_json(const iw_log *log, const char *name, const char *text, size_t size,
                           iw_net_launch *launch_p)
{
    iw_net_launch launch = {NULL, NULL};
    json_error_t error;
    json_t *object = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    iw_status status;

    if (object == NULL) {
        return iwi_fail(log, IW_ERR_FORMAT, "'%s' is no JSON: %s", name, error.text);
    }
    status = read_launch(log, name, object, &launch);
    json_decref(object);
    if (status != IW_OK) {
        iw_net_launch_release(&launch);
        return status;
    }
    *launch_p = launch;
    return IW_OK;
}
