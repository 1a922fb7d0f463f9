/* Parameters, FLOP, bytes and step times of known models, to the digits that are published or computed.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "features/training/step_plan.h"

#include "support/support.h"

static void set_all(iw_training *spec, const char *const (*pairs)[2])
{
    iw_training_init(spec);
    for (size_t i = 0; pairs[i][0] != NULL; i++) {
        assert_ok(iw_training_set(NULL, spec, pairs[i][0], pairs[i][1]));
    }
}

static double step_s(const iw_training *spec)
{
    iw_training_result *result;
    double seconds;

    assert_ok(iw_training_run(NULL, spec, NULL, &result));
    seconds = (double)result->noiseless_ps * 1e-12;
    iw_training_result_free(result);
    return seconds;
}

static const char *const large[][2] = {{"model", "llama3-405b"},
                                       {"tp", "8"},
                                       {"pp", "16"},
                                       {"dp", "128"},
                                       {"chunks", "8"},
                                       {"microbatches", "16"},
                                       {"step-rate", "400TFLOP/s"},
                                       {"net-bandwidth", "50GB/s"},
                                       {NULL, NULL}};

static void llama_405b(void **state)
{
    iw_training_sizes sizes;
    iw_training spec;

    (void)state;
    set_all(&spec, large);
    assert_ok(iw_training_measure(NULL, &spec, &sizes));
    assert_int_equal(sizes.gpus, 16384);
    assert_int_equal(sizes.parameters, 405853388800);
    assert_int_equal(sizes.tokens, 16777216);
    assert_true(sizes.layer_flop == 6643777536.0);
    assert_true(sizes.token_flop == 841318662144.0);
    assert_true(fabs(sizes.step_flop / 4.2345e19 - 1.0) < 0.00002);
    assert_int_equal(sizes.tp_bytes, 268435456);
    assert_int_equal(sizes.pp_bytes, 33554432);
    assert_true(fabs(sizes.gpu_parameters - 3.1707e9) < 0.00005e9);
    assert_true(fabs(sizes.gradient_bytes - 12.68e9) < 0.005e9);
    assert_true(fabs(sizes.parameter_bytes - 6.34e9) < 0.005e9);
    /* 0.252 and 0.126 s at 50 GB/s, and latencies of 127 steps: 1.7 ms each */
    assert_true(fabs((double)sizes.gradient_ps * 1e-12 - 0.252 - 0.0018) < 0.0005);
    assert_true(fabs((double)sizes.gather_ps * 1e-12 - 0.126 - 0.0018) < 0.0005);
    assert_true(fabs(step_s(&spec) - 6.461) < 0.0005);
    iw_training_release(&spec);
}

static const char *const small[][2] = {{"model", "llama3-8b"},
                                       {"tp", "2"},
                                       {"pp", "4"},
                                       {"dp", "2"},
                                       {"microbatches", "8"},
                                       {"rate", "494.5TFLOP/s"},
                                       {"logits", "no"},
                                       {"launch", "0s"},
                                       {"free-network", "yes"},
                                       {NULL, NULL}};

static void llama_8b(void **state)
{
    iw_training_sizes sizes;
    iw_training spec;

    (void)state;
    set_all(&spec, small);
    assert_ok(iw_training_measure(NULL, &spec, &sizes));
    assert_int_equal(sizes.parameters, 8030261248);
    assert_true(sizes.layer_flop == 503316480.0);
    assert_true(sizes.token_flop == 17156800512.0);
    assert_int_equal(sizes.tp_bytes, 67108864);
    assert_int_equal(sizes.pp_bytes, 33554432);
    assert_true(fabs(step_s(&spec) - 1.100623) < 0.0000005);
    assert_ok(iw_training_set(NULL, &spec, "chunks", "2"));
    assert_true(fabs(step_s(&spec) - 0.950538) < 0.0000005);
    assert_ok(iw_training_set(NULL, &spec, "chunks", "1"));
    assert_ok(iw_training_set(NULL, &spec, "hop", "671.08864us")); /* 33554432 bytes at 50 GB/s */
    assert_true(fabs(step_s(&spec) - 1.111361) < 0.0000005);
    iw_training_release(&spec);
}

/* (8 + 2) gathers and scatters a layer and micro-batch; 2 messages a micro-batch and border; 4 N_r and 2 N_r
 * bytes of gradients and parameters. */
static void volumes(void **state)
{
    iw_training spec;
    iw_training_result *result;
    uint64_t gathers = 0, scatters = 0, messages = 0;
    double gradients = 0, parameters = 0;

    (void)state;
    set_all(&spec, small);
    assert_ok(iw_training_set(NULL, &spec, "free-network", "no"));
    assert_ok(iw_training_run(NULL, &spec, NULL, &result));
    for (uint32_t i = 0; i < result->volume_count; i++) {
        const iw_training_volume *v = &result->volumes[i];

        gathers += strcmp(v->what, "TP all-gather") == 0 ? v->count : 0;
        scatters += strcmp(v->what, "TP reduce-scatter") == 0 ? v->count : 0;
        messages += strcmp(v->what, "PP message") == 0 ? v->count : 0;
        gradients += strcmp(v->what, "DP reduce-scatter") == 0 ? (double)(v->bytes * v->count) : 0;
        parameters += strcmp(v->what, "DP all-gather") == 0 ? (double)(v->bytes * v->count) : 0;
    }
    assert_int_equal(gathers, (4 + 2) * 8 * 8); /* 8 layers a stage, 8 micro-batches */
    assert_int_equal(scatters, 4 * 8 * 8);
    assert_int_equal(messages, 2 * 8);
    /* the first stage: 8 of 32 layers and the embedding, half of each */
    assert_true(fabs(gradients - 4.0 * (8 * 218112000.0 + 128256.0 * 4096.0) / 2.0) < 100);
    assert_true(fabs(parameters - gradients / 2.0) < 100);
    iw_training_result_free(result);
    iw_training_release(&spec);
}

/* Mistral's Mixtral 8x7B has 46.7 billion parameters. On one of 8 ranks that share the experts, and on one of
 * 4 stages, are (1605636096 + 32 * 1409286144 / 8) / 4. */
/* 8 layers of a stage, 8 micro-batches: a ring forward, two backward, whatever the detail and the group.
 * Links that are slow leave some of it exposed. */
static void context_rings_are_counted_once(void **state)
{
    static const char *const pairs[][2] = {{"model", "llama3-8b"},
                                           {"tp", "2"},
                                           {"pp", "4"},
                                           {"dp", "2"},
                                           {"microbatches", "8"},
                                           {"rate", "450TFLOP/s"},
                                           {"node-gpus", "1"},
                                           {"net-bandwidth", "1GB/s"},
                                           {"launch", "0s"},
                                           {NULL, NULL}};
    static const char *const groups[] = {"2", "4"}, *const details[] = {"layer", "chunk"};

    (void)state;
    for (int g = 0; g < 2; g++) {
        iw_time noiseless_ps[2];

        for (int d = 0; d < 2; d++) {
            iw_training_result *result;
            iw_training spec;
            uint64_t rings = 0;

            set_all(&spec, pairs);
            assert_ok(iw_training_set(NULL, &spec, "cp", groups[g]));
            assert_ok(iw_training_set(NULL, &spec, "detail", details[d]));
            assert_ok(iw_training_run(NULL, &spec, NULL, &result));
            for (uint32_t i = 0; i < result->volume_count; i++) {
                rings += strncmp(result->volumes[i].what, "CP ring", 7) == 0 ? result->volumes[i].count : 0;
            }
            assert_int_equal(rings, 8 * 8 * (1 + 2));
            noiseless_ps[d] = result->noiseless_ps;
            iw_training_result_free(result);
            iw_training_release(&spec);
        }
        assert_true(llabs(noiseless_ps[0] - noiseless_ps[1]) < noiseless_ps[0] / 1000);
    }
}

static void experts_are_on_their_own_ranks_only(void **state)
{
    static const char *const pairs[][2] = {
        {"model", "mixtral-8x7b"}, {"ep", "8"},           {"dp", "64"}, {"pp", "4"},
        {"rate", "400TFLOPS"},     {"microbatches", "8"}, {NULL, NULL}};
    iw_training_result *result;
    uint64_t common = 0, experts = 0, exchanges = 0;
    iw_training spec;

    (void)state;
    set_all(&spec, pairs);
    assert_ok(iw_training_run(NULL, &spec, NULL, &result));
    assert_int_equal(result->sizes.parameters, 46702792704);
    assert_true(result->sizes.gpu_parameters == 1810695168.0);
    for (uint32_t i = 0; i < result->volume_count; i++) {
        const iw_training_volume *v = &result->volumes[i];

        common += strcmp(v->what, "DP reduce-scatter") == 0 ? v->bytes * v->count : 0;
        exchanges += strcmp(v->what, "EP all-to-all") == 0 ? v->count : 0;
        if (strcmp(v->what, "expert reduce-scatter") == 0) {
            experts += v->bytes * v->count;
            assert_int_equal(v->group, 8); /* 64 / 8, of which each has the same experts */
            assert_int_equal(v->stride, 8);
        }
    }
    /* 8 layers and the embedding, 4 bytes each */
    assert_int_equal(common, 4 * (8 * 41984000ll + 131072000));
    assert_int_equal(experts, 4 * 8 * 1409286144ll / 8);
    assert_int_equal(exchanges, 4 * 8 * 8);
    iw_training_result_free(result);
    iw_training_release(&spec);
}

static void assert_misfit(const char *const (*pairs)[2], const char *words)
{
    iw_training_sizes sizes;
    struct iwt_log log;
    iw_training spec;

    iwt_log_init(&log);
    set_all(&spec, pairs);
    assert_status(iw_training_measure(&log.log, &spec, &sizes), IW_ERR_RANGE);
    iwt_assert_logged(&log, words);
    iw_training_release(&spec);
}

static void layouts_that_a_model_cannot_have_are_refused(void **state)
{
    static const char *const heads[][2] = {
        {"model", "llama3-8b"}, {"tp", "6"}, {"rate", "1TFLOP/s"}, {NULL, NULL}};
    static const char *const dense[][2] = {
        {"model", "llama3-8b"}, {"ep", "2"}, {"dp", "2"}, {"rate", "1TFLOP/s"}, {NULL, NULL}};
    static const char *const odd[][2] = {
        {"model", "mixtral-8x7b"}, {"ep", "3"}, {"dp", "3"}, {"rate", "1TFLOP/s"}, {NULL, NULL}};
    static const char *const bare[][2] = {{"layers", "4"},      {"hidden", "64"},     {"heads", "4"},
                                          {"experts", "4"},     {"expert-ffn", "64"}, {"sequence", "64"},
                                          {"rate", "1TFLOP/s"}, {NULL, NULL}};

    (void)state;
    assert_misfit(heads, "tensor parallelism 6 does not divide 32 heads");
    assert_misfit(dense, "needs a model with experts");
    assert_misfit(odd, "expert parallelism 3 does not divide 8 experts");
    assert_misfit(bare, "a model with experts needs 'top-k'");
}

static void what_does_not_fit_is_refused(void **state)
{
    static const char *const wrong[][2] = {{"tp", "0"},
                                           {"tp", "many"},
                                           {"schedule", "zigzag"},
                                           {"model", "gpt-9"},
                                           {"rate", "400"},
                                           {"load", "5"},
                                           {"forward", "1ms,,2ms"},
                                           {"overlap-gradients", "maybe"},
                                           {"net-bandwidth", "5"},
                                           {"tensor", "8"}};
    iw_training spec;
    iw_training_sizes sizes;

    (void)state;
    iw_training_init(&spec);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct iwt_log log;

        iwt_log_init(&log);
        assert_true(iw_training_set(&log.log, &spec, wrong[i][0], wrong[i][1]) != IW_OK);
        iwt_assert_logged(&log, wrong[i][0]); /* what is wrong with which key */
    }
    assert_status(iw_training_measure(NULL, &spec, &sizes), IW_ERR_RANGE); /* nothing says what it computes */
    assert_ok(iw_training_set(NULL, &spec, "model", "llama3-8b"));
    assert_status(iw_training_measure(NULL, &spec, &sizes), IW_ERR_RANGE); /* nor how fast */
    assert_ok(iw_training_set(NULL, &spec, "rate", "400 TFLOP/s"));
    assert_ok(iw_training_measure(NULL, &spec, &sizes));
    assert_ok(iw_training_set(NULL, &spec, "pp", "5"));
    assert_status(iw_training_measure(NULL, &spec, &sizes), IW_ERR_RANGE); /* 32 layers in 5 */
    iw_training_release(&spec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(llama_405b),
        cmocka_unit_test(llama_8b),
        cmocka_unit_test(volumes),
        cmocka_unit_test(context_rings_are_counted_once),
        cmocka_unit_test(experts_are_on_their_own_ranks_only),
        cmocka_unit_test(layouts_that_a_model_cannot_have_are_refused),
        cmocka_unit_test(what_does_not_fit_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
