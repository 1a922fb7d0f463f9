/* Laws that describe recorded noise.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include "core/base/base.h"
#include "features/recordings/fit/fit.h"
#include "features/tables.h"
#include "kit/text/words.h"

/* ---- figures: distributions of durations, each with its laws ---- */

enum { CURVE_POINTS = 200, HALVINGS = 40, PANEL_COLUMNS = 28, SPECS = IW_FIT_LAWS };

static bool has_curve(const iw_noise_fit *fit, size_t group, int law, bool is_brief)
{
    const iw_durations *d = &fit->groups[group].durations;

    if (law == SPECS) {
        return group == 0 && iwi_fit_has_mixture(fit);
    }
    return is_brief ? d->is_fitted && d->best == (iw_fit_law)law && law != IW_FIT_FIXED
                    : d->laws[law].is_fitted;
}

static double share_above(const iw_noise_fit *fit, size_t group, int law, double ns)
{
    return law == SPECS ? iw_noise_fit_above(fit, ns)
                        : iw_durations_above(&fit->groups[group].durations, (iw_fit_law)law, ns);
}

/* Where the curve leaves the figure: below `least`, or at `high_ns`. */
static double end_of(const iw_noise_fit *fit, size_t group, int law, double least, double low_ns,
                     double high_ns)
{
    for (int i = 0; i < HALVINGS && share_above(fit, group, law, high_ns) < least; i++) {
        const double middle_ns = sqrt(low_ns * high_ns);

        if (share_above(fit, group, law, middle_ns) < least) {
            high_ns = middle_ns;
        } else {
            low_ns = middle_ns;
        }
    }
    return high_ns;
}

static void add_curve(struct iwi_document *doc, struct iwi_figure *figure, const iw_noise_fit *fit,
                      size_t group, int law, bool is_brief)
{
    const iw_durations *d = &fit->groups[group].durations;
    const char *label = "specs together";
    struct iwi_mark *curve;
    double end_ns;

    if (law < IW_FIT_LAWS) { /* several panels have no room for more than the name */
        label = iw_fit_law_name((iw_fit_law)law);
        label = is_brief || fit->group_count > 1
                    ? label
                    : iwi_doc_printf(doc, "%s, %s", label, iwi_fit_parameters(doc, &d->laws[law]));
    }
    curve = iwi_figure_mark(figure, IWI_MARK_LINE, law == SPECS ? IWI_INK_TEXT : iwi_series_ink((size_t)law),
                            label);
    curve->is_thin = law < IW_FIT_LAWS && d->best != (iw_fit_law)law;
    curve->dash = law == SPECS ? IWI_DASHED : IWI_SOLID;
    end_ns = end_of(fit, group, law, figure->y.low, figure->x.low, figure->x.high);
    for (size_t i = 0; i <= CURVE_POINTS; i++) {
        const double ns = figure->x.low * pow(end_ns / figure->x.low, (double)i / CURVE_POINTS);

        iwi_mark_add(figure, curve,
                     (double[]){ns, fmax(share_above(fit, group, law, ns), 0.1 * figure->y.low)});
    }
}

/* The share of a group's detours that last longer, recorded and by its laws; `is_brief`: only the best law
 * and the specs together, as a terminal can tell them apart. Nothing for less than two lengths. */
static void fit_figure(struct iwi_document *doc, const iw_noise_fit *fit, size_t group, bool is_brief)
{
    const iw_durations *d = &fit->groups[group].durations;
    char name[IWI_NAME_SIZE];
    const char *title = iwi_plain_name(iwi_fit_group_name(doc, &fit->groups[group]), PANEL_COLUMNS, name);
    struct iwi_figure *figure = NULL;
    struct iwi_mark *recorded;
    iw_status status;

    if (d->point_count < 2) {
        return;
    }
    if (is_brief) {
        title = "Share of detours that last longer";
    } else if (d->is_fitted) {
        title = iwi_doc_printf(doc, "%s: %s, KS %.3f", title, iw_fit_law_name(d->best),
                               d->laws[d->best].distance);
    }
    status = iwi_figure_new(doc->log, title, &figure);
    if (status != IW_OK) {
        iwi_show_figure(doc, status, NULL);
        return;
    }
    figure->x = (struct iwi_figure_axis){.label = "Duration",
                                         .unit = IWI_AXIS_NS,
                                         .is_log = true,
                                         .low = fmax(d->cut_ns, d->points[0].ns * (is_brief ? 0.5 : 0.8)),
                                         .high = d->longest_ns * 1.5};
    figure->y = (struct iwi_figure_axis){.label = "Share that lasts longer",
                                         .unit = IWI_AXIS_POWER,
                                         .is_log = true,
                                         .low = pow(10.0, -fmax(ceil(log10((double)d->count)), 1.0)),
                                         .high = 1.0};
    recorded = iwi_figure_mark(figure, IWI_MARK_STEP, IWI_INK_NOISE, "recorded");
    recorded->is_filled = true;
    iwi_mark_add(figure, recorded, (double[]){figure->x.low, d->points[0].above});
    for (size_t i = 0; i < d->point_count; i++) { /* those of this length are among the share of the next */
        iwi_mark_add(figure, recorded,
                     (double[]){d->points[i].ns,
                                i + 1 < d->point_count ? d->points[i + 1].above : 0.1 * figure->y.low});
    }
    for (int law = 0; law <= SPECS; law++) {
        if (has_curve(fit, group, law, is_brief)) {
            add_curve(doc, figure, fit, group, law, is_brief);
        }
    }
    iwi_show_figure(doc, IW_OK, figure);
}

/* ---- the table ---- */

IWI_NAMED(law_name, value < IW_FIT_LAWS ? iw_fit_law_name((iw_fit_law)value) : NULL)
IWI_NAMES(kind_name, [IW_FIT_ALL] = "all", [IW_FIT_SOURCE] = "source", [IW_FIT_OTHERS] = "others")

IWI_OF(bool, has_law, iw_duration_fit, it->is_fitted)

IWI_OF(bool, has_best, iw_durations, it->is_fitted)
IWI_OF(bool, is_source, iw_fit_group, it->kind == IW_FIT_SOURCE)

IWI_OF(bool, has_parts, iw_fit_group, it->has_parts)
IWI_OF(bool, has_agreement, iw_noise_fit, it->agreement.is_known)

static const struct iwi_field law_fields[] = {
    IWI_ENUM(iw_duration_fit, law, "law", law_name),
    IWI_VALUE(iw_duration_fit, is_fitted, .about = "false: too few"),
    IWI_ESTIMATE(iw_duration_fit, scale_ns, .is_there = has_law, .about = "no interval at a limit"),
    IWI_ESTIMATE(iw_duration_fit, shape, .is_there = has_law, .about = "no interval at a limit"),
    IWI_VALUE(iw_duration_fit, log_likelihood, .is_there = has_law,
              .about = "of the detours above the threshold"),
    IWI_VALUE(iw_duration_fit, aic, .is_there = has_law, .about = "Akaike's criterion: lower is better"),
    IWI_VALUE(iw_duration_fit, bic, .is_there = has_law, .about = "Bayes' criterion: lower is better"),
    IWI_VALUE_AS(iw_duration_fit, distance, "ks", .is_there = has_law,
                 .about = "largest distance of the two distribution functions"),
    IWI_VALUE(iw_duration_fit, p, .is_there = has_law,
              .about =
                  "share of samples of the law, fitted again, that are at least this far from their fit"),
    IWI_VALUE(iw_duration_fit, seen, .is_there = has_law, .about = "share above the threshold"),
    IWI_VALUE_AS(iw_duration_fit, is_at_limit, "at_limit", .about = "of what the law's shape may be"),
};
static const struct iwi_schema law_schema = IWI_SCHEMA(iw_duration_fit, law_fields);

static const struct iwi_field point_fields[] = {
    IWI_VALUE(iw_duration_point, ns),
    IWI_VALUE(iw_duration_point, above, .about = "share of detours at least as long"),
};
static const struct iwi_schema point_schema = IWI_SCHEMA(iw_duration_point, point_fields);

static const struct iwi_field durations_fields[] = {
    IWI_OBJECTS(iw_durations, points, point_count, point_schema,
                .about = "of the distribution"), /* of parts nothing is drawn */
    IWI_VALUE(iw_durations, count, .is_column = true),
    IWI_VALUE(iw_durations, left_out, .about = "shorter than the threshold"),
    IWI_VALUE(iw_durations, cut_ns),
    IWI_VALUE(iw_durations, total_ns),
    IWI_VALUE(iw_durations, longest_ns),
    IWI_VALUE(iw_durations, is_fitted),
    IWI_ENUM(iw_durations, best, "best", law_name, .is_there = has_best, .is_column = true,
             .about = "law; null: too few detours"),
    IWI_OBJECT_ARRAY(iw_durations, laws, law_schema, .is_row = true),
    IWI_VALUE(iw_durations, tail_share, .about = "0: too few"),
    IWI_VALUE(iw_durations, tail_recorded_ns),
    IWI_VALUE(iw_durations, tail_fitted_ns),
    IWI_VALUE(iw_durations, expected_as_long, .about = "detours as long as the longest"),
};
static const struct iwi_schema durations_schema = IWI_SCHEMA(iw_durations, durations_fields);
static const struct iwi_schema part_schema = {
    .size = sizeof(iw_durations),
    .fields = durations_fields + 1,
    .count = sizeof durations_fields / sizeof durations_fields[0] - 1,
};

static const struct iwi_field arrivals_fields[] = {
    IWI_VALUE(iw_arrivals, rate_hz),
    IWI_VALUE(iw_arrivals, period_ns, .about = "0: not periodic"),
    IWI_VALUE(iw_arrivals, beats),
    IWI_VALUE(iw_arrivals, missing, .about = "share of beats"),
    IWI_VALUE(iw_arrivals, others),
    IWI_VALUE_AS(iw_arrivals, gap_distance, "gap_ks",
                 .about = "of the gaps between the others, against random arrivals"),
    IWI_VALUE(iw_arrivals, gap_p, .about = "of `gap_ks`"),
    IWI_VALUE(iw_arrivals, gap_variation, .about = "standard deviation over mean"),
};
static const struct iwi_schema arrivals_schema = IWI_SCHEMA(iw_arrivals, arrivals_fields);

static const struct iwi_field group_fields[] = {
    IWI_ENUM(iw_fit_group, kind, "kind", kind_name, .is_column = true),
    IWI_ENUM(iw_fit_group, source_class, "class", iwi_class_at, .is_there = is_source, .is_column = true),
    IWI_CHARS(iw_fit_group, name, .is_column = true),
    IWI_VALUE(iw_fit_group, source_count, .about = "for `others`, their number"),
    IWI_VALUE(iw_fit_group, share),
    IWI_OBJECT(iw_fit_group, arrivals, arrivals_schema),
    IWI_OBJECT(iw_fit_group, durations, durations_schema, .is_row = true),
    IWI_VALUE(iw_fit_group, has_parts, .about = "periodic detours and others are fitted separately"),
    IWI_OBJECT(iw_fit_group, beats, part_schema, .is_there = has_parts, .about = "as `durations`"),
    IWI_OBJECT(iw_fit_group, others, part_schema, .is_there = has_parts, .about = "as `durations`"),
};
static const struct iwi_schema group_schema = IWI_SCHEMA(iw_fit_group, group_fields);

static const struct iwi_field spec_fields[] = {
    IWI_CHARS_AS(iw_fit_spec, text, "spec"),
    IWI_VALUE(iw_fit_spec, group, .about = "number of its group"),
    IWI_VALUE_AS(iw_fit_spec, is_periodic, "periodic"),
    IWI_VALUE(iw_fit_spec, rate_hz),
    IWI_ENUM(iw_fit_spec, law, "law", law_name),
    IWI_VALUE(iw_fit_spec, scale_ns),
    IWI_VALUE(iw_fit_spec, shape, .about = "of the law"),
    IWI_VALUE(iw_fit_spec, share, .about = "null: has no mean"),
    IWI_VALUE(iw_fit_spec, seen, .about = "share of its detours above the threshold"),
    IWI_VALUE(iw_fit_spec, overlapping, .about = "share of its detours that begin within another one"),
    IWI_VALUE_AS(iw_fit_spec, is_by_mean, "by_mean",
                 .about = "overlap hides the form of the law: only rate and mean are known"),
};
static const struct iwi_schema spec_schema = IWI_SCHEMA(iw_fit_spec, spec_fields);

static const struct iwi_field agreement_fields[] = {
    IWI_VALUE(iw_fit_agreement, is_known),
    IWI_VALUE(iw_fit_agreement, length_ns),
    IWI_VALUE_AS(iw_fit_agreement, recorded, "share_recorded"),
    IWI_VALUE_AS(iw_fit_agreement, made, "share_made"),
    IWI_ESTIMATE(iw_fit_agreement, difference, .about = "of the shares"),
    IWI_VALUE_AS(iw_fit_agreement, recorded_hz, "rate_recorded_hz"),
    IWI_VALUE_AS(iw_fit_agreement, made_hz, "rate_made_hz"),
    IWI_VALUE_AS(iw_fit_agreement, durations.distance, "ks",
                 .about = "largest distance of the distribution functions of durations"),
};
static const struct iwi_schema agreement_schema = IWI_SCHEMA(iw_fit_agreement, agreement_fields);

static const struct iwi_field fit_fields[] = {
    IWI_CHARS(iw_noise_fit, name),
    IWI_VALUE(iw_noise_fit, threshold_ns),
    IWI_VALUE(iw_noise_fit, watched_ns, .about = "summed over CPUs"),
    IWI_VALUE(iw_noise_fit, dropped),
    IWI_VALUE_AS(iw_noise_fit, opts.seed, "seed"),
    IWI_VALUE_AS(iw_noise_fit, opts.replicates, "replicates", .about = "of the bootstrap"),
    IWI_VALUE(iw_noise_fit, has_sources, .about = "sources are fitted one by one"),
    IWI_OBJECTS(iw_noise_fit, groups, group_count, group_schema, .is_row = true,
                .about = "first all, then sources by share, then all others"),
    IWI_OBJECTS(iw_noise_fit, specs, spec_count, spec_schema,
                .about = "used by simulations instead of the recording"),
    IWI_VALUE(iw_noise_fit, left_out_share,
              .about = "share of time of the smallest specs, beyond the eight of a simulation"),
    IWI_OBJECT(iw_noise_fit, agreement, agreement_schema, .is_there = has_agreement,
               .about = "of noise generated from the specs; null: impossible"),
    IWI_INLINE(iw_noise_fit, caveats, iwi_caveats_schema),
};
static const struct iwi_schema fit_schema = IWI_SCHEMA(iw_noise_fit, fit_fields);

/* ---- what a file may not say ---- */

static bool is_drawable(const iw_durations *d)
{
    for (size_t i = 0; i < d->point_count; i++) {
        const double before_ns = i > 0 ? d->points[i - 1].ns : 0.0;

        if (!(d->points[i].ns > before_ns && d->points[i].above > 0.0 && d->points[i].above <= 1.0)) {
            return false;
        }
    }
    return d->point_count == 0 || (d->longest_ns >= d->points[d->point_count - 1].ns &&
                                   d->longest_ns < 1e18 && d->count > 0 && d->cut_ns < d->longest_ns);
}

static iw_status check(const iw_log *log, const char *name, const void *subject)
{
    const iw_noise_fit *fit = subject;

    if (fit->group_count == 0) {
        return iwi_fail(log, IW_ERR_FORMAT, "'%s': groups: empty", name);
    }
    for (size_t i = 0; i < fit->group_count; i++) {
        if (!is_drawable(&fit->groups[i].durations)) {
            return iwi_fail(log, IW_ERR_FORMAT, "'%s': groups[%zu].durations.points: not a distribution",
                            name, i);
        }
    }
    for (size_t i = 0; i < fit->spec_count; i++) {
        if (fit->specs[i].group >= fit->group_count) {
            return iwi_fail(log, IW_ERR_FORMAT, "'%s': specs[%zu].group: no such group", name, i);
        }
    }
    return IW_OK;
}

/* ---- laws ---- */

/* Half of the interval, relative: " +-1.2 %"; nothing at a limit. */
static const char *error_text(struct iwi_document *doc, const iw_estimate *estimate)
{
    if (estimate->high > estimate->low && estimate->low > 0.0) {
        const double percent = 100.0 * (sqrt(estimate->high / estimate->low) - 1.0);

        return iwi_doc_printf(doc, percent < 9.95 ? " +-%.1f %%" : " +-%.0f %%", percent);
    }
    return "";
}

static const char *parameters(struct iwi_document *doc, iw_fit_law law, const iw_duration_fit *fit)
{
    const char *scale = iwi_fit_scale(doc, fit->scale_ns.value), *error = error_text(doc, &fit->scale_ns);
    const char *limit = fit->is_at_limit ? " (limit)" : "";

    switch (law) {
    case IW_FIT_PARETO:
        return iwi_doc_printf(doc, "A %.3g%s, from %s", fit->shape.value, error_text(doc, &fit->shape),
                              scale);
    case IW_FIT_LOGNORMAL:
        return iwi_doc_printf(doc, "median %s%s, sigma %.3g%s%s", scale, error, fit->shape.value,
                              error_text(doc, &fit->shape), limit);
    default: return iwi_doc_printf(doc, "mean %s%s%s", scale, error, limit);
    }
}

static void list_laws(struct iwi_document *doc, const iw_durations *d)
{
    if (!d->is_fitted || d->best == IW_FIT_FIXED) {
        return;
    }
    iwi_section(doc, "laws", "Laws of all durations");
    IWI_TABLE(doc, "", {"law", IWI_WORDS}, {"parameters, 95 % intervals", IWI_WORDS}, {"BIC", IWI_NUMBER},
              {"KS", IWI_NUMBER}, {"p", IWI_NUMBER});
    for (iw_fit_law law = IW_FIT_EXP; law < IW_FIT_LAWS; law++) {
        const iw_duration_fit *fit = &d->laws[law];
        const double worse = fit->bic - d->laws[d->best].bic;

        iwi_row(doc, iw_fit_law_name(law), parameters(doc, law, fit),
                law == d->best ? "best" : iwi_doc_printf(doc, worse < 1e6 ? "+%.0f" : "+%.1e", worse),
                iwi_doc_printf(doc, "%.3f", fit->distance), iwi_fit_p(doc, fit->p));
    }
}

/* ---- sources ---- */

enum { NAME_COLUMNS = 20 };

static const char *random_text(struct iwi_document *doc, double rate_hz, const iw_arrivals *a)
{
    static const char *const words[] = {[IWI_AT_RANDOM] = "random",
                                        [IWI_NEARLY_AT_RANDOM] = "~random",
                                        [IWI_IN_BURSTS] = "bursts",
                                        [IWI_IN_STEP] = "in step"};
    char rate[IWI_NUMBER_SIZE];

    return iwi_doc_printf(doc, "%s %s", iwi_rate_text(rate_hz, rate), words[iwi_fit_manner(a)]);
}

static const char *short_ns(struct iwi_document *doc, double ns)
{
    return iwi_doc_printf(doc, "%s", iwi_ns_short_text(ns, (char[IWI_NUMBER_SIZE]){0}));
}

static void add_source(struct iwi_document *doc, const char *name, const char *come, const iw_durations *d)
{
    const iw_duration_fit *best = &d->laws[d->best];
    const char *count = iwi_doc_printf(doc, "%s", iwi_count_text(d->count, (char[IWI_NUMBER_SIZE]){0}));

    if (d->count == 0) {
        iwi_row(doc, name, count, come, "below the threshold", "-", "-");
    } else if (d->count < IW_FIT_LEAST || !d->is_fitted) {
        iwi_row(doc, name, count, come,
                iwi_doc_printf(doc, "too few, mean %s", short_ns(doc, d->total_ns / (double)d->count)), "-",
                "-");
    } else {
        const char *shape = isnan(best->shape.value) ? "" : iwi_doc_printf(doc, ", %.3g", best->shape.value);

        iwi_row(doc, name, count, come,
                iwi_doc_printf(doc, "%s %s%s", iw_fit_law_name(d->best),
                               iwi_fit_scale(doc, best->scale_ns.value), shape),
                iwi_doc_printf(doc, "%.3f", best->distance), iwi_fit_p(doc, best->p));
    }
}

/* One row, or two where beats and others are told apart. */
static void add_group(struct iwi_document *doc, const iw_fit_group *group)
{
    const iw_arrivals *a = &group->arrivals;
    const double others_hz = a->rate_hz * (double)a->others / (double)(a->beats + a->others);
    const char *come = a->beats > 0 ? iwi_doc_printf(doc, "every %s", short_ns(doc, a->period_ns))
                                    : random_text(doc, a->rate_hz, a);
    char name[IWI_NAME_SIZE];

    iwi_plain_name(group->kind == IW_FIT_ALL ? "beats" : iwi_fit_group_name(doc, group), NAME_COLUMNS, name);
    add_source(doc, iwi_doc_printf(doc, "%s", name), come,
               group->has_parts ? &group->beats : &group->durations);
    if (group->has_parts) {
        add_source(doc, "  between", random_text(doc, others_hz, a), &group->others);
    }
}

static void list_groups(struct iwi_document *doc, const iw_noise_fit *fit)
{
    if (!fit->has_sources && !fit->groups[0].has_parts) {
        return;
    }
    iwi_section(doc, "sources", fit->has_sources ? "Sources" : "Beats and detours in between");
    IWI_TABLE(doc, "", {fit->has_sources ? "source" : "detours", IWI_WORDS}, {"count", IWI_NUMBER},
              {"come", IWI_WORDS}, {"last", IWI_WORDS}, {"KS", IWI_NUMBER}, {"p", IWI_NUMBER});
    for (size_t i = fit->has_sources ? 1 : 0; i < fit->group_count; i++) {
        add_group(doc, &fit->groups[i]);
    }
}

/* ---- the document ---- */

/* All of it, and the largest sources that have several lengths. */
static void draw(struct iwi_document *doc, const iw_noise_fit *fit)
{
    enum { MOST_PANELS = 4 };

    iwi_only_in(doc, IWI_IN_TEXT);
    fit_figure(doc, fit, 0, true);
    iwi_only_in(doc, IWI_ON_PAGES | IWI_IN_PLOTS);
    for (size_t i = 0, drawn = 0; i < fit->group_count && drawn < MOST_PANELS; i++) {
        fit_figure(doc, fit, i, false);
        drawn += fit->groups[i].durations.point_count >= 2;
    }
    iwi_only_in(doc, IWI_EVERYWHERE);
}

static void list_specs(struct iwi_document *doc, const iw_noise_fit *fit)
{
    if (fit->spec_count == 0) {
        return;
    }
    iwi_section(doc, "specs", "Noise specs for simulations");
    iwi_code(doc, "%s", fit->specs[0].text);
    for (size_t i = 1; i < fit->spec_count; i++) {
        iwi_doc_append(doc, "\n%s", fit->specs[i].text);
    }
    iwi_fit_say_agreement(doc, fit);
}

static void write_doc(struct iwi_document *doc, const void *subject)
{
    const iw_noise_fit *fit = subject;

    iwi_title(doc, "%s: durations of detours and fitted laws", fit->name);
    iwi_say_caveats(doc, &fit->caveats, NULL);
    iwi_fit_verdict(doc, fit);
    if (fit->groups[0].durations.count > 0) {
        draw(doc, fit);
        list_laws(doc, &fit->groups[0].durations);
        list_groups(doc, fit);
        list_specs(doc, fit);
        iwi_section(doc, "certainty", "How sure");
        iwi_fit_notes(doc, fit);
    }
}

const struct iwi_kind iwi_fit_kind = {
    .name = "fit",
    .schema_id = "idlewave.noise-fit/2",
    .about = "Laws fitted to a recording, from `idlewave noise fit --format json`. CSV has a line for each "
             "law of each group",
    .schema = &fit_schema,
    .write_doc = write_doc,
    .check = check,
};

IWI_DOC(iw_fit_doc, iw_noise_fit, fit, iwi_fit_kind)
