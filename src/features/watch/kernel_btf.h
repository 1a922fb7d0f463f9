/* What a kernel has, by its own description of its types (BTF).
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_KERNEL_BTF_H
#define IWI_KERNEL_BTF_H

struct btf;

/* The parameters of a tracepoint, without the first, which every one has; -1: there is no such tracepoint. */
int iwi_btf_parameters(const struct btf *kernel, const char *tracepoint);

/* Number of a controller among those of the kernel, for cgroup v1; -1: unknown. */
int iwi_btf_controller(const struct btf *kernel, const char *name);

/* The same of the kernel that runs. */
int iwi_kernel_controller(const char *name);

#endif
