/* The bill of training: what each change saves, what variants are like, how much is absorbed.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/training/training_bill.h"

#include <math.h>

#include "core/base/base.h"
#include "features/tables.h"
#include "features/training/training_words.h"
#include "kit/figure/bar_rows.h"

static const char *interval(struct iwi_document *doc, iw_estimate value)
{
    return iwi_brackets(doc, iwi_training_time(doc, value.low), iwi_training_time(doc, value.high));
}

/* No sign in front of what is printed as nothing. */
static double shown(double value, double least)
{
    return fabs(value) < least ? 0.0 : value;
}

enum { MOST_BARS = 12 };

/* Changes that save something worth a bar, most first; returns how many. */
static uint32_t sort_changes(const iw_training_result *result, const iw_training_change *rows[MOST_BARS])
{
    static const double LEAST = 5e-4;
    uint32_t count = 0;

    for (uint32_t i = 0; i < result->change_count; i++) {
        const iw_training_change *row = &result->changes[i];
        uint32_t at = count;

        while (at > 0 && rows[at - 1]->share < row->share) {
            at--;
        }
        if (row->share < LEAST || at == MOST_BARS) {
            continue;
        }
        count += count < MOST_BARS;
        for (uint32_t k = count - 1; k > at; k--) {
            rows[k] = rows[k - 1];
        }
        rows[at] = row;
    }
    return count;
}

static void show_bars(struct iwi_document *doc, const iw_training_result *result)
{
    const double noiseless_ns = (double)result->noiseless_ps / 1e3;
    const iw_training_change *rows[MOST_BARS];
    const uint32_t count = sort_changes(result, rows);
    struct iwi_figure *figure = NULL;
    struct iwi_mark *bars;
    iw_status made;

    if (count == 0) {
        return;
    }
    made = iwi_figure_new(doc->log, "Largest savings", &figure);
    if (made == IW_OK) {
        bars = iwi_bar_rows_begin(figure, "Share of a step without jitter", IWI_AXIS_SHARE, count);
        for (uint32_t i = 0; i < count; i++) {
            const iw_estimate share = {rows[i]->share, rows[i]->saved_ns.low / noiseless_ns,
                                       rows[i]->saved_ns.high / noiseless_ns};

            iwi_bar_rows_add(figure, bars, rows[i]->what, share, iwi_percent(doc, share.value), false);
        }
        figure->message = iwi_figure_text(
            figure, "Jitter adds %s to a step; lines: 95 %% intervals. Savings do not add up.",
            iwi_percent(doc, result->loss));
    }
    iwi_show_figure(doc, made, figure);
}

static bool is_program(const iw_training_result *result, const iw_training_change *row)
{
    return row->noiseless_ns != (double)result->noiseless_ps / 1e3 || row->bubble != result->bubble;
}

/* Changes of the program: what they do to the step without jitter, and to what jitter costs. */
static void say_programs(struct iwi_document *doc, const iw_training_result *result)
{
    static const struct iwi_column columns[] = {{"program", IWI_WORDS},
                                                {"step without jitter", IWI_NUMBER},
                                                {"GPUs wait", IWI_NUMBER},
                                                {"jitter adds", IWI_NUMBER}};
    bool has_any = false;

    for (uint32_t i = 0; i < result->change_count; i++) {
        const iw_training_change *row = &result->changes[i];

        if (!is_program(result, row)) {
            continue;
        }
        if (!has_any) {
            iwi_section(doc, "programs", "Other programs");
            iwi_table(doc, "", columns, sizeof columns / sizeof columns[0] - (result->has_jitter ? 0 : 1));
            iwi_unfold(doc);
            iwi_row(doc, "as it is", iwi_ps(doc, result->noiseless_ps), iwi_percent(doc, result->bubble),
                    iwi_percent(doc, result->loss));
            has_any = true;
        }
        iwi_row(doc, row->what, iwi_ns(doc, row->noiseless_ns), iwi_percent(doc, row->bubble),
                iwi_percent(doc, row->loss));
    }
}

void iwi_training_say_bill(struct iwi_document *doc, const iw_training_result *result)
{
    static const struct iwi_column columns[] = {{"change", IWI_WORDS},        {"per step", IWI_NUMBER},
                                                {"95 % interval", IWI_WORDS}, {"share", IWI_NUMBER},
                                                {"GPU-hours/h", IWI_NUMBER},  {"per day", IWI_NUMBER}};
    const bool has_price = result->cost_per_hour > 0;

    if (result->change_count == 0) {
        return;
    }
    iwi_section(doc, "bill", "What each change saves");
    if (result->has_jitter) {
        iwi_only(doc, IWI_ON_PAGES | IWI_IN_PLOTS);
        show_bars(doc, result);
        iwi_only(doc, IWI_EVERYWHERE);
    }
    iwi_table(doc, "", columns, sizeof columns / sizeof columns[0] - (has_price ? 0 : 1));
    iwi_unfold(doc);
    for (uint32_t i = 0; i < result->change_count; i++) {
        const iw_training_change *row = &result->changes[i];

        iwi_row(doc, row->what, iwi_training_time(doc, row->saved_ns.value), interval(doc, row->saved_ns),
                iwi_percent(doc, shown(row->share, 5e-5)), iwi_say(doc, "%.1f", shown(row->gpu_hours, 0.05)),
                has_price ? iwi_training_money(doc, shown(row->cost_per_day, 0.5)) : NULL);
    }
    say_programs(doc, result);
}

/* ---- what is absorbed ---- */

static void say_part(struct iwi_document *doc, const char *source, const char *what, iw_estimate part,
                     double longest_ns)
{
    iwi_row(doc, source, what, iwi_training_time(doc, part.value), interval(doc, part),
            longest_ns > 0 ? iwi_percent(doc, part.value / longest_ns) : "-");
}

static const char *ahead_words(iw_training_where where)
{
    return where == IW_TRAINING_LOADER ? "batches were ahead" : "host was ahead";
}

void iwi_training_say_absorbed(struct iwi_document *doc, const iw_training_result *result)
{
    if (result->absorption_count == 0) {
        return;
    }
    iwi_section(doc, "absorbed", "What is absorbed in a step");
    IWI_TABLE(doc, "", {"source", IWI_WORDS}, {"", IWI_WORDS}, {"time", IWI_NUMBER},
              {"95 % interval", IWI_WORDS}, {"share", IWI_NUMBER});
    iwi_unfold(doc);
    for (uint32_t i = 0; i < result->absorption_count; i++) {
        const iw_training_absorption *row = &result->absorption[i];
        const iw_training_where where =
            i < result->source_count ? result->sources[i].where : IW_TRAINING_DEVICE;
        const double longest_ns = row->longest_ns.value;

        iwi_row(doc, row->source, "taken from a rank, mean", iwi_training_time(doc, row->taken_ns), "", "");
        say_part(doc, "", "from the rank hit hardest", row->longest_ns, longest_ns);
        if (where == IW_TRAINING_HOST || where == IW_TRAINING_LOADER) {
            say_part(doc, "", ahead_words(where), row->ahead_ns, longest_ns);
        }
        say_part(doc, "", where == IW_TRAINING_NETWORK ? "held up no collective" : "GPUs waited anyway",
                 row->slack_ns, longest_ns);
        say_part(doc, "", "lengthens the step", row->reaches_ns, longest_ns);
    }
}
