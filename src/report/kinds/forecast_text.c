/* What a simulation will take, for people.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/whatif.h>

#include <inttypes.h>
#include <string.h>

#include "report/kinds/forecast_report.h"

const char *iwi_seconds_text(double seconds, char buf[IWI_NUMBER_SIZE])
{
    const double day_s = 86400.0, year_s = 365.25 * 86400.0;

    if (seconds < 10 * day_s) {
        return iwi_ns_time_text(seconds * 1e9, buf);
    }
    (void)snprintf(buf, IWI_NUMBER_SIZE, "%.3g %s", seconds < year_s ? seconds / day_s : seconds / year_s,
                   seconds < year_s ? "d" : "y");
    return buf;
}

static double seconds_of(const iw_way *way)
{
    return way->compute_s + way->exchange_s;
}

const char *iwi_memory_text(double bytes, char buf[IWI_NUMBER_SIZE])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;

    while (bytes >= 1000.0 && unit + 1 < sizeof units / sizeof units[0]) {
        bytes /= 1024.0;
        unit++;
    }
    (void)snprintf(buf, IWI_NUMBER_SIZE, "%.3g %s", bytes, units[unit]);
    return buf;
}

/* One row of the table; times and memory are those of the busiest worker and of one process. */
static void write_way(FILE *out, const char *name, const iw_way *way, bool is_chosen)
{
    char total[IWI_NUMBER_SIZE], compute[IWI_NUMBER_SIZE], exchange[IWI_NUMBER_SIZE], memory[IWI_NUMBER_SIZE],
        sent[IWI_NUMBER_SIZE];

    if (way->refusal[0] != '\0') {
        char text[IWI_PARAGRAPH_SIZE] = "";

        (void)fprintf(out, "  %-11s ", name);
        iwi_append(text, "not possible: %s", way->refusal);
        iwi_write_wrapped_after(out, text, 14, 14);
        return;
    }
    (void)fprintf(out, "%c %-7s %7" PRIu32 " %5" PRIu32 " %7" PRIu64 "  %8s  %8s  %8s %8s %8s\n",
                  is_chosen ? '*' : ' ', name, way->workers, way->lanes, way->batches,
                  iwi_seconds_text(seconds_of(way), total), iwi_seconds_text(way->compute_s, compute),
                  iwi_seconds_text(way->exchange_s, exchange), iwi_memory_text(way->bytes_sent, sent),
                  iwi_memory_text((double)way->process_bytes, memory));
}

static void write_verdict(const iw_forecast *forecast, FILE *out)
{
    const bool are_ranks_split = forecast->chosen == IW_PARALLEL_RANKS;
    const iw_way *way = are_ranks_split ? &forecast->ranks_split : &forecast->trials_split;
    char text[IWI_PARAGRAPH_SIZE] = "", number[IWI_NUMBER_SIZE];

    iwi_append(text, "It will take about %s and ", iwi_seconds_text(seconds_of(way), number));
    iwi_append(text, "%s in each process, the %s split over %" PRIu32 " worker%s: %s.",
               iwi_memory_text((double)way->process_bytes, number), are_ranks_split ? "ranks" : "trials",
               way->workers, way->workers == 1 ? "" : "s", forecast->reason);
    if ((double)way->process_bytes > forecast->room_bytes) {
        iwi_append(text, " That does not fit: a process can have %s here.",
                   iwi_memory_text(forecast->room_bytes, number));
    }
    iwi_write_wrapped(out, text);
}

iw_status iw_forecast_write_text(const iw_log *log, const iw_forecast *forecast, FILE *out)
{
    const bool are_ranks_split = forecast->chosen == IW_PARALLEL_RANKS;
    char number[IWI_NUMBER_SIZE];

    write_verdict(forecast, out);
    (void)fprintf(out, "\n  ranks       %" PRIu32 "\n  messages    %" PRIu64 "%s, %s each\n", forecast->ranks,
                  forecast->messages, forecast->trials > 1 ? " per trial" : "",
                  iwi_ns_time_text(forecast->message_s * 1e9, number));
    (void)fprintf(out, "  trials      %" PRIu64, forecast->trials);
    if (forecast->redrawn > 0) {
        (void)fprintf(out, ", %" PRIu64 " of them from laws of recordings drawn anew", forecast->redrawn);
    }
    (void)fprintf(out, "\n  engine      %s%s%s%s\n", iw_engine_name(forecast->engine),
                  forecast->engine_note[0] != '\0' ? " (" : "", forecast->engine_note,
                  forecast->engine_note[0] != '\0' ? ")" : "");
    (void)fprintf(out,
                  "  started as  %" PRIu32 " process%s of %" PRIu32 " thread%s on %" PRIu32 " node%s\n\n",
                  forecast->processes, forecast->processes == 1 ? "" : "es", forecast->threads,
                  forecast->threads == 1 ? "" : "s", forecast->nodes, forecast->nodes == 1 ? "" : "s");
    (void)fputs("  split   workers lanes batches      time   compute  exchange     sent   memory\n", out);
    write_way(out, "trials", &forecast->trials_split, !are_ranks_split);
    write_way(out, "ranks", &forecast->ranks_split, are_ranks_split);
    (void)fputc('\n', out);
    iwi_write_wrapped(
        out, "Batches, and bytes sent in each, are those of the busiest worker; memory is that of "
             "one process, for the state of its ranks. The run without noise is not counted. "
             "Rates are those of docs/explanation/scale.md, times the speed of this machine in a sample: a "
             "factor of 2 either way is possible.");
    return iwi_check_written(log, out, "the forecast");
}
