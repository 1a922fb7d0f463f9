/* Profiles: learned from one node, required of another, and through a file.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "findings.h"

#include <unistd.h>

static void judge(struct findings *f, const iw_profile *profile)
{
    iw_check_opts opts = IW_CHECK_OPTS_INIT;

    opts.profile = profile;
    iw_check_release(&f->check);
    assert_ok(iw_check_judge(NULL, &opts, &f->check));
}

static iw_profile *learn(const struct findings *f)
{
    iw_profile *profile = NULL;

    assert_ok(iw_profile_learn(NULL, &f->check, 2.0, &profile));
    return profile;
}

static void what_is_configured_and_twice_what_is_lost_is_learned(void **state)
{
    iw_profile *profile = learn(*state);

    assert_string_equal(profile->host, "node07");
    assert_int_equal(profile->setting_count, 1);
    assert_string_equal(profile->settings[0].name, "nohz_full");
    assert_string_equal(profile->settings[0].setting, "CPUs 2-7");
    assert_float_equal(profile->most_lost, 0.004, 1e-12);
    assert_int_equal(profile->job_count, 2);
    assert_float_equal(profile->jobs[0].most_slowdown, 0.04, 1e-12); /* twice 0.02 */
    assert_float_equal(profile->jobs[1].most_slowdown, 0.4, 1e-12);
    iw_profile_free(profile);
}

static void limits_next_to_nothing_are_not_learned(void **state)
{
    struct findings *f = *state;
    iw_profile *profile;

    f->check.noise.facts.all.share = 1e-6;
    f->jobs[0].slowdown = (iw_estimate){1e-5, 0.0, 2e-5};
    f->jobs[1].slowdown.high = INFINITY; /* nothing is known above */
    profile = learn(f);
    assert_float_equal(profile->most_lost, 0.0005, 1e-12);
    assert_int_equal(profile->job_count, 1);
    assert_float_equal(profile->jobs[0].most_slowdown, 0.01, 1e-12);
    iw_profile_free(profile);
}

static void a_node_meets_what_was_learned_from_it(void **state)
{
    struct findings *f = *state;
    iw_profile *profile = learn(f);

    judge(f, profile);
    assert_int_equal(f->check.outcome, IW_CHECK_GOOD);
    assert_int_equal(requirement(f, "nohz_full")->state, IW_REQUIREMENT_MET);
    iw_profile_free(profile);
}

static void a_setting_that_is_lost_or_differs_is_missed(void **state)
{
    struct findings *f = *state;
    iw_profile *profile = learn(f);

    snprintf(f->mitigations[0].setting, sizeof f->mitigations[0].setting, "CPUs 3-7");
    judge(f, profile);
    assert_int_equal(f->check.outcome, IW_CHECK_CONTRADICTED);
    assert_string_equal(f->check.line,
                        "CONTRADICTED node07: nohz_full: in effect: CPUs 3-7, required: CPUs 2-7");
    profile->settings[0].setting[0] = '\0'; /* whatever it is set to */
    judge(f, profile);
    assert_int_equal(f->check.outcome, IW_CHECK_GOOD);
    f->mitigations[0].state = IW_MITIGATION_ABSENT;
    judge(f, profile);
    assert_int_equal(f->check.outcome, IW_CHECK_CONTRADICTED);
    iw_profile_free(profile);
}

static void settings_that_cannot_be_read_and_jobs_that_did_not_run_leave_a_doubt(void **state)
{
    struct findings *f = *state;
    iw_profile *profile = learn(f);

    f->mitigations[0].state = IW_MITIGATION_UNKNOWN;
    judge(f, profile);
    assert_int_equal(f->check.outcome, IW_CHECK_UNKNOWN);
    f->mitigations[0].state = IW_MITIGATION_EFFECTIVE;
    f->jobs[0].ranks = 64;
    judge(f, profile);
    assert_int_equal(f->check.outcome, IW_CHECK_UNKNOWN);
    assert_string_equal(f->check.line, "UNKNOWN node07: barrier: not simulated on 1,024 ranks");
    iw_profile_free(profile);
}

static void of_one_job_on_two_sizes_the_one_that_misses_is_named(void **state)
{
    struct findings *f = *state;
    iw_profile *profile;

    snprintf(f->jobs[1].name, sizeof f->jobs[1].name, "barrier");
    f->jobs[0].ranks = 64;
    for (size_t i = 0; i < 2; i++) {
        snprintf(f->jobs[i].net, sizeof f->jobs[i].net, "chic");
    }
    profile = learn(f);
    f->jobs[1].slowdown = (iw_estimate){0.2, 0.15, 0.4};
    profile->jobs[1].most_slowdown = 0.1;
    judge(f, profile);
    assert_string_equal(f->check.line,
                        "NOISY node07: barrier on 1,024 ranks of chic 20 % slower (limit 10 %)");
    iw_profile_free(profile);
}

static void a_profile_goes_through_a_file(void **state)
{
    struct findings *f = *state;
    iw_profile *profile = learn(f);
    const iw_profile *read = NULL;
    char path[] = "/tmp/iw_profile_XXXXXX";
    iw_doc_file *file = NULL;
    FILE *out = fdopen(mkstemp(path), "w");

    assert_non_null(out);
    assert_ok(iw_doc_write(NULL, iw_profile_doc(profile), IW_DOC_JSON, NULL, out));
    assert_int_equal(fclose(out), 0);
    assert_ok(iw_profile_open(NULL, path, &file, &read));
    assert_string_equal(read->settings[0].setting, "CPUs 2-7");
    assert_float_equal(read->jobs[1].most_slowdown, 0.4, 1e-12);
    judge(f, read);
    assert_int_equal(f->check.outcome, IW_CHECK_GOOD);
    iw_doc_close(file);
    assert_int_equal(unlink(path), 0);
    iw_profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_configured_and_twice_what_is_lost_is_learned, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(limits_next_to_nothing_are_not_learned, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_node_meets_what_was_learned_from_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_setting_that_is_lost_or_differs_is_missed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(settings_that_cannot_be_read_and_jobs_that_did_not_run_leave_a_doubt,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(of_one_job_on_two_sizes_the_one_that_misses_is_named, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_profile_goes_through_a_file, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
