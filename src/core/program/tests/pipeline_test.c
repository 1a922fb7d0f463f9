/* Symbolic execution of scans, and of what pipelining does to the trees.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "rounds_support.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- scans: a partial result that travels, and the prefix that stays ---- */

struct scan_run {
    const struct iwi_operation *op;
    bool is_exclusive, is_linear;
    uint64_t round;
    uint8_t (*partial)[129], (*before)[129], (*prefix)[129];
};

static void scan_deliver(void *arg, uint64_t round, uint32_t from, uint32_t to, uint64_t bytes,
                         bool is_reduced)
{
    struct scan_run *run = arg;

    (void)is_reduced;
    assert_int_equal(bytes, run->op->bytes);
    if (round != run->round) {
        memcpy(run->before, run->partial, 129 * sizeof *run->before);
        run->round = round;
    }
    for (uint32_t c = 0; c < run->op->ranks; c++) {
        run->partial[to][c] = (uint8_t)(run->partial[to][c] + run->before[from][c]);
        run->prefix[to][c] = (uint8_t)(run->prefix[to][c] + (from < to ? run->before[from][c] : 0));
    }
}

static void prove_scan(const char *name, uint32_t ranks, bool is_exclusive)
{
    iw_pattern pattern = IW_PATTERN_INIT;
    struct scan_run run = {.is_exclusive = is_exclusive, .round = UINT64_MAX};
    iw_program *program;

    pattern.ranks = ranks;
    pattern.bytes = 24;
    program = iwt_make(name, &pattern, &run.op);
    run.partial = calloc(129, sizeof *run.partial);
    run.before = calloc(129, sizeof *run.before);
    run.prefix = calloc(129, sizeof *run.prefix);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        run.partial[rank][rank] = 1;
        run.prefix[rank][rank] = !is_exclusive;
    }
    iwt_for_messages(run.op, scan_deliver, &run);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        for (uint32_t c = 0; c < ranks; c++) {
            if (run.prefix[rank][c] != (is_exclusive ? c < rank : c <= rank)) {
                fail_msg("%s P=%u: rank %u has rank %u %u times", name, ranks, rank, c, run.prefix[rank][c]);
            }
        }
    }
    free(run.partial);
    free(run.before);
    free(run.prefix);
    iw_program_free(program);
}

static void scans_give_each_rank_its_prefix(void **state)
{
    (void)state;
    for (size_t p = 0; iwt_rank_counts[p] != 0; p++) {
        prove_scan("scan:recursive-doubling", iwt_rank_counts[p], false);
        prove_scan("scan:linear", iwt_rank_counts[p], false);
        prove_scan("exscan:recursive-doubling", iwt_rank_counts[p], true);
        prove_scan("exscan:linear", iwt_rank_counts[p], true);
    }
}

/* ---- pipelining: segment s does what the whole did, some rounds later ---- */

struct traffic {
    uint32_t ranks;
    uint64_t rounds;
    uint32_t *count; /* [round][from][to] */
    uint64_t bytes;
};

static void note_message(void *arg, uint64_t round, uint32_t from, uint32_t to, uint64_t bytes,
                         bool is_reduced)
{
    struct traffic *traffic = arg;

    (void)is_reduced;
    traffic->count[(round * traffic->ranks + from) * traffic->ranks + to]++;
    traffic->bytes += bytes;
}

static struct traffic record_traffic(const char *name, uint32_t ranks, iw_nodes nodes, uint64_t bytes,
                                     uint64_t segment_bytes)
{
    iw_pattern pattern = IW_PATTERN_INIT;
    struct traffic traffic = {.ranks = ranks};
    const struct iwi_operation *op;
    iw_program *program;

    pattern.ranks = ranks;
    pattern.nodes = nodes;
    pattern.root = ranks / 2;
    pattern.bytes = bytes;
    pattern.segment_bytes = segment_bytes;
    program = iwt_make(name, &pattern, &op);
    traffic.rounds = op->algorithm->round_count(op);
    traffic.count = calloc(traffic.rounds * ranks * ranks + 1, sizeof *traffic.count);
    iwt_for_messages(op, note_message, &traffic);
    iw_program_free(program);
    return traffic;
}

/* `apart`: rounds between two segments; `bytes` makes `segments` of them in each tree. */
static void check_node_pipeline(const char *name, uint32_t ranks, iw_nodes nodes, uint64_t apart,
                                uint64_t bytes, uint64_t segment_bytes, uint64_t segments)
{
    struct traffic whole = record_traffic(name, ranks, nodes, bytes, 0);
    struct traffic cut = record_traffic(name, ranks, nodes, bytes, segment_bytes);
    const uint64_t pairs = (uint64_t)ranks * ranks;

    assert_int_equal(cut.bytes, whole.bytes);
    assert_int_equal(cut.rounds, ranks > 1 ? whole.rounds + apart * (segments - 1) : 0);
    for (uint64_t round = 0; round < cut.rounds; round++) {
        for (uint64_t pair = 0; pair < pairs; pair++) {
            uint32_t expected = 0;

            for (uint64_t s = 0; s < segments && apart * s <= round; s++) {
                expected +=
                    round - apart * s < whole.rounds ? whole.count[(round - apart * s) * pairs + pair] : 0;
            }
            if (cut.count[round * pairs + pair] != expected) {
                fail_msg("%s P=%u nodes of %u round %" PRIu64, name, ranks, nodes.ranks, round);
            }
        }
    }
    free(whole.count);
    free(cut.count);
}

static void check_pipeline(const char *name, uint32_t ranks, uint64_t apart, uint64_t bytes,
                           uint64_t segment_bytes, uint64_t segments)
{
    check_node_pipeline(name, ranks, (iw_nodes){.ranks = 0}, apart, bytes, segment_bytes, segments);
}

static void segments_follow_each_other_through_the_pipeline(void **state)
{
    (void)state;
    for (uint32_t ranks = 1; ranks <= 34; ranks++) {
        check_pipeline("bcast:chain", ranks, 1, 45, 10, 5);
        check_pipeline("reduce:chain", ranks, 1, 45, 10, 5);
        check_pipeline("bcast:binary", ranks, 2, 45, 10, 5);
        check_pipeline("reduce:binary", ranks, 2, 45, 10, 5);
        check_pipeline("allreduce:double-tree", ranks, 2, 91, 10, 5);
    }
}

static uint32_t ceil_log2(uint32_t n)
{
    uint32_t rounds = 0;

    while (UINT32_C(1) << rounds < n) {
        rounds++;
    }
    return rounds;
}

/* han: as many rounds apart as the longer of the trees inside a node and over the leaders has. What a whole
 * message does is proven by nodes_test. */
static void segments_follow_each_other_through_nodes(void **state)
{
    static const char *const han[] = {"bcast:han", "reduce:han", "allreduce:han"};

    (void)state;
    for (uint32_t ranks = 2; ranks <= 41; ranks += 3) {
        for (uint32_t seats = 1; seats <= 9; seats++) {
            for (int p = 0; p < 2; p++) {
                const iw_nodes nodes = {.ranks = seats,
                                        .placement = p == 0 ? IW_PLACEMENT_BLOCK : IW_PLACEMENT_ROUND_ROBIN};
                const uint32_t count = (ranks + seats - 1) / seats;
                const uint32_t largest = p == 0 && seats < ranks ? seats : (ranks + count - 1) / count;
                const uint32_t inside = ceil_log2(largest), across = ceil_log2(count);

                for (size_t i = 0; i < 3; i++) {
                    check_node_pipeline(han[i], ranks, nodes, inside > across ? inside : across, 45, 10, 5);
                }
                check_node_pipeline("allreduce:node-double-tree", ranks, nodes, 1, 91, 10, 5);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scans_give_each_rank_its_prefix),
        cmocka_unit_test(segments_follow_each_other_through_the_pipeline),
        cmocka_unit_test(segments_follow_each_other_through_nodes),
    };

    return cmocka_run_group_tests_name("pipeline", tests, NULL, NULL);
}
