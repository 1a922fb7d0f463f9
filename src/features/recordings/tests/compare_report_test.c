/* Comparisons in words: verdicts, what makes the difference, and how sure it is.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/analysis.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "support/made_recording.h"
#include "support/support.h"

enum { TICK = 1, CRON = 2 };

/* 40 s of one CPU, a detour of that duration every 10 ms, of 2 us each 20 ms from cron in between. */
static iw_recording *made(int64_t duration_ns, bool has_cron)
{
    iw_recording *recording = iwt_recording(1, INT64_C(40000000000));

    assert_int_equal(iwt_source(recording, IW_CLASS_IRQ, "tick"), TICK);
    assert_int_equal(iwt_source(recording, IW_CLASS_THREAD, "cron\033, daily"), CRON);
    for (int64_t i = 0; i < 4000; i++) {
        iwt_detour(recording, 0, i * 10000000, duration_ns, TICK);
        if (has_cron && i % 2 == 0) {
            iwt_detour(recording, 0, i * 10000000 + 5000000, 2000, CRON);
        }
    }
    return recording;
}

static char *written(iw_doc_format format, const iw_recording *a, const iw_recording *b,
                     const iw_compare_opts *opts)
{
    iw_compare_opts wanted = IW_COMPARE_OPTS_INIT;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    iw_noise_comparison *comparison = NULL;
    struct iwt_log l;

    iwt_log_init(&l);
    assert_non_null(out);
    wanted = opts != NULL ? *opts : wanted;
    wanted.name_a = "a.h5";
    wanted.name_b = "b.h5";
    assert_ok(iw_noise_compare(&l.log, a, b, &wanted, &comparison));
    assert_ok(iw_doc_write(&l.log, iw_compare_doc(comparison), format, NULL, out));
    iw_noise_comparison_free(comparison);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(l.text, "");
    return text;
}

/* The text with its lines joined, and single spaces. */
static char *unwrapped(const iw_recording *a, const iw_recording *b, const iw_compare_opts *opts)
{
    char *text = written(IW_DOC_TEXT, a, b, opts), *to = text;

    for (const char *from = text; *from != '\0'; from++) {
        const char c = *from == '\n' ? ' ' : *from;

        if (c != ' ' || to == text || to[-1] != ' ') {
            *to++ = c;
        }
    }
    *to = '\0';
    return text;
}

static void assert_says(const iw_recording *a, const iw_recording *b, const char *part)
{
    char *text = unwrapped(a, b, NULL);

    if (strstr(text, part) == NULL) {
        fail_msg("no '%s' in:\n%s", part, text);
    }
    free(text);
}

static void release(iw_recording *a, iw_recording *b)
{
    iw_recording_free(a);
    iw_recording_free(b);
}

static void the_verdict_names_what_makes_the_difference(void **state)
{
    iw_recording *a = made(1000, false), *b = made(5000, false);

    (void)state;
    assert_says(a, b,
                "b.h5 is noisier than a.h5: 0.050 % of the time against 0.010 % (difference +0.040 %, 95 % "
                "interval +0.040 % to +0.040 %). Largest change: irq tick, +0.040 %. ");
    assert_says(b, a, "a.h5: 0.010 % of the time against 0.050 % (difference -0.040 %");
    release(a, b);
}

static void sources_that_only_one_has_are_said_to_be_so(void **state)
{
    iw_recording *a = made(1000, false), *b = made(1000, true);

    (void)state;
    assert_says(a, b, "Largest change: thread cron?, daily, +0.010 % (not in A).");
    assert_says(b, a, "Largest change: thread cron?, daily, -0.010 % (not in B).");
    release(a, b);
}

static void no_difference_is_said_to_be_none(void **state)
{
    iw_recording *a = made(1000, true);
    char *text = unwrapped(a, a, NULL);

    (void)state;
    assert_non_null(strstr(text, "b.h5 does not differ significantly from a.h5: "));
    assert_null(strstr(text, "The largest part"));
    free(text);
    iw_recording_free(a);
}

/* Ticks of up to 2 ms, alike within each second only. */
static void vary_ticks(iw_recording *recording, int64_t step)
{
    iw_detours *cpu = &recording->cpus[0];

    for (size_t i = 0; i < cpu->count; i++) {
        if (cpu->source[i] == TICK) {
            cpu->duration_ns[i] = 1000 + 50000 * (cpu->start_ns[i] / 1000000000 * step % 40);
        }
    }
}

/* They hide in the sum that cron has gone. */
static void a_source_that_changed_is_named_where_the_sum_did_not(void **state)
{
    iw_recording *a = made(1000, true), *b = made(1000, false);

    (void)state;
    vary_ticks(a, 7);
    vary_ticks(b, 11);
    assert_says(a, b, "b.h5 does not differ significantly overall from a.h5: ");
    assert_says(a, b,
                " But thread cron?, daily changed significantly: -0.010 % (95 % CI -0.010 % to -0.010 %).");
    release(a, b);
}

static void tolerances_are_told(void **state)
{
    iw_recording *a = made(1000, false), *b = made(5000, false);
    iw_compare_opts opts = IW_COMPARE_OPTS_INIT;
    char *text;

    (void)state;
    opts.tolerance = 0.01;
    text = unwrapped(a, b, &opts);
    assert_non_null(strstr(text, "This may be within the tolerance of 1.00 %."));
    free(text);
    release(a, b);
}

static void what_else_differs_is_told(void **state)
{
    iw_recording *a = made(1000, false), *b = made(1000, false);

    (void)state;
    iwt_attribute(a, "kernel", "6.1");
    iwt_attribute(b, "kernel", "6.12");
    iwt_attribute(a, "host", "n1");
    iwt_attribute(b, "host", "n1");
    iwt_attribute(a, "governor", "performance"); /* unknown of the other one */
    b->attribution = IW_ATTRIBUTION_LEVEL_PERF;
    b->cpus[0].threshold_ns = 1500.0;
    b->cpus[0].dropped = 17;
    assert_says(a, b, "They also differ in kernel (6.1, 6.12).");
    assert_says(a, b, "A identified them with 'tracefs', B with 'perf'");
    assert_says(a, b, "Dropped detours shorter than 1.50 us, which B could not see: 4000 of A and 4000 of B");
    assert_says(a, b, "(0 of A, 17 of B)");
    release(a, b);
}

static void short_recordings_are_warned_of(void **state)
{
    iw_recording *a = iwt_recording(1, 1000000000);

    (void)state;
    iwt_detour(a, 0, 1000, 1000, 0);
    assert_says(a, a, "Bursts longer than 50 ms make intervals too narrow");
    assert_says(a, a, "too few detours");
    iw_recording_free(a);
}

static void stretches_that_carry_the_difference_are_told(void **state)
{
    iw_recording *a = made(1000, false), *b = made(1000, false);

    (void)state;
    for (size_t i = 1000; i < 1500; i++) {
        b->cpus[0].duration_ns[i] = 2000000;
    }
    assert_says(a, b, "- The difference comes from a single stretch of 5.2 s and may not recur.");
    release(a, b);
}

static void what_cannot_be_told_is_said_to_be_so(void **state)
{
    iw_recording *quiet = iwt_recording(1, INT64_C(40000000000)), *noisy = made(1000, false);
    iw_compare_opts opts = IW_COMPARE_OPTS_INIT;
    char *text;

    (void)state;
    opts.metric = IW_COMPARE_P99;
    text = unwrapped(noisy, quiet, &opts);
    assert_non_null(
        strstr(text, "Unknown whether b.h5 has a longer tail (p99) than a.h5: it has no detours"));
    free(text);
    text = unwrapped(quiet, noisy, &opts);
    assert_non_null(strstr(text, "b.h5 has a longer tail (p99) than a.h5: 1.00 us against none"));
    free(text);
    release(quiet, noisy);
}

static void unknown_sources_are_told(void **state)
{
    iw_recording *a = iwt_recording(1, 1000000000);

    (void)state;
    a->attribution = IW_ATTRIBUTION_LEVEL_NONE;
    assert_says(a, a, "the recordings name no sources");
    iw_recording_free(a);
}

static void lines_have_80_columns_at_most(void **state)
{
    iw_recording *a = made(1000, false), *b = made(123456, true);
    char *text = written(IW_DOC_TEXT, a, b, NULL);

    (void)state;
    for (const char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        assert_true(strlen(line) <= 80);
    }
    free(text);
    release(a, b);
}

static void json_has_the_numbers_and_nulls(void **state)
{
    iw_recording *a = made(1000, false), *b = made(1000, true);
    char *text = written(IW_DOC_JSON, a, b, NULL);
    json_t *object = json_loads(text, 0, NULL);
    double share = 0.0;
    const char *outcome = NULL, *name = NULL;
    json_t *low = NULL, *other = NULL;
    int in_a = 1;

    (void)state;
    assert_int_equal(json_unpack(object, "{s:s, s:{s:F}, s:{s:{s:o}}, s:[{s:s, s:b}, o]}", "outcome",
                                 &outcome, "share", "b", &share, "longest_ns", "difference", "low", &low,
                                 "sources", "name", &name, "in_a", &in_a, &other),
                     0);
    assert_string_equal(outcome, "worse");
    assert_true(fabs(share - 2e-4) < 1e-12);
    assert_true(json_is_null(low));
    assert_string_equal(name, "cron\033, daily");
    assert_false(in_a);
    json_decref(object);
    free(text);
    release(a, b);
}

static void a_file_says_all_that_the_result_says(void **state)
{
    iw_recording *a = made(1000, false), *b = made(5000, true);
    char *text, *json, *again = NULL;
    iw_doc_file *file = NULL;
    size_t size;
    FILE *out = open_memstream(&again, &size);
    struct iwt_log l;

    (void)state;
    iwt_log_init(&l);
    iwt_attribute(a, "hypervisor", "KVMKVMKVM");
    iwt_attribute(b, "hypervisor", "Microsoft Hv");
    b->cpus[0].threshold_ns = 1500.0;
    b->cpus[0].dropped = 17;
    for (size_t i = 1000; i < 1500; i++) {
        b->cpus[0].duration_ns[i] = 2000000;
    }
    assert_says(a, b, "They also differ in hypervisor (KVM, Hyper-V).");
    text = written(IW_DOC_TEXT, a, b, NULL);
    json = written(IW_DOC_JSON, a, b, NULL);
    release(a, b);
    assert_ok(iw_doc_read(&l.log, "x.json", json, strlen(json), &file));
    assert_ok(iw_doc_write(&l.log, iw_doc_of(file), IW_DOC_TEXT, NULL, out));
    assert_int_equal(fclose(out), 0);
    assert_string_equal(again, text);
    iw_doc_close(file);
    free(again);
    free(json);
    free(text);
}

static void csv_quotes_names(void **state)
{
    static const char expected[] =
        "class,name,in_a,in_b,share_a,share_b,share_difference,share_difference_low,"
        "share_difference_high\nthread,\"cron?, daily\",0,1,0,0.0001,";
    iw_recording *a = made(1000, false), *b = made(1000, true);
    char *text = written(IW_DOC_CSV, a, b, NULL);

    (void)state;
    assert_int_equal(strncmp(text, expected, strlen(expected)), 0);
    free(text);
    release(a, b);
}

static void pages_draw_sources_and_durations(void **state)
{
    iw_recording *a = made(1000, false), *b = made(5000, true), *silent = iwt_recording(1, 1000000000);
    char *text = written(IW_DOC_HTML, a, b, NULL);

    (void)state;
    assert_non_null(strstr(text, "Where the difference comes from"));
    assert_non_null(strstr(text, ">thread cron"));
    assert_non_null(strstr(text, "Share of detours that last longer"));
    free(text);
    text = written(IW_DOC_HTML, silent, silent, NULL);
    assert_null(strstr(text, "Share of detours that last longer"));
    free(text);
    iw_recording_free(silent);
    release(a, b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_verdict_names_what_makes_the_difference),
        cmocka_unit_test(sources_that_only_one_has_are_said_to_be_so),
        cmocka_unit_test(no_difference_is_said_to_be_none),
        cmocka_unit_test(a_source_that_changed_is_named_where_the_sum_did_not),
        cmocka_unit_test(tolerances_are_told),
        cmocka_unit_test(what_else_differs_is_told),
        cmocka_unit_test(short_recordings_are_warned_of),
        cmocka_unit_test(stretches_that_carry_the_difference_are_told),
        cmocka_unit_test(what_cannot_be_told_is_said_to_be_so),
        cmocka_unit_test(unknown_sources_are_told),
        cmocka_unit_test(lines_have_80_columns_at_most),
        cmocka_unit_test(json_has_the_numbers_and_nulls),
        cmocka_unit_test(a_file_says_all_that_the_result_says),
        cmocka_unit_test(csv_quotes_names),
        cmocka_unit_test(pages_draw_sources_and_durations),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
