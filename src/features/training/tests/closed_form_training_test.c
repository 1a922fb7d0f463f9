/* Steps without jitter take what closed forms say, to the picosecond.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/training/step_plan.h"

#include <math.h>

#include "core/base/base.h"
#include "features/training/trials.h"
#include "support/support.h"

/* Stages of equal, measured times; no host, no network but the hops. */
static void init(iw_training *spec, uint32_t stages, uint32_t microbatches)
{
    iw_training_init(spec);
    spec->pp = stages;
    spec->microbatches = microbatches;
    spec->launch_ps = 0;
    spec->is_net_free = true;
    spec->hop_ps = 0;
}

static void set_times(iw_training *spec, const char *forward, const char *backward)
{
    assert_ok(iw_training_set(NULL, spec, "forward", forward));
    assert_ok(iw_training_set(NULL, spec, "backward", backward));
}

/* Of the first step, and it is the same as the third. */
static iw_time step_of(const iw_training *spec)
{
    struct iwi_train_plan *plan;
    struct iwi_train_run *run;
    iw_time step_ps, steady_ps;

    assert_ok(iwi_training_check(NULL, spec));
    assert_ok(iwi_train_plan_new(NULL, spec, &plan));
    assert_ok(iwi_train_run_new(NULL, spec, plan, NULL, &run));
    step_ps = iwi_train_step(run);
    assert_ok(iwi_noiseless_step(NULL, spec, plan, &steady_ps));
    assert_int_equal(step_ps, steady_ps);
    iwi_train_run_free(run);
    iwi_train_plan_free(plan);
    return step_ps;
}

/* (m + p - 1)(F + B) + 2 (p - 1) x */
static void gpipe(void **state)
{
    const iw_time f = 30011, b = 70001, x = 977;

    (void)state;
    for (uint32_t p = 1; p <= 9; p++) {
        for (uint32_t m = 1; m <= 20; m += 3) {
            iw_training spec;

            init(&spec, p, m);
            set_times(&spec, "30.011ns", "70.001ns");
            spec.schedule = IW_TRAINING_GPIPE;
            spec.hop_ps = x;
            assert_int_equal(step_of(&spec), (m + p - 1) * (f + b) + 2 * (p - 1) * x);
            iw_training_release(&spec);
        }
    }
}

/* (m + p - 1)(F + B) + x (2 (p - 1)(1 + q) + 2 max(0, r - 1)), q = (m - 1) / p, r = (m - 1) mod p */
static void one_forward_one_backward(void **state)
{
    const iw_time f = 30011, b = 70001, x = 977;

    (void)state;
    for (uint32_t p = 1; p <= 12; p++) {
        for (uint32_t m = 1; m <= 40; m++) {
            const iw_time q = (m - 1) / p, r = (m - 1) % p;
            const iw_time hops = p == 1 ? 0 : 2 * (iw_time)(p - 1) * (1 + q) + (r > 1 ? 2 * (r - 1) : 0);
            iw_training spec;

            init(&spec, p, m);
            set_times(&spec, "30.011ns", "70.001ns");
            spec.hop_ps = x;
            assert_int_equal(step_of(&spec), (m + p - 1) * (f + b) + hops * x);
            iw_training_release(&spec);
        }
    }
}

/* (m + (p - 1) / v)(F + B) + 2 (v p - 1) x; F and B here of a chunk */
static void interleaved(void **state)
{
    const iw_time f = 30011, b = 70001, x = 977;

    (void)state;
    for (uint32_t p = 2; p <= 8; p += 2) {
        for (uint32_t v = 2; v <= 4; v++) {
            for (uint32_t m = p; m <= 4 * p; m += p) {
                iw_training spec;
                char forward[32], backward[32];

                init(&spec, p, m);
                snprintf(forward, sizeof forward, "%ups", v * (unsigned)f);
                snprintf(backward, sizeof backward, "%ups", v * (unsigned)b);
                set_times(&spec, forward, backward);
                spec.chunks = v;
                spec.hop_ps = x;
                assert_int_equal(step_of(&spec), (v * m + p - 1) * (f + b) + 2 * (iw_time)(v * p - 1) * x);
                iw_training_release(&spec);
            }
        }
    }
}

/* Sum over the others of F + B, and m times that of the last, which is slowest. */
static void a_slow_last_stage(void **state)
{
    iw_training spec;

    (void)state;
    for (uint32_t m = 1; m <= 20; m++) {
        init(&spec, 4, m);
        set_times(&spec, "11ns, 13ns, 12ns, 29ns", "21ns, 20ns, 25ns, 61ns");
        assert_int_equal(step_of(&spec), (11 + 13 + 12 + 21 + 20 + 25 + m * (29 + 61)) * IW_PS_PER_NS);
        iw_training_release(&spec);
    }
}

/* (p - 1)(F + B) of (m + p - 1)(F + B) + the optimizer, at which no GPU waits. */
static void what_is_waited_for_others(void **state)
{
    const iw_time optimizers[] = {0, 100 * IW_PS_PER_NS};

    (void)state;
    for (size_t i = 0; i < sizeof optimizers / sizeof optimizers[0]; i++) {
        const double step_ns = 11.0 * 30.0 + (double)optimizers[i] / IW_PS_PER_NS;
        struct iwi_train_plan *plan;
        iw_training spec;

        init(&spec, 4, 8);
        set_times(&spec, "10ns", "20ns");
        spec.optimizer_ps = optimizers[i];
        assert_ok(iwi_train_plan_new(NULL, &spec, &plan));
        assert_true(fabs(iwi_plan_bubble(plan, step_of(&spec)) - 3.0 * 30.0 / step_ns) < 1e-9);
        iwi_train_plan_free(plan);
        iw_training_release(&spec);
    }
}

/* Buckets fill in reverse order of layers: end = max over i of t_i + r_i + r_(i+1) + ... */
static void buckets_overlap_the_backward(void **state)
{
    iw_training spec;
    struct iwi_train_plan *plan;
    const struct iwi_train_stage *stage;
    iw_time expected = 0;

    (void)state;
    init(&spec, 1, 2);
    set_times(&spec, "800us", "1600us");
    spec.layers = 8;
    spec.dp = 16;
    spec.is_net_free = false;
    spec.parameters = 480e6; /* 60 million a layer: each of the eight layers is a bucket of its own */
    assert_ok(iwi_train_plan_new(NULL, &spec, &plan));
    stage = &plan->stages[0];
    assert_int_equal(stage->bucket_count, 8);
    for (uint32_t i = 0; i < 8; i++) {
        iw_time left = 0;

        for (uint32_t j = i; j < 8; j++) {
            left += stage->buckets[j].reduce_ps;
        }
        /* two forwards, one backward, and of the second one i + 1 layers of 200 us */
        expected = iwi_max(expected, (2 * 800 + 1600 + 200 * (iw_time)(i + 1)) * IW_PS_PER_US + left);
    }
    assert_true(stage->buckets[0].reduce_ps > 200 * IW_PS_PER_US);
    for (uint32_t i = 0; i < 8; i++) {
        expected += stage->buckets[i].gather_ps;
    }
    iwi_train_plan_free(plan);
    /* 480 MB of gradients in all take 9.4 ms: behind the backward; parameters after the norm */
    {
        struct iwi_train_plan *again;
        iw_time step_ps;

        assert_ok(iwi_train_plan_new(NULL, &spec, &again));
        assert_ok(iwi_noiseless_step(NULL, &spec, again, &step_ps));
        assert_int_equal(step_ps, expected + again->norm_ps);
        iwi_train_plan_free(again);
    }
    iw_training_release(&spec);
}

/* FSDP with m = 1: layer i computes when it is gathered, and two gathered layers are alive. Gathers of g,
 * forwards of f < g: the last forward ends at L g + f; its backwards have both rules too. */
static void fsdp_gathers_ahead(void **state)
{
    iw_training spec;
    struct iwi_train_plan *plan;
    iw_time gathers[64], uses[64], scatters = 0, step_ps;
    uint32_t gather_count = 0, use_count = 0;

    (void)state;
    init(&spec, 1, 1);
    set_times(&spec, "800us", "1600us");
    spec.layers = 8;
    spec.dp = 16;
    spec.is_net_free = false;
    spec.parameters = 480e6;
    spec.sharding = IW_TRAINING_FSDP;
    assert_ok(iwi_train_plan_new(NULL, &spec, &plan));
    for (uint32_t i = 0; i < plan->stages[0].count; i++) {
        const struct iwi_train_op *op = &plan->stages[0].ops[i];

        if (op->lane == IWI_LANE_GATHER) {
            const iw_time before = gather_count > 0 ? gathers[gather_count - 1] : 0;

            gathers[gather_count] =
                iwi_max(before, gather_count >= 2 ? uses[gather_count - 2] : 0) + op->collective_ps;
            gather_count++;
        } else if (op->lane == IWI_LANE_COMPUTE) {
            const iw_time before = use_count > 0 ? uses[use_count - 1] : 0;

            uses[use_count] = iwi_max(before, gathers[use_count]) + op->work_ps;
            use_count++;
        } else {
            scatters = iwi_max(scatters, uses[use_count - 1]) + op->collective_ps;
        }
    }
    assert_int_equal(gather_count, 16);
    assert_int_equal(use_count, 16);
    assert_ok(iwi_noiseless_step(NULL, &spec, plan, &step_ps));
    assert_int_equal(step_ps, iwi_max(uses[15], scatters) + plan->norm_ps);
    iwi_train_plan_free(plan);
    iw_training_release(&spec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gpipe),
        cmocka_unit_test(one_forward_one_backward),
        cmocka_unit_test(interleaved),
        cmocka_unit_test(a_slow_last_stage),
        cmocka_unit_test(what_is_waited_for_others),
        cmocka_unit_test(buckets_overlap_the_backward),
        cmocka_unit_test(fsdp_gathers_ahead),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
