/* Reads frequencies and idle states, and who set the node up: tuned, a container.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/sysfile.h"
#include "features/settings/node.h"

enum { PATH_SIZE = 160, MOST_IDLE_STATES = 16 };

/* ---- frequency ---- */

static void read_governors(const char *root, struct iwi_node_facts *node)
{
    char governor[IWI_FACT_SIZE];

    for (uint32_t cpu = 0; cpu < IW_CPU_SET_MOST; cpu++) {
        const bool is_first = node->governor[0] == '\0';
        bool is_better;

        if (!iw_cpu_set_has(&node->online.cpus, cpu)) {
            continue;
        }
        iwi_sysinfo_governor(root, cpu, governor);
        if (strcmp(governor, "unknown") == 0 || governor[0] == '\0') {
            continue;
        }
        /* one CPU that is not held at its frequency is worth more words than those that are */
        is_better = strcmp(node->governor, "performance") == 0 && strcmp(governor, "performance") != 0;
        if (is_first || is_better) {
            snprintf(node->governor, sizeof node->governor, "%s", governor);
            node->governor_cpus = (iw_cpu_set){{0}};
        }
        if (strcmp(governor, node->governor) == 0) {
            iw_cpu_set_add(&node->governor_cpus, cpu);
        }
    }
}

/* Of the first CPU that has any: the deepest state that is not disabled. */
static bool read_idle_states(const char *root, uint32_t cpu, struct iwi_node_facts *node)
{
    char path[PATH_SIZE], name[IWI_NODE_TEXT_SIZE];
    bool is_any = false;

    for (int state = 0; state < MOST_IDLE_STATES; state++) {
        long latency_us;

        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%" PRIu32 "/cpuidle/state%d/latency", cpu,
                 state);
        latency_us = iwi_read_number(root, path);
        if (latency_us == IWI_NOT_TOLD) {
            break;
        }
        is_any = true;
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%" PRIu32 "/cpuidle/state%d/disable", cpu,
                 state);
        if (iwi_read_number(root, path) > 0) {
            continue;
        }
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%" PRIu32 "/cpuidle/state%d/name", cpu,
                 state);
        if (latency_us >= node->idle_latency_us && iwi_sysfile_line(root, path, name, sizeof name)) {
            node->idle_latency_us = latency_us;
            snprintf(node->idle_state, sizeof node->idle_state, "%s", name);
        }
    }
    return is_any;
}

/* Intel's driver and all others have different switches. */
static void read_turbo(const char *root, struct iwi_node_facts *node)
{
    const long no_turbo = iwi_read_number(root, "/sys/devices/system/cpu/intel_pstate/no_turbo");
    const long boost = iwi_read_number(root, "/sys/devices/system/cpu/cpufreq/boost");

    node->turbo = no_turbo != IWI_NOT_TOLD ? (no_turbo == 0) : boost;
}

/* Of all CPUs the first that is not told to perform. */
static void read_preferences(const char *root, struct iwi_node_facts *node)
{
    char path[PATH_SIZE], text[IWI_NODE_TEXT_SIZE];

    for (uint32_t cpu = 0; cpu < IW_CPU_SET_MOST; cpu++) {
        if (!iw_cpu_set_has(&node->online.cpus, cpu)) {
            continue;
        }
        snprintf(path, sizeof path,
                 "/sys/devices/system/cpu/cpu%" PRIu32 "/cpufreq/energy_performance_preference", cpu);
        if (iwi_sysfile_line(root, path, text, sizeof text) && text[0] != '\0' &&
            (node->epp[0] == '\0' || strcmp(node->epp, "performance") == 0)) {
            snprintf(node->epp, sizeof node->epp, "%s", text);
        }
    }
}

struct uncore_reader {
    const char *root;
    struct iwi_node_facts *node;
};

static void take_uncore(void *arg, const char *name)
{
    const struct uncore_reader *reader = arg;
    struct iwi_node_facts *node = reader->node;
    char path[PATH_SIZE];
    long low, high;

    if (strncmp(name, "package_", strlen("package_")) != 0) {
        return;
    }
    snprintf(path, sizeof path, "/sys/devices/system/cpu/intel_uncore_frequency/%.64s/min_freq_khz", name);
    low = iwi_read_number(reader->root, path);
    snprintf(path, sizeof path, "/sys/devices/system/cpu/intel_uncore_frequency/%.64s/max_freq_khz", name);
    high = iwi_read_number(reader->root, path);
    if (low != IWI_NOT_TOLD && high != IWI_NOT_TOLD &&
        (node->uncore_min_khz == IWI_NOT_TOLD || high - low > node->uncore_max_khz - node->uncore_min_khz)) {
        node->uncore_min_khz = low;
        node->uncore_max_khz = high;
    }
}

void iwi_read_frequency(const char *root, struct iwi_node_facts *node)
{
    struct uncore_reader uncore = {root, node};
    bool is_any = false;

    read_governors(root, node);
    read_turbo(root, node);
    read_preferences(root, node);
    iwi_sysfile_each(root, "/sys/devices/system/cpu/intel_uncore_frequency", take_uncore, &uncore);
    (void)iwi_sysfile_line(root, "/sys/devices/system/cpu/cpuidle/current_driver", node->idle_driver,
                           sizeof node->idle_driver);
    for (uint32_t cpu = 0; cpu < IW_CPU_SET_MOST && !is_any; cpu++) {
        is_any = iw_cpu_set_has(&node->online.cpus, cpu) && read_idle_states(root, cpu, node);
    }
}

/* ---- containers ---- */

/* The kernel's own threads show in the first namespace of processes only. */
static bool has_kernel_threads(const char *root)
{
    char name[IWI_NODE_TEXT_SIZE];

    return iwi_sysfile_line(root, "/proc/2/comm", name, sizeof name) && strcmp(name, "kthreadd") == 0;
}

/* "bash (4711, #threads: 1)": kernels before 4.14 show init's number outside of the container. */
static bool is_init_of_others(const char *root)
{
    char line[IWI_NODE_TEXT_SIZE];
    const char *bracket;

    return iwi_sysfile_line(root, "/proc/1/sched", line, sizeof line) &&
           (bracket = strrchr(line, '(')) != NULL && strstr(bracket, "#threads") != NULL &&
           strtol(bracket + 1, NULL, 10) > 1;
}

static void read_container(const char *root, struct iwi_node_facts *node)
{
    static const char *const marks[] = {"/.dockerenv", "/run/.containerenv"};
    static const char *const groups[] = {"docker", "kubepods", "lxc", "libpod", "containerd"};
    char text[IWI_CMDLINE_SIZE];

    if (is_init_of_others(root)) {
        snprintf(node->container, sizeof node->container, "/proc/1/sched");
    }
    if (has_kernel_threads(root)) {
        return;
    }
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        if (iwi_sysfile_exists(root, marks[i])) {
            snprintf(node->container, sizeof node->container, "%s", marks[i]);
        }
    }
    if (iwi_sysfile_line(root, "/run/systemd/container", text, sizeof text) && text[0] != '\0') {
        snprintf(node->container, sizeof node->container, "%.200s, /run/systemd/container", text);
    }
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
        if (iwi_sysfile_whole(root, "/proc/1/cgroup", text, sizeof text) > 0 &&
            strstr(text, groups[i]) != NULL) {
            snprintf(node->container, sizeof node->container, "%s, /proc/1/cgroup", groups[i]);
        }
    }
}

void iwi_read_managers(const char *root, struct iwi_node_facts *node)
{
    (void)iwi_sysfile_line(root, "/etc/tuned/active_profile", node->tuned, sizeof node->tuned);
    iwi_read_core_spec(root, node);
    read_container(root, node);
}
