/* What the user reads when a program cannot go on.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "support/support.h"

#include "core/sim/engine.h"
#include "core/sim/unreceived.h"
#include "dag.h"

static void operations_are_named_with_rank_and_number(void **state)
{
    const uint64_t stuck[] = {1, 2, 3};
    struct iwt_dag d = {.ranks = 0};
    struct iwt_log l;

    (void)state;
    iwt_log_init(&l);
    iwt_dag_rank(&d);
    iwt_dag_calc(&d, 1);
    iwt_dag_recv(&d, IWI_ANY, 8, IWI_ANY);
    iwt_dag_rank(&d); /* has nothing to do */
    iwt_dag_rank(&d);
    iwt_dag_send(&d, 0, 100000, 5);
    iwt_dag_rank(&d);
    iwt_dag_calc(&d, 1);
    d.nodes[3].kind = IWI_WAIT;
    iwt_dag_end(&d);
    assert_status(iwi_report_stuck(&l.log, &d.schedule, stuck, 3), IW_ERR_DEADLOCK);
    assert_int_equal(l.errors, 1);
    iwt_assert_logged(&l,
                      "error: 3 ranks cannot continue: rank 0 op 1 (recv 8 B from any rank, any tag), rank 2 "
                      "op 0 (send 100000 B to rank 0, tag 5, never received), rank 3 op 0 (wait)\n");
}

static void waits_tell_what_they_are_for(void **state)
{
    const uint64_t stuck[] = {1, 4};
    struct iwt_dag d = {.ranks = 0};
    struct iwt_log l;

    (void)state;
    iwt_log_init(&l);
    iwt_dag_rank(&d);
    iwt_dag_recv(&d, 1, 8, 7);
    iwt_dag_empty(&d);
    iwt_dag_requires(&d, 0);
    iwt_dag_rank(&d);
    iwt_dag_recv(&d, 0, 8, 6);
    iwt_dag_recv(&d, 0, 8, 5);
    iwt_dag_irequires(&d, 0);
    iwt_dag_empty(&d);
    iwt_dag_requires(&d, 0);
    iwt_dag_requires(&d, 1);
    iwt_dag_end(&d);
    assert_ok(iwi_schedule_put_in_order(NULL, &d.schedule));
    assert_status(iwi_report_stuck(&l.log, &d.schedule, stuck, 2), IW_ERR_DEADLOCK);
    iwt_assert_logged(&l, "2 ranks cannot continue: rank 0 op 1 (wait for recv 8 B from rank 1, tag 7), rank "
                          "1 op 2 (wait for 2 messages)\n");
}

static void after_eight_operations_the_rest_is_counted(void **state)
{
    uint64_t stuck[11];
    struct iwt_dag d = {.ranks = 0};
    struct iwt_log l;

    (void)state;
    iwt_log_init(&l);
    for (uint64_t i = 0; i < 11; i++) {
        iwt_dag_rank(&d);
        iwt_dag_recv(&d, 4294967294, UINT64_MAX, 4294967294); /* the longest there is */
        stuck[i] = i;
    }
    iwt_dag_end(&d);
    assert_status(iwi_report_stuck(&l.log, &d.schedule, stuck, 11), IW_ERR_DEADLOCK);
    iwt_assert_logged(&l, "11 ranks cannot continue: ");
    iwt_assert_logged(
        &l, "rank 7 op 0 (recv 18446744073709551615 B from rank 4294967294, tag 4294967294) and 3 more\n");
}

static void several_operations_of_one_rank_are_one_rank(void **state)
{
    const uint64_t stuck[] = {0, 1};
    struct iwt_dag d = {.ranks = 0};
    struct iwt_log l;

    (void)state;
    iwt_log_init(&l);
    iwt_dag_rank(&d);
    iwt_dag_recv(&d, 1, 1, 0);
    iwt_dag_recv(&d, 1, 1, 0);
    iwt_dag_end(&d);
    assert_status(iwi_report_stuck(&l.log, &d.schedule, stuck, 2), IW_ERR_DEADLOCK);
    iwt_assert_logged(&l, "1 rank cannot continue: rank 0 op 0");
}

static void messages_that_nobody_receives_are_named_in_the_order_of_ranks(void **state)
{
    struct iwi_unreceived unreceived = {.count = 0};
    struct iwt_dag d = {.ranks = 0};
    struct iwt_log l;

    (void)state;
    iwt_log_init(&l);
    iwt_dag_rank(&d);
    iwt_dag_send(&d, 1, 16, 7);
    iwt_dag_send(&d, 1, 32, 8);
    iwt_dag_rank(&d);
    iwt_dag_send(&d, 0, 1, 9);
    iwt_dag_send(&d, 0, 2, 10);
    iwt_dag_send(&d, 0, 3, 11);
    iwt_dag_end(&d);
    iwi_warn_unreceived(&l.log, &d.schedule, &unreceived);
    assert_int_equal(l.warnings, 0);
    for (uint64_t node = 5; node-- > 0;) {
        iwi_unreceived_add(&unreceived, node);
    }
    iwi_warn_unreceived(&l.log, &d.schedule, &unreceived);
    iwt_assert_logged(
        &l, "5 messages are sent but never received: rank 0 op 0 (16 B to rank 1, tag 7), rank 0 op 1 "
            "(32 B to rank 1, tag 8), rank 1 op 0 (1 B to rank 0, tag 9) and 2 more\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_are_named_with_rank_and_number),
        cmocka_unit_test(waits_tell_what_they_are_for),
        cmocka_unit_test(after_eight_operations_the_rest_is_counted),
        cmocka_unit_test(several_operations_of_one_rank_are_one_rank),
        cmocka_unit_test(messages_that_nobody_receives_are_named_in_the_order_of_ranks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
