/* Names sources as `record` does, so that recordings of both can be compared.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/watch/source_names.h"

#include <stdio.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/sysfile.h"
#include "kit/machine/softirq_name.h"

/* As tracepoints call them; arch/x86/include/asm/irq_vectors.h has the numbers. */
static const char *const vectors[] = {
    [0xec] = "local_timer",          [0xf4] = "deferred_error_apic", [0xf6] = "irq_work",
    [0xf7] = "x86_platform_ipi",     [0xf9] = "threshold_apic",      [0xfa] = "thermal_apic",
    [0xfb] = "call_function_single", [0xfc] = "call_function",       [0xfd] = "reschedule",
    [0xfe] = "error_apic",           [0xff] = "spurious_apic",
};

_Static_assert(sizeof vectors / sizeof vectors[0] ==
                   IWI_BPF_FIRST_VECTOR + IWI_BPF_SOFTIRQS - IWI_BPF_VECTORS,
               "one place each");

void iwi_fixed_source(uint32_t number, iw_source *source)
{
    const uint32_t vector = number - IWI_BPF_VECTORS + IWI_BPF_FIRST_VECTOR;

    if (number >= IWI_BPF_SOFTIRQS) {
        source->kind = IW_CLASS_SOFTIRQ;
        iwi_softirq_name((int64_t)number - IWI_BPF_SOFTIRQS, source->name, sizeof source->name);
    } else if (number < IWI_BPF_VECTORS) {
        source->kind = IW_CLASS_HARDWARE;
        snprintf(source->name, sizeof source->name, "steal");
    } else {
        source->kind = IW_CLASS_IRQ;
        if (vectors[vector] != NULL) {
            snprintf(source->name, sizeof source->name, "%s", vectors[vector]);
        } else {
            snprintf(source->name, sizeof source->name, "vector %" PRIu32, vector);
        }
    }
}

const char *iwi_vector_name(size_t index)
{
    size_t found = 0;

    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        if (vectors[i] != NULL && found++ == index) {
            return vectors[i];
        }
    }
    return NULL;
}

void iwi_named_source(const struct iwi_bpf_name *name, iw_source *source)
{
    char path[64];

    if (name->is_irq == 0) {
        source->kind = IW_CLASS_THREAD;
        snprintf(source->name, sizeof source->name, "%.*s", (int)sizeof name->comm, name->comm);
        return;
    }
    source->kind = IW_CLASS_IRQ;
    snprintf(path, sizeof path, "/sys/kernel/irq/%" PRIu32 "/actions", name->irq);
    if (!iwi_sysfile_line("", path, source->name, sizeof source->name) || source->name[0] == '\0') {
        snprintf(source->name, sizeof source->name, "irq %" PRIu32, name->irq);
    }
}
