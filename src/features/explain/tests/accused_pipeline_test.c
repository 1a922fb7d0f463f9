/* Pipelines: how often an innocent rank is named, and whether the slow one is named first.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * accused_pipeline_test [RUNS FIRST_SEED LARGEST]: of each law and layout; layouts of up to so many ranks.
 */
#include <idlewave/waits.h>

#include <math.h>
#include <stdlib.h>

#include "made_pipeline.h"
#include "support/support.h"

static struct {
    uint64_t runs, first_seed;
    uint32_t largest;
} asked = {4 / IWT_FEWER + 1, 1, 16};

struct layout {
    uint32_t tp, dp, pp, microbatches;
    bool is_gpipe;
};

static const struct layout layouts[] = {
    {1, 1, 8, 8, false}, {2, 2, 2, 4, false},  {1, 2, 4, 4, true},    {1, 4, 4, 6, false},
    {2, 4, 1, 2, false}, {2, 4, 8, 8, false},  {4, 16, 1, 2, false},  {2, 2, 16, 16, false},
    {1, 16, 4, 8, true}, {4, 32, 4, 4, false}, {2, 16, 16, 8, false},
};

/* So many ranks beside the slow one are named; *is_first_p: it is named, and before them. */
static uint32_t name_ranks(const struct made_pipeline *made, bool *is_first_p)
{
    struct iwi_visits visits;
    iw_waits *waits;
    uint32_t others = 0;

    *is_first_p = false;
    made_pipeline_run(made, &visits);
    assert_ok(iw_waits_run(NULL, "made", &visits, NULL, &waits));
    for (size_t i = 0; i < waits->ranks_count; i++) {
        const iw_waits_rank *rank = &waits->ranks[i];

        if (rank->pattern != IW_WAITS_ORDINARY) {
            *is_first_p |= rank->rank == made->slow_rank && others == 0;
            others += rank->rank != made->slow_rank;
        }
    }
    iw_waits_free(waits);
    iwi_visits_release(&visits);
    return others;
}

static struct made_pipeline make(const struct layout *layout, enum made_law law, uint64_t seed)
{
    return (struct made_pipeline){.seed = seed,
                                  .tp = layout->tp,
                                  .dp = layout->dp,
                                  .pp = layout->pp,
                                  .microbatches = layout->microbatches,
                                  .is_gpipe = layout->is_gpipe,
                                  .steps = 30,
                                  .law = law,
                                  .slow_rank = UINT32_MAX};
}

struct sums {
    uint64_t runs, first, with_others, small_runs, small_first; /* small: of at most SMALL ranks */
};

enum { SMALL = 16 };

/* A slow rank: each time another one. */
static struct sums try_all(enum made_law law, double slower)
{
    struct sums sums = {0};

    for (size_t l = 0; l < sizeof layouts / sizeof layouts[0]; l++) {
        const uint32_t ranks = layouts[l].tp * layouts[l].dp * layouts[l].pp;

        for (uint64_t run = 0; ranks <= asked.largest && run < asked.runs; run++) {
            struct made_pipeline made = make(&layouts[l], law, asked.first_seed + 1000 * l + run);
            uint32_t others;
            bool is_first;

            made.slow_rank = slower > 0.0 ? (uint32_t)(made.seed * 7 % ranks) : UINT32_MAX;
            made.slower = slower;
            others = name_ranks(&made, &is_first);
            if (others > 0 || is_first != (slower > 0.0)) {
                print_message("  %s, tp %u dp %u pp %u, seed %llu: %s, %u others\n", made_law_name(law),
                              made.tp, made.dp, made.pp, (unsigned long long)made.seed,
                              is_first ? "first" : "not first", others);
            }
            sums.runs++;
            sums.first += is_first;
            sums.with_others += others > 0;
            sums.small_runs += ranks <= SMALL;
            sums.small_first += is_first && ranks <= SMALL;
        }
    }
    return sums;
}

/* 1 % of runs is stated; three standard deviations above that may come by chance. */
static void expect_few(const struct sums *sums)
{
    const double expected = 0.01 * (double)sums->runs;

    assert_true((double)sums->with_others <= expected + 3.0 * sqrt(expected) + 1.0);
}

static void nobody_is_named_where_all_are_alike(void **state)
{
    (void)state;
    for (int law = 0; law < MADE_LAWS; law++) {
        const struct sums sums = try_all((enum made_law)law, 0.0);

        print_message("nobody slow, %s: somebody is named in %llu of %llu runs\n",
                      made_law_name((enum made_law)law), (unsigned long long)sums.with_others,
                      (unsigned long long)sums.runs);
        expect_few(&sums);
    }
}

/* Of many ranks one has a long pause, or is slow for a while, in nearly every step: hardly anybody waits for
 * the one that is a little slow all the time. Those that are slow for a while are so by a tenth. */
static void expect_found(enum made_law law, double slower, const struct sums *sums)
{
    const bool is_hidden = law == MADE_RARE || law == MADE_LASTING;

    if (is_hidden) {
        assert_true(2 * sums->first >= sums->runs);
    } else {
        assert_int_equal(sums->first, sums->runs);
    }
    if (law != MADE_LASTING || slower >= 0.1) {
        assert_int_equal(sums->small_first, sums->small_runs);
    }
}

static void expect_first(double slower)
{
    for (int law = 0; law < MADE_LAWS; law++) {
        const struct sums sums = try_all((enum made_law)law, slower);

        print_message("slower by %.0f %%, %s: first in %llu, others beside it in %llu of %llu runs\n",
                      100.0 * slower, made_law_name((enum made_law)law), (unsigned long long)sums.first,
                      (unsigned long long)sums.with_others, (unsigned long long)sums.runs);
        expect_found((enum made_law)law, slower, &sums);
        expect_few(&sums);
    }
}

static void a_slow_rank_is_named_first(void **state)
{
    (void)state;
    expect_first(0.1);
    expect_first(0.05);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_is_named_where_all_are_alike),
        cmocka_unit_test(a_slow_rank_is_named_first),
    };

    asked.runs = argc > 1 ? strtoull(argv[1], NULL, 10) : asked.runs;
    asked.first_seed = argc > 2 ? strtoull(argv[2], NULL, 10) : asked.first_seed;
    asked.largest = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : asked.largest;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
