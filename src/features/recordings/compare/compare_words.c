/* What a comparison says: its verdict, how sure it is, what differs between the recordings besides noise.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include "core/base/attribute_text.h"
#include "core/base/base.h"
#include "core/numeric/numeric.h"
#include "features/recordings/compare/compare.h"
#include "kit/text/words.h"

/* Shorter blocks hardly keep bursts whole. */
static const int64_t SHORT_BLOCK_NS = 100000000;

/* ---- numbers ---- */

const char *iwi_compare_number(struct iwi_document *doc, iw_compare_metric metric, double value)
{
    switch (metric) {
    case IW_COMPARE_SHARE: return iwi_percent_short(doc, value);
    case IW_COMPARE_RATE: return iwi_rate(doc, value);
    default: return iwi_ns_short(doc, value);
    }
}

const char *iwi_compare_change(struct iwi_document *doc, iw_compare_metric metric, double value)
{
    if (metric == IW_COMPARE_SHARE && fabs(value) < 0.000005) {
        return "0"; /* less than three decimals show */
    }
    return iwi_doc_printf(doc, "%s%s", value > 0.0 ? "+" : (value < 0.0 ? "-" : ""),
                          iwi_compare_number(doc, metric, fabs(value)));
}

const char *iwi_compare_interval(struct iwi_document *doc, iw_compare_metric metric, iw_estimate difference)
{
    return isnan(difference.low)
               ? ""
               : iwi_doc_printf(doc, "%s to %s", iwi_compare_change(doc, metric, difference.low),
                                iwi_compare_change(doc, metric, difference.high));
}

const char *iwi_compare_source_name(struct iwi_document *doc, const iw_source *source)
{
    return iwi_doc_printf(doc, source->name[0] != '\0' ? "%s %s" : "%s%s", iw_class_name(source->kind),
                          source->name);
}

/* ---- the verdict ---- */

static void say_numbers(struct iwi_document *doc, const iw_noise_comparison *c)
{
    const iw_compare_metric m = c->opts.metric;
    const iw_compare_value *value = &c->metrics[m];

    iwi_doc_append(doc, ": %s%s against %s", iwi_compare_number(doc, m, value->b),
                   m == IW_COMPARE_SHARE ? " of the time" : "",
                   isnan(value->a) ? "none (no detours)" : iwi_compare_number(doc, m, value->a));
    if (!isnan(value->difference.low)) {
        iwi_doc_append(doc, " (difference %s, 95 %% interval %s)",
                       iwi_compare_change(doc, m, value->difference.value),
                       iwi_compare_interval(doc, m, value->difference));
    }
    iwi_doc_append(doc, ".");
}

/* Of so many sources one of twenty differs by chance: intervals are widened so that any does in 5 %
 * (Bonferroni, as of a normal law). */
static bool is_beyond_chance(const iw_noise_comparison *c, const iw_estimate *difference)
{
    static const double ONE_SIDE = 0.025;
    const double wider =
        iwi_normal_upper_quantile(ONE_SIDE / (double)c->source_count) / iwi_normal_upper_quantile(ONE_SIDE);

    return difference->value > 0.0 ? difference->value > wider * (difference->value - difference->low)
                                   : -difference->value > wider * (difference->high - difference->value);
}

/* Where all of them together do not differ: the source that changed most, beyond chance, and enough to be
 * shown. */
static const iw_compare_source *changed_source(const iw_noise_comparison *c)
{
    static const double LEAST_CHANGE = 0.00005;

    for (size_t i = 0;
         i < c->source_count && c->verdict == IW_COMPARE_SAME && c->opts.metric == IW_COMPARE_SHARE; i++) {
        const iw_estimate *difference = &c->sources[i].share.difference;

        if (fabs(difference->value) >= LEAST_CHANGE && is_beyond_chance(c, difference)) {
            return &c->sources[i];
        }
    }
    return NULL;
}

static void say_change(struct iwi_document *doc, const iw_compare_source *changed)
{
    if (changed != NULL) {
        iwi_doc_append(doc, " But %s changed significantly: %s (95 %% CI %s).",
                       iwi_compare_source_name(doc, &changed->source),
                       iwi_compare_change(doc, IW_COMPARE_SHARE, changed->share.difference.value),
                       iwi_compare_interval(doc, IW_COMPARE_SHARE, changed->share.difference));
    }
}

/* Names the source with most of the difference if it is beyond chance and in its direction. */
static void say_cause(struct iwi_document *doc, const iw_noise_comparison *c)
{
    const iw_compare_source *top = c->sources;
    const double sign = c->metrics[IW_COMPARE_SHARE].difference.value > 0.0 ? 1.0 : -1.0;

    if (c->source_count == 0 || c->verdict == IW_COMPARE_SAME || c->opts.metric != IW_COMPARE_SHARE) {
        return;
    }
    if (!(sign * top->share.difference.low > 0.0 && sign * top->share.difference.high > 0.0)) {
        iwi_doc_append(doc, " No single source changed significantly in this direction.");
        return;
    }
    iwi_doc_append(doc, " Largest change: %s, %s%s.", iwi_compare_source_name(doc, &top->source),
                   iwi_compare_change(doc, IW_COMPARE_SHARE, top->share.difference.value),
                   !top->is_in_a ? " (not in A)" : (!top->is_in_b ? " (not in B)" : ""));
}

/* Only percentiles can be missing: of no detours, or of so few that draws of blocks meet none. */
static void say_doubt(struct iwi_document *doc, const iw_noise_comparison *c)
{
    iwi_verdict(doc, "Unknown whether %s has a longer tail (p99) than %s: ", c->b.name, c->a.name);
    if (c->b.count == 0) {
        iwi_doc_append(doc, "%s no detours", c->a.count == 0 ? "neither has" : "it has");
    } else {
        iwi_doc_append(doc, "too few detours (%" PRIu64 " and %" PRIu64 ")", c->b.count, c->a.count);
    }
    iwi_doc_append(doc, ". Use the metric share or rate.");
}

static const char *relation(const iw_noise_comparison *c)
{
    static const char *const worse[] = {[IW_COMPARE_SHARE] = "is noisier than",
                                        [IW_COMPARE_RATE] = "has more detours than",
                                        [IW_COMPARE_P99] = "has a longer tail (p99) than"};
    static const char *const better[] = {[IW_COMPARE_SHARE] = "is quieter than",
                                         [IW_COMPARE_RATE] = "has fewer detours than",
                                         [IW_COMPARE_P99] = "has a shorter tail (p99) than"};

    if (c->verdict == IW_COMPARE_SAME) {
        return changed_source(c) != NULL ? "does not differ significantly overall from"
                                         : "does not differ significantly from";
    }
    return c->verdict == IW_COMPARE_BETTER ? better[c->opts.metric] : worse[c->opts.metric];
}

void iwi_compare_say_verdict(struct iwi_document *doc, const iw_noise_comparison *c)
{
    if (c->verdict == IW_COMPARE_UNKNOWN) {
        say_doubt(doc, c);
        return;
    }
    iwi_verdict(doc, "%s %s %s", c->b.name, relation(c), c->a.name);
    say_numbers(doc, c);
    if (c->verdict == IW_COMPARE_SLIGHT) {
        iwi_doc_append(doc, " This may be within the tolerance of %s.",
                       iwi_percent_short(doc, c->opts.tolerance));
    }
    say_cause(doc, c);
    say_change(doc, changed_source(c));
}

/* ---- how sure ---- */

static void note_stretches(struct iwi_document *doc, const iw_noise_comparison *c)
{
    const char *time = iwi_ns_round(doc, (double)c->stretch_ns);

    if (c->stretch_count == 1) {
        iwi_item(doc, "The difference comes from a single stretch of %s and may not recur.", time);
    } else if (c->stretch_count > 1) {
        iwi_item(doc, "The difference comes from %zu stretches of %s in total and may not recur.",
                 c->stretch_count, time);
    } else {
        return;
    }
    iwi_doc_append(doc, " The test assumes independent blocks of time; record longer, or again.");
}

static void note_threshold(struct iwi_document *doc, const iw_noise_comparison *c)
{
    if (c->threshold_ns > 0.0) {
        iwi_item(doc,
                 "Dropped detours shorter than %s, which %s could not see: %" PRIu64 " of A and %" PRIu64
                 " of B.",
                 iwi_ns_short(doc, c->threshold_ns), c->a.threshold_ns > c->b.threshold_ns ? "A" : "B",
                 c->a.left_out, c->b.left_out);
    }
}

static void note_sources(struct iwi_document *doc, const iw_noise_comparison *c)
{
    if (iwi_compare_is_quanta(c) || c->has_sources) {
        return;
    }
    if (c->a.attribution != c->b.attribution) {
        iwi_item(
            doc,
            "Sources are not comparable: A identified them with '%s', B with '%s', with different names.",
            iw_attribution_level_name(c->a.attribution), iw_attribution_level_name(c->b.attribution));
    } else {
        iwi_item(doc, "The cause is unknown: the recordings name no sources.");
    }
}

static void note_quanta(struct iwi_document *doc, const iw_noise_comparison *c)
{
    if (c->a.probe != c->b.probe || c->a.quantum_ns != c->b.quantum_ns) {
        iwi_item(doc,
                 "Quanta differ (A %s of %s, B %s of %s): shares are comparable, losses of a quantum hardly.",
                 iw_probe_name(c->a.probe), iwi_ns_round(doc, (double)c->a.quantum_ns),
                 iw_probe_name(c->b.probe), iwi_ns_round(doc, (double)c->b.quantum_ns));
    }
}

static void note_dropped(struct iwi_document *doc, const iw_noise_comparison *c)
{
    if (c->a.dropped > 0 || c->b.dropped > 0) {
        iwi_item(doc,
                 "Detours are missing at the end (%" PRIu64 " of A, %" PRIu64
                 " of B): record with a higher number of events.",
                 c->a.dropped, c->b.dropped);
    }
}

static void note_shortness(struct iwi_document *doc, const iw_noise_comparison *c)
{
    const int64_t block_ns = iwi_min(c->a.block_ns, c->b.block_ns);

    if (block_ns < SHORT_BLOCK_NS) {
        iwi_item(doc,
                 "Bursts longer than %s make intervals too narrow: record at least 10 s for blocks of 100 "
                 "ms.",
                 iwi_ns_round(doc, (double)block_ns));
    }
}

/* Command lines of kernels are long. */
static const char *origin_text(struct iwi_document *doc, const char *name, const char *value)
{
    enum { VALUE_COLUMNS = 28 };

    return iwi_doc_printf(
        doc, "%s", iwi_plain_name(iwi_attribute_text(name, value), VALUE_COLUMNS, (char[IWI_NAME_SIZE]){0}));
}

static void note_origins(struct iwi_document *doc, const iw_noise_comparison *c)
{
    for (size_t i = 0; i < c->origin_count; i++) {
        const iw_compare_origin *o = &c->origins[i];
        const char *text =
            iwi_doc_printf(doc, "%s (%s, %s)%s", o->name, origin_text(doc, o->name, o->a),
                           origin_text(doc, o->name, o->b), i + 1 < c->origin_count ? "; " : ".");

        if (i == 0) {
            iwi_item(doc, "They also differ in %s", text);
        } else {
            iwi_doc_append(doc, "%s", text);
        }
    }
}

static void note_method(struct iwi_document *doc, const iw_noise_comparison *c)
{
    iwi_item(doc,
             "Intervals come from resampling %zu blocks of %s (A) and %zu of %s (B) %zu times (seed %" PRIu64
             "), all CPUs of a block together. Each one holds in 95 of 100 cases%s.",
             c->a.block_count, iwi_ns_round(doc, (double)c->a.block_ns), c->b.block_count,
             iwi_ns_round(doc, (double)c->b.block_ns), c->opts.replicates, c->opts.seed,
             c->source_count > 1 ? ": of 20 unchanged sources one may seem significant" : "");
}

void iwi_compare_say_notes(struct iwi_document *doc, const iw_noise_comparison *c)
{
    note_stretches(doc, c);
    note_threshold(doc, c);
    note_sources(doc, c);
    note_quanta(doc, c);
    note_dropped(doc, c);
    note_shortness(doc, c);
    note_origins(doc, c);
    note_method(doc, c);
}
