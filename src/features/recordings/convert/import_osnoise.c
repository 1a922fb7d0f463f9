/* Reads events of the osnoise tracer from text: tracefs `trace`, `rtla osnoise -t`, `trace-cmd report`.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *       osnoise/0-113     [000] d.Lh1..     6.538218: irq_noise: reschedule:253 start 6.537902433 duration
 * 81317 ns rcuc/0-19      [000] d...3..     6.539038: thread_noise:   rcuc/0:19 start ... osnoise/0-113 [000]
 * .......     6.693118: sample_threshold: start 6.688592755 duration 4523594 ns interference 3 osnoise/0-113
 * [000] .......     7.537527: 1003703     737773  26.49488   38910 ...
 *
 * The name of a task may hold anything, also blanks, colons and brackets, but has at most 15 characters: the
 * first place of a line where "[CPU] flags time: event:" stands is the right one, since that alone is longer.
 */
#include <string.h>

#include "features/recordings/convert/convert.h"
#include "features/recordings/convert/osnoise_detours.h"
#include "kit/files/io/convert_text.h"

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
        return fail(r, "expected 'start SECONDS duration NUMBER ns' in an event of osnoise");
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
    .about = {"osnoise", "text of tracefs, rtla -t or trace-cmd report", NULL, true, false},
    .in_words = "osnoise text",
    .is_foreign = true,
    .matches = matches,
    .read = read_osnoise,
};
