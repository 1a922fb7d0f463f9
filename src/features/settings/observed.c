/* What a recording says, by source and CPU.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/settings/observed.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/interrupt_text.h"
#include "kit/facts/recording_stats.h"

enum { MOST_KEPT = 12 }; /* counters a CPU in the attribute 'interrupts' */

void iwi_observed_release(struct iwi_observed *seen)
{
    for (size_t i = 0; i < seen->row_count; i++) {
        free(seen->rows[i].slots);
    }
    free(seen->seen_cpus);
    free(seen->rows);
    *seen = (struct iwi_observed){.by = IWI_SEEN_BY_NONE};
}

struct iwi_seen_row *iwi_observed_row(const iw_log *log, struct iwi_observed *seen, iw_class kind,
                                      const char *name, uint32_t place)
{
    void *rows = seen->rows;
    uint64_t *slots;
    struct iwi_seen_row *row;

    for (size_t i = seen->row_count; i-- > 0 && seen->rows[i].place == place;) {
        if (seen->rows[i].source.kind == kind && strcmp(seen->rows[i].source.name, name) == 0) {
            return &seen->rows[i];
        }
    }
    if (iwi_grow(log, &rows, &seen->row_capacity, seen->row_count + 1, sizeof *seen->rows) != IW_OK) {
        return NULL;
    }
    seen->rows = rows;
    slots = iwi_new_array(log, seen->slot_count / 64 + 1, sizeof *slots);
    if (slots == NULL) {
        return NULL;
    }
    row = &seen->rows[seen->row_count++];
    *row = (struct iwi_seen_row){.source.kind = kind, .place = place, .slots = slots};
    snprintf(row->source.name, sizeof row->source.name, "%s", name);
    return row;
}

void iwi_mark_slot(const struct iwi_observed *seen, struct iwi_seen_row *row, size_t slot)
{
    if (slot < seen->slot_count) {
        row->slots[slot / 64] |= UINT64_C(1) << (slot % 64);
    }
}

/* ---- counters as sources ---- */

bool iwi_source_of_counter(const char *counter, iw_source *source)
{
    static const struct {
        const char *counter;
        iw_source source;
    } table[] = {
        {"LOC", {IW_CLASS_IRQ, "local_timer"}},   {"RES", {IW_CLASS_IRQ, "reschedule"}},
        {"CAL", {IW_CLASS_IRQ, "call_function"}}, {"IWI", {IW_CLASS_IRQ, "irq_work"}},
        {"NMI", {IW_CLASS_NMI, "nmi"}},
    };
    static const char softirq[] = "softirq ";
    const char *blank = strchr(counter, ' ');

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (strcmp(counter, table[i].counter) == 0) {
            *source = table[i].source;
            return true;
        }
    }
    if (strncmp(counter, softirq, strlen(softirq)) == 0) {
        source->kind = IW_CLASS_SOFTIRQ;
    } else if (isdigit((unsigned char)counter[0]) != 0 && blank != NULL) {
        source->kind = IW_CLASS_IRQ;
    } else {
        return false;
    }
    snprintf(source->name, sizeof source->name, "%s", blank + 1);
    return true;
}

/* What /proc counted meanwhile on one CPU. Only classes that the recording does not name itself are taken. */
static iw_status take_counters(const iw_log *log, struct iwi_observed *seen, uint32_t place, const char *text)
{
    struct iwi_seen_cpu *cpu = &seen->seen_cpus[place];
    struct iwi_interrupt_reader reader = {.next = text};
    uint64_t least = UINT64_MAX;
    size_t kept = 0;

    while (iwi_interrupt_next(&reader)) {
        struct iwi_seen_row *row;
        iw_source source;

        if (reader.cpu != cpu->cpu) {
            continue;
        }
        least = reader.count < least ? reader.count : least;
        kept++;
        if (!iwi_source_of_counter(reader.name, &source) || !seen->is_counted[source.kind]) {
            continue;
        }
        row = iwi_observed_row(log, seen, source.kind, source.name, place);
        if (row == NULL) {
            return IW_ERR_NOMEM;
        }
        row->count += reader.count;
        iwi_mark_slot(seen, row, 0);
    }
    cpu->least_count = kept >= MOST_KEPT ? least : 0;
    return IW_OK;
}

/* ---- recordings ---- */

/* Made recordings have no attribution level, but nothing in them is unknown. */
static void set_tells(const iw_recording *recording, struct iwi_observed *seen)
{
    const bool is_made = iw_recording_get(recording, "specs") != NULL;
    const bool has_counters = iw_recording_get(recording, "interrupts") != NULL;
    const bool is_all = !iw_probe_has_quanta(recording->probe) &&
                        (recording->attribution >= IW_ATTRIBUTION_LEVEL_PERF || is_made);

    seen->lacks_names = !is_all;
    for (iw_class kind = IW_CLASS_UNKNOWN + 1; kind < IW_CLASSES; kind++) {
        const bool is_countable = kind == IW_CLASS_IRQ || kind == IW_CLASS_SOFTIRQ || kind == IW_CLASS_NMI;

        seen->tells[kind] =
            is_all || (kind == IW_CLASS_THREAD && recording->attribution == IW_ATTRIBUTION_LEVEL_SWITCHES);
        seen->is_counted[kind] = !seen->tells[kind] && has_counters && is_countable;
        seen->tells[kind] |= seen->is_counted[kind];
    }
}

/* Rows of one CPU, being filled. */
struct filling {
    const iw_log *log;
    const iw_recording *recording;
    struct iwi_observed *seen;
    uint32_t place;
    int64_t slot_ns;
    iw_status status;
};

static void take_occurrence(void *arg, uint32_t source, int64_t start_ns, int64_t time_ns)
{
    struct filling *f = arg;
    const iw_source *s = &f->recording->sources[source];
    struct iwi_seen_row *row;

    if (f->status != IW_OK || s->kind == IW_CLASS_UNKNOWN) {
        return;
    }
    row = iwi_observed_row(f->log, f->seen, s->kind, s->name, f->place);
    if (row == NULL) {
        f->status = IW_ERR_NOMEM;
        return;
    }
    row->count++;
    row->busy_ns += (double)time_ns;
    iwi_mark_slot(f->seen, row, start_ns > 0 ? (size_t)(start_ns / f->slot_ns) : 0);
}

/* Slots for the longest of the CPUs; returns their length. */
static int64_t set_slots(const iw_recording *recording, struct iwi_observed *seen)
{
    int64_t length_ns = 0, slot_ns;

    for (size_t i = 0; i < recording->cpu_count; i++) {
        length_ns = iwi_max(length_ns, recording->cpus[i].length_ns);
    }
    slot_ns = iwi_max(IWI_BURST_NS, length_ns / IWI_MOST_SLOTS + 1);
    seen->slot_count = (size_t)(length_ns / slot_ns) + 1;
    return slot_ns;
}

/* "12" on each CPU, or "0:12,1:30", in ms. */
static double steal_ms_of(const iw_recording *recording, uint32_t cpu)
{
    const char *item = iw_recording_get(recording, "steal_ms");

    if (item == NULL || strchr(item, ':') == NULL) {
        return item != NULL ? strtod(item, NULL) : (double)NAN;
    }
    for (; item != NULL; item = strchr(item, ',') != NULL ? strchr(item, ',') + 1 : NULL) {
        char *colon;

        if (strtoul(item, &colon, 10) == cpu && *colon == ':') {
            return strtod(colon + 1, NULL);
        }
    }
    return (double)NAN;
}

/* NaN: not told. It is counted by ticks of 10 ms, and from before the recording to after it: of a short one
 * it may be more than all. */
static double steal_share_of(const iw_recording *recording, const iw_detours *cpu)
{
    const double seconds = (double)cpu->length_ns * 1e-9;
    const double share = steal_ms_of(recording, cpu->cpu) * 1e-3 / seconds;

    return seconds >= 1.0 && share <= 1.0 ? share : (double)NAN;
}

iw_status iwi_observe_recording(const iw_log *log, const iw_recording *recording, struct iwi_observed *seen)
{
    const char *counters = iw_recording_get(recording, "interrupts"),
               *smi_count = iw_recording_get(recording, "smi_count");
    struct filling filling = {.log = log, .recording = recording, .seen = seen, .status = IW_OK};

    *seen = (struct iwi_observed){.by = IWI_SEEN_BY_RECORDING, .attribution = recording->attribution};
    seen->seen_cpus = iwi_new_array(log, recording->cpu_count, sizeof *seen->seen_cpus);
    if (seen->seen_cpus == NULL) {
        return IW_ERR_NOMEM;
    }
    seen->cpu_count = recording->cpu_count;
    seen->has_smi_count = smi_count != NULL;
    seen->smi_count = smi_count != NULL ? strtod(smi_count, NULL) : 0.0;
    set_tells(recording, seen);
    filling.slot_ns = set_slots(recording, seen);
    for (size_t i = 0; i < recording->cpu_count; i++) {
        const iw_detours *cpu = &recording->cpus[i];
        const double seconds = (double)cpu->length_ns * 1e-9;

        iw_cpu_set_add(&seen->cpus, cpu->cpu);
        seen->seen_cpus[i] = (struct iwi_seen_cpu){cpu->cpu, seconds, 0.0, steal_share_of(recording, cpu), 0};
        filling.place = (uint32_t)i;
        iwi_each_occurrence(cpu, take_occurrence, &filling);
        IW_TRY(filling.status);
        if (counters != NULL) {
            IW_TRY(take_counters(log, seen, (uint32_t)i, counters));
        }
    }
    return IW_OK;
}
