/* Stacks of the kernel in words.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/watch/symbols.h"

#include <string.h>

#include "support/fake_root.h"
#include "support/support.h"

static const char TABLE[] = "ffff0000 T first\n"
                            "ffff3000 t vfs_read\n"
                            "ffff1000 T asm_sysvec_apic_timer_interrupt\n" /* in no order */
                            "ffff2000 D data\n"
                            "ffff4000 t read_zero\t[mod]\n"
                            "ffff5000 T do_syscall_64\n"
                            "nonsense\n";

static void load(const char *table, struct iwi_symbols *symbols)
{
    char root[FAKE_ROOT_SIZE];

    fake_root_make(root);
    fake_root_file(root, "/proc/kallsyms", table);
    assert_int_equal(iwi_kernel_symbols_load(NULL, root, symbols), IW_OK);
    fake_root_remove(root);
}

static void check_text(const char *table, const uint64_t *addresses, size_t count, const char *expected)
{
    struct iwi_symbols symbols;
    char text[128];

    load(table, &symbols);
    iwi_kernel_stack_text(&symbols, addresses, count, text, sizeof text);
    assert_string_equal(text, expected);
    iwi_symbols_release(&symbols);
}

static void an_address_belongs_to_the_function_before_it(void **state)
{
    struct iwi_symbols symbols;

    (void)state;
    load(TABLE, &symbols);
    assert_int_equal(symbols.count, 5);
    assert_null(iwi_symbols_find(&symbols, 0xfffe0000));
    assert_string_equal(iwi_symbols_find(&symbols, 0xffff0000), "first");
    assert_string_equal(iwi_symbols_find(&symbols, 0xffff2fff), "asm_sysvec_apic_timer_interrupt");
    assert_string_equal(iwi_symbols_find(&symbols, 0xffff4001), "read_zero");
    iwi_symbols_release(&symbols);
}

static void what_was_interrupted_is_told_without_the_interrupt(void **state)
{
    const uint64_t stack[] = {0xffff0010, 0xffff1010, 0xffff4010, 0xffff3010, 0xffff5010, 0xffff0020, 0, 0};

    (void)state;
    check_text(TABLE, stack, 8, "read_zero < vfs_read");
    check_text(TABLE, stack, 2, "user space"); /* nothing outside of the interrupt */
    check_text(TABLE, stack, 1, "");           /* no interrupt: this is no such stack */
}

static void hidden_addresses_tell_nothing(void **state)
{
    const uint64_t stack[] = {0xffff0010, 0xffff1010, 0xffff4010};

    (void)state;
    check_text("0000000000000000 T first\n0000000000000000 T vfs_read\n", stack, 3, "");
}

static void long_stacks_are_cut(void **state)
{
    uint64_t stack[32];

    (void)state;
    stack[0] = 0xffff1010;
    for (size_t i = 1; i < 32; i++) {
        stack[i] = 0xffff3010;
    }
    check_text(TABLE, stack, 32,
               "vfs_read < vfs_read < vfs_read < vfs_read < vfs_read < vfs_read < vfs_read < vfs_read < ...");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_belongs_to_the_function_before_it),
        cmocka_unit_test(what_was_interrupted_is_told_without_the_interrupt),
        cmocka_unit_test(hidden_addresses_tell_nothing),
        cmocka_unit_test(long_stacks_are_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
