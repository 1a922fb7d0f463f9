/* Fleets in words, JSON, CSV and as a page.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/doc.h>
#include <idlewave/fleet.h>

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "support/made_recording.h"
#include "support/support.h"

/* 10 s of 2 CPUs with a tick; node 5 has a thread with an evil name on CPU 1. */
static iw_recording *node(size_t number, bool is_bad)
{
    iw_recording *recording = iwt_recording(2, INT64_C(10000000000));
    const uint32_t tick = iwt_source(recording, IW_CLASS_IRQ, "local_timer"),
                   evil = iwt_source(recording, IW_CLASS_THREAD, "evil<b>\033,\"x");

    iwt_attribute(recording, "kernel", number == 3 ? "6.6 <new>" : "6.1");
    for (size_t cpu = 0; cpu < 2; cpu++) {
        for (int64_t i = 0; i < 1000; i++) {
            iwt_detour(recording, cpu, i * 10000000, 5000 + (int64_t)(number % 7) * 30, tick);
            if (is_bad && cpu == 1 && i % 5 == 0) {
                iwt_detour(recording, cpu, i * 10000000 + 1000000, 300000, evil);
            }
        }
    }
    return recording;
}

static iw_fleet *made(size_t nodes, bool has_bad)
{
    const iw_fleet_opts opts = IW_FLEET_OPTS_INIT;
    iw_fleet *fleet = NULL;

    assert_ok(iw_fleet_new(NULL, "d", &fleet));
    for (size_t i = 0; i < nodes; i++) {
        iw_recording *recording = node(i, has_bad && i == 5);
        char path[40];

        snprintf(path, sizeof path, "d/n%zu,<i>.h5", i);
        assert_ok(iw_fleet_add(NULL, fleet, path, recording));
        iw_recording_free(recording);
    }
    assert_ok(iw_fleet_add_unreadable(NULL, fleet, "d/cut.h5", "'d/cut.h5' is cut off & gone"));
    assert_ok(iw_fleet_judge(NULL, fleet, &opts));
    return fleet;
}

static char *shown(iw_doc doc, iw_doc_format format)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    assert_ok(iw_doc_write(NULL, doc, format, NULL, out));
    assert_int_equal(fclose(out), 0);
    return text;
}

static char *written(iw_fleet *fleet, iw_doc_format format)
{
    char *text = shown(iw_fleet_doc(fleet), format);

    iw_fleet_free(fleet);
    return text;
}

static void assert_has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL) {
        fail_msg("no '%s' in:\n%s", part, text);
    }
}

static void text_tells_the_verdict_first_in_80_columns_without_control_characters(void **state)
{
    char *text = written(made(20, true), IW_DOC_TEXT);

    (void)state;
    assert_int_equal(strncmp(text, "1 of 20 nodes stands out: n5,<i>.", 33), 0);
    assert_has(text, "- n5,<i>, CPU 1: thread/evil<b>?,\"x takes 0.60 % of the time; 1 of 20 nodes has");
    assert_has(text, "other 19 none");
    assert_has(text, "Remedy: stop it, or move it");
    assert_has(text, "kernel: 6.1 on 19 nodes; 6.6 <new> on 1 node (n3,<i>)");
    assert_has(text, "1 file could not be read");
    assert_has(text, "- 'd/cut.h5' is cut off & gone");
    assert_has(text, "the probability of any false alarm is at most 1");
    assert_null(strchr(text, '\033'));
    for (const char *line = text; *line != '\0'; line = strchr(line, '\n') + 1) {
        const char *end = strchr(line, '\n');
        int columns = 0;

        assert_non_null(end);
        assert_true(end == line || end[-1] != ' ');
        for (const char *c = line; c < end; c++) {
            columns += ((unsigned char)*c & 0xc0U) != 0x80U;
        }
        assert_true(columns <= 80);
    }
    free(text);
}

static void nodes_without_noise_have_a_row_of_their_own(void **state)
{
    const iw_fleet_opts opts = IW_FLEET_OPTS_INIT;
    iw_fleet *fleet = NULL;
    char *text;

    (void)state;
    assert_ok(iw_fleet_new(NULL, "d", &fleet));
    for (size_t i = 0; i < 20; i++) {
        iw_recording *recording = i < 3 ? iwt_recording(2, INT64_C(10000000000)) : node(i, false);
        char path[40];

        snprintf(path, sizeof path, "d/n%zu.h5", i);
        assert_ok(iw_fleet_add(NULL, fleet, path, recording));
        iw_recording_free(recording);
    }
    assert_ok(iw_fleet_judge(NULL, fleet, &opts));
    text = written(fleet, IW_DOC_TEXT);
    assert_has(text, "none      3");
    free(text);
}

static void clean_and_small_fleets_have_their_own_words(void **state)
{
    char *clean = written(made(20, false), IW_DOC_TEXT), *few = written(made(5, false), IW_DOC_TEXT),
         *small = written(made(2, false), IW_DOC_TEXT);

    (void)state;
    assert_int_equal(strncmp(clean, "None of 20 nodes stands out.", 28), 0);
    assert_null(strstr(clean, "What stands out, and what"));
    assert_int_equal(
        strncmp(small, "2 nodes are too few to find one that stands out; at least 3 are needed.", 69), 0);
    assert_has(small, "noise compare A B");
    assert_int_equal(strncmp(few, "None of 5 nodes stands out.", 27), 0);
    assert_has(few, "Among 5 nodes, a source stands out from about ");
    assert_has(few, "n2,<i>"); /* a table of nodes */
    assert_null(strstr(few, "time lost from"));
    assert_null(strstr(few, "stands out\n")); /* a column without any */
    free(clean);
    free(few);
    free(small);
}

static void json_has_all_of_it(void **state)
{
    char *text = written(made(20, true), IW_DOC_JSON);
    json_t *object = json_loads(text, 0, NULL), *finding;

    (void)state;
    assert_non_null(object);
    assert_string_equal(json_string_value(json_object_get(object, "schema")), "idlewave.fleet/3");
    assert_int_equal(strncmp(json_string_value(json_object_get(object, "verdict")), "1 of 20 nodes", 13), 0);
    assert_string_equal(json_string_value(json_object_get(object, "outcome")), "outliers");
    assert_int_equal(json_integer_value(json_object_get(object, "nodes_outstanding")), 1);
    assert_int_equal(json_array_size(json_object_get(object, "nodes")), 20);
    assert_int_equal(json_array_size(json_object_get(object, "sources")), 2);
    assert_int_equal(json_array_size(json_object_get(object, "groups")), 2);
    assert_int_equal(json_array_size(json_object_get(object, "unreadable")), 1);
    assert_int_equal(json_array_size(json_object_get(object, "findings")), 1);
    finding = json_array_get(json_object_get(object, "findings"), 0);
    assert_int_equal(json_integer_value(json_object_get(finding, "cpu")), 1);
    assert_string_equal(json_string_value(json_object_get(finding, "metric")), "share");
    assert_true(json_is_null(json_object_get(finding, "limit")));
    assert_has(json_string_value(json_object_get(finding, "advice")), "AllowedCPUs=");
    json_decref(object);
    free(text);
}

static void csv_has_a_line_a_node(void **state)
{
    char *text = written(made(20, true), IW_DOC_CSV);
    int lines = 0;

    (void)state;
    for (const char *c = text; *c != '\0'; c++) {
        lines += *c == '\n';
    }
    assert_int_equal(lines, 21);
    assert_has(
        text,
        "name,cpus,watched_ns,share,rate_hz,longest_ns,findings,largest,is_busy\n\"n5,<i>\",2,20000000000,");
    assert_has(text, ",1,\"thread/evil<b>?,\"\"x\",0\n");
    free(text);
}

static void the_page_escapes_names_and_has_all_sections(void **state)
{
    static const char *const ids[] = {"verdict", "outliers", "distribution", "sources",
                                      "nodes",   "facts",    "unreadable",   "certainty"};
    char *text = written(made(20, true), IW_DOC_HTML);

    (void)state;
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        char id[40];

        snprintf(id, sizeof id, "id=\"%s\"", ids[i]);
        assert_has(text, id);
    }
    assert_null(strstr(text, "<new>"));
    assert_null(strstr(text, "<b>?"));
    assert_has(text, "n5,&lt;i&gt;</text>"); /* above its bar */
    assert_has(text, "<svg");
    free(text);
}

/* All that a document says is in the file, but for the cells that nodes were judged by. */
static void a_file_says_what_the_fleet_says(void **state)
{
    static const iw_doc_format formats[] = {IW_DOC_TEXT, IW_DOC_HTML, IW_DOC_JSON, IW_DOC_CSV};

    (void)state;
    for (size_t nodes = 3; nodes <= 20; nodes += 17) {
        iw_fleet *fleet = made(nodes, nodes > 5);
        char *json = shown(iw_fleet_doc(fleet), IW_DOC_JSON);
        iw_doc_file *file;

        assert_ok(iw_doc_read(NULL, "f.json", json, strlen(json), &file));
        for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
            char *from_fleet = shown(iw_fleet_doc(fleet), formats[i]),
                 *from_file = shown(iw_doc_of(file), formats[i]);

            assert_string_equal(from_file, from_fleet);
            free(from_fleet);
            free(from_file);
        }
        iw_doc_close(file);
        iw_fleet_free(fleet);
        free(json);
    }
}

static void files_of_before_are_refused_with_a_sentence(void **state)
{
    static const char before[] = "{\"schema\": \"idlewave.fleet/1\", \"verdict\": \"none\"}";
    struct iwt_log l;
    iw_doc_file *file;

    (void)state;
    iwt_log_init(&l);
    assert_status(iw_doc_read(&l.log, "old.json", before, sizeof before - 1, &file), IW_ERR_FORMAT);
    iwt_assert_logged(&l, "'old.json' was written by another version of idlewave");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_tells_the_verdict_first_in_80_columns_without_control_characters),
        cmocka_unit_test(nodes_without_noise_have_a_row_of_their_own),
        cmocka_unit_test(clean_and_small_fleets_have_their_own_words),
        cmocka_unit_test(json_has_all_of_it),
        cmocka_unit_test(csv_has_a_line_a_node),
        cmocka_unit_test(the_page_escapes_names_and_has_all_sections),
        cmocka_unit_test(a_file_says_what_the_fleet_says),
        cmocka_unit_test(files_of_before_are_refused_with_a_sentence),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
