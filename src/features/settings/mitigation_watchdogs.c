/* The kernel's watchdogs.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <string.h>

#include "core/base/base.h"
#include "features/settings/judge.h"

/* The hard lockup detector comes every ten seconds of busy time. */
static const double NMI_ALLOWED_HZ = 1.0 / 60.0, NMI_LOUD_HZ = 0.1;

static bool judge_nmi_watchdog(const struct iwi_case *c, const struct iwi_mitigation_ops *ops,
                               iw_mitigation *m)
{
    const long value = c->node->nmi_watchdog;
    const struct iwi_rate_check check = {value == 0,     &c->looked_at, &ops->sources,
                                         NMI_ALLOWED_HZ, NMI_LOUD_HZ,   true};
    char parameter[IWI_NODE_TEXT_SIZE];

    if (value == IWI_NOT_TOLD) {
        iwi_conclude_setting(m, false, false);
        return true;
    }
    iwi_judge_say(m->setting, "kernel.nmi_watchdog=%ld", value);
    if (value != 0 && iwi_node_parameter(c->node, "nmi_watchdog", parameter, sizeof parameter) &&
        strcmp(parameter, "0") == 0) {
        m->state = IW_MITIGATION_CONTRADICTED;
        iwi_judge_say(m->evidence, "the command line says nmi_watchdog=0, but somebody has switched it on");
        return true;
    }
    iwi_conclude(c, &check, m);
    if (m->state == IW_MITIGATION_CONTRADICTED) {
        iwi_judge_say(m->advice,
                      "other users of NMIs: stop perf and profilers, look for machine checks (mcelog, "
                      "rasdaemon) and for NMIs that a management controller sends");
    }
    return true;
}

static const char *const nmi[] = {"nmi/*", NULL};
const struct iwi_mitigation_ops iwi_nmi_watchdog = {
    .name = "NMI watchdog off",
    .removes = "NMIs",
    .sources = {nmi, NULL},
    .advice = "sysctl kernel.nmi_watchdog=0; to keep it, boot with nmi_watchdog=0",
    .judge = judge_nmi_watchdog,
};

static bool judge_soft_watchdog(const struct iwi_case *c, const struct iwi_mitigation_ops *ops,
                                iw_mitigation *m)
{
    const struct iwi_node_facts *node = c->node;
    const bool is_elsewhere = node->watchdog_cpus.is_known && !iw_cpu_set_is_empty(&c->quiet) &&
                              !iw_cpu_set_meets(&node->watchdog_cpus.cpus, &c->quiet);
    char cpus[IWI_CPUS_SIZE];

    (void)ops;
    iwi_conclude_setting(m, node->watchdog != IWI_NOT_TOLD, node->watchdog == 0 || is_elsewhere);
    if (node->watchdog != IWI_NOT_TOLD) {
        iwi_judge_say(m->setting, "kernel.watchdog=%ld", node->watchdog);
    }
    if (node->watchdog != 0 && is_elsewhere) {
        iwi_judge_say(m->setting, " on %s", iwi_cpus_text(&node->watchdog_cpus.cpus, cpus));
    }
    return true;
}

static const char *const watchdog_threads[] = {"thread/watchdog/*", NULL};
const struct iwi_mitigation_ops iwi_soft_watchdog = {
    .name = "soft watchdog off",
    .removes = "a timer and a thread every 4 s",
    .sources = {watchdog_threads, NULL},
    .advice = "sysctl kernel.watchdog_cpumask={rest} (or kernel.watchdog=0)",
    .judge = judge_soft_watchdog,
};

/* Each CPU looks for corrected errors after each interval, and more often once it has found some. */
static bool judge_machine_checks(const struct iwi_case *c, const struct iwi_mitigation_ops *ops,
                                 iw_mitigation *m)
{
    const struct iwi_node_facts *node = c->node;
    char parameter[IWI_NODE_TEXT_SIZE];
    const bool is_asked = iwi_node_parameter(node, "mce", parameter, sizeof parameter) &&
                          (strcmp(parameter, "ignore_ce") == 0 || strcmp(parameter, "off") == 0);

    (void)ops;
    if (node->mce_interval_s == IWI_NOT_TOLD) {
        return false;
    }
    iwi_judge_say(m->setting, "check_interval=%ld%s", node->mce_interval_s,
                  node->mce_ignores == 1 ? ", ignore_ce=1" : "");
    iwi_conclude_setting(m, true, node->mce_interval_s == 0 || node->mce_ignores == 1);
    if (strcmp(parameter, "ignore_ce") == 0 && is_asked && node->mce_ignores == 0 &&
        node->mce_interval_s > 0) {
        m->state = IW_MITIGATION_CONTRADICTED;
        iwi_judge_say(m->evidence, "the command line says mce=ignore_ce, but somebody has switched it back");
    }
    return true;
}

const struct iwi_mitigation_ops iwi_machine_checks = {
    .name = "no MCE polls",
    .removes = "a timer on each CPU every five minutes",
    .advice =
        "boot with mce=ignore_ce, or echo 0 > "
        "/sys/devices/system/machinecheck/machinecheck0/check_interval; corrected errors of memory then "
        "go unseen",
    .judge = judge_machine_checks,
};
