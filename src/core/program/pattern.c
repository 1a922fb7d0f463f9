/* Patterns: "halo2d+allreduce:ring" and its arguments become operations.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/program/program.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/opts.h"
#include "core/program/delays.h"
#include "core/program/node_table.h"
#include "core/program/rules.h"

/* Chooses the shape of a grid of ranks. */

/* The largest divisor of n whose square is at most n. */
static uint32_t half_divisor(uint32_t n)
{
    uint32_t best = 1;

    for (uint32_t d = 1; (uint64_t)d * d <= n; d++) {
        best = n % d == 0 ? d : best;
    }
    return best;
}

/* n = shape[0] * shape[1] * shape[2], larger first, with the least sum: the most square one. */
static void three_divisors(uint32_t n, uint32_t shape[3])
{
    uint64_t best_sum = UINT64_MAX;

    for (uint32_t d = 1; (uint64_t)d * d * d <= n; d++) {
        if (n % d == 0) {
            const uint32_t middle = half_divisor(n / d);
            const uint32_t large = n / d / middle;

            if ((uint64_t)d + middle + large < best_sum) {
                best_sum = (uint64_t)d + middle + large;
                shape[0] = large;
                shape[1] = middle;
                shape[2] = d;
            }
        }
    }
    if (shape[1] < shape[2]) {
        const uint32_t smaller = shape[1];

        shape[1] = shape[2];
        shape[2] = smaller;
    }
}

static void most_square(uint32_t n, uint32_t count, uint32_t shape[3])
{
    shape[0] = n;
    if (count == 2) {
        shape[1] = half_divisor(n);
        shape[0] = n / shape[1];
    } else if (count == 3) {
        three_divisors(n, shape);
    }
}

iw_status iwi_dims_choose(const iw_log *log, const char *op, uint32_t ranks, uint32_t count, uint32_t *dims)
{
    uint32_t shape[3] = {0};
    uint64_t given = 1;
    uint32_t free_count = 0;
    uint32_t next = 0;

    for (uint32_t d = 0; d < count; d++) {
        free_count += dims[d] == 0;
        given = dims[d] == 0 || given > ranks ? given : given * dims[d];
    }
    if (given > ranks || ranks % given != 0 || (free_count == 0 && given != ranks)) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "%s: the dimensions %s %" PRIu32 " ranks: use 0 for automatic dimensions", op,
                        free_count == 0 ? "do not multiply to" : "do not divide", ranks);
    }
    most_square((uint32_t)(ranks / given), free_count, shape);
    for (uint32_t d = 0; d < count; d++) {
        if (dims[d] == 0) {
            dims[d] = shape[next++];
        }
    }
    return IW_OK;
}

#define MOST_RANKS (UINT32_C(1) << 30)
#define MOST_BYTES (UINT64_C(1) << 40)         /* of one rank's data */
#define MOST_MESSAGE_BYTES (UINT64_C(1) << 50) /* of the data of all ranks in one message */
#define MOST_SEGMENTS (UINT64_C(1) << 30)
#define MOST_WORK_PS (INT64_MAX / 4) /* 26 days; leaves room for everything else */

/* Dimensions of the grid, 0 for operations without one. */
static uint32_t grid_dimensions(enum iwi_op_kind kind)
{
    switch (kind) {
    case IWI_HALO2D:
    case IWI_SWEEP2D: return 2;
    case IWI_HALO3D: return 3;
    default: return 0;
    }
}

static iw_status check_sizes(const iw_log *log, const iw_pattern *pattern)
{
    if (pattern->ranks < 1 || pattern->ranks > MOST_RANKS) {
        return iwi_fail(log, IW_ERR_RANGE, "%" PRIu32 " ranks: use 1 to 2^30", pattern->ranks);
    }
    if (pattern->root >= pattern->ranks) {
        return iwi_fail(log, IW_ERR_RANGE, "root %" PRIu32 ": ranks are 0 to %" PRIu32, pattern->root,
                        pattern->ranks - 1);
    }
    if (pattern->repeat < 1) {
        return iwi_fail(log, IW_ERR_RANGE, "0 repetitions: use at least 1");
    }
    if (pattern->bytes > MOST_BYTES) {
        return iwi_fail(log, IW_ERR_RANGE, "%" PRIu64 " bytes per rank: at most 1 TiB is possible",
                        pattern->bytes);
    }
    if (pattern->compute_bytes > MOST_BYTES) {
        return iwi_fail(log, IW_ERR_RANGE, "%" PRIu64 " bytes per compute phase: at most 1 TiB is possible",
                        pattern->compute_bytes);
    }
    if (pattern->segment_bytes > 0 && pattern->bytes / pattern->segment_bytes >= MOST_SEGMENTS) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "segments of %" PRIu64 " bytes are too small for %" PRIu64
                        " bytes: over 2^30 of them",
                        pattern->segment_bytes, pattern->bytes);
    }
    return IW_OK;
}

static iw_status check_times(const iw_log *log, const iw_pattern *pattern)
{
    if (pattern->compute_ps < 0 || pattern->compute_ps > IW_TIME_INPUT_MAX) {
        return iwi_fail(log, IW_ERR_RANGE, "the work of a repetition must last between 0 and 10 days");
    }
    if (pattern->compute_ps > 0 && pattern->repeat > (uint64_t)(MOST_WORK_PS / pattern->compute_ps)) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "%" PRIu64
                        " repetitions of the work last longer than the 26 days that can be simulated",
                        pattern->repeat);
    }
    if (pattern->reduce < 0 || iwi_bytes_cost(pattern->reduce, pattern->bytes) > IW_TIME_INPUT_MAX) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "the reduction of %" PRIu64 " bytes must last between 0 and 10 days", pattern->bytes);
    }
    return IW_OK;
}

static struct iwi_operation operation_of(const struct iwi_algorithm *algorithm, const iw_pattern *pattern,
                                         const struct iwi_node_table *table)
{
    return (struct iwi_operation){
        .algorithm = algorithm,
        .ranks = pattern->ranks,
        .root = pattern->root,
        .bytes = pattern->bytes,
        .segment_bytes = pattern->segment_bytes,
        .compute_ps = algorithm->places_compute ? pattern->compute_ps : 0,
        .dims = {pattern->dims[0], pattern->dims[1], pattern->dims[2]},
        .distance = pattern->distance,
        .is_periodic = pattern->is_periodic,
        .is_one_way = pattern->is_one_way,
        .is_split = pattern->is_split,
        .nodes = iwi_operation_nodes(&pattern->nodes, table),
        .table = table,
    };
}

static iw_status finish_operation(const iw_log *log, const iw_pattern *pattern, struct iwi_operation *op)
{
    const struct iwi_algorithm *algorithm = op->algorithm;
    const char *name = iwi_op_kind_names[algorithm->kind];
    const uint32_t dimensions = grid_dimensions(algorithm->kind);

    if (pattern->bytes > MOST_MESSAGE_BYTES / iwi_operation_most_blocks(op)) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "%s: %" PRIu64 " bytes for each of %" PRIu32 " ranks are more than 1 PiB in all",
                        name, pattern->bytes, pattern->ranks);
    }
    if (dimensions == 2 && pattern->dims[2] > 1) {
        return iwi_fail(log, IW_ERR_RANGE, "%s: 3 dimensions instead of 2", name);
    }
    if (dimensions > 0) {
        IW_TRY(iwi_dims_choose(log, name, pattern->ranks, dimensions, op->dims));
    }
    if (algorithm->uses_nodes && op->nodes.ranks == 0) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "%s:%s depends on nodes, but which ranks share a node is unknown: use a network with "
                        "levels, or give the ranks per node (`ranks_per_node`)",
                        name, algorithm->name);
    }
    return algorithm->check == NULL ? IW_OK : algorithm->check(log, op);
}

/* Nobody named an algorithm: the rules do. */
static void choose_algorithm(const struct iwi_rule_set *set, struct iwi_operation *op)
{
    const struct iwi_algorithm_overrides none = {NULL, 0};
    const uint64_t segment_bytes = op->segment_bytes;

    iwi_rules_choose(set, &none, op->algorithm->kind, op);
    op->segment_bytes = segment_bytes != 0 ? segment_bytes : op->segment_bytes;
}

static iw_status find_rules(const iw_log *log, const char *name, const struct iwi_rule_set **set_p)
{
    char known[128];

    *set_p = name == NULL ? NULL : iwi_rules_find(name);
    if (*set_p != NULL || name == NULL) {
        return IW_OK;
    }
    iwi_rules_list(known, sizeof known);
    return iwi_fail(log, IW_ERR_RANGE, "unknown rules for algorithms '%s': use %s", name, known);
}

static size_t count_operations(const char *text)
{
    size_t count = 1;

    for (; *text != '\0'; text++) {
        count += *text == '+';
    }
    return count;
}

static iw_status parse_operations(const iw_log *log, const char *text, const iw_pattern *pattern,
                                  iw_program *program)
{
    const char *name = text;
    const struct iwi_rule_set *set;

    IW_TRY(find_rules(log, pattern->rules, &set));
    IW_TRY(iwi_node_table_new(log, &pattern->nodes, pattern->ranks, &program->node_table));
    program->operations = iwi_new_array(log, count_operations(text), sizeof *program->operations);
    if (program->operations == NULL) {
        return IW_ERR_NOMEM;
    }
    for (;;) {
        const size_t length = strcspn(name, "+");
        struct iwi_operation *op = &program->operations[program->operation_count];
        const struct iwi_algorithm *algorithm;

        if (length == 0) {
            return iwi_fail(log, IW_ERR_USAGE,
                            "'%s' lacks an operation at character %zu; write OP[:ALGORITHM]+OP...", text,
                            (size_t)(name - text) + 1);
        }
        IW_TRY(iwi_algorithm_find(log, name, length, &algorithm));
        *op = operation_of(algorithm, pattern, program->node_table);
        if (set != NULL && algorithm->kind <= IWI_EXSCAN && memchr(name, ':', length) == NULL) {
            choose_algorithm(set, op);
        }
        IW_TRY(finish_operation(log, pattern, op));
        program->operation_count++;
        if (name[length] == '\0') {
            return IW_OK;
        }
        name += length + 1;
    }
}

/* Engines and results count messages in 64 bits, with room for many trials. */
static iw_status check_messages(const iw_log *log, const iw_program *program)
{
    uint64_t once = 0;
    uint64_t all;

    for (size_t i = 0; i < program->operation_count; i++) {
        const struct iwi_operation *op = &program->operations[i];

        if (__builtin_add_overflow(once, op->algorithm->message_count(op), &once)) {
            once = UINT64_MAX;
            break;
        }
    }
    if (__builtin_mul_overflow(once, program->repeat, &all) || all > INT64_MAX) {
        return iwi_fail(log, IW_ERR_RANGE,
                        "the pattern has more than 2^63 messages: use fewer ranks, repetitions or segments");
    }
    return IW_OK;
}

/* Compute phases of each rank in one repetition. */
static uint64_t phases_per_repetition(const iw_program *program)
{
    uint64_t placed = 0;

    for (size_t i = 0; i < program->operation_count; i++) {
        placed += program->operations[i].algorithm->places_compute;
    }
    return placed > 0 ? placed : 1;
}

static iw_status set_pattern_delays(const iw_log *log, const iw_pattern *pattern, iw_program *program)
{
    const uint64_t phases = phases_per_repetition(program);

    IW_TRY(iwi_delays_set(log, program, pattern->delays, pattern->delay_count));
    for (size_t i = 0; i < program->delay_count; i++) {
        const iw_delay *delay = &program->delays[i];

        if ((delay->step - 1) / phases >= pattern->repeat) {
            return iwi_fail(log, IW_ERR_RANGE,
                            "the delay on rank %" PRIu32 " is in step %" PRIu64 ", but %" PRIu64
                            " repetitions have fewer compute phases",
                            delay->rank, delay->step, pattern->repeat);
        }
    }
    return IW_OK;
}

static iw_status fill_program(const iw_log *log, const char *operations, const iw_pattern *pattern,
                              iw_program *program)
{
    IW_TRY(check_sizes(log, pattern));
    IW_TRY(check_times(log, pattern));
    program->ranks = pattern->ranks;
    program->repeat = pattern->repeat;
    program->compute_ps = pattern->compute_ps;
    program->compute_bytes = pattern->compute_bytes;
    program->reduce = pattern->reduce;
    IW_TRY(parse_operations(log, operations, pattern, program));
    IW_TRY(check_messages(log, program));
    return set_pattern_delays(log, pattern, program);
}

void iw_pattern_scale_work(iw_pattern *pattern, double work)
{
    if (work != 1.0) {
        pattern->compute_ps = (iw_time)((double)pattern->compute_ps * work + 0.5);
        pattern->compute_bytes = (uint64_t)((double)pattern->compute_bytes * work + 0.5);
    }
}

iw_status iw_program_from_pattern(const iw_log *log, const char *operations, const iw_pattern *given,
                                  iw_program **program_p)
{
    iw_pattern pattern = IW_PATTERN_INIT;
    iw_program *program;
    iw_status status;

    IW_TRY(IWI_READ_OPTS(log, "IW_PATTERN_INIT", given, &pattern));
    program = iwi_new_array(log, 1, sizeof *program);
    if (program == NULL) {
        return IW_ERR_NOMEM;
    }
    status = fill_program(log, operations, &pattern, program);
    if (status != IW_OK) {
        iw_program_free(program);
        return status;
    }
    *program_p = program;
    return IW_OK;
}

bool iw_program_halo(const iw_program *program, iw_pattern *halo_p, bool *is_alone_p)
{
    for (size_t i = 0; i < program->operation_count; i++) {
        const struct iwi_operation *op = &program->operations[i];
        const enum iwi_op_kind kind = op->algorithm->kind;

        if (kind == IWI_HALO1D || kind == IWI_HALO2D || kind == IWI_HALO3D) {
            const iw_pattern halo = {.size = halo_p->size,
                                     .ranks = op->ranks,
                                     .bytes = op->bytes,
                                     .repeat = program->repeat,
                                     .compute_ps = program->compute_ps,
                                     .compute_bytes = program->compute_bytes,
                                     .reduce = program->reduce,
                                     .dims = {kind == IWI_HALO1D ? op->ranks : op->dims[0],
                                              kind == IWI_HALO1D ? 0 : op->dims[1],
                                              kind == IWI_HALO3D ? op->dims[2] : 0},
                                     .distance = kind == IWI_HALO1D ? op->distance : 1,
                                     .is_periodic = op->is_periodic,
                                     .is_one_way = op->is_one_way,
                                     .is_split = op->is_split};

            memcpy(halo_p, &halo, halo.size < sizeof halo ? halo.size : sizeof halo);
            *is_alone_p = program->operation_count == 1;
            return true;
        }
    }
    return false;
}
