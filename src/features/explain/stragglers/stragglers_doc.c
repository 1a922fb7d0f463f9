/* What a training job lost because its workers were not alike.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/straggler.h>

#include <math.h>
#include <string.h>

#include "core/base/base.h"
#include "features/explain/part_schemas.h"
#include "features/tables.h"
#include "kit/text/words.h"

enum { MOST_WORKERS = 10 };

/* ---- tables ---- */

static const struct iwi_field kind_fields[] = {
    IWI_CHARS(iw_straggler_kind, name),
    IWI_VALUE(iw_straggler_kind, count),
    IWI_VALUE(iw_straggler_kind, usual_ns, .about = "mean of computations, median of transfers"),
    IWI_VALUE(iw_straggler_kind, factor, .old_key = "slowdown", .about = "if only these take traced times"),
};
static const struct iwi_schema kind_schema = IWI_SCHEMA(iw_straggler_kind, kind_fields);

static const struct iwi_field place_fields[] = {
    IWI_VALUE(iw_straggler_place, number),
    IWI_VALUE(iw_straggler_place, factor, .old_key = "slowdown",
              .about = "if only this one takes traced times"),
};
static const struct iwi_schema place_schema = IWI_SCHEMA(iw_straggler_place, place_fields);

static const struct iwi_field worker_fields[] = {
    IWI_VALUE(iw_straggler_worker, rank),
    IWI_VALUE(iw_straggler_worker, replica),
    IWI_VALUE(iw_straggler_worker, stage),
    IWI_VALUE(iw_straggler_worker, factor, .old_key = "slowdown",
              .about = "the lesser of its stage's and its replica's"),
};
static const struct iwi_schema worker_schema = IWI_SCHEMA(iw_straggler_worker, worker_fields);

static const struct iwi_field cause_fields[] = {
    IWI_CHARS(iw_straggler_cause, name),
    IWI_VALUE(iw_straggler_cause, without_ns, .about = "the mean step if these were alike"),
    IWI_VALUE(iw_straggler_cause, share, .about = "of the loss"),
};
static const struct iwi_schema cause_schema = IWI_SCHEMA(iw_straggler_cause, cause_fields);

static const struct iwi_field step_fields[] = {
    IWI_VALUE(iw_straggler_step, number),
    IWI_VALUE(iw_straggler_step, traced_ns),
    IWI_VALUE(iw_straggler_step, replayed_ns),
};
static const struct iwi_schema step_schema = IWI_SCHEMA(iw_straggler_step, step_fields);

static const struct iwi_field stragglers_fields[] = {
    IWI_VALUE(iw_stragglers, command, .may_be_null = true),
    IWI_CHARS(iw_stragglers, name, .about = "of the job"),
    IWI_VALUE(iw_stragglers, replicas),
    IWI_VALUE(iw_stragglers, stages),
    IWI_VALUE(iw_stragglers, microbatches),
    IWI_VALUE(iw_stragglers, gpus, .about = "from the file of sizes; 0: unknown"),
    IWI_VALUE(iw_stragglers, traced_ns, .about = "the mean step, from its first to its last event"),
    IWI_VALUE(iw_stragglers, replayed_ns,
              .about = "the mean step if each operation begins as soon as what it waits for has ended"),
    IWI_VALUE(iw_stragglers, ideal_ns, .about = "the same if each takes the usual time of its kind"),
    IWI_VALUE(iw_stragglers, factor, .old_key = "slowdown",
              .about = "S: `replayed_ns` over `ideal_ns`; `slowdown` in files of schema 1"),
    IWI_VALUE(iw_stragglers, slow_workers, .about = "3 % of the workers, at least one"),
    IWI_VALUE(iw_stragglers, slow_workers_share,
              .about = "of the loss, gone with usual times for these; null: nothing was lost"),
    IWI_VALUE(iw_stragglers, last_stage_share,
              .about = "of the loss, gone with usual times for the last stage"),
    IWI_OBJECTS_IN_PLACE(iw_stragglers, causes, cause_count, cause_schema,
                         .about = "what can be made alike, largest share first"),
    IWI_OBJECTS_IN_PLACE(iw_stragglers, kinds, kind_count, kind_schema, .about = "of operations"),
    IWI_OBJECTS(iw_stragglers, by_stage, stage_count, place_schema),
    IWI_OBJECTS(iw_stragglers, by_replica, replica_count, place_schema),
    IWI_OBJECTS(iw_stragglers, workers, worker_count, worker_schema, .about = "the slowest first"),
    IWI_OBJECTS(iw_stragglers, steps, step_count, step_schema, .is_row = true),
};
const struct iwi_schema iwi_stragglers_schema = IWI_SCHEMA(iw_stragglers, stragglers_fields);

/* ---- words ---- */

/* What each cause says to people. */
static const struct cause_words {
    const char *name, *blame, *change;
} causes[] = {
    {"workers", "single slow workers", "each worker as fast as its stage's median"},
    {"stages", "stages of unequal work", "all stages alike"},
    {"micro-batches", "micro-batches of unequal length", "all micro-batches alike"},
    {"communication", "communication", "each transfer as fast as its kind's median"},
};

static size_t cause_index(const iw_straggler_cause *cause)
{
    size_t i = 0;

    while (i + 1 < sizeof causes / sizeof causes[0] && strcmp(causes[i].name, cause->name) != 0) {
        i++;
    }
    return i;
}

static const char *s(struct iwi_document *doc, double factor)
{
    return iwi_doc_printf(doc, "%.4f", factor);
}

static const char *share(struct iwi_document *doc, double value)
{
    return isnan(value) ? "-" : iwi_doc_printf(doc, "%.1f %%", 100.0 * value);
}

/* With the worker to look at first, where it is workers. Shares above 1: see the note below the causes. */
static void say_blame(struct iwi_document *doc, const iw_stragglers *result, const iw_straggler_cause *cause)
{
    const struct cause_words *words = &causes[cause_index(cause)];

    iwi_doc_append(doc, " Main cause: %s", words->blame);
    if (strcmp(cause->name, "workers") == 0 && result->worker_count > 0) {
        const iw_straggler_worker *worst = &result->workers[0];

        iwi_doc_append(doc, ", above all rank %" PRIu32 " (replica %" PRIu32 ", stage %" PRIu32 ")",
                       worst->rank, worst->replica, worst->stage);
    }
    iwi_doc_append(doc, "; with %s, %s of the loss would be gone.", words->change,
                   cause->share < 1.0 ? share(doc, cause->share) : "all");
}

static void say_verdict(struct iwi_document *doc, const iw_stragglers *result)
{
    const iw_straggler_cause *first = &result->causes[0];
    char slower[IWI_PHRASE_SIZE];

    if (!(result->replayed_ns > result->ideal_ns)) {
        iwi_verdict(doc, "Stragglers cost nothing: each step of %s takes as long as with usual times.",
                    iwi_ns(doc, result->replayed_ns));
        return;
    }
    iwi_verdict(doc, "The job %s with usual times of all operations: each step of %s loses %s.",
                iwi_slower_text(result->factor - 1.0, slower), iwi_ns(doc, result->replayed_ns),
                iwi_ns(doc, result->replayed_ns - result->ideal_ns));
    if (result->cause_count > 0 && first->share >= 0.5) {
        say_blame(doc, result, first);
    } else {
        iwi_doc_append(doc, " No single cause explains half of it.");
    }
}

static void say_causes(struct iwi_document *doc, const iw_stragglers *result)
{
    iwi_section(doc, "causes", "What would help");
    IWI_TABLE(doc, "", {"change", IWI_WORDS}, {"step", IWI_NUMBER}, {"S", IWI_NUMBER},
              {"of the loss", IWI_NUMBER});
    for (uint32_t i = 0; i < result->cause_count; i++) {
        const iw_straggler_cause *cause = &result->causes[i];

        iwi_row(doc, causes[cause_index(cause)].change, iwi_ns(doc, cause->without_ns),
                s(doc, cause->without_ns / result->ideal_ns), share(doc, cause->share));
    }
    iwi_row(doc,
            result->slow_workers == 1 ? "usual times for the slowest worker"
                                      : iwi_doc_printf(doc, "usual times for the %" PRIu32 " slowest workers",
                                                       result->slow_workers),
            "", "", share(doc, result->slow_workers_share));
    iwi_row(doc, "usual times for the last stage", "", "", share(doc, result->last_stage_share));
    iwi_unfold(doc);
    iwi_note(
        doc,
        "S: step over a step with usual times. Each line is one change on its own, so shares overlap and "
        "need not add up to 100 %%. One may exceed 100 %%, since slow workers count in the usual times.");
}

static void say_step(struct iwi_document *doc, const iw_stragglers *result)
{
    iwi_section(doc, "step", "The step");
    IWI_TABLE(doc, "", {"", IWI_WORDS}, {"", IWI_NUMBER});
    iwi_row(doc, "replicas x stages x micro-batches",
            iwi_doc_printf(doc, "%" PRIu32 " x %" PRIu32 " x %" PRIu32, result->replicas, result->stages,
                           result->microbatches));
    if (result->gpus > 0) {
        iwi_row(doc, "GPUs", iwi_doc_printf(doc, "%" PRIu32, result->gpus));
    }
    iwi_row(doc, "steps", iwi_doc_printf(doc, "%zu", result->step_count));
    iwi_row(doc, "traced, mean", iwi_doc_printf(doc, "%.4f s", result->traced_ns / 1e9));
    iwi_row(doc, "replayed, mean", iwi_doc_printf(doc, "%.4f s", result->replayed_ns / 1e9));
    iwi_row(doc, "with usual times", iwi_doc_printf(doc, "%.4f s", result->ideal_ns / 1e9));
    iwi_row(doc, "S", s(doc, result->factor));
    iwi_unfold(doc);
}

static void say_kinds(struct iwi_document *doc, const iw_stragglers *result)
{
    iwi_section(doc, "kinds", "Only this kind of operation as traced");
    IWI_TABLE(doc, "", {"operation", IWI_WORDS}, {"times", IWI_NUMBER}, {"usual", IWI_NUMBER},
              {"S", IWI_NUMBER});
    for (size_t i = 0; i < result->kind_count; i++) {
        const iw_straggler_kind *kind = &result->kinds[i];

        iwi_row(doc, kind->name, iwi_count(doc, kind->count), iwi_ns_short(doc, kind->usual_ns),
                s(doc, kind->factor));
    }
    iwi_unfold(doc);
}

static void say_places(struct iwi_document *doc, const char *id, const char *title, const char *head,
                       const iw_straggler_place *places, size_t count)
{
    iwi_section(doc, id, title);
    IWI_TABLE(doc, "", {head, IWI_NUMBER}, {"S", IWI_NUMBER});
    for (size_t i = 0; i < count; i++) {
        iwi_row(doc, iwi_doc_printf(doc, "%" PRIu32, places[i].number), s(doc, places[i].factor));
    }
}

static void say_workers(struct iwi_document *doc, const iw_stragglers *result)
{
    iwi_section(doc, "workers", "The slowest workers");
    IWI_TABLE(doc, "", {"rank", IWI_NUMBER}, {"replica", IWI_NUMBER}, {"stage", IWI_NUMBER},
              {"S", IWI_NUMBER});
    for (size_t i = 0; i < result->worker_count && i < MOST_WORKERS; i++) {
        const iw_straggler_worker *worker = &result->workers[i];

        iwi_row(doc, iwi_doc_printf(doc, "%" PRIu32, worker->rank),
                iwi_doc_printf(doc, "%" PRIu32, worker->replica),
                iwi_doc_printf(doc, "%" PRIu32, worker->stage), s(doc, worker->factor));
    }
    iwi_note(doc, "S of a worker: the lesser of its stage's and its replica's.");
}

static void show_steps(struct iwi_document *doc, const iw_stragglers *result)
{
    struct iwi_figure *figure = NULL;
    struct iwi_mark *dots, *line;
    iw_status made;

    if (result->step_count < 2) {
        return;
    }
    made = iwi_figure_new(doc->log, "Steps of the job", &figure);
    if (made == IW_OK) {
        figure->message =
            iwi_figure_text(figure, "Each dot is a step; the line is a step with usual times, %s.",
                            iwi_ns(doc, result->ideal_ns));
        figure->x = (struct iwi_figure_axis){.label = "Step, in traced order", .unit = IWI_AXIS_INDEX};
        figure->y = (struct iwi_figure_axis){.label = "Time", .unit = IWI_AXIS_NS};
        line = iwi_figure_mark(figure, IWI_MARK_RULE_Y, iwi_series_ink(1), "with usual times");
        iwi_mark_add(figure, line, (double[]){result->ideal_ns});
        dots = iwi_figure_mark(figure, IWI_MARK_DOTS, iwi_series_ink(0), "replayed");
        for (size_t i = 0; i < result->step_count; i++) {
            iwi_mark_add(figure, dots, (double[]){(double)i + 1.0, result->steps[i].replayed_ns});
        }
    }
    iwi_show_figure(doc, made, figure);
}

static void say_certainty(struct iwi_document *doc, const iw_stragglers *result)
{
    iwi_section(doc, "certainty", "How sure");
    iwi_item(
        doc,
        "Usual times cover all workers and steps: the mean for each kind of computation, the median for each "
        "kind of transfer.");
    iwi_item(
        doc,
        "The replay has no gaps between operations. The trace took %.2f %% longer, because of late launches "
        "and delays that the timeline does not show.",
        100.0 * (result->traced_ns / result->replayed_ns - 1.0));
    iwi_item(doc, "%s",
             result->stages > 1
                 ? "The length of a micro-batch is what all stages agree on; variation on one stage does not "
                   "count."
                 : "With one stage, long micro-batches cannot be distinguished from other variation.");
}

/* ---- the document ---- */

static void write_doc(struct iwi_document *doc, const void *subject)
{
    const iw_stragglers *result = subject;

    iwi_title(doc, "Stragglers of %s", result->name);
    if (result->command != NULL) {
        iwi_subtitle(doc, "%s", result->command);
    }
    say_verdict(doc, result);
    say_causes(doc, result);
    iwi_only_in(doc, IWI_ON_PAGES | IWI_IN_PLOTS);
    show_steps(doc, result);
    iwi_only_in(doc, IWI_EVERYWHERE);
    say_step(doc, result);
    say_kinds(doc, result);
    say_places(doc, "stages", "Only this stage as traced", "stage", result->by_stage, result->stage_count);
    say_places(doc, "replicas", "Only this replica as traced", "replica", result->by_replica,
               result->replica_count);
    say_workers(doc, result);
    say_certainty(doc, result);
}

static iw_status check(const iw_log *log, const char *name, const void *subject)
{
    const iw_stragglers *result = subject;

    return result->ideal_ns > 0 && result->replayed_ns > 0
               ? IW_OK
               : iwi_fail(log, IW_ERR_FORMAT, "'%s': a step takes no time", name);
}

const struct iwi_kind iwi_stragglers_kind = {
    .name = "stragglers",
    .schema_id = "idlewave.stragglers/2",
    .about = "What stragglers cost a training run, from `idlewave explain --only stragglers FILE --format "
             "json`. CSV has one line per step",
    .older_id = "idlewave.stragglers/1",
    .schema = &iwi_stragglers_schema,
    .write_doc = write_doc,
    .check = check,
};

IWI_DOC(iw_stragglers_doc, iw_stragglers, result, iwi_stragglers_kind)
