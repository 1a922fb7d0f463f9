/* Recordings as noise: finish(t, d) against a walk over every nanosecond of them; their sources told apart.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "timeline.h"

#include "core/noise/recording_cut.h"
#include "core/noise/recording_noise.h"
#include "core/noise/source.h"
#include "support/made_recording.h"

enum { CASES = 300, MOST_LENGTH_NS = 400, MOST_CPUS = 4, RANKS_PER_NODE = 6 };

/* Which recorded source has each nanosecond of each CPU: the reference. */
struct reference {
    int owner[MOST_CPUS][MOST_LENGTH_NS];
    int64_t length_ns;
    size_t cpu_count;
};

static struct reference reference_of(const iw_recording *recording)
{
    struct reference ref = {.length_ns = MOST_LENGTH_NS, .cpu_count = recording->cpu_count};

    for (size_t cpu = 0; cpu < recording->cpu_count; cpu++) {
        const iw_detours *d = &recording->cpus[cpu];

        ref.length_ns = d->length_ns < ref.length_ns ? d->length_ns : ref.length_ns;
        memset(ref.owner[cpu], 0xff, sizeof ref.owner[cpu]); /* FREE */
        for (size_t i = 0; i < d->count; i++) {
            int64_t left = d->duration_ns[i], at = d->start_ns[i];

            for (size_t part = 0; part < d->part_count; part++) {
                for (int64_t k = 0; d->part_detour[part] == i && k < d->part_ns[part] && left > 0;
                     k++, left--) {
                    ref.owner[cpu][at++] = (int)d->part_source[part];
                }
            }
            for (; left > 0; left--) {
                ref.owner[cpu][at++] = (int)d->source[i];
            }
        }
    }
    return ref;
}

/* Goes on nanosecond by nanosecond of the recording; lost[] is by recorded source. */
static iw_time reference_finish(const struct reference *ref, size_t cpu, iw_time offset, iw_time t, iw_time d,
                                iw_time *lost)
{
    const iw_time length = ref->length_ns * IW_PS_PER_NS;

    while (d > 0) {
        const iw_time position = (t + offset) % length, rest = IW_PS_PER_NS - position % IW_PS_PER_NS;
        const int owner = ref->owner[cpu][position / IW_PS_PER_NS];

        if (owner != FREE) {
            lost[owner] += rest;
            t += rest;
        } else {
            t += d < rest ? d : rest;
            d -= d < rest ? d : rest;
        }
    }
    return t;
}

static iw_recording *random_recording(struct picker *picker, size_t cpus, size_t sources)
{
    iw_recording *recording = iwt_recording(cpus, 0);

    for (size_t i = 1; i < sources; i++) {
        char name[32];

        snprintf(name, sizeof name, "s%zu", i);
        (void)iwt_source(recording, i % 2 == 0 ? IW_CLASS_THREAD : IW_CLASS_IRQ, name);
    }
    for (size_t cpu = 0; cpu < cpus; cpu++) {
        const int64_t length_ns = pick(picker, 30, MOST_LENGTH_NS);
        int64_t at = pick(picker, 0, 10);

        recording->cpus[cpu].length_ns = length_ns;
        while (at < length_ns - 1 && at < 350) { /* reaches beyond the lengths of others */
            const int64_t duration = pick(picker, 0, 12);

            iwt_detour(recording, cpu, at, duration < length_ns - at ? duration : length_ns - at,
                       (uint32_t)pick(picker, 0, (int64_t)sources - 1));
            for (int64_t parts = pick(picker, -3, 4); parts > 0; parts--) {
                iwt_part(recording, cpu, (uint32_t)pick(picker, 0, (int64_t)sources - 1), pick(picker, 0, 5));
            }
            at += duration + pick(picker, 0, 3) * pick(picker, 0, 12);
        }
    }
    return recording;
}

/* Number in the noise of each recorded source, by names. */
static size_t number_of(const iw_noise *noise, const iw_source *source)
{
    char name[128];

    snprintf(name, sizeof name, "%s%s%s", iw_class_name(source->kind), source->name[0] != '\0' ? " " : "",
             source->name);
    for (size_t i = 0; i < iw_noise_source_count(noise); i++) {
        if (strcmp(iw_noise_source_name(noise, i), name) == 0) {
            return i;
        }
    }
    for (size_t i = 0; i < iw_noise_source_count(noise); i++) {
        if (strcmp(iw_noise_source_name(noise, i), "other") == 0) {
            return i;
        }
    }
    return SIZE_MAX; /* took no time */
}

static void assert_lost(const iw_noise *noise, const iw_recording *recording, const iw_time *lost,
                        const iw_time *by_source)
{
    iw_time expected[IW_NOISE_MAX_SOURCES] = {0};

    for (size_t i = 0; i < recording->source_count; i++) {
        const size_t number = number_of(noise, &recording->sources[i]);

        assert_true(number != SIZE_MAX || lost[i] == 0);
        if (number != SIZE_MAX) {
            expected[number] += lost[i];
        }
    }
    assert_memory_equal(by_source, expected, sizeof expected);
}

/* Works and waits; returns how often it was hit. `offset`: position of the recording at time 0. */
static int compare_with_reference(const iw_noise *noise, const iw_recording *recording,
                                  const struct reference *ref, struct iwi_stream_id id, size_t cpu,
                                  iw_time offset, struct picker *picker)
{
    struct stream s = open_stream(noise, id), quick = open_stream(noise, id);
    iw_time t = pick(picker, 0, 100000);
    int hits = 0;

    for (int i = 0; i < 25; i++) {
        const iw_time d = pick(picker, 0, pick(picker, 0, 1) > 0 ? 900000 : 9000);
        iw_time by_source[IW_NOISE_MAX_SOURCES] = {0}, lost[64] = {0};
        const iw_time expected = reference_finish(ref, cpu, offset, t, d, lost);

        assert_int_equal(stream_finish(&s, t, d, by_source), expected);
        assert_int_equal(stream_finish(&quick, t, d, NULL), expected);
        assert_lost(noise, recording, lost, by_source);
        hits += expected > t + d;
        t = expected + pick(picker, 0, 3) * pick(picker, 0, 90000);
    }
    return hits;
}

static bool add_recording(iw_noise *noise, const iw_recording *recording)
{
    return iw_noise_add_recording(NULL, noise, recording) == IW_OK && iw_noise_source_count(noise) > 0;
}

/* Where the copy that a seat meets stands at time 0. */
static iw_time offset_of(const iw_noise *noise, struct iwi_stream_id id, const struct reference *ref)
{
    const uint32_t copy = (uint32_t)(id.rank % RANKS_PER_NODE / ref->cpu_count);
    const bool is_own = copy > 0 && noise->sources[0].u.recorded.recorded->has_own;

    return (iw_time)draw_below(id, is_own ? IWI_DRAW_COPY : IWI_DRAW_OFFSET, 0, id.rank / RANKS_PER_NODE,
                               is_own ? copy : 0, (uint64_t)ref->length_ns * 1000);
}

/* Some of the sources are taken for node-wide, and ranks meet copies: seats_test.c has that. */
static bool has_two_offsets(const iw_noise *noise)
{
    return noise->sources[0].ops == &iwi_source_recording_both;
}

static void a_recording_matches_the_reference(void **unused)
{
    int hits = 0;

    (void)unused;
    for (uint64_t seed = 1; seed <= CASES; seed++) {
        struct picker picker = {.seed = seed};
        const struct iwi_stream_id id = {seed, (uint64_t)pick(&picker, 0, 9), (uint32_t)pick(&picker, 0, 99)};
        iw_recording *recording =
            random_recording(&picker, (size_t)pick(&picker, 1, MOST_CPUS), (size_t)pick(&picker, 1, 20));
        const struct reference ref = reference_of(recording);
        const uint32_t seat = id.rank % RANKS_PER_NODE;
        iw_noise *noise = new_noise();

        iw_noise_align(noise, IW_SYNC_NONE, 0, RANKS_PER_NODE);
        if (add_recording(noise, recording) && !has_two_offsets(noise)) {
            hits += compare_with_reference(noise, recording, &ref, id, seat % ref.cpu_count,
                                           offset_of(noise, id, &ref), &picker);
        }
        iw_noise_free(noise);
        iw_recording_free(recording);
    }
    assert_true(hits > CASES * 5);
}

static void synchronised_ranks_stand_at_one_offset_shifted_by_the_skew_of_their_node(void **unused)
{
    const iw_time skew = 77777;
    int hits = 0;

    (void)unused;
    for (uint64_t seed = 1; seed <= CASES / 3; seed++) {
        struct picker picker = {.seed = seed};
        const struct iwi_stream_id id = {seed, 3, (uint32_t)pick(&picker, 0, 99)};
        iw_recording *recording = random_recording(&picker, (size_t)pick(&picker, 1, MOST_CPUS), 5);
        const struct reference ref = reference_of(recording);
        const iw_time length = ref.length_ns * 1000;
        iw_noise *noise = new_noise();

        if (add_recording(noise, recording)) {
            const iw_time shift =
                (iw_time)draw_below(id, IWI_DRAW_SKEW, 0, id.rank / RANKS_PER_NODE, 0, (uint64_t)skew);

            iw_noise_align(noise, IW_SYNC_START, skew, RANKS_PER_NODE);
            hits += compare_with_reference(
                noise, recording, &ref, id, id.rank % RANKS_PER_NODE % ref.cpu_count,
                (iw_time)draw_below(id, IWI_DRAW_OFFSET, 0, 0, 0, (uint64_t)length) + length - shift % length,
                &picker);
        }
        iw_noise_free(noise);
        iw_recording_free(recording);
    }
    assert_true(hits > CASES);
}

static void with_phase_sync_all_ranks_restart_at_a_common_offset_on_their_own_cpus(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        struct picker picker = {.seed = seed};
        const struct iwi_stream_id id = {seed, 3, (uint32_t)pick(&picker, 0, 99)};
        iw_recording *recording = random_recording(&picker, (size_t)pick(&picker, 1, MOST_CPUS), 5);
        const struct reference ref = reference_of(recording);
        const uint64_t length = (uint64_t)ref.length_ns * 1000;
        iw_noise *noise = new_noise();

        if (add_recording(noise, recording)) {
            struct stream s;
            iw_time t = 0;

            iw_noise_align(noise, IW_SYNC_PHASE, 0, RANKS_PER_NODE);
            assert_true(iwi_noise_has_phases(noise));
            s = open_stream(noise, id);
            for (uint64_t phase = 0; phase < 10; phase++) {
                const iw_time offset = (iw_time)draw_below(id, IWI_DRAW_PHASE, 0, 0, phase, length);
                const iw_time d = pick(&picker, 1, 500000);
                iw_time lost[64] = {0}, by_source[IW_NOISE_MAX_SOURCES] = {0};
                const iw_time taken =
                    reference_finish(&ref, id.rank % RANKS_PER_NODE % ref.cpu_count, offset, 0, d, lost);

                assert_int_equal(iwi_noise_phase(noise, id, s.state, &s.next, phase, t, d, NULL), 0);
                assert_int_equal(stream_finish(&s, t, d, by_source), t + taken);
                assert_lost(noise, recording, lost, by_source);
                t += taken + pick(&picker, 0, 100000);
            }
        }
        iw_noise_free(noise);
        iw_recording_free(recording);
    }
}

/* The detours of one CPU as a plain trace. */
static void add_plain(iw_noise *noise, const iw_detours *d)
{
    iw_time *start = calloc(d->count + 1, sizeof *start), *duration = calloc(d->count + 1, sizeof *duration);

    for (size_t i = 0; i < d->count; i++) {
        start[i] = d->start_ns[i] * IW_PS_PER_NS;
        duration[i] = d->duration_ns[i] * IW_PS_PER_NS;
    }
    assert_ok(
        iw_noise_add_trace(NULL, noise, "plain", start, duration, d->count, d->length_ns * IW_PS_PER_NS));
    free(start);
    free(duration);
}

static void beside_other_sources_a_recording_does_what_a_trace_of_its_detours_does(void **unused)
{
    int hits = 0;

    (void)unused;
    for (uint64_t seed = 1; seed <= CASES; seed++) {
        struct picker picker = {.seed = seed};
        const struct iwi_stream_id id = {seed, 1, (uint32_t)pick(&picker, 0, 99)};
        iw_recording *recording = random_recording(&picker, 1, (size_t)pick(&picker, 1, 9));
        iw_noise *noise = new_noise(), *plain = new_noise();
        struct stream s, p;
        iw_time t = 0;

        add_periodic(noise, 70000, 9000);
        add_periodic(plain, 70000, 9000);
        assert_true(add_recording(noise, recording));
        add_plain(plain, &recording->cpus[0]);
        s = open_stream(noise, id);
        p = open_stream(plain, id);
        for (int i = 0; i < 20; i++) {
            const iw_time d = pick(&picker, 0, 300000);
            iw_time got[IW_NOISE_MAX_SOURCES] = {0}, expected[IW_NOISE_MAX_SOURCES] = {0}, sum = 0;
            const iw_time end = stream_finish(&p, t, d, expected);

            assert_int_equal(stream_finish(&s, t, d, got), end);
            for (int k = 0; k < IW_NOISE_MAX_SOURCES; k++) {
                sum += got[k];
            }
            assert_int_equal(sum, end - t - d);
            hits += expected[1] > 0;
            t = end + pick(&picker, 0, 50000);
        }
        iw_noise_free(noise);
        iw_noise_free(plain);
        iw_recording_free(recording);
    }
    assert_true(hits > CASES * 5);
}

/* ---- sources left out ---- */

struct walked {
    iw_time start[8 * MOST_LENGTH_NS], end[8 * MOST_LENGTH_NS];
    uint32_t source[8 * MOST_LENGTH_NS];
    size_t count;
};

static bool keep_walked(void *arg, uint32_t source, iw_time start, iw_time end)
{
    struct walked *walked = arg;

    walked->start[walked->count] = start;
    walked->end[walked->count] = end;
    walked->source[walked->count++] = source;
    return walked->count < 8 * MOST_LENGTH_NS;
}

static void assert_same_walks(const iw_noise *a, const iw_noise *b)
{
    assert_int_equal(iw_noise_source_count(a), iw_noise_source_count(b));
    for (size_t i = 0; i < iw_noise_source_count(a); i++) {
        assert_string_equal(iw_noise_source_name(a, i), iw_noise_source_name(b, i));
    }
    for (uint32_t rank = 0; rank < RANKS_PER_NODE; rank++) {
        const struct iwi_stream_id id = {.seed = 5, .trial = 1, .rank = rank};
        struct walked walked[2] = {{.count = 0}, {.count = 0}};

        iwi_noise_walk(a, id, 2 * MOST_LENGTH_NS * IW_PS_PER_NS, keep_walked, &walked[0]);
        iwi_noise_walk(b, id, 2 * MOST_LENGTH_NS * IW_PS_PER_NS, keep_walked, &walked[1]);
        assert_int_equal(walked[0].count, walked[1].count);
        for (size_t i = 0; i < walked[0].count; i++) {
            assert_int_equal(walked[0].start[i], walked[1].start[i]);
            assert_int_equal(walked[0].end[i], walked[1].end[i]);
            assert_int_equal(walked[0].source[i], walked[1].source[i]);
        }
    }
}

/* Pieces of detours with several sources included. */
static void what_is_left_out_is_as_if_it_was_cut(void **unused)
{
    unsigned compared = 0;

    (void)unused;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        struct picker picker = {seed, 0};
        const size_t sources = (size_t)pick(&picker, 2, 7);
        iw_recording *recording = random_recording(&picker, (size_t)pick(&picker, 1, 3), sources), *rest;
        const iw_recording *const whole = recording;
        const char *const name = "made";
        const struct iwi_recorded_input input = {name, &name, &whole, 1, 0};
        iw_noise *cut = NULL, *left = NULL, *before = NULL;
        bool dropped[7], *is_dropped = dropped, nothing[7] = {false}, *is_nothing = nothing;
        struct iwi_source_tally *tallies = NULL;

        for (size_t i = 0; i < sources; i++) {
            dropped[i] = pick(&picker, 0, 2) == 0;
        }
        assert_ok(iw_noise_new(NULL, &cut));
        assert_ok(iw_noise_new(NULL, &left));
        assert_ok(iw_noise_new(NULL, &before));
        assert_ok(iwi_recording_drop(NULL, recording, dropped, &rest));
        if (iw_noise_add_recording(NULL, cut, rest) == IW_OK &&
            iwi_noise_add_rest(NULL, before, &input, (const bool *const *)&is_nothing, &tallies) == IW_OK &&
            iwi_noise_add_rest(NULL, left, &input, (const bool *const *)&is_dropped, &tallies) == IW_OK) {
            iw_noise_align(cut, IW_SYNC_NONE, 0, RANKS_PER_NODE);
            iw_noise_align(left, IW_SYNC_NONE, 0, RANKS_PER_NODE);
            if (iw_noise_source_count(cut) > 0) {
                assert_same_walks(cut, left);
                compared++;
            } else {
                assert_int_equal(iw_noise_source_count(left), 0);
                assert_int_equal(left->input_count, 1); /* it holds its place */
            }
        }
        iw_noise_free(cut);
        iw_noise_free(left);
        iw_noise_free(before);
        free(tallies);
        iw_recording_free(rest);
        iw_recording_free(recording);
    }
    assert_true(compared > CASES / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_recording_matches_the_reference),
        cmocka_unit_test(synchronised_ranks_stand_at_one_offset_shifted_by_the_skew_of_their_node),
        cmocka_unit_test(with_phase_sync_all_ranks_restart_at_a_common_offset_on_their_own_cpus),
        cmocka_unit_test(beside_other_sources_a_recording_does_what_a_trace_of_its_detours_does),
        cmocka_unit_test(what_is_left_out_is_as_if_it_was_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
