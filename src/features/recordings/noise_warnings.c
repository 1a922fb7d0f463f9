/* What one should know of a recording before believing it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/attribute_text.h"
#include "core/base/base.h"
#include "features/recordings/recordings.h"

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
                 "%" PRIu64 " detours found no room, so the last ones are missing: record with room for more "
                 "events, or with a higher threshold.",
                 facts->dropped);
    }
    if (lost != NULL && strtod(lost, NULL) > 0.0) {
        iwi_item(doc, "%s kernel events were lost: some detours lack their source.", lost);
    }
}

/* The rung that was used is not the best: what it does not identify, and why no better one was used. */
static void warn_of_unknown_sources(struct iwi_document *doc, const iw_noise_facts *facts)
{
    const char *note = iwi_fact(facts, "attribution_note");

    if (iw_probe_has_quanta(facts->probe) || facts->rung > IW_RUNG_SWITCHES || facts->all.count == 0 ||
        (facts->rung == IW_RUNG_NONE && facts->has_sources) ||
        iwi_fact(facts, "specs") != NULL) { /* synthetic: nothing had to be identified */
        return;
    }
    iwi_item(doc, "%s",
             facts->rung == IW_RUNG_NONE
                 ? "What took the CPUs is unknown: the recording names no sources."
                 : "Only preemptions were identified: interrupts, the hypervisor and the hardware count as "
                   "unknown.");
    if (note != NULL) {
        iwi_more(doc, " What did not work there: %s.", note);
    }
}

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

        sum_ms += *end == ':' && iwi_noise_has_cpu(facts, cpu) ? strtod(end + 1, NULL) : 0.0;
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
    iwi_item(doc, "This is a virtual machine%s: what its host takes counts as noise",
             hypervisor != NULL ? iwi_say(doc, " (%s)", iwi_attribute_text("hypervisor", hypervisor)) : "");
    if (hardware >= NOTABLE_SHARE) {
        iwi_more(doc, ", class hardware, %s", iwi_percent_short(doc, hardware));
    }
    if (steal >= NOTABLE_SHARE) {
        iwi_more(doc, "; it admits to %s (steal)", iwi_percent_short(doc, steal));
    }
    iwi_more(doc, ". Bare metal may be quieter.");
}

static void warn_of_clocks(struct iwi_document *doc, const iw_noise_facts *facts)
{
    const char *governor = iwi_said_fact(facts, "governor"), *source = iwi_said_fact(facts, "clocksource");
    const iw_noise_cpu *worst = NULL;

    if (governor != NULL && strcmp(governor, "performance") != 0) {
        iwi_item(doc,
                 "The clock frequency was not fixed (governor '%s'), so t_min and durations of work vary: "
                 "cpupower frequency-set -g performance.",
                 governor);
    }
    for (size_t c = 0; c < facts->cpu_count && !iw_probe_has_quanta(facts->probe); c++) {
        if (facts->cpus[c].t_min_ns > HIGH_T_MIN_NS &&
            (worst == NULL || facts->cpus[c].t_min_ns > worst->t_min_ns)) {
            worst = &facts->cpus[c];
        }
    }
    if (worst != NULL) {
        iwi_item(doc,
                 "One turn of the loop takes %s on CPU %" PRIu32
                 " even undisturbed, so short detours were missed%s.",
                 iwi_ns_short(doc, worst->t_min_ns), worst->cpu,
                 source != NULL ? iwi_say(doc, ": the clock is slow to read (clock source '%s')", source)
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
        iwi_item(doc, "Sources rarer than one in %s may be missing: a longer recording would show them.",
                 iwi_ns_round(doc, facts->rare_limit_ns));
    }
}
