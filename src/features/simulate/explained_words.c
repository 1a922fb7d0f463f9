/* Where the time of a simulation goes, in words and tables.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <string.h>

#include "core/base/base.h"
#include "features/simulate/simulate_report.h"
#include "kit/text/words.h"

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
            return part->level != NULL ? iwi_say(doc, "%s, %s", words[i], part->level) : words[i];
        }
    }
    return iwi_say(doc, "noise %s", part->name);
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
                  "On the path to the end of rank %" PRIu32 ", which ends last (trial %" PRIu64 ", %" PRIu64
                  " messages), and on average over the paths of all ranks (%.1f messages):",
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
    iwi_section(doc, "worst", "What hurt most on this path");
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
            isnan(ns.low) ? "-" : iwi_say(doc, "%s to %s", iwi_ns(doc, ns.low), iwi_ns(doc, ns.high)));
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
    iwi_more(doc, "%s%s in %" PRIu64 " of %" PRIu64 " trials", *is_begun ? "; it " : " The largest one ",
             where, place->trials, place->of_trials);
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
                  iwi_say(doc, "is %s", average->sources.places[0].source));
    }
    if (rank != NULL) {
        say_place(doc, &is_begun, rank, iwi_say(doc, "hits rank %" PRIu32, rank->number));
    }
    if (seat != NULL) {
        say_place(doc, &is_begun, seat,
                  iwi_say(doc, "hits rank %" PRIu32 " of a node (from 0 on)", seat->number));
    }
    if (tenth != NULL && tenth->number < sizeof tenths / sizeof tenths[0]) {
        say_place(doc, &is_begun, tenth,
                  iwi_say(doc, "comes in the %s tenth of the run", tenths[tenth->number]));
    }
    iwi_more(doc, is_begun ? "." : "");
}

static void say_average(struct iwi_document *doc, const iw_simulation *s)
{
    const iw_average_path *average = s->explain->average;

    iwi_section(doc, "average", "On average");
    if (average->trials < s->run.trials) {
        iwi_paragraph(doc,
                      "Over the first %" PRIu64 " of %" PRIu64
                      " trials, the path to the rank that ends last is made of:",
                      average->trials, s->run.trials);
    } else {
        iwi_paragraph(doc, "Over all %" PRIu64 " trials, the path to the rank that ends last is made of:",
                      average->trials);
    }
    say_average_table(doc, s->explain);
    if (!isnan(average->worst_share)) {
        /* of the others only the sum is known: that they are many, not whether they are any smaller */
        iwi_paragraph(doc, "The largest detours of each path, up to four, make up %s of its noise%s.",
                      iwi_percent(doc, average->worst_share),
                      average->worst_share < LEAST_WORST_SHARE ? ": it is many that add up, not a few" : "");
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
        iwi_note(doc,
                 "Shares of a path are no savings: without one source another path may be the longest, "
                 "with other noise on it. Only a what-if shows what would be gained without each source.");
    }
}
