/* What a simulation will take.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/noise_set.h>

#include "core/base/base.h"
#include "features/tables.h"
#include "kit/text/words.h"

/* ---- the table ---- */

IWI_OF(bool, is_possible, iw_way, it->refusal[0] == '\0')

static const struct iwi_field way_fields[] = {
    IWI_CHARS(iw_way, refusal, .about = "why it is impossible; then all other keys are null"),
    IWI_VALUE(iw_way, workers, .is_there = is_possible, .about = "threads with work, of all processes"),
    IWI_VALUE(iw_way, lanes, .is_there = is_possible),
    IWI_VALUE(iw_way, batches, .is_there = is_possible, .about = "of the busiest worker"),
    IWI_VALUE_AS(iw_way, messages, "messages_per_batch", .is_there = is_possible, .about = "for each lane"),
    IWI_VALUE_AS(iw_way, bytes_sent, "bytes_sent_per_batch", .is_there = is_possible,
                 .about = "of the busiest worker"),
    IWI_VALUE_AS(iw_way, exchanges, "exchanges_per_batch", .is_there = is_possible),
    IWI_VALUE(iw_way, compute_s, .is_there = is_possible, .about = "of all its batches"),
    IWI_VALUE(iw_way, exchange_s, .is_there = is_possible, .about = "of all its batches"),
    IWI_VALUE(iw_way, process_bytes, .is_there = is_possible, .about = "memory of one process"),
};
static const struct iwi_schema way_schema = IWI_SCHEMA(iw_way, way_fields);

IWI_NAMED(engine_name, iw_engine_name((iw_engine)value))

static const struct iwi_field forecast_fields[] = {
    IWI_ENUM(iw_forecast, engine, "engine", engine_name, .about = "that would run"),
    IWI_CHARS(iw_forecast, engine_note, .about = "why not flow"),
    IWI_VALUE(iw_forecast, ranks),
    IWI_VALUE(iw_forecast, trials),
    IWI_VALUE(iw_forecast, redrawn, .about = "of the trials, those for the interval of an extrapolation"),
    IWI_VALUE(iw_forecast, messages, .about = "of one trial"),
    IWI_VALUE(iw_forecast, processes),
    IWI_VALUE(iw_forecast, nodes),
    IWI_VALUE(iw_forecast, threads, .about = "of each process"),
    IWI_VALUE(iw_forecast, message_s, .about = "per message, on one core of this machine"),
    IWI_VALUE(iw_forecast, room_bytes, .about = "memory that one process can have on this machine"),
    IWI_ENUM(iw_forecast, chosen, "parallel", iwi_split_name, .about = "the faster split that fits"),
    IWI_CHARS(iw_forecast, reason, .about = "why it was chosen"),
    IWI_OBJECT(iw_forecast, trials_split, way_schema),
    IWI_OBJECT(iw_forecast, ranks_split, way_schema),
};
static const struct iwi_schema forecast_schema = IWI_SCHEMA(iw_forecast, forecast_fields);

/* ---- words ---- */

/* ---- the document ---- */

static void say_verdict(struct iwi_document *doc, const iw_forecast *forecast)
{
    const bool are_ranks_split = forecast->chosen == IW_PARALLEL_RANKS;
    const iw_way *way = are_ranks_split ? &forecast->ranks_split : &forecast->trials_split;

    iwi_verdict(
        doc, "It will take about %s and %s in each process, with the %s split over %" PRIu32 " worker%s: %s.",
        iwi_seconds(doc, way->compute_s + way->exchange_s), iwi_memory_size(doc, (double)way->process_bytes),
        are_ranks_split ? "ranks" : "trials", way->workers, iwi_s(way->workers), forecast->reason);
    if ((double)way->process_bytes > forecast->room_bytes) {
        iwi_more(doc, " That does not fit: a process can have %s here.",
                 iwi_memory_size(doc, forecast->room_bytes));
    }
}

static void say_facts(struct iwi_document *doc, const iw_forecast *forecast)
{
    IWI_TABLE(doc, "", {"", IWI_WORDS}, {"", IWI_WORDS});
    iwi_row(doc, "ranks", iwi_say(doc, "%" PRIu32, forecast->ranks));
    iwi_row(doc, "messages",
            iwi_say(doc, "%" PRIu64 "%s, %s each", forecast->messages,
                    forecast->trials > 1 ? " per trial" : "", iwi_ns(doc, forecast->message_s * 1e9)));
    iwi_row(doc, "trials",
            forecast->redrawn == 0
                ? iwi_say(doc, "%" PRIu64, forecast->trials)
                : iwi_say(doc, "%" PRIu64 ", %" PRIu64 " of them from laws of recordings drawn anew",
                          forecast->trials, forecast->redrawn));
    iwi_row(doc, "engine",
            iwi_say(doc, forecast->engine_note[0] != '\0' ? "%s (%s)" : "%s%s",
                    iw_engine_name(forecast->engine), forecast->engine_note));
    iwi_row(doc, "started as",
            iwi_say(doc, "%" PRIu32 " process%s of %" PRIu32 " thread%s on %" PRIu32 " node%s",
                    forecast->processes, forecast->processes == 1 ? "" : "es", forecast->threads,
                    iwi_s(forecast->threads), forecast->nodes, iwi_s(forecast->nodes)));
}

/* Times and memory are those of the busiest worker and of one process. */
static void say_way(struct iwi_document *doc, const char *name, const iw_way *way, bool is_chosen)
{
    if (is_possible(way)) {
        iwi_row(doc, iwi_say(doc, is_chosen ? "%s *" : "%s", name), iwi_say(doc, "%" PRIu32, way->workers),
                iwi_say(doc, "%" PRIu32, way->lanes), iwi_say(doc, "%" PRIu64, way->batches),
                iwi_seconds(doc, way->compute_s + way->exchange_s), iwi_seconds(doc, way->compute_s),
                iwi_seconds(doc, way->exchange_s), iwi_memory_size(doc, way->bytes_sent),
                iwi_memory_size(doc, (double)way->process_bytes));
    }
}

static void say_refusal(struct iwi_document *doc, const char *name, const iw_way *way)
{
    if (!is_possible(way)) {
        iwi_note(doc, "Splitting the %s is not possible: %s.", name, way->refusal);
    }
}

static void write_doc(struct iwi_document *doc, const void *subject)
{
    const iw_forecast *forecast = subject;
    const bool are_ranks_split = forecast->chosen == IW_PARALLEL_RANKS;

    iwi_title(doc, "What the simulation will take");
    say_verdict(doc, forecast);
    say_facts(doc, forecast);
    IWI_TABLE(doc, "", {"split", IWI_WORDS}, {"workers", IWI_NUMBER}, {"lanes", IWI_NUMBER},
              {"batches", IWI_NUMBER}, {"time", IWI_NUMBER}, {"compute", IWI_NUMBER},
              {"exchange", IWI_NUMBER}, {"sent", IWI_NUMBER}, {"memory", IWI_NUMBER});
    say_way(doc, "trials", &forecast->trials_split, !are_ranks_split);
    say_way(doc, "ranks", &forecast->ranks_split, are_ranks_split);
    say_refusal(doc, "trials", &forecast->trials_split);
    say_refusal(doc, "ranks", &forecast->ranks_split);
    iwi_section(doc, "certainty", "How sure");
    iwi_item(doc, "Batches, and bytes sent in each, are those of the busiest worker; memory is that of one "
                  "process, for the state of its ranks. The run without noise is not counted.");
    iwi_item(
        doc,
        "Rates are those of docs/explanation/scale.md, times the speed of this machine in a sample: a factor "
        "of 2 either way is possible.");
}

const struct iwi_kind iwi_forecast_kind = {
    .name = "forecast",
    .schema_id = "idlewave.forecast/2",
    .about = "What a simulation would take, from `idlewave simulate --dry-run --format json`",
    .schema = &forecast_schema,
    .write_doc = write_doc,
};

iw_doc iw_forecast_doc(const iw_forecast *forecast)
{
    return (iw_doc){&iwi_forecast_kind, forecast};
}
