/* The queues of LogGOPSim's rules give back what they got, oldest first.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "support/support.h"

#include <stdlib.h>

#include "core/sim/loggopsim/loggopsim.h"

enum { COUNT = 1000 };

/* A fixed permutation of 0 to COUNT - 1. */
static uint64_t shuffled(uint64_t i)
{
    return i * 387 % COUNT;
}

static void events_come_by_time_then_by_serial(void **state)
{
    struct iwi_lgs_queue queue = {.count = 0};
    struct iwi_lgs_event event;

    (void)state;
    for (uint64_t i = 0; i < COUNT; i++) {
        const uint64_t n = shuffled(i);

        assert_ok(
            iwi_lgs_push(NULL, &queue, (struct iwi_lgs_event){.time_ps = (iw_time)(n / 10), .serial = n}));
    }
    for (uint64_t i = 0; i < COUNT; i++) {
        assert_true(iwi_lgs_pop(&queue, &event));
        assert_int_equal(event.serial, i);
    }
    assert_false(iwi_lgs_pop(&queue, &event));
    free(queue.events);
}

static void waiting_elements_leave_their_group_oldest_first(void **state)
{
    static struct iwi_lgs_element elements[COUNT];
    const struct iwi_lgs_need need = {.rank = 1, .kind = 2, .cpu = 3, .nic = 4};
    uint64_t first_of_rank[2] = {IWI_LGS_NONE, IWI_LGS_NONE}, group = IWI_LGS_NONE, expected = 0;
    struct iwi_lgs_groups groups = {.first_of_rank = first_of_rank};

    (void)state;
    for (uint64_t i = 0; i < COUNT; i++) {
        elements[i].serial = shuffled(i);
        assert_ok(iwi_lgs_wait(NULL, &groups, elements, need, i, &group));
        assert_int_equal(group, 0);
    }
    while (groups.groups[0].first != IWI_LGS_NONE) {
        assert_int_equal(elements[iwi_lgs_take_first(&groups.groups[0], elements)].serial, expected++);
    }
    assert_int_equal(expected, COUNT);
    free(groups.groups);
}

static void other_needs_wait_in_other_groups(void **state)
{
    static struct iwi_lgs_element elements[5];
    const struct iwi_lgs_need needs[5] = {
        {0, 1, 0, 0}, {1, 1, 0, 0}, {1, 2, 0, 0}, {1, 1, 1, 0}, {1, 1, 0, 1}};
    uint64_t first_of_rank[2] = {IWI_LGS_NONE, IWI_LGS_NONE}, group;
    struct iwi_lgs_groups groups = {.first_of_rank = first_of_rank};

    (void)state;
    for (uint64_t i = 0; i < 5; i++) {
        assert_ok(iwi_lgs_wait(NULL, &groups, elements, needs[i], i, &group));
        assert_int_equal(group, i);
    }
    for (uint64_t i = 0; i < 5; i++) {
        assert_int_equal(iwi_lgs_take_first(&groups.groups[i], elements), i);
        assert_int_equal(groups.groups[i].first, IWI_LGS_NONE);
    }
    free(groups.groups);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_come_by_time_then_by_serial),
        cmocka_unit_test(waiting_elements_leave_their_group_oldest_first),
        cmocka_unit_test(other_needs_wait_in_other_groups),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
