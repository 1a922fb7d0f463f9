/* Fixed time quanta of FTQ: work done in each window of time.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Newer versions write a file for each thread, lines of "time count" in nanoseconds behind comments. Older
 * ones write two files, counts.dat and times.dat, thread after thread, with times in ticks of unknown length.
 *
 * Windows end at multiples of the interval. After one that was overrun the next is shorter, and has less
 * work; what both lost together is right. Where windows have no line at all, nothing was done in them.
 */
#include "features/recordings/convert/convert_rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/order.h"
#include "features/recordings/convert/convert.h"
#include "kit/files/io/convert_text.h"
#include "kit/files/io/input.h"

#define OFF 0.01 /* a first window that differs from the interval by more began late */

enum {
    MOST_THREADS = 65536,
    MOST_EMPTY = 100 /* windows without a line, for each line: more is no recording of a machine */
};

struct numbers {
    double *at;
    size_t count, capacity;
};

/* The lines of one thread, and its windows. */
struct thread {
    size_t first, end;
    size_t first_window, window_count;
};

struct reader {
    const struct iwi_import *in;
    struct iwi_lines lines;
    struct numbers times, counts;
    double frequency; /* windows a second; 0: not said */
    uint32_t cpu;
    struct thread *threads;
    size_t thread_count, thread_capacity;
    double interval, ns_per_tick;
    struct numbers starts, samples; /* of windows, threads one after the other */
};

static bool matches(const char *data, size_t size)
{
    struct iwi_lines lines = iwi_lines_of(data, size);
    struct iwi_piece line;

    return iwi_next_line(&lines, &line) && iwi_take_prefix(&line, "# Frequency ");
}

/* ---- lines ---- */

static iw_status fail(const struct iwi_import *in, const struct iwi_lines *lines, const char *problem)
{
    return iwi_fail(in->log, lines->has_newline ? IW_ERR_FORMAT : IW_ERR_TRUNCATED, "'%s:%zu': %s", in->path,
                    lines->number, problem);
}

static iw_status add(const iw_log *log, struct numbers *numbers, double number)
{
    IW_TRY(iwi_grow(log, (void **)&numbers->at, &numbers->capacity, numbers->count + 1, sizeof number));
    numbers->at[numbers->count++] = number;
    return IW_OK;
}

/* "# Frequency 1000.0", "# thread 0, core 3"; all others are for people. */
static void read_comment(struct reader *r, struct iwi_piece text)
{
    double frequency;
    uint32_t cpu;

    text = iwi_trim_blanks(text);
    if (iwi_take_prefix(&text, "Frequency ")) {
        r->frequency = iwi_read_real(iwi_trim_blanks(text), &frequency) ? frequency : 0;
    } else if (iwi_take_prefix(&text, "thread ")) {
        (void)iwi_next_word(&text);
        text = iwi_trim_blanks(text);
        if (iwi_take_prefix(&text, "core ") && iwi_read_u32(text, &cpu) && cpu < UINT32_MAX) {
            r->cpu = cpu;
        }
    }
}

/* Numbers of either file; `first` is NULL where lines must have one number. */
static iw_status read_data(const struct iwi_import *in, const struct iwi_lines *lines, struct iwi_piece text,
                           struct numbers *first, struct numbers *last)
{
    const struct iwi_piece one = iwi_next_word(&text), two = iwi_next_word(&text);
    const bool has_two = two.at != two.end;
    uint64_t numbers[2] = {0, 0};

    if (!iwi_read_u64(one, &numbers[0]) || (has_two && !iwi_read_u64(two, &numbers[1])) ||
        iwi_trim_blanks(text).at != text.end || (has_two && first == NULL)) {
        return fail(in, lines,
                    first != NULL ? "expected the work done in a window, or a time and that work"
                                  : "expected one number, the time of a window");
    }
    if (first != NULL && last->count > 0 && has_two != (first->count > 0)) {
        return fail(in, lines, "lines of one number and of two are mixed");
    }
    if (has_two) {
        IW_TRY(add(in->log, first, (double)numbers[0]));
    }
    return add(in->log, last, (double)numbers[has_two ? 1 : 0]);
}

static iw_status read_counts(struct reader *r)
{
    struct iwi_piece line;

    while (iwi_next_line(&r->lines, &line)) {
        struct iwi_piece text = iwi_trim_blanks(line);

        if (iwi_take_prefix(&text, "#")) {
            read_comment(r, text);
        } else if (text.at != text.end) {
            IW_TRY(read_data(r->in, &r->lines, text, &r->times, &r->counts));
        }
    }
    if (r->counts.count == 0) {
        return iwi_fail(r->in->log, IW_ERR_TRUNCATED, "'%s' has no windows", r->in->path);
    }
    return r->lines.has_newline ? IW_OK : fail(r->in, &r->lines, "the last line is cut off");
}

static iw_status read_times(struct reader *r, const struct iwi_import *times)
{
    struct iwi_lines lines = iwi_lines_of(times->data, times->size);
    struct iwi_piece line;

    while (iwi_next_line(&lines, &line)) {
        const struct iwi_piece text = iwi_trim_blanks(line);

        if (text.at != text.end) {
            IW_TRY(read_data(times, &lines, text, NULL, &r->times));
        }
    }
    if (r->times.count != r->counts.count) {
        return iwi_fail(r->in->log, IW_ERR_FORMAT, "'%s' has %zu lines, but '%s' has %zu", times->path,
                        r->times.count, r->in->path, r->counts.count);
    }
    return IW_OK;
}

/* Counts go up and down; times rise but where the next thread begins. */
static iw_status check_are_counts(const struct reader *r)
{
    size_t falls = 0;

    for (size_t i = 1; i < r->counts.count; i++) {
        falls += r->counts.at[i] <= r->counts.at[i - 1] ? 1 : 0;
    }
    return falls >= r->counts.count / 8
               ? IW_OK
               : iwi_fail(r->in->log, IW_ERR_FORMAT,
                          "'%s' has the times of windows: name the file with their counts", r->in->path);
}

/* ---- threads and the clock ---- */

/* Times of a thread rise; where they fall the next begins. */
static iw_status find_threads(struct reader *r)
{
    const double *times = r->times.at;

    for (size_t i = 0; i < r->times.count; i++) {
        if (i > 0 && times[i] > times[i - 1]) {
            r->threads[r->thread_count - 1].end = i + 1;
            continue;
        }
        if (r->thread_count == MOST_THREADS || (i > 0 && times[i] == times[i - 1])) {
            return iwi_fail(r->in->log, IW_ERR_FORMAT,
                            "'%s': windows %zu and %zu of a thread begin at the same time", r->in->path, i,
                            i + 1);
        }
        IW_TRY(iwi_grow(r->in->log, (void **)&r->threads, &r->thread_capacity, r->thread_count + 1,
                        sizeof *r->threads));
        r->threads[r->thread_count++] = (struct thread){.first = i, .end = i + 1};
    }
    return IW_OK;
}

/* The median distance of windows. */
static iw_status find_interval(struct reader *r)
{
    double *distances = iwi_new_array(r->in->log, r->times.count, sizeof *distances);
    size_t count = 0;

    if (distances == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t t = 0; t < r->thread_count; t++) {
        for (size_t i = r->threads[t].first; i + 1 < r->threads[t].end; i++) {
            distances[count++] = r->times.at[i + 1] - r->times.at[i];
        }
    }
    iwi_sort_doubles(distances, count);
    r->interval = count > 0 ? distances[count / 2] : 0;
    free(distances);
    return r->interval > 0
               ? IW_OK
               : iwi_fail(r->in->log, IW_ERR_FORMAT, "'%s' has threads of one window", r->in->path);
}

static double earliest(const struct reader *r)
{
    double least = r->times.at[0];

    for (size_t t = 1; t < r->thread_count; t++) {
        least = fmin(least, r->times.at[r->threads[t].first]);
    }
    return least;
}

static double latest(const struct reader *r)
{
    double most = 0;

    for (size_t t = 0; t < r->thread_count; t++) {
        most = fmax(most, r->times.at[r->threads[t].end - 1]);
    }
    return most;
}

/* ---- windows ---- */

static iw_status add_window(struct reader *r, double start, double work)
{
    IW_TRY(add(r->in->log, &r->starts, start * r->ns_per_tick));
    return add(r->in->log, &r->samples, work);
}

static double length_of(const struct reader *r, const struct thread *thread, size_t line)
{
    return line + 1 < thread->end ? r->times.at[line + 1] - r->times.at[line] : r->interval;
}

static iw_status add_windows(struct reader *r, double zero, struct thread *thread)
{
    const bool is_late = fabs(length_of(r, thread, thread->first) / r->interval - 1) > OFF;

    thread->first_window = r->starts.count;
    for (size_t i = thread->first + (is_late ? 1 : 0); i < thread->end; i++) {
        const double windows = fmax(round(length_of(r, thread, i) / r->interval), 1);

        if ((double)r->starts.count + windows > (double)MOST_EMPTY * (double)r->counts.count) {
            return iwi_fail(r->in->log, IW_ERR_FORMAT, "'%s': nearly all windows are missing", r->in->path);
        }
        IW_TRY(add_window(r, r->times.at[i] - zero, r->counts.at[i]));
        for (size_t k = 1; k < (size_t)windows; k++) {
            IW_TRY(add_window(r, r->times.at[i] - zero + (double)k * r->interval, 0));
        }
    }
    thread->window_count = r->starts.count - thread->first_window;
    return IW_OK;
}

static iw_status to_recording(struct reader *r, double length_ns, iw_recording **recording_p)
{
    struct iwi_quanta *quanta = iwi_new_array(r->in->log, r->thread_count, sizeof *quanta);
    iw_status status;

    if (quanta == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t t = 0; t < r->thread_count; t++) {
        const struct thread *thread = &r->threads[t];

        quanta[t] = (struct iwi_quanta){.cpu = r->cpu + (uint32_t)t,
                                        .count = thread->window_count,
                                        .start_ns = &r->starts.at[thread->first_window],
                                        .sample = &r->samples.at[thread->first_window],
                                        .length_ns = length_ns};
    }
    status = iwi_quanta_to_recording(r->in->log, r->in->path, IW_PROBE_FTQ, r->interval * r->ns_per_tick,
                                     quanta, r->thread_count, recording_p);
    free(quanta);
    return status;
}

static iw_status build(struct reader *r, bool is_in_ns, iw_recording **recording_p)
{
    double zero, span;

    IW_TRY(find_threads(r));
    IW_TRY(find_interval(r));
    if (is_in_ns && r->frequency > 0) {
        r->interval = 1e9 / r->frequency;
    }
    zero = earliest(r);
    span = latest(r) - zero + r->interval;
    r->ns_per_tick = is_in_ns ? 1 : (double)r->in->length_ns / span;
    for (size_t t = 0; t < r->thread_count; t++) {
        IW_TRY(add_windows(r, zero, &r->threads[t]));
        if (r->threads[t].window_count == 0) {
            return iwi_fail(r->in->log, IW_ERR_FORMAT, "'%s' has a thread without a whole window",
                            r->in->path);
        }
    }
    return to_recording(r, span * r->ns_per_tick, recording_p);
}

/* ---- files ---- */

static iw_status read_all(struct reader *r, const struct iwi_import *times, iw_recording **recording_p)
{
    bool is_in_ns;

    IW_TRY(read_counts(r));
    is_in_ns = r->times.count > 0;
    if (!is_in_ns) {
        IW_TRY(check_are_counts(r));
        if (r->in->length_ns == 0) {
            return iwi_fail(r->in->log, IW_ERR_USAGE,
                            "'%s' has windows of unknown length: give the length of all (`length_ns`)",
                            r->in->path);
        }
        if (times != NULL) {
            IW_TRY(read_times(r, times));
        }
        for (size_t i = 0; times == NULL && i < r->counts.count; i++) {
            IW_TRY(add(r->in->log, &r->times, (double)i));
        }
    }
    return build(r, is_in_ns, recording_p);
}

iw_status iwi_ftq_read(const struct iwi_import *counts, const struct iwi_import *times,
                       iw_recording **recording_p)
{
    struct reader r = {.in = counts, .lines = iwi_lines_of(counts->data, counts->size)};
    const iw_status status = read_all(&r, times, recording_p);

    free(r.times.at);
    free(r.counts.at);
    free(r.threads);
    free(r.starts.at);
    free(r.samples.at);
    return status;
}

/* "dir/counts.dat" has "dir/times.dat" beside it. False: another name, or there is no such file. */
static bool find_times(const char *path, char *times, size_t size)
{
    const char *slash = strrchr(path, '/'), *word = strstr(slash != NULL ? slash : path, "counts");

    return word != NULL &&
           (size_t)snprintf(times, size, "%.*stimes%s", (int)(word - path), path, word + strlen("counts")) <
               size &&
           access(times, R_OK) == 0;
}

static iw_status read_ftq(const struct iwi_import *in, iw_recording **recording_p)
{
    char path[4096];
    struct iwi_input input;
    iw_status status;

    if (matches(in->data, in->size) || !find_times(in->path, path, sizeof path)) {
        return iwi_ftq_read(in, NULL, recording_p);
    }
    IW_TRY(iwi_input_open(in->log, path, &input));
    status = iwi_ftq_read(
        in, &(struct iwi_import){.log = in->log, .path = path, .data = input.data, .size = input.size},
        recording_p);
    iwi_input_close(&input);
    return status;
}

const struct iwi_convert_ops iwi_import_ftq = {
    .about = {.name = "ftq",
              .summary = "a thread's file, or counts.dat with times.dat beside it",
              .can_read = true},
    .in_words = "FTQ",
    .is_foreign = true,
    .matches = matches,
    .read = read_ftq,
};
