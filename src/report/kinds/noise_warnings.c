/* What one should know before believing a recording.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "report/kinds/noise_report.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/recording_stats.h"
#include "base/attribute_text.h"
#include "base/base.h"

/* Reading the clock costs 4 to 40 ns where it is an instruction, and far more where it is a system call. */
static const double HIGH_T_MIN_NS = 100.0;

/* A share of the time watched that is worth a word. */
static const double NOTABLE_SHARE = 0.0001;

enum { VALUE_COLUMNS = 40 };

struct warner {
    const iw_recording *recording;
    const iw_noise_facts *facts;
    iwi_warning_fn warn;
    void *arg;
};

static void warn_of_dropped(const struct warner *w)
{
    char text[IWI_PARAGRAPH_SIZE] = "";

    if (w->facts->dropped > 0) {
        iwi_append(text,
                   "%" PRIu64 " detours found no room, so what came last is missing: record with more "
                   "--events, or with a higher --threshold.",
                   w->facts->dropped);
        w->warn(w->arg, text);
    }
}

/* The rung that was used is not the best: what it does not tell, and why no better one was used. */
static void warn_of_unknown_sources(const struct warner *w)
{
    const char *note = iw_recording_get(w->recording, "attribution_note");
    char text[IWI_PARAGRAPH_SIZE] = "";

    if (w->recording->probe != IW_PROBE_SELFISH || w->recording->rung > IW_RUNG_SWITCHES ||
        w->facts->all.count == 0 || (w->recording->rung == IW_RUNG_NONE && iwi_names_sources(w->recording)) ||
        iw_recording_get(w->recording, "specs") != NULL) { /* synthetic: nothing had to be told apart */
        return;
    }
    iwi_append(text, w->recording->rung == IW_RUNG_NONE
                         ? "What took the CPUs is unknown: the recording names no sources."
                         : "Only preemptions were told apart: interrupts, the hypervisor and the hardware "
                           "count as unknown.");
    if (note != NULL) {
        iwi_append(text, " What did not work there: %s.", note);
    }
    w->warn(w->arg, text);
}

static void warn_of_lost_events(const struct warner *w)
{
    const char *lost = iw_recording_get(w->recording, "kernel_events_lost");
    char text[IWI_PARAGRAPH_SIZE] = "", name[IWI_NAME_SIZE];

    if (lost != NULL && strtod(lost, NULL) > 0.0) {
        iwi_append(text, "%s kernel events were lost: some detours lack their source.",
                   iwi_plain_name(lost, VALUE_COLUMNS, name));
        w->warn(w->arg, text);
    }
}

/* Share of the time that went to hardware or the hypervisor: the kernel saw nothing. */
static double hardware_share(const struct warner *w)
{
    double share = 0.0;

    for (size_t s = 0; s < w->recording->source_count; s++) {
        share += w->recording->sources[s].kind == IW_CLASS_HARDWARE ? w->facts->by_source[s].share : 0.0;
    }
    return share;
}

static bool is_said(const char *value)
{
    return value != NULL && value[0] != '\0' && strcmp(value, "none") != 0 && strcmp(value, "unknown") != 0;
}

bool iwi_has_cpu(const iw_recording *recording, unsigned long cpu)
{
    for (size_t c = 0; c < recording->cpu_count; c++) {
        if (recording->cpus[c].cpu == cpu) {
            return true;
        }
    }
    return false;
}

/* Share of the time that the host says it took: "12" ms on each CPU, or "0:12,1:30". */
static double steal_share(const struct warner *w)
{
    const char *item = iw_recording_get(w->recording, "steal_ms");
    double sum_ms = 0.0;

    if (item == NULL || w->facts->watched_ns <= 0.0) {
        return 0.0;
    }
    if (strchr(item, ':') == NULL) {
        return (double)w->recording->cpu_count * strtod(item, NULL) * 1e6 / w->facts->watched_ns;
    }
    while (item != NULL) {
        char *end;
        const unsigned long cpu = strtoul(item, &end, 10);

        sum_ms += *end == ':' && iwi_has_cpu(w->recording, cpu) ? strtod(end + 1, NULL) : 0.0;
        item = strchr(item, ',');
        item = item != NULL ? item + 1 : NULL;
    }
    return sum_ms * 1e6 / w->facts->watched_ns;
}

static void warn_of_hypervisor(const struct warner *w)
{
    const char *hypervisor = iw_recording_get(w->recording, "hypervisor");
    char text[IWI_PARAGRAPH_SIZE] = "", name[IWI_NAME_SIZE], percent[IWI_NUMBER_SIZE];
    const double hardware = hardware_share(w), steal = steal_share(w);

    if (!is_said(hypervisor) && steal < NOTABLE_SHARE) {
        return;
    }
    iwi_append(text, "This is a virtual machine%s%s%s: what its host takes counts as noise",
               is_said(hypervisor) ? " (" : "",
               is_said(hypervisor)
                   ? iwi_plain_name(iwi_attribute_text("hypervisor", hypervisor), VALUE_COLUMNS, name)
                   : "",
               is_said(hypervisor) ? ")" : "");
    if (hardware >= NOTABLE_SHARE) {
        iwi_append(text, ", class hardware, %s", iwi_share_text(hardware, percent));
    }
    if (steal >= NOTABLE_SHARE) {
        iwi_append(text, "; it admits to %s (steal)", iwi_share_text(steal, percent));
    }
    iwi_append(text, ". Bare metal may be quieter.");
    w->warn(w->arg, text);
}

static void warn_of_frequency(const struct warner *w)
{
    const char *governor = iw_recording_get(w->recording, "governor");
    char text[IWI_PARAGRAPH_SIZE] = "", name[IWI_NAME_SIZE];

    if (is_said(governor) && strcmp(governor, "performance") != 0) {
        iwi_append(text,
                   "The clock frequency was not fixed (governor '%s'), so t_min and durations of work vary: "
                   "cpupower frequency-set -g performance.",
                   iwi_plain_name(governor, VALUE_COLUMNS, name));
        w->warn(w->arg, text);
    }
}

static void warn_of_slow_clock(const struct warner *w)
{
    const iw_detours *worst = NULL;
    const char *source = iw_recording_get(w->recording, "clocksource");
    char text[IWI_PARAGRAPH_SIZE] = "", time[IWI_NUMBER_SIZE], name[IWI_NAME_SIZE];

    for (size_t c = 0; c < w->recording->cpu_count; c++) {
        const iw_detours *cpu = &w->recording->cpus[c];

        if (cpu->t_min_ns > HIGH_T_MIN_NS && (worst == NULL || cpu->t_min_ns > worst->t_min_ns)) {
            worst = cpu;
        }
    }
    if (w->recording->probe != IW_PROBE_SELFISH || worst == NULL) {
        return;
    }
    iwi_append(text,
               "One turn of the loop takes %s on CPU %" PRIu32
               " even undisturbed, so short detours were missed",
               iwi_ns_short_text(worst->t_min_ns, time), worst->cpu);
    if (is_said(source)) {
        iwi_append(text, ": the clock is slow to read (clock source '%s')",
                   iwi_plain_name(source, VALUE_COLUMNS, name));
    }
    iwi_append(text, ".");
    w->warn(w->arg, text);
}

static void warn_of_rare_sources(const struct warner *w)
{
    char text[IWI_PARAGRAPH_SIZE] = "", limit[IWI_NUMBER_SIZE];

    if (w->facts->rare_limit_ns > 0.0) {
        iwi_append(text, "Sources rarer than one in %s may be missing: record longer to see them.",
                   iwi_ns_round_text(w->facts->rare_limit_ns, limit));
        w->warn(w->arg, text);
    }
}

void iwi_noise_warnings(const iw_recording *recording, const iw_noise_facts *facts, iwi_warning_fn warn,
                        void *arg)
{
    const struct warner w = {recording, facts, warn, arg};

    warn_of_dropped(&w);
    warn_of_unknown_sources(&w);
    warn_of_lost_events(&w);
    warn_of_hypervisor(&w);
    warn_of_frequency(&w);
    warn_of_slow_clock(&w);
    warn_of_rare_sources(&w);
}
