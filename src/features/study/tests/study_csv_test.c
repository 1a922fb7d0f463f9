/* A study as CSV.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/study.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/support.h"

#include "study_sample.h"
#include "study_written.h"

static iw_study_results *one_cell(void)
{
    const struct study_sample sample = {
        .systems = 1, .works = 1, .sizes = 1, .syncs = 1, .nets = 1, .points = 1, .trials = 100};
    iw_study_results *results = study_sample_new(&sample);
    iw_cell_result *cell = results->cells;

    cell->noiseless_ns = 1000.0;
    cell->p5_ns = 1100.5;
    cell->p95_ns = 3000.0;
    cell->makespan_ns = (iw_summary){100, 1000, 1200, 1500, 2000, 4000, 1700, 1400, 1600, 1650, 1800};
    return results;
}

static void a_cell_is_a_line(void **state)
{
    iw_study_results *results = one_cell();
    char *text = study_csv(results);

    (void)state;
    assert_string_equal(
        text,
        "id,system,work,net,noise,ranks,bytes,sync,net_scale,trials,seed,messages,noise_share,"
        "noiseless_ns,min_ns,p5_ns,q1_ns,median_ns,q3_ns,p95_ns,max_ns,mean_ns,mean_ns_low,"
        "mean_ns_high,median_ns_low,median_ns_high,mean_slowdown,mean_slowdown_low,"
        "mean_slowdown_high,median_slowdown,median_slowdown_low,median_slowdown_high,settings\n"
        "0000000000000000,chic,allreduce:dissemination,\"L 2 us, o 1 us, g 1 us\",\"poisson:100Hz,20us\","
        "2,1,none,1,100,1,2,0.002,1000,1000,1100.5,1200,1500,2000,3000,4000,1700,1650,1800,1400,1600,0.7,0."
        "65,0.8,0.5,"
        "0.4,0.6,\n");
    free(text);
    iw_study_results_free(results);
}

static void what_is_no_number_is_left_empty(void **state)
{
    iw_study_results *results = one_cell();
    char *text;

    (void)state;
    results->cells->noise_share = NAN;
    results->cells->makespan_ns.median_low = results->cells->makespan_ns.median_high = NAN;
    results->cells->makespan_ns.mean_low = results->cells->makespan_ns.mean_high = NAN;
    text = study_csv(results);
    assert_non_null(strstr(text, ",1,2,,1000,"));
    assert_non_null(strstr(text, ",1700,,,,,0.7,,,0.5,,,\n"));
    free(text);
    iw_study_results_free(results);
}

static void quotes_in_names_are_doubled(void **state)
{
    iw_study_results *results = one_cell();
    char *text;

    (void)state;
    study_sample_rename(&results->cells->system, "the \"big\" one");
    text = study_csv(results);
    assert_non_null(strstr(text, "0000000000000000,\"the \"\"big\"\" one\",allreduce"));
    free(text);
    iw_study_results_free(results);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cell_is_a_line),
        cmocka_unit_test(what_is_no_number_is_left_empty),
        cmocka_unit_test(quotes_in_names_are_doubled),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
