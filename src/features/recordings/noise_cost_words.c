/* What collectives pay for the noise of a recording, in words.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include "core/base/base.h"
#include "core/base/short_number.h"
#include "features/recordings/noise_cost.h"
#include "kit/text/words.h"

/* Below this nobody notices. */
static const double LEAST_SLOWDOWN = 0.0005;

static bool is_least(const iw_noise_cost *cost)
{
    return cost->is_bound || cost->is_rare;
}

/* "1,024" */
static const char *grouped(struct iwi_document *doc, uint64_t number)
{
    return iwi_say(doc, "%s", iwi_ranks_text(number, (char[IWI_NUMBER_SIZE]){0}));
}

/* Two significant digits, for people: "2.4", "480", "12,000", "1.3 million". */
static const char *about(struct iwi_document *doc, double factor)
{
    const double power = pow(10.0, floor(log10(factor)) - 1.0);
    const double rounded = round(factor / power) * power;

    if (rounded >= 1e6) {
        return iwi_say(doc, "%.2g million", rounded / 1e6);
    }
    if (rounded >= 1e4) {
        return grouped(doc, (uint64_t)rounded);
    }
    return iwi_say(doc, rounded < 10.0 ? "%.1f" : "%.0f", rounded);
}

/* " a barrier takes about 2.4 times as long, an allreduce of 8 B 2.6 times"; both in the same unit. */
static void say_slowdowns(struct iwi_document *doc, const iw_noise_cost *cost)
{
    const double barrier = is_least(cost) ? cost->barrier_slowdown.low : cost->barrier_slowdown.value;
    const double allreduce = is_least(cost) ? cost->allreduce_slowdown.low : cost->allreduce_slowdown.value;
    const char *least = is_least(cost) ? "at least " : "",
               *about_or_least = is_least(cost) ? least : "about ";

    if (iwi_is_large_slowdown(fmin(barrier, allreduce))) {
        iwi_more(doc, " a barrier takes %s%s times as long, an allreduce of 8 B %s%s times", about_or_least,
                 about(doc, 1.0 + barrier), least, about(doc, 1.0 + allreduce));
    } else {
        iwi_more(doc, " a barrier takes %s%s %% longer, an allreduce of 8 B %s%s %%", about_or_least,
                 iwi_short_percent(fmax(barrier, 0.0), 2).text, least,
                 iwi_short_percent(fmax(allreduce, 0.0), 2).text);
    }
}

static void say_from(struct iwi_document *doc, const iw_noise_cost *cost)
{
    if (cost->from_ranks > 0) {
        iwi_more(doc, "; barriers slow down by 5 %% from about %s ranks.", grouped(doc, cost->from_ranks));
    } else {
        iwi_more(doc, "; %sbarriers slow down by less than 5 %% on up to %s ranks.",
                 is_least(cost) ? "with what was recorded, " : "", grouped(doc, cost->most_ranks));
    }
}

void iwi_say_noise_cost(struct iwi_document *doc, const iw_noise_report *report)
{
    const iw_noise_cost *cost = &report->cost;
    const double most = is_least(cost) ? fmax(cost->barrier_slowdown.low, cost->allreduce_slowdown.low)
                                       : fmax(cost->barrier_slowdown.value, cost->allreduce_slowdown.value);

    if (cost->network == NULL) {
        if (report->facts.probe == IW_PROBE_FTQ) {
            iwi_more(doc, " FTQ does not show when detours begin, so what a barrier pays is not known.");
        }
        return;
    }
    if (most >= LEAST_SLOWDOWN) {
        iwi_more(doc, " On %s ranks of %s", grouped(doc, cost->ranks), cost->network);
        say_slowdowns(doc, cost);
    } else if (cost->is_rare) {
        iwi_more(
            doc,
            " Its long detours are too rare for a quick simulation of what a barrier on %s ranks of %s pays",
            grouped(doc, cost->ranks), cost->network);
    } else if (cost->is_bound) {
        iwi_more(doc, " The recording is too short to show what a barrier on %s ranks of %s pays",
                 grouped(doc, cost->ranks), cost->network);
    } else {
        iwi_more(doc, " On %s ranks of %s neither a barrier nor an allreduce of 8 B takes noticeably longer",
                 grouped(doc, cost->ranks), cost->network);
    }
    say_from(doc, cost);
}

void iwi_say_noise_cost_origin(struct iwi_document *doc, const iw_noise_report *report)
{
    const iw_noise_cost *cost = &report->cost;
    const iw_noise_facts *facts = &report->facts;
    char range[IWI_RANGE_SIZE];

    if (cost->network == NULL) {
        return;
    }
    iwi_more(doc, " Slowdowns are means of %" PRIu64 " simulations of %" PRIu64 " collectives back to back",
             cost->trials, cost->repeat);
    if (cost->used_ns * (double)facts->cpu_count < 0.99 * facts->watched_ns) {
        iwi_more(doc, " with the first %s", iwi_ns_round(doc, cost->used_ns));
    }
    if (cost->is_rare) {
        iwi_more(doc, ", too few for its rare detours: simulate more.");
    } else if (cost->is_bound) {
        iwi_more(doc, "; a longer recording may show more.");
    } else {
        iwi_more(doc, " (barrier: 95 %% CI %s).",
                 iwi_slowdown_range_text(cost->barrier_slowdown.low, cost->barrier_slowdown.high,
                                         cost->barrier_slowdown.value, range));
    }
}
