/* Ranks with several cores under noise of known laws: means that can be computed.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>

#include "builder.h"
#include "support/support.h"

enum { TRIALS = 2000 };

struct moments {
    double mean, error; /* of the mean */
};

/* Of the time that one phase of `work_ps` takes on each of 64 ranks, in so many trials. */
static struct moments phase_times(const char *spec, uint32_t cores, iw_loop_schedule loop, iw_time work_ps,
                                  uint64_t trials)
{
    const iw_net net = iwt_example_net();
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    struct iwt_builder b;
    iw_program *program;
    iw_sim_result *result;
    iw_noise *noise = NULL;
    double sum = 0.0, squares = 0.0, count;

    iwt_builder_init(&b, IWT_MOST_RANKS);
    for (uint32_t rank = 0; rank < IWT_MOST_RANKS; rank++) {
        iwt_calc(&b, rank, work_ps);
    }
    program = iwt_program(&b);
    assert_ok(iw_noise_new(NULL, &noise));
    assert_ok(iw_noise_add(NULL, noise, spec));
    iw_noise_share_phases(noise, cores, loop);
    opts.trials = trials;
    result = iwt_run(program, &net, noise, &opts);
    count = (double)(trials * IWT_MOST_RANKS);
    for (uint64_t i = 0; i < trials * IWT_MOST_RANKS; i++) {
        const double ns = (double)result->end_ps[i] / 1000.0;

        sum += ns;
        squares += ns * ns;
    }
    iw_sim_result_free(result);
    iw_noise_free(noise);
    iw_program_free(program);
    iwt_builder_release(&b);
    return (struct moments){sum / count, sqrt((squares / count - sum / count * (sum / count)) / count)};
}

static void assert_near(struct moments m, double expected_ns)
{
    if (fabs(m.mean - expected_ns) > 4.5 * m.error + 1e-6 * expected_ns) {
        fail_msg("a mean of %.6f ns, %.6f ns expected, standard error %.6f ns", m.mean, expected_ns, m.error);
    }
}

/* Each core is hit with probability p: a static phase takes T longer with 1 - (1-p)^K, a dynamic one p T on
 * average. */
static void bernoulli_noise_hits_one_of_the_cores(void **state)
{
    static const uint32_t cores[] = {1, 2, 16, 64};

    (void)state;
    for (size_t i = 0; i < sizeof cores / sizeof cores[0]; i++) {
        assert_near(phase_times("bernoulli:0.02,640ns", cores[i], IW_LOOP_STATIC, IWT_NS(1000), TRIALS),
                    1000.0 + 640.0 * (1.0 - pow(0.98, cores[i])));
        assert_near(phase_times("bernoulli:0.02,640ns", cores[i], IW_LOOP_DYNAMIC, IWT_NS(1000), TRIALS),
                    1000.0 + 640.0 * 0.02);
    }
}

/* A phase d < P - D meets at most one detour of each core: all D of one that begins in it (d / P), or what is
 * left of one under way, uniform. So P(loss <= x) = (P - d - D + x) / P below D, and the mean of the largest
 * of K is the integral of 1 - P(loss <= x)^K: D - P / (K+1) (((P-d)/P)^(K+1) - ((P-d-D)/P)^(K+1)). */
static void the_last_core_is_as_late_as_order_statistics_say(void **state)
{
    static const uint32_t cores[] = {1, 4, 16, 128};
    const double P = 100000.0, D = 20000.0, d = 3000.0; /* ns */

    (void)state;
    for (size_t i = 0; i < sizeof cores / sizeof cores[0]; i++) {
        const double K = cores[i];
        const double lost = D - P / (K + 1) * (pow((P - d) / P, K + 1) - pow((P - d - D) / P, K + 1));

        assert_near(phase_times("periodic:10kHz,20us", cores[i], IW_LOOP_STATIC, IWT_NS(3000),
                                cores[i] > 16 ? TRIALS / 10 : TRIALS),
                    d + lost);
    }
}

/* Of a long phase that cores share, each is away for its share s of the time: it takes d / (1 - s), with a
 * spread that falls with the number of cores. Poisson detours of length T at rate r overlap: 1 - s = exp(-r
 * T) (rule 6: as at any other instant, also at time 0). */
static void shared_work_spreads_the_noise(void **state)
{
    const double d = 1e6, load = 0.05;
    const struct moments one =
        phase_times("poisson:50kHz,fixed:1us", 1, IW_LOOP_DYNAMIC, IWT_NS(1000000), 20);
    const struct moments many =
        phase_times("poisson:50kHz,fixed:1us", 16, IW_LOOP_DYNAMIC, IWT_NS(1000000), 20);

    (void)state;
    assert_near(one, d * exp(load));
    assert_near(many, d * exp(load));
    assert_true(many.error < one.error / 3.0 && many.error > one.error / 5.3); /* by the root of 16: 4 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bernoulli_noise_hits_one_of_the_cores),
        cmocka_unit_test(the_last_core_is_as_late_as_order_statistics_say),
        cmocka_unit_test(shared_work_spreads_the_noise),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
