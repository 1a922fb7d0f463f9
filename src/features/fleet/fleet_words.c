/* Fleets in sentences.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/fleet/fleet_report.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include <idlewave/remedy.h>

#include "core/base/base.h"
#include "core/base/short_number.h"

enum { NAMED_NODES = 5, LISTED_VALUES = 4 };

const char *iwi_fleet_source_name(struct iwi_document *doc, const iw_source *source)
{
    return iwi_say(doc, "%s%s%s", iw_class_name(source->kind), source->name[0] != '\0' ? "/" : "",
                   source->name);
}

const char *iwi_fleet_amount(struct iwi_document *doc, iw_fleet_metric metric, double value)
{
    switch (metric) {
    case IW_FLEET_SHARE: return iwi_percent_short(doc, value);
    case IW_FLEET_RATE: return iwi_rate(doc, value);
    default: return iwi_ns_short(doc, value);
    }
}

/* ---- the verdict ---- */

/* The first findings' nodes, each once. */
static void name_outliers(struct iwi_document *doc, const iw_fleet *fleet)
{
    const char *last = "";
    size_t named = 0;

    for (size_t i = 0; i < fleet->finding_count && named < NAMED_NODES; i++) {
        if (strcmp(fleet->findings[i].node, last) != 0) {
            last = fleet->findings[i].node;
            iwi_more(doc, "%s%s", named++ == 0 ? ": " : ", ", last);
        }
    }
    if (named < fleet->outlier_count) {
        iwi_more(doc, " and %zu more", fleet->outlier_count - named);
    }
    iwi_more(doc, ".");
}

static void say_usual(struct iwi_document *doc, const iw_fleet *fleet)
{
    const bool is_small = fleet->node_count < IW_FLEET_LEAST_NODES;
    const iw_spread *share = &fleet->spread[IW_FLEET_SHARE];
    const char *least = iwi_percent_short(doc, is_small ? share->min : share->q1),
               *most = iwi_percent_short(doc, is_small ? share->max : share->q3);

    iwi_more(doc, " %s loses %s of its time to noise", fleet->node_count == 1 ? "It" : "The median node",
             iwi_percent_short(doc, share->median));
    if (fleet->node_count > 1) {
        const bool are_equal = strcmp(least, most) == 0;

        iwi_more(doc, " (%s %s%s%s)", is_small ? "all nodes" : "half of the nodes",
                 are_equal ? "about that much" : least, are_equal ? "" : " to ", are_equal ? "" : most);
    }
    iwi_more(doc, "; it has detours at %s on a CPU, and its longest takes %s.",
             iwi_rate(doc, fleet->spread[IW_FLEET_RATE].median),
             iwi_ns_short(doc, fleet->spread[IW_FLEET_LONGEST].median));
}

void iwi_fleet_say_verdict(struct iwi_document *doc, const iw_fleet *fleet)
{
    if (fleet->node_count < IW_FLEET_FEW_NODES) {
        iwi_verdict(doc, "%zu node%s too few to tell which one stands out: it takes %d.", fleet->node_count,
                    fleet->node_count == 1 ? " is" : "s are", IW_FLEET_FEW_NODES);
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
    case IW_FLEET_SHARE: iwi_more(doc, " takes %s of the time", value); break;
    case IW_FLEET_RATE: iwi_more(doc, " comes %s", value); break;
    default: iwi_more(doc, " takes up to %s at a time", value);
    }
}

static void say_others(struct iwi_document *doc, const iw_fleet *fleet, const iw_fleet_finding *f)
{
    const double factor = f->value / f->median;

    if (f->median > 0.0) {
        iwi_more(doc, ", %.*f times the fleet's median (%s)", factor < 10.0 ? 1 : 0, factor,
                 iwi_fleet_amount(doc, f->metric, f->median));
    } else {
        iwi_more(doc, "; %zu of %zu nodes ha%s it%s", f->having_count, fleet->node_count,
                 f->having_count == 1 ? "s" : "ve", f->has_cpu ? " there" : "");
    }
    if (f->others_count > 0 && f->others_max > 0.0) {
        iwi_more(doc, "; the other %zu have %s at most", f->others_count,
                 iwi_fleet_amount(doc, f->metric, f->others_max));
    } else if (f->others_count > 0) {
        iwi_more(doc, ", the other %zu none", f->others_count);
    }
    iwi_more(doc, ".");
}

void iwi_fleet_say_finding(struct iwi_document *doc, const iw_fleet *fleet, const iw_fleet_finding *f)
{
    const iw_remedy *remedy = iw_remedy_of(f->source.kind, f->source.name);

    iwi_item(doc, "%s", f->node);
    if (f->has_cpu) {
        iwi_more(doc, ", CPU %" PRIu32, f->cpu);
    }
    iwi_more(doc, ": %s", f->is_all ? "noise" : iwi_fleet_source_name(doc, &f->source));
    say_value(doc, f);
    say_others(doc, fleet, f);
    if (f->is_all) {
        iwi_more(doc, " No single source stands out: compare with a good node by 'idlewave noise compare'.");
    } else {
        iwi_more(doc, " %c%s: %s.", toupper((unsigned char)remedy->name[0]), remedy->name + 1, remedy->how);
    }
}

/* ---- what differs ---- */

void iwi_fleet_say_difference(struct iwi_document *doc, const iw_fleet_difference *d)
{
    if (d->kind == IW_FLEET_MISSING) {
        iwi_item(doc, "%s has no %s, which takes %s of the time on the median node.", d->node,
                 iwi_fleet_source_name(doc, &d->source), iwi_percent_short(doc, d->median));
    } else {
        iwi_item(doc, "%s is quieter than can be chance: %s against %s.", d->node,
                 iwi_percent_short(doc, d->value), iwi_percent_short(doc, d->median));
    }
}

static void say_group(struct iwi_document *doc, const iw_fleet_group *group, bool is_first)
{
    iwi_more(doc, "%s %s on %zu node%s", is_first ? "" : ";",
             group->value[0] != '\0' ? group->value : "not said", group->node_count,
             iwi_s(group->node_count));
    for (size_t i = 0; i < group->first_count && !is_first; i++) {
        iwi_more(doc, "%s%s", i == 0 ? " (" : ", ", group->first[i]);
    }
    iwi_more(doc, is_first ? "" : (group->node_count > group->first_count ? ", ...)" : ")"));
}

void iwi_fleet_say_facts(struct iwi_document *doc, const iw_fleet *fleet)
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
            iwi_more(doc, "; and %zu other values", end - begin - LISTED_VALUES);
        }
    }
}

void iwi_fleet_say_certainty(struct iwi_document *doc, const iw_fleet *fleet)
{
    if (fleet->node_count == 1) {
        iwi_item(doc, "Of one node 'idlewave noise show' tells more.");
        return;
    }
    if (fleet->node_count < IW_FLEET_FEW_NODES) {
        iwi_item(doc, "Two nodes are compared by 'idlewave noise compare A B', which judges chance by the "
                      "stretches of time within each.");
        return;
    }
    iwi_item(doc,
             "In a fleet of nodes that are alike, at most 1 fleet in %s gets any false alarm, "
             "over all %s comparisons.",
             iwi_short(1.0 / fleet->opts.false_alarms, 4).text, iwi_count(doc, fleet->tests));
    if (fleet->node_count < IW_FLEET_LEAST_NODES) {
        iwi_item(
            doc,
            "Among %zu nodes a source stands out from about %s times the others' value on, if these differ "
            "by a third as nodes usually do, and from more if they differ more. With %d nodes the fleet "
            "itself shows how much they differ, and each CPU is compared too.",
            fleet->node_count, iwi_short(fleet->few_factor, 2).text, IW_FLEET_LEAST_NODES);
    } else {
        iwi_item(
            doc,
            "A node stands out if its value is beyond the tail that the fleet itself shows, at least 1.5 "
            "times the median and %s of the time above it, or its longest detours 4 times.",
            iwi_percent_short(doc, fleet->opts.matters));
    }
    iwi_item(
        doc,
        "What lasts for a fifth of a recording at most may be a burst that any node has now and then: it "
        "counts if it comes again and again. Record longer to see what is rare.");
}
