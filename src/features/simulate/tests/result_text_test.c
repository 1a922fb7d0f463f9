/* The text for people: verdicts in words, and nothing wider than a terminal.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/result.h>

#include <stdio.h>
#include <string.h>

#include "support/support.h"

#include "kit/text/words.h"
#include "support/report_sample.h"

static void assert_contains(const char *text, const char *part)
{
    if (strstr(text, part) == NULL) {
        fail_msg("no '%s' in:\n%s", part, text);
    }
}

/* Wrapping may put a line break where the sentence has a space. */
static void assert_says(struct sample *s, const char *part)
{
    static char unwrapped[SAMPLE_TEXT_SIZE];
    size_t used = 0;

    sample_write(s, IW_DOC_TEXT);
    for (const char *c = s->text; *c != '\0'; c++) {
        unwrapped[used++] = (char)(*c == '\n' ? ' ' : *c);
        c += *c == '\n' ? strspn(c + 1, " ") : 0; /* lines of items are indented */
    }
    unwrapped[used] = '\0';
    assert_contains(unwrapped, part);
}

static void verdict_of(const double *factors, size_t count, const char *part)
{
    struct sample s;

    sample_init(&s);
    sample_add_noise(&s, "periodic:10Hz,1us");
    sample_set_trials(&s, factors, count);
    assert_says(&s, part);
    sample_release(&s);
}

static void without_noise_the_time_is_the_verdict(void **state)
{
    struct sample s;

    (void)state;
    sample_init(&s);
    assert_says(&s, "allreduce on 8 ranks of quick takes 130.2 us (no noise given).");
    assert_null(strstr(s.text, "noiseless"));
    assert_null(strstr(s.text, "trial"));
    sample_release(&s);
}

static void large_slowdowns_are_factors(void **state)
{
    const double factors[] = {140.0, 146.0, 148.0, 149.0, 150.0, 153.8};

    (void)state;
    verdict_of(factors, 6,
               "allreduce on 8 ranks of quick takes 147.8x as long as without noise (95 % CI 128.1 to "
               "151.4x, 6 trials).");
    verdict_of(factors, 6, "relative    147.8x    140.0x    146.5x    148.5x    149.8x    153.8x");
}

static void small_slowdowns_are_percentages(void **state)
{
    const double small[] = {1.0031, 1.0051}, medium[] = {1.032, 1.032}, large[] = {1.875, 1.875};

    (void)state;
    verdict_of(small, 2, "is 0.41 % slower than without noise (mean of 2 trials, 0.31 to 0.51 %).");
    verdict_of(medium, 2, "is 3.20 % slower than without noise");
    verdict_of(large, 2, "is 87.5 % slower than without noise");
}

static void no_slowdown_is_said_so(void **state)
{
    const double same[] = {1.0, 1.0}, faster[] = {0.97, 0.97};

    (void)state;
    verdict_of(same, 2, "is not slower than without noise (all 2 trials are equal).");
    verdict_of(faster, 2, "is 3.00 % faster than without noise");
}

static void delays_are_named_as_the_cause(void **state)
{
    const double factor = 1.5;
    struct sample s;

    (void)state;
    sample_init(&s);
    sample_set_trials(&s, &factor, 1);
    s.origin.delay_count = 1;
    assert_says(&s, "allreduce on 8 ranks of quick is 50.0 % slower than without the delay.");
    s.origin.delay_count = 2;
    assert_says(&s, "slower than without the delays.");
    sample_add_noise(&s, "periodic:10Hz,1us");
    assert_says(&s, "slower than without noise and delays (one trial).");
    sample_release(&s);
}

static void uncertain_results_advise_more_trials(void **state)
{
    const double wide[] = {2.0, 6.0, 4.0, 2.0, 6.0, 4.0}, narrow[] = {2.0, 2.0, 2.0, 2.0, 2.0, 2.1};

    (void)state;
    verdict_of(wide, 1, "1 trial, seed 7. One trial is not enough: run 100.");
    verdict_of(wide, 3,
               "3 trials, seed 7; lowest to highest makespan: 260.4 us to 781.2 us. - Fewer than 6 trials "
               "give no 95 % interval: run 100.");
    /* deviation 1.7889, t(97.5 %, 5)/sqrt(6) = 1.04944: 4 +- 1.8773 times 130.2 us */
    verdict_of(
        wide, 6,
        "6 trials, seed 7; 95 % CI of the mean makespan: 276.4 us to 765.2 us, 96.9 % CI of the median: "
        "260.4 us to 781.2 us. - The mean is known to within 47 %: more trials narrow the interval.");
    verdict_of(narrow, 6, "median: 260.4 us to 273.4 us. ");
}

/* The mean rests on trials that met something, and says so where those are none or one. */
static void rare_hits_are_warned_of(void **state)
{
    const double none[] = {1.0, 1.0, 1.0, 1.0, 1.0, 1.0}, one[] = {1.0, 1.0, 1.0, 4.0, 1.0, 1.3};

    (void)state;
    /* (1 - 0.393)^6 = 0.05 */
    verdict_of(none, 6,
               "6 trials, seed 7, all equal. Noise that hits fewer than 39.3 % of runs may be missing (95 "
               "%): run more trials.");
    verdict_of(one, 6, "One trial accounts for 90.9 % of the mean cost of noise");
}

static void explanation_splits_the_path_by_cause(void **state)
{
    struct sample s;

    (void)state;
    sample_init(&s);
    sample_add_noise(&s, "periodic:10Hz,1us");
    sample_add_explain(&s);
    assert_says(&s, "Path to the end of rank 5, which ends last (trial 3, 6 messages), and the mean over the "
                    "paths of all ranks (5.5 messages):");
    assert_contains(s.text, "computation               100.0 us   76.8 %  ");
    assert_contains(s.text, "noise periodic:10Hz,1us   200.0 ns   0.15 %  ");
    assert_contains(s.text, "total                     130.2 us  100.0 %  ");
    assert_null(strstr(s.text, "gap"));
    sample_release(&s);
}

static void explanation_names_what_hurt_and_what_stands_out(void **state)
{
    struct sample s;

    (void)state;
    sample_init(&s);
    sample_add_noise(&s, "periodic:10Hz,1us");
    sample_add_explain(&s);
    assert_says(&s, "Largest delays on this path:");
    assert_says(&s, "- periodic:10Hz,1us took 150.0 ns of rank 2 at 50.00 us");
    assert_null(strstr(s.text, "Over all"));
    sample_add_paths(&s);
    assert_says(&s,
                "The up to four largest detours of each path make up 80.0 % of its noise. The largest detour "
                "hits rank 6 in 10 of 10 trials; it comes in the fourth tenth of the run in 10 of 10 "
                "trials.");
    assert_contains(s.text, "noise periodic:10Hz,1us  100.0 ns   10.0 %            all equal");
    sample_release(&s);
}

static void no_line_is_wider_than_80_columns(void **state)
{
    const double factors[] = {1.0, 200.0, 3000.0};
    struct sample s;

    (void)state;
    sample_init(&s);
    sample_add_noise(&s, "periodic:10Hz,1us");
    sample_set_trials(&s, factors, 3);
    sample_add_explain(&s);
    sample_add_paths(&s);
    s.origin.what = "a/very/long/path/to/some/application/with/a/long/name/that/nobody/types.goal";
    s.result.ranks = 1U << 31;
    sample_write(&s, IW_DOC_TEXT);
    for (const char *line = s.text; *line != '\0';) {
        size_t columns = 0;

        for (; *line != '\n'; line++) {
            columns += ((unsigned char)*line & 0xc0) != 0x80;
        }
        assert_in_range(columns, 0, 80);
        line++;
    }
    sample_release(&s);
}

static void many_processes_take_two_lines(void **state)
{
    struct sample s;

    (void)state;
    sample_init(&s);
    s.result.processes = 128;
    s.result.threads = 64;
    s.result.parallel = IW_PARALLEL_RANKS;
    sample_write(&s, IW_DOC_TEXT);
    assert_contains(s.text,
                    "engine    flow, 1 lane, 128 processes of 64 threads, each with some of the ranks\n"
                    "took      500.0 ms, 48 messages/s, 4 MiB\n");
    sample_release(&s);
}

static void a_resumed_run_says_so_and_tells_no_rate(void **state)
{
    struct sample s;

    (void)state;
    sample_init(&s);
    s.result.is_resumed = true;
    sample_write(&s, IW_DOC_TEXT);
    assert_contains(s.text, "engine    flow, 1 lane, 1 thread\n"
                            "took      500.0 ms, 4 MiB\n"
                            "          (resumed from a checkpoint: time since then)\n");
    sample_release(&s);
}

static void words_wider_than_a_line_are_not_broken(void **state)
{
    char text[256] = "", word[101];
    FILE *out = fmemopen(text, sizeof text, "w");

    (void)state;
    assert_non_null(out);
    memset(word, 'x', 100);
    word[100] = '\0';
    iwi_write_wrapped(out, word);
    iwi_write_wrapped(out, "a b");
    assert_int_equal(fclose(out), 0);
    assert_int_equal(strcspn(text, "\n"), 100);
    assert_string_equal(text + 101, "a b\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_noise_the_time_is_the_verdict),
        cmocka_unit_test(large_slowdowns_are_factors),
        cmocka_unit_test(small_slowdowns_are_percentages),
        cmocka_unit_test(no_slowdown_is_said_so),
        cmocka_unit_test(delays_are_named_as_the_cause),
        cmocka_unit_test(uncertain_results_advise_more_trials),
        cmocka_unit_test(rare_hits_are_warned_of),
        cmocka_unit_test(explanation_splits_the_path_by_cause),
        cmocka_unit_test(explanation_names_what_hurt_and_what_stands_out),
        cmocka_unit_test(no_line_is_wider_than_80_columns),
        cmocka_unit_test(many_processes_take_two_lines),
        cmocka_unit_test(a_resumed_run_says_so_and_tells_no_rate),
        cmocka_unit_test(words_wider_than_a_line_are_not_broken),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
