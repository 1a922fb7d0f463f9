/* Where devices hand work, and whether the application is near them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <string.h>

#include "core/base/base.h"
#include "features/settings/judge.h"

static const double STRAY_HZ = 1.0 / 60.0, SOFTIRQ_HZ = 1.0;

/* ---- packets ---- */

/* Packets on these CPUs may be the application's own: they are held against nobody who has it configured. */
static bool judge_rps(const struct iwi_case *c, const struct iwi_mitigation_ops *ops, iw_mitigation *m)
{
    const struct iwi_cpu_fact *rps = &c->node->rps;
    const bool is_off = iw_cpu_set_is_empty(&rps->cpus);
    const bool is_configured =
        is_off || (!iw_cpu_set_is_empty(&c->quiet) && !iw_cpu_set_meets(&rps->cpus, &c->quiet));
    const struct iwi_rate_check check = {false, &c->looked_at, &ops->sources, STRAY_HZ, SOFTIRQ_HZ, true};
    char cpus[IWI_CPUS_SIZE];

    if (!rps->is_known) {
        return false;
    }
    if (is_off) {
        iwi_judge_say(m->setting, "no steering by software");
    } else {
        iwi_judge_say(m->setting, "%s to %s", c->node->rps_device, iwi_cpus_text(&rps->cpus, cpus));
    }
    if (is_configured) {
        iwi_conclude_setting(m, true, true);
    } else {
        iwi_conclude(c, &check, m);
    }
    return true;
}

static const char *const net_rx[] = {"softirq/NET_RX", NULL};
const struct iwi_mitigation_ops iwi_rps = {
    .name = "RPS off quiet CPUs",
    .removes = "packets of others, by receive packet steering",
    .sources = {net_rx, NULL},
    .advice = "for f in /sys/class/net/*/queues/rx-*/rps_cpus; do echo {rest_mask} > $f; done",
    .judge = judge_rps,
};

/* ---- queues ---- */

/* A queue that CPUs of both kinds share interrupts one of them, whoever has asked for the data. */
static bool judge_queues(const struct iwi_case *c, const struct iwi_mitigation_ops *ops,
                         const struct iwi_queues *queues, iw_mitigation *m)
{
    const struct iwi_rate_check check = {false, &c->looked_at, &ops->sources, STRAY_HZ, SOFTIRQ_HZ, true};
    size_t shared = 0;

    if (queues->count == 0 || iw_cpu_set_is_empty(&c->quiet) || iw_cpu_set_is_empty(&c->rest)) {
        return false;
    }
    for (size_t i = 0; i < queues->count; i++) {
        shared +=
            iw_cpu_set_meets(&queues->cpus[i], &c->quiet) && iw_cpu_set_meets(&queues->cpus[i], &c->rest);
    }
    iwi_judge_say(m->setting, "%zu of %zu queues are shared with other CPUs", shared, queues->count);
    if (shared == 0) {
        iwi_conclude_setting(m, true, true);
    } else {
        iwi_conclude(c, &check, m);
    }
    return true;
}

static bool judge_block_queues(const struct iwi_case *c, const struct iwi_mitigation_ops *ops,
                               iw_mitigation *m)
{
    return judge_queues(c, ops, &c->node->block_queues, m);
}

/* By which queue a CPU sends (XPS): its completions come by the interrupt of that queue. */
static bool judge_send_queues(const struct iwi_case *c, const struct iwi_mitigation_ops *ops,
                              iw_mitigation *m)
{
    return judge_queues(c, ops, &c->node->send_queues, m);
}

static const char *const send_sources[] = {"softirq/NET_TX", NULL};
const struct iwi_mitigation_ops iwi_send_queues = {
    .name = "own send queues",
    .removes = "completions of what others send, by transmit packet steering",
    .sources = {send_sources, NULL},
    .advice =
        "write masks into /sys/class/net/*/queues/tx-*/xps_cpus that have either quiet CPUs or others, and "
        "bind the interrupts of the latter's queues to {rest}",
    .judge = judge_send_queues,
};

static const char *const block_sources[] = {"softirq/BLOCK", "irq/nvme*", "irq/virtio*-req*", NULL};
const struct iwi_mitigation_ops iwi_block_queues = {
    .name = "own drive queues",
    .removes = "drives that others use",
    .sources = {block_sources, NULL},
    .advice =
        "boot with isolcpus=managed_irq,domain,{quiet}, so that shared queues interrupt other CPUs; more "
        "queues (nvme.write_queues, nvme.poll_queues) make fewer of them shared",
    .judge = judge_block_queues,
};

/* ---- NUMA ---- */

static bool judge_near_devices(const struct iwi_case *c, const struct iwi_mitigation_ops *ops,
                               iw_mitigation *m)
{
    const struct iwi_node_facts *node = c->node;
    size_t near = 0, far = 0, unknown = 0;

    (void)ops;
    if (node->numa_node_count < 2 || node->device_count == 0 || !c->is_told) {
        return false;
    }
    for (size_t i = 0; i < node->device_count; i++) {
        const struct iwi_device *device = &node->devices[i];

        if (device->numa_node < 0) {
            unknown++;
        } else if (iw_cpu_set_meets(&device->near, &c->quiet)) {
            near++;
        } else {
            iwi_judge_say(m->evidence, "%s%s %s is on node %ld, of which the application has no CPU",
                          far > 0 ? "; " : "", device->is_network ? "network" : "accelerator", device->name,
                          device->numa_node);
            far++;
        }
    }
    iwi_judge_say(m->setting, "%zu of %zu GPUs and network cards are near", near, node->device_count);
    iwi_conclude_setting(m, near + far > 0, far == 0);
    m->is_felt = far > 0;
    if (near + far > 0 && unknown > 0) {
        iwi_judge_say(m->evidence, "%sof %zu the firmware does not tell", far > 0 ? "; " : "", unknown);
    }
    return true;
}

const struct iwi_mitigation_ops iwi_near_devices = {
    .name = "near GPUs and NICs",
    .removes = "the way over other NUMA nodes",
    .advice = "lstopo shows what is near: bind ranks to CPUs of the device's node (srun --gpus-per-task with "
              "--gpu-bind=closest, --cpu-bind=map_cpu)",
    .judge = judge_near_devices,
};
