/* A wait with more causes than are kept of it.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/waits.h>

#include <math.h>

#include "made_visits.h"

enum { STEPS = 50, WAITER = 0, LATE = 1, FIRST = 2, PARTNERS = 20, KEPT = 16, TENTH_US = 10 };

/* LATE waits for a message of each partner, for the k-th 10 k us; WAITER then waits for LATE in a reduction.
 */
static void run_step(struct made_run *run)
{
    const iw_time begin_ps = run->at_ps[LATE];

    for (uint32_t k = 1; k <= PARTNERS; k++) {
        const uint32_t partner = FIRST + k - 1;
        const struct iwi_visit message = {
            .op = IWI_VISIT_MESSAGE, .bytes = 8, .has_root = true, .root = partner};
        const iw_time sent_ps = run->at_ps[LATE] + US(TENTH_US * k);

        made_compute(run, partner, sent_ps - begin_ps);
        made_visit(run, partner, message, sent_ps);
        made_visit(run, LATE, message, sent_ps);
        run->sequence++;
    }
    for (uint32_t partner = FIRST; partner < FIRST + PARTNERS; partner++) {
        if (run->at_ps[partner] < run->at_ps[LATE]) {
            made_compute(run, partner, run->at_ps[LATE] - run->at_ps[partner]);
        }
    }
    made_compute(run, LATE, US(1));
    made_compute(run, WAITER, US(TENTH_US));
    made_meet(run, IWI_VISIT_ALLREDUCE);
    run->step++;
}

/* What LATE waited, 2100 us, was 2090 us of waiting for WAITER: each partner's part of both, and of the
 * second the part of those that were left out, too, 100 of 2100 us. Partners wait for 1 us at the end. */
static void of_many_causes_the_largest_are_kept(void **state)
{
    const double all_us = TENTH_US * PARTNERS * (PARTNERS + 1) / 2.0,
                 left_out_us = TENTH_US * (PARTNERS - KEPT) * (PARTNERS - KEPT + 1) / 2.0;
    struct made_run run;
    iw_waits *waits;

    (void)state;
    made_begin(&run, FIRST + PARTNERS);
    for (uint32_t s = 0; s < STEPS; s++) {
        run_step(&run);
    }
    waits = made_waits(&run);
    for (uint32_t k = 1; k <= PARTNERS; k++) {
        const double own_us = TENTH_US * (double)k, kept = k <= PARTNERS - KEPT ? 0.0 : 1.0,
                     waiter_us = own_us * (all_us - TENTH_US) / (all_us - left_out_us) * kept,
                     caused_us = made_rank(waits, FIRST + k - 1)->caused_ns / (1e3 * STEPS);

        assert_true(fabs(caused_us - own_us - waiter_us) < PARTNERS + 2.0);
    }
    iw_waits_free(waits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(of_many_causes_the_largest_are_kept)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
