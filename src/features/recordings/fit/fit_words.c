/* What fits say: specs of simulations, the verdict, how well they stand for the recording, how sure it is.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdio.h>

#include "core/base/base.h"
#include "features/recordings/fit/fit.h"
#include "kit/text/words.h"

/* ---- specs of simulations ---- */

/* Beats may be missing at the ends of recordings; if more are, the rate is that of those that are there. */
static const double FEW_MISSING = 0.02;

/* Of the time in detours: with more, hardly anything would be left to tell their overlap from. */
static const double MOST_SHARE = 0.999;

enum { SPECS_PER_GROUP = 2, NUMBER_SIZE = 32 };

/* ---- words ---- */

/* In the unit that makes it 1 to 1000, so that no exponent is written. */
static const char *time_text(double ns, char buf[NUMBER_SIZE])
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    size_t i = 0;

    while (ns >= 999.95 && i < 3) {
        ns /= 1000.0;
        i++;
    }
    snprintf(buf, NUMBER_SIZE, ns < 1000.0 ? "%.4g%s" : "%.0f%s", ns, units[i]);
    return buf;
}

static const char *rate_text(double rate_hz, int digits, char buf[NUMBER_SIZE])
{
    if (rate_hz >= 1e6) {
        snprintf(buf, NUMBER_SIZE, "%.*gMHz", digits, rate_hz / 1e6);
    } else if (rate_hz >= 1e3) {
        snprintf(buf, NUMBER_SIZE, "%.*gkHz", digits, rate_hz / 1e3);
    } else if (rate_hz >= 1e-3) {
        snprintf(buf, NUMBER_SIZE, "%.*gHz", digits, rate_hz);
    } else {
        snprintf(buf, NUMBER_SIZE, "%.9fHz", rate_hz);
    }
    return buf;
}

/* Specs take up to 10^6; such shapes are as good as a fixed length. */
static const char *shape_text(double shape, char buf[NUMBER_SIZE])
{
    if (shape >= 1e3) {
        snprintf(buf, NUMBER_SIZE, "%.0f", fmin(shape, 1e6));
    } else {
        snprintf(buf, NUMBER_SIZE, shape >= 1e-3 ? "%.4g" : "%.6f", shape);
    }
    return buf;
}

static void write_text(iw_fit_spec *spec)
{
    char rate[NUMBER_SIZE], time[NUMBER_SIZE], shape[NUMBER_SIZE];

    rate_text(spec->rate_hz, spec->is_periodic ? 5 : 4, rate);
    time_text(spec->scale_ns, time);
    shape_text(spec->shape, shape);
    if (spec->is_periodic) {
        snprintf(spec->text, sizeof spec->text, "periodic:%s,%s", rate, time);
    } else if (spec->law == IW_FIT_PARETO) {
        snprintf(spec->text, sizeof spec->text, "poisson:%s,pareto:%s,%s", rate, shape, time);
    } else if (spec->law == IW_FIT_LOGNORMAL) {
        snprintf(spec->text, sizeof spec->text, "poisson:%s,lognormal:%s,%s", rate, time, shape);
    } else {
        snprintf(spec->text, sizeof spec->text, "poisson:%s,%s:%s", rate, iwi_law_spec_name(spec->law), time);
    }
}

/* ---- one spec ---- */

static iw_fit_spec periodic(const iw_noise_fit *fit, size_t number)
{
    const iw_fit_group *group = &fit->groups[number];
    const iw_arrivals *a = &group->arrivals;
    const iw_durations *d = group->has_parts ? &group->beats : &group->durations;
    iw_fit_spec spec = {.group = number, .is_periodic = true, .law = IW_FIT_FIXED, .seen = 1.0};

    spec.rate_hz = 1e9 / a->period_ns;
    if (a->missing > FEW_MISSING) {
        spec.rate_hz *= 1.0 - a->missing;
    }
    spec.scale_ns = (d->total_ns + d->left_out_ns) / (double)a->beats;
    spec.share = spec.rate_hz * spec.scale_ns * 1e-9;
    return spec;
}

/* What is drawn overlaps, and then is one detour. Among themselves they are told apart (fit.c); what
 * others cover is made up by the rate, so that all together take as much time: -ln(1 - share) of it, if none
 * overlapped. */
static iw_status random_arrivals(const iw_log *log, const iw_noise_fit *fit, size_t number,
                                 const iw_durations *d, iw_fit_spec *spec)
{
    const double share = fmin(fit->groups[0].share, MOST_SHARE);
    const double own = fmin((d->total_ns + d->left_out_ns) / fit->watched_ns, share);
    const double more_time = share > 0.0 ? -log1p(-share) / share : 1.0;
    const double mean_factor = iwi_overlap_mean_factor(own);

    *spec = (iw_fit_spec){
        .group = number, .law = d->is_fitted ? d->best : IW_FIT_FIXED, .seen = 1.0, .overlapping = own};
    if (d->is_fitted && d->best != IW_FIT_FIXED) {
        struct iwi_single_law single;

        IW_TRY(iwi_fit_overlap(log, &fit->opts, d, fit->watched_ns, own, &single));
        spec->scale_ns = single.scale_ns;
        spec->shape = single.shape;
        spec->seen = iwi_law_above(d->best, single.scale_ns, single.shape, d->cut_ns);
        spec->is_by_mean = single.is_by_mean;
    } else {
        spec->scale_ns = d->total_ns / (double)d->count * mean_factor;
    }
    spec->rate_hz = (double)d->count / (fit->watched_ns * spec->seen) * more_time / mean_factor * 1e9;
    spec->share = spec->rate_hz * iwi_law_mean_ns(spec->law, spec->scale_ns, spec->shape) * 1e-9;
    return IW_OK;
}

static iw_status specs_of(const iw_log *log, const iw_noise_fit *fit, size_t number, iw_fit_spec *specs,
                          size_t *count_p)
{
    const iw_fit_group *group = &fit->groups[number];

    if (group->arrivals.beats > 0) {
        specs[(*count_p)++] = periodic(fit, number);
    }
    if (group->has_parts && group->others.count > 0) {
        IW_TRY(random_arrivals(log, fit, number, &group->others, &specs[(*count_p)++]));
    } else if (group->arrivals.beats == 0 && group->durations.count > 0) {
        IW_TRY(random_arrivals(log, fit, number, &group->durations, &specs[(*count_p)++]));
    }
    return IW_OK;
}

/* ---- all ---- */

/* The spec with the smallest share goes. */
static void drop_smallest(iw_fit_spec *specs, size_t *count_p, double *dropped_p)
{
    size_t smallest = 0;

    for (size_t i = 1; i < *count_p; i++) {
        smallest = specs[i].share < specs[smallest].share ? i : smallest;
    }
    *dropped_p += specs[smallest].share;
    for (size_t i = smallest + 1; i < *count_p; i++) {
        specs[i - 1] = specs[i];
    }
    --*count_p;
}

iw_status iwi_fit_specs(const iw_log *log, iw_noise_fit *fit)
{
    iw_fit_spec specs[SPECS_PER_GROUP * (IW_NOISE_MAX_SOURCES + 1)];
    size_t count = 0;

    fit->specs = iwi_new_array(log, IW_NOISE_MAX_SOURCES, sizeof *fit->specs);
    if (fit->specs == NULL) {
        return IW_ERR_NOMEM;
    }
    fit->left_out_share = 0.0;
    for (size_t g = fit->has_sources ? 1 : 0; g < fit->group_count; g++) {
        IW_TRY(specs_of(log, fit, g, specs, &count));
    }
    while (count > IW_NOISE_MAX_SOURCES) {
        drop_smallest(specs, &count, &fit->left_out_share);
    }
    for (size_t i = 0; i < count; i++) {
        write_text(&specs[i]);
        fit->specs[i] = specs[i];
    }
    fit->spec_count = count;
    return IW_OK;
}

double iw_noise_fit_above(const iw_noise_fit *fit, double ns)
{
    const double cut_ns = fit->groups[0].durations.cut_ns;
    double all = 0.0, above = 0.0;

    for (size_t i = 0; i < fit->spec_count; i++) {
        const iw_fit_spec *s = &fit->specs[i];

        all += s->rate_hz * iwi_law_above(s->law, s->scale_ns, s->shape, cut_ns);
        above += s->rate_hz * iwi_law_above(s->law, s->scale_ns, s->shape, fmax(ns, cut_ns));
    }
    return all > 0.0 ? above / all : 0.0;
}

/* ---- sentences ---- */

/* Beyond chance, but as near as this: good enough for most uses. */
static const double CLOSE = 0.05;

/* Shares that differ by more are worth a number; less overlap is not worth a word. */
static const double SAME_SHARE = 0.1, LEAST_OVERLAP = 0.01;

/* From so many detours on, chance is no measure any more. */
enum { MANY = 10000 };

typedef char number_text[IWI_NUMBER_SIZE];

const char *iwi_fit_group_name(struct iwi_document *doc, const iw_fit_group *group)
{
    switch (group->kind) {
    case IW_FIT_ALL: return "all";
    case IW_FIT_OTHERS: return iwi_doc_printf(doc, "%zu other sources", group->source_count);
    default:
        return iwi_doc_printf(doc, "%s%s%s", iw_class_name(group->source_class),
                              group->name[0] != '\0' ? " " : "", group->name);
    }
}

const char *iwi_fit_scale(struct iwi_document *doc, double ns)
{
    number_text text;

    return iwi_doc_printf(doc, "%s", ns < 10.0 ? iwi_ns_round_text(ns, text) : iwi_ns_short_text(ns, text));
}

const char *iwi_fit_parameters(struct iwi_document *doc, const iw_duration_fit *fit)
{
    const char *scale = iwi_fit_scale(doc, fit->scale_ns.value);

    switch (fit->law) {
    case IW_FIT_EXP: return iwi_doc_printf(doc, "mean %s", scale);
    case IW_FIT_PARETO: return iwi_doc_printf(doc, "A %.3g, from %s", fit->shape.value, scale);
    case IW_FIT_LOGNORMAL: return iwi_doc_printf(doc, "median %s, sigma %.3g", scale, fit->shape.value);
    default: return scale;
    }
}

const char *iwi_fit_p(struct iwi_document *doc, double p)
{
    return isnan(p) ? "-" : iwi_doc_printf(doc, p < 0.0995 ? "%.3f" : "%.2f", p);
}

bool iwi_fit_has_mixture(const iw_noise_fit *fit)
{
    return fit->spec_count > 1 || (fit->spec_count == 1 && fit->specs[0].is_periodic);
}

enum iwi_manner iwi_fit_manner(const iw_arrivals *a)
{
    if (isnan(a->gap_p) || a->gap_p >= IWI_FIT_WITHIN_CHANCE) {
        return IWI_AT_RANDOM;
    }
    return a->gap_variation > 1.1   ? IWI_IN_BURSTS
           : a->gap_variation < 0.9 ? IWI_IN_STEP
                                    : IWI_NEARLY_AT_RANDOM;
}

/* ---- verdict ---- */

/* Of a fixed length; what overlaps is longer, and no exception from it. */
static const char *how_many_last(const iw_durations *d)
{
    const iw_duration_fit *fixed = &d->laws[IW_FIT_FIXED];
    const double mean_ns = d->total_ns / (double)d->count;

    if (mean_ns > (1.0 + CLOSE) * fixed->scale_ns.value) {
        return "Most of";
    }
    return fixed->distance > 0.0 || d->longest_ns > fixed->scale_ns.high ? "Nearly all" : "All";
}

static void say_fixed(struct iwi_document *doc, const iw_noise_fit *fit)
{
    const iw_durations *d = &fit->groups[0].durations;
    const iw_estimate *length_ns = &d->laws[IW_FIT_FIXED].scale_ns;
    number_text count, ns;

    iwi_verdict(doc, "%s %s detours of %s last %s", how_many_last(d), iwi_count_text(d->count, count),
                fit->name, iwi_ns_short_text(length_ns->value, ns));
    if (d->longest_ns > length_ns->high) {
        iwi_doc_append(doc, ", the longest %s", iwi_ns_short_text(d->longest_ns, ns));
    }
    iwi_doc_append(doc, ".");
}

static void say_law(struct iwi_document *doc, const iw_noise_fit *fit)
{
    const iw_durations *d = &fit->groups[0].durations;
    const iw_duration_fit *best = &d->laws[d->best];
    const bool is_least = best->p * ((double)fit->opts.replicates + 1.0) < 1.5; /* no sample was as far */

    iwi_verdict(doc, "Durations of %s are best described as %s (%s)", fit->name, iw_fit_law_name(d->best),
                iwi_fit_parameters(doc, best));
    if (best->p >= IWI_FIT_WITHIN_CHANCE) {
        iwi_doc_append(doc, ", which fits: ");
    } else {
        iwi_doc_append(doc, best->distance <= CLOSE ? "; the fit is close, but rejected: "
                                                    : "; but no law fits well: ");
    }
    iwi_doc_append(doc, "KS distance %.3f, p %s %s.", best->distance, is_least ? "<=" : "=",
                   iwi_fit_p(doc, best->p));
}

static void say_arrivals(struct iwi_document *doc, const iw_fit_group *group)
{
    static const char *const manners[] = {[IWI_AT_RANDOM] = "at random",
                                          [IWI_NEARLY_AT_RANDOM] = "nearly at random",
                                          [IWI_IN_BURSTS] = "in bursts",
                                          [IWI_IN_STEP] = "more evenly than at random"};
    const iw_arrivals *a = &group->arrivals;
    const double others_hz = a->rate_hz * (double)a->others / (double)(a->beats + a->others);
    const char *manner = manners[iwi_fit_manner(a)];
    number_text period, rate;

    iwi_ns_short_text(a->period_ns, period);
    if (a->beats == 0) {
        iwi_doc_append(doc, " They come %s, %s per CPU.", manner, iwi_rate_text(a->rate_hz, rate));
    } else if (group->has_parts) {
        iwi_doc_append(doc, " They come every %s, and %s in between, %s per CPU.", period, manner,
                       iwi_rate_text(others_hz, rate));
    } else {
        iwi_doc_append(doc, " They come every %s.", period);
    }
}

/* Mixtures of laws are what recordings with several sources have. */
static void say_sources(struct iwi_document *doc, const iw_noise_fit *fit)
{
    size_t fitting = 0, fitted = 0;

    for (size_t i = 1; i < fit->group_count; i++) {
        const iw_durations *d = &fit->groups[i].durations;

        fitted += d->is_fitted && d->count >= IW_FIT_LEAST;
        fitting += d->is_fitted && d->count >= IW_FIT_LEAST && d->laws[d->best].p >= IWI_FIT_WITHIN_CHANCE;
    }
    if (fitted > 0) {
        iwi_doc_append(doc, " Of %zu source%s fitted one by one, %zu fit%s.", fitted, iwi_plural_s(fitted),
                       fitting, fitting == 1 ? "s" : "");
    }
}

void iwi_fit_verdict(struct iwi_document *doc, const iw_noise_fit *fit)
{
    const iw_durations *d = &fit->groups[0].durations;
    number_text number;

    if (d->count == 0) {
        iwi_verdict(doc, "%s shows no detours", fit->name);
        if (fit->threshold_ns > 0.0) {
            iwi_doc_append(doc, " of at least %s", iwi_ns_round_text(fit->threshold_ns, number));
        }
        iwi_doc_append(doc, ": nothing to fit.");
        return;
    }
    if (d->count < IW_FIT_LEAST) {
        iwi_verdict(doc, "%s has %" PRIu64 " detour%s: too few for a fit, at least %d are needed.", fit->name,
                    d->count, iwi_plural_s(d->count), IW_FIT_LEAST);
    } else {
        (d->best == IW_FIT_FIXED ? say_fixed : say_law)(doc, fit);
        say_arrivals(doc, &fit->groups[0]);
    }
    if (fit->has_sources) {
        say_sources(doc, fit);
    }
}

/* ---- agreement ---- */

void iwi_fit_say_agreement(struct iwi_document *doc, const iw_noise_fit *fit)
{
    const iw_fit_agreement *a = &fit->agreement;
    const bool is_within_chance = a->difference.low <= 0.0 && a->difference.high >= 0.0;
    number_text made, recorded;
    bool has_beats = false;

    for (size_t i = 0; i < fit->spec_count; i++) {
        has_beats = has_beats || fit->specs[i].is_periodic;
    }
    if (!a->is_known) {
        iwi_paragraph(
            doc, "No noise can be generated from this fit, which leaves no time for work. Do not use it.");
        return;
    }
    iwi_paragraph(doc, "Noise generated from these specs takes %s of the time, the recorded noise %s",
                  iwi_share_text(a->made, made), iwi_share_text(a->recorded, recorded));
    if (fabs(a->made / a->recorded - 1.0) > SAME_SHARE || !is_within_chance) {
        iwi_doc_append(doc, ": %.2fx as much", a->made / a->recorded);
    }
    iwi_doc_append(doc, is_within_chance ? ", not a significant difference." : ", a significant difference.");
    iwi_doc_append(
        doc, " Detours per CPU: %s generated, %s recorded; the KS distance of their durations is %.3f%s.",
        iwi_rate_text(a->made_hz, made), iwi_rate_text(a->recorded_hz, recorded), a->durations.distance,
        has_beats && a->durations.distance > CLOSE ? ", since beats have one length" : "");
}

/* ---- how sure ---- */

static void note_tail(struct iwi_document *doc, const iw_noise_fit *fit)
{
    const iw_durations *d = &fit->groups[0].durations;
    const double by_specs = (double)d->count * iw_noise_fit_above(fit, d->longest_ns - 0.5);
    const double expected = iwi_fit_has_mixture(fit) ? by_specs : d->expected_as_long;
    number_text recorded, fitted;

    iwi_item(doc, "Tail:");
    if (d->tail_share > 0.0) {
        iwi_doc_append(doc, " %.3g %% of the detours last %s or more, %s law: %s.", 100.0 * d->tail_share,
                       iwi_ns_short_text(d->tail_recorded_ns, recorded), iw_fit_law_name(d->best),
                       iwi_ns_short_text(d->tail_fitted_ns, fitted));
    }
    iwi_doc_append(doc, " Detours as long as the longest, %s: %.2g expected",
                   iwi_ns_short_text(d->longest_ns, recorded), d->expected_as_long);
    if (iwi_fit_has_mixture(fit)) {
        iwi_doc_append(doc, " from the law, %.2g from all specs together", by_specs);
    }
    iwi_doc_append(doc,
                   expected < 0.05   ? ": the tail is too light, many ranks would suffer more than predicted."
                   : expected > 20.0 ? ": the tail is too heavy, many ranks would suffer less than predicted."
                                     : ".");
}

static void note_choice(struct iwi_document *doc, const iw_noise_fit *fit)
{
    const iw_durations *d = &fit->groups[0].durations;

    iwi_item(doc,
             "The best law has the lowest BIC, which penalises parameters. p: share of %zu samples of the "
             "law, fitted again, that are as far (KS) from their fit; "
             "it assumes independent detours, so bursts make it too small.",
             fit->opts.replicates);
    if (d->count >= MANY) {
        iwi_item(doc,
                 "With this many detours even a distance of %.3f is significant, and no law is exact: check "
                 "the distance, the largest error of the share of longer detours, and the tail.",
                 1.0 / sqrt((double)d->count));
    }
}

static void note_threshold(struct iwi_document *doc, const iw_noise_fit *fit)
{
    double least_seen = 1.0;
    number_text number;

    for (size_t i = 0; i < fit->spec_count; i++) {
        least_seen = fmin(least_seen, fit->specs[i].seen);
    }
    if (fit->threshold_ns > 0.0) {
        iwi_item(doc, "Detours shorter than %s were not recorded: laws are fitted above.",
                 iwi_ns_round_text(fit->threshold_ns, number));
        if (least_seen < 0.95) {
            iwi_doc_append(doc,
                           " Up to %.0f %% of the detours of a spec are shorter: inferred, not recorded.",
                           100.0 * (1.0 - least_seen));
        }
    }
}

static void note_limit(struct iwi_document *doc, const iw_fit_spec *spec)
{
    if (!isfinite(spec->share)) {
        iwi_item(doc, "'%s' has no mean (A <= 1): its share of time grows with the length of a run.",
                 spec->text);
    } else if (spec->seen < 0.0501) {
        iwi_item(doc,
                 "'%s' is at a limit: laws with less than 5 %% above the threshold are not tried, though "
                 "they would fit better.",
                 spec->text);
    }
}

/* Periodic specs have one length. */
static void note_beats(struct iwi_document *doc, const iw_noise_fit *fit, const iw_fit_spec *spec)
{
    const iw_fit_group *group = &fit->groups[spec->group];
    const double longest_ns = (group->has_parts ? &group->beats : &group->durations)->longest_ns;
    const bool has_gaps = group->arrivals.missing > 0.02, is_spread = longest_ns > 2.0 * spec->scale_ns;
    number_text longest;

    if (!spec->is_periodic || (!has_gaps && !is_spread)) {
        return;
    }
    iwi_item(doc, "'%s':", spec->text);
    if (has_gaps) {
        iwi_doc_append(doc, " %.0f %% of the beats are missing, so its rate is lower%s",
                       100.0 * group->arrivals.missing, is_spread ? ";" : "");
    }
    if (is_spread) {
        iwi_doc_append(doc, " it gives each beat the mean length, but beats last up to %s",
                       iwi_ns_short_text(longest_ns, longest));
    }
    iwi_doc_append(doc, ".");
}

static void note_overlap(struct iwi_document *doc, const iw_fit_spec *spec)
{
    if (spec->overlapping >= LEAST_OVERLAP) {
        iwi_item(doc,
                 "'%s': %.2g %% of these detours begin within another one and are recorded as one. The spec "
                 "describes single detours, so its rate is higher than the recorded one",
                 spec->text, 100.0 * spec->overlapping);
        iwi_doc_append(doc, spec->is_by_mean ? ". The recording fixes only rate and mean: with this much "
                                               "overlap the form of the law is uncertain."
                                             : " and they are shorter.");
    }
}

static void note_losses(struct iwi_document *doc, const iw_noise_fit *fit)
{
    number_text number;

    if (fit->dropped > 0) {
        iwi_item(doc, "The recording lacks %s detours: rates are too low.",
                 iwi_count_text(fit->dropped, number));
    }
    if (fit->left_out_share > 0.0) {
        iwi_item(doc, "Simulations use at most %d specs: the smallest, %s of the time, are dropped.",
                 IW_NOISE_MAX_SOURCES, iwi_share_text(fit->left_out_share, number));
    }
}

void iwi_fit_notes(struct iwi_document *doc, const iw_noise_fit *fit)
{
    const iw_durations *d = &fit->groups[0].durations;

    if (d->best == IW_FIT_FIXED && d->is_fitted) {
        iwi_item(doc, "Lengths count as fixed where 95 of 100 are the same up to 1 %%; no other law can "
                      "describe that.");
    } else if (d->is_fitted) {
        note_tail(doc, fit);
        note_choice(doc, fit);
    }
    note_threshold(doc, fit);
    for (size_t i = 0; i < fit->spec_count; i++) {
        note_limit(doc, &fit->specs[i]);
    }
    for (size_t i = 0; i < fit->spec_count; i++) {
        note_beats(doc, fit, &fit->specs[i]);
    }
    for (size_t i = 0; i < fit->spec_count; i++) {
        note_overlap(doc, &fit->specs[i]);
    }
    note_losses(doc, fit);
}
