/* Simulations in their files: when trials and ranks end, the same text as without the file.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/result.h>

#include <string.h>

#include "features/simulate/simulate_report.h"
#include "support/report_sample.h"
#include "support/support.h"

/* Of a result whose five trials take 1 to 5 times the noiseless 130.2 us, in this order. */
static const double factors[] = {1.0, 3.0, 2.0, 5.0, 4.0};

static iw_simulation *simulation_of(struct sample *s)
{
    iw_simulation *simulation;

    assert_ok(iw_simulation_new(NULL, &s->result, &s->origin, &simulation));
    return simulation;
}

static void a_few_trials_are_all_listed_in_their_order(void **state)
{
    iw_simulation *simulation;
    struct sample s;

    (void)state;
    sample_init(&s);
    sample_set_trials(&s, factors, 5);
    simulation = simulation_of(&s);
    assert_false(simulation->distribution.is_of_ranks);
    assert_int_equal(simulation->trial_time_count, 5);
    assert_int_equal(simulation->trial_times[3].makespan_ps, 651000 * IW_PS_PER_NS);
    assert_true(simulation->trial_times[3].slowdown == 4.0);
    assert_true(simulation->distribution.quantiles_ns[0] == 130200.0);
    assert_true(simulation->distribution.quantiles_ns[5] == 390600.0);
    assert_true(simulation->distribution.quantiles_ns[8] == 624960.0); /* 4.8 times: between 4th and 5th */
    assert_true(simulation->distribution.quantiles_ns[10] == 651000.0);
    iw_simulation_free(simulation);
    sample_release(&s);
}

static void many_trials_are_quantiles_only(void **state)
{
    enum { TRIALS = IWI_MOST_TRIAL_TIMES + 1 };
    static iw_time makespan_ps[TRIALS];
    struct sample s;

    (void)state;
    sample_init(&s);
    for (int i = 0; i < TRIALS; i++) {
        makespan_ps[i] = (TRIALS - i) * IW_PS_PER_NS;
    }
    s.result.makespan_ps = makespan_ps;
    s.result.trials = TRIALS;
    sample_write(&s, IW_DOC_JSON);
    assert_non_null(strstr(s.text, "\"trial_times\": null"));
    assert_non_null(strstr(s.text, "\"p1\": 11,")); /* 1 + 1 % of 1000 */
    sample_report(&s, IW_DOC_HTML);
    s.result.trials = TRIALS - 1;
    sample_write(&s, IW_DOC_JSON);
    assert_null(strstr(s.text, "\"trial_times\": null"));
    sample_release(&s);
}

static void a_single_trial_shows_when_its_ranks_end(void **state)
{
    iw_simulation *simulation;
    iw_time end_ps[8];
    struct sample s;

    (void)state;
    sample_init(&s);
    for (int i = 0; i < 8; i++) {
        end_ps[i] = (i + 1) * IW_PS_PER_US;
    }
    s.result.end_ps = end_ps;
    simulation = simulation_of(&s);
    assert_true(simulation->distribution.is_of_ranks);
    assert_true(simulation->distribution.quantiles_ns[0] == 1000.0);
    assert_true(simulation->distribution.quantiles_ns[5] == 4500.0);
    assert_true(simulation->distribution.quantiles_ns[10] == 8000.0);
    iw_simulation_free(simulation);
    sample_report(&s, IW_DOC_TEXT);
    assert_non_null(strstr(s.text, "When the ranks end:\n"));
    assert_non_null(strstr(s.text, "\n     50 %  4.500 us"));
    sample_release(&s);
}

static void equal_times_are_one_sentence(void **state)
{
    iw_time end_ps[8];
    struct sample s;

    (void)state;
    sample_init(&s);
    for (int i = 0; i < 8; i++) {
        end_ps[i] = 130200 * IW_PS_PER_NS;
    }
    s.result.end_ps = end_ps;
    sample_report(&s, IW_DOC_TEXT);
    assert_non_null(strstr(s.text, "\nAll ranks end at 130.2 us.\n"));
    assert_null(strstr(s.text, "by then"));
    sample_release(&s);
}

/* From twice the time on, as in the text. */
static void the_page_s_table_has_factors_where_times_double(void **state)
{
    static const double slow[][2] = {{1.0, 1.5}, {1.0, 2.0}};
    static const char *const heads[] = {">Slowdown<", ">Relative<"};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct sample s;

        sample_init(&s);
        sample_set_trials(&s, slow[i], 2);
        sample_write(&s, IW_DOC_HTML);
        assert_non_null(strstr(s.text, heads[i]));
        assert_null(strstr(s.text, heads[1 - i]));
        sample_release(&s);
    }
}

static void a_file_shows_what_the_result_does(void **state)
{
    static const iw_doc_format formats[] = {IW_DOC_TEXT, IW_DOC_HTML, IW_DOC_CSV, IW_DOC_JSON};
    static char direct[SAMPLE_TEXT_SIZE];
    struct sample s;

    (void)state;
    sample_init(&s);
    sample_add_noise(&s, "periodic:10Hz,1us");
    sample_set_trials(&s, factors, 5);
    sample_add_explain(&s);
    sample_add_paths(&s);
    s.origin.delay_count = 2;
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        sample_write(&s, formats[i]);
        (void)memcpy(direct, s.text, sizeof direct);
        sample_report(&s, formats[i]);
        assert_string_equal(s.text, direct);
    }
    sample_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_few_trials_are_all_listed_in_their_order),
        cmocka_unit_test(many_trials_are_quantiles_only),
        cmocka_unit_test(a_single_trial_shows_when_its_ranks_end),
        cmocka_unit_test(equal_times_are_one_sentence),
        cmocka_unit_test(the_page_s_table_has_factors_where_times_double),
        cmocka_unit_test(a_file_shows_what_the_result_does),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
