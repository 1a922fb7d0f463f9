/* What an operation of a rank costs, from 512 to 65,536 GPUs: the same within a factor of two.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdio.h>

#include "core/base/base.h"
#include "core/base/monotonic.h"
#include "features/training/step_plan.h"
#include "support/support.h"

enum { SIZES = 3, ROUNDS = 3, MOST_ROUNDS = 20 };

static const uint32_t replicas[SIZES] = {4, 128, 512};

static void init(uint32_t dp, iw_training *spec)
{
    static const char *const pairs[][2] = {
        {"model", "llama3-405b"}, {"tp", "8"},           {"pp", "16"}, {"chunks", "8"},
        {"microbatches", "16"},   {"rate", "500TFLOP/s"}};

    iw_training_init(spec);
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        assert_ok(iw_training_set(NULL, spec, pairs[i][0], pairs[i][1]));
    }
    spec->dp = dp;
    assert_ok(iw_training_add_source(NULL, spec, &(iw_training_source_text){.source = "python-gc"}));
    assert_ok(iw_training_add_source(NULL, spec, &(iw_training_source_text){.source = "monitoring"}));
}

/* CPU time of an operation of a rank in `steps` steps. */
static double cost_ns(const struct iwi_train_plan *plan, struct iwi_train_run *run, uint32_t steps)
{
    const double operations = (double)plan->turn_count * iwi_train_width(run) * steps;
    const double begin_s = iwi_thread_cpu_s();

    for (uint32_t i = 0; i < steps; i++) {
        (void)iwi_train_step(run);
    }
    return (iwi_thread_cpu_s() - begin_s) * 1e9 / operations;
}

static double ratio_of(const double *least)
{
    return fmax(fmax(least[0], least[1]), least[2]) / fmin(fmin(least[0], least[1]), least[2]);
}

/* The sizes take turns, so that whatever else the machine does hits all of them; the least of each counts. */
static void an_operation_costs_the_same_on_more_gpus(void **state)
{
    iw_training_opts opts = IW_TRAINING_OPTS_INIT;
    struct iwi_train_jitter *jitters[SIZES];
    struct iwi_train_plan *plans[SIZES];
    struct iwi_train_run *runs[SIZES];
    iw_training specs[SIZES];
    double least[SIZES];

    (void)state;
    for (size_t i = 0; i < SIZES; i++) {
        init(replicas[i], &specs[i]);
        assert_ok(iwi_train_plan_new(NULL, &specs[i], &plans[i]));
        assert_ok(iwi_train_jitter_new(NULL, &specs[i], &opts, &jitters[i]));
        assert_ok(iwi_train_run_new(NULL, &specs[i], plans[i], jitters[i], &runs[i]));
        least[i] = INFINITY;
    }
    for (int round = 0; round < ROUNDS || (ratio_of(least) >= 2.0 && round < MOST_ROUNDS); round++) {
        for (size_t i = 0; i < SIZES; i++) {
            least[i] = fmin(least[i], cost_ns(plans[i], runs[i], replicas[i] < 100 ? 32 : 1));
        }
    }
    for (size_t i = 0; i < SIZES; i++) {
        printf("%6u GPUs: %.1f ns for an operation of a rank\n", replicas[i] * 128u, least[i]);
        iwi_train_run_free(runs[i]);
        iwi_train_jitter_free(jitters[i]);
        iwi_train_plan_free(plans[i]);
        iw_training_release(&specs[i]);
    }
    assert_true(ratio_of(least) < 2.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(an_operation_costs_the_same_on_more_gpus)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
