/* Mitigations of the platform: frequencies, memory, firmware, hypervisors.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/short_number.h"
#include "features/settings/judge.h"

/* Slower wake-ups than this are longer than a message. */
static const long SHALLOW_US = 10;

static bool judge_governor(const struct iwi_case *c, const struct iwi_mitigation_ops *ops, iw_mitigation *m)
{
    const struct iwi_node_facts *node = c->node;
    const bool is_fixed = strcmp(node->governor, "performance") == 0;
    char cpus[IWI_CPUS_SIZE];

    (void)ops;
    if (node->governor[0] == '\0') {
        iwi_judge_say(m->evidence, "no cpufreq here: %s sets the frequency",
                      iwi_node_is_guest(node) ? "the host" : "the firmware");
        return true;
    }
    iwi_judge_say(m->setting, "%.32s", node->governor);
    if (!is_fixed) {
        iwi_judge_say(m->evidence, "on %s", iwi_cpus_text(&node->governor_cpus, cpus));
    }
    iwi_conclude_setting(m, true, is_fixed);
    return true;
}

const struct iwi_mitigation_ops iwi_governor = {
    .name = "governor performance",
    .removes = "frequency changes",
    .advice = "cpupower frequency-set -g performance",
    .judge = judge_governor,
};

static bool judge_epp(const struct iwi_case *c, const struct iwi_mitigation_ops *ops, iw_mitigation *m)
{
    const char *epp = c->node->epp;

    (void)ops;
    if (epp[0] == '\0') {
        return false;
    }
    iwi_judge_say(m->setting, "%.32s", epp);
    iwi_conclude_setting(m, true, strcmp(epp, "performance") == 0 || strcmp(epp, "0") == 0);
    return true;
}

const struct iwi_mitigation_ops iwi_epp = {
    .name = "EPP performance",
    .removes = "frequency changes by the processor",
    .advice = "cpupower set --epp performance",
    .judge = judge_epp,
};

static bool judge_turbo(const struct iwi_case *c, const struct iwi_mitigation_ops *ops, iw_mitigation *m)
{
    (void)ops;
    if (c->node->turbo == IWI_NOT_TOLD) {
        return false;
    }
    iwi_judge_say(m->setting, "turbo is %s", c->node->turbo == 0 ? "off" : "on");
    iwi_conclude_setting(m, true, c->node->turbo == 0);
    return true;
}

/* Off it costs speed: it makes nodes alike, which is worth it to few jobs. */
const struct iwi_mitigation_ops iwi_turbo = {
    .name = "turbo off",
    .removes = "frequencies that depend on neighbours and temperature",
    .advice = "echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo, or echo 0 > "
              "/sys/devices/system/cpu/cpufreq/boost; this makes nodes alike, and slower",
    .judge = judge_turbo,
};

static bool judge_uncore(const struct iwi_case *c, const struct iwi_mitigation_ops *ops, iw_mitigation *m)
{
    const struct iwi_node_facts *node = c->node;

    (void)ops;
    if (node->uncore_min_khz == IWI_NOT_TOLD) {
        return false;
    }
    if (node->uncore_min_khz == node->uncore_max_khz) {
        iwi_judge_say(m->setting, "%.2g GHz", 1e-6 * (double)node->uncore_max_khz);
    } else {
        iwi_judge_say(m->setting, "%.2g to %.2g GHz", 1e-6 * (double)node->uncore_min_khz,
                      1e-6 * (double)node->uncore_max_khz);
    }
    iwi_conclude_setting(m, true, node->uncore_min_khz == node->uncore_max_khz);
    return true;
}

const struct iwi_mitigation_ops iwi_uncore = {
    .name = "uncore fixed",
    .removes = "slow-downs of memory and mesh",
    .advice = "for p in /sys/devices/system/cpu/intel_uncore_frequency/package_*; do cat $p/max_freq_khz > "
              "$p/min_freq_khz; done",
    .judge = judge_uncore,
};

static bool judge_idle_states(const struct iwi_case *c, const struct iwi_mitigation_ops *ops,
                              iw_mitigation *m)
{
    const struct iwi_node_facts *node = c->node;
    char value[IWI_NODE_TEXT_SIZE];

    (void)ops;
    if (iwi_node_parameter(node, "idle", value, sizeof value) && strcmp(value, "poll") == 0) {
        iwi_judge_say(m->setting, "idle=poll");
        iwi_conclude_setting(m, true, true);
    } else if (node->idle_latency_us != IWI_NOT_TOLD) {
        iwi_judge_say(m->setting, "deepest %.32s, wakes up in %ld us", node->idle_state,
                      node->idle_latency_us);
        iwi_conclude_setting(m, true, node->idle_latency_us <= SHALLOW_US);
    } else {
        iwi_judge_say(m->evidence, "no choice of idle states here: %s chooses",
                      iwi_node_is_guest(node) ? "the host" : "the firmware");
    }
    return true;
}

/* Programs can hold idle states off through /dev/cpu_dma_latency, which shows nowhere. */
const struct iwi_mitigation_ops iwi_idle_states = {
    .name = "shallow idle states",
    .removes = "slow wake-ups",
    .advice = "cpupower idle-set -D 10, or boot with idle=poll; polling ranks do not sleep and gain nothing",
    .judge = judge_idle_states,
};

static bool is_one_of(const char *name, const char *const *names)
{
    while (*names != NULL && strcmp(name, *names) != 0) {
        names++;
    }
    return *names != NULL;
}

static bool judge_clocksource(const struct iwi_case *c, const struct iwi_mitigation_ops *ops,
                              iw_mitigation *m)
{
    static const char *const good[] = {"tsc", "arch_sys_counter", "timebase", "tod", NULL};
    /* what the kernel falls back to; guests have clocks of their host, which are the TSC's */
    static const char *const slow[] = {"hpet", "acpi_pm", "jiffies", "refined-jiffies", NULL};
    const struct iwi_node_facts *node = c->node;
    const char *source = node->info.clocksource;
    char value[IWI_NODE_TEXT_SIZE];
    const bool is_reliable =
        iwi_node_parameter(node, "tsc", value, sizeof value) && strcmp(value, "reliable") == 0;

    (void)ops;
    iwi_conclude_setting(m, strcmp(source, "unknown") != 0 && source[0] != '\0', is_one_of(source, good));
    if (m->state != IW_MITIGATION_UNKNOWN) {
        iwi_judge_say(m->setting, "%.32s%s", source, is_reliable ? ", tsc=reliable" : "");
    }
    if (is_reliable && is_one_of(source, slow)) {
        m->state = IW_MITIGATION_CONTRADICTED;
        iwi_judge_say(m->evidence, "the command line says tsc=reliable, but the kernel has given up the TSC");
        iwi_judge_say(
            m->advice,
            "find the reason with dmesg | grep -i tsc; check the firmware settings, or replace the node");
    }
    return true;
}

const struct iwi_mitigation_ops iwi_clocksource = {
    .name = "fast clock",
    .removes = "slow clock reads",
    .advice = "echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource; to keep it, boot "
              "with tsc=reliable",
    .judge = judge_clocksource,
};

/* What the kernel does to memory in the background. */

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
    .removes = "NUMA hinting page faults",
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

/* What the node runs on, and the profile that set it up. */

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
        iwi_judge_say(m->evidence, "it is unknown whether this machine is virtual");
        return true;
    }
    if (!is_guest) {
        iwi_conclude_setting(m, true, true);
        return true;
    }
    iwi_judge_say(m->setting, "virtual machine (%.48s)", c->node->info.hypervisor);
    iwi_conclude(c, &check, m);
    m->evidence[0] = '\0';
    if (m->is_felt) {
        iwi_judge_say(m->evidence, "%s %% of the time was lost where the kernel sees nothing: to the host",
                      iwi_short_percent(m->share, 2).text);
    }
    if (steal > 0.0) {
        iwi_judge_say(m->evidence, "%sthe hypervisor reports %s %% steal", m->evidence[0] != '\0' ? "; " : "",
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
    .advice = "ask for a dedicated host, or for virtual CPUs pinned to their own cores",
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
        iwi_judge_say(m->evidence, "the profile isolates CPUs, but none is isolated in the kernel");
        iwi_judge_say(m->advice,
                      "list the CPUs in /etc/tuned/%.32s-variables.conf (isolated_cores=), run tuned-adm "
                      "profile %.32s, and reboot",
                      node->tuned, node->tuned);
    }
    return true;
}

const struct iwi_mitigation_ops iwi_tuned = {
    .name = "tuned profile",
    .removes = "several sources",
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
    .removes = "firmware interrupts, which stop all CPUs",
    .advice = "in the firmware setup, turn off what polls (legacy USB, memory patrol by SMI, power capping), "
              "and have memory errors reported to the operating system",
    .judge = judge_no_smi,
};
