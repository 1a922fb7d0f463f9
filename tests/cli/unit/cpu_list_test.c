/* Lists of CPUs, right and wrong ones.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "options/cpu_list.h"

#include <string.h>

#include "support/support.h"

static void assert_list(const char *text, size_t count, const uint32_t *numbers)
{
    char fault[CPU_LIST_FAULT_SIZE];
    struct cpu_list list;

    if (!cpu_list_parse(text, &list, fault)) {
        fail_msg("%s", fault);
    }
    assert_int_equal(list.count, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(list.numbers[i], numbers[i]);
    }
}

static void assert_fault(const char *text, const char *expected)
{
    char fault[CPU_LIST_FAULT_SIZE];
    struct cpu_list list;

    assert_false(cpu_list_parse(text, &list, fault));
    assert_string_equal(fault, expected);
}

static void numbers_and_ranges_are_read(void **state)
{
    (void)state;
    assert_list("0", 1, (const uint32_t[]){0});
    assert_list("0-3,8", 5, (const uint32_t[]){0, 1, 2, 3, 8});
    assert_list("7-7", 1, (const uint32_t[]){7});
    assert_list("8191", 1, (const uint32_t[]){8191});
}

static void ranges_may_have_steps(void **state)
{
    (void)state;
    assert_list("0-9:4", 3, (const uint32_t[]){0, 4, 8});
    assert_list("1-3:8191", 1, (const uint32_t[]){1});
}

static void the_list_is_sorted_and_has_each_cpu_once(void **state)
{
    (void)state;
    assert_list("5,1-3,2,5", 4, (const uint32_t[]){1, 2, 3, 5});
}

static void all_cpus_fit(void **state)
{
    char fault[CPU_LIST_FAULT_SIZE];
    struct cpu_list list;

    (void)state;
    assert_true(cpu_list_parse("0-8191", &list, fault));
    assert_int_equal(list.count, MOST_CPU_LIST);
    assert_int_equal(list.numbers[MOST_CPU_LIST - 1], MOST_CPU_LIST - 1);
}

static void faults_name_the_item_and_the_remedy(void **state)
{
    (void)state;
    assert_fault("", "'' is not a CPU or a range of CPUs: write 0-3,8");
    assert_fault("0,", "'' is not a CPU or a range of CPUs: write 0-3,8");
    assert_fault("0,all,3", "'all' is not a CPU or a range of CPUs: write 0-3,8");
    assert_fault("0-", "'0-' is not a CPU or a range of CPUs: write 0-3,8");
    assert_fault("0-3x", "'0-3x' is not a CPU or a range of CPUs: write 0-3,8");
    assert_fault("0 - 3", "'0 - 3' is not a CPU or a range of CPUs: write 0-3,8");
    assert_fault("-1", "'-1' is not a CPU or a range of CPUs: write 0-3,8");
    assert_fault("1,5-2", "'5-2' runs backwards: write 2-5");
    assert_fault("0-3:0", "'0-3:0' has a step of 0: write 1 or more");
    assert_fault("8192", "'8192' is too large: CPUs are numbered below 8192");
    assert_fault("99999999999999999999", "'99999999999999999999' is too large: CPUs are numbered below 8192");
}

static void a_long_item_is_cut(void **state)
{
    char text[1000], fault[CPU_LIST_FAULT_SIZE];
    struct cpu_list list;

    (void)state;
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    assert_false(cpu_list_parse(text, &list, fault));
    assert_non_null(strstr(fault, "xxx' is not a CPU or a range of CPUs: write 0-3,8"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_and_ranges_are_read),
        cmocka_unit_test(ranges_may_have_steps),
        cmocka_unit_test(the_list_is_sorted_and_has_each_cpu_once),
        cmocka_unit_test(all_cpus_fit),
        cmocka_unit_test(faults_name_the_item_and_the_remedy),
        cmocka_unit_test(a_long_item_is_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
