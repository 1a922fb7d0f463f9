/* Tests of how configuration files are cut into lines.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "options/config.h"

#include <stdlib.h>
#include <string.h>

#include "support/support.h"

static const char whole[] = "# site\n"
                            "net = chic\r\n"
                            "\t ranks-per-node=16 \n"
                            "\n"
                            "[ noise show ]\n"
                            "long = 20us\n"
                            "[simulate]\n"
                            "net = a = b";

/* Reads a copy that ends where its memory does, so that sanitizers see whoever goes beyond. */
static bool read_copy(const char *text, size_t size, char **copy_p, struct config_lines *lines,
                      struct config_fault *fault)
{
    char *copy = malloc(size + 1);

    assert_non_null(copy);
    memcpy(copy, text, size);
    *copy_p = copy;
    return config_lines_read(copy, size, lines, fault);
}

static void lines_have_section_key_value_and_number(void **state)
{
    static const struct config_line expected[] = {
        {"", "net", "chic", 2},
        {"", "ranks-per-node", "16", 3},
        {"noise show", "long", "20us", 6},
        {"simulate", "net", "a = b", 8},
    };
    struct config_lines lines;
    struct config_fault fault;
    char *copy;

    (void)state;
    assert_true(read_copy(whole, sizeof whole - 1, &copy, &lines, &fault));
    assert_int_equal(lines.count, 4);
    for (size_t i = 0; i < lines.count; i++) {
        assert_string_equal(lines.all[i].section, expected[i].section);
        assert_string_equal(lines.all[i].key, expected[i].key);
        assert_string_equal(lines.all[i].value, expected[i].value);
        assert_int_equal(lines.all[i].number, expected[i].number);
    }
    config_lines_release(&lines);
    free(copy);
}

static size_t lines_before(size_t size)
{
    size_t count = 1;

    for (size_t i = 0; i < size; i++) {
        count += whole[i] == '\n';
    }
    return count;
}

/* A file that was cut off is read up to there, or the fault is in its last line. */
static void a_file_cut_at_any_byte_is_read_or_refused_in_its_last_line(void **state)
{
    size_t refused = 0;

    (void)state;
    for (size_t size = 0; size < sizeof whole; size++) {
        struct config_lines lines;
        struct config_fault fault = {.number = 0};
        char *copy;

        if (read_copy(whole, size, &copy, &lines, &fault)) {
            assert_true(lines.count <= 4);
        } else {
            assert_int_equal(fault.number, lines_before(size));
            assert_true(fault.text[0] != '\0');
            assert_int_equal(lines.count, 0);
            refused++;
        }
        config_lines_release(&lines);
        free(copy);
    }
    /* "n".."net = " (6), "\t r".."ranks-per-node=" (15), "[".."[ noise show " (13), "l".."long = " (7),
     * "[".."[simulate" (9), "n".."net = " (6) */
    assert_int_equal(refused, 56);
}

static void expect_fault(const char *text, size_t size, size_t number, const char *words)
{
    struct config_lines lines;
    struct config_fault fault;
    char *copy;

    assert_false(read_copy(text, size, &copy, &lines, &fault));
    assert_int_equal(fault.number, number);
    assert_non_null(strstr(fault.text, words));
    free(copy);
}

static void lines_that_are_none_are_refused(void **state)
{
    (void)state;
    expect_fault("net chic", 8, 1, "'net chic' is not a setting");
    expect_fault("\n= chic", 7, 2, "is not a setting");
    expect_fault("net =", 5, 1, "'net' has no value");
    expect_fault("[simulate", 9, 1, "lacks its ']'");
    expect_fault("[ ]", 3, 1, "names no verb");
    expect_fault("a = 1\n[x]\na = 2\na = 3", 21, 4, "is already set in line 3");
    expect_fault("a = 1\0b = 2\n", 12, 1, "zero byte");
}

static void long_lines_are_shown_in_part(void **state)
{
    char text[4096];

    (void)state;
    memset(text, 'x', sizeof text);
    expect_fault(text, sizeof text, 1, "xxx' is not a setting");
}

static void nothing_is_no_line(void **state)
{
    struct config_lines lines;
    struct config_fault fault;
    char *copy;

    (void)state;
    assert_true(read_copy("", 0, &copy, &lines, &fault));
    assert_int_equal(lines.count, 0);
    free(copy);
    assert_true(read_copy("\n \n#x\n  # y", 11, &copy, &lines, &fault));
    assert_int_equal(lines.count, 0);
    free(copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_have_section_key_value_and_number),
        cmocka_unit_test(a_file_cut_at_any_byte_is_read_or_refused_in_its_last_line),
        cmocka_unit_test(lines_that_are_none_are_refused),
        cmocka_unit_test(long_lines_are_shown_in_part),
        cmocka_unit_test(nothing_is_no_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
