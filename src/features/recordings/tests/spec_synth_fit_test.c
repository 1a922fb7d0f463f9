/* One law three ways: its spec, a recording made of it, and the specs that are fitted to that recording give
 * the same slowdowns, in the mean and in the median.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Some of the laws on up to 1,000 ranks; with --large all of them, also on 10^4 and 10^5 ranks.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <idlewave/fit.h>
#include <idlewave/recording.h>
#include <idlewave/sim.h>

#include "core/base/order.h"
#include "support/support.h"

enum { MOST_SPECS = 2, WAYS = 3, CPUS = 16 };

static const char *const way_names[WAYS] = {"spec", "synth", "fit"};

/* Those that are soon fitted come first. */
static const char *const laws[][MOST_SPECS] = {
    {"periodic:100Hz,50us", NULL},
    {"periodic:0.375Hz,5.6ms", NULL},
    {"periodic:250Hz,3us", "poisson:2Hz,fixed:2ms"},
    {"poisson:0.375Hz,fixed:5.6ms", NULL},
    {"poisson:100Hz,exp:50us", NULL},
    {"poisson:500Hz,exp:200us", NULL},
    {"poisson:10Hz,lognormal:100us,1", NULL},
    {"poisson:20Hz,pareto:2.5,50us", NULL},
    {"poisson:100Hz,lognormal:1ms,0.7", NULL},
};

enum { LAWS = sizeof laws / sizeof laws[0], EVERYDAY_LAWS = 3 };

static const char *const rare_long[MOST_SPECS] = {"poisson:0.375Hz,fixed:5.6ms", NULL};

struct scale {
    uint32_t ranks;
    uint64_t trials;
};

static const struct scale scales[] = {{100, 400}, {1000, 200}, {10000, 400}, {100000, 100}};

enum { SCALES = sizeof scales / sizeof scales[0], EVERYDAY_SCALES = 2 };

/* Slowdowns of trials, sorted. */
struct sample {
    double *values;
    size_t count;
    double mean, error; /* its standard deviation */
};

static struct sample simulate(const iw_noise *noise, const struct scale *scale, iw_time work_ps)
{
    iw_pattern pattern = IW_PATTERN_INIT;
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    struct sample sample = {.values = calloc(scale->trials, sizeof(double)), .count = scale->trials};
    double squares = 0;
    iw_program *program;
    iw_sim_result *result;

    pattern.ranks = scale->ranks;
    pattern.compute_ps = work_ps;
    opts.trials = scale->trials;
    assert_ok(iw_program_from_pattern(NULL, "barrier:dissemination", &pattern, &program));
    assert_ok(iw_simulate(NULL, program, iw_net_builtin("chic"), noise, &opts, &result));
    for (size_t i = 0; i < sample.count; i++) {
        sample.values[i] = (double)result->makespan_ps[i] / (double)result->noiseless_ps - 1;
        sample.mean += sample.values[i] / (double)sample.count;
    }
    for (size_t i = 0; i < sample.count; i++) {
        squares += pow(sample.values[i] - sample.mean, 2);
    }
    sample.error = sqrt(squares / (double)(sample.count - 1) / (double)sample.count);
    iwi_sort(sample.values, sample.count, iwi_compare_doubles);
    iw_sim_result_free(result);
    iw_program_free(program);
    return sample;
}

static iw_recording *record(const char *const specs[MOST_SPECS])
{
    iw_synth_opts opts = IW_SYNTH_OPTS_INIT;
    iw_recording *recording = NULL;
    iw_edit edit;

    opts.specs = specs;
    opts.spec_count = specs[1] != NULL ? 2 : 1;
    opts.duration_ns = INT64_C(600000000000);
    opts.cpu_count = CPUS;
    opts.seed = 77;
    assert_ok(iw_recording_synth(NULL, &opts, &recording, &edit));
    return recording;
}

static void add_specs(iw_noise *noise, const char *const *specs, size_t count)
{
    for (size_t i = 0; i < count && specs[i] != NULL; i++) {
        assert_ok(iw_noise_add(NULL, noise, specs[i]));
    }
}

static void add_fit(iw_noise *noise, const iw_recording *recording)
{
    iw_fit_opts opts = IW_FIT_OPTS_INIT;
    iw_noise_fit *fit = NULL;

    opts.replicates = 19; /* only the specs are of interest */
    assert_ok(iw_noise_fit_new(NULL, recording, &opts, &fit));
    for (size_t i = 0; i < fit->spec_count; i++) {
        print_message("    fit: %s\n", fit->specs[i].text);
        assert_ok(iw_noise_add(NULL, noise, fit->specs[i].text));
    }
    iw_noise_fit_free(fit);
}

static void make_noises(const char *const specs[MOST_SPECS], iw_noise *noises[WAYS])
{
    iw_recording *recording = record(specs);

    for (int way = 0; way < WAYS; way++) {
        assert_ok(iw_noise_new(NULL, &noises[way]));
    }
    add_specs(noises[0], specs, MOST_SPECS);
    assert_ok(iw_noise_add_recording(NULL, noises[1], recording));
    add_fit(noises[2], recording);
    iw_recording_free(recording);
}

/* Relative error that slowdowns may have beside that of their trials. A recording of n detours has their
 * rate, and what is fitted to it the mean duration, with an error of 1/sqrt(n) each; 16 x 600 s at 0.375 Hz
 * are 3,600. Slowdowns follow at most in proportion. */
static const double ALLOWED_ERROR = 0.02;

static void assert_means_agree(const char *law, uint32_t ranks, int way, const struct sample *a,
                               const struct sample *b)
{
    const double error = sqrt(a->error * a->error + b->error * b->error + pow(ALLOWED_ERROR * a->mean, 2));

    if (fabs(a->mean - b->mean) > 4 * error) {
        fail_msg("%s on %u ranks: mean %.4f, by %s %.4f, which differ by more than 4 x %.4f", law, ranks,
                 a->mean, way_names[way], b->mean, error);
    }
}

/* As many trials of b are below the median of a as of a itself: half, within four standard deviations. */
static void assert_medians_agree(const char *law, uint32_t ranks, int way, const struct sample *a,
                                 const struct sample *b)
{
    const double median = a->values[a->count / 2], rounding = 1e-9 + ALLOWED_ERROR * median;
    const double tolerance = 4 * 0.5 * sqrt(2.0 / (double)a->count);
    double below = 0, up_to = 0;

    for (size_t i = 0; i < b->count; i++) {
        below += (b->values[i] < median - rounding) / (double)b->count;
        up_to += (b->values[i] <= median + rounding) / (double)b->count;
    }
    if (below > 0.5 + tolerance || up_to < 0.5 - tolerance) {
        fail_msg("%s on %u ranks: median %.4f, by %s %.4f; %.3f of its trials are below, %.3f up to that",
                 law, ranks, median, way_names[way], b->values[b->count / 2], below, up_to);
    }
}

static void compare(const char *law, iw_noise *noises[WAYS], const struct scale *scale, iw_time work_ps)
{
    struct sample samples[WAYS];

    for (int way = 0; way < WAYS; way++) {
        samples[way] = simulate(noises[way], scale, work_ps);
    }
    print_message("  %7u ranks: mean %8.4f %8.4f %8.4f, median %8.4f %8.4f %8.4f\n", scale->ranks,
                  samples[0].mean, samples[1].mean, samples[2].mean, samples[0].values[samples[0].count / 2],
                  samples[1].values[samples[1].count / 2], samples[2].values[samples[2].count / 2]);
    for (int way = 1; way < WAYS; way++) {
        assert_means_agree(law, scale->ranks, way, &samples[0], &samples[way]);
        assert_medians_agree(law, scale->ranks, way, &samples[0], &samples[way]);
    }
    for (int way = 0; way < WAYS; way++) {
        free(samples[way].values);
    }
}

static void a_law_its_recording_and_its_fit_slow_alike(void **state)
{
    const bool *is_large = *state;

    for (size_t i = 0; i < (*is_large ? LAWS : EVERYDAY_LAWS); i++) {
        iw_noise *noises[WAYS];

        print_message("%s%s%s, by spec, synth and fit:\n", laws[i][0], laws[i][1] != NULL ? " + " : "",
                      laws[i][1] != NULL ? laws[i][1] : "");
        make_noises(laws[i], noises);
        for (size_t k = 0; k < (*is_large ? SCALES : EVERYDAY_SCALES); k++) {
            compare(laws[i][0], noises, &scales[k], IW_PS_PER_MS);
        }
        for (int way = 0; way < WAYS; way++) {
            iw_noise_free(noises[way]);
        }
    }
}

/* A job that is much shorter than detours meets those that were under way before it began. */
static void a_barrier_alone_meets_what_is_under_way(void **state)
{
    static const struct scale scale = {4096, 100};
    iw_noise *noises[WAYS];

    (void)state;
    print_message("%s, a barrier alone:\n", rare_long[0]);
    make_noises(rare_long, noises);
    compare(rare_long[0], noises, &scale, 0);
    for (int way = 0; way < WAYS; way++) {
        iw_noise_free(noises[way]);
    }
}

int main(int argc, char **argv)
{
    bool is_large = argc > 1 && strcmp(argv[1], "--large") == 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(a_law_its_recording_and_its_fit_slow_alike, &is_large),
        cmocka_unit_test(a_barrier_alone_meets_what_is_under_way),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
