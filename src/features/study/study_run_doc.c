/* What a run of a study did.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/study.h>

#include "core/base/base.h"
#include "features/tables.h"

static const struct iwi_field run_fields[] = {
    IWI_VALUE(iw_study_outcome, folder, .about = "where the results are"),
    IWI_VALUE(iw_study_outcome, shard, .about = "number of this shard, from 1"),
    IWI_VALUE(iw_study_outcome, shards),
    IWI_VALUE(iw_study_outcome, cells, .about = "of this shard"),
    IWI_VALUE(iw_study_outcome, found, .about = "that had finished before"),
    IWI_VALUE(iw_study_outcome, run, .about = "by this process"),
    IWI_VALUE(iw_study_outcome, others, .about = "cells that other processes finished meanwhile"),
    IWI_VALUE(iw_study_outcome, elsewhere, .about = "cells that other processes still run"),
    IWI_VALUE(iw_study_outcome, is_stopped, .about = "it was interrupted; the same command resumes it"),
    IWI_VALUE(iw_study_outcome, seconds, .about = "that it took"),
};
static const struct iwi_schema run_schema = IWI_SCHEMA(iw_study_outcome, run_fields);

static iw_status check(const iw_log *log, const char *name, const void *subject)
{
    const iw_study_outcome *outcome = subject;

    if (outcome->elsewhere > outcome->cells) {
        return iwi_fail(log, IW_ERR_FORMAT, "'%s': elsewhere: there are more than cells", name);
    }
    return IW_OK;
}

/* Of one of several shards. */
static const char *of_shard(struct iwi_document *doc, const iw_study_outcome *outcome)
{
    return outcome->shards > 1
               ? iwi_say(doc, " of shard %" PRIu32 " of %" PRIu32, outcome->shard, outcome->shards)
               : "";
}

static void say_done(struct iwi_document *doc, const iw_study_outcome *outcome)
{
    iwi_verdict(doc, "Done: %zu cell%s%s in %s", outcome->cells, iwi_s(outcome->cells),
                of_shard(doc, outcome), iwi_seconds(doc, outcome->seconds));
    if (outcome->others > 0) {
        iwi_more(doc, ", %zu of them by other processes", outcome->others);
    }
    if (outcome->found > 0) {
        iwi_more(doc, " (%zu %s there already)", outcome->found, outcome->found == 1 ? "was" : "were");
    }
    iwi_more(doc, ".");
}

static void write_doc(struct iwi_document *doc, const void *subject)
{
    const iw_study_outcome *outcome = subject;

    iwi_title(doc, "A run of a study in '%s'", outcome->folder);
    if (outcome->is_stopped) {
        iwi_verdict(doc, "Interrupted: %zu of %zu cells%s are done.",
                    outcome->found + outcome->run + outcome->others, outcome->cells, of_shard(doc, outcome));
    } else if (outcome->elsewhere > 0) {
        iwi_verdict(doc, "Done here: %zu of %zu cells%s are there, and other processes run the rest (%zu).",
                    outcome->cells - outcome->elsewhere, outcome->cells, of_shard(doc, outcome),
                    outcome->elsewhere);
    } else {
        say_done(doc, outcome);
    }
}

const struct iwi_kind iwi_study_run_kind = {
    .name = "study-run",
    .schema_id = "idlewave.study-run/1",
    .about = "What a run of a study did, from `idlewave study --format json`; its results are in its folder",
    .schema = &run_schema,
    .write_doc = write_doc,
    .check = check,
};

iw_doc iw_study_run_doc(const iw_study_outcome *outcome)
{
    return (iw_doc){&iwi_study_run_kind, outcome};
}
