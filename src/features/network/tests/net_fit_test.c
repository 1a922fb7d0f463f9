/* Tests of stats/net_fit.h: intervals of medians, lines through points, slow links.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/network/net_fit.h"

#include <math.h>

#include "core/base/rng.h"
#include "support/support.h"

static double uniform(uint64_t a, uint64_t b)
{
    const struct iwi_draw_id id = {11, a, IWI_DRAW_BOOTSTRAP, 0, 0};

    return iwi_draw_unit(id, b);
}

/* ---- medians ---- */

static void few_values_give_all_of_their_range(void **state)
{
    const double values[] = {5, 1, 3};
    const iw_estimate value = iwi_net_median(values, 3);
    const iw_estimate one = iwi_net_median(values, 1);

    (void)state;
    assert_true(value.value == 3 && value.low == 1 && value.high == 5);
    assert_true(one.value == 5 && one.low == 5 && one.high == 5);
}

static void an_even_number_of_values_meets_in_the_middle(void **state)
{
    const double values[] = {4, 1, 2, 3};

    (void)state;
    assert_true(iwi_net_median(values, 4).value == 2.5);
}

/* The true median of the uniform law is 0.5. */
static void intervals_hold_the_true_median_as_often_as_they_say(void **state)
{
    static const size_t counts[] = {6, 10, 25, 100, IWI_MOST_NET_ROUNDS};

    (void)state;
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        unsigned held = 0;

        for (uint64_t trial = 0; trial < 1000; trial++) {
            double values[IWI_MOST_NET_ROUNDS];
            iw_estimate value;

            for (size_t i = 0; i < counts[c]; i++) {
                values[i] = uniform(trial + 1000 * c, i);
            }
            value = iwi_net_median(values, counts[c]);
            held += value.low <= 0.5 && value.high >= 0.5;
        }
        assert_in_range(held, 930, 999);
    }
}

static void narrow_is_what_reaches_no_further_than_the_share(void **state)
{
    const iw_estimate value = {100, 98, 101};

    (void)state;
    assert_true(iwi_net_is_narrow(&value, 0.02));
    assert_false(iwi_net_is_narrow(&value, 0.019));
}

/* ---- lines ---- */

struct curve {
    uint64_t bytes[IWI_MOST_NET_POINTS];
    iw_estimate values[IWI_MOST_NET_POINTS];
    size_t count;
};

static void add_point(struct curve *curve, uint64_t bytes, double ns, double noise)
{
    const double factor = 1 + noise * (2 * uniform(bytes, 5) - 1);

    curve->bytes[curve->count] = bytes;
    curve->values[curve->count++] =
        (iw_estimate){ns * factor, ns * factor * (1 - noise / 2), ns * factor * (1 + noise / 2)};
}

/* 500 ns + 0.5 ns/B up to 4096 bytes, then 5 us + 0.1 ns/B */
static double two_protocols(uint64_t bytes)
{
    return bytes <= 4096 ? 500 + 0.5 * (double)bytes : 5000 + 0.1 * (double)bytes;
}

static struct curve sampled(double (*law)(uint64_t bytes), double noise)
{
    struct curve curve = {.count = 0};

    for (uint64_t bytes = 1; bytes <= 1 << 22; bytes *= 2) {
        add_point(&curve, bytes, law(bytes), noise);
    }
    return curve;
}

static double one_line(uint64_t bytes)
{
    return 1000 + 0.25 * (double)bytes;
}

static void one_line_stays_one(void **state)
{
    static const double noises[] = {0, 0.01};

    (void)state;
    for (size_t n = 0; n < 2; n++) {
        const struct curve curve = sampled(one_line, noises[n]);
        struct iwi_net_line lines[IWI_MOST_NET_POINTS];

        assert_int_equal(iwi_net_split(curve.bytes, curve.values, curve.count, IWI_NET_TOLERANCE,
                                       IWI_MOST_NET_POINTS, lines),
                         1);
        assert_true(fabs(lines[0].value / 1000.25 - 1) < 0.02);
        assert_true(fabs(lines[0].slope / 0.25 - 1) < 0.02);
    }
}

static void a_change_of_protocol_is_found(void **state)
{
    const struct curve curve = sampled(two_protocols, 0.01);
    struct iwi_net_line lines[IWI_MOST_NET_POINTS];
    const size_t count =
        iwi_net_split(curve.bytes, curve.values, curve.count, IWI_NET_TOLERANCE, IWI_MOST_NET_POINTS, lines);

    (void)state;
    assert_int_equal(count, 2);
    assert_int_equal(curve.bytes[lines[1].first], 8192);
    assert_true(fabs(lines[1].slope / 0.1 - 1) < 0.05);
}

static double wavy(uint64_t bytes)
{
    return 1000 + (double)bytes + 300 * (1 + sin((double)bytes)) + pow((double)bytes, 1.2);
}

static void more_lines_than_room_means_a_wider_tolerance(void **state)
{
    const struct curve curve = sampled(wavy, 0);
    struct iwi_net_line lines[3];
    const size_t count = iwi_net_split(curve.bytes, curve.values, curve.count, 1e-6, 3, lines);
    size_t covered = 0;

    (void)state;
    assert_in_range(count, 1, 3);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(lines[i].first, covered);
        covered += lines[i].count;
        assert_true(lines[i].slope >= 0);
    }
    assert_int_equal(covered, curve.count);
}

static void a_single_point_is_a_line(void **state)
{
    const uint64_t bytes = 1;
    const iw_estimate value = {700, 690, 710};
    struct iwi_net_line line;

    (void)state;
    assert_int_equal(iwi_net_split(&bytes, &value, 1, 0.02, 1, &line), 1);
    assert_true(line.value == 700 && line.slope == 0);
}

/* Each look halves, in logarithms, the stretch that holds the change; 4096 to 8192 takes three. */
static void refining_closes_in_on_the_change(void **state)
{
    struct curve curve = sampled(two_protocols, 0);
    uint64_t sizes[4];

    (void)state;
    for (int look = 0; look < 3; look++) {
        struct curve finer = {.count = 0};

        assert_int_equal(iwi_net_refine(curve.bytes, curve.values, curve.count, 4, sizes), 1);
        assert_in_range(sizes[0], 4097, 8191);
        for (size_t i = 0; i < curve.count; i++) {
            if (i > 0 && curve.bytes[i - 1] < sizes[0] && sizes[0] < curve.bytes[i]) {
                add_point(&finer, sizes[0], two_protocols(sizes[0]), 0);
            }
            add_point(&finer, curve.bytes[i], two_protocols(curve.bytes[i]), 0);
        }
        curve = finer;
    }
    assert_int_equal(iwi_net_refine(curve.bytes, curve.values, curve.count, 4, sizes), 0);
}

static void changes_of_small_sizes_are_looked_for_to_the_byte(void **state)
{
    struct curve curve = {.count = 0};
    uint64_t sizes[4];

    (void)state;
    for (uint64_t bytes = 1; bytes <= 27; bytes += 13) {
        add_point(&curve, bytes, 500, 0);
    }
    add_point(&curve, 29, 650, 0);
    add_point(&curve, 64, 650, 0);
    assert_int_equal(iwi_net_refine(curve.bytes, curve.values, curve.count, 4, sizes), 1);
    assert_int_equal(sizes[0], 28);
}

/* ---- rising ---- */

static void what_rises_is_not_touched(void **state)
{
    iw_estimate values[] = {{1, 0.9, 1.1}, {2, 1.9, 2.1}, {2, 1.5, 2.5}, {7, 6, 8}};

    (void)state;
    iwi_net_rising(values, 4);
    assert_true(fabs(values[0].value - 1) < 1e-12 && fabs(values[3].value - 7) < 1e-12);
    assert_true(fabs(values[2].low - 1.5) < 1e-12);
}

static void an_unsure_point_gives_way_to_sure_ones(void **state)
{
    iw_estimate values[] = {{100, 99.5, 100.5}, {900, 100, 1800}, {110, 109, 111}, {120, 119, 121}};

    (void)state;
    iwi_net_rising(values, 4);
    assert_true(fabs(values[0].value - 100) < 1e-9);
    assert_true(values[1].value < 111); /* the outlier, and not what follows it */
    assert_true(values[2].value < 111);
    assert_true(fabs(values[3].value - 120) < 1e-9);
    for (size_t i = 1; i < 4; i++) {
        assert_true(values[i].value >= values[i - 1].value);
    }
}

/* ---- links ---- */

static void medians_of_links_are_taken_inside_and_between_hosts(void **state)
{
    const iw_net_link links[] = {{.is_inside = true, .small_ns = 1, .large_ns = 10},
                                 {.is_inside = true, .small_ns = 3, .large_ns = 30},
                                 {.is_inside = true, .small_ns = 2, .large_ns = 20},
                                 {.is_inside = false, .small_ns = 50, .large_ns = 900}};
    double scratch[4], small_ns, large_ns;

    (void)state;
    iwi_net_link_medians(links, 4, true, scratch, &small_ns, &large_ns);
    assert_true(small_ns == 2 && large_ns == 20);
    iwi_net_link_medians(links, 4, false, scratch, &small_ns, &large_ns);
    assert_true(small_ns == 50 && large_ns == 900);
    iwi_net_link_medians(links, 3, false, scratch, &small_ns, &large_ns);
    assert_true(small_ns == 0);
    assert_false(iwi_net_is_slow(5, 0));
    assert_true(iwi_net_is_slow(16, 10));
    assert_false(iwi_net_is_slow(14, 10));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_values_give_all_of_their_range),
        cmocka_unit_test(an_even_number_of_values_meets_in_the_middle),
        cmocka_unit_test(intervals_hold_the_true_median_as_often_as_they_say),
        cmocka_unit_test(narrow_is_what_reaches_no_further_than_the_share),
        cmocka_unit_test(one_line_stays_one),
        cmocka_unit_test(a_change_of_protocol_is_found),
        cmocka_unit_test(more_lines_than_room_means_a_wider_tolerance),
        cmocka_unit_test(a_single_point_is_a_line),
        cmocka_unit_test(refining_closes_in_on_the_change),
        cmocka_unit_test(changes_of_small_sizes_are_looked_for_to_the_byte),
        cmocka_unit_test(what_rises_is_not_touched),
        cmocka_unit_test(an_unsure_point_gives_way_to_sure_ones),
        cmocka_unit_test(medians_of_links_are_taken_inside_and_between_hosts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
