/* Rounds, messages and bytes of each algorithm against the formulas of the literature.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "rounds_support.h"

#include <inttypes.h>
#include <stdio.h>

/* P ranks of n bytes each; `low` = floor(log2 P), `high` = ceil(log2 P), 2^low + rest = P. */
struct size {
    uint64_t p, n, low, high, core, rest;
    uint64_t bits; /* set bits of all numbers below P */
};

struct expectation {
    const char *name;
    uint64_t (*rounds)(struct size s);
    uint64_t (*messages)(struct size s);
    uint64_t (*bytes)(struct size s);   /* of all messages together */
    uint64_t (*reduced)(struct size s); /* bytes combined on all ranks together; NULL: none */
};

#define FORMULA(name, value)            \
    static uint64_t name(struct size s) \
    {                                   \
        return (value) + 0 * s.p;       \
    }

FORMULA(log_rounds, s.high)
FORMULA(two_log_rounds, 2 * s.high)
FORMULA(folded_rounds, s.low + (s.rest > 0 ? 2 : 0))
FORMULA(folded_twice_rounds, 2 * s.low + (s.rest > 0 ? 2 : 0))
FORMULA(folded_once_rounds, 2 * s.low + (s.rest > 0))
FORMULA(others, s.p - 1)
FORMULA(twice_others, 2 * (s.p - 1))
FORMULA(one_if_many, s.p > 1)
FORMULA(two_if_many, s.p > 1 ? 2 : 0)
FORMULA(each_if_many, s.p > 1 ? s.p : 0)
FORMULA(binary_rounds, s.p > 1 ? 2 * s.low - (2 * s.rest < s.core) : 0)
FORMULA(double_tree_rounds, s.p > 1 ? 4 * s.high : 0)

FORMULA(log_messages, s.p *s.high)
FORMULA(folded_messages, s.core *s.low + 2 * s.rest)
FORMULA(folded_twice_messages, 2 * s.core * s.low + 2 * s.rest)
FORMULA(folded_once_messages, s.core *s.low + s.rest + s.core - 1)
FORMULA(all_pairs, s.p *(s.p - 1))
FORMULA(twice_all_pairs, 2 * s.p * (s.p - 1))
FORMULA(four_times_others, 4 * (s.p - 1))
FORMULA(even_ranks, s.p / 2 * 2)
FORMULA(scan_messages, 2 * s.bits)

FORMULA(log_ones, s.p *s.high)
FORMULA(folded_ones, s.core *s.low + 2 * s.rest)
FORMULA(log_vectors, s.p *s.high *s.n)
FORMULA(other_vectors, (s.p - 1) * s.n)
FORMULA(twice_other_vectors, 2 * (s.p - 1) * s.n)
FORMULA(folded_vectors, (s.core * s.low + 2 * s.rest) * s.n)
FORMULA(folded_sums, (s.core * s.low + s.rest) * s.n)
/* each half-exchange of the core halves the vector: (core - 1) vectors per sweep over all ranks */
FORMULA(rabenseifner_vectors, (2 * (s.core - 1) + 2 * s.rest) * s.n)
FORMULA(rabenseifner_reduce_vectors, (s.core - 1 + s.rest) * s.n + s.n / 2 * s.low)
FORMULA(rabenseifner_sums, (s.core - 1 + s.rest) * s.n)
FORMULA(every_block_everywhere, s.p *(s.p - 1) * s.n)
FORMULA(blocks_by_bits, s.bits *s.n)
FORMULA(p_blocks_by_bits, s.p *s.bits *s.n)
/* folding moves whole vectors of P blocks; the core then halves them; each extra gets its block */
FORMULA(halving_bytes, (s.rest * s.p + (s.core - 1) * s.p + s.rest) * s.n)
FORMULA(halving_sums, (s.rest + s.core - 1) * s.p * s.n)
FORMULA(scan_vectors, 2 * s.bits * s.n)
FORMULA(scan_sums, 3 * s.bits * s.n)
FORMULA(exscan_sums, (3 * s.bits - (s.p - 1)) * s.n)
FORMULA(linear_exscan_sums, s.p > 1 ? (s.p - 2) * s.n : 0)
FORMULA(each_vector, s.p > 1 ? s.p * s.n : 0)
FORMULA(even_vectors, s.p / 2 * 2 * s.n)

static const struct expectation expectations[] = {
    {"barrier:dissemination", log_rounds, log_messages, log_ones, NULL},
    {"barrier:recursive-doubling", folded_rounds, folded_messages, folded_ones, NULL},
    {"barrier:tree", two_log_rounds, twice_others, twice_others, NULL},
    {"barrier:linear", twice_others, twice_others, twice_others, NULL},
    {"bcast:binomial", log_rounds, others, other_vectors, NULL},
    {"bcast:binary", binary_rounds, others, other_vectors, NULL},
    {"bcast:chain", others, others, other_vectors, NULL},
    {"bcast:linear", others, others, other_vectors, NULL},
    {"reduce:binomial", log_rounds, others, other_vectors, other_vectors},
    {"reduce:binary", binary_rounds, others, other_vectors, other_vectors},
    {"reduce:chain", others, others, other_vectors, other_vectors},
    {"reduce:linear", others, others, other_vectors, other_vectors},
    {"reduce:rabenseifner", folded_once_rounds, folded_once_messages, rabenseifner_reduce_vectors,
     rabenseifner_sums},
    {"allreduce:recursive-doubling", folded_rounds, folded_messages, folded_vectors, folded_sums},
    {"allreduce:dissemination", log_rounds, log_messages, log_vectors, log_vectors},
    {"allreduce:ring", twice_others, twice_all_pairs, twice_other_vectors, other_vectors},
    {"allreduce:rabenseifner", folded_twice_rounds, folded_twice_messages, rabenseifner_vectors,
     rabenseifner_sums},
    {"allreduce:reduce-bcast", two_log_rounds, twice_others, twice_other_vectors, other_vectors},
    {"allreduce:double-tree", double_tree_rounds, four_times_others, twice_other_vectors, other_vectors},
    {"gather:binomial", log_rounds, others, blocks_by_bits, NULL},
    {"gather:linear", others, others, other_vectors, NULL},
    {"scatter:binomial", log_rounds, others, blocks_by_bits, NULL},
    {"scatter:linear", others, others, other_vectors, NULL},
    {"allgather:bruck", log_rounds, log_messages, every_block_everywhere, NULL},
    {"allgather:recursive-doubling", log_rounds, log_messages, every_block_everywhere, NULL},
    {"allgather:ring", others, all_pairs, every_block_everywhere, NULL},
    {"alltoall:linear", one_if_many, all_pairs, every_block_everywhere, NULL},
    {"alltoall:pairwise", others, all_pairs, every_block_everywhere, NULL},
    {"alltoall:bruck", log_rounds, log_messages, p_blocks_by_bits, NULL},
    {"reduce_scatter:recursive-halving", folded_rounds, folded_messages, halving_bytes, halving_sums},
    {"reduce_scatter:ring", others, all_pairs, every_block_everywhere, every_block_everywhere},
    {"reduce_scatter:pairwise", others, all_pairs, every_block_everywhere, every_block_everywhere},
    {"scan:recursive-doubling", log_rounds, scan_messages, scan_vectors, scan_sums},
    {"scan:linear", others, others, other_vectors, other_vectors},
    {"exscan:recursive-doubling", log_rounds, scan_messages, scan_vectors, exscan_sums},
    {"exscan:linear", others, others, other_vectors, linear_exscan_sums},
    {"pingpong:pairs", two_if_many, even_ranks, even_vectors, NULL},
    {"ring:shift", one_if_many, each_if_many, each_vector, NULL},
    {"ring:token", each_if_many, each_if_many, each_vector, NULL},
};

static struct size size_of(uint32_t ranks, uint64_t bytes)
{
    struct size s = {.p = ranks, .n = bytes};

    while (ranks >> (s.low + 1) != 0) {
        s.low++;
    }
    s.core = UINT64_C(1) << s.low;
    s.rest = ranks - s.core;
    s.high = s.low + (s.rest > 0);
    for (uint32_t r = 0; r < ranks; r++) {
        s.bits += (uint64_t)__builtin_popcount(r);
    }
    return s;
}

static void compare(const char *name, uint32_t ranks, const char *what, uint64_t found, uint64_t expected)
{
    if (found != expected) {
        fail_msg("%s P=%u: %s %" PRIu64 ", not %" PRIu64, name, ranks, what, found, expected);
    }
}

static void check_volume(const struct expectation *e, uint32_t ranks)
{
    iw_pattern pattern = IW_PATTERN_INIT;
    const struct iwi_operation *op;
    iw_program *program;
    struct iwt_round *r;
    struct size s;
    uint64_t bytes = 0;
    uint64_t reduced = 0;

    pattern.ranks = ranks;
    pattern.root = ranks / 2;
    pattern.bytes = UINT64_C(128) * ranks; /* so that all blocks are equal */
    s = size_of(ranks, pattern.bytes);
    program = iwt_make(e->name, &pattern, &op);
    r = iwt_round_new(op);
    for (uint64_t index = 0; index < op->algorithm->round_count(op); index++) {
        iwt_round_fill(r, op, index);
        for (uint32_t rank = 0; rank < ranks; rank++) {
            reduced += r->parts[rank].reduce_bytes;
            for (uint32_t i = 0; i < r->parts[rank].send_count; i++) {
                bytes += r->parts[rank].sends[i].bytes;
            }
        }
    }
    compare(e->name, ranks, "rounds", op->algorithm->round_count(op), e->rounds(s));
    compare(e->name, ranks, "messages", iw_program_messages(program), e->messages(s));
    compare(e->name, ranks, "bytes", bytes, e->bytes(s));
    compare(e->name, ranks, "reduced bytes", reduced, e->reduced == NULL ? 0 : e->reduced(s));
    iwt_round_free(r);
    iw_program_free(program);
}

static void rounds_messages_and_bytes_follow_the_formulas(void **state)
{
    (void)state;
    for (size_t e = 0; e < sizeof expectations / sizeof expectations[0]; e++) {
        for (size_t p = 0; iwt_rank_counts[p] != 0; p++) {
            check_volume(&expectations[e], iwt_rank_counts[p]);
        }
    }
}

/* Each rank passes 2 (P - 1) / P of the data on: what makes rings attractive for long vectors. */
static void a_ring_allreduce_sends_no_more_than_twice_the_data(void **state)
{
    iw_pattern pattern = IW_PATTERN_INIT;
    const struct iwi_operation *op;
    iw_program *program;
    struct iwt_round *r;
    uint64_t bytes[10] = {0};

    (void)state;
    pattern.ranks = 10;
    pattern.bytes = 1000;
    program = iwt_make("allreduce:ring", &pattern, &op);
    r = iwt_round_new(op);
    for (uint64_t index = 0; index < 18; index++) {
        iwt_round_fill(r, op, index);
        for (uint32_t rank = 0; rank < 10; rank++) {
            bytes[rank] += r->parts[rank].sends[0].bytes;
        }
    }
    for (uint32_t rank = 0; rank < 10; rank++) {
        assert_int_equal(bytes[rank], 1800);
    }
    iwt_round_free(r);
    iw_program_free(program);
}

static void repetitions_and_operations_multiply_messages(void **state)
{
    iw_pattern pattern = IW_PATTERN_INIT;
    const struct iwi_operation *op;
    iw_program *program;

    (void)state;
    pattern.ranks = 1 << 20;
    pattern.repeat = 1000;
    program = iwt_make("barrier+bcast", &pattern, &op);
    assert_int_equal(iw_program_messages(program), UINT64_C(1000) * ((UINT64_C(20) << 20) + (1 << 20) - 1));
    iw_program_free(program);
}

static void linear_gathers_of_a_million_ranks_touch_two_ranks_a_round(void **state)
{
    iw_pattern pattern = IW_PATTERN_INIT;
    const struct iwi_operation *op;
    struct iwi_round round;
    iw_program *program;

    (void)state;
    pattern.ranks = 1 << 20;
    program = iwt_make("gather:linear", &pattern, &op);
    assert_int_equal(op->algorithm->round_count(op), (1 << 20) - 1);
    op->algorithm->round(op, 77777, &round);
    assert_int_equal(round.range_count, 1);
    assert_int_equal(round.active[0].count, 2);
    assert_int_equal(iwi_range_rank(&round.active[0], pattern.ranks, 1), 77778);
    iw_program_free(program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounds_messages_and_bytes_follow_the_formulas),
        cmocka_unit_test(a_ring_allreduce_sends_no_more_than_twice_the_data),
        cmocka_unit_test(repetitions_and_operations_multiply_messages),
        cmocka_unit_test(linear_gathers_of_a_million_ranks_touch_two_ranks_a_round),
    };

    return cmocka_run_group_tests_name("volume", tests, NULL, NULL);
}
