/* What a recording can show of a job: its table, and words about it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/simulate/reach_report.h"

#include <math.h>
#include <string.h>

#include "core/base/base.h"

enum { LISTED_LAWS = 3 };

/* ---- the table ---- */

IWI_OF(bool, is_bound, iw_reach, it->is_bound)
IWI_OF(bool, has_sensitivity, iw_reach, it->sensitivity.length_ns > 0)

static const struct iwi_field reach_fields[] = {
    IWI_VALUE_AS(iw_reach, recorded_s, "seconds", .about = "length of the recording with the least CPU time"),
    IWI_VALUE(iw_reach, cpus, .about = "that ranks use, of all nodes of a folder"),
    IWI_VALUE_AS(iw_reach, watched_s, "watched_seconds"),
    IWI_VALUE(iw_reach, longest_ns, .about = "its longest detour"),
    IWI_VALUE(
        iw_reach, unseen,
        .about =
            "what detours longer than the longest, of the recorded kinds, may add to the slowdown (95 %)"),
    IWI_VALUE(iw_reach, is_bound,
              .about = "that is too much for an estimate, so the slowdown is a lower bound"),
    IWI_VALUE_AS(iw_reach, record_s, "record_seconds", .is_there = is_bound,
                 .about = "of a bound, about how long to record for an estimate"),
    IWI_VALUE(iw_reach, is_extrapolated, .about = "with `--extrapolate`"),
    IWI_VALUES(iw_reach, laws, law_count, .about = "that stand in for the recording"),
    IWI_OBJECT(iw_reach, sensitivity, iwi_sensitivity_schema, .is_there = has_sensitivity,
               .is_optional = true,
               .about = "where all ranks use more than a third of `watched_seconds` (with 20 trials or more "
                        "a tenth): the slowdown if an interruption that was never recorded came"),
};
const struct iwi_schema iwi_reach_schema = IWI_SCHEMA(iw_reach, reach_fields);

/* ---- words ---- */

double iwi_round_up(double seconds)
{
    const double unit = pow(10.0, floor(log10(fmax(seconds, 1.0))) - 1.0);

    return ceil(seconds / unit) * unit;
}

void iwi_append_reach(char paragraph[IWI_PARAGRAPH_SIZE], const iw_reach *reach, uint64_t ranks,
                      double time_ns)
{
    char length[IWI_NUMBER_SIZE], watched[IWI_NUMBER_SIZE], job[IWI_NUMBER_SIZE], time[IWI_NUMBER_SIZE];

    iwi_append(paragraph, "this recording of %s on %s CPU%s cannot show what %s %s in %s",
               iwi_length_text(reach->recorded_s, length), iwi_ranks_text(reach->cpus, watched),
               reach->cpus == 1 ? "" : "s", iwi_ranks_text(ranks, job),
               ranks == 1 ? "rank meets" : "ranks meet", iwi_ns_round_text(time_ns, time));
    if (reach->record_s <= IWI_LONGEST_ADVICE_S) {
        iwi_append(paragraph, "; record %s for an estimate",
                   iwi_length_text(iwi_round_up(reach->record_s), length));
    } else {
        iwi_append(paragraph, "; no recording of two weeks could, but laws fitted to it can be extrapolated");
    }
}

void iwi_append_laws(char paragraph[IWI_PARAGRAPH_SIZE], const iw_reach *reach)
{
    char name[IWI_NAME_SIZE];

    iwi_append(paragraph, "from laws fitted to the recording (");
    for (size_t i = 0; i < reach->law_count && i < LISTED_LAWS; i++) {
        iwi_append(paragraph, "%s%s", i > 0 ? " + " : "",
                   iwi_plain_name(reach->laws[i] != NULL ? reach->laws[i] : "-", IWI_NAME_SIZE - 1, name));
    }
    if (reach->law_count > LISTED_LAWS) {
        iwi_append(paragraph, " and %zu other%s", reach->law_count - LISTED_LAWS,
                   reach->law_count == LISTED_LAWS + 1 ? "" : "s");
    }
    iwi_append(paragraph, "), not from it");
}
