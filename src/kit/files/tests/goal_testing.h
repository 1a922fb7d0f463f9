/* Short ways to read and write GOAL in tests.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_GOAL_TESTING_H
#define IWT_GOAL_TESTING_H

#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kit/files/goal/goal.h"

/* A file's content. */
struct blob {
    char *data;
    size_t size;
};

static inline iw_status read_blob(struct iwt_log *l, const void *data, size_t size,
                                  struct iwi_schedule **schedule_p)
{
    const struct iwi_goal_source source = {"t.goal", data, size, IW_PS_PER_NS, NULL, false};

    iwt_log_init(l);
    return iwi_goal_read_memory(&l->log, &source, schedule_p);
}

static inline iw_status read_text(struct iwt_log *l, const char *text, struct iwi_schedule **schedule_p)
{
    return read_blob(l, text, strlen(text), schedule_p);
}

static inline struct blob write_blob(const struct iwi_schedule *schedule, bool is_binary)
{
    struct iwi_out out;
    struct iwi_goal_sink sink = {.out = &out, .schedule = schedule, .unit_ps = IW_PS_PER_NS};
    struct blob blob;

    assert_ok(iwi_out_open_memory(NULL, &out));
    assert_ok(is_binary ? iwi_goal_write_binary(&sink) : iwi_goal_write_text(&sink));
    blob.size = out.used;
    blob.data = malloc(out.used + 1);
    assert_non_null(blob.data);
    memcpy(blob.data, out.buffer, out.used);
    blob.data[out.used] = '\0';
    assert_ok(iwi_out_close(&out));
    return blob;
}

/* The file of that form that the same schedule gives. */
static inline struct blob convert(const void *data, size_t size, bool is_binary)
{
    struct iwi_schedule *schedule;
    struct iwt_log l;
    struct blob blob;

    assert_ok(read_blob(&l, data, size, &schedule));
    blob = write_blob(schedule, is_binary);
    iwi_schedule_free(schedule);
    return blob;
}

/* The text is accepted without a warning and means the same as `expected`, which is as the writer has it. */
static inline void assert_reads_as(const char *text, const char *expected)
{
    struct iwi_schedule *schedule;
    struct iwt_log l;
    struct blob blob;

    if (read_text(&l, text, &schedule) != IW_OK) {
        fail_msg("not accepted: %s", l.text);
    }
    assert_string_equal(l.text, "");
    blob = write_blob(schedule, false);
    assert_string_equal(blob.data, expected);
    free(blob.data);
    iwi_schedule_free(schedule);
}

/* The input is refused with that status and one message that contains `part`. */
static inline void assert_refused_blob(const void *data, size_t size, iw_status status, const char *part)
{
    struct iwi_schedule *schedule = NULL;
    struct iwt_log l;

    assert_status(read_blob(&l, data, size, &schedule), status);
    assert_null(schedule);
    iwt_assert_logged(&l, part);
    assert_int_equal(l.errors, 1);
}

static inline void assert_refused(const char *text, iw_status status, const char *part)
{
    assert_refused_blob(text, strlen(text), status, part);
}

#endif
