/* Phases on several cores against what the detours of each core say, one by one.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "core/noise/cores.h"

#include <idlewave/recording.h>

#include "core/base/rng.h"
#include "support/made_recording.h"
#include "support/support.h"

enum { CASES = 100, PHASES = 12, MOST_CORES = 7, MOST_WORDS = 32, MOST_PIECES = 4096 };

static const iw_time UNTIL = 2000 * IW_PS_PER_US;

/* What each core cannot work in. */
struct timeline {
    iw_time start[MOST_PIECES], end[MOST_PIECES];
    uint32_t source[MOST_PIECES];
    size_t count;
};

static uint64_t below(uint64_t seed, uint64_t *index, uint64_t n)
{
    return iwi_draw_below((struct iwi_draw_id){.seed = seed, .purpose = IWI_DRAW_TEST}, (*index)++, n);
}

static bool take(void *arg, uint32_t source, iw_time start, iw_time end)
{
    struct timeline *timeline = arg;

    assert_true(timeline->count < MOST_PIECES);
    timeline->start[timeline->count] = start;
    timeline->end[timeline->count] = end;
    timeline->source[timeline->count++] = source;
    return true;
}

static iw_time busy_within(const struct timeline *timeline, iw_time from, iw_time to)
{
    iw_time sum = 0;

    for (size_t i = 0; i < timeline->count; i++) {
        const iw_time start = timeline->start[i] > from ? timeline->start[i] : from;
        const iw_time end = timeline->end[i] < to ? timeline->end[i] : to;

        sum += end > start ? end - start : 0;
    }
    return sum;
}

/* The first instant at which these cores had `work` of undisturbed time since t: by halving. */
static iw_time first_done(const struct timeline *timelines, uint32_t cores, iw_time t, iw_time work)
{
    iw_time early = t, late = UNTIL; /* not done at `early` unless there is no work */

    while (work > 0 && late - early > 1) {
        const iw_time middle = early + (late - early) / 2;
        iw_time done = 0;

        for (uint32_t core = 0; core < cores; core++) {
            done += middle - t - busy_within(&timelines[core], t, middle);
        }
        *(done >= work ? &late : &early) = middle;
    }
    return work > 0 ? late : t;
}

static iw_time expected_end(const struct timeline *timelines, uint32_t cores, iw_loop_schedule loop,
                            iw_time t, iw_time work)
{
    iw_time latest = t;

    if (loop == IW_LOOP_DYNAMIC) {
        return first_done(timelines, cores, t, cores * work);
    }
    for (uint32_t core = 0; core < cores; core++) {
        const iw_time end = first_done(&timelines[core], 1, t, work);

        latest = end > latest ? end : latest;
    }
    return latest;
}

static iw_noise *some_noise(uint64_t seed, uint64_t *index, uint32_t cores, iw_loop_schedule loop)
{
    static const char *const specs[] = {"periodic:100kHz,2us", "poisson:100kHz,fixed:3us",
                                        "poisson:200kHz,exp:1us", "periodic:300kHz,900ns"};
    const uint64_t sources = 1 + below(seed, index, 3);
    iw_noise *noise = NULL;

    assert_ok(iw_noise_new(NULL, &noise));
    for (uint64_t i = 0; i < sources; i++) {
        assert_ok(iw_noise_add(NULL, noise, specs[below(seed, index, 4)]));
    }
    iw_noise_align(noise, (iw_sync)below(seed, index, 2), 0, 1 + (uint32_t)below(seed, index, 2));
    iw_noise_share_phases(noise, cores, loop);
    return noise;
}

static void check_lost(const iw_time *by_source, const iw_hit *worst, iw_time lost)
{
    iw_time sum = 0;

    for (size_t i = 0; i < IW_NOISE_MAX_SOURCES; i++) {
        assert_true(by_source[i] >= 0);
        sum += by_source[i];
    }
    assert_int_equal(sum, lost);
    assert_true(worst[0].lost_ps <= lost && worst[0].rank == (lost > 0 ? 3 : worst[0].rank));
}

static void phases_end_as_the_detours_of_their_cores_say(void **unused)
{
    static struct timeline timelines[MOST_CORES];

    (void)unused;
    for (uint64_t seed = 0; seed < CASES; seed++) {
        uint64_t index = 0;
        const uint32_t count = 1 + (uint32_t)below(seed, &index, MOST_CORES);
        const iw_loop_schedule loop = (iw_loop_schedule)below(seed, &index, 2);
        iw_noise *noise = some_noise(seed, &index, count, loop);
        int64_t words[MOST_CORES * MOST_WORDS];
        iw_time next[MOST_CORES], t = 0;
        const struct iwi_cores cores = {noise, {seed, 0, 3 * count},           words,
                                        next,  words + iwi_noise_words(noise), next + 1};

        for (uint32_t core = 0; core < count; core++) {
            timelines[core].count = 0;
            iwi_noise_walk(noise, (struct iwi_stream_id){seed, 0, 3 * count + core}, UNTIL, take,
                           &timelines[core]);
        }
        iwi_cores_begin(&cores);
        for (uint64_t phase = 0; phase < PHASES; phase++) {
            const iw_time work = (iw_time)below(seed, &index, 6000000) * (iw_time)below(seed, &index, 2);
            const iw_time delay = (iw_time)below(seed, &index, 2) * 1234567;
            iw_time by_source[IW_NOISE_MAX_SOURCES] = {0};
            iw_hit worst[2] = {{0, 0, 0, 0}, {0, 0, 0, 0}};
            const iw_time end = iwi_cores_phase(&cores, phase, t, work, delay,
                                                phase % 2 ? &(struct iwi_lost){by_source, worst, 2} : NULL);

            assert_int_equal(end, expected_end(timelines, count, loop, t, work + delay));
            if (phase % 2) {
                check_lost(by_source, worst, end - t - work - delay);
            }
            t = end + (iw_time)below(seed, &index, 3000000);
        }
        iw_noise_free(noise);
    }
}

/* All cores in the same detour lose it once, however the work is shared. */
static void common_noise_costs_as_on_one_core(void **unused)
{
    static const iw_loop_schedule loops[] = {IW_LOOP_STATIC, IW_LOOP_DYNAMIC};

    (void)unused;
    for (uint64_t seed = 0; seed < 50; seed++) {
        iw_time ends[3];

        for (uint32_t k = 0; k < 3; k++) {
            iw_noise *noise = NULL;
            int64_t words[16 * MOST_WORDS];
            iw_time next[16];

            assert_ok(iw_noise_new(NULL, &noise));
            assert_ok(iw_noise_add(NULL, noise, "poisson:100kHz,exp:4us"));
            iw_noise_align(noise, IW_SYNC_START, 0, 1);
            iw_noise_share_phases(noise, k == 0 ? 1 : 16, loops[k / 2]);

            const struct iwi_cores cores = {
                noise, {seed, 0, 0}, words, next, words + iwi_noise_words(noise), next + 1};

            iwi_cores_begin(&cores);
            ends[k] = iwi_cores_phase(&cores, 0, 0, 50 * IW_PS_PER_US, 0, NULL);
            iw_noise_free(noise);
        }
        assert_int_equal(ends[0], ends[1]);
        assert_int_equal(ends[0], ends[2]);
    }
}

/* Of 3 cores some have 900 ps more to do: the phase is 900 ps longer, or 300 ps for each of them. */
static void per_phase_noise_is_that_of_each_core(void **unused)
{
    (void)unused;
    for (int loop = IW_LOOP_STATIC; loop <= IW_LOOP_DYNAMIC; loop++) {
        uint32_t hits = 0;

        for (uint64_t trial = 0; trial < 300; trial++) {
            iw_noise *noise = NULL;
            int64_t words[1] = {0};
            iw_time next[3], by_source[IW_NOISE_MAX_SOURCES] = {0}, lost;

            assert_ok(iw_noise_new(NULL, &noise));
            assert_ok(iw_noise_add(NULL, noise, "bernoulli:0.5,900ps"));
            iw_noise_share_phases(noise, 3, (iw_loop_schedule)loop);

            const struct iwi_cores cores = {noise, {1, trial, 0}, words, next, words, next + 1};

            iwi_cores_begin(&cores);
            lost = iwi_cores_phase(&cores, 0, 5, 100, 20, &(struct iwi_lost){by_source, NULL, 0}) - 125;
            assert_int_equal(by_source[0], lost);
            assert_true(lost == 0 || lost == 900 || (loop == IW_LOOP_DYNAMIC && lost % 300 == 0));
            hits += (uint32_t)(lost > 0);
            iw_noise_free(noise);
        }
        assert_in_range(hits, 234, 291); /* 7 in 8: 262.5, five standard deviations are 28.6 */
    }
}

static void ranks_of_a_node_are_as_many_as_have_their_cores_there(void **unused)
{
    iw_recording *recording = iwt_recording(8, 1000);
    iw_noise *noise = NULL;

    (void)unused;
    assert_ok(iw_noise_new(NULL, &noise));
    iwt_detour(recording, 5, 100, 100, 0);
    assert_ok(iw_noise_add_recording(NULL, noise, recording));
    assert_int_equal(iw_noise_ranks_per_node(noise), 8);
    iw_noise_share_phases(noise, 4, IW_LOOP_STATIC);
    assert_int_equal(iw_noise_ranks_per_node(noise), 2);
    assert_true(iw_noise_source_share(noise, 0) == 0.1 / 8);
    iw_noise_share_phases(noise, 3, IW_LOOP_STATIC); /* 6 of 8 CPUs */
    assert_int_equal(iw_noise_ranks_per_node(noise), 2);
    assert_true(iw_noise_source_share(noise, 0) == 0.1 / 6);
    iw_noise_share_phases(noise, 16, IW_LOOP_STATIC);
    assert_int_equal(iw_noise_ranks_per_node(noise), 1);
    iw_noise_align(noise, IW_SYNC_NONE, 0, 5);
    assert_int_equal(iw_noise_ranks_per_node(noise), 5);
    iw_noise_free(noise);
    iw_recording_free(recording);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(phases_end_as_the_detours_of_their_cores_say),
        cmocka_unit_test(common_noise_costs_as_on_one_core),
        cmocka_unit_test(per_phase_noise_is_that_of_each_core),
        cmocka_unit_test(ranks_of_a_node_are_as_many_as_have_their_cores_there),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
