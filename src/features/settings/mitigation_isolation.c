/* CPUs set apart: isolcpus and partitions, core specialisation, the workqueues' mask, SMT.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <string.h>

#include "core/base/base.h"
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
        iwi_judge_say(m->evidence, "none of them is the application's (%s)%s", iwi_cpus_text(&c->quiet, mine),
                      iw_cpu_set_is_within(&others, &c->quiet) ? ": the list is inverted" : "");
        return true;
    }
    if (c->is_told) {
        return false;
    }
    if (node->container[0] == '\0' && node->init.is_known &&
        iw_cpu_set_is_within(&node->init.cpus, isolated)) {
        iwi_judge_say(m->evidence,
                      "init and all that it starts may run there only (%s): the list looks inverted",
                      iwi_cpus_text(&node->init.cpus, mine));
        return true;
    }
    if (node->irq_parameter.is_known && iw_cpu_set_is_within(&node->irq_parameter.cpus, isolated)) {
        iwi_judge_say(m->evidence, "irqaffinity sends interrupts just there (%s): the list looks inverted",
                      iwi_cpus_text(&node->irq_parameter.cpus, mine));
        return true;
    }
    if (iw_cpu_set_has(isolated, 0) &&
        2 * iw_cpu_set_count(isolated) <= iw_cpu_set_count(&node->online.cpus)) {
        iwi_judge_say(
            m->evidence,
            "CPU 0, which the kernel itself needs, is among them, and most CPUs (%s) are not: the list "
            "looks inverted",
            iw_cpu_set_text(&others, theirs, sizeof theirs));
        return true;
    }
    return false;
}

static void advise_inversion(const struct iwi_case *c, const iw_cpu_set *isolated, iw_mitigation *m)
{
    const iw_cpu_set others = iw_cpu_set_without(&c->node->online.cpus, isolated);
    char list[IWI_LIST_SIZE];

    iwi_judge_say(
        m->advice,
        "isolcpus lists the CPUs that the application gets, not those of the operating system: boot with "
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
        iwi_judge_say(m->advice,
                      "give the cgroup CPUs that no sibling has, in cpuset.cpus.exclusive, and write "
                      "'isolated' to cpuset.cpus.partition again");
        return true;
    }
    if (is_empty && node->isolated.is_known && !iw_cpu_set_is_empty(&node->isolated_asked.cpus)) {
        iwi_judge_say(m->evidence, "the command line asks for isolcpus, but no CPU is isolated");
        iwi_judge_say(m->advice, "dmesg | grep -i isolcpus says why");
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
                  "find who put them there: ps -eLo psr,comm,pid; move daemons by systemctl set-property "
                  "system.slice AllowedCPUs=%s, single threads by taskset -pc %s PID",
                  rest, rest);
}

static bool judge_isolation(const struct iwi_case *c, const struct iwi_mitigation_ops *ops, iw_mitigation *m)
{
    const struct iwi_node_facts *node = c->node;
    const iw_cpu_set all = iw_cpu_set_or(&node->isolated.cpus, &node->partition.cpus);
    const iw_cpu_set isolated = iwi_concerned(c, &all);
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
    .removes = "threads of others",
    .sources = {any_thread, bound_threads},
    .advice = "boot with isolcpus=managed_irq,domain,{quiet}, or confine all others: systemctl set-property "
              "system.slice AllowedCPUs={rest}",
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
    .advice = "submit with --core-spec=1 (-S 1); in slurm.conf CoreSpecCount needs "
              "TaskPlugin=task/cgroup and ConstrainCores=yes",
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
        iwi_judge_say(m->evidence, "name the application's CPUs to learn whether their siblings are free");
    } else if (iw_cpu_set_is_empty(&shared)) {
        m->state = IW_MITIGATION_CONFIGURED;
        iwi_judge_say(m->evidence, "siblings of the application's CPUs are left to the system");
    } else {
        m->state = IW_MITIGATION_ABSENT;
        iwi_judge_say(m->evidence, "%s of the application share cores with each other",
                      iwi_cpus_text(&shared, cpus));
    }
    return true;
}

const struct iwi_mitigation_ops iwi_smt = {
    .name = "idle SMT siblings",
    .removes = "daemons: they find an idle sibling",
    .advice = "give the application one thread of each core (srun --hint=nomultithread), or echo off > "
              "/sys/devices/system/cpu/smt/control",
    .judge = judge_smt,
};
