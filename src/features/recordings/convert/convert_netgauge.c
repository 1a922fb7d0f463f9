/* Text of netgauge's noise pattern, two columns of nanoseconds: docs/reference/formats/noise-text.md.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/noise/detour_text.h"
#include "features/recordings/convert/convert.h"
#include "features/recordings/convert/convert_rows.h"
#include "kit/files/io/convert_text.h"

static bool is_known_comment(struct iwi_piece comment)
{
    return iwi_take_key(&comment, "length_ns") || iwi_take_key(&comment, "Measurement period") ||
           iwi_take_prefix(&comment, " Time [ns]");
}

/* Two numbers, parted by blanks or a comma; a comment may follow. */
static bool is_data(struct iwi_piece text)
{
    const char *comma = memchr(text.at, ',', iwi_piece_size(text));
    struct iwi_piece first = iwi_next_word(&text), second;
    double number;

    if (comma != NULL && comma < first.end) {
        text.at = comma + 1;
        first.end = comma;
    }
    second = iwi_next_word(&text);
    text = iwi_trim_blanks(text);
    return iwi_read_real(first, &number) && iwi_read_real(second, &number) &&
           (text.at == text.end || *text.at == '#');
}

/* The first line of data is one; or there is none, but a comment that we know. */
static bool matches(const char *data, size_t size)
{
    struct iwi_lines lines = iwi_lines_of(data, size);
    bool is_known = false;
    struct iwi_piece line;

    while (iwi_next_line(&lines, &line)) {
        struct iwi_piece text = iwi_trim_blanks(line);

        if (iwi_take_prefix(&text, "#")) {
            is_known = is_known || is_known_comment(text);
        } else if (text.at != text.end) {
            return is_data(text);
        }
    }
    return is_known;
}

static int64_t round_to_ns(iw_time ps)
{
    return (ps + IW_PS_PER_NS / 2) / IW_PS_PER_NS;
}

/* Both ends are rounded, so that detours that do not overlap still do not. */
static iw_status add_rows(const iw_log *log, const struct iwi_detour_rows *trace, struct iwi_rows *rows)
{
    for (size_t i = 0; i < trace->count; i++) {
        const int64_t start_ns = round_to_ns(trace->start_ps[i]);
        const int64_t end_ns = round_to_ns(trace->start_ps[i] + trace->duration_ps[i]);

        if (end_ns > start_ns) {
            IW_TRY(iwi_rows_add(log, rows,
                                &(struct iwi_row){.start_ns = start_ns, .duration_ns = end_ns - start_ns}));
        }
    }
    return IW_OK;
}

/* What netgauge says of its loop and node. Of several runs the bluntest counts: it saw the least. */
static iw_status read_facts(const struct iwi_import *in, struct iwi_cpu_facts *facts, iw_recording *recording)
{
    struct iwi_lines lines = iwi_lines_of(in->data, in->size);
    struct iwi_piece line;
    double t_min_ns = 0, percent;

    while (iwi_next_line(&lines, &line)) {
        struct iwi_piece text = iwi_trim_blanks(line);
        char host[64];

        if (!iwi_take_prefix(&text, "#")) {
            continue;
        }
        if (iwi_take_key(&text, "Minimal cycle length [ns]")) {
            t_min_ns = iwi_read_real(text, &t_min_ns) ? t_min_ns : 0;
        } else if (iwi_take_key(&text, "Threshold") && iwi_take_key(&text, "[% minimal cycle length]")) {
            if (iwi_read_real(text, &percent) && t_min_ns * percent / 100 > facts->threshold_ns) {
                facts->t_min_ns = t_min_ns;
                facts->threshold_ns = t_min_ns * percent / 100;
            }
        } else if (iwi_take_key(&text, "Nodename") && iwi_piece_size(text) > 0) {
            snprintf(host, sizeof host, "%.*s", (int)iwi_min((int64_t)iwi_piece_size(text), 63), text.at);
            IW_TRY(iw_recording_set(in->log, recording, "host", host));
        }
    }
    return IW_OK;
}

static iw_status build(const struct iwi_import *in, const struct iwi_detour_rows *trace,
                       iw_recording *recording)
{
    const iw_log *log = in->log;
    struct iwi_cpu_facts facts = {.length_ns = round_to_ns(trace->length_ps)};
    struct iwi_rows rows = {.want_union = true};
    iw_status status = read_facts(in, &facts, recording);

    status = status == IW_OK ? iwi_rows_add_facts(log, &rows, &facts) : status;
    status = status == IW_OK ? add_rows(log, trace, &rows) : status;
    status = status == IW_OK ? iwi_rows_fill(log, &rows, recording) : status;
    iwi_rows_release(&rows);
    return status;
}

static iw_status read_trace(const struct iwi_import *in, struct iwi_detour_rows *trace)
{
    FILE *file;
    iw_status status;

    if (in->size == 0) {
        return iwi_fail(in->log, IW_ERR_TRUNCATED, "'%s' is empty", in->path);
    }
    file = fmemopen((void *)(uintptr_t)in->data, in->size, "r"); /* only read from */
    if (file == NULL) {
        return iwi_fail(in->log, IW_ERR_IO, "cannot read '%s': %s", in->path, strerror(errno));
    }
    status = iwi_detour_text_read(in->log, file, in->path, trace);
    (void)fclose(file);
    return status;
}

static iw_status read_netgauge(const struct iwi_import *in, iw_recording **recording_p)
{
    struct iwi_detour_rows trace;
    iw_recording *recording = NULL;
    iw_status status;

    IW_TRY(read_trace(in, &trace));
    status = iw_recording_new(in->log, 0, &recording);
    if (status == IW_OK) {
        status = build(in, &trace, recording);
    }
    iwi_detour_rows_release(&trace);
    if (status != IW_OK) {
        iw_recording_free(recording);
        return status;
    }
    *recording_p = recording;
    return IW_OK;
}

/* No newline at the end: LogGOPSim would take it for one detour more. */
static void write_netgauge(const iw_recording *recording, struct iwi_out *out)
{
    const iw_detours *cpu = &recording->cpus[0];
    const size_t last = cpu->count > 0 ? cpu->count - 1 : 0;
    const int64_t end_ns = cpu->count > 0 ? cpu->start_ns[last] + cpu->duration_ns[last] : 0;

    iwi_out_print(out, "# length_ns: %" PRId64 "\n# Time [ns]\tduration [ns]",
                  iwi_max(cpu->length_ns, end_ns));
    for (size_t i = 0; i < cpu->count; i++) {
        iwi_out_print(out, "\n%" PRId64 "\t%" PRId64, cpu->start_ns[i], cpu->duration_ns[i]);
    }
}

const struct iwi_convert_ops iwi_convert_netgauge = {
    .about = {.name = "netgauge",
              .summary = "text; LogGOPSim reads it too",
              .suffix = ".txt",
              .can_read = true,
              .can_write = true,
              .is_of_one_cpu = true},
    .in_words = "netgauge text",
    .is_foreign = true,
    .losses = IWI_LOSES_SOURCES | IWI_LOSES_PARTS | IWI_LOSES_QUANTA | IWI_LOSES_FACTS,
    .matches = matches,
    .read = read_netgauge,
    .write = write_netgauge,
};
