/* Figures of a fleet.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include "core/base/base.h"
#include "features/fleet/fleet_report.h"
#include "kit/figure/figure.h"
#include "kit/text/words.h"

/* ======== lengths of detours ======== */

enum { MOST_ROWS = 12, NAME_COLUMNS = 40 };

/* Parts of a row's height: drawers write names at its top. */
static const double NODE_FROM = -0.08, NODE_TO = 0.12, OTHERS_FROM = 0.18, OTHERS_TO = 0.38;

static const char *name_of(struct iwi_document *doc, const iw_fleet_finding *f)
{
    return iwi_doc_printf(doc, "%s %s", f->node,
                          f->is_all ? "all sources" : iwi_fleet_source_name(doc, &f->source));
}

static const char *length(struct iwi_document *doc, double length_ns)
{
    return length_ns > 0.0 ? iwi_ns_short(doc, length_ns) : "-";
}

void iwi_fleet_show_lengths(struct iwi_document *doc, const iw_fleet *fleet, size_t count)
{
    IWI_TABLE(doc, "What stands out, and the median of the other nodes that have it (on all CPUs)",
              {"node, source", IWI_WORDS}, {"median", IWI_NUMBER}, {"99 %", IWI_NUMBER},
              {"longest", IWI_NUMBER}, {"others", IWI_NUMBER}, {"99 %", IWI_NUMBER}, {"longest", IWI_NUMBER});
    for (size_t i = 0; i < count; i++) {
        const iw_fleet_finding *f = &fleet->findings[i];

        if (f->lengths.longest_ns > 0.0) {
            iwi_row(doc, name_of(doc, f), length(doc, f->lengths.median_ns), length(doc, f->lengths.p99_ns),
                    length(doc, f->lengths.longest_ns), length(doc, f->others_lengths.median_ns),
                    length(doc, f->others_lengths.p99_ns), length(doc, f->others_lengths.longest_ns));
        }
    }
}

void iwi_fleet_show_source_lengths(struct iwi_document *doc, const iw_fleet *fleet)
{
    if (fleet->source_count == 0 || !(fleet->sources[0].lengths.longest_ns > 0.0)) {
        return;
    }
    IWI_TABLE(doc, "Each source on the median node that has it", {"source", IWI_WORDS},
              {"median", IWI_NUMBER}, {"99 %", IWI_NUMBER}, {"longest", IWI_NUMBER});
    for (size_t i = 0; i < fleet->source_count; i++) {
        const iw_fleet_source *source = &fleet->sources[i];

        iwi_row(doc, iwi_fleet_source_name(doc, &source->source), length(doc, source->lengths.median_ns),
                length(doc, source->lengths.p99_ns), length(doc, source->lengths.longest_ns));
    }
}

/* ---- the figure ---- */

/* A bar from the median to 99 %, and a dot at the longest. */
static void add_lengths(struct iwi_figure *figure, struct iwi_mark *bars, struct iwi_mark *dots,
                        const iw_detour_lengths *lengths, double from, double to)
{
    if (lengths->median_ns > 0.0) {
        iwi_mark_add(figure, bars, (double[]){lengths->median_ns, lengths->p99_ns, from, to});
    }
    if (lengths->longest_ns > 0.0) {
        iwi_mark_add(figure, dots, (double[]){lengths->longest_ns, (from + to) / 2.0});
    }
}

static void add_rows(struct iwi_document *doc, struct iwi_figure *figure, const iw_fleet *fleet, size_t count)
{
    struct iwi_mark *own = iwi_figure_mark(figure, IWI_MARK_BAR, IWI_INK_NOISE, "the node"),
                    *own_longest = iwi_figure_mark(figure, IWI_MARK_DOTS, IWI_INK_NOISE, NULL),
                    *others = iwi_figure_mark(figure, IWI_MARK_BAR, iwi_series_ink(0), "the others"),
                    *others_longest = iwi_figure_mark(figure, IWI_MARK_DOTS, iwi_series_ink(0), NULL);

    for (size_t i = 0; i < count; i++) {
        const iw_fleet_finding *f = &fleet->findings[i];
        const double y = (double)figure->y.name_count + 1.0;
        char name[IWI_NAME_SIZE];

        (void)iwi_plain_name(name_of(doc, f), NAME_COLUMNS, name);
        iwi_axis_name(figure, &figure->y, name);
        add_lengths(figure, own, own_longest, &f->lengths, y + NODE_FROM, y + NODE_TO);
        add_lengths(figure, others, others_longest, &f->others_lengths, y + OTHERS_FROM, y + OTHERS_TO);
    }
}

void iwi_fleet_show_lengths_figure(struct iwi_document *doc, const iw_fleet *fleet)
{
    const size_t count = fleet->finding_count < MOST_ROWS ? fleet->finding_count : MOST_ROWS;
    struct iwi_figure *figure = NULL;
    iw_status status;

    if (count == 0 || !(fleet->findings[0].lengths.longest_ns > 0.0)) {
        return;
    }
    status = iwi_figure_new(doc->log, "Lengths of detours that stand out", &figure);
    if (status == IW_OK) {
        figure->is_wide = true;
        figure->height = 0.15 + 0.075 * (double)count;
        figure->x =
            (struct iwi_figure_axis){.label = "Length of a detour", .unit = IWI_AXIS_NS, .is_log = true};
        figure->y = (struct iwi_figure_axis){.label = "", .unit = IWI_AXIS_NAMES};
        add_rows(doc, figure, fleet, count);
        figure->message =
            iwi_figure_text(figure, "From the median to the 99th percentile; dots: the longest.%s",
                            count < fleet->finding_count ? " Only the largest findings are shown." : "");
    }
    iwi_show_figure(doc, status, figure);
}

/* ======== nodes ======== */

enum { BINS = 64, FIGURE_BINS = 40, TEXT_BINS = 18, LABEL_COLUMNS = 16 };

/* Bins of equal ratio. */
struct histogram {
    double per_decade, origin; /* bin b begins at 10^((origin + b) / per_decade) */
    size_t bin_count;          /* 0: no node has any */
    size_t zero_count;         /* nodes without any */
    size_t count[BINS], outliers[BINS];
    const iw_fleet_node *first[BINS]; /* that stands out, where one does */
};

static double bin_begin(const struct histogram *h, size_t bin)
{
    return pow(10.0, (h->origin + (double)bin) / h->per_decade);
}

/* The finest bins of a tenth or more that are no more than `most`. */
static void choose_bins(struct histogram *h, double least, double largest, size_t most)
{
    static const double per_decade[] = {24.0, 12.0, 6.0, 3.0, 1.0};
    size_t i = 0;

    do {
        h->per_decade = per_decade[i++];
        h->origin = floor(log10(least) * h->per_decade);
        h->bin_count = (size_t)(floor(log10(largest) * h->per_decade) - h->origin) + 1;
    } while (h->bin_count > most && i < sizeof per_decade / sizeof per_decade[0]);
    h->bin_count = h->bin_count < BINS ? h->bin_count : BINS;
}

static struct histogram count_nodes(const iw_fleet *fleet, iw_fleet_metric metric, size_t most)
{
    struct histogram h = {.bin_count = 0};
    double least = INFINITY, largest = 0.0;

    for (size_t i = 0; i < fleet->node_count; i++) {
        const double value = fleet->nodes[i].value[metric];

        least = value > 0.0 ? fmin(least, value) : least;
        largest = fmax(largest, value);
        h.zero_count += !(value > 0.0);
    }
    if (h.zero_count == fleet->node_count) {
        return h;
    }
    choose_bins(&h, least, largest, most);
    for (size_t i = 0; i < fleet->node_count; i++) {
        const iw_fleet_node *node = &fleet->nodes[i];

        if (node->value[metric] > 0.0) {
            const double at = floor(log10(node->value[metric]) * h.per_decade) - h.origin;
            const size_t bin = (size_t)fmin(fmax(at, 0.0), (double)(h.bin_count - 1));

            h.count[bin]++;
            if (node->finding_count > 0) {
                h.first[bin] = h.outliers[bin]++ == 0 ? node : h.first[bin];
            }
        }
    }
    return h;
}

/* "n0024", or "n0024 +2" where others of the bin stand out too; "" where none does. */
static const char *bin_names(struct iwi_document *doc, const struct histogram *h, size_t bin)
{
    char name[IWI_NAME_SIZE];

    if (h->outliers[bin] == 0) {
        return "";
    }
    (void)iwi_plain_name(h->first[bin]->name, LABEL_COLUMNS, name);
    return h->outliers[bin] > 1 ? iwi_doc_printf(doc, "%s +%zu", name, h->outliers[bin] - 1)
                                : iwi_doc_printf(doc, "%s", name);
}

/* Nodes that stand out lie in the colour of noise over all of their bin; the noisiest first, since there may
 * not be room for all names. */
static void add_bars(struct iwi_document *doc, struct iwi_figure *figure, const struct histogram *h)
{
    struct iwi_mark *all = iwi_figure_mark(figure, IWI_MARK_BAR, iwi_series_ink(0), NULL);
    struct iwi_mark *outliers = iwi_figure_mark(figure, IWI_MARK_BAR, IWI_INK_NOISE, NULL);

    all->is_thin = true;
    for (size_t bin = h->bin_count; bin-- > 0;) {
        const double from = bin_begin(h, bin), to = bin_begin(h, bin + 1);

        iwi_histogram_bar(figure, all, from, to, (double)h->count[bin], NULL);
        iwi_histogram_bar(figure, outliers, from, to, (double)h->outliers[bin], bin_names(doc, h, bin));
    }
}

static void add_table(struct iwi_document *doc, struct iwi_figure *figure, iw_fleet_metric metric,
                      const struct histogram *h)
{
    static const char *const heads[] = {"From", "To", "Nodes", "standing out"};

    iwi_figure_table(figure, "Distribution over nodes");
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        iwi_figure_head(figure, false, "%s", heads[i]);
    }
    iwi_figure_head(figure, true, "Which");
    for (size_t bin = 0; bin < h->bin_count; bin++) {
        iwi_figure_cell(figure, "%s", iwi_fleet_amount(doc, metric, bin_begin(h, bin)));
        iwi_figure_cell(figure, "%s", iwi_fleet_amount(doc, metric, bin_begin(h, bin + 1)));
        iwi_figure_cell(figure, "%zu", h->count[bin]);
        iwi_figure_cell(figure, "%zu", h->outliers[bin]);
        iwi_figure_cell(figure, "%s", bin_names(doc, h, bin));
    }
}

void iwi_fleet_show_figure(struct iwi_document *doc, const iw_fleet *fleet, iw_fleet_metric metric)
{
    const struct histogram h = count_nodes(fleet, metric, FIGURE_BINS);
    const iw_spread *s = &fleet->spread[metric];
    const bool is_share = metric == IW_FLEET_SHARE;
    struct iwi_figure *figure = NULL;
    iw_status status;

    if (h.bin_count == 0) {
        return;
    }
    status = iwi_figure_new(doc->log, is_share ? "Time lost by nodes" : "Longest detours of nodes", &figure);
    if (status == IW_OK) {
        iwi_histogram_axes(figure, is_share ? "Time lost" : "Longest detour", "Nodes");
        figure->x.unit = is_share ? IWI_AXIS_SHARE : IWI_AXIS_NS;
        add_bars(doc, figure, &h);
        add_table(doc, figure, metric, &h);
        figure->message = iwi_figure_text(
            figure, "Half of the nodes have %s to %s, one in twenty more than %s; the maximum is %s.%s",
            iwi_fleet_amount(doc, metric, s->q1), iwi_fleet_amount(doc, metric, s->q3),
            iwi_fleet_amount(doc, metric, s->p95), iwi_fleet_amount(doc, metric, s->max),
            fleet->outlier_count > 0 ? " Marked: nodes that stand out." : "");
    }
    iwi_show_figure(doc, status, figure);
}

/* How many bins from this one on are empty. */
static size_t empty_run(const struct histogram *h, size_t bin)
{
    size_t end = bin;

    while (end < h->bin_count && h->count[end] == 0) {
        end++;
    }
    return end - bin;
}

void iwi_fleet_show_bars(struct iwi_document *doc, const iw_fleet *fleet)
{
    static const struct iwi_column columns[] = {
        {"time lost from", IWI_NUMBER}, {"nodes", IWI_NUMBER}, {"", IWI_BAR}, {"stands out", IWI_WORDS}};
    const struct histogram h = count_nodes(fleet, IW_FLEET_SHARE, TEXT_BINS);

    if (h.bin_count == 0) {
        return;
    }
    iwi_table(doc, "", columns, sizeof columns / sizeof columns[0] - (fleet->outlier_count == 0));
    iwi_unfold(doc);
    if (h.zero_count > 0) {
        iwi_row(doc, "none", iwi_count(doc, h.zero_count));
    }
    for (size_t bin = 0; bin < h.bin_count; bin++) {
        const double count = (double)h.count[bin];
        const size_t empty = empty_run(&h, bin);

        if (empty > 2) { /* a far outlier is not to take a screen */
            iwi_row(doc, "...", "0", "");
            iwi_bar(doc, (iw_estimate){0.0, 0.0, 0.0});
            bin += empty - 1;
            continue;
        }
        iwi_row(doc, iwi_percent_short(doc, bin_begin(&h, bin)), iwi_count(doc, h.count[bin]),
                bin_names(doc, &h, bin));
        iwi_bar(doc, (iw_estimate){count, count, count});
    }
}

const char *iwi_fleet_amount(struct iwi_document *doc, iw_fleet_metric metric, double value)
{
    switch (metric) {
    case IW_FLEET_SHARE: return iwi_percent_short(doc, value);
    case IW_FLEET_RATE: return iwi_rate(doc, value);
    default: return iwi_ns_short(doc, value);
    }
}

const char *iwi_fleet_source_name(struct iwi_document *doc, const iw_source *source)
{
    return iwi_doc_printf(doc, "%s%s%s", iw_class_name(source->kind), source->name[0] != '\0' ? "/" : "",
                          source->name);
}
