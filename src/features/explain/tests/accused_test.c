/* How often a rank is named where all are alike, whatever their noise, and how often the slow one is.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/waits.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/rng.h"
#include "made_visits.h"

enum { STEPS = 120 };

/* Of a rank in a step, in shares of the step. */
typedef double (*noise_fn)(uint64_t run, uint32_t rank, uint32_t step);

static double unit(uint64_t run, uint32_t rank, uint64_t index)
{
    return iwi_draw_unit(
        (struct iwi_draw_id){.seed = 72, .trial = run, .purpose = IWI_DRAW_TEST, .rank = rank}, index);
}

static double exponential(uint64_t run, uint32_t rank, uint32_t step)
{
    return -0.05 * log(unit(run, rank, step));
}

static double rare_and_long(uint64_t run, uint32_t rank, uint32_t step)
{
    return unit(run, rank, 2 * step) < 0.02 ? pow(unit(run, rank, 2 * step + 1), -1.0 / 1.2) : 0.0;
}

/* The CPU of a rank is busy for two steps in a row, never for exactly as long as another: nobody would be the
 * last. */
static double in_pairs(uint64_t run, uint32_t rank, uint32_t step)
{
    const bool is_busy = unit(run, rank, step) < 0.1 || (step > 0 && unit(run, rank, step - 1) < 0.1);

    return is_busy ? 0.3 + 0.01 * unit(run, rank + 1000, step) : 0.0;
}

static iw_waits *run_noisy(noise_fn noise, uint64_t number, uint32_t ranks, double slower)
{
    struct made_run run;

    made_begin(&run, ranks);
    for (uint32_t s = 0; s < STEPS; s++) {
        for (uint32_t r = 0; r < ranks; r++) {
            const double share = noise(number, r, s) + (r == number % ranks ? slower : 0.0);

            made_compute(&run, r, (iw_time)((1.0 + share) * 1e9));
        }
        made_meet(&run, s % 2 == 0 ? IWI_VISIT_ALLREDUCE : IWI_VISIT_BARRIER);
    }
    return made_waits(&run);
}

/* 1 % is stated for a run; three standard deviations above that may come by chance. */
static void expect_few_named(noise_fn noise, const char *name)
{
    static const uint32_t ranks[] = {2, 5, 8};

    for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i++) {
        const uint64_t runs = 2000 / IWT_FEWER;
        uint64_t wrong = 0;

        for (uint64_t run = 0; run < runs; run++) {
            iw_waits *waits = run_noisy(noise, run, ranks[i], 0.0);

            wrong += waits->named > 0;
            iw_waits_free(waits);
        }
        print_message("%s, %u ranks: %u of %u\n", name, ranks[i], (unsigned)wrong, (unsigned)runs);
        assert_true((double)wrong <= 0.01 * (double)runs + 3.0 * sqrt(0.01 * (double)runs) + 1.0);
    }
}

static void equal_ranks_are_hardly_ever_named(void **state)
{
    (void)state;
    expect_few_named(exponential, "exponential");
    expect_few_named(rare_and_long, "rare and long");
    expect_few_named(in_pairs, "in pairs");
}

static void noise_is_called_noise(void **state)
{
    iw_waits *waits;

    (void)state;
    waits = run_noisy(exponential, 1, 8, 0.0);
    assert_true(waits->imbalance_ns < 0.1 * waits->waiting_ns);
    iw_waits_free(waits);
}

/* A tenth slower than others, which noise of a twentieth hides in single steps. */
static void a_slow_rank_is_named_in_noise(void **state)
{
    (void)state;
    for (uint64_t run = 0; run < 100 / IWT_FEWER; run++) {
        iw_waits *waits = run_noisy(exponential, run, 8, 0.1);

        assert_int_equal(waits->named, 1);
        assert_int_equal(waits->ranks[0].rank, run % 8);
        assert_int_equal(waits->ranks[0].pattern, IW_WAITS_PERSISTENT);
        iw_waits_free(waits);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_ranks_are_hardly_ever_named),
        cmocka_unit_test(noise_is_called_noise),
        cmocka_unit_test(a_slow_rank_is_named_in_noise),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
