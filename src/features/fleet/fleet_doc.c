/* What a judged fleet says.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/remedy.h>

#include <math.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/short_number.h"
#include "features/fleet/fleet_report.h"
#include "features/tables.h"
#include "kit/text/words.h"

/* ======== words ======== */

enum { NAMED_NODES = 5, LISTED_VALUES = 4 };

/* ---- the verdict ---- */

/* The first findings' nodes, each once. */
static void name_outliers(struct iwi_document *doc, const iw_fleet *fleet)
{
    const char *last = "";
    size_t named = 0;

    for (size_t i = 0; i < fleet->finding_count && named < NAMED_NODES; i++) {
        if (strcmp(fleet->findings[i].node, last) != 0) {
            last = fleet->findings[i].node;
            iwi_doc_append(doc, "%s%s", named++ == 0 ? ": " : ", ", last);
        }
    }
    if (named < fleet->outlier_count) {
        iwi_doc_append(doc, " and %zu more", fleet->outlier_count - named);
    }
    iwi_doc_append(doc, ".");
}

static void say_usual(struct iwi_document *doc, const iw_fleet *fleet)
{
    const bool is_small = fleet->node_count < IW_FLEET_LEAST_NODES;
    const iw_spread *share = &fleet->spread[IW_FLEET_SHARE];
    const char *least = iwi_percent_short(doc, is_small ? share->min : share->q1),
               *most = iwi_percent_short(doc, is_small ? share->max : share->q3);

    iwi_doc_append(doc, " %s loses %s of its time to noise",
                   fleet->node_count == 1 ? "It" : "The median node", iwi_percent_short(doc, share->median));
    if (fleet->node_count > 1) {
        const bool are_equal = strcmp(least, most) == 0;

        iwi_doc_append(doc, " (%s %s%s%s)", is_small ? "all nodes" : "half of the nodes",
                       are_equal ? "about this much" : least, are_equal ? "" : " to ", are_equal ? "" : most);
    }
    iwi_doc_append(doc, "; detours per CPU: %s; longest detour: %s.",
                   iwi_rate(doc, fleet->spread[IW_FLEET_RATE].median),
                   iwi_ns_short(doc, fleet->spread[IW_FLEET_LONGEST].median));
}

/* How many nodes stand out, and what the fleet is like. */
static void fleet_say_verdict(struct iwi_document *doc, const iw_fleet *fleet)
{
    if (fleet->node_count < IW_FLEET_FEW_NODES) {
        iwi_verdict(doc, "%zu node%s too few to find one that stands out; at least %d are needed.",
                    fleet->node_count, fleet->node_count == 1 ? " is" : "s are", IW_FLEET_FEW_NODES);
    } else if (fleet->outlier_count == 0) {
        iwi_verdict(doc, "None of %zu nodes stands out.", fleet->node_count);
    } else {
        iwi_verdict(doc, "%zu of %zu nodes stand%s out", fleet->outlier_count, fleet->node_count,
                    fleet->outlier_count == 1 ? "s" : "");
        name_outliers(doc, fleet);
    }
    say_usual(doc, fleet);
}

/* ---- findings ---- */

static void say_value(struct iwi_document *doc, const iw_fleet_finding *f)
{
    const char *value = iwi_fleet_amount(doc, f->metric, f->value);

    switch (f->metric) {
    case IW_FLEET_SHARE: iwi_doc_append(doc, " takes %s of the time", value); break;
    case IW_FLEET_RATE: iwi_doc_append(doc, " occurs %s", value); break;
    default: iwi_doc_append(doc, " takes up to %s at a time", value);
    }
}

static void say_others(struct iwi_document *doc, const iw_fleet *fleet, const iw_fleet_finding *f)
{
    const double factor = f->value / f->median;

    if (f->median > 0.0) {
        iwi_doc_append(doc, ", %.*fx the fleet's median (%s)", factor < 10.0 ? 1 : 0, factor,
                       iwi_fleet_amount(doc, f->metric, f->median));
    } else {
        iwi_doc_append(doc, "; %zu of %zu nodes ha%s it%s", f->having_count, fleet->node_count,
                       f->having_count == 1 ? "s" : "ve", f->has_cpu ? " there" : "");
    }
    if (f->others_count > 0 && f->others_max > 0.0) {
        iwi_doc_append(doc, "; the other %zu have at most %s", f->others_count,
                       iwi_fleet_amount(doc, f->metric, f->others_max));
    } else if (f->others_count > 0) {
        iwi_doc_append(doc, ", the other %zu none", f->others_count);
    }
    iwi_doc_append(doc, ".");
}

/* "n0713, CPU 3: irq/eno1 takes ..., 57 times the fleet's median ...", and what to do. */
static void fleet_say_finding(struct iwi_document *doc, const iw_fleet *fleet, const iw_fleet_finding *f)
{
    iwi_item(doc, "%s", f->node);
    if (f->has_cpu) {
        iwi_doc_append(doc, ", CPU %" PRIu32, f->cpu);
    }
    iwi_doc_append(doc, ": %s", f->is_all ? "noise" : iwi_fleet_source_name(doc, &f->source));
    say_value(doc, f);
    say_others(doc, fleet, f);
    if (f->is_all) {
        iwi_doc_append(doc,
                       " No single source stands out; compare with a good node: idlewave noise compare A B.");
    } else {
        iwi_doc_append(doc, " Remedy: %s.", iw_remedy_of(f->source.kind, f->source.name)->how);
    }
}

/* ---- what differs ---- */

/* "n0007 has no irq/local_timer, ...". */
static void fleet_say_difference(struct iwi_document *doc, const iw_fleet_difference *d)
{
    if (d->kind == IW_FLEET_MISSING) {
        iwi_item(doc, "%s has no %s, which takes %s of the time on the median node.", d->node,
                 iwi_fleet_source_name(doc, &d->source), iwi_percent_short(doc, d->median));
    } else {
        iwi_item(doc, "%s is significantly quieter: %s against %s.", d->node,
                 iwi_percent_short(doc, d->value), iwi_percent_short(doc, d->median));
    }
}

static void say_group(struct iwi_document *doc, const iw_fleet_group *group, bool is_first)
{
    iwi_doc_append(doc, "%s %s on %zu node%s", is_first ? "" : ";",
                   group->value[0] != '\0' ? group->value : "unknown", group->node_count,
                   iwi_plural_s(group->node_count));
    for (size_t i = 0; i < group->first_count && !is_first; i++) {
        iwi_doc_append(doc, "%s%s", i == 0 ? " (" : ", ", group->first[i]);
    }
    iwi_doc_append(doc, is_first ? "" : (group->node_count > group->first_count ? ", ...)" : ")"));
}

/* Each fact that not all nodes share: "kernel: 6.1.0-18 on 990 nodes, 6.6 on 10 nodes (n0001, ...)". */
static void fleet_say_facts(struct iwi_document *doc, const iw_fleet *fleet)
{
    size_t end;

    for (size_t begin = 0; begin < fleet->group_count; begin = end) {
        const char *fact = fleet->groups[begin].fact;

        iwi_item(doc, "%s:", fact);
        for (end = begin; end < fleet->group_count && strcmp(fleet->groups[end].fact, fact) == 0; end++) {
            if (end - begin < LISTED_VALUES) {
                say_group(doc, &fleet->groups[end], end == begin);
            }
        }
        if (end - begin > LISTED_VALUES) {
            iwi_doc_append(doc, "; and %zu other values", end - begin - LISTED_VALUES);
        }
    }
}

/* How the verdict came about, and what it rests on. */
static void fleet_say_certainty(struct iwi_document *doc, const iw_fleet *fleet)
{
    if (fleet->node_count == 1) {
        iwi_item(doc, "'idlewave noise show' reports more about one node.");
        return;
    }
    if (fleet->node_count < IW_FLEET_FEW_NODES) {
        iwi_item(doc, "To compare two nodes, type 'idlewave noise compare A B'; it judges significance by "
                      "the variation within each recording.");
        return;
    }
    iwi_item(doc,
             "In a fleet of equal nodes, the probability of any false alarm is at most 1 in %s, over all %s "
             "comparisons.",
             iwi_short(1.0 / fleet->opts.false_alarms, 4).text, iwi_count(doc, fleet->tests));
    if (fleet->node_count < IW_FLEET_LEAST_NODES) {
        iwi_item(doc,
                 "Among %zu nodes, a source stands out from about %s times the others' value if these differ "
                 "by a third, as nodes usually do, and from more if they differ more. From %d nodes on, the "
                 "fleet itself shows how much they differ, and each CPU is compared too.",
                 fleet->node_count, iwi_short(fleet->few_factor, 2).text, IW_FLEET_LEAST_NODES);
    } else {
        iwi_item(doc,
                 "A node stands out if its value is beyond the tail of the fleet, at least 1.5 times the "
                 "median and %s of the time above it, or if its longest detours are 4 times as long.",
                 iwi_percent_short(doc, fleet->opts.matters));
    }
    iwi_item(doc, "Noise during at most a fifth of a recording may be a burst that any node has now and "
                  "then: it counts if it recurs. Record longer to see rare events.");
}

/* ======== table and document ======== */

/* ---- the table ---- */

static const struct iwi_field spread_fields[] = {
    IWI_VALUE(iw_spread, min), IWI_VALUE(iw_spread, q1),  IWI_VALUE(iw_spread, median),
    IWI_VALUE(iw_spread, q3),  IWI_VALUE(iw_spread, p95), IWI_VALUE(iw_spread, max),
};
const struct iwi_schema iwi_spread_schema = IWI_SCHEMA(iw_spread, spread_fields);

static const struct iwi_field lengths_fields[] = {
    IWI_VALUE(iw_detour_lengths, median_ns),
    IWI_VALUE(iw_detour_lengths, p99_ns, .about = "from powers of two: correct within a factor of two"),
    IWI_VALUE(iw_detour_lengths, longest_ns),
};
static const struct iwi_schema lengths_schema = IWI_SCHEMA(iw_detour_lengths, lengths_fields);

IWI_NAMED(metric_name, value < IW_FLEET_METRICS ? iw_fleet_metric_name((iw_fleet_metric)value) : NULL)
IWI_OF(bool, has_cpu, iw_fleet_finding, it->has_cpu)

IWI_OF(bool, has_source, iw_fleet_finding, !it->is_all)
IWI_OF(const char *, advice, iw_fleet_finding,
       it->is_all ? NULL : iw_remedy_of(it->source.kind, it->source.name)->how)

IWI_OF(bool, has_lengths, iw_fleet_finding, it->lengths.longest_ns > 0.0)
IWI_OF(bool, has_others_lengths, iw_fleet_finding, it->others_lengths.longest_ns > 0.0)
IWI_OF(bool, source_has_lengths, iw_fleet_source, it->lengths.longest_ns > 0.0)

static const struct iwi_field finding_fields[] = {
    IWI_VALUE(iw_fleet_finding, node, .about = "name of the file without `.h5`"),
    IWI_VALUE(iw_fleet_finding, has_cpu,
              .about = "the numbers belong to the CPU that has most of it; false: to the whole node"),
    IWI_VALUE(iw_fleet_finding, cpu, .is_there = has_cpu),
    IWI_VALUE(iw_fleet_finding, is_all, .about = "all sources together: no single one stands out"),
    IWI_OBJECT(iw_fleet_finding, source, iwi_source_schema, .is_there = has_source),
    IWI_ENUM(iw_fleet_finding, metric, "metric", metric_name,
             .about = "what stands out: `rate` is per second, `longest` in ns"),
    IWI_VALUE(iw_fleet_finding, value, .about = "of this node"),
    IWI_VALUE(iw_fleet_finding, median, .about = "of the fleet at the same place"),
    IWI_VALUE(
        iw_fleet_finding, limit,
        .about = "limit above which values stand out, without bursts; null: judged by how often it recurred"),
    IWI_VALUE(iw_fleet_finding, others_max,
              .about = "largest value of the nodes that do not stand out with this source"),
    IWI_VALUE_AS(iw_fleet_finding, others_count, "others", .about = "number of these nodes"),
    IWI_VALUE_AS(iw_fleet_finding, having_count, "nodes_with_it",
                 .about = "nodes that have the source at this place"),
    IWI_VALUE(iw_fleet_finding, excess_share, .about = "share of CPU time, above the median"),
    IWI_OBJECT(iw_fleet_finding, lengths, lengths_schema, .is_there = has_lengths, .is_optional = true,
               .about = "of the source's detours on all CPUs of the node"),
    IWI_OBJECT(iw_fleet_finding, others_lengths, lengths_schema, .is_there = has_others_lengths,
               .is_optional = true,
               .about = "each the median of the nodes that have the source and do not stand out with it"),
    IWI_TEXT_OF("advice", advice, .about = "remedy for the source"),
};
static const struct iwi_schema finding_schema = IWI_SCHEMA(iw_fleet_finding, finding_fields);

static const struct iwi_field node_fields[] = {
    IWI_VALUE(iw_fleet_node, name),
    IWI_VALUE_AS(iw_fleet_node, cpu_count, "cpus"),
    IWI_VALUE(iw_fleet_node, watched_ns, .about = "summed over CPUs"),
    IWI_VALUE_AS(iw_fleet_node, value[IW_FLEET_SHARE], "share"),
    IWI_VALUE_AS(iw_fleet_node, value[IW_FLEET_RATE], "rate_hz"),
    IWI_VALUE_AS(iw_fleet_node, value[IW_FLEET_LONGEST], "longest_ns"),
    IWI_VALUE_AS(iw_fleet_node, finding_count, "findings", .about = "number of findings"),
    IWI_CHARS(iw_fleet_node, largest, .about = "source of its largest finding; `all`: all sources together"),
    IWI_VALUE(iw_fleet_node, is_busy, .is_optional = true, .about = "user programs ran meanwhile"),
};
static const struct iwi_schema node_schema = IWI_SCHEMA(iw_fleet_node, node_fields);

static const struct iwi_field source_fields[] = {
    IWI_INLINE(iw_fleet_source, source, iwi_source_schema),
    IWI_VALUE_AS(iw_fleet_source, node_count, "nodes", .about = "nodes that have it"),
    IWI_OBJECT(iw_fleet_source, share, iwi_spread_schema, .about = "distribution over all nodes"),
    IWI_OBJECT(iw_fleet_source, lengths, lengths_schema, .is_there = source_has_lengths, .is_optional = true,
               .about = "of its detours, each the median of the nodes that have it"),
};
static const struct iwi_schema source_schema = IWI_SCHEMA(iw_fleet_source, source_fields);

IWI_NAMES(difference_name, [IW_FLEET_MISSING] = "missing", [IW_FLEET_QUIETER] = "quieter")
IWI_OF(bool, is_missing, iw_fleet_difference, it->kind == IW_FLEET_MISSING)

static const struct iwi_field difference_fields[] = {
    IWI_ENUM(iw_fleet_difference, kind, "kind", difference_name),
    IWI_VALUE(iw_fleet_difference, node),
    IWI_OBJECT(iw_fleet_difference, source, iwi_source_schema, .is_there = is_missing,
               .about = "null if the node is quieter"),
    IWI_VALUE_AS(iw_fleet_difference, value, "share", .about = "of the node"),
    IWI_VALUE(iw_fleet_difference, median, .about = "of the fleet"),
};
static const struct iwi_schema difference_schema = IWI_SCHEMA(iw_fleet_difference, difference_fields);

static const struct iwi_field group_fields[] = {
    IWI_VALUE(iw_fleet_group, fact),
    IWI_VALUE(iw_fleet_group, value, .about = "empty: unknown"),
    IWI_VALUE_AS(iw_fleet_group, node_count, "nodes"),
    IWI_VALUES_IN_PLACE(iw_fleet_group, first, first_count, .about = "names of up to four nodes"),
};
static const struct iwi_schema group_schema = IWI_SCHEMA(iw_fleet_group, group_fields);

static const struct iwi_field unreadable_fields[] = {
    IWI_VALUE(iw_fleet_unreadable, name),
    IWI_VALUE(iw_fleet_unreadable, reason),
};
static const struct iwi_schema unreadable_schema = IWI_SCHEMA(iw_fleet_unreadable, unreadable_fields);

/* Whether there is a distribution to be shown. */
static bool is_many(const iw_fleet *fleet)
{
    return fleet->node_count >= IW_FLEET_LEAST_NODES;
}

IWI_OF(const char *, outcome, iw_fleet,
       it->node_count<IW_FLEET_FEW_NODES ? "too few nodes" : it->outlier_count> 0 ? "outliers" : "none")

static const struct iwi_field fleet_fields[] = {
    IWI_VALUE(iw_fleet, name, .about = "folder, as given"),
    IWI_TEXT_OF("outcome", outcome, .about = "`too few nodes`: below 3"),
    IWI_VALUE_AS(iw_fleet, outlier_count, "nodes_outstanding", .about = "number of nodes that stand out"),
    IWI_VALUE_AS(iw_fleet, opts.false_alarms, "false_alarms", .about = "rate, for all comparisons together"),
    IWI_VALUE_AS(iw_fleet, opts.matters, "matters", .about = "smaller differences are not reported"),
    IWI_VALUE_AS(iw_fleet, tests, "comparisons"),
    IWI_VALUE(iw_fleet, few_factor,
              .about = "with 3 to 11 nodes: factor over the others' value from which a source stands out, if "
                       "nodes differ as they usually do"),
    IWI_OBJECTS(iw_fleet, findings, finding_count, finding_schema,
                .about = "nodes with the largest excess first, findings of a node together"),
    IWI_VALUE(iw_fleet, watched_ns, .about = "summed over nodes and CPUs"),
    IWI_OBJECT_AS(iw_fleet, spread[IW_FLEET_SHARE], "share", iwi_spread_schema,
                  .about = "of all sources together, of the average CPU of a node, over nodes"),
    IWI_OBJECT_AS(iw_fleet, spread[IW_FLEET_RATE], "rate_hz", iwi_spread_schema,
                  .about = "of all sources together, of the average CPU of a node, over nodes"),
    IWI_OBJECT_AS(iw_fleet, spread[IW_FLEET_LONGEST], "longest_ns", iwi_spread_schema),
    IWI_OBJECTS(iw_fleet, sources, source_count, source_schema, .about = "the largest mean first"),
    IWI_OBJECTS(iw_fleet, differences, difference_count, difference_schema,
                .about = "nodes that are not noisier, but different"),
    IWI_OBJECTS(iw_fleet, groups, group_count, group_schema, .about = "facts that differ between nodes"),
    IWI_OBJECTS(iw_fleet, unreadable, unreadable_count, unreadable_schema,
                .about = "files that could not be read"),
    IWI_OBJECTS(iw_fleet, nodes, node_count, node_schema, .is_row = true,
                .about = "nodes that stand out first, then by share"),
    IWI_INLINE(iw_fleet, caveats, iwi_caveats_schema),
};
static const struct iwi_schema fleet_schema = IWI_SCHEMA(iw_fleet, fleet_fields);

static iw_status check(const iw_log *log, const char *file, const void *subject)
{
    return ((const iw_fleet *)subject)->node_count > 0
               ? IW_OK
               : iwi_fail(log, IW_ERR_FORMAT, "'%s': nodes: must not be empty", file);
}

/* ---- the document ---- */

/* The rest of a long list: `shown` of `count` are there. */
static void say_rest(struct iwi_document *doc, size_t shown, size_t count)
{
    if (shown < count) {
        iwi_note(doc, "The JSON has %zu more.", count - shown);
    }
}

static size_t shown_of(const struct iwi_document *doc, size_t count, size_t most_in_text)
{
    enum { PAGE_FACTOR = 10 };
    const size_t most = iwi_wants(doc, IWI_ON_PAGES) ? PAGE_FACTOR * most_in_text : most_in_text;

    return count < most ? count : most;
}

static void say_findings(struct iwi_document *doc, const iw_fleet *fleet)
{
    enum { MOST = 30 };
    const size_t shown = shown_of(doc, fleet->finding_count, MOST);

    iwi_section(doc, "outliers", "What to do, largest excess first");
    for (size_t i = 0; i < shown; i++) {
        fleet_say_finding(doc, fleet, &fleet->findings[i]);
    }
    say_rest(doc, shown, fleet->finding_count);
}

static void show_spread(struct iwi_document *doc, const iw_fleet *fleet, iw_fleet_metric metric)
{
    static const char *const labels[IW_FLEET_METRICS] = {"time lost", "detours per CPU", "longest detour"};
    const iw_spread *s = &fleet->spread[metric];

    iwi_row(doc, labels[metric], iwi_fleet_amount(doc, metric, s->min), iwi_fleet_amount(doc, metric, s->q1),
            iwi_fleet_amount(doc, metric, s->median), iwi_fleet_amount(doc, metric, s->q3),
            iwi_fleet_amount(doc, metric, s->p95), iwi_fleet_amount(doc, metric, s->max));
}

static void show_distribution(struct iwi_document *doc, const iw_fleet *fleet)
{
    iwi_section(doc, "distribution", "The fleet");
    IWI_TABLE(doc, "", {"over nodes", IWI_WORDS}, {"min", IWI_NUMBER}, {"q1", IWI_NUMBER},
              {"median", IWI_NUMBER}, {"q3", IWI_NUMBER}, {"95 %", IWI_NUMBER}, {"max", IWI_NUMBER});
    for (iw_fleet_metric metric = IW_FLEET_SHARE; metric < IW_FLEET_METRICS; metric++) {
        show_spread(doc, fleet, metric);
    }
    iwi_only_in(doc, IWI_IN_TEXT);
    iwi_fleet_show_bars(doc, fleet);
    iwi_only_in(doc, IWI_ON_PAGES | IWI_IN_PLOTS);
    iwi_fleet_show_figure(doc, fleet, IW_FLEET_SHARE);
    iwi_fleet_show_figure(doc, fleet, IW_FLEET_LONGEST);
    iwi_only_in(doc, IWI_EVERYWHERE);
}

static void show_sources(struct iwi_document *doc, const iw_fleet *fleet)
{
    if (fleet->source_count == 0) {
        return;
    }
    iwi_section(doc, "sources", "Time lost by source");
    IWI_TABLE(doc, "Share of time over the nodes; * stands for differing numbers in names",
              {"source", IWI_WORDS}, {"nodes", IWI_NUMBER}, {"median", IWI_NUMBER}, {"q3", IWI_NUMBER},
              {"95 %", IWI_NUMBER}, {"max", IWI_NUMBER});
    for (size_t i = 0; i < fleet->source_count; i++) {
        const iw_fleet_source *source = &fleet->sources[i];

        iwi_row(doc, iwi_fleet_source_name(doc, &source->source), iwi_count(doc, source->node_count),
                iwi_percent_short(doc, source->share.median), iwi_percent_short(doc, source->share.q3),
                iwi_percent_short(doc, source->share.p95), iwi_percent_short(doc, source->share.max));
    }
}

/* What stands out beside the others, and on pages each source. */
static void show_lengths(struct iwi_document *doc, const iw_fleet *fleet)
{
    enum { MOST = 30 };
    const size_t shown = shown_of(doc, fleet->finding_count, MOST);

    iwi_section(doc, "lengths", "Lengths of detours");
    if (shown > 0) {
        iwi_fleet_show_lengths(doc, fleet, shown);
        say_rest(doc, shown, fleet->finding_count);
        iwi_note(doc, "On all CPUs of a node; correct within a factor of two, the longest exactly. Others: "
                      "median of the nodes that have the source and do not stand out with it.");
    }
    iwi_only_in(doc, IWI_ON_PAGES | IWI_IN_PLOTS);
    iwi_fleet_show_lengths_figure(doc, fleet);
    iwi_only_in(doc, IWI_ON_PAGES);
    iwi_fleet_show_source_lengths(doc, fleet);
    iwi_only_in(doc, IWI_EVERYWHERE);
}

static void show_nodes(struct iwi_document *doc, const iw_fleet *fleet)
{
    static const struct iwi_column columns[] = {
        {"node", IWI_WORDS},      {"time lost", IWI_NUMBER}, {"detours per CPU", IWI_NUMBER},
        {"longest", IWI_NUMBER},  {"CPUs", IWI_NUMBER},      {"recorded", IWI_NUMBER},
        {"stands out", IWI_WORDS}};

    iwi_section(doc, "nodes", "Nodes");
    iwi_table(doc, "Nodes that stand out and the noisiest first", columns,
              sizeof columns / sizeof columns[0] - (fleet->outlier_count == 0));
    for (size_t i = 0; i < fleet->node_count; i++) {
        const iw_fleet_node *node = &fleet->nodes[i];

        iwi_row(doc, node->name, iwi_fleet_amount(doc, IW_FLEET_SHARE, node->value[IW_FLEET_SHARE]),
                iwi_fleet_amount(doc, IW_FLEET_RATE, node->value[IW_FLEET_RATE]),
                iwi_fleet_amount(doc, IW_FLEET_LONGEST, node->value[IW_FLEET_LONGEST]),
                iwi_count(doc, node->cpu_count),
                iwi_ns_round(doc, node->watched_ns / fmax((double)node->cpu_count, 1.0)), node->largest);
    }
}

static void say_differences(struct iwi_document *doc, const iw_fleet *fleet)
{
    const size_t shown = shown_of(doc, fleet->difference_count, IWI_FOLD_ROWS);

    iwi_section(doc, "differences", "Different, but not noisier");
    for (size_t i = 0; i < shown; i++) {
        fleet_say_difference(doc, &fleet->differences[i]);
    }
    say_rest(doc, shown, fleet->difference_count);
    iwi_section(doc, "facts", "Facts that differ");
    fleet_say_facts(doc, fleet);
}

static void say_unreadable(struct iwi_document *doc, const iw_fleet *fleet)
{
    const size_t count = fleet->unreadable_count, shown = shown_of(doc, count, IWI_FOLD_ROWS);

    iwi_section(doc, "unreadable",
                iwi_doc_printf(doc, "%zu file%s could not be read and %s left out", count,
                               iwi_plural_s(count), count == 1 ? "is" : "are"));
    for (size_t i = 0; i < shown; i++) {
        iwi_item(doc, "%s", fleet->unreadable[i].reason);
    }
    say_rest(doc, shown, count);
}

static void write_doc(struct iwi_document *doc, const void *subject)
{
    const iw_fleet *fleet = subject;

    iwi_title(doc, "Noise of the nodes in %s", fleet->name);
    iwi_subtitle(doc, "%zu node%s", fleet->node_count, iwi_plural_s(fleet->node_count));
    iwi_say_caveats(doc, &fleet->caveats, NULL);
    fleet_say_verdict(doc, fleet);
    say_findings(doc, fleet);
    if (is_many(fleet)) {
        show_distribution(doc, fleet);
        show_sources(doc, fleet);
        show_lengths(doc, fleet);
        iwi_only_in(doc, IWI_ON_PAGES);
        show_nodes(doc, fleet);
        iwi_only_in(doc, IWI_EVERYWHERE);
    } else {
        show_nodes(doc, fleet);
        show_sources(doc, fleet);
        show_lengths(doc, fleet);
    }
    say_differences(doc, fleet);
    say_unreadable(doc, fleet);
    iwi_section(doc, "certainty", "How sure");
    fleet_say_certainty(doc, fleet);
}

const struct iwi_kind iwi_fleet_kind = {
    .name = "fleet",
    .schema_id = "idlewave.fleet/3",
    .about = "Nodes compared with each other, from `idlewave fleet --format json`. CSV has a line per node",
    .older_id = "idlewave.fleet/2",
    .schema = &fleet_schema,
    .write_doc = write_doc,
    .check = check,
};

IWI_DOC(iw_fleet_doc, iw_fleet, fleet, iwi_fleet_kind)
