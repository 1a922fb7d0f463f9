/* Cells become series, in the order of the study, each with its inflection and how sure it is.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/study.h>

#include <math.h>
#include <string.h>

#include "support/support.h"

enum { MOST_CELLS = 16 };

/* Texts are borrowed; nothing is to be freed. */
struct made {
    iw_cell_result cells[MOST_CELLS];
    iw_study_results results;
    iw_series *series;
    size_t count;
};

static void begin(struct made *made)
{
    memset(made, 0, sizeof *made);
    made->results.cells = made->cells;
    made->results.threshold = 1.0;
}

/* A cell that takes 1 us without noise, and (low, median, high) times as long with it. */
static iw_cell_result *add(struct made *made, const char *system, uint32_t ranks, double low, double median,
                           double high)
{
    static char work[] = "barrier", net[] = "net", noise[] = "noise";
    static char a[] = "a", b[] = "b";
    iw_cell_result *cell = &made->cells[made->results.count++];

    *cell = (iw_cell_result){.system = strcmp(system, "a") == 0 ? a : b,
                             .work = work,
                             .net = net,
                             .noise = noise,
                             .ranks = ranks,
                             .bytes = 1,
                             .net_scale = 1.0,
                             .noiseless_ns = 1000.0};
    cell->makespan_ns.median_low = 1000.0 * low;
    cell->makespan_ns.median = 1000.0 * median;
    cell->makespan_ns.median_high = 1000.0 * high;
    return cell;
}

static void cut(struct made *made)
{
    assert_ok(iw_series_new(NULL, &made->results, &made->series, &made->count));
}

static void end(struct made *made)
{
    iw_series_free(made->series, made->count);
}

static void assert_close(double value, double expected)
{
    if (fabs(value - expected) > 1e-9 * expected) {
        fail_msg("%.12g instead of %.12g", value, expected);
    }
}

static void a_series_ascends_whatever_the_order_of_cells(void **state)
{
    struct made made;

    (void)state;
    begin(&made);
    add(&made, "a", 64, 1, 1, 1);
    add(&made, "a", 2, 1, 1, 1);
    add(&made, "a", 16, 1, 1, 1);
    cut(&made);
    assert_int_equal(made.count, 1);
    assert_int_equal(made.series[0].count, 3);
    assert_int_equal(made.series[0].cells[0]->ranks, 2);
    assert_int_equal(made.series[0].cells[1]->ranks, 16);
    assert_int_equal(made.series[0].cells[2]->ranks, 64);
    end(&made);
}

static void series_come_as_the_study_first_names_them(void **state)
{
    struct made made;

    (void)state;
    begin(&made);
    add(&made, "b", 64, 1, 1, 1);
    add(&made, "a", 2, 1, 1, 1);
    add(&made, "b", 2, 1, 1, 1);
    cut(&made);
    assert_int_equal(made.count, 2);
    assert_string_equal(made.series[0].cells[0]->system, "b");
    assert_int_equal(made.series[0].count, 2);
    assert_string_equal(made.series[1].cells[0]->system, "a");
    end(&made);
}

static void everything_but_ranks_sets_cells_apart(void **state)
{
    static char other[] = "other";
    struct made made;

    (void)state;
    begin(&made);
    for (uint32_t ranks = 2; ranks <= 8; ranks++) {
        add(&made, "a", ranks, 1, 1, 1);
    }
    made.cells[1].work = other;
    made.cells[2].bytes = 8;
    made.cells[3].sync = IW_SYNC_START;
    made.cells[4].net_scale = 10.0;
    made.cells[5].noise = other;
    made.cells[6].net = other;
    cut(&made);
    assert_int_equal(made.count, 7);
    end(&made);
}

static void bounds_of_the_medians_bound_the_inflection(void **state)
{
    struct made made;

    (void)state;
    begin(&made);
    add(&made, "a", 16, 1, 1, 1);
    add(&made, "a", 32, 1, 1, 4);
    add(&made, "a", 64, 1, 4, 16);
    add(&made, "a", 128, 4, 16, 64);
    cut(&made);
    /* log2 of the ratio passes 1 half-way from 0 to 2 */
    assert_close(made.series[0].inflection, 32.0 * sqrt(2.0));
    assert_close(made.series[0].inflection_low, 16.0 * sqrt(2.0));
    assert_close(made.series[0].inflection_high, 64.0 * sqrt(2.0));
    end(&made);
}

static void a_lower_bound_that_stays_below_leaves_the_end_open(void **state)
{
    struct made made;

    (void)state;
    begin(&made);
    add(&made, "a", 16, 1, 1, 1);
    add(&made, "a", 32, 1, 4, 4);
    cut(&made);
    assert_true(made.series[0].inflection > 0.0);
    assert_true(made.series[0].inflection_low > 0.0);
    assert_true(made.series[0].inflection_high == 0.0);
    end(&made);
}

static void only_the_upper_bound_may_cross(void **state)
{
    struct made made;

    (void)state;
    begin(&made);
    add(&made, "a", 16, 1, 1, 1);
    add(&made, "a", 32, 1, 1.5, 4);
    cut(&made);
    assert_true(made.series[0].inflection == 0.0);
    assert_close(made.series[0].inflection_low, 16.0 * sqrt(2.0));
    assert_true(made.series[0].inflection_high == 0.0);
    end(&made);
}

static void one_trial_has_no_interval(void **state)
{
    struct made made;

    (void)state;
    begin(&made);
    add(&made, "a", 16, NAN, 1, NAN);
    add(&made, "a", 32, NAN, 4, NAN);
    cut(&made);
    assert_close(made.series[0].inflection, 16.0 * sqrt(2.0));
    assert_true(made.series[0].inflection_low == 0.0);
    assert_true(made.series[0].inflection_high == 0.0);
    end(&made);
}

static void threshold_is_the_study_s(void **state)
{
    struct made made;

    (void)state;
    begin(&made);
    made.results.threshold = 3.0;
    add(&made, "a", 16, 1, 1, 1);
    add(&made, "a", 32, 16, 16, 16);
    cut(&made);
    assert_close(made.series[0].inflection, 16.0 * sqrt(2.0)); /* log2(4) of log2(16) */
    end(&made);
}

static void work_that_takes_no_time_has_no_inflection(void **state)
{
    struct made made;

    (void)state;
    begin(&made);
    add(&made, "a", 16, 1, 1, 1)->noiseless_ns = 0.0;
    cut(&made);
    assert_true(made.series[0].inflection == 0.0);
    end(&made);
}

static void a_study_without_results_has_no_series(void **state)
{
    struct made made;

    (void)state;
    begin(&made);
    cut(&made);
    assert_int_equal(made.count, 0);
    end(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_series_ascends_whatever_the_order_of_cells),
        cmocka_unit_test(series_come_as_the_study_first_names_them),
        cmocka_unit_test(everything_but_ranks_sets_cells_apart),
        cmocka_unit_test(bounds_of_the_medians_bound_the_inflection),
        cmocka_unit_test(a_lower_bound_that_stays_below_leaves_the_end_open),
        cmocka_unit_test(only_the_upper_bound_may_cross),
        cmocka_unit_test(one_trial_has_no_interval),
        cmocka_unit_test(threshold_is_the_study_s),
        cmocka_unit_test(work_that_takes_no_time_has_no_inflection),
        cmocka_unit_test(a_study_without_results_has_no_series),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
