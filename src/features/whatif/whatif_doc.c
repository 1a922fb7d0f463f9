/* What a job would gain without which source of noise, and what answering that will take.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/whatif.h>

#include <math.h>
#include <string.h>

#include "core/base/base.h"
#include "features/simulate/simulate.h"
#include "features/tables.h"
#include "features/whatif/changes.h"
#include "features/whatif/whatif_report.h"
#include "kit/figure/figure.h"
#include "kit/text/words.h"

enum { MOST_BARS = 20 };

iw_status iwi_whatif_figure(struct iwi_document *doc, const iw_whatif *whatif, struct iwi_figure **figure_p)
{
    const size_t count = whatif->change_count < MOST_BARS ? whatif->change_count : MOST_BARS;
    struct iwi_figure *figure;
    struct iwi_mark *bars;

    IW_TRY(iwi_figure_new(doc->log, "What each change saves", &figure));
    bars = iwi_bar_rows_begin(figure, "Slowdown saved", IWI_AXIS_SHARE, count);
    for (size_t i = 0; i < count; i++) {
        const iw_change *change = &whatif->changes[i];

        iwi_bar_rows_add(figure, bars, iwi_change_words(doc, change),
                         (iw_estimate){iwi_shown(change->saving), change->saving.low, change->saving.high},
                         iwi_points_words(doc, change->saving, ""), false);
    }
    figure->message = iwi_figure_text(figure, "The slowdown is %s%s now; lines: 95 %% intervals.",
                                      iwi_is_bound(whatif->now) ? "at least " : "",
                                      iwi_slowdown_percent(doc, iwi_shown(whatif->now)));
    *figure_p = figure;
    return IW_OK;
}

static const struct iwi_field plan_fields[] = {
    IWI_VALUE(iw_whatif_plan, ranks),
    IWI_VALUE(iw_whatif_plan, messages, .about = "of one simulation"),
    IWI_VALUE_AS(iw_whatif_plan, change_count, "changes", .about = "changes to try, besides all noise"),
    IWI_VALUE(iw_whatif_plan, trials, .about = "of each"),
    IWI_VALUE(iw_whatif_plan, redraws),
    IWI_VALUE_AS(iw_whatif_plan, per_redraw, "trials_per_redraw"),
    IWI_VALUE(iw_whatif_plan, simulations),
    IWI_VALUE(iw_whatif_plan, seconds, .about = "if each thread has a CPU for itself, from samples"),
    IWI_VALUE(iw_whatif_plan, cpu_seconds, .about = "CPU time of all threads, from start to end"),
    IWI_VALUE(iw_whatif_plan, target_seconds, .about = "most that `--target` adds"),
    IWI_VALUE(iw_whatif_plan, reserve_seconds, .about = "most that `--cores-per-node` adds"),
    IWI_VALUE_AS(iw_whatif_plan, bytes, "process_bytes", .about = "memory for the state of ranks"),
    IWI_VALUE(iw_whatif_plan, room_bytes, .about = "memory that a process can use on this machine"),
    IWI_VALUE(iw_whatif_plan, sample_ranks),
};
static const struct iwi_schema plan_schema = IWI_SCHEMA(iw_whatif_plan, plan_fields);

static void say_verdict(struct iwi_document *doc, const iw_whatif_plan *plan)
{
    iwi_verdict(doc, "About %s, %s of CPU time, and %s: %s simulations.", iwi_seconds(doc, plan->seconds),
                iwi_seconds(doc, plan->cpu_seconds), iwi_memory_size(doc, (double)plan->bytes),
                iwi_count(doc, plan->simulations));
    if (plan->target_seconds > 0.0) {
        iwi_doc_append(doc, " The smallest set for the target may take %s more.",
                       iwi_seconds(doc, plan->target_seconds));
    }
    if (plan->reserve_seconds > 0.0) {
        iwi_doc_append(doc, " Other numbers of ranks for the reserved core may take %s more.",
                       iwi_seconds(doc, plan->reserve_seconds));
    }
    if ((double)plan->bytes > plan->room_bytes) {
        iwi_doc_append(doc, " Not enough memory: a process can use %s on this machine.",
                       iwi_memory_size(doc, plan->room_bytes));
    }
}

static void write_plan(struct iwi_document *doc, const void *subject)
{
    const iw_whatif_plan *plan = subject;

    iwi_title(doc, "Cost of the what-if");
    say_verdict(doc, plan);
    IWI_TABLE(doc, "", {"", IWI_WORDS}, {"", IWI_WORDS});
    iwi_row(doc, "ranks", iwi_doc_printf(doc, "%" PRIu32, plan->ranks));
    iwi_row(doc, "messages", iwi_doc_printf(doc, "%" PRIu64 " per simulation", plan->messages));
    iwi_row(doc, "changes", iwi_doc_printf(doc, "%zu, each compared with all noise", plan->change_count));
    iwi_row(
        doc, "pairs",
        iwi_doc_printf(doc, "%" PRIu64 " trials of each change%s", plan->trials,
                       plan->redraws > 0
                           ? iwi_doc_printf(doc, ", and %" PRIu32 " under each of %" PRIu32 " resamplings",
                                            plan->per_redraw, plan->redraws)
                           : ""));
    iwi_section(doc, "certainty", "How sure");
    iwi_item(doc,
             "CPU time is that of all threads: starting and reading as they took now, the rest from samples "
             "of the changes. Nine of ten such forecasts were within 1.5 times of what a run took. Fewer "
             "redraws, trials or sources take less.");
}

const struct iwi_kind iwi_whatif_plan_kind = {
    .name = "whatif-plan",
    .schema_id = "idlewave.whatif-plan/2",
    .about = "Cost of a what-if, from `idlewave whatif --dry-run --format json`",
    .schema = &plan_schema,
    .write_doc = write_plan,
};

IWI_DOC(iw_whatif_plan_doc, iw_whatif_plan, plan, iwi_whatif_plan_kind)

enum { MOST_ADVICE = 10 };

/* Less would be 0.00 %. */
static const double LEAST_LEFT = 5e-5;

/* ---- tables ---- */

IWI_NAMES(change_name, [IW_CHANGE_SOURCE] = "source", [IW_CHANGE_REST] = "rest", [IW_CHANGE_CLASS] = "class",
          [IW_CHANGE_SET] = "set", [IW_CHANGE_ALL] = "all", [IW_CHANGE_TOGETHER] = "together",
          [IW_CHANGE_RESERVE] = "reserve", [IW_CHANGE_REPLACE] = "replace", [IW_CHANGE_APART] = "apart",
          [IW_CHANGE_NETWORK] = "network")
static const struct iwi_field change_fields[] = {
    IWI_ENUM(
        iw_change, kind, "kind", change_name,
        .about =
            "`rest`: all sources that were not tried on their own; `set`: one of `--without`; `together`: "
            "nothing is removed, noise hits all nodes at the same time; `apart`: with `--align wall`, nodes "
            "are independent; `network`: no message is delayed; `reserve`: one "
            "core of each node is left to the operating system"),
    IWI_CHARS(iw_change, name, .about = "of the source or the class, or the text of `--without`"),
    IWI_VALUES(iw_change, removes, removed_count, .about = "names of the sources that are removed"),
    IWI_VALUE(iw_change, share, .about = "of CPU time"),
    IWI_ESTIMATE(iw_change, slowdown,
                 .about = "what remains; for `reserve` relative to the time without noise on all cores, so "
                          "its price is included"),
    IWI_ESTIMATE(iw_change, saving, .about = "`now` minus `slowdown`, by pairs of trials"),
    IWI_POINTER(iw_change, remedy, iwi_remedy_schema),
};
static const struct iwi_schema change_schema = IWI_SCHEMA(iw_change, change_fields);

static const struct iwi_field even_fields[] = {
    IWI_VALUE(iw_break_even, is_known),
    IWI_VALUE(iw_break_even, is_always, .about = "it pays off at all sizes that were tried"),
    IWI_ESTIMATE(iw_break_even, ranks, .about = "from which it pays off"),
    IWI_VALUE(iw_break_even, least_ranks, .about = "smallest size that was tried"),
    IWI_VALUE(iw_break_even, most_ranks, .about = "largest size that was tried"),
    IWI_VALUE(iw_break_even, price, .about = "slowdown of one core fewer without noise"),
};
static const struct iwi_schema even_schema = IWI_SCHEMA(iw_break_even, even_fields);

static const struct iwi_field source_fields[] = {
    {.key = "name", .type = IWI_T_CHARS, IWI_MEMBER(iw_noise_set_source, text)},
    IWI_ENUM(iw_noise_set_source, kind, "class", iwi_class_at),
    IWI_VALUE(iw_noise_set_source, share),
    IWI_POINTER(iw_noise_set_source, remedy, iwi_remedy_schema),
};
static const struct iwi_schema source_schema = IWI_SCHEMA(iw_noise_set_source, source_fields);

IWI_OF(bool, has_target, iw_whatif, it->target >= 0.0)
IWI_OF(bool, has_target_set, iw_whatif, it->has_target_set)

IWI_OF(bool, has_break_even, iw_whatif, it->break_even.most_ranks > 0)
IWI_OF(bool, is_recorded, iw_whatif, it->reach.watched_s > 0.0)

static bool has_cores(const void *object)
{
    return ((const iw_whatif *)object)->cores_per_rank > 1;
}

static const char *loop_name(unsigned loop)
{
    return iw_loop_schedule_name((iw_loop_schedule)loop);
}

static const struct iwi_field whatif_fields[] = {
    IWI_VALUE(iw_whatif, what, .about = "what runs"),
    IWI_VALUE(iw_whatif, command),
    IWI_VALUE(iw_whatif, noise, .about = "inputs joined by ` + `"),
    IWI_CHARS(iw_whatif, net),
    IWI_VALUE(iw_whatif, ranks),
    IWI_VALUE(iw_whatif, ranks_per_node),
    IWI_VALUE(iw_whatif, cores_per_rank, .is_there = has_cores, .is_optional = true),
    IWI_ENUM(iw_whatif, loop, "loop", loop_name, .is_there = has_cores, .is_optional = true,
             .about = "how the cores of a rank share compute phases"),
    IWI_VALUE(iw_whatif, recorded_cpus,
              .about = "most CPUs that a recording has of a node; equal to `ranks_per_node` where ranks are "
                       "placed as recorded"),
    IWI_CHARS(iw_whatif, noise_cpus, .about = "recorded CPUs that were used; null: all"),
    IWI_VALUE(iw_whatif, trials),
    IWI_VALUE(iw_whatif, redraws, .about = "how often recordings were resampled for the intervals"),
    IWI_VALUE(iw_whatif, seed),
    IWI_VALUE(iw_whatif, messages, .about = "of one trial"),
    IWI_TIME(iw_whatif, noiseless_ps, "noiseless_ns"),
    IWI_VALUE(iw_whatif, is_monotone, .about = "less noise never ends a trial later"),
    IWI_ESTIMATE(iw_whatif, now, .is_column = true,
                 .about = "slowdown T/T0 - 1 with all noise, mean of the trials. No interval for fewer than "
                          "6 trials without redraws; no upper limit beyond the reach of the recording"),
    IWI_OBJECTS(iw_whatif, changes, change_count, change_schema, .is_row = true,
                .about = "largest saving first"),
    IWI_VALUE(iw_whatif, sum_of_sources,
              .about =
                  "sum of the savings of single sources: not what removing all of them saves; null where "
                  "some are lower limits"),
    IWI_VALUE(iw_whatif, target, .is_there = has_target, .about = "slowdown of `--target`"),
    IWI_VALUE(iw_whatif, has_target_set, .about = "a set reaches the target"),
    IWI_VALUE(iw_whatif, is_target_exact,
              .about =
                  "no smaller set reaches the target, or none at all; false: there were too many to try"),
    IWI_OBJECT(iw_whatif, target_set, change_schema, .is_there = has_target_set, .about = "the set"),
    IWI_OBJECT(iw_whatif, break_even, even_schema, .is_there = has_break_even, .about = "of a reserved core"),
    IWI_VALUE(iw_whatif, is_reserve_unknown,
              .about = "no change `reserve` although one was requested: the program has no computation that "
                       "could take longer"),
    IWI_OBJECTS(iw_whatif, sources, source_count, source_schema),
    IWI_OBJECT_AS(iw_whatif, reach, "recording", iwi_reach_schema, .is_there = is_recorded,
                  .about = "how far the recordings support the answer"),
    IWI_VALUE_AS(iw_whatif, recorded_s, "recorded_seconds",
                 .about = "of the shortest recording; 0 without one"),
    IWI_VALUE_AS(iw_whatif, rare_limit_s, "rare_limit_seconds",
                 .about = "noise that occurs less often on a node, on any CPU, may be missing in the "
                          "recording (95 %)"),
    IWI_VALUE(iw_whatif, engine_seconds, .about = "wall time of all simulations"),
    IWI_INLINE(iw_whatif, caveats, iwi_caveats_schema),
};
static const struct iwi_schema whatif_schema = IWI_SCHEMA(iw_whatif, whatif_fields);

static iw_status check(const iw_log *log, const char *name, const void *subject)
{
    return ((const iw_whatif *)subject)->ranks > 0
               ? IW_OK
               : iwi_fail(log, IW_ERR_FORMAT, "'%s': there are no ranks", name);
}

/* ---- the document ---- */

static bool is_alone(const iw_change *change)
{
    return change->kind == IW_CHANGE_SOURCE || change->kind == IW_CHANGE_REST;
}

static double largest_left(const iw_whatif *whatif)
{
    double largest = 0.0;

    for (size_t i = 0; i < whatif->change_count; i++) {
        largest = fmax(largest, iwi_shown(whatif->changes[i].slowdown));
    }
    return largest;
}

/* "12.3 %", of a lower bound "> 12.3 %"; above 0.00 % everything is. */
static const char *left_words(struct iwi_document *doc, iw_estimate left, double largest)
{
    if (iwi_is_bound(left) && left.low < LEAST_LEFT) {
        return "unknown";
    }
    return iwi_doc_printf(doc, "%s%s", iwi_is_bound(left) ? "> " : "",
                          iwi_slower_in_column(doc, iwi_shown(left), largest));
}

static void say_change(struct iwi_document *doc, const iw_change *change, double largest)
{
    const size_t columns = 30; /* long names would leave no room; JSON and CSV have them whole */
    char share[IWI_NUMBER_SIZE], name[IWI_NAME_SIZE];

    iwi_row(doc, iwi_doc_printf(doc, "%s", iwi_plain_name(iwi_change_words(doc, change), columns, name)),
            change->share > 0.0 ? iwi_doc_printf(doc, "%s", iwi_share_text(change->share, share)) : "-",
            left_words(doc, change->slowdown, largest), iwi_points_words(doc, change->saving, ""));
    iwi_bar(doc, (iw_estimate){iwi_shown(change->saving), change->saving.low, change->saving.high});
}

/* Sources first, then sets of them and what else can be done. */
static void say_changes(struct iwi_document *doc, const iw_whatif *whatif)
{
    const double largest = largest_left(whatif);

    iwi_section(doc, "changes", "What each change saves");
    IWI_TABLE(doc, "Sources first; lines over the bars are 95 % intervals", {"without", IWI_WORDS},
              {"share", IWI_NUMBER}, {iwi_slowdown_head(largest), IWI_NUMBER}, {"saves (points)", IWI_WORDS},
              {"", IWI_BAR});
    iwi_unfold(doc);
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < whatif->change_count; i++) {
            if (is_alone(&whatif->changes[i]) == (pass == 0)) {
                say_change(doc, &whatif->changes[i], largest);
            }
        }
    }
}

static bool has_same_remedy(const iw_change *a, const iw_change *b)
{
    return strcmp(a->remedy->how, b->remedy->how) == 0;
}

/* The largest sources that are worth it and have a remedy; how many. */
static size_t find_advised(const iw_whatif *whatif, const iw_change *advised[MOST_ADVICE])
{
    size_t count = 0;

    for (const iw_change *change = NULL;
         count < MOST_ADVICE && (change = iwi_next_change(whatif, IW_CHANGE_SOURCE, change)) != NULL;) {
        if (iwi_is_worth_it(change) && change->remedy != NULL) {
            advised[count++] = change;
        }
    }
    return count;
}

/* "stop the tick: boot with ..."; not the name where the rest says it again: "stop it, or move it by ...". */
static const char *remedy_words(struct iwi_document *doc, const iw_remedy *remedy)
{
    const size_t first_word = strcspn(remedy->name, " ");

    return strncmp(remedy->name, remedy->how, first_word) == 0
               ? remedy->how
               : iwi_doc_printf(doc, "%s: %s", remedy->name, remedy->how);
}

/* Each remedy once, with all sources that it is for. */
static void list_remedies(struct iwi_document *doc, const iw_whatif *whatif)
{
    const iw_change *advised[MOST_ADVICE];
    const size_t count = find_advised(whatif, advised);

    for (size_t i = 0; i < count; i++) {
        const char *names = NULL;

        for (size_t k = 0; k < count; k++) {
            if (!has_same_remedy(advised[k], advised[i])) {
                continue;
            }
            if (k < i) { /* it has been said */
                names = NULL;
                break;
            }
            names = names == NULL ? iwi_change_words(doc, advised[k])
                                  : iwi_doc_printf(doc, "%s, %s", names, iwi_change_words(doc, advised[k]));
        }
        if (names != NULL) {
            iwi_item(doc, "%s: %s.", names, remedy_words(doc, advised[i]->remedy));
        }
    }
}

/* Of sources that are worth it. */
static void say_advice(struct iwi_document *doc, const iw_whatif *whatif)
{
    size_t worth = 0, rest = 0;

    iwi_section(doc, "to-do", "What to do, largest saving first");
    for (const iw_change *change = NULL;
         (change = iwi_next_change(whatif, IW_CHANGE_SOURCE, change)) != NULL;) {
        rest += !iwi_is_worth_it(change);
        worth += iwi_is_worth_it(change);
    }
    list_remedies(doc, whatif);
    if (iwi_is_bound(whatif->now) && rest > 0) {
        iwi_note(doc, "%zu %ssource%s: unknown effect.", rest, worth > 0 ? "further " : "",
                 iwi_plural_s(rest));
    } else if (worth == 0) {
        iwi_paragraph(doc, isnan(whatif->now.low) ? "Too few trials to tell which sources matter."
                                                  : "No source has a measurable effect on its own.");
    } else if (rest > 0) {
        iwi_note(doc, "%zu further source%s: no measurable effect.", rest, iwi_plural_s(rest));
    }
}

/* For who has to decide. */
static void say_limits(struct iwi_document *doc)
{
    iwi_paragraph(doc, "These are predictions: the job is simulated with the recorded noise on every node, "
                       "at random moments, with and without each source. Removing a source "
                       "changes nothing else. Not included: shared caches and memory, other jobs on the "
                       "network, and the price of a change, except for a reserved core.");
    iwi_paragraph(
        doc, "Before you change all nodes, change one, record it again, and compare: 'idlewave "
             "noise compare' shows whether it improved, 'idlewave verify' whether the change is in effect.");
}

static void say_origin(struct iwi_document *doc, const iw_whatif *whatif)
{
    iwi_section(doc, "origin", "How this was made");
    iwi_code(doc, "%s", whatif->command);
    iwi_paragraph(doc,
                  "Noise of %s, network %s, seed %" PRIu64 ", %" PRIu64 " trials of each change, %" PRIu32
                  " resamplings of the recordings; without noise the job takes %s.",
                  whatif->noise, whatif->net, whatif->seed, whatif->trials, whatif->redraws,
                  iwi_ps(doc, whatif->noiseless_ps));
}

static void say_figure(struct iwi_document *doc, const iw_whatif *whatif)
{
    struct iwi_figure *figure = NULL;
    const iw_status status = iwi_whatif_figure(doc, whatif, &figure);

    iwi_only_in(doc, IWI_IN_PLOTS); /* on pages the table has bars */
    iwi_show_figure(doc, status, figure);
    iwi_only_in(doc, IWI_EVERYWHERE);
}

static void write_doc(struct iwi_document *doc, const void *subject)
{
    const iw_whatif *whatif = subject;

    iwi_title(doc, "What noise costs %s", whatif->what);
    iwi_subtitle(doc, "%" PRIu32 " rank%s, with the noise of %s", whatif->ranks, iwi_plural_s(whatif->ranks),
                 whatif->noise);
    iwi_say_caveats(doc, &whatif->caveats, NULL);
    iwi_say_whatif_verdict(doc, whatif);
    if (!isnan(whatif->now.value) && whatif->change_count > 0) {
        say_figure(doc, whatif);
    }
    say_changes(doc, whatif);
    iwi_say_whatif_facts(doc, whatif);
    say_advice(doc, whatif);
    iwi_say_whatif_certainty(doc, whatif);
    iwi_only_in(doc, IWI_ON_PAGES);
    say_limits(doc);
    say_origin(doc, whatif);
}

const struct iwi_kind iwi_whatif_kind = {
    .name = "whatif",
    .schema_id = "idlewave.whatif/3",
    .about = "Savings of changes, from `idlewave whatif --format json`. CSV has a line for each change",
    .older_id = "idlewave.whatif/2",
    .schema = &whatif_schema,
    .write_doc = write_doc,
    .check = check,
    .style = &iwi_asset_whatif_css,
};

IWI_DOC(iw_whatif_doc, iw_whatif, whatif, iwi_whatif_kind)
