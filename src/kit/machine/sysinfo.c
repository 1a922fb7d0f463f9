/* Reads what /proc and /sys tell about this machine.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/machine/sysinfo.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "core/base/base.h"
#include "core/base/sysfile.h"

enum { FLAGS_SIZE = 8192, PATH_SIZE = 128 };
static const char unknown[] = "unknown", cpuinfo[] = "/proc/cpuinfo";

static void set(char buf[IWI_FACT_SIZE], const char *text)
{
    snprintf(buf, IWI_FACT_SIZE, "%s", text);
}

static void read_line(const char *root, const char *path, char buf[IWI_FACT_SIZE])
{
    if (!iwi_sysfile_line(root, path, buf, IWI_FACT_SIZE)) {
        set(buf, unknown);
    }
}

/* A list of CPUs; the kernel writes nothing or "(null)" for none. */
static void read_list(const char *root, const char *path, char buf[IWI_FACT_SIZE])
{
    read_line(root, path, buf);
    if (buf[0] == '\0' || strcmp(buf, "(null)") == 0) {
        set(buf, "none");
    }
}

/* Each architecture has its own name for it. */
static void read_cpu_model(const char *root, char buf[IWI_FACT_SIZE])
{
    static const char *const keys[] = {"model name", "Model", "cpu model", "Hardware", "cpu", "CPU part"};

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (iwi_sysfile_value(root, cpuinfo, keys[i], ':', buf, IWI_FACT_SIZE)) {
            return;
        }
    }
    set(buf, unknown);
}

static void read_smt(const char *root, char buf[IWI_FACT_SIZE])
{
    char active[IWI_FACT_SIZE];

    read_line(root, "/sys/devices/system/cpu/smt/active", active);
    set(buf, strcmp(active, "1") == 0 ? "on" : (strcmp(active, "0") == 0 ? "off" : unknown));
}

/* Signature of the hypervisor, of this very machine; "" without one. */
static void ask_cpu_for_vendor(char vendor[IWI_FACT_SIZE])
{
    vendor[0] = '\0';
#if defined(__x86_64__)
    const unsigned features_leaf = 1, hypervisor_bit = 1u << 31, vendor_leaf = 0x40000000;
    unsigned a, b, c, d, signature[3];

    if (__get_cpuid(features_leaf, &a, &b, &c, &d) != 0 && (c & hypervisor_bit) != 0) {
        __cpuid(vendor_leaf, a, signature[0], signature[1], signature[2]);
        memcpy(vendor, signature, sizeof signature);
        vendor[sizeof signature] = '\0';
    }
#endif
}

static bool has_hypervisor_flag(const char *root)
{
    char flags[FLAGS_SIZE];

    return iwi_sysfile_value(root, cpuinfo, "flags", ':', flags, sizeof flags) &&
           strstr(flags, "hypervisor") != NULL;
}

static void read_hypervisor(const char *root, char buf[IWI_FACT_SIZE])
{
    if (iwi_sysfile_line(root, "/sys/hypervisor/type", buf, IWI_FACT_SIZE) && buf[0] != '\0') {
        return;
    }
    if (!has_hypervisor_flag(root)) {
        set(buf, "none");
        return;
    }
    if (root[0] == '\0') {
        ask_cpu_for_vendor(buf);
    }
    if (buf[0] == '\0' && !iwi_sysfile_line(root, "/sys/class/dmi/id/sys_vendor", buf, IWI_FACT_SIZE)) {
        set(buf, "unknown vendor");
    }
}

/* Distributions put the kernel's configuration there. */
static void read_tick_hz(const char *root, const char *kernel, char buf[IWI_FACT_SIZE])
{
    char path[IWI_FACT_SIZE + PATH_SIZE];

    snprintf(path, sizeof path, "/boot/config-%s", kernel);
    if (!iwi_sysfile_value(root, path, "CONFIG_HZ", '=', buf, IWI_FACT_SIZE)) {
        set(buf, unknown);
    }
}

/* Another machine's, as far as its files tell; this machine's are asked for if they do not. */
static void read_names(const char *root, struct iwi_sysinfo *info)
{
    struct utsname name;
    const bool is_told = root[0] == '\0' && uname(&name) == 0;

    if (!iwi_sysfile_line(root, "/proc/sys/kernel/hostname", info->host, IWI_FACT_SIZE)) {
        set(info->host, is_told ? name.nodename : unknown);
    }
    if (!iwi_sysfile_line(root, "/proc/sys/kernel/osrelease", info->kernel, IWI_FACT_SIZE)) {
        set(info->kernel, is_told ? name.release : unknown);
    }
}

void iwi_sysinfo_read(const char *root, struct iwi_sysinfo *info)
{
    read_names(root, info);
    read_cpu_model(root, info->cpu_model);
    read_smt(root, info->smt);
    read_hypervisor(root, info->hypervisor);
    read_line(root, "/sys/devices/system/clocksource/clocksource0/current_clocksource", info->clocksource);
    read_list(root, "/sys/devices/system/cpu/isolated", info->isolated);
    read_list(root, "/sys/devices/system/cpu/nohz_full", info->nohz_full);
    read_tick_hz(root, info->kernel, info->tick_hz);
}

void iwi_sysinfo_governor(const char *root, uint32_t cpu, char buf[IWI_FACT_SIZE])
{
    char path[PATH_SIZE];

    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%" PRIu32 "/cpufreq/scaling_governor", cpu);
    read_line(root, path, buf);
}

uint64_t iwi_sysinfo_steal(const char *root, uint32_t cpu)
{
    const int field = 8; /* user nice system idle iowait irq softirq steal */
    char key[PATH_SIZE], values[IWI_FACT_SIZE], *next = values;
    uint64_t ticks = 0;

    snprintf(key, sizeof key, "cpu%" PRIu32, cpu);
    if (!iwi_sysfile_value(root, "/proc/stat", key, ' ', values, sizeof values)) {
        return 0;
    }
    for (int i = 0; i < field; i++) {
        const char *number = next;

        ticks = strtoull(number, &next, 10);
        if (next == number) {
            return 0;
        }
    }
    return ticks;
}

bool iwi_sysinfo_smi(const char *root, uint32_t cpu, uint64_t *count_p)
{
    static const off_t SMI_COUNT =
        0x34; /* MSR_SMI_COUNT: the number of a register is its place in the file */
    char path[PATH_MAX];
    uint64_t value = 0;
    bool is_read;
    int fd;

    if (snprintf(path, sizeof path, "%s/dev/cpu/%" PRIu32 "/msr", root, cpu) >= (int)sizeof path) {
        return false;
    }
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    is_read = fd >= 0 && pread(fd, &value, sizeof value, SMI_COUNT) == (ssize_t)sizeof value;
    if (fd >= 0) {
        (void)close(fd);
    }
    if (is_read) {
        *count_p = value & UINT32_MAX; /* the rest is reserved */
    }
    return is_read;
}
