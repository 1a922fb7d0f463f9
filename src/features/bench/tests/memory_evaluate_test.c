/* The two numbers of a saturation curve, from windows that are made.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/internal/memory_bench.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/support.h"

enum { CORES = 4, ROUNDS = 60 };

struct made {
    iw_memory_samples samples;
    uint32_t cores_of[CORES];
    iw_memory_window windows[ROUNDS * CORES];
};

/* A core moves 10 GB/s, the domain at most `domain_gb`; rounds differ by 1 %. */
static void make(struct made *made, double domain_gb)
{
    *made = (struct made){.samples = {.host = "node",
                                      .cpu_model = "some CPU",
                                      .hypervisor = "none",
                                      .cores = CORES,
                                      .cache_bytes = UINT64_C(100) << 20,
                                      .array_bytes = UINT64_C(1200) << 20,
                                      .window_s = 0.005,
                                      .seconds = 2,
                                      .kinds = CORES,
                                      .rounds = ROUNDS}};
    made->samples.cores_of = made->cores_of;
    made->samples.windows = made->windows;
    for (size_t kind = 0; kind < CORES; kind++) {
        made->cores_of[kind] = (uint32_t)kind + 1;
        for (size_t round = 0; round < ROUNDS; round++) {
            const double drift = 1.0 + 0.01 * (double)(round % 3) - 0.01;

            made->windows[round * CORES + kind] =
                (iw_memory_window){fmin(10.0 * (double)(kind + 1), domain_gb) * 1e9 * drift, 1.0};
        }
    }
}

static iw_memory_curve *evaluated(struct made *made)
{
    iw_memory_curve *curve = NULL;

    assert_ok(iw_memory_evaluate(NULL, &made->samples, &curve));
    return curve;
}

static void a_curve_that_bends_saturates(void **state)
{
    struct made made;
    iw_memory_curve *curve;

    (void)state;
    make(&made, 25);
    curve = evaluated(&made);
    assert_int_equal(curve->verdict, IW_MEMORY_SATURATES);
    assert_int_equal(curve->saturated_from, 3); /* 3 cores ask for 30 GB/s */
    assert_int_equal(curve->memory.ranks, CORES);
    assert_int_equal(curve->memory.core_bytes_per_s, UINT64_C(10000000000));
    assert_int_equal(curve->memory.domain_bytes_per_s, UINT64_C(25000000000));
    assert_true(fabs(curve->scaling.value - 25.0 / 40.0) < 1e-9);
    assert_true(curve->misfit < 1e-9);
    assert_true(curve->points[2].model_bytes_per_s == 25e9);
    assert_int_equal(curve->disturbed_windows, 0);
    iw_memory_curve_free(curve);
}

/* 39 of 40 GB/s is no saturation, and phases shall not wait for each other. */
static void a_straight_curve_does_not_saturate(void **state)
{
    struct made made;
    iw_memory_curve *curve;

    (void)state;
    make(&made, 39);
    curve = evaluated(&made);
    assert_int_equal(curve->verdict, IW_MEMORY_SCALES);
    assert_int_equal(curve->saturated_from, 0);
    assert_int_equal(curve->memory.domain_bytes_per_s, UINT64_C(40000000000));
    iw_memory_curve_free(curve);
}

/* Rates of windows in which others had a CPU are not looked at. */
static void disturbed_windows_do_not_count(void **state)
{
    struct made made;
    iw_memory_curve *curve;

    (void)state;
    make(&made, 25);
    for (size_t round = 0; round < ROUNDS; round += 2) {
        for (size_t kind = 0; kind < CORES; kind++) {
            made.windows[round * CORES + kind] = (iw_memory_window){1e9, 0.5};
        }
    }
    curve = evaluated(&made);
    assert_int_equal(curve->verdict, IW_MEMORY_SATURATES);
    assert_int_equal(curve->disturbed_windows, ROUNDS / 2 * CORES);
    assert_false(curve->is_disturbed);
    assert_int_equal(curve->points[0].windows, ROUNDS / 2);
    assert_int_equal(curve->memory.core_bytes_per_s, UINT64_C(10000000000));
    iw_memory_curve_free(curve);
}

static void too_few_undisturbed_windows_decide_nothing(void **state)
{
    struct made made;
    iw_memory_curve *curve;

    (void)state;
    make(&made, 25);
    for (size_t round = 11; round < ROUNDS; round++) {
        made.windows[round * CORES].held_share = 0.9;
    }
    curve = evaluated(&made);
    assert_true(curve->is_disturbed);
    assert_int_equal(curve->verdict, IW_MEMORY_UNCLEAR);
    assert_int_equal(curve->points[0].windows, ROUNDS);
    iw_memory_curve_free(curve);
}

static void the_report_says_how_many_windows_there_were_and_how_long(void **state)
{
    struct made made;
    iw_memory_curve *curve;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    (void)state;
    assert_non_null(out);
    make(&made, 25);
    curve = evaluated(&made);
    assert_ok(iw_doc_write(NULL, iw_memory_doc(curve), IW_DOC_TEXT, NULL, out));
    assert_int_equal(fclose(out), 0);
    assert_non_null(strstr(text, " windows of 5 ms, with all"));
    free(text);
    iw_memory_curve_free(curve);
}

/* Half of the run scales, half does not: stretches differ, and the interval is as wide as they are. */
static void intervals_show_what_changes_during_the_run(void **state)
{
    struct made made;
    iw_memory_curve *curve;

    (void)state;
    make(&made, 40);
    for (size_t round = 0; round < ROUNDS / 2; round++) {
        made.windows[round * CORES + CORES - 1].bytes_per_s = 25e9;
    }
    curve = evaluated(&made);
    assert_int_equal(curve->verdict, IW_MEMORY_UNCLEAR);
    assert_true(curve->domain_bytes_per_s.low < 26e9 && curve->domain_bytes_per_s.high > 39e9);
    iw_memory_curve_free(curve);
}

static void one_core_says_nothing_of_several(void **state)
{
    struct made made;
    iw_memory_curve *curve;

    (void)state;
    make(&made, 40);
    made.samples.cores = 1;
    made.samples.kinds = 1;
    curve = evaluated(&made);
    assert_int_equal(curve->verdict, IW_MEMORY_UNCLEAR);
    assert_int_equal(curve->memory.domain_bytes_per_s, curve->memory.core_bytes_per_s);
    iw_memory_curve_free(curve);
}

static void cores_that_move_nothing_are_refused(void **state)
{
    struct made made;
    iw_memory_curve *curve = NULL;
    struct iwt_log l;

    (void)state;
    make(&made, 40);
    for (size_t round = 0; round < ROUNDS; round++) {
        made.windows[round * CORES + 1] = (iw_memory_window){0, 0};
    }
    iwt_log_init(&l);
    assert_status(iw_memory_evaluate(&l.log, &made.samples, &curve), IW_ERR_RANGE);
    iwt_assert_logged(&l, "2 cores moved nothing");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_curve_that_bends_saturates),
        cmocka_unit_test(a_straight_curve_does_not_saturate),
        cmocka_unit_test(disturbed_windows_do_not_count),
        cmocka_unit_test(too_few_undisturbed_windows_decide_nothing),
        cmocka_unit_test(the_report_says_how_many_windows_there_were_and_how_long),
        cmocka_unit_test(intervals_show_what_changes_during_the_run),
        cmocka_unit_test(one_core_says_nothing_of_several),
        cmocka_unit_test(cores_that_move_nothing_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
