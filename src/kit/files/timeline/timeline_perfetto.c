/* Exports steps as trace events of Chrome, which ui.perfetto.dev shows, and finds those that are to be
 * exported.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/timeline.h>

#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "kit/files/timeline/timeline_window.h"

/* ---- steps that are exported ---- */

/* IW_ERR_RANGE: there is nothing to export. */
static iw_status check_some(const iw_log *log, const struct iwi_exact_window *window)
{
    for (uint32_t i = 0; i < window->count; i++) {
        if (iwi_exact_window_steps(window, i).count > 0) {
            return IW_OK;
        }
    }
    return iwi_fail(log, IW_ERR_RANGE, "no step of these ranks is in that time");
}

static iw_status choose_ranks(const iw_log *log, const iw_timeline_window *wanted,
                              struct iwi_exact_window *window)
{
    const uint32_t ranks = iw_timeline_describe(window->timeline)->ranks,
                   exact = iw_timeline_exact_ranks(window->timeline),
                   begin = iw_timeline_exact_rank(window->timeline, 0);

    if (wanted->first_rank >= ranks) {
        return iwi_fail(log, IW_ERR_RANGE, "there is no rank %" PRIu32 ": the timeline has %" PRIu32 " ranks",
                        wanted->first_rank, ranks);
    }
    (void)iw_timeline_exact_index(window->timeline, wanted->first_rank, &window->first);
    window->count = wanted->rank_count;
    if ((uint64_t)window->first + window->count > exact && (exact < ranks || window->count > ranks)) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "ranks %u to %" PRIu64
                        " are not all known exactly: the window is %u of %u ranks, from "
                        "rank %u on",
                        wanted->first_rank, ((uint64_t)wanted->first_rank + wanted->rank_count - 1) % ranks,
                        exact, ranks, begin);
    }
    return IW_OK;
}

iw_status iwi_exact_window_open(const iw_log *log, const iw_timeline *timeline,
                                const iw_timeline_window *wanted, struct iwi_exact_window *window)
{
    const uint32_t ranks = iw_timeline_describe(timeline)->ranks, exact = iw_timeline_exact_ranks(timeline);

    if (exact == 0) {
        return iwi_fail(log, IW_ERR_UNSUPPORTED,
                        "the timeline has only a raster: what is exported must be in its exact window");
    }
    *window = (struct iwi_exact_window){timeline, 0, exact, 0, INT64_MAX};
    if (exact == ranks) { /* all of them: in their order, wherever the window begins */
        window->first = (ranks - iw_timeline_exact_rank(timeline, 0)) % ranks;
    }
    if (wanted == NULL) {
        return IW_OK;
    }
    window->from_ps = wanted->from_ps;
    window->to_ps = wanted->to_ps != 0 ? wanted->to_ps : INT64_MAX;
    if (window->from_ps < 0 || window->to_ps <= window->from_ps) {
        return iwi_fail(log, IW_ERR_RANGE, "what is to be exported ends before it begins");
    }
    if (wanted->rank_count != 0) {
        IW_TRY(choose_ranks(log, wanted, window));
    }
    return check_some(log, window);
}

struct iwi_exact_window_steps iwi_exact_window_steps(const struct iwi_exact_window *window, uint32_t number)
{
    const uint32_t index = (uint32_t)(((uint64_t)window->first + number) %
                                      iw_timeline_exact_ranks(window->timeline)); /* all: around the end */
    struct iwi_exact_window_steps part = {.rank = iw_timeline_exact_rank(window->timeline, index)};

    part.steps = iw_timeline_steps(window->timeline, index, &part.count, &part.first_number);
    while (part.count > 0 && iw_step_end(part.steps) <= window->from_ps) {
        part.steps++;
        part.count--;
        part.first_number++;
    }
    while (part.count > 0 && part.steps[part.count - 1].begin_ps >= window->to_ps) {
        part.count--;
    }
    return part;
}

/* ---- trace events ---- */

/* Names that Chrome's own viewer knows; Perfetto chooses by the slice's name. */
static const char *const colours[IW_STATES] = {
    [IW_STATE_DELAY] = "thread_state_runnable", /* blue */
    [IW_STATE_COMPUTE] = "white",
    [IW_STATE_NOISE] = "bad", /* orange */
    [IW_STATE_COMM] = "grey",
    [IW_STATE_WAIT] = "terrible", /* red */
};

/* In microseconds, to the picosecond. */
static void put_time(FILE *out, const char *key, iw_time ps)
{
    fprintf(out, ",\"%s\":%" PRId64 ".%06" PRId64, key, ps / IW_PS_PER_US, ps % IW_PS_PER_US);
}

static void put_process(FILE *out, const char *title)
{
    json_t *name = json_string(title);

    fputs("{\"ph\":\"M\",\"pid\":0,\"name\":\"process_name\",\"args\":{\"name\":", out);
    if (name == NULL || json_dumpf(name, out, JSON_ENCODE_ANY) != 0) { /* not UTF-8 */
        fputs("\"idlewave\"", out);
    }
    fputs("}}", out);
    json_decref(name);
}

static void put_thread(FILE *out, uint32_t rank, uint32_t number)
{
    fprintf(
        out,
        ",\n{\"ph\":\"M\",\"pid\":0,\"tid\":%u,\"name\":\"thread_name\",\"args\":{\"name\":\"rank %u\"}}"
        ",\n{\"ph\":\"M\",\"pid\":0,\"tid\":%u,\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":%u}}",
        rank, rank, rank, number);
}

static void put_step(FILE *out, uint32_t rank, uint64_t number, const iw_step *step)
{
    iw_time at_ps = step->begin_ps;

    for (int state = 0; state < IW_STATES; state++) {
        const iw_time duration_ps = step->state_ps[state];

        if (duration_ps > 0) {
            fprintf(out, ",\n{\"ph\":\"X\",\"pid\":0,\"tid\":%u,\"name\":\"%s\",\"cname\":\"%s\"", rank,
                    iw_state_name((iw_state)state), colours[state]);
            put_time(out, "ts", at_ps);
            put_time(out, "dur", duration_ps);
            fprintf(out, ",\"args\":{\"step\":%" PRIu64 "}}", number + 1 /* for people, as --delay counts */);
        }
        at_ps += duration_ps;
    }
}

iw_status iw_timeline_write_perfetto(const iw_log *log, const iw_timeline *timeline,
                                     const iw_timeline_window *window, FILE *out)
{
    struct iwi_exact_window view;

    IW_TRY(iwi_exact_window_open(log, timeline, window, &view));
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", out);
    put_process(out, iw_timeline_describe(timeline)->title);
    for (uint32_t i = 0; i < view.count && !ferror(out); i++) {
        const struct iwi_exact_window_steps part = iwi_exact_window_steps(&view, i);

        put_thread(out, part.rank, i);
        for (size_t j = 0; j < part.count; j++) {
            put_step(out, part.rank, part.first_number + j, &part.steps[j]);
        }
    }
    fputs("\n]}\n", out);
    if (fflush(out) != 0 || ferror(out)) {
        return iwi_fail(log, IW_ERR_IO, "cannot write trace events: %s", strerror(errno));
    }
    return IW_OK;
}
