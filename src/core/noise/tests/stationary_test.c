/* Noise has no beginning: at time 0, and wherever phases begin anew, it is as it is at any other time.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "timeline.h"

#include "core/base/order.h"
#include "core/noise/duration.h"

enum { RANKS = 20000, INSTANTS = 3 };

/* Detours under way in the mean: rate times mean duration. */
struct law {
    const char *spec;
    double mean_under_way;
};

static const struct law laws[] = {
    {"poisson:100Hz,fixed:2ms", 0.2},
    {"poisson:100Hz,exp:3ms", 0.3},
    {"poisson:100Hz,lognormal:1ms,1", 0.16487212707001282}, /* 0.1 exp(1/2) */
    {"poisson:100Hz,pareto:1.5,500us", 0.15},
    {"poisson:300Hz,pareto:2.5,1ms", 0.5},
    {"periodic:100Hz,2ms", 0.22314355131420976}, /* as often under way: -ln 0.8 */
};

enum { LAWS = sizeof laws / sizeof laws[0] };

/* Within five standard deviations of a binomial count. */
static void assert_share(const char *what, uint64_t count, uint64_t of, double share)
{
    const double expected = share * (double)of, deviation = sqrt(expected * (1 - share));

    if (fabs((double)count - expected) > 5 * deviation) {
        fail_msg("%s: %llu of %llu, %.1f +- %.1f expected", what, (unsigned long long)count,
                 (unsigned long long)of, expected, deviation);
    }
}

static bool is_busy(const iw_noise *noise, struct iwi_stream_id id, iw_time t)
{
    struct stream s = open_stream(noise, id);

    return stream_finish(&s, t, 1, NULL) > t + 1;
}

static void a_rank_is_in_a_detour_as_often_at_time_0_as_at_any_other(void **unused)
{
    static const iw_time instants[INSTANTS] = {0, IW_PS_PER_MS, 40 * IW_PS_PER_MS};

    (void)unused;
    for (size_t i = 0; i < LAWS; i++) {
        iw_noise *noise = new_noise();

        add_spec(noise, laws[i].spec);
        for (size_t k = 0; k < INSTANTS; k++) {
            uint64_t busy = 0;

            for (uint32_t rank = 0; rank < RANKS; rank++) {
                busy += is_busy(noise, (struct iwi_stream_id){7, k, rank}, instants[k]);
            }
            assert_share(laws[i].spec, busy, RANKS, 1 - exp(-laws[i].mean_under_way));
        }
        iw_noise_free(noise);
    }
}

/* The largest distance of two distribution functions. */
static double distance(const iw_time *a, const iw_time *b, size_t count)
{
    double most = 0;

    for (size_t i = 0, k = 0; i < count && k < count;) {
        const iw_time x = a[i] < b[k] ? a[i] : b[k];

        while (i < count && a[i] <= x) {
            i++;
        }
        while (k < count && b[k] <= x) {
            k++;
        }
        most = fmax(most, fabs((double)i - (double)k) / (double)count);
    }
    return most;
}

/* What work loses that begins at time 0, and what other ranks lose that begin later: by Kolmogorov and
 * Smirnov a distance of 1.95 sqrt(2 / n) comes once in a thousand cases. */
static void work_loses_the_same_whenever_it_begins(void **unused)
{
    static iw_time lost[2][RANKS];

    (void)unused;
    for (size_t i = 0; i < LAWS; i++) {
        iw_noise *noise = new_noise();

        add_spec(noise, laws[i].spec);
        for (uint32_t rank = 0; rank < RANKS; rank++) {
            for (uint64_t k = 0; k < 2; k++) {
                const iw_time t = (iw_time)k * 100 * IW_PS_PER_MS, d = 2 * IW_PS_PER_MS;
                struct stream s = open_stream(noise, (struct iwi_stream_id){8, k, rank});

                lost[k][rank] = stream_finish(&s, t, d, NULL) - t - d;
            }
        }
        qsort(lost[0], RANKS, sizeof lost[0][0], iwi_compare_i64);
        qsort(lost[1], RANKS, sizeof lost[1][0], iwi_compare_i64);
        if (distance(lost[0], lost[1], RANKS) > 1.95 * sqrt(2.0 / RANKS)) {
            fail_msg("%s: %.4f", laws[i].spec, distance(lost[0], lost[1], RANKS));
        }
        iw_noise_free(noise);
    }
}

static void each_synchronised_phase_begins_anywhere_in_the_noise(void **unused)
{
    iw_noise *noise = new_noise();
    const struct iwi_stream_id id = {9, 1, 0};
    uint64_t busy = 0;

    (void)unused;
    add_spec(noise, laws[1].spec);
    iw_noise_align(noise, IW_SYNC_PHASE, 0, 1);
    for (uint64_t phase = 0; phase < RANKS; phase++) {
        struct stream s = open_stream(noise, id);
        const iw_time at = (iw_time)phase * IW_PS_PER_US;

        (void)iwi_noise_phase(noise, id, s.state, &s.next, phase, at, 1, NULL);
        busy += stream_finish(&s, at, 1, NULL) > at + 1;
    }
    assert_share(laws[1].spec, busy, RANKS, 1 - exp(-laws[1].mean_under_way));
    iw_noise_free(noise);
}

/* Also those that see everything later, by nearly all of the skew. */
static void skewed_nodes_are_disturbed_from_the_start_on(void **unused)
{
    iw_noise *noise = new_noise();
    uint64_t busy = 0;

    (void)unused;
    add_spec(noise, laws[0].spec);
    iw_noise_align(noise, IW_SYNC_START, 30 * IW_PS_PER_MS, 1);
    for (uint64_t trial = 0; trial < RANKS; trial++) {
        busy += is_busy(noise, (struct iwi_stream_id){3, trial, (uint32_t)(trial % 16)}, 0);
    }
    assert_share(laws[0].spec, busy, RANKS, 1 - exp(-laws[0].mean_under_way));
    iw_noise_free(noise);
}

/* P(left > x) = E (D - x)+ / E D, for the age as for the rest; the right side from draws of D. */
static void the_rest_of_a_detour_that_is_met_has_the_law_of_renewal(void **unused)
{
    static const char *const texts[] = {"fixed:1ms", "exp:1ms", "lognormal:1ms,1", "pareto:2.5,1ms",
                                        "pareto:3.5,1ms"};
    enum { DRAWS = 200000, LEVELS = 8 };
    const struct iwi_draw_id draw = {.seed = 5, .purpose = IWI_DRAW_TEST};

    (void)unused;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        double excess[LEVELS] = {0}, sum = 0;
        uint64_t longer[2][LEVELS] = {{0}};
        struct iwi_duration duration;

        assert_ok(iwi_duration_parse(NULL, "spec", texts[i], &duration));
        for (uint64_t n = 0; n < DRAWS; n++) {
            const double d = (double)iwi_duration_draw(&duration, draw, n);
            const struct iwi_under_way met =
                iwi_duration_under_way(&duration, iwi_draw_unit(draw, 2 * n), iwi_draw_unit(draw, 2 * n + 1));

            sum += d;
            for (int k = 0; k < LEVELS; k++) {
                const double x = 0.25 * (double)IW_PS_PER_MS * (double)(1 << k) - 0.25 * (double)IW_PS_PER_MS;

                excess[k] += fmax(d - x, 0);
                longer[0][k] += (double)met.age_ps > x;
                longer[1][k] += (double)met.left_ps > x;
            }
        }
        for (int k = 0; k < LEVELS; k++) {
            for (int side = 0; side < 2; side++) {
                const double share = (double)longer[side][k] / DRAWS;

                if (fabs(share - excess[k] / sum) > 0.01) {
                    fail_msg("%s, level %d, side %d: %.4f, %.4f expected", texts[i], k, side, share,
                             excess[k] / sum);
                }
            }
        }
    }
}

/* Durations are at most ten days, so their mean is below that of the law, and what is met follows the former.
 * For A = 1.05 and a MIN of 1 us r = (10 days / MIN)^-0.05 = 0.2530, and a share of r (A - 1) / (A - r) =
 * 0.01587 of all that is met has that length; by the law without end it would be r. */
static void heavy_tails_are_met_as_they_are_drawn(void **unused)
{
    struct iwi_duration duration;

    (void)unused;
    assert_ok(iwi_duration_parse(NULL, "spec", "pareto:1.05,1us", &duration));
    for (int k = 0; k < 2; k++) {
        const struct iwi_under_way met = iwi_duration_under_way(&duration, k == 0 ? 0.0158 : 0.0159, 0.5);

        assert_true((met.age_ps + met.left_ps == IW_TIME_INPUT_MAX) == (k == 0));
    }
}

static void durations_without_a_mean_begin_at_time_0(void **unused)
{
    iw_noise *noise = new_noise();

    (void)unused;
    add_spec(noise, "poisson:100Hz,pareto:0.9,50us");
    for (uint32_t rank = 0; rank < 1000; rank++) {
        int64_t state[4];

        assert_true(iwi_noise_begin(noise, (struct iwi_stream_id){1, 1, rank}, state) > 0);
    }
    iw_noise_free(noise);
}

/* With A = 1.1 one in four has over 500 us left, and one in ten over 5 s: 10^7 further detours to walk. */
static void what_is_under_way_has_an_end(void **unused)
{
    iw_noise *noise = new_noise();
    uint32_t long_ones = 0;

    (void)unused;
    add_spec(noise, "poisson:2000kHz,pareto:1.1,1ns");
    for (uint32_t rank = 0; rank < 1000; rank++) {
        struct stream s = open_stream(noise, (struct iwi_stream_id){1, 1, rank});
        const iw_time free_at = stream_finish(&s, 0, 1, NULL);

        long_ones += free_at >= 500 * IW_PS_PER_US;
        assert_true(free_at < 550 * IW_PS_PER_US); /* 1,000 gaps, and what began shortly before their end */
    }
    assert_in_range(long_ones, 1, 20);
    iw_noise_free(noise);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rank_is_in_a_detour_as_often_at_time_0_as_at_any_other),
        cmocka_unit_test(work_loses_the_same_whenever_it_begins),
        cmocka_unit_test(each_synchronised_phase_begins_anywhere_in_the_noise),
        cmocka_unit_test(skewed_nodes_are_disturbed_from_the_start_on),
        cmocka_unit_test(the_rest_of_a_detour_that_is_met_has_the_law_of_renewal),
        cmocka_unit_test(heavy_tails_are_met_as_they_are_drawn),
        cmocka_unit_test(durations_without_a_mean_begin_at_time_0),
        cmocka_unit_test(what_is_under_way_has_an_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
