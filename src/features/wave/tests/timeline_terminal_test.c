/* Timelines at a terminal: rows where the ranks are, axes, colour, width.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdlib.h>
#include <string.h>

#include <idlewave/wave.h>

#include "support/made_timeline.h"
#include "support/support.h"

enum { COLUMNS = 80, LINES = 20 };

static char *drawn(const struct iwt_run *run, bool has_waves, const iw_timeline_window *window,
                   bool has_colour)
{
    iw_timeline *timeline = iwt_made_timeline(run);
    iw_waves *waves = iwt_made_waves(run);
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    assert_ok(iw_timeline_write_terminal(NULL, timeline, has_waves ? waves : NULL, window, COLUMNS, LINES,
                                         has_colour, out));
    assert_int_equal(fclose(out), 0);
    iwt_free_waves(waves);
    iw_timeline_free(timeline);
    return text;
}

static void assert_in(const char *text, const char *part)
{
    if (strstr(text, part) == NULL) {
        fail_msg("no\n%s\nin:\n%s", part, text);
    }
}

/* 73 columns for 75.5 ms: the delay of 13.5 ms is 13 of them, and begins after 3.1 ms. */
static void letters_show_the_wave(void **state)
{
    const struct iwt_run run = IWT_RUN_INIT;
    char *text = drawn(&run, false, NULL, false);

    (void)state;
    assert_in(text, "\n   5 \xe2\x94\xa4   DDDDDDDDDDDDDD\n");
    assert_in(text, "\n     \xe2\x94\x82      #############-\n   5 "); /* rank 6, above rank 5 */
    assert_in(text, "rank\n");
    assert_in(text, "\n      0 ");
    assert_in(text, "60 ms\n");
    assert_in(text, "# waiting  D delay");
    assert_null(strchr(text, '\x1b'));
    assert_null(strstr(text, " \n"));
    free(text);
}

static void fitted_fronts_are_drawn_over_it(void **state)
{
    const struct iwt_run run = IWT_RUN_INIT;
    char *text = drawn(&run, true, NULL, false);

    (void)state;
    assert_in(text, "     /############");
    assert_in(text, "     \\############");
    assert_in(text, "fitted fronts\n");
    free(text);
}

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;

    for (; (text = strstr(text, part)) != NULL; text++) {
        count++;
    }
    return count;
}

/* Two rows of ranks a line: 18 ranks are 36 half lines. */
static void colours_are_half_blocks(void **state)
{
    const struct iwt_run run = IWT_RUN_INIT;
    char *text = drawn(&run, false, NULL, true);

    (void)state;
    assert_int_equal(count_of(text, "\n"), 18 + 4);
    assert_in(text, "\x1b[38;5;160m\x1b[48;5;160m\xe2\x96\x80\x1b[0m");
    assert_in(text, "\x1b[38;5;26m\x1b[48;5;26m\xe2\x96\x80\x1b[0m");
    free(text);
}

static void a_window_is_magnified(void **state)
{
    const struct iwt_run run = IWT_RUN_INIT;
    const iw_timeline_window window = {
        .first_rank = 4, .rank_count = 4, .from_ps = INT64_C(10000000000), .to_ps = INT64_C(20000000000)};
    char *text = drawn(&run, false, &window, false);

    (void)state;
    assert_int_equal(count_of(text, "\n"), 20 + 4); /* five lines a rank */
    assert_in(text, "10 ms");
    assert_null(strstr(text, "30 ms"));
    assert_int_equal(count_of(text, "DDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDD\n") + count_of(text, "DDDDDDDDDDDD "),
                     5);
    free(text);
}

static void no_line_is_wider_than_asked(void **state)
{
    struct iwt_run run = IWT_RUN_INIT;
    char *text;
    size_t column = 0;

    (void)state;
    run.ranks = 3000;
    run.late_rank = 1500;
    run.steps = 60;
    run.most_noise_ps = IWT_WORK_PS / 4;
    text = drawn(&run, true, NULL, false);
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '\n') {
            column = 0;
        } else if (((unsigned char)*c & 0xc0) != 0x80) {
            column++;
        }
        assert_true(column <= COLUMNS);
    }
    assert_in(text, "1500 \xe2\x94\xa4");
    assert_in(text, "D"); /* one late rank of 3000 stays visible */
    free(text);
}

static void silly_sizes_are_made_sensible(void **state)
{
    const struct iwt_run run = IWT_RUN_INIT;
    iw_timeline *timeline = iwt_made_timeline(&run);
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    (void)state;
    assert_non_null(out);
    assert_ok(iw_timeline_write_terminal(NULL, timeline, NULL, NULL, 0, 0, false, out));
    assert_ok(iw_timeline_write_terminal(NULL, timeline, NULL, NULL, UINT32_MAX, UINT32_MAX, true, out));
    assert_int_equal(fclose(out), 0);
    free(text);
    iw_timeline_free(timeline);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(letters_show_the_wave),       cmocka_unit_test(fitted_fronts_are_drawn_over_it),
        cmocka_unit_test(colours_are_half_blocks),     cmocka_unit_test(a_window_is_magnified),
        cmocka_unit_test(no_line_is_wider_than_asked), cmocka_unit_test(silly_sizes_are_made_sensible),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
