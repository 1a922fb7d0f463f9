/* Ranges of counts.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/time.h>

#include <stdlib.h>

#include "support/support.h"

static void assert_counts(const char *text, size_t count, const uint64_t *expected)
{
    uint64_t *values;
    size_t got;

    assert_ok(iw_parse_counts(NULL, text, 0, UINT64_C(1) << 40, &values, &got));
    assert_int_equal(got, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(values[i], expected[i]);
    }
    free(values);
}

static void ranges_are_spread(void **state)
{
    (void)state;
    assert_counts("64KiB", 1, (const uint64_t[]){65536});
    assert_counts("2^1..2^4", 4, (const uint64_t[]){2, 4, 8, 16});
    assert_counts("3..27 step x3", 3, (const uint64_t[]){3, 9, 27});
    assert_counts("0..5 step 2", 3, (const uint64_t[]){0, 2, 4});
    assert_counts("7..7 step x2", 1, (const uint64_t[]){7});
}

static void ranges_that_make_no_sense_are_refused(void **state)
{
    static const struct {
        const char *text, *part;
        iw_status status;
    } cases[] = {{"0", "'0' is too small; the minimum is 1", IW_ERR_RANGE},
                 {"2^31", "at most 2^30 is possible", IW_ERR_RANGE},
                 {"2..16", "'2..16' has no step: write '2..16 step x2' to double", IW_ERR_FORMAT},
                 {"16..2 step x2", "never reaches its end", IW_ERR_RANGE},
                 {"2..16 step x1", "do not advance", IW_ERR_RANGE},
                 {"1..1Mi step 1", "more than 10000 values", IW_ERR_RANGE},
                 {"many", "'many'", IW_ERR_FORMAT}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct iwt_log l;
        uint64_t *values = NULL;
        size_t count;

        iwt_log_init(&l);
        assert_status(iw_parse_counts(&l.log, cases[i].text, 1, UINT64_C(1) << 30, &values, &count),
                      cases[i].status);
        iwt_assert_logged(&l, cases[i].part);
        assert_null(values);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_are_spread),
        cmocka_unit_test(ranges_that_make_no_sense_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
