/* What the programs in the kernel and the watcher share: configuration, sources, one record a CPU.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Times are in ns of CLOCK_MONOTONIC. Only a CPU itself writes its record; others write its claims.
 */
#ifndef IWI_BPF_SHARED_H
#define IWI_BPF_SHARED_H

#include <linux/types.h>

/* ---- sources: the fixed ones, then those with names as they come ---- */

enum iwi_bpf_source {
    IWI_BPF_OTHER,   /* what found no room */
    IWI_BPF_STEAL,   /* the hypervisor */
    IWI_BPF_VECTORS, /* interrupts of the CPU itself, in the order of their numbers */
    IWI_BPF_SOFTIRQS = IWI_BPF_VECTORS + 32,
    IWI_BPF_SOFTIRQS_END = IWI_BPF_SOFTIRQS + 10,
    IWI_BPF_FIXED = IWI_BPF_SOFTIRQS_END,
    IWI_BPF_NAMED = 1024, /* room for threads and devices */
    IWI_BPF_SOURCES = IWI_BPF_FIXED + IWI_BPF_NAMED
};

/* x86: the first of these vectors, and that of the tick. */
enum { IWI_BPF_FIRST_VECTOR = 0xe0, IWI_BPF_TICK_VECTOR = 0xec };

enum { IWI_BPF_COMM_SIZE = 16, IWI_BPF_SLOTS = 40 };

/* A thread by its name, or an interrupt by its number. */
struct iwi_bpf_name {
    __u32 is_irq, irq;
    char comm[IWI_BPF_COMM_SIZE];
};

/* Slot k counts what took [2^k, 2^(k+1)) ns. */
struct iwi_bpf_sum {
    __u64 count, ns;
    __u64 slots[IWI_BPF_SLOTS];
};

/* ---- detours ---- */

/* One part for each source, in the order in which they first took time. The first is the hypervisor's, often
 * 0; the last one takes what finds no room. */
enum { IWI_BPF_PARTS = 17 };

/* Functions of a stack; how many stacks there is room for between two drainings. */
enum { IWI_BPF_STACK_DEPTH = 48, IWI_BPF_STACKS = 4096 };

struct iwi_bpf_part {
    __u64 ns;
    __u32 source, unused;
};

struct iwi_bpf_detour {
    __u64 start_ns, wanted_ns; /* wanted_ns: how long the CPU had been wanted when it began */
    __u64 duration_ns;
    __u32 cpu, part_count;
    __s32 stack,
        user_stack; /* of what the last tick in it met, by their numbers in the map; negative: none */
    __u32 pid;      /* of its process; 0: a kernel thread */
    __u32 stack_source, unused; /* that thread */
    __u32 is_waking; /* threads waited that had just been woken: no detour, and no time is wanted */
    struct iwi_bpf_part parts[IWI_BPF_PARTS];
};

/* ---- a CPU ---- */

enum iwi_bpf_base { IWI_BASE_UNKNOWN, IWI_BASE_IDLE, IWI_BASE_OTHER, IWI_BASE_JOB };
enum { IWI_BPF_DEPTH = 8 }; /* a power of two */

struct iwi_bpf_totals {
    __u64 wanted_ns, run_ns; /* run_ns: of threads of the job, interrupts that hit them included */
    __u64 wait_ns;           /* of threads of the job, ready but not running; all causes but quotas */
    __u64 wait_own_ns;       /* of these: while another thread of the job ran */
    __u64 wait_waking_ns;    /* of these: after being woken, while something else ran */
    __u64 throttled_ns;      /* stopped by a quota */
    __u64 slices, migrations;
    __u64 steal_unplaced_ns; /* taken by the hypervisor, but nobody knows from whom */
    __u64 nmi_count, nmi_ns;
    __u64 lost, lost_ns; /* detours that found the ring full */
    __u64 parts_joined;  /* sources of detours with too many of them */
    __u64 names_lost, threads_lost;
    __u64 switches_missed;
};

struct iwi_bpf_cpu {
    __u64 since;       /* the top of the stack runs since */
    __u64 clear_since; /* a thread of the job ran undisturbed since, before what is open now */
    __u32 base, depth;
    __u32 stack[IWI_BPF_DEPTH];
    __u32 is_open, is_throttled, is_ignored;
    __u32 pid; /* of the thread that runs, as far as seen */
    __u64 end; /* of the open detour */
    struct iwi_bpf_detour open;
    __u64 steal, steal_address;
    struct iwi_bpf_totals totals;
    struct iwi_bpf_sum all;                 /* whole detours */
    struct iwi_bpf_sum sums[IWI_BPF_FIXED]; /* their parts */
} __attribute__((aligned(64)));

struct iwi_bpf_waiting {
    __s64 count;
    __u64 since; /* count has been above 0 since */
    __u64 owed;  /* waited for in episodes that have ended, and not seen by the CPU yet */
};

/* Threads of the job that wait for a CPU; on a cache line of its own, because others write it. */
struct iwi_bpf_claim {
    struct iwi_bpf_waiting preempted, woken;
} __attribute__((aligned(64)));

/* ---- a thread of the job ---- */

enum iwi_bpf_state {
    IWI_THREAD_ASLEEP,
    IWI_THREAD_RUNS,
    IWI_THREAD_WAITS,
    IWI_THREAD_WOKEN, /* waits, and has not run since it slept */
    IWI_THREAD_THROTTLED
};

struct iwi_bpf_thread {
    __u64 since;
    __u32 state, cpu; /* cpu: whose claim it is while it waits */
};

/* ---- configuration, set before loading ---- */

enum iwi_bpf_job { IWI_JOB_PIDS, IWI_JOB_CGROUP, IWI_JOB_CGROUP_V1 };

struct iwi_bpf_config {
    __u64 threshold_ns; /* shorter detours go into the sums only */
    __u64 notable_ns;   /* waiting on waking that is shorter is not told */
    __u64 cgroup_id;
    __u32 cgroup_subsys; /* v1 */
    __u32 job;
    __u32 has_prev_state; /* sched_switch says it */
    __u32 wants_stacks;
};

#endif
