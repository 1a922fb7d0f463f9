/* Self-checks of injected noise.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include <idlewave/internal/fidelity.h>

#include "core/base/base.h"
#include "features/tables.h"
#include "kit/text/words.h"

enum { NAME_COLUMNS = 40 };

/* ---- the table ---- */

static const struct iwi_field power_fields[] = {
    IWI_VALUE_AS(iw_fidelity, power_expected, "expected", .about = "share of the time, as the next ones"),
    IWI_VALUE_AS(iw_fidelity, power_observed, "observed", .about = "by the probe"),
    IWI_VALUE_AS(iw_fidelity, power_by_host, "by_host",
                 .about = "from the host's recording alone, without matching"),
    IWI_VALUE_AS(iw_fidelity, is_power_right, "right"),
};
static const struct iwi_schema power_schema = IWI_SCHEMA(iw_fidelity, power_fields);

static const struct iwi_field count_fields[] = {
    IWI_VALUE_AS(iw_fidelity, all_count, "planned"),
    IWI_VALUE_AS(iw_fidelity, hidden_count, "hidden", .about = "left out of `expected`"),
    IWI_VALUE(iw_fidelity, hidden_by_host, .about = "as explained by the host's recording"),
    IWI_VALUE_AS(iw_fidelity, planned_count, "expected", .about = "planned without `hidden`"),
    IWI_VALUE_AS(iw_fidelity, matched_count, "observed", .about = "of those expected"),
    IWI_VALUE_AS(iw_fidelity, merged_count, "merged", .about = "of the observed, merged with the one before"),
    IWI_VALUE_AS(iw_fidelity, excess_count, "excess",
                 .about = "not among the observed: in far longer ones, more than the host explains"),
    IWI_VALUE_AS(iw_fidelity, own_count, "own", .about = "that were not injected"),
    IWI_VALUE_AS(iw_fidelity, observed_count, "all", .about = "that was seen"),
    IWI_VALUE_AS(iw_fidelity, is_count_right, "right"),
};
static const struct iwi_schema count_schema = IWI_SCHEMA(iw_fidelity, count_fields);

static const struct iwi_field duration_fields[] = {
    IWI_VALUE_AS(iw_fidelity, compared_count, "compared", .about = "detours; times are those of the trace"),
    IWI_VALUE_ARRAY(iw_fidelity, quantile_expected_ns, .about = "p10, p25, p50, p75, p90, p99"),
    IWI_VALUE_ARRAY(iw_fidelity, quantile_observed_ns),
    IWI_VALUE(iw_fidelity, ks, .about = "largest distance of the two distribution functions"),
    IWI_VALUE(iw_fidelity, wasserstein_ns),
    IWI_VALUE(iw_fidelity, kl, .about = "in nats"),
    IWI_VALUE_AS(iw_fidelity, are_quantiles_right, "right"),
};
static const struct iwi_schema durations_schema = IWI_SCHEMA(iw_fidelity, duration_fields);

static const struct iwi_field host_fields[] = {
    IWI_VALUE_AS(iw_fidelity, host_share, "share", .about = "of noise without injection"),
    IWI_VALUE_AS(iw_fidelity, host_rate_hz, "rate_hz"),
    IWI_VALUE_AS(iw_fidelity, own_share, "share_meanwhile", .about = "that was not injected"),
    IWI_VALUE_AS(iw_fidelity, own_rate_hz, "rate_meanwhile_hz"),
    IWI_VALUE_AS(iw_fidelity, is_own_right, "right",
                 .about = "that does not exceed its noise without injection"),
};
static const struct iwi_schema host_schema = IWI_SCHEMA(iw_fidelity, host_fields);

static bool is_right(const void *object)
{
    return iw_fidelity_is_right(object);
}

static bool can_tell(const void *object)
{
    return iw_fidelity_can_tell(object);
}

static const struct iwi_field fidelity_fields[] = {
    IWI_BOOL_OF("right", is_right, .about = "all as requested; the exit code is 0 if so, 2 if not"),
    IWI_BOOL_OF("can_tell", can_tell,
                .about = "false: the host used too much of the CPU; `right` is false then"),
    IWI_VALUE(iw_fidelity, is_hidden, .about = "it used the CPU when most detours were due"),
    IWI_VALUE(iw_fidelity, is_drowned, .about = "its own noise may cause the difference"),
    IWI_VALUE(iw_fidelity, time_scale, .about = "as requested"),
    IWI_VALUE(iw_fidelity, watched_ns, .about = "less that of detours hidden by the host"),
    IWI_GROUP(iw_fidelity, "power", power_schema, .about = "noise power"),
    IWI_GROUP(iw_fidelity, "count", count_schema),
    IWI_GROUP(iw_fidelity, "durations", durations_schema),
    IWI_GROUP(iw_fidelity, "host", host_schema, .about = "noise of it"),
    IWI_VALUE(iw_fidelity, late_spread_ns,
              .about = "from the median to the 99th percentile of the starts' error, as made"),
};
static const struct iwi_schema fidelity_schema = IWI_SCHEMA(iw_fidelity, fidelity_fields);

static const struct iwi_field cost_fields[] = {
    IWI_VALUE(iw_inject_costs, floor_ns, .about = "the shortest detour"),
    IWI_VALUE(iw_inject_costs, overhead_ns),
    IWI_VALUE(iw_inject_costs, late_share, .about = "share of its lateness that a thread makes up for"),
    IWI_VALUE(iw_inject_costs, late_p50_ns, .about = "deadline error"),
    IWI_VALUE(iw_inject_costs, late_p99_ns, .about = "deadline error"),
    IWI_VALUE(iw_inject_costs, gap_ns, .about = "least time between two"),
};
static const struct iwi_schema costs_schema = IWI_SCHEMA(iw_inject_costs, cost_fields);

static const struct iwi_field trace_fields[] = {
    IWI_VALUE_AS(iw_inject_facts, event_count, "events"),
    IWI_VALUE_AS(iw_inject_facts, as_recorded_count, "as_recorded",
                 .about = "of the events, injected at their place for their time"),
    IWI_VALUE_AS(iw_inject_facts, made_count, "made", .about = "planned"),
    IWI_VALUE(iw_inject_facts, noise_ns),
    IWI_VALUE(iw_inject_facts, as_recorded_ns),
    IWI_VALUE(iw_inject_facts, made_ns),
    IWI_VALUE(iw_inject_facts, length_ns),
};
static const struct iwi_schema trace_schema = IWI_SCHEMA(iw_inject_facts, trace_fields);

static const struct iwi_field injected_fields[] = {
    IWI_VALUE_AS(iw_inject_counts, made_count, "made"),
    IWI_VALUE_AS(iw_inject_counts, skipped_count, "skipped"),
    IWI_VALUE(iw_inject_counts, made_ns),
    IWI_VALUE(iw_inject_counts, skipped_ns),
    IWI_VALUE(iw_inject_counts, late_max_ns),
};
static const struct iwi_schema injected_schema = IWI_SCHEMA(iw_inject_counts, injected_fields);

static double kl_ratio(const void *object)
{
    return iw_fidelity_kl_ratio(object);
}

IWI_OF(bool, has_naive, iw_fidelity_report, it->has_naive)

static const struct iwi_field report_fields[] = {
    IWI_VALUE(iw_fidelity_report, noise, .about = "name of the file, or all SPECs joined by ` + `"),
    IWI_VALUE(iw_fidelity_report, back_end),
    IWI_OBJECT(iw_fidelity_report, costs, costs_schema, .about = "of a detour here"),
    IWI_OBJECT_AS(iw_fidelity_report, facts, "trace", trace_schema, .about = "after scaling"),
    IWI_OBJECT_AS(iw_fidelity_report, counts, "injected", injected_schema,
                  .about = "as the injector reports"),
    IWI_OBJECT(iw_fidelity_report, fidelity, fidelity_schema, .about = "as the probe reports"),
    IWI_REAL_OF("kl_ratio", kl_ratio,
                .about = "`durations.kl` of `naive` over that of `fidelity`; null if too few detours were "
                         "matched in one of them"),
    IWI_VALUE(iw_fidelity_report, has_naive),
    IWI_OBJECT(iw_fidelity_report, naive, fidelity_schema, .is_there = has_naive,
               .about = "with `--naive`: without time scale, nothing subtracted, nothing merged"),
};
static const struct iwi_schema report_schema = IWI_SCHEMA(iw_fidelity_report, report_fields);

/* ---- words ---- */

static double relative(double observed, double expected)
{
    return expected > 0.0 ? observed / expected - 1.0 : NAN;
}

static const char *signed_percent(struct iwi_document *doc, double share)
{
    return isfinite(share) ? iwi_doc_printf(doc, "%+.2f %%", 100.0 * share) : "-";
}

/* The quantile that is off most, of those that count: over the share, and over the time. */
static bool find_worst_quantile(const iw_fidelity *f, size_t *index_p)
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
    return worst >= 0.0;
}

/* ---- the document ---- */

static void say_doubt(struct iwi_document *doc, const iw_fidelity_report *report, const char *name)
{
    const iw_fidelity *f = &report->fidelity;

    iwi_verdict(doc, "Whether %s can inject %s as requested is unknown: ", report->back_end, name);
    if (f->is_hidden) {
        iwi_doc_append(doc, "the host used the CPU when %s of %s detours were due. ",
                       iwi_count(doc, f->hidden_count), iwi_count(doc, f->all_count));
    } else {
        iwi_doc_append(doc,
                       "the host's own noise is so large and variable that it may cause the differences. ");
    }
    iwi_doc_append(doc, "Try again when less is running.");
}

static void say_verdict(struct iwi_document *doc, const iw_fidelity_report *report)
{
    const iw_fidelity *f = &report->fidelity;
    char buf[IWI_NAME_SIZE];
    const char *name = iwi_plain_name(report->noise, NAME_COLUMNS, buf);
    size_t q = 0;

    if (!iw_fidelity_can_tell(f)) {
        say_doubt(doc, report, name);
        return;
    }
    iwi_verdict(doc, "%s %s %s as requested: noise power %s%s, ", report->back_end,
                iw_fidelity_is_right(f) ? "injects" : "does not inject", name,
                signed_percent(doc, relative(f->power_observed, f->power_expected)),
                f->is_power_right ? "" : " (over 5 %)");
    iwi_doc_append(doc, "%" PRIu64 " of %" PRIu64 " detours seen%s, ", f->matched_count, f->planned_count,
                   f->is_count_right ? "" : " (under 99 %)");
    if (find_worst_quantile(f, &q)) {
        iwi_doc_append(doc, "worst quantile of durations (p%.0f) %s instead of %s",
                       100.0 * iw_fidelity_quantile(q), iwi_ns_short(doc, f->quantile_observed_ns[q]),
                       iwi_ns_short(doc, f->quantile_expected_ns[q]));
    } else {
        iwi_doc_append(doc, "no durations to compare");
    }
    iwi_doc_append(doc, "%s%s.", f->are_quantiles_right ? "" : " (over 10 % and 3 us)",
                   f->is_own_right ? "" : "; there are also more or longer detours than the host's own");
}

static void show_quantiles(struct iwi_document *doc, const iw_fidelity *f)
{
    struct iwi_figure *figure = NULL;
    const iw_status made = iwi_figure_new(doc->log, "Durations of detours", &figure);
    struct iwi_mark *asked, *seen;

    if (made == IW_OK) {
        figure->message = "Quantiles of the requested and the seen durations, in the trace's time.";
        figure->x = (struct iwi_figure_axis){
            .label = "Share that is shorter", .unit = IWI_AXIS_SHARE, .low = 0.0, .high = 1.0};
        figure->y = (struct iwi_figure_axis){.label = "Duration", .unit = IWI_AXIS_NS, .is_log = true};
        asked = iwi_figure_mark(figure, IWI_MARK_LINE, iwi_series_ink(0), "requested");
        seen = iwi_figure_mark(figure, IWI_MARK_DOTS, IWI_INK_NOISE, "seen");
        for (size_t q = 0; q < IW_FIDELITY_QUANTILES; q++) {
            const double share = iw_fidelity_quantile(q);

            if (f->quantile_expected_ns[q] > 0.0 && f->quantile_observed_ns[q] > 0.0) {
                iwi_mark_add(figure, asked, (double[]){share, f->quantile_expected_ns[q]});
                iwi_mark_add(figure, seen, (double[]){share, f->quantile_observed_ns[q]});
            }
        }
        if (asked->count == 0) {
            iwi_figure_free(figure);
            figure = NULL;
        }
    }
    iwi_show_figure(doc, made, figure);
}

static void say_naive(struct iwi_document *doc, const iw_fidelity_report *report)
{
    const double kl = report->naive.kl, ratio = iw_fidelity_kl_ratio(report);

    if (report->has_naive) {
        iwi_row(doc, "  not compensated", "", isfinite(kl) ? iwi_doc_printf(doc, "%.5f", kl) : "-",
                isfinite(ratio) ? iwi_doc_printf(doc, "%.1fx as much", ratio)
                : isfinite(kl)  ? "the host hid too much"
                                : "nothing was seen");
    }
}

static void say_numbers(struct iwi_document *doc, const iw_fidelity_report *report)
{
    const iw_fidelity *f = &report->fidelity;

    IWI_TABLE(doc, "", {"", IWI_WORDS}, {"requested", IWI_NUMBER}, {"seen", IWI_NUMBER},
              {"difference", IWI_NUMBER});
    iwi_unfold(doc);
    iwi_row(doc, "noise power", iwi_percent_short(doc, f->power_expected),
            iwi_percent_short(doc, f->power_observed),
            signed_percent(doc, relative(f->power_observed, f->power_expected)));
    iwi_row(doc, "detours", iwi_count(doc, f->planned_count), iwi_count(doc, f->matched_count),
            signed_percent(doc, relative((double)f->matched_count, (double)f->planned_count)));
    for (size_t q = 0; q < IW_FIDELITY_QUANTILES; q++) {
        if (isfinite(f->quantile_observed_ns[q])) {
            iwi_row(doc, iwi_doc_printf(doc, "duration p%.0f", 100.0 * iw_fidelity_quantile(q)),
                    iwi_ns_short(doc, f->quantile_expected_ns[q]),
                    iwi_ns_short(doc, f->quantile_observed_ns[q]),
                    signed_percent(doc, relative(f->quantile_observed_ns[q], f->quantile_expected_ns[q])));
        }
    }
    if (isfinite(f->ks)) {
        iwi_row(doc, "KS distance", "", iwi_doc_printf(doc, "%.4f", f->ks), "");
        iwi_row(doc, "Wasserstein distance", "", iwi_ns_short(doc, f->wasserstein_ns), "");
    }
    if (isfinite(f->kl)) {
        iwi_row(doc, "KL divergence", "", iwi_doc_printf(doc, "%.5f", f->kl), "");
    }
    say_naive(doc, report);
}

static void say_host(struct iwi_document *doc, const iw_fidelity *f)
{
    iwi_item(
        doc,
        "The host's own noise took %s of the time without injection (%s). During injection, other detours "
        "took %s (%s). By the host's recording alone, without matching, noise power would be %s.",
        iwi_percent_short(doc, f->host_share), iwi_rate(doc, f->host_rate_hz),
        iwi_percent_short(doc, f->own_share), iwi_rate(doc, f->own_rate_hz),
        iwi_percent_short(doc, f->power_by_host));
    if (f->hidden_count > 0) {
        iwi_item(doc,
                 "%s of %s detours came while the host used the CPU for far longer, and are left out. The "
                 "host's recording predicts about %.0f.",
                 iwi_count(doc, f->hidden_count), iwi_count(doc, f->all_count), f->hidden_by_host);
    }
    if (f->excess_count > 0) {
        iwi_item(doc,
                 "%s more came during longer detours than the host explains, so they were not seen as they "
                 "should be.",
                 iwi_count(doc, f->excess_count));
    }
}

static void say_injection(struct iwi_document *doc, const iw_fidelity_report *report)
{
    const iw_inject_costs *costs = &report->costs;
    const iw_inject_facts *facts = &report->facts;
    const iw_fidelity *f = &report->fidelity;

    iwi_item(doc, "Floor %s, overhead %s, deadline error %s, 1 of 100 above %s",
             iwi_ns_short(doc, costs->floor_ns), iwi_ns_short(doc, costs->overhead_ns),
             iwi_ns_short(doc, costs->late_p50_ns), iwi_ns_short(doc, costs->late_p99_ns));
    if (isfinite(f->late_spread_ns)) {
        iwi_doc_append(doc, "; of the starts, the 99th percentile is seen %s after the median",
                       iwi_ns_short(doc, f->late_spread_ns));
    }
    iwi_doc_append(doc, ".");
    iwi_item(doc,
             "%.1f %% of the trace's detours and %.1f %% of its noise time can be injected as recorded; the "
             "rest is merged, which keeps its power. Durations of %s detours are compared",
             100.0 * (double)facts->as_recorded_count / fmax((double)facts->event_count, 1.0),
             100.0 * facts->as_recorded_ns / fmax(facts->noise_ns, 1.0), iwi_count(doc, f->compared_count));
    if (f->time_scale > 1.0) {
        iwi_doc_append(doc, ", in the trace's time (seen durations over %g)", f->time_scale);
    }
    iwi_doc_append(doc, ". %s injected, %s skipped; %s seen merged with a neighbour.",
                   iwi_count(doc, report->counts.made_count), iwi_count(doc, report->counts.skipped_count),
                   iwi_count(doc, f->merged_count));
}

static void write_doc(struct iwi_document *doc, const void *subject)
{
    const iw_fidelity_report *report = subject;

    iwi_title(doc, "Is noise injected as requested?");
    iwi_subtitle(doc, "%s, injected by %s", report->noise, report->back_end);
    say_verdict(doc, report);
    iwi_only_in(doc, IWI_ON_PAGES | IWI_IN_PLOTS);
    show_quantiles(doc, &report->fidelity);
    iwi_only_in(doc, IWI_EVERYWHERE);
    say_numbers(doc, report);
    iwi_section(doc, "certainty", "How sure");
    say_host(doc, &report->fidelity);
    say_injection(doc, report);
}

const struct iwi_kind iwi_fidelity_kind = {
    .name = "fidelity",
    .schema_id = "idlewave.fidelity/2",
    .about = "Whether noise was injected as requested, from `idlewave replay --self-check --format json`",
    .schema = &report_schema,
    .write_doc = write_doc,
};

IWI_DOC(iw_fidelity_doc, iw_fidelity_report, report, iwi_fidelity_kind)
