/* Comparing by several keys, searching sorted arrays, heaps.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "support/support.h"

#include "core/base/heap.h"
#include "core/base/order.h"

struct item {
    int group;
    double share;
    const char *name;
};

IWI_COMPARE(compare_items, struct item, IWI_RISING(group), IWI_FALLING(share), IWI_TEXT(name))

static bool is_before(const struct item *a, const struct item *b)
{
    return compare_items(a, b) < 0;
}

IWI_HEAP(heap, item, is_before)

static const struct item SORTED[] = {
    {-1, 0.0, "z"}, {2, 0.5, "b"}, {2, 0.25, "a"}, {2, 0.25, "c"}, {3, 9.0, ""}};
enum { COUNT = sizeof SORTED / sizeof SORTED[0] };

static void the_first_key_that_differs_decides(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        for (size_t k = 0; k < COUNT; k++) {
            const int sign = compare_items(&SORTED[i], &SORTED[k]);

            assert_int_equal((sign > 0) - (sign < 0), (i > k) - (i < k));
        }
    }
}

static void sorted_items_are_found(void **state)
{
    struct item items[COUNT];

    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        items[i] = SORTED[(i * 3 + 1) % COUNT];
    }
    iwi_sort(items, COUNT, compare_items);
    assert_memory_equal(items, SORTED, sizeof items);
    assert_ptr_equal(iwi_find(&SORTED[3], items, COUNT, compare_items), &items[3]);
    assert_null(iwi_find(&SORTED[4], items, COUNT - 1, compare_items));
}

static void nothing_is_sorted_and_searched_without_an_array(void **state)
{
    struct item *none = NULL;

    (void)state;
    iwi_sort(none, 0, compare_items);
    assert_null(iwi_find(&SORTED[0], none, 0, compare_items));
}

static void the_first_for_which_a_condition_fails_is_found(void **state)
{
    (void)state;
    for (size_t from = 0; from < 4; from++) {
        for (size_t to = from; to < 20; to++) {
            for (size_t limit = 0; limit < 22; limit++) {
                const size_t expected = limit < from ? from : limit > to ? to : limit;
                size_t at;

                IWI_FIRST_NOT(at, from, to, at < limit);
                assert_int_equal(at, expected);
            }
        }
    }
}

static void a_heap_gives_items_in_order(void **state)
{
    struct item items[COUNT];

    (void)state;
    for (size_t first = 0; first < COUNT; first++) {
        for (size_t i = 0; i < COUNT; i++) {
            heap_put(items, i, SORTED[(first + 2 * i) % COUNT]);
        }
        for (size_t i = 0; i < COUNT; i++) {
            const struct item next = heap_take(items, COUNT - i);

            assert_int_equal(compare_items(&next, &SORTED[i]), 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_key_that_differs_decides),
        cmocka_unit_test(sorted_items_are_found),
        cmocka_unit_test(nothing_is_sorted_and_searched_without_an_array),
        cmocka_unit_test(the_first_for_which_a_condition_fails_is_found),
        cmocka_unit_test(a_heap_gives_items_in_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
