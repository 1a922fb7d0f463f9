/* Values of what is known of a node, in the words of people.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/base/attribute_text.h"

#include <stddef.h>
#include <string.h>

/* By the signature that CPUID gives. */
static const char *hypervisor_name(const char *signature)
{
    static const char *const names[][2] = {
        {"KVMKVMKVM", "KVM"},           {"Linux KVM Hv", "KVM"},     {"Microsoft Hv", "Hyper-V"},
        {"VMwareVMware", "VMware"},     {"XenVMMXenVMM", "Xen"},     {"TCGTCGTCGTCG", "QEMU"},
        {"VBoxVBoxVBox", "VirtualBox"}, {"prl hyperv", "Parallels"}, {" lrpepyh vr", "Parallels"},
        {"bhyve bhyve", "bhyve"},       {"ACRNACRNACRN", "ACRN"},    {"QNXQVMBSQG", "QNX"}};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(signature, names[i][0]) == 0) {
            return names[i][1];
        }
    }
    return signature;
}

const char *iwi_attribute_text(const char *name, const char *value)
{
    return strcmp(name, "hypervisor") == 0 ? hypervisor_name(value) : value;
}
