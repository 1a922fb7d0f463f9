/* Mitigations of today's nodes: quotas, schedulers, devices, frequencies, machine checks.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "judging.h"

/* ---- quotas ---- */

static void a_quota_that_stops_a_job_is_felt(void **state)
{
    struct bench *b = *state;

    b->node->quota = (struct iwi_quota){.is_known = true,
                                        .is_set = true,
                                        .cpus = 2.5,
                                        .period_us = 100000,
                                        .periods = 1000,
                                        .throttled = 120,
                                        .throttled_s = 34.0,
                                        .pressure = 0.08};
    assert_judged(b, &iwi_no_quota, IW_MITIGATION_ABSENT);
    assert_true(b->m.is_felt);
    assert_string_equal(b->m.setting, "2.5 CPUs per 100 ms");
    assert_string_equal(b->m.evidence, "stopped in 12 % of its periods so far, for 34 s in total; in the "
                                       "last minute threads waited for a CPU 8 % of the time");
    assert_has(b->m.advice, "cpu-manager-policy=static");
}

static void a_quota_that_never_stopped_anything_is_only_told(void **state)
{
    struct bench *b = *state;

    b->node->quota = (struct iwi_quota){
        .is_known = true, .is_set = true, .cpus = 8.0, .period_us = 100000, .pressure = NAN};
    assert_judged(b, &iwi_no_quota, IW_MITIGATION_ABSENT);
    assert_false(b->m.is_felt);
    assert_string_equal(b->m.evidence, "never stopped so far");
}

static void no_quota_is_worth_a_word_in_jobs_and_containers_only(void **state)
{
    struct bench *b = *state;

    b->node->quota = (struct iwi_quota){.is_known = true, .pressure = NAN};
    assert_false(judge_for(b, &iwi_no_quota, NULL));
    snprintf(b->node->container, sizeof b->node->container, "kubepods");
    assert_judged(b, &iwi_no_quota, IW_MITIGATION_CONFIGURED);
}

/* ---- schedulers ---- */

static void preemption_is_judged_against_the_command_line(void **state)
{
    struct bench *b = *state;

    assert_false(judge_for(b, &iwi_preemption, NULL));
    snprintf(b->node->preemption, sizeof b->node->preemption, "lazy");
    assert_judged(b, &iwi_preemption, IW_MITIGATION_CONFIGURED);
    snprintf(b->node->cmdline, sizeof b->node->cmdline, "ro preempt=lazy");
    assert_judged(b, &iwi_preemption, IW_MITIGATION_CONFIGURED);
    snprintf(b->node->preemption, sizeof b->node->preemption, "full");
    assert_judged(b, &iwi_preemption, IW_MITIGATION_CONTRADICTED);
    assert_string_equal(b->m.evidence, "the command line says preempt=lazy");
    b->node->cmdline[0] = '\0';
    assert_judged(b, &iwi_preemption, IW_MITIGATION_ABSENT);
    b->node->is_realtime = true;
    assert_false(judge_for(b, &iwi_preemption, NULL));
}

static void a_bpf_scheduler_is_named(void **state)
{
    struct bench *b = *state;

    assert_false(judge_for(b, &iwi_no_sched_ext, NULL));
    snprintf(b->node->sched_ext, sizeof b->node->sched_ext, "disabled");
    assert_judged(b, &iwi_no_sched_ext, IW_MITIGATION_CONFIGURED);
    snprintf(b->node->sched_ext, sizeof b->node->sched_ext, "enabled");
    snprintf(b->node->sched_ext_ops, sizeof b->node->sched_ext_ops, "scx_lavd");
    assert_judged(b, &iwi_no_sched_ext, IW_MITIGATION_ABSENT);
    assert_string_equal(b->m.setting, "enabled, scx_lavd");
}

static void the_ext_server_counts_where_there_is_one(void **state)
{
    struct bench *b = *state;

    assert_false(judge_for(b, &iwi_ext_server, NULL));
    b->node->ext_server_ns = 50000000;
    assert_judged(b, &iwi_ext_server, IW_MITIGATION_ABSENT);
    assert_has(b->m.setting, "runtime=50000000");
    b->node->ext_server_ns = 0;
    assert_judged(b, &iwi_ext_server, IW_MITIGATION_CONFIGURED);
}

static void services_are_to_stay_off_quiet_cpus(void **state)
{
    struct bench *b = *state;

    b->node->has_services = true;
    b->node->service_count = 12;
    b->node->service_cpus = cpus("0-1");
    assert_false(judge_for(b, &iwi_services, NULL)); /* no CPU is to be quiet */
    assert_true(judge_for(b, &iwi_services, "2-7"));
    assert_int_equal(b->m.state, IW_MITIGATION_CONFIGURED);
    b->node->service_cpus = cpus("0-7");
    b->node->free_service_count = 3;
    snprintf(b->node->service, sizeof b->node->service, "sshd");
    assert_true(judge_for(b, &iwi_services, "2-7"));
    assert_int_equal(b->m.state, IW_MITIGATION_ABSENT);
    assert_string_equal(b->m.evidence, "sshd and others may run on all CPUs");
    assert_has(b->m.advice, "AllowedCPUs=0-1");
}

static void threads_of_a_job_are_to_be_bound_each_to_its_cpu(void **state)
{
    struct bench *b = *state;

    assert_false(judge_for(b, &iwi_threads_pinned, NULL));
    b->node->thread_count = 8;
    assert_judged(b, &iwi_threads_pinned, IW_MITIGATION_CONFIGURED);
    b->node->loose_thread_count = 2;
    assert_judged(b, &iwi_threads_pinned, IW_MITIGATION_ABSENT);
    assert_string_equal(b->m.setting, "6 of 8 active threads are bound to a core");
    assert_false(b->m.is_felt);
    b->node->pinned_twice = cpus("3");
    assert_judged(b, &iwi_threads_pinned, IW_MITIGATION_ABSENT);
    assert_string_equal(b->m.evidence, "several share CPU 3");
    assert_true(b->m.is_felt);
}

/* ---- devices ---- */

static void packets_are_to_be_steered_elsewhere(void **state)
{
    struct bench *b = *state;

    assert_false(judge_for(b, &iwi_rps, "2-7"));
    b->node->rps = fact("");
    assert_true(judge_for(b, &iwi_rps, "2-7"));
    assert_int_equal(b->m.state, IW_MITIGATION_CONFIGURED);
    b->node->rps = fact("0-1");
    assert_true(judge_for(b, &iwi_rps, "2-7"));
    assert_int_equal(b->m.state, IW_MITIGATION_CONFIGURED);
    b->node->rps = fact("0-3");
    snprintf(b->node->rps_device, sizeof b->node->rps_device, "eno1");
    watch(b, "2-7", 60.0, IWI_SEEN_BY_RECORDING);
    happen(b, IW_CLASS_SOFTIRQ, "NET_RX", 600);
    assert_true(judge_for(b, &iwi_rps, "2-7"));
    assert_int_equal(b->m.state, IW_MITIGATION_ABSENT);
    assert_true(b->m.is_felt);
    assert_string_equal(b->m.setting, "eno1 to CPUs 0-3");
    assert_has(b->m.advice, "echo 3 >");
}

static void packets_of_the_application_contradict_nothing(void **state)
{
    struct bench *b = *state;

    b->node->rps = fact("0-1");
    watch(b, "2-7", 60.0, IWI_SEEN_BY_RECORDING);
    happen(b, IW_CLASS_SOFTIRQ, "NET_RX", 600);
    assert_true(judge_for(b, &iwi_rps, "2-7"));
    assert_int_equal(b->m.state, IW_MITIGATION_CONFIGURED);
}

static void queues_that_both_kinds_of_cpus_share_are_counted(void **state)
{
    struct bench *b = *state;
    iw_cpu_set queues[] = {cpus("0"), cpus("1-2"), cpus("3-7")};

    b->node->block_queues = (struct iwi_queues){.count = 3, .cpus = queues};
    assert_true(judge_for(b, &iwi_block_queues, "2-7"));
    assert_int_equal(b->m.state, IW_MITIGATION_ABSENT);
    assert_string_equal(b->m.setting, "1 of 3 queues are shared with other CPUs");
    assert_true(judge_for(b, &iwi_block_queues, "3-7"));
    assert_int_equal(b->m.state, IW_MITIGATION_CONFIGURED);
    b->node->block_queues = (struct iwi_queues){.count = 0};
}

static void send_queues_count_where_packets_are_steered(void **state)
{
    struct bench *b = *state;
    iw_cpu_set queues[] = {cpus("0-3"), cpus("4-7")};

    assert_false(judge_for(b, &iwi_send_queues, "4-7")); /* XPS is off */
    b->node->send_queues = (struct iwi_queues){.count = 2, .cpus = queues};
    assert_true(judge_for(b, &iwi_send_queues, "4-7"));
    assert_int_equal(b->m.state, IW_MITIGATION_CONFIGURED);
    assert_true(judge_for(b, &iwi_send_queues, "2-7"));
    assert_int_equal(b->m.state, IW_MITIGATION_ABSENT);
    watch(b, "2-7", 60.0, IWI_SEEN_BY_RECORDING);
    happen(b, IW_CLASS_SOFTIRQ, "NET_TX", 600); /* may be the application's own: no contradiction */
    assert_true(judge_for(b, &iwi_send_queues, "2-7"));
    assert_int_equal(b->m.state, IW_MITIGATION_ABSENT);
    b->node->send_queues = (struct iwi_queues){.count = 0};
}

static void devices_are_to_have_cpus_of_the_application_near(void **state)
{
    struct bench *b = *state;

    b->node->numa_node_count = 2;
    b->node->device_count = 3;
    b->node->devices[0] = (struct iwi_device){"0000:01:00.0", true, 0, cpus("0-3")};
    b->node->devices[1] = (struct iwi_device){"0000:41:00.0", false, 1, cpus("4-7")};
    b->node->devices[2] = (struct iwi_device){"0000:81:00.0", false, -1, {{0}}};
    assert_false(judge_for(b, &iwi_near_devices, NULL)); /* which CPUs is not known */
    assert_true(judge_for(b, &iwi_near_devices, "2-3"));
    assert_int_equal(b->m.state, IW_MITIGATION_ABSENT);
    assert_string_equal(b->m.evidence, "accelerator 0000:41:00.0 is on NUMA node 1, where the application "
                                       "has no CPU; location of 1 unknown");
    b->node->devices[2].numa_node = 1;
    b->node->devices[2].near = cpus("4-7");
    assert_true(judge_for(b, &iwi_near_devices, "2-3"));
    assert_string_equal(b->m.evidence,
                        "accelerator 0000:41:00.0 is on NUMA node 1, where the application has no CPU; "
                        "accelerator 0000:81:00.0 is on NUMA node 1, where the application has no CPU");
    assert_true(judge_for(b, &iwi_near_devices, "2-7"));
    assert_int_equal(b->m.state, IW_MITIGATION_CONFIGURED);
    b->node->numa_node_count = 1;
    assert_false(judge_for(b, &iwi_near_devices, "2-3"));
}

/* ---- frequency and machine checks ---- */

static void what_lets_frequencies_vary_is_told_apart(void **state)
{
    struct bench *b = *state;

    assert_false(judge_for(b, &iwi_turbo, NULL));
    assert_false(judge_for(b, &iwi_epp, NULL));
    assert_false(judge_for(b, &iwi_uncore, NULL));
    b->node->turbo = 1;
    assert_judged(b, &iwi_turbo, IW_MITIGATION_ABSENT);
    b->node->turbo = 0;
    assert_judged(b, &iwi_turbo, IW_MITIGATION_CONFIGURED);
    snprintf(b->node->epp, sizeof b->node->epp, "balance_performance");
    assert_judged(b, &iwi_epp, IW_MITIGATION_ABSENT);
    snprintf(b->node->epp, sizeof b->node->epp, "performance");
    assert_judged(b, &iwi_epp, IW_MITIGATION_CONFIGURED);
    b->node->uncore_min_khz = 800000;
    b->node->uncore_max_khz = 2500000;
    assert_judged(b, &iwi_uncore, IW_MITIGATION_ABSENT);
    assert_string_equal(b->m.setting, "0.8 to 2.5 GHz");
    b->node->uncore_min_khz = 2500000;
    assert_judged(b, &iwi_uncore, IW_MITIGATION_CONFIGURED);
}

static void machine_checks_that_somebody_switched_on_again_contradict_the_command_line(void **state)
{
    struct bench *b = *state;

    assert_false(judge_for(b, &iwi_machine_checks, NULL));
    b->node->mce_interval_s = 300;
    b->node->mce_ignores = 0;
    assert_judged(b, &iwi_machine_checks, IW_MITIGATION_ABSENT);
    snprintf(b->node->cmdline, sizeof b->node->cmdline, "ro mce=ignore_ce");
    assert_judged(b, &iwi_machine_checks, IW_MITIGATION_CONTRADICTED);
    b->node->mce_ignores = 1;
    assert_judged(b, &iwi_machine_checks, IW_MITIGATION_CONFIGURED);
    b->node->mce_ignores = 0;
    b->node->mce_interval_s = 0;
    assert_judged(b, &iwi_machine_checks, IW_MITIGATION_CONFIGURED);
}

static void interrupts_by_firmware_are_counted_but_not_of_guests(void **state)
{
    struct bench *b = *state;

    watch(b, "2-7", 60.0, IWI_SEEN_BY_RECORDING);
    assert_false(judge_for(b, &iwi_no_smi, NULL));
    b->seen.has_smi_count = true;
    assert_judged(b, &iwi_no_smi, IW_MITIGATION_CONFIGURED);
    assert_string_equal(b->m.evidence, "none in 60 s");
    b->seen.smi_count = 3.0;
    assert_judged(b, &iwi_no_smi, IW_MITIGATION_ABSENT);
    assert_true(b->m.is_felt);
    assert_string_equal(b->m.evidence, "3 in 60 s");
    snprintf(b->node->info.hypervisor, sizeof b->node->info.hypervisor, "KVM");
    assert_false(judge_for(b, &iwi_no_smi, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_quota_that_stops_a_job_is_felt),
        TEST(a_quota_that_never_stopped_anything_is_only_told),
        TEST(no_quota_is_worth_a_word_in_jobs_and_containers_only),
        TEST(preemption_is_judged_against_the_command_line),
        TEST(a_bpf_scheduler_is_named),
        TEST(the_ext_server_counts_where_there_is_one),
        TEST(services_are_to_stay_off_quiet_cpus),
        TEST(threads_of_a_job_are_to_be_bound_each_to_its_cpu),
        TEST(packets_are_to_be_steered_elsewhere),
        TEST(packets_of_the_application_contradict_nothing),
        TEST(queues_that_both_kinds_of_cpus_share_are_counted),
        TEST(send_queues_count_where_packets_are_steered),
        TEST(devices_are_to_have_cpus_of_the_application_near),
        TEST(what_lets_frequencies_vary_is_told_apart),
        TEST(interrupts_by_firmware_are_counted_but_not_of_guests),
        TEST(machine_checks_that_somebody_switched_on_again_contradict_the_command_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
