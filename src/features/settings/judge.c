/* The table of mitigations, and what their judges share.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/settings/judge.h"

#include <fnmatch.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/short_number.h"

const struct iwi_mitigation_ops *const iwi_mitigations[] = {
    &iwi_nohz_full,
    &iwi_fair_server,
    &iwi_ext_server,
    &iwi_rcu_nocbs,
    &iwi_isolation,
    &iwi_services,
    &iwi_threads_pinned,
    &iwi_no_quota,
    &iwi_core_spec,
    &iwi_irq_affinity,
    &iwi_rps,
    &iwi_send_queues,
    &iwi_block_queues,
    &iwi_workqueue_mask,
    &iwi_smt,
    &iwi_timer_migration,
    &iwi_skew_tick,
    &iwi_nmi_watchdog,
    &iwi_soft_watchdog,
    &iwi_machine_checks,
    &iwi_preemption,
    &iwi_no_sched_ext,
    &iwi_thp,
    &iwi_ksm,
    &iwi_numa_balancing,
    &iwi_compaction,
    &iwi_stat_interval,
    &iwi_governor,
    &iwi_epp,
    &iwi_turbo,
    &iwi_uncore,
    &iwi_idle_states,
    &iwi_clocksource,
    &iwi_near_devices,
    &iwi_no_smi,
    &iwi_tuned,
    &iwi_bare_metal,
    NULL,
};

/* ---- the case ---- */

void iwi_case_init(struct iwi_case *c, const struct iwi_node_facts *node, const struct iwi_observed *seen,
                   const iw_cpu_set *cpus)
{
    *c = (struct iwi_case){.node = node, .seen = seen, .is_told = cpus != NULL || node->job.is_known};
    if (c->is_told) {
        c->quiet = cpus != NULL ? *cpus : node->job.cpus;
    } else {
        c->quiet = iw_cpu_set_or(&node->isolated.cpus, &node->nohz_full.cpus);
        c->quiet = iw_cpu_set_or(&c->quiet, &node->partition.cpus);
    }
    c->rest = iw_cpu_set_without(&node->online.cpus, &c->quiet);
    c->looked_at = iw_cpu_set_is_empty(&c->quiet) ? seen->cpus : c->quiet;
}

struct iwi_case iwi_case_of(const struct iwi_case *c, const iw_cpu_set *cpus)
{
    struct iwi_case narrow = *c;

    narrow.quiet = narrow.looked_at = *cpus;
    narrow.rest = iw_cpu_set_without(&c->node->online.cpus, cpus);
    return narrow;
}

iw_cpu_set iwi_concerned(const struct iwi_case *c, const iw_cpu_set *cpus)
{
    return c->is_told ? iw_cpu_set_and(cpus, &c->quiet) : *cpus;
}

/* ---- words ---- */

void iwi_judge_say(char text[IW_MITIGATION_TEXT_SIZE], const char *format, ...)
{
    const size_t used = strlen(text);
    va_list args;

    va_start(args, format);
    vsnprintf(text + used, IW_MITIGATION_TEXT_SIZE - used, format, args);
    va_end(args);
}

const char *iwi_hz_text(double hz, char buf[IWI_RATE_SIZE])
{
    if (hz > 0.0 && hz < 0.1) {
        snprintf(buf, IWI_RATE_SIZE, "%s/min", iwi_short(hz * 60.0, 2).text);
    } else if (hz < 999.5) {
        snprintf(buf, IWI_RATE_SIZE, "%s/s", iwi_short(hz, 3).text);
    } else {
        snprintf(buf, IWI_RATE_SIZE, "%.0f/s", hz);
    }
    return buf;
}

const char *iwi_cpus_text(const iw_cpu_set *set, char buf[IWI_CPUS_SIZE])
{
    char list[IWI_CPUS_SIZE - 8];

    snprintf(buf, IWI_CPUS_SIZE, "CPU%s %s", iw_cpu_set_count(set) == 1 ? "" : "s",
             iw_cpu_set_text(set, list, sizeof list));
    return buf;
}

const char *iwi_list_text(const iw_cpu_set *set, const char *word, char buf[IWI_LIST_SIZE])
{
    iw_cpu_set_text(set, buf, IWI_LIST_SIZE);
    return strchr(buf, '.') != NULL ? word : buf;
}

void iwi_say_outside(const struct iwi_case *c, const iw_cpu_set *cpus, iw_mitigation *m)
{
    const iw_cpu_set outside = iw_cpu_set_without(&c->quiet, cpus);
    char text[IWI_CPUS_SIZE];

    if (c->is_told && !iw_cpu_set_is_empty(&outside)) {
        iwi_judge_say(m->evidence, "%snot for %s of the application", m->evidence[0] != '\0' ? "; " : "",
                      iwi_cpus_text(&outside, text));
    }
}

/* ---- one mitigation ---- */

bool iwi_source_patterns_have(const struct iwi_source_patterns *sources, const iw_source *source)
{
    char text[IW_SOURCE_NAME_SIZE + 16];

    snprintf(text, sizeof text, "%s/%s", iw_class_name(source->kind), source->name);
    for (size_t i = 0; sources->except != NULL && sources->except[i] != NULL; i++) {
        if (fnmatch(sources->except[i], text, 0) == 0) {
            return false;
        }
    }
    for (size_t i = 0; sources->patterns != NULL && sources->patterns[i] != NULL; i++) {
        if (fnmatch(sources->patterns[i], text, 0) == 0) {
            return true;
        }
    }
    return false;
}

/* CPUs of the case for a placeholder of an advice; words where there are none to name, or too many. */
static const char *cpus_of_placeholder(const struct iwi_case *c, const char *name, char buf[IWI_LIST_SIZE])
{
    const bool is_known = !iw_cpu_set_is_empty(&c->quiet) && !iw_cpu_set_is_empty(&c->rest);

    if (strncmp(name, "{quiet}", strlen("{quiet}")) == 0) {
        return is_known ? iwi_list_text(&c->quiet, "CPUS", buf) : "CPUS";
    }
    if (strncmp(name, "{rest}", strlen("{rest}")) == 0) {
        return is_known ? iwi_list_text(&c->rest, "OTHERS", buf) : "OTHERS";
    }
    iw_cpu_set_mask(&c->rest, buf, IWI_LIST_SIZE);
    return is_known && strchr(buf, '.') == NULL ? buf : "MASK_OF_OTHERS";
}

static void fill_advice(const struct iwi_case *c, const char *template, iw_mitigation *m)
{
    char cpus[IWI_LIST_SIZE];

    while (*template != '\0') {
        const size_t length = strcspn(template, "{");

        iwi_judge_say(m->advice, "%.*s", (int)length, template);
        template += length;
        if (*template == '{') {
            iwi_judge_say(m->advice, "%s", cpus_of_placeholder(c, template, cpus));
            template += strcspn(template, "}") + 1;
        }
    }
}

bool iwi_judge(const struct iwi_case *c, const struct iwi_mitigation_ops *ops, iw_mitigation *m)
{
    *m = (iw_mitigation){.name = ops->name,
                         .removes = ops->removes,
                         .state = IW_MITIGATION_UNKNOWN,
                         .seen_hz = (double)NAN,
                         .share = (double)NAN};
    if (!ops->judge(c, ops, m)) {
        return false;
    }
    if ((m->state == IW_MITIGATION_CONTRADICTED || m->state == IW_MITIGATION_ABSENT) &&
        m->advice[0] == '\0' && ops->advice != NULL) {
        fill_advice(c, ops->advice, m);
    }
    return true;
}

void iwi_conclude_setting(iw_mitigation *m, bool is_known, bool is_configured)
{
    m->state =
        !is_known ? IW_MITIGATION_UNKNOWN : (is_configured ? IW_MITIGATION_CONFIGURED : IW_MITIGATION_ABSENT);
    if (!is_known) {
        iwi_judge_say(m->evidence, "the setting cannot be read here");
    }
}
