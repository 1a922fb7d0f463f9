/* Facts read from the files of made-up nodes.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "node_rig.h"

static void assert_cpus(const struct iwi_cpu_fact *fact, const char *expected)
{
    char text[64];

    assert_true(fact->is_known);
    assert_string_equal(iw_cpu_set_text(&fact->cpus, text, sizeof text), expected);
}

/* ---- the command line ---- */

static void flags_of_isolcpus_are_told_apart(void **state)
{
    struct rig *rig = *state;

    fake_root_file(rig->root, "/proc/cmdline", "ro isolcpus=nohz,managed_irq,domain,2-7 rcu_nocbs=4-N\n");
    assert_cpus(&read_node(rig)->managed_irq, "2-7");
    assert_cpus(&rig->node.isolated_asked, "2-7");
    assert_cpus(&rig->node.rcu_nocbs, "4-7");
    fake_root_file(rig->root, "/proc/cmdline", "isolcpus=managed_irq,2-7 rcu_nocbs=all\n");
    assert_cpus(&read_node(rig)->managed_irq, "2-7");
    assert_cpus(&rig->node.isolated_asked, "none");
    assert_cpus(&rig->node.rcu_nocbs, "0-7");
    fake_root_file(rig->root, "/proc/cmdline", "isolcpus=2-7\n");
    assert_cpus(&read_node(rig)->isolated_asked, "2-7");
    assert_cpus(&rig->node.managed_irq, "none");
}

static void parameters_behind_two_dashes_are_for_init(void **state)
{
    struct rig *rig = *state;
    char value[32];

    fake_root_file(rig->root, "/proc/cmdline", "nohz_full=2 nohz_full=3 quiet skew-tick=1 -- nohz_full=4\n");
    assert_cpus(&read_node(rig)->nohz_full_asked, "3"); /* the last one counts */
    assert_int_equal(rig->node.skew_tick, 1);
    assert_true(iwi_node_parameter(&rig->node, "quiet", value, sizeof value));
    assert_string_equal(value, "");
    assert_false(iwi_node_parameter(&rig->node, "nohz", value, sizeof value));
    assert_false(iwi_node_parameter(&rig->node, "full", value, sizeof value));
}

static void a_kernel_without_the_file_lacks_nohz_full(void **state)
{
    struct rig *rig = *state;

    fake_root_file(rig->root, "/sys/devices/system/cpu/isolated", "\n");
    assert_true(read_node(rig)->lacks_nohz_full);
    fake_root_file(rig->root, "/sys/devices/system/cpu/nohz_full", "  (null)\n");
    assert_false(read_node(rig)->lacks_nohz_full);
    assert_cpus(&rig->node.nohz_full, "none");
}

/* ---- control groups ---- */

static void partitions_are_found_above_the_own_group(void **state)
{
    struct rig *rig = *state;

    fake_root_file(rig->root, "/proc/self/cgroup", "0::/batch/task\n");
    fake_root_file(rig->root, "/sys/fs/cgroup/batch/task/cpuset.cpus.partition", "member\n");
    fake_root_file(rig->root, "/sys/fs/cgroup/batch/cpuset.cpus.partition", "isolated\n");
    fake_root_file(rig->root, "/sys/fs/cgroup/batch/cpuset.cpus.effective", "4-7\n");
    assert_cpus(&read_node(rig)->partition, "4-7");
    assert_false(rig->node.job.is_known);
    fake_root_file(rig->root, "/sys/fs/cgroup/batch/cpuset.cpus.partition",
                   "isolated invalid (Parent is busy)\n");
    assert_string_equal(read_node(rig)->partition_fault, "isolated invalid (Parent is busy)");
    fake_root_file(rig->root, "/sys/fs/cgroup/cpuset.cpus.isolated", "2-3\n"); /* another group's */
    assert_cpus(&read_node(rig)->partition, "2-3");
    assert_false(rig->node.own_partition.is_known);
}

static void the_cpus_of_a_job_come_from_its_group(void **state)
{
    struct rig *rig = *state;

    fake_root_file(rig->root, "/proc/self/cgroup", "4:cpuset:/slurm/uid_7/job_42/step_0\n1:name=systemd:/\n");
    fake_root_file(rig->root, "/sys/fs/cgroup/cpuset/slurm/uid_7/job_42/step_0/cpuset.effective_cpus",
                   "1-3\n");
    assert_cpus(&read_node(rig)->job, "1-3");
    fake_root_file(rig->root, "/proc/self/cgroup", "0::/system.slice/slurmstepd.scope/job_42/step_0/user\n");
    fake_root_file(rig->root,
                   "/sys/fs/cgroup/system.slice/slurmstepd.scope/job_42/step_0/user/cpuset.cpus.effective",
                   "2-5\n");
    assert_cpus(&read_node(rig)->job, "2-5");
}

/* ---- managers ---- */

static void containers_are_recognised(void **state)
{
    struct rig *rig = *state;

    assert_string_equal(read_node(rig)->container, "");
    fake_root_file(rig->root, "/.dockerenv", "");
    assert_string_equal(read_node(rig)->container, "/.dockerenv");
    fake_root_file(rig->root, "/proc/2/comm", "kthreadd\n"); /* a machine made of an image */
    assert_string_equal(read_node(rig)->container, "");
    fake_root_file(rig->root, "/proc/1/sched", "systemd (1, #threads: 1)\n");
    assert_string_equal(read_node(rig)->container, "");
    fake_root_file(rig->root, "/proc/1/sched", "bash (4711, #threads: 1)\n");
    assert_string_equal(read_node(rig)->container, "/proc/1/sched");
    fake_root_file(rig->root, "/proc/2/comm", "sshd\n");
    fake_root_file(rig->root, "/run/systemd/container", "lxc\n");
    assert_string_equal(read_node(rig)->container, "lxc, /run/systemd/container");
}

static void irqbalance_s_bans_are_lists_or_masks(void **state)
{
    struct rig *rig = *state;

    fake_root_file(rig->root, "/etc/default/irqbalance", "#IRQBALANCE_BANNED_CPULIST=9\n");
    assert_true(read_node(rig)->has_irqbalance);
    assert_false(rig->node.irqbalance_banned.is_known);
    fake_root_file(rig->root, "/etc/default/irqbalance", "IRQBALANCE_BANNED_CPULIST=\"2-7\"\n");
    assert_cpus(&read_node(rig)->irqbalance_banned, "2-7");
    fake_root_file(rig->root, "/etc/default/irqbalance", "IRQBALANCE_BANNED_CPUS=000000f0\n");
    assert_cpus(&read_node(rig)->irqbalance_banned, "4-7");
}

/* ---- interrupts, frequency ---- */

static void interrupts_have_names_targets_and_places(void **state)
{
    struct rig *rig = *state;
    char text[32];

    fake_root_file(rig->root, "/proc/irq/36/effective_affinity_list", "4\n");
    fake_root_file(rig->root, "/proc/irq/36/smp_affinity_list", "0-7\n");
    fake_root_file(rig->root, "/proc/irq/7/effective_affinity_list", "\n");
    fake_root_file(rig->root, "/proc/irq/7/smp_affinity_list", "0-1\n");
    fake_root_file(rig->root, "/proc/irq/default_smp_affinity", "00000000,00000003\n");
    fake_root_file(
        rig->root, "/proc/interrupts",
        "     CPU0 CPU4\n 36:  0  12  IR-PCI-MSI  3-edge  eno1-TxRx-0\nLOC: 1 2  Local timer interrupts\n");
    assert_int_equal(read_node(rig)->irq_count, 2);
    assert_int_equal(rig->node.irqs[0].number, 7);
    assert_string_equal(iw_cpu_set_text(&rig->node.irqs[0].target, text, sizeof text), "0-1");
    assert_string_equal(rig->node.irqs[1].name, "eno1-TxRx-0");
    assert_string_equal(iw_cpu_set_text(&rig->node.irqs[1].target, text, sizeof text), "4");
    assert_string_equal(iw_cpu_set_text(&rig->node.irqs[1].counted, text, sizeof text), "4");
    assert_cpus(&rig->node.irq_default, "0-1");
}

static void one_cpu_with_another_governor_is_told(void **state)
{
    struct rig *rig = *state;
    char text[32];

    fake_root_file(rig->root, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
    fake_root_file(rig->root, "/sys/devices/system/cpu/cpu3/cpufreq/scaling_governor", "powersave\n");
    fake_root_file(rig->root, "/sys/devices/system/cpu/cpu5/cpufreq/scaling_governor", "performance\n");
    assert_string_equal(read_node(rig)->governor, "powersave");
    assert_string_equal(iw_cpu_set_text(&rig->node.governor_cpus, text, sizeof text), "3");
}

static void the_deepest_idle_state_that_is_allowed_counts(void **state)
{
    static const char *const states[][3] = {{"POLL", "0", "0"}, {"C1", "2", "0"}, {"C6", "133", "1"}};
    struct rig *rig = *state;
    char path[128];

    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cpuidle/state%d/name", i);
        fake_root_file(rig->root, path, states[i][0]);
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cpuidle/state%d/latency", i);
        fake_root_file(rig->root, path, states[i][1]);
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cpuidle/state%d/disable", i);
        fake_root_file(rig->root, path, states[i][2]);
    }
    assert_string_equal(read_node(rig)->idle_state, "C1");
    assert_int_equal(rig->node.idle_latency_us, 2);
}

static void the_deadline_server_s_files_tell(void **state)
{
    struct rig *rig = *state;

    fake_root_file(rig->root, "/sys/devices/system/cpu/nohz_full", "2-7\n");
    assert_false(read_node(rig)->lacks_fair_server); /* debugfs is not mounted */
    fake_root_file(rig->root, "/sys/kernel/debug/sched/features", "x\n");
    assert_true(read_node(rig)->lacks_fair_server);
    fake_root_file(rig->root, "/sys/kernel/debug/sched/fair_server/cpu2/runtime", "50000000\n");
    assert_false(read_node(rig)->lacks_fair_server);
    assert_int_equal(rig->node.fair_server_ns, 50000000);
}

/* ---- hostile ---- */

static void a_pipe_is_not_waited_for(void **state)
{
    struct rig *rig = *state;
    char path[FAKE_ROOT_SIZE + 64];

    fake_root_file(rig->root, "/proc/cmdline", "x\n");
    snprintf(path, sizeof path, "%s/proc/cmdline", rig->root);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_false(read_node(rig)->has_cmdline);
    snprintf(path, sizeof path, "%s/proc/interrupts", rig->root);
    assert_int_equal(mkfifo(path, 0600), 0);
    snprintf(path, sizeof path, "%s/proc/version", rig->root);
    assert_int_equal(symlink("/dev/zero", path), 0);
    assert_int_equal(read_node(rig)->irq_count, 0);
}

static void names_of_this_machine_are_not_those_of_others(void **state)
{
    struct rig *rig = *state;

    assert_string_equal(read_node(rig)->info.host, "unknown");
    assert_string_equal(rig->node.info.kernel, "unknown");
}

static void a_folder_without_settings_is_no_node(void **state)
{
    struct iwi_node_facts *node = calloc(1, sizeof *node);
    struct iwt_log log;

    (void)state;
    iwt_log_init(&log);
    assert_non_null(node);
    assert_status(iwi_node_read(&log.log, IW_TEST_DATA "/nodes", node), IW_ERR_IO);
    iwt_assert_logged(&log, "has neither proc/cmdline nor sys/devices/system/cpu/online");
    iwi_node_release(node);
    free(node);
}

/* Files that verify reads, each with what it does not expect. */
static const char *const paths[] = {"/proc/cmdline",
                                    "/proc/interrupts",
                                    "/proc/softirqs",
                                    "/proc/stat",
                                    "/proc/1/sched",
                                    "/proc/1/status",
                                    "/proc/self/cgroup",
                                    "/proc/self/environ",
                                    "/proc/self/status",
                                    "/proc/irq/default_smp_affinity",
                                    "/proc/irq/5/effective_affinity_list",
                                    "/proc/sys/kernel/osrelease",
                                    "/proc/sys/kernel/nmi_watchdog",
                                    "/proc/sys/kernel/watchdog_cpumask",
                                    "/sys/devices/system/cpu/isolated",
                                    "/sys/devices/system/cpu/nohz_full",
                                    "/sys/devices/system/cpu/online",
                                    "/sys/devices/system/cpu/cpu0/topology/thread_siblings_list",
                                    "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
                                    "/sys/devices/system/cpu/cpu0/cpuidle/state0/latency",
                                    "/sys/devices/virtual/workqueue/cpumask",
                                    "/sys/kernel/mm/transparent_hugepage/enabled",
                                    "/etc/slurm/slurm.conf",
                                    "/etc/tuned/active_profile",
                                    "/etc/default/irqbalance"};

static void read_with(struct rig *rig, const char *text)
{
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        fake_root_file(rig->root, paths[i], text);
    }
    (void)read_node(rig);
}

static void hostile_files_are_unknown_facts(void **state)
{
    struct rig *rig = *state;
    const size_t size = 200000;
    char *huge = malloc(size);

    assert_non_null(huge);
    read_with(rig, "");
    read_with(rig, "\x01\xff\xfe[\n\x80 = , : (\n");
    read_with(rig, "[[[[");
    read_with(rig, "-1");
    read_with(rig, "99999999999999999999999-,,,:/");
    read_with(rig, "isolcpus= nohz_full=N-N:0/0 rcu_nocbs=,,,");
    memset(huge, '9', size - 1);
    huge[size - 1] = '\0';
    read_with(rig, huge);
    memset(huge, ',', size - 1);
    read_with(rig, huge);
    memset(huge, 'N', size - 1);
    memcpy(huge, "nohz_full=", strlen("nohz_full="));
    read_with(rig, huge);
    assert_false(rig->node.online.is_known);
    assert_false(rig->node.nohz_full_asked.is_known);
    assert_int_equal(rig->node.nmi_watchdog, IWI_NOT_TOLD);
    free(huge);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(flags_of_isolcpus_are_told_apart),
        TEST(parameters_behind_two_dashes_are_for_init),
        TEST(a_kernel_without_the_file_lacks_nohz_full),
        TEST(partitions_are_found_above_the_own_group),
        TEST(the_cpus_of_a_job_come_from_its_group),
        TEST(containers_are_recognised),
        TEST(irqbalance_s_bans_are_lists_or_masks),
        TEST(interrupts_have_names_targets_and_places),
        TEST(one_cpu_with_another_governor_is_told),
        TEST(the_deepest_idle_state_that_is_allowed_counts),
        TEST(a_folder_without_settings_is_no_node),
        TEST(the_deadline_server_s_files_tell),
        TEST(a_pipe_is_not_waited_for),
        TEST(names_of_this_machine_are_not_those_of_others),
        TEST(hostile_files_are_unknown_facts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
