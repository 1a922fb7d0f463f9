/* The bill of training: variants against closed forms, and how much of a pause is absorbed where.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "features/training/step_plan.h"
#include "support/support.h"

static void set(iw_training *spec, const char *key, const char *text)
{
    assert_ok(iw_training_set(NULL, spec, key, text));
}

static void add_noise(iw_training *spec, iw_training_source_text text)
{
    assert_ok(iw_training_add_source(NULL, spec, &text));
}

/* F = 10 ms and B = 20 ms on each stage, messages and collectives free, launches of 1 us. */
static void init(iw_training *spec, const char *pp, const char *microbatches)
{
    iw_training_init(spec);
    set(spec, "forward", "10ms");
    set(spec, "backward", "20ms");
    set(spec, "free-network", "yes");
    set(spec, "hop", "0s");
    set(spec, "launch", "1us");
    set(spec, "pp", pp);
    set(spec, "microbatches", microbatches);
}

static iw_training_result *run(const iw_training *spec, const char *const *tries, uint32_t try_count)
{
    iw_training_opts opts = IW_TRAINING_OPTS_INIT;
    iw_training_result *result;

    opts.steps = 10;
    opts.trials = 6;
    opts.threads = 1;
    opts.tries = tries;
    opts.try_count = try_count;
    assert_ok(iw_training_run(NULL, spec, &opts, &result));
    return result;
}

static const iw_training_change *row_of(const iw_training_result *result, const char *what)
{
    for (uint32_t i = 0; i < result->change_count; i++) {
        if (strncmp(result->changes[i].what, what, strlen(what)) == 0) {
            return &result->changes[i];
        }
    }
    fail_msg("there is no '%s'", what);
    return NULL;
}

static void assert_close(double value, double expected, double tolerance)
{
    if (fabs(value - expected) > tolerance) {
        fail_msg("%.9g is not %.9g", value, expected);
    }
}

/* Of four replicas one takes 1.5 times as long: 15 of 45 ms are saved. */
static void a_replaced_gpu_is_as_fast_as_the_others(void **state)
{
    iw_training_result *result;
    iw_training spec;

    (void)state;
    init(&spec, "1", "1");
    spec.dp = 4;
    set(&spec, "slow", "slow:1,1.5");
    result = run(&spec, NULL, 0);
    assert_close(row_of(result, "1 slow GPU replaced")->saved_ns.value, 15e6, 1);
    assert_close(row_of(result, "1 slow GPU replaced")->loss, 0, 1e-9);
    iw_training_result_free(result);
    iw_training_release(&spec);
}

/* What rounds to nothing is nothing, and what does not is shown. */
static void hours_are_shown_from_half_a_tenth_on(void **state)
{
    static const struct {
        double hours;
        const char *end_of_row;
    } cases[] = {{0.04, " 0.0\n"}, {0.07, " 0.1\n"}, {-0.04, " 0.0\n"}, {-0.07, " -0.1\n"}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        iw_training_result *result;
        char *text = NULL, *row;
        iw_training spec;
        size_t size;
        FILE *out = open_memstream(&text, &size);

        init(&spec, "1", "1");
        spec.dp = 4;
        set(&spec, "slow", "slow:1,1.5");
        result = run(&spec, NULL, 0);
        ((iw_training_change *)row_of(result, "1 slow GPU replaced"))->gpu_hours = cases[i].hours;
        assert_ok(iw_doc_write(NULL, iw_training_doc(result), IW_DOC_TEXT, NULL, out));
        assert_int_equal(fclose(out), 0);
        row = strstr(text, "\n1 slow GPU replaced");
        assert_non_null(row);
        row[strcspn(row + 1, "\n") + 2] = '\0';
        if (strstr(row, cases[i].end_of_row) == NULL) {
            fail_msg("%g hours are%s", cases[i].hours, row);
        }
        free(text);
        iw_training_result_free(result);
        iw_training_release(&spec);
    }
}

/* The last of two stages has twice the work: (F + B) of the first and 4 (F + B) of the last, 30 + 240 ms. A
 * GPU that takes 1.5 times as long adds 15 ms in the first stage, 120 ms in the last. */
static void a_slow_gpu_costs_what_its_stage_makes_of_it(void **state)
{
    iw_training_result *result;
    iw_training spec;

    (void)state;
    init(&spec, "2", "4");
    set(&spec, "forward", "10ms,20ms");
    set(&spec, "backward", "20ms,40ms");
    spec.dp = 4;
    set(&spec, "slow", "slow:1,1.5");
    result = run(&spec, NULL, 0);
    assert_close(row_of(result, "1 slow GPU replaced")->saved_ns.value, (15e6 + 120e6) / 2, 1e5);
    for (uint32_t t = 0; t < 6; t += 2) {
        const double one = result->trial_ns[t], other = result->trial_ns[t + 1];

        assert_close(fabs(one - other), 120e6 - 15e6, 1e5);
    }
    assert_true(result->step_ns.low < result->step_ns.value - 10e6);
    assert_true(result->step_ns.high > result->step_ns.value + 10e6);
    iw_training_result_free(result);
    iw_training_release(&spec);
}

/* (m + p - 1)(F + B) of m micro-batches; twice as many are twice the batch, so half of (2m + p - 1)(F + B). A
 * pause in each usual step is two in each of the longer ones. */
static void more_microbatches_wait_less(void **state)
{
    const double each_ns = 30e6, launches_ns = 1e6;
    iw_training_result *result;
    const iw_training_change *row;
    iw_training spec;

    (void)state;
    init(&spec, "4", "8");
    add_noise(&spec, (iw_training_source_text){.source = "bernoulli:1,100ms", .scope = "all"});
    result = run(&spec, NULL, 0);
    row = row_of(result, "16 micro-batches");
    assert_close((double)result->noiseless_ps / 1e3, 11 * each_ns, launches_ns);
    assert_close(row->noiseless_ns, 19 * each_ns / 2, launches_ns);
    assert_close(row->bubble, 3.0 / 19, 0.01);
    assert_close(row->saved_ns.value, (11 - 9.5) * each_ns, launches_ns);
    assert_close(result->step_ns.value, 11 * each_ns + 100e6, launches_ns);
    assert_close(row->loss, 100e6 / (9.5 * each_ns), 0.01);
    iw_training_result_free(result);
    iw_training_release(&spec);
}

/* A model with an even micro-batch size has more of half the size: the batch stays. */
static void microbatches_are_halved_where_they_can_be(void **state)
{
    static const char *const same[] = {"microbatches=16,microbatch-size=1"};
    iw_training_result *result;
    iw_training spec;

    (void)state;
    iw_training_init(&spec);
    set(&spec, "model", "llama3-8b");
    set(&spec, "rate", "400TFLOP/s");
    set(&spec, "pp", "4");
    set(&spec, "microbatches", "8");
    set(&spec, "microbatch-size", "2");
    add_noise(&spec, (iw_training_source_text){.source = "python-gc"});
    result = run(&spec, same, 1);
    assert_close(row_of(result, "16 micro-batches of half the size")->saved_ns.value,
                 row_of(result, same[0])->saved_ns.value, 1e-6);
    iw_training_result_free(result);
    iw_training_release(&spec);
}

/* Launches of 300 us for kernels of 200 us: the host sets the pace, a graph lets the device do so. */
static void graphs_free_a_slow_host(void **state)
{
    iw_training_result *result;
    iw_training spec;

    (void)state;
    init(&spec, "1", "1");
    spec.layers = 50;
    spec.launches = 1;
    set(&spec, "launch", "300us");
    add_noise(&spec, (iw_training_source_text){.source = "none"});
    result = run(&spec, NULL, 0);
    /* F: 50 launches; B: 100, of kernels of 200 us; as graphs one launch each and the update */
    assert_close((double)result->noiseless_ps / 1e3, 151 * 300e3 + 200e3, 300e3);
    assert_close(row_of(result, "CUDA graphs")->noiseless_ns, 30e6 + 2 * 300e3, 300e3);
    iw_training_result_free(result);
    iw_training_release(&spec);
}

/* ---- what is absorbed ---- */

static void assert_sums_up(const iw_training_absorption *row)
{
    assert_close(row->ahead_ns.value + row->slack_ns.value + row->reaches_ns.value, row->longest_ns.value,
                 1e-3 * row->longest_ns.value + 1);
}

/* At the beginning of a step nothing is ahead: all of a pause reaches the step. */
static void a_pause_at_the_beginning_reaches_the_step(void **state)
{
    iw_training_result *result;
    iw_training spec;

    (void)state;
    init(&spec, "1", "1");
    spec.dp = 4;
    add_noise(&spec, (iw_training_source_text){.source = "bernoulli:1,7ms"});
    result = run(&spec, NULL, 0);
    assert_int_equal(result->absorption_count, 1);
    assert_close(result->absorption[0].taken_ns, 7e6, 1);
    assert_close(result->absorption[0].longest_ns.value, 7e6, 1);
    assert_close(result->absorption[0].ahead_ns.value, 0, 10e3);
    assert_close(result->absorption[0].share, 1, 2e-3);
    assert_sums_up(&result->absorption[0]);
    iw_training_result_free(result);
    iw_training_release(&spec);
}

/* Batches of 5 ms that take 7 ms longer are made in steps of 30 ms: nothing reaches those. The first two are
 * there from the beginning, so that only 9 of 10 steps that count make one. */
static void batches_that_are_ahead_absorb(void **state)
{
    iw_training_result *result;
    iw_training spec;

    (void)state;
    init(&spec, "1", "1");
    spec.dp = 4;
    set(&spec, "load", "5ms");
    add_noise(&spec, (iw_training_source_text){.source = "bernoulli:1,7ms", .where = "loader"});
    result = run(&spec, NULL, 0);
    assert_close(result->absorption[0].reaches_ns.value, 0, 1);
    assert_close(result->absorption[0].ahead_ns.value / result->absorption[0].longest_ns.value, 10.0 / 9.0,
                 0.01);
    iw_training_result_free(result);
    iw_training_release(&spec);
}

/* The same pauses on host and GPU: the host is ahead, the GPU never. Of two stages one waits while the other
 * one works. */
static void who_is_hit_decides_what_is_absorbed(void **state)
{
    iw_training_result *result;
    iw_training spec;

    (void)state;
    init(&spec, "2", "4");
    spec.layers = 20;
    set(&spec, "p2p-sync", "no");
    add_noise(&spec, (iw_training_source_text){.source = "poisson:20Hz,exp:2ms", .where = "host"});
    add_noise(&spec, (iw_training_source_text){.source = "poisson:20Hz,exp:2ms", .where = "device"});
    result = run(&spec, NULL, 0);
    assert_sums_up(&result->absorption[0]);
    assert_sums_up(&result->absorption[1]);
    assert_true(result->absorption[0].share < 0.3);
    assert_true(result->absorption[0].ahead_ns.value > result->absorption[0].reaches_ns.value);
    assert_true(result->absorption[1].share > 0.5);
    assert_true(result->absorption[1].ahead_ns.value == 0);
    iw_training_result_free(result);
    iw_training_release(&spec);
}

/* Pinned loaders lose no time to others, and take none from hosts; a batch that is longer stays so. */
static void pinned_loaders_are_left_alone(void **state)
{
    iw_training_result *result;
    const iw_training_change *pinned;
    iw_training spec;

    (void)state;
    init(&spec, "1", "1");
    add_noise(&spec, (iw_training_source_text){.source = "loader-workers"});
    add_noise(&spec, (iw_training_source_text){.source = "bernoulli:1,500ms", .where = "loader"});
    result = run(&spec, NULL, 0);
    pinned = row_of(result, "loaders pinned");
    assert_close(pinned->saved_ns.value, row_of(result, "without loader-workers")->saved_ns.value, 1e-9);
    assert_true(row_of(result, "without loader bernoulli")->saved_ns.value > 400e6);
    /* each batch takes 500 ms longer, whatever is ahead */
    assert_close(row_of(result, "4 batches prefetched")->saved_ns.value, 0, 120e6);
    iw_training_result_free(result);
    iw_training_release(&spec);
}

/* 999 of 1,000 ms are half as fast: 30 s of work take 30 / (0.001 + 0.999 / 2), give or take a period. */
static void what_is_slower_for_a_time_stretches_work(void **state)
{
    iw_training_result *result;
    iw_training spec;

    (void)state;
    init(&spec, "1", "1");
    set(&spec, "forward", "10s");
    set(&spec, "backward", "20s");
    add_noise(&spec, (iw_training_source_text){
                         .source = "periodic:1Hz,999ms", .where = "device", .scope = "all", .factor = "2"});
    result = run(&spec, NULL, 0);
    assert_close(result->step_ns.value, 30e9 / (0.001 + 0.999 / 2), 0.2e9);
    assert_close(result->absorption[0].share, 1, 0.01);
    iw_training_result_free(result);
    iw_training_release(&spec);
}

/* A time that lasts longer than steps counts in each of them: half of it is lost at half the speed. */
static void what_lasts_longer_than_a_step_is_taken_from_all(void **state)
{
    iw_training_result *result;
    iw_training spec;

    (void)state;
    init(&spec, "1", "1");
    add_noise(&spec,
              (iw_training_source_text){
                  .source = "periodic:0.001Hz,999.99s", .where = "device", .scope = "all", .factor = "2"});
    result = run(&spec, NULL, 0);
    assert_close(result->step_ns.value, 60e6, 1e6);
    assert_close(result->absorption[0].longest_ns.value, 30e6, 1e6);
    assert_close(result->absorption[0].share, 1, 0.02);
    iw_training_result_free(result);
    iw_training_release(&spec);
}

/* ---- mistakes ---- */

static void variants_that_make_no_sense_are_refused(void **state)
{
    static const struct {
        const char *text;
        iw_status status;
    } cases[] = {{"dp=2", IW_ERR_RANGE},
                 {"speed=2", IW_ERR_USAGE},
                 {"dp", IW_ERR_USAGE},
                 {"forward=1ms,2ms,3ms", IW_ERR_RANGE}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        iw_training_opts opts = IW_TRAINING_OPTS_INIT;
        iw_training_result *result;
        iw_training spec;

        init(&spec, "2", "4");
        opts.tries = &cases[i].text;
        opts.try_count = 1;
        assert_int_equal(iw_training_run(NULL, &spec, &opts, &result), cases[i].status);
        iw_training_release(&spec);
    }
}

/* Without jitter, a variant is what its noiseless step says. */
/* Few rare pauses: the interval of the mean step does not go below a step without jitter. */
static void jitter_never_saves_time(void **state)
{
    static const char *const sources[] = {"bernoulli:0.001,1s", "bernoulli:0.00377,1s", "bernoulli:0.005,1s"};

    (void)state;
    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++) {
        iw_training_result *result;
        iw_training spec;

        init(&spec, "1", "1");
        set(&spec, "dp", "64");
        add_noise(&spec, (iw_training_source_text){.source = sources[i]});
        result = run(&spec, NULL, 0);
        assert_true(result->step_ns.value > (double)result->noiseless_ps / 1e3);
        assert_true(result->step_ns.low >= (double)result->noiseless_ps / 1e3);
        iw_training_result_free(result);
        iw_training_release(&spec);
    }
}

static void tries_need_no_jitter(void **state)
{
    static const char *const tries[] = {"forward=5ms,10ms,backward=20ms"};
    iw_training_result *result;
    iw_training spec;

    (void)state;
    init(&spec, "2", "4");
    set(&spec, "launch", "0s");
    result = run(&spec, tries, 1);
    assert_int_equal(result->change_count, 1);
    /* 5 (F + B) = 150 ms; first stage 25 ms, then 4 times 30 ms of the last */
    assert_close(result->changes[0].saved_ns.value, 5e6, 0);
    assert_close(result->changes[0].saved_ns.low, 5e6, 0);
    iw_training_result_free(result);
    iw_training_release(&spec);
}

static void jitter_that_makes_no_sense_is_refused(void **state)
{
    static const iw_training_source_text cases[] = {
        {.source = "periodic:1Hz,1ms", .factor = "0.5"},
        {.source = "periodic:1Hz,1ms", .factor = "fast"},
        {.source = "periodic:1Hz,1ms", .from = "cron"},
    };
    iw_training spec;

    (void)state;
    iw_training_init(&spec);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(iw_training_add_source(NULL, &spec, &cases[i]), IW_ERR_FORMAT);
    }
    add_noise(&spec, (iw_training_source_text){.source = "lengths"});
    assert_int_equal(spec.source_count, 0);
    assert_true(spec.forward_sigma == 0.22 && spec.backward_sigma == 0.33);
    iw_training_release(&spec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_replaced_gpu_is_as_fast_as_the_others),
        cmocka_unit_test(hours_are_shown_from_half_a_tenth_on),
        cmocka_unit_test(a_slow_gpu_costs_what_its_stage_makes_of_it),
        cmocka_unit_test(more_microbatches_wait_less),
        cmocka_unit_test(microbatches_are_halved_where_they_can_be),
        cmocka_unit_test(graphs_free_a_slow_host),
        cmocka_unit_test(a_pause_at_the_beginning_reaches_the_step),
        cmocka_unit_test(batches_that_are_ahead_absorb),
        cmocka_unit_test(who_is_hit_decides_what_is_absorbed),
        cmocka_unit_test(pinned_loaders_are_left_alone),
        cmocka_unit_test(what_is_slower_for_a_time_stretches_work),
        cmocka_unit_test(what_lasts_longer_than_a_step_is_taken_from_all),
        cmocka_unit_test(variants_that_make_no_sense_are_refused),
        cmocka_unit_test(jitter_never_saves_time),
        cmocka_unit_test(tries_need_no_jitter),
        cmocka_unit_test(jitter_that_makes_no_sense_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
