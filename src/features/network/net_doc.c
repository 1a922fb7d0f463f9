/* Measured networks: words, tables, a picture, JSON.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <string.h>

#include <idlewave/internal/net_measure.h>

#include "core/base/base.h"
#include "features/tables.h"
#include "kit/schema/schema.h"

extern const struct iwi_schema iwi_net_measured_schema; /* iw_net_measured */
IW_NODISCARD iw_status iwi_net_measured_check(const iw_log *log, const char *name, const void *subject);

/* The tables of measured networks, and what a file must hold beyond them. */

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
    IWI_VALUE(iw_net_segment, from_bytes, .about = "size from which these costs apply"),
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
    IWI_VALUE_ARRAY(iw_net_level, ranks, .about = "pair that was measured"),
    IWI_OBJECT_AS(iw_net_level, L, "L_ns", value_schema,
                  .about = "of the smallest message, as the next ones: the mean over launches, with its 95 % "
                           "interval by Student's t; of one launch the median over its rounds, with an "
                           "interval that ignores differences between launches"),
    IWI_OBJECT_AS(iw_net_level, half_round_trip, "half_round_trip_ns", value_schema),
    IWI_OBJECT_AS(iw_net_level, exchange, "exchange_ns", value_schema),
    IWI_OBJECT_AS(iw_net_level, o_send, "o_send_ns", value_schema),
    IWI_OBJECT_AS(iw_net_level, o_recv, "o_recv_ns", value_schema),
    IWI_OBJECT_AS(iw_net_level, gap, "g_ns", value_schema),
    IWI_OBJECT_AS(iw_net_level, eager_computing, "S", eager_schema, .about = "eager limit"),
    IWI_OBJECT_AS(iw_net_level, eager_inside, "S_receiver_in_mpi", eager_schema,
                  .about = "eager limit if the receiver is in MPI"),
    IWI_VALUE(iw_net_level, fit_error,
              .about = "largest error of the segments at a measured time, as a share of it"),
    IWI_VALUE(iw_net_level, wide_points, .about = "sizes whose interval is wider than 10 %"),
    IWI_VALUE(iw_net_level, overlapped_from_bytes,
              .about = "size from which o_s + o_r exceed the time of a message and were cut; 0: none"),
    IWI_VALUE(iw_net_level, least_overlap, .about = "smallest share to which they were cut"),
    IWI_VALUE_AS(
        iw_net_level, capped_from_bytes, "g_capped_from_bytes",
        .about =
            "size from which messages in a row took longer than half a round trip and g was cut; 0: none"),
    IWI_VALUE_AS(iw_net_level, most_capped, "g_most_capped", .about = "largest factor by which g was cut"),
    IWI_OBJECT(iw_net_level, net, net_schema, .about = "costs in simulations, for messages from 1 byte"),
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
    IWI_CHARS(iw_net_measured, warning,
              .about = "reason why the numbers are not valid; empty: they are valid"),
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
        return iwi_fail(log, IW_ERR_FORMAT, "'%s': level '%s' has no pair of ranks, or no points", name,
                        level->name);
    }
    for (size_t i = 0; i < level->point_count; before = level->points[i++].bytes) {
        if (level->points[i].bytes <= before || !is_possible(&level->points[i])) {
            return iwi_fail(
                log, IW_ERR_FORMAT,
                "'%s': point %zu of level '%s' does not exceed the size before, or has invalid times", name,
                i + 1, level->name);
        }
    }
    return IW_OK;
}

iw_status iwi_net_measured_check(const iw_log *log, const char *name, const void *subject)
{
    const iw_net_measured *measured = subject;

    if (measured->ranks < 2 || measured->level_count == 0 || measured->launches == 0) {
        return iwi_fail(log, IW_ERR_FORMAT, "'%s' is not a network between ranks", name);
    }
    for (size_t i = 0; i < measured->level_count; i++) {
        IW_TRY(check_level(log, name, measured, &measured->levels[i]));
    }
    for (size_t i = 0; i < measured->slow_count; i++) {
        if (measured->slow[i].ranks[0] >= measured->ranks || measured->slow[i].ranks[1] >= measured->ranks) {
            return iwi_fail(log, IW_ERR_FORMAT, "'%s': slow link %zu is not a pair of ranks", name, i + 1);
        }
    }
    return IW_OK;
}

#define POOR_FIT 0.1 /* as a share */

/* ---- verdict ---- */

/* Bytes per nanosecond that the largest messages reach one after the other. */
static double bandwidth(const iw_net_level *level)
{
    const iw_net_point *last = &level->points[level->point_count - 1];

    /* a gap that may be nothing is no divisor */
    return (double)last->bytes / (last->gap.low > 0 ? last->gap.value : last->half_round_trip.value);
}

static bool is_inside(const iw_net_level *level)
{
    return strcmp(level->name, "node") == 0;
}

static void say_verdict(struct iwi_document *doc, const iw_net_measured *measured)
{
    double worst = 0;

    iwi_verdict(doc, "%s", "");
    if (measured->warning[0] != '\0') {
        iwi_doc_append(doc, "NOT VALID: %s, so times contain the scheduler. ", measured->warning);
    }
    for (size_t i = 0; i < measured->level_count; i++) {
        const iw_net_level *level = &measured->levels[i];

        worst = fmax(worst, level->fit_error);
        iwi_doc_append(doc, "%s %s a small message takes %s and large ones move at %.3g GB/s%s",
                       i == 0             ? (is_inside(level) ? "Inside" : "Between")
                       : is_inside(level) ? "inside"
                                          : "between",
                       is_inside(level) ? "a node" : "nodes", iwi_ns(doc, level->half_round_trip.value),
                       bandwidth(level), i + 1 < measured->level_count ? "; " : ".");
    }
    iwi_doc_append(doc, " The fitted lines miss measured times by up to %s%s.", iwi_percent(doc, worst),
                   worst > POOR_FIT ? ", too much to rely on them between and beyond these sizes" : "");
    if (measured->launches == 1) {
        iwi_doc_append(doc, " Only one launch was measured, so differences between launches are unknown.");
    }
    if (measured->slow_count > 0) {
        iwi_doc_append(doc, " %zu of %" PRIu64 " pairs of ranks %s slower than the others.",
                       measured->slow_count, measured->link_count, measured->slow_count == 1 ? "is" : "are");
    }
}

/* ---- levels ---- */

static void add_curve(struct iwi_figure *figure, const iw_net_level *level, size_t offset, size_t series,
                      const char *label)
{
    struct iwi_mark *line = NULL, *dots = NULL;

    for (size_t i = 0; i < level->point_count; i++) {
        const iw_net_point *point = &level->points[i];
        const iw_estimate *value = (const iw_estimate *)(const void *)((const char *)point + offset);

        if (value->value > 0 && line == NULL) {
            line = iwi_figure_mark(figure, IWI_MARK_LINE, iwi_series_ink(series), label);
            dots = iwi_figure_mark(figure, IWI_MARK_DOTS, iwi_series_ink(series), NULL);
        }
        if (value->value > 0) {
            iwi_mark_add(figure, line, (double[]){(double)point->bytes, value->value});
            iwi_mark_add(figure, dots, (double[]){(double)point->bytes, value->value});
        }
    }
}

static void show_level(struct iwi_document *doc, const iw_net_level *level)
{
    struct iwi_figure *figure = NULL;
    const iw_status made = iwi_figure_new(
        doc->log, is_inside(level) ? "Messages inside a node" : "Messages between nodes", &figure);

    if (made == IW_OK) {
        figure->x =
            (struct iwi_figure_axis){.label = "Size in bytes", .unit = IWI_AXIS_COUNT, .is_log = true};
        figure->y = (struct iwi_figure_axis){.label = "Time", .unit = IWI_AXIS_NS, .is_log = true};
        figure->message = "Measured time of a message by its size.";
        add_curve(figure, level, offsetof(iw_net_point, exchange), 4, "both ways at once");
        add_curve(figure, level, offsetof(iw_net_point, half_round_trip), 0, "half a round trip");
        add_curve(figure, level, offsetof(iw_net_point, gap), 1, "each of many in a row");
        add_curve(figure, level, offsetof(iw_net_point, o_send), 2, "CPU time of a send");
        add_curve(figure, level, offsetof(iw_net_point, o_recv), 3, "CPU time of a receive");
    }
    iwi_show_figure(doc, made, figure);
}

static void say_value(struct iwi_document *doc, const char *name, const iw_estimate *value,
                      const char *meaning)
{
    if (value->value > 0) {
        iwi_row(doc, name, iwi_ns(doc, value->value),
                iwi_from_to(doc, iwi_ns(doc, value->low), iwi_ns(doc, value->high)), meaning);
    } else {
        iwi_row(doc, name, "unknown", "", meaning);
    }
}

static void say_limit(struct iwi_document *doc, const iw_net_level *level)
{
    const iw_net_eager *computing = &level->eager_computing, *inside = &level->eager_inside;

    if (!computing->is_at_most) {
        iwi_row(doc, "S", "unknown", iwi_doc_printf(doc, "at least %s", iwi_size(doc, computing->bytes)),
                "no send waited for its receiver");
        return;
    }
    iwi_row(doc, "S", iwi_size(doc, computing->bytes), "",
            "larger messages wait while the receiver computes");
    if (inside->bytes != computing->bytes) {
        iwi_row(doc, "", iwi_size(doc, inside->bytes), "",
                inside->is_at_most ? "the same while the receiver is in another MPI call"
                                   : "at least, while the receiver is in another MPI call");
    }
}

static void say_parameters(struct iwi_document *doc, const iw_net_measured *measured,
                           const iw_net_level *level)
{
    const uint64_t bytes = level->points[0].bytes;
    const bool has_exchange = level->exchange.value > 0;

    iwi_paragraph(
        doc, "Messages of %s: %s.", iwi_size(doc, bytes),
        measured->launches > 1
            ? iwi_doc_printf(doc, "means of %u launches with their 95 %% intervals", measured->launches)
            : "medians with 95 % intervals of this launch only");
    IWI_TABLE(doc, "", {"", IWI_WORDS}, {"value", IWI_NUMBER}, {"95 % interval", IWI_WORDS}, {"", IWI_WORDS});
    iwi_unfold(doc);
    say_value(doc, "L", &level->L, "latency without overheads");
    if (has_exchange) {
        say_value(doc, "", &level->exchange, "both ways at once: o_s+L+o_r");
    }
    say_value(doc, "", &level->half_round_trip,
              has_exchange ? "half a round trip" : "half a round trip: o_s+L+o_r");
    say_value(doc, "o_s", &level->o_send, "CPU time of a send");
    say_value(doc, "o_r", &level->o_recv, "CPU time of a receive");
    say_value(doc, "g", &level->gap, "interval between messages in a row");
    say_limit(doc, level);
}

static const char *known(struct iwi_document *doc, iw_time ps)
{
    return ps > 0 ? iwi_ps(doc, ps) : "unknown";
}

static void say_segment(struct iwi_document *doc, const iw_net_segment *segment)
{
    const double fs_per_ns = 1e6;

    iwi_row(doc, iwi_size(doc, segment->from_bytes), known(doc, segment->L_ps),
            known(doc, segment->o_send_ps), known(doc, segment->o_recv_ps), known(doc, segment->g_ps),
            iwi_doc_printf(doc, "%.3f", (double)segment->G / fs_per_ns),
            iwi_doc_printf(doc, "%.3f", (double)segment->O / fs_per_ns));
}

static void say_level(struct iwi_document *doc, const iw_net_measured *measured, const iw_net_level *level)
{
    const iw_net *net = &level->net;
    const iw_net_segment head = {.from_bytes = 1,
                                 .L_ps = net->L_ps,
                                 .o_send_ps = net->o_send_ps,
                                 .o_recv_ps = net->o_recv_ps,
                                 .g_ps = net->g_ps,
                                 .G = net->G,
                                 .O = net->O};
    const char *first = measured->host_names[level->ranks[0]],
               *second = measured->host_names[level->ranks[1]];

    iwi_section(doc, is_inside(level) ? "node" : "network",
                iwi_doc_printf(doc,
                               is_inside(level) ? "Level '%s', between ranks %u and %u on %s"
                                                : "Level '%s', between ranks %u and %u on %s and %s",
                               level->name, level->ranks[0], level->ranks[1], first, second));
    say_parameters(doc, measured, level);
    IWI_TABLE(doc,
              iwi_doc_printf(doc, "%u line%s describe%s all sizes", net->segment_count + 1,
                             iwi_plural_s(net->segment_count + 1), net->segment_count == 0 ? "s" : ""),
              {"from", IWI_NUMBER}, {"L", IWI_NUMBER}, {"o_s", IWI_NUMBER}, {"o_r", IWI_NUMBER},
              {"g", IWI_NUMBER}, {"G ns/B", IWI_NUMBER}, {"O ns/B", IWI_NUMBER});
    iwi_unfold(doc);
    say_segment(doc, &head);
    for (uint32_t i = 0; i < net->segment_count; i++) {
        say_segment(doc, &net->segments[i]);
    }
}

static void say_links(struct iwi_document *doc, const iw_net_measured *measured)
{
    if (measured->slow_count == 0) {
        return;
    }
    iwi_section(doc, "links", "Slow pairs of ranks");
    iwi_paragraph(doc,
                  "Half round trips of 8 B and %s while all other ranks are silent, and how many times the "
                  "median they take.",
                  iwi_size(doc, measured->large_bytes));
    IWI_TABLE(doc, "", {"ranks", IWI_WORDS}, {"hosts", IWI_WORDS}, {"small", IWI_NUMBER},
              {"factor", IWI_NUMBER}, {"large", IWI_NUMBER}, {"factor", IWI_NUMBER});
    for (size_t i = 0; i < measured->slow_count; i++) {
        const iw_net_slow_link *slow = &measured->slow[i];

        iwi_row(doc, iwi_doc_printf(doc, "%u - %u", slow->ranks[0], slow->ranks[1]),
                iwi_doc_printf(doc, "%s - %s", measured->host_names[slow->ranks[0]],
                               measured->host_names[slow->ranks[1]]),
                iwi_ns(doc, slow->small_round_trip_ns / 2), iwi_doc_printf(doc, "%.2f", slow->small_factor),
                iwi_ns(doc, slow->large_round_trip_ns / 2), iwi_doc_printf(doc, "%.2f", slow->large_factor));
    }
}

/* ---- how sure ---- */

static void say_doubts(struct iwi_document *doc, const iw_net_level *level)
{
    const bool has_exchange = level->exchange.value > 0;

    iwi_item(doc, "%s: the lines miss the %s of a measured size by at most %s",
             is_inside(level) ? "Inside a node" : "Between nodes",
             has_exchange ? "exchange" : "half round trip", iwi_percent(doc, level->fit_error));
    if (level->wide_points > 0) {
        iwi_doc_append(doc,
                       "; %" PRIu64 " of %zu sizes have intervals wider than 10 %% (measure longer, with "
                       "more launches, or on a quieter machine)",
                       level->wide_points, level->point_count);
    }
    if (level->overlapped_from_bytes > 0) {
        iwi_doc_append(
            doc,
            "; from %s on, sending and receiving overlap, so their CPU times were cut (to at least %s)%s",
            iwi_size(doc, level->overlapped_from_bytes), iwi_percent(doc, level->least_overlap),
            has_exchange ? "" : "; if your program sends both ways at once, measure exchanges");
    }
    if (level->capped_from_bytes > 0) {
        iwi_doc_append(doc,
                       "; from %s on, messages in a row took longer than half a round trip each (up to %s "
                       "times), so g was cut to half a round trip",
                       iwi_size(doc, level->capped_from_bytes), iwi_factor(doc, level->most_capped));
    }
    iwi_doc_append(doc, ".");
}

static void say_certainty(struct iwi_document *doc, const iw_net_measured *measured)
{
    uint64_t count = 0;

    for (size_t i = 0; i < measured->level_count; i++) {
        for (size_t k = 0; k < measured->levels[i].point_count; k++) {
            count += measured->levels[i].points[k].samples;
        }
    }
    iwi_section(doc, "certainty", "How sure");
    iwi_item(doc, "%" PRIu64 " samples in %.1f s and %u launch%s by %s calls of %s.", count,
             measured->seconds, measured->launches, measured->launches == 1 ? "" : "es",
             iw_net_calls_name(measured->calls), measured->mpi_version);
    if (measured->launches == 1) {
        iwi_doc_append(doc, " Measure several launches to see how much they differ.");
    }
    for (size_t i = 0; i < measured->level_count; i++) {
        say_doubts(doc, &measured->levels[i]);
    }
    if (measured->link_count > 0) {
        iwi_item(doc,
                 "%" PRIu64 " of %" PRIu64
                 " pairs of ranks were checked; the levels were measured between typical ones.",
                 measured->link_count, measured->pair_count);
    }
}

static void write_doc(struct iwi_document *doc, const void *subject)
{
    const iw_net_measured *measured = subject;

    iwi_title(doc, "Network between %u ranks on %u host%s", measured->ranks, measured->hosts,
              iwi_plural_s(measured->hosts));
    iwi_subtitle(doc, "%s, %s", measured->mpi_version, measured->host_names[0]);
    say_verdict(doc, measured);
    iwi_only_in(doc, IWI_ON_PAGES | IWI_IN_PLOTS);
    for (size_t i = 0; i < measured->level_count; i++) {
        show_level(doc, &measured->levels[i]);
    }
    iwi_only_in(doc, IWI_EVERYWHERE);
    for (size_t i = 0; i < measured->level_count; i++) {
        say_level(doc, measured, &measured->levels[i]);
    }
    say_links(doc, measured);
    say_certainty(doc, measured);
}

const struct iwi_kind iwi_net_kind = {
    .name = "net",
    .schema_id = "idlewave.net-measured/3",
    .about = "A network measured by `idlewave net --format json`, in one launch or several; `net` reads such "
             "files and combines them. CSV has one line per level and size",
    .schema = &iwi_net_measured_schema,
    .write_doc = write_doc,
    .check = iwi_net_measured_check,
};

IWI_DOC(iw_net_doc, iw_net_measured, measured, iwi_net_kind)

const iw_net_measured *iw_net_of_doc(iw_doc doc)
{
    return doc.kind == &iwi_net_kind ? doc.subject : NULL;
}
