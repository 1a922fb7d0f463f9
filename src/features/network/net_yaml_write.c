/* Writes a measured network as YAML (docs/reference/formats/net.md).
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/internal/net_measure.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/output.h"
#include "kit/files/io/yaml_text.h"

enum { NUMBER_SIZE = 40 };

const char *iw_net_calls_name(iw_net_calls calls)
{
    static const char *const names[] = {"blocking", "nonblocking", "exchange"};

    return calls < sizeof names / sizeof names[0] ? names[calls] : NULL;
}

/* ---- values ---- */

/* Millionths of a unit without loss: "0.2134us" for 213400 ps. */
static const char *millionths(int64_t value, const char *unit, char buf[NUMBER_SIZE])
{
    char digits[NUMBER_SIZE];
    size_t length;

    if (value == 0) {
        return "0";
    }
    snprintf(digits, sizeof digits, "%" PRId64 ".%06" PRId64, value / 1000000, value % 1000000);
    length = strlen(digits);
    while (digits[length - 1] == '0') {
        length--;
    }
    length -= digits[length - 1] == '.' ? 1 : 0;
    snprintf(buf, NUMBER_SIZE, "%.*s%s", (int)length, digits, unit);
    return buf;
}

/* A time of a measured network: 0 is one that could not be told from nothing. */
static const char *known(iw_time ps, char buf[NUMBER_SIZE])
{
    return ps > 0 ? millionths(ps, "us", buf) : "unknown";
}

/* "KEY: TEXT", whatever is in the text. */
static void write_text(FILE *out, const char *key, const char *text, size_t most_bytes)
{
    (void)fprintf(out, "%s: ", key);
    iwi_yaml_write_text(out, text, most_bytes);
    (void)fputc('\n', out);
}

static void write_origin_text(FILE *out, const char *key, const char *text)
{
    (void)fputs("  ", out);
    write_text(out, key, text, SIZE_MAX);
}

static void write_value(FILE *out, const iw_estimate *value)
{
    if (value->value > 0) {
        (void)fprintf(out, ", [%.1f, %.1f, %.1f]", value->value, value->low, value->high);
    } else {
        (void)fputs(", unknown", out);
    }
}

/* ---- levels ---- */

static void write_limit(FILE *out, const char *key, const iw_net_eager *eager, const char *when)
{
    if (eager->is_at_most) {
        (void)fprintf(out, "    %s: %" PRIu64 " # %s\n", key, eager->bytes, when);
    } else {
        (void)fprintf(out, "    %s: unknown # %s; no limit was found\n    %s_at_least: %" PRIu64 "\n", key,
                      when, key, eager->bytes);
    }
}

/* `ranks`: of a group; 0: it is not known. */
static void write_head(FILE *out, const iw_net_level *level, uint32_t ranks)
{
    const iw_net *net = &level->net;
    const bool has_exchange = level->exchange.value > 0;
    const iw_time half_ps = has_exchange ? llround(1e3 * level->half_round_trip.value)
                                         : net->L_ps + net->o_send_ps + net->o_recv_ps;
    char number[NUMBER_SIZE];

    (void)fprintf(out, "  - name: %s\n", level->name);
    if (ranks > 0) {
        (void)fprintf(out, "    ranks: %u # of each host\n", ranks);
    }
    (void)fprintf(out, "    L: %s # without overheads: a message of 1 byte takes o_s + L + o_r\n",
                  known(net->L_ps, number));
    (void)fprintf(out, "    L_half_round_trip: %s # %s; simulate does not use it\n",
                  millionths(half_ps, "us", number),
                  has_exchange ? "of messages to and fro, not both ways at once" : "the same with overheads");
    (void)fprintf(out, "    o_s: %s\n", known(net->o_send_ps, number));
    (void)fprintf(out, "    o_r: %s\n", known(net->o_recv_ps, number));
    (void)fprintf(out, "    g: %s%s\n", known(net->g_ps, number),
                  level->capped_from_bytes > 0
                      ? " # cut to half a round trip where messages in a row took longer"
                      : "");
    (void)fprintf(out, "    G: %s\n",
                  level->point_count > 1 || net->G > 0 ? millionths(net->G, "ns", number) : "unknown");
    (void)fprintf(out, "    O: %s\n", millionths(net->O, "ns", number));
    write_limit(out, "S", &level->eager_computing, "the receiver computes");
    write_limit(out, "S_receiver_in_mpi", &level->eager_inside, "the receiver is in another MPI call");
}

static void write_segments(FILE *out, const iw_net *net)
{
    if (net->segment_count > 0) {
        (void)fputs(
            "    segments: # costs of a message of 'from' bytes, and what each byte after that adds\n", out);
    }
    for (uint32_t i = 0; i < net->segment_count; i++) {
        const iw_net_segment *segment = &net->segments[i];
        char L[NUMBER_SIZE], o_send[NUMBER_SIZE], o_recv[NUMBER_SIZE], g[NUMBER_SIZE], G[NUMBER_SIZE],
            O[NUMBER_SIZE];

        (void)fprintf(out, "      - {from: %" PRIu64 ", L: %s, o_s: %s, o_r: %s, g: %s, G: %s, O: %s}\n",
                      segment->from_bytes, known(segment->L_ps, L), known(segment->o_send_ps, o_send),
                      known(segment->o_recv_ps, o_recv), known(segment->g_ps, g),
                      millionths(segment->G, "ns", G), millionths(segment->O, "ns", O));
    }
}

/* The evidence. */
static void write_points(FILE *out, const iw_net_level *level, uint32_t launches)
{
    (void)fprintf(out, "    measured:\n      pair: [%u, %u]\n      eager_votes: %u\n", level->ranks[0],
                  level->ranks[1], level->eager_computing.votes + level->eager_inside.votes);
    (void)fprintf(out,
                  "      # bytes, samples, then half round trip, gap, o_s%s: [value, low, high] in ns,\n"
                  "      # %s\n"
                  "      points:\n",
                  level->exchange.value > 0 ? ", o_r and exchange" : " and o_r",
                  launches > 1
                      ? "means over launches with their 95 % interval (Student's t)"
                      : "medians of one launch with its 95 % interval; other launches may differ by more");
    for (size_t i = 0; i < level->point_count; i++) {
        const iw_net_point *point = &level->points[i];

        (void)fprintf(out, "        - [%" PRIu64 ", %" PRIu64, point->bytes, point->samples);
        write_value(out, &point->half_round_trip);
        write_value(out, &point->gap);
        write_value(out, &point->o_send);
        write_value(out, &point->o_recv);
        if (level->exchange.value > 0) {
            write_value(out, &point->exchange);
        }
        (void)fputs("]\n", out);
    }
}

/* ---- origin ---- */

static uint64_t all_samples(const iw_net_measured *measured)
{
    uint64_t samples = 0;

    for (size_t i = 0; i < measured->level_count; i++) {
        for (size_t k = 0; k < measured->levels[i].point_count; k++) {
            samples += measured->levels[i].points[k].samples;
        }
    }
    return samples;
}

static void write_slow_links(FILE *out, const iw_net_measured *measured)
{
    for (size_t i = 0; i < measured->slow_count; i++) {
        const iw_net_slow_link *slow = &measured->slow[i];

        (void)fprintf(out, "%s    - {ranks: [%u, %u], small_factor: %.2f, large_factor: %.2f}\n",
                      i == 0 ? "  slow_links:\n" : "", slow->ranks[0], slow->ranks[1], slow->small_factor,
                      slow->large_factor);
    }
}

static void write_origin(FILE *out, const iw_net_measured *measured, const char *command)
{
    const time_t now = time(NULL);
    struct tm utc;
    char date[40] = "unknown";

    if (gmtime_r(&now, &utc) != NULL) {
        (void)strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc);
    }
    (void)fputs("origin:\n", out);
    write_origin_text(out, "command", command);
    (void)fprintf(out, "  idlewave: %s\n  date: %s\n", IW_VERSION, date);
    write_origin_text(out, "host", measured->host_names[0]);
    (void)fprintf(out, "  hosts: %u\n  ranks: %u\n", measured->hosts, measured->ranks);
    write_origin_text(out, "mpi", measured->mpi_version);
    (void)fprintf(out, "  launches: %u\n  calls: %s\n", measured->launches,
                  iw_net_calls_name(measured->calls));
    write_origin_text(out, "clock", measured->clock);
    (void)fprintf(out, "  samples: %" PRIu64 "\n  seconds: %.1f\n", all_samples(measured), measured->seconds);
    if (measured->warning[0] != '\0') {
        write_origin_text(out, "not_valid", measured->warning);
    }
    (void)fprintf(out, "  links_looked_at: %" PRIu64 " # of %" PRIu64 " pairs of ranks\n",
                  measured->link_count, measured->pair_count);
    write_slow_links(out, measured);
}

/* ---- how ranks sit on hosts ---- */

/* Each host has so many ranks, the last one maybe fewer; 0 if it is not so. */
struct seating {
    uint32_t ranks;
    bool is_round_robin; /* dealt out to the hosts in turn, else one host after the other */
};

static bool is_one_host(const iw_net_measured *measured, uint32_t a, uint32_t b)
{
    return strcmp(measured->host_names[a], measured->host_names[b]) == 0;
}

/* Whether ranks of one group, and no others, are on one host: that of the group's first rank. */
static bool is_seated(const iw_net_measured *measured, const struct seating *seating)
{
    const uint32_t hosts = measured->hosts;

    for (uint32_t rank = 0; rank < measured->ranks; rank++) {
        const uint32_t group = seating->is_round_robin ? rank % hosts : rank / seating->ranks;

        for (uint32_t other = 0; other < hosts; other++) {
            const uint32_t first = seating->is_round_robin ? other : other * seating->ranks;

            if (first >= measured->ranks || is_one_host(measured, rank, first) != (group == other)) {
                return false;
            }
        }
    }
    return true;
}

static struct seating find_seating(const iw_net_measured *measured)
{
    if (measured->level_count == 2 && measured->hosts > 1 && measured->hosts < measured->ranks) {
        struct seating seating = {.ranks = (measured->ranks - 1) / measured->hosts + 1};

        if (is_seated(measured, &seating)) {
            return seating;
        }
        seating.is_round_robin = true;
        if (is_seated(measured, &seating)) {
            return seating;
        }
    }
    return (struct seating){0};
}

/* ---- the file ---- */

static void write_all(FILE *out, const iw_net_measured *measured, const char *name, const char *command)
{
    const struct seating seating = find_seating(measured);

    (void)fputs("# Measured by 'idlewave net'. docs/reference/formats/net.md explains the keys.\n"
                "format: idlewave.net/2\n",
                out);
    write_text(out, "name", name[0] != '\0' ? name : "net", sizeof((iw_net *)NULL)->name - 1);
    if (seating.ranks > 0) {
        (void)fprintf(out, "placement: %s\n", seating.is_round_robin ? "round-robin" : "block");
    }
    (void)fprintf(out, "levels: # from the inside out; %s\n",
                  seating.ranks > 0 || measured->level_count < 2
                      ? "a message has the costs of the first level that both ranks share"
                      : "where levels have no size ('ranks'), only the last one counts");
    for (size_t i = 0; i < measured->level_count; i++) {
        write_head(out, &measured->levels[i], i == 0 ? seating.ranks : 0);
        write_segments(out, &measured->levels[i].net);
        write_points(out, &measured->levels[i], measured->launches);
    }
    write_origin(out, measured, command);
}

iw_status iw_net_write_yaml(const iw_log *log, const iw_net_measured *measured, const char *name,
                            const char *command, const char *path)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    iw_status status;

    if (out == NULL) {
        return iwi_fail(log, IW_ERR_NOMEM, "out of memory for writing '%s'", path);
    }
    write_all(out, measured, name, command);
    if (fclose(out) != 0) {
        free(text);
        return iwi_fail(log, IW_ERR_NOMEM, "out of memory for writing '%s'", path);
    }
    status = iwi_write_bytes(log, path, text, size);
    free(text);
    return status;
}
