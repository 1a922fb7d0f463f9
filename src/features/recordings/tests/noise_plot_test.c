/* Plots made of characters, to the last cell.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "kit/text/words.h"

#include <stdlib.h>
#include <string.h>

#include "support/made_recording.h"
#include "support/support.h"

#include "noise_sample.h"

/* The part of the text from `begin` up to a blank line or the end, to be freed; "" if it is not there. */
static char *drawn(const iw_recording *recording, const char *begin)
{
    char *text = noise_written(recording, false, IW_DOC_TEXT);
    const char *at = strstr(text, begin), *end;
    char *copy;

    at = at != NULL ? at + strlen(begin) : "";
    end = strstr(at, "\n\n");
    copy = end != NULL ? strndup(at, (size_t)(end - at) + 1) : strdup(at);
    free(text);
    assert_non_null(copy);
    return copy;
}

static void assert_drawn(iw_recording *recording, const char *begin, const char *expected)
{
    char *text = drawn(recording, begin);

    assert_string_equal(text, expected);
    free(text);
    iw_recording_free(recording);
}

static const char scatter[] = "Detours over time\n";
static const char histogram[] = "(number, logarithmic)\n";

/* The scatter plot's line `row` from the top, to be freed. */
static char *row_of(const iw_recording *recording, size_t row)
{
    char *text = drawn(recording, scatter), *line = text, *copy;

    for (; row > 0; row--) {
        line = strchr(line, '\n') + 1;
    }
    copy = strndup(line, strcspn(line, "\n"));
    free(text);
    return copy;
}

/* Four decades on 16 rows of 4 dots: each decade is 16 dots high. 72 columns of 2 dots for 720 ns. */
static void detours_stand_at_their_time_and_duration(void **state)
{
    iw_recording *recording = iwt_recording(1, 720);

    (void)state;
    iwt_detour(recording, 0, 0, 1, 0);       /* lowest row of dots, left */
    iwt_detour(recording, 0, 15, 10, 0);     /* second decade's lowest row, right half of column 1 */
    iwt_detour(recording, 0, 300, 100, 0);   /* column 30 */
    iwt_detour(recording, 0, 719, 10000, 0); /* the top right corner */
    assert_drawn(recording, scatter,
                 " 10 us ┤                                                                       ⠈\n"
                 "       │\n"
                 "       │\n"
                 "  1 us ┤\n"
                 "       │\n"
                 "       │\n"
                 "       │\n"
                 "100 ns ┤                              ⡀\n"
                 "       │\n"
                 "       │\n"
                 "       │\n"
                 " 10 ns ┤ ⢀\n"
                 "       │\n"
                 "       │\n"
                 "       │\n"
                 "  1 ns ┤⡀\n"
                 "       └┬───────────────────┬───────────────────┬───────────────────┬───────────\n"
                 "        0                   200 ns              400 ns              600 ns\n");
}

static void crowded_cells_show_how_many(void **state)
{
    static const struct {
        size_t count;
        const char *cell;
    } cases[] = {{1, "⡀"},   {4, "⡀"},   {5, "░"},    {49, "░"},   {50, "▒"},
                 {499, "▒"}, {500, "▓"}, {4900, "▓"}, {5000, "█"}, {70000, "█"}};
    char expected[32];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        iw_recording *recording = iwt_recording(1, 72000000);
        char *row;

        for (size_t k = 0; k < cases[i].count; k++) {
            iwt_detour(recording, 0, (int64_t)k * 5, 1, 0);
        }
        row = row_of(recording, 15);
        snprintf(expected, sizeof expected, "  1 ns ┤%s", cases[i].cell);
        assert_string_equal(row, expected);
        free(row);
        iw_recording_free(recording);
    }
}

static void nothing_draws_nothing(void **state)
{
    (void)state;
    assert_drawn(iwt_recording(1, 1000), scatter, "");
    assert_drawn(iwt_recording(0, 0), scatter, "");
    assert_drawn(iwt_recording(1, 1000), histogram, "");
}

static void all_cpus_share_a_plot(void **state)
{
    iw_recording *recording = iwt_recording(2, 720);
    char *row;

    (void)state;
    iwt_detour(recording, 0, 0, 1, 0);
    iwt_detour(recording, 1, 5, 1, 0);
    row = row_of(recording, 15);
    assert_string_equal(row, "  1 ns ┤⣀");
    free(row);
    iw_recording_free(recording);
}

/* 2 us belongs to the bin that begins there; 24 columns for the largest, log2(2)/log2(4) of it for one. */
static void histogram_has_bins_of_1_2_5(void **state)
{
    iw_recording *recording = iwt_recording(1, 1000000);

    (void)state;
    iwt_detour(recording, 0, 0, 1499, 0);
    iwt_detour(recording, 0, 10000, 2000, 0);
    iwt_detour(recording, 0, 20000, 4501, 0);
    iwt_detour(recording, 0, 30000, 2000, 0);
    iwt_detour(recording, 0, 40000, 10000, 0);
    assert_drawn(recording, histogram,
                 " 1 us   2 us        1    7.50 %  ████████████\n"
                 " 2 us   5 us        3    42.5 %  ████████████████████████\n"
                 " 5 us  10 us        0\n"
                 "10 us  15 us        1    50.0 %  ████████████\n");
}

static void extreme_durations_have_bins_too(void **state)
{
    iw_recording *recording = iwt_recording(1, INT64_MAX);
    char *text;

    (void)state;
    iwt_detour(recording, 0, 0, 1, 0);
    iwt_detour(recording, 0, 10, INT64_MAX - 10, 0);
    text = drawn(recording, histogram);
    assert_int_equal(strncmp(text + strspn(text, " "), "1 ns ", 5), 0);
    assert_non_null(strstr(text, " 1   <.001 % "));
    free(text);
    free(drawn(recording, scatter));
    iw_recording_free(recording);
}

static void detours_of_no_length_are_counted_apart(void **state)
{
    iw_recording *recording = iwt_recording(1, 1000000);

    (void)state;
    iwt_detour(recording, 0, 0, 0, 0);
    iwt_detour(recording, 0, 5, 0, 0);
    iwt_detour(recording, 0, 10, 100, 0);
    assert_drawn(recording, histogram,
                 "  none                2\n"
                 "100 ns  150 ns        1   100.0 %  ████████████████████████\n");
}

static void numbers_take_seven_columns_at_most(void **state)
{
    char text[IWI_NUMBER_SIZE];

    (void)state;
    assert_string_equal(iwi_ns_short_text(0.0, text), "0 ns");
    assert_string_equal(iwi_ns_short_text(999.4, text), "999 ns");
    assert_string_equal(iwi_ns_short_text(999.6, text), "1.00 us");
    assert_string_equal(iwi_ns_short_text(9996.0, text), "10.0 us");
    assert_string_equal(iwi_ns_short_text(99960.0, text), "100 us");
    assert_string_equal(iwi_ns_short_text(1.25e9, text), "1.25 s");
    assert_string_equal(iwi_ns_short_text(4e12, text), "4000 s");
    assert_string_equal(iwi_ns_round_text(6e10, text), "60 s");
    assert_string_equal(iwi_ns_round_text(36e11, text), "3600 s");
    assert_string_equal(iwi_rate_text(250.0, text), "250/s");
    assert_string_equal(iwi_rate_text(1e6, text), "1.00M/s");
    assert_string_equal(iwi_rate_text(0.05, text), "3.0/min");
    assert_string_equal(iwi_rate_text(0.001, text), "3.6/h");
    assert_string_equal(iwi_share_text(0.0, text), "0.00 %");
    assert_string_equal(iwi_share_text(0.5, text), "50.0 %");
    assert_string_equal(iwi_share_text(0.00012, text), "0.012 %");
    assert_string_equal(iwi_share_text(1e-9, text), "<.001 %");
    assert_string_equal(iwi_count_text(9999999, text), "9999999");
    assert_string_equal(iwi_count_text(12345678, text), "12.3 M");
}

static void long_names_lose_their_end(void **state)
{
    char text[IWI_NAME_SIZE];

    (void)state;
    assert_string_equal(iwi_plain_name("kworker/0:1", 15, text), "kworker/0:1");
    assert_string_equal(iwi_plain_name("kworker/0:1-events", 15, text), "kworker/0:1-e..");
    assert_string_equal(iwi_plain_name("", 15, text), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(detours_stand_at_their_time_and_duration),
        cmocka_unit_test(crowded_cells_show_how_many),
        cmocka_unit_test(nothing_draws_nothing),
        cmocka_unit_test(all_cpus_share_a_plot),
        cmocka_unit_test(histogram_has_bins_of_1_2_5),
        cmocka_unit_test(extreme_durations_have_bins_too),
        cmocka_unit_test(detours_of_no_length_are_counted_apart),
        cmocka_unit_test(numbers_take_seven_columns_at_most),
        cmocka_unit_test(long_names_lose_their_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
