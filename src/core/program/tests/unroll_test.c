/* Stored schedules: patterns written down in program order, and as a DAG.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/order.h"
#include "core/program/program.h"

static iw_program *make(const char *operations, const iw_pattern *pattern)
{
    iw_program *program = NULL;

    assert_ok(iw_program_from_pattern(NULL, operations, pattern, &program));
    return program;
}

static struct iwi_schedule *unroll(const char *operations, const iw_pattern *pattern)
{
    iw_program *program = make(operations, pattern);
    struct iwi_schedule *schedule = NULL;

    assert_ok(iwi_program_unroll(NULL, program, &schedule));
    iw_program_free(program);
    return schedule;
}

/* "calc 5!" (! = phase), "recv 1 8&" (& = nonblocking), "wait 0 1" with deps; "<3" is a dep on a start. */
static void describe(const struct iwi_schedule *s, uint32_t rank, char *text, size_t size)
{
    static const char *const names[] = {"", "calc", "send", "recv", "wait"};

    text[0] = '\0';
    for (uint64_t n = s->first_node[rank]; n < s->first_node[rank + 1]; n++) {
        const struct iwi_node *node = &s->nodes[n];
        size_t used = strlen(text);

        used += (size_t)snprintf(text + used, size - used, "%s", names[node->kind]);
        if (node->kind == IWI_SEND || node->kind == IWI_RECV) {
            used += (size_t)snprintf(text + used, size - used, " %u", node->peer);
        }
        if (node->kind != IWI_WAIT) {
            used += (size_t)snprintf(text + used, size - used, " %lu%s%s", (unsigned long)node->amount,
                                     (node->flags & IWI_NODE_PHASE) != 0 ? "!" : "",
                                     (node->flags & IWI_NODE_NONBLOCKING) != 0 ? "&" : "");
        }
        for (uint64_t d = s->first_dep[n]; d < s->first_dep[n + 1]; d++) {
            used += (size_t)snprintf(text + used, size - used, " %s%u", s->deps[d].is_start ? "<" : "",
                                     s->deps[d].node);
        }
        snprintf(text + used, size - used, "; ");
    }
}

static void assert_rank(const struct iwi_schedule *s, uint32_t rank, const char *expected)
{
    char text[1024];

    describe(s, rank, text, sizeof text);
    assert_string_equal(text, expected);
}

static void a_round_is_receives_sends_wait_and_work(void **state)
{
    iw_pattern p = IW_PATTERN_INIT;
    struct iwi_schedule *s;

    (void)state;
    p.ranks = 3;
    p.bytes = 8;
    p.compute_ps = 5;
    p.reduce = 1000; /* 1 ps a byte */
    s = unroll("allreduce:dissemination", &p);
    assert_true(s->is_in_order);
    assert_rank(s, 0,
                "calc 5!; recv 2 8&; send 1 8&; wait 1 2; calc 8; recv 1 8&; send 2 8&; wait 5 6; calc 8; ");
    assert_rank(s, 2,
                "calc 5!; recv 1 8&; send 0 8&; wait 1 2; calc 8; recv 0 8&; send 1 8&; wait 5 6; calc 8; ");
    iwi_schedule_free(s);
}

static void idle_ranks_and_free_reductions_leave_no_nodes(void **state)
{
    iw_pattern p = IW_PATTERN_INIT;
    struct iwi_schedule *s;

    (void)state;
    p.ranks = 3;
    p.bytes = 8;
    s = unroll("reduce:linear", &p);
    assert_rank(s, 0, "recv 2 8&; wait 0; recv 1 8&; wait 2; ");
    assert_rank(s, 1, "send 0 8&; wait 0; ");
    iwi_schedule_free(s);
}

static void each_repetition_starts_with_a_phase_where_there_are_delays(void **state)
{
    const iw_delay delay = {1, 2, 99};
    iw_pattern p = IW_PATTERN_INIT;
    struct iwi_schedule *s;

    (void)state;
    p.repeat = 2;
    p.delays = &delay;
    p.delay_count = 1;
    s = unroll("pingpong", &p);
    assert_rank(s, 0,
                "calc 0!; send 1 1&; wait 1; recv 1 1&; wait 3; "
                "calc 0!; send 1 1&; wait 6; recv 1 1&; wait 8; ");
    assert_rank(s, 1,
                "calc 0!; recv 0 1&; wait 1; send 0 1&; wait 3; "
                "calc 0!; recv 0 1&; wait 6; send 0 1&; wait 8; ");
    iwi_schedule_free(s);
}

static void a_sweep_places_its_phase_between_receives_and_sends(void **state)
{
    iw_pattern p = IW_PATTERN_INIT;
    struct iwi_schedule *s;

    (void)state;
    p.ranks = 4;
    p.compute_ps = 5;
    s = unroll("sweep2d", &p);
    assert_rank(s, 0, "calc 5!; send 1 1&; send 2 1&; wait 1 2; ");
    assert_rank(s, 1, "recv 0 1&; wait 0; calc 5!; send 3 1&; wait 3; ");
    assert_rank(s, 3, "recv 2 1&; recv 1 1&; wait 0 1; calc 5!; ");
    iwi_schedule_free(s);

    p.compute_ps = 0; /* delays and per-phase noise still find it */
    s = unroll("sweep2d", &p);
    assert_rank(s, 1, "recv 0 1&; wait 0; calc 0!; send 3 1&; wait 3; ");
    iwi_schedule_free(s);
}

static void operations_differ_in_their_tags(void **state)
{
    iw_pattern p = IW_PATTERN_INIT;
    struct iwi_schedule *s;

    (void)state;
    p.repeat = 2;
    s = unroll("ring+ring", &p);
    assert_int_equal(s->first_node[1], 12);
    for (uint64_t n = 0; n < 12; n += 3) {
        assert_int_equal(s->nodes[n].tag, n / 3);
        assert_int_equal(s->nodes[n + 1].tag, n / 3);
    }
    iwi_schedule_free(s);
}

/* ---- all algorithms: the k-th send meets the k-th receive on (source, destination, tag) ---- */

struct edge {
    uint32_t from, to, tag;
    uint64_t order, bytes;
};

static int compare_edges(const void *a, const void *b)
{
    return memcmp(a, b, offsetof(struct edge, bytes));
}

static size_t collect(const struct iwi_schedule *s, uint8_t kind, struct edge *edges)
{
    size_t count = 0;

    for (uint32_t rank = 0; rank < s->ranks; rank++) {
        for (uint64_t n = s->first_node[rank]; n < s->first_node[rank + 1]; n++) {
            const struct iwi_node *node = &s->nodes[n];

            if (node->kind == kind) {
                const bool is_send = kind == IWI_SEND;

                memset(&edges[count], 0, sizeof edges[count]);
                edges[count].from = is_send ? rank : node->peer;
                edges[count].to = is_send ? node->peer : rank;
                edges[count].tag = node->tag;
                edges[count].order = __builtin_bswap64(n);
                edges[count++].bytes = node->amount;
            }
        }
    }
    iwi_sort(edges, count, compare_edges);
    return count;
}

static void check_schedule(const char *name, const iw_pattern *pattern)
{
    iw_program *program = make(name, pattern);
    const uint64_t messages = iw_program_messages(program);
    struct edge *sends = calloc(messages + 1, sizeof *sends);
    struct edge *recvs = calloc(messages + 1, sizeof *recvs);
    struct iwi_schedule *s = NULL;

    assert_ok(iwi_program_unroll(NULL, program, &s));
    iw_program_free(program);
    assert_ok(iwi_program_from_schedule(NULL, s, &program));
    assert_int_equal(iw_program_messages(program), messages);
    assert_int_equal(collect(s, IWI_SEND, sends), messages);
    assert_int_equal(collect(s, IWI_RECV, recvs), messages);
    for (uint64_t i = 0; i < messages; i++) {
        if (sends[i].from != recvs[i].from || sends[i].to != recvs[i].to || sends[i].tag != recvs[i].tag ||
            sends[i].bytes != recvs[i].bytes) {
            fail_msg("%s P=%u: %u->%u is sent, %u->%u received", name, pattern->ranks, sends[i].from,
                     sends[i].to, recvs[i].from, recvs[i].to);
        }
    }
    free(sends);
    free(recvs);
    iw_program_free(program);
}

static void schedules_of_all_algorithms_match_in_program_order(void **state)
{
    const char *op;
    const char *algorithm;
    const char *summary;
    char name[80];

    (void)state;
    for (size_t i = 0; iw_algorithm_info(i, &op, &algorithm, &summary); i++) {
        for (uint32_t ranks = 1; ranks <= 17; ranks++) {
            iw_pattern p = IW_PATTERN_INIT;

            snprintf(name, sizeof name, "%s:%s", op, algorithm);
            p.ranks = ranks;
            p.bytes = 100;
            p.segment_bytes = 30;
            p.repeat = 2;
            p.nodes.ranks = 3;
            check_schedule(name, &p);
        }
    }
}

/* Each nonblocking operation is waited for once, by a later wait of its rank; nothing else has deps. */
static void every_request_is_completed_exactly_once(void **state)
{
    iw_pattern p = IW_PATTERN_INIT;
    struct iwi_schedule *s;

    (void)state;
    p.ranks = 13;
    p.repeat = 3;
    s = unroll("halo2d+allreduce:double-tree+alltoall", &p);
    for (uint32_t rank = 0; rank < p.ranks; rank++) {
        const uint64_t first = s->first_node[rank];
        const uint64_t count = s->first_node[rank + 1] - first;
        uint8_t *times = calloc(count, 1);

        for (uint64_t n = 0; n < count; n++) {
            const uint64_t deps = s->first_dep[first + n + 1] - s->first_dep[first + n];

            assert_true((deps > 0) == (s->nodes[first + n].kind == IWI_WAIT));
            for (uint64_t d = s->first_dep[first + n]; d < s->first_dep[first + n + 1]; d++) {
                assert_true(s->deps[d].node < n);
                times[s->deps[d].node]++;
            }
        }
        for (uint64_t n = 0; n < count; n++) {
            assert_int_equal(times[n], (s->nodes[first + n].flags & IWI_NODE_NONBLOCKING) != 0);
        }
        free(times);
    }
    iwi_schedule_free(s);
}

static void too_long_patterns_are_not_stored(void **state)
{
    iw_pattern p = IW_PATTERN_INIT;
    struct iwi_schedule *s = NULL;
    iw_program *program;
    struct iwt_log l;

    (void)state;
    iwt_log_init(&l);
    p.repeat = UINT64_C(1) << 40;
    program = make("barrier", &p);
    assert_status(iwi_program_unroll(&l.log, program, &s), IW_ERR_RANGE);
    iwt_assert_logged(&l, "too long to store: rank 0 has 3 operations");
    iw_program_free(program);
}

/* ---- DAGs ---- */

static void a_dag_chains_nodes_by_start_or_end(void **state)
{
    iw_pattern p = IW_PATTERN_INIT;
    struct iwi_schedule *s;
    struct iwi_schedule *dag = NULL;

    (void)state;
    p.ranks = 4;
    p.bytes = 8;
    p.compute_ps = 5;
    p.reduce = 1000;
    s = unroll("allreduce:recursive-doubling", &p);
    assert_ok(iwi_schedule_to_dag(NULL, s, &dag));
    assert_false(dag->is_in_order);
    assert_rank(dag, 0,
                "calc 5!; recv 1 8 0; send 1 8 <1; calc 0 1 2; calc 8 3; "
                "recv 2 8 4; send 2 8 <5; calc 0 5 6; calc 8 7; ");
    iwi_schedule_free(s);
    iwi_schedule_free(dag);
}

static void a_wait_that_does_not_complete_the_node_before_it_still_follows_it(void **state)
{
    struct iwi_schedule *s = NULL;
    struct iwi_schedule *dag = NULL;

    (void)state;
    assert_ok(iwi_schedule_new(NULL, 1, 5, 2, &s));
    s->is_in_order = true;
    s->first_node[1] = 5;
    s->nodes[0] = (struct iwi_node){.kind = IWI_RECV, .flags = IWI_NODE_NONBLOCKING};
    s->nodes[1] = (struct iwi_node){.kind = IWI_SEND, .flags = IWI_NODE_NONBLOCKING};
    s->nodes[2] = (struct iwi_node){.kind = IWI_WAIT}; /* for the receive only */
    s->nodes[3] = (struct iwi_node){.kind = IWI_CALC, .amount = 3};
    s->nodes[4] = (struct iwi_node){.kind = IWI_WAIT}; /* for the send */
    s->deps[0].node = 0;
    s->deps[1].node = 1;
    s->first_dep[3] = 1;
    s->first_dep[4] = 1;
    s->first_dep[5] = 2;
    assert_ok(iwi_schedule_to_dag(NULL, s, &dag));
    assert_rank(dag, 0, "recv 0 0; send 0 0 <0; calc 0 0 <1; calc 3 2; calc 0 1 3; ");
    iwi_schedule_free(s);
    iwi_schedule_free(dag);
}

/* ---- delays of stored schedules ---- */

static void delays_of_a_schedule_need_that_many_phases(void **state)
{
    const iw_delay good = {1, 2, 9};
    const iw_delay bad = {1, 3, 9};
    iw_pattern p = IW_PATTERN_INIT;
    iw_program *pattern;
    iw_program *program = NULL;
    struct iwt_log l;

    (void)state;
    iwt_log_init(&l);
    p.compute_ps = 4;
    p.repeat = 2;
    pattern = make("barrier", &p);
    assert_status(iw_program_set_delays(&l.log, pattern, &good, 1), IW_ERR_USAGE);
    iw_program_free(pattern);
    assert_ok(iwi_program_from_schedule(NULL, unroll("barrier", &p), &program));
    assert_ok(iw_program_set_delays(&l.log, program, &good, 1));
    assert_status(iw_program_set_delays(&l.log, program, &bad, 1), IW_ERR_RANGE);
    iwt_assert_logged(&l, "step 3, but the rank has only 2 calcs");
    assert_int_equal(iwi_program_delay(program, 1, 2), 9);
    iw_program_free(program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_round_is_receives_sends_wait_and_work),
        cmocka_unit_test(idle_ranks_and_free_reductions_leave_no_nodes),
        cmocka_unit_test(each_repetition_starts_with_a_phase_where_there_are_delays),
        cmocka_unit_test(a_sweep_places_its_phase_between_receives_and_sends),
        cmocka_unit_test(operations_differ_in_their_tags),
        cmocka_unit_test(schedules_of_all_algorithms_match_in_program_order),
        cmocka_unit_test(every_request_is_completed_exactly_once),
        cmocka_unit_test(too_long_patterns_are_not_stored),
        cmocka_unit_test(a_dag_chains_nodes_by_start_or_end),
        cmocka_unit_test(a_wait_that_does_not_complete_the_node_before_it_still_follows_it),
        cmocka_unit_test(delays_of_a_schedule_need_that_many_phases),
    };

    return cmocka_run_group_tests_name("unroll", tests, NULL, NULL);
}
