/* Recordings of known laws on 100 ranks: whatif ranks them right, and its intervals cover the truth.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "synthetic_truth.h"

/* Sanitizers make it several times as slow; there it is about memory, and the numbers are the same. */
#if defined(__SANITIZE_ADDRESS__)
enum { REPETITIONS = 12 };
static const double least = 0.80, most = 1.0;
#else
enum { REPETITIONS = 200 };
static const double least = 0.90, most = 0.99;
#endif

static void intervals_cover_the_truth_on_a_hundred_ranks(void **state)
{
    const struct iwt_tally tally = iwt_repeat(&iwt_hundred, &iwt_hundred_truth, REPETITIONS);

    (void)state;
    iwt_print(&iwt_hundred, &iwt_hundred_truth, &tally);
    iwt_assert_covered(&tally, least, most);
    assert_true(tally.first_right == REPETITIONS);
    assert_true(tally.all_right > REPETITIONS * 95 / 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intervals_cover_the_truth_on_a_hundred_ranks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
