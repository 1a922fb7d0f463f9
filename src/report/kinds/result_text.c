/* Results for people: the verdict first, then the numbers, then how sure we are.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/result.h>

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "report/kinds/result_report.h"

static void write_label(FILE *out, const char *label)
{
    (void)fprintf(out, "  %-*s", IWI_ROW_LABEL_COLUMNS, label);
}

void iwi_write_result_row(FILE *out, const char *label, const char *text)
{
    const size_t column = 2 + IWI_ROW_LABEL_COLUMNS + 1;

    write_label(out, label);
    (void)fputc(' ', out);
    iwi_write_wrapped_after(out, text, column, column);
}

static void write_summary(FILE *out, const iw_summary *makespan, const iw_summary *slowdown)
{
    const double times[] = {makespan->mean,   makespan->min, makespan->q1,
                            makespan->median, makespan->q3,  makespan->max};
    const double slowdowns[] = {slowdown->mean,   slowdown->min, slowdown->q1,
                                slowdown->median, slowdown->q3,  slowdown->max};
    char number[IWI_NUMBER_SIZE];

    write_label(out, "");
    (void)fprintf(out, " %10s %10s %10s %10s %10s %10s\n", "mean", "min", "q1", "median", "q3", "max");
    write_label(out, "makespan");
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        (void)fprintf(out, " %10s", iwi_ns_time_text(times[i], number));
    }
    (void)fputc('\n', out);
    if (isnan(slowdown->mean)) {
        return;
    }
    write_label(out, "slowdown");
    for (size_t i = 0; i < sizeof slowdowns / sizeof slowdowns[0]; i++) {
        (void)fprintf(out, " %10s", iwi_slowdown_text(slowdowns[i], number));
    }
    (void)fputc('\n', out);
}

static void write_noise(FILE *out, const json_t *result)
{
    const json_t *sources = json_object_get(result, "noise");
    const uint64_t delays = iwi_result_count(result, "delays");
    char percent[IWI_NUMBER_SIZE], nodes[IW_NODES_TEXT_SIZE];

    for (size_t i = 0; i < json_array_size(sources); i++) {
        const json_t *source = json_array_get(sources, i);
        const double share = iwi_result_number(source, "share");

        write_label(out, i == 0 ? "noise" : "");
        (void)fprintf(out, " %s (%s)\n", iwi_result_text(source, "spec"),
                      isnan(share) ? "its share depends on the work" : iwi_percent_text(share, percent));
    }
    if (json_array_size(sources) > 0 && iwi_result_nodes(result, nodes)[0] != '\0') {
        iwi_write_result_row(out, "", nodes);
    }
    if (json_array_size(sources) > 0 && strcmp(iwi_result_text(result, "sync"), "none") != 0) {
        write_label(out, "");
        (void)fprintf(out, " synchronised: %s\n", iwi_result_text(result, "sync"));
    }
    if (delays > 0) {
        write_label(out, "delays");
        (void)fprintf(out, " %" PRIu64 " injected\n", delays);
    }
}

/* The parameters stand behind the name, or below it if they would not fit. */
static void write_net(FILE *out, const json_t *net)
{
    const double o_send_ns = iwi_result_number(net, "o_send_ns"),
                 o_recv_ns = iwi_result_number(net, "o_recv_ns");
    const char *name = iwi_result_text(net, "name");
    const json_t *segments = json_object_get(net, "segments");
    char number[IWI_NUMBER_SIZE], parameters[IWI_PARAGRAPH_SIZE] = "";
    size_t columns;

    iwi_append(parameters, "L %s, ", iwi_ns_time_text(iwi_result_number(net, "L_ns"), number));
    iwi_append(parameters, "o %s", iwi_ns_time_text(o_send_ns, number));
    if (o_recv_ns != o_send_ns) {
        iwi_append(parameters, " and %s", iwi_ns_time_text(o_recv_ns, number));
    }
    iwi_append(parameters, ", g %s, G %.4g ns/B", iwi_ns_time_text(iwi_result_number(net, "g_ns"), number),
               iwi_result_number(net, "G_ns_per_byte"));
    if (iwi_result_number(net, "O_ns_per_byte") > 0.0) {
        iwi_append(parameters, ", O %.4g ns/B", iwi_result_number(net, "O_ns_per_byte"));
    }
    columns = 2 + IWI_ROW_LABEL_COLUMNS + 1 + strlen(name) + 2 + strlen(parameters);
    write_label(out, "network");
    (void)fprintf(out, " %s:", name);
    if (columns > IWI_TEXT_COLUMNS) {
        (void)fputc('\n', out);
        write_label(out, "");
    }
    (void)fprintf(out, " %s\n", parameters);
    if (json_array_size(segments) > 0) {
        write_label(out, "");
        (void)fprintf(out, " from %.0f bytes on other costs, in %zu segment%s\n",
                      iwi_result_number(json_array_get(segments, 0), "from_bytes"), json_array_size(segments),
                      json_array_size(segments) == 1 ? "" : "s");
    }
}

/* ", 2 threads", ", 4 processes of 1 thread, each with some of the ranks" */
static void append_split(char line[IWI_PARAGRAPH_SIZE], const json_t *result)
{
    const json_t *parallel = json_object_get(result, "parallel"); /* results of older versions have none */
    const uint64_t threads = iwi_result_count(result, "threads");
    const uint64_t processes = parallel != NULL ? iwi_result_count(result, "processes") : 1;
    const bool are_ranks_split =
        json_is_string(parallel) && strcmp(json_string_value(parallel), "ranks") == 0;

    if (processes > 1) {
        iwi_append(line, ", %" PRIu64 " processes of", processes);
    } else {
        iwi_append(line, ",");
    }
    iwi_append(line, " %" PRIu64 " thread%s", threads, threads == 1 ? "" : "s");
    if (threads * processes > 1 && (are_ranks_split || processes > 1)) {
        iwi_append(line, ", each with some of the %s", are_ranks_split ? "ranks" : "trials");
    }
}

static void write_engine(FILE *out, const json_t *result)
{
    const uint64_t lanes = iwi_result_count(result, "lanes");
    const double rss_mib = (double)iwi_result_count(result, "peak_rss_bytes") / 0x1p20;
    const double rate_hz = iwi_result_number(result, "messages_per_second");
    char number[IWI_NUMBER_SIZE], line[IWI_PARAGRAPH_SIZE] = "";

    write_label(out, "messages");
    (void)fprintf(out, " %" PRIu64 "%s\n", iwi_result_count(result, "messages"),
                  iwi_result_count(result, "trials") > 1 ? " per trial" : "");
    iwi_append(line, "%s%s, %" PRIu64 " lane%s", iwi_result_text(result, "engine"),
               strcmp(iwi_result_text(result, "rules"), "loggopsim") == 0 ? " by LogGOPSim's rules" : "",
               lanes, lanes == 1 ? "" : "s");
    append_split(line, result);
    iwi_append(line, ": %s", iwi_ns_time_text(iwi_result_number(result, "engine_seconds") * 1e9, number));
    if (rate_hz > 0.0) {
        iwi_append(line, ", %smessages/s", iwi_si_text(rate_hz, number));
    }
    iwi_append(line, rss_mib < 1000 ? ", %.3g MiB" : ", %.1f GiB", rss_mib < 1000 ? rss_mib : rss_mib / 1024);
    iwi_write_result_row(out, "engine", line);
    if (json_is_true(json_object_get(result, "resumed"))) {
        iwi_write_result_row(out, "", "(went on from a restart point: the time is that since then)");
    }
    if (json_is_string(json_object_get(result, "engine_note"))) {
        write_label(out, "");
        (void)fprintf(out, " (%s)\n", iwi_result_text(result, "engine_note"));
    }
}

static void write_numbers(const json_t *result, FILE *out)
{
    const iw_summary makespan = iwi_result_summary(result, "makespan_ns");
    const iw_summary slowdown = iwi_result_summary(result, "slowdown");
    char number[IWI_NUMBER_SIZE];

    if (makespan.count > 1 && iwi_result_sources(result) > 0) {
        write_summary(out, &makespan, &slowdown);
    } else {
        write_label(out, "makespan");
        (void)fprintf(out, " %s\n", iwi_ns_time_text(makespan.mean, number));
    }
    if (iwi_result_is_disturbed(result)) {
        write_label(out, "noiseless");
        (void)fprintf(out, " %s\n", iwi_ns_time_text(iwi_result_number(result, "noiseless_ns"), number));
    }
    iwi_write_traced(result, iwi_write_result_row, out);
    write_noise(out, result);
    write_net(out, json_object_get(result, "net"));
    write_engine(out, result);
}

void iwi_write_result_text(const json_t *result, FILE *out)
{
    const json_t *explain = json_object_get(result, "explain");
    char verdict[IWI_PARAGRAPH_SIZE] = "", certainty[IWI_PARAGRAPH_SIZE] = "";

    iwi_result_verdict(result, verdict);
    iwi_write_wrapped(out, verdict);
    (void)fputc('\n', out);
    write_numbers(result, out);
    iwi_result_certainty(result, certainty);
    if (certainty[0] != '\0') {
        (void)fputc('\n', out);
        iwi_write_wrapped(out, certainty);
    }
    if (json_is_object(explain)) {
        iwi_write_explain_text(result, out);
    }
}

iw_status iw_result_write_text(const iw_log *log, const iw_sim_result *result, const iw_origin *origin,
                               FILE *out)
{
    json_t *object;

    IW_TRY(iwi_result_new(log, result, origin, &object));
    iwi_write_result_text(object, out);
    json_decref(object);
    return iwi_check_written(log, out, "the result");
}
