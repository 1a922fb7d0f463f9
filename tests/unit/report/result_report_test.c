/* Reports of the JSON of one simulation: when trials and ranks end, the same text as simulate's, odd files.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/result.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "report/html/html_result.h"
#include "sample.h"
#include "support/support.h"

/* Of a result whose five trials take 1 to 5 times the noiseless 130.2 us, in this order. */
static const double factors[] = {1.0, 3.0, 2.0, 5.0, 4.0};

static json_t *distribution_of(struct sample *s)
{
    json_t *object = NULL, *distribution;

    assert_ok(iwi_result_new(NULL, &s->result, &s->origin, &object));
    distribution = json_deep_copy(json_object_get(object, "distribution"));
    json_decref(object);
    return distribution;
}

static double quantile_of(const json_t *distribution, const char *key)
{
    return iwi_result_number(json_object_get(distribution, "quantiles_ns"), key);
}

static void a_few_trials_are_all_listed_in_their_order(void **state)
{
    struct sample s;
    json_t *distribution;

    (void)state;
    sample_init(&s);
    sample_set_trials(&s, factors, 5);
    distribution = distribution_of(&s);
    assert_string_equal(iwi_result_text(distribution, "of"), "trials");
    assert_int_equal(json_array_size(json_object_get(distribution, "trials_ns")), 5);
    assert_true(json_number_value(json_array_get(json_object_get(distribution, "trials_ns"), 3)) == 651000.0);
    assert_true(quantile_of(distribution, "p0") == 130200.0);
    assert_true(quantile_of(distribution, "p50") == 390600.0);
    assert_true(quantile_of(distribution, "p95") == 624960.0); /* 4.8 times: between the 4th and the 5th */
    assert_true(quantile_of(distribution, "p100") == 651000.0);
    json_decref(distribution);
    sample_release(&s);
}

static void many_trials_are_quantiles_only(void **state)
{
    enum { TRIALS = IWI_MOST_TRIAL_VALUES + 1 };
    static iw_time makespan_ps[TRIALS];
    struct sample s;
    json_t *distribution;

    (void)state;
    sample_init(&s);
    for (int i = 0; i < TRIALS; i++) {
        makespan_ps[i] = (TRIALS - i) * IW_PS_PER_NS;
    }
    s.result.makespan_ps = makespan_ps;
    s.result.trials = TRIALS;
    distribution = distribution_of(&s);
    assert_null(json_object_get(distribution, "trials_ns"));
    assert_true(quantile_of(distribution, "p1") == 11.0); /* 1 + 1 % of 1000 */
    s.result.trials = TRIALS - 1;
    json_decref(distribution);
    distribution = distribution_of(&s);
    assert_int_equal(json_array_size(json_object_get(distribution, "trials_ns")), IWI_MOST_TRIAL_VALUES);
    json_decref(distribution);
    sample_release(&s);
}

static void a_single_trial_tells_when_its_ranks_end(void **state)
{
    iw_time end_ps[8];
    struct sample s;
    json_t *distribution;

    (void)state;
    sample_init(&s);
    for (int i = 0; i < 8; i++) {
        end_ps[i] = (i + 1) * IW_PS_PER_US;
    }
    s.result.end_ps = end_ps;
    distribution = distribution_of(&s);
    assert_string_equal(iwi_result_text(distribution, "of"), "ranks");
    assert_true(quantile_of(distribution, "p0") == 1000.0);
    assert_true(quantile_of(distribution, "p50") == 4500.0);
    assert_true(quantile_of(distribution, "p100") == 8000.0);
    json_decref(distribution);
    sample_release(&s);
}

/* ---- files ---- */

static char *file_of(const char *text)
{
    char *path = strdup("/tmp/iw-result-XXXXXX");
    const int file = path != NULL ? mkstemp(path) : -1;

    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    assert_int_equal(close(file), 0);
    return path;
}

typedef iw_status (*reporter)(const iw_log *log, const char *path, FILE *out);

/* What the report of that JSON is; to be freed. */
static char *report_of(reporter report, const char *json)
{
    char *path = file_of(json), *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    assert_ok(report(NULL, path, out));
    assert_int_equal(fclose(out), 0);
    assert_int_equal(unlink(path), 0);
    free(path);
    return text;
}

static char *report_of_sample(struct sample *s, reporter report)
{
    sample_write(s, iw_result_write_json);
    return report_of(report, s->text);
}

static void assert_contains(const char *text, const char *part)
{
    if (strstr(text, part) == NULL) {
        fail_msg("no '%s' in:\n%s", part, text);
    }
}

static void the_text_begins_as_that_of_simulate(void **state)
{
    struct sample s;
    char *report;

    (void)state;
    sample_init(&s);
    sample_add_noise(&s, "periodic:10Hz,1us");
    sample_set_trials(&s, factors, 5);
    sample_add_explain(&s);
    s.origin.delay_count = 2;
    report = report_of_sample(&s, iw_result_report_text);
    sample_write(&s, iw_result_write_text);
    assert_memory_equal(report, s.text, strlen(s.text));
    assert_contains(report, "When the trials end");
    assert_contains(report, "\n    the first   130.2 us      0.00 %\n");
    assert_contains(report, "\n         50 %   390.6 us      3.000x  \xe2\x96\x88");
    free(report);
    sample_release(&s);
}

static void equal_times_are_one_sentence(void **state)
{
    iw_time end_ps[8];
    struct sample s;
    char *report;

    (void)state;
    sample_init(&s);
    for (int i = 0; i < 8; i++) {
        end_ps[i] = 130200 * IW_PS_PER_NS;
    }
    s.result.end_ps = end_ps;
    report = report_of_sample(&s, iw_result_report_text);
    assert_contains(report, "\nAll ranks end after 130.2 us.\n");
    assert_null(strstr(report, "by then"));
    free(report);
    sample_release(&s);
}

static void csv_has_all_times(void **state)
{
    struct sample s;
    char *csv;

    (void)state;
    sample_init(&s);
    sample_add_noise(&s, "periodic:10Hz,1us");
    sample_set_trials(&s, factors, 5);
    sample_add_explain(&s);
    s.result.first_trial = 10;
    csv = report_of_sample(&s, iw_result_report_csv);
    assert_memory_equal(
        csv, "kind,name,time_ns,slowdown\nnoiseless,,130200,0\ntrials percentile,0,130200,0\n", 75);
    assert_contains(csv, "\ntrials percentile,50,390600,2\n");
    assert_contains(csv, "\ntrial,10,130200,0\ntrial,11,390600,2\n");
    assert_contains(csv, "\npart of the last rank,L,30000,\n");
    assert_contains(csv, "\npart of the average rank,\"noise periodic:10Hz,1us\",0,\n");
    free(csv);
    sample_release(&s);
}

/* As written before there was a distribution, and with values of kinds that no writer makes. */
static void older_and_odd_files_are_shown_too(void **state)
{
    static const char older[] =
        "{\"schema\": \"idlewave.simulate/1\", \"ranks\": 2, \"trials\": 3, \"noiseless_ns\": 0, "
        "\"makespan_ns\": {\"min\": 1, \"q1\": 2, \"median\": 3, \"q3\": 4, \"max\": 5, \"mean\": 3}}";
    static const char odd[] =
        "{\"schema\": \"idlewave.simulate/1\", \"ranks\": -2, \"trials\": 1e300, \"noiseless_ns\": -1, "
        "\"makespan_ns\": {\"min\": 1e300, \"q1\": -2, \"median\": 3, \"q3\": 4, \"max\": 5, \"mean\": 3, "
        "\"ci95\": [null, {}]}, \"noise\": [7, {\"spec\": 3}], \"net\": [], \"what\": {}, \"explain\": "
        "{\"parts\": {\"L\": \"x\", \"o\": 3}, \"mean_parts\": 4, \"hops\": -1}, \"distribution\": {\"of\": "
        "3, "
        "\"quantiles_ns\": {\"p50\": 3, \"p99\": []}, \"trials_ns\": [1, \"two\"]}}";
    static const reporter reporters[] = {iw_result_report_text, iw_result_report_csv, iw_result_write_html};

    (void)state;
    for (size_t i = 0; i < sizeof reporters / sizeof reporters[0]; i++) {
        free(report_of(reporters[i], odd));
        free(report_of(reporters[i], older));
    }
}

static void assert_refused(const char *json, const char *why)
{
    char *path = file_of(json);
    struct iwt_log log;

    iwt_log_init(&log);
    assert_status(iw_result_report_text(&log.log, path, stderr), IW_ERR_FORMAT);
    iwt_assert_logged(&log, why);
    assert_int_equal(unlink(path), 0);
    free(path);
}

static void files_without_the_main_numbers_are_refused(void **state)
{
    (void)state;
    assert_refused("{\"schema\": \"idlewave.simulate/1\"}", "no number 'ranks' in it");
    assert_refused("{\"schema\": \"idlewave.simulate/1\", \"ranks\": 1, \"trials\": 1, \"noiseless_ns\": 1, "
                   "\"makespan_ns\": {\"min\": 1, \"q1\": null}}",
                   "no number 'makespan_ns.q1' in it");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_few_trials_are_all_listed_in_their_order),
        cmocka_unit_test(many_trials_are_quantiles_only),
        cmocka_unit_test(a_single_trial_tells_when_its_ranks_end),
        cmocka_unit_test(the_text_begins_as_that_of_simulate),
        cmocka_unit_test(equal_times_are_one_sentence),
        cmocka_unit_test(csv_has_all_times),
        cmocka_unit_test(older_and_odd_files_are_shown_too),
        cmocka_unit_test(files_without_the_main_numbers_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
