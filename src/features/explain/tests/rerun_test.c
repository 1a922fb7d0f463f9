/* The run again: the same times with nothing left out, those of the model without a cause.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/explain/arrivals/rerun.h"

#include <stdlib.h>

#include "core/base/rng.h"
#include "run_model.h"
#include "support/support.h"

enum { MOST_STEPS = 16, RANDOM_RANKS = 5, RANDOM_ACTIVITIES = 200 };

/* Lateness of a host that nobody named can only be seen where the device stood still; a part of it may be
 * hidden behind a transfer. */
#define HIDDEN_PS (100 * IW_PS_PER_US)

static const struct iwt_model usual = {.seed = 1,
                                       .ranks = 8,
                                       .steps = 9,
                                       .kernels = 40,
                                       .slow_rank = UINT32_MAX,
                                       .late_ps = 0,
                                       .collection_ps = 0,
                                       .loading_ps = 0,
                                       .has_launches = true};

static void expect_traced(const struct iwi_visits *visits, const struct iwi_rerun *rerun)
{
    iw_time begin_ps, end_ps;

    for (size_t i = 0; i < visits->visit_count; i++) {
        iwi_rerun_visit(rerun, i, &begin_ps, &end_ps);
        assert_int_equal(begin_ps, visits->visits[i].enter_ps);
        assert_int_equal(end_ps, visits->visits[i].leave_ps);
    }
    for (size_t i = 0; i < visits->stretch_count; i++) {
        iwi_rerun_stretch(rerun, i, &begin_ps, &end_ps);
        assert_int_equal(begin_ps, visits->stretches[i].begin_ps);
        assert_int_equal(end_ps, visits->stretches[i].end_ps);
    }
}

static void leave_out(const struct iwi_visits *visits, struct iwi_rerun *rerun, unsigned causes,
                      iw_time *steps_ps)
{
    bool *is_left_out = iwi_new_array(NULL, visits->pause_count, sizeof *is_left_out);

    assert_non_null(is_left_out);
    for (size_t i = 0; i < visits->pause_count; i++) {
        is_left_out[i] = (causes & 1U << visits->pauses[i].cause) != 0;
    }
    assert_ok(iwi_rerun_run(rerun, is_left_out, steps_ps));
    free(is_left_out);
}

/* Step times of the model without `causes` and of the rerun of its trace differ by at most `most_ps`. */
static void expect_model(const struct iwt_model *model, unsigned causes, iw_time most_ps)
{
    iw_time truth_ps[MOST_STEPS], traced_ps[MOST_STEPS], found_ps[MOST_STEPS];
    struct iwi_visits visits, without;
    struct iwi_rerun *rerun;

    iwt_model_run(model, 0, &visits, traced_ps);
    iwt_model_run(model, causes, &without, truth_ps);
    assert_ok(iwi_visits_finish(&visits));
    assert_ok(iwi_rerun_new(&visits, &rerun));
    assert_int_equal(iwi_rerun_step_count(rerun), model->steps);
    assert_ok(iwi_rerun_run(rerun, NULL, found_ps));
    expect_traced(&visits, rerun);
    for (uint32_t step = 0; step < model->steps; step++) {
        assert_int_equal(iwi_rerun_step_number(rerun, step), step);
        if (found_ps[step] != traced_ps[step]) {
            fail_msg("step %u: %lld ps, traced %lld", step, (long long)found_ps[step],
                     (long long)traced_ps[step]);
        }
    }
    leave_out(&visits, rerun, causes, found_ps);
    for (uint32_t step = 0; step < model->steps; step++) {
        if (llabs(found_ps[step] - truth_ps[step]) > most_ps) {
            fail_msg("step %u: %lld ps, the model has %lld, traced %lld", step, (long long)found_ps[step],
                     (long long)truth_ps[step], (long long)traced_ps[step]);
        }
    }
    iwi_rerun_free(rerun);
    iwi_visits_release(&visits);
    iwi_visits_release(&without);
}

static void expect_all_forms(struct iwt_model model, unsigned causes, iw_time most_ps)
{
    for (int merged = 0; merged < 2; merged++) {
        for (model.seed = 1; model.seed <= 4; model.seed++) {
            model.is_merged = merged != 0;
            expect_model(&model, causes, most_ps);
        }
    }
}

static void a_collection_that_the_queue_absorbs_costs_nothing(void **state)
{
    struct iwt_model model = usual;

    (void)state;
    model.collection_ps = 2 * IW_PS_PER_MS; /* 20 kernels are ahead by 4 ms */
    expect_all_forms(model, 1U << IWI_PAUSE_GC, 0);
}

static void a_longer_collection_costs_what_was_not_absorbed(void **state)
{
    struct iwt_model model = usual;

    (void)state;
    model.collection_ps = 30 * IW_PS_PER_MS;
    expect_all_forms(model, 1U << IWI_PAUSE_GC, 0);
}

static void loading_counts_in_full(void **state)
{
    struct iwt_model model = usual;

    (void)state;
    model.loading_ps = 3 * IW_PS_PER_MS;
    expect_all_forms(model, 1U << IWI_PAUSE_LOADER, 0);
}

static void a_slow_rank_costs_its_excess(void **state)
{
    struct iwt_model model = usual;

    (void)state;
    model.slow_rank = 5;
    expect_all_forms(model, 1U << IWI_PAUSE_SLOW, 0);
}

static void late_launches_cost_their_gaps(void **state)
{
    struct iwt_model model = usual;

    (void)state;
    model.late_ps = 20 * IW_PS_PER_MS;
    expect_all_forms(model, 1U << IWI_PAUSE_LAUNCH, HIDDEN_PS);
}

static void causes_are_told_apart(void **state)
{
    struct iwt_model model = usual;

    (void)state;
    model.collection_ps = 30 * IW_PS_PER_MS;
    model.loading_ps = 2 * IW_PS_PER_MS;
    model.slow_rank = 3;
    model.late_ps = 15 * IW_PS_PER_MS;
    for (unsigned cause = 0; cause < IWI_PAUSE_OTHER; cause++) {
        expect_all_forms(model, 1U << cause, HIDDEN_PS);
    }
    expect_all_forms(model, (1U << IWI_PAUSE_GC) | (1U << IWI_PAUSE_SLOW), HIDDEN_PS);
}

/* ---- whatever a file says ---- */

static iw_time draw(uint64_t seed, uint64_t *index, uint64_t below)
{
    return (iw_time)iwi_draw_below((struct iwi_draw_id){.seed = seed, .purpose = IWI_DRAW_TEST}, (*index)++,
                                   below);
}

/* Times without sense: lanes overlap, members leave before others come, some take no time. */
static void make_random(uint64_t seed, struct iwi_visits *visits)
{
    uint32_t members[RANDOM_RANKS], group;
    uint64_t at = 0;

    iwi_visits_init(visits, NULL, "test");
    for (uint32_t rank = 0; rank < RANDOM_RANKS; rank++) {
        assert_ok(iwi_visits_rank(visits, rank, "", &members[rank]));
    }
    assert_ok(iwi_visits_group(visits, "all", members, RANDOM_RANKS, RANDOM_RANKS, &group));
    for (uint64_t i = 0; i < RANDOM_ACTIVITIES; i++) {
        const uint32_t rank = (uint32_t)draw(seed, &at, RANDOM_RANKS);
        const iw_time begin_ps = draw(seed, &at, 1000), end_ps = begin_ps + draw(seed, &at, 20);
        const iw_time queued_ps = draw(seed, &at, 3) * draw(seed, &at, 30);
        const struct iwi_stretch stretch = {.rank = rank,
                                            .step = (uint32_t)(begin_ps / 300),
                                            .stream = (uint16_t)draw(seed, &at, 2),
                                            .begin_ps = begin_ps,
                                            .end_ps = end_ps,
                                            .queued_ps = queued_ps};
        const struct iwi_pause pause = {.rank = rank,
                                        .cause = (uint8_t)draw(seed, &at, IWI_PAUSE_CAUSES),
                                        .is_on_host = draw(seed, &at, 2) == 0,
                                        .begin_ps = begin_ps,
                                        .end_ps = begin_ps + draw(seed, &at, 50)};
        const struct iwi_host_wait wait = {.rank = rank, .begin_ps = begin_ps - 10, .end_ps = end_ps};

        assert_ok(iwi_visits_add_stretch(visits, &stretch));
        assert_ok(iwi_visits_add_pause(visits, &pause));
        if (draw(seed, &at, 4) == 0) {
            assert_ok(iwi_visits_add_host_wait(visits, &wait));
        }
        for (uint32_t r = 0; i % 4 == 0 && r < RANDOM_RANKS; r++) {
            const iw_time enter_ps = begin_ps + draw(seed, &at, 40);
            const struct iwi_visit visit = {.rank = r,
                                            .group = group,
                                            .op = IWI_VISIT_BROADCAST,
                                            .stream = (uint16_t)(1 + draw(seed, &at, 2)),
                                            .step = IWI_VISIT_NO_STEP,
                                            .sequence = i,
                                            .enter_ps = enter_ps,
                                            .leave_ps = enter_ps + draw(seed, &at, 40),
                                            .queued_ps = queued_ps,
                                            .ready_ps = draw(seed, &at, 40),
                                            .ahead_ps = draw(seed, &at, 2) * draw(seed, &at, 20),
                                            .has_root = i % 3 == 0,
                                            .root = (uint32_t)(i % RANDOM_RANKS)};

            assert_ok(iwi_visits_add(visits, &visit));
        }
    }
    assert_ok(iwi_visits_finish(visits));
}

static void any_run_is_reproduced_exactly(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct iwi_visits visits;
        struct iwi_rerun *rerun;
        iw_time steps_ps[RANDOM_ACTIVITIES];

        make_random(seed, &visits);
        assert_ok(iwi_rerun_new(&visits, &rerun));
        leave_out(&visits, rerun, 0, steps_ps);
        expect_traced(&visits, rerun);
        leave_out(&visits, rerun, UINT32_MAX, steps_ps);
        for (size_t i = 0; i < visits.stretch_count; i++) {
            iw_time begin_ps, end_ps;

            iwi_rerun_stretch(rerun, i, &begin_ps, &end_ps);
            assert_true(begin_ps <= visits.stretches[i].begin_ps && end_ps <= visits.stretches[i].end_ps);
        }
        iwi_rerun_free(rerun);
        iwi_visits_release(&visits);
    }
}

/* Two ranks compute 100 and meet, ten times; rank 1 is taken off its CPU for 30 in the middle of the fifth.
 * The transfer takes 7. */
static void a_program_without_device_loses_pauses_within_its_computation(void **state)
{
    struct iwi_visits visits;
    struct iwi_rerun *rerun;
    uint32_t members[2] = {0, 1}, group;
    iw_time at_ps = 0, steps_ps[1];

    (void)state;
    iwi_visits_init(&visits, NULL, "test");
    assert_ok(iwi_visits_rank(&visits, 0, "", &members[0]));
    assert_ok(iwi_visits_rank(&visits, 1, "", &members[1]));
    assert_ok(iwi_visits_group(&visits, "all", members, 2, 2, &group));
    for (uint64_t i = 0; i < 10; i++) {
        const iw_time met_ps = at_ps + (i == 4 ? 130 : 100);

        for (uint32_t rank = 0; rank < 2; rank++) {
            const iw_time end_ps = rank == 0 ? at_ps + 100 : met_ps;
            const struct iwi_stretch stretch = {.rank = rank, .begin_ps = at_ps, .end_ps = end_ps};
            const struct iwi_visit visit = {
                .rank = rank, .group = group, .sequence = i, .enter_ps = end_ps, .leave_ps = met_ps + 7};

            assert_ok(iwi_visits_add_stretch(&visits, &stretch));
            assert_ok(iwi_visits_add(&visits, &visit));
        }
        if (i == 4) {
            const struct iwi_pause pause = {.rank = 1,
                                            .cause = IWI_PAUSE_OTHER,
                                            .is_on_host = true,
                                            .begin_ps = at_ps + 50,
                                            .end_ps = at_ps + 80};

            assert_ok(iwi_visits_add_pause(&visits, &pause));
        }
        at_ps = met_ps + 7;
    }
    assert_ok(iwi_visits_finish(&visits));
    assert_ok(iwi_rerun_new(&visits, &rerun));
    assert_ok(iwi_rerun_run(rerun, NULL, steps_ps));
    assert_int_equal(steps_ps[0], 10 * 107 + 30);
    leave_out(&visits, rerun, 1U << IWI_PAUSE_OTHER, steps_ps);
    assert_int_equal(steps_ps[0], 10 * 107);
    iwi_rerun_free(rerun);
    iwi_visits_release(&visits);
}

/* Two GPUs gather, and compute 100 us with the result; rank 1 comes 40 us late. By the file, the kernel
 * begins 1 ns before the gathering ends. */
static void a_kernel_that_seems_to_begin_a_little_early_still_waits(void **state)
{
    const iw_time us = IW_PS_PER_US;
    struct iwi_visits visits;
    struct iwi_rerun *rerun;
    uint32_t members[2], group;
    iw_time steps_ps[1];

    (void)state;
    iwi_visits_init(&visits, NULL, "test");
    assert_ok(iwi_visits_rank(&visits, 0, "", &members[0]));
    assert_ok(iwi_visits_rank(&visits, 1, "", &members[1]));
    assert_ok(iwi_visits_group(&visits, "all", members, 2, 2, &group));
    for (uint32_t rank = 0; rank < 2; rank++) {
        const iw_time late_ps = rank * 40 * us, left_ps = 150 * us;
        const struct iwi_stretch before = {.rank = rank, .stream = 7, .end_ps = 100 * us + late_ps};
        const struct iwi_stretch after = {
            .rank = rank, .stream = 7, .begin_ps = left_ps - IW_PS_PER_NS, .end_ps = left_ps + 100 * us};
        const struct iwi_visit visit = {.rank = rank,
                                        .group = group,
                                        .op = IWI_VISIT_ALLGATHER,
                                        .stream = 20,
                                        .enter_ps = before.end_ps,
                                        .leave_ps = left_ps};

        assert_ok(iwi_visits_add_stretch(&visits, &before));
        assert_ok(iwi_visits_add(&visits, &visit));
        assert_ok(iwi_visits_add_stretch(&visits, &after));
    }
    assert_ok(iwi_visits_add_pause(
        &visits,
        &(struct iwi_pause){.rank = 1, .cause = IWI_PAUSE_SLOW, .begin_ps = 50 * us, .end_ps = 90 * us}));
    assert_ok(iwi_visits_finish(&visits));
    assert_ok(iwi_rerun_new(&visits, &rerun));
    expect_traced(&visits, rerun);
    leave_out(&visits, rerun, 1U << IWI_PAUSE_SLOW, steps_ps);
    assert_int_equal(steps_ps[0], 210 * us);
    iwi_rerun_free(rerun);
    iwi_visits_release(&visits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_collection_that_the_queue_absorbs_costs_nothing),
        cmocka_unit_test(a_longer_collection_costs_what_was_not_absorbed),
        cmocka_unit_test(loading_counts_in_full),
        cmocka_unit_test(a_slow_rank_costs_its_excess),
        cmocka_unit_test(late_launches_cost_their_gaps),
        cmocka_unit_test(causes_are_told_apart),
        cmocka_unit_test(any_run_is_reproduced_exactly),
        cmocka_unit_test(a_program_without_device_loses_pauses_within_its_computation),
        cmocka_unit_test(a_kernel_that_seems_to_begin_a_little_early_still_waits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
