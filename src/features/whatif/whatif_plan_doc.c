/* What answering a what-if will take.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/whatif.h>

#include "core/base/base.h"
#include "features/tables.h"
#include "kit/text/words.h"

static const struct iwi_field plan_fields[] = {
    IWI_VALUE(iw_whatif_plan, ranks),
    IWI_VALUE(iw_whatif_plan, messages, .about = "of one simulation"),
    IWI_VALUE_AS(iw_whatif_plan, change_count, "changes",
                 .about = "that are tried, besides the noise as it is"),
    IWI_VALUE(iw_whatif_plan, trials, .about = "of each"),
    IWI_VALUE(iw_whatif_plan, redraws),
    IWI_VALUE_AS(iw_whatif_plan, per_redraw, "trials_per_redraw"),
    IWI_VALUE(iw_whatif_plan, simulations),
    IWI_VALUE(iw_whatif_plan, seconds, .about = "that they take, by a sample"),
    IWI_VALUE(iw_whatif_plan, target_seconds, .about = "that `--target` adds at most"),
    IWI_VALUE(iw_whatif_plan, reserve_seconds, .about = "that `--cores-per-node` adds at most"),
    IWI_VALUE_AS(iw_whatif_plan, bytes, "process_bytes", .about = "memory for the state of ranks"),
    IWI_VALUE(iw_whatif_plan, room_bytes, .about = "that a process can have here"),
    IWI_VALUE(iw_whatif_plan, sample_ranks),
};
static const struct iwi_schema plan_schema = IWI_SCHEMA(iw_whatif_plan, plan_fields);

static void say_verdict(struct iwi_document *doc, const iw_whatif_plan *plan)
{
    iwi_verdict(doc, "It will take about %s and %s: %s simulations.", iwi_seconds(doc, plan->seconds),
                iwi_memory_size(doc, (double)plan->bytes), iwi_count(doc, plan->simulations));
    if (plan->target_seconds > 0.0) {
        iwi_more(doc, " The smallest set for the target may take %s more.",
                 iwi_seconds(doc, plan->target_seconds));
    }
    if (plan->reserve_seconds > 0.0) {
        iwi_more(doc, " Other numbers of ranks for the reserved core may take %s more.",
                 iwi_seconds(doc, plan->reserve_seconds));
    }
    if ((double)plan->bytes > plan->room_bytes) {
        iwi_more(doc, " That does not fit: a process can have %s here.",
                 iwi_memory_size(doc, plan->room_bytes));
    }
}

static void write_doc(struct iwi_document *doc, const void *subject)
{
    const iw_whatif_plan *plan = subject;

    iwi_title(doc, "What the what-if will take");
    say_verdict(doc, plan);
    IWI_TABLE(doc, "", {"", IWI_WORDS}, {"", IWI_WORDS});
    iwi_row(doc, "ranks", iwi_say(doc, "%" PRIu32, plan->ranks));
    iwi_row(doc, "messages", iwi_say(doc, "%" PRIu64 " per simulation", plan->messages));
    iwi_row(doc, "changes", iwi_say(doc, "%zu, each against the noise as it is", plan->change_count));
    iwi_row(doc, "pairs",
            iwi_say(doc, "%" PRIu64 " trials of each change%s", plan->trials,
                    plan->redraws > 0 ? iwi_say(doc, ", and %" PRIu32 " under each of %" PRIu32 " redraws",
                                                plan->per_redraw, plan->redraws)
                                      : ""));
    iwi_section(doc, "certainty", "How sure");
    iwi_item(doc,
             "The time is that of a sample of one change on %s ranks, times what there is to do: a factor of "
             "2 either way is possible. Fewer redraws, trials or sources take less.",
             iwi_count(doc, plan->sample_ranks));
}

const struct iwi_kind iwi_whatif_plan_kind = {
    .name = "whatif-plan",
    .schema_id = "idlewave.whatif-plan/2",
    .about = "What a what-if would take, from `idlewave whatif --dry-run --format json`",
    .schema = &plan_schema,
    .write_doc = write_doc,
};

iw_doc iw_whatif_plan_doc(const iw_whatif_plan *plan)
{
    return (iw_doc){&iwi_whatif_plan_kind, plan};
}
