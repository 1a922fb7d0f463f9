/* What a recording says in words: the verdict, and how it was measured.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/recordings/recordings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/attribute_text.h"
#include "core/base/base.h"
#include "core/base/interrupt_text.h"
#include "core/base/order.h"
#include "core/base/short_number.h"
#include "features/recordings/noise_cost.h"

enum { MOST_INTERRUPTS = 64, SHOWN_INTERRUPTS = 6 };

const char *iwi_fact(const iw_noise_facts *facts, const char *name)
{
    for (size_t i = 0; i < facts->attribute_count; i++) {
        if (strcmp(facts->attributes[i].name, name) == 0) {
            return facts->attributes[i].value;
        }
    }
    return NULL;
}

const char *iwi_said_fact(const iw_noise_facts *facts, const char *name)
{
    const char *value = iwi_fact(facts, name);
    const bool is_said =
        value != NULL && value[0] != '\0' && strcmp(value, "none") != 0 && strcmp(value, "unknown") != 0;

    return is_said ? value : NULL;
}

const char *iwi_noise_host(const iw_noise_report *report)
{
    const char *host = iwi_fact(&report->facts, "host");

    return host != NULL && host[0] != '\0' ? host : report->name;
}

const char *iwi_origin_class(const iw_noise_origin *origin)
{
    return origin->is_kernel ? "kernel thread" : iw_class_name(origin->source.kind);
}

static bool is_quanta(const iw_noise_facts *facts)
{
    return iw_probe_has_quanta(facts->probe);
}

/* ---- the verdict ---- */

/* How long each CPU was watched, on average; the longest, where a detour is longer than that. */
static const char *length_of(struct iwi_document *doc, const iw_noise_facts *facts)
{
    const double mean_ns = facts->watched_ns / fmax((double)facts->cpu_count, 1.0);
    double most_ns = 0.0;

    for (size_t i = 0; i < facts->cpu_count; i++) {
        most_ns = fmax(most_ns, (double)facts->cpus[i].length_ns);
    }
    return facts->all.max_ns > mean_ns ? iwi_say(doc, "up to %s", iwi_ns_round(doc, most_ns))
                                       : iwi_ns_round(doc, mean_ns);
}

/* "(2 CPUs, 60 s)": which CPUs, and how long each. */
static const char *scope_of(struct iwi_document *doc, const iw_noise_facts *facts)
{
    const char *cpus = facts->cpu_count == 1 ? iwi_say(doc, "CPU %" PRIu32, facts->cpus[0].cpu)
                                             : iwi_say(doc, "%zu CPUs", facts->cpu_count);
    const char *quanta = "";

    if (is_quanta(facts)) {
        quanta = iwi_say(doc, "; %" PRIu64 " quanta of %s", facts->all.count,
                         iwi_ns_round(doc, (double)facts->quantum_ns));
    }
    return iwi_say(doc, "(%s, %s%s)", cpus, length_of(doc, facts), quanta);
}

/* What the kernel took, its threads apart, and what programs did. */
static void say_shares(struct iwi_document *doc, const iw_noise_facts *facts)
{
    double programs = 0.0, threads = 0.0, interrupts = 0.0;

    for (size_t i = 0; i < facts->source_count; i++) {
        const iw_noise_origin *origin = &facts->sources[i];
        const iw_class kind = origin->source.kind;

        programs += kind == IW_CLASS_THREAD && !origin->is_kernel ? origin->row.share : 0.0;
        threads += origin->is_kernel ? origin->row.share : 0.0;
        interrupts += kind == IW_CLASS_IRQ || kind == IW_CLASS_SOFTIRQ || kind == IW_CLASS_NMI
                          ? origin->row.share
                          : 0.0;
    }
    if (facts->rung > IW_RUNG_SWITCHES && iwi_fact(facts, "kernel_threads") != NULL) {
        iwi_more(doc, " By source: programs %s, kernel threads %s, interrupts %s.",
                 iwi_percent_short(doc, programs), iwi_percent_short(doc, threads),
                 iwi_percent_short(doc, interrupts));
    }
}

/* A load is not noise, as the caveats say. */
static void say_busy(struct iwi_document *doc, const char *host, const char *scope,
                     const iw_noise_facts *facts)
{
    iwi_verdict(doc, "%s of the CPUs of %s were taken %s, by load rather than noise.",
                iwi_percent(doc, facts->all.share), host, scope);
    say_shares(doc, facts);
}

void iwi_noise_verdict(struct iwi_document *doc, const iw_noise_report *report)
{
    const iw_noise_facts *facts = &report->facts;
    const char *host = iwi_noise_host(report), *scope = scope_of(doc, facts);

    iwi_say_caveats(doc, &facts->caveats, NULL);
    if (!(facts->all.max_ns > 0.0)) {
        iwi_verdict(doc, "%s shows no noise at all %s.", host, scope);
        return;
    }
    if (facts->load.is_busy) {
        say_busy(doc, host, scope, facts);
        return;
    }
    /* two digits of what a table would show as next to nothing */
    iwi_verdict(
        doc, "%s loses %s of its CPU%s to noise %s; the %s %s.", host,
        facts->all.share < 0.000995 ? iwi_say(doc, "%s %%", iwi_short_percent(facts->all.share, 2).text)
                                    : iwi_percent(doc, facts->all.share),
        iwi_s(facts->cpu_count), scope, is_quanta(facts) ? "worst quantum lost" : "longest detour took",
        iwi_ns_round(doc, facts->all.max_ns));
    iwi_say_noise_cost(doc, report);
}

/* ---- how it was measured ---- */

static void say_fact(struct iwi_document *doc, const iw_noise_facts *facts, const char *name,
                     const char *before)
{
    const char *value = iwi_fact(facts, name);

    if (value != NULL && value[0] != '\0') {
        iwi_more(doc, "%s%s", before, value);
    }
}

/* The command that ran beside, and until when if not all the time. */
static void say_under(struct iwi_document *doc, const iw_noise_facts *facts)
{
    const char *under = iwi_fact(facts, "under"), *ended = iwi_fact(facts, "under_ended_ns");

    if (under != NULL) {
        iwi_more(doc, ", under '%s'", under);
        if (ended != NULL) {
            iwi_more(doc, " until %s", iwi_ns_short(doc, strtod(ended, NULL)));
        }
    }
}

static void say_limits(struct iwi_document *doc, const iw_noise_facts *facts)
{
    double low_ns = INFINITY, high_ns = 0.0, threshold_ns = 0.0;

    for (size_t c = 0; c < facts->cpu_count; c++) {
        low_ns = fmin(low_ns, facts->cpus[c].t_min_ns);
        high_ns = fmax(high_ns, facts->cpus[c].t_min_ns);
        threshold_ns = fmax(threshold_ns, facts->cpus[c].threshold_ns);
    }
    if (facts->probe == IW_PROBE_WATCH) {
        iwi_more(doc, " Time counts while a thread of the job runs or waits.");
        if (threshold_ns > 0.0) {
            iwi_more(doc, " Detours shorter than %s were not kept.", iwi_ns_short(doc, threshold_ns));
        }
    } else if (threshold_ns > 0.0) {
        iwi_more(doc, " Detours shorter than %s are not seen (t_min %s ns).", iwi_ns_short(doc, threshold_ns),
                 round(10.0 * low_ns) == round(10.0 * high_ns)
                     ? iwi_say(doc, "%.1f", low_ns)
                     : iwi_say(doc, "%.1f to %.1f", low_ns, high_ns));
    }
}

void iwi_noise_provenance(struct iwi_document *doc, const iw_noise_report *report)
{
    const iw_noise_facts *facts = &report->facts;

    if (facts->probe == IW_PROBE_WATCH) {
        iwi_note(doc, "Met by a running job");
        say_fact(doc, facts, "job", ", ");
    } else {
        iwi_note(doc, "Probe %s", iw_probe_name(facts->probe));
    }
    say_fact(doc, facts, "clock", ", clock ");
    say_fact(doc, facts, "kernel", ", kernel ");
    say_fact(doc, facts, "date", ", ");
    say_under(doc, facts);
    if (!is_quanta(facts) && facts->rung != IW_RUNG_NONE) {
        iwi_more(doc, "; sources identified with %s", iw_rung_name(facts->rung));
    }
    iwi_more(doc, ".");
    if (!is_quanta(facts)) {
        say_limits(doc, facts);
    }
    iwi_say_noise_cost_origin(doc, report);
}

/* ---- interrupts: a hint where nothing identifies the sources of detours ---- */

struct interrupts {
    char name[IWI_INTERRUPT_NAME_SIZE];
    double sum;
};

bool iwi_noise_has_cpu(const iw_noise_facts *facts, unsigned long cpu)
{
    for (size_t c = 0; c < facts->cpu_count; c++) {
        if (facts->cpus[c].cpu == cpu) {
            return true;
        }
    }
    return false;
}

/* Summed over the CPUs of the recording: it may show some of them only. Names beyond the most are passed
 * over. */
static size_t count_interrupts(const char *text, const iw_noise_facts *facts,
                               struct interrupts counts[MOST_INTERRUPTS])
{
    struct iwi_interrupt_reader reader = {.next = text};
    size_t used = 0;

    while (iwi_interrupt_next(&reader)) {
        size_t i = 0;

        while (i < used && strcmp(counts[i].name, reader.name) != 0) {
            i++;
        }
        if (!iwi_noise_has_cpu(facts, reader.cpu) || i == MOST_INTERRUPTS) {
            continue;
        }
        if (i == used) {
            counts[used++] = (struct interrupts){.sum = 0.0};
            memcpy(counts[i].name, reader.name, sizeof counts[i].name);
        }
        counts[i].sum += (double)reader.count;
    }
    return used;
}

IWI_COMPARE(compare_counts, struct interrupts, IWI_FALLING(sum))

void iwi_noise_interrupts(struct iwi_document *doc, const iw_noise_facts *facts)
{
    const char *text = iwi_fact(facts, "interrupts");
    struct interrupts counts[MOST_INTERRUPTS];
    size_t used;

    if (text == NULL || facts->rung > IW_RUNG_SWITCHES || !(facts->watched_ns > 0.0)) {
        return;
    }
    used = count_interrupts(text, facts, counts);
    iwi_sort(counts, used, compare_counts);
    for (size_t i = 0; i < used && i < SHOWN_INTERRUPTS; i++) {
        if (i == 0) {
            iwi_paragraph(doc, "Interrupts meanwhile on each CPU, by /proc:");
        }
        iwi_more(doc, "%s %s %s", i > 0 ? "," : "", counts[i].name,
                 iwi_rate(doc, 1e9 * counts[i].sum / facts->watched_ns));
    }
    if (used > 0) {
        iwi_more(doc, ".");
    }
}
