/* What limits recordings, networks and traces, and that nothing known is lost on the way.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/caveat.h>

#include <string.h>

#include "support/made_recording.h"
#include "support/support.h"

/* Four CPUs, ten seconds. */
static iw_recording *recorded(const char *users_ms, int64_t length_ns)
{
    iw_recording *recording = iwt_recording(4, length_ns);

    iwt_attribute(recording, "load_elapsed_ms", "10000");
    iwt_attribute(recording, "load_cpus", "4");
    iwt_attribute(recording, "load_users_ms", users_ms);
    iwt_attribute(recording, "load_services_ms", "400");
    iwt_attribute(recording, "load_kernel_ms", "40");
    iwt_attribute(recording, "load_users", "cc1=18000");
    return recording;
}

static iw_caveats caveats_of(const iw_recording *recording)
{
    iw_caveats caveats = {.count = 0};

    iw_caveats_of_recording(recording, "node.h5", &caveats);
    return caveats;
}

static void a_load_is_told_with_the_programs(void **state)
{
    iw_recording *recording = recorded("20000", 10000000000);
    const iw_caveats caveats = caveats_of(recording);

    (void)state;
    assert_int_equal(caveats.count, 1);
    assert_true(iw_caveats_have(&caveats, IW_CAVEAT_BUSY));
    assert_true(iw_caveats_have(&caveats, IW_CAVEAT_KINDS));
    assert_string_equal(caveats.caveats[0].input, "node.h5");
    assert_string_equal(caveats.caveats[0].text, "'node.h5' was recorded while user programs took 50 % of "
                                                 "the CPUs (cc1 45 %): it shows load, not noise");
    iw_recording_free(recording);
}

static void a_quiet_recording_has_none(void **state)
{
    iw_recording *recording = recorded("0", 10000000000);

    (void)state;
    assert_int_equal(caveats_of(recording).count, 0);
    iw_recording_free(recording);
}

static void joined_recordings_keep_the_load_of_one(void **state)
{
    iw_recording *recording = recorded("0 | 20000", 10000000000);
    const iw_caveats caveats = caveats_of(recording);

    (void)state;
    assert_true(iw_caveats_have(&caveats, IW_CAVEAT_BUSY));
    iw_recording_free(recording);
}

/* No alarm: only what is known counts. */
static void what_a_file_cannot_say_is_not_known(void **state)
{
    iw_recording *recording = iwt_recording(1, 10000000000);
    const iw_caveats caveats = caveats_of(recording);

    (void)state;
    assert_int_equal(caveats.count, 1);
    assert_int_equal(caveats.caveats[0].kind, IW_CAVEAT_BUSY);
    assert_false(caveats.caveats[0].is_known);
    assert_false(iw_caveats_have(&caveats, IW_CAVEAT_KINDS));
    iw_recording_free(recording);
}

static void less_than_a_second_is_short_but_not_of_specs(void **state)
{
    iw_recording *recording = recorded("0", 999999999), *enough = recorded("0", 1000000000);
    iw_caveats caveats = caveats_of(recording);

    (void)state;
    assert_true(iw_caveats_have(&caveats, IW_CAVEAT_SHORT));
    caveats = caveats_of(enough);
    assert_int_equal(caveats.count, 0);
    iwt_attribute(recording, "specs", "poisson:1Hz,fixed:1us");
    caveats = caveats_of(recording);
    assert_int_equal(caveats.count, 0);
    iw_recording_free(recording);
    iw_recording_free(enough);
}

static void a_recording_from_before_the_boot_is_told(void **state)
{
    iw_recording *recording = recorded("0", 10000000000);
    iw_caveats caveats = {.count = 0};

    (void)state;
    iw_caveats_of_boot(recording, "node.h5", 1763200000, &caveats);
    assert_int_equal(caveats.count, 1); /* it does not say when */
    assert_false(caveats.caveats[0].is_known);
    caveats.count = 0;
    iwt_attribute(recording, "start_wall_ns", "1763200000000000000");
    iw_caveats_of_boot(recording, "node.h5", 1763200000, &caveats);
    iw_caveats_of_boot(recording, "node.h5", 0, &caveats); /* when it was booted is not known */
    assert_int_equal(caveats.count, 0);
    iw_caveats_of_boot(recording, "node.h5", 1763200001, &caveats);
    assert_true(iw_caveats_have(&caveats, IW_CAVEAT_OLDER_BOOT));
    iw_recording_free(recording);
}

static void a_network_of_one_host_serves_its_own_ranks(void **state)
{
    iw_net net = *iw_net_builtin("chic");
    iw_caveats caveats = {.count = 0};

    (void)state;
    iw_caveats_of_net(&net, 1024, &caveats);
    assert_int_equal(caveats.count, 0); /* nobody measured it with idlewave */
    net.origin = (iw_net_origin){.is_measured = true, .hosts = 1, .ranks = 2};
    iw_caveats_of_net(&net, 2, &caveats);
    assert_int_equal(caveats.count, 0);
    iw_caveats_of_net(&net, 3, &caveats);
    assert_true(iw_caveats_have(&caveats, IW_CAVEAT_ONE_HOST));
    caveats.count = 0;
    net.origin.hosts = 2;
    iw_caveats_of_net(&net, 1024, &caveats);
    assert_int_equal(caveats.count, 0);
    net.origin.hosts = 0;
    iw_caveats_of_net(&net, 1024, &caveats);
    assert_false(caveats.caveats[0].is_known);
}

static void a_measurement_that_does_not_count_says_why(void **state)
{
    iw_net net = *iw_net_builtin("chic");
    iw_caveats caveats = {.count = 0};

    (void)state;
    net.origin = (iw_net_origin){true, 2, 2, "3 ranks share 2 CPUs on host alpha"};
    iw_caveats_of_net(&net, 2, &caveats);
    assert_true(iw_caveats_have(&caveats, IW_CAVEAT_NOT_VALID));
    assert_non_null(strstr(caveats.caveats[0].text, "3 ranks share 2 CPUs on host alpha"));
}

static void missing_ranks_and_groups_that_do_not_grow_are_told(void **state)
{
    iw_traced traced = {.ranks = 8, .replicas = 1, .fixed_groups = 2};
    iw_caveats caveats = {.count = 0};

    (void)state;
    iw_caveats_of_ranks("run", 16, 16, &caveats);
    iw_caveats_of_traced(&traced, "run", &caveats);
    assert_int_equal(caveats.count, 0);
    iw_caveats_of_ranks("run", 15, 16, &caveats);
    assert_true(iw_caveats_have(&caveats, IW_CAVEAT_MISSING));
    traced.replicas = 4;
    iw_caveats_of_traced(&traced, "run", &caveats);
    assert_true(iw_caveats_have(&caveats, IW_CAVEAT_GROUPS));
    assert_false(iw_caveats_have(&caveats, IW_CAVEAT_OPAQUE));
}

static void calls_that_are_not_simulated_are_told(void **state)
{
    iw_traced traced = {.ranks = 8, .replicas = 1, .opaque = 1};
    iw_caveats caveats = {.count = 0};

    (void)state;
    iw_caveats_of_traced(&traced, "run", &caveats);
    traced.opaque = 128;
    iw_caveats_of_traced(&traced, "run", &caveats);
    assert_int_equal(caveats.count, 2);
    assert_int_equal(caveats.caveats[0].kind, IW_CAVEAT_OPAQUE);
    assert_non_null(strstr(caveats.caveats[0].text, "1 MPI call of the trace is not simulated"));
    assert_non_null(strstr(caveats.caveats[1].text, "128 MPI calls of the trace are not simulated"));
    assert_string_equal(iw_caveat_name(IW_CAVEAT_OPAQUE), "opaque");
}

static void what_is_known_finds_room(void **state)
{
    iw_caveats caveats = {.count = 0};

    (void)state;
    for (int i = 0; i < 2 * IW_CAVEATS_MOST; i++) {
        iw_caveats_of_ranks("run", 1, 0, &caveats); /* not known */
    }
    assert_int_equal(caveats.count, IW_CAVEATS_MOST);
    iw_caveats_of_ranks("run", 15, 16, &caveats);
    assert_int_equal(caveats.count, IW_CAVEATS_MOST);
    assert_true(iw_caveats_have(&caveats, IW_CAVEAT_MISSING));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_load_is_told_with_the_programs),
        cmocka_unit_test(a_quiet_recording_has_none),
        cmocka_unit_test(joined_recordings_keep_the_load_of_one),
        cmocka_unit_test(what_a_file_cannot_say_is_not_known),
        cmocka_unit_test(less_than_a_second_is_short_but_not_of_specs),
        cmocka_unit_test(a_recording_from_before_the_boot_is_told),
        cmocka_unit_test(a_network_of_one_host_serves_its_own_ranks),
        cmocka_unit_test(a_measurement_that_does_not_count_says_why),
        cmocka_unit_test(missing_ranks_and_groups_that_do_not_grow_are_told),
        cmocka_unit_test(calls_that_are_not_simulated_are_told),
        cmocka_unit_test(what_is_known_finds_room),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
