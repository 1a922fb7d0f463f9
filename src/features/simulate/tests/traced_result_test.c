/* Tests of what results tell of the traced run.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "support/report_sample.h"
#include "support/support.h"

static const iw_traced run = {.ranks = 8,
                              .replicas = 1,
                              .run_ps = 2500 * (IW_PS_PER_S / 1000),
                              .mpi_share = 0.25,
                              .cpu_share = 0.97,
                              .is_by_cpu = true,
                              .has_p2p = true};

static void write(struct sample *s, const iw_traced *traced, iw_doc_format format)
{
    sample_init(s);
    s->origin.traced = traced;
    sample_write(s, format);
}

static void assert_has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL) {
        print_message("'%s' is not in\n%s", part, text);
    }
    assert_non_null(strstr(text, part));
}

static void the_traced_run_stands_beside_the_prediction(void **state)
{
    struct sample s;

    (void)state;
    write(&s, &run, IW_DOC_TEXT);
    assert_has(s.text, "\ntraced    2.500 s on 8 ranks: 25.0 % in MPI, 75.0 % between calls, of which 97.0\n"
                       "          % CPU time\n");
    assert_null(strstr(s.text, "warning"));
    assert_null(strstr(s.text, "replicas"));
    sample_release(&s);
    write(&s, NULL, IW_DOC_TEXT);
    assert_null(strstr(s.text, "traced"));
    sample_release(&s);
}

static void training_is_told_in_its_own_words(void **state)
{
    iw_traced traced = run;
    struct sample s;

    (void)state;
    traced.is_training = true;
    traced.cpu_share = NAN;
    write(&s, &traced, IW_DOC_TEXT);
    assert_has(s.text, "\ntraced    2.500 s on 8 ranks: 25.0 % in collectives, 75.0 % between them\n");
    assert_null(strstr(s.text, "MPI"));
    sample_release(&s);
}

static void little_cpu_time_is_warned_of(void **state)
{
    iw_traced traced = run;
    struct sample s;

    (void)state;
    traced.cpu_share = 0.31;
    write(&s, &traced, IW_DOC_TEXT);
    assert_has(s.text, "\nwarning   only 31.0 % of the time between calls was CPU time:");
    assert_has(s.text, "The prediction leaves the rest\n          out");
    sample_release(&s);
    traced.is_by_cpu = false;
    write(&s, &traced, IW_DOC_TEXT);
    assert_has(s.text, "The prediction counts all of it as\n          computation");
    sample_release(&s);
    traced.cpu_share = NAN;
    write(&s, &traced, IW_DOC_TEXT);
    assert_null(strstr(s.text, "warning"));
    assert_null(strstr(s.text, "CPU time"));
    sample_release(&s);
}

static void replicas_tell_what_they_compute_and_cannot_carry(void **state)
{
    iw_traced traced = run;
    struct sample s;

    (void)state;
    traced.replicas = 4;
    write(&s, &traced, IW_DOC_TEXT);
    assert_has(s.text, "\nreplicas  4 of 8 ranks; each draws its computation from the trace\n");
    assert_has(s.text, "\nnote      point-to-point messages stay inside a replica");
    assert_has(s.text, "at\n          most 8 ranks");
    sample_release(&s);
    traced.has_p2p = false;
    traced.replica_compute = IW_REPLICA_COPY;
    write(&s, &traced, IW_DOC_TEXT);
    assert_has(s.text, "each computes as traced, so imbalance does not grow");
    assert_null(strstr(s.text, "point-to-point"));
    sample_release(&s);
}

static void the_json_has_it_too(void **state)
{
    iw_traced traced = run;
    json_t *object, *member;
    struct sample s;

    (void)state;
    traced.cpu_share = NAN;
    write(&s, &traced, IW_DOC_JSON);
    object = json_loads(s.text, 0, NULL);
    member = json_object_get(object, "traced");
    assert_int_equal(json_integer_value(json_object_get(member, "ranks")), 8);
    assert_int_equal(json_integer_value(json_object_get(member, "replicas")), 1);
    assert_true(json_number_value(json_object_get(member, "run_ns")) == 2.5e9);
    assert_true(json_number_value(json_object_get(member, "mpi_share")) == 0.25);
    assert_true(json_is_null(json_object_get(member, "cpu_share")));
    assert_true(json_is_true(json_object_get(member, "is_by_cpu")));
    assert_string_equal(json_string_value(json_object_get(member, "replica_compute")), "resample");
    assert_true(json_is_true(json_object_get(member, "has_p2p")));
    json_decref(object);
    sample_release(&s);
}

static void the_page_shows_it(void **state)
{
    iw_traced traced = run;
    struct sample s;

    (void)state;
    traced.cpu_share = 0.31;
    sample_init(&s);
    s.origin.traced = &traced;
    sample_report(&s, IW_DOC_HTML); /* from the JSON */
    assert_has(s.text,
               "2.500 s on 8 ranks: 25.0&nbsp;% in MPI, 75.0&nbsp;% between calls, of which 31.0&nbsp;% "
               "CPU time");
    assert_has(s.text, "only 31.0&nbsp;% of the time between calls was CPU time");
    sample_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_traced_run_stands_beside_the_prediction),
        cmocka_unit_test(training_is_told_in_its_own_words),
        cmocka_unit_test(little_cpu_time_is_warned_of),
        cmocka_unit_test(replicas_tell_what_they_compute_and_cannot_carry),
        cmocka_unit_test(the_json_has_it_too),
        cmocka_unit_test(the_page_shows_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
