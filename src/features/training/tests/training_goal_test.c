/* Steps as a graph, run by the event engine, end when the evaluator of training says, on every rank.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/sim.h>

#include <stdlib.h>

#include "core/base/base.h"
#include "core/base/rng.h"
#include "features/training/step_run.h"
#include "support/support.h"

enum { STEPS = 2, SEED = 11 };

/* What the graph has as ends: all lanes of the last step. */
static void compare(const iw_training *spec)
{
    iw_sim_opts opts = IW_SIM_OPTS_INIT;
    iw_training_opts training = IW_TRAINING_OPTS_INIT;
    const iw_net net = {.name = "none", .S_bytes = 1024};
    struct iwi_train_jitter *jitter;
    struct iwi_train_plan *plan;
    struct iwi_train_run *run;
    iw_program *program;
    iw_sim_result *result;
    size_t ranks;

    assert_ok(iwi_training_check(NULL, spec));
    assert_ok(iw_training_program(NULL, spec, STEPS, SEED, &program));
    opts.engine = IW_ENGINE_EVENT;
    opts.want_end_times = true;
    assert_ok(iw_simulate(NULL, program, &net, NULL, &opts, &result));
    assert_ok(iwi_train_plan_new(NULL, spec, &plan));
    training.seed = SEED;
    assert_ok(iwi_train_jitter_new(NULL, spec, &training, &jitter));
    assert_ok(iwi_train_run_new(NULL, spec, plan, jitter, &run));
    for (int i = 0; i < STEPS; i++) {
        (void)iwi_train_step(run);
    }
    ranks = (size_t)spec->pp * iwi_train_width(run);
    assert_int_equal(result->ranks, ranks);
    for (size_t r = 0; r < ranks; r++) {
        assert_int_equal(result->end_ps[r],
                         iwi_max(run->lanes[IWI_LANE_COMPUTE][r], run->lanes[IWI_LANE_GATHER][r]));
    }
    iwi_train_run_free(run);
    iwi_train_jitter_free(jitter);
    iwi_train_plan_free(plan);
    iw_sim_result_free(result);
    iw_program_free(program);
}

static uint32_t draw(uint64_t number, uint64_t index, uint32_t below)
{
    return (uint32_t)iwi_draw_below((struct iwi_draw_id){.seed = number, .purpose = IWI_DRAW_TEST}, index,
                                    below);
}

/* Any of schedules, shardings, overlaps, details; GPUs of different speed; hosts that are ahead or behind. */
static void make(uint64_t n, iw_training *spec)
{
    static const char *const slow[] = {"", "slow:1,1.7", "normal:0.1"};
    static const char *const launches[] = {"0s", "3us", "700us"};

    iw_training_init(spec);
    assert_ok(iw_training_set(NULL, spec, "model", "llama3-8b"));
    assert_ok(iw_training_set(NULL, spec, "rate", "494.5TFLOP/s"));
    assert_ok(iw_training_set(NULL, spec, "launch", launches[draw(n, 0, 3)]));
    assert_ok(iw_training_set(NULL, spec, "slow", slow[draw(n, 1, 3)]));
    spec->layers = 8;
    spec->tp = 1 + draw(n, 2, 2);
    spec->cp = 1 + draw(n, 3, 2);
    spec->dp = 1 + draw(n, 4, 3);
    spec->pp = 1u << draw(n, 5, 3);
    spec->chunks = spec->pp > 1 ? 1 + draw(n, 6, 2) : 1;
    spec->microbatches = spec->pp * (1 + draw(n, 7, 2));
    spec->schedule = spec->chunks == 1 && draw(n, 8, 3) == 0 ? IW_TRAINING_GPIPE : IW_TRAINING_1F1B;
    spec->sharding = (iw_training_sharding)draw(n, 9, spec->pp == 1 ? 3 : 2);
    spec->detail = draw(n, 10, 2) == 0 ? IW_TRAINING_BY_LAYER : IW_TRAINING_BY_CHUNK;
    spec->overlaps_gradients = draw(n, 11, 2) == 0;
    spec->overlaps_parameters = draw(n, 12, 2) == 0;
    spec->is_tied = draw(n, 13, 2) == 0;
    spec->queue = draw(n, 14, 2) == 0 ? 1000 : 45;
    spec->syncs_p2p = draw(n, 15, 2) == 0;
    spec->is_sequence_parallel = draw(n, 16, 2) == 0;
    spec->has_graphs = draw(n, 18, 3) == 0;
    spec->optimizer_ps = 12345678;
    if (draw(n, 17, 4) == 0 && spec->sharding != IW_TRAINING_FSDP) {
        spec->experts = 4;
        spec->top_k = 2;
        spec->expert_ffn = 2048;
        spec->ep = spec->cp;
    }
}

static void random_programs_end_alike(void **state)
{
    (void)state;
    for (uint64_t n = 1; n <= 150; n++) {
        iw_training spec;

        make(n, &spec);
        compare(&spec);
        iw_training_release(&spec);
    }
}

static iw_training_call random_call(uint64_t n, uint64_t index, bool is_weight)
{
    const iw_training_span spans[] = {IW_TRAINING_OVER_TP, IW_TRAINING_OVER_EP, IW_TRAINING_OVER_DP,
                                      IW_TRAINING_OVER_DP_EP};

    return (iw_training_call){.kind = (iw_training_call_kind)draw(n, index, 5),
                              .span = spans[is_weight ? 1 + draw(n, index + 1, 3) : draw(n, index + 1, 2)],
                              .bytes = draw(n, index + 2, 3) * 1e6};
}

/* Rows of a workload file: each micro-batch has others. */
static void make_rows(uint64_t n, iw_training *spec)
{
    spec->rows_each = 1 + draw(n, 20, 6);
    spec->row_count = spec->rows_each * spec->microbatches;
    spec->once_count = draw(n, 21, 4);
    spec->rows = calloc(spec->row_count, sizeof *spec->rows);
    spec->once_rows = calloc(spec->once_count + 1, sizeof *spec->rows);
    assert_non_null(spec->rows);
    assert_non_null(spec->once_rows);
    for (uint32_t i = 0; i < spec->row_count + spec->once_count; i++) {
        iw_training_row *row = i < spec->row_count ? &spec->rows[i] : &spec->once_rows[i - spec->row_count];

        for (uint32_t pass = 0; pass < IW_TRAINING_PASSES; pass++) {
            const uint64_t index = 100 + 16 * (uint64_t)i + 4 * pass;

            row->work_ps[pass] = (iw_time)draw(n, index + 3, 3) * (1 + draw(n, index, 900)) * IW_PS_PER_US;
            row->calls[pass] = random_call(n, index, pass == IW_TRAINING_WEIGHT_GRADIENT);
        }
    }
}

static void random_rows_end_alike(void **state)
{
    (void)state;
    for (uint64_t n = 1; n <= 100; n++) {
        iw_training spec;

        make(n, &spec);
        spec.sharding = IW_TRAINING_ZERO1;
        spec.ep = spec.cp * spec.dp % 2 == 0 ? 2 : 1;
        spec.experts = 0;
        make_rows(n, &spec);
        compare(&spec);
        iw_training_release(&spec);
    }
}

/* Messages that take longer than computation are under way side by side. */
static void long_hops(void **state)
{
    iw_training spec;

    (void)state;
    iw_training_init(&spec);
    assert_ok(iw_training_set(NULL, &spec, "forward", "1ms,2ms,3ms,1ms"));
    assert_ok(iw_training_set(NULL, &spec, "backward", "2ms"));
    assert_ok(iw_training_set(NULL, &spec, "hop", "7ms"));
    spec.pp = 4;
    spec.microbatches = 12;
    compare(&spec);
    iw_training_release(&spec);
}

static void what_a_graph_cannot_say_is_refused(void **state)
{
    iw_program *program = NULL;
    iw_training spec;

    (void)state;
    iw_training_init(&spec);
    assert_ok(iw_training_set(NULL, &spec, "forward", "1ms"));
    assert_ok(iw_training_set(NULL, &spec, "backward", "2ms"));
    assert_ok(iw_training_set(NULL, &spec, "load", "2ms"));
    assert_status(iw_training_program(NULL, &spec, 1, 1, &program), IW_ERR_UNSUPPORTED);
    spec.load_ps = 0;
    spec.dp = 1u << 20;
    assert_status(iw_training_program(NULL, &spec, 100, 1, &program), IW_ERR_RANGE);
    iw_training_release(&spec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_programs_end_alike),
        cmocka_unit_test(random_rows_end_alike),
        cmocka_unit_test(long_hops),
        cmocka_unit_test(what_a_graph_cannot_say_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
