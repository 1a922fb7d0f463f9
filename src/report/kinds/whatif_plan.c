/* What answering a what-if will take, for people and for programs.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/whatif.h>

#include <inttypes.h>

#include <jansson.h>

#include "report/kinds/forecast_report.h"
#include "report/kinds/noise_report.h"
#include "schema/json_util.h"

static void write_verdict(const iw_whatif_plan *plan, FILE *out)
{
    char text[IWI_PARAGRAPH_SIZE] = "", number[IWI_NUMBER_SIZE];

    iwi_append(text, "It will take about %s", iwi_seconds_text(plan->seconds, number));
    iwi_append(text, " and %s", iwi_memory_text((double)plan->bytes, number));
    iwi_append(text, ": %s simulations.", iwi_count_text(plan->simulations, number));
    if (plan->target_seconds > 0.0) {
        iwi_append(text, " The smallest set for --target may take %s more.",
                   iwi_seconds_text(plan->target_seconds, number));
    }
    if (plan->reserve_seconds > 0.0) {
        iwi_append(text, " Other numbers of ranks for --cores-per-node may take %s more.",
                   iwi_seconds_text(plan->reserve_seconds, number));
    }
    if ((double)plan->bytes > plan->room_bytes) {
        iwi_append(text, " That does not fit: a process can have %s here.",
                   iwi_memory_text(plan->room_bytes, number));
    }
    iwi_write_wrapped(out, text);
}

iw_status iw_whatif_plan_write_text(const iw_log *log, const iw_whatif_plan *plan, FILE *out)
{
    char text[IWI_PARAGRAPH_SIZE] = "", number[IWI_NUMBER_SIZE];

    write_verdict(plan, out);
    (void)fprintf(out, "\n  ranks       %" PRIu32 "\n  messages    %" PRIu64 " per simulation\n", plan->ranks,
                  plan->messages);
    (void)fprintf(out, "  changes     %zu, each against the noise as it is\n", plan->change_count);
    (void)fprintf(out, "  pairs       %" PRIu64 " trials of each change", plan->trials);
    if (plan->redraws > 0) {
        (void)fprintf(out, ", and %" PRIu32 " under each of %" PRIu32 " redraws", plan->per_redraw,
                      plan->redraws);
    }
    (void)fputs("\n\n", out);
    iwi_append(text,
               "The time is that of a sample of one change on %s ranks, times what there is to do: a "
               "factor of 2 either way is possible. Fewer --redraws, --trials or sources (--top) take "
               "less.",
               iwi_count_text(plan->sample_ranks, number));
    iwi_write_wrapped(out, text);
    return iwi_check_written(log, out, "the plan");
}

iw_status iw_whatif_plan_write_json(const iw_log *log, const iw_whatif_plan *plan, FILE *out)
{
    json_t *object = json_pack(
        "{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "schema", "idlewave.whatif-plan/1",
        "ranks", iwi_json_count(plan->ranks), "messages", iwi_json_count(plan->messages), "changes",
        iwi_json_count(plan->change_count), "trials", iwi_json_count(plan->trials), "redraws",
        iwi_json_count(plan->redraws), "trials_per_redraw", iwi_json_count(plan->per_redraw), "simulations",
        iwi_json_count(plan->simulations), "seconds", iwi_json_number(plan->seconds), "target_seconds",
        iwi_json_number(plan->target_seconds), "reserve_seconds", iwi_json_number(plan->reserve_seconds),
        "process_bytes", iwi_json_count(plan->bytes));

    return iwi_json_write(log, object, out, "the plan");
}
