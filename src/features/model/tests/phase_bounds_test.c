/* Bounds of a phase, and the ranks that double it: the numbers of the papers.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/model.h>

#include <math.h>
#include <stdio.h>

#include "features/model/law.h"
#include "support/support.h"

#define MS 1e6
#define US 1e3

/* What the papers' figures use. */
static const iw_model_question usual = {.work_ns = MS, .latency_ns = 2 * US, .barrier = IW_MODEL_TREE};

static iw_law *make(const char *spec, double work_ns)
{
    iw_law *law = NULL;

    assert_ok(iw_law_new(NULL, spec, work_ns, &law));
    return law;
}

/* In units of the last digit that is printed; the paper cuts the others off. */
static void assert_half_ranks(const char *spec, const iw_model_question *question, double expected,
                              double unit)
{
    iw_law *law = make(spec, question->work_ns);
    iw_doubling_rule rule;
    double ranks;

    assert_ok(iw_model_half_ranks(NULL, law, question, &rule, &ranks));
    iw_law_free(law);
    if (floor(ranks / unit * (1 + 1e-12)) != round(expected / unit)) {
        fail_msg("%s: %.6g is not %g in units of %g", spec, ranks, expected, unit);
    }
}

static void half_ranks_of_exponential_noise_are_those_of_the_paper(void **state)
{
    (void)state;
    assert_half_ranks("exp:1%", &usual, 2.3e27, 1e26);
    assert_half_ranks("exp:10%", &usual, 5196, 1);
}

static void half_ranks_of_pareto_noise_are_those_of_the_paper(void **state)
{
    (void)state;
    assert_half_ranks("pareto:0.5%,3", &usual, 35.4e6, 1e5);
    assert_half_ranks("pareto:0.5%,2", &usual, 158404, 1);
    assert_half_ranks("pareto:0.5%,1.5", &usual, 9724, 1);
    assert_half_ranks("pareto:1%,2", &usual, 39204, 1); /* 4 * 99^2; printed as 39,203 */
    assert_half_ranks("pareto:2%,2", &usual, 9604, 1);
}

/* f = 1 %: p T = w/99. */
static void half_ranks_of_bernoulli_noise_are_those_of_the_paper(void **state)
{
    (void)state;
    assert_half_ranks("bernoulli:0.001010101010101,10ms", &usual, 200, 1);
}

/* Without noise N + 1 = 2^(w/(2 tau)); here 2^10. */
static void half_ranks_without_noise_are_those_of_the_network(void **state)
{
    const iw_model_question slow = {.work_ns = MS, .latency_ns = 50 * US, .barrier = IW_MODEL_TREE};

    (void)state;
    assert_half_ranks("bernoulli:0,2ms", &slow, 1023, 1);
    assert_half_ranks("exp:0%", &slow, 1024, 1);
    assert_half_ranks("none", &slow, 1023, 1);
    assert_half_ranks("none", &usual, 1.8e75, 1e74); /* 2^250 */
}

static iw_doubling_rule rule_of(const char *spec)
{
    iw_law *law = make(spec, MS);
    iw_doubling_rule rule;
    double ranks;

    assert_ok(iw_model_half_ranks(NULL, law, &usual, &rule, &ranks));
    iw_law_free(law);
    return rule;
}

static void rules_that_the_papers_do_not_have_are_ours(void **state)
{
    (void)state;
    assert_int_equal(rule_of("none"), IW_DOUBLING_PAPERS);
    assert_int_equal(rule_of("pareto:1%,1.1"), IW_DOUBLING_PAPERS);
    assert_int_equal(rule_of("pareto:1%,0.9"), IW_DOUBLING_OWN); /* no mean */
    assert_int_equal(rule_of("bernoulli:1%,1ms"), IW_DOUBLING_PAPERS);
    assert_int_equal(rule_of("bernoulli:1%,999us"), IW_DOUBLING_OWN);   /* detours alone never double 1 ms */
    assert_int_equal(rule_of("bernoulli:0,999us"), IW_DOUBLING_PAPERS); /* no noise */
    assert_int_equal(rule_of("periodic:10Hz,5ms"), IW_DOUBLING_BOUND);
}

/* (w - T) / (2 tau) = 500 us / 100 us = 5: N + 1 = 2^5 */
static void short_bernoulli_detours_and_the_network_double_a_phase_together(void **state)
{
    const iw_model_question slow = {.work_ns = MS, .latency_ns = 50 * US, .barrier = IW_MODEL_TREE};

    (void)state;
    assert_half_ranks("bernoulli:50%,500us", &slow, 31, 1);
}

/* 2 tau depth >= w from depth 10 on: the first such tree has 2^10 ranks. */
static void without_noise_the_network_alone_doubles_a_phase(void **state)
{
    const iw_model_question slow = {.work_ns = MS, .latency_ns = 50 * US, .barrier = IW_MODEL_TREE};
    iw_law *law = make("none", MS);
    double first, last;
    iw_model_row row;

    (void)state;
    assert_ok(iw_model_doubled(NULL, law, &slow, &first, &last));
    assert_true(first == 1024 && last == 1024);
    assert_ok(iw_model_answer(NULL, law, &slow, 1024, &row));
    assert_true(row.low_ns.value == 2 * MS && row.high_ns.value == 2 * MS && row.noiseless_ns == 2 * MS);
    assert_true(iw_law_cdf(law, 0) == 1);
    iw_law_free(law);
}

static void half_ranks_of_other_noise_are_where_the_lower_bound_doubles(void **state)
{
    iw_law *law = make("periodic:10Hz,5ms", MS);
    double ranks, first, last;
    iw_doubling_rule rule;

    (void)state;
    assert_ok(iw_model_half_ranks(NULL, law, &usual, &rule, &ranks));
    assert_ok(iw_model_doubled(NULL, law, &usual, &first, &last));
    assert_true(ranks == last && first <= last);
    for (int i = 0; i < 2; i++) { /* of the leaves of one rank fewer it does not */
        const double low = iwi_phase_low(law, &usual, last - i);

        assert_true((low >= 2 * (MS + iw_law_mean_max_ns(law, 1))) == (i == 0));
    }
    iw_law_free(law);
}

static void what_never_doubles_is_said_to_never_do(void **state)
{
    const iw_model_question fast = {.work_ns = MS, .latency_ns = 0, .barrier = IW_MODEL_TREE};
    iw_law *law = make("bernoulli:1%,500us", MS);
    double first, last;

    (void)state;
    assert_ok(iw_model_doubled(NULL, law, &fast, &first, &last));
    assert_true(isinf(first) && isinf(last));
    iw_law_free(law);
}

/* w (1 + f/(1-f) E[Y_512]) + 2 tau 8 and w (1 + f/(1-f) E[Y_1023]) + 2 tau 9 */
static void bounds_of_a_full_tree_are_those_of_theorem_1(void **state)
{
    iw_law *law = make("exp:1%", MS);
    double leaves = 0, all = 0;
    iw_model_row row;

    (void)state;
    for (int i = 1; i <= 1023; i++) {
        leaves += i <= 512 ? 1.0 / i : 0;
        all += 1.0 / i;
    }
    assert_ok(iw_model_answer(NULL, law, &usual, 1023, &row));
    assert_true(fabs(row.low_ns.value - (MS * (1 + leaves / 99) + 16 * 2 * US)) < 1e-3);
    assert_true(fabs(row.high_ns.value - (MS * (1 + all / 99) + 18 * 2 * US)) < 1e-3);
    assert_true(fabs(row.noiseless_ns - (MS + 18 * 2 * US)) < 1e-3);
    assert_true(fabs(row.slowest_ns.value - MS * all / 99) < 1e-3);
    assert_true(row.low_ns.low == row.low_ns.value && row.high_ns.high == row.high_ns.value);
    assert_int_equal(row.support, IW_SUPPORT_EXACT);
    assert_true(isnan(row.median_ns));
    iw_law_free(law);
}

static void dissemination_is_the_slowest_rank_and_all_rounds(void **state)
{
    const iw_model_question question = {MS, 2 * US, IW_MODEL_DISSEMINATION};
    iw_law *law = make("bernoulli:10%,1ms", MS);
    iw_model_row row;

    (void)state;
    for (uint64_t ranks = 1000; ranks <= 1024; ranks += 24) { /* ten rounds */
        assert_ok(iw_model_answer(NULL, law, &question, ranks, &row));
        assert_true(fabs(row.low_ns.value - (2 * MS + 20 * US)) < 1);
        assert_true(row.low_ns.value == row.high_ns.value);
    }
    iw_law_free(law);
}

static void one_rank_needs_no_barrier(void **state)
{
    iw_law *law = make("exp:1%", MS);
    iw_model_row row;

    (void)state;
    assert_ok(iw_model_answer(NULL, law, &usual, 1, &row));
    assert_true(row.low_ns.value == row.high_ns.value && row.noiseless_ns == MS);
    iw_law_free(law);
}

static void bounds_are_ordered_everywhere(void **state)
{
    static const char *const specs[] = {"exp:0.1%",           "exp:30%",
                                        "pareto:1%,1.1",      "pareto:1%,4",
                                        "pareto:1%,0.9",      "bernoulli:0.01%,10ms",
                                        "bernoulli:50%,1us",  "periodic:1kHz,9us",
                                        "periodic:0.1Hz,5ms", "poisson:10Hz,fixed:1ms",
                                        "phase-exp:2%",       "phase-pareto:3%,2"};
    static const double works[] = {1, 1e3, 1e6, 3.3e8}, latencies[] = {0, 1, 2e3, 1e7};

    (void)state;
    for (size_t i = 0; i < sizeof specs / sizeof specs[0] * 16; i++) {
        iw_law *law = make(specs[i / 16], works[i / 4 % 4]);
        double low = 0, high = 0;

        for (int barrier = 0; barrier < 2; barrier++, low = high = 0) {
            const iw_model_question question = {works[i / 4 % 4], latencies[i % 4],
                                                (iw_model_barrier)barrier};

            for (uint64_t ranks = 1; ranks < UINT64_C(1) << 40; ranks = ranks * 5 / 3 + 1) {
                iw_model_row row;

                assert_ok(iw_model_answer(NULL, law, &question, ranks, &row));
                assert_true(row.low_ns.value <= row.high_ns.value);
                assert_true(row.high_ns.value >= row.noiseless_ns);
                assert_true(row.low_ns.value >= low * (1 - 1e-12) && row.high_ns.value >= high * (1 - 1e-12));
                low = row.low_ns.value;
                high = row.high_ns.value;
            }
        }
        iw_law_free(law);
    }
}

static void questions_out_of_range_are_refused(void **state)
{
    iw_law *law = make("exp:1%", MS);
    iw_model_question question = usual;
    struct iwt_log l;
    iw_model_row row;
    iw_doubling_rule rule;
    double ranks;

    (void)state;
    iwt_log_init(&l);
    assert_status(iw_model_answer(&l.log, law, &question, 0, &row), IW_ERR_RANGE);
    iwt_assert_logged(&l, "0 ranks: use 1 to 2^62");
    assert_status(iw_model_answer(&l.log, law, &question, UINT64_MAX, &row), IW_ERR_RANGE);
    question.latency_ns = -1;
    assert_status(iw_model_answer(&l.log, law, &question, 4, &row), IW_ERR_RANGE);
    iwt_assert_logged(&l, "latency of -1 ns");
    question.work_ns = 0;
    assert_status(iw_model_half_ranks(&l.log, law, &question, &rule, &ranks), IW_ERR_RANGE);
    iwt_assert_logged(&l, "without work");
    iw_law_free(law);
}

static void answers_name_what_they_rest_on(void **state)
{
    (void)state;
    assert_string_equal(iw_support_name(IW_SUPPORT_EXACT), "closed form");
    assert_string_equal(iw_support_name(IW_SUPPORT_RECURSION), "recursion");
    assert_string_equal(iw_support_name(IW_SUPPORT_REFUSED), "refused");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(half_ranks_of_exponential_noise_are_those_of_the_paper),
        cmocka_unit_test(half_ranks_of_pareto_noise_are_those_of_the_paper),
        cmocka_unit_test(half_ranks_of_bernoulli_noise_are_those_of_the_paper),
        cmocka_unit_test(half_ranks_without_noise_are_those_of_the_network),
        cmocka_unit_test(rules_that_the_papers_do_not_have_are_ours),
        cmocka_unit_test(short_bernoulli_detours_and_the_network_double_a_phase_together),
        cmocka_unit_test(without_noise_the_network_alone_doubles_a_phase),
        cmocka_unit_test(half_ranks_of_other_noise_are_where_the_lower_bound_doubles),
        cmocka_unit_test(what_never_doubles_is_said_to_never_do),
        cmocka_unit_test(bounds_of_a_full_tree_are_those_of_theorem_1),
        cmocka_unit_test(dissemination_is_the_slowest_rank_and_all_rounds),
        cmocka_unit_test(one_rank_needs_no_barrier),
        cmocka_unit_test(bounds_are_ordered_everywhere),
        cmocka_unit_test(questions_out_of_range_are_refused),
        cmocka_unit_test(answers_name_what_they_rest_on),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
