/* The noise of networks in YAML.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <string.h>

#include "core/net/net.h"
#include "kit/files/net/net_yaml.h"
#include "support/support.h"

#define NEEDED "L: 1us\no: 1us\ng: 1us\nG: 1ns\n"

static void quantiles_are_read(void **state)
{
    static const char flat[] = NEEDED "noise: [[0, 0], [90%, 0.05us], [0.999, 2us], [1, 60us]]\n";
    static const char levels[] =
        "levels:\n  - {name: a, ranks: 8, L: 1us, o: 1us, g: 1us, G: 1ns}\n"
        "  - {name: b, L: 1us, o: 1us, g: 1us, G: 1ns}\nnoise:\n  - [0, 1ns]\n  - [1, 2ns]\n";
    iw_net net;

    (void)state;
    assert_ok(iwi_net_read_memory(NULL, "x.yaml", flat, strlen(flat), NULL, &net));
    assert_int_equal(net.noise.point_count, 4);
    assert_true(net.noise.points[1].share == 0.9 && net.noise.points[2].share == 0.999);
    assert_int_equal(net.noise.points[1].delay_ps, 50000);
    assert_int_equal(net.noise.points[3].delay_ps, 60000000);
    assert_ok(iwi_net_read_memory(NULL, "x.yaml", levels, strlen(levels), NULL, &net));
    assert_int_equal(net.noise.point_count, 2);
    assert_int_equal(net.noise.points[0].delay_ps, 1000);
}

static void a_series_is_read(void **state)
{
    static const char flat[] = NEEDED "noise: {series: [0*3, 1.5us, 20ns*2], every: 4us}\n";
    static const char levels[] =
        "levels:\n  - {name: a, ranks: 8, L: 1us, o: 1us, g: 1us, G: 1ns}\n"
        "  - {name: b, L: 1us, o: 1us, g: 1us, G: 1ns}\nnoise:\n  every: 1ns\n  series: [7ns]\n";
    iw_net net;

    (void)state;
    assert_ok(iwi_net_read_memory(NULL, "x.yaml", flat, strlen(flat), NULL, &net));
    assert_int_equal(net.noise.series.count, 6);
    assert_int_equal(net.noise.series.every_ps, 4000000);
    assert_int_equal(net.noise.series.delays_ps[2], 0);
    assert_int_equal(net.noise.series.delays_ps[3], 1500000);
    assert_int_equal(net.noise.series.delays_ps[5], 20000);
    iwi_net_release(&net);
    assert_ok(iwi_net_read_memory(NULL, "x.yaml", levels, strlen(levels), NULL, &net));
    assert_int_equal(net.noise.series.delays_ps[0], 7000);
    iwi_net_release(&net);
    assert_ok(iwi_net_read_memory(NULL, "x.yaml", levels, strlen(levels), "b", &net));
    assert_true(iw_net_is_noisy(&net));
    iwi_net_release(&net);
    assert_ok(iwi_net_read_memory(NULL, "x.yaml", levels, strlen(levels), "a", &net)); /* inside a node */
    assert_false(iw_net_is_noisy(&net));
}

static void faults_are_told_with_file_and_line(void **state)
{
    static const struct {
        const char *text;
        iw_status status;
        const char *message;
    } faults[] = {
        {NEEDED "noise: 5us\n", IW_ERR_FORMAT, ":5': key 'noise': write pairs of a share"},
        {NEEDED "noise: [0, 1]\n", IW_ERR_FORMAT, ":5': key 'noise': write pairs of a share"},
        {NEEDED "noise: [[0, 0], [1, 5]]\n", IW_ERR_FORMAT, ":5': key 'noise': '5' has no unit"},
        {NEEDED "noise: [[0, 0], [most, 5us]]\n", IW_ERR_FORMAT, ":5': key 'noise': 'most' is not a"},
        {NEEDED "noise: [[0, 0], [0.9, 5us]]\n", IW_ERR_RANGE, "the last for a share of 1"},
        {NEEDED "noise: [[0, 0], [0.9, 5us], [1, 4us]]\n", IW_ERR_RANGE, "quantile 3 of its noise must have"},
        {NEEDED "noise: {series: [1us]}\n", IW_ERR_FORMAT, ":5': key 'noise': a series needs its delays and"},
        {NEEDED "noise: {series: [1us, x], every: 1us}\n", IW_ERR_FORMAT,
         "key 'series': 'x' is not a delay,"},
        {NEEDED "noise: {series: [1us*-1], every: 1us}\n", IW_ERR_RANGE, "key 'series': '1us*-1' is no"},
        {NEEDED "noise: {series: [], every: 1us}\n", IW_ERR_RANGE, "the series of its noise is empty"},
        {NEEDED "noise: {series: [1us], every: 0}\n", IW_ERR_RANGE,
         "must last from 1 ps per delay to 10 days"},
        {NEEDED "noise: {series: [0*1048576, 0], every: 1us}\n", IW_ERR_RANGE, "at most 2^20 delays"},
        {NEEDED "noise: {series: [1us, 2h], every: 1us}\n", IW_ERR_RANGE,
         "delay 2 in the series of its noise must be from 0 to 1 h"},
        {NEEDED "noise: {series: [1us], every: 1us, spacing: 2us}\n", IW_ERR_FORMAT, "'spacing'"},
        {"levels:\n  - {name: a, ranks: 2, L: 1us, o: 1us, g: 1us, G: 1ns}\n  - {name: b, L: 1us, o: 1us, g: "
         "1us, G: 1ns}\nnoise: {series: [1us], every: 1us}\nplacement: []\n",
         IW_ERR_FORMAT, "the list is empty"},
        {"levels:\n  - {name: a, L: 1us, o: 1us, g: 1us, G: 1ns, noise: [[0, 0], [1, 5us]]}\n", IW_ERR_FORMAT,
         ":2': key 'noise' belongs beside the levels, not into one"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        struct iwt_log l;
        iw_net net;

        iwt_log_init(&l);
        assert_int_equal(
            iwi_net_read_memory(&l.log, "my.net", faults[i].text, strlen(faults[i].text), NULL, &net),
            faults[i].status);
        iwt_assert_logged(&l, faults[i].message);
        assert_int_equal(l.errors, 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_are_read),
        cmocka_unit_test(a_series_is_read),
        cmocka_unit_test(faults_are_told_with_file_and_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
