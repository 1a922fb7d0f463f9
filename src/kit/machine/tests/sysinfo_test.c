/* Facts about machines, read from the files of made-up ones.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/machine/sysinfo.h"

#include "core/base/available.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/base/sysfile.h"
#include "support/fake_root.h"
#include "support/support.h"

static void x86_server(const char *root)
{
    fake_root_file(root, "/proc/sys/kernel/hostname", "node07\n");
    fake_root_file(root, "/proc/sys/kernel/osrelease", "6.1.0-18-amd64\n");
    fake_root_file(root, "/proc/cpuinfo",
                   "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: Xeon(R) Gold 6338 \n"
                   "flags\t\t: fpu tsc nonstop_tsc\n\nprocessor\t: 1\nmodel name\t: other\n");
    fake_root_file(root, "/sys/devices/system/cpu/smt/active", "1\n");
    fake_root_file(root, "/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
    fake_root_file(root, "/sys/devices/system/cpu/isolated", "2-3,7\n");
    fake_root_file(root, "/sys/devices/system/cpu/nohz_full", "  (null)\n");
    fake_root_file(root, "/boot/config-6.1.0-18-amd64",
                   "# CONFIG_HZ_100 is not set\nCONFIG_HZ_250=y\nCONFIG_HZ=250\n");
}

static void a_server_tells_about_itself(void **state)
{
    char root[FAKE_ROOT_SIZE];
    struct iwi_sysinfo info;

    (void)state;
    fake_root_make(root);
    x86_server(root);
    iwi_sysinfo_read(root, &info);
    assert_string_equal(info.host, "node07");
    assert_string_equal(info.kernel, "6.1.0-18-amd64");
    assert_string_equal(info.cpu_model, "Xeon(R) Gold 6338");
    assert_string_equal(info.smt, "on");
    assert_string_equal(info.hypervisor, "none");
    assert_string_equal(info.clocksource, "tsc");
    assert_string_equal(info.isolated, "2-3,7");
    assert_string_equal(info.nohz_full, "none");
    assert_string_equal(info.tick_hz, "250");
    fake_root_remove(root);
}

static void what_a_machine_does_not_tell_is_unknown(void **state)
{
    char root[FAKE_ROOT_SIZE], governor[IWI_FACT_SIZE];
    struct iwi_sysinfo info;

    (void)state;
    fake_root_make(root);
    iwi_sysinfo_read(root, &info);
    assert_string_equal(info.host, "unknown"); /* not that of this machine */
    assert_string_equal(info.kernel, "unknown");
    assert_string_equal(info.cpu_model, "unknown");
    assert_string_equal(info.smt, "unknown");
    assert_string_equal(info.hypervisor, "none");
    assert_string_equal(info.clocksource, "unknown");
    assert_string_equal(info.isolated, "unknown");
    assert_string_equal(info.tick_hz, "unknown");
    iwi_sysinfo_governor(root, 0, governor);
    assert_string_equal(governor, "unknown");
    assert_int_equal(iwi_sysinfo_steal(root, 0), 0);
    assert_true(iwi_available_bytes(root) == UINT64_MAX);
    fake_root_remove(root);
}

static void an_empty_list_is_none(void **state)
{
    char root[FAKE_ROOT_SIZE];
    struct iwi_sysinfo info;

    (void)state;
    fake_root_make(root);
    fake_root_file(root, "/sys/devices/system/cpu/isolated", "\n");
    fake_root_file(root, "/sys/devices/system/cpu/nohz_full", "");
    fake_root_file(root, "/sys/devices/system/cpu/smt/active", "0\n");
    iwi_sysinfo_read(root, &info);
    assert_string_equal(info.isolated, "none");
    assert_string_equal(info.nohz_full, "none");
    assert_string_equal(info.smt, "off");
    fake_root_remove(root);
}

static void guests_name_their_hypervisor(void **state)
{
    char root[FAKE_ROOT_SIZE];
    struct iwi_sysinfo info;

    (void)state;
    fake_root_make(root);
    fake_root_file(root, "/proc/cpuinfo", "flags\t\t: fpu tsc hypervisor lahf_lm\n");
    iwi_sysinfo_read(root, &info);
    assert_string_equal(info.hypervisor, "unknown vendor");
    fake_root_file(root, "/sys/class/dmi/id/sys_vendor", "QEMU\n");
    iwi_sysinfo_read(root, &info);
    assert_string_equal(info.hypervisor, "QEMU");
    fake_root_file(root, "/sys/hypervisor/type", "xen\n");
    iwi_sysinfo_read(root, &info);
    assert_string_equal(info.hypervisor, "xen");
    fake_root_remove(root);
}

static void other_architectures_name_their_cpu_otherwise(void **state)
{
    char root[FAKE_ROOT_SIZE];
    struct iwi_sysinfo info;

    (void)state;
    fake_root_make(root);
    fake_root_file(root, "/proc/cpuinfo", "processor\t: 0\ncpu\t\t: POWER9, altivec supported\n");
    iwi_sysinfo_read(root, &info);
    assert_string_equal(info.cpu_model, "POWER9, altivec supported");
    fake_root_remove(root);
}

static void governors_are_of_single_cpus(void **state)
{
    char root[FAKE_ROOT_SIZE], governor[IWI_FACT_SIZE];

    (void)state;
    fake_root_make(root);
    fake_root_file(root, "/sys/devices/system/cpu/cpu11/cpufreq/scaling_governor", "performance\n");
    iwi_sysinfo_governor(root, 11, governor);
    assert_string_equal(governor, "performance");
    iwi_sysinfo_governor(root, 1, governor);
    assert_string_equal(governor, "unknown");
    fake_root_remove(root);
}

static void steal_is_the_eighth_number_of_the_cpu(void **state)
{
    char root[FAKE_ROOT_SIZE];

    (void)state;
    fake_root_make(root);
    fake_root_file(root, "/proc/stat",
                   "cpu  9 9 9 9 9 9 9 99 9 9\ncpu10 1 2 3 4 5 6 7 108 9 10\ncpu1 1 2 3 4 5 6 7 18 9 10\n"
                   "cpu2 1 2 3\nintr 5\n");
    assert_int_equal(iwi_sysinfo_steal(root, 1), 18);
    assert_int_equal(iwi_sysinfo_steal(root, 10), 108);
    assert_int_equal(iwi_sysinfo_steal(root, 2), 0);
    assert_int_equal(iwi_sysinfo_steal(root, 3), 0);
    fake_root_remove(root);
}

static void available_memory_is_in_kib(void **state)
{
    char root[FAKE_ROOT_SIZE];

    (void)state;
    fake_root_make(root);
    fake_root_file(root, "/proc/meminfo", "MemTotal:       9 kB\nMemAvailable:    2048 kB\n");
    assert_int_equal(iwi_available_bytes(root), 2048 * 1024);
    fake_root_file(root, "/proc/meminfo", "MemAvailable:    2048 pages\n");
    assert_true(iwi_available_bytes(root) == UINT64_MAX);
    fake_root_remove(root);
}

static void long_lines_are_cut(void **state)
{
    char root[FAKE_ROOT_SIZE], text[8];

    (void)state;
    fake_root_make(root);
    fake_root_file(root, "/long", "0123456789\nsecond\n");
    assert_true(iwi_sysfile_line(root, "/long", text, sizeof text));
    assert_string_equal(text, "0123456");
    assert_false(iwi_sysfile_line(root, "/", text, sizeof text));
    assert_string_equal(text, "");
    fake_root_remove(root);
}

static void a_control_group_may_leave_less(void **state)
{
    char root[FAKE_ROOT_SIZE];

    (void)state;
    fake_root_make(root);
    fake_root_file(root, "/proc/meminfo", "MemTotal: 9000 kB\nMemAvailable:    8192 kB\n");
    fake_root_file(root, "/proc/self/cgroup", "0::/slurm/job_7/step_0\n");
    assert_int_equal(iwi_available_bytes(root), 8192 * 1024);
    fake_root_file(root, "/sys/fs/cgroup/slurm/job_7/step_0/memory.max", "max\n");
    fake_root_file(root, "/sys/fs/cgroup/slurm/job_7/memory.max", "4194304\n");
    fake_root_file(root, "/sys/fs/cgroup/slurm/job_7/memory.current", "1048576\n");
    assert_int_equal(iwi_available_bytes(root), 3 * 1048576);
    fake_root_file(root, "/sys/fs/cgroup/slurm/memory.max", "2097152\n");
    fake_root_file(root, "/sys/fs/cgroup/slurm/memory.current", "99999999\n");
    assert_int_equal(iwi_available_bytes(root), 0);
    fake_root_remove(root);
}

static void a_control_group_of_version_1_may_leave_less(void **state)
{
    char root[FAKE_ROOT_SIZE];

    (void)state;
    fake_root_make(root);
    fake_root_file(root, "/proc/meminfo", "MemTotal: 90000 kB\nMemAvailable:    81920 kB\n");
    fake_root_file(
        root, "/proc/self/cgroup",
        "12:memory_too:/b\n11:cpu,memory:/slurm/job_7/step_0\n10:cpuset:/a\n1:name=systemd:/a\n0::/a\n");
    fake_root_file(root, "/sys/fs/cgroup/memory/a/memory.limit_in_bytes",
                   "1\n"); /* other controllers' groups */
    fake_root_file(root, "/sys/fs/cgroup/memory/b/memory.limit_in_bytes", "1\n");
    assert_int_equal(iwi_available_bytes(root), 81920 * 1024);
    fake_root_file(root, "/sys/fs/cgroup/memory/slurm/job_7/step_0/memory.limit_in_bytes",
                   "9223372036854771712\n"); /* none */
    fake_root_file(root, "/sys/fs/cgroup/memory/slurm/job_7/memory.limit_in_bytes", "62914560\n");
    fake_root_file(root, "/sys/fs/cgroup/memory/slurm/job_7/memory.usage_in_bytes", "10485760\n");
    assert_int_equal(iwi_available_bytes(root), 50 * 1048576);
    fake_root_file(root, "/sys/fs/cgroup/a/memory.max", "31457280\n"); /* of version 2, beside it */
    assert_int_equal(iwi_available_bytes(root), 30 * 1048576);
    fake_root_file(root, "/sys/fs/cgroup/memory/memory.limit_in_bytes", "20971520\n"); /* of a container */
    assert_int_equal(iwi_available_bytes(root), 20 * 1048576);
    fake_root_remove(root);
}

/* Of as many CPUs as there are here: a machine with none or more than that running. */
static void cpus_are_idle_that_nobody_uses(void **state)
{
    const uint32_t cpus = iwi_available_cpus();
    char root[FAKE_ROOT_SIZE], text[64];

    (void)state;
    if ((long)cpus < sysconf(_SC_NPROCESSORS_ONLN)) {
        skip(); /* bound to some of them */
    }
    fake_root_make(root);
    assert_int_equal(iwi_idle_cpus(root, cpus), cpus); /* it is not told */
    fake_root_file(root, "/proc/loadavg", "9.00 9.00 9.00 1/200 1234\n");
    assert_int_equal(iwi_idle_cpus(root, cpus), cpus);
    assert_int_equal(iwi_idle_cpus(root, 1), 1);
    (void)snprintf(text, sizeof text, "0.00 0.00 0.00 %u/200 1234\n", cpus);
    fake_root_file(root, "/proc/loadavg", text);
    assert_int_equal(iwi_idle_cpus(root, cpus), 1);
    fake_root_file(root, "/proc/loadavg", "0.00 0.00 0.00 999999/200 1234\n");
    assert_int_equal(iwi_idle_cpus(root, cpus), 1);
    fake_root_remove(root);
}

static void the_count_of_firmware_interrupts_stands_at_its_register(void **state)
{
    char root[FAKE_ROOT_SIZE], path[FAKE_PATH_SIZE];
    const uint64_t value = UINT64_C(0xffffffff0000002a); /* the upper half is reserved */
    uint64_t count = 0;
    FILE *out;

    (void)state;
    fake_root_make(root);
    assert_false(iwi_sysinfo_smi(root, 3, &count));
    fake_root_file(root, "/dev/cpu/3/msr", "short");
    assert_false(iwi_sysinfo_smi(root, 3, &count));
    snprintf(path, sizeof path, "%s/dev/cpu/3/msr", root);
    out = fopen(path, "w");
    assert_non_null(out);
    assert_int_equal(fseek(out, 0x34, SEEK_SET), 0);
    assert_int_equal(fwrite(&value, sizeof value, 1, out), 1);
    assert_int_equal(fclose(out), 0);
    assert_true(iwi_sysinfo_smi(root, 3, &count));
    assert_int_equal(count, 42);
    fake_root_remove(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_server_tells_about_itself),
        cmocka_unit_test(what_a_machine_does_not_tell_is_unknown),
        cmocka_unit_test(an_empty_list_is_none),
        cmocka_unit_test(guests_name_their_hypervisor),
        cmocka_unit_test(other_architectures_name_their_cpu_otherwise),
        cmocka_unit_test(governors_are_of_single_cpus),
        cmocka_unit_test(steal_is_the_eighth_number_of_the_cpu),
        cmocka_unit_test(available_memory_is_in_kib),
        cmocka_unit_test(a_control_group_may_leave_less),
        cmocka_unit_test(a_control_group_of_version_1_may_leave_less),
        cmocka_unit_test(cpus_are_idle_that_nobody_uses),
        cmocka_unit_test(long_lines_are_cut),
        cmocka_unit_test(the_count_of_firmware_interrupts_stands_at_its_register),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
