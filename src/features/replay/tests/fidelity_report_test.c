/* Self-checks in words and as JSON: the verdict comes first, and what is not right is named.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/internal/fidelity.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "support/support.h"

static iw_fidelity_report sample(void)
{
    iw_fidelity_report report = {
        .noise = "node.h5",
        .back_end = "timer",
        .costs = {.overhead_ns = 900.0, .late_p50_ns = 1200.0, .late_p99_ns = 3400.0, .floor_ns = 2100.0},
        .facts = {.event_count = 1000, .as_recorded_count = 800, .noise_ns = 1e6, .as_recorded_ns = 9e5},
        .counts = {.made_count = 901, .skipped_count = 2},
        .fidelity = {.time_scale = 1.0,
                     .all_count = 910,
                     .hidden_count = 10,
                     .hidden_by_host = 8.0,
                     .planned_count = 900,
                     .matched_count = 897,
                     .power_expected = 0.02,
                     .power_observed = 0.0202,
                     .compared_count = 800,
                     .ks = 0.0125,
                     .wasserstein_ns = 250.0,
                     .kl = 0.0004,
                     .late_spread_ns = 2200.0,
                     .is_power_right = true,
                     .is_own_right = true,
                     .is_count_right = true,
                     .are_quantiles_right = true},
    };

    for (size_t q = 0; q < IW_FIDELITY_QUANTILES; q++) {
        report.fidelity.quantile_expected_ns[q] = 10000.0 * (double)(q + 1);
        report.fidelity.quantile_observed_ns[q] = 10000.0 * (double)(q + 1) + (q == 2 ? 2000.0 : 100.0);
    }
    return report;
}

static char *written(iw_doc_format format, const iw_fidelity_report *report)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    assert_ok(iw_doc_write(NULL, iw_fidelity_doc(report), format, NULL, out));
    assert_int_equal(fclose(out), 0);
    return text;
}

static void assert_says(const iw_fidelity_report *report, const char *expected)
{
    char *text = written(IW_DOC_TEXT, report), *end = text;

    for (const char *c = text; *c != '\0'; c++) { /* as if it were one line */
        if (*c != '\n' && (*c != ' ' || (end > text && end[-1] != ' '))) {
            *end++ = *c;
        } else if (*c == '\n' && end > text && end[-1] != ' ') {
            *end++ = ' ';
        }
    }
    *end = '\0';
    if (strstr(text, expected) == NULL) {
        fail_msg("'%s' is not in: %s", expected, text);
    }
    free(text);
}

static void the_verdict_comes_first_with_its_three_numbers(void **state)
{
    const iw_fidelity_report report = sample();
    char *text = written(IW_DOC_TEXT, &report);
    static const char first[] = "timer injects node.h5 as requested: noise power +1.00 %, 897 of 900";

    (void)state;
    assert_int_equal(strncmp(text, first, sizeof first - 1), 0);
    for (const char *line = text; line != NULL && *line != '\0'; line = strchr(line, '\n') + 1) {
        assert_true(strcspn(line, "\n") <= 80);
    }
    free(text);
    assert_says(&report, "worst quantile of durations (p50) 32.0 us instead of 30.0 us.");
    assert_says(&report, "Floor 2.10 us, overhead 900 ns, deadline error 1.20 us, 1 of 100 above 3.40 us");
    assert_says(&report, "80.0 % of the trace's detours and 90.0 % of its noise time");
    assert_says(&report, "10 of 910 detours came while the host used the CPU");
}

static void what_is_not_right_is_named(void **state)
{
    iw_fidelity_report report = sample();

    (void)state;
    report.fidelity.power_observed = 0.03;
    report.fidelity.is_power_right = false;
    assert_says(&report, "timer does not inject node.h5 as requested: noise power +50.00 % (over 5 %), 897 "
                         "of 900 detours seen,");
    report.fidelity.is_own_right = false;
    report.fidelity.excess_count = 3;
    assert_says(&report, "; there are also more or longer detours than the host's own.");
    assert_says(&report, "3 more came during longer detours than the host explains");
}

static void a_busy_host_is_not_blamed_on_the_injector(void **state)
{
    iw_fidelity_report report = sample();

    (void)state;
    report.fidelity.hidden_count = 700;
    report.fidelity.is_hidden = true;
    assert_false(iw_fidelity_is_right(&report.fidelity));
    assert_says(&report, "Whether timer can inject node.h5 as requested is unknown: the host used the CPU");
    report.fidelity.is_hidden = false;
    report.fidelity.is_drowned = true;
    assert_false(iw_fidelity_is_right(&report.fidelity));
    assert_says(&report,
                "Whether timer can inject node.h5 as requested is unknown: the host's own noise is so large");
}

static void the_naive_injectors_divergence_stands_beside_ours(void **state)
{
    iw_fidelity_report report = sample();

    (void)state;
    report.has_naive = true;
    report.naive = report.fidelity;
    report.naive.kl = 0.05;
    assert_says(&report, "0.05000 125.0x as much");
    report.naive.matched_count = 700; /* of 900: the rest of the durations may be anything */
    assert_true(isnan(iw_fidelity_kl_ratio(&report)));
    assert_says(&report, "the host hid too much");
}

static void numbers_are_in_json_and_what_does_not_exist_is_null(void **state)
{
    iw_fidelity_report report = sample();
    char *text;
    json_t *object, *fidelity, *durations;

    (void)state;
    report.fidelity.ks = NAN;
    text = written(IW_DOC_JSON, &report);
    object = json_loads(text, 0, NULL);
    assert_non_null(object);
    assert_string_equal(json_string_value(json_object_get(object, "schema")), "idlewave.fidelity/2");
    assert_true(json_is_null(json_object_get(object, "naive")));
    fidelity = json_object_get(object, "fidelity");
    durations = json_object_get(fidelity, "durations");
    assert_true(json_is_true(json_object_get(fidelity, "right")));
    assert_true(json_is_true(json_object_get(fidelity, "can_tell")));
    assert_int_equal(json_integer_value(json_object_get(json_object_get(fidelity, "count"), "hidden")), 10);
    assert_true(json_is_null(json_object_get(durations, "ks")));
    assert_int_equal(json_array_size(json_object_get(durations, "quantile_observed_ns")),
                     IW_FIDELITY_QUANTILES);
    json_decref(object);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_verdict_comes_first_with_its_three_numbers),
        cmocka_unit_test(what_is_not_right_is_named),
        cmocka_unit_test(a_busy_host_is_not_blamed_on_the_injector),
        cmocka_unit_test(the_naive_injectors_divergence_stands_beside_ours),
        cmocka_unit_test(numbers_are_in_json_and_what_does_not_exist_is_null),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
