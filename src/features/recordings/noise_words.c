/* A recording in sentences: its noise, what it costs, what to beware of.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/attribute_text.h"
#include "core/base/base.h"
#include "core/base/interrupt_text.h"
#include "core/base/order.h"
#include "core/base/short_number.h"
#include "features/recordings/noise_report.h"
#include "features/recordings/recordings.h"
#include "kit/text/words.h"

/* ---- what one should know before believing it ---- */

/* Reading the clock costs 4 to 40 ns where it is an instruction, and far more where it is a system call. */
static const double HIGH_T_MIN_NS = 100.0;

/* A share of the time watched that is worth a word. */
static const double NOTABLE_SHARE = 0.0001;

/* A shorter recording, for each CPU, does not tell what share of it was stolen. */
static const double STEAL_LEAST_NS = 1e9;

static void warn_of_losses(struct iwi_document *doc, const iw_noise_facts *facts)
{
    const char *lost = iwi_fact(facts, "kernel_events_lost");

    if (facts->dropped > 0) {
        iwi_item(doc,
                 "%" PRIu64 " detour%s missing at the end of the recording: increase the number of "
                 "events, or the threshold.",
                 facts->dropped, facts->dropped == 1 ? " is" : "s are");
    }
    if (lost != NULL && strtod(lost, NULL) > 0.0) {
        iwi_item(doc, "%s kernel event%s lost: some detours lack their source.", lost,
                 strcmp(lost, "1") == 0 ? " was" : "s were");
    }
}

/* The attribution level that was used is not the best: what it does not identify, and why no better one was
 * used. */
static void warn_of_unknown_sources(struct iwi_document *doc, const iw_noise_facts *facts)
{
    const char *note = iwi_fact(facts, "attribution_note");

    if (iw_probe_has_quanta(facts->probe) || facts->attribution > IW_ATTRIBUTION_LEVEL_SWITCHES ||
        facts->all.count == 0 || (facts->attribution == IW_ATTRIBUTION_LEVEL_NONE && facts->has_sources) ||
        iwi_fact(facts, "specs") != NULL) { /* synthetic: nothing had to be identified */
        return;
    }
    iwi_item(doc, "%s",
             facts->attribution == IW_ATTRIBUTION_LEVEL_NONE
                 ? "The sources are unknown: the recording names none."
                 : "Only preemptions were identified: interrupts, the hypervisor and the hardware count as "
                   "unknown.");
    if (note != NULL) {
        iwi_doc_append(doc, " Reason: %s.", note);
    }
}

static bool noise_has_cpu(const iw_noise_facts *facts, unsigned long cpu);

/* Time that the host says it took: "12" ms on each CPU, or "0:12,1:30". */
static double steal_ms(const iw_noise_facts *facts)
{
    const char *item = iwi_fact(facts, "steal_ms");
    double sum_ms = 0.0;

    if (item != NULL && strchr(item, ':') == NULL) {
        return (double)facts->cpu_count * strtod(item, NULL);
    }
    while (item != NULL) {
        char *end;
        const unsigned long cpu = strtoul(item, &end, 10);

        sum_ms += *end == ':' && noise_has_cpu(facts, cpu) ? strtod(end + 1, NULL) : 0.0;
        item = strchr(item, ',');
        item = item != NULL ? item + 1 : NULL;
    }
    return sum_ms;
}

/* Its share; 0 where nothing can be said: the kernel counts it by ticks of 10 ms, and from before the first
 * detour to after the last. */
static double steal_share(const iw_noise_facts *facts)
{
    const double share = steal_ms(facts) * 1e6 / facts->watched_ns;

    return facts->watched_ns >= STEAL_LEAST_NS * (double)facts->cpu_count && share <= 1.0 ? share : 0.0;
}

static void warn_of_hypervisor(struct iwi_document *doc, const iw_noise_facts *facts)
{
    const char *hypervisor = iwi_said_fact(facts, "hypervisor");
    const double steal = steal_share(facts);
    double hardware = 0.0;

    if (hypervisor == NULL && steal < NOTABLE_SHARE) {
        return;
    }
    for (size_t s = 0; s < facts->source_count; s++) {
        hardware += facts->sources[s].source.kind == IW_CLASS_HARDWARE ? facts->sources[s].row.share : 0.0;
    }
    iwi_item(doc, "This is a virtual machine%s: time that its host takes counts as noise",
             hypervisor != NULL ? iwi_doc_printf(doc, " (%s)", iwi_attribute_text("hypervisor", hypervisor))
                                : "");
    if (hardware >= NOTABLE_SHARE) {
        iwi_doc_append(doc, ", class hardware, %s", iwi_percent_short(doc, hardware));
    }
    if (steal >= NOTABLE_SHARE) {
        iwi_doc_append(doc, "; the hypervisor reports %s steal", iwi_percent_short(doc, steal));
    }
    iwi_doc_append(doc, ". Bare metal may be quieter.");
}

static void warn_of_clocks(struct iwi_document *doc, const iw_noise_facts *facts)
{
    const char *governor = iwi_said_fact(facts, "governor"), *source = iwi_said_fact(facts, "clocksource");
    const iw_noise_cpu *worst = NULL;

    if (governor != NULL && strcmp(governor, "performance") != 0) {
        iwi_item(doc,
                 "The clock frequency was not fixed (governor '%s'), so t_min and durations of work vary; to "
                 "fix it: cpupower frequency-set -g performance.",
                 governor);
    }
    for (size_t c = 0; c < facts->cpu_count && !iw_probe_has_quanta(facts->probe); c++) {
        if (facts->cpus[c].t_min_ns > HIGH_T_MIN_NS &&
            (worst == NULL || facts->cpus[c].t_min_ns > worst->t_min_ns)) {
            worst = &facts->cpus[c];
        }
    }
    if (worst != NULL) {
        iwi_item(doc, "One undisturbed loop takes %s on CPU %" PRIu32 ", so short detours were missed%s.",
                 iwi_ns_short(doc, worst->t_min_ns), worst->cpu,
                 source != NULL
                     ? iwi_doc_printf(doc, ": the clock is slow to read (clock source '%s')", source)
                     : "");
    }
}

void iwi_noise_warnings(struct iwi_document *doc, const iw_noise_facts *facts)
{
    warn_of_losses(doc, facts);
    warn_of_unknown_sources(doc, facts);
    warn_of_hypervisor(doc, facts);
    warn_of_clocks(doc, facts);
    if (facts->rare_limit_ns > 0.0) {
        iwi_item(doc, "Events rarer than every %s may be missing; record longer to see them.",
                 iwi_ns_round(doc, facts->rare_limit_ns));
    }
}

/* ---- what collectives pay for it ---- */

/* Below this nobody notices. */
static const double LEAST_SLOWDOWN = 0.0005;

static bool is_least(const iw_noise_cost *cost)
{
    return cost->is_bound || cost->is_rare;
}

/* "1,024" */
static const char *grouped(struct iwi_document *doc, uint64_t number)
{
    return iwi_doc_printf(doc, "%s", iwi_ranks_text(number, (char[IWI_NUMBER_SIZE]){0}));
}

/* Two significant digits, for people: "2.4", "480", "12,000", "1.3 million". */
static const char *about(struct iwi_document *doc, double factor)
{
    const double power = pow(10.0, floor(log10(factor)) - 1.0);
    const double rounded = round(factor / power) * power;

    if (rounded >= 1e6) {
        return iwi_doc_printf(doc, "%.2g million", rounded / 1e6);
    }
    if (rounded >= 1e4) {
        return grouped(doc, (uint64_t)rounded);
    }
    return iwi_doc_printf(doc, rounded < 10.0 ? "%.1f" : "%.0f", rounded);
}

/* "2.4x", "1.3 million times" */
static const char *times(struct iwi_document *doc, double factor)
{
    return iwi_doc_printf(doc, factor < 1e6 ? "%sx" : "%s times", about(doc, factor));
}

/* " a barrier takes about 2.4x as long, an allreduce of 8 B 2.6x"; both in the same unit. */
static void say_slowdowns(struct iwi_document *doc, const iw_noise_cost *cost)
{
    const double barrier = is_least(cost) ? cost->barrier_slowdown.low : cost->barrier_slowdown.value;
    const double allreduce = is_least(cost) ? cost->allreduce_slowdown.low : cost->allreduce_slowdown.value;
    const char *least = is_least(cost) ? "at least " : "",
               *about_or_least = is_least(cost) ? least : "about ";

    if (iwi_is_large_slowdown(fmin(barrier, allreduce))) {
        iwi_doc_append(doc, " a barrier takes %s%s as long, an allreduce of 8 B %s%s", about_or_least,
                       times(doc, 1.0 + barrier), least, times(doc, 1.0 + allreduce));
    } else {
        iwi_doc_append(doc, " a barrier is %s%s %% slower, an allreduce of 8 B %s%s %%", about_or_least,
                       iwi_short_percent(fmax(barrier, 0.0), 2).text, least,
                       iwi_short_percent(fmax(allreduce, 0.0), 2).text);
    }
}

static void say_from(struct iwi_document *doc, const iw_noise_cost *cost)
{
    if (cost->from_ranks > 0) {
        iwi_doc_append(doc, "; barriers slow down by 5 %% from about %s ranks.",
                       grouped(doc, cost->from_ranks));
    } else {
        iwi_doc_append(doc, "; %sbarriers slow down by less than 5 %% on up to %s ranks.",
                       is_least(cost) ? "counting recorded events only, " : "",
                       grouped(doc, cost->most_ranks));
    }
}

/* Goes on with the verdict: " On 1,024 ranks of hdr-fat-tree a barrier takes ...". */
static void say_noise_cost(struct iwi_document *doc, const iw_noise_report *report)
{
    const iw_noise_cost *cost = &report->cost;
    const double most = is_least(cost) ? fmax(cost->barrier_slowdown.low, cost->allreduce_slowdown.low)
                                       : fmax(cost->barrier_slowdown.value, cost->allreduce_slowdown.value);

    if (cost->network == NULL) {
        if (report->facts.probe == IW_PROBE_FTQ) {
            iwi_doc_append(doc,
                           " FTQ does not record when detours begin, so the cost of a barrier is unknown.");
        }
        return;
    }
    if (most >= LEAST_SLOWDOWN) {
        iwi_doc_append(doc, " On %s ranks of %s", grouped(doc, cost->ranks), cost->network);
        say_slowdowns(doc, cost);
    } else if (cost->is_rare) {
        iwi_doc_append(doc,
                       " Its long detours are too rare for a quick simulation of a barrier on %s ranks of %s",
                       grouped(doc, cost->ranks), cost->network);
    } else if (cost->is_bound) {
        iwi_doc_append(doc, " The recording is too short to predict a barrier on %s ranks of %s",
                       grouped(doc, cost->ranks), cost->network);
    } else {
        iwi_doc_append(doc,
                       " On %s ranks of %s neither a barrier nor an allreduce of 8 B is noticeably slower",
                       grouped(doc, cost->ranks), cost->network);
    }
    say_from(doc, cost);
}

/* Goes on with a note: how that was found, and how sure it is. */
static void say_noise_cost_origin(struct iwi_document *doc, const iw_noise_report *report)
{
    const iw_noise_cost *cost = &report->cost;
    const iw_noise_facts *facts = &report->facts;
    char range[IWI_RANGE_SIZE];

    if (cost->network == NULL) {
        return;
    }
    iwi_doc_append(doc,
                   " Slowdowns are means of %" PRIu64 " simulations of %" PRIu64 " collectives back to back",
                   cost->trials, cost->repeat);
    if (cost->used_ns * (double)facts->cpu_count < 0.99 * facts->watched_ns) {
        iwi_doc_append(doc, " with the first %s", iwi_ns_round(doc, cost->used_ns));
    }
    if (cost->is_rare) {
        iwi_doc_append(doc, ", too few for rare detours: simulate more.");
    } else if (cost->is_bound) {
        iwi_doc_append(doc, "; a longer recording may show more.");
    } else {
        iwi_doc_append(doc, " (barrier: 95 %% CI %s).",
                       iwi_slowdown_range_text(cost->barrier_slowdown.low, cost->barrier_slowdown.high,
                                               cost->barrier_slowdown.value, range));
    }
}

/* ---- the verdict, and how it was measured ---- */

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
    return facts->all.max_ns > mean_ns ? iwi_doc_printf(doc, "up to %s", iwi_ns_round(doc, most_ns))
                                       : iwi_ns_round(doc, mean_ns);
}

/* "(2 CPUs, 60 s)": which CPUs, and how long each. */
static const char *scope_of(struct iwi_document *doc, const iw_noise_facts *facts)
{
    const char *cpus = facts->cpu_count == 1 ? iwi_doc_printf(doc, "CPU %" PRIu32, facts->cpus[0].cpu)
                                             : iwi_doc_printf(doc, "%zu CPUs", facts->cpu_count);
    const char *quanta = "";

    if (is_quanta(facts)) {
        quanta = iwi_doc_printf(doc, "; %" PRIu64 " quanta of %s", facts->all.count,
                                iwi_ns_round(doc, (double)facts->quantum_ns));
    }
    return iwi_doc_printf(doc, "(%s, %s%s)", cpus, length_of(doc, facts), quanta);
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
    if (facts->attribution > IW_ATTRIBUTION_LEVEL_SWITCHES && iwi_fact(facts, "kernel_threads") != NULL) {
        iwi_doc_append(doc, " By source: programs %s, kernel threads %s, interrupts %s.",
                       iwi_percent_short(doc, programs), iwi_percent_short(doc, threads),
                       iwi_percent_short(doc, interrupts));
    }
}

/* A load is not noise, as the caveats say. */
static void say_busy(struct iwi_document *doc, const char *host, const char *scope,
                     const iw_noise_facts *facts)
{
    iwi_verdict(doc, "Load, not noise, took %s of the CPUs of %s %s.", iwi_percent(doc, facts->all.share),
                host, scope);
    say_shares(doc, facts);
}

void iwi_noise_verdict(struct iwi_document *doc, const iw_noise_report *report)
{
    const iw_noise_facts *facts = &report->facts;
    const char *host = iwi_noise_host(report), *scope = scope_of(doc, facts);

    iwi_say_caveats(doc, &facts->caveats, NULL);
    if (!(facts->all.max_ns > 0.0)) {
        iwi_verdict(doc, "%s shows no noise %s.", host, scope);
        return;
    }
    if (facts->load.is_busy) {
        say_busy(doc, host, scope, facts);
        return;
    }
    /* two digits of what a table would show as next to nothing */
    iwi_verdict(doc, "%s loses %s of its CPU%s to noise %s; the %s %s.", host,
                facts->all.share < 0.000995
                    ? iwi_doc_printf(doc, "%s %%", iwi_short_percent(facts->all.share, 2).text)
                    : iwi_percent(doc, facts->all.share),
                iwi_plural_s(facts->cpu_count), scope,
                is_quanta(facts) ? "worst quantum lost" : "longest detour took",
                iwi_ns_round(doc, facts->all.max_ns));
    say_noise_cost(doc, report);
}

/* ---- how it was measured ---- */

static void say_fact(struct iwi_document *doc, const iw_noise_facts *facts, const char *name,
                     const char *before)
{
    const char *value = iwi_fact(facts, name);

    if (value != NULL && value[0] != '\0') {
        iwi_doc_append(doc, "%s%s", before, value);
    }
}

/* The command that ran beside, and until when if not all the time. */
static void say_under(struct iwi_document *doc, const iw_noise_facts *facts)
{
    const char *under = iwi_fact(facts, "under"), *ended = iwi_fact(facts, "under_ended_ns");

    if (under != NULL) {
        iwi_doc_append(doc, ", under '%s'", under);
        if (ended != NULL) {
            iwi_doc_append(doc, " until %s", iwi_ns_short(doc, strtod(ended, NULL)));
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
        iwi_doc_append(doc, " Only time in which a thread of the job runs or waits counts.");
        if (threshold_ns > 0.0) {
            iwi_doc_append(doc, " Detours shorter than %s were not recorded.",
                           iwi_ns_short(doc, threshold_ns));
        }
    } else if (threshold_ns > 0.0) {
        iwi_doc_append(doc, " Detours shorter than %s cannot be seen (t_min %s ns).",
                       iwi_ns_short(doc, threshold_ns),
                       round(10.0 * low_ns) == round(10.0 * high_ns)
                           ? iwi_doc_printf(doc, "%.1f", low_ns)
                           : iwi_doc_printf(doc, "%.1f to %.1f", low_ns, high_ns));
    }
}

void iwi_noise_provenance(struct iwi_document *doc, const iw_noise_report *report)
{
    const iw_noise_facts *facts = &report->facts;

    if (facts->probe == IW_PROBE_WATCH) {
        iwi_note(doc, "Recorded during a job");
        say_fact(doc, facts, "job", ", ");
    } else {
        iwi_note(doc, "Probe %s", iw_probe_name(facts->probe));
    }
    say_fact(doc, facts, "clock", ", clock ");
    say_fact(doc, facts, "kernel", ", kernel ");
    say_fact(doc, facts, "date", ", ");
    say_under(doc, facts);
    if (!is_quanta(facts) && facts->attribution != IW_ATTRIBUTION_LEVEL_NONE) {
        iwi_doc_append(doc, "; sources identified with %s", iw_attribution_level_name(facts->attribution));
    }
    iwi_doc_append(doc, ".");
    if (!is_quanta(facts)) {
        say_limits(doc, facts);
    }
    say_noise_cost_origin(doc, report);
}

/* ---- interrupts: a hint where nothing identifies the sources of detours ---- */

struct interrupts {
    char name[IWI_INTERRUPT_NAME_SIZE];
    double sum;
};

static bool noise_has_cpu(const iw_noise_facts *facts, unsigned long cpu)
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
        if (!noise_has_cpu(facts, reader.cpu) || i == MOST_INTERRUPTS) {
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

    if (text == NULL || facts->attribution > IW_ATTRIBUTION_LEVEL_SWITCHES || !(facts->watched_ns > 0.0)) {
        return;
    }
    used = count_interrupts(text, facts, counts);
    iwi_sort(counts, used, compare_counts);
    for (size_t i = 0; i < used && i < SHOWN_INTERRUPTS; i++) {
        if (i == 0) {
            iwi_paragraph(doc, "Interrupts per CPU during the recording (/proc):");
        }
        iwi_doc_append(doc, "%s %s %s", i > 0 ? "," : "", counts[i].name,
                       iwi_rate(doc, 1e9 * counts[i].sum / facts->watched_ns));
    }
    if (used > 0) {
        iwi_doc_append(doc, ".");
    }
}
