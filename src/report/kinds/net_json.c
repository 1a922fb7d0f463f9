/* A measured network as one JSON object, schema "idlewave.net-measured/2";
 * docs/reference/formats/net-json.md.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/internal/net_measure.h>

#include <jansson.h>

#include "base/base.h"
#include "schema/json_util.h"

#define FS_PER_NS 1e6
#define PS_PER_NS 1e3

/* An interval of one launch says nothing about others: it is no confidence interval of the network. */
static json_t *value_object(const iw_net_measured *measured, const iw_net_value *value)
{
    const bool has_launches = measured->launches > 1;
    json_t *interval = json_pack("[o, o]", iwi_json_number(value->low_ns), iwi_json_number(value->high_ns));

    if (!(value->value_ns > 0)) {
        json_decref(interval);
        return json_null();
    }
    return json_pack("{s:o, s:o, s:o}", "value_ns", iwi_json_number(value->value_ns), "ci95_ns",
                     has_launches ? interval : json_null(), "within_launch_ns",
                     has_launches ? json_null() : interval);
}

/* 0 is unknown. */
static json_t *known_ns(iw_time ps)
{
    return ps > 0 ? iwi_json_number((double)ps / PS_PER_NS) : json_null();
}

static json_t *size_or_null(uint64_t bytes)
{
    return bytes > 0 ? iwi_json_count(bytes) : json_null();
}

static json_t *segment_object(const iw_net_segment *segment)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "from_bytes", iwi_json_count(segment->from_bytes),
                     "L_ns", known_ns(segment->L_ps), "o_send_ns", known_ns(segment->o_send_ps), "o_recv_ns",
                     known_ns(segment->o_recv_ps), "g_ns", known_ns(segment->g_ps), "G_ns_per_byte",
                     iwi_json_number((double)segment->G / FS_PER_NS), "O_ns_per_byte",
                     iwi_json_number((double)segment->O / FS_PER_NS));
}

/* The parameters of small messages stand in the first place. */
static json_t *segment_array(const iw_net *net)
{
    const iw_net_segment head = {.from_bytes = 1,
                                 .L_ps = net->L_ps,
                                 .o_send_ps = net->o_send_ps,
                                 .o_recv_ps = net->o_recv_ps,
                                 .g_ps = net->g_ps,
                                 .G = net->G,
                                 .O = net->O};
    json_t *array = json_array();

    (void)json_array_append_new(array, segment_object(&head));
    for (uint32_t i = 0; i < net->segment_count; i++) {
        (void)json_array_append_new(array, segment_object(&net->segments[i]));
    }
    return array;
}

static json_t *point_array(const iw_net_measured *measured, const iw_net_level *level)
{
    json_t *array = json_array();

    for (size_t i = 0; i < level->point_count; i++) {
        const iw_net_point *point = &level->points[i];

        (void)json_array_append_new(array, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "bytes",
                                                     iwi_json_count(point->bytes), "samples",
                                                     iwi_json_count(point->samples), "half_round_trip",
                                                     value_object(measured, &point->half_round_trip), "gap",
                                                     value_object(measured, &point->gap), "o_send",
                                                     value_object(measured, &point->o_send), "o_recv",
                                                     value_object(measured, &point->o_recv), "exchange",
                                                     value_object(measured, &point->exchange)));
    }
    return array;
}

static json_t *eager_object(const iw_net_eager *eager)
{
    return json_pack("{s:o, s:o, s:o}", "bytes",
                     eager->is_at_most ? iwi_json_count(eager->bytes) : json_null(), "at_least_bytes",
                     iwi_json_count(eager->bytes), "votes", iwi_json_count(eager->votes));
}

/* What is said about the fit. */
static json_t *fit_object(const iw_net_level *level)
{
    return json_pack("{s:o, s:o, s:o, s:o}", "fit_error", iwi_json_number(level->fit_error),
                     "overlapped_from_bytes", size_or_null(level->overlapped_from_bytes),
                     "g_capped_from_bytes", size_or_null(level->capped_from_bytes), "segments",
                     segment_array(&level->net));
}

static json_t *level_object(const iw_net_measured *measured, const iw_net_level *level)
{
    const iw_net_level_samples *samples = level->samples;
    const char *first = measured->samples->host_names[samples->ranks[0]];
    const char *second = measured->samples->host_names[samples->ranks[1]];
    json_t *fit = fit_object(level);
    json_t *object = json_pack(
        "{s:o, s:[o, o], s:[o, o], s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "name",
        iwi_json_text(samples->name), "ranks", iwi_json_count(samples->ranks[0]),
        iwi_json_count(samples->ranks[1]), "hosts", iwi_json_text(first), iwi_json_text(second), "L",
        value_object(measured, &level->L), "half_round_trip", value_object(measured, &level->half_round_trip),
        "exchange", value_object(measured, &level->exchange), "o_send",
        value_object(measured, &level->o_send), "o_recv", value_object(measured, &level->o_recv), "g",
        value_object(measured, &level->gap), "S", eager_object(&samples->eager_computing),
        "S_receiver_in_mpi", eager_object(&samples->eager_inside));

    (void)json_object_update(object, fit);
    json_decref(fit);
    (void)json_object_set_new(object, "points", point_array(measured, level));
    return object;
}

static json_t *slow_array(const iw_net_measured *measured)
{
    json_t *array = json_array();

    for (size_t i = 0; i < measured->slow_count; i++) {
        const iw_net_slow_link *slow = &measured->slow[i];

        (void)json_array_append_new(
            array, json_pack("{s:[o, o], s:o, s:o, s:o, s:o}", "ranks", iwi_json_count(slow->link->ranks[0]),
                             iwi_json_count(slow->link->ranks[1]), "small_factor",
                             iwi_json_number(slow->small_factor), "large_factor",
                             iwi_json_number(slow->large_factor), "small_round_trip_ns",
                             iwi_json_number(slow->link->alone_small_ns), "large_round_trip_ns",
                             iwi_json_number(slow->link->alone_large_ns)));
    }
    return array;
}

iw_status iw_net_write_json(const iw_log *log, const iw_net_measured *measured, FILE *out)
{
    const iw_net_samples *samples = measured->samples;
    json_t *levels = json_array(), *hosts = json_array(), *object;

    for (size_t i = 0; i < measured->level_count; i++) {
        (void)json_array_append_new(levels, level_object(measured, &measured->levels[i]));
    }
    for (uint32_t i = 0; i < samples->ranks; i++) {
        (void)json_array_append_new(hosts, iwi_json_text(samples->host_names[i]));
    }
    object = json_pack(
        "{s:s, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "schema",
        "idlewave.net-measured/2", "is_valid", samples->warning[0] == '\0', "warning",
        samples->warning[0] == '\0' ? json_null() : iwi_json_text(samples->warning), "launches",
        iwi_json_count(measured->launches), "ranks", iwi_json_count(samples->ranks), "host_names", hosts,
        "hosts", iwi_json_count(samples->hosts), "mpi", iwi_json_text(samples->mpi_version), "calls",
        iwi_json_text(iw_net_calls_name(samples->calls)), "clock", iwi_json_text(samples->clock), "seconds",
        iwi_json_number(samples->seconds), "pairs", iwi_json_count(samples->pair_count), "links_looked_at",
        iwi_json_count(samples->link_count), "large_bytes", iwi_json_count(samples->large_bytes), "levels",
        levels, "slow_links", slow_array(measured));
    return iwi_json_write(log, object, out, "the network");
}
