/* What-ifs from a file: what the page says, in which order.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/whatif.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/support.h"

#define SAMPLE IW_TEST_DATA "/results/whatif.json"

/* To be freed. */
static char *text_of(iw_doc doc, iw_doc_format format)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    assert_ok(iw_doc_write(NULL, doc, format, NULL, out));
    assert_int_equal(fclose(out), 0);
    return text;
}

static char *report_of(iw_doc_format format)
{
    iw_doc_file *file;
    char *text;

    assert_ok(iw_doc_open(NULL, SAMPLE, &file));
    text = text_of(iw_doc_of(file), format);
    iw_doc_close(file);
    return text;
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
    char *page = report_of(IW_DOC_HTML);

    (void)state;
    assert_contains(
        page, "(512 nodes, 16 ranks per node, as recorded) is 7.10&nbsp;% slower than without noise (95");
    assert_contains(page, "Main cause: irq/eno1; without it, the slowdown would be");
    assert_contains(page, "Equivalent to losing 34 of 512 nodes."); /* 512 x 0.071 / 1.071 */
    assert_before(page, "id=\"verdict\"", "id=\"changes\"");
    assert_before(page, "id=\"changes\"", "id=\"to-do\"");
    assert_before(page, "id=\"to-do\"", "id=\"certainty\"");
    assert_before(page, "id=\"certainty\"", "id=\"origin\"");
    assert_contains(page, "2 further sources: no measurable effect.");
    assert_contains(page, "Savings do not add up");
    assert_contains(page, "smp_affinity_list");
    assert_contains(page, "<td class=\"bar words\">"); /* which narrow screens leave out */
    assert_contains(page, ".whatif .bar");
    assert_contains(page, "idlewave whatif --noise node.h5");
    assert_null(strstr(page, "<script"));
    free(page);
}

/* Only what is more than chance is to be done, what saves most first; all of it is in the table. */
static void sources_that_save_nothing_are_not_to_be_done(void **state)
{
    char *page = report_of(IW_DOC_HTML), *to_do = strstr(page, "id=\"to-do\"");

    (void)state;
    assert_before(to_do, "<li>irq/eno1", "<li>thread/nscd");
    assert_before(to_do, "<li>thread/nscd", "<li>irq/local_timer");
    assert_null(strstr(to_do, "hardware/smi"));
    assert_null(strstr(to_do, "thread/kworker/u8:1"));
    assert_true(strstr(page, "hardware/smi") < to_do);
    free(page);
}

static void text_and_csv_come_from_the_file_too(void **state)
{
    char *text = report_of(IW_DOC_TEXT), *csv = report_of(IW_DOC_CSV);

    (void)state;
    assert_contains(text, "It pays off from about\n5,200 ranks (3,100 to 7,900).");
    assert_contains(csv, "now,now_low,now_high,kind,name,share,slowdown,slowdown_low,");
    assert_contains(csv, "\n0.071,0.062,0.08,source,irq/eno1,");
    free(text);
    free(csv);
}

/* 512 x 0.07 / 1.07 = 33.5 nodes less a hundredth; a node at least. */
static void idle_nodes_are_rounded_to_whole_ones(void **state)
{
    iw_doc_file *file;
    iw_whatif whatif;
    char *text;

    (void)state;
    assert_ok(iw_doc_open(NULL, SAMPLE, &file));
    whatif = *(const iw_whatif *)iw_doc_of(file).subject;
    whatif.now.value = 0.07;
    text = text_of(iw_whatif_doc(&whatif), IW_DOC_TEXT);
    assert_contains(text, "Equivalent to losing 33 of 512 nodes.");
    free(text);
    whatif.now.value = 0.0015; /* 0.77 nodes */
    text = text_of(iw_whatif_doc(&whatif), IW_DOC_TEXT);
    assert_null(strstr(text, "Equivalent to losing"));
    free(text);
    iw_doc_close(file);
}

/* Of a break-even point whose interval is not known. */
static void an_interval_that_is_not_known_is_not_written(void **state)
{
    iw_doc_file *file;
    iw_whatif whatif;
    char *text;

    (void)state;
    assert_ok(iw_doc_open(NULL, SAMPLE, &file));
    whatif = *(const iw_whatif *)iw_doc_of(file).subject;
    whatif.break_even.ranks.low = whatif.break_even.ranks.high = NAN;
    text = text_of(iw_whatif_doc(&whatif), IW_DOC_TEXT);
    assert_contains(text, "It pays off from about\n5,200 ranks.");
    assert_null(strstr(text, "nan"));
    free(text);
    iw_doc_close(file);
}

/* What a file of 0.2 says beyond the reach of its recording. */
static iw_whatif bounds_of(const iw_doc_file *file, iw_change *changes)
{
    iw_whatif whatif = *(const iw_whatif *)iw_doc_of(file).subject;

    for (size_t i = 0; i < whatif.change_count; i++) {
        changes[i] = whatif.changes[i];
        changes[i].saving.high = changes[i].slowdown.high = INFINITY;
    }
    whatif.changes = changes;
    whatif.now.high = INFINITY;
    whatif.reach.is_bound = true;
    return whatif;
}

/* They are neither added up, nor compared, nor a proof that a target is reached. */
static void bounds_are_not_compared(void **state)
{
    iw_change changes[32];
    iw_doc_file *file;
    iw_whatif whatif;
    char *text;

    (void)state;
    assert_ok(iw_doc_open(NULL, SAMPLE, &file));
    whatif = bounds_of(file, changes);
    whatif.target_set.slowdown.high = INFINITY;
    text = text_of(iw_whatif_doc(&whatif), IW_DOC_TEXT);
    assert_null(strstr(text, "add up"));
    assert_null(strstr(text, "Main"));
    assert_null(strstr(text, "no measurable effect"));
    assert_null(strstr(text, "No smaller set is enough"));
    assert_contains(text, "cause:");
    assert_contains(text, "is unknown: record longer");
    assert_contains(text, "2 further sources: unknown effect.");
    free(text);
    iw_doc_close(file);
}

/* The longest bar is that of the largest number in the table, not of a hidden one. */
static void bars_are_as_long_as_the_bounds_beside_them(void **state)
{
    char path[] = "/tmp/iw_whatif_XXXXXX.svg", text[50000];
    const int fd = mkstemps(path, 4);
    iw_change changes[32];
    iw_doc_file *file;
    iw_whatif whatif;
    FILE *in;

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(close(fd), 0);
    assert_ok(iw_doc_open(NULL, SAMPLE, &file));
    whatif = bounds_of(file, changes);
    changes[0].saving = (iw_estimate){1000.0, 0.25, INFINITY};
    assert_ok(iw_doc_plot(NULL, iw_whatif_doc(&whatif), path));
    in = fopen(path, "r");
    assert_non_null(in);
    text[fread(text, 1, sizeof text - 1, in)] = '\0';
    assert_int_equal(fclose(in), 0);
    assert_contains(text, ">at least 25.0<"); /* beside the bar */
    assert_null(strstr(text, "000 %<"));      /* on the axis */
    assert_int_equal(unlink(path), 0);
    iw_doc_close(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_page_says_what_it_costs_then_what_to_do_then_how_sure),
        cmocka_unit_test(sources_that_save_nothing_are_not_to_be_done),
        cmocka_unit_test(text_and_csv_come_from_the_file_too),
        cmocka_unit_test(idle_nodes_are_rounded_to_whole_ones),
        cmocka_unit_test(an_interval_that_is_not_known_is_not_written),
        cmocka_unit_test(bounds_are_not_compared),
        cmocka_unit_test(bars_are_as_long_as_the_bounds_beside_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
