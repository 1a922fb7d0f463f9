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
      "boot with nohz_full=CPUS rcu_nocbs=CPUS and run one task on each of these CPUs; then check with "
      "'idlewave verify'",
      false}},
    {IW_CLASS_IRQ,
     "*resched*",
     {"fewer wake-ups from other CPUs", "keep other threads off the application's CPUs: they wake it",
      false}},
    {IW_CLASS_IRQ,
     "*call_func*",
     {"fewer calls from other CPUs",
      "keep other work of the same process and of the kernel off the node: TLB shootdowns, module loading, "
      "perf",
      false}},
    {IW_CLASS_IRQ,
     "*irq_work*",
     {"fewer deferred interrupts", "stop perf and tracing, set nmi_watchdog=0", false}},
    {IW_CLASS_IRQ,
     "*",
     {"move the interrupt",
      "write the CPUs of the operating system to /proc/irq/N/smp_affinity_list and ban the application's "
      "CPUs in irqbalance (IRQBALANCE_BANNED_CPULIST)",
      true}},
    {IW_CLASS_SOFTIRQ,
     "TIMER",
     {"stop the tick", "boot with nohz_full=CPUS, keep kernel.timer_migration=1", false}},
    {IW_CLASS_SOFTIRQ, "HRTIMER", {"fewer timers", "find who sets them: idlewave record as root", false}},
    {IW_CLASS_SOFTIRQ, "SCHED", {"stop the tick", "boot with nohz_full=CPUS isolcpus=domain,CPUS", false}},
    {IW_CLASS_SOFTIRQ, "RCU", {"take RCU callbacks away", "boot with rcu_nocbs=CPUS", true}},
    {IW_CLASS_SOFTIRQ,
     "*",
     {"move the interrupt behind it",
      "it runs where its interrupt came: write the CPUs of the operating system to "
      "/proc/irq/N/smp_affinity_list",
      true}},
    {IW_CLASS_NMI,
     "*",
     {"switch the NMI watchdog off", "sysctl kernel.nmi_watchdog=0, or boot with nmi_watchdog=0", false}},
    {IW_CLASS_HARDWARE,
     "*",
     {"ask the hypervisor or the firmware",
      "the kernel saw nothing: on a virtual machine pin its CPUs or take a dedicated host, else look for "
      "system management interrupts in the firmware's settings",
      false}},
    {IW_CLASS_THREAD,
     "kworker/u*",
     {"move unbound workers",
      "write the mask of the CPUs of the operating system to /sys/devices/virtual/workqueue/cpumask", true}},
    {IW_CLASS_THREAD,
     "kworker/*",
     {"give its CPU's worker less to do",
      "a worker bound to its CPU: raise vm.stat_interval, boot with nohz_full=CPUS, find its work by "
      "workqueue events",
      false}},
    {IW_CLASS_THREAD,
     "ksoftirqd/*",
     {"move the interrupts behind it", "it does what softirqs left: move the device's interrupts", true}},
    {IW_CLASS_THREAD,
     "migration/*",
     {"stop load balancing", "boot with isolcpus=domain,CPUS, or make a cpuset partition", false}},
    {IW_CLASS_THREAD,
     "cpuhp/*",
     {"leave CPUs online", "nothing should take CPUs off and on while jobs run", false}},
    {IW_CLASS_THREAD,
     "watchdog/*",
     {"switch the watchdog off", "sysctl kernel.watchdog=0, or boot with nosoftlockup", false}},
    {IW_CLASS_THREAD,
     "rcu*",
     {"keep RCU's threads on other CPUs",
      "boot with rcu_nocbs=CPUS and set the affinity of the rcu threads to the CPUs of the operating system",
      true}},
    {IW_CLASS_THREAD,
     "khugepaged",
     {"switch khugepaged off",
      "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled (or never), and set its affinity", true}},
    {IW_CLASS_THREAD, "ksmd", {"switch page merging off", "echo 0 > /sys/kernel/mm/ksm/run", true}},
    {IW_CLASS_THREAD, "kcompactd*", {"compact less", "sysctl vm.compaction_proactiveness=0", true}},
    {IW_CLASS_THREAD,
     "*",
     {"keep it off the application's CPUs",
      "stop it, or let it run elsewhere: AllowedCPUs= in its systemd unit, taskset -pc, a cgroup cpuset, "
      "Slurm's core specialisation (-S)",
      true}},
    {IW_CLASS_UNKNOWN, /* waits of threads, of statistics of run queues */
     "* waiting",
     {"give its threads CPUs of their own",
      "look which processes share the CPUs of this node; bind the job's ranks, and leave a CPU to helpers",
      false}},
};

static const iw_remedy unnamed = {
    "find out what it is",
    "record with the right to see its name: as root, or with perf_event_paranoid at most 1", false};

const iw_remedy *iw_remedy_of(iw_class kind, const char *name)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].kind == kind && fnmatch(rows[i].pattern, name, 0) == 0) {
            return &rows[i].remedy;
        }
    }
    return &unnamed;
}
