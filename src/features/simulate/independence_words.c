/* What it would cost to take nodes for independent, in words.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include "core/base/base.h"
#include "features/simulate/simulate_report.h"
#include "kit/text/words.h"

static bool may_be_chance(iw_estimate e)
{
    return !(e.low > 0.0) && !(e.high < 0.0);
}

static void say_overstated(struct iwi_document *doc, iw_estimate by)
{
    const iw_estimate less = {-by.value, -by.high, -by.low};

    if (may_be_chance(by)) {
        iwi_more(doc, " The difference, %s points, may be chance.", iwi_points_words(doc, by, ""));
    } else {
        iwi_more(doc, " To assume that would %s the slowdown by %s points.",
                 by.value < 0.0 ? "understate" : "overstate",
                 iwi_points_words(doc, by.value < 0.0 ? less : by, ""));
    }
}

void iwi_say_independence(struct iwi_document *doc, const iw_independence *independence)
{
    char slower[IWI_PHRASE_SIZE];

    if (isnan(independence->independent.value)) {
        return;
    }
    iwi_verdict(doc, "With nodes that are hit independently of each other it %s without noise.",
                iwi_slower_text(independence->independent.value, slower));
    say_overstated(doc, independence->overstated);
}

void iwi_say_node_wide(struct iwi_document *doc, iw_estimate node_wide)
{
    char slower[IWI_PHRASE_SIZE], range[IWI_RANGE_SIZE], bound[IWI_PARAGRAPH_SIZE] = "";

    if (isnan(node_wide.value)) {
        return;
    }
    iwi_verdict(doc, "If all noise hits the ranks of a node together, it");
    if (isinf(node_wide.high)) {
        iwi_append_bound(bound, node_wide, "noise");
        iwi_more(doc, "%s", bound);
    } else {
        iwi_more(doc, " %s without noise%s: ", iwi_slower_text(node_wide.value, slower),
                 isnan(node_wide.low) ? ""
                                      : iwi_say(doc, " (95 %% CI %s)",
                                                iwi_slowdown_range_text(node_wide.low, node_wide.high,
                                                                        node_wide.value, range)));
    }
    iwi_more(doc, "a recording of one CPU cannot tell, so record at least two.");
}

void iwi_say_alignment(struct iwi_document *doc, const iw_independence *independence)
{
    const iw_wall_window *window = &independence->window;

    if (window->unsynchronised > 0) {
        iwi_item(doc,
                 "The clocks of %zu node%s were not synchronised, so what coincided is not known: start "
                 "chronyd or ntpd there and record again.",
                 window->unsynchronised, iwi_s(window->unsynchronised));
    }
    iwi_item(doc,
             "Nodes are aligned by their wall clocks, wrong by up to %s by their own estimates, in the "
             "%s that all of them watched.",
             iwi_ns_round(doc, window->error_ns), iwi_ns_round(doc, (double)window->length_ns));
    if (independence->nodes > independence->recorded_nodes) {
        iwi_item(
            doc,
            "The job has %" PRIu32 " nodes, and %" PRIu32 " were recorded: what coincides does so within "
            "each %" PRIu32 " of them. Synchronised from the start it does on all; the truth is between.",
            independence->nodes, independence->recorded_nodes, independence->recorded_nodes);
    }
}
