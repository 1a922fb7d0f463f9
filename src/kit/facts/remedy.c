/* What to do against which source of noise: one table.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/remedy.h>

#include <fnmatch.h>

struct row {
    iw_class kind;
    const char *pattern; /* of the name, as for file names; the first that fits counts */
    iw_remedy remedy;
};

/* A bound kernel thread (kworker/3:1, ksoftirqd/3) stays on its CPU whatever is reserved; an unbound one
 * (kworker/u8:0) and a daemon go where they are allowed to. */
static const struct row rows[] = {
    {IW_CLASS_IRQ,
     "local_timer*",
     {"stop the tick",
      "boot with nohz_full=CPUS rcu_nocbs=CPUS and run one task on each; check with 'idlewave verify'",
      false}},
    {IW_CLASS_IRQ,
     "*resched*",
     {"avoid wake-ups from other CPUs",
      "keep other threads off the application's CPUs, so that nothing wakes them there", false}},
    {IW_CLASS_IRQ,
     "*call_func*",
     {"avoid function calls from other CPUs",
      "keep off the node what causes them: TLB shootdowns of the same process, module loading, perf", false}},
    {IW_CLASS_IRQ,
     "*irq_work*",
     {"avoid deferred interrupts", "stop perf and tracing, set kernel.nmi_watchdog=0", false}},
    {IW_CLASS_IRQ,
     "*",
     {"move the interrupt",
      "write the operating system's CPUs to /proc/irq/N/smp_affinity_list and ban the application's CPUs in "
      "irqbalance (IRQBALANCE_BANNED_CPULIST)",
      true}},
    {IW_CLASS_SOFTIRQ,
     "TIMER",
     {"stop the tick", "boot with nohz_full=CPUS and keep kernel.timer_migration=1", false}},
    {IW_CLASS_SOFTIRQ, "HRTIMER", {"set fewer timers", "record as root to find who sets them", false}},
    {IW_CLASS_SOFTIRQ, "SCHED", {"stop the tick", "boot with nohz_full=CPUS isolcpus=domain,CPUS", false}},
    {IW_CLASS_SOFTIRQ, "RCU", {"move RCU callbacks away", "boot with rcu_nocbs=CPUS", true}},
    {IW_CLASS_SOFTIRQ,
     "*",
     {"move the interrupt behind it",
      "it runs where its interrupt arrives; write the operating system's CPUs to "
      "/proc/irq/N/smp_affinity_list",
      true}},
    {IW_CLASS_NMI,
     "*",
     {"turn off the NMI watchdog", "sysctl kernel.nmi_watchdog=0, or boot with nmi_watchdog=0", false}},
    {IW_CLASS_HARDWARE,
     "*",
     {"check hypervisor and firmware",
      "the kernel saw nothing: on a virtual machine, pin its CPUs or use a dedicated host; otherwise look "
      "for system management interrupts (SMIs) in the firmware settings",
      false}},
    {IW_CLASS_THREAD,
     "kworker/u*",
     {"move unbound workers",
      "write the mask of the operating system's CPUs to /sys/devices/virtual/workqueue/cpumask", true}},
    {IW_CLASS_THREAD,
     "kworker/*",
     {"give this CPU's worker less to do",
      "it is bound to its CPU; raise vm.stat_interval, boot with nohz_full=CPUS, trace workqueue events to "
      "find its work",
      false}},
    {IW_CLASS_THREAD,
     "ksoftirqd/*",
     {"move the interrupts behind it", "it runs left-over softirqs; move the device's interrupts", true}},
    {IW_CLASS_THREAD,
     "migration/*",
     {"stop load balancing", "boot with isolcpus=domain,CPUS, or make a cpuset partition", false}},
    {IW_CLASS_THREAD,
     "cpuhp/*",
     {"leave CPUs online", "take no CPU offline or online while jobs run", false}},
    {IW_CLASS_THREAD,
     "watchdog/*",
     {"turn off the soft watchdog", "sysctl kernel.watchdog=0, or boot with nosoftlockup", false}},
    {IW_CLASS_THREAD,
     "rcu*",
     {"keep RCU threads on other CPUs",
      "boot with rcu_nocbs=CPUS and bind the rcu threads to the operating system's CPUs", true}},
    {IW_CLASS_THREAD,
     "khugepaged",
     {"turn off khugepaged",
      "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled (or never), and bind it to other CPUs",
      true}},
    {IW_CLASS_THREAD, "ksmd", {"turn off page merging", "echo 0 > /sys/kernel/mm/ksm/run", true}},
    {IW_CLASS_THREAD, "kcompactd*", {"compact less memory", "sysctl vm.compaction_proactiveness=0", true}},
    {IW_CLASS_THREAD,
     "kswapd*",
     {"keep more memory free",
      "memory is short; use less of it on this node, or stop what fills it (programs, file caches)", true}},
    {IW_CLASS_THREAD,
     "kdamond*",
     {"turn off DAMON",
      "disable damon_reclaim (echo N > /sys/module/damon_reclaim/parameters/enabled), or stop what uses "
      "/sys/kernel/mm/damon/admin",
      true}},
    {IW_CLASS_THREAD,
     "jbd2/*",
     {"write less to local disks",
      "journal of a local ext4 file system: write less to it (logs, /tmp), or mount it with a longer commit=",
      true}},
    {IW_CLASS_THREAD,
     "xfs*/*",
     {"write less to local disks", "journal of a local XFS file system: write less to it (logs, /tmp)",
      true}},
    {IW_CLASS_THREAD,
     "*",
     {"stop it or move it off the application's CPUs",
      "stop it, or move it by AllowedCPUs= in its systemd unit, taskset -pc, a cgroup cpuset or Slurm core "
      "specialisation (-S)",
      true}},
    {IW_CLASS_UNKNOWN, /* waits of threads, of statistics of run queues */
     "* waiting",
     {"give its threads CPUs of their own",
      "find the processes that share CPUs on this node; bind the job's ranks, and leave a CPU to helper "
      "threads",
      false}},
};

static const iw_remedy unnamed = {
    "find out what it is", "record as root, or with perf_event_paranoid at most 1, to see its name", false};

const iw_remedy *iw_remedy_of(iw_class kind, const char *name)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].kind == kind && fnmatch(rows[i].pattern, name, 0) == 0) {
            return &rows[i].remedy;
        }
    }
    return &unnamed;
}
