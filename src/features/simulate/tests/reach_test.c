/* How far recordings reach: against numbers worked out by hand.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include <idlewave/whatif.h>

#include "features/simulate/simulate.h"
#include "support/made_recording.h"
#include "support/made_set.h"
#include "support/support.h"

static void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance * fabs(expected))) {
        fail_msg("%.9g is not %.9g", value, expected);
    }
}

/* `count` detours of `duration_ns` on each of `cpus` CPUs of 10 s. */
static iw_recording *made(size_t cpus, size_t count, int64_t duration_ns)
{
    iw_recording *recording = iwt_recording(cpus, INT64_C(10000000000));
    const uint32_t source = iwt_source(recording, IW_CLASS_IRQ, "eno1");

    for (size_t cpu = 0; cpu < cpus; cpu++) {
        for (size_t i = 0; i < count; i++) {
            iwt_detour(recording, cpu, (int64_t)(i + 1) * 50000000, duration_ns, source);
        }
    }
    return recording;
}

static iw_noise_set *set_of(iw_recording *recording, iw_sync sync, uint32_t ranks_per_node)
{
    iw_noise_set *set = iwt_set(recording, NULL);

    iw_noise_set_align(set, sync, 0, ranks_per_node);
    return set;
}

/* ---- the longest ---- */

static void only_the_longest_are_kept(void **state)
{
    static const int64_t lengths[] = {5, 1, 9, 9, 2, 7, 3};
    int64_t room[3];
    struct iwi_longest longest = {room, 3, 0, 0};

    (void)state;
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        iwi_longest_add(&longest, lengths[i]);
    }
    assert_int_equal(longest.seen, 7);
    assert_int_equal(longest.count, 3);
    assert_true(room[0] == 9 && room[1] == 9 && room[2] == 7);
}

/* x_i = (i + 0.5)^(-0.5): a Pareto law of A = 2, whose index is 0.5; all the same: 0. */
static void the_tail_index_is_that_of_the_law(void **state)
{
    int64_t room[20];
    struct iwi_longest pareto = {room, 20, 0, 0}, fixed = {room, 20, 0, 0}, few = {room, 20, 0, 0};

    (void)state;
    for (size_t i = 0; i < 1000; i++) {
        iwi_longest_add(&pareto, llround(1e9 / sqrt((double)i + 0.5)));
    }
    assert_near(iwi_tail_index(&pareto), 0.5, 0.05);
    assert_near(iwi_next_longest_ns(&pareto), 2.0 * (double)room[0], 0.1);
    for (size_t i = 0; i < 1000; i++) {
        iwi_longest_add(&fixed, 700);
    }
    assert_true(iwi_tail_index(&fixed) == 0.0);
    assert_true(iwi_next_longest_ns(&fixed) == 700.0);
    assert_true(iwi_next_longest_ns(&few) == 0.0);
    iwi_longest_add(&few, 100); /* of one alone nothing is known */
    assert_true(iwi_next_longest_ns(&few) == 200.0);
}

/* ---- the reach ---- */

/* 10 Hz of 100 us on each of 2 CPUs for 10 s: W = 20 s. A job of 10 ms on 64 ranks that loses what 10 phases
 * of 1 ms do. With the slowdown s each takes (1 + s) ms and meets 0.64 (1 + s) detours: 100 us
 * (1 - exp(-0.64 (1 + s))) are lost, in the first of them 100 us - exp(-0.64 (1 + s)) (1 - exp(-0.064)) / 640
 * Hz. That is 4.906 % for s = 4.906 %. Unseen: 1 - exp(-3 x 64 x 1 ms / 20 s) = 0.009554 of the phases lose
 * 100 us in place of 47.3 us: 0.0504 % of the time. */
static void unseen_is_by_the_rule_of_three(void **state)
{
    iw_noise_set *set = set_of(made(2, 100, 100000), IW_SYNC_NONE, 2);
    iw_reach reach = iw_reach_of(set, 64, 10 * IW_PS_PER_MS, 0.0490608);

    (void)state;
    assert_near(reach.recorded_s, 10.0, 1e-12);
    assert_near(reach.watched_s, 20.0, 1e-12);
    assert_int_equal(reach.cpus, 2);
    assert_int_equal(reach.longest_ns, 100000);
    assert_near(reach.unseen, 0.00955402 * 0.0527292, 1e-3);
    assert_false(reach.is_bound);
    assert_true(reach.record_s == 0.0);
    iw_noise_set_free(set);
}

/* 20 detours of 10 us to 200 us in 10 s: on 10,000 ranks each millisecond meets the longest, and Hill's index
 * of 4 of them against the fifth is (ln(200/160) + ln(190/160) + ln(180/160) + ln(170/160))/4 = 0.1433. So D
 * = 233.4 us, and what is unseen comes in 1 - exp(-3 x 10,000 x 1 ms / 10 s) = 95.0 % of the phases. */
static void beyond_the_reach_there_is_advice(void **state)
{
    iw_recording *recording = iwt_recording(1, INT64_C(10000000000));
    iw_noise_set *set;
    iw_reach reach;

    (void)state;
    for (int64_t i = 1; i <= 20; i++) {
        iwt_detour(recording, 0, i * 400000000, i * 10000, 0);
    }
    set = set_of(recording, IW_SYNC_NONE, 1);
    reach = iw_reach_of(set, 10000, IW_PS_PER_MS, 0.12); /* of one phase */
    assert_true(reach.is_bound);
    assert_near(reach.unseen, 0.950213 * (0.23345 - 0.19418), 0.1); /* bins merge 200 and 190 us */
    /* 3 x 10,000 x 233.45 us / 10 s = 0.70035, of which a fifth of the slowdown is allowed, and half of that
     * aimed at */
    assert_near(reach.record_s, 10.0 * pow(0.70035 / 0.012, 1.0 / (1.0 - 0.1433)), 0.01);
    assert_false(iw_reach_of(set, 1, IW_PS_PER_MS, 0.0).is_bound);
    iw_noise_set_free(set);
}

/* 4 ranks meet copies of the 2 CPUs of a node, together if noise is node-wide; nodes that are hit together
 * are one. */
static void places_are_cpus_of_nodes(void **state)
{
    iw_recording *recording = made(2, 100, 100000);
    iw_noise_set *set = set_of(recording, IW_SYNC_NONE, 4);
    const struct iwi_set_input *input = &set->inputs[0];
    const struct iwi_exposure many = {.ranks = 64}, one = {.ranks = 1},
                              joined = {.ranks = 64, .is_joined = true};

    (void)state;
    assert_true(input->is_node_wide); /* its CPUs are hit at the same times */
    assert_near(iwi_met_rate_hz(set, input, &many), 32.0 / 20.0, 1e-12);
    assert_near(iwi_met_rate_hz(set, input, &one), 1.0 / 20.0, 1e-12);
    set->inputs[0].is_node_wide = false; /* so each rank is a place of its own */
    assert_near(iwi_met_rate_hz(set, input, &many), 64.0 / 20.0, 1e-12);
    assert_near(iwi_met_rate_hz(set, input, &joined), 32.0 / 20.0, 1e-12);
    iw_noise_set_align(set, IW_SYNC_START, 0, 2);
    assert_near(iwi_met_rate_hz(set, input, &many), 2.0 / 20.0, 1e-12);
    iw_noise_set_align(set, IW_SYNC_NONE, 0, 1); /* one CPU is met, so one was watched */
    assert_near(iwi_met_rate_hz(set, input, &many), 64.0 / 10.0, 1e-12);
    iw_noise_set_free(set);
}

/* What is removed cannot come unseen; touching pieces of two sources are one detour, until one of them goes.
 */
static void parts_have_a_reach_of_their_own(void **state)
{
    iw_recording *recording = made(1, 20, 50000);
    const uint32_t eno1 = iwt_source(recording, IW_CLASS_IRQ, "eno1"),
                   cron = iwt_source(recording, IW_CLASS_THREAD, "cron");
    struct iwi_exposure exposure = {.ranks = 10, .quiet_s = 1e-3};
    iw_noise_set *set;
    bool is_removed[3] = {false};

    (void)state;
    iwt_detour(recording, 0, INT64_C(5000000000), 300000, cron);
    iwt_part(recording, 0, eno1, 100000);
    iwt_part(recording, 0, cron, 200000);
    set = set_of(recording, IW_SYNC_NONE, 1);
    assert_int_equal(iwi_reach_for(set, &exposure, 1.0).longest_ns, 300000);
    assert_ok(iw_noise_set_mark(NULL, set, "cron", is_removed));
    exposure.filter = (struct iwi_removed_filter){is_removed, false};
    assert_int_equal(iwi_reach_for(set, &exposure, 1.0).longest_ns, 100000);
    exposure.filter.value = true;
    assert_int_equal(iwi_reach_for(set, &exposure, 1.0).longest_ns, 200000);
    iw_noise_set_free(set);
}

/* Specs are laws, which hide nothing. */
static void what_is_not_recorded_has_no_reach(void **state)
{
    static const char *const specs[] = {"periodic:100Hz,50us", NULL};
    iw_noise_set *set = iwt_set(NULL, specs);
    const iw_reach reach = iw_reach_of(set, 1000000, IW_PS_PER_MS, 0.0);

    (void)state;
    assert_true(reach.watched_s == 0.0 && reach.unseen == 0.0 && !reach.is_bound);
    iw_noise_set_free(set);
}

/* ---- up to how many ranks ---- */

/* Of detours that are all alike the longest is always met, once there are enough ranks; until then hits may
 * be more often than recorded. Lengths that differ end somewhere. */
static void a_recording_speaks_for_some_ranks(void **state)
{
    iw_recording *recording = made(2, 100, 100000);
    double fine, coarse;

    (void)state;
    assert_true(iw_reach_ranks(recording, 1e-3) > 1e8);
    iw_recording_free(recording);
    recording = iwt_recording(1, INT64_C(100000000000));
    for (int64_t i = 1; i <= 900; i++) { /* Pareto's A = 2 */
        iwt_detour(recording, 0, i * 100000000, llround(1e6 / sqrt((double)i)), 0);
    }
    fine = iw_reach_ranks(recording, 1e-3);
    coarse = iw_reach_ranks(recording, 10e-3);
    /* x = N 1 ms / 100 s: longest 1 ms sqrt(pi x), unseen 3 x 2 ms: a fifth of that at sqrt(x) = 0.059 */
    assert_near(fine, 350.0, 0.25);
    assert_near(coarse, fine / 10.0, 0.1);
    iw_recording_free(recording);
    recording = iwt_recording(1, 1000000000); /* nothing was seen, so nothing is known */
    assert_true(iw_reach_ranks(recording, 1e-3) == 0.0);
    iw_recording_free(recording);
}

/* ---- what is supposed ---- */

/* W = 20 s: jobs that meet more than 2 s of CPU time, those before they begin included, are asked about 10
 * ms, or about the longest detour. */
static void long_jobs_are_asked_what_rare_noise_would_cost(void **state)
{
    iw_noise_set *ticks = set_of(made(2, 100, 100000), IW_SYNC_NONE, 2);
    iw_noise_set *quiet = set_of(iwt_recording(2, INT64_C(10000000000)), IW_SYNC_NONE, 2);
    iw_noise_set *rough = set_of(made(2, 100, 25000000), IW_SYNC_NONE, 2);
    iw_sensitivity sensitivity = iw_reach_of(ticks, 1000, 7 * IW_PS_PER_MS, 0.0).sensitivity;

    (void)state;
    assert_int_equal(sensitivity.length_ns, 10000000);
    assert_near(sensitivity.every_s, 20.0 / 3.0, 1e-12);
    assert_true(isnan(sensitivity.slowdown));
    assert_int_equal(iw_reach_of(quiet, 1000, 7 * IW_PS_PER_MS, 0.0).sensitivity.length_ns, 10000000);
    assert_int_equal(iw_reach_of(rough, 1000, 7 * IW_PS_PER_MS, 0.0).sensitivity.length_ns, 25000000);
    assert_int_equal(iwi_sensitivity_trials(1), 1);
    assert_int_equal(iwi_sensitivity_trials(1000), 10);
    iw_noise_set_free(ticks);
    iw_noise_set_free(quiet);
    iw_noise_set_free(rough);
}

/* ---- another recording ---- */

/* 100 detours of one length, each met alone: a slowdown that is their sum varies as their number does, by
 * 1/100; drawn in stretches of which each has the same number it does not vary at all. */
static void variance_is_that_of_stretches(void **state)
{
    iw_recording *recording = iwt_recording(1, INT64_C(10000000000));
    const struct iwi_exposure exposure = {.ranks = 1, .quiet_s = 1.0};
    iw_noise_set *set;
    struct iwi_file_spread spread = {.variance = -1.0};

    (void)state;
    for (int64_t i = 0; i < 100; i++) {
        iwt_detour(recording, 0, i * 100000000, 1000, 0);
    }
    set = set_of(recording, IW_SYNC_NONE, 1);
    assert_ok(iwi_recording_spread(NULL, set, &exposure, 100e-6 / 10.0, 1, &spread));
    assert_true(spread.variance >= 0.0 && spread.variance < 1e-9);
    iw_noise_set_free(set);
    recording = iwt_recording(1, INT64_C(10000000000));
    for (int64_t i = 0; i < 100; i++) { /* in every other stretch of 100 ms two */
        iwt_detour(recording, 0, i / 2 * 200000000 + i % 2 * 10000000, 1000, 0);
    }
    set = set_of(recording, IW_SYNC_NONE, 1);
    assert_ok(iwi_recording_spread(NULL, set, &exposure, 100e-6 / 10.0, 1, &spread));
    /* the mean of 100 draws of 0 or 2 varies by 1/100, times 100/99 */
    assert_near(spread.variance, 0.0101, 0.3);
    iw_noise_set_free(set);
}

/* One node has 100 detours, the other none: the mean of two draws of 0 or 2 varies by 1/2, times 2/1. */
static void two_nodes_tell_how_nodes_vary(void **state)
{
    char folder[] = "/tmp/iw_reach_XXXXXX", path[2][64];
    const struct iwi_exposure exposure = {.ranks = 1, .quiet_s = 1.0};
    struct iwi_file_spread spread = {.variance = -1.0};
    iw_noise_set *set = NULL;

    (void)state;
    assert_non_null(mkdtemp(folder));
    for (int node = 0; node < 2; node++) {
        iw_recording *recording = iwt_recording(1, INT64_C(10000000000));

        for (int64_t i = 0; i < 100 && node == 0; i++) {
            iwt_detour(recording, 0, i * 100000000, 1000, 0);
        }
        (void)snprintf(path[node], sizeof path[node], "%s/node%d.h5", folder, node);
        assert_ok(iw_recording_save(NULL, recording, path[node]));
        iw_recording_free(recording);
    }
    assert_ok(iw_noise_set_new(NULL, &set));
    assert_ok(iw_noise_set_add(NULL, set, folder));
    iw_noise_set_align(set, IW_SYNC_NONE, 0, 1);
    assert_ok(iwi_recording_spread(NULL, set, &exposure, 50e-6 / 10.0, 1, &spread));
    assert_near(spread.variance, 1.0, 0.3);
    iw_noise_set_free(set);
    assert_int_equal(unlink(path[0]) + unlink(path[1]) + rmdir(folder), 0);
}

/* The same 100 detours in bursts of half a second: single stretches would vary as above, runs of five hold
 * 10, 8, ... 0, ... 8 of them, by 9 about their mean of 5; 20 runs by 9/(20 x 25), times 20/19. */
static void bursts_longer_than_a_stretch_count_as_one(void **state)
{
    iw_recording *recording = iwt_recording(1, INT64_C(10000000000));
    const struct iwi_exposure exposure = {.ranks = 1, .quiet_s = 1.0};
    iw_noise_set *set;
    struct iwi_file_spread spread = {.variance = -1.0};

    (void)state;
    for (int64_t i = 0; i < 100; i++) {
        iwt_detour(recording, 0, i / 10 * 1000000000 + i % 10 * 50000000, 1000, 0);
    }
    set = set_of(recording, IW_SYNC_NONE, 1);
    assert_ok(iwi_recording_spread(NULL, set, &exposure, 100e-6 / 10.0, 1, &spread));
    assert_near(spread.variance, 0.01895, 0.25);
    iw_noise_set_free(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_the_longest_are_kept),
        cmocka_unit_test(the_tail_index_is_that_of_the_law),
        cmocka_unit_test(unseen_is_by_the_rule_of_three),
        cmocka_unit_test(beyond_the_reach_there_is_advice),
        cmocka_unit_test(long_jobs_are_asked_what_rare_noise_would_cost),
        cmocka_unit_test(places_are_cpus_of_nodes),
        cmocka_unit_test(parts_have_a_reach_of_their_own),
        cmocka_unit_test(what_is_not_recorded_has_no_reach),
        cmocka_unit_test(a_recording_speaks_for_some_ranks),
        cmocka_unit_test(variance_is_that_of_stretches),
        cmocka_unit_test(two_nodes_tell_how_nodes_vary),
        cmocka_unit_test(bursts_longer_than_a_stretch_count_as_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
