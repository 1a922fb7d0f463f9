/* Long-run shares and means: what the sources take in the end is what they say.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "timeline.h"

#include "core/noise/duration.h"

/* Share of time lost, averaged over ranks that each work `work_ps`. */
static double measured_share(const iw_noise *noise, uint32_t ranks, iw_time work_ps)
{
    double lost = 0, total = 0;

    for (uint32_t rank = 0; rank < ranks; rank++) {
        struct stream s = open_stream(noise, (struct iwi_stream_id){1, 0, rank});
        const iw_time end = stream_finish(&s, 0, work_ps, NULL);

        lost += (double)(end - work_ps);
        total += (double)end;
    }
    return lost / total;
}

static void check_share(const char *spec, double expected, double tolerance)
{
    iw_noise *noise = new_noise();

    add_spec(noise, spec);
    assert_string_equal(iw_noise_source_name(noise, 0), spec);
    assert_true(fabs(iw_noise_source_share(noise, 0) - expected) < 1e-9);
    assert_true(fabs(measured_share(noise, 200, 100 * IW_PS_PER_MS) - expected) < tolerance);
    iw_noise_free(noise);
}

static void periodic_noise_takes_its_share(void **unused)
{
    (void)unused;
    check_share("periodic:1kHz,100us", 0.1, 1e-4);
    check_share("periodic:10Hz,25ms", 0.25, 0.02); /* about one period a rank: as random as their phases */
}

/* 200 ranks x 0.1 s x 1 kHz = 20,000 detours: relative error of about 1.4 / sqrt(20000) = 1 %. */
static void poisson_noise_takes_the_share_of_its_union(void **unused)
{
    (void)unused;
    check_share("poisson:1kHz,fixed:100us", 1 - exp(-0.1), 0.003);
    check_share("poisson:1kHz,exp:100us", 1 - exp(-0.1), 0.003);
    check_share("poisson:1kHz,exp:700us", 1 - exp(-0.7), 0.01);
    check_share("poisson:1kHz,lognormal:50us,0.5", 1 - exp(-0.05 * exp(0.125)), 0.003);
    check_share("poisson:1kHz,pareto:3,100us", 1 - exp(-0.15), 0.005);
}

static void a_trace_takes_its_share(void **unused)
{
    const iw_time start[] = {0, 500000, 700000}, duration[] = {100000, 50000, 1000};
    iw_noise *noise = new_noise();

    (void)unused;
    assert_ok(iw_noise_add_trace(NULL, noise, "t", start, duration, 3, 1000000));
    assert_true(fabs(iw_noise_source_share(noise, 0) - 0.151) < 1e-12);
    assert_true(fabs(measured_share(noise, 10, 300 * IW_PS_PER_MS) - 0.151) < 1e-5);
    iw_noise_free(noise);
}

static void a_pareto_tail_without_mean_takes_everything_in_the_end(void **unused)
{
    iw_noise *noise = new_noise();

    (void)unused;
    add_spec(noise, "poisson:1Hz,pareto:0.9,1us");
    assert_true(iw_noise_source_share(noise, 0) == 1);
    iw_noise_free(noise);
}

static void durations_are_at_most_ten_days(void **unused)
{
    const struct iwi_draw_id draw = {.seed = 1};
    struct iwi_duration duration;
    int capped = 0;

    (void)unused;
    assert_ok(iwi_duration_parse(NULL, "spec", "pareto:0.001,1ms", &duration));
    for (uint64_t i = 0; i < 1000; i++) {
        const iw_time ps = iwi_duration_draw(&duration, draw, i);

        assert_true(ps >= IW_PS_PER_MS && ps <= IW_TIME_INPUT_MAX);
        capped += ps == IW_TIME_INPUT_MAX;
    }
    assert_true(capped > 900); /* the median is 2^1000 ms */
}

static void a_fixed_duration_is_exact(void **unused)
{
    const struct iwi_draw_id draw = {.seed = 1};
    struct iwi_duration duration;

    (void)unused;
    assert_ok(iwi_duration_parse(NULL, "spec", "fixed:200000000000000001ps", &duration)); /* above 2^53 */
    assert_int_equal(iwi_duration_draw(&duration, draw, 1), INT64_C(200000000000000001));
}

enum { PHASES = 20000 };
static const iw_time work = 1000000;

/* Calls the phases of some ranks; checks that finish() knows nothing of them. */
static double mean_extra(const iw_noise *noise, double *square_p)
{
    double sum = 0, square = 0;

    for (uint64_t i = 0; i < PHASES; i++) {
        const struct iwi_stream_id id = {1, i / 1000, (uint32_t)(i / 100 % 10)};
        iw_time next = iwi_noise_begin(noise, id, NULL), by_source[1] = {0};
        const iw_time extra = iwi_noise_phase(noise, id, NULL, &next, i % 100, 500, work,
                                              &(struct iwi_lost){.by_source = by_source});

        assert_int_equal(by_source[0], extra);
        assert_int_equal(iwi_finish(noise, id, NULL, &next, 500, work, NULL), 500 + work);
        sum += (double)extra;
        square += (double)extra * (double)extra;
    }
    *square_p = square / PHASES;
    return sum / PHASES;
}

static void phase_exp_adds_exponential_work_in_proportion(void **unused)
{
    iw_noise *noise = new_noise();
    double square, mean;

    (void)unused;
    add_spec(noise, "phase-exp:20%");
    assert_true(fabs(iw_noise_source_share(noise, 0) - 0.2) < 1e-12);
    mean = mean_extra(noise, &square) / (double)work;
    assert_true(fabs(mean - 0.2) < 5 * 0.2 / sqrt(PHASES));
    /* E[X^2] of an exponential is 2 m^2, with a standard deviation of sqrt(20) m^2 */
    assert_true(fabs(square / (double)work / (double)work / 0.04 - 2) < 5 * sqrt(20.0 / PHASES));
    iw_noise_free(noise);
}

static void phase_pareto_adds_heavy_tailed_work_in_proportion(void **unused)
{
    iw_noise *noise = new_noise();
    double square, mean;

    (void)unused;
    add_spec(noise, "phase-pareto:20%,6");
    assert_true(fabs(iw_noise_source_share(noise, 0) - 0.2) < 1e-12);
    mean = mean_extra(noise, &square) / (double)work;
    /* E[X] = 6/5 and E[X^2] = 6/4 of X with minimum 1: a standard deviation of sqrt(1.5 - 1.44) * 5/6 * 20 %;
     * E[X^4] = 3, so squares have one of sqrt(3 - 2.25) * (5/6 * 20 %)^2 */
    assert_true(fabs(mean - 0.2) < 5 * sqrt(0.06 / PHASES) / 6);
    assert_true(fabs(square / (double)work / (double)work - 1.5 / 36) < 5 * sqrt(0.75 / PHASES) / 36);
    iw_noise_free(noise);
}

static void phase_pareto_never_adds_less_than_its_minimum(void **unused)
{
    iw_noise *noise = new_noise();
    const double least = 0.2 * 0.5 / 1.5 * (double)work; /* SHARE (A-1)/A w */

    (void)unused;
    add_spec(noise, "phase-pareto:20%,1.5");
    for (uint64_t phase = 0; phase < 1000; phase++) {
        const iw_time extra = iwi_noise_phase(noise, (struct iwi_stream_id){1, 0, 0}, NULL,
                                              &(iw_time){IWI_NEVER}, phase, 0, work, NULL);

        assert_true((double)extra > least - 1);
    }
    iw_noise_free(noise);
}

static void bernoulli_adds_its_time_with_its_probability(void **unused)
{
    iw_noise *noise = new_noise();
    double square, mean;

    (void)unused;
    add_spec(noise, "bernoulli:10%,300ps");
    assert_true(isnan(iw_noise_source_share(noise, 0)));
    mean = mean_extra(noise, &square);
    assert_true(fabs(mean / 300 - 0.1) < 5 * sqrt(0.09 / PHASES));
    assert_true(fabs(square - 300 * mean) < 1e-6); /* 0 or 300, nothing else */
    iw_noise_free(noise);
}

static void bernoulli_with_probability_0_or_1_is_certain(void **unused)
{
    iw_noise *never = new_noise(), *always = new_noise();
    double square;

    (void)unused;
    add_spec(never, "bernoulli:0,300ps");
    add_spec(always, "bernoulli:1,300ps");
    assert_true(mean_extra(never, &square) == 0);
    assert_true(mean_extra(always, &square) == 300);
    iw_noise_free(never);
    iw_noise_free(always);
}

static iw_time extra_of(const iw_noise *noise, uint64_t trial, uint32_t rank, uint64_t phase)
{
    iw_time next = IWI_NEVER;

    return iwi_noise_phase(noise, (struct iwi_stream_id){1, trial, rank}, NULL, &next, phase, 0, work, NULL);
}

static void extra_work_is_drawn_per_rank_and_phase_unless_synchronised(void **unused)
{
    iw_noise *noise = new_noise();

    (void)unused;
    add_spec(noise, "phase-exp:100%");
    assert_int_equal(extra_of(noise, 2, 3, 4), extra_of(noise, 2, 3, 4));
    assert_int_not_equal(extra_of(noise, 2, 3, 4), extra_of(noise, 3, 3, 4));
    assert_int_not_equal(extra_of(noise, 2, 3, 4), extra_of(noise, 2, 4, 4));
    assert_int_not_equal(extra_of(noise, 2, 3, 4), extra_of(noise, 2, 3, 5));
    for (int sync = IW_SYNC_START; sync <= IW_SYNC_PHASE; sync++) {
        iw_noise_align(noise, (iw_sync)sync, 0, 1);
        assert_int_equal(extra_of(noise, 2, 3, 4), extra_of(noise, 2, 4, 4));
        assert_int_not_equal(extra_of(noise, 2, 3, 4), extra_of(noise, 2, 3, 5));
    }
    iw_noise_free(noise);
}

static void per_phase_and_wall_clock_sources_keep_their_own_accounts(void **unused)
{
    iw_noise *noise = new_noise();
    const struct iwi_stream_id id = {1, 0, 0};
    iw_time by_source[3] = {0}, extra, end;
    struct stream s;

    (void)unused;
    add_spec(noise, "bernoulli:1,5us");
    add_spec(noise, "periodic:1MHz,100ns");
    add_spec(noise, "phase-exp:50%");
    s = open_stream(noise, id);
    extra =
        iwi_noise_phase(noise, id, s.state, &s.next, 0, 0, work, &(struct iwi_lost){.by_source = by_source});
    assert_int_equal(by_source[0], 5 * IW_PS_PER_US);
    assert_int_equal(by_source[1], 0);
    assert_int_equal(by_source[2], extra - by_source[0]);
    end = stream_finish(&s, 0, work + extra, by_source);
    assert_int_equal(end, work + extra + by_source[1]);
    assert_true(by_source[1] > 0);
    assert_int_equal(by_source[0] + by_source[2], extra);
    iw_noise_free(noise);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(periodic_noise_takes_its_share),
        cmocka_unit_test(poisson_noise_takes_the_share_of_its_union),
        cmocka_unit_test(a_trace_takes_its_share),
        cmocka_unit_test(a_pareto_tail_without_mean_takes_everything_in_the_end),
        cmocka_unit_test(durations_are_at_most_ten_days),
        cmocka_unit_test(a_fixed_duration_is_exact),
        cmocka_unit_test(phase_exp_adds_exponential_work_in_proportion),
        cmocka_unit_test(phase_pareto_adds_heavy_tailed_work_in_proportion),
        cmocka_unit_test(phase_pareto_never_adds_less_than_its_minimum),
        cmocka_unit_test(bernoulli_adds_its_time_with_its_probability),
        cmocka_unit_test(bernoulli_with_probability_0_or_1_is_certain),
        cmocka_unit_test(extra_work_is_drawn_per_rank_and_phase_unless_synchronised),
        cmocka_unit_test(per_phase_and_wall_clock_sources_keep_their_own_accounts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
