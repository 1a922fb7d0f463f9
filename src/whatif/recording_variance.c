/* How much another recording of the same nodes would change a slowdown, without simulating it again.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The recording is drawn anew in stretches, as iw_recording_resample() does, and the model of length_bins.h
 * says what each redraw would cost a job with as many phases. What counts is the ratio to the recording as it
 * is: the model's own error cancels.
 */
#include <math.h>
#include <stdlib.h>

#include "base/base.h"
#include "base/rng.h"
#include "stats/block_bootstrap.h"
#include "whatif/met.h"

enum { REPLICATES = 200 };

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
    stretches->is_by_nodes = input->node_count > 1;
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

/* Each stretch once, or as many drawn with replacement. */
static void add_drawn(const struct stretches *stretches, struct iwi_draw_id id, bool is_anew,
                      struct iwi_length_bins *bins)
{
    const size_t count = stretches->blocks.count;

    for (size_t i = 0; i < count; i++) {
        iwi_bins_add_all(bins, &stretches->bins[is_anew ? iwi_draw_below(id, i, count) : i], 1.0);
    }
}

static struct iwi_length_bins bins_of(const struct stretches *stretches, size_t count, uint64_t seed,
                                      uint64_t replicate)
{
    struct iwi_length_bins bins = {0};

    for (size_t i = 0; i < count; i++) {
        const struct iwi_draw_id id = {
            .seed = seed, .trial = replicate, .purpose = IWI_DRAW_BOOTSTRAP, .rank = (uint32_t)i};

        add_drawn(&stretches[i], id, replicate > 0, &bins);
    }
    return bins;
}

static double variance_of(const struct stretches *stretches, size_t count, double quiet_s, double slowdown,
                          uint64_t seed)
{
    struct iwi_length_bins bins = bins_of(stretches, count, seed, 0);
    const double phases = iwi_bins_phases(&bins, quiet_s, slowdown);
    const double recorded = iwi_bins_slowdown(&bins, quiet_s, phases);
    double sum = 0.0, squares = 0.0, fewest = INFINITY;

    for (uint64_t r = 1; r <= REPLICATES; r++) {
        double ratio;

        bins = bins_of(stretches, count, seed, r);
        ratio = iwi_bins_slowdown(&bins, quiet_s, phases) / recorded;
        sum += ratio;
        squares += ratio * ratio;
    }
    for (size_t i = 0; i < count; i++) {
        fewest = fmin(fewest, (double)stretches[i].blocks.count);
    }
    /* a bootstrap of B blocks varies less than recordings do, by (B-1)/B */
    return recorded > 0.0 && fewest > 1.0
               ? (squares - sum * sum / REPLICATES) / (REPLICATES - 1.0) * fewest / (fewest - 1.0)
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
