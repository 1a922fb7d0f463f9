/* Reads binary GOAL. No field is trusted: positions, counts and indices are checked against the file's size
 * before anything is allocated for them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/files/goal/goal_binary.h"

#include <stdlib.h>

#include "kit/files/goal/goal_binary_rank.h"

static iw_status read_header(struct iwi_goal_reader *reader)
{
    const struct iwi_goal_source *source = reader->source;
    uint64_t table_bytes;

    if (source->size >= sizeof(uint64_t) && iwi_goal_get_u64(source->data) == IWI_GOAL_MAGIC_SPENT) {
        return iwi_goal_fail_at(
            reader, IW_ERR_FORMAT, source->data,
            "this binary GOAL file was invalidated by a --save-mem run; convert its text again");
    }
    if (source->size < IWI_GOAL_HEADER_BYTES) {
        return iwi_goal_fail_at(reader, IW_ERR_TRUNCATED, source->data + source->size,
                                "binary GOAL ends within its header");
    }
    reader->ranks = iwi_goal_get_u32(source->data + 8);
    reader->max_cpu = (uint8_t)source->data[12];
    reader->max_nic = (uint8_t)source->data[13];
    if (reader->ranks == 0) {
        return iwi_goal_fail_at(reader, IW_ERR_RANGE, source->data + 8, "the number of ranks is 0");
    }
    table_bytes = (uint64_t)reader->ranks * IWI_GOAL_ENTRY_BYTES;
    if (source->size - IWI_GOAL_HEADER_BYTES < table_bytes) {
        return iwi_goal_fail_at(reader, IW_ERR_TRUNCATED, source->data + source->size,
                                "binary GOAL ends within the table of %" PRIu32 " ranks", reader->ranks);
    }
    return IW_OK;
}

/* Finds a rank's data; `*position_p` is where the last rank's data ended. Ranks must not overlap: otherwise a
 * small file could ask for any amount of memory. */
static iw_status locate_rank(const struct iwi_goal_reader *reader, uint64_t *position_p,
                             struct iwi_goal_rank_view *view)
{
    const struct iwi_goal_source *source = reader->source;
    const char *entry = source->data + IWI_GOAL_HEADER_BYTES + (uint64_t)view->rank * IWI_GOAL_ENTRY_BYTES;
    const uint64_t begin = iwi_goal_get_u64(entry), end = iwi_goal_get_u64(entry + 8);

    if (begin < *position_p || end < begin) {
        return iwi_goal_fail_at(reader, IW_ERR_FORMAT, entry,
                                "rank %" PRIu32 " lies at %" PRIu64 " to %" PRIu64 ", expected from %" PRIu64
                                " on",
                                view->rank, begin, end, *position_p);
    }
    if (end > source->size - IWI_GOAL_BASE) {
        return iwi_goal_fail_at(reader, IW_ERR_TRUNCATED, entry,
                                "rank %" PRIu32 " ends at byte %" PRIu64 " of a file of %zu bytes",
                                view->rank, end > UINT64_MAX - IWI_GOAL_BASE ? end : end + IWI_GOAL_BASE,
                                source->size);
    }
    view->begin = source->data + IWI_GOAL_BASE + begin;
    view->size = end - begin;
    *position_p = end;
    return IW_OK;
}

static iw_status view_rank(const struct iwi_goal_reader *reader, struct iwi_goal_rank_view *view)
{
    uint64_t fixed_bytes;
    uint32_t nodes, roots;

    if (view->size < IWI_GOAL_RANK_BYTES) {
        return iwi_goal_fail_at(reader, IW_ERR_FORMAT, view->begin,
                                "rank %" PRIu32 " has only %" PRIu64 " bytes", view->rank, view->size);
    }
    nodes = iwi_goal_get_u32(view->begin);
    roots = iwi_goal_get_u32(view->begin + 4);
    fixed_bytes = IWI_GOAL_RANK_BYTES + UINT64_C(4) * roots + (uint64_t)IWI_GOAL_NODE_BYTES * nodes;
    if (fixed_bytes > view->size || (view->size - fixed_bytes) % 4 != 0) {
        return iwi_goal_fail_at(reader, IW_ERR_FORMAT, view->begin,
                                "rank %" PRIu32 " has %" PRIu64 " bytes, which %" PRIu32
                                " operations and %" PRIu32 " roots do not fit",
                                view->rank, view->size, nodes, roots);
    }
    view->nodes = nodes;
    view->roots = roots;
    view->root = view->begin + IWI_GOAL_RANK_BYTES;
    view->node = view->root + UINT64_C(4) * roots;
    view->list = view->begin + fixed_bytes;
    view->list_length = (view->size - fixed_bytes) / 4;
    return IW_OK;
}
/* ---- all ranks ---- */

/* The file is gone through from its table on, which is needed until the end. */
static void forget_before(const struct iwi_goal_reader *reader, const char *p, size_t *forgotten_p)
{
    if (reader->source->input != NULL) {
        iwi_input_forget(reader->source->input, p, forgotten_p);
    }
}

/* Room for all operations and dependencies, which the file has the bytes for. */
static iw_status reserve(struct iwi_goal_reader *reader)
{
    uint64_t position =
        IWI_GOAL_HEADER_BYTES - IWI_GOAL_BASE + (uint64_t)reader->ranks * IWI_GOAL_ENTRY_BYTES;
    uint64_t nodes = 0, deps = 0;
    size_t forgotten = 0;

    for (uint32_t r = 0; r < reader->ranks; r++) {
        struct iwi_goal_rank_view view = {.rank = r};

        IW_TRY(locate_rank(reader, &position, &view));
        IW_TRY(view_rank(reader, &view));
        forget_before(reader, view.begin, &forgotten);
        nodes += view.nodes;
        deps += view.list_length;
    }
    return iwi_goal_reserve(reader->log, &reader->builder, nodes, deps);
}

/* Ranks that have become those of a program have to be read again: another is not in order. */
static void start_again(struct iwi_goal_reader *reader)
{
    struct iwi_goal_builder *builder = &reader->builder;

    builder->node_count = builder->dep_count = builder->block_count = 0;
    builder->max_cpu = builder->max_nic = 0;
    builder->facts = (struct iwi_schedule_facts){.are_known = false};
}

/* `*position_p` is where the last rank's data ends. */
static iw_status read_ranks(struct iwi_goal_reader *reader, uint64_t *position_p)
{
    size_t forgotten = 0;

    *position_p = IWI_GOAL_HEADER_BYTES - IWI_GOAL_BASE + (uint64_t)reader->ranks * IWI_GOAL_ENTRY_BYTES;
    for (uint32_t r = 0; r < reader->ranks; r++) {
        const bool was_in_order = reader->is_in_order;
        struct iwi_goal_rank_view view = {.rank = r};

        IW_TRY(locate_rank(reader, position_p, &view));
        IW_TRY(view_rank(reader, &view));
        IW_TRY(iwi_goal_read_rank(reader, &view));
        if (r > 0 && was_in_order && !reader->is_in_order) {
            start_again(reader);
            return read_ranks(reader, position_p);
        }
        forget_before(reader, view.begin, &forgotten);
    }
    return IW_OK;
}

static iw_status read_all(struct iwi_goal_reader *reader)
{
    uint64_t position;

    IW_TRY(read_header(reader));
    IW_TRY(reserve(reader));
    reader->is_in_order = reader->source->wants_program;
    IW_TRY(read_ranks(reader, &position));
    if (position < reader->source->size - IWI_GOAL_BASE) {
        iwi_warn(reader->log, "'%s' at byte %" PRIu64 ": what follows the last rank is ignored",
                 reader->source->name, position + IWI_GOAL_BASE);
    }
    return IW_OK;
}

iw_status iwi_goal_read_binary(const iw_log *log, const struct iwi_goal_source *source,
                               struct iwi_schedule **schedule_p)
{
    struct iwi_goal_reader reader = {.log = log, .source = source};
    iw_status status = read_all(&reader);

    if (status == IW_OK) {
        status = iwi_goal_finish(log, &reader.builder, reader.ranks, schedule_p);
    }
    if (status == IW_OK) {
        (*schedule_p)->is_in_order = reader.is_in_order;
    }
    iwi_goal_builder_release(&reader.builder);
    free(reader.scratch.open);
    free(reader.scratch.first);
    free(reader.scratch.deps);
    free(reader.scratch.flags);
    return status;
}
