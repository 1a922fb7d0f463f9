/* What the kernel does to memory in the background.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <string.h>

#include "core/base/base.h"
#include "features/settings/judge.h"

/* Nothing that is switched off should run at all; once a minute is forgiven. */
static const double OFF_HZ = 1.0 / 60.0, RUNNING_HZ = 0.1;
static const long LONG_INTERVAL_S = 10;

/* A number that is configured where it is as wanted, and the threads that should then be gone. */
static void judge_number(const struct iwi_case *c, const struct iwi_mitigation_ops *ops, const char *name,
                         long value, bool is_configured, iw_mitigation *m)
{
    const struct iwi_rate_check check = {is_configured, &c->looked_at, &ops->sources,
                                         OFF_HZ,        RUNNING_HZ,    true};

    if (value == IWI_NOT_TOLD) {
        iwi_conclude_setting(m, false, false);
        return;
    }
    iwi_judge_say(m->setting, "%s=%ld", name, value);
    if (ops->sources.patterns == NULL) {
        iwi_conclude_setting(m, true, is_configured);
    } else {
        iwi_conclude(c, &check, m);
    }
}

/* With madvise khugepaged has work where programs ask for it; with never it has none. */
static bool judge_thp(const struct iwi_case *c, const struct iwi_mitigation_ops *ops, iw_mitigation *m)
{
    const char *thp = c->node->thp;
    const bool is_never = strcmp(thp, "never") == 0;
    const struct iwi_rate_check check = {is_never, &c->looked_at, &ops->sources, OFF_HZ, RUNNING_HZ, true};

    if (thp[0] == '\0') {
        iwi_conclude_setting(m, false, false);
        return true;
    }
    iwi_judge_say(m->setting, "transparent_hugepage=%.32s", thp);
    if (strcmp(thp, "madvise") == 0) {
        iwi_conclude_setting(m, true, true);
    } else {
        iwi_conclude(c, &check, m);
    }
    return true;
}

static const char *const khugepaged[] = {"thread/khugepaged", NULL};
const struct iwi_mitigation_ops iwi_thp = {
    .name = "THP not always",
    .removes = "khugepaged",
    .sources = {khugepaged, NULL},
    .advice = "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled (or never)",
    .judge = judge_thp,
};

static bool judge_ksm(const struct iwi_case *c, const struct iwi_mitigation_ops *ops, iw_mitigation *m)
{
    judge_number(c, ops, "ksm/run", c->node->ksm_run, c->node->ksm_run == 0, m);
    return true;
}

static const char *const ksmd[] = {"thread/ksmd", NULL};
const struct iwi_mitigation_ops iwi_ksm = {
    .name = "KSM off",
    .removes = "ksmd",
    .sources = {ksmd, NULL},
    .advice = "echo 0 > /sys/kernel/mm/ksm/run",
    .judge = judge_ksm,
};

static bool judge_numa_balancing(const struct iwi_case *c, const struct iwi_mitigation_ops *ops,
                                 iw_mitigation *m)
{
    judge_number(c, ops, "kernel.numa_balancing", c->node->numa_balancing, c->node->numa_balancing == 0, m);
    return true;
}

const struct iwi_mitigation_ops iwi_numa_balancing = {
    .name = "NUMA balancing off",
    .removes = "page faults of its hints",
    .advice = "sysctl kernel.numa_balancing=0",
    .judge = judge_numa_balancing,
};

static bool judge_compaction(const struct iwi_case *c, const struct iwi_mitigation_ops *ops, iw_mitigation *m)
{
    judge_number(c, ops, "vm.compaction_proactiveness", c->node->compaction, c->node->compaction == 0, m);
    return true;
}

static const char *const kcompactd[] = {"thread/kcompactd*", NULL};
const struct iwi_mitigation_ops iwi_compaction = {
    .name = "compaction off",
    .removes = "kcompactd",
    .sources = {kcompactd, NULL},
    .advice = "sysctl vm.compaction_proactiveness=0",
    .judge = judge_compaction,
};

/* What its worker does cannot be told from what others give the worker to do. */
static bool judge_stat_interval(const struct iwi_case *c, const struct iwi_mitigation_ops *ops,
                                iw_mitigation *m)
{
    judge_number(c, ops, "vm.stat_interval", c->node->stat_interval,
                 c->node->stat_interval >= LONG_INTERVAL_S, m);
    return true;
}

const struct iwi_mitigation_ops iwi_stat_interval = {
    .name = "vm.stat_interval",
    .removes = "kworkers for statistics",
    .advice = "sysctl vm.stat_interval=120",
    .judge = judge_stat_interval,
};
