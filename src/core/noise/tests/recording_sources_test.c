/* Which sources a recording becomes: their names, shares and number, and what is refused.
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "timeline.h"

#include "core/base/rng.h"
#include "core/noise/stream.h"
#include "support/made_recording.h"

static void assert_names(const iw_noise *noise, const char *const *names)
{
    size_t count = 0;

    for (; names[count] != NULL; count++) {
        assert_true(count < iw_noise_source_count(noise));
        assert_string_equal(iw_noise_source_name(noise, count), names[count]);
    }
    assert_int_equal(iw_noise_source_count(noise), count);
}

#define ASSERT_NAMES(noise, ...) assert_names(noise, (const char *const[]){__VA_ARGS__, NULL})

/* Sources 1, 2, ... of `count` take 1, 2, ... us in each of 10 detours, on one CPU. */
static iw_recording *recording_of(size_t count)
{
    iw_recording *recording = iwt_recording(1, 10000000);

    for (size_t i = 1; i <= count; i++) {
        char name[16];

        snprintf(name, sizeof name, "t%zu", i);
        (void)iwt_source(recording, IW_CLASS_THREAD, name);
    }
    for (int k = 0; k < 10; k++) {
        for (size_t i = 1; i <= count; i++) {
            iwt_detour(recording, 0, (int64_t)(k * 1000000 + (int)i * 40000), (int64_t)i * 1000, (uint32_t)i);
        }
    }
    return recording;
}

static void sources_come_in_order_of_the_time_they_took(void **unused)
{
    iw_recording *recording = iwt_recording(2, 1000000);
    const uint32_t timer = iwt_source(recording, IW_CLASS_IRQ, "local_timer"),
                   worker = iwt_source(recording, IW_CLASS_THREAD, "kworker/0:1"),
                   idle = iwt_source(recording, IW_CLASS_NMI, "nmi");
    iw_noise *noise = new_noise();

    (void)unused;
    (void)idle; /* takes no time, so it is no source */
    iwt_detour(recording, 0, 1000, 400, 0);
    iwt_detour(recording, 0, 5000, 1000, timer);
    iwt_part(recording, 0, worker, 700);
    iwt_detour(recording, 1, 7000, 500, timer);
    assert_ok(iw_noise_add_recording(NULL, noise, recording));
    ASSERT_NAMES(noise, "irq local_timer", "thread kworker/0:1", "unknown");
    iw_noise_free(noise);
    iw_recording_free(recording);
}

static void shares_are_those_of_the_cpus_in_use(void **unused)
{
    iw_recording *recording = iwt_recording(2, 1000);
    const uint32_t timer = iwt_source(recording, IW_CLASS_IRQ, "timer");
    iw_noise *noise = new_noise();

    (void)unused;
    iwt_detour(recording, 0, 100, 10, 0);
    iwt_detour(recording, 1, 200, 100, timer);
    assert_ok(iw_noise_add_recording(NULL, noise, recording));
    ASSERT_NAMES(noise, "irq timer", "unknown");
    iw_noise_align(noise, IW_SYNC_NONE, 0, 1);
    assert_float_equal(iw_noise_source_share(noise, 0), 0, 1e-12);
    assert_float_equal(iw_noise_source_share(noise, 1), 0.01, 1e-12);
    iw_noise_align(noise, IW_SYNC_NONE, 0, 2);
    assert_float_equal(iw_noise_source_share(noise, 0), 0.05, 1e-12);
    assert_float_equal(iw_noise_source_share(noise, 1), 0.005, 1e-12);
    iw_noise_align(noise, IW_SYNC_NONE, 0, 3); /* CPU 0 twice */
    assert_float_equal(iw_noise_source_share(noise, 0), 0.1 / 3, 1e-12);
    assert_float_equal(iw_noise_source_share(noise, 1), 0.02 / 3, 1e-12);
    iw_noise_free(noise);
    iw_recording_free(recording);
}

static void ranks_of_a_node_see_their_cpus_at_one_offset(void **unused)
{
    iw_recording *recording = iwt_recording(3, 1000);
    iw_noise *noise = new_noise();

    (void)unused;
    iwt_detour(recording, 0, 100, 1, 0);
    iwt_detour(recording, 1, 250, 1, 0);
    iwt_detour(recording, 2, 400, 1, 0);
    assert_ok(iw_noise_add_recording(NULL, noise, recording));
    iw_noise_align(noise, IW_SYNC_NONE, 0, 5);
    for (uint32_t node = 0; node < 20; node++) {
        const iw_time first = open_stream(noise, (struct iwi_stream_id){1, 2, node * 5}).next;

        for (uint32_t seat = 1; seat < 3; seat++) {
            const iw_time next = open_stream(noise, (struct iwi_stream_id){1, 2, node * 5 + seat}).next;

            /* a detour under way at time 0 begins before it; else both are in [0, length) */
            assert_int_equal((next - first + 2000000) % 1000000, seat * 150000);
        }
        if (node > 0) {
            assert_true(first != open_stream(noise, (struct iwi_stream_id){1, 2, 0}).next);
        }
    }
    iw_noise_free(noise);
    iw_recording_free(recording);
}

static void what_does_not_fit_is_other(void **unused)
{
    iw_recording *eight = recording_of(8), *nine = recording_of(9);
    iw_noise *noise = new_noise(), *more = new_noise();

    (void)unused;
    assert_ok(iw_noise_add_recording(NULL, noise, eight));
    ASSERT_NAMES(noise, "thread t8", "thread t7", "thread t6", "thread t5", "thread t4", "thread t3",
                 "thread t2", "thread t1");
    assert_ok(iw_noise_add_recording(NULL, more, nine));
    ASSERT_NAMES(more, "thread t9", "thread t8", "thread t7", "thread t6", "thread t5", "thread t4",
                 "thread t3", "other");
    assert_float_equal(iw_noise_source_share(more, 7), 3e-3, 1e-12);
    iw_noise_free(noise);
    iw_noise_free(more);
    iw_recording_free(eight);
    iw_recording_free(nine);
}

static void sources_already_there_leave_less_room(void **unused)
{
    iw_recording *recording = recording_of(4);
    iw_noise *noise = new_noise();

    (void)unused;
    for (int i = 0; i < 5; i++) {
        add_periodic(noise, 1000000, 10);
    }
    assert_ok(iw_noise_add_recording(NULL, noise, recording));
    assert_int_equal(iw_noise_source_count(noise), 8);
    assert_string_equal(iw_noise_source_name(noise, 5), "thread t4");
    assert_string_equal(iw_noise_source_name(noise, 6), "thread t3");
    assert_string_equal(iw_noise_source_name(noise, 7), "other");
    iw_noise_free(noise);
    iw_recording_free(recording);
}

/* The whole time is lost once, whatever it is called. */
static iw_time lost_in(const iw_noise *noise, size_t first, size_t last)
{
    struct stream s = open_stream(noise, (struct iwi_stream_id){1, 0, 0});
    iw_time by_source[IW_NOISE_MAX_SOURCES] = {0}, sum = 0;

    (void)stream_finish(&s, 0, INT64_C(100000000000), by_source);
    for (size_t i = first; i <= last; i++) {
        sum += by_source[i];
    }
    return sum;
}

static void sources_added_later_make_room_for_themselves(void **unused)
{
    iw_recording *recording = recording_of(8);
    iw_noise *noise = new_noise();
    iw_time before;

    (void)unused;
    assert_ok(iw_noise_add_recording(NULL, noise, recording));
    before = lost_in(noise, 0, 7);
    assert_true(before > 0);
    add_spec(noise, "phase-exp:1%");
    ASSERT_NAMES(noise, "thread t8", "thread t7", "thread t6", "thread t5", "thread t4", "thread t3", "other",
                 "phase-exp:1%");
    assert_int_equal(lost_in(noise, 0, 6), before);
    assert_float_equal(iw_noise_source_share(noise, 6), 3e-3, 1e-12);
    assert_true(iwi_noise_has_phases(noise));
    add_spec(noise, "periodic:1Hz,1ns");
    ASSERT_NAMES(noise, "thread t8", "thread t7", "thread t6", "thread t5", "thread t4", "other",
                 "phase-exp:1%", "periodic:1Hz,1ns");
    assert_ok(iw_noise_add_recording(NULL, noise, recording));
    ASSERT_NAMES(noise, "thread t8", "thread t7", "thread t6", "thread t5", "other", "phase-exp:1%",
                 "periodic:1Hz,1ns", "other");
    for (int i = 0; i < 4; i++) {
        add_periodic(noise, 1000000, 10);
    }
    assert_string_equal(iw_noise_source_name(noise, 0), "other");
    assert_status(iw_noise_add(NULL, noise, "periodic:1Hz,1ns"), IW_ERR_RANGE);
    assert_status(iw_noise_add_recording(NULL, noise, recording), IW_ERR_RANGE);
    assert_int_equal(iw_noise_source_count(noise), 8);
    iw_noise_free(noise);
    iw_recording_free(recording);
}

static void names_cannot_command_a_terminal(void **unused)
{
    iw_recording *recording = iwt_recording(1, 1000);
    iw_noise *noise = new_noise();

    (void)unused;
    iwt_detour(recording, 0, 1, 1, iwt_source(recording, IW_CLASS_THREAD, "a\x1b[2J\nb"));
    assert_ok(iw_noise_add_recording(NULL, noise, recording));
    ASSERT_NAMES(noise, "thread a?[2J?b");
    iw_noise_free(noise);
    iw_recording_free(recording);
}

static void expect_no_noise(const iw_recording *recording)
{
    struct iwt_log log;
    iw_noise *noise = new_noise();

    iwt_log_init(&log);
    assert_ok(iw_noise_add_recording(&log.log, noise, recording));
    assert_int_equal(log.warnings, 1);
    iwt_assert_logged(&log, "adds no noise");
    assert_int_equal(iw_noise_source_count(noise), 0);
    iw_noise_free(noise);
}

static void a_recording_without_detours_is_no_noise(void **unused)
{
    iw_recording *none = iwt_recording(0, 0), *quiet = iwt_recording(2, 1000), *cut = iwt_recording(2, 1000);

    (void)unused;
    expect_no_noise(none);
    iwt_detour(quiet, 0, 100, 0, 0);
    expect_no_noise(quiet);
    iwt_detour(cut, 0, 500, 100, 0);
    cut->cpus[1].length_ns = 500;
    expect_no_noise(cut);
    iw_recording_free(none);
    iw_recording_free(quiet);
    iw_recording_free(cut);
}

static void expect_refused(const iw_recording *recording, iw_status expected, const char *advice)
{
    struct iwt_log log;
    iw_noise *noise = new_noise();

    iwt_log_init(&log);
    add_periodic(noise, 1000, 10);
    assert_status(iw_noise_add_recording(&log.log, noise, recording), expected);
    assert_int_equal(log.errors, 1);
    iwt_assert_logged(&log, advice);
    assert_int_equal(iw_noise_source_count(noise), 1);
    iw_noise_free(noise);
}

static void only_recordings_of_detours_can_be_replayed(void **unused)
{
    iw_recording *recording = recording_of(2);
    iw_noise *noise = new_noise();

    (void)unused;
    recording->probe = IW_PROBE_FTQ;
    expect_refused(recording, IW_ERR_UNSUPPORTED, "was recorded with FTQ");
    recording->probe = IW_PROBE_FWQ;
    assert_ok(iw_noise_add_recording(NULL, noise, recording));
    assert_int_equal(iw_noise_source_count(noise), 2);
    iw_noise_free(noise);
    iw_recording_free(recording);
}

static void recordings_that_break_their_promises_are_refused(void **unused)
{
    iw_recording *full = iwt_recording(2, 1000), *broken = recording_of(2);

    (void)unused;
    iwt_detour(full, 1, 0, 400, 0);
    iwt_detour(full, 1, 400, 600, 0);
    expect_refused(full, IW_ERR_RANGE, "the detours of CPU 1 fill the whole length of 1000 ns");
    full->cpus[0].length_ns = 999;
    expect_refused(full, IW_ERR_RANGE, "fill the whole length of 999 ns");
    broken->cpus[0].source[3] = 3;
    expect_refused(broken, IW_ERR_RANGE, "detour 3 is of source 3, but there are only 3 sources");
    broken->cpus[0].source[3] = 0;
    broken->cpus[0].start_ns[4] = 0;
    expect_refused(broken, IW_ERR_RANGE, "detour 4 starts at 0 ns, before the end");
    iw_recording_free(full);
    iw_recording_free(broken);
}

static void the_recording_of_one_cpu_is_a_plain_trace(void **unused)
{
    iw_recording *recording = recording_of(1);
    iw_noise *noise = new_noise();
    struct iwi_detour_trace_view view;

    (void)unused;
    assert_ok(iw_noise_add_recording(NULL, noise, recording));
    assert_int_equal(iw_noise_source_count(noise), 1);
    assert_true(iwi_noise_trace_view(noise, &view));
    assert_int_equal(view.count, recording->cpus[0].count);
    assert_int_equal(iwi_noise_words(noise), 4);
    assert_ok(iw_noise_add_recording(NULL, noise, recording));
    assert_false(iwi_noise_trace_view(noise, &view)); /* two of them are not */
    iw_noise_free(noise);
    iw_recording_free(recording);
}

/* ---- rows of streams ---- */

enum { RANKS = 75, LANE_SHIFT = 1, STREAMS = RANKS << LANE_SHIFT, MOST_WORDS = 16 };

struct streams {
    iw_time next[STREAMS];
    int64_t words[STREAMS * MOST_WORDS];
};

/* Streams that begin and are sought as a row, to when each of them works, and streams that are not, end
 * alike.
 */
static void assert_rows_end_alike(const iw_noise *noise)
{
    static struct streams sought, plain;
    const size_t words = iwi_noise_words(noise);
    const struct iwi_stream_row row = {
        .id = {7, 4, 2}, .lane_shift = LANE_SHIFT, .cores = 1, .state = sought.words};
    iw_time now[STREAMS] = {0};

    assert_true(words <= MOST_WORDS);
    iwi_noise_begin_all(noise, row.id, RANKS, 1 << LANE_SHIFT, sought.words, sought.next);
    for (size_t i = 0; i < STREAMS; i++) {
        const struct iwi_stream_id id = {7, 4 + i % 2, 2 + (uint32_t)(i / 2)};

        plain.next[i] = iwi_noise_begin(noise, id, &plain.words[i * words]);
        assert_int_equal(sought.next[i], plain.next[i]);
    }
    assert_memory_equal(sought.words, plain.words, STREAMS * words * sizeof plain.words[0]);
    for (uint64_t round = 0; round < 200; round++) {
        for (size_t i = 0; i < STREAMS; i++) {
            now[i] +=
                (iw_time)iwi_draw_below((struct iwi_draw_id){.rank = (uint32_t)i}, round, 3 * IW_PS_PER_MS);
        }
        iwi_noise_fetch_all(noise, &row, sought.next, now, IW_PS_PER_MS, STREAMS);
        iwi_noise_seek_all(noise, &row, sought.next, now, STREAMS);
        for (size_t i = 0; i < STREAMS; i++) {
            const struct iwi_stream_id id = {7, 4 + i % 2, 2 + (uint32_t)(i / 2)};
            const iw_time work = (iw_time)(round % 7) * 100 * IW_PS_PER_US + 1;
            const iw_time end =
                iwi_finish(noise, id, &sought.words[i * words], &sought.next[i], now[i], work, NULL);

            assert_int_equal(
                end, iwi_finish(noise, id, &plain.words[i * words], &plain.next[i], now[i], work, NULL));
            now[i] = end;
        }
    }
}

static void beginning_and_seeking_as_a_row_changes_no_end(void **unused)
{
    static const char *const others[] = {"none", "poisson:300Hz,exp:50us", "periodic:1kHz,50us"};

    (void)unused;
    for (uint32_t ranks_per_node = 1; ranks_per_node <= 7; ranks_per_node += 3) {
        for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
            iw_recording *recording = recording_of(3);
            iw_noise *noise = new_noise();

            assert_ok(iw_noise_add_recording(NULL, noise, recording));
            assert_ok(iw_noise_add(NULL, noise, others[i]));
            iw_noise_align(noise, IW_SYNC_NONE, 0, ranks_per_node);
            assert_rows_end_alike(noise);
            iw_noise_free(noise);
            iw_recording_free(recording);
        }
    }
}

static void who_is_behind_is_picked(void **unused)
{
    iw_time nexts[IWI_PICKED_MOST] = {0}, ts[IWI_PICKED_MOST] = {0};

    (void)unused;
    for (size_t count = 0; count <= IWI_PICKED_MOST; count++) {
        uint64_t expected = 0, through = 0;

        for (size_t i = 0; i < count; i++) {
            ts[i] = 100;
            nexts[i] = i * i % 11 == 3 ? 104 : i % 2 == 0 ? 105 : IWI_LATEST;
            expected |= (uint64_t)(nexts[i] < 105) << i;
        }
        assert_int_equal(iwi_pick_behind(nexts, ts, 5, count), expected);
        IWI_FOR_PICKED (n, expected) {
            assert_true(through < (uint64_t)1 << n);
            through |= (uint64_t)1 << n;
        }
        assert_int_equal(through, expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sources_come_in_order_of_the_time_they_took),
        cmocka_unit_test(shares_are_those_of_the_cpus_in_use),
        cmocka_unit_test(ranks_of_a_node_see_their_cpus_at_one_offset),
        cmocka_unit_test(what_does_not_fit_is_other),
        cmocka_unit_test(sources_already_there_leave_less_room),
        cmocka_unit_test(sources_added_later_make_room_for_themselves),
        cmocka_unit_test(names_cannot_command_a_terminal),
        cmocka_unit_test(a_recording_without_detours_is_no_noise),
        cmocka_unit_test(only_recordings_of_detours_can_be_replayed),
        cmocka_unit_test(recordings_that_break_their_promises_are_refused),
        cmocka_unit_test(the_recording_of_one_cpu_is_a_plain_trace),
        cmocka_unit_test(beginning_and_seeking_as_a_row_changes_no_end),
        cmocka_unit_test(who_is_behind_is_picked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
