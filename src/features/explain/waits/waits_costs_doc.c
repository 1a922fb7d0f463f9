/* What pauses cost, of the waits of a run.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <string.h>

#include "core/base/base.h"
#include "features/explain/waits/waits_report.h"

enum { MOST_COSTS = 24 };

static const struct iwi_field cost_fields[] = {
    IWI_CHARS(iw_waits_cost, cause),
    IWI_CHARS(iw_waits_cost, where, .about = "they are left out: `everywhere`, a rank, a node"),
    IWI_CHARS(iw_waits_cost, culprits, .about = "ranks that cost most of it"),
    IWI_VALUE(iw_waits_cost, ranks),
    IWI_VALUE(iw_waits_cost, pauses),
    IWI_VALUE(iw_waits_cost, paused_ns),
    IWI_ESTIMATE(iw_waits_cost, saved_ns,
                 .about = "by how much a step is shorter; the interval is where the mean of many steps under "
                          "the same conditions would be"),
    IWI_ESTIMATE(iw_waits_cost, share, .about = "of the mean step"),
};
const struct iwi_schema iwi_waits_cost_schema = IWI_SCHEMA(iw_waits_cost, cost_fields);

static bool is_everywhere(const iw_waits_cost *cost)
{
    return strcmp(cost->where, "everywhere") == 0;
}

static const char *interval(struct iwi_document *doc, const iw_estimate *share)
{
    return isnan(share->low) ? "-"
                             : iwi_say(doc, "%s to %s", iwi_percent_short(doc, share->low),
                                       iwi_percent_short(doc, share->high));
}

/* The dearest cause in a sentence. */
static void say_dearest(struct iwi_document *doc, const iw_waits *waits)
{
    for (size_t i = 0; i < waits->cost_count; i++) {
        const iw_waits_cost *cost = &waits->costs[i];

        if (is_everywhere(cost) && strcmp(cost->cause, "all pauses") != 0 && cost->share.value > 0.0) {
            iwi_paragraph(doc, "Without %s%s%s a step would be %s shorter (in other runs: %s).", cost->cause,
                          cost->culprits[0] != '\0' ? " on " : "", cost->culprits,
                          iwi_percent_short(doc, cost->share.value), interval(doc, &cost->share));
            return;
        }
    }
}

void iwi_waits_say_costs(struct iwi_document *doc, const iw_waits *waits)
{
    if (waits->cost_count == 0) {
        return;
    }
    iwi_section(doc, "costs", "What pauses cost");
    say_dearest(doc, waits);
    IWI_TABLE(doc, "", {"without", IWI_WORDS}, {"saved", IWI_NUMBER}, {"of a step", IWI_NUMBER},
              {"in other runs", IWI_NUMBER}, {"pauses", IWI_NUMBER}, {"paused", IWI_NUMBER});
    for (size_t i = 0; i < waits->cost_count && i < MOST_COSTS; i++) {
        const iw_waits_cost *cost = &waits->costs[i];

        iwi_row(doc, is_everywhere(cost) ? cost->cause : iwi_say(doc, "  %s", cost->where),
                iwi_ns_short(doc, cost->saved_ns.value), iwi_percent_short(doc, cost->share.value),
                interval(doc, &cost->share), iwi_count(doc, cost->pauses),
                iwi_ns_short(doc, cost->paused_ns));
    }
    iwi_unfold(doc);
    iwi_paragraph(
        doc,
        "The run is computed again without these pauses. Saved: of the mean of %" PRIu64
        " step%s. In other runs: 95 %% for the mean of many steps like these. Pauses at the same time "
        "hide each other, so savings do not add up; what the queue of a device absorbs costs nothing.",
        waits->steps, iwi_s(waits->steps));
}
