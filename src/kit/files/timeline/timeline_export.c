/* Exports steps as trace events of Chrome, which ui.perfetto.dev shows, and finds those that are to be
 * exported.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/timeline.h>

#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "core/base/base.h"

/* Ranks of the exact window from index `first` on, steps that touch [from, to). */
struct iwi_exact_window {
    const iw_timeline *timeline;
    uint32_t first, count;
    iw_time from_ps, to_ps;
};

/* Steps of one rank. */
struct iwi_exact_window_steps {
    uint32_t rank;
    const iw_step *steps;
    size_t count;
    uint64_t first_number;
};

/* ---- steps that are exported ---- */

static struct iwi_exact_window_steps exact_window_steps(const struct iwi_exact_window *window,
                                                        uint32_t number)
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

/* IW_ERR_RANGE: there is nothing to export. */
static iw_status check_some(const iw_log *log, const struct iwi_exact_window *window)
{
    for (uint32_t i = 0; i < window->count; i++) {
        if (exact_window_steps(window, i).count > 0) {
            return IW_OK;
        }
    }
    return iwi_fail(log, IW_ERR_RANGE, "no step of these ranks in this time");
}

static iw_status choose_ranks(const iw_log *log, const iw_timeline_window *wanted,
                              struct iwi_exact_window *window)
{
    const uint32_t ranks = iw_timeline_describe(window->timeline)->ranks,
                   exact = iw_timeline_exact_ranks(window->timeline),
                   begin = iw_timeline_exact_rank(window->timeline, 0);

    if (wanted->first_rank >= ranks) {
        return iwi_fail(log, IW_ERR_RANGE, "no rank %" PRIu32 ": the timeline has %" PRIu32 " ranks",
                        wanted->first_rank, ranks);
    }
    (void)iw_timeline_exact_index(window->timeline, wanted->first_rank, &window->first);
    window->count = wanted->rank_count;
    if ((uint64_t)window->first + window->count > exact && (exact < ranks || window->count > ranks)) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "ranks %u to %" PRIu64
                        " are not all known exactly: the window has %u of %u ranks, from rank %u",
                        wanted->first_rank, ((uint64_t)wanted->first_rank + wanted->rank_count - 1) % ranks,
                        exact, ranks, begin);
    }
    return IW_OK;
}

/* `window` NULL: everything. IW_ERR_UNSUPPORTED: nothing is exact; IW_ERR_RANGE: not all of that is. */
static iw_status exact_window_open(const iw_log *log, const iw_timeline *timeline,
                                   const iw_timeline_window *wanted, struct iwi_exact_window *window)
{
    const uint32_t ranks = iw_timeline_describe(timeline)->ranks, exact = iw_timeline_exact_ranks(timeline);

    if (exact == 0) {
        return iwi_fail(log, IW_ERR_UNSUPPORTED,
                        "the timeline has only a raster: only its exact window can be exported");
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
        return iwi_fail(log, IW_ERR_RANGE, "the end of the export is before its start");
    }
    if (wanted->rank_count != 0) {
        IW_TRY(choose_ranks(log, wanted, window));
    }
    return check_some(log, window);
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

    IW_TRY(exact_window_open(log, timeline, window, &view));
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n", out);
    put_process(out, iw_timeline_describe(timeline)->title);
    for (uint32_t i = 0; i < view.count && !ferror(out); i++) {
        const struct iwi_exact_window_steps part = exact_window_steps(&view, i);

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

/* Exports steps as an OTF2 archive: a location a rank, a region a state. */

#if IW_HAVE_OTF2
#include <stdio.h>

#include "core/base/output.h"
#include "kit/files/otf2/otf2_callbacks.h"

/* Numbers of strings. */
enum {
    STRING_EMPTY,
    STRING_MACHINE,
    STRING_TITLE,
    STRING_THREAD,
    STRING_STATES,
    STRING_RANKS = STRING_STATES + IW_STATES
};

struct archive_out {
    struct iwi_exact_window window;
    OTF2_Archive *archive;
    OTF2_GlobalDefWriter *definitions;
    bool is_fine;
};

static void check(struct archive_out *out, OTF2_ErrorCode code)
{
    out->is_fine = out->is_fine && code == OTF2_SUCCESS;
}

static const OTF2_FlushCallbacks flush_callbacks = {.otf2_pre_flush = iwi_otf2_flush,
                                                    .otf2_post_flush = NULL};

/* ---- events ---- */

static void put_archive_step(struct archive_out *out, OTF2_EvtWriter *writer, const iw_step *step)
{
    uint64_t at_ps = (uint64_t)step->begin_ps;

    for (uint32_t state = 0; state < IW_STATES; state++) {
        const uint64_t end_ps = at_ps + (uint64_t)step->state_ps[state];

        if (end_ps > at_ps) {
            check(out, OTF2_EvtWriter_Enter(writer, NULL, at_ps, state));
            check(out, OTF2_EvtWriter_Leave(writer, NULL, end_ps, state));
        }
        at_ps = end_ps;
    }
}

/* Events of one rank, and its definitions. */
static void put_rank(struct archive_out *out, uint32_t number)
{
    const struct iwi_exact_window_steps part = exact_window_steps(&out->window, number);
    OTF2_EvtWriter *writer = OTF2_Archive_GetEvtWriter(out->archive, part.rank);
    OTF2_DefWriter *local = OTF2_Archive_GetDefWriter(out->archive, part.rank);
    uint64_t events = 0;
    char name[32];

    if (writer == NULL || local == NULL) {
        out->is_fine = false;
        return;
    }
    for (size_t i = 0; i < part.count; i++) {
        put_archive_step(out, writer, &part.steps[i]);
    }
    check(out, OTF2_EvtWriter_GetNumberOfEvents(writer, &events));
    check(out, OTF2_Archive_CloseEvtWriter(out->archive, writer));
    check(out, OTF2_Archive_CloseDefWriter(out->archive, local));
    snprintf(name, sizeof name, "rank %u", part.rank);
    check(out, OTF2_GlobalDefWriter_WriteString(out->definitions, STRING_RANKS + number, name));
    check(out, OTF2_GlobalDefWriter_WriteLocationGroup(out->definitions, part.rank, STRING_RANKS + number,
                                                       OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
                                                       OTF2_UNDEFINED_LOCATION_GROUP));
    check(out, OTF2_GlobalDefWriter_WriteLocation(out->definitions, part.rank, STRING_THREAD,
                                                  OTF2_LOCATION_TYPE_CPU_THREAD, events, part.rank));
}

/* ---- definitions ---- */

static OTF2_RegionRole role_of(iw_state state)
{
    switch (state) {
    case IW_STATE_DELAY:
    case IW_STATE_NOISE: return OTF2_REGION_ROLE_ARTIFICIAL;
    case IW_STATE_COMM: return OTF2_REGION_ROLE_POINT2POINT;
    case IW_STATE_WAIT: return OTF2_REGION_ROLE_BARRIER;
    default: return OTF2_REGION_ROLE_CODE;
    }
}

/* One tick of the clock is a picosecond. */
static void define_run(struct archive_out *out)
{
    OTF2_GlobalDefWriter *to = out->definitions;

    check(out, OTF2_GlobalDefWriter_WriteClockProperties(to, (uint64_t)IW_PS_PER_S, 0,
                                                         (uint64_t)iw_timeline_end(out->window.timeline) + 1,
                                                         OTF2_UNDEFINED_TIMESTAMP));
    check(out, OTF2_GlobalDefWriter_WriteString(to, STRING_EMPTY, ""));
    check(out, OTF2_GlobalDefWriter_WriteString(to, STRING_MACHINE, "machine"));
    check(out, OTF2_GlobalDefWriter_WriteString(to, STRING_TITLE,
                                                iw_timeline_describe(out->window.timeline)->title));
    check(out, OTF2_GlobalDefWriter_WriteString(to, STRING_THREAD, "main thread"));
    for (uint32_t state = 0; state < IW_STATES; state++) {
        check(out,
              OTF2_GlobalDefWriter_WriteString(to, STRING_STATES + state, iw_state_name((iw_state)state)));
        check(out,
              OTF2_GlobalDefWriter_WriteRegion(to, state, STRING_STATES + state, STRING_STATES + state,
                                               STRING_EMPTY, role_of((iw_state)state), OTF2_PARADIGM_USER,
                                               OTF2_REGION_FLAG_NONE, STRING_EMPTY, 0, 0));
    }
    check(out, OTF2_GlobalDefWriter_WriteSystemTreeNode(to, 0, STRING_TITLE, STRING_MACHINE,
                                                        OTF2_UNDEFINED_SYSTEM_TREE_NODE));
}

/* ---- the archive ---- */

static void put_archive(struct archive_out *out)
{
    check(out, OTF2_Archive_SetFlushCallbacks(out->archive, &flush_callbacks, NULL));
    check(out, OTF2_Archive_SetSerialCollectiveCallbacks(out->archive));
    check(out, OTF2_Archive_SetCreator(out->archive, "idlewave " IW_VERSION));
    check(out, OTF2_Archive_OpenEvtFiles(out->archive));
    check(out, OTF2_Archive_OpenDefFiles(out->archive));
    out->definitions = out->is_fine ? OTF2_Archive_GetGlobalDefWriter(out->archive) : NULL;
    if (out->definitions == NULL) {
        out->is_fine = false;
        return;
    }
    define_run(out);
    for (uint32_t i = 0; i < out->window.count && out->is_fine; i++) {
        put_rank(out, i);
    }
    check(out, OTF2_Archive_CloseGlobalDefWriter(out->archive, out->definitions));
    check(out, OTF2_Archive_CloseEvtFiles(out->archive));
    check(out, OTF2_Archive_CloseDefFiles(out->archive));
}

iw_status iw_timeline_write_otf2(const iw_log *log, const iw_timeline *timeline,
                                 const iw_timeline_window *window, const char *path)
{
    struct archive_out out = {.is_fine = true};

    IW_TRY(exact_window_open(log, timeline, window, &out.window));
    IW_TRY(iwi_folder_ensure(log, path, IWI_FOLDER_NEW));
    (void)OTF2_Error_RegisterCallback(iwi_otf2_quiet, NULL);
    out.archive =
        OTF2_Archive_Open(path, "traces", OTF2_FILEMODE_WRITE, OTF2_CHUNK_SIZE_EVENTS_DEFAULT,
                          OTF2_CHUNK_SIZE_DEFINITIONS_DEFAULT, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    if (out.archive == NULL) {
        return iwi_fail(log, IW_ERR_IO, "cannot write an OTF2 archive into '%s'", path);
    }
    put_archive(&out);
    check(&out, OTF2_Archive_Close(out.archive));
    return out.is_fine ? IW_OK : iwi_fail(log, IW_ERR_IO, "cannot write the OTF2 archive '%s'", path);
}

#else

iw_status iw_timeline_write_otf2(const iw_log *log, const iw_timeline *timeline,
                                 const iw_timeline_window *window, const char *path)
{
    (void)timeline;
    (void)window;
    return iwi_fail(log, IW_ERR_UNSUPPORTED, "'%s': this idlewave was built without OTF2", path);
}
#endif
