/* Which items each message of a collective carries, by the textbook.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "node_models.h"

static uint32_t mod(int64_t a, uint32_t n)
{
    return (uint32_t)(((a % (int64_t)n) + (int64_t)n) % (int64_t)n);
}

static uint32_t floor_log2(uint32_t n)
{
    uint32_t k = 0;

    while (n >> (k + 1) != 0) {
        k++;
    }
    return k;
}

static uint32_t ceil_log2(uint32_t n)
{
    return floor_log2(n) + ((n & (n - 1)) != 0);
}

static uint32_t one_item(const struct iwi_operation *op)
{
    (void)op;
    return 1;
}

uint32_t iwt_item_per_rank(const struct iwi_operation *op)
{
    return op->ranks;
}

uint32_t iwt_item_per_pair(const struct iwi_operation *op)
{
    return op->ranks * op->ranks;
}

static uint32_t item_per_core_rank(const struct iwi_operation *op)
{
    return UINT32_C(1) << floor_log2(op->ranks);
}

/* the first (bytes mod n) items are one byte larger */
static uint64_t even_share(const struct iwi_operation *op, uint32_t n, uint32_t item)
{
    return op->bytes / n + (item < op->bytes % n);
}

static uint64_t share_of_rank(const struct iwi_operation *op, uint32_t item)
{
    return even_share(op, op->ranks, item);
}

static uint64_t share_of_core(const struct iwi_operation *op, uint32_t item)
{
    return even_share(op, item_per_core_rank(op), item);
}

static bool ring_allreduce(const struct iwi_operation *op, uint64_t round, uint32_t from, uint32_t to,
                           uint32_t item, uint64_t bytes)
{
    const int64_t half = (int64_t)op->ranks - 1;
    const int64_t step = (int64_t)round < half ? (int64_t)round : (int64_t)round - half - 1;

    (void)to;
    (void)bytes;
    return item == mod((int64_t)from - step, op->ranks);
}

/* Number of a rank among those that remain after folding, one of each pair. */
static uint32_t core_number(uint32_t ranks, uint32_t v)
{
    const uint32_t extras = ranks - (UINT32_C(1) << floor_log2(ranks));

    return v < 2 * extras ? v / 2 : v - extras;
}

/* After `bits` halvings core rank c works on the items whose leading bits are c's trailing bits, reversed. */
static bool is_in_half(uint32_t steps, uint32_t c, uint32_t item, uint32_t bits)
{
    for (uint32_t j = 0; j < bits; j++) {
        if ((c >> j & 1) != (item >> (steps - 1 - j) & 1)) {
            return false;
        }
    }
    return true;
}

static bool rabenseifner(const struct iwi_operation *op, uint64_t round, uint32_t from_v, uint32_t to_v,
                         uint32_t item)
{
    const uint32_t steps = floor_log2(op->ranks);
    const bool is_folded = op->ranks != UINT32_C(1) << steps;
    const uint32_t from = core_number(op->ranks, from_v);
    const uint32_t to = core_number(op->ranks, to_v);
    const uint32_t step = (uint32_t)round - is_folded;

    if ((is_folded && round == 0) || step >= 2 * steps) {
        return true;
    }
    if (step < steps) {
        return is_in_half(steps, to, item, step + 1);
    }
    return is_in_half(steps, from, item, 2 * steps - step);
}

bool iwt_rabenseifner_allreduce(const struct iwi_operation *op, uint64_t round, uint32_t from, uint32_t to,
                                uint32_t item, uint64_t bytes)
{
    (void)bytes;
    return rabenseifner(op, round, from, to, item);
}

bool iwt_rabenseifner_reduce(const struct iwi_operation *op, uint64_t round, uint32_t from, uint32_t to,
                             uint32_t item, uint64_t bytes)
{
    (void)bytes;
    return rabenseifner(op, round, mod((int64_t)from - op->root, op->ranks),
                        mod((int64_t)to - op->root, op->ranks), item);
}

/* item 0: first tree's half, item 1: the second's; odd sizes tell them apart */
static uint32_t two_items(const struct iwi_operation *op)
{
    (void)op;
    return 2;
}

static uint64_t half_bytes(const struct iwi_operation *op, uint32_t item)
{
    return item == 0 ? op->bytes - op->bytes / 2 : op->bytes / 2;
}

static bool double_tree(const struct iwi_operation *op, uint64_t round, uint32_t from, uint32_t to,
                        uint32_t item, uint64_t bytes)
{
    (void)round;
    (void)from;
    (void)to;
    return bytes == half_bytes(op, item);
}

/* All segments in one: the way down begins when the way up has ended. */
static bool is_way_up(const struct iwi_operation *op, uint64_t round)
{
    return round / 2 < ceil_log2(op->ranks);
}

static bool halving(const struct iwi_operation *op, uint64_t round, uint32_t from, uint32_t to, uint32_t item,
                    uint64_t bytes)
{
    const uint32_t steps = floor_log2(op->ranks);
    const bool is_folded = op->ranks != UINT32_C(1) << steps;
    const uint32_t step = (uint32_t)round - is_folded;

    (void)from;
    (void)bytes;
    if (is_folded && round == 0) {
        return true;
    }
    if (step >= steps) {
        return item == to;
    }
    return core_number(op->ranks, item) >> (steps - 1 - step) ==
           core_number(op->ranks, to) >> (steps - 1 - step);
}

static bool ring_reduce_scatter(const struct iwi_operation *op, uint64_t round, uint32_t from, uint32_t to,
                                uint32_t item, uint64_t bytes)
{
    (void)to;
    (void)bytes;
    return item == mod((int64_t)from - 1 - (int64_t)round, op->ranks);
}

static bool receivers_item(const struct iwi_operation *op, uint64_t round, uint32_t from, uint32_t to,
                           uint32_t item, uint64_t bytes)
{
    (void)op;
    (void)round;
    (void)from;
    (void)bytes;
    return item == to;
}

static bool senders_item(const struct iwi_operation *op, uint64_t round, uint32_t from, uint32_t to,
                         uint32_t item, uint64_t bytes)
{
    (void)op;
    (void)round;
    (void)to;
    (void)bytes;
    return item == from;
}

static bool ring_allgather(const struct iwi_operation *op, uint64_t round, uint32_t from, uint32_t to,
                           uint32_t item, uint64_t bytes)
{
    (void)to;
    (void)bytes;
    return item == mod((int64_t)from - (int64_t)round, op->ranks);
}

static bool bruck_allgather(const struct iwi_operation *op, uint64_t round, uint32_t from, uint32_t to,
                            uint32_t item, uint64_t bytes)
{
    const uint32_t ahead = mod((int64_t)item - from, op->ranks);

    (void)to;
    (void)bytes;
    return ahead < 1U << round && ahead < op->ranks - (1U << round);
}

static bool doubling_allgather(const struct iwi_operation *op, uint64_t round, uint32_t from, uint32_t to,
                               uint32_t item, uint64_t bytes)
{
    if ((op->ranks & (op->ranks - 1)) != 0) {
        return bruck_allgather(op, round, from, to, item, bytes);
    }
    return item >> round == from >> round;
}

static bool pair_direct(const struct iwi_operation *op, uint64_t round, uint32_t from, uint32_t to,
                        uint32_t item, uint64_t bytes)
{
    (void)round;
    (void)bytes;
    return item == from * op->ranks + to;
}

/* The item of a pair travels by the set bits of its distance, lowest first. */
static bool bruck_alltoall(const struct iwi_operation *op, uint64_t round, uint32_t from, uint32_t to,
                           uint32_t item, uint64_t bytes)
{
    const uint32_t source = item / op->ranks;
    const uint32_t distance = mod((int64_t)(item % op->ranks) - source, op->ranks);
    const uint32_t gone = distance & ((1U << round) - 1);

    (void)to;
    (void)bytes;
    return (distance >> round & 1) != 0 && mod((int64_t)source + gone, op->ranks) == from;
}

/* Items of the 2^k virtual ranks from `child` on. */
static bool is_below(const struct iwi_operation *op, uint32_t child, uint32_t item, uint32_t k)
{
    const uint32_t v = mod((int64_t)child - op->root, op->ranks);
    const uint32_t w = mod((int64_t)item - op->root, op->ranks);

    return w >= v && w < v + (1U << k);
}

static bool binomial_gather(const struct iwi_operation *op, uint64_t round, uint32_t from, uint32_t to,
                            uint32_t item, uint64_t bytes)
{
    (void)to;
    (void)bytes;
    return is_below(op, from, item, (uint32_t)round);
}

static bool binomial_scatter(const struct iwi_operation *op, uint64_t round, uint32_t from, uint32_t to,
                             uint32_t item, uint64_t bytes)
{
    (void)from;
    (void)bytes;
    return is_below(op, to, item, ceil_log2(op->ranks) - 1 - (uint32_t)round);
}

/* Items of scatter-allgather are numbered by the rank that the scatter brings them to. */
static uint64_t ceiling_share(const struct iwi_operation *op, uint32_t item)
{
    const uint64_t size = (op->bytes + op->ranks - 1) / op->ranks;
    const uint64_t start = size * mod((int64_t)item - op->root, op->ranks);

    return start >= op->bytes ? 0 : (op->bytes - start < size ? op->bytes - start : size);
}

bool iwt_scatter_allgather(const struct iwi_operation *op, uint64_t round, uint32_t from, uint32_t to,
                           uint32_t item, uint64_t bytes)
{
    const uint32_t scatter_rounds = ceil_log2(op->ranks);
    const uint32_t step = (uint32_t)round - scatter_rounds;

    if (round < scatter_rounds) {
        return binomial_scatter(op, round, from, to, item, bytes);
    }
    if ((op->ranks & (op->ranks - 1)) == 0 && op->bytes <= 524288) {
        return mod((int64_t)item - op->root, op->ranks) >> step ==
               mod((int64_t)from - op->root, op->ranks) >> step;
    }
    return item == mod((int64_t)from - step, op->ranks);
}

const struct iwt_model iwt_models[] = {
    {.name = "barrier:dissemination", .items = one_item, .is_union = true},
    {.name = "barrier:recursive-doubling", .items = one_item, .is_union = true},
    {.name = "barrier:tree", .items = one_item, .is_union = true},
    {.name = "barrier:linear", .items = one_item, .is_union = true},
    {.name = "barrier:two-level", .items = one_item, .is_union = true},
    {.name = "bcast:binomial", .items = one_item},
    {.name = "bcast:binary", .items = one_item},
    {.name = "bcast:chain", .items = one_item},
    {.name = "bcast:linear", .items = one_item},
    {.name = "bcast:two-level", .items = one_item},
    {.name = "bcast:han", .items = one_item},
    {.name = "bcast:scatter-allgather",
     .items = iwt_item_per_rank,
     .carries = iwt_scatter_allgather,
     .item_bytes = ceiling_share},
    {.name = "reduce:binomial", .items = one_item},
    {.name = "reduce:binary", .items = one_item},
    {.name = "reduce:chain", .items = one_item},
    {.name = "reduce:linear", .items = one_item},
    {.name = "reduce:two-level", .items = one_item},
    {.name = "reduce:han", .items = one_item},
    {.name = "reduce:rabenseifner",
     .items = item_per_core_rank,
     .carries = iwt_rabenseifner_reduce,
     .item_bytes = share_of_core},
    {.name = "allreduce:recursive-doubling", .items = one_item},
    {.name = "allreduce:dissemination", .items = one_item},
    {.name = "allreduce:reduce-bcast", .items = one_item},
    {.name = "allreduce:two-level", .items = one_item},
    {.name = "allreduce:han", .items = one_item},
    {.name = "allreduce:node-rings",
     .items = iwt_item_per_ring_block,
     .carries = iwt_node_rings,
     .item_bytes = iwt_ring_block_bytes,
     .is_apart = true},
    {.name = "allreduce:node-double-tree",
     .items = two_items,
     .carries = double_tree,
     .item_bytes = half_bytes,
     .is_reduced = iwt_node_tree_is_up},
    {.name = "allreduce:nvls",
     .items = iwt_item_per_part_half,
     .carries = iwt_nvls,
     .item_bytes = iwt_part_half_bytes,
     .is_apart = true,
     .is_reduced = iwt_nvls_is_up},
    {.name = "allreduce:ring",
     .items = iwt_item_per_rank,
     .carries = ring_allreduce,
     .item_bytes = share_of_rank},
    {.name = "allreduce:rabenseifner",
     .items = item_per_core_rank,
     .carries = iwt_rabenseifner_allreduce,
     .item_bytes = share_of_core},
    {.name = "allreduce:double-tree",
     .items = two_items,
     .carries = double_tree,
     .item_bytes = half_bytes,
     .is_reduced = is_way_up},
    {.name = "gather:binomial", .items = iwt_item_per_rank, .carries = binomial_gather},
    {.name = "gather:linear", .items = iwt_item_per_rank, .carries = senders_item},
    {.name = "scatter:binomial", .items = iwt_item_per_rank, .carries = binomial_scatter},
    {.name = "scatter:linear", .items = iwt_item_per_rank, .carries = receivers_item},
    {.name = "allgather:bruck", .items = iwt_item_per_rank, .carries = bruck_allgather},
    {.name = "allgather:recursive-doubling", .items = iwt_item_per_rank, .carries = doubling_allgather},
    {.name = "allgather:ring", .items = iwt_item_per_rank, .carries = ring_allgather},
    {.name = "allgather:two-level", .items = iwt_item_per_rank, .carries = iwt_two_level_allgather},
    {.name = "alltoall:linear", .items = iwt_item_per_pair, .carries = pair_direct},
    {.name = "alltoall:pairwise", .items = iwt_item_per_pair, .carries = pair_direct},
    {.name = "alltoall:bruck", .items = iwt_item_per_pair, .carries = bruck_alltoall},
    {.name = "alltoall:two-level", .items = iwt_item_per_pair, .carries = iwt_two_level_alltoall},
    {.name = "reduce_scatter:recursive-halving", .items = iwt_item_per_rank, .carries = halving},
    {.name = "reduce_scatter:ring", .items = iwt_item_per_rank, .carries = ring_reduce_scatter},
    {.name = "reduce_scatter:pairwise", .items = iwt_item_per_rank, .carries = receivers_item},
    {.name = NULL},
};
