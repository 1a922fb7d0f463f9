/* Tests of networks of osu_latency: a table of a network whose parameters are known must give these back.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/order.h"
#include "core/base/rng.h"
#include "kit/files/net/net_yaml.h"
#include "net_testing.h"
#include "support/support.h"

#define TITLE "# OSU MPI Latency Test v7.3\n# Datatype: MPI_CHAR.\n"
#define PLAIN TITLE "# Size       Avg Latency(us)\n"
#define TAILS \
    TITLE "# Size       Avg Latency(us)     P50 Tail Lat(us)     P90 Tail Lat(us)     P99 Tail Lat(us)\n"
#define OLD "# OSU MPI-CUDA Latency Test v5.8\n# Size          Latency (us)\n"

#define PATH "dir/osu.out"
#define expect_refused(...) iwt_expect_net_refused("osu", __VA_ARGS__)

enum { TEXT_SIZE = 16 * 1024, MESSAGES = 20000 };

static iw_net read_text(const char *text)
{
    struct iwt_log log;

    return iwt_read_net(&log, PATH, text);
}

/* ---- times ---- */

/* 2 us and 0.1 ns a byte; from 16 KiB on 4 us more. */
static double time_us(uint64_t bytes)
{
    return 2 + 1e-4 * (double)bytes + (bytes > 8192 ? 4 : 0);
}

static void times_come_back(void **state)
{
    char text[TEXT_SIZE];
    size_t used = (size_t)snprintf(text, sizeof text, "[node17] a warning of the launcher\n\n" PLAIN);
    iw_net net;

    (void)state;
    for (uint64_t bytes = 1; bytes <= UINT64_C(4) << 20; bytes *= 2) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%-10llu %20.2f\n",
                                 (unsigned long long)bytes, time_us(bytes));
    }
    net = read_text(text);
    assert_string_equal(net.name, "osu");
    assert_int_equal(net.S_bytes, 65 * 1024);
    for (uint64_t bytes = 1; bytes <= UINT64_C(4) << 20; bytes *= 2) {
        iwt_assert_near(iwt_half_round_trip(&net, bytes), 1e6 * time_us(bytes), 0.055);
    }
    iwt_assert_near(iwt_half_round_trip(&net, 49152), 1e6 * time_us(49152), 0.055);
    assert_int_equal(net.noise.point_count, 0);
}

static void older_versions_are_read(void **state)
{
    const iw_net net = read_text(OLD "0                       1.50\n1                       1.52\n"
                                     "2                       1.50\n1024                    2.52\n");

    (void)state;
    iwt_assert_near(iwt_half_round_trip(&net, 1), 1500000, 0.01);
    iwt_assert_near(iwt_half_round_trip(&net, 1024), 2520000, 0.01);
}

/* What osu_latency cannot tell: a caveat of the network, and a warning. */
static void what_is_unknown_is_said(void **state)
{
    struct iwt_log log;
    const iw_net net = iwt_read_net(&log, PATH, PLAIN "1 2.00\n1024 2.10\n");

    (void)state;
    iwt_assert_logged(&log, "'dir/osu.out': o and g are unknown and count as 0");
    assert_int_equal(net.o_send_ps, 0);
    assert_int_equal(net.o_recv_ps, 0);
    assert_true(net.origin.is_measured);
    assert_int_equal(net.origin.hosts, 0);
}

/* ---- noise ---- */

static double draw_delay_us(uint64_t message)
{
    const struct iwi_draw_id id = {11, message, IWI_DRAW_BOOTSTRAP, 0, 0};

    return iwi_draw_unit(id, 0) < 0.05 ? -20 * log(iwi_draw_unit(id, 1)) : 0.02 * iwi_draw_unit(id, 1);
}

static double share_beyond(const iw_net_noise *noise, double delay_us)
{
    for (uint32_t i = 1; i < noise->point_count; i++) {
        const iw_net_noise_point *from = &noise->points[i - 1], *to = &noise->points[i];
        const double low = (double)from->delay_ps / 1e6, high = (double)to->delay_ps / 1e6;

        if (high > delay_us) {
            return 1 - from->share - (to->share - from->share) * fmax(delay_us - low, 0) / (high - low);
        }
    }
    return 0;
}

/* One message in 20 is delayed by 20 us on average: half round trips are of two. */
static void percentiles_become_the_noise_of_single_messages(void **state)
{
    double *us = malloc(MESSAGES * sizeof *us), sum = 0;
    char text[TEXT_SIZE];
    size_t used = (size_t)snprintf(text, sizeof text, "%s", TAILS);
    iw_net net;

    (void)state;
    assert_non_null(us);
    for (uint64_t i = 0; i < MESSAGES; i++) {
        us[i] = 2 + 0.5 * (draw_delay_us(2 * i) + draw_delay_us(2 * i + 1));
        sum += us[i];
    }
    iwi_sort_doubles(us, MESSAGES);
    for (unsigned bytes = 1; bytes <= 1024; bytes *= 2) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%u %.2f %.2f %.2f %.2f\n", bytes,
                                 sum / MESSAGES, us[MESSAGES / 2], us[MESSAGES - MESSAGES / 10],
                                 us[MESSAGES - MESSAGES / 100]);
    }
    free(us);
    net = read_text(text);
    iwt_assert_near(iw_net_noise_mean_ps(&net.noise), 1e6 * 0.05 * 20, 0.1);
    iwt_assert_near(share_beyond(&net.noise, 1.0), 0.05 * exp(-1.0 / 20), 0.3);
    iwt_assert_near(share_beyond(&net.noise, 20.0), 0.05 * exp(-1.0), 0.3);
    iwt_assert_near(iwt_half_round_trip(&net, 1), 2000000, 0.02);
}

/* Shares are roots of percentiles, delays twice what half round trips exceed the lowest by. Half way between
 * 0 and 0.4 us are 0.3 sqrt(0.1 / 0.3) of the messages. */
static void noise_can_be_computed_by_hand(void **state)
{
    const iw_net net = read_text(TITLE "# Size Avg Latency(us) P49 Tail Lat(us) P81 Tail Lat(us)\n"
                                       "1 2.50 2.00 2.20\n1024 2.50 2.00 2.20\n65536 9.00 8.00 8.90\n");
    const iw_net_noise_point *points = net.noise.points;

    (void)state;
    assert_int_equal(net.noise.point_count, 19);
    assert_true(points[1].share == 0.7 && points[1].delay_ps == 0);
    iwt_assert_near(points[5].share, 1 - 0.3 * sqrt(1.0 / 3), 1e-9);
    assert_int_equal(points[5].delay_ps, 200000);
    iwt_assert_near(points[9].share, 0.9, 1e-9);
    assert_int_equal(points[9].delay_ps, 400000);
    iwt_assert_near(iw_net_noise_mean_ps(&net.noise), 500000, 0.06);
}

static void least_and_largest_need_no_guess(void **state)
{
    const iw_net net =
        read_text(TITLE "# Size Avg Latency(us) Min Latency(us) Max Latency(us) Iterations P81 Tail Lat(us)\n"
                        "1 2.50 2.00 12.00 1000 3.00\n1024 2.60 2.10 12.10 1000 3.10\n");
    const iw_net_noise_point *points = net.noise.points;

    (void)state;
    assert_int_equal(net.noise.point_count, 18);
    iwt_assert_near(points[8].share, 0.9, 1e-9);
    assert_int_equal(points[8].delay_ps, 2000000);
    assert_int_equal(points[17].delay_ps, 20000000);
    iwt_assert_near(iwt_half_round_trip(&net, 1), 2000000, 0.01);
}

/* As many percentiles as are read fit into a network. */
static void many_percentiles_fit(void **state)
{
    char text[TEXT_SIZE];
    size_t used = (size_t)snprintf(text, sizeof text, TITLE "# Size Avg Latency(us)");
    iw_net net;

    (void)state;
    for (unsigned i = 0; i < 16; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, " P%u Tail Lat(us)", 50 + 3 * i);
    }
    for (unsigned bytes = 1; bytes <= 2; bytes++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "\n%u 4.00", bytes);
        for (unsigned i = 0; i < 16; i++) {
            used += (size_t)snprintf(text + used, sizeof text - used, " %.2f", 2 + 0.1 * i);
        }
    }
    snprintf(text + used, sizeof text - used, "\n");
    net = read_text(text);
    assert_int_equal(net.noise.point_count, 2 + 3 * 15 + 4);
}

static void no_excess_is_no_noise(void **state)
{
    const iw_net net = read_text(TAILS "1 2.00 2.00 2.00 2.00\n1024 3.00 3.00 3.00 3.00\n");

    (void)state;
    assert_int_equal(net.noise.point_count, 0);
}

/* ---- what is refused ---- */

static void other_tests_are_refused(void **state)
{
    const char *const others[] = {"MPI Allreduce Latency Test v7.3", "MPI Multi Latency Test v7.3",
                                  "MPI_Put Latency Test v7.3", "MPI Bandwidth Test v7.3"};

    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        char text[200];

        snprintf(text, sizeof text, "# OSU %s\n# Size       Avg Latency(us)\n4 10.00\n8 11.00\n", others[i]);
        expect_refused(text, IW_ERR_FORMAT, "not the output of osu_latency");
    }
}

static void tables_that_cannot_be_are_refused(void **state)
{
    (void)state;
    expect_refused(PLAIN, IW_ERR_FORMAT, "two sizes");
    expect_refused(PLAIN "1 2.00\n", IW_ERR_FORMAT, "two sizes");
    expect_refused(PLAIN "1 2.00\n2 0.00\n", IW_ERR_FORMAT, "'osu:5': expected a time above 0 us");
    expect_refused(PLAIN "1 2.00\n2 4e9\n", IW_ERR_FORMAT, "at most 1 h");
    expect_refused(PLAIN "1 2.00\n2 2.00 3.00\n", IW_ERR_FORMAT, "more columns than the head");
    expect_refused(PLAIN "1 2.00\n2 2.0", IW_ERR_TRUNCATED, "cut off");
    expect_refused(PLAIN "1 2.00\n2x 2.0\n", IW_ERR_FORMAT, "expected a size");
    expect_refused(PLAIN "1 2.00\n1099511627777 2.0\n", IW_ERR_FORMAT, "at most 1 TiB");
    expect_refused(PLAIN "1 2.00\n4 2.00\n2 2.00\n", IW_ERR_FORMAT, "sizes must rise");
    expect_refused(PLAIN "1 2.00\n2 2.00\n" PLAIN "1 2.00\n", IW_ERR_FORMAT, "a second table begins");
    expect_refused(TITLE "# Size Iterations\n1 2\n2 2\n", IW_ERR_FORMAT, "no column of latencies");
    expect_refused(TITLE "# Size Avg Latency(us) Bandwidth\n1 2 2\n", IW_ERR_FORMAT, "does not write");
    expect_refused(TITLE "# Size Avg Latency(us) P101 Tail Lat(us)\n1 2 2\n", IW_ERR_FORMAT, "above 100");
    expect_refused(TITLE "# Size Avg Latency(us) P9 Tail Lat(us) P9 Tail Lat(us)\n", IW_ERR_FORMAT, "twice");
}

static void too_much_is_refused(void **state)
{
    char text[TEXT_SIZE];
    size_t used = (size_t)snprintf(text, sizeof text, PLAIN);

    (void)state;
    for (unsigned i = 1; i <= 57; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%u 2.00\n", i);
    }
    expect_refused(text, IW_ERR_FORMAT, "more than 56 sizes");
    used = (size_t)snprintf(text, sizeof text, TITLE "# Size Avg Latency(us)");
    for (unsigned i = 1; i <= 17; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, " P%u Tail Lat(us)", i);
    }
    snprintf(text + used, sizeof text - used, "\n");
    expect_refused(text, IW_ERR_FORMAT, "more than 16 percentiles");
    used = (size_t)snprintf(text, sizeof text, TITLE "# Size Avg Latency(us)");
    for (unsigned i = 1; i <= 32; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, " Iterations");
    }
    snprintf(text + used, sizeof text - used, "\n");
    expect_refused(text, IW_ERR_FORMAT, "more than 32 columns");
}

/* A network file may say where its values are from. */
static void a_comment_about_osu_is_no_table(void **state)
{
    const iw_net net = read_text("# OSU MPI Latency Test v7.3 gave these\nL: 5us\no: 1us\ng: 1us\nG: 1ns\n");

    (void)state;
    assert_int_equal(net.L_ps, 5000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_come_back),
        cmocka_unit_test(older_versions_are_read),
        cmocka_unit_test(what_is_unknown_is_said),
        cmocka_unit_test(percentiles_become_the_noise_of_single_messages),
        cmocka_unit_test(noise_can_be_computed_by_hand),
        cmocka_unit_test(least_and_largest_need_no_guess),
        cmocka_unit_test(many_percentiles_fit),
        cmocka_unit_test(no_excess_is_no_noise),
        cmocka_unit_test(other_tests_are_refused),
        cmocka_unit_test(tables_that_cannot_be_are_refused),
        cmocka_unit_test(too_much_is_refused),
        cmocka_unit_test(a_comment_about_osu_is_no_table),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
