/* Exports steps as Chrome's trace events, which ui.perfetto.dev shows.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/timeline.h>

#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "kit/files/timeline/timeline_window.h"

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
