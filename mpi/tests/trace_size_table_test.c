/* Lists of sizes: each different one has one number.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "support/support.h"

#include <stdlib.h>

#include "mpi/trace/size_table.h"

static void equal_lists_have_one_number(void **state)
{
    struct iwi_size_table table = {0};
    bool is_new;

    (void)state;
    for (uint64_t round = 0; round < 2; round++) {
        for (uint64_t i = 0; i < 1000; i++) {
            const uint64_t words[] = {i % 7, i};

            assert_int_equal(iwi_size_table_number(&table, words, 2, &is_new), i + 1);
            assert_int_equal(is_new, round == 0);
        }
    }
    assert_int_equal(table.count, 1000);
    iwi_size_table_release(&table);
}

static void a_shorter_list_is_another_one(void **state)
{
    const uint64_t words[] = {1, 2, 3, 4};
    struct iwi_size_table table = {0};
    bool is_new;

    (void)state;
    assert_int_equal(iwi_size_table_number(&table, words, 4, &is_new), 1);
    assert_int_equal(iwi_size_table_number(&table, words, 2, &is_new), 2);
    assert_int_equal(iwi_size_table_number(&table, words, 0, &is_new), 3);
    assert_int_equal(iwi_size_table_number(&table, words, 4, &is_new), 1);
    iwi_size_table_release(&table);
}

static void what_finds_no_room_has_no_number(void **state)
{
    const uint32_t count = IWI_SIZE_TABLE_BYTES / sizeof(uint64_t);
    uint64_t *words = calloc(count + 1, sizeof *words);
    struct iwi_size_table table = {0};
    bool is_new;

    (void)state;
    assert_non_null(words);
    assert_int_equal(iwi_size_table_number(&table, words, count - 2, &is_new), 1);
    assert_int_equal(iwi_size_table_number(&table, words, 4, &is_new), 0);
    assert_false(is_new);
    assert_int_equal(iwi_size_table_number(&table, words, 2, &is_new), 2);
    assert_int_equal(iwi_size_table_number(&table, words, count - 2, &is_new), 1);
    iwi_size_table_release(&table);
    free(words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_lists_have_one_number),
        cmocka_unit_test(a_shorter_list_is_another_one),
        cmocka_unit_test(what_finds_no_room_has_no_number),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
