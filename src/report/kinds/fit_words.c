/* What fits say, in words: the verdict, how well specs stand for the recording.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "report/kinds/fit_report.h"

/* Beyond chance, but as near as this: good enough for most uses. */
static const double CLOSE = 0.05;

/* Shares that differ by more are worth a number. */
static const double SAME_SHARE = 0.1;

enum { HOST_COLUMNS = 40 };

const char *iwi_fit_group_name(const iw_recording *recording, const iw_fit_group *group, size_t columns,
                               char buf[IWI_NAME_SIZE])
{
    const iw_source *source = &recording->sources[group->source];
    char name[IW_SOURCE_NAME_SIZE + 16];

    if (group->kind == IW_FIT_ALL) {
        snprintf(name, sizeof name, "all");
    } else if (group->kind == IW_FIT_OTHERS) {
        snprintf(name, sizeof name, "%zu other sources", group->source_count);
    } else {
        snprintf(name, sizeof name, "%s%s%s", iw_class_name(source->kind), source->name[0] != '\0' ? " " : "",
                 source->name);
    }
    return iwi_plain_name(name, columns, buf);
}

const char *iwi_fit_scale_text(double ns, char buf[IWI_NUMBER_SIZE])
{
    return ns < 10.0 ? iwi_ns_round_text(ns, buf) : iwi_ns_short_text(ns, buf);
}

const char *iwi_fit_parameters(iw_fit_law law, const iw_duration_fit *fit, char buf[IWI_NAME_SIZE])
{
    char scale[IWI_NUMBER_SIZE];

    iwi_fit_scale_text(fit->scale_ns.value, scale);
    switch (law) {
    case IW_FIT_EXP: snprintf(buf, IWI_NAME_SIZE, "mean %s", scale); break;
    case IW_FIT_PARETO: snprintf(buf, IWI_NAME_SIZE, "A %.3g, from %s", fit->shape.value, scale); break;
    case IW_FIT_LOGNORMAL:
        snprintf(buf, IWI_NAME_SIZE, "median %s, sigma %.3g", scale, fit->shape.value);
        break;
    default: snprintf(buf, IWI_NAME_SIZE, "%s", scale); break;
    }
    return buf;
}

const char *iwi_fit_p_text(double p, char buf[IWI_NUMBER_SIZE])
{
    if (isnan(p)) {
        snprintf(buf, IWI_NUMBER_SIZE, "-");
    } else {
        snprintf(buf, IWI_NUMBER_SIZE, p < 0.0995 ? "%.3f" : "%.2f", p);
    }
    return buf;
}

/* ---- verdict ---- */

/* "KS distance 0.012, p = 0.34"; "<=" where no sample was as far. */
static void append_goodness(char *text, const iw_noise_fit *fit, const iw_duration_fit *best)
{
    const bool is_least = best->p * ((double)fit->opts.replicates + 1.0) < 1.5;
    char p[IWI_NUMBER_SIZE];

    iwi_append(text, "KS distance %.3f, p %s %s", best->distance, is_least ? "<=" : "=",
               iwi_fit_p_text(best->p, p));
}

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

static void append_durations(char *text, const iw_noise_fit *fit, const char *host)
{
    const iw_durations *d = &fit->groups[0].durations;
    const iw_duration_fit *best = &d->laws[d->best];
    char number[IWI_NUMBER_SIZE], parameters[IWI_NAME_SIZE];

    if (d->count < IW_FIT_LEAST) {
        iwi_append(text, "%s has %" PRIu64 " detour%s: too few to tell a law, which takes %d.", host,
                   d->count, d->count == 1 ? "" : "s", IW_FIT_LEAST);
        return;
    }
    if (d->best == IW_FIT_FIXED) {
        iwi_append(text, "%s %s detours of %s last %s", how_many_last(d), iwi_count_text(d->count, number),
                   host, iwi_ns_short_text(best->scale_ns.value, parameters));
        if (d->longest_ns > best->scale_ns.high) {
            iwi_append(text, ", the longest %s", iwi_ns_short_text(d->longest_ns, number));
        }
        iwi_append(text, ".");
        return;
    }
    iwi_append(text, "Durations of %s are best described as %s (%s)", host, iw_fit_law_name(d->best),
               iwi_fit_parameters(d->best, best, parameters));
    if (best->p >= IWI_FIT_WITHIN_CHANCE) {
        iwi_append(text, ", and it fits: ");
    } else {
        iwi_append(text, best->distance <= CLOSE ? "; it is close, but not within chance: "
                                                 : "; but no law fits well: ");
    }
    append_goodness(text, fit, best);
    iwi_append(text, ".");
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

static const char *manner_of(const iw_arrivals *a)
{
    static const char *const words[] = {[IWI_AT_RANDOM] = "at random",
                                        [IWI_NEARLY_AT_RANDOM] = "nearly at random",
                                        [IWI_IN_BURSTS] = "in bursts",
                                        [IWI_IN_STEP] = "more evenly than at random"};

    return words[iwi_fit_manner(a)];
}

static void append_arrivals(char *text, const iw_fit_group *group)
{
    const iw_arrivals *a = &group->arrivals;
    const double others_hz = a->rate_hz * (double)a->others / (double)(a->beats + a->others);
    char number[IWI_NUMBER_SIZE];

    if (a->beats == 0) {
        iwi_append(text, " They come %s, %s on a CPU.", manner_of(a), iwi_rate_text(a->rate_hz, number));
    } else if (group->has_parts) {
        iwi_append(text, " They come every %s", iwi_ns_short_text(a->period_ns, number));
        iwi_append(text, ", and %s between, %s on a CPU.", manner_of(a), iwi_rate_text(others_hz, number));
    } else {
        iwi_append(text, " They come every %s.", iwi_ns_short_text(a->period_ns, number));
    }
}

/* Mixtures of laws are what recordings with several sources have. */
static void append_sources(char *text, const iw_noise_fit *fit)
{
    size_t fitting = 0, fitted = 0;

    for (size_t i = 1; i < fit->group_count; i++) {
        const iw_durations *d = &fit->groups[i].durations;

        fitted += d->is_fitted && d->count >= IW_FIT_LEAST;
        fitting += d->is_fitted && d->count >= IW_FIT_LEAST && d->laws[d->best].p >= IWI_FIT_WITHIN_CHANCE;
    }
    if (fitted > 0) {
        iwi_append(text, " Of %zu source%s fitted one by one, %zu fit%s within chance.", fitted,
                   fitted == 1 ? "" : "s", fitting, fitting == 1 ? "s" : "");
    }
}

void iwi_fit_verdict(const iw_recording *recording, const iw_noise_fit *fit, const char *name,
                     char text[IWI_PARAGRAPH_SIZE])
{
    const iw_durations *d = &fit->groups[0].durations;
    char host[IWI_NAME_SIZE], number[IWI_NUMBER_SIZE];

    iwi_plain_name(iwi_host_name(recording, name), HOST_COLUMNS, host);
    if (d->count == 0) {
        iwi_append(text, "%s shows no detours", host);
        if (fit->threshold_ns > 0.0) {
            iwi_append(text, " of at least %s", iwi_ns_round_text(fit->threshold_ns, number));
        }
        iwi_append(text, ", so there is nothing to fit.");
        return;
    }
    append_durations(text, fit, host);
    if (d->count >= IW_FIT_LEAST) {
        append_arrivals(text, &fit->groups[0]);
    }
    if (fit->has_sources) {
        append_sources(text, fit);
    }
}

bool iwi_fit_has_mixture(const iw_noise_fit *fit)
{
    return fit->spec_count > 1 || (fit->spec_count == 1 && fit->specs[0].is_periodic);
}

/* ---- agreement ---- */

void iwi_fit_agreement_text(const iw_noise_fit *fit, char text[IWI_PARAGRAPH_SIZE])
{
    const iw_fit_agreement *a = &fit->agreement;
    char made[IWI_NUMBER_SIZE], recorded[IWI_NUMBER_SIZE], made_hz[IWI_NUMBER_SIZE],
        recorded_hz[IWI_NUMBER_SIZE];
    bool has_beats = false;

    for (size_t i = 0; i < fit->spec_count; i++) {
        has_beats = has_beats || fit->specs[i].is_periodic;
    }
    if (!a->is_known) {
        iwi_append(text, "No noise could be made of this: the fit leaves no time to work. Do not use it.");
        return;
    }
    iwi_append(text, "Noise made of this takes %s of the time, the recorded %s",
               iwi_share_text(a->made, made), iwi_share_text(a->recorded, recorded));
    if (fabs(a->made / a->recorded - 1.0) > SAME_SHARE || a->low > 0.0 || a->high < 0.0) {
        iwi_append(text, ": %.2f times as much", a->made / a->recorded);
    }
    iwi_append(text, a->low <= 0.0 && a->high >= 0.0 ? ", within chance." : ", more than chance does.");
    iwi_append(text, " Detours on a CPU: %s made, %s recorded; the KS distance of their durations is %.3f%s.",
               iwi_rate_text(a->made_hz, made_hz), iwi_rate_text(a->recorded_hz, recorded_hz),
               a->durations.distance,
               has_beats && a->durations.distance > CLOSE ? ", since beats have one length" : "");
}
