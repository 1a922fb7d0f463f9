/* Noise of three known laws.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The more ranks, the finer the steps, as in programs that are scaled strongly. Hits a step, on all ranks:
 *                          10^2 x 10 ms   10^4 x 1 ms   10^6 x 0.1 ms
 *   5 Hz    of 100 us            5             50            500
 *   0.3 Hz  of 250 us           0.3             3             30
 *   0.01 Hz of 500 us           0.01          0.1              1
 * A step ends with the longest delay, so what comes in every step hides what is shorter: the first costs most
 * on 10^2 ranks, the second on 10^4, the third on 10^6.
 */
#include "made_truth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <idlewave/recording.h>

#include "support/support.h"

enum { CPUS = 32 };

const char *const iwt_law_names[IWT_LAWS] = {"irq/often", "thread/now-and-then", "thread/rarely"};
static const char *const laws[IWT_LAWS] = {"poisson:5Hz,fixed:100us", "poisson:0.3Hz,fixed:250us",
                                           "poisson:0.01Hz,fixed:500us"};
static const char *const synths[IWT_LAWS] = {"irq/often=poisson:5Hz,fixed:100us",
                                             "thread/now-and-then=poisson:0.3Hz,fixed:250us",
                                             "thread/rarely=poisson:0.01Hz,fixed:500us"};

static iw_program *make_program(const struct iwt_scale *scale)
{
    iw_pattern pattern = IW_PATTERN_INIT;
    iw_program *program = NULL;

    pattern.ranks = scale->ranks;
    pattern.repeat = scale->steps;
    pattern.compute_ps = scale->compute_ps;
    assert_ok(iw_program_from_pattern(NULL, "barrier:dissemination", &pattern, &program));
    return program;
}

static iw_recording *record(uint64_t seed)
{
    iw_synth_opts opts = IW_SYNTH_OPTS_INIT;
    iw_recording *recording = NULL;
    iw_edit edit;

    opts.specs = synths;
    opts.spec_count = IWT_LAWS;
    opts.cpu_count = CPUS;
    opts.duration_ns = INT64_C(94000000000);
    opts.seed = seed;
    assert_ok(iw_recording_synth(NULL, &opts, &recording, &edit));
    return recording;
}

static iw_noise_set *new_set(uint64_t seed)
{
    iw_noise_set *set = NULL;

    assert_ok(iw_noise_set_new(NULL, &set));
    assert_ok(iw_noise_set_add_recording(NULL, set, "node", record(seed)));
    iw_noise_set_align(set, IW_SYNC_NONE, 0, CPUS);
    return set;
}

static iw_noise *noise_of_specs(size_t without)
{
    iw_noise *noise = NULL;

    assert_ok(iw_noise_new(NULL, &noise));
    for (size_t i = 0; i < IWT_LAWS; i++) {
        assert_ok(iw_noise_add(NULL, noise, i == without ? "none" : laws[i]));
    }
    return noise;
}

/* Makespans without one law; IWT_LAWS: with all. */
static iw_sim_result *simulate_laws(const struct iwt_scale *scale, size_t without)
{
    iw_program *program = make_program(scale);
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    iw_sim_result *result = NULL;
    iw_noise *noise = noise_of_specs(without);

    opts.trials = scale->truth_trials;
    opts.seed = 4711;
    assert_ok(iw_simulate(NULL, program, iw_net_builtin("chic"), noise, &opts, &result));
    iw_noise_free(noise);
    iw_program_free(program);
    return result;
}

struct iwt_truth iwt_find_truth(const struct iwt_scale *scale)
{
    const double count = (double)scale->truth_trials;
    iw_sim_result *now = simulate_laws(scale, IWT_LAWS);
    const double noiseless = (double)now->noiseless_ps;
    struct iwt_truth truth = {0};

    for (uint64_t t = 0; t < scale->truth_trials; t++) {
        truth.now += ((double)now->makespan_ps[t] / noiseless - 1.0) / count;
    }
    for (size_t law = 0; law < IWT_LAWS; law++) {
        iw_sim_result *without = simulate_laws(scale, law);
        double sum = 0.0, squares = 0.0;

        for (uint64_t t = 0; t < scale->truth_trials; t++) {
            const double saved = (double)(now->makespan_ps[t] - without->makespan_ps[t]) / noiseless;

            sum += saved;
            squares += saved * saved;
        }
        truth.saving[law] = sum / count;
        truth.error[law] = sqrt((squares / count - sum * sum / count / count) / count);
        iw_sim_result_free(without);
    }
    iw_sim_result_free(now);
    return truth;
}

static iw_status make(void *arg, uint32_t ranks, double work, iw_program **program_p)
{
    if (ranks != 0 || work != 1.0) {
        return IW_ERR_UNSUPPORTED;
    }
    *program_p = make_program(arg);
    return IW_OK;
}

static void release(void *arg, iw_program *program)
{
    (void)arg;
    iw_program_free(program);
}

iw_whatif *iwt_whatif(const struct iwt_scale *scale, uint64_t seed)
{
    struct iwt_scale own = *scale;
    const iw_whatif_opts opts = {
        .size = sizeof opts,
        .sim = {.size = sizeof opts.sim, .seed = seed, .trials = scale->trials, .checkpoint_s = 600.0},
        .net = iw_net_builtin("chic"),
        .program = {make, release, &own},
        .target = -1.0,
        .redraws = scale->redraws,
    };
    iw_whatif *whatif = NULL;
    iw_noise_set *set = new_set(seed);

    assert_ok(iw_whatif_run(NULL, set, &opts, &whatif));
    iw_noise_set_free(set);
    return whatif;
}

iw_estimate iwt_saving(const iw_whatif *whatif, size_t law)
{
    for (size_t i = 0; i < whatif->change_count; i++) {
        if (strcmp(whatif->changes[i].name, iwt_law_names[law]) == 0) {
            return whatif->changes[i].saving;
        }
    }
    return (iw_estimate){0.0, 0.0, 0.0}; /* nothing of it was recorded */
}
