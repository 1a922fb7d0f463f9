/* Grids: their shape, halo neighbours, the wavefront.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "support/support.h"

#include <stdio.h>

#include "core/program/program.h"

static void assert_dims(uint32_t ranks, uint32_t count, uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t dims[3] = {0, 0, 0};

    assert_ok(iwi_dims_choose(NULL, "test", ranks, count, dims));
    assert_int_equal(dims[0], a);
    assert_int_equal(dims[1], b);
    assert_int_equal(dims[2], c);
}

static void dimensions_are_chosen_as_square_as_possible(void **state)
{
    (void)state;
    assert_dims(1, 2, 1, 1, 0);
    assert_dims(12, 2, 4, 3, 0);
    assert_dims(64, 2, 8, 8, 0);
    assert_dims(13, 2, 13, 1, 0);
    assert_dims(1U << 29, 2, 1U << 15, 1U << 14, 0);
    assert_dims(64, 3, 4, 4, 4);
    assert_dims(24, 3, 4, 3, 2);
    assert_dims(60, 3, 5, 4, 3);
    assert_dims(7, 3, 7, 1, 1);
    assert_dims(1U << 30, 3, 1024, 1024, 1024);
}

static void given_dimensions_stay_and_the_others_follow(void **state)
{
    uint32_t dims[3] = {0, 5, 0};

    (void)state;
    assert_ok(iwi_dims_choose(NULL, "test", 60, 3, dims));
    assert_int_equal(dims[0], 4);
    assert_int_equal(dims[1], 5);
    assert_int_equal(dims[2], 3);
}

static void impossible_dimensions_are_refused(void **state)
{
    uint32_t wrong_product[2] = {3, 5};
    uint32_t no_divisor[2] = {7, 0};
    uint32_t huge[3] = {4000000000U, 4000000000U, 4000000000U};
    struct iwt_log l;

    (void)state;
    iwt_log_init(&l);
    assert_status(iwi_dims_choose(&l.log, "halo2d", 16, 2, wrong_product), IW_ERR_RANGE);
    iwt_assert_logged(&l, "halo2d: the dimensions do not multiply to 16 ranks");
    assert_status(iwi_dims_choose(&l.log, "halo2d", 16, 2, no_divisor), IW_ERR_RANGE);
    iwt_assert_logged(&l, "do not divide 16 ranks");
    assert_status(iwi_dims_choose(&l.log, "halo3d", 16, 3, huge), IW_ERR_RANGE);
}

/* ---- parts of single ranks ---- */

struct fixture {
    iw_program *program;
    const struct iwi_operation *op;
    struct iwi_msg sends[16], recvs[16];
    struct iwi_role role;
};

static void make(struct fixture *f, const char *name, const iw_pattern *pattern)
{
    assert_ok(iw_program_from_pattern(NULL, name, pattern, &f->program));
    f->op = &f->program->operations[0];
    f->role = (struct iwi_role){.sends = f->sends, .recvs = f->recvs};
}

static void assert_peers(const struct iwi_msg *messages, uint32_t count, const char *expected)
{
    char text[128] = "";
    size_t used = 0;

    for (uint32_t i = 0; i < count; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%u", i > 0 ? " " : "", messages[i].peer);
    }
    assert_string_equal(text, expected);
}

static void assert_part(struct fixture *f, uint64_t index, uint32_t rank, const char *sends,
                        const char *recvs)
{
    f->op->algorithm->role(f->op, index, rank, &f->role);
    assert_peers(f->sends, f->role.send_count, sends);
    assert_peers(f->recvs, f->role.recv_count, recvs);
}

static void a_line_ends_at_open_borders(void **state)
{
    iw_pattern pattern = IW_PATTERN_INIT;
    struct fixture f;

    (void)state;
    pattern.ranks = 5;
    pattern.distance = 2;
    pattern.is_periodic = false;
    make(&f, "halo1d", &pattern);
    assert_part(&f, 0, 0, "1 2", "1 2");
    assert_part(&f, 0, 1, "2 3 0", "0 2 3");
    assert_part(&f, 0, 2, "3 4 1 0", "1 0 3 4");
    assert_part(&f, 0, 4, "3 2", "3 2");
    iw_program_free(f.program);
}

static void one_way_halos_send_up_and_receive_from_below(void **state)
{
    iw_pattern pattern = IW_PATTERN_INIT;
    struct fixture f;

    (void)state;
    pattern.ranks = 5;
    pattern.is_one_way = true;
    make(&f, "halo1d", &pattern);
    assert_int_equal(f.op->algorithm->round_count(f.op), 1);
    assert_part(&f, 0, 0, "1", "4");
    iw_program_free(f.program);
}

static void split_halos_take_one_direction_a_round(void **state)
{
    iw_pattern pattern = IW_PATTERN_INIT;
    struct fixture f;

    (void)state;
    pattern.ranks = 12; /* 4 x 3 */
    pattern.is_split = true;
    make(&f, "halo2d", &pattern);
    assert_int_equal(f.op->algorithm->round_count(f.op), 4);
    assert_part(&f, 0, 4, "7", "1");
    assert_part(&f, 1, 4, "1", "7");
    assert_part(&f, 2, 4, "5", "3");
    assert_part(&f, 3, 4, "3", "5");
    iw_program_free(f.program);

    pattern.distance = 2;
    make(&f, "halo1d", &pattern);
    assert_int_equal(f.op->algorithm->round_count(f.op), 2);
    assert_part(&f, 0, 4, "5 6", "3 2");
    assert_part(&f, 1, 4, "3 2", "5 6");
    iw_program_free(f.program);
}

static void the_last_dimension_is_numbered_fastest(void **state)
{
    iw_pattern pattern = IW_PATTERN_INIT;
    struct fixture f;

    (void)state;
    pattern.ranks = 24; /* 4 x 3 x 2 */
    pattern.is_periodic = false;
    make(&f, "halo3d", &pattern);
    assert_part(&f, 0, 0, "6 2 1", "6 2 1");
    assert_part(&f, 0, 8, "14 2 10 6 9", "2 14 6 10 9");
    iw_program_free(f.program);
}

static void two_periodic_ranks_exchange_two_messages(void **state)
{
    iw_pattern pattern = IW_PATTERN_INIT;
    struct fixture f;

    (void)state;
    pattern.ranks = 2;
    make(&f, "halo1d", &pattern);
    assert_part(&f, 0, 0, "1 1", "1 1");
    assert_int_equal(f.recvs[0].slot, 0);
    assert_int_equal(f.recvs[1].slot, 1);
    iw_program_free(f.program);

    pattern.ranks = 6; /* 3 x 2 */
    make(&f, "halo2d", &pattern);
    assert_part(&f, 0, 0, "2 4 1 1", "4 2 1 1");
    assert_int_equal(f.recvs[2].slot, 2);
    assert_int_equal(f.recvs[3].slot, 3);
    iw_program_free(f.program);
}

static void a_dimension_of_one_rank_has_no_neighbours(void **state)
{
    iw_pattern pattern = IW_PATTERN_INIT;
    struct fixture f;

    (void)state;
    pattern.ranks = 5; /* 5 x 1 */
    make(&f, "halo2d", &pattern);
    assert_part(&f, 0, 0, "1 4", "4 1");
    assert_int_equal(iw_program_messages(f.program), 10);
    iw_program_free(f.program);
}

static void the_slowest_dimension_streams_when_split(void **state)
{
    iw_pattern pattern = IW_PATTERN_INIT;
    struct iwi_round round;
    struct fixture f;

    (void)state;
    pattern.ranks = 12;
    pattern.is_split = true;
    make(&f, "halo2d", &pattern);
    f.op->algorithm->round(f.op, 1, &round);
    assert_true(round.is_shift);
    assert_int_equal(round.shift, 9);
    f.op->algorithm->round(f.op, 2, &round);
    assert_false(round.is_shift);
    iw_program_free(f.program);
}

/* ---- sweep2d ---- */

static void check_sweep(uint32_t ranks)
{
    iw_pattern pattern = IW_PATTERN_INIT;
    uint8_t works[256] = {0};
    uint64_t visits = 0;
    struct iwi_round round;
    struct fixture f;

    pattern.ranks = ranks;
    pattern.compute_ps = 7;
    make(&f, "sweep2d", &pattern);
    for (uint64_t index = 0; index < f.op->algorithm->round_count(f.op); index++) {
        f.op->algorithm->round(f.op, index, &round);
        for (uint32_t a = 0; a < round.range_count; a++) {
            for (uint32_t i = 0; i < round.active[a].count; i++) {
                const uint32_t rank = iwi_range_rank(&round.active[a], ranks, i);

                f.op->algorithm->role(f.op, index, rank, &f.role);
                works[rank] = (uint8_t)(works[rank] + (f.role.is_phase && f.role.work_ps == 7));
                assert_true(f.role.work_ps == 0 || f.role.send_count == 0); /* sends come a round later */
                visits++;
            }
        }
    }
    for (uint32_t rank = 0; rank < ranks; rank++) {
        assert_int_equal(works[rank], 1);
    }
    assert_int_equal(visits, ranks + ranks - 1); /* each once to work, all but the last once to send */
    iw_program_free(f.program);
}

static void a_sweep_works_once_on_each_rank_at_the_cost_of_its_diagonals(void **state)
{
    (void)state;
    for (uint32_t ranks = 1; ranks <= 64; ranks++) {
        check_sweep(ranks);
    }
    check_sweep(240);
}

static void a_sweep_waits_for_west_and_north(void **state)
{
    iw_pattern pattern = IW_PATTERN_INIT;
    struct fixture f;

    (void)state;
    pattern.ranks = 12; /* 4 rows of 3 */
    pattern.compute_ps = 7;
    make(&f, "sweep2d", &pattern);
    assert_part(&f, 0, 0, "", "");
    assert_int_equal(f.role.work_ps, 7);
    assert_part(&f, 1, 0, "1 3", "");
    assert_int_equal(f.role.work_ps, 0);
    assert_part(&f, 2, 4, "", "3 1");
    assert_int_equal(f.recvs[1].slot, 1); /* rank 1 sends to the east first */
    assert_part(&f, 3, 5, "", "4 2");
    assert_int_equal(f.recvs[1].slot, 0); /* rank 2 has no east */
    assert_part(&f, 5, 11, "", "10 8");
    assert_int_equal(f.op->algorithm->round_count(f.op), 6);
    iw_program_free(f.program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dimensions_are_chosen_as_square_as_possible),
        cmocka_unit_test(given_dimensions_stay_and_the_others_follow),
        cmocka_unit_test(impossible_dimensions_are_refused),
        cmocka_unit_test(a_line_ends_at_open_borders),
        cmocka_unit_test(one_way_halos_send_up_and_receive_from_below),
        cmocka_unit_test(split_halos_take_one_direction_a_round),
        cmocka_unit_test(the_last_dimension_is_numbered_fastest),
        cmocka_unit_test(two_periodic_ranks_exchange_two_messages),
        cmocka_unit_test(a_dimension_of_one_rank_has_no_neighbours),
        cmocka_unit_test(the_slowest_dimension_streams_when_split),
        cmocka_unit_test(a_sweep_works_once_on_each_rank_at_the_cost_of_its_diagonals),
        cmocka_unit_test(a_sweep_waits_for_west_and_north),
    };

    return cmocka_run_group_tests_name("grid", tests, NULL, NULL);
}
