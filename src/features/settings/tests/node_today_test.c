/* Facts of today's nodes, read from made-up files.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "node_rig.h"

static void assert_set(const iw_cpu_set *set, const char *expected)
{
    char text[64];

    assert_string_equal(iw_cpu_set_text(set, text, sizeof text), expected);
}

/* ---- quotas ---- */

static void the_tightest_quota_above_a_process_counts(void **state)
{
    struct rig *rig = *state;
    const struct iwi_quota *quota;

    fake_root_file(rig->root, "/proc/self/cgroup", "0::/kubepods.slice/pod1/container\n");
    fake_root_file(rig->root, "/sys/fs/cgroup/kubepods.slice/cpu.max", "max 100000\n");
    fake_root_file(rig->root, "/sys/fs/cgroup/kubepods.slice/pod1/cpu.max", "250000 100000\n");
    fake_root_file(rig->root, "/sys/fs/cgroup/kubepods.slice/pod1/cpu.stat",
                   "usage_usec 5\nnr_periods 400\nnr_throttled 100\nthrottled_usec 2500000\n");
    fake_root_file(
        rig->root, "/sys/fs/cgroup/kubepods.slice/pod1/cpu.pressure",
        "some avg10=1.00 avg60=12.50 avg300=3.00 total=1\nfull avg10=0.00 avg60=99.00 avg300=0.00\n");
    fake_root_file(rig->root, "/sys/fs/cgroup/kubepods.slice/pod1/container/cpu.max", "400000 100000\n");
    quota = &read_node(rig)->quota;
    assert_true(quota->is_known && quota->is_set);
    assert_float_equal(quota->cpus, 2.5, 1e-9);
    assert_int_equal(quota->period_us, 100000);
    assert_int_equal(quota->periods, 400);
    assert_int_equal(quota->throttled, 100);
    assert_float_equal(quota->throttled_s, 2.5, 1e-9);
    assert_float_equal(quota->pressure, 0.125, 1e-9);
}

static void inside_of_a_container_the_root_has_the_quota(void **state)
{
    struct rig *rig = *state;

    fake_root_file(rig->root, "/proc/self/cgroup", "0::/\n");
    assert_false(read_node(rig)->quota.is_known); /* the root of a host has no file */
    fake_root_file(rig->root, "/sys/fs/cgroup/cpu.max", "50000 100000\n");
    assert_float_equal(read_node(rig)->quota.cpus, 0.5, 1e-9);
    assert_true(isnan(rig->node.quota.pressure));
}

static void quotas_of_version_1_are_read(void **state)
{
    struct rig *rig = *state;
    const char *group = "/sys/fs/cgroup/cpu,cpuacct/docker/1";
    char path[128];

    fake_root_file(rig->root, "/proc/self/cgroup", "4:memory:/docker/1\n3:cpu,cpuacct:/docker/1\n");
    snprintf(path, sizeof path, "%s/cpu.cfs_period_us", group);
    fake_root_file(rig->root, path, "50000\n");
    snprintf(path, sizeof path, "%s/cpu.cfs_quota_us", group);
    fake_root_file(rig->root, path, "-1\n");
    assert_true(read_node(rig)->quota.is_known);
    assert_false(rig->node.quota.is_set);
    fake_root_file(rig->root, path, "75000\n");
    snprintf(path, sizeof path, "%s/cpu.stat", group);
    fake_root_file(rig->root, path, "nr_periods 10\nnr_throttled 3\nthrottled_time 1500000000\n");
    assert_float_equal(read_node(rig)->quota.cpus, 1.5, 1e-9);
    assert_float_equal(rig->node.quota.throttled_s, 1.5, 1e-9);
}

/* ---- scheduler ---- */

static void preemption_is_what_is_in_brackets_or_was_built_in(void **state)
{
    struct rig *rig = *state;

    fake_root_file(rig->root, "/proc/version", "Linux version 6.1.0 (gcc) #1 SMP PREEMPT_DYNAMIC Debian\n");
    assert_string_equal(read_node(rig)->preemption, ""); /* only debugfs tells */
    fake_root_file(rig->root, "/sys/kernel/debug/sched/preempt", "none voluntary (full) lazy \n");
    assert_string_equal(read_node(rig)->preemption, "full");
    fake_root_file(rig->root, "/sys/kernel/debug/sched/preempt", "full (lazy) \n"); /* from 7.0 on */
    assert_string_equal(read_node(rig)->preemption, "lazy");
    fake_root_file(rig->root, "/sys/kernel/debug/sched/preempt", "\n");
    fake_root_file(rig->root, "/proc/version", "Linux version 5.14.0 (gcc) #1 SMP PREEMPT Thu\n");
    assert_string_equal(read_node(rig)->preemption, "full");
    fake_root_file(rig->root, "/proc/version", "Linux version 5.14.0 (gcc) #1 SMP Thu\n");
    assert_string_equal(read_node(rig)->preemption, "");
}

static void bpf_schedulers_and_their_server_are_read(void **state)
{
    struct rig *rig = *state;

    fake_root_file(rig->root, "/sys/devices/system/cpu/nohz_full", "2-7\n");
    fake_root_file(rig->root, "/sys/kernel/sched_ext/state", "enabled\n");
    fake_root_file(rig->root, "/sys/kernel/sched_ext/root/ops", "scx_rusty\n");
    fake_root_file(rig->root, "/sys/kernel/debug/sched/ext_server/cpu2/runtime", "50000000\n");
    assert_string_equal(read_node(rig)->sched_ext, "enabled");
    assert_string_equal(rig->node.sched_ext_ops, "scx_rusty");
    assert_int_equal(rig->node.ext_server_ns, 50000000);
}

static void put_service(const char *root, int pid, const char *name, const char *group, const char *allowed)
{
    char path[64], text[256];

    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    snprintf(text, sizeof text, "%d (%s) S 1 1 1 0 -1 4194560 0 0 0 0 1 1 0 0 20 0 1 0 9 0 0\n", pid, name);
    fake_root_file(root, path, text);
    snprintf(path, sizeof path, "/proc/%d/cgroup", pid);
    snprintf(text, sizeof text, "0::%s\n", group);
    fake_root_file(root, path, text);
    snprintf(path, sizeof path, "/proc/%d/status", pid);
    snprintf(text, sizeof text, "Name:\t%s\nCpus_allowed:\tff\nCpus_allowed_list:\t%s\n", name, allowed);
    fake_root_file(root, path, text);
}

static void services_and_where_they_may_run(void **state)
{
    struct rig *rig = *state;

    put_service(rig->root, 100, "sshd", "/system.slice/sshd.service", "0-1");
    put_service(rig->root, 101, "bash", "/user.slice/user-0.slice/session-1.scope", "0-7");
    assert_int_equal(read_node(rig)->service_count, 1);
    assert_int_equal(rig->node.free_service_count, 0);
    assert_set(&rig->node.service_cpus, "0-1");
    put_service(rig->root, 102, "cron", "/system.slice/cron.service", "0-7");
    assert_int_equal(read_node(rig)->free_service_count, 1);
    assert_string_equal(rig->node.service, "cron");
}

/* A thread with so many ticks that may use these CPUs. */
static void put_thread(const char *root, int pid, int tid, int ticks, const char *allowed)
{
    char path[96], text[256];

    snprintf(path, sizeof path, "/proc/%d/task/%d/stat", pid, tid);
    snprintf(text, sizeof text, "%d (lmp) R 1 1 1 0 -1 0 0 0 0 0 %d 1 0 0 20 0 1 0 9 0 0\n", tid, ticks);
    fake_root_file(root, path, text);
    snprintf(path, sizeof path, "/proc/%d/task/%d/status", pid, tid);
    snprintf(text, sizeof text, "Name:\tlmp\nCpus_allowed_list:\t%s\n", allowed);
    fake_root_file(root, path, text);
}

static void threads_of_the_own_job_that_work_are_looked_at(void **state)
{
    struct rig *rig = *state;
    const char *job = "/system.slice/slurmstepd.scope/job_7";
    char path[160], group[128];

    snprintf(path, sizeof path, "0::%s/step_1/user/task_0\n", job);
    fake_root_file(rig->root, "/proc/self/cgroup", path);
    snprintf(path, sizeof path, "/sys/fs/cgroup%s/step_1/user/task_0/cpuset.cpus.effective", job);
    fake_root_file(rig->root, path, "0-7\n");
    fake_root_file(rig->root, "/sys/devices/system/cpu/cpu2/topology/thread_siblings_list", "2,6\n");
    fake_root_file(rig->root, "/sys/devices/system/cpu/cpu6/topology/thread_siblings_list", "2,6\n");
    snprintf(group, sizeof group, "%s/step_0/user/task_0", job);
    put_service(rig->root, 200, "lmp", group, "0-7");
    put_service(rig->root, 300, "lmp", "/system.slice/slurmstepd.scope/job_77/step_0", "0-7");
    put_thread(rig->root, 200, 200, 500, "2,6"); /* both threads of one core */
    put_thread(rig->root, 200, 201, 500, "3");
    put_thread(rig->root, 200, 202, 500, "3");
    put_thread(rig->root, 200, 203, 500, "0-7");
    put_thread(rig->root, 200, 204, 20, "0-7");  /* it hardly works */
    put_thread(rig->root, 300, 300, 500, "0-7"); /* of another job */
    assert_true(read_node(rig)->job.is_known);
    assert_int_equal(rig->node.thread_count, 4);
    assert_int_equal(rig->node.loose_thread_count, 1);
    assert_set(&rig->node.pinned_twice, "3");
}

/* ---- devices ---- */

static void masks_of_all_queues_that_receive_count(void **state)
{
    struct rig *rig = *state;

    assert_false(read_node(rig)->rps.is_known);
    fake_root_file(rig->root, "/sys/class/net/lo/queues/rx-0/rps_cpus", "ff\n");
    fake_root_file(rig->root, "/sys/class/net/eno1/queues/rx-0/rps_cpus", "0\n");
    fake_root_file(rig->root, "/sys/class/net/eno1/queues/tx-0/xps_cpus", "f0\n");
    assert_true(read_node(rig)->rps.is_known);
    assert_set(&rig->node.rps.cpus, "none");
    fake_root_file(rig->root, "/sys/class/net/eno1/queues/rx-1/rps_cpus", "00000000,0000000c\n");
    assert_set(&read_node(rig)->rps.cpus, "2-3");
    assert_string_equal(rig->node.rps_device, "eno1");
}

static void queues_that_send_count_where_there_are_several(void **state)
{
    struct rig *rig = *state;

    fake_root_file(rig->root, "/sys/class/net/eno1/queues/tx-0/xps_cpus", "f0\n");
    fake_root_file(rig->root, "/sys/class/net/ib0/queues/tx-0/xps_cpus", "0\n"); /* off */
    fake_root_file(rig->root, "/sys/class/net/ib0/queues/tx-1/xps_cpus", "0\n");
    assert_int_equal(read_node(rig)->send_queues.count, 0);
    fake_root_file(rig->root, "/sys/class/net/eno1/queues/tx-1/xps_cpus", "0f\n");
    assert_int_equal(read_node(rig)->send_queues.count, 2);
}

static void queues_of_drives_are_read_but_not_of_loops(void **state)
{
    struct rig *rig = *state;

    fake_root_file(rig->root, "/sys/block/nvme0n1/mq/0/cpu_list", "0, 1, 2\n");
    fake_root_file(rig->root, "/sys/block/loop0/mq/0/cpu_list", "0, 1, 2, 3\n");
    assert_int_equal(read_node(rig)->block_queues.count, 1);
    assert_set(&rig->node.block_queues.cpus[0], "0-2");
}

static void put_pci(const char *root, const char *name, const char *code, const char *node)
{
    char path[96];

    snprintf(path, sizeof path, "/sys/bus/pci/devices/%s/class", name);
    fake_root_file(root, path, code);
    snprintf(path, sizeof path, "/sys/bus/pci/devices/%s/numa_node", name);
    fake_root_file(root, path, node);
}

static void devices_and_the_cpus_near_them(void **state)
{
    struct rig *rig = *state;

    fake_root_file(rig->root, "/sys/devices/system/node/node0/cpulist", "0-3\n");
    fake_root_file(rig->root, "/sys/devices/system/node/node1/cpulist", "4-7\n");
    put_pci(rig->root, "0000:41:00.0", "0x030200\n", "1\n");  /* a GPU without a screen */
    put_pci(rig->root, "0000:01:00.0", "0x020000\n", "0\n");  /* Ethernet */
    put_pci(rig->root, "0000:02:00.0", "0x030000\n", "0\n");  /* the console's graphics */
    put_pci(rig->root, "0000:03:00.0", "0x020700\n", "-1\n"); /* InfiniBand */
    put_pci(rig->root, "0000:42:00.0", "0x038000\n", "1\n");  /* GPUs that are displays of no kind, */
    put_pci(rig->root, "0000:43:00.0", "0x120000\n", "1\n");  /* or accelerators, */
    put_pci(rig->root, "0000:44:00.0", "0x120100\n", "1\n");  /* but not what moves data */
    assert_int_equal(read_node(rig)->device_count, 5);
    assert_int_equal(rig->node.numa_node_count, 2);
    assert_string_equal(rig->node.devices[0].name, "0000:01:00.0");
    assert_true(rig->node.devices[0].is_network);
    assert_int_equal(rig->node.devices[1].numa_node, -1);
    assert_false(rig->node.devices[2].is_network);
    assert_set(&rig->node.devices[2].near, "4-7");
}

/* ---- frequency ---- */

static void turbo_preferences_and_uncore_are_read(void **state)
{
    struct rig *rig = *state;

    fake_root_file(rig->root, "/sys/devices/system/cpu/cpufreq/boost", "1\n");
    assert_int_equal(read_node(rig)->turbo, 1);
    fake_root_file(rig->root, "/sys/devices/system/cpu/intel_pstate/no_turbo", "1\n");
    fake_root_file(rig->root, "/sys/devices/system/cpu/cpu0/cpufreq/energy_performance_preference",
                   "performance\n");
    fake_root_file(rig->root, "/sys/devices/system/cpu/cpu5/cpufreq/energy_performance_preference",
                   "balance_power\n");
    fake_root_file(rig->root, "/sys/devices/system/cpu/intel_uncore_frequency/package_00_die_00/min_freq_khz",
                   "2500000\n");
    fake_root_file(rig->root, "/sys/devices/system/cpu/intel_uncore_frequency/package_00_die_00/max_freq_khz",
                   "2500000\n");
    fake_root_file(rig->root, "/sys/devices/system/cpu/intel_uncore_frequency/package_01_die_00/min_freq_khz",
                   "800000\n");
    fake_root_file(rig->root, "/sys/devices/system/cpu/intel_uncore_frequency/package_01_die_00/max_freq_khz",
                   "2500000\n");
    fake_root_file(rig->root, "/sys/devices/system/machinecheck/machinecheck0/check_interval", "300\n");
    assert_int_equal(read_node(rig)->turbo, 0);
    assert_string_equal(rig->node.epp, "balance_power");
    assert_int_equal(rig->node.uncore_min_khz, 800000);
    assert_int_equal(rig->node.mce_interval_s, 300);
    assert_int_equal(rig->node.mce_ignores, IWI_NOT_TOLD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_tightest_quota_above_a_process_counts),
        TEST(inside_of_a_container_the_root_has_the_quota),
        TEST(quotas_of_version_1_are_read),
        TEST(preemption_is_what_is_in_brackets_or_was_built_in),
        TEST(bpf_schedulers_and_their_server_are_read),
        TEST(services_and_where_they_may_run),
        TEST(threads_of_the_own_job_that_work_are_looked_at),
        TEST(masks_of_all_queues_that_receive_count),
        TEST(queues_that_send_count_where_there_are_several),
        TEST(queues_of_drives_are_read_but_not_of_loops),
        TEST(devices_and_the_cpus_near_them),
        TEST(turbo_preferences_and_uncore_are_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
