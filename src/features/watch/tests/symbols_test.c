/* Names of functions by their addresses.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/watch/symbols.h"

#include <stdio.h>

#include "support/support.h"

static void add(struct iwi_symbols *symbols, uint64_t address, uint64_t bytes, const char *name)
{
    assert_ok(iwi_symbols_add(NULL, symbols, address, bytes, name));
}

static void a_name_ends_where_it_is_told(void **state)
{
    struct iwi_names names = {.size = 0};
    size_t first, second;

    (void)state;
    assert_ok(iwi_names_add(NULL, &names, "/usr/bin/x\n", 10, &first));
    assert_ok(iwi_names_add(NULL, &names, "", 0, &second));
    assert_string_equal(names.text + first, "/usr/bin/x");
    assert_string_equal(names.text + second, "");
    assert_int_equal(names.size, 12);
    iwi_names_release(&names);
    assert_null(names.text);
}

static void many_names_stay_what_they_are(void **state)
{
    enum { MANY = 3000 };
    struct iwi_symbols symbols = {.count = 0};
    char name[32];

    (void)state;
    for (unsigned i = MANY; i-- > 0;) {
        snprintf(name, sizeof name, "function_%u", i);
        add(&symbols, 16 * i, 0, name);
    }
    assert_ok(iwi_symbols_sort(NULL, &symbols));
    assert_int_equal(symbols.count, MANY);
    for (unsigned i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "function_%u", i);
        assert_string_equal(iwi_symbols_find(&symbols, 16 * i + 15), name);
    }
    iwi_symbols_release(&symbols);
}

static void of_two_names_the_plainer_counts_and_the_larger_size(void **state)
{
    struct iwi_symbols symbols = {.count = 0};

    (void)state;
    add(&symbols, 100, 4, "__read");
    add(&symbols, 100, 8, "_read");
    add(&symbols, 100, 2, "read");
    add(&symbols, 100, 2, "pread"); /* as plain, but later */
    assert_ok(iwi_symbols_sort(NULL, &symbols));
    assert_int_equal(symbols.count, 1);
    assert_string_equal(iwi_symbols_find(&symbols, 107), "read");
    assert_null(iwi_symbols_find(&symbols, 108));
    assert_null(iwi_symbols_find(&symbols, 99));
    iwi_symbols_release(&symbols);
}

static void none_are_found_among_none(void **state)
{
    struct iwi_symbols symbols = {.count = 0};

    (void)state;
    assert_ok(iwi_symbols_sort(NULL, &symbols));
    assert_null(iwi_symbols_find(&symbols, 1));
    iwi_symbols_release(&symbols);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_ends_where_it_is_told),
        cmocka_unit_test(many_names_stay_what_they_are),
        cmocka_unit_test(of_two_names_the_plainer_counts_and_the_larger_size),
        cmocka_unit_test(none_are_found_among_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
