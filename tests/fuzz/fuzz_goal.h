/* Reading and writing GOAL in memory, for the fuzz targets of both forms.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWT_FUZZ_GOAL_H
#define IWT_FUZZ_GOAL_H

#include <string.h>

#include "fuzz.h"
#include "kit/files/goal/goal.h"

typedef iw_status (*iwt_goal_reader)(const iw_log *log, const struct iwi_goal_source *source,
                                     struct iwi_schedule **schedule_p);

/* The schedule, or NULL when the input is refused. */
static inline struct iwi_schedule *iwt_fuzz_read(iwt_goal_reader reader, const char *data, size_t size,
                                                 bool wants_program)
{
    const struct iwi_goal_source source = {"fuzz", data, size, 1, NULL, wants_program};
    struct iwi_schedule *schedule = NULL;
    unsigned errors = 0;
    const iw_log log = {iwt_fuzz_count_error, &errors};
    const iw_status status = reader(&log, &source, &schedule);

    iwt_fuzz_check_log(status, errors);
    return status == IW_OK ? schedule : NULL;
}

static inline void iwt_fuzz_write(const struct iwi_schedule *schedule, bool is_binary, struct iwi_out *out)
{
    struct iwi_goal_sink sink = {.out = out, .schedule = schedule, .unit_ps = 1};

    iwt_fuzz_require(iwi_out_open_memory(NULL, out) == IW_OK);
    iwt_fuzz_require((is_binary ? iwi_goal_write_binary(&sink) : iwi_goal_write_text(&sink)) == IW_OK);
}

/* A graph that becomes a program becomes the same graph again. Frees the one that it gets. */
static inline struct iwi_schedule *iwt_fuzz_in_order_and_back(struct iwi_schedule *schedule)
{
    struct iwi_schedule *graph = schedule;

    iwt_fuzz_require(iwi_schedule_put_in_order(NULL, schedule) == IW_OK);
    if (schedule->is_in_order) {
        iwt_fuzz_require(iwi_schedule_to_dag(NULL, schedule, &graph) == IW_OK);
        iwi_schedule_free(schedule);
    }
    return graph;
}

/* What is accepted is written, read again and written again: the same bytes. Frees the schedule. */
static inline void iwt_fuzz_check_round_trip(struct iwi_schedule *schedule, bool is_binary)
{
    struct iwi_schedule *again;
    struct iwi_out first, other, second;

    iwt_fuzz_write(schedule, is_binary, &first);
    iwt_fuzz_write(schedule, !is_binary, &other);
    iwi_schedule_free(schedule);
    again = iwt_fuzz_read(iwi_goal_read_memory, other.buffer, other.used, true);
    iwt_fuzz_require(again != NULL);
    again = iwt_fuzz_in_order_and_back(again);
    iwt_fuzz_write(again, is_binary, &second);
    iwi_schedule_free(again);
    iwt_fuzz_require(first.used == second.used && memcmp(first.buffer, second.buffer, first.used) == 0);
    iwt_fuzz_require(iwi_out_close(&first) == IW_OK);
    iwt_fuzz_require(iwi_out_close(&other) == IW_OK);
    iwt_fuzz_require(iwi_out_close(&second) == IW_OK);
}

#endif
