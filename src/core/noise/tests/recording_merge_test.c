/* Several recordings as one: side by side, and one behind the other.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "owners.h"

#include <stdlib.h>
#include <time.h>

enum { CASES = 200, MOST_INPUTS = 3 };

static void assert_refused(const iw_merge_input *inputs, size_t count, bool is_append, iw_status status,
                           const char *why)
{
    iw_recording *joined = NULL;
    struct iwt_log l;
    iw_edit edit;

    iwt_log_init(&l);
    assert_status(is_append ? iw_recording_append(&l.log, inputs, count, &joined, &edit)
                            : iw_recording_merge(&l.log, inputs, count, &joined, &edit),
                  status);
    assert_null(joined);
    iwt_assert_logged(&l, why);
}

/* ---- side by side ---- */

static void free_all(iw_recording **recordings, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        iw_recording_free(recordings[i]);
    }
}

static void every_cpu_can_be_cut_out_again(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        struct picker p = {seed, 0};
        const size_t count = (size_t)pick(&p, 1, MOST_INPUTS);
        iw_recording *recordings[MOST_INPUTS], *merged, *one;
        iw_merge_input inputs[MOST_INPUTS];
        size_t place = 0;
        iw_edit edit;

        for (size_t i = 0; i < count; i++) {
            recordings[i] = random_recording(&p);
            inputs[i] = (iw_merge_input){"input", recordings[i]};
        }
        assert_ok(iw_recording_merge(NULL, inputs, count, &merged, &edit));
        assert_sound(merged);
        assert_int_equal(edit.recording_count, count);
        for (size_t i = 0; i < count; i++) {
            for (size_t cpu = 0; cpu < recordings[i]->cpu_count; cpu++, place++) {
                iw_cut_opts opts = IW_CUT_OPTS_INIT;

                opts.cpus = &merged->cpus[place].cpu;
                opts.cpu_count = 1;
                assert_ok(iw_recording_cut(NULL, "merged", merged, &opts, &one, &edit));
                assert_int_equal(one->cpu_count, 1);
                assert_columns_equal(&one->cpus[0], &recordings[i]->cpus[cpu]);
                assert_same_owners(one, 0, recordings[i], cpu);
                assert_int_equal(one->cpus[0].length_ns, recordings[i]->cpus[cpu].length_ns);
                iw_recording_free(one);
            }
        }
        assert_int_equal(place, merged->cpu_count);
        iw_recording_free(merged);
        free_all(recordings, count);
    }
}

/* CPUs with these numbers. */
static iw_recording *numbered(size_t count, const uint32_t *numbers)
{
    iw_recording *recording = iwt_recording(count, 1000);

    for (size_t i = 0; i < count; i++) {
        recording->cpus[i].cpu = numbers[i];
    }
    return recording;
}

static void clashing_numbers_get_the_lowest_free_ones(void **state)
{
    iw_recording *a = numbered(3, (const uint32_t[]){0, 1, 4}), *b = numbered(3, (const uint32_t[]){1, 0, 2}),
                 *c = numbered(2, (const uint32_t[]){UINT32_MAX, 0}), *merged;
    const iw_merge_input inputs[] = {{"a.h5", a}, {"b.h5", b}, {"c.h5", c}};
    const uint32_t expected[] = {0, 1, 4, 3, 5, 2, UINT32_MAX, 6};
    iw_edit edit;

    (void)state;
    assert_ok(iw_recording_merge(NULL, inputs, 3, &merged, &edit));
    assert_int_equal(merged->cpu_count, 8);
    for (size_t i = 0; i < 8; i++) {
        assert_int_equal(merged->cpus[i].cpu, expected[i]);
    }
    assert_int_equal(edit.renumbered, 3);
    assert_string_equal(iw_recording_get(merged, "merged"),
                        "a.h5: 0-1, 4 | b.h5: 1 as 3, 0 as 5, 2 | c.h5: 4294967295, 0 as 6");
    iw_recording_free(merged);
    iw_recording_free(a);
    iw_recording_free(b);
    iw_recording_free(c);
}

static void numbers_that_do_not_clash_stay(void **state)
{
    iw_recording *a = numbered(2, (const uint32_t[]){0, 1}), *b = numbered(2, (const uint32_t[]){2, 3}),
                 *merged;
    const iw_merge_input inputs[] = {{"a.h5", a}, {"b.h5", b}};
    iw_edit edit;

    (void)state;
    assert_ok(iw_recording_merge(NULL, inputs, 2, &merged, &edit));
    assert_int_equal(edit.renumbered, 0);
    assert_int_equal(merged->cpus[3].cpu, 3);
    assert_string_equal(iw_recording_get(merged, "merged"), "a.h5: 0-1 | b.h5: 2-3");
    iw_recording_free(merged);
    iw_recording_free(a);
    iw_recording_free(b);
}

static void sources_are_joined_and_attributes_listed(void **state)
{
    iw_recording *a = iwt_recording(1, 1000), *b = iwt_recording(1, 500), *merged;
    const iw_merge_input inputs[] = {{"a", a}, {"b", b}, {"a", a}};
    const uint32_t tick_a = iwt_source(a, IW_CLASS_IRQ, "tick");
    uint32_t tick_b;
    iw_edit edit;

    (void)state;
    (void)iwt_source(b, IW_CLASS_THREAD, "tick");
    tick_b = iwt_source(b, IW_CLASS_IRQ, "tick");
    assert_int_not_equal(tick_a, tick_b);
    iwt_detour(a, 0, 10, 5, tick_a);
    iwt_detour(b, 0, 20, 6, tick_b);
    b->attribution = IW_ATTRIBUTION_LEVEL_SWITCHES;
    iwt_attribute(a, "host", "n1");
    iwt_attribute(b, "host", "n2");
    iwt_attribute(a, "kernel", "6.1");
    iwt_attribute(b, "kernel", "6.1");
    iwt_attribute(b, "governor", "powersave");
    iwt_attribute(a, "steal_ms", "1");
    iwt_attribute(a, "interrupts", "0:LOC=100");
    iwt_attribute(a, "kernel_events_lost", "7");
    iwt_attribute(b, "kernel_events_lost", "1000000");
    assert_ok(iw_recording_merge(NULL, inputs, 3, &merged, &edit));
    assert_int_equal(merged->source_count, 3);
    assert_int_equal(merged->cpus[0].source[0], merged->cpus[1].source[0]);
    assert_int_equal(merged->attribution, IW_ATTRIBUTION_LEVEL_SWITCHES);
    assert_int_equal(merged->cpus[1].length_ns, 500);
    assert_string_equal(iw_recording_get(merged, "host"), "n1 | n2");
    assert_string_equal(iw_recording_get(merged, "kernel"), "6.1");
    assert_string_equal(iw_recording_get(merged, "governor"), "powersave");
    assert_null(iw_recording_get(merged, "steal_ms"));
    assert_null(iw_recording_get(merged, "interrupts"));
    assert_string_equal(iw_recording_get(merged, "kernel_events_lost"), "1000014"); /* a is there twice */
    iw_recording_free(merged);
    iw_recording_free(a);
    iw_recording_free(b);
}

/* Numbers of sources 1 to `count`; the list is laid out by hand, since adding one looks at all before it. */
static iw_recording *with_sources(size_t count, size_t first_name)
{
    iw_recording *recording = iwt_recording(1, 1000);

    recording->sources = realloc(recording->sources, (count + 1) * sizeof *recording->sources);
    assert_non_null(recording->sources);
    for (size_t i = 1; i <= count; i++) {
        recording->sources[i] = (iw_source){.kind = IW_CLASS_THREAD};
        snprintf(recording->sources[i].name, sizeof recording->sources[i].name, "task%zu", first_name + i);
    }
    recording->source_count = count + 1;
    return recording;
}

/* As many as there are threads on a busy node in a day; looking for each among all would take 10^10 steps. */
static void many_sources_are_joined_soon(void **state)
{
    enum { SOURCES = 60000, SHARED = 1000 };
    iw_recording *a = with_sources(SOURCES, 0), *b = with_sources(SOURCES, SOURCES - SHARED), *merged;
    const iw_merge_input inputs[] = {{"a", a}, {"b", b}};
    clock_t begin;
    iw_edit edit;

    (void)state;
    iwt_detour(b, 0, 10, 5, 1);
    iwt_detour(b, 0, 20, 5, SOURCES);
    begin = clock();
    assert_ok(iw_recording_merge(NULL, inputs, 2, &merged, &edit));
    assert_true((double)(clock() - begin) < 5.0 * CLOCKS_PER_SEC);
    assert_int_equal(merged->source_count, 1 + 2 * SOURCES - SHARED);
    assert_int_equal(merged->cpus[1].source[0], SOURCES - SHARED + 1);
    assert_int_equal(merged->cpus[1].source[1], 2 * SOURCES - SHARED);
    iw_recording_free(merged);
    iw_recording_free(a);
    iw_recording_free(b);
}

static void long_lists_of_values_end(void **state)
{
    enum { INPUTS = 1000 };
    iw_recording *recordings[INPUTS], *merged;
    iw_merge_input inputs[INPUTS];
    char host[32];
    const char *hosts;
    iw_edit edit;

    (void)state;
    for (size_t i = 0; i < INPUTS; i++) {
        recordings[i] = iwt_recording(1, 1000);
        snprintf(host, sizeof host, "node%04zu", i);
        iwt_attribute(recordings[i], "host", host);
        inputs[i] = (iw_merge_input){"n.h5", recordings[i]};
    }
    assert_ok(iw_recording_merge(NULL, inputs, INPUTS, &merged, &edit));
    hosts = iw_recording_get(merged, "host");
    assert_true(strlen(hosts) < 5000);
    assert_string_equal(hosts + strlen(hosts) - 6, " | ...");
    assert_int_equal(merged->cpus[INPUTS - 1].cpu, INPUTS - 1);
    iw_recording_free(merged);
    free_all(recordings, INPUTS);
}

static void only_like_is_joined_with_like(void **state)
{
    iw_recording *a = iwt_recording(1, 1000), *b = iwt_recording(1, 1000);
    const iw_merge_input inputs[] = {{"a", a}, {"b", b}};

    (void)state;
    b->probe = IW_PROBE_FWQ;
    assert_refused(inputs, 2, false, IW_ERR_RANGE, "'b' was recorded with fwq, but 'a' with selfish");
    a->probe = IW_PROBE_FWQ;
    a->quantum_ns = 1000;
    b->quantum_ns = 2000;
    assert_refused(inputs, 2, true, IW_ERR_RANGE, "'b' has quanta of 2000 ns, but 'a' of 1000 ns");
    assert_refused(inputs, 0, false, IW_ERR_USAGE, "no recording");
    assert_refused(inputs, 0, true, IW_ERR_USAGE, "no recording");
    b->quantum_ns = 1000;
    b->cpus[0].length_ns = -1;
    assert_refused(inputs, 2, false, IW_ERR_RANGE, "'b': CPU 0");
    iw_recording_free(a);
    iw_recording_free(b);
}

static void too_many_cpus_are_refused(void **state)
{
    iw_recording *a = iwt_recording(40000, 1000);
    const iw_merge_input inputs[] = {{"a", a}, {"a", a}};

    (void)state;
    assert_refused(inputs, 2, false, IW_ERR_RANGE, "80000 CPUs are too many");
    iw_recording_free(a);
}

/* ---- one behind the other ---- */

static void the_second_goes_on_where_the_first_ends_on_all_cpus(void **state)
{
    iw_recording *a = iwt_recording(2, 1000), *b = iwt_recording(2, 300), *joined;
    const iw_merge_input inputs[] = {{"a", a}, {"b", b}};
    const uint32_t tick = iwt_source(b, IW_CLASS_IRQ, "tick");
    iw_edit edit;

    (void)state;
    a->cpus[1].length_ns = 800; /* shorter: all of a ends there */
    a->cpus[1].dropped = 5;
    a->cpus[0].dropped = 7;
    iwt_detour(a, 0, 790, 20, 0);
    iwt_detour(a, 0, 900, 20, 0);
    b->cpus[0].cpu = 1; /* in another order */
    b->cpus[1].cpu = 0;
    b->cpus[1].threshold_ns = 200.0;
    b->cpus[1].t_min_ns = 10.0;
    iwt_detour(b, 1, 30, 4, tick);
    iwt_detour(b, 0, 40, 5, tick);
    assert_ok(iw_recording_append(NULL, inputs, 2, &joined, &edit));
    assert_sound(joined);
    assert_int_equal(joined->cpus[0].length_ns, 1100);
    assert_int_equal(joined->cpus[0].count, 2);
    assert_int_equal(joined->cpus[0].duration_ns[0], 10);
    assert_int_equal(joined->cpus[0].start_ns[1], 830);
    assert_string_equal(joined->sources[joined->cpus[0].source[1]].name, "tick");
    assert_true(joined->cpus[0].threshold_ns == 200.0 && joined->cpus[0].t_min_ns == 10.0);
    assert_int_equal(joined->cpus[0].dropped, 0);
    assert_int_equal(joined->cpus[1].start_ns[0], 840);
    assert_int_equal(joined->cpus[1].dropped, 5);
    iw_recording_free(joined);
    iw_recording_free(a);
    iw_recording_free(b);
}

/* 50 of the tick up to the end, then 60 of the worker from the start. */
static void detours_that_meet_at_the_seam_become_one(void **state)
{
    iw_recording *a = iwt_recording(1, 1000), *b = iwt_recording(1, 1000), *joined;
    const iw_merge_input inputs[] = {{"a", a}, {"b", b}, {"a", a}};
    const uint32_t tick = iwt_source(a, IW_CLASS_IRQ, "tick"), worker = iwt_source(b, IW_CLASS_THREAD, "w");
    const iw_detours *cpu;
    iw_edit edit;

    (void)state;
    iwt_detour(a, 0, 950, 50, tick);
    iwt_detour(b, 0, 0, 60, worker);
    assert_ok(iw_recording_append(NULL, inputs, 3, &joined, &edit));
    assert_sound(joined);
    cpu = &joined->cpus[0];
    assert_int_equal(cpu->length_ns, 3000);
    assert_int_equal(cpu->count, 2);
    assert_int_equal(cpu->start_ns[0], 950);
    assert_int_equal(cpu->duration_ns[0], 110);
    assert_string_equal(joined->sources[cpu->source[0]].name, "w");
    assert_int_equal(cpu->part_count, 2);
    assert_int_equal(cpu->part_ns[0], 50);
    assert_int_equal(cpu->part_ns[1], 60);
    assert_int_equal(cpu->start_ns[1], 2950);
    iw_recording_free(joined);
    iw_recording_free(a);
    iw_recording_free(b);
}

static void samples_follow_each_other(void **state)
{
    iw_recording *a = iwt_recording(1, 100), *joined;
    const iw_merge_input inputs[] = {{"a", a}, {"a", a}};
    iw_edit edit;

    (void)state;
    a->probe = IW_PROBE_FTQ;
    iwt_sample(a, 0, 0, 5.0);
    iwt_sample(a, 0, 50, 6.0);
    iwt_sample(a, 0, 100, 7.0); /* behind the end */
    assert_ok(iw_recording_append(NULL, inputs, 2, &joined, &edit));
    assert_int_equal(joined->cpus[0].sample_count, 5);
    assert_int_equal(joined->cpus[0].sample_start_ns[2], 100);
    assert_true(joined->cpus[0].sample[3] == 6.0);
    assert_int_equal(joined->cpus[0].sample_start_ns[4], 200);
    iw_recording_free(joined);
    iw_recording_free(a);
}

static void other_cpus_and_too_long_times_are_refused(void **state)
{
    const int64_t hours_200_ns = INT64_C(200) * 3600 * 1000000000;
    iw_recording *a = numbered(2, (const uint32_t[]){0, 1}), *b = numbered(2, (const uint32_t[]){0, 2});
    const iw_merge_input inputs[] = {{"a", a}, {"b", b}}, same[] = {{"a", a}, {"a", a}};

    (void)state;
    assert_refused(inputs, 2, true, IW_ERR_RANGE, "'b' is of CPUs 0,2, but 'a' of CPUs 0-1");
    a->cpus[0].length_ns = a->cpus[1].length_ns = hours_200_ns;
    assert_refused(same, 2, true, IW_ERR_RANGE, "'a' would end after 240 h");
    iw_recording_free(a);
    iw_recording_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cpu_can_be_cut_out_again),
        cmocka_unit_test(clashing_numbers_get_the_lowest_free_ones),
        cmocka_unit_test(numbers_that_do_not_clash_stay),
        cmocka_unit_test(sources_are_joined_and_attributes_listed),
        cmocka_unit_test(many_sources_are_joined_soon),
        cmocka_unit_test(long_lists_of_values_end),
        cmocka_unit_test(only_like_is_joined_with_like),
        cmocka_unit_test(too_many_cpus_are_refused),
        cmocka_unit_test(the_second_goes_on_where_the_first_ends_on_all_cpus),
        cmocka_unit_test(detours_that_meet_at_the_seam_become_one),
        cmocka_unit_test(samples_follow_each_other),
        cmocka_unit_test(other_cpus_and_too_long_times_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
