/* Quantiles by selection are those of the sorted values.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/result.h>

#include <stdlib.h>
#include <string.h>

#include "support/support.h"

#include "core/base/base.h"
#include "core/base/order.h"
#include "core/base/rng.h"
#include "core/stats/select.h"

/* `distinct` values only, so that there are ties. */
static void assert_same(size_t count, uint64_t distinct)
{
    static const double quantiles[] = {0.0, 0.25, 0.5, 0.99, 1.0};
    double values[1000], sorted[1000];

    for (size_t i = 0; i < count; i++) {
        values[i] = (double)iwi_draw_below((struct iwi_draw_id){count, 0, IWI_DRAW_TEST, 0, 0}, i, distinct);
    }
    memcpy(sorted, values, count * sizeof sorted[0]);
    iwi_sort(sorted, count, iwi_compare_doubles);
    for (size_t i = 0; i < sizeof quantiles / sizeof quantiles[0]; i++) {
        const double expected = iw_quantile_sorted(sorted, count, quantiles[i]);
        const double actual = iwi_select_quantile(values, count, quantiles[i]);

        if (actual - expected > 1e-9 || expected - actual > 1e-9) {
            fail_msg("quantile %g of %zu values: %.17g instead of %.17g", quantiles[i], count, actual,
                     expected);
        }
    }
}

static void selection_agrees_with_sorting(void **state)
{
    (void)state;
    for (size_t count = 1; count <= 1000; count += count < 20 ? 1 : 97) {
        assert_same(count, 1000000);
    }
}

static void ties_are_no_trouble(void **state)
{
    (void)state;
    for (size_t count = 1; count <= 1000; count += count < 20 ? 1 : 97) {
        assert_same(count, 1);
        assert_same(count, 3);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(selection_agrees_with_sorting),
        cmocka_unit_test(ties_are_no_trouble),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
