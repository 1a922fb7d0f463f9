/* Sets of CPUs: reading, writing, combining. Faults of lists are in tests/cli/unit/cpu_list_test.c.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/noise.h>

#include <string.h>

#include "support/support.h"

static iw_cpu_set set_of(const char *text)
{
    char fault[IW_CPU_FAULT_SIZE];
    iw_cpu_set set;

    if (!iw_cpu_set_parse(text, &set, fault)) {
        fail_msg("%s", fault);
    }
    return set;
}

static void assert_text(const iw_cpu_set *set, const char *expected)
{
    char text[256];

    assert_string_equal(iw_cpu_set_text(set, text, sizeof text), expected);
}

static void lists_are_written_as_linux_does(void **state)
{
    static const char *const lists[] = {"0", "0-3,8", "1,3,5", "63-64", "8191", "0-8191"};
    const iw_cpu_set none = {{0}};

    (void)state;
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        const iw_cpu_set set = set_of(lists[i]);

        assert_text(&set, lists[i]);
    }
    assert_text(&none, "none");
}

static void groups_of_the_kernel_s_parameters_are_read(void **state)
{
    iw_cpu_set set = set_of("0-15:2/8");

    (void)state;
    assert_text(&set, "0-1,8-9");
    set = set_of("0-7:2");
    assert_text(&set, "0,2,4,6");
}

static void a_list_that_does_not_fit_is_cut(void **state)
{
    const iw_cpu_set set = set_of("0-99:2");
    char text[12];

    (void)state;
    assert_string_equal(iw_cpu_set_text(&set, text, sizeof text), "0,2,4,6,...");
}

static void masks_are_read_and_written(void **state)
{
    static const char *const masks[] = {"3", "ff", "1,00000000", "ffffffff,ffffffff,00000001"};
    char text[128];
    iw_cpu_set set;

    (void)state;
    for (size_t i = 0; i < sizeof masks / sizeof masks[0]; i++) {
        assert_true(iw_cpu_set_parse_mask(masks[i], &set));
        assert_string_equal(iw_cpu_set_mask(&set, text, sizeof text), masks[i]);
    }
    assert_true(iw_cpu_set_parse_mask("00000000,000000F0", &set));
    assert_text(&set, "4-7");
    assert_true(iw_cpu_set_parse_mask("0", &set));
    assert_string_equal(iw_cpu_set_mask(&set, text, sizeof text), "0");
    assert_true(iw_cpu_set_parse_mask("1,00000000", &set)); /* what does not fit shows */
    assert_string_equal(iw_cpu_set_mask(&set, text, 8), "1,00...");
}

static void what_is_no_mask_is_refused(void **state)
{
    static const char *const texts[] = {"", ",", "x", "0x3", "3,4", "ff,", ",ff", "1 2"};
    iw_cpu_set set;
    char long_text[4096];

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (iw_cpu_set_parse_mask(texts[i], &set)) {
            fail_msg("'%s' was read", texts[i]);
        }
    }
    memset(long_text, 'f', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = '\0';
    assert_false(iw_cpu_set_parse_mask(long_text, &set));
    memset(long_text, '0', sizeof long_text - 1);
    assert_true(iw_cpu_set_parse_mask(long_text, &set));
}

static void sets_are_combined(void **state)
{
    const iw_cpu_set a = set_of("0-3"), b = set_of("2-5,100");
    iw_cpu_set c = iw_cpu_set_and(&a, &b);

    (void)state;
    assert_text(&c, "2-3");
    assert_true(iw_cpu_set_is_within(&c, &a));
    assert_false(iw_cpu_set_is_within(&b, &a));
    assert_true(iw_cpu_set_meets(&a, &b));
    c = iw_cpu_set_or(&a, &b);
    assert_text(&c, "0-5,100");
    assert_int_equal(iw_cpu_set_count(&c), 7);
    c = iw_cpu_set_without(&b, &a);
    assert_text(&c, "4-5,100");
    assert_false(iw_cpu_set_meets(&a, &c));
    assert_false(iw_cpu_set_has(&c, 8192));
    iw_cpu_set_add(&c, 8192); /* is left out */
    assert_int_equal(iw_cpu_set_count(&c), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_are_written_as_linux_does),
        cmocka_unit_test(groups_of_the_kernel_s_parameters_are_read),
        cmocka_unit_test(a_list_that_does_not_fit_is_cut),
        cmocka_unit_test(masks_are_read_and_written),
        cmocka_unit_test(what_is_no_mask_is_refused),
        cmocka_unit_test(sets_are_combined),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
