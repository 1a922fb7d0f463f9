/* Every algorithm, many shapes: each send meets one receive of the same round, and rounds describe their
 * parts. SPDX-License-Identifier: BSD-3-Clause
 */
#include "rounds_support.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char place[160]; /* what is being checked, for messages */

#define CHECK(condition)                                   \
    do {                                                   \
        if (!(condition)) {                                \
            fail_msg("%s: not so: %s", place, #condition); \
        }                                                  \
    } while (0)

static void check_slots_rise(const struct iwi_role *role)
{
    for (uint32_t i = 0; i < role->recv_count; i++) {
        for (uint32_t j = 0; j < i && role->recv_count <= 8; j++) {
            CHECK(role->recvs[i].peer != role->recvs[j].peer || role->recvs[i].slot > role->recvs[j].slot);
        }
    }
}

/* Each receive names an existing send of its peer to it; no send is named twice; as many sends as receives.
 */
static uint64_t check_matching(const struct iwt_round *r)
{
    uint8_t *is_taken = calloc((size_t)r->ranks * r->capacity, 1);
    uint64_t sends = 0;
    uint64_t recvs = 0;

    for (uint32_t rank = 0; rank < r->ranks; rank++) {
        const struct iwi_role *role = &r->parts[rank];

        sends += role->send_count;
        recvs += role->recv_count;
        check_slots_rise(role);
        for (uint32_t i = 0; i < role->recv_count; i++) {
            const struct iwi_msg *m = &role->recvs[i];

            CHECK(m->peer < r->ranks);
            CHECK(m->peer != rank);
            CHECK(m->slot < r->parts[m->peer].send_count);
            CHECK(r->parts[m->peer].sends[m->slot].peer == rank);
            CHECK(r->parts[m->peer].sends[m->slot].bytes == m->bytes);
            CHECK(is_taken[(size_t)m->peer * r->capacity + m->slot]++ == 0);
        }
    }
    CHECK(sends == recvs);
    free(is_taken);
    return sends;
}

static void check_activity(const struct iwt_round *r)
{
    for (uint32_t rank = 0; rank < r->ranks; rank++) {
        const struct iwi_role *role = &r->parts[rank];
        const bool is_empty = role->send_count == 0 && role->recv_count == 0 && role->reduce_bytes == 0 &&
                              role->work_ps == 0 && !role->is_phase;

        CHECK(r->times_active[rank] <= 1);
        CHECK(is_empty || r->times_active[rank] == 1);
        CHECK(role->send_count <= r->round.fan && role->recv_count <= r->round.fan);
    }
}

static void check_shift(const struct iwt_round *r)
{
    CHECK(r->round.shift > 0 && r->round.shift < r->ranks);
    for (uint32_t rank = 0; rank < r->ranks; rank++) {
        const struct iwi_role *role = &r->parts[rank];

        CHECK(role->send_count == 1 && role->recv_count == 1);
        CHECK(role->sends[0].peer == (rank + r->round.shift) % r->ranks);
        CHECK(role->sends[0].bytes == r->round.bytes);
        CHECK(role->recvs[0].peer == (rank + r->ranks - r->round.shift) % r->ranks);
        CHECK(role->reduce_bytes == r->round.reduce_bytes);
    }
}

static void check_pairs(const struct iwt_round *r)
{
    const struct iwi_range *senders = &r->round.senders;

    for (uint32_t i = 0; i < senders->count; i++) {
        const uint32_t sender = iwi_range_rank(senders, r->ranks, i);
        const struct iwi_role *from = &r->parts[sender],
                              *to = &r->parts[(sender + r->round.shift) % r->ranks];

        CHECK(from->send_count == 1 && from->recv_count == 0 && to->send_count == 0 && to->recv_count == 1);
        CHECK(to->recvs[0].peer == sender && to->recvs[0].bytes == r->round.bytes);
        CHECK(from->reduce_bytes == 0 && to->reduce_bytes == r->round.reduce_bytes);
        CHECK(!from->is_phase && !to->is_phase && from->work_ps == 0 && to->work_ps == 0);
    }
}

static void check_flip(const struct iwt_round *r)
{
    CHECK(r->round.flip > 0 && r->round.flip < r->ranks && (r->ranks & (r->ranks - 1)) == 0);
    for (uint32_t rank = 0; rank < r->ranks; rank++) {
        const struct iwi_role *role = &r->parts[rank];

        CHECK(role->send_count == 1 && role->recv_count == 1);
        CHECK(role->sends[0].peer == (rank ^ r->round.flip) && role->recvs[0].peer == role->sends[0].peer);
        CHECK(role->sends[0].bytes == r->round.bytes && role->recvs[0].bytes == r->round.bytes);
        CHECK(role->reduce_bytes == r->round.reduce_bytes);
    }
}

static void check_ring(const struct iwt_round *r)
{
    CHECK(!r->round.is_shift && !r->round.is_flip && r->round.behind < r->ranks);
    for (uint32_t rank = 0; rank < r->ranks; rank++) {
        const struct iwi_role *role = &r->parts[rank];
        const uint32_t block = (rank + r->ranks - r->round.behind) % r->ranks;

        CHECK(role->send_count == 1 && role->recv_count == 1);
        CHECK(role->sends[0].peer == (rank + 1) % r->ranks);
        CHECK(role->sends[0].bytes == iwi_blocks_bytes(&r->round.blocks, block));
        CHECK(role->reduce_bytes == (r->round.is_reducing ? role->recvs[0].bytes : 0));
        CHECK(!role->is_phase && role->work_ps == 0);
    }
}

static void check_all_to_all(const struct iwt_round *r)
{
    for (uint32_t rank = 0; rank < r->ranks; rank++) {
        const struct iwi_role *role = &r->parts[rank];

        CHECK(role->send_count == r->ranks - 1 && role->recv_count == r->ranks - 1);
        CHECK(role->reduce_bytes == 0 && !role->is_phase && role->work_ps == 0);
        for (uint32_t i = 0; i + 1 < r->ranks; i++) {
            CHECK(role->sends[i].peer == (rank + 1 + i) % r->ranks && role->sends[i].bytes == r->round.bytes);
            CHECK(role->recvs[i].peer == (rank + 1 + i) % r->ranks && role->recvs[i].bytes == r->round.bytes);
        }
    }
}

/* Whom a rank sends to in a direction. */
static bool neighbour_of(const struct iwi_direction *direction, int64_t step, uint32_t rank, uint32_t *peer_p)
{
    const int64_t size = direction->size, at = rank / direction->stride % size;

    if (step >= size || -step >= size || (!direction->is_closed && (at + step < 0 || at + step >= size))) {
        return false;
    }
    *peer_p = (uint32_t)(rank + ((at + step + size) % size - at) * direction->stride);
    return true;
}

static void check_grid(const struct iwt_round *r, const struct iwi_operation *op, uint64_t index)
{
    for (uint32_t rank = 0; rank < r->ranks; rank++) {
        const struct iwi_role *role = &r->parts[rank];
        uint32_t sends = 0, recvs = 0, peer;

        for (uint32_t k = 0; k < r->round.fan; k++) {
            struct iwi_direction direction;

            op->algorithm->direction(op, index, k, &direction);
            if (neighbour_of(&direction, direction.step, rank, &peer)) {
                CHECK(sends < role->send_count && role->sends[sends].peer == peer &&
                      role->sends[sends].bytes == r->round.bytes);
                sends++;
            }
            if (neighbour_of(&direction, -direction.step, rank, &peer)) {
                CHECK(recvs < role->recv_count && role->recvs[recvs].peer == peer);
                recvs++;
            }
        }
        CHECK(sends == role->send_count && recvs == role->recv_count);
        CHECK(role->reduce_bytes == 0 && !role->is_phase);
    }
}

static void check_operation(const char *name, const iw_pattern *pattern)
{
    const struct iwi_operation *op;
    iw_program *program = iwt_make(name, pattern, &op);
    struct iwt_round *r = iwt_round_new(op);
    const uint64_t rounds = op->algorithm->round_count(op);
    uint64_t round_messages, messages = 0;
    uint64_t visits = 0;

    CHECK(pattern->ranks > 1 || rounds == op->algorithm->places_compute);
    for (uint64_t index = 0; index < rounds; index++) {
        snprintf(place, sizeof place, "%s P=%u root=%u bytes=%" PRIu64 " segment=%" PRIu64 " round=%" PRIu64,
                 name, pattern->ranks, pattern->root, pattern->bytes, pattern->segment_bytes, index);
        iwt_round_fill(r, op, index);
        round_messages = check_matching(r);

        messages += round_messages;
        check_activity(r);
        CHECK(r->round.is_shift + r->round.is_flip + r->round.is_grid <= 1);
        if (r->round.is_shift) {
            check_shift(r);
        }
        if (r->round.is_flip) {
            check_flip(r);
        }
        if (r->round.is_ring) {
            check_ring(r);
        }
        if (r->round.is_all_to_all) {
            check_all_to_all(r);
        }
        if (r->round.is_grid) {
            check_grid(r, op, index);
        }
        if (r->round.is_pairs) {
            CHECK(round_messages == r->round.senders.count);
            check_pairs(r);
        }
        visits += (r->round.range_count > 0 ? r->round.active[0].count : 0) +
                  (r->round.range_count > 1 ? r->round.active[1].count : 0);
    }
    CHECK(messages == iw_program_messages(program));
    /* engines pay for visited ranks: no more than in proportion to the work that there is */
    CHECK(visits <= 6 * messages + 4 * rounds + 2 * pattern->ranks);
    iwt_round_free(r);
    iw_program_free(program);
}

static bool is_rooted(const char *op)
{
    return strcmp(op, "bcast") == 0 || strcmp(op, "reduce") == 0 || strcmp(op, "gather") == 0 ||
           strcmp(op, "scatter") == 0 || strcmp(op, "ring") == 0;
}

static bool is_pipelined(const char *algorithm)
{
    return strcmp(algorithm, "binary") == 0 || strcmp(algorithm, "chain") == 0 ||
           strcmp(algorithm, "double-tree") == 0;
}

/* root, bytes and segments that make a difference for this algorithm */
static void check_shapes(const char *op, const char *algorithm, uint32_t ranks)
{
    const uint32_t roots[] = {0, 1, ranks / 2, ranks - 1};
    const uint64_t sizes[] = {0, 1, 5, 200, UINT64_C(4) * ranks};
    const uint64_t segments[] = {0, 7, 64};
    char name[80];

    snprintf(name, sizeof name, "%s:%s", op, algorithm);
    for (size_t i = 0; i<(is_rooted(op) ? 4 : 1); i += ranks> 40 ? 3 : 1) {
        for (size_t b = 0; b<5; b += ranks> 40 ? 2 : 1) {
            for (size_t s = 0; s < (is_pipelined(algorithm) ? 3 : 1); s++) {
                iw_pattern pattern = IW_PATTERN_INIT;

                pattern.ranks = ranks;
                pattern.root = roots[i] % ranks;
                pattern.bytes = sizes[b];
                pattern.segment_bytes = segments[s];
                check_operation(name, &pattern);
            }
        }
    }
}

static void every_send_meets_one_receive_of_its_round(void **state)
{
    const char *op;
    const char *algorithm;
    const char *summary;

    (void)state;
    for (size_t i = 0; iw_algorithm_info(i, &op, &algorithm, &summary); i++) {
        for (size_t p = 0; iwt_rank_counts[p] != 0; p++) {
            check_shapes(op, algorithm, iwt_rank_counts[p]);
        }
    }
}

static void every_kind_of_halo_meets_its_partners(void **state)
{
    const char *const names[] = {"halo1d", "halo2d", "halo3d"};

    (void)state;
    for (size_t p = 0; iwt_rank_counts[p] != 0; p++) {
        for (unsigned flags = 0; flags < 8; flags++) {
            iw_pattern pattern = IW_PATTERN_INIT;

            pattern.ranks = iwt_rank_counts[p];
            pattern.is_periodic = flags & 1;
            pattern.is_one_way = (flags & 2) != 0;
            pattern.is_split = (flags & 4) != 0;
            for (size_t n = 0; n < 3; n++) {
                check_operation(names[n], &pattern);
            }
            for (uint32_t distance = 2; distance <= 5 && distance < pattern.ranks; distance++) {
                pattern.distance = distance;
                check_operation("halo1d", &pattern);
            }
        }
    }
}

/* Ranks up to 2^30 must neither overflow nor loop: first, middle and last round, some ranks of each range. */
static void check_huge(const char *name, uint32_t ranks)
{
    iw_pattern pattern = IW_PATTERN_INIT;
    struct iwi_msg messages[2][8];
    struct iwi_role role = {.sends = messages[0], .recvs = messages[1]};
    const struct iwi_operation *op;
    iw_program *program;

    pattern.ranks = ranks;
    pattern.root = ranks - 1;
    pattern.bytes = 1 << 18;
    program = iwt_make(name, &pattern, &op);
    for (uint64_t i = 0; i < 5; i++) {
        const uint64_t last = op->algorithm->round_count(op) - 1;
        const uint64_t index = i == 4 ? last : last / 4 * i;
        struct iwi_round round;

        snprintf(place, sizeof place, "%s P=%u round=%" PRIu64, name, ranks, index);
        op->algorithm->round(op, index, &round);
        CHECK(round.range_count <= 2);
        for (uint32_t k = 0; k < 4 && round.fan <= 8; k++) {
            for (uint32_t a = 0; a < round.range_count; a++) {
                const uint32_t at = (uint32_t)((uint64_t)(round.active[a].count - 1) * k / 3);
                const uint32_t rank = iwi_range_rank(&round.active[a], ranks, at);

                CHECK(rank < ranks);
                op->algorithm->role(op, index, rank, &role);
                CHECK(role.send_count == 0 || (role.sends[0].peer < ranks && role.sends[0].peer != rank));
                CHECK(role.recv_count == 0 || (role.recvs[0].peer < ranks && role.recvs[0].peer != rank));
            }
        }
    }
    CHECK(iw_program_messages(program) >= ranks - 1);
    iw_program_free(program);
}

static void algorithms_stand_a_billion_ranks(void **state)
{
    const char *op;
    const char *algorithm;
    const char *summary;
    char name[80];

    (void)state;
    for (size_t i = 0; iw_algorithm_info(i, &op, &algorithm, &summary); i++) {
        snprintf(name, sizeof name, "%s:%s", op, algorithm);
        check_huge(name, UINT32_C(1) << 30);
        check_huge(name, (UINT32_C(1) << 30) - 1);
        check_huge(name, (UINT32_C(1) << 29) + 1);
    }
}

static void ring_like_rounds_stream(void **state)
{
    const char *const names[] = {"barrier",
                                 "allreduce:dissemination",
                                 "allreduce:ring",
                                 "allgather",
                                 "allgather:ring",
                                 "alltoall:pairwise",
                                 "alltoall:bruck",
                                 "reduce_scatter:ring",
                                 "reduce_scatter:pairwise",
                                 "ring"};

    (void)state;
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
        iw_pattern pattern = IW_PATTERN_INIT;
        const struct iwi_operation *op;
        iw_program *program;
        struct iwi_round round;

        pattern.ranks = 12;
        pattern.bytes = 24;
        program = iwt_make(names[n], &pattern, &op);
        for (uint64_t index = 0; index < op->algorithm->round_count(op); index++) {
            op->algorithm->round(op, index, &round);
            assert_true(round.is_shift);
        }
        iw_program_free(program);
    }
}

static void unequal_blocks_are_rings(void **state)
{
    iw_pattern pattern = IW_PATTERN_INIT;
    const struct iwi_operation *op;
    iw_program *program;
    struct iwi_round round;

    (void)state;
    pattern.ranks = 13;
    pattern.bytes = 24;
    program = iwt_make("allreduce:ring", &pattern, &op);
    op->algorithm->round(op, 20, &round);
    assert_true(round.is_ring);
    iw_program_free(program);
    program = iwt_make("bcast:scatter-allgather", &pattern, &op);
    op->algorithm->round(op, 4, &round);
    assert_true(round.is_ring);
    iw_program_free(program);
}

static void note_parent(void *arg, uint64_t index, uint32_t from, uint32_t to, uint64_t bytes,
                        bool is_reduced)
{
    uint32_t *parents = arg;

    (void)index;
    (void)bytes;
    (void)is_reduced;
    parents[to] = from;
}

/* 0 - 1 2 - 3 4 5 6 - 7 8 9: from each level to the next in steps of its size. */
static void binary_trees_are_numbered_as_by_open_mpi(void **state)
{
    static const uint32_t expected[] = {0, 0, 0, 1, 2, 1, 2, 3, 4, 5};
    uint32_t parents[10] = {0};
    iw_pattern pattern = IW_PATTERN_INIT;
    const struct iwi_operation *op;
    iw_program *program;

    (void)state;
    pattern.ranks = 10;
    program = iwt_make("bcast:binary", &pattern, &op);
    iwt_for_messages(op, note_parent, parents);
    assert_memory_equal(parents, expected, sizeof expected);
    iw_program_free(program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_send_meets_one_receive_of_its_round),
        cmocka_unit_test(every_kind_of_halo_meets_its_partners),
        cmocka_unit_test(algorithms_stand_a_billion_ranks),
        cmocka_unit_test(ring_like_rounds_stream),
        cmocka_unit_test(binary_trees_are_numbered_as_by_open_mpi),
        cmocka_unit_test(unequal_blocks_are_rings),
    };

    return cmocka_run_group_tests_name("rounds", tests, NULL, NULL);
}
