/* Reads a node, looks at what was seen on it, and judges each mitigation.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/verify.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/opts.h"
#include "core/base/order.h"
#include "core/base/short_number.h"
#include "core/base/sysfile.h"
#include "features/settings/judge.h"

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

enum { MOST_REMARKS = 8 };

const char *iw_mitigation_state_name(iw_mitigation_state state)
{
    static const char *const names[] = {"contradicted", "in effect", "configured", "cannot tell",
                                        "not configured"};

    return (unsigned)state < IW_MITIGATION_STATES ? names[state] : "?";
}

/* ---- sources that a mitigation removes ---- */

/* "irq/eno1" with a backslash before signs that patterns know. */
static char *pattern_of(const iw_log *log, const iw_source *source)
{
    char *text = iwi_new_array(log, 2 * sizeof source->name + 16, 1);
    size_t used;

    if (text == NULL) {
        return NULL;
    }
    used = (size_t)snprintf(text, 16, "%s/", iw_class_name(source->kind));
    for (const char *at = source->name; *at != '\0'; at++) {
        if (strchr("*?[]\\", *at) != NULL) {
            text[used++] = '\\';
        }
        text[used++] = *at;
    }
    return text;
}

/* On CPUs that count. */
static bool took_time(const struct iwi_case *c, const iw_source *source)
{
    const struct iwi_observed *seen = c->seen;

    for (size_t i = 0; i < seen->row_count; i++) {
        const struct iwi_seen_row *row = &seen->rows[i];

        if (row->source.kind == source->kind && strcmp(row->source.name, source->name) == 0 &&
            row->busy_ns > 0.0 && iw_cpu_set_has(&c->looked_at, seen->seen_cpus[row->place].cpu)) {
            return true;
        }
    }
    return false;
}

static iw_status list_sources(const iw_log *log, const struct iwi_case *c, const iw_recording *recording,
                              const struct iwi_mitigation_ops *ops, iw_mitigation *m)
{
    m->sources = iwi_new_array(log, recording->source_count, sizeof *m->sources);
    if (m->sources == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < recording->source_count; i++) {
        const iw_source *source = &recording->sources[i];

        if (!iwi_source_patterns_have(&ops->sources, source) || !took_time(c, source)) {
            continue;
        }
        m->sources[m->source_count] = pattern_of(log, source);
        if (m->sources[m->source_count] == NULL) {
            return IW_ERR_NOMEM;
        }
        m->source_count++;
    }
    return IW_OK;
}

/* ---- about the node ---- */

static char *add_remark(iw_verify *verify)
{
    return verify->remarks[verify->remark_count++];
}

static void describe_node(const struct iwi_node_facts *node, iw_verify *verify)
{
    if (iwi_node_is_guest(node)) {
        iwi_judge_say(add_remark(verify),
                      "This is a virtual machine (%.48s): settings of its host matter too, and cannot be "
                      "seen from here.",
                      node->info.hypervisor);
    }
    if (node->container[0] != '\0') {
        iwi_judge_say(add_remark(verify),
                      "This is a container (%.100s): it sees the settings of its host but cannot change "
                      "them; ask the host's operator.",
                      node->container);
    }
    if (node->is_realtime) {
        iwi_judge_say(add_remark(verify), "The kernel is PREEMPT_RT: softirqs run in threads, so expect more "
                                          "noise from threads, not less.");
    }
}

/* Settings of one node and what happened on another, or before a change, do not go together. */
static void compare_origins(const iw_log *log, const struct iwi_node_facts *node,
                            const iw_recording *recording, iw_verify *verify)
{
    const char *host = iw_recording_get(recording, "host"), *kernel = iw_recording_get(recording, "kernel");

    if (iw_recording_get(recording, "specs") != NULL) { /* of no node */
        return;
    }
    if (host != NULL && strcmp(node->info.host, "unknown") != 0 && strcmp(host, node->info.host) != 0) {
        snprintf(verify->recorded_host, sizeof verify->recorded_host, "%s", host);
        iwi_warn(log, "the recording is of '%.64s', the settings are of '%.64s'; record on the node itself",
                 host, node->info.host);
    }
    if (kernel != NULL && strcmp(node->info.kernel, "unknown") != 0 &&
        strcmp(kernel, node->info.kernel) != 0) {
        iwi_judge_say(
            add_remark(verify),
            "The recording was made under kernel %.64s, but the settings are of %.64s: record again.", kernel,
            node->info.kernel);
    }
}

static void find_caveats(const iw_verify_opts *opts, iw_verify *verify)
{
    const char *name = opts->recording_name != NULL ? opts->recording_name : "the recording";

    iw_caveats_of_recording(opts->recording, name, &verify->caveats);
    if (verify->recorded_host[0] == '\0') {
        iw_caveats_of_boot(opts->recording, name, verify->boot_s, &verify->caveats);
    }
}

static void describe_watched(const struct iwi_case *c, iw_verify *verify)
{
    const struct iwi_observed *seen = c->seen;
    double shortest_s = HUGE_VAL;
    char cpus[IWI_CPUS_SIZE];

    for (size_t i = 0; i < seen->cpu_count; i++) {
        shortest_s = fmin(shortest_s, seen->seen_cpus[i].seconds);
    }
    if (seen->by == IWI_SEEN_BY_RECORDING) {
        iwi_judge_say(verify->watched, "a recording of %s, %s s", iwi_cpus_text(&seen->cpus, cpus),
                      iwi_short(shortest_s, 3).text);
        if (seen->attribution != IW_ATTRIBUTION_LEVEL_NONE ||
            !seen->tells[IW_CLASS_THREAD]) { /* made ones name all without */
            iwi_judge_say(verify->watched, ", level of attribution %s",
                          iw_attribution_level_name(seen->attribution));
        }
    } else if (seen->by == IWI_SEEN_BY_COUNTERS) {
        iwi_judge_say(verify->watched, "the kernel's counters over %s s", iwi_short(shortest_s, 3).text);
    }
}

static void describe_quiet(const struct iwi_case *c, const iw_cpu_set *cpus, iw_verify *verify)
{
    const char *origin =
        cpus != NULL ? "as given" : (c->is_told ? "those of the batch job" : "set apart by the kernel");

    verify->quiet = c->quiet;
    snprintf(verify->quiet_origin, sizeof verify->quiet_origin, "%s",
             iw_cpu_set_is_empty(&c->quiet) ? "" : origin);
}

/* ---- judging ---- */

static iw_status judge_all(const iw_log *log, const struct iwi_case *c, const iw_recording *recording,
                           iw_verify *verify)
{
    for (size_t i = 0; iwi_mitigations[i] != NULL; i++) {
        iw_mitigation *m = &verify->mitigations[verify->count];

        if (!iwi_judge(c, iwi_mitigations[i], m)) {
            continue;
        }
        verify->count++;
        verify->counts[m->state]++;
        if (recording != NULL) {
            IW_TRY(list_sources(log, c, recording, iwi_mitigations[i], m));
        }
    }
    return IW_OK;
}

static double weight_of(const iw_mitigation *m)
{
    if (m->has_worth) {
        return m->worth.value;
    }
    return isnan(m->share) ? 0.0 : m->share;
}

static int compare(const void *a, const void *b)
{
    const iw_mitigation *x = a, *y = b;
    const double difference = weight_of(y) - weight_of(x);

    if (x->state != y->state) {
        return x->state < y->state ? -1 : 1;
    }
    if (x->is_felt != y->is_felt) {
        return x->is_felt ? -1 : 1;
    }
    if (difference != 0.0) {
        return difference > 0.0 ? 1 : -1;
    }
    if (x->is_felt && x->seen_hz != y->seen_hz && !isnan(x->seen_hz) && !isnan(y->seen_hz)) {
        return x->seen_hz < y->seen_hz ? 1 : -1;
    }
    return strcmp(x->name, y->name);
}

static bool is_to_do(const iw_mitigation *m)
{
    if (m->advice[0] == '\0' || (m->has_worth && m->state == IW_MITIGATION_ABSENT && m->worth.low <= 0.0)) {
        return false;
    }
    return m->state == IW_MITIGATION_CONTRADICTED || (m->state == IW_MITIGATION_ABSENT && m->is_felt);
}

void iw_verify_sort(iw_verify *verify)
{
    for (size_t i = 0; i < verify->count; i++) {
        verify->mitigations[i].is_to_do = is_to_do(&verify->mitigations[i]);
    }
    iwi_sort(verify->mitigations, verify->count, compare);
}

static iw_status new_verify(const iw_log *log, iw_verify **verify_p)
{
    const size_t room = sizeof(iw_mitigation);
    size_t most = 0;
    iw_verify *verify = iwi_new_array(log, 1, sizeof *verify);

    while (iwi_mitigations[most] != NULL) {
        most++;
    }
    *verify_p = verify;
    if (verify == NULL) {
        return IW_ERR_NOMEM;
    }
    verify->mitigations = iwi_new_array(log, most, room);
    verify->remarks = iwi_new_array(log, MOST_REMARKS, sizeof *verify->remarks);
    return verify->mitigations != NULL && verify->remarks != NULL ? IW_OK : IW_ERR_NOMEM;
}

/* Seconds since 1970; 0: not known. */
static int64_t read_boot(const char *root)
{
    char text[32];

    return iwi_sysfile_value(root, "/proc/stat", "btime", ' ', text, sizeof text) ? strtoll(text, NULL, 10)
                                                                                  : 0;
}

static iw_status fill(const iw_log *log, const iw_verify_opts *opts, const struct iwi_node_facts *node,
                      const struct iwi_observed *seen, iw_verify *verify)
{
    struct iwi_case c;

    iwi_case_init(&c, node, seen, opts->cpus);
    snprintf(verify->host, sizeof verify->host, "%s", node->info.host);
    snprintf(verify->kernel, sizeof verify->kernel, "%s", node->info.kernel);
    verify->online = node->online.cpus;
    describe_quiet(&c, opts->cpus, verify);
    describe_watched(&c, verify);
    describe_node(node, verify);
    verify->boot_s = read_boot(opts->root);
    if (opts->recording != NULL) {
        compare_origins(log, node, opts->recording, verify);
        find_caveats(opts, verify);
    }
    IW_TRY(judge_all(log, &c, opts->recording, verify));
    iw_verify_sort(verify);
    return IW_OK;
}

static iw_status observe(const iw_log *log, const iw_verify_opts *opts, const struct iwi_node_facts *node,
                         struct iwi_observed *seen)
{
    if (opts->recording != NULL) {
        return iwi_observe_recording(log, opts->recording, seen);
    }
    if (opts->watch_ns > 0 || iwi_is_copied_twice(opts->root)) {
        return iwi_observe_counters(log, opts->root, &node->online.cpus, opts->watch_ns, seen);
    }
    return IW_OK;
}

static iw_status check_cpus(const iw_log *log, const iw_cpu_set *cpus, const struct iwi_node_facts *node)
{
    const iw_cpu_set missing =
        cpus != NULL ? iw_cpu_set_without(cpus, &node->online.cpus) : (iw_cpu_set){{0}};
    char text[IWI_CPUS_SIZE], online[IWI_CPUS_SIZE];

    if (!node->online.is_known || iw_cpu_set_is_empty(&missing)) {
        return IW_OK;
    }
    return iwi_fail(log, IW_ERR_RANGE, "%s: not on this node, which has %s online",
                    iwi_cpus_text(&missing, text), iwi_cpus_text(&node->online.cpus, online));
}

iw_status iw_verify_run(const iw_log *log, const iw_verify_opts *given, iw_verify **verify_p)
{
    iw_verify_opts opts = IW_VERIFY_OPTS_INIT;
    struct iwi_node_facts *node;
    struct iwi_observed seen = {.by = IWI_SEEN_BY_NONE};
    iw_verify *verify = NULL;
    iw_status status;

    IW_TRY(IWI_READ_OPTS(log, "IW_VERIFY_OPTS_INIT", given, &opts));
    node = iwi_new_array(log, 1, sizeof *node);
    if (node == NULL) {
        return IW_ERR_NOMEM;
    }
    status = iwi_node_read(log, opts.root, node);
    if (status == IW_OK) {
        status = check_cpus(log, opts.cpus, node);
    }
    if (status == IW_OK) {
        status = observe(log, &opts, node, &seen);
    }
    if (status == IW_OK) {
        status = new_verify(log, &verify);
    }
    if (status == IW_OK) {
        status = fill(log, &opts, node, &seen, verify);
    }
    iwi_observed_release(&seen);
    iwi_node_release(node);
    free(node);
    if (status != IW_OK) {
        iw_verify_free(verify);
        return status;
    }
    *verify_p = verify;
    return IW_OK;
}

void iw_verify_free(iw_verify *verify)
{
    if (verify == NULL) {
        return;
    }
    for (size_t i = 0; verify->mitigations != NULL && i < verify->count; i++) {
        for (size_t k = 0; k < verify->mitigations[i].source_count; k++) {
            free(verify->mitigations[i].sources[k]);
        }
        free(verify->mitigations[i].sources);
    }
    free(verify->mitigations);
    free(verify->remarks);
    free(verify);
}
