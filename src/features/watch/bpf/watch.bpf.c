/* Runs in the kernel: finds the intervals in which a thread of the job wants a CPU and does not have it.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A CPU is wanted while a thread of the job runs on it, or waits for it after being preempted. Wanted time
 * that is not spent in the job's own threads is a detour; each ns of it belongs to what was innermost:
 * interrupt, softirq or thread. A CPU that is idle was not taken away, a thread that a quota stopped does not
 * want a CPU, and one that was woken finds what is under way.
 */
#include "features/watch/bpf/members.h"

/* ======== time passes on a CPU: it goes to what ran, and what ran is a detour or not ======== */

/* ---- sums ---- */

/* A function of its own for the verifier, as bpf_sum_part(): what is inlined is looked at once for each way
 * that leads to it, seven times in each of 17 parts. */
__attribute__((noinline)) int bpf_slot_of(__u64 ns)
{
    __u32 slot = 0;

    if (ns >> 32 != 0) {
        ns >>= 32;
        slot += 32;
    }
    if (ns >> 16 != 0) {
        ns >>= 16;
        slot += 16;
    }
    if (ns >> 8 != 0) {
        ns >>= 8;
        slot += 8;
    }
    if (ns >> 4 != 0) {
        ns >>= 4;
        slot += 4;
    }
    if (ns >> 2 != 0) {
        ns >>= 2;
        slot += 2;
    }
    slot += ns >> 1 != 0;
    return (int)(slot < IWI_BPF_SLOTS ? slot : IWI_BPF_SLOTS - 1);
}

static void add_own(struct iwi_bpf_sum *sum, __u64 ns)
{
    __u32 slot = (__u32)bpf_slot_of(ns);

    sum->count++;
    sum->ns += ns;
    if (slot < IWI_BPF_SLOTS) {
        sum->slots[slot]++;
    }
}

static void add_shared(struct iwi_bpf_sum *sum, __u64 ns)
{
    __u32 slot = (__u32)bpf_slot_of(ns);

    __sync_fetch_and_add(&sum->count, 1);
    __sync_fetch_and_add(&sum->ns, ns);
    if (slot < IWI_BPF_SLOTS) {
        __sync_fetch_and_add(&sum->slots[slot], 1);
    }
}

/* Number of a source with a name, in the order in which they come. */
static __u32 bpf_number_of(struct iwi_bpf_cpu *cpu, const struct iwi_bpf_name *name)
{
    __u32 *known = bpf_map_lookup_elem(&names, name), number;

    if (known != NULL) {
        return *known;
    }
    if (name_count >= IWI_BPF_NAMED) {
        cpu->totals.names_lost++;
        return IWI_BPF_OTHER;
    }
    number = IWI_BPF_FIXED + __sync_fetch_and_add(&name_count, 1);
    if (number >= IWI_BPF_SOURCES || bpf_map_update_elem(&names, name, &number, BPF_NOEXIST) != 0) {
        known = bpf_map_lookup_elem(&names, name); /* another CPU was faster */
        return known != NULL ? *known : IWI_BPF_OTHER;
    }
    return number;
}

/* ---- detours ---- */

__attribute__((noinline)) int bpf_sum_part(__u32 number, __u32 source, __u64 ns)
{
    struct iwi_bpf_cpu *cpu;
    struct iwi_bpf_sum *sum;

    if (source < IWI_BPF_FIXED) {
        cpu = bpf_cpu_of(number);
        if (cpu != NULL) {
            add_own(&cpu->sums[source], ns);
        }
        return 0;
    }
    sum = bpf_map_lookup_elem(&sums, &source);
    if (sum != NULL) {
        add_shared(sum, ns);
    }
    return 0;
}

/* The open detour has ended. */
__attribute__((noinline)) int bpf_emit(__u32 number)
{
    struct iwi_bpf_cpu *cpu = bpf_cpu_of(number);
    struct iwi_bpf_detour *detour;
    __u32 count;
    __u64 size;

    if (cpu == NULL) {
        return 0;
    }
    cpu->is_open = 0;
    cpu->clear_since = cpu->end > cpu->clear_since ? cpu->end : cpu->clear_since;
    detour = &cpu->open;
    detour->duration_ns = cpu->end - detour->start_ns;
    count = detour->part_count;
    if (count == 0 || count > IWI_BPF_PARTS) {
        return 0;
    }
    if (detour->is_waking == 0) {
        add_own(&cpu->all, detour->duration_ns);
    }
    for (__u32 i = 0; i < IWI_BPF_PARTS; i++) {
        if (i < count && detour->parts[i].ns > 0 && detour->is_waking == 0) {
            bpf_sum_part(number, detour->parts[i].source, detour->parts[i].ns);
        }
    }
    if (detour->duration_ns < (detour->is_waking != 0 ? config.notable_ns : config.threshold_ns)) {
        return 0;
    }
    size = sizeof *detour - (IWI_BPF_PARTS - count) * sizeof detour->parts[0];
    if (size <= sizeof *detour && bpf_ringbuf_output(&ring, detour, size, BPF_RB_NO_WAKEUP) != 0) {
        cpu->totals.lost++;
        cpu->totals.lost_ns += detour->duration_ns;
    }
    return 0;
}

static void bpf_open_detour(struct iwi_bpf_cpu *cpu, __u32 number, __u64 start)
{
    cpu->is_open = 1;
    cpu->open.start_ns = start;
    cpu->open.wanted_ns = cpu->totals.wanted_ns;
    cpu->open.cpu = number;
    cpu->open.part_count = 1;
    cpu->open.stack = cpu->open.user_stack = -1;
    cpu->open.pid = 0;
    cpu->open.parts[0].ns = 0;
    cpu->open.parts[0].source = IWI_BPF_STEAL;
}

/* Where a source's part of the open detour is, or is put. */
static __u32 bpf_part_of(struct iwi_bpf_cpu *cpu, __u32 source)
{
    __u32 count = cpu->open.part_count;

    for (__u32 i = 1; i < IWI_BPF_PARTS; i++) {
        if (i >= count) {
            cpu->open.parts[i].ns = 0;
            cpu->open.parts[i].source = source;
            cpu->open.part_count = i + 1;
            return i;
        }
        if (cpu->open.parts[i].source == source) {
            return i;
        }
    }
    cpu->totals.parts_joined++;
    cpu->open.parts[IWI_BPF_PARTS - 1].source = IWI_BPF_OTHER;
    return IWI_BPF_PARTS - 1;
}

/* [start, start + ns) was taken by `source`; a gap before it that is joined goes to it too. */
__attribute__((noinline)) int bpf_add_part(__u32 number, __u32 source, __u64 start, __u64 ns, __u32 is_waking)
{
    struct iwi_bpf_cpu *cpu = bpf_cpu_of(number);
    __u32 at;

    if (cpu == NULL) {
        return 0;
    }
    if (cpu->is_open != 0 && (start > cpu->end + JOIN_NS || cpu->open.is_waking != is_waking)) {
        bpf_emit(number);
    }
    if (cpu->is_open == 0) {
        bpf_open_detour(cpu, number, start);
        cpu->open.is_waking = is_waking;
        cpu->end = start;
    }
    if (start + ns <= cpu->end) {
        return 0; /* an interrupt came while this was computed, and has given the time away */
    }
    at = bpf_part_of(cpu, source);
    if (at < IWI_BPF_PARTS) {
        cpu->open.parts[at].ns += start + ns - cpu->end;
    }
    cpu->end = start + ns;
    return 0;
}

/* ---- time passes ---- */

static __u32 running_source(struct iwi_bpf_cpu *cpu)
{
    struct iwi_bpf_name name = {0};

    if (cpu->depth > 0) {
        return cpu->stack[(cpu->depth - 1) & (IWI_BPF_DEPTH - 1)];
    }
    bpf_get_current_comm(name.comm, sizeof name.comm);
    return bpf_number_of(cpu, &name);
}

static void pass_job(struct iwi_bpf_cpu *cpu, const struct iwi_bpf_claim *claim, __u32 number, __u64 since,
                     __u64 now)
{
    __u64 ns = now - since;
    __s64 waiting = claim->preempted.count + claim->woken.count;

    if (cpu->depth > 0) {
        bpf_add_part(number, running_source(cpu), since, ns, 0);
    } else {
        if (cpu->is_open != 0 && now > cpu->end + JOIN_NS) {
            bpf_emit(number);
        }
        if (waiting > 0) {
            cpu->totals.wait_own_ns += ns * (__u64)waiting;
        }
    }
    cpu->totals.wanted_ns += ns;
}

/* For how long of [since, now) threads waited: up to now, but for what is owed. */
static __u64 waited_ns(struct iwi_bpf_waiting *waiting, __u64 since, __u64 now)
{
    __u64 ns = waiting->owed > 0 ? __sync_lock_test_and_set(&waiting->owed, 0) : 0;

    if (waiting->count > 0) {
        __u64 from = waiting->since > since ? waiting->since : since;

        ns += now > from ? now - from : 0;
    }
    return ns < now - since ? ns : now - since;
}

/* Threads that were preempted want the CPU. What runs when a thread wakes began without it: that thread only
 * begins to want the CPU when it has run, or every burst would be met by all who wake in it, and by nobody
 * who sleeps (docs/decisions/0074-waiting-on-waking.md). */
static void pass_other(struct iwi_bpf_cpu *cpu, struct iwi_bpf_claim *claim, __u32 number, __u64 since,
                       __u64 now)
{
    __u64 woken = claim->woken.count > 1 ? (__u64)claim->woken.count : 1;
    __u64 ns = waited_ns(&claim->preempted, since, now);
    __u64 waking_ns = waited_ns(&claim->woken, since, now);
    __u32 source;

    if (cpu->is_throttled != 0 || ns + waking_ns == 0) {
        if (cpu->is_open != 0) {
            bpf_emit(number);
        }
        return;
    }
    source = running_source(cpu);
    cpu->totals.wait_waking_ns += waking_ns * woken;
    if (waking_ns > ns) {
        bpf_add_part(number, source, now - waking_ns, waking_ns - ns, 1);
    }
    if (ns > 0) {
        bpf_add_part(number, source, now - ns, ns, 0);
        cpu->totals.wanted_ns += ns;
    }
}

/* Gives the time since the last event to what ran. Softirqs can be interrupted anywhere: `since` only rises.
 */
__attribute__((noinline)) int bpf_settle(__u32 number, __u64 now)
{
    struct iwi_bpf_cpu *cpu = bpf_cpu_of(number);
    struct iwi_bpf_claim *claim = claim_of(number);
    __u64 since;

    if (cpu == NULL || claim == NULL || now <= cpu->since) {
        return 0;
    }
    since = cpu->since;
    cpu->since = now;
    if (cpu->is_ignored != 0) {
        return 0;
    }
    if (cpu->base == IWI_BASE_JOB) {
        pass_job(cpu, claim, number, since, now);
    } else if (cpu->base == IWI_BASE_OTHER) {
        pass_other(cpu, claim, number, since, now);
    } else {
        claim->preempted.owed = claim->woken.owed = 0; /* idle: being woken is no detour */
        if (cpu->is_open != 0) {
            bpf_emit(number);
        }
    }
    return 0;
}

/* ---- the hypervisor ---- */

/* The kernel learns at ticks and switches what was stolen before; it was most likely just before this
 * detour, because a CPU that comes back meets its late timer first. */
__attribute__((noinline)) int take_steal(__u32 number, __u64 now)
{
    struct iwi_bpf_cpu *cpu = bpf_cpu_of(number);
    __u64 stolen = 0, ns, room, start;

    if (cpu == NULL || cpu->steal_address == 0 ||
        bpf_probe_read_kernel(&stolen, sizeof stolen, (void *)cpu->steal_address) != 0) {
        return 0;
    }
    ns = stolen - cpu->steal;
    cpu->steal = stolen;
    if (ns == 0 || ns >> 40 != 0 || cpu->base != IWI_BASE_JOB) {
        return 0;
    }
    start = cpu->is_open != 0 ? cpu->open.start_ns : now;
    room = start > cpu->clear_since ? start - cpu->clear_since : 0;
    if (ns > room) {
        cpu->totals.steal_unplaced_ns += ns - room;
        ns = room;
    }
    if (ns == 0) {
        return 0;
    }
    if (cpu->is_open == 0) {
        bpf_open_detour(cpu, number, now);
        cpu->end = now;
    }
    cpu->open.start_ns -= ns;
    cpu->open.wanted_ns -= ns < cpu->open.wanted_ns ? ns : cpu->open.wanted_ns;
    cpu->open.parts[0].ns += ns;
    cpu->clear_since = cpu->open.start_ns;
    return 0;
}

static void find_steal(struct iwi_bpf_cpu *cpu, struct task_struct *task)
{
    struct rq *queue;

    if (cpu->steal_address != 0 || !bpf_core_field_exists(struct rq, prev_steal_time_rq) ||
        !bpf_core_field_exists(task->se.cfs_rq)) {
        return;
    }
    queue = BPF_CORE_READ(task, se.cfs_rq, rq);
    if (queue != NULL) {
        cpu->steal_address = (__u64)queue + bpf_core_field_offset(struct rq, prev_steal_time_rq);
        cpu->steal = BPF_CORE_READ(queue, prev_steal_time_rq);
    }
}

/* ======== events ======== */

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* ---- threads come and go ---- */

static void begins_to_run(struct iwi_bpf_cpu *cpu, struct iwi_bpf_thread *thread, __u64 now)
{
    if (is_waiting(thread)) {
        cpu->totals.wait_ns += now - thread->since;
        drop_claim(thread, now);
    } else if (thread->state == IWI_THREAD_THROTTLED) {
        cpu->totals.throttled_ns += now - thread->since;
    }
    thread->state = IWI_THREAD_RUNS;
    thread->since = now;
    cpu->is_throttled = 0;
    cpu->totals.slices++;
}

static bool is_throttled(struct task_struct *task)
{
    if (bpf_core_field_exists(task->throttled)) {
        return BPF_CORE_READ(task, throttled);
    }
    if (!bpf_core_field_exists(struct cfs_rq, throttle_count) || !bpf_core_field_exists(task->se.cfs_rq)) {
        return 0;
    }
    return BPF_CORE_READ(task, se.cfs_rq, throttle_count) > 0;
}

static void ends_to_run(struct iwi_bpf_cpu *cpu, struct iwi_bpf_thread *thread, struct task_struct *task,
                        __u32 number, bool is_ready, __u64 now)
{
    if (thread->state == IWI_THREAD_RUNS) {
        cpu->totals.run_ns += now - thread->since;
    }
    thread->since = now;
    if (!is_ready) {
        thread->state = IWI_THREAD_ASLEEP;
    } else if (is_throttled(task)) {
        thread->state = IWI_THREAD_THROTTLED;
        cpu->is_throttled = 1;
    } else {
        thread->state = IWI_THREAD_WAITS;
        post_claim(thread, number, now);
    }
}

static __u32 state_of(struct task_struct *task, const __u64 *args)
{
    struct task_struct___state *middle = (void *)task;
    struct task_struct___old_state *old = (void *)task;

    if (config.has_prev_state != 0) {
        return (__u32)args[3];
    }
    return bpf_core_field_exists(middle->__state) ? BPF_CORE_READ(middle, __state)
                                                  : (__u32)BPF_CORE_READ(old, state);
}

/* The switch to the thread that ran was not seen: it no longer waits, and its time is nobody's. */
static void miss_switch(struct iwi_bpf_cpu *cpu, struct iwi_bpf_thread *thread)
{
    __u64 now = bpf_ktime_get_ns();

    cpu->totals.switches_missed++;
    cpu->since = now;
    if (thread != NULL) {
        begins_to_run(cpu, thread, now);
    }
}

SEC("tp_btf/sched_switch")
int on_sched_switch(__u64 *args)
{
    struct task_struct *prev = (void *)args[1], *next = (void *)args[2];
    __u32 number = bpf_get_smp_processor_id(), state, next_base;
    struct iwi_bpf_cpu *cpu = bpf_cpu_of(number);
    struct iwi_bpf_claim *claim = claim_of(number);
    struct iwi_bpf_thread *from, *to;
    __u64 now;

    if (cpu == NULL || claim == NULL) {
        return 0;
    }
    from = thread_of(prev, cpu);
    if (cpu->base != IWI_BASE_UNKNOWN && cpu->pid != (__u32)prev->pid) {
        miss_switch(cpu, from);
    }
    to = thread_of(next, cpu);
    next_base = to != NULL ? IWI_BASE_JOB : next->pid == 0 ? IWI_BASE_IDLE : IWI_BASE_OTHER;
    if (from != NULL || to != NULL || is_claimed(cpu, claim) || cpu->is_open != 0) {
        now = bpf_ktime_get_ns();
        find_steal(cpu, prev);
        bpf_settle(number, now);
        if (from != NULL) {
            take_steal(number, now);
            state = state_of(prev, args);
            ends_to_run(cpu, from, prev, number, args[0] != 0 || state == 0, now);
        }
        if (to != NULL) {
            begins_to_run(cpu, to, now);
            if (from == NULL) {
                cpu->clear_since = now;
            }
            if (cpu->steal_address != 0) {
                bpf_probe_read_kernel(&cpu->steal, sizeof cpu->steal, (void *)cpu->steal_address);
            }
        }
        if (from != NULL && (state & DEAD) != 0) {
            __u32 pid = (__u32)prev->pid;

            bpf_map_delete_elem(&threads, &pid);
        }
    }
    cpu->base = next_base;
    cpu->pid = (__u32)next->pid;
    cpu->depth = 0;
    return 0;
}

static __u32 cpu_number(struct task_struct *task)
{
    struct task_struct___with_cpu *old = (void *)task;

    return bpf_core_field_exists(task->thread_info.cpu) ? BPF_CORE_READ(task, thread_info.cpu)
                                                        : BPF_CORE_READ(old, cpu);
}

static int wakes(struct task_struct *task)
{
    struct iwi_bpf_cpu *cpu = bpf_cpu_of(bpf_get_smp_processor_id());
    struct iwi_bpf_thread *thread = cpu != NULL ? thread_of(task, cpu) : NULL;
    __u64 now;

    /* also comes for threads that are not asleep yet */
    if (thread == NULL || thread->state != IWI_THREAD_ASLEEP) {
        return 0;
    }
    now = bpf_ktime_get_ns();
    thread->since = now;
    thread->state = IWI_THREAD_WOKEN;
    post_claim(thread, cpu_number(task), now);
    return 0;
}

SEC("tp_btf/sched_wakeup")
int on_sched_wakeup(__u64 *args)
{
    return wakes((void *)args[0]);
}

SEC("tp_btf/sched_wakeup_new")
int on_sched_wakeup_new(__u64 *args)
{
    return wakes((void *)args[0]);
}

SEC("tp_btf/sched_migrate_task")
int on_sched_migrate_task(__u64 *args)
{
    struct task_struct *task = (void *)args[0];
    __u32 pid = (__u32)task->pid;
    struct iwi_bpf_thread *thread = bpf_map_lookup_elem(&threads, &pid);
    struct iwi_bpf_cpu *cpu = bpf_cpu_of(bpf_get_smp_processor_id());
    __u64 now;

    if (thread == NULL || cpu == NULL) {
        return 0;
    }
    __sync_fetch_and_add(&cpu->totals.migrations, 1);
    if (is_waiting(thread)) {
        now = bpf_ktime_get_ns();
        drop_claim(thread, now);
        post_claim(thread, (__u32)args[1], now);
    }
    return 0;
}

SEC("tp_btf/sched_process_fork")
int on_sched_process_fork(__u64 *args)
{
    struct task_struct *parent = (void *)args[0], *child = (void *)args[1];
    __u32 from = (__u32)parent->tgid, to = (__u32)child->tgid, one = 1;

    if (config.job == IWI_JOB_PIDS && from != to && bpf_map_lookup_elem(&processes, &from) != NULL) {
        struct iwi_bpf_cpu *cpu = bpf_cpu_of(bpf_get_smp_processor_id());

        if (bpf_map_update_elem(&processes, &to, &one, BPF_ANY) != 0 && cpu != NULL) {
            __sync_fetch_and_add(&cpu->totals.threads_lost, 1);
        }
    }
    return 0;
}

/* The number may be used again from now on. */
SEC("tp_btf/sched_process_free")
int on_sched_process_free(__u64 *args)
{
    struct task_struct *task = (void *)args[0];
    __u32 pid = (__u32)task->pid;

    if (config.job == IWI_JOB_PIDS && task->pid == task->tgid) {
        bpf_map_delete_elem(&processes, &pid);
    }
    bpf_map_delete_elem(&threads, &pid);
    return 0;
}

/* ---- interrupts ---- */

/* A thread that ran when the programs were attached has not been switched since. Where a map was locked, and
 * the thread not found, the next interrupt tries again. */
static void learn_base(struct iwi_bpf_cpu *cpu)
{
    struct task_struct *task = (void *)bpf_get_current_task_btf();
    __u64 lost = cpu->totals.threads_lost;
    struct iwi_bpf_thread *thread = thread_of(task, cpu);
    __u64 now = bpf_ktime_get_ns();

    if (thread == NULL && cpu->totals.threads_lost != lost) {
        return;
    }

    cpu->pid = (__u32)task->pid;
    cpu->base = thread != NULL ? IWI_BASE_JOB : task->pid == 0 ? IWI_BASE_IDLE : IWI_BASE_OTHER;
    cpu->since = now;
    cpu->clear_since = now;
    find_steal(cpu, task);
    if (thread != NULL) {
        begins_to_run(cpu, thread, now);
    }
}

__attribute__((noinline)) int enter(__u32 source)
{
    __u32 number = bpf_get_smp_processor_id(), depth;
    struct iwi_bpf_cpu *cpu = bpf_cpu_of(number);
    struct iwi_bpf_claim *claim = claim_of(number);

    if (cpu == NULL || claim == NULL) {
        return 0;
    }
    if (cpu->base != IWI_BASE_UNKNOWN && cpu->pid != (__u32)bpf_get_current_pid_tgid()) {
        cpu->totals.switches_missed++;
        cpu->base = IWI_BASE_UNKNOWN;
    }
    if (cpu->base == IWI_BASE_UNKNOWN) {
        learn_base(cpu);
    }
    if (is_claimed(cpu, claim)) {
        bpf_settle(number, bpf_ktime_get_ns());
    }
    depth = cpu->depth;
    cpu->depth = depth + 1;
    cpu->stack[depth & (IWI_BPF_DEPTH - 1)] = source;
    return 0;
}

__attribute__((noinline)) int leave(__u32 is_tick)
{
    __u32 number = bpf_get_smp_processor_id();
    struct iwi_bpf_cpu *cpu = bpf_cpu_of(number);
    struct iwi_bpf_claim *claim = claim_of(number);
    __u64 now;

    if (cpu == NULL || claim == NULL || cpu->depth == 0) {
        return 0;
    }
    if (is_claimed(cpu, claim)) {
        now = bpf_ktime_get_ns();
        bpf_settle(number, now);
        if (is_tick != 0) {
            take_steal(number, now);
        }
    }
    cpu->depth--;
    return 0;
}

/* The tick came while another thread has the CPU that the job waits for: where it is. */
static void keep_stack(struct bpf_raw_tracepoint_args *context)
{
    struct iwi_bpf_cpu *cpu = bpf_cpu_of(bpf_get_smp_processor_id());
    struct iwi_bpf_name name = {0};
    struct task_struct *task;

    if (cpu == NULL || cpu->base != IWI_BASE_OTHER || cpu->is_open == 0) {
        return;
    }
    task = (void *)bpf_get_current_task_btf();
    bpf_get_current_comm(name.comm, sizeof name.comm);
    cpu->open.stack_source = bpf_number_of(cpu, &name);
    cpu->open.stack = (__s32)bpf_get_stackid(context, &stacks, 0);
    if ((task->flags & KERNEL_THREAD) == 0) {
        cpu->open.pid = (__u32)task->tgid;
        cpu->open.user_stack = (__s32)bpf_get_stackid(context, &stacks, BPF_F_USER_STACK);
    }
}

/* The same program for all vectors: attached by name to each tracepoint there is. */
SEC("raw_tp")
int on_vector_entry(struct bpf_raw_tracepoint_args *context)
{
    __u32 vector = (__u32)context->args[0] - IWI_BPF_FIRST_VECTOR;

    enter(vector < IWI_BPF_SOFTIRQS - IWI_BPF_VECTORS ? IWI_BPF_VECTORS + vector : IWI_BPF_OTHER);
    if (config.wants_stacks != 0 && vector == IWI_BPF_TICK_VECTOR - IWI_BPF_FIRST_VECTOR) {
        keep_stack(context);
    }
    return 0;
}

SEC("raw_tp")
int on_vector_exit(struct bpf_raw_tracepoint_args *context)
{
    return leave(context->args[0] == IWI_BPF_TICK_VECTOR);
}

SEC("tp_btf/irq_handler_entry")
int on_irq_handler_entry(__u64 *args)
{
    struct iwi_bpf_name name = {.is_irq = 1, .irq = (__u32)args[0]};
    struct iwi_bpf_cpu *cpu = bpf_cpu_of(bpf_get_smp_processor_id());

    return cpu != NULL ? enter(bpf_number_of(cpu, &name)) : 0;
}

SEC("tp_btf/irq_handler_exit")
int on_irq_handler_exit(void *context)
{
    return leave(0);
}

SEC("tp_btf/softirq_entry")
int on_softirq_entry(__u64 *args)
{
    __u32 source = IWI_BPF_SOFTIRQS + (__u32)args[0];

    return enter(source < IWI_BPF_SOFTIRQS_END ? source : IWI_BPF_OTHER);
}

SEC("tp_btf/softirq_exit")
int on_softirq_exit(void *context)
{
    return leave(0);
}

/* Comes at the end with the duration, from a context that interrupts everything: only counted. */
SEC("tp_btf/nmi_handler")
int on_nmi_handler(__u64 *args)
{
    struct iwi_bpf_cpu *cpu = bpf_cpu_of(bpf_get_smp_processor_id());

    if (cpu != NULL && cpu->base == IWI_BASE_JOB) {
        __sync_fetch_and_add(&cpu->totals.nmi_count, 1);
        __sync_fetch_and_add(&cpu->totals.nmi_ns, args[1]);
    }
    return 0;
}
