/* Counts of interrupts, from well-formed and malformed texts.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/base/interrupt_text.h"

#include <stdio.h>
#include <string.h>

#include "support/support.h"

/* Reads all, and writes it again as "cpu name count, ...". */
static void assert_read(const char *text, const char *expected)
{
    struct iwi_interrupt_reader reader = {.next = text};
    char all[512] = "";
    size_t used = 0;

    while (iwi_interrupt_next(&reader)) {
        used += (size_t)snprintf(all + used, sizeof all - used, "%s%u %s %llu", used > 0 ? ", " : "",
                                 reader.cpu, reader.name, (unsigned long long)reader.count);
    }
    assert_string_equal(all, expected);
}

static void counts_are_read_cpu_by_cpu(void **state)
{
    (void)state;
    assert_read("0:LOC=7500,softirq TIMER=3;5:24 nvme0q1=1", "0 LOC 7500, 0 softirq TIMER 3, 5 24 nvme0q1 1");
    assert_read("3:LOC=18446744073709551615", "3 LOC 18446744073709551615");
    assert_read("", "");
}

static void what_is_malformed_is_passed_over(void **state)
{
    (void)state;
    assert_read("LOC=1;2:LOC=2", "2 LOC 2");
    assert_read("0:;1:,,=3,LOC,RES=4", "1 RES 4");
    assert_read(":::;;;x:LOC=1", "");
    assert_read("0:LOC=", "0 LOC 0");
    assert_read("99999999999:LOC=1;1:LOC=1", "1 LOC 1");
    assert_read("0:a-name-that-is-longer-than-any-that-the-kernel-has-for-us=1,LOC=2", "0 LOC 2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_read_cpu_by_cpu),
        cmocka_unit_test(what_is_malformed_is_passed_over),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
