/* The progress bar's text.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "process/progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "support/support.h"

static void assert_bar(double share, double elapsed_s, const char *expected)
{
    const struct progress progress = {.total_amount = 2e9, .unit = "messages"};
    char text[160];

    progress_format(&progress, share, elapsed_s, text, sizeof text);
    assert_string_equal(text, expected);
    assert_in_range(strlen(text), 1, 79);
}

static void bar_shows_share_rate_and_remaining_time(void **state)
{
    (void)state;
    assert_bar(0.0, 1.0, "[                              ]   0 %  0 messages/s  ?:?? left");
    assert_bar(0.5, 10.0, "[###############               ]  50 %  100 M messages/s  0:10 left");
    assert_bar(0.1, 60.0, "[###                           ]  10 %  3.33 M messages/s  9:00 left");
    assert_bar(1.0, 0.5, "[##############################] 100 %  4 G messages/s  0:00 left");
}

static void without_a_unit_no_rate_is_shown(void **state)
{
    const struct progress progress = {.unit = NULL};
    char text[160];

    (void)state;
    progress_format(&progress, 0.5, 30.0, text, sizeof text);
    assert_string_equal(text, "[###############               ]  50 %  0:30 left");
}

static void a_detail_is_shown_instead_of_a_rate(void **state)
{
    const struct progress progress = {.unit = NULL, .detail = "72/160 cells, 3.1/s"};
    char text[160];

    (void)state;
    progress_format(&progress, 0.5, 30.0, text, sizeof text);
    assert_string_equal(text, "[###############               ]  50 %  72/160 cells, 3.1/s  0:30 left");
}

static void a_line_tells_the_share_and_the_time_left(void **state)
{
    char text[160];

    (void)state;
    progress_line(0.25, 60.0, text, sizeof text);
    assert_string_equal(text, "25 % done, 3:00 left");
    progress_line(0.0, 60.0, text, sizeof text);
    assert_string_equal(text, "0 % done, ?:?? left");
}

/* Whether a line is written after so many seconds of work, the line before it having come then. */
static bool is_line_written(double after_s, double last_s, bool is_quiet)
{
    struct progress progress;
    double drawn_s;

    progress_begin(&progress, 0.0, NULL);
    progress.is_shown = false;
    progress_tell(&progress, "whatif", is_quiet);
    progress.start_s -= after_s;
    progress.drawn_s = drawn_s = last_s > 0.0 ? progress.start_s + last_s : 0.0;
    progress_update(&progress, 0.25);
    assert_false(progress.is_drawn);
    return progress.drawn_s > drawn_s;
}

static void without_a_terminal_a_line_comes_after_ten_seconds_unless_it_is_quiet(void **state)
{
    (void)state;
    assert_false(is_line_written(9.0, 0.0, false));
    assert_true(is_line_written(11.0, 0.0, false));
    assert_false(is_line_written(11.0, 0.0, true));
}

/* After an hour: a quarter of it. */
static void lines_of_long_work_come_ever_more_rarely(void **state)
{
    (void)state;
    assert_true(is_line_written(40.0, 29.0, false));
    assert_false(is_line_written(3600.0 + 890.0, 3600.0, false));
    assert_true(is_line_written(3600.0 + 910.0, 3600.0, false));
}

static void quiet_work_draws_no_bar(void **state)
{
    struct progress progress;

    (void)state;
    progress_begin(&progress, 0.0, NULL);
    progress.is_shown = true;
    progress_tell(&progress, "simulate", true);
    progress.start_s -= 11.0;
    progress_update(&progress, 0.25);
    assert_false(progress.is_drawn);
}

static void nothing_is_drawn_where_there_is_no_terminal(void **state)
{
    struct progress progress;

    (void)state;
    progress_begin(&progress, 1.0, "messages");
    progress.is_shown = false;
    progress.start_s -= 10.0;
    progress_update(&progress, 0.5);
    assert_false(progress.is_drawn);
}

static void nothing_is_drawn_within_the_first_second(void **state)
{
    struct progress progress;

    (void)state;
    progress_begin(&progress, 1.0, "messages");
    progress.is_shown = true;
    progress_update(&progress, 0.5);
    assert_false(progress.is_drawn);
    progress.start_s -= 10.0;
    progress_update(&progress, 0.5);
    assert_true(progress.is_drawn);
    progress_wipe(&progress);
    assert_false(progress.is_drawn);
}

/* Half is done after ten seconds. */
static void what_is_drawn_counts_from_the_start(void **state)
{
    const int before = dup(STDERR_FILENO);
    struct progress progress;
    char text[256] = "";
    FILE *drawn = tmpfile();

    (void)state;
    assert_non_null(drawn);
    progress_begin(&progress, 1.0, NULL);
    progress.is_shown = true;
    progress.start_s -= 10.0;
    assert_int_equal(dup2(fileno(drawn), STDERR_FILENO), STDERR_FILENO);
    progress_update(&progress, 0.5);
    assert_int_equal(dup2(before, STDERR_FILENO), STDERR_FILENO);
    assert_int_equal(close(before), 0);
    rewind(drawn);
    assert_true(fread(text, 1, sizeof text - 1, drawn) > 0);
    assert_non_null(strstr(text, "  50 %  0:1")); /* up to 19 s on a busy machine */
    assert_int_equal(fclose(drawn), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bar_shows_share_rate_and_remaining_time),
        cmocka_unit_test(without_a_unit_no_rate_is_shown),
        cmocka_unit_test(a_detail_is_shown_instead_of_a_rate),
        cmocka_unit_test(a_line_tells_the_share_and_the_time_left),
        cmocka_unit_test(without_a_terminal_a_line_comes_after_ten_seconds_unless_it_is_quiet),
        cmocka_unit_test(lines_of_long_work_come_ever_more_rarely),
        cmocka_unit_test(quiet_work_draws_no_bar),
        cmocka_unit_test(nothing_is_drawn_where_there_is_no_terminal),
        cmocka_unit_test(nothing_is_drawn_within_the_first_second),
        cmocka_unit_test(what_is_drawn_counts_from_the_start),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
