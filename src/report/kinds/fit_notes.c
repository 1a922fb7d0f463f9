/* How sure a fit is, in words.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include "base/base.h"
#include "report/kinds/fit_report.h"

/* From so many detours on, chance is no measure any more. */
enum { MANY = 10000 };

/* Less overlap is not worth a word. */
static const double LEAST_OVERLAP = 0.01;

static void append_tail_verdict(char *text, double expected)
{
    if (expected < 0.05) {
        iwi_append(text, ": too light there, many ranks would suffer more than it says.");
    } else if (expected > 20.0) {
        iwi_append(text, ": too heavy there, many ranks would suffer less than it says.");
    } else {
        iwi_append(text, ".");
    }
}

static void note_tail(const iw_noise_fit *fit, iwi_warning_fn note, void *arg)
{
    const iw_durations *d = &fit->groups[0].durations;
    const double by_specs = (double)d->count * iw_noise_fit_above(fit, d->longest_ns - 0.5);
    char text[IWI_PARAGRAPH_SIZE] = "", recorded[IWI_NUMBER_SIZE], fitted[IWI_NUMBER_SIZE];

    if (!d->is_fitted || d->best == IW_FIT_FIXED) {
        return;
    }
    iwi_append(text, "Tail:");
    if (d->tail_share > 0.0) {
        iwi_append(text, " %.3g %% of the detours last %s or more, by the %s law %s.", 100.0 * d->tail_share,
                   iwi_ns_short_text(d->tail_recorded_ns, recorded), iw_fit_law_name(d->best),
                   iwi_ns_short_text(d->tail_fitted_ns, fitted));
    }
    iwi_append(text, " As long as the longest, %s, should be %.2g detours",
               iwi_ns_short_text(d->longest_ns, recorded), d->expected_as_long);
    if (iwi_fit_has_mixture(fit)) {
        iwi_append(text, " by it, and %.2g by the specs together", by_specs);
    }
    append_tail_verdict(text, iwi_fit_has_mixture(fit) ? by_specs : d->expected_as_long);
    note(arg, text);
}

static void note_threshold(const iw_noise_fit *fit, iwi_warning_fn note, void *arg)
{
    char text[IWI_PARAGRAPH_SIZE] = "", number[IWI_NUMBER_SIZE];
    double least_seen = 1.0;

    for (size_t i = 0; i < fit->spec_count; i++) {
        least_seen = fmin(least_seen, fit->specs[i].seen);
    }
    if (fit->threshold_ns <= 0.0) {
        return;
    }
    iwi_append(text, "Shorter than %s was not recorded: laws are fitted to what is above.",
               iwi_ns_round_text(fit->threshold_ns, number));
    if (least_seen < 0.95) {
        iwi_append(text, " Specs have up to %.0f %% of their detours below: inferred, never seen.",
                   100.0 * (1.0 - least_seen));
    }
    note(arg, text);
}

static void note_limits(const iw_noise_fit *fit, iwi_warning_fn note, void *arg)
{
    for (size_t i = 0; i < fit->spec_count; i++) {
        const iw_fit_spec *spec = &fit->specs[i];
        char text[IWI_PARAGRAPH_SIZE] = "";

        if (isinf(spec->share)) {
            iwi_append(text, "'%s' has no mean (A <= 1): the time it takes grows with the length of a run.",
                       spec->text);
            note(arg, text);
        } else if (spec->seen < 0.0501) {
            iwi_append(text,
                       "'%s' stands at a limit: laws with less than 5 %% above the threshold are not tried, "
                       "though they would fit better.",
                       spec->text);
            note(arg, text);
        }
    }
}

/* Periodic specs have one length. */
static void note_beats(const iw_noise_fit *fit, iwi_warning_fn note, void *arg)
{
    for (size_t i = 0; i < fit->spec_count; i++) {
        const iw_fit_group *group = &fit->groups[fit->specs[i].group];
        const iw_durations *d = group->has_parts ? &group->beats : &group->durations;
        char text[IWI_PARAGRAPH_SIZE] = "", longest[IWI_NUMBER_SIZE];

        if (!fit->specs[i].is_periodic) {
            continue;
        }
        if (group->arrivals.missing > 0.02) {
            iwi_append(text, "; %.0f %% of the beats are missing, so its rate is lower",
                       100.0 * group->arrivals.missing);
        }
        if (d->longest_ns > 2.0 * fit->specs[i].scale_ns) {
            iwi_append(text, "; it gives each beat the mean length, they last up to %s",
                       iwi_ns_short_text(d->longest_ns, longest));
        }
        if (text[0] != '\0') {
            char sentence[IWI_PARAGRAPH_SIZE] = "";

            iwi_append(sentence, "'%s': %s.", fit->specs[i].text, &text[2]);
            note(arg, sentence);
        }
    }
}

static void note_overlap(const iw_noise_fit *fit, iwi_warning_fn note, void *arg)
{
    for (size_t i = 0; i < fit->spec_count; i++) {
        const iw_fit_spec *spec = &fit->specs[i];
        char text[IWI_PARAGRAPH_SIZE] = "";

        if (spec->overlapping < LEAST_OVERLAP) {
            continue;
        }
        iwi_append(text,
                   "'%s': %.2g %% of these detours begin within another one, and are recorded as one "
                   "with it. The spec has single detours, so its rate is higher than the recorded one",
                   spec->text, 100.0 * spec->overlapping);
        iwi_append(text, spec->is_by_mean ? ". Only rate and mean follow from the recording: with so much "
                                            "overlap the form of the law is uncertain."
                                          : " and they are shorter.");
        note(arg, text);
    }
}

static void note_losses(const iw_noise_fit *fit, iwi_warning_fn note, void *arg)
{
    char text[IWI_PARAGRAPH_SIZE] = "", number[IWI_NUMBER_SIZE];

    if (fit->dropped > 0) {
        iwi_append(text, "The recording dropped %s detours: rates are too low.",
                   iwi_count_text(fit->dropped, number));
        note(arg, text);
        text[0] = '\0';
    }
    if (fit->left_out_share > 0.0) {
        iwi_append(text, "Simulations take %d specs: the smallest, %s of the time, are left out.",
                   IW_NOISE_MAX_SOURCES, iwi_share_text(fit->left_out_share, number));
        note(arg, text);
    }
}

static void note_choice(const iw_noise_fit *fit, iwi_warning_fn note, void *arg)
{
    const iw_durations *d = &fit->groups[0].durations;
    char text[IWI_PARAGRAPH_SIZE] = "";

    iwi_append(text,
               "The best law has the lowest BIC: the question is which law it is, so further parameters must "
               "pay. p: share of %zu samples of the law, fitted again, that are as far (KS) from their fit; "
               "it takes detours as independent, bursts make it too small.",
               fit->opts.replicates);
    note(arg, text);
    if (d->count >= MANY) {
        text[0] = '\0';
        iwi_append(text,
                   "With so many detours even a distance of %.3f is beyond chance, and no law is exact: look "
                   "at the distance, the largest error of the share of longer detours, and at the tail.",
                   1.0 / sqrt((double)d->count));
        note(arg, text);
    }
}

void iwi_fit_notes(const iw_noise_fit *fit, iwi_warning_fn note, void *arg)
{
    const iw_durations *d = &fit->groups[0].durations;

    if (d->best == IW_FIT_FIXED && d->is_fitted) {
        note(
            arg,
            "Lengths count as fixed where 95 of 100 are the same up to 1 %; no other law can describe that.");
    } else if (d->is_fitted) {
        note_tail(fit, note, arg);
        note_choice(fit, note, arg);
    }
    note_threshold(fit, note, arg);
    note_limits(fit, note, arg);
    note_beats(fit, note, arg);
    note_overlap(fit, note, arg);
    note_losses(fit, note, arg);
}
