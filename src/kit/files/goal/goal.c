/* GOAL files as programs: reads text or binary, writes either.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/files/goal/goal.h"

#include <idlewave/files.h>

#include <stdlib.h>

/* ---- writing binary ---- */

/* Successors of one node. */
struct fan {
    uint32_t ends, starts;
};

struct writer {
    struct iwi_goal_sink *sink;
    struct fan *fans; /* of the current rank's nodes */
    size_t fan_capacity;
    uint32_t *list; /* the current rank's index list */
    size_t list_capacity;
    uint64_t *position; /* in the list: where the next successor of a node goes; first ends, then starts */
    size_t position_capacity;
};

static void put_u32(struct iwi_out *out, uint32_t value)
{
    iwi_goal_put_u32(iwi_out_reserve(out), value);
    out->used += sizeof value;
}

static uint64_t count_roots(const struct iwi_schedule *schedule, uint32_t rank)
{
    uint64_t roots = 0;

    for (uint64_t n = schedule->first_node[rank]; n < schedule->first_node[rank + 1]; n++) {
        roots += schedule->first_dep[n] == schedule->first_dep[n + 1];
    }
    return roots;
}

static uint64_t count_deps(const struct iwi_schedule *schedule, uint32_t rank)
{
    return schedule->first_dep[schedule->first_node[rank + 1]] -
           schedule->first_dep[schedule->first_node[rank]];
}

static iw_status put_header(struct iwi_goal_sink *sink)
{
    const struct iwi_schedule *schedule = sink->schedule;
    uint64_t position =
        IWI_GOAL_HEADER_BYTES - IWI_GOAL_BASE + (uint64_t)schedule->ranks * IWI_GOAL_ENTRY_BYTES;
    char *p = iwi_out_reserve(sink->out);

    iwi_goal_put_u64(p, IWI_GOAL_MAGIC);
    iwi_goal_put_u32(p + 8, schedule->ranks);
    p[12] = (char)(schedule->cpu_count - 1);
    p[13] = (char)(schedule->nic_count - 1);
    sink->out->used += IWI_GOAL_HEADER_BYTES;
    for (uint32_t r = 0; r < schedule->ranks; r++) {
        const uint64_t nodes = schedule->first_node[r + 1] - schedule->first_node[r];
        const uint64_t deps = count_deps(schedule, r);

        if (nodes > UINT32_MAX || deps > UINT32_MAX) {
            return iwi_fail(sink->out->log, IW_ERR_RANGE,
                            "rank %" PRIu32 " has %" PRIu64 " operations and %" PRIu64
                            " dependencies; binary GOAL holds 2^32 - 1",
                            r, nodes, deps);
        }
        p = iwi_out_reserve(sink->out);
        iwi_goal_put_u64(p, position);
        position += IWI_GOAL_RANK_BYTES + 4 * (count_roots(schedule, r) + deps) + IWI_GOAL_NODE_BYTES * nodes;
        iwi_goal_put_u64(p + 8, position);
        sink->out->used += IWI_GOAL_ENTRY_BYTES;
    }
    return IW_OK;
}

/* Turns "depends on" into lists of successors, ascending within each list. */
static iw_status invert_deps(struct writer *writer, uint64_t first, uint32_t nodes)
{
    const iw_log *log = writer->sink->out->log;
    const struct iwi_schedule *schedule = writer->sink->schedule;
    const uint64_t first_dep = schedule->first_dep[first], end_dep = schedule->first_dep[first + nodes];
    uint64_t position = 0;

    IW_TRY(iwi_grow(log, (void **)&writer->fans, &writer->fan_capacity, (size_t)nodes + 1,
                    sizeof *writer->fans));
    IW_TRY(iwi_grow(log, (void **)&writer->position, &writer->position_capacity, 2 * (size_t)nodes + 2,
                    sizeof *writer->position));
    IW_TRY(iwi_grow(log, (void **)&writer->list, &writer->list_capacity, end_dep - first_dep + 1,
                    sizeof *writer->list));
    memset(writer->fans, 0, nodes * sizeof *writer->fans);
    for (uint64_t d = first_dep; d < end_dep; d++) {
        struct fan *fan = &writer->fans[schedule->deps[d].node];

        fan->ends += !schedule->deps[d].is_start;
        fan->starts += schedule->deps[d].is_start;
    }
    for (uint32_t n = 0; n < nodes; n++) {
        writer->position[2 * (size_t)n] = position;
        position += writer->fans[n].ends;
        writer->position[2 * (size_t)n + 1] = position;
        position += writer->fans[n].starts;
    }
    for (uint32_t n = 0; n < nodes; n++) {
        for (uint64_t d = schedule->first_dep[first + n]; d < schedule->first_dep[first + n + 1]; d++) {
            const struct iwi_dep dep = schedule->deps[d];

            writer->list[writer->position[2 * (size_t)dep.node + dep.is_start]++] = n;
        }
    }
    return IW_OK;
}

/* `list_position`: where the node's successors begin. */
static void put_node(struct iwi_goal_sink *sink, const struct iwi_node *node, uint64_t size, uint32_t open,
                     struct fan fan, uint32_t list_position)
{
    static const char types[] = {
        [IWI_CALC] = IWI_GOAL_TYPE_CALC, [IWI_SEND] = IWI_GOAL_TYPE_SEND, [IWI_RECV] = IWI_GOAL_TYPE_RECV};
    char *p = iwi_out_reserve(sink->out);

    iwi_goal_put_u32(p + IWI_GOAL_NODE_OPEN, open);
    p[IWI_GOAL_NODE_TYPE] = types[node->kind];
    iwi_goal_put_u32(p + IWI_GOAL_NODE_PEER, node->kind == IWI_CALC ? 0 : node->peer);
    iwi_goal_put_u64(p + IWI_GOAL_NODE_SIZE, size);
    iwi_goal_put_u32(p + IWI_GOAL_NODE_TAG, node->kind == IWI_CALC ? 0 : node->tag);
    p[IWI_GOAL_NODE_CPU] = (char)node->cpu;
    p[IWI_GOAL_NODE_NIC] = (char)node->nic;
    iwi_goal_put_u32(p + IWI_GOAL_NODE_ENDS, fan.ends);
    iwi_goal_put_u32(p + IWI_GOAL_NODE_ENDS + 4, list_position);
    iwi_goal_put_u32(p + IWI_GOAL_NODE_STARTS, fan.starts);
    iwi_goal_put_u32(p + IWI_GOAL_NODE_STARTS + 4, list_position + fan.ends);
    sink->out->used += IWI_GOAL_NODE_BYTES;
}

static uint64_t goal_calc_units(struct iwi_goal_sink *sink, uint32_t rank, const struct iwi_node *node,
                                uint64_t *step_p);

static iw_status put_rank(struct writer *writer, uint32_t rank)
{
    struct iwi_goal_sink *sink = writer->sink;
    const struct iwi_schedule *schedule = sink->schedule;
    const uint64_t first = schedule->first_node[rank];
    const uint32_t nodes = (uint32_t)(schedule->first_node[rank + 1] - first);
    const uint64_t *first_dep = schedule->first_dep + first;
    uint64_t step = 0;
    uint32_t list_position = 0;

    IW_TRY(invert_deps(writer, first, nodes));
    put_u32(sink->out, nodes);
    put_u32(sink->out, (uint32_t)count_roots(schedule, rank));
    for (uint32_t n = 0; n < nodes; n++) {
        if (first_dep[n] == first_dep[n + 1]) {
            put_u32(sink->out, n);
        }
    }
    for (uint32_t n = 0; n < nodes; n++) {
        const struct iwi_node *node = &schedule->nodes[first + n];
        const uint64_t size =
            node->kind == IWI_CALC ? goal_calc_units(sink, rank, node, &step) : node->amount;

        put_node(sink, node, size, (uint32_t)(first_dep[n + 1] - first_dep[n]), writer->fans[n],
                 list_position);
        list_position += writer->fans[n].ends + writer->fans[n].starts;
    }
    for (uint32_t i = 0; i < list_position; i++) {
        put_u32(sink->out, writer->list[i]);
    }
    return sink->out->status;
}

iw_status iwi_goal_write_binary(struct iwi_goal_sink *sink)
{
    struct writer writer = {.sink = sink};
    iw_status status = put_header(sink);

    for (uint32_t r = 0; r < sink->schedule->ranks && status == IW_OK; r++) {
        status = put_rank(&writer, r);
    }
    free(writer.fans);
    free(writer.list);
    free(writer.position);
    return status;
}

/* ---- writing text ---- */

static void put_text(struct iwi_out *out, const char *text)
{
    iwi_out_bytes(out, text, strlen(text));
}

static void put_number(struct iwi_out *out, uint64_t value)
{
    char digits[20];
    size_t start = sizeof digits;

    do {
        digits[--start] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    iwi_out_bytes(out, digits + start, sizeof digits - start);
}

/* " word N"; IWI_ANY is written as -1. */
static void put_option(struct iwi_out *out, const char *word, uint32_t value)
{
    put_text(out, word);
    if (value == IWI_ANY) {
        put_text(out, "-1");
    } else {
        put_number(out, value);
    }
}

static void put_label(struct iwi_out *out, uint64_t node)
{
    put_text(out, "l");
    put_number(out, node + 1);
}

static void put_dependency(struct iwi_out *out, uint64_t node, struct iwi_dep dep)
{
    put_label(out, node);
    put_text(out, dep.is_start ? " irequires " : " requires ");
    put_label(out, dep.node);
    put_text(out, "\n");
}

static void put_operation(struct iwi_goal_sink *sink, uint32_t rank, const struct iwi_node *node,
                          uint64_t *step_p)
{
    struct iwi_out *out = sink->out;

    if (node->kind == IWI_CALC) {
        put_text(out, ": calc ");
        put_number(out, goal_calc_units(sink, rank, node, step_p));
    } else {
        put_text(out, node->kind == IWI_SEND ? ": send " : ": recv ");
        put_number(out, node->amount);
        put_option(out, node->kind == IWI_SEND ? "b to " : "b from ", node->peer);
        put_option(out, " tag ", node->tag);
    }
    if (node->cpu != 0) {
        put_option(out, " cpu ", node->cpu);
    }
    if (node->nic != 0) {
        put_option(out, " nic ", node->nic);
    }
    put_text(out, "\n");
}

/* The dependencies on later nodes (is_forward), or those on earlier ones. True if there are any others. */
static bool put_dependencies(const struct iwi_goal_sink *sink, uint64_t first_node, uint64_t node,
                             bool is_forward)
{
    const struct iwi_schedule *schedule = sink->schedule;
    bool has_others = false;

    for (uint64_t d = schedule->first_dep[first_node + node]; d < schedule->first_dep[first_node + node + 1];
         d++) {
        if ((schedule->deps[d].node > node) == is_forward) {
            put_dependency(sink->out, node, schedule->deps[d]);
        } else {
            has_others = true;
        }
    }
    return has_others;
}

static void print_rank(struct iwi_goal_sink *sink, uint32_t rank)
{
    const uint64_t first = sink->schedule->first_node[rank];
    const uint64_t nodes = sink->schedule->first_node[rank + 1] - first;
    uint64_t step = 0, forward_end = 0; /* nodes from there on depend on no later ones */

    put_option(sink->out, "\nrank ", rank);
    put_text(sink->out, " {\n");
    for (uint64_t n = 0; n < nodes; n++) {
        put_label(sink->out, n);
        put_operation(sink, rank, &sink->schedule->nodes[first + n], &step);
        if (put_dependencies(sink, first, n, false)) {
            forward_end = n + 1;
        }
    }
    for (uint64_t n = 0; n < forward_end; n++) {
        (void)put_dependencies(sink, first, n, true);
    }
    put_text(sink->out, "}\n");
}

iw_status iwi_goal_write_text(struct iwi_goal_sink *sink)
{
    put_option(sink->out, "num_ranks ", sink->schedule->ranks);
    put_text(sink->out, "\n");
    for (uint32_t r = 0; r < sink->schedule->ranks && sink->out->status == IW_OK; r++) {
        print_rank(sink, r);
    }
    return sink->out->status;
}

/* ---- files ---- */

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

/* Length of a calc in the sink's units, to nearest. `step_p` counts the rank's compute phases so far. */
static uint64_t goal_calc_units(struct iwi_goal_sink *sink, uint32_t rank, const struct iwi_node *node,
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
        iwi_warn(log, "'%s': GOAL has no synchronous sends; made ordinary: %" PRIu64, path, count);
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
        iwi_warn(log, "'%s': GOAL cannot store that each compute phase moves %" PRIu64 " bytes", path,
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
