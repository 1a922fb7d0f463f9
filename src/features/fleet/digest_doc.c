/* What the digest of a node says: which sources take how much, and how long detours are.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/fleet.h>

#include <math.h>

#include "core/base/attribute_text.h"
#include "core/base/base.h"
#include "features/fleet/fleet_report.h"
#include "features/tables.h"
#include "kit/figure/figure.h"
#include "kit/text/words.h"

/* ---- the table ---- */

static iw_detour_lengths lengths_of(const iw_digest_source *source)
{
    return iw_digest_lengths(source->by_length, (double)source->longest_ns);
}

static double watched_ns(const void *object)
{
    const iw_digest *digest = object;
    double sum_ns = 0.0;

    for (size_t i = 0; i < digest->cpu_count; i++) {
        sum_ns += (double)digest->cpus[i].length_ns;
    }
    return sum_ns;
}

IWI_OF(double, median_ns, iw_digest_source, lengths_of(it).median_ns)
IWI_OF(double, p99_ns, iw_digest_source, lengths_of(it).p99_ns)

static const struct iwi_field cpu_fields[] = {
    IWI_VALUE(iw_digest_cpu, cpu),
    IWI_VALUE(iw_digest_cpu, length_ns, .about = "for how long it was recorded"),
};
static const struct iwi_schema cpu_schema = IWI_SCHEMA(iw_digest_cpu, cpu_fields);

static const struct iwi_field source_fields[] = {
    IWI_INLINE(iw_digest_source, source, iwi_source_schema),
    IWI_VALUE_AS(iw_digest_source, count, "detours"),
    IWI_VALUE(iw_digest_source, busy_ns),
    IWI_REAL_OF("median_ns", median_ns, .about = "from powers of two: correct within a factor of two"),
    IWI_REAL_OF("p99_ns", p99_ns, .about = "from powers of two: correct within a factor of two"),
    IWI_VALUE(iw_digest_source, longest_ns),
    IWI_VALUE_ARRAY(
        iw_digest_source, by_length,
        .about = "element i counts detours from 2^i up to 2^(i+1) ns, the last element all longer ones"),
};
static const struct iwi_schema source_schema = IWI_SCHEMA(iw_digest_source, source_fields);

static const struct iwi_field digest_fields[] = {
    IWI_VALUE(iw_digest, node, .about = "name of the node"),
    IWI_VALUE(iw_digest, start_ns, .about = "start of the recording, since 1970 (UTC); 0: unknown"),
    IWI_ENUM(iw_digest, probe, "probe", iwi_probe_at, .about = "probe"),
    IWI_ENUM(iw_digest, attribution, "rung", iwi_attribution_level_at,
             .about = "level of attribution of sources"),
    IWI_VALUE(iw_digest, threshold_ns, .about = "shorter gaps were not kept"),
    IWI_REAL_OF("watched_ns", watched_ns, .about = "summed over CPUs"),
    IWI_PAIRS(iw_digest, attributes, attribute_count,
              .about = "settings of the node: `kernel`, `governor`, ..."),
    IWI_OBJECTS(iw_digest, cpus, cpu_count, cpu_schema),
    IWI_OBJECTS(iw_digest, sources, source_count, source_schema, .is_row = true,
                .about = "the first is all sources together"),
};
static const struct iwi_schema digest_schema = IWI_SCHEMA(iw_digest, digest_fields);

static iw_status check(const iw_log *log, const char *file, const void *subject)
{
    return ((const iw_digest *)subject)->source_count > 0
               ? IW_OK
               : iwi_fail(log, IW_ERR_FORMAT, "'%s': sources: must not be empty", file);
}

/* ---- the document ---- */

static const char *share_of(struct iwi_document *doc, const iw_digest *digest, const iw_digest_source *source)
{
    return iwi_percent_short(doc, (double)source->busy_ns / fmax(watched_ns(digest), 1.0));
}

static void say_verdict(struct iwi_document *doc, const iw_digest *digest)
{
    const iw_digest_source *all = &digest->sources[0];
    const iw_detour_lengths lengths = lengths_of(all);

    if (all->count == 0) {
        iwi_verdict(doc, "%s had no detours.", digest->node);
        return;
    }
    if (lengths.median_ns <= 0.0) { /* of other tools */
        iwi_verdict(
            doc,
            "%s loses %s of its time to noise. The lengths of its detours are unknown; the longest took %s.",
            digest->node, share_of(doc, digest, all), iwi_ns_short(doc, lengths.longest_ns));
        return;
    }
    iwi_verdict(doc,
                "%s loses %s of its time to noise. Its median detour takes about %s, 99 in 100 take up to "
                "%s; the longest took %s.",
                digest->node, share_of(doc, digest, all), iwi_ns_short(doc, lengths.median_ns),
                iwi_ns_short(doc, lengths.p99_ns), iwi_ns_short(doc, lengths.longest_ns));
}

/* The source with the most time behind `last`; source_count: none is left. Number 0 is all of them. */
static size_t next_source(const iw_digest *digest, size_t last)
{
    const iw_digest_source *s = digest->sources;
    size_t next = digest->source_count;

    for (size_t i = 1; i < digest->source_count; i++) {
        const bool is_behind =
            last == 0 || s[i].busy_ns < s[last].busy_ns || (s[i].busy_ns == s[last].busy_ns && i > last);

        if (is_behind && (next == digest->source_count || s[i].busy_ns > s[next].busy_ns)) {
            next = i;
        }
    }
    return next;
}

/* 0: not known. */
static const char *length_text(struct iwi_document *doc, double ns)
{
    return ns > 0.0 ? iwi_ns_short(doc, ns) : "-";
}

static void show_sources(struct iwi_document *doc, const iw_digest *digest)
{
    const double seconds = fmax(watched_ns(digest), 1.0) / 1e9;

    iwi_section(doc, "sources", "Sources");
    IWI_TABLE(doc, "", {"source", IWI_WORDS}, {"time lost", IWI_NUMBER}, {"per CPU", IWI_NUMBER},
              {"median", IWI_NUMBER}, {"99 %", IWI_NUMBER}, {"longest", IWI_NUMBER});
    for (size_t i = 0; i < digest->source_count; i = next_source(digest, i)) {
        const iw_digest_source *source = &digest->sources[i];
        const iw_detour_lengths lengths = lengths_of(source);

        if (source->count > 0) {
            iwi_row(doc, i == 0 ? "all sources" : iwi_fleet_source_name(doc, &source->source),
                    share_of(doc, digest, source), iwi_rate(doc, (double)source->count / seconds),
                    length_text(doc, lengths.median_ns), length_text(doc, lengths.p99_ns),
                    iwi_ns_short(doc, lengths.longest_ns));
        }
    }
    iwi_note(doc, "Medians and 99 %% come from counts by powers of two: they are correct within a factor of "
                  "two. The longest is exact.");
}

/* The first and the last power of two that has any; false if none has. */
static bool find_bins(const iw_digest_source *source, size_t *first_p, size_t *last_p)
{
    bool has_any = false;

    for (size_t bin = 0; bin < IW_DIGEST_LENGTHS; bin++) {
        if (source->by_length[bin] > 0) {
            *first_p = has_any ? *first_p : bin;
            *last_p = bin;
            has_any = true;
        }
    }
    return has_any;
}

static void show_bars(struct iwi_document *doc, const iw_digest_source *all, size_t first, size_t last)
{
    IWI_TABLE(doc, "", {"from", IWI_NUMBER}, {"detours", IWI_NUMBER}, {"", IWI_BAR});
    iwi_unfold(doc);
    for (size_t bin = first; bin <= last; bin++) {
        const double count = (double)all->by_length[bin];

        iwi_row(doc, iwi_ns_short(doc, exp2((double)bin)), iwi_count(doc, all->by_length[bin]));
        iwi_bar(doc, (iw_estimate){count, count, count});
    }
}

static void show_figure(struct iwi_document *doc, const iw_digest_source *all, size_t first, size_t last)
{
    struct iwi_figure *figure = NULL;
    const iw_status status = iwi_figure_new(doc->log, "Lengths of detours", &figure);

    if (status == IW_OK) {
        struct iwi_mark *bars = iwi_figure_mark(figure, IWI_MARK_BAR, iwi_series_ink(0), NULL);

        iwi_histogram_axes(figure, "Length of a detour", "Detours");
        figure->x.unit = IWI_AXIS_NS;
        for (size_t bin = first; bin <= last; bin++) {
            iwi_histogram_bar(figure, bars, exp2((double)bin), exp2((double)bin + 1.0),
                              (double)all->by_length[bin], NULL);
        }
        figure->message = iwi_figure_text(figure, "All sources together, on all CPUs");
    }
    iwi_show_figure(doc, status, figure);
}

static void show_lengths(struct iwi_document *doc, const iw_digest *digest)
{
    size_t first = 0, last = 0;

    if (!find_bins(&digest->sources[0], &first, &last)) {
        return;
    }
    iwi_section(doc, "lengths", "How long detours are");
    iwi_only_in(doc, IWI_IN_TEXT);
    show_bars(doc, &digest->sources[0], first, last);
    iwi_only_in(doc, IWI_ON_PAGES | IWI_IN_PLOTS);
    show_figure(doc, &digest->sources[0], first, last);
    iwi_only_in(doc, IWI_EVERYWHERE);
}

static void write_doc(struct iwi_document *doc, const void *subject)
{
    const iw_digest *digest = subject;
    const size_t cpus = digest->cpu_count;

    iwi_title(doc, "Digest of %s", digest->node);
    iwi_subtitle(doc, "%zu CPU%s, recorded for %s each", cpus, iwi_plural_s(cpus),
                 iwi_ns_round(doc, watched_ns(digest) / fmax((double)cpus, 1.0)));
    say_verdict(doc, digest);
    if (digest->sources[0].count > 0) {
        show_sources(doc, digest);
        show_lengths(doc, digest);
    }
    if (digest->attribute_count > 0) {
        iwi_section(doc, "settings", "The node");
    }
    for (size_t i = 0; i < digest->attribute_count; i++) {
        const iw_attribute *setting = &digest->attributes[i];

        iwi_item(doc, "%s: %s", setting->name, iwi_attribute_text(setting->name, setting->value));
    }
}

const struct iwi_kind iwi_digest_kind = {
    .name = "digest",
    .schema_id = "idlewave.digest/1",
    .about =
        "A digest of a recording, from `idlewave fleet show FILE --format json`. CSV has a line per source",
    .schema = &digest_schema,
    .write_doc = write_doc,
    .check = check,
};

IWI_DOC(iw_digest_doc, iw_digest, digest, iwi_digest_kind)
