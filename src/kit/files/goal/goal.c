/* GOAL files as programs: reads text or binary, writes either.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/files/goal/goal.h"

#include <stdlib.h>

#include <idlewave/files.h>

#include "kit/files/goal/goal_binary.h"

/* The magic, or as much of it as a file that was cut short has. Text never begins with these bytes. */
static bool is_binary(const struct iwi_goal_source *source)
{
    static const uint64_t magics[] = {IWI_GOAL_MAGIC, IWI_GOAL_MAGIC_SPENT};
    const size_t bytes = source->size < 8 ? source->size : 8;

    for (size_t i = 0; i < sizeof magics / sizeof magics[0]; i++) {
        char magic[8];

        iwi_goal_put_u64(magic, magics[i]);
        if (bytes > 0 && memcmp(source->data, magic, bytes) == 0) {
            return true;
        }
    }
    return false;
}

static iw_status check_unit(const iw_log *log, iw_time unit_ps)
{
    if (unit_ps < 1 || unit_ps > IW_PS_PER_S) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "the unit of GOAL's calc lengths is %" PRId64 " ps, not 1 ps to 1 s", unit_ps);
    }
    return IW_OK;
}

iw_status iwi_goal_read_memory(const iw_log *log, const struct iwi_goal_source *source,
                               struct iwi_schedule **schedule_p)
{
    IW_TRY(check_unit(log, source->unit_ps));
    return is_binary(source) ? iwi_goal_read_binary(log, source, schedule_p)
                             : iwi_goal_read_text(log, source, schedule_p);
}

iw_status iw_program_from_goal(const iw_log *log, const char *path, iw_time unit_ps, iw_program **program_p)
{
    struct iwi_schedule *schedule;
    struct iwi_input input;
    struct iwi_goal_source source = {.name = path, .unit_ps = unit_ps, .wants_program = true};
    iw_status status;

    IW_TRY(iwi_input_open(log, path, &input));
    source.data = input.data;
    source.size = input.size;
    source.input = &input;
    status = iwi_goal_read_memory(log, &source, &schedule);
    iwi_input_close(&input);
    IW_TRY(status);
    status = iwi_schedule_put_in_order(log, schedule);
    if (status != IW_OK) {
        iwi_schedule_free(schedule);
        return status;
    }
    return iwi_program_from_schedule(log, schedule, program_p);
}

uint64_t iwi_goal_calc_units(struct iwi_goal_sink *sink, uint32_t rank, const struct iwi_node *node,
                             uint64_t *step_p)
{
    const uint64_t unit_ps = (uint64_t)sink->unit_ps;
    uint64_t length_ps = node->amount;

    if ((node->flags & IWI_NODE_PHASE) != 0) {
        ++*step_p;
        if (sink->program != NULL && sink->program->delay_count > 0) {
            length_ps += (uint64_t)iwi_program_delay(sink->program, rank, *step_p);
        }
    }
    sink->rounded += length_ps % unit_ps != 0;
    return length_ps / unit_ps + (length_ps % unit_ps >= unit_ps - unit_ps / 2);
}

static void warn_synchronous(const iw_log *log, const struct iwi_schedule *schedule, const char *path)
{
    uint64_t count = 0;

    for (uint64_t node = 0; node < schedule->first_node[schedule->ranks]; node++) {
        count += (schedule->nodes[node].flags & IWI_NODE_SYNCHRONOUS) != 0;
    }
    if (count > 0) {
        iwi_warn(log, "'%s': %" PRIu64 " synchronous sends became ordinary ones: GOAL has no others", path,
                 count);
    }
}

static iw_status write_schedule(const iw_log *log, const iw_program *program,
                                const struct iwi_schedule *schedule, const char *path, bool want_binary,
                                iw_time unit_ps)
{
    struct iwi_out out;
    struct iwi_goal_sink sink = {.out = &out, .schedule = schedule, .program = program, .unit_ps = unit_ps};
    iw_status status;

    IW_TRY(iwi_out_open_file(log, path, &out));
    status = want_binary ? iwi_goal_write_binary(&sink) : iwi_goal_write_text(&sink);
    if (out.status == IW_OK) {
        out.status = status;
    }
    status = iwi_out_close(&out);
    if (status == IW_OK && sink.rounded > 0) {
        iwi_warn(log, "'%s': %" PRIu64 " calc lengths were rounded to whole units of %" PRId64 " ps", path,
                 sink.rounded, unit_ps);
    }
    if (status == IW_OK) {
        warn_synchronous(log, schedule, path);
    }
    if (status == IW_OK && program->compute_bytes > 0) {
        iwi_warn(log, "'%s' does not say that each compute phase moves %" PRIu64 " bytes: GOAL cannot", path,
                 program->compute_bytes);
    }
    return status;
}

/* The program as a DAG; *owned_p is what has to be freed of it (or NULL). */
static iw_status make_dag(const iw_log *log, const iw_program *program, struct iwi_schedule **owned_p,
                          const struct iwi_schedule **dag_p)
{
    struct iwi_schedule *unrolled = NULL;
    iw_status status = IW_OK;

    *owned_p = NULL;
    *dag_p = program->schedule;
    if (program->schedule == NULL) {
        IW_TRY(iwi_program_unroll(log, program, &unrolled));
        *dag_p = unrolled;
    }
    if ((*dag_p)->is_in_order) {
        status = iwi_schedule_to_dag(log, *dag_p, owned_p);
        *dag_p = *owned_p;
        iwi_schedule_free(unrolled);
    } else {
        *owned_p = unrolled;
    }
    return status;
}

iw_status iw_program_write_goal(const iw_log *log, const iw_program *program, const char *path,
                                bool want_binary, iw_time unit_ps)
{
    const struct iwi_schedule *dag;
    struct iwi_schedule *owned;
    iw_status status;

    IW_TRY(check_unit(log, unit_ps));
    IW_TRY(make_dag(log, program, &owned, &dag));
    status = write_schedule(log, program, dag, path, want_binary, unit_ps);
    iwi_schedule_free(owned);
    return status;
}
