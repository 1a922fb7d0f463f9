/* The model of a recording: what it supports, why it refuses, which source dominates.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/model.h>

#include <math.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "features/model/window_law.h"
#include "support/known_noise.h"
#include "support/made_recording.h"
#include "support/support.h"

#define assert_near(a, b, relative) assert_true(fabs((a) - (b)) <= (relative)*fabs(b))

static const struct known_noise BULK = {"bulk", KNOWN_EXP, 100.0, 1e4, 0.0};

static iw_recording *recording_of(const struct known_noise *noise, double length_s)
{
    iw_recording *recording = iwt_recording(1, llround(length_s * 1e9));

    known_put(noise, recording, 0, 0, 1, 1);
    return recording;
}

/* Frees the recording. */
static iw_window_model *model_of(iw_recording *recording, double work_ns)
{
    const iw_window_options options = {.work_ns = work_ns, .seed = 1};
    iw_window_model *model = NULL;

    assert_ok(iw_window_model_new(NULL, recording, &options, &model));
    iw_recording_free(recording);
    return model;
}

static iw_window_answer answer_of(const iw_window_model *model, double n)
{
    iw_window_answer answer;

    assert_ok(iw_window_model_mean_max(NULL, model, n, &answer));
    return answer;
}

/* 200 s of phases of 1 ms: 200,000. */
static void a_long_recording_supports_a_fiftieth_of_its_phases_and_a_tail(void **state)
{
    iw_window_model *model = model_of(recording_of(&BULK, 200.0), 1e6);
    const iw_window_horizon *horizon = iw_window_model_horizon(model);

    (void)state;
    assert_near(horizon->phases, 200000.0, 1e-12);
    assert_near(horizon->observed_ranks, 4000.0, 0.1);
    assert_int_equal(horizon->refusal, IW_REFUSAL_NONE);
    assert_near(horizon->tail_ranks, 100.0 * horizon->observed_ranks, 1e-12);
    assert_true(fabs(horizon->tail_shape) < 0.25);
    assert_true(horizon->tail_from_ns > 1e4);
    assert_int_equal(answer_of(model, 4000.0).support, IW_SUPPORT_OBSERVED);
    assert_int_equal(answer_of(model, 5000.0).support, IW_SUPPORT_TAIL);
    assert_int_equal(answer_of(model, 1e6).support, IW_SUPPORT_REFUSED);
    assert_true(isnan(answer_of(model, 1e6).slowest_ns.value));
    iw_window_model_free(model);
}

static void answers_rise_with_the_ranks_and_lie_in_their_intervals(void **state)
{
    iw_window_model *model = model_of(recording_of(&BULK, 200.0), 1e6);
    double before_ns = 0.0;

    (void)state;
    for (double n = 1.0; n < 3e5; n *= 2.0) {
        const iw_estimate e = answer_of(model, n).slowest_ns;

        assert_true(e.low <= e.value && e.value <= e.high);
        assert_true(e.value >= before_ns);
        before_ns = e.value;
    }
    iw_window_model_free(model);
}

/* Two CPUs double what was seen, not how long. */
static void all_cpus_count(void **state)
{
    iw_recording *recording = iwt_recording(2, INT64_C(200000000000));
    iw_window_model *model;

    (void)state;
    known_put(&BULK, recording, 0, 0, 1, 1);
    known_put(&BULK, recording, 1, 0, 2, 1);
    model = model_of(recording, 1e6);
    assert_near(iw_window_model_horizon(model)->phases, 400000.0, 1e-12);
    assert_int_equal(iw_window_model_horizon(model)->refusal, IW_REFUSAL_NONE);
    iw_window_model_free(model);
}

static void a_short_recording_is_not_extrapolated(void **state)
{
    iw_window_model *model = model_of(recording_of(&BULK, 100.0), 1e6);
    const iw_window_horizon *horizon = iw_window_model_horizon(model);

    (void)state;
    assert_int_equal(horizon->refusal, IW_REFUSAL_SHORT);
    assert_near(horizon->record_s, 180.0, 1e-12); /* 3 times 60 s */
    assert_true(horizon->tail_ranks == horizon->observed_ranks);
    assert_true(isnan(horizon->tail_shape));
    assert_int_equal(answer_of(model, 1.0).support, IW_SUPPORT_OBSERVED);
    iw_window_model_free(model);
}

static void the_user_may_say_what_is_rare(void **state)
{
    const iw_window_options options = {.work_ns = 1e6, .rarest_s = 10.0, .seed = 1};
    iw_recording *recording = recording_of(&BULK, 100.0);
    iw_window_model *model = NULL;

    (void)state;
    assert_ok(iw_window_model_new(NULL, recording, &options, &model));
    assert_int_equal(iw_window_model_horizon(model)->refusal, IW_REFUSAL_NONE);
    iw_window_model_free(model);
    iw_recording_free(recording);
}

static void few_detours_are_no_tail(void **state)
{
    const struct known_noise seldom = {"seldom", KNOWN_EXP, 0.15, 1e4, 0.0}; /* about 30 in 200 s */
    iw_window_model *model = model_of(recording_of(&seldom, 200.0), 1e6);
    const iw_window_horizon *horizon = iw_window_model_horizon(model);

    (void)state;
    assert_int_equal(horizon->refusal, IW_REFUSAL_FEW);
    assert_true(horizon->record_s > 300.0 && horizon->record_s < 1000.0);
    iw_window_model_free(model);
}

static void a_quiet_recording_has_no_tail_and_loses_nothing(void **state)
{
    iw_window_model *model = model_of(iwt_recording(1, INT64_C(200000000000)), 1e6);

    (void)state;
    assert_int_equal(iw_window_model_horizon(model)->refusal, IW_REFUSAL_FEW);
    assert_true(answer_of(model, 4000.0).slowest_ns.high == 0.0);
    iw_window_model_free(model);
}

/* The bulk, and five detours of 5 ms: one every 40 s. */
static iw_recording *with_outliers(bool named)
{
    iw_recording *recording = recording_of(&BULK, 200.0);
    const uint32_t rare = named ? iwt_source(recording, IW_CLASS_THREAD, "backup") : 0;
    iw_detours *cpu = &recording->cpus[0];

    for (size_t i = 1; i <= 5; i++) {
        size_t detour = i * cpu->count / 6;

        while (cpu->start_ns[detour + 1] - cpu->start_ns[detour] < 6000000) {
            detour++;
        }
        cpu->duration_ns[detour] = 5000000;
        cpu->source[detour] = rare;
    }
    return recording;
}

static void a_rare_component_is_refused_with_the_time_it_needs(void **state)
{
    (void)state;
    for (int named = 0; named < 2; named++) {
        iw_window_model *model = model_of(with_outliers(named == 1), 1e6);
        const iw_window_horizon *horizon = iw_window_model_horizon(model);

        assert_int_equal(horizon->refusal, IW_REFUSAL_MIXTURE);
        assert_near(horizon->record_s, 200.0 * 1.5 * 50.0 / 5.0, 1e-9);
        assert_int_equal(answer_of(model, 1e5).support, IW_SUPPORT_REFUSED);
        iw_window_model_free(model);
    }
}

/* Detours with exponent 0.7: no mean. */
static void a_tail_without_a_mean_is_refused(void **state)
{
    const struct known_noise heavy = {"heavy", KNOWN_PARETO, 100.0, 0.7, 1e3};
    iw_window_model *model = model_of(recording_of(&heavy, 200.0), 1e6);

    (void)state;
    assert_int_equal(iw_window_model_horizon(model)->refusal, IW_REFUSAL_HEAVY);
    iw_window_model_free(model);
}

/* Ticks of 3 us in every phase, and a thread of 200 us each second: one rank sees ticks, many the thread. */
static double source_max_ns(const iw_window_model *model, size_t source, double n)
{
    return iwi_source_mean_max_ns(&model->sources[source], n, model->horizon.observed_ranks);
}

static void the_dominant_source_changes_with_the_ranks(void **state)
{
    iw_recording *recording = iwt_recording(1, INT64_C(200000000000));
    const uint32_t tick = iwt_source(recording, IW_CLASS_IRQ, "tick");
    const uint32_t thread = iwt_source(recording, IW_CLASS_THREAD, "daemon");
    iw_window_model *model;

    (void)state;
    for (int64_t ms = 0; ms < 200000; ms++) {
        iwt_detour(recording, 0, ms * 1000000 + 1000, 3000, tick);
        if (ms % 1000 == 500) {
            iwt_detour(recording, 0, ms * 1000000 + 500000, 200000 + ms % 77, thread);
        }
    }
    model = model_of(recording, 1e6);
    assert_int_equal(answer_of(model, 1.0).dominant, tick);
    assert_int_equal(answer_of(model, 3000.0).dominant, thread);
    assert_near(source_max_ns(model, tick, 1.0), 3000.0, 0.02);
    assert_near(source_max_ns(model, thread, 1.0), 200.0, 0.2); /* a phase in 1,000, and begins inside */
    assert_near(source_max_ns(model, thread, 4000.0), 200000.0, 0.05);
    iw_window_model_free(model);
}

/* A detour of 10 us, 7 of them of a second source: parts count for theirs. */
static void parts_of_detours_count_for_their_sources(void **state)
{
    iw_recording *recording = iwt_recording(1, INT64_C(1000000000));
    const uint32_t a = iwt_source(recording, IW_CLASS_IRQ, "a"), b = iwt_source(recording, IW_CLASS_IRQ, "b");
    iw_window_model *model;

    (void)state;
    iwt_detour(recording, 0, 500000000, 10000, b);
    iwt_part(recording, 0, a, 3000);
    iwt_part(recording, 0, b, 7000);
    model = model_of(recording, 1e6);
    assert_near(source_max_ns(model, a, 1e9), 3000.0, 0.02);
    assert_near(source_max_ns(model, b, 1e9), 7000.0, 0.02);
    iw_window_model_free(model);
}

/* Quanta of 1 ms, one of 100 takes 1.05 ms. */
static void quanta_are_taken_by_what_they_lost(void **state)
{
    iw_recording *recording = iwt_recording(1, 0);
    int64_t now_ns = 0;
    iw_window_model *model;

    (void)state;
    recording->probe = IW_PROBE_FWQ;
    recording->quantum_ns = 1000000;
    for (int i = 0; i < 10000; i++) {
        const double took_ns = i % 100 == 50 ? 1.05e6 : 1e6;

        iwt_sample(recording, 0, now_ns, took_ns);
        now_ns += llround(took_ns);
    }
    recording->cpus[0].length_ns = now_ns;
    model = model_of(recording, 1e6);
    assert_near(answer_of(model, 1.0).slowest_ns.value, 500.0, 0.05);
    assert_near(answer_of(model, 150.0).slowest_ns.value, 50000.0 * (1.0 - pow(0.99, 150.0)), 0.05);
    iw_window_model_free(model);
}

/* What quanta lost is nobody's: five that lost 5 ms are few, not a source that is too rare. */
static void losses_of_quanta_have_no_source_that_is_rare(void **state)
{
    iw_recording *recording = iwt_recording(1, 0);
    int64_t now_ns = 0;
    iw_window_model *model;

    (void)state;
    (void)iwt_source(recording, IW_CLASS_THREAD, "daemon");
    recording->probe = IW_PROBE_FWQ;
    recording->quantum_ns = 1000000;
    for (int i = 0; i < 200000; i++) {
        const int64_t took_ns = i % 40000 == 20000 ? 6000000 : 1000000;

        iwt_sample(recording, 0, now_ns, (double)took_ns);
        now_ns += took_ns;
    }
    recording->cpus[0].length_ns = now_ns;
    model = model_of(recording, 1e6);
    assert_int_equal(iw_window_model_horizon(model)->refusal, IW_REFUSAL_FEW);
    iw_window_model_free(model);
}

static void bad_questions_are_errors(void **state)
{
    struct iwt_log log;
    iw_recording *recording = recording_of(&BULK, 10.0);
    iw_window_model *model = NULL;
    iw_window_answer answer;

    (void)state;
    iwt_log_init(&log);
    assert_status(iw_window_model_new(&log.log, recording, &(iw_window_options){.work_ns = 1e9}, &model),
                  IW_ERR_RANGE);
    iwt_assert_logged(&log, "too short for phases of 1 s: record for 160 s");
    assert_status(iw_window_model_new(&log.log, recording, &(iw_window_options){.work_ns = NAN}, &model),
                  IW_ERR_RANGE);
    iwt_assert_logged(&log, "at least 1 ns");
    assert_ok(iw_window_model_new(&log.log, recording, &(iw_window_options){.work_ns = 1e6}, &model));
    assert_status(iw_window_model_mean_max(&log.log, model, 0.5, &answer), IW_ERR_RANGE);
    iwt_assert_logged(&log, "must be at least 1");
    iw_window_model_free(model);
    iw_recording_free(recording);
}

static void a_cpu_without_undisturbed_time_is_an_error(void **state)
{
    struct iwt_log log;
    iw_recording *recording = iwt_recording(1, 1000000000);
    iw_window_model *model = NULL;

    (void)state;
    iwt_log_init(&log);
    iwt_detour(recording, 0, 0, 999500000, 0);
    assert_status(iw_window_model_new(&log.log, recording, &(iw_window_options){.work_ns = 1e6}, &model),
                  IW_ERR_RANGE);
    iwt_assert_logged(&log, "undisturbed time is less than one phase");
    iw_recording_free(recording);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_long_recording_supports_a_fiftieth_of_its_phases_and_a_tail),
        cmocka_unit_test(answers_rise_with_the_ranks_and_lie_in_their_intervals),
        cmocka_unit_test(all_cpus_count),
        cmocka_unit_test(a_short_recording_is_not_extrapolated),
        cmocka_unit_test(the_user_may_say_what_is_rare),
        cmocka_unit_test(few_detours_are_no_tail),
        cmocka_unit_test(a_quiet_recording_has_no_tail_and_loses_nothing),
        cmocka_unit_test(a_rare_component_is_refused_with_the_time_it_needs),
        cmocka_unit_test(a_tail_without_a_mean_is_refused),
        cmocka_unit_test(the_dominant_source_changes_with_the_ranks),
        cmocka_unit_test(parts_of_detours_count_for_their_sources),
        cmocka_unit_test(quanta_are_taken_by_what_they_lost),
        cmocka_unit_test(losses_of_quanta_have_no_source_that_is_rare),
        cmocka_unit_test(bad_questions_are_errors),
        cmocka_unit_test(a_cpu_without_undisturbed_time_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
