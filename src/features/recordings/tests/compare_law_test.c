/* How often comparisons of recordings drawn from known laws are right.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/analysis.h>

#include "support/made_recording.h"
#include "support/support.h"
#include "support/synthetic.h"

static const int64_t SECOND_NS = 1000000000;

enum { NO_SOURCE = 0 };

static iw_noise_comparison *compared(const iw_recording *a, const iw_recording *b)
{
    const iw_compare_opts opts = {
        .size = sizeof opts, .metric = IW_COMPARE_SHARE, .seed = 1, .replicates = 200};
    iw_noise_comparison *comparison = NULL;

    assert_ok(iw_noise_compare(NULL, a, b, &opts, &comparison));
    return comparison;
}

/* 3 s of two CPUs. */
static iw_recording *drawn(uint64_t seed, double rate_hz)
{
    iw_recording *recording = iwt_recording(2, 3 * SECOND_NS);

    for (size_t cpu = 0; cpu < 2; cpu++) {
        struct synthetic s = {.seed = 2 * seed + cpu, .length_ns = 3e9};

        synthetic_poisson(&s, rate_hz, 20000.0, NO_SOURCE);
        synthetic_put(&s, recording, cpu);
    }
    return recording;
}

enum { PAIRS = 200 };

/* How many of the pairs, B's rate being `factor` times A's, are judged to be worse, by each metric. */
static void count_alarms(double factor, unsigned count[IW_COMPARE_METRICS])
{
    for (uint64_t pair = 0; pair < PAIRS; pair++) {
        iw_recording *a = drawn(2 * pair, 300.0), *b = drawn(2 * pair + 1, 300.0 * factor);
        iw_noise_comparison *c = compared(a, b);

        for (size_t m = 0; m < IW_COMPARE_METRICS; m++) {
            count[m] += c->metrics[m].difference.low > 0.0;
        }
        iw_noise_comparison_free(c);
        iw_recording_free(a);
        iw_recording_free(b);
    }
}

/* One-sided 2.5 %: 5 of 200 are expected, more than 12 have a probability of 0.2 %. */
static void the_same_noise_is_seldom_called_worse(void **state)
{
    unsigned count[IW_COMPARE_METRICS] = {0};

    (void)state;
    count_alarms(1.0, count);
    for (iw_compare_metric m = IW_COMPARE_SHARE; m < IW_COMPARE_METRICS; m++) {
        if (count[m] > PAIRS * 6 / 100) {
            fail_msg("%u of %d pairs of the same law, by %s", count[m], PAIRS, iw_compare_metric_name(m));
        }
    }
}

/* 1800 detours: the share is known to 3.3 %, a difference to 5 %, so 20 % are four deviations. */
static void a_fifth_more_noise_is_mostly_found(void **state)
{
    unsigned count[IW_COMPARE_METRICS] = {0};

    (void)state;
    count_alarms(1.2, count);
    if (count[IW_COMPARE_SHARE] < PAIRS * 90 / 100 || count[IW_COMPARE_RATE] < PAIRS * 90 / 100) {
        fail_msg("%u by share, %u by rate of %d", count[IW_COMPARE_SHARE], count[IW_COMPARE_RATE], PAIRS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_noise_is_seldom_called_worse),
        cmocka_unit_test(a_fifth_more_noise_is_mostly_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
