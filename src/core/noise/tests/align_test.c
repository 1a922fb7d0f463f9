/* How the noise of ranks is aligned: per rank, per node, for all, for all anew in each phase; skew.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "timeline.h"

#include "core/noise/source.h"

enum { PERIOD = 400, DURATION = 60, GAP = 300, MEAN = 50 };

static struct timeline line; /* large */

static const struct raw_trace raw = {
    .start = {90, 10, 300, 310}, .duration = {5, 30, 20, 40}, .count = 4, .length = 500};

/* Source 0 periodic, 1 Poisson, 2 a trace; or only one of them. */
enum { PERIODIC, POISSON, TRACE, KINDS, ALL = KINDS };

static iw_noise *make_noise(int kind, iw_sync sync, iw_time skew, uint32_t ranks_per_node)
{
    iw_noise *noise = new_noise();

    if (kind == PERIODIC || kind == ALL) {
        add_periodic(noise, PERIOD, DURATION);
    }
    if (kind == POISSON || kind == ALL) {
        add_poisson(noise, GAP, MEAN);
    }
    if (kind == TRACE || kind == ALL) {
        add_raw(noise, &raw);
    }
    iw_noise_align(noise, sync, skew, ranks_per_node);
    return noise;
}

/* What a synchronised rank should see: everything from `at` on, drawn for rank 0, `shift` later. Poisson
 * noise begins so early that ranks of any shift below `skew` see it from `at` on. */
static void synchronised_timeline(struct iwi_stream_id id, uint32_t purpose, uint64_t phase, iw_time at,
                                  iw_time shift, iw_time skew)
{
    const uint64_t first_event = purpose == IWI_DRAW_PHASE ? (phase + 1) << 32 : 0;
    const int64_t position = (int64_t)draw_below(id, purpose, TRACE, 0, phase, (uint64_t)raw.length);

    line.count = 0;
    periodic_detours(&line, PERIODIC, PERIOD, DURATION,
                     at + shift + (int64_t)draw_below(id, purpose, PERIODIC, 0, phase, PERIOD));
    poisson_detours(&line, POISSON, GAP, MEAN, id, 0, first_event, at + shift - skew);
    /* whole repetitions back, so that the timeline is covered from 0 on */
    trace_detours(&line, TRACE, &raw, position - at - shift + 20 * raw.length);
    timeline_settle(&line);
}

static iw_time node_shift(struct iwi_stream_id id, iw_time skew, uint32_t ranks_per_node)
{
    return (iw_time)draw_below(id, IWI_DRAW_SKEW, 0, id.rank / ranks_per_node, 0, (uint64_t)skew);
}

/* The ends of some operations, as a fingerprint. */
static uint64_t fingerprint(const iw_noise *noise, struct iwi_stream_id id)
{
    struct stream s = open_stream(noise, id);
    uint64_t sum = 0;
    iw_time t = 0;

    for (int i = 0; i < 20; i++) {
        t = stream_finish(&s, t, 150, NULL);
        sum = sum * 1000003 + (uint64_t)t;
        t += 37;
    }
    return sum;
}

static void the_same_id_sees_the_same_noise(void **unused)
{
    (void)unused;
    for (int kind = 0; kind <= ALL; kind++) {
        iw_noise *noise = make_noise(kind, IW_SYNC_NONE, 0, 1), *twin = make_noise(kind, IW_SYNC_NONE, 0, 1);
        const struct iwi_stream_id id = {11, 22, 33};

        assert_true(fingerprint(noise, id) == fingerprint(noise, id));
        assert_true(fingerprint(noise, id) == fingerprint(twin, id));
        iw_noise_free(noise);
        iw_noise_free(twin);
    }
}

static void other_ranks_trials_and_seeds_see_other_noise(void **unused)
{
    (void)unused;
    for (int kind = 0; kind <= ALL; kind++) {
        iw_noise *noise = make_noise(kind, IW_SYNC_NONE, 0, 1);
        const uint64_t base = fingerprint(noise, (struct iwi_stream_id){11, 22, 33});

        assert_true(base != fingerprint(noise, (struct iwi_stream_id){12, 22, 33}));
        assert_true(base != fingerprint(noise, (struct iwi_stream_id){11, 23, 33}));
        assert_true(base != fingerprint(noise, (struct iwi_stream_id){11, 22, 34}));
        iw_noise_free(noise);
    }
}

static void two_sources_of_one_spec_are_independent(void **unused)
{
    iw_noise *noise = new_noise();
    iw_time by_source[2] = {0};
    struct stream s;

    (void)unused;
    add_periodic(noise, 1000, 100);
    add_periodic(noise, 1000, 100);
    s = open_stream(noise, (struct iwi_stream_id){1, 1, 1});
    stream_finish(&s, 0, 8000, by_source);
    assert_true(by_source[0] > 0 && by_source[1] > 0);
    iw_noise_free(noise);
}

static void ranks_of_a_node_share_the_offset_of_a_trace_only_if_copies_are_joined(void **unused)
{
    iw_noise *trace = make_noise(TRACE, IW_SYNC_NONE, 0, 4),
             *periodic = make_noise(PERIODIC, IW_SYNC_NONE, 0, 4);
    const struct iwi_stream_id first = {1, 1, 4}, last = {1, 1, 7}, other = {1, 1, 8};

    (void)unused;
    assert_true(fingerprint(trace, first) != fingerprint(trace, last));
    assert_true(fingerprint(trace, first) != fingerprint(trace, other));
    assert_true(fingerprint(periodic, first) != fingerprint(periodic, last));
    iwi_noise_join_copies(trace);
    iwi_noise_join_copies(periodic);
    assert_true(fingerprint(trace, first) == fingerprint(trace, last));
    assert_true(fingerprint(trace, first) != fingerprint(trace, other));
    assert_true(fingerprint(periodic, first) != fingerprint(periodic, last));
    iw_noise_free(trace);
    iw_noise_free(periodic);
}

static void phases_are_spread_over_the_whole_period(void **unused)
{
    iw_noise *noise = make_noise(PERIODIC, IW_SYNC_NONE, 0, 1);
    int seen[4] = {0};

    (void)unused;
    for (uint32_t rank = 0; rank < 4000; rank++) {
        const iw_time next = iwi_noise_begin(noise, (struct iwi_stream_id){1, 0, rank}, NULL);

        assert_in_range(next + DURATION - 1, 0, PERIOD + DURATION - 2);
        seen[(next + PERIOD) % PERIOD / (PERIOD / 4)]++;
    }
    for (int i = 0; i < 4; i++) {
        assert_in_range(seen[i], 1000 - 6 * 28, 1000 + 6 * 28); /* sigma of a binomial count: 27.4 */
    }
    iw_noise_free(noise);
}

static void start_sync_gives_all_ranks_one_timeline(void **unused)
{
    (void)unused;
    for (int kind = 0; kind <= ALL; kind++) {
        iw_noise *noise = make_noise(kind, IW_SYNC_START, 0, 1);
        const uint64_t base = fingerprint(noise, (struct iwi_stream_id){11, 22, 33});

        assert_true(base == fingerprint(noise, (struct iwi_stream_id){11, 22, 0}));
        assert_true(base == fingerprint(noise, (struct iwi_stream_id){11, 22, 99}));
        assert_true(base != fingerprint(noise, (struct iwi_stream_id){11, 23, 33}));
        iw_noise_free(noise);
    }
}

static void skew_shifts_the_timeline_of_each_synchronised_node(void **unused)
{
    const iw_time skew = 900;
    iw_noise *noise = make_noise(ALL, IW_SYNC_START, skew, 2);
    iw_time least = skew, most = 0;

    (void)unused;
    for (uint32_t rank = 0; rank < 60; rank++) {
        const struct iwi_stream_id id = {3, 4, rank};
        const iw_time shift = node_shift(id, skew, 2);
        struct picker picker = {.seed = rank};
        struct stream s = open_stream(noise, id);

        synchronised_timeline(id, IWI_DRAW_OFFSET, 0, 0, shift, skew);
        assert_true(compare_stream(&s, &line, &picker, 0, 300) > 5);
        least = shift < least ? shift : least;
        most = shift > most ? shift : most;
    }
    assert_true(least < skew / 4 && most > skew * 3 / 4);
    iw_noise_free(noise);
}

static void skew_does_not_touch_ranks_that_are_not_synchronised(void **unused)
{
    iw_noise *noise = make_noise(ALL, IW_SYNC_NONE, 0, 1), *skewed = make_noise(ALL, IW_SYNC_NONE, 900, 1);
    const struct iwi_stream_id id = {3, 4, 5};

    (void)unused;
    assert_true(fingerprint(noise, id) == fingerprint(skewed, id));
    iw_noise_free(noise);
    iw_noise_free(skewed);
}

static void phase_sync_is_start_sync_before_the_first_phase(void **unused)
{
    (void)unused;
    for (int kind = 0; kind <= ALL; kind++) {
        iw_noise *start = make_noise(kind, IW_SYNC_START, 90, 1),
                 *phase = make_noise(kind, IW_SYNC_PHASE, 90, 1);
        const struct iwi_stream_id id = {3, 4, 5};

        assert_true(fingerprint(start, id) == fingerprint(phase, id));
        iw_noise_free(start);
        iw_noise_free(phase);
    }
}

static void phase_sync_restarts_the_timeline_at_each_phase(void **unused)
{
    const iw_time skew = 70;
    iw_noise *noise = make_noise(ALL, IW_SYNC_PHASE, skew, 2);

    (void)unused;
    for (uint32_t rank = 0; rank < 20; rank++) {
        const struct iwi_stream_id id = {3, 4, rank};
        struct picker picker = {.seed = rank};
        struct stream s = open_stream(noise, id);

        for (uint64_t phase = 0; phase < 10; phase++) {
            const iw_time at = (iw_time)phase * 350 + pick(&picker, 0, 300);
            struct stream from_here;

            assert_int_equal(iwi_noise_phase(noise, id, s.state, &s.next, phase, at, 100, NULL), 0);
            synchronised_timeline(id, IWI_DRAW_PHASE, phase, at, node_shift(id, skew, 2), skew);
            from_here = s;
            compare_stream(&from_here, &line, &picker, at, 200);
        }
    }
    iw_noise_free(noise);
}

static void with_phase_sync_all_ranks_see_a_phase_alike_whenever_it_begins(void **unused)
{
    (void)unused;
    for (int kind = 0; kind <= ALL; kind++) {
        iw_noise *noise = make_noise(kind, IW_SYNC_PHASE, 0, 1);
        iw_time first_lost = 0;
        int changes = 0;

        for (uint64_t phase = 0; phase < 20; phase++) {
            iw_time lost[2];

            for (uint32_t rank = 0; rank < 2; rank++) {
                const struct iwi_stream_id id = {1, 1, rank};
                const iw_time at = (iw_time)phase * 5000 + 777 * (iw_time)rank;
                struct stream s = open_stream(noise, id);

                (void)iwi_noise_phase(noise, id, s.state, &s.next, phase, at, 1000, NULL);
                lost[rank] = stream_finish(&s, at, 1000, NULL) - at;
            }
            assert_int_equal(lost[0], lost[1]);
            first_lost = phase == 0 ? lost[0] : first_lost;
            changes += lost[0] != first_lost;
        }
        assert_true(changes > 0);
        iw_noise_free(noise);
    }
}

static void phases_matter_where_a_source_or_the_alignment_needs_them(void **unused)
{
    iw_noise *noise = new_noise();

    (void)unused;
    iw_noise_align(noise, IW_SYNC_PHASE, 0, 0);
    assert_true(iw_noise_sync(noise) == IW_SYNC_PHASE);
    assert_false(iwi_noise_has_phases(noise));
    add_periodic(noise, 100, 1);
    assert_true(iwi_noise_has_phases(noise));
    iw_noise_align(noise, IW_SYNC_START, 0, 0);
    assert_false(iwi_noise_has_phases(noise));
    add_spec(noise, "bernoulli:1%,1us");
    assert_true(iwi_noise_has_phases(noise));
    iw_noise_free(noise);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_id_sees_the_same_noise),
        cmocka_unit_test(other_ranks_trials_and_seeds_see_other_noise),
        cmocka_unit_test(two_sources_of_one_spec_are_independent),
        cmocka_unit_test(ranks_of_a_node_share_the_offset_of_a_trace_only_if_copies_are_joined),
        cmocka_unit_test(phases_are_spread_over_the_whole_period),
        cmocka_unit_test(start_sync_gives_all_ranks_one_timeline),
        cmocka_unit_test(skew_shifts_the_timeline_of_each_synchronised_node),
        cmocka_unit_test(skew_does_not_touch_ranks_that_are_not_synchronised),
        cmocka_unit_test(phase_sync_is_start_sync_before_the_first_phase),
        cmocka_unit_test(phase_sync_restarts_the_timeline_at_each_phase),
        cmocka_unit_test(with_phase_sync_all_ranks_see_a_phase_alike_whenever_it_begins),
        cmocka_unit_test(phases_matter_where_a_source_or_the_alignment_needs_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
