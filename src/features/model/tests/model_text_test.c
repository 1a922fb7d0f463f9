/* What models say about recordings, for people: refusals, worst sources, intervals.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/model.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/support.h"

static const iw_model_row rows[] = {
    {16,
     1.01e6,
     {5e3, 4e3, 6e3},
     {1.011e6, 1.0105e6, 1.012e6},
     {1.015e6, 1.014e6, 1.016e6},
     (double)NAN,
     IW_SUPPORT_OBSERVED,
     "tick",
     {0}},
    {1024,
     1.02e6,
     {2e6, 1e6, 3e6},
     {2.5e6, 2.1e6, 2.6e6},
     {3e6, 2.8e6, 3.5e6},
     (double)NAN,
     IW_SUPPORT_TAIL,
     "daemon",
     {0}},
    {4096,
     1.03e6,
     {(double)NAN, (double)NAN, (double)NAN},
     {3e6, 2.9e6, 3.1e6},
     {(double)NAN, (double)NAN, (double)NAN},
     (double)NAN,
     IW_SUPPORT_REFUSED,
     "daemon",
     {0}},
    {8192,
     1.03e6,
     {(double)NAN, (double)NAN, (double)NAN},
     {(double)NAN, (double)NAN, (double)NAN},
     {(double)NAN, (double)NAN, (double)NAN},
     (double)NAN,
     IW_SUPPORT_REFUSED,
     "daemon",
     {0}},
    {16384,
     1.03e6,
     {(double)NAN, (double)NAN, (double)NAN},
     {(double)NAN, (double)NAN, (double)NAN},
     {(double)NAN, (double)NAN, (double)NAN},
     (double)NAN,
     IW_SUPPORT_REFUSED,
     "daemon",
     {0}},
};
static iw_model_report report_of(const iw_window_horizon *horizon)
{
    return (iw_model_report){.noise = "node.h5",
                             .command = "idlewave model",
                             .question = {1e6, 2e3, IW_MODEL_TREE},
                             .rows = rows,
                             .count = 5,
                             .half_ranks = (double)NAN,
                             .first_doubled = (double)NAN,
                             .last_doubled = (double)NAN,
                             .horizon = horizon};
}

static char *text_of(const iw_model_report *report)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    assert_ok(iw_doc_write(NULL, iw_model_doc(report), IW_DOC_TEXT, NULL, out));
    (void)fclose(out);
    for (const char *line = text, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        assert_true(end - line <= 80);
    }
    return text;
}

static void assert_says(const iw_window_horizon *horizon, const char *part)
{
    const iw_model_report report = report_of(horizon);
    char *text = text_of(&report);

    if (strstr(text, part) == NULL) {
        fail_msg("no '%s' in\n%s", part, text);
    }
    free(text);
}

static void the_horizon_is_said_with_the_verdict(void **state)
{
    const iw_window_horizon horizon = {.phases = 120000,
                                       .observed_ranks = 900,
                                       .tail_ranks = 2400.7,
                                       .refusal = IW_REFUSAL_NONE,
                                       .tail_shape = 0.25};

    (void)state;
    assert_says(&horizon, "A phase takes twice as long as without noise from 1,024 ranks");
    assert_says(&horizon, "recording supports up to");
    assert_says(&horizon, "120,000 independent phases");
    assert_says(&horizon, "the fitted tail (shape 0.25) 2,400 ranks");
}

static void each_refusal_says_why_and_what_to_do(void **state)
{
    static const struct {
        iw_refusal refusal;
        double record_s;
        const char *part;
    } cases[] = {
        {IW_REFUSAL_SHORT, 180, "a rare source may be"}, {IW_REFUSAL_FEW, 600, "too few phases lose"},
        {IW_REFUSAL_MIXTURE, 7200, "differ in kind"},    {IW_REFUSAL_HEAVY, 0, "has no finite mean"},
        {IW_REFUSAL_SHORT, 180, "Record for 180 s."},    {IW_REFUSAL_HEAVY, 0, "A longer"}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const iw_window_horizon horizon = {.phases = 1000,
                                           .observed_ranks = 20,
                                           .tail_ranks = 20,
                                           .refusal = cases[i].refusal,
                                           .record_s = cases[i].record_s,
                                           .tail_shape = (double)NAN};

        assert_says(&horizon, cases[i].part);
    }
}

static void rows_without_answer_are_said_once(void **state)
{
    const iw_window_horizon horizon = {.phases = 1000, .observed_ranks = 20, .tail_ranks = 20};

    (void)state;
    assert_says(&horizon, "8,192 or more                                          refused\n");
    assert_says(&horizon, "2.816x up refused   daemon\n");
}

static void the_worst_source_is_said_where_it_changes(void **state)
{
    const iw_window_horizon horizon = {.phases = 1000, .observed_ranks = 20, .tail_ranks = 20};

    (void)state;
    assert_says(&horizon, "- Largest source: tick from 16 ranks, daemon from 1,024 ranks.");
}

/* Intervals that miss the bounds are said to; simulated 1.0 ms is below 1.0105 ms. */
static void simulations_outside_the_bounds_are_named(void **state)
{
    const iw_window_horizon horizon = {.phases = 1000, .observed_ranks = 20, .tail_ranks = 20};
    iw_model_row simulated[5];
    iw_model_report report = report_of(&horizon);
    char *text;

    (void)state;
    memcpy(simulated, rows, sizeof rows);
    simulated[0].simulated = (iw_model_check){100, {1e6, 0.999e6, 1.001e6}};
    simulated[1].simulated = (iw_model_check){100, {7e6, 6e6, 8e6}};
    report.rows = simulated;
    text = text_of(&report);
    assert_non_null(strstr(text, "1.04 % below"));
    assert_non_null(strstr(text, " above"));
    assert_non_null(strstr(text, "2 are significantly outside"));
    free(text);
}

static void a_shape_that_rounds_to_nothing_has_no_sign(void **state)
{
    const iw_window_horizon horizon = {
        .phases = 1000, .observed_ranks = 20, .tail_ranks = 40, .tail_shape = -0.004};

    (void)state;
    assert_says(&horizon, "(shape 0.00)");
}

static void noise_that_hits_messages_is_said_to_be_left_out(void **state)
{
    const iw_window_horizon horizon = {.phases = 1000, .observed_ranks = 20, .tail_ranks = 20};
    iw_model_report report = report_of(&horizon);
    char *text = text_of(&report);

    (void)state;
    assert_null(strstr(text, "hits messages"));
    free(text);
    report.net = "chic";
    text = text_of(&report);
    assert_non_null(strstr(text, "not counting noise that hits"));
    assert_non_null(strstr(text, "the result may lie above the range"));
    free(text);
    report.noise = "exp:1%"; /* of phases: it hits no message */
    report.horizon = NULL;
    text = text_of(&report);
    assert_null(strstr(text, "not counting noise that hits"));
    free(text);
}

static void csv_and_json_leave_out_what_is_refused(void **state)
{
    const iw_window_horizon horizon = {.phases = 1000, .observed_ranks = 20, .tail_ranks = 20};
    const iw_model_report report = report_of(&horizon);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    (void)state;
    assert_ok(iw_doc_write(NULL, iw_model_doc(&report), IW_DOC_CSV, NULL, out));
    assert_ok(iw_doc_write(NULL, iw_model_doc(&report), IW_DOC_JSON, NULL, out));
    (void)fclose(out);
    assert_non_null(strstr(text, "\n8192,1030000,,,,,,,,,,,refused,daemon,,,,\n"));
    assert_non_null(strstr(
        text,
        "\n16,1010000,5000,4000,6000,1011000,1010500,1012000,1015000,1014000,1016000,,recording,tick,,,,\n"));
    assert_non_null(strstr(text, "\"refusal\": \"none\""));
    assert_non_null(strstr(text, "\"median_ns\": null"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_horizon_is_said_with_the_verdict),
        cmocka_unit_test(each_refusal_says_why_and_what_to_do),
        cmocka_unit_test(rows_without_answer_are_said_once),
        cmocka_unit_test(the_worst_source_is_said_where_it_changes),
        cmocka_unit_test(simulations_outside_the_bounds_are_named),
        cmocka_unit_test(a_shape_that_rounds_to_nothing_has_no_sign),
        cmocka_unit_test(noise_that_hits_messages_is_said_to_be_left_out),
        cmocka_unit_test(csv_and_json_leave_out_what_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
