/* The law of losses and its order statistics, on traces where both can be written down.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/model/window_law.h"

#include <math.h>

#include "support/support.h"

#define assert_near(a, b, relative) assert_true(fabs((a) - (b)) <= (relative)*fabs(b))

static const int64_t START_NS[] = {100000, 500000, 700000}, DURATION_NS[] = {4000, 16000, 1000};
static struct iwi_window_cpu cpu = {3, START_NS, DURATION_NS, 1000000};
static struct iwi_window_cpus cpus = {1, &cpu, 1000000, 1e6};
static const struct iwi_blocks BLOCKS = {50000, 20};
enum { WORK_NS = 10000 };

static struct iwi_window_law make(void)
{
    struct iwi_window_law law;

    assert_ok(iwi_window_law_new(NULL, &cpus, WORK_NS, &BLOCKS, &law));
    return law;
}

static double share_above(const struct iwi_window_law *law, double loss_ns)
{
    double sum = 0.0;

    for (size_t i = 0; i < law->count && law->loss_ns[i] > loss_ns; i++) {
        sum += law->share[i];
    }
    return sum;
}

/* A detour of length D is met by the begins of work + D: by L = D before it, D ... 0 in it. */
static void a_lone_detour_is_met_by_the_begins_of_its_length_and_the_work(void **state)
{
    struct iwi_window_law law = make();

    (void)state;
    assert_near(share_above(&law, 4300.0), (10000.0 + 16000.0 - 4300.0) / 1e6, 0.06);
    assert_near(share_above(&law, 15900.0), 10000.0 / 1e6, 0.03);
    assert_near(law.loss_ns[0], 16000.0, 0.02);
    assert_near(share_above(&law, 0.0), (30000.0 + 21000.0) / 1e6, 1e-3);
    iwi_window_law_release(&law);
}

/* sum of D (work + D / 2), over the length */
static void the_mean_loss_is_exact(void **state)
{
    struct iwi_window_law law = make();
    const double mean = (4e3 * (1e4 + 2e3) + 16e3 * (1e4 + 8e3) + 1e3 * (1e4 + 500.0)) / 1e6;

    (void)state;
    assert_near(iwi_window_mean_max_ns(&law, law.share, 1.0, HUGE_VAL), mean,
                1e-8); /* a ns in detours counts as none */
    iwi_window_law_release(&law);
}

static void shares_add_up_in_all_blocks(void **state)
{
    struct iwi_window_law law = make();
    double all = 0.0;

    (void)state;
    for (size_t block = 0; block < law.block_count; block++) {
        double sum = 0.0;

        for (size_t i = 0; i < law.count; i++) {
            sum += law.block_share[block * law.capacity + i];
        }
        all += sum;
        /* ramps count where they begin: the longest takes 16 of 50 us */
        assert_in_range((uint64_t)llround(sum * 1e6), 50000 - 16000, 50000 + 16000);
    }
    assert_near(all, 1.0, 1e-12);
    iwi_window_law_release(&law);
}

static void the_largest_of_many_is_the_largest_seen(void **state)
{
    struct iwi_window_law law = make();
    double before = 0.0;

    (void)state;
    for (double n = 1.0; n < 1e9; n *= 3.0) {
        const double here = iwi_window_mean_max_ns(&law, law.share, n, HUGE_VAL);

        assert_true(here >= before);
        before = here;
    }
    assert_near(before, law.loss_ns[0], 1e-9);
    assert_near(iwi_window_mean_max_ns(&law, law.share, 1e9, 5000.0), 5000.0, 1e-9);
    iwi_window_law_release(&law);
}

/* Two values, 0 and v with probability p: E[max_n] = v (1 - (1 - p)^n). */
static void order_statistics_of_two_values_are_those_of_the_formula(void **state)
{
    double loss_ns[] = {1000.0, 0.0}, share[] = {1e-4, 1.0 - 1e-4};
    const struct iwi_window_law law = {.count = 2, .loss_ns = loss_ns, .share = share};

    (void)state;
    assert_near(iwi_window_mean_max_ns(&law, share, 1.0, HUGE_VAL), 0.1, 1e-12);
    assert_near(iwi_window_mean_max_ns(&law, share, 1e4, HUGE_VAL), 1000.0 * (1.0 - pow(0.9999, 1e4)), 1e-12);
    assert_near(iwi_window_law_quantile_ns(&law, 5e-5), 1000.0, 0.0);
    assert_near(iwi_window_law_quantile_ns(&law, 2e-4), 0.0, 0.0);
}

static void intervals_hold_the_mean_and_depend_on_the_seed_only(void **state)
{
    struct iwi_window_law law = make();
    struct iwi_window_replicates replicates;
    iw_estimate first, again;

    (void)state;
    assert_ok(iwi_window_replicates_new(NULL, &law, 3, &replicates));
    assert_ok(iwi_window_observed(NULL, &law, &replicates, 2.0, &first));
    assert_true(first.low < first.value && first.value < first.high);
    /* one detour rules: a factor of about 0.02 ... 5.57 is what one event says of its rate */
    assert_true(first.high <= 5.58 * first.value && first.low >= 0.01 * first.value);
    iwi_window_replicates_release(&replicates);
    assert_ok(iwi_window_replicates_new(NULL, &law, 3, &replicates));
    assert_ok(iwi_window_observed(NULL, &law, &replicates, 2.0, &again));
    assert_memory_equal(&first, &again, sizeof first);
    iwi_window_replicates_release(&replicates);
    iwi_window_law_release(&law);
}

static void without_detours_nothing_is_lost_for_sure(void **state)
{
    struct iwi_window_cpu quiet = {0, NULL, NULL, 1000000};
    const struct iwi_window_cpus all = {1, &quiet, 1000000, 1e6};
    struct iwi_window_replicates replicates;
    struct iwi_window_law law;
    iw_estimate estimate;

    (void)state;
    assert_ok(iwi_window_law_new(NULL, &all, WORK_NS, &BLOCKS, &law));
    assert_ok(iwi_window_replicates_new(NULL, &law, 1, &replicates));
    assert_ok(iwi_window_observed(NULL, &law, &replicates, 100.0, &estimate));
    assert_true(estimate.low == 0.0 && estimate.value == 0.0 && estimate.high == 0.0);
    iwi_window_replicates_release(&replicates);
    iwi_window_law_release(&law);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lone_detour_is_met_by_the_begins_of_its_length_and_the_work),
        cmocka_unit_test(the_mean_loss_is_exact),
        cmocka_unit_test(shares_add_up_in_all_blocks),
        cmocka_unit_test(the_largest_of_many_is_the_largest_seen),
        cmocka_unit_test(order_statistics_of_two_values_are_those_of_the_formula),
        cmocka_unit_test(intervals_hold_the_mean_and_depend_on_the_seed_only),
        cmocka_unit_test(without_detours_nothing_is_lost_for_sure),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
