/* Recordings in memory: sources found again, attributes replaced, names of enums.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include <idlewave/recording.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/support.h"

static iw_recording *new_recording(size_t cpu_count)
{
    iw_recording *recording;

    assert_ok(iw_recording_new(NULL, cpu_count, &recording));
    return recording;
}

static uint32_t source(iw_recording *recording, iw_class kind, const char *name)
{
    uint32_t number = UINT32_MAX;

    assert_ok(iw_recording_source(NULL, recording, kind, name, &number));
    return number;
}

static void a_new_recording_has_no_detours_and_one_unknown_source(void **state)
{
    iw_recording *recording = new_recording(3);

    (void)state;
    assert_int_equal(recording->cpu_count, 3);
    assert_int_equal(recording->cpus[2].count, 0);
    assert_null(recording->cpus[2].start_ns);
    assert_int_equal(recording->source_count, 1);
    assert_int_equal(recording->sources[0].kind, IW_CLASS_UNKNOWN);
    assert_string_equal(recording->sources[0].name, "");
    assert_int_equal(recording->attribute_count, 0);
    iw_recording_free(recording);
}

static void sources_are_added_once(void **state)
{
    iw_recording *recording = new_recording(1);

    (void)state;
    assert_int_equal(source(recording, IW_CLASS_UNKNOWN, ""), 0);
    assert_int_equal(source(recording, IW_CLASS_THREAD, "kworker/0:1"), 1);
    assert_int_equal(source(recording, IW_CLASS_IRQ, "kworker/0:1"), 2); /* another class */
    assert_int_equal(source(recording, IW_CLASS_THREAD, "kworker/0:1"), 1);
    assert_int_equal(recording->source_count, 3);
    iw_recording_free(recording);
}

static void many_sources_keep_their_numbers(void **state)
{
    iw_recording *recording = new_recording(1);
    char name[16];

    (void)state;
    for (uint32_t i = 1; i < 200; i++) {
        snprintf(name, sizeof name, "irq%u", i);
        assert_int_equal(source(recording, IW_CLASS_IRQ, name), i);
    }
    assert_int_equal(source(recording, IW_CLASS_IRQ, "irq77"), 77);
    iw_recording_free(recording);
}

static void a_long_name_is_cut_and_found_again(void **state)
{
    iw_recording *recording = new_recording(1);
    char name[200];

    (void)state;
    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = '\0';
    assert_int_equal(source(recording, IW_CLASS_THREAD, name), 1);
    assert_int_equal(strlen(recording->sources[1].name), IW_SOURCE_NAME_SIZE - 1);
    assert_int_equal(source(recording, IW_CLASS_THREAD, name), 1);
    iw_recording_free(recording);
}

static void attributes_keep_their_order_when_replaced(void **state)
{
    iw_recording *recording = new_recording(0);
    char value[] = "first";

    (void)state;
    assert_ok(iw_recording_set(NULL, recording, "host", value));
    assert_ok(iw_recording_set(NULL, recording, "kernel", "6.1"));
    value[0] = 'F'; /* what was set is a copy */
    assert_string_equal(iw_recording_get(recording, "host"), "first");
    assert_ok(iw_recording_set(NULL, recording, "host", "second"));
    assert_int_equal(recording->attribute_count, 2);
    assert_string_equal(recording->attributes[0].name, "host");
    assert_string_equal(recording->attributes[0].value, "second");
    assert_null(iw_recording_get(recording, "hos"));
    /* its own value */
    assert_ok(iw_recording_set(NULL, recording, "host", iw_recording_get(recording, "host")));
    assert_string_equal(iw_recording_get(recording, "host"), "second");
    iw_recording_free(recording);
}

static void freeing_releases_all_arrays(void **state)
{
    iw_recording *recording = new_recording(2);
    iw_detours *cpu = &recording->cpus[1];

    (void)state; /* the leak checker looks on */
    cpu->start_ns = calloc(1, sizeof *cpu->start_ns);
    cpu->duration_ns = calloc(1, sizeof *cpu->duration_ns);
    cpu->source = calloc(1, sizeof *cpu->source);
    cpu->part_detour = calloc(1, sizeof *cpu->part_detour);
    cpu->part_source = calloc(1, sizeof *cpu->part_source);
    cpu->part_ns = calloc(1, sizeof *cpu->part_ns);
    cpu->sample_start_ns = calloc(1, sizeof *cpu->sample_start_ns);
    cpu->sample = calloc(1, sizeof *cpu->sample);
    iw_recording_free(recording);
    iw_recording_free(NULL);
}

static void enums_have_names(void **state)
{
    (void)state;
    assert_string_equal(iw_class_name(IW_CLASS_UNKNOWN), "unknown");
    assert_string_equal(iw_class_name(IW_CLASS_SOFTIRQ), "softirq");
    assert_string_equal(iw_class_name(IW_CLASS_HARDWARE), "hardware");
    assert_string_equal(iw_class_name((iw_class)99), "unknown");
    assert_string_equal(iw_attribution_level_name(IW_ATTRIBUTION_LEVEL_NONE), "none");
    assert_string_equal(iw_attribution_level_name(IW_ATTRIBUTION_LEVEL_OSNOISE), "osnoise");
    assert_string_equal(iw_probe_name(IW_PROBE_SELFISH), "selfish");
    assert_string_equal(iw_probe_name(IW_PROBE_FTQ), "ftq");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_recording_has_no_detours_and_one_unknown_source),
        cmocka_unit_test(sources_are_added_once),
        cmocka_unit_test(many_sources_keep_their_numbers),
        cmocka_unit_test(a_long_name_is_cut_and_found_again),
        cmocka_unit_test(attributes_keep_their_order_when_replaced),
        cmocka_unit_test(freeing_releases_all_arrays),
        cmocka_unit_test(enums_have_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
