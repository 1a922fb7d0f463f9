/* CPUs set apart, judged by facts that are given, without any file.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "judging.h"

static void a_partition_of_others_contradicts_nothing(void **state)
{
    struct bench *b = *state;

    b->node->partition = fact("4-7");
    assert_true(judge_for(b, &iwi_isolation, "0-3"));
    assert_int_equal(b->m.state, IW_MITIGATION_ABSENT);
    b->node->own_partition = fact("4-7");
    assert_true(judge_for(b, &iwi_isolation, "0-3"));
    assert_int_equal(b->m.state, IW_MITIGATION_CONTRADICTED);
}

static void told_cpus_that_are_isolated_need_no_guess(void **state)
{
    struct bench *b = *state;

    b->node->isolated = b->node->irq_parameter = fact("0-1");
    assert_judged(b, &iwi_isolation, IW_MITIGATION_CONTRADICTED);
    assert_true(judge_for(b, &iwi_isolation, "0-1"));
    assert_int_equal(b->m.state, IW_MITIGATION_CONFIGURED);
}

static void commands_have_no_cut_lists(void **state)
{
    struct bench *b = *state;

    b->node->online = fact("0-511");
    b->node->workqueue = fact("0-511");
    assert_true(judge_for(b, &iwi_isolation, "1-511:2"));
    assert_int_equal(b->m.state, IW_MITIGATION_ABSENT);
    assert_has(b->m.advice, "isolcpus=managed_irq,domain,CPUS");
    assert_has(b->m.advice, "AllowedCPUs=OTHERS");
    assert_true(judge_for(b, &iwi_workqueue_mask, "1-511:2"));
    assert_has(b->m.advice, "echo 55555555,55555555,");
    assert_null(strstr(b->m.advice, "..."));
}

static void bound_threads_are_not_foreign(void **state)
{
    struct bench *b = *state;

    b->node->isolated = fact("2-7");
    watch(b, "2-7", 60.0, IWI_SEEN_BY_RECORDING);
    happen(b, IW_CLASS_THREAD, "kworker/2:1", 100);
    happen(b, IW_CLASS_THREAD, "ksoftirqd/2", 100);
    happen(b, IW_CLASS_THREAD, "migration/2", 100);
    happen(b, IW_CLASS_THREAD, "idlewave", 100);
    assert_judged(b, &iwi_isolation, IW_MITIGATION_EFFECTIVE);
    happen(b, IW_CLASS_THREAD, "kworker/u16:3", 100);
    assert_judged(b, &iwi_isolation, IW_MITIGATION_CONTRADICTED);
    assert_has(b->m.evidence, "kworker/u16:3");
}

static void preemptions_without_names_are_not_blamed(void **state)
{
    struct bench *b = *state;

    b->node->isolated = fact("2-7");
    watch(b, "2-7", 60.0, IWI_SEEN_BY_RECORDING);
    b->seen.lacks_names = true;
    b->seen.attribution = IW_ATTRIBUTION_LEVEL_SWITCHES;
    assert_judged(b, &iwi_isolation, IW_MITIGATION_EFFECTIVE);
    happen(b, IW_CLASS_THREAD, "preemption", 1000);
    assert_judged(b, &iwi_isolation, IW_MITIGATION_UNKNOWN);
    assert_has(b->m.evidence, "level of attribution switches");
}

static void a_list_with_cpu_0_and_few_others_looks_inverted(void **state)
{
    struct bench *b = *state;

    b->node->isolated = fact("0-1");
    assert_judged(b, &iwi_isolation, IW_MITIGATION_CONTRADICTED);
    assert_has(b->m.evidence, "the list looks inverted");
    assert_has(b->m.advice, "isolcpus=managed_irq,domain,2-7");
}

static void a_list_with_cpu_0_and_most_others_may_be_meant_so(void **state)
{
    struct bench *b = *state;

    b->node->isolated = fact("0-5");
    assert_judged(b, &iwi_isolation, IW_MITIGATION_CONFIGURED);
}

static void the_application_on_all_others_is_inverted(void **state)
{
    struct bench *b = *state;

    b->node->isolated = fact("6-7");
    assert_true(judge_for(b, &iwi_isolation, "0-5"));
    assert_int_equal(b->m.state, IW_MITIGATION_CONTRADICTED);
    assert_has(b->m.evidence, "the list is inverted");
    assert_true(judge_for(b, &iwi_isolation, "0-1"));
    assert_has(b->m.evidence, "none of them belongs to the application");
    assert_null(strstr(b->m.evidence, "inverted"));
}

static void init_on_isolated_cpus_looks_inverted(void **state)
{
    struct bench *b = *state;

    b->node->isolated = fact("2-7");
    b->node->init = fact("2-7");
    assert_judged(b, &iwi_isolation, IW_MITIGATION_CONTRADICTED);
    /* in a container init is the job itself */
    snprintf(b->node->container, sizeof b->node->container, "/.dockerenv");
    assert_judged(b, &iwi_isolation, IW_MITIGATION_CONFIGURED);
}

static void interrupts_sent_to_isolated_cpus_look_inverted(void **state)
{
    struct bench *b = *state;

    b->node->isolated = fact("2-7");
    b->node->irq_parameter = fact("4-5");
    assert_judged(b, &iwi_isolation, IW_MITIGATION_CONTRADICTED);
    assert_has(b->m.evidence, "irqaffinity");
}

static void an_invalid_partition_contradicts(void **state)
{
    struct bench *b = *state;

    snprintf(b->node->partition_fault, sizeof b->node->partition_fault,
             "isolated invalid (Cpu list in cpuset.cpus not exclusive)");
    assert_judged(b, &iwi_isolation, IW_MITIGATION_CONTRADICTED);
    assert_has(b->m.evidence, "not exclusive");
}

static void a_job_with_all_cpus_contradicts_core_specialisation(void **state)
{
    struct bench *b = *state;

    assert_false(judge_for(b, &iwi_core_spec, NULL)); /* no batch system here */
    b->node->job = fact("1-7");
    assert_judged(b, &iwi_core_spec, IW_MITIGATION_ABSENT);
    snprintf(b->node->core_spec, sizeof b->node->core_spec, "CoreSpecCount=1");
    assert_judged(b, &iwi_core_spec, IW_MITIGATION_CONFIGURED);
    b->node->job = fact("0-7");
    assert_judged(b, &iwi_core_spec, IW_MITIGATION_CONTRADICTED);
}

static void unbound_workers_outside_the_mask_contradict(void **state)
{
    struct bench *b = *state;

    b->node->isolated = fact("2-7");
    b->node->workqueue = fact("0-7");
    assert_judged(b, &iwi_workqueue_mask, IW_MITIGATION_ABSENT);
    assert_has(b->m.advice, "echo 3 > /sys/devices/virtual/workqueue/cpumask");
    b->node->workqueue = fact("0-1");
    assert_judged(b, &iwi_workqueue_mask, IW_MITIGATION_CONFIGURED);
    watch(b, "2-7", 60.0, IWI_SEEN_BY_RECORDING);
    happen(b, IW_CLASS_THREAD, "kworker/u16:3", 100);
    assert_judged(b, &iwi_workqueue_mask, IW_MITIGATION_CONTRADICTED);
}

static void siblings_of_the_application_are_found(void **state)
{
    struct bench *b = *state; /* CPUs i and i + 4 share a core */

    snprintf(b->node->info.smt, sizeof b->node->info.smt, "on");
    b->node->has_cores = true;
    assert_true(judge_for(b, &iwi_smt, "1-3"));
    assert_int_equal(b->m.state, IW_MITIGATION_CONFIGURED);
    assert_true(judge_for(b, &iwi_smt, "1-5"));
    assert_int_equal(b->m.state, IW_MITIGATION_ABSENT);
    assert_has(b->m.evidence, "CPUs 1,5 of the application share cores");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_partition_of_others_contradicts_nothing),
        TEST(told_cpus_that_are_isolated_need_no_guess),
        TEST(commands_have_no_cut_lists),
        TEST(bound_threads_are_not_foreign),
        TEST(preemptions_without_names_are_not_blamed),
        TEST(a_list_with_cpu_0_and_few_others_looks_inverted),
        TEST(a_list_with_cpu_0_and_most_others_may_be_meant_so),
        TEST(the_application_on_all_others_is_inverted),
        TEST(init_on_isolated_cpus_looks_inverted),
        TEST(interrupts_sent_to_isolated_cpus_look_inverted),
        TEST(an_invalid_partition_contradicts),
        TEST(a_job_with_all_cpus_contradicts_core_specialisation),
        TEST(unbound_workers_outside_the_mask_contradict),
        TEST(siblings_of_the_application_are_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
