/* Self-checks for people: the verdict, the table, how sure.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/internal/fidelity.h>

#include <inttypes.h>
#include <math.h>

#include "base/base.h"
#include "report/kinds/noise_report.h"

enum { NAME_COLUMNS = 40 };

/* ---- the verdict ---- */

static double relative(double observed, double expected)
{
    return expected > 0.0 ? observed / expected - 1.0 : NAN;
}

static const char *signed_percent(double share, char buf[IWI_NUMBER_SIZE])
{
    if (isfinite(share)) {
        snprintf(buf, IWI_NUMBER_SIZE, "%+.2f %%", 100.0 * share);
    } else {
        snprintf(buf, IWI_NUMBER_SIZE, "-");
    }
    return buf;
}

/* The quantile that is off most, of those that count: over the share, and over the time. */
static double worst_quantile(const iw_fidelity *f, size_t *index_p)
{
    double worst = -1.0;

    for (size_t q = 0; q < IW_FIDELITY_QUANTILES; q++) {
        const double error_ns = fabs(f->quantile_observed_ns[q] - f->quantile_expected_ns[q]);
        const double of_share = error_ns / (IW_FIDELITY_QUANTILE * f->quantile_expected_ns[q]);
        const double of_time = error_ns * f->time_scale / IW_FIDELITY_QUANTILE_NS;

        if (fmin(of_share, of_time) > worst) {
            worst = fmin(of_share, of_time);
            *index_p = q;
        }
    }
    return worst;
}

static void append_quantile(char *paragraph, const iw_fidelity *f)
{
    char expected[IWI_NUMBER_SIZE], observed[IWI_NUMBER_SIZE];
    size_t q = 0;

    if (worst_quantile(f, &q) < 0.0) {
        iwi_append(paragraph, "no durations to compare");
        return;
    }
    iwi_append(paragraph, "the p%.0f of durations, which is off most, %s for %s",
               100.0 * iw_fidelity_quantile(q), iwi_ns_short_text(f->quantile_observed_ns[q], observed),
               iwi_ns_short_text(f->quantile_expected_ns[q], expected));
}

static void write_doubt(FILE *out, const iw_fidelity_report *report)
{
    const iw_fidelity *f = &report->fidelity;
    char paragraph[IWI_PARAGRAPH_SIZE] = "", name[IWI_NAME_SIZE], hidden[IWI_NUMBER_SIZE],
         all[IWI_NUMBER_SIZE];

    iwi_append(paragraph, "Cannot tell whether %s of %s is what was asked for: ", report->back_end,
               iwi_plain_name(report->noise, NAME_COLUMNS, name));
    if (f->is_hidden) {
        iwi_append(paragraph, "the host had the CPU for itself when %s of %s detours were to be made. ",
                   iwi_count_text(f->hidden_count, hidden), iwi_count_text(f->all_count, all));
    } else {
        iwi_append(paragraph, "the host takes so much of the CPU, and now more, now less, that what differs "
                              "may be its doing. ");
    }
    iwi_append(paragraph, "Try again when less runs here.");
    iwi_write_wrapped(out, paragraph);
}

static void write_verdict(FILE *out, const iw_fidelity_report *report)
{
    const iw_fidelity *f = &report->fidelity;
    char paragraph[IWI_PARAGRAPH_SIZE] = "", number[IWI_NUMBER_SIZE], name[IWI_NAME_SIZE];

    if (!iw_fidelity_can_tell(f)) {
        write_doubt(out, report);
        return;
    }
    iwi_append(paragraph, "%s of %s is %swhat was asked for: ", report->back_end,
               iwi_plain_name(report->noise, NAME_COLUMNS, name), iw_fidelity_is_right(f) ? "" : "not ");
    iwi_append(paragraph, "noise power %s%s, ",
               signed_percent(relative(f->power_observed, f->power_expected), number),
               f->is_power_right ? "" : " (over 5 %)");
    iwi_append(paragraph, "%" PRIu64 " of %" PRIu64 " detours seen%s, ", f->matched_count, f->planned_count,
               f->is_count_right ? "" : " (under 99 %)");
    append_quantile(paragraph, f);
    iwi_append(paragraph, "%s", f->are_quantiles_right ? "" : " (over 10 % and 3 us)");
    iwi_append(paragraph, "%s.",
               f->is_own_right ? ""
                               : "; beside it there are more detours, or longer ones, than the host's own");
    iwi_write_wrapped(out, paragraph);
}

/* ---- the table ---- */

static void write_row(FILE *out, const char *label, const char *expected, const char *observed,
                      double difference)
{
    char number[IWI_NUMBER_SIZE];

    (void)fprintf(out, "%-20s %10s %10s %10s\n", label, expected, observed,
                  signed_percent(difference, number));
}

static void write_quantiles(FILE *out, const iw_fidelity *f)
{
    char label[IWI_NUMBER_SIZE], expected[IWI_NUMBER_SIZE], observed[IWI_NUMBER_SIZE];

    for (size_t q = 0; q < IW_FIDELITY_QUANTILES; q++) {
        if (isfinite(f->quantile_observed_ns[q])) {
            snprintf(label, sizeof label, "duration p%.0f", 100.0 * iw_fidelity_quantile(q));
            write_row(out, label, iwi_ns_short_text(f->quantile_expected_ns[q], expected),
                      iwi_ns_short_text(f->quantile_observed_ns[q], observed),
                      relative(f->quantile_observed_ns[q], f->quantile_expected_ns[q]));
        }
    }
}

static void write_distances(FILE *out, const iw_fidelity_report *report)
{
    const iw_fidelity *f = &report->fidelity;
    char number[IWI_NUMBER_SIZE];

    if (isfinite(f->ks)) {
        (void)fprintf(out, "%-20s %32.4f\n", "KS distance", f->ks);
        (void)fprintf(out, "%-20s %32s\n", "Wasserstein distance",
                      iwi_ns_short_text(f->wasserstein_ns, number));
    }
    if (isfinite(f->kl)) {
        (void)fprintf(out, "%-20s %32.5f\n", "KL divergence", f->kl);
    }
    if (report->has_naive && isfinite(iw_fidelity_kl_ratio(report))) {
        (void)fprintf(out, "%-20s %32.5f  %.1f times as much\n", "  not compensated", report->naive.kl,
                      iw_fidelity_kl_ratio(report));
    } else if (report->has_naive && isfinite(report->naive.kl)) {
        (void)fprintf(out, "%-20s %32.5f  the host hid too much\n", "  not compensated", report->naive.kl);
    } else if (report->has_naive) {
        (void)fprintf(out, "%-20s %32s  nothing was seen\n", "  not compensated", "-");
    }
}

static void write_table(FILE *out, const iw_fidelity_report *report)
{
    const iw_fidelity *f = &report->fidelity;
    char expected[IWI_NUMBER_SIZE], observed[IWI_NUMBER_SIZE];

    (void)fprintf(out, "\n%-20s %10s %10s %10s\n", "", "asked for", "seen", "");
    write_row(out, "noise power", iwi_share_text(f->power_expected, expected),
              iwi_share_text(f->power_observed, observed), relative(f->power_observed, f->power_expected));
    write_row(out, "detours", iwi_count_text(f->planned_count, expected),
              iwi_count_text(f->matched_count, observed),
              relative((double)f->matched_count, (double)f->planned_count));
    write_quantiles(out, f);
    write_distances(out, report);
}

/* ---- how sure ---- */

static void write_host(FILE *out, const iw_fidelity *f)
{
    char text[IWI_PARAGRAPH_SIZE] = "", a[IWI_NUMBER_SIZE], b[IWI_NUMBER_SIZE];

    iwi_append(text, "The host's own noise: %s of the time without injection (%s), ",
               iwi_share_text(f->host_share, a), iwi_rate_text(f->host_rate_hz, b));
    iwi_append(text, "%s meanwhile (%s): detours that nothing was made for. ",
               iwi_share_text(f->own_share, a), iwi_rate_text(f->own_rate_hz, b));
    iwi_append(text, "By the host's recording alone, without matching, noise power would be %s.",
               iwi_share_text(f->power_by_host, a));
    iwi_write_item(out, text);
    if (f->hidden_count > 0) {
        text[0] = '\0';
        iwi_append(text,
                   "%s of %s detours came while the host had the CPU for far longer; they are left out. ",
                   iwi_count_text(f->hidden_count, a), iwi_count_text(f->all_count, b));
        iwi_append(text, "By the host's recording it would be about %.0f.", f->hidden_by_host);
        iwi_write_item(out, text);
    }
    if (f->excess_count > 0) {
        text[0] = '\0';
        iwi_append(text,
                   "%s more came in far longer ones than the host explains: not seen as they should be.",
                   iwi_count_text(f->excess_count, a));
        iwi_write_item(out, text);
    }
}

static void write_costs(FILE *out, const iw_fidelity_report *report)
{
    const iw_inject_costs *costs = &report->costs;
    char text[IWI_PARAGRAPH_SIZE] = "", a[IWI_NUMBER_SIZE], b[IWI_NUMBER_SIZE], c[IWI_NUMBER_SIZE];

    iwi_append(text, "Floor %s, overhead %s, ", iwi_ns_short_text(costs->floor_ns, a),
               iwi_ns_short_text(costs->overhead_ns, b));
    iwi_append(text, "deadline error %s, 1 of 100 above %s", iwi_ns_short_text(costs->late_p50_ns, a),
               iwi_ns_short_text(costs->late_p99_ns, b));
    if (isfinite(report->fidelity.late_spread_ns)) {
        iwi_append(text, "; starts as seen: the 99th percentile is %s behind the median",
                   iwi_ns_short_text(report->fidelity.late_spread_ns, c));
    }
    iwi_append(text, ".");
    iwi_write_item(out, text);
}

static void write_trace(FILE *out, const iw_fidelity_report *report)
{
    const iw_inject_facts *facts = &report->facts;
    const iw_fidelity *f = &report->fidelity;
    char text[IWI_PARAGRAPH_SIZE] = "", number[IWI_NUMBER_SIZE];

    iwi_append(text,
               "Of the trace %.1f %% of the detours and %.1f %% of the noise time can be made as recorded",
               100.0 * (double)facts->as_recorded_count / fmax((double)facts->event_count, 1.0),
               100.0 * facts->as_recorded_ns / fmax(facts->noise_ns, 1.0));
    iwi_append(text, "; the rest is merged, which keeps its power. Durations are compared for %s of them",
               iwi_count_text(f->compared_count, number));
    if (f->time_scale > 1.0) {
        iwi_append(text, ", in the trace's time: as seen, over %g", f->time_scale);
    }
    iwi_append(text, ". %s made", iwi_count_text(report->counts.made_count, number));
    iwi_append(text, ", %s skipped; ", iwi_count_text(report->counts.skipped_count, number));
    iwi_append(text, "%s seen as one with their neighbour.", iwi_count_text(f->merged_count, number));
    iwi_write_item(out, text);
}

iw_status iw_fidelity_write_text(const iw_log *log, const iw_fidelity_report *report, FILE *out)
{
    write_verdict(out, report);
    write_table(out, report);
    (void)fputs("\nHow sure:\n", out);
    write_host(out, &report->fidelity);
    write_costs(out, report);
    write_trace(out, report);
    return iwi_check_written(log, out, "the self-check");
}
