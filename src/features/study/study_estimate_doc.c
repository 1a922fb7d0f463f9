/* What a run of a study will take.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/study.h>

#include "core/base/base.h"
#include "features/tables.h"

static const struct iwi_field row_fields[] = {
    IWI_VALUE(iw_study_estimate_row, system),
    IWI_VALUE(iw_study_estimate_row, work),
    IWI_VALUE(iw_study_estimate_row, least_ranks),
    IWI_VALUE(iw_study_estimate_row, most_ranks),
    IWI_VALUE(iw_study_estimate_row, cells, .about = "to run"),
    IWI_VALUE(iw_study_estimate_row, core_seconds),
    IWI_VALUE(iw_study_estimate_row, largest_bytes, .about = "memory of its largest cell"),
};
static const struct iwi_schema row_schema = IWI_SCHEMA(iw_study_estimate_row, row_fields);

static const struct iwi_field estimate_fields[] = {
    IWI_VALUE(iw_study_estimate, shard, .about = "number of this shard, from 1"),
    IWI_VALUE(iw_study_estimate, shards),
    IWI_VALUE(iw_study_estimate, cells, .about = "of this shard"),
    IWI_VALUE(iw_study_estimate, found, .about = "that are finished"),
    IWI_VALUE(iw_study_estimate, processes),
    IWI_VALUE(iw_study_estimate, threads, .about = "of each process"),
    IWI_VALUE(iw_study_estimate, core_seconds,
              .about = "for all cells that are not finished, by a short calibration on this machine"),
    IWI_VALUE(iw_study_estimate, wall_seconds, .about = "with all threads of all processes busy"),
    IWI_VALUE(iw_study_estimate, memory_bytes,
              .about = "of one process, with its largest cells side by side"),
    IWI_OBJECTS(iw_study_estimate, rows, row_count, row_schema, .is_row = true,
                .about = "one for each system and work with cells to run"),
};
static const struct iwi_schema estimate_schema = IWI_SCHEMA(iw_study_estimate, estimate_fields);

static iw_status check(const iw_log *log, const char *name, const void *subject)
{
    const iw_study_estimate *estimate = subject;

    if (estimate->found > estimate->cells) {
        return iwi_fail(log, IW_ERR_FORMAT, "'%s': found: there are more than cells", name);
    }
    return IW_OK;
}

static void say_verdict(struct iwi_document *doc, const iw_study_estimate *estimate)
{
    const size_t left = estimate->cells - estimate->found;

    iwi_verdict(doc, "%s", "");
    if (estimate->shards > 1) {
        iwi_more(doc, "Shard %" PRIu32 " of %" PRIu32 ". ", estimate->shard, estimate->shards);
    }
    if (left == 0) {
        iwi_more(doc, "Nothing is left to do: all cells (%zu) are there.", estimate->cells);
        return;
    }
    iwi_more(doc, "%zu cell%s about %s on ", left, left == 1 ? " takes" : "s take",
             iwi_seconds(doc, estimate->wall_seconds));
    if (estimate->processes > 1) {
        iwi_more(doc, "%" PRIu32 " processes with ", estimate->processes);
    }
    iwi_more(doc, "%" PRIu32 " thread%s and %s of memory%s.", estimate->threads, iwi_s(estimate->threads),
             iwi_memory_size(doc, (double)estimate->memory_bytes), estimate->processes > 1 ? " each" : "");
    if (estimate->found > 0) {
        iwi_verdict(doc, "%zu more %s there already.", estimate->found, estimate->found == 1 ? "is" : "are");
    }
}

static void write_doc(struct iwi_document *doc, const void *subject)
{
    const iw_study_estimate *estimate = subject;

    iwi_title(doc, "What the study will take");
    say_verdict(doc, estimate);
    if (estimate->row_count == 0) {
        return;
    }
    IWI_TABLE(doc, "", {"system", IWI_WORDS}, {"work", IWI_WORDS}, {"ranks", IWI_NUMBER},
              {"cells", IWI_NUMBER}, {"1 core", IWI_NUMBER}, {"memory", IWI_NUMBER});
    for (size_t i = 0; i < estimate->row_count; i++) {
        const iw_study_estimate_row *row = &estimate->rows[i];

        iwi_row(doc, row->system, row->work,
                row->least_ranks == row->most_ranks
                    ? iwi_say(doc, "%" PRIu32, row->most_ranks)
                    : iwi_say(doc, "%" PRIu32 " to %" PRIu32, row->least_ranks, row->most_ranks),
                iwi_say(doc, "%zu", row->cells), iwi_seconds(doc, row->core_seconds),
                iwi_memory_size(doc, (double)row->largest_bytes));
    }
    iwi_unfold(doc);
    iwi_section(doc, "certainty", "How sure");
    iwi_item(doc,
             "In all %s of one core: measured just now with a small part of each kind of cell, so expect it "
             "within a factor of 3. Memory is that of the largest cell.",
             iwi_seconds(doc, estimate->core_seconds));
}

const struct iwi_kind iwi_study_estimate_kind = {
    .name = "study-estimate",
    .schema_id = "idlewave.study-estimate/2",
    .about = "What a study would take, from `idlewave study --dry-run --format json`",
    .schema = &estimate_schema,
    .write_doc = write_doc,
    .check = check,
};

iw_doc iw_study_estimate_doc(const iw_study_estimate *estimate)
{
    return (iw_doc){&iwi_study_estimate_kind, estimate};
}
