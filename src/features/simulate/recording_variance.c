/* How much another recording of the same nodes would change a slowdown, without simulating it again.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The recording is drawn anew in stretches, as iw_recording_resample() does, and the model of length_bins.h
 * says what each redraw would cost a job with as many phases. What counts is the ratio to the recording as it
 * is: the model's own error cancels.
 *
 * Stretches that are shorter than a burst of noise share it out as if its pieces came by themselves, and
 * their spread is too small. So runs of neighbours are drawn too, and the larger variance counts.
 */
#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "core/base/rng.h"
#include "core/stats/block_bootstrap.h"
#include "features/simulate/met.h"

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

static void take_detour(void *arg, size_t node, int64_t start_ns, int64_t length_ns)
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
    stretches->events = iwi_met_events(set, input);
    stretches->places =
        stretches->rate_hz * (double)input->length_ns * 1e-9 * (double)iwi_met_cpus(set, input);
    stretches->bins = iwi_new_array(log, stretches->blocks.count, sizeof *stretches->bins);
    if (stretches->bins == NULL) {
        return IW_ERR_NOMEM;
    }
    iwi_met_detours(set, input, &exposure->filter, take_detour, stretches);
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
