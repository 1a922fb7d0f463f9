/* One figure in every medium: what is in the model is in the picture, and the colours are the same
 * everywhere.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kit/figure/figure_parts.h"
#include "support/support.h"

/* Two curves, a rule, and a pin on logarithmic axes; the second curve has a value that these do not have. */
static struct iwi_figure *sample(void)
{
    struct iwi_figure *figure;
    struct iwi_mark *mark;

    assert_ok(iwi_figure_new(NULL, "a <figure>", &figure));
    figure->x = (struct iwi_figure_axis){.label = "Ranks", .unit = IWI_AXIS_RANKS, .is_log = true};
    figure->y = (struct iwi_figure_axis){.label = "Time", .unit = IWI_AXIS_NS, .is_log = true};
    mark = iwi_figure_mark(figure, IWI_MARK_LINE, iwi_series_ink(0), "first & 'last'");
    iwi_mark_add(figure, mark, (double[]){2.0, 1e3});
    iwi_mark_add_named(figure, mark, (double[]){4.0, 1e4}, "just here", false);
    mark = iwi_figure_mark(figure, IWI_MARK_LINE, iwi_series_ink(1), "second");
    iwi_mark_add(figure, mark, (double[]){2.0, 0.0});
    iwi_mark_add(figure, mark, (double[]){4.0, 2e3});
    mark = iwi_figure_mark(figure, IWI_MARK_RULE_Y, IWI_INK_NOISE, NULL);
    iwi_mark_add_named(figure, mark, (double[]){5e3}, "noise dominates", false);
    mark = iwi_figure_mark(figure, IWI_MARK_PIN, iwi_series_ink(0), NULL);
    iwi_mark_add(figure, mark, (double[]){3.0, 5e3, 2.5, 3.5});
    return figure;
}

static char *written(const struct iwi_figure *figure, void (*write)(const struct iwi_figure *, FILE *))
{
    static char *text; /* GCC 12 warns of what hangs on a local one */
    size_t size;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    write(figure, out);
    assert_int_equal(fclose(out), 0);
    return text;
}

static void write_plain(const struct iwi_figure *figure, FILE *out)
{
    iwi_figure_write_text(figure, NULL, out);
}

static void assert_in(const char *text, const char *part)
{
    if (strstr(text, part) == NULL) {
        fail_msg("no '%s' in:\n%s", part, text);
    }
}

static void pages_say_numbers_under_the_mouse_and_escape_names(void **state)
{
    struct iwi_figure *figure = sample();
    char *svg = written(figure, iwi_figure_write_svg);

    (void)state;
    assert_in(svg, "first &amp; &#39;last&#39;</li>");
    assert_in(svg, "<title>first &amp; &#39;last&#39;\n2 ranks: 1 us</title>");
    assert_in(svg, "\njust here</title>");
    assert_in(svg, "95 % CI 3 to 4</title>"); /* whole ranks */
    assert_in(svg, "var(--series-1)");
    assert_in(svg, ">noise dominates</text>");
    assert_null(strstr(svg, "nan"));
    assert_null(strstr(svg, "#0067ad")); /* pages have variables, for light and dark */
    free(svg);
    iwi_figure_free(figure);
}

static void terminals_show_curves_by_signs(void **state)
{
    struct iwi_figure *figure = sample();
    char *text = written(figure, write_plain), *legend = written(figure, iwi_figure_write_legend);

    (void)state;
    assert_in(text, "10 us \xe2\x94\xa4");
    assert_in(text, "+");
    assert_in(text, "\xe2\x96\xb2"); /* the pin */
    assert_string_equal(legend, "+ first & 'last', \xe2\x97\x8f second");
    free(text);
    free(legend);
    iwi_figure_free(figure);
}

/* The legend shows a piece of a curve, and a dot. */
static void dots_are_no_lines_in_the_legend(void **state)
{
    struct iwi_figure *figure;
    char *svg;

    (void)state;
    assert_ok(iwi_figure_new(NULL, "two", &figure));
    for (int i = 0; i < 2; i++) {
        struct iwi_mark *mark = iwi_figure_mark(figure, i == 0 ? IWI_MARK_DOTS : IWI_MARK_LINE,
                                                iwi_series_ink((size_t)i), i == 0 ? "dots" : "line");

        iwi_mark_add(figure, mark, (double[]){1.0, 2.0});
        iwi_mark_add(figure, mark, (double[]){2.0, 3.0});
    }
    svg = written(figure, iwi_figure_write_svg);
    assert_non_null(strstr(svg, "h22\""));
    assert_null(strstr(strstr(svg, "h22\"") + 1, "h22\"")); /* one of them */
    free(svg);
    iwi_figure_free(figure);
}

/* As many as a mark has room for at first: nothing lies behind them. */
static void a_curve_ends_with_its_last_point(void **state)
{
    struct iwi_figure *figure;
    struct iwi_mark *mark;
    char *text;

    (void)state;
    assert_ok(iwi_figure_new(NULL, "eight", &figure));
    mark = iwi_figure_mark(figure, IWI_MARK_STEP, iwi_series_ink(0), "eight");
    for (int i = 0; i < 8; i++) {
        iwi_mark_add(figure, mark, (double[]){i, 5.0 + i % 2});
    }
    text = written(figure, write_plain);
    assert_in(text, "+");
    assert_int_equal(mark->count, mark->room);
    free(text);
    iwi_figure_free(figure);
}

/* Written and read again; the picture is removed. */
static char *plotted(const struct iwi_sheet *sheet, const char *suffix)
{
    char path[64], *text = calloc(1, 65536);
    FILE *in;

    assert_non_null(text);
    snprintf(path, sizeof path, "/tmp/iw_figure_%d%s", (int)getpid(), suffix);
    assert_ok(iwi_sheet_plot(NULL, sheet, path));
    in = fopen(path, "re");
    assert_non_null(in);
    assert_true(fread(text, 1, 65535, in) > 0);
    (void)fclose(in);
    assert_int_equal(unlink(path), 0);
    return text;
}

static void scripts_and_files_have_the_same_colours(void **state)
{
    struct iwi_figure *figures[] = {sample(), sample()};
    const struct iwi_sheet sheet = {
        .name = "s", .title = "both", .notes = {"a note"}, .count = 2, .figures = figures};
    char *script = plotted(&sheet, ".gp"), *svg = plotted(&sheet, ".svg");

    (void)state;
    assert_in(script, "linecolor rgb '#0067ad' title 'first & '.\"'\".'last'.\"'\".''");
    assert_in(script, "$data0 << END\n 2 1000\n 4 10000\nEND\n");
    assert_in(script, "(log($1)/log(2)):2"); /* boxes and curves over ranks: powers of two */
    assert_in(script, "'a note'");
    assert_in(svg, "stroke=\"#0067ad\"");
    assert_in(svg, ">a note</text>");
    free(script);
    free(svg);
    iwi_figure_free(figures[0]);
    iwi_figure_free(figures[1]);
}

static void boxes_are_rows_at_a_terminal(void **state)
{
    struct iwi_figure *figure;
    struct iwi_mark *boxes;
    static char *text; /* GCC 12 warns of what hangs on a local one */
    size_t size;
    FILE *out = open_memstream(&text, &size);

    (void)state;
    assert_non_null(out);
    assert_ok(iwi_figure_new(NULL, "boxes", &figure));
    figure->y =
        (struct iwi_figure_axis){.label = "", .unit = IWI_AXIS_NS, .is_log = true, .low = 1e3, .high = 1e6};
    boxes = iwi_figure_mark(figure, IWI_MARK_BOX, iwi_series_ink(0), NULL);
    /* 13 columns are three decades, four columns each */
    iwi_mark_add_named(figure, boxes, (double[]){1.0, 1e3, 3.17e3, 1e4, 3.17e4, 1e5, 3.17e5, 1e6}, NULL,
                       true);
    iwi_figure_write_text(figure, &(struct iwi_figure_look){.columns = 23}, out);
    iwi_figure_write_text(figure, &(struct iwi_figure_look){.columns = 23, .has_colour = true}, out);
    assert_int_equal(fclose(out), 0);
    assert_in(text, "        1 · ──▒▒█▒▒── ·\n");
    assert_in(text, "\x1b[1;31m█"); /* noise dominates */
    free(text);
    iwi_figure_free(figure);
}

static void other_suffixes_are_refused(void **state)
{
    struct iwt_log log;

    (void)state;
    iwt_log_init(&log);
    assert_status(iwi_sheet_check(&log.log, "a.gif"), IW_ERR_USAGE);
    iwt_assert_logged(&log, "use .svg, .png or .pdf for pictures, .gp for scripts");
    assert_ok(iwi_sheet_check(NULL, "a.b.svg"));
}

/* ---- the palette ---- */

static void a_source_has_its_colour_in_any_company(void **state)
{
    static const char *const few[] = {"kworker/3:1", "local_timer"};
    static const char *const many[] = {"local_timer", "eno1", "TIMER", "SCHED", "kworker"};
    enum iwi_ink a[2], b[5];

    (void)state;
    iwi_source_inks(few, 2, a);
    iwi_source_inks(many, 5, b);
    assert_int_equal(a[1], b[0]);
    assert_int_equal(a[0], b[4]);
    for (size_t i = 0; i < 5; i++) {
        assert_int_not_equal(b[i], IWI_INK_NOISE);
        for (size_t k = 0; k < i; k++) {
            assert_int_not_equal(b[i], b[k]);
        }
    }
}

/* WCAG 2: relative luminance, and the contrast of two. */
static double luminance(uint32_t rgb)
{
    static const double weights[] = {0.2126, 0.7152, 0.0722};
    double sum = 0.0;

    for (int i = 0; i < 3; i++) {
        const double c = (double)(rgb >> (16 - 8 * i) & 0xff) / 255.0;

        sum += weights[i] * (c <= 0.03928 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4));
    }
    return sum;
}

static uint32_t variable(const char *css, const char *name)
{
    char key[32];
    const char *found;

    snprintf(key, sizeof key, "%s:#", name);
    found = strstr(css, key);
    assert_non_null(found);
    return (uint32_t)strtoul(found + strlen(key), NULL, 16);
}

static void colours_stand_out_on_light_and_dark_grounds(void **state)
{
    char *css = NULL;
    size_t size;
    FILE *out = open_memstream(&css, &size);

    (void)state;
    assert_non_null(out);
    iwi_palette_write_css(out);
    assert_int_equal(fclose(out), 0);
    for (const char *scheme = css; scheme != NULL; scheme = scheme == css ? strstr(css, "dark") : NULL) {
        const double ground = luminance(variable(scheme, "--ground"));

        for (size_t i = 0; i <= IWI_SERIES_INKS; i++) {
            const enum iwi_ink ink = i < IWI_SERIES_INKS ? iwi_series_ink(i) : IWI_INK_NOISE;
            const double colour = luminance(variable(scheme, iwi_ink_css(ink)));

            assert_true((fmax(colour, ground) + 0.05) / (fmin(colour, ground) + 0.05) >= 3.0);
        }
    }
    free(css);
}

/* Grey is what has no name: "78 others". Largest difference of a channel to the mean of all. */
static double colourfulness(uint32_t rgb)
{
    const double mean = ((double)(rgb >> 16 & 0xff) + (double)(rgb >> 8 & 0xff) + (double)(rgb & 0xff)) / 3.0;
    double most = 0.0;

    for (int i = 0; i < 3; i++) {
        most = fmax(most, fabs((double)(rgb >> (16 - 8 * i) & 0xff) - mean));
    }
    return most;
}

static void no_series_is_as_grey_as_the_rest(void **state)
{
    (void)state;
    assert_true(colourfulness(iwi_ink_rgb(IWI_INK_FAINT)) < 20.0);
    for (size_t i = 0; i < IWI_SERIES_INKS; i++) {
        assert_true(colourfulness(iwi_ink_rgb(iwi_series_ink(i))) > 40.0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_say_numbers_under_the_mouse_and_escape_names),
        cmocka_unit_test(terminals_show_curves_by_signs),
        cmocka_unit_test(a_curve_ends_with_its_last_point),
        cmocka_unit_test(dots_are_no_lines_in_the_legend),
        cmocka_unit_test(scripts_and_files_have_the_same_colours),
        cmocka_unit_test(boxes_are_rows_at_a_terminal),
        cmocka_unit_test(other_suffixes_are_refused),
        cmocka_unit_test(a_source_has_its_colour_in_any_company),
        cmocka_unit_test(no_series_is_as_grey_as_the_rest),
        cmocka_unit_test(colours_stand_out_on_light_and_dark_grounds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
