/* A timeline, or a trace of a run, as input of `idlewave report`.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>

#include <idlewave/idlewave.h>

#include "report_kinds.h"
#include "ui.h"

enum { COLUMNS = 80, LINES = 24 };

static bool is_timeline(const char *path)
{
    return iw_timeline_is_file(path) || iw_trace_is_trace(path);
}

static iw_status load(const iw_log *log, const char *path, void **input_p)
{
    const iw_timeline_opts opts = IW_TIMELINE_OPTS_INIT;
    iw_timeline *timeline = NULL;

    if (iw_timeline_is_file(path)) {
        IW_TRY(iw_timeline_read(log, path, &timeline));
    } else {
        IW_TRY(iw_timeline_from_trace(log, path, 0, &opts, &timeline));
    }
    *input_p = timeline;
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

static iw_status write_csv(const iw_log *log, const iw_timeline *timeline, FILE *out)
{
    const iw_wave_opts opts = IW_WAVE_OPTS_INIT;
    iw_waves *waves = NULL;
    iw_status status;

    IW_TRY(iw_waves_find(log, timeline, &opts, &waves));
    status = iw_waves_write_csv(log, waves, out);
    iw_waves_free(waves);
    return status;
}

/* The picture first, aside: if there is nothing to draw, there shall be no verdict above it either. */
static iw_status write_text(const iw_log *log, const iw_timeline *timeline, const iw_waves *waves,
                            const iw_timeline_window *window, const struct report_target *target)
{
    char *picture = NULL;
    size_t size = 0;
    FILE *aside = open_memstream(&picture, &size);
    iw_status status = IW_ERR_NOMEM;

    if (aside != NULL) {
        status = iw_timeline_write_terminal(log, timeline, waves, window, COLUMNS, LINES, target->has_colour,
                                            aside);
        status = fclose(aside) != 0 && status == IW_OK ? IW_ERR_NOMEM : status;
    }
    if (status == IW_OK && waves != NULL) {
        status = iw_waves_write_text(log, timeline, waves, target->out);
        (void)fputc('\n', target->out);
    }
    if (status == IW_OK) {
        (void)fwrite(picture, 1, size, target->out);
    }
    free(picture);
    return status;
}

static iw_status write_with_waves(const iw_log *log, const iw_timeline *timeline,
                                  const iw_timeline_window *window, const struct report_target *target)
{
    iw_waves *waves = NULL;
    iw_status status = look_for_waves(log, timeline, &waves);

    if (status == IW_OK) {
        switch (target->format) {
        case REPORT_TEXT: status = write_text(log, timeline, waves, window, target); break;
        case REPORT_HTML:
            status = iw_timeline_write_html(log, timeline, waves, ui_file_name(target->name), target->out);
            break;
        default: status = iw_timeline_plot(log, timeline, waves, window, target->path); break;
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

static iw_status write(const iw_log *log, const void *input, const struct report_target *target)
{
    static const struct window all = {.has_ranks = false};
    const iw_timeline_window window = window_of(input, target->window != NULL ? target->window : &all);

    switch (target->format) {
    case REPORT_CSV: return write_csv(log, input, target->out);
    case REPORT_PERFETTO: return iw_timeline_write_perfetto(log, input, &window, target->out);
    case REPORT_OTF2: return iw_timeline_write_otf2(log, input, &window, target->path);
    default: return write_with_waves(log, input, &window, target);
    }
}

static void release(void *input)
{
    iw_timeline_free(input);
}

const struct report_kind report_timeline = {
    .what = "a timeline (HDF5, of simulate --timeline), or a trace of a run",
    .has_format = {[REPORT_TEXT] = true,
                   [REPORT_HTML] = true,
                   [REPORT_CSV] = true,
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
