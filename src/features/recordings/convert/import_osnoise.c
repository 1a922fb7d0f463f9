/* Reads events of the osnoise tracer from text: tracefs `trace`, `rtla osnoise -t`, `trace-cmd report`.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/time.h>

#include <stdlib.h>
#include <string.h>

#include "core/base/order.h"
#include "features/recordings/convert/convert.h"
#include "features/recordings/convert/convert_rows.h"
#include "kit/files/io/convert_text.h"

/* ---- samples and noise events, put together ---- */

#define MOST_NS (IW_TIME_INPUT_MAX / IW_PS_PER_NS)

/* Noise events that must be there for a period to count; the kernel's own count is not exact. */
static const double WHOLE_SHARE = 0.9;

/* The detour of a CPU that is being put together. */
struct open_detour {
    bool is_open;
    int64_t start_ns, end_ns;
    uint64_t interference;
    size_t first_part; /* its parts, one a source, are the last ones of the CPU */
};

struct builder {
    struct iwi_osnoise *osnoise;
    iw_detours *cpu;
    int64_t origin_ns; /* time 0 of the recording */
    int64_t length_ns;
    bool has_samples;
    uint32_t unseen;
    size_t *part_of; /* by source: its part in the open detour, + 1; 0: none */
    struct open_detour open;
    uint64_t outside; /* noise events in no sample */
};

iw_status iwi_osnoise_init(const iw_log *log, const char *path, struct iwi_osnoise *osnoise)
{
    *osnoise = (struct iwi_osnoise){.log = log, .path = path};
    IW_TRY(iw_recording_new(log, 0, &osnoise->recording));
    osnoise->sources.recording = osnoise->recording;
    return IW_OK;
}

void iwi_osnoise_release(struct iwi_osnoise *osnoise)
{
    iw_recording_free(osnoise->recording);
    iwi_sources_release(&osnoise->sources);
    free(osnoise->events);
    *osnoise = (struct iwi_osnoise){.path = NULL};
}

iw_status iwi_osnoise_add(struct iwi_osnoise *osnoise, const struct iwi_osnoise_event *event)
{
    if (event->start_ns < 0 || event->duration_ns < 0 || event->duration_ns > MOST_NS ||
        event->start_ns > INT64_MAX / 2) {
        return iwi_fail(osnoise->log, IW_ERR_RANGE,
                        "'%s': event %zu (start %" PRId64 " ns, duration %" PRId64
                        " ns) is negative or lasts above 240h",
                        osnoise->path, osnoise->count + 1, event->start_ns, event->duration_ns);
    }
    IW_TRY(iwi_grow(osnoise->log, (void **)&osnoise->events, &osnoise->capacity, osnoise->count + 1,
                    sizeof *event));
    osnoise->events[osnoise->count++] = *event;
    return IW_OK;
}

/* By CPU, then by start; samples and periods before noise that begins with them. */
IWI_COMPARE(by_start, struct iwi_osnoise_event, IWI_RISING(cpu), IWI_RISING(start_ns), IWI_RISING(kind))

/* ---- one CPU ---- */

/* Room for all that `count` events can give: a part each, and one more for each detour. */
static iw_status make_room(const iw_log *log, size_t count, iw_detours *cpu)
{
    cpu->start_ns = iwi_new_array(log, count, sizeof *cpu->start_ns);
    cpu->duration_ns = iwi_new_array(log, count, sizeof *cpu->duration_ns);
    cpu->source = iwi_new_array(log, count, sizeof *cpu->source);
    cpu->part_detour = iwi_new_array(log, 2 * count, sizeof *cpu->part_detour);
    cpu->part_source = iwi_new_array(log, 2 * count, sizeof *cpu->part_source);
    cpu->part_ns = iwi_new_array(log, 2 * count, sizeof *cpu->part_ns);
    return cpu->start_ns != NULL && cpu->duration_ns != NULL && cpu->source != NULL &&
                   cpu->part_detour != NULL && cpu->part_source != NULL && cpu->part_ns != NULL
               ? IW_OK
               : IW_ERR_NOMEM;
}

/* All of a source in one row. Sums stop above what the check of recordings accepts. */
static void add_part(struct builder *b, uint32_t source, int64_t part_ns)
{
    iw_detours *cpu = b->cpu;

    if (b->part_of[source] == 0) {
        cpu->part_detour[cpu->part_count] = cpu->count;
        cpu->part_source[cpu->part_count] = source;
        b->part_of[source] = ++cpu->part_count;
    }
    cpu->part_ns[b->part_of[source] - 1] =
        iwi_min(cpu->part_ns[b->part_of[source] - 1] + part_ns, MOST_NS + 1);
}

/* What the parts leave of a sample. Where the kernel counted interruptions but none is in the trace, their
 * events were not recorded, and nobody knows. */
static void add_unseen(struct builder *b, int64_t duration_ns)
{
    const iw_detours *cpu = b->cpu;
    const bool is_unknown = cpu->part_count == b->open.first_part && b->open.interference > 0;
    int64_t seen_ns = 0;

    for (size_t i = b->open.first_part; i < cpu->part_count; i++) {
        seen_ns = iwi_min(seen_ns + cpu->part_ns[i], MOST_NS + 1);
    }
    if (duration_ns > seen_ns || cpu->part_count == b->open.first_part) {
        add_part(b, is_unknown ? 0 : b->unseen, iwi_max(duration_ns - seen_ns, 0));
    }
}

static void close_detour(struct builder *b)
{
    iw_detours *cpu = b->cpu;
    size_t largest = b->open.first_part;

    if (!b->open.is_open) {
        return;
    }
    cpu->start_ns[cpu->count] = b->open.start_ns;
    cpu->duration_ns[cpu->count] = b->open.end_ns - b->open.start_ns;
    if (b->has_samples) {
        add_unseen(b, cpu->duration_ns[cpu->count]);
    }
    for (size_t i = b->open.first_part; i < cpu->part_count; i++) {
        largest = cpu->part_ns[i] > cpu->part_ns[largest] ? i : largest;
        b->part_of[cpu->part_source[i]] = 0;
    }
    cpu->source[cpu->count++] = cpu->part_source[largest];
    if (cpu->part_count == b->open.first_part + 1) { /* the only one needs no row */
        cpu->part_ns[--cpu->part_count] = 0;
    }
    b->open.is_open = false;
}

static void open_detour(struct builder *b, const struct iwi_osnoise_event *event, int64_t start_ns)
{
    close_detour(b);
    b->open = (struct open_detour){true, start_ns, start_ns + event->duration_ns, event->interference,
                                   b->cpu->part_count};
}

static void take_sample(struct builder *b, const struct iwi_osnoise_event *event, int64_t start_ns)
{
    if (b->open.is_open && start_ns < b->open.end_ns) {
        b->open.end_ns = iwi_max(b->open.end_ns, start_ns + event->duration_ns);
        b->open.interference |= event->interference;
    } else {
        open_detour(b, event, start_ns);
    }
}

/* Durations are net, so what interrupts moves the end of what it interrupts. */
static void take_noise(struct builder *b, const struct iwi_osnoise_event *event, int64_t start_ns)
{
    const bool is_inside = b->open.is_open && start_ns < b->open.end_ns;

    if (!is_inside && b->has_samples) {
        b->outside++;
        return;
    }
    if (!is_inside) {
        open_detour(b, event, start_ns);
    } else if (!b->has_samples) {
        b->open.end_ns = iwi_min(b->open.end_ns + event->duration_ns, 2 * MOST_NS);
    }
    add_part(b, event->source, event->duration_ns);
}

static iw_status build_cpu(struct builder *b, const struct iwi_osnoise_event *events, size_t count)
{
    IW_TRY(make_room(b->osnoise->log, count, b->cpu));
    b->cpu->cpu = events[0].cpu;
    for (size_t i = 0; i < count; i++) {
        const int64_t start_ns = events[i].start_ns - b->origin_ns;

        if (events[i].kind == IWI_OSNOISE_SAMPLE) {
            take_sample(b, &events[i], start_ns);
        } else if (events[i].kind == IWI_OSNOISE_NOISE) {
            take_noise(b, &events[i], start_ns);
        }
    }
    close_detour(b);
    return IW_OK;
}

/* ---- all of them ---- */

static size_t end_of_cpu(const struct iwi_osnoise *osnoise, size_t begin)
{
    size_t end = begin;

    while (end < osnoise->count && osnoise->events[end].cpu == osnoise->events[begin].cpu) {
        end++;
    }
    return end;
}

static iw_status build_cpus(struct builder *b)
{
    struct iwi_osnoise *osnoise = b->osnoise;
    size_t cpu_count = 0, place = 0;

    for (size_t i = 0; i < osnoise->count; i = end_of_cpu(osnoise, i)) {
        cpu_count++;
    }
    IW_TRY(iwi_recording_set_cpus(osnoise->log, osnoise->recording, cpu_count));
    for (size_t i = 0; i < osnoise->count; place++) {
        const size_t end = end_of_cpu(osnoise, i);

        b->cpu = &osnoise->recording->cpus[place];
        IW_TRY(build_cpu(b, &osnoise->events[i], end - i));
        i = end;
    }
    return IW_OK;
}

/* A stretch of time, empty to begin with. */
struct range {
    int64_t from_ns, to_ns;
};

static void extend(struct range *range, const struct range *by)
{
    range->from_ns = iwi_min(range->from_ns, by->from_ns);
    range->to_ns = iwi_max(range->to_ns, by->to_ns);
}

/* The same for all CPUs: from the first event of any to the end of the last. */
static void set_lengths(struct builder *b)
{
    const iw_recording *recording = b->osnoise->recording;
    int64_t length_ns = b->length_ns;

    for (size_t i = 0; i < recording->cpu_count; i++) {
        const iw_detours *cpu = &recording->cpus[i];

        if (cpu->count > 0) {
            length_ns = iwi_max(length_ns, cpu->start_ns[cpu->count - 1] + cpu->duration_ns[cpu->count - 1]);
        }
    }
    for (size_t i = 0; i < recording->cpu_count; i++) {
        recording->cpus[i].length_ns = length_ns;
    }
}

/* How many noise events of the CPU of event `place` begin before `end_ns`; from there on. `noise_before`: how
 * many there are among the sorted events before each, over all CPUs. */
static size_t count_noise(const struct iwi_osnoise *osnoise, const size_t *noise_before, size_t place,
                          int64_t end_ns)
{
    const struct iwi_osnoise_event *events = osnoise->events;
    size_t at;

    IWI_FIRST_NOT(at, place, osnoise->count,
                  events[at].cpu == events[place].cpu && events[at].start_ns < end_ns);
    return noise_before[at] - noise_before[place];
}

/* Of a trace that was cut, or ran over, periods are left whose events are not: those say nothing. */
static bool is_whole(const struct iwi_osnoise *osnoise, const size_t *noise_before, size_t place)
{
    const struct iwi_osnoise_event *period = &osnoise->events[place];
    const size_t found = count_noise(osnoise, noise_before, place, period->start_ns + period->duration_ns);

    return (double)found >= WHOLE_SHARE * (double)period->interference;
}

/* What time the sorted events span, and all periods whose events are there. */
static iw_status find_ranges(const struct iwi_osnoise *osnoise, struct range *events, struct range *periods)
{
    size_t *noise_before = iwi_new_array(osnoise->log, osnoise->count + 1, sizeof *noise_before);

    if (noise_before == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < osnoise->count; i++) {
        noise_before[i + 1] = noise_before[i] + (osnoise->events[i].kind == IWI_OSNOISE_NOISE ? 1 : 0);
    }
    for (size_t i = 0; i < osnoise->count; i++) {
        const struct iwi_osnoise_event *event = &osnoise->events[i];
        const struct range range = {event->start_ns, event->start_ns + event->duration_ns};

        if (event->kind != IWI_OSNOISE_PERIOD) {
            extend(events, &range);
        } else if (is_whole(osnoise, noise_before, i)) {
            extend(periods, &range);
        }
    }
    free(noise_before);
    return IW_OK;
}

/* Time 0 and the length. Periods are on the clock of the trace, which may be another one than that of the
 * events: then they do not meet. */
static iw_status survey(struct builder *b)
{
    const struct iwi_osnoise *osnoise = b->osnoise;
    struct range events = {INT64_MAX, INT64_MIN}, periods = {INT64_MAX, INT64_MIN};

    IW_TRY(find_ranges(osnoise, &events, &periods));
    for (size_t i = 0; i < osnoise->count && !b->has_samples; i++) {
        b->has_samples = osnoise->events[i].kind == IWI_OSNOISE_SAMPLE;
    }
    if (events.from_ns == INT64_MAX) {
        return iwi_fail(osnoise->log, IW_ERR_FORMAT,
                        "'%s' has no osnoise events: record them too, with 'trace-cmd record -p osnoise -e "
                        "osnoise', 'rtla osnoise -t', or 'echo 1 > events/osnoise/enable' in tracefs",
                        osnoise->path);
    }
    if (periods.from_ns < events.to_ns && events.from_ns < periods.to_ns) {
        extend(&events, &periods);
    }
    b->origin_ns = events.from_ns;
    b->length_ns = events.to_ns - events.from_ns;
    return b->length_ns <= MOST_NS ? IW_OK
                                   : iwi_fail(osnoise->log, IW_ERR_RANGE,
                                              "'%s': its events are more than 240h apart", osnoise->path);
}

static iw_status build(struct builder *b)
{
    struct iwi_osnoise *osnoise = b->osnoise;

    iwi_sort(osnoise->events, osnoise->count, by_start);
    IW_TRY(survey(b));
    if (b->has_samples) {
        IW_TRY(iwi_sources_find(osnoise->log, &osnoise->sources, IW_CLASS_HARDWARE, IW_SOURCE_UNSEEN,
                                strlen(IW_SOURCE_UNSEEN), &b->unseen));
    }
    b->part_of = iwi_new_array(osnoise->log, osnoise->recording->source_count, sizeof *b->part_of);
    if (b->part_of == NULL) {
        return IW_ERR_NOMEM;
    }
    IW_TRY(build_cpus(b));
    set_lengths(b);
    osnoise->recording->attribution = IW_ATTRIBUTION_LEVEL_OSNOISE;
    return IW_OK;
}

static void warn(const struct builder *b)
{
    if (b->outside > 0) {
        iwi_warn(
            b->osnoise->log,
            "'%s': dropped %" PRIu64
            " noise events outside of samples (below the tracer's threshold, or before the first sample)",
            b->osnoise->path, b->outside);
    }
    if (b->osnoise->lost > 0) {
        iwi_warn(b->osnoise->log,
                 "'%s': the kernel lost %" PRIu64 " events: record again with a larger buffer",
                 b->osnoise->path, b->osnoise->lost);
    }
}

iw_status iwi_osnoise_finish(struct iwi_osnoise *osnoise, iw_recording **recording_p)
{
    struct builder b = {.osnoise = osnoise};
    const iw_status status = build(&b);

    free(b.part_of);
    if (status == IW_OK) {
        warn(&b);
        *recording_p = osnoise->recording;
        osnoise->recording = NULL;
    }
    iwi_osnoise_release(osnoise);
    return status;
}

/* ---- text ---- */

/*       osnoise/0-113     [000] d.Lh1..     6.538218: irq_noise: reschedule:253 start 6.537902433 duration
 * 81317 ns rcuc/0-19      [000] d...3..     6.539038: thread_noise:   rcuc/0:19 start ... osnoise/0-113 [000]
 * .......     6.693118: sample_threshold: start 6.688592755 duration 4523594 ns interference 3 osnoise/0-113
 * [000] .......     7.537527: 1003703     737773  26.49488   38910 ...
 *
 * The name of a task may hold anything, also blanks, colons and brackets, but has at most 15 characters: the
 * first place of a line where "[CPU] flags time: event:" stands is the right one, since that alone is longer.
 */

/* Behind the time. */
static const struct event_name {
    const char *name;
    enum iwi_osnoise_kind kind;
    iw_class class_of_it;
    bool is_named; /* "NAME:NUMBER" before "start" */
} event_names[] = {
    {"sample_threshold:", IWI_OSNOISE_SAMPLE, IW_CLASS_UNKNOWN, false},
    {"irq_noise:", IWI_OSNOISE_NOISE, IW_CLASS_IRQ, true},
    {"softirq_noise:", IWI_OSNOISE_NOISE, IW_CLASS_SOFTIRQ, true},
    {"thread_noise:", IWI_OSNOISE_NOISE, IW_CLASS_THREAD, true},
    {"nmi_noise:", IWI_OSNOISE_NOISE, IW_CLASS_NMI, false},
};
enum { EVENT_NAMES = sizeof event_names / sizeof event_names[0] };

/* Columns of the summary of a period; those behind that of hardware count noise events. */
enum { PERIOD_HARDWARE = 4, PERIOD_COLUMNS = 9 };

/* Name, numbers of thread and process, CPU, flags, time and event with the blanks between them take about 100
 * bytes: what lies further behind is no head, however long the line is. */
enum { MOST_HEAD_BYTES = 200 };

struct reader {
    const struct iwi_import *in;
    struct iwi_lines lines;
    struct iwi_osnoise osnoise;
};

/* What stands before the fields of an event. */
struct head {
    uint32_t cpu;
    int64_t time_ns;               /* -1: of a clock that does not count seconds */
    const struct event_name *name; /* NULL: the summary of a period */
    struct iwi_piece fields;
};

static iw_status fail(const struct reader *r, const char *problem)
{
    return iwi_fail(r->in->log, r->lines.has_newline ? IW_ERR_FORMAT : IW_ERR_TRUNCATED, "'%s:%zu': %s",
                    r->in->path, r->lines.number, problem);
}

static bool read_time(struct iwi_piece word, int64_t *time_ns_p)
{
    uint64_t ticks;

    if (word.at == word.end || word.end[-1] != ':') {
        return false;
    }
    word.end--;
    if (iwi_read_u64(word, &ticks)) {
        *time_ns_p = -1;
        return true;
    }
    return iwi_read_seconds(word, time_ns_p);
}

/* "NAME:", or what begins as the summary of a period does: its runtime, then its noise, in us. */
static bool read_name(struct iwi_piece *rest, struct head *head)
{
    const struct iwi_piece word = iwi_next_word(rest);
    uint64_t number;

    for (size_t i = 0; i < EVENT_NAMES; i++) {
        if (iwi_piece_is(word, event_names[i].name)) {
            head->name = &event_names[i];
            head->fields = *rest;
            return true;
        }
    }
    head->name = NULL;
    head->fields = (struct iwi_piece){word.at, rest->end};
    return iwi_read_u64(word, &number);
}

/* `at` is behind a '['. */
static bool read_head_at(const char *at, const char *end, struct head *head)
{
    struct iwi_piece rest = {at, end}, word;
    const char *bracket = memchr(at, ']', (size_t)iwi_min(end - at, 11));

    if (bracket == NULL || !iwi_read_u32((struct iwi_piece){at, bracket}, &head->cpu)) {
        return false;
    }
    rest.at = bracket + 1;
    word = iwi_next_word(&rest);
    if (!read_time(word, &head->time_ns)) { /* flags, which trace-cmd report leaves out */
        word = iwi_next_word(&rest);
        if (!read_time(word, &head->time_ns)) {
            return false;
        }
    }
    return read_name(&rest, head);
}

static bool find_head(struct iwi_piece line, struct head *head)
{
    const char *at = line.at, *end = line.at + iwi_min(line.end - line.at, MOST_HEAD_BYTES);

    while ((at = memchr(at, '[', (size_t)(end - at))) != NULL) {
        at++;
        if (read_head_at(at, end, head)) {
            head->fields.end = line.end;
            return true;
        }
    }
    return false;
}

/* ---- fields ---- */

/* Finds the last "start" that "SECONDS duration" follows: the name before it may be anything. */
static bool split_name(struct iwi_piece fields, struct iwi_piece *name_p, struct iwi_piece *rest_p)
{
    static const char word[] = " start ";
    const size_t length = sizeof word - 1;

    for (const char *at = fields.end; at >= fields.at + length; at--) {
        if (memcmp(at - length, word, length) == 0) {
            *name_p = iwi_trim_blanks((struct iwi_piece){fields.at, at - length});
            *rest_p = (struct iwi_piece){at, fields.end};
            return true;
        }
    }
    return false;
}

/* "rcuc/0:19" without its number. */
static struct iwi_piece without_number(struct iwi_piece name)
{
    const char *colon = memrchr(name.at, ':', iwi_piece_size(name));

    return colon != NULL ? (struct iwi_piece){name.at, colon} : name;
}

/* "6.688592755 duration 4523594 ns", and of samples "interference 3", in older kernels "interferences". */
static bool read_times(struct iwi_piece rest, struct iwi_osnoise_event *event)
{
    struct iwi_piece word;

    if (!iwi_read_seconds(iwi_next_word(&rest), &event->start_ns) ||
        !iwi_piece_is(iwi_next_word(&rest), "duration") ||
        !iwi_read_ns(iwi_next_word(&rest), &event->duration_ns) ||
        !iwi_piece_is(iwi_next_word(&rest), "ns")) {
        return false;
    }
    if (event->kind != IWI_OSNOISE_SAMPLE) {
        return true;
    }
    word = iwi_next_word(&rest);
    return (iwi_piece_is(word, "interference") || iwi_piece_is(word, "interferences")) &&
           iwi_read_u64(iwi_next_word(&rest), &event->interference);
}

static iw_status read_event(struct reader *r, const struct head *head)
{
    struct iwi_osnoise_event event = {.kind = head->name->kind, .cpu = head->cpu};
    struct iwi_piece name, times;

    if (!split_name(head->fields, &name, &times) || !read_times(times, &event)) {
        return fail(r, "expected 'start SECONDS duration NUMBER ns' in an osnoise event");
    }
    if (event.kind == IWI_OSNOISE_NOISE) {
        name = head->name->is_named ? without_number(name) : (struct iwi_piece){name.at, name.at};
        IW_TRY(iwi_sources_find(r->in->log, &r->osnoise.sources, head->name->class_of_it, name.at,
                                iwi_piece_size(name), &event.source));
    }
    return iwi_osnoise_add(&r->osnoise, &event);
}

/* "1003703 737773 26.49488 38910 32 0 243 0 242": runtime and noise in us, %, longest, and how many of
 * hardware, NMI, IRQ, softirq, thread. The runtime ends at the time of the line. */
static iw_status read_period(struct reader *r, const struct head *head)
{
    struct iwi_piece rest = head->fields;
    struct iwi_osnoise_event event = {.kind = IWI_OSNOISE_PERIOD, .cpu = head->cpu};
    uint64_t runtime_us, count;
    const int64_t most_us = IW_TIME_INPUT_MAX / IW_PS_PER_US;

    if (!iwi_read_u64(iwi_next_word(&rest), &runtime_us) || runtime_us > (uint64_t)most_us ||
        head->time_ns < 0) {
        return IW_OK; /* of another tracer, or of a clock that says nothing */
    }
    for (size_t column = 1; column < PERIOD_COLUMNS; column++) {
        const struct iwi_piece word = iwi_next_word(&rest);

        if (column > PERIOD_HARDWARE) {
            if (!iwi_read_u64(word, &count) || count > UINT32_MAX) {
                return IW_OK;
            }
            event.interference += count;
        }
    }
    event.duration_ns = iwi_min((int64_t)runtime_us * 1000, head->time_ns);
    event.start_ns = head->time_ns - event.duration_ns;
    return iwi_osnoise_add(&r->osnoise, &event);
}

/* "CPU:0 [LOST 12 EVENTS]" */
static void read_loss(struct reader *r, struct iwi_piece line)
{
    struct iwi_piece rest = line;
    uint64_t lost;

    if (iwi_take_prefix(&rest, "CPU:")) {
        (void)iwi_next_word(&rest);
        if (iwi_piece_is(iwi_next_word(&rest), "[LOST") && iwi_read_u64(iwi_next_word(&rest), &lost)) {
            r->osnoise.lost += lost < UINT32_MAX ? lost : 0;
        }
    }
}

/* "# entries-in-buffer/entries-written: 205/4000   #P:2" */
static void read_comment(struct reader *r, struct iwi_piece line)
{
    struct iwi_piece rest = line, word;
    uint64_t left, written;

    if (iwi_take_prefix(&rest, "#") && iwi_take_key(&rest, "entries-in-buffer/entries-written")) {
        const char *slash;

        word = iwi_next_word(&rest);
        slash = memchr(word.at, '/', iwi_piece_size(word));
        if (slash != NULL && iwi_read_u64((struct iwi_piece){word.at, slash}, &left) &&
            iwi_read_u64((struct iwi_piece){slash + 1, word.end}, &written) && written > left) {
            r->osnoise.lost += written - left;
        }
    }
}

static iw_status read_lines(struct reader *r)
{
    struct iwi_piece line;
    struct head head;

    while (iwi_next_line(&r->lines, &line)) {
        if (line.at != line.end && *line.at == '#') {
            read_comment(r, line);
        } else if (!find_head(line, &head)) {
            read_loss(r, line);
        } else if (head.name != NULL) {
            IW_TRY(read_event(r, &head));
        } else {
            IW_TRY(read_period(r, &head));
        }
    }
    return IW_OK;
}

static iw_status read_osnoise(const struct iwi_import *in, iw_recording **recording_p)
{
    struct reader r = {.in = in, .lines = iwi_lines_of(in->data, in->size)};
    iw_status status;

    IW_TRY(iwi_osnoise_init(in->log, in->path, &r.osnoise));
    status = read_lines(&r);
    if (status != IW_OK) {
        iwi_osnoise_release(&r.osnoise);
        return status;
    }
    return iwi_osnoise_finish(&r.osnoise, recording_p);
}

/* The head of tracefs, or a line that is an event. */
static bool matches(const char *data, size_t size)
{
    struct iwi_lines lines = iwi_lines_of(data, size);
    struct iwi_piece line;
    struct head head;

    while (iwi_next_line(&lines, &line)) {
        struct iwi_piece rest = line;

        if (lines.number == 1 && iwi_take_prefix(&rest, "# tracer:")) {
            return true;
        }
        if (lines.number > 1000) {
            break;
        }
        if (find_head(line, &head) && head.name != NULL) {
            return true;
        }
    }
    return false;
}

const struct iwi_convert_ops iwi_import_osnoise = {
    .about = {.name = "osnoise",
              .summary = "text of tracefs, of rtla -t or of trace-cmd report",
              .can_read = true},
    .in_words = "osnoise text",
    .is_foreign = true,
    .matches = matches,
    .read = read_osnoise,
};
