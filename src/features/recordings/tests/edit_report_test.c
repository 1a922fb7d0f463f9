/* What is said about an edited recording, as text and as JSON.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/analysis.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/made_recording.h"
#include "support/support.h"

/* What is written of it; to be freed. */
static char *written(iw_doc_format format, const iw_edit *edit, const iw_recording *recording)
{
    const iw_noise_report_opts opts = IW_NOISE_REPORT_OPTS_INIT;
    iw_edit_report report = {.file = "part.h5", .edit = *edit};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    assert_ok(iw_noise_report_init(NULL, recording, &opts, &report.noise));
    assert_ok(iw_doc_write(NULL, iw_edit_doc(&report), format, NULL, out));
    iw_noise_report_release(&report.noise);
    assert_int_equal(fclose(out), 0);
    return text;
}

static void assert_says(iw_doc_format format, const iw_edit *edit, const iw_recording *recording,
                        const char *part)
{
    char *text = written(format, edit, recording);

    if (strstr(text, part) == NULL) {
        fail_msg("lacks '%s':\n%s", part, text);
    }
    free(text);
}

/* Two CPUs for a second; ten detours of 1 ms on one of them: 0.5 % of both. */
static iw_recording *sample(void)
{
    iw_recording *recording = iwt_recording(2, 1000000000);
    const uint32_t tick = iwt_source(recording, IW_CLASS_IRQ, "tick");

    for (int64_t i = 0; i < 10; i++) {
        iwt_detour(recording, 0, 100000000 * i, 1000000, tick);
    }
    return recording;
}

static const iw_edit sample_cut = {.kind = IW_EDIT_CUT,
                                   .recording_count = 1,
                                   .cpu_count = 4,
                                   .detour_count = 1234567,
                                   .kept_count = 10,
                                   .busy_ns = 2e8,
                                   .watched_ns = 4e9};

static void a_cut_says_what_it_kept_and_what_noise_was_before(void **state)
{
    iw_recording *recording = sample();
    char *text = written(IW_DOC_TEXT, &sample_cut, recording);

    (void)state;
    assert_string_equal(text, "part.h5: kept 10 of 1,234,567 detours on 2 of 4 CPUs, 1 s each. Noise takes\n"
                              "0.50 % of the time (5.00 % before); the longest detour takes 1 ms.\n");
    free(text);
    iw_recording_free(recording);
}

static void no_more_is_kept_than_there_was(void **state)
{
    const iw_edit edit = {
        .kind = IW_EDIT_CUT, .recording_count = 1, .cpu_count = 2, .detour_count = 9, .kept_count = 8};
    iw_edit older = edit;
    iw_recording *recording = sample();

    (void)state;
    older.kept_count = 0;
    assert_says(IW_DOC_TEXT, &edit, recording,
                "kept 8 of 9 detours on 2 of 2 CPUs, some of them in two or more pieces\n(10), 1 s each.");
    assert_says(IW_DOC_TEXT, &older, recording, "kept 9 of 9 detours");
    iw_recording_free(recording);
}

static void samples_are_called_samples(void **state)
{
    iw_recording *recording = iwt_recording(1, 1000000);
    const iw_edit edit = {.kind = IW_EDIT_CUT, .recording_count = 1, .cpu_count = 1, .sample_count = 4};

    (void)state;
    recording->probe = IW_PROBE_FWQ;
    recording->quantum_ns = 1000;
    iwt_sample(recording, 0, 0, 1000.0);
    iwt_sample(recording, 0, 1000, 1010.0);
    assert_says(IW_DOC_TEXT, &edit, recording, "kept 2 of 4 samples on 1 of 1 CPU, 1 ms. ");
    assert_says(IW_DOC_TEXT, &edit, recording, "the worst sample lost 10 ns.");
    assert_says(IW_DOC_JSON, &edit, recording, "\"share\": null");
    iw_recording_free(recording);
}

static void a_merge_says_which_numbers_changed(void **state)
{
    iw_recording *recording = sample();
    const iw_edit edit = {
        .kind = IW_EDIT_MERGE, .recording_count = 2, .cpu_count = 2, .detour_count = 10, .renumbered = 1};

    (void)state;
    recording->cpus[1].length_ns = 2000000000;
    iwt_attribute(recording, "merged", "a.h5: 0 | b\033.h5: 0 as 1");
    assert_says(IW_DOC_TEXT, &edit, recording, "10 detours on 2 CPUs of 2 recordings, 1 s to 2 s each.");
    assert_says(IW_DOC_TEXT, &edit, recording,
                "1 CPU got a new number,\nbecause theirs were taken (a.h5: 0 | b?.h5: 0 as 1).");
    iw_recording_free(recording);
}

static void a_quiet_synthesis_and_one_with_a_threshold(void **state)
{
    iw_recording *recording = iwt_recording(1, 60000000000);
    const iw_edit edit = {.kind = IW_EDIT_SYNTH, .too_short = 12345};

    (void)state;
    assert_says(
        IW_DOC_TEXT, &edit, recording,
        "part.h5: 0 detours on 1 CPU, 60 s. Noise takes 0.00 % of the time. 12,345\nshorter detours are");
    assert_says(IW_DOC_JSON, &edit, recording, "\"before\": null");
    assert_says(IW_DOC_JSON, &edit, recording, "\"too_short\": 12345");
    iw_recording_free(recording);
}

static void json_has_all_numbers(void **state)
{
    iw_recording *recording = sample();

    (void)state;
    assert_says(IW_DOC_JSON, &sample_cut, recording,
                "  \"edit\": \"cut\",\n"
                "  \"file\": \"part.h5\",\n"
                "  \"before\": {\n    \"recordings\": 1,\n    \"cpus\": 4,\n"
                "    \"detours\": 1234567,\n    \"samples\": 0,\n    \"busy_ns\": 200000000,\n"
                "    \"watched_ns\": 4000000000,\n    \"share\": 0.05\n  },\n"
                "  \"kept\": 10,\n"
                "  \"too_short\": 0,\n"
                "  \"renumbered\": 0,\n");
    assert_says(IW_DOC_JSON, &sample_cut, recording, "  \"share\": 0.005,\n");
    iw_recording_free(recording);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cut_says_what_it_kept_and_what_noise_was_before),
        cmocka_unit_test(no_more_is_kept_than_there_was),
        cmocka_unit_test(samples_are_called_samples),
        cmocka_unit_test(a_merge_says_which_numbers_changed),
        cmocka_unit_test(a_quiet_synthesis_and_one_with_a_threshold),
        cmocka_unit_test(json_has_all_numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
