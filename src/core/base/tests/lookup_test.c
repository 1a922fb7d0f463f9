/* Items found by hashes, and numbers by keys.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "support/support.h"

#include "core/base/lookup.h"

static void items_that_share_a_hash_are_all_found(void **state)
{
    enum { COUNT = 1000 };
    bool is_found[COUNT] = {false};
    struct iwi_lookup table = {0};
    size_t at = 0;
    uint32_t item;

    (void)state;
    assert_int_equal(iwi_lookup_next(&table, 7, &at), IWI_LOOKUP_NONE); /* of an empty one */
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_ok(iwi_lookup_add(NULL, &table, i % 2 == 0 ? 7 : COUNT + i, i));
    }
    at = 0;
    while ((item = iwi_lookup_next(&table, 7, &at)) != IWI_LOOKUP_NONE) {
        assert_false(is_found[item]);
        is_found[item] = true;
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_int_equal(is_found[i], i % 2 == 0);
    }
    iwi_lookup_release(&table);
}

static void keys_are_numbered_as_they_come(void **state)
{
    struct iwi_index index = {0};

    (void)state;
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < 1000; i++) {
            uint32_t number;

            assert_ok(iwi_index_number(NULL, &index, (struct iwi_index_key){i / 10, i % 10}, &number));
            assert_int_equal(number, i);
        }
        assert_int_equal(index.count, 1000);
    }
    assert_int_equal(iwi_index_find(&index, (struct iwi_index_key){99, 9}), 999);
    assert_int_equal(iwi_index_find(&index, (struct iwi_index_key){9, 99}), IWI_LOOKUP_NONE);
    iwi_index_release(&index);
    assert_int_equal(iwi_index_find(&index, (struct iwi_index_key){1, 1}), IWI_LOOKUP_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_that_share_a_hash_are_all_found),
        cmocka_unit_test(keys_are_numbered_as_they_come),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
