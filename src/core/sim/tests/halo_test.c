/* Halos and sweeps of all shapes: vectors of ranks, and rows of them, give what the event engine gives, and
 * what rank by rank gives.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <string.h>

#include "core/sim/flow/flow_grid.h"
#include "random_program.h"
#include "support/support.h"

struct shape {
    const char *operation;
    uint32_t ranks, dims[IW_MAX_DIMS], distance;
};

/* Dimensions of 1 and 2, lines shorter and longer than a block, blocks that are not filled. */
static const struct shape shapes[] = {
    {"halo1d", 2, {0}, 1},           {"halo1d", 3, {0}, 2},          {"halo1d", 150, {0}, 1},
    {"halo1d", 131, {0}, 8},         {"halo1d", 20, {0}, 9},         {"halo1d", 17, {0}, 16},
    {"halo2d", 2, {1, 2}, 1},        {"halo2d", 6, {6, 1}, 1},       {"halo2d", 4, {2, 2}, 1},
    {"halo2d", 14, {2, 7}, 1},       {"halo2d", 14, {7, 2}, 1},      {"halo2d", 143, {13, 11}, 1},
    {"halo2d", 200, {1, 200}, 1},    {"halo2d", 290, {2, 145}, 1},   {"halo2d", 135, {45, 3}, 1},
    {"halo3d", 5, {1, 1, 5}, 1},     {"halo3d", 6, {2, 1, 3}, 1},    {"halo3d", 8, {2, 2, 2}, 1},
    {"halo3d", 60, {3, 4, 5}, 1},    {"halo3d", 210, {1, 7, 30}, 1}, {"halo3d", 198, {6, 3, 11}, 1},
    {"halo3d", 270, {2, 1, 135}, 1}, {"sweep2d", 1, {1, 1}, 1},      {"sweep2d", 9, {1, 9}, 1},
    {"sweep2d", 9, {9, 1}, 1},       {"sweep2d", 14, {2, 7}, 1},     {"sweep2d", 143, {13, 11}, 1},
};

enum { SHAPES = sizeof shapes / sizeof shapes[0], FLAGS = 8 };

/* Boundary, direction and exchange by the bits of `flags`. */
static iw_pattern pattern_of(const struct shape *shape, unsigned flags, struct iwt_random *random)
{
    iw_pattern pattern = IW_PATTERN_INIT;

    pattern.ranks = shape->ranks;
    memcpy(pattern.dims, shape->dims, sizeof pattern.dims);
    pattern.distance = shape->distance;
    pattern.is_periodic = (flags & 1) != 0;
    pattern.is_one_way = (flags & 2) != 0;
    pattern.is_split = (flags & 4) != 0;
    pattern.bytes = iwt_below(random, 600); /* eager, and by rendezvous */
    pattern.repeat = 1 + iwt_below(random, 3);
    pattern.compute_ps = (iw_time)(iwt_below(random, 2) * iwt_below(random, 50000));
    return pattern;
}

static void every_halo_is_the_same_on_both_engines(void **state)
{
    (void)state;
    for (size_t k = 0; k < SHAPES * FLAGS; k += IWT_FEWER) {
        struct iwt_random random = {k, 0};
        const iw_pattern pattern = pattern_of(&shapes[k % SHAPES], (unsigned)(k / SHAPES), &random);

        iwt_compare_engines(shapes[k % SHAPES].operation, &pattern, &random);
    }
}

static void halos_among_other_operations_are_the_same_on_both_engines(void **state)
{
    static const char *const sequences[] = {"halo3d+allreduce", "bcast+halo2d", "halo1d+halo2d+barrier",
                                            "halo2d+sweep2d"};

    (void)state;
    for (size_t k = 0; k < 64 / IWT_FEWER; k++) {
        const struct shape any = {"", 2 + (uint32_t)(k * 7 % 150), {0}, 1};
        const iw_delay delays[] = {{.rank = 1, .step = 1, .time_ps = 77777},
                                   {.rank = 1, .step = 2, .time_ps = 1},
                                   {.rank = any.ranks - 1, .step = 1, .time_ps = 5000}};
        struct iwt_random random = {k, 1};
        iw_pattern pattern = pattern_of(&any, (unsigned)(k % FLAGS), &random);

        pattern.repeat++;
        pattern.delays = delays;
        pattern.delay_count = k % 2 ? sizeof delays / sizeof delays[0] : 0;
        iwt_compare_engines(sequences[k % 4], &pattern, &random);
    }
}

/* ---- rank by rank ---- */

/* Ends of all ranks, rank by rank if explained. */
static iw_sim_result *run(const iw_program *program, const iw_net *net, const iw_noise *noise,
                          bool is_explained, uint32_t lanes, uint32_t members)
{
    iw_sim_opts opts = IW_SIM_OPTS_INIT;

    opts.engine = IW_ENGINE_FLOW;
    opts.threads = members;
    opts.parallel = members > 1 ? IW_PARALLEL_RANKS : IW_PARALLEL_TRIALS;
    opts.trials = lanes;
    opts.lanes = lanes;
    opts.want_explain = is_explained;
    return iwt_run(program, net, noise, &opts);
}

/* The mean of all paths shows every rank's end. */
static void compare_with_explained(const struct shape *shape, const iw_pattern *pattern,
                                   struct iwt_random *random)
{
    iw_program *program = iwt_pattern_program(shape->operation, pattern);
    const iw_net net = iwt_random_net(random);
    iw_noise *noise = iwt_random_noise(random);
    iw_sim_result *fast = run(program, &net, noise, false, 1, 1),
                  *result = run(program, &net, noise, true, 1, 1);
    double sum_ps = 0, explained_ps = 0;

    for (uint32_t rank = 0; rank < fast->ranks; rank++) {
        sum_ps += (double)fast->end_ps[rank];
    }
    for (size_t part = 0; part < IW_PARTS; part++) {
        explained_ps += result->explain->mean_ps[part] * result->ranks;
    }
    assert_true(sum_ps - explained_ps < 0.5 && explained_ps - sum_ps < 0.5);
    assert_true(fast->makespan_ps[0] == result->makespan_ps[0]);
    iw_sim_result_free(fast);
    iw_sim_result_free(result);
    iw_noise_free(noise);
    iw_program_free(program);
}

static void large_halos_are_the_same_as_rank_by_rank(void **state)
{
    static const struct shape large[] = {{"halo1d", 5000, {0}, 3},          {"halo2d", 4096, {64, 64}, 1},
                                         {"halo2d", 3999, {31, 129}, 1},    {"halo3d", 4096, {16, 16, 16}, 1},
                                         {"halo3d", 4095, {13, 15, 21}, 1}, {"sweep2d", 3999, {31, 129}, 1}};
    const size_t count = sizeof large / sizeof large[0];

    (void)state;
    for (size_t k = 0; k < count * FLAGS; k += IWT_FEWER) {
        struct iwt_random random = {k, 2};
        iw_pattern pattern = pattern_of(&large[k % count], (unsigned)(k / count), &random);

        pattern.repeat = 3;
        compare_with_explained(&large[k % count], &pattern, &random);
    }
}

/* A trial has the same ends alone and among others. */
static void lanes_of_halos_do_not_touch_each_other(void **state)
{
    (void)state;
    for (size_t k = 0; k < SHAPES * FLAGS; k += 3 * IWT_FEWER) {
        struct iwt_random random = {k, 3};
        const iw_pattern pattern = pattern_of(&shapes[k % SHAPES], (unsigned)(k / SHAPES), &random);
        iw_program *program = iwt_pattern_program(shapes[k % SHAPES].operation, &pattern);
        const iw_net net = iwt_random_net(&random);
        iw_noise *noise = iwt_random_noise(&random);
        iw_sim_result *one = run(program, &net, noise, false, 1, 1),
                      *many = run(program, &net, noise, false, 8, 1);

        assert_memory_equal(one->end_ps, many->end_ps, one->ranks * sizeof *one->end_ps);
        iw_sim_result_free(one);
        iw_sim_result_free(many);
        iw_noise_free(noise);
        iw_program_free(program);
    }
}

static void members_pass_each_other_what_halos_need(void **state)
{
    (void)state;
    for (size_t k = 0; k < SHAPES * FLAGS; k += 2 * IWT_FEWER - 1) {
        struct iwt_random random = {k, 4};
        const iw_pattern pattern = pattern_of(&shapes[k % SHAPES], (unsigned)(k / SHAPES), &random);
        iw_program *program = iwt_pattern_program(shapes[k % SHAPES].operation, &pattern);
        const iw_net net = iwt_random_net(&random);
        iw_noise *noise = iwt_random_noise(&random);
        const uint32_t lanes = 1U << iwt_below(&random, 4), members = 2 + (uint32_t)iwt_below(&random, 6);
        iw_sim_result *one = run(program, &net, noise, false, lanes, 1),
                      *parted = run(program, &net, noise, false, lanes, members);

        assert_int_equal(parted->parallel, IW_PARALLEL_RANKS);
        assert_memory_equal(one->end_ps, parted->end_ps, lanes * one->ranks * sizeof *one->end_ps);
        iw_sim_result_free(one);
        iw_sim_result_free(parted);
        iw_noise_free(noise);
        iw_program_free(program);
    }
}

/* ---- runs ---- */

/* Whether a rank has a neighbour, and how far it is. */
static bool neighbour_of(const struct iwi_direction *direction, int64_t step, uint32_t rank,
                         int64_t *offset_p)
{
    const int64_t size = direction->size, at = rank / direction->stride % size;
    const int64_t to = (at + step + size) % size;

    *offset_p = (to - at) * direction->stride;
    return step < size && -step < size && (direction->is_closed || to == at + step);
}

static void runs_say_where_the_neighbour_of_each_rank_is(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 3000; seed++) {
        struct iwt_random random = {seed, 0};
        const uint32_t size = 1 + (uint32_t)iwt_below(&random, 9);
        const int64_t length = size > 1 ? 1 + (int64_t)iwt_below(&random, size - 1) : 1;
        const struct iwi_direction direction = {.size = size,
                                                .stride = 1 + (uint32_t)iwt_below(&random, 7),
                                                .step = iwt_below(&random, 2) ? length : -length,
                                                .is_closed = iwt_below(&random, 2) == 0};
        const bool is_back = iwt_below(&random, 2) == 0;
        uint32_t rank = (uint32_t)iwt_below(&random, 100);
        struct iwi_bands bands = iwi_bands_from(&direction, is_back, rank);

        for (int n = 0; n < 60; n++) {
            const struct iwi_band_run *found = &bands.runs[bands.at];
            const uint32_t count = 1 + (uint32_t)iwt_below(&random, bands.left);

            for (uint32_t r = rank; r < rank + count; r++) {
                int64_t offset;

                assert_int_equal(
                    neighbour_of(&direction, is_back ? -direction.step : direction.step, r, &offset),
                    found->has_peer && (found->offset != 0));
                assert_true(!found->has_peer || found->offset == offset);
            }
            rank += count;
            iwi_bands_skip(&bands, count);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_halo_is_the_same_on_both_engines),
        cmocka_unit_test(halos_among_other_operations_are_the_same_on_both_engines),
        cmocka_unit_test(large_halos_are_the_same_as_rank_by_rank),
        cmocka_unit_test(lanes_of_halos_do_not_touch_each_other),
        cmocka_unit_test(members_pass_each_other_what_halos_need),
        cmocka_unit_test(runs_say_where_the_neighbour_of_each_rank_is),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
