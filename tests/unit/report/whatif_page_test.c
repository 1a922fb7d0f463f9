/* Reports of the JSON of a what-if: what the page says, and files that are cut off, odd or not one.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/whatif.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/html/html_whatif.h"
#include "report/kinds/json_file.h"
#include "support/support.h"

#define SAMPLE IW_TEST_DATA "/whatif/eno1.json"

typedef iw_status (*reporter)(const iw_log *log, const char *path, FILE *out);
static const reporter reporters[] = {iw_whatif_report_text, iw_whatif_report_csv, iw_whatif_write_html};

static char *report_of(reporter report, const char *path)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    assert_ok(report(NULL, path, out));
    assert_int_equal(fclose(out), 0);
    return text;
}

/* A file with these bytes; to be removed and freed. */
static char *file_of(const char *bytes, size_t size)
{
    char *path = strdup("/tmp/iw-whatif-XXXXXX");
    const int descriptor = mkstemp(path);

    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, bytes, size), (ssize_t)size);
    assert_int_equal(close(descriptor), 0);
    return path;
}

static void remove_file(char *path)
{
    assert_int_equal(unlink(path), 0);
    free(path);
}

static void assert_contains(const char *text, const char *part)
{
    if (strstr(text, part) == NULL) {
        fail_msg("no '%s' in:\n%s", part, text);
    }
}

/* By position in the page; both are there. */
static void assert_before(const char *text, const char *first, const char *second)
{
    assert_contains(text, first);
    assert_contains(text, second);
    assert_true(strstr(text, first) < strstr(text, second));
}

static void the_page_says_what_it_costs_then_what_to_do_then_how_sure(void **state)
{
    char *page = report_of(iw_whatif_write_html, SAMPLE);

    (void)state;
    assert_contains(page, "(512 nodes) is 7.10&nbsp;% slower than without noise (mean of ");
    assert_contains(page, "without irq/eno1 its slowdown would be 5.40 points (4.60 to 6.10) less");
    assert_contains(page, "as if 34 of the 512 nodes did nothing"); /* 512 x 0.071 / 1.071 */
    assert_before(page, "id=\"verdict\"", "id=\"to-do\"");
    assert_before(page, "id=\"to-do\"", "id=\"others\"");
    assert_before(page, "id=\"others\"", "id=\"certainty\"");
    assert_before(page, "id=\"certainty\"", "id=\"numbers\"");
    assert_before(page, "id=\"numbers\"", "id=\"origin\"");
    assert_contains(page, "2 further sources save, each alone, no more than chance would.");
    assert_contains(page, "Savings do not add up");
    assert_contains(page, "smp_affinity_list");
    assert_contains(page, "<td class=\"bar words\">"); /* which narrow screens leave out */
    assert_contains(page, ".whatif .bar");
    assert_contains(page, "idlewave whatif --noise node.h5");
    assert_null(strstr(page, "<script"));
    free(page);
}

/* Only what is more than chance is to be done, what saves most first; all of it is in the last table. */
static void sources_that_save_nothing_are_not_to_be_done(void **state)
{
    char *page = report_of(iw_whatif_write_html, SAMPLE), *others = strstr(page, "id=\"others\"");

    (void)state;
    assert_before(page, "class=\"words\">irq/eno1", "class=\"words\">thread/nscd");
    assert_before(page, "class=\"words\">thread/nscd", "class=\"words\">irq/local_timer");
    assert_true(strstr(page, "class=\"words\">hardware/smi") > others);
    assert_true(strstr(page, "class=\"words\">thread/kworker/u8:1") > others);
    free(page);
}

static void text_and_csv_come_from_the_file_too(void **state)
{
    char *text = report_of(iw_whatif_report_text, SAMPLE), *csv = report_of(iw_whatif_report_csv, SAMPLE);

    (void)state;
    assert_contains(text, "is 7.10 % slower than without noise");
    assert_contains(csv, "\nsource,irq/eno1,");
    free(text);
    free(csv);
}

static void a_file_that_is_cut_off_anywhere_is_refused(void **state)
{
    static char bytes[1 << 16];
    FILE *file = fopen(SAMPLE, "re");
    size_t size;

    (void)state;
    assert_non_null(file);
    size = fread(bytes, 1, sizeof bytes, file);
    assert_int_equal(fclose(file), 0);
    assert_in_range(size, 1000, sizeof bytes - 1);
    for (size_t cut = 0; cut < size - 2; cut++) { /* without "}\n" and more */
        char *path = file_of(bytes, cut);
        json_t *object;

        assert_status(iwi_whatif_load(NULL, path, &object), IW_ERR_FORMAT);
        assert_false(iw_whatif_is_answer(path));
        remove_file(path);
    }
}

/* Every member of the file, one after the other, is something that no writer makes. */
static void odd_values_are_shown_or_refused(void **state)
{
    static const char *const odd[] = {"null",    "-7",      "1e308",
                                      "\"<b>\"", "[3, {}]", "{\"value\": [], \"low\": 5}"};
    json_t *whole, *copy, *value;
    const char *key;

    (void)state;
    assert_ok(iwi_json_load(NULL, SAMPLE, &whole));
    copy = json_deep_copy(whole);
    json_object_foreach(copy, key, value)
    {
        for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
            json_t *changed = json_deep_copy(whole);
            char *text, *path;

            assert_int_equal(json_object_set_new(changed, key, json_loads(odd[i], JSON_DECODE_ANY, NULL)), 0);
            text = json_dumps(changed, 0);
            path = file_of(text, strlen(text));
            for (size_t k = 0; k < sizeof reporters / sizeof reporters[0]; k++) {
                FILE *out = fopen("/dev/null", "we");
                const iw_status status = reporters[k](NULL, path, out);

                assert_true(status == IW_OK || status == IW_ERR_FORMAT);
                assert_int_equal(fclose(out), 0);
            }
            remove_file(path);
            free(text);
            json_decref(changed);
        }
    }
    json_decref(copy);
    json_decref(whole);
}

static void assert_refused(const char *json, const char *why)
{
    char *path = file_of(json, strlen(json));
    struct iwt_log log;
    json_t *object;

    iwt_log_init(&log);
    assert_status(iwi_whatif_load(&log.log, path, &object), IW_ERR_FORMAT);
    iwt_assert_logged(&log, why);
    remove_file(path);
}

static void files_without_the_main_numbers_are_refused(void **state)
{
    (void)state;
    assert_refused("{\"schema\": \"idlewave.simulate/1\"}", "its schema is not \"idlewave.whatif/1\"");
    assert_refused("{\"schema\": \"idlewave.whatif/1\"}", "no number 'ranks' in it");
    assert_refused("{\"schema\": \"idlewave.whatif/1\", \"ranks\": 1, \"trials\": 2, \"noiseless_ns\": 3, "
                   "\"now\": {\"value\": 1}}",
                   "no list 'changes' in it");
    assert_refused("{\"schema\": \"idlewave.whatif/1\", \"ranks\": 1, \"trials\": 2, \"noiseless_ns\": 3, "
                   "\"now\": {\"value\": 1}, \"changes\": [{\"saving\": {\"value\": 1}}]}",
                   "no number 'changes[0].slowdown.value' in it");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_page_says_what_it_costs_then_what_to_do_then_how_sure),
        cmocka_unit_test(sources_that_save_nothing_are_not_to_be_done),
        cmocka_unit_test(text_and_csv_come_from_the_file_too),
        cmocka_unit_test(a_file_that_is_cut_off_anywhere_is_refused),
        cmocka_unit_test(odd_values_are_shown_or_refused),
        cmocka_unit_test(files_without_the_main_numbers_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
