/* The events of a rank come in their order, however many there are.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>

#include "core/sim/window/window_queue.h"
#include "random_program.h"
#include "support/support.h"

enum { MOST = 400 };

/* A queue, and all that is in it in any order. */
struct both {
    struct iwi_window_queue queue;
    struct iwi_window_event all[MOST];
    size_t count;
};

static void put(struct both *both, struct iwi_window_event event)
{
    iwi_window_queue_put(&both->queue, event);
    both->all[both->count++] = event;
}

static void expect_first(struct both *both)
{
    const struct iwi_window_event taken = iwi_window_queue_take(&both->queue);
    size_t first = 0;

    for (size_t i = 1; i < both->count; i++) {
        const struct iwi_window_event *a = &both->all[i], *b = &both->all[first];

        first = a->time < b->time || (a->time == b->time && a->what < b->what) ? i : first;
    }
    assert_int_equal(taken.time, both->all[first].time);
    assert_int_equal(taken.what, both->all[first].what);
    both->all[first] = both->all[--both->count];
    assert_int_equal(both->queue.begin == both->queue.end, both->count == 0);
}

/* Grows up to `most` and shrinks again, some times. */
static void go_to_and_fro(uint64_t seed, size_t most)
{
    struct iwt_random random = {seed, 0};
    struct both both = {.count = 0};

    both.queue.far = calloc(MOST + IWI_WINDOW_NEAR, sizeof *both.queue.far);
    assert_non_null(both.queue.far);
    for (int turn = 0; turn < 6; turn++) {
        while (both.count < most) {
            put(&both, (struct iwi_window_event){(iw_time)iwt_below(&random, 50),
                                                 iwt_below(&random, 4) << 62 | iwt_below(&random, 9)});
            if (iwt_below(&random, 3) == 0) {
                expect_first(&both);
            }
        }
        while (both.count > (turn % 2 == 0 ? 0 : most / 3)) {
            expect_first(&both);
        }
    }
    free(both.queue.far);
}

static void events_come_in_their_order(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 30; seed++) {
        go_to_and_fro(seed, 1 + seed % 5); /* all are near */
        go_to_and_fro(seed, IWI_WINDOW_NEAR + seed % 3);
        go_to_and_fro(seed, 3 * IWI_WINDOW_NEAR + seed);
    }
}

static void the_latest_times_are_in_order_too(void **state)
{
    struct both both = {.count = 0};

    (void)state;
    put(&both, (struct iwi_window_event){INT64_MAX, 0});
    put(&both, (struct iwi_window_event){INT64_MAX - 1, UINT64_MAX});
    put(&both, (struct iwi_window_event){0, UINT64_MAX});
    while (both.count > 0) {
        expect_first(&both);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(events_come_in_their_order),
                                       cmocka_unit_test(the_latest_times_are_in_order_too)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
