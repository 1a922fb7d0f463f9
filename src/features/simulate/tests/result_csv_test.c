/* CSV: one line a trial, one line a rank, exact times.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/result.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "support/support.h"

#include "kit/text/words.h"
#include "support/report_sample.h"

static void nanoseconds_are_exact_and_without_needless_zeros(void **state)
{
    static const struct {
        iw_time ps;
        const char *text;
    } cases[] = {{0, "0"},
                 {1, "0.001"},
                 {580, "0.58"},
                 {1000, "1"},
                 {10000, "10"},
                 {-1500, "-1.5"},
                 {130200123, "130200.123"},
                 {INT64_MAX, "9223372036854775.807"},
                 {INT64_MIN, "-9223372036854775.808"}};
    char buf[IWI_NS_TEXT_SIZE];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_string_equal(iwi_ns_text(cases[i].ps, buf), cases[i].text);
    }
}

static void each_trial_has_a_line_with_its_number(void **state)
{
    static const double factors[] = {1.0, 1.5, 3.0};
    struct sample s;

    (void)state;
    sample_init(&s);
    sample_set_trials(&s, factors, 3);
    s.result.first_trial = 40;
    sample_write(&s, IW_DOC_CSV);
    assert_string_equal(s.text, "trial,makespan_ns,slowdown\n40,130200,0\n41,195300,0.5\n42,390600,2\n");
    sample_release(&s);
}

static void slowdown_is_empty_when_nothing_takes_time(void **state)
{
    struct sample s;

    (void)state;
    sample_init(&s);
    s.result.noiseless_ps = 0;
    sample_write(&s, IW_DOC_CSV);
    assert_string_equal(s.text, "trial,makespan_ns,slowdown\n0,130200,\n");
    sample_release(&s);
}

static void assert_end_times(struct sample *s, const char *expected)
{
    char path[] = "/tmp/iw_end_times_XXXXXX", text[256];
    const int fd = mkstemp(path);
    size_t length;
    FILE *in;

    assert_true(fd >= 0);
    assert_int_equal(close(fd), 0);
    assert_ok(iw_result_write_end_times(NULL, &s->result, path));
    in = fopen(path, "re");
    assert_non_null(in);
    length = fread(text, 1, sizeof text - 1, in);
    text[length] = '\0';
    assert_string_equal(text, expected);
    (void)fclose(in);
    (void)unlink(path);
}

static void end_times_name_the_trial_only_if_there_are_several(void **state)
{
    iw_time end_ps[] = {1000, 2500, 3000, 4001};
    struct sample s;

    (void)state;
    sample_init(&s);
    s.result.ranks = 2;
    s.result.end_ps = end_ps;
    assert_end_times(&s, "rank,end_ns\n0,1\n1,2.5\n");
    s.result.trials = 2;
    s.result.first_trial = 5;
    assert_end_times(&s, "trial,rank,end_ns\n5,0,1\n5,1,2.5\n6,0,3\n6,1,4.001\n");
    sample_release(&s);
}

static void end_times_that_cannot_be_written_are_an_error(void **state)
{
    iw_time end_ps[8] = {0};
    struct sample s;
    struct iwt_log l;

    (void)state;
    sample_init(&s);
    iwt_log_init(&l);
    assert_status(iw_result_write_end_times(&l.log, &s.result, "/tmp/x"), IW_ERR_USAGE);
    s.result.end_ps = end_ps;
    assert_status(iw_result_write_end_times(&l.log, &s.result, "/nowhere/x.csv"), IW_ERR_IO);
    iwt_assert_logged(&l, "cannot write '/nowhere/x.csv': No such file or directory");
    if (access("/dev/full", W_OK) == 0) {
        assert_status(iw_result_write_end_times(&l.log, &s.result, "/dev/full"), IW_ERR_IO);
        iwt_assert_logged(&l, "cannot write '/dev/full': No space left on device");
    }
    sample_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nanoseconds_are_exact_and_without_needless_zeros),
        cmocka_unit_test(each_trial_has_a_line_with_its_number),
        cmocka_unit_test(slowdown_is_empty_when_nothing_takes_time),
        cmocka_unit_test(end_times_name_the_trial_only_if_there_are_several),
        cmocka_unit_test(end_times_that_cannot_be_written_are_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
