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

/* The stretches of one input: its own bins for each. */
struct stretches {
    struct iwi_blocks blocks;
    bool is_by_nodes;
    double rate_hz;
    struct iwi_length_bins *bins;
};

static void take_detour(void *arg, size_t node, int64_t start_ns, int64_t length_ns)
{
    struct stretches *stretches = arg;
    const size_t block = stretches->is_by_nodes ? node : iwi_block_of(&stretches->blocks, start_ns);

    iwi_bins_add(&stretches->bins[block], length_ns, stretches->rate_hz);
}

static iw_status cut_input(const iw_log *log, const iw_noise_set *set, const struct iwi_set_input *input,
                           const struct iwi_exposure *exposure, struct stretches *stretches)
{
    stretches->is_by_nodes = iwi_is_drawn_by_nodes(input);
    stretches->blocks = stretches->is_by_nodes ? (struct iwi_blocks){0, input->node_count}
                                               : iwi_choose_blocks(input->length_ns);
    stretches->rate_hz = iwi_met_rate_hz(set, input, exposure);
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

/* A job by the model, under the recording as it is. */
struct modelled_job {
    double quiet_s, phases, slowdown;
};

/* Of the slowdowns of redraws, as shares of the slowdown. */
static double variance_by_runs(const struct stretches *stretches, size_t count, size_t run,
                               const struct modelled_job *job, uint64_t seed)
{
    double sum = 0.0, squares = 0.0, fewest = INFINITY;

    for (uint64_t r = 1; r <= REPLICATES; r++) {
        const struct iwi_length_bins bins = bins_of(stretches, count, run, seed, r);
        const double ratio = iwi_bins_slowdown(&bins, job->quiet_s, job->phases) / job->slowdown;

        sum += ratio;
        squares += ratio * ratio;
    }
    for (size_t i = 0; i < count; i++) {
        fewest = fmin(fewest, (double)stretches[i].blocks.count / (double)run_of(&stretches[i], run));
    }
    /* a bootstrap of B blocks varies less than recordings do, by (B-1)/B */
    return fewest > 1.0 ? (squares - sum * sum / REPLICATES) / (REPLICATES - 1.0) * fewest / (fewest - 1.0)
                        : 0.0;
}

static double variance_of(const struct stretches *stretches, size_t count, double quiet_s, double slowdown,
                          uint64_t seed)
{
    const struct iwi_length_bins bins = bins_of(stretches, count, 1, seed, 0);
    const double phases = iwi_bins_phases(&bins, quiet_s, slowdown);
    const struct modelled_job job = {quiet_s, phases, iwi_bins_slowdown(&bins, quiet_s, phases)};

    return job.slowdown > 0.0 ? fmax(variance_by_runs(stretches, count, 1, &job, seed),
                                     variance_by_runs(stretches, count, RUN_OF_STRETCHES, &job, seed))
                              : 0.0;
}

iw_status iwi_recording_variance(const iw_log *log, const iw_noise_set *set,
                                 const struct iwi_exposure *exposure, double slowdown, uint64_t seed,
                                 double *variance_p)
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
        *variance_p = count > 0 ? variance_of(stretches, count, exposure->quiet_s, slowdown, seed) : 0.0;
    }
    for (size_t i = 0; i < count; i++) {
        free(stretches[i].bins);
    }
    free(stretches);
    return status;
}
