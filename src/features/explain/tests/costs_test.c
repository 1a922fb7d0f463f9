/* What pauses cost, and whose they are, in runs of a model that can be run without them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/explain/arrivals/rerun.h"

#include <math.h>
#include <string.h>

#include "features/explain/arrivals/peers.h"
#include "run_model.h"
#include "support/support.h"

enum { STEPS = 12 };

static const struct iwt_model usual = {
    .seed = 11, .ranks = 8, .steps = STEPS, .kernels = 40, .slow_rank = UINT32_MAX, .has_launches = true};

static void assert_near(double found, double expected, double most)
{
    if (!(fabs(found - expected) <= most)) {
        fail_msg("%g, not %g +- %g", found, expected, most);
    }
}

/* Mean of a step, in ns. */
static double mean_ns(const iw_time *steps_ps)
{
    double sum_ns = 0.0;

    for (int k = 0; k < STEPS; k++) {
        sum_ns += (double)steps_ps[k] / IW_PS_PER_NS;
    }
    return sum_ns / STEPS;
}

/* A run of the model, and what it takes without `causes`. */
static void make(const struct iwt_model *model, unsigned causes, struct iwi_visits *visits, double *step_ns_p,
                 double *truth_ns_p)
{
    iw_time steps_ps[STEPS];

    iwt_model_run(model, causes, visits, steps_ps);
    *truth_ns_p = mean_ns(steps_ps);
    iwi_visits_release(visits);
    iwt_model_run(model, 0, visits, steps_ps);
    *step_ns_p = mean_ns(steps_ps);
    assert_ok(iwi_visits_finish(visits));
}

static const struct iwi_pause_cost *find(const struct iwi_pause_costs *costs, unsigned cause, uint32_t rank,
                                         const char *node)
{
    for (size_t i = 0; i < costs->count; i++) {
        if (costs->of[i].cause == cause && costs->of[i].rank == rank &&
            strcmp(costs->of[i].node, node) == 0) {
            return &costs->of[i];
        }
    }
    return NULL;
}

static void collections_are_named_with_their_ranks(void **state)
{
    struct iwt_model model = usual;
    struct iwi_visits visits;
    struct iwi_pause_costs costs;
    const struct iwi_pause_cost *whole, *left;
    double step_ns, truth_ns;

    (void)state;
    model.collection_ps = 20 * IW_PS_PER_MS; /* in steps 1, 4, 7, 10: on ranks 1, 4, 7, 2 */
    make(&model, 1U << IWI_PAUSE_GC, &visits, &step_ns, &truth_ns);
    assert_ok(iwi_pause_costs_find(&visits, &costs));
    assert_int_equal(costs.step_count, STEPS);
    assert_near(costs.step_ns, step_ns, 1.0);
    whole = find(&costs, IWI_PAUSE_GC, IWI_PAUSE_EVERYWHERE, "");
    assert_non_null(whole);
    assert_int_equal(whole->pauses, 4);
    assert_int_equal(whole->ranks, 4);
    assert_near(whole->saved_ns.value, step_ns - truth_ns, 1.0);
    assert_near(whole->share.value, (step_ns - truth_ns) / step_ns, 1e-6);
    assert_true(whole->saved_ns.low < whole->saved_ns.value && whole->saved_ns.value < whole->saved_ns.high);
    for (uint32_t rank = 0; rank < model.ranks; rank++) {
        const struct iwi_pause_cost *one = find(&costs, IWI_PAUSE_GC, rank, "");

        assert_int_equal(one != NULL, rank == 1 || rank == 2 || rank == 4 || rank == 7);
        assert_true(one == NULL ||
                    fabs(one->saved_ns.value - whole->saved_ns.value / 4) < 0.02 * whole->saved_ns.value);
    }
    left = find(&costs, IWI_PAUSE_GC, IWI_PAUSE_EVERYWHERE, "left"); /* ranks 0 to 3 */
    assert_non_null(left);
    assert_near(left->saved_ns.value, whole->saved_ns.value / 2, 0.02 * whole->saved_ns.value);
    iwi_pause_costs_release(&costs);
    iwi_visits_release(&visits);
}

/* Slow kernels that nobody named are found by their peers. */
static void a_slow_rank_is_found_and_named(void **state)
{
    struct iwt_model model = usual;
    struct iwi_visits visits;
    struct iwi_pause_costs costs;
    const struct iwi_pause_cost *whole, *one;
    double step_ns, truth_ns;

    (void)state;
    model.slow_rank = 5;
    for (int merged = 0; merged < 2; merged++) {
        model.is_merged = merged != 0;
        make(&model, 1U << IWI_PAUSE_SLOW, &visits, &step_ns, &truth_ns);
        visits.pause_count = 0;
        assert_ok(iwi_visits_find_slow(&visits));
        assert_ok(iwi_pause_costs_find(&visits, &costs));
        whole = find(&costs, IWI_PAUSE_SLOW, IWI_PAUSE_EVERYWHERE, "");
        one = find(&costs, IWI_PAUSE_SLOW, 5, "");
        assert_true(whole != NULL && one != NULL);
        assert_near(one->saved_ns.value, step_ns - truth_ns, 0.02 * (step_ns - truth_ns));
        assert_true(find(&costs, IWI_PAUSE_SLOW, 4, "") == NULL);
        iwi_pause_costs_release(&costs);
        iwi_visits_release(&visits);
    }
}

static void a_run_without_pauses_has_no_costs(void **state)
{
    struct iwi_visits visits;
    struct iwi_pause_costs costs;
    double step_ns, truth_ns;

    (void)state;
    make(&usual, 0, &visits, &step_ns, &truth_ns);
    assert_ok(iwi_visits_find_slow(&visits));
    assert_int_equal(visits.pause_count, 0);
    assert_ok(iwi_pause_costs_find(&visits, &costs));
    assert_int_equal(costs.count, 0);
    iwi_pause_costs_release(&costs);
    iwi_visits_release(&visits);
}

/* Only collectives were traced, as by NCCL Inspector: somebody was late, and nothing says why. */
static void lateness_is_found_without_computation(void **state)
{
    struct iwt_model model = usual;
    struct iwi_visits visits;
    struct iwi_pause_costs costs;
    const struct iwi_pause_cost *one;
    double step_ns, truth_ns;

    (void)state;
    model.loading_ps = 3 * IW_PS_PER_MS;
    model.has_launches = false;
    make(&model, 1U << IWI_PAUSE_LOADER, &visits, &step_ns, &truth_ns);
    visits.pause_count = visits.stretch_count = 0;
    assert_ok(iwi_visits_find_slow(&visits));
    assert_ok(iwi_pause_costs_find(&visits, &costs));
    one = find(&costs, IWI_PAUSE_OTHER, 1, "");
    assert_non_null(one);
    assert_near(one->saved_ns.value, step_ns - truth_ns, 0.1 * (step_ns - truth_ns));
    iwi_pause_costs_release(&costs);
    iwi_visits_release(&visits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(collections_are_named_with_their_ranks),
        cmocka_unit_test(a_slow_rank_is_found_and_named),
        cmocka_unit_test(a_run_without_pauses_has_no_costs),
        cmocka_unit_test(lateness_is_found_without_computation),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
