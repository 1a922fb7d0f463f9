/* Reads timelines of pipelined training: an array of Chrome trace events, one for each operation.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * As ByteDance-Seed/StragglerAnalysis writes them (its readme.md and analyzer/to_timeline.py): `name` is the
 * kind of operation, `pid` the replica, `tid` five times the rank plus a lane, `ts` and `dur` microseconds,
 * `args` has `step`, `seq_id` and `model_chunk`. Communication has its transfer only.
 */
#include <string.h>

#include "features/explain/json/json_value.h"
#include "features/explain/stragglers/pipeline.h"

enum { LANES = 5, DECIMALS = 6 /* of microseconds, down to picoseconds */ };

struct reading {
    struct iw_straggler_job *job;
    struct iwi_json_items items;
    struct iwi_json_tree tree;
    struct iwi_json_item item;
};

/* iwi_json_fail() at the event that is read. */
#define event_fail(reading, status, ...) \
    iwi_json_fail(&(reading)->items, (reading)->item.byte, status, __VA_ARGS__)

static iw_status read_number(struct reading *reading, const struct iwi_json_value *object, const char *key,
                             uint32_t *number_p)
{
    uint64_t number;

    if (!iwi_json_u64(iwi_json_find(&reading->tree, object, key), &number) || number > UINT32_MAX) {
        return event_fail(reading, IW_ERR_FORMAT, "the event has no number '%s'", key);
    }
    *number_p = (uint32_t)number;
    return IW_OK;
}

static iw_status read_time(struct reading *reading, const char *key, iw_time *ps_p)
{
    const struct iwi_json_value *value = iwi_json_find(&reading->tree, reading->tree.values, key);

    if (value == NULL || value->kind != IWI_JSON_NUMBER ||
        !iwi_json_decimal(value->text, strlen(value->text), DECIMALS, ps_p) || *ps_p > INT64_MAX / 4 ||
        *ps_p < -(INT64_MAX / 4)) {
        return event_fail(reading, IW_ERR_FORMAT,
                          "the event has no time '%s' in microseconds, of at most 26 days", key);
    }
    return IW_OK;
}

static iw_status read_op(struct reading *reading, uint8_t *op_p)
{
    const char *name =
        iwi_json_string(iwi_json_find(&reading->tree, reading->tree.values, "name"), "(no name)");

    for (unsigned op = 0; op < IWI_PIPE_OPS; op++) {
        if (strcmp(iwi_pipe_op_name(op), name) == 0) {
            *op_p = (uint8_t)op;
            return IW_OK;
        }
    }
    return event_fail(reading, IW_ERR_FORMAT,
                      "'%.60s' is not an operation of such timelines (forward-compute, backward-send, ...); "
                      "'idlewave explain' also reads other traces",
                      name);
}

static iw_status check_chunk(struct reading *reading, const struct iwi_json_value *args)
{
    uint64_t chunk;

    return iwi_json_u64(iwi_json_find(&reading->tree, args, "model_chunk"), &chunk) && chunk > 0
               ? event_fail(reading, IW_ERR_UNSUPPORTED,
                            "stages have several chunks; interleaved schedules cannot be replayed")
               : IW_OK;
}

static iw_status read_event(struct reading *reading)
{
    const struct iwi_json_value *root = reading->tree.values;
    const struct iwi_json_value *args = iwi_json_find(&reading->tree, root, "args");
    struct iwi_pipe_event event = {0};
    uint32_t thread;

    IW_TRY(read_op(reading, &event.op));
    IW_TRY(check_chunk(reading, args));
    IW_TRY(read_number(reading, root, "pid", &event.replica));
    IW_TRY(read_number(reading, root, "tid", &thread));
    IW_TRY(read_number(reading, args, "step", &event.step));
    IW_TRY(read_number(reading, args, "seq_id", &event.sequence));
    IW_TRY(read_time(reading, "ts", &event.begin_ps));
    IW_TRY(read_time(reading, "dur", &event.length_ps));
    event.rank = thread / LANES;
    return iwi_pipe_add(reading->job, &event);
}

static iw_status read_events(struct reading *reading)
{
    for (;;) {
        IW_TRY(iwi_json_next(&reading->items, &reading->item));
        if (reading->item.text == NULL) {
            return IW_OK;
        }
        if (iwi_json_is(iwi_json_member(&reading->item, "ph"), "X")) {
            IW_TRY(iwi_json_parse(&reading->tree, &reading->items, &reading->item));
            IW_TRY(read_event(reading));
        }
    }
}

static iw_status read_and_close(struct reading *reading)
{
    iw_status status;

    iwi_json_tree_init(&reading->tree, reading->job->log);
    status = read_events(reading);
    iwi_json_tree_release(&reading->tree);
    iwi_json_close(&reading->items);
    return status;
}

iw_status iwi_straggler_read_events(struct iw_straggler_job *job, const char *path)
{
    struct reading reading = {.job = job};

    IW_TRY(iwi_json_open(job->log, path, IWI_JSON_ONE_ROOT, &reading.items));
    return read_and_close(&reading);
}

iw_status iwi_straggler_read_memory(struct iw_straggler_job *job, const char *name, const void *data,
                                    size_t size)
{
    struct reading reading = {.job = job};

    IW_TRY(iwi_json_open_memory(job->log, name, data, size, IWI_JSON_ONE_ROOT, &reading.items));
    return read_and_close(&reading);
}
