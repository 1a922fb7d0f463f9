/* Patterns on blocks of ranks: any number of members gives what one thread gives, to the picosecond.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/net/net.h"
#include "core/sim/flow/flow_exchange.h"
#include "core/sim/flow/flow_stream.h"
#include "random_program.h"
#include "support/support.h"

static iw_pattern random_pattern(struct iwt_random *random, uint32_t ranks)
{
    iw_pattern pattern = IW_PATTERN_INIT;

    pattern.ranks = ranks;
    pattern.bytes = iwt_below(random, 600);
    pattern.segment_bytes = iwt_below(random, 2) * (30 + iwt_below(random, 100));
    pattern.root = (uint32_t)iwt_below(random, ranks);
    pattern.repeat = 1 + iwt_below(random, 3);
    pattern.compute_ps = (iw_time)(iwt_below(random, 2) * iwt_below(random, 50000));
    pattern.reduce = (iw_fs_per_byte)iwt_below(random, 20000);
    pattern.distance = 1 + (uint32_t)iwt_below(random, ranks > 8 ? 4 : 1);
    pattern.is_periodic = iwt_below(random, 2) == 0;
    pattern.is_one_way = iwt_below(random, 2) == 0;
    pattern.is_split = iwt_below(random, 2) == 0;
    pattern.nodes =
        (iw_nodes){.ranks = 1 + (uint32_t)iwt_below(random, 6),
                   .placement = iwt_below(random, 2) ? IW_PLACEMENT_BLOCK : IW_PLACEMENT_ROUND_ROBIN};
    return pattern;
}

/* For many ranks; with words of state per rank and without. */
static iw_noise *cheap_noise(struct iwt_random *random)
{
    iw_noise *noise = NULL;

    assert_ok(iw_noise_new(NULL, &noise));
    assert_ok(iw_noise_add(NULL, noise,
                           iwt_below(random, 2) ? "periodic:100kHz,300ns" : "poisson:100kHz,fixed:300ns"));
    return noise;
}

/* In every third, gaps end before they can count. */
static iw_net random_net(struct iwt_random *random)
{
    iw_net net = iwt_random_segmented_net(random);

    if (iwt_below(random, 3) == 0) {
        net.g_ps = net.o_send_ps < net.o_recv_ps ? net.o_send_ps : net.o_recv_ps;
        net.G = 0;
        net.segment_count = 0;
    }
    iwt_make_series(random, 90000, &net);
    return net;
}

/* One thread, on the event engine if it does not take long, against so many members. */
static void compare(const char *operations, const iw_pattern *pattern, struct iwt_random *random,
                    uint32_t members, uint32_t lanes)
{
    iw_net net = random_net(random);
    iw_noise *noise = pattern->ranks < 1000 ? iwt_random_noise(random) : cheap_noise(random);
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    iw_sim_result *whole, *parted;
    iw_program *program = NULL;
    struct iwt_log l;

    iwt_log_init(&l);
    if (iw_program_from_pattern(&l.log, operations, pattern, &program) != IW_OK) {
        fail_msg("'%s' for %u ranks: %s", operations, pattern->ranks, l.text);
    }
    opts.engine = pattern->ranks < 40 ? IW_ENGINE_EVENT : IW_ENGINE_FLOW;
    opts.trials = pattern->ranks < 1000 ? lanes + 1 : lanes;
    opts.lanes = lanes;
    opts.threads = 1;
    opts.rendezvous = iwt_below(random, 2) ? IW_RENDEZVOUS_IDEAL : IW_RENDEZVOUS_RTS_CTS;
    opts.parallel = IW_PARALLEL_TRIALS;
    whole = iwt_run(program, &net, noise, &opts);
    opts.engine = IW_ENGINE_FLOW;
    opts.parallel = IW_PARALLEL_RANKS;
    opts.threads = members;
    parted = iwt_run(program, &net, noise, &opts);
    assert_int_equal(parted->parallel, IW_PARALLEL_RANKS);
    for (uint64_t i = 0; i < whole->trials * whole->ranks; i++) {
        if (whole->end_ps[i] != parted->end_ps[i]) {
            fail_msg("'%s' on %u ranks, %llu bytes, lanes %u, trial %llu rank %llu: alone %lld, with %u "
                     "members %lld ps",
                     operations, whole->ranks, (unsigned long long)pattern->bytes, lanes,
                     (unsigned long long)(i / whole->ranks), (unsigned long long)(i % whole->ranks),
                     (long long)whole->end_ps[i], members, (long long)parted->end_ps[i]);
        }
    }
    assert_int_equal(whole->noiseless_ps, parted->noiseless_ps);
    assert_memory_equal(whole->makespan_ps, parted->makespan_ps, whole->trials * sizeof(iw_time));
    iw_sim_result_free(whole);
    iw_sim_result_free(parted);
    iw_noise_free(noise);
    iwi_net_release(&net);
    iw_program_free(program);
}

static uint32_t random_members(struct iwt_random *random)
{
    static const uint32_t members[] = {1, 2, 2, 3, 4, 5, 7, 14};

    return members[iwt_below(random, sizeof members / sizeof members[0])];
}

static uint32_t random_ranks(struct iwt_random *random)
{
    static const uint32_t around[] = {1, 2, 3, 4, 8, 16, 31, 32, 33, 63, 64, 65, 127, 128, 129};

    return iwt_below(random, 2) == 0 ? around[iwt_below(random, sizeof around / sizeof around[0])]
                                     : 1 + (uint32_t)iwt_below(random, IWT_IS_SLOW ? 70 : 200);
}

static void compare_random(const char *operations, uint64_t seed)
{
    struct iwt_random random = {seed, 0};
    uint32_t ranks = random_ranks(&random);
    iw_delay delays[2];
    iw_pattern pattern;

    ranks += strncmp(operations, "pingpong", 8) == 0 ? ranks % 2 : 0;
    pattern = random_pattern(&random, ranks);
    for (size_t k = 0; k < 2; k++) {
        delays[k] = (iw_delay){.rank = (uint32_t)iwt_below(&random, ranks), .step = 1 + k, .time_ps = 77777};
    }
    if (iwt_below(&random, 2)) {
        pattern.delays = delays;
        pattern.delay_count = 1 + (size_t)(pattern.repeat > 1);
    }
    compare(operations, &pattern, &random, random_members(&random), 1U << iwt_below(&random, 4));
}

static void every_algorithm_is_the_same_on_blocks(void **state)
{
    const char *op, *algorithm, *summary;

    (void)state;
    for (size_t index = 0; iw_algorithm_info(index, &op, &algorithm, &summary); index++) {
        char name[64];

        (void)snprintf(name, sizeof name, "%s:%s", op, algorithm);
        for (uint64_t k = 0; k < (IWT_IS_SLOW ? 1 : 4); k++) {
            compare_random(name, index * 1000 + k);
        }
    }
}

static void sequences_of_operations_are_the_same_on_blocks(void **state)
{
    static const char *const sequences[] = {"halo2d+allreduce",
                                            "barrier+bcast:chain+reduce:binary",
                                            "sweep2d+allreduce:recursive-doubling",
                                            "allreduce:dissemination+allreduce:dissemination",
                                            "bcast:binomial+barrier:dissemination+halo3d",
                                            "halo1d+alltoall:linear+sweep2d"};

    (void)state;
    for (uint64_t seed = 0; seed < 48 / IWT_FEWER; seed++) {
        compare_random(sequences[seed % 6], 90000 + seed);
    }
}

/* All that a halo may be, of messages below and above S. */
static void every_halo_is_the_same_on_blocks(void **state)
{
    static const char *const halos[] = {"halo1d", "halo2d", "halo3d"};

    (void)state;
    for (uint64_t k = 0; k < 48; k++) {
        struct iwt_random random = {70000 + k, 0};
        iw_pattern pattern = random_pattern(&random, 96 + (uint32_t)(k % 5));

        pattern.is_periodic = (k & 1) != 0;
        pattern.is_one_way = (k & 2) != 0;
        pattern.is_split = (k & 4) != 0;
        pattern.bytes = (k & 8) != 0 ? 1 : 1000;
        compare(halos[k / 16], &pattern, &random, 2 + (uint32_t)(k % 6), k % 2 == 0 ? 1 : 8);
    }
}

/* The order in which ranks are active, and the order in letters, is that from the root on. */
static void every_root_is_the_same_on_blocks(void **state)
{
    (void)state;
    for (uint32_t root = 0; root < 21; root++) {
        struct iwt_random random = {root, 0};
        iw_pattern pattern = IW_PATTERN_INIT;

        pattern.ranks = 21;
        pattern.root = root;
        pattern.bytes = root % 2 == 0 ? 1 : 1000;
        compare("bcast:binomial+reduce:binomial+gather:binomial+bcast:binary+reduce:rabenseifner", &pattern,
                &random, 4, 2);
    }
}

/* Blocks with more elements than a window: several passes at once, on tiles. Not all are powers of two; the
 * flips of 16384 ranks stay in the granule, or do not. */
static void passes_on_tiles_are_the_same_on_blocks(void **state)
{
    static const char *const operations[] = {"allreduce:dissemination", "allreduce:recursive-doubling",
                                             "barrier:dissemination+allreduce:dissemination",
                                             "allgather:recursive-doubling", "allreduce:reduce-bcast"};
    static const struct {
        uint32_t ranks, members;
    } shapes[] = {{6301, 3}, {4224, 2}, {16384, 3}, {8192, 2}, {10500, 4}};

    (void)state;
    for (size_t k = 0; k < sizeof operations / sizeof operations[0]; k++) {
        for (size_t n = k % IWT_FEWER; n < sizeof shapes / sizeof shapes[0]; n += IWT_FEWER) {
            struct iwt_random random = {k * 100 + n, 0};
            iw_pattern pattern = IW_PATTERN_INIT;

            pattern.ranks = shapes[n].ranks;
            pattern.bytes = (k + n) % 3 == 0 && strncmp(operations[k], "allgather", 9) != 0 ? 300 : 1;
            pattern.reduce = (iw_fs_per_byte)iwt_below(&random, 20000);
            assert_true(pattern.ranks / shapes[n].members * 8 > IWI_WINDOW);
            compare(operations[k], &pattern, &random, shapes[n].members, 8);
        }
    }
}

/* Long shifts, several at once: members pass each other columns where nothing but the next detour counts (a
 * sixth of these), and make the passes one by one elsewhere. */
static void passes_on_columns_are_the_same_on_blocks(void **state)
{
    static const char *const operations[] = {"allreduce:dissemination", "allreduce:recursive-doubling",
                                             "barrier:dissemination+barrier:dissemination"};
    static const struct {
        uint32_t ranks, members, lanes;
    } shapes[] = {{1 << 18, 2, 1}, {3 << 15, 2, 2}, {1 << 15, 3, 8}, {1 << 17, 5, 1}, {5 << 15, 4, 1}};
    const size_t stride = IWT_IS_SLOW ? 3 : IWT_FEWER > 1 ? 2 : 1;

    (void)state;
    for (uint64_t k = 0; k < 3; k++) {
        for (size_t n = k % stride; n < sizeof shapes / sizeof shapes[0]; n += stride) {
            struct iwt_random random = {k * 100 + n, 1};
            iw_pattern pattern = IW_PATTERN_INIT;

            pattern.ranks = shapes[n].ranks;
            assert_true(pattern.ranks / shapes[n].members * shapes[n].lanes > IWI_WINDOW);
            compare(operations[k], &pattern, &random, shapes[n].members, shapes[n].lanes);
        }
    }
}

/* More times than one message takes. */
static void long_blocks_go_in_several_messages(void **state)
{
    static const char *const operations[] = {"barrier:dissemination", "barrier:recursive-doubling",
                                             "allreduce:dissemination"};

    (void)state;
    for (size_t k = 0; k < sizeof operations / sizeof operations[0]; k++) {
        struct iwt_random random = {k, 0};
        iw_pattern pattern = IW_PATTERN_INIT;

        pattern.ranks = 1 << 15;
        pattern.bytes = 1000;
        compare(operations[k], &pattern, &random, 2, 8);
    }
}

/* ---- gaps ---- */

static bool keeps_gaps(const char *operations, uint32_t ranks, iw_time g_ps, uint64_t repeat)
{
    const iw_net net = {.L_ps = 1000, .o_send_ps = 100, .o_recv_ps = 100, .g_ps = g_ps, .S_bytes = 100};
    iw_pattern pattern = IW_PATTERN_INIT;
    struct iwi_job job = {.net = &net};
    iw_program *program = NULL;
    bool is_free;

    pattern.ranks = ranks;
    pattern.repeat = repeat;
    assert_ok(iw_program_from_pattern(NULL, operations, &pattern, &program));
    job.program = program;
    is_free = iwi_flow_is_free_of_gaps(&job);
    iw_program_free(program);
    return !is_free;
}

/* A pass is busy for 200 ps from one send to the next, and from one receive to the next. */
static void gaps_are_kept_only_where_they_count(void **state)
{
    (void)state;
    assert_false(keeps_gaps("barrier:dissemination", 100, 200, 1));
    assert_true(keeps_gaps("barrier:dissemination", 100, 201, 1));
    assert_true(keeps_gaps("barrier:dissemination", 100, 200, 2));
    assert_true(keeps_gaps("barrier:dissemination+barrier:dissemination", 100, 200, 1));
    assert_false(keeps_gaps("allreduce:recursive-doubling", 64, 200, 1));
    assert_true(keeps_gaps("allreduce:recursive-doubling", 63, 200, 1)); /* its fold does not stream */
    assert_true(keeps_gaps("bcast:binomial", 64, 200, 1));
}

/* ---- ranges ---- */

/* What turns say of a block, against looking at every number. */
static void compare_turns(const struct iwi_range *range, uint32_t ranks, uint32_t low, uint32_t high)
{
    struct iwi_turns turns = iwi_turns_of(range, ranks, low, high);
    struct iwi_turn turn;
    uint64_t next = 0;

    while (iwi_turns_next(&turns, &turn)) {
        assert_true(turn.begin >= (int64_t)next && turn.begin < turn.end);
        for (; next < (uint64_t)turn.end; next++) {
            const uint32_t rank = iwi_range_rank(range, ranks, next);

            assert_int_equal(rank >= low && rank < high, next >= (uint64_t)turn.begin);
            if (next >= (uint64_t)turn.begin) {
                assert_int_equal(rank, turn.rank + ((int64_t)next - turn.begin) * turns.stride);
            }
        }
    }
    for (; next < range->count; next++) {
        const uint32_t rank = iwi_range_rank(range, ranks, next);

        assert_false(rank >= low && rank < high);
    }
}

static void the_numbers_of_a_range_in_a_block_are_found(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 5000; seed++) {
        struct iwt_random random = {seed, 0};
        const uint32_t ranks = 1 + (uint32_t)iwt_below(&random, 40);
        const uint32_t low = (uint32_t)iwt_below(&random, ranks + 1);
        const uint32_t high = low + (uint32_t)iwt_below(&random, ranks - low + 1);
        const struct iwi_range range = {.first = (uint32_t)iwt_below(&random, ranks),
                                        .count = (uint32_t)iwt_below(&random, 2 * ranks),
                                        .stride = (int64_t)iwt_below(&random, 4 * ranks) - 2 * ranks};

        compare_turns(&range, ranks, low, high);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_numbers_of_a_range_in_a_block_are_found),
        cmocka_unit_test(gaps_are_kept_only_where_they_count),
        cmocka_unit_test(every_algorithm_is_the_same_on_blocks),
        cmocka_unit_test(sequences_of_operations_are_the_same_on_blocks),
        cmocka_unit_test(every_halo_is_the_same_on_blocks),
        cmocka_unit_test(every_root_is_the_same_on_blocks),
        cmocka_unit_test(passes_on_tiles_are_the_same_on_blocks),
        cmocka_unit_test(passes_on_columns_are_the_same_on_blocks),
        cmocka_unit_test(long_blocks_go_in_several_messages),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
