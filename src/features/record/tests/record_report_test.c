/* What is said about a fresh recording, as text and as JSON.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/analysis.h>
#include <idlewave/measure.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/made_recording.h"
#include "support/support.h"

/* What is written of it; to be freed. */
static char *written(iw_doc_format format, const iw_recording *recording)
{
    iw_record_report report;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    assert_ok(iw_record_report_init(NULL, recording, "node.h5", &report));
    assert_ok(iw_doc_write(NULL, iw_record_doc(&report), format, NULL, out));
    iw_noise_report_release(&report.noise);
    assert_int_equal(fclose(out), 0);
    return text;
}

static void assert_has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL) {
        fail_msg("lacks '%s':\n%s", part, text);
    }
}

/* Two CPUs for a second, 1 % lost: 100 detours of 100 us on each. */
static iw_recording *sample(void)
{
    iw_recording *recording = iwt_recording(2, 1000000000);

    recording->attribution = IW_ATTRIBUTION_LEVEL_NONE;
    iwt_attribute(recording, "host", "node7");
    iwt_attribute(recording, "command", "idlewave record");
    iwt_attribute(recording, "clock", "tsc");
    for (int64_t i = 0; i < 100; i++) {
        iwt_detour(recording, 0, 10000000 * i, 100000, 0);
        iwt_detour(recording, 1, 10000000 * i + 5, 100000, 0);
    }
    return recording;
}

static void the_verdict_comes_first(void **state)
{
    iw_recording *recording = sample();
    char *text = written(IW_DOC_TEXT, recording);

    (void)state;
    assert_int_equal(strncmp(text, "node7 loses 1.00 % of its CPUs to noise (2 CPUs, 1 s); ", 55), 0);
    assert_has(text, "the longest detour took\n100 us.");
    assert_has(text, "\n"
                     "\n"
                     "detours  200, 100/s per CPU\n"
                     "t_min    20.0 ns: detours shorter than 180 ns and noise faster than 25 MHz are\n"
                     "         not seen\n"
                     "dropped  none\n"
                     "sources  unknown (none identified)\n"
                     "reach    estimates for a million ranks that meet every 10 ms, and more\n"
                     "days     on two supercomputers, the interval from one day covered half of the\n"
                     "         other days and nodes; from five days, nine in ten\n"
                     "         every day: idlewave record -o noise/$(date +%F).h5\n"
                     "file     node.h5\n");
    free(text);
    iw_recording_free(recording);
}

/* Lengths that differ end somewhere; two detours say nothing. */
static void the_reach_is_told(void **state)
{
    iw_recording *recording = iwt_recording(1, INT64_C(100000000000));
    char *text;

    (void)state;
    iwt_detour(recording, 0, 0, 20000, 0);
    iwt_detour(recording, 0, 1000000, 900000000, 0);
    text = written(IW_DOC_TEXT, recording);
    assert_has(text, "reach    too short for predictions: lower bounds only; record longer\n");
    free(text);
    for (int64_t i = 1; i <= 900; i++) {
        iwt_detour(recording, 0, 1000000000 + i * 100000000, 1000000 / i, 0);
    }
    recording->cpus[0].duration_ns[1] = 1000000;
    text = written(IW_DOC_TEXT, recording);
    assert_has(text, "reach    estimates for up to ");
    assert_has(text, " every 10 ms; lower\n");
    free(text);
    iw_recording_free(recording);
}

static void sources_are_told_with_who_told_them(void **state)
{
    iw_recording *recording = sample();
    uint32_t tick;
    char *text;

    (void)state;
    recording->attribution = IW_ATTRIBUTION_LEVEL_SWITCHES;
    iwt_attribute(recording, "kernel_events", "400");
    iwt_attribute(recording, "kernel_events_matched", "396");
    iwt_attribute(recording, "attribution_note", "osnoise, tracefs (needs root)");
    assert_ok(iw_recording_source(NULL, recording, IW_CLASS_THREAD, "daemon", &tick));
    for (size_t i = 0; i < recording->cpus[0].count; i++) {
        recording->cpus[0].source[i] = tick;
    }
    for (size_t i = 0; i < 20; i++) {
        recording->cpus[1].source[i] = tick;
    }
    text = written(IW_DOC_TEXT, recording);
    assert_has(text, "sources  identified with switches: 400 events, 99.0 % of them in detours\n"
                     "largest  0.60 % of the time: thread daemon\n"
                     "         0.40 % of the time: unknown\n");
    assert_has(text, "\n"
                     "\n"
                     "Some sources could not be identified, because these failed: osnoise, tracefs\n"
                     "(needs root).\n");
    free(text);
    iw_recording_free(recording);
}

static void dropped_detours_are_told_with_a_remedy(void **state)
{
    iw_recording *recording = sample();
    char *text;

    (void)state;
    recording->cpus[1].dropped = 17;
    recording->cpus[1].length_ns = 995000000;
    text = written(IW_DOC_TEXT, recording);
    assert_has(text, "dropped  17: room ended after 995 ms, later detours do not count; allow more\n"
                     "         events or raise the threshold\n");
    free(text);
    iw_recording_free(recording);
}

static void samples_of_work_are_told_as_such(void **state)
{
    iw_recording *recording = iwt_recording(1, 3000000);
    char *text;

    (void)state;
    recording->probe = IW_PROBE_FWQ;
    recording->quantum_ns = 1000000;
    recording->cpus[0].t_min_ns = 980000.0;
    iwt_sample(recording, 0, 0, 980000.0);
    iwt_sample(recording, 0, 980000, 1040000.0);
    iwt_sample(recording, 0, 2020000, 980000.0);
    text = written(IW_DOC_TEXT, recording);
    assert_has(text, "samples  3\n"
                     "t_min    980 us, the fastest work of a quantum\n");
    free(text);
    iw_recording_free(recording);
}

static void json_says_the_same(void **state)
{
    iw_recording *recording = sample();
    char *text = written(IW_DOC_JSON, recording);

    (void)state;
    assert_has(text, "  \"schema\": \"idlewave.record/4\",\n");
    assert_has(text, "  \"file\": \"node.h5\",\n");
    assert_has(text, "  \"probe\": \"selfish\",\n  \"rung\": \"none\",\n");
    assert_has(text, "  \"watched_ns\": 2000000000,\n  \"count\": 200,\n  \"rate_hz\": 100,\n"
                     "  \"share\": 0.01,\n");
    assert_has(text, "    \"host\": \"node7\",\n");
    assert_has(text, "  \"t_min_ns\": 20,\n  \"threshold_ns\": 180,\n  \"detection_limit_hz\": 25000000,\n"
                     "  \"reach\": [\n"
                     "    {\n      \"work_ns\": 1000000,\n      \"ranks\": 536870912\n    },\n"
                     "    {\n      \"work_ns\": 10000000,\n      \"ranks\": 536870912\n    }\n"
                     "  ]\n}\n");
    free(text);
    iw_recording_free(recording);
}

static void json_has_null_for_what_is_not_known(void **state)
{
    iw_recording *recording = iwt_recording(1, 1000);
    char *text = written(IW_DOC_JSON, recording);

    (void)state;
    assert_has(text, "\"quantum_ns\": null");
    assert_has(text, "\"share\": 0,");
    free(text);
    iw_recording_free(recording);
}

static void a_full_disk_is_an_error(void **state)
{
    iw_recording *recording = sample();
    iw_record_report report;
    struct iwt_log log;
    FILE *out = fopen("/dev/full", "w");

    (void)state;
    if (out == NULL) {
        iw_recording_free(recording);
        skip();
    }
    iwt_log_init(&log);
    assert_ok(iw_record_report_init(NULL, recording, "node.h5", &report));
    assert_status(iw_doc_write(&log.log, iw_record_doc(&report), IW_DOC_TEXT, NULL, out), IW_ERR_IO);
    iw_noise_report_release(&report.noise);
    assert_int_equal(log.errors, 1);
    (void)fclose(out);
    iw_recording_free(recording);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_verdict_comes_first),
        cmocka_unit_test(the_reach_is_told),
        cmocka_unit_test(sources_are_told_with_who_told_them),
        cmocka_unit_test(dropped_detours_are_told_with_a_remedy),
        cmocka_unit_test(samples_of_work_are_told_as_such),
        cmocka_unit_test(json_says_the_same),
        cmocka_unit_test(json_has_null_for_what_is_not_known),
        cmocka_unit_test(a_full_disk_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
