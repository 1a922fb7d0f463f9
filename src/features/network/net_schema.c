/* The tables of measured networks, and what a file must hold beyond them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/network/net_report.h"

#include "core/base/base.h"

/* ---- the table ---- */

IWI_OF(bool, is_known, iw_estimate, it->value > 0)

static const struct iwi_field value_fields[] = {
    IWI_VALUE(iw_estimate, value, .is_there = is_known),
    IWI_VALUE(iw_estimate, low, .is_there = is_known),
    IWI_VALUE(iw_estimate, high, .is_there = is_known),
};
static const struct iwi_schema value_schema = IWI_SCHEMA(iw_estimate, value_fields);

static const struct iwi_field point_fields[] = {
    IWI_VALUE(iw_net_point, bytes),
    IWI_VALUE(iw_net_point, samples, .about = "of each, over all launches"),
    IWI_OBJECT_AS(iw_net_point, half_round_trip, "half_round_trip_ns", value_schema),
    IWI_OBJECT_AS(iw_net_point, gap, "gap_ns", value_schema),
    IWI_OBJECT_AS(iw_net_point, o_send, "o_send_ns", value_schema),
    IWI_OBJECT_AS(iw_net_point, o_recv, "o_recv_ns", value_schema),
    IWI_OBJECT_AS(iw_net_point, exchange, "exchange_ns", value_schema),
};
static const struct iwi_schema point_schema = IWI_SCHEMA(iw_net_point, point_fields);

/* Times of 0 are unknown. */
#define KNOWN(T, m)                           \
    static bool T##_knows_##m(const void *of) \
    {                                         \
        return ((const T *)of)->m##_ps > 0;   \
    }
#define KNOWN_TIME(T, m) IWI_TIME(T, m##_ps, #m "_ns", .is_there = T##_knows_##m)
#define KNOWN_TIMES(T) KNOWN(T, L) KNOWN(T, o_send) KNOWN(T, o_recv) KNOWN(T, g)
#define COST_FIELDS(T)                                                                \
    KNOWN_TIME(T, L), KNOWN_TIME(T, o_send), KNOWN_TIME(T, o_recv), KNOWN_TIME(T, g), \
        IWI_VALUE_AS(T, G, "G_fs_per_byte"), IWI_VALUE_AS(T, O, "O_fs_per_byte")

KNOWN_TIMES(iw_net_segment)
KNOWN_TIMES(iw_net)

static const struct iwi_field segment_fields[] = {
    IWI_VALUE(iw_net_segment, from_bytes, .about = "size from which on these costs hold"),
    COST_FIELDS(iw_net_segment),
};
static const struct iwi_schema segment_schema = IWI_SCHEMA(iw_net_segment, segment_fields);

static const struct iwi_field net_fields[] = {
    COST_FIELDS(iw_net),
    IWI_OBJECTS_IN_PLACE(iw_net, segments, segment_count, segment_schema),
};
static const struct iwi_schema net_schema = IWI_SCHEMA(iw_net, net_fields);

static const struct iwi_field eager_fields[] = {
    IWI_VALUE(iw_net_eager, bytes),
    IWI_VALUE(iw_net_eager, is_at_most, .about = "false: no limit was found up to `bytes`"),
    IWI_VALUE(iw_net_eager, votes, .about = "rounds that found it"),
};
static const struct iwi_schema eager_schema = IWI_SCHEMA(iw_net_eager, eager_fields);

static const struct iwi_field level_fields[] = {
    IWI_CHARS(iw_net_level, name, .is_column = true),
    IWI_VALUE_ARRAY(iw_net_level, ranks, .about = "the pair that was measured"),
    IWI_OBJECT_AS(iw_net_level, L, "L_ns", value_schema,
                  .about = "of the smallest message, as the next ones: the mean over the launches, with its "
                           "95 % interval by Student's t; of one launch the median over its rounds, with an "
                           "interval that does not cover differences between launches"),
    IWI_OBJECT_AS(iw_net_level, half_round_trip, "half_round_trip_ns", value_schema),
    IWI_OBJECT_AS(iw_net_level, exchange, "exchange_ns", value_schema),
    IWI_OBJECT_AS(iw_net_level, o_send, "o_send_ns", value_schema),
    IWI_OBJECT_AS(iw_net_level, o_recv, "o_recv_ns", value_schema),
    IWI_OBJECT_AS(iw_net_level, gap, "g_ns", value_schema),
    IWI_OBJECT_AS(iw_net_level, eager_computing, "S", eager_schema, .about = "eager limit"),
    IWI_OBJECT_AS(iw_net_level, eager_inside, "S_receiver_in_mpi", eager_schema,
                  .about = "eager limit if the receiver is in MPI"),
    IWI_VALUE(iw_net_level, fit_error,
              .about = "the most by which the segments miss a measured time, as a share of it"),
    IWI_VALUE(iw_net_level, wide_points, .about = "sizes whose interval is wider than 10 %"),
    IWI_VALUE(iw_net_level, overlapped_from_bytes,
              .about = "from here on o_s + o_r exceed the time of a message and were cut; 0: nowhere"),
    IWI_VALUE(iw_net_level, least_overlap, .about = "share to which they were cut, at least"),
    IWI_VALUE_AS(
        iw_net_level, capped_from_bytes, "g_capped_from_bytes",
        .about =
            "from here on messages in a row took longer than half a round trip, and g was cut; 0: nowhere"),
    IWI_VALUE_AS(iw_net_level, most_capped, "g_most_capped", .about = "factor by which g was cut, at most"),
    IWI_OBJECT(iw_net_level, net, net_schema, .about = "what simulations use, for messages from 1 byte on"),
    IWI_OBJECTS(iw_net_level, points, point_count, point_schema, .is_row = true),
};
static const struct iwi_schema level_schema = IWI_SCHEMA(iw_net_level, level_fields);

static const struct iwi_field slow_fields[] = {
    IWI_VALUE_ARRAY(iw_net_slow_link, ranks),
    IWI_VALUE(iw_net_slow_link, small_round_trip_ns),
    IWI_VALUE(iw_net_slow_link, large_round_trip_ns),
    IWI_VALUE(iw_net_slow_link, small_factor, .about = "to the median"),
    IWI_VALUE(iw_net_slow_link, large_factor, .about = "to the median"),
};
static const struct iwi_schema slow_schema = IWI_SCHEMA(iw_net_slow_link, slow_fields);

IWI_NAMED(calls_name, iw_net_calls_name((iw_net_calls)value))

static const struct iwi_field measured_fields[] = {
    IWI_CHARS(iw_net_measured, warning, .about = "why the numbers are not valid; empty: they are"),
    IWI_VALUE(iw_net_measured, launches),
    IWI_VALUE(iw_net_measured, ranks),
    IWI_CHARS_LIST(iw_net_measured, host_names, ranks, .about = "of each rank"),
    IWI_VALUE(iw_net_measured, hosts),
    IWI_CHARS(iw_net_measured, mpi_version),
    IWI_ENUM(iw_net_measured, calls, "calls", calls_name),
    IWI_CHARS(iw_net_measured, clock, .about = "what times were read from"),
    IWI_VALUE(iw_net_measured, seconds, .about = "that were measured, of all launches"),
    IWI_VALUE_AS(iw_net_measured, pair_count, "pairs"),
    IWI_VALUE_AS(iw_net_measured, link_count, "links_looked_at", .about = "of the pairs"),
    IWI_VALUE(iw_net_measured, large_bytes, .about = "size of the large messages of links"),
    IWI_OBJECTS(iw_net_measured, levels, level_count, level_schema, .is_row = true,
                .about = "from the inside out"),
    IWI_OBJECTS(iw_net_measured, slow, slow_count, slow_schema, .about = "slow pairs"),
};
const struct iwi_schema iwi_net_measured_schema = IWI_SCHEMA(iw_net_measured, measured_fields);

/* ---- files ---- */

enum { MOST_BYTES = 1 << 30 };
#define LONGEST_NS 3.6e12 /* an hour, as iw_net_check() has it */

static bool is_possible(const iw_net_point *point)
{
    const iw_estimate *times[] = {&point->half_round_trip, &point->gap, &point->o_send, &point->o_recv,
                                  &point->exchange};

    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        if (times[i]->value > LONGEST_NS) {
            return false;
        }
    }
    return point->bytes <= MOST_BYTES && point->half_round_trip.value > 0;
}

static iw_status check_level(const iw_log *log, const char *name, const iw_net_measured *measured,
                             const iw_net_level *level)
{
    uint64_t before = 0;

    if (level->ranks[0] >= measured->ranks || level->ranks[1] >= measured->ranks || level->point_count == 0) {
        return iwi_fail(log, IW_ERR_FORMAT, "'%s': level '%s' is of no pair of ranks, or has no points", name,
                        level->name);
    }
    for (size_t i = 0; i < level->point_count; before = level->points[i++].bytes) {
        if (level->points[i].bytes <= before || !is_possible(&level->points[i])) {
            return iwi_fail(log, IW_ERR_FORMAT,
                            "'%s': point %zu of level '%s' has no size above the one before, or times that "
                            "cannot be",
                            name, i + 1, level->name);
        }
    }
    return IW_OK;
}

iw_status iwi_net_measured_check(const iw_log *log, const char *name, const void *subject)
{
    const iw_net_measured *measured = subject;

    if (measured->ranks < 2 || measured->level_count == 0 || measured->launches == 0) {
        return iwi_fail(log, IW_ERR_FORMAT, "'%s' is no network between ranks", name);
    }
    for (size_t i = 0; i < measured->level_count; i++) {
        IW_TRY(check_level(log, name, measured, &measured->levels[i]));
    }
    for (size_t i = 0; i < measured->slow_count; i++) {
        if (measured->slow[i].ranks[0] >= measured->ranks || measured->slow[i].ranks[1] >= measured->ranks) {
            return iwi_fail(log, IW_ERR_FORMAT, "'%s': slow link %zu is of no pair of ranks", name, i + 1);
        }
    }
    return IW_OK;
}
