/* The tick and what comes with it: nohz_full, the deadline server, RCU callbacks, timers.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>

#include "core/base/base.h"
#include "features/settings/judge.h"

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
        iwi_judge_say(
            m->advice,
            "the deadline server (mainline: since 6.12) keeps the tick alive: as root, for c in "
            "/sys/kernel/debug/sched/fair_server/cpu*; do echo 0 > $c/runtime; done; watch again, and take "
            "a kernel with the fix. If it stays: ");
    }
    iwi_judge_say(
        m->advice,
        "run one task on each of CPUs %s only, no SCHED_FIFO task beside it, and look at the events "
        "timer:tick_stop for what keeps the tick",
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
        iwi_judge_say(m->evidence, ", but the CPUs were idle: 'idlewave record' keeps them busy and tells");
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
    iwi_judge_say(m->evidence, "the kernel does not do it%s",
                  node->lacks_nohz_full ? ": it was built without CONFIG_NO_HZ_FULL" : "");
    iwi_judge_say(m->advice, node->lacks_nohz_full ? "take a kernel with CONFIG_NO_HZ_FULL"
                                                   : "dmesg | grep -i nohz says why");
    return true;
}

static bool judge_nohz_full(const struct iwi_case *c, const struct iwi_mitigation_ops *ops, iw_mitigation *m)
{
    const struct iwi_cpu_fact *fact = &c->node->nohz_full;
    const bool is_configured = !iw_cpu_set_is_empty(&fact->cpus);
    const iw_cpu_set concerned = iwi_concerned(c, &fact->cpus);
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
        iwi_judge_say(m->evidence, "none of them is the application's (%s)", iwi_cpus_text(&c->quiet, cpus));
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
        iwi_judge_say(m->advice,
                      "this kernel was built without CONFIG_NO_HZ_FULL: take another one and verify again");
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
        iwi_judge_say(m->evidence, "%s: /sys/kernel/debug/sched/fair_server tells",
                      node->hides_fair_server ? "only root may look" : "debugfs is not mounted");
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
    const iw_cpu_set concerned = iwi_concerned(c, &tickless);
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
                      "boot with rcu_nocb_poll too, and look for the tick: it raises the RCU softirq");
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
    const iw_cpu_set concerned = iwi_concerned(c, &apart);
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
            iwi_judge_say(m->evidence, "timers stay on the CPUs that are to be quiet");
        }
        m->is_felt = true;
    }
    return true;
}

static const char *const timer_patterns[] = {"softirq/TIMER", NULL};
const struct iwi_mitigation_ops iwi_timer_migration = {
    .name = "timer migration",
    .removes = "timers of others",
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
    .removes = "ticks that meet on locks",
    .judge = judge_skew_tick,
};
