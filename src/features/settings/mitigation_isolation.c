/* Mitigations of CPUs that are set apart: ticks, isolation, threads and services that stay away.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/short_number.h"
#include "features/settings/judge.h"

/* A login or a cron job a minute may stray; a daemon that wakes up each second may not. */
static const double STRAY_HZ = 1.0 / 60.0, DAEMON_HZ = 1.0;

/* Threads that the kernel keeps on their CPU, and the recorder itself. */
static const char *const bound_threads[] = {"thread/kworker/[0-9]*", "thread/ksoftirqd/*",
                                            "thread/migration/*",    "thread/cpuhp/*",
                                            "thread/watchdog/*",     "thread/rcuc/*",
                                            "thread/rcub/*",         "thread/irq_work/*",
                                            "thread/ktimers/*",      "thread/backlog_napi/*",
                                            "thread/idle_inject/*",  "thread/swapper*",
                                            "thread/idlewave*",      NULL};
static const char *const any_thread[] = {"thread/*", NULL};

/* ---- isolation ---- */

/* Why the list seems to be the wrong way round; false: it does not. Where the application's CPUs are known,
 * nothing needs to be guessed. In a container init is the job itself. */
static bool is_inverted(const struct iwi_case *c, const iw_cpu_set *isolated, iw_mitigation *m)
{
    const struct iwi_node_facts *node = c->node;
    const iw_cpu_set others = iw_cpu_set_without(&node->online.cpus, isolated);
    char mine[IWI_CPUS_SIZE], theirs[IWI_CPUS_SIZE];

    if (c->is_told && !iw_cpu_set_meets(isolated, &c->quiet)) {
        iwi_judge_say(m->evidence, "none of them belongs to the application (%s)%s",
                      iwi_cpus_text(&c->quiet, mine),
                      iw_cpu_set_is_within(&others, &c->quiet) ? ": the list is inverted" : "");
        return true;
    }
    if (c->is_told) {
        return false;
    }
    if (node->container[0] == '\0' && node->init.is_known &&
        iw_cpu_set_is_within(&node->init.cpus, isolated)) {
        iwi_judge_say(m->evidence, "init and its children may run only there (%s): the list looks inverted",
                      iwi_cpus_text(&node->init.cpus, mine));
        return true;
    }
    if (node->irq_parameter.is_known && iw_cpu_set_is_within(&node->irq_parameter.cpus, isolated)) {
        iwi_judge_say(m->evidence, "irqaffinity sends interrupts there (%s): the list looks inverted",
                      iwi_cpus_text(&node->irq_parameter.cpus, mine));
        return true;
    }
    if (iw_cpu_set_has(isolated, 0) &&
        2 * iw_cpu_set_count(isolated) <= iw_cpu_set_count(&node->online.cpus)) {
        iwi_judge_say(m->evidence,
                      "CPU 0, which the kernel itself needs, is in the list, and most CPUs (%s) are not: the "
                      "list looks inverted",
                      iw_cpu_set_text(&others, theirs, sizeof theirs));
        return true;
    }
    return false;
}

static void advise_inversion(const struct iwi_case *c, const iw_cpu_set *isolated, iw_mitigation *m)
{
    const iw_cpu_set others = iw_cpu_set_without(&c->node->online.cpus, isolated);
    char list[IWI_LIST_SIZE];

    iwi_judge_say(m->advice,
                  "list in isolcpus the application's CPUs, not those of the operating system: boot with "
                  "isolcpus=managed_irq,domain,%s",
                  iwi_list_text(c->is_told ? &c->quiet : &others, "CPUS", list));
}

static void say_isolation(const struct iwi_node_facts *node, iw_mitigation *m)
{
    char list[IWI_CPUS_SIZE];

    if (!iw_cpu_set_is_empty(&node->isolated.cpus)) {
        iwi_judge_say(m->setting, "isolcpus %s", iw_cpu_set_text(&node->isolated.cpus, list, sizeof list));
    }
    if (!iw_cpu_set_is_empty(&node->partition.cpus)) {
        iwi_judge_say(m->setting, "%scpuset partition %s", m->setting[0] != '\0' ? ", " : "",
                      iw_cpu_set_text(&node->partition.cpus, list, sizeof list));
    }
}

/* The configuration contradicts itself, whatever happens on the CPUs. */
static bool is_at_odds(const struct iwi_case *c, iw_mitigation *m)
{
    const struct iwi_node_facts *node = c->node;
    /* partitions of other cgroups are no matter of this one's */
    const iw_cpu_set isolated = iw_cpu_set_or(&node->isolated.cpus, &node->own_partition.cpus);
    const bool is_empty = iw_cpu_set_is_empty(&isolated);

    if (node->partition_fault[0] != '\0') {
        iwi_judge_say(m->evidence, "the partition of this cgroup is not in effect: '%.120s'",
                      node->partition_fault);
        iwi_judge_say(m->advice, "give the cgroup CPUs of its own in cpuset.cpus.exclusive, and write "
                                 "'isolated' to cpuset.cpus.partition again");
        return true;
    }
    if (is_empty && node->isolated.is_known && !iw_cpu_set_is_empty(&node->isolated_asked.cpus)) {
        iwi_judge_say(m->evidence, "the command line asks for isolcpus, but no CPU is isolated");
        iwi_judge_say(m->advice, "find the reason with dmesg | grep -i isolcpus");
        return true;
    }
    if (!is_empty && is_inverted(c, &isolated, m)) {
        advise_inversion(c, &isolated, m);
        return true;
    }
    return false;
}

static void advise_strays(const struct iwi_case *c, iw_mitigation *m)
{
    const iw_cpu_set apart = iw_cpu_set_or(&c->node->isolated.cpus, &c->node->partition.cpus);
    const iw_cpu_set others = iw_cpu_set_without(&c->rest, &apart);
    char list[IWI_LIST_SIZE];
    const char *rest = iw_cpu_set_is_empty(&others) ? "OTHERS" : iwi_list_text(&others, "OTHERS", list);

    iwi_judge_say(m->advice,
                  "find who put them there: ps -eLo psr,comm,pid; move daemons with systemctl set-property "
                  "system.slice AllowedCPUs=%s, single threads with taskset -pc %s PID",
                  rest, rest);
}

static bool judge_isolation(const struct iwi_case *c, const struct iwi_mitigation_ops *ops, iw_mitigation *m)
{
    const struct iwi_node_facts *node = c->node;
    const iw_cpu_set all = iw_cpu_set_or(&node->isolated.cpus, &node->partition.cpus);
    const iw_cpu_set isolated = iwi_cpus_concerned(c, &all);
    const bool is_configured = !iw_cpu_set_is_empty(&isolated);
    const struct iwi_rate_check check = {
        is_configured, is_configured ? &isolated : &c->looked_at, &ops->sources, STRAY_HZ, DAEMON_HZ, false};

    say_isolation(node, m);
    if (is_at_odds(c, m)) {
        m->state = IW_MITIGATION_CONTRADICTED;
        return true;
    }
    if (!node->isolated.is_known && !node->partition.is_known) {
        iwi_conclude_setting(m, false, false);
        return true;
    }
    iwi_conclude(c, &check, m);
    if (!iw_cpu_set_is_empty(&all)) {
        iwi_say_outside(c, &all, m);
    }
    if (m->state == IW_MITIGATION_CONTRADICTED) {
        advise_strays(c, m);
    }
    return true;
}

const struct iwi_mitigation_ops iwi_isolation = {
    .name = "isolated CPUs",
    .removes = "other threads",
    .sources = {any_thread, bound_threads},
    .advice = "boot with isolcpus=managed_irq,domain,{quiet}, or confine other threads: systemctl "
              "set-property system.slice AllowedCPUs={rest}",
    .judge = judge_isolation,
};

/* ---- core specialisation ---- */

static bool judge_core_spec(const struct iwi_case *c, const struct iwi_mitigation_ops *ops, iw_mitigation *m)
{
    const struct iwi_node_facts *node = c->node;
    const bool is_configured = node->core_spec[0] != '\0';
    const struct iwi_rate_check check = {is_configured, &c->looked_at, &ops->sources,
                                         STRAY_HZ,      DAEMON_HZ,     true};

    if (!is_configured && !node->job.is_known) {
        return false;
    }
    iwi_judge_say(m->setting, "%.120s", node->core_spec);
    if (c->is_told) {
        iwi_conclude(c, &check, m);
    } else { /* its daemons run on the specialised cores, wherever these are */
        iwi_conclude_setting(m, true, is_configured);
    }
    if (is_configured && node->job.is_known && iw_cpu_set_is_within(&node->online.cpus, &node->job.cpus)) {
        m->state = IW_MITIGATION_CONTRADICTED;
        m->evidence[0] = '\0';
        iwi_judge_say(m->evidence, "the job may use all CPUs");
    }
    return true;
}

static const char *const slurm_threads[] = {"thread/slurm*", NULL};
const struct iwi_mitigation_ops iwi_core_spec = {
    .name = "core specialisation",
    .removes = "daemons of Slurm and the system",
    .sources = {slurm_threads, NULL},
    .advice = "submit with --core-spec=1 (-S 1); in slurm.conf, CoreSpecCount needs TaskPlugin=task/cgroup "
              "and ConstrainCores=yes",
    .judge = judge_core_spec,
};

/* ---- workqueues ---- */

static bool judge_workqueue_mask(const struct iwi_case *c, const struct iwi_mitigation_ops *ops,
                                 iw_mitigation *m)
{
    const struct iwi_cpu_fact *fact = &c->node->workqueue;
    const bool is_configured = !iw_cpu_set_is_empty(&c->quiet) && !iw_cpu_set_meets(&fact->cpus, &c->quiet);
    const struct iwi_rate_check check = {is_configured, &c->looked_at, &ops->sources,
                                         STRAY_HZ,      DAEMON_HZ,     true};
    char cpus[IWI_CPUS_SIZE];

    if (!fact->is_known) {
        iwi_conclude_setting(m, false, false);
        return true;
    }
    iwi_judge_say(m->setting, "%s", iwi_cpus_text(&fact->cpus, cpus));
    iwi_conclude(c, &check, m);
    return true;
}

static const char *const unbound_workers[] = {"thread/kworker/u*", NULL};
const struct iwi_mitigation_ops iwi_workqueue_mask = {
    .name = "workqueue mask",
    .removes = "unbound kernel workers",
    .sources = {unbound_workers, NULL},
    .advice = "echo {rest_mask} > /sys/devices/virtual/workqueue/cpumask",
    .judge = judge_workqueue_mask,
};

/* ---- SMT ---- */

/* CPUs of cores of which more than one is the application's. */
static iw_cpu_set shared_cpus(const struct iwi_case *c)
{
    iw_cpu_set shared = {{0}}, met = {{0}}, twice = {{0}};

    for (uint32_t cpu = 0; cpu < IW_CPU_SET_MOST; cpu++) {
        if (iw_cpu_set_has(&c->quiet, cpu)) {
            const uint32_t core = c->node->core_of[cpu];

            iw_cpu_set_add(iw_cpu_set_has(&met, core) ? &twice : &met, core);
        }
    }
    for (uint32_t cpu = 0; cpu < IW_CPU_SET_MOST; cpu++) {
        if (iw_cpu_set_has(&c->quiet, cpu) && iw_cpu_set_has(&twice, c->node->core_of[cpu])) {
            iw_cpu_set_add(&shared, cpu);
        }
    }
    return shared;
}

static bool judge_smt(const struct iwi_case *c, const struct iwi_mitigation_ops *ops, iw_mitigation *m)
{
    const char *smt = c->node->info.smt;
    const bool is_known = strcmp(smt, "on") == 0 || strcmp(smt, "off") == 0;
    const iw_cpu_set shared = shared_cpus(c);
    char cpus[IWI_CPUS_SIZE];

    (void)ops;
    if (!is_known || strcmp(smt, "off") == 0) {
        iwi_judge_say(m->setting, is_known ? "SMT is off" : "");
        iwi_conclude_setting(m, is_known, true);
        return true;
    }
    iwi_judge_say(m->setting, "SMT is on");
    if (!c->is_told || !c->node->has_cores) {
        m->state = IW_MITIGATION_ABSENT;
        iwi_judge_say(m->evidence, "name the application's CPUs to check whether their siblings are free");
    } else if (iw_cpu_set_is_empty(&shared)) {
        m->state = IW_MITIGATION_CONFIGURED;
        iwi_judge_say(m->evidence, "siblings of the application's CPUs are left to the system");
    } else {
        m->state = IW_MITIGATION_ABSENT;
        iwi_judge_say(m->evidence, "%s of the application share cores", iwi_cpus_text(&shared, cpus));
    }
    return true;
}

const struct iwi_mitigation_ops iwi_smt = {
    .name = "idle SMT siblings",
    .removes = "daemons on the application's threads",
    .advice = "give the application one thread of each core (srun --hint=nomultithread), or echo off > "
              "/sys/devices/system/cpu/smt/control",
    .judge = judge_smt,
};

/* The tick and what comes with it: nohz_full, the deadline server, RCU callbacks, timers. */

/* A CPU without tick keeps a remote one a second, and timers of its own task. */
static const double TICK_ALLOWED_HZ = 2.0, TICK_LOUD_HZ = 10.0;
static const double SOFTIRQ_ALLOWED_HZ = 1.0, SOFTIRQ_LOUD_HZ = 10.0;

static const char *const tick_patterns[] = {"irq/local_timer*", "irq/arch_timer*", NULL};
static const struct iwi_source_patterns tick = {tick_patterns, NULL};

/* Its files tell; where they cannot be seen, the version: mainline has it from 6.12 on. */
static bool has_fair_server(const struct iwi_node_facts *node)
{
    const bool is_new = node->major > 6 || (node->major == 6 && node->minor >= 12);

    return node->fair_server_ns != IWI_NOT_TOLD || (is_new && !node->lacks_fair_server);
}

static void explain_tick(const struct iwi_case *c, iw_mitigation *m)
{
    char cpus[IWI_LIST_SIZE];

    iwi_judge_say(m->evidence, ". The tick came back");
    if (has_fair_server(c->node) && c->node->fair_server_ns != 0) {
        iwi_judge_say(m->advice, "the deadline server (mainline: since 6.12) keeps the tick alive: as root, "
                                 "for c in /sys/kernel/debug/sched/fair_server/cpu*; do echo 0 > $c/runtime; "
                                 "done; watch again, and install a kernel with the fix. If it stays: ");
    }
    iwi_judge_say(m->advice,
                  "run only one task on each of CPUs %s, no SCHED_FIFO task beside it, and trace "
                  "timer:tick_stop to see what keeps the tick",
                  iw_cpu_set_text(&c->node->nohz_full.cpus, cpus, sizeof cpus));
}

/* The idle loop stops the tick of its CPU, and all that comes with it, without any setting; what still comes
 * there are timers, not the tick. */
static void doubt_idle(const struct iwi_case *c, const struct iwi_rate_check *check, iw_mitigation *m)
{
    struct iwi_tally tally;

    iwi_tally(c, check->cpus, check->sources, &tally);
    if ((m->state == IW_MITIGATION_EFFECTIVE && tally.is_idle) ||
        (m->state == IW_MITIGATION_CONTRADICTED && tally.is_worst_idle)) {
        m->state = IW_MITIGATION_UNKNOWN;
        iwi_judge_say(m->evidence, ", but the CPUs were idle; 'idlewave record' keeps them busy");
    }
}

/* The command line asks for it, and the kernel does not do it. */
static bool is_refused(const struct iwi_node_facts *node, iw_mitigation *m)
{
    char list[IWI_CPUS_SIZE];

    if (iw_cpu_set_is_empty(&node->nohz_full_asked.cpus) || !iw_cpu_set_is_empty(&node->nohz_full.cpus)) {
        return false;
    }
    m->state = IW_MITIGATION_CONTRADICTED;
    iwi_judge_say(m->setting, "nohz_full=%s on the command line",
                  iw_cpu_set_text(&node->nohz_full_asked.cpus, list, sizeof list));
    iwi_judge_say(m->evidence, "the kernel ignores it%s",
                  node->lacks_nohz_full ? ": it was built without CONFIG_NO_HZ_FULL" : "");
    iwi_judge_say(m->advice, node->lacks_nohz_full ? "install a kernel with CONFIG_NO_HZ_FULL"
                                                   : "find the reason with dmesg | grep -i nohz");
    return true;
}

static bool judge_nohz_full(const struct iwi_case *c, const struct iwi_mitigation_ops *ops, iw_mitigation *m)
{
    const struct iwi_cpu_fact *fact = &c->node->nohz_full;
    const bool is_configured = !iw_cpu_set_is_empty(&fact->cpus);
    const iw_cpu_set concerned = iwi_cpus_concerned(c, &fact->cpus);
    const struct iwi_rate_check check = {is_configured, is_configured ? &concerned : &c->looked_at,
                                         &tick,         TICK_ALLOWED_HZ,
                                         TICK_LOUD_HZ,  false};
    char cpus[IWI_CPUS_SIZE];

    (void)ops;
    if (!fact->is_known) {
        iwi_conclude_setting(m, false, false);
        return true;
    }
    if (is_refused(c->node, m)) {
        return true;
    }
    if (is_configured) {
        iwi_judge_say(m->setting, "%s", iwi_cpus_text(&fact->cpus, cpus));
    }
    if (is_configured && iw_cpu_set_is_empty(&concerned)) {
        m->state = IW_MITIGATION_CONTRADICTED;
        iwi_judge_say(m->evidence, "none of them belongs to the application (%s)",
                      iwi_cpus_text(&c->quiet, cpus));
        return true;
    }
    iwi_conclude(c, &check, m);
    doubt_idle(c, &check, m);
    if (m->state == IW_MITIGATION_CONTRADICTED) {
        explain_tick(c, m);
    }
    if (is_configured) {
        iwi_say_outside(c, &fact->cpus, m);
    }
    if (m->state == IW_MITIGATION_ABSENT && c->node->lacks_nohz_full) {
        iwi_judge_say(
            m->advice,
            "this kernel was built without CONFIG_NO_HZ_FULL: install another one and verify again");
    }
    return true;
}

static const char *const nohz_patterns[] = {"irq/local_timer*", "irq/arch_timer*", "softirq/TIMER",
                                            "softirq/SCHED", NULL};
const struct iwi_mitigation_ops iwi_nohz_full = {
    .name = "nohz_full",
    .removes = "the periodic tick",
    .sources = {nohz_patterns, NULL},
    .advice = "boot with nohz_full={quiet}, and run one task on each of these CPUs",
    .judge = judge_nohz_full,
};

static bool judge_fair_server(const struct iwi_case *c, const struct iwi_mitigation_ops *ops,
                              iw_mitigation *m)
{
    const struct iwi_node_facts *node = c->node;

    (void)ops;
    if (iw_cpu_set_is_empty(&node->nohz_full.cpus) || !has_fair_server(node)) {
        return false;
    }
    if (node->fair_server_ns == IWI_NOT_TOLD) {
        iwi_judge_say(m->evidence, "%s: see /sys/kernel/debug/sched/fair_server",
                      node->hides_fair_server ? "only root can read this" : "debugfs is not mounted");
        return true;
    }
    iwi_judge_say(m->setting, "runtime %ld us", node->fair_server_ns / 1000);
    iwi_conclude_setting(m, true, node->fair_server_ns == 0);
    return true;
}

const struct iwi_mitigation_ops iwi_fair_server = {
    .name = "dl_server off",
    .removes = "ticks that the deadline server arms",
    .advice = "for c in /sys/kernel/debug/sched/fair_server/cpu*; do echo 0 > $c/runtime; done",
    .judge = judge_fair_server,
};

/* A CPU that ticks raises the softirq whether its callbacks are its own or not: only without tick it tells.
 */
static bool judge_rcu_nocbs(const struct iwi_case *c, const struct iwi_mitigation_ops *ops, iw_mitigation *m)
{
    const struct iwi_cpu_fact *fact = &c->node->rcu_nocbs;
    const bool is_configured = !iw_cpu_set_is_empty(&fact->cpus);
    const iw_cpu_set tickless = iw_cpu_set_and(&fact->cpus, &c->node->nohz_full.cpus);
    const iw_cpu_set concerned = iwi_cpus_concerned(c, &tickless);
    const struct iwi_rate_check check = {is_configured,   is_configured ? &concerned : &c->looked_at,
                                         &ops->sources,   SOFTIRQ_ALLOWED_HZ,
                                         SOFTIRQ_LOUD_HZ, false};
    char cpus[IWI_CPUS_SIZE];

    if (!fact->is_known || (is_configured && iw_cpu_set_is_empty(&concerned))) {
        iwi_conclude_setting(m, fact->is_known, is_configured);
    } else {
        iwi_conclude(c, &check, m);
        doubt_idle(c, &check, m);
    }
    if (is_configured) {
        iwi_judge_say(m->setting, "%s", iwi_cpus_text(&fact->cpus, cpus));
        iwi_say_outside(c, &fact->cpus, m);
    }
    if (m->state == IW_MITIGATION_CONTRADICTED) {
        iwi_judge_say(m->advice,
                      "boot with rcu_nocb_poll too, and look for the tick, which raises the RCU softirq");
    }
    return true;
}

static const char *const rcu_patterns[] = {"softirq/RCU", NULL};
const struct iwi_mitigation_ops iwi_rcu_nocbs = {
    .name = "rcu_nocbs",
    .removes = "RCU callbacks",
    .sources = {rcu_patterns, NULL},
    .advice = "boot with rcu_nocbs={quiet}",
    .judge = judge_rcu_nocbs,
};

/* Off, timers stay where they were set: it works against isolation. Where nothing is set apart, it is just
 * not configured. */
static bool judge_timer_migration(const struct iwi_case *c, const struct iwi_mitigation_ops *ops,
                                  iw_mitigation *m)
{
    const long value = c->node->timer_migration;
    const iw_cpu_set apart = iw_cpu_set_or(&c->node->isolated.cpus, &c->node->nohz_full.cpus);
    const iw_cpu_set concerned = iwi_cpus_concerned(c, &apart);
    const struct iwi_rate_check check = {true, &concerned, &ops->sources, SOFTIRQ_ALLOWED_HZ, SOFTIRQ_LOUD_HZ,
                                         true};

    iwi_conclude_setting(m, value != IWI_NOT_TOLD, value == 1);
    if (value == IWI_NOT_TOLD) {
        return true;
    }
    iwi_judge_say(m->setting, "kernel.timer_migration=%ld", value);
    if (value == 0 && !iw_cpu_set_is_empty(&concerned)) {
        iwi_conclude(c, &check, m);
        if (m->state != IW_MITIGATION_CONTRADICTED) {
            m->state = IW_MITIGATION_ABSENT;
            m->evidence[0] = '\0';
            iwi_judge_say(m->evidence, "timers stay on CPUs that should be quiet");
        }
        m->is_felt = true;
    }
    return true;
}

static const char *const timer_patterns[] = {"softirq/TIMER", NULL};
const struct iwi_mitigation_ops iwi_timer_migration = {
    .name = "timer migration",
    .removes = "other CPUs' timers",
    .sources = {timer_patterns, NULL},
    .advice = "sysctl kernel.timer_migration=1",
    .judge = judge_timer_migration,
};

static bool judge_skew_tick(const struct iwi_case *c, const struct iwi_mitigation_ops *ops, iw_mitigation *m)
{
    (void)ops;
    iwi_conclude_setting(m, c->node->skew_tick != IWI_NOT_TOLD, c->node->skew_tick == 1);
    return true;
}

/* No advice: ticks that come apart meet on fewer locks, but hit the ranks of a node at different times. */
const struct iwi_mitigation_ops iwi_skew_tick = {
    .name = "skew_tick",
    .removes = "lock contention of simultaneous ticks",
    .judge = judge_skew_tick,
};

/* How threads are scheduled: quotas, preemption, schedulers of others, where services may run. */

/* ---- quotas ---- */

/* Whose quota it is matters only inside of a job or a container. */
static bool judge_no_quota(const struct iwi_case *c, const struct iwi_mitigation_ops *ops, iw_mitigation *m)
{
    const struct iwi_quota *quota = &c->node->quota;

    (void)ops;
    if (!quota->is_known || (!quota->is_set && !c->node->job.is_known && c->node->container[0] == '\0')) {
        return false;
    }
    iwi_conclude_setting(m, true, !quota->is_set);
    if (!quota->is_set) {
        iwi_judge_say(m->setting, "no CPU time limit");
        return true;
    }
    iwi_judge_say(m->setting, "%s CPUs per %s ms", iwi_short(quota->cpus, 3).text,
                  iwi_short(1e-3 * (double)quota->period_us, 3).text);
    if (quota->throttled > 0) {
        m->is_felt = true;
        iwi_judge_say(m->evidence, "stopped in %s %% of its periods so far, for %s s in total",
                      iwi_short_percent((double)quota->throttled / fmax((double)quota->periods, 1.0), 2).text,
                      iwi_short(quota->throttled_s, 3).text);
    } else {
        iwi_judge_say(m->evidence, "never stopped so far");
    }
    if (quota->pressure > 0.0) {
        iwi_judge_say(m->evidence, "; in the last minute threads waited for a CPU %s %% of the time",
                      iwi_short_percent(quota->pressure, 2).text);
    }
    return true;
}

const struct iwi_mitigation_ops iwi_no_quota = {
    .name = "no CPU quota",
    .removes = "stops of all threads until the next period",
    .advice = "remove the limit and give whole CPUs instead: in Kubernetes equal integer requests and limits "
              "with the kubelet's cpu-manager-policy=static, in Docker cpuset-cpus, for a systemd unit "
              "systemctl set-property UNIT CPUQuota=; or echo max > cpu.max of the group",
    .judge = judge_no_quota,
};

/* ---- preemption ---- */

static bool judge_preemption(const struct iwi_case *c, const struct iwi_mitigation_ops *ops, iw_mitigation *m)
{
    const struct iwi_node_facts *node = c->node;
    char asked[IWI_NODE_TEXT_SIZE];

    (void)ops;
    if (node->preemption[0] == '\0' || node->is_realtime) {
        return false;
    }
    iwi_judge_say(m->setting, "%.32s", node->preemption);
    iwi_conclude_setting(m, true, strcmp(node->preemption, "full") != 0);
    if (iwi_node_parameter(node, "preempt", asked, sizeof asked) && strcmp(asked, node->preemption) != 0) {
        m->state = IW_MITIGATION_CONTRADICTED;
        iwi_judge_say(m->evidence, "the command line says preempt=%.32s", asked);
        iwi_judge_say(m->advice, "cat /sys/kernel/debug/sched/preempt shows what this kernel supports (from "
                                 "7.0, full and lazy only); echo lazy > that file, and find who changed it");
    }
    return true;
}

const struct iwi_mitigation_ops iwi_preemption = {
    .name = "preemption not full",
    .removes = "context switches inside the kernel",
    .advice = "boot with preempt=lazy, or voluntary on older kernels",
    .judge = judge_preemption,
};

/* ---- schedulers of others ---- */

static bool judge_no_sched_ext(const struct iwi_case *c, const struct iwi_mitigation_ops *ops,
                               iw_mitigation *m)
{
    const struct iwi_node_facts *node = c->node;
    const bool is_off = strcmp(node->sched_ext, "disabled") == 0;

    (void)ops;
    if (node->sched_ext[0] == '\0') {
        return false;
    }
    iwi_judge_say(m->setting, "%.32s%s%.64s", node->sched_ext, is_off ? "" : ", ",
                  is_off ? "" : node->sched_ext_ops);
    iwi_conclude_setting(m, true, is_off);
    return true;
}

const struct iwi_mitigation_ops iwi_no_sched_ext = {
    .name = "no BPF scheduler",
    .removes = "decisions of a loaded BPF scheduler (sched_ext)",
    .advice = "stop the program that loaded it: systemctl stop scx, or find it with bpftool struct_ops",
    .judge = judge_no_sched_ext,
};

/* It lets ordinary tasks run beside those of a BPF scheduler, as the fair server does beside real-time ones.
 */
static bool judge_ext_server(const struct iwi_case *c, const struct iwi_mitigation_ops *ops, iw_mitigation *m)
{
    const struct iwi_node_facts *node = c->node;

    (void)ops;
    if (node->ext_server_ns == IWI_NOT_TOLD) {
        return false;
    }
    iwi_judge_say(m->setting, "runtime=%ld", node->ext_server_ns);
    iwi_conclude_setting(m, true, node->ext_server_ns == 0);
    return true;
}

const struct iwi_mitigation_ops iwi_ext_server = {
    .name = "ext_server off",
    .removes = "the deadline server of BPF schedulers",
    .advice = "for c in /sys/kernel/debug/sched/ext_server/cpu*; do echo 0 > $c/runtime; done",
    .judge = judge_ext_server,
};

/* ---- services ---- */

static bool judge_services(const struct iwi_case *c, const struct iwi_mitigation_ops *ops, iw_mitigation *m)
{
    const struct iwi_node_facts *node = c->node;
    const bool is_confined = !iw_cpu_set_meets(&node->service_cpus, &c->quiet);
    char cpus[IWI_CPUS_SIZE];

    (void)ops;
    if (!node->has_services || iw_cpu_set_is_empty(&c->quiet) || iw_cpu_set_is_empty(&c->rest)) {
        return false;
    }
    iwi_judge_say(m->setting, "%zu may use %s", node->service_count,
                  iwi_cpus_text(&node->service_cpus, cpus));
    iwi_conclude_setting(m, true, is_confined);
    if (node->free_service_count > 0) {
        iwi_judge_say(m->evidence, "%.32s%s may run on all CPUs", node->service,
                      node->free_service_count > 1 ? " and others" : "");
    }
    return true;
}

const struct iwi_mitigation_ops iwi_services = {
    .name = "services confined",
    .removes = "system daemons",
    .advice = "systemctl set-property system.slice AllowedCPUs={rest}, or CPUAffinity={rest} in "
              "/etc/systemd/system.conf",
    .judge = judge_services,
};

/* ---- threads of the job ---- */

static bool judge_threads_pinned(const struct iwi_case *c, const struct iwi_mitigation_ops *ops,
                                 iw_mitigation *m)
{
    const struct iwi_node_facts *node = c->node;
    const bool is_doubled = !iw_cpu_set_is_empty(&node->pinned_twice);
    char cpus[IWI_CPUS_SIZE];

    (void)ops;
    if (node->thread_count == 0) {
        return false;
    }
    iwi_judge_say(m->setting, "%zu of %zu active threads are bound to a core",
                  node->thread_count - node->loose_thread_count, node->thread_count);
    iwi_conclude_setting(m, true, node->loose_thread_count == 0 && !is_doubled);
    if (is_doubled) {
        iwi_judge_say(m->evidence, "several share %s", iwi_cpus_text(&node->pinned_twice, cpus));
    }
    m->is_felt = is_doubled;
    return true;
}

const struct iwi_mitigation_ops iwi_threads_pinned = {
    .name = "threads pinned",
    .removes = "threads of the job that move or share a CPU",
    .advice = "bind ranks and their threads: srun --cpu-bind=cores with cpus-per-task, OMP_PROC_BIND=close "
              "OMP_PLACES=cores; give threads of libraries (MPI progress, I/O) their own CPU",
    .judge = judge_threads_pinned,
};
