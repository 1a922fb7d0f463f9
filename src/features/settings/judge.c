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
#include "core/numeric/numeric.h"

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

iw_cpu_set iwi_cpus_concerned(const struct iwi_case *c, const iw_cpu_set *cpus)
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
        iwi_judge_say(m->evidence, "%snot set for %s of the application", m->evidence[0] != '\0' ? "; " : "",
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

void iwi_conclude_setting(iw_mitigation *m, bool is_known, bool is_configured)
{
    m->state =
        !is_known ? IW_MITIGATION_UNKNOWN : (is_configured ? IW_MITIGATION_CONFIGURED : IW_MITIGATION_ABSENT);
    if (!is_known) {
        iwi_judge_say(m->evidence, "this setting cannot be read here");
    }
}

/* How often sources came to CPUs, and whether that is more than allowed, beyond chance. */

enum { SHOWN_NAMES = 3, SHOWN_COLUMNS = 40, MOST_MERGED = 64 };

/* A CPU of which counters tell counts as idle from here on: its tick stops without any setting. */
static const double IDLE_SHARE = 0.5;

/* ---- counting ---- */

static bool is_class_asked(const struct iwi_source_patterns *sources, iw_class kind)
{
    const char *name = iw_class_name(kind);
    const size_t length = strlen(name);

    for (size_t i = 0; sources->patterns[i] != NULL; i++) {
        if (strncmp(sources->patterns[i], name, length) == 0 && sources->patterns[i][length] == '/') {
            return true;
        }
    }
    return false;
}

static bool are_classes_told(const struct iwi_observed *seen, const struct iwi_source_patterns *sources)
{
    for (iw_class kind = IW_CLASS_UNKNOWN + 1; kind < IW_CLASSES; kind++) {
        if (is_class_asked(sources, kind) && !seen->tells[kind]) {
            return false;
        }
    }
    return true;
}

static bool are_classes_counted(const struct iwi_observed *seen, const struct iwi_source_patterns *sources)
{
    for (iw_class kind = IW_CLASS_UNKNOWN + 1; kind < IW_CLASSES; kind++) {
        if (is_class_asked(sources, kind) && seen->is_counted[kind]) {
            return true;
        }
    }
    return false;
}

/* The most frequent sources of one CPU, each with its rate. */
static void name_worst(const struct iwi_observed *seen, size_t place,
                       const struct iwi_source_patterns *sources, struct iwi_tally *tally)
{
    const struct iwi_seen_row *last = NULL;
    size_t used = 0;

    for (int shown = 0; shown < SHOWN_NAMES; shown++) {
        const struct iwi_seen_row *best = NULL;
        char rate[IWI_RATE_SIZE];

        for (size_t i = 0; i < seen->row_count; i++) {
            const struct iwi_seen_row *row = &seen->rows[i];
            const bool is_behind =
                last == NULL || row->count < last->count || (row->count == last->count && row > last);

            if (row->place == place && is_behind && (best == NULL || row->count > best->count) &&
                iwi_source_patterns_have(sources, &row->source)) {
                best = row;
            }
        }
        if (best == NULL || best->count == 0 || used >= sizeof tally->names) {
            return;
        }
        used += (size_t)snprintf(
            tally->names + used, sizeof tally->names - used, "%s%.*s %s", used > 0 ? ", " : "", SHOWN_COLUMNS,
            best->source.name[0] != '\0' ? best->source.name : iw_class_name(best->source.kind),
            iwi_hz_text((double)best->count / seen->seen_cpus[place].seconds, rate));
        last = best;
    }
}

/* Of one CPU. */
struct place_sum {
    uint64_t count, bursts;
    double busy_ns;
    const uint64_t *slots[MOST_MERGED]; /* of further sources are left out: then there are more bursts */
    size_t merged;
};

/* A login is several threads, but one burst. What comes in a slot and in the next one may be one, too. */
static uint64_t count_bursts(const struct place_sum *sum, size_t slot_count)
{
    uint64_t bursts = 0;

    for (size_t slot = 0; sum->merged > 0 && slot < slot_count; slot++) {
        uint64_t word = 0;

        for (size_t i = 0; i < sum->merged; i++) {
            word |= sum->slots[i][slot / 64];
        }
        if (word == 0) {
            slot |= 63;
        } else if ((word >> (slot % 64) & 1) != 0) {
            bursts++;
            slot++;
        }
    }
    return bursts;
}

static void sum_place(const struct iwi_observed *seen, size_t place,
                      const struct iwi_source_patterns *sources, struct place_sum *sum)
{
    *sum = (struct place_sum){.count = 0};
    for (size_t i = 0; i < seen->row_count; i++) {
        const struct iwi_seen_row *row = &seen->rows[i];

        if (row->place != place || !iwi_source_patterns_have(sources, &row->source)) {
            continue;
        }
        sum->count += row->count;
        sum->busy_ns += row->busy_ns;
        if (sum->merged < MOST_MERGED) {
            sum->slots[sum->merged++] = row->slots;
        }
    }
    sum->bursts = count_bursts(sum, seen->slot_count);
}

/* True: no CPU before had a higher rate. */
static bool keep_worst(const struct iwi_seen_cpu *cpu, const struct place_sum *sum, struct iwi_tally *tally)
{
    const double hz = (double)sum->count / cpu->seconds;

    if (sum->bursts >= tally->most_bursts) {
        tally->most_bursts = sum->bursts;
        tally->most_bursts_seconds = cpu->seconds;
    }
    if (tally->worst_seconds > 0.0 && hz <= (double)tally->worst_count / tally->worst_seconds) {
        return false;
    }
    tally->worst_cpu = cpu->cpu;
    tally->worst_count = sum->count;
    tally->worst_seconds = cpu->seconds;
    tally->is_worst_idle = cpu->idle > IDLE_SHARE;
    return true;
}

void iwi_tally(const struct iwi_case *c, const iw_cpu_set *cpus, const struct iwi_source_patterns *sources,
               struct iwi_tally *tally)
{
    const struct iwi_observed *seen = c->seen;
    double idle = 0.0, busy_s = 0.0;
    size_t worst = 0;

    *tally = (struct iwi_tally){
        .is_told = are_classes_told(seen, sources),
        .tellable_bursts = are_classes_counted(seen, sources) ? 1 : (seen->slot_count + 1) / 2,
    };
    for (size_t i = 0; i < seen->cpu_count; i++) {
        const struct iwi_seen_cpu *cpu = &seen->seen_cpus[i];
        struct place_sum sum;

        if (!iw_cpu_set_has(cpus, cpu->cpu) || !(cpu->seconds > 0.0)) {
            continue;
        }
        sum_place(seen, i, sources, &sum);
        tally->cpu_count++;
        tally->count += sum.count;
        tally->seconds += cpu->seconds;
        busy_s += sum.busy_ns * 1e-9;
        tally->is_cut |= cpu->least_count > 0 && are_classes_counted(seen, sources);
        idle += isnan(cpu->idle) ? 0.0 : cpu->idle;
        worst = keep_worst(cpu, &sum, tally) ? i : worst;
    }
    if (tally->cpu_count > 0) {
        tally->share = busy_s / tally->seconds;
        /* preemptions without names say something only where there are none at all */
        tally->is_told &= !seen->lacks_names || !is_class_asked(sources, IW_CLASS_THREAD) ||
                          (tally->count == 0 && strcmp(sources->patterns[0], "thread/*") == 0);
        tally->is_idle = idle / (double)tally->cpu_count > IDLE_SHARE;
        name_worst(seen, worst, sources, tally);
    }
}

/* ---- chance ---- */

/* So many within the time on the worst of the CPUs are beyond chance. */
static bool is_loud(const struct iwi_tally *tally, uint64_t count, double seconds, double allowed_hz)
{
    return count > 0 &&
           iwi_poisson_above(count - 1, allowed_hz * seconds) * (double)tally->cpu_count < IWI_CHANCE;
}

/* `loud_hz`: a rate that must not be missed: watched so long that none of it would come with IWI_CHANCE only.
 */
static enum iwi_finding weigh(const struct iwi_case *c, const struct iwi_tally *tally, double allowed_hz,
                              double loud_hz)
{
    const double burst_seconds = tally->most_bursts_seconds;
    bool is_often;

    if (c->seen->by == IWI_SEEN_BY_NONE) {
        return IWI_NOT_WATCHED;
    }
    if (tally->cpu_count == 0) {
        return IWI_ELSEWHERE;
    }
    if (!tally->is_told || (tally->is_cut && tally->count == 0)) {
        return IWI_NOT_NAMED;
    }
    is_often = is_loud(tally, tally->worst_count, tally->worst_seconds, allowed_hz);
    if (is_often && (allowed_hz >= 1.0 || is_loud(tally, tally->most_bursts, burst_seconds, allowed_hz))) {
        return IWI_LOUD;
    }
    if (is_often && !is_loud(tally, tally->tellable_bursts, burst_seconds, allowed_hz)) {
        return IWI_ONE_BURST;
    }
    return exp(-loud_hz * tally->worst_seconds) < IWI_CHANCE ? IWI_QUIET : IWI_TOO_SHORT;
}

/* ---- the verdict on one setting ---- */

static void say_untold(const struct iwi_case *c, iw_mitigation *m)
{
    if (c->seen->by == IWI_SEEN_BY_COUNTERS) {
        iwi_judge_say(m->evidence, "not visible in counters; run 'idlewave record' as root");
    } else {
        iwi_judge_say(m->evidence,
                      "the recording does not name such sources (level of attribution %s); record as root",
                      iw_attribution_level_name(c->seen->attribution));
    }
}

static void say_finding(const struct iwi_case *c, const struct iwi_rate_check *check,
                        const struct iwi_tally *tally, enum iwi_finding finding, iw_mitigation *m)
{
    char rate[IWI_RATE_SIZE], list[IWI_LIST_SIZE];

    switch (finding) {
    case IWI_NOT_WATCHED: break;
    case IWI_ELSEWHERE:
        iwi_judge_say(m->evidence, "other CPUs were watched; record on CPUs %s",
                      iwi_list_text(check->cpus, "of this setting", list));
        break;
    case IWI_NOT_NAMED: say_untold(c, m); break;
    case IWI_ONE_BURST:
        iwi_judge_say(m->evidence, "%s on CPU %" PRIu32 "%s", tally->names, tally->worst_cpu,
                      check->is_configured ? ", possibly all at once; record a minute as root to find out"
                                           : "");
        break;
    case IWI_TOO_SHORT:
        iwi_judge_say(m->evidence, "nothing unusual, but %s s is too short; watch %.0f s",
                      iwi_short(tally->worst_seconds, 3).text, ceil(-log(IWI_CHANCE) / check->loud_hz));
        break;
    case IWI_QUIET:
        if (tally->count == 0) {
            iwi_judge_say(m->evidence, "none in %s s", iwi_short(tally->worst_seconds, 3).text);
        } else {
            iwi_judge_say(m->evidence, "%s on CPU %" PRIu32 " (worst)", tally->names, tally->worst_cpu);
        }
        break;
    case IWI_LOUD:
        iwi_judge_say(m->evidence, "%s on CPU %" PRIu32, tally->names, tally->worst_cpu);
        if (check->is_configured) {
            iwi_judge_say(m->evidence, " (allowed %s)", iwi_hz_text(check->allowed_hz, rate));
        }
        break;
    }
}

static iw_mitigation_state state_of(const struct iwi_rate_check *check, enum iwi_finding finding)
{
    if (!check->is_configured) {
        return IW_MITIGATION_ABSENT;
    }
    switch (finding) {
    case IWI_LOUD: return IW_MITIGATION_CONTRADICTED;
    case IWI_QUIET: return IW_MITIGATION_EFFECTIVE;
    case IWI_NOT_WATCHED: return IW_MITIGATION_CONFIGURED;
    default: return check->is_sure ? IW_MITIGATION_CONFIGURED : IW_MITIGATION_UNKNOWN;
    }
}

void iwi_conclude(const struct iwi_case *c, const struct iwi_rate_check *check, iw_mitigation *m)
{
    struct iwi_tally tally;
    enum iwi_finding finding;

    iwi_tally(c, check->cpus, check->sources, &tally);
    finding = weigh(c, &tally, check->allowed_hz, check->loud_hz);
    m->state = state_of(check, finding);
    m->is_felt = finding == IWI_LOUD || (finding == IWI_ONE_BURST && !check->is_configured);
    if (tally.cpu_count > 0 && tally.is_told) {
        m->seen_hz = (double)tally.worst_count / tally.worst_seconds;
        m->share = c->seen->by == IWI_SEEN_BY_RECORDING ? tally.share : (double)NAN;
    }
    /* who has not set it up is told of what it would remove only */
    if (m->is_felt || (check->is_configured && !(check->is_sure && finding != IWI_QUIET))) {
        say_finding(c, check, &tally, finding, m);
    }
}
