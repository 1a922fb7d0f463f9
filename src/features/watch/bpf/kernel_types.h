/* The members of kernel structs that the watching programs read; libbpf finds where they are on the running
 * kernel (CO-RE).
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_KERNEL_TYPES_H
#define IWI_KERNEL_TYPES_H

#include <linux/types.h>

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

#endif
