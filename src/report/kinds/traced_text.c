/* A traced run for people: how long, how much of it in MPI, in which functions, then its waves.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <string.h>

#include "base/base.h"
#include "report/kinds/traced_report.h"
#include "report/kinds/wave_report.h"

enum { MOST_FUNCTIONS = 12, LEAST_REACH = 3 };

const char *iwi_volume_text(uint64_t bytes, char buf[IWI_NUMBER_SIZE])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    double value = (double)bytes;
    size_t i = 0;

    while (value >= 1023.5 && i < 5) {
        value /= 1024.0;
        i++;
    }
    snprintf(buf, IWI_NUMBER_SIZE, "%.*f %s",
             i == 0 || value >= 99.95 ? 0
             : value >= 9.995         ? 1
                                      : 2,
             value, units[i]);
    return buf;
}

double iwi_trace_imbalance(const iw_trace_summary *summary)
{
    return summary->compute_mean_ps > 0 ? (double)summary->compute_most_ps / (double)summary->compute_mean_ps
                                        : 1.0;
}

void iwi_trace_verdict(const iw_trace_summary *summary, char text[IWI_PARAGRAPH_SIZE])
{
    char run[IWI_NUMBER_SIZE], share[IWI_NUMBER_SIZE], least[IWI_NUMBER_SIZE], most[IWI_NUMBER_SIZE];

    iwi_append(text, "%" PRIu32 " rank%s ran for %s and spent %s of it in MPI", summary->ranks,
               summary->ranks == 1 ? "" : "s", iwi_time_text(summary->run_ps, run),
               iwi_percent_text(summary->mpi_share, share));
    (void)iwi_percent_text(summary->mpi_least, least);
    (void)iwi_percent_text(summary->mpi_most, most);
    if (summary->ranks > 1 && strcmp(least, most) != 0) {
        iwi_append(text, " (ranks: %s to %s)", least, most);
    }
    if (summary->function_count > 0) {
        iwi_append(text, ", most of that in %s", summary->functions[0].name);
    }
    iwi_append(text, ".");
    if (summary->ranks > 1 && summary->compute_mean_ps > 0) {
        char compute[IWI_NUMBER_SIZE], mean[IWI_NUMBER_SIZE], imbalance[IWI_NUMBER_SIZE];

        iwi_append(text,
                   " Load imbalance: the longest computation, %s on rank %" PRIu32
                   ", is %s times the mean, %s.",
                   iwi_time_text(summary->compute_most_ps, compute), summary->most_rank,
                   iwi_factor_text(iwi_trace_imbalance(summary), imbalance),
                   iwi_time_text(summary->compute_mean_ps, mean));
    }
}

void iwi_trace_threads(const iw_trace_summary *summary, char text[IWI_PARAGRAPH_SIZE])
{
    if (summary->threaded_ranks > 0) {
        iwi_append(text,
                   "Rank %" PRIu32 " called MPI from %" PRIu32
                   " threads%s; their calls are put in one sequence, so "
                   "shares and predictions are too long where they overlapped.",
                   summary->threaded_rank, summary->threads,
                   summary->threaded_ranks > 1 ? ", others from several too" : "");
    }
}

static void write_row(FILE *out, const char *name, uint64_t calls, uint64_t bytes, iw_time time_ps,
                      double all_ps)
{
    char time[IWI_NUMBER_SIZE], share[IWI_NUMBER_SIZE], volume[IWI_NUMBER_SIZE];

    (void)fprintf(out, "%-28.28s %12" PRIu64 " %10s %10s %9s\n", name, calls,
                  bytes > 0 ? iwi_volume_text(bytes, volume) : "-", iwi_time_text(time_ps, time),
                  all_ps > 0.0 ? iwi_percent_text((double)time_ps / all_ps, share) : "-");
}

static void write_functions(FILE *out, const iw_trace_summary *summary)
{
    const size_t shown =
        summary->function_count <= MOST_FUNCTIONS ? summary->function_count : MOST_FUNCTIONS - 1;
    const double all_ps = iwi_trace_mpi_ps(summary);
    iw_trace_function rest = {.calls = 0};

    if (summary->function_count == 0) {
        return;
    }
    (void)fprintf(out, "\n%-28s %12s %10s %10s %9s\n", "MPI function", "calls", "sent", "time", "of MPI");
    for (size_t i = 0; i < summary->function_count; i++) {
        const iw_trace_function *function = &summary->functions[i];

        if (i < shown) {
            write_row(out, function->name, function->calls, function->bytes, function->time_ps, all_ps);
        } else {
            rest.calls += function->calls;
            rest.bytes += function->bytes;
            rest.time_ps += function->time_ps;
        }
    }
    if (shown < summary->function_count) {
        char name[32];

        snprintf(name, sizeof name, "%zu others", summary->function_count - shown);
        write_row(out, name, rest.calls, rest.bytes, rest.time_ps, all_ps);
    }
    (void)fputs("Times are sums over all ranks; of collectives, 'sent' is the data of each rank.\n", out);
}

double iwi_trace_mpi_ps(const iw_trace_summary *summary)
{
    double sum_ps = 0.0;

    for (size_t i = 0; i < summary->function_count; i++) {
        sum_ps += (double)summary->functions[i].time_ps;
    }
    return sum_ps;
}

/* ---- waves ---- */

bool iw_waves_are_followed(const iw_waves *waves)
{
    for (size_t i = 0; waves != NULL && i < waves->wave_count; i++) {
        if (waves->waves[i].front_count >= LEAST_REACH) {
            return true;
        }
    }
    return false;
}

void iwi_trace_no_waves(const iw_trace_summary *summary, const iw_waves *waves, char text[IWI_PARAGRAPH_SIZE])
{
    if (waves == NULL) {
        iwi_append(text, "Idle waves were not looked for: %s.",
                   strcmp(summary->origin, "liballprof") == 0
                       ? "the ranks of liballprof's traces have clocks of their own"
                       : "there are too few steps for it");
    } else if (summary->ranks <= LEAST_REACH) {
        iwi_append(text,
                   "Idle waves need more ranks: they are followed over at least %d, and there are %" PRIu32
                   ".",
                   LEAST_REACH, summary->ranks);
    } else {
        iwi_append(text, "No idle wave can be followed over %d ranks or more", LEAST_REACH);
        if (waves->delay_count > 0) {
            iwi_append(text, "; 'idlewave wave' shows how far the %zu delay%s get%s", waves->delay_count,
                       waves->delay_count == 1 ? "" : "s", waves->delay_count == 1 ? "s" : "");
        }
        iwi_append(text, ".");
    }
}

iw_status iw_trace_write_text(const iw_log *log, const iw_trace_summary *summary, const iw_timeline *timeline,
                              const iw_waves *waves, FILE *out)
{
    char text[IWI_PARAGRAPH_SIZE] = "";

    iwi_trace_verdict(summary, text);
    iwi_write_wrapped(out, text);
    write_functions(out, summary);
    text[0] = '\0';
    iwi_trace_threads(summary, text);
    if (text[0] != '\0') {
        (void)fputc('\n', out);
        iwi_write_wrapped(out, text);
    }
    (void)fputc('\n', out);
    if (timeline != NULL && iw_waves_are_followed(waves)) {
        return iw_doc_write(log, iw_waves_doc(waves), IW_DOC_TEXT, NULL, out);
    }
    text[0] = '\0';
    iwi_trace_no_waves(summary, waves, text);
    iwi_write_wrapped(out, text);
    return iwi_check_written(log, out, "the report on a trace");
}
