/* Tests of the arithmetic of benchmarks: means, intervals, slowdowns, and which phases are kept.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/internal/bench.h>

#include <math.h>

#include "features/bench/bench_keep.h"
#include "support/made_bench.h"
#include "support/support.h"

static void assert_near(double a, double b, double most)
{
    if (!(fabs(a - b) <= most)) {
        print_message("%.9g is not %.9g\n", a, b);
    }
    assert_true(fabs(a - b) <= most);
}

/* ---- evaluation ---- */

static void means_and_quantiles_of_quiet_phases_are_those_made(void **state)
{
    iw_bench_samples *samples = iwt_made_bench(20, false);
    iw_bench_result *result;

    (void)state;
    assert_ok(iw_bench_evaluate(NULL, samples, 1.0, &result));
    assert_int_equal(result->times[IW_BENCH_QUIET].count, 1000);
    assert_int_equal(result->times[IW_BENCH_NOISY].count, 0);
    assert_near(result->times[IW_BENCH_QUIET].qt.mean_ns.value, 1.01e6, 1e-3);
    assert_near(result->times[IW_BENCH_QUIET].qtbt.mean_ns.value, 1.02e6, 1e-3);
    assert_near(result->times[IW_BENCH_QUIET].qtbt.quantile_ns[0], 1.01e6, 0);
    assert_near(result->times[IW_BENCH_QUIET].qtbt.quantile_ns[IW_BENCH_QUANTILES - 1], 1.03e6, 0);
    assert_near(result->times[IW_BENCH_QUIET].op.mean_ns.value, 1e4, 1e-6);
    assert_near(result->times[IW_BENCH_QUIET].phase_ns.value, 1.02e6, 1e-3);
    assert_near(result->undisturbed_ns, 1e6, 0);
    assert_near(result->own_share, 0.01, 1e-12);
    assert_true(isnan(result->slowdown.value) && isnan(result->pair_slowdown));
    iw_bench_result_free(result);
    iw_bench_samples_free(samples);
}

static void noise_of_a_tenth_is_a_slowdown_of_a_tenth(void **state)
{
    iw_bench_samples *samples = iwt_made_bench(40, true);
    iw_bench_result *result;

    (void)state;
    assert_ok(iw_bench_evaluate(NULL, samples, 1.0, &result));
    assert_int_equal(result->times[IW_BENCH_QUIET].count, 1000);
    assert_int_equal(result->times[IW_BENCH_NOISY].count, 1000);
    assert_near(result->slowdown.value, 0.1, 1e-12);
    assert_near(result->slowdown.low, 0.1, 1e-9); /* all blocks are alike */
    assert_near(result->slowdown.high, 0.1, 1e-9);
    assert_near(result->pair_slowdown, 0.1, 1e-12);
    assert_near(result->injection.injected_share, 0.04, 1e-12);
    iw_bench_result_free(result);
    iw_bench_samples_free(samples);
}

/* A host that is slow in every fourth block, quiet or not: means move, and so do their intervals; the pairs
 * of blocks tell that noise costs between nothing and a lot. */
static void intervals_hold_what_blocks_vary(void **state)
{
    iw_bench_samples *samples = iwt_made_bench(80, true);
    const iw_bench_times *quiet;
    iw_bench_result *result;

    (void)state;
    for (size_t i = 0; i < samples->count; i++) {
        if (samples->block[i] % 8 == 0) { /* blocks 0, 8, ... are quiet ones */
            samples->qtbt_ns[i] += 1e6;
        }
    }
    for (size_t i = 0; i < samples->block_count; i += 8) {
        samples->blocks[i].elapsed_ns += 1e6 * (double)samples->blocks[i].phases;
    }
    assert_ok(iw_bench_evaluate(NULL, samples, 1.0, &result));
    quiet = &result->times[IW_BENCH_QUIET];
    assert_near(quiet->qtbt.mean_ns.value, 1.27e6,
                1e-3); /* 1.02 ms + 1 ms in a quarter of the quiet blocks */
    assert_true(quiet->qtbt.mean_ns.low < 1.2e6 && quiet->qtbt.mean_ns.high > 1.35e6);
    assert_true(result->slowdown.low < result->slowdown.value &&
                result->slowdown.value < result->slowdown.high);
    assert_near(result->slowdown.value, 1.122 / 1.27 - 1.0, 1e-9);
    assert_true(result->slowdown.high - result->slowdown.low > 0.1);
    assert_near(result->pair_slowdown, 0.1, 1e-12); /* three of four pairs are undisturbed */
    iw_bench_result_free(result);
    iw_bench_samples_free(samples);
}

/* A delay that travels: the slowest rank of every phase of a noisy block is another one, which is 0.5 ms
 * late, but each of them only once. */
static void a_delay_that_travels_counts_once(void **state)
{
    iw_bench_samples *samples = iwt_made_bench(40, true);
    iw_bench_result *result;

    (void)state;
    for (size_t i = 0; i < samples->count; i++) {
        samples->qtbt_ns[i] = samples->is_noisy[i] ? 1.5e6 : 1e6;
    }
    for (size_t i = 0; i < samples->block_count; i++) {
        samples->blocks[i].elapsed_ns = 50e6 + (samples->blocks[i].is_noisy ? 0.5e6 : 0.0);
    }
    assert_ok(iw_bench_evaluate(NULL, samples, 1.0, &result));
    assert_near(result->slowdown.value, 0.01, 1e-12);
    assert_near(result->slowdown.high, 0.01, 1e-9);
    assert_near(result->pair_slowdown, 0.01, 1e-12);
    assert_near(result->max_slowdown.value, 0.5, 1e-12);
    assert_near(result->times[IW_BENCH_NOISY].phase_ns.value, 1.01e6, 1e-6);
    iw_bench_result_free(result);
    iw_bench_samples_free(samples);
}

static void too_few_blocks_give_a_slowdown_without_an_interval(void **state)
{
    iw_bench_samples *samples = iwt_made_bench(4, true);
    iw_bench_result *result;

    (void)state;
    assert_ok(iw_bench_evaluate(NULL, samples, 1.0, &result));
    assert_near(result->slowdown.value, 0.1, 1e-12);
    assert_true(isnan(result->slowdown.low) && isnan(result->slowdown.high));
    assert_true(isnan(result->pair_slowdown));
    iw_bench_result_free(result);
    iw_bench_samples_free(samples);
}

/* Phases that were not kept are in the times of blocks. */
static void thinned_phases_leave_the_times_of_blocks_alone(void **state)
{
    iw_bench_samples *samples = iwt_made_bench(40, true);
    iw_bench_result *result;

    (void)state;
    for (size_t i = 0; i < samples->count / 10; i++) { /* one in ten, the one with all the noise */
        samples->block[i] = samples->block[10 * i];
        samples->is_noisy[i] = samples->is_noisy[10 * i];
        samples->qtbt_ns[i] = samples->qtbt_ns[10 * i];
    }
    samples->count /= 10;
    assert_ok(iw_bench_evaluate(NULL, samples, 1.0, &result));
    assert_near(result->slowdown.value, 0.1, 1e-12);
    assert_true(result->max_slowdown.value > 0.5);
    iw_bench_result_free(result);
    iw_bench_samples_free(samples);
}

/* Of few blocks an interval is wider than the bootstrap's: 5 quiet blocks of 1.0, 1.1, ... 1.4 ms a phase
 * have a standard error of 0.0707 ms; Student's interval is 2.776 of them to each side. */
static void the_interval_of_few_blocks_is_as_wide_as_students(void **state)
{
    iw_bench_samples *samples = iwt_made_bench(5, false);
    iw_bench_result *result;
    double half_ns;

    (void)state;
    for (size_t i = 0; i < samples->block_count; i++) {
        samples->blocks[i].elapsed_ns = 50 * (1e6 + 1e5 * (double)i);
    }
    assert_ok(iw_bench_evaluate(NULL, samples, 1.0, &result));
    half_ns = (result->times[IW_BENCH_QUIET].phase_ns.high - result->times[IW_BENCH_QUIET].phase_ns.low) / 2;
    assert_near(half_ns, 2.776 * 70711, 0.12 * 2.776 * 70711);
    iw_bench_result_free(result);
    iw_bench_samples_free(samples);
}

static void few_blocks_have_no_interval(void **state)
{
    iw_bench_samples *samples = iwt_made_bench(4, false);
    iw_bench_result *result;

    (void)state;
    assert_ok(iw_bench_evaluate(NULL, samples, 1.0, &result));
    assert_true(isnan(result->times[IW_BENCH_QUIET].qtbt.mean_ns.low));
    assert_near(result->times[IW_BENCH_QUIET].qtbt.mean_ns.value, 1.02e6, 1e-3);
    iw_bench_result_free(result);
    iw_bench_samples_free(samples);
}

static void scaled_times_are_scaled_back_and_the_slowdown_stays(void **state)
{
    iw_bench_samples *samples = iwt_made_bench(40, true);
    iw_bench_result *result;

    (void)state;
    assert_ok(iw_bench_evaluate(NULL, samples, 4.0, &result));
    assert_near(result->quantum_ns, 2.5e5, 0);
    assert_near(result->times[IW_BENCH_QUIET].qtbt.mean_ns.value, 1.02e6 / 4, 1e-3);
    assert_near(result->slowdown.value, 0.1, 1e-12);
    iw_bench_result_free(result);
    iw_bench_samples_free(samples);
}

static void bins_hold_every_phase_once(void **state)
{
    iw_bench_samples *samples = iwt_made_bench(40, true);
    uint64_t count[IW_BENCH_KINDS] = {0, 0};
    iw_bench_result *result;

    (void)state;
    assert_ok(iw_bench_evaluate(NULL, samples, 1.0, &result));
    for (size_t b = 0; b < IW_BENCH_BINS; b++) {
        assert_true(result->bin_begin_ns[b] < result->bin_begin_ns[b + 1]);
        count[0] += result->times[0].bins[b];
        count[1] += result->times[1].bins[b];
    }
    assert_int_equal(count[0], 1000);
    assert_int_equal(count[1], 1000);
    assert_int_equal(result->times[IW_BENCH_NOISY].bins[IW_BENCH_BINS - 1],
                     100); /* the longest, one in ten */
    iw_bench_result_free(result);
    iw_bench_samples_free(samples);
}

static void no_phase_is_an_error(void **state)
{
    iw_bench_samples *samples = iwt_made_bench(1, false);
    iw_bench_result *result = NULL;

    (void)state;
    samples->count = 0;
    assert_int_equal(iw_bench_evaluate(NULL, samples, 1.0, &result), IW_ERR_RANGE);
    assert_null(result);
    iw_bench_samples_free(samples);
}

/* ---- comparison ---- */

/* 1.02 ms of 0.85 ms are 20 % more; relative errors of 0 and 1 %: half of the interval is 1.2 %. */
static void a_baseline_gives_a_slowdown_with_its_interval(void **state)
{
    const iw_bench_baseline baseline = {
        .path = "quiet.json", .qtbt_ns = {8.5e5, 8.415e5, 8.585e5}, .quantum_ns = 1e6, .ranks = 2};
    iw_bench_samples *samples = iwt_made_bench(20, false);
    iw_bench_result *result;

    (void)state;
    assert_ok(iw_bench_evaluate(NULL, samples, 1.0, &result));
    iw_bench_set_baseline(result, &baseline);
    assert_near(result->baseline.slowdown.value, 0.2, 1e-9);
    assert_near(result->baseline.slowdown.low, 0.188, 1e-6);
    assert_near(result->baseline.slowdown.high, 0.212, 1e-6);
    iw_bench_result_free(result);
    iw_bench_samples_free(samples);
}

/* `half`: of the measured interval. */
static iw_bench_agreement agreement_with(double simulated, double half)
{
    const iw_bench_simulated summary = {
        .trials = 10, .phases = 50, .slowdown = {simulated, simulated, simulated}};
    iw_bench_samples *samples = iwt_made_bench(40, true);
    iw_bench_result *result;
    iw_bench_agreement agreement;

    assert_ok(iw_bench_evaluate(NULL, samples, 1.0, &result)); /* 10 % */
    result->slowdown.low = result->slowdown.value - half;
    result->slowdown.high = result->slowdown.value + half;
    iw_bench_set_simulated(result, &summary);
    agreement = result->simulated.agreement;
    iw_bench_result_free(result);
    iw_bench_samples_free(samples);
    return agreement;
}

static void agreement_is_two_points_or_a_fifth(void **state)
{
    (void)state;
    assert_int_equal(agreement_with(0.1, 0.0), IW_BENCH_AGREES);
    assert_int_equal(agreement_with(0.0801, 0.0), IW_BENCH_AGREES); /* two points */
    assert_int_equal(agreement_with(0.0799, 0.0), IW_BENCH_DIFFERS);
    assert_int_equal(agreement_with(0.1249, 0.0), IW_BENCH_AGREES); /* a fifth of what is simulated */
    assert_int_equal(agreement_with(0.1251, 0.0), IW_BENCH_DIFFERS);
}

static void a_wide_interval_tells_nothing_unless_it_is_far_off(void **state)
{
    (void)state;
    assert_int_equal(agreement_with(0.1, 0.019), IW_BENCH_AGREES);
    assert_int_equal(agreement_with(0.1, 0.021), IW_BENCH_UNCLEAR);
    assert_int_equal(agreement_with(0.1, NAN), IW_BENCH_UNCLEAR);
    assert_int_equal(agreement_with(0.05, 0.025), IW_BENCH_DIFFERS); /* at least 2.5 points apart */
}

/* Measured are 10 %; `half` is of its interval, `half_simulated` of the other. */
static bool beyond_chance(double half, double simulated, double half_simulated)
{
    const iw_bench_simulated summary = {
        .trials = 10,
        .phases = 50,
        .slowdown = {simulated, simulated - half_simulated, simulated + half_simulated}};
    iw_bench_samples *samples = iwt_made_bench(40, true);
    iw_bench_result *result;
    bool is_beyond;

    assert_ok(iw_bench_evaluate(NULL, samples, 1.0, &result));
    result->slowdown.low = result->slowdown.value - half;
    result->slowdown.high = result->slowdown.value + half;
    iw_bench_set_simulated(result, &summary);
    is_beyond = result->simulated.is_beyond_chance;
    iw_bench_result_free(result);
    iw_bench_samples_free(samples);
    return is_beyond;
}

/* 3 and 4 thousandths together are 5. */
static void what_agrees_may_be_further_apart_than_chance_explains(void **state)
{
    (void)state;
    assert_int_equal(agreement_with(0.094, 0.003), IW_BENCH_AGREES);
    assert_true(beyond_chance(0.003, 0.094, 0.004));
    assert_true(beyond_chance(0.003, 0.106, 0.004));
    assert_false(beyond_chance(0.003, 0.096, 0.004));
    assert_false(beyond_chance(0.003, 0.104, 0.004));
    assert_false(beyond_chance(NAN, 0.5, 0.004));
}

/* ---- what is kept ---- */

static void a_few_phases_are_all_kept(void **state)
{
    struct iwi_bench_keep keep;

    (void)state;
    iwi_bench_keep_init(&keep, 1000);
    for (uint32_t i = 0; i < 100; i++) {
        if (i % 10 == 0) {
            assert_ok(iwi_bench_keep_room(NULL, &keep, 10));
        }
        iwi_bench_keep_add(&keep, i / 10, i % 2 == 1, i, 2.0 * i);
    }
    assert_int_equal(keep.count, 100);
    assert_int_equal(keep.stride, 1);
    assert_near(keep.bt_ns[99], 198.0, 0);
    assert_int_equal(keep.block[99], 9);
    assert_true(keep.is_noisy[99]);
    iwi_bench_keep_release(&keep);
}

static void of_many_every_second_fourth_or_eighth_is_kept(void **state)
{
    struct iwi_bench_keep keep;

    (void)state;
    iwi_bench_keep_init(&keep, 64);
    for (uint32_t block = 0; block < 30; block++) {
        assert_ok(iwi_bench_keep_room(NULL, &keep, 10));
        for (uint32_t i = 0; i < 10; i++) {
            iwi_bench_keep_add(&keep, block, false, 10.0 * block + i, 0.0);
        }
    }
    assert_int_equal(keep.seen, 300);
    assert_int_equal(keep.block_count, 30);
    assert_int_equal(keep.blocks[29].phases, 10);
    assert_near(keep.blocks[29].qt_ns, 2945.0, 0); /* 290 + ... + 299, kept or not */
    assert_true(keep.count <= 64 && keep.count > 20);
    assert_int_equal(keep.stride, 8);
    for (size_t i = 0; i < keep.count; i++) {
        assert_near(keep.qt_ns[i], (double)(i * keep.stride), 0);
        assert_int_equal(keep.block[i], i * keep.stride / 10);
    }
    iwi_bench_keep_release(&keep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(means_and_quantiles_of_quiet_phases_are_those_made),
        cmocka_unit_test(noise_of_a_tenth_is_a_slowdown_of_a_tenth),
        cmocka_unit_test(intervals_hold_what_blocks_vary),
        cmocka_unit_test(a_delay_that_travels_counts_once),
        cmocka_unit_test(too_few_blocks_give_a_slowdown_without_an_interval),
        cmocka_unit_test(thinned_phases_leave_the_times_of_blocks_alone),
        cmocka_unit_test(the_interval_of_few_blocks_is_as_wide_as_students),
        cmocka_unit_test(few_blocks_have_no_interval),
        cmocka_unit_test(scaled_times_are_scaled_back_and_the_slowdown_stays),
        cmocka_unit_test(bins_hold_every_phase_once),
        cmocka_unit_test(no_phase_is_an_error),
        cmocka_unit_test(a_baseline_gives_a_slowdown_with_its_interval),
        cmocka_unit_test(agreement_is_two_points_or_a_fifth),
        cmocka_unit_test(what_agrees_may_be_further_apart_than_chance_explains),
        cmocka_unit_test(a_wide_interval_tells_nothing_unless_it_is_far_off),
        cmocka_unit_test(a_few_phases_are_all_kept),
        cmocka_unit_test(of_many_every_second_fourth_or_eighth_is_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
