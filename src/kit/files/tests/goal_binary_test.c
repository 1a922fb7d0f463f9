/* Binary GOAL: its bytes, and that no field is trusted.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "goal_testing.h"

static const char tiny_text[] = "num_ranks 2\n\nrank 0 {\nl1: calc 7\nl2: send 258b to 1 tag 3 cpu 1 nic 2\n"
                                "l2 requires l1\nl3: calc 1\nl3 requires l1\nl3 irequires l2\n}\n\n"
                                "rank 1 {\nl1: recv 258b from -1 tag -1\n}\n";

/* tiny_text by hand, from docs/reference/formats/goal.md. */
static const unsigned char tiny_bytes[] = {
    0x7f, 0x10, 0,   0,   0, 0,   0,   0,                                /* 0: 4223 */
    2,    0,    0,   0,                                                  /* 8: ranks */
    1,    2,                                                             /* 12: highest cpu, nic */
    38,   0,    0,   0,   0, 0,   0,   0,   179, 0, 0, 0, 0, 0, 0, 0,    /* 14: rank 0, counted from byte 8 */
    179,  0,    0,   0,   0, 0,   0,   0,   230, 0, 0, 0, 0, 0, 0, 0,    /* 30: rank 1 */
    3,    0,    0,   0,   1, 0,   0,   0,   0,   0, 0, 0,                /* 46: 3 nodes, 1 root: 0 */
    0,    0,    0,   0,   3, 0,   0,   0,   0,   7, 0, 0, 0, 0, 0, 0, 0, /* 58: none open, calc, peer 0, 7 */
    0,    0,    0,   0,   0, 0,                                          /* tag, cpu, nic */
    2,    0,    0,   0,   0, 0,   0,   0,   0,   0, 0, 0, 2, 0, 0, 0,    /* 2 from 0; 0 from 2 */
    1,    0,    0,   0,   1, 1,   0,   0,   0,   2, 1, 0, 0, 0, 0, 0, 0, /* 97: 1 open, send, to 1, 258 */
    3,    0,    0,   0,   1, 2,                                          /* tag 3, cpu 1, nic 2 */
    0,    0,    0,   0,   2, 0,   0,   0,   1,   0, 0, 0, 2, 0, 0, 0,    /* 0 from 2; 1 from 2 */
    2,    0,    0,   0,   3, 0,   0,   0,   0,   1, 0, 0, 0, 0, 0, 0, 0, /* 136: 2 open, calc, 1 */
    0,    0,    0,   0,   0, 0,                                          /**/
    0,    0,    0,   0,   3, 0,   0,   0,   0,   0, 0, 0, 3, 0, 0, 0,    /* nothing waits for it */
    1,    0,    0,   0,   2, 0,   0,   0,   2,   0, 0, 0, /* 175: list: 1, 2 require 0; 2 irequires 1 */
    1,    0,    0,   0,   1, 0,   0,   0,   0,   0, 0, 0, /* 187: 1 node, 1 root: 0 */
    0,    0,    0,   0,   2, 255, 255, 255, 255, 2, 1, 0, 0, 0, 0, 0, 0, /* 199: recv, from any, 258 */
    255,  255,  255, 255, 0, 0,                                          /* tag any */
    0,    0,    0,   0,   0, 0,   0,   0,   0,   0, 0, 0, 0, 0, 0, 0,
};

enum {
    TABLE = 14,
    RANK0 = 46,
    NODE0 = 58,
    NODE1 = NODE0 + 39,
    LIST0 = NODE0 + 3 * 39,
    RANK1 = 187,
    NODE_OF_RANK1 = 199,
    OPEN = 0,
    TYPE = 4,
    PEER = 5,
    SIZE = 9,
    CPU = 21,
    ENDS = 23
};

static void the_bytes_are_as_documented(void **state)
{
    struct blob blob = convert(tiny_text, strlen(tiny_text), true);

    (void)state;
    assert_int_equal(blob.size, sizeof tiny_bytes);
    assert_memory_equal(blob.data, tiny_bytes, sizeof tiny_bytes);
    free(blob.data);
}

static void the_bytes_are_read_back_as_the_text(void **state)
{
    struct blob blob = convert(tiny_bytes, sizeof tiny_bytes, false);

    (void)state;
    assert_string_equal(blob.data, tiny_text);
    free(blob.data);
}

/* tiny_bytes with `count` bytes at `position` set to `value`. */
static void assert_patch_refused(size_t position, size_t count, unsigned char value, iw_status status,
                                 const char *part)
{
    unsigned char bytes[sizeof tiny_bytes];

    memcpy(bytes, tiny_bytes, sizeof bytes);
    memset(bytes + position, value, count);
    assert_refused_blob(bytes, sizeof bytes, status, part);
}

static void a_file_after_save_mem_is_told(void **state)
{
    unsigned char bytes[sizeof tiny_bytes];

    (void)state;
    memcpy(bytes, tiny_bytes, sizeof bytes);
    bytes[0] = 0x26;
    bytes[1] = 0x09;
    assert_refused_blob(bytes, sizeof bytes, IW_ERR_FORMAT, "was invalidated by a --save-mem run");
}

static void huge_counts_are_refused_before_anything_is_allocated(void **state)
{
    (void)state;
    assert_patch_refused(8, 4, 0xff, IW_ERR_TRUNCATED, "ends within the table of 4294967295 ranks");
    assert_patch_refused(RANK0, 4, 0xff, IW_ERR_FORMAT, "at byte 46: rank 0 has 141 bytes, which 4294967295");
    assert_patch_refused(RANK0 + 4, 4, 0xff, IW_ERR_FORMAT, "3 operations and 4294967295 roots do not fit");
    assert_patch_refused(NODE0 + ENDS, 4, 0xff, IW_ERR_FORMAT,
                         "4294967295 successors from 0 on are not in a list");
    assert_patch_refused(NODE0 + ENDS + 4, 4, 0xff, IW_ERR_FORMAT,
                         "2 successors from 4294967295 on are not in");
    assert_patch_refused(TABLE + 8, 8, 0xff, IW_ERR_TRUNCATED, "rank 0 ends at byte");
}

static void rank_positions_are_checked(void **state)
{
    (void)state;
    assert_patch_refused(8, 4, 0, IW_ERR_RANGE, "the number of ranks is 0");
    assert_patch_refused(TABLE, 1, 37, IW_ERR_FORMAT,
                         "at byte 14: rank 0 lies at 37 to 179, expected from 38 on");
    assert_patch_refused(TABLE + 16, 1, 178, IW_ERR_FORMAT,
                         "rank 1 lies at 178 to 230, expected from 179 on");
    assert_patch_refused(TABLE + 8, 1, 37, IW_ERR_FORMAT, "rank 0 lies at 38 to 37");
    assert_patch_refused(TABLE + 8, 1, 40, IW_ERR_FORMAT, "rank 0 has only 2 bytes");
    assert_patch_refused(TABLE + 24, 1, 231, IW_ERR_TRUNCATED,
                         "rank 1 ends at byte 239 of a file of 238 bytes");
    assert_patch_refused(TABLE + 24, 1, 229, IW_ERR_FORMAT, "rank 1 has 50 bytes");
}

static void fields_of_operations_are_checked(void **state)
{
    (void)state;
    assert_patch_refused(NODE0 + TYPE, 1, 0, IW_ERR_FORMAT, "unknown operation type 0");
    assert_patch_refused(NODE0 + TYPE, 1, 4, IW_ERR_FORMAT, "unknown operation type 4");
    assert_patch_refused(NODE1 + PEER, 1, 2, IW_ERR_FORMAT,
                         "rank 0 operation 1: peer 2 is not one of 2 ranks");
    assert_patch_refused(NODE1 + PEER, 4, 0xff, IW_ERR_FORMAT, "peer 4294967295 is not one of 2 ranks");
    assert_patch_refused(NODE_OF_RANK1 + PEER, 1, 7, IW_ERR_FORMAT, "peer 4294967047 is not one of 2 ranks");
    assert_patch_refused(NODE1 + CPU, 1, 2, IW_ERR_FORMAT, "cpu 2 or nic 2 is above the highest, 1 and 2");
    assert_patch_refused(NODE1 + CPU + 1, 1, 3, IW_ERR_FORMAT, "cpu 1 or nic 3 is above the highest");
    assert_patch_refused(NODE0 + SIZE, 8, 0x7f, IW_ERR_RANGE,
                         "the length of the calc 9187201950435737471 is larger");
    assert_patch_refused(NODE1 + SIZE, 8, 0x7f, IW_ERR_RANGE,
                         "the message size 9187201950435737471 is larger");
}

static void id_255_is_refused_even_if_the_header_has_it(void **state)
{
    unsigned char bytes[sizeof tiny_bytes];

    (void)state;
    memcpy(bytes, tiny_bytes, sizeof bytes);
    bytes[12] = 255;
    bytes[NODE1 + CPU] = 255;
    assert_refused_blob(bytes, sizeof bytes, IW_ERR_FORMAT,
                        "cpu 255 or nic 2 is above the highest, 254 and 2");
}

static void dependency_lists_are_checked(void **state)
{
    (void)state;
    assert_patch_refused(NODE1 + OPEN, 1, 0, IW_ERR_FORMAT,
                         "rank 0 operation 1 counts 0 dependencies but has 1");
    assert_patch_refused(NODE1 + OPEN, 1, 2, IW_ERR_FORMAT,
                         "rank 0 operation 1 counts 2 dependencies but has 1");
    assert_patch_refused(LIST0, 1, 3, IW_ERR_FORMAT, "its successor 3 is not an operation of the rank");
    assert_patch_refused(LIST0, 1, 0, IW_ERR_FORMAT, "rank 0 operation 0: its successor 0 is itself");
    assert_patch_refused(NODE0 + ENDS, 1, 1, IW_ERR_FORMAT, "has a list of 3 successors but uses 2");
    assert_patch_refused(NODE0 + ENDS, 1, 3, IW_ERR_FORMAT, "uses its list of 3 successors twice");
    assert_patch_refused(RANK0 + 8, 1, 1, IW_ERR_FORMAT,
                         "operation 0 has no dependencies but is not in its place");
}

static void superfluous_roots_are_refused(void **state)
{
    unsigned char bytes[sizeof tiny_bytes + 4];
    const size_t after_root = NODE_OF_RANK1;

    (void)state;
    memcpy(bytes, tiny_bytes, after_root);
    memset(bytes + after_root, 0, 4);
    memcpy(bytes + after_root + 4, tiny_bytes + after_root, sizeof tiny_bytes - after_root);
    bytes[TABLE + 24] = 234;
    bytes[RANK1 + 4] = 2;
    assert_refused_blob(bytes, sizeof bytes, IW_ERR_FORMAT, "rank 1 lists 2 roots but has 1");
}

static void cycles_are_refused(void **state)
{
    unsigned char bytes[sizeof tiny_bytes];

    (void)state;
    memcpy(bytes, tiny_bytes, sizeof bytes);
    /* 2 requires 1 twice becomes: 1 requires 2, 2 irequires 1; 2 keeps nothing else: the root is 0 as before
     */
    bytes[NODE0 + ENDS] = 1;              /* 0: only 1 */
    bytes[NODE0 + 2 * 39 + ENDS] = 1;     /* 2: one successor, */
    bytes[NODE0 + 2 * 39 + ENDS + 4] = 1; /* at position 1 */
    bytes[LIST0 + 4] = 1;                 /* which is 1 */
    bytes[NODE1 + OPEN] = 2;
    bytes[NODE0 + 2 * 39 + OPEN] = 1;
    assert_refused_blob(bytes, sizeof bytes, IW_ERR_FORMAT, "rank 0: 2 operations wait for each other");
}

static void bytes_behind_the_last_rank_give_a_warning(void **state)
{
    unsigned char bytes[sizeof tiny_bytes + 3] = {0};
    struct iwi_schedule *s;
    struct iwt_log l;

    (void)state;
    memcpy(bytes, tiny_bytes, sizeof tiny_bytes);
    assert_ok(read_blob(&l, bytes, sizeof bytes, &s));
    iwt_assert_logged(&l, "warning: 't.goal' at byte 238: ignoring data after the last rank");
    iwi_schedule_free(s);
}

static void fields_without_meaning_in_a_calc_are_dropped(void **state)
{
    unsigned char bytes[sizeof tiny_bytes];
    struct blob blob;

    (void)state;
    memcpy(bytes, tiny_bytes, sizeof bytes);
    memset(bytes + NODE0 + PEER, 0xff, 4);
    memset(bytes + NODE0 + CPU - 4, 0xff, 4);
    bytes[NODE0 + CPU + 1] = 0xff;
    blob = convert(bytes, sizeof bytes, false);
    assert_string_equal(blob.data, tiny_text);
    free(blob.data);
}

static void every_single_byte_changed_gives_a_status_and_no_crash(void **state)
{
    static const unsigned char values[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
    unsigned char bytes[sizeof tiny_bytes];

    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++) {
        for (size_t v = 0; v < sizeof values; v++) {
            struct iwi_schedule *s = NULL;
            struct iwt_log l;

            memcpy(bytes, tiny_bytes, sizeof bytes);
            bytes[i] = values[v];
            if (read_blob(&l, bytes, sizeof bytes, &s) == IW_OK) {
                iwi_schedule_free(s);
            } else {
                assert_int_equal(l.errors, 1);
            }
        }
    }
}

/* Not by memory: nodes have padding. */
static void assert_nodes_equal(const struct iwi_node *a, const struct iwi_node *b)
{
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->flags, b->flags);
    assert_int_equal(a->cpu, b->cpu);
    assert_int_equal(a->nic, b->nic);
    assert_int_equal(a->peer, b->peer);
    assert_int_equal(a->tag, b->tag);
    assert_int_equal(a->amount, b->amount);
}

/* As a program at once, and first as a graph that is then put in order. */
static void assert_programs_equal(const char *text, bool is_in_order)
{
    struct blob blob = convert(text, strlen(text), true);
    const struct iwi_goal_source source = {"t.goal", blob.data, blob.size, IW_PS_PER_NS, NULL, true};
    struct iwi_schedule *at_once, *graph;
    struct iwt_log l;
    uint64_t nodes;

    assert_ok(iwi_goal_read_memory(NULL, &source, &at_once));
    assert_ok(read_blob(&l, blob.data, blob.size, &graph));
    assert_ok(iwi_schedule_put_in_order(NULL, graph));
    graph->facts = iwi_schedule_facts(graph);
    nodes = graph->first_node[graph->ranks];
    assert_int_equal(at_once->is_in_order, is_in_order);
    assert_int_equal(graph->is_in_order, is_in_order);
    assert_int_equal(at_once->first_node[at_once->ranks], nodes);
    for (uint64_t n = 0; n < nodes; n++) {
        assert_nodes_equal(&at_once->nodes[n], &graph->nodes[n]);
    }
    assert_memory_equal(at_once->first_dep, graph->first_dep, (nodes + 1) * sizeof *graph->first_dep);
    for (uint64_t d = 0; d < graph->first_dep[nodes]; d++) {
        assert_int_equal(at_once->deps[d].node, graph->deps[d].node);
        assert_int_equal(at_once->deps[d].is_start, graph->deps[d].is_start);
    }
    assert_int_equal(at_once->facts.sends, graph->facts.sends);
    assert_int_equal(at_once->facts.receives, graph->facts.receives);
    assert_int_equal(at_once->facts.longest_wait, graph->facts.longest_wait);
    assert_int_equal(at_once->facts.largest_bytes, graph->facts.largest_bytes);
    assert_int_equal(at_once->facts.has_phases, graph->facts.has_phases);
    assert_int_equal(at_once->facts.has_wildcards, graph->facts.has_wildcards);
    iwi_schedule_free(at_once);
    iwi_schedule_free(graph);
    free(blob.data);
}

#define CHAIN "l1: calc 5\nl2: recv 8b from 1 tag 3\nl2 requires l1\nl3: calc 7\nl3 requires l2\n"
#define WAITS                                                                                            \
    "l1: recv 9b from 0 tag 1\nl2: send 8b to 0 tag 3\nl2 irequires l1\nl3: calc 0\nl3 requires l2\nl3 " \
    "requires l1\n"

static void a_rank_in_order_is_read_as_a_program(void **state)
{
    (void)state;
    assert_programs_equal("num_ranks 2\nrank 0 {\n" CHAIN "}\nrank 1 {\nl1: send 8b to 0 tag 3\n}\n", true);
    assert_programs_equal("num_ranks 4\nrank 0 {\n" CHAIN "}\nrank 1 {\n" WAITS "}\nrank 2 {\n" CHAIN
                          "}\nrank 3 {\n" WAITS "l4: calc 1\nl4 requires l3\n}\n",
                          true);
}

/* Those before it have become a program already. */
static void one_rank_that_is_not_in_order_makes_all_a_graph(void **state)
{
    (void)state;
    assert_programs_equal("num_ranks 3\nrank 0 {\n" CHAIN "}\nrank 1 {\n" CHAIN
                          "}\nrank 2 {\nl1: calc 1\nl2: calc 2\n}\n",
                          false);
    assert_programs_equal(
        "num_ranks 3\nrank 0 {\n" WAITS "}\nrank 1 {\n" WAITS "l4: calc 1\n}\nrank 2 {\n" WAITS "}\n", false);
    assert_programs_equal("num_ranks 2\nrank 0 {\n" CHAIN "}\nrank 1 {\nl1: calc 1 cpu 1\n}\n", false);
}

/* Ranks that differ by peers, sizes, tags and lengths, and some by more than these. */
static void ranks_like_others_are_read_as_these(void **state)
{
    (void)state;
    assert_programs_equal(
        "num_ranks 4\nrank 0 {\n" WAITS "}\nrank 1 {\nl1: recv 900b from 3 tag 7\nl2: send "
        "1000000b to 2 tag 9\nl2 irequires l1\nl3: calc 0\nl3 requires l2\nl3 requires l1\n}\n"
        "rank 2 {\nl1: recv 9b from -1 tag -1\nl2: send 8b to 0 tag 3\nl2 irequires l1\nl3: calc "
        "0\nl3 requires l2\nl3 requires l1\n}\nrank 3 {\n" WAITS "}\n",
        true);
    assert_programs_equal("num_ranks 3\nrank 0 {\n" CHAIN
                          "}\nrank 1 {\nl1: calc 6\nl2: recv 8b from 0 tag 2\nl2 "
                          "requires l1\nl3: calc 0\nl3 requires l2\n}\nrank 2 {\n" CHAIN "}\n",
                          true);
    /* an empty calc is a wait, another none */
    assert_programs_equal("num_ranks 2\nrank 0 {\n" WAITS
                          "}\nrank 1 {\nl1: recv 9b from 0 tag 1\nl2: send 8b to 0 "
                          "tag 3\nl2 irequires l1\nl3: calc 5\nl3 requires l2\nl3 requires l1\n}\n",
                          false);
    assert_programs_equal(
        "num_ranks 3\nrank 0 {\nl1: calc 1\nl2: send 1b to 1\n}\nrank 1 {\nl1: calc 1\nl2: send "
        "1b to 2\n}\nrank 2 {\nl1: calc 0\nl2: send 1b to 1\n}\n",
        false);
}

/* What is read of the last rank, or why it is refused. */
struct last_rank {
    struct iwi_schedule *schedule; /* NULL: it is refused */
    struct iwt_log log;
    iw_status status;
};

static void read_last(const struct blob *blob, size_t from_end, unsigned char value, bool wants_program,
                      struct last_rank *last)
{
    const struct iwi_goal_source source = {"t.goal",     blob->data, blob->size,
                                           IW_PS_PER_NS, NULL,       wants_program};
    const char before = blob->data[blob->size - from_end];

    last->schedule = NULL;
    iwt_log_init(&last->log);
    blob->data[blob->size - from_end] = (char)value;
    last->status = iwi_goal_read_memory(&last->log.log, &source, &last->schedule);
    blob->data[blob->size - from_end] = before;
}

static void assert_same_rank(const struct iwi_schedule *a, const struct iwi_schedule *b, uint32_t rank)
{
    const uint64_t first_a = a->first_node[rank], first_b = b->first_node[rank];

    assert_int_equal(a->is_in_order, b->is_in_order);
    assert_int_equal(a->first_node[rank + 1] - first_a, b->first_node[rank + 1] - first_b);
    for (uint64_t n = 0; n < a->first_node[rank + 1] - first_a; n++) {
        const uint64_t dep_a = a->first_dep[first_a + n], dep_b = b->first_dep[first_b + n];

        assert_nodes_equal(&a->nodes[first_a + n], &b->nodes[first_b + n]);
        assert_int_equal(a->first_dep[first_a + n + 1] - dep_a, b->first_dep[first_b + n + 1] - dep_b);
        for (uint64_t d = 0; d < a->first_dep[first_a + n + 1] - dep_a; d++) {
            assert_int_equal(a->deps[dep_a + d].node, b->deps[dep_b + d].node);
            assert_int_equal(a->deps[dep_a + d].is_start, b->deps[dep_b + d].is_start);
        }
    }
}

/* Behind a rank like it, and behind one that has nothing to do. */
static void assert_read_alike(const char *block, unsigned char value, bool wants_program)
{
    char text[2][512];
    struct blob blob[2];
    struct last_rank last[2];

    (void)snprintf(text[0], sizeof text[0], "num_ranks 2\nrank 0 {\n%s}\nrank 1 {\n%s}\n", block, block);
    (void)snprintf(text[1], sizeof text[1], "num_ranks 2\nrank 0 {\n}\nrank 1 {\n%s}\n", block);
    for (int k = 0; k < 2; k++) {
        blob[k] = convert(text[k], strlen(text[k]), true);
    }
    for (size_t from_end = 1; from_end <= (blob[0].size - blob[1].size) + 8; from_end++) {
        for (int k = 0; k < 2; k++) {
            read_last(&blob[k], from_end, value, wants_program, &last[k]);
        }
        assert_int_equal(last[0].status, last[1].status);
        assert_int_equal(last[0].log.errors, last[1].log.errors);
        if (last[0].status == IW_OK && last[0].schedule->is_in_order == last[1].schedule->is_in_order) {
            assert_same_rank(last[0].schedule, last[1].schedule, 1);
        }
        for (int k = 0; k < 2; k++) {
            iwi_schedule_free(last[k].schedule);
        }
    }
    free(blob[0].data);
    free(blob[1].data);
}

static void a_byte_changed_is_noticed_in_a_rank_like_another(void **state)
{
    static const unsigned char values[] = {0x00, 0x01, 0x02, 0x03, 0x7f, 0x80, 0xff};

    (void)state;
    for (size_t v = 0; v < sizeof values; v++) {
        for (int wants_program = 0; wants_program < 2; wants_program++) {
            assert_read_alike(CHAIN, values[v], wants_program != 0);
            assert_read_alike(WAITS, values[v], wants_program != 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bytes_are_as_documented),
        cmocka_unit_test(the_bytes_are_read_back_as_the_text),
        cmocka_unit_test(a_file_after_save_mem_is_told),
        cmocka_unit_test(huge_counts_are_refused_before_anything_is_allocated),
        cmocka_unit_test(rank_positions_are_checked),
        cmocka_unit_test(fields_of_operations_are_checked),
        cmocka_unit_test(id_255_is_refused_even_if_the_header_has_it),
        cmocka_unit_test(dependency_lists_are_checked),
        cmocka_unit_test(superfluous_roots_are_refused),
        cmocka_unit_test(cycles_are_refused),
        cmocka_unit_test(bytes_behind_the_last_rank_give_a_warning),
        cmocka_unit_test(fields_without_meaning_in_a_calc_are_dropped),
        cmocka_unit_test(every_single_byte_changed_gives_a_status_and_no_crash),
        cmocka_unit_test(a_rank_in_order_is_read_as_a_program),
        cmocka_unit_test(one_rank_that_is_not_in_order_makes_all_a_graph),
        cmocka_unit_test(ranks_like_others_are_read_as_these),
        cmocka_unit_test(a_byte_changed_is_noticed_in_a_rank_like_another),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
