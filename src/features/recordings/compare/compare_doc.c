/* Is one recording noisier than another, beyond chance, and because of what?
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include "core/base/base.h"
#include "features/recordings/compare/compare.h"
#include "features/tables.h"
#include "kit/figure/figure.h"
#include "kit/text/words.h"

/* ---- figures ---- */

enum { MOST_ROWS = 12 };

/* What is more beyond chance has the colour of noise. */
static void add_row(struct iwi_document *doc, struct iwi_figure *figure, struct iwi_mark *bars,
                    const char *name, iw_estimate difference)
{
    iwi_bar_rows_add(figure, bars, name, difference,
                     iwi_compare_change(doc, IW_COMPARE_SHARE, difference.value), difference.low > 0.0);
}

/* What each source adds to the time lost. */
static iw_status compare_sources_figure(struct iwi_document *doc, const iw_noise_comparison *c,
                                        struct iwi_figure **figure_p)
{
    const size_t count = c->source_count < MOST_ROWS ? c->source_count : MOST_ROWS;
    struct iwi_figure *figure;
    struct iwi_mark *bars;

    IW_TRY(iwi_figure_new(doc->log, count > 0 ? "Where the difference comes from" : "Time lost", &figure));
    bars = iwi_bar_rows_begin(figure, "Time lost, B - A", IWI_AXIS_SHARE, count + 1);
    add_row(doc, figure, bars, "all noise", c->metrics[IW_COMPARE_SHARE].difference);
    for (size_t i = 0; i < count; i++) {
        add_row(doc, figure, bars, iwi_compare_source_name(doc, &c->sources[i].source),
                c->sources[i].share.difference);
    }
    figure->message =
        iwi_figure_text(figure, "Right of zero B loses more time, left of it less. Lines: 95 %% intervals; "
                                "significant increases have the colour of noise.");
    *figure_p = figure;
    return IW_OK;
}

/* ---- durations ---- */

/* The axis is logarithmic: quanta that lost nothing are left out. */
static size_t first_drawn(const iw_compare_side *side)
{
    return side->point_count > 0 && side->points[0].ns <= 0.0 ? 1 : 0;
}

static void draw_side(struct iwi_figure *figure, const char *letter, const iw_compare_side *side,
                      size_t series)
{
    struct iwi_mark *steps = iwi_figure_mark(figure, IWI_MARK_STEP, iwi_series_ink(series),
                                             iwi_figure_text(figure, "%s: %s", letter, side->name));

    for (size_t i = first_drawn(side); i < side->point_count; i++) {
        const bool is_last = i + 1 == side->point_count;

        if (i == first_drawn(side)) {
            iwi_mark_add(figure, steps, (double[]){figure->x.low, side->points[i].above});
        }
        iwi_mark_add(
            figure, steps,
            (double[]){side->points[i].ns, is_last ? 0.1 * figure->y.low : side->points[i + 1].above});
    }
}

/* Widens the axes to what the side has. */
static void measure(struct iwi_figure *figure, const iw_compare_side *side)
{
    const size_t first = first_drawn(side);

    if (first < side->point_count) {
        figure->x.low = fmin(figure->x.low, 0.8 * side->points[first].ns);
        figure->x.high = fmax(figure->x.high, 1.5 * side->points[side->point_count - 1].ns);
        figure->y.low =
            fmin(figure->y.low, pow(10.0, floor(log10(side->points[side->point_count - 1].above))));
    }
}

/* The share of detours that last longer. */
static iw_status compare_durations_figure(struct iwi_document *doc, const iw_noise_comparison *c,
                                          struct iwi_figure **figure_p)
{
    const bool is_quanta = iwi_compare_is_quanta(c);
    struct iwi_figure *figure;

    *figure_p = NULL;
    if (first_drawn(&c->a) >= c->a.point_count && first_drawn(&c->b) >= c->b.point_count) {
        return IW_OK;
    }
    IW_TRY(iwi_figure_new(doc->log,
                          is_quanta ? "Share of quanta that lose more" : "Share of detours that last longer",
                          &figure));
    figure->is_wide = true;
    figure->x = (struct iwi_figure_axis){.label = is_quanta ? "Loss of a quantum" : "Duration",
                                         .unit = IWI_AXIS_NS,
                                         .is_log = true,
                                         .low = INFINITY};
    figure->y =
        (struct iwi_figure_axis){.label = is_quanta ? "Share that loses more" : "Share that lasts longer",
                                 .unit = IWI_AXIS_POWER,
                                 .is_log = true,
                                 .low = 0.1,
                                 .high = 1.0};
    measure(figure, &c->a);
    measure(figure, &c->b);
    draw_side(figure, "A", &c->a, 0);
    draw_side(figure, "B", &c->b, 1);
    figure->message = iwi_figure_text(
        figure, "Both axes are logarithmic. A higher line means more %s of at least this length.",
        is_quanta ? "losses" : "detours");
    *figure_p = figure;
    return IW_OK;
}

/* ---- the table ---- */

IWI_NAMES(outcome_name, [IW_COMPARE_SAME] = "same", [IW_COMPARE_BETTER] = "better",
          [IW_COMPARE_SLIGHT] = "slight", [IW_COMPARE_WORSE] = "worse", [IW_COMPARE_UNKNOWN] = "unknown")
IWI_NAMED(metric_name, value < IW_COMPARE_METRICS ? iw_compare_metric_name((iw_compare_metric)value) : NULL)

static const struct iwi_field value_fields[] = {
    IWI_VALUE(iw_compare_value, a, .about = "null where there is none"),
    IWI_VALUE(iw_compare_value, b),
    IWI_ESTIMATE(iw_compare_value, difference, .about = "b - a"),
};
static const struct iwi_schema value_schema = IWI_SCHEMA(iw_compare_value, value_fields);

static const struct iwi_field distance_fields[] = {
    IWI_VALUE(iw_compare_distance, distance, .about = "of the two distributions of durations"),
    IWI_VALUE(iw_compare_distance, by_chance,
              .about = "95 % quantile if both were of one node; null: too few detours"),
    IWI_VALUE(iw_compare_distance, p, .about = "probability of this distance if both are of one node"),
};
static const struct iwi_schema distance_schema = IWI_SCHEMA(iw_compare_distance, distance_fields);

static const struct iwi_field point_fields[] = {
    IWI_VALUE(iw_duration_point, ns),
    IWI_VALUE(iw_duration_point, above, .about = "share of detours at least as long"),
};
static const struct iwi_schema point_schema = IWI_SCHEMA(iw_duration_point, point_fields);

static const struct iwi_field side_fields[] = {
    IWI_VALUE(iw_compare_side, name),
    IWI_ENUM(iw_compare_side, probe, "probe", iwi_probe_at),
    IWI_ENUM(iw_compare_side, attribution, "rung", iwi_attribution_level_at),
    IWI_VALUE(iw_compare_side, quantum_ns),
    IWI_VALUE_AS(iw_compare_side, cpu_count, "cpus"),
    IWI_VALUE(iw_compare_side, watched_ns),
    IWI_VALUE(iw_compare_side, length_ns),
    IWI_VALUE(iw_compare_side, block_ns),
    IWI_VALUE_AS(iw_compare_side, block_count, "blocks"),
    IWI_VALUE(iw_compare_side, threshold_ns),
    IWI_VALUE(iw_compare_side, count),
    IWI_VALUE(iw_compare_side, left_out),
    IWI_VALUE(iw_compare_side, dropped),
    IWI_OBJECTS(iw_compare_side, points, point_count, point_schema,
                .about = "of the distribution of durations"),
};
static const struct iwi_schema side_schema = IWI_SCHEMA(iw_compare_side, side_fields);

static const struct iwi_field source_fields[] = {
    IWI_INLINE(iw_compare_source, source, iwi_source_schema),
    IWI_VALUE_AS(iw_compare_source, is_in_a, "in_a", .about = "A has it"),
    IWI_VALUE_AS(iw_compare_source, is_in_b, "in_b", .about = "B has it"),
    IWI_OBJECT(iw_compare_source, share, value_schema, .about = "null: not comparable"),
};
static const struct iwi_schema source_schema = IWI_SCHEMA(iw_compare_source, source_fields);

static const struct iwi_field origin_fields[] = {
    IWI_VALUE(iw_compare_origin, name, .about = "such as `kernel`"),
    IWI_VALUE(iw_compare_origin, a),
    IWI_VALUE(iw_compare_origin, b),
};
static const struct iwi_schema origin_schema = IWI_SCHEMA(iw_compare_origin, origin_fields);

static bool has_rate(const void *object)
{
    return !iwi_compare_is_quanta(object);
}

IWI_OF(bool, has_sources, iw_noise_comparison, it->has_sources)

#define METRIC(metric, key, ...) \
    IWI_OBJECT_AS(iw_noise_comparison, metrics[metric], key, value_schema, __VA_ARGS__)
static const struct iwi_field comparison_fields[] = {
    IWI_ENUM(iw_noise_comparison, verdict, "outcome", outcome_name,
             .about = "`slight`: worse, but perhaps within the tolerance; `unknown`: too few detours"),
    IWI_ENUM(iw_noise_comparison, opts.metric, "metric", metric_name, .about = "metric of the verdict"),
    IWI_VALUE_AS(iw_noise_comparison, opts.tolerance, "tolerance", .about = "as given"),
    IWI_VALUE_AS(iw_noise_comparison, opts.seed, "seed"),
    IWI_VALUE_AS(iw_noise_comparison, opts.replicates, "replicates", .about = "of the bootstrap"),
    IWI_OBJECT(iw_noise_comparison, a, side_schema),
    IWI_OBJECT(iw_noise_comparison, b, side_schema),
    IWI_VALUE(iw_noise_comparison, threshold_ns,
              .about = "shorter detours were dropped from both; 0: none were"),
    METRIC(IW_COMPARE_SHARE, "share"),
    METRIC(IW_COMPARE_RATE, "rate_hz", .is_there = has_rate),
    METRIC(IW_COMPARE_MEDIAN, "median_ns"),
    METRIC(IW_COMPARE_P99, "p99_ns"),
    METRIC(IW_COMPARE_LONGEST, "longest_ns"),
    IWI_OBJECT(iw_noise_comparison, ks, distance_schema),
    IWI_OBJECT(iw_noise_comparison, wasserstein_ns, distance_schema),
    IWI_VALUE_AS(iw_noise_comparison, stretch_count, "stretches",
                 .about = "stretches that carry the difference; 0: spread over the whole time"),
    IWI_VALUE(iw_noise_comparison, stretch_ns, .about = "their length together"),
    IWI_VALUE(iw_noise_comparison, has_sources),
    IWI_OBJECTS(iw_noise_comparison, sources, source_count, source_schema, .is_there = has_sources,
                .is_row = true, .about = "largest difference first"),
    IWI_OBJECTS_IN_PLACE(iw_noise_comparison, origins, origin_count, origin_schema,
                         .about = "other differences, as far as both recordings have the facts"),
    IWI_INLINE(iw_noise_comparison, caveats, iwi_caveats_schema),
};
#undef METRIC
static const struct iwi_schema comparison_schema = IWI_SCHEMA(iw_noise_comparison, comparison_fields);

/* ---- what a file may not say ---- */

static bool is_drawable(const iw_compare_side *side)
{
    for (size_t i = 0; i < side->point_count; i++) {
        const iw_duration_point *point = &side->points[i];

        if (!(point->ns >= 0.0 && point->ns < 1e18 && point->above > 0.0 && point->above <= 1.0) ||
            (i > 0 && !(point->ns > side->points[i - 1].ns))) {
            return false;
        }
    }
    return true;
}

static iw_status check_side(const iw_log *log, const char *name, const char *letter,
                            const iw_compare_side *side)
{
    return is_drawable(side)
               ? IW_OK
               : iwi_fail(log, IW_ERR_FORMAT, "'%s': %s.points: not a distribution", name, letter);
}

static iw_status check(const iw_log *log, const char *name, const void *subject)
{
    const iw_noise_comparison *c = subject;

    IW_TRY(check_side(log, name, "a", &c->a));
    IW_TRY(check_side(log, name, "b", &c->b));
    if (c->opts.metric == IW_COMPARE_MEDIAN || c->opts.metric == IW_COMPARE_LONGEST) {
        return iwi_fail(log, IW_ERR_FORMAT, "'%s': metric: not a metric of comparisons", name);
    }
    return IW_OK;
}

/* ---- the document ---- */

static void add_side(struct iwi_document *doc, const char *letter, const iw_compare_side *side)
{
    iwi_row(doc, letter, side->name, iwi_doc_printf(doc, "%zu", side->cpu_count),
            iwi_ns_round(doc, (double)side->length_ns), iwi_count(doc, side->count));
}

static void say_sides(struct iwi_document *doc, const iw_noise_comparison *c)
{
    IWI_TABLE(doc, "", {"", IWI_WORDS}, {"recording", IWI_WORDS}, {"CPUs", IWI_NUMBER},
              {"length", IWI_NUMBER}, {iwi_compare_is_quanta(c) ? "quanta" : "detours", IWI_NUMBER});
    add_side(doc, "A", &c->a);
    add_side(doc, "B", &c->b);
}

static void say_metrics(struct iwi_document *doc, const iw_noise_comparison *c)
{
    static const char *const of_detours[IW_COMPARE_METRICS] = {"time lost", "detours", "median detour",
                                                               "99th percentile", "longest detour"};
    static const char *const of_quanta[IW_COMPARE_METRICS] = {"time lost", "", "median loss of a quantum",
                                                              "99th percentile", "largest loss"};

    iwi_section(doc, "noise", "Noise");
    IWI_TABLE(doc, "", {"", IWI_WORDS}, {"A", IWI_NUMBER}, {"B", IWI_NUMBER}, {"B - A", IWI_NUMBER},
              {"95 % interval", IWI_WORDS});
    for (iw_compare_metric m = IW_COMPARE_SHARE; m < IW_COMPARE_METRICS; m++) {
        const iw_compare_value *value = &c->metrics[m];

        if (!iwi_compare_is_quanta(c) || m != IW_COMPARE_RATE) {
            iwi_row(doc, iwi_compare_is_quanta(c) ? of_quanta[m] : of_detours[m],
                    iwi_compare_number(doc, m, value->a), iwi_compare_number(doc, m, value->b),
                    iwi_compare_change(doc, m, value->difference.value),
                    iwi_compare_interval(doc, m, value->difference));
        }
    }
}

/* By chance: what 95 of 100 pairs of recordings of the same noise stay below. */
static void add_distance(struct iwi_document *doc, const char *name, const iw_compare_distance *d,
                         const char *apart, const char *by_chance)
{
    const bool is_judged = isfinite(d->by_chance);

    iwi_row(doc, name, apart, is_judged ? iwi_doc_printf(doc, "up to %s", by_chance) : "too few detours",
            is_judged ? iwi_doc_printf(doc, d->p < 0.001 ? "< 0.001" : "%.3f", d->p) : "-");
}

static void say_distances(struct iwi_document *doc, const iw_noise_comparison *c)
{
    if (isnan(c->ks.distance)) {
        return;
    }
    iwi_section(doc, "durations",
                iwi_compare_is_quanta(c) ? "Distance of their losses" : "Distance of their durations");
    IWI_TABLE(doc, "", {"distance", IWI_WORDS}, {"", IWI_NUMBER}, {"not significant", IWI_NUMBER},
              {"p", IWI_NUMBER});
    add_distance(doc, "KS", &c->ks, iwi_doc_printf(doc, "%.3f", c->ks.distance),
                 iwi_doc_printf(doc, "%.3f", c->ks.by_chance));
    add_distance(doc, "Wasserstein", &c->wasserstein_ns, iwi_ns_short(doc, c->wasserstein_ns.distance),
                 iwi_ns_short(doc, c->wasserstein_ns.by_chance));
}

static void say_sources(struct iwi_document *doc, const iw_noise_comparison *c)
{
    if (c->source_count == 0) {
        return;
    }
    iwi_section(doc, "sources", "Sources, largest difference first");
    IWI_TABLE(doc, "", {"class", IWI_WORDS}, {"source", IWI_WORDS}, {"A", IWI_NUMBER}, {"B", IWI_NUMBER},
              {"B - A", IWI_NUMBER}, {"95 % interval", IWI_WORDS});
    for (size_t i = 0; i < c->source_count; i++) {
        const iw_compare_source *row = &c->sources[i];

        iwi_row(doc, iw_class_name(row->source.kind), row->source.name,
                iwi_compare_number(doc, IW_COMPARE_SHARE, row->share.a),
                iwi_compare_number(doc, IW_COMPARE_SHARE, row->share.b),
                iwi_compare_change(doc, IW_COMPARE_SHARE, row->share.difference.value),
                iwi_compare_interval(doc, IW_COMPARE_SHARE, row->share.difference));
    }
}

static void draw(struct iwi_document *doc, const iw_noise_comparison *c)
{
    struct iwi_figure *sources = NULL, *durations = NULL;
    iw_status status;

    iwi_only_in(doc, IWI_ON_PAGES | IWI_IN_PLOTS);
    status = compare_sources_figure(doc, c, &sources);
    iwi_show_figure(doc, status, sources);
    status = compare_durations_figure(doc, c, &durations);
    iwi_show_figure(doc, status, durations);
    iwi_only_in(doc, IWI_EVERYWHERE);
}

static void write_doc(struct iwi_document *doc, const void *subject)
{
    const iw_noise_comparison *c = subject;

    iwi_title(doc, "%s compared with %s", c->b.name, c->a.name);
    iwi_say_caveats(doc, &c->caveats, NULL);
    iwi_compare_say_verdict(doc, c);
    say_sides(doc, c);
    draw(doc, c);
    say_metrics(doc, c);
    say_distances(doc, c);
    say_sources(doc, c);
    iwi_section(doc, "certainty", "How sure");
    iwi_compare_say_notes(doc, c);
}

const struct iwi_kind iwi_noise_compare_kind = {
    .name = "noise-compare",
    .schema_id = "idlewave.noise-compare/3",
    .about = "Two recordings, A and B, compared by `idlewave noise compare --format json`. CSV has a line "
             "for each source",
    .older_id = "idlewave.noise-compare/2",
    .schema = &comparison_schema,
    .write_doc = write_doc,
    .check = check,
};

IWI_DOC(iw_compare_doc, iw_noise_comparison, comparison, iwi_noise_compare_kind)
