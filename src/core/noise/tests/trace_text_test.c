/* Noise files in text form: what is read, what is refused where, and that no bytes do harm.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <idlewave/noise.h>

#include "core/base/rng.h"
#include "core/noise/detour_text.h"
#include "core/noise/stream.h"
#include "support/support.h"

static iw_status read_bytes(const iw_log *log, const char *bytes, size_t size, struct iwi_detour_rows *rows)
{
    /* fmemopen() refuses an empty buffer */
    FILE *in = size > 0 ? fmemopen((void *)(uintptr_t)bytes, size, "r") : fopen("/dev/null", "r");
    iw_status status;

    assert_non_null(in);
    status = iwi_detour_text_read(log, in, "a.noise", rows);
    fclose(in);
    return status;
}

static struct iwi_detour_rows read_text(const char *text)
{
    struct iwi_detour_rows rows = {NULL, NULL, 0, 0};
    struct iwt_log log;

    iwt_log_init(&log);
    if (read_bytes(&log.log, text, strlen(text), &rows) != IW_OK) {
        fail_msg("refused:\n%s", log.text);
    }
    return rows;
}

static void expect_row(const struct iwi_detour_rows *rows, size_t row, iw_time start_ps, iw_time duration_ps)
{
    assert_true(row < rows->count);
    assert_int_equal(rows->start_ps[row], start_ps);
    assert_int_equal(rows->duration_ps[row], duration_ps);
}

static void expect_refused(const char *text, iw_status status, const char *place, const char *problem)
{
    struct iwi_detour_rows rows = {NULL, NULL, 0, 0};
    struct iwt_log log;

    iwt_log_init(&log);
    assert_status(read_bytes(&log.log, text, strlen(text), &rows), status);
    assert_int_equal(log.errors, 1);
    iwt_assert_logged(&log, place);
    iwt_assert_logged(&log, problem);
    assert_null(rows.start_ps);
}

static void columns_may_be_parted_by_blanks_tabs_or_commas(void **unused)
{
    struct iwi_detour_rows rows = read_text("1 2\n3\t4\n5,6\n  7 , 8  \n9,\t10 # end\n11   12");

    (void)unused;
    assert_int_equal(rows.count, 6);
    for (size_t i = 0; i < 6; i++) {
        expect_row(&rows, i, (iw_time)(2 * i + 1) * 1000, (iw_time)(2 * i + 2) * 1000);
    }
    assert_int_equal(rows.length_ps, 0);
    iwi_detour_rows_release(&rows);
}

static void decimals_are_exact_to_the_picosecond(void **unused)
{
    struct iwi_detour_rows rows = read_text("0.001 0.999\n123456789012.345 1e3\n1.5e+03 .5\n0.0004 0.0006\n");

    (void)unused;
    assert_int_equal(rows.count, 4);
    expect_row(&rows, 0, 1, 999);
    expect_row(&rows, 1, INT64_C(123456789012345), 1000000);
    expect_row(&rows, 2, 1500000, 500);
    expect_row(&rows, 3, 0, 1);
    iwi_detour_rows_release(&rows);
}

static void comments_blank_lines_and_crlf_are_accepted(void **unused)
{
    struct iwi_detour_rows rows = read_text("# a comment\r\n\r\n   # indented\n\n1 2\r\n#\n\t\n3 4\r\n");

    (void)unused;
    assert_int_equal(rows.count, 2);
    expect_row(&rows, 1, 3000, 4000);
    iwi_detour_rows_release(&rows);
}

static void a_header_gives_the_length(void **unused)
{
    struct iwi_detour_rows rows = read_text("# length_ns: 1000.5\n1 2\n"),
                           behind = read_text("1 2\n#length_ns : 7");

    (void)unused;
    assert_int_equal(rows.length_ps, 1000500);
    assert_int_equal(behind.length_ps, 7000);
    iwi_detour_rows_release(&rows);
    iwi_detour_rows_release(&behind);
}

static void a_file_of_netgauge_is_read_unchanged(void **unused)
{
    struct iwi_detour_rows rows = read_text("# Selfish Benchmark\n# Minimal cycle length [ns]: 16.430000 \n"
                                            "# Time [ns]\tselfish duration [ns]\n0.00\t1234.56\n"
                                            "1000000000.25\t500.75\n# CPU overhead due to noise: 0.00%\n"
                                            "# Measurement period: 1.00 s\n");

    (void)unused;
    assert_int_equal(rows.count, 2);
    expect_row(&rows, 0, 0, 1234560);
    expect_row(&rows, 1, INT64_C(1000000000250), 500750);
    assert_int_equal(rows.length_ps, 0); /* the period is the end of the last detour, rounded */
    iwi_detour_rows_release(&rows);
}

static void the_period_of_netgauge_counts_where_it_is_longer_than_the_data(void **unused)
{
    struct iwi_detour_rows rows = read_text("0.00\t1234.56\n# Measurement period: 1.25 s\n");
    struct iwi_detour_rows odd = read_text("0.00\t1234.56\n# Measurement period: nan s\n");

    (void)unused;
    assert_int_equal(rows.length_ps, 1250 * IW_PS_PER_MS);
    assert_int_equal(odd.length_ps, 0);
    iwi_detour_rows_release(&rows);
    iwi_detour_rows_release(&odd);
}

static void lines_that_are_not_two_numbers_are_refused_with_their_place(void **unused)
{
    (void)unused;
    expect_refused("1 2\nstart duration\n", IW_ERR_FORMAT, "'a.noise:2'", "start 'start' is not a number");
    expect_refused("\n\n1 x\n", IW_ERR_FORMAT, "'a.noise:3'", "duration 'x' is not a number");
    expect_refused("1\n2 3\n", IW_ERR_FORMAT, "'a.noise:1'", "the duration is missing");
    expect_refused("1,\n2 3\n", IW_ERR_FORMAT, "'a.noise:1'", "the duration is missing");
    expect_refused("1 2 3\n", IW_ERR_FORMAT, "'a.noise:1'", "more than two numbers");
    expect_refused("1,,2\n", IW_ERR_FORMAT, "'a.noise:1'", "the duration is missing");
    expect_refused("\x1b[1m 2\n", IW_ERR_FORMAT, "'a.noise:1'", "start '?[1m'"); /* no terminal is harmed */
    expect_refused("5us 2\n", IW_ERR_FORMAT, "'a.noise:1'", "in nanoseconds");
    expect_refused("# length_ns: soon\n", IW_ERR_FORMAT, "'a.noise:1'", "length 'soon'");
}

static void a_file_that_ends_within_a_line_is_truncated(void **unused)
{
    (void)unused;
    expect_refused("1 2\n3", IW_ERR_TRUNCATED, "'a.noise:2'", "ends without a duration");
    expect_refused("1 2\n3\t", IW_ERR_TRUNCATED, "'a.noise:2'", "ends without a duration");
}

static void numbers_that_make_no_sense_are_refused(void **unused)
{
    (void)unused;
    expect_refused("nan 1\n", IW_ERR_FORMAT, "'a.noise:1'", "start 'nan'");
    expect_refused("1 inf\n", IW_ERR_FORMAT, "'a.noise:1'", "duration 'inf'");
    expect_refused("0x10 1\n", IW_ERR_FORMAT, "'a.noise:1'", "start '0x10'");
    expect_refused("-1 1\n", IW_ERR_RANGE, "'a.noise:1'", "start '-1' is not between 0 and 240h");
    expect_refused("1 -0.5\n", IW_ERR_RANGE, "'a.noise:1'", "duration '-0.5'");
    expect_refused("1 864000000000001\n", IW_ERR_RANGE, "'a.noise:1'", "not between 0 and 240h");
    expect_refused("99999999999999999999999999 1\n", IW_ERR_RANGE, "'a.noise:1'", "not between");
    expect_refused("1e300 1\n", IW_ERR_RANGE, "'a.noise:1'", "not between");
    expect_refused("# length_ns: -5\n", IW_ERR_RANGE, "'a.noise:1'", "length '-5'");
}

static void very_long_lines_do_no_harm(void **unused)
{
    const size_t size = 3000000;
    char *text = malloc(size);
    struct iwi_detour_rows rows = {NULL, NULL, 0, 0};

    (void)unused;
    assert_non_null(text);
    memset(text, '1', size);
    assert_status(read_bytes(NULL, text, size, &rows), IW_ERR_FORMAT);
    text[0] = '#'; /* a comment may be long */
    text[size - 5] = '\n';
    memcpy(text + size - 4, "1 2\n", 4);
    assert_ok(read_bytes(NULL, text, size, &rows));
    assert_int_equal(rows.count, 1);
    iwi_detour_rows_release(&rows);
    memset(text, ' ', size);
    assert_status(read_bytes(NULL, text, size, &rows), IW_ERR_FORMAT);
    memcpy(text, "1 2 # and", 9); /* also behind data */
    assert_ok(read_bytes(NULL, text, size, &rows));
    iwi_detour_rows_release(&rows);
    memcpy(text, "1         2", 11);
    assert_status(read_bytes(NULL, text, size, &rows), IW_ERR_FORMAT);
    free(text);
}

static void a_file_cut_anywhere_is_read_or_refused(void **unused)
{
    const char text[] = "# length_ns: 1234567\r\n0.00\t1234.56\n10000.25 , 500.75 # x\n\n20000\t3e2\n";
    int read = 0, refused = 0;

    (void)unused;
    for (size_t size = 0; size < sizeof text; size++) {
        struct iwi_detour_rows rows = {NULL, NULL, 0, 0};

        if (read_bytes(NULL, text, size, &rows) == IW_OK) {
            read++;
            iwi_detour_rows_release(&rows);
        } else {
            refused++;
        }
    }
    assert_true(read > 10 && refused > 5);
}

/* Mostly characters of the format, so that the reader gets somewhere. */
static void random_bytes_are_read_or_refused(void **unused)
{
    static const char alphabet[] = "0123456789  \t,.\n\r#eE-+#l\n0 1\n";
    const struct iwi_draw_id draw = {.seed = 1, .purpose = IWI_DRAW_TEST};
    uint64_t index = 0;
    int read = 0;

    (void)unused;
    for (int round = 0; round < 3000; round++) {
        char bytes[64];
        const size_t size = iwi_draw_below(draw, index++, sizeof bytes);
        struct iwi_detour_rows rows = {NULL, NULL, 0, 0};

        for (size_t i = 0; i < size; i++) {
            const uint64_t bits = iwi_draw(draw, index++);

            bytes[i] = round % 10 == 0 ? (char)bits : alphabet[bits % (sizeof alphabet - 1)];
        }
        if (read_bytes(NULL, bytes, size, &rows) == IW_OK) {
            read++;
            iwi_detour_rows_release(&rows);
        }
    }
    assert_true(read > 20);
}

static void write_file(char *path, const char *text)
{
    const int fd = mkstemp(path);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

static void a_file_becomes_a_source_named_after_its_path(void **unused)
{
    char path[] = "/tmp/iw_noise_XXXXXX";
    struct iwi_detour_trace_view view;
    iw_noise *noise = NULL;

    (void)unused;
    write_file(path, "# length_ns: 100\n40 5\n10 20\n");
    assert_ok(iw_noise_new(NULL, &noise));
    assert_ok(iw_noise_add(NULL, noise, path));
    unlink(path);
    assert_string_equal(iw_noise_source_name(noise, 0), path);
    assert_true(iwi_noise_trace_view(noise, &view));
    assert_int_equal(view.count, 2);
    assert_int_equal(view.pieces[1].start_ps, 40000);
    assert_int_equal(view.length_ps, 100000);
    assert_true(iw_noise_source_share(noise, 0) > 0.249 && iw_noise_source_share(noise, 0) < 0.251);
    iw_noise_free(noise);
}

static void a_file_without_detours_is_accepted_with_a_warning(void **unused)
{
    char path[] = "/tmp/iw_noise_XXXXXX";
    struct iwt_log log;
    iw_noise *noise = NULL;

    (void)unused;
    iwt_log_init(&log);
    write_file(path, "# nothing happened\n");
    assert_ok(iw_noise_new(NULL, &noise));
    assert_ok(iw_noise_add(&log.log, noise, path));
    unlink(path);
    assert_int_equal(log.warnings, 1);
    iwt_assert_logged(&log, "holds no detours");
    iw_noise_free(noise);
}

static void a_folder_is_not_a_noise_file(void **unused)
{
    struct iwt_log log;
    iw_noise *noise = NULL;

    (void)unused;
    iwt_log_init(&log);
    assert_ok(iw_noise_new(NULL, &noise));
    assert_status(iw_noise_add(&log.log, noise, "/tmp"), IW_ERR_IO);
    iwt_assert_logged(&log, "cannot read '/tmp': Is a directory");
    iw_noise_free(noise);
}

static void runs_of_netgauge_follow_each_other(void **unused)
{
    struct iwi_detour_rows rows = read_text("# Benchmark Method: selfish\n# Nodename: n1\n0 5\n100 7\n250 9\n"
                                            "# Measurement period: 0.00 s\n"
                                            "# Benchmark Method: selfish\n# Nodename: n1\n0 4\n60 6\n");

    (void)unused;
    /* the detour at 250 ends the first run, that at 0 of the second takes its place */
    assert_int_equal(rows.count, 4);
    expect_row(&rows, 0, 0, 5000);
    expect_row(&rows, 1, 100000, 7000);
    expect_row(&rows, 2, 250000, 4000);
    expect_row(&rows, 3, 310000, 6000);
    assert_int_equal(rows.length_ps, 0);
    iwi_detour_rows_release(&rows);
}

static void a_run_that_says_its_length_keeps_its_last_detour(void **unused)
{
    struct iwi_detour_rows rows =
        read_text("# Benchmark Method: selfish\n0 5\n100 7\n# Measurement period: 2 s\n"
                  "# Benchmark Method: selfish\n0 4\n60 6\n# length_ns: 500\n");

    (void)unused;
    assert_int_equal(rows.count, 4);
    expect_row(&rows, 1, 100000, 7000);
    expect_row(&rows, 2, 2 * IW_PS_PER_S, 4000);
    expect_row(&rows, 3, 2 * IW_PS_PER_S + 60000, 6000);
    assert_int_equal(rows.length_ps, 2 * IW_PS_PER_S + 500000);
    iwi_detour_rows_release(&rows);
}

static void a_run_without_detours_is_none(void **unused)
{
    struct iwi_detour_rows rows = read_text("# Benchmark Method: selfish\n# Measurement period: 2 s\n"
                                            "# Benchmark Method: selfish\n0 4\n60 6\n");

    (void)unused;
    assert_int_equal(rows.count, 2);
    expect_row(&rows, 1, 60000, 6000);
    iwi_detour_rows_release(&rows);
}

static void columns_of_other_benchmarks_are_refused(void **unused)
{
    (void)unused;
    expect_refused("# Benchmark Method: fwq\n1 20.5\n", IW_ERR_FORMAT, "a.noise:1", "output of a netgauge");
    expect_refused("# Frequency 1000.0\n# Ticks per ns: 2.1\n0 5000\n", IW_ERR_FORMAT, "a.noise:2",
                   "output of FTQ");
}

static void runs_that_cannot_follow_each_other_are_refused(void **unused)
{
    (void)unused;
    expect_refused("# Benchmark Method: selfish\n# Nodename: n1\n0 5\n9 1\n"
                   "# Benchmark Method: selfish\n# Nodename: n2\n0 4\n",
                   IW_ERR_FORMAT, "a.noise:6", "a run of node 'n2' follows one of 'n1'");
    expect_refused(
        "# Benchmark Method: selfish\n0 5\n100 7\n# length_ns: 50\n# Benchmark Method: selfish\n0 4\n",
        IW_ERR_RANGE, "a.noise:5", "than the end of its last detour");
    expect_refused("0 5\n# length_ns: 500e12\n# Benchmark Method: selfish\n0 5\n# length_ns: 500e12\n"
                   "# Benchmark Method: selfish\n0 5\n",
                   IW_ERR_RANGE, "a.noise:6", "exceed 240h");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_may_be_parted_by_blanks_tabs_or_commas),
        cmocka_unit_test(decimals_are_exact_to_the_picosecond),
        cmocka_unit_test(comments_blank_lines_and_crlf_are_accepted),
        cmocka_unit_test(a_header_gives_the_length),
        cmocka_unit_test(a_file_of_netgauge_is_read_unchanged),
        cmocka_unit_test(the_period_of_netgauge_counts_where_it_is_longer_than_the_data),
        cmocka_unit_test(lines_that_are_not_two_numbers_are_refused_with_their_place),
        cmocka_unit_test(a_file_that_ends_within_a_line_is_truncated),
        cmocka_unit_test(numbers_that_make_no_sense_are_refused),
        cmocka_unit_test(very_long_lines_do_no_harm),
        cmocka_unit_test(a_file_cut_anywhere_is_read_or_refused),
        cmocka_unit_test(random_bytes_are_read_or_refused),
        cmocka_unit_test(a_file_becomes_a_source_named_after_its_path),
        cmocka_unit_test(a_file_without_detours_is_accepted_with_a_warning),
        cmocka_unit_test(a_folder_is_not_a_noise_file),
        cmocka_unit_test(runs_of_netgauge_follow_each_other),
        cmocka_unit_test(a_run_that_says_its_length_keeps_its_last_detour),
        cmocka_unit_test(a_run_without_detours_is_none),
        cmocka_unit_test(columns_of_other_benchmarks_are_refused),
        cmocka_unit_test(runs_that_cannot_follow_each_other_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
