/* What the tests of converted recordings share: reading from memory, comparing, cutting short.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_CONVERT_TESTING_H
#define IWT_CONVERT_TESTING_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <idlewave/convert.h>

#include "features/recordings/convert/convert.h"
#include "kit/files/io/input.h"
#include "support/made_recording.h"
#include "support/support.h"

/* Reads `size` bytes; `ops` NULL: told by the content. The log is emptied first. */
static inline iw_status import_bytes(struct iwt_log *log, const struct iwi_convert_ops *ops, const char *data,
                                     size_t size, iw_recording **recording_p)
{
    const iw_import_opts opts = IW_IMPORT_OPTS_INIT;
    struct iwi_import in = {.log = &log->log, .path = "in", .data = data, .size = size};

    iwt_log_init(log);
    return iwi_import_memory(&in, ops, &opts, recording_p);
}

/* Text that must be accepted. */
static inline iw_recording *import_text(const struct iwi_convert_ops *ops, const char *text)
{
    struct iwt_log log;
    iw_recording *recording = NULL;

    assert_ok(import_bytes(&log, ops, text, strlen(text), &recording));
    return recording;
}

static inline void expect_refused(const struct iwi_convert_ops *ops, const char *text, iw_status status,
                                  const char *message)
{
    struct iwt_log log;
    iw_recording *recording = NULL;

    assert_status(import_bytes(&log, ops, text, strlen(text), &recording), status);
    iwt_assert_logged(&log, message);
    assert_int_equal(log.errors, 1);
    assert_null(recording);
}

/* Whatever is cut off: accepted, or refused with one error. The piece is a copy, so that sanitizers see any
 * byte that is read beyond. */
static inline void cut_short(const struct iwi_convert_ops *ops, const char *data, size_t size, size_t step)
{
    for (size_t length = 0; length < size; length += step) {
        char *piece = malloc(length + 1);
        iw_recording *recording = NULL;
        struct iwt_log log;
        iw_status status;

        assert_non_null(piece);
        piece = realloc(piece, length > 0 ? length : 1);
        memcpy(piece, data, length);
        status = import_bytes(&log, ops, piece, length, &recording);
        assert_int_equal(log.errors, status == IW_OK ? 0 : 1);
        iw_recording_free(recording);
        free(piece);
    }
}

/* What a recording is as text of that format; free it. */
static inline char *export_text(const struct iwi_convert_ops *ops, const iw_recording *recording)
{
    struct iwi_out out;
    char *text;

    assert_ok(iwi_out_open_memory(NULL, &out));
    ops->write(recording, &out);
    text = strndup(out.buffer, out.used);
    assert_ok(iwi_out_close(&out));
    assert_non_null(text);
    return text;
}

static inline void expect_same_detours(const iw_recording *a, const iw_recording *b, bool want_sources)
{
    assert_int_equal(a->cpu_count, b->cpu_count);
    for (size_t c = 0; c < a->cpu_count; c++) {
        const iw_detours *x = &a->cpus[c], *y = &b->cpus[c];

        assert_int_equal(x->cpu, y->cpu);
        assert_int_equal(x->length_ns, y->length_ns);
        assert_int_equal(x->count, y->count);
        for (size_t i = 0; i < x->count; i++) {
            assert_int_equal(x->start_ns[i], y->start_ns[i]);
            assert_int_equal(x->duration_ns[i], y->duration_ns[i]);
            if (want_sources) {
                const iw_source *of_x = &a->sources[x->source[i]], *of_y = &b->sources[y->source[i]];

                assert_int_equal(of_x->kind, of_y->kind);
                assert_string_equal(of_x->name, of_y->name);
            }
        }
    }
}

#endif
