/* An answer to "what if" in words.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "features/simulate/simulate.h"
#include "features/whatif/changes.h"
#include "features/whatif/whatif_report.h"
#include "kit/text/words.h"

enum { LISTED_SOURCES = 6 };

/* ---- numbers and names ---- */

static const char *saving_words(struct iwi_document *doc, iw_estimate saving)
{
    return iwi_points_words(doc, saving, " points");
}

/* "7.10 % (6.20 to 8.00 %)", "at least 6.20 %" */
static const char *slowdown_words(struct iwi_document *doc, iw_estimate e)
{
    if (iwi_is_bound(e)) {
        return iwi_doc_printf(doc, "at least %s", iwi_slowdown_percent(doc, e.low));
    }
    return e.low < e.high ? iwi_doc_printf(doc, "%s (%s to %s)", iwi_slowdown_percent(doc, e.value),
                                           iwi_points(doc, e.low), iwi_slowdown_percent(doc, e.high))
                          : iwi_slowdown_percent(doc, e.value);
}

/* "reserved core", or "4 reserved cores". */
static bool is_one_core(const iw_change *change)
{
    return strcmp(change->name, "reserved core") == 0;
}

const char *iwi_change_words(struct iwi_document *doc, const iw_change *change)
{
    switch (change->kind) {
    case IW_CHANGE_ALL: return strcmp(change->name, "all") == 0 ? "all noise" : "all system noise";
    case IW_CHANGE_REST: return iwi_doc_printf(doc, "the %zu others", change->removed_count);
    case IW_CHANGE_CLASS: return iwi_doc_printf(doc, "class %s (%zu)", change->name, change->removed_count);
    case IW_CHANGE_TOGETHER: return "all nodes at the same time";
    case IW_CHANGE_APART: return "independent nodes";
    case IW_CHANGE_RESERVE:
        return is_one_core(change) ? "a core for the OS" : iwi_doc_printf(doc, "%s", change->name);
    default: return change->name;
    }
}

const iw_change *iwi_next_change(const iw_whatif *whatif, iw_change_kind kind, const iw_change *change)
{
    for (size_t i = change != NULL ? (size_t)(change - whatif->changes) + 1 : 0; i < whatif->change_count;
         i++) {
        if (whatif->changes[i].kind == kind) {
            return &whatif->changes[i];
        }
    }
    return NULL;
}

static const iw_change *first_change(const iw_whatif *whatif, iw_change_kind kind)
{
    return iwi_next_change(whatif, kind, NULL);
}

static const char *ranks_words(struct iwi_document *doc, uint64_t ranks)
{
    return iwi_doc_printf(doc, "%s", iwi_ranks_text(ranks, (char[IWI_NUMBER_SIZE]){0}));
}

static const char *about_ranks_words(struct iwi_document *doc, double ranks)
{
    return iwi_doc_printf(doc, "%s", iwi_about_ranks_text(ranks, (char[IWI_NUMBER_SIZE]){0}));
}

/* ---- the verdict ---- */

static uint64_t node_count(const iw_whatif *whatif)
{
    const uint64_t per_node = whatif->ranks_per_node > 1 ? whatif->ranks_per_node : 1;

    return (whatif->ranks + per_node - 1) / per_node;
}

/* "allreduce on 8,192 ranks of hdr-fat-tree (512 nodes, 16 ranks per node, as recorded)" */
static void say_job(struct iwi_document *doc, const iw_whatif *whatif)
{
    const uint64_t nodes = node_count(whatif);
    char placing[IW_NODES_TEXT_SIZE], net[IWI_PHRASE_SIZE];
    const bool is_recorded =
        iw_nodes_text(whatif->ranks_per_node, whatif->cores_per_rank, whatif->recorded_cpus,
                      whatif->noise_cpus[0] != '\0' ? whatif->noise_cpus : NULL, placing)[0] != '\0';

    iwi_verdict(doc, "%s on %s rank%s of %s", whatif->what, ranks_words(doc, whatif->ranks),
                iwi_plural_s(whatif->ranks), iwi_net_words(whatif->net, net));
    if (whatif->ranks_per_node > 1) {
        iwi_doc_append(doc, " (%s node%s%s%s)", ranks_words(doc, nodes), iwi_plural_s(nodes),
                       is_recorded ? ", " : "", placing);
    } else if (is_recorded) {
        iwi_doc_append(doc, " (%s)", placing);
    }
}

/* " is 7.10 % slower than without noise (95 % CI 6.20 to 8.00 %, 20 trials)" */
static void say_now(struct iwi_document *doc, const iw_whatif *whatif)
{
    const iw_estimate now = whatif->now;
    char text[IWI_PARAGRAPH_SIZE] = "", range[IWI_RANGE_SIZE], phrase[IWI_PHRASE_SIZE];

    if (whatif->reach.is_bound) {
        iwi_append_bound(text, now, "noise");
        iwi_append_reach(text, &whatif->reach, whatif->ranks,
                         (double)whatif->noiseless_ps / (double)IW_PS_PER_NS);
        iwi_doc_append(doc, "%s", text);
    } else {
        iwi_doc_append(doc, " %s without noise", iwi_slower_text(now.value, phrase));
        if (now.low < now.high) {
            iwi_doc_append(doc, " (95 %% CI %s, %" PRIu64 " trials)",
                           iwi_slowdown_range_text(now.low, now.high, now.value, range), whatif->trials);
        } else {
            iwi_doc_append(doc, " (mean of %" PRIu64 " trials)", whatif->trials);
        }
    }
    if (whatif->reach.is_extrapolated) {
        text[0] = '\0';
        iwi_append_laws(text, &whatif->reach);
        iwi_doc_append(doc, ", %s", text);
    }
    iwi_doc_append(doc, ".");
}

/* "Main cause: thread/collectd; without it, the slowdown would be 11.0 % (saves 67.5 points, 60.1 to 75.2)."
 * Of bounds nobody knows which is the largest, nor whether it is most of the whole. */
static void say_cause(struct iwi_document *doc, const iw_whatif *whatif, const iw_change *cause)
{
    const iw_estimate saving = cause->saving;
    const double left = cause->slowdown.value;
    char number[IWI_NUMBER_SIZE];

    if (iwi_is_bound(whatif->now) || iwi_is_bound(saving)) {
        iwi_doc_append(doc, " Largest known cause: %s (saves %s).", iwi_change_words(doc, cause),
                       saving_words(doc, saving));
        return;
    }
    iwi_doc_append(doc, " %s cause: %s; without it, ",
                   saving.value > 0.5 * whatif->now.value ? "Main" : "Largest", iwi_change_words(doc, cause));
    if (iwi_is_large_slowdown(left)) {
        iwi_doc_append(doc, "the job would take %s as long", iwi_slowdown_text(left, number));
    } else {
        iwi_doc_append(doc, "the slowdown would be %s", iwi_slowdown_text(left, number));
    }
    iwi_doc_append(doc, " (saves %s points", iwi_points(doc, saving.value));
    if (isfinite(saving.low) && saving.low < saving.high) {
        iwi_doc_append(doc, ", %s to %s", iwi_points(doc, saving.low), iwi_points(doc, saving.high));
    }
    iwi_doc_append(doc, ").");
}

static void say_best(struct iwi_document *doc, const iw_whatif *whatif, const iw_change *best)
{
    if (iwi_is_worth_it(best)) {
        say_cause(doc, whatif, best);
        if (best->remedy != NULL) {
            iwi_doc_append(doc, " Remedy: %s.", best->remedy->name);
        }
        return;
    }
    if (iwi_is_bound(whatif->now)) {
        iwi_doc_append(doc, " The main cause is unknown.");
        return;
    }
    iwi_doc_append(doc,
                   " No source is significant on its own; the largest, %s, may save %s. Run more trials%s.",
                   iwi_change_words(doc, best), saving_words(doc, best->saving),
                   whatif->recorded_s > 0 ? ", or record longer" : "");
}

/* For who pays for nodes: of T = (1 + s) T0, s / (1 + s) is lost. */
static void say_idle_nodes(struct iwi_document *doc, const iw_whatif *whatif)
{
    const double now = whatif->now.value;
    const double idle = now / (1.0 + now) * (double)node_count(whatif);

    if (!whatif->reach.is_bound && now > 0.0 && idle >= 1.0) {
        iwi_doc_append(doc, " Equivalent to losing %s of %s %s.", ranks_words(doc, (uint64_t)(idle + 0.5)),
                       ranks_words(doc, node_count(whatif)), whatif->ranks_per_node > 1 ? "nodes" : "ranks");
    }
}

static void say_sensitivity(struct iwi_document *doc, const iw_whatif *whatif)
{
    char text[IWI_PARAGRAPH_SIZE] = "";

    iwi_append_sensitivity(text, &whatif->reach.sensitivity);
    if (text[0] != '\0') {
        iwi_item(doc, "%s", text);
    }
}

void iwi_say_whatif_verdict(struct iwi_document *doc, const iw_whatif *whatif)
{
    const iw_change *best = first_change(whatif, IW_CHANGE_SOURCE);
    const iw_change *network = first_change(whatif, IW_CHANGE_NETWORK);

    say_job(doc, whatif);
    if (isnan(whatif->now.value)) {
        iwi_doc_append(doc, " takes no time without noise, so the slowdown is undefined.");
        return;
    }
    say_now(doc, whatif);
    if (network != NULL && iwi_is_worth_it(network) &&
        (best == NULL || network->saving.value > best->saving.value)) {
        say_cause(doc, whatif, network); /* delays of messages cost more than any source of the system */
    } else if (best != NULL) {
        say_best(doc, whatif, best);
    }
    say_idle_nodes(doc, whatif);
}

/* ---- facts ---- */

/* Files of 0.2 hold sums of bounds too. */
static void say_interaction(struct iwi_document *doc, const iw_whatif *whatif)
{
    const iw_change *all = first_change(whatif, IW_CHANGE_ALL),
                    *first = first_change(whatif, IW_CHANGE_SOURCE);
    const char *one = iwi_points(doc, whatif->sum_of_sources), *other;

    if (isnan(whatif->sum_of_sources) || all == NULL || !(all->saving.value > 0) || first == NULL ||
        iwi_next_change(whatif, IW_CHANGE_SOURCE, first) == NULL ||
        iwi_has_bounds(whatif->changes, whatif->change_count)) {
        return;
    }
    other = iwi_points(doc, all->saving.value);
    if (strcmp(one, other) == 0) {
        iwi_paragraph(doc, "Savings add up for this job: %s points, one by one or all at once.", one);
        return;
    }
    iwi_paragraph(
        doc,
        "Savings do not add up: the sum of single savings is %s points, removing all sources saves "
        "%s. %s",
        one, other,
        whatif->sum_of_sources < all->saving.value
            ? "When one source is gone, another takes its place on the critical path."
            : "Waiting absorbs one delay but not two: removing either saves as much as removing both.");
}

static void say_order(struct iwi_document *doc, const iw_whatif *whatif)
{
    if (!whatif->is_monotone) {
        iwi_paragraph(
            doc,
            "Less noise can also make this job slower: arrival order may decide what ranks do "
            "next, ranks may compete for memory, or earlier messages may meet longer network delays "
            "(docs/explanation/semantics.md, 9). Savings may thus be negative, and one set of sources says "
            "nothing about another.%s",
            whatif->recorded_s > 0.0 ? " Upper limits assume that an unrecorded detour costs no "
                                       "more than its length; here it may cost more."
                                     : "");
    }
}

/* "irq/eno1, thread/nscd and 3 others" */
static const char *list_words(struct iwi_document *doc, const char **names, size_t count)
{
    const size_t listed = count > LISTED_SOURCES + 1 ? LISTED_SOURCES : count;
    const char *list = "";

    for (size_t i = 0; i < listed; i++) {
        list = iwi_doc_printf(doc, "%s%s%s", list, i == 0 ? "" : (i + 1 == count ? " and " : ", "), names[i]);
    }
    return listed < count ? iwi_doc_printf(doc, "%s and %zu others", list, count - listed) : list;
}

static void say_target(struct iwi_document *doc, const iw_whatif *whatif)
{
    const iw_change *set = &whatif->target_set;
    const char *goal = iwi_slowdown_percent(doc, whatif->target);

    if (!(whatif->target >= 0.0)) {
        return;
    }
    if (iwi_is_bound(whatif->now) && (!whatif->has_target_set || iwi_is_bound(set->slowdown))) {
        iwi_paragraph(doc, "Which sources to remove to stay below %s is unknown: record longer.", goal);
        return;
    }
    if (!whatif->has_target_set) {
        iwi_paragraph(doc, "The slowdown stays above %s %s.", goal,
                      whatif->is_target_exact
                          ? "whatever is removed"
                          : "with every set that was removed; there were too many sets to try all");
        return;
    }
    if (set->removed_count == 0) {
        iwi_paragraph(doc, "The slowdown is already below %s.", goal);
        return;
    }
    iwi_paragraph(doc, "To stay below %s, remove %s: the slowdown is then %s. %s%s", goal,
                  list_words(doc, set->removes, set->removed_count), slowdown_words(doc, set->slowdown),
                  iwi_is_bound(whatif->now)
                      ? "A smaller set may be enough."
                      : (whatif->is_target_exact
                             ? "No smaller set is enough."
                             : "There were too many sets to try all: a smaller one may be enough."),
                  isfinite(set->slowdown.high) && set->slowdown.high > whatif->target
                      ? " The interval includes larger slowdowns: this set may not be enough."
                      : "");
}

/* From how many ranks on it pays, if more than one number was looked at. */
static void say_break_even(struct iwi_document *doc, const iw_break_even *even)
{
    const char *least = ranks_words(doc, even->least_ranks), *most = ranks_words(doc, even->most_ranks);

    if (even->is_known) {
        iwi_doc_append(doc, " It pays off from about %s ranks", about_ranks_words(doc, even->ranks.value));
        if (even->ranks.low < even->ranks.high) {
            iwi_doc_append(doc, " (%s to %s)", about_ranks_words(doc, even->ranks.low),
                           about_ranks_words(doc, even->ranks.high));
        }
        iwi_doc_append(doc, ".");
    } else if (even->least_ranks < even->most_ranks && even->is_always) {
        iwi_doc_append(doc, " It pays off at all sizes from %s ranks.", least);
    } else if (even->least_ranks < even->most_ranks) {
        iwi_doc_append(doc, " It does not pay off consistently between %s and %s ranks.", least, most);
    }
}

static void say_reserve(struct iwi_document *doc, const iw_whatif *whatif)
{
    const iw_change *change = first_change(whatif, IW_CHANGE_RESERVE);
    const char *cores;
    iw_estimate saving;
    bool is_one;

    if (change == NULL) {
        if (whatif->is_reserve_unknown) {
            iwi_paragraph(
                doc, "The effect of leaving a core of each node to the operating system is unknown: its "
                     "price is longer computation, and this job has none. Add computation between messages, "
                     "or use a trace.");
        }
        return;
    }
    is_one = is_one_core(change);
    saving = change->saving;
    cores = is_one ? "one core" : iwi_doc_printf(doc, "%ld cores", strtol(change->name, NULL, 10));
    if (iwi_is_bound(saving) && !(saving.low > 0.0)) {
        iwi_paragraph(doc,
                      "Leaving %s of each node to the operating system may save or cost time: record longer.",
                      cores);
        return;
    }
    iwi_paragraph(doc, "Leaving %s of each node to the operating system %s %s, including the price", cores,
                  saving.value >= 0 ? "saves" : "costs",
                  saving_words(doc, saving.value >= 0
                                        ? saving
                                        : (iw_estimate){-saving.value, -saving.high, -saving.low}));
    if (whatif->break_even.most_ranks > 0) {
        iwi_doc_append(doc, " (%s fewer cost%s %s)", cores, is_one ? "s" : "",
                       iwi_slower(doc, whatif->break_even.price));
    }
    iwi_doc_append(doc, saving.low < 0 && !(saving.high <= 0) ? "; this is not significant." : ".");
    if (whatif->break_even.most_ranks > 0) {
        say_break_even(doc, &whatif->break_even);
    }
}

void iwi_say_whatif_facts(struct iwi_document *doc, const iw_whatif *whatif)
{
    const iw_change *together = first_change(whatif, IW_CHANGE_TOGETHER);
    const iw_change *apart = first_change(whatif, IW_CHANGE_APART);

    say_interaction(doc, whatif);
    say_order(doc, whatif);
    say_target(doc, whatif);
    say_reserve(doc, whatif);
    if (together != NULL && iwi_is_worth_it(together)) {
        iwi_paragraph(
            doc, "Running the noise of all nodes at the same time would save %s without removing anything.",
            saving_words(doc, together->saving));
    }
    if (apart != NULL) {
        iwi_paragraph(doc,
                      "Noise hits the nodes at the recorded wall-clock times. With independent nodes, the "
                      "slowdown would be %s.",
                      slowdown_words(doc, apart->slowdown));
    }
}

/* ---- how sure that is ---- */

void iwi_say_whatif_certainty(struct iwi_document *doc, const iw_whatif *whatif)
{
    const bool has_redraws = whatif->recorded_s > 0 && whatif->redraws > 0;
    char length[IWI_NUMBER_SIZE];

    iwi_section(doc, "certainty", "How sure");
    if (isnan(whatif->now.low)) {
        iwi_item(doc, "Fewer than %d trials give no 95 %% intervals: run more", (int)IW_LEAST_TRIALS);
    } else {
        iwi_item(doc, "In brackets: 95 %% intervals, from %" PRIu64 " paired trials", whatif->trials);
    }
    if (has_redraws) {
        iwi_doc_append(doc, " and %" PRIu32 " resamplings of the recording (%s)", whatif->redraws,
                       iwi_ns_round_text(whatif->recorded_s * 1e9, length));
    } else if (whatif->recorded_s > 0 && !isnan(whatif->now.low)) {
        iwi_doc_append(doc, "; they do not cover the length of the recording, which was not resampled");
    }
    iwi_doc_append(doc, ".");
    if (whatif->reach.is_bound) {
        iwi_item(doc, "'At least': unrecorded events may add to it.");
    } else if (whatif->reach.watched_s > 0.0 && !whatif->reach.is_extrapolated && whatif->redraws > 0) {
        iwi_item(doc, "Upper limits allow for longer detours of the recorded kinds, up to %s points.",
                 iwi_points(doc, whatif->reach.unseen));
    }
    if (whatif->rare_limit_s > 0) {
        iwi_item(doc, "Events rarer than every %s may be missing; record longer to see them.",
                 iwi_ns_round_text(whatif->rare_limit_s * 1e9, length));
    }
    say_sensitivity(doc, whatif);
}
