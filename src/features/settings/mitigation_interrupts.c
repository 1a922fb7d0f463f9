/* Mitigations of interrupts: where they go, queues of devices, watchdogs.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <string.h>

#include "core/base/base.h"
#include "features/settings/judge.h"

static const double STRAY_HZ = 1.0 / 60.0, DEVICE_HZ = 1.0;
enum { SHOWN_IRQS = 4 };

static const char *const any_irq[] = {"irq/*", NULL};
/* Of the CPU itself. On ARM some have numbers as those of devices do. */
#define VECTORS                                                                                      \
    "irq/local_timer*", "irq/arch_timer*", "irq/timer", "irq/reschedule*", "irq/call_func*",         \
        "irq/irq_work*", "irq/x86_platform*", "irq/*_apic*", "irq/ipi*", "irq/IPI*", "irq/arm-pmu*", \
        "irq/arm_pmu*"
static const char *const vectors[] = {VECTORS, NULL};
/* With managed_irq the kernel has done what it can: a queue of a drive that only quiet CPUs use comes to the
 * one that reads or writes, and cannot be moved. */
static const char *const vectors_and_queues[] = {VECTORS, "irq/nvme*q[1-9]*", "irq/virtio*-req*", NULL};

static struct iwi_source_patterns devices_of(const struct iwi_node_facts *node)
{
    const bool is_managed = !iw_cpu_set_is_empty(&node->managed_irq.cpus);

    return (struct iwi_source_patterns){any_irq, is_managed ? vectors_and_queues : vectors};
}

static bool is_of_device(const struct iwi_case *c, const char *name)
{
    const struct iwi_source_patterns devices = devices_of(c->node);
    iw_source source = {.kind = IW_CLASS_IRQ};

    snprintf(source.name, sizeof source.name, "%s", name);
    return iwi_source_patterns_have(&devices, &source);
}

static bool are_irqs_watched(const struct iwi_case *c)
{
    return c->seen->tells[IW_CLASS_IRQ] && iw_cpu_set_meets(&c->seen->cpus, &c->quiet);
}

/* Has it been seen on CPUs that are to be quiet? Where they were not watched, what came since the start
 * counts. */
static bool has_come(const struct iwi_case *c, const struct iwi_irq *irq)
{
    const struct iwi_observed *seen = c->seen;

    if (!is_of_device(c, irq->name)) {
        return false;
    }
    if (!are_irqs_watched(c)) {
        return iw_cpu_set_meets(&irq->counted, &c->quiet);
    }
    for (size_t i = 0; i < seen->row_count; i++) {
        const struct iwi_seen_row *row = &seen->rows[i];

        if (row->source.kind == IW_CLASS_IRQ && strcmp(row->source.name, irq->name) == 0 &&
            iw_cpu_set_has(&c->quiet, seen->seen_cpus[row->place].cpu)) {
            return true;
        }
    }
    return false;
}

/* Goes to a CPU that is to be quiet, and has come there. */
static bool is_offender(const struct iwi_case *c, const struct iwi_irq *irq)
{
    return iw_cpu_set_meets(&irq->target, &c->quiet) && has_come(c, irq);
}

static size_t count_offenders(const struct iwi_case *c)
{
    size_t count = 0;

    for (size_t i = 0; i < c->node->irq_count; i++) {
        count += is_offender(c, &c->node->irqs[i]);
    }
    return count;
}

/* "36 eno1-rx-3 to CPU 3, ...", the first few. */
static void name_offenders(const struct iwi_case *c, size_t count, iw_mitigation *m)
{
    size_t shown = 0;

    for (size_t i = 0; i < c->node->irq_count && shown < SHOWN_IRQS; i++) {
        const struct iwi_irq *irq = &c->node->irqs[i];
        char cpus[IWI_CPUS_SIZE];

        if (is_offender(c, irq)) {
            iwi_judge_say(m->evidence, "%sirq %lu %s goes to %s", shown++ > 0 ? ", " : "", irq->number,
                          irq->name, iwi_cpus_text(&irq->target, cpus));
        }
    }
    if (count > shown) {
        iwi_judge_say(m->evidence, " and %zu more", count - shown);
    }
}

/* One that came, though it goes elsewhere by now; NULL: none. */
static const struct iwi_irq *find_moved(const struct iwi_case *c)
{
    for (size_t i = 0; i < c->node->irq_count && !iw_cpu_set_is_empty(&c->quiet); i++) {
        if (c->seen->by != IWI_SEEN_BY_NONE && has_come(c, &c->node->irqs[i])) {
            return &c->node->irqs[i];
        }
    }
    return NULL;
}

/* "echo 0-1 > /proc/irq/36/smp_affinity_list", for several in a loop; what to do where no number is known. */
static void advise_affinity(const struct iwi_case *c, size_t count, const char *rest, iw_mitigation *m)
{
    const struct iwi_irq *moved = count == 0 ? find_moved(c) : NULL;
    char cpus[IWI_CPUS_SIZE];
    size_t shown = 0;

    for (size_t i = 0; i < c->node->irq_count && shown < SHOWN_IRQS; i++) {
        if (is_offender(c, &c->node->irqs[i])) {
            iwi_judge_say(m->advice, "%s%lu", shown++ > 0 ? " " : "for i in ", c->node->irqs[i].number);
        }
    }
    if (count > 0) {
        iwi_judge_say(m->advice, "; do echo %s > /proc/irq/$i/smp_affinity_list; done", rest);
    }
    if (count > shown) {
        iwi_judge_say(m->advice, "; the same for %zu more", count - shown);
    }
    if (moved != NULL) {
        iwi_judge_say(m->advice,
                      "irq %lu %s now goes to %s: watch again; if it returns, something moves it (systemctl "
                      "status irqbalance)",
                      moved->number, moved->name, iwi_cpus_text(&moved->target, cpus));
    } else if (count == 0) {
        iwi_judge_say(m->advice, "echo %s > /proc/irq/NUMBER/smp_affinity_list", rest);
    }
}

static void advise(const struct iwi_case *c, size_t count, iw_mitigation *m)
{
    const bool has_rest = !iw_cpu_set_is_empty(&c->rest) && !iw_cpu_set_is_empty(&c->quiet);
    char rest_list[IWI_LIST_SIZE], quiet_list[IWI_LIST_SIZE];
    const char *rest = has_rest ? iwi_list_text(&c->rest, "OTHERS", rest_list) : "OTHERS";
    const char *quiet = has_rest ? iwi_list_text(&c->quiet, "CPUS", quiet_list) : "CPUS";

    advise_affinity(c, count, rest, m);
    if (iw_cpu_set_is_empty(&c->node->managed_irq.cpus)) {
        iwi_judge_say(m->advice,
                      "; if the kernel refuses because it manages the interrupt, boot with "
                      "isolcpus=managed_irq,domain,%s",
                      quiet);
    }
    if (c->node->has_irqbalance && !c->node->irqbalance_banned.is_known) {
        iwi_judge_say(m->advice,
                      "; to keep irqbalance from moving them back, set IRQBALANCE_BANNED_CPULIST=%s", quiet);
    }
}

static void say_setting(const struct iwi_node_facts *node, iw_mitigation *m)
{
    const struct {
        const char *name;
        const struct iwi_cpu_fact *fact;
    } settings[] = {
        {"irqaffinity", &node->irq_parameter},
        {"managed_irq", &node->managed_irq},
        {"banned in irqbalance", &node->irqbalance_banned},
        {"default affinity", &node->irq_default},
    };
    char list[IWI_CPUS_SIZE];

    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        if (settings[i].fact->is_known && !iw_cpu_set_is_empty(&settings[i].fact->cpus)) {
            iwi_judge_say(m->setting, "%s%s %s", m->setting[0] != '\0' ? ", " : "", settings[i].name,
                          iw_cpu_set_text(&settings[i].fact->cpus, list, sizeof list));
        }
    }
}

/* CPUs that a list of those which take interrupts leaves out. */
static iw_cpu_set left_out(const struct iwi_case *c, const struct iwi_cpu_fact *takers)
{
    return takers->is_known && !iw_cpu_set_is_empty(&takers->cpus)
               ? iw_cpu_set_without(&c->node->online.cpus, &takers->cpus)
               : (iw_cpu_set){{0}};
}

/* CPUs from which somebody keeps the interrupts of devices by name. */
static iw_cpu_set kept_free(const struct iwi_case *c)
{
    const iw_cpu_set by_parameter = left_out(c, &c->node->irq_parameter);
    const iw_cpu_set by_default = left_out(c, &c->node->irq_default);
    const iw_cpu_set either = iw_cpu_set_or(&by_parameter, &by_default);

    return iw_cpu_set_or(&either, &c->node->irqbalance_banned.cpus);
}

/* Of the CPUs that are to be quiet those that are set apart: an exclusive job gets the CPUs that take the
 * interrupts, too. */
static iw_cpu_set guarded(const struct iwi_case *c)
{
    const struct iwi_node_facts *node = c->node;
    iw_cpu_set cpus = kept_free(c);

    cpus = iw_cpu_set_or(&cpus, &node->isolated.cpus);
    cpus = iw_cpu_set_or(&cpus, &node->managed_irq.cpus);
    return iw_cpu_set_and(&cpus, &c->quiet);
}

/* Settings alone: one goes where it is kept from by name, and has come there. */
static bool is_sent_there(const struct iwi_case *c)
{
    const iw_cpu_set cpus = kept_free(c);

    for (size_t i = 0; c->seen->by == IWI_SEEN_BY_NONE && i < c->node->irq_count; i++) {
        const struct iwi_irq *irq = &c->node->irqs[i];

        if (is_offender(c, irq) && iw_cpu_set_is_within(&irq->target, &cpus)) {
            return true;
        }
    }
    return false;
}

static void judge_guarded(const struct iwi_case *c, iw_mitigation *m)
{
    const struct iwi_source_patterns devices = devices_of(c->node);
    const struct iwi_rate_check check = {true, &c->quiet, &devices, STRAY_HZ, DEVICE_HZ, false};
    const size_t offenders = count_offenders(c);

    iwi_conclude(c, &check, m);
    if (offenders > 0 && m->state != IW_MITIGATION_EFFECTIVE) {
        iwi_judge_say(m->evidence, "%s", m->evidence[0] != '\0' ? "; " : "");
        name_offenders(c, offenders, m);
        m->state = is_sent_there(c) ? IW_MITIGATION_CONTRADICTED : m->state;
        advise(c, offenders, m);
    } else if (m->state == IW_MITIGATION_CONFIGURED && c->node->irq_count > 0) {
        iwi_judge_say(m->evidence, "none of %zu interrupts goes to quiet CPUs", c->node->irq_count);
    } else if (m->state == IW_MITIGATION_CONTRADICTED) {
        advise(c, 0, m);
    }
}

static bool judge_irq_affinity(const struct iwi_case *c, const struct iwi_mitigation_ops *ops,
                               iw_mitigation *m)
{
    const struct iwi_rate_check open = {false, &c->looked_at, &ops->sources, STRAY_HZ, DEVICE_HZ, false};
    const iw_cpu_set cpus = guarded(c);

    say_setting(c->node, m);
    if (iw_cpu_set_is_empty(&cpus)) {
        iwi_conclude(c, &open, m);
        advise(c, count_offenders(c), m);
    } else {
        const struct iwi_case narrow = iwi_case_of(c, &cpus);

        judge_guarded(&narrow, m);
        iwi_say_outside(c, &cpus, m);
    }
    return true;
}

const struct iwi_mitigation_ops iwi_irq_affinity = {
    .name = "IRQ affinity",
    .removes = "device interrupts",
    .sources = {any_irq, vectors},
    .judge = judge_irq_affinity,
};

/* Where devices hand work, and whether the application is near them. */

static const double SOFTIRQ_HZ = 1.0;

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
        iwi_judge_say(m->setting, "no software steering");
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
    .removes = "packets for others, by receive packet steering",
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
    .removes = "completions of others' packets, by transmit packet steering",
    .sources = {send_sources, NULL},
    .advice = "write to /sys/class/net/*/queues/tx-*/xps_cpus masks of either quiet CPUs or others, and bind "
              "the interrupts of the others' queues to {rest}",
    .judge = judge_send_queues,
};

static const char *const block_sources[] = {"softirq/BLOCK", "irq/nvme*", "irq/virtio*-req*", NULL};
const struct iwi_mitigation_ops iwi_block_queues = {
    .name = "own drive queues",
    .removes = "disk accesses of other CPUs",
    .sources = {block_sources, NULL},
    .advice = "boot with isolcpus=managed_irq,domain,{quiet}, so that shared queues interrupt other CPUs; "
              "add queues (nvme.write_queues, nvme.poll_queues) to share fewer",
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
            iwi_judge_say(m->evidence, "%s%s %s is on NUMA node %ld, where the application has no CPU",
                          far > 0 ? "; " : "", device->is_network ? "network" : "accelerator", device->name,
                          device->numa_node);
            far++;
        }
    }
    iwi_judge_say(m->setting, "%zu of %zu GPUs and network cards are near", near, node->device_count);
    iwi_conclude_setting(m, near + far > 0, far == 0);
    m->is_felt = far > 0;
    if (near + far > 0 && unknown > 0) {
        iwi_judge_say(m->evidence, "%slocation of %zu unknown", far > 0 ? "; " : "", unknown);
    }
    return true;
}

const struct iwi_mitigation_ops iwi_near_devices = {
    .name = "near GPUs and NICs",
    .removes = "detours over other NUMA nodes",
    .advice = "bind ranks to CPUs near the device (lstopo shows them): srun --gpus-per-task with "
              "--gpu-bind=closest, --cpu-bind=map_cpu",
    .judge = judge_near_devices,
};

/* The kernel's watchdogs. */

/* The hard lockup detector comes every ten seconds of busy time. */
static const double NMI_ALLOWED_HZ = 1.0 / 60.0, NMI_LOUD_HZ = 0.1;

static bool judge_nmi_watchdog(const struct iwi_case *c, const struct iwi_mitigation_ops *ops,
                               iw_mitigation *m)
{
    const long value = c->node->nmi_watchdog;
    const struct iwi_rate_check check = {value == 0,     &c->looked_at, &ops->sources,
                                         NMI_ALLOWED_HZ, NMI_LOUD_HZ,   true};
    char parameter[IWI_NODE_TEXT_SIZE];

    if (value == IWI_NOT_TOLD) {
        iwi_conclude_setting(m, false, false);
        return true;
    }
    iwi_judge_say(m->setting, "kernel.nmi_watchdog=%ld", value);
    if (value != 0 && iwi_node_parameter(c->node, "nmi_watchdog", parameter, sizeof parameter) &&
        strcmp(parameter, "0") == 0) {
        m->state = IW_MITIGATION_CONTRADICTED;
        iwi_judge_say(m->evidence, "the command line says nmi_watchdog=0, but something turned it on");
        return true;
    }
    iwi_conclude(c, &check, m);
    if (m->state == IW_MITIGATION_CONTRADICTED) {
        iwi_judge_say(m->advice, "other users of NMIs: stop perf and profilers; look for machine checks "
                                 "(mcelog, rasdaemon) and for NMIs from a management controller");
    }
    return true;
}

static const char *const nmi[] = {"nmi/*", NULL};
const struct iwi_mitigation_ops iwi_nmi_watchdog = {
    .name = "NMI watchdog off",
    .removes = "NMIs",
    .sources = {nmi, NULL},
    .advice = "sysctl kernel.nmi_watchdog=0; to keep it, boot with nmi_watchdog=0",
    .judge = judge_nmi_watchdog,
};

static bool judge_soft_watchdog(const struct iwi_case *c, const struct iwi_mitigation_ops *ops,
                                iw_mitigation *m)
{
    const struct iwi_node_facts *node = c->node;
    const bool is_elsewhere = node->watchdog_cpus.is_known && !iw_cpu_set_is_empty(&c->quiet) &&
                              !iw_cpu_set_meets(&node->watchdog_cpus.cpus, &c->quiet);
    char cpus[IWI_CPUS_SIZE];

    (void)ops;
    iwi_conclude_setting(m, node->watchdog != IWI_NOT_TOLD, node->watchdog == 0 || is_elsewhere);
    if (node->watchdog != IWI_NOT_TOLD) {
        iwi_judge_say(m->setting, "kernel.watchdog=%ld", node->watchdog);
    }
    if (node->watchdog != 0 && is_elsewhere) {
        iwi_judge_say(m->setting, " on %s", iwi_cpus_text(&node->watchdog_cpus.cpus, cpus));
    }
    return true;
}

static const char *const watchdog_threads[] = {"thread/watchdog/*", NULL};
const struct iwi_mitigation_ops iwi_soft_watchdog = {
    .name = "soft watchdog off",
    .removes = "a timer and a thread every 4 s",
    .sources = {watchdog_threads, NULL},
    .advice = "sysctl kernel.watchdog_cpumask={rest} (or kernel.watchdog=0)",
    .judge = judge_soft_watchdog,
};

/* Each CPU looks for corrected errors after each interval, and more often once it has found some. */
static bool judge_machine_checks(const struct iwi_case *c, const struct iwi_mitigation_ops *ops,
                                 iw_mitigation *m)
{
    const struct iwi_node_facts *node = c->node;
    char parameter[IWI_NODE_TEXT_SIZE];
    const bool is_asked = iwi_node_parameter(node, "mce", parameter, sizeof parameter) &&
                          (strcmp(parameter, "ignore_ce") == 0 || strcmp(parameter, "off") == 0);

    (void)ops;
    if (node->mce_interval_s == IWI_NOT_TOLD) {
        return false;
    }
    iwi_judge_say(m->setting, "check_interval=%ld%s", node->mce_interval_s,
                  node->mce_ignores == 1 ? ", ignore_ce=1" : "");
    iwi_conclude_setting(m, true, node->mce_interval_s == 0 || node->mce_ignores == 1);
    if (strcmp(parameter, "ignore_ce") == 0 && is_asked && node->mce_ignores == 0 &&
        node->mce_interval_s > 0) {
        m->state = IW_MITIGATION_CONTRADICTED;
        iwi_judge_say(m->evidence, "the command line says mce=ignore_ce, but something turned it back");
    }
    return true;
}

const struct iwi_mitigation_ops iwi_machine_checks = {
    .name = "no MCE polls",
    .removes = "a timer on each CPU every five minutes",
    .advice =
        "boot with mce=ignore_ce, or echo 0 > /sys/devices/system/machinecheck/machinecheck0/check_interval; "
        "corrected memory errors then go unseen",
    .judge = judge_machine_checks,
};
