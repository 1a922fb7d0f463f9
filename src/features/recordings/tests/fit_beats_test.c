/* Beats marked among other events.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/base/rng.h"
#include "features/recordings/fit/fit.h"
#include "support/support.h"

static void timers_that_drift_and_pause_are_marked(void **state)
{
    int64_t start_ns[600];
    uint8_t is_beat[600] = {0};
    size_t count = 0, marked;

    (void)state;
    for (int64_t i = 0; i < 500; i++) {
        if (i % 50 < 45) { /* pauses of five beats; a beat is 1 % late in a slow rhythm */
            start_ns[count++] = i * 1000000 + i % 20 * 500;
        }
        if (i % 10 == 5) {
            start_ns[count++] = i * 1000000 + 500000;
        }
    }
    marked = iwi_mark_beats(start_ns, count, 1e6, 0.02, true, is_beat);
    assert_in_range(marked, 445, 450);
    for (size_t i = 0; i < count; i++) {
        assert_true(is_beat[i] == 0 || start_ns[i] % 1000000 < 100000);
    }
}

/* Each beat 3 % of a period after or before it was due, from the last one: no phase stays. */
static void a_series_that_is_periodic_on_its_own_may_drift(void **state)
{
    int64_t start_ns[400];
    uint8_t is_beat[400] = {0};

    (void)state;
    start_ns[0] = 0;
    for (size_t i = 1; i < 400; i++) {
        start_ns[i] = start_ns[i - 1] + 1000000 + (i / 40 % 2 == 0 ? 30000 : -30000);
    }
    assert_int_equal(iwi_mark_beats(start_ns, 400, 1e6, 0.1, false, is_beat), 400);
}

static void random_events_are_no_beats(void **state)
{
    const struct iwi_draw_id id = {.seed = 3, .purpose = IWI_DRAW_TEST};
    int64_t start_ns[2000], at_ns = 0;
    uint8_t is_beat[2000] = {0};

    (void)state;
    for (size_t i = 0; i < 2000; i++) {
        at_ns += (int64_t)(2e6 * iwi_draw_unit(id, i));
        start_ns[i] = at_ns;
    }
    assert_true(iwi_mark_beats(start_ns, 2000, 1e6, 0.02, true, is_beat) < 100);
}

static void nothing_and_one_event_have_no_beats(void **state)
{
    const int64_t start_ns[] = {5000};
    uint8_t is_beat[] = {0};

    (void)state;
    assert_int_equal(iwi_mark_beats(start_ns, 0, 1e6, 0.1, false, is_beat), 0);
    assert_int_equal(iwi_mark_beats(start_ns, 1, 1e6, 0.1, false, is_beat), 0);
    assert_int_equal(iwi_mark_beats(start_ns, 1, 1e6, 0.02, true, is_beat), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(timers_that_drift_and_pause_are_marked),
        cmocka_unit_test(a_series_that_is_periodic_on_its_own_may_drift),
        cmocka_unit_test(random_events_are_no_beats),
        cmocka_unit_test(nothing_and_one_event_have_no_beats),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
