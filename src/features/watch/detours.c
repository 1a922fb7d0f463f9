/* Keeps detours as they come out of the ring.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/watch/detours.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/base.h"
#include "core/base/monotonic.h"
#include "core/base/sysfile.h"

/* ---- names of sources ---- */

void iwi_named_source(const struct iwi_bpf_name *name, iw_source *source)
{
    char path[64];

    if (name->is_irq == 0) {
        source->kind = IW_CLASS_THREAD;
        snprintf(source->name, sizeof source->name, "%.*s", (int)sizeof name->comm, name->comm);
        return;
    }
    source->kind = IW_CLASS_IRQ;
    snprintf(path, sizeof path, "/sys/kernel/irq/%" PRIu32 "/actions", name->irq);
    if (!iwi_sysfile_line("", path, source->name, sizeof source->name) || source->name[0] == '\0') {
        snprintf(source->name, sizeof source->name, "irq %" PRIu32, name->irq);
    }
}

/* ---- detours ---- */

/* Times of the recording are wanted time: the clock of a CPU stands still while no thread of the job wants it
 * (docs/decisions/0054-watched-time.md).
 */

static struct iwi_instant instant_now(void)
{
    struct timespec raw;
    const int64_t before_ns = iwi_now_ns();

    (void)clock_gettime(CLOCK_MONOTONIC_RAW, &raw);
    return (struct iwi_instant){before_ns + (iwi_now_ns() - before_ns) / 2,
                                (int64_t)raw.tv_sec * 1000000000 + raw.tv_nsec};
}

iw_status iwi_detour_log_begin(struct iwi_detour_log *detours)
{
    const iw_recording *recording = detours->recording;
    const size_t numbers = detours->side->cpu_count;

    detours->places = iwi_new_array(detours->log, recording->cpu_count, sizeof *detours->places);
    detours->place_of = iwi_new_array(detours->log, numbers, sizeof *detours->place_of);
    if (detours->places == NULL || detours->place_of == NULL) {
        return IW_ERR_NOMEM;
    }
    memset(detours->place_of, 0xff, numbers * sizeof *detours->place_of);
    for (size_t i = 0; i < recording->cpu_count; i++) {
        detours->place_of[recording->cpus[i].cpu] = (uint32_t)i;
    }
    iwi_user_stacks_init(detours->log, "", &detours->user_stacks);
    detours->zero = detours->before = detours->now = instant_now();
    return detours->opts->on_event != NULL ? iwi_kernel_symbols_load(detours->log, "", &detours->symbols)
                                           : IW_OK;
}

void iwi_detour_log_release(struct iwi_detour_log *detours)
{
    free(detours->places);
    free(detours->place_of);
    iwi_symbols_release(&detours->symbols);
    iwi_user_stacks_release(&detours->user_stacks);
}

/* ---- sources ---- */

static iw_status take_name(void *arg, const struct iwi_bpf_name *name, __u32 number)
{
    struct iwi_detour_log *detours = arg;
    iw_source source;

    if (number >= IWI_BPF_SOURCES || detours->source_of[number] != 0) {
        return IW_OK;
    }
    iwi_named_source(name, &source);
    return iw_recording_source(detours->log, detours->recording, source.kind, source.name,
                               &detours->source_of[number]);
}

iw_status iwi_detour_log_source(struct iwi_detour_log *detours, uint32_t number, uint32_t *source_p)
{
    iw_source source;

    *source_p = 0;
    if (number >= IWI_BPF_SOURCES || number == IWI_BPF_OTHER) {
        return IW_OK;
    }
    if (detours->source_of[number] == 0 && number < IWI_BPF_FIXED) {
        iwi_fixed_source(number, &source);
        IW_TRY(iw_recording_source(detours->log, detours->recording, source.kind, source.name,
                                   &detours->source_of[number]));
    } else if (detours->source_of[number] == 0) {
        IW_TRY(iwi_kernel_side_each_name(detours->side, take_name, detours));
    }
    *source_p = detours->source_of[number];
    return IW_OK;
}

/* ---- detours ---- */

static iw_status make_room(const iw_log *log, iw_detours *cpu, struct iwi_sent *place, size_t parts)
{
    const size_t need = cpu->count + 1, part_need = cpu->part_count + parts;

    IW_TRY(iwi_grow(log, (void **)&cpu->start_ns, &place->capacity[0], need, sizeof *cpu->start_ns));
    IW_TRY(iwi_grow(log, (void **)&cpu->duration_ns, &place->capacity[1], need, sizeof *cpu->duration_ns));
    IW_TRY(iwi_grow(log, (void **)&cpu->source, &place->capacity[2], need, sizeof *cpu->source));
    IW_TRY(iwi_grow(log, (void **)&cpu->part_detour, &place->part_capacity[0], part_need,
                    sizeof *cpu->part_detour));
    IW_TRY(iwi_grow(log, (void **)&cpu->part_source, &place->part_capacity[1], part_need,
                    sizeof *cpu->part_source));
    return iwi_grow(log, (void **)&cpu->part_ns, &place->part_capacity[2], part_need, sizeof *cpu->part_ns);
}

struct parts {
    size_t count;
    uint32_t sources[IWI_BPF_PARTS];
    int64_t ns[IWI_BPF_PARTS];
};

static iw_status read_parts(struct iwi_detour_log *detours, const struct iwi_bpf_detour *detour,
                            struct parts *parts)
{
    parts->count = 0;
    for (uint32_t i = 0; i < detour->part_count; i++) {
        if (detour->parts[i].ns > 0) {
            IW_TRY(iwi_detour_log_source(detours, detour->parts[i].source, &parts->sources[parts->count]));
            parts->ns[parts->count++] = (int64_t)detour->parts[i].ns;
        }
    }
    return IW_OK;
}

/* The source that has most of it, over all of its parts. */
static uint32_t largest(const struct parts *parts)
{
    int64_t most_ns = 0;
    uint32_t source = 0;

    for (size_t i = 0; i < parts->count; i++) {
        int64_t ns = 0;

        for (size_t k = 0; k < parts->count; k++) {
            ns += parts->sources[k] == parts->sources[i] ? parts->ns[k] : 0;
        }
        if (ns > most_ns) {
            most_ns = ns;
            source = parts->sources[i];
        }
    }
    return source;
}

static iw_status keep(struct iwi_detour_log *detours, const struct iwi_bpf_detour *detour,
                      const struct parts *parts)
{
    const uint32_t index =
        detour->cpu < detours->side->cpu_count ? detours->place_of[detour->cpu] : UINT32_MAX;
    const size_t rows = parts->count > 1 ? parts->count : 0;
    iw_detours *cpu;
    int64_t start_ns = (int64_t)detour->wanted_ns, end_ns;

    if (index == UINT32_MAX) {
        return IW_OK;
    }
    cpu = &detours->recording->cpus[index];
    IW_TRY(make_room(detours->log, cpu, &detours->places[index], rows));
    end_ns = cpu->count > 0 ? cpu->start_ns[cpu->count - 1] + cpu->duration_ns[cpu->count - 1] : 0;
    start_ns = iwi_max(start_ns, end_ns); /* gaps that were joined are wall-clock time: below 1.5 us */
    for (size_t i = 0; i < rows; i++) {
        cpu->part_detour[cpu->part_count] = cpu->count;
        cpu->part_source[cpu->part_count] = parts->sources[i];
        cpu->part_ns[cpu->part_count++] = parts->ns[i];
    }
    cpu->start_ns[cpu->count] = start_ns;
    cpu->duration_ns[cpu->count] = (int64_t)detour->duration_ns;
    cpu->source[cpu->count++] = largest(parts);
    cpu->length_ns = iwi_max(cpu->length_ns, start_ns + (int64_t)detour->duration_ns);
    return IW_OK;
}

/* From the programs' clock to the recording's: between two drainings the one runs evenly against the other.
 */
static int64_t raw_of(const struct iwi_detour_log *detours, int64_t monotonic_ns)
{
    const struct iwi_instant *a = &detours->before, *b = &detours->now;
    const int64_t since_ns = monotonic_ns - b->monotonic_ns;
    const double rate = b->monotonic_ns > a->monotonic_ns
                            ? (double)(b->raw_ns - a->raw_ns) / (double)(b->monotonic_ns - a->monotonic_ns)
                            : 1.0;

    return b->raw_ns + since_ns + (int64_t)((double)since_ns * (rate - 1.0));
}

static iw_status tell_stacks(struct iwi_detour_log *detours, const struct iwi_bpf_detour *detour,
                             iw_watch_event *event)
{
    uint64_t addresses[IWI_BPF_STACK_DEPTH];
    uint32_t source;

    if (detour->stack < 0 && detour->user_stack < 0) {
        return IW_OK;
    }
    event->is_kernel_thread = detour->pid == 0;
    IW_TRY(iwi_detour_log_source(detours, detour->stack_source, &source));
    event->stack_source = detours->recording->sources[source];
    if (iwi_kernel_side_stack(detours->side, detour->stack, addresses)) {
        iwi_kernel_stack_text(&detours->symbols, addresses, IWI_BPF_STACK_DEPTH, event->stack,
                              sizeof event->stack);
    }
    return iwi_kernel_side_stack(detours->side, detour->user_stack, addresses)
               ? iwi_user_stack_text(&detours->user_stacks, detour->pid, addresses, IWI_BPF_STACK_DEPTH,
                                     event->user_stack, sizeof event->user_stack)
               : IW_OK;
}

static iw_status tell(struct iwi_detour_log *detours, const struct iwi_bpf_detour *detour,
                      const struct parts *parts)
{
    iw_watch_event event = {.cpu = detour->cpu,
                            .start_ns = raw_of(detours, (int64_t)detour->start_ns) - detours->zero.raw_ns,
                            .duration_ns = (int64_t)detour->duration_ns,
                            .part_count = parts->count,
                            .is_waking = detour->is_waking != 0};

    IW_TRY(tell_stacks(detours, detour, &event));
    for (size_t i = 0; i < parts->count; i++) {
        event.parts[i].source = detours->recording->sources[parts->sources[i]];
        event.parts[i].ns = parts->ns[i];
    }
    detours->opts->on_event(detours->opts->arg, &event);
    return IW_OK;
}

static iw_status take(void *arg, const struct iwi_bpf_detour *detour)
{
    struct iwi_detour_log *detours = arg;
    struct parts parts;

    IW_TRY(read_parts(detours, detour, &parts));
    if (detours->opts->on_event != NULL && (int64_t)detour->duration_ns >= detours->opts->notable_ns) {
        IW_TRY(tell(detours, detour, &parts));
    }
    if (detour->is_waking != 0 || detours->opts->wants_sums_only ||
        (int64_t)detour->duration_ns < detours->opts->threshold_ns) {
        return IW_OK;
    }
    return keep(detours, detour, &parts);
}

iw_status iwi_detour_log_drain(struct iwi_detour_log *detours)
{
    detours->before = detours->now;
    detours->now = instant_now();
    IW_TRY(iwi_kernel_side_drain(detours->side, take, detours));
    if (detours->opts->on_event != NULL) {
        iwi_kernel_side_forget_stacks(detours->side);
        iwi_user_stacks_forget(&detours->user_stacks);
    }
    return IW_OK;
}

iw_status iwi_detour_log_end(struct iwi_detour_log *detours)
{
    IW_TRY(iwi_detour_log_drain(detours));
    for (size_t i = 0; i < detours->recording->cpu_count; i++) {
        iw_detours *cpu = &detours->recording->cpus[i];
        const struct iwi_bpf_cpu *seen = &detours->side->cpus[cpu->cpu];
        struct iwi_bpf_detour last = seen->open;

        if (seen->is_open != 0 && last.part_count <= IWI_BPF_PARTS && seen->end > last.start_ns) {
            last.duration_ns = seen->end - last.start_ns;
            IW_TRY(take(detours, &last));
        }
        cpu->length_ns = iwi_max(cpu->length_ns, (int64_t)seen->totals.wanted_ns);
        cpu->dropped = seen->totals.lost;
    }
    return IW_OK;
}

/* ---- the sink ---- */

static iw_status send_cpu(struct iwi_detour_log *detours, size_t index)
{
    const iw_detours *cpu = &detours->recording->cpus[index];
    struct iwi_sent *place = &detours->places[index];
    const size_t parts = cpu->part_count - place->parts_sent;
    uint64_t *numbers = iwi_new_array(detours->log, parts, sizeof *numbers);
    iw_detours batch = *cpu;
    iw_status status;

    if (numbers == NULL) {
        return IW_ERR_NOMEM;
    }
    batch.length_ns = iwi_max(cpu->length_ns, (int64_t)detours->side->cpus[cpu->cpu].totals.wanted_ns);
    batch.dropped = detours->side->cpus[cpu->cpu].totals.lost;
    batch.count = cpu->count - place->sent;
    batch.part_count = parts;
    if (cpu->count > 0) {
        batch.start_ns += place->sent;
        batch.duration_ns += place->sent;
        batch.source += place->sent;
    }
    if (cpu->part_count > 0) {
        batch.part_source += place->parts_sent;
        batch.part_ns += place->parts_sent;
    }
    for (size_t i = 0; i < parts; i++) {
        numbers[i] = cpu->part_detour[place->parts_sent + i] - place->sent;
    }
    batch.part_detour = numbers;
    status = detours->sink->append(detours->sink->arg, detours->recording, index, &batch);
    free(numbers);
    place->sent = cpu->count;
    place->parts_sent = cpu->part_count;
    return status;
}

void iwi_detour_log_send(struct iwi_detour_log *detours)
{
    iw_status status = IW_OK;

    for (size_t i = 0; detours->sink != NULL && status == IW_OK && i < detours->recording->cpu_count; i++) {
        status = send_cpu(detours, i);
    }
    if (detours->sink != NULL && (status != IW_OK || detours->sink->flush(detours->sink->arg) != IW_OK)) {
        detours->sink = NULL; /* it has said why; the whole is saved at the end */
    }
}
