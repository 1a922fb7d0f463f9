/* Parts of recordings: what stays is where it was, what goes is gone, nothing else changes.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "owners.h"

enum { CASES = 300 };

static iw_recording *cut_counting(const iw_recording *recording, const iw_cut_opts *opts, iw_edit *edit)
{
    iw_recording *part = NULL;
    struct iwt_log l;

    iwt_log_init(&l);
    if (iw_recording_cut(&l.log, "node", recording, opts, &part, edit) != IW_OK) {
        fail_msg("%s", l.text);
    }
    assert_sound(part);
    return part;
}

static iw_recording *cut(const iw_recording *recording, const iw_cut_opts *opts)
{
    iw_edit edit;

    return cut_counting(recording, opts, &edit);
}

static uint64_t detours_of(const iw_recording *recording)
{
    uint64_t count = 0;

    for (size_t i = 0; i < recording->cpu_count; i++) {
        count += recording->cpus[i].count;
    }
    return count;
}

static void assert_refused(const iw_recording *recording, const iw_cut_opts *opts, iw_status status,
                           const char *why)
{
    iw_recording *part = NULL;
    struct iwt_log l;
    iw_edit edit;

    iwt_log_init(&l);
    assert_status(iw_recording_cut(&l.log, "node", recording, opts, &part, &edit), status);
    assert_null(part);
    iwt_assert_logged(&l, why);
}

/* ---- properties ---- */

static void cut_to_everything_is_the_same(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        struct picker p = {seed, 0};
        iw_recording *recording = random_recording(&p), *same;
        const iw_cut_opts opts = IW_CUT_OPTS_INIT;

        iwt_attribute(recording, "host", "node07");
        iwt_attribute(recording, "steal_ms", "12");
        same = cut(recording, &opts);
        assert_int_equal(same->cpu_count, recording->cpu_count);
        assert_int_equal(same->attribution, recording->attribution);
        assert_int_equal(same->source_count, recording->source_count);
        assert_memory_equal(same->sources, recording->sources, same->source_count * sizeof *same->sources);
        assert_string_equal(iw_recording_get(same, "host"), "node07");
        assert_string_equal(iw_recording_get(same, "steal_ms"), "12");
        for (size_t i = 0; i < same->cpu_count; i++) {
            const iw_detours *a = &recording->cpus[i], *b = &same->cpus[i];

            assert_columns_equal(a, b);
            assert_int_equal(a->length_ns, b->length_ns);
            assert_int_equal(a->dropped, b->dropped);
            assert_int_equal(a->part_count, b->part_count);
            assert_memory_equal(a->source, b->source, a->count * sizeof *a->source);
            for (size_t k = 0; k < a->part_count; k++) {
                assert_int_equal(a->part_detour[k], b->part_detour[k]);
                assert_int_equal(a->part_source[k], b->part_source[k]);
                assert_int_equal(a->part_ns[k], b->part_ns[k]);
            }
        }
        iw_recording_free(same);
        iw_recording_free(recording);
    }
}

static void a_window_shows_what_was_there(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        struct picker p = {seed, 0};
        iw_recording *recording = random_recording(&p), *part = NULL;
        iw_cut_opts opts = IW_CUT_OPTS_INIT;
        iw_edit edit;

        opts.from_ns = pick(&p, 0, 199); /* all CPUs last for 200 ns */
        opts.to_ns = pick(&p, opts.from_ns + 1, 450);
        if (iw_recording_cut(NULL, "node", recording, &opts, &part, &edit) != IW_OK) {
            iw_recording_free(recording); /* nothing was in there */
            continue;
        }
        assert_sound(part);
        for (size_t cpu = 0; cpu < part->cpu_count; cpu++) {
            const struct owners before = owners_of(recording, cpu), after = owners_of(part, cpu);
            const int64_t end = iwi_min(opts.to_ns, recording->cpus[cpu].length_ns);

            assert_int_equal(part->cpus[cpu].length_ns, end - opts.from_ns);
            for (int64_t at = 0; at < OWNERS_MOST_NS; at++) {
                const int64_t then = at + opts.from_ns;

                assert_int_equal(after.code[at], then < end ? before.code[then] : FREE);
            }
        }
        iw_recording_free(part);
        iw_recording_free(recording);
    }
}

/* A cut may leave nothing to see, which is refused; here that is as good as an empty recording. */
static iw_recording *half(const iw_recording *recording, int64_t from_ns, int64_t to_ns)
{
    iw_cut_opts opts = IW_CUT_OPTS_INIT;
    iw_recording *part = NULL;
    iw_edit edit;

    opts.from_ns = from_ns;
    opts.to_ns = to_ns;
    return iw_recording_cut(NULL, "node", recording, &opts, &part, &edit) == IW_OK ? part : NULL;
}

static void halves_appended_are_the_whole(void **state)
{
    int compared = 0;

    (void)state;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        struct picker p = {seed, 0};
        iw_recording *recording = random_recording(&p), *joined;
        const int64_t at = pick(&p, 1, 199);
        iw_recording *first = half(recording, 0, at), *second = half(recording, at, INT64_MAX);
        const iw_merge_input inputs[] = {{"first", first}, {"second", second}};
        iw_edit edit;

        if (first != NULL && second != NULL) {
            assert_ok(iw_recording_append(NULL, inputs, 2, &joined, &edit));
            assert_sound(joined);
            assert_int_equal(joined->cpu_count, recording->cpu_count);
            for (size_t cpu = 0; cpu < joined->cpu_count; cpu++) {
                assert_columns_equal(&joined->cpus[cpu], &recording->cpus[cpu]);
                assert_same_owners(joined, cpu, recording, cpu);
                assert_int_equal(joined->cpus[cpu].length_ns, recording->cpus[cpu].length_ns);
                assert_int_equal(joined->cpus[cpu].dropped, recording->cpus[cpu].dropped);
            }
            iw_recording_free(joined);
            compared++;
        }
        iw_recording_free(first);
        iw_recording_free(second);
        iw_recording_free(recording);
    }
    assert_true(compared > CASES / 2);
}

/* What others had is theirs still, at the same time; what the source had is free. */
static void assert_dropped(const iw_recording *rest, const iw_recording *recording, int code)
{
    for (size_t cpu = 0; cpu < rest->cpu_count; cpu++) {
        const struct owners before = owners_of(recording, cpu), after = owners_of(rest, cpu);

        for (size_t at = 0; at < OWNERS_MOST_NS; at++) {
            assert_int_equal(after.code[at], before.code[at] != code ? before.code[at] : FREE);
        }
    }
}

/* Detours that are not this source's alone. */
static uint64_t left_without(const iw_recording *recording, int code)
{
    uint64_t left = 0;

    for (size_t cpu = 0; cpu < recording->cpu_count; cpu++) {
        const iw_detours *d = &recording->cpus[cpu];
        const struct owners owners = owners_of(recording, cpu);

        for (size_t i = 0; i < d->count; i++) {
            int64_t at = d->start_ns[i];
            const int64_t end = at + d->duration_ns[i];

            while (at < end && owners.code[at] == code) {
                at++;
            }
            left += at < end;
        }
    }
    return left;
}

static void dropping_a_source_takes_its_time_and_moves_nothing(void **state)
{
    int compared = 0, split = 0;

    (void)state;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        struct picker p = {seed, 0};
        iw_recording *recording = random_recording(&p), *rest;
        const iw_source source = recording->sources[pick(&p, 1, (int64_t)recording->source_count - 1)];
        const char *const names[] = {source.name};
        iw_cut_opts opts = IW_CUT_OPTS_INIT;
        iw_edit edit;

        opts.drop = names;
        opts.drop_count = 1;
        if (time_without(recording, code_of(&source)) > 0) {
            rest = cut_counting(recording, &opts, &edit);
            assert_int_equal(edit.detour_count, detours_of(recording));
            assert_int_equal(edit.kept_count, left_without(recording, code_of(&source)));
            assert_true(edit.kept_count <= edit.detour_count);
            assert_true(edit.kept_count <= detours_of(rest)); /* one may have come apart */
            split += edit.kept_count < detours_of(rest);
            assert_int_equal(time_without(rest, FREE), time_without(recording, code_of(&source)));
            assert_int_equal(rest->source_count, recording->source_count - 1);
            assert_dropped(rest, recording, code_of(&source));
            iw_recording_free(rest);
            compared++;
        }
        iw_recording_free(recording);
    }
    assert_true(compared > CASES / 2 && split > 0);
}

static void keeping_a_source_is_dropping_all_others(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        struct picker p = {seed, 0};
        iw_recording *recording = random_recording(&p), *rest;
        const iw_source source = recording->sources[pick(&p, 1, (int64_t)recording->source_count - 1)];
        const int64_t own_ns = time_without(recording, FREE) - time_without(recording, code_of(&source));
        const char *const names[] = {source.name};
        iw_cut_opts opts = IW_CUT_OPTS_INIT;

        opts.keep = names;
        opts.keep_count = 1;
        if (own_ns > 0) {
            rest = cut(recording, &opts);
            assert_int_equal(time_without(rest, FREE), own_ns);
            assert_int_equal(time_without(rest, code_of(&source)), 0);
            iw_recording_free(rest);
        }
        iw_recording_free(recording);
    }
}

/* ---- by hand ---- */

/* CPU 2: a tick at 100 for 10; at 200 for 100 a tick of 10, a worker of 60, a tick of 10, the rest the
 * worker's; at 500 the hypervisor for 50. CPU 5: a worker at 300 for 20. */
static iw_recording *sample(void)
{
    iw_recording *recording = iwt_recording(2, 1000);
    const uint32_t tick = iwt_source(recording, IW_CLASS_IRQ, "tick"),
                   worker = iwt_source(recording, IW_CLASS_THREAD, "kworker/1:2"),
                   host = iwt_source(recording, IW_CLASS_HARDWARE, "");

    recording->cpus[0].cpu = 2;
    recording->cpus[1].cpu = 5;
    iwt_detour(recording, 0, 100, 10, tick);
    iwt_detour(recording, 0, 200, 100, worker);
    iwt_part(recording, 0, tick, 10);
    iwt_part(recording, 0, worker, 60);
    iwt_part(recording, 0, tick, 10);
    iwt_detour(recording, 0, 500, 50, host);
    iwt_detour(recording, 1, 300, 20, worker);
    return recording;
}

static void a_straddling_detour_is_clipped_with_its_parts(void **state)
{
    iw_recording *recording = sample(), *part;
    iw_cut_opts opts = IW_CUT_OPTS_INIT;
    const iw_detours *cpu;

    (void)state;
    opts.from_ns = 260; /* the worker has 10 left, then the tick 10, then the worker 15 of 20 */
    opts.to_ns = 295;
    opts.cpus = (const uint32_t[]){2};
    opts.cpu_count = 1;
    part = cut(recording, &opts);
    cpu = &part->cpus[0];
    assert_int_equal(part->cpu_count, 1);
    assert_int_equal(cpu->cpu, 2);
    assert_int_equal(cpu->length_ns, 35);
    assert_int_equal(cpu->count, 1);
    assert_int_equal(cpu->start_ns[0], 0);
    assert_int_equal(cpu->duration_ns[0], 35);
    assert_string_equal(part->sources[cpu->source[0]].name, "kworker/1:2");
    assert_int_equal(cpu->part_count, 3);
    assert_int_equal(cpu->part_ns[0], 10);
    assert_string_equal(part->sources[cpu->part_source[1]].name, "tick");
    assert_int_equal(cpu->part_ns[1], 10);
    assert_int_equal(cpu->part_ns[2], 15);
    iw_recording_free(part);
    iw_recording_free(recording);
}

static void what_is_dropped_out_of_a_detour_leaves_a_hole(void **state)
{
    iw_recording *recording = sample(), *part;
    const char *const names[] = {"thread/kworker*"};
    iw_cut_opts opts = IW_CUT_OPTS_INIT;

    (void)state;
    opts.drop = names;
    opts.drop_count = 1;
    part = cut(recording, &opts);
    assert_int_equal(part->cpus[0].count, 4);
    for (size_t i = 1; i <= 2; i++) { /* from 210 on the worker had 60 */
        assert_int_equal(part->cpus[0].start_ns[i], i == 1 ? 200 : 270);
        assert_int_equal(part->cpus[0].duration_ns[i], 10);
        assert_string_equal(part->sources[part->cpus[0].source[i]].name, "tick");
    }
    assert_int_equal(part->cpus[0].part_count, 0); /* one source alone needs no parts */
    assert_int_equal(part->cpus[1].count, 0);
    iw_recording_free(part);
    iw_recording_free(recording);
}

static void sources_are_meant_by_name_class_or_pattern(void **state)
{
    static const struct {
        const char *text;
        int64_t left_ns; /* of 180: ticks 30, workers 100, the host 50 */
    } rows[] = {{"tick", 150},
                {"irq", 150},
                {"irq/tick", 150},
                {"kworker/1:2", 80},
                {"kworker*", 80},
                {"hardware", 130},
                {"hardware/", 130},
                {"t*", 50},
                {"thread/kworker/1:2", 80},
                {"irq tick", 150},
                {"thread kworker/1:2", 80},
                {"kernel thread kworker/1:2", 80}};
    iw_recording *recording = sample();

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        iw_cut_opts opts = IW_CUT_OPTS_INIT;
        iw_recording *part;

        opts.drop = &rows[i].text;
        opts.drop_count = 1;
        part = cut(recording, &opts);
        assert_int_equal(time_without(part, FREE), rows[i].left_ns);
        iw_recording_free(part);
    }
    iw_recording_free(recording);
}

static void the_unknown_source_keeps_its_number_when_dropped(void **state)
{
    iw_recording *recording = sample(), *part;
    const char *const names[] = {"unknown"};
    iw_cut_opts opts = IW_CUT_OPTS_INIT;

    (void)state;
    iwt_detour(recording, 1, 400, 7, 0);
    opts.drop = names;
    opts.drop_count = 1;
    part = cut(recording, &opts);
    assert_int_equal(part->source_count, 4);
    assert_int_equal(time_without(part, FREE), 180);
    iw_recording_free(part);
    iw_recording_free(recording);
}

static void short_detours_go_and_the_threshold_rises(void **state)
{
    iw_recording *recording = sample(), *part;
    const char *const names[] = {"kworker*"};
    iw_cut_opts opts = IW_CUT_OPTS_INIT;
    iw_edit edit;

    (void)state;
    opts.drop = names;
    opts.drop_count = 1;
    opts.at_least_ns = 30; /* also of what the drop leaves */
    assert_ok(iw_recording_cut(NULL, "node", recording, &opts, &part, &edit));
    assert_int_equal(time_without(part, FREE), 50);
    assert_true(part->cpus[0].threshold_ns == 180.0); /* higher already */
    assert_int_equal(edit.detour_count, 4);
    assert_int_equal(edit.cpu_count, 2);
    assert_true(edit.busy_ns == 180.0 && edit.watched_ns == 2000.0);
    iw_recording_free(part);
    recording->cpus[0].threshold_ns = 12.5;
    part = cut(recording, &opts);
    assert_true(part->cpus[0].threshold_ns == 30.0);
    iw_recording_free(part);
    iw_recording_free(recording);
}

static void facts_about_the_whole_do_not_describe_a_part(void **state)
{
    iw_recording *recording = sample(), *part;
    iw_cut_opts opts = IW_CUT_OPTS_INIT;

    (void)state;
    iwt_attribute(recording, "kernel", "6.1");
    iwt_attribute(recording, "steal_ms", "2:12,5:0");
    iwt_attribute(recording, "interrupts", "2:LOC=100;5:LOC=90");
    iwt_attribute(recording, "kernel_events_lost", "7");
    recording->cpus[0].dropped = 3;
    opts.to_ns = 999;
    part = cut(recording, &opts);
    assert_string_equal(iw_recording_get(part, "kernel"), "6.1");
    assert_null(iw_recording_get(part, "steal_ms"));
    assert_null(iw_recording_get(part, "interrupts"));
    assert_string_equal(iw_recording_get(part, "kernel_events_lost"), "7"); /* sources may still be missing */
    assert_int_equal(part->cpus[0].dropped, 0);                             /* they lie behind the end */
    iw_recording_free(part);
    iw_recording_free(recording);
}

static void samples_belong_to_the_time_in_which_they_start(void **state)
{
    iw_recording *recording = iwt_recording(1, 1000), *part;
    const char *const names[] = {"irq"};
    iw_cut_opts opts = IW_CUT_OPTS_INIT;

    (void)state;
    recording->probe = IW_PROBE_FWQ;
    recording->quantum_ns = 100;
    for (int64_t i = 0; i < 10; i++) {
        iwt_sample(recording, 0, 100 * i, 100.0 + (double)i);
    }
    opts.from_ns = 150;
    opts.to_ns = 400;
    part = cut(recording, &opts);
    assert_int_equal(part->quantum_ns, 100);
    assert_int_equal(part->cpus[0].sample_count, 2);
    assert_int_equal(part->cpus[0].sample_start_ns[0], 50);
    assert_true(part->cpus[0].sample[0] == 102.0);
    opts.from_ns = 110;
    opts.to_ns = 120;
    assert_refused(recording, &opts, IW_ERR_RANGE, "no sample of 'node' starts in that time");
    opts.drop = names;
    opts.drop_count = 1;
    assert_refused(recording, &opts, IW_ERR_USAGE, "cut it by time and CPU only");
    iw_recording_free(part);
    iw_recording_free(recording);
}

static void what_is_not_there_is_refused_with_what_is(void **state)
{
    iw_recording *recording = sample();
    const char *const wrong[] = {"tock"}, *const all[] = {"*"};
    iw_cut_opts opts = IW_CUT_OPTS_INIT;

    (void)state;
    opts.cpus = (const uint32_t[]){2, 3};
    opts.cpu_count = 2;
    assert_refused(recording, &opts, IW_ERR_RANGE, "'node' has no CPU 3; it has 2,5");
    opts = (iw_cut_opts)IW_CUT_OPTS_INIT;
    opts.drop = wrong;
    opts.drop_count = 1;
    assert_refused(recording, &opts, IW_ERR_RANGE,
                   "'node' has no source 'tock'; it has irq/tick, thread/kworker/1:2, hardware");
    opts.drop = all;
    assert_refused(recording, &opts, IW_ERR_RANGE, "nothing is left of the 4 detours of 'node'");
    opts = (iw_cut_opts)IW_CUT_OPTS_INIT;
    opts.from_ns = 1000;
    assert_refused(recording, &opts, IW_ERR_RANGE, "'node' ends before that, after 1.000 us");
    opts.from_ns = 700;
    assert_refused(recording, &opts, IW_ERR_RANGE, "nothing is left of the 4 detours");
    opts.to_ns = 700;
    assert_refused(recording, &opts, IW_ERR_RANGE, "write a later end");
    iw_recording_free(recording);
}

static void broken_recordings_are_refused(void **state)
{
    iw_recording *recording = sample();
    const iw_cut_opts opts = IW_CUT_OPTS_INIT;

    (void)state;
    recording->cpus[0].part_source[1] = 99;
    assert_refused(recording, &opts, IW_ERR_RANGE, "part 1");
    iw_recording_free(recording);
}

static void a_quiet_recording_can_be_cut(void **state)
{
    iw_recording *recording = iwt_recording(1, 1000), *part;
    iw_cut_opts opts = IW_CUT_OPTS_INIT;

    (void)state;
    opts.to_ns = 100;
    part = cut(recording, &opts);
    assert_int_equal(part->cpus[0].length_ns, 100);
    iw_recording_free(part);
    iw_recording_free(recording);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cut_to_everything_is_the_same),
        cmocka_unit_test(a_window_shows_what_was_there),
        cmocka_unit_test(halves_appended_are_the_whole),
        cmocka_unit_test(dropping_a_source_takes_its_time_and_moves_nothing),
        cmocka_unit_test(keeping_a_source_is_dropping_all_others),
        cmocka_unit_test(a_straddling_detour_is_clipped_with_its_parts),
        cmocka_unit_test(what_is_dropped_out_of_a_detour_leaves_a_hole),
        cmocka_unit_test(sources_are_meant_by_name_class_or_pattern),
        cmocka_unit_test(the_unknown_source_keeps_its_number_when_dropped),
        cmocka_unit_test(short_detours_go_and_the_threshold_rises),
        cmocka_unit_test(facts_about_the_whole_do_not_describe_a_part),
        cmocka_unit_test(samples_belong_to_the_time_in_which_they_start),
        cmocka_unit_test(what_is_not_there_is_refused_with_what_is),
        cmocka_unit_test(broken_recordings_are_refused),
        cmocka_unit_test(a_quiet_recording_can_be_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
