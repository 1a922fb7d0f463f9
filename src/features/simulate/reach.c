/* What a recording can show of a job: the detours that it meets, how other recordings would differ, what may
 * be unseen.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>

#include <idlewave/noise_set.h>

#include "core/base/base.h"
#include "core/base/rng.h"
#include "core/noise/recording_pieces.h"
#include "core/numeric/numeric.h"
#include "core/stats/block_bootstrap.h"
#include "features/simulate/simulate.h"

/* ======== detours that a job can meet ======== */

struct joiner {
    const iw_noise_set *set;
    const struct iwi_removed_filter *filter;
    const size_t *entry; /* by source of the recording under way */
    size_t node;
    iwi_met_fn take;
    void *arg;
    int64_t start_ns, end_ns; /* of the detour under way; the same: there is none */
};

static void end_detour(struct joiner *joiner)
{
    if (joiner->end_ns > joiner->start_ns) {
        joiner->take(joiner->arg, joiner->node, joiner->start_ns, joiner->end_ns - joiner->start_ns);
    }
    joiner->start_ns = joiner->end_ns = 0;
}

static bool is_counted(const struct joiner *joiner, uint32_t source)
{
    const bool *is_removed = joiner->filter->is_removed;
    const size_t part = joiner->set->entries[joiner->entry[source]].part;

    return is_removed == NULL || (part != IWI_NO_PART && is_removed[part]) == joiner->filter->value;
}

static void take_piece(void *arg, int64_t start_ns, int64_t end_ns, uint32_t source)
{
    struct joiner *joiner = arg;

    if (!is_counted(joiner, source)) {
        end_detour(joiner);
        return;
    }
    if (joiner->end_ns != start_ns || joiner->end_ns == joiner->start_ns) {
        end_detour(joiner);
        joiner->start_ns = start_ns;
    }
    joiner->end_ns = end_ns;
}

/* What the filter lets pass on CPUs that ranks meet, node by node and CPU by CPU. */
static void met_detours(const iw_noise_set *set, const struct iwi_set_input *input,
                        const struct iwi_removed_filter *filter, iwi_met_fn take, void *arg)
{
    for (size_t node = 0; node < input->node_count; node++) {
        const iw_recording *recording = input->recordings[node];
        struct joiner joiner = {set, filter, input->entries[node], node, take, arg, 0, 0};

        for (size_t cpu = 0; cpu < recording->cpu_count && cpu < set->cores_per_node; cpu++) {
            iwi_cut_detours(&recording->cpus[cpu],
                            &(struct iwi_piece_sink){take_piece, &joiner, input->length_ns, NULL});
            end_detour(&joiner);
        }
    }
}

/* CPUs of all nodes that ranks meet. */
static uint64_t met_cpus(const iw_noise_set *set, const struct iwi_set_input *input)
{
    uint64_t cpus = 0;

    for (size_t node = 0; node < input->node_count; node++) {
        const size_t count = input->recordings[node]->cpu_count;

        cpus += count < set->cores_per_node ? count : set->cores_per_node;
    }
    return cpus;
}

/* What one detour of a CPU is of an event: events that hit all CPUs of a node are recorded on each. */
static double met_events(const iw_noise_set *set, const struct iwi_set_input *input)
{
    return input->is_node_wide ? (double)input->node_count / (double)met_cpus(set, input) : 1.0;
}

/* Nodes of a folder are alike here: they have as many CPUs as the average. */
double iwi_met_rate_hz(const iw_noise_set *set, const struct iwi_set_input *input,
                       const struct iwi_exposure *exposure)
{
    const double cores = (double)exposure->ranks * (double)set->cores_per_rank;
    const double per_node = (double)set->cores_per_node;
    const bool is_together = exposure->is_together || set->sync != IW_SYNC_NONE;
    const double nodes = is_together ? 1.0 : ceil(cores / per_node);
    const double cpus = (double)met_cpus(set, input);
    const double watched_s = (double)input->length_ns * 1e-9 * cpus;
    const double recorded = fmin(cores, nodes * cpus / (double)input->node_count);
    const bool has_copies = !is_together && !exposure->is_joined && !input->is_node_wide;

    return watched_s > 0.0 ? (has_copies ? cores : recorded) / watched_s : 0.0;
}

/* ======== other recordings ======== */

/* The recording is drawn anew in stretches, as iw_recording_resample() does, and the model of length_bins.h
 * says what each redraw would cost a job with as many phases. What counts is the ratio to the recording as it
 * is: the model's own error cancels.
 *
 * Stretches that are shorter than a burst of noise share it out as if its pieces came by themselves, and
 * their spread is too small. So runs of neighbours are drawn too, and the larger variance counts. */

enum { REPLICATES = 200, RUN_OF_STRETCHES = 5 };

/* What came so seldom may not be there at all, for a lower bound: the longest few detours; more of them where
 * what is left without so few varies by more than that, since it has rare ones too. */
static const double RARE_EVENTS = 6.0, STEADY_VARIANCE = 0.04;
enum { RARER_STEPS = 5 }; /* twice as many each */

/* The stretches of one input: its own bins for each. */
struct stretches {
    struct iwi_blocks blocks;
    bool is_by_nodes;
    double rate_hz, events; /* of a detour */
    double places;          /* CPUs that meet it */
    struct iwi_length_bins *bins;
};

static void take_into_stretch(void *arg, size_t node, int64_t start_ns, int64_t length_ns)
{
    struct stretches *stretches = arg;
    const size_t block = stretches->is_by_nodes ? node : iwi_block_of(&stretches->blocks, start_ns);

    iwi_bins_add(&stretches->bins[block], length_ns, stretches->rate_hz, stretches->events);
}

static iw_status cut_input(const iw_log *log, const iw_noise_set *set, const struct iwi_set_input *input,
                           const struct iwi_exposure *exposure, struct stretches *stretches)
{
    stretches->is_by_nodes = iwi_is_drawn_by_nodes(input);
    stretches->blocks = stretches->is_by_nodes ? (struct iwi_blocks){0, input->node_count}
                                               : iwi_choose_blocks(input->length_ns);
    stretches->rate_hz = iwi_met_rate_hz(set, input, exposure);
    stretches->events = met_events(set, input);
    stretches->places = stretches->rate_hz * (double)input->length_ns * 1e-9 * (double)met_cpus(set, input);
    stretches->bins = iwi_new_array(log, stretches->blocks.count, sizeof *stretches->bins);
    if (stretches->bins == NULL) {
        return IW_ERR_NOMEM;
    }
    met_detours(set, input, &exposure->filter, take_into_stretch, stretches);
    return IW_OK;
}

/* Stretches that are drawn at once. Nodes have no neighbours. */
static size_t run_of(const struct stretches *stretches, size_t run)
{
    return stretches->is_by_nodes ? 1 : run;
}

/* Each stretch once, or as many drawn with replacement: runs of them that begin anywhere, the first following
 * on the last. */
static void add_drawn(const struct stretches *stretches, size_t run, struct iwi_draw_id id, bool is_anew,
                      struct iwi_length_bins *bins)
{
    const size_t count = stretches->blocks.count;

    for (size_t i = 0; i < count; i++) {
        const size_t place = is_anew ? (iwi_draw_below(id, i / run, count) + i % run) % count : i;

        iwi_bins_add_all(bins, &stretches->bins[place], 1.0);
    }
}

static struct iwi_length_bins bins_of(const struct stretches *stretches, size_t count, size_t run,
                                      uint64_t seed, uint64_t replicate)
{
    struct iwi_length_bins bins = {0};

    for (size_t i = 0; i < count; i++) {
        const struct iwi_draw_id id = {
            .seed = seed, .trial = replicate, .purpose = IWI_DRAW_BOOTSTRAP, .rank = (uint32_t)i};

        add_drawn(&stretches[i], run_of(&stretches[i], run), id, replicate > 0, &bins);
    }
    return bins;
}

/* A job by the model, under the recording as it is, without what is in bins from `limit` on. */
struct modelled_job {
    double quiet_s, phases, slowdown;
    size_t limit;
};

/* Of the slowdowns of redraws, as shares of the slowdown. */
static double variance_by_runs(const struct stretches *stretches, size_t count, size_t run,
                               const struct modelled_job *job, uint64_t seed)
{
    double sum = 0.0, squares = 0.0, fewest = INFINITY;

    for (uint64_t r = 1; r <= REPLICATES; r++) {
        struct iwi_length_bins bins = bins_of(stretches, count, run, seed, r);
        double ratio;

        iwi_bins_thin(&bins, job->limit, 0.0);
        ratio = iwi_bins_slowdown(&bins, job->quiet_s, job->phases) / job->slowdown;
        sum += ratio;
        squares += ratio * ratio;
    }
    for (size_t i = 0; i < count; i++) {
        fewest = fmin(fewest, (double)stretches[i].blocks.count / (double)run_of(&stretches[i], run));
    }
    /* a bootstrap of B blocks varies less than recordings do, by (B-1)/B */
    return fewest > 1.0
               ? fmax(0.0, squares - sum * sum / REPLICATES) / (REPLICATES - 1.0) * fewest / (fewest - 1.0)
               : 0.0;
}

static double variance_of(const struct stretches *stretches, size_t count, const struct modelled_job *job,
                          uint64_t seed)
{
    return fmax(variance_by_runs(stretches, count, 1, job, seed),
                variance_by_runs(stretches, count, RUN_OF_STRETCHES, job, seed));
}

static struct modelled_job without_rare(const struct iwi_length_bins *bins, const struct modelled_job *job,
                                        double events)
{
    struct modelled_job often = *job;
    struct iwi_length_bins rest = *bins;

    often.limit = iwi_bins_rare_from(bins, events);
    iwi_bins_thin(&rest, often.limit, 0.0);
    often.slowdown = iwi_bins_slowdown(&rest, job->quiet_s, job->phases);
    return often;
}

/* Of the time of a CPU, what detours below the bin take. */
static double share_below(const struct stretches *stretches, size_t count, size_t limit)
{
    double share = 0.0;

    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < stretches[i].blocks.count && stretches[i].places > 0.0; k++) {
            for (size_t bin = 0; bin < limit; bin++) {
                share += stretches[i].bins[k].lost[bin] / stretches[i].places;
            }
        }
    }
    return share;
}

/* A recording that is drawn as a whole does not vary, and what it would be otherwise is not known. */
static bool can_vary(const struct stretches *stretches, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (stretches[i].blocks.count < 2) {
            return false;
        }
    }
    return true;
}

/* Without the fewest long detours that leave something steady; else without the fewest of all. */
static void find_often(const struct stretches *stretches, size_t count, const struct iwi_length_bins *bins,
                       const struct modelled_job *job, uint64_t seed, struct iwi_file_spread *spread)
{
    for (int step = 0; step < RARER_STEPS; step++) {
        const struct modelled_job often = without_rare(bins, job, ldexp(RARE_EVENTS, step));
        const double variance = often.slowdown > 0.0 ? variance_of(stretches, count, &often, seed) : 0.0;

        if (step == 0 || (often.slowdown > 0.0 && variance < STEADY_VARIANCE)) {
            spread->often_part = often.slowdown / job->slowdown;
            spread->often_share = share_below(stretches, count, often.limit);
            spread->often_variance = variance;
        }
        if (spread->often_variance < STEADY_VARIANCE || !(often.slowdown > 0.0)) {
            return;
        }
    }
}

static struct iwi_file_spread spread_of(const struct stretches *stretches, size_t count, double quiet_s,
                                        double slowdown, uint64_t seed)
{
    const struct iwi_length_bins bins = bins_of(stretches, count, 1, seed, 0);
    const double phases = iwi_bins_phases(&bins, quiet_s, slowdown);
    const struct modelled_job job = {quiet_s, phases, iwi_bins_slowdown(&bins, quiet_s, phases),
                                     IWI_LENGTH_BINS};
    struct iwi_file_spread spread = {.least_part = 1.0};

    if (job.slowdown > 0.0) {
        spread.variance = variance_of(stretches, count, &job, seed);
        spread.least_part = iwi_bins_least_part(&bins, quiet_s, phases);
        if (can_vary(stretches, count)) {
            find_often(stretches, count, &bins, &job, seed, &spread);
        }
    }
    return spread;
}

iw_status iwi_recording_spread(const iw_log *log, const iw_noise_set *set,
                               const struct iwi_exposure *exposure, double slowdown, uint64_t seed,
                               struct iwi_file_spread *spread_p)
{
    struct stretches *stretches = iwi_new_array(log, set->input_count, sizeof *stretches);
    iw_status status = stretches != NULL ? IW_OK : IW_ERR_NOMEM;
    size_t count = 0;

    for (size_t i = 0; i < set->input_count && status == IW_OK; i++) {
        if (set->inputs[i].node_count > 0 && set->inputs[i].length_ns > 0) {
            status = cut_input(log, set, &set->inputs[i], exposure, &stretches[count++]);
        }
    }
    if (status == IW_OK) {
        *spread_p = count > 0 ? spread_of(stretches, count, exposure->quiet_s, slowdown, seed)
                              : (struct iwi_file_spread){.least_part = 1.0};
    }
    for (size_t i = 0; i < count; i++) {
        free(stretches[i].bins);
    }
    free(stretches);
    return status;
}

/* ======== what a recording may lack ======== */

/* The shortest that is supposed; what a cron job or a firmware takes. */
static const int64_t LEAST_NS = 10000000;

/* Mean gaps of a spec are below ten days. */
static const double MOST_EVERY_S = 800000.0;

/* Of the time, on average. A recording so short that more would fit into its gaps supports no number at all.
 */
static const double MOST_SHARE = 0.5;

/* What to suppose; length_ns 0: there is no recording. */
static iw_sensitivity sensitivity_of(const iw_reach *reach)
{
    const iw_sensitivity supposed = {.length_ns = iwi_max(LEAST_NS, reach->longest_ns),
                                     .every_s = fmin(reach->watched_s / 3.0, MOST_EVERY_S),
                                     .slowdown = NAN};

    return 1e-9 * (double)supposed.length_ns < MOST_SHARE * supposed.every_s
               ? supposed
               : (iw_sensitivity){.slowdown = NAN};
}

/* ======== reach ======== */

/* In W' the longest detour grows as (W'/W)^xi, so that an estimate takes W' = W (m/allowed)^(1/(1 - xi)),
 * with m = 3 E D / W, which unseen comes to as W' grows. Advice aims at half of what is allowed: short
 * recordings show too little of their tail. */

/* Advice is given for tails up to this index: beyond it lengths would be those of months. */
static const double MOST_ADVISED_INDEX = 0.5;

/* ---- a job ---- */

/* One recorded input as a job meets it. */
struct view {
    double rate_hz, events; /* of a detour */
    int64_t room[IWI_LONGEST_ROOM];
    struct iwi_longest longest;
    struct iwi_length_bins *bins; /* of all inputs */
};

static void take_detour(void *arg, size_t node, int64_t start_ns, int64_t length_ns)
{
    struct view *view = arg;

    (void)node;
    (void)start_ns;
    iwi_longest_add(&view->longest, length_ns);
    iwi_bins_add(view->bins, length_ns, view->rate_hz, view->events);
}

/* Lengths of the input that was watched least. */
static void tell_watched(const iw_noise_set *set, const struct iwi_set_input *input, iw_reach *reach)
{
    const uint64_t cpus = met_cpus(set, input);
    const double length_s = (double)input->length_ns * 1e-9, watched_s = length_s * (double)cpus;

    if (watched_s > 0.0 && (reach->watched_s == 0.0 || watched_s < reach->watched_s)) {
        reach->watched_s = watched_s;
        reach->recorded_s = length_s;
        reach->cpus = cpus;
    }
}

/* Fills the views of recorded inputs; returns how many there are. */
static size_t look_at(const iw_noise_set *set, const struct iwi_exposure *exposure,
                      struct iwi_length_bins *bins, struct view views[IW_NOISE_MAX_SOURCES], iw_reach *reach)
{
    size_t count = 0;

    for (size_t i = 0; i < set->input_count && count < IW_NOISE_MAX_SOURCES; i++) {
        const struct iwi_set_input *input = &set->inputs[i];
        struct view *view = &views[count];

        if (input->node_count > 0) {
            *view = (struct view){.rate_hz = iwi_met_rate_hz(set, input, exposure),
                                  .events = met_events(set, input),
                                  .bins = bins};
            view->longest = (struct iwi_longest){view->room, IWI_LONGEST_ROOM, 0, 0};
            tell_watched(set, input, reach);
            met_detours(set, input, &exposure->filter, take_detour, view);
            reach->longest_ns = iwi_max(reach->longest_ns, view->longest.count > 0 ? view->room[0] : 0);
            count++;
        }
    }
    return count;
}

static struct iwi_met_job job_of(const struct iwi_length_bins *bins, double quiet_s, double slowdown)
{
    const double phases = iwi_bins_phases(bins, quiet_s, slowdown);

    return (struct iwi_met_job){quiet_s, phases, iwi_bins_longest_s(bins, quiet_s / phases)};
}

iw_reach iwi_reach_for(const iw_noise_set *set, const struct iwi_exposure *exposure, double value)
{
    const double allowed = iwi_unseen_allowed(value);
    iw_reach reach = {.is_extrapolated = set->law_count > 0, .laws = set->laws, .law_count = set->law_count};
    struct iwi_length_bins bins = {0};
    struct view views[IW_NOISE_MAX_SOURCES];
    const size_t count = look_at(set, exposure, &bins, views, &reach);
    double index = 0.0, most_unseen = 0.0;

    if (count > 0 && exposure->quiet_s > 0.0) {
        const struct iwi_met_job job = job_of(&bins, exposure->quiet_s, value);

        for (size_t i = 0; i < count; i++) {
            reach.unseen += iwi_unseen_slowdown(&views[i].longest, views[i].rate_hz, &job);
            most_unseen += iwi_most_unseen(&views[i].longest, views[i].rate_hz);
            index = fmax(index, iwi_tail_index(&views[i].longest));
        }
    }
    reach.is_bound = !reach.is_extrapolated && reach.unseen > allowed;
    reach.sensitivity = sensitivity_of(&reach);
    if (reach.is_bound) {
        reach.record_s = reach.recorded_s *
                         pow(2.0 * most_unseen / allowed, 1.0 / (1.0 - fmin(index, MOST_ADVISED_INDEX)));
    }
    return reach;
}

iw_reach iw_reach_of(const iw_noise_set *set, uint32_t ranks, iw_time noiseless_ps, double slowdown)
{
    return iwi_reach_for(
        set, &(struct iwi_exposure){.ranks = ranks, .quiet_s = (double)noiseless_ps / (double)IW_PS_PER_S},
        slowdown);
}
