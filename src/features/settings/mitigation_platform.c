/* What the node runs on, and the profile that set it up.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/short_number.h"
#include "features/settings/judge.h"

/* ---- virtual machines ---- */

static const double HARDWARE_ALLOWED_HZ = 1.0 / 60.0, HARDWARE_LOUD_HZ = 1.0;

/* Share of the time that the host admits to have taken, on the CPUs looked at; NaN: not told. */
static double steal_share(const struct iwi_case *c)
{
    double sum = 0.0;
    size_t count = 0;

    for (size_t i = 0; i < c->seen->cpu_count; i++) {
        if (iw_cpu_set_has(&c->looked_at, c->seen->seen_cpus[i].cpu) && !isnan(c->seen->seen_cpus[i].steal)) {
            sum += c->seen->seen_cpus[i].steal;
            count++;
        }
    }
    return count > 0 ? sum / (double)count : (double)NAN;
}

static bool judge_bare_metal(const struct iwi_case *c, const struct iwi_mitigation_ops *ops, iw_mitigation *m)
{
    const bool is_guest = iwi_node_is_guest(c->node);
    const struct iwi_rate_check check = {
        false, &c->looked_at, &ops->sources, HARDWARE_ALLOWED_HZ, HARDWARE_LOUD_HZ, false};
    const double steal = steal_share(c);

    if (!is_guest && !c->node->tells_hypervisor) {
        iwi_judge_say(m->evidence, "this machine does not tell whether it is virtual");
        return true;
    }
    if (!is_guest) {
        iwi_conclude_setting(m, true, true);
        return true;
    }
    iwi_judge_say(m->setting, "a virtual machine (%.48s)", c->node->info.hypervisor);
    iwi_conclude(c, &check, m);
    m->evidence[0] = '\0';
    if (m->is_felt) {
        iwi_judge_say(m->evidence, "%s %% of the time went where the kernel sees nothing: to the host",
                      iwi_short_percent(m->share, 2).text);
    }
    if (steal > 0.0) {
        iwi_judge_say(m->evidence, "%sthe host admits to %s %% (steal)", m->evidence[0] != '\0' ? "; " : "",
                      iwi_short_percent(steal, 2).text);
        m->is_felt = true;
    }
    return true;
}

static const char *const hardware[] = {"hardware/*", NULL};
const struct iwi_mitigation_ops iwi_bare_metal = {
    .name = "bare metal",
    .removes = "the hypervisor",
    .sources = {hardware, NULL},
    .advice = "ask for a dedicated host, or for virtual CPUs that are pinned to cores of their own",
    .judge = judge_bare_metal,
};

/* ---- tuned ---- */

static bool judge_tuned(const struct iwi_case *c, const struct iwi_mitigation_ops *ops, iw_mitigation *m)
{
    static const char *const good[] = {"cpu-partitioning", "realtime", "hpc-compute", "latency-performance",
                                       "network-latency"};
    const struct iwi_node_facts *node = c->node;
    const bool isolates = strncmp(node->tuned, good[0], strlen(good[0])) == 0 ||
                          strncmp(node->tuned, good[1], strlen(good[1])) == 0;
    bool is_good = false;

    (void)ops;
    if (node->tuned[0] == '\0') {
        return false;
    }
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        is_good |= strncmp(node->tuned, good[i], strlen(good[i])) == 0;
    }
    iwi_judge_say(m->setting, "%.64s", node->tuned);
    iwi_conclude_setting(m, true, is_good);
    if (isolates && iw_cpu_set_is_empty(&node->isolated.cpus) && iw_cpu_set_is_empty(&node->nohz_full.cpus)) {
        m->state = IW_MITIGATION_CONTRADICTED;
        iwi_judge_say(m->evidence, "the profile isolates CPUs, but the kernel has none isolated");
        iwi_judge_say(m->advice,
                      "list the CPUs in /etc/tuned/%.32s-variables.conf (isolated_cores=), then tuned-adm "
                      "profile %.32s and reboot",
                      node->tuned, node->tuned);
    }
    return true;
}

const struct iwi_mitigation_ops iwi_tuned = {
    .name = "tuned profile",
    .removes = "several at once",
    .advice = "tuned-adm profile hpc-compute, or cpu-partitioning",
    .judge = judge_tuned,
};

/* ---- firmware ---- */

/* A guest's count is not that of its host. */
static bool judge_no_smi(const struct iwi_case *c, const struct iwi_mitigation_ops *ops, iw_mitigation *m)
{
    const struct iwi_observed *seen = c->seen;
    double seconds = 0.0;

    (void)ops;
    if (!seen->has_smi_count || seen->cpu_count == 0 || iwi_node_is_guest(c->node)) {
        return false;
    }
    for (size_t i = 0; i < seen->cpu_count; i++) {
        seconds = fmax(seconds, seen->seen_cpus[i].seconds);
    }
    m->is_felt = seen->smi_count > 0.0;
    m->seen_hz = seconds > 0.0 ? seen->smi_count / seconds : (double)NAN;
    m->state = m->is_felt ? IW_MITIGATION_ABSENT : IW_MITIGATION_CONFIGURED;
    if (m->is_felt) {
        iwi_judge_say(m->evidence, "%.0f in %s s", seen->smi_count, iwi_short(seconds, 3).text);
    } else {
        iwi_judge_say(m->evidence, "none in %s s", iwi_short(seconds, 3).text);
    }
    return true;
}

const struct iwi_mitigation_ops iwi_no_smi = {
    .name = "no SMIs",
    .removes = "interrupts by firmware, which stop all CPUs",
    .advice =
        "in the firmware's setup switch off what polls: legacy USB, memory patrol by SMI, power capping, "
        "and let errors of memory be reported to the operating system",
    .judge = judge_no_smi,
};
