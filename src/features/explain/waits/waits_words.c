/* Who made the others wait, in sentences.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <string.h>

#include "core/base/base.h"
#include "features/explain/waits/waits_report.h"

/* Less waiting than this is not worth a search. */
static const double LITTLE = 0.01;
static const double MOST_OF_IT = 0.9;

/* Groups that do the same and transfer this many times as long are no longer alike. */
static const double SLOW_GROUP = 2.0;

/* A rerun that saves less than this part of what others waited contradicts it. */
static const double MUCH_LESS = 0.25;

enum { MOST_NAMED = 4, MOST_CHANGES = 3 };

double iwi_waits_share(const iw_waits *waits, double ns)
{
    return waits->run_ns > 0.0 ? ns / (waits->run_ns * waits->rank_count) : NAN;
}

/* "rank 3 on node17"; without its node where there is only one. */
static const char *waits_rank_name(struct iwi_document *doc, const iw_waits *waits, const iw_waits_rank *rank)
{
    return waits->node_count > 1 && rank->node[0] != '\0'
               ? iwi_doc_printf(doc, "rank %" PRIu32 " on %s", rank->rank, rank->node)
               : iwi_doc_printf(doc, "rank %" PRIu32, rank->rank);
}

/* ---- the verdict ---- */

static const char *last_words(struct iwi_document *doc, const iw_waits_rank *rank)
{
    return rank->met > 0 ? iwi_doc_printf(doc, ", and comes last to %s of %s collectives",
                                          iwi_percent_short(doc, (double)rank->last / (double)rank->met),
                                          iwi_count(doc, rank->met))
                         : "";
}

static const char *capital(struct iwi_document *doc, const char *sentence)
{
    return iwi_doc_printf(doc, "R%s", sentence + 1); /* rank ... */
}

/* Of the run: by how much longer than its peers it was busy. */
static const char *longer_words(struct iwi_document *doc, const iw_waits *waits, const iw_waits_rank *rank)
{
    return iwi_percent_short(doc, rank->longer_ns / waits->run_ns);
}

/* The one, if there is one. */
static void say_culprit(struct iwi_document *doc, const iw_waits *waits, const iw_waits_rank *rank)
{
    const char *name = waits_rank_name(doc, waits, rank);

    if (rank->pattern == IW_WAITS_PERIOD) {
        iwi_verdict(doc,
                    "From %s to %s of the run, %s makes the others wait:", iwi_ns_round(doc, rank->from_ns),
                    iwi_ns_round(doc, rank->to_ns), name);
    } else {
        iwi_verdict(doc, "%s makes the others wait:", capital(doc, name));
    }
    iwi_doc_append(doc, " it is busy longer than %s, by %s of the run%s.",
                   rank->peers > 1 ? iwi_doc_printf(doc, "the median of its %" PRIu32 " peers", rank->peers)
                                   : "its only peer",
                   longer_words(doc, waits, rank), last_words(doc, rank));
}

/* Of the ranks that are named, all on one node: its name, or NULL. */
static const char *common_node(const iw_waits *waits)
{
    const char *node = NULL;

    for (size_t i = 0; i < waits->ranks_count; i++) {
        const iw_waits_rank *rank = &waits->ranks[i];

        if (rank->pattern != IW_WAITS_ORDINARY) {
            if (rank->node[0] == '\0' || (node != NULL && strcmp(node, rank->node) != 0)) {
                return NULL;
            }
            node = rank->node;
        }
    }
    return node;
}

static void say_culprits(struct iwi_document *doc, const iw_waits *waits)
{
    const char *node = waits->node_count > 1 ? common_node(waits) : NULL;
    size_t said = 0;

    iwi_verdict(doc, "%" PRIu32 " ranks%s make the others wait: they are busy longer than their peers (",
                waits->named, node != NULL ? iwi_doc_printf(doc, " on %s", node) : "");
    for (size_t i = 0; i < waits->ranks_count; i++) {
        const iw_waits_rank *rank = &waits->ranks[i];

        if (rank->pattern != IW_WAITS_ORDINARY && said++ < MOST_NAMED) {
            iwi_doc_append(doc, "%srank %" PRIu32 " by %s%s", said > 1 ? ", " : "", rank->rank,
                           longer_words(doc, waits, rank), said > 1 ? "" : " of the run");
        }
    }
    if (said > MOST_NAMED) {
        iwi_doc_append(doc, ", and %zu more", said - MOST_NAMED);
    }
    iwi_doc_append(doc, ").");
}

/* Told from chance, though by too little to be named; the one that is busy the longest. */
static const iw_waits_rank *small_culprit(const iw_waits *waits)
{
    const iw_waits_rank *longest = NULL;

    for (size_t i = 0; i < waits->ranks_count; i++) {
        const iw_waits_rank *rank = &waits->ranks[i];

        longest =
            rank->chance < 0.01 && (longest == NULL || rank->longer_ns > longest->longer_ns) ? rank : longest;
    }
    return longest;
}

/* Most of the waiting is one rank's doing, though too rarely to be told from chance. */
static const iw_waits_rank *rare_culprit(const iw_waits *waits)
{
    for (size_t i = 0; i < waits->ranks_count; i++) {
        if (waits->ranks[i].caused_ns > MOST_OF_IT * waits->waiting_ns) {
            return &waits->ranks[i];
        }
    }
    return NULL;
}

/* Of groups with as many ranks and collectives, the one that transfers longest against the next. */
static bool say_slow_group(struct iwi_document *doc, const iw_waits *waits)
{
    const iw_waits_group *slow = NULL, *next = NULL;

    for (size_t i = 0; i < waits->group_count; i++) {
        slow = slow == NULL || waits->groups[i].transfer_ns > slow->transfer_ns ? &waits->groups[i] : slow;
    }
    for (size_t i = 0; i < waits->group_count; i++) {
        const iw_waits_group *group = &waits->groups[i];

        if (group != slow && group->ranks == slow->ranks && group->encounters == slow->encounters &&
            (next == NULL || group->transfer_ns > next->transfer_ns)) {
            next = group;
        }
    }
    if (next != NULL && slow->transfer_ns > SLOW_GROUP * next->transfer_ns &&
        iwi_waits_share(waits, slow->transfer_ns) >= waits->least_share) {
        iwi_doc_append(doc,
                       " Transfers of group '%s' take %s of all ranks' time (similar groups: at most %s); "
                       "check its links.",
                       slow->name, iwi_percent_short(doc, iwi_waits_share(waits, slow->transfer_ns)),
                       iwi_percent_short(doc, iwi_waits_share(waits, next->transfer_ns)));
        return true;
    }
    return false;
}

/* Of a run of which more than one rank was traced. */
static uint32_t missing_ranks(const iw_waits *waits)
{
    return waits->run_ranks > waits->rank_count && !waits->has_bounds_only
               ? waits->run_ranks - waits->rank_count
               : 0;
}

/* Waiting for ranks that were not traced looks like transfer. */
static void say_missing(struct iwi_document *doc, const iw_waits *waits)
{
    const uint32_t missing = missing_ranks(waits);

    if (missing > 0) {
        iwi_verdict(doc,
                    "Only %" PRIu32 " of %" PRIu32 " ranks were traced: up to %s of their time, counted as "
                    "transfer, may be waiting for the missing %s.",
                    waits->rank_count, waits->run_ranks,
                    iwi_percent_short(doc, iwi_waits_share(waits, waits->transfer_ns)),
                    missing == 1 ? "one" : "ones");
    }
}

static void say_nobody(struct iwi_document *doc, const iw_waits *waits)
{
    const char *ranks = waits->run_ranks > 0 ? "The traced ranks" : "Ranks";

    const iw_waits_rank *small = small_culprit(waits), *rare = rare_culprit(waits);
    const double share = iwi_waits_share(waits, waits->waiting_ns);

    if (share < LITTLE) {
        iwi_verdict(doc, "%s hardly wait for each other (%s of their time).", ranks,
                    iwi_percent_short(doc, share));
        return;
    }
    if (small != NULL) {
        iwi_verdict(doc,
                    "%s wait for each other %s of their time, but no rank stands out: %s is busy longer than "
                    "its peers by only %s of the run (limit %s).",
                    ranks, iwi_percent_short(doc, share), waits_rank_name(doc, waits, small),
                    longer_words(doc, waits, small), iwi_percent_short(doc, waits->least_share));
        return;
    }
    if (rare != NULL) {
        iwi_verdict(doc,
                    "%s wait for each other %s of their time. %s caused most of it (%s of all ranks' time), "
                    "but too rarely to be significant; trace more iterations.",
                    ranks, iwi_percent_short(doc, share), capital(doc, waits_rank_name(doc, waits, rare)),
                    iwi_percent_short(doc, iwi_waits_share(waits, rare->caused_ns)));
        return;
    }
    if (waits->imbalance_ns > waits->noise_ns) {
        iwi_verdict(
            doc,
            "%s wait for each other %s of their time, mostly the same ones every time, but no rank is "
            "busy longer than its peers.",
            ranks, iwi_percent_short(doc, share));
        if (!say_slow_group(doc, waits)) {
            iwi_doc_append(doc, " The layout makes them wait, or longer transfers in some groups.");
        }
        return;
    }
    iwi_verdict(doc, "%s wait for each other %s of their time, but no rank stands out%s", ranks,
                iwi_percent_short(doc, share),
                waits->unsplit_ns > waits->imbalance_ns + waits->noise_ns
                    ? "; trace more iterations to see whether the same ones wait every time."
                    : ": different ranks arrive last.");
}

static void say_bounds(struct iwi_document *doc, const iw_waits *waits)
{
    const char *most = iwi_percent_short(doc, iwi_waits_share(waits, waits->waiting_most_ns));

    iwi_verdict(
        doc, "The traced rank%s spent %s of %s waiting in collectives.", iwi_plural_s(waits->rank_count),
        waits->waiting_least_ns > 0.0
            ? iwi_doc_printf(doc, "between %s and %s",
                             iwi_percent_short(doc, iwi_waits_share(waits, waits->waiting_least_ns)), most)
            : iwi_doc_printf(doc, "at most %s", most),
        iwi_ns_round(doc, waits->run_ns));
    iwi_doc_append(doc, " Trace the other ranks, too, to see who made %s wait.",
                   waits->rank_count == 1 ? "it" : "them");
}

/* Where all pauses of a cause are, if they are on one rank. */
static const char *place_of(struct iwi_document *doc, const iw_waits *waits, const char *cause)
{
    for (size_t i = 0; i < waits->cost_count; i++) {
        const iw_waits_cost *cost = &waits->costs[i];

        if (strcmp(cost->cause, cause) == 0 && strcmp(cost->where, "everywhere") == 0 && cost->ranks == 1 &&
            cost->culprits[0] != '\0') {
            return iwi_doc_printf(doc, " on %s", cost->culprits);
        }
    }
    return "";
}

/* What a rerun without a cause saves of a step; NaN: it was not run. */
static double saved_without(const iw_waits *waits, const char *cause)
{
    for (size_t i = 0; i < waits->cost_count; i++) {
        if (strcmp(waits->costs[i].cause, cause) == 0 && strcmp(waits->costs[i].where, "everywhere") == 0) {
            return waits->costs[i].share.value;
        }
    }
    return NAN;
}

/* What helps against the pauses that traces name. */
static const char *remedy_of(const char *cause)
{
    static const struct {
        const char *cause, *remedy;
    } rows[] = {
        {"garbage collection", "collect garbage on all ranks in the same step"},
        {"data loading", "load batches ahead, with more workers"},
        {"late launches", "keep other work off the CPUs of the launching threads, or launch less often"},
        {"slow kernels", "check the GPU's clock and temperature"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp(rows[i].cause, cause) == 0) {
            return rows[i].remedy;
        }
    }
    return NULL;
}

/* The largest of the pauses that the trace names, if it matters. */
static const iw_waits_cause *largest_cause(const iw_waits *waits)
{
    const iw_waits_cause *largest = NULL;

    for (size_t i = 0; i < waits->cause_count; i++) {
        if (largest == NULL || waits->causes[i].caused_ns > largest->caused_ns) {
            largest = &waits->causes[i];
        }
    }
    return largest != NULL && iwi_waits_share(waits, largest->caused_ns) >= waits->least_share ? largest
                                                                                               : NULL;
}

static void say_pauses(struct iwi_document *doc, const iw_waits *waits, const iw_waits_cause *cause)
{
    const double share = iwi_waits_share(waits, cause->caused_ns);
    const double saved = saved_without(waits, cause->name);
    const char *remedy = remedy_of(cause->name);

    iwi_verdict(doc, "Ranks lost %s of their time to %s%s", iwi_percent_short(doc, share), cause->name,
                place_of(doc, waits, cause->name));
    if (saved < MUCH_LESS * share) {
        iwi_doc_append(doc, ", but without these pauses steps would be only %s shorter",
                       iwi_percent_short(doc, saved));
    } else if (remedy != NULL) {
        iwi_doc_append(doc, "; remedy: %s", remedy);
    }
    iwi_doc_append(doc, ".");
}

/* Where a rank is named, and no pause says why. */
static void say_remedy(struct iwi_document *doc, const iw_waits *waits)
{
    iwi_doc_append(doc, " Remedy: give %s less work, or check %s ('idlewave check').",
                   waits->named == 1 ? "it" : "them",
                   waits->named == 1                                     ? "its node"
                   : waits->node_count > 1 && common_node(waits) != NULL ? "their node"
                                                                         : "their nodes");
}

static void say_changes(struct iwi_document *doc, const iw_waits *waits)
{
    if (waits->change_count > 1) {
        iwi_verdict(doc,
                    "The time of an iteration changed %zu times; the first time at iteration %" PRIu64 ".",
                    waits->change_count, waits->changes[0].iteration);
    } else if (waits->change_count == 1) {
        iwi_verdict(doc, "From iteration %" PRIu64 " on, iterations take %s instead of %s.",
                    waits->changes[0].iteration, iwi_ns_short(doc, waits->changes[0].after_ns),
                    iwi_ns_short(doc, waits->changes[0].before_ns));
    }
}

void iwi_waits_say_verdict(struct iwi_document *doc, const iw_waits *waits)
{
    const iw_waits_cause *cause = waits->has_bounds_only ? NULL : largest_cause(waits);

    say_missing(doc, waits);
    if (waits->has_bounds_only) {
        say_bounds(doc, waits);
    } else if (waits->named == 0) {
        say_nobody(doc, waits);
    } else if (waits->named == 1) {
        for (size_t i = 0; i < waits->ranks_count; i++) {
            if (waits->ranks[i].pattern != IW_WAITS_ORDINARY) {
                say_culprit(doc, waits, &waits->ranks[i]);
            }
        }
    } else {
        say_culprits(doc, waits);
    }
    if (cause != NULL) {
        say_pauses(doc, waits, cause);
    } else if (waits->named > 0) {
        say_remedy(doc, waits);
    }
    if (missing_ranks(waits) == 0) { /* three sentences at most */
        say_changes(doc, waits);
    }
}

/* One by one, where the verdict counts them only, or has no room. */
static void list_changes(struct iwi_document *doc, const iw_waits *waits)
{
    if (waits->change_count == 0 || (waits->change_count == 1 && missing_ranks(waits) == 0)) {
        return;
    }
    iwi_doc_append(doc, " They take %s at first", iwi_ns_short(doc, waits->changes[0].before_ns));
    for (size_t i = 0; i < waits->change_count && i < MOST_CHANGES; i++) {
        iwi_doc_append(doc, ", %s from iteration %" PRIu64, iwi_ns_short(doc, waits->changes[i].after_ns),
                       waits->changes[i].iteration);
    }
    iwi_doc_append(doc, ".");
}

/* ---- how sure ---- */

static void say_test(struct iwi_document *doc, const iw_waits *waits)
{
    if (waits->rank_count < 2 || waits->block_count == 0) {
        return;
    }
    iwi_item(doc,
             "A rank is named if it was busy (neither waiting nor transferring) longer than its peers by at "
             "least %s of the run, and in significantly many of its %" PRIu32
             " parts (error rate 1 %%). Peers make as many visits of each kind. A rank without peers is "
             "compared with all, and may be named because it has more to do by design.",
             iwi_percent_short(doc, waits->least_share), waits->block_count);
    if (waits->computing_ns == 0.0) {
        iwi_item(doc,
                 "The files do not show when ranks compute. At most one rank is named, since those that it "
                 "delays seem to be busy longer, too.");
    }
    if (waits->block_count < 10) {
        iwi_item(doc, "There are too few collectives for most delays to be significant.");
    }
}

/* A rank that is named, but comes last by less than the clocks can tell. */
static void say_clocks(struct iwi_document *doc, const iw_waits *waits)
{
    const iw_waits_rank *below = NULL;

    if (isnan(waits->clock_ns)) {
        iwi_item(doc, "No collective allows clocks to be compared: they are taken as right.");
        return;
    }
    for (size_t i = 0; i < waits->ranks_count; i++) {
        const iw_waits_rank *rank = &waits->ranks[i];

        if (rank->pattern != IW_WAITS_ORDINARY && !isnan(rank->usual_late_ns) &&
            rank->usual_late_ns < waits->clock_ns && below == NULL) {
            below = rank;
        }
    }
    iwi_item(doc, "Clocks agree within %s: the median difference between ends of collectives.",
             iwi_ns_short(doc, waits->clock_ns));
    if (waits->clock_ns * (double)(waits->collectives + waits->messages) > waits->waiting_ns) {
        iwi_doc_append(doc, " Waits are shorter than that on average, and may be errors of the clocks.");
    } else if (below != NULL) {
        iwi_doc_append(doc,
                       " Rank %" PRIu32
                       " is usually less late than that at collectives (%s), so its place in the order of "
                       "arrivals says little.",
                       below->rank, iwi_ns_short(doc, fabs(below->usual_late_ns)));
    }
    if (waits->unordered > 0) {
        iwi_item(doc, "By the clocks, %s wait%s ended before the awaited rank came; %s up to %s end.",
                 iwi_count(doc, waits->unordered), iwi_plural_s(waits->unordered),
                 waits->unordered == 1 ? "it counts" : "they count", waits->unordered == 1 ? "its" : "their");
    }
}

void iwi_waits_say_certainty(struct iwi_document *doc, const iw_waits *waits)
{
    iwi_section(doc, "certainty", "How sure");
    if (waits->has_bounds_only) {
        iwi_item(
            doc,
            "Time hidden behind computation does not count as waiting. The lower limit assumes that equal "
            "collectives transfer as long as the shortest of them; the rest was waiting. The upper limit is "
            "all time in collectives. Collectives of unknown size are not taken as equal.");
    } else {
        say_test(doc, waits);
        say_clocks(doc, waits);
    }
    if (waits->iterations > 0) {
        iwi_item(doc,
                 "Changes of the time of an iteration are found at an error rate of 1 %% in a run without "
                 "any, up to 3 %% where neighbouring iterations resemble each other. Iterations are %s.",
                 waits->iterated);
        list_changes(doc, waits);
    }
    if (waits->unmatched > 0) {
        iwi_item(doc, "%s visit%s to collectives %s no counterpart in the traces of the other ranks.",
                 iwi_count(doc, waits->unmatched), iwi_plural_s(waits->unmatched),
                 waits->unmatched == 1 ? "has" : "have");
    }
    if (waits->lacks[0] != '\0') {
        iwi_item(doc, "%s", waits->lacks);
    }
}
