/* Intervals that count the recording, lower bounds beyond its reach, laws that stand in for it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <string.h>

#include <idlewave/recording.h>
#include <idlewave/whatif.h>

#include "support/made_recording.h"
#include "support/made_set.h"
#include "support/support.h"

static iw_noise_set *recorded_all(const char *const *specs, size_t count, int64_t seconds, uint64_t seed)
{
    iw_synth_opts opts = IW_SYNTH_OPTS_INIT;
    iw_recording *recording = NULL;
    iw_noise_set *set;
    iw_edit edit;

    opts.specs = specs;
    opts.spec_count = count;
    opts.duration_ns = seconds * 1000000000;
    opts.seed = seed;
    assert_ok(iw_recording_synth(NULL, &opts, &recording, &edit));
    set = iwt_set(recording, NULL);
    iw_noise_set_align(set, IW_SYNC_NONE, 0, 1);
    return set;
}

static iw_noise_set *recorded(const char *spec, int64_t seconds, uint64_t seed)
{
    return recorded_all(&spec, 1, seconds, seed);
}

struct job {
    iw_program *program;
    iw_sim_opts opts;
    iw_sim_result *result;
};

/* Steps of 1 ms and a barrier, under the noise of a set or of a spec. */
static struct job simulate(const iw_noise_set *set, const char *spec, uint32_t ranks, uint64_t trials)
{
    const iw_sim_opts opts = IW_SIM_OPTS_INIT;
    struct job job = {.opts = opts};
    iw_pattern pattern = IW_PATTERN_INIT;
    iw_noise *noise = NULL;

    pattern.ranks = ranks;
    pattern.repeat = 5;
    pattern.compute_ps = IW_PS_PER_MS;
    assert_ok(iw_program_from_pattern(NULL, "barrier:dissemination", &pattern, &job.program));
    if (set != NULL) {
        assert_ok(iw_noise_set_make(NULL, set, NULL, 1, 0, &noise));
    } else {
        assert_ok(iw_noise_new(NULL, &noise));
        assert_ok(iw_noise_add(NULL, noise, spec));
    }
    job.opts.trials = trials;
    assert_ok(iw_simulate(NULL, job.program, iw_net_builtin("chic"), noise, &job.opts, &job.result));
    iw_noise_free(noise);
    return job;
}

static void release(struct job *job)
{
    iw_sim_result_free(job->result);
    iw_program_free(job->program);
}

static iw_certainty certainty_of(const iw_noise_set *set, const struct job *job)
{
    iw_certainty certainty;

    assert_ok(iw_certainty_find(NULL,
                                &(iw_certainty_question){.set = set,
                                                         .program = job->program,
                                                         .net = iw_net_builtin("chic"),
                                                         .opts = &job->opts,
                                                         .result = job->result},
                                &certainty));
    return certainty;
}

static double mean_slowdown(const struct job *job)
{
    double sum = 0.0;

    for (uint64_t i = 0; i < job->result->trials; i++) {
        sum += (double)job->result->makespan_ps[i] / (double)job->result->noiseless_ps - 1.0;
    }
    return sum / (double)job->result->trials;
}

static void within_reach_there_is_an_interval(void **state)
{
    iw_noise_set *set = recorded("poisson:100Hz,exp:50us", 60, 1);
    struct job job = simulate(set, NULL, 16, 24);
    const iw_certainty c = certainty_of(set, &job);

    (void)state;
    assert_false(c.reach.is_bound);
    assert_int_equal(iw_certainty_trials(set, 24), 0); /* nothing is simulated again */
    assert_true(fabs(c.slowdown.value - mean_slowdown(&job)) < 1e-12);
    assert_true(c.slowdown.low < c.slowdown.value);
    assert_true(c.slowdown.high > c.slowdown.value + c.reach.unseen); /* that, and the half width */
    assert_true(isfinite(c.slowdown.high));
    release(&job);
    iw_noise_set_free(set);
}

/* 4,096 ranks meet in a millisecond what a recording of 4 s has, and more. */
static void beyond_it_there_is_a_lower_bound(void **state)
{
    iw_noise_set *set = recorded("poisson:2Hz,lognormal:100us,1.5", 4, 1);
    struct job job = simulate(set, NULL, 4096, 6), truth;
    const iw_certainty c = certainty_of(set, &job);

    (void)state;
    truth = simulate(NULL, "poisson:2Hz,lognormal:100us,1.5", 4096, 20);
    assert_true(c.reach.is_bound && c.reach.record_s > 60.0);
    assert_true(isinf(c.slowdown.high));
    assert_true(c.slowdown.low > 0.0 && c.slowdown.low < mean_slowdown(&truth));
    release(&truth);
    release(&job);
    iw_noise_set_free(set);
}

/* However few of the long detours there are, all ranks lose the tick: 0.2 % of each CPU. */
static void what_comes_often_is_sure(void **state)
{
    static const char tick[] = "periodic:1000Hz,2us";
    static const char *const specs[] = {tick, "poisson:0.5Hz,fixed:3ms"};

    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        iw_noise_set *set = recorded_all(specs, 2, 4, seed);
        struct job job = simulate(set, NULL, 64, 6), truth = simulate(NULL, tick, 64, 20);
        const iw_certainty c = certainty_of(set, &job);

        assert_true(c.reach.is_bound);
        assert_true(c.slowdown.low > 0.001);
        assert_true(c.slowdown.low < 1.1 * mean_slowdown(&truth));
        release(&truth);
        release(&job);
        iw_noise_set_free(set);
    }
}

static void few_trials_have_no_interval(void **state)
{
    iw_noise_set *set = recorded("poisson:100Hz,exp:50us", 10, 1);
    struct job job = simulate(set, NULL, 16, IW_CERTAINTY_LEAST_TRIALS - 1);
    const iw_certainty c = certainty_of(set, &job);

    (void)state;
    assert_true(isnan(c.slowdown.low) && isnan(c.slowdown.high) && c.slowdown.value > 0.0);
    release(&job);
    iw_noise_set_free(set);
}

/* ---- fitted laws ---- */

/* The law alone makes detours longer than the longest of 30 s. */
static void a_fitted_law_goes_beyond_what_was_seen(void **state)
{
    static const char law[] = "poisson:20Hz,lognormal:100us,1";
    iw_noise_set *set = recorded(law, 30, 5);
    struct job job = simulate(set, NULL, 2048, 6), fitted, truth = simulate(NULL, law, 2048, 12);
    iw_certainty c = certainty_of(set, &job);

    (void)state;
    assert_true(c.reach.is_bound);
    assert_null(iw_noise_set_law(set, 0));
    assert_ok(iw_noise_set_extrapolate(NULL, set));
    assert_non_null(strstr(iw_noise_set_law(set, 0), "lognormal"));
    assert_null(iw_noise_set_law(set, 1));
    fitted = simulate(set, NULL, 2048, 12);
    c = certainty_of(set, &fitted);
    assert_true(c.reach.is_extrapolated && !c.reach.is_bound);
    assert_int_equal(iw_certainty_trials(set, 12), 24); /* 2 with each of 12 redraws */
    assert_true(mean_slowdown(&fitted) > mean_slowdown(&job));
    assert_true(c.slowdown.low < mean_slowdown(&truth) && mean_slowdown(&truth) < c.slowdown.high);
    release(&truth);
    release(&fitted);
    release(&job);
    iw_noise_set_free(set);
}

static void what_no_law_describes_is_refused(void **state)
{
    iw_recording *recording = iwt_recording(1, INT64_C(10000000000));
    iw_noise_set *set;
    struct iwt_log l;

    (void)state;
    for (int i = 0; i < 400; i++) { /* two lengths, at odd times: none of the laws has such */
        iwt_detour(recording, 0, INT64_C(20000000) * i + INT64_C(7919000) * i % 11000000,
                   i % 3 ? 5000 : 40000, 0);
    }
    set = iwt_set(recording, NULL);
    iwt_log_init(&l);
    assert_int_equal(iw_noise_set_extrapolate(&l.log, set), IW_ERR_RANGE);
    assert_non_null(strstr(l.text, "no law describes"));
    assert_null(iw_noise_set_law(set, 0));
    iw_noise_set_free(set);
}

/* Without one source its law goes, and the draws of the other stay. */
static void a_removed_source_takes_its_law_along(void **state)
{
    static const char *const specs[] = {"irq/a=poisson:50Hz,exp:40us", "irq/b=poisson:30Hz,exp:90us"};
    iw_synth_opts opts = IW_SYNTH_OPTS_INIT;
    iw_recording *recording = NULL;
    iw_noise_set *set;
    iw_noise *noise = NULL;
    bool is_removed[2] = {false};
    iw_edit edit;

    (void)state;
    opts.specs = specs;
    opts.spec_count = 2;
    opts.duration_ns = INT64_C(30000000000);
    assert_ok(iw_recording_synth(NULL, &opts, &recording, &edit));
    set = iwt_set(recording, NULL);
    assert_ok(iw_noise_set_extrapolate(NULL, set));
    assert_non_null(iw_noise_set_law(set, 1));
    assert_ok(iw_noise_set_mark(NULL, set, "irq/a", is_removed));
    assert_ok(iw_noise_set_make(NULL, set, is_removed, 1, 0, &noise));
    assert_int_equal(iw_noise_source_count(noise), 1);
    assert_true(fabs(iw_noise_source_share(noise, 0) - 30.0 * 90e-6) < 4e-4);
    iw_noise_free(noise);
    iw_noise_set_free(set);
}

/* Nine sources, each on a CPU of its own, at random times: the two rarest have one law together. */
static iw_recording *nine_sources(void)
{
    iw_recording *recording = iwt_recording(9, INT64_C(30000000000));
    uint64_t state = 1;

    for (size_t cpu = 0; cpu < 9; cpu++) {
        const uint32_t source = iwt_source(recording, IW_CLASS_IRQ, (char[]){(char)('a' + cpu), '\0'});
        const double mean_ns = 1e9 / (100.0 - 10.0 * (double)cpu);

        for (double at_ns = 1e6; at_ns < 29.9e9;) {
            double drawn[2];

            for (size_t i = 0; i < 2; i++) { /* Knuth's generator */
                state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
                drawn[i] = -log(((double)(state >> 33) + 1.0) / 2147483649.0);
            }
            iwt_detour(recording, cpu, (int64_t)at_ns, 5000 + (int64_t)(40e3 * drawn[0]), source);
            at_ns += 1e6 + mean_ns * drawn[1];
        }
    }
    return recording;
}

static size_t laws_without(const iw_noise_set *set, const bool *is_removed)
{
    iw_noise *noise = NULL;
    size_t count;

    assert_ok(iw_noise_set_make(NULL, set, is_removed, 1, 0, &noise));
    count = iw_noise_source_count(noise);
    iw_noise_free(noise);
    return count;
}

static void a_law_of_two_sources_goes_with_the_last_of_them(void **state)
{
    iw_noise_set *set = iwt_set(nine_sources(), NULL);
    bool is_removed[9] = {false};

    (void)state;
    iw_noise_set_align(set, IW_SYNC_NONE, 0, 9);
    assert_ok(iw_noise_set_extrapolate(NULL, set));
    assert_non_null(iw_noise_set_law(set, 7));
    assert_null(iw_noise_set_law(set, 8));
    assert_ok(iw_noise_set_mark(NULL, set, "irq/h", is_removed));
    assert_int_equal(laws_without(set, is_removed), 8);
    assert_ok(iw_noise_set_mark(NULL, set, "irq/i", is_removed));
    assert_int_equal(laws_without(set, is_removed), 7);
    iw_noise_set_free(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(within_reach_there_is_an_interval),
        cmocka_unit_test(beyond_it_there_is_a_lower_bound),
        cmocka_unit_test(what_comes_often_is_sure),
        cmocka_unit_test(few_trials_have_no_interval),
        cmocka_unit_test(a_fitted_law_goes_beyond_what_was_seen),
        cmocka_unit_test(what_no_law_describes_is_refused),
        cmocka_unit_test(a_removed_source_takes_its_law_along),
        cmocka_unit_test(a_law_of_two_sources_goes_with_the_last_of_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
