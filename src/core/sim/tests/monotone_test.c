/* Which programs can only end later for more noise, and what happens with the others.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/sim/monotone.h"

#include <stdio.h>
#include <string.h>

#include "dag.h"
#include "random_program.h"
#include "support/support.h"

static bool is_monotone(const iw_program *program)
{
    bool is = false;

    assert_ok(iwi_is_monotone(NULL, program, iw_net_builtin("chic"), IW_RULES_IDLEWAVE, IW_SYNC_NONE, &is));
    return is;
}

/* ---- Graham's anomaly ---- */

/* examples/anomaly.goal */
static void make_anomaly(struct iwt_dag *d)
{
    iwt_dag_rank(d);
    iwt_dag_calc(d, IWT_NS(50));
    iwt_dag_send(d, 1, 1, 0);
    iwt_dag_requires(d, 0);
    iwt_dag_rank(d);
    iwt_dag_recv(d, 0, 1, 0);
    iwt_dag_calc(d, IWT_NS(1000));
    iwt_dag_requires(d, 0);
    iwt_dag_recv(d, 2, 1, 0);
    iwt_dag_send(d, 2, 1, 1);
    iwt_dag_requires(d, 2);
    iwt_dag_rank(d);
    iwt_dag_calc(d, IWT_NS(60));
    iwt_dag_send(d, 1, 1, 0);
    iwt_dag_requires(d, 0);
    iwt_dag_recv(d, 1, 1, 1);
    iwt_dag_requires(d, 1);
    iwt_dag_calc(d, IWT_NS(1000));
    iwt_dag_requires(d, 2);
    iwt_dag_end(d);
}

static iw_time makespan(const iw_program *program)
{
    const iw_net net = iwt_example_net();
    const iw_sim_opts opts = IW_SIM_OPTS_INIT;
    iw_sim_result *result = iwt_run(program, &net, NULL, &opts);
    const iw_time end_ps = result->makespan_ps[0];

    iw_sim_result_free(result);
    return end_ps;
}

/* Quiet: rank 0's message is at rank 1 at 62, which computes from 64 to 1064, then serves rank 2's (there
 * since 72) and sends from 1066 to 1068; rank 2 receives from 1078 to 1080 and computes until 2080. Delayed
 * by 150: rank 1 serves rank 2's from 72 to 74 and sends until 76; rank 2 computes from 88 to 1088; rank 0's
 * message is there at 212, and rank 1 computes from 214 to 1214. */
static void a_delay_can_help_where_what_is_ready_comes_first(void **state)
{
    const iw_delay delay = {.rank = 0, .step = 1, .time_ps = IWT_NS(150)};
    struct iwt_dag quiet = {.ranks = 0}, delayed = {.ranks = 0};

    (void)state;
    make_anomaly(&quiet);
    make_anomaly(&delayed);
    assert_ok(iwi_schedule_put_in_order(NULL, &quiet.schedule));
    delayed.program.delays = (iw_delay *)&delay;
    delayed.program.delay_count = 1;
    assert_false(quiet.schedule.is_in_order);
    assert_int_equal(makespan(&quiet.program), IWT_NS(2080));
    assert_int_equal(makespan(&delayed.program), IWT_NS(1214));
    assert_false(is_monotone(&quiet.program));
}

/* ---- waits ---- */

/* Rank 2 waits for a message of rank 0, which computes before it sends it, and for one byte of rank 1, which
 * computes 98 ns. */
static iw_program *two_receives(iw_time work_ps, uint64_t bytes)
{
    struct iwt_builder b;
    iw_program *program;

    iwt_builder_init(&b, 3);
    iwt_calc(&b, 0, work_ps);
    iwt_send(&b, 0, 2, bytes, 0);
    iwt_calc(&b, 1, IWT_NS(98));
    iwt_send(&b, 1, 2, 1, 0);
    iwt_irecv(&b, 2, 0, 1, 0); /* the size that comes is that of the message */
    iwt_irecv(&b, 2, 1, 1, 0);
    iwt_wait(&b, 2);
    program = iwt_program(&b);
    iwt_builder_release(&b);
    return program;
}

/* 90 bytes, sent at 0, are there at 2 + 10 + 89 = 101 and served until 103; their gap lasts until 101 + 5 +
 * 89 = 195, so the byte that is there at 98 + 2 + 10 = 110 is served from 195 to 197. Sent at 10 they are
 * there at 111: the byte is served from 110 to 112, its gap lasts until 115, and the 90 bytes are served
 * until 117. */
static void a_delay_can_help_where_a_wait_is_for_different_sizes(void **state)
{
    iw_program *quiet = two_receives(0, 90), *delayed = two_receives(IWT_NS(10), 90);

    (void)state;
    assert_int_equal(makespan(quiet), IWT_NS(197));
    assert_int_equal(makespan(delayed), IWT_NS(117));
    assert_false(is_monotone(quiet));
    iw_program_free(quiet);
    iw_program_free(delayed);
}

static void a_wait_for_messages_of_one_size_is_monotone(void **state)
{
    iw_program *program = two_receives(0, 1);

    (void)state;
    assert_true(is_monotone(program));
    program->schedule->nic_count = 2;
    program->schedule->nodes[program->schedule->first_node[2]].nic = 1; /* two gaps */
    assert_false(is_monotone(program));
    iw_program_free(program);
}

static void receives_of_anything_are_not_monotone(void **state)
{
    iw_program *program = two_receives(0, 1);
    struct iwi_node *recv = &program->schedule->nodes[program->schedule->first_node[2]];

    (void)state;
    program->schedule->facts.are_known = false; /* what was counted changes */
    recv->tag = IWI_ANY;
    assert_false(is_monotone(program));
    recv->tag = 0;
    recv->peer = IWI_ANY;
    assert_false(is_monotone(program));
    iw_program_free(program);
}

static void other_rules_and_noise_that_follows_phases_are_not_monotone(void **state)
{
    iw_program *program = two_receives(0, 1);
    bool is = true;

    (void)state;
    assert_ok(iwi_is_monotone(NULL, program, iw_net_builtin("chic"), IW_RULES_LOGGOPSIM, IW_SYNC_NONE, &is));
    assert_false(is);
    assert_ok(iwi_is_monotone(NULL, program, iw_net_builtin("chic"), IW_RULES_IDLEWAVE, IW_SYNC_PHASE, &is));
    assert_false(is);
    assert_ok(iwi_is_monotone(NULL, program, iw_net_builtin("chic"), IW_RULES_IDLEWAVE, IW_SYNC_START, &is));
    assert_true(is);
    iw_program_free(program);
}

/* ---- patterns ---- */

static iw_program *pattern(const char *operations, uint32_t ranks, uint64_t bytes)
{
    iw_pattern p = IW_PATTERN_INIT;
    iw_program *program = NULL;

    p.ranks = ranks;
    p.bytes = bytes;
    p.segment_bytes = 32;
    p.repeat = 2;
    p.nodes.ranks = 3;
    p.compute_ps = IWT_NS(30);
    assert_ok(iw_program_from_pattern(NULL, operations, &p, &program));
    return program;
}

/* Two trees carry half of the data each, in segments of 32 bytes: in one round a whole one comes on one tree
 * and the rest on the other. */
static void a_round_that_brings_different_sizes_is_not_monotone(void **state)
{
    iw_program *odd = pattern("allreduce:double-tree", 2, 75);
    iw_program *even = pattern("allreduce:double-tree", 2, 128);

    (void)state;
    assert_false(is_monotone(odd));
    assert_true(is_monotone(even));
    iw_program_free(odd);
    iw_program_free(even);
}

/* ---- what the answer promises ---- */

/* Whether a second source on top of the first ends some rank earlier, on a random network that does not allow
 * it by itself. */
static bool ends_earlier(const iw_program *program, struct iwt_random *random, iw_sync sync)
{
    iw_net net = iwt_random_net(random);
    const iw_sim_opts opts = IW_SIM_OPTS_INIT;
    iw_noise *noise = NULL;
    iw_sim_result *less, *more;
    bool is_earlier = false, is_monotone;

    assert_ok(iwi_is_monotone(NULL, program, &net, IW_RULES_IDLEWAVE, IW_SYNC_NONE, &is_monotone));
    net = is_monotone ? net : iwt_random_flat_net(random);
    assert_ok(iw_noise_new(NULL, &noise));
    iw_noise_align(noise, sync, 0, 1);
    assert_ok(iw_noise_add(NULL, noise, "periodic:10000kHz,20ns"));
    less = iwt_run(program, &net, noise, &opts);
    assert_ok(
        iw_noise_add(NULL, noise, iwt_below(random, 2) ? "poisson:9000kHz,exp:30ns" : "bernoulli:0.3,25ns"));
    more = iwt_run(program, &net, noise, &opts);
    for (uint32_t rank = 0; rank < less->ranks; rank++) {
        is_earlier |= more->end_ps[rank] < less->end_ps[rank];
    }
    is_earlier |= less->makespan_ps[0] < less->noiseless_ps;
    iw_sim_result_free(less);
    iw_sim_result_free(more);
    iw_noise_free(noise);
    return is_earlier;
}

static void monotone_programs_end_no_earlier(void **state)
{
    unsigned monotone = 0;

    (void)state;
    for (uint64_t seed = 0; seed < 1600; seed++) {
        struct iwt_random random = {seed, 0};
        struct iwt_builder builder;
        iw_program *program;

        iwt_random_program(&random, seed % 4 ? IWT_MIXED_SIZES : IWT_ONE_SIZE, &builder);
        program = iwt_program(&builder);
        if (is_monotone(program)) {
            monotone++;
            assert_false(ends_earlier(program, &random, IW_SYNC_NONE));
        } else {
            assert_int_not_equal(seed % 4, 0);
        }
        iw_program_free(program);
        iwt_builder_release(&builder);
    }
    print_message("%u of 1600 programs are monotone\n", monotone);
    assert_in_range(monotone, 450, 1500);
}

/* A rank whose phase begins later meets the same detours later: a message may then come before them. */
static void noise_that_follows_phases_can_help(void **state)
{
    unsigned earlier = 0;

    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct iwt_random random = {seed, 0};
        struct iwt_builder builder;
        iw_program *program;

        iwt_random_program(&random, IWT_ONE_SIZE, &builder);
        program = iwt_program(&builder);
        earlier += ends_earlier(program, &random, IW_SYNC_PHASE);
        iw_program_free(program);
        iwt_builder_release(&builder);
    }
    print_message("%u of 200 programs end some rank earlier\n", earlier);
    assert_int_not_equal(earlier, 0);
}

static void monotone_patterns_end_no_earlier(void **state)
{
    static const uint32_t sizes[] = {2, 3, 8, 13, 16};
    const char *op, *algorithm, *summary;

    (void)state;
    for (size_t index = 0; iw_algorithm_info(index, &op, &algorithm, &summary); index++) {
        char name[64];

        (void)snprintf(name, sizeof name, "%s:%s", op, algorithm);
        for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
            struct iwt_random random = {index * 100 + k, 0};
            iw_program *program;

            if (strcmp(op, "pingpong") == 0 && sizes[k] % 2 == 1) {
                continue;
            }
            program = pattern(name, sizes[k], 1 + iwt_below(&random, 300));
            if (is_monotone(program)) {
                assert_false(ends_earlier(program, &random, IW_SYNC_NONE));
            }
            iw_program_free(program);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_delay_can_help_where_what_is_ready_comes_first),
        cmocka_unit_test(a_delay_can_help_where_a_wait_is_for_different_sizes),
        cmocka_unit_test(a_wait_for_messages_of_one_size_is_monotone),
        cmocka_unit_test(receives_of_anything_are_not_monotone),
        cmocka_unit_test(other_rules_and_noise_that_follows_phases_are_not_monotone),
        cmocka_unit_test(a_round_that_brings_different_sizes_is_not_monotone),
        cmocka_unit_test(monotone_programs_end_no_earlier),
        cmocka_unit_test(noise_that_follows_phases_can_help),
        cmocka_unit_test(monotone_patterns_end_no_earlier),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
