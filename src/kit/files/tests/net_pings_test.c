/* Tests of single messages of netgauge: sizes, runs, floors, quantiles, correlation.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/rng.h"
#include "kit/files/net/net_yaml.h"
#include "support/support.h"

static struct iwi_pings read_text(const char *text)
{
    struct iwi_pings pings = {.size_count = 0};
    struct iwt_log log;

    iwt_log_init(&log);
    if (iwi_pings_read(&log.log, "lat.out", text, strlen(text), &pings) != IW_OK) {
        fail_msg("refused: %s", log.text);
    }
    return pings;
}

static void expect_refused(const char *text, iw_status status, const char *message)
{
    struct iwi_pings pings = {.size_count = 0};
    struct iwt_log log;

    iwt_log_init(&log);
    assert_status(iwi_pings_read(&log.log, "lat.out", text, strlen(text), &pings), status);
    iwt_assert_logged(&log, message);
    assert_int_equal(log.errors, 1);
    assert_null(pings.sizes);
}

static void times_are_kept_in_their_order(void **state)
{
    struct iwi_pings pings = read_text("#size\trtt\n1\t2.980000\n1\t1.788\n1\t1.1920005\n");
    const struct iwi_ping_times *times = pings.sizes;

    (void)state;
    assert_int_equal(pings.size_count, 1);
    assert_int_equal(times->bytes, 1);
    assert_int_equal(times->count, 3);
    assert_int_equal(times->half_trip_ps[0], 2980000);
    assert_int_equal(times->half_trip_ps[1], 1788000);
    assert_int_equal(times->half_trip_ps[2], 1192001);
    assert_int_equal(times->sorted_ps[0], 1192001); /* the floor */
    iwi_pings_release(&pings);
}

static void sizes_are_told_apart_and_sorted(void **state)
{
    struct iwi_pings pings = read_text("#size rtt\n1024 4\n1024 5\n1 2\n1 3\n#size rtt\n1024 6\n1 1\n");

    (void)state;
    assert_int_equal(pings.size_count, 2);
    assert_int_equal(pings.sizes[0].bytes, 1);
    assert_int_equal(pings.sizes[0].count, 3);
    assert_int_equal(pings.sizes[1].bytes, 1024);
    assert_int_equal(pings.sizes[1].count, 3);
    assert_int_equal(pings.sizes[1].half_trip_ps[2], 6000000);
    iwi_pings_release(&pings);
}

static void each_head_begins_a_run(void **state)
{
    struct iwi_pings pings = read_text("#size rtt\n1 2\n1 3\n#size rtt\n#size rtt\n1 4\n# a remark\n1 5\n");
    const struct iwi_ping_times *times = pings.sizes;

    (void)state;
    assert_int_equal(times->run_count, 2);
    assert_int_equal(times->run_first[0], 0);
    assert_int_equal(times->run_first[1], 2);
    iwi_pings_release(&pings);
}

static void quantiles_are_times_that_were_measured(void **state)
{
    struct iwi_pings pings = read_text("1 4\n1 1\n1 3\n1 2\n");
    const struct iwi_ping_times *times = pings.sizes;

    (void)state;
    assert_int_equal(iwi_pings_quantile(times, 0), 1000000);
    assert_int_equal(iwi_pings_quantile(times, 0.25), 1000000);
    assert_int_equal(iwi_pings_quantile(times, 0.26), 2000000);
    assert_int_equal(iwi_pings_quantile(times, 0.5), 2000000);
    assert_int_equal(iwi_pings_quantile(times, 1), 4000000);
    iwi_pings_release(&pings);
}

/* An AR(1) series of known correlation, in runs that begin anew. */
static char *make_series(double correlation, size_t runs, size_t messages_per_run)
{
    const struct iwi_draw_id id = {11, 0, IWI_DRAW_BOOTSTRAP, 0, 0};
    char *text = calloc(runs * (messages_per_run + 1) + 1, 32), *at = text;
    uint64_t draw = 0;

    assert_non_null(text);
    for (size_t run = 0; run < runs; run++) {
        double value = iwi_draw_unit(id, draw++) - 0.5;

        at += snprintf(at, 32, "#size\trtt\n");
        for (size_t i = 0; i < messages_per_run; i++) {
            at += snprintf(at, 32, "1\t%.6f\n", 10 + value);
            value =
                correlation * value + sqrt(1 - correlation * correlation) * (iwi_draw_unit(id, draw++) - 0.5);
        }
    }
    return text;
}

static void neighbours_in_a_run_are_correlated(void **state)
{
    static const double correlations[] = {0, 0.4, 0.8, -0.6};

    (void)state;
    for (size_t i = 0; i < sizeof correlations / sizeof correlations[0]; i++) {
        char *text = make_series(correlations[i], 20, 500);
        struct iwi_pings pings = read_text(text);

        assert_true(fabs(pings.sizes[0].lag1 - correlations[i]) < 0.03);
        iwi_pings_release(&pings);
        free(text);
    }
}

/* Runs of two, whose seconds are as the firsts: across runs nothing is alike. */
static void runs_are_not_correlated_with_each_other(void **state)
{
    struct iwi_pings pings =
        read_text("#size\n1 1\n1 1\n#size\n1 9\n1 9\n#size\n1 2\n1 2\n#size\n1 8\n1 8\n");

    (void)state;
    assert_true(pings.sizes[0].lag1 > 0.999);
    iwi_pings_release(&pings);
}

static void without_pairs_or_variance_there_is_no_correlation(void **state)
{
    static const char *const texts[] = {"1 5\n", "1 5\n1 6\n", "1 5\n1 5\n1 5\n1 5\n",
                                        "#size\n1 5\n#size\n1 7\n"};

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct iwi_pings pings = read_text(texts[i]);

        assert_true(pings.sizes[0].lag1 == 0);
        iwi_pings_release(&pings);
    }
}

static void what_is_no_list_of_messages_is_refused(void **state)
{
    (void)state;
    expect_refused("", IW_ERR_FORMAT, "has no lines");
    expect_refused("#size rtt\n", IW_ERR_FORMAT, "has no lines");
    expect_refused("1 2\n1\n", IW_ERR_FORMAT, "'lat.out:2': expected two numbers");
    expect_refused("1 2 3\n", IW_ERR_FORMAT, "expected two numbers");
    expect_refused("-1 2\n", IW_ERR_FORMAT, "expected two numbers");
    expect_refused("1 nan\n", IW_ERR_FORMAT, "expected two numbers");
    expect_refused("1 0\n", IW_ERR_RANGE, "between 1 ps and 1 h");
    expect_refused("1 3.7e9\n", IW_ERR_RANGE, "between 1 ps and 1 h");
    expect_refused("1 2\n1 1.78", IW_ERR_TRUNCATED, "cut off");
}

static void sizes_are_limited(void **state)
{
    char *text = calloc(258, 16), *at = text;

    (void)state;
    assert_non_null(text);
    for (int i = 0; i < 257; i++) {
        at += snprintf(at, 16, "%d 1\n", i);
    }
    expect_refused(text, IW_ERR_RANGE, "more than 256 sizes");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_kept_in_their_order),
        cmocka_unit_test(sizes_are_told_apart_and_sorted),
        cmocka_unit_test(each_head_begins_a_run),
        cmocka_unit_test(quantiles_are_times_that_were_measured),
        cmocka_unit_test(neighbours_in_a_run_are_correlated),
        cmocka_unit_test(runs_are_not_correlated_with_each_other),
        cmocka_unit_test(without_pairs_or_variance_there_is_no_correlation),
        cmocka_unit_test(what_is_no_list_of_messages_is_refused),
        cmocka_unit_test(sizes_are_limited),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
