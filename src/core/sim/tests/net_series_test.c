/* Recorded series of the noise of a network (docs/explanation/semantics.md, rule 16).
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>

#include "builder.h"
#include "core/net/net.h"
#include "core/net/net_noise.h"
#include "random_program.h"
#include "support/support.h"

/* A series whose pair of ranks 0 and 1 begins with the first of three delays, in trial 0 with that seed. */
static iw_net series_net(const iw_time delays_ns[3], iw_time every_ns, uint64_t seed)
{
    iw_net net = iwt_example_net();
    iw_time rotated_ps[3];
    iw_delay_series series = {.count = 3, .every_ps = IWT_NS(every_ns)};
    const iw_time offset = iwi_series_offset(&series, seed, 0, 0, 1);
    const uint32_t first = (uint32_t)(offset / series.every_ps);

    assert_int_equal(offset, iwi_series_offset(&series, seed, 0, 1, 0));
    for (uint32_t k = 0; k < 3; k++) {
        rotated_ps[(first + k) % 3] = IWT_NS(delays_ns[k]);
    }
    assert_ok(iw_net_set_series(NULL, &net, rotated_ps, 3, series.every_ps));
    return net;
}

/* So that the pair is just past the beginning of a delay: no more than half a nanosecond. */
static uint64_t seed_at_begin(iw_time every_ns)
{
    const iw_delay_series series = {.count = 3, .every_ps = IWT_NS(every_ns)};
    uint64_t seed = 0;

    while (iwi_series_offset(&series, seed, 0, 0, 1) % series.every_ps > 500) {
        seed++;
    }
    return seed;
}

static void expect_with_seed(iw_engine engine, const iw_net *net, const struct iwt_builder *b,
                             iw_rendezvous rendezvous, uint64_t seed, const iw_time end_ns[2])
{
    iw_sim_opts opts = IW_SIM_OPTS_INIT;

    opts.engine = engine;
    opts.rendezvous = rendezvous;
    opts.seed = seed;
    iwt_expect_ends(b, net, &opts, end_ns);
}

static void who_leaves_later_may_arrive_earlier(void **state)
{
    const uint64_t seed = seed_at_begin(3);
    iw_net net = series_net((iw_time[]){9, 1, 0}, 3, seed);

    (void)state;
    for (iw_time delay_ns = 0; delay_ns < 2; delay_ns++) {
        struct iwt_builder b;

        iwt_builder_init(&b, 2);
        iwt_calc(&b, 0, IWT_NS(delay_ns));
        iwt_send(&b, 0, 1, 11, 7);
        iwt_recv(&b, 1, 0, 11, 7);
        for (iw_engine engine = IW_ENGINE_EVENT; engine <= IW_ENGINE_FLOW; engine++) {
            expect_with_seed(engine, &net, &b, IW_RENDEZVOUS_IDEAL, seed,
                             delay_ns == 0 ? (iw_time[]){2, 33} : (iw_time[]){3, 26});
        }
        iwt_builder_release(&b);
    }
    iwi_net_release(&net);
}

static void parts_of_a_rendezvous_meet_the_series_when_they_leave(void **state)
{
    const uint64_t seed = seed_at_begin(21);
    iw_net net = series_net((iw_time[]){9, 1, 0}, 21, seed);
    struct iwt_builder b;

    (void)state;
    iwt_builder_init(&b, 2);
    iwt_calc(&b, 1, IWT_NS(50));
    iwt_send(&b, 0, 1, 201, 7);
    iwt_recv(&b, 1, 0, 201, 7);
    expect_with_seed(IW_ENGINE_AUTO, &net, &b, IW_RENDEZVOUS_RTS_CTS, seed, (iw_time[]){66, 287});
    iwt_builder_release(&b);
    iwi_net_release(&net);
}

/* Of neighbouring values. */
static double lag1(const double *values, size_t count)
{
    double mean = 0.0, square = 0.0, product = 0.0;

    for (size_t i = 0; i < count; i++) {
        mean += values[i] / (double)count;
    }
    for (size_t i = 0; i + 1 < count; i++) {
        square += (values[i] - mean) * (values[i] - mean);
        product += (values[i] - mean) * (values[i + 1] - mean);
    }
    return product / square;
}

struct trips {
    double *ps;
    size_t count;
};

static void note_trip(void *arg, uint32_t rank, const iw_step *step)
{
    struct trips *trips = arg;

    if (rank == 0) {
        trips->ps[trips->count++] = (double)(iw_step_end(step) - step->begin_ps);
    }
}

/* A ping-pong of `count` round trips, each of which begins with a phase: the lag-1 correlation. */
static double simulated_lag1(const iw_net *net, size_t count)
{
    struct trips trips = {.ps = calloc(count + 1, sizeof(double))};
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    struct iwt_builder b;
    iw_program *program;
    iw_sim_result *result;
    double correlation;

    assert_non_null(trips.ps);
    iwt_builder_init(&b, 2);
    for (size_t k = 0; k < count; k++) {
        iwt_calc(&b, 0, 1);
        iwt_send(&b, 0, 1, 1, 0);
        iwt_recv(&b, 1, 0, 1, 0);
        iwt_send(&b, 1, 0, 1, 0);
        iwt_recv(&b, 0, 1, 1, 0);
    }
    program = iwt_program(&b);
    opts.steps = (iw_step_sink){note_trip, &trips};
    result = iwt_run(program, net, NULL, &opts);
    assert_int_equal(trips.count, count);
    correlation = lag1(trips.ps, count);
    iw_sim_result_free(result);
    iw_program_free(program);
    iwt_builder_release(&b);
    free(trips.ps);
    return correlation;
}

/* Each of the two ways of a trip takes 14 or longer, so it meets a sample of its own. With 0.8 between
 * neighbours sums of two have 0.8 (1 + 0.8) / 2 = 0.72. Delays of 2.5 on average let some samples out. */
static void bursts_stay_bursts_unless_shuffled(void **state)
{
    enum { COUNT = 4000, TRIPS = 1300 };
    const double kept = 0.8;
    struct iwt_random random = {5, 0};
    iw_time *delays_ps = calloc(COUNT, sizeof *delays_ps);
    iw_net net = iwt_example_net();
    double level = 0.0;

    (void)state;
    assert_non_null(delays_ps);
    for (size_t i = 0; i < COUNT; i++) {
        level = kept * level + (double)iwt_below(&random, 1000);
        delays_ps[i] = (iw_time)level;
    }
    assert_ok(iw_net_set_series(NULL, &net, delays_ps, COUNT, IWT_NS(14)));
    assert_true(fabs(simulated_lag1(&net, TRIPS) - 0.72) < 0.1);
    for (size_t i = COUNT - 1; i > 0; i--) {
        const size_t other = (size_t)iwt_below(&random, i + 1);
        const iw_time moved = delays_ps[i];

        delays_ps[i] = delays_ps[other];
        delays_ps[other] = moved;
    }
    assert_ok(iw_net_set_series(NULL, &net, delays_ps, COUNT, IWT_NS(14)));
    assert_true(fabs(simulated_lag1(&net, TRIPS)) < 0.1);
    iwi_net_release(&net);
    free(delays_ps);
}

static void what_is_no_series_is_refused(void **state)
{
    const iw_time good[2] = {0, 5}, negative[2] = {0, -1}, long_delay[2] = {0, INT64_C(3601) * IW_PS_PER_S};
    iw_net net = iwt_example_net();

    (void)state;
    assert_int_equal(iw_net_set_series(NULL, &net, good, 0, 5), IW_ERR_RANGE);
    assert_int_equal(iw_net_set_series(NULL, &net, good, 2, 0), IW_ERR_RANGE);
    assert_int_equal(iw_net_set_series(NULL, &net, good, 2, IW_TIME_INPUT_MAX / 2 + 1), IW_ERR_RANGE);
    assert_int_equal(iw_net_set_series(NULL, &net, negative, 2, 5), IW_ERR_RANGE);
    assert_int_equal(iw_net_set_series(NULL, &net, long_delay, 2, 5), IW_ERR_RANGE);
    assert_false(iw_net_is_noisy(&net));
    assert_ok(iw_net_set_series(NULL, &net, good, 2, 5));
    assert_true(iw_net_is_noisy(&net) && iw_net_noise_longest_ps(&net.noise) == 5);
    assert_true(iw_net_noise_mean_ps(&net.noise) == 3.0); /* rounded */
    net.noise.point_count = 2;
    assert_int_equal(iw_net_check(NULL, &net), IW_ERR_RANGE);
    iwi_net_release(&net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_leaves_later_may_arrive_earlier),
        cmocka_unit_test(parts_of_a_rendezvous_meet_the_series_when_they_leave),
        cmocka_unit_test(bursts_stay_bursts_unless_shuffled),
        cmocka_unit_test(what_is_no_series_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
