/* What pauses cost, as the result has it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/waits.h>

#include <string.h>

#include "run_model.h"
#include "support/support.h"

enum { STEPS = 12 };

static void costs_are_told_with_their_culprits(void **state)
{
    const struct iwt_model model = {.seed = 3,
                                    .ranks = 8,
                                    .steps = STEPS,
                                    .kernels = 40,
                                    .slow_rank = 5,
                                    .collection_ps = 20 * IW_PS_PER_MS,
                                    .has_launches = true};
    iw_time steps_ps[STEPS];
    struct iwi_visits visits;
    iw_waits *waits;
    const iw_waits_cost *slow = NULL, *collection = NULL;

    (void)state;
    iwt_model_run(&model, 0, &visits, steps_ps);
    assert_ok(iwi_visits_finish(&visits));
    assert_ok(iw_waits_run(NULL, "test", &visits, NULL, &waits));
    assert_int_equal(waits->steps, STEPS);
    for (size_t i = 0; i < waits->cost_count; i++) {
        const iw_waits_cost *cost = &waits->costs[i];

        if (strcmp(cost->where, "everywhere") == 0) {
            slow = strcmp(cost->cause, "slow kernels") == 0 ? cost : slow;
            collection = strcmp(cost->cause, "garbage collection") == 0 ? cost : collection;
        }
    }
    assert_true(slow != NULL && collection != NULL);
    assert_string_equal(slow->culprits, "rank 5");
    assert_int_equal(slow->ranks, 1);
    assert_int_equal(collection->ranks, 4);
    assert_true(strncmp(collection->culprits, "ranks ", 6) == 0);
    assert_true(collection->share.low <= collection->share.value &&
                collection->share.value <= collection->share.high);
    assert_true(collection->share.value > 0.2 && collection->share.value < 0.5);
    assert_string_equal(waits->costs[0].cause, "all pauses"); /* the dearest */
    iw_waits_free(waits);
    iwi_visits_release(&visits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(costs_are_told_with_their_culprits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
