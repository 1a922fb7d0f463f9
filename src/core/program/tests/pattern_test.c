/* Patterns from text and arguments: what is understood, what is refused and how, delays.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "support/support.h"

#include <string.h>

#include "core/program/program.h"

static void assert_refused(const char *operations, const iw_pattern *pattern, iw_status status,
                           const char *text)
{
    iw_program *program = NULL;
    struct iwt_log l;

    iwt_log_init(&l);
    assert_status(iw_program_from_pattern(&l.log, operations, pattern, &program), status);
    iwt_assert_logged(&l, text);
    assert_int_equal(l.errors, 1);
    assert_null(program);
}

static iw_program *make(const char *operations, const iw_pattern *pattern)
{
    iw_program *program = NULL;

    assert_ok(iw_program_from_pattern(NULL, operations, pattern, &program));
    return program;
}

static void operations_are_joined_by_plus_and_default_to_the_first_algorithm(void **state)
{
    iw_pattern pattern = IW_PATTERN_INIT;
    iw_program *program = make("halo2d+allreduce:ring+barrier", &pattern);

    (void)state;
    assert_int_equal(program->operation_count, 3);
    assert_int_equal(program->operations[0].algorithm->kind, IWI_HALO2D);
    assert_string_equal(program->operations[1].algorithm->name, "ring");
    assert_string_equal(program->operations[2].algorithm->name, "dissemination");
    assert_int_equal(iw_program_ranks(program), 2);
    iw_program_free(program);
}

static void unknown_names_are_refused_with_the_known_ones(void **state)
{
    const iw_pattern pattern = IW_PATTERN_INIT;

    (void)state;
    assert_refused("allred", &pattern, IW_ERR_USAGE,
                   "unknown operation 'allred': use barrier, bcast, reduce, allreduce");
    assert_refused("barrier+reduce_", &pattern, IW_ERR_USAGE, "halo3d, sweep2d");
    assert_refused(
        "bcast:ring", &pattern, IW_ERR_USAGE,
        "unknown algorithm 'ring' of bcast: use binomial, binary, chain, scatter-allgather, linear");
    assert_refused("bcast:", &pattern, IW_ERR_USAGE, "unknown algorithm '' of bcast");
}

static void missing_operations_are_pointed_at(void **state)
{
    const iw_pattern pattern = IW_PATTERN_INIT;

    (void)state;
    assert_refused("", &pattern, IW_ERR_USAGE, "'' lacks an operation at character 1");
    assert_refused("barrier++bcast", &pattern, IW_ERR_USAGE, "lacks an operation at character 9");
    assert_refused("barrier+", &pattern, IW_ERR_USAGE, "lacks an operation at character 9");
}

static void sizes_out_of_range_are_refused(void **state)
{
    iw_pattern p = IW_PATTERN_INIT;

    (void)state;
    p.ranks = 0;
    assert_refused("barrier", &p, IW_ERR_RANGE, "0 ranks: use 1 to 2^30");
    p.ranks = (1U << 30) + 1;
    assert_refused("barrier", &p, IW_ERR_RANGE, "use 1 to 2^30");
    p = (iw_pattern)IW_PATTERN_INIT;
    p.root = 2;
    assert_refused("bcast", &p, IW_ERR_RANGE, "root 2: ranks are 0 to 1");
    p = (iw_pattern)IW_PATTERN_INIT;
    p.repeat = 0;
    assert_refused("bcast", &p, IW_ERR_RANGE, "0 repetitions");
    p = (iw_pattern)IW_PATTERN_INIT;
    p.bytes = UINT64_MAX;
    assert_refused("bcast", &p, IW_ERR_RANGE, "at most 1 TiB");
    p.bytes = UINT64_C(1) << 40;
    p.segment_bytes = 1;
    assert_refused("bcast:chain", &p, IW_ERR_RANGE, "segments of 1 bytes are too small");
    p.segment_bytes = 0;
    p.ranks = 1U << 20;
    assert_refused("alltoall", &p, IW_ERR_RANGE, "more than 1 PiB in all");
}

static void times_out_of_range_are_refused(void **state)
{
    iw_pattern p = IW_PATTERN_INIT;

    (void)state;
    p.compute_ps = -1;
    assert_refused("barrier", &p, IW_ERR_RANGE, "between 0 and 10 days");
    p.compute_ps = IW_PS_PER_S;
    p.repeat = UINT64_C(10000000);
    assert_refused("barrier", &p, IW_ERR_RANGE, "longer than the 26 days");
    p = (iw_pattern)IW_PATTERN_INIT;
    p.reduce = -5;
    assert_refused("allreduce", &p, IW_ERR_RANGE, "the reduction of 1 bytes");
}

static void too_many_messages_are_refused(void **state)
{
    iw_pattern p = IW_PATTERN_INIT;

    (void)state;
    p.ranks = 1U << 30;
    p.repeat = 16;
    assert_refused("alltoall:pairwise", &p, IW_ERR_RANGE, "more than 2^63 messages");
    p.repeat = UINT64_MAX;
    assert_refused("barrier", &p, IW_ERR_RANGE, "more than 2^63 messages");
}

static void wrong_grids_and_distances_are_refused(void **state)
{
    iw_pattern p = IW_PATTERN_INIT;

    (void)state;
    p.ranks = 12;
    p.dims[0] = 5;
    assert_refused("halo2d", &p, IW_ERR_RANGE, "halo2d: the dimensions do not divide 12 ranks");
    p.dims[0] = 2;
    p.dims[1] = 3;
    p.dims[2] = 2;
    assert_refused("sweep2d", &p, IW_ERR_RANGE, "sweep2d: 3 dimensions instead of 2");
    p.distance = 12;
    assert_refused("halo1d", &p, IW_ERR_RANGE, "a distance of 12 needs more than 12 ranks");
    p.distance = 0;
    assert_refused("halo1d", &p, IW_ERR_RANGE, "the distance is 0");
}

static void one_rank_needs_no_messages(void **state)
{
    iw_pattern p = IW_PATTERN_INIT;
    iw_program *program;

    (void)state;
    p.ranks = 1;
    program = make("barrier+bcast+allreduce:ring+halo3d+halo1d+alltoall+sweep2d", &p);
    assert_int_equal(iw_program_messages(program), 0);
    iw_program_free(program);
}

/* ---- delays ---- */

static void delays_are_found_by_rank_and_step_and_add_up(void **state)
{
    const iw_delay delays[] = {{3, 2, 50}, {1, 1, 7}, {3, 1, 20}, {3, 2, 5}};
    iw_pattern p = IW_PATTERN_INIT;
    iw_program *program;

    (void)state;
    p.ranks = 4;
    p.repeat = 2;
    p.delays = delays;
    p.delay_count = 4;
    program = make("barrier", &p);
    assert_int_equal(iwi_program_delay(program, 3, 2), 55);
    assert_int_equal(iwi_program_delay(program, 3, 1), 20);
    assert_int_equal(iwi_program_delay(program, 1, 1), 7);
    assert_int_equal(iwi_program_delay(program, 1, 2), 0);
    assert_int_equal(iwi_program_delay(program, 0, 1), 0);
    assert_true(iwi_program_starts_with_phase(program));
    iw_program_free(program);
}

static void assert_delay_refused(const char *operations, iw_delay delay, iw_status status, const char *text)
{
    iw_pattern p = IW_PATTERN_INIT;

    p.delays = &delay;
    p.delay_count = 1;
    assert_refused(operations, &p, status, text);
}

static void impossible_delays_are_refused(void **state)
{
    (void)state;
    assert_delay_refused("barrier", (iw_delay){2, 1, 5}, IW_ERR_RANGE, "on rank 2: ranks are 0 to 1");
    assert_delay_refused("barrier", (iw_delay){1, 0, 5}, IW_ERR_RANGE, "the first step is 1");
    assert_delay_refused("barrier", (iw_delay){1, 1, -5}, IW_ERR_RANGE, "between 0 and 10 days");
    assert_delay_refused("barrier", (iw_delay){1, 2, 5}, IW_ERR_RANGE, "in step 2, but 1 repetitions");
    assert_delay_refused("sweep2d+sweep2d", (iw_delay){1, 3, 5}, IW_ERR_RANGE,
                         "in step 3, but 1 repetitions");
}

static void work_comes_first_unless_the_operation_places_it(void **state)
{
    iw_pattern p = IW_PATTERN_INIT;
    iw_program *idle = make("barrier", &p);
    iw_program *busy;
    iw_program *sweep;

    (void)state;
    p.compute_ps = 5;
    busy = make("barrier", &p);
    sweep = make("sweep2d+barrier", &p);
    assert_false(iwi_program_starts_with_phase(idle));
    assert_true(iwi_program_starts_with_phase(busy));
    assert_false(iwi_program_starts_with_phase(sweep));
    assert_int_equal(sweep->operations[0].compute_ps, 5);
    assert_int_equal(sweep->operations[1].compute_ps, 0);
    iw_program_free(idle);
    iw_program_free(busy);
    iw_program_free(sweep);
}

/* ---- the rest ---- */

static void costs_per_byte_are_rounded_to_the_nearest_picosecond(void **state)
{
    (void)state;
    assert_int_equal(iwi_bytes_cost(0, 100), 0);
    assert_int_equal(iwi_bytes_cost(499, 1), 0);
    assert_int_equal(iwi_bytes_cost(500, 1), 1);
    assert_int_equal(iwi_bytes_cost(20, 8), 0);
    assert_int_equal(iwi_bytes_cost(20, 1000000), 20000);
    assert_int_equal(iwi_bytes_cost(INT64_MAX, UINT64_MAX), INT64_MAX);
}

static void rules_choose_where_no_algorithm_is_named(void **state)
{
    iw_pattern pattern = IW_PATTERN_INIT;
    iw_program *program = NULL;

    (void)state;
    pattern.ranks = 64;
    pattern.rules = "mpich";
    pattern.nodes.ranks = 8;
    assert_ok(iw_program_from_pattern(NULL, "allreduce+allreduce:ring+allgather+halo2d", &pattern, &program));
    assert_string_equal(program->operations[0].algorithm->name, "two-level");
    assert_string_equal(program->operations[1].algorithm->name, "ring");
    assert_string_equal(program->operations[2].algorithm->name, "recursive-doubling");
    iw_program_free(program);
    pattern.rules = "nosuch";
    assert_int_equal(iw_program_from_pattern(NULL, "allreduce", &pattern, &program), IW_ERR_RANGE);
}

static void the_registry_lists_algorithms_with_defaults_first(void **state)
{
    const char *op;
    const char *algorithm;
    const char *summary;
    size_t count = 0;

    (void)state;
    assert_true(iw_algorithm_info(0, &op, &algorithm, &summary));
    assert_string_equal(op, "barrier");
    assert_string_equal(algorithm, "dissemination");
    while (iw_algorithm_info(count, &op, &algorithm, &summary)) {
        assert_true(strlen(summary) > 0 && strlen(summary) < 64);
        count++;
    }
    assert_int_equal(count, 56);
}

static void the_halo_of_a_pattern_is_told(void **state)
{
    iw_pattern pattern = IW_PATTERN_INIT, halo = IW_PATTERN_INIT;
    iw_program *program;
    bool is_alone = true;

    (void)state;
    pattern.ranks = 24;
    pattern.bytes = 99;
    pattern.is_split = true;
    program = make("barrier+halo3d", &pattern);
    assert_true(iw_program_halo(program, &halo, &is_alone));
    assert_false(is_alone);
    assert_true(halo.is_split && halo.is_periodic && !halo.is_one_way);
    assert_int_equal(halo.bytes, 99);
    assert_int_equal(halo.distance, 1);
    assert_int_equal(halo.dims[0], 4); /* 24 as cubic as possible */
    assert_int_equal(halo.dims[1], 3);
    assert_int_equal(halo.dims[2], 2);
    iw_program_free(program);
    pattern.distance = 2;
    pattern.is_periodic = false;
    program = make("halo1d", &pattern);
    assert_true(iw_program_halo(program, &halo, &is_alone));
    assert_true(is_alone);
    assert_false(halo.is_periodic);
    assert_int_equal(halo.distance, 2);
    assert_int_equal(halo.dims[0], 24);
    assert_int_equal(halo.dims[1], 0);
    iw_program_free(program);
    program = make("sweep2d", &pattern);
    assert_false(iw_program_halo(program, &halo, &is_alone));
    iw_program_free(program);
}

static void ranges_wrap_around_in_both_directions(void **state)
{
    const struct iwi_range forward = {8, 3, 5};
    const struct iwi_range backward = {1, 3, -4};

    (void)state;
    assert_int_equal(iwi_range_rank(&forward, 10, 0), 8);
    assert_int_equal(iwi_range_rank(&forward, 10, 1), 3);
    assert_int_equal(iwi_range_rank(&forward, 10, 2), 8);
    assert_int_equal(iwi_range_rank(&backward, 10, 1), 7);
    assert_int_equal(iwi_range_rank(&backward, 10, 2), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_are_joined_by_plus_and_default_to_the_first_algorithm),
        cmocka_unit_test(unknown_names_are_refused_with_the_known_ones),
        cmocka_unit_test(missing_operations_are_pointed_at),
        cmocka_unit_test(sizes_out_of_range_are_refused),
        cmocka_unit_test(times_out_of_range_are_refused),
        cmocka_unit_test(too_many_messages_are_refused),
        cmocka_unit_test(wrong_grids_and_distances_are_refused),
        cmocka_unit_test(one_rank_needs_no_messages),
        cmocka_unit_test(delays_are_found_by_rank_and_step_and_add_up),
        cmocka_unit_test(impossible_delays_are_refused),
        cmocka_unit_test(work_comes_first_unless_the_operation_places_it),
        cmocka_unit_test(costs_per_byte_are_rounded_to_the_nearest_picosecond),
        cmocka_unit_test(rules_choose_where_no_algorithm_is_named),
        cmocka_unit_test(the_registry_lists_algorithms_with_defaults_first),
        cmocka_unit_test(the_halo_of_a_pattern_is_told),
        cmocka_unit_test(ranges_wrap_around_in_both_directions),
    };

    return cmocka_run_group_tests_name("pattern", tests, NULL, NULL);
}
