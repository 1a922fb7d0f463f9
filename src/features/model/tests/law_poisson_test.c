/* What Poisson detours take from a phase of work: the law, the largest of n draws, and what ranks meet.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/model.h>

#include <math.h>

#include "core/noise/stream.h"
#include "features/model/law.h"
#include "law_testing.h"

static void poisson_loss_has_the_mean_of_its_detours(void **state)
{
    const double under_way = 1 - exp(-0.002);

    (void)state; /* 5 ms at 100 Hz: half a detour of 20 us in the mean, and what is left of one under way */
    assert_close(mean_max("poisson:100Hz,fixed:20us", 5 * MS, 1), 1e4 + under_way * 1e4, 1e-10);
    assert_close(mean_max("poisson:100Hz,exp:20us", 5 * MS, 1), 1e4 + under_way * 2e4, 1e-9);
    assert_close(mean_max("poisson:100Hz,exp:20us", 5000 * MS, 1), 1e7 + under_way * 2e4, 1e-9); /* 500 */
}

static void short_work_meets_what_is_under_way(void **state)
{
    iw_law *fixed = make("poisson:1Hz,fixed:1ms", 1), *exponential = make("poisson:1Hz,exp:1ms", 1);
    const double under_way = 1 - exp(-1e-3);

    (void)state; /* that one begins in the nanosecond of work is a millionth as likely */
    assert_close(1 - iw_law_cdf(fixed, 0.25 * MS), 0.75 * under_way, 1e-5);
    assert_close(1 - iw_law_cdf(exponential, MS), under_way * exp(-1), 1e-5);
    assert_true(1 - iw_law_cdf(fixed, MS) < 1e-8);
    iw_law_free(fixed);
    iw_law_free(exponential);
}

static void poisson_maxima_follow_from_the_law_of_one(void **state)
{
    iw_law *law = make("poisson:100Hz,exp:20us", 5 * MS);
    double sum = 0;

    (void)state; /* the trapezoid rule on 1 - F^n */
    for (double x = 0; x < 2e6; x += 100) {
        sum += 100 * (1 - pow(iw_law_cdf(law, x), 1000)) * (x > 0 ? 1 : 0.5);
    }
    assert_close(iw_law_mean_max_ns(law, 1000), sum, 1e-6);
    iw_law_free(law);
    /* the second detour on 5e-7 of all ranks, and behind the first the rest of one under way on 1e-3 x 2e-5
     */
    assert_close(mean_max("poisson:1Hz,fixed:20us", MS, 1e6),
                 2e4 * (1 + (1 - exp(-0.5) * (1 - exp(-0.02)) / 0.02)), 1e-3);
}

static void maxima_of_fixed_durations_follow_from_the_law_of_one(void **state)
{
    static const double counts[] = {1, 2, 30, 1e3, 1e5};
    iw_law *law = make("poisson:100Hz,fixed:200us", 5 * MS);

    (void)state; /* the midpoint rule on 1 - F^n, whose jumps are between the steps */
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        double sum = 0;

        for (double x = 10; x < 4e6; x += 20) {
            sum += 20 * (1 - pow(iw_law_cdf(law, x), counts[i]));
        }
        assert_close(iw_law_mean_max_ns(law, counts[i]), sum, 1e-5);
    }
    iw_law_free(law);
}

/* Detours overlap in simulations, which the law leaves out: 2 % of them here, more of those that lose most.
 */
static void poisson_losses_are_those_that_ranks_meet(void **state)
{
    static const char *const specs[] = {"poisson:100Hz,fixed:200us", "poisson:100Hz,exp:200us"};
    enum { RANKS = 40000, LEVELS = 3 };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        iw_law *law = make(specs[i], MS);
        uint64_t above[LEVELS] = {0};
        iw_noise *noise = NULL;

        assert_ok(iw_noise_new(NULL, &noise));
        assert_ok(iw_noise_add(NULL, noise, specs[i]));
        for (uint32_t rank = 0; rank < RANKS; rank++) {
            const struct iwi_stream_id id = {.seed = 1, .rank = rank};
            int64_t words[4];
            iw_time next = iwi_noise_begin(noise, id, words);
            const iw_time end = iwi_finish(noise, id, words, &next, 0, IW_PS_PER_MS, NULL);

            for (int level = 0; level < LEVELS; level++) {
                above[level] += end - IW_PS_PER_MS > level * 70 * IW_PS_PER_US;
            }
        }
        for (int level = 0; level < LEVELS; level++) {
            const double tail = 1 - iw_law_cdf(law, level * 7e4), share = (double)above[level] / RANKS;

            if (fabs(share - tail) > 4 * sqrt(tail / RANKS) + 0.02 * tail) {
                fail_msg("%s: %.5f of ranks lose more than %d us, %.5f by the law", specs[i], share,
                         level * 70, tail);
            }
        }
        iw_noise_free(noise);
        iw_law_free(law);
    }
}

static void poisson_noise_that_the_model_cannot_do_is_refused(void **state)
{
    static const struct {
        const char *spec, *part;
    } cases[] = {{"poisson:10Hz,pareto:1.5,1us", "use fixed:TIME or exp:MEAN"},
                 {"poisson:10Hz,lognormal:1us,1", "'idlewave simulate'"},
                 {"poisson:1kHz,exp:100us", "overlap too often"}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct iwt_log l;
        iw_law *law = NULL;

        iwt_log_init(&l);
        assert_status(iw_law_new(&l.log, cases[i].spec, MS, &law), IW_ERR_UNSUPPORTED);
        iwt_assert_logged(&l, cases[i].part);
        assert_null(law);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(poisson_loss_has_the_mean_of_its_detours),
        cmocka_unit_test(short_work_meets_what_is_under_way),
        cmocka_unit_test(poisson_maxima_follow_from_the_law_of_one),
        cmocka_unit_test(maxima_of_fixed_durations_follow_from_the_law_of_one),
        cmocka_unit_test(poisson_losses_are_those_that_ranks_meet),
        cmocka_unit_test(poisson_noise_that_the_model_cannot_do_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
