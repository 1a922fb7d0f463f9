/* What has just been measured: the verdict, how fine it is, how far it reaches.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>

#include <idlewave/measure.h>
#include <idlewave/remedy.h>

#include "core/base/base.h"
#include "features/recordings/recordings.h"
#include "features/tables.h"
#include "kit/text/words.h"

enum { LARGEST = 3 };

/* ---- the table ---- */

/* On its finest CPU. */
static double finest_t_min_ns(const void *object)
{
    const iw_noise_facts *facts = &((const iw_record_report *)object)->noise.facts;
    double least_ns = HUGE_VAL;

    for (size_t i = 0; i < facts->cpu_count; i++) {
        least_ns = fmin(least_ns, facts->cpus[i].t_min_ns);
    }
    return least_ns;
}

static double finest_threshold_ns(const void *object)
{
    const iw_noise_facts *facts = &((const iw_record_report *)object)->noise.facts;
    double least_ns = HUGE_VAL;

    for (size_t i = 0; i < facts->cpu_count; i++) {
        least_ns = fmin(least_ns, facts->cpus[i].threshold_ns);
    }
    return least_ns;
}

/* Faster noise cannot be seen. */
static double limit_hz(const void *object)
{
    return 1e9 / (2.0 * finest_t_min_ns(object));
}

static const struct iwi_field reach_fields[] = {
    IWI_VALUE(iw_record_reach, work_ns),
    IWI_VALUE(iw_record_reach, ranks,
              .about = "the most ranks that meet after `work_ns` each for which the recording gives "
                       "estimates; lower bounds for more"),
};
static const struct iwi_schema reach_schema = IWI_SCHEMA(iw_record_reach, reach_fields);

static const struct iwi_field record_fields[] = {
    IWI_VALUE(iw_record_report, file, .about = "the noise file"),
    IWI_INLINE(iw_record_report, noise, iwi_noise_schema),
    IWI_REAL_OF("t_min_ns", finest_t_min_ns,
                .about = "of one turn of the undisturbed loop (selfish), the fastest quantum (fwq), one unit "
                         "of work (ftq), on the fastest CPU"),
    IWI_REAL_OF("threshold_ns", finest_threshold_ns, .about = "shorter gaps were not kept"),
    IWI_REAL_OF("detection_limit_hz", limit_hz, .about = "1/(2 t_min): faster noise is not visible"),
    IWI_OBJECT_ARRAY(iw_record_report, reach, reach_schema),
};
static const struct iwi_schema record_schema = IWI_SCHEMA(iw_record_report, record_fields);

static iw_status check(const iw_log *log, const char *name, const void *subject)
{
    return iwi_noise_check(log, name, &((const iw_record_report *)subject)->noise);
}

/* ---- words ---- */

static const char *resolution(struct iwi_document *doc, const iw_record_report *report)
{
    const double t_min_ns = finest_t_min_ns(report);

    if (iw_probe_has_quanta(report->noise.facts.probe)) {
        return iwi_doc_printf(doc, "%s, the fastest %s", iwi_ns_round(doc, t_min_ns),
                              report->noise.facts.probe == IW_PROBE_FWQ ? "work of a quantum"
                                                                        : "unit of work");
    }
    return iwi_doc_printf(doc, "%.1f ns: detours shorter than %s and noise faster than %.3g MHz are not seen",
                          t_min_ns, iwi_ns_round(doc, finest_threshold_ns(report)), 1e-6 * limit_hz(report));
}

/* A CPU that had no room any more was not watched any more. */
static const char *dropped(struct iwi_document *doc, const iw_noise_facts *facts)
{
    double shortest_ns = HUGE_VAL;

    if (facts->dropped == 0) {
        return "none";
    }
    for (size_t i = 0; i < facts->cpu_count; i++) {
        shortest_ns = fmin(shortest_ns, (double)facts->cpus[i].length_ns);
    }
    return iwi_doc_printf(
        doc,
        "%" PRIu64
        ": room ended after %s, later detours do not count; allow more events or raise the threshold",
        facts->dropped, iwi_ns_round(doc, shortest_ns));
}

static double number_of(const iw_noise_facts *facts, const char *name)
{
    const char *value = iwi_fact(facts, name);

    return value != NULL ? strtod(value, NULL) : 0.0;
}

/* How sources were identified, and how many of the events met a detour. */
static const char *attribution(struct iwi_document *doc, const iw_noise_facts *facts)
{
    const double events = number_of(facts, "kernel_events"), lost = number_of(facts, "kernel_events_lost");
    const double recorder_ms = number_of(facts, "recorder_ms");
    const char *matched = "", *missing = "", *own = "";

    if (facts->attribution == IW_ATTRIBUTION_LEVEL_NONE) {
        return "unknown (none identified)";
    }
    if (events > 0.0) {
        matched = iwi_doc_printf(doc, ": %.0f events, %s of them in detours", events,
                                 iwi_percent(doc, number_of(facts, "kernel_events_matched") / events));
    }
    if (lost > 0.0) {
        missing = iwi_doc_printf(doc, "; %.0f more were lost, so what they would explain is unknown", lost);
    }
    if (recorder_ms > 0.0) {
        own = iwi_doc_printf(doc, "; without %s of idlewave itself, which wrote the recording",
                             iwi_ns_round(doc, 1e6 * recorder_ms));
    }
    return iwi_doc_printf(doc, "identified with %s%s%s%s", iw_attribution_level_name(facts->attribution),
                          matched, missing, own);
}

/* Up to how many ranks it can say what noise costs. */
static const char *reach(struct iwi_document *doc, const iw_record_report *report)
{
    const double fine = report->reach[0].ranks, coarse = report->reach[1].ranks;
    char fine_text[IWI_NUMBER_SIZE], coarse_text[IWI_NUMBER_SIZE];

    if (!(fine >= 2.0)) {
        return "too short for predictions: lower bounds only; record longer";
    }
    if (!(coarse < 1e6)) { /* of detours that are all alike */
        return "estimates for a million ranks that meet every 10 ms, and more";
    }
    if (!(coarse >= 2.0)) {
        return iwi_doc_printf(doc, "estimates for up to %s ranks that meet every ms; lower bounds otherwise",
                              iwi_about_ranks_text(fine, fine_text));
    }
    return iwi_doc_printf(
        doc, "estimates for up to %s ranks that meet every ms, or %s every 10 ms; lower bounds for more",
        iwi_about_ranks_text(fine, fine_text), iwi_about_ranks_text(coarse, coarse_text));
}

/* What is said of other days was measured: docs/validation/predictions.md. */
static void show_days(struct iwi_document *doc)
{
    iwi_row(doc, "days",
            "on two supercomputers, the interval from one day covered half of the other days and nodes; from "
            "five days, nine in ten");
    iwi_row(doc, "", "every day: idlewave record -o noise/$(date +%F).h5");
}

static void show_largest(struct iwi_document *doc, const iw_noise_facts *facts)
{
    for (size_t i = 0;
         facts->attribution != IW_ATTRIBUTION_LEVEL_NONE && i < facts->source_count && i < LARGEST; i++) {
        const iw_noise_origin *origin = &facts->sources[i];

        iwi_row(doc, i == 0 ? "largest" : "",
                iwi_doc_printf(doc, "%s of the time: %s%s%s", iwi_percent_short(doc, origin->row.share),
                               iwi_origin_class(origin), origin->source.name[0] != '\0' ? " " : "",
                               origin->source.name));
    }
}

static void show_facts(struct iwi_document *doc, const iw_record_report *report)
{
    const iw_noise_facts *facts = &report->noise.facts;
    const bool is_selfish = !iw_probe_has_quanta(facts->probe);

    IWI_TABLE(doc, "", {"", IWI_WORDS}, {"", IWI_WORDS});
    if (is_selfish) {
        iwi_row(doc, "detours",
                iwi_doc_printf(doc, "%s, %s%s", iwi_count(doc, facts->all.count),
                               iwi_rate(doc, facts->all.rate_hz), facts->cpu_count > 1 ? " per CPU" : ""));
    } else {
        iwi_row(doc, "samples", iwi_count(doc, facts->all.count));
    }
    iwi_row(doc, "t_min", resolution(doc, report));
    iwi_row(doc, "dropped", dropped(doc, facts));
    if (is_selfish) {
        iwi_row(doc, "sources", attribution(doc, facts));
        show_largest(doc, facts);
    }
    if (facts->probe != IW_PROBE_FTQ) {
        iwi_row(doc, "reach", reach(doc, report));
        show_days(doc);
    }
    iwi_row(doc, "file", report->file);
    iwi_unfold(doc);
}

static void write_doc(struct iwi_document *doc, const void *subject)
{
    const iw_record_report *report = subject;
    const iw_noise_facts *facts = &report->noise.facts;
    const char *note = iwi_fact(facts, "attribution_note");

    iwi_title(doc, "Recording of %s", iwi_noise_host(&report->noise));
    iwi_subtitle(doc, "%s", report->file);
    iwi_noise_verdict(doc, &report->noise);
    iwi_noise_figures(doc, &report->noise);
    show_facts(doc, report);
    if (note != NULL && facts->attribution < IW_ATTRIBUTION_LEVEL_TRACEFS) {
        iwi_note(doc, "Some sources could not be identified, because these failed: %s.", note);
    }
    iwi_only_in(doc, IWI_ON_PAGES);
    iwi_noise_tables(doc, facts);
    iwi_section(doc, "certainty", "How sure");
    iwi_noise_warnings(doc, facts);
}

const struct iwi_kind iwi_record_kind = {
    .name = "record",
    .schema_id = "idlewave.record/4",
    .about =
        "A recording just made, from `idlewave record --format json`; the noise file holds all of it. A "
        "CPU's recording ends where its first detour was dropped, so `share` and `rate_hz` are not too low",
    .older_id = "idlewave.record/3",
    .schema = &record_schema,
    .write_doc = write_doc,
    .check = check,
};

IWI_DOC(iw_record_doc, iw_record_report, report, iwi_record_kind)

iw_status iw_record_report_init(const iw_log *log, const iw_recording *recording, const char *file,
                                iw_record_report *report)
{
    static const double works_s[IW_RECORD_REACHES] = {1e-3, 10e-3};
    iw_noise_report_opts opts = IW_NOISE_REPORT_OPTS_INIT;

    opts.name = file;
    opts.has_cost = true;
    IW_TRY(iw_noise_report_init(log, recording, &opts, &report->noise));
    report->file = file;
    for (size_t i = 0; i < IW_RECORD_REACHES; i++) {
        report->reach[i] = (iw_record_reach){1e9 * works_s[i], iw_reach_ranks(recording, works_s[i])};
    }
    return IW_OK;
}
