/* What has just been measured, for people: the verdict, how fine it is, and what to do with it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/measure.h>
#include <idlewave/whatif.h>

#include <math.h>
#include <stdlib.h>

#include "base/base.h"
#include "report/kinds/noise_text.h"
#include "report/kinds/record.h"
#include "report/kinds/study_report.h"

/* Rows as those of simulate's result. */
static void write_label(FILE *out, const char *label)
{
    (void)fprintf(out, "  %-*s ", IWI_ROW_LABEL_COLUMNS, label);
}

static void write_rate(FILE *out, const iw_recording *recording, const iw_noise_facts *facts)
{
    char rate[IWI_NUMBER_SIZE], count[IWI_NUMBER_SIZE];

    if (recording->probe != IW_PROBE_SELFISH) {
        write_label(out, "samples");
        (void)fprintf(out, "%s\n", iwi_count_text(facts->all.count, count));
        return;
    }
    write_label(out, "detours");
    (void)fprintf(out, "%s, %s%s\n", iwi_count_text(facts->all.count, count),
                  iwi_rate_text(facts->all.rate_hz, rate), recording->cpu_count > 1 ? " on each CPU" : "");
}

static void write_resolution(FILE *out, const iw_recording *recording)
{
    const struct iwi_resolution limits = iwi_resolution(recording);
    char time[IWI_NUMBER_SIZE];

    write_label(out, "t_min");
    if (recording->probe != IW_PROBE_SELFISH) {
        (void)fprintf(out, "%s, the %s at its best\n", iwi_ns_round_text(limits.t_min_ns, time),
                      recording->probe == IW_PROBE_FWQ ? "work of a quantum" : "unit of work");
        return;
    }
    (void)fprintf(out, "%.1f ns: detours shorter than %s are not seen,\n", limits.t_min_ns,
                  iwi_ns_round_text(limits.threshold_ns, time));
    write_label(out, "");
    (void)fprintf(out, "nor is noise faster than %.3g MHz\n", 1e-6 * limits.limit_hz);
}

/* A CPU that had no room any more was not watched any more. */
static void write_dropped(FILE *out, const iw_recording *recording, const iw_noise_facts *facts)
{
    char time[IWI_NUMBER_SIZE];
    double shortest_ns = HUGE_VAL;

    write_label(out, "dropped");
    if (facts->dropped == 0) {
        (void)fputs("none\n", out);
        return;
    }
    for (size_t i = 0; i < recording->cpu_count; i++) {
        shortest_ns = fmin(shortest_ns, (double)recording->cpus[i].length_ns);
    }
    (void)fprintf(out, "%" PRIu64 ": room ended after %s, later detours do not count;\n", facts->dropped,
                  iwi_ns_round_text(shortest_ns, time));
    write_label(out, "");
    (void)fputs("more --events or a higher --threshold help\n", out);
}

static double attribute_number(const iw_recording *recording, const char *name)
{
    const char *value = iw_recording_get(recording, name);

    return value != NULL ? strtod(value, NULL) : 0.0;
}

/* Who told the sources, and how much of what was told met a detour. */
static void write_rung(FILE *out, const iw_recording *recording)
{
    const double events = attribute_number(recording, "kernel_events");
    const double matched = attribute_number(recording, "kernel_events_matched");
    const double lost = attribute_number(recording, "kernel_events_lost");
    char percent[IWI_NUMBER_SIZE];

    write_label(out, "sources");
    if (recording->rung == IW_RUNG_NONE) {
        (void)fputs("unknown: nothing told them\n", out);
        return;
    }
    (void)fprintf(out, "told by %s", iw_rung_name(recording->rung));
    if (events > 0.0) {
        (void)fprintf(out, ": %.0f events, %s of them in detours", events,
                      iwi_percent_text(matched / events, percent));
    }
    (void)fputc('\n', out);
    if (lost > 0.0) {
        write_label(out, "");
        (void)fprintf(out, "%.0f more were lost: what they would explain is unknown\n", lost);
    }
}

/* The sources that took most. */
static iw_status write_largest(const iw_log *log, FILE *out, const iw_recording *recording,
                               const iw_noise_facts *facts)
{
    enum { LARGEST = 3, NAME_COLUMNS = 24 };
    size_t *order = iwi_new_array(log, recording->source_count, sizeof *order), count;

    if (order == NULL) {
        return IW_ERR_NOMEM;
    }
    count = iwi_order_rows(facts->by_source, recording->source_count, order);
    for (size_t i = 0; recording->rung != IW_RUNG_NONE && i < count && i < LARGEST; i++) {
        const iw_source *source = &recording->sources[order[i]];
        char percent[IWI_NUMBER_SIZE], name[IWI_NAME_SIZE];

        write_label(out, i == 0 ? "largest" : "");
        (void)fprintf(out, "%s of the time: %s%s%s\n",
                      iwi_share_text(facts->by_source[order[i]].share, percent), iw_class_name(source->kind),
                      source->name[0] != '\0' ? " " : "", iwi_plain_name(source->name, NAME_COLUMNS, name));
    }
    free(order);
    return IW_OK;
}

/* Why a better rung was not used, where there is one. */
static void write_note(FILE *out, const iw_recording *recording)
{
    const char *note = iw_recording_get(recording, "attribution_note");
    char paragraph[IWI_PARAGRAPH_SIZE] = "";

    if (note != NULL && recording->rung < IW_RUNG_TRACEFS) {
        iwi_append(paragraph, "Sources could be told better. What did not work here: %s.", note);
        (void)fputc('\n', out);
        iwi_write_wrapped(out, paragraph);
    }
}

/* Up to how many ranks it can say what noise costs. */
static void write_reach(FILE *out, const iw_recording *recording)
{
    const double each_ms = iw_reach_ranks(recording, 1e-3), each_10_ms = iw_reach_ranks(recording, 10e-3);
    char fine[IWI_NUMBER_SIZE], coarse[IWI_NUMBER_SIZE];

    write_label(out, "reach");
    if (each_ms < 1.0) {
        (void)fputs("too short for estimates of what noise costs: lower bounds only\n", out);
        return;
    }
    if (each_10_ms >= 1e6) { /* of detours that are all alike */
        (void)fputs("estimates for a million ranks that meet each 10 ms, and more\n", out);
        return;
    }
    (void)fprintf(out, "estimates for up to %s ranks that meet each ms, or %s each\n",
                  iwi_about_ranks_text(each_ms, fine), iwi_about_ranks_text(each_10_ms, coarse));
    write_label(out, "");
    (void)fputs("10 ms; lower bounds for more\n", out);
}

static void write_next(FILE *out, const char *path)
{
    (void)fprintf(out,
                  "\nNext: idlewave noise show %s\n"
                  "      idlewave simulate --pattern allreduce --ranks 1Ki --noise %s\n",
                  path, path);
}

iw_status iw_measure_write_text(const iw_log *log, const iw_recording *recording, const char *path, FILE *out)
{
    iw_noise_facts *facts;
    iw_status status;

    IW_TRY(iw_noise_facts_new(log, recording, IWI_RECORD_LONG_NS, &facts));
    iwi_write_noise_verdict(out, recording, facts, path);
    (void)fputc('\n', out);
    write_rate(out, recording, facts);
    write_resolution(out, recording);
    write_dropped(out, recording, facts);
    if (recording->probe == IW_PROBE_SELFISH) {
        write_rung(out, recording);
    }
    status = write_largest(log, out, recording, facts);
    if (status == IW_OK && recording->probe != IW_PROBE_FTQ) {
        write_reach(out, recording);
    }
    write_label(out, "file");
    (void)fprintf(out, "%s\n", path);
    write_note(out, recording);
    write_next(out, path);
    iw_noise_facts_free(facts);
    return status == IW_OK ? iwi_check_written(log, out, "the result") : status;
}
