/* Files that are not of one run.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/explain/arrivals/visits.h"
#include "support/support.h"

/* Two ranks that no collective joins: each computes for 1 s, the second one `later_s` after the first. */
static iw_status checked(int64_t later_s, struct iwt_log *l)
{
    struct iwi_visits visits;
    iw_status status;

    iwt_log_init(l);
    iwi_visits_init(&visits, &l->log, "made");
    for (uint32_t r = 0; r < 2; r++) {
        const iw_time begin_ps = r * later_s * IW_PS_PER_S;
        uint32_t index;

        assert_ok(iwi_visits_rank(&visits, r, "node", &index));
        assert_ok(iwi_visits_add_stretch(
            &visits,
            &(struct iwi_stretch){.rank = index, .begin_ps = begin_ps, .end_ps = begin_ps + IW_PS_PER_S}));
    }
    assert_ok(iwi_visits_finish(&visits));
    assert_ok(iwi_visits_align(&visits));
    assert_int_equal(visits.clock_sets, 2);
    status = iwi_visits_check_one_run(&visits);
    iwi_visits_release(&visits);
    return status;
}

static void ranks_that_begin_long_after_others_ended_are_of_another_run(void **state)
{
    struct iwt_log l;

    (void)state;
    assert_status(checked(1001, &l), IW_ERR_FORMAT);
    iwt_assert_logged(&l, "rank 1 begins 1000 s after rank 0 has ended, and no collective joins them");
    assert_ok(checked(61, &l)); /* a minute apart */
    assert_status(checked(62, &l), IW_ERR_FORMAT);
    assert_ok(checked(0, &l));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_that_begin_long_after_others_ended_are_of_another_run)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
