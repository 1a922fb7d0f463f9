/* Results for people: the verdict first, then the numbers, then how sure we are.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/result.h>

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "report/report.h"

static void write_label(FILE *out, const char *label)
{
    (void)fprintf(out, "  %-*s", IWI_ROW_LABEL_COLUMNS, label);
}

static void write_quartiles(FILE *out, const iw_summary *makespan, const iw_summary *slowdown)
{
    const double times[] = {makespan->min, makespan->q1, makespan->median, makespan->q3, makespan->max};
    const double slowdowns[] = {slowdown->min, slowdown->q1, slowdown->median, slowdown->q3, slowdown->max};
    const char *(*const slowdown_text)(double, char *) =
        slowdown->median < 1.0 ? iwi_percent_text : iwi_factor_text;
    char number[IWI_NUMBER_SIZE];

    write_label(out, "");
    (void)fprintf(out, " %10s %10s %10s %10s %10s\n", "min", "q1", "median", "q3", "max");
    write_label(out, "makespan");
    for (size_t i = 0; i < 5; i++) {
        (void)fprintf(out, " %10s", iwi_time_text(times[i], number));
    }
    (void)fputc('\n', out);
    if (isnan(slowdown->median)) {
        return;
    }
    write_label(out, "slowdown");
    for (size_t i = 0; i < 5; i++) {
        (void)fprintf(out, " %10s", slowdown_text(slowdowns[i], number));
    }
    (void)fputc('\n', out);
}

static void write_noise(FILE *out, const iw_origin *origin)
{
    char percent[IWI_NUMBER_SIZE];

    for (size_t i = 0; i < iwi_source_count(origin); i++) {
        const double share = iw_noise_source_share(origin->noise, i);

        write_label(out, i == 0 ? "noise" : "");
        (void)fprintf(out, " %s (%s)\n", iw_noise_source_name(origin->noise, i),
                      isnan(share) ? "its share depends on the work" : iwi_percent_text(share, percent));
    }
    if (iwi_source_count(origin) > 0 && iw_noise_sync(origin->noise) != IW_SYNC_NONE) {
        write_label(out, "");
        (void)fprintf(out, " synchronised: %s\n", iwi_sync_name(iw_noise_sync(origin->noise)));
    }
    if (origin->delay_count > 0) {
        write_label(out, "delays");
        (void)fprintf(out, " %zu injected\n", origin->delay_count);
    }
}

/* The parameters stand behind the name, or below it if they would not fit. */
static void write_net(FILE *out, const iw_net *net)
{
    const double fs_per_ns = 1e6;
    char number[IWI_NUMBER_SIZE], parameters[IWI_PARAGRAPH_SIZE] = "";
    size_t columns;

    iwi_append(parameters, "L %s, ", iwi_time_text((double)net->L_ps, number));
    iwi_append(parameters, "o %s", iwi_time_text((double)net->o_send_ps, number));
    if (net->o_recv_ps != net->o_send_ps) {
        iwi_append(parameters, " and %s", iwi_time_text((double)net->o_recv_ps, number));
    }
    iwi_append(parameters, ", g %s, G %.4g ns/B", iwi_time_text((double)net->g_ps, number),
               (double)net->G / fs_per_ns);
    if (net->O > 0) {
        iwi_append(parameters, ", O %.4g ns/B", (double)net->O / fs_per_ns);
    }
    columns = 2 + IWI_ROW_LABEL_COLUMNS + 1 + strlen(net->name) + 2 + strlen(parameters);
    write_label(out, "network");
    (void)fprintf(out, " %s:", net->name);
    if (columns > IWI_TEXT_COLUMNS) {
        (void)fputc('\n', out);
        write_label(out, "");
    }
    (void)fprintf(out, " %s\n", parameters);
}

static void write_engine(FILE *out, const iw_sim_result *result)
{
    const double messages = (double)result->messages * (double)result->trials;
    const double rss_mib = (double)result->peak_rss_bytes / 0x1p20;
    char number[IWI_NUMBER_SIZE];

    write_label(out, "messages");
    (void)fprintf(out, " %" PRIu64 "%s\n", result->messages, result->trials > 1 ? " per trial" : "");
    write_label(out, "engine");
    (void)fprintf(out, " %s%s, %" PRIu32 " lane%s, %" PRIu32 " thread%s: %s", iw_engine_name(result->engine),
                  result->rules == IW_RULES_LOGGOPSIM ? " by LogGOPSim's rules" : "", result->lanes,
                  result->lanes == 1 ? "" : "s", result->threads, result->threads == 1 ? "" : "s",
                  iwi_time_text(result->engine_seconds * (double)IW_PS_PER_S, number));
    if (messages > 0 && result->engine_seconds > 0) {
        (void)fprintf(out, ", %smessages/s", iwi_si_text(messages / result->engine_seconds, number));
    }
    (void)fprintf(out, rss_mib < 1000 ? ", %.3g MiB\n" : ", %.1f GiB\n",
                  rss_mib < 1000 ? rss_mib : rss_mib / 1024);
    if (result->engine_note[0] != '\0') {
        write_label(out, "");
        (void)fprintf(out, " (%s)\n", result->engine_note);
    }
}

iw_status iw_result_write_text(const iw_log *log, const iw_sim_result *result, const iw_origin *origin,
                               FILE *out)
{
    iw_summary makespan, slowdown;
    char number[IWI_NUMBER_SIZE];

    IW_TRY(iwi_summarize_makespans(log, result, &makespan));
    slowdown = iwi_slowdown_summary(&makespan, result->noiseless_ps);
    iwi_write_verdict_text(result, origin, &makespan, &slowdown, out);
    (void)fputc('\n', out);
    if (result->trials > 1 && iwi_source_count(origin) > 0) {
        write_quartiles(out, &makespan, &slowdown);
    } else {
        write_label(out, "makespan");
        (void)fprintf(out, " %s\n", iwi_time_text(makespan.median, number));
    }
    if (iwi_is_disturbed(origin)) {
        write_label(out, "noiseless");
        (void)fprintf(out, " %s\n", iwi_time_text((double)result->noiseless_ps, number));
    }
    write_noise(out, origin);
    write_net(out, origin->net);
    write_engine(out, result);
    iwi_write_certainty_text(result, origin, &makespan, out);
    if (result->explain != NULL) {
        iwi_write_explain_text(result, origin, out);
    }
    return iwi_check_written(log, out, "the result");
}
