/* Reads the maps of the watching programs, and tells them of processes.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/watch/kernel_maps.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "core/base/base.h"

static iw_status map_memory(const iw_log *log, struct bpf_object *object, const char *name, size_t bytes,
                            const void **memory_p)
{
    const int map = bpf_object__find_map_fd_by_name(object, name);
    void *memory = mmap(NULL, bytes, PROT_READ, MAP_SHARED, map, 0);

    if (memory == MAP_FAILED) {
        return iwi_fail(log, IW_ERR_IO, "the map '%s' cannot be read: %s", name, strerror(errno));
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

iw_status iwi_kernel_maps_open(const iw_log *log, struct iwi_kernel_side *side)
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
               : iwi_fail(log, IW_ERR_IO, "the ring of detours cannot be read: %s", strerror(errno));
}

void iwi_kernel_maps_close(struct iwi_kernel_side *side)
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
               : iwi_fail(log, IW_ERR_IO, "process %" PRIu32 " cannot be watched: %s", pid, strerror(errno));
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
