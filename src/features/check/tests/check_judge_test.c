/* Outcomes of checks: each by itself, and which one wins.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/fleet.h>

#include "findings.h"

_Static_assert((int)IW_CHECK_FEW_NODES == (int)IW_FLEET_FEW_NODES, "what fleets call few is few for a check");

static void judge(struct findings *f, const iw_profile *profile)
{
    iw_check_opts opts = IW_CHECK_OPTS_INIT;

    opts.profile = profile;
    iw_check_release(&f->check);
    assert_ok(iw_check_judge(NULL, &opts, &f->check));
}

static void assert_outcome(struct findings *f, iw_check_outcome outcome)
{
    judge(f, NULL);
    if (f->check.outcome != outcome) {
        fail_msg("%s", f->check.line);
    }
}

static void a_quiet_node_is_good_and_says_so_in_one_line(void **state)
{
    struct findings *f = *state;

    assert_outcome(f, IW_CHECK_GOOD);
    assert_string_equal(f->check.line,
                        "GOOD node07: loses 0.2 % of its CPUs to noise; barrier on 1,024 ranks "
                        "2 % slower; halo on 1,024 ranks 20 % slower");
    assert_int_equal(iw_check_exit_code(f->check.outcome), 0);
}

/* It proves that a limit is missed, never that one is met. */
static void a_lower_bound_below_the_limit_proves_nothing(void **state)
{
    struct findings *f = *state;

    f->jobs[0].slowdown = (iw_estimate){0.02, 0.015, INFINITY};
    assert_outcome(f, IW_CHECK_UNKNOWN);
    assert_int_equal(requirement(f, "barrier")->state, IW_REQUIREMENT_UNKNOWN);
    assert_string_equal(f->check.line, "UNKNOWN node07: barrier: at least 1.5 %; record longer");
    assert_int_equal(iw_check_exit_code(f->check.outcome), 3);
    f->jobs[0].slowdown.low = 0.1001;
    assert_outcome(f, IW_CHECK_NOISY);
}

/* A short recording cannot say how much, but may say that it is little enough. */
static void an_upper_end_below_the_limit_meets_it(void **state)
{
    struct findings *f = *state;

    f->jobs[0].slowdown = (iw_estimate){0.02, 0.015, INFINITY};
    f->jobs[0].most_slowdown = 0.0999;
    assert_outcome(f, IW_CHECK_GOOD);
    assert_string_equal(requirement(f, "barrier")->found, "at least 1.5 %, at most 9.99 %");
    assert_non_null(strstr(f->check.line, "; barrier on 1,024 ranks at most 10 % slower;"));
    f->jobs[0].most_slowdown = 0.1001;
    assert_outcome(f, IW_CHECK_UNKNOWN);
    assert_string_equal(f->check.line,
                        "UNKNOWN node07: barrier: at least 1.5 %, at most 10 %; record longer");
    f->jobs[0].slowdown.low = 0.0;
    f->jobs[0].most_slowdown = 0.0;
    assert_outcome(f, IW_CHECK_UNKNOWN);
    assert_string_equal(requirement(f, "barrier")->found, "unknown; record longer");
}

static void more_time_lost_than_allowed_is_noisy(void **state)
{
    struct findings *f = *state;

    f->check.noise.facts.all.share = 0.034;
    assert_outcome(f, IW_CHECK_NOISY);
    assert_string_equal(f->check.line, "NOISY node07: CPU time lost 3.4 % (limit 1 %)");
    assert_int_equal(iw_check_exit_code(f->check.outcome), 4);
}

static void a_noisy_node_names_its_worst_source_and_what_to_do(void **state)
{
    struct findings *f = *state;
    iw_noise_origin largest = {.source = {.kind = IW_CLASS_THREAD, .name = "ksmd"}};

    f->check.noise.facts.all.share = 0.034;
    f->check.noise.facts.source_count = 1;
    f->check.noise.facts.sources = &largest;
    assert_outcome(f, IW_CHECK_NOISY);
    assert_string_equal(f->check.line,
                        "NOISY node07: thread/ksmd is the worst source; CPU time lost 3.4 % (limit 1 %); "
                        "remedy: turn off page merging");
    f->jobs[0].slowdown = (iw_estimate){0.4, 0.3, 0.5}; /* what costs a job counts more */
    snprintf(f->jobs[0].worst, sizeof f->jobs[0].worst, "irq/eno1");
    f->jobs[0].remedy = "move it";
    assert_outcome(f, IW_CHECK_NOISY);
    assert_non_null(strstr(f->check.line, "NOISY node07: irq/eno1 is the worst source; CPU time lost"));
    assert_non_null(strstr(f->check.line, "; remedy: move it"));
    assert_null(strstr(f->check.line, "ksm"));
}

static void a_slowdown_counts_where_its_whole_interval_is_above_the_limit(void **state)
{
    struct findings *f = *state;

    f->jobs[1].slowdown = (iw_estimate){0.2, 0.1001, 0.4};
    assert_outcome(f, IW_CHECK_NOISY);
    f->jobs[1].slowdown.low = 0.0999;
    assert_outcome(f, IW_CHECK_GOOD);
}

static void contradictions_come_first(void **state)
{
    struct findings *f = *state;

    add_mitigation(f, "IRQ affinity", IW_MITIGATION_CONTRADICTED, "CPUs 0-1");
    snprintf(f->mitigations[2].evidence, sizeof f->mitigations[2].evidence, "eno1 5/s on CPU 3");
    f->check.noise.facts.all.share = 0.5;
    f->check.noise.facts.load.is_busy = true;
    assert_outcome(f, IW_CHECK_CONTRADICTED);
    assert_string_equal(f->check.line, "CONTRADICTED node07: IRQ affinity: CPUs 0-1, eno1 5/s on CPU 3");
    assert_int_equal(iw_check_exit_code(f->check.outcome), 2);
}

static void a_busy_node_is_not_called_noisy(void **state)
{
    struct findings *f = *state;

    f->check.noise.facts.all.share = 0.5;
    f->check.noise.facts.load = (iw_load){.is_known = true, .is_busy = true, .users = 0.48};
    snprintf(f->check.noise.facts.load.programs, sizeof f->check.noise.facts.load.programs, "cc1 48 %%");
    assert_outcome(f, IW_CHECK_BUSY);
    assert_string_equal(f->check.line,
                        "BUSY node07: user programs take 48 % of its CPUs (cc1 48 %); noise not measured");
    assert_int_equal(iw_check_exit_code(f->check.outcome), 5);
    assert_int_equal(f->check.requirement_count, 0); /* limits do not count */
}

static void large_numbers_are_written_out(void **state)
{
    struct findings *f = *state;

    f->check.noise.facts.all.share = 0.999;
    f->jobs[0].slowdown = (iw_estimate){12.34, 11.0, 13.0};
    f->check.job_count = 1;
    assert_outcome(f, IW_CHECK_NOISY);
    assert_string_equal(
        f->check.line,
        "NOISY node07: CPU time lost 99.9 % (limit 1 %); barrier on 1,024 ranks 1230 % slower (limit 10 %)");
    f->check.noise.facts.load = (iw_load){.is_known = true, .is_busy = true, .users = 0.999};
    assert_outcome(f, IW_CHECK_BUSY);
    assert_non_null(strstr(f->check.line, "take 100 % of its CPUs"));
}

static void what_may_be_a_load_is_not_called_noise(void **state)
{
    struct findings *f = *state;

    f->check.noise.facts.all.share = 0.5;
    f->check.noise.facts.load.is_known = false;
    f->check.noise.facts.has_sources = false;
    assert_outcome(f, IW_CHECK_UNKNOWN);
    assert_int_equal(requirement(f, "CPU time lost")->state, IW_REQUIREMENT_UNKNOWN);
    assert_int_equal(requirement(f, "barrier")->state, IW_REQUIREMENT_MET);
    assert_int_equal(iw_check_exit_code(f->check.outcome), 3);
    f->check.noise.facts.has_sources = true;
    assert_outcome(f, IW_CHECK_NOISY);
}

static void too_short_a_recording_tells_nothing(void **state)
{
    struct findings *f = *state;

    f->check.noise.facts.watched_ns = 1.0e9;
    assert_outcome(f, IW_CHECK_UNKNOWN);
    assert_string_equal(f->check.line, "UNKNOWN node07: measured for 0.5 s only; at least 1 s is needed");
    f->check.noise.facts.all.share = 0.5;
    f->jobs[1].slowdown.low = 0.3;
    assert_outcome(f, IW_CHECK_UNKNOWN);
    for (size_t i = 0; i < f->check.requirement_count; i++) {
        assert_int_equal(f->check.requirements[i].state, IW_REQUIREMENT_UNKNOWN);
    }
    assert_string_equal(requirement(f, "CPU time lost")->found, "50 %; recording too short");
}

static void the_node_named_is_that_of_the_recording(void **state)
{
    struct findings *f = *state;
    char name[] = "host", value[] = "node08";
    const iw_attribute host = {name, value};
    static const struct {
        bool is_busy;
        double share;
        iw_check_outcome outcome;
    } cases[] = {
        {false, 0.002, IW_CHECK_UNKNOWN}, {false, 0.5, IW_CHECK_UNKNOWN}, {true, 0.5, IW_CHECK_BUSY}};

    f->check.noise.facts.attributes = &host;
    f->check.noise.facts.attribute_count = 1;
    add_mitigation(f, "tickless", IW_MITIGATION_CONTRADICTED, "of node07");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        f->check.noise.facts.load.is_busy = cases[i].is_busy;
        f->check.noise.facts.all.share = cases[i].share;
        assert_outcome(f, cases[i].outcome);
        assert_non_null(strstr(f->check.line, " node08: "));
    }
    snprintf(f->verify.host, sizeof f->verify.host, "node08");
    assert_outcome(f, IW_CHECK_CONTRADICTED);
}

static void settings_of_another_node_are_not_required_of_this_one(void **state)
{
    struct findings *f = *state;
    char name[] = "host", value[] = "node08";
    const iw_attribute host = {name, value};
    iw_profile_setting setting = {"nohz_full", "CPUs 1-3"};
    iw_profile profile = {.most_lost = NAN, .setting_count = 1, .settings = &setting};

    f->check.noise.facts.attributes = &host;
    f->check.noise.facts.attribute_count = 1;
    judge(f, &profile);
    assert_int_equal(requirement(f, "nohz_full")->state, IW_REQUIREMENT_UNKNOWN);
    assert_string_equal(requirement(f, "nohz_full")->found, "unknown: the settings read are of node07");
}

static void limits_are_not_judged_without_the_settings_of_the_node(void **state)
{
    struct findings *f = *state;
    char name[] = "host", value[] = "node08";
    const iw_attribute host = {name, value};

    f->check.noise.facts.attributes = &host;
    f->check.noise.facts.attribute_count = 1;
    f->check.noise.facts.all.share = 0.5;
    assert_outcome(f, IW_CHECK_UNKNOWN);
    for (size_t i = 0; i < f->check.requirement_count; i++) {
        assert_int_equal(f->check.requirements[i].state, IW_REQUIREMENT_UNKNOWN);
    }
    assert_string_equal(requirement(f, "CPU time lost")->found,
                        "50 %; not judged without the node's settings");
}

static void a_job_that_there_was_no_time_for_leaves_a_doubt(void **state)
{
    struct findings *f = *state;

    f->jobs[1] = (iw_check_job){.name = "halo", .ranks = 1024};
    assert_outcome(f, IW_CHECK_UNKNOWN);
    assert_string_equal(f->check.line, "UNKNOWN node07: halo: no time left to simulate it");
}

static void more_than_the_baseline_beyond_chance_is_noisy(void **state)
{
    struct findings *f = *state;

    f->check.has_baseline = true;
    f->check.baseline = "before.h5";
    f->check.baseline_share = (iw_compare_value){0.001, 0.002, {0.001, 0.0005, 0.0015}};
    f->check.compared = IW_COMPARE_WORSE;
    assert_outcome(f, IW_CHECK_NOISY);
    assert_string_equal(requirement(f, "against the baseline")->wanted, "0.1 %, as in before.h5");
    f->check.compared = IW_COMPARE_SAME;
    assert_outcome(f, IW_CHECK_GOOD);
}

static void standing_out_of_its_fleet_is_noisy(void **state)
{
    struct findings *f = *state;

    f->check.has_fleet = true;
    f->check.fleet = (iw_check_fleet){.path = "digests", .node_count = 11, .finding_count = 1};
    snprintf(f->check.fleet.largest, sizeof f->check.fleet.largest, "irq/eno1: 0.4 %% of the time");
    assert_outcome(f, IW_CHECK_NOISY);
    assert_string_equal(f->check.line, "NOISY node07: against the fleet: irq/eno1: 0.4 % of the time, "
                                       "required: like the 11 other nodes in digests");
    f->check.fleet.finding_count = 0;
    assert_outcome(f, IW_CHECK_GOOD);
    f->check.fleet.node_count = 1; /* two nodes are no fleet */
    assert_outcome(f, IW_CHECK_UNKNOWN);
    assert_string_equal(f->check.line, "UNKNOWN node07: against the fleet: too few nodes to compare");
}

static void what_watched_programs_lose_is_told_of_a_busy_node(void **state)
{
    struct findings *f = *state;

    f->check.is_watched = true;
    f->check.noise.facts.all.share = 0.5;
    f->check.noise.facts.load = (iw_load){.is_known = true, .is_busy = true, .users = 0.48};
    assert_outcome(f, IW_CHECK_BUSY);
    assert_string_equal(f->check.line,
                        "BUSY node07: user programs take 48 % of its CPUs; they lose 50 % to noise");
    f->check.noise.facts.watched_ns = 0.0; /* they could not be watched */
    assert_outcome(f, IW_CHECK_BUSY);
    assert_non_null(strstr(f->check.line, "noise not measured"));
}

static void a_node_that_is_judged_by_its_programs_needs_no_jobs(void **state)
{
    iw_profile_job job = {.name = "barrier", .ranks = 1024, .most_slowdown = 0.1};
    const iw_profile profile = {.most_lost = 0.01, .job_count = 1, .jobs = &job};
    struct findings *f = *state;

    f->check.is_watched = true;
    f->check.job_count = 0;
    judge(f, &profile);
    assert_int_equal(f->check.outcome, IW_CHECK_GOOD);
    assert_string_equal(f->check.line, "GOOD node07: running programs lose 0.2 % to noise");
    f->check.is_watched = false;
    judge(f, &profile);
    assert_int_equal(f->check.outcome, IW_CHECK_UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_quiet_node_is_good_and_says_so_in_one_line, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_lower_bound_below_the_limit_proves_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_upper_end_below_the_limit_meets_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_upper_end_below_the_limit_meets_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(more_time_lost_than_allowed_is_noisy, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_noisy_node_names_its_worst_source_and_what_to_do, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_slowdown_counts_where_its_whole_interval_is_above_the_limit, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(contradictions_come_first, set_up, tear_down),
        cmocka_unit_test_setup_teardown(large_numbers_are_written_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_busy_node_is_not_called_noisy, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_may_be_a_load_is_not_called_noise, set_up, tear_down),
        cmocka_unit_test_setup_teardown(too_short_a_recording_tells_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_node_named_is_that_of_the_recording, set_up, tear_down),
        cmocka_unit_test_setup_teardown(settings_of_another_node_are_not_required_of_this_one, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(limits_are_not_judged_without_the_settings_of_the_node, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_job_that_there_was_no_time_for_leaves_a_doubt, set_up, tear_down),
        cmocka_unit_test_setup_teardown(more_than_the_baseline_beyond_chance_is_noisy, set_up, tear_down),
        cmocka_unit_test_setup_teardown(standing_out_of_its_fleet_is_noisy, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_watched_programs_lose_is_told_of_a_busy_node, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_node_that_is_judged_by_its_programs_needs_no_jobs, set_up,
                                        tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
