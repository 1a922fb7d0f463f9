/* Counts of interrupts, read from the files of made-up machines.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/machine/proc_counts.h"

#include "support/fake_root.h"

/* The text between two states of a machine, of two of its CPUs. */
static char *text_between(const char *irqs[2], const char *softirqs[2], uint32_t first, uint32_t second)
{
    const uint32_t cpus[] = {first, second};
    struct iwi_proc_counts counts[2];
    char root[FAKE_ROOT_SIZE], *text = NULL;

    fake_root_make(root);
    for (int i = 0; i < 2; i++) {
        if (irqs != NULL) {
            fake_root_file(root, "/proc/interrupts", irqs[i]);
        }
        if (softirqs != NULL) {
            fake_root_file(root, "/proc/softirqs", softirqs[i]);
        }
        assert_ok(iwi_proc_counts_read(NULL, root, cpus, 2, &counts[i]));
    }
    fake_root_remove(root);
    assert_ok(iwi_proc_counts_text(NULL, &counts[0], &counts[1], &text));
    iwi_proc_counts_release(&counts[0]);
    iwi_proc_counts_release(&counts[1]);
    return text;
}

static void assert_text(const char *before, const char *after, uint32_t first, uint32_t second,
                        const char *expected)
{
    char *text = text_between((const char *[]){before, after}, NULL, first, second);

    assert_string_equal(text, expected);
    free(text);
}

static void what_rose_is_told_per_cpu_the_largest_first(void **state)
{
    const char *irqs[] = {"           CPU0       CPU1       \n"
                          "  24:          1          0  IO-APIC   5-edge      ACPI:Ged\n"
                          "  25:        100          0  PCI-MSIX-0000:00:03.0   0-edge      nvme0q1\n"
                          " LOC:       1000       2000   Local timer interrupts\n"
                          " RES:          5          5   Rescheduling interrupts\n"
                          " ERR:          0\n",
                          "           CPU0       CPU1       \n"
                          "  24:          1          0  IO-APIC   5-edge      ACPI:Ged\n"
                          "  25:        107          0  PCI-MSIX-0000:00:03.0   0-edge      nvme0q1\n"
                          " LOC:       1250       2300   Local timer interrupts\n"
                          " RES:          8          5   Rescheduling interrupts\n"
                          " ERR:          9\n"};
    const char *softirqs[] = {"                    CPU0       CPU1       \n"
                              "          HI:          0          0\n"
                              "       TIMER:         10         20\n",
                              "                    CPU0       CPU1       \n"
                              "          HI:          0          0\n"
                              "       TIMER:         30         20\n"};
    char *text = text_between(irqs, softirqs, 0, 1);

    (void)state;
    assert_string_equal(text, "0:LOC=250,softirq TIMER=20,25 nvme0q1=7,RES=3;1:LOC=300");
    free(text);
}

static void columns_belong_to_the_cpus_of_the_head(void **state)
{
    (void)state;
    assert_text("  CPU0 CPU2   CPU17 \n LOC: 0 0 0 Local\n RES: 0 0 0\n",
                "  CPU0 CPU2   CPU17 \n LOC: 1 2 17 Local\n RES: 4 0 0\n", 17, 2, "17:LOC=17;2:LOC=2");
}

static void cpus_without_a_column_have_no_counts(void **state)
{
    (void)state;
    assert_text(" CPU0\n LOC: 5\n", " CPU0\n LOC: 9\n", 1, 0, "0:LOC=4");
    assert_text(" CPU0\n LOC: 5\n", " CPU0\n LOC: 5\n", 1, 0, "");
}

static void names_of_devices_keep_their_blanks_but_no_separators(void **state)
{
    (void)state;
    assert_text("  CPU0 CPU1\n", /* nothing before: all counts from 0 */
                "  CPU0 CPU1\n"
                "   9:  3  0   IO-APIC   9-fasteoi   acpi\n"
                "  16:  2  0   IO-APIC  16-fasteoi   ehci_hcd:usb1, Intel(R) Watch=dog;2  \n"
                "  11:  1  0     GICv3  27 Level     arch_timer\n"
                "  99:  4  0\n",
                0, 1, "0:99=4,9 acpi=3,16 ehci_hcd:usb1_ Intel(R) Watch_dog_2=2,11 arch_timer=1");
}

static void long_names_are_cut(void **state)
{
    (void)state;
    assert_text(" CPU0\n", " CPU0\n 7: 1 x  0123456789012345678901234567890123456789012345678901234567890\n",
                0, 1, "0:7 012345678901234567890123456789012345678901234=1");
}

static void rows_are_matched_by_name_when_others_come_and_go(void **state)
{
    (void)state;
    assert_text(" CPU0\n 1: 10 a  x\n 2: 20 a  y\n 3: 30 a  z\n",
                " CPU0\n 0: 3 a  w\n 3: 31 a  z\n 1: 12 a  x\n", 0, 1, "0:0 w=3,1 x=2,3 z=1");
}

/* 32 bits; a fall that is no such round is another device's count. */
static void counters_go_round(void **state)
{
    (void)state;
    assert_text(" CPU0\n LOC: 4294967290\n RES: 500\n BIG: 99999999999\n",
                " CPU0\n LOC: 4\n RES: 400\n BIG: 3\n", 0, 1, "0:LOC=10");
}

/* From 2^32 - 1 on: 2^31 - 1 is the longest way round that is taken for one. */
static void half_a_round_is_the_longest(void **state)
{
    (void)state;
    assert_text(" CPU0\n LOC: 4294967295\n RES: 4294967295\n", " CPU0\n LOC: 2147483646\n RES: 2147483647\n",
                0, 1, "0:LOC=2147483647");
}

static void at_most_twelve_are_told(void **state)
{
    char after[1024] = " CPU0\n", line[32];
    char *text;
    size_t commas = 0;

    (void)state;
    for (int i = 1; i <= 20; i++) {
        snprintf(line, sizeof line, " A%d: %d\n", i, i);
        snprintf(after + strlen(after), sizeof after - strlen(after), "%s", line);
    }
    text = text_between((const char *[]){" CPU0\n", after}, NULL, 0, 1);
    for (const char *at = strchr(text, ','); at != NULL; at = strchr(at + 1, ',')) {
        commas++;
    }
    assert_int_equal(commas, 11);
    assert_string_equal(strrchr(text, ','), ",A9=9");
    free(text);
}

static void files_that_are_missing_or_strange_have_no_counts(void **state)
{
    static const char *const strange[] = {"",
                                          "\n",
                                          "CPU",
                                          "CPUx\n LOC: 1\n",
                                          " LOC: 1 2\n",
                                          " CPU0 CPU1\n LOC\n : 1 2\n LOC: x 1\n RES: 1\n CAL: 1x 2\n\n   \n",
                                          " CPU0 CPU1\n LOC: -1 -2\n RES:"};
    char *text = text_between(NULL, NULL, 0, 1);

    (void)state;
    assert_string_equal(text, "");
    free(text);
    for (size_t i = 0; i < sizeof strange / sizeof strange[0]; i++) {
        assert_text("", strange[i], 0, 1, "");
    }
}

static void this_machine_tells_of_itself(void **state)
{
    const uint32_t cpus[] = {0};
    struct iwi_proc_counts counts;

    (void)state;
    if (access("/proc/softirqs", R_OK) != 0) {
        print_message("no /proc/softirqs here\n");
        skip();
    }
    assert_ok(iwi_proc_counts_read(NULL, "", cpus, 1, &counts));
    assert_true(counts.row_count >= 5);
    assert_string_equal(counts.names[counts.row_count - 1], "softirq RCU");
    iwi_proc_counts_release(&counts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_rose_is_told_per_cpu_the_largest_first),
        cmocka_unit_test(columns_belong_to_the_cpus_of_the_head),
        cmocka_unit_test(cpus_without_a_column_have_no_counts),
        cmocka_unit_test(names_of_devices_keep_their_blanks_but_no_separators),
        cmocka_unit_test(long_names_are_cut),
        cmocka_unit_test(rows_are_matched_by_name_when_others_come_and_go),
        cmocka_unit_test(counters_go_round),
        cmocka_unit_test(half_a_round_is_the_longest),
        cmocka_unit_test(at_most_twelve_are_told),
        cmocka_unit_test(files_that_are_missing_or_strange_have_no_counts),
        cmocka_unit_test(this_machine_tells_of_itself),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
