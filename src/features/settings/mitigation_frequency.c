/* Frequency, idle states, and the clock.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <string.h>

#include "core/base/base.h"
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
    .removes = "changes of frequency",
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
    .removes = "frequencies that the processor lowers by itself",
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
              "/sys/devices/system/cpu/cpufreq/boost; nodes get alike, and slower",
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
    .removes = "memory and mesh that slow down meanwhile",
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
        iwi_judge_say(m->setting, "deepest %.32s, %ld us to wake up", node->idle_state,
                      node->idle_latency_us);
        iwi_conclude_setting(m, true, node->idle_latency_us <= SHALLOW_US);
    } else {
        iwi_judge_say(m->evidence, "no idle states to choose here: %s chooses",
                      iwi_node_is_guest(node) ? "the host" : "the firmware");
    }
    return true;
}

/* Programs can hold idle states off through /dev/cpu_dma_latency, which shows nowhere. */
const struct iwi_mitigation_ops iwi_idle_states = {
    .name = "shallow idle states",
    .removes = "slow wake-ups",
    .advice =
        "cpupower idle-set -D 10, or boot with idle=poll; ranks that poll do not sleep and gain nothing",
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
        iwi_judge_say(m->evidence, "the command line says tsc=reliable, but the kernel gave the TSC up");
        iwi_judge_say(m->advice,
                      "dmesg | grep -i tsc says why; check the firmware's settings, or replace the node");
    }
    return true;
}

const struct iwi_mitigation_ops iwi_clocksource = {
    .name = "fast clock",
    .removes = "slow reads of the clock",
    .advice = "echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource; to keep it, boot "
              "with tsc=reliable",
    .judge = judge_clocksource,
};
