/* Makes a trace from detours in any order, read from a file or given as arrays.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/noise.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/order.h"
#include "core/noise/detour_text.h"
#include "core/noise/source.h"

struct detour {
    iw_time start_ps, end_ps;
};

IWI_COMPARE(by_start, struct detour, IWI_RISING(start_ps))

/* Checks the detours and leaves out the empty ones. */
static iw_status take_detours(const iw_log *log, const char *name, const iw_time *start_ps,
                              const iw_time *duration_ps, size_t count, struct detour *detours,
                              size_t *kept_p)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        if (start_ps[i] < 0 || duration_ps[i] < 0 || start_ps[i] > IW_TIME_INPUT_MAX ||
            duration_ps[i] > IW_TIME_INPUT_MAX - start_ps[i]) {
            return iwi_fail(log, IW_ERR_RANGE,
                            "'%s': detour %zu (start %" PRId64 " ps, duration %" PRId64
                            " ps) is not between 0 and 240h",
                            name, i + 1, start_ps[i], duration_ps[i]);
        }
        if (duration_ps[i] > 0) {
            detours[kept++] = (struct detour){start_ps[i], start_ps[i] + duration_ps[i]};
        }
    }
    *kept_p = kept;
    return IW_OK;
}

/* Joins overlapping and touching detours of a sorted list; returns how many are left. */
static size_t merge(struct detour *detours, size_t count)
{
    size_t last = 0;

    for (size_t i = 1; i < count; i++) {
        if (detours[i].start_ps <= detours[last].end_ps) {
            detours[last].end_ps = iwi_max(detours[last].end_ps, detours[i].end_ps);
        } else {
            detours[++last] = detours[i];
        }
    }
    return count > 0 ? last + 1 : 0;
}

enum { PIECES_PER_MARK = 4 };

iw_status iwi_detour_trace_index(const iw_log *log, struct iwi_detour_trace *trace)
{
    const size_t marks = trace->count / PIECES_PER_MARK + 1;
    size_t piece = 0;

    if (trace->count > UINT32_MAX) {
        return iwi_fail(log, IW_ERR_RANGE, "%zu detours of a CPU are too many", trace->count);
    }
    trace->index_ps = trace->length_ps / (iw_time)marks + 1;
    trace->index = iwi_new_array(log, marks + 1, sizeof *trace->index);
    if (trace->index == NULL) {
        return IW_ERR_NOMEM;
    }
    for (size_t mark = 0; mark <= marks; mark++) {
        const iw_time position = (iw_time)mark * trace->index_ps;

        while (piece < trace->count &&
               trace->pieces[piece].start_ps + trace->pieces[piece].duration_ps <= position) {
            piece++;
        }
        trace->index[mark] = (uint32_t)piece;
    }
    return IW_OK;
}

static iw_status fill(const iw_log *log, const struct detour *detours, size_t count, iw_time length_ps,
                      struct iwi_detour_trace *trace_p)
{
    struct iwi_detour_trace trace = {.pieces = iwi_new_array(log, count, sizeof(struct iwi_detour_piece)),
                                     .free_before_ps =
                                         iwi_new_array(log, count / IWI_PIECES_PER_SUM + 1, sizeof(iw_time)),
                                     .count = count,
                                     .length_ps = length_ps,
                                     .free_ps = length_ps};

    if (trace.pieces == NULL || trace.free_before_ps == NULL) {
        iwi_detour_trace_release(&trace);
        return IW_ERR_NOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        trace.pieces[i] =
            (struct iwi_detour_piece){detours[i].start_ps, detours[i].end_ps - detours[i].start_ps};
        if (i % IWI_PIECES_PER_SUM == 0) {
            trace.free_before_ps[i / IWI_PIECES_PER_SUM] = detours[i].start_ps - (length_ps - trace.free_ps);
        }
        trace.free_ps -= trace.pieces[i].duration_ps;
    }
    if (iwi_detour_trace_index(log, &trace) != IW_OK) {
        iwi_detour_trace_release(&trace);
        return IW_ERR_NOMEM;
    }
    *trace_p = trace;
    return IW_OK;
}

/* The length, checked: the detours fit, and leave time to work. */
static iw_status check_length(const iw_log *log, const char *name, const struct detour *detours, size_t count,
                              iw_time *length_ps)
{
    const iw_time last_end_ps = count > 0 ? detours[count - 1].end_ps : 0;

    if (*length_ps < 0 || *length_ps > IW_TIME_INPUT_MAX) {
        return iwi_fail(log, IW_ERR_RANGE, "'%s': the length of %" PRId64 " ps is not between 0 and 240h",
                        name, *length_ps);
    }
    if (*length_ps == 0) {
        *length_ps = last_end_ps;
    }
    if (*length_ps < last_end_ps) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "'%s': the length of %" PRId64
                        " ps is shorter than the end of the last detour, %" PRId64
                        " ps; write a length that holds all detours, or none",
                        name, *length_ps, last_end_ps);
    }
    if (count == 1 && detours[0].start_ps == 0 && last_end_ps == *length_ps) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "'%s': the detours fill the whole length of %" PRId64
                        " ps, so no time is left to work; write the length of the recording (in a file: '# "
                        "length_ns: N')",
                        name, *length_ps);
    }
    return IW_OK;
}

void iwi_detour_trace_release(struct iwi_detour_trace *trace)
{
    free(trace->pieces);
    free(trace->free_before_ps);
    free(trace->index);
}

iw_status iwi_detour_trace_build(const iw_log *log, const char *name, const iw_time *start_ps,
                                 const iw_time *duration_ps, size_t count, iw_time length_ps,
                                 struct iwi_detour_trace *trace_p)
{
    struct detour *detours = iwi_new_array(log, count, sizeof *detours);
    iw_status status;

    if (detours == NULL) {
        return IW_ERR_NOMEM;
    }
    status = take_detours(log, name, start_ps, duration_ps, count, detours, &count);
    if (status == IW_OK) {
        iwi_sort(detours, count, by_start);
        count = merge(detours, count);
        status = check_length(log, name, detours, count, &length_ps);
    }
    if (status == IW_OK) {
        status = fill(log, detours, count, length_ps, trace_p);
    }
    free(detours);
    return status;
}

static iw_status fail_to_open(const iw_log *log, const char *path, const char *specs)
{
    const int error = errno;

    if (error != ENOENT && error != ENOTDIR && error != ENAMETOOLONG) {
        return iwi_fail(log, IW_ERR_IO, "cannot open '%s': %s", path, strerror(error));
    }
    return iwi_fail(log, IW_ERR_IO, "'%s' is neither a file (%s) nor a noise spec: write a path or one of %s",
                    path, strerror(error), specs);
}

iw_status iwi_detour_trace_load(const iw_log *log, const char *path, const char *specs,
                                struct iwi_noise_source *source)
{
    FILE *in = fopen(path, "r");
    struct iwi_detour_rows rows;
    iw_status status;

    if (in == NULL) {
        return fail_to_open(log, path, specs);
    }
    status = iwi_detour_text_read(log, in, path, &rows);
    fclose(in);
    IW_TRY(status);
    status = iwi_detour_trace_build(log, path, rows.start_ps, rows.duration_ps, rows.count, rows.length_ps,
                                    &source->u.trace);
    if (status == IW_OK && source->u.trace.count == 0) {
        iwi_warn(log, "'%s' holds no detours, so it adds no noise", path);
    }
    iwi_detour_rows_release(&rows);
    return status;
}
