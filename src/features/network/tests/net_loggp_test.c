/* Tests of networks of netgauge: a table of a network whose parameters are known must give these back.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/rng.h"
#include "core/net/cost.h"
#include "kit/files/net/net_yaml.h"
#include "net_testing.h"
#include "support/support.h"

#define HEAD "# size n PRTT(1,0,s) PRTT(n,0,s) PRTT(n,PRTT(1,0,s),s) L o_s o_r g G lsqu(g,G)\n"

#define expect_refused(...) iwt_expect_net_refused("ng", __VA_ARGS__)

enum { N = 10, SIZES = 128, TEXT_SIZE = 64 * 1024 };

/* How a table is spoiled: nothing of it makes a time shorter, but differences of times. */
struct spoiling {
    double late_share;   /* of rows that take up to three times as long */
    size_t low_overhead; /* this row has overheads of 0; 0: none */
    size_t repeated;     /* this row is there twice; 0: none */
};

static double us_of(iw_time ps)
{
    return (double)ps / 1e6;
}

static double late(const struct spoiling *spoiling, size_t row, uint64_t what)
{
    const struct iwi_draw_id id = {7, row, IWI_DRAW_BOOTSTRAP, (uint32_t)what, 0};

    return iwi_draw_unit(id, 0) < spoiling->late_share ? 1 + 2 * iwi_draw_unit(id, 1) : 1;
}

/* One row as netgauge would print it: PRTT(n,0,s) and PRTT(n,d,s) in trains, o_s and o_r from them. */
static size_t print_row(const iw_net *net, const struct spoiling *spoiling, size_t row, char *text,
                        size_t size)
{
    const uint64_t bytes = 1 + 1024 * (uint64_t)row;
    const struct iwi_cost cost = iwi_cost_of(net, bytes);
    const double o_s = us_of(cost.send_cpu), o_r = us_of(cost.recv_cpu);
    const double trip = 2 * (o_s + us_of(cost.wire) + o_r), gap = fmax(fmax(o_s, o_r), us_of(cost.gap));
    const double first = trip * late(spoiling, row, 0),
                 train = (trip + (N - 1) * gap) * late(spoiling, row, 1);
    const bool is_low = spoiling->low_overhead > 0 && row == spoiling->low_overhead;

    return (size_t)snprintf(
        text, size, "%llu %d %f %f %f %f %f %f %s\n", (unsigned long long)bytes, N, first, train,
        first + (N - 1) * (first + o_s), us_of(net->L_ps), is_low ? -0.01 : o_s * late(spoiling, row, 2),
        is_low ? 0 : o_r * late(spoiling, row, 3), row == 0 ? "-nan -nan -nan" : "1.0 0.0001 0.1");
}

static void print_table(const iw_net *net, const struct spoiling *spoiling, char text[TEXT_SIZE])
{
    size_t used = (size_t)snprintf(text, TEXT_SIZE, HEAD "# to get g,G: plot\n");

    for (size_t row = 0; row < SIZES; row++) {
        used += print_row(net, spoiling, row, text + used, TEXT_SIZE - used);
        if (spoiling->repeated > 0 && row == spoiling->repeated) {
            used += print_row(net, spoiling, row, text + used, TEXT_SIZE - used);
        }
    }
    assert_true(used < TEXT_SIZE);
}

static iw_net read_text(const char *text)
{
    struct iwt_log log;

    return iwt_read_net(&log, "dir/ng_loggp.out", text);
}

static iw_net read_table(const iw_net *net, const struct spoiling *spoiling)
{
    char *text = malloc(TEXT_SIZE);
    iw_net read;

    assert_non_null(text);
    print_table(net, spoiling, text);
    read = read_text(text);
    free(text);
    return read;
}

/* What messages take from row `first` on, but of the largest: nothing tells whether these were late. */
static void expect_same_times(const iw_net *net, const iw_net *truth, uint64_t first, double share)
{
    for (uint64_t row = first; row < SIZES - 8; row++) {
        const uint64_t bytes = 1 + 1024 * row;

        iwt_assert_near(iwt_half_round_trip(net, bytes), iwt_half_round_trip(truth, bytes), share);
    }
}

static const iw_net plain = {.L_ps = 1200000,
                             .o_send_ps = 300000,
                             .o_recv_ps = 450000,
                             .g_ps = 800000,
                             .G = 100000,
                             .O = 20000,
                             .S_bytes = UINT64_C(1) << 23};

/* From 8 KiB on the round trip goes on as before, but the CPUs are busy all the time. */
static const iw_net busy_from_8_kib = {.L_ps = 1200000,
                                       .o_send_ps = 300000,
                                       .o_recv_ps = 450000,
                                       .g_ps = 800000,
                                       .G = 100000,
                                       .segment_count = 1,
                                       .segments = {{.from_bytes = 8193,
                                                     .L_ps = 169200,
                                                     .o_send_ps = 1200000,
                                                     .o_recv_ps = 1400000,
                                                     .g_ps = 1700000,
                                                     .G = 100000}},
                                       .S_bytes = UINT64_C(1) << 23};

static void parameters_come_back(void **state)
{
    const iw_net net = read_table(&plain, &(struct spoiling){.late_share = 0});

    (void)state;
    assert_string_equal(net.name, "ng_loggp");
    assert_int_equal(net.S_bytes, 65 * 1024);
    iwt_assert_near(net.L_ps, 1200000, 0.01);
    iwt_assert_near(net.o_send_ps, 300000, 0.01);
    iwt_assert_near(net.o_recv_ps, 450000, 0.01);
    iwt_assert_near(net.g_ps, 800000, 0.01);
    expect_same_times(&net, &plain, 0, 0.01);
}

/* L is not that of netgauge, which is half a round trip with both overheads in it. */
static void a_round_trip_is_the_one_that_was_measured(void **state)
{
    const iw_net net = read_text(HEAD "1 10 4.0 13.0 45.0 2.0 0.5 0.6 -nan -nan -nan\n"
                                      "1001 10 6.0 24.0 65.0 2.0 0.5 0.6 1.0 0.001 -nan\n");

    (void)state;
    assert_int_equal(net.L_ps, 900000);
    assert_int_equal(iwt_half_round_trip(&net, 1), 2000000);
    assert_int_equal(iwt_half_round_trip(&net, 1001), 3000000);
    assert_int_equal(iwt_half_round_trip(&net, 501), 2500000);
    assert_int_equal(net.g_ps, 1000000);
}

/* Where sizes are far apart and one is late, only the next says that it was. */
static void what_only_adds_time_changes_little(void **state)
{
    const iw_net net = read_table(&plain, &(struct spoiling){.late_share = 0.15});

    (void)state;
    expect_same_times(&net, &plain, 16, 0.06);
    iwt_assert_near(net.o_send_ps, 300000, 0.1);
    iwt_assert_near(net.o_recv_ps, 450000, 0.1);
    iwt_assert_near(net.g_ps, 800000, 0.1);
}

static void a_segment_begins_where_overheads_jump(void **state)
{
    const iw_net net = read_table(&busy_from_8_kib, &(struct spoiling){.late_share = 0.1});
    const struct iwi_cost small = iwi_cost_of(&net, 4097), large = iwi_cost_of(&net, 10241);

    (void)state;
    expect_same_times(&net, &busy_from_8_kib, 0, 0.06);
    assert_true(net.segment_count >= 1 && net.segment_count <= 7);
    iwt_assert_near(small.send_cpu, 300000, 0.15);
    iwt_assert_near(large.send_cpu, 1200000, 0.15);
    iwt_assert_near(large.recv_cpu, 1400000, 0.15);
}

static void a_single_overhead_of_nothing_does_not_count(void **state)
{
    const iw_net net = read_table(&plain, &(struct spoiling){.low_overhead = 60});

    (void)state;
    iwt_assert_near(net.o_send_ps, 300000, 0.02);
    iwt_assert_near(net.o_recv_ps, 450000, 0.02);
}

static void a_size_may_be_there_twice(void **state)
{
    const iw_net net = read_table(&plain, &(struct spoiling){.repeated = 3});

    (void)state;
    expect_same_times(&net, &plain, 0, 0.01);
}

static void tables_that_cannot_be_are_refused(void **state)
{
    (void)state;
    expect_refused(HEAD, IW_ERR_FORMAT, "two sizes");
    expect_refused(HEAD "1 10 4 13 45 2 0.5 0.6 0 0\n1 10 4 13 45 2 0.5 0.6 0 0\n", IW_ERR_FORMAT,
                   "two sizes");
    expect_refused(HEAD "1 10 4 13 45 2 0.5 0.6 0 0\n9 10 -nan 13 45 2 0.5 0.6 0 0\n", IW_ERR_FORMAT,
                   "'ng:3': expected");
    expect_refused(HEAD "1 10 4 13 45 2 0.5 0.6 0 0\n9 10 0 13 45 2 0.5 0.6 0 0\n", IW_ERR_FORMAT,
                   "expected a size");
    expect_refused(HEAD "0 10 4 13 45 2 0.5 0.6 0 0\n", IW_ERR_FORMAT, "expected a size");
    expect_refused(HEAD "1099511627777 10 4 13 45 2 0.5 0.6 0 0\n", IW_ERR_FORMAT,
                   "expected a size of at most 1 TiB");
    expect_refused(HEAD "1 1 4 13 45 2 0.5 0.6 0 0\n", IW_ERR_FORMAT, "expected a size");
    expect_refused(HEAD "1 10 4e9 13 45 2 0.5 0.6 0 0\n", IW_ERR_FORMAT, "at most 1 h");
    expect_refused(HEAD "1 10 4 13 45 2 0.5 0.6 0 0\n9 20 4 13 45 2 0.5 0.6 0 0\n", IW_ERR_FORMAT,
                   "n differs from earlier lines");
    expect_refused(HEAD "1 10 4 13 45 2 0.5\n", IW_ERR_FORMAT, "ends before o_r");
    expect_refused(HEAD "1 10 4 13 45 2 0.5 0.6 0 0\n9 10 4 13 45 2 0.5 0.6 0 0", IW_ERR_TRUNCATED,
                   "cut off");
}

static void it_has_no_levels(void **state)
{
    const char text[] = HEAD "1 10 4 13 45 2 0.5 0.6 0 0\n9 10 4 13 45 2 0.5 0.6 0 0\n";
    struct iwt_log log;
    iw_net net;

    (void)state;
    iwt_log_init(&log);
    assert_status(iwi_net_read_memory(&log.log, "ng", text, sizeof text - 1, "node", &net), IW_ERR_USAGE);
    iwt_assert_logged(&log, "output of netgauge's loggp has no levels");
}

/* 4,096 sizes are far more than segments need, and as many as are read. */
static void a_table_of_many_sizes_is_thinned_out(void **state)
{
    enum { ROW = 64, MOST = 4096 };
    char *text = calloc(MOST + 3, ROW);
    size_t used;
    iw_net net;

    (void)state;
    assert_non_null(text);
    used = (size_t)snprintf(text, sizeof HEAD, HEAD);
    for (unsigned i = 0; i < MOST; i++) {
        used += (size_t)snprintf(text + used, ROW, "%u 10 %f %f 0 0 0.5 0.6\n", i + 1, 4 + 0.001 * i,
                                 13 + 0.001 * i);
    }
    net = read_text(text);
    iwt_assert_near(iwt_half_round_trip(&net, 2048), 2000000 + 2047 * 500, 0.02);
    iwt_assert_near(iwt_half_round_trip(&net, MOST), 2000000 + 4095 * 500, 0.02);
    snprintf(text + used, ROW, "5000 10 9 18 0 0 0.5 0.6\n");
    expect_refused(text, IW_ERR_FORMAT, "more than 4096 sizes");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_come_back),
        cmocka_unit_test(a_round_trip_is_the_one_that_was_measured),
        cmocka_unit_test(what_only_adds_time_changes_little),
        cmocka_unit_test(a_segment_begins_where_overheads_jump),
        cmocka_unit_test(a_single_overhead_of_nothing_does_not_count),
        cmocka_unit_test(a_size_may_be_there_twice),
        cmocka_unit_test(tables_that_cannot_be_are_refused),
        cmocka_unit_test(it_has_no_levels),
        cmocka_unit_test(a_table_of_many_sizes_is_thinned_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
