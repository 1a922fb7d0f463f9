/* What has just been measured, for people: the verdict, how fine it is, and what to do with it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/measure.h>

#include <math.h>

#include "base/base.h"
#include "report/noise_text.h"
#include "report/record.h"

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

    IW_TRY(iw_noise_facts_new(log, recording, IWI_RECORD_LONG_NS, &facts));
    iwi_write_noise_verdict(out, recording, facts, path);
    (void)fputc('\n', out);
    write_rate(out, recording, facts);
    write_resolution(out, recording);
    write_dropped(out, recording, facts);
    write_label(out, "sources");
    (void)fprintf(out, "%s\n",
                  recording->rung == IW_RUNG_NONE ? "unknown: attribution is not available yet"
                                                  : iw_rung_name(recording->rung));
    write_label(out, "file");
    (void)fprintf(out, "%s\n", path);
    write_next(out, path);
    iw_noise_facts_free(facts);
    return iwi_check_written(log, out, "the result");
}
