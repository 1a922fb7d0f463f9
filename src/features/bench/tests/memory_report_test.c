/* What is said of measured bandwidths: verdicts, doubts, and the option that uses them.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/internal/memory_bench.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/support.h"

static iw_memory_point points[] = {{1, 400, {6.5e9, 6.4e9, 6.6e9}, 6.5e9},
                                   {4, 400, {25.5e9, 25e9, 26e9}, 26e9},
                                   {10, 390, {40e9, 39e9, 41e9}, 40e9}};

static iw_memory_curve made_curve(void)
{
    iw_memory_curve curve = {.command = "idlewave bench memory",
                             .host = "sample",
                             .cpu_model = "made up",
                             .hypervisor = "none",
                             .cores = 10,
                             .cache_bytes = UINT64_C(28) << 20,
                             .array_bytes = UINT64_C(336) << 20,
                             .window_s = 0.005,
                             .seconds = 20,
                             .windows = 1200,
                             .disturbed_windows = 10,
                             .core_bytes_per_s = {6.5e9, 6.4e9, 6.6e9},
                             .domain_bytes_per_s = {40e9, 39e9, 41e9},
                             .scaling = {0.615, 0.6, 0.63},
                             .verdict = IW_MEMORY_SATURATES,
                             .saturated_from = 7,
                             .memory = {10, UINT64_C(40000000000), UINT64_C(6500000000)},
                             .point_count = 3,
                             .points = points};

    for (uint32_t cpu = 0; cpu < 10; cpu++) {
        iw_cpu_set_add(&curve.cpus, cpu);
    }
    return curve;
}

static char *written(const iw_memory_curve *curve, iw_doc_format format)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    assert_ok(iw_doc_write(NULL, iw_memory_doc(curve), format, NULL, out));
    assert_int_equal(fclose(out), 0);
    return text;
}

static void assert_says(const iw_memory_curve *curve, const char *piece)
{
    char *text = written(curve, IW_DOC_TEXT);

    if (strstr(text, piece) == NULL) {
        fail_msg("no '%s' in:\n%s", piece, text);
    }
    free(text);
}

static void saturation_is_said_first_and_what_to_write_last(void **state)
{
    static const char option[] = "  memory: ranks=10,domain=40GB/s,core=6.5GB/s\n";
    const iw_memory_curve curve = made_curve();
    char *text = written(&curve, IW_DOC_TEXT);

    (void)state;
    assert_int_equal(
        strncmp(text,
                "One core moves 6.5 GB/s, all 10 cores together 40 GB/s: memory saturates from 7\n"
                "cores on.\n",
                80 + 10),
        0);
    assert_string_equal(text + strlen(text) - strlen(option), option);
    free(text);
}

static void doubts_are_said(void **state)
{
    iw_memory_curve curve = made_curve();

    (void)state;
    assert_says(&curve, "12 times the caches of these cores (28 MiB)");
    assert_says(&curve, "10 of them do not count");
    curve.array_bytes = UINT64_C(14) << 20;
    assert_says(&curve, "0.5 times the caches");
    assert_says(&curve, "part of the data");
    curve.verdict = IW_MEMORY_UNCLEAR;
    assert_says(&curve, "unknown whether");
    curve.is_disturbed = true;
    assert_says(&curve, "because other processes used these CPUs");
    assert_says(&curve, "Too few windows are left");
    snprintf(curve.hypervisor, sizeof curve.hypervisor, "KVM");
    assert_says(&curve, "virtual machine (KVM)");
    curve.misfit = 0.2;
    curve.misfit_cores = 4;
    assert_says(&curve, "miss the measured value by 20.0 % at 4 cores");
}

static void memory_that_suffices_and_one_core_are_said(void **state)
{
    iw_memory_curve curve = made_curve();

    (void)state;
    curve.verdict = IW_MEMORY_SCALES;
    assert_says(&curve, "memory does not saturate\nhere.");
    curve.cores = 1;
    assert_says(&curve, "Only one core may be used here");
}

static void json_comes_back(void **state)
{
    const iw_memory_curve curve = made_curve();
    char *json = written(&curve, IW_DOC_JSON), *again = NULL;
    iw_doc_file *file = NULL;
    size_t size;
    FILE *out = open_memstream(&again, &size);

    (void)state;
    assert_non_null(strstr(json, "\"schema\": \"idlewave.memory/1\""));
    assert_non_null(strstr(json, "\"saturation\": \"saturates\""));
    assert_ok(iw_doc_read(NULL, "m.json", json, strlen(json), &file));
    assert_non_null(out);
    assert_ok(iw_doc_write(NULL, iw_doc_of(file), IW_DOC_JSON, NULL, out));
    assert_int_equal(fclose(out), 0);
    assert_string_equal(json, again);
    iw_doc_close(file);
    free(json);
    free(again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(saturation_is_said_first_and_what_to_write_last),
        cmocka_unit_test(doubts_are_said),
        cmocka_unit_test(memory_that_suffices_and_one_core_are_said),
        cmocka_unit_test(json_comes_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
