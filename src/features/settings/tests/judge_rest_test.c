/* Interrupts, watchdogs, memory, clocks and platforms, judged by facts that are given.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "judging.h"

/* ---- interrupts ---- */

static void add_irq(struct bench *b, unsigned long number, const char *name, const char *target,
                    const char *counted)
{
    void *irqs = b->node->irqs;
    struct iwi_irq *irq;

    assert_ok(iwi_grow(NULL, &irqs, &b->node->irq_capacity, b->node->irq_count + 1, sizeof *b->node->irqs));
    b->node->irqs = irqs;
    irq = &b->node->irqs[b->node->irq_count++];
    *irq = (struct iwi_irq){.number = number, .target = cpus(target), .counted = cpus(counted)};
    snprintf(irq->name, sizeof irq->name, "%s", name);
}

static void an_interrupt_that_goes_to_a_quiet_cpu_contradicts(void **state)
{
    struct bench *b = *state;

    b->node->isolated = fact("2-7");
    add_irq(b, 24, "nvme0q0", "0", "0");
    add_irq(b, 25, "nvme0q5", "5", "0"); /* goes there, but never came */
    assert_judged(b, &iwi_irq_affinity, IW_MITIGATION_CONFIGURED);
    add_irq(b, 36, "eno1", "4", "0-1,4");
    assert_judged(b, &iwi_irq_affinity, IW_MITIGATION_CONFIGURED); /* nobody said that it should not */
    assert_has(b->m.evidence, "irq 36 eno1 goes to CPU 4");
    b->node->irq_parameter = fact("0-1");
    assert_judged(b, &iwi_irq_affinity, IW_MITIGATION_CONTRADICTED);
    assert_has(b->m.advice, "for i in 36; do echo 0-1 > /proc/irq/$i/smp_affinity_list; done");
}

static void an_interrupt_in_two_seconds_contradicts_nothing(void **state)
{
    struct bench *b = *state;

    b->node->isolated = fact("2-7");
    b->node->irq_parameter = fact("0-1");
    add_irq(b, 36, "eno1", "2", "2");
    watch(b, "0-7", 2.0, IWI_SEEN_BY_COUNTERS);
    b->seen.seen_cpus[0].cpu = 2;
    happen(b, IW_CLASS_IRQ, "eno1", 1);
    assert_judged(b, &iwi_irq_affinity, IW_MITIGATION_UNKNOWN);
    assert_has(b->m.evidence, "irq 36 eno1 goes to CPU 2");
    assert_has(b->m.advice, "/proc/irq/$i/smp_affinity_list");
}

static void timers_with_numbers_are_no_devices(void **state)
{
    struct bench *b = *state;

    b->node->isolated = fact("2-7");
    b->node->irq_parameter = fact("0-1");
    add_irq(b, 11, "arch_timer", "0-7", "0-7");
    add_irq(b, 23, "arm-pmu", "0-7", "0-7");
    assert_judged(b, &iwi_irq_affinity, IW_MITIGATION_CONFIGURED);
    assert_has(b->m.evidence, "none of 2 interrupts goes to quiet CPUs");
    watch(b, "2-7", 60.0, IWI_SEEN_BY_COUNTERS);
    happen(b, IW_CLASS_IRQ, "arch_timer", 60000);
    happen(b, IW_CLASS_IRQ, "arm-pmu", 600);
    assert_judged(b, &iwi_irq_affinity, IW_MITIGATION_EFFECTIVE);
}

static void cpus_that_take_interrupts_may_be_given_to_a_job(void **state)
{
    struct bench *b = *state;

    b->node->isolated = fact("2-7");
    b->node->irq_parameter = b->node->irq_default = fact("0-1");
    add_irq(b, 36, "eno1", "0", "0");
    watch(b, "0-7", 60.0, IWI_SEEN_BY_COUNTERS);
    happen(b, IW_CLASS_IRQ, "eno1", 60000); /* on CPU 0 */
    assert_true(judge_for(b, &iwi_irq_affinity, "0-7"));
    assert_int_equal(b->m.state, IW_MITIGATION_EFFECTIVE);
    assert_has(b->m.evidence, "not set for CPUs 0-1 of the application");
}

static void queues_that_the_kernel_manages_are_left_to_it(void **state)
{
    struct bench *b = *state;

    b->node->isolated = fact("2-7");
    add_irq(b, 25, "nvme0q3", "2", "2");
    watch(b, "2-7", 60.0, IWI_SEEN_BY_RECORDING);
    happen(b, IW_CLASS_IRQ, "nvme0q3", 6000);
    assert_judged(b, &iwi_irq_affinity, IW_MITIGATION_CONTRADICTED);
    assert_has(b->m.advice, "managed_irq");
    b->node->managed_irq = fact("2-7");
    assert_judged(b, &iwi_irq_affinity, IW_MITIGATION_EFFECTIVE);
}

static void what_was_seen_outweighs_where_interrupts_could_go(void **state)
{
    struct bench *b = *state;

    b->node->isolated = fact("2-7");
    add_irq(b, 36, "eno1", "4", "4");
    watch(b, "2-7", 60.0, IWI_SEEN_BY_RECORDING);
    happen(b, IW_CLASS_IRQ, "local_timer", 60); /* not a device's */
    happen(b, IW_CLASS_IRQ, "reschedule", 6000);
    assert_judged(b, &iwi_irq_affinity, IW_MITIGATION_EFFECTIVE);
    happen(b, IW_CLASS_IRQ, "eno1", 60);
    assert_judged(b, &iwi_irq_affinity, IW_MITIGATION_CONTRADICTED);
    assert_has(b->m.evidence, "eno1 1/s on CPU 2 (allowed 1/min)");
}

static void an_interrupt_that_goes_elsewhere_by_now_is_told(void **state)
{
    struct bench *b = *state;

    b->node->isolated = fact("2-7");
    add_irq(b, 36, "eno1", "0", "0,2");
    watch(b, "2-7", 60.0, IWI_SEEN_BY_RECORDING);
    happen(b, IW_CLASS_IRQ, "eno1", 600);
    assert_judged(b, &iwi_irq_affinity, IW_MITIGATION_CONTRADICTED);
    assert_has(b->m.advice, "irq 36 eno1 now goes to CPU 0: watch again");
}

static void nobody_is_blamed_where_nothing_is_set_apart(void **state)
{
    struct bench *b = *state;

    add_irq(b, 36, "eno1", "4", "4");
    watch(b, "0-7", 60.0, IWI_SEEN_BY_RECORDING);
    happen(b, IW_CLASS_IRQ, "eno1", 6000);
    assert_judged(b, &iwi_irq_affinity, IW_MITIGATION_ABSENT);
    assert_true(b->m.is_felt);
    assert_has(b->m.advice, "OTHERS");
}

/* ---- the rest ---- */

static void nmis_with_the_watchdog_off_contradict(void **state)
{
    struct bench *b = *state;

    b->node->nmi_watchdog = 0;
    watch(b, "2-7", 60.0, IWI_SEEN_BY_RECORDING);
    assert_judged(b, &iwi_nmi_watchdog, IW_MITIGATION_CONFIGURED); /* too short for in effect */
    happen(b, IW_CLASS_NMI, "nmi", 60);
    assert_judged(b, &iwi_nmi_watchdog, IW_MITIGATION_CONTRADICTED);
    assert_has(b->m.advice, "perf");
}

static void a_watchdog_switched_on_again_contradicts(void **state)
{
    struct bench *b = *state;

    b->node->nmi_watchdog = 1;
    assert_judged(b, &iwi_nmi_watchdog, IW_MITIGATION_ABSENT);
    snprintf(b->node->cmdline, sizeof b->node->cmdline, "ro nmi_watchdog=0");
    assert_judged(b, &iwi_nmi_watchdog, IW_MITIGATION_CONTRADICTED);
}

static void daemons_of_memory_that_run_though_off_contradict(void **state)
{
    struct bench *b = *state;

    snprintf(b->node->thp, sizeof b->node->thp, "never");
    b->node->ksm_run = 0;
    watch(b, "2-7", 120.0, IWI_SEEN_BY_RECORDING);
    assert_judged(b, &iwi_thp, IW_MITIGATION_EFFECTIVE);
    assert_judged(b, &iwi_ksm, IW_MITIGATION_EFFECTIVE);
    happen(b, IW_CLASS_THREAD, "khugepaged", 20);
    happen(b, IW_CLASS_THREAD, "ksmd", 500);
    assert_judged(b, &iwi_thp, IW_MITIGATION_CONTRADICTED);
    assert_judged(b, &iwi_ksm, IW_MITIGATION_CONTRADICTED);
    snprintf(b->node->thp, sizeof b->node->thp, "madvise"); /* then it may run */
    assert_judged(b, &iwi_thp, IW_MITIGATION_CONFIGURED);
}

static void a_clock_that_was_given_up_contradicts(void **state)
{
    struct bench *b = *state;

    snprintf(b->node->info.clocksource, sizeof b->node->info.clocksource, "hpet");
    assert_judged(b, &iwi_clocksource, IW_MITIGATION_ABSENT);
    snprintf(b->node->cmdline, sizeof b->node->cmdline, "tsc=reliable");
    assert_judged(b, &iwi_clocksource, IW_MITIGATION_CONTRADICTED);
    snprintf(b->node->info.clocksource, sizeof b->node->info.clocksource, "tsc");
    assert_judged(b, &iwi_clocksource, IW_MITIGATION_CONFIGURED);
}

static void a_profile_that_isolates_nothing_contradicts(void **state)
{
    struct bench *b = *state;

    assert_false(judge_for(b, &iwi_tuned, NULL));
    snprintf(b->node->tuned, sizeof b->node->tuned, "cpu-partitioning");
    assert_judged(b, &iwi_tuned, IW_MITIGATION_CONTRADICTED);
    b->node->isolated = fact("2-7");
    assert_judged(b, &iwi_tuned, IW_MITIGATION_CONFIGURED);
}

static void what_a_host_takes_is_told(void **state)
{
    struct bench *b = *state;

    snprintf(b->node->info.hypervisor, sizeof b->node->info.hypervisor, "KVM");
    watch(b, "0-1", 10.0, IWI_SEEN_BY_RECORDING);
    b->seen.seen_cpus[0].steal = 0.04;
    b->seen.seen_cpus[1].steal = 0.02;
    assert_judged(b, &iwi_bare_metal, IW_MITIGATION_ABSENT);
    assert_has(b->m.evidence, "the hypervisor reports 3 % steal");
    assert_true(b->m.is_felt);
}

static void clocks_of_hosts_are_not_slow(void **state)
{
    struct bench *b = *state;

    snprintf(b->node->cmdline, sizeof b->node->cmdline, "tsc=reliable");
    snprintf(b->node->info.clocksource, sizeof b->node->info.clocksource, "kvm-clock");
    assert_judged(b, &iwi_clocksource, IW_MITIGATION_ABSENT);
    snprintf(b->node->info.clocksource, sizeof b->node->info.clocksource, "acpi_pm");
    assert_judged(b, &iwi_clocksource, IW_MITIGATION_CONTRADICTED);
}

static void what_is_not_told_is_unknown(void **state)
{
    struct bench *b = *state;
    const struct iwi_mitigation_ops *const ops[] = {&iwi_nohz_full, &iwi_isolation,     &iwi_workqueue_mask,
                                                    &iwi_thp,       &iwi_ksm,           &iwi_nmi_watchdog,
                                                    &iwi_governor,  &iwi_stat_interval, &iwi_soft_watchdog};

    iwi_node_init(b->node);
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        assert_judged(b, ops[i], IW_MITIGATION_UNKNOWN);
        assert_string_not_equal(b->m.evidence, "");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_interrupt_that_goes_to_a_quiet_cpu_contradicts),
        TEST(an_interrupt_in_two_seconds_contradicts_nothing),
        TEST(timers_with_numbers_are_no_devices),
        TEST(cpus_that_take_interrupts_may_be_given_to_a_job),
        TEST(queues_that_the_kernel_manages_are_left_to_it),
        TEST(clocks_of_hosts_are_not_slow),
        TEST(what_was_seen_outweighs_where_interrupts_could_go),
        TEST(an_interrupt_that_goes_elsewhere_by_now_is_told),
        TEST(nobody_is_blamed_where_nothing_is_set_apart),
        TEST(nmis_with_the_watchdog_off_contradict),
        TEST(a_watchdog_switched_on_again_contradicts),
        TEST(daemons_of_memory_that_run_though_off_contradict),
        TEST(a_clock_that_was_given_up_contradicts),
        TEST(a_profile_that_isolates_nothing_contradicts),
        TEST(what_a_host_takes_is_told),
        TEST(what_is_not_told_is_unknown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
