/* Workload files of SimAI: what they say becomes a training program, to the picosecond.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/training/training_yaml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "support/support.h"

enum { TEXT_SIZE = 1 << 16, LAYER_ROWS = 3 };

/* AICB's form: two rows that are done once, `ga` micro-batches of an embedding and layers, and an optimizer.
 * Times are multiples of 5040 ns, so that any number of chunks up to 10 divides them. */
static size_t make_file(char text[TEXT_SIZE], unsigned pp, unsigned vpp, unsigned ga, unsigned layers)
{
    const unsigned rows = 3 + ga * (1 + LAYER_ROWS * layers);
    size_t used = (size_t)snprintf(text, TEXT_SIZE,
                                   "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 4 pp: %u "
                                   "vpp: %u ga: %u all_gpus: %u checkpoints: 0 checkpoint_initiates: 0 "
                                   "pp_comm 50331648\n%u\n",
                                   pp, vpp, ga, pp * 2 * 8, rows);

    used += (size_t)snprintf(
        text + used, TEXT_SIZE - used,
        "grad_gather\t-1\t1\tNONE\t0\t1\tNONE\t0\t1\tALLGATHER\t1000000\t100\n"
        "grad_param_comm\t-1\t1\tNONE\t0\t7\tNONE\t0\t1\tREDUCESCATTER_DP_EP\t2000000\t100\n");
    for (unsigned m = 0; m < ga; m++) {
        used += (size_t)snprintf(text + used, TEXT_SIZE - used,
                                 "embedding_layer -1 5040 ALLREDUCE 4096 0 NONE 0 5040 NONE 0 100\n");
        for (unsigned i = 0; i < layers; i++) {
            used += (size_t)snprintf(
                text + used, TEXT_SIZE - used,
                "attention_column\t-1\t10080\tALLGATHER\t8192\t10080\tREDUCESCATTER\t0\t5040\tNONE\t0\t100\n"
                "mlp_moelayer\t-1\t0\tALLTOALL_EP\t65536\t0\tALLTOALL_EP\t65536\t0\tNONE\t0\t100\n"
                "mlp_row\t-1\t20160\tREDUCESCATTER\t8192\t20160\tALLGATHER\t8192\t10080\tNONE\t0\t100\n");
        }
    }
    used += (size_t)snprintf(text + used, TEXT_SIZE - used,
                             "optimizer1\t-1\t0\tALLREDUCE\t4\t0\tNONE\t0\t0\tNONE\t0\t100\n");
    return used;
}

static iw_training_result *run(iw_training *spec)
{
    iw_training_result *result;

    assert_ok(iw_training_run(NULL, spec, NULL, &result));
    return result;
}

static void the_layout_is_that_of_the_first_line(void **state)
{
    char *text = malloc(TEXT_SIZE);
    const size_t size = make_file(text, 4, 2, 8, 3);
    iw_training spec;

    (void)state;
    assert_true(iwi_is_simai(text, size));
    assert_false(iwi_is_simai("model: llama3-8b\n", 17));
    assert_false(iwi_is_simai("", 0));
    iw_training_init(&spec);
    assert_ok(iwi_simai_read_memory(NULL, "dir/gpt.txt", text, size, &spec));
    assert_string_equal(spec.name, "gpt.txt");
    assert_int_equal(spec.tp, 2);
    assert_int_equal(spec.ep, 4);
    assert_int_equal(spec.pp, 4);
    assert_int_equal(spec.chunks, 2);
    assert_int_equal(spec.microbatches, 8);
    assert_int_equal(spec.dp, 8);
    assert_int_equal(spec.message_bytes, 50331648);
    assert_int_equal(spec.once_count, 3);
    assert_int_equal(spec.rows_each, 1 + LAYER_ROWS * 3);
    assert_int_equal(spec.optimizer_ps, 12 * IW_PS_PER_NS);
    iw_training_release(&spec);
    free(text);
}

static void groups_follow_pass_and_suffix(void **state)
{
    char *text = malloc(TEXT_SIZE);
    const size_t size = make_file(text, 1, 1, 1, 1);
    iw_training spec;

    (void)state;
    iw_training_init(&spec);
    assert_ok(iwi_simai_read_memory(NULL, "a.txt", text, size, &spec));
    assert_int_equal(spec.once_rows[0].calls[IW_TRAINING_WEIGHT_GRADIENT].span, IW_TRAINING_OVER_DP);
    assert_int_equal(spec.once_rows[0].calls[IW_TRAINING_WEIGHT_GRADIENT].kind, IW_TRAINING_ALL_GATHER);
    assert_int_equal(spec.once_rows[1].calls[IW_TRAINING_WEIGHT_GRADIENT].span, IW_TRAINING_OVER_DP_EP);
    assert_int_equal(spec.once_rows[1].calls[IW_TRAINING_WEIGHT_GRADIENT].kind, IW_TRAINING_REDUCE_SCATTER);
    assert_int_equal(spec.rows[0].calls[IW_TRAINING_F].span, IW_TRAINING_OVER_TP);
    assert_int_equal(spec.rows[0].calls[IW_TRAINING_INPUT_GRADIENT].kind, IW_TRAINING_NO_CALL);
    assert_int_equal(spec.rows[2].calls[IW_TRAINING_INPUT_GRADIENT].span, IW_TRAINING_OVER_EP);
    assert_int_equal(spec.rows[2].calls[IW_TRAINING_INPUT_GRADIENT].kind, IW_TRAINING_ALL_TO_ALL);
    iw_training_release(&spec);
    free(text);
}

/* (m + (p - 1) / v)(F + B) + the optimizer, where the network is free and p divides m. F + B of a
 * micro-batch: 2 * 5040 ns of the embedding and 15 * 5040 ns of each layer. */
static void steps_take_the_closed_form(void **state)
{
    static const struct {
        unsigned pp, vpp, ga, layers;
    } cases[] = {{1, 1, 1, 1}, {1, 8, 5, 2}, {2, 1, 4, 3}, {4, 1, 4, 2},
                 {4, 2, 8, 3}, {3, 5, 9, 4}, {6, 8, 12, 2}};
    char *text = malloc(TEXT_SIZE);

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const unsigned p = cases[i].pp, v = p > 1 ? cases[i].vpp : 1, m = cases[i].ga;
        const size_t size = make_file(text, p, cases[i].vpp, m, cases[i].layers);
        const iw_time each_ps = (2 + 15 * (iw_time)cases[i].layers) * 5040 * IW_PS_PER_NS;
        iw_training_result *result;
        iw_training spec;

        iw_training_init(&spec);
        assert_ok(iwi_simai_read_memory(NULL, "a.txt", text, size, &spec));
        spec.is_net_free = true;
        spec.launch_ps = 0;
        result = run(&spec);
        assert_int_equal(result->rows, 3 + m * (1 + LAYER_ROWS * cases[i].layers));
        assert_int_equal(result->compute_ps, m * each_ps + 12 * IW_PS_PER_NS);
        assert_int_equal(result->noiseless_ps, (m * v + p - 1) * each_ps / v + 12 * IW_PS_PER_NS);
        assert_true(result->even_bubble == (p - 1.0) / (double)(v * m));
        iw_training_result_free(result);
        iw_training_release(&spec);
    }
    free(text);
}

static const iw_training_volume *volume(const iw_training_result *result, const char *what, uint64_t bytes)
{
    for (uint32_t i = 0; i < result->volume_count; i++) {
        if (strcmp(result->volumes[i].what, what) == 0 && result->volumes[i].bytes == bytes) {
            return &result->volumes[i];
        }
    }
    fail_msg("no %s of %llu bytes", what, (unsigned long long)bytes);
    return NULL;
}

/* 8 micro-batches of 3 layers; an all-to-all among 4 sends 3/4 of its buffer; one of 0 bytes is none. */
static void collectives_are_counted(void **state)
{
    char *text = malloc(TEXT_SIZE);
    const size_t size = make_file(text, 4, 2, 8, 3);
    iw_training_result *result;
    iw_training spec;

    (void)state;
    iw_training_init(&spec);
    assert_ok(iwi_simai_read_memory(NULL, "a.txt", text, size, &spec));
    result = run(&spec);
    assert_int_equal(volume(result, "EP all-to-all", 49152)->count, 48);
    assert_int_equal(volume(result, "TP all-gather", 8192)->count, 48);
    assert_int_equal(volume(result, "TP reduce-scatter", 8192)->count, 24);
    assert_int_equal(volume(result, "TP all-reduce", 4096)->count, 8);
    assert_int_equal(volume(result, "TP all-reduce", 4)->count, 1);
    assert_int_equal(volume(result, "DP all-gather", 1000000)->group, 8);
    assert_int_equal(volume(result, "expert DP reduce-scatter", 2000000)->group, 2);
    assert_int_equal(volume(result, "expert DP reduce-scatter", 2000000)->stride, 8);
    assert_int_equal(volume(result, "PP message", 50331648)->group, 2);
    iw_training_result_free(result);
    iw_training_release(&spec);
    free(text);
}

/* Gradients that are reduced in the backward go on beside it: 4 rows of 1 ms, the reduction of the first in
 * time behind the others. */
static void weight_gradients_are_reduced_beside(void **state)
{
    static const char text[] = "HYBRID_TRANSFORMER model_parallel_NPU_group: 1 all_gpus: 8\n4\n"
                               "l1 -1 1000000 NONE 0 1000000 NONE 0 1 NONE 0 100\n"
                               "l2 -1 1000000 NONE 0 1000000 NONE 0 1 NONE 0 100\n"
                               "l3 -1 1000000 NONE 0 1000000 NONE 0 1 NONE 0 100\n"
                               "l4 -1 1000000 NONE 0 1000000 NONE 0 1 REDUCESCATTER 4096 100\n";
    iw_training_result *result;
    iw_training spec;

    (void)state;
    iw_training_init(&spec);
    assert_ok(iwi_simai_read_memory(NULL, "a.txt", text, sizeof text - 1, &spec));
    spec.launch_ps = 0;
    result = run(&spec);
    assert_int_equal(result->noiseless_ps,
                     8 * IW_PS_PER_MS + 4 * IW_PS_PER_NS + volume(result, "norm all-reduce", 4)->each_ps);
    iw_training_result_free(result);
    iw_training_release(&spec);
}

static void mistakes_are_told_with_their_line(void **state)
{
#define HEAD "HYBRID_TRANSFORMER model_parallel_NPU_group: 2 "
#define ROW "a -1 5 NONE 0 5 NONE 0 5 NONE 0 100\n"
    static const struct {
        const char *text, *said;
        iw_status status;
    } cases[] = {
        {"MICRO\n1\n" ROW, "'a.txt:1': workload type 'MICRO' is not a training program", IW_ERR_UNSUPPORTED},
        {HEAD "pp: 0\n1\n" ROW, "'a.txt:1': 'pp' is 0", IW_ERR_RANGE},
        {HEAD "pp: x\n1\n" ROW, "'a.txt:1': 'pp' is 'x' instead of a whole number", IW_ERR_FORMAT},
        {HEAD "pp 4\n1\n" ROW, "'a.txt:1': expected 'key: value', found 'pp'", IW_ERR_FORMAT},
        {HEAD "pq: 4\n1\n" ROW, "'a.txt:1': unknown key 'pq'", IW_ERR_FORMAT},
        {HEAD "pp:\n1\n" ROW, "'a.txt:1': 'pp:' has no value", IW_ERR_FORMAT},
        {HEAD "all_gpus: 7\n1\n" ROW, "'a.txt:1': 7 GPUs are not a multiple", IW_ERR_RANGE},
        {HEAD "checkpoints: 2\n1\n" ROW, "cannot be simulated", IW_ERR_UNSUPPORTED},
        {HEAD "\n", "'a.txt:2': ends before the number of its rows", IW_ERR_TRUNCATED},
        {HEAD "\n1 2\n" ROW, "'a.txt:2': expected only the number of rows", IW_ERR_FORMAT},
        {HEAD "\n99999999\n" ROW, "'a.txt:2': the number of rows is more than", IW_ERR_RANGE},
        {HEAD "\n2\n" ROW, "ends after 1 of 2 rows", IW_ERR_TRUNCATED},
        {HEAD "\n1\n" ROW ROW, "'a.txt:4': more rows than the announced 1", IW_ERR_FORMAT},
        {HEAD "\n1\na -1 5 NONE 0\n", "'a.txt:3': a row has 12 fields", IW_ERR_FORMAT},
        {HEAD "\n1\na -1 5 NONE 0 5 NONE 0 5 NONE 0 1 2\n", "not more than 12", IW_ERR_FORMAT},
        {HEAD "\n1\na -1 5 ALLREDUCE_TP 0 5 NONE 0 5 NONE 0 1\n",
         "'a.txt:3': unknown collective 'ALLREDUCE_TP'", IW_ERR_FORMAT},
        {HEAD "\n1\na -1 -5 NONE 0 5 NONE 0 5 NONE 0 1\n", "'a.txt:3': a time is '-5'", IW_ERR_FORMAT},
        {HEAD "\n1\na -1 800000000000000 NONE 0 800000000000000 NONE 0 5 NONE 0 1\n",
         "'a.txt:3': the rows compute for more than 10 days", IW_ERR_RANGE},
        {HEAD "\n1\ncross_entropy1 -1 5 NONE 0 5 NONE 0 5 NONE 0 1\n", "has no rows of layers",
         IW_ERR_FORMAT},
        {HEAD "ga: 2\n3\n" ROW ROW ROW, "3 rows of layers are not a multiple of 2 micro-batches",
         IW_ERR_FORMAT},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct iwt_log log;
        iw_training spec;

        iwt_log_init(&log);
        iw_training_init(&spec);
        assert_status(iwi_simai_read_memory(&log.log, "a.txt", cases[i].text, strlen(cases[i].text), &spec),
                      cases[i].status);
        iwt_assert_logged(&log, cases[i].said);
        assert_int_equal(log.errors, 1);
        iw_training_release(&spec);
    }
}

/* Only what is cut off within the last number of the last row cannot be seen. */
static void cut_anywhere_it_is_refused(void **state)
{
    char *text = malloc(TEXT_SIZE);
    const size_t size = make_file(text, 2, 2, 4, 2);

    (void)state;
    for (size_t cut = 0; cut < size; cut++) {
        char *copy = malloc(cut + 1); /* so that the sanitizer sees what is read beyond */
        struct iwt_log log;
        iw_training spec;
        iw_status status;

        memcpy(copy, text, cut);
        iwt_log_init(&log);
        iw_training_init(&spec);
        status = iwi_simai_read_memory(&log.log, "a.txt", copy, cut, &spec);
        assert_true(cut + 3 < size ? status != IW_OK && log.errors == 1 : status == IW_OK);
        iw_training_release(&spec);
        free(copy);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_layout_is_that_of_the_first_line),
        cmocka_unit_test(groups_follow_pass_and_suffix),
        cmocka_unit_test(steps_take_the_closed_form),
        cmocka_unit_test(collectives_are_counted),
        cmocka_unit_test(weight_gradients_are_reduced_beside),
        cmocka_unit_test(mistakes_are_told_with_their_line),
        cmocka_unit_test(cut_anywhere_it_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
