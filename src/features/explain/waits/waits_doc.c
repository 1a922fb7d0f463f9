/* Who made the others wait: ranks, nodes, groups, operations, causes, iterations.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <string.h>

#include "core/base/base.h"
#include "features/explain/part_schemas.h"
#include "features/explain/waits/waits_report.h"
#include "features/tables.h"
#include "kit/text/words.h"

/* ---- what pauses cost ---- */

enum { MOST_COSTS = 24 };

static const struct iwi_field cost_fields[] = {
    IWI_CHARS(iw_waits_cost, cause),
    IWI_CHARS(iw_waits_cost, where, .about = "of the pauses that are left out: `everywhere`, a rank, a node"),
    IWI_CHARS(iw_waits_cost, culprits, .about = "ranks with most of the cost"),
    IWI_VALUE(iw_waits_cost, ranks),
    IWI_VALUE(iw_waits_cost, pauses),
    IWI_VALUE(iw_waits_cost, paused_ns),
    IWI_ESTIMATE(iw_waits_cost, saved_ns,
                 .about = "of a step; the interval is for the mean of many steps under the same conditions"),
    IWI_ESTIMATE(iw_waits_cost, share, .about = "of the mean step"),
};
const struct iwi_schema iwi_waits_cost_schema = IWI_SCHEMA(iw_waits_cost, cost_fields);

static bool is_everywhere(const iw_waits_cost *cost)
{
    return strcmp(cost->where, "everywhere") == 0;
}

static const char *interval(struct iwi_document *doc, const iw_estimate *share)
{
    return iwi_from_to(doc, iwi_percent_short(doc, share->low), iwi_percent_short(doc, share->high));
}

/* "ranks 3, 5" as "ranks 3 and 5". */
static const char *culprit_words(struct iwi_document *doc, const char *culprits)
{
    const char *last = strrchr(culprits, ',');

    return last == NULL || strstr(last, " and others") != NULL
               ? culprits
               : iwi_doc_printf(doc, "%.*s and%s", (int)(last - culprits), culprits, last + 1);
}

/* The dearest cause in a sentence. */
static void say_dearest(struct iwi_document *doc, const iw_waits *waits)
{
    for (size_t i = 0; i < waits->cost_count; i++) {
        const iw_waits_cost *cost = &waits->costs[i];
        const char *others = interval(doc, &cost->share);

        if (is_everywhere(cost) && strcmp(cost->cause, "all pauses") != 0 && cost->share.value > 0.0) {
            iwi_paragraph(doc, "Without %s%s%s, a step would be %s shorter", cost->cause,
                          cost->culprits[0] != '\0' ? " on " : "", culprit_words(doc, cost->culprits),
                          iwi_percent_short(doc, cost->share.value));
            if (strcmp(others, "-") != 0) {
                iwi_doc_append(doc, " (95 %% CI for other runs: %s)", others);
            }
            iwi_doc_append(doc, ".");
            return;
        }
    }
}

static void waits_say_costs(struct iwi_document *doc, const iw_waits *waits)
{
    if (waits->cost_count == 0) {
        return;
    }
    iwi_section(doc, "costs", "What pauses cost");
    say_dearest(doc, waits);
    IWI_TABLE(doc, "", {"without", IWI_WORDS}, {"saved", IWI_NUMBER}, {"of a step", IWI_NUMBER},
              {"in other runs", IWI_NUMBER}, {"pauses", IWI_NUMBER}, {"paused", IWI_NUMBER});
    for (size_t i = 0; i < waits->cost_count && i < MOST_COSTS; i++) {
        const iw_waits_cost *cost = &waits->costs[i];

        iwi_row(doc, is_everywhere(cost) ? cost->cause : iwi_doc_printf(doc, "  %s", cost->where),
                iwi_ns_short(doc, cost->saved_ns.value), iwi_percent_short(doc, cost->share.value),
                interval(doc, &cost->share), iwi_count(doc, cost->pauses),
                iwi_ns_short(doc, cost->paused_ns));
    }
    iwi_unfold(doc);
    iwi_paragraph(
        doc,
        "Saved: what the mean of %" PRIu64
        " step%s loses when the run is computed again without these pauses. In other runs: 95 %% CI of the "
        "mean of many such steps. Savings do not add up, since pauses at the same time hide each other; "
        "pauses that the queue of a device absorbs cost nothing.",
        waits->steps, iwi_plural_s(waits->steps));
}

/* ---- the document ---- */

enum { MOST_PARTS = 8 };

/* Of all ranks' time: not worth a sentence. */
static const double LITTLE = 0.001;

/* ---- tables ---- */

static const char *pattern_name(unsigned pattern)
{
    static const char *const names[] = {"ordinary", "persistent", "period"};

    return pattern < sizeof names / sizeof names[0] ? names[pattern] : NULL;
}

static const struct iwi_field rank_fields[] = {
    IWI_VALUE(iw_waits_rank, rank),
    IWI_CHARS(iw_waits_rank, node, .about = "empty: unknown"),
    IWI_VALUE(iw_waits_rank, stage, .about = "-1: unknown"),
    IWI_VALUE(iw_waits_rank, computing_ns),
    IWI_VALUE(iw_waits_rank, waiting_ns),
    IWI_VALUE(iw_waits_rank, transfer_ns),
    IWI_VALUE(iw_waits_rank, other_ns),
    IWI_VALUE(iw_waits_rank, caused_ns, .about = "what others waited because of it"),
    IWI_VALUE(iw_waits_rank, met, .about = "collectives in which it met others"),
    IWI_VALUE(iw_waits_rank, last, .about = "of these, to which it came last"),
    IWI_VALUE(iw_waits_rank, usual_late_ns,
              .about = "median of its arrivals at collectives, against the median rank's"),
    IWI_VALUE(iw_waits_rank, peers, .about = "other ranks that do the same, with which it is compared"),
    IWI_VALUE(iw_waits_rank, longer_ns,
              .about = "by which it was busy (computing and other) longer than the median peer, in all"),
    IWI_VALUE(iw_waits_rank, blocks_won,
              .about = "parts of the run in which it was busy longer than any peer"),
    IWI_VALUE(iw_waits_rank, chance, .about = "that one of equal ranks looks as conspicuous"),
    IWI_ENUM(iw_waits_rank, pattern, "pattern", pattern_name, .about = "`persistent`: all through the run"),
    IWI_VALUE(iw_waits_rank, from_ns, .about = "of the period; of the run where there is none"),
    IWI_VALUE(iw_waits_rank, to_ns),
};
static const struct iwi_schema rank_schema = IWI_SCHEMA(iw_waits_rank, rank_fields);

static const struct iwi_field part_fields[] = {
    IWI_CHARS(iw_waits_group, name),
    IWI_VALUE(iw_waits_group, ranks, .about = "that have to do with it"),
    IWI_VALUE(iw_waits_group, encounters,
              .about = "how often ranks met there; of nodes and stages, how often their ranks came last"),
    IWI_VALUE(iw_waits_group, waiting_ns, .about = "of these ranks, or in these encounters"),
    IWI_VALUE(iw_waits_group, transfer_ns),
    IWI_VALUE(iw_waits_group, caused_ns, .about = "of nodes and stages: what others waited because of them"),
    IWI_VALUE(iw_waits_group, imbalance_ns,
              .about = "of groups and operations: waiting that is the same every time"),
    IWI_VALUE(iw_waits_group, noise_ns, .about = "of groups and operations: waiting that varies"),
};
static const struct iwi_schema part_schema = IWI_SCHEMA(iw_waits_group, part_fields);

static const struct iwi_field cause_fields[] = {
    IWI_CHARS(iw_waits_cause, name),
    IWI_VALUE(iw_waits_cause, pauses),
    IWI_VALUE(iw_waits_cause, paused_ns),
    IWI_VALUE(iw_waits_cause, caused_ns, .about = "what others waited for these pauses"),
};
static const struct iwi_schema cause_schema = IWI_SCHEMA(iw_waits_cause, cause_fields);

static const struct iwi_field change_fields[] = {
    IWI_VALUE(iw_waits_change, iteration, .about = "first one of the new level, from 0"),
    IWI_VALUE(iw_waits_change, before_ns, .about = "median"),
    IWI_VALUE(iw_waits_change, after_ns, .about = "median"),
    IWI_VALUE(iw_waits_change, chance, .about = "of a series without a change"),
};
static const struct iwi_schema change_schema = IWI_SCHEMA(iw_waits_change, change_fields);

static const struct iwi_field row_fields[] = {
    IWI_VALUE(iw_waits_row, first_rank),
    IWI_VALUE(iw_waits_row, rank_count),
    IWI_VALUES(iw_waits_row, waiting, column_count,
               .about = "share of the time that they wait, a number for each column"),
    IWI_VALUES(iw_waits_row, caused, column_count,
               .about = "share of the others' time that they make them wait"),
};
static const struct iwi_schema row_schema = IWI_SCHEMA(iw_waits_row, row_fields);

static bool lacks_ranks(const void *subject)
{
    return ((const iw_waits *)subject)->run_ranks > 0;
}

static const struct iwi_field waits_fields[] = {
    IWI_VALUE(iw_waits, name),
    IWI_CHARS(iw_waits, origin, .about = "format of the trace"),
    IWI_VALUE(iw_waits, lacks, .about = "what the trace does not tell, in words; empty: nothing"),
    IWI_VALUE_AS(iw_waits, rank_count, "traced_ranks"),
    IWI_VALUE(iw_waits, run_ranks, .is_there = lacks_ranks, .is_optional = true,
              .about = "ranks of the run, where more than were traced"),
    IWI_VALUE(iw_waits, collectives, .about = "in which traced ranks met"),
    IWI_VALUE(iw_waits, messages, .about = "in which traced ranks met"),
    IWI_VALUE(iw_waits, unmatched, .about = "visits to collectives that no other traced rank made"),
    IWI_VALUE(iw_waits, unordered, .about = "waits that ended before the awaited rank came, by the clocks"),
    IWI_VALUE(iw_waits, run_ns, .about = "from the first beginning to the last end of a rank"),
    IWI_VALUE(iw_waits, computing_ns, .about = "of all ranks, summed, as the next ones"),
    IWI_VALUE(iw_waits, waiting_ns),
    IWI_VALUE(iw_waits, transfer_ns),
    IWI_VALUE(iw_waits, other_ns),
    IWI_VALUE(iw_waits, imbalance_ns, .about = "of the waiting, what is the same every time"),
    IWI_VALUE(iw_waits, noise_ns, .about = "of the waiting, what varies"),
    IWI_VALUE(iw_waits, unsplit_ns, .about = "of the waiting, what happens too rarely to tell"),
    IWI_VALUE(iw_waits, through_transfer_ns,
              .about = "of the waiting, while the awaited rank was busy with a transfer"),
    IWI_VALUE(iw_waits, has_bounds_only,
              .about = "one rank was traced: `waiting_least_ns` and `waiting_most_ns` are all that is known"),
    IWI_VALUE(iw_waits, waiting_least_ns),
    IWI_VALUE(iw_waits, waiting_most_ns),
    IWI_VALUE(iw_waits, clock_ns, .about = "within which the ends of collectives agree, the median"),
    IWI_VALUE_AS(iw_waits, block_count, "blocks", .about = "parts of the run that ranks are judged by"),
    IWI_VALUE(iw_waits, least_share,
              .about = "of the run by which a rank must be busy longer than its peers to be named"),
    IWI_VALUE(iw_waits, top, .about = "ranks that text and page list"),
    IWI_VALUE(iw_waits, named, .about = "how many ranks are named"),
    IWI_VALUE(iw_waits, iterations),
    IWI_CHARS(iw_waits, iterated, .about = "what an iteration is"),
    IWI_VALUE(iw_waits, iteration_ns, .about = "the median"),
    IWI_OBJECTS(iw_waits, ranks, ranks_count, rank_schema, .is_row = true, .about = "the most caused first"),
    IWI_OBJECTS(iw_waits, nodes, node_count, part_schema),
    IWI_OBJECTS(iw_waits, stages, stage_count, part_schema, .about = "of the pipeline"),
    IWI_OBJECTS(iw_waits, groups, group_count, part_schema, .about = "communicators"),
    IWI_OBJECTS_AS(iw_waits, ops, op_count, "operations", part_schema),
    IWI_OBJECTS(iw_waits, causes, cause_count, cause_schema, .about = "pauses that the trace names"),
    IWI_VALUE(iw_waits, steps),
    IWI_VALUE(iw_waits, step_ns, .about = "the mean, by which `costs` are told; 0 where there are no pauses"),
    IWI_OBJECTS(iw_waits, costs, cost_count, iwi_waits_cost_schema,
                .about = "of pauses, found by running the trace again without them"),
    IWI_OBJECTS(iw_waits, changes, change_count, change_schema, .about = "in the time of iterations"),
    IWI_VALUE(iw_waits, iterations_per_time),
    IWI_VALUES(iw_waits, times_ns, time_count, .about = "of iterations, means of `iterations_per_time` each"),
    IWI_VALUE(iw_waits, iterations_per_column),
    IWI_OBJECTS(iw_waits, map, row_count, row_schema, .about = "by rank"),
    IWI_INLINE(iw_waits, caveats, iwi_caveats_schema),
};
const struct iwi_schema iwi_waits_schema = IWI_SCHEMA(iw_waits, waits_fields);

/* ---- words ---- */

static const char *of_time(struct iwi_document *doc, const iw_waits *waits, double ns)
{
    return iwi_percent_short(doc, iwi_waits_share(waits, ns));
}

/* Waiting apart from transfer; a rank alone cannot tell them apart. */
static void say_meetings(struct iwi_document *doc, const iw_waits *waits)
{
    if (waits->has_bounds_only) {
        iwi_row(doc, "in collectives", of_time(doc, waits, waits->waiting_ns + waits->transfer_ns),
                "waiting and transfer");
        return;
    }
    iwi_row(doc, "waiting, imbalance", of_time(doc, waits, waits->imbalance_ns),
            "the same ranks arrive late every time");
    iwi_row(doc, "waiting, noise", of_time(doc, waits, waits->noise_ns), "late arrivals that vary");
    if (waits->unsplit_ns > 0.0) {
        iwi_row(doc, "waiting, unclassified", of_time(doc, waits, waits->unsplit_ns),
                "too rare: fewer than ten times");
    }
    iwi_row(doc, "transfer", of_time(doc, waits, waits->transfer_ns), "after the last rank arrived");
}

static void say_time(struct iwi_document *doc, const iw_waits *waits)
{
    iwi_section(doc, "time", "Where the ranks' time went");
    IWI_TABLE(doc, "", {"", IWI_WORDS}, {"share", IWI_NUMBER}, {"", IWI_WORDS});
    iwi_row(doc, "computing", of_time(doc, waits, waits->computing_ns), "");
    say_meetings(doc, waits);
    iwi_row(doc, "other", of_time(doc, waits, waits->other_ns), "local calls, idle devices");
    iwi_unfold(doc);
}

static const char *pattern_words(struct iwi_document *doc, const iw_waits_rank *rank)
{
    switch (rank->pattern) {
    case IW_WAITS_PERSISTENT: return "whole run";
    case IW_WAITS_PERIOD:
        return iwi_doc_printf(doc, "%s to %s", iwi_ns_round(doc, rank->from_ns),
                              iwi_ns_round(doc, rank->to_ns));
    default: return "not significant";
    }
}

static void say_ranks(struct iwi_document *doc, const iw_waits *waits)
{
    if (waits->has_bounds_only) {
        return;
    }
    iwi_section(doc, "ranks", "Ranks");
    IWI_TABLE(doc, "", {"rank", IWI_NUMBER}, {"node", IWI_WORDS}, {"caused", IWI_NUMBER},
              {"waited", IWI_NUMBER}, {"computed", IWI_NUMBER}, {"last", IWI_NUMBER}, {"late by", IWI_NUMBER},
              {"when", IWI_WORDS});
    for (size_t i = 0; i < waits->ranks_count && i < waits->top; i++) {
        const iw_waits_rank *rank = &waits->ranks[i];

        iwi_row(
            doc, iwi_doc_printf(doc, "%" PRIu32, rank->rank), rank->node[0] != '\0' ? rank->node : "-",
            of_time(doc, waits, rank->caused_ns), iwi_percent_short(doc, rank->waiting_ns / waits->run_ns),
            iwi_percent_short(doc, rank->computing_ns / waits->run_ns),
            rank->met > 0 ? iwi_percent_short(doc, (double)rank->last / (double)rank->met) : "-",
            isnan(rank->usual_late_ns)  ? "-"
            : rank->usual_late_ns < 0.0 ? iwi_doc_printf(doc, "-%s", iwi_ns_short(doc, -rank->usual_late_ns))
                                        : iwi_ns_short(doc, rank->usual_late_ns),
            pattern_words(doc, rank));
    }
    iwi_unfold(doc);
    iwi_note(doc,
             "Caused: time that others waited because of this rank, directly or through other ranks, of all "
             "ranks' time. Waited, computed: of the run. Last: of its collectives. Late by: the median at "
             "collectives, against the median rank.%s",
             waits->ranks_count > waits->top
                 ? iwi_doc_printf(doc, " %zu further ranks caused less.", waits->ranks_count - waits->top)
                 : "");
    if (iwi_waits_share(waits, waits->through_transfer_ns) > LITTLE) {
        iwi_doc_append(doc,
                       " For %s of all ranks' time they waited for transfers under way; no rank is blamed.",
                       of_time(doc, waits, waits->through_transfer_ns));
    }
}

static void say_places(struct iwi_document *doc, const iw_waits *waits, const char *id, const char *title,
                       const iw_waits_group *parts, size_t count)
{
    if (count < 2) {
        return;
    }
    iwi_section(doc, id, title);
    IWI_TABLE(doc, "", {"", IWI_WORDS}, {"ranks", IWI_NUMBER}, {"caused", IWI_NUMBER}, {"waited", IWI_NUMBER},
              {"last to", IWI_NUMBER});
    for (size_t i = 0; i < count && i < MOST_PARTS; i++) {
        iwi_row(doc, parts[i].name, iwi_count(doc, parts[i].ranks), of_time(doc, waits, parts[i].caused_ns),
                of_time(doc, waits, parts[i].waiting_ns), iwi_count(doc, parts[i].encounters));
    }
    iwi_unfold(doc);
}

static void say_parts(struct iwi_document *doc, const iw_waits *waits, const char *id, const char *title,
                      const iw_waits_group *parts, size_t count)
{
    if (count == 0) {
        return;
    }
    iwi_section(doc, id, title);
    IWI_TABLE(doc, "", {"", IWI_WORDS}, {"ranks", IWI_NUMBER}, {"how often", IWI_NUMBER},
              {"imbalance", IWI_NUMBER}, {"noise", IWI_NUMBER}, {"transfer", IWI_NUMBER});
    for (size_t i = 0; i < count && i < MOST_PARTS; i++) {
        iwi_row(doc, parts[i].name, iwi_count(doc, parts[i].ranks), iwi_count(doc, parts[i].encounters),
                of_time(doc, waits, parts[i].imbalance_ns), of_time(doc, waits, parts[i].noise_ns),
                of_time(doc, waits, parts[i].transfer_ns));
    }
    iwi_unfold(doc);
}

static void say_causes(struct iwi_document *doc, const iw_waits *waits)
{
    if (waits->cause_count == 0) {
        return;
    }
    iwi_section(doc, "causes", "Pauses found in the trace");
    IWI_TABLE(doc, "", {"", IWI_WORDS}, {"pauses", IWI_NUMBER}, {"paused", IWI_NUMBER},
              {"others waited", IWI_NUMBER});
    for (size_t i = 0; i < waits->cause_count; i++) {
        const iw_waits_cause *cause = &waits->causes[i];

        iwi_row(doc, cause->name, iwi_count(doc, cause->pauses), iwi_ns_short(doc, cause->paused_ns),
                of_time(doc, waits, cause->caused_ns));
    }
    iwi_unfold(doc);
}

/* ---- the document ---- */

static void write_doc(struct iwi_document *doc, const void *subject)
{
    const iw_waits *waits = subject;

    iwi_title(doc, "Who made whom wait in %s", waits->name);
    iwi_subtitle(doc, "%s, %" PRIu32 " rank%s, %s, %s collectives and %s messages", waits->origin,
                 waits->rank_count, iwi_plural_s(waits->rank_count), iwi_ns_round(doc, waits->run_ns),
                 iwi_count(doc, waits->collectives), iwi_count(doc, waits->messages));
    iwi_waits_say_verdict(doc, waits);
    iwi_waits_show_map(doc, waits);
    say_time(doc, waits);
    say_ranks(doc, waits);
    say_places(doc, waits, "nodes", "Nodes", waits->nodes, waits->node_count);
    say_places(doc, waits, "stages", "Stages", waits->stages, waits->stage_count);
    say_parts(doc, waits, "operations", "Operations", waits->ops, waits->op_count);
    if (waits->group_count > 1) {
        say_parts(doc, waits, "groups", "Groups", waits->groups, waits->group_count);
    }
    waits_say_costs(doc, waits);
    say_causes(doc, waits);
    iwi_only_in(doc, IWI_ON_PAGES | IWI_IN_PLOTS);
    iwi_waits_show_times(doc, waits);
    iwi_only_in(doc, IWI_EVERYWHERE);
    iwi_waits_say_certainty(doc, waits);
}

/* Of files: rows of the map are equally long. */
static iw_status check(const iw_log *log, const char *name, const void *subject)
{
    const iw_waits *waits = subject;

    for (size_t i = 1; i < waits->row_count; i++) {
        if (waits->map[i].column_count != waits->map[0].column_count) {
            return iwi_fail(log, IW_ERR_FORMAT, "'%s': the rows of 'map' differ in length", name);
        }
    }
    return IW_OK;
}

const struct iwi_kind iwi_waits_kind = {
    .name = "waits",
    .schema_id = "idlewave.waits/2",
    .about = "Who made whom wait in a run, from `idlewave explain --only waits FILE --format json`. CSV has "
             "a line for each rank",
    .older_id = "idlewave.waits/1",
    .schema = &iwi_waits_schema,
    .write_doc = write_doc,
    .check = check,
};

IWI_DOC(iw_waits_doc, iw_waits, waits, iwi_waits_kind)
