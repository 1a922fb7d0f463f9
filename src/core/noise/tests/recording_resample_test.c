/* Recordings drawn anew: stretches of the old one, the same for all CPUs, and nothing else.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/noise/recording_cut.h"
#include <stdlib.h>

#include "owners.h"

enum { CASES = 200, BLOCKS = 10, BLOCK_NS = 20 }; /* random recordings have CPUs of at least 200 ns */

static iw_recording *resample(const iw_recording *recording, uint64_t seed, uint64_t replicate)
{
    iw_recording *made = NULL;
    struct iwt_log l;

    iwt_log_init(&l);
    if (iw_recording_resample(&l.log, "node", recording, BLOCKS, seed, replicate, &made) != IW_OK) {
        fail_msg("%s", l.text);
    }
    assert_sound(made);
    return made;
}

/* All CPUs end after 200 ns. */
static iw_recording *random_even_recording(struct picker *p)
{
    iw_recording *whole = random_recording(p), *part = NULL;
    iw_cut_opts opts = IW_CUT_OPTS_INIT;
    iw_edit edit;

    opts.to_ns = BLOCKS * BLOCK_NS;
    assert_ok(iw_recording_cut(NULL, "node", whole, &opts, &part, &edit));
    iw_recording_free(whole);
    return part;
}

/* Whether stretch `block` of one is at `place` of the other, on all CPUs. */
static bool is_block(const iw_recording *made, size_t place, const iw_recording *from, size_t block)
{
    for (size_t cpu = 0; cpu < from->cpu_count; cpu++) {
        const struct owners before = owners_of(from, cpu), after = owners_of(made, cpu);

        if (memcmp(&after.code[place * BLOCK_NS], &before.code[block * BLOCK_NS], BLOCK_NS * sizeof(int)) !=
            0) {
            return false;
        }
    }
    return true;
}

/* Detours that straddle the end of a stretch, those with parts too, are clipped there: nanosecond by
 * nanosecond a stretch is what it was. */
static void each_stretch_is_one_of_the_old_ones_on_all_cpus(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        struct picker p = {seed, 0};
        iw_recording *recording = random_even_recording(&p), *made = resample(recording, seed, 1);

        assert_int_equal(made->cpu_count, recording->cpu_count);
        for (size_t place = 0; place < BLOCKS; place++) {
            bool is_found = false;

            for (size_t block = 0; block < BLOCKS; block++) {
                is_found |= is_block(made, place, recording, block);
            }
            assert_true(is_found);
        }
        iw_recording_free(made);
        iw_recording_free(recording);
    }
}

/* Each stretch has a detour of its own length, so that one sees which was drawn. */
static iw_recording *numbered_recording(void)
{
    iw_recording *recording = iwt_recording(2, 100 * 1000);
    const uint32_t source = iwt_source(recording, IW_CLASS_IRQ, "x");

    for (size_t cpu = 0; cpu < 2; cpu++) {
        for (int64_t block = 0; block < 100; block++) {
            iwt_detour(recording, cpu, block * 1000 + 200, block + 1, source);
        }
    }
    return recording;
}

static void stretches_are_drawn_evenly_and_with_replacement(void **state)
{
    iw_recording *recording = numbered_recording();
    uint64_t drawn[100] = {0}, missing = 0;

    (void)state;
    for (uint64_t replicate = 1; replicate <= 100; replicate++) {
        bool is_there[100] = {false};
        iw_recording *made = NULL;

        assert_ok(iw_recording_resample(NULL, "node", recording, 100, 3, replicate, &made));
        assert_int_equal(made->cpus[0].length_ns, 100 * 1000);
        assert_int_equal(made->cpus[0].count, 100);
        for (size_t i = 0; i < 100; i++) {
            const int64_t block = made->cpus[0].duration_ns[i] - 1;

            assert_int_equal(made->cpus[0].start_ns[i], 1000 * (int64_t)i + 200);
            assert_int_equal(made->cpus[1].duration_ns[i], block + 1);
            drawn[block]++;
            is_there[block] = true;
        }
        for (size_t i = 0; i < 100; i++) {
            missing += !is_there[i];
        }
        iw_recording_free(made);
    }
    for (size_t i = 0; i < 100; i++) {
        assert_in_range(drawn[i], 60, 140); /* 100 on average, +- 4 deviations of 10 */
    }
    assert_in_range(missing, 3460, 3860); /* (1 - 1/100)^100 = 36.6 % of 10,000 */
    iw_recording_free(recording);
}

static void the_draw_follows_from_seed_and_replicate(void **state)
{
    struct picker p = {7, 0};
    iw_recording *recording = random_even_recording(&p);
    iw_recording *a = resample(recording, 5, 2), *same = resample(recording, 5, 2),
                 *other = resample(recording, 5, 3), *another = resample(recording, 6, 2);

    (void)state;
    assert_same_owners(a, 0, same, 0);
    assert_false(memcmp(&(struct owners[]){owners_of(a, 0)}, &(struct owners[]){owners_of(other, 0)},
                        sizeof(struct owners)) == 0);
    assert_false(memcmp(&(struct owners[]){owners_of(a, 0)}, &(struct owners[]){owners_of(another, 0)},
                        sizeof(struct owners)) == 0);
    iw_recording_free(a);
    iw_recording_free(same);
    iw_recording_free(other);
    iw_recording_free(another);
    iw_recording_free(recording);
}

/* Nothing is left of time that is free of the source in both orders. */
static void dropping_a_source_before_or_after_is_the_same(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        struct picker p = {seed, 0};
        iw_recording *recording = random_even_recording(&p), *drawn = resample(recording, seed, 1);
        bool *is_dropped = calloc(recording->source_count, sizeof(bool));
        iw_recording *before = NULL, *first = NULL, *last = NULL;

        assert_non_null(is_dropped);
        is_dropped[pick(&p, 0, (int64_t)recording->source_count - 1)] = true;
        assert_ok(iwi_recording_drop(NULL, drawn, is_dropped, &last));
        assert_ok(iwi_recording_drop(NULL, recording, is_dropped, &before));
        first = resample(before, seed, 1);
        for (size_t cpu = 0; cpu < recording->cpu_count; cpu++) {
            assert_same_owners(first, cpu, last, cpu);
        }
        free(is_dropped);
        iw_recording_free(first);
        iw_recording_free(before);
        iw_recording_free(last);
        iw_recording_free(drawn);
        iw_recording_free(recording);
    }
}

/* Also where a file lists one twice. */
static void sources_keep_their_numbers(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        struct picker p = {seed, 0};
        iw_recording *recording = random_even_recording(&p), *made;

        if (recording->source_count > 3) {
            recording->sources[2] = recording->sources[1];
        }
        made = resample(recording, seed, 1);
        assert_int_equal(made->source_count, recording->source_count);
        for (size_t i = 0; i < made->source_count; i++) {
            assert_int_equal(made->sources[i].kind, recording->sources[i].kind);
            assert_string_equal(made->sources[i].name, recording->sources[i].name);
        }
        iw_recording_free(made);
        iw_recording_free(recording);
    }
}

/* 1005 ns in 10 stretches are 100 ns each: the last 5 ns are never drawn; the longer CPU ends there too. */
static void the_length_is_that_of_the_shortest_cpu_but_for_a_few_ns(void **state)
{
    iw_recording *recording = iwt_recording(2, 1005), *made = NULL;

    (void)state;
    recording->cpus[1].length_ns = 4000;
    iwt_detour(recording, 0, 1000, 5, 0);
    iwt_detour(recording, 1, 2000, 50, 0);
    assert_ok(iw_recording_resample(NULL, "node", recording, 10, 1, 1, &made));
    for (size_t cpu = 0; cpu < 2; cpu++) {
        assert_int_equal(made->cpus[cpu].length_ns, 1000);
        assert_int_equal(made->cpus[cpu].count, 0);
    }
    iw_recording_free(made);
    iw_recording_free(recording);
}

static void assert_refused(const iw_recording *recording, size_t blocks, iw_status status, const char *why)
{
    iw_recording *made = NULL;
    struct iwt_log l;

    iwt_log_init(&l);
    assert_status(iw_recording_resample(&l.log, "node", recording, blocks, 1, 1, &made), status);
    assert_null(made);
    iwt_assert_logged(&l, why);
}

static void what_cannot_be_drawn_anew_is_refused(void **state)
{
    iw_recording *recording = iwt_recording(1, 100);

    (void)state;
    iwt_detour(recording, 0, 10, 5, 0);
    assert_refused(recording, 1, IW_ERR_RANGE, "'node' of 100 ns cannot be cut into 1 stretches");
    assert_refused(recording, 101, IW_ERR_RANGE, "101 stretches");
    recording->probe = IW_PROBE_FTQ;
    recording->quantum_ns = 10;
    assert_refused(recording, 10, IW_ERR_USAGE, "cannot be");
    recording->probe = IW_PROBE_SELFISH;
    recording->quantum_ns = 0;
    recording->cpus[0].duration_ns[0] = -1;
    assert_refused(recording, 10, IW_ERR_RANGE, "node");
    iw_recording_free(recording);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_stretch_is_one_of_the_old_ones_on_all_cpus),
        cmocka_unit_test(stretches_are_drawn_evenly_and_with_replacement),
        cmocka_unit_test(the_draw_follows_from_seed_and_replicate),
        cmocka_unit_test(dropping_a_source_before_or_after_is_the_same),
        cmocka_unit_test(sources_keep_their_numbers),
        cmocka_unit_test(the_length_is_that_of_the_shortest_cpu_but_for_a_few_ns),
        cmocka_unit_test(what_cannot_be_drawn_anew_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
