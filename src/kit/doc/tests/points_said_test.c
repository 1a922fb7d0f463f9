/* Points of percent in words.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kit/doc/doc.h"
#include "support/support.h"

static const struct iwi_field points_fields[] = {IWI_VALUE(iw_estimate, value)};
static const struct iwi_schema points_schema = IWI_SCHEMA(iw_estimate, points_fields);

static void say_points(struct iwi_document *doc, const void *subject)
{
    iwi_verdict(doc, "%s", iwi_points_words(doc, *(const iw_estimate *)subject, " points"));
}

static const struct iwi_kind points_kind = {
    .name = "points", .schema_id = "idlewave.points/1", .schema = &points_schema, .write_doc = say_points};

static void assert_said(iw_estimate points, const char *said)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);

    assert_non_null(out);
    assert_ok(iw_doc_write(NULL, (iw_doc){&points_kind, &points}, IW_DOC_TEXT, NULL, out));
    assert_int_equal(fclose(out), 0);
    assert_string_equal(text, said);
    free(text);
}

static void an_estimate_is_said_with_its_interval(void **state)
{
    (void)state;
    assert_said((iw_estimate){0.054, 0.046, 0.061}, "5.40 points (4.60 to 6.10)\n");
    assert_said((iw_estimate){0.5, 0.5, 0.5}, "50.0 points\n");
}

static void what_rounds_to_nothing_has_no_sign(void **state)
{
    (void)state;
    assert_said((iw_estimate){0.0, -1e-6, 1e-6}, "0.00 points (0.00 to 0.00)\n");
    assert_said((iw_estimate){-0.001, -0.002, 1e-6}, "-0.10 points (-0.20 to 0.00)\n");
}

static void a_bound_says_something_or_that_it_does_not(void **state)
{
    (void)state;
    assert_said((iw_estimate){0.07, 0.046, INFINITY}, "at least 4.60 points\n");
    assert_said((iw_estimate){0.07, 1e-6, INFINITY}, "unknown\n");
    assert_said((iw_estimate){0.07, -0.04, INFINITY}, "unknown\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_estimate_is_said_with_its_interval),
        cmocka_unit_test(what_rounds_to_nothing_has_no_sign),
        cmocka_unit_test(a_bound_says_something_or_that_it_does_not),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
