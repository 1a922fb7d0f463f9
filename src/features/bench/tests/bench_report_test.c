/* Tests of the text, JSON, CSV and page of benchmarks.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/internal/bench.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "support/made_bench.h"
#include "support/support.h"

static const char *const noises[] = {"periodic:100Hz,1ms", "poisson:10Hz,exp:1ms"};

struct made {
    iw_bench_samples *samples;
    iw_bench_result *result;
};

static void make(struct made *made, bool has_noise)
{
    made->samples = iwt_made_bench(40, has_noise);
    assert_ok(iw_bench_evaluate(NULL, made->samples, 1.0, &made->result));
    made->result->command = "idlewave bench barrier";
    made->result->injection.sources = noises;
    made->result->injection.source_count = has_noise ? 2 : 0;
    made->result->injection.sync = IW_SYNC_START;
    snprintf(made->result->injection.back_end, sizeof made->result->injection.back_end, "timer");
}

static void make_simulated(struct made *made, double share)
{
    const iw_bench_simulated simulated = {.net = "of the measured operation",
                                          .trials = 400,
                                          .phases = 50,
                                          .noiseless_ns = 1.01e6,
                                          .noisy_ns = 1.01e6 * (1.0 + share),
                                          .slowdown = {share, share - 0.012, share + 0.012}};

    make(made, true);
    iw_bench_set_simulated(made->result, &simulated);
}

static void release(struct made *made)
{
    iw_bench_result_free(made->result);
    iw_bench_samples_free(made->samples);
}

static char *written(iw_doc doc, iw_doc_format format)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    assert_ok(iw_doc_write(NULL, doc, format, NULL, out));
    assert_int_equal(fclose(out), 0);
    return text;
}

static void assert_has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL) {
        print_message("'%s' is not in\n%s", part, text);
    }
    assert_non_null(strstr(text, part));
}

/* Lines of a paragraph become one. */
static void join_lines(char *text)
{
    for (char *c = text; *c != '\0'; c++) {
        *c = *c == '\n' && c[1] != '\n' ? ' ' : *c;
    }
}

static void the_verdict_comes_first_and_lines_fit_a_terminal(void **state)
{
    struct made made;
    char *text;

    (void)state;
    make_simulated(&made, 0.11);
    text = written(iw_bench_doc(made.result), IW_DOC_TEXT);
    assert_ptr_equal(strstr(text, "A phase of 1.000 ms and a barrier takes 1.020 ms on 2 ranks"), text);
    for (const char *line = text; *line != '\0'; line = strchr(line, '\n') + 1) {
        assert_true(strcspn(line, "\n") <= 80);
    }
    free(text);
    release(&made);
}

static void the_three_stand_side_by_side(void **state)
{
    static const char *const parts[] = {
        "(mean): it is 2.00 % slower than its work alone",
        "exp:1ms, sync start) it is 10.0 % slower than without (mean), 1.122 ms per phase.",
        "it is 11.0 % slower than without (mean; 95 % CI 9.80 to 12.2 %); they agree (within",
        "The measured slowdown is 1.00 points below the simulated one (a factor of",
        "A phase, by the times of whole blocks",
        "simulated with the same noise  1.121 ms    11.0 %  9.80 to 12.2 %",
        "50.0 % of the noise's detours (100.0 % of their time) kept",
        "median slowdown of the pairs is 10.0 %.",
        "400 trials of 50 phases each with the planned noise",
        "4.00 % of the time was injected as noise (5.00 % planned)",
    };
    struct made made;
    char *text;

    (void)state;
    make_simulated(&made, 0.11);
    text = written(iw_bench_doc(made.result), IW_DOC_TEXT);
    join_lines(text);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        assert_has(text, parts[i]);
    }
    assert_null(strstr(text, "own noise exceeds"));
    assert_null(strstr(text, "both 95 % intervals"));
    assert_null(strstr(text, "skipped"));
    assert_null(strstr(text, "was ended"));
    free(text);
    release(&made);
}

static void what_does_not_agree_or_cannot_is_said(void **state)
{
    struct made made;
    char *text;

    (void)state;
    make_simulated(&made, 0.2);
    made.result->own_share = 0.5;
    text = written(iw_bench_doc(made.result), IW_DOC_TEXT);
    join_lines(text);
    assert_has(text, "is 10.00 points below the simulated one");
    assert_has(text, "they do not agree");
    assert_has(text, "Runs of this length");
    assert_has(text, "more than both 95 % intervals together explain.");
    assert_has(text, "the host's own noise exceeds the injected noise");
    free(text);
    release(&made);
}

static void wide_intervals_skipped_and_cut_detours_are_reported(void **state)
{
    struct made made;
    char *text;

    (void)state;
    make_simulated(&made, 0.11);
    made.result->simulated.agreement = IW_BENCH_UNCLEAR;
    made.result->injection.skipped_share = 0.2;
    made.result->injection.cut_short_count = 3;
    text = written(iw_bench_doc(made.result), IW_DOC_TEXT);
    join_lines(text);
    assert_has(text, "run longer to see whether they agree");
    assert_has(text, "time was skipped");
    assert_has(text, "In 3 blocks");
    free(text);
    text = written(iw_bench_doc(made.result), IW_DOC_JSON);
    assert_has(text, "\"agreement\": \"unclear\"");
    assert_has(text, "\"skipped_share\": 0.2");
    free(text);
    release(&made);
}

static void shared_cpus_make_the_verdict_not_valid(void **state)
{
    struct made made;
    char *text;

    (void)state;
    make(&made, false);
    snprintf(made.samples->warning, sizeof made.samples->warning, "2 ranks share 1 CPU on host alpha");
    text = written(iw_bench_doc(made.result), IW_DOC_TEXT);
    assert_ptr_equal(strstr(text, "NOT VALID: 2 ranks share 1 CPU on host alpha"), text);
    assert_null(strstr(text, "with injected noise"));
    free(text);
    release(&made);
}

static void the_json_has_what_the_text_says(void **state)
{
    struct made made;
    json_t *bench;
    char *text;

    (void)state;
    make_simulated(&made, 0.11);
    text = written(iw_bench_doc(made.result), IW_DOC_JSON);
    bench = json_loads(text, 0, NULL);
    assert_non_null(bench);
    assert_string_equal(json_string_value(json_object_get(bench, "schema")), "idlewave.bench/2");
    assert_int_equal(json_integer_value(json_object_get(bench, "phases")), 2000);
    assert_int_equal(json_array_size(json_object_get(bench, "per_rank")), 2);
    assert_int_equal(json_array_size(json_object_get(json_object_get(bench, "quiet"), "bins")),
                     IW_BENCH_BINS);
    assert_string_equal(json_string_value(json_object_get(json_object_get(bench, "simulated"), "agreement")),
                        "agrees");
    assert_true(json_is_null(json_object_get(bench, "baseline")));
    assert_string_equal(json_string_value(json_object_get(bench, "warning")), "");
    assert_int_equal(json_array_size(json_object_get(json_object_get(bench, "noise"), "sources")), 2);
    json_decref(bench);
    free(text);
    release(&made);
}

/* ---- files ---- */

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void a_file_can_be_read_again_as_baseline_text_and_page(void **state)
{
    char path[] = "/tmp/iw_bench_XXXXXX", *page, *text, *again;
    iw_bench_baseline baseline;
    iw_doc_file *file;
    struct made made;

    (void)state;
    assert_int_not_equal(close(mkstemp(path)), -1);
    make_simulated(&made, 0.11);
    text = written(iw_bench_doc(made.result), IW_DOC_JSON);
    write_file(path, text);
    free(text);
    assert_ok(iw_bench_load_baseline(NULL, path, &baseline));
    assert_int_equal(baseline.op, IW_BENCH_BARRIER);
    assert_true(baseline.qtbt_ns.value > 1.0199e6 && baseline.qtbt_ns.value < 1.0201e6 &&
                baseline.ranks == 2);
    assert_ok(iw_doc_open(NULL, path, &file));
    page = written(iw_doc_of(file), IW_DOC_HTML);
    assert_has(page, "simulated with the same noise");
    assert_has(page, "Phases with injected noise");
    again = written(iw_doc_of(file), IW_DOC_TEXT);
    text = written(iw_bench_doc(made.result), IW_DOC_TEXT);
    assert_string_equal(text, again);
    iw_doc_close(file);
    free(text);
    free(again);
    free(page);
    release(&made);
    assert_int_equal(unlink(path), 0);
}

static void other_files_are_no_baseline(void **state)
{
    static const char *const texts[] = {
        "{\"schema\": \"idlewave.bench/1\"}",
        "{\"schema\": \"idlewave.bench/2\", \"ranks\": 2, \"quantum_ns\": 5, \"phases\": 7}",
        "no JSON",
    };
    char path[] = "/tmp/iw_bench_XXXXXX", other[512];
    iw_bench_baseline baseline;

    (void)state;
    assert_int_not_equal(close(mkstemp(path)), -1);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        write_file(path, texts[i]);
        assert_int_equal(iw_bench_load_baseline(NULL, path, &baseline), IW_ERR_FORMAT);
    }
    snprintf(other, sizeof other, "%s/results/forecast.json", IW_TEST_DATA);
    assert_int_equal(iw_bench_load_baseline(NULL, other, &baseline), IW_ERR_FORMAT);
    assert_int_equal(unlink(path), 0);
}

static void the_csv_has_a_line_for_each_phase(void **state)
{
    iw_bench_samples *samples = iwt_made_bench(2, true);
    char *text = NULL, *line;
    size_t size, lines = 0;
    FILE *out = open_memstream(&text, &size);

    (void)state;
    samples->stride = 4;
    assert_ok(iw_bench_write_csv(NULL, samples, out));
    assert_int_equal(fclose(out), 0);
    assert_has(text,
               "phase,block,noise,qt_ns,bt_ns,qtbt_ns,op_ns\n0,0,0,1000000,10000,1010000,10000\n4,0,0,");
    assert_has(text, "\n200,1,1,2020000,1030000,2030000,10000\n");
    for (line = strchr(text, '\n'); line != NULL; line = strchr(line + 1, '\n')) {
        lines++;
    }
    assert_int_equal(lines, 101);
    free(text);
    iw_bench_samples_free(samples);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_verdict_comes_first_and_lines_fit_a_terminal),
        cmocka_unit_test(the_three_stand_side_by_side),
        cmocka_unit_test(what_does_not_agree_or_cannot_is_said),
        cmocka_unit_test(wide_intervals_skipped_and_cut_detours_are_reported),
        cmocka_unit_test(shared_cpus_make_the_verdict_not_valid),
        cmocka_unit_test(the_json_has_what_the_text_says),
        cmocka_unit_test(a_file_can_be_read_again_as_baseline_text_and_page),
        cmocka_unit_test(other_files_are_no_baseline),
        cmocka_unit_test(the_csv_has_a_line_for_each_phase),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
