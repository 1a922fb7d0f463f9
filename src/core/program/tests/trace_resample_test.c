/* What replicas compute: drawn from the traced ranks, or copied.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/program/trace_resample.h"

#include "core/base/rng.h"
#include "support/made_trace.h"
#include "support/support.h"

enum { BASE = 4, STEPS = 50, LONG_STEP = 20 };

static iw_program *program_of(const struct iwt_made_trace *t, iw_replica_compute compute, uint32_t ranks,
                              uint64_t seed)
{
    iw_trace_opts opts = IW_TRACE_OPTS_INIT;
    iw_program *program = NULL;

    opts.ranks = ranks;
    opts.replica_compute = compute;
    opts.replica_seed = seed;
    assert_ok(iwi_program_from_rules(NULL, &t->trace, &opts, &iwi_rules_paper, &program));
    return program;
}

/* Each step: 1 to 1.5 us of computation, ten times as long in one step of all ranks and twice as long on
 * every fourth rank, then a barrier. Of any rank: those of the base are traced. */
static iw_time traced_ps(uint32_t rank, uint32_t step)
{
    const struct iwi_draw_id id = {5, 0, IWI_DRAW_TEST, 0, rank};
    const iw_time work = 1000000 + (iw_time)iwi_draw_below(id, step, 500000);

    return work * (step == LONG_STEP ? 10 : 1) * (rank % BASE == 1 ? 2 : 1);
}

static void make_steps(struct iwt_made_trace *t)
{
    iwt_made_trace_init(t, BASE);
    for (uint32_t step = 0; step < STEPS; step++) {
        for (uint32_t rank = 0; rank < BASE; rank++) {
            iwt_trace_compute(t, rank, traced_ps(rank, step), -1);
        }
        iwt_trace_collective_all(t, IWI_TRACE_BARRIER, 0, 0, 0);
    }
}

static iw_time phase_ps(const iw_program *program, uint32_t rank, uint32_t step)
{
    return iwi_trace_compute(program->trace, rank, step, traced_ps(rank % BASE, step));
}

/* Over the ranks, summed over the steps: what barriers make a program take. */
static double slowest_ps(const iw_program *program)
{
    double sum = 0;

    for (uint32_t step = 0; step < STEPS; step++) {
        iw_time most = 0;

        for (uint32_t rank = 0; rank < program->ranks; rank++) {
            most = phase_ps(program, rank, step) > most ? phase_ps(program, rank, step) : most;
        }
        sum += (double)most;
    }
    return sum;
}

static void traced_ranks_and_copies_compute_as_traced(void **state)
{
    struct iwt_made_trace t;
    iw_program *drawn, *copied;

    (void)state;
    make_steps(&t);
    drawn = program_of(&t, IW_REPLICA_RESAMPLE, 4 * BASE, 1);
    copied = program_of(&t, IW_REPLICA_COPY, 4 * BASE, 1);
    assert_null(copied->trace->resample);
    for (uint32_t step = 0; step < STEPS; step++) {
        for (uint32_t rank = 0; rank < 4 * BASE; rank++) {
            assert_int_equal(phase_ps(copied, rank, step), traced_ps(rank % BASE, step));
            assert_true(rank >= BASE || phase_ps(drawn, rank, step) == traced_ps(rank, step));
        }
    }
    iw_program_free(drawn);
    iw_program_free(copied);
    iwt_made_trace_release(&t);
}

static iw_time mean_ps(uint32_t step)
{
    iw_time sum = 0;

    for (uint32_t rank = 0; rank < BASE; rank++) {
        sum += traced_ps(rank, step);
    }
    return (sum + BASE / 2) / BASE;
}

/* m(n) T(b,k) / m(k), to the picosecond, for some k of the same rank; never across the long step. */
static void phases_are_those_of_other_steps_scaled_by_the_means(void **state)
{
    struct iwt_made_trace t;
    iw_program *program;

    (void)state;
    make_steps(&t);
    program = program_of(&t, IW_REPLICA_RESAMPLE, 8 * BASE, 3);
    for (uint32_t step = 0; step < STEPS; step++) {
        for (uint32_t rank = BASE; rank < 8 * BASE; rank++) {
            const iw_time drawn = phase_ps(program, rank, step);
            bool is_found = false;

            for (uint32_t k = 0; k < STEPS; k++) {
                const unsigned __int128 product =
                    (unsigned __int128)(uint64_t)mean_ps(step) * (uint64_t)traced_ps(rank % BASE, k);

                is_found |= (step == LONG_STEP) == (k == LONG_STEP) &&
                            drawn == (iw_time)((product + (uint64_t)mean_ps(k) / 2) / (uint64_t)mean_ps(k));
            }
            assert_true(is_found);
        }
    }
    iw_program_free(program);
    iwt_made_trace_release(&t);
}

static void imbalance_grows_with_ranks_and_copies_do_not_have_that(void **state)
{
    struct iwt_made_trace t;
    double before = 0;

    (void)state;
    make_steps(&t);
    for (uint32_t replicas = 1; replicas <= 64; replicas *= 4) {
        iw_program *drawn = program_of(&t, IW_REPLICA_RESAMPLE, replicas * BASE, 1);
        iw_program *copied = program_of(&t, IW_REPLICA_COPY, replicas * BASE, 1);

        assert_true(slowest_ps(drawn) > 1.01 * before);
        before = slowest_ps(drawn);
        assert_true(replicas > 1 ? slowest_ps(copied) < before : slowest_ps(copied) == before);
        iw_program_free(drawn);
        iw_program_free(copied);
    }
    iwt_made_trace_release(&t);
}

/* What the same program loses on 256 ranks of its own, beyond the 4 that are traced. */
static void imbalance_grows_by_what_it_truly_does(void **state)
{
    enum { RANKS = 64 * BASE };
    struct iwt_made_trace t;
    iw_program *drawn, *traced;
    double truth = 0, growth;

    (void)state;
    make_steps(&t);
    drawn = program_of(&t, IW_REPLICA_RESAMPLE, RANKS, 1);
    traced = program_of(&t, IW_REPLICA_RESAMPLE, BASE, 1);
    for (uint32_t step = 0; step < STEPS; step++) {
        iw_time most = 0;

        for (uint32_t rank = 0; rank < RANKS; rank++) {
            most = traced_ps(rank, step) > most ? traced_ps(rank, step) : most;
        }
        truth += (double)most;
    }
    growth = (slowest_ps(drawn) - slowest_ps(traced)) / (truth - slowest_ps(traced));
    assert_true(growth > 0.6 && growth < 1.2);
    iw_program_free(drawn);
    iw_program_free(traced);
    iwt_made_trace_release(&t);
}

static void what_a_rank_draws_depends_on_seed_and_rank_alone(void **state)
{
    struct iwt_made_trace t;
    iw_program *few, *many, *other;
    uint32_t equal = 0;

    (void)state;
    make_steps(&t);
    few = program_of(&t, IW_REPLICA_RESAMPLE, 4 * BASE, 1);
    many = program_of(&t, IW_REPLICA_RESAMPLE, 32 * BASE, 1);
    other = program_of(&t, IW_REPLICA_RESAMPLE, 4 * BASE, 2);
    for (uint32_t step = 0; step < STEPS; step++) {
        for (uint32_t rank = BASE; rank < 4 * BASE; rank++) {
            assert_int_equal(phase_ps(few, rank, step), phase_ps(many, rank, step));
            equal += phase_ps(few, rank, step) == phase_ps(other, rank, step);
        }
    }
    assert_true(equal < 3 * BASE * STEPS / 5); /* the same draw once in some fifty */
    iw_program_free(few);
    iw_program_free(many);
    iw_program_free(other);
    iwt_made_trace_release(&t);
}

/* 1 ns or so between the calls of an exchange, 1 ms before it; what is unlike is not mixed. One rank has no
 * left neighbour, and so fewer calls. */
static void places_between_calls_are_told_apart(void **state)
{
    struct iwt_made_trace t;
    struct iwi_schedule *schedule;
    iw_program *program;

    (void)state;
    iwt_made_trace_init(&t, 2);
    for (int step = 0; step < 20; step++) {
        for (uint32_t rank = 0; rank < 2; rank++) {
            uint32_t requests[2];

            iwt_trace_compute(&t, rank, 1000000000 + 1000000 * (step % 7), -1);
            requests[0] = iwt_trace_message(&t, rank, IWI_CALL_IRECV, 1 - rank, 0, 1, 8);
            iwt_trace_compute(&t, rank, 1000 + 100 * (step % 5), -1);
            requests[1] = iwt_trace_message(&t, rank, IWI_CALL_ISEND, 1 - rank, 0, 1, 8);
            iwt_trace_wait(&t, rank, requests, rank == 0 ? 2 : 1);
            if (rank == 1) {
                iwt_trace_wait(&t, rank, &requests[1], 1);
            }
        }
    }
    program = program_of(&t, IW_REPLICA_RESAMPLE, 16, 1);
    assert_ok(iwi_program_unroll(NULL, program, &schedule));
    for (uint64_t n = schedule->first_node[2]; n < schedule->first_node[16]; n++) {
        const struct iwi_node *node = &schedule->nodes[n];

        assert_true(node->kind != IWI_CALC || node->amount <= 1400 || node->amount >= 1000000000);
    }
    iwi_schedule_free(schedule);
    iw_program_free(program);
    iwt_made_trace_release(&t);
}

/* Where only one rank was traced nothing tells what all ranks share from what one does. */
static void one_traced_rank_is_copied(void **state)
{
    struct iwt_made_trace t;
    iw_program *program;

    (void)state;
    iwt_made_trace_init(&t, 1);
    for (uint32_t step = 0; step < 8; step++) {
        iwt_trace_compute(&t, 0, traced_ps(0, step), -1);
        iwt_trace_collective_all(&t, IWI_TRACE_BARRIER, 0, 0, 0);
    }
    t.trace.ranks[0].last_compute_wall_ps = 77;
    program = program_of(&t, IW_REPLICA_RESAMPLE, 5, 1);
    for (uint32_t step = 0; step < 8; step++) {
        assert_int_equal(iwi_trace_compute(program->trace, 3, step, 1), traced_ps(0, step));
    }
    assert_int_equal(iwi_trace_compute(program->trace, 3, 8, 1), 77);
    iw_program_free(program);
    iwt_made_trace_release(&t);
}

/* What is kept is what would be drawn. */
static void kept_phases_are_drawn_ones(void **state)
{
    struct iwt_made_trace t;
    iw_program *program;

    (void)state;
    make_steps(&t);
    program = program_of(&t, IW_REPLICA_RESAMPLE, 9 * BASE, 3);
    assert_int_equal(program->trace->resample->kept, 8);
    for (uint32_t rank = BASE; rank < 9 * BASE; rank++) {
        for (uint32_t step = 0; step < STEPS; step++) {
            assert_int_equal(phase_ps(program, rank, step), iwi_trace_drawn(program->trace, rank, step));
        }
    }
    iw_program_free(program);
    iwt_made_trace_release(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(traced_ranks_and_copies_compute_as_traced),
        cmocka_unit_test(phases_are_those_of_other_steps_scaled_by_the_means),
        cmocka_unit_test(imbalance_grows_with_ranks_and_copies_do_not_have_that),
        cmocka_unit_test(imbalance_grows_by_what_it_truly_does),
        cmocka_unit_test(what_a_rank_draws_depends_on_seed_and_rank_alone),
        cmocka_unit_test(places_between_calls_are_told_apart),
        cmocka_unit_test(one_traced_rank_is_copied),
        cmocka_unit_test(kept_phases_are_drawn_ones),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
