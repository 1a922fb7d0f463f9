/* How threads are scheduled: quotas, preemption, schedulers of others, where services may run.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/short_number.h"
#include "features/settings/judge.h"

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
        iwi_judge_say(m->setting, "no limit of CPU time");
        return true;
    }
    iwi_judge_say(m->setting, "%s CPUs in each %s ms", iwi_short(quota->cpus, 3).text,
                  iwi_short(1e-3 * (double)quota->period_us, 3).text);
    if (quota->throttled > 0) {
        m->is_felt = true;
        iwi_judge_say(m->evidence, "stopped in %s %% of its periods so far, for %s s in all",
                      iwi_short_percent((double)quota->throttled / fmax((double)quota->periods, 1.0), 2).text,
                      iwi_short(quota->throttled_s, 3).text);
    } else {
        iwi_judge_say(m->evidence, "it was never stopped so far");
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
    .advice = "take the limit away and give whole CPUs instead: in Kubernetes equal integer requests and "
              "limits with the kubelet's cpu-manager-policy=static, in Docker cpuset-cpus, systemctl "
              "set-property UNIT CPUQuota=; or echo max > cpu.max of the group",
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
        iwi_judge_say(m->advice,
                      "cat /sys/kernel/debug/sched/preempt lists what this kernel can (from 7.0 on full and "
                      "lazy only); echo lazy > it, and find who changed it");
    }
    return true;
}

const struct iwi_mitigation_ops iwi_preemption = {
    .name = "preemption not full",
    .removes = "switches inside of the kernel",
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
    .removes = "rules of a scheduler that is not the kernel's own (sched_ext)",
    .advice = "stop the program that has loaded it: systemctl stop scx, or find it by bpftool struct_ops",
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
        iwi_judge_say(m->evidence, "%.32s%s may run everywhere", node->service,
                      node->free_service_count > 1 ? " and others" : "");
    }
    return true;
}

const struct iwi_mitigation_ops iwi_services = {
    .name = "services confined",
    .removes = "daemons of the system",
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
    iwi_judge_say(m->setting, "%zu of %zu threads that work are bound to a core",
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
    .removes = "threads of the job that move, or share a CPU",
    .advice = "bind ranks and their threads: srun --cpu-bind=cores with cpus-per-task, OMP_PROC_BIND=close "
              "OMP_PLACES=cores; threads of libraries (MPI progress, I/O) need a CPU of their own",
    .judge = judge_threads_pinned,
};
