/* Reads Open MPI's files of rules for collectives.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Numbers between blanks and newlines, '#' begins a comment: how many collectives; of each its number and how
 * many communicator sizes; of each that size and how many message sizes; of each that size, the algorithm,
 * the fan-out, the segment size and (from version 2 on) the most requests. The first size of each list also
 * stands for all below it. Fan-out and requests are not used: idlewave's trees and chains have no such
 * choice.
 */
#include "kit/files/trace/trace_open.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "kit/files/io/input.h"

/* Sizes of these count all ranks in Open MPI's dynamic rules. */
#define TOTAL_KINDS                                                                    \
    (1U << IWI_ALLGATHER | 1U << IWI_ALLTOALL | 1U << IWI_GATHER | 1U << IWI_SCATTER | \
     1U << IWI_REDUCE_SCATTER)

struct reader {
    const iw_log *log;
    const char *name, *p, *end;
    uint64_t line;
    uint64_t version;
    struct iwi_rule *rules;
    size_t count, capacity;
    bool has_skipped; /* collectives that traces do not tell apart */
};

static void skip_blanks(struct reader *r)
{
    while (r->p < r->end) {
        if (*r->p == '#') {
            while (r->p < r->end && *r->p != '\n') {
                r->p++;
            }
        } else if (*r->p == ' ' || *r->p == '\t' || *r->p == '\r' || *r->p == '\n') {
            r->line += *r->p == '\n';
            r->p++;
        } else {
            return;
        }
    }
}

/* A whole number up to `most`. */
static iw_status read_number(struct reader *r, const char *what, uint64_t most, uint64_t *number_p)
{
    uint64_t number = 0;
    const char *begin;

    skip_blanks(r);
    if (r->p == r->end) {
        return iwi_fail(r->log, IW_ERR_TRUNCATED, "'%s:%" PRIu64 "': the file ends before %s", r->name,
                        r->line, what);
    }
    for (begin = r->p; r->p < r->end && *r->p >= '0' && *r->p <= '9'; r->p++) {
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, (uint64_t)(*r->p - '0'), &number)) {
            number = UINT64_MAX;
            break;
        }
    }
    if (r->p == begin) {
        return iwi_fail(r->log, IW_ERR_FORMAT, "'%s:%" PRIu64 "': %s must be a whole number", r->name,
                        r->line, what);
    }
    if (number > most) {
        return iwi_fail(r->log, IW_ERR_FORMAT, "'%s:%" PRIu64 "': %s is above %" PRIu64, r->name, r->line,
                        what, most);
    }
    *number_p = number;
    return IW_OK;
}

static iw_status read_version(struct reader *r)
{
    static const char word[] = "rule-file-version-";
    const size_t length = sizeof word - 1;

    r->version = 1;
    skip_blanks(r);
    if ((size_t)(r->end - r->p) < length || memcmp(r->p, word, length) != 0) {
        return IW_OK;
    }
    r->p += length;
    return read_number(r, "the version of the file", 2, &r->version);
}

static iw_status add_rule(struct reader *r, enum iwi_op_kind kind, const struct iwi_rule *like, uint64_t id)
{
    void *rules = r->rules;
    struct iwi_rule rule = *like;

    if (kind == IWI_OP_KINDS) {
        r->has_skipped = true;
        return IW_OK;
    }
    rule.is_open = id == 0;
    rule.algorithm = id == 0 ? iwi_algorithm_default(kind) : iwi_ompi_algorithm(kind, (uint32_t)id);
    if (rule.algorithm == NULL) {
        return iwi_fail(r->log, IW_ERR_FORMAT,
                        "'%s:%" PRIu64 "': Open MPI has no algorithm %" PRIu64 " of %s", r->name, r->line, id,
                        iwi_op_kind_names[kind]);
    }
    IW_TRY(iwi_grow(r->log, &rules, &r->capacity, r->count + 1, sizeof rule));
    r->rules = rules;
    r->rules[r->count++] = rule;
    return IW_OK;
}

static iw_status read_message_size(struct reader *r, enum iwi_op_kind kind, uint32_t from_ranks,
                                   bool is_first)
{
    struct iwi_rule rule = {.from_ranks = from_ranks};
    uint64_t bytes, id, ignored;

    IW_TRY(read_number(r, "a message size", INT64_MAX, &bytes));
    IW_TRY(read_number(r, "an algorithm", UINT32_MAX, &id));
    IW_TRY(read_number(r, "a fan-out", INT64_MAX, &ignored));
    IW_TRY(read_number(r, "a segment size", INT64_MAX, &rule.segment_bytes));
    if (r->version > 1) {
        IW_TRY(read_number(r, "a number of requests", INT64_MAX, &ignored));
    }
    rule.from_bytes = is_first ? 0 : bytes;
    return add_rule(r, kind, &rule, id);
}

static iw_status read_ranks(struct reader *r, enum iwi_op_kind kind, bool is_first)
{
    uint64_t ranks, sizes;

    IW_TRY(read_number(r, "a communicator size", INT32_MAX, &ranks));
    IW_TRY(read_number(r, "the number of message sizes", INT32_MAX, &sizes));
    for (uint64_t i = 0; i < sizes; i++) {
        IW_TRY(read_message_size(r, kind, is_first ? 0 : (uint32_t)ranks, i == 0));
    }
    return IW_OK;
}

static iw_status read_collective(struct reader *r)
{
    uint64_t number, sizes;

    IW_TRY(read_number(r, "the number of a collective", IWI_OMPI_COLLECTIVES - 1, &number));
    IW_TRY(read_number(r, "the number of communicator sizes", INT32_MAX, &sizes));
    for (uint64_t i = 0; i < sizes; i++) {
        IW_TRY(read_ranks(r, iwi_ompi_kind((uint32_t)number), i == 0));
    }
    return IW_OK;
}

static iw_status read_all(struct reader *r)
{
    uint64_t collectives;

    IW_TRY(read_version(r));
    IW_TRY(read_number(r, "the number of collectives", IWI_OMPI_COLLECTIVES, &collectives));
    for (uint64_t i = 0; i < collectives; i++) {
        IW_TRY(read_collective(r));
    }
    skip_blanks(r);
    if (r->p < r->end) {
        return iwi_fail(r->log, IW_ERR_FORMAT,
                        "'%s:%" PRIu64 "': unexpected text after the last of %" PRIu64 " collectives",
                        r->name, r->line, collectives);
    }
    return IW_OK;
}

iw_status iwi_ompi_rules_read_memory(const iw_log *log, const char *name, const char *data, size_t size,
                                     struct iwi_rule_set *set_p)
{
    struct reader r = {.log = log, .name = name, .p = data, .end = data + size, .line = 1};
    const iw_status status = read_all(&r);

    if (status != IW_OK) {
        free(r.rules);
        return status;
    }
    if (r.has_skipped) {
        iwi_warn(log,
                 "'%s': ignoring rules of v-forms, reduce_scatter_block and neighbour collectives, which "
                 "traces do not distinguish from the plain operations",
                 name);
    }
    *set_p = (struct iwi_rule_set){.name = "file",
                                   .summary = "",
                                   .rules = r.rules,
                                   .count = r.count,
                                   .otherwise = &iwi_rules_ompi_4_1,
                                   .total_kinds = TOTAL_KINDS};
    return IW_OK;
}

iw_status iwi_ompi_rules_read(const iw_log *log, const char *path, struct iwi_rule_set *set_p)
{
    struct iwi_input input;
    iw_status status;

    IW_TRY(iwi_input_open(log, path, &input));
    status = iwi_ompi_rules_read_memory(log, path, input.data, input.size, set_p);
    iwi_input_close(&input);
    return status;
}

void iwi_ompi_rules_release(struct iwi_rule_set *set)
{
    free((void *)(uintptr_t)set->rules);
    set->rules = NULL;
}
