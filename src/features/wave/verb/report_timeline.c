/* A timeline, or a trace of a run, as input of `idlewave report`.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>

#include <idlewave/idlewave.h>
#include <idlewave/timeline.h>

#include "options/report_kinds.h"
#include "process/ui.h"

enum { COLUMNS = 80, LINES = 24 };

static bool is_timeline(const char *path)
{
    return iw_timeline_is_file(path) || iw_trace_is_trace(path);
}

/* What is shown. */
struct shown {
    iw_timeline *timeline;     /* NULL: ranks of the trace cannot be laid side by side */
    iw_trace *trace;           /* NULL: of a timeline from a file */
    iw_trace_summary *summary; /* of the trace */
};

static void release(void *input)
{
    struct shown *shown = input;

    iw_timeline_free(shown->timeline);
    iw_trace_summary_free(shown->summary);
    iw_trace_free(shown->trace);
    free(shown);
}

static iw_status load_trace(const iw_log *log, const char *path, struct shown *shown)
{
    const iw_timeline_opts opts = IW_TIMELINE_OPTS_INIT;
    iw_status status;

    IW_TRY(iw_trace_open(log, path, &shown->trace));
    IW_TRY(iw_trace_summarize(log, shown->trace, &shown->summary));
    status = iw_timeline_of_trace(NULL, shown->trace, path, 0, &opts, &shown->timeline);
    return status == IW_ERR_UNSUPPORTED ? IW_OK : status;
}

static iw_status load(const iw_log *log, const char *path, void **input_p)
{
    struct shown *shown = ui_grow(NULL, 1, sizeof *shown);
    iw_status status;

    *shown = (struct shown){.timeline = NULL};
    status = iw_timeline_is_file(path) ? iw_timeline_read(log, path, &shown->timeline)
                                       : load_trace(log, path, shown);
    if (status != IW_OK) {
        release(shown);
        return status;
    }
    *input_p = shown;
    return IW_OK;
}

/* NULL in *waves_p: there is nothing in which waves could be looked for; a picture there is all the same. */
static iw_status look_for_waves(const iw_log *log, const iw_timeline *timeline, iw_waves **waves_p)
{
    const iw_wave_opts opts = IW_WAVE_OPTS_INIT;
    const iw_status status = iw_waves_find(NULL, timeline, &opts, waves_p);

    if (status == IW_ERR_UNSUPPORTED) {
        *waves_p = NULL;
        return IW_OK;
    }
    return status == IW_OK ? IW_OK : iw_waves_find(log, timeline, &opts, waves_p); /* now with its message */
}

/* Of a trace the run with its waves, of a timeline its waves, which there must be. */
static iw_status write_doc(const iw_log *log, const struct shown *shown, const iw_waves *waves,
                           const struct report_target *target)
{
    const iw_traced_run run = {shown->summary, waves};
    const iw_wave_opts opts = IW_WAVE_OPTS_INIT;
    iw_waves *none = NULL;

    if (shown->summary != NULL) {
        return report_write_doc(log, iw_traced_run_doc(&run), target);
    }
    return waves != NULL ? report_write_doc(log, iw_waves_doc(waves), target)
                         : iw_waves_find(log, shown->timeline, &opts, &none); /* says why not */
}

/* The picture first, aside: if there is nothing to draw, there shall be no verdict above it either. */
static iw_status write_text(const iw_log *log, const struct shown *shown, const iw_waves *waves,
                            const iw_timeline_window *window, const struct report_target *target)
{
    const iw_waves *drawn = shown->summary == NULL || iw_waves_are_followed(waves) ? waves : NULL;
    char *picture = NULL;
    size_t size = 0;
    FILE *aside = open_memstream(&picture, &size);
    iw_status status = IW_ERR_NOMEM;

    if (aside != NULL) {
        status = iw_timeline_write_terminal(log, shown->timeline, drawn, window, COLUMNS, LINES,
                                            target->has_colour, aside);
        status = fclose(aside) != 0 && status == IW_OK ? IW_ERR_NOMEM : status;
    }
    if (status == IW_OK && (shown->summary != NULL || waves != NULL)) {
        status = write_doc(log, shown, waves, target);
        (void)fputc('\n', target->out);
    }
    if (status == IW_OK) {
        (void)fwrite(picture, 1, size, target->out);
    }
    free(picture);
    return status;
}

static iw_status write_page(const iw_log *log, const struct shown *shown, const iw_waves *waves,
                            const struct report_target *target)
{
    const iw_traced_run run = {shown->summary, waves};

    return iw_traced_run_write_html(log, &run, shown->timeline, ui_file_name(target->name), target->out);
}

static iw_status write_with_waves(const iw_log *log, const struct shown *shown,
                                  const iw_timeline_window *window, const struct report_target *target)
{
    iw_waves *waves = NULL;
    iw_status status = look_for_waves(log, shown->timeline, &waves);

    if (status == IW_OK) {
        switch (target->format) {
        case REPORT_TEXT: status = write_text(log, shown, waves, window, target); break;
        case REPORT_HTML: status = write_page(log, shown, waves, target); break;
        case REPORT_CSV:
        case REPORT_JSON: status = write_doc(log, shown, waves, target); break;
        default: status = iw_timeline_plot(log, shown->timeline, waves, window, target->path); break;
        }
    }
    iw_waves_free(waves);
    return status;
}

/* What is beyond the last rank is cut off; a first rank that there is not, the library refuses. */
static iw_timeline_window window_of(const iw_timeline *timeline, const struct window *wanted)
{
    const uint32_t ranks = iw_timeline_describe(timeline)->ranks;
    struct window within = *wanted;

    if (within.first_rank < ranks && within.last_rank >= ranks) {
        within.last_rank = ranks - 1;
    }
    return (iw_timeline_window){within.first_rank, window_rank_count(&within, ranks), within.from_ps,
                                within.to_ps};
}

/* Of a trace whose ranks cannot be laid side by side there is all but pictures, which say why. */
static iw_status write_without_timeline(const iw_log *log, const struct shown *shown,
                                        const struct report_target *target)
{
    const iw_timeline_opts opts = IW_TIMELINE_OPTS_INIT;
    iw_timeline *timeline = NULL;

    if (target->out != NULL && target->format != REPORT_PERFETTO && target->window == NULL) {
        return write_doc(log, shown, NULL, target);
    }
    return iw_timeline_of_trace(log, shown->trace, target->name, 0, &opts, &timeline);
}

static iw_status write(const iw_log *log, const void *input, const struct report_target *target)
{
    static const struct window all = {.has_ranks = false};
    const struct shown *shown = input;
    iw_timeline_window window;

    if (shown->timeline == NULL) {
        return write_without_timeline(log, shown, target);
    }
    window = window_of(shown->timeline, target->window != NULL ? target->window : &all);
    switch (target->format) {
    case REPORT_PERFETTO: return iw_timeline_write_perfetto(log, shown->timeline, &window, target->out);
    case REPORT_OTF2: return iw_timeline_write_otf2(log, shown->timeline, &window, target->path);
    default: return write_with_waves(log, shown, &window, target);
    }
}

const struct report_kind report_timeline = {
    .what = "a timeline (HDF5, of simulate --timeline), or a trace of a run",
    .has_format = {[REPORT_TEXT] = true,
                   [REPORT_HTML] = true,
                   [REPORT_CSV] = true,
                   [REPORT_JSON] = true,
                   [REPORT_PNG] = true,
                   [REPORT_SVG] = true,
                   [REPORT_PDF] = true,
                   [REPORT_PERFETTO] = true,
                   [REPORT_OTF2] = true},
    .has_window = {[REPORT_TEXT] = true,
                   [REPORT_PNG] = true,
                   [REPORT_SVG] = true,
                   [REPORT_PDF] = true,
                   [REPORT_PERFETTO] = true,
                   [REPORT_OTF2] = true},
    .is_it = is_timeline,
    .load = load,
    .write = write,
    .free = release,
};
