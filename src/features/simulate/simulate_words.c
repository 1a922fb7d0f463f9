/* One simulation in words: the verdict, how sure it is, and where the time goes.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include "core/base/base.h"
#include "features/simulate/reach_report.h"
#include "features/simulate/simulate_report.h"
#include "kit/text/words.h"

/* Half the width of the mean's interval, over the mean, above which more trials are advised. */
static const double WIDE_INTERVAL = 0.05;

/* Of what noise costs on average, the part of one trial above which more trials are advised: half, also where
 * sums are rounded. */
static const double LARGE_PART = 0.499;

/* What would be 0.00 %. */
static const double LEAST_UNSEEN = 5e-5;

/* Of the time between calls: with less CPU time than this, CPU and wall clock are different predictions. */
static const double LEAST_CPU_SHARE = 0.8;

/* Without noise a run does not take longer than it took with noise: beyond this its network is another. */
static const double MOST_OF_TRACED = 1.1;

/* What the noiseless time is without. */
static const char *reference(const iw_simulation *s)
{
    if (s->run.slowest_node > 0.0) {
        return iwi_is_noisy(s) || s->delays > 0 ? "noise, delays and slow nodes" : "slow nodes";
    }
    if (s->delays == 0) {
        return "noise";
    }
    if (iwi_is_noisy(s)) {
        return "noise and delays";
    }
    return s->delays == 1 ? "the delay" : "the delays";
}

static const char *span(struct iwi_document *doc, double low_ns, double high_ns)
{
    return iwi_say(doc, "%s to %s", iwi_ns(doc, low_ns), iwi_ns(doc, high_ns));
}

/* ---- the verdict ---- */

/* With the interval that counts the recording, where there is one. */
static iw_estimate mean_of(const iw_simulation *s)
{
    return s->recording == NULL || isnan(s->recording->slowdown.high)
               ? (iw_estimate){s->slowdown.mean, s->slowdown.mean_low, s->slowdown.mean_high}
               : s->recording->slowdown;
}

/* " takes at least 2.3 times as long as without noise: this recording of 10 s on 2 CPUs cannot show ..." */
static void say_bound(struct iwi_document *doc, const iw_simulation *s)
{
    char text[IWI_PARAGRAPH_SIZE] = "";

    iwi_append_bound(text, (iw_estimate){s->slowdown.mean, s->recording->slowdown.low, NAN}, reference(s));
    iwi_append_reach(text, &s->recording->reach, s->run.ranks,
                     (double)s->run.noiseless_ps / (double)IW_PS_PER_NS);
    iwi_more(doc, "%s", text);
}

/* " (mean of 20 trials; 95 % CI 2.713x to 3.142x; median 2.801x)": which statistic that is, how sure it is,
 * and the other one. Nothing where nothing is random. */
static void say_statistic(struct iwi_document *doc, const iw_simulation *s)
{
    const iw_summary *slowdown = &s->slowdown;
    const iw_estimate mean = mean_of(s);
    const bool has_interval = !isnan(mean.low);
    char range[IWI_RANGE_SIZE], median[IWI_NUMBER_SIZE];

    if (!iwi_is_noisy(s)) {
        return;
    }
    if (slowdown->count < 2) {
        iwi_more(doc, " (one trial)");
    } else if (slowdown->min == slowdown->max) {
        iwi_more(doc, " (all %zu trials alike)", slowdown->count);
    } else {
        iwi_more(doc, " (mean of %zu trials; %s %s; median %s)", slowdown->count,
                 has_interval ? "95 % CI" : "lowest to highest",
                 has_interval ? iwi_slowdown_range_text(mean.low, mean.high, slowdown->mean, range)
                              : iwi_slowdown_range_text(slowdown->min, slowdown->max, slowdown->mean, range),
                 iwi_slowdown_column_text(slowdown->median, slowdown->mean, median));
    }
}

static void say_sensitivity(struct iwi_document *doc, const iw_reach *reach)
{
    char text[IWI_PARAGRAPH_SIZE] = "";

    if (reach != NULL) {
        iwi_append_sensitivity(text, &reach->sensitivity);
    }
    if (text[0] != '\0') {
        iwi_verdict(doc, "%s", text);
    }
}

/* By the mean, which is what many such runs pay. */
void iwi_say_simulation_verdict(struct iwi_document *doc, const iw_simulation *s)
{
    const iw_reach *reach = s->recording != NULL ? &s->recording->reach : NULL;
    const char *time = iwi_ns(doc, s->makespan_ns.mean);
    char text[IWI_PARAGRAPH_SIZE] = "", slower[IWI_PHRASE_SIZE], net[IWI_PHRASE_SIZE];

    iwi_verdict(doc, "%s on %" PRIu32 " rank%s of %s", s->what, s->run.ranks, iwi_s(s->run.ranks),
                iwi_net_words(s->net->name, net));
    if (!iwi_is_disturbed(s)) {
        iwi_more(doc, " takes %s (no noise %s)", time, reach != NULL ? "recorded" : "given");
    } else if (isnan(s->slowdown.mean)) {
        iwi_more(doc, " takes %s on average; without %s it takes no time", time, reference(s));
    } else if (reach != NULL && reach->is_bound) {
        say_bound(doc, s);
    } else {
        iwi_more(doc, " %s without %s", iwi_slower_text(s->slowdown.mean, slower), reference(s));
        say_statistic(doc, s);
    }
    if (reach != NULL && reach->is_extrapolated) {
        iwi_append_laws(text, reach);
        iwi_more(doc, ", %s", text);
    }
    iwi_more(doc, ".");
    if (s->traced != NULL && s->traced->replicas < 2 &&
        (double)s->run.noiseless_ps > MOST_OF_TRACED * (double)s->traced->run_ps) {
        iwi_more(doc, " Traced, with whatever noise there was, it took only %s: %s",
                 iwi_ps(doc, s->traced->run_ps),
                 s->traced->is_training ? "give the network that connects the GPUs."
                                        : "is the network that of the traced run?");
    }
    say_sensitivity(doc, reach);
}

/* ---- how sure that is ---- */

static void say_extremes(struct iwi_document *doc, const iw_summary *makespan)
{
    iwi_more(doc, "; lowest to highest makespan: %s.", span(doc, makespan->min, makespan->max));
    if (makespan->count < IW_LEAST_TRIALS) {
        iwi_item(doc, "Fewer than %d trials have no 95 %% interval: run 100.", (int)IW_LEAST_TRIALS);
    }
}

static void say_intervals(struct iwi_document *doc, const iw_simulation *s)
{
    const iw_summary *makespan = &s->makespan_ns;
    const double noiseless_ns = (double)s->run.noiseless_ps / (double)IW_PS_PER_NS;
    const double half_width = 0.5 * (makespan->mean_high - makespan->mean_low);
    const double cost = makespan->mean - noiseless_ns;
    const double most = (makespan->max - noiseless_ns) / (double)makespan->count;

    iwi_more(doc, "; 95 %% CI of the mean makespan: %s, %s CI of the median: %s.",
             span(doc, makespan->mean_low, makespan->mean_high),
             iwi_percent(doc, iw_median_level(makespan->count)),
             span(doc, makespan->median_low, makespan->median_high));
    if (cost > 0.0 && most > LARGE_PART * cost) {
        iwi_item(doc,
                 "One trial makes up %s of what noise costs on average: the interval may be too short. Run "
                 "more trials.",
                 iwi_percent(doc, most / cost));
    } else if (half_width > WIDE_INTERVAL * makespan->mean) {
        iwi_item(doc, "The mean is known to +-%.0f %%: more trials narrow it.",
                 100.0 * half_width / makespan->mean);
    }
}

/* What the interval of a recording counts; of a bound there is none, and that of the trials would mislead. */
static void say_recorded(struct iwi_document *doc, const iw_simulation *s)
{
    const iw_summary *makespan = &s->makespan_ns;

    if (s->recording->reach.is_bound) {
        iwi_more(doc, ". With what was recorded they take %s on average, lowest to highest %s.",
                 iwi_ns(doc, makespan->mean), span(doc, makespan->min, makespan->max));
    } else if (s->recording->reach.is_extrapolated) {
        iwi_more(doc, ". The interval counts the trials and how the laws of other recordings would differ, "
                      "not that the laws may be wrong.");
    } else {
        iwi_more(doc, ". The interval counts the trials, and how another recording of the same noise would "
                      "differ");
        if (s->recording->reach.unseen >= LEAST_UNSEEN) {
            iwi_more(doc, ", with up to %s for longer detours of the kinds that were recorded",
                     iwi_percent(doc, s->recording->reach.unseen));
        }
        iwi_more(doc, ". Noise that was not recorded is not in it.");
    }
}

void iwi_say_simulation_certainty(struct iwi_document *doc, const iw_simulation *s)
{
    const iw_summary *makespan = &s->makespan_ns;

    iwi_section(doc, "certainty", "How sure");
    if (!iwi_is_noisy(s)) {
        if (makespan->count > 1 && s->recording == NULL) {
            iwi_item(doc, "Without noise all trials are alike: one is enough.");
        }
        return;
    }
    iwi_item(doc, "%zu trial%s, seed %" PRIu64, makespan->count, iwi_s(makespan->count), s->run.seed);
    if (makespan->count < 2) {
        iwi_more(doc, ". One trial says little: run 100.");
    } else if (makespan->min == makespan->max) {
        /* what comes in a smaller share is met by none of n trials in over 5 % of cases: (1 - p)^n = 0.05 */
        iwi_more(
            doc,
            ", all alike. What hits fewer than %s of runs may have hit none of them (95 %%): more trials "
            "would show it.",
            iwi_percent(doc, 1.0 - pow(0.05, 1.0 / (double)makespan->count)));
        if (iwi_is_moved_by_device(s->net)) {
            iwi_item(doc, "A device moves the messages: noise hits only what takes CPU time.");
        }
    } else if (isnan(makespan->mean_low) || isnan(makespan->median_low)) {
        say_extremes(doc, makespan);
    } else if (s->recording != NULL && !isnan(s->recording->slowdown.low)) {
        say_recorded(doc, s);
    } else {
        say_intervals(doc, s);
    }
    if (s->independence != NULL) {
        iwi_say_alignment(doc, s->independence);
    }
}

/* ---- the traced run ---- */

void iwi_say_traced(struct iwi_document *doc, const iw_traced *traced)
{
    if (traced == NULL) {
        return;
    }
    iwi_row(doc, "traced",
            iwi_say(doc, "%s on %" PRIu32 " rank%s: %s in %s, %s between %s%s", iwi_ps(doc, traced->run_ps),
                    traced->ranks, iwi_s(traced->ranks), iwi_percent(doc, traced->mpi_share),
                    traced->is_training ? "collectives" : "MPI", iwi_percent(doc, 1.0 - traced->mpi_share),
                    traced->is_training ? "them" : "calls",
                    isnan(traced->cpu_share)
                        ? ""
                        : iwi_say(doc, ", of which %s CPU time", iwi_percent(doc, traced->cpu_share))));
    if (traced->cpu_share < LEAST_CPU_SHARE) {
        iwi_row(doc, "warning",
                iwi_say(doc,
                        "only %s of the time between calls was CPU time: the ranks slept, or others had "
                        "their CPUs. %s",
                        iwi_percent(doc, traced->cpu_share),
                        traced->is_by_cpu
                            ? "The rest is not in the prediction; with the wall clock it would be"
                            : "All of it is predicted as computation; with CPU time the rest would not be"));
    }
    if (traced->replicas < 2) {
        return;
    }
    iwi_row(doc, "replicas",
            iwi_say(doc, "%" PRIu32 " of %" PRIu32 " ranks; %s", traced->replicas, traced->ranks,
                    traced->replica_compute == IW_REPLICA_RESAMPLE
                        ? "each draws its computation from what was traced"
                        : "each computes as traced, so imbalance does not grow with ranks"));
    if (traced->has_p2p) {
        iwi_row(doc, "note",
                iwi_say(doc,
                        "point-to-point messages stay inside a replica: a delay that they carry reaches "
                        "%" PRIu32 " ranks at most, so real programs of this size may lose more",
                        traced->ranks));
    }
}
