/* The list of preloaded libraries: one is replaced, the others stay.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "support/support.h"

#include "mpi/trace/preload.h"

#define FILE_NAME "libidlewave-trace.so"

static void expect(const char *list, const char *instead, const char *wanted)
{
    char made[64];

    assert_true(iwi_preload_replace(list, FILE_NAME, instead, made, sizeof made));
    assert_string_equal(made, wanted);
}

static void a_library_is_replaced_by_its_file_name(void **state)
{
    (void)state;
    expect("/a/" FILE_NAME, "/b/x.so", "/b/x.so");
    expect(FILE_NAME, "/b/x.so", "/b/x.so");
}

static void others_stay_in_their_order(void **state)
{
    (void)state;
    expect("one.so:/a/" FILE_NAME " two.so", "x.so", "one.so:x.so:two.so");
    expect("/a/my" FILE_NAME ":/a/" FILE_NAME ".1", "x.so", "/a/my" FILE_NAME ":/a/" FILE_NAME ".1");
}

static void without_another_it_is_left_out(void **state)
{
    (void)state;
    expect("one.so:/a/" FILE_NAME ":two.so", "", "one.so:two.so");
    expect("/a/" FILE_NAME, "", "");
    expect("", "x.so", "");
    expect(" : one.so::", "x.so", "one.so");
}

static void a_library_is_found_by_its_whole_file_name(void **state)
{
    (void)state;
    assert_true(iwi_preload_has("/a/one.so: /b/" FILE_NAME, FILE_NAME));
    assert_true(iwi_preload_has(FILE_NAME, FILE_NAME));
    assert_false(iwi_preload_has("/a/x" FILE_NAME ":one.so", FILE_NAME));
    assert_false(iwi_preload_has(" :", FILE_NAME));
    assert_false(iwi_preload_has("", FILE_NAME));
}

static void what_does_not_fit_is_refused(void **state)
{
    char made[16];

    (void)state;
    assert_true(iwi_preload_replace("0123456789.so:x", FILE_NAME, "", made, sizeof made));
    assert_false(iwi_preload_replace("0123456789.so:xy", FILE_NAME, "", made, sizeof made));
    assert_false(iwi_preload_replace("a:/b/" FILE_NAME, FILE_NAME, "01234567890123", made, sizeof made));
    assert_false(iwi_preload_replace("", FILE_NAME, "", made, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_library_is_replaced_by_its_file_name),
        cmocka_unit_test(others_stay_in_their_order),
        cmocka_unit_test(without_another_it_is_left_out),
        cmocka_unit_test(a_library_is_found_by_its_whole_file_name),
        cmocka_unit_test(what_does_not_fit_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
