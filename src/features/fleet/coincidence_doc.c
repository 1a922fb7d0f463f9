/* Which sources hit nodes together: table, document, figure.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/coincidence.h>

#include <math.h>
#include <time.h>

#include "core/base/base.h"
#include "features/fleet/fleet_report.h"
#include "features/tables.h"
#include "kit/doc/doc.h"
#include "kit/text/words.h"

/* ======== figure ======== */

static void add_bars(struct iwi_figure *figure, const iw_coincidence *c, const iw_coincidence_source *source)
{
    const double part_ns = (double)c->window.length_ns / (double)source->part_count;
    struct iwi_mark *bars = iwi_figure_mark(figure, IWI_MARK_BAR, IWI_INK_NOISE, NULL);

    bars->is_thin = true;
    for (size_t i = 0; i < source->part_count; i++) {
        if (source->part_nodes[i] > 0) {
            iwi_mark_add(figure, bars,
                         (double[]){(double)i * part_ns, (double)(i + 1) * part_ns, 0.0,
                                    (double)source->part_nodes[i]});
        }
    }
}

static void add_table(struct iwi_figure *figure, const iw_coincidence *c, const iw_coincidence_source *source)
{
    iwi_figure_table(figure, "When nodes were hit together");
    iwi_figure_head(figure, false, "Seconds since the beginning");
    iwi_figure_head(figure, false, "Nodes");
    for (size_t i = 0; i < source->listed_count; i++) {
        iwi_figure_cell(figure, "%.3f",
                        (double)(source->instants[i].wall_ns - c->window.from_wall_ns) * 1e-9);
        iwi_figure_cell(figure, "%u", source->instants[i].nodes);
    }
}

/* How many nodes a source that coincides hit at once, over time. */
static void show_figure(struct iwi_document *doc, const iw_coincidence *c,
                        const iw_coincidence_source *source)
{
    struct iwi_figure *figure = NULL;
    iw_status status;

    if (source->part_count == 0) {
        return;
    }
    status = iwi_figure_new(
        doc->log, iwi_doc_printf(doc, "Nodes hit at once by %s", iwi_fleet_source_name(doc, &source->source)),
        &figure);
    if (status == IW_OK) {
        figure->x = (struct iwi_figure_axis){.label = "Time since the beginning",
                                             .unit = IWI_AXIS_NS,
                                             .low = 0.0,
                                             .high = (double)c->window.length_ns};
        figure->y = (struct iwi_figure_axis){
            .label = "Nodes", .unit = IWI_AXIS_COUNT, .low = 0.0, .high = (double)c->node_count * 1.05};
        add_bars(figure, c, source);
        add_table(figure, c, source);
        figure->message = iwi_figure_text(figure,
                                          "The most nodes hit within %s, in each of %zu parts of the time. "
                                          "Independent nodes would be hit one by one.",
                                          iwi_ns_round(doc, (double)source->width_ns), source->part_count);
    }
    iwi_show_figure(doc, status, figure);
}

/* ======== document ======== */

enum { NAMED_INSTANTS = 3, MOST_FIGURES = 3 };

/* ---- the table ---- */

static const struct iwi_field instant_fields[] = {
    IWI_VALUE(iw_coincidence_instant, wall_ns, .about = "since 1970 (UTC)"),
    IWI_VALUE(iw_coincidence_instant, nodes),
};
static const struct iwi_schema instant_schema = IWI_SCHEMA(iw_coincidence_instant, instant_fields);

IWI_OF(bool, is_tested, iw_coincidence_source, it->is_tested)
IWI_OF(bool, has_period, iw_coincidence_source, it->period_ns > 0)

static const struct iwi_field source_fields[] = {
    IWI_INLINE(iw_coincidence_source, source, iwi_source_schema),
    IWI_VALUE(iw_coincidence_source, nodes, .about = "nodes that have it"),
    IWI_VALUE(iw_coincidence_source, occurrences, .about = "detours on all of these nodes"),
    IWI_VALUE(iw_coincidence_source, share, .about = "of the average CPU's time"),
    IWI_VALUE(iw_coincidence_source, is_tested,
              .about =
                  "false: only one node has it, it takes most of the time, or 20 larger sources were tested"),
    IWI_VALUE(iw_coincidence_source, is_coincident, .about = "it hits nodes together significantly often"),
    IWI_VALUE(iw_coincidence_source, p, .is_there = is_tested,
              .about = "probability that independent nodes meet as often"),
    IWI_VALUE(iw_coincidence_source, width_ns, .is_there = is_tested,
              .about = "detours within this time count as together"),
    IWI_VALUE(iw_coincidence_source, together, .is_there = is_tested,
              .about = "of the possible meetings of two nodes, the share beyond those expected by chance: 1 "
                       "if all nodes are always hit together"),
    IWI_VALUE(iw_coincidence_source, nodes_together, .about = "nodes hit at half of the instants or more"),
    IWI_VALUE(iw_coincidence_source, period_ns, .is_there = has_period,
              .about = "between instants; null: not regular"),
    IWI_VALUE_AS(iw_coincidence_source, instant_count, "instants_found",
                 .about = "instants when more nodes were hit than expected by chance"),
    IWI_OBJECTS(iw_coincidence_source, instants, listed_count, instant_schema, .about = "the first 100"),
    IWI_VALUES(iw_coincidence_source, part_nodes, part_count,
               .about = "the most nodes hit at once, in each of 200 equal parts of the time; empty if it "
                        "does not coincide"),
};
static const struct iwi_schema source_schema = IWI_SCHEMA(iw_coincidence_source, source_fields);

static const struct iwi_field coincidence_fields[] = {
    IWI_VALUE(iw_coincidence, name, .may_be_null = true, .about = "folder, as given"),
    IWI_VALUE_AS(iw_coincidence, found_count, "found",
                 .about = "number of sources that hit nodes together: the first of `sources`"),
    IWI_VALUE_AS(iw_coincidence, node_count, "nodes", .about = "recordings compared"),
    IWI_VALUE(iw_coincidence, clock_less,
              .about = "recordings without a wall-clock time, which were left out"),
    IWI_INLINE(iw_coincidence, window, iwi_wall_window_schema),
    IWI_VALUE(iw_coincidence, false_alarms, .about = "rate, for all tests together"),
    IWI_VALUE(iw_coincidence, tests),
    IWI_OBJECTS(iw_coincidence, sources, source_count, source_schema, .is_row = true,
                .about = "coinciding sources first, then by share"),
    IWI_INLINE(iw_coincidence, caveats, iwi_caveats_schema),
};
static const struct iwi_schema coincidence_schema = IWI_SCHEMA(iw_coincidence, coincidence_fields);

static iw_status check(const iw_log *log, const char *file, const void *subject)
{
    const iw_coincidence *c = subject;

    for (size_t i = 0; i < c->source_count; i++) {
        if (c->sources[i].part_count != 0 && c->sources[i].part_count != IW_COINCIDENCE_PARTS) {
            return iwi_fail(log, IW_ERR_FORMAT, "'%s': part_nodes: must be %d", file, IW_COINCIDENCE_PARTS);
        }
    }
    return c->window.length_ns > 0 ? IW_OK
                                   : iwi_fail(log, IW_ERR_FORMAT, "'%s': length_ns: must not be 0", file);
}

/* ---- words ---- */

/* "03:15:00.412" in UTC. */
static const char *clock_words(struct iwi_document *doc, int64_t wall_ns)
{
    const time_t seconds = (time_t)(wall_ns / INT64_C(1000000000));
    struct tm utc;

    if (gmtime_r(&seconds, &utc) == NULL) {
        return "-";
    }
    return iwi_doc_printf(doc, "%02d:%02d:%02d.%03d", utc.tm_hour, utc.tm_min, utc.tm_sec,
                          (int)(wall_ns / 1000000 % 1000));
}

static const char *date_words(struct iwi_document *doc, int64_t wall_ns)
{
    const time_t seconds = (time_t)(wall_ns / INT64_C(1000000000));
    struct tm utc;

    return gmtime_r(&seconds, &utc) == NULL
               ? "-"
               : iwi_doc_printf(doc, "%04d-%02d-%02d %02d:%02d:%02d", utc.tm_year + 1900, utc.tm_mon + 1,
                                utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec);
}

/* A minute, an hour, ...: what crontabs and timers say. To within a thousandth; NULL: another. */
static const char *round_period(int64_t period_ns)
{
    static const struct {
        double s;
        const char *name;
    } known[] = {{1.0, "second"}, {60.0, "minute"}, {3600.0, "hour"}};

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (fabs((double)period_ns * 1e-9 - known[i].s) < 1e-3 * known[i].s) {
            return known[i].name;
        }
    }
    return NULL;
}

/* "every minute, 412 ms past it", "every 10 s, first at 03:15:07.031", "at 03:15:00.412, ..." */
static void say_when(struct iwi_document *doc, const iw_coincidence_source *source)
{
    const char *name = round_period(source->period_ns);
    const int64_t first_ns = source->listed_count > 0 ? source->instants[0].wall_ns : 0;

    if (source->listed_count == 0) {
        return;
    }
    if (name != NULL) {
        const int64_t whole_ns = llround((double)source->period_ns * 1e-9) * INT64_C(1000000000);

        iwi_doc_append(doc, ", every %s, %s past it", name, iwi_ns_round(doc, (double)(first_ns % whole_ns)));
    } else if (source->period_ns > 0) {
        iwi_doc_append(doc, ", every %s, first at %s", iwi_ns_short(doc, (double)source->period_ns),
                       clock_words(doc, first_ns));
    } else {
        for (size_t i = 0; i < source->listed_count && i < NAMED_INSTANTS; i++) {
            iwi_doc_append(doc, "%s%s", i == 0 ? ", at " : ", ",
                           clock_words(doc, source->instants[i].wall_ns));
        }
        if (source->instant_count > NAMED_INSTANTS) {
            iwi_doc_append(doc, " and %zu other times", source->instant_count - NAMED_INSTANTS);
        }
    }
}

static void say_source(struct iwi_document *doc, const iw_coincidence *c, const iw_coincidence_source *source)
{
    iwi_item(doc, "%s", iwi_fleet_source_name(doc, &source->source));
    if (source->nodes_together >= 2) {
        iwi_doc_append(doc, " hits %" PRIu32 " of %zu nodes together", source->nodes_together, c->node_count);
    } else {
        iwi_doc_append(doc, " hits nodes together significantly often");
    }
    say_when(doc, source);
    iwi_doc_append(doc, ": %s of what could coincide does, within %s.", iwi_percent(doc, source->together),
                   iwi_ns_round(doc, (double)source->width_ns));
}

static void say_verdict(struct iwi_document *doc, const iw_coincidence *c)
{
    if (c->tests == 0) {
        iwi_verdict(doc,
                    "Too little to test whether nodes are hit together: no source hits two of the %zu nodes "
                    "often enough, or the %s that all nodes were recorded are too short.",
                    c->node_count, iwi_ns_round(doc, (double)c->window.length_ns));
    } else if (c->found_count == 0) {
        iwi_verdict(doc,
                    "No source hits the %zu nodes together significantly often: treat them as independent.",
                    c->node_count);
    } else {
        double share = 0.0;

        for (size_t i = 0; i < c->source_count; i++) {
            share += c->sources[i].is_coincident ? c->sources[i].share : 0.0;
        }
        iwi_verdict(doc,
                    "%zu source%s hit%s the %zu nodes together, so the nodes are not independent: %s of the "
                    "time is lost to %s.",
                    c->found_count, iwi_plural_s(c->found_count), c->found_count == 1 ? "s" : "",
                    c->node_count, iwi_percent_short(doc, share), c->found_count == 1 ? "it" : "them");
    }
}

static void say_advice(struct iwi_document *doc, const iw_coincidence *c)
{
    if (c->found_count > 0) {
        iwi_paragraph(
            doc, "A job that synchronises often loses less to noise that hits all nodes at once than to the "
                 "same noise out of step. To see how much less, simulate the job with the nodes of this "
                 "folder aligned by the wall clock.");
    }
}

static const char *period_words(struct iwi_document *doc, const iw_coincidence_source *source)
{
    return source->period_ns > 0 ? iwi_ns_short(doc, (double)source->period_ns)
                                 : (source->is_coincident ? "irregular" : "");
}

static void show_sources(struct iwi_document *doc, const iw_coincidence *c)
{
    iwi_section(doc, "sources", "Sources");
    IWI_TABLE(doc, "", {"source", IWI_WORDS}, {"nodes", IWI_NUMBER}, {"occurs", IWI_NUMBER},
              {"time lost", IWI_NUMBER}, {"together", IWI_NUMBER}, {"within", IWI_NUMBER}, {"p", IWI_NUMBER},
              {"every", IWI_NUMBER});
    for (size_t i = 0; i < c->source_count; i++) {
        const iw_coincidence_source *s = &c->sources[i];

        iwi_row(doc, iwi_fleet_source_name(doc, &s->source), iwi_count(doc, s->nodes),
                iwi_count(doc, s->occurrences), iwi_percent_short(doc, s->share),
                s->is_tested ? iwi_percent_short(doc, fmax(s->together, 0.0)) : "",
                s->is_tested ? iwi_ns_round(doc, (double)s->width_ns) : "",
                s->is_tested ? iwi_doc_printf(doc, "%.2g", s->p) : "", period_words(doc, s));
    }
}

static void say_certainty(struct iwi_document *doc, const iw_coincidence *c)
{
    iwi_section(doc, "certainty", "How sure");
    iwi_item(doc,
             "Of 100 fleets of independent nodes, at most %.3g would get any finding, among %" PRIu64
             " tests and whatever the law of their noise.",
             100.0 * c->false_alarms, c->tests);
    iwi_item(doc, "Compared: %s from %s on (UTC), when all nodes were recorded.",
             iwi_ns_round(doc, (double)c->window.length_ns), date_words(doc, c->window.from_wall_ns));
    if (c->window.unsynchronised > 0) {
        iwi_item(doc,
                 "The clocks of %zu node%s are not synchronised. Clocks that differ hide coincidence and "
                 "never feign it: start chronyd or ntpd there and record again.",
                 c->window.unsynchronised, iwi_plural_s(c->window.unsynchronised));
    } else {
        iwi_item(doc,
                 "Clocks err by up to %s by their own estimates. Clocks that differ hide coincidence and "
                 "never feign it.",
                 iwi_ns_round(doc, c->window.error_ns));
    }
    if (c->clock_less > 0) {
        iwi_item(doc, "%zu recording%s not say when %s made, and %s left out.", c->clock_less,
                 c->clock_less == 1 ? " does" : "s do", c->clock_less == 1 ? "it was" : "they were",
                 c->clock_less == 1 ? "is" : "are");
    }
}

static void write_doc(struct iwi_document *doc, const void *subject)
{
    const iw_coincidence *c = subject;

    iwi_title(doc, "Coincidence of the nodes in %s", c->name != NULL ? c->name : "a folder");
    iwi_subtitle(doc, "%zu nodes", c->node_count);
    iwi_say_caveats(doc, &c->caveats, NULL);
    say_verdict(doc, c);
    iwi_section(doc, "together", "What hits nodes together");
    for (size_t i = 0; i < c->found_count && i < c->source_count; i++) {
        say_source(doc, c, &c->sources[i]);
    }
    say_advice(doc, c);
    iwi_only_in(doc, IWI_ON_PAGES | IWI_IN_PLOTS);
    for (size_t i = 0; i < c->found_count && i < c->source_count && i < MOST_FIGURES; i++) {
        show_figure(doc, c, &c->sources[i]);
    }
    iwi_only_in(doc, IWI_EVERYWHERE);
    show_sources(doc, c);
    say_certainty(doc, c);
}

const struct iwi_kind iwi_coincidence_kind = {
    .name = "coincidence",
    .schema_id = "idlewave.coincidence/1",
    .about = "Whether nodes are hit together, from `idlewave fleet coincidence --format json`. CSV has a "
             "line per source",
    .schema = &coincidence_schema,
    .write_doc = write_doc,
    .check = check,
};

IWI_DOC(iw_coincidence_doc, iw_coincidence, coincidence, iwi_coincidence_kind)
