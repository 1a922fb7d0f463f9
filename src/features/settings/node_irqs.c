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

enum { PATH_SIZE = 160 };

struct reader {
    const iw_log *log;
    const char *root;
    struct iwi_node_facts *node;
    iw_status status;
};

static void take_irq(void *arg, unsigned long number)
{
    struct reader *reader = arg;
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
    struct reader reader = {log, root, node, IW_OK};
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
