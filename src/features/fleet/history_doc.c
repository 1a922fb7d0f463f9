/* The noise of a fleet over weeks: what changed, and on which nodes.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/history.h>
#include <idlewave/remedy.h>

#include <math.h>
#include <time.h>

#include "core/base/base.h"
#include "features/fleet/fleet_report.h"
#include "features/tables.h"
#include "kit/figure/figure.h"
#include "kit/text/words.h"

/* ---- the table ---- */

static const char *date_text(int64_t start_ns, char buf[IWI_NUMBER_SIZE])
{
    const time_t date = (time_t)(start_ns / 1000000000);
    struct tm utc;

    if (gmtime_r(&date, &utc) == NULL || strftime(buf, IWI_NUMBER_SIZE, "%Y-%m-%d", &utc) == 0) {
        snprintf(buf, IWI_NUMBER_SIZE, "?");
    }
    return buf;
}

static const struct iwi_field period_fields[] = {
    IWI_VALUE(iw_history_period, start_ns),
    IWI_VALUE_AS(iw_history_period, node_count, "nodes"),
    IWI_OBJECT(iw_history_period, share, iwi_spread_schema),
    IWI_VALUE(iw_history_period, rate_hz, .about = "of the median node"),
    IWI_VALUE(iw_history_period, longest_ns, .about = "of the median node"),
};
static const struct iwi_schema period_schema = IWI_SCHEMA(iw_history_period, period_fields);

IWI_OF(bool, change_has_source, iw_history_change, !it->is_all)

static const struct iwi_field change_fields[] = {
    IWI_VALUE(iw_history_change, is_all, .about = "all sources together"),
    IWI_OBJECT(iw_history_change, source, iwi_source_schema, .is_there = change_has_source),
    IWI_VALUE_AS(iw_history_change, node_count, "nodes"),
    IWI_VALUE(iw_history_change, before, .about = "share of time, of the median node"),
    IWI_VALUE(iw_history_change, after, .about = "share of time, of the median node"),
    IWI_ESTIMATE(iw_history_change, factor, .about = "after over before"),
};
static const struct iwi_schema change_schema = IWI_SCHEMA(iw_history_change, change_fields);

IWI_OF(bool, node_has_source, iw_history_node, !it->is_all)

static const struct iwi_field node_fields[] = {
    IWI_VALUE(iw_history_node, name),
    IWI_VALUE(iw_history_node, is_all, .about = "all sources together"),
    IWI_OBJECT(iw_history_node, source, iwi_source_schema, .is_there = node_has_source),
    IWI_VALUE(iw_history_node, before, .about = "share of time"),
    IWI_VALUE(iw_history_node, after),
    IWI_VALUE(iw_history_node, factor, .about = "change over that of the median node"),
    IWI_VALUE(iw_history_node, limit, .about = "nodes stand out from this factor on"),
};
static const struct iwi_schema node_schema = IWI_SCHEMA(iw_history_node, node_fields);

static const char *outcome_of(const iw_history *history)
{
    if (history->paired_count == 0) {
        return "too little";
    }
    return history->change_count > 0 || history->changed_node_count > 0 ? "changed" : "none";
}

IWI_OF(const char *, outcome, iw_history, outcome_of(it))

static const struct iwi_field history_fields[] = {
    IWI_VALUE(iw_history, name, .about = "folder or file, as given"),
    IWI_TEXT_OF("outcome", outcome,
                .about = "`too little`: no node has recordings on both sides of the change"),
    IWI_VALUE_AS(iw_history, digest_count, "recordings", .about = "recordings read"),
    IWI_VALUE_AS(iw_history, undated_count, "recordings_without_date",
                 .about = "recordings left out for lack of a date"),
    IWI_VALUE_AS(iw_history, unreadable_count, "files_unreadable"),
    IWI_VALUE_AS(iw_history, node_count, "nodes", .about = "nodes with a date"),
    IWI_VALUE_AS(iw_history, paired_count, "nodes_compared",
                 .about = "nodes with recordings before and after the change"),
    IWI_VALUE_AS(iw_history, opts.period_ns, "period_ns", .about = "length of a period"),
    IWI_VALUE(iw_history, change_ns, .about = "date of the change, since 1970 (UTC)"),
    IWI_VALUE_AS(iw_history, before_count, "periods_before", .about = "periods with recordings"),
    IWI_VALUE_AS(iw_history, after_count, "periods_after", .about = "periods with recordings"),
    IWI_VALUE_AS(iw_history, opts.false_alarms, "false_alarms",
                 .about = "rate, for all comparisons together"),
    IWI_VALUE_AS(iw_history, opts.matters, "matters", .about = "smaller changes are not reported"),
    IWI_VALUE_AS(iw_history, tests, "comparisons"),
    IWI_VALUE(iw_history, least_factor,
              .about = "smallest factor, about, of a change of the fleet that is significant; null if "
                       "nothing is compared"),
    IWI_OBJECTS(iw_history, changes, change_count, change_schema,
                .about = "sources that changed on the fleet, the largest first"),
    IWI_OBJECTS(iw_history, changed_nodes, changed_node_count, node_schema,
                .about = "nodes that changed more than the fleet, the largest first"),
    IWI_OBJECTS(iw_history, periods, period_count, period_schema, .is_row = true, .about = "ascending"),
    IWI_INLINE(iw_history, caveats, iwi_caveats_schema),
};
static const struct iwi_schema history_schema = IWI_SCHEMA(iw_history, history_fields);

static iw_status check(const iw_log *log, const char *file, const void *subject)
{
    return ((const iw_history *)subject)->period_count > 0
               ? IW_OK
               : iwi_fail(log, IW_ERR_FORMAT, "'%s': periods: must not be empty", file);
}

/* ---- the document ---- */

static const char *say_date(struct iwi_document *doc, int64_t start_ns)
{
    char date[IWI_NUMBER_SIZE];

    return iwi_doc_printf(doc, "%s", date_text(start_ns, date));
}

static const char *name_of(struct iwi_document *doc, bool is_all, const iw_source *source)
{
    return is_all ? "all sources together" : iwi_fleet_source_name(doc, source);
}

static void say_verdict(struct iwi_document *doc, const iw_history *h)
{
    const iw_history_period *first = &h->periods[0], *last = &h->periods[h->period_count - 1];

    if (h->paired_count == 0) {
        iwi_verdict(doc, "No node was recorded both before and after %s.", say_date(doc, h->change_ns));
    } else if (h->change_count == 0 && h->changed_node_count == 0) {
        iwi_verdict(doc, "No significant change of at least %s of the time since %s.",
                    iwi_percent_short(doc, h->opts.matters), say_date(doc, h->change_ns));
    } else if (h->change_count > 0) {
        iwi_verdict(doc, "The fleet changed on %s: %s went from %s to %s of the time.",
                    say_date(doc, h->change_ns), name_of(doc, h->changes[0].is_all, &h->changes[0].source),
                    iwi_percent_short(doc, h->changes[0].before),
                    iwi_percent_short(doc, h->changes[0].after));
    } else {
        iwi_verdict(doc, "The fleet did not change since %s, but %s%s did.", say_date(doc, h->change_ns),
                    h->changed_nodes[0].name, h->changed_node_count == 1 ? "" : " and others");
    }
    iwi_doc_append(doc, " The median node lost %s of its time to noise from %s on, and %s from %s on.",
                   iwi_percent_short(doc, first->share.median), say_date(doc, first->start_ns),
                   iwi_percent_short(doc, last->share.median), say_date(doc, last->start_ns));
}

static void say_change(struct iwi_document *doc, const iw_history_change *c)
{
    iwi_item(doc, "%s: %s of the time before, %s after, %sx as much (95 %% CI %s to %s), on %zu node%s.",
             name_of(doc, c->is_all, &c->source), iwi_percent_short(doc, c->before),
             iwi_percent_short(doc, c->after), iwi_factor(doc, c->factor.value),
             iwi_factor(doc, c->factor.low), iwi_factor(doc, c->factor.high), c->node_count,
             iwi_plural_s(c->node_count));
    if (!c->is_all && c->after > c->before) {
        iwi_doc_append(doc, " Remedy: %s.", iw_remedy_of(c->source.kind, c->source.name)->how);
    }
}

/* A node that had none before has no factor. */
static void say_node(struct iwi_document *doc, const iw_history *h, const iw_history_node *n)
{
    iwi_item(doc, "%s: %s, %s of the time", n->name, name_of(doc, n->is_all, &n->source),
             iwi_percent_short(doc, n->after));
    if (n->before < 0.1 * h->opts.matters) {
        iwi_doc_append(doc, "; hardly any before.");
    } else {
        iwi_doc_append(doc, " after %s: %sx the change of the median node.",
                       iwi_percent_short(doc, n->before), iwi_factor(doc, n->factor));
    }
    if (!n->is_all) {
        iwi_doc_append(doc, " Remedy: %s.", iw_remedy_of(n->source.kind, n->source.name)->how);
    }
}

static void say_findings(struct iwi_document *doc, const iw_history *h)
{
    enum { MOST = 30 };

    iwi_section(doc, "changes", "What changed on the fleet");
    for (size_t i = 0; i < h->change_count; i++) {
        say_change(doc, &h->changes[i]);
    }
    iwi_section(doc, "nodes", "Nodes that changed more than the fleet");
    for (size_t i = 0; i < h->changed_node_count && i < MOST; i++) {
        say_node(doc, h, &h->changed_nodes[i]);
    }
    if (h->changed_node_count > MOST) {
        iwi_note(doc, "The JSON has %zu more.", h->changed_node_count - MOST);
    }
}

static void show_periods(struct iwi_document *doc, const iw_history *h)
{
    iwi_section(doc, "periods", "Periods");
    IWI_TABLE(doc, "Time lost to noise over the nodes", {"from", IWI_WORDS}, {"nodes", IWI_NUMBER},
              {"q1", IWI_NUMBER}, {"median", IWI_NUMBER}, {"q3", IWI_NUMBER}, {"max", IWI_NUMBER},
              {"longest", IWI_NUMBER}, {"", IWI_WORDS});
    iwi_unfold(doc);
    for (size_t i = 0; i < h->period_count; i++) {
        const iw_history_period *p = &h->periods[i];
        const bool is_first_after =
            p->start_ns >= h->change_ns && (i == 0 || h->periods[i - 1].start_ns < h->change_ns);

        iwi_row(doc, say_date(doc, p->start_ns), iwi_count(doc, p->node_count),
                iwi_percent_short(doc, p->share.q1), iwi_percent_short(doc, p->share.median),
                iwi_percent_short(doc, p->share.q3), iwi_percent_short(doc, p->share.max),
                iwi_ns_short(doc, p->longest_ns), is_first_after ? "after" : "");
    }
}

static void show_figure(struct iwi_document *doc, const iw_history *h)
{
    struct iwi_figure *figure = NULL;
    const iw_status status = iwi_figure_new(doc->log, "Time lost by nodes over time", &figure);
    char date[IWI_NUMBER_SIZE];

    if (status == IW_OK) {
        struct iwi_mark *boxes = iwi_figure_mark(figure, IWI_MARK_BOX, iwi_series_ink(0), NULL);

        figure->x.label = "Period from";
        figure->x.unit = IWI_AXIS_NAMES;
        figure->y.label = "Time lost";
        figure->y.unit = IWI_AXIS_SHARE;
        for (size_t i = 0; i < h->period_count; i++) {
            const iw_spread *s = &h->periods[i].share;

            iwi_axis_name(figure, &figure->x, date_text(h->periods[i].start_ns, date));
            iwi_mark_add_named(
                figure, boxes,
                (double[]){(double)(i + 1), s->min, s->min, s->q1, s->median, s->q3, s->p95, s->max}, NULL,
                h->periods[i].start_ns >= h->change_ns);
        }
        figure->message = iwi_figure_text(
            figure, "Boxes: half of the nodes, with a line at the median, which is orange after the change.");
    }
    iwi_show_figure(doc, status, figure);
}

static void say_certainty(struct iwi_document *doc, const iw_history *h)
{
    iwi_section(doc, "certainty", "How sure");
    if (h->paired_count > 0) {
        iwi_item(doc,
                 "Each node is compared with itself: %zu of %zu node%s %s recordings on both sides, in %zu "
                 "period%s before and %zu after.",
                 h->paired_count, h->node_count, iwi_plural_s(h->node_count),
                 h->paired_count == 1 ? "has" : "have", h->before_count, iwi_plural_s(h->before_count),
                 h->after_count);
        iwi_item(doc,
                 "Of histories without a change, at most 1 in %.4g gets any alarm, over all %s comparisons. "
                 "A change of the fleet is significant from a factor of about %.2g; more periods reveal "
                 "smaller changes.",
                 1.0 / h->opts.false_alarms, iwi_count(doc, h->tests), h->least_factor);
    }
    if (h->paired_count > 0 && h->paired_count < IW_FLEET_LEAST_NODES) {
        iwi_item(doc, "Single nodes are compared with the others' changes only from %d nodes on.",
                 IW_FLEET_LEAST_NODES);
    }
    if (h->undated_count > 0) {
        iwi_item(doc, "%zu recording%s not say when %s made, and %s left out.", h->undated_count,
                 h->undated_count == 1 ? " does" : "s do", h->undated_count == 1 ? "it was" : "they were",
                 h->undated_count == 1 ? "is" : "are");
    }
    if (h->unreadable_count > 0) {
        iwi_item(doc, "%zu file%s could not be read.", h->unreadable_count,
                 iwi_plural_s(h->unreadable_count));
    }
}

static void write_doc(struct iwi_document *doc, const void *subject)
{
    const iw_history *h = subject;

    iwi_title(doc, "Noise over time in %s", h->name);
    iwi_subtitle(doc, "%zu node%s, %zu period%s", h->node_count, iwi_plural_s(h->node_count), h->period_count,
                 iwi_plural_s(h->period_count));
    iwi_say_caveats(doc, &h->caveats, NULL);
    say_verdict(doc, h);
    say_findings(doc, h);
    show_periods(doc, h);
    iwi_only_in(doc, IWI_ON_PAGES | IWI_IN_PLOTS);
    show_figure(doc, h);
    iwi_only_in(doc, IWI_EVERYWHERE);
    say_certainty(doc, h);
}

const struct iwi_kind iwi_history_kind = {
    .name = "history",
    .schema_id = "idlewave.history/1",
    .about = "How a fleet changed, from `idlewave fleet history --format json`. CSV has a line per period",
    .schema = &history_schema,
    .write_doc = write_doc,
    .check = check,
};

IWI_DOC(iw_history_doc, iw_history, history, iwi_history_kind)
