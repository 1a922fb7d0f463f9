/* Looks into the kernel's description of its types.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/watch/kernel_btf.h"

#include <stdio.h>
#include <string.h>

#include <bpf/btf.h>

int iwi_btf_parameters(const struct btf *kernel, const char *tracepoint)
{
    const struct btf_type *type;
    char name[128];
    int id;

    snprintf(name, sizeof name, "btf_trace_%s", tracepoint);
    id = btf__find_by_name_kind(kernel, name, BTF_KIND_TYPEDEF);
    type = id >= 0 ? btf__type_by_id(kernel, (__u32)id) : NULL;
    type = type != NULL ? btf__type_by_id(kernel, type->type) : NULL;
    type = type != NULL && btf_is_ptr(type) ? btf__type_by_id(kernel, type->type) : NULL;
    return type != NULL && btf_is_func_proto(type) ? (int)btf_vlen(type) - 1 : -1;
}

int iwi_btf_controller(const struct btf *kernel, const char *name)
{
    const int id = btf__find_by_name_kind(kernel, "cgroup_subsys_id", BTF_KIND_ENUM);
    const struct btf_type *type = id >= 0 ? btf__type_by_id(kernel, (__u32)id) : NULL;
    char wanted[64];
    int number = -1;

    snprintf(wanted, sizeof wanted, "%s_cgrp_id", name);
    for (unsigned i = 0; type != NULL && i < btf_vlen(type); i++) {
        const struct btf_enum *value = &btf_enum(type)[i];

        if (strcmp(btf__name_by_offset(kernel, value->name_off), wanted) == 0) {
            number = value->val;
        }
    }
    return number;
}

int iwi_kernel_controller(const char *name)
{
    struct btf *kernel = btf__load_vmlinux_btf();
    const int number = kernel != NULL ? iwi_btf_controller(kernel, name) : -1;

    btf__free(kernel);
    return number;
}
