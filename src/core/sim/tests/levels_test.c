/* Networks with levels: equal ones are one, both engines agree, and stretches of one level are found.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <string.h>

#include "core/net/net.h"
#include "core/sim/flow/flow_pass.h"
#include "random_program.h"
#include "support/support.h"

/* The same costs at all levels. */
static iw_net with_equal_levels(iw_net net, iw_placement placement)
{
    static const uint32_t ranks[] = {2, 6, 24};

    net.placement = placement;
    net.inner_count = 3;
    for (uint32_t i = 0; i < 3; i++) {
        net.inner[i] = (iw_net_inner){.name = "inner", .ranks = ranks[i], .costs = net.costs};
    }
    return net;
}

static void compare(const iw_program *program, const iw_net *a, const iw_net *b, struct iwt_random *random,
                    const char *what)
{
    iw_noise *noise = iwt_random_noise(random);
    iw_sim_opts opts = IW_SIM_OPTS_INIT;

    opts.trials = 3;
    opts.lanes = 2;
    opts.rendezvous = iwt_below(random, 2) ? IW_RENDEZVOUS_IDEAL : IW_RENDEZVOUS_RTS_CTS;
    for (int engine = 0; engine < 2; engine++) {
        iw_sim_result *one, *other;

        opts.engine = engine == 0 ? IW_ENGINE_EVENT : IW_ENGINE_FLOW;
        one = iwt_run(program, a, noise, &opts);
        opts.engine = IW_ENGINE_FLOW;
        other = iwt_run(program, b, noise, &opts);
        if (memcmp(one->end_ps, other->end_ps, one->trials * one->ranks * sizeof *one->end_ps) != 0) {
            fail_msg("%s on %u ranks differs", what, one->ranks);
        }
        iw_sim_result_free(one);
        iw_sim_result_free(other);
    }
    iw_noise_free(noise);
}

static void equal_levels_are_one(void **state)
{
    struct iwt_random random = {1, 0};
    const char *op, *algorithm, *summary;

    (void)state;
    for (size_t index = 0; iw_algorithm_info(index, &op, &algorithm, &summary); index++) {
        const iw_net flat = iwt_random_flat_net(&random);
        const iw_net levels =
            with_equal_levels(flat, index % 2 ? IW_PLACEMENT_BLOCK : IW_PLACEMENT_ROUND_ROBIN);
        iw_pattern pattern = IW_PATTERN_INIT;
        iw_program *program = NULL;
        char name[64];

        snprintf(name, sizeof name, "%s:%s", op, algorithm);
        pattern.ranks = 2 * (1 + (uint32_t)iwt_below(&random, 40));
        pattern.bytes = iwt_below(&random, 500);
        pattern.repeat = 2;
        pattern.compute_ps = 5000;
        pattern.nodes = iw_net_nodes(&levels);
        if (iw_program_from_pattern(NULL, name, &pattern, &program) == IW_OK) {
            compare(program, &flat, &levels, &random, name);
            iw_program_free(program);
        }
    }
}

/* ---- stretches ---- */

static struct iwi_level_run run_at(const struct iwi_job *job, const struct iwi_pass *pass, uint32_t rank)
{
    const struct iwi_flow flow = {.job = job, .count = job->program->ranks, .lanes = 1};
    const struct iwi_span all = {.count = flow.count, .width_shift = 63};

    return iwi_level_run_at(&flow, &all, pass, rank, flow.count);
}

static uint32_t peer_of(const struct iwi_hop *hop, uint32_t rank, uint32_t ranks)
{
    return hop->is_flip ? rank ^ hop->flip : (rank + hop->shift) % ranks;
}

/* Every rank of a stretch has the levels that the stretch says. */
static void check_stretches(const struct iwi_job *job, const struct iwi_pass *pass)
{
    const uint32_t ranks = job->program->ranks;

    for (uint32_t rank = 0; rank < ranks;) {
        const struct iwi_level_run run = run_at(job, pass, rank);

        assert_in_range(run.count, 1, ranks - rank);
        for (uint32_t r = rank; r < rank + run.count; r++) {
            assert_int_equal(run.in,
                             iwi_level_between(&job->levels, r, peer_of(&pass->levels->from, r, ranks)));
            assert_int_equal(run.out,
                             iwi_level_between(&job->levels, r, peer_of(&pass->levels->to, r, ranks)));
        }
        rank += (uint32_t)run.count;
    }
}

static struct iwi_hop random_hop(struct iwt_random *random, uint32_t ranks)
{
    const bool is_flip = (ranks & (ranks - 1)) == 0 && iwt_below(random, 2);
    uint32_t flip = 1;

    while (2 * flip < ranks && iwt_below(random, 3)) {
        flip *= 2;
    }
    return (struct iwi_hop){.is_flip = is_flip, .shift = (uint32_t)iwt_below(random, ranks), .flip = flip};
}

static void stretches_have_one_level(void **state)
{
    struct iwt_random random = {2, 0};

    (void)state;
    for (int n = 0; n < 3000 / IWT_FEWER; n++) {
        const iw_program program = {.ranks =
                                        iwt_below(&random, 2) ? 256 : 2 + (uint32_t)iwt_below(&random, 300)};
        iw_net net = iwt_random_net(&random);
        struct iwi_pass_levels levels;
        const struct iwi_pass pass = {.has_receive = true, .has_send = true, .levels = &levels};
        struct iwi_job job = {.program = &program, .net = &net};

        if (net.inner_count > 0) {
            levels.from = random_hop(&random, program.ranks);
            levels.to = random_hop(&random, program.ranks);
            if (n % 3 == 0) {
                iwt_place_randomly(&random, program.ranks, &net);
            }
            assert_ok(iwi_levels_init(NULL, &net, program.ranks, &job.levels));
            check_stretches(&job, &pass);
            iwi_levels_release(&job.levels);
            iwi_net_release(&net);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_levels_are_one),
        cmocka_unit_test(stretches_have_one_level),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
