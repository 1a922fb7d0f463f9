/* A measured network, for people: the verdict, the numbers, how sure they are, what to do with it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/internal/net_measure.h>

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "report/kinds/report.h"

#define PS_PER_NS 1e3
#define POOR_FIT 0.1 /* as a share */

/* "64 KiB", "65480 B" */
static const char *size_text(uint64_t bytes, char buf[IWI_NUMBER_SIZE])
{
    if (bytes >= 1 << 20 && bytes % (1 << 20) == 0) {
        snprintf(buf, IWI_NUMBER_SIZE, "%" PRIu64 " MiB", bytes >> 20);
    } else if (bytes >= 1 << 10 && bytes % (1 << 10) == 0) {
        snprintf(buf, IWI_NUMBER_SIZE, "%" PRIu64 " KiB", bytes >> 10);
    } else {
        snprintf(buf, IWI_NUMBER_SIZE, "%" PRIu64 " B", bytes);
    }
    return buf;
}

/* Bytes per nanosecond that the largest messages reach one after the other. */
static double bandwidth(const iw_net_level *level)
{
    const iw_net_point *last = &level->points[level->point_count - 1];

    return last->gap.value_ns > 0 ? (double)last->bytes / last->gap.value_ns
                                  : (double)last->bytes / last->half_round_trip.value_ns;
}

static bool is_inside(const iw_net_level *level)
{
    return strcmp(level->samples->name, "node") == 0;
}

/* ---- verdict ---- */

/* Of all levels. */
static double worst_fit(const iw_net_measured *measured)
{
    double worst = 0;

    for (size_t i = 0; i < measured->level_count; i++) {
        worst = fmax(worst, measured->levels[i].fit_error);
    }
    return worst;
}

static void write_verdict(const iw_net_measured *measured, FILE *out)
{
    char text[IWI_PARAGRAPH_SIZE] = "", number[IWI_NUMBER_SIZE];

    if (measured->samples->warning[0] != '\0') {
        iwi_append(text, "NOT VALID: %s, so times contain the scheduler. ", measured->samples->warning);
    }
    for (size_t i = 0; i < measured->level_count; i++) {
        const iw_net_level *level = &measured->levels[i];

        iwi_append(text, "%s a small message takes %s and large ones move at %.3g GB/s%s",
                   is_inside(level) ? (i == 0 ? "Inside a node" : "inside a node")
                                    : (i == 0 ? "Between nodes" : "between nodes"),
                   iwi_ns_time_text(level->half_round_trip.value_ns, number), bandwidth(level),
                   i + 1 < measured->level_count ? "; " : ".");
    }
    iwi_append(text, " The lines of the file miss a measured time by up to %s%s.",
               iwi_percent_text(worst_fit(measured), number),
               worst_fit(measured) > POOR_FIT ? ": too much to trust them between and beyond these sizes"
                                              : "");
    if (measured->launches == 1) {
        iwi_append(text, " This was one launch; how much another one differs is unknown.");
    }
    if (measured->slow_count > 0) {
        iwi_append(text, " %zu of %zu pairs of ranks are slower than the others.", measured->slow_count,
                   measured->samples->link_count);
    }
    iwi_write_wrapped(out, text);
}

/* ---- levels ---- */

static void write_row(FILE *out, const char *label, const iw_net_value *value, const char *meaning)
{
    char number[IWI_NUMBER_SIZE], interval[2 * IWI_NUMBER_SIZE], low[IWI_NUMBER_SIZE], high[IWI_NUMBER_SIZE];

    if (!(value->value_ns > 0)) {
        (void)fprintf(out, "  %-4s %-10s %-24s %s\n", label, "unknown", "", meaning);
        return;
    }
    snprintf(interval, sizeof interval, "[%s, %s]", iwi_ns_time_text(value->low_ns, low),
             iwi_ns_time_text(value->high_ns, high));
    (void)fprintf(out, "  %-4s %-10s %-24s %s\n", label, iwi_ns_time_text(value->value_ns, number), interval,
                  meaning);
}

static void write_eager(FILE *out, const iw_net_level *level)
{
    const iw_net_eager *computing = &level->samples->eager_computing, *inside = &level->samples->eager_inside;
    char size[IWI_NUMBER_SIZE];

    if (!computing->is_at_most) {
        (void)fprintf(out, "  S    unknown    at least %s: no send waited for its receiver\n",
                      size_text(computing->bytes, size));
        return;
    }
    (void)fprintf(out, "  S    %-10s larger messages wait for a receiver that computes\n",
                  size_text(computing->bytes, size));
    if (inside->bytes != computing->bytes) {
        (void)fprintf(out, "       %-10s %s\n", size_text(inside->bytes, size),
                      inside->is_at_most ? "the same if the receiver is in another MPI call"
                                         : "and more do not wait if it is in another MPI call");
    }
}

/* 0 is unknown. */
static const char *known_text(iw_time ps, char buf[IWI_NUMBER_SIZE])
{
    return ps > 0 ? iwi_ns_time_text((double)ps / PS_PER_NS, buf) : "unknown";
}

static void write_segments(FILE *out, const iw_net_level *level)
{
    const iw_net *net = &level->net;
    const double fs_per_ns = 1e6;

    (void)fprintf(out, "  %u line%s describe%s all sizes:\n", net->segment_count + 1,
                  net->segment_count == 0 ? "" : "s", net->segment_count == 0 ? "s" : "");
    (void)fputs("    from size     L         o_s        o_r         g       G ns/B  O ns/B\n", out);
    for (uint32_t i = 0; i <= net->segment_count; i++) {
        const iw_net_segment head = {.from_bytes = 1,
                                     .L_ps = net->L_ps,
                                     .o_send_ps = net->o_send_ps,
                                     .o_recv_ps = net->o_recv_ps,
                                     .g_ps = net->g_ps,
                                     .G = net->G,
                                     .O = net->O};
        const iw_net_segment *segment = i == 0 ? &head : &net->segments[i - 1];
        char size[IWI_NUMBER_SIZE], L[IWI_NUMBER_SIZE], o_send[IWI_NUMBER_SIZE], o_recv[IWI_NUMBER_SIZE],
            g[IWI_NUMBER_SIZE];

        (void)fprintf(out, "    %-10s %-10s %-10s %-10s %-10s %6.3f  %6.3f\n",
                      size_text(segment->from_bytes, size), known_text(segment->L_ps, L),
                      known_text(segment->o_send_ps, o_send), known_text(segment->o_recv_ps, o_recv),
                      known_text(segment->g_ps, g), (double)segment->G / fs_per_ns,
                      (double)segment->O / fs_per_ns);
    }
}

static void write_level(const iw_net_measured *measured, const iw_net_level *level, FILE *out)
{
    const uint32_t *ranks = level->samples->ranks;
    const uint64_t bytes = level->points[0].bytes;

    (void)fprintf(out, "\nlevel '%s': ranks %u and %u (%s%s%s)\n", level->samples->name, ranks[0], ranks[1],
                  measured->samples->host_names[ranks[0]], is_inside(level) ? "" : ", ",
                  is_inside(level) ? "" : measured->samples->host_names[ranks[1]]);
    if (measured->launches > 1) {
        (void)fprintf(out, "  of %" PRIu64 " byte%s, means of %u launches with their 95 %% intervals:\n",
                      bytes, bytes == 1 ? "" : "s", measured->launches);
    } else {
        (void)fprintf(out,
                      "  of %" PRIu64 " byte%s, medians with the 95 %% intervals of this launch alone:\n",
                      bytes, bytes == 1 ? "" : "s");
    }
    write_row(out, "L", &level->L, "latency without overheads");
    if (level->exchange.value_ns > 0) {
        write_row(out, "", &level->exchange, "both ways at once: o_s+L+o_r");
        write_row(out, "", &level->half_round_trip, "half a round trip");
    } else {
        write_row(out, "", &level->half_round_trip, "half a round trip: o_s+L+o_r");
    }
    write_row(out, "o_s", &level->o_send, "CPU time of a send");
    write_row(out, "o_r", &level->o_recv, "CPU time of a receive");
    write_row(out, "g", &level->gap, "between messages in a row");
    write_eager(out, level);
    write_segments(out, level);
}

/* ---- links ---- */

static void write_links(const iw_net_measured *measured, FILE *out)
{
    enum { SHOWN = 10 };
    const iw_net_samples *samples = measured->samples;
    char small[IWI_NUMBER_SIZE], large[IWI_NUMBER_SIZE], size[IWI_NUMBER_SIZE];

    if (measured->slow_count == 0) {
        return;
    }
    (void)fprintf(out, "\nslow pairs, with all other ranks silent (8 B and %s, factors to the median)\n",
                  size_text(samples->large_bytes, size));
    for (size_t i = 0; i < measured->slow_count && i < SHOWN; i++) {
        const iw_net_slow_link *slow = &measured->slow[i];
        const uint32_t *ranks = slow->link->ranks;

        (void)fprintf(out, "  %u (%s) - %u (%s): %s x %.2f, %s x %.2f\n", ranks[0],
                      samples->host_names[ranks[0]], ranks[1], samples->host_names[ranks[1]],
                      iwi_ns_time_text(slow->link->alone_small_ns / 2, small), slow->small_factor,
                      iwi_ns_time_text(slow->link->alone_large_ns / 2, large), slow->large_factor);
    }
    if (measured->slow_count > SHOWN) {
        (void)fprintf(out, "  and %zu more; --format json lists all\n", measured->slow_count - SHOWN);
    }
}

/* ---- how sure ---- */

static void write_samples(const iw_net_measured *measured, FILE *out)
{
    const iw_net_samples *samples = measured->samples;
    char text[IWI_PARAGRAPH_SIZE] = "";
    uint64_t count = 0;

    for (size_t i = 0; i < measured->level_count; i++) {
        for (size_t k = 0; k < measured->levels[i].point_count; k++) {
            count += measured->levels[i].points[k].samples;
        }
    }
    iwi_append(text, "%" PRIu64 " samples in %.1f s and %u launch%s by %s calls of %s.", count,
               samples->seconds, measured->launches, measured->launches == 1 ? "" : "es",
               iw_net_calls_name(samples->calls), samples->mpi_version);
    if (measured->launches == 1) {
        iwi_append(text, " Several launches: idlewave net -- mpirun -n 2");
    }
    iwi_write_item(out, text);
}

static void write_doubts(const iw_net_level *level, FILE *out)
{
    const bool has_exchange = level->exchange.value_ns > 0;
    char text[IWI_PARAGRAPH_SIZE] = "", number[IWI_NUMBER_SIZE], size[IWI_NUMBER_SIZE];

    iwi_append(text, "'%s': the lines miss the %s of a measured size by at most %s", level->samples->name,
               has_exchange ? "exchange" : "half round trip", iwi_percent_text(level->fit_error, number));
    if (level->wide_points > 0) {
        iwi_append(text,
                   "; %" PRIu64 " of %zu sizes have intervals wider than 10 %%: a longer --duration, more "
                   "launches or a quieter machine helps",
                   level->wide_points, level->point_count);
    }
    if (level->overlapped_from_bytes > 0) {
        iwi_append(
            text,
            "; from %s on sending and receiving overlap, so their CPU times were cut (to %s at least)%s",
            size_text(level->overlapped_from_bytes, size), iwi_percent_text(level->least_overlap, number),
            has_exchange ? "" : ": if your program sends both ways at once, measure with --calls exchange");
    }
    if (level->capped_from_bytes > 0) {
        iwi_append(text,
                   "; from %s on messages in a row took longer than half a round trip each (up to %s times), "
                   "which g cannot mean: it was cut to that",
                   size_text(level->capped_from_bytes, size), iwi_factor_text(level->most_capped, number));
    }
    iwi_append(text, ".");
    iwi_write_item(out, text);
}

static void write_certainty(const iw_net_measured *measured, FILE *out)
{
    const iw_net_samples *samples = measured->samples;
    char text[IWI_PARAGRAPH_SIZE] = "";

    write_samples(measured, out);
    for (size_t i = 0; i < measured->level_count; i++) {
        write_doubts(&measured->levels[i], out);
    }
    if (samples->link_count > 0) {
        iwi_append(text,
                   "%zu of %" PRIu64
                   " pairs of ranks were looked at; the levels were measured between typical "
                   "ones.",
                   samples->link_count, samples->pair_count);
        iwi_write_item(out, text);
    }
}

iw_status iw_net_write_text(const iw_log *log, const iw_net_measured *measured, const char *path, FILE *out)
{
    write_verdict(measured, out);
    for (size_t i = 0; i < measured->level_count; i++) {
        write_level(measured, &measured->levels[i], out);
    }
    write_links(measured, out);
    (void)fputc('\n', out);
    write_certainty(measured, out);
    if (path != NULL) {
        (void)fprintf(out, "\nwritten to %s; use it: idlewave simulate --net %s ...\n", path, path);
    }
    return iwi_check_written(log, out, "the network");
}
