/* Differences that hang on a few stretches of time are marked, others are not.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/analysis.h>

#include "support/made_recording.h"
#include "support/support.h"
#include "support/synthetic.h"

static const int64_t SECOND_NS = 1000000000;

enum { NO_SOURCE = 0 };

static iw_noise_comparison *compared(const iw_recording *a, const iw_recording *b,
                                     const iw_compare_opts *opts)
{
    iw_noise_comparison *comparison = NULL;

    assert_ok(iw_noise_compare(NULL, a, b, opts, &comparison));
    return comparison;
}

/* 40 s with 1 us every 10 ms, and 500 us beside it from each of these seconds on, so many seconds long. */
static iw_recording *with_bursts(size_t count, const int64_t *from_s, int64_t length_s)
{
    iw_recording *recording = iwt_recording(1, 40 * SECOND_NS);

    for (int64_t i = 0; i < 4000; i++) {
        iwt_detour(recording, 0, i * 10000000, 1000, NO_SOURCE);
        for (size_t k = 0; k < count; k++) {
            if (i >= 100 * from_s[k] && i < 100 * (from_s[k] + length_s)) {
                iwt_detour(recording, 0, i * 10000000 + 5000000, 500000, NO_SOURCE);
            }
        }
    }
    return recording;
}

static void a_difference_of_few_stretches_is_marked(void **state)
{
    static const int64_t from_s[] = {4, 10, 20, 26, 30, 36};
    const struct {
        size_t bursts;
        int64_t length_s;
        size_t stretch_count;
        int64_t stretch_ns;
    } cases[] = {{1, 4, 1, 4000000000}, {2, 2, 2, 4000000000}, {6, 2, 0, 0}, {1, 30, 0, 0}};
    static const iw_compare_metric metrics[] = {IW_COMPARE_SHARE, IW_COMPARE_RATE};
    iw_recording *calm = with_bursts(0, from_s, 0);

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        iw_recording *burst = with_bursts(cases[i].bursts, from_s, cases[i].length_s);

        for (size_t m = 0; m < 2; m++) {
            iw_compare_opts opts = IW_COMPARE_OPTS_INIT;
            iw_noise_comparison *c;

            opts.metric = metrics[m];
            opts.replicates = 500;
            c = compared(calm, burst, &opts);
            assert_int_equal(c->verdict, IW_COMPARE_WORSE);
            assert_int_equal(c->stretch_count, cases[i].stretch_count);
            assert_true(c->stretch_ns == cases[i].stretch_ns);
            iw_noise_comparison_free(c);
            c = compared(burst, calm, &opts);
            assert_int_equal(c->verdict, IW_COMPARE_BETTER);
            assert_int_equal(c->stretch_count, cases[i].stretch_count);
            iw_noise_comparison_free(c);
        }
        iw_recording_free(burst);
    }
    iw_recording_free(calm);
}

static void a_stretch_at_the_very_beginning_is_one(void **state)
{
    static const int64_t from_s[] = {0};
    iw_recording *calm = with_bursts(0, from_s, 0), *burst = with_bursts(1, from_s, 4);
    iw_compare_opts opts = IW_COMPARE_OPTS_INIT;
    iw_noise_comparison *c;

    (void)state;
    opts.metric = IW_COMPARE_RATE;
    opts.replicates = 500;
    c = compared(calm, burst, &opts);
    assert_int_equal(c->stretch_count, 1);
    assert_true(c->stretch_ns == 4 * SECOND_NS);
    iw_noise_comparison_free(c);
    iw_recording_free(burst);
    iw_recording_free(calm);
}

static void noise_that_is_always_there_comes_from_no_stretch(void **state)
{
    iw_compare_opts opts = IW_COMPARE_OPTS_INIT;

    (void)state;
    opts.replicates = 100;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        iw_recording *a = iwt_recording(1, 10 * SECOND_NS), *b = iwt_recording(1, 10 * SECOND_NS);
        struct synthetic s = {.seed = seed, .length_ns = 1e10};
        iw_noise_comparison *c;

        synthetic_poisson(&s, 100.0, 2000.0, NO_SOURCE);
        synthetic_put(&s, a, 0);
        s = (struct synthetic){.seed = seed + 1000, .length_ns = 1e10};
        synthetic_poisson(&s, 115.0, 2000.0, NO_SOURCE); /* hardly beyond chance */
        synthetic_put(&s, b, 0);
        c = compared(a, b, &opts);
        assert_int_equal(c->stretch_count, 0);
        iw_noise_comparison_free(c);
        iw_recording_free(a);
        iw_recording_free(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_difference_of_few_stretches_is_marked),
        cmocka_unit_test(a_stretch_at_the_very_beginning_is_one),
        cmocka_unit_test(noise_that_is_always_there_comes_from_no_stretch),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
