/* The JSON of a recording: all keys in their order, exact numbers.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/analysis.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "support/made_recording.h"
#include "support/support.h"

#include "noise_sample.h"

static json_t *written(const iw_recording *recording)
{
    char *text = noise_written(recording, false, IW_DOC_JSON);
    json_error_t error;
    json_t *object = json_loads(text, 0, &error);

    if (object == NULL) {
        fail_msg("%s in:\n%s", error.text, text);
    }
    free(text);
    return object;
}

static void assert_keys(json_t *object, const char *expected)
{
    char keys[1024] = "";
    const char *key;
    json_t *value;
    size_t used = 0;

    json_object_foreach(object, key, value)
    {
        used += (size_t)snprintf(keys + used, sizeof keys - used, "%s%s", used > 0 ? " " : "", key);
    }
    assert_string_equal(keys, expected);
}

static void assert_number(json_t *object, const char *key, double expected)
{
    json_t *value = json_object_get(object, key);

    if (!json_is_number(value) || json_number_value(value) != expected) {
        fail_msg("%s is %.17g, not %.17g", key, json_number_value(value), expected);
    }
}

static const char *string_at(json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static void keys_are_those_of_the_contract_in_their_order(void **state)
{
    iw_recording *recording = noise_sample();
    json_t *object = written(recording);

    (void)state;
    assert_keys(
        object,
        "schema version verdict notes name probe rung has_sources quantum_ns watched_ns count rate_hz "
        "share median_ns p99_ns max_ns dropped rare_limit_ns sources cpus "
        "attributes caveats spectrum no_spectrum picture");
    assert_string_equal(string_at(object, "schema"), "idlewave.noise/4");
    assert_string_equal(string_at(object, "name"), "node.h5");
    assert_string_equal(string_at(object, "probe"), "selfish");
    assert_string_equal(string_at(object, "rung"), "tracefs");
    assert_true(json_is_null(json_object_get(object, "quantum_ns")));
    assert_number(object, "watched_ns", 120e9);
    assert_number(object, "count", 3);
    assert_number(object, "rate_hz", 0.025);
    assert_number(object, "max_ns", 1e7);
    assert_number(object, "rare_limit_ns", 20e9);
    json_decref(object);
    iw_recording_free(recording);
}

static void sources_and_cpus_have_rows(void **state)
{
    iw_recording *recording = noise_sample();
    json_t *object = written(recording);
    json_t *sources = json_object_get(object, "sources"), *cpus = json_object_get(object, "cpus");

    (void)state;
    assert_int_equal(json_array_size(sources), 2); /* the unknown source has no detours; by share */
    assert_keys(json_array_get(sources, 0),
                "class name count rate_hz share median_ns p99_ns max_ns period_ns");
    assert_string_equal(string_at(json_array_get(sources, 1), "class"), "irq");
    assert_string_equal(string_at(json_array_get(sources, 0), "name"), "cron");
    assert_number(json_array_get(sources, 0), "median_ns", 5002500);
    assert_true(json_is_null(json_object_get(json_array_get(sources, 0), "period_ns")));
    assert_int_equal(json_array_size(cpus), 2);
    assert_keys(json_array_get(cpus, 1),
                "cpu length_ns t_min_ns threshold_ns dropped count rate_hz share median_ns p99_ns max_ns");
    assert_number(json_array_get(cpus, 1), "cpu", 5);
    assert_number(json_array_get(cpus, 1), "length_ns", 60e9);
    json_decref(object);
    iw_recording_free(recording);
}

static void notes_and_attributes_are_there(void **state)
{
    iw_recording *recording = noise_sample();
    json_t *object;

    (void)state;
    recording->cpus[0].dropped = 3;
    object = written(recording);
    assert_number(object, "dropped", 3);
    assert_int_equal(json_array_size(json_object_get(object, "notes")), 2);
    assert_string_equal(string_at(json_object_get(object, "attributes"), "host"), "node07");
    json_decref(object);
    iw_recording_free(recording);
}

static void what_is_drawn_is_there(void **state)
{
    iw_recording *recording = noise_sample();
    json_t *object = written(recording), *picture = json_object_get(object, "picture");
    json_t *points = json_object_get(picture, "points"), *bins = json_object_get(picture, "bins");
    json_t *by_source;

    (void)state;
    assert_keys(picture, "length_ns count longest_count stride points bins");
    assert_number(picture, "count", 3);
    assert_int_equal(json_array_size(points), 3);
    assert_number(json_array_get(points, 0), "duration_ns", 1e7); /* the longest first */
    assert_number(json_array_get(points, 2), "source", 1);        /* local_timer */
    assert_number(json_array_get(bins, 0), "from_ns", 2000);
    assert_number(json_array_get(bins, json_array_size(bins) - 1), "to_ns", 1.5e7);
    by_source = json_object_get(json_array_get(bins, 0), "by_source");
    assert_int_equal(json_integer_value(json_array_get(by_source, 0)), 0);
    assert_int_equal(json_integer_value(json_array_get(by_source, 1)), 1);
    json_decref(object);
    iw_recording_free(recording);
}

/* Its bins from 2 us to 10 ms are empty but for three. */
static void a_file_shows_what_the_recording_does(void **state)
{
    static const iw_doc_format formats[] = {IW_DOC_JSON, IW_DOC_TEXT, IW_DOC_HTML};
    iw_recording *recording = noise_sample();
    char *file = noise_written(recording, false, IW_DOC_JSON);

    (void)state;
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        char *direct = noise_written(recording, false, formats[i]), *text = NULL;
        iw_doc_file *read;
        size_t size;
        FILE *out = open_memstream(&text, &size);

        assert_non_null(out);
        assert_ok(iw_doc_read(NULL, "node.h5", file, strlen(file), &read));
        assert_ok(iw_doc_write(NULL, iw_doc_of(read), formats[i], NULL, out));
        assert_int_equal(fclose(out), 0);
        assert_string_equal(text, direct);
        iw_doc_close(read);
        free(direct);
        free(text);
    }
    free(file);
    iw_recording_free(recording);
}

/* What was said of barriers by a threshold is gone; all else is there. */
static void files_of_the_schema_before_are_read(void **state)
{
    iw_recording *recording = noise_sample();
    json_t *object = written(recording);
    iw_doc_file *read = NULL;
    char *text, *as_text = NULL;
    size_t size;
    FILE *out = open_memstream(&as_text, &size);

    (void)state;
    assert_non_null(out);
    assert_int_equal(json_object_set_new(object, "schema", json_string("idlewave.noise/3")), 0);
    assert_int_equal(json_object_set_new(object, "long_ns", json_integer(20000)), 0);
    assert_int_equal(json_object_set_new(object, "critical_ranks", json_integer(12000)), 0);
    text = json_dumps(object, 0);
    assert_ok(iw_doc_read(NULL, "node.json", text, strlen(text), &read));
    assert_ok(iw_doc_write(NULL, iw_doc_of(read), IW_DOC_TEXT, NULL, out));
    assert_int_equal(fclose(out), 0);
    assert_non_null(strstr(as_text, "node07 loses 0.0083 % of its CPUs to noise (2 CPUs, 60 s);"));
    assert_null(strstr(as_text, "barrier"));
    iw_doc_close(read);
    free(as_text);
    free(text);
    json_decref(object);
    iw_recording_free(recording);
}

static void impossible_costs_are_refused(void **state)
{
    iw_recording *recording = noise_sample();
    json_t *object = written(recording), *cost;
    iw_doc_file *read = NULL;
    char *text;

    (void)state;
    cost = json_pack("{s:s,s:i,s:i,s:i,s:f,s:{s:f,s:f,s:f},s:{s:f,s:f,s:f},s:b,s:b,s:i,s:i}", "network",
                     "chic", "ranks", 1024, "repeat", 100, "trials", 10, "used_ns", 1e9, "barrier_slowdown",
                     "value", -2.0, "low", 0.1, "high", 0.2, "allreduce_slowdown", "value", 0.1, "low", 0.1,
                     "high", 0.2, "is_bound", 0, "is_rare", 0, "from_ranks", 64, "most_ranks", 16384);
    assert_non_null(cost);
    assert_int_equal(json_object_set_new(object, "cost", cost), 0);
    text = json_dumps(object, 0);
    assert_status(iw_doc_read(NULL, "node.json", text, strlen(text), &read), IW_ERR_FORMAT);
    free(text);
    assert_int_equal(json_real_set(json_object_get(json_object_get(cost, "barrier_slowdown"), "value"), 0.1),
                     0);
    text = json_dumps(object, 0);
    assert_ok(iw_doc_read(NULL, "node.json", text, strlen(text), &read));
    iw_doc_close(read);
    free(text);
    json_decref(object);
    iw_recording_free(recording);
}

static void what_does_not_exist_is_null(void **state)
{
    iw_recording *recording = iwt_recording(1, 1000);
    json_t *object = written(recording);

    (void)state;
    assert_true(json_is_null(json_object_get(object, "quantum_ns")));
    assert_null(json_object_get(object, "cost"));
    assert_int_equal(json_array_size(json_object_get(object, "sources")), 0);
    json_decref(object);
    iw_recording_free(recording);
}

static void names_that_are_no_utf8_are_made_so(void **state)
{
    iw_recording *recording = iwt_recording(1, 1000);
    json_t *object;

    (void)state;
    iwt_detour(recording, 0, 0, 10, iwt_source(recording, IW_CLASS_THREAD, "x\xff"));
    object = written(recording);
    assert_string_equal(string_at(json_array_get(json_object_get(object, "sources"), 0), "name"), "x?");
    json_decref(object);
    iw_recording_free(recording);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_those_of_the_contract_in_their_order),
        cmocka_unit_test(sources_and_cpus_have_rows),
        cmocka_unit_test(notes_and_attributes_are_there),
        cmocka_unit_test(what_is_drawn_is_there),
        cmocka_unit_test(a_file_shows_what_the_recording_does),
        cmocka_unit_test(files_of_the_schema_before_are_read),
        cmocka_unit_test(impossible_costs_are_refused),
        cmocka_unit_test(what_does_not_exist_is_null),
        cmocka_unit_test(names_that_are_no_utf8_are_made_so),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
