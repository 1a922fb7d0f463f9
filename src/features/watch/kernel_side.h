/* The programs in the kernel: loaded, attached, and their maps.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_KERNEL_SIDE_H
#define IWI_KERNEL_SIDE_H

#include <idlewave/log.h>
#include <idlewave/noise.h>
#include <idlewave/recording.h>

#include <stdbool.h>
#include <stddef.h>

#include "features/watch/bpf/bpf_shared.h"

struct bpf_object;
struct bpf_link;
struct ring_buffer;

enum { IWI_KERNEL_LINKS = 64 };

/* Called for each detour of the ring; not IW_OK ends the draining. */
typedef iw_status (*iwi_on_detour)(void *arg, const struct iwi_bpf_detour *detour);

struct iwi_kernel_side {
    struct bpf_object *object;
    size_t cpu_count; /* all numbers that CPUs can have */
    /* Mapped: read while the kernel writes. */
    const struct iwi_bpf_cpu *cpus;
    const struct iwi_bpf_sum *sums;
    size_t cpus_bytes, sums_bytes;
    int names, processes, stacks; /* maps */
    struct bpf_link *links[IWI_KERNEL_LINKS];
    size_t link_count;
    struct ring_buffer *ring;
    iwi_on_detour take; /* while it is drained */
    void *arg;
    iw_status status;
};

/* Loads and attaches; `config->has_prev_state` is filled in. Of CPUs that are not in `watched` nothing is
 * told. IW_ERR_IO, IW_ERR_UNSUPPORTED: with what is missing. To be closed also if it fails; must stay where
 * it is. */
IW_NODISCARD iw_status iwi_kernel_side_open(const iw_log *log, struct iwi_bpf_config *config,
                                            const iw_cpu_set *watched, size_t ring_bytes,
                                            struct iwi_kernel_side *side);

/* Sees from now on. All processes of the job have been added: a thread that is taken for another one's stays
 * that until it is switched, and one that spins alone on its CPU is never switched. */
IW_NODISCARD iw_status iwi_kernel_side_start(const iw_log *log, const struct iwi_kernel_side *side);

/* Sees nothing more from now on; what is in the maps stays. */
void iwi_kernel_side_detach(struct iwi_kernel_side *side);
void iwi_kernel_side_close(struct iwi_kernel_side *side);

IW_NODISCARD iw_status iwi_kernel_side_drain(struct iwi_kernel_side *side, iwi_on_detour take, void *arg);

/* The sources that have names. */
typedef iw_status (*iwi_on_name)(void *arg, const struct iwi_bpf_name *name, __u32 number);
IW_NODISCARD iw_status iwi_kernel_side_each_name(const struct iwi_kernel_side *side, iwi_on_name take,
                                                 void *arg);

/* A process becomes part of the job, and what it forks. */
IW_NODISCARD iw_status iwi_kernel_side_add(const iw_log *log, const struct iwi_kernel_side *side, __u32 pid);

/* Whether any process of the job lives. */
bool iwi_kernel_side_has_processes(const struct iwi_kernel_side *side);

/* The functions of a detour's stack, 0 behind the last; false: it has none. */
bool iwi_kernel_side_stack(const struct iwi_kernel_side *side, __s32 stack,
                           uint64_t addresses[IWI_BPF_STACK_DEPTH]);

/* Makes room for others. */
void iwi_kernel_side_forget_stacks(const struct iwi_kernel_side *side);

/* Calls that came while the same program ran on that CPU, and were not made. */
__u64 iwi_kernel_side_skipped(const struct iwi_kernel_side *side);

/* ---- which of the rights that watching needs this process lacks ---- */

enum { IWI_CAPABILITIES_SIZE = 64 };

/* "CAP_BPF and CAP_PERFMON"; false: none, as far as /proc tells. */
bool iwi_capabilities_lacking(const char *root, char text[IWI_CAPABILITIES_SIZE]);

/* ---- what a kernel has, by its own description of its types (BTF) ---- */

struct btf;

/* The parameters of a tracepoint, without the first, which every one has; -1: there is no such tracepoint. */
int iwi_btf_parameters(const struct btf *kernel, const char *tracepoint);

/* Number of a controller among those of the kernel, for cgroup v1; -1: unknown. */
int iwi_btf_controller(const struct btf *kernel, const char *name);

/* The same of the kernel that runs. */
int iwi_kernel_controller(const char *name);

/* The name, as recordings have it, of a source below IWI_BPF_FIXED, but not of IWI_BPF_OTHER. */
void iwi_fixed_source(uint32_t number, iw_source *source);

/* The watching programs, compiled for the kernel and embedded when idlewave is built. */
extern const unsigned char iwi_watch_object[], iwi_watch_object_end[];

#endif
