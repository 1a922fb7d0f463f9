/* Maps, who belongs to the job, and who waits for which CPU. For watch.bpf.c alone.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_MEMBERS_H
#define IWI_MEMBERS_H

#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "features/watch/bpf/bpf_shared.h"

/* ---- members of kernel structs; libbpf finds where they are on the running kernel (CO-RE) ---- */

#define KERNEL __attribute__((preserve_access_index))

typedef _Bool bool;

struct rq {
    __u64 prev_steal_time_rq; /* where the kernel knows of a hypervisor */
} KERNEL;

struct cfs_rq {
    struct rq *rq;
    int throttle_count; /* with quotas */
} KERNEL;

struct sched_entity {
    struct cfs_rq *cfs_rq; /* with groups */
} KERNEL;

struct kernfs_node {
    __u64 id;
} KERNEL;

struct cgroup {
    int level;
    struct kernfs_node *kn;
    struct cgroup *ancestors[1]; /* from 6.1 on */
} KERNEL;

struct cgroup___by_id { /* before */
    __u64 ancestor_ids[1];
} KERNEL;

struct cgroup_subsys_state {
    struct cgroup *cgroup;
} KERNEL;

struct css_set {
    struct cgroup_subsys_state *subsys[1];
    struct cgroup *dfl_cgrp;
} KERNEL;

struct thread_info {
    __u32 cpu; /* from 5.16 on x86 */
} KERNEL;

struct task_struct {
    struct thread_info thread_info;
    __u32 flags;
    struct sched_entity se;
    int pid, tgid;
    struct css_set *cgroups;
    char comm[16];
    bool throttled; /* from 6.18 on: quotas stop threads one by one */
} KERNEL;

struct task_struct___with_cpu { /* before */
    __u32 cpu;
} KERNEL;

struct task_struct___state { /* 5.14 to 5.17: the tracepoint does not say it */
    __u32 __state;
} KERNEL;

struct task_struct___old_state {
    long state;
} KERNEL;

/* ---- reading them ---- */

/* The tick's softirqs and switches follow its exit: what is so close together is one detour. */
#define JOIN_NS 1500
#define KERNEL_THREAD 0x00200000 /* PF_KTHREAD */
#define DEAD 0x80                /* TASK_DEAD */

volatile const struct iwi_bpf_config config SEC(".rodata.config") = {0};

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct iwi_bpf_cpu);
} cpus SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct iwi_bpf_claim);
} claims SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 65536);
    __type(key, __u32);
    __type(value, struct iwi_bpf_thread);
} threads SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 16384);
    __type(key, __u32);
    __type(value, __u32);
} processes SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, IWI_BPF_NAMED);
    __type(key, struct iwi_bpf_name);
    __type(value, __u32);
} names SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, IWI_BPF_SOURCES);
    __type(key, __u32);
    __type(value, struct iwi_bpf_sum);
} sums SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_RINGBUF);
    __uint(max_entries, 4096);
} ring SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_STACK_TRACE);
    __uint(max_entries, 1);
    __uint(key_size, sizeof(__u32));
    __uint(value_size, IWI_BPF_STACK_DEPTH * sizeof(__u64));
} stacks SEC(".maps");

#define NO_LEVEL 0xffffffff
#define MOST_LEVELS 24
__u32 name_count = 0, job_level = NO_LEVEL;

/* Set when all programs are attached, one that comes before the others would see a wake-up without its
 * switch, and when the processes of the job are known. */
volatile __u32 is_watching SEC(".data.watching") = 0;

/* NULL as long as nothing is watched. */
static struct iwi_bpf_cpu *bpf_cpu_of(__u32 number)
{
    return is_watching != 0 ? bpf_map_lookup_elem(&cpus, &number) : NULL;
}

static struct iwi_bpf_claim *claim_of(__u32 number)
{
    return bpf_map_lookup_elem(&claims, &number);
}

/* ---- who belongs to the job ---- */

static __u64 ancestor_id(struct cgroup *group, __u32 level)
{
    struct cgroup *ancestor = NULL;
    __u64 id = 0;

    if (bpf_core_field_exists(group->ancestors)) {
        bpf_probe_read_kernel(&ancestor, sizeof ancestor,
                              (char *)group + bpf_core_field_offset(struct cgroup, ancestors) +
                                  level * sizeof ancestor);
        return BPF_CORE_READ(ancestor, kn, id);
    }
    bpf_probe_read_kernel(&id, sizeof id,
                          (char *)group + bpf_core_field_offset(struct cgroup___by_id, ancestor_ids) +
                              level * sizeof id);
    return id;
}

/* How deep the job's group lies is found with the first thread below it. A global function, as others below:
 * the verifier looks at it once, not at each call, and lets it take numbers only. */
__attribute__((noinline)) int is_below(__u64 address)
{
    struct cgroup *group = (void *)address;
    __u32 level = (__u32)BPF_CORE_READ(group, level);

    if (job_level != NO_LEVEL) {
        return level >= job_level && ancestor_id(group, job_level) == config.cgroup_id;
    }
    for (__u32 i = 0; i < MOST_LEVELS && i <= level; i++) {
        if (ancestor_id(group, i) == config.cgroup_id) {
            job_level = i;
            return 1;
        }
    }
    return 0;
}

static struct cgroup *group_v1(struct task_struct *task)
{
    struct css_set *set = BPF_CORE_READ(task, cgroups);
    struct cgroup_subsys_state *state = NULL;

    bpf_probe_read_kernel(&state, sizeof state,
                          (char *)set + bpf_core_field_offset(struct css_set, subsys) +
                              config.cgroup_subsys * sizeof state);
    return BPF_CORE_READ(state, cgroup);
}

static bool is_member(struct task_struct *task)
{
    __u32 tgid = (__u32)task->tgid;

    if (config.job == IWI_JOB_PIDS) {
        return bpf_map_lookup_elem(&processes, &tgid) != NULL;
    }
    return is_below((__u64)(config.job == IWI_JOB_CGROUP ? BPF_CORE_READ(task, cgroups, dfl_cgrp)
                                                         : group_v1(task))) != 0;
}

/* Its thread if it is of the job, which it stays as long as it lives. */
static struct iwi_bpf_thread *thread_of(struct task_struct *task, struct iwi_bpf_cpu *cpu)
{
    __u32 pid = (__u32)task->pid;
    struct iwi_bpf_thread *thread, fresh = {0};

    if (pid == 0 || (task->flags & KERNEL_THREAD) != 0) {
        return NULL;
    }
    thread = bpf_map_lookup_elem(&threads, &pid);
    if (thread != NULL || !is_member(task)) {
        return thread;
    }
    if (bpf_map_update_elem(&threads, &pid, &fresh, BPF_NOEXIST) != 0) {
        __sync_fetch_and_add(&cpu->totals.threads_lost, 1);
    }
    return bpf_map_lookup_elem(&threads, &pid);
}

/* ---- claims ---- */

static struct iwi_bpf_waiting *waiting_of(const struct iwi_bpf_thread *thread)
{
    struct iwi_bpf_claim *claim = claim_of(thread->cpu);

    if (claim == NULL) {
        return NULL;
    }
    return thread->state == IWI_THREAD_WOKEN ? &claim->woken : &claim->preempted;
}

static bool is_waiting(const struct iwi_bpf_thread *thread)
{
    return thread->state == IWI_THREAD_WAITS || thread->state == IWI_THREAD_WOKEN;
}

/* The thread waits, as its state says. */
static void post_claim(struct iwi_bpf_thread *thread, __u32 number, __u64 now)
{
    struct iwi_bpf_waiting *waiting;

    thread->cpu = number;
    waiting = waiting_of(thread);
    if (waiting != NULL && __sync_fetch_and_add(&waiting->count, 1) == 0) {
        waiting->since = now;
    }
}

/* What the CPU has not seen of the episode that ends is owed to it. */
static void drop_claim(struct iwi_bpf_thread *thread, __u64 now)
{
    struct iwi_bpf_waiting *waiting = waiting_of(thread);
    struct iwi_bpf_cpu *cpu = bpf_cpu_of(thread->cpu);
    __u64 from;

    if (waiting == NULL || cpu == NULL) {
        return;
    }
    from = waiting->since > cpu->since ? waiting->since : cpu->since;
    if (__sync_fetch_and_add(&waiting->count, -1) == 1 && now > from) {
        __sync_fetch_and_add(&waiting->owed, now - from);
    }
}

/* Whether the time that passes on the CPU has to be told: a thread of the job runs there or waits for it. */
static bool is_claimed(const struct iwi_bpf_cpu *cpu, const struct iwi_bpf_claim *claim)
{
    return cpu->base == IWI_BASE_JOB ||
           (cpu->base == IWI_BASE_OTHER && (claim->preempted.count > 0 || claim->preempted.owed > 0 ||
                                            claim->woken.count > 0 || claim->woken.owed > 0));
}

#endif
