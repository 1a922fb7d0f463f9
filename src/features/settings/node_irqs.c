/* Reads where interrupts go: affinities, where they have come, and who moves them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "core/base/sysfile.h"
#include "features/settings/node.h"
#include "kit/machine/proc_counts.h"

enum { PATH_SIZE = 512, LIST_SIZE = 16384 };

struct irq_reader {
    const iw_log *log;
    const char *root;
    struct iwi_node_facts *node;
    iw_status status;
};

static void take_irq(void *arg, unsigned long number)
{
    struct irq_reader *reader = arg;
    struct iwi_node_facts *node = reader->node;
    struct iwi_cpu_fact target;
    void *irqs = node->irqs;
    char path[PATH_SIZE];

    snprintf(path, sizeof path, "/proc/irq/%lu/effective_affinity_list", number);
    iwi_read_cpu_list(reader->root, path, &target);
    if (!target.is_known || iw_cpu_set_is_empty(&target.cpus)) { /* not on all architectures */
        snprintf(path, sizeof path, "/proc/irq/%lu/smp_affinity_list", number);
        iwi_read_cpu_list(reader->root, path, &target);
    }
    if (!target.is_known || reader->status != IW_OK) {
        return;
    }
    reader->status =
        iwi_grow(reader->log, &irqs, &node->irq_capacity, node->irq_count + 1, sizeof *node->irqs);
    node->irqs = irqs;
    if (reader->status == IW_OK) {
        node->irqs[node->irq_count++] = (struct iwi_irq){.number = number, .target = target.cpus};
    }
}

IWI_COMPARE(by_number, struct iwi_irq, IWI_RISING(number))

/* "24 nvme0q1": the number and the name of a row of counts. */
static struct iwi_irq *find_irq(const struct iwi_node_facts *node, const char *row, const char **name_p)
{
    char *end;
    const struct iwi_irq key = {.number = strtoul(row, &end, 10)};

    if (end == row || *end != ' ') {
        return NULL;
    }
    *name_p = end + 1;
    return iwi_find(&key, node->irqs, node->irq_count, by_number);
}

static void take_counts(struct iwi_node_facts *node, const struct iwi_proc_counts *counts)
{
    for (size_t row = 0; row < counts->row_count; row++) {
        const char *name;
        struct iwi_irq *irq = find_irq(node, counts->names[row], &name);

        if (irq == NULL) {
            continue;
        }
        snprintf(irq->name, sizeof irq->name, "%s", name);
        for (size_t i = 0; i < counts->cpu_count; i++) {
            if (counts->counts[row * counts->cpu_count + i] > 0) {
                iw_cpu_set_add(&irq->counted, counts->cpus[i]);
            }
        }
    }
}

static iw_status read_counts(const iw_log *log, const char *root, struct iwi_node_facts *node)
{
    const size_t count = iw_cpu_set_count(&node->online.cpus);
    uint32_t *cpus = iwi_new_array(log, count, sizeof *cpus);
    struct iwi_proc_counts counts;
    iw_status status;
    size_t n = 0;

    if (cpus == NULL) {
        return IW_ERR_NOMEM;
    }
    for (uint32_t cpu = 0; n < count; cpu++) {
        if (iw_cpu_set_has(&node->online.cpus, cpu)) {
            cpus[n++] = cpu;
        }
    }
    status = iwi_proc_counts_read(log, root, cpus, count, &counts);
    if (status == IW_OK) {
        take_counts(node, &counts);
    }
    iwi_proc_counts_release(&counts);
    free(cpus);
    return status;
}

/* IRQBALANCE_BANNED_CPULIST=2-7, in quotes or not; the older IRQBALANCE_BANNED_CPUS has a mask. */
static void read_irqbalance(const char *root, struct iwi_node_facts *node)
{
    static const char *const files[] = {"/etc/default/irqbalance", "/etc/sysconfig/irqbalance"};
    char text[IWI_CMDLINE_SIZE], fault[IW_CPU_FAULT_SIZE];

    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        struct iwi_cpu_fact *banned = &node->irqbalance_banned;
        char *value = text;

        node->has_irqbalance |= iwi_sysfile_exists(root, files[i]);
        if (iwi_sysfile_value(root, files[i], "IRQBALANCE_BANNED_CPULIST", '=', text, sizeof text)) {
            value += text[0] == '"';
            value[strcspn(value, "\"")] = '\0';
            banned->is_known |= iw_cpu_set_parse(value, &banned->cpus, fault);
        } else if (iwi_sysfile_value(root, files[i], "IRQBALANCE_BANNED_CPUS", '=', text, sizeof text)) {
            value += text[0] == '"';
            value[strcspn(value, "\"")] = '\0';
            banned->is_known |= iw_cpu_set_parse_mask(value, &banned->cpus);
        }
    }
}

iw_status iwi_read_irqs(const iw_log *log, const char *root, struct iwi_node_facts *node)
{
    struct irq_reader reader = {log, root, node, IW_OK};
    char text[IWI_CMDLINE_SIZE];

    iwi_read_cpu_mask(root, "/proc/irq/default_smp_affinity", &node->irq_default);
    if (iwi_node_parameter(node, "irqaffinity", text, sizeof text)) {
        iwi_parse_parameter_cpus(node, text, &node->irq_parameter);
    }
    read_irqbalance(root, node);
    iwi_sysfile_each_number(root, "/proc/irq", take_irq, &reader);
    IW_TRY(reader.status);
    iwi_sort(node->irqs, node->irq_count, by_number);
    return read_counts(log, root, node);
}

/* Reads where devices hand work: packets, queues of drives, and which CPUs are near them. */

/* Classes of PCI devices, the upper byte or two (include/linux/pci_ids.h): network cards, InfiniBand too;
 * GPUs without a screen are 3D controllers, other displays or accelerators. What has a screen is mostly the
 * board's own. */
enum { PCI_NETWORK = 0x02, PCI_3D = 0x0302, PCI_DISPLAY_OTHER = 0x0380, PCI_ACCELERATOR = 0x1200 };

struct reader {
    const iw_log *log;
    const char *root;
    struct iwi_node_facts *node;
    char folder[PATH_SIZE]; /* that is being gone through */
    const char *device;
    iw_status status;
};

static void add_queue(struct reader *r, const iw_cpu_set *cpus, struct iwi_queues *queues)
{
    void *array = queues->cpus;

    r->status = r->status != IW_OK
                    ? r->status
                    : iwi_grow(r->log, &array, &queues->capacity, queues->count + 1, sizeof *queues->cpus);
    if (r->status == IW_OK) {
        queues->cpus = array;
        queues->cpus[queues->count++] = *cpus;
    }
}

/* ---- packets ---- */

static void take_receive_queue(struct reader *r, const struct iwi_cpu_fact *mask)
{
    struct iwi_node_facts *node = r->node;

    node->rps.is_known = true;
    if (!iw_cpu_set_is_empty(&mask->cpus)) {
        node->rps.cpus = iw_cpu_set_or(&node->rps.cpus, &mask->cpus);
        snprintf(node->rps_device, sizeof node->rps_device, "%.20s", r->device);
    }
}

/* rps_cpus and xps_cpus, which may be empty or missing: Documentation/networking/scaling.rst. */
static void take_queue(void *arg, const char *name)
{
    struct reader *r = arg;
    const bool is_sending = strncmp(name, "tx-", 3) == 0;
    struct iwi_cpu_fact mask;
    char path[PATH_SIZE];

    if ((!is_sending && strncmp(name, "rx-", 3) != 0) ||
        snprintf(path, sizeof path, "%s/%s/%s", r->folder, name, is_sending ? "xps_cpus" : "rps_cpus") >=
            (int)sizeof path) {
        return;
    }
    iwi_read_cpu_mask(r->root, path, &mask);
    if (!mask.is_known) {
        return;
    }
    if (!is_sending) {
        take_receive_queue(r, &mask);
    } else if (!iw_cpu_set_is_empty(&mask.cpus)) {
        add_queue(r, &mask.cpus, &r->node->send_queues);
    }
}

static void take_interface(void *arg, const char *name)
{
    struct reader *r = arg;

    struct iwi_queues *send_queues = &r->node->send_queues;
    const size_t before = send_queues->count;

    if (strcmp(name, "lo") != 0 &&
        snprintf(r->folder, sizeof r->folder, "/sys/class/net/%s/queues", name) < (int)sizeof r->folder) {
        r->device = name;
        iwi_sysfile_each(r->root, r->folder, take_queue, r);
    }
    if (send_queues->count == before + 1) { /* of a single queue there is no choice */
        send_queues->count = before;
    }
}

/* ---- queues of drives ---- */

/* "0, 1, 2": with blanks, unlike all other lists of CPUs (block/blk-mq-sysfs.c). */
static bool read_queue_cpus(const char *root, const char *path, iw_cpu_set *cpus)
{
    char text[LIST_SIZE], fault[IW_CPU_FAULT_SIZE];
    size_t used = 0;

    if (!iwi_sysfile_line(root, path, text, sizeof text)) {
        return false;
    }
    for (const char *at = text; *at != '\0'; at++) {
        if (*at != ' ') {
            text[used++] = *at;
        }
    }
    text[used] = '\0';
    return iw_cpu_set_parse(text, cpus, fault);
}

static void take_block_queue(void *arg, const char *name)
{
    struct reader *r = arg;
    char path[PATH_SIZE];
    iw_cpu_set cpus;

    if (snprintf(path, sizeof path, "%s/%s/cpu_list", r->folder, name) < (int)sizeof path &&
        read_queue_cpus(r->root, path, &cpus)) {
        add_queue(r, &cpus, &r->node->block_queues);
    }
}

/* What is no drive has a queue for all CPUs and no interrupts. */
static void take_drive(void *arg, const char *name)
{
    struct reader *r = arg;
    static const char *const virtual[] = {"loop", "ram", "zram", "dm-", "md"};

    for (size_t i = 0; i < sizeof virtual / sizeof virtual[0]; i++) {
        if (strncmp(name, virtual[i], strlen(virtual[i])) == 0) {
            return;
        }
    }
    if (snprintf(r->folder, sizeof r->folder, "/sys/block/%s/mq", name) < (int)sizeof r->folder) {
        iwi_sysfile_each(r->root, r->folder, take_block_queue, r);
    }
}

/* ---- NUMA ---- */

static bool is_device(long class_code, bool *is_network_p)
{
    *is_network_p = class_code >> 16 == PCI_NETWORK;
    return *is_network_p || class_code >> 8 == PCI_3D || class_code >> 8 == PCI_DISPLAY_OTHER ||
           class_code >> 8 == PCI_ACCELERATOR;
}

static void take_pci_device(void *arg, const char *name)
{
    const struct reader *r = arg;
    struct iwi_node_facts *node = r->node;
    struct iwi_device *device = &node->devices[node->device_count];
    struct iwi_cpu_fact near;
    char path[PATH_SIZE], text[32];

    if (node->device_count == IWI_MOST_DEVICES ||
        snprintf(path, sizeof path, "/sys/bus/pci/devices/%s/class", name) >= (int)sizeof path ||
        !iwi_sysfile_line(r->root, path, text, sizeof text)) {
        return;
    }
    *device = (struct iwi_device){.numa_node = -1};
    if (!is_device(strtol(text, NULL, 16), &device->is_network)) {
        return;
    }
    snprintf(device->name, sizeof device->name, "%.20s", name);
    snprintf(path, sizeof path, "/sys/bus/pci/devices/%.64s/numa_node", name);
    device->numa_node = iwi_read_number(r->root, path); /* "-1" is no number to it, which is the same */
    if (device->numa_node >= 0) {
        snprintf(path, sizeof path, "/sys/devices/system/node/node%ld/cpulist", device->numa_node);
        iwi_read_cpu_list(r->root, path, &near);
        device->near = near.cpus;
    }
    node->device_count++;
}

static void take_numa_node(void *arg, const char *name)
{
    const struct reader *r = arg;

    if (strncmp(name, "node", 4) == 0 && name[4] >= '0' && name[4] <= '9') {
        r->node->numa_node_count++;
    }
}

IWI_COMPARE(compare_devices, struct iwi_device, IWI_TEXT(name))

iw_status iwi_read_devices(const iw_log *log, const char *root, struct iwi_node_facts *node)
{
    struct reader r = {.log = log, .root = root, .node = node, .status = IW_OK};

    iwi_sysfile_each(root, "/sys/class/net", take_interface, &r);
    iwi_sysfile_each(root, "/sys/block", take_drive, &r);
    iwi_sysfile_each(root, "/sys/bus/pci/devices", take_pci_device, &r);
    iwi_sysfile_each(root, "/sys/devices/system/node", take_numa_node, &r);
    iwi_sort(node->devices, node->device_count, compare_devices);
    return r.status;
}
