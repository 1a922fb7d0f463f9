/* One simulation: how much slower it is than without noise, and where the time goes.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include "core/base/base.h"
#include "features/simulate/reach_report.h"
#include "features/simulate/simulate_report.h"
#include "features/tables.h"
#include "kit/text/words.h"

static const char *ns_words(struct iwi_document *doc, double ns, double largest)
{
    (void)largest;
    return iwi_ns(doc, ns);
}

static void say_times_row(struct iwi_document *doc, const char *name, const iw_summary *s,
                          const char *(*text)(struct iwi_document *, double, double))
{
    iwi_row(doc, name, text(doc, s->mean, s->max), text(doc, s->min, s->max), text(doc, s->q1, s->max),
            text(doc, s->median, s->max), text(doc, s->q3, s->max), text(doc, s->max, s->max));
}

static void say_times(struct iwi_document *doc, const iw_simulation *s)
{
    IWI_TABLE(doc, "", {"", IWI_WORDS}, {"mean", IWI_NUMBER}, {"min", IWI_NUMBER}, {"q1", IWI_NUMBER},
              {"median", IWI_NUMBER}, {"q3", IWI_NUMBER}, {"max", IWI_NUMBER});
    say_times_row(doc, "makespan", &s->makespan_ns, ns_words);
    if (!isnan(s->slowdown.mean)) {
        say_times_row(doc, iwi_slowdown_head(s->slowdown.max), &s->slowdown, iwi_slower_in_column);
    }
}

static void say_noise(struct iwi_document *doc, const iw_simulation *s)
{
    char nodes[IW_NODES_TEXT_SIZE];

    for (size_t i = 0; i < s->noise_count; i++) {
        iwi_row(doc, i == 0 ? "noise" : "",
                iwi_say(doc, "%s (%s)", s->noise[i].spec,
                        isnan(s->noise[i].share) ? "its share depends on the work"
                                                 : iwi_percent(doc, s->noise[i].share)));
    }
    if (s->noise_count > 0 && iw_nodes_text(s->ranks_per_node, s->cores_per_rank, s->recorded_cpus,
                                            s->noise_cpus, nodes)[0] != '\0') {
        iwi_row(doc, "", iwi_say(doc, "%s", nodes));
    }
    if (s->noise_count > 0 && s->sync != IW_SYNC_NONE) {
        iwi_row(doc, "", iwi_say(doc, "synchronised: %s", iwi_sync_name(s->sync)));
    }
    if (s->noise_count > 0 && s->align == IW_ALIGN_WALL) {
        iwi_row(doc, "", "recorded nodes aligned by the wall clock");
    }
    if (s->delays > 0) {
        iwi_row(doc, "delays", iwi_say(doc, "%" PRIu64 " injected", s->delays));
    }
}

/* ", 2 threads", ", 4 processes of 1 thread, each with some of the ranks" */
static const char *split_words(struct iwi_document *doc, const iw_sim_result *run)
{
    const bool are_ranks_split = run->parallel == IW_PARALLEL_RANKS;
    const char *processes =
        run->processes > 1 ? iwi_say(doc, " %" PRIu32 " processes of", run->processes) : "";

    return iwi_say(doc, ",%s %" PRIu32 " thread%s%s", processes, run->threads, iwi_s(run->threads),
                   (uint64_t)run->threads * run->processes <= 1 || (!are_ranks_split && run->processes <= 1)
                       ? ""
                   : are_ranks_split ? ", each with some of the ranks"
                                     : ", each with some of the trials");
}

static void say_engine(struct iwi_document *doc, const iw_sim_result *run)
{
    const double rss_mib = (double)run->peak_rss_bytes / 0x1p20, rate_hz = iwi_messages_per_second(run);

    iwi_row(doc, "messages",
            iwi_say(doc, "%" PRIu64 "%s", run->messages, run->trials > 1 ? " per trial" : ""));
    iwi_row(doc, "engine",
            iwi_say(doc, "%s%s, %" PRIu32 " lane%s%s", iw_engine_name(run->engine),
                    run->rules == IW_RULES_LOGGOPSIM ? " by LogGOPSim's rules" : "", run->lanes,
                    iwi_s(run->lanes), split_words(doc, run)));
    if (run->engine_note[0] != '\0') {
        iwi_row(doc, "", iwi_say(doc, "(%s)", run->engine_note));
    }
    iwi_row(doc, "took",
            iwi_say(doc, "%s%s, %s", iwi_ns(doc, run->engine_seconds * 1e9),
                    rate_hz > 0.0 ? iwi_say(doc, ", %smessages/s", iwi_si(doc, rate_hz)) : "",
                    rss_mib < 1000 ? iwi_say(doc, "%.3g MiB", rss_mib)
                                   : iwi_say(doc, "%.1f GiB", rss_mib / 1024)));
    if (run->is_resumed) {
        iwi_row(doc, "", "(resumed from a restart point: the time is that since then)");
    }
}

/* "; the start adds 0.71 ms" */
static const char *start_words(struct iwi_document *doc, iw_estimate start_ns)
{
    return start_ns.low > 0.0
               ? iwi_say(doc, "; the start adds %s", iwi_ns(doc, start_ns.value))
               : iwi_say(doc, "; the start adds at most %s", iwi_ns(doc, fmax(0.0, start_ns.high)));
}

/* Each repetition once the start is over. Beyond the reach of a recording it is as little known as the run.
 */
static void say_steady(struct iwi_document *doc, const iw_simulation *s)
{
    const iw_steady *steady = s->steady;
    char range[IWI_RANGE_SIZE];

    if (steady != NULL && !isnan(steady->slowdown.value) &&
        (s->recording == NULL || !s->recording->reach.is_bound)) {
        iwi_row(doc, "steady",
                iwi_say(doc, "each repetition: %s (95 %% CI %s)%s", iwi_slower(doc, steady->slowdown.value),
                        iwi_slowdown_range_text(steady->slowdown.low, steady->slowdown.high,
                                                steady->slowdown.value, range),
                        start_words(doc, steady->start_ns)));
    }
}

static void say_facts(struct iwi_document *doc, const iw_simulation *s, bool has_times)
{
    IWI_TABLE(doc, "", {"", IWI_WORDS}, {"", IWI_WORDS});
    iwi_unfold(doc);
    if (!has_times) {
        iwi_row(doc, "makespan", iwi_ns(doc, s->makespan_ns.mean));
    }
    if (iwi_is_disturbed(s)) {
        iwi_row(doc, "noiseless", iwi_ps(doc, s->run.noiseless_ps));
    }
    say_steady(doc, s);
    iwi_say_traced(doc, s->traced);
    say_noise(doc, s);
    iwi_say_machine(doc, s);
    say_engine(doc, &s->run);
}

/* Of a single trial whose end times are known. Of several, the table of times says it. */
static void say_ends(struct iwi_document *doc, const iw_simulation *s)
{
    const double *ns = s->distribution.quantiles_ns, quiet_ns = (double)s->run.noiseless_ps / 1e3;
    const bool has_slowdown = iwi_is_disturbed(s) && quiet_ns > 0.0;
    const size_t last = IW_END_QUANTILES - 1;

    if (!s->distribution.is_of_ranks || s->run.ranks < 2) {
        return;
    }
    if (ns[0] == ns[last]) {
        iwi_paragraph(doc, "All ranks end after %s.", iwi_ns(doc, ns[0]));
        return;
    }
    iwi_only(doc, IWI_IN_TEXT); /* pages have a figure */
    iwi_section(doc, "ends", "When the ranks end");
    IWI_TABLE(doc, "", {"ranks", IWI_NUMBER}, {"by then", IWI_NUMBER},
              {has_slowdown ? iwi_slowdown_head(ns[last] / quiet_ns - 1.0) : "", IWI_NUMBER}, {"", IWI_BAR});
    iwi_unfold(doc);
    for (size_t i = 0; i <= last; i++) {
        iwi_row(doc,
                i == 0      ? "the first"
                : i == last ? "all"
                            : iwi_say(doc, "%g %%", iwi_end_percent(i)),
                iwi_ns(doc, ns[i]),
                has_slowdown ? iwi_slower_in_column(doc, ns[i] / quiet_ns - 1.0, ns[last] / quiet_ns - 1.0)
                             : "");
        iwi_bar(doc, (iw_estimate){ns[i] - ns[0], NAN, NAN});
    }
    iwi_only(doc, IWI_EVERYWHERE);
}

static void say_figures(struct iwi_document *doc, const iw_simulation *s)
{
    struct iwi_figure *figure = NULL;
    iw_status status = iwi_ends_figure(doc->log, s, &figure);

    iwi_only(doc, IWI_ON_PAGES | IWI_IN_PLOTS);
    iwi_show_figure(doc, status, figure);
    if (s->explain != NULL) {
        figure = NULL;
        status = iwi_path_figure(doc, s->explain, &figure);
        iwi_show_figure(doc, status, figure);
    }
    iwi_only(doc, IWI_EVERYWHERE);
}

static void write_doc(struct iwi_document *doc, const void *subject)
{
    const iw_simulation *s = subject;
    const bool has_times = s->makespan_ns.count > 1 && iwi_is_noisy(s);

    iwi_title(doc, "%s, %" PRIu32 " rank%s, %" PRIu64 " trial%s", s->what, s->run.ranks, iwi_s(s->run.ranks),
              s->run.trials, iwi_s(s->run.trials));
    iwi_say_caveats(doc, &s->caveats, NULL);
    iwi_say_simulation_verdict(doc, s);
    if (s->independence != NULL) {
        iwi_say_independence(doc, s->independence);
    }
    if (s->node_wide != NULL) {
        iwi_say_node_wide(doc, *s->node_wide);
    }
    say_figures(doc, s);
    if (has_times) {
        say_times(doc, s);
    }
    say_facts(doc, s, has_times);
    say_ends(doc, s);
    iwi_say_explained(doc, s);
    iwi_say_simulation_certainty(doc, s);
    iwi_only(doc, IWI_ON_PAGES);
    iwi_section(doc, "origin", "How this was made");
    iwi_code(doc, "%s", s->command);
}

const struct iwi_kind iwi_simulate_kind = {
    .name = "simulate",
    .schema_id = "idlewave.simulate/4",
    .about = "A simulation, from `idlewave simulate --format json`. CSV has a line for each trial",
    .older_id = "idlewave.simulate/3",
    .schema = &iwi_simulation_schema,
    .write_doc = write_doc,
    .check = iwi_simulation_check,
};

iw_doc iw_simulation_doc(const iw_simulation *simulation)
{
    return (iw_doc){&iwi_simulate_kind, simulation};
}
