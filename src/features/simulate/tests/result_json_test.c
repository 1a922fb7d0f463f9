/* The JSON result: all keys in their order, exact numbers, valid JSON whatever the names are.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/result.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "support/support.h"

#include "support/report_sample.h"

static json_t *written(struct sample *s)
{
    json_error_t error;
    json_t *object;

    sample_write(s, IW_DOC_JSON);
    object = json_loads(s->text, 0, &error);
    if (object == NULL) {
        fail_msg("%s in:\n%s", error.text, s->text);
    }
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

static double number_at(json_t *object, const char *key, const char *inner)
{
    json_t *value = json_object_get(object, key);

    if (inner != NULL) {
        value = json_object_get(value, inner);
    }
    assert_true(json_is_number(value));
    return json_number_value(value);
}

/* The part of that name of the member "explain". */
static json_t *part_of(json_t *object, const char *name)
{
    json_t *part;
    size_t i;

    json_array_foreach(json_object_get(json_object_get(object, "explain"), "parts"), i, part)
    {
        if (strcmp(json_string_value(json_object_get(part, "part")), name) == 0) {
            return part;
        }
    }
    fail_msg("no part %s", name);
    return NULL;
}

static void keys_are_those_of_the_contract_in_their_order(void **state)
{
    struct sample s;
    json_t *object;

    (void)state;
    sample_init(&s);
    object = written(&s);
    assert_keys(
        object,
        "schema version verdict notes what command ranks trials first_trial seed engine engine_note rules "
        "rendezvous lanes threads processes parallel resumed messages noiseless_ns engine_seconds "
        "messages_per_second peak_rss_bytes makespan_ns slowdown median_level distribution trial_times noise "
        "sync ranks_per_node recorded_cpus noise_cpus delays net net_segments recording traced explain "
        "caveats");
    assert_keys(json_object_get(object, "makespan_ns"),
                "count min q1 median q3 max mean median_low median_high mean_low mean_high");
    assert_keys(json_object_get(object, "net"),
                "name L_ns o_send_ns o_recv_ns g_ns G_ns_per_byte O_ns_per_byte S_bytes");
    assert_string_equal(json_string_value(json_object_get(object, "schema")), "idlewave.simulate/4");
    assert_string_equal(json_string_value(json_object_get(object, "engine")), "flow");
    assert_string_equal(json_string_value(json_object_get(object, "command")), s.origin.command);
    json_decref(object);
    sample_release(&s);
}

static void an_explanation_lists_the_parts_of_the_path(void **state)
{
    struct sample s;
    json_t *object;

    (void)state;
    sample_init(&s);
    sample_add_noise(&s, "periodic:10Hz,1us");
    sample_add_explain(&s);
    snprintf(s.result.engine_note, sizeof s.result.engine_note, "wildcards need the event engine");
    object = written(&s);
    assert_string_equal(json_string_value(json_object_get(object, "engine_note")),
                        "wildcards need the event engine");
    assert_keys(json_object_get(object, "explain"),
                "trial last_rank makespan_ns hops mean_hops parts worst average");
    assert_true(json_is_null(json_object_get(json_object_get(object, "explain"), "average")));
    assert_true(number_at(part_of(object, "compute"), "last_ns", NULL) == 100000.0);
    assert_true(number_at(part_of(object, "periodic:10Hz,1us"), "last_ns", NULL) == 200.0);
    assert_true(json_is_true(json_object_get(part_of(object, "periodic:10Hz,1us"), "is_noise")));
    assert_true(number_at(part_of(object, "L"), "mean_ns", NULL) == 25000.0);
    json_decref(object);
    sample_release(&s);
}

static void paths_of_several_trials_are_averaged(void **state)
{
    struct sample s;
    json_t *object, *average, *rank;

    (void)state;
    sample_init(&s);
    sample_add_noise(&s, "periodic:10Hz,1us");
    sample_add_explain(&s);
    sample_add_paths(&s);
    object = written(&s);
    average = json_object_get(json_object_get(object, "explain"), "average");
    assert_keys(average, "trials makespan_ns hops worst_share sources ranks seats tenths");
    assert_true(number_at(part_of(object, "compute"), "average_ns", "value") == 900.0);
    assert_true(json_number_value(json_object_get(average, "worst_share")) == 0.8);
    rank = json_array_get(json_object_get(average, "ranks"), 0);
    assert_int_equal(json_integer_value(json_object_get(rank, "number")), 6);
    assert_int_equal(json_integer_value(json_object_get(rank, "trials")), 10);
    assert_int_equal(json_integer_value(json_object_get(rank, "of")), 10);
    assert_true(json_is_true(json_object_get(rank, "stands_out")));
    json_decref(object);
    sample_release(&s);
}

static void times_are_exact_to_the_picosecond_and_readable(void **state)
{
    static const struct {
        iw_time ps;
        const char *text;
    } cases[] = {{130200000, "\"min\": 130200,"},
                 {130200123, "\"min\": 130200.123,"},
                 {580, "\"min\": 0.58,"},
                 {INT64_C(999999999999999), "\"min\": 999999999999.999,"},
                 {0, "\"min\": 0,"}};
    struct sample s;

    (void)state;
    sample_init(&s);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        s.makespan_ps[0] = cases[i].ps;
        sample_write(&s, IW_DOC_JSON);
        if (strstr(s.text, cases[i].text) == NULL) {
            fail_msg("no %s in:\n%s", cases[i].text, s.text);
        }
    }
    sample_release(&s);
}

/* Above 1000 s all seventeen digits are written, so that reading gives the same double. */
static void long_times_survive_reading_back(void **state)
{
    struct sample s;
    json_t *object;

    (void)state;
    sample_init(&s);
    s.makespan_ps[0] = INT64_C(8640000123456789);
    object = written(&s);
    assert_true(number_at(object, "makespan_ns", "max") == 8640000123456789.0 / 1000.0);
    json_decref(object);
    sample_release(&s);
}

static void slowdown_is_the_ratio_less_one(void **state)
{
    static const double factors[] = {1.0, 3.0, 2.0, 5.0, 4.0, 3.0, 3.0};
    struct sample s;
    json_t *object;

    (void)state;
    sample_init(&s);
    sample_set_trials(&s, factors, 7);
    object = written(&s);
    assert_true(number_at(object, "slowdown", "min") == 0.0);
    assert_true(number_at(object, "slowdown", "q1") == 1.5);
    assert_true(number_at(object, "slowdown", "median") == 2.0);
    assert_true(number_at(object, "slowdown", "mean") == 2.0);
    assert_true(number_at(object, "slowdown", "max") == 4.0);
    assert_true(number_at(object, "makespan_ns", "median") == 3.0 * 130200.0);
    assert_true(number_at(object, "messages_per_second", NULL) == 24.0 * 7.0 / 0.5);
    assert_true(number_at(object, "slowdown", "mean_low") < 2.0);
    assert_true(number_at(object, "slowdown", "mean_high") > 2.0);
    assert_true(number_at(object, "slowdown", "median_low") < 2.0);
    assert_true(number_at(object, "slowdown", "median_high") > 2.0);
    assert_true(fabs(number_at(object, "median_level", NULL) - 0.984375) < 1e-12); /* 1 - 2/128 */
    json_decref(object);
    sample_release(&s);
}

static void what_cannot_be_known_is_null(void **state)
{
    struct sample s;
    json_t *object;

    (void)state;
    sample_init(&s);
    sample_add_noise(&s, "bernoulli:0.1,1us");
    s.result.noiseless_ps = 0;
    s.result.engine_seconds = 0.0;
    object = written(&s);
    assert_true(json_is_null(json_object_get(json_object_get(object, "makespan_ns"), "mean_low")));
    assert_true(json_is_null(json_object_get(json_object_get(object, "makespan_ns"), "median_low")));
    assert_true(json_is_null(json_object_get(object, "median_level")));
    assert_true(json_is_null(json_object_get(json_object_get(object, "slowdown"), "median")));
    assert_true(json_is_null(json_object_get(json_array_get(json_object_get(object, "noise"), 0), "share")));
    assert_true(json_is_null(json_object_get(object, "messages_per_second")));
    json_decref(object);
    sample_release(&s);
}

static void a_resumed_run_has_no_rate(void **state)
{
    struct sample s;
    json_t *object;

    (void)state;
    sample_init(&s);
    object = written(&s);
    assert_true(json_is_false(json_object_get(object, "resumed")));
    json_decref(object);
    s.result.is_resumed = true;
    object = written(&s);
    assert_true(json_is_true(json_object_get(object, "resumed")));
    assert_true(number_at(object, "engine_seconds", NULL) == 0.5);
    assert_true(json_is_null(json_object_get(object, "messages_per_second")));
    json_decref(object);
    sample_release(&s);
}

static void noise_is_listed_with_its_share_and_alignment(void **state)
{
    struct sample s;
    json_t *object, *noise;

    (void)state;
    sample_init(&s);
    sample_add_noise(&s, "periodic:10Hz,1ms");
    sample_add_noise(&s, "periodic:10Hz,1ms");
    sample_add_explain(&s);
    iw_noise_align(s.noise, IW_SYNC_START, 0, 1);
    object = written(&s);
    noise = json_object_get(object, "noise");
    assert_int_equal(json_array_size(noise), 2);
    assert_string_equal(json_string_value(json_object_get(json_array_get(noise, 0), "spec")),
                        "periodic:10Hz,1ms");
    assert_true(fabs(number_at(json_array_get(noise, 0), "share", NULL) - 0.01) < 1e-12);
    assert_string_equal(json_string_value(json_object_get(object, "sync")), "start");
    assert_non_null(part_of(object, "periodic:10Hz,1ms"));
    assert_non_null(part_of(object, "periodic:10Hz,1ms #2"));
    json_decref(object);
    sample_release(&s);
}

static void names_that_are_not_utf8_are_still_valid_json(void **state)
{
    struct sample s;
    json_t *object;

    (void)state;
    sample_init(&s);
    s.origin.what = "f\xfcnf.goal";
    object = written(&s);
    assert_string_equal(json_string_value(json_object_get(object, "what")), "f?nf.goal");
    json_decref(object);
    sample_release(&s);
}

static void a_full_disk_is_an_error(void **state)
{
    FILE *out = fopen("/dev/full", "w");
    iw_simulation *simulation;
    struct sample s;
    struct iwt_log l;

    (void)state;
    if (out == NULL) {
        skip();
    }
    sample_init(&s);
    iwt_log_init(&l);
    assert_ok(iw_simulation_new(&l.log, &s.result, &s.origin, &simulation));
    assert_status(iw_doc_write(&l.log, iw_simulation_doc(simulation), IW_DOC_JSON, NULL, out), IW_ERR_IO);
    iwt_assert_logged(&l, "cannot write the JSON result: No space left on device");
    iw_simulation_free(simulation);
    (void)fclose(out);
    sample_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_those_of_the_contract_in_their_order),
        cmocka_unit_test(an_explanation_lists_the_parts_of_the_path),
        cmocka_unit_test(paths_of_several_trials_are_averaged),
        cmocka_unit_test(times_are_exact_to_the_picosecond_and_readable),
        cmocka_unit_test(long_times_survive_reading_back),
        cmocka_unit_test(slowdown_is_the_ratio_less_one),
        cmocka_unit_test(what_cannot_be_known_is_null),
        cmocka_unit_test(a_resumed_run_has_no_rate),
        cmocka_unit_test(noise_is_listed_with_its_share_and_alignment),
        cmocka_unit_test(names_that_are_not_utf8_are_still_valid_json),
        cmocka_unit_test(a_full_disk_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
