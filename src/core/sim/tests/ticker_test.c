/* How far a simulation says it is.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/sim/engine.h"
#include "support/support.h"

struct seen {
    double share;
    unsigned count;
};

static bool see(void *arg, const iw_progress_now *now)
{
    struct seen *seen = arg;

    assert_true(now->share >= seen->share); /* never back */
    seen->share = now->share;
    seen->count++;
    return true;
}

/* The first question is always answered; the end is always told. */
static void a_long_unit_tells_its_part(void **state)
{
    struct seen seen = {.share = 0.0};
    struct iwi_ticker *ticker = iwi_ticker_new(NULL, (iw_progress){see, &seen}, 0, 2);

    (void)state;
    assert_non_null(ticker);
    assert_ok(iwi_tick_part(ticker, 0.5)); /* half of the first of two */
    assert_true(seen.count == 1 && seen.share == 0.25);
    assert_ok(iwi_tick(ticker, 1));
    assert_ok(iwi_tick(ticker, 1));
    assert_true(seen.count >= 2 && seen.share == 1.0);
    assert_ok(iwi_tick_part(ticker, 0.5)); /* of a run that is not counted */
    assert_true(seen.share == 1.0);
    iwi_ticker_free(ticker);
    assert_ok(iwi_tick_part(NULL, 0.5));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_long_unit_tells_its_part)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
