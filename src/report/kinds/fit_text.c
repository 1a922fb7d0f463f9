/* Fits for people: the verdict, laws, sources, the distribution, specs to copy, how sure.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "report/kinds/fit_report.h"

enum { NAME_COLUMNS = 16, PARAMETER_COLUMNS = 44 };

/* ---- laws ---- */

/* Half of the interval, relative: " +-1.2 %"; nothing at a limit. */
static void append_error(char *text, const iw_estimate *estimate)
{
    if (estimate->high > estimate->low && estimate->low > 0.0) {
        const double percent = 100.0 * (sqrt(estimate->high / estimate->low) - 1.0);

        iwi_append(text, percent < 9.95 ? " +-%.1f %%" : " +-%.0f %%", percent);
    }
}

static void append_parameters(char *text, iw_fit_law law, const iw_duration_fit *fit)
{
    char scale[IWI_NUMBER_SIZE];

    iwi_fit_scale_text(fit->scale_ns.value, scale);
    if (law == IW_FIT_PARETO) {
        iwi_append(text, "A %.3g", fit->shape.value);
        append_error(text, &fit->shape);
        iwi_append(text, ", from %s", scale);
        return;
    }
    iwi_append(text, "%s %s", law == IW_FIT_LOGNORMAL ? "median" : "mean", scale);
    append_error(text, &fit->scale_ns);
    if (law == IW_FIT_LOGNORMAL) {
        iwi_append(text, ", sigma %.3g", fit->shape.value);
        append_error(text, &fit->shape);
    }
    if (fit->is_at_limit) {
        iwi_append(text, " (limit)");
    }
}

static void write_law(FILE *out, const iw_durations *d, iw_fit_law law)
{
    const iw_duration_fit *fit = &d->laws[law];
    const double worse = fit->bic - d->laws[d->best].bic;
    char text[IWI_PARAGRAPH_SIZE] = "", bic[IWI_NUMBER_SIZE], p[IWI_NUMBER_SIZE];

    append_parameters(text, law, fit);
    if (law == d->best) {
        snprintf(bic, sizeof bic, "best");
    } else {
        snprintf(bic, sizeof bic, worse < 1e6 ? "+%.0f" : "+%.1e", worse);
    }
    (void)fprintf(out, "%-12s %-*s %8s %6.3f %6s\n", iw_fit_law_name(law), PARAMETER_COLUMNS, text, bic,
                  fit->distance, iwi_fit_p_text(fit->p, p));
}

static void write_laws(FILE *out, const iw_durations *d)
{
    if (!d->is_fitted || d->best == IW_FIT_FIXED) {
        return;
    }
    (void)fprintf(out, "\n%-12s %-*s %8s %6s %6s\n", "law", PARAMETER_COLUMNS,
                  "all durations, 95 % intervals", "BIC", "KS", "p");
    for (iw_fit_law law = IW_FIT_EXP; law < IW_FIT_LAWS; law++) {
        write_law(out, d, law);
    }
}

/* ---- sources ---- */

static void write_durations(FILE *out, const iw_durations *d)
{
    const iw_duration_fit *best = &d->laws[d->best];
    char text[IWI_PARAGRAPH_SIZE] = "", number[IWI_NUMBER_SIZE], p[IWI_NUMBER_SIZE];

    if (d->count == 0) {
        (void)fprintf(out, "%-24s %6s %6s\n", "below the threshold", "-", "-");
        return;
    }
    if (d->count < IW_FIT_LEAST || !d->is_fitted) {
        iwi_append(text, "too few, mean %s", iwi_ns_short_text(d->total_ns / (double)d->count, number));
        (void)fprintf(out, "%-24s %6s %6s\n", text, "-", "-");
        return;
    }
    iwi_append(text, "%s %s", iw_fit_law_name(d->best), iwi_fit_scale_text(best->scale_ns.value, number));
    if (!isnan(best->shape.value)) {
        iwi_append(text, ", %.3g", best->shape.value);
    }
    (void)fprintf(out, "%-24s %6.3f %6s\n", text, best->distance, iwi_fit_p_text(best->p, p));
}

static void write_random(FILE *out, double rate_hz, const iw_arrivals *a)
{
    static const char *const words[] = {[IWI_AT_RANDOM] = "random",
                                        [IWI_NEARLY_AT_RANDOM] = "~random",
                                        [IWI_IN_BURSTS] = "bursts",
                                        [IWI_IN_STEP] = "in step"};
    char text[IWI_NUMBER_SIZE + 8], rate[IWI_NUMBER_SIZE];

    snprintf(text, sizeof text, "%s %s", iwi_rate_text(rate_hz, rate), words[iwi_fit_manner(a)]);
    (void)fprintf(out, " %-15s ", text);
}

/* A line, or two where beats and others are told apart. */
static void write_group(FILE *out, const iw_recording *recording, const iw_fit_group *group)
{
    const iw_arrivals *a = &group->arrivals;
    const double others_hz = a->rate_hz * (double)a->others / (double)(a->beats + a->others);
    char name[IWI_NAME_SIZE], number[IWI_NUMBER_SIZE], period[IWI_NUMBER_SIZE];
    const iw_durations *first = group->has_parts ? &group->beats : &group->durations;

    (void)fprintf(out, "%-*s %8s", NAME_COLUMNS,
                  group->kind == IW_FIT_ALL ? "beats"
                                            : iwi_fit_group_name(recording, group, NAME_COLUMNS, name),
                  iwi_count_text(first->count, number));
    if (a->beats > 0) {
        (void)fprintf(out, " every %-9s ", iwi_ns_short_text(a->period_ns, period));
    } else {
        write_random(out, a->rate_hz, a);
    }
    write_durations(out, first);
    if (group->has_parts) {
        (void)fprintf(out, "%-*s %8s", NAME_COLUMNS, "  between",
                      iwi_count_text(group->others.count, number));
        write_random(out, others_hz, a);
        write_durations(out, &group->others);
    }
}

static void write_groups(FILE *out, const iw_recording *recording, const iw_noise_fit *fit)
{
    if (!fit->has_sources && !fit->groups[0].has_parts) {
        return;
    }
    (void)fprintf(out, "\n%-*s %8s %-15s %-24s %6s %6s\n", NAME_COLUMNS,
                  fit->has_sources ? "source" : "detours", "count", "come", "last", "KS", "p");
    for (size_t i = fit->has_sources ? 1 : 0; i < fit->group_count; i++) {
        write_group(out, recording, &fit->groups[i]);
    }
}

/* ---- specs ---- */

static void write_specs(FILE *out, const iw_noise_fit *fit)
{
    char text[IWI_PARAGRAPH_SIZE] = "";

    if (fit->spec_count == 0) {
        return;
    }
    (void)fputs("\nAs simulate takes it (noise synth: the same without --noise):\n", out);
    for (size_t i = 0; i < fit->spec_count; i++) {
        (void)fprintf(out, "  --noise %s%s\n", fit->specs[i].text, i + 1 < fit->spec_count ? " \\" : "");
    }
    iwi_fit_agreement_text(fit, text);
    iwi_write_wrapped(out, text);
}

static void write_note(void *arg, const char *text)
{
    iwi_write_item(arg, text);
}

iw_status iw_fit_write_text(const iw_log *log, const iw_recording *recording, const iw_noise_fit *fit,
                            const char *name, FILE *out)
{
    char verdict[IWI_PARAGRAPH_SIZE] = "";

    iwi_fit_verdict(recording, fit, name, verdict);
    iwi_write_wrapped(out, verdict);
    if (fit->groups[0].durations.count > 0) {
        write_laws(out, &fit->groups[0].durations);
        write_groups(out, recording, fit);
        iwi_write_fit_plot(out, recording, fit);
        (void)fputs("\nHow sure:\n", out);
        iwi_fit_notes(fit, write_note, out);
        write_specs(out, fit);
    }
    return iwi_check_written(log, out, "the fit");
}
