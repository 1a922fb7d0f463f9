/* Stacks of processes in words: this one's own, and made ones.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "features/watch/symbols.h"

#include <string.h>
#include <unistd.h>

#include "support/fake_root.h"
#include "support/support.h"

static const char MAPS[] =
    "00400000-00401000 r--p 00000000 fe:01 42                  /opt/tool\n"
    "00401000-00403000 r-xp 00001000 fe:01 42                  /opt/tool\n"
    "00500000-00501000 r-xp 00002000 fe:01 43                  /opt/a long name/gone.so (deleted)\n"
    "00600000-00601000 rwxp 00000000 00:00 0 \n"
    "00700000-00701000 rw-p 00000000 00:00 0                   [heap]\n"
    "nonsense\n"
    "00800000-00801000 r-xp\n"
    "7ffe0000-7ffe2000 r-xp 00000000 00:00 0                   [vdso]\n";

static void check_text(const char *maps, uint32_t pid, const uint64_t *addresses, size_t count,
                       const char *expected)
{
    char root[FAKE_ROOT_SIZE], text[256];
    struct iwi_user_stacks stacks;

    fake_root_make(root);
    fake_root_file(root, "/proc/77/maps", maps);
    iwi_user_stacks_init(NULL, root, &stacks);
    assert_int_equal(iwi_user_stack_text(&stacks, pid, addresses, count, text, sizeof text), IW_OK);
    assert_string_equal(text, expected);
    iwi_user_stacks_release(&stacks);
    fake_root_remove(root);
}

static void what_has_no_name_is_file_and_place(void **state)
{
    const uint64_t addresses[] = {0x7ffe0010, 0x600010, 0x500011, 0x401021, 0};

    (void)state;
    check_text(MAPS, 77, addresses, 5,
               "[vdso] < [code made at run time] < gone.so(deleted)+0x2010 < tool+0x1020");
}

static void a_frame_that_is_no_code_ends_the_stack(void **state)
{
    const uint64_t addresses[] = {0x401020, 0x700010, 0x402000}, nowhere[] = {0x10, 0x401021};

    (void)state;
    check_text(MAPS, 77, addresses, 3, "tool+0x1020 (ends here: no frame pointers)");
    check_text(MAPS, 77, nowhere, 2, "0x10 < tool+0x1020");
}

static void a_long_stack_is_cut(void **state)
{
    uint64_t addresses[12];

    (void)state;
    for (size_t i = 0; i < 12; i++) {
        addresses[i] = 0x600010;
    }
    check_text("00600000-00601000 r-xp 00000000 00:00 0 [x]\n", 77, addresses, 12,
               "[x] < [x] < [x] < [x] < [x] < [x] < [x] < [x] < ...");
}

static void a_process_that_has_ended_leaves_addresses(void **state)
{
    const uint64_t addresses[] = {0x401020, 0x402000, 0};

    (void)state;
    check_text(MAPS, 78, addresses, 3, "0x401020 < 0x402000 (the process has ended)");
    check_text("", 77, addresses, 3, "0x401020 < 0x402000 (the process has ended)");
}

/* Global, so that no optimization gives it another name. */
int iwt_named_for_stacks(int x);
__attribute__((noinline)) int iwt_named_for_stacks(int x)
{
    return x * 7 + getpid();
}

static void own_functions_have_their_names(void **state)
{
    const uint64_t here = (uint64_t)(uintptr_t)iwt_named_for_stacks, in_libc = (uint64_t)(uintptr_t)getpid;
    const uint64_t addresses[] = {here + 4, here + 5, in_libc + 1};
    struct iwi_user_stacks stacks;
    char text[256], again[256];

    (void)state;
    iwi_user_stacks_init(NULL, "", &stacks);
    assert_int_equal(iwi_user_stack_text(&stacks, (uint32_t)getpid(), addresses, 3, text, sizeof text),
                     IW_OK);
    assert_memory_equal(text, "iwt_named_for_stacks < iwt_named_for_stacks < ", 46);
    assert_non_null(strstr(text, "getpid"));
    iwi_user_stacks_forget(&stacks); /* files are known by then */
    assert_int_equal(iwi_user_stack_text(&stacks, (uint32_t)getpid(), addresses, 3, again, sizeof again),
                     IW_OK);
    assert_string_equal(again, text);
    assert_in_range(stacks.file_count, 1, 2);
    assert_int_equal(iwi_user_stack_text(&stacks, (uint32_t)getpid(), addresses, 3, text, 12), IW_OK);
    assert_string_equal(text, "iwt_named_f"); /* as much as there is room for */
    iwi_user_stacks_release(&stacks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_has_no_name_is_file_and_place),
        cmocka_unit_test(a_frame_that_is_no_code_ends_the_stack),
        cmocka_unit_test(a_long_stack_is_cut),
        cmocka_unit_test(a_process_that_has_ended_leaves_addresses),
        cmocka_unit_test(own_functions_have_their_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
