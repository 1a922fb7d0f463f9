/* How long detours are, from powers of two: of digests, and of what stands out in a fleet.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/fleet.h>

#include <stdio.h>

#include "support/made_recording.h"
#include "support/support.h"

static void quantiles_are_right_to_a_factor_of_two(void **state)
{
    uint64_t by_length[IW_DIGEST_LENGTHS] = {0};
    iw_detour_lengths lengths;

    (void)state;
    by_length[10] = 90; /* 1,024 up to 2,048 ns */
    by_length[20] = 10;
    lengths = iw_digest_lengths(by_length, 1.5e6);
    assert_true(lengths.median_ns > 1024.0 && lengths.median_ns < 2048.0);
    assert_true(lengths.p99_ns > 1048576.0 && lengths.p99_ns <= 1.5e6);
    assert_true(lengths.longest_ns == 1.5e6);
}

static void no_quantile_is_longer_than_the_longest(void **state)
{
    uint64_t by_length[IW_DIGEST_LENGTHS] = {0};
    iw_detour_lengths lengths = iw_digest_lengths(by_length, 0.0);

    (void)state;
    assert_true(lengths.median_ns == 0.0 && lengths.p99_ns == 0.0 && lengths.longest_ns == 0.0);
    by_length[IW_DIGEST_LENGTHS - 1] = 1;
    by_length[4] = 1;
    lengths = iw_digest_lengths(by_length, 3e14);
    assert_true(lengths.median_ns <= 32.0 && lengths.p99_ns <= 3e14);
    by_length[IW_DIGEST_LENGTHS - 1] = 0;
    assert_true(iw_digest_lengths(by_length, 17.0).p99_ns == 17.0);
}

/* 14 nodes with a tick of 5 us and a daemon of 20 us; that of node 3 takes 300 us, and has two names. */
static iw_fleet *made(void)
{
    const iw_fleet_opts opts = IW_FLEET_OPTS_INIT;
    iw_fleet *fleet = NULL;

    assert_ok(iw_fleet_new(NULL, "d", &fleet));
    for (size_t node = 0; node < 14; node++) {
        iw_recording *recording = iwt_recording(2, INT64_C(10000000000));
        const uint32_t tick = iwt_source(recording, IW_CLASS_IRQ, "local_timer"),
                       daemons[2] = {iwt_source(recording, IW_CLASS_THREAD, "daemon/1"),
                                     iwt_source(recording, IW_CLASS_THREAD, "daemon/2")};
        char path[32];

        for (size_t cpu = 0; cpu < 2; cpu++) {
            for (int64_t i = 0; i < 1000; i++) {
                iwt_detour(recording, cpu, i * 10000000, 5000, tick);
                iwt_detour(recording, cpu, i * 10000000 + 1000000, node == 3 ? 300000 : 20000,
                           daemons[i % 2]);
            }
        }
        snprintf(path, sizeof path, "d/n%02zu.h5", node);
        assert_ok(iw_fleet_add(NULL, fleet, path, recording));
        iw_recording_free(recording);
    }
    assert_ok(iw_fleet_judge(NULL, fleet, &opts));
    return fleet;
}

static void what_stands_out_is_beside_the_others(void **state)
{
    iw_fleet *fleet = made();
    const iw_fleet_finding *finding = &fleet->findings[0];

    (void)state;
    assert_int_equal(fleet->finding_count, 1);
    assert_string_equal(finding->node, "n03");
    assert_true(finding->lengths.median_ns > 262144.0 && finding->lengths.median_ns <= 300000.0);
    assert_true(finding->lengths.longest_ns == 300000.0);
    assert_true(finding->others_lengths.median_ns > 16384.0 && finding->others_lengths.median_ns <= 20000.0);
    assert_true(finding->others_lengths.longest_ns == 20000.0);
    assert_true(fleet->sources[1].lengths.longest_ns == 5000.0 ||
                fleet->sources[0].lengths.longest_ns == 5000.0);
    iw_fleet_free(fleet);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_are_right_to_a_factor_of_two),
        cmocka_unit_test(no_quantile_is_longer_than_the_longest),
        cmocka_unit_test(what_stands_out_is_beside_the_others),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
