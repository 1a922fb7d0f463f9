/* Reads what a node is set up for.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/settings/node.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/attribute_text.h"
#include "core/base/base.h"
#include "core/base/sysfile.h"

enum { LONG_SIZE = 64 };

static void name_hypervisor(struct iwi_node_facts *node)
{
    char signature[sizeof node->info.hypervisor];

    memcpy(signature, node->info.hypervisor, sizeof signature);
    snprintf(node->info.hypervisor, sizeof node->info.hypervisor, "%s",
             iwi_attribute_text("hypervisor", signature));
}

static void read_kernel(const char *root, struct iwi_node_facts *node)
{
    const char *version = node->info.kernel;
    char *end, text[IWI_NODE_TEXT_SIZE];

    node->tells_hypervisor =
        iwi_node_is_guest(node) || iwi_sysfile_value(root, "/proc/cpuinfo", "flags", ':', text, sizeof text);
    node->major = (int)strtol(version, &end, 10);
    node->minor = *end == '.' ? (int)strtol(end + 1, NULL, 10) : 0;
    node->is_realtime =
        iwi_read_number(root, "/sys/kernel/realtime") == 1 ||
        (iwi_sysfile_line(root, "/proc/version", text, sizeof text) && strstr(text, "PREEMPT_RT") != NULL);
}

/* "always [madvise] never" */
static void read_chosen(const char *root, const char *path, char buf[IWI_NODE_TEXT_SIZE])
{
    char text[IWI_NODE_TEXT_SIZE];
    const char *begin;

    buf[0] = '\0';
    if (iwi_sysfile_line(root, path, text, sizeof text) && (begin = strchr(text, '[')) != NULL) {
        snprintf(buf, IWI_NODE_TEXT_SIZE, "%.*s", (int)strcspn(begin + 1, "]"), begin + 1);
    }
}

static void read_numbers(const char *root, struct iwi_node_facts *node)
{
    char text[LONG_SIZE];

    node->timer_migration = iwi_read_number(root, "/proc/sys/kernel/timer_migration");
    node->nmi_watchdog = iwi_read_number(root, "/proc/sys/kernel/nmi_watchdog");
    node->watchdog = iwi_read_number(root, "/proc/sys/kernel/watchdog");
    node->numa_balancing = iwi_read_number(root, "/proc/sys/kernel/numa_balancing");
    node->compaction = iwi_read_number(root, "/proc/sys/vm/compaction_proactiveness");
    node->stat_interval = iwi_read_number(root, "/proc/sys/vm/stat_interval");
    node->ksm_run = iwi_read_number(root, "/sys/kernel/mm/ksm/run");
    node->skew_tick = node->has_cmdline ? 0 : IWI_NOT_TOLD;
    if (iwi_node_parameter(node, "skew_tick", text, sizeof text)) {
        node->skew_tick = strcmp(text, "1") == 0;
    }
    iwi_read_cpu_list(root, "/proc/sys/kernel/watchdog_cpumask", &node->watchdog_cpus);
    read_chosen(root, "/sys/kernel/mm/transparent_hugepage/enabled", node->thp);
    node->mce_interval_s =
        iwi_read_number(root, "/sys/devices/system/machinecheck/machinecheck0/check_interval");
    node->mce_ignores = iwi_read_number(root, "/sys/devices/system/machinecheck/machinecheck0/ignore_ce");
}

void iwi_node_init(struct iwi_node_facts *node)
{
    *node = (struct iwi_node_facts){
        .timer_migration = IWI_NOT_TOLD,
        .skew_tick = IWI_NOT_TOLD,
        .nmi_watchdog = IWI_NOT_TOLD,
        .watchdog = IWI_NOT_TOLD,
        .numa_balancing = IWI_NOT_TOLD,
        .compaction = IWI_NOT_TOLD,
        .stat_interval = IWI_NOT_TOLD,
        .ksm_run = IWI_NOT_TOLD,
        .fair_server_ns = IWI_NOT_TOLD,
        .idle_latency_us = IWI_NOT_TOLD,
        .turbo = IWI_NOT_TOLD,
        .uncore_min_khz = IWI_NOT_TOLD,
        .uncore_max_khz = IWI_NOT_TOLD,
        .mce_interval_s = IWI_NOT_TOLD,
        .mce_ignores = IWI_NOT_TOLD,
        .ext_server_ns = IWI_NOT_TOLD,
        .quota = {.pressure = (double)NAN},
    };
}

iw_status iwi_node_read(const iw_log *log, const char *root, struct iwi_node_facts *node)
{
    iwi_node_init(node);
    if (!iwi_sysfile_exists(root, "/proc/cmdline") &&
        !iwi_sysfile_exists(root, "/sys/devices/system/cpu/online")) {
        return iwi_fail(log, IW_ERR_IO,
                        "'%s' has neither proc/cmdline nor sys/devices/system/cpu/online: copy these from a "
                        "running node; an image has no settings before it is started",
                        root[0] != '\0' ? root : "/");
    }
    iwi_sysinfo_read(root, &node->info);
    name_hypervisor(node);
    read_kernel(root, node);
    node->has_cmdline = iwi_sysfile_line(root, "/proc/cmdline", node->cmdline, sizeof node->cmdline);
    iwi_read_cpu_list(root, "/sys/devices/system/cpu/online", &node->online);
    iwi_read_isolation(root, node);
    iwi_read_cgroups(root, node);
    read_numbers(root, node);
    iwi_read_frequency(root, node);
    iwi_read_managers(root, node);
    iwi_read_scheduler(root, node);
    IW_TRY(iwi_read_services(log, root, node));
    IW_TRY(iwi_read_threads(log, root, node));
    IW_TRY(iwi_read_devices(log, root, node));
    return iwi_read_irqs(log, root, node);
}

void iwi_node_release(struct iwi_node_facts *node)
{
    free(node->irqs);
    free(node->block_queues.cpus);
    free(node->send_queues.cpus);
    node->irqs = NULL;
    node->block_queues = node->send_queues = (struct iwi_queues){.count = 0};
    node->irq_count = node->irq_capacity = 0;
}

bool iwi_node_is_guest(const struct iwi_node_facts *node)
{
    return node->info.hypervisor[0] != '\0' && strcmp(node->info.hypervisor, "none") != 0;
}
