/* Why a run was slow: sources, where their delays were felt, the worst hits.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/blame.h>

#include <math.h>

#include "core/base/base.h"
#include "features/explain/part_schemas.h"
#include "features/tables.h"
#include "kit/figure/figure.h"
#include "kit/text/words.h"

enum { MOST_SOURCES = 10, MOST_CALLS = 8 };

/* ---- tables ---- */

static const struct iwi_field source_fields[] = {
    IWI_CHARS(iw_blame_source, name),
    IWI_ENUM(iw_blame_source, kind, "class", iwi_class_at),
    IWI_VALUE(iw_blame_source, detours, .about = "to which it contributed, on all ranks"),
    IWI_VALUE(iw_blame_source, lost_ns, .about = "of all ranks"),
    IWI_VALUE(iw_blame_source, absorbed_ns, .about = "the part of it that fell into waiting"),
    IWI_VALUE(iw_blame_source, path_detours, .about = "on the critical path"),
    IWI_VALUE(iw_blame_source, path_ns, .about = "lost on the critical path"),
    IWI_ESTIMATE(iw_blame_source, saving_ns,
                 .about = "what the run would have saved without it; the interval is for another run"),
    IWI_POINTER(iw_blame_source, remedy, iwi_remedy_schema),
};
static const struct iwi_schema source_schema = IWI_SCHEMA(iw_blame_source, source_fields);

static const struct iwi_field call_fields[] = {
    IWI_CHARS(iw_blame_call, name,
              .about = "of the call in which delays were felt; `end` for the end of the run. `MPI_Sendrecv` "
                       "counts as a wait"),
    IWI_VALUE(iw_blame_call, comm, .about = "communicator; 0 is the world, under which waits are counted"),
    IWI_VALUE(iw_blame_call, comm_size),
    IWI_CHARS(iw_blame_call, comm_name, .is_optional = true),
    IWI_VALUE(iw_blame_call, delays),
    IWI_VALUE(iw_blame_call, lost_ns, .about = "of the path"),
    IWI_CHARS(iw_blame_call, largest, .about = "main source"),
};
static const struct iwi_schema call_schema = IWI_SCHEMA(iw_blame_call, call_fields);

static const struct iwi_field hit_fields[] = {
    IWI_CHARS(iw_blame_hit, source, .about = "what hit the rank"),
    IWI_VALUE(iw_blame_hit, rank),
    IWI_VALUE(iw_blame_hit, at_ns, .about = "after the beginning of the run"),
    IWI_VALUE(iw_blame_hit, lost_ns, .about = "what it cost the path"),
    IWI_VALUE(iw_blame_hit, is_in_call, .about = "false: computing before the call"),
    IWI_CHARS(iw_blame_hit, call),
    IWI_VALUE(iw_blame_hit, iteration,
              .about = "number of this call among those of this rank on this communicator"),
    IWI_VALUE(iw_blame_hit, comm),
    IWI_VALUE(iw_blame_hit, comm_size),
    IWI_VALUE(iw_blame_hit, waiter,
              .about = "rank that waited for it; `rank` itself where it delayed only itself"),
    IWI_CHARS(iw_blame_hit, waited_in, .about = "call in which it waited"),
    IWI_VALUE(iw_blame_hit, waiter_iteration),
};
static const struct iwi_schema hit_schema = IWI_SCHEMA(iw_blame_hit, hit_fields);

static const struct iwi_field blame_fields[] = {
    IWI_VALUE(iw_blame, name),
    IWI_VALUE(iw_blame, ranks),
    IWI_VALUE(iw_blame, watched_ranks, .about = "those whose kernel events were recorded"),
    IWI_VALUE(iw_blame, calls, .about = "MPI calls of all ranks"),
    IWI_VALUE(iw_blame, run_ns, .about = "from the end of the first `MPI_Init` to the end of the last rank"),
    IWI_VALUE(iw_blame, path_computing_ns, .about = "critical path, which is as long as the run: computing"),
    IWI_VALUE(iw_blame, path_calls_ns, .about = "critical path: inside calls"),
    IWI_VALUE(iw_blame, path_lost_ns, .about = "critical path: lost to detours"),
    IWI_VALUE(iw_blame, path_jumps, .about = "changes from a waiting rank to the rank it waited for"),
    IWI_VALUE(iw_blame, last_rank, .about = "that ended last"),
    IWI_ESTIMATE(iw_blame, without_all_ns, .about = "the run without any detour"),
    IWI_VALUE(iw_blame, unexplained_share,
              .about = "of computing: by how much it was slower than the same computation at its best, "
                       "without a detour; null if none was repeated"),
    IWI_VALUE(iw_blame, unordered,
              .about = "waits that by the clocks ended before the awaited event began; not followed"),
    IWI_CHARS_AS(iw_blame, attribution, "rung", .about = "source of kernel events: `tracefs` or `perf`"),
    IWI_VALUE(iw_blame, clock_error_ns,
              .about = "maximum difference between the clocks of calls and kernel events"),
    IWI_VALUE(iw_blame, events_lost, .about = "kernel events lost for lack of buffer space"),
    IWI_OBJECTS(iw_blame, sources, source_count, source_schema, .is_row = true,
                .about = "the largest saving first"),
    IWI_OBJECTS(iw_blame, by_call, call_count, call_schema,
                .about = "where delays were felt, the largest loss first"),
    IWI_OBJECTS(iw_blame, hits, hit_count, hit_schema,
                .about = "the ten detours that cost the critical path most"),
};
const struct iwi_schema iwi_blame_schema = IWI_SCHEMA(iw_blame, blame_fields);

/* ---- words ---- */

/* A saving can be told from none. */
static bool matters(const iw_blame_source *source)
{
    return source->saving_ns.low > 0.0;
}

static void say_verdict(struct iwi_document *doc, const iw_blame *blame)
{
    const iw_blame_source *first = blame->source_count > 0 ? &blame->sources[0] : NULL;

    if (first == NULL || !(first->saving_ns.value > 0.0)) {
        iwi_verdict(doc, "The run took %s; no kernel event delayed it.", iwi_ns_round(doc, blame->run_ns));
        return;
    }
    iwi_verdict(doc, "The run took %s; without %s it would have taken %s less (%s",
                iwi_ns_round(doc, blame->run_ns), first->name, iwi_ns_round(doc, first->saving_ns.value),
                iwi_percent_short(doc, first->saving_ns.value / blame->run_ns));
    if (!matters(first)) {
        iwi_doc_append(doc, "), which is not significant: runs differ by more than that.");
        return;
    }
    iwi_doc_append(doc, "; 95 %% CI for another run: %s to %s).", iwi_ns_round(doc, first->saving_ns.low),
                   iwi_ns_round(doc, first->saving_ns.high));
    if (first->remedy != NULL) {
        iwi_doc_append(doc, " Remedy: %s.", first->remedy->name);
    }
}

static const char *signed_ns(struct iwi_document *doc, double ns)
{
    return ns < 0.0 ? iwi_doc_printf(doc, "-%s", iwi_ns_short(doc, -ns)) : iwi_ns_short(doc, ns);
}

static const char *interval(struct iwi_document *doc, const iw_estimate *estimate)
{
    return iwi_from_to(doc, signed_ns(doc, estimate->low), signed_ns(doc, estimate->high));
}

static void say_sources(struct iwi_document *doc, const iw_blame *blame)
{
    iwi_section(doc, "sources", "Sources");
    IWI_TABLE(doc, "", {"source", IWI_WORDS}, {"saving", IWI_NUMBER}, {"in another run, 95 %", IWI_NUMBER},
              {"on the path", IWI_NUMBER}, {"lost", IWI_NUMBER}, {"detours", IWI_NUMBER});
    for (size_t i = 0; i < blame->source_count && i < MOST_SOURCES; i++) {
        const iw_blame_source *source = &blame->sources[i];

        iwi_row(doc, source->name, signed_ns(doc, source->saving_ns.value), interval(doc, &source->saving_ns),
                iwi_ns_short(doc, source->path_ns), iwi_ns_short(doc, source->lost_ns),
                iwi_count(doc, source->detours));
    }
    iwi_unfold(doc);
    if (blame->source_count > MOST_SOURCES) {
        iwi_note(doc, "%zu further source%s less.", blame->source_count - MOST_SOURCES,
                 blame->source_count == MOST_SOURCES + 1 ? " saves" : "s save");
    }
}

static const char *comm_name(struct iwi_document *doc, const iw_blame_call *call)
{
    const char *name = call->comm_name[0] != '\0' ? call->comm_name /* files of 0.2 have none */
                       : call->comm == 0          ? "world"
                                                  : iwi_doc_printf(doc, "communicator %" PRIu32, call->comm);

    return call->comm == 0 ? name : iwi_doc_printf(doc, "%s (%" PRIu32 " ranks)", name, call->comm_size);
}

static void say_calls(struct iwi_document *doc, const iw_blame *blame)
{
    if (blame->call_count == 0) {
        return;
    }
    iwi_section(doc, "calls", "Calls that were delayed");
    IWI_TABLE(doc, "", {"call", IWI_WORDS}, {"communicator", IWI_WORDS}, {"delays", IWI_NUMBER},
              {"lost", IWI_NUMBER}, {"main source", IWI_WORDS});
    for (size_t i = 0; i < blame->call_count && i < MOST_CALLS; i++) {
        const iw_blame_call *call = &blame->by_call[i];

        iwi_row(doc, call->name, comm_name(doc, call), iwi_count(doc, call->delays),
                iwi_ns_short(doc, call->lost_ns), call->largest);
    }
    iwi_unfold(doc);
}

static void say_hits(struct iwi_document *doc, const iw_blame *blame)
{
    if (blame->hit_count == 0) {
        return;
    }
    iwi_section(doc, "hits", "The worst detours");
    IWI_TABLE(doc, "", {"at", IWI_NUMBER}, {"lost", IWI_NUMBER}, {"source", IWI_WORDS}, {"rank", IWI_NUMBER},
              {"doing", IWI_WORDS}, {"delayed", IWI_WORDS});
    for (size_t i = 0; i < blame->hit_count; i++) {
        const iw_blame_hit *hit = &blame->hits[i];
        const char *doing = iwi_doc_printf(doc, "%s %s %" PRIu64, hit->is_in_call ? "in" : "before",
                                           hit->call, hit->iteration);

        iwi_row(doc, iwi_ns_short(doc, hit->at_ns), iwi_ns_short(doc, hit->lost_ns), hit->source,
                iwi_doc_printf(doc, "%" PRIu32, hit->rank), doing,
                hit->waiter != hit->rank ? iwi_doc_printf(doc, "rank %" PRIu32 " in %s %" PRIu64, hit->waiter,
                                                          hit->waited_in, hit->waiter_iteration)
                                         : "itself");
    }
    iwi_unfold(doc);
    iwi_note(doc, "The number after a call counts that rank's calls of this kind on that communicator.");
}

static void say_certainty(struct iwi_document *doc, const iw_blame *blame)
{
    iwi_section(doc, "certainty", "How sure");
    iwi_item(doc,
             "Savings are found by running the trace again without a source's detours. Run again with all of "
             "them, it takes exactly as long as recorded. Calls and detours share a clock (CLOCK_MONOTONIC) "
             "to within "
             "%s; kernel events come from %s.",
             iwi_ns_round(doc, blame->clock_error_ns), blame->attribution);
    iwi_item(doc, "The 95 %% CI for another run allows for other times of the other sources");
    if (!isnan(blame->unexplained_share)) {
        iwi_doc_append(doc,
                       ". Without detours, computing was %s slower than the same computation at its best "
                       "(caches, memory, the hypervisor), which the interval allows for, too.",
                       iwi_percent_short(doc, blame->unexplained_share));
    } else {
        iwi_doc_append(doc,
                       ". It does not allow for variation of computing itself, which is unknown because no "
                       "computation was repeated.");
    }
    if (blame->watched_ranks < blame->ranks) {
        iwi_item(doc,
                 "Only %" PRIu32 " of %" PRIu32
                 " ranks were watched; what the others lost counts as computing.",
                 blame->watched_ranks, blame->ranks);
    }
    if (blame->events_lost > 0) {
        iwi_item(doc, "%" PRIu64 " kernel event%s lost, so some detours are missing.", blame->events_lost,
                 blame->events_lost == 1 ? " was" : "s were");
    }
    if (blame->unordered > 0) {
        const bool is_one = blame->unordered == 1;

        iwi_item(doc,
                 "By the clocks, %" PRIu64 " wait%s ended before the awaited event began; %s not followed.",
                 blame->unordered, iwi_plural_s(blame->unordered), is_one ? "it was" : "they were");
    }
}

static void say_path(struct iwi_document *doc, const iw_blame *blame)
{
    iwi_paragraph(
        doc,
        "The critical path ends on rank %" PRIu32 " and changes ranks %" PRIu64
        " times. It consists of %s computing, %s in calls, and %s lost to detours. Without any detour the "
        "run would have taken %s.",
        blame->last_rank, blame->path_jumps, iwi_ns_round(doc, blame->path_computing_ns),
        iwi_ns_round(doc, blame->path_calls_ns), iwi_ns_round(doc, blame->path_lost_ns),
        iwi_ns_round(doc, blame->without_all_ns.value));
    if (blame->source_count > 0 && matters(&blame->sources[0]) && blame->sources[0].remedy != NULL) {
        iwi_paragraph(doc, "Remedy against %s: %s.", blame->sources[0].name, blame->sources[0].remedy->how);
    }
}

/* ---- the document ---- */

/* Shorter ones would not be seen. */
static const double LEAST_BAR = 0.005;

static iw_status make_figure(struct iwi_document *doc, const iw_blame *blame, struct iwi_figure **figure_p)
{
    struct iwi_figure *figure;
    struct iwi_mark *bars;
    size_t count = 0;

    while (count < blame->source_count && count < MOST_SOURCES &&
           blame->sources[count].saving_ns.value > LEAST_BAR * fmax(blame->sources[0].saving_ns.value, 0.0)) {
        count++;
    }
    if (count == 0) {
        return IW_OK;
    }
    IW_TRY(iwi_figure_new(doc->log, "Savings by source", &figure));
    bars = iwi_bar_rows_begin(figure, "Saving without that source", IWI_AXIS_NS, count);
    for (size_t i = 0; i < count; i++) {
        const iw_blame_source *source = &blame->sources[i];

        iwi_bar_rows_add(figure, bars, source->name, source->saving_ns,
                         iwi_ns_short(doc, source->saving_ns.value), false);
    }
    figure->message =
        iwi_figure_text(figure, "The run took %s. Bars: saving in this run; lines: 95 %% CI for another run.",
                        iwi_ns_round(doc, blame->run_ns));
    *figure_p = figure;
    return IW_OK;
}

static void write_doc(struct iwi_document *doc, const void *subject)
{
    const iw_blame *blame = subject;
    struct iwi_figure *figure = NULL;
    iw_status made;

    iwi_title(doc, "Why '%s' took %s", blame->name, iwi_ns_round(doc, blame->run_ns));
    say_verdict(doc, blame);
    say_path(doc, blame);
    iwi_only_in(doc, IWI_ON_PAGES | IWI_IN_PLOTS);
    made = make_figure(doc, blame, &figure);
    iwi_show_figure(doc, made, figure);
    iwi_only_in(doc, IWI_EVERYWHERE);
    if (blame->source_count > 0) {
        say_sources(doc, blame);
    }
    say_calls(doc, blame);
    say_hits(doc, blame);
    say_certainty(doc, blame);
}

const struct iwi_kind iwi_explain_kind = {
    .name = "explain",
    .schema_id = "idlewave.explain/1",
    .about = "How the operating system delayed a run, from `idlewave explain --only system FILE --format "
             "json`. CSV has one line per source",
    .schema = &iwi_blame_schema,
    .write_doc = write_doc,
};

IWI_DOC(iw_blame_doc, iw_blame, blame, iwi_explain_kind)
