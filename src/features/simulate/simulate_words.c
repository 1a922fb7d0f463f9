/* One simulation in words: its verdict, how sure that is, the machine, where the time goes.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <string.h>

#include "core/base/base.h"
#include "core/net/net.h"
#include "features/simulate/simulate.h"
#include "features/simulate/simulate_report.h"
#include "kit/text/words.h"

/* ======== reach ======== */

enum { LISTED_LAWS = 3 };

/* ---- the table ---- */

IWI_OF(bool, is_bound, iw_reach, it->is_bound)
IWI_OF(bool, has_sensitivity, iw_reach, it->sensitivity.length_ns > 0)

static const struct iwi_field reach_fields[] = {
    IWI_VALUE_AS(iw_reach, recorded_s, "seconds", .about = "length of the recording with the least CPU time"),
    IWI_VALUE(iw_reach, cpus, .about = "CPUs that ranks use, over all nodes of a folder"),
    IWI_VALUE_AS(iw_reach, watched_s, "watched_seconds"),
    IWI_VALUE(iw_reach, longest_ns, .about = "its longest detour"),
    IWI_VALUE(iw_reach, unseen,
              .about = "what detours of the recorded kinds, longer than the longest recorded, may add to the "
                       "slowdown (95 %)"),
    IWI_VALUE(iw_reach, is_bound,
              .about = "`unseen` is too large for an estimate: the slowdown is a lower limit"),
    IWI_VALUE_AS(iw_reach, record_s, "record_seconds", .is_there = is_bound,
                 .about = "for a lower limit: about how long to record for an estimate"),
    IWI_VALUE(iw_reach, is_extrapolated, .about = "with `--extrapolate`"),
    IWI_VALUES(iw_reach, laws, law_count, .about = "laws that replace the recording"),
    IWI_OBJECT(iw_reach, sensitivity, iwi_sensitivity_schema, .is_there = has_sensitivity,
               .is_optional = true,
               .about = "where all ranks use more than a third of `watched_seconds` (with 20 trials or more "
                        "a tenth): the slowdown with interruptions that the recording missed"),
};
const struct iwi_schema iwi_reach_schema = IWI_SCHEMA(iw_reach, reach_fields);

/* ---- words ---- */

double iwi_round_up(double seconds)
{
    const double unit = pow(10.0, floor(log10(fmax(seconds, 1.0))) - 1.0);

    return ceil(seconds / unit) * unit;
}

void iwi_append_reach(char paragraph[IWI_PARAGRAPH_SIZE], const iw_reach *reach, uint64_t ranks,
                      double time_ns)
{
    char length[IWI_NUMBER_SIZE], watched[IWI_NUMBER_SIZE], job[IWI_NUMBER_SIZE], time[IWI_NUMBER_SIZE];

    iwi_append(paragraph, "a recording of %s on %s CPU%s is too short for %s rank%s running %s",
               iwi_length_text(reach->recorded_s, length), iwi_ranks_text(reach->cpus, watched),
               reach->cpus == 1 ? "" : "s", iwi_ranks_text(ranks, job), ranks == 1 ? "" : "s",
               iwi_ns_round_text(time_ns, time));
    if (reach->record_s <= IWI_LONGEST_ADVICE_S) {
        iwi_append(paragraph, "; record %s for an estimate",
                   iwi_length_text(iwi_round_up(reach->record_s), length));
    } else {
        iwi_append(paragraph, "; even two weeks would be too short, but fitted laws can be extrapolated");
    }
}

void iwi_append_laws(char paragraph[IWI_PARAGRAPH_SIZE], const iw_reach *reach)
{
    char name[IWI_NAME_SIZE];

    iwi_append(paragraph, "extrapolated from laws fitted to the recording (");
    for (size_t i = 0; i < reach->law_count && i < LISTED_LAWS; i++) {
        iwi_append(paragraph, "%s%s", i > 0 ? " + " : "",
                   iwi_plain_name(reach->laws[i] != NULL ? reach->laws[i] : "-", IWI_NAME_SIZE - 1, name));
    }
    if (reach->law_count > LISTED_LAWS) {
        iwi_append(paragraph, " and %zu other%s", reach->law_count - LISTED_LAWS,
                   reach->law_count == LISTED_LAWS + 1 ? "" : "s");
    }
    iwi_append(paragraph, ")");
}

/* ======== independent nodes ======== */

static bool may_be_chance(iw_estimate e)
{
    return !(e.low > 0.0) && !(e.high < 0.0);
}

static void say_overstated(struct iwi_document *doc, iw_estimate by)
{
    const iw_estimate less = {-by.value, -by.high, -by.low};

    if (may_be_chance(by)) {
        iwi_doc_append(doc, " The difference, %s points, is not significant.", iwi_points_words(doc, by, ""));
    } else {
        iwi_doc_append(doc, " Assuming independence would %s the slowdown by %s points.",
                       by.value < 0.0 ? "understate" : "overstate",
                       iwi_points_words(doc, by.value < 0.0 ? less : by, ""));
    }
}

void iwi_say_independence(struct iwi_document *doc, const iw_independence *independence)
{
    char slower[IWI_PHRASE_SIZE];

    if (isnan(independence->independent.value)) {
        return;
    }
    iwi_verdict(doc, "If noise hit the nodes independently, the job would %s without noise.",
                iwi_be_slower_text(independence->independent.value, "", slower));
    say_overstated(doc, independence->overstated);
}

void iwi_say_node_wide(struct iwi_document *doc, iw_estimate node_wide)
{
    char slower[IWI_PHRASE_SIZE], range[IWI_RANGE_SIZE], bound[IWI_PARAGRAPH_SIZE] = "";

    if (isnan(node_wide.value)) {
        return;
    }
    iwi_verdict(doc, "If all noise hits the ranks of a node at the same time, the job");
    if (isinf(node_wide.high)) {
        iwi_append_bound(bound, node_wide, "noise");
        iwi_doc_append(doc, "%s", bound);
    } else {
        iwi_doc_append(doc, " %s without noise%s: ", iwi_slower_text(node_wide.value, slower),
                       !(node_wide.low < node_wide.high)
                           ? ""
                           : iwi_doc_printf(doc, " (95 %% CI %s)",
                                            iwi_slowdown_range_text(node_wide.low, node_wide.high,
                                                                    node_wide.value, range)));
    }
    iwi_doc_append(doc, "a recording of one CPU does not show this; record at least two.");
}

static void say_alignment(struct iwi_document *doc, const iw_independence *independence)
{
    const iw_wall_window *window = &independence->window;

    if (window->unsynchronised > 0) {
        iwi_item(doc,
                 "The clocks of %zu node%s were not synchronised, so coincidences are unknown: start chronyd "
                 "or ntpd and record again.",
                 window->unsynchronised, iwi_plural_s(window->unsynchronised));
    }
    iwi_item(doc,
             "Nodes are aligned by their wall clocks (error up to %s by their own estimates) over the %s "
             "that all of them recorded.",
             iwi_ns_round(doc, window->error_ns), iwi_ns_round(doc, (double)window->length_ns));
    if (independence->nodes > independence->recorded_nodes) {
        iwi_item(doc,
                 "The job has %" PRIu32 " nodes, but only %" PRIu32
                 " were recorded: noise coincides within groups of %" PRIu32
                 " nodes. With noise synchronised from the start it coincides on all nodes; the truth lies "
                 "in between.",
                 independence->nodes, independence->recorded_nodes, independence->recorded_nodes);
    }
}

/* ======== the machine ======== */

static const char *costs_words(struct iwi_document *doc, const iw_net_costs *costs)
{
    const double fs_per_ns = 1e6;
    const char *overhead = iwi_ps(doc, costs->o_send_ps);

    if (costs->o_recv_ps != costs->o_send_ps) {
        overhead = iwi_doc_printf(doc, "%s and %s", overhead, iwi_ps(doc, costs->o_recv_ps));
    }
    return iwi_doc_printf(doc, "L %s, o %s, g %s, G %.4g ns/B%s%s", iwi_ps(doc, costs->L_ps), overhead,
                          iwi_ps(doc, costs->g_ps), (double)costs->G / fs_per_ns,
                          costs->O > 0 ? iwi_doc_printf(doc, ", O %.4g ns/B", (double)costs->O / fs_per_ns)
                                       : "",
                          costs->is_device_progress ? ", moved by a device" : "");
}

/* A device moves messages at all levels, so that none waits for a CPU that noise has. */
static bool is_moved_by_device(const iw_net *net)
{
    bool is_device = net->costs.is_device_progress;

    for (uint32_t i = 0; i < net->inner_count; i++) {
        is_device &= net->inner[i].costs.is_device_progress;
    }
    return is_device;
}

/* "4 NICs of 0.04 ns/B in a node, shared by 32 ranks: a byte that leaves it takes 1.28 ns" */
static void say_nics(struct iwi_document *doc, const iw_net *net)
{
    const iw_net_nics *nics = &net->nics;
    const double fs_per_ns = 1e6;
    const iw_net_inner *node = &net->inner[nics->node_level];
    const char *those = iwi_doc_printf(doc, "%" PRIu32 " NIC%s of %.4g ns/B in a %s", nics->count,
                                       iwi_plural_s(nics->count), (double)nics->G / fs_per_ns, node->name);
    iw_net effective;

    if (nics->sharing == IW_NIC_QUEUES) {
        iwi_row(doc, "",
                iwi_doc_printf(doc, "%s; messages wait for %s in time order", those,
                               nics->count == 1 ? "it" : "them"));
    } else if (iwi_net_effective(NULL, net, &effective) == IW_OK) {
        const iw_net_costs *outside = nics->node_level + 1 < net->inner_count
                                          ? &effective.inner[nics->node_level + 1].costs
                                          : &effective.costs;

        iwi_row(doc, "",
                iwi_doc_printf(doc, "%s, shared by %" PRIu32 " ranks: %.4g ns per byte that leaves the %s",
                               those, nics->active > 0 ? nics->active : node->ranks,
                               (double)outside->G / fs_per_ns, node->name));
    }
}

/* "noise delays messages between nodes by 1.20 us on average, 40.0 us at most (recorded series of 2.10 s)" */
static void say_net_noise(struct iwi_document *doc, const iw_net *net)
{
    const iw_net_noise *noise = &net->noise;
    const double ps_per_ns = (double)IW_PS_PER_NS;

    if (iw_net_is_noisy(net)) {
        const char *kind = noise->series.count == 0
                               ? ""
                               : iwi_doc_printf(doc, " (recorded series of %s)",
                                                iwi_ns(doc, (double)noise->series.count *
                                                                (double)noise->series.every_ps / ps_per_ns));

        iwi_row(doc, "",
                iwi_doc_printf(doc, "noise delays messages%s by %s on average, %s at most%s",
                               net->inner_count > 0 ? " between nodes" : "",
                               iwi_ns(doc, iw_net_noise_mean_ps(noise) / ps_per_ns),
                               iwi_ns(doc, (double)iw_net_noise_longest_ps(noise) / ps_per_ns), kind));
    }
}

/* Its levels from outside in: the costs of the network itself are those of its outermost level. */
static void say_net(struct iwi_document *doc, const iw_simulation *s)
{
    const iw_net *net = s->net;

    iwi_row(doc, "network", iwi_doc_printf(doc, "%s: %s", net->name, costs_words(doc, &net->costs)));
    if (s->net_segment_count > 0) {
        iwi_row(doc, "",
                iwi_doc_printf(doc, "other costs from %" PRIu64 " bytes, in %zu segment%s",
                               s->net_segments[0].from_bytes, s->net_segment_count,
                               iwi_plural_s(s->net_segment_count)));
    }
    for (uint32_t i = net->inner_count; i > 0; i--) {
        const iw_net_inner *inner = &net->inner[i - 1];

        iwi_row(doc, "",
                iwi_doc_printf(doc, "inside a %s of %" PRIu32 " ranks: %s", inner->name, inner->ranks,
                               costs_words(doc, &inner->costs)));
    }
    if (net->nics.count > 0) {
        say_nics(doc, net);
    }
    say_net_noise(doc, net);
}

/* "30 MB": a unit as rates have it. */
static const char *decimal_size(struct iwi_document *doc, uint64_t bytes)
{
    return bytes >= 1000000000 ? iwi_doc_printf(doc, "%.4g GB", (double)bytes / 1e9)
           : bytes >= 1000000  ? iwi_doc_printf(doc, "%.4g MB", (double)bytes / 1e6)
           : bytes >= 1000     ? iwi_doc_printf(doc, "%.4g kB", (double)bytes / 1e3)
                               : iwi_doc_printf(doc, "%" PRIu64 " B", bytes);
}

/* "domains of 10 ranks with 40 GB/s, 6.5 GB/s a core; phases move 30 MB" */
static void say_memory(struct iwi_document *doc, const iw_simulation *s)
{
    const iw_memory *memory = &s->net->memory;

    if (memory->ranks > 0 && s->compute_bytes > 0) {
        iwi_row(doc, "memory",
                iwi_doc_printf(
                    doc, "domains of %" PRIu32 " rank%s with %.4g GB/s, %.4g GB/s per core; phases move %s",
                    memory->ranks, iwi_plural_s(memory->ranks), (double)memory->domain_bytes_per_s / 1e9,
                    (double)memory->core_bytes_per_s / 1e9, decimal_size(doc, s->compute_bytes)));
    }
}

static void say_nodes(struct iwi_document *doc, const iw_simulation *s)
{
    if (s->cores_per_rank > 1) {
        iwi_row(
            doc, "cores",
            iwi_doc_printf(doc, "%u per rank, %s loops", s->cores_per_rank, iw_loop_schedule_name(s->loop)));
    }
    if (s->spare_cores > 0) {
        iwi_row(doc, s->cores_per_rank > 1 ? "" : "cores",
                iwi_doc_printf(doc, "%u per node left to the operating system", s->spare_cores));
    }
    if (s->run.slowest_node > 0.0) {
        iwi_row(doc, "nodes",
                iwi_doc_printf(doc, "%s%sthe slowest takes %.4gx as long to compute",
                               s->node_speed != NULL ? s->node_speed : "", s->node_speed != NULL ? ": " : "",
                               s->run.slowest_node));
    }
}

void iwi_say_machine(struct iwi_document *doc, const iw_simulation *s)
{
    say_nodes(doc, s);
    say_net(doc, s);
    say_memory(doc, s);
}

/* ======== where the time goes ======== */

/* Below this part of the noise, the largest detours are not what matters. */
static const double LEAST_WORST_SHARE = 0.25;

const char *iwi_part_words(struct iwi_document *doc, const iw_explained_part *part)
{
    static const char *const words[IW_PART_NOISE] = {
        [IW_PART_COMPUTE] = "computation",   [IW_PART_MEMORY] = "waiting for memory",
        [IW_PART_DELAY] = "injected delays", [IW_PART_OVERHEAD] = "overhead (o, O)",
        [IW_PART_LATENCY] = "latency (L)",   [IW_PART_GAP] = "gap (g)",
        [IW_PART_BYTES] = "bytes (G)",       [IW_PART_RENDEZVOUS] = "rendezvous control messages",
        [IW_PART_NETWORK] = "network noise",
    };

    for (int i = 0; !part->is_noise && i < IW_PART_NOISE; i++) {
        if (strcmp(part->name, iw_part_name((iw_part)i)) == 0) {
            return part->level != NULL ? iwi_doc_printf(doc, "%s, %s", words[i], part->level) : words[i];
        }
    }
    return iwi_doc_printf(doc, "noise %s", part->name);
}

/* "12.3 %" of a whole that may be nothing. */
static const char *share_of(struct iwi_document *doc, double part, double whole)
{
    return iwi_percent(doc, whole > 0.0 ? part / whole : 0.0);
}

static double exact(double ns)
{
    return isnan(ns) ? 0.0 : ns;
}

/* ---- one path ---- */

static void say_path_row(struct iwi_document *doc, const char *name, double last_ns, double total_ns,
                         double mean_ns)
{
    iwi_row(doc, name, iwi_ns(doc, last_ns), share_of(doc, last_ns, total_ns), iwi_ns(doc, mean_ns));
    iwi_bar(doc, (iw_estimate){last_ns, NAN, NAN});
}

static void say_path(struct iwi_document *doc, const iw_explained *explained)
{
    const double total_ns = (double)explained->makespan_ps / (double)IW_PS_PER_NS;
    double mean_sum_ns = 0.0;

    iwi_section(doc, "path", "Where the time goes");
    iwi_paragraph(doc,
                  "Path to the end of rank %" PRIu32 ", which ends last (trial %" PRIu64 ", %" PRIu64
                  " messages), and the mean over the paths of all ranks (%.1f messages):",
                  explained->last_rank, explained->trial, explained->hops, explained->mean_hops);
    IWI_TABLE(doc, "", {"", IWI_WORDS}, {"last rank", IWI_NUMBER}, {"share", IWI_NUMBER}, {"", IWI_BAR},
              {"mean", IWI_NUMBER});
    iwi_unfold(doc);
    for (size_t i = 0; i < explained->part_count; i++) {
        const iw_explained_part *part = &explained->parts[i];

        mean_sum_ns += exact(part->mean_ns);
        if (part->last_ns != 0.0 || part->mean_ns > 0.0) {
            say_path_row(doc, iwi_part_words(doc, part), part->last_ns, total_ns, part->mean_ns);
        }
    }
    say_path_row(doc, "total", total_ns, total_ns, mean_sum_ns);
}

static void say_worst(struct iwi_document *doc, const iw_explained *explained)
{
    iwi_section(doc, "worst", "Largest delays on this path");
    for (size_t i = 0; i < explained->worst_count; i++) {
        const iw_explained_hit *hit = &explained->worst[i];

        iwi_item(doc, "%s took %s of rank %" PRIu32 " at %s", hit->source, iwi_ps(doc, hit->lost_ps),
                 hit->rank, iwi_ps(doc, hit->at_ps));
    }
}

/* ---- the average ---- */

static void say_average_row(struct iwi_document *doc, const char *name, iw_estimate ns, double total_ns)
{
    iwi_row(doc, name, iwi_ns(doc, ns.value), share_of(doc, ns.value, total_ns),
            isnan(ns.low)       ? "-"
            : ns.low == ns.high ? "all equal"
                                : iwi_doc_printf(doc, "%s to %s", iwi_ns(doc, ns.low), iwi_ns(doc, ns.high)));
}

static void say_average_table(struct iwi_document *doc, const iw_explained *explained)
{
    const iw_estimate makespan_ns = explained->average->makespan_ns;

    IWI_TABLE(doc, "", {"", IWI_WORDS}, {"mean", IWI_NUMBER}, {"share", IWI_NUMBER},
              {"95 % CI of the mean", IWI_NUMBER});
    iwi_unfold(doc);
    for (size_t i = 0; i < explained->part_count; i++) {
        const iw_explained_part *part = &explained->parts[i];

        if (part->average_ns.value > 0.0) {
            say_average_row(doc, iwi_part_words(doc, part), part->average_ns, makespan_ns.value);
        }
    }
    say_average_row(doc, "total", makespan_ns, makespan_ns.value);
}

/* "it hits rank 17 in 9 of 20 trials": goes on with the sentence that has begun, or begins it. */
static void say_place(struct iwi_document *doc, bool *is_begun, const iw_hit_place *place, const char *where)
{
    iwi_doc_append(doc, "%s%s in %" PRIu64 " of %" PRIu64 " trials",
                   *is_begun ? "; it " : " The largest detour ", where, place->trials, place->of_trials);
    *is_begun = true;
}

/* The first place of a list, if it stands out; else NULL. */
static const iw_hit_place *find_place(const iw_hit_places *list)
{
    return list->count > 0 && list->places[0].stands_out ? &list->places[0] : NULL;
}

static bool has_several_sources(const iw_explained *explained)
{
    size_t sources = 0;

    for (size_t i = 0; i < explained->part_count; i++) {
        sources += explained->parts[i].is_noise;
    }
    return sources > 1;
}

static void say_largest(struct iwi_document *doc, const iw_explained *explained)
{
    static const char *const tenths[] = {"first", "second",  "third",  "fourth", "fifth",
                                         "sixth", "seventh", "eighth", "ninth",  "last"};
    const iw_average_path *average = explained->average;
    const iw_hit_place *rank = find_place(&average->ranks), *seat = find_place(&average->seats),
                       *tenth = find_place(&average->tenths);
    bool is_begun = false;

    if (average->sources.count > 0 && has_several_sources(explained)) {
        say_place(doc, &is_begun, &average->sources.places[0],
                  iwi_doc_printf(doc, "is %s", average->sources.places[0].source));
    }
    if (rank != NULL) {
        say_place(doc, &is_begun, rank, iwi_doc_printf(doc, "hits rank %" PRIu32, rank->number));
    }
    if (seat != NULL) {
        say_place(doc, &is_begun, seat,
                  iwi_doc_printf(doc, "hits rank %" PRIu32 " of a node (counted from 0)", seat->number));
    }
    if (tenth != NULL && tenth->number < sizeof tenths / sizeof tenths[0]) {
        say_place(doc, &is_begun, tenth,
                  iwi_doc_printf(doc, "comes in the %s tenth of the run", tenths[tenth->number]));
    }
    iwi_doc_append(doc, is_begun ? "." : "");
}

static void say_average(struct iwi_document *doc, const iw_simulation *s)
{
    const iw_average_path *average = s->explain->average;

    iwi_section(doc, "average", "On average");
    if (average->trials < s->run.trials) {
        iwi_paragraph(doc, "Path to the last rank, mean of the first %" PRIu64 " of %" PRIu64 " trials:",
                      average->trials, s->run.trials);
    } else {
        iwi_paragraph(doc, "Path to the last rank, mean of all %" PRIu64 " trials:", average->trials);
    }
    say_average_table(doc, s->explain);
    if (!isnan(average->worst_share)) {
        /* of the others only the sum is known: that they are many, not whether they are any smaller */
        iwi_paragraph(doc, "The up to four largest detours of each path make up %s of its noise%s.",
                      iwi_percent(doc, average->worst_share),
                      average->worst_share < LEAST_WORST_SHARE ? ": many small detours add up" : "");
        say_largest(doc, s->explain);
    }
}

static bool has_noise(const iw_explained *explained)
{
    for (size_t i = 0; i < explained->part_count; i++) {
        const iw_explained_part *part = &explained->parts[i];

        if (part->is_noise && (part->last_ns > 0.0 || part->average_ns.value > 0.0)) {
            return true;
        }
    }
    return false;
}

void iwi_say_explained(struct iwi_document *doc, const iw_simulation *simulation)
{
    const iw_explained *explained = simulation->explain;

    if (explained == NULL) {
        return;
    }
    say_path(doc, explained);
    say_worst(doc, explained);
    if (explained->average != NULL) {
        say_average(doc, simulation);
    }
    if (has_noise(explained)) {
        iwi_note(doc, "A share of the critical path is not what removal would save: without one source, "
                      "another path may be the longest. 'idlewave whatif' reports what removing each source "
                      "would save.");
    }
}

/* ======== verdict ======== */

/* Half the width of the mean's interval, over the mean, above which more trials are advised. */
static const double WIDE_INTERVAL = 0.05;

/* Of what noise costs on average, the part of one trial above which more trials are advised: half, also where
 * sums are rounded. */
static const double LARGE_PART = 0.499;

/* What would be 0.00 %. */
static const double LEAST_UNSEEN = 5e-5;

/* Of the time between calls: with less CPU time than this, CPU and wall clock are different predictions. */
static const double LEAST_CPU_SHARE = 0.8;

/* Without noise a run does not take longer than it took with noise: beyond this its network is another. */
static const double MOST_OF_TRACED = 1.1;

/* What the noiseless time is without. */
static const char *reference(const iw_simulation *s)
{
    if (s->run.slowest_node > 0.0) {
        return iwi_is_noisy(s) || s->delays > 0 ? "noise, delays and slow nodes" : "slow nodes";
    }
    if (s->delays == 0) {
        return "noise";
    }
    if (iwi_is_noisy(s)) {
        return "noise and delays";
    }
    return s->delays == 1 ? "the delay" : "the delays";
}

static const char *span(struct iwi_document *doc, double low_ns, double high_ns)
{
    return iwi_doc_printf(doc, "%s to %s", iwi_ns(doc, low_ns), iwi_ns(doc, high_ns));
}

/* ---- the verdict ---- */

/* With the interval that counts the recording, where there is one. */
static iw_estimate mean_of(const iw_simulation *s)
{
    return s->recording == NULL || isnan(s->recording->slowdown.high)
               ? (iw_estimate){s->slowdown.mean, s->slowdown.mean_low, s->slowdown.mean_high}
               : s->recording->slowdown;
}

/* " takes at least 2.3x as long as without noise: a recording of 10 s on 2 CPUs is too short ..." */
static void say_bound(struct iwi_document *doc, const iw_simulation *s)
{
    char text[IWI_PARAGRAPH_SIZE] = "";

    iwi_append_bound(text, (iw_estimate){s->slowdown.mean, s->recording->slowdown.low, NAN}, reference(s));
    iwi_append_reach(text, &s->recording->reach, s->run.ranks,
                     (double)s->run.noiseless_ps / (double)IW_PS_PER_NS);
    iwi_doc_append(doc, "%s", text);
}

/* A range beside what is "8 % faster" is one of speedups. */
static const char *range_beside(double low, double high, double mean, char buf[IWI_RANGE_SIZE])
{
    return mean < 0 ? iwi_slowdown_range_text(-high, -low, -mean, buf)
                    : iwi_slowdown_range_text(low, high, mean, buf);
}

/* " (95 % CI 2.713 to 3.142x, 20 trials; median 2.105x)": how sure the mean is, and the median where it is
 * outside. Nothing where nothing is random. */
static void say_statistic(struct iwi_document *doc, const iw_simulation *s)
{
    const iw_summary *slowdown = &s->slowdown;
    const iw_estimate mean = mean_of(s);
    const double sign = slowdown->mean < 0 ? -1 : 1;
    char range[IWI_RANGE_SIZE], median[IWI_NUMBER_SIZE];

    if (!iwi_is_noisy(s)) {
        return;
    }
    if (slowdown->count < 2) {
        iwi_doc_append(doc, " (one trial)");
    } else if (slowdown->min == slowdown->max) {
        iwi_doc_append(doc, " (all %zu trials are equal)", slowdown->count);
    } else if (isnan(mean.low)) {
        iwi_doc_append(doc, " (mean of %zu trials, %s)", slowdown->count,
                       range_beside(slowdown->min, slowdown->max, slowdown->mean, range));
    } else {
        iwi_doc_append(doc, " (95 %% CI %s, %zu trials",
                       range_beside(mean.low, mean.high, slowdown->mean, range), slowdown->count);
        if (slowdown->median < mean.low || slowdown->median > mean.high) {
            iwi_doc_append(doc, "; median %s",
                           iwi_slowdown_column_text(sign * slowdown->median, sign * slowdown->mean, median));
        }
        iwi_doc_append(doc, ")");
    }
}

static void say_sensitivity(struct iwi_document *doc, const iw_reach *reach)
{
    char text[IWI_PARAGRAPH_SIZE] = "";

    if (reach != NULL) {
        iwi_append_sensitivity(text, &reach->sensitivity);
    }
    if (text[0] != '\0') {
        iwi_item(doc, "%s", text);
    }
}

/* By the mean, which is what many such runs pay. */
void iwi_say_simulation_verdict(struct iwi_document *doc, const iw_simulation *s)
{
    const iw_reach *reach = s->recording != NULL ? &s->recording->reach : NULL;
    const char *time = iwi_ns(doc, s->makespan_ns.mean);
    char text[IWI_PARAGRAPH_SIZE] = "", slower[IWI_PHRASE_SIZE], net[IWI_PHRASE_SIZE], ranks[IWI_NUMBER_SIZE];

    iwi_verdict(doc, "%s on %s rank%s of %s", s->what, iwi_ranks_text(s->run.ranks, ranks),
                iwi_plural_s(s->run.ranks), iwi_net_words(s->net->name, net));
    if (!iwi_is_disturbed(s)) {
        iwi_doc_append(doc, " takes %s (no noise %s)", time, reach != NULL ? "recorded" : "given");
    } else if (isnan(s->slowdown.mean)) {
        iwi_doc_append(doc, " takes %s on average and no time without %s", time, reference(s));
    } else if (reach != NULL && reach->is_bound) {
        say_bound(doc, s);
    } else {
        iwi_doc_append(doc, " %s without %s", iwi_slower_text(s->slowdown.mean, slower), reference(s));
        say_statistic(doc, s);
    }
    if (reach != NULL && reach->is_extrapolated) {
        iwi_append_laws(text, reach);
        iwi_doc_append(doc, ", %s", text);
    }
    iwi_doc_append(doc, ".");
    if (s->traced != NULL && s->traced->replicas < 2 &&
        (double)s->run.noiseless_ps > MOST_OF_TRACED * (double)s->traced->run_ps) {
        iwi_doc_append(doc, " The traced run, including its noise, took only %s: %s",
                       iwi_ps(doc, s->traced->run_ps),
                       s->traced->is_training ? "use the network that connects the GPUs."
                                              : "use the network of the traced run.");
    }
}

/* ---- how sure that is ---- */

static void say_extremes(struct iwi_document *doc, const iw_summary *makespan)
{
    iwi_doc_append(doc, "; lowest to highest makespan: %s.", span(doc, makespan->min, makespan->max));
    if (makespan->count < IW_LEAST_TRIALS) {
        iwi_item(doc, "Fewer than %d trials give no 95 %% interval: run 100.", (int)IW_LEAST_TRIALS);
    }
}

static void say_intervals(struct iwi_document *doc, const iw_simulation *s)
{
    const iw_summary *makespan = &s->makespan_ns;
    const double noiseless_ns = (double)s->run.noiseless_ps / (double)IW_PS_PER_NS;
    const double half_width = 0.5 * (makespan->mean_high - makespan->mean_low);
    const double cost = makespan->mean - noiseless_ns;
    const double most = (makespan->max - noiseless_ns) / (double)makespan->count;

    iwi_doc_append(doc, "; 95 %% CI of the mean makespan: %s, %s CI of the median: %s.",
                   span(doc, makespan->mean_low, makespan->mean_high),
                   iwi_percent(doc, iw_median_level(makespan->count)),
                   span(doc, makespan->median_low, makespan->median_high));
    if (cost > 0.0 && most > LARGE_PART * cost) {
        iwi_item(doc,
                 "One trial accounts for %s of the mean cost of noise: the interval may be too narrow. Run "
                 "more trials.",
                 iwi_percent(doc, most / cost));
    } else if (half_width > WIDE_INTERVAL * makespan->mean) {
        iwi_item(doc, "The mean is known to within %.0f %%: more trials narrow the interval.",
                 100.0 * half_width / makespan->mean);
    }
}

/* What the interval of a recording counts; of a bound there is none, and that of the trials would mislead. */
static void say_recorded(struct iwi_document *doc, const iw_simulation *s)
{
    const iw_summary *makespan = &s->makespan_ns;

    if (s->recording->reach.is_bound) {
        iwi_doc_append(doc, ". Counting recorded events only, the mean is %s, lowest to highest %s.",
                       iwi_ns(doc, makespan->mean), span(doc, makespan->min, makespan->max));
    } else if (s->recording->reach.is_extrapolated) {
        iwi_doc_append(doc,
                       ". The interval covers the spread of trials and of laws fitted to other recordings, "
                       "but not that the laws may be wrong.");
    } else {
        iwi_doc_append(
            doc, ". The interval covers the spread of trials and of other recordings of the same noise");
        if (s->recording->reach.unseen >= LEAST_UNSEEN) {
            iwi_doc_append(doc, ", and up to %s for longer detours of the recorded kinds",
                           iwi_percent(doc, s->recording->reach.unseen));
        }
        iwi_doc_append(doc, ". It does not cover noise that was not recorded.");
    }
}

void iwi_say_simulation_certainty(struct iwi_document *doc, const iw_simulation *s)
{
    const iw_summary *makespan = &s->makespan_ns;

    iwi_section(doc, "certainty", "How sure");
    if (!iwi_is_noisy(s)) {
        if (makespan->count > 1 && s->recording == NULL) {
            iwi_item(doc, "Without noise all trials are equal: one is enough.");
        }
        return;
    }
    iwi_item(doc, "%zu trial%s, seed %" PRIu64, makespan->count, iwi_plural_s(makespan->count), s->run.seed);
    if (makespan->count < 2) {
        iwi_doc_append(doc, ". One trial is not enough: run 100.");
    } else if (makespan->min == makespan->max) {
        /* what comes in a smaller share is met by none of n trials in over 5 % of cases: (1 - p)^n = 0.05 */
        iwi_doc_append(
            doc,
            ", all equal. Noise that hits fewer than %s of runs may be missing (95 %%): run more trials.",
            iwi_percent(doc, 1.0 - pow(0.05, 1.0 / (double)makespan->count)));
        if (is_moved_by_device(s->net)) {
            iwi_item(doc, "A device moves the messages: noise affects only CPU time.");
        }
    } else if (isnan(makespan->mean_low) || isnan(makespan->median_low)) {
        say_extremes(doc, makespan);
    } else if (s->recording != NULL && !isnan(s->recording->slowdown.low)) {
        say_recorded(doc, s);
    } else {
        say_intervals(doc, s);
    }
    say_sensitivity(doc, s->recording != NULL ? &s->recording->reach : NULL);
    if (s->independence != NULL) {
        say_alignment(doc, s->independence);
    }
}

/* ---- the traced run ---- */

void iwi_say_traced(struct iwi_document *doc, const iw_traced *traced)
{
    if (traced == NULL) {
        return;
    }
    iwi_row(doc, "traced",
            iwi_doc_printf(doc, "%s on %" PRIu32 " rank%s: %s in %s, %s between %s%s",
                           iwi_ps(doc, traced->run_ps), traced->ranks, iwi_plural_s(traced->ranks),
                           iwi_percent(doc, traced->mpi_share), traced->is_training ? "collectives" : "MPI",
                           iwi_percent(doc, 1.0 - traced->mpi_share), traced->is_training ? "them" : "calls",
                           isnan(traced->cpu_share) ? ""
                                                    : iwi_doc_printf(doc, ", of which %s CPU time",
                                                                     iwi_percent(doc, traced->cpu_share))));
    if (traced->cpu_share < LEAST_CPU_SHARE) {
        iwi_row(
            doc, "warning",
            iwi_doc_printf(
                doc,
                "only %s of the time between calls was CPU time: the ranks slept, or other processes used "
                "their CPUs. %s",
                iwi_percent(doc, traced->cpu_share),
                traced->is_by_cpu
                    ? "The prediction leaves the rest out; use the wall clock to include it"
                    : "The prediction counts all of it as computation; use CPU time to leave the rest out"));
    }
    if (traced->replicas < 2) {
        return;
    }
    iwi_row(
        doc, "replicas",
        iwi_doc_printf(doc, "%" PRIu32 " of %" PRIu32 " ranks; %s", traced->replicas, traced->ranks,
                       traced->replica_compute == IW_REPLICA_RESAMPLE
                           ? "each draws its computation from the trace"
                           : "each computes as traced, so imbalance does not grow with the number of ranks"));
    if (traced->has_p2p) {
        iwi_row(doc, "note",
                iwi_doc_printf(
                    doc,
                    "point-to-point messages stay inside a replica: a delay spreads to at most %" PRIu32
                    " ranks this way, so real programs of this size may lose more",
                    traced->ranks));
    }
}
