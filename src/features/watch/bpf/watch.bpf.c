/* Runs in the kernel: finds the intervals in which a thread of the job wants a CPU and does not have it.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A CPU is wanted while a thread of the job runs on it, or waits for it after being preempted. Wanted time
 * that is not spent in the job's own threads is a detour; each ns of it belongs to what was innermost:
 * interrupt, softirq or thread. A CPU that is idle was not taken away, a thread that a quota stopped does not
 * want a CPU, and one that was woken finds what is under way.
 */
#include "features/watch/bpf/members.h"
#include "features/watch/bpf/passing.h"

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
