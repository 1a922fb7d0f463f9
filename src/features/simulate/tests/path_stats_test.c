/* Averages of critical paths, and which places stand out.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include "features/simulate/simulate_report.h"
#include "support/support.h"

enum { PATHS = 20 };

/* Path i takes 1000 + i, of which i is noise of source i % 2; half of it by one detour at tenth i % 10. */
static void make_paths(iw_path *paths)
{
    for (uint32_t i = 0; i < PATHS; i++) {
        const iw_time makespan = 1000 + (iw_time)i, noise = (iw_time)i;

        paths[i] = (iw_path){.trial = i, .makespan_ps = makespan};
        paths[i].split.part_ps[IW_PART_COMPUTE] = 1000;
        paths[i].split.part_ps[IW_PART_NOISE + i % 2] = noise;
        paths[i].split.hops = 2;
        paths[i].split.worst[0] = (iw_hit){i % 10 * 100 + 50, noise / 2, i < 12 ? 7 : i, i % 2};
    }
}

static void parts_of_paths_are_averaged(void **state)
{
    struct iwi_path_means means;
    iw_path paths[PATHS];

    (void)state;
    make_paths(paths);
    assert_ok(iwi_path_means(NULL, paths, PATHS, &means));
    assert_true(means.part_ps[IW_PART_COMPUTE].value == 1000.0);
    assert_true(means.part_ps[IW_PART_COMPUTE].low == 1000.0 &&
                means.part_ps[IW_PART_COMPUTE].high == 1000.0);
    assert_true(fabs(means.part_ps[IW_PART_NOISE].value - 90.0 / PATHS) < 1e-12); /* 0 + 2 + ... + 18 */
    assert_true(fabs(means.part_ps[IW_PART_NOISE + 1].value - 100.0 / PATHS) < 1e-12);
    assert_true(fabs(means.makespan_ps.value - 1009.5) < 1e-9);
    assert_true(fabs(means.hops - 2.0) < 1e-12);
    assert_true(fabs(means.worst_share - 90.0 / 190.0) < 1e-12); /* halves, rounded down */
    assert_int_equal(means.hit_count, PATHS - 2);                /* 0 / 2 and 1 / 2 are nothing */
}

/* Of L = 100 + i, i is at the innermost level. */
static void parts_of_a_network_are_averaged_by_level(void **state)
{
    struct iwi_path_means means;
    iw_path paths[PATHS] = {{.trial = 0}};
    const size_t latency = IW_PART_LATENCY - IW_PART_OVERHEAD;

    (void)state;
    for (int i = 0; i < PATHS; i++) {
        paths[i].split.part_ps[IW_PART_LATENCY] = 100 + i;
        paths[i].split.inner_ps[0][latency] = i;
    }
    assert_int_equal(iwi_path_at_level(&paths[7].split, IW_PART_LATENCY, 0), 7);
    assert_int_equal(iwi_path_at_level(&paths[7].split, IW_PART_LATENCY, IW_NET_INNER_MAX), 100);
    assert_ok(iwi_path_means(NULL, paths, PATHS, &means));
    assert_true(fabs(means.level_ps[0][latency].value - 9.5) < 1e-12);
    assert_true(means.level_ps[1][latency].value == 0.0);
    assert_true(means.level_ps[IW_NET_INNER_MAX][latency].low == 100.0);
    assert_true(means.level_ps[IW_NET_INNER_MAX][latency].high == 100.0);
}

static void an_interval_of_a_part_never_reaches_below_nothing(void **state)
{
    iw_path paths[6] = {{.trial = 0}};
    struct iwi_path_means means;

    (void)state;
    paths[1].split.part_ps[IW_PART_NOISE] = 1000;
    assert_ok(iwi_path_means(NULL, paths, 6, &means));
    assert_true(means.part_ps[IW_PART_NOISE].low == 0.0 && means.part_ps[IW_PART_NOISE].high > 1000.0);
    assert_true(isnan(means.worst_share) == false);
}

/* 10 of 18 largest detours on rank 7 of 64 are no chance; two in each tenth are. */
static void only_what_is_no_chance_stands_out(void **state)
{
    iw_hit_place places[IWI_MOST_PLACES];
    iw_path paths[PATHS];
    size_t found;

    (void)state;
    make_paths(paths);
    assert_ok(iwi_count_places(NULL, paths, PATHS, iwi_path_place_rank, 0, 64, places, &found));
    assert_int_equal(found, IWI_MOST_PLACES);
    assert_int_equal(places[0].number, 7);
    assert_int_equal(places[0].trials, 10);
    assert_int_equal(places[0].of_trials, PATHS - 2);
    assert_true(places[0].stands_out);
    assert_int_equal(places[1].number, 12);
    assert_int_equal(places[1].trials, 1);
    assert_false(places[1].stands_out);
    assert_ok(iwi_count_places(NULL, paths, PATHS, iwi_path_place_tenth, 0, 10, places, &found));
    assert_int_equal(found, IWI_MOST_PLACES);
    assert_int_equal(places[0].number, 2); /* tenths 0 and 1 have one only */
    assert_int_equal(places[0].trials, 2);
    assert_false(places[0].stands_out);
}

/* Of detours that are all alike the first is kept: that says nothing of when they come. */
static void detours_that_are_all_alike_have_no_tenth(void **state)
{
    iw_hit_place places[IWI_MOST_PLACES];
    iw_path paths[PATHS];
    size_t found;

    (void)state;
    make_paths(paths);
    for (size_t i = 0; i < PATHS; i++) {
        paths[i].split.worst[1] = paths[i].split.worst[0];
    }
    assert_ok(iwi_count_places(NULL, paths, PATHS, iwi_path_place_tenth, 0, 10, places, &found));
    assert_int_equal(found, 0);
    assert_ok(iwi_count_places(NULL, paths, PATHS, iwi_path_place_rank, 0, 64, places, &found));
    assert_int_equal(found, IWI_MOST_PLACES);
}

static void seats_and_sources_are_places_too(void **state)
{
    iw_hit_place places[IWI_MOST_PLACES];
    iw_path paths[PATHS];
    size_t found;

    (void)state;
    make_paths(paths);
    assert_ok(iwi_count_places(NULL, paths, PATHS, iwi_path_place_seat, 4, 4, places, &found));
    assert_int_equal(places[0].number, 3); /* 7 % 4, and 15, 19 */
    assert_int_equal(places[0].trials, 12);
    assert_true(places[0].stands_out);
    assert_ok(iwi_count_places(NULL, paths, PATHS, iwi_path_place_source, 0, 2, places, &found));
    assert_int_equal(found, 2);
    assert_int_equal(places[0].trials + places[1].trials, PATHS - 2);
    assert_false(places[0].stands_out);
    assert_ok(iwi_count_places(NULL, paths, PATHS, iwi_path_place_seat, 1, 1, places, &found));
    assert_int_equal(found, 1);
    assert_false(places[0].stands_out); /* there is no other */
}

/* By chance alone, of 300 x 64 ranks at most a few of the 300 sets have one that stands out: 1 % of them. */
static void chance_stands_out_as_rarely_as_stated(void **state)
{
    uint64_t draw = 88172645463325252U;
    iw_hit_place places[IWI_MOST_PLACES];
    iw_path paths[PATHS];
    unsigned sets = 0;
    size_t found;

    (void)state;
    make_paths(paths);
    for (int set = 0; set < 300; set++) {
        for (uint32_t i = 0; i < PATHS; i++) {
            draw ^= draw << 13; /* xorshift64 */
            draw ^= draw >> 7;
            draw ^= draw << 17;
            paths[i].split.worst[0].lost_ps = 1;
            paths[i].split.worst[0].rank = (uint32_t)(draw >> 32) % 64;
        }
        assert_ok(iwi_count_places(NULL, paths, PATHS, iwi_path_place_rank, 0, 64, places, &found));
        sets += places[0].stands_out;
    }
    assert_in_range(sets, 0, 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_of_paths_are_averaged),
        cmocka_unit_test(parts_of_a_network_are_averaged_by_level),
        cmocka_unit_test(an_interval_of_a_part_never_reaches_below_nothing),
        cmocka_unit_test(only_what_is_no_chance_stands_out),
        cmocka_unit_test(detours_that_are_all_alike_have_no_tenth),
        cmocka_unit_test(seats_and_sources_are_places_too),
        cmocka_unit_test(chance_stands_out_as_rarely_as_stated),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
