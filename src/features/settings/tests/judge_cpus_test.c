/* CPUs without tick, judged by facts that are given, without any file.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "judging.h"

/* ---- chance ---- */

static void a_count_within_chance_is_not_loud(void **state)
{
    struct bench *b = *state;

    /* one a minute is allowed; in a minute on six CPUs P(N >= 6 | 1) = 5.9e-4 is not rare enough, 7 is */
    b->node->isolated = fact("2-7");
    watch(b, "2-7", 60.0, IWI_SEEN_BY_RECORDING);
    happen(b, IW_CLASS_THREAD, "sshd", 6);
    assert_judged(b, &iwi_isolation, IW_MITIGATION_EFFECTIVE);
    happen(b, IW_CLASS_THREAD, "sshd", 1);
    assert_judged(b, &iwi_isolation, IW_MITIGATION_CONTRADICTED);
    assert_has(b->m.evidence, "sshd 0.117/s on CPU 2 (allowed 1/min)");
    assert_true(b->m.is_felt);
}

static void a_burst_is_one_thing_that_happened(void **state)
{
    struct bench *b = *state;

    b->node->isolated = fact("2-7");
    watch(b, "2-7", 60.0, IWI_SEEN_BY_RECORDING);
    happen(b, IW_CLASS_THREAD, "sshd", 5);
    b->seen.rows[0].count = 100;
    assert_judged(b, &iwi_isolation, IW_MITIGATION_EFFECTIVE);
    happen(b, IW_CLASS_THREAD, "bash", 5); /* at the same times: the same logins */
    happen(b, IW_CLASS_THREAD, "systemd-logind", 5);
    assert_judged(b, &iwi_isolation, IW_MITIGATION_EFFECTIVE);
    assert_has(b->m.evidence, "sshd 1.67/s, bash 5/min");
    b->seen.rows[1].slots[3] = 0x55; /* at other times: four more */
    assert_judged(b, &iwi_isolation, IW_MITIGATION_CONTRADICTED);
}

static void counters_do_not_tell_bursts_apart_in_two_seconds(void **state)
{
    struct bench *b = *state;

    b->node->isolated = fact("2-7");
    watch(b, "2-7", 2.0, IWI_SEEN_BY_COUNTERS);
    happen(b, IW_CLASS_IRQ, "nvme0q3", 400);
    assert_judged(b, &iwi_irq_affinity, IW_MITIGATION_UNKNOWN);
    assert_has(b->m.evidence, "nvme0q3 200/s on CPU 2, possibly all at once");
    assert_false(b->m.is_felt);
}

/* ---- the tick ---- */

static void a_tick_that_came_back_contradicts(void **state)
{
    struct bench *b = *state;

    b->node->nohz_full = fact("2-7");
    b->node->major = 6;
    b->node->minor = 12;
    watch(b, "2-7", 10.0, IWI_SEEN_BY_RECORDING);
    happen(b, IW_CLASS_IRQ, "local_timer:236", 10000);
    assert_judged(b, &iwi_nohz_full, IW_MITIGATION_CONTRADICTED);
    assert_has(b->m.evidence, "local_timer:236 1000/s on CPU 2 (allowed 2/s). The tick came back");
    assert_has(b->m.advice, "deadline server");
    assert_true(b->m.seen_hz == 1000.0);
    assert_true(fabs(b->m.share - 0.01 / 60.0) < 1e-12); /* 10 ms of 6 x 10 s */
}

static void older_kernels_have_no_deadline_server(void **state)
{
    struct bench *b = *state;

    b->node->nohz_full = fact("2-7");
    b->node->major = 6;
    b->node->minor = 1;
    watch(b, "2-7", 10.0, IWI_SEEN_BY_RECORDING);
    happen(b, IW_CLASS_IRQ, "local_timer", 10000);
    assert_judged(b, &iwi_nohz_full, IW_MITIGATION_CONTRADICTED);
    assert_null(strstr(b->m.advice, "deadline server"));
    assert_false(judge_for(b, &iwi_fair_server, NULL));
}

static void a_residual_tick_is_allowed(void **state)
{
    struct bench *b = *state;

    b->node->nohz_full = fact("2-7");
    watch(b, "2-7", 10.0, IWI_SEEN_BY_RECORDING);
    happen(b, IW_CLASS_IRQ, "local_timer", 11);
    assert_judged(b, &iwi_nohz_full, IW_MITIGATION_EFFECTIVE);
}

static void half_a_second_is_too_short_to_tell(void **state)
{
    struct bench *b = *state;

    b->node->nohz_full = fact("2-7");
    watch(b, "2-7", 0.5, IWI_SEEN_BY_RECORDING);
    assert_judged(b, &iwi_nohz_full, IW_MITIGATION_UNKNOWN);
    assert_has(b->m.evidence, "0.5 s is too short; watch 1 s");
}

static void a_recording_of_other_cpus_tells_nothing(void **state)
{
    struct bench *b = *state;

    b->node->nohz_full = fact("2-7");
    watch(b, "0-1", 60.0, IWI_SEEN_BY_RECORDING);
    happen(b, IW_CLASS_IRQ, "local_timer", 15000);
    assert_judged(b, &iwi_nohz_full, IW_MITIGATION_UNKNOWN);
    assert_has(b->m.evidence, "record on CPUs 2-7");
}

static void idle_cpus_have_no_tick_anyway(void **state)
{
    struct bench *b = *state;

    b->node->nohz_full = fact("2-7");
    watch(b, "0-7", 10.0, IWI_SEEN_BY_COUNTERS);
    for (size_t i = 0; i < b->seen.cpu_count; i++) {
        b->seen.seen_cpus[i].idle = 0.99;
    }
    assert_judged(b, &iwi_nohz_full, IW_MITIGATION_UNKNOWN);
    assert_has(b->m.evidence, "the CPUs were idle");
    b->seen.seen_cpus[0].cpu = 2; /* timers of somebody who sleeps there are no tick */
    happen(b, IW_CLASS_IRQ, "local_timer", 200);
    assert_judged(b, &iwi_nohz_full, IW_MITIGATION_UNKNOWN);
    b->seen.seen_cpus[0].idle = 0.1;
    assert_judged(b, &iwi_nohz_full, IW_MITIGATION_CONTRADICTED);
}

static void without_anything_watched_a_setting_is_configured(void **state)
{
    struct bench *b = *state;

    b->node->nohz_full = fact("2-7");
    assert_judged(b, &iwi_nohz_full, IW_MITIGATION_CONFIGURED);
    assert_string_equal(b->m.setting, "CPUs 2-7");
    assert_true(isnan(b->m.seen_hz));
}

static void nohz_full_for_other_cpus_contradicts(void **state)
{
    struct bench *b = *state;

    b->node->nohz_full = fact("1");
    assert_true(judge_for(b, &iwi_nohz_full, "2-7"));
    assert_int_equal(b->m.state, IW_MITIGATION_CONTRADICTED);
    assert_has(b->m.evidence, "none of them belongs to the application (CPUs 2-7)");
}

static void a_parameter_that_the_kernel_ignores_contradicts(void **state)
{
    struct bench *b = *state;

    b->node->nohz_full_asked = fact("2-7");
    b->node->lacks_nohz_full = true;
    assert_judged(b, &iwi_nohz_full, IW_MITIGATION_CONTRADICTED);
    assert_has(b->m.evidence, "CONFIG_NO_HZ_FULL");
    b->node->isolated_asked = fact("2-7");
    assert_judged(b, &iwi_isolation, IW_MITIGATION_CONTRADICTED);
}

static void callbacks_on_cpus_without_them_contradict(void **state)
{
    struct bench *b = *state;

    b->node->rcu_nocbs = fact("2-7");
    b->node->nohz_full = fact("2-7");
    watch(b, "2-7", 10.0, IWI_SEEN_BY_RECORDING);
    assert_judged(b, &iwi_rcu_nocbs, IW_MITIGATION_EFFECTIVE);
    happen(b, IW_CLASS_SOFTIRQ, "RCU", 500);
    assert_judged(b, &iwi_rcu_nocbs, IW_MITIGATION_CONTRADICTED);
    b->node->nohz_full = fact("4-7"); /* CPU 2 ticks: that alone raises the softirq */
    assert_judged(b, &iwi_rcu_nocbs, IW_MITIGATION_EFFECTIVE);
    b->node->nohz_full = fact("");
    assert_judged(b, &iwi_rcu_nocbs, IW_MITIGATION_CONFIGURED);
}

static void idle_cpus_have_no_callbacks_anyway(void **state)
{
    struct bench *b = *state;

    b->node->rcu_nocbs = b->node->nohz_full = fact("2-7");
    watch(b, "2-7", 10.0, IWI_SEEN_BY_COUNTERS);
    for (size_t i = 0; i < b->seen.cpu_count; i++) {
        b->seen.seen_cpus[i].idle = 0.99;
    }
    assert_judged(b, &iwi_rcu_nocbs, IW_MITIGATION_UNKNOWN);
    assert_has(b->m.evidence, "the CPUs were idle");
}

static void cpus_of_the_application_that_a_setting_leaves_out_are_told(void **state)
{
    struct bench *b = *state;

    b->node->nohz_full = fact("2");
    watch(b, "2-7", 10.0, IWI_SEEN_BY_RECORDING);
    assert_true(judge_for(b, &iwi_nohz_full, "2-7"));
    assert_int_equal(b->m.state, IW_MITIGATION_EFFECTIVE);
    assert_has(b->m.evidence, "not set for CPUs 3-7 of the application");
}

static void cpus_of_others_do_not_count(void **state)
{
    struct bench *b = *state;

    b->node->nohz_full = b->node->isolated = fact("2-7");
    watch(b, "2-7", 10.0, IWI_SEEN_BY_RECORDING);
    happen(b, IW_CLASS_IRQ, "local_timer", 10000); /* on CPU 2 */
    happen(b, IW_CLASS_THREAD, "sshd", 100);
    assert_true(judge_for(b, &iwi_nohz_full, "4-5"));
    assert_int_equal(b->m.state, IW_MITIGATION_EFFECTIVE);
    assert_true(judge_for(b, &iwi_isolation, "4-5"));
    assert_int_equal(b->m.state, IW_MITIGATION_EFFECTIVE);
    assert_true(judge_for(b, &iwi_nohz_full, "2-3"));
    assert_int_equal(b->m.state, IW_MITIGATION_CONTRADICTED);
}

static void timers_that_stay_are_felt_on_quiet_cpus(void **state)
{
    struct bench *b = *state;

    b->node->timer_migration = 0;
    assert_judged(b, &iwi_timer_migration, IW_MITIGATION_ABSENT);
    assert_false(b->m.is_felt);
    b->node->isolated = fact("2-7");
    assert_judged(b, &iwi_timer_migration, IW_MITIGATION_ABSENT);
    assert_true(b->m.is_felt);
    watch(b, "2-7", 10.0, IWI_SEEN_BY_RECORDING);
    happen(b, IW_CLASS_SOFTIRQ, "TIMER", 900);
    assert_judged(b, &iwi_timer_migration, IW_MITIGATION_CONTRADICTED);
}

static void timers_that_stay_where_nothing_is_set_apart_are_not_configured(void **state)
{
    struct bench *b = *state;

    b->node->timer_migration = 0;
    watch(b, "2-7", 10.0, IWI_SEEN_BY_RECORDING);
    happen(b, IW_CLASS_SOFTIRQ, "TIMER", 900);
    assert_true(judge_for(b, &iwi_timer_migration, "2-7"));
    assert_int_equal(b->m.state, IW_MITIGATION_ABSENT);
}

static void kernels_before_6_12_are_not_assumed_to_have_the_deadline_server(void **state)
{
    struct bench *b = *state;

    b->node->nohz_full = fact("2-7");
    b->node->major = 6;
    b->node->minor = 8;
    assert_false(judge_for(b, &iwi_fair_server, NULL));
    b->node->fair_server_ns = 50000000; /* a distribution's */
    assert_judged(b, &iwi_fair_server, IW_MITIGATION_ABSENT);
    b->node->fair_server_ns = IWI_NOT_TOLD;
    b->node->minor = 12;
    assert_judged(b, &iwi_fair_server, IW_MITIGATION_UNKNOWN);
    b->node->lacks_fair_server = true;
    assert_false(judge_for(b, &iwi_fair_server, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_count_within_chance_is_not_loud),
        TEST(a_burst_is_one_thing_that_happened),
        TEST(counters_do_not_tell_bursts_apart_in_two_seconds),
        TEST(a_tick_that_came_back_contradicts),
        TEST(older_kernels_have_no_deadline_server),
        TEST(a_residual_tick_is_allowed),
        TEST(half_a_second_is_too_short_to_tell),
        TEST(a_recording_of_other_cpus_tells_nothing),
        TEST(idle_cpus_have_no_tick_anyway),
        TEST(without_anything_watched_a_setting_is_configured),
        TEST(nohz_full_for_other_cpus_contradicts),
        TEST(a_parameter_that_the_kernel_ignores_contradicts),
        TEST(callbacks_on_cpus_without_them_contradict),
        TEST(idle_cpus_have_no_callbacks_anyway),
        TEST(cpus_of_the_application_that_a_setting_leaves_out_are_told),
        TEST(cpus_of_others_do_not_count),
        TEST(timers_that_stay_where_nothing_is_set_apart_are_not_configured),
        TEST(kernels_before_6_12_are_not_assumed_to_have_the_deadline_server),
        TEST(timers_that_stay_are_felt_on_quiet_cpus),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
