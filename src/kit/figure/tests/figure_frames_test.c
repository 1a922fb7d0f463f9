/* Frames at a terminal, sign by sign.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>

#include "kit/figure/figure_parts.h"
#include "support/support.h"

/* Signs of box drawing, E2 94 .. of UTF-8, as those of a typewriter. */
static void make_plain(char *text)
{
    size_t kept = 0;

    for (size_t i = 0; text[i] != '\0'; i++) {
        char sign = text[i];

        if (sign == '\xe2') {
            sign = text[i + 2] == '\x80' ? '-' : text[i + 2] == '\x82' ? '|' : '+';
            i += 2;
        }
        text[kept++] = sign;
    }
    text[kept] = '\0';
}

static void assert_drawn(double width, double height, const char *text, const char *expected)
{
    struct iwi_figure *figure;
    struct iwi_mark *mark;
    char *drawn = NULL;
    size_t size;
    FILE *out = open_memstream(&drawn, &size);

    assert_non_null(out);
    assert_ok(iwi_figure_new(NULL, "frames", &figure));
    figure->x = (struct iwi_figure_axis){.high = width};
    figure->y = (struct iwi_figure_axis){.high = height};
    mark = iwi_figure_mark(figure, IWI_MARK_FRAME, iwi_series_ink(0), NULL);
    iwi_mark_add_named(figure, mark, (double[]){0, width, 0, height}, text, false);
    iwi_figure_write_text(figure, NULL, out);
    assert_int_equal(fclose(out), 0);
    make_plain(drawn);
    assert_string_equal(drawn, expected);
    free(drawn);
    iwi_figure_free(figure);
}

static void the_name_stands_in_the_upper_edge_between_blanks(void **state)
{
    (void)state;
    assert_drawn(14, 4, "node 1\n2 CPUs",
                 "+- node 1 ---+\n"
                 "| 2 CPUs     |\n"
                 "|            |\n"
                 "+------------+\n");
}

static void a_name_that_is_too_long_is_cut_by_the_corner(void **state)
{
    (void)state;
    assert_drawn(8, 2, "interleaved",
                 "+- inte+\n"
                 "+------+\n");
}

static void pages_have_every_line_of_the_text(void **state)
{
    struct iwi_figure *figure;
    struct iwi_mark *mark;
    char *drawn = NULL;
    size_t size;
    FILE *out = open_memstream(&drawn, &size);

    (void)state;
    assert_non_null(out);
    assert_ok(iwi_figure_new(NULL, "frames", &figure));
    figure->x = figure->y = (struct iwi_figure_axis){.label = "", .high = 20};
    mark = iwi_figure_mark(figure, IWI_MARK_FRAME, iwi_series_ink(0), NULL);
    iwi_mark_add_named(figure, mark, (double[]){0, 20, 0, 20}, "node 1\n2 CPUs\n1 NIC", false);
    iwi_figure_write_svg(figure, out);
    assert_int_equal(fclose(out), 0);
    assert_non_null(strstr(drawn, ">node 1<"));
    assert_non_null(strstr(drawn, ">2 CPUs<"));
    assert_non_null(strstr(drawn, ">1 NIC<"));
    free(drawn);
    iwi_figure_free(figure);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_name_stands_in_the_upper_edge_between_blanks),
        cmocka_unit_test(a_name_that_is_too_long_is_cut_by_the_corner),
        cmocka_unit_test(pages_have_every_line_of_the_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
