/* Small pieces that the algorithms share: logarithms, rounds, parts, blocks of data.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef IWI_ROUNDS_H
#define IWI_ROUNDS_H

#include <assert.h>

#include "core/program/collectives/list.h"
#include "core/program/program.h"

/* ---- numbers; n >= 1 ---- */

static inline uint32_t iwi_floor_log2(uint32_t n)
{
    return 31U - (uint32_t)__builtin_clz(n);
}

static inline uint32_t iwi_ceil_log2(uint32_t n)
{
    assert(n > 0);
    return n > 1 ? iwi_floor_log2(n - 1) + 1 : 0;
}

static inline bool iwi_is_power_of_two(uint32_t n)
{
    return (n & (n - 1)) == 0;
}

/* Ranks are numbered from the root on in rooted operations. */
static inline uint32_t iwi_rank_of_virtual(uint32_t ranks, uint32_t root, uint32_t virtual_rank)
{
    return (uint32_t)(((uint64_t)virtual_rank + root) % ranks);
}

static inline uint32_t iwi_virtual_of_rank(uint32_t ranks, uint32_t root, uint32_t rank)
{
    return rank >= root ? rank - root : rank + (ranks - root);
}

/* How many of the numbers in [0, n) have bit k set. */
static inline uint32_t iwi_count_with_bit(uint32_t n, uint32_t k)
{
    const uint32_t bit = UINT32_C(1) << k;
    const uint32_t rest = n & (2 * bit - 1);

    return (n - rest) / 2 + (rest > bit ? rest - bit : 0);
}

/* ---- data cut into `parts` blocks, the first (bytes mod parts) of them one byte larger ---- */

static inline uint64_t iwi_block_start(uint64_t bytes, uint32_t parts, uint32_t block)
{
    const uint64_t larger = bytes % parts;

    return bytes / parts * block + (block < larger ? block : larger);
}

static inline uint64_t iwi_block_bytes(uint64_t bytes, uint32_t parts, uint32_t block)
{
    /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): no node is empty, which it does not see */
    return bytes / parts + (block < bytes % parts);
}

/* ---- data cut into segments of segment_bytes (0: not cut); the last one is the rest ---- */

static inline uint64_t iwi_segment_count(uint64_t bytes, uint64_t segment_bytes)
{
    if (segment_bytes == 0 || bytes <= segment_bytes) {
        return 1;
    }
    return bytes / segment_bytes + (bytes % segment_bytes != 0);
}

static inline uint64_t iwi_segment_size(uint64_t bytes, uint64_t segment_bytes, uint64_t segment)
{
    const uint64_t start = segment_bytes * segment;

    if (segment_bytes == 0) {
        return bytes;
    }
    return bytes - start < segment_bytes ? bytes - start : segment_bytes;
}

/* ---- parts ---- */

static inline void iwi_role_clear(struct iwi_role *role)
{
    role->send_count = 0;
    role->recv_count = 0;
    role->reduce_bytes = 0;
    role->work_ps = 0;
    role->is_phase = false;
}

static inline void iwi_role_send(struct iwi_role *role, uint32_t peer, uint64_t bytes)
{
    role->sends[role->send_count] = (struct iwi_msg){peer, role->send_count, bytes};
    role->send_count++;
}

static inline void iwi_role_recv(struct iwi_role *role, uint32_t peer, uint32_t slot, uint64_t bytes)
{
    role->recvs[role->recv_count++] = (struct iwi_msg){peer, slot, bytes};
}

/* ---- rounds ---- */

/* Nobody is active. */
static inline void iwi_round_clear(struct iwi_round *round)
{
    *round = (struct iwi_round){.fan = 1};
}

/* Adds the ranks (first + i * stride) mod P. */
static inline void iwi_round_add(struct iwi_round *round, uint32_t first, uint32_t count, int64_t stride)
{
    if (count > 0) {
        round->active[round->range_count++] = (struct iwi_range){first, count, stride};
    }
}

static inline void iwi_round_all(struct iwi_round *round, uint32_t ranks)
{
    iwi_round_clear(round);
    iwi_round_add(round, 0, ranks, 1);
}

static inline void iwi_round_shift(struct iwi_round *round, uint32_t ranks, uint32_t shift, uint64_t bytes,
                                   uint64_t reduce_bytes)
{
    iwi_round_all(round, ranks);
    round->is_shift = true;
    round->shift = shift;
    round->bytes = bytes;
    round->reduce_bytes = reduce_bytes;
}

/* Everybody exchanges with the rank whose number differs in the bits of `flip`; P is a power of two. */
static inline void iwi_round_flip(struct iwi_round *round, uint32_t ranks, uint32_t flip, uint64_t bytes,
                                  uint64_t reduce_bytes)
{
    iwi_round_all(round, ranks);
    round->is_flip = true;
    round->flip = flip;
    round->bytes = bytes;
    round->reduce_bytes = reduce_bytes;
}

/* One step around the ring with blocks that differ in size. */
static inline void iwi_round_ring(struct iwi_round *round, uint32_t ranks, uint32_t behind,
                                  struct iwi_block_sizes blocks, bool is_reducing)
{
    iwi_round_all(round, ranks);
    round->is_ring = true;
    round->is_reducing = is_reducing;
    round->behind = behind;
    round->blocks = blocks;
}

static inline void iwi_role_ring(struct iwi_role *role, uint32_t ranks, uint32_t rank, uint64_t send_bytes,
                                 uint64_t recv_bytes)
{
    iwi_role_clear(role);
    iwi_role_send(role, iwi_rank_of_virtual(ranks, 1, rank), send_bytes);
    iwi_role_recv(role, iwi_virtual_of_rank(ranks, 1, rank), 0, recv_bytes);
}

/* ---- functions of struct iwi_algorithm ---- */

/* All four: how many rounds and messages there are, who is active in a round, what a rank does in it. */
#define IWI_ROUNDS_OF(name) \
    .round_count = name##_rounds, .message_count = name##_messages, .round = name##_round, .role = name##_role

/* The same where all rounds are shifts or flips, and every rank sends one message in each. */
#define IWI_STREAMING_ROUNDS(count, one) \
    .round_count = (count), .message_count = iwi_all_send_messages, .round = (one), .role = iwi_streaming_role

/* round_count, message_count: P - 1, and ceil(log2 P). */
uint64_t iwi_other_ranks(const struct iwi_operation *op);
uint64_t iwi_log2_ranks(const struct iwi_operation *op);

/* message_count: every rank sends one message in every round. */
uint64_t iwi_all_send_messages(const struct iwi_operation *op);

/* part: all rounds are shifts or flips, which say what each rank does. */
void iwi_streaming_role(const struct iwi_operation *op, uint64_t index, uint32_t rank, struct iwi_role *role);

#endif
