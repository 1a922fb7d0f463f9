/* What quanta lost against the best one, against numbers worked out by hand.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/facts/recording_stats.h"
#include "support/made_recording.h"
#include "support/support.h"

static iw_recording *sampled(iw_probe probe, const double samples[3])
{
    iw_recording *recording = iwt_recording(1, 3000);

    recording->probe = probe;
    recording->quantum_ns = 1000;
    for (int64_t i = 0; i < 3; i++) {
        iwt_sample(recording, 0, 1000 * i, samples[i]);
    }
    return recording;
}

static void assert_loses(iw_recording *recording, const int64_t expected_ns[3], int64_t length_ns)
{
    iw_recording *losses = NULL;

    assert_ok(iwi_losses_new(NULL, recording, &losses));
    assert_int_equal(losses->cpu_count, 1);
    assert_int_equal(losses->cpus[0].count, 3);
    assert_int_equal(losses->cpus[0].length_ns, length_ns);
    for (int64_t i = 0; i < 3; i++) {
        assert_int_equal(losses->cpus[0].start_ns[i], 1000 * i);
        assert_int_equal(losses->cpus[0].duration_ns[i], expected_ns[i]);
        assert_int_equal(losses->cpus[0].source[i], 0);
    }
    iwi_losses_free(losses);
    iw_recording_free(recording);
}

static void fixed_work_loses_what_it_takes_longer_than_the_shortest(void **state)
{
    (void)state;
    assert_loses(sampled(IW_PROBE_FWQ, (double[]){130, 100, 110}), (int64_t[]){30, 0, 10}, 340);
}

static void fixed_time_loses_the_part_of_the_most_work_that_is_missing(void **state)
{
    (void)state;
    assert_loses(sampled(IW_PROBE_FTQ, (double[]){40, 50, 25}), (int64_t[]){200, 0, 500}, 3000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fixed_work_loses_what_it_takes_longer_than_the_shortest),
        cmocka_unit_test(fixed_time_loses_the_part_of_the_most_work_that_is_missing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
