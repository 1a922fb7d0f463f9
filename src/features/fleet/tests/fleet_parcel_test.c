/* What processes that judge a fleet together pack for each other.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <string.h>

#include "features/fleet/fleet_share.h"
#include "support/support.h"

static void what_was_put_in_comes_out_in_order(void **state)
{
    struct iwi_parcel parcel = {.at = 0};
    const uint64_t number = 42;
    uint64_t taken;
    const char *text;

    (void)state;
    assert_ok(iwi_parcel_put_text(NULL, &parcel, "cron"));
    assert_ok(iwi_parcel_put(NULL, &parcel, &number, sizeof number));
    assert_false(iwi_parcel_is_empty(&parcel));
    assert_ok(iwi_parcel_take_text(NULL, &parcel, &text));
    assert_string_equal(text, "cron");
    assert_ok(iwi_parcel_take(NULL, &parcel, &taken, sizeof taken));
    assert_int_equal(taken, number);
    assert_true(iwi_parcel_is_empty(&parcel));
    iwi_bytes_release(&parcel.bytes);
}

static void more_than_is_left_is_refused(void **state)
{
    struct iwi_parcel parcel = {.at = 0};
    char taken[4];
    const char *text;

    (void)state;
    assert_status(iwi_parcel_take_text(NULL, &parcel, &text), IW_ERR_FORMAT);
    assert_ok(iwi_parcel_put(NULL, &parcel, "abc", 3));
    assert_status(iwi_parcel_take_text(NULL, &parcel, &text), IW_ERR_FORMAT); /* it has no end */
    assert_status(iwi_parcel_take(NULL, &parcel, taken, 4), IW_ERR_FORMAT);
    assert_ok(iwi_parcel_take(NULL, &parcel, taken, 3));
    assert_memory_equal(taken, "abc", 3);
    iwi_bytes_release(&parcel.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_put_in_comes_out_in_order),
        cmocka_unit_test(more_than_is_left_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
