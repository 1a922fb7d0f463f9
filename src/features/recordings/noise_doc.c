/* Documents of recordings, and of those that were cut, merged or made.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include "core/base/attribute_text.h"
#include "core/base/base.h"
#include "core/base/order.h"
#include "features/recordings/convert/convert.h"
#include "features/recordings/noise_report.h"
#include "features/recordings/recordings.h"
#include "features/tables.h"
#include "kit/text/words.h"

/* ---- tables of fields ---- */

/* Nothing that lasts longer, in ns, was ever recorded. */
static const double MOST_NS = 1e19;

/* No simulation has a larger one. */
static const double MOST_SLOWDOWN = 1e15;

/* ---- the table ---- */

static const struct iwi_field row_fields[] = {
    IWI_VALUE(iw_noise_row, count, .about = "detours; of a source: detours with this source"),
    IWI_VALUE(iw_noise_row, rate_hz, .about = "count / time watched: per second of one CPU"),
    IWI_VALUE(iw_noise_row, share,
              .about = "of the time watched. A detour with several sources is divided among them, so shares "
                       "of sources add up to that of all. A quantum of FWQ or FTQ counts as "
                       "one detour, as long as its loss relative to the best one of its CPU"),
    IWI_VALUE(iw_noise_row, median_ns),
    IWI_VALUE(iw_noise_row, p99_ns),
    IWI_VALUE(iw_noise_row, max_ns),
};
static const struct iwi_schema row_schema = IWI_SCHEMA(iw_noise_row, row_fields);

IWI_OF(bool, is_kernel, iw_noise_origin, it->is_kernel)
IWI_OF(bool, is_periodic, iw_noise_origin, it->row.period_ns > 0.0)

static const struct iwi_field origin_fields[] = {
    IWI_INLINE(iw_noise_origin, source, iwi_source_schema),
    IWI_INLINE(iw_noise_origin, row, row_schema),
    IWI_VALUE_AS(iw_noise_origin, row.period_ns, "period_ns", .is_there = is_periodic,
                 .about = "null: not periodic; periodic if most of its detours are equally spaced, within 10 "
                          "%, on each CPU or on all together"),
    IWI_VALUE(iw_noise_origin, is_kernel, .is_there = is_kernel, .is_optional = true,
              .about = "a kernel thread, where the recording says so"),
};
static const struct iwi_schema origin_schema = IWI_SCHEMA(iw_noise_origin, origin_fields);

static const struct iwi_field cpu_fields[] = {
    IWI_VALUE(iw_noise_cpu, cpu, .about = "the system's number"),
    IWI_VALUE(iw_noise_cpu, length_ns),
    IWI_VALUE(iw_noise_cpu, t_min_ns,
              .about = "of one turn of the undisturbed loop (selfish), the quickest quantum (fwq), a unit of "
                       "work (ftq)"),
    IWI_VALUE(iw_noise_cpu, threshold_ns),
    IWI_VALUE(iw_noise_cpu, dropped),
    IWI_INLINE(iw_noise_cpu, row, row_schema),
};
static const struct iwi_schema cpu_schema = IWI_SCHEMA(iw_noise_cpu, cpu_fields);

static const struct iwi_field point_fields[] = {
    IWI_VALUE(iw_noise_point, start_ns),
    IWI_VALUE(iw_noise_point, duration_ns),
    IWI_VALUE(iw_noise_point, cpu),
    IWI_VALUE(iw_noise_point, source, .about = "its place in `sources`"),
};
static const struct iwi_schema point_schema = IWI_SCHEMA(iw_noise_point, point_fields);

static const struct iwi_field bin_fields[] = {
    IWI_VALUE(iw_noise_bin, from_ns),
    IWI_VALUE(iw_noise_bin, to_ns),
    IWI_VALUE(iw_noise_bin, count),
    IWI_VALUE(iw_noise_bin, time_ns),
    IWI_VALUE_ARRAY(iw_noise_bin, by_source, .about = "counts of the six largest sources, and of all others"),
};
static const struct iwi_schema bin_schema = IWI_SCHEMA(iw_noise_bin, bin_fields);

static const struct iwi_field picture_fields[] = {
    IWI_VALUE(iw_noise_picture, length_ns, .about = "of the axis"),
    IWI_VALUE(iw_noise_picture, count, .about = "detours that took time"),
    IWI_VALUE(iw_noise_picture, longest_count, .about = "of `points`, the longest detours, which come first"),
    IWI_VALUE(iw_noise_picture, stride, .about = "then every `stride`th of the rest, at most 4,000"),
    IWI_OBJECTS(iw_noise_picture, points, point_count, point_schema),
    IWI_OBJECTS(iw_noise_picture, bins, bin_count, bin_schema),
};
static const struct iwi_schema picture_schema = IWI_SCHEMA(iw_noise_picture, picture_fields);

IWI_OF(bool, is_load_known, iw_noise_facts, it->load.is_known)

static const struct iwi_field load_fields[] = {
    IWI_VALUE(iw_load, is_known, .about = "the recording has this information"),
    IWI_VALUE(iw_load, is_busy,
              .about = "user programs used a fifth of a CPU or more, without being part of the measurement"),
    IWI_VALUE(iw_load, users, .about = "share of the time of these CPUs"),
    IWI_VALUE(iw_load, services, .about = "of the system, the same"),
    IWI_VALUE(iw_load, kernel, .about = "threads, the same"),
    IWI_CHARS(iw_load, programs, .about = "largest user programs"),
};
static const struct iwi_schema load_schema = IWI_SCHEMA(iw_load, load_fields);

IWI_OF(bool, has_quanta, iw_noise_facts, it->quantum_ns > 0)

static const struct iwi_field facts_fields[] = {
    IWI_ENUM(iw_noise_facts, probe, "probe", iwi_probe_at),
    IWI_ENUM(iw_noise_facts, attribution, "rung", iwi_attribution_level_at,
             .about = "how sources were identified"),
    IWI_VALUE(iw_noise_facts, has_sources, .about = "detours have known sources"),
    IWI_VALUE(iw_noise_facts, quantum_ns, .is_there = has_quanta, .about = "of FWQ and FTQ"),
    IWI_VALUE(iw_noise_facts, watched_ns, .about = "summed over the CPUs"),
    IWI_INLINE(iw_noise_facts, all, row_schema),
    IWI_VALUE(iw_noise_facts, dropped, .about = "detours that were not stored"),
    IWI_OBJECT(iw_noise_facts, load, load_schema, .is_there = is_load_known, .is_optional = true,
               .about = "other programs on the CPUs"),
    IWI_VALUE(iw_noise_facts, rare_limit_ns,
              .about = "sources with a longer mean time between detours may be missing with a probability "
                       "above 5 %: a third of the shortest CPU's time"),
    IWI_OBJECTS(iw_noise_facts, sources, source_count, origin_schema, .about = "largest share first"),
    IWI_OBJECTS(iw_noise_facts, cpus, cpu_count, cpu_schema),
    IWI_PAIRS(iw_noise_facts, attributes, attribute_count, .about = "of the recording"),
    IWI_INLINE(iw_noise_facts, caveats, iwi_caveats_schema),
};
static const struct iwi_schema facts_schema = IWI_SCHEMA(iw_noise_facts, facts_fields);

IWI_OF(bool, is_slow, iw_noise_cost, it->from_ranks > 0)
IWI_OF(bool, has_cost, iw_noise_report, it->cost.network != NULL)

static const struct iwi_field cost_fields[] = {
    IWI_VALUE(iw_noise_cost, network),
    IWI_VALUE(iw_noise_cost, ranks),
    IWI_VALUE(iw_noise_cost, repeat, .about = "collectives in a run, back to back; the second half counts"),
    IWI_VALUE(iw_noise_cost, trials, .about = "runs"),
    IWI_VALUE(iw_noise_cost, used_ns,
              .about = "part of each CPU's recording that was used, from the beginning: all, but no more "
                       "than 4 million detours"),
    IWI_ESTIMATE(iw_noise_cost, barrier_slowdown, .about = "T/T0 - 1"),
    IWI_ESTIMATE(iw_noise_cost, allreduce_slowdown, .about = "of 8 B"),
    IWI_VALUE(iw_noise_cost, is_bound,
              .about = "the recording is too short for this many ranks: `low` is a lower limit"),
    IWI_VALUE(iw_noise_cost, is_rare,
              .about = "detours that would add more than a fifth are expected fewer than three times in all "
                       "runs: `low` is a lower limit"),
    IWI_VALUE(iw_noise_cost, from_ranks, .is_there = is_slow,
              .about = "smallest power of two on which a barrier is at least 5 % slower; null if none up to "
                       "`most_ranks`"),
    IWI_VALUE(iw_noise_cost, most_ranks),
};
static const struct iwi_schema cost_schema = IWI_SCHEMA(iw_noise_cost, cost_fields);

static const struct iwi_field report_fields[] = {
    IWI_VALUE(iw_noise_report, name, .about = "name of the file, without its folder"),
    IWI_INLINE(iw_noise_report, facts, facts_schema),
    IWI_OBJECT(iw_noise_report, cost, cost_schema, .is_there = has_cost, .is_optional = true,
               .about = "cost of a barrier and an allreduce on a built-in network, by simulation; not for "
                        "busy nodes, nor where nothing can be simulated"),
    IWI_POINTER(iw_noise_report, spectrum, iwi_spectrum_schema, .about = "in reports of noise files"),
    IWI_VALUE(iw_noise_report, no_spectrum, .may_be_null = true,
              .about = "why there is none, if it was requested"),
    IWI_OBJECT(iw_noise_report, picture, picture_schema, .about = "data of the picture"),
};
const struct iwi_schema iwi_noise_schema = IWI_SCHEMA(iw_noise_report, report_fields);

/* ---- files ---- */

static bool are_points_right(const iw_noise_report *report)
{
    const iw_noise_picture *picture = &report->picture;

    for (size_t i = 0; i < picture->point_count; i++) {
        const iw_noise_point *point = &picture->points[i];

        if (point->source >= report->facts.source_count || !(point->duration_ns > 0.0) ||
            !(point->duration_ns < MOST_NS) || !(fabs(point->start_ns) < MOST_NS)) {
            return false;
        }
    }
    for (size_t i = 0; i < picture->bin_count; i++) {
        const iw_noise_bin *bin = &picture->bins[i];

        if (!(bin->from_ns > 0.0 && bin->to_ns > bin->from_ns && bin->to_ns <= 10.0 * MOST_NS) ||
            !(bin->time_ns >= 0.0) || (i > 0 && bin->from_ns < picture->bins[i - 1].to_ns)) {
            return false;
        }
    }
    return picture->longest_count <= picture->point_count &&
           (picture->point_count == 0 || (picture->bin_count > 0 && picture->length_ns > 0.0 &&
                                          picture->length_ns < MOST_NS && report->facts.watched_ns > 0.0));
}

static bool is_slowdown(double slowdown)
{
    return slowdown > -1.0 && slowdown < MOST_SLOWDOWN;
}

static bool is_cost_right(const iw_noise_cost *cost)
{
    return is_slowdown(cost->barrier_slowdown.value) && is_slowdown(cost->barrier_slowdown.low) &&
           is_slowdown(cost->allreduce_slowdown.value) && is_slowdown(cost->allreduce_slowdown.low) &&
           cost->used_ns >= 0.0 && cost->used_ns < MOST_NS;
}

iw_status iwi_noise_check(const iw_log *log, const char *file, const iw_noise_report *report)
{
    if (report->cost.network != NULL && !is_cost_right(&report->cost)) {
        return iwi_fail(log, IW_ERR_FORMAT, "'%s': cost: impossible slowdowns", file);
    }
    if (!are_points_right(report)) {
        return iwi_fail(log, IW_ERR_FORMAT, "'%s': picture: invalid points or bins", file);
    }
    return report->spectrum != NULL ? iwi_spectrum_check(log, file, report->spectrum) : IW_OK;
}

/* ---- the table ---- */

IWI_NAMES(edit_name, [IW_EDIT_SYNTH] = "synth", [IW_EDIT_CUT] = "cut", [IW_EDIT_MERGE] = "merge",
          [IW_EDIT_APPEND] = "append")

/* Share of time that was noise before; NaN where it is not known: nothing was before, or there are only
 * samples. */
IWI_OF(double, share_before, iw_edit,
       it->sample_count == 0 && it->watched_ns > 0.0 ? it->busy_ns / it->watched_ns : (double)NAN)

static const struct iwi_field before_fields[] = {
    IWI_VALUE_AS(iw_edit, recording_count, "recordings"),
    IWI_VALUE_AS(iw_edit, cpu_count, "cpus"),
    IWI_VALUE_AS(iw_edit, detour_count, "detours"),
    IWI_VALUE_AS(iw_edit, sample_count, "samples"),
    IWI_VALUE(iw_edit, busy_ns),
    IWI_VALUE(iw_edit, watched_ns),
    IWI_REAL_OF("share", share_before, .about = "null with FWQ and FTQ"),
};
static const struct iwi_schema before_schema = IWI_SCHEMA(iw_edit, before_fields);

IWI_OF(bool, is_cut, iw_edit_report, it->edit.kind == IW_EDIT_CUT && it->edit.sample_count == 0)
IWI_OF(bool, has_before, iw_edit_report, it->edit.kind != IW_EDIT_SYNTH)

static const struct iwi_field edit_fields[] = {
    IWI_ENUM(iw_edit_report, edit.kind, "edit", edit_name),
    IWI_VALUE(iw_edit_report, file, .about = "written file"),
    {.key = "before",
     .about = "of all inputs; null for synth",
     .type = IWI_T_OBJECT,
     IWI_MEMBER(iw_edit_report, edit),
     .of = &before_schema,
     .is_there = has_before},
    IWI_VALUE_AS(iw_edit_report, edit.kept_count, "kept", .is_there = is_cut, .is_optional = true,
                 .about = "cut: detours that remain, at least in part; the file may have more, since a "
                          "dropped part can split a detour"),
    IWI_VALUE_AS(iw_edit_report, edit.too_short, "too_short",
                 .about = "synth: detours dropped below the threshold"),
    IWI_VALUE_AS(iw_edit_report, edit.renumbered, "renumbered",
                 .about = "merge: renumbered CPUs; the attribute `merged` lists them"),
    IWI_INLINE(iw_edit_report, noise, iwi_noise_schema),
};
static const struct iwi_schema edit_schema = IWI_SCHEMA(iw_edit_report, edit_fields);

static iw_status check_edit(const iw_log *log, const char *name, const void *subject)
{
    return iwi_noise_check(log, name, &((const iw_edit_report *)subject)->noise);
}

/* ---- words ---- */

/* "4,001" */
static const char *grouped(struct iwi_document *doc, uint64_t count)
{
    return iwi_doc_printf(doc, "%s", iwi_ranks_text(count, (char[IWI_NUMBER_SIZE]){0}));
}

/* "60 s each"; without an "each" for a single CPU, with both ends where lengths differ. */
static const char *length_of(struct iwi_document *doc, const iw_noise_facts *facts)
{
    int64_t least_ns = INT64_MAX, most_ns = 0;

    for (size_t i = 0; i < facts->cpu_count; i++) {
        least_ns = iwi_min(least_ns, facts->cpus[i].length_ns);
        most_ns = iwi_max(most_ns, facts->cpus[i].length_ns);
    }
    if (least_ns < most_ns) {
        return iwi_doc_printf(doc, "%s to %s each", iwi_ns_round(doc, (double)least_ns),
                              iwi_ns_round(doc, (double)most_ns));
    }
    return iwi_doc_printf(doc, "%s%s", iwi_ns_round(doc, (double)most_ns),
                          facts->cpu_count == 1 ? "" : " each");
}

/* Files of 0.2 do not say. */
static uint64_t kept_of(const iw_edit *edit, uint64_t count, uint64_t before)
{
    return edit->kept_count > 0 ? edit->kept_count : count < before ? count : before;
}

/* "kept 812 of 4,001 detours on 2 of 4 CPUs" */
static void say_action(struct iwi_document *doc, const iw_edit *edit, const iw_noise_facts *facts)
{
    const bool is_quanta = iw_probe_has_quanta(facts->probe);
    const char *what = is_quanta ? "sample" : "detour", *count = grouped(doc, facts->all.count);

    if (edit->kind == IW_EDIT_CUT) {
        const uint64_t before = is_quanta ? edit->sample_count : edit->detour_count,
                       kept = kept_of(edit, facts->all.count, before);

        iwi_doc_append(doc, "kept %s of %s %s%s on %zu of %zu CPU%s", grouped(doc, kept),
                       grouped(doc, before), what, iwi_plural_s(before), facts->cpu_count, edit->cpu_count,
                       iwi_plural_s(edit->cpu_count));
        if (facts->all.count > kept) {
            iwi_doc_append(doc, ", some of them in two or more pieces (%s)", count);
        }
    } else {
        iwi_doc_append(doc, "%s %s%s on %zu CPU%s", count, what, iwi_plural_s(facts->all.count),
                       facts->cpu_count, iwi_plural_s(facts->cpu_count));
    }
    if (edit->kind == IW_EDIT_MERGE || edit->kind == IW_EDIT_APPEND) {
        iwi_doc_append(
            doc, edit->kind == IW_EDIT_MERGE ? " of %zu recording%s" : ", %zu recording%s one after another",
            edit->recording_count, iwi_plural_s(edit->recording_count));
    }
    iwi_doc_append(doc, ", %s.", length_of(doc, facts));
}

static void say_noise(struct iwi_document *doc, const iw_edit *edit, const iw_noise_facts *facts)
{
    iwi_doc_append(doc, " Noise takes %s of the time", iwi_percent_short(doc, facts->all.share));
    if (edit->kind == IW_EDIT_CUT && isfinite(share_before(edit))) {
        iwi_doc_append(doc, " (%s before)", iwi_percent_short(doc, share_before(edit)));
    }
    if (facts->all.max_ns > 0.0) {
        iwi_doc_append(doc, "; the %s %s",
                       !iw_probe_has_quanta(facts->probe) ? "longest detour takes" : "worst sample lost",
                       iwi_ns_round(doc, facts->all.max_ns));
    }
    iwi_doc_append(doc, ".");
}

/* What else one should know. */
static void say_remarks(struct iwi_document *doc, const iw_edit *edit, const iw_noise_facts *facts)
{
    const char *merged = iwi_fact(facts, "merged");

    if (edit->too_short > 0) {
        iwi_doc_append(doc, " %s shorter detour%s %s below the threshold and dropped.",
                       grouped(doc, edit->too_short), iwi_plural_s(edit->too_short),
                       edit->too_short == 1 ? "is" : "are");
    }
    if (edit->renumbered > 0 && merged != NULL) {
        iwi_doc_append(doc, " %s CPU%s got %s, because theirs were taken (%s).",
                       grouped(doc, edit->renumbered), iwi_plural_s(edit->renumbered),
                       edit->renumbered == 1 ? "a new number" : "new numbers", merged);
    }
}

static void write_edit(struct iwi_document *doc, const void *subject)
{
    const iw_edit_report *report = subject;
    const iw_noise_facts *facts = &report->noise.facts;

    iwi_title(doc, "Recording %s", report->file);
    iwi_verdict(doc, "%s: ", report->file);
    say_action(doc, &report->edit, facts);
    say_noise(doc, &report->edit, facts);
    say_remarks(doc, &report->edit, facts);
    iwi_noise_figures(doc, &report->noise);
    iwi_only_in(doc, IWI_ON_PAGES);
    iwi_noise_tables(doc, facts);
    iwi_section(doc, "certainty", "How sure");
    iwi_noise_warnings(doc, facts);
}

const struct iwi_kind iwi_noise_edit_kind = {
    .name = "noise-edit",
    .schema_id = "idlewave.noise-edit/4",
    .about = "A recording written by `idlewave noise synth`, `cut` or `merge`, and its inputs; the rest is "
             "as in `noise`",
    .older_id = "idlewave.noise-edit/3",
    .schema = &edit_schema,
    .write_doc = write_edit,
    .check = check_edit,
};

IWI_DOC(iw_edit_doc, iw_edit_report, report, iwi_noise_edit_kind)

/* ---- recordings ---- */

enum { ONE_BY_ONE = IWI_FOLD_ROWS }; /* more CPUs are shown with the worst first */

static iw_status check(const iw_log *log, const char *file, const void *subject)
{
    return iwi_noise_check(log, file, subject);
}

/* ---- tables ---- */

static void add_source(struct iwi_document *doc, const char *kind, const char *name, const iw_noise_row *row)
{
    iwi_row(doc, kind, name, iwi_count(doc, row->count), iwi_rate(doc, row->rate_hz),
            iwi_percent_short(doc, row->share), iwi_ns_short(doc, row->median_ns),
            iwi_ns_short(doc, row->p99_ns), iwi_ns_short(doc, row->max_ns),
            row->period_ns > 0.0 ? iwi_ns_short(doc, row->period_ns) : "");
}

static void show_sources(struct iwi_document *doc, const iw_noise_facts *facts)
{
    IWI_TABLE(doc, "Detours by source, largest share first", {"class", IWI_WORDS}, {"source", IWI_WORDS},
              {"detours", IWI_NUMBER}, {"rate", IWI_NUMBER}, {"share", IWI_NUMBER}, {"median", IWI_NUMBER},
              {"p99", IWI_NUMBER}, {"max", IWI_NUMBER}, {"period", IWI_NUMBER});
    if (facts->source_count > 1) {
        add_source(doc, "all", "", &facts->all);
    }
    for (size_t i = 0; i < facts->source_count; i++) {
        const iw_noise_origin *origin = &facts->sources[i];

        add_source(doc, iwi_origin_class(origin), origin->source.name, &origin->row);
    }
}

/* Larger shares first, equal ones in their order. */
IWI_COMPARE(compare_cpus, iw_noise_cpu, IWI_FALLING(row.share), IWI_RISING(cpu))

static void show_cpus(struct iwi_document *doc, const iw_noise_facts *facts)
{
    const bool is_quanta = iw_probe_has_quanta(facts->probe), is_whole = facts->cpu_count <= ONE_BY_ONE;
    iw_noise_cpu *order = iwi_arena_take(&doc->arena, facts->cpu_count, sizeof *order);

    if (order == NULL) {
        return;
    }
    for (size_t i = 0; i < facts->cpu_count; i++) {
        order[i] = facts->cpus[i];
    }
    if (!is_whole) {
        iwi_sort(order, facts->cpu_count, compare_cpus);
    }
    IWI_TABLE(
        doc,
        iwi_doc_printf(doc, "%s by CPU%s", is_quanta ? "Losses" : "Detours", is_whole ? "" : ", worst first"),
        {"CPU", IWI_NUMBER}, {is_quanta ? "quanta" : "detours", IWI_NUMBER}, {"rate", IWI_NUMBER},
        {"share", IWI_NUMBER}, {"median", IWI_NUMBER}, {"p99", IWI_NUMBER}, {"max", IWI_NUMBER});
    for (size_t i = 0; i < facts->cpu_count; i++) {
        const iw_noise_row *row = &order[i].row;

        iwi_row(doc, iwi_doc_printf(doc, "%" PRIu32, order[i].cpu), iwi_count(doc, row->count),
                iwi_rate(doc, row->rate_hz), iwi_percent_short(doc, row->share),
                iwi_ns_short(doc, row->median_ns), iwi_ns_short(doc, row->p99_ns),
                iwi_ns_short(doc, row->max_ns));
    }
    if (!is_whole) {
        double sum = 0.0;

        for (size_t i = ONE_BY_ONE; i < facts->cpu_count; i++) {
            sum += order[i].row.share;
        }
        iwi_note(doc, "The other %zu CPUs: %s to %s, mean %s.", facts->cpu_count - ONE_BY_ONE,
                 iwi_percent_short(doc, order[facts->cpu_count - 1].row.share),
                 iwi_percent_short(doc, order[ONE_BY_ONE].row.share),
                 iwi_percent_short(doc, sum / (double)(facts->cpu_count - ONE_BY_ONE)));
    }
}

void iwi_noise_tables(struct iwi_document *doc, const iw_noise_facts *facts)
{
    if (!iw_probe_has_quanta(facts->probe) && facts->source_count > 0) {
        iwi_section(doc, "sources", "Sources");
        show_sources(doc, facts);
    }
    if (facts->cpu_count > 1 || (facts->cpu_count == 1 && iw_probe_has_quanta(facts->probe))) {
        iwi_section(doc, "cpus", "CPUs");
        show_cpus(doc, facts);
    }
}

/* ---- pictures ---- */

static void show_scatter(struct iwi_document *doc, const iw_noise_report *report, bool is_by_source)
{
    struct iwi_figure *figure = NULL;
    const iw_status status = iwi_noise_scatter_figure(doc->log, report, is_by_source, &figure);

    iwi_show_figure(doc, status, figure);
}

void iwi_noise_figures(struct iwi_document *doc, const iw_noise_report *report)
{
    struct iwi_figure *histogram = NULL, *rates = NULL;
    iw_status status;

    if (report->picture.point_count == 0) {
        return;
    }
    iwi_only_in(doc, IWI_ON_PAGES | IWI_IN_PLOTS);
    show_scatter(doc, report, true);
    iwi_only_in(doc, IWI_ON_PAGES);
    status = iwi_noise_histogram_figure(doc->log, report, &histogram);
    iwi_show_figure(doc, status, histogram);
    iwi_only_in(doc, IWI_IN_PLOTS);
    status = iwi_noise_rates_figure(doc->log, report, &rates);
    iwi_show_figure(doc, status, rates);
    iwi_only_in(doc, IWI_EVERYWHERE);
}

/* Bins of 1, 2, 5 for a terminal: two of the picture's are one. */
static bool is_next_bin(const iw_noise_bin *bin)
{
    const double digits = bin->from_ns / pow(10.0, floor(log10(bin->from_ns * 1.0001)));

    return digits < 1.2 || (digits > 1.8 && digits < 2.5) || (digits > 4.0 && digits < 6.0);
}

static void add_bin(struct iwi_document *doc, const iw_noise_bin *bin, double all_ns)
{
    const double bar = log2(1.0 + (double)bin->count);

    iwi_row(doc, iwi_ns_round(doc, bin->from_ns), iwi_ns_round(doc, bin->to_ns), iwi_count(doc, bin->count),
            bin->count > 0 ? iwi_percent_short(doc, bin->time_ns / all_ns) : "");
    iwi_bar(doc, (iw_estimate){bar, bar, bar});
}

static void show_bins(struct iwi_document *doc, const iw_noise_report *report)
{
    const bool is_quanta = iw_probe_has_quanta(report->facts.probe);
    const iw_noise_picture *picture = &report->picture;
    const uint64_t none = report->facts.all.count - picture->count;
    iw_noise_bin sum = {.count = 0};
    double all_ns = 0.0;

    IWI_TABLE(doc, "", {"from", IWI_NUMBER}, {"to", IWI_NUMBER},
              {is_quanta ? "quanta" : "detours", IWI_NUMBER}, {"of noise", IWI_NUMBER},
              {"(number, logarithmic)", IWI_BAR});
    iwi_unfold(doc);
    for (size_t i = 0; i < picture->bin_count; i++) {
        all_ns += picture->bins[i].time_ns;
    }
    if (report->facts.all.count > picture->count) {
        iwi_row(doc, "none", "", iwi_count(doc, none), "");
    }
    for (size_t i = 0; i < picture->bin_count; i++) {
        const iw_noise_bin *bin = &picture->bins[i];

        if (sum.count == 0 && sum.to_ns <= 0.0) {
            sum.from_ns = bin->from_ns;
        }
        sum.count += bin->count;
        sum.time_ns += bin->time_ns;
        sum.to_ns = bin->to_ns;
        if (i + 1 == picture->bin_count || is_next_bin(bin + 1)) {
            add_bin(doc, &sum, all_ns);
            sum = (iw_noise_bin){.count = 0};
        }
    }
}

static void show_text_pictures(struct iwi_document *doc, const iw_noise_report *report)
{
    if (report->picture.point_count == 0) {
        return;
    }
    iwi_only_in(doc, IWI_IN_TEXT);
    iwi_section(doc, "detours", "Times and durations");
    show_scatter(doc, report, false);
    iwi_note(doc, "In a cell \xe2\x96\x91 5, \xe2\x96\x92 50, \xe2\x96\x93 500, \xe2\x96\x88 5000 or more, "
                  "otherwise each is a dot.");
    if (report->picture.stride > 1) {
        iwi_doc_append(doc, " Of all but the %zu longest, one of %zu is drawn.",
                       report->picture.longest_count, report->picture.stride);
    }
    show_bins(doc, report);
    iwi_only_in(doc, IWI_EVERYWHERE);
}

/* ---- the document ---- */

static void show_spectrum(struct iwi_document *doc, const iw_noise_report *report)
{
    if (report->spectrum == NULL && report->no_spectrum == NULL) {
        return;
    }
    iwi_section(doc, "spectrum", "Periodic noise");
    if (report->spectrum == NULL) {
        iwi_paragraph(doc, "Its frequencies are unknown: %s.", report->no_spectrum);
        return;
    }
    iwi_paragraph(doc, "%s", iwi_spectrum_verdict(doc, report->spectrum));
    iwi_spectrum_show(doc, report->spectrum);
}

static void show_attributes(struct iwi_document *doc, const iw_noise_facts *facts)
{
    iwi_only_in(doc, IWI_ON_PAGES);
    iwi_section(doc, "origin", "Origin");
    IWI_TABLE(doc, "How, when and where this was measured", {"what", IWI_WORDS}, {"value", IWI_WORDS});
    for (size_t i = 0; i < facts->attribute_count; i++) {
        const iw_attribute *attribute = &facts->attributes[i];

        iwi_row(doc, attribute->name, iwi_attribute_text(attribute->name, attribute->value));
    }
    iwi_only_in(doc, IWI_EVERYWHERE);
}

static void write_doc(struct iwi_document *doc, const void *subject)
{
    const iw_noise_report *report = subject;

    iwi_title(doc, "Noise of %s", iwi_noise_host(report));
    iwi_subtitle(doc, "Recording %s", report->name);
    iwi_noise_verdict(doc, report);
    iwi_noise_provenance(doc, report);
    iwi_noise_figures(doc, report);
    iwi_noise_tables(doc, &report->facts);
    iwi_noise_interrupts(doc, &report->facts);
    show_text_pictures(doc, report);
    show_spectrum(doc, report);
    show_attributes(doc, &report->facts);
    iwi_section(doc, "certainty", "How sure");
    iwi_noise_warnings(doc, &report->facts);
    if (report->spectrum != NULL) {
        iwi_spectrum_notes(doc, report->spectrum);
    }
}

/* Each detour. Through memory, since `out` need not be a file; so many rows at a time. */
static void write_cpu(FILE *out, const iw_recording *recording, const iw_detours *cpu, struct iwi_out *memory)
{
    enum { ROWS = 4096 };
    const size_t count = iwi_csv_row_count(recording, cpu);

    for (size_t i = 0; i < count && memory->status == IW_OK; i += ROWS) {
        iwi_csv_write_rows(recording, cpu, i, i + ROWS < count ? i + ROWS : count, memory);
        (void)fwrite(memory->buffer, 1, memory->used, out);
        memory->used = 0;
    }
}

IWI_OF(bool, has_csv, iw_noise_report, it->recording != NULL)

static iw_status write_csv(const iw_log *log, const void *subject, FILE *out)
{
    const iw_recording *recording = ((const iw_noise_report *)subject)->recording;
    struct iwi_out memory;

    IW_TRY(iwi_out_open_memory(log, &memory));
    (void)fprintf(out, "%s\n", iwi_csv_heads[recording->probe]);
    for (size_t c = 0; c < recording->cpu_count; c++) {
        write_cpu(out, recording, &recording->cpus[c], &memory);
    }
    IW_TRY(iwi_out_close(&memory));
    return iwi_check_written(log, out, "the detours");
}

const struct iwi_kind iwi_noise_kind = {
    .name = "noise",
    .schema_id = "idlewave.noise/4",
    .about = "A recording, from `idlewave noise show --format json`. CSV has the detours themselves: "
             "`cpu,start_ns,duration_ns,class,source`, where the source is the one with the largest part; "
             "for FWQ and FTQ a line for each quantum, with `duration_ns` or `work`",
    .older_id = "idlewave.noise/3",
    .schema = &iwi_noise_schema,
    .write_doc = write_doc,
    .check = check,
    .has_csv = has_csv,
    .write_csv = write_csv,
};

IWI_DOC(iw_noise_doc, iw_noise_report, report, iwi_noise_kind)
