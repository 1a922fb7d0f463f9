/* What calibration makes of the detours it met: costs that are known beforehand.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/replay/injector.h"

#include <math.h>

#include "support/support.h"

enum { MET = 300 };

struct made {
    struct iwi_met_detour meetings[MET];
    double column[MET];
    struct iwi_calibration trial;
};

/* Latenesses from 1000 ns to 3990 ns in no order, half of which the thread sees; each costs 5 us beside. */
static void make(struct made *made, double late_share)
{
    for (size_t i = 0; i < MET; i++) {
        const double late_ns = 1000.0 + 10.0 * (double)(i * 37 % MET), spin_ns = i % 2 == 0 ? 0.0 : 30000.0;

        made->meetings[i] =
            (struct iwi_met_detour){.spin_ns = spin_ns,
                                    .late_ns = late_ns,
                                    .seen_ns = spin_ns + 5000.0 + late_share * (late_ns - 2495.0),
                                    .leave_ns = 300.0};
    }
    made->trial = (struct iwi_calibration){made->meetings, made->column, MET, MET};
}

static void costs_are_those_that_were_made(void **state)
{
    iw_inject_costs costs;
    struct made made;

    (void)state;
    make(&made, 0.5);
    assert_ok(iwi_inject_evaluate(NULL, &made.trial, &costs));
    assert_true(fabs(costs.overhead_ns - 5000.0) < 20.0);
    assert_true(fabs(costs.late_share - 0.5) < 0.02);
    assert_true(fabs(costs.late_p50_ns - 2495.0) < 20.0);
    assert_true(fabs(costs.late_p99_ns - 3960.0) < 20.0);
    assert_true(fabs(costs.floor_ns - (5000.0 + 0.5 * 0.45 * 3000.0)) < 40.0); /* 19 of 20 */
    assert_true(fabs(costs.gap_ns - (0.4 * 3000.0 + 300.0 + 1000.0)) <
                40.0); /* the earliest tenth; a margin */
}

static void lateness_that_nobody_sees_costs_nothing(void **state)
{
    iw_inject_costs costs;
    struct made made;

    (void)state;
    make(&made, 0.0);
    assert_ok(iwi_inject_evaluate(NULL, &made.trial, &costs));
    assert_true(costs.late_share == 0.0);
    assert_true(costs.overhead_ns == 5000.0 && costs.floor_ns == 5000.0);
}

/* Those that took more than twice the usual were met by the host's noise too. */
static void the_host_s_noise_does_not_count(void **state)
{
    iw_inject_costs costs;
    struct made made;

    (void)state;
    make(&made, 0.5);
    for (size_t i = 0; i < MET; i += 7) {
        made.meetings[i].seen_ns += 50000.0;
    }
    assert_ok(iwi_inject_evaluate(NULL, &made.trial, &costs));
    assert_true(fabs(costs.overhead_ns - 5000.0) < 50.0);
    assert_true(fabs(costs.late_share - 0.5) < 0.02);
}

static void few_are_too_few(void **state)
{
    iw_inject_costs costs;
    struct made made;
    struct iwt_log l;

    (void)state;
    iwt_log_init(&l);
    make(&made, 0.5);
    made.trial.count = 79; /* 39 that spun */
    assert_status(iwi_inject_evaluate(&l.log, &made.trial, &costs), IW_ERR_UNSUPPORTED);
    iwt_assert_logged(&l, "the CPU is too busy");
    made.trial.count = 80;
    assert_ok(iwi_inject_evaluate(&l.log, &made.trial, &costs));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(costs_are_those_that_were_made),
        cmocka_unit_test(lateness_that_nobody_sees_costs_nothing),
        cmocka_unit_test(the_host_s_noise_does_not_count),
        cmocka_unit_test(few_are_too_few),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
