/* Reads binary GOAL. No field is trusted: positions, counts and indices are checked.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/files/goal/goal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/program/in_order.h"
#include "kit/files/goal/goal_build.h"

/* One rank's data, all within the file. */
struct goal_rank_view {
    uint32_t rank, nodes, roots;
    uint64_t size;        /* bytes from `begin` on */
    uint64_t list_length; /* of the index list */
    const char *begin, *root, *node, *list;
};

/* A rank that has been read: where it is in the file, and where in what is built. */
struct goal_known_rank {
    struct goal_rank_view view; /* .begin NULL: there is none */
    uint64_t first_node, first_dep, deps;
};

enum { KNOWN_RANKS = 64, AHEAD_BYTES = 2048 };

struct goal_reader {
    const iw_log *log;
    const struct iwi_goal_source *source;
    struct iwi_goal_builder builder;
    bool is_in_order; /* all ranks so far are, and have become those of a program */
    /* of the current rank: */
    struct iwi_goal_scratch {
        uint32_t *open;  /* edges into each node */
        uint64_t *first; /* dependency of each node */
        struct iwi_dep *deps;
        bool *flags;
        size_t open_capacity, first_capacity, dep_capacity, flag_capacity;
    } scratch;
    uint64_t edges;
    bool has_forward; /* an operation requires a later one */
    uint32_t ranks;
    uint8_t max_cpu, max_nic;
    struct goal_known_rank known[KNOWN_RANKS]; /* by size: the last rank of it */
};

/* ---- one rank: its operations, and what they wait for ---- */

/* Logs what is wrong at that place of the file. */
static iw_status goal_fail_at(const struct goal_reader *reader, iw_status status, const char *p,
                              const char *format, ...)
{
    char cause[256];
    va_list args;

    va_start(args, format);
    vsnprintf(cause, sizeof cause, format, args);
    va_end(args);
    return iwi_fail(reader->log, status, "'%s' at byte %zu: %s", reader->source->name,
                    (size_t)(p - reader->source->data), cause);
}

static iw_status check_node(const struct goal_reader *reader, const struct goal_rank_view *view,
                            const char *p, const struct iwi_node *node)
{
    const uint32_t index = (uint32_t)((p - view->node) / IWI_GOAL_NODE_BYTES);

    if (node->cpu > reader->max_cpu || node->nic > reader->max_nic || node->cpu > IWI_GOAL_MOST_ID ||
        node->nic > IWI_GOAL_MOST_ID) {
        return goal_fail_at(
            reader, IW_ERR_FORMAT, p + IWI_GOAL_NODE_CPU,
            "rank %" PRIu32 " operation %" PRIu32 ": cpu %u or nic %u is above the highest, %u and %u",
            view->rank, index, node->cpu, node->nic, (unsigned)iwi_min(reader->max_cpu, IWI_GOAL_MOST_ID),
            (unsigned)iwi_min(reader->max_nic, IWI_GOAL_MOST_ID));
    }
    if (node->kind != IWI_CALC && node->peer >= reader->ranks &&
        !(node->kind == IWI_RECV && node->peer == IWI_ANY)) {
        return goal_fail_at(reader, IW_ERR_FORMAT, p + IWI_GOAL_NODE_PEER,
                            "rank %" PRIu32 " operation %" PRIu32 ": peer %" PRIu32 " is not one of %" PRIu32
                            " ranks",
                            view->rank, index, node->peer, reader->ranks);
    }
    return IW_OK;
}

static iw_status read_amount(const struct goal_reader *reader, const char *p, struct iwi_node *node)
{
    const bool is_calc = node->kind == IWI_CALC;
    const uint64_t value = iwi_goal_get_u64(p);
    const uint64_t unit_ps = is_calc ? (uint64_t)reader->source->unit_ps : 1;
    const uint64_t max = is_calc ? IW_TIME_INPUT_MAX / unit_ps : IWI_GOAL_MOST_BYTES;

    if (value > max) {
        return goal_fail_at(reader, IW_ERR_RANGE, p, "the %s %" PRIu64 " is larger than %" PRIu64,
                            is_calc ? "length of the calc" : "message size", value, max);
    }
    node->amount = value * unit_ps;
    return IW_OK;
}

static iw_status read_node(struct goal_reader *reader, const struct goal_rank_view *view, const char *p)
{
    static const uint8_t kinds[] = {0, IWI_SEND, IWI_RECV, IWI_CALC};
    const uint8_t type = (uint8_t)p[IWI_GOAL_NODE_TYPE];
    struct iwi_node node = {.cpu = (uint8_t)p[IWI_GOAL_NODE_CPU]};

    if (type < IWI_GOAL_TYPE_SEND || type > IWI_GOAL_TYPE_CALC) {
        return goal_fail_at(reader, IW_ERR_FORMAT, p + IWI_GOAL_NODE_TYPE,
                            "rank %" PRIu32 ": unknown operation type %u", view->rank, type);
    }
    node.kind = kinds[type];
    if (node.kind != IWI_CALC) { /* the fields mean nothing then */
        node.peer = iwi_goal_get_u32(p + IWI_GOAL_NODE_PEER);
        node.tag = iwi_goal_get_u32(p + IWI_GOAL_NODE_TAG);
        node.nic = (uint8_t)p[IWI_GOAL_NODE_NIC];
    }
    IW_TRY(read_amount(reader, p + IWI_GOAL_NODE_SIZE, &node));
    if (node.kind == IWI_CALC && node.amount > 0) { /* calc 0 stands for a wait */
        node.flags = IWI_NODE_PHASE;
    }
    IW_TRY(check_node(reader, view, p, &node));
    iwi_goal_put_node(&reader->builder, &node);
    return IW_OK;
}

/* The nodes that wait for the end or the start of node `required`: counted in `open`. */
static iw_status count_successors(struct goal_reader *reader, const struct goal_rank_view *view,
                                  uint32_t required, bool is_start)
{
    const char *p = view->node + (uint64_t)required * IWI_GOAL_NODE_BYTES +
                    (is_start ? IWI_GOAL_NODE_STARTS : IWI_GOAL_NODE_ENDS);
    const uint32_t count = iwi_goal_get_u32(p), first = iwi_goal_get_u32(p + 4);

    if ((uint64_t)first + count > view->list_length) {
        return goal_fail_at(reader, IW_ERR_FORMAT, p,
                            "rank %" PRIu32 " operation %" PRIu32 ": %" PRIu32 " successors from %" PRIu32
                            " on are not in a list of %" PRIu64,
                            view->rank, required, count, first, view->list_length);
    }
    reader->edges += count;
    if (reader->edges > view->list_length) {
        return goal_fail_at(reader, IW_ERR_FORMAT, p,
                            "rank %" PRIu32 " uses its list of %" PRIu64 " successors twice", view->rank,
                            view->list_length);
    }
    for (uint64_t i = 0; i < count; i++) {
        const char *entry = view->list + 4 * (first + i);
        const uint32_t node = iwi_goal_get_u32(entry);

        if (node >= view->nodes || node == required) {
            return goal_fail_at(reader, IW_ERR_FORMAT, entry,
                                "rank %" PRIu32 " operation %" PRIu32 ": its successor %" PRIu32 " is %s",
                                view->rank, required, node,
                                node == required ? "itself" : "not an operation of the rank");
        }
        reader->scratch.open[node]++;
        reader->has_forward |= node < required;
    }
    return IW_OK;
}

/* Turns successors, which are all in range, into dependencies: ascending by node, end before start, as text
 * gives them. */
static void place_deps(struct goal_reader *reader, const struct goal_rank_view *view)
{
    struct iwi_goal_scratch *scratch = &reader->scratch;
    uint64_t position = 0;

    for (uint32_t n = 0; n < view->nodes; n++) {
        scratch->first[n] = position;
        position += scratch->open[n];
        scratch->open[n] = 0; /* from now on: how many have their place */
    }
    scratch->first[view->nodes] = position;
    for (uint32_t n = 0; n < view->nodes; n++) {
        const char *lists = view->node + (uint64_t)n * IWI_GOAL_NODE_BYTES + IWI_GOAL_NODE_ENDS;

        for (int is_start = 0; is_start < 2; is_start++, lists += IWI_GOAL_NODE_STARTS - IWI_GOAL_NODE_ENDS) {
            const char *entry = view->list + UINT64_C(4) * iwi_goal_get_u32(lists + 4);

            for (uint32_t left = iwi_goal_get_u32(lists); left > 0; left--, entry += 4) {
                const uint32_t node = iwi_goal_get_u32(entry);

                scratch->deps[scratch->first[node] + scratch->open[node]++] =
                    (struct iwi_dep){n, is_start != 0};
            }
        }
    }
}

/* A simulator may have run on the file: it counts the open dependencies down in place. */
static iw_status check_counts(const struct goal_reader *reader, const struct goal_rank_view *view)
{
    uint32_t roots = 0;

    for (uint32_t n = 0; n < view->nodes; n++) {
        const char *p = view->node + (uint64_t)n * IWI_GOAL_NODE_BYTES + IWI_GOAL_NODE_OPEN;

        if (iwi_goal_get_u32(p) != reader->scratch.open[n]) {
            return goal_fail_at(reader, IW_ERR_FORMAT, p,
                                "rank %" PRIu32 " operation %" PRIu32 " counts %" PRIu32
                                " dependencies but has %" PRIu32,
                                view->rank, n, iwi_goal_get_u32(p), reader->scratch.open[n]);
        }
        if (reader->scratch.open[n] != 0) {
            continue;
        }
        if (roots >= view->roots || iwi_goal_get_u32(view->root + UINT64_C(4) * roots) != n) {
            return goal_fail_at(reader, IW_ERR_FORMAT, view->root,
                                "rank %" PRIu32 ": operation %" PRIu32
                                " has no dependencies but is not in its place in "
                                "the list of roots",
                                view->rank, n);
        }
        roots++;
    }
    if (roots != view->roots) {
        return goal_fail_at(reader, IW_ERR_FORMAT, view->root,
                            "rank %" PRIu32 " lists %" PRIu32 " roots but has %" PRIu32, view->rank,
                            view->roots, roots);
    }
    return IW_OK;
}

/* ---- the whole rank ---- */

/* The rank becomes that of a program if it can, and all before it have. What it keeps is little, and where it
 * is nothing so far first_dep is 0 already. */
static bool keep_in_order(struct goal_reader *reader, const struct goal_rank_view *view)
{
    struct iwi_goal_builder *builder = &reader->builder;
    const uint64_t first_node = builder->node_count - view->nodes;
    const struct iwi_rank_graph rank = {.nodes = builder->nodes + first_node,
                                        .count = view->nodes,
                                        .first = reader->scratch.first,
                                        .deps = reader->scratch.deps};

    if (builder->max_cpu > 0 || !iwi_rank_is_in_order(&rank, reader->scratch.flags)) {
        return false;
    }
    for (uint64_t node = 0; node < rank.count; node++) {
        const uint64_t kept = iwi_rank_put_in_order(&rank, node, rank.first[node], rank.first[node + 1],
                                                    builder->deps + builder->dep_count);

        if (builder->dep_count > 0) {
            builder->first_dep[first_node + node] = builder->dep_count;
        }
        builder->dep_count += kept;
        builder->facts.longest_wait = kept > builder->facts.longest_wait ? kept : builder->facts.longest_wait;
    }
    return true;
}

static iw_status keep_graph(struct goal_reader *reader, const struct goal_rank_view *view)
{
    struct iwi_goal_builder *builder = &reader->builder;
    const struct iwi_goal_scratch *scratch = &reader->scratch;
    uint64_t *first = builder->first_dep + builder->node_count - view->nodes;
    struct iwi_goal_cycle cycle;

    for (uint32_t n = 0; n < view->nodes; n++) {
        first[n] = builder->dep_count + scratch->first[n];
    }
    memcpy(builder->deps + builder->dep_count, scratch->deps,
           (size_t)view->list_length * sizeof *scratch->deps);
    builder->dep_count += view->list_length;
    IW_TRY(iwi_goal_find_cycle(reader->log, builder, first, reader->has_forward, &cycle));
    if (cycle.length > 0) {
        return goal_fail_at(reader, IW_ERR_FORMAT, view->node,
                            "rank %" PRIu32 ": %" PRIu32
                            " operations wait for each other, among them %" PRIu32,
                            view->rank, cycle.length, cycle.nodes[0]);
    }
    return IW_OK;
}

static iw_status reserve_scratch(struct goal_reader *reader, const struct goal_rank_view *view)
{
    const iw_log *log = reader->log;
    struct iwi_goal_scratch *s = &reader->scratch;
    const size_t nodes = view->nodes;

    IW_TRY(iwi_grow(log, (void **)&s->open, &s->open_capacity, nodes + 1, sizeof *s->open));
    IW_TRY(iwi_grow(log, (void **)&s->first, &s->first_capacity, nodes + 1, sizeof *s->first));
    IW_TRY(iwi_grow(log, (void **)&s->flags, &s->flag_capacity, nodes + 1, sizeof *s->flags));
    IW_TRY(
        iwi_grow(log, (void **)&s->deps, &s->dep_capacity, (size_t)view->list_length + 1, sizeof *s->deps));
    memset(s->open, 0, nodes * sizeof *s->open);
    reader->edges = 0;
    reader->has_forward = false;
    return IW_OK;
}

/* Reads the operations of one rank field by field, and what they wait for. */
static iw_status read_new_rank(struct goal_reader *reader, const struct goal_rank_view *view)
{
    IW_TRY(reserve_scratch(reader, view));
    for (uint32_t n = 0; n < view->nodes; n++) {
        IW_TRY(read_node(reader, view, view->node + (uint64_t)n * IWI_GOAL_NODE_BYTES));
        IW_TRY(count_successors(reader, view, n, false));
        IW_TRY(count_successors(reader, view, n, true));
    }
    if (reader->edges != view->list_length) {
        return goal_fail_at(reader, IW_ERR_FORMAT, view->list,
                            "rank %" PRIu32 " has a list of %" PRIu64 " successors but uses %" PRIu64,
                            view->rank, view->list_length, reader->edges);
    }
    IW_TRY(check_counts(reader, view));
    place_deps(reader, view);
    reader->is_in_order = reader->is_in_order && keep_in_order(reader, view);
    return reader->is_in_order ? IW_OK : keep_graph(reader, view);
}

/* ---- a rank like one before it ----
 *
 * Most ranks differ from another one by their peers, sizes and tags only: what they wait for needs no second
 * look. Whatever is not as it should be makes a rank one that is read field by field, which says so. */

static struct goal_known_rank *known_like(struct goal_reader *reader, const struct goal_rank_view *view)
{
    return &reader->known[(view->nodes + 31 * view->list_length) % KNOWN_RANKS];
}

static bool has_same_lists(const struct goal_rank_view *a, const struct goal_rank_view *b)
{
    return b->begin != NULL && a->nodes == b->nodes && a->roots == b->roots &&
           a->list_length == b->list_length && memcmp(a->root, b->root, UINT64_C(4) * a->roots) == 0 &&
           memcmp(a->list, b->list, 4 * a->list_length) == 0;
}

/* All but peer, size and tag, which are bytes 5 to 20. */
static inline bool has_same_shape(const char *p, const char *q)
{
    const uint64_t begin = iwi_goal_get_u64(p) ^ iwi_goal_get_u64(q);
    const uint64_t end = (iwi_goal_get_u64(p + 21) ^ iwi_goal_get_u64(q + 21)) |
                         (iwi_goal_get_u64(p + 29) ^ iwi_goal_get_u64(q + 29)) |
                         (iwi_goal_get_u64(p + 31) ^ iwi_goal_get_u64(q + 31));

    return ((begin & UINT64_C(0xffffffffff)) | end) == 0;
}
_Static_assert(IWI_GOAL_NODE_PEER == 5 && IWI_GOAL_NODE_CPU == 21 && IWI_GOAL_NODE_BYTES == 39,
               "has_same_shape() knows the layout");

/* Peer, size and tag of an operation that is like the one at `q`; false unless they are fit to be so. */
static inline bool read_alike(const struct goal_reader *reader, const char *p, const char *q,
                              struct iwi_node *node)
{
    const uint64_t value = iwi_goal_get_u64(p + IWI_GOAL_NODE_SIZE);

    if (p[IWI_GOAL_NODE_TYPE] == IWI_GOAL_TYPE_CALC) { /* one of 0 may be a wait */
        const uint64_t unit_ps = (uint64_t)reader->source->unit_ps;

        node->amount = value * unit_ps;
        return value <= IW_TIME_INPUT_MAX / unit_ps &&
               (value == 0) == (iwi_goal_get_u64(q + IWI_GOAL_NODE_SIZE) == 0);
    }
    node->peer = iwi_goal_get_u32(p + IWI_GOAL_NODE_PEER);
    node->tag = iwi_goal_get_u32(p + IWI_GOAL_NODE_TAG);
    node->amount = value;
    return value <= IWI_GOAL_MOST_BYTES &&
           (node->peer < reader->ranks || (node->kind == IWI_RECV && node->peer == IWI_ANY));
}

static bool read_known_nodes(struct goal_reader *reader, const struct goal_rank_view *view,
                             const struct goal_known_rank *known)
{
    struct iwi_goal_builder *builder = &reader->builder;
    struct iwi_schedule_facts facts = builder->facts;
    const char *p = view->node, *q = known->view.node;

    for (uint64_t n = 0; n < view->nodes; n++, p += IWI_GOAL_NODE_BYTES, q += IWI_GOAL_NODE_BYTES) {
        struct iwi_node node = builder->nodes[known->first_node + n];

        __builtin_prefetch(p + AHEAD_BYTES); /* pages of a file lie apart: the processor stops at each */
        if (!has_same_shape(p, q) || !read_alike(reader, p, q, &node)) {
            return false;
        }
        builder->nodes[builder->node_count + n] = node;
        iwi_facts_note(&facts, &node);
    }
    builder->facts = facts;
    builder->node_count += view->nodes;
    return true;
}

/* Adds a rank that is like a known one; false, and nothing is added, if it is not. */
static bool read_known_rank(struct goal_reader *reader, const struct goal_rank_view *view,
                            const struct goal_known_rank *known)
{
    struct iwi_goal_builder *builder = &reader->builder;
    const uint64_t shift = builder->dep_count - known->first_dep;
    uint64_t *first = builder->first_dep + builder->node_count;

    if (!has_same_lists(view, &known->view) || !read_known_nodes(reader, view, known)) {
        return false;
    }
    for (uint64_t n = 0; n < view->nodes && builder->dep_count > 0; n++) { /* else it is 0 already */
        first[n] = builder->first_dep[known->first_node + n] + shift;
    }
    memcpy(builder->deps + builder->dep_count, builder->deps + known->first_dep,
           (size_t)known->deps * sizeof *builder->deps);
    builder->dep_count += known->deps;
    return true;
}

/* Adds the operations of one rank to what is built. */
static iw_status goal_read_rank(struct goal_reader *reader, const struct goal_rank_view *view)
{
    const struct iwi_goal_builder *builder = &reader->builder;
    const uint64_t first_node = builder->node_count, first_dep = builder->dep_count;
    struct goal_known_rank *known = known_like(reader, view);

    IW_TRY(iwi_goal_begin_block(reader->log, &reader->builder, view->rank, 0));
    if (!read_known_rank(reader, view, known)) {
        IW_TRY(read_new_rank(reader, view));
    }
    *known = (struct goal_known_rank){*view, first_node, first_dep, builder->dep_count - first_dep};
    return IW_OK;
}

/* ---- the file ---- */

static iw_status read_header(struct goal_reader *reader)
{
    const struct iwi_goal_source *source = reader->source;
    uint64_t table_bytes;

    if (source->size >= sizeof(uint64_t) && iwi_goal_get_u64(source->data) == IWI_GOAL_MAGIC_SPENT) {
        return goal_fail_at(
            reader, IW_ERR_FORMAT, source->data,
            "this binary GOAL file was invalidated by a --save-mem run; convert its text again");
    }
    if (source->size < IWI_GOAL_HEADER_BYTES) {
        return goal_fail_at(reader, IW_ERR_TRUNCATED, source->data + source->size,
                            "binary GOAL ends within its header");
    }
    reader->ranks = iwi_goal_get_u32(source->data + 8);
    reader->max_cpu = (uint8_t)source->data[12];
    reader->max_nic = (uint8_t)source->data[13];
    if (reader->ranks == 0) {
        return goal_fail_at(reader, IW_ERR_RANGE, source->data + 8, "the number of ranks is 0");
    }
    table_bytes = (uint64_t)reader->ranks * IWI_GOAL_ENTRY_BYTES;
    if (source->size - IWI_GOAL_HEADER_BYTES < table_bytes) {
        return goal_fail_at(reader, IW_ERR_TRUNCATED, source->data + source->size,
                            "binary GOAL ends within the table of %" PRIu32 " ranks", reader->ranks);
    }
    return IW_OK;
}

/* Finds a rank's data; `*position_p` is where the last rank's data ended. Ranks must not overlap: otherwise a
 * small file could ask for any amount of memory. */
static iw_status locate_rank(const struct goal_reader *reader, uint64_t *position_p,
                             struct goal_rank_view *view)
{
    const struct iwi_goal_source *source = reader->source;
    const char *entry = source->data + IWI_GOAL_HEADER_BYTES + (uint64_t)view->rank * IWI_GOAL_ENTRY_BYTES;
    const uint64_t begin = iwi_goal_get_u64(entry), end = iwi_goal_get_u64(entry + 8);

    if (begin < *position_p || end < begin) {
        return goal_fail_at(reader, IW_ERR_FORMAT, entry,
                            "rank %" PRIu32 " lies at %" PRIu64 " to %" PRIu64 ", expected from %" PRIu64
                            " on",
                            view->rank, begin, end, *position_p);
    }
    if (end > source->size - IWI_GOAL_BASE) {
        return goal_fail_at(reader, IW_ERR_TRUNCATED, entry,
                            "rank %" PRIu32 " ends at byte %" PRIu64 " of a file of %zu bytes", view->rank,
                            end > UINT64_MAX - IWI_GOAL_BASE ? end : end + IWI_GOAL_BASE, source->size);
    }
    view->begin = source->data + IWI_GOAL_BASE + begin;
    view->size = end - begin;
    *position_p = end;
    return IW_OK;
}

static iw_status view_rank(const struct goal_reader *reader, struct goal_rank_view *view)
{
    uint64_t fixed_bytes;
    uint32_t nodes, roots;

    if (view->size < IWI_GOAL_RANK_BYTES) {
        return goal_fail_at(reader, IW_ERR_FORMAT, view->begin, "rank %" PRIu32 " has only %" PRIu64 " bytes",
                            view->rank, view->size);
    }
    nodes = iwi_goal_get_u32(view->begin);
    roots = iwi_goal_get_u32(view->begin + 4);
    fixed_bytes = IWI_GOAL_RANK_BYTES + UINT64_C(4) * roots + (uint64_t)IWI_GOAL_NODE_BYTES * nodes;
    if (fixed_bytes > view->size || (view->size - fixed_bytes) % 4 != 0) {
        return goal_fail_at(reader, IW_ERR_FORMAT, view->begin,
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
static void forget_before(const struct goal_reader *reader, const char *p, size_t *forgotten_p)
{
    if (reader->source->input != NULL) {
        iwi_input_forget(reader->source->input, p, forgotten_p);
    }
}

/* Room for all operations and dependencies, which the file has the bytes for. */
static iw_status reserve(struct goal_reader *reader)
{
    uint64_t position =
        IWI_GOAL_HEADER_BYTES - IWI_GOAL_BASE + (uint64_t)reader->ranks * IWI_GOAL_ENTRY_BYTES;
    uint64_t nodes = 0, deps = 0;
    size_t forgotten = 0;

    for (uint32_t r = 0; r < reader->ranks; r++) {
        struct goal_rank_view view = {.rank = r};

        IW_TRY(locate_rank(reader, &position, &view));
        IW_TRY(view_rank(reader, &view));
        forget_before(reader, view.begin, &forgotten);
        nodes += view.nodes;
        deps += view.list_length;
    }
    return iwi_goal_reserve(reader->log, &reader->builder, nodes, deps);
}

/* Ranks that have become those of a program have to be read again: another is not in order. */
static void start_again(struct goal_reader *reader)
{
    struct iwi_goal_builder *builder = &reader->builder;

    builder->node_count = builder->dep_count = builder->block_count = 0;
    builder->max_cpu = builder->max_nic = 0;
    builder->facts = (struct iwi_schedule_facts){.are_known = false};
    memset(reader->known, 0, sizeof reader->known);
}

/* `*position_p` is where the last rank's data ends. */
static iw_status read_ranks(struct goal_reader *reader, uint64_t *position_p)
{
    size_t forgotten = 0;

    *position_p = IWI_GOAL_HEADER_BYTES - IWI_GOAL_BASE + (uint64_t)reader->ranks * IWI_GOAL_ENTRY_BYTES;
    for (uint32_t r = 0; r < reader->ranks; r++) {
        const bool was_in_order = reader->is_in_order;
        struct goal_rank_view view = {.rank = r};

        IW_TRY(locate_rank(reader, position_p, &view));
        IW_TRY(view_rank(reader, &view));
        IW_TRY(goal_read_rank(reader, &view));
        if (r > 0 && was_in_order && !reader->is_in_order) {
            start_again(reader);
            return read_ranks(reader, position_p);
        }
        forget_before(reader, view.begin, &forgotten);
    }
    return IW_OK;
}

static iw_status read_all(struct goal_reader *reader)
{
    uint64_t position;

    IW_TRY(read_header(reader));
    IW_TRY(reserve(reader));
    reader->is_in_order = reader->source->wants_program;
    IW_TRY(read_ranks(reader, &position));
    if (position < reader->source->size - IWI_GOAL_BASE) {
        iwi_warn(reader->log, "'%s' at byte %" PRIu64 ": ignoring data after the last rank",
                 reader->source->name, position + IWI_GOAL_BASE);
    }
    return IW_OK;
}

iw_status iwi_goal_read_binary(const iw_log *log, const struct iwi_goal_source *source,
                               struct iwi_schedule **schedule_p)
{
    struct goal_reader reader = {.log = log, .source = source};
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
