/* The kernel's side of watching: programs loaded, attached and fed; what this process may do.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/watch/kernel_side.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/sysfile.h"
#include "features/watch/detours.h"
#include "kit/machine/softirq_name.h"

/* ---- what this process may do ---- */

/* As linux/capability.h numbers them; headers of older systems lack the last two. */
enum { SYS_ADMIN = 21, PERFMON = 38, BPF = 39 };

bool iwi_capabilities_lacking(const char *root, char text[IWI_CAPABILITIES_SIZE])
{
    char value[32];
    uint64_t have;
    bool has_bpf, has_perfmon;

    if (!iwi_sysfile_value(root, "/proc/self/status", "CapEff", ':', value, sizeof value)) {
        return false;
    }
    have = strtoull(value, NULL, 16);
    if ((have >> SYS_ADMIN & 1) != 0) {
        return false;
    }
    has_bpf = (have >> BPF & 1) != 0;
    has_perfmon = (have >> PERFMON & 1) != 0;
    snprintf(text, IWI_CAPABILITIES_SIZE, "%s%s%s", has_bpf ? "" : "CAP_BPF",
             has_bpf || has_perfmon ? "" : " and ", has_perfmon ? "" : "CAP_PERFMON");
    return !has_bpf || !has_perfmon;
}

/* ---- types of the kernel ---- */

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

/* ---- maps ---- */

static iw_status map_memory(const iw_log *log, struct bpf_object *object, const char *name, size_t bytes,
                            const void **memory_p)
{
    const int map = bpf_object__find_map_fd_by_name(object, name);
    void *memory = mmap(NULL, bytes, PROT_READ, MAP_SHARED, map, 0);

    if (memory == MAP_FAILED) {
        return iwi_fail(log, IW_ERR_IO, "cannot read the map '%s': %s", name, strerror(errno));
    }
    *memory_p = memory;
    return IW_OK;
}

static size_t whole_pages(size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);

    return (bytes + page - 1) / page * page;
}

static int take_record(void *arg, void *data, size_t size)
{
    struct iwi_kernel_side *side = arg;
    const struct iwi_bpf_detour *detour = data;
    const size_t head = offsetof(struct iwi_bpf_detour, parts);

    if (size >= head && detour->part_count <= IWI_BPF_PARTS &&
        size >= head + detour->part_count * sizeof detour->parts[0]) {
        side->status = side->take(side->arg, detour);
    }
    return side->status == IW_OK ? 0 : -1;
}

/* To be closed also if it fails. IW_ERR_IO. */
static iw_status kernel_maps_open(const iw_log *log, struct iwi_kernel_side *side)
{
    const void *memory = NULL;

    side->cpus_bytes = whole_pages(side->cpu_count * sizeof *side->cpus);
    IW_TRY(map_memory(log, side->object, "cpus", side->cpus_bytes, &memory));
    side->cpus = memory;
    side->sums_bytes = whole_pages(IWI_BPF_SOURCES * sizeof *side->sums);
    IW_TRY(map_memory(log, side->object, "sums", side->sums_bytes, &memory));
    side->sums = memory;
    side->names = bpf_object__find_map_fd_by_name(side->object, "names");
    side->processes = bpf_object__find_map_fd_by_name(side->object, "processes");
    side->stacks = bpf_object__find_map_fd_by_name(side->object, "stacks");
    side->ring =
        ring_buffer__new(bpf_object__find_map_fd_by_name(side->object, "ring"), take_record, side, NULL);
    return side->ring != NULL
               ? IW_OK
               : iwi_fail(log, IW_ERR_IO, "cannot read the ring of detours: %s", strerror(errno));
}

static void kernel_maps_close(struct iwi_kernel_side *side)
{
    if (side->cpus != NULL) {
        (void)munmap((void *)(uintptr_t)side->cpus, side->cpus_bytes);
    }
    if (side->sums != NULL) {
        (void)munmap((void *)(uintptr_t)side->sums, side->sums_bytes);
    }
    ring_buffer__free(side->ring);
}

iw_status iwi_kernel_side_drain(struct iwi_kernel_side *side, iwi_on_detour take, void *arg)
{
    side->take = take;
    side->arg = arg;
    side->status = IW_OK;
    (void)ring_buffer__consume(side->ring);
    return side->status;
}

iw_status iwi_kernel_side_add(const iw_log *log, const struct iwi_kernel_side *side, __u32 pid)
{
    const __u32 one = 1;

    return bpf_map_update_elem(side->processes, &pid, &one, BPF_ANY) == 0
               ? IW_OK
               : iwi_fail(log, IW_ERR_IO, "cannot watch process %" PRIu32 ": %s", pid, strerror(errno));
}

bool iwi_kernel_side_has_processes(const struct iwi_kernel_side *side)
{
    __u32 pid;

    return bpf_map_get_next_key(side->processes, NULL, &pid) == 0;
}

iw_status iwi_kernel_side_each_name(const struct iwi_kernel_side *side, iwi_on_name take, void *arg)
{
    struct iwi_bpf_name name, *before = NULL, last;
    __u32 number;

    while (bpf_map_get_next_key(side->names, before, &name) == 0) {
        if (bpf_map_lookup_elem(side->names, &name, &number) == 0) {
            IW_TRY(take(arg, &name, number));
        }
        last = name;
        before = &last;
    }
    return IW_OK;
}

bool iwi_kernel_side_stack(const struct iwi_kernel_side *side, __s32 stack,
                           uint64_t addresses[IWI_BPF_STACK_DEPTH])
{
    const __u32 number = (__u32)stack;

    memset(addresses, 0, IWI_BPF_STACK_DEPTH * sizeof *addresses);
    return stack >= 0 && bpf_map_lookup_elem(side->stacks, &number, addresses) == 0;
}

void iwi_kernel_side_forget_stacks(const struct iwi_kernel_side *side)
{
    __u32 number, next;
    const __u32 *at = NULL;

    while (bpf_map_get_next_key(side->stacks, at, &next) == 0) {
        if (at != NULL) {
            (void)bpf_map_delete_elem(side->stacks, &number);
        }
        number = next;
        at = &number;
    }
    if (at != NULL) {
        (void)bpf_map_delete_elem(side->stacks, &number);
    }
}

__u64 iwi_kernel_side_skipped(const struct iwi_kernel_side *side)
{
    struct bpf_program *program;
    __u64 skipped = 0;

    bpf_object__for_each_program(program, side->object)
    {
        struct bpf_prog_info info = {0};
        __u32 size = sizeof info;

        if (bpf_program__autoload(program) &&
            bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size) == 0) {
            skipped += info.recursion_misses;
        }
    }
    return skipped;
}

/* ---- programs ---- */

static const char PREFIX[] = "tp_btf/";

/* Leaves out what this kernel lacks; without switches nothing can be said. */
static iw_status choose_programs(const iw_log *log, struct bpf_object *object, const struct btf *kernel,
                                 struct iwi_bpf_config *config)
{
    enum { WITH_PREV_STATE = 4 };
    const int of_switch = iwi_btf_parameters(kernel, "sched_switch");
    struct bpf_program *program;

    if (of_switch < 0) {
        return iwi_fail(log, IW_ERR_UNSUPPORTED, "this kernel does not report switches between threads");
    }
    config->has_prev_state = of_switch >= WITH_PREV_STATE;
    bpf_object__for_each_program(program, object)
    {
        const char *section = bpf_program__section_name(program);

        if (strncmp(section, PREFIX, sizeof PREFIX - 1) == 0 &&
            iwi_btf_parameters(kernel, section + sizeof PREFIX - 1) < 0) {
            (void)bpf_program__set_autoload(program, false);
        }
    }
    return IW_OK;
}

static iw_status resize(const iw_log *log, struct bpf_object *object, const char *name, size_t count)
{
    struct bpf_map *map = bpf_object__find_map_by_name(object, name);

    return map != NULL && bpf_map__set_max_entries(map, (__u32)count) == 0
               ? IW_OK
               : iwi_fail(log, IW_ERR_IO, "the watching programs have no map '%s'", name);
}

/* Before loading: sizes, and the configuration as constants, which the verifier sees. */
static iw_status configure(const iw_log *log, struct iwi_kernel_side *side, size_t ring_bytes,
                           const struct iwi_bpf_config *config)
{
    struct bpf_map *constants = bpf_object__find_map_by_name(side->object, ".rodata.config");

    IW_TRY(resize(log, side->object, "cpus", side->cpu_count));
    IW_TRY(resize(log, side->object, "claims", side->cpu_count));
    IW_TRY(resize(log, side->object, "ring", ring_bytes));
    IW_TRY(resize(log, side->object, "stacks", config->wants_stacks != 0 ? IWI_BPF_STACKS : 1));
    return constants != NULL && bpf_map__set_initial_value(constants, config, sizeof *config) == 0
               ? IW_OK
               : iwi_fail(log, IW_ERR_IO, "cannot configure the watching programs");
}

static iw_status keep_link(const iw_log *log, struct iwi_kernel_side *side, struct bpf_link *link,
                           const char *name)
{
    if (link == NULL || side->link_count == IWI_KERNEL_LINKS) {
        return iwi_fail(log, IW_ERR_IO, "cannot watch '%s': %s", name, strerror(errno));
    }
    side->links[side->link_count++] = link;
    return IW_OK;
}

/* ---- vectors of interrupts ---- */

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

/* One program for the entries of all vectors that this kernel tells of, one for the exits. */
static iw_status attach_vectors(const iw_log *log, struct iwi_kernel_side *side, const struct btf *kernel)
{
    static const char *const ends[] = {"entry", "exit"};

    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        for (size_t end = 0; vectors[i] != NULL && end < 2; end++) {
            char tracepoint[64], program[64];

            snprintf(tracepoint, sizeof tracepoint, "%s_%s", vectors[i], ends[end]);
            snprintf(program, sizeof program, "on_vector_%s", ends[end]);
            if (iwi_btf_parameters(kernel, tracepoint) > 0) {
                IW_TRY(keep_link(log, side,
                                 bpf_program__attach_raw_tracepoint(
                                     bpf_object__find_program_by_name(side->object, program), tracepoint),
                                 tracepoint));
            }
        }
    }
    return IW_OK;
}

static iw_status attach(const iw_log *log, struct iwi_kernel_side *side, const struct btf *kernel)
{
    struct bpf_program *program;

    bpf_object__for_each_program(program, side->object)
    {
        const char *section = bpf_program__section_name(program);

        if (bpf_program__autoload(program) && strncmp(section, PREFIX, sizeof PREFIX - 1) == 0) {
            IW_TRY(keep_link(log, side, bpf_program__attach(program), section));
        }
    }
    return attach_vectors(log, side, kernel);
}

static iw_status set_watching(const struct iwi_kernel_side *side, __u32 is_watching)
{
    const int map = bpf_object__find_map_fd_by_name(side->object, ".data.watching");
    const __u32 first = 0;

    return map >= 0 && bpf_map_update_elem(map, &first, &is_watching, BPF_ANY) == 0 ? IW_OK : IW_ERR_IO;
}

/* libbpf's own words go nowhere: what matters of them is said here. */
static int keep_silent(enum libbpf_print_level level, const char *format, va_list args)
{
    (void)level;
    (void)format;
    (void)args;
    return 0;
}

static iw_status load(const iw_log *log, struct iwi_kernel_side *side)
{
    char lacking[IWI_CAPABILITIES_SIZE];
    const int error = -bpf_object__load(side->object);

    if (error == 0) {
        return IW_OK;
    }
    if (iwi_capabilities_lacking("", lacking)) {
        return iwi_fail(log, IW_ERR_IO,
                        "watching needs %s: run as root, or grant them to a service ('setpriv', systemd's "
                        "'AmbientCapabilities=CAP_BPF CAP_PERFMON')",
                        lacking);
    }
    return iwi_fail(log, IW_ERR_UNSUPPORTED, "the kernel rejects the watching programs: %s", strerror(error));
}

static iw_status open_object(const iw_log *log, const struct btf *kernel, struct iwi_bpf_config *config,
                             size_t ring_bytes, struct iwi_kernel_side *side)
{
    const struct bpf_object_open_opts opts = {.sz = sizeof opts, .object_name = "idlewave_watch"};
    const size_t size = (uintptr_t)iwi_watch_object_end - (uintptr_t)iwi_watch_object;

    side->object = bpf_object__open_mem(iwi_watch_object, size, &opts);
    if (side->object == NULL) {
        return iwi_fail(log, IW_ERR_IO, "cannot open the watching programs: %s", strerror(errno));
    }
    IW_TRY(choose_programs(log, side->object, kernel, config));
    return configure(log, side, ring_bytes, config);
}

/* Before anything is attached: the records of CPUs that do not count say so. */
static iw_status ignore_others(const iw_log *log, const struct iwi_kernel_side *side,
                               const iw_cpu_set *watched)
{
    const int map = bpf_object__find_map_fd_by_name(side->object, "cpus");
    struct iwi_bpf_cpu *ignored = aligned_alloc(_Alignof(struct iwi_bpf_cpu), sizeof *ignored);
    iw_status status = ignored != NULL ? IW_OK : iwi_fail(log, IW_ERR_NOMEM, "out of memory");

    if (ignored != NULL) {
        memset(ignored, 0, sizeof *ignored);
        ignored->is_ignored = 1;
    }
    for (__u32 cpu = 0; status == IW_OK && cpu < side->cpu_count; cpu++) {
        if (!iw_cpu_set_has(watched, cpu) && bpf_map_update_elem(map, &cpu, ignored, BPF_ANY) != 0) {
            status = iwi_fail(log, IW_ERR_IO, "cannot exclude CPU %" PRIu32 ": %s", cpu, strerror(errno));
        }
    }
    free(ignored);
    return status;
}

iw_status iwi_kernel_side_open(const iw_log *log, struct iwi_bpf_config *config, const iw_cpu_set *watched,
                               size_t ring_bytes, struct iwi_kernel_side *side)
{
    const int cpu_count = libbpf_num_possible_cpus();
    libbpf_print_fn_t before = libbpf_set_print(keep_silent);
    struct btf *kernel = btf__load_vmlinux_btf();
    iw_status status;

    *side = (struct iwi_kernel_side){.cpu_count = cpu_count > 0 ? (size_t)cpu_count : 1};
    status = kernel != NULL ? open_object(log, kernel, config, ring_bytes, side)
                            : iwi_fail(log, IW_ERR_UNSUPPORTED,
                                       "this kernel lacks type information (/sys/kernel/btf/vmlinux): "
                                       "watching needs Linux 5.8 or newer with CONFIG_DEBUG_INFO_BTF");
    if (status == IW_OK) {
        status = load(log, side);
    }
    if (status == IW_OK) {
        status = kernel_maps_open(log, side);
    }
    if (status == IW_OK) {
        status = ignore_others(log, side, watched);
    }
    if (status == IW_OK) {
        status = attach(log, side, kernel);
    }
    btf__free(kernel);
    (void)libbpf_set_print(before);
    return status;
}

iw_status iwi_kernel_side_start(const iw_log *log, const struct iwi_kernel_side *side)
{
    return set_watching(side, 1) == IW_OK
               ? IW_OK
               : iwi_fail(log, IW_ERR_IO, "cannot start the watching programs: %s", strerror(errno));
}

void iwi_kernel_side_detach(struct iwi_kernel_side *side)
{
    if (side->link_count > 0) {
        (void)set_watching(side, 0); /* all at once */
    }
    while (side->link_count > 0) {
        (void)bpf_link__destroy(side->links[--side->link_count]);
    }
}

void iwi_kernel_side_close(struct iwi_kernel_side *side)
{
    iwi_kernel_side_detach(side);
    kernel_maps_close(side);
    bpf_object__close(side->object);
    *side = (struct iwi_kernel_side){.object = NULL};
}
