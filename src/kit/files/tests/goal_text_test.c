/* What GOAL text may look like.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "goal_testing.h"

#define ONE(operation) "num_ranks 2\nrank 0 {\n" operation "\n}\nrank 1 {\n}\n"
#define ONE_WRITTEN(operations) "num_ranks 2\n\nrank 0 {\n" operations "}\n\nrank 1 {\n}\n"

static void a_plain_schedule_is_kept_in_all_its_parts(void **state)
{
    struct iwi_schedule *s;
    struct iwt_log l;

    (void)state;
    assert_ok(
        read_text(&l,
                  "num_ranks 2\nrank 0 {\na: calc 7\nb: send 9b to 1 tag 3 cpu 1 nic 2\nb requires a\n}\n"
                  "rank 1 {\nr: recv 9b from 0 tag 3\nc: calc 1 cpu 4\nc irequires r\n}\n",
                  &s));
    assert_int_equal(s->ranks, 2);
    assert_int_equal(s->cpu_count, 5);
    assert_int_equal(s->nic_count, 3);
    assert_false(s->is_in_order);
    assert_int_equal(s->first_node[0], 0);
    assert_int_equal(s->first_node[1], 2);
    assert_int_equal(s->first_node[2], 4);
    assert_int_equal(s->nodes[0].kind, IWI_CALC);
    assert_int_equal(s->nodes[0].flags, IWI_NODE_PHASE);
    assert_int_equal(s->nodes[0].amount, 7000);
    assert_int_equal(s->nodes[1].kind, IWI_SEND);
    assert_int_equal(s->nodes[1].flags, 0);
    assert_int_equal(s->nodes[1].amount, 9);
    assert_int_equal(s->nodes[1].peer, 1);
    assert_int_equal(s->nodes[1].tag, 3);
    assert_int_equal(s->nodes[1].cpu, 1);
    assert_int_equal(s->nodes[1].nic, 2);
    assert_int_equal(s->nodes[2].kind, IWI_RECV);
    assert_int_equal(s->first_dep[1], 0);
    assert_int_equal(s->first_dep[2], 1);
    assert_int_equal(s->first_dep[4], 2);
    assert_int_equal(s->deps[0].node, 0);
    assert_false(s->deps[0].is_start);
    assert_int_equal(s->deps[1].node, 0);
    assert_true(s->deps[1].is_start);
    iwi_schedule_free(s);
}

static void minus_one_is_any_source_and_any_tag(void **state)
{
    struct iwi_schedule *s;
    struct iwt_log l;

    (void)state;
    assert_ok(read_text(&l, ONE("recv 1b from -1 tag -1\nsend 1b to 1 tag -1"), &s));
    assert_int_equal(s->nodes[0].peer, IWI_ANY);
    assert_int_equal(s->nodes[0].tag, IWI_ANY);
    assert_int_equal(s->nodes[1].tag, IWI_ANY);
    iwi_schedule_free(s);
    assert_reads_as(ONE("recv 1b from -1 tag -1"), ONE_WRITTEN("l1: recv 1b from -1 tag -1\n"));
}

static void defaults_are_zero(void **state)
{
    (void)state;
    assert_reads_as(ONE("send 1b to 1"), ONE_WRITTEN("l1: send 1b to 1 tag 0\n"));
    assert_reads_as(ONE("calc 0"), ONE_WRITTEN("l1: calc 0\n"));
}

static void lines_may_end_in_crlf(void **state)
{
    (void)state;
    assert_reads_as("num_ranks 1\r\nrank 0 {\r\na: calc 5\r\nb: calc 6\r\nb requires a\r\n}\r\n",
                    "num_ranks 1\n\nrank 0 {\nl1: calc 5\nl2: calc 6\nl2 requires l1\n}\n");
}

static void blanks_are_free_around_colon_and_before_b(void **state)
{
    static const char written[] = ONE_WRITTEN("l1: send 12b to 1 tag 0\n");

    (void)state;
    assert_reads_as(ONE("x:send 12b to 1"), written);
    assert_reads_as(ONE("x : send 12 b to 1"), written);
    assert_reads_as(ONE("x\t:\tsend\t12\tb\tto\t1\t"), written);
}

static void keywords_need_no_blanks_where_no_label_can_stand(void **state)
{
    (void)state;
    assert_reads_as(ONE("x:send5bto1tag7cpu3nic2\ny:calc5cpu1\ny requiresx"),
                    ONE_WRITTEN("l1: send 5b to 1 tag 7 cpu 3 nic 2\nl2: calc 5 cpu 1\nl2 requires l1\n"));
    assert_reads_as(ONE("recv 5bfrom-1tag-1"), ONE_WRITTEN("l1: recv 5b from -1 tag -1\n"));
}

static void lines_may_be_indented(void **state)
{
    (void)state;
    assert_reads_as("  num_ranks 1\n\trank 0 {\n\t\ta: calc 5\n    b: calc 6\n\t b requires a\n  }\n",
                    "num_ranks 1\n\nrank 0 {\nl1: calc 5\nl2: calc 6\nl2 requires l1\n}\n");
}

static void comments_may_stand_between_any_tokens(void **state)
{
    (void)state;
    assert_reads_as("// head\n/* and\nmore */ num_ranks /* n */ 2 // two\nrank/**/0/* x\ny */{// open\n"
                    "x/**/:/**/send/**/1/**/b/**/to/**/1/**/tag/**/7// done\n/* * / ** */}//\n"
                    "rank 1{}//end",
                    ONE_WRITTEN("l1: send 1b to 1 tag 7\n"));
}

static void a_comment_over_two_lines_does_not_end_the_statement(void **state)
{
    (void)state;
    assert_reads_as(ONE("send 1b /* to\n be continued */ to 1"), ONE_WRITTEN("l1: send 1b to 1 tag 0\n"));
}

static void options_come_in_any_order(void **state)
{
    static const char written[] = ONE_WRITTEN("l1: recv 1b from 1 tag 3 cpu 4 nic 5\n");

    (void)state;
    assert_reads_as(ONE("recv 1b from 1 nic 5 cpu 4 tag 3"), written);
    assert_reads_as(ONE("recv 1b from 1 cpu 4 tag 3 nic 5"), written);
}

static void labels_may_be_used_before_they_are_defined(void **state)
{
    (void)state;
    assert_reads_as("num_ranks 1\nrank 0 {\nb requires a\na: calc 1\nb: calc 2\nc: calc 3\na irequires c\n}",
                    "num_ranks 1\n\nrank 0 {\nl1: calc 1\nl2: calc 2\nl2 requires l1\nl3: calc 3\n"
                    "l1 irequires l3\n}\n");
}

static void rank_blocks_come_in_any_order(void **state)
{
    (void)state;
    assert_reads_as("num_ranks 3\nrank 2 {\na: calc 20\nb: calc 21\nb requires a\n}\nrank 0 {\ncalc 1\n}\n"
                    "rank 1 {\nx: calc 10\ny: calc 11\nx requires y\n}\n",
                    "num_ranks 3\n\nrank 0 {\nl1: calc 1\n}\n\nrank 1 {\nl1: calc 10\nl2: calc 11\n"
                    "l1 requires l2\n}\n\nrank 2 {\nl1: calc 20\nl2: calc 21\nl2 requires l1\n}\n");
}

static void num_ranks_may_come_last(void **state)
{
    (void)state;
    assert_reads_as("rank 0 {\nsend 1b to 1\n}\nrank 1 {\n}\nnum_ranks 2\n",
                    ONE_WRITTEN("l1: send 1b to 1 tag 0\n"));
}

static void a_block_may_stand_on_one_line(void **state)
{
    (void)state;
    assert_reads_as("num_ranks 1 rank 0 { calc 5 }", "num_ranks 1\n\nrank 0 {\nl1: calc 5\n}\n");
    assert_reads_as("num_ranks 1\nrank 0\n{\ncalc 5 }", "num_ranks 1\n\nrank 0 {\nl1: calc 5\n}\n");
}

static void keywords_may_be_labels(void **state)
{
    (void)state;
    assert_reads_as("num_ranks 1\nrank 0 {\ncalc: calc 1\nsend: calc 2\nsend requires calc\n"
                    "requires: calc 3\nrequires requires send\n}",
                    "num_ranks 1\n\nrank 0 {\nl1: calc 1\nl2: calc 2\nl2 requires l1\nl3: calc 3\n"
                    "l3 requires l2\n}\n");
}

static void a_rank_may_send_to_itself(void **state)
{
    (void)state;
    assert_reads_as(ONE("send 1b to 0"), ONE_WRITTEN("l1: send 1b to 0 tag 0\n"));
}

static void dependencies_are_counted_per_edge_and_sorted(void **state)
{
    (void)state;
    assert_reads_as("num_ranks 1\nrank 0 {\na: calc 1\nb: calc 2\nc: calc 3\nc requires b\nc irequires a\n"
                    "c requires a\nc requires b\n}",
                    "num_ranks 1\n\nrank 0 {\nl1: calc 1\nl2: calc 2\nl3: calc 3\nl3 requires l1\n"
                    "l3 irequires l1\nl3 requires l2\nl3 requires l2\n}\n");
}

static void many_dependencies_of_one_node_are_sorted(void **state)
{
    enum { COUNT = 100 };
    char text[8192] = "num_ranks 1\nrank 0 {\nlast: calc 0\n";
    struct iwi_schedule *s;
    struct iwt_log l;
    size_t used = strlen(text);

    (void)state;
    for (int i = 1; i <= COUNT; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "x%d: calc 1\n", i);
    }
    for (int i = COUNT; i >= 1; i--) {
        used += (size_t)snprintf(text + used, sizeof text - used, "last requires x%d\n", i);
    }
    snprintf(text + used, sizeof text - used, "}\n");
    assert_ok(read_text(&l, text, &s));
    assert_int_equal(s->first_dep[1], COUNT);
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_int_equal(s->deps[i].node, i + 1);
    }
    iwi_schedule_free(s);
}

static void a_repeated_label_keeps_its_first_meaning_with_a_warning(void **state)
{
    struct iwi_schedule *s;
    struct iwt_log l;

    (void)state;
    assert_ok(read_text(&l, ONE("x: calc 1\nx: calc 2\ny: calc 3\nx: calc 4\ny requires x"), &s));
    assert_int_equal(s->deps[0].node, 0);
    assert_int_equal(s->first_dep[3] - s->first_dep[2], 1);
    iwt_assert_logged(&l,
                      "warning: 't.goal:4': rank 0: label 'x' is defined twice; using the first (2 in all)");
    assert_int_equal(l.warnings, 1);
    iwi_schedule_free(s);
}

static void labels_of_one_rank_are_unknown_in_the_next(void **state)
{
    (void)state;
    assert_refused("num_ranks 2\nrank 0 {\nx: calc 1\n}\nrank 1 {\ny: calc 1\ny requires x\n}\n",
                   IW_ERR_FORMAT, "'t.goal:7': rank 1: label 'x' is not defined in this rank");
}

static void ranks_without_a_block_do_nothing_with_a_warning(void **state)
{
    struct iwi_schedule *s;
    struct iwt_log l;

    (void)state;
    assert_ok(read_text(&l, "num_ranks 5\nrank 3 {\ncalc 1\n}\nrank 0 {\ncalc 1\n}\n", &s));
    iwt_assert_logged(&l, "3 of 5 ranks have no block and do nothing; the first is rank 1");
    assert_int_equal(s->first_node[1], 1);
    assert_int_equal(s->first_node[3], 1);
    assert_int_equal(s->first_node[4], 2);
    assert_int_equal(s->first_node[5], 2);
    iwi_schedule_free(s);
}

static void what_follows_the_last_block_is_ignored_with_a_warning(void **state)
{
    struct iwi_schedule *s;
    struct iwt_log l;

    (void)state;
    assert_ok(read_text(&l, "num_ranks 1\nrank 0 {\n}\nanything {{\n", &s));
    iwt_assert_logged(&l, "'t.goal:4': ignoring text after the last rank's block");
    iwi_schedule_free(s);
}

static void many_labels_in_many_blocks_are_told_apart(void **state)
{
    enum { RANKS = 3, NODES = 5000 };
    const size_t capacity = RANKS * NODES * 64;
    char *text = malloc(capacity);
    struct iwi_schedule *s;
    struct iwt_log l;
    size_t used;

    (void)state;
    assert_non_null(text);
    used = (size_t)snprintf(text, capacity, "num_ranks %d\n", RANKS);
    for (int r = 0; r < RANKS; r++) {
        used += (size_t)snprintf(text + used, capacity - used, "rank %d {\nl0: calc 0\n", r);
        for (int i = 1; i < NODES; i++) {
            used += (size_t)snprintf(text + used, capacity - used, "l%d: calc %d\nl%d requires l%d\n", i, i,
                                     i, i - 1);
        }
        used += (size_t)snprintf(text + used, capacity - used, "}\n");
    }
    assert_ok(read_blob(&l, text, used, &s));
    assert_int_equal(s->first_node[RANKS], RANKS * NODES);
    for (uint64_t n = 0; n < RANKS * NODES; n++) {
        if (n % NODES != 0) {
            assert_int_equal(s->deps[s->first_dep[n]].node, n % NODES - 1);
        }
    }
    iwi_schedule_free(s);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plain_schedule_is_kept_in_all_its_parts),
        cmocka_unit_test(minus_one_is_any_source_and_any_tag),
        cmocka_unit_test(defaults_are_zero),
        cmocka_unit_test(lines_may_end_in_crlf),
        cmocka_unit_test(blanks_are_free_around_colon_and_before_b),
        cmocka_unit_test(keywords_need_no_blanks_where_no_label_can_stand),
        cmocka_unit_test(lines_may_be_indented),
        cmocka_unit_test(comments_may_stand_between_any_tokens),
        cmocka_unit_test(a_comment_over_two_lines_does_not_end_the_statement),
        cmocka_unit_test(options_come_in_any_order),
        cmocka_unit_test(labels_may_be_used_before_they_are_defined),
        cmocka_unit_test(rank_blocks_come_in_any_order),
        cmocka_unit_test(num_ranks_may_come_last),
        cmocka_unit_test(a_block_may_stand_on_one_line),
        cmocka_unit_test(keywords_may_be_labels),
        cmocka_unit_test(a_rank_may_send_to_itself),
        cmocka_unit_test(dependencies_are_counted_per_edge_and_sorted),
        cmocka_unit_test(many_dependencies_of_one_node_are_sorted),
        cmocka_unit_test(a_repeated_label_keeps_its_first_meaning_with_a_warning),
        cmocka_unit_test(labels_of_one_rank_are_unknown_in_the_next),
        cmocka_unit_test(ranks_without_a_block_do_nothing_with_a_warning),
        cmocka_unit_test(what_follows_the_last_block_is_ignored_with_a_warning),
        cmocka_unit_test(many_labels_in_many_blocks_are_told_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
