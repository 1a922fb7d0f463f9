/* Fleets in sentences.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "report/kinds/fleet_report.h"

enum { NODE_COLUMNS = 40, NAMED_NODES = 5, LISTED_VALUES = 4 };

const char *iwi_fleet_source_text(const iw_source *source, char buf[IWI_NAME_SIZE])
{
    char name[IWI_NAME_SIZE];

    snprintf(buf, IWI_NAME_SIZE, "%s%s%.60s", iw_class_name(source->kind), source->name[0] != '\0' ? "/" : "",
             iwi_plain_name(source->name, NODE_COLUMNS, name));
    return buf;
}

const char *iwi_fleet_value_text(iw_fleet_metric metric, double value, char buf[IWI_NUMBER_SIZE])
{
    if (!isfinite(value)) {
        snprintf(buf, IWI_NUMBER_SIZE, "-");
        return buf;
    }
    switch (metric) {
    case IW_FLEET_SHARE: return iwi_share_text(value, buf);
    case IW_FLEET_RATE: return iwi_rate_text(value, buf);
    default: return iwi_ns_short_text(value, buf);
    }
}

static const char *node_text(const iw_fleet *fleet, size_t node, char buf[IWI_NAME_SIZE])
{
    return iwi_plain_name(fleet->nodes[node].name, NODE_COLUMNS, buf);
}

/* ---- the order of nodes ---- */

static int noisiest_first(const void *a, const void *b, void *arg)
{
    const iw_fleet *fleet = arg;
    const iw_fleet_node *x = &fleet->nodes[*(const size_t *)a], *y = &fleet->nodes[*(const size_t *)b];
    const bool is_x = x->finding_count > 0, is_y = y->finding_count > 0;

    if (is_x != is_y) {
        return is_x ? -1 : 1;
    }
    if (x->value[IW_FLEET_SHARE] != y->value[IW_FLEET_SHARE]) {
        return x->value[IW_FLEET_SHARE] > y->value[IW_FLEET_SHARE] ? -1 : 1;
    }
    return strcmp(x->name, y->name);
}

iw_status iwi_fleet_order(const iw_log *log, const iw_fleet *fleet, size_t **order_p)
{
    size_t *order = iwi_new_array(log, fleet->node_count, sizeof *order);

    if (order == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < fleet->node_count; i++) {
        order[i] = i;
    }
    qsort_r(order, fleet->node_count, sizeof *order, noisiest_first, (void *)fleet);
    *order_p = order;
    return IW_OK;
}

/* ---- the verdict ---- */

/* The first findings' nodes, each once. */
static void name_outliers(const iw_fleet *fleet, char *text)
{
    char name[IWI_NAME_SIZE];
    size_t named = 0;

    for (size_t i = 0; i < fleet->finding_count && named < NAMED_NODES; i++) {
        if (i == 0 || fleet->findings[i].node != fleet->findings[i - 1].node) {
            iwi_append(text, "%s%s", named == 0 ? ": " : ", ",
                       node_text(fleet, fleet->findings[i].node, name));
            named++;
        }
    }
    iwi_append(text, named < fleet->outlier_count ? " and %zu more." : ".", fleet->outlier_count - named);
}

void iwi_fleet_verdict(const iw_fleet *fleet, char text[IWI_PARAGRAPH_SIZE])
{
    const bool is_small = fleet->node_count < IW_FLEET_LEAST_NODES;
    const iw_spread *share = &fleet->spread[IW_FLEET_SHARE];
    char nodes[IWI_NUMBER_SIZE], number[IWI_NUMBER_SIZE], low[IWI_NUMBER_SIZE], high[IWI_NUMBER_SIZE];

    (void)iwi_count_text(fleet->node_count, nodes);
    if (is_small) {
        iwi_append(text, "%s node%s too few to tell which one stands out: it takes %d.", nodes,
                   fleet->node_count == 1 ? " is" : "s are", IW_FLEET_LEAST_NODES);
    } else if (fleet->outlier_count == 0) {
        iwi_append(text, "None of %s nodes stands out.", nodes);
    } else {
        iwi_append(text, "%s of %s nodes stand%s out", iwi_count_text(fleet->outlier_count, number), nodes,
                   fleet->outlier_count == 1 ? "s" : "");
        name_outliers(fleet, text);
    }
    iwi_append(text, " The median node loses %s of its time to noise", iwi_share_text(share->median, number));
    iwi_append(text, " (%s %s to %s)", is_small ? "all nodes" : "half of the nodes",
               iwi_share_text(is_small ? share->min : share->q1, low),
               iwi_share_text(is_small ? share->max : share->q3, high));
    iwi_append(text, "; it has detours at %s on a CPU, and its longest takes %s.",
               iwi_rate_text(fleet->spread[IW_FLEET_RATE].median, low),
               iwi_ns_short_text(fleet->spread[IW_FLEET_LONGEST].median, high));
}

/* ---- findings ---- */

static void append_value(const iw_fleet_finding *f, char *text)
{
    char number[IWI_NUMBER_SIZE];

    (void)iwi_fleet_value_text(f->metric, f->value, number);
    switch (f->metric) {
    case IW_FLEET_SHARE: iwi_append(text, " takes %s of the time", number); break;
    case IW_FLEET_RATE: iwi_append(text, " comes %s", number); break;
    default: iwi_append(text, " takes up to %s at a time", number);
    }
}

/* 57 times, 2.1 times. */
static void append_factor(const iw_fleet_finding *f, char *text)
{
    const double factor = f->value / f->median;
    char number[IWI_NUMBER_SIZE];

    iwi_append(text, factor < 10.0 ? ", %.1f" : ", %.0f", factor);
    iwi_append(text, " times the fleet's median (%s)", iwi_fleet_value_text(f->metric, f->median, number));
}

void iwi_fleet_evidence(const iw_fleet *fleet, const iw_fleet_finding *f, char text[IWI_PARAGRAPH_SIZE])
{
    char name[IWI_NAME_SIZE], source[IWI_NAME_SIZE], number[IWI_NUMBER_SIZE];

    iwi_append(text, "%s", node_text(fleet, f->node, name));
    if (f->has_cpu) {
        iwi_append(text, ", CPU %" PRIu32, f->cpu);
    }
    iwi_append(text, ": %s", f->is_all ? "noise" : iwi_fleet_source_text(&f->source, source));
    append_value(f, text);
    if (f->median > 0.0) {
        append_factor(f, text);
    } else {
        iwi_append(text, "; %s of %s nodes ha%s it%s", iwi_count_text(f->having_count, number),
                   iwi_count_text(fleet->node_count, name), f->having_count == 1 ? "s" : "ve",
                   f->has_cpu ? " there" : "");
    }
    if (f->others_count == 0) {
        iwi_append(text, ".");
    } else if (f->others_max > 0.0) {
        iwi_append(text, "; the other %s have %s at most.", iwi_count_text(f->others_count, name),
                   iwi_fleet_value_text(f->metric, f->others_max, number));
    } else {
        iwi_append(text, ", the other %s none.", iwi_count_text(f->others_count, name));
    }
}

void iwi_fleet_advice(const iw_fleet_finding *finding, char text[IWI_PARAGRAPH_SIZE])
{
    const iw_remedy *remedy = iw_remedy_of(finding->source.kind, finding->source.name);

    if (finding->is_all) {
        iwi_append(text,
                   "No single source stands out: compare with a good node by 'idlewave noise compare'.");
        return;
    }
    iwi_append(text, "%c%s: %s.", toupper((unsigned char)remedy->name[0]), remedy->name + 1, remedy->how);
}

/* ---- what differs ---- */

void iwi_fleet_difference_text(const iw_fleet *fleet, const iw_fleet_difference *d,
                               char text[IWI_PARAGRAPH_SIZE])
{
    char name[IWI_NAME_SIZE], source[IWI_NAME_SIZE], value[IWI_NUMBER_SIZE], median[IWI_NUMBER_SIZE];

    (void)node_text(fleet, d->node, name);
    (void)iwi_share_text(d->median, median);
    if (d->kind == IW_FLEET_MISSING) {
        iwi_append(text, "%s has no %s, which takes %s of the time on the median node.", name,
                   iwi_fleet_source_text(&d->source, source), median);
    } else {
        iwi_append(text, "%s is quieter than can be chance: %s against %s.", name,
                   iwi_share_text(d->value, value), median);
    }
}

static void append_group(const iw_fleet *fleet, const iw_fleet_group *group, bool is_first, char *text)
{
    const size_t most = sizeof group->first_nodes / sizeof group->first_nodes[0];
    char value[IWI_PARAGRAPH_SIZE], name[IWI_NAME_SIZE], number[IWI_NUMBER_SIZE];

    iwi_append(text, "%s %s on %s node%s", is_first ? "" : ";",
               group->value[0] != '\0' ? iwi_plain_text(group->value, value) : "not said",
               iwi_count_text(group->node_count, number), group->node_count == 1 ? "" : "s");
    for (size_t i = 0; i < group->node_count && i < most && !is_first; i++) {
        iwi_append(text, "%s%s", i == 0 ? " (" : ", ", node_text(fleet, group->first_nodes[i], name));
    }
    iwi_append(text, is_first ? "" : (group->node_count > most ? ", ...)" : ")"));
}

void iwi_fleet_facts(const iw_fleet *fleet, iwi_warning_fn take, void *arg)
{
    size_t end;

    for (size_t begin = 0; begin < fleet->group_count; begin = end) {
        char text[IWI_PARAGRAPH_SIZE] = "";

        iwi_append(text, "%s:", fleet->groups[begin].fact);
        for (end = begin;
             end < fleet->group_count && strcmp(fleet->groups[end].fact, fleet->groups[begin].fact) == 0;
             end++) {
            if (end - begin < LISTED_VALUES) {
                append_group(fleet, &fleet->groups[end], end == begin, text);
            }
        }
        if (end - begin > LISTED_VALUES) {
            iwi_append(text, "; and %zu other values", end - begin - LISTED_VALUES);
        }
        take(arg, text);
    }
}

void iwi_fleet_certainty(const iw_fleet *fleet, iwi_warning_fn take, void *arg)
{
    char text[IWI_PARAGRAPH_SIZE] = "", number[IWI_NUMBER_SIZE];

    if (fleet->node_count < IW_FLEET_LEAST_NODES) {
        take(arg, "Two nodes are compared by 'idlewave noise compare A B', which judges chance by the "
                  "stretches of time within each.");
        return;
    }
    iwi_append(text,
               "In a fleet of nodes that are alike, at most 1 fleet in %.4g gets any false alarm, "
               "over all %s comparisons.",
               1.0 / fleet->opts.false_alarms, iwi_count_text(fleet->tests, number));
    take(arg, text);
    text[0] = '\0';
    iwi_append(text,
               "A node stands out if its value is beyond the tail that the fleet itself shows, at least 1.5 "
               "times the median and %s of the time above it, or its longest detours 4 times.",
               iwi_share_text(fleet->opts.matters, number));
    take(arg, text);
    take(arg,
         "What lasts for a fifth of a recording at most may be a burst that any node has now and then: it "
         "counts if it comes again and again. Record longer to see what is rare.");
}

/* ---- histogram ---- */

double iwi_fleet_bin_begin(const struct iwi_fleet_histogram *h, size_t bin)
{
    return pow(10.0, (h->origin + (double)bin) / h->per_decade);
}

const char *iwi_fleet_bin_names(const iw_fleet *fleet, const struct iwi_fleet_histogram *h, size_t bin,
                                char buf[IWI_NAME_SIZE])
{
    enum { LABEL_COLUMNS = 16 };
    size_t used;

    buf[0] = '\0';
    if (h->outliers[bin] > 0) {
        (void)iwi_plain_name(fleet->nodes[h->first[bin]].name, LABEL_COLUMNS, buf);
        used = strlen(buf);
        if (h->outliers[bin] > 1) {
            snprintf(buf + used, IWI_NAME_SIZE - used, " +%zu", h->outliers[bin] - 1);
        }
    }
    return buf;
}

/* The finest bins of a tenth or more that are no more than `most`. */
static void choose_bins(struct iwi_fleet_histogram *h, double least, double largest, size_t most)
{
    static const double per_decade[] = {24.0, 12.0, 6.0, 3.0, 1.0};
    size_t i = 0;

    do {
        h->per_decade = per_decade[i++];
        h->origin = floor(log10(least) * h->per_decade);
        h->bin_count = (size_t)(floor(log10(largest) * h->per_decade) - h->origin) + 1;
    } while (h->bin_count > most && i < sizeof per_decade / sizeof per_decade[0]);
    h->bin_count = h->bin_count < IWI_FLEET_BINS ? h->bin_count : IWI_FLEET_BINS;
}

struct iwi_fleet_histogram iwi_fleet_histogram(const iw_fleet *fleet, iw_fleet_metric metric, size_t most)
{
    struct iwi_fleet_histogram h = {.bin_count = 0};
    double least = INFINITY;

    for (size_t node = 0; node < fleet->node_count; node++) {
        const double value = fleet->nodes[node].value[metric];

        least = value > 0.0 ? fmin(least, value) : least;
        h.zero_count += !(value > 0.0);
    }
    if (h.zero_count == fleet->node_count) {
        return h;
    }
    choose_bins(&h, least, fleet->spread[metric].max, most);
    for (size_t node = 0; node < fleet->node_count; node++) {
        const double value = fleet->nodes[node].value[metric];
        size_t bin;

        if (value > 0.0) {
            bin = (size_t)fmax(floor(log10(value) * h.per_decade) - h.origin, 0.0);
            bin = bin < h.bin_count ? bin : h.bin_count - 1;
            h.count[bin]++;
            if (fleet->nodes[node].finding_count > 0) {
                h.first[bin] = h.outliers[bin]++ == 0 ? node : h.first[bin];
            }
        }
    }
    return h;
}
