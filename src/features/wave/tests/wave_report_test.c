/* Waves as text, JSON and CSV.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/doc.h>
#include <idlewave/estimate.h>
#include <idlewave/timeline.h>
#include <idlewave/wave.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "support/made_halo.h"
#include "support/support.h"

#include "core/base/base.h"

/* What is written of the waves of a halo; to be freed. */
static char *written(const struct iwt_halo *halo, iw_doc_format format)
{
    iw_timeline *timeline = iwt_made_halo(halo, NULL);
    const iw_wave_opts opts = IW_WAVE_OPTS_INIT;
    iw_waves *waves = NULL;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    assert_ok(iw_waves_find(NULL, timeline, &opts, &waves));
    assert_ok(iw_doc_write(NULL, iw_waves_doc(waves), format, NULL, out));
    assert_int_equal(fclose(out), 0);
    iw_waves_free(waves);
    iw_timeline_free(timeline);
    return text;
}

/* Without line breaks, so that phrases are found wherever lines are wrapped. */
static void assert_says(const struct iwt_halo *halo, const char *phrase)
{
    char *text = written(halo, IW_DOC_TEXT), *line = strdup(text);

    for (char *rest = line, *next; (next = strchr(rest, '\n')) != NULL; rest = next + 1) {
        if (next - rest > 80) {
            fail_msg("wider than 80 columns: '%.*s'", (int)(next - rest), rest);
        }
        *next = ' ';
    }
    if (strstr(line, phrase) == NULL) {
        fail_msg("'%s' is not in:\n%s", phrase, text);
    }
    free(line);
    free(text);
}

static const struct iwt_delay delay = {5, 0, 27 * IW_PS_PER_MS / 2};

/* The paper's: 18 ranks, a delay of 4.5 phases of 3 ms on rank 5; a step takes 3.05 ms. */
static struct iwt_halo paper(bool is_bidirectional, bool is_periodic)
{
    struct iwt_halo halo = IWT_HALO_INIT;

    halo.is_bidirectional = is_bidirectional;
    halo.is_periodic = is_periodic;
    halo.delays = &delay;
    halo.delay_count = 1;
    return halo;
}

static void the_verdict_on_two_waves(void **state)
{
    const struct iwt_halo ring = paper(true, true), chain = paper(true, false);

    (void)state;
    assert_says(&ring,
                "2 waves from a delay of 13.50 ms on rank 5: up and down at 327.9 ranks/s, as expected "
                "(within 10 % of sigma d / T = 327.9); they meet on rank 14 at 27.41 ms and cancel.");
    assert_says(&chain, "as expected (within 10 % of sigma d / T = 327.9); the first reaches the border, "
                        "rank 17, at 36.56 ms, "
                        "the second reaches the border, rank 0, at 15.21 ms.");
}

static void the_verdict_on_one_wave(void **state)
{
    const struct iwt_halo ring = paper(false, true), chain = paper(false, false);

    (void)state;
    assert_says(&ring,
                "1 wave from a delay of 13.50 ms on rank 5: up at 327.9 ranks/s, as expected (within 10 % "
                "of sigma d / T = 327.9); it goes once around and ends before rank 5 at 51.81 ms.");
    assert_says(&chain, "it reaches the border, rank 17, at 36.56 ms.");
}

static void the_verdict_on_none(void **state)
{
    static const struct iwt_delay last = {17, 0, 27 * IW_PS_PER_MS / 2};
    struct iwt_halo halo = paper(false, false);

    (void)state;
    halo.delays = &last; /* nobody receives from it */
    assert_says(&halo, "No idle wave: there is 1 delay of 750.0 us or more, but no neighbour waited for it");
    halo.delay_count = 0;
    assert_says(&halo, "No idle wave: no delay of 750.0 us or more.");
    halo.is_traced = true;
    assert_says(&halo, "No idle wave: no single rank computes at least 1.500 ms longer than usual.");
    assert_says(&halo, "A trace does not distinguish delays from work");
    assert_says(&halo, "the timeline lacks");
}

static void many_waves(void **state)
{
    struct iwt_delay delays[10];
    struct iwt_halo halo = paper(true, false);

    (void)state;
    for (uint32_t i = 0; i < 10; i++) {
        delays[i] = (struct iwt_delay){10 * i + 5, 0, (i % 2 == 0 ? 30 : 15) * IW_PS_PER_MS};
    }
    halo.ranks = 100;
    halo.steps = 60;
    halo.delays = delays;
    halo.delay_count = 10;
    assert_says(&halo, "20 waves from 10 delays of 15.00 ms to 30.00 ms, 327.9 ranks/s, as expected");
    assert_says(&halo, "and 10 more");
    assert_says(&halo, "3 reach the border, 17 meet others or late ranks.");
}

static void an_unexpected_speed_is_called_so(void **state)
{
    struct iwt_halo halo = paper(true, true);
    iw_timeline *timeline = iwt_made_halo(&halo, NULL);
    iw_wave_opts opts = IW_WAVE_OPTS_INIT;
    iw_waves *waves = NULL;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    (void)state;
    opts.sigma = 2;
    assert_ok(iw_waves_find(NULL, timeline, &opts, &waves));
    assert_ok(iw_doc_write(NULL, iw_waves_doc(waves), IW_DOC_TEXT, NULL, out));
    assert_int_equal(fclose(out), 0);
    assert_non_null(strstr(text, "than expected (sigma d / T = 655.7)"));
    free(text);
    iw_waves_free(waves);
    iw_timeline_free(timeline);
}

/* Without line breaks: the text on two waves of other speeds and decays; to be freed. */
static char *text_of(const iw_estimate speeds[2], const iw_estimate decays_s[2])
{
    const struct iwt_halo halo = paper(true, false);
    iw_timeline *timeline = iwt_made_halo(&halo, NULL);
    const iw_wave_opts opts = IW_WAVE_OPTS_INIT;
    iw_waves *waves = NULL;
    char *text = NULL;
    size_t size = 0, column = 0;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    assert_ok(iw_waves_find(NULL, timeline, &opts, &waves));
    for (size_t i = 0; i < 2; i++) {
        waves->waves[i].speed = speeds[i];
        waves->waves[i].decay_s = decays_s[i];
    }
    assert_ok(iw_doc_write(NULL, iw_waves_doc(waves), IW_DOC_TEXT, NULL, out));
    assert_int_equal(fclose(out), 0);
    for (char *at = text; *at != '\0'; at++) {
        column = *at == '\n' ? 0 : column + 1;
        assert_true(column <= 80);
        *at = *at == '\n' ? ' ' : *at;
    }
    iw_waves_free(waves);
    iw_timeline_free(timeline);
    return text;
}

static void assert_has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL) {
        fail_msg("'%s' is not in:\n%s", part, text);
    }
}

static void numbers_of_all_sizes_stay_in_their_columns(void **state)
{
    static const struct {
        iw_estimate speeds[2], decays_s[2];
        const char *parts[3];
    } cases[] = {
        {{{0.00327, 0.0031, 0.0035}, {0.0327, 0.0327, 0.0327}},
         {{2e-6, 1e-6, 3e-6}, {1e-14, -1e-14, 2e-14}},
         {"us lost", "0.0033 +- <.01  ", " 2.00 +- 1.00 "}},
        {{{0.327, 0.3, 0.36}, {3.27, 3.0, 3.5}},
         {{0.5, 0.4, 0.6}, {-0.001234, -0.05, 0.06}},
         {"ms lost", " 0.327 +- 0.03  ", " -1.2 +- 61.2 "}},
        {{{9.9999e5, 8e5, 1e6}, {32749.0, 0.0, 65000.0}},
         {{123.0, -1e6, 1e6}, {-0.0042, -0.1, 0.1}},
         {" s lost", " 1.00M +- 200k ", " 123 +- 1.0M "}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = text_of(cases[i].speeds, cases[i].decays_s);

        for (size_t k = 0; k < 3; k++) {
            assert_has(text, cases[i].parts[k]);
        }
        assert_null(strstr(text, "at 0.003 ranks/s"));
        assert_null(strstr(text, "e-"));
        assert_has(text, " 17 ");
        assert_has(text, " 0 ");
        free(text);
    }
}

/* Intervals that only touch do not make them one. */
static void two_speeds_are_one_only_if_each_may_be_the_other(void **state)
{
    static const iw_estimate none[2] = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    static const struct {
        iw_estimate speeds[2];
        bool is_one;
    } cases[] = {
        {{{300.0, 280.0, 320.0}, {345.0, 310.0, 380.0}}, false},
        {{{300.0, 200.0, 400.0}, {345.0, 344.0, 346.0}}, false},
        {{{300.0, 250.0, 350.0}, {330.0, 290.0, 370.0}}, true},
        {{{300.0, 300.0, 300.0}, {305.0, 305.0, 305.0}}, true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = text_of(cases[i].speeds, none);

        assert_int_equal(strstr(text, "up and down at") != NULL, cases[i].is_one);
        free(text);
    }
}

/* 327.9 ranks/s are expected: 295.1 to 360.7 is within 10 % of it. */
static void what_is_expected_needs_an_interval_within_the_margin(void **state)
{
    static const iw_estimate none[2] = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    static const struct {
        iw_estimate speed;
        const char *says;
    } cases[] = {
        {{325.0, 300.0, 355.0},
         "(95 % CI 300.0 to 355.0), as expected (within 10 % of sigma d / T = 327.9);"},
        {{325.0, 290.0, 355.0},
         ", too uncertain to compare with the expected speed (sigma d / T = 327.9; needs about"},
        {{200.0, 20.0, INFINITY}, "at about 200.0 ranks/s, too uncertain to compare"},
        {{327.0, NAN, NAN}, "; needs 3 or more steps of the wave, here 11)"},
        {{310.0, 308.0, 312.0}, ", as expected (within 10 % of sigma d / T = 327.9), though 5.45 % slower;"},
        {{380.0, 340.0, 430.0}, ", 15.9 % faster than expected (sigma d / T = 327.9);"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const iw_estimate both[2] = {cases[i].speed, cases[i].speed};
        char *text = text_of(both, none);

        assert_has(text, cases[i].says);
        assert_int_equal(strstr(text, " 200 +- inf ") != NULL, isinf(cases[i].speed.high) != 0);
        free(text);
    }
}

/* 10 increments (11 steps), t(0.975; 9) = 2.262: a half of 20 % of the time per rank is a deviation of 0.2
 * sqrt(10) / 2.262 = 0.2796 a step. The value is what is expected, so 10 % are wanted: 33 increments, for
 * which t = 2.0369 and 2.0369 x 0.2796 / sqrt(33) = 0.0991 (of 32: 0.1008). */
static void a_verdict_names_the_steps_that_it_needs(void **state)
{
    static const iw_estimate none[2] = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    const double expected = 1e6 / 3050.0;
    const iw_estimate wide = {expected, expected / 1.2, expected / 0.8};
    char *text = text_of((const iw_estimate[]){wide, wide}, none);

    (void)state;
    assert_has(text, "; needs about 34 steps of the wave, here 11, or less noise)");
    assert_has(text, "327.9 +- 82.0");
    free(text);
}

/* The border's rank does not count: 12 and 5 ranks are reached. */
static void the_points_are_those_of_the_means(void **state)
{
    struct iwt_halo halo = paper(true, false);

    (void)state;
    assert_says(&halo, "a mean over 4 to 11 steps of a wave, decay over 4 to 11 ranks.");
    assert_says(&halo, "interval for the mean of many waves");
    halo.is_bidirectional = false;
    halo.ranks = 9;
    assert_says(&halo, "a mean over 2 steps of a wave, decay over 2 ranks.");
    assert_says(&halo, "1 wave has too few points for");
}

static double number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    if (!json_is_number(value)) {
        fail_msg("'%s' is no number", key);
    }
    return json_number_value(value);
}

static void json_has_all(void **state)
{
    const struct iwt_halo halo = paper(true, true);
    char *text = written(&halo, IW_DOC_JSON);
    json_t *object = json_loads(text, 0, NULL), *waves, *wave, *front;

    (void)state;
    assert_non_null(object);
    assert_string_equal(json_string_value(json_object_get(object, "schema")), "idlewave.wave/2");
    assert_true(number(object, "period_ns") == 3050000.0);
    assert_true(number(object, "exec_ns") == 3000000.0);
    assert_true(number(object, "delays") == 1.0);
    assert_int_equal(json_array_size(json_object_get(object, "desync")), 20);
    waves = json_object_get(object, "waves");
    assert_int_equal(json_array_size(waves), 2);
    wave = json_array_get(waves, 1);
    assert_true(number(wave, "direction") == -1.0);
    assert_true(number(wave, "end_rank") == 14.0);
    assert_true(number(wave, "met") == 0.0);
    assert_string_equal(json_string_value(json_object_get(wave, "end")), "met");
    assert_true(number(json_object_get(wave, "decay_s_per_rank"), "value") < 1e-12);
    assert_int_equal(json_array_size(json_object_get(wave, "fronts")), 9);
    front = json_array_get(json_object_get(wave, "fronts"), 0);
    assert_int_equal(json_integer_value(json_object_get(front, "rank")), 4);
    assert_int_equal(json_integer_value(json_object_get(front, "idle_ns")), 13500000);
    json_decref(object);
    free(text);
}

/* A wave that reaches one rank has no speed: null, not NaN. */
static void json_of_a_short_wave(void **state)
{
    struct iwt_halo halo = paper(true, false);
    char *text;
    json_t *object, *wave;

    (void)state;
    halo.ranks = 7;
    text = written(&halo, IW_DOC_JSON);
    object = json_loads(text, 0, NULL);
    wave = json_array_get(json_object_get(object, "waves"), 0);
    assert_true(json_is_null(json_object_get(json_object_get(wave, "speed_ranks_per_s"), "value")));
    assert_true(number(wave, "met") == -1.0);
    json_decref(object);
    free(text);
    assert_says(&halo, "1 wave has too few points for");
}

static void csv_has_a_line_a_front(void **state)
{
    struct iwt_halo halo = paper(false, false);
    char *text;

    (void)state;
    halo.ranks = 8;
    text = written(&halo, IW_DOC_CSV);
    assert_string_equal(text,
                        "origin_rank,origin_step,dimension,direction,rank,distance,step,lead_ns,trail_ns,"
                        "idle_ns\n"
                        "5,1,0,1,6,1,1,3010000,16550000,13500000\n"
                        "5,1,0,1,7,2,2,6060000,19600000,13500000\n");
    free(text);
}

static void what_cannot_be_written_is_told(void **state)
{
    const struct iwt_halo halo = paper(true, true);
    iw_timeline *timeline = iwt_made_halo(&halo, NULL);
    const iw_wave_opts opts = IW_WAVE_OPTS_INIT;
    iw_waves *waves = NULL;
    FILE *full = fopen("/dev/full", "we");
    struct iwt_log log;

    (void)state;
    assert_non_null(full);
    (void)setvbuf(full, NULL, _IONBF, 0);
    iwt_log_init(&log);
    assert_ok(iw_waves_find(NULL, timeline, &opts, &waves));
    assert_status(iw_doc_write(&log.log, iw_waves_doc(waves), IW_DOC_TEXT, NULL, full), IW_ERR_IO);
    iwt_assert_logged(&log, "cannot write the report");
    clearerr(full);
    assert_status(iw_doc_write(&log.log, iw_waves_doc(waves), IW_DOC_CSV, NULL, full), IW_ERR_IO);
    clearerr(full);
    assert_status(iw_doc_write(&log.log, iw_waves_doc(waves), IW_DOC_JSON, NULL, full), IW_ERR_IO);
    (void)fclose(full);
    iw_waves_free(waves);
    iw_timeline_free(timeline);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_verdict_on_two_waves),
        cmocka_unit_test(the_verdict_on_one_wave),
        cmocka_unit_test(the_verdict_on_none),
        cmocka_unit_test(many_waves),
        cmocka_unit_test(an_unexpected_speed_is_called_so),
        cmocka_unit_test(numbers_of_all_sizes_stay_in_their_columns),
        cmocka_unit_test(two_speeds_are_one_only_if_each_may_be_the_other),
        cmocka_unit_test(what_is_expected_needs_an_interval_within_the_margin),
        cmocka_unit_test(a_verdict_names_the_steps_that_it_needs),
        cmocka_unit_test(the_points_are_those_of_the_means),
        cmocka_unit_test(json_has_all),
        cmocka_unit_test(json_of_a_short_wave),
        cmocka_unit_test(csv_has_a_line_a_front),
        cmocka_unit_test(what_cannot_be_written_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
